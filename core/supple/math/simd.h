// A number that is W numbers side by side: compiler vectors where they exist, plain arrays elsewhere.
#pragma once
#include <cstring>
#include <type_traits>
#include <utility>

#include "supple/math/number.h"

#if !defined(SUPPLE_PLAIN_ARRAYS) && (defined(__GNUC__) || defined(__clang__)) && !defined(__CUDACC__)
#define SUPPLE_VECTORS 1
#if defined(__SSE2__)
#include <immintrin.h>
#endif
#endif

namespace supple {
inline namespace SUPPLE_ISA {

// how many doubles fit a register of the instruction set this file is compiled for
#if defined(__AVX512F__)
constexpr int native_width = 8;
#elif defined(__AVX2__) || defined(__AVX__)
constexpr int native_width = 4;
#else
constexpr int native_width = 2;
#endif

#ifdef SUPPLE_VECTORS

template <class S, int W>
struct PackMask {
  using Integer = typename Bits<S>::Integer;
  typedef Integer V __attribute__((vector_size(W * sizeof(S))));
  V v;
  friend SUPPLE_FLAT PackMask operator|(PackMask a, PackMask b) { return {a.v | b.v}; }
  friend SUPPLE_FLAT PackMask operator&(PackMask a, PackMask b) { return {a.v & b.v}; }
  friend SUPPLE_FLAT PackMask operator!(PackMask a) { return {~a.v}; }
};

template <class S, int W>
struct Pack {
  typedef S V __attribute__((vector_size(W * sizeof(S))));
  V v;
  Pack() = default;
  SUPPLE_FLAT explicit Pack(S x) : v(x - V{}) {} // x - 0 is x, without an operation
  static SUPPLE_FLAT Pack of(V x) {
    Pack p;
    p.v = x;
    return p;
  }
  friend SUPPLE_FLAT Pack operator+(Pack a, Pack b) { return of(a.v + b.v); }
  friend SUPPLE_FLAT Pack operator-(Pack a, Pack b) { return of(a.v - b.v); }
  friend SUPPLE_FLAT Pack operator*(Pack a, Pack b) { return of(a.v * b.v); }
  friend SUPPLE_FLAT Pack operator/(Pack a, Pack b) { return of(a.v / b.v); }
  friend SUPPLE_FLAT Pack operator-(Pack a) { return of(-a.v); }
  using M = PackMask<S, W>;
  friend SUPPLE_FLAT M operator<(Pack a, Pack b) { return {a.v < b.v}; }
  friend SUPPLE_FLAT M operator>(Pack a, Pack b) { return {a.v > b.v}; }
  friend SUPPLE_FLAT M operator<=(Pack a, Pack b) { return {a.v <= b.v}; }
  friend SUPPLE_FLAT M operator>=(Pack a, Pack b) { return {a.v >= b.v}; }
  friend SUPPLE_FLAT M operator==(Pack a, Pack b) { return {a.v == b.v}; }
};

template <class S, int W>
SUPPLE_FLAT Pack<S, W> select(PackMask<S, W> m, Pack<S, W> a, Pack<S, W> b) {
  return Pack<S, W>::of(m.v ? a.v : b.v);
}
// a cast between vectors of one size keeps the bits
template <class S, int W>
SUPPLE_FLAT PackMask<S, W> odd(Pack<S, W> sum) {
  using Integers = typename PackMask<S, W>::V;
  return {(((Integers)sum.v) & 1) != 0};
}
template <class S, int W>
SUPPLE_FLAT Pack<S, W> turn_sign(Pack<S, W> x, Pack<S, W> sum, int ahead) {
  using Integers = typename PackMask<S, W>::V;
  constexpr int to_the_sign = 8 * sizeof(S) - 2;
  const Integers turned = ((Integers)x.v) ^ (((((Integers)sum.v) + ahead) & 2) << to_the_sign);
  return Pack<S, W>::of((typename Pack<S, W>::V)turned);
}
template <class S, int W>
SUPPLE_FLAT bool any(PackMask<S, W> m) {
  [[maybe_unused]] constexpr int bytes = W * int(sizeof(S));
#if defined(__AVX512F__)
  if constexpr (bytes == 64)
    return _mm512_test_epi64_mask((__m512i)m.v, (__m512i)m.v) != 0;
#endif
#if defined(__AVX__)
  if constexpr (bytes == 32)
    return !_mm256_testz_si256((__m256i)m.v, (__m256i)m.v);
#endif
#if defined(__SSE2__)
  if constexpr (bytes == 16)
    return _mm_movemask_epi8((__m128i)m.v) != 0;
#endif
  typename PackMask<S, W>::Integer sum = 0;
  for (int i = 0; i < W; ++i)
    sum |= m.v[i];
  return sum != 0;
}

#else // plain arrays: the same words, lane by lane

template <class S, int W>
struct PackMask {
  bool v[W];
  friend SUPPLE_FLAT PackMask operator|(PackMask a, PackMask b) {
    return each([&](int i) { return a.v[i] || b.v[i]; });
  }
  friend SUPPLE_FLAT PackMask operator&(PackMask a, PackMask b) {
    return each([&](int i) { return a.v[i] && b.v[i]; });
  }
  friend SUPPLE_FLAT PackMask operator!(PackMask a) {
    return each([&](int i) { return !a.v[i]; });
  }
  template <class F>
  static SUPPLE_FLAT PackMask each(F f) {
    PackMask r;
    for (int i = 0; i < W; ++i)
      r.v[i] = f(i);
    return r;
  }
};

template <class S, int W>
struct Pack {
  S v[W];
  Pack() = default;
  SUPPLE_FLAT explicit Pack(S x) {
    for (int i = 0; i < W; ++i)
      v[i] = x;
  }
  template <class F>
  static SUPPLE_FLAT Pack each(F f) {
    Pack r;
    for (int i = 0; i < W; ++i)
      r.v[i] = f(i);
    return r;
  }
  friend SUPPLE_FLAT Pack operator+(Pack a, Pack b) {
    return each([&](int i) { return a.v[i] + b.v[i]; });
  }
  friend SUPPLE_FLAT Pack operator-(Pack a, Pack b) {
    return each([&](int i) { return a.v[i] - b.v[i]; });
  }
  friend SUPPLE_FLAT Pack operator*(Pack a, Pack b) {
    return each([&](int i) { return a.v[i] * b.v[i]; });
  }
  friend SUPPLE_FLAT Pack operator/(Pack a, Pack b) {
    return each([&](int i) { return a.v[i] / b.v[i]; });
  }
  friend SUPPLE_FLAT Pack operator-(Pack a) {
    return each([&](int i) { return -a.v[i]; });
  }
  using M = PackMask<S, W>;
  friend SUPPLE_FLAT M operator<(Pack a, Pack b) {
    return M::each([&](int i) { return a.v[i] < b.v[i]; });
  }
  friend SUPPLE_FLAT M operator>(Pack a, Pack b) {
    return M::each([&](int i) { return a.v[i] > b.v[i]; });
  }
  friend SUPPLE_FLAT M operator<=(Pack a, Pack b) {
    return M::each([&](int i) { return a.v[i] <= b.v[i]; });
  }
  friend SUPPLE_FLAT M operator>=(Pack a, Pack b) {
    return M::each([&](int i) { return a.v[i] >= b.v[i]; });
  }
  friend SUPPLE_FLAT M operator==(Pack a, Pack b) {
    return M::each([&](int i) { return a.v[i] == b.v[i]; });
  }
};

template <class S, int W>
SUPPLE_FLAT Pack<S, W> select(PackMask<S, W> m, Pack<S, W> a, Pack<S, W> b) {
  return Pack<S, W>::each([&](int i) { return m.v[i] ? a.v[i] : b.v[i]; });
}
template <class S, int W>
SUPPLE_FLAT PackMask<S, W> odd(Pack<S, W> sum) {
  return PackMask<S, W>::each([&](int i) { return odd(sum.v[i]); });
}
template <class S, int W>
SUPPLE_FLAT Pack<S, W> turn_sign(Pack<S, W> x, Pack<S, W> sum, int ahead) {
  return Pack<S, W>::each([&](int i) { return turn_sign(x.v[i], sum.v[i], ahead); });
}
template <class S, int W>
SUPPLE_FLAT bool any(PackMask<S, W> m) {
  bool found = false;
  for (int i = 0; i < W; ++i)
    found = found || m.v[i];
  return found;
}

#endif

template <class S, int W>
struct Lane<Pack<S, W>> {
  using Scalar = S;
  using Mask = PackMask<S, W>;
  static constexpr int width = W;
};

template <class S, int W>
SUPPLE_FLAT bool all(PackMask<S, W> m) {
  return !any(!m);
}
template <class S, int W>
SUPPLE_FLAT S get(const Pack<S, W> &x, int i) {
  return x.v[i];
}
template <class S, int W>
SUPPLE_FLAT void put(Pack<S, W> &x, int i, typename Lane<Pack<S, W>>::Scalar value) {
  x.v[i] = value;
}
template <class S, int W>
SUPPLE_FLAT Pack<S, W> magnitude(Pack<S, W> x) {
  return select(x < Pack<S, W>(S(0)), -x, x);
}
template <class S, int W>
SUPPLE_FLAT Pack<S, W> root(Pack<S, W> x) {
#if defined(SUPPLE_VECTORS) && defined(__AVX512F__)
  if constexpr (sizeof(S) == 8 && W == 8)
    return Pack<S, W>::of((typename Pack<S, W>::V)_mm512_sqrt_pd((__m512d)x.v));
  if constexpr (sizeof(S) == 4 && W == 16)
    return Pack<S, W>::of((typename Pack<S, W>::V)_mm512_sqrt_ps((__m512)x.v));
#endif
#if defined(SUPPLE_VECTORS) && defined(__AVX__)
  if constexpr (sizeof(S) == 8 && W == 4)
    return Pack<S, W>::of((typename Pack<S, W>::V)_mm256_sqrt_pd((__m256d)x.v));
  if constexpr (sizeof(S) == 4 && W == 8)
    return Pack<S, W>::of((typename Pack<S, W>::V)_mm256_sqrt_ps((__m256)x.v));
#endif
#if defined(SUPPLE_VECTORS) && defined(__SSE2__)
  if constexpr (sizeof(S) == 8 && W == 2)
    return Pack<S, W>::of((typename Pack<S, W>::V)_mm_sqrt_pd((__m128d)x.v));
  if constexpr (sizeof(S) == 4 && W == 4)
    return Pack<S, W>::of((typename Pack<S, W>::V)_mm_sqrt_ps((__m128)x.v));
#endif
  Pack<S, W> r;
  for (int i = 0; i < W; ++i)
    put(r, i, S(std::sqrt(get(x, i))));
  return r;
}

// 1 / root(x) to a few units of the last place: accurate enough to compute a step, not to measure an error
template <class T>
SUPPLE_FLAT T reciprocal_root(T x) {
  return splat<T>(1) / root(x);
}
#if defined(SUPPLE_VECTORS) && defined(__AVX512VL__)
// One of Newton's steps doubles the 14 bits of the estimate. Packs of any width give the same bits.
template <int W>
SUPPLE_FLAT Pack<float, W> refine_reciprocal_root(Pack<float, W> x, Pack<float, W> y) {
  const Pack<float, W> half(0.5f);
  return y + y * (half - half * x * y * y);
}
SUPPLE_FLAT Pack<float, 16> reciprocal_root(Pack<float, 16> x) {
  return refine_reciprocal_root(x, Pack<float, 16>::of((Pack<float, 16>::V)_mm512_rsqrt14_ps((__m512)x.v)));
}
SUPPLE_FLAT Pack<float, 8> reciprocal_root(Pack<float, 8> x) {
  return refine_reciprocal_root(x, Pack<float, 8>::of((Pack<float, 8>::V)_mm256_rsqrt14_ps((__m256)x.v)));
}
SUPPLE_FLAT Pack<float, 4> reciprocal_root(Pack<float, 4> x) {
  return refine_reciprocal_root(x, Pack<float, 4>::of((Pack<float, 4>::V)_mm_rsqrt14_ps((__m128)x.v)));
}
template <int W>
SUPPLE_FLAT Pack<double, W> refine_reciprocal_root(Pack<double, W> x, Pack<double, W> y) {
  const Pack<double, W> half(0.5), less = half * x;
  y = y + y * (half - less * y * y);
  return y + y * (half - less * y * y);
}
SUPPLE_FLAT Pack<double, 8> reciprocal_root(Pack<double, 8> x) {
  return refine_reciprocal_root(x, Pack<double, 8>::of((Pack<double, 8>::V)_mm512_rsqrt14_pd((__m512d)x.v)));
}
SUPPLE_FLAT Pack<double, 4> reciprocal_root(Pack<double, 4> x) {
  return refine_reciprocal_root(x, Pack<double, 4>::of((Pack<double, 4>::V)_mm256_rsqrt14_pd((__m256d)x.v)));
}
SUPPLE_FLAT Pack<double, 2> reciprocal_root(Pack<double, 2> x) {
  return refine_reciprocal_root(x, Pack<double, 2>::of((Pack<double, 2>::V)_mm_rsqrt14_pd((__m128d)x.v)));
}
#endif

// one bit for each lane of a mask
template <class S, int W>
SUPPLE_FLAT int bits_of(PackMask<S, W> m) {
#if defined(SUPPLE_VECTORS) && defined(__AVX512DQ__)
  if constexpr (sizeof(S) == 8 && W == 8)
    return _mm512_movepi64_mask((__m512i)m.v);
  if constexpr (sizeof(S) == 4 && W == 16)
    return _mm512_movepi32_mask((__m512i)m.v);
#endif
#if defined(SUPPLE_VECTORS) && defined(__AVX__)
  if constexpr (sizeof(S) == 8 && W == 4)
    return _mm256_movemask_pd((__m256d)m.v);
  if constexpr (sizeof(S) == 4 && W == 8)
    return _mm256_movemask_ps((__m256)m.v);
#endif
#if defined(SUPPLE_VECTORS) && defined(__SSE2__)
  if constexpr (sizeof(S) == 8 && W == 2)
    return _mm_movemask_pd((__m128d)m.v);
  if constexpr (sizeof(S) == 4 && W == 4)
    return _mm_movemask_ps((__m128)m.v);
#endif
  int found = 0;
  for (int i = 0; i < W; ++i)
    found |= (m.v[i] ? 1 : 0) << i;
  return found;
}

// Transposes W packs of W in place: lane i of pack k becomes lane k of pack i. Each round swaps blocks across
// the diagonal, of one number, then two, then four.
#if defined(SUPPLE_VECTORS)
template <int h, int W, class V, int... i>
SUPPLE_FLAT void swap_blocks(V &a, V &b, std::integer_sequence<int, i...>) {
#if defined(__clang__)
  const V low = __builtin_shufflevector(a, b, ((i & h) ? W + i - h : i)...);
  const V high = __builtin_shufflevector(a, b, ((i & h) ? W + i : i + h)...);
#else
  using Integer = typename Bits<std::decay_t<decltype(a[0])>>::Integer;
  typedef Integer Order __attribute__((vector_size(W * sizeof(Integer))));
  const V low = __builtin_shuffle(a, b, Order{((i & h) ? W + i - h : i)...});
  const V high = __builtin_shuffle(a, b, Order{((i & h) ? W + i : i + h)...});
#endif
  a = low;
  b = high;
}
template <int h, class S, int W>
SUPPLE_FLAT void transpose_rounds(Pack<S, W> *rows) {
  if constexpr (h < W) {
    for (int i = 0; i < W; ++i)
      if (!(i & h))
        swap_blocks<h, W>(rows[i].v, rows[i + h].v, std::make_integer_sequence<int, W>());
    transpose_rounds<2 * h>(rows);
  }
}
template <class S, int W>
SUPPLE_FLAT void transpose(Pack<S, W> *rows) {
  transpose_rounds<1>(rows);
}
#else
template <class S, int W>
SUPPLE_FLAT void transpose(Pack<S, W> *rows) {
  for (int i = 0; i < W; ++i)
    for (int k = 0; k < i; ++k) {
      const S swapped = rows[i].v[k];
      rows[i].v[k] = rows[k].v[i];
      rows[k].v[i] = swapped;
    }
}
#endif

// The numbers of two packs, one after another.
#if defined(SUPPLE_VECTORS) && (defined(__clang__) || __GNUC__ >= 12)
template <class S, int W, int... i>
SUPPLE_FLAT Pack<S, 2 * W> join(Pack<S, W> a, Pack<S, W> b, std::integer_sequence<int, i...>) {
  return Pack<S, 2 * W>::of(__builtin_shufflevector(a.v, b.v, i...));
}
template <class S, int W>
SUPPLE_FLAT Pack<S, 2 * W> join(Pack<S, W> a, Pack<S, W> b) {
  return join(a, b, std::make_integer_sequence<int, 2 * W>());
}
#else
template <class S, int W>
SUPPLE_FLAT Pack<S, 2 * W> join(Pack<S, W> a, Pack<S, W> b) {
  Pack<S, 2 * W> both;
  std::memcpy(&both, &a, sizeof a);
  std::memcpy(reinterpret_cast<char *>(&both) + sizeof a, &b, sizeof b);
  return both;
}
#endif

// `count` values, one after another in one register: at(0), at(1), ... It is assembled in registers: a wide
// load from memory that was just written by narrow stores would wait for them.
template <int count, class T, class At>
SUPPLE_FLAT auto gathered(int first, At at) {
  if constexpr (Lane<T>::width == 1) {
    Pack<T, count> all(T(0));
    for (int k = 0; k < count; ++k)
      put(all, k, at(first + k));
    return all;
  } else if constexpr (count == 1) {
    return at(first);
  } else {
    return join(gathered<count / 2, T>(first, at), gathered<count / 2, T>(first + count / 2, at));
  }
}

// Sines and cosines of n angles, at most `block`; the arrays hold `block` of each. Several angles whose type
// is narrower than the widest register are computed together in it.
constexpr int block = 16;
template <class T, class Angle>
SUPPLE_FLAT void sincos_run(int n, T *s, T *c, Angle angle) {
  constexpr int together = native_width * int(8 / sizeof(Scalar<T>)) / Lane<T>::width;
  if constexpr (together < 2) {
    T x[block];
    Mask<T> beyond = beyond_polynomials(x[0] = angle(0));
    for (int i = 0; i < n; ++i) {
      x[i] = angle(i);
      sincos_polynomials(x[i], s[i], c[i]);
      beyond = beyond | beyond_polynomials(x[i]);
    }
    if (any(beyond))
      for (int i = 0; i < n; ++i)
        sincos_library(x[i], s[i], c[i]);
  } else {
    for (int i = 0; i < n; i += together) {
      const auto x = gathered<together, T>(i, [&](int k) { return angle(k < n ? k : n - 1); });
      auto xs = x, xc = x;
      sincos(x, xs, xc);
      std::memcpy(s + i, &xs, sizeof xs);
      std::memcpy(c + i, &xc, sizeof xc);
    }
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
