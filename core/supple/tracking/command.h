// The command as a smooth motion: its frame now, how far it moved in this tick, and by how much it lags the
// hand.
//
// A hand whose frame is new at every tick is passed on as it is. One that is sampled more slowly than the
// loop runs, or irregularly, is read through a window of its last samples: their best parabola (moving least
// squares), looked at a short, stated time ago. Each sample comes into the window and leaves it gently, so
// what is read moves without steps; a parabola through samples that are all alike is that very sample, so a
// hand at rest is read to the last bit. A wide window holds tremor back; where the hand is quicker, a
// narrower one leads.
#pragma once
#include "supple/tracking/window.h"

namespace supple {
inline namespace SUPPLE_ISA {

struct CommandReader : CommandWindow {
  // Time without a sample after which the hand is taken to be at rest: one may be lost, or two where the hand
  // is seen to move, and the next may be late.
  SUPPLE_FLAT double patience() const {
    return (size(s.velocity) > o.moving ? 3 : 2) * s.interval + lesser(s.interval, 0.009);
  }

  // A sample's distance in time from the last tells how they are sent.
  SUPPLE_FLAT void watch(double gap, bool regular) {
    if (regular) {
      if (s.doubt > 0)
        --s.doubt;
    } else if (gap < o.rest) {
      // two in ten ticks are too many; one in eleven keeps the doubt alive
      s.doubt = s.doubt > most_doubt - 10 ? most_doubt : s.doubt + 10;
    }
    if (!(gap < o.rest))
      return;
    // a long gap may also be a loss or a rest, so it counts less
    const double share = s.count < 10 ? 1.0 / ++s.count : 0.1;
    s.interval += (gap < 2.5 * s.interval ? share : 0.2 * share) * (gap - s.interval);
  }

  // a difference that is there now, and its speed, and fades from now on
  SUPPLE_FLAT void fade(const double *away, const double *speed, double time) {
    for (int i = 0; i < 6; ++i)
      s.shift[i] = away[i], s.shift_speed[i] = speed ? speed[i] : 0;
    s.shifting = s.fading = time;
  }

  SUPPLE_FN void begin(const double *goal, bool known, double stamp) {
    std::memcpy(s.goal, goal, sizeof s.goal);
    keep(goal, s.newest);
    std::memcpy(s.shown, s.newest, sizeof s.shown);
    s.now = s.quiet = 0, s.scale = 1, s.interval = 2 * o.fast;
    s.next = s.count = s.ticks = s.doubt = 0;
    s.sure = s.waiting = s.slow = s.frozen = false;
    s.started = s.still = true;
    s.timed = known;
    s.stamp = stamp;
    s.offset = -stamp;
    forget();
    for (int i = 0; i < 6; ++i)
      s.velocity[i] = 0;
  }

  // from now on through the window, starting from what was shown
  SUPPLE_FN void slow_down(double dt) {
    s.slow = s.sure = true;
    s.still = false;
    s.scale = 1;
    s.interval = 2 * o.fast;
    s.count = 2;
    s.doubt = most_doubt;
    double v[numbers], away[6];
    if (!fit(s.now - dt, v))
      return;
    normalize(v);
    difference(v, s.shown, away);
    fade(away, nullptr, o.blend);
  }

  // from now on as it comes; `before` and `way`: the sample before the newest, and how far it is from there
  SUPPLE_FN void speed_up(const double *before, const double *way, double dt) {
    s.slow = false;
    double away[6], speed[6];
    difference(before, s.shown, away);
    for (int i = 0; i < 6; ++i)
      speed[i] = s.velocity[i] - way[i] / dt;
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
    if (s.frozen || s.still || size(s.velocity) <= o.moving)
      return fill(s.now - dt);
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
    if (anew)
      s.offset = s.now - stamp;
    if (later || anew)
      s.timed = true, s.stamp = stamp;
    return later || (differs && (anew || !earlier));
  }

  // the newest sample as it is kept: of the two quaternions of a rotation, the one nearer to the last
  SUPPLE_FN void refresh() {
    double v[numbers], along = 0;
    keep(s.goal, v);
    for (int i = 3; i < numbers; ++i)
      along += v[i] * s.newest[i];
    const double sign = along < 0 && !o.pointing ? -1 : 1;
    for (int i = 0; i < numbers; ++i)
      s.newest[i] = i < 3 ? v[i] : sign * v[i];
  }

  // Takes a new sample in, `way` from the last. Returns whether it jumped.
  SUPPLE_FLAT bool accept(const double *goal, double taken, double gap, double dt, const double *way) {
    const bool was_slow = s.slow, regular = s.ticks == 1 && magnitude(gap - dt) <= 0.05 * dt;
    const double far = size(way);
    double before[numbers];
    if (was_slow || !regular || !s.sure || s.shifting > 0) {
      refresh();
      if (s.still)
        std::memcpy(s.shown, s.newest, sizeof s.shown);
      // where nothing came for long, the hand rested
      if (!was_slow && s.now - dt - s.filled > 2 * o.fast)
        fill(s.now - dt);
      std::memcpy(before, s.newest, sizeof before);
    }
    std::memcpy(s.goal, goal, sizeof s.goal);
    if (far > nothing)
      s.changed = s.now;
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
      if (anew)
        forget();
      else
        push(taken, s.now - dt);
    }
    s.quiet = 0;
    s.ticks = 0;
    if (jumped)
      s.shifting = 0;
    else if (s.frozen && far > nothing)
      settle();
    else if (is_slow && !was_slow)
      slow_down(dt);
    else if (s.slow && s.doubt == 0)
      speed_up(before, way, dt);
    s.frozen = false;
    if (regular)
      s.sure = true;
    return jumped;
  }

  // Where the command is, in v, if it is not just the newest sample.
  SUPPLE_FLAT bool read(double dt, double *v, double &lag) {
    bool other = false;
    if (s.slow) {
      s.scale += dt * clip(2 * (wanted_scale() - s.scale), -o.stretch, o.stretch);
      // once all samples of the window are alike there is nothing to fit
      if (s.now - s.changed < o.window * s.scale + o.rest)
        other = fit(s.now, v);
      lag = behind();
    }
    if (s.shifting > 0)
      s.shifting -= dt;
    if (s.shifting > 0) {
      if (!other)
        std::memcpy(v, s.newest, sizeof s.newest);
      const double u = 1 - s.shifting / s.fading, left = 1 - soften(u);
      const double slope = s.fading * u * (1 - u * u * (6 - u * (8 - 3 * u)));
      double d[6];
      for (int i = 0; i < 6; ++i)
        d[i] = left * s.shift[i] + slope * s.shift_speed[i];
      move(v, d);
      lag = behind() * (s.slow ? 1 - left : left);
      other = true;
    }
    if (other)
      normalize(v);
    return other;
  }

  // what twelve numbers are: all of them numbers (below 2^100: a goal so far is none), and unlike the newest
  // sample
  SUPPLE_FLAT void look(const double *goal, bool &good, bool &differs) const {
    constexpr long long exponent = 0x7ff0000000000000, too_large = 0x4630000000000000;
    long long unlike = 0, wrong = 0;
    for (int i = 0; i < 12; ++i) {
      const long long a = bits(goal[i]);
      unlike |= a ^ bits(s.goal[i]);
      wrong |= o.pointing && i > 2 && i < 9 ? 0 : (a & exponent) >= too_large;
    }
    good = wrong == 0;
    differs = good && unlike != 0;
  }

  SUPPLE_FN void step(const double *goal, bool known, double stamp, double dt, Command &out) {
    for (int i = 0; i < 6; ++i)
      out.moved[i] = out.acceleration[i] = 0;
    out.jumped = false;
    out.lag = 0;
    known = known && stamp - stamp == 0;
    bool good, differs;
    look(goal, good, differs);
    // a tick without time brings nothing
    const bool ticks = dt > 1e-9 && dt < 1e6;
    if (!ticks)
      dt = 0;
    if (s.started && !ticks)
      good = differs = false;
    if (!s.started) {
      if (good)
        begin(goal, known, stamp);
      std::memcpy(out.goal, goal, sizeof out.goal);
      return;
    }
    s.now += dt;
    s.quiet += dt;
    ++s.ticks;

    double gap = s.quiet, taken = s.now - 0.5 * dt, way[6] = {}, v[numbers];
    if (differs)
      way_between(s.goal, goal, way);
    const bool moves = differs && !(size(way) <= nothing);
    if (good && listen(moves, known, stamp, taken, gap)) {
      std::memcpy(out.goal, s.goal, sizeof out.goal);
      out.jumped = accept(goal, taken, gap, dt, way);
      // the first that moves: whether each tick brings a sample will be seen at the next
      s.waiting = !s.sure && moves && !out.jumped && !s.waiting;
      if (s.waiting)
        return;
    } else {
      if (moves)
        std::memset(way, 0, sizeof way); // too old
      else if (differs)
        std::memcpy(s.goal, goal, sizeof s.goal);
      if (s.waiting)
        slow_down(dt);
      else if (s.slow && s.quiet > patience())
        miss(dt);
      s.waiting = false;
    }
    const bool other = !out.jumped && read(dt, v, out.lag);
    if (other) {
      show(v, out.goal);
      if (s.still && s.ticks > 0)
        std::memcpy(s.shown, s.newest, sizeof s.shown);
      difference(s.shown, v, out.moved);
    } else {
      std::memcpy(out.goal, s.goal, sizeof out.goal);
      if (s.still && !out.jumped)
        std::memcpy(out.moved, way, sizeof way);
      else if (!out.jumped)
        refresh(), difference(s.shown, s.newest, out.moved);
    }
    s.still = !other;
    if (other)
      std::memcpy(s.shown, v, sizeof v);
    for (int i = 0; i < 6 && ticks; ++i) {
      const double speed = out.moved[i] / dt;
      if (!out.jumped)
        out.acceleration[i] = (speed - s.velocity[i]) / dt;
      s.velocity[i] = speed;
    }
  }
};

// One tick: the newest frame that is known (twelve numbers, as a goal), with the sender's own time where it
// is stamped, on any clock. Frames and stamps that are no numbers, or older than what came before, are
// ignored.
SUPPLE_FN void estimate(CommandState &state, const double *goal, bool stamped, double stamp, double dt,
                        const CommandOptions &options, Command &out) {
  CommandReader{{state, options}}.step(goal, stamped, stamp, dt, out);
}

} // namespace SUPPLE_ISA
} // namespace supple
