// What a tracker derives from its joints and goals when it is set up.
#pragma once
#include "supple/math/number.h"
#include "supple/tracking/types.h"

namespace supple {
inline namespace SUPPLE_ISA {

// length of a row of n numbers that is read some at a time
SUPPLE_FLAT int padded_length(int n) { return (n + 7) / 8 * 8; }

// bounds in the joint's own unit, in its natural unit
SUPPLE_FN JointBounds natural_bounds(const JointBounds &own, double unit) {
  return {own.lower / unit, own.upper / unit, own.speed / unit, own.acceleration / unit, own.jerk / unit};
}

// Tracking::bound_rows; the padding is 1, of which no operation makes what is not a number.
SUPPLE_FN void fill_bound_rows(const JointBounds *bounds, int n, int stride, double *rows) {
  for (int i = 0; i < bound_row_count * stride; ++i)
    rows[i] = 1;
  for (int i = 0; i < n; ++i) {
    rows[lower_row * stride + i] = bounds[i].lower;
    rows[upper_row * stride + i] = bounds[i].upper;
    rows[speed_row * stride + i] = bounds[i].speed;
    rows[acceleration_row * stride + i] = bounds[i].acceleration;
    rows[jerk_row * stride + i] = bounds[i].jerk;
  }
}

// Whether sizes known when compiling can be used: one goal of six rows, no ball joint, each joint once.
SUPPLE_FN bool is_one_pose(const Problem &problem) {
  if (problem.target_count != 1 || problem.rows != 6 || problem.ball_count)
    return false;
  const Chain &chain = problem.targets[0].chain;
  for (int i = 0; i < chain.count; ++i)
    if (chain.joints[i].shared)
      return false;
  return chain.count == problem.n;
}

// Gains so low that acceleration can follow: K a / j is at most 1.5, about that of the default bounds, and
// at most half of the rate at which accelerations end, else the arm shakes where the residual curves.
SUPPLE_FN void lower_gains(const JointBounds *bounds, int n, double end_rate, Law &law) {
  for (int i = 0; i < n; ++i)
    if (bounds[i].acceleration > 0)
      for (double *gain : {&law.feedback_gain, &law.limit_gain, &law.null_space_gain})
        *gain = lesser(*gain, lesser(1.5 * bounds[i].jerk / bounds[i].acceleration, 0.5 * end_rate));
}

// The command of a target is measured with the largest weights of its rows.
SUPPLE_FN void weigh_command(const Target &target, double weight_scale, CommandOptions &options) {
  options.position_weight = options.rotation_weight = 0;
  for (int i = 0; i < target.rows; ++i) {
    double &largest =
        is_position_component(target.component[i]) ? options.position_weight : options.rotation_weight;
    largest = larger(largest, weight_scale * target.weight[i]);
  }
  if (target.looks || target.has_pole) // what is a metre away turns by a radian when it moves by a metre
    options.position_weight = options.rotation_weight;
  options.has_direction = target.has_direction;
}

} // namespace SUPPLE_ISA
} // namespace supple
