// Least squares inside a box: how far each joint may move in one tick, and the nearest such step to a wanted
// one.
#pragma once
#include "supple/math/dense.h"
#include "supple/math/simd.h"
#include "supple/tracking/types.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Way in one tick of dt when a distance D is covered at K times what is left of it, but never so fast that
// constant braking by a would not stop in time: smooth, its braking stays below a and its jerk below a K / 4.
template <class T>
SUPPLE_FLAT T approach(T D, T K, T a, T dt) {
  const T zero(0.0), one(1.0), far(1e9), d = clip(D, zero, far);
  return K * dt * d / root(one + K * K * d / (a + a));
}

// The longest step within dt after which braking by a stops within D, whatever the ticks that follow: the
// next ones may be of any length, and continuous braking goes farther than braking in ticks does. It solves x
// + (x/dt)^2 / 2a = D.
template <class T>
SUPPLE_FLAT T brake(T D, T a, T dt) {
  const T zero(0.0), one(1.0), far(1e9), two = clip(D + D, zero, far);
  return two / (one + root(one + two / (a * dt * dt)));
}

// How joints may move in a tick: speed, acceleration and braking before their limits are never broken; jerk
// yields to them, and a soft landing yields to jerk. `v` and `a` are speed and acceleration of the tick
// before. Never empty: if braking was possible before, braking by the acceleration's limit is possible now
// [see brake].
template <class T>
SUPPLE_FLAT void step_bounds(T lower, T upper, T speed, T acceleration, T jerk, T q, T v, T a, T dt,
                             T landing, T &low, T &high) {
  const T zero(0.0), one(1.0), most = speed * dt, change = acceleration * dt * dt, was = v * dt;
  const T above = upper - q, below = q - lower, gentle = T(0.8) * acceleration;
  const Mask<T> over = above < zero, under = below < zero;
  // outside its limits a joint comes back at the pace of a landing, to a little inside so that it gets there
  const T inside = T(1e-3) * lesser(one, upper - lower);
  const T up_way = lesser(most, approach(select(over, inside - above, above), landing, gentle, dt));
  const T down_way = lesser(most, approach(select(under, inside - below, below), landing, gentle, dt));
  T up = select(over, -up_way, select(under, down_way, up_way)),
    down = select(under, down_way, select(over, -up_way, -down_way));
  // letting go of an acceleration is always allowed
  const T turn = jerk * dt * dt * dt, bend = a * dt * dt;
  const T jerk_low = was + lesser(bend - turn, zero), jerk_high = was + larger(bend + turn, zero);
  up = clip(up, jerk_low, jerk_high), down = clip(down, jerk_low, jerk_high);
  const T hard_up = lesser(most, brake(above, acceleration, dt)),
          hard_down = -lesser(most, brake(below, acceleration, dt));
  up = clip(up, hard_down, hard_up), down = clip(down, hard_down, hard_up);
  // acceleration last: where a joint was thrown out of what its limits allow, it brakes as hard as it may
  high = clip(up, was - change, was + change), low = clip(down, was - change, was + change);
}
SUPPLE_FLAT void step_bounds(const Bounds &joint, double q, double v, double a, double dt, double landing,
                             double &low, double &high) {
  step_bounds(joint.lower, joint.upper, joint.speed, joint.acceleration, joint.jerk, q, v, a, dt, landing,
              low, high);
}

// working memory of a box: a matrix and some rows
struct BoxDesk {
  double *A, *p;     // n x n, n
  int *free;         // n
  signed char *side; // n
};

// The x in the box low..high that makes (x - wanted)' M (x - wanted) least, by a primal active set from the
// clipped wanted on. M is symmetric and positive. Every x on the way lies in the box, so what it has when
// time is up is good.
SUPPLE_FN void nearest_in_box(const double *M, int n, const double *wanted, const double *low,
                              const double *high, const BoxDesk &desk, double *x) {
  for (int i = 0; i < n; ++i) {
    x[i] = clip(wanted[i], low[i], high[i]);
    desk.side[i] = wanted[i] > high[i] ? 1 : wanted[i] < low[i] ? -1 : 0;
  }
  auto slope = [&](int i) { // half the derivative of what is to be least
    double sum = 0;
    for (int k = 0; k < n; ++k)
      sum += M[i * n + k] * (x[k] - wanted[k]);
    return sum;
  };
  for (int turn = 0; turn < 4 * n + 8; ++turn) {
    int count = 0;
    for (int i = 0; i < n; ++i)
      if (!desk.side[i])
        desk.free[count++] = i;
    for (int i = 0; i < count; ++i) {
      desk.p[i] = -slope(desk.free[i]);
      for (int j = 0; j <= i; ++j)
        desk.A[i * count + j] = M[desk.free[i] * n + desk.free[j]];
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
      if (desk.p[i] * way > room && desk.p[i] > 0)
        way = larger(room / desk.p[i], 0.0), stop = k;
      if (desk.p[i] * way < room && desk.p[i] < 0) {
        way = larger(room / desk.p[i], 0.0);
        stop = k;
      }
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
      if (!desk.side[i] || !(high[i] > low[i]))
        continue;
      const double pull = slope(i) * desk.side[i];
      if (pull > most)
        most = pull, leave = i;
    }
    if (leave < 0 || !(most > 1e-18))
      return;
    desk.side[leave] = 0;
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
