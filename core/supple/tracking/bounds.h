// Moving: the box of a tick, the nearest step in it, and the step taken.
#pragma once
#include "supple/model/limits.h"
#include "supple/tracking/singular.h"

namespace supple {
inline namespace SUPPLE_ISA {

template <int N, int M>
struct Moves : Weak<N, M> {
  using Base = Weak<N, M>;
  using Base::Base;
  using Base::t, Base::s, Base::desk, Base::law, Base::dt, Base::n, Base::m, Base::free_count;

  // The box of this tick.
  SUPPLE_FN void bound(const double *measured) {
    using W = Pack<double, native_width>;
    auto load = [](const double *from) {
      W x;
      std::memcpy(&x, from, sizeof x);
      return x;
    };
    const double *row = t.rows;
    const int stride = N ? (N + 7) / 8 * 8 : t.stride;
    for (int i = 0; i < n; ++i)
      desk.full[i] = s.q[i] / t.size[i];
    for (int i = 0; i < n; i += native_width) {
      W low, high;
      step_bounds(load(row + i), load(row + stride + i), load(row + 2 * stride + i),
                  load(row + 3 * stride + i), load(row + 4 * stride + i), load(desk.full + i),
                  load(s.velocity + i), load(s.acceleration + i), W(dt), W(law.landing), low, high);
      std::memcpy(desk.low + i, &low, sizeof low);
      std::memcpy(desk.high + i, &high, sizeof high);
    }
    if (measured)
      keep_leash(measured);
  }

  // On a leash: what is ahead of the real joint by much waits for it.
  SUPPLE_FN void keep_leash(const double *measured) {
    for (int i = 0; i < n; ++i)
      desk.full[i] = (s.q[i] - measured[i]) / t.size[i];
    for (int b = 0; b < t.problem.ball_count; ++b) {
      const int k = t.problem.balls[b].index;
      const Vec<double> d = between(Vec<double>{measured[k], measured[k + 1], measured[k + 2]},
                                    Vec<double>{s.q[k], s.q[k + 1], s.q[k + 2]});
      desk.full[k] = d.x;
      desk.full[k + 1] = d.y;
      desk.full[k + 2] = d.z;
    }
    for (int i = 0; i < n; ++i) {
      double &low = desk.low[i], &high = desk.high[i];
      const double a = 0.8 * t.bounds[i].acceleration;
      // an encoder of a joint that turns on and on may count from anywhere
      if (!(t.bounds[i].upper - t.bounds[i].lower < 1e300) && t.size[i] == 1)
        desk.full[i] = std::remainder(desk.full[i], 6.283185307179586);
      high = larger(low, lesser(high, approach(law.leash - desk.full[i], law.landing, a, dt)));
      low = lesser(high, larger(low, -approach(law.leash + desk.full[i], law.landing, a, dt)));
    }
  }

  SUPPLE_FN void into_box(Tick &tick) {
    bool out = false;
    for (int i = 0; i < n; ++i) {
      if (!(std::fabs(desk.wanted[i]) < 1e300))
        desk.wanted[i] = 0; // nothing but a number reaches a joint
      out = out || desk.wanted[i] > desk.high[i] || desk.wanted[i] < desk.low[i];
    }
    tick.bounded = out;
    if (!out) {
      for (int i = 0; i < n; ++i)
        desk.x[i] = desk.wanted[i];
      return;
    }
    if (free_count >= 0)
      weigh_deviations(tick.quick);
    nearest_in_box(desk.M, n, desk.wanted, desk.low, desk.high, desk.box, desk.x);
  }

  // What a deviation of the free joints from the wanted step costs, in M; held joints count for themselves.
  SUPPLE_FN void weigh_deviations(bool quick) {
    const int nf = free_count;
    if (quick && nf == n && nf > t.rank) {
      // H with the eigenvalue of the direction that no goal sees as it is damped
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          desk.M[i * n + j] = desk.H[i * n + j] + (desk.d[0] - desk.d[1]) * s.null[i] * s.null[j];
    } else {
      for (int i = 0; i < n * n; ++i)
        desk.M[i] = i % (n + 1) ? 0 : 1;
      for (int a = 0; a < nf; ++a)
        for (int b = 0; b <= a; ++b) {
          double sum = 0;
          if (quick)
            sum = desk.H[desk.order[a] * n + desk.order[b]];
          else
            for (int c = 0; c < nf; ++c)
              sum += desk.Z[c * nf + a] * desk.d[c] * desk.Z[c * nf + b];
          desk.M[desk.order[a] * n + desk.order[b]] = desk.M[desk.order[b] * n + desk.order[a]] = sum;
        }
    }
  }

  // acceleration of a ball along a direction
  SUPPLE_FN double hardest(int first, Vec<double> way) const {
    const double parts[3] = {way.x, way.y, way.z}, length = root(dot(way, way));
    double a = 1e300;
    for (int i = 0; i < 3; ++i)
      if (std::fabs(parts[i]) > 1e-12 * length)
        a = lesser(a, t.bounds[first + i].acceleration * length / std::fabs(parts[i]));
    return a;
  }

  // the step of a ball that brakes about the axis about which it turns
  SUPPLE_FN Vec<double> braked(int first) const {
    const Vec<double> v{s.velocity[first], s.velocity[first + 1], s.velocity[first + 2]};
    const double speed = root(dot(v, v));
    return (speed > 0 ? dt * positive(1 - hardest(first, v) * dt / speed) : 0.0) * v;
  }

  // A ball's limits are a cone and a twist, which a box cannot say: of the step that the box allows, as much
  // is taken as leaves room to brake; the rest of it is braking, about the axis about which it turned before.
  // A ball that is outside turns back the straight way, at the pace of a landing.
  SUPPLE_FN void keep_ball(const Ball &ball) {
    const int k = ball.index;
    if (!is_limited(ball))
      return;
    const Vec<double> q{s.q[k], s.q[k + 1], s.q[k + 2]}, axis{ball.axis[0], ball.axis[1], ball.axis[2]};
    const Vec<double> in = between(q, clamp_ball(q, axis, ball.swing, ball.low, ball.high));
    const double far = root(dot(in, in));
    if (far > 1e-9)
      return turn_back(k, in, far, 1e-3 * lesser(1.0, lesser(ball.swing, ball.high - ball.low)));
    // how far outside it would get, if it braked after this step
    auto ends = [&](Vec<double> x) {
      const double length = root(dot(x, x));
      return strays(ball, q, (length > 0 ? 1 + length / (2 * hardest(k, x) * dt * dt) : 1.0) * x);
    };
    const Vec<double> x{desk.x[k], desk.x[k + 1], desk.x[k + 2]};
    const double allowed = larger(strays(ball, q, {0, 0, 0}), 1e-12);
    if (!(ends(x) > allowed))
      return;
    const Vec<double> still = braked(k);
    double low = 0, high = 1;
    for (int turn = 0; turn < 24; ++turn) {
      const double part = 0.5 * (low + high);
      (ends(still + part * (x - still)) > allowed ? high : low) = part;
    }
    const Vec<double> kept = still + low * (x - still);
    desk.x[k] = kept.x;
    desk.x[k + 1] = kept.y;
    desk.x[k + 2] = kept.z;
  }

  // Turns a ball back inside: all its axes together, so that it goes straight.
  SUPPLE_FN void turn_back(int first, Vec<double> in, double far, double inside) {
    const double way[3] = {in.x / far, in.y / far, in.z / far};
    double least = -1e300, most = 1e300;
    for (int i = 0; i < 3; ++i)
      if (std::fabs(way[i]) > 1e-12) {
        const double a = desk.low[first + i] / way[i], b = desk.high[first + i] / way[i];
        least = larger(least, lesser(a, b)), most = lesser(most, larger(a, b));
      }
    const double a = hardest(first, in),
                 pace = lesser(approach(far + inside, law.landing, 0.8 * a, dt), brake(far + inside, a, dt));
    const Vec<double> still = braked(first);
    const double step = clip(pace, least, most), slow[3] = {still.x, still.y, still.z};
    for (int i = 0; i < 3; ++i)
      desk.x[first + i] =
          least <= most ? clip(step * way[i], desk.low[first + i], desk.high[first + i]) : slow[i];
  }

  // Takes the step x.
  SUPPLE_FN void go(Tick &tick) {
    for (int b = 0; b < t.problem.ball_count; ++b)
      keep_ball(t.problem.balls[b]);
    take(tick, true);
  }

  SUPPLE_FN void take(Tick &tick, bool keep) {
    for (int i = 0; i < n; ++i) {
      const Bounds &joint = t.bounds[i];
      const double v = desk.x[i] / dt, a = (v - s.velocity[i]) / dt;
      const double q = s.q[i] + desk.x[i] * t.size[i], low = joint.lower * t.size[i],
                   high = joint.upper * t.size[i];
      tick.sides[i] = s.held[i] != 0                              ? s.held[i]
                      : std::fabs(v) > 0.999999 * joint.speed     ? (v > 0 ? 2 : -2)
                      : std::fabs(a) > 0.999 * joint.acceleration ? (a > 0 ? 3 : -3)
                                                                  : 0;
      s.acceleration[i] = a;
      s.velocity[i] = v;
      desk.full[i] = s.q[i];
      // rounding must not carry a joint past its limit
      s.q[i] = keep && s.q[i] <= high && q > high ? high : keep && s.q[i] >= low && q < low ? low : q;
    }
    for (int b = 0; b < t.problem.ball_count; ++b) {
      const int k = t.problem.balls[b].index;
      const Vec<double> r = turned(Vec<double>{desk.full[k], desk.full[k + 1], desk.full[k + 2]},
                                   Vec<double>{desk.x[k], desk.x[k + 1], desk.x[k + 2]});
      s.q[k] = r.x;
      s.q[k + 1] = r.y;
      s.q[k + 2] = r.z;
    }
  }
};

} // namespace SUPPLE_ISA
} // namespace supple
