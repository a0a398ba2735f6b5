// Trackers in Python: the memories of many arms, moved one tick at a time.
#include "kernels/tracking.h"

#include "dispatch.h"
#include "problem.h"
#include "supple/tracking/bounds.h"
#include "threads.h"
#include "watch.h"

#include <algorithm>
#include <nanobind/stl/vector.h>

namespace {

// A tracker changes with every call, so that calls take turns. Python that runs while arguments are converted
// may call the tracker again: a turn begins when all are converted.
class Turn {
public:
  explicit Turn(std::atomic<bool> &tracker_is_busy) : busy(tracker_is_busy) {
    if (!busy.exchange(true, std::memory_order_acquire))
      return;
    PyErr_SetString(PyExc_RuntimeError, "this tracker is in use by another thread; give each thread its own");
    throw nb::python_error();
  }
  Turn(const Turn &) = delete;
  ~Turn() { busy.store(false, std::memory_order_release); }

private:
  std::atomic<bool> &busy;
};

// a tick takes 5 s for 400 joint values
constexpr int most_tracked = 256;
// from this many joint values on, a tick releases the interpreter lock
constexpr int many_tracked = 24;

// A joint that no goal needs. It stands still, or comes back into its limits.
struct OtherJoint {
  int index; // in q
  double unit;
  JointBounds bounds;
};
struct OtherMotion {
  double velocity, acceleration; // in natural units
};

struct Tracker {
  std::atomic<bool> busy{false};
  EncodedProblem encoded;
  std::vector<JointBounds> bounds;
  std::vector<double> unit, bound_rows;
  std::vector<CommandOptions> options;
  std::vector<EffectorBound> effector_bounds;
  Tracking tracking;
  Stop tolerance;
  npy_intp arms;
  bool many;
  const TrackingKernels &kernels = *instruction_set().tracking; // those that the scratch is for
  Scratch memory, scratch;
  std::vector<double> full; // arms x dof: q of the joints that no goal needs
  std::vector<OtherJoint> others;
  std::vector<OtherMotion> other_motions; // arms x others
  std::vector<double> results; // arms x result_size: over the joints that goals need, before `spread`
  std::vector<double> measured, preferred;
  std::vector<int> row_level, level_rank;
  std::vector<double> reach;
  std::vector<Target> status_targets;

  // joint_bounds: (speed, acceleration, jerk, unit), each (dof), then the rate at which accelerations end;
  // tolerances: (position, angle); levels: (level of each row, rank of each level, levels of the first
  // goals); slacks: of each target's rows, for the status; reaches: of each target; start: (dof) or (arms,
  // dof); smooth: delay of the low-pass of commands in s, or 0; predict: prediction of stamped commands in s
  Tracker(nb::object tree, nb::handle targets, nb::handle low, nb::handle high, nb::handle balls,
          nb::handle given_bounds, int rank, double weight_scale, nb::handle tolerances, int recovery,
          nb::handle given_levels, nb::handle given_slacks, nb::handle reaches, nb::handle start,
          double smooth, double predict)
      : encoded(tree, targets, low, high, balls), memory(0), scratch(0) {
    const int n = encoded.problem.n, dof = encoded.dof;
    const Fields joint_bounds(given_bounds, "bounds", 5), levels(given_levels, "levels", 3),
        slacks(given_slacks, "slacks", encoded.problem.target_count);
    if (n > most_tracked)
      bad_input("a tracker moves at most " + std::to_string(most_tracked) +
                " joint values, these goals need " + std::to_string(n) + "; lock some joints");
    if (rank < 1 || rank > std::min<int>(encoded.problem.rows, n))
      bad_input("rank must be from 1 to the number of rows and of joints");
    if (recovery < recover_off || recovery > recover_free)
      bad_input("recover must be 0, 1 or 2");
    const Rows speed(joint_bounds[0], "speed", dof), acceleration(joint_bounds[1], "acceleration", dof),
        jerk(joint_bounds[2], "jerk", dof), units(joint_bounds[3], "unit", dof);
    if (speed.n != 1 || acceleration.n != 1 || jerk.n != 1 || units.n != 1)
      bad_input("bounds must be one row each");
    std::vector<char> ball(n);
    for (const Ball &b : encoded.balls)
      ball[b.index] = ball[b.index + 1] = ball[b.index + 2] = 1;
    for (int i = 0; i < n; ++i) {
      const int c = encoded.columns[i];
      const double u = units.data[c];
      unit.push_back(u);
      // the limits of a ball joint are a cone, not a box: they are applied after the step
      bounds.push_back({ball[i] ? -INFINITY : encoded.lower[i] / u, ball[i] ? INFINITY : encoded.upper[i] / u,
                        speed.data[c] / u, acceleration.data[c] / u, jerk.data[c] / u});
    }
    const Rows lows(low, "lower", dof), highs(high, "upper", dof);
    for (int c = 0; c < dof; ++c) {
      const double u = units.data[c];
      const bool limited = lows.data[c] > -unbounded || highs.data[c] < unbounded;
      if (encoded.place[c] < 0 && limited && speed.data[c] > 0 && acceleration.data[c] > 0)
        others.push_back({c,
                          u,
                          {lows.data[c] / u, highs.data[c] / u, speed.data[c] / u, acceleration.data[c] / u,
                           jerk.data[c] / u}});
    }
    const int stride = (n + 7) / 8 * 8;
    bound_rows.assign(bound_row_count * stride, 1.0);
    for (int i = 0; i < n; ++i) {
      bound_rows[lower_row * stride + i] = bounds[i].lower;
      bound_rows[upper_row * stride + i] = bounds[i].upper;
      bound_rows[speed_row * stride + i] = bounds[i].speed;
      bound_rows[acceleration_row * stride + i] = bounds[i].acceleration;
      bound_rows[jerk_row * stride + i] = bounds[i].jerk;
    }
    bool shared = false;
    for (const auto &chain_joints : encoded.chain_joints)
      for (const ChainJoint &joint : chain_joints)
        shared = shared || joint.shared;
    options.resize(encoded.targets.size());
    for (std::size_t k = 0; k < options.size(); ++k) {
      weigh_command(int(k), weight_scale);
      options[k].smooth = smooth;
      options[k].predict = predict;
    }
    const bool one_pose = encoded.targets.size() == 1 && encoded.problem.rows == 6 && encoded.balls.empty() &&
                          !shared && encoded.targets[0].chain.count == n;
    for (std::size_t k = 0; k < encoded.targets.size(); ++k) {
      status_targets.push_back(encoded.targets[k]);
      Target &target = status_targets.back();
      numbers(slacks[k], "slacks", target.rows, target.slack);
      set_properties(target);
    }
    read_levels(levels[0], levels[1], row_level, level_rank);
    reach.resize(encoded.targets.size());
    numbers(reaches, "reaches", encoded.problem.target_count, reach.data());
    tracking = {encoded.problem,
                bounds.data(),
                bound_rows.data(),
                stride,
                unit.data(),
                weight_scale,
                reach.data(),
                rank,
                status_targets.data(),
                row_level.data(),
                level_rank.data(),
                int(level_rank.size()),
                whole(levels[2], "the levels of the first goals", 0, int(level_rank.size())),
                one_pose,
                Law{},
                RecoveryMode(recovery)};
    tracking.end_rate = number(joint_bounds[4]);
    if (tracking.end_rate < 1e9)
      lower_gains();
    double pair[2];
    numbers(tolerances, "tolerance", 2, pair);
    tolerance = {0, 0, pair[0], pair[1]};
    const Rows from(start, "start", dof);
    many = from.lead > 0;
    arms = from.n;
    memory = Scratch(std::size_t(kernels.memory(tracking)) * arms * 8);
    scratch = Scratch(kernels.scratch(tracking));
    begin(from);
  }
  Tracker(const Tracker &) = delete;

  // the level of each row, and the rank of each level
  void read_levels(nb::handle of_rows, nb::handle ranks, std::vector<int> &level_of_row,
                   std::vector<int> &rank_of_level) const {
    const Fields rows(of_rows, "levels", encoded.problem.rows), given(ranks, "ranks");
    if (given.size() < 1 || given.size() > int(most_levels))
      bad_input("there must be 1 to " + std::to_string(most_levels) + " levels");
    for (Py_ssize_t i = 0; i < given.size(); ++i)
      rank_of_level.push_back(
          whole(given[i], "a rank", 0, std::min<int>(encoded.problem.rows, encoded.problem.n)));
    for (Py_ssize_t i = 0; i < rows.size(); ++i)
      level_of_row.push_back(whole(rows[i], "a level", 0, int(given.size()) - 1));
  }

  // Gains so low that acceleration can follow: K a / j is at most 1.5, about that of the default bounds, and
  // at most half of the rate at which accelerations end, else the arm shakes where the residual curves.
  void lower_gains() {
    Law &law = tracking.law;
    for (const JointBounds &joint : bounds)
      if (joint.acceleration > 0)
        for (double *gain : {&law.feedback_gain, &law.limit_gain, &law.null_space_gain})
          *gain = lesser(*gain, lesser(1.5 * joint.jerk / joint.acceleration, 0.5 * tracking.end_rate));
  }

  // the command of a target is measured with the largest weights of its rows
  void weigh_command(int k, double weight_scale) {
    const Target &target = encoded.targets[k];
    CommandOptions &o = options[k];
    o.position_weight = o.rotation_weight = 0;
    for (int i = 0; i < target.rows; ++i) {
      double &largest = is_position_component(target.component[i]) ? o.position_weight : o.rotation_weight;
      largest = larger(largest, weight_scale * target.weight[i]);
    }
    if (target.looks || target.has_pole) // what is a metre away turns by a radian when it moves by a metre
      o.position_weight = o.rotation_weight;
    o.has_direction = target.has_direction;
  }

  // New limits: lower, upper, speed (dof); swing, low and high of each ball joint, in the order of the
  // constructor; speed and turn speed of each end effector (targets, 2), infinite where there is no bound.
  void limit(nb::handle lower, nb::handle upper, nb::handle speed, nb::handle given_balls,
             nb::handle effectors) {
    const int n = encoded.problem.n, dof = encoded.dof, targets = encoded.problem.target_count;
    const Rows lows(lower, "lower", dof), highs(upper, "upper", dof), speeds(speed, "speed", dof);
    const Rows pairs(effectors, "effectors", targets, 2);
    if (lows.n != 1 || highs.n != 1 || speeds.n != 1 || pairs.n != 1)
      bad_input("limits must be one row each");
    std::vector<Ball> new_balls;
    for (const Fields &b : EncodedProblem::rows_of(given_balls, "ball", 5)) {
      const int index = encoded.place[whole(b[0], "the index of a ball", 0, dof - 1)];
      const Ball limits{index, {}, number(b[2]), number(b[3]), number(b[4])};
      if (index >= 0)
        new_balls.push_back(limits);
    }
    if (new_balls.size() != encoded.balls.size())
      bad_input("limits must name the ball joints of the tracker");
    const Turn turn(busy);
    for (std::size_t i = 0; i < new_balls.size(); ++i) {
      encoded.balls[i].swing = new_balls[i].swing;
      encoded.balls[i].low = new_balls[i].low;
      encoded.balls[i].high = new_balls[i].high;
    }
    std::vector<char> is_ball(n);
    for (const Ball &b : encoded.balls)
      is_ball[b.index] = is_ball[b.index + 1] = is_ball[b.index + 2] = 1;
    for (int i = 0; i < n; ++i) {
      const int c = encoded.columns[i];
      encoded.lower[i] = lows.data[c];
      encoded.upper[i] = highs.data[c];
      if (!is_ball[i]) {
        bounds[i].lower = bound_rows[lower_row * tracking.stride + i] = lows.data[c] / unit[i];
        bounds[i].upper = bound_rows[upper_row * tracking.stride + i] = highs.data[c] / unit[i];
      }
      bounds[i].speed = bound_rows[speed_row * tracking.stride + i] = speeds.data[c] / unit[i];
    }
    for (OtherJoint &other : others) // a margin does not move joints that no goal needs
      other.bounds.speed = speeds.data[other.index] / other.unit;
    effector_bounds.clear();
    bool bounded = false;
    for (int k = 0; k < targets; ++k) {
      effector_bounds.push_back({pairs.data[2 * k], pairs.data[2 * k + 1]});
      bounded = bounded || effector_bounds[k].speed < INFINITY || effector_bounds[k].turn_speed < INFINITY;
    }
    tracking.effector_bounds = bounded ? effector_bounds.data() : nullptr;
  }

  double *row(npy_intp i) { return static_cast<double *>(memory.data) + i * kernels.memory(tracking); }

  void reset(nb::handle start) {
    const Rows from(start, "start", encoded.dof);
    if (from.n != arms)
      bad_input("start must have " + std::to_string(arms) + " rows");
    const Turn turn(busy);
    begin(from);
  }
  void begin(const Rows &from) {
    full.assign(from.data, from.data + arms * encoded.dof);
    other_motions.assign(arms * others.size(), {});
    std::vector<double> part(encoded.problem.n);
    for (npy_intp i = 0; i < arms; ++i) {
      encoded.gather(from.data + i * encoded.dof, part.data());
      kernels.begin(tracking, row(i), part.data());
    }
  }

  npy_intp result_width() const { return result_size(encoded.dof, encoded.problem.target_count); }

  // One tick of the joints that no goal needs: those outside their limits come back, within their bounds.
  void bring_in(long long arm, double dt, double *velocity) {
    const bool passes = dt >= shortest_tick && dt < 1e9;
    dt = lesser(dt, longest_pause);
    const int pieces = passes ? piece_count(dt) : 0;
    for (std::size_t k = 0; k < others.size(); ++k) {
      const OtherJoint &other = others[k];
      OtherMotion &motion = other_motions[arm * others.size() + k];
      double &q = full[arm * encoded.dof + other.index];
      for (int piece = 0; piece < pieces; ++piece) {
        const double at = q / other.unit, before = motion.velocity;
        if (before == 0 && at >= other.bounds.lower && at <= other.bounds.upper)
          break;
        motion.velocity =
            return_velocity(tracking, other.bounds, at, before, motion.acceleration, dt / pieces);
        motion.acceleration = (motion.velocity - before) * pieces / dt;
        q += motion.velocity * other.unit * dt / pieces;
      }
      if (velocity)
        velocity[other.index] = motion.velocity * other.unit;
    }
  }

  // Spreads results of the joints that goals need over rows of all joints. `keep_limits`: the others come
  // into their limits.
  void spread(long long begin, long long end, double dt, bool keep_limits, double *out) {
    const int n = encoded.problem.n, targets = encoded.problem.target_count, dof = encoded.dof;
    const long long size = result_size(n, targets), width = result_width();
    for (long long i = begin; i < end; ++i) {
      const double *from = results.data() + i * size;
      double *to = out + i * width;
      const ResultRow row = result_row(to, dof, targets);
      for (int k = 0; k < dof; ++k) {
        row.velocity[k] = row.sides[k] = 0;
        row.joint_weights[k] = 1;
      }
      if (keep_limits)
        bring_in(i, dt, row.velocity);
      std::memcpy(row.q, full.data() + i * dof, dof * sizeof(double));
      for (int part = 0; part < result_joint_rows; ++part)
        encoded.scatter(from + part * n, to + part * dof);
      std::memcpy(row.error, from + result_joint_rows * n,
                  (width - result_joint_rows * dof) * sizeof(double));
    }
  }

  nb::object run(const double *goals_, const double *twists, nb::handle measured_, const double *stamps,
                 double dt, const ExternalStep *external = nullptr, const double *frames = nullptr) {
    const npy_intp dims[2] = {arms, result_width()};
    Fresh out(many ? dims : dims + 1, many ? 2 : 1, {});
    if (measured_.is_none()) {
      const Turn turn(busy);
      tick(goals_, twists, nullptr, stamps, dt, external, frames, out.data);
    } else {
      const Rows rows(measured_, "measured", encoded.dof);
      if (rows.n != arms)
        bad_input("measured must have " + std::to_string(arms) + " rows");
      const Turn turn(busy);
      tick(goals_, twists, rows.data, stamps, dt, external, frames, out.data);
    }
    return std::move(out.owner);
  }

  // One tick of all arms, its results into `out`; measured_ (arms, dof) or null.
  void tick(const double *goals_, const double *twists, const double *measured_, const double *stamps,
            double dt, const ExternalStep *external, const double *frames, double *out) {
    const int n = encoded.problem.n;
    const double *real = nullptr;
    if (measured_) {
      measured.resize(arms * n);
      for (npy_intp i = 0; i < arms; ++i)
        encoded.gather(measured_ + i * encoded.dof, measured.data() + i * n);
      real = measured.data();
    }
    // where every joint is needed, results need no spreading
    const bool direct = n == encoded.dof, keep_limits = !external || external->bounded;
    if (!direct)
      results.resize(arms * result_size(n, encoded.problem.target_count));
    const TickJob job{&tracking,
                      options.data(),
                      tolerance,
                      static_cast<double *>(memory.data),
                      goals_,
                      frames,
                      twists,
                      real,
                      stamps,
                      dt,
                      external,
                      preferred.empty() ? nullptr : preferred.data(),
                      direct ? out : results.data()};
    if (arms < 64) {
      if (n < many_tracked) {
        kernels.tick(job, 0, arms, scratch.data);
      } else {
        const nb::gil_scoped_release free;
        kernels.tick(job, 0, arms, scratch.data);
      }
      if (!direct)
        spread(0, arms, dt, keep_limits, out);
    } else {
      nb::gil_scoped_release free;
      parallel(arms, 256, [&](long long begin, long long end) {
        const Scratch own(kernels.scratch(tracking));
        for (long long i = begin; i < end; i += 64) { // results are read while they are in the cache
          const long long last = i + 64 < end ? i + 64 : end;
          kernels.tick(job, i, last, own.data);
          if (!direct)
            spread(i, last, dt, keep_limits, out);
        }
      });
    }
  }
};

// one arm, one goal: a Frame, or an array (4, 4)
nb::object track_frame(Tracker &track, nb::handle goal, double dt, double stamp, nb::handle measured) {
  const Rows rows(matrix_of(goal), "goal", 4, 4);
  if (rows.n != track.arms || track.encoded.problem.target_count != 1)
    bad_input("goal must have one frame for each arm, got shape " + shape_text(rows.array));
  if (std::isnan(stamp))
    return track.run(nullptr, nullptr, measured, nullptr, dt, nullptr, rows.data);
  const std::vector<double> stamps(track.arms, stamp);
  return track.run(nullptr, nullptr, measured, stamps.data(), dt, nullptr, rows.data);
}

// the same without stamp or measured: the entry point of control loops converts no other arguments
nb::object track_tick(Tracker &track, nb::handle goal, double dt) {
  return track_frame(track, goal, dt, NAN, nb::none());
}

// the twelve numbers of an array (4, 4), into `out`; false for anything else
bool read_frame(nb::handle matrix, double *out) {
  if (!PyArray_CheckExact(matrix.ptr()))
    return false;
  PyArrayObject *a = (PyArrayObject *)matrix.ptr();
  if (PyArray_NDIM(a) != 2 || PyArray_DIM(a, 0) != 4 || PyArray_DIM(a, 1) != 4 ||
      PyArray_TYPE(a) != NPY_DOUBLE || !PyArray_ISCARRAY_RO(a))
    return false;
  const double *frame = (const double *)PyArray_DATA(a);
  for (int i = 0; i < 3; ++i) {
    std::memcpy(out + 3 * i, frame + 4 * i, 3 * sizeof(double));
    out[9 + i] = frame[4 * i + 3];
  }
  return true;
}

// one arm, several goals: a list or tuple of Frames or of arrays (4, 4). None for anything else: the general
// way reads it, or says what is wrong.
nb::object track_frames(Tracker &track, nb::handle goals, double dt) {
  const int targets = track.encoded.problem.target_count;
  const bool listed = PyList_CheckExact(goals.ptr()) || PyTuple_CheckExact(goals.ptr());
  if (track.many || !listed)
    return nb::none();
  const nb::object frames = nb::steal(PySequence_Tuple(goals.ptr())); // a list may change while it is read
  if (!frames.is_valid())
    throw nb::python_error();
  if (PyTuple_Size(frames.ptr()) != targets)
    return nb::none();
  std::vector<double> numbers(12 * targets);
  for (int k = 0; k < targets; ++k)
    if (!read_frame(matrix_of(PyTuple_GetItem(frames.ptr(), k)), numbers.data() + 12 * k))
      return nb::none();
  return track.run(numbers.data(), nullptr, nb::none(), nullptr, dt);
}

// goals as twelve numbers a target, (targets, 12) or (arms, targets, 12)
nb::object track_goals(Tracker &track, nb::handle goals, double dt, double stamp, nb::handle measured) {
  const Rows rows(goals, "goals", track.encoded.problem.target_count, 12);
  if (rows.n != track.arms)
    bad_input("goals must have one row for each of " + std::to_string(track.arms) + " arms");
  const std::vector<double> stamps(std::isnan(stamp) ? 0 : track.arms, stamp);
  return track.run(rows.data, nullptr, measured, stamps.empty() ? nullptr : stamps.data(), dt);
}

// one arm: a step that another scheme chose, with its damping and joint weights, if it has any
nb::object track_steer(Tracker &track, nb::handle goals, double dt, nb::handle measured, nb::handle step,
                       double alpha, nb::handle weights, bool bounded) {
  const Rows rows(goals, "goals", track.encoded.problem.target_count, 12),
      change(step, "step", track.encoded.dof);
  if (rows.n != 1 || track.arms != 1 || change.n != 1)
    bad_input("a step of another scheme takes a single arm");
  const int n = track.encoded.problem.n;
  std::vector<double> part(2 * n);
  track.encoded.gather(change.data, part.data());
  if (!weights.is_none()) {
    const Rows given(weights, "weights", track.encoded.dof);
    if (given.n != 1)
      bad_input("weights must be one row");
    track.encoded.gather(given.data, part.data() + n);
  }
  const ExternalStep external{part.data(), weights.is_none() ? nullptr : part.data() + n, alpha, bounded};
  return track.run(rows.data, nullptr, measured, nullptr, dt, &external);
}

nb::object track_push(Tracker &track, nb::handle twists, double dt, nb::handle measured) {
  const Rows rows(twists, "twist", track.encoded.problem.target_count, 6);
  if (rows.n != track.arms)
    bad_input("twist must have one row for each of " + std::to_string(track.arms) + " arms");
  return track.run(nullptr, rows.data, measured, nullptr, dt);
}

// the whole of a recorded command in one call, one arm: goals (ticks, targets, 12), stamps (ticks) or none
nb::object track_replay(Tracker &track, nb::handle goals, double dt, nb::object stamps) {
  const Rows rows(goals, "goals", track.encoded.problem.target_count, 12);
  if (track.arms != 1)
    bad_input("a replay takes a single arm");
  const int n = track.encoded.problem.n, dof = track.encoded.dof,
            targets = track.encoded.problem.target_count;
  nb::object kept;
  const double *times = nullptr;
  if (!stamps.is_none()) {
    if (rows.n > INT_MAX)
      bad_input("a replay takes at most " + std::to_string(INT_MAX) + " ticks");
    const Rows given(stamps, "stamps", int(rows.n));
    if (given.n != 1)
      bad_input("stamps must be one row");
    kept = given.owner;
    times = given.data;
  }
  const npy_intp dims[2] = {rows.n, dof}, state_dims[1] = {rows.n};
  Fresh q(dims, 2, {}), states(state_dims, 1, {});
  const Turn turn(track.busy);
  track.results.resize(result_size(n, targets));
  bool stopped = false;
  {
    nb::gil_scoped_release free;
    for (npy_intp i = 0; i < rows.n && !stopped; ++i) {
      stopped = i % 16384 == 16383 && signal_raised();
      const TickJob job{&track.tracking,
                        track.options.data(),
                        track.tolerance,
                        static_cast<double *>(track.memory.data),
                        rows.data + i * 12 * targets,
                        nullptr,
                        nullptr,
                        nullptr,
                        times ? times + i : nullptr,
                        dt,
                        nullptr,
                        track.preferred.empty() ? nullptr : track.preferred.data(),
                        track.results.data()};
      track.kernels.tick(job, 0, 1, track.scratch.data);
      track.bring_in(0, dt, nullptr);
      std::memcpy(q.data + i * dof, track.full.data(), 8 * dof);
      const ResultRow row = result_row(track.results.data(), n, targets);
      track.encoded.scatter(row.q, q.data + i * dof);
      states.data[i] = row.numbers->status;
    }
  }
  raise_signal();
  return nb::make_tuple(std::move(q.owner), std::move(states.owner));
}

} // namespace

#define ARRAY "numpy.typing.NDArray[numpy.float64]"

void bind_tracker(nb::module_ &m) {
  nb::class_<Tracker>(m, "Tracker", "The memory of one arm or many, and the law that moves them.")
      .def(nb::init<nb::object, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle, int, double,
                    nb::handle, int, nb::handle, nb::handle, nb::handle, nb::handle, double, double>(),
           nb::sig(
               "def __init__(self, tree: Tree, targets: list[typing.Any], lower: " ARRAY ", upper: " ARRAY
               ", balls: list[typing.Any], bounds: tuple[typing.Any, ...], rank: int, weight_scale: float, "
               "tolerance: tuple[float, float], recover: int, levels: tuple[list[int], list[int], int], "
               "slacks: list[list[float]], reaches: list[float], "
               "start: " ARRAY ", smooth: float, predict: float, /) -> None"))
      .def("tick", track_tick, nb::sig("def tick(self, goal: typing.Any, dt: float, /) -> " ARRAY),
           "A tick of arms with one goal each, a frame.")
      .def("frame", track_frame, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
           nb::sig("def frame(self, goal: typing.Any, dt: float, stamp: float, measured: typing.Any, /) "
                   "-> " ARRAY),
           "The same, with a stamp or measured joint values.")
      .def("frames", track_frames,
           nb::sig("def frames(self, goals: typing.Any, dt: float, /) -> " ARRAY " | None"),
           "A tick of one arm with a list of frames; None where it is no such list.")
      .def("goals", track_goals, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
           nb::sig("def goals(self, goals: " ARRAY
                   ", dt: float, stamp: float, measured: typing.Any, /) -> " ARRAY),
           "A tick with goals as twelve numbers a target.")
      .def("steer", track_steer, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(),
           nb::arg().none(), nb::arg(),
           nb::sig("def steer(self, goals: " ARRAY ", dt: float, measured: typing.Any, step: " ARRAY
                   ", alpha: float, weights: typing.Any, bounded: bool, /) -> " ARRAY),
           "A tick of one arm with a step (dof,) that another scheme chose.")
      .def("push", track_push, nb::arg(), nb::arg(), nb::arg().none(),
           nb::sig("def push(self, twists: " ARRAY ", dt: float, measured: typing.Any, /) -> " ARRAY),
           "A tick with a twist for each target.")
      .def("replay", track_replay, nb::arg(), nb::arg(), nb::arg().none(),
           nb::sig("def replay(self, goals: " ARRAY ", dt: float, stamps: typing.Any, /) -> tuple[" ARRAY
                   ", " ARRAY "]"),
           "q (ticks, dof) and states (ticks,) for recorded goals (ticks, targets, 12).")
      .def("reset", &Tracker::reset, nb::sig("def reset(self, start: " ARRAY ", /) -> None"),
           "Begins anew at start, at rest.")
      .def_prop_ro(
          "q",
          [](Tracker &t) {
            const npy_intp dims[2] = {t.arms, t.encoded.dof};
            Fresh out(t.many ? dims : dims + 1, t.many ? 2 : 1, {});
            const Turn turn(t.busy);
            for (npy_intp i = 0; i < t.arms; ++i) {
              std::memcpy(out.data + i * t.encoded.dof, t.full.data() + i * t.encoded.dof, 8 * t.encoded.dof);
              t.encoded.scatter(t.kernels.values(t.tracking, t.row(i)), out.data + i * t.encoded.dof);
            }
            return std::move(out.owner);
          },
          nb::sig("def q(self) -> " ARRAY), "Where the joints are.")
      .def(
          "prefer",
          [](Tracker &t, nb::handle step) {
            const Rows rows(step, "preferred step", t.encoded.dof);
            if (t.arms != 1 || rows.n != 1)
              bad_input("a preferred step takes a single arm");
            const Turn turn(t.busy);
            t.preferred.resize(t.encoded.problem.n);
            t.encoded.gather(rows.data, t.preferred.data());
          },
          nb::sig("def prefer(self, step: " ARRAY ", /) -> None"),
          "The step (dof,) that the null space is to take from now on.")
      .def(
          "weigh",
          [](Tracker &t, int target, std::vector<double> weights) {
            if (target < 0 || target >= t.encoded.problem.target_count)
              bad_input("the tracker has no goal " + std::to_string(target));
            Target &g = t.encoded.targets[target];
            if (int(weights.size()) != g.rows)
              bad_input("a goal keeps its rows while it is tracked");
            const Turn turn(t.busy);
            for (int k = 0; k < g.rows; ++k)
              g.weight[k] = weights[k];
            t.weigh_command(target, t.tracking.weight_scale);
            ++t.tracking.weight_changes;
          },
          nb::sig("def weigh(self, target: int, weights: list[float], /) -> None"),
          "New weights of a target's rows.")
      .def("limit", &Tracker::limit,
           nb::sig("def limit(self, lower: " ARRAY ", upper: " ARRAY ", speed: " ARRAY
                   ", balls: list[typing.Any], effectors: " ARRAY ", /) -> None"),
           "New limits of the joints and new bounds on the speed of the end effectors (targets, 2).")
      .def_prop_ro("arms", [](const Tracker &t) { return int(t.arms); }, "How many arms.");
}
