// A window of a command's last samples: the parabolas that fit them best, and their mean line.
#pragma once
#include "supple/tracking/value.h"

namespace supple {
inline namespace SUPPLE_ISA {

constexpr int window_slots = CommandState::slots;
// some slots of the window in a register
using Slots = Pack<double, native_width>;
constexpr int slot_packs = window_slots / native_width;

SUPPLE_FLAT Slots load_slots(const double *x) {
  Slots p;
  std::memcpy(&p, x, sizeof p);
  return p;
}
SUPPLE_FLAT double sum_slots(Slots x) {
  double total = 0;
  for (int i = 0; i < native_width; i += 2)
    total += get(x, i) + get(x, i + 1);
  return total;
}

// slots that are kept free of samples still in the window
constexpr int reserved_slots = 6;

// Puts the newest sample into the next slot of the window.
SUPPLE_FLAT void place_sample(CommandState &s, double sample_time, double received_time) {
  const int i = s.next_slot;
  s.sample_time[i] = sample_time;
  s.received_time[i] = received_time;
  for (int k = 0; k < value_size; ++k)
    s.value[k][i] = s.newest[k];
  s.next_slot = i + 1 == window_slots ? 0 : i + 1;
  s.last_sample = sample_time;
}

// The same where the window needs it: where more samples come than it can hold, some are left out, so that
// none leaves it early.
SUPPLE_FLAT void add_sample(CommandState &s, const CommandOptions &o, double sample_time,
                            double received_time) {
  const double oldest = s.sample_time[(s.next_slot + reserved_slots) % window_slots];
  const bool full = s.clock - oldest < o.window * s.scale || s.every_tick_count > reserved_slots;
  if ((s.windowed || s.mixing) && full && sample_time - s.last_sample < o.fast_interval * s.scale)
    return;
  place_sample(s, sample_time, received_time);
}

// The command rested since its last sample: repeats the newest one at the samples' interval until now, but no
// denser than the window can hold.
SUPPLE_FN void repeat_newest(CommandState &s, const CommandOptions &o, double received_time) {
  const double least = o.fast_interval * (s.windowed || s.mixing ? s.scale : 1),
               step = larger(least, s.interval), first = s.clock - window_slots * step;
  if (!(s.last_sample > first))
    s.last_sample = first;
  for (int i = 0; i < window_slots && s.last_sample + step <= s.clock; ++i)
    place_sample(s, s.last_sample + step, received_time);
}

// fills the window with the newest sample, as if the command had always been there
SUPPLE_FN void fill_window(CommandState &s, const CommandOptions &o) {
  s.last_sample = s.last_change = s.clock - 1e3;
  repeat_newest(s, o, s.last_sample);
  s.blend_left = 0;
}

// s: the age of what the parabola gives
SUPPLE_FLAT double parabola_lag(const CommandState &s, const CommandOptions &o) {
  return o.lag * lesser(1.0, s.scale);
}

// The weights of the samples of a window by their age, and the ages x in units of the window, less `lag`:
// (1 - age)^3, which rises with the time since the sample was received.
SUPPLE_FLAT void window_weights(const CommandState &s, double at, double window, double rise, double lag,
                                Slots *w, Slots *x) {
  const double per_window = 1 / (window * s.scale), per_rise = 1 / (rise * s.scale);
  const Slots zero(0.0), one(1.0), T(per_window), R(per_rise), here(at), x0(lag * per_window);
  for (int i = 0; i < slot_packs; ++i) {
    const Slots age = (here - load_slots(s.sample_time + native_width * i)) * T;
    const Slots known = (here - load_slots(s.received_time + native_width * i)) * R;
    const Slots left = larger(one - age, zero);
    w[i] = quintic_step(lesser(larger(known, zero), one)) * left * left * left;
    x[i] = x0 - age;
  }
}

// The weight of each sample in the parabola's value `lag` before `at`, by moving least squares: with weights
// w and moments m_k = sum w x^k, the value at x = 0 is the first row of the inverse of the moments' matrix.
// False where too few samples are there.
SUPPLE_FLAT bool parabola_weights(const CommandState &s, double at, double window, double rise, double lag,
                                  Slots *w) {
  const Slots zero(0.0);
  Slots x[slot_packs], m0 = zero, m1 = zero, m2 = zero, m3 = zero, m4 = zero;
  window_weights(s, at, window, rise, lag, w, x);
  for (int i = 0; i < slot_packs; ++i) {
    const Slots a = w[i] * x[i], b = a * x[i];
    m0 = m0 + w[i];
    m1 = m1 + a;
    m2 = m2 + b;
    m3 = m3 + b * x[i];
    m4 = m4 + b * (x[i] * x[i]);
  }
  const double s0 = sum_slots(m0), s1 = sum_slots(m1), s2 = sum_slots(m2), s3 = sum_slots(m3),
               s4 = sum_slots(m4);
  const double c0 = s2 * s4 - s3 * s3, c1 = s2 * s3 - s1 * s4, c2 = s1 * s3 - s2 * s2;
  const double determinant = s0 * c0 + s1 * c1 + s2 * c2;
  if (!(determinant > 1e-9 * s0 * s0 * s0))
    return false;
  const Slots k0(c0 / determinant), k1(c1 / determinant), k2(c2 / determinant);
  for (int i = 0; i < slot_packs; ++i)
    w[i] = w[i] * (k0 + x[i] * (k1 + x[i] * k2));
  return true;
}

// The value that weights give. It is summed as differences from the newest, so that equal samples give their
// own bits.
SUPPLE_FLAT void weighted_value(const CommandState &s, const Slots *w, double *v) {
  for (int k = 0; k < value_size; ++k) {
    const Slots base(s.newest[k]);
    Slots sum(0.0);
    for (int i = 0; i < slot_packs; ++i)
      sum = sum + w[i] * (load_slots(s.value[k] + native_width * i) - base);
    v[k] = s.newest[k] + sum_slots(sum);
  }
}

// The weights of the samples in their mean line, read at the middle of a window of `length` seconds: with
// weights (age left)^3 for ages and times left from 0 to 1, mean m and variance v of x = 1/2 - age, each
// weight times 1 + slope (x - m), slope = -m / v. The slope is kept, smoothly, below 1 / (1/2 + |m|): then no
// weight is negative, and what is read never leaves the range of the samples. False where no sample is in the
// window.
SUPPLE_FN bool line_weights(const CommandState &s, double at, double length, Slots *w) {
  const Slots zero(0.0), one(1.0), half(0.5), T(1 / length), here(at);
  Slots x[slot_packs], m0 = zero, m1 = zero, m2 = zero;
  for (int i = 0; i < slot_packs; ++i) {
    const Slots age = (here - load_slots(s.sample_time + native_width * i)) * T;
    const Slots known = (here - load_slots(s.received_time + native_width * i)) * T;
    const Slots a = lesser(larger(known, zero), one) * larger(one - age, zero);
    w[i] = a * a * a;
    x[i] = half - age;
    m0 = m0 + w[i];
    m1 = m1 + w[i] * x[i];
    m2 = m2 + w[i] * (x[i] * x[i]);
  }
  const double total = sum_slots(m0);
  if (!(total > 1e-9))
    return false;
  const double mean = sum_slots(m1) / total, variance = sum_slots(m2) / total - mean * mean;
  const double steepest = 1 / (0.5 + magnitude(mean));
  const double wanted = variance > 0 ? -mean / variance : 0;
  const double ratio = squared(squared(squared(wanted / steepest)));
  const double slope = ratio < 1e12 ? wanted / std::sqrt(std::sqrt(std::sqrt(1 + ratio)))
                       : wanted > 0 ? steepest
                                    : -steepest;
  const Slots k0((1 - slope * mean) / total), k1(slope / total);
  for (int i = 0; i < slot_packs; ++i)
    w[i] = w[i] * (k0 + x[i] * k1);
  return true;
}

// What the mean line gives; without samples in its window the newest.
SUPPLE_FN void read_line(const CommandState &s, double at, double length, double *v) {
  Slots w[slot_packs];
  if (line_weights(s, at, length, w))
    weighted_value(s, w, v);
  else
    std::memcpy(v, s.newest, sizeof s.newest);
}

// What the parabolas of a wide and of a narrow window give `lag` before `at`; where the narrow one has too
// few samples, they are equal. False where the wide one has too few.
struct Parabolas {
  double wide[value_size], narrow[value_size];
};
SUPPLE_FN bool read_parabolas(const CommandState &s, const CommandOptions &o, double at, double lag,
                              Parabolas &read) {
  Slots w[slot_packs];
  if (!parabola_weights(s, at, o.window, o.rise, lag, w))
    return false;
  weighted_value(s, w, read.wide);
  if (parabola_weights(s, at, o.narrow_share * o.window, o.narrow_share * o.rise, lag, w))
    weighted_value(s, w, read.narrow);
  else
    std::memcpy(read.narrow, read.wide, sizeof read.narrow);
  return true;
}

// Moves x, with its slope, towards a target by one tick, critically damped: with z = x - target,
// z(t) = (z + (z' + rate z) t) exp(-rate t).
SUPPLE_FLAT void approach(double target, double rate, double dt, double &x, double &slope) {
  const double left = std::exp(-rate * dt), z = x - target, drift = slope + rate * z;
  x = target + (z + drift * dt) * left;
  slope = (slope - rate * drift * dt) * left;
}

// The part of the narrow window in what is read: so that this is never farther than a tremor from it, since a
// command may be quicker than the wide one follows. It rises with the distance of the two, and falls slowly:
// else it would go to and fro with every turn of a swing, and what is read would accelerate much more than
// the hand.
SUPPLE_FLAT double narrow_part(CommandState &s, const CommandOptions &o, const Parabolas &read, double dt) {
  double d[value_size];
  for (int i = 0; i < value_size; ++i)
    d[i] = read.narrow[i] - read.wide[i];
  const double left = larger(0.0, 1 - dt / o.narrow_time);
  s.farthest_square = larger(value_product(o, d, d), s.farthest_square * left);
  const double ratio = s.farthest_square / squared(o.tremor);
  const double target = 1 - 1 / std::sqrt(std::sqrt(1 + ratio * ratio));
  approach(target, o.narrow_rate, dt, s.narrow_part, s.narrow_slope);
  return s.narrow_part;
}

SUPPLE_FLAT void mix_parabolas(const Parabolas &read, double part, double *v) {
  for (int i = 0; i < value_size; ++i)
    v[i] = read.wide[i] + part * (read.narrow[i] - read.wide[i]);
}

} // namespace SUPPLE_ISA
} // namespace supple
