// The measured arm: how far it lags behind by itself, how far it may fall behind, and whether it has arrived.
//
// The lead is q minus the measured joints. An arm that lags by the time tau and moves with the velocity w has
// lead = tau w. Only the lead beyond that counts. It is bounded by max_lead plus the braking distance of a
// joint that moves with w. A joint that follows may be fast; the tracker waits for one that is blocked.
#pragma once
#include "supple/tracking/bounds.h"

namespace supple {
inline namespace SUPPLE_ISA {

constexpr double lead_time = 0.02;    // s: low-pass of lead and velocity, for w
constexpr double settle_time = 0.1;   // s: low-pass of the lead, for the status
constexpr double lag_time = 1.0;      // s: over which the lag of the arm is estimated
constexpr double longest_lag = 0.15;  // s: a longer one is not the usual lag of an arm
constexpr double lead_gain = 20;      // 1/s: of the approach to the largest lead
constexpr double waiting_lead = 0.1;  // rad: a joint this far ahead of the measured one waits for it
constexpr double short_wait = 0.5;    // s
constexpr int most_short_waits = 5;   // while the command rests
constexpr double leave_tolerance = 2; // in tolerances: beyond this, a measured arm that had arrived has left

// Takes the lead of this tick into the filters; scratch.lead receives it.
SUPPLE_FN void filter_lead(const Tracking &t, const double *measured, double dt, const ArmMemory &memory,
                           const BoundsScratch &scratch) {
  ArmScalars &scalars = *memory.scalars;
  displacement(t, measured, memory.q, scratch.lead);
  const double fast = dt / (dt + lead_time), slow = dt / (dt + settle_time);
  double product = 0, square = 0;
  for (int i = 0; i < t.problem.n; ++i) {
    double &lead = scratch.lead[i];
    // the encoder of a revolute joint without limits may count from any turn
    if (!(t.bounds[i].upper - t.bounds[i].lower < 1e300) && t.unit[i] == 1)
      lead = std::remainder(lead, 2 * pi);
    if (!scalars.measured_known) {
      memory.lead_fast[i] = memory.lead_slow[i] = lead;
      memory.velocity_fast[i] = memory.velocity[i];
    }
    memory.lead_fast[i] += fast * (lead - memory.lead_fast[i]);
    memory.lead_slow[i] += slow * (lead - memory.lead_slow[i]);
    memory.velocity_fast[i] += fast * (memory.velocity[i] - memory.velocity_fast[i]);
    const double w = scratch.measured_velocity[i] =
        memory.velocity_fast[i] - (lead - memory.lead_fast[i]) / lead_time;
    product += lead * w;
    square += w * w;
  }
  if (!scalars.measured_known)
    scalars.lag_product = scalars.lag_square = 0;
  scalars.measured_known = true;
  const double share = dt / (dt + lag_time);
  scalars.lag_product += share * (product - scalars.lag_product);
  scalars.lag_square += share * (square - scalars.lag_square);
}

// Narrows the box so that q does not run away from the measured joints.
SUPPLE_FN void bound_lead(const Tracking &t, const double *measured, double dt, const ArmMemory &memory,
                          const BoundsScratch &scratch) {
  filter_lead(t, measured, dt, memory, scratch);
  const ArmScalars &scalars = *memory.scalars;
  const double lag = clip(scalars.lag_product / (scalars.lag_square + 1e-2), 0.0, longest_lag);
  for (int i = 0; i < t.problem.n; ++i) {
    double &low = scratch.low[i], &high = scratch.high[i];
    const double w = scratch.measured_velocity[i], a = 0.8 * t.bounds[i].acceleration;
    const double excess = memory.lead_fast[i] - lag * w, brakes = w * w / (2 * a);
    const double ahead = t.law.max_lead - excess + (w > 0 ? brakes : 0);
    const double behind = t.law.max_lead + excess + (w < 0 ? brakes : 0);
    high = larger(low, lesser(high, profile_step(ahead, lead_gain, a, dt)));
    low = lesser(high, larger(low, -profile_step(behind, lead_gain, a, dt)));
  }
}

// Whether some joint waits for the measured one; bound_lead wrote the leads.
SUPPLE_FN bool is_waiting(const Tracking &t, const BoundsScratch &scratch) {
  bool waits = false;
  for (int i = 0; i < t.problem.n; ++i)
    waits = waits || std::fabs(scratch.lead[i]) > waiting_lead;
  return waits;
}

// While the tracker waits for the arm, no recovery starts. After a wait the arm may go on, though it gained
// nothing meanwhile. After many short waits, while the command rests, it may not: it shakes.
SUPPLE_FN void watch_waiting(bool waits, double dt, ArmScalars &scalars) {
  if (waits) {
    scalars.waiting_time += dt;
    scalars.command_rest_time = lesser(scalars.command_rest_time, dt);
    if (scalars.recovery >= recovery_announced && scalars.recovery <= recovery_moving) {
      scalars.recovery = recovery_idle;
      ++scalars.recovery_count;
    }
  } else if (scalars.waiting_time > 0) {
    const bool is_short = scalars.waiting_time < short_wait;
    if (!is_short || scalars.short_waits < most_short_waits)
      scalars.no_decrease_time = 0;
    scalars.short_waits += is_short;
    scalars.waiting_time = 0;
  }
}

// The measured joints without the noise of their encoders, at the beginning of the tick.
SUPPLE_FN void quiet_joints(const Tracking &t, const double *q, const double *lead_slow, double *out) {
  for (int i = 0; i < t.problem.n; ++i)
    out[i] = q[i] - lead_slow[i] * t.unit[i];
  for (int b = 0; b < t.problem.ball_count; ++b) {
    const int k = t.problem.balls[b].index;
    store3(turned(load3(q + k), -1.0 * load3(lead_slow + k)), out + k);
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
