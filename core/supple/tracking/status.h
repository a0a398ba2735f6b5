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

// s: the status of a measured arm changes when the last one has been absent for this time; when it goes back
// and forth, for twice as long each time, up to the second. A return to the status before counts within
// `flicker_time`, and is forgotten in `flicker_memory`.
constexpr double least_dwell = 0.035, most_dwell = 2.5, flicker_time = 1, flicker_memory = 4;

// The status that is reported where encoders have noise, of which a tick of the arm gave `status`. The first
// change is reported after least_dwell; only a status that goes back and forth has to last longer.
SUPPLE_FN int steady_status(int status, double dt, ReportedStatus &reported) {
  if (!reported.known) {
    reported = {true, status, status, 0, flicker_time, 0};
    return status;
  }
  reported.since_change += dt;
  reported.flicker = positive(reported.flicker - dt / flicker_memory);
  reported.absent_time = status == reported.now ? 0 : reported.absent_time + dt;
  const double dwell = lesser(most_dwell, least_dwell * std::exp2(positive(reported.flicker - 1)));
  if (!(reported.absent_time > dwell))
    return reported.now;
  if (status == reported.before && reported.since_change < flicker_time + dwell)
    reported.flicker += 1;
  reported.before = reported.now;
  reported.now = status;
  reported.absent_time = reported.since_change = 0;
  return status;
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
  ReportedStatus &reported = memory.scalars->reported;
  if (!request.external && is_returning(t, *memory.scalars)) {
    reported.known = false;
    return returning;
  }
  if (!request.measured) {
    reported.known = false;
    return status;
  }
  return TrackingStatus(steady_status(status, request.dt, reported));
}

} // namespace SUPPLE_ISA
} // namespace supple
