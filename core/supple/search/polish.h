// What a search in float finds, finished in double: brought into its limits, moved by a few steps, judged.
//
// A descent in float ends where its precision does (Precision<float>::handover). Its limits and its tolerance
// are those of double, rounded, so neither is kept exactly until it is finished. A search in double needs
// none of this.
#pragma once
#include "supple/search/frame_step.h"
#include "supple/search/seeds.h"

namespace supple {
inline namespace SUPPLE_ISA {

// The number in which a search in T is finished: double, in vectors of the same size.
template <class T>
struct Finishing {
  using Number = double;
};
template <int W>
struct Finishing<Pack<float, W>> {
  using Number = Pack<double, W / 2>;
};

template <class T>
struct PolishScratch {
  using Number = typename Finishing<T>::Number;
  SearchStepScratch<Number> step;
  Number *best; // n: of lanes that arrived
};

template <class T>
SUPPLE_FN void lay_out(PolishScratch<T> &scratch, ScratchLayout &layout, const Problem &problem) {
  if constexpr (!is_double<T>) {
    lay_out(scratch.step, layout, problem);
    layout.array(scratch.best, problem.n);
  }
}

// Brings joint values (n) that were rounded into the limits of steps; locked joints go to where they stay.
SUPPLE_FN void bring_inside(const Problem &problem, const Search &search, const Request &request,
                            double *row) {
  for (int l = 0; l < problem.n; ++l) {
    const SearchJoint &joint = search.joints[l];
    row[l] = joint.weighted_size > 0 ? clip(row[l], joint.lower, joint.upper) : reference(search, request, l);
  }
  clamp_balls(problem, search, row);
}

// the joint values of a lane in double, within the limits of steps, into `row` (n)
template <class T>
SUPPLE_FN void read_lane(const Problem &problem, const Search &search, const Request &request, int lane,
                         const T *q, double *row) {
  for (int l = 0; l < problem.n; ++l)
    row[l] = get(q[l], lane);
  if constexpr (!is_double<T>)
    bring_inside(problem, search, request, row);
}

// Steps from step.q until each lane arrives, at most polish_steps. Where a lane arrived, its joint values go
// to `best` and the number of its steps to `steps`. Returns the lanes that arrived, as bits. What a lane
// finds does not depend on the others.
template <class T>
SUPPLE_FN int polish_lanes(const Problem &problem, const Search &search, int active,
                           SearchStepScratch<T> &step, T *best, int *steps) {
  Mask<T> ended = splat<T>(0) > splat<T>(0);
  int all_arrived = 0;
  for (int k = 0; k <= SearchConstants::polish_steps; ++k) {
    const SearchStepResult<T> result =
        search_step(problem, search, splat<T>(SearchConstants::damping), false, step);
    const Mask<T> ends = result.arrived & !ended;
    const int arrived_now = bits_of(ends) & active;
    ended = ended | result.arrived;
    for (int l = 0; l < problem.n && arrived_now; ++l)
      best[l] = select(ends, step.q[l], best[l]);
    for (int lane = 0; lane < Lane<T>::width && arrived_now; ++lane)
      if (arrived_now >> lane & 1)
        steps[lane] = k;
    all_arrived |= arrived_now;
    if (all_arrived == active)
      break;
    T *before = step.q;
    step.q = step.next;
    step.next = before;
  }
  return all_arrived;
}

// Finishes one row of joint values (n) in place; false, and nothing changes, if it does not arrive. `steps`
// grows by those it takes.
template <class T>
SUPPLE_FN bool polish(const Problem &problem, const Search &search, const double *goals, double *row,
                      int &steps, PolishScratch<T> &scratch) {
  using Number = typename PolishScratch<T>::Number;
  for (int i = 0; i < 12 * problem.target_count; ++i)
    scratch.step.goals[i] = splat<Number>(goals[i]);
  for (int l = 0; l < problem.n; ++l)
    scratch.best[l] = scratch.step.q[l] = splat<Number>(row[l]);
  int taken[Lane<Number>::width] = {};
  const bool arrives = polish_lanes(problem, search, 1, scratch.step, scratch.best, taken);
  if (!arrives)
    return false;
  steps += taken[0];
  for (int l = 0; l < problem.n; ++l)
    row[l] = get(scratch.best[l], 0);
  return true;
}

} // namespace SUPPLE_ISA
} // namespace supple
