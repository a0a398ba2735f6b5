// A window of a command's last samples, and the best parabola through them.
#pragma once
#include "supple/math/simd.h"
#include "supple/task/goal.h"

namespace supple {

// How commands are read; weights as in the goal, times in seconds.
struct CommandOptions {
  double position = 1, turn = 1; // weights of a metre (pi/reach) and of a radian
  bool pointing = false;         // the goal's first three numbers are a direction, and no rotation is asked
  double jump = 6; // a command that moves faster jumps: weighted units a second, as in the tracking law
  double lag =
      0.0245; // what is read is at most this old: within 25 ms, tremor is held back best by all of it
  double window = 0.43; // of samples: shorter lets tremor pass, longer bends a hand's own curves
  double rise = 0.23;   // in which a sample gains its weight: shorter lets single samples be felt
  double narrow =
      0.65; // a second, narrower window, as part of the first: narrower, and a lost sample is felt
  double tremor = 0.01; // most that the two may differ, in weighted units: 3 mm, or 0.6 degrees
  double rest = 0.1; // a sample that comes later than this comes from a hand that rested, not from a slow one
  double moving = 0.1;   // a hand that is faster and falls silent has lost a sample: weighted units a second
  double fast = 0.0070;  // samples nearer than this shrink lag and window with their distance ...
  double slow = 0.030;   // ... and samples farther apart stretch the window, so that it holds 14 to 61
  double stretch = 0.25; // how fast they shrink and stretch, per second: times the lag, it is felt as speed
  double blend = 0.2;    // from one way of reading to the other
  double stop = 0.15;    // to rest, when a hand that moves falls silent
  double drift = 5e-3;   // of the sender's clock against ours, per second, that is followed
  double restart =
      0.25; // a stamp that is older by less is a late sample and ignored; by more, a clock set anew
};

// What is remembered of a command; born empty.
struct alignas(64) CommandState { // they stand in a row, each in lines of its own
  static constexpr int slots = 64, numbers = 7;
  double taken[slots];                // when the hand was there
  double heard[slots];                // when that was known
  double value[numbers][slots];       // position, then a quaternion (or a direction and 0)
  double goal[12], newest[numbers];   // the newest sample, as it came and as it is kept
  double shown[numbers], velocity[6]; // what was read last
  double shift[6], shift_speed[6];    // a difference that fades ...
  double shifting, fading;            // ... for how long it still does, and did from its start
  double now, quiet;                  // our clock; time since the newest sample
  double changed, filled; // until when samples were unlike the newest; when the last one was taken
  double stamp, offset;   // the newest stamp; our clock less the sender's, for the quickest sample
  double interval, scale; // between samples, on average; of lag and window
  int next, count;        // the slot to fill; how many distances the interval is made of
  int ticks, doubt;       // ticks since the newest sample; doubt that each tick brings its own
  bool started = false, sure, waiting; // sure how the hand is sampled; waiting one tick to see
  bool timed, slow, still, frozen;     // stamped; read through the window; as it came; stopped in its motion
};

// What a command is now.
struct Command {
  double goal[12]; // rotation row by row (or a direction), and position
  double moved[6],
      acceleration[6]; // in this tick: metres and radians along the world's axes; and per second squared
  bool jumped;         // it went where no motion leads: nothing moved, it is just there
  double lag;          // how old it is, in seconds
};

inline namespace SUPPLE_ISA {

// 0 to 1, flat to the second derivative at both ends; x within them
template <class T>
SUPPLE_FLAT T soften(T x) {
  using S = Scalar<T>;
  return x * x * x * (T(S(10)) + x * (T(S(6)) * x - T(S(15))));
}

struct CommandWindow {
  CommandState &s;
  const CommandOptions &o;
  using Wide = Pack<double, native_width>;
  static constexpr int width = native_width, packs = CommandState::slots / native_width;
  static constexpr int numbers = CommandState::numbers, slots = CommandState::slots;
  static constexpr int reserve = 6, too_much_doubt = 20, most_doubt = 60;
  static constexpr double nothing = 1e-12; // weighted: less is rounding, and no motion

  static SUPPLE_FLAT Wide load(const double *x) {
    Wide p;
    std::memcpy(&p, x, sizeof p);
    return p;
  }
  static SUPPLE_FLAT double sum(Wide x) {
    double total = 0;
    for (int i = 0; i < width; i += 2)
      total += get(x, i) + get(x, i + 1);
    return total;
  }

  // asin(x)/x from x^2, where that is small
  static constexpr double small = 1e-3;
  static SUPPLE_FLAT double angle_by_sine(double square) {
    return 1 + square * (1.0 / 6 + square * (3.0 / 40 + square * (15.0 / 336 + square * (105.0 / 3456))));
  }

  SUPPLE_FLAT void keep(const double *goal, double *v) const {
    v[0] = goal[9];
    v[1] = goal[10];
    v[2] = goal[11];
    if (o.pointing) {
      const double most = larger(magnitude(goal[0]), larger(magnitude(goal[1]), magnitude(goal[2])));
      for (int i = 0; i < 3; ++i)
        v[3 + i] = goal[i] / (most > 0 ? most : 1);
      v[6] = 0;
      return normalize(v);
    }
    const Rot<double> r{
        {goal[0], goal[3], goal[6]}, {goal[1], goal[4], goal[7]}, {goal[2], goal[5], goal[8]}};
    const Quat<double> q = quaternion(r);
    v[3] = q.w;
    v[4] = q.x;
    v[5] = q.y;
    v[6] = q.z;
    normalize(v);
  }

  // to length 1; what has none, as of a matrix that is no rotation, turns nothing
  static SUPPLE_FLAT void normalize(double *v) {
    const double square = v[3] * v[3] + v[4] * v[4] + v[5] * v[5] + v[6] * v[6];
    const bool good = square > 1e-3 && square < 1e3;
    const double per = 1 / std::sqrt(good ? square : 1);
    for (int i = 3; i < numbers; ++i)
      v[i] = good ? v[i] * per : double(i == 3);
  }

  // the other way
  SUPPLE_FLAT void show(const double *v, double *goal) const {
    goal[9] = v[0];
    goal[10] = v[1];
    goal[11] = v[2];
    if (o.pointing) {
      goal[0] = v[3];
      goal[1] = v[4];
      goal[2] = v[5];
      for (int i = 3; i < 9; ++i)
        goal[i] = s.goal[i];
      return;
    }
    const Rot<double> r = rotation(Quat<double>{v[3], v[4], v[5], v[6]});
    const double rows[9] = {r.x.x, r.y.x, r.z.x, r.x.y, r.y.y, r.z.y, r.x.z, r.y.z, r.z.z};
    std::memcpy(goal, rows, sizeof rows);
  }

  SUPPLE_FLAT double size(const double *d) const {
    return std::sqrt(o.position * o.position * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) +
                     o.turn * o.turn * (d[3] * d[3] + d[4] * d[4] + d[5] * d[5]));
  }

  // way from one to the other, in world axes
  SUPPLE_FLAT void difference(const double *from, const double *to, double *d) const {
    for (int i = 0; i < 3; ++i)
      d[i] = to[i] - from[i];
    Vec<double> turn;
    if (o.pointing) {
      turn = turn_between(Vec<double>{from[3], from[4], from[5]}, Vec<double>{to[3], to[4], to[5]});
    } else {
      Quat<double> q =
          Quat<double>{to[3], to[4], to[5], to[6]} * Quat<double>{from[3], -from[4], -from[5], -from[6]};
      if (q.w < 0)
        q = {-q.w, -q.x, -q.y, -q.z};
      const double square = q.x * q.x + q.y * q.y + q.z * q.z;
      turn = square < small ? 2 * angle_by_sine(square) * Vec<double>{q.x, q.y, q.z} : log_quaternion(q);
    }
    d[3] = turn.x;
    d[4] = turn.y;
    d[5] = turn.z;
  }

  // the same from goal to goal, without a quaternion where the turn is small
  SUPPLE_FLAT void way_between(const double *from, const double *to, double *d) const {
    for (int i = 0; i < 3; ++i)
      d[i] = to[9 + i] - from[9 + i];
    Vec<double> turn{0, 0, 0};
    if (o.pointing) {
      turn = turn_between(Vec<double>{from[0], from[1], from[2]}, Vec<double>{to[0], to[1], to[2]});
    } else {
      double trace = 0;
      for (int i = 0; i < 3; ++i) {
        const Vec<double> a{from[i], from[3 + i], from[6 + i]}, b{to[i], to[3 + i], to[6 + i]};
        turn = turn + 0.5 * cross(a, b);
        trace += dot(a, b);
      }
      const double square = dot(turn, turn);
      if (square < small && trace > 2) {
        turn = angle_by_sine(square) * turn;
      } else {
        double a[numbers], b[numbers], whole[6];
        keep(from, a), keep(to, b), difference(a, b, whole);
        turn = {whole[3], whole[4], whole[5]};
      }
    }
    d[3] = turn.x;
    d[4] = turn.y;
    d[5] = turn.z;
  }

  // moves v by d, as difference counts
  SUPPLE_FLAT void move(double *v, const double *d) const {
    for (int i = 0; i < 3; ++i)
      v[i] += d[i];
    const Quat<double> turn = exp_quaternion(Vec<double>{d[3], d[4], d[5]});
    if (o.pointing) {
      const Vec<double> at = rotation(turn) * Vec<double>{v[3], v[4], v[5]};
      v[3] = at.x;
      v[4] = at.y;
      v[5] = at.z;
      return;
    }
    const Quat<double> q = turn * Quat<double>{v[3], v[4], v[5], v[6]};
    v[3] = q.w;
    v[4] = q.x;
    v[5] = q.y;
    v[6] = q.z;
  }

  SUPPLE_FLAT void push(double taken, double heard) {
    const int i = s.next, soon = i + reserve < slots ? i + reserve : i + reserve - slots;
    // where more come than the window can hold, some are left out, so that none leaves it early
    if (s.slow && s.now - s.taken[soon] < o.window * s.scale && taken - s.filled < o.fast * s.scale)
      return;
    s.taken[i] = taken;
    s.heard[i] = heard;
    for (int k = 0; k < numbers; ++k)
      s.value[k][i] = s.newest[k];
    s.next = i + 1 == slots ? 0 : i + 1;
    s.filled = taken;
  }

  // the hand has not moved since the last sample: those that did not come, or looked alike
  SUPPLE_FN void fill(double heard) {
    const double step = s.slow ? s.interval : o.fast, first = s.now - slots * step;
    if (!(s.filled > first))
      s.filled = first;
    for (int i = 0; i < slots && s.filled + step <= s.now; ++i)
      push(s.filled + step, heard);
  }

  // the hand has always been where it is
  SUPPLE_FN void forget() {
    s.filled = s.changed = s.now - 1e3;
    fill(s.filled);
    s.shifting = 0;
  }

  // The parabola through a window, `lag` before `at`: what each sample counts for it. False where too few are
  // there.
  SUPPLE_FLAT bool weigh(double at, double window, double rise, Wide *w) const {
    const double per_window = 1 / (window * s.scale), per_rise = 1 / (rise * s.scale);
    const Wide zero(0.0), one(1.0), T(per_window), R(per_rise), here(at), x0(behind() * per_window);
    Wide x[packs], m0 = zero, m1 = zero, m2 = zero, m3 = zero, m4 = zero;
    for (int i = 0; i < packs; ++i) {
      const Wide age = (here - load(s.taken + width * i)) * T, known = (here - load(s.heard + width * i)) * R;
      const Wide left = larger(one - age, zero);
      w[i] = soften(lesser(larger(known, zero), one)) * left * left;
      x[i] = x0 - age;
      const Wide a = w[i] * x[i], b = a * x[i];
      m0 = m0 + w[i], m1 = m1 + a, m2 = m2 + b, m3 = m3 + b * x[i], m4 = m4 + b * (x[i] * x[i]);
    }
    const double s0 = sum(m0), s1 = sum(m1), s2 = sum(m2), s3 = sum(m3), s4 = sum(m4);
    // the first row of the inverse of the moments makes the value at x = 0
    const double c0 = s2 * s4 - s3 * s3, c1 = s2 * s3 - s1 * s4, c2 = s1 * s3 - s2 * s2;
    const double whole = s0 * c0 + s1 * c1 + s2 * c2;
    if (!(whole > 1e-9 * s0 * s0 * s0))
      return false;
    const Wide k0(c0 / whole), k1(c1 / whole), k2(c2 / whole);
    for (int i = 0; i < packs; ++i)
      w[i] = w[i] * (k0 + x[i] * (k1 + x[i] * k2));
    return true;
  }

  // What is read: through the wide window, but never farther than a tremor from what a narrow one reads,
  // since a hand may be quicker than the wide one follows.
  SUPPLE_FN bool fit(double at, double *v) const {
    Wide wide[packs], slim[packs];
    if (!weigh(at, o.window, o.rise, wide))
      return false;
    const bool both = weigh(at, o.narrow * o.window, o.narrow * o.rise, slim);
    double quick[numbers], d[6] = {};
    for (int k = 0; k < numbers; ++k) {
      const Wide base(s.newest[k]);
      Wide a(0.0), b(0.0);
      for (int i = 0; i < packs; ++i) {
        const Wide away = load(s.value[k] + width * i) - base;
        a = a + wide[i] * away;
        b = b + slim[i] * away;
      }
      v[k] = s.newest[k] + sum(a);
      quick[k] = s.newest[k] + sum(b);
    }
    if (!both)
      return true;
    for (int i = 0; i < 3; ++i)
      d[i] = quick[i] - v[i];
    for (int i = 3; i < numbers; ++i)
      d[3] += 4 * (quick[i] - v[i]) * (quick[i] - v[i]);
    d[3] = std::sqrt(d[3]);
    const double far = size(d) / o.tremor, share = 1 - 1 / std::sqrt(std::sqrt(1 + far * far * (far * far)));
    for (int i = 0; i < numbers; ++i)
      v[i] += share * (quick[i] - v[i]);
    return true;
  }

  double behind() const { return o.lag * lesser(1.0, s.scale); }

  // what samples at this distance from each other want of lag and window
  double wanted_scale() const {
    return s.interval < o.fast ? s.interval / o.fast : larger(1.0, s.interval / o.slow);
  }
};

} // namespace SUPPLE_ISA
} // namespace supple
