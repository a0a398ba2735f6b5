// Operations on numbers that algorithms use: for double and float here, vectors of them in simd.h.
//
// Algorithms are templates on a number type T. A decision that depends on data uses `select`; `if` is only
// for what is the same in all lanes. All code is in a namespace named after the instruction set it is
// compiled for, so that one module can contain several.
#pragma once
#include <cmath>
#include <cstring>
#include <initializer_list>

#ifndef SUPPLE_ISA
#define SUPPLE_ISA plain
#endif

// SUPPLE_FN: a function for host and device. SUPPLE_FLAT: the same, always inlined. SUPPLE_APART: never
// inlined on a device, so that it is compiled once. SUPPLE_FLAT_APART: that on a device, SUPPLE_FLAT on a
// host. SUPPLE_UNROLL: unrolls the next loop, which has at most this many rounds. SUPPLE_PREFETCH: fetches
// memory that is needed soon.
#define SUPPLE_PRAGMA(text) _Pragma(#text)
#if defined(__GNUC__) && !defined(__CUDACC__)
#define SUPPLE_PREFETCH(address) __builtin_prefetch(address)
#else
#define SUPPLE_PREFETCH(address)
#endif
#if defined(__CUDACC__)
#define SUPPLE_FN __host__ __device__ inline
#if defined(SUPPLE_COMPACT) // for kernels whose compile time matters more than their speed
#define SUPPLE_FLAT __host__ __device__ inline
#else
#define SUPPLE_FLAT __host__ __device__ __forceinline__
#endif
#define SUPPLE_UNROLL(rounds) SUPPLE_PRAGMA(unroll)
#define SUPPLE_APART __host__ __device__ __noinline__ inline
#define SUPPLE_FLAT_APART SUPPLE_APART
#elif defined(__GNUC__)
#define SUPPLE_FN inline
#define SUPPLE_FLAT inline __attribute__((always_inline))
#define SUPPLE_UNROLL(rounds) SUPPLE_PRAGMA(GCC unroll rounds)
#elif defined(_MSC_VER)
#define SUPPLE_FN inline
#define SUPPLE_FLAT __forceinline
#define SUPPLE_UNROLL(rounds)
#else
#define SUPPLE_FN inline
#define SUPPLE_FLAT inline
#define SUPPLE_UNROLL(rounds)
#endif

#if !defined(SUPPLE_APART)
#define SUPPLE_APART inline
#define SUPPLE_FLAT_APART SUPPLE_FLAT
#endif

namespace supple {
inline namespace SUPPLE_ISA {

// what T is made of: its scalar, how many of them, and the answer of a comparison
template <class T>
struct Lane {
  using Scalar = T;
  using Mask = bool;
  static constexpr int width = 1;
};
template <class T>
using Scalar = typename Lane<T>::Scalar;
template <class T>
using Mask = typename Lane<T>::Mask;

// a constant as a number of type T
template <class T>
SUPPLE_FLAT T splat(double x) {
  return T(Scalar<T>(x));
}

// What depends on the precision of numbers. Lengths are in metres, angles in radians.
template <class S>
struct Precision;
template <>
struct Precision<double> {
  static constexpr double unlimited = 1e300;     // a limit of this size or more is none
  static constexpr double smallest = 1e-300;     // its inverse is finite
  static constexpr double least_length = 1e-12;  // a shorter vector has no direction
  static constexpr double least_square = 1e-24;  // its square
  static constexpr double half_turn = 1e-12;     // of 2 + 2 cos(angle): less is half a turn
  static constexpr double least_damping = 1e-12; // of a step of a search
  static constexpr double least_pivot = 1e-14;   // of a factorisation
  static constexpr double inside_margin = 1e-12; // of a ball joint, in sines and cosines
  // Bounds on squared angles: above long_square the square may overflow; below the others a series is used,
  // for the exponential map of a rotation, for its logarithm, and for both of a frame.
  static constexpr double long_square = 1e300, exp_series = 1e-8, log_series = 1e-10, frame_series = 1e-2;
  // Error at which a search in float ends and double continues, relative to the linkage's length and in
  // radians. 0: the search is in double.
  static constexpr double handover = 0;
};
template <>
struct Precision<float> {
  static constexpr double unlimited = 1e30, smallest = 1e-30;
  static constexpr double least_length = 1e-7, least_square = 1e-14;
  static constexpr double half_turn = 1e-6;
  static constexpr double least_damping = 1e-7, least_pivot = 1e-8;
  static constexpr double inside_margin = 1e-5;
  static constexpr double long_square = 1e30, exp_series = 1e-4, log_series = 1e-5, frame_series = 1e-1;
  static constexpr double handover = 1e-4;
};
template <class T>
using PrecisionOf = Precision<Scalar<T>>;
template <class T>
constexpr bool is_double = sizeof(Scalar<T>) == sizeof(double);

SUPPLE_FLAT int bits_of(bool m) { return m; } // a mask as bits, one for each lane
SUPPLE_FLAT double select(bool m, double a, double b) { return m ? a : b; }
SUPPLE_FLAT float select(bool m, float a, float b) { return m ? a : b; }
SUPPLE_FLAT bool any(bool m) { return m; }
SUPPLE_FLAT bool all(bool m) { return m; }
SUPPLE_FLAT double root(double x) { return std::sqrt(x); }
SUPPLE_FLAT float root(float x) { return std::sqrt(x); }
SUPPLE_FLAT double magnitude(double x) { return std::fabs(x); }
SUPPLE_FLAT float magnitude(float x) { return std::fabs(x); }
SUPPLE_FLAT double get(double x, int) { return x; }
SUPPLE_FLAT float get(float x, int) { return x; }
SUPPLE_FLAT void put(double &x, int, double value) { x = value; }
SUPPLE_FLAT void put(float &x, int, float value) { x = value; }

template <class T>
SUPPLE_FLAT T larger(T a, T b) {
  return select(a > b, a, b);
}
template <class T>
SUPPLE_FLAT T lesser(T a, T b) {
  return select(a < b, a, b);
}
template <class T>
SUPPLE_FLAT T clip(T x, T low, T high) {
  return lesser(larger(x, low), high);
}

// the first bit of a number that is not 0
SUPPLE_FLAT int first_bit(int bits) {
#if defined(__GNUC__) && !defined(__CUDACC__)
  return __builtin_ctz(unsigned(bits));
#else
  int i = 0;
  while (!(bits >> i & 1))
    ++i;
  return i;
#endif
}

// 1.5 * 2^52 (2^23 in float): added to a small number it leaves no bits for a fraction, and the last bits of
// the sum count in whole numbers
template <class S>
constexpr S big = sizeof(S) == 8 ? S(6755399441055744.0) : S(12582912.0);

// the integer part of a number that is not negative and less than 2^21
template <class T>
SUPPLE_FLAT T whole_part(T x) {
  const T nearest = (x + T(big<Scalar<T>>)) - T(big<Scalar<T>>);
  return select(nearest > x, nearest - splat<T>(1), nearest);
}

// Of the whole number k in a sum with `big`: whether k is odd; and x with the opposite sign where k + ahead
// is 2 or 3 modulo 4.
template <class S>
struct Bits;
template <>
struct Bits<double> {
  using Integer = long long;
};
template <>
struct Bits<float> {
  using Integer = int;
};
template <class S>
SUPPLE_FLAT typename Bits<S>::Integer bits(S x) {
  typename Bits<S>::Integer i;
  std::memcpy(&i, &x, sizeof x);
  return i;
}
SUPPLE_FLAT bool odd(double sum) { return bits(sum) & 1; }
SUPPLE_FLAT bool odd(float sum) { return bits(sum) & 1; }
SUPPLE_FLAT double turn_sign(double x, double sum, int ahead) { return (bits(sum) + ahead) & 2 ? -x : x; }
SUPPLE_FLAT float turn_sign(float x, float sum, int ahead) { return (bits(sum) + ahead) & 2 ? -x : x; }

// constants of the sine and cosine: pi/2 in parts short enough that a whole number times a part is exact, and
// the polynomials on [-pi/4, pi/4]
template <class S>
struct Trig;
template <>
struct Trig<double> {
  static constexpr double limit = 1048576.0;
  static constexpr double part[3] = {1.57079632673412561417e+00, 6.07710050630396597660e-11,
                                     2.02226624879595063154e-21};
  static constexpr int terms = 6;
  static constexpr double sine[6] = {-1.66666666666666324348e-01, 8.33333333332248946124e-03,
                                     -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                                     -2.50507602534068634195e-08, 1.58969099521155010221e-10};
  static constexpr double cosine[6] = {4.16666666666666019037e-02, -1.38888888888741095749e-03,
                                       2.48015872894767294178e-05, -2.75573143513906633035e-07,
                                       2.08757232129817482790e-09, -1.13596475577881948265e-11};
};
template <>
struct Trig<float> {
  static constexpr float limit = 8192.0f;
  static constexpr float part[3] = {1.5703125f, 4.837512969970703125e-4f, 7.54978995489188216e-8f};
  static constexpr int terms = 3;
  static constexpr float sine[3] = {-1.6666654611e-1f, 8.3321608736e-3f, -1.9515295891e-4f};
  static constexpr float cosine[3] = {4.166664568298827e-2f, -1.388731625493765e-3f, 2.443315711809948e-5f};
};

// the polynomials, for |x| up to the limit
template <class T>
SUPPLE_FLAT void sincos_polynomials(T x, T &s, T &c) {
  using S = Scalar<T>;
  using C = Trig<S>;
  const T sum = x * splat<T>(0.636619772367581343076) + T(big<S>), k = sum - T(big<S>);
  const T r = ((x - k * T(C::part[0])) - k * T(C::part[1])) - k * T(C::part[2]);
  const T z = r * r;
  T ps(C::sine[C::terms - 1]), pc(C::cosine[C::terms - 1]);
  for (int i = C::terms - 2; i >= 0; --i) {
    ps = ps * z + T(C::sine[i]);
    pc = pc * z + T(C::cosine[i]);
  }
  const T one = splat<T>(1);
  const T sr = r + r * (z * ps);
  const T cr = (one - z * splat<T>(0.5)) + z * z * pc;
  const Mask<T> crossed = odd(sum);
  s = turn_sign(select(crossed, cr, sr), sum, 0);
  c = turn_sign(select(crossed, sr, cr), sum, 1);
}

// where sincos_polynomials does not hold
template <class T>
SUPPLE_FLAT Mask<T> beyond_polynomials(T x) {
  return magnitude(x) > T(Trig<Scalar<T>>::limit);
}
template <class T>
SUPPLE_FN void sincos_library(T x, T &s, T &c) {
  using S = Scalar<T>;
  for (int i = 0; i < Lane<T>::width; ++i) {
    const S xi = get(x, i);
    if (std::fabs(xi) > Trig<S>::limit) {
      put(s, i, S(std::sin(xi)));
      put(c, i, S(std::cos(xi)));
    }
  }
}

// sine and cosine of every lane together. For |x| up to the limit the absolute error is below 2.3e-16
// (double) and 9.5e-8 (float), tests/core measures it; beyond, each lane uses the C library.
template <class T>
SUPPLE_FLAT void sincos(T x, T &s, T &c) {
  sincos_polynomials(x, s, c);
  if (any(beyond_polynomials(x)))
    sincos_library(x, s, c);
}

// angle of the point (x, y), in (-pi, pi]; 0 for the origin. Absolute error below 5e-16 (double), 3e-7
// (float).
template <class T>
SUPPLE_FLAT T atan2(T y, T x) {
  const T zero = splat<T>(0), one = splat<T>(1), ay = magnitude(y), ax = magnitude(x);
  const T high = larger(ay, ax), low = lesser(ax, ay); // in this order NaN stays NaN
  const T t = low / select(high == zero, one, high);
  // t is in [0, 1]. Above 0.66: atan(t) = pi/4 + atan((t - 1) / (t + 1)).
  const Mask<T> upper = t > splat<T>(0.66);
  const T u = select(upper, (t - one) / (t + one), t), z = u * u;
  const T p = (((splat<T>(-8.750608600031904122785e-1) * z + splat<T>(-1.615753718733365076637e1)) * z +
                splat<T>(-7.500855792314704667340e1)) *
                   z +
               splat<T>(-1.228866684490136173410e2)) *
                  z +
              splat<T>(-6.485021904942025371773e1);
  const T q = ((((z + splat<T>(2.485846490142306297962e1)) * z + splat<T>(1.650270098316988542046e2)) * z +
                splat<T>(4.328810604912902668951e2)) *
                   z +
               splat<T>(4.853903996359136964868e2)) *
                  z +
              splat<T>(1.945506571482613964425e2);
  T angle = u + u * (z * (p / q)) + select(upper, splat<T>(0.785398163397448309616), zero);
  angle = select(ay > ax, splat<T>(1.57079632679489661923) - angle, angle);
  angle = select(x < zero, splat<T>(3.14159265358979323846) - angle, angle);
  return select(y < zero, -angle, angle);
}

SUPPLE_FLAT double squared(double x) { return x * x; }

} // namespace SUPPLE_ISA
} // namespace supple
