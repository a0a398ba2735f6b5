// Frames and Jacobians of many rows of joint values, through memory that the threads of a block share.
//
// A thread computes the row of its number. Rows go to and from memory together, number after number, so that
// neighbouring threads touch neighbouring numbers.
#pragma once
#include "supple/cuda/arm.h"
#include "supple/task/jacobian.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Rows are this far apart in shared memory: an odd number, so that threads use different banks.
SUPPLE_FLAT constexpr int padded(int size) { return size | 1; }

// Copies `count` rows of `size` numbers from shared memory; thread k of `threads` copies its part. In memory
// a row begins `stride` numbers after the one before.
template <int size, class S>
SUPPLE_FLAT void store_rows(const S *shared, S *out, long long stride, int count, int k, int threads) {
  for (int i = k; i < count * size; i += threads) {
    const int row = i / size, column = i - row * size;
    out[row * stride + column] = shared[row * padded(size) + column];
  }
}
template <int size, class S>
SUPPLE_FLAT void load_rows(const S *in, S *shared, int count, int k, int threads) {
  for (int i = k; i < count * size; i += threads) {
    const int row = i / size;
    shared[row * padded(size) + i - row * size] = in[i];
  }
}

template <class S>
SUPPLE_FLAT void place_frame(const Frame<S> &f, S *m) {
  const S o(0), l(1);
  const S rows[16] = {f.r.x.x, f.r.y.x, f.r.z.x, f.p.x, f.r.x.y, f.r.y.y, f.r.z.y, f.p.y,
                      f.r.x.z, f.r.y.z, f.r.z.z, f.p.z, o,       o,       o,       l};
  SUPPLE_UNROLL(16)
  for (int i = 0; i < 16; ++i)
    m[i] = rows[i];
}

// The same joint value within half a turn of 0, for a value whose angle is too large.
template <class S>
SUPPLE_FN S near_angle(const ArmJoint<S> &joint, S value) {
  const S angle = joint.turn_gain * value + joint.turn_offset;
  if (joint.motion != revolute || !beyond_polynomials(angle))
    return value;
  return (S(std::atan2(std::sin(angle), std::cos(angle))) - joint.turn_offset) / joint.turn_gain;
}

// Frame and axes of a row q (dof, in shared memory): an arm in registers, or any chain where
// joint_count is 0.
template <int joint_count, class S, int N>
SUPPLE_FLAT Frame<S> row_frame(const ChainBlock &block, const Arm<S, N> &arm, const S *q, Axis<S> *axes) {
  if constexpr (joint_count > 0) {
    S values[N];
    bool large_angle = false;
    SUPPLE_UNROLL(16)
    for (int k = 0; k < N; ++k) {
      values[k] = q[arm.joints[k].index];
      large_angle =
          large_angle || beyond_polynomials(arm.joints[k].turn_gain * values[k] + arm.joints[k].turn_offset);
    }
    if (large_angle) {
      SUPPLE_UNROLL(16)
      for (int k = 0; k < N; ++k)
        values[k] = near_angle(arm.joints[k], values[k]);
    }
    return traverse_arm(arm, values, axes);
  } else {
    return frame<S>(traverse_chain(block.chain, q, axes));
  }
}

// The Jacobian (6 x dof) of a row, in shared memory, which is zero where no joint moves the link.
template <int joint_count, class S, int N>
SUPPLE_FLAT void row_jacobian(const ChainBlock &block, const Arm<S, N> &arm, const Axis<S> *axes,
                              Vec<S> point, bool in_link_axes, const Rot<S> &rotation, int dof, S *J) {
  if constexpr (joint_count > 0) {
    SUPPLE_UNROLL(16)
    for (int k = 0; k < N; ++k) {
      const ArmJoint<S> &joint = arm.joints[k];
      const bool turning = joint.motion == revolute;
      const Vec<S> z = (turning ? joint.turn_gain : joint.slide_gain) * axes[k].z;
      Vec<S> v = turning ? cross(z, point - axes[k].p) : z;
      Vec<S> w = turning ? z : Vec<S>{S(0), S(0), S(0)};
      if (in_link_axes) {
        v = transpose(rotation) * v;
        w = transpose(rotation) * w;
      }
      S *j = J + joint.index;
      j[0] = v.x;
      j[dof] = v.y;
      j[2 * dof] = v.z;
      j[3 * dof] = w.x;
      j[4 * dof] = w.y;
      j[5 * dof] = w.z;
    }
  } else {
    geometric_jacobian(block.chain, axes, point, in_link_axes, rotation, J);
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
