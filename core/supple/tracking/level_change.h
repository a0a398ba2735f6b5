// How goals of later priorities change their speed: gently, and all of their joints together.
//
// What later levels desire changes at once where a joint comes to a limit, where directions change places or
// where the Hessian turns indefinite. If all of the change were taken in one tick, most joints would be at
// the sides of the box, and which side changes from tick to tick: single joints tremble. So
//   1. the nearest step within the position and speed limits is the target, without any bound on the change,
//   2. one factor for all joints is taken of the change from coasting to the target, so that no joint changes
//      its speed with more than Law::level_change of its acceleration limit.
// Coasting keeps the step of the first priority and the part of the last step that it leaves free. Both lie
// in the directions that the first priority leaves, so it is not disturbed.
#pragma once
#include "supple/tracking/turns.h"

namespace supple {
inline namespace SUPPLE_ISA {

// The box of the position and speed limits alone, in low and high: joints approach their limits by the
// profile.
SUPPLE_FN void limit_box(const Tracking &t, const ArmMemory &memory, double dt, double *low, double *high) {
  const double gain = limit_gain(t, memory.velocity, dt);
  for (int i = 0; i < t.problem.n; ++i) {
    const JointBounds &joint = t.bounds[i];
    const double q = memory.q[i] / t.unit[i], a = landing_share_of(t) * joint.acceleration;
    high[i] = lesser(joint.speed * dt, profile_step(joint.upper - q, gain, a, dt));
    low[i] = -lesser(joint.speed * dt, profile_step(q - joint.lower, gain, a, dt));
  }
}

// Changes the desired step of all levels to what joints do in this tick.
template <int N, int M, class FillCost>
SUPPLE_FN void change_gently(const TickSetup<N, M> &setup, const double *coast, const ArmMemory &memory,
                             const BoundsScratch &bounds, double *desired, FillCost &&fill_cost) {
  const Tracking &t = setup.tracking;
  const int n = setup.n();
  BoundsScratch wide = bounds;
  wide.low = bounds.limit_low;
  wide.high = bounds.limit_high;
  limit_box(t, memory, setup.dt, wide.low, wide.high);
  bound_step(n, desired, wide, fill_cost);
  bound_turns(t, memory, setup.dt, desired, wide, fill_cost, BallLimit::profile);
  double share = 1;
  for (int i = 0; i < n; ++i) {
    const double change = std::fabs(bounds.step[i] - coast[i]);
    const double most = setup.law.level_change * t.bounds[i].acceleration * squared(setup.dt);
    if (change * share > most)
      share = most / change;
  }
  for (int i = 0; i < n; ++i)
    desired[i] = coast[i] + share * (bounds.step[i] - coast[i]);
}

} // namespace SUPPLE_ISA
} // namespace supple
