// The set-up of a tracker from Python values, and the changes that it takes between two ticks.
#include "tracker.h"

#include <algorithm>

namespace {

// a tick takes 5 s for 400 joint values
constexpr int most_tracked = 256;

// one row (dof) of each bound, in the joints' own units
struct GivenBounds {
  Rows speed, acceleration, jerk, unit;
  GivenBounds(const Fields &given, int dof)
      : speed(given[0], "speed", dof), acceleration(given[1], "acceleration", dof),
        jerk(given[2], "jerk", dof), unit(given[3], "unit", dof) {
    if (speed.n != 1 || acceleration.n != 1 || jerk.n != 1 || unit.n != 1)
      bad_input("bounds must be one row each");
  }
  JointBounds of(int c, double lower, double upper) const {
    return natural_bounds({lower, upper, speed.data[c], acceleration.data[c], jerk.data[c]}, unit.data[c]);
  }
};

} // namespace

Tracker::Tracker(nb::object tree, nb::handle targets, nb::handle low, nb::handle high, nb::handle balls,
                 nb::handle joint_bounds, int rank, double weight_scale, nb::handle tolerances, int recovery,
                 nb::handle given_levels, nb::handle given_slacks, nb::handle reaches, nb::handle start,
                 double smooth, double predict)
    : encoded(tree, targets, low, high, balls), memory(0), scratch(0) {
  const int n = encoded.problem.n;
  const Fields given(joint_bounds, "bounds", 5), levels(given_levels, "levels", 3),
      slacks(given_slacks, "slacks", encoded.problem.target_count);
  if (n > most_tracked)
    bad_input("a tracker moves at most " + std::to_string(most_tracked) + " joint values, these goals need " +
              std::to_string(n) + "; lock some joints");
  if (rank < 1 || rank > std::min<int>(encoded.problem.rows, n))
    bad_input("rank must be from 1 to the number of rows and of joints");
  if (recovery < recover_off || recovery > recover_free)
    bad_input("recover must be 0, 1 or 2");
  set_bounds(given, low, high);
  set_idle_joints(given, low, high);
  set_targets(slacks, reaches, weight_scale, smooth, predict);
  set_levels(levels);
  tracking = {encoded.problem,
              bounds.data(),
              bound_rows.data(),
              padded_length(n),
              unit.data(),
              weight_scale,
              reach.data(),
              rank,
              status_targets.data(),
              row_level.data(),
              level_rank.data(),
              int(level_rank.size()),
              whole(levels[2], "the levels of the first goals", 0, int(level_rank.size())),
              is_one_pose(encoded.problem),
              Law{},
              RecoveryMode(recovery)};
  tracking.end_rate = number(given[4]);
  if (tracking.end_rate < 1e9) // jerk is given
    lower_gains(bounds.data(), n, tracking.end_rate, tracking.law);
  double pair[2];
  numbers(tolerances, "tolerance", 2, pair);
  tolerance = {0, 0, pair[0], pair[1]};
  const Rows from(start, "start", encoded.dof);
  many = from.lead > 0;
  arms = from.n;
  memory = Scratch(std::size_t(kernels.memory(tracking)) * arms * 8);
  scratch = Scratch(kernels.scratch(tracking));
  begin(from);
}

// of each joint value that goals need, whether it is one of a ball joint
std::vector<char> Tracker::is_ball() const {
  std::vector<char> ball(encoded.problem.n);
  for (const Ball &b : encoded.balls)
    ball[b.index] = ball[b.index + 1] = ball[b.index + 2] = 1;
  return ball;
}

void Tracker::set_bounds(const Fields &given, nb::handle low, nb::handle high) {
  const int n = encoded.problem.n, dof = encoded.dof;
  const GivenBounds all(given, dof);
  const Rows lows(low, "lower", dof), highs(high, "upper", dof);
  const std::vector<char> ball = is_ball();
  for (int i = 0; i < n; ++i) {
    const int c = encoded.columns[i];
    unit.push_back(all.unit.data[c]);
    // the limits of a ball joint are a cone, not a box: they are applied after the step
    bounds.push_back(
        all.of(c, ball[i] ? -INFINITY : encoded.lower[i], ball[i] ? INFINITY : encoded.upper[i]));
  }
  bound_rows.resize(bound_row_count * padded_length(n));
  fill_bound_rows(bounds.data(), n, padded_length(n), bound_rows.data());
}

void Tracker::set_idle_joints(const Fields &given, nb::handle low, nb::handle high) {
  const int dof = encoded.dof;
  const GivenBounds all(given, dof);
  const Rows lows(low, "lower", dof), highs(high, "upper", dof);
  for (int c = 0; c < dof; ++c) {
    const bool limited = lows.data[c] > -unbounded || highs.data[c] < unbounded;
    if (encoded.place[c] < 0 && limited && all.speed.data[c] > 0 && all.acceleration.data[c] > 0)
      idle_joints.push_back({c, all.unit.data[c], all.of(c, lows.data[c], highs.data[c])});
  }
}

void Tracker::set_targets(const Fields &slacks, nb::handle reaches, double weight_scale, double smooth,
                          double predict) {
  options.resize(encoded.targets.size());
  for (std::size_t k = 0; k < options.size(); ++k) {
    weigh_command(encoded.targets[k], weight_scale, options[k]);
    options[k].smooth = smooth;
    options[k].predict = predict;
    status_targets.push_back(encoded.targets[k]);
    Target &target = status_targets.back();
    numbers(slacks[k], "slacks", target.rows, target.slack);
    set_properties(target);
  }
  reach.resize(encoded.targets.size());
  numbers(reaches, "reaches", encoded.problem.target_count, reach.data());
}

void Tracker::set_levels(const Fields &levels) {
  const Fields rows(levels[0], "levels", encoded.problem.rows), ranks(levels[1], "ranks");
  if (ranks.size() < 1 || ranks.size() > int(most_levels))
    bad_input("there must be 1 to " + std::to_string(most_levels) + " levels");
  for (Py_ssize_t i = 0; i < ranks.size(); ++i)
    level_rank.push_back(
        whole(ranks[i], "a rank", 0, std::min<int>(encoded.problem.rows, encoded.problem.n)));
  for (Py_ssize_t i = 0; i < rows.size(); ++i)
    row_level.push_back(whole(rows[i], "a level", 0, int(ranks.size()) - 1));
}

void Tracker::limit(nb::handle lower, nb::handle upper, nb::handle speed, nb::handle given_balls,
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
  const std::vector<char> ball = is_ball();
  for (int i = 0; i < n; ++i) {
    const int c = encoded.columns[i];
    encoded.lower[i] = lows.data[c];
    encoded.upper[i] = highs.data[c];
    if (!ball[i]) {
      bounds[i].lower = lows.data[c] / unit[i];
      bounds[i].upper = highs.data[c] / unit[i];
    }
    bounds[i].speed = speeds.data[c] / unit[i];
  }
  fill_bound_rows(bounds.data(), n, tracking.stride, bound_rows.data());
  for (IdleJoint &joint : idle_joints) // a margin does not move joints that no goal needs
    joint.bounds.speed = speeds.data[joint.index] / joint.unit;
  effector_bounds.clear();
  bool bounded = false;
  for (int k = 0; k < targets; ++k) {
    effector_bounds.push_back({pairs.data[2 * k], pairs.data[2 * k + 1]});
    bounded = bounded || effector_bounds[k].speed < INFINITY || effector_bounds[k].turn_speed < INFINITY;
  }
  tracking.effector_bounds = bounded ? effector_bounds.data() : nullptr;
  ++tracking.limit_changes;
}

void Tracker::weigh(int target, const std::vector<double> &weights) {
  if (target < 0 || target >= encoded.problem.target_count)
    bad_input("the tracker has no goal " + std::to_string(target));
  Target &of = encoded.targets[target];
  if (int(weights.size()) != of.rows)
    bad_input("a goal keeps its rows while it is tracked");
  const Turn turn(busy);
  std::copy(weights.begin(), weights.end(), of.weight);
  weigh_command(of, tracking.weight_scale, options[target]);
  ++tracking.weight_changes;
}

void Tracker::prefer(nb::handle step) {
  const Rows rows(step, "preferred step", encoded.dof);
  if (arms != 1 || rows.n != 1)
    bad_input("a preferred step takes a single arm");
  const Turn turn(busy);
  preferred.resize(encoded.problem.n);
  encoded.gather(rows.data, preferred.data());
}

void Tracker::reset(nb::handle start) {
  const Rows from(start, "start", encoded.dof);
  if (from.n != arms)
    bad_input("start must have " + std::to_string(arms) + " rows");
  const Turn turn(busy);
  begin(from);
}

void Tracker::begin(const Rows &from) {
  full.assign(from.data, from.data + arms * encoded.dof);
  idle_motions.assign(arms * idle_joints.size(), {});
  std::vector<double> part(encoded.problem.n);
  for (npy_intp i = 0; i < arms; ++i) {
    encoded.gather(from.data + i * encoded.dof, part.data());
    kernels.begin(tracking, row(i), part.data());
  }
}
