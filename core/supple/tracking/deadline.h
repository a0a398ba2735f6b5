// The deadline of rest: while the command rests, the joints stand no later than `rest_deadline` after the
// time that the bounds need for their way.
//
// Let t be the time since the command came to rest, D_i the way of joint i from there to where it would stop,
// and T(D) the time that speed and acceleration limits need for the way D. If the joints began to brake now
// they would stand after the braking time b. Where one more tick might make t + b later than max T(D_i) +
// rest_deadline, all joints brake together, and stand until the command moves. A joint at full speed does not
// meet the deadline, since T grows with its way. After a return the time counts from its end.
#pragma once
#include "supple/tracking/effector_speed.h"
#include "supple/tracking/rest.h"

namespace supple {
inline namespace SUPPLE_ISA {

// s: after the time that the bounds need
constexpr double rest_deadline = 3;

// An acceleration ends in a tick, or with jerk given as slowly as it began; then braking grows with jerk.
SUPPLE_FN double braking_ramp(const Tracking &t) {
  double longest = 0;
  for (int i = 0; i < t.problem.n; ++i)
    if (t.bounds[i].acceleration > 0)
      longest = larger(longest, t.bounds[i].acceleration / t.bounds[i].jerk);
  return (t.end_rate < 1e9 ? 1.5 : 0.5) * longest;
}

// The share of its velocity that joint i can lose in a tick. With jerk given, the slower it is the
// less it brakes, so that jerk can end it (see approach_speed_limits).
SUPPLE_FN double braking_share(const Tracking &t, int i, double velocity, double dt) {
  const double speed = std::fabs(velocity);
  if (!(speed > 0))
    return 1;
  double change = t.bounds[i].acceleration * dt;
  if (t.end_rate < 1e9)
    change = lesser(change, braking_step(speed, t.bounds[i].jerk, dt));
  return lesser(1.0, change / speed);
}

// The step of joints that brake each by itself, within the box.
SUPPLE_FN void brake_apart(const Tracking &t, const double *velocity, double dt, const BoundsScratch &bounds,
                           double *step) {
  for (int i = 0; i < t.problem.n; ++i)
    step[i] =
        clip((1 - braking_share(t, i, velocity[i], dt)) * velocity[i] * dt, bounds.low[i], bounds.high[i]);
}

// The step of joints that brake together, along a straight line in joint space, within the box.
SUPPLE_FN void brake_together(const Tracking &t, const double *velocity, double dt,
                              const BoundsScratch &bounds, double *step) {
  double share = 1;
  for (int i = 0; i < t.problem.n; ++i)
    share = lesser(share, braking_share(t, i, velocity[i], dt));
  for (int i = 0; i < t.problem.n; ++i)
    step[i] = clip((1 - share) * velocity[i] * dt, bounds.low[i], bounds.high[i]);
}

// The largest share of its speed bounds that an end effector uses, with joints as fast as they are.
SUPPLE_FN double effector_share(const Tracking &t, const TickEvaluation &at, const double *velocity) {
  auto of_bound = [](double speed, double bound) { return speed < bound ? speed / bound : 1.0; };
  double share = 0;
  const Mover *mover = at.movers;
  for (int k = 0; k < t.problem.target_count; ++k) {
    Vec<double> linear{0, 0, 0}, angular{0, 0, 0};
    for (const Mover *end = mover + at.mover_count[k]; mover < end; ++mover) {
      linear = linear + velocity[mover->index] * mover->j;
      angular = angular + velocity[mover->index] * mover->z;
    }
    share = larger(share, of_bound(root(dot(linear, linear)), t.effector_bounds[k].speed));
    share = larger(share, of_bound(root(dot(angular, angular)), t.effector_bounds[k].turn_speed));
  }
  return share;
}

// Whether joints that go on for one more tick might stand later than the deadline. In a tick t and b grow by
// at most dt each (the caller sees them at the end of a whole tick), and v T / 2, the way of braking, by at
// most (1.5 |v| + a (b/2 + dt)) dt. `stop_q` is written.
SUPPLE_FN bool is_overdue(const Tracking &t, double dt, const ArmMemory &memory, double *stop_q) {
  const ArmScalars &scalars = *memory.scalars;
  const double b = braking_time(t, memory.velocity), ramp = braking_ramp(t);
  const double spent = scalars.rest_clock + ramp + b + 2 * dt + scalars.tick_time - rest_deadline;
  if (!(spent > larger(scalars.returned_clock, scalars.bounded_time)))
    return false;
  moved_joints(t, memory.q, memory.velocity, ramp + 0.5 * b, stop_q);
  for (int i = 0; i < t.problem.n; ++i) {
    const JointBounds &joint = t.bounds[i];
    const double growth =
        (1.5 * std::fabs(memory.velocity[i]) + lesser(joint.acceleration * (0.5 * b + dt), joint.speed)) * dt;
    const double D = std::fabs(stop_q[i] - memory.rest_q[i]) / t.unit[i] - growth;
    if (needed_time(joint, D) >= spent)
      return false;
  }
  return true;
}

// Adds this tick to the clock, with the joints as fast as they are; returns whether all joints are to brake.
// Time in which a joint waits for the measured one does not count, and an end effector at its speed bound
// needs the time that it uses.
template <int N, int M>
SUPPLE_FN bool watch_deadline(const TickSetup<N, M> &setup, const TickEvaluation &at, const ArmMemory &memory,
                              double *stop_q) {
  const Tracking &t = setup.tracking;
  ArmScalars &scalars = *memory.scalars;
  if (scalars.waiting_time > 0)
    return scalars.overdue;
  scalars.rest_clock += setup.dt;
  if (t.effector_bounds)
    scalars.bounded_time += setup.dt * effector_share(t, at, memory.velocity);
  scalars.overdue = scalars.overdue || is_overdue(t, setup.dt, memory, stop_q);
  return scalars.overdue;
}

} // namespace SUPPLE_ISA
} // namespace supple
