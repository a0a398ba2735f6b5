// Taking a step: the joints' next values, the bounds that they are at, and what is remembered of them.
#pragma once
#include "supple/model/limits.h"
#include "supple/tracking/bounds.h"

namespace supple {
inline namespace SUPPLE_ISA {

// the bound that a joint is at in this tick: a SideMagnitude with its sign
SUPPLE_FLAT double side_of(const JointBounds &joint, double limit_side, double v, double a) {
  if (limit_side != 0)
    return limit_side * at_limit;
  if (std::fabs(v) > 0.999999 * joint.speed)
    return v > 0 ? at_speed_limit : -at_speed_limit;
  if (std::fabs(a) > 0.999 * joint.acceleration)
    return a > 0 ? at_acceleration_limit : -at_acceleration_limit;
  return not_limited;
}

// The acceleration of a step of dt whose velocity changes so much: the change over `spacing`, or the limit
// itself where the change over dt is at it.
SUPPLE_FLAT double acceleration_of(double change, double dt, double spacing, double limit) {
  const double most = (1 - 1e-9) * limit, size = std::fabs(change);
  if (size < most * dt && size < most * spacing)
    return change / spacing;
  return change > 0 ? limit : -limit;
}

// Takes the step: updates q, velocity and acceleration. With `keep_limits`, rounding carries no joint past
// its limit.
SUPPLE_FN void take_step(const Tracking &t, const ArmMemory &memory, const BoundsScratch &scratch, double dt,
                         bool keep_limits, double *sides) {
  const double spacing = step_spacing(*memory.scalars, dt);
  memory.scalars->step_time = dt;
  for (int i = 0; i < t.problem.n; ++i) {
    const JointBounds &joint = t.bounds[i];
    const double v = scratch.step[i] / dt, change = v - memory.velocity[i];
    const double low = joint.lower * t.unit[i], high = joint.upper * t.unit[i];
    const double last = scratch.previous_q[i] = memory.q[i], next = last + scratch.step[i] * t.unit[i];
    sides[i] = side_of(joint, memory.limit_side[i], v, change / dt);
    memory.acceleration[i] = acceleration_of(change, dt, spacing, joint.acceleration);
    memory.velocity[i] = v;
    // more than rounding: the limit is a new one, and the joint brakes past it
    const double rounding = 1e-9 * larger(1.0, std::fabs(next));
    memory.q[i] = keep_limits && last <= high && next > high && next - high < rounding ? high
                  : keep_limits && last >= low && next < low && low - next < rounding  ? low
                                                                                       : next;
  }
  for (int b = 0; b < t.problem.ball_count; ++b) {
    const Ball &ball = t.problem.balls[b];
    const int k = ball.index;
    const Vec<double> next = turned(load3(scratch.previous_q + k), load3(scratch.step + k));
    const Vec<double> inside = keep_limits && is_limited(ball)
                                   ? clamp_ball(next, load3(ball.axis), ball.swing, ball.low, ball.high)
                                   : next;
    const Vec<double> off = next - inside;
    store3(dot(off, off) < 1e-18 ? inside : next, memory.q + k);
  }
}

// Moves the remembered posture a share of the way to q, where the arm can move freely:
// K_m dt clip((sigma/sigma_0)^2 - 1, 0, 1).
SUPPLE_FN void remember_posture(const Tracking &t, const ArmMemory &memory, const double *to_posture,
                                double smallest_singular_value, double dt) {
  const double free = clip(squared(smallest_singular_value / t.law.singular_threshold) - 1, 0.0, 1.0);
  const double share = lesser(1.0, t.law.posture_rate * dt * free);
  if (!(share > 0))
    return;
  for (int i = 0; i < t.problem.n; ++i)
    memory.posture[i] += share * (memory.q[i] - memory.posture[i]);
  for (int b = 0; b < t.problem.ball_count; ++b) {
    const int k = t.problem.balls[b].index;
    store3(turned(load3(memory.q + k), (1 - share) * load3(to_posture + k)), memory.posture + k);
  }
}

// nothing is held and nothing is fed forward
SUPPLE_FN void forget_feedforward(const ArmMemory &memory, int n) {
  for (int i = 0; i < n; ++i)
    memory.limit_side[i] = memory.feedforward_velocity[i] = memory.feedforward_acceleration[i] = 0;
}

} // namespace SUPPLE_ISA
} // namespace supple
