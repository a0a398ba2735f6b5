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
  Number *best; // n: least error so far, when candidates are refined
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

// One step of all lanes from step.q, which becomes where they come to.
template <bool goals = any_goals, class T>
SUPPLE_FN void polish_step(const Problem &problem, const Search &search, SearchStepScratch<T> &step) {
  search_step<goals>(problem, search, splat<T>(SearchConstants::damping), false, step);
  T *before = step.q;
  step.q = step.next;
  step.next = before;
}

// Finishes one row of joint values (n) in place; false, and nothing changes, if it does not arrive. `steps`
// grows by those it takes: often none for one frame, where float comes near enough.
template <bool goals = any_goals, class T>
SUPPLE_FN bool polish(const Problem &problem, const Search &search, const double *goal_numbers, double *row,
                      int &steps, SearchStepScratch<T> &step) {
  for (int i = 0; i < 12 * problem.target_count; ++i)
    step.goals[i] = splat<T>(goal_numbers[i]);
  for (int l = 0; l < problem.n; ++l)
    step.q[l] = splat<T>(row[l]);
  int taken = 0;
  while (!(bits_of(has_arrived<goals>(problem, search, step)) & 1)) {
    if (++taken > SearchConstants::polish_steps)
      return false;
    polish_step<goals>(problem, search, step);
  }
  steps += taken;
  for (int l = 0; l < problem.n; ++l)
    row[l] = get(step.q[l], 0);
  return true;
}

} // namespace SUPPLE_ISA
} // namespace supple
