// The command of a tick: what the request asks of each end effector, as a smooth motion.
//
// A command with a new sample at every tick is passed on as it is. One that is sampled more slowly or
// irregularly is read through a window of its last samples: their best parabola (moving least squares), a
// short, stated time ago. Each sample enters and leaves the window gently, so that what is read moves without
// steps; equal samples give their own bits, so that a command at rest is exact.
#pragma once
#include "supple/tracking/smoothing.h"

namespace supple {
inline namespace SUPPLE_ISA {

// of CommandState::doubt: samples go through the window from this on, and its largest value
constexpr int doubt_limit = 20, largest_doubt = 60;

// s: a longer tick is divided into equal pieces, none longer than the second
constexpr double longest_tick = 4.000001e-3, longest_piece = 2e-3;

SUPPLE_FLAT int piece_count(double dt) {
  return dt <= longest_tick ? 1 : int(std::ceil(dt / longest_piece - 1e-6));
}

// ---- state

// s without a sample after which the command is taken to be at rest: one may be lost, or two where it moves,
// and the next may be late.
SUPPLE_FLAT double silence_limit(const CommandState &s, const CommandOptions &o) {
  return (weighted_norm(o, s.velocity) > o.moving_speed ? 3 : 2) * s.interval + lesser(s.interval, 0.009);
}

// Learns from the gap before a sample how samples are sent.
SUPPLE_FLAT void learn_interval(CommandState &s, const CommandOptions &o, double gap, bool every_tick) {
  if (every_tick) {
    if (s.doubt > 0)
      --s.doubt;
  } else if (gap < o.rest_gap) {
    // two in ten ticks are too many; one in eleven keeps the doubt alive
    s.doubt = s.doubt > largest_doubt - 10 ? largest_doubt : s.doubt + 10;
  }
  if (!(gap < o.rest_gap))
    return;
  // a long gap may also be a lost sample or a rest, so it counts less
  const double share = s.interval_count < 10 ? 1.0 / ++s.interval_count : 0.1;
  s.interval += (gap < 2.5 * s.interval ? share : 0.2 * share) * (gap - s.interval);
}

// Begins to blend: a difference that is there now, with its velocity or null, fades within `time`.
SUPPLE_FLAT void begin_blend(CommandState &s, const double *difference, const double *velocity, double time) {
  for (int i = 0; i < 6; ++i) {
    s.blend[i] = difference[i];
    s.blend_velocity[i] = velocity ? velocity[i] : 0;
  }
  s.blend_left = s.blend_duration = time;
}

SUPPLE_FN void begin_command(CommandState &s, const CommandOptions &o, const double *goal, bool stamped,
                             double stamp) {
  s.clock = s.since_sample = 0;
  s.next_slot = s.interval_count = s.ticks_since_sample = s.doubt = 0;
  s.rate_known = s.waiting = s.windowed = s.stopped = s.divided = s.filter.active = false;
  s.filter.reversals = 0;
  for (double &v : s.velocity)
    v = 0;
  std::memcpy(s.goal, goal, sizeof s.goal);
  goal_to_value(o, goal, s.newest);
  std::memcpy(s.output, s.newest, sizeof s.output);
  s.scale = 1;
  s.interval = 2 * o.fast_interval;
  s.started = s.direct = true;
  s.stamped = stamped;
  s.stamp = stamp;
  s.clock_offset = -stamp;
  fill_window(s, o);
}

// From now on through the window, starting from the last output.
SUPPLE_FN void begin_window(CommandState &s, const CommandOptions &o, double dt) {
  s.windowed = s.rate_known = true;
  s.direct = false;
  s.scale = 1;
  s.interval = 2 * o.fast_interval;
  s.interval_count = 2;
  s.doubt = largest_doubt;
  double v[value_size], difference[6], lag;
  if (!fit_window(s, o, s.clock - dt, v, lag))
    return;
  normalize_value(v);
  value_difference(o, v, s.output, difference);
  begin_blend(s, difference, nullptr, o.blend_time);
}

// From now on sample by sample; `before` is the sample before the newest, `way` the difference between them.
SUPPLE_FN void end_window(CommandState &s, const CommandOptions &o, const double *before, const double *way,
                          double dt) {
  s.windowed = false;
  double difference[6], velocity[6];
  value_difference(o, before, s.output, difference);
  for (int i = 0; i < 6; ++i)
    velocity[i] = s.velocity[i] - way[i] / dt;
  begin_blend(s, difference, velocity, o.blend_time);
}

// From the last output to the newest sample, as if the command had always been there.
SUPPLE_FN void blend_to_newest(CommandState &s, const CommandOptions &o) {
  double difference[6];
  value_difference(o, s.newest, s.output, difference);
  fill_window(s, o);
  begin_blend(s, difference, s.velocity, o.stop_time);
}

// A sample is overdue: a command that had slowed down rests; one that moved is stopped at its newest sample.
SUPPLE_FN void miss_sample(CommandState &s, const CommandOptions &o, double dt) {
  if (s.stopped || s.direct || weighted_norm(o, s.velocity) <= o.moving_speed)
    return repeat_newest(s, o, s.clock - dt);
  s.stopped = true;
  blend_to_newest(s, o);
}

// the newest goal as a value: of the two quaternions of a rotation, the one nearer to the last
SUPPLE_FN void refresh_newest(CommandState &s, const CommandOptions &o) {
  double v[value_size], cosine = 0;
  goal_to_value(o, s.goal, v);
  for (int i = 3; i < value_size; ++i)
    cosine += v[i] * s.newest[i];
  const double sign = cosine < 0 && !o.has_direction ? -1 : 1;
  for (int i = 0; i < value_size; ++i)
    s.newest[i] = i < 3 ? v[i] : sign * v[i];
}

// ---- samples

struct SampleTiming {
  bool is_new;
  double sample_time; // on our clock
  double gap;         // s: since the last sample
};

// Whether a goal is a new sample, and when it was taken. Without a stamp a goal that moves is one; with
// stamps a later stamp is one, and an earlier is ignored unless the sender's clock was set anew.
SUPPLE_FLAT SampleTiming sample_timing(CommandState &s, const CommandOptions &o, bool moves, bool stamped,
                                       double stamp, double dt) {
  SampleTiming timing{false, s.clock - 0.5 * dt, s.since_sample};
  const bool later = stamped && s.stamped && stamp > s.stamp,
             earlier = stamped && s.stamped && stamp < s.stamp;
  const bool new_clock = stamped && (!s.stamped || (earlier && s.stamp - stamp >= o.clock_restart));
  if (later) {
    timing.gap = stamp - s.stamp;
    s.clock_offset = lesser(s.clock_offset + o.clock_drift * s.since_sample, s.clock - stamp);
    timing.sample_time = clip(stamp + s.clock_offset, s.clock - o.window, s.clock);
  }
  if (new_clock)
    s.clock_offset = s.clock - stamp;
  if (later || new_clock) {
    s.stamped = true;
    s.stamp = stamp;
  }
  timing.is_new = later || (moves && (new_clock || !earlier));
  return timing;
}

// Takes a new sample in, `way` from the last. Returns whether it jumped.
SUPPLE_FLAT bool accept_sample(CommandState &s, const CommandOptions &o, const double *goal,
                               const SampleTiming &timing, double dt, const double *way) {
  const bool was_windowed = s.windowed;
  const bool every_tick = s.ticks_since_sample == 1 && magnitude(timing.gap - dt) <= 0.05 * dt;
  const double length = weighted_norm(o, way);
  double before[value_size];
  if (was_windowed || !every_tick || !s.rate_known || s.blend_left > 0) {
    refresh_newest(s, o);
    if (s.direct)
      std::memcpy(s.output, s.newest, sizeof s.output);
    // where nothing came for long, the command rested
    if (!was_windowed && s.clock - dt - s.last_sample > 2 * o.fast_interval)
      repeat_newest(s, o, s.clock - dt);
    std::memcpy(before, s.newest, sizeof before);
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
  const bool jumped = !(length <= o.jump_speed * time);
  // a step that is only the first of a slowly sampled motion does not begin anew
  const bool anew = jumped && (windowed || !(length <= o.jump_speed * larger(dt, 0.04)));
  if (anew || was_windowed || !every_tick || s.blend_left > 0 ||
      s.clock - s.last_sample >= 0.9 * o.fast_interval) {
    refresh_newest(s, o);
    if (anew)
      fill_window(s, o);
    else
      add_sample(s, o, timing.sample_time, s.clock - dt);
  }
  s.since_sample = 0;
  s.ticks_since_sample = 0;
  if (jumped)
    s.blend_left = 0;
  else if (s.stopped && length > no_motion)
    blend_to_newest(s, o);
  else if (windowed && !was_windowed)
    begin_window(s, o, dt);
  else if (s.windowed && s.doubt == 0)
    end_window(s, o, before, way, dt);
  s.stopped = false;
  s.rate_known = s.rate_known || every_tick;
  return jumped;
}

// Reads the command into v where it is not just the newest sample; returns whether it is not. With u the time
// of a blend from 0 to 1, its difference fades as 1 - quintic_step(u), and its velocity as
// u (1 - u)^3 (1 + 3u) = u - 6u^3 + 8u^4 - 3u^5.
SUPPLE_FLAT bool read_command(CommandState &s, const CommandOptions &o, double dt, double *v, double &lag) {
  bool filtered = false;
  if (s.windowed) {
    const double target = s.interval < o.fast_interval ? s.interval / o.fast_interval
                                                       : larger(1.0, s.interval / o.slow_interval);
    s.scale += dt * clip(2 * (target - s.scale), -o.stretch_rate, o.stretch_rate);
    // once all samples of the window are equal there is nothing to fit
    lag = window_lag(s, o);
    if (s.clock - s.last_change < o.window * s.scale + o.rest_gap)
      filtered = fit_window(s, o, s.clock, v, lag);
  }
  if (s.blend_left > 0)
    s.blend_left -= dt;
  if (s.blend_left > 0) {
    if (!filtered)
      std::memcpy(v, s.newest, sizeof s.newest);
    const double u = 1 - s.blend_left / s.blend_duration, left = 1 - quintic_step(u);
    const double slope = s.blend_duration * u * (1 - u * u * (6 - u * (8 - 3 * u)));
    double d[6];
    for (int i = 0; i < 6; ++i)
      d[i] = left * s.blend[i] + slope * s.blend_velocity[i];
    add_difference(o, d, v);
    lag = s.windowed ? lag * (1 - left) : window_lag(s, o) * left;
    filtered = true;
  }
  if (filtered)
    normalize_value(v);
  return filtered;
}

// Whether twelve numbers are finite (below 2^100: a goal beyond is none), and differ from the newest goal.
struct GoalCheck {
  bool finite, differs;
};
SUPPLE_FLAT GoalCheck check_goal(const CommandState &s, const CommandOptions &o, const double *goal) {
  constexpr long long exponent = 0x7ff0000000000000, too_large = 0x4630000000000000;
  long long unlike = 0, wrong = 0;
  for (int i = 0; i < 12; ++i) {
    const long long a = bits(goal[i]);
    unlike |= a ^ bits(s.goal[i]);
    wrong |= o.has_direction && i > 2 && i < 9 ? 0 : (a & exponent) >= too_large;
  }
  return {wrong == 0, wrong == 0 && unlike != 0};
}

// Writes where the command is and how far it moved since the last output. `way` is the newest sample's.
SUPPLE_FLAT void write_command(CommandState &s, const CommandOptions &o, const double *way, double dt,
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
      std::memcpy(out.displacement, way, sizeof out.displacement);
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
  double way[6] = {};
  if (check.differs)
    goal_difference(o, s.goal, goal, way);
  const bool moves = check.differs && !(weighted_norm(o, way) <= no_motion);
  SampleTiming timing{};
  if (check.finite)
    timing = sample_timing(s, o, moves, stamped, stamp, dt);
  if (timing.is_new) {
    std::memcpy(out.goal, s.goal, sizeof out.goal);
    out.jumped = accept_sample(s, o, goal, timing, dt, way);
    // the first that moves: the next tick tells whether each brings a sample, if it is not too far away
    s.waiting = !s.rate_known && moves && !out.jumped && !s.waiting && dt <= o.longest_wait;
    if (s.waiting)
      return;
  } else {
    if (moves)
      std::memset(way, 0, sizeof way); // too old
    else if (check.differs)
      std::memcpy(s.goal, goal, sizeof s.goal);
    if (s.waiting)
      begin_window(s, o, dt);
    else if (s.windowed && s.since_sample > silence_limit(s, o))
      miss_sample(s, o, dt);
    s.waiting = false;
  }
  write_command(s, o, way, dt, out);
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
  if (piece_count(dt) > 1) // begin_path does the rest
    return;
  s.last_dt = dt;
  s.divided = false;
}

// ---- long ticks

// How the command moves in a divided tick that ends at `end`. It starts with the velocity that it had; at its
// end it has that of the parabola through the last three outputs, v + (v - v') dt / (dt + dt'), with v and v'
// the mean velocities of this tick and of the last; at rest where it did not move.
SUPPLE_FN void begin_path(CommandState &s, const Command &end, double dt, CommandPath &path) {
  path.end = end;
  path.moves = false;
  bool rests = true;
  for (int i = 0; i < 6; ++i)
    rests = rests && end.displacement[i] == 0;
  for (int i = 0; i < 6; ++i) {
    const double v = end.displacement[i] / dt, change = end.acceleration[i] * dt;
    path.start_velocity[i] = end.jumped ? 0 : s.divided ? s.end_velocity[i] : v - change;
    path.end_velocity[i] = rests || end.jumped ? 0 : v + change * dt / (dt + s.last_dt);
    path.moves = path.moves || path.start_velocity[i] != 0 || path.end_velocity[i] != 0;
    s.end_velocity[i] = path.end_velocity[i];
  }
  s.divided = true;
  s.last_dt = dt;
}

// Moves the command to u of the tick, from wherever it was: the cubic
// x(u) = u (1 - u)^2 dt v0 + u^2 (3 - 2u) way - u^2 (1 - u) dt v1, from the end back by way - x(u).
SUPPLE_FN void move_along(const CommandOptions &o, const CommandPath &path, double u, double dt,
                          Command &out) {
  double last[12];
  std::memcpy(last, out.goal, sizeof last);
  out = path.end;
  if (!path.moves || path.end.jumped) {
    for (int i = 0; i < 6; ++i)
      out.displacement[i] = 0;
    return;
  }
  if (u < 1) {
    double back[6], value[value_size];
    for (int i = 0; i < 6; ++i) {
      const double way = path.end.displacement[i];
      back[i] = u * (1 - u) * dt * ((1 - u) * path.start_velocity[i] - u * path.end_velocity[i]) -
                (1 - u) * (1 - u) * (1 + 2 * u) * way;
    }
    goal_to_value(o, path.end.goal, value);
    add_difference(o, back, value);
    value_to_goal(o, value, path.end.goal, out.goal);
  }
  goal_difference(o, last, out.goal, out.displacement);
}

// ---- requests

// a rotation with a smaller defect keeps its bits
constexpr double exact_rotation = 1e-6;
// m; a position farther away cannot be meant
constexpr double farthest_position = 1e12;

// Reads the twelve numbers of a goal: what no row asks may be anything, even not a number, and becomes the
// identity; a rotation that is nearly one becomes the nearest. False where the goal cannot be meant.
SUPPLE_FN bool read_tracked_goal(const Target &target, const double *requested, double *goal) {
  const double identity[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
  std::memcpy(goal, identity, sizeof identity);
  for (int i = 9; i < 12 && target.has_position; ++i) {
    goal[i] = requested[i];
    if (!(std::fabs(goal[i]) <= farthest_position))
      return false;
  }
  if (target.has_rotation || target.has_direction)
    std::memcpy(goal, requested, 9 * sizeof(double));
  if (target.has_direction) {
    const double square = dot(load3(goal), load3(goal));
    return square > 1e-12 && square < 1e300;
  }
  if (!target.has_rotation)
    return true;
  double gram[9];
  const double off = rotation_defect(goal, 3, gram);
  double finite = 0;
  for (int i = 0; i < 9; ++i)
    finite += gram[i] * 0;
  if (!(finite == 0 && off <= mendable_rotation))
    return false;
  if (off > exact_rotation)
    mend_rotation(goal, 3, gram, off);
  return dot(load3(goal), cross(load3(goal + 3), load3(goal + 6))) > 0;
}

SUPPLE_FN void write_goal(const Frame<double> &f, double *goal) {
  const double all[12] = {f.r.x.x, f.r.y.x, f.r.z.x, f.r.x.y, f.r.y.y, f.r.z.y,
                          f.r.x.z, f.r.y.z, f.r.z.z, f.p.x,   f.p.y,   f.p.z};
  std::memcpy(goal, all, sizeof all);
}

// How far a goal may be ahead of its end effector while a twist moves it, weighted: about 2 cm and 3 degrees
// of an arm of a metre.
constexpr double largest_twist_lead = 0.05;

// Moves a goal by a twist. The goal waits where the end effector cannot follow, so that it is not far ahead
// when the twist turns back. `goal` is where it was, if `active`; else it begins at the end effector.
SUPPLE_FN void move_by_twist(const Target &target, const Frame<double> &tip, const double *twist, double dt,
                             bool active, double scale, double *goal, Command &command) {
  Frame<double> at = active ? goal_frame(goal) : tip;
  const Vec<double> p = at.p - tip.p, o = log_rotation(at.r * transpose(tip.r));
  const double all[6] = {p.x, p.y, p.z, o.x, o.y, o.z};
  double square = 0;
  for (int i = 0; i < target.rows; ++i) {
    const int component = target.component[i];
    const double w = scale * target.weight[i];
    square += component < across_1 ? w * all[component] * (w * all[component]) : w * w * dot(o, o) / 2;
  }
  if (square > largest_twist_lead * largest_twist_lead) {
    const double share = largest_twist_lead / root(square);
    at = {exp_rotation(share * o) * tip.r, tip.p + share * p};
  }
  for (int i = 0; i < 6; ++i)
    command.displacement[i] = twist[i] * dt;
  at = {exp_rotation(load3(command.displacement + 3)) * at.r, at.p + load3(command.displacement)};
  at.r = rotation(quaternion(at.r)); // rounding must not add up
  write_goal(at, goal);
  std::memcpy(command.goal, goal, sizeof command.goal);
  if (target.has_direction)
    store3(pointing_axis(target, at), command.goal);
}

// The commands of a request for twists; false where one is not finite.
SUPPLE_FN bool read_twists(const Tracking &t, const TickRequest &request, const ArmMemory &memory,
                           Axis<double> *axes, Command *commands) {
  double sum = 0;
  for (int i = 0; i < 6 * t.problem.target_count; ++i)
    sum += request.twist[i] * 0;
  if (sum != 0)
    return false;
  for (int k = 0; k < t.problem.target_count; ++k) {
    const Target &target = t.problem.targets[k];
    const Frame<double> tip = end_effector(target, memory.q, axes);
    move_by_twist(target, tip, request.twist + 6 * k, request.dt, memory.scalars->twist_active,
                  t.weight_scale, memory.twist_goals + 12 * k, commands[k]);
    memory.command_states[k].started = false;
  }
  memory.scalars->twist_active = true;
  return true;
}

// The commands of a tick; false where the request has none that can be meant. `axes` is scratch.
SUPPLE_FN bool read_request(const Tracking &t, const CommandOptions *options, const TickRequest &request,
                            const ArmMemory &memory, Axis<double> *axes, Command *commands) {
  const int targets = t.problem.target_count;
  for (int k = 0; k < targets; ++k) {
    commands[k].lag = 0;
    commands[k].jumped = false;
  }
  if (request.twist)
    return read_twists(t, request, memory, axes, commands);
  memory.scalars->twist_active = false;
  for (int k = 0; k < targets; ++k)
    if (!read_tracked_goal(t.problem.targets[k], request.goals + 12 * k, commands[k].goal))
      return false;
  for (int k = 0; k < targets; ++k) {
    double goal[12];
    std::memcpy(goal, commands[k].goal, sizeof goal);
    if (request.external) { // as it is, at rest
      commands[k] = {};
      std::memcpy(commands[k].goal, request.goals + 12 * k, sizeof goal);
      if (t.problem.targets[k].has_rotation)
        std::memcpy(commands[k].goal, goal, 9 * sizeof(double));
      continue;
    }
    estimate_command(memory.command_states[k], goal, request.stamped, request.stamp, request.dt, options[k],
                     commands[k]);
    smooth_command(memory.command_states[k], options[k], memory.scalars->demand, request.dt, commands[k]);
  }
  return true;
}

} // namespace SUPPLE_ISA
} // namespace supple
