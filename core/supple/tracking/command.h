// The command of a tick: what the request asks of each end effector, as a smooth motion.
//
// A command with a new sample at every tick is passed on as it is. One that is sampled more slowly or
// irregularly is read through a window of its last samples, a short, stated time ago. Each sample enters and
// leaves the window gently, so that what is read moves without steps; equal samples give their own bits, so
// that a command at rest is exact. From one way of reading to the other the difference fades.
#pragma once
#include "supple/tracking/long_tick.h"
#include "supple/tracking/reading.h"
#include "supple/tracking/sampling.h"

namespace supple {
inline namespace SUPPLE_ISA {

// ---- from one way of reading to another

// Begins to blend: a difference that is there now, with its velocity or null, fades within `time`.
SUPPLE_FLAT void begin_blend(CommandState &s, const double *difference, const double *velocity, double time) {
  for (int i = 0; i < 6; ++i) {
    s.blend[i] = difference[i];
    s.blend_velocity[i] = velocity ? velocity[i] : 0;
  }
  s.blend_left = s.blend_duration = time;
  s.held = 0;
  s.mixing = false;
}

SUPPLE_FN void begin_command(CommandState &s, const CommandOptions &o, const double *goal, bool stamped,
                             double stamp) {
  s.clock = s.since_sample = 0;
  s.next_slot = s.interval_count = s.ticks_since_sample = s.every_tick_count = s.doubt = 0;
  s.rate_known = s.waiting = s.windowed = s.mixing = s.stopped = s.divided = s.filter.active = false;
  s.filter.reversals = 0;
  for (double &v : s.velocity)
    v = 0;
  std::memcpy(s.goal, goal, sizeof s.goal);
  goal_to_value(o, goal, s.newest);
  std::memcpy(s.output, s.newest, sizeof s.output);
  s.scale = 1;
  s.interval = s.mean_gap = 2 * o.fast_interval;
  s.started = s.direct = true;
  s.stamped = stamped;
  s.stamp = stamp;
  s.clock_offset = -stamp;
  fill_window(s, o);
  begin_swing(s, o);
}

// From now on through the window, starting from the last output, and how the command swings is known if it
// moved before.
SUPPLE_FN void begin_window(CommandState &s, const CommandOptions &o, double dt) {
  s.windowed = s.rate_known = true;
  s.direct = false;
  if (s.mixing && s.blend_left > 0) { // it is still being left
    s.doubt = largest_doubt;
    s.blend_left = s.blend_duration - s.blend_left;
    return;
  }
  s.scale = 1;
  s.interval = s.mean_gap = 2 * o.fast_interval;
  s.interval_count = 2;
  s.doubt = largest_doubt;
  double difference[6], lag;
  if (swing_is_known(s, o))
    doubt_extension(s.swing);
  else
    begin_swing(s, o);
  if (!read_window(s, o, s.clock - dt, 0, s.entry, lag))
    return;
  normalize_value(s.entry);
  value_difference(o, s.entry, s.output, difference);
  begin_blend(s, difference, nullptr, o.blend_time);
  s.held = 1 - squared(squared(s.swing.steady));
}

// From now on sample by sample: both readings are mixed, from one to the other. Neither swings more than the
// hand, so no mixture does.
SUPPLE_FN void end_window(CommandState &s, const CommandOptions &o) {
  s.blend_left = s.mixing && s.blend_left > 0 ? s.blend_duration - s.blend_left : o.blend_time;
  s.blend_duration = o.blend_time;
  s.windowed = false;
  s.mixing = true;
}

// From the last output to the newest sample, as if the command had always been there.
SUPPLE_FN void blend_to_newest(CommandState &s, const CommandOptions &o) {
  double difference[6];
  value_difference(o, s.newest, s.output, difference);
  fill_window(s, o);
  begin_blend(s, difference, s.velocity, o.stop_time);
}

// A sample is overdue: a command that had slowed down, or whose motion is not extended, rests; one that moved
// on is stopped at its newest sample.
SUPPLE_FN void miss_sample(CommandState &s, const CommandOptions &o, double dt) {
  const bool extended = s.swing.share > 0.5 && s.swing.steady > 0.5;
  if (s.stopped || s.direct || !extended || weighted_norm(o, s.velocity) <= o.moving_speed)
    return repeat_newest(s, o, s.clock - dt);
  s.stopped = true;
  blend_to_newest(s, o);
}

// ---- samples

// Takes a new sample in, `displacement` from the last. Returns whether it jumped.
SUPPLE_FLAT bool accept_sample(CommandState &s, const CommandOptions &o, const double *goal,
                               const SampleTiming &timing, double dt, const double *displacement) {
  const bool was_windowed = s.windowed;
  const bool every_tick = s.ticks_since_sample == 1 && magnitude(timing.gap - dt) <= 0.05 * dt;
  const double length = weighted_norm(o, displacement);
  if (was_windowed || !every_tick || !s.rate_known || s.blend_left > 0) {
    refresh_newest(s, o);
    if (s.direct)
      std::memcpy(s.output, s.newest, sizeof s.output);
    // where nothing came for long, the command rested
    if (!was_windowed && s.clock - dt - s.last_sample > larger(2 * o.fast_interval, silence_limit(s, o)))
      repeat_newest(s, o, s.clock - dt);
  }
  std::memcpy(s.goal, goal, sizeof s.goal);
  if (length > no_motion)
    s.last_change = s.clock;
  learn_interval(s, o, timing.gap, every_tick);
  const bool windowed = was_windowed || s.doubt >= doubt_limit;
  // a command at rest left it between two samples, whenever the last one was received
  const bool moving = weighted_norm(o, s.velocity) > o.moving_speed;
  const double longest = moving ? silence_limit(s, o) : 1.5 * s.interval;
  const double time = was_windowed ? clip(timing.gap, s.interval, longest)
                      : windowed   ? lesser(timing.gap, 0.04)
                                   : dt;
  const bool jumped = !(length <= o.jump_speed * time) && !(windowed && within_swing(s, length));
  // a step that is only the first of a slowly sampled motion does not begin anew
  const bool anew = jumped && (windowed || !(length <= o.jump_speed * larger(dt, 0.04)));
  if (anew || was_windowed || !every_tick || s.blend_left > 0 ||
      s.clock - s.last_sample >= 0.9 * o.fast_interval) {
    refresh_newest(s, o);
    if (anew) {
      fill_window(s, o);
      begin_swing(s, o);
    } else {
      add_sample(s, o, timing.sample_time, s.clock - dt);
      if (!was_windowed && !s.mixing)
        follow_swing(s, o);
    }
  }
  s.since_sample = 0;
  s.ticks_since_sample = 0;
  if (jumped)
    s.blend_left = 0;
  else if (s.stopped && length > no_motion)
    blend_to_newest(s, o);
  else if (windowed && !was_windowed)
    begin_window(s, o, dt);
  else if (s.windowed && s.doubt == 0 && (s.mixing || !(s.blend_left > 0)))
    end_window(s, o);
  s.stopped = false;
  s.rate_known = s.rate_known || every_tick;
  return jumped;
}

// ---- reading

// Reads the command into v where it is not just the newest sample; returns whether it is not. With u the time
// of a blend from 0 to 1, its difference fades as 1 - quintic_step(u), and its velocity as
// u (1 - u)^3 (1 + 3u) = u - 6u^3 + 8u^4 - 3u^5.
SUPPLE_FLAT bool read_command(CommandState &s, const CommandOptions &o, double dt, double *v, double &lag) {
  bool filtered = false;
  s.mixing = s.mixing && s.blend_left > dt;
  if (s.windowed || s.mixing) {
    const double target = s.interval < o.fast_interval ? s.interval / o.fast_interval
                                                       : larger(1.0, s.interval / o.slow_interval);
    s.scale += dt * clip(2 * (target - s.scale), -o.stretch_rate, o.stretch_rate);
    // once all samples of the window are equal there is nothing to fit
    if (s.clock - s.last_change < o.window * s.scale + o.rest_gap)
      filtered = read_window(s, o, s.clock, dt, v, lag);
    else
      begin_swing(s, o);
  }
  if (s.blend_left > 0)
    s.blend_left -= dt;
  if (s.blend_left > 0) {
    if (!filtered)
      std::memcpy(v, s.newest, sizeof s.newest);
    const double u = 1 - s.blend_left / s.blend_duration, left = 1 - quintic_step(u);
    if (s.mixing) {
      const double share = s.windowed ? 1 - left : left;
      for (int k = 0; k < value_size; ++k)
        v[k] = s.newest[k] + share * (v[k] - s.newest[k]);
      normalize_value(v);
      lag *= share;
      return true;
    }
    for (int k = 0; k < value_size; ++k)
      v[k] -= left * s.held * (v[k] - s.entry[k]);
    const double slope = s.blend_duration * u * (1 - u * u * (6 - u * (8 - 3 * u)));
    double d[6];
    for (int i = 0; i < 6; ++i)
      d[i] = left * s.blend[i] + slope * s.blend_velocity[i];
    add_difference(o, d, v);
    lag = s.windowed ? lag * (1 - left) : parabola_lag(s, o) * left;
    filtered = true;
  }
  if (filtered)
    normalize_value(v);
  return filtered;
}

// Writes where the command is and how far it moved since the last output. `sampled` is the newest sample's
// displacement.
SUPPLE_FLAT void write_command(CommandState &s, const CommandOptions &o, const double *sampled, double dt,
                               Command &out) {
  double v[value_size];
  const bool filtered = !out.jumped && read_command(s, o, dt, v, out.lag);
  if (filtered) {
    value_to_goal(o, v, s.goal, out.goal);
    if (s.direct && s.ticks_since_sample > 0)
      std::memcpy(s.output, s.newest, sizeof s.output);
    value_difference(o, s.output, v, out.displacement);
    std::memcpy(s.output, v, sizeof v);
  } else {
    std::memcpy(out.goal, s.goal, sizeof out.goal);
    if (s.direct && !out.jumped) {
      std::memcpy(out.displacement, sampled, sizeof out.displacement);
    } else if (!out.jumped) {
      refresh_newest(s, o);
      value_difference(o, s.output, s.newest, out.displacement);
    }
  }
  s.direct = !filtered;
}

// Takes the goal of this tick in and writes the command. The first motion waits a tick, to learn how the
// command is sampled.
SUPPLE_FLAT void advance_command(CommandState &s, const CommandOptions &o, const double *goal,
                                 GoalCheck check, bool stamped, double stamp, double dt, Command &out) {
  double sampled[6] = {};
  if (check.differs)
    goal_difference(o, s.goal, goal, sampled);
  const bool moves = check.differs && !(weighted_norm(o, sampled) <= no_motion);
  SampleTiming timing{};
  if (check.finite)
    timing = sample_timing(s, o, moves, stamped, stamp, dt);
  if (timing.is_new) {
    std::memcpy(out.goal, s.goal, sizeof out.goal);
    out.jumped = accept_sample(s, o, goal, timing, dt, sampled);
    // the first that moves: the next tick tells whether each brings a sample, if it is not too far away
    s.waiting = !s.rate_known && moves && !out.jumped && !s.waiting && dt <= o.longest_wait;
    if (s.waiting)
      return;
  } else {
    if (moves)
      std::memset(sampled, 0, sizeof sampled); // too old
    else if (check.differs)
      std::memcpy(s.goal, goal, sizeof s.goal);
    if (s.waiting)
      begin_window(s, o, dt);
    else if (s.windowed && s.since_sample > silence_limit(s, o))
      miss_sample(s, o, dt);
    s.waiting = false;
  }
  write_command(s, o, sampled, dt, out);
  for (int i = 0; i < 6 && dt > 0; ++i) {
    const double speed = out.displacement[i] / dt;
    if (!out.jumped)
      out.acceleration[i] = (speed - s.velocity[i]) / dt;
    s.velocity[i] = speed;
  }
}

// One tick of a command: the newest goal that is known (twelve numbers), with the sender's time where it is
// stamped, on any clock. Goals and stamps that are not finite, or older than what came before, are ignored.
SUPPLE_FN void estimate_command(CommandState &s, const double *goal, bool stamped, double stamp, double dt,
                                const CommandOptions &options, Command &out) {
  for (int i = 0; i < 6; ++i)
    out.displacement[i] = out.acceleration[i] = 0;
  out.jumped = false;
  out.lag = 0;
  stamped = stamped && stamp - stamp == 0;
  GoalCheck check = check_goal(s, options, goal);
  if (!s.started) {
    if (check.finite)
      begin_command(s, options, goal, stamped, stamp);
    std::memcpy(out.goal, goal, sizeof out.goal);
    return;
  }
  if (!(dt > 1e-9 && dt < 1e6)) { // a tick without time brings nothing
    dt = 0;
    check = {false, false};
  }
  s.clock += dt;
  s.since_sample += dt;
  ++s.ticks_since_sample;
  advance_command(s, options, goal, check, stamped, stamp, dt, out);
  if (is_divided(dt)) // begin_path does the rest
    return;
  s.last_dt = dt;
  s.divided = false;
}

} // namespace SUPPLE_ISA
} // namespace supple
