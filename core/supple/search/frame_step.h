// One step of a search for one frame and a chain of simple joints: general_step with six rows in registers.
#pragma once
#include "supple/search/step.h"

namespace supple {
inline namespace SUPPLE_ISA {

// the weighted column of a joint: six rows, in weighted sizes of the joint
template <class T>
SUPPLE_FLAT void frame_column(const ChainJoint &chain_joint, const Axis<T> &axis, Vec<T> point, double size,
                              const T *weight, bool weighted_rotation, T *c) {
  if (chain_joint.motion == revolute) {
    const double gain = chain_joint.turn_gain * size;
    const Vec<T> z = gain == 1 ? axis.z : splat<T>(gain) * axis.z;
    const Vec<T> v = cross(z, point - axis.p);
    c[0] = weight[0] * v.x;
    c[1] = weight[1] * v.y;
    c[2] = weight[2] * v.z;
    store3(z, c + 3);
    if (weighted_rotation)
      for (int i = 3; i < 6; ++i)
        c[i] = weight[i] * c[i];
  } else {
    const Vec<T> z = splat<T>(chain_joint.slide_gain * size) * axis.z;
    c[0] = weight[0] * z.x;
    c[1] = weight[1] * z.y;
    c[2] = weight[2] * z.z;
    c[3] = c[4] = c[5] = splat<T>(0);
  }
}

// a'b of six rows, in three independent sums
template <class T>
SUPPLE_FLAT T dot6(const T *a, const T *b) {
  return (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]) + (a[4] * b[4] + a[5] * b[5]);
}

// Where the end effector is, and how far from its goal.
template <class T>
struct FrameState {
  Vec<T> point, shift, half_sine;
  Mask<T> arrived;
};
template <class T>
SUPPLE_FLAT FrameState<T> frame_state(const Problem &problem, const Search &search,
                                      SearchStepScratch<T> &scratch) {
  const Frame<T> tip = end_effector(problem.targets[0], scratch.q, scratch.axes);
  const Frame<T> goal = goal_frame(scratch.goals);
  FrameState<T> state{tip.p, goal.p - tip.p, HalfSine{}.between(tip.r, goal.r), {}};
  state.arrived =
      is_within_tolerance(search, dot(state.shift, state.shift), dot(state.half_sine, state.half_sine));
  return state;
}

template <class T>
SUPPLE_FN SearchStepResult<T> frame_step(const Problem &problem, const Search &search, T damping_factor,
                                         bool exact, SearchStepScratch<T> &scratch) {
  const Target &target = problem.targets[0];
  const Chain &chain = target.chain;
  const FrameState<T> state = frame_state(problem, search, scratch);
  const Vec<T> shift = state.shift, rotation = HalfSine{exact}.finish(state.half_sine, false);
  SearchStepResult<T> result;
  result.arrived = state.arrived;
  T weight[6];
  for (int i = 0; i < 6; ++i)
    weight[i] = splat<T>(target.weight[i]);
  T e[6] = {weight[0] * shift.x,    weight[1] * shift.y,    weight[2] * shift.z,
            weight[3] * rotation.x, weight[4] * rotation.y, weight[5] * rotation.z};
  const bool weighted_rotation = target.weight[3] != 1 || target.weight[4] != 1 || target.weight[5] != 1;
  result.squared_error = dot6(e, e);
  // J J' + damping, lower triangle
  T A[21];
  SUPPLE_UNROLL(21)
  for (int i = 0; i < 21; ++i)
    A[i] = splat<T>(0);
  A[0] = A[2] = A[5] = A[9] = A[14] = A[20] = step_damping(search, damping_factor, result.squared_error);
  for (int k = 0; k < chain.count; ++k) {
    const ChainJoint &chain_joint = chain.joints[k];
    const int l = chain_joint.index;
    const SearchJoint &joint = search.joints[l];
    T c[6];
    frame_column(chain_joint, scratch.axes[k], state.point, joint.weighted_size, weight, weighted_rotation,
                 c);
    const T factor = free_factor<T>(is_held(joint, scratch.q[l], dot6(c, e)));
    SUPPLE_UNROLL(6)
    for (int i = 0; i < 6; ++i)
      scratch.J[6 * l + i] = c[i] = factor * c[i];
    SUPPLE_UNROLL(6)
    for (int i = 0; i < 6; ++i)
      SUPPLE_UNROLL(6)
    for (int j = 0; j <= i; ++j)
      A[i * (i + 1) / 2 + j] = A[i * (i + 1) / 2 + j] + c[i] * c[j];
  }
  solve_packed<6>(A, e);
  for (int l = 0; l < problem.n; ++l)
    scratch.change[l] = dot6(scratch.J + 6 * l, e);
  apply_change(problem, search, scratch);
  return result;
}

// ---- Any step ----

// Which goals a step is for. Where search.uses_frame_step is known, the code for other goals is not compiled.
constexpr bool any_goals = false, one_frame = true;

template <bool goals = any_goals, class T>
SUPPLE_APART SearchStepResult<T> search_step(const Problem &problem, const Search &search, T damping_factor,
                                             bool exact, SearchStepScratch<T> &scratch) {
  if constexpr (goals != one_frame)
    if (!search.uses_frame_step)
      return general_step(problem, search, damping_factor, exact, scratch);
  return frame_step(problem, search, damping_factor, exact, scratch);
}

// Lanes that are within tolerance at q; where that costs as much as a step, such a step is taken.
template <bool goals = any_goals, class T>
SUPPLE_FN Mask<T> has_arrived(const Problem &problem, const Search &search, SearchStepScratch<T> &scratch) {
  if constexpr (goals != one_frame)
    if (!search.uses_frame_step)
      return general_step(problem, search, splat<T>(SearchConstants::damping), false, scratch).arrived;
  return frame_state(problem, search, scratch).arrived;
}

template <class T>
SUPPLE_FN void set_goals(const Problem &problem, int lane, const double *goals,
                         SearchStepScratch<T> &scratch) {
  for (int i = 0; i < 12 * problem.target_count; ++i)
    put(scratch.goals[i], lane, goals[i]);
}

} // namespace SUPPLE_ISA
} // namespace supple
