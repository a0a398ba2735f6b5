// One tick: from where the joints are and what is commanded to where the joints go next.
//
// The law: minimise the weighted error with its true Hessian; feed the command's velocity forward; turn the
// displacement that remains into a speed with one factor for all joints; damp only along directions in which
// the end effectors hardly move; and stay in a box of position, speed, acceleration, braking and jerk.
// docs/tracking.md tells what each part is for.
#pragma once
#include "supple/tracking/bounds.h"

namespace supple {
inline namespace SUPPLE_ISA {

// One tick of one arm.
template <int N, int M>
struct Tracker : Moves<N, M> {
  using Base = Moves<N, M>;
  using Base::Base;
  using Base::t, Base::s, Base::desk, Base::law, Base::dt, Base::n, Base::m, Base::free_count, Base::speed,
      Base::look_around, Base::quick, Base::by_direction, Base::bound, Base::into_box, Base::go, Base::take;

  // Where the joints go.
  // `measured`, where it is known, is where the real joints are: the arm does not run away from them.
  SUPPLE_FN void step(const Wanted *wanted, const double *measured, Tick &tick) {
    look_around(wanted);
    s.scalars[0] *= positive(1 - dt / law.press_time);
    ways();
    bound(measured);
    const double left = root(dot_rows<M>(desk.r, desk.r, m));
    double &stuck = s.home.state[3];
    if (left < law.astray) {
      *s.home.state = stuck = 0;
    } else {
      for (int k = 0; k < t.problem.target_count; ++k)
        std::memcpy(desk.home.goals + 12 * k, wanted[k].goal, sizeof wanted[k].goal);
      seek(t.problem, desk.home.goals, s.rest, t.size, 0.2 * law.astray + 2 * speed * dt, s.home, desk.home);
      if (*s.home.state != found)
        stuck = 0;
    }
    tick.damping = tick.fold = 0;
    tick.weak = false;
    tick.least = 1e300;
    if (stuck >= law.stuck) {
      head_home(tick);
    } else {
      wish_step(tick);
      double less = 0;
      for (int i = 0; i < n; ++i)
        less += desk.xb[i] * desk.back[i];
      tick.reducible = left > 0 ? less / squared(left) : 1;
      if (tick.reducible < 0.1 && *s.home.state == found)
        stuck += dt * lesser(1.0, squared(left / law.lost));
    }
    for (int i = 0; i < n; ++i)
      s.pace[i] = desk.pace[i], s.ahead[i] = desk.xf[i] / dt, s.held[i] = desk.x[i];
    into_box(tick);
    // the posture is remembered only where the arm can move freely
    const double learn = lesser(1.0, law.learn * dt * clip(squared(tick.least / law.weak) - 1, 0.0, 1.0));
    if (learn > 0)
      recall(learn);
    if (left < law.astray && tick.least > law.weak)
      for (int i = 0; i < n; ++i)
        s.home.anchor[i] = s.q[i];
    go(tick);
  }

  // The wanted step of the law: joints that would leave their limits stay there, and the others see to it.
  SUPPLE_FN void wish_step(Tick &tick) {
    double *held = desk.x; // 1, -1 or 0
    for (int i = 0; i < n; ++i)
      held[i] = 0;
    for (int pass = 0; pass < 4; ++pass) {
      free_count = 0;
      for (int i = 0; i < n; ++i)
        if (held[i] == 0)
          desk.order[free_count++] = i;
      for (int i = 0; i < n; ++i)
        tick.weights[i] = held[i] == 0 ? 1 : 0;
      tick.damping = tick.fold = 0;
      tick.weak = false;
      tick.least = 1e300;
      tick.quick = quick(tick);
      if (!tick.quick)
        by_direction(tick);
      combine();
      bool more = false;
      for (int i = 0; i < n; ++i) {
        if (held[i] != 0)
          continue;
        const double q = s.q[i] / t.size[i];
        if (t.bounds[i].upper - q < law.touch && desk.wanted[i] > 0)
          held[i] = 1, more = true;
        else if (q - t.bounds[i].lower < law.touch && desk.wanted[i] < 0)
          held[i] = -1, more = true;
      }
      if (!more || pass == 3)
        break;
    }
    for (int i = 0; i < n; ++i)
      if (held[i] != 0)
        desk.wanted[i] = held[i] > 0 ? desk.high[i] : desk.low[i];
  }

  // One factor for all joints: what is left is approached so that every joint can brake, beside what is fed
  // forward.
  SUPPLE_FN void combine() {
    using W = Pack<double, native_width>;
    auto load = [](const double *from) {
      W x;
      std::memcpy(&x, from, sizeof x);
      return x;
    };
    bool same = true;
    for (int i = 0; i < n; ++i)
      same = same && desk.x[i] == s.held[i]; // x holds which joints are held now
    const W zero(0.0), part(same ? dt / (dt + law.smooth) : 0.0), keep(same ? 1.0 : 0.0), rate(1 / dt),
        most(law.braking), least(0.15);
    W worst = zero, worst_free = zero, fast = zero;
    const int stride = N ? (N + 7) / 8 * 8 : t.stride;
    for (int i = n; i < stride; ++i)
      desk.xb[i] = desk.xf[i] = desk.xn[i] = 0;
    for (int i = 0; i < n; i += native_width) {
      const W speed = load(t.rows + 2 * stride + i), a = load(t.rows + 3 * stride + i),
              xb = load(desk.xb + i), xn = load(desk.xn + i);
      // how what is fed forward changes, low-passed; anew when other joints are held
      const W was = load(s.pace + i),
              pace = keep * was + part * ((load(desk.xf + i) * rate - load(s.ahead + i)) * rate - was);
      std::memcpy(desk.pace + i, &pace, sizeof pace);
      const W braking = clip(most * a + select(xb < zero, -pace, pace), least * a, a);
      // what cannot move need not brake
      const Mask<W> moves = (a > zero) & (speed > zero);
      worst = larger(worst, select(moves, magnitude(xb) / braking, zero));
      worst_free = larger(worst_free, select(moves, magnitude(xn) / (most * a), zero));
      fast = larger(fast, select(moves, magnitude(xn) / speed, zero));
    }
    auto largest = [](W x) {
      double top = get(x, 0);
      for (int i = 1; i < native_width; ++i)
        top = larger(top, get(x, i));
      return top;
    };
    const double K = law.gain, Kn = law.free_gain;
    const double f = lesser(1.0, K * dt / root(1 + 0.5 * K * K * largest(worst)));
    double fn = lesser(1.0, Kn * dt / root(1 + 0.5 * Kn * Kn * largest(worst_free)));
    if (largest(fast) * fn > 0.5 * dt)
      fn = 0.5 * dt / largest(fast);
    for (int i = 0; i < n; ++i)
      desk.wanted[i] = f * desk.xb[i] + fn * desk.xn[i] + desk.xf[i];
  }

  // Straight to joint values that are known to reach the command: out of a corner.
  SUPPLE_FN void head_home(Tick &tick) {
    for (int i = 0; i < n; ++i) {
      desk.xb[i] = (s.home.q[i] - s.q[i]) / t.size[i];
      desk.xf[i] = (s.home.q[i] - s.home.was[i]) / t.size[i];
      desk.xn[i] = desk.x[i] = 0;
      desk.order[i] = i;
    }
    for (int b = 0; b < t.problem.ball_count; ++b) {
      const int k = t.problem.balls[b].index;
      auto way = [&](const double *from, double *out) {
        const Vec<double> d = between(Vec<double>{from[k], from[k + 1], from[k + 2]},
                                      Vec<double>{s.home.q[k], s.home.q[k + 1], s.home.q[k + 2]});
        out[k] = d.x;
        out[k + 1] = d.y;
        out[k + 2] = d.z;
      };
      way(s.q, desk.xb);
      way(s.home.was, desk.xf);
    }
    free_count = n;
    tick.quick = false;
    tick.reducible = 1;
    tick.least = 0;
    for (int i = 0; i < n; ++i)
      desk.xb[i] -= desk.xf[i], tick.weights[i] = desk.d[i] = 1;
    for (int i = 0; i < n * n; ++i)
      desk.Z[i] = i % (n + 1) ? 0 : 1;
    combine();
  }

  // Ways to the remembered posture and to rest, in natural units; balls turn the shortest way.
  SUPPLE_FN void ways() {
    for (int i = 0; i < n; ++i) {
      desk.way_home[i] = (s.posture[i] - s.q[i]) / t.size[i];
      desk.rest[i] = (s.rest[i] - s.q[i]) / t.size[i];
    }
    for (int b = 0; b < t.problem.ball_count; ++b) {
      const int k = t.problem.balls[b].index;
      auto way = [&](const double *to, double *out) {
        const Vec<double> d =
            between(Vec<double>{s.q[k], s.q[k + 1], s.q[k + 2]}, Vec<double>{to[k], to[k + 1], to[k + 2]});
        out[k] = d.x;
        out[k + 1] = d.y;
        out[k + 2] = d.z;
      };
      way(s.posture, desk.way_home);
      way(s.rest, desk.rest);
    }
  }

  // Moves the remembered posture a part of the way to q.
  SUPPLE_FN void recall(double part) {
    for (int i = 0; i < n; ++i)
      s.posture[i] += part * (s.q[i] - s.posture[i]);
    for (int b = 0; b < t.problem.ball_count; ++b) {
      const int k = t.problem.balls[b].index;
      const Vec<double> q{s.q[k], s.q[k + 1], s.q[k + 2]},
          back{(1 - part) * desk.way_home[k], (1 - part) * desk.way_home[k + 1],
               (1 - part) * desk.way_home[k + 2]};
      const Vec<double> p = turned(q, back);
      s.posture[k] = p.x, s.posture[k + 1] = p.y, s.posture[k + 2] = p.z;
    }
  }

  // A step that another scheme chose, and what a deviation from it costs: J'J + alpha W_q^-2 [D16], or where
  // no weights are known each joint for itself. Not `boxed`, it is taken as it is.
  SUPPLE_FN void steer(const Wanted *wanted, const double *measured, const Steering &steering, Tick &tick) {
    look_around(wanted);
    bound(measured);
    double less = 0, left = dot_rows<M>(desk.r, desk.r, m);
    for (int i = 0; i < n; ++i) {
      desk.wanted[i] = steering.step[i] / t.size[i];
      less += desk.wanted[i] * desk.back[i];
      s.held[i] = s.pace[i] = s.ahead[i] = 0;
      tick.weights[i] = steering.weights ? steering.weights[i] : 1;
      const double q = s.q[i] / t.size[i];
      if (t.bounds[i].upper - q < law.touch && desk.wanted[i] > 0)
        s.held[i] = 1;
      else if (q - t.bounds[i].lower < law.touch && desk.wanted[i] < 0)
        s.held[i] = -1;
    }
    tick.damping = steering.alpha;
    tick.reducible = left > 0 ? less / left : 1;
    tick.fold = 0;
    tick.least = 1e300;
    tick.weak = steering.alpha > 0;
    tick.quick = false;
    if (!steering.boxed) {
      for (int i = 0; i < n; ++i)
        desk.x[i] = std::fabs(desk.wanted[i]) < 1e300 ? desk.wanted[i] : 0;
      tick.bounded = false;
      return take(tick, false);
    }
    for (int i = 0; i < n * n; ++i)
      desk.M[i] = steering.weights ? desk.G[i] : 0;
    for (int i = 0; i < n; ++i) {
      const double w = steering.weights ? larger(steering.weights[i], 1e-4) : 1;
      desk.M[i * n + i] += steering.weights ? steering.alpha / (w * w) + 1e-9 : 1;
    }
    free_count = -1; // M is made
    into_box(tick);
    go(tick);
  }

  // No goal: every joint brakes and stays.
  SUPPLE_FN void hold(Tick &tick) {
    bound(nullptr);
    for (int i = 0; i < n; ++i) {
      desk.x[i] = clip(0.0, desk.low[i], desk.high[i]);
      tick.weights[i] = 1, s.held[i] = s.pace[i] = s.ahead[i] = 0;
    }
    tick.damping = tick.fold = 0;
    tick.reducible = 1;
    tick.least = 1e300;
    tick.weak = tick.bounded = false;
    tick.quick = true;
    go(tick);
  }
};

} // namespace SUPPLE_ISA
} // namespace supple
