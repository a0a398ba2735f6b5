// A pose as seven numbers, and differences of such values.
#pragma once
#include "supple/math/simd.h"
#include "supple/task/goal.h"
#include "supple/tracking/types.h"

namespace supple {
inline namespace SUPPLE_ISA {

// position, then a quaternion w x y z (or a direction and 0)
constexpr int value_size = CommandState::numbers;
// a shorter weighted difference is rounding, and no motion
constexpr double no_motion = 1e-12;

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

// The weighted inner product of two small differences of values, component by component: a difference of
// quaternions is half the angle.
SUPPLE_FLAT double value_product(const CommandOptions &o, const double *a, const double *b) {
  const double p = squared(o.position_weight), r = squared((o.has_direction ? 1 : 2) * o.rotation_weight);
  return p * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) +
         r * (a[3] * b[3] + a[4] * b[4] + a[5] * b[5] + a[6] * b[6]);
}

} // namespace SUPPLE_ISA
} // namespace supple
