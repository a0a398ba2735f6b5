// The restarts of a search, one in each lane: where each begins, how it advances, when it is abandoned.
#pragma once
#include "supple/search/near_seeds.h"
#include "supple/search/polish.h"
#include "supple/search/slide.h"

namespace supple {
inline namespace SUPPLE_ISA {

template <class T>
struct RestartScratch {
  SearchStepScratch<T> step;
  T squared_error;                                // where the lanes last stood
  T recent_errors[SearchConstants::error_window]; // squared errors of the last steps, oldest first
  T error_ratio;                    // a lane is abandoned if the newest error > error_ratio * the oldest
  T steps;                          // taken by each lane
  int restart[Lane<T>::width];      // which restart each lane runs; -1: none
  TableSeeds seeds[Lane<T>::width]; // for the goal of each lane
  double *seed;                     // n: where a restart begins
  int *source_lane;                 // n: the lane from which a partial restart takes a joint
  double *solution;                 // n: what an arrived lane has found
  double *moved;                    // n: a solution while the solutions are sorted
  double *candidates;               // SearchConstants::candidates x n: the best q of abandoned restarts
  double candidate_error[SearchConstants::candidates]; // squared error of each
  int candidate_count;
  T *best; // n: least error so far, when candidates are refined
  PolishScratch<T> polish;
  SlideScratch<T> slide;
  NearScratch nearby;
};

template <class T>
SUPPLE_FN void lay_out(RestartScratch<T> &scratch, ScratchLayout &layout, const Problem &problem) {
  const int n = problem.n;
  lay_out(scratch.step, layout, problem);
  layout.array(scratch.seed, n);
  layout.array(scratch.source_lane, n);
  layout.array(scratch.solution, n);
  layout.array(scratch.moved, n);
  layout.array(scratch.candidates, SearchConstants::candidates * n);
  layout.array(scratch.best, n);
  lay_out(scratch.polish, layout, problem);
  lay_out(scratch.slide, layout, problem);
  lay_out(scratch.nearby, layout, problem);
}

// ---- Begin ----

// Gives a lane a new restart; `own`: its seed is the caller's start.
template <class T>
SUPPLE_FN void reset_lane(int restart, bool own, int lane, RestartScratch<T> &scratch) {
  scratch.restart[lane] = restart;
  put(scratch.steps, lane, Scalar<T>(0));
  put(scratch.slide.steps, lane, Scalar<T>(0));
  put(scratch.error_ratio, lane, own ? SearchConstants::own_error_ratio : SearchConstants::error_ratio);
  for (T &error : scratch.recent_errors)
    put(error, lane, Scalar<T>(1e30));
}

// A lane without a restart; it repeats what lane 0 does.
template <class T>
SUPPLE_FN void idle_lane(const Problem &problem, int lane, RestartScratch<T> &scratch) {
  reset_lane(-1, false, lane, scratch);
  for (int l = 0; l < problem.n; ++l)
    put(scratch.step.q[l], lane, get(scratch.step.q[l], 0));
}

template <class T>
SUPPLE_FN void begin_restart(const Problem &problem, const Search &search, const Request &request,
                             int restart, int lane, TableSeeds &seeds, RestartScratch<T> &scratch) {
  reset_lane(restart, request.start && restart == 0, lane, scratch);
  make_seed(problem, search, request, restart, seeds, scratch.nearby.axes, scratch.seed);
  for (int l = 0; l < problem.n; ++l)
    put(scratch.step.q[l], lane, scratch.seed[l]);
}

// For several targets: the lane from which each joint of a partial restart is taken. Joints of targets that
// are met stay; those of other targets come from a lane that meets them, or are new (-1).
template <class T>
SUPPLE_FN void find_sources(const Problem &problem, const Search &search, int lane, double met_error,
                            RestartScratch<T> &scratch) {
  constexpr int W = Lane<T>::width;
  const T *target_error = scratch.step.target_error;
  for (int l = 0; l < problem.n; ++l)
    scratch.source_lane[l] = lane;
  for (int met = 0; met < 2; ++met) // targets that are met come last: they have the last word
    for (int t = 0; t < problem.target_count; ++t) {
      if ((get(target_error[t], lane) < met_error) != (met == 1))
        continue;
      int source = met ? lane : -1;
      for (int i = 1; i < W && source < 0; ++i)
        if (get(target_error[t], (lane + i) % W) < met_error)
          source = (lane + i) % W;
      for (int c = search.column_begin[t]; c < search.column_begin[t + 1]; ++c)
        scratch.source_lane[search.columns[c]] = source;
    }
}

// For several targets: a restart from the q where a lane was abandoned. It changes only joints that serve no
// met target; returns false, and does nothing, if that is no joint or every joint.
template <class T>
SUPPLE_FN bool begin_partial_restart(const Problem &problem, const Search &search, int restart, int lane,
                                     const T *q, RestartScratch<T> &scratch) {
  const double met_error = SearchConstants::met_error_share * get(scratch.squared_error, lane);
  if (!(met_error < unbounded))
    return false;
  find_sources(problem, search, lane, met_error, scratch);
  int changed = 0;
  for (int l = 0; l < problem.n; ++l)
    changed += scratch.source_lane[l] != lane;
  if (changed == 0 || changed == problem.n)
    return false;
  for (int l = 0; l < problem.n; ++l) {
    const SearchJoint &joint = search.joints[l];
    const int source = scratch.source_lane[l];
    scratch.seed[l] = source < 0 && joint.weighted_size > 0 ? even_seed(joint, restart)
                                                            : get(q[l], source < 0 ? lane : source);
  }
  clamp_balls(problem, search, scratch.seed);
  for (int l = 0; l < problem.n; ++l)
    put(scratch.step.q[l], lane, scratch.seed[l]);
  reset_lane(restart, false, lane, scratch);
  return true;
}

// ---- Advance ----

// Which lanes ended, as bits, and where all lanes stood before the step.
template <class T>
struct Advance {
  int arrived, abandoned;
  const T *q;
  int met = 0; // lanes that meet the goals and go on
};

// Ends lanes that arrived, stalled or took `max_steps`, and moves all others on. `active`: lanes with a
// restart, as bits.
template <class T>
SUPPLE_APART Advance<T> move_on(const SearchStepResult<T> &result, int max_steps, int active,
                                RestartScratch<T> &scratch) {
  constexpr int window = SearchConstants::error_window;
  SearchStepScratch<T> &step = scratch.step;
  const T error = scratch.squared_error = result.squared_error;
  const int arrived = bits_of(result.arrived) & active;
  const Mask<T> stalled = error > scratch.error_ratio * scratch.recent_errors[0];
  const Mask<T> valid = error < splat<T>(1e30); // false for what is not a number
  int abandoned = bits_of(stalled | !valid);
  abandoned |= bits_of(scratch.steps >= splat<T>(double(max_steps)));
  scratch.steps = scratch.steps + splat<T>(1);
  for (int i = 0; i + 1 < window; ++i)
    scratch.recent_errors[i] = scratch.recent_errors[i + 1];
  scratch.recent_errors[window - 1] = error;
  T *before = step.q;
  step.q = step.next;
  step.next = before;
  return {arrived, abandoned & active & ~arrived, before};
}

// One step of all lanes.
template <bool goals = any_goals, class T>
SUPPLE_FN Advance<T> advance(const Problem &problem, const Search &search, int active,
                             RestartScratch<T> &scratch) {
  const SearchStepResult<T> result =
      search_step<goals>(problem, search, splat<T>(SearchConstants::damping), false, scratch.step);
  return move_on(result, SearchConstants::restart_steps, active, scratch);
}

// One step of all lanes of a solve with a start. Lanes of a redundant linkage slide: while they do, their
// error may grow.
template <class T>
SUPPLE_FN Advance<T> advance_near_start(const Problem &problem, const Search &search, int active,
                                        RestartScratch<T> &scratch) {
  if (!search.moves_to_start)
    return advance(problem, search, active, scratch);
  Mask<T> sliding;
  SearchStepResult<T> result = sliding_step(problem, search, scratch.step, scratch.slide, sliding);
  const int met = bits_of(result.arrived & sliding) & active;
  result.arrived = result.arrived & !sliding;
  const int max_steps = scratch.slide.limits.max_steps + SearchConstants::last_steps;
  Advance<T> step = move_on(result, max_steps, active, scratch);
  step.met = search.has_slack ? met : 0;
  for (T &error : scratch.recent_errors)
    error = select(sliding, splat<T>(1e30), error);
  return step;
}

// ---- Collect ----

// squared distance of joint values from the reference, in weighted sizes
SUPPLE_FN double distance_from_reference(const Problem &problem, const Search &search, const Request &request,
                                         const double *q) {
  double sum = 0;
  for (int l = 0; l < problem.n; ++l) {
    const double size = search.joints[l].weighted_size, d = q[l] - reference(search, request, l);
    if (size > 0)
      sum += d * d / (size * size);
  }
  return sum;
}

// Moves joints that wrap by whole turns, as near to the reference as their limits allow.
SUPPLE_FN void wrap_joints(const Problem &problem, const Search &search, const Request &request, double *q) {
  for (int l = 0; l < problem.n; ++l) {
    const double period = search.joints[l].period;
    if (period > 0)
      q[l] = nearest_turn(q[l], reference(search, request, l), period, problem.lower[l], problem.upper[l]);
  }
}

// The joint values of a lane that arrived, into `out` (n), finished in double. False: they do not arrive
// there. `steps`: how many the lane took; those of the finish are added.
template <class T>
SUPPLE_FN bool collect(const Problem &problem, const Search &search, const Request &request, int lane,
                       const T *q, double *out, int &steps, RestartScratch<T> &scratch) {
  steps = int(get(scratch.steps, lane)) - 1;
  // a step was taken from q: in float, what follows it is nearer to the goals
  read_lane(problem, search, request, lane, is_double<T> ? q : scratch.step.q, out);
  if constexpr (!is_double<T>)
    if (!polish(problem, search, request.goals, out, steps, scratch.polish.step))
      return false;
  wrap_joints(problem, search, request, out);
  return true;
}

} // namespace SUPPLE_ISA
} // namespace supple
