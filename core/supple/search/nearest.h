// The nearest joint values when no restart arrives: abandoned candidates, refined by descents that only lower
// the error.
#pragma once
#include "supple/search/restarts.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Whether one more step exceeds the iterations or the time of a solve.
template <class T>
SUPPLE_FN bool budget_is_spent(const Search &search, const Request &request, const Found &found) {
  return (found.iterations + 1LL) * Lane<T>::width > search.max_iterations ||
         (request.deadline.passed &&
          (found.iterations & request.deadline.interval) == request.deadline.interval &&
          request.deadline.passed(request.deadline.clock));
}

// Keeps the joint values of an abandoned lane if they are among the best.
template <class T>
SUPPLE_APART void keep_candidate(const Problem &problem, int lane, const T *q, RestartScratch<T> &scratch) {
  const double seen = get(scratch.squared_error, lane);
  const double error = seen < unbounded ? seen : unbounded; // not a number: last
  int place = scratch.candidate_count;
  if (place == SearchConstants::candidates) {
    place = 0;
    for (int i = 1; i < scratch.candidate_count; ++i)
      if (scratch.candidate_error[i] > scratch.candidate_error[place])
        place = i;
    if (!(error < scratch.candidate_error[place]))
      return;
  } else {
    ++scratch.candidate_count;
  }
  scratch.candidate_error[place] = error;
  for (int l = 0; l < problem.n; ++l)
    scratch.candidates[place * problem.n + l] = get(q[l], lane);
}

// Candidates are refined in double.
template <class T>
using Refining = std::conditional_t<is_double<T>, T, typename Finishing<T>::Number>;
template <class T>
SUPPLE_FLAT SearchStepScratch<Refining<T>> &refining_step(RestartScratch<T> &scratch) {
  if constexpr (is_double<T>)
    return scratch.step;
  else
    return scratch.polish.step;
}
template <class T>
SUPPLE_FLAT Refining<T> *refined(RestartScratch<T> &scratch) {
  if constexpr (is_double<T>)
    return scratch.best;
  else
    return scratch.polish.best;
}

// Puts candidates first, first + 1, ... into the lanes; lanes beyond the last repeat candidate 0.
template <class T>
SUPPLE_FN void load_candidates(const Problem &problem, const Search &search, const Request &request,
                               int first, RestartScratch<T> &scratch) {
  SearchStepScratch<Refining<T>> &step = refining_step(scratch);
  for (int lane = 0; lane < Lane<Refining<T>>::width; ++lane) {
    double *row =
        scratch.candidates + (first + lane < scratch.candidate_count ? first + lane : 0) * problem.n;
    if constexpr (!is_double<T>)
      bring_inside(problem, search, request, row);
    for (int l = 0; l < problem.n; ++l)
      put(step.q[l], lane, row[l]);
  }
}

// A descent by steps that only lower the error. A step that would raise it is taken back and the damping
// grows by 8; after one that lowers it the damping falls to 0.3 (Levenberg-Marquardt). The descent has
// converged when a step lowers the error by less than 1e-6 of it.
//
// Of a goal far away only the direction counts. There the error is |e| = D - u'x with the distance D, and
// what steps change is x, not D: where |e| exceeds three reaches, each pi in the weighted error,
// changes are measured, and steps are damped, by 3 pi |e| instead of |e|^2.
template <class T>
struct LoweringDescent {
  static constexpr double far_error = 3 * 3.14159265358979323846;
  T squared_error = splat<T>(1e30); // of the best joint values
  T damping_factor = splat<T>(SearchConstants::damping);
  T far_factor = splat<T>(1);                  // 1, or less where the goal is far away
  Mask<T> converged = far_factor < far_factor; // false
  Mask<T> stepped = converged; // whether q is new, not the best again after a step that was taken back

  static SUPPLE_FLAT T share_of_far(T error) {
    return lesser(splat<T>(1), splat<T>(far_error) / root(larger(error, splat<T>(1))));
  }
  // Takes note of the squared error at q, where a step led; returns where it is the least so far.
  SUPPLE_FLAT Mask<T> judge(T error) {
    const Mask<T> better = error <= squared_error, overdamped = damping_factor > splat<T>(1e9);
    const Mask<T> little_reduction = squared_error - error < splat<T>(1e-6) * far_factor * squared_error;
    converged = converged | overdamped | (stepped & better & little_reduction);
    far_factor = select(better, share_of_far(error), far_factor);
    squared_error = select(better, error, squared_error);
    const T less = larger(damping_factor * splat<T>(0.3), splat<T>(1e-4));
    damping_factor = select(better, select(stepped, less, damping_factor), damping_factor * splat<T>(8));
    stepped = better;
    return better;
  }
};

template <class T>
struct CandidateDescent {
  T squared_error; // of the best joint values
  int arrived;     // lanes, as bits
};

// Descends from the joint values in the lanes to the best, into `best` (n), for at most `steps` steps, until
// one arrives or all have converged.
template <class T>
SUPPLE_APART CandidateDescent<T> descend_lanes(const Problem &problem, const Search &search,
                                               const Request &request, int steps, SearchStepScratch<T> &step,
                                               T *best, Found &found) {
  using Descent = LoweringDescent<T>;
  Descent descent;
  int lanes_arrived = 0;
  for (int l = 0; l < problem.n; ++l)
    best[l] = step.q[l];
  for (int k = 0; k <= steps && !lanes_arrived && !all(descent.converged); ++k) {
    if (k && budget_is_spent<T>(search, request, found))
      break;
    found.iterations += k > 0;
    SearchStepResult<T> result =
        search_step(problem, search, descent.damping_factor * descent.far_factor, true, step);
    if (k == 0 && any(result.squared_error > splat<T>(Descent::far_error * Descent::far_error))) {
      descent.far_factor = Descent::share_of_far(result.squared_error);
      result = search_step(problem, search, descent.damping_factor * descent.far_factor, true, step);
    }
    const Mask<T> better = descent.judge(result.squared_error);
    for (int l = 0; l < problem.n; ++l) {
      best[l] = select(better, step.q[l], best[l]);
      step.q[l] = select(better, step.next[l], best[l]);
    }
    lanes_arrived = bits_of(result.arrived & better);
  }
  return {descent.squared_error, lanes_arrived};
}

// A few steps from each candidate, if there are more than lanes. Ends when one arrives.
template <class T>
SUPPLE_FN CandidateDescent<Refining<T>> improve_candidates(const Problem &problem, const Search &search,
                                                           const Request &request, RestartScratch<T> &scratch,
                                                           Found &found) {
  constexpr int W = Lane<Refining<T>>::width;
  CandidateDescent<Refining<T>> descent{splat<Refining<T>>(0), 0};
  if (scratch.candidate_count <= W)
    return descent;
  for (int first = 0; first < scratch.candidate_count && !descent.arrived; first += W) {
    if (budget_is_spent<Refining<T>>(search, request, found))
      break;
    load_candidates(problem, search, request, first, scratch);
    descent = descend_lanes(problem, search, request, SearchConstants::short_descent, refining_step(scratch),
                            refined(scratch), found);
    for (int lane = 0; lane < W && first + lane < scratch.candidate_count; ++lane) {
      scratch.candidate_error[first + lane] = get(descent.squared_error, lane);
      for (int l = 0; l < problem.n; ++l)
        scratch.candidates[(first + lane) * problem.n + l] = get(refined(scratch)[l], lane);
    }
  }
  return descent;
}

// Brings the best candidates to the front, as many as are refined.
template <class T>
SUPPLE_FN void select_candidates(const Problem &problem, RestartScratch<T> &scratch) {
  auto swap = [](double &a, double &b) {
    const double held = a;
    a = b;
    b = held;
  };
  double *error = scratch.candidate_error;
  for (int i = 0; i < SearchConstants::best_candidates && i < scratch.candidate_count; ++i) {
    int best = i;
    for (int k = i + 1; k < scratch.candidate_count; ++k)
      if (error[k] < error[best])
        best = k;
    swap(error[i], error[best]);
    for (int l = 0; l < problem.n; ++l)
      swap(scratch.candidates[i * problem.n + l], scratch.candidates[best * problem.n + l]);
  }
}

// Makes the caller's start one of the candidates that are refined: the result is never farther from the
// goals.
template <class T>
SUPPLE_FN void add_start(const Problem &problem, const Search &search, const double *start,
                         RestartScratch<T> &scratch) {
  const int last = SearchConstants::best_candidates - 1;
  const int place = scratch.candidate_count <= last ? scratch.candidate_count++ : last;
  double *row = scratch.candidates + place * problem.n;
  for (int l = 0; l < problem.n; ++l) {
    const SearchJoint &joint = search.joints[l];
    row[l] = joint.weighted_size > 0 ? clip(start[l], joint.lower, joint.upper) : start[l];
  }
  clamp_balls(problem, search, row);
}

// The lane to return: the first that arrived, else the first of those with the least error below `bound`; -1:
// none.
template <class T>
SUPPLE_FN int best_lane(const CandidateDescent<T> &descent, double bound) {
  int best = -1;
  for (int lane = 0; lane < Lane<T>::width; ++lane) {
    if (descent.arrived >> lane & 1)
      return lane;
    if (descent.arrived || !(get(descent.squared_error, lane) < bound))
      continue;
    best = lane;
    bound = get(descent.squared_error, lane);
  }
  return best;
}

// Refines the abandoned candidates: a few steps from all, then many from the best. The joint values with the
// least error go to `out` (n).
template <class T>
SUPPLE_FN void find_nearest(const Problem &problem, const Search &search, const Request &request,
                            RestartScratch<T> &scratch, Found &found, double *out) {
  constexpr int W = Lane<Refining<T>>::width;
  for (int i = 0; i < 12 * problem.target_count && !is_double<T>; ++i)
    refining_step(scratch).goals[i] = splat<Refining<T>>(request.goals[i]);
  CandidateDescent<Refining<T>> descent = improve_candidates(problem, search, request, scratch, found);
  if (!descent.arrived) {
    select_candidates(problem, scratch);
    if (request.start)
      add_start(problem, search, request.start, scratch);
  }
  found.squared_error = unbounded;
  for (int first = 0; first < SearchConstants::best_candidates && first < scratch.candidate_count;
       first += W) {
    if (!descent.arrived) {
      load_candidates(problem, search, request, first, scratch);
      descent = descend_lanes(problem, search, request, SearchConstants::long_descent, refining_step(scratch),
                              refined(scratch), found);
    }
    const int lane = best_lane(descent, found.squared_error);
    if (lane >= 0) {
      found.squared_error = get(descent.squared_error, lane);
      read_lane(problem, search, request, lane, refined(scratch), out);
      wrap_joints(problem, search, request, out);
    }
    if (descent.arrived) {
      found.outcome = arrived;
      return;
    }
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
