// Small dense matrices, row by row: factorisations, linear solves and symmetric eigenvalues.
//
// clang-format off
//   function            matrix and storage            pivots                        used by
//   factor, solve       symmetric, lower half, any T  as they come, <= 0 dropped    box, damping, rank
//   factor_shifted      A - shift I, whole; double    as they come, counted         tracking, any size
//   Factored<N>         the same, rows in registers   as they come, counted         tracking, N <= 8
//   solve_semidefinite  symmetric, lower half         largest first, stops at rank  local steps
//   solve_square        any square; scalar            largest in its column         inverse of J
//   solve_packed<M>     symmetric, lower half packed  as they come, floored         search, one target
//   eigen               symmetric, all of it          Jacobi rotations              singular values
//
// clang-format on
// They differ in storage or in what they do with a pivot that is not positive.
#pragma once
#include "supple/math/simd.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Lower half of J J' (`by_rows`) or J'J, of k x k numbers, plus `diagonal` on the diagonal; at(i, l) gives
// the entries of the m x n matrix J. Returns k.
template <class T, class At>
SUPPLE_FLAT int gram(int m, int n, bool by_rows, T diagonal, At &&at, T *A) {
  const int k = by_rows ? m : n, length = by_rows ? n : m;
  for (int i = 0; i < k; ++i)
    for (int j = 0; j <= i; ++j) {
      T sum = i == j ? diagonal : splat<T>(0);
      for (int l = 0; l < length; ++l)
        sum = sum + (by_rows ? at(i, l) * at(j, l) : at(l, i) * at(l, j));
      A[i * k + j] = sum;
    }
  return k;
}
SUPPLE_FN int gram(const double *J, int m, int n, bool by_rows, double diagonal, double *A) {
  return gram(m, n, by_rows, diagonal, [&](int i, int l) { return J[i * n + l]; }, A);
}

// Copies the lower half of a square matrix to its upper half.
SUPPLE_FN void mirror(double *A, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      A[j * n + i] = A[i * n + j];
}

// Factors the lower half of a symmetric n x n matrix in place: the diagonal becomes D, what is below becomes
// L (its ones are not stored). A pivot that is not positive ends its column: D and L are 0 there. Returns the
// smallest pivot.
template <class T>
SUPPLE_FN T factor(T *a, int n) {
  const T zero = splat<T>(0), one = splat<T>(1);
  T smallest = a[0];
  for (int j = 0; j < n; ++j) {
    T d = a[j * n + j];
    for (int k = 0; k < j; ++k)
      d = d - a[j * n + k] * a[j * n + k] * a[k * n + k];
    smallest = lesser(smallest, d);
    const Mask<T> good = d > zero;
    const T inverse = select(good, one / select(good, d, one), zero);
    a[j * n + j] = select(good, d, zero);
    for (int i = j + 1; i < n; ++i) {
      T x = a[i * n + j];
      for (int k = 0; k < j; ++k)
        x = x - a[i * n + k] * a[j * n + k] * a[k * n + k];
      a[i * n + j] = x * inverse;
    }
  }
  return smallest;
}

// Solves L D L' x = b in place of b; where D is 0 the answer is 0 too.
template <class T>
SUPPLE_FN void solve(const T *a, int n, T *b) {
  const T zero = splat<T>(0), one = splat<T>(1);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < i; ++k)
      b[i] = b[i] - a[i * n + k] * b[k];
  for (int i = 0; i < n; ++i) {
    const T d = a[i * n + i];
    const Mask<T> good = d > zero;
    b[i] = select(good, b[i] / select(good, d, one), zero);
  }
  for (int i = n - 1; i >= 0; --i)
    for (int k = i + 1; k < n; ++k)
      b[i] = b[i] - a[k * n + i] * b[k];
}

// The same of A - shift I, all pivots taken as they come: returns how many are not positive, which is how
// many eigenvalues of A lie below the shift. Above the diagonal of F stands D L', on it the inverses of D,
// below it L. The size is N, known when compiling, or else n.
template <int N>
SUPPLE_FN int factor_shifted(const double *a, int n_, double shift, double *F) {
  const int n = N ? N : n_;
  int below = 0;
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) {
      double x = a[j * n + i];
      for (int k = 0; k < j; ++k)
        x -= F[j * n + k] * F[k * n + i];
      F[j * n + i] = x;
    }
    const double d = F[j * n + j] - shift;
    below += !(d > 0);
    const double inverse = 1 / (d < 0 ? lesser(d, -1e-300) : larger(d, 1e-300));
    F[j * n + j] = inverse;
    for (int i = j + 1; i < n; ++i)
      F[i * n + j] = F[j * n + i] * inverse;
  }
  return below;
}
template <int N>
SUPPLE_FN void solve_shifted(const double *L, int n_, double *b) {
  const int n = N ? N : n_;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < i; ++k)
      b[i] -= L[i * n + k] * b[k];
  for (int i = 0; i < n; ++i)
    b[i] *= L[i * n + i];
  for (int i = n - 1; i >= 0; --i)
    for (int k = i + 1; k < n; ++k)
      b[i] -= L[k * n + i] * b[k];
}

// The same for up to eight rows, a row in a register: several times faster.
template <int N>
struct Factored {
  using Row = Pack<double, 8>;
  Row upper[N], lower[N]; // D L' and L without their diagonals
  double inverse[N];      // of D

  SUPPLE_FLAT int factor(const double *a, double shift) {
    double rows[N][8] = {}, lows[N][8] = {};
    int below = 0;
    for (int i = 0; i < N; ++i)
      std::memcpy(rows[i], a + i * N, N * sizeof(double));
    for (int i = 0; i < N; ++i)
      std::memcpy(&upper[i], rows[i], sizeof(Row));
    SUPPLE_UNROLL(8)
    for (int j = 0; j < N; ++j) {
      const double d = get(upper[j], j) - shift;
      below += !(d > 0);
      inverse[j] = 1 / (d < 0 ? lesser(d, -1e-300) : larger(d, 1e-300));
      SUPPLE_UNROLL(8)
      for (int i = j + 1; i < N; ++i) {
        lows[i][j] = get(upper[j], i) * inverse[j];
        upper[i] = upper[i] - Row(lows[i][j]) * upper[j];
      }
      SUPPLE_UNROLL(8)
      for (int i = 0; i <= j; ++i)
        put(upper[j], i, 0.0);
    }
    for (int i = 0; i < N; ++i)
      std::memcpy(&lower[i], lows[i], sizeof(Row));
    return below;
  }
  SUPPLE_FLAT void solve(double *b) const {
    double x[8] = {};
    std::memcpy(x, b, N * sizeof(double));
    Row z;
    std::memcpy(&z, x, sizeof z);
    SUPPLE_UNROLL(8)
    for (int j = 0; j < N; ++j)
      z = z - upper[j] * Row(get(z, j) * inverse[j]);
    SUPPLE_UNROLL(8)
    for (int j = 0; j < N; ++j)
      put(z, j, get(z, j) * inverse[j]);
    SUPPLE_UNROLL(8)
    for (int i = N - 1; i > 0; --i)
      z = z - lower[i] * Row(get(z, i));
    std::memcpy(x, &z, sizeof z);
    std::memcpy(b, x, N * sizeof(double));
  }
};

// Solves L D L' x = b for a symmetric A that may be singular, pivots chosen by size: those below `least`
// times the largest, and all that are far below rounding, count as zero. A is lost; b becomes x; order is
// scratch for n numbers. Returns the rank; below n, x satisfies only that many equations.
template <class S>
SUPPLE_FN int solve_semidefinite(S *a, int n, S *b, int *order, S least) {
  for (int i = 0; i < n; ++i)
    order[i] = i;
  auto at = [&](int i, int j) -> S & {
    return order[i] > order[j] ? a[order[i] * n + order[j]] : a[order[j] * n + order[i]];
  };
  S largest = 0;
  int rank = 0;
  for (; rank < n; ++rank) {
    int best = rank;
    for (int i = rank + 1; i < n; ++i)
      if (at(i, i) > at(best, best))
        best = i;
    const int swapped = order[rank];
    order[rank] = order[best];
    order[best] = swapped;
    const S d = at(rank, rank);
    if (rank == 0)
      largest = d;
    if (!(d > least * largest && d > S(1e-28)))
      break;
    for (int i = rank + 1; i < n; ++i) {
      const S l = at(i, rank) / d;
      for (int j = rank + 1; j <= i; ++j)
        at(i, j) = at(i, j) - l * at(j, rank);
    }
    for (int i = rank + 1; i < n; ++i)
      at(i, rank) = at(i, rank) / d;
  }
  for (int i = 0; i < rank; ++i)
    for (int k = 0; k < i; ++k)
      b[order[i]] -= at(i, k) * b[order[k]];
  for (int i = 0; i < n; ++i)
    b[order[i]] = i < rank ? b[order[i]] / at(i, i) : S(0);
  for (int i = rank - 1; i >= 0; --i)
    for (int k = i + 1; k < rank; ++k)
      b[order[i]] -= at(k, i) * b[order[k]];
  return rank;
}

// Solves A x = b in place of b, for the lower triangle of a symmetric A of M rows, packed row by row. A
// becomes L D L', the inverses of D on the diagonal.
template <int M, class T>
SUPPLE_FLAT void solve_packed(T *A, T *b) {
  SUPPLE_UNROLL(6)
  for (int j = 0; j < M; ++j) {
    T scaled[M];
    const int row = j * (j + 1) / 2;
    SUPPLE_UNROLL(6)
    for (int k = 0; k < j; ++k) {
      scaled[k] = A[row + k];
      A[row + k] = A[row + k] * A[k * (k + 1) / 2 + k];
    }
    SUPPLE_UNROLL(6)
    for (int k = 0; k < j; ++k)
      A[row + j] = A[row + j] - scaled[k] * A[row + k];
    A[row + j] = splat<T>(1) / larger(A[row + j], splat<T>(PrecisionOf<T>::least_pivot));
    SUPPLE_UNROLL(6)
    for (int i = j + 1; i < M; ++i)
      SUPPLE_UNROLL(6)
    for (int k = 0; k < j; ++k)
      A[i * (i + 1) / 2 + j] = A[i * (i + 1) / 2 + j] - A[i * (i + 1) / 2 + k] * A[row + k];
  }
  SUPPLE_UNROLL(6)
  for (int i = 1; i < M; ++i)
    SUPPLE_UNROLL(6)
  for (int k = 0; k < i; ++k)
    b[i] = b[i] - A[i * (i + 1) / 2 + k] * b[k];
  SUPPLE_UNROLL(6)
  for (int i = 0; i < M; ++i)
    b[i] = b[i] * A[i * (i + 1) / 2 + i];
  SUPPLE_UNROLL(6)
  for (int i = M - 2; i >= 0; --i)
    SUPPLE_UNROLL(6)
  for (int k = M - 1; k > i; --k) // b[i + 1], the newest, comes last: the others need not wait for it
    b[i] = b[i] - A[k * (k + 1) / 2 + i] * b[k];
}

// Solves A x = b for a square A by elimination, largest pivot first; false where A is singular. A is lost.
template <class S>
SUPPLE_FN bool solve_square(S *a, int n, S *b) {
  S largest = 0;
  for (int i = 0; i < n * n; ++i)
    largest = larger(largest, std::fabs(a[i]));
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i)
      if (std::fabs(a[i * n + k]) > std::fabs(a[best * n + k]))
        best = i;
    if (!(std::fabs(a[best * n + k]) > S(1e-14) * largest))
      return false;
    for (int j = k; j < n && best != k; ++j) {
      const S swapped = a[k * n + j];
      a[k * n + j] = a[best * n + j];
      a[best * n + j] = swapped;
    }
    const S swapped = b[k];
    b[k] = b[best];
    b[best] = swapped;
    for (int i = k + 1; i < n; ++i) {
      const S l = a[i * n + k] / a[k * n + k];
      for (int j = k + 1; j < n; ++j)
        a[i * n + j] -= l * a[k * n + j];
      b[i] -= l * b[k];
    }
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k)
      b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  return true;
}

// one rotation of two numbers: (x, y) becomes (c x - s y, s x + c y)
template <class S>
SUPPLE_FLAT void rotate_pair(S &x, S &y, S c, S s) {
  const S old_x = x, old_y = y;
  x = c * old_x - s * old_y;
  y = s * old_x + c * old_y;
}

// Eigenvalues (on the diagonal of A) and eigenvectors (columns of V) of a symmetric A, by Jacobi's rotations.
template <class S>
SUPPLE_FN void eigen(S *a, int n, S *v) {
  for (int i = 0; i < n * n; ++i)
    v[i] = i % (n + 1) ? S(0) : S(1);
  for (int sweep = 0; sweep < 50; ++sweep) {
    S off = 0, diagonal = 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        (i == j ? diagonal : off) += a[i * n + j] * a[i * n + j];
    if (off <= S(1e-32) * diagonal)
      break;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        if (a[p * n + q] == 0)
          continue;
        const S half = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
        const S t = (half < 0 ? S(-1) : S(1)) / (std::fabs(half) + std::sqrt(1 + half * half));
        const S c = 1 / std::sqrt(1 + t * t), s = t * c;
        for (int k = 0; k < n; ++k)
          rotate_pair(a[k * n + p], a[k * n + q], c, s);
        for (int k = 0; k < n; ++k)
          rotate_pair(a[p * n + k], a[q * n + k], c, s);
        for (int k = 0; k < n; ++k)
          rotate_pair(v[k * n + p], v[k * n + q], c, s);
      }
  }
}

// The shortest x that brings A x nearest to b, in place of b, for a symmetric A without negative eigenvalues:
// those below `least` times the largest, and all that are far below rounding, count as zero. A is lost; v is
// scratch for n x n numbers and c for n.
template <class S>
SUPPLE_FN void solve_shortest(S *a, int n, S *b, S least, S *v, S *c) {
  eigen(a, n, v);
  S top = 0;
  for (int d = 0; d < n; ++d)
    top = larger(top, a[d * n + d]);
  for (int d = 0; d < n; ++d) {
    c[d] = 0;
    if (!(a[d * n + d] > least * top && a[d * n + d] > S(1e-28)))
      continue;
    for (int i = 0; i < n; ++i)
      c[d] += v[i * n + d] * b[i];
    c[d] /= a[d * n + d];
  }
  for (int i = 0; i < n; ++i) {
    b[i] = 0;
    for (int d = 0; d < n; ++d)
      b[i] += v[i * n + d] * c[d];
  }
}

// The determinant of A = L D L' from its factors: the product of the diagonal of D.
template <class T>
SUPPLE_FN T determinant(const T *a, int n) {
  T product = a[0];
  for (int i = 1; i < n; ++i)
    product = product * a[i * n + i];
  return product;
}

// Manipulability of an m x n matrix J: the product of its singular values, sqrt(det(J J')), or sqrt(det(J'J))
// where it has no fewer rows than columns. A is scratch for min(m, n)^2 numbers.
template <class T, class At>
SUPPLE_FLAT T manipulability(int m, int n, At &&at, T *A) {
  const int k = gram(m, n, m < n, splat<T>(0), at, A);
  factor(A, k);
  return root(determinant(A, k));
}
SUPPLE_FN double manipulability(const double *J, int m, int n, double *A) {
  return manipulability<double>(m, n, [&](int i, int l) { return J[i * n + l]; }, A);
}

} // namespace SUPPLE_ISA
} // namespace supple
