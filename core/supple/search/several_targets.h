// The step of a search for several targets with few rows and many joints, such as those of a figure.
#pragma once
#include "supple/math/dense.h"
#include "supple/search/types.h"

namespace supple {
inline namespace SUPPLE_ISA {

// most joints of a step that is solved for the rows of several targets
constexpr int most_joints_by_rows = 128;

// Whether J J' of all rows is so much smaller than J'J that the step solves for it.
SUPPLE_FN bool solves_by_all_rows(const Problem &problem) {
  return problem.target_count > 1 && 3 * problem.rows <= 2 * problem.n && problem.n <= most_joints_by_rows;
}

// Adds the products of columns of two targets in joints that move both to their block of A (rows x rows).
// `place` has the column of the first target for each joint, or -1.
template <int R, class T>
SUPPLE_FN void add_block(const Search &search, const int *place, int begin, int end, int rows_1, int rows_2,
                         const T *J, T *block, int stride) {
  const int n1 = R ? R : rows_1, n2 = R ? R : rows_2;
  T sum[36];
  for (int i = 0; i < n1 * n2; ++i)
    sum[i] = splat<T>(0);
  for (int d = begin; d < end; ++d) {
    const int c = place[search.columns[d]];
    if (c < 0)
      continue;
    const T *a = J + 6 * c, *b = J + 6 * d;
    SUPPLE_UNROLL(6)
    for (int i = 0; i < n1; ++i)
      SUPPLE_UNROLL(6)
    for (int j = 0; j < n2; ++j)
      sum[i * n2 + j] = sum[i * n2 + j] + a[i] * b[j];
  }
  for (int i = 0; i < n1; ++i)
    for (int j = 0; j < n2; ++j)
      block[i * stride + j] = sum[i * n2 + j];
}

// Lower half of J J' + damping, into A (rows x rows).
template <class T>
SUPPLE_FN void make_row_matrix(const Problem &problem, const Search &search, T damping, const T *J, T *A) {
  const int m = problem.rows;
  int place[most_joints_by_rows];
  for (int t = 0; t < problem.target_count; ++t) {
    const Target &first = problem.targets[t];
    for (int l = 0; l < problem.n; ++l)
      place[l] = -1;
    for (int c = search.column_begin[t]; c < search.column_begin[t + 1]; ++c)
      place[search.columns[c]] = c;
    for (int s = 0; s <= t; ++s) {
      const Target &second = problem.targets[s];
      const int begin = search.column_begin[s], end = search.column_begin[s + 1];
      T *block = A + first.first * m + second.first;
      if (first.rows == 3 && second.rows == 3)
        add_block<3>(search, place, begin, end, 3, 3, J, block, m);
      else if (first.rows == 6 && second.rows == 6)
        add_block<6>(search, place, begin, end, 6, 6, J, block, m);
      else
        add_block<0>(search, place, begin, end, first.rows, second.rows, J, block, m);
    }
  }
  for (int i = 0; i < m; ++i)
    A[i * m + i] = A[i * m + i] + damping;
}

// change = J'(J J' + damping)^-1 e, for all targets; A is scratch of rows x rows, e becomes the solution.
template <class T>
SUPPLE_FN void solve_by_all_rows(const Problem &problem, const Search &search, T damping, const T *J, T *A,
                                 T *e, T *change) {
  make_row_matrix(problem, search, damping, J, A);
  factor(A, problem.rows);
  solve(A, problem.rows, e);
  for (int l = 0; l < problem.n; ++l)
    change[l] = splat<T>(0);
  for (int t = 0; t < problem.target_count; ++t) {
    const Target &target = problem.targets[t];
    for (int c = search.column_begin[t]; c < search.column_begin[t + 1]; ++c) {
      T sum = change[search.columns[c]];
      for (int i = 0; i < target.rows; ++i)
        sum = sum + J[6 * c + i] * e[target.first + i];
      change[search.columns[c]] = sum;
    }
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
