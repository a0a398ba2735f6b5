// A window of a command's last samples and the parabola that fits them best.
#pragma once
#include "supple/math/simd.h"
#include "supple/task/goal.h"
#include "supple/tracking/types.h"

namespace supple {
inline namespace SUPPLE_ISA {

// A sample is kept as its value, seven numbers: position, then a quaternion w x y z (or a direction and 0).
constexpr int value_size = CommandState::numbers, window_slots = CommandState::slots;
// some slots of the window in a register
using Slots = Pack<double, native_width>;
constexpr int slot_packs = window_slots / native_width;
// a shorter weighted difference is rounding, and no motion
constexpr double no_motion = 1e-12;

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

// 10 x^3 - 15 x^4 + 6 x^5: from 0 to 1 on [0, 1], flat to the second derivative at both ends
template <class T>
SUPPLE_FLAT T quintic_step(T x) {
  return x * x * x * (splat<T>(10) + x * (splat<T>(6) * x - splat<T>(15)));
}

// asin(x)/x from x^2 below asin_limit
constexpr double asin_limit = 1e-3;
SUPPLE_FLAT double asin_ratio(double square) {
  return 1 + square * (1.0 / 6 + square * (3.0 / 40 + square * (15.0 / 336 + square * (105.0 / 3456))));
}

// ---- values

// To length 1; what has none, as of a matrix that is no rotation, becomes the identity.
SUPPLE_FLAT void normalize_value(double *v) {
  const double square = v[3] * v[3] + v[4] * v[4] + v[5] * v[5] + v[6] * v[6];
  const bool good = square > 1e-3 && square < 1e3;
  const double factor = 1 / std::sqrt(good ? square : 1);
  for (int i = 3; i < value_size; ++i)
    v[i] = good ? v[i] * factor : double(i == 3);
}

SUPPLE_FLAT Quat<double> value_quaternion(const double *v) { return {v[3], v[4], v[5], v[6]}; }
SUPPLE_FLAT void store_quaternion(Quat<double> q, double *v) {
  v[3] = q.w;
  v[4] = q.x;
  v[5] = q.y;
  v[6] = q.z;
}

// the value of a goal's twelve numbers
SUPPLE_FLAT void goal_to_value(const CommandOptions &options, const double *goal, double *v) {
  store3(load3(goal + 9), v);
  if (options.has_direction) {
    const double largest = larger(magnitude(goal[0]), larger(magnitude(goal[1]), magnitude(goal[2])));
    for (int i = 0; i < 3; ++i)
      v[3 + i] = goal[i] / (largest > 0 ? largest : 1);
    v[6] = 0;
  } else {
    store_quaternion(quaternion(goal_frame(goal).r), v);
  }
  normalize_value(v);
}

// The goal of a value; what a direction does not say is as in the newest goal.
SUPPLE_FLAT void value_to_goal(const CommandOptions &options, const double *v, const double *newest_goal,
                               double *goal) {
  store3(load3(v), goal + 9);
  if (options.has_direction) {
    store3(load3(v + 3), goal);
    for (int i = 3; i < 9; ++i)
      goal[i] = newest_goal[i];
    return;
  }
  const Rot<double> r = rotation(value_quaternion(v));
  const double rows[9] = {r.x.x, r.y.x, r.z.x, r.x.y, r.y.y, r.z.y, r.x.z, r.y.z, r.z.z};
  std::memcpy(goal, rows, sizeof rows);
}

// weighted length of a difference d: metres, then radians
SUPPLE_FLAT double weighted_norm(const CommandOptions &o, const double *d) {
  return std::sqrt(o.position_weight * o.position_weight * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) +
                   o.rotation_weight * o.rotation_weight * (d[3] * d[3] + d[4] * d[4] + d[5] * d[5]));
}

// the difference from one value to another, in world axes
SUPPLE_FLAT void value_difference(const CommandOptions &options, const double *from, const double *to,
                                  double *d) {
  store3(load3(to) - load3(from), d);
  if (options.has_direction)
    return store3(rotation_between(load3(from + 3), load3(to + 3)), d + 3);
  Quat<double> q = value_quaternion(to) * conjugate(value_quaternion(from));
  if (q.w < 0)
    q = {-q.w, -q.x, -q.y, -q.z};
  const double square = q.x * q.x + q.y * q.y + q.z * q.z;
  store3(square < asin_limit ? 2 * asin_ratio(square) * Vec<double>{q.x, q.y, q.z} : log_quaternion(q),
         d + 3);
}

// The same from goal to goal, without a quaternion where the rotation is short: half the sum of the cross
// products of the columns is sin(angle) about the axis.
SUPPLE_FLAT void goal_difference(const CommandOptions &options, const double *from, const double *to,
                                 double *d) {
  store3(load3(to + 9) - load3(from + 9), d);
  if (options.has_direction)
    return store3(rotation_between(load3(from), load3(to)), d + 3);
  Vec<double> sine{0, 0, 0};
  double trace = 0;
  for (int i = 0; i < 3; ++i) {
    const Vec<double> a{from[i], from[3 + i], from[6 + i]}, b{to[i], to[3 + i], to[6 + i]};
    sine = sine + 0.5 * cross(a, b);
    trace += dot(a, b);
  }
  const double square = dot(sine, sine);
  if (square < asin_limit && trace > 2)
    return store3(asin_ratio(square) * sine, d + 3);
  double a[value_size], b[value_size], whole[6];
  goal_to_value(options, from, a);
  goal_to_value(options, to, b);
  value_difference(options, a, b, whole);
  store3(load3(whole + 3), d + 3);
}

// moves a value by a difference
SUPPLE_FLAT void add_difference(const CommandOptions &options, const double *d, double *v) {
  store3(load3(v) + load3(d), v);
  const Quat<double> turn = exp_quaternion(load3(d + 3));
  if (options.has_direction)
    store3(rotation(turn) * load3(v + 3), v + 3);
  else
    store_quaternion(turn * value_quaternion(v), v);
}

// ---- the window

// slots that are kept free of samples still in the window
constexpr int reserved_slots = 6;

// Puts the newest sample into the window. Where more samples come than the window can hold, some are left
// out, so that none leaves it early.
SUPPLE_FLAT void add_sample(CommandState &s, const CommandOptions &o, double sample_time,
                            double received_time) {
  const int i = s.next_slot;
  const double oldest = s.sample_time[(i + reserved_slots) % window_slots];
  if (s.windowed && s.clock - oldest < o.window * s.scale &&
      sample_time - s.last_sample < o.fast_interval * s.scale)
    return;
  s.sample_time[i] = sample_time;
  s.received_time[i] = received_time;
  for (int k = 0; k < value_size; ++k)
    s.value[k][i] = s.newest[k];
  s.next_slot = i + 1 == window_slots ? 0 : i + 1;
  s.last_sample = sample_time;
}

// The command rested since its last sample: repeats the newest one at the samples' interval until now.
SUPPLE_FN void repeat_newest(CommandState &s, const CommandOptions &o, double received_time) {
  const double step = s.windowed ? s.interval : o.fast_interval, first = s.clock - window_slots * step;
  if (!(s.last_sample > first))
    s.last_sample = first;
  for (int i = 0; i < window_slots && s.last_sample + step <= s.clock; ++i)
    add_sample(s, o, s.last_sample + step, received_time);
}

// fills the window with the newest sample, as if the command had always been there
SUPPLE_FN void fill_window(CommandState &s, const CommandOptions &o) {
  s.last_sample = s.last_change = s.clock - 1e3;
  repeat_newest(s, o, s.last_sample);
  s.blend_left = 0;
}

// s: the age of what the window gives
SUPPLE_FLAT double window_lag(const CommandState &s, const CommandOptions &o) {
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

// The values that a wide and a narrow window read `lag` before `at`; where the narrow one has too few
// samples, they are equal. False where the wide one has too few.
struct WindowFit {
  double wide[value_size], narrow[value_size];
};
SUPPLE_FN bool fit_windows(const CommandState &s, const CommandOptions &o, double at, double lag,
                           WindowFit &fit) {
  Slots w[slot_packs];
  if (!parabola_weights(s, at, o.window, o.rise, lag, w))
    return false;
  weighted_value(s, w, fit.wide);
  if (parabola_weights(s, at, o.narrow_share * o.window, o.narrow_share * o.rise, lag, w))
    weighted_value(s, w, fit.narrow);
  else
    std::memcpy(fit.narrow, fit.wide, sizeof fit.narrow);
  return true;
}

// The part of the narrow window in what is read: so that this is never farther than a tremor from it, since a
// command may be quicker than the wide one follows.
SUPPLE_FLAT double narrow_part(const CommandOptions &o, const WindowFit &fit) {
  double d[6] = {};
  for (int i = 0; i < 3; ++i)
    d[i] = fit.narrow[i] - fit.wide[i];
  for (int i = 3; i < value_size; ++i) // an angle is twice the difference of quaternions
    d[3] += 4 * (fit.narrow[i] - fit.wide[i]) * (fit.narrow[i] - fit.wide[i]);
  d[3] = std::sqrt(d[3]);
  const double ratio = weighted_norm(o, d) / o.tremor;
  return 1 - 1 / std::sqrt(std::sqrt(1 + ratio * ratio * (ratio * ratio)));
}

SUPPLE_FLAT void mix_windows(const WindowFit &fit, double part, double *v) {
  for (int i = 0; i < value_size; ++i)
    v[i] = fit.wide[i] + part * (fit.narrow[i] - fit.wide[i]);
}

// ---- prediction

// The way of the newest samples in `predict` seconds: the slope of their best line times this time.
SUPPLE_FN void recent_way(const CommandState &s, const CommandOptions &o, double at, double *way) {
  Slots w[slot_packs], x[slot_packs], m0(0.0), m1(0.0), m2(0.0);
  window_weights(s, at, o.recent_window, o.recent_rise, 0, w, x);
  for (int i = 0; i < slot_packs; ++i) {
    m0 = m0 + w[i];
    m1 = m1 + w[i] * x[i];
    m2 = m2 + w[i] * x[i] * x[i];
  }
  const double s0 = sum_slots(m0), s1 = sum_slots(m1), s2 = sum_slots(m2), determinant = s0 * s2 - s1 * s1;
  for (int i = 0; i < 6; ++i)
    way[i] = 0;
  if (!(determinant > 1e-6 * s0 * s0)) // too few
    return;
  const Slots k0(-s1 / determinant), k1(s0 / determinant);
  for (int i = 0; i < slot_packs; ++i)
    w[i] = w[i] * (k0 + x[i] * k1);
  double v[value_size];
  weighted_value(s, w, v);
  const double windows = o.predict / (o.recent_window * s.scale);
  for (int i = 0; i < value_size; ++i)
    v[i] = s.newest[i] + windows * (v[i] - s.newest[i]);
  normalize_value(v);
  value_difference(o, s.newest, v, way);
}

// Moves v, which was read with this part of the narrow window, on along the parabolas by `predict` seconds,
// and returns by how many it did. It goes less far where the newest samples do not go the same way as fast,
// as when the hand stops or turns, and never farther than `predict_distance`.
SUPPLE_FN double predict_motion(const CommandState &s, const CommandOptions &o, double at, double part,
                                double *v) {
  WindowFit ahead;
  if (!fit_windows(s, o, at, window_lag(s, o) - o.predict, ahead))
    return 0;
  double goal[value_size], way[6], recent[6], product = 0;
  mix_windows(ahead, part, goal);
  normalize_value(goal);
  normalize_value(v);
  value_difference(o, v, goal, way);
  recent_way(s, o, at, recent);
  for (int i = 0; i < 6; ++i)
    product += squared(i < 3 ? o.position_weight : o.rotation_weight) * way[i] * recent[i];
  const double length = weighted_norm(o, way);
  const double squares = length * length + squared(weighted_norm(o, recent));
  // 1 where both are equal, 0 where one is none or they are at right angles
  const double agreement = 2 * product / (squares + 2 * squared(o.predict_speed * o.predict));
  const double share = quintic_step(clip(agreement, 0.0, 1.0));
  const double ratio = squared(share * length / o.predict_distance);
  const double moved = share / std::sqrt(std::sqrt(1 + ratio * ratio));
  for (double &d : way)
    d *= moved;
  add_difference(o, way, v);
  return moved * o.predict;
}

// Reads the windows at the time `at`, and by how many seconds what is read is late. False where too few
// samples are there.
SUPPLE_FN bool fit_window(const CommandState &s, const CommandOptions &o, double at, double *v, double &lag) {
  WindowFit fit;
  lag = window_lag(s, o);
  if (!fit_windows(s, o, at, lag, fit))
    return false;
  const double part = narrow_part(o, fit);
  mix_windows(fit, part, v);
  if (o.predict > 0 && s.stamped)
    lag -= predict_motion(s, o, at, part, v);
  return true;
}

} // namespace SUPPLE_ISA
} // namespace supple
