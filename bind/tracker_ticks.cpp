// The ticks of a tracker: arrays in, one row of results an arm out.
#include "tracker.h"
#include "watch.h"

namespace {

// from this many joint values on, a tick releases the interpreter lock
constexpr int many_tracked = 24;

} // namespace

// one tick of the joints of an arm that no goal needs
void Tracker::bring_in(long long arm, double dt, double *velocity) {
  const int count = int(idle_joints.size());
  supple::bring_in(tracking, idle_joints.data(), count, dt, idle_motions.data() + arm * count,
                   full.data() + arm * encoded.dof, velocity);
}

// Spreads results of the joints that goals need over rows of all joints. `keep_limits`: the others come
// into their limits.
void Tracker::spread(long long begin, long long end, double dt, bool keep_limits, double *out) {
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
    std::memcpy(row.error, from + result_joint_rows * n, (width - result_joint_rows * dof) * sizeof(double));
  }
}

TickJob Tracker::job(const Given &given, const double *real, double dt, double *out) {
  return {&tracking,
          options.data(),
          tolerance,
          static_cast<double *>(memory.data),
          given.goals,
          given.frames,
          given.twists,
          real,
          given.stamps,
          dt,
          given.external,
          preferred.empty() ? nullptr : preferred.data(),
          out};
}

nb::object Tracker::run(const Given &given, nb::handle measured_, double dt) {
  const npy_intp dims[2] = {arms, result_width()};
  Fresh out(many ? dims : dims + 1, many ? 2 : 1, {});
  if (measured_.is_none()) {
    const Turn turn(busy);
    tick(given, nullptr, dt, out.data);
  } else {
    const Rows rows(measured_, "measured", encoded.dof);
    if (rows.n != arms)
      bad_input("measured must have " + std::to_string(arms) + " rows");
    const Turn turn(busy);
    const int n = encoded.problem.n;
    measured.resize(arms * n);
    for (npy_intp i = 0; i < arms; ++i)
      encoded.gather(rows.data + i * encoded.dof, measured.data() + i * n);
    tick(given, measured.data(), dt, out.data);
  }
  return std::move(out.owner);
}

// One tick of all arms, its results into `out`; `real`: the measured joints that goals need, or null.
void Tracker::tick(const Given &given, const double *real, double dt, double *out) {
  const int n = encoded.problem.n;
  // where every joint is needed, results need no spreading
  const bool direct = n == encoded.dof, keep_limits = !given.external || given.external->bounded;
  if (!direct)
    results.resize(arms * result_size(n, encoded.problem.target_count));
  const TickJob work = job(given, real, dt, direct ? out : results.data());
  if (arms < 64) {
    if (n < many_tracked) {
      kernels.tick(work, 0, arms, scratch.data);
    } else {
      const nb::gil_scoped_release free;
      kernels.tick(work, 0, arms, scratch.data);
    }
    if (!direct)
      spread(0, arms, dt, keep_limits, out);
    return;
  }
  const nb::gil_scoped_release free;
  parallel(arms, 256, [&](long long begin, long long end) {
    const Scratch own(kernels.scratch(tracking));
    for (long long i = begin; i < end; i += 64) { // results are read while they are in the cache
      const long long last = i + 64 < end ? i + 64 : end;
      kernels.tick(work, i, last, own.data);
      if (!direct)
        spread(i, last, dt, keep_limits, out);
    }
  });
}

nb::object Tracker::replay(nb::handle goals, double dt, nb::handle stamps) {
  const int n = encoded.problem.n, dof = encoded.dof, targets = encoded.problem.target_count;
  const Rows rows(goals, "goals", targets, 12);
  if (arms != 1)
    bad_input("a replay takes a single arm");
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
  const Turn turn(busy);
  results.resize(result_size(n, targets));
  bool stopped = false;
  {
    nb::gil_scoped_release free;
    for (npy_intp i = 0; i < rows.n && !stopped; ++i) {
      stopped = i % 16384 == 16383 && signal_raised();
      Given given;
      given.goals = rows.data + i * 12 * targets;
      given.stamps = times ? times + i : nullptr;
      kernels.tick(job(given, nullptr, dt, results.data()), 0, 1, scratch.data);
      bring_in(0, dt, nullptr);
      std::memcpy(q.data + i * dof, full.data(), 8 * dof);
      const ResultRow row = result_row(results.data(), n, targets);
      encoded.scatter(row.q, q.data + i * dof);
      states.data[i] = row.numbers->status;
    }
  }
  raise_signal();
  return nb::make_tuple(std::move(q.owner), std::move(states.owner));
}

nb::object Tracker::values() {
  const int dof = encoded.dof;
  const npy_intp dims[2] = {arms, dof};
  Fresh out(many ? dims : dims + 1, many ? 2 : 1, {});
  const Turn turn(busy);
  for (npy_intp i = 0; i < arms; ++i) {
    std::memcpy(out.data + i * dof, full.data() + i * dof, 8 * dof);
    encoded.scatter(kernels.values(tracking, row(i)), out.data + i * dof);
  }
  return std::move(out.owner);
}
