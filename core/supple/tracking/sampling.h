// How the samples of a command come: whether a goal is a new sample, when it was taken, and how often they
// come.
#pragma once
#include "supple/tracking/value.h"

namespace supple {
inline namespace SUPPLE_ISA {

// of CommandState::doubt: samples go through the window from this on, and its largest value
constexpr int doubt_limit = 20, largest_doubt = 60;

// s without a sample after which the command is taken to be at rest: one may be lost, or two where it moves,
// and the next may be late.
SUPPLE_FLAT double silence_limit(const CommandState &s, const CommandOptions &o) {
  return (weighted_norm(o, s.velocity) > o.moving_speed ? 3 : 2) * s.interval + lesser(s.interval, 0.009);
}

// Learns from the gap before a sample how samples are sent.
SUPPLE_FLAT void learn_interval(CommandState &s, const CommandOptions &o, double gap, bool every_tick) {
  s.every_tick_count = every_tick ? s.every_tick_count + (s.every_tick_count < largest_doubt) : 0;
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
  s.mean_gap += lesser(0.2, gap / o.gap_time) * (gap - s.mean_gap);
  s.interval += (gap < 2.5 * s.interval ? share : 0.2 * share) * (gap - s.interval);
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

} // namespace SUPPLE_ISA
} // namespace supple
