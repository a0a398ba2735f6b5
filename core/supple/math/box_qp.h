// A quadratic program in a box: the point of the box that is nearest to a given point, in the norm of a
// positive definite matrix.
#pragma once
#include "supple/math/dense.h"
#include "supple/math/simd.h"

namespace supple {
inline namespace SUPPLE_ISA {

struct BoxScratch {
  double *A;         // n x n: M over the free components
  double *p;         // n: step of the free components
  int *free;         // n: which they are
  signed char *side; // n: 1, -1 at the upper, lower bound; 0 free
};

// half the derivative of (x - desired)' M (x - desired) by x_i
SUPPLE_FLAT double half_slope(const double *M, int n, const double *desired, const double *x, int i) {
  double sum = 0;
  for (int k = 0; k < n; ++k)
    sum += M[i * n + k] * (x[k] - desired[k]);
  return sum;
}

// The step of the free components to their minimum, in scratch.p; returns how many are free.
SUPPLE_FN int free_step(const double *M, int n, const double *desired, const double *x,
                        const BoxScratch &scratch) {
  int count = 0;
  for (int i = 0; i < n; ++i)
    if (!scratch.side[i])
      scratch.free[count++] = i;
  for (int i = 0; i < count; ++i) {
    scratch.p[i] = -half_slope(M, n, desired, x, scratch.free[i]);
    for (int j = 0; j <= i; ++j)
      scratch.A[i * count + j] = M[scratch.free[i] * n + scratch.free[j]];
  }
  if (count) {
    factor(scratch.A, count);
    solve(scratch.A, count, scratch.p);
  }
  return count;
}

// Moves x along scratch.p as far as the box allows. Returns whether a component stopped at its bound; the
// first to do so is then marked as being at that bound.
SUPPLE_FN bool go_to_bound(int count, const double *low, const double *high, const BoxScratch &scratch,
                           double *x) {
  double share = 1;
  int stopped = -1;
  for (int i = 0; i < count; ++i) {
    const int k = scratch.free[i];
    const double p = scratch.p[i], distance = p > 0 ? high[k] - x[k] : low[k] - x[k];
    if ((p > 0 && p * share > distance) || (p < 0 && p * share < distance)) {
      share = larger(distance / p, 0.0);
      stopped = k;
    }
  }
  for (int i = 0; i < count; ++i) {
    const int k = scratch.free[i];
    x[k] = clip(x[k] + share * scratch.p[i], low[k], high[k]);
  }
  if (stopped < 0)
    return false;
  scratch.side[stopped] = x[stopped] - low[stopped] < high[stopped] - x[stopped] ? -1 : 1;
  x[stopped] = scratch.side[stopped] > 0 ? high[stopped] : low[stopped];
  return true;
}

// Frees the bound with the largest multiplier; false where none is positive: x is the minimum.
SUPPLE_FN bool free_bound(const double *M, int n, const double *desired, const double *low,
                          const double *high, const double *x, const BoxScratch &scratch) {
  int freed = -1;
  double largest = 0;
  for (int i = 0; i < n; ++i) {
    if (!scratch.side[i] || !(high[i] > low[i]))
      continue;
    const double multiplier = half_slope(M, n, desired, x, i) * scratch.side[i];
    if (multiplier > largest) {
      largest = multiplier;
      freed = i;
    }
  }
  if (freed < 0 || !(largest > 1e-18))
    return false;
  scratch.side[freed] = 0;
  return true;
}

// The x in the box low..high that minimises (x - desired)' M (x - desired), by a primal active set that
// starts at the clipped desired. M is symmetric and positive definite. Every iterate lies in the box, so the
// last one is usable when the iterations end.
SUPPLE_FN void nearest_in_box(const double *M, int n, const double *desired, const double *low,
                              const double *high, const BoxScratch &scratch, double *x) {
  for (int i = 0; i < n; ++i) {
    x[i] = clip(desired[i], low[i], high[i]);
    scratch.side[i] = desired[i] > high[i] ? 1 : desired[i] < low[i] ? -1 : 0;
  }
  for (int iteration = 0; iteration < 4 * n + 8; ++iteration) {
    const int count = free_step(M, n, desired, x, scratch);
    if (go_to_bound(count, low, high, scratch, x))
      continue;
    if (!free_bound(M, n, desired, low, high, x, scratch))
      return;
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
