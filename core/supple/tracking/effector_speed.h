// The bound on the speed of the end effectors, over the tick and while the joints brake afterwards. An end
// effector whose goal is relative to another link is bounded in the axes of that link.
//
// A step is safe if the end effectors stay within their speeds in this tick, and also if from then on all
// joints brake together, along a straight line in joint space, in the time T = max |v_i| / a_i. Such braking
// is a step that the acceleration bounds allow, and after it the rest of the same braking is left: so a safe
// step always follows a safe one, whatever the lengths of the ticks. At a share c of the joints' velocity v
// the end effector has the speed c |J v|, and c^2 = 1 - 2 s / T after the joints moved by s v.
#pragma once
#include "supple/tracking/bounds.h"

namespace supple {
inline namespace SUPPLE_ISA {

constexpr double planned_share = 0.98;     // of the bound, which the desired step is scaled to
constexpr double guarded_share = 1 - 1e-6; // of the bound, which no step exceeds

// Speed of an end effector (m/s, rad/s) while the joints move with `velocity`, and a bound on how fast it can
// grow.
struct EffectorMotion {
  double linear, angular, linear_growth, angular_growth;
};

// The growth of the speed along a straight line in joint space is the second derivative, bounded by the
// lengths of the chain between axes, which turns do not change; slides lengthen it by at most |v| T / 2.
// `tip` is the end effector, whose axes are in scratch.axes.
SUPPLE_FN EffectorMotion effector_motion(const Tracking &t, const Target &target, const Frame<double> &tip,
                                         const double *velocity, double braking_time,
                                         const TickEvaluation &scratch) {
  const int count = movers(target, scratch.axes, tip.p, t.unit, scratch.movers);
  Vec<double> linear{0, 0, 0}, angular{0, 0, 0}, next = tip.p;
  double length = 0, after_linear = 0, after_angular = 0;
  EffectorMotion motion{};
  for (int i = count - 1; i >= 0; --i) {
    const Mover &mover = scratch.movers[i];
    const double v = velocity[mover.index];
    linear = linear + v * mover.j;
    angular = angular + v * mover.z;
    const Vec<double> link = next - scratch.axes[i].p;
    next = scratch.axes[i].p;
    length += root(dot(link, link));
    const double turning = std::fabs(v) * root(dot(mover.z, mover.z));
    const double sliding = turning > 0 ? 0 : std::fabs(v) * root(dot(mover.j, mover.j));
    length += 0.5 * sliding * braking_time;
    motion.linear_growth += turning * (turning * length + 2 * after_linear);
    motion.angular_growth += turning * after_angular;
    after_linear += turning * length + sliding;
    after_angular += turning;
  }
  motion.linear = root(dot(linear, linear));
  motion.angular = root(dot(angular, angular));
  return motion;
}

// The longest time h for which (1 - s/T)(speed + growth s) <= bound for all s <= h: braking slows it and the
// chain's motion may speed it up.
SUPPLE_FN double safe_time(double bound, double speed, double growth, double T) {
  const double slope = growth - speed / T;
  const double discriminant = slope * slope - 4 * growth / T * (bound - speed);
  return !(slope > 0) || discriminant < 0 ? 1e300 : 2 * (bound - speed) / (slope + root(discriminant));
}

// q after the joints moved with `velocity` for a time
SUPPLE_FN void moved_joints(const Tracking &t, const double *q, const double *velocity, double time,
                            double *out) {
  for (int i = 0; i < t.problem.n; ++i)
    out[i] = q[i] + velocity[i] * time * t.unit[i];
  for (int b = 0; b < t.problem.ball_count; ++b) {
    const int k = t.problem.balls[b].index;
    store3(turned(load3(q + k), time * load3(velocity + k)), out + k);
  }
}

// Whether an end effector stays within its bound while all joints brake together from `velocity` at q. Goes
// along the way of braking by safe times; one that needs more than a few is refused. `tip` is the end
// effector at q, whose axes are in scratch.axes.
SUPPLE_FN bool brakes_slowly(const Tracking &t, const Target &target, const EffectorBound &bound,
                             const double *q, const double *velocity, Frame<double> tip,
                             const TickEvaluation &scratch, double *q_on_the_way) {
  const double T = braking_time(t, velocity);
  double share = 1; // of the velocity
  for (int turn = 0; turn < 24; ++turn) {
    if (turn > 0) {
      moved_joints(t, q, velocity, 0.5 * T * (1 - share * share), q_on_the_way);
      tip = end_effector(target, q_on_the_way, scratch.axes);
    }
    const EffectorMotion motion = effector_motion(t, target, tip, velocity, T, scratch);
    const double linear = share * motion.linear, angular = share * motion.angular, left = share * T;
    if (linear > guarded_share * bound.speed || angular > guarded_share * bound.turn_speed)
      return false;
    const double square = share * share;
    const double h =
        lesser(safe_time(guarded_share * bound.speed, linear, square * motion.linear_growth, left),
               safe_time(guarded_share * bound.turn_speed, angular, square * motion.angular_growth, left));
    if (h >= 0.5 * left)
      return true;
    if (h < 2e-3 * left)
      return false;
    share *= root(1 - 2 * h / left);
  }
  return false;
}

// Whether a ball joint that turns by `stretch` times its part of the step x stays inside, or no farther
// outside.
SUPPLE_FN bool ball_brakes_inside(const Ball &ball, const double *q, const double *x, double stretch) {
  if (!is_limited(ball))
    return true;
  const Vec<double> at = load3(q + ball.index), turn = load3(x + ball.index);
  const BallExcess here = largest_excess(ball, at, {0, 0, 0});
  const BallExcess allowed{positive(here.swing) + 1e-12, positive(here.twist) + 1e-12};
  return !is_beyond(largest_excess(ball, at, stretch * turn), allowed) ||
         goes_straight(turn, inward_turn(ball, at));
}

// Whether all joints can brake together within their limits after the step x.
SUPPLE_FN bool brakes_inside(const Tracking &t, const double *q, const double *x, const double *velocity,
                             double dt) {
  const double stretch = 1 + 0.5 * braking_time(t, velocity) / dt;
  for (int i = 0; i < t.problem.n; ++i) {
    const double end = q[i] / t.unit[i] + stretch * x[i];
    if ((x[i] > 0 && end > t.bounds[i].upper + 1e-12) || (x[i] < 0 && end < t.bounds[i].lower - 1e-12))
      return false;
  }
  for (int b = 0; b < t.problem.ball_count; ++b)
    if (!ball_brakes_inside(t.problem.balls[b], q, x, stretch))
      return false;
  return true;
}

// Whether the step x is safe: in this tick, and in the braking that may follow. scratch.tips are the end
// effectors at q.
SUPPLE_FN bool is_safe(const Tracking &t, const double *q, const double *x, double dt,
                       const TickEvaluation &evaluation, const EffectorScratch &scratch) {
  for (int i = 0; i < t.problem.n; ++i)
    scratch.velocity[i] = x[i] / dt;
  if (!brakes_inside(t, q, x, scratch.velocity, dt))
    return false;
  moved_joints(t, q, scratch.velocity, dt, scratch.next_q);
  for (int k = 0; k < t.problem.target_count; ++k) {
    const Target &target = t.problem.targets[k];
    const EffectorBound &bound = t.effector_bounds[k];
    if (!(bound.speed < 1e300 || bound.turn_speed < 1e300))
      continue;
    const Frame<double> &from = scratch.tips[k];
    const Frame<double> to = end_effector(target, scratch.next_q, evaluation.axes);
    const Vec<double> way = to.p - from.p;
    if (root(dot(way, way)) > guarded_share * bound.speed * dt)
      return false;
    if (bound.turn_speed < 1e300) {
      const Vec<double> turn = log_rotation(to.r * transpose(from.r));
      if (root(dot(turn, turn)) > guarded_share * bound.turn_speed * dt)
        return false;
    }
    if (!brakes_slowly(t, target, bound, scratch.next_q, scratch.velocity, to, evaluation,
                       scratch.q_on_the_way))
      return false;
  }
  return true;
}

// Scales the desired step so that no end effector moves faster than planned. `at` is the evaluation at q.
SUPPLE_FN void plan_effector_speed(const Tracking &t, double dt, const TickEvaluation &at, double *step) {
  const Mover *mover = at.movers;
  double share = 1;
  for (int k = 0; k < t.problem.target_count; ++k) {
    Vec<double> linear{0, 0, 0}, angular{0, 0, 0};
    for (const Mover *end = mover + at.mover_count[k]; mover < end; ++mover) {
      linear = linear + step[mover->index] * mover->j;
      angular = angular + step[mover->index] * mover->z;
    }
    const double way = root(dot(linear, linear)), angle = root(dot(angular, angular));
    if (share * way > planned_share * t.effector_bounds[k].speed * dt)
      share = planned_share * t.effector_bounds[k].speed * dt / way;
    if (share * angle > planned_share * t.effector_bounds[k].turn_speed * dt)
      share = planned_share * t.effector_bounds[k].turn_speed * dt / angle;
  }
  for (int i = 0; i < t.problem.n && share < 1; ++i)
    step[i] *= share;
}

// All joints brake; ball joints with limits each about its own axis, which leads them no farther outside.
SUPPLE_FN void brake(const Tracking &t, const ArmMemory &memory, double dt, const BoundsScratch &bounds) {
  for (int i = 0; i < t.problem.n; ++i)
    bounds.step[i] = bounds.effector.braking[i];
  for (int b = 0; b < t.problem.ball_count; ++b) {
    const Ball &ball = t.problem.balls[b];
    if (is_limited(ball))
      store3(braking_turn(t.bounds + ball.index, load3(memory.velocity + ball.index), dt),
             bounds.step + ball.index);
  }
}

// Of the step in scratch.step, as much is taken as is safe; the rest of it is braking, all joints together.
SUPPLE_FN void bound_effector_speed(const Tracking &t, const ArmMemory &memory, double dt,
                                    const TickEvaluation &evaluation, const BoundsScratch &bounds) {
  const int n = t.problem.n;
  const EffectorScratch &scratch = bounds.effector;
  double *x = bounds.step;
  for (int k = 0; k < t.problem.target_count; ++k)
    scratch.tips[k] = end_effector(t.problem.targets[k], memory.q, evaluation.axes);
  if (is_safe(t, memory.q, x, dt, evaluation, scratch))
    return;
  const double T = braking_time(t, memory.velocity), left = T > dt ? 1 - dt / T : 0;
  for (int i = 0; i < n; ++i) {
    double low, high;
    hard_bounds(t.bounds[i], memory.q[i] / t.unit[i], memory.velocity[i], dt, low, high);
    scratch.braking[i] = clip(left * memory.velocity[i] * dt, low, high);
  }
  if (!is_safe(t, memory.q, scratch.braking, dt, evaluation, scratch))
    return brake(t, memory, dt, bounds); // only after a change of limits
  double kept = 0, refused = 1;          // shares of the way from braking to x
  for (int turn = 0; turn < 12; ++turn) {
    const double share = 0.5 * (kept + refused);
    for (int i = 0; i < n; ++i)
      scratch.candidate[i] = scratch.braking[i] + share * (x[i] - scratch.braking[i]);
    (is_safe(t, memory.q, scratch.candidate, dt, evaluation, scratch) ? kept : refused) = share;
  }
  for (int i = 0; i < n; ++i)
    x[i] = scratch.braking[i] + kept * (x[i] - scratch.braking[i]);
}

} // namespace SUPPLE_ISA
} // namespace supple
