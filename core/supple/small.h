// Cholesky of small symmetric matrices, without roots: A = L D L'.
#pragma once
#include "lane.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Factors the lower half of a symmetric n x n matrix in place: the diagonal becomes D, what is below becomes L (its
// ones are not stored). A pivot that is not positive ends its column: D and L are 0 there. Returns the smallest pivot.
template <class T> SUPPLE_FN T factor(T *a, int n) {
  const T zero(Scalar<T>(0)), one(Scalar<T>(1));
  T smallest = a[0];
  for (int j = 0; j < n; ++j) {
    T d = a[j * n + j];
    for (int k = 0; k < j; ++k) d = d - a[j * n + k] * a[j * n + k] * a[k * n + k];
    smallest = lesser(smallest, d);
    const Mask<T> good = d > zero;
    const T inverse = select(good, one / select(good, d, one), zero);
    a[j * n + j] = select(good, d, zero);
    for (int i = j + 1; i < n; ++i) {
      T x = a[i * n + j];
      for (int k = 0; k < j; ++k) x = x - a[i * n + k] * a[j * n + k] * a[k * n + k];
      a[i * n + j] = x * inverse;
    }
  }
  return smallest;
}

// Solves L D L' x = b in place of b; where D is 0 the answer is 0 too.
template <class T> SUPPLE_FN void solve(const T *a, int n, T *b) {
  const T zero(Scalar<T>(0)), one(Scalar<T>(1));
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < i; ++k) b[i] = b[i] - a[i * n + k] * b[k];
  for (int i = 0; i < n; ++i) {
    const T d = a[i * n + i];
    const Mask<T> good = d > zero;
    b[i] = select(good, b[i] / select(good, d, one), zero);
  }
  for (int i = n - 1; i >= 0; --i)
    for (int k = i + 1; k < n; ++k) b[i] = b[i] - a[k * n + i] * b[k];
}

// Product of the diagonal of D: the determinant of A.
template <class T> SUPPLE_FN T determinant(const T *a, int n) {
  T product = a[0];
  for (int i = 1; i < n; ++i) product = product * a[i * n + i];
  return product;
}

} // namespace SUPPLE_ISA
} // namespace supple
