// The least stretch of time that keeps joint speeds and accelerations within their limits.
//
// The path is q(s) with s the given time. With s' = ds/dt at most 1, no section becomes faster. With x = s'^2
// at each frame, speed bounds x from above, and acceleration q'' x + q' x'/2 bounds pairs of neighbours. The
// largest feasible x is found by one pass backward, which finds from where the path can be ended, and one
// forward (Pham and Pham, A New Approach to Time-Optimal Path Parameterization based on Reachability
// Analysis, 2018).
#pragma once
#include "supple/math/number.h"

namespace supple {
inline namespace SUPPLE_ISA {

// The bound of x at frame k by the speed limits, with q' on both sides of the frame.
SUPPLE_FN double bound_by_speed(int k, int frames, int n, const double *times, const double *steps,
                                const double *speed) {
  double x = 1;
  for (int side = k - 1; side <= k; ++side) {
    if (side < 0 || side > frames - 2)
      continue;
    const double dt = times[side + 1] - times[side];
    for (int l = 0; l < n; ++l) {
      const double v = std::fabs(steps[side * n + l]) / dt;
      if (v > speed[l])
        x = lesser(x, (speed[l] / v) * (speed[l] / v));
    }
  }
  return x;
}

// Acceleration between the steps before and after frame k in real time: with the mean s' of a step
// (r + r') / 2, r = s', the velocity of step j is v_j (r_j + r_(j+1)) / 2. At frame k it changes from v_(k-1)
// to v_k; for slowly changing s' that is (v_k - v_(k-1)) x / dt. This alone bounds x by curvature.
SUPPLE_FN double bound_by_curvature(int k, int n, const double *times, const double *steps,
                                    const double *acceleration) {
  const double before = times[k] - times[k - 1], after = times[k + 1] - times[k];
  double x = 1;
  for (int l = 0; l < n; ++l) {
    const double change = steps[k * n + l] / after - steps[(k - 1) * n + l] / before;
    const double curvature = std::fabs(change) / (0.5 * (before + after));
    if (curvature > acceleration[l])
      x = lesser(x, acceleration[l] / curvature);
  }
  return x;
}

// How fast x may change along step k: q' x'/2 may use the acceleration that the curvature q'' x leaves.
SUPPLE_FN double largest_slope(int k, int frames, int n, double x, const double *times, const double *steps,
                               const double *acceleration) {
  const double dt = times[k + 1] - times[k];
  double slope = 1e300;
  for (int l = 0; l < n; ++l) {
    const double v = std::fabs(steps[k * n + l]) / dt;
    if (!(v > 0) || !(acceleration[l] < 1e299))
      continue;
    double curvature = 0;
    for (int at = k; at <= k + 1; ++at) {
      if (at < 1 || at > frames - 2)
        continue;
      const double before = times[at] - times[at - 1], after = times[at + 1] - times[at];
      const double change = steps[at * n + l] / after - steps[(at - 1) * n + l] / before;
      curvature = larger(curvature, std::fabs(change) / (0.5 * (before + after)));
    }
    slope = lesser(slope, 2 * larger(acceleration[l] - curvature * x, 0.0) / v);
  }
  return slope;
}

// Times (frames) at which the steps (frames - 1 x n) keep to speed and acceleration (n), into `out`; `x` is
// scratch (frames).
SUPPLE_FN void stretch_times(int frames, int n, const double *times, const double *steps, const double *speed,
                             const double *acceleration, double *x, double *out) {
  for (int k = 0; k < frames; ++k) {
    x[k] = bound_by_speed(k, frames, n, times, steps, speed);
    if (k > 0 && k < frames - 1)
      x[k] = lesser(x[k], bound_by_curvature(k, n, times, steps, acceleration));
  }
  for (int k = frames - 2; k >= 0; --k) {
    const double slope = largest_slope(k, frames, n, x[k + 1], times, steps, acceleration);
    x[k] = lesser(x[k], x[k + 1] + slope * (times[k + 1] - times[k]));
  }
  for (int k = 0; k + 1 < frames; ++k) {
    const double slope = largest_slope(k, frames, n, x[k], times, steps, acceleration);
    x[k + 1] = lesser(x[k + 1], x[k] + slope * (times[k + 1] - times[k]));
  }
  out[0] = times[0];
  for (int k = 0; k + 1 < frames; ++k) {
    const double mean = 0.5 * (std::sqrt(x[k]) + std::sqrt(x[k + 1]));
    const double least = 1e-9 * std::sqrt(bound_by_speed(k, frames, n, times, steps, speed));
    out[k + 1] = out[k] + (times[k + 1] - times[k]) / larger(mean, least);
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
