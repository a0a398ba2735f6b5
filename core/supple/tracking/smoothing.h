// A low-pass of a command: as slow as the caller asks, and slower while the command trembles more than the
// joints can follow.
//
// The filter is y'' = w^2 (c - y) - 2 w y', critically damped: it never amplifies, and it is 2/w late. Tremor
// is a command that stays where it is, and whose feed-forward again and again, in turning directions, asks
// joints for more than their acceleration limits. Then w falls until it asks for less, and rises again when
// the tremor ends. A command that moves away from the filter is no tremor, and ends it: farther than a
// little, or than about as far as it swings.
#pragma once
#include "supple/tracking/reading.h"

namespace supple {
inline namespace SUPPLE_ISA {

// the speed w of the filter that is late by `smooth` seconds, or where it is off
SUPPLE_FLAT double largest_filter_speed(const CommandOptions &o) {
  return o.smooth > 0 ? 2 / o.smooth : o.filter_off;
}

// Whether the command goes to and fro by more than a small swing.
SUPPLE_FLAT bool swings(const CommandState &s, const CommandOptions &o) {
  return swing_is_known(s, o) && s.swing.steady < 0.5 && s.swing.sample_energy > squared(o.small_swing);
}

// How far a command may be from its low-pass and still tremble: a little, or about as far as it swings.
SUPPLE_FLAT double tremor_reach(const CommandState &s, const CommandOptions &o) {
  const double swing = swings(s, o) ? (1 - s.swing.steady) * std::sqrt(s.swing.sample_energy) : 0;
  return larger(o.tremor_distance, o.tremor_swing * swing);
}

// Counts how often a demand beyond the limits turned by more than a right angle lately, while the command
// stayed where it was; true where that is tremor.
SUPPLE_FN bool watch_tremor(CommandFilter &f, const CommandOptions &o, const Command &command, double clock,
                            double reach) {
  double value[value_size], displacement[6], product = 0;
  if (weighted_norm(o, command.acceleration) < o.tremor_acceleration)
    return false; // in steady motion the acceleration is rounding, which turns at random
  goal_to_value(o, command.goal, value);
  value_difference(o, f.value, value, displacement);
  const double distance = weighted_norm(o, displacement);
  if (clock - f.last_reversal > o.tremor_memory || distance > reach)
    f.reversals = 0;
  for (int i = 0; i < 6; ++i) {
    const double weight = i < 3 ? o.position_weight : o.rotation_weight;
    product += weight * weight * command.acceleration[i] * f.last_acceleration[i];
  }
  if (f.reversals == 0) {
    std::memcpy(f.value, value, sizeof value);
    f.first_reversal = clock;
  }
  if (f.reversals > 0 && !(product < 0))
    return false;
  f.reversals += 1;
  f.last_reversal = clock;
  std::memcpy(f.last_acceleration, command.acceleration, sizeof f.last_acceleration);
  return f.reversals > o.tremor_reversals && distance < o.tremor_speed * (clock - f.first_reversal);
}

// Starts the filter at the last output of the command. A command that trembles does not move on, so its
// averaged velocity starts at 0: that of the moment would count as moving on, and end the filter.
SUPPLE_FN void begin_filter(CommandFilter &f, const CommandOptions &o, const Command &command, double dt) {
  double back[6];
  for (int i = 0; i < 6; ++i) {
    back[i] = -command.displacement[i];
    f.velocity[i] = command.displacement[i] / dt - command.acceleration[i] * dt;
    f.mean_velocity[i] = f.velocity[i];
    f.slow_velocity[i] = 0;
  }
  goal_to_value(o, command.goal, f.value);
  add_difference(o, back, f.value);
  normalize_value(f.value);
  f.speed = lesser(o.filter_start, largest_filter_speed(o));
  f.demand = f.rest_time = f.reversals = 0;
  f.active = true;
}

// Adapts the speed w to the largest demand lately: the filter's acceleration grows with w^2. A command that
// moves away is no tremor. Once a command has rested for `smooth`, w grows by e in each such time: what the
// filter gives becomes no faster by that, and it ends soon.
SUPPLE_FN void adapt_filter(CommandFilter &f, const CommandOptions &o, const Command &command, double demand,
                            double distance, double reach, double dt) {
  bool rests = true;
  for (int i = 0; i < 6; ++i) {
    rests = rests && command.displacement[i] == 0;
    f.slow_velocity[i] += dt / (dt + o.tremor_average) * (f.velocity[i] - f.slow_velocity[i]);
  }
  f.rest_time = rests ? f.rest_time + dt : 0;
  if (o.smooth > 0 && f.rest_time > o.smooth) { // it ends: an exponential would go on for 15 times the delay
    f.speed = lesser(o.filter_off, f.speed * std::exp(lesser(dt / o.smooth, 0.5)));
    return;
  }
  f.speed = lesser(f.speed, largest_filter_speed(o));
  if (o.smooth > 0 && f.speed >= largest_filter_speed(o) && !(demand > o.tremor_begin))
    return;
  const bool moves = distance > 0.5 * reach ||
                     weighted_norm(o, f.slow_velocity) > o.tremor_speed * reach / o.tremor_distance;
  f.demand = larger(demand, f.demand * larger(0.0, 1 - dt / o.demand_memory));
  const double ratio = f.demand > 1e-3 ? std::log(f.demand / o.tremor_demand) : -6;
  const double rate = rests || moves ? o.filter_end
                      : ratio > 0    ? -o.filter_attack * ratio
                                     : o.filter_release * lesser(1.0, -ratio);
  const double factor = std::exp(clip(rate * dt, -0.5, 0.5));
  const double speed = clip(f.speed * factor, o.filter_slowest, largest_filter_speed(o));
  f.demand *= lesser(1.0, squared(speed / f.speed));
  f.speed = speed;
}

// Moves the filter by one tick towards the command, which is `away`, and puts what it gives in the command's
// place. With e = c - y, the command's velocity v and z = e - 2 v / w: z(t) = (z + (z' + w z) t) exp(-w t).
SUPPLE_FN void filter_command(CommandFilter &f, const CommandOptions &o, const double *away, double distance,
                              double reach, double dt, Command &command) {
  const double ratio = squared(distance / reach);
  const double w = f.speed * (o.smooth > 0 ? 1 : 1 + ratio * ratio), left = std::exp(-w * dt);
  double step[6];
  bool still = distance < no_motion;
  for (int i = 0; i < 6; ++i) {
    const double v = command.displacement[i] / dt, late = 2 * v / w;
    const double z = away[i] - command.displacement[i] - late, rate = v - f.velocity[i], slope = rate + w * z;
    still = still && v == 0;
    step[i] = away[i] - (z + slope * dt) * left - late;
    f.velocity[i] = v - (rate - w * slope * dt) * left;
  }
  command.lag += 2 / w;
  if (still) { // at rest it gives the command's own bits
    f.active = o.smooth > 0;
    goal_to_value(o, command.goal, f.value);
    for (int i = 0; i < 6; ++i)
      f.velocity[i] = step[i] = 0;
  } else {
    add_difference(o, step, f.value);
    normalize_value(f.value);
    value_to_goal(o, f.value, command.goal, command.goal);
    f.active = o.smooth > 0 || f.speed < o.filter_off;
  }
  for (int i = 0; i < 6; ++i) {
    command.displacement[i] = step[i];
    command.acceleration[i] = (step[i] / dt - f.mean_velocity[i]) / dt;
    f.mean_velocity[i] = step[i] / dt;
  }
}

// The low-pass of a command that was read. `demand`: the acceleration that the last tick's feed-forward asked
// of a joint, over its limit.
SUPPLE_FLAT void smooth_command(CommandState &s, const CommandOptions &o, double demand, double dt,
                                Command &command) {
  CommandFilter &f = s.filter;
  const double reach = tremor_reach(s, o);
  if (!f.active) {
    // a wide window lets little tremor through
    const bool smooth = s.windowed && s.scale > 0.9 && !swings(s, o);
    const bool quiet = !(demand > o.tremor_begin) || smooth || command.jumped;
    if (!(o.smooth > 0) && (quiet || !watch_tremor(f, o, command, s.clock, reach)))
      return;
    begin_filter(f, o, command, dt);
  }
  double value[value_size], away[6];
  goal_to_value(o, command.goal, value);
  if (command.jumped) {
    std::memcpy(f.value, value, sizeof value);
    for (int i = 0; i < 6; ++i)
      f.velocity[i] = f.mean_velocity[i] = f.slow_velocity[i] = 0;
    return;
  }
  value_difference(o, f.value, value, away);
  const double distance = weighted_norm(o, away);
  adapt_filter(f, o, command, demand, distance, reach, dt);
  filter_command(f, o, away, distance, reach, dt, command);
}

} // namespace SUPPLE_ISA
} // namespace supple
