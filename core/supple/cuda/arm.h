// Forward kinematics and one step of a search for an arm of N joints, in registers.
//
// These are traverse_chain and general_step with the number of joints and the kind of the goal, SUPPLE_GOAL,
// known to the compiler: arrays whose size is known only when a kernel runs would lie in memory. Tests
// compare the two.
#pragma once
#include "supple/cuda/block.h"
#include "supple/math/dense.h"
#include "supple/model/joint_limits.h"
#include "supple/search/frame_step.h"

namespace supple {
inline namespace SUPPLE_ISA {

#ifndef SUPPLE_GOAL
#define SUPPLE_GOAL 0
#endif
constexpr int arm_goal = SUPPLE_GOAL;
constexpr int arm_rows = arm_goal == only_position ? 3 : 6;

// The shape of an arm, as far as the compiler knows it: what it knows costs no instructions. A bit or more
// for each joint: whether it slides; its tilt; which parts of its shift are not 0; whether its angle is its
// value; whether a change of it counts as it is; whether it wraps. And whether rows of the rotation count as
// they are.
struct ArmShape {
#if defined(SUPPLE_SLIDES)
  static constexpr bool known = true, unit_turns = SUPPLE_UNIT_TURNS;
  static constexpr unsigned long long sliding = SUPPLE_SLIDES, tilts = SUPPLE_TILTS, shifts = SUPPLE_SHIFTS,
                                      unit_gains = SUPPLE_UNIT_GAINS, unit_sizes = SUPPLE_UNIT_SIZES,
                                      wraps = SUPPLE_WRAPS;
#else
  static constexpr bool known = false, unit_turns = false;
  static constexpr unsigned long long sliding = 0, tilts = 0, shifts = ~0ULL, unit_gains = 0, unit_sizes = 0,
                                      wraps = 0;
#endif
  template <class S>
  SUPPLE_FLAT static bool slides_at(const ArmJoint<S> &joint, int i) {
    return known ? (sliding >> i & 1) != 0 : joint.motion == prismatic;
  }
  template <class S>
  SUPPLE_FLAT static int tilt_at(const ArmJoint<S> &joint, int i) {
    return known ? int(tilts >> 2 * i & 3) : joint.tilt;
  }
  template <class S>
  SUPPLE_FLAT static bool wraps_at(const ArmJoint<S> &joint, int i) {
    return known ? (wraps >> i & 1) != 0 : joint.period > 0;
  }
  SUPPLE_FLAT static bool shifts_at(int i, int axis) { return (shifts >> (3 * i + axis) & 1) != 0; }
  template <class S>
  SUPPLE_FLAT static S angle_at(const ArmJoint<S> &joint, int i, S q) {
    return (unit_gains >> i & 1 ? q : joint.turn_gain * q) + joint.turn_offset;
  }
  // how far a joint moves for a change of its weighted value
  template <class S>
  SUPPLE_FLAT static Vec<S> rate_at(const ArmJoint<S> &joint, int i, Vec<S> axis) {
    if (!slides_at(joint, i) && (unit_gains & unit_sizes) >> i & 1)
      return axis;
    return ((slides_at(joint, i) ? joint.slide_gain : joint.turn_gain) * joint.size) * axis;
  }
};

template <class S>
SUPPLE_FLAT Frame<S> arm_frame(const S *r, const S *p) {
  return {{{r[0], r[3], r[6]}, {r[1], r[4], r[7]}, {r[2], r[5], r[8]}}, {p[0], p[1], p[2]}};
}

// Frame of the end effector, and the axes of all joints. Angles must be small enough for sincos_polynomials.
template <class S, int N>
SUPPLE_FLAT Frame<S> traverse_arm(const Arm<S, N> &arm, const S *q, Axis<S> *axes) {
  Frame<S> at = arm_frame(arm.base.rotation, arm.base.position);
  SUPPLE_UNROLL(16)
  for (int i = 0; i < N; ++i) {
    const ArmJoint<S> &joint = arm.joints[i];
    if (i > 0) {
      if (ArmShape::shifts_at(i, 0))
        at.p = at.p + joint.shift[0] * at.r.x;
      if (ArmShape::shifts_at(i, 1))
        at.p = at.p + joint.shift[1] * at.r.y;
      if (ArmShape::shifts_at(i, 2))
        at.p = at.p + joint.shift[2] * at.r.z;
      const Vec<S> y = at.r.y, z = at.r.z;
      const int tilt = ArmShape::tilt_at(joint, i);
      if (tilt == up) {
        at.r.y = z;
        at.r.z = -y;
      } else if (tilt == down) {
        at.r.y = -z;
        at.r.z = y;
      } else if (tilt == some_tilt) {
        at.r.y = joint.tilt_cos * y + joint.tilt_sin * z;
        at.r.z = joint.tilt_cos * z - joint.tilt_sin * y;
      }
    }
    S s, c;
    sincos_polynomials(ArmShape::angle_at(joint, i, q[i]), s, c);
    const Vec<S> x = at.r.x;
    at.r.x = c * x + s * at.r.y;
    at.r.y = c * at.r.y - s * x;
    if (ArmShape::slides_at(joint, i))
      at.p = at.p + (joint.slide_gain * q[i] + joint.slide_offset) * at.r.z;
    axes[i] = {at.r.z, at.p};
  }
  return at * arm_frame(arm.base.tip_rotation, arm.base.tip_position);
}

// the state before a step
template <class S>
struct ArmError {
  S squared_error;                   // weighted
  S squared_distance, squared_angle; // without weights, the angle as 2 sin(a/2) unless it is exact
};

// The weighted rows of the error. Of an axis, the rotation is across it: three rows say the same as the two
// of the general search. `pointing`: that axis in the world.
template <class S, int N>
SUPPLE_FLAT ArmError<S> arm_error(const Arm<S, N> &arm, const Frame<S> &tip, const Frame<S> &goal, bool exact,
                                  S *e, Vec<S> &pointing) {
  const HalfSine metric{exact};
  const Vec<S> shift = goal.p - tip.p;
  store3(shift, e);
  ArmError<S> error{S(0), dot(shift, shift), S(0)};
  if (arm_goal != only_position) {
    Vec<S> turn;
    if (arm_goal == position_and_axis) {
      Vec<S> across, other;
      pointing = tip.r * load3(arm.base.axis);
      perpendicular(pointing, across, other);
      turn = metric.between(pointing, goal_direction(goal), across);
    } else {
      turn = metric.between(tip.r, goal.r);
    }
    turn = metric.finish(turn, false);
    error.squared_angle = dot(turn, turn);
    store3(turn, e + 3);
  }
  SUPPLE_UNROLL(6)
  for (int i = 0; i < arm_rows; ++i) {
    if (i < 3 || !ArmShape::unit_turns)
      e[i] = arm.base.weight[i] * e[i];
    error.squared_error = error.squared_error + e[i] * e[i];
  }
  return error;
}

// The weighted column of a joint: the rows of the goal, in weighted sizes of the joint. `arm` is the vector
// from the axis to the end effector.
template <class S>
SUPPLE_FLAT void arm_column(const ArmJoint<S> &joint, int k, const S *weight, Vec<S> axis, Vec<S> arm,
                            Vec<S> pointing, S *c) {
  const bool turning = !ArmShape::slides_at(joint, k);
  const Vec<S> z = ArmShape::rate_at(joint, k, axis);
  store3(turning ? cross(z, arm) : z, c);
  if (arm_goal != only_position) {
    Vec<S> w = turning ? z : Vec<S>{S(0), S(0), S(0)};
    if (arm_goal == position_and_axis)
      w = w - dot(w, pointing) * pointing;
    store3(w, c + 3);
  }
  SUPPLE_UNROLL(6)
  for (int i = 0; i < (ArmShape::unit_turns ? 3 : arm_rows); ++i)
    c[i] = weight[i] * c[i];
}

// a'b of the rows
template <class S>
SUPPLE_FLAT S dot_rows(const S *a, const S *b) {
  if constexpr (arm_rows == 3)
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  else
    return dot6(a, b);
}

// next = q + change, the change cut to the longest step of angles and to the limits
template <class S, class M, int N>
SUPPLE_FLAT void apply_arm_change(const Arm<S, N> &arm, const S *q, const M *change, S *next) {
  const M max_step = M(arm.base.max_step);
  M largest = max_step;
  SUPPLE_UNROLL(16)
  for (int k = 0; k < N; ++k)
    if (!ArmShape::slides_at(arm.joints[k], k))
      largest = larger(largest, magnitude(change[k]));
  const M factor = max_step / largest;
  SUPPLE_UNROLL(16)
  for (int k = 0; k < N; ++k) {
    const ArmJoint<S> &joint = arm.joints[k];
    const S part = S(ArmShape::slides_at(joint, k) ? change[k] : factor * change[k]);
    const bool unit = ArmShape::unit_sizes >> k & 1;
    const S to = clip(q[k] + (unit ? part : part * joint.size), joint.lower, joint.upper);
    next[k] = unit || joint.size > S(0) ? to : q[k];
  }
}

template <class M, class S>
SUPPLE_FLAT Vec<M> in_precision(Vec<S> v) {
  return {M(v.x), M(v.y), M(v.z)};
}

// Where an arm is at q, and how far from its goal.
template <class S, int N>
struct ArmState {
  Axis<S> axes[N];
  Vec<S> point, pointing; // of the end effector
  S rows[6];              // weighted error
  ArmError<S> error;
};

// With `exact`, rotations count by their angle.
template <class S, int N>
SUPPLE_FLAT void evaluate_arm(const Arm<S, N> &arm, const Frame<S> &goal, const S *q, bool exact,
                              ArmState<S, N> &state) {
  const Frame<S> tip = traverse_arm(arm, q, state.axes);
  state.point = tip.p;
  state.pointing = {S(0), S(0), S(0)};
  state.error = arm_error(arm, tip, goal, exact, state.rows, state.pointing);
}

// One step from q, into `next`: damped least squares without the joints that it would push out of their
// limits. The damping is a part of the squared error.
//
// The error is that of S; the step is solved for in M, the precision of `matrix_arm`, which is the same arm.
// Near a goal a step of single precision from an error of double precision leads as near as one of double
// precision, but along singular directions.
template <class S, class M, int N>
SUPPLE_FLAT void step_arm(const Arm<S, N> &arm, const Arm<M, N> &matrix_arm, const ArmState<S, N> &state,
                          const S *q, S damping_factor, S *next) {
  constexpr int R = arm_rows;
  M J[R * N], e[R], A[R * (R + 1) / 2], change[N];
  const M damping = M(damping_factor * state.error.squared_error) + M(Precision<M>::least_damping);
  SUPPLE_UNROLL(6)
  for (int i = 0; i < R; ++i) {
    e[i] = M(state.rows[i]);
    SUPPLE_UNROLL(6)
    for (int j = 0; j <= i; ++j)
      A[i * (i + 1) / 2 + j] = i == j ? damping : M(0);
  }
  SUPPLE_UNROLL(16)
  for (int k = 0; k < N; ++k) {
    const ArmJoint<S> &joint = arm.joints[k];
    M *c = J + R * k;
    arm_column(matrix_arm.joints[k], k, matrix_arm.base.weight, in_precision<M>(state.axes[k].z),
               in_precision<M>(state.point - state.axes[k].p), in_precision<M>(state.pointing), c);
    const M gradient = dot_rows(c, e);
    const bool held = pressed_outward(q[k], joint.lower, joint.upper, S(gradient));
    SUPPLE_UNROLL(6)
    for (int i = 0; i < R; ++i)
      c[i] = held ? M(0) : c[i];
    SUPPLE_UNROLL(6)
    for (int i = 0; i < R; ++i)
      SUPPLE_UNROLL(6)
    for (int j = 0; j <= i; ++j)
      A[i * (i + 1) / 2 + j] = A[i * (i + 1) / 2 + j] + c[i] * c[j];
  }
  solve_packed<R>(A, e);
  SUPPLE_UNROLL(16)
  for (int k = 0; k < N; ++k)
    change[k] = dot_rows(J + R * k, e);
  apply_arm_change(arm, q, change, next);
}

} // namespace SUPPLE_ISA
} // namespace supple
