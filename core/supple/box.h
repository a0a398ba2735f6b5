// Least squares inside a box: how far each joint may move in one tick, and the nearest such step to a wanted one.
#pragma once
#include "small.h"
#include "tracking.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Way in one tick of dt when a distance D is covered at K times what is left of it, but never so fast that
// constant braking by a would not stop in time: smooth, its braking stays below a and its jerk below a K / 4.
SUPPLE_FLAT double approach(double D, double K, double a, double dt) {
  if (!(D > 0)) return 0;
  return D < 1e9 ? K * dt * D / std::sqrt(1 + K * K * D / (2 * a)) : 1e300;
}

// The longest step within dt after which braking by a stops within D, whatever the ticks that follow: the next ones may
// be of any length, and continuous braking goes farther than braking in ticks does. It solves x + (x/dt)^2 / 2a = D.
SUPPLE_FLAT double brake(double D, double a, double dt) {
  if (!(D > 0)) return 0;
  const double A = a * dt * dt, y = 2 * D / A;
  return y < 1e-6 ? D * (1 - y / 4) : D < 1e9 ? A * (std::sqrt(1 + y) - 1) : 1e300;
}

// How a joint may move in a tick: speed, acceleration and braking before its limits are never broken; jerk yields to
// them, and a soft landing yields to jerk. `v` and `a` are the speed and the acceleration of the tick before. Never
// empty: if braking was possible before, braking by the acceleration's limit is possible now [see brake].
SUPPLE_FN void step_bounds(const Bounds &joint, double q, double v, double a, double dt, double landing, double &low, double &high) {
  const double most = joint.speed * dt, change = joint.acceleration * dt * dt, was = v * dt;
  const double above = joint.upper - q, below = q - joint.lower;
  const double gentle = 0.8 * joint.acceleration;
  double up = lesser(most, approach(above, landing, gentle, dt)), down = -lesser(most, approach(below, landing, gentle, dt));
  // outside its limits a joint comes back at the pace of a landing, to a little inside so that it gets there
  const double inside = 1e-3 * lesser(1.0, joint.upper - joint.lower);
  if (above < 0) up = down = -lesser(most, approach(inside - above, landing, gentle, dt));
  if (below < 0) up = down = lesser(most, approach(inside - below, landing, gentle, dt));
  // letting go of an acceleration is always allowed
  const double turn = joint.jerk * dt * dt * dt, bend = a * dt * dt;
  const double jerk_low = was + lesser(bend - turn, 0.0), jerk_high = was + larger(bend + turn, 0.0);
  up = clip(up, jerk_low, jerk_high), down = clip(down, jerk_low, jerk_high);
  const double hard_up = above < 0 ? 0.0 : lesser(most, brake(above, joint.acceleration, dt));
  const double hard_down = below < 0 ? 0.0 : -lesser(most, brake(below, joint.acceleration, dt));
  up = clip(up, hard_down, hard_up), down = clip(down, hard_down, hard_up);
  // acceleration last: where a joint was thrown out of what its limits allow, it brakes as hard as it may
  high = clip(up, was - change, was + change), low = clip(down, was - change, was + change);
}

// working memory of a box: a matrix and some rows
struct BoxDesk {
  double *A, *p; // n x n, n
  int *free;     // n
  signed char *side; // n
};

// The x in the box low..high that makes (x - wanted)' M (x - wanted) least, by a primal active set from the clipped
// wanted on. M is symmetric and positive. Every x on the way lies in the box, so what it has when time is up is good.
SUPPLE_FN void nearest_in_box(const double *M, int n, const double *wanted, const double *low, const double *high, const BoxDesk &desk, double *x) {
  for (int i = 0; i < n; ++i) {
    x[i] = clip(wanted[i], low[i], high[i]);
    desk.side[i] = wanted[i] > high[i] ? 1 : wanted[i] < low[i] ? -1 : 0;
  }
  auto slope = [&](int i) { // half the derivative of what is to be least
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += M[i * n + k] * (x[k] - wanted[k]);
    return sum;
  };
  for (int turn = 0; turn < 4 * n + 8; ++turn) {
    int count = 0;
    for (int i = 0; i < n; ++i)
      if (!desk.side[i]) desk.free[count++] = i;
    for (int i = 0; i < count; ++i) {
      desk.p[i] = -slope(desk.free[i]);
      for (int j = 0; j <= i; ++j) desk.A[i * count + j] = M[desk.free[i] * n + desk.free[j]];
    }
    if (count) {
      factor(desk.A, count);
      solve(desk.A, count, desk.p);
    }
    // as far as the box allows
    double way = 1;
    int stop = -1;
    for (int i = 0; i < count; ++i) {
      const int k = desk.free[i];
      const double room = desk.p[i] > 0 ? high[k] - x[k] : low[k] - x[k];
      if (desk.p[i] * way > room && desk.p[i] > 0) way = larger(room / desk.p[i], 0.0), stop = k;
      if (desk.p[i] * way < room && desk.p[i] < 0) way = larger(room / desk.p[i], 0.0), stop = k;
    }
    for (int i = 0; i < count; ++i) {
      const int k = desk.free[i];
      x[k] = clip(x[k] + way * desk.p[i], low[k], high[k]);
    }
    if (stop >= 0) {
      desk.side[stop] = x[stop] - low[stop] < high[stop] - x[stop] ? -1 : 1;
      x[stop] = desk.side[stop] > 0 ? high[stop] : low[stop];
      continue;
    }
    // let go of the bound that holds back most
    int leave = -1;
    double most = 0;
    for (int i = 0; i < n; ++i) {
      if (!desk.side[i] || !(high[i] > low[i])) continue;
      const double pull = slope(i) * desk.side[i];
      if (pull > most) most = pull, leave = i;
    }
    if (leave < 0 || !(most > 1e-18)) return;
    desk.side[leave] = 0;
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
