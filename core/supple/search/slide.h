// Steps of a redundant linkage that meet its goals where they are nearest to the caller's start.
//
// A step is J'A^-1 e + h p with A = J J' + damping: Newton's towards the goals, and p = d - J'A^-1 J d,
// the component of the displacement d to the start that leaves the goals as they are. The step size h is that
// of Barzilai and Borwein (Two-Point Step Size Gradient Methods, 1988); for one degree of redundancy it is
// the secant method's.
#pragma once
#include "supple/search/step.h"

namespace supple {
inline namespace SUPPLE_ISA {

// How far solutions are moved towards the start.
struct SlideLimits {
  double precision; // of the distance from the start, in weighted sizes: a slide that lowers it by less ends
  double max_slide; // longest slide of a step, in weighted sizes
  int max_steps;    // steps that slide
};
constexpr SlideLimits coarse_slide{1e-3, 0.5, 6}, slack_slide{1e-3, 0.5, 2}, fine_slide{5e-5, 0.1, 20};

template <class T>
struct SlideScratch {
  T *start;                          // n: of each lane
  T *displacement, *slide;           // n: d and p, in weighted sizes; 0 for joints that are held
  T *last_displacement, *last_slide; // n: before the last step
  T *newton;                         // n: the step towards the goals
  T *residual;                       // rows
  T steps;                           // of each lane, that slid
  T squared_distance, reduction;     // d'd, and by how much the slide of the step lowers the squared distance
  SlideLimits limits;
};

template <class T>
SUPPLE_FN void lay_out(SlideScratch<T> &scratch, ScratchLayout &layout, const Problem &problem) {
  layout.array(scratch.start, problem.n);
  layout.array(scratch.displacement, problem.n);
  layout.array(scratch.slide, problem.n);
  layout.array(scratch.last_displacement, problem.n);
  layout.array(scratch.last_slide, problem.n);
  layout.array(scratch.newton, problem.n);
  layout.array(scratch.residual, problem.rows);
}

template <class T>
SUPPLE_FN T squared_norm(int n, const T *x) {
  T sum = splat<T>(0);
  for (int l = 0; l < n; ++l)
    sum = sum + x[l] * x[l];
  return sum;
}

// The displacement from q to the start, in weighted sizes, for joints that wrap to the nearest of the start's
// turns. Balls have none.
template <class T>
SUPPLE_FN void find_displacement(const Problem &problem, const Search &search, const T *q,
                                 SlideScratch<T> &scratch) {
  for (int l = 0; l < problem.n; ++l) {
    const SearchJoint &joint = search.joints[l];
    T displacement = scratch.start[l] - q[l];
    if (joint.period > 0) {
      const T period = splat<T>(joint.period), rounder = splat<T>(big<Scalar<T>>);
      displacement = displacement - ((displacement / period + rounder) - rounder) * period;
    }
    scratch.displacement[l] =
        joint.weighted_size > 0 ? displacement * splat<T>(1 / joint.weighted_size) : splat<T>(0);
  }
  for (int i = 0; i < problem.ball_count; ++i)
    for (int l = problem.balls[i].index; l < problem.balls[i].index + 3; ++l)
      scratch.displacement[l] = splat<T>(0);
  scratch.squared_distance = squared_norm(problem.n, scratch.displacement);
}

// e = J d, with the rows of all targets
template <class T>
SUPPLE_FN void set_rows(const Problem &problem, const Search &search, const T *d,
                        SearchStepScratch<T> &step) {
  for (int t = 0; t < problem.target_count; ++t) {
    const Target &target = problem.targets[t];
    T *e = step.e + target.first;
    for (int i = 0; i < target.rows; ++i)
      e[i] = splat<T>(0);
    for (int c = search.column_begin[t]; c < search.column_begin[t + 1]; ++c)
      for (int i = 0; i < target.rows; ++i)
        e[i] = e[i] + step.J[6 * c + i] * d[search.columns[c]];
  }
}

// gradient = J'e
template <class T>
SUPPLE_FN void set_gradient(const Problem &problem, const Search &search, SearchStepScratch<T> &step) {
  for (int l = 0; l < problem.n; ++l)
    step.gradient[l] = splat<T>(0);
  for (int t = 0; t < problem.target_count; ++t) {
    const Target &target = problem.targets[t];
    const T *e = step.e + target.first;
    for (int c = search.column_begin[t]; c < search.column_begin[t + 1]; ++c) {
      T &gradient = step.gradient[search.columns[c]];
      for (int i = 0; i < target.rows; ++i)
        gradient = gradient + step.J[6 * c + i] * e[i];
    }
  }
}

// change = J'A^-1 e
template <class T>
SUPPLE_FN void solve_for_change(const Problem &problem, const Search &search, T damping,
                                SearchStepScratch<T> &step) {
  if (solves_by_rows(problem))
    return solve_by_rows(problem.rows, search, damping, step);
  set_gradient(problem, search, step);
  solve_by_joints(problem, search, damping, step);
}

// Takes joints at a limit that the step would push outward out of J and d; whether there are any.
template <class T>
SUPPLE_FN bool hold_pushed_joints(const Problem &problem, const Search &search, SearchStepScratch<T> &step,
                                  SlideScratch<T> &scratch) {
  bool held_any = false;
  for (int l = 0; l < problem.n; ++l) {
    const Mask<T> held = is_held(search.joints[l], step.q[l], scratch.newton[l] + scratch.slide[l]);
    if (!any(held))
      continue;
    held_any = true;
    const T factor = free_factor<T>(held);
    scratch.displacement[l] = factor * scratch.displacement[l];
    for (int t = 0; t < problem.target_count; ++t)
      for (int c = search.column_begin[t]; c < search.column_begin[t + 1]; ++c)
        if (search.columns[c] == l)
          for (int i = 0; i < problem.targets[t].rows; ++i)
            step.J[6 * c + i] = factor * step.J[6 * c + i];
  }
  return held_any;
}

// Newton's step and the slide, for the residual and the columns in `step`.
template <class T>
SUPPLE_FN void find_slide(const Problem &problem, const Search &search, T damping, SearchStepScratch<T> &step,
                          SlideScratch<T> &scratch) {
  constexpr int passes = 3; // a joint that is held can press another one outward
  for (int i = 0; i < problem.rows; ++i)
    scratch.residual[i] = step.e[i];
  for (int pass = 1;; ++pass) {
    for (int i = 0; i < problem.rows; ++i)
      step.e[i] = scratch.residual[i];
    solve_for_change(problem, search, damping, step);
    for (int l = 0; l < problem.n; ++l)
      scratch.newton[l] = step.change[l];
    set_rows(problem, search, scratch.displacement, step);
    solve_for_change(problem, search, damping, step);
    for (int l = 0; l < problem.n; ++l)
      scratch.slide[l] = scratch.displacement[l] - step.change[l];
    if (pass == passes || !hold_pushed_joints(problem, search, step, scratch))
      return;
  }
}

// The step size of the slide in each lane; 0 where it is of no use, or not `close` to the goals.
template <class T>
SUPPLE_FN T slide_step_size(const Problem &problem, Mask<T> close, SlideScratch<T> &scratch) {
  const T zero = splat<T>(0), one = splat<T>(1);
  const SlideLimits &limits = scratch.limits;
  T moved = zero, curvature = zero; // s's and -s'y, with the last step s and the change y of the slide
  for (int l = 0; l < problem.n; ++l) {
    const T step = scratch.last_displacement[l] - scratch.displacement[l];
    moved = moved + step * step;
    curvature = curvature + step * (scratch.last_slide[l] - scratch.slide[l]);
    scratch.last_displacement[l] = scratch.displacement[l];
    scratch.last_slide[l] = scratch.slide[l];
  }
  const T least = splat<T>(SearchConstants::least_step_size),
          largest = splat<T>(SearchConstants::largest_step_size);
  const Mask<T> convex = curvature > splat<T>(1e-3) * moved;
  const T secant = clip(select(convex, moved / select(convex, curvature, one), largest), least, largest);
  const T squared_slide = squared_norm(problem.n, scratch.slide);
  const T longest = splat<T>(limits.max_slide) / root(squared_slide + splat<T>(1e-30));
  const T step_size = lesser(select(scratch.steps > zero, secant, one), longest);
  scratch.reduction = step_size * squared_slide;
  const T needed = splat<T>(limits.precision * limits.precision) * scratch.squared_distance;
  const Mask<T> sliding = close & (scratch.reduction * scratch.reduction > needed) &
                          (scratch.steps < splat<T>(double(limits.max_steps)));
  scratch.steps = scratch.steps + select(sliding, one, zero);
  return select(sliding, step_size, zero);
}

// One step from q, into `next`; `sliding`: lanes whose step slides. With slack, lanes slide from where the
// goals are met: before, the rows that count change too often.
template <class T>
SUPPLE_APART SearchStepResult<T> sliding_step(const Problem &problem, const Search &search,
                                              SearchStepScratch<T> &step, SlideScratch<T> &scratch,
                                              Mask<T> &sliding) {
  const T zero = splat<T>(0);
  const SearchStepResult<T> result = add_targets(problem, search, false, step);
  find_displacement(problem, search, step.q, scratch);
  const T damping = step_damping(search, splat<T>(SearchConstants::damping), result.squared_error);
  find_slide(problem, search, damping, step, scratch);
  const Mask<T> close = result.squared_error < splat<T>(SearchConstants::slide_error);
  const T step_size = slide_step_size(problem, search.has_slack ? result.arrived : close, scratch);
  for (int l = 0; l < problem.n; ++l)
    step.change[l] = scratch.newton[l] + step_size * scratch.slide[l];
  apply_change(problem, search, step);
  sliding = step_size > zero;
  return result;
}

} // namespace SUPPLE_ISA
} // namespace supple
