// Moving: the box of a tick, the nearest step in it, and the step taken.
#pragma once
#include "weak.h"

namespace supple {
inline namespace SUPPLE_ISA {

template <int N, int M> struct Moves : Weak<N, M> {
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
    for (int i = 0; i < n; ++i) desk.full[i] = s.q[i] / t.size[i];
    for (int i = 0; i < n; i += native_width) {
      W low, high;
      step_bounds(load(row + i), load(row + stride + i), load(row + 2 * stride + i), load(row + 3 * stride + i), load(row + 4 * stride + i),
                  load(desk.full + i), load(s.velocity + i), load(s.acceleration + i), W(dt), W(law.landing), low, high);
      std::memcpy(desk.low + i, &low, sizeof low);
      std::memcpy(desk.high + i, &high, sizeof high);
    }
    for (int i = 0; i < n && measured; ++i) {
      double &low = desk.low[i], &high = desk.high[i];
      // on a leash: what is ahead of the real joint by much waits for it
      const double ahead = (s.q[i] - measured[i]) / t.size[i], a = 0.8 * t.bounds[i].acceleration;
      high = larger(low, lesser(high, approach(law.leash - ahead, law.landing, a, dt)));
      low = lesser(high, larger(low, -approach(law.leash + ahead, law.landing, a, dt)));
    }
  }

  SUPPLE_FN void into_box(Tick &tick) {
    bool out = false;
    for (int i = 0; i < n; ++i) {
      if (!(std::fabs(desk.wanted[i]) < 1e300)) desk.wanted[i] = 0; // nothing but a number reaches a joint
      out = out || desk.wanted[i] > desk.high[i] || desk.wanted[i] < desk.low[i];
    }
    tick.bounded = out;
    if (!out) {
      for (int i = 0; i < n; ++i) desk.x[i] = desk.wanted[i];
      return;
    }
    const int nf = free_count;
    if (nf < 0) {
    } else if (tick.quick && nf == n && nf > t.rank) {
      // H with the eigenvalue of the direction that no goal sees as it is damped
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) desk.M[i * n + j] = desk.H[i * n + j] + (desk.d[0] - desk.d[1]) * s.null[i] * s.null[j];
    } else {
      for (int i = 0; i < n * n; ++i) desk.M[i] = i % (n + 1) ? 0 : 1;
      for (int a = 0; a < nf; ++a)
        for (int b = 0; b <= a; ++b) {
          double sum = 0;
          if (tick.quick) sum = desk.H[desk.order[a] * n + desk.order[b]];
          else
            for (int c = 0; c < nf; ++c) sum += desk.Z[c * nf + a] * desk.d[c] * desk.Z[c * nf + b];
          desk.M[desk.order[a] * n + desk.order[b]] = desk.M[desk.order[b] * n + desk.order[a]] = sum;
        }
    }
    nearest_in_box(desk.M, n, desk.wanted, desk.low, desk.high, desk.box, desk.x);
  }

  // acceleration of a ball along a direction
  SUPPLE_FN double hardest(int first, Vec<double> way) const {
    const double parts[3] = {way.x, way.y, way.z}, length = root(dot(way, way));
    double a = 1e300;
    for (int i = 0; i < 3; ++i)
      if (std::fabs(parts[i]) > 1e-12 * length) a = lesser(a, t.bounds[first + i].acceleration * length / std::fabs(parts[i]));
    return a;
  }

  // A ball's limits are a cone and a twist, which a box cannot say: of the step that the box allows, as much is taken
  // as leaves room to brake; the rest of it is braking, about the axis about which it turned before. A ball that is
  // outside turns back the straight way, at the pace of a landing.
  SUPPLE_FN void keep_ball(const Ball &ball) {
    const int k = ball.index;
    const Vec<double> q{s.q[k], s.q[k + 1], s.q[k + 2]}, axis{ball.axis[0], ball.axis[1], ball.axis[2]};
    auto way_in = [&](Vec<double> r) { return between(r, clamp_ball(r, axis, ball.swing, ball.low, ball.high)); };
    auto outside = [&](Vec<double> r) {
      const Vec<double> d = way_in(r);
      return root(dot(d, d));
    };
    const Vec<double> in = way_in(q);
    const double far = root(dot(in, in));
    if (far > 1e-9) return turn_back(k, in, far, 1e-3 * lesser(1.0, lesser(ball.swing, ball.high - ball.low)));
    // How far outside it would get, if it braked after this step. On the way the twist only grows or falls, but the axis
    // moves on a circle, which may lean farthest in between.
    const Vec<double> upright = transpose(exp_rotation(q)) * axis;
    auto ends = [&](Vec<double> x) {
      const double length = root(dot(x, x));
      if (!(length > 0)) return far;
      const double on = squared(length / dt) / (2 * hardest(k, x)) / length;
      const double end = larger(outside(turned(q, x)), outside(turned(q, (1 + on) * x)));
      const Vec<double> about = (1 / length) * x;
      const double middle = dot(about, axis) * dot(about, upright), B = dot(axis, upright) - middle, C = dot(cross(about, axis), upright);
      const double summit = atan2(-C, -B), least = clip(middle - root(B * B + C * C), -1.0, 1.0);
      if (!((summit < 0 ? summit + 6.283185307179586 : summit) < (1 + on) * length)) return end;
      return larger(end, atan2(root(1 - least * least), least) - ball.swing);
    };
    const Vec<double> x{desk.x[k], desk.x[k + 1], desk.x[k + 2]}, v{s.velocity[k], s.velocity[k + 1], s.velocity[k + 2]};
    const double allowed = larger(far, 1e-12);
    if (!(ends(x) > allowed)) return;
    const double speed = root(dot(v, v));
    const Vec<double> still = (speed > 0 ? dt * positive(1 - hardest(k, v) * dt / speed) : 0.0) * v;
    double low = 0, high = 1;
    for (int turn = 0; turn < 24; ++turn) {
      const double part = 0.5 * (low + high);
      (ends(still + part * (x - still)) > allowed ? high : low) = part;
    }
    const Vec<double> kept = still + low * (x - still);
    desk.x[k] = kept.x, desk.x[k + 1] = kept.y, desk.x[k + 2] = kept.z;
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
    const double step = clip(approach(far + inside, law.landing, 0.8 * hardest(first, in), dt), least, most);
    for (int i = 0; i < 3; ++i) desk.x[first + i] = clip(step * way[i], desk.low[first + i], desk.high[first + i]);
  }

  // Takes the step x.
  SUPPLE_FN void go(Tick &tick) {
    for (int b = 0; b < t.problem.ball_count; ++b) keep_ball(t.problem.balls[b]);
    take(tick, true);
  }

  SUPPLE_FN void take(Tick &tick, bool keep) {
    for (int i = 0; i < n; ++i) {
      const Bounds &joint = t.bounds[i];
      const double v = desk.x[i] / dt, a = (v - s.velocity[i]) / dt;
      const double q = s.q[i] + desk.x[i] * t.size[i], low = joint.lower * t.size[i], high = joint.upper * t.size[i];
      tick.sides[i] = s.held[i] != 0 ? s.held[i] : std::fabs(v) > 0.999999 * joint.speed ? (v > 0 ? 2 : -2)
                      : std::fabs(a) > 0.999 * joint.acceleration ? (a > 0 ? 3 : -3) : 0;
      s.acceleration[i] = a;
      s.velocity[i] = v;
      desk.full[i] = s.q[i];
      // rounding must not carry a joint past its limit
      s.q[i] = keep && s.q[i] <= high && q > high ? high : keep && s.q[i] >= low && q < low ? low : q;
    }
    for (int b = 0; b < t.problem.ball_count; ++b) {
      const int k = t.problem.balls[b].index;
      const Vec<double> r = turned(Vec<double>{desk.full[k], desk.full[k + 1], desk.full[k + 2]}, Vec<double>{desk.x[k], desk.x[k + 1], desk.x[k + 2]});
      s.q[k] = r.x, s.q[k + 1] = r.y, s.q[k + 2] = r.z;
    }
  }
};

} // namespace SUPPLE_ISA
} // namespace supple
