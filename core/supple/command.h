// The command as a smooth motion: its frame now, how far it moved in this tick, and by how much it lags the hand.
//
// A hand whose frame is new at every tick is passed on as it is. One that is sampled more slowly than the loop runs, or
// irregularly, is read through a window of its last samples: their best parabola (moving least squares), looked at a
// short, stated time ago. Each sample comes into the window and leaves it gently, so what is read moves without steps;
// a parabola through samples that are all alike is that very sample, so a hand at rest is read to the last bit. A wide
// window holds tremor back; where the hand is quicker, a narrower one leads.
#pragma once
#include "look.h"
#include "pack.h"

namespace supple {

// How commands are read; weights as in the goal, times in seconds.
struct CommandOptions {
  double position = 1, turn = 1; // weights of a metre (pi/reach) and of a radian
  bool pointing = false;         // the goal's first three numbers are a direction, and no rotation is asked
  double jump = 6;               // a command that moves faster jumps: weighted units a second, as in the tracking law
  double lag = 0.0245;           // what is read is at most this old: within 25 ms, tremor is held back best by all of it
  double window = 0.43;          // of samples: shorter lets tremor pass, longer bends a hand's own curves
  double rise = 0.23;            // in which a sample gains its weight: shorter lets single samples be felt
  double narrow = 0.65;          // a second, narrower window, as part of the first: narrower, and a lost sample is felt
  double tremor = 0.01;          // most that the two may differ, in weighted units: 3 mm, or 0.6 degrees
  double rest = 0.1;             // a sample that comes later than this comes from a hand that rested, not from a slow one
  double moving = 0.1;           // a hand that is faster and falls silent has lost a sample: weighted units a second
  double fast = 0.0070;          // samples nearer than this shrink lag and window with their distance ...
  double slow = 0.030;           // ... and samples farther apart stretch the window, so that it holds 14 to 61
  double stretch = 0.25;         // how fast they shrink and stretch, per second: times the lag, it is felt as speed
  double blend = 0.2;            // from one way of reading to the other
  double stop = 0.15;            // to rest, when a hand that moves falls silent
  double drift = 5e-3;           // of the sender's clock against ours, per second, that is followed
  double restart = 0.25;         // a stamp that is older by less is a late sample and ignored; by more, a clock set anew
};

// What is remembered of a command; born empty.
struct alignas(64) CommandState { // they stand in a row, each in lines of its own
  static constexpr int slots = 64, numbers = 7;
  double taken[slots];                       // when the hand was there
  double heard[slots];                       // when that was known
  double value[numbers][slots];              // position, then a quaternion (or a direction and 0)
  double goal[12], newest[numbers];          // the newest sample, as it came and as it is kept
  double shown[numbers], velocity[6];        // what was read last
  double shift[6], shift_speed[6];          // a difference that fades ...
  double shifting, fading;                   // ... for how long it still does, and did from its start
  double now, quiet;                         // our clock; time since the newest sample
  double changed, filled;                    // until when samples were unlike the newest; when the last one was taken
  double stamp, offset;                      // the newest stamp; our clock less the sender's, for the quickest sample
  double interval, scale;                    // between samples, on average; of lag and window
  int next, count;                           // the slot to fill; how many distances the interval is made of
  int ticks, doubt;                          // ticks since the newest sample; doubt that each tick brings its own
  bool started = false, sure, waiting;       // sure how the hand is sampled; waiting one tick to see
  bool timed, slow, still, frozen;           // stamped; read through the window; as it came; stopped in its motion
};

// What a command is now.
struct Command {
  double goal[12];                   // rotation row by row (or a direction), and position
  double moved[6], acceleration[6];  // in this tick: metres and radians along the world's axes; and per second squared
  bool jumped;                       // it went where no motion leads: nothing moved, it is just there
  double lag;                        // how old it is, in seconds
};

inline namespace SUPPLE_ISA {

// 0 to 1, flat to the second derivative at both ends; x within them
template <class T> SUPPLE_FLAT T soften(T x) {
  using S = Scalar<T>;
  return x * x * x * (T(S(10)) + x * (T(S(6)) * x - T(S(15))));
}

struct CommandReader {
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
    for (int i = 0; i < width; i += 2) total += get(x, i) + get(x, i + 1);
    return total;
  }

  // asin(x)/x from x^2, where that is small
  static constexpr double small = 1e-3;
  static SUPPLE_FLAT double angle_by_sine(double square) {
    return 1 + square * (1.0 / 6 + square * (3.0 / 40 + square * (15.0 / 336 + square * (105.0 / 3456))));
  }

  SUPPLE_FLAT void keep(const double *goal, double *v) const {
    v[0] = goal[9], v[1] = goal[10], v[2] = goal[11];
    if (o.pointing) {
      const double most = larger(magnitude(goal[0]), larger(magnitude(goal[1]), magnitude(goal[2])));
      for (int i = 0; i < 3; ++i) v[3 + i] = goal[i] / (most > 0 ? most : 1);
      v[6] = 0;
      return normalize(v);
    }
    const Rot<double> r{{goal[0], goal[3], goal[6]}, {goal[1], goal[4], goal[7]}, {goal[2], goal[5], goal[8]}};
    const Quat<double> q = quaternion(r);
    v[3] = q.w, v[4] = q.x, v[5] = q.y, v[6] = q.z;
    normalize(v);
  }

  // to length 1; what has none, as of a matrix that is no rotation, turns nothing
  static SUPPLE_FLAT void normalize(double *v) {
    const double square = v[3] * v[3] + v[4] * v[4] + v[5] * v[5] + v[6] * v[6];
    const bool good = square > 1e-3 && square < 1e3;
    const double per = 1 / std::sqrt(good ? square : 1);
    for (int i = 3; i < numbers; ++i) v[i] = good ? v[i] * per : double(i == 3);
  }

  // the other way
  SUPPLE_FLAT void show(const double *v, double *goal) const {
    goal[9] = v[0], goal[10] = v[1], goal[11] = v[2];
    if (o.pointing) {
      goal[0] = v[3], goal[1] = v[4], goal[2] = v[5];
      for (int i = 3; i < 9; ++i) goal[i] = s.goal[i];
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
    for (int i = 0; i < 3; ++i) d[i] = to[i] - from[i];
    Vec<double> turn;
    if (o.pointing) {
      turn = turn_between(Vec<double>{from[3], from[4], from[5]}, Vec<double>{to[3], to[4], to[5]});
    } else {
      Quat<double> q = Quat<double>{to[3], to[4], to[5], to[6]} * Quat<double>{from[3], -from[4], -from[5], -from[6]};
      if (q.w < 0) q = {-q.w, -q.x, -q.y, -q.z};
      const double square = q.x * q.x + q.y * q.y + q.z * q.z;
      turn = square < small ? 2 * angle_by_sine(square) * Vec<double>{q.x, q.y, q.z} : log_quaternion(q);
    }
    d[3] = turn.x, d[4] = turn.y, d[5] = turn.z;
  }

  // the same from goal to goal, without a quaternion where the turn is small
  SUPPLE_FLAT void way_between(const double *from, const double *to, double *d) const {
    for (int i = 0; i < 3; ++i) d[i] = to[9 + i] - from[9 + i];
    Vec<double> turn{0, 0, 0};
    if (o.pointing) {
      turn = turn_between(Vec<double>{from[0], from[1], from[2]}, Vec<double>{to[0], to[1], to[2]});
    } else {
      double trace = 0;
      for (int i = 0; i < 3; ++i) {
        const Vec<double> a{from[i], from[3 + i], from[6 + i]}, b{to[i], to[3 + i], to[6 + i]};
        turn = turn + 0.5 * cross(a, b), trace += dot(a, b);
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
    d[3] = turn.x, d[4] = turn.y, d[5] = turn.z;
  }

  // moves v by d, as difference counts
  SUPPLE_FLAT void move(double *v, const double *d) const {
    for (int i = 0; i < 3; ++i) v[i] += d[i];
    const Quat<double> turn = exp_quaternion(Vec<double>{d[3], d[4], d[5]});
    if (o.pointing) {
      const Vec<double> at = rotation(turn) * Vec<double>{v[3], v[4], v[5]};
      v[3] = at.x, v[4] = at.y, v[5] = at.z;
      return;
    }
    const Quat<double> q = turn * Quat<double>{v[3], v[4], v[5], v[6]};
    v[3] = q.w, v[4] = q.x, v[5] = q.y, v[6] = q.z;
  }

  SUPPLE_FLAT void push(double taken, double heard) {
    const int i = s.next, soon = i + reserve < slots ? i + reserve : i + reserve - slots;
    // where more come than the window can hold, some are left out, so that none leaves it early
    if (s.slow && s.now - s.taken[soon] < o.window * s.scale && taken - s.filled < o.fast * s.scale) return;
    s.taken[i] = taken, s.heard[i] = heard;
    for (int k = 0; k < numbers; ++k) s.value[k][i] = s.newest[k];
    s.next = i + 1 == slots ? 0 : i + 1;
    s.filled = taken;
  }

  // the hand has not moved since the last sample: those that did not come, or looked alike
  SUPPLE_FN void fill(double heard) {
    const double step = s.slow ? s.interval : o.fast, first = s.now - slots * step;
    if (!(s.filled > first)) s.filled = first;
    for (int i = 0; i < slots && s.filled + step <= s.now; ++i) push(s.filled + step, heard);
  }

  // the hand has always been where it is
  SUPPLE_FN void forget() {
    s.filled = s.changed = s.now - 1e3;
    fill(s.filled);
    s.shifting = 0;
  }

  // The parabola through a window, `lag` before `at`: what each sample counts for it. False where too few are there.
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
    if (!(whole > 1e-9 * s0 * s0 * s0)) return false;
    const Wide k0(c0 / whole), k1(c1 / whole), k2(c2 / whole);
    for (int i = 0; i < packs; ++i) w[i] = w[i] * (k0 + x[i] * (k1 + x[i] * k2));
    return true;
  }

  // What is read: through the wide window, but never farther than a tremor from what a narrow one reads, since a hand
  // may be quicker than the wide one follows.
  SUPPLE_FN bool fit(double at, double *v) const {
    Wide wide[packs], slim[packs];
    if (!weigh(at, o.window, o.rise, wide)) return false;
    const bool both = weigh(at, o.narrow * o.window, o.narrow * o.rise, slim);
    double quick[numbers], d[6] = {};
    for (int k = 0; k < numbers; ++k) {
      const Wide base(s.newest[k]);
      Wide a(0.0), b(0.0);
      for (int i = 0; i < packs; ++i) {
        const Wide away = load(s.value[k] + width * i) - base;
        a = a + wide[i] * away, b = b + slim[i] * away;
      }
      v[k] = s.newest[k] + sum(a), quick[k] = s.newest[k] + sum(b);
    }
    if (!both) return true;
    for (int i = 0; i < 3; ++i) d[i] = quick[i] - v[i];
    for (int i = 3; i < numbers; ++i) d[3] += 4 * (quick[i] - v[i]) * (quick[i] - v[i]);
    d[3] = std::sqrt(d[3]);
    const double far = size(d) / o.tremor, share = 1 - 1 / std::sqrt(std::sqrt(1 + far * far * (far * far)));
    for (int i = 0; i < numbers; ++i) v[i] += share * (quick[i] - v[i]);
    return true;
  }

  double behind() const { return o.lag * lesser(1.0, s.scale); }

  // what samples at this distance from each other want of lag and window
  double wanted_scale() const { return s.interval < o.fast ? s.interval / o.fast : larger(1.0, s.interval / o.slow); }

  // Time without a sample after which the hand is taken to be at rest: one may be lost, or two where the hand is seen
  // to move, and the next may be late.
  SUPPLE_FLAT double patience() const { return (size(s.velocity) > o.moving ? 3 : 2) * s.interval + lesser(s.interval, 0.009); }

  // A sample's distance in time from the last tells how they are sent.
  SUPPLE_FLAT void watch(double gap, bool regular) {
    if (regular) {
      if (s.doubt > 0) --s.doubt;
    } else if (gap < o.rest) {
      // two in ten ticks are too many; one in eleven keeps the doubt alive
      s.doubt = s.doubt > most_doubt - 10 ? most_doubt : s.doubt + 10;
    }
    if (!(gap < o.rest)) return;
    // a long gap may also be a loss or a rest, so it counts less
    const double share = s.count < 10 ? 1.0 / ++s.count : 0.1;
    s.interval += (gap < 2.5 * s.interval ? share : 0.2 * share) * (gap - s.interval);
  }

  // a difference that is there now, and its speed, and fades from now on
  SUPPLE_FLAT void fade(const double *away, const double *speed, double time) {
    for (int i = 0; i < 6; ++i) s.shift[i] = away[i], s.shift_speed[i] = speed ? speed[i] : 0;
    s.shifting = s.fading = time;
  }

  SUPPLE_FN void begin(const double *goal, bool known, double stamp) {
    std::memcpy(s.goal, goal, sizeof s.goal);
    keep(goal, s.newest);
    std::memcpy(s.shown, s.newest, sizeof s.shown);
    s.now = s.quiet = 0, s.scale = 1, s.interval = 2 * o.fast;
    s.next = s.count = s.ticks = s.doubt = 0;
    s.sure = s.waiting = s.slow = s.frozen = false, s.started = s.still = true;
    s.timed = known, s.stamp = stamp, s.offset = -stamp;
    forget();
    for (int i = 0; i < 6; ++i) s.velocity[i] = 0;
  }

  // from now on through the window, starting from what was shown
  SUPPLE_FN void slow_down(double dt) {
    s.slow = s.sure = true, s.still = false, s.scale = 1, s.interval = 2 * o.fast, s.count = 2;
    s.doubt = most_doubt;
    double v[numbers], away[6];
    if (!fit(s.now - dt, v)) return;
    normalize(v);
    difference(v, s.shown, away);
    fade(away, nullptr, o.blend);
  }

  // from now on as it comes; `before` and `way`: the sample before the newest, and how far it is from there
  SUPPLE_FN void speed_up(const double *before, const double *way, double dt) {
    s.slow = false;
    double away[6], speed[6];
    difference(before, s.shown, away);
    for (int i = 0; i < 6; ++i) speed[i] = s.velocity[i] - way[i] / dt;
    fade(away, speed, o.blend);
  }

  // from what was shown to the newest sample, as if it had always been there
  SUPPLE_FN void settle() {
    double away[6];
    difference(s.newest, s.shown, away);
    forget();
    fade(away, s.velocity, o.stop);
  }

  // A sample is overdue: a hand that had slowed down rests; one that moved is stopped where it was seen last.
  SUPPLE_FN void miss(double dt) {
    if (s.frozen || s.still || size(s.velocity) <= o.moving) return fill(s.now - dt);
    s.frozen = true;
    settle();
  }

  // Whether this is a new sample; if so, when it was taken and how long after the last.
  SUPPLE_FLAT bool listen(bool differs, bool known, double stamp, double &taken, double &gap) {
    const bool later = known && s.timed && stamp > s.stamp, earlier = known && s.timed && stamp < s.stamp;
    const bool anew = known && (!s.timed || (earlier && s.stamp - stamp >= o.restart));
    if (later) {
      gap = stamp - s.stamp;
      s.offset = lesser(s.offset + o.drift * s.quiet, s.now - stamp);
      taken = clip(stamp + s.offset, s.now - o.window, s.now);
    }
    if (anew) s.offset = s.now - stamp;
    if (later || anew) s.timed = true, s.stamp = stamp;
    return later || (differs && (anew || !earlier));
  }

  // the newest sample as it is kept: of the two quaternions of a rotation, the one nearer to the last
  SUPPLE_FN void refresh() {
    double v[numbers], along = 0;
    keep(s.goal, v);
    for (int i = 3; i < numbers; ++i) along += v[i] * s.newest[i];
    const double sign = along < 0 && !o.pointing ? -1 : 1;
    for (int i = 0; i < numbers; ++i) s.newest[i] = i < 3 ? v[i] : sign * v[i];
  }

  // Takes a new sample in, `way` from the last. Returns whether it jumped.
  SUPPLE_FLAT bool accept(const double *goal, double taken, double gap, double dt, const double *way) {
    const bool was_slow = s.slow, regular = s.ticks == 1 && magnitude(gap - dt) <= 0.05 * dt;
    const double far = size(way);
    double before[numbers];
    if (was_slow || !regular || !s.sure || s.shifting > 0) {
      refresh();
      if (s.still) std::memcpy(s.shown, s.newest, sizeof s.shown);
      // where nothing came for long, the hand rested
      if (!was_slow && s.now - dt - s.filled > 2 * o.fast) fill(s.now - dt);
      std::memcpy(before, s.newest, sizeof before);
    }
    std::memcpy(s.goal, goal, sizeof s.goal);
    if (far > nothing) s.changed = s.now;
    watch(gap, regular);
    const bool is_slow = was_slow || s.doubt >= too_much_doubt;
    // a hand at rest left it between two samples, whenever the last one was seen
    const double most = size(s.velocity) > o.moving ? patience() : 1.5 * s.interval;
    const double time = was_slow ? clip(gap, s.interval, most) : is_slow ? lesser(gap, 0.04) : dt;
    const bool jumped = !(far <= o.jump * time);
    // a step that is only a slow hand's first is no place to start anew
    const bool anew = jumped && (is_slow || !(far <= o.jump * larger(dt, 0.04)));
    if (anew || was_slow || !regular || s.shifting > 0 || s.now - s.filled >= 0.9 * o.fast) {
      refresh();
      if (anew) forget();
      else push(taken, s.now - dt);
    }
    s.quiet = 0, s.ticks = 0;
    if (jumped) s.shifting = 0;
    else if (s.frozen && far > nothing) settle();
    else if (is_slow && !was_slow) slow_down(dt);
    else if (s.slow && s.doubt == 0) speed_up(before, way, dt);
    s.frozen = false;
    if (regular) s.sure = true;
    return jumped;
  }

  // Where the command is, in v, if it is not just the newest sample.
  SUPPLE_FLAT bool read(double dt, double *v, double &lag) {
    bool other = false;
    if (s.slow) {
      s.scale += dt * clip(2 * (wanted_scale() - s.scale), -o.stretch, o.stretch);
      // once all samples of the window are alike there is nothing to fit
      if (s.now - s.changed < o.window * s.scale + o.rest) other = fit(s.now, v);
      lag = behind();
    }
    if (s.shifting > 0) s.shifting -= dt;
    if (s.shifting > 0) {
      if (!other) std::memcpy(v, s.newest, sizeof s.newest);
      const double u = 1 - s.shifting / s.fading, left = 1 - soften(u);
      const double slope = s.fading * u * (1 - u * u * (6 - u * (8 - 3 * u)));
      double d[6];
      for (int i = 0; i < 6; ++i) d[i] = left * s.shift[i] + slope * s.shift_speed[i];
      move(v, d);
      lag = behind() * (s.slow ? 1 - left : left);
      other = true;
    }
    if (other) normalize(v);
    return other;
  }

  // what twelve numbers are: all of them numbers (below 2^100: a goal so far is none), and unlike the newest sample
  SUPPLE_FLAT void look(const double *goal, bool &good, bool &differs) const {
    constexpr long long exponent = 0x7ff0000000000000, too_large = 0x4630000000000000;
    long long unlike = 0, wrong = 0;
    for (int i = 0; i < 12; ++i) {
      const long long a = bits(goal[i]);
      unlike |= a ^ bits(s.goal[i]);
      wrong |= o.pointing && i > 2 && i < 9 ? 0 : (a & exponent) >= too_large;
    }
    good = wrong == 0, differs = good && unlike != 0;
  }

  SUPPLE_FN void step(const double *goal, bool known, double stamp, double dt, Command &out) {
    for (int i = 0; i < 6; ++i) out.moved[i] = out.acceleration[i] = 0;
    out.jumped = false, out.lag = 0;
    known = known && stamp - stamp == 0;
    bool good, differs;
    look(goal, good, differs);
    // a tick without time brings nothing
    const bool ticks = dt > 1e-9 && dt < 1e6;
    if (!ticks) dt = 0;
    if (s.started && !ticks) good = differs = false;
    if (!s.started) {
      if (good) begin(goal, known, stamp);
      std::memcpy(out.goal, goal, sizeof out.goal);
      return;
    }
    s.now += dt, s.quiet += dt, ++s.ticks;

    double gap = s.quiet, taken = s.now - 0.5 * dt, way[6] = {}, v[numbers];
    if (differs) way_between(s.goal, goal, way);
    const bool moves = differs && !(size(way) <= nothing);
    if (good && listen(moves, known, stamp, taken, gap)) {
      std::memcpy(out.goal, s.goal, sizeof out.goal);
      out.jumped = accept(goal, taken, gap, dt, way);
      // the first that moves: whether each tick brings a sample will be seen at the next
      s.waiting = !s.sure && moves && !out.jumped && !s.waiting;
      if (s.waiting) return;
    } else {
      if (moves) std::memset(way, 0, sizeof way); // too old
      else if (differs) std::memcpy(s.goal, goal, sizeof s.goal);
      if (s.waiting) slow_down(dt);
      else if (s.slow && s.quiet > patience()) miss(dt);
      s.waiting = false;
    }
    const bool other = !out.jumped && read(dt, v, out.lag);
    if (other) {
      show(v, out.goal);
      if (s.still && s.ticks > 0) std::memcpy(s.shown, s.newest, sizeof s.shown);
      difference(s.shown, v, out.moved);
    } else {
      std::memcpy(out.goal, s.goal, sizeof out.goal);
      if (s.still && !out.jumped) std::memcpy(out.moved, way, sizeof way);
      else if (!out.jumped) refresh(), difference(s.shown, s.newest, out.moved);
    }
    s.still = !other;
    if (other) std::memcpy(s.shown, v, sizeof v);
    for (int i = 0; i < 6 && ticks; ++i) {
      const double speed = out.moved[i] / dt;
      if (!out.jumped) out.acceleration[i] = (speed - s.velocity[i]) / dt;
      s.velocity[i] = speed;
    }
  }
};

// One tick: the newest frame that is known (twelve numbers, as a goal), with the sender's own time where it is stamped,
// on any clock. Frames and stamps that are no numbers, or older than what came before, are ignored.
SUPPLE_FN void estimate(CommandState &state, const double *goal, bool stamped, double stamp, double dt, const CommandOptions &options, Command &out) {
  CommandReader{state, options}.step(goal, stamped, stamp, dt, out);
}

} // namespace SUPPLE_ISA
} // namespace supple
