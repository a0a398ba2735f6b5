// Descents of many rows in lanes, without restarts: each row from its start, or from where the row before it
// ended.
#pragma once
#include "supple/search/frame_step.h"
#include "supple/search/seeds.h"

namespace supple {
inline namespace SUPPLE_ISA {

struct DescentConstants {
  // a descent ends where a step lowers the squared error to more than this fraction of it
  static constexpr double stalled = 1 - 1e-4;
  // a step that does not lower the error is taken back, and the next one is damped more [Levenberg,
  // Marquardt]
  static constexpr double more_damping = 16, less_damping = 0.25;
  // a lane that follows rows begins so many rows earlier, so that where it began no longer matters
  static constexpr long long lead_in = 8;
  // two lanes found the same joint values for a row, which arrived or not; in natural sizes
  static constexpr double same = 1e-6, same_nearest = 1e-2;
};

// The rows that a lane solves one after another.
struct LaneRows {
  long long row = 0, end = 0;     // the next one, and after the last
  long long first = 0;            // solutions are written from here on
  const double *before = nullptr; // n: where the row before ended; null: none
  bool arrived = false;           // whether that one arrived
  bool active() const { return row < end; }
};

// Where a descent begins (n): at the row's start, or where the row before ended, drawn to it by a fraction:
// that leads joints out of a wrong fold. Ball joints, which do not fold, are drawn only after a row that did
// not arrive.
SUPPLE_FN void begin_descent(const Problem &problem, const Search &search, const double *start,
                             const LaneRows &rows, double fraction, double *seed) {
  const double *before = fraction < 0 ? nullptr : rows.before;
  for (int l = 0; l < problem.n; ++l) {
    const SearchJoint &joint = search.joints[l];
    const double x = before ? before[l] + fraction * (start[l] - before[l]) : start[l];
    seed[l] = joint.weighted_size > 0 ? clip(x, joint.lower, joint.upper) : start[l];
  }
  for (int i = 0; i < problem.ball_count && before; ++i) {
    const int l = problem.balls[i].index;
    if (!(search.joints[l].weighted_size > 0))
      continue;
    const Vec<double> from = load3(before + l);
    store3(rows.arrived ? from : turned(from, fraction * between(from, load3(start + l))), seed + l);
  }
  if (!before || !rows.arrived)
    clamp_balls(problem, search, seed);
}

template <class T>
struct DescentLanes {
  LaneRows lanes[Lane<T>::width];
  T steps, damping;
  T *best, best_error; // n: the joint values with the least error so far; that error
  T back;              // 1 in lanes that went back to them
};

// Begins the next row of a lane, if it has one.
template <class T>
SUPPLE_FN void begin_lane_row(const Problem &problem, const Search &search, const Descents &descents,
                              int lane, DescentLanes<T> &state, SearchStepScratch<T> &step, double *seed) {
  const LaneRows &rows = state.lanes[lane];
  if (!rows.active())
    return;
  const double *start = descents.starts + rows.row * problem.n;
  set_goals(problem, lane, descents.goals + rows.row * 12 * problem.target_count, step);
  begin_descent(problem, search, start, rows, descents.fraction, seed);
  for (int l = 0; l < problem.n; ++l)
    put(step.q[l], lane, seed[l]);
  put(state.steps, lane, Scalar<T>(0));
  put(state.damping, lane, SearchConstants::damping);
  put(state.best_error, lane, Scalar<T>(1e30));
  put(state.back, lane, Scalar<T>(0));
}

// Runs all lanes to their ends. A solution that arrives is taken after one step more, which is nearer by far.
// `solutions` has n numbers for each lane: its last solution.
template <class T>
SUPPLE_FN void run_descents(const Problem &problem, const Search &search, const Descents &descents,
                            DescentLanes<T> &state, SearchStepScratch<T> &step, double *seed,
                            double *solutions) {
  constexpr int W = Lane<T>::width;
  const int n = problem.n;
  int active = 0;
  for (int lane = 0; lane < W; ++lane) {
    active |= state.lanes[lane].active() << lane;
    begin_lane_row(problem, search, descents, lane, state, step, seed);
  }
  for (int lane = 0; lane < W && active; ++lane) // lanes without rows repeat what another does
    if (!(active >> lane & 1)) {
      const int other = first_bit(active);
      set_goals(problem, lane, descents.goals + state.lanes[other].row * 12 * problem.target_count, step);
      for (int l = 0; l < n; ++l)
        put(step.q[l], lane, get(step.q[l], other));
    }
  while (active) {
    const SearchStepResult<T> result = search_step(problem, search, state.damping, false, step);
    const T error = result.squared_error;
    const Mask<T> better = error < state.best_error;
    const Mask<T> slow = better & (error > splat<T>(DescentConstants::stalled) * state.best_error);
    const Mask<T> long_enough = state.steps >= splat<T>(double(descents.max_steps));
    const int arrived_lanes = bits_of(result.arrived);
    const int ended = (arrived_lanes | bits_of(slow | long_enough)) & active;
    const Mask<T> goes_on = better | (state.back > splat<T>(0));
    const T less =
        larger(splat<T>(DescentConstants::less_damping) * state.damping, splat<T>(SearchConstants::damping));
    const T more = splat<T>(DescentConstants::more_damping) * state.damping;
    state.damping = select(better, less, select(goes_on, state.damping, more));
    state.back = select(goes_on, splat<T>(0), splat<T>(1));
    state.best_error = select(better, error, state.best_error);
    state.steps = state.steps + splat<T>(1);
    for (int l = 0; l < n; ++l) {
      state.best[l] = select(better, step.q[l], state.best[l]);
      step.q[l] = select(goes_on, step.next[l], state.best[l]);
    }
    for (int lane = 0; lane < W && ended; ++lane) {
      if (!(ended >> lane & 1))
        continue;
      LaneRows &rows = state.lanes[lane];
      const bool there = arrived_lanes >> lane & 1;
      double *solution = solutions + lane * n;
      for (int l = 0; l < n; ++l)
        solution[l] = get(there ? step.next[l] : state.best[l], lane);
      if (rows.row >= rows.first) {
        for (int l = 0; l < n; ++l)
          descents.q[rows.row * n + l] = solution[l];
        descents.outcomes[rows.row] = there ? arrived : stuck;
      }
      rows.before = solution;
      rows.arrived = there;
      ++rows.row;
      if (rows.active())
        begin_lane_row(problem, search, descents, lane, state, step, seed);
      else
        active &= ~(1 << lane);
    }
  }
}

SUPPLE_FN bool are_near(const Problem &problem, const Search &search, double distance, const double *a,
                        const double *b) {
  for (int l = 0; l < problem.n; ++l)
    if (!(std::fabs(a[l] - b[l]) < distance * search.joints[l].natural_size))
      return false;
  return true;
}

// Descents of all rows. With descents.fraction >= 0 each row begins where the one before it ended: each lane
// has a run of rows, and begins some rows earlier. Where two lanes do not agree at the end of a run, the next
// run is solved again, from there. `best`, `seed`: n, `solutions`: (W + 2) x n.
template <class T>
SUPPLE_FN void descend_rows(const Problem &problem, const Search &search, const Descents &descents,
                            SearchStepScratch<T> &step, T *best, double *seed, double *solutions) {
  constexpr int W = Lane<T>::width;
  const int n = problem.n;
  const bool follows = descents.fraction >= 0;
  int moving = 0;
  for (int l = 0; l < n; ++l)
    moving += search.joints[l].weighted_size > 0;
  // where solutions are not determined they depend on all rows before: then one lane has them all
  const int runs_count = follows && problem.rows < moving ? 1 : W;
  const long long rows = descents.count, length = (rows + runs_count - 1) / runs_count;
  DescentLanes<T> state;
  state.best = best;
  LaneRows runs[W];
  for (int lane = 0; lane < W; ++lane) {
    LaneRows &run = runs[lane];
    run.first = lane * length < rows ? lane * length : rows;
    run.end = run.first + length < rows ? run.first + length : rows;
    run.row = run.first;
    if (follows && run.first < run.end)
      run.row = run.first > DescentConstants::lead_in ? run.first - DescentConstants::lead_in : 0;
    state.lanes[lane] = run;
  }
  run_descents(problem, search, descents, state, step, seed, solutions);
  for (int lane = 1; lane < W && follows && runs[lane].first < runs[lane].end; ++lane) {
    // once more from the end of the run before, until the solutions agree with those there are
    const LaneRows &run = runs[lane];
    double *last = solutions + W * n, *found_before = last + n;
    for (int l = 0; l < n; ++l)
      last[l] = descents.q[(run.first - 1) * n + l];
    for (long long row = run.first; row < run.end; ++row) {
      const double *there = descents.q + row * n;
      for (int l = 0; l < n; ++l)
        found_before[l] = there[l];
      for (LaneRows &other : state.lanes)
        other = LaneRows{};
      state.lanes[0].row = state.lanes[0].first = row;
      state.lanes[0].end = row + 1;
      state.lanes[0].before = last;
      state.lanes[0].arrived = descents.outcomes[row - 1] == arrived;
      run_descents(problem, search, descents, state, step, seed, solutions);
      const bool met = descents.outcomes[row] == arrived;
      const double distance = met ? DescentConstants::same : DescentConstants::same_nearest;
      if (are_near(problem, search, distance, found_before, there))
        break;
      for (int l = 0; l < n; ++l)
        last[l] = there[l];
    }
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
