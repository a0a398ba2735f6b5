// Vectors, rotations and frames, their exponential and logarithm.
#pragma once
#include "supple/math/number.h"

namespace supple {
inline namespace SUPPLE_ISA {

template <class T>
struct Vec {
  T x, y, z;
};
// three numbers of an array as a vector, and back
template <class T>
SUPPLE_FLAT Vec<T> load3(const T *a) {
  return {a[0], a[1], a[2]};
}
template <class T>
SUPPLE_FLAT void store3(Vec<T> v, T *a) {
  a[0] = v.x;
  a[1] = v.y;
  a[2] = v.z;
}
// three constants as a vector of numbers of type T
template <class T>
SUPPLE_FLAT Vec<T> splat3(const double *a) {
  return {splat<T>(a[0]), splat<T>(a[1]), splat<T>(a[2])};
}
template <class T>
SUPPLE_FLAT Vec<T> select3(Mask<T> m, Vec<T> a, Vec<T> b) {
  return {select(m, a.x, b.x), select(m, a.y, b.y), select(m, a.z, b.z)};
}
template <class T>
SUPPLE_FLAT Vec<T> operator+(Vec<T> a, Vec<T> b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class T>
SUPPLE_FLAT Vec<T> operator-(Vec<T> a, Vec<T> b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class T>
SUPPLE_FLAT Vec<T> operator-(Vec<T> a) {
  return {-a.x, -a.y, -a.z};
}
template <class T>
SUPPLE_FLAT Vec<T> operator*(T s, Vec<T> a) {
  return {s * a.x, s * a.y, s * a.z};
}
template <class T>
SUPPLE_FLAT T dot(Vec<T> a, Vec<T> b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
SUPPLE_FLAT Vec<T> cross(Vec<T> a, Vec<T> b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// a rotation as its three columns: where it takes the axes x, y and z
template <class T>
struct Rot {
  Vec<T> x, y, z;
};
template <class T>
SUPPLE_FLAT Vec<T> operator*(const Rot<T> &r, Vec<T> a) {
  return {r.x.x * a.x + r.y.x * a.y + r.z.x * a.z, r.x.y * a.x + r.y.y * a.y + r.z.y * a.z,
          r.x.z * a.x + r.y.z * a.y + r.z.z * a.z};
}
template <class T>
SUPPLE_FLAT Rot<T> operator*(const Rot<T> &a, const Rot<T> &b) {
  return {a * b.x, a * b.y, a * b.z};
}
template <class T>
SUPPLE_FLAT Rot<T> transpose(const Rot<T> &r) {
  return {{r.x.x, r.y.x, r.z.x}, {r.x.y, r.y.y, r.z.y}, {r.x.z, r.y.z, r.z.z}};
}
template <class T>
SUPPLE_FLAT Rot<T> identity() {
  const T o = splat<T>(0), l = splat<T>(1);
  return {{l, o, o}, {o, l, o}, {o, o, l}};
}

// position and orientation
template <class T>
struct Frame {
  Rot<T> r;
  Vec<T> p;
};
template <class T>
SUPPLE_FLAT Frame<T> operator*(const Frame<T> &a, const Frame<T> &b) {
  return {a.r * b.r, a.r * b.p + a.p};
}
template <class T>
SUPPLE_FLAT Frame<T> inverse(const Frame<T> &f) {
  const Rot<T> back = transpose(f.r);
  return {back, -(back * f.p)};
}
template <class T>
SUPPLE_FLAT Vec<T> operator*(const Frame<T> &a, Vec<T> p) {
  return a.r * p + a.p;
}

template <class T>
struct Quat {
  T w, x, y, z;
};
template <class T>
SUPPLE_FLAT Quat<T> operator*(Quat<T> a, Quat<T> b) {
  return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
          a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
template <class T>
SUPPLE_FLAT Quat<T> conjugate(Quat<T> q) {
  return {q.w, -q.x, -q.y, -q.z};
}

template <class T>
SUPPLE_FLAT Rot<T> rotation(Quat<T> q) {
  const T one = splat<T>(1), two = splat<T>(2);
  return {
      {one - two * (q.y * q.y + q.z * q.z), two * (q.x * q.y + q.w * q.z), two * (q.x * q.z - q.w * q.y)},
      {two * (q.x * q.y - q.w * q.z), one - two * (q.x * q.x + q.z * q.z), two * (q.y * q.z + q.w * q.x)},
      {two * (q.x * q.z + q.w * q.y), two * (q.y * q.z - q.w * q.x), one - two * (q.x * q.x + q.y * q.y)}};
}

// quaternion of a rotation, w not negative: of the four formulas, the one that divides by the largest number
template <class T>
SUPPLE_FLAT Quat<T> quaternion(const Rot<T> &r) {
  const T zero = splat<T>(0), one = splat<T>(1);
  const T tw = one + r.x.x + r.y.y + r.z.z, tx = one + r.x.x - r.y.y - r.z.z;
  const T ty = one - r.x.x + r.y.y - r.z.z, tz = one - r.x.x - r.y.y + r.z.z;
  const T wx = r.y.z - r.z.y, wy = r.z.x - r.x.z, wz = r.x.y - r.y.x;
  const T xy = r.y.x + r.x.y, xz = r.z.x + r.x.z, yz = r.z.y + r.y.z;
  Quat<T> q{tw, wx, wy, wz};
  T best = tw;
  auto take = [&](T t, Quat<T> other) {
    const Mask<T> m = t > best;
    q = {select(m, other.w, q.w), select(m, other.x, q.x), select(m, other.y, q.y), select(m, other.z, q.z)};
    best = select(m, t, best);
  };
  take(tx, {wx, tx, xy, xz});
  take(ty, {wy, xy, ty, yz});
  take(tz, {wz, xz, yz, tz});
  const T length = root(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  const T scale = select(q.w < zero, -one, one) / length;
  return {q.w * scale, q.x * scale, q.y * scale, q.z * scale};
}

// exp_quaternion where the square of the angle overflows
template <class T>
SUPPLE_FN Quat<T> exp_long(Vec<T> v) {
  const T one = splat<T>(1), size = larger(larger(magnitude(v.x), magnitude(v.y)), magnitude(v.z));
  const Vec<T> scaled = (one / larger(size, one)) * v;
  const T length = root(dot(scaled, scaled)), safe = select(length > splat<T>(0), length, one);
  T s, c;
  sincos(splat<T>(0.5) * larger(size, one) * length, s, c);
  const T k = s / safe;
  return {c, k * scaled.x, k * scaled.y, k * scaled.z};
}

// unit quaternion of a rotation vector
template <class T>
SUPPLE_FLAT Quat<T> exp_quaternion(Vec<T> v) {
  const T half = splat<T>(0.5), square = dot(v, v);
  if (any(square > splat<T>(PrecisionOf<T>::long_square)))
    return exp_long(v);
  const Mask<T> tiny = square < splat<T>(PrecisionOf<T>::exp_series);
  const T angle = root(square), safe = select(tiny, splat<T>(1), angle);
  T s, c;
  sincos(angle * half, s, c);
  // sin(a/2)/a, by its series where a is small
  const T k = select(tiny, half - square * splat<T>(1.0 / 48) * (splat<T>(1) - square * splat<T>(1.0 / 80)),
                     s / safe);
  return {c, k * v.x, k * v.y, k * v.z};
}

// the quaternion of the same rotation whose w is not negative
template <class T>
SUPPLE_FLAT Quat<T> with_positive_w(Quat<T> q) {
  const T sign = select(q.w < splat<T>(0), splat<T>(-1), splat<T>(1));
  return {sign * q.w, sign * q.x, sign * q.y, sign * q.z};
}

// rotation vector of a unit quaternion with w not negative, at most pi long
template <class T>
SUPPLE_FLAT Vec<T> log_quaternion(Quat<T> q) {
  const T square = q.x * q.x + q.y * q.y + q.z * q.z;
  const Mask<T> tiny = square < splat<T>(PrecisionOf<T>::log_series);
  const T length = root(square), safe = select(tiny, splat<T>(1), length);
  const T series = splat<T>(2) + square * splat<T>(1.0 / 3);
  const T k = select(tiny, series, splat<T>(2) * atan2(length, q.w) / safe);
  return {k * q.x, k * q.y, k * q.z};
}

template <class T>
SUPPLE_FLAT Rot<T> exp_rotation(Vec<T> v) {
  return rotation(exp_quaternion(v));
}
template <class T>
SUPPLE_FLAT Vec<T> log_rotation(const Rot<T> &r) {
  return log_quaternion(quaternion(r));
}

// the exponential map of SE(3), the frame that a constant twist (linear, angular) reaches in one unit of
// time; and its inverse
template <class T>
SUPPLE_FLAT Frame<T> exp_frame(Vec<T> linear, Vec<T> angular) {
  const T one = splat<T>(1), square = dot(angular, angular);
  const Mask<T> tiny = square < splat<T>(PrecisionOf<T>::frame_series);
  const T safe = select(tiny, one, square), angle = root(safe);
  T s, h, unused;
  sincos(angle, s, unused);
  sincos(angle * splat<T>(0.5), h, unused);
  // (1 - cos a)/a^2 and (a - sin a)/a^3
  const T b = select(
      tiny,
      splat<T>(0.5) - square * (splat<T>(1.0 / 24) -
                                square * (splat<T>(1.0 / 720) - square * (splat<T>(1.0 / 40320) -
                                                                          square * splat<T>(1.0 / 3628800)))),
      splat<T>(2) * h * h / safe);
  const T d =
      select(tiny,
             splat<T>(1.0 / 6) -
                 square * (splat<T>(1.0 / 120) -
                           square * (splat<T>(1.0 / 5040) -
                                     square * (splat<T>(1.0 / 362880) - square * splat<T>(1.0 / 39916800)))),
             (angle - s) / (safe * angle));
  const Vec<T> across = cross(angular, linear);
  return {exp_rotation(angular), linear + b * across + d * cross(angular, across)};
}
template <class T>
SUPPLE_FLAT void log_frame(const Frame<T> &f, Vec<T> &linear, Vec<T> &angular) {
  angular = log_rotation(f.r);
  const T one = splat<T>(1), square = dot(angular, angular);
  const Mask<T> tiny = square < splat<T>(PrecisionOf<T>::frame_series);
  const T safe = select(tiny, one, square), half = root(safe) * splat<T>(0.5);
  T s, c;
  sincos(half, s, c);
  // (1 - (a/2) cot(a/2))/a^2; where a is small the difference would lose digits, the series does not
  const T k =
      select(tiny,
             splat<T>(1.0 / 12) +
                 square * (splat<T>(1.0 / 720) +
                           square * (splat<T>(1.0 / 30240) +
                                     square * (splat<T>(1.0 / 1209600) + square * splat<T>(1.0 / 47900160)))),
             (one - half * c / s) / safe);
  const Vec<T> across = cross(angular, f.p);
  linear = f.p - splat<T>(0.5) * across + k * cross(angular, across);
}

// Whether a rotation is within a swing and a range of twist by more than rounding. Half the twist is
// atan2(along, w), with w not negative, and w^2 + along^2 is the squared cosine of half the swing.
template <class T>
SUPPLE_FLAT Mask<T> is_inside_ball(T w, T along, T swing, T low, T high) {
  const T half = splat<T>(0.5), margin = splat<T>(PrecisionOf<T>::inside_margin);
  T s, c;
  sincos(half * lesser(swing, splat<T>(3.14159265358979323846)), s, c);
  const Mask<T> leans_less = w * w + along * along > c * c + margin;
  sincos(half * high, s, c);
  const Mask<T> below = w * s - along * c > margin;
  sincos(half * low, s, c);
  return leans_less & below & (along * c - w * s > margin);
}

// The rotation vector v brought within the limits of a ball joint. Its rotation is a swing after a twist
// about `axis`: the twist is clamped to its range, and the angle of the swing to `swing`.
template <class T>
SUPPLE_FN Vec<T> clamp_ball(Vec<T> v, Vec<T> axis, T swing, T low, T high) {
  const T zero = splat<T>(0), one = splat<T>(1), half = splat<T>(0.5);
  const Quat<T> q = with_positive_w(exp_quaternion(v));
  const T along = q.x * axis.x + q.y * axis.y + q.z * axis.z;
  if (all(is_inside_ball(q.w, along, swing, low, high)))
    return v;
  const T twist = splat<T>(2) * atan2(along, q.w), pi = splat<T>(3.14159265358979323846);
  // outside the range: the end that is nearer on the circle
  const T to_low = magnitude(twist - low), to_high = magnitude(twist - high);
  const T end = select(lesser(to_low, pi + pi - to_low) <= lesser(to_high, pi + pi - to_high), low, high);
  const T clamped_twist = select((twist < low) | (twist > high), end, twist);
  T s, c;
  sincos(twist * half, s, c);
  Quat<T> swing_part = q * Quat<T>{c, -s * axis.x, -s * axis.y, -s * axis.z};
  const T sine =
      root(swing_part.x * swing_part.x + swing_part.y * swing_part.y + swing_part.z * swing_part.z);
  const T angle = splat<T>(2) * atan2(sine, swing_part.w), clamped_swing = lesser(angle, swing);
  const T safe = select(sine > zero, sine, one);
  sincos(clamped_swing * half, s, c);
  const T k = select(sine > zero, s / safe, zero);
  swing_part = {c, k * swing_part.x, k * swing_part.y, k * swing_part.z};
  sincos(clamped_twist * half, s, c);
  const Quat<T> r = swing_part * Quat<T>{c, s * axis.x, s * axis.y, s * axis.z};
  const Vec<T> clamped = log_quaternion(with_positive_w(r));
  // what is inside already stays as it is, to the last bit
  const Mask<T> same = (clamped_twist == twist) & (clamped_swing == angle);
  return select3<T>(same, v, clamped);
}

// what can be wrong with the 4 x 4 matrix of a frame
enum FrameDefect : int { no_defect, not_finite, not_orthonormal, mirrored, bad_last_row };

// A rotation is mended where no entry of |R R' - I| is larger: about 1e-2 from a rotation.
constexpr double mendable_rotation = 0.02;

// the largest entry of |R R' - I|, with R R' in gram (9); the rows of R begin `stride` numbers apart
SUPPLE_FN double rotation_defect(const double *r, int stride, double *gram) {
  double off = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      gram[3 * i + j] = dot(load3(r + stride * i), load3(r + stride * j));
      off = larger(off, std::fabs(gram[3 * i + j] - (i == j)));
    }
  return off;
}

// Turns R into the nearest rotation by Newton's iteration R <- 1.5 R - 0.5 (R R') R, which squares the
// defect. `gram` and `off` are those of rotation_defect. What is orthonormal to 1e-14 keeps its bits.
SUPPLE_FN void mend_rotation(double *r, int stride, double *gram, double off) {
  while (off > 1e-14) {
    double next[9];
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        next[3 * i + j] = 1.5 * r[stride * i + j];
        for (int k = 0; k < 3; ++k)
          next[3 * i + j] -= 0.5 * gram[3 * i + k] * r[stride * k + j];
      }
    for (int i = 0; i < 3; ++i)
      store3(load3(next + 3 * i), r + stride * i);
    if (!(off > 1e-6 && off <= 1))
      return;
    off = rotation_defect(r, stride, gram);
  }
}

// Checks a 4 x 4 matrix, row by row, and mends its rotation. `worst` grows to the largest entry of
// |R R' - I|.
SUPPLE_FN FrameDefect repair_frame(double *m, double &worst) {
  double zero = 0; // 0 * x is 0 only for a finite x
  for (int i = 0; i < 16; ++i)
    zero += m[i] * 0.0;
  if (!(zero == 0))
    return not_finite;
  double gram[9];
  const double off = rotation_defect(m, 4, gram);
  worst = larger(worst, off);
  if (off > mendable_rotation)
    return not_orthonormal;
  mend_rotation(m, 4, gram, off);
  if (dot(cross(load3(m), load3(m + 4)), load3(m + 8)) < 0)
    return mirrored;
  for (int i = 0; i < 4; ++i)
    if (std::fabs(m[12 + i] - (i == 3)) > 1e-9)
      return bad_last_row;
  return no_defect;
}

} // namespace SUPPLE_ISA
} // namespace supple
