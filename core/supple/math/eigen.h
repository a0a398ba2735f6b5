// Eigenvalues and eigenvectors of a symmetric matrix that has changed little since they were last found.
//
// V holds orthonormal rows, nearly eigenvectors of A, and S = V A V' is nearly diagonal. Where S is D + E, D
// diagonal, the small turn X = -X' with X_ij = E_ij / (D_i - D_j) removes E to first order: all pairs at
// once, by products of matrices. Pairs whose eigenvalues are too near to each other for that wait for the
// next round, in which the others are gone; what is left then, and what is far from diagonal, Jacobi's
// rotations make diagonal.
#pragma once
#include "supple/math/dense.h"

namespace supple {
inline namespace SUPPLE_ISA {

// numbers of a row of a matrix that eigen_from works on, N of them if that is known when compiling
template <int N>
constexpr int row_length(int n) {
  return N ? 8 : n;
}
// rows of a product that are computed together
constexpr int product_rows = 6;

// Columns from `first` on of some rows of A B, W at a time, those that are left over fewer at a time. The
// last ones lie within the matrix: some are computed twice. row(k) is where row k of B begins.
template <int W, class Row>
SUPPLE_FLAT void multiply_columns(const double *a, int inner, Row &&row, int columns, int first, double *c) {
  using Columns = Pack<double, W>;
  for (int j = first; j < columns; j += W) {
    if constexpr (W > 2)
      if (2 * (columns - j) <= W || columns < W)
        return multiply_columns<W / 2>(a, inner, row, columns, j, c);
    const int column = j < columns - W ? j : columns - W;
    Columns sum[product_rows], from;
    for (int l = 0; l < product_rows; ++l)
      sum[l] = Columns(0.0);
    for (int k = 0; k < inner; ++k) {
      std::memcpy(&from, row(k) + column, sizeof from);
      SUPPLE_UNROLL(8)
      for (int l = 0; l < product_rows; ++l)
        sum[l] = sum[l] + Columns(a[l * inner + k]) * from;
    }
    for (int l = 0; l < product_rows; ++l)
      std::memcpy(c + l * columns + column, &sum[l], sizeof from);
  }
}

// C = A B, of sizes rows x inner and inner x columns.
template <class Row>
SUPPLE_FLAT void multiply(const double *a, int rows, int inner, Row &&row, int columns, double *c) {
  if (rows < product_rows || columns < 2) {
    for (int i = 0; i < rows; ++i, c += columns) {
      for (int j = 0; j < columns; ++j)
        c[j] = 0;
      for (int k = 0; k < inner; ++k)
        for (int j = 0; j < columns; ++j)
          c[j] += a[i * inner + k] * row(k)[j];
    }
    return;
  }
  for (int i = 0; i < rows; i += product_rows) {
    const int first = i < rows - product_rows ? i : rows - product_rows;
    multiply_columns<native_width>(a + first * inner, inner, row, columns, 0, c + first * columns);
  }
}

// C = A B of square matrices, whose rows are `row_length<N>` numbers apart.
template <int N>
SUPPLE_FLAT void multiply(const double *a, const double *b, int n, double *c) {
  if constexpr (N > 0) {
    using Row = Pack<double, 8>;
    Row rows[N];
    std::memcpy(rows, b, sizeof rows);
    SUPPLE_UNROLL(8)
    for (int i = 0; i < N; ++i) {
      Row sum = Row(a[i * 8]) * rows[0];
      SUPPLE_UNROLL(8)
      for (int k = 1; k < N; ++k)
        sum = sum + Row(a[i * 8 + k]) * rows[k];
      std::memcpy(c + i * 8, &sum, sizeof sum);
    }
  } else {
    multiply(a, n, n, [&](int k) { return b + k * n; }, n, c);
  }
}

// Transposes the n x n part of a square matrix in place.
SUPPLE_FLAT void transpose_part(double *a, int n, int length) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) {
      const double swapped = a[i * length + j];
      a[i * length + j] = a[j * length + i];
      a[j * length + i] = swapped;
    }
}

// What eigen_from works on, matrices with rows of `row_length<N>` numbers.
struct EigenScratch {
  double *s, *x, *t; // S, X, products
  double *d;         // n: D
};

// S = V A V'
template <int N>
SUPPLE_FLAT void transform(const double *a, const double *v, int n_, const EigenScratch &scratch) {
  const int n = N ? N : n_, length = row_length<N>(n);
  multiply<N>(v, a, n, scratch.t);
  transpose_part(scratch.t, n, length);
  multiply<N>(v, scratch.t, n, scratch.s);
  for (int i = 0; i < n; ++i) {
    scratch.d[i] = scratch.s[i * length + i];
    scratch.s[i * length + i] = 0;
    for (int j = 0; j < i; ++j)
      scratch.s[j * length + i] = scratch.s[i * length + j];
  }
}

// an off-diagonal number of S is removed by a turn up to this angle, if the eigenvalues differ by more than
// so many times the square of all of E over the size of S: the turns of the other pairs change them by that
constexpr double longest_turn = 0.05, least_gap = 10;
// Squares of X, all its numbers together, up to which turns are small, from which on rows are made
// orthonormal again, and up to which 1 + X + X^2/2 is orthogonal to rounding
constexpr double small_turn = 0.04, inexact_turn = 6e-5, short_turn = 4e-8;

// The squares of the turn X and of what it removes, all numbers together, and the largest square that waits.
template <class T>
struct EigenTurn {
  T turn = T(0.0), removed = T(0.0), waits = T(0.0);

  // the turn of a pair with e off the diagonal
  SUPPLE_FLAT T see(T e, T gap, T least) {
    const T zero(0.0), one(1.0);
    const Mask<T> apart = (magnitude(e) <= T(longest_turn) * magnitude(gap)) & (magnitude(gap) > least);
    const T x = select(apart, e / select(apart, gap, one), zero);
    turn = turn + x * x;
    removed = removed + select(apart, e * e, zero);
    waits = larger(waits, select(apart, zero, e * e));
    return x;
  }
};

// Finds X; `square` is that of E.
template <int N>
SUPPLE_FLAT EigenTurn<double> find_turn(int n_, double size, double square, const EigenScratch &scratch) {
  constexpr int W = N ? 8 : native_width;
  using Row = Pack<double, W>;
  const int n = N ? N : n_, length = row_length<N>(n), whole = N ? 8 : n - n % W;
  const double least = least_gap * square / size;
  EigenTurn<Row> rows;
  EigenTurn<double> found;
  for (int i = 0; i < n; ++i) {
    const double *e = scratch.s + i * length, d = scratch.d[i];
    double *x = scratch.x + i * length;
    for (int j = 0; j < whole; j += W) {
      Row off, value;
      std::memcpy(&off, e + j, sizeof off);
      std::memcpy(&value, scratch.d + j, sizeof value);
      const Row turn = rows.see(off, Row(d) - value, Row(least));
      std::memcpy(x + j, &turn, sizeof turn);
    }
    for (int j = whole; j < n; ++j)
      x[j] = found.see(e[j], d - scratch.d[j], least);
  }
  for (int l = 0; l < W; ++l) {
    found.turn += get(rows.turn, l);
    found.removed += get(rows.removed, l);
    found.waits = larger(found.waits, get(rows.waits, l));
  }
  return found;
}

// V + part X from, with X from in `to`
template <int N>
SUPPLE_FLAT void add_turned(int n, const double *x, const double *from, double part, double *to, double *v) {
  multiply<N>(x, from, n, to);
  for (int i = 0; i < (N ? N * 8 : n * n); ++i)
    v[i] += part * to[i];
}

// Makes nearly orthonormal rows orthonormal: V + (1 - V V') V / 2 leaves the square of the error.
template <int N>
SUPPLE_FLAT void make_orthonormal(int n_, const EigenScratch &scratch, double *v) {
  const int n = N ? N : n_, length = row_length<N>(n);
  double *x = scratch.x, *t = scratch.t;
  std::memcpy(t, v, length * n * sizeof(double));
  transpose_part(t, n, length);
  multiply<N>(v, t, n, x);
  for (int i = 0; i < n; ++i)
    x[i * length + i] -= 1;
  std::memcpy(t, v, length * n * sizeof(double));
  add_turned<N>(n, x, t, -0.5, scratch.s, v);
}

// V becomes R V, R = 1 + X + X^2/2 + X^3/8: then R R' = 1 - X^6/64. It is made orthonormal again where that
// is not rounding.
template <int N>
SUPPLE_FLAT void turn_rows(int n, double square, const EigenScratch &scratch, double *v) {
  add_turned<N>(n, scratch.x, v, 1, scratch.t, v);
  add_turned<N>(n, scratch.x, scratch.t, 0.5, scratch.s, v);
  if (square > short_turn)
    add_turned<N>(n, scratch.x, scratch.s, 0.125, scratch.t, v);
  if (square > inexact_turn)
    make_orthonormal<N>(n, scratch, v);
}

// Makes a symmetric A diagonal by Jacobi's rotations, which the rows of V take too. Numbers off the diagonal
// whose square is at most `negligible` stay.
template <int N>
SUPPLE_FN void rotate_pairs(double *a, int n_, double negligible, double *v) {
  const int n = N ? N : n_;
  bool more = true;
  for (int sweep = 0; more && sweep < 30; ++sweep) {
    more = false;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        const double x = a[p * n + q], app = a[p * n + p], aqq = a[q * n + q];
        if (!(x * x > negligible))
          continue;
        more = true;
        const double half = 0.5 * (aqq - app),
                     tangent = x / (half + (half < 0 ? -1 : 1) * std::sqrt(half * half + x * x));
        const double c = 1 / std::sqrt(1 + tangent * tangent), s = tangent * c;
        for (int k = 0; k < n; ++k)
          rotate_pair(a[p * n + k], a[q * n + k], c, s);
        for (int k = 0; k < n; ++k) {
          a[k * n + p] = a[p * n + k];
          a[k * n + q] = a[q * n + k];
        }
        a[p * n + p] = app - tangent * x;
        a[q * n + q] = aqq + tangent * x;
        a[p * n + q] = a[q * n + p] = 0;
        for (int k = 0; k < n; ++k)
          rotate_pair(v[p * n + k], v[q * n + k], c, s);
      }
  }
}

// of the numbers off the diagonal
struct OffDiagonal {
  double square, largest; // the sum of their squares, and the largest of these
};
template <int N>
SUPPLE_FLAT OffDiagonal off_diagonal(int n, const double *s) {
  constexpr int W = N ? 8 : native_width;
  const int count = N ? N * 8 : n * n, whole = count - count % W;
  Pack<double, W> sum(0.0), most(0.0), e;
  for (int k = 0; k < whole; k += W) {
    std::memcpy(&e, s + k, sizeof e);
    sum = sum + e * e;
    most = larger(most, e * e);
  }
  OffDiagonal found{0, 0};
  for (int k = whole; k < count; ++k) {
    found.square += s[k] * s[k];
    found.largest = larger(found.largest, s[k] * s[k]);
  }
  for (int l = 0; l < W; ++l) {
    found.square += get(sum, l);
    found.largest = larger(found.largest, get(most, l));
  }
  return found;
}

// rounds of small turns at most
constexpr int turn_rounds = 4;

// Turns V to the eigenvectors of A by small turns; D are its eigenvalues then. False where it is not done: S
// is V A V' less D. Squares off the diagonal up to `negligible` stay.
template <int N>
SUPPLE_FLAT bool turn_to_eigenvectors(const double *a, int n_, double least, double *v,
                                      const EigenScratch &scratch, double &negligible) {
  const int n = N ? N : n_, length = row_length<N>(n);
  double *d = scratch.d;
  for (int round = 0;; ++round) {
    transform<N>(a, v, n, scratch);
    double size = 0;
    for (int i = 0; i < n; ++i)
      size += d[i] * d[i];
    negligible = 0.25 * least * least * size; // half: what a turn leaves adds to what stays
    const OffDiagonal off = off_diagonal<N>(n, scratch.s);
    if (!(off.largest > negligible))
      return true;
    const EigenTurn<double> found = find_turn<N>(n, root(size), off.square, scratch);
    const bool waits = found.waits > negligible;
    if (round == turn_rounds || !(found.turn > 0 && found.turn < small_turn) || (round > 0 && waits))
      return false;
    const bool last = !waits && 4 * found.turn * off.square < negligible;
    for (int i = 0; i < n && last; ++i)
      for (int j = 0; j < n; ++j)
        d[i] += scratch.s[i * length + j] * scratch.x[i * length + j];
    turn_rows<N>(n, found.turn, scratch, v);
    if (last)
      return true;
  }
}

// doubles of scratch that eigen_from takes
constexpr int eigen_scratch(int n) { return (3 * n + 1) * n; }
SUPPLE_FLAT EigenScratch place_eigen(int n, double *scratch) {
  return {scratch, scratch + n * n, scratch + 2 * n * n, scratch + 3 * n * n};
}

// Eigenvalues (on the diagonal of A, 0 beside it) and eigenvectors (rows of V) of a symmetric A, from the
// orthonormal rows that V holds. Beside the diagonal of V A V' remains less than `least` times the size of A.
template <int N>
SUPPLE_FN void eigen_from(double *a, int n_, double least, double *v, double *scratch) {
  const int n = N ? N : n_, length = row_length<N>(n);
  constexpr int padded = N ? N * 8 : 1;
  alignas(64) double rows[5][padded], values[8] = {};
  EigenScratch at = place_eigen(n, scratch);
  double *matrix = a, *basis = v, negligible;
  if constexpr (N > 0) {
    at = {rows[0], rows[1], rows[2], values};
    matrix = rows[3];
    basis = rows[4];
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < 8; ++j) {
        matrix[i * 8 + j] = j < N ? a[i * N + j] : 0;
        basis[i * 8 + j] = j < N ? v[i * N + j] : 0;
      }
  }
  const bool done = turn_to_eigenvectors<N>(matrix, n, least, basis, at, negligible);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      if (N)
        v[i * n + j] = basis[i * length + j];
      a[i * n + j] = i == j ? at.d[i] : done ? 0 : at.s[i * length + j];
    }
  if (!done)
    rotate_pairs<N>(a, n, negligible, v);
}

} // namespace SUPPLE_ISA
} // namespace supple
