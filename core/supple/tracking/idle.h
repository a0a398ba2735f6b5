// Joints that no goal needs: each stands still, or comes back into its limits.
#pragma once
#include "supple/tracking/bounds.h"

namespace supple {
inline namespace SUPPLE_ISA {

struct IdleJoint {
  int index; // in q
  double unit;
  JointBounds bounds; // in that unit
};
struct IdleMotion {
  double velocity, acceleration; // in natural units
};

// One tick of the idle joints of an arm, whose values stand in q: those outside their limits come back,
// within their bounds. Their velocities, in the joints' own units, go to `velocity` if it is not null.
SUPPLE_FN void bring_in(const Tracking &t, const IdleJoint *joints, int count, double dt, IdleMotion *motions,
                        double *q, double *velocity) {
  const bool passes = dt >= shortest_tick && dt < endless_tick;
  dt = lesser(dt, longest_pause);
  const int pieces = passes ? piece_count(dt, t.problem.n) : 0;
  for (int k = 0; k < count; ++k) {
    const IdleJoint &joint = joints[k];
    IdleMotion &motion = motions[k];
    double &value = q[joint.index];
    for (int piece = 0; piece < pieces; ++piece) {
      const double at = value / joint.unit, before = motion.velocity;
      if (before == 0 && at >= joint.bounds.lower && at <= joint.bounds.upper)
        break;
      motion.velocity = return_velocity(t, joint.bounds, at, before, motion.acceleration, dt / pieces);
      motion.acceleration = (motion.velocity - before) * pieces / dt;
      value += motion.velocity * joint.unit * dt / pieces;
    }
    if (velocity)
      velocity[joint.index] = motion.velocity * joint.unit;
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
