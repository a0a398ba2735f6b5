// The reading: the pose that is estimated from the window of a slow command. It is the parabola while the
// command moves on, and the mean line while it swings.
//
// The parabola has little lag, since it is evaluated near the newest samples, far from the middle of its
// window. So it extends a motion, and makes a swing of 1 to 7 Hz up to 2.6 times as large. The mean line has
// more lag, and never makes a swing larger. The reading is mean line + share * extension, with extension =
// parabola - mean line. The share is 1 if the extension keeps its direction. If it swings to and fro, the
// share is the largest for which the energy of the reading (the mean square about its mean) is not more than
// that of the samples; and 0 if the samples swing little.
#pragma once
#include "supple/tracking/prediction.h"

namespace supple {
inline namespace SUPPLE_ISA {

// s: the age of what the mean line gives
SUPPLE_FLAT double line_lag(const CommandState &s, const CommandOptions &o) {
  return 0.5 * o.line_window * s.scale;
}

// 1 where samples come often enough to be extended, 0 where they do not
SUPPLE_FLAT double sampling_share(const CommandState &s, const CommandOptions &o) {
  return 1 - quintic_step(clip(2 * (s.mean_gap / o.longest_gap - 1), 0.0, 1.0));
}

// Starts at the newest sample, at rest.
SUPPLE_FN void begin_swing(CommandState &s, const CommandOptions &o) {
  CommandSwing &swing = s.swing;
  swing = {};
  swing.clock = s.clock;
  swing.share = sampling_share(s, o);
  swing.steady = 1;
  std::memcpy(swing.sample_mean, s.newest, sizeof swing.sample_mean);
  std::memcpy(swing.line_mean, s.newest, sizeof swing.line_mean);
  s.farthest_square = s.narrow_part = s.narrow_slope = 0;
}

// Moves a mean towards x by this share; `d` is then the difference of x from it.
SUPPLE_FLAT void move_mean(double *mean, const double *x, double share, double *d) {
  for (int k = 0; k < value_size; ++k) {
    mean[k] += share * (x[k] - mean[k]);
    d[k] = x[k] - mean[k];
  }
}

// The largest share x for which the energy of what is read, E(x) = L + 2 x P + x^2 Q, is allowed: L of the
// mean line, Q of the extension, P their product. E may exceed L by (S - L) (1 - c (S - L) / S) and by a
// small part of S, the energy of the samples. The part c is for swings so fast that few samples are in each:
// what is read of those is irregular, and its peaks are higher than its energy tells. With rare samples a
// swing of which the mean line loses much is extended less, for the same reason.
SUPPLE_FLAT double swinging_share(const CommandState &s, const CommandOptions &o) {
  const CommandSwing &swing = s.swing;
  const double lost = larger(0.0, swing.sample_energy - swing.line_energy);
  const double room = o.swing_margin * swing.sample_energy +
                      (lost > 0 ? lost * (1 - o.swing_caution * lost / swing.sample_energy) : 0);
  const double root = std::sqrt(squared(swing.product) + swing.extension_energy * room) + swing.product;
  const double share = room < root ? room / root : 1; // of x^2 Q + 2 x P = room
  const double rare =
      quintic_step(clip((s.mean_gap - o.swing_gap) / (o.swing_gap_end - o.swing_gap), 0.0, 1.0));
  const double fast = lost > 0 ? lesser(1.0, 1.5 * lost / swing.sample_energy) : 0;
  return share * (1 - rare * fast) *
         quintic_step(clip(std::sqrt(swing.sample_energy) / o.small_swing - 1, 0.0, 1.0));
}

// Moves the share of the extension by one tick.
SUPPLE_FN void adapt_share(CommandState &s, const CommandOptions &o, const double *line,
                           const double *extension, double dt) {
  CommandSwing &swing = s.swing;
  swing.clock = s.clock;
  double sample[value_size], a[value_size], b[value_size], c[value_size];
  read_line(s, s.clock, 2 * parabola_lag(s, o), sample);
  const double part = dt / (dt + o.swing_time), energy_part = dt / (dt + o.energy_time);
  move_mean(swing.sample_mean, sample, part, a);
  move_mean(swing.line_mean, line, part, b);
  move_mean(swing.extension_mean, extension, part, c);
  swing.sample_energy += energy_part * (value_product(o, a, a) - swing.sample_energy);
  swing.line_energy += energy_part * (value_product(o, b, b) - swing.line_energy);
  swing.extension_energy += energy_part * (value_product(o, c, c) - swing.extension_energy);
  swing.product += energy_part * (value_product(o, b, c) - swing.product);
  swing.extension_length +=
      part * (std::sqrt(value_product(o, extension, extension)) - swing.extension_length);
  // length of the mean extension over its mean length: 1 where it keeps its direction
  const double mean_length = std::sqrt(value_product(o, swing.extension_mean, swing.extension_mean));
  const double steadiness = mean_length < swing.extension_length ? mean_length / swing.extension_length : 1;
  const double steady = quintic_step(clip((steadiness - o.swinging) / (o.steady - o.swinging), 0.0, 1.0));
  swing.steady = steady;
  const double target = (steady + (1 - steady) * swinging_share(s, o)) * sampling_share(s, o);
  approach(target, o.share_rate, dt, swing.share, swing.share_velocity);
}

// Reads the window at the time `at`, and by how many seconds what is read is late; `dt` is 0 where the share
// does not adapt. False where too few samples are there.
SUPPLE_FN bool read_window(CommandState &s, const CommandOptions &o, double at, double dt, double *v,
                           double &lag) {
  Parabolas parabolas;
  double line[value_size], extension[value_size];
  lag = parabola_lag(s, o);
  if (!read_parabolas(s, o, at, lag, parabolas))
    return false;
  const double part = narrow_part(s, o, parabolas, dt);
  mix_parabolas(parabolas, part, v);
  read_line(s, at, o.line_window * s.scale, line);
  if (dt > 0) {
    for (int k = 0; k < value_size; ++k)
      extension[k] = v[k] - line[k];
    adapt_share(s, o, line, extension, dt);
  }
  if (o.predict > 0 && s.stamped)
    lag -= predict_motion(s, o, at, part, v);
  const double share = s.swing.share;
  for (int k = 0; k < value_size; ++k)
    v[k] = line[k] + share * (v[k] - line[k]);
  lag = line_lag(s, o) + share * (lag - line_lag(s, o));
  return true;
}

// Of another window another extension is read: of a swing it is taken to be large, until it is known.
SUPPLE_FN void doubt_extension(CommandSwing &swing) {
  const double most = 2 * (1 - swing.steady);
  swing.extension_energy = larger(swing.extension_energy, most * most * swing.sample_energy);
  swing.extension_length = larger(swing.extension_length, most * std::sqrt(swing.sample_energy));
}

// Whether a displacement is one of the swing: from peak to peak a sine is 2.8 times its rms.
SUPPLE_FLAT bool within_swing(const CommandState &s, double length) {
  return length <= 3.5 * std::sqrt(s.swing.sample_energy);
}

// Whether how the command swings was followed until lately.
SUPPLE_FLAT bool swing_is_known(const CommandState &s, const CommandOptions &o) {
  return s.clock - s.swing.clock < o.window;
}

// Follows how the command swings while it is read sample by sample, so that it is known when the window is
// entered.
SUPPLE_FN void follow_swing(CommandState &s, const CommandOptions &o) {
  double v[value_size], lag;
  s.scale = 1;
  if (!(s.clock - s.sample_time[s.next_slot] >= 0.5 * o.window)) // too short to be read
    s.swing.clock = s.clock;
  else if (!swing_is_known(s, o) || !read_window(s, o, s.clock, s.clock - s.swing.clock, v, lag))
    begin_swing(s, o);
}

} // namespace SUPPLE_ISA
} // namespace supple
