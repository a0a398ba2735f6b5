// The status of an arm after a tick, and how far its end effectors are from their commands.
#pragma once
#include "supple/tracking/measured.h"
#include "supple/tracking/memory.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Measures goal minus end effector at q, in world axes, for each target; whether all are within tolerance of
// their goals' slack.
SUPPLE_FN bool measure_error(const Tracking &t, const Command *commands, const double *q,
                             const Stop &tolerance, Axis<double> *axes, double *error) {
  bool within = true;
  for (int k = 0; k < t.problem.target_count; ++k) {
    const Target &target = t.status_targets[k];
    const Frame<double> tip = end_effector(target, q, axes);
    Residual<double> r = residual<Angle>(target, tip, goal_frame(commands[k].goal));
    store3(r.position, error + 6 * k);
    store3(r.rotation, error + 6 * k + 3);
    remove_slack(target, r);
    within = within && root(squared_distance(r)) <= tolerance.position &&
             root(squared_angle(r)) <= tolerance.angle;
  }
  return within;
}

// The status of a measured arm: FOLLOWING when its joints without noise are within tolerance, until they are
// far outside; LAGGING when only the arm is behind; else `otherwise`. `within` measures the error at q.
template <class Within>
SUPPLE_FN TrackingStatus measured_status(const Tracking &t, const Stop &tolerance, const ArmMemory &memory,
                                         const BoundsScratch &scratch, Within &&within,
                                         TrackingStatus otherwise) {
  ArmScalars &scalars = *memory.scalars;
  Stop allowed = tolerance;
  if (scalars.measured_within) {
    allowed.position *= leave_tolerance;
    allowed.angle *= leave_tolerance;
  }
  double *q = scratch.effector.next_q;
  quiet_joints(t, scratch.previous_q, memory.lead_slow, q);
  scalars.measured_within = within(q, allowed);
  if (scalars.measured_within)
    return following;
  return within(memory.q, tolerance) ? lagging : otherwise;
}

// The status of an arm after a tick towards valid commands; measures out.error, of the measured joints where
// there are any.
SUPPLE_FN TrackingStatus status_of(const Tracking &t, const Stop &tolerance, const TickRequest &request,
                                   const ArmMemory &memory, const TickScratch &scratch, double reducible,
                                   double *error) {
  auto within = [&](const double *q, const Stop &allowed) {
    return measure_error(t, scratch.commands, q, allowed, scratch.evaluation.axes, error);
  };
  TrackingStatus status = comes_nearer(*memory.scalars, reducible) ? lagging : yielding;
  if (request.measured)
    status = measured_status(t, tolerance, memory, scratch.bounds, within, status);
  const bool here = within(request.measured ? request.measured : memory.q, tolerance);
  if (here && !request.measured)
    status = following;
  return !request.external && is_returning(t, *memory.scalars) ? returning : status;
}

} // namespace SUPPLE_ISA
} // namespace supple
