// Forward kinematics and one step of a search for an arm of N joints, in registers.
//
// These are traverse_chain and frame_step with the number of joints known to the compiler: arrays whose size
// is known only when a kernel runs would lie in memory. Tests compare the two.
#pragma once
#include "supple/cuda/block.h"
#include "supple/math/dense.h"
#include "supple/model/joint_limits.h"
#include "supple/search/frame_step.h"

namespace supple {
inline namespace SUPPLE_ISA {

constexpr int most_arm_joints = SearchConstants::arc_joints - 1;

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
      at.p = at.p + joint.shift[0] * at.r.x + joint.shift[1] * at.r.y + joint.shift[2] * at.r.z;
      const Vec<S> y = at.r.y, z = at.r.z;
      if (joint.tilt == up) {
        at.r.y = z;
        at.r.z = -y;
      } else if (joint.tilt == down) {
        at.r.y = -z;
        at.r.z = y;
      } else if (joint.tilt == some_tilt) {
        at.r.y = joint.tilt_cos * y + joint.tilt_sin * z;
        at.r.z = joint.tilt_cos * z - joint.tilt_sin * y;
      }
    }
    S s, c;
    sincos_polynomials(joint.turn_gain * q[i] + joint.turn_offset, s, c);
    const Vec<S> x = at.r.x;
    at.r.x = c * x + s * at.r.y;
    at.r.y = c * at.r.y - s * x;
    if (joint.motion == slides)
      at.p = at.p + (joint.slide_gain * q[i] + joint.slide_offset) * at.r.z;
    axes[i] = {at.r.z, at.p};
  }
  return at * arm_frame(arm.base.tip_rotation, arm.base.tip_position);
}

// the state before a step
template <class S>
struct ArmError {
  S squared_error;                   // weighted
  S squared_distance, squared_angle; // without weights, the angle as 2 sin(a/2)
};

template <class S, int N>
SUPPLE_FLAT ArmError<S> arm_error(const Arm<S, N> &arm, const Frame<S> &tip, const Frame<S> &goal, S *e) {
  const HalfSine metric;
  const Vec<S> shift = goal.p - tip.p, turn = metric.between(tip.r, goal.r);
  store3(shift, e);
  store3(turn, e + 3);
  ArmError<S> error{S(0), dot(shift, shift), dot(turn, turn)};
  SUPPLE_UNROLL(6)
  for (int i = 0; i < 6; ++i) {
    e[i] = arm.base.weight[i] * e[i];
    error.squared_error = error.squared_error + e[i] * e[i];
  }
  return error;
}

// The weighted column of a joint: six rows, in weighted sizes of the joint.
template <class S>
SUPPLE_FLAT void arm_column(const ArmJoint<S> &joint, const S *weight, const Axis<S> &axis, Vec<S> point,
                            S *c) {
  const bool turning = joint.motion == turns;
  const Vec<S> z = ((turning ? joint.turn_gain : joint.slide_gain) * joint.size) * axis.z;
  const Vec<S> v = turning ? cross(z, point - axis.p) : z;
  const Vec<S> w = turning ? z : Vec<S>{S(0), S(0), S(0)};
  store3(v, c);
  store3(w, c + 3);
  SUPPLE_UNROLL(6)
  for (int i = 0; i < 6; ++i)
    c[i] = weight[i] * c[i];
}

// next = q + change, the change cut to the longest step of angles and to the limits
template <class S, int N>
SUPPLE_FLAT void apply_arm_change(const Arm<S, N> &arm, const S *q, const S *change, S *next) {
  S largest = arm.base.max_step;
  SUPPLE_UNROLL(16)
  for (int k = 0; k < N; ++k)
    if (arm.joints[k].motion == turns)
      largest = larger(largest, magnitude(change[k]));
  const S factor = arm.base.max_step / largest;
  SUPPLE_UNROLL(16)
  for (int k = 0; k < N; ++k) {
    const ArmJoint<S> &joint = arm.joints[k];
    const S part = joint.motion == turns ? factor * change[k] : change[k];
    next[k] = joint.size > S(0) ? clip(q[k] + part * joint.size, joint.lower, joint.upper) : q[k];
  }
}

// One step from q, into `next`: damped least squares without the joints that it would push out of their
// limits.
template <class S, int N>
SUPPLE_FLAT ArmError<S> arm_step(const Arm<S, N> &arm, const Frame<S> &goal, const S *q, S *next) {
  Axis<S> axes[N];
  S J[6 * N], e[6], A[21], change[N];
  const Frame<S> tip = traverse_arm(arm, q, axes);
  const ArmError<S> error = arm_error(arm, tip, goal, e);
  SUPPLE_UNROLL(21)
  for (int i = 0; i < 21; ++i)
    A[i] = S(0);
  A[0] = A[2] = A[5] = A[9] = A[14] = A[20] =
      S(SearchConstants::damping) * error.squared_error + S(Precision<S>::least_damping);
  SUPPLE_UNROLL(16)
  for (int k = 0; k < N; ++k) {
    const ArmJoint<S> &joint = arm.joints[k];
    S *c = J + 6 * k;
    arm_column(joint, arm.base.weight, axes[k], tip.p, c);
    const S gradient = dot6(c, e);
    const bool held = pressed_outward(q[k], joint.lower, joint.upper, gradient);
    SUPPLE_UNROLL(6)
    for (int i = 0; i < 6; ++i)
      c[i] = held ? S(0) : c[i];
    SUPPLE_UNROLL(6)
    for (int i = 0; i < 6; ++i)
      SUPPLE_UNROLL(6)
    for (int j = 0; j <= i; ++j)
      A[i * (i + 1) / 2 + j] = A[i * (i + 1) / 2 + j] + c[i] * c[j];
  }
  solve_packed<6>(A, e);
  SUPPLE_UNROLL(16)
  for (int k = 0; k < N; ++k)
    change[k] = dot6(J + 6 * k, e);
  apply_arm_change(arm, q, change, next);
  return error;
}

} // namespace SUPPLE_ISA
} // namespace supple
