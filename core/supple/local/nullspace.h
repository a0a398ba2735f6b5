// Which of many ways: the wish that moves q without moving the hand [K5.25-5.31, D5].
#pragma once
#include "supple/local/types.h"
#include "supple/math/dense.h"
#include "supple/task/jacobian.h"

namespace supple {
inline namespace SUPPLE_ISA {

// How freely the end effectors can move: the product of the singular values of J. G is working memory, min(m,
// n)^2.
SUPPLE_FN double freedom(const double *J, int m, int n, double *G) {
  const int k = m < n ? m : n;
  for (int i = 0; i < k; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = 0;
      for (int l = 0; l < (m < n ? n : m); ++l)
        sum += m < n ? J[i * n + l] * J[j * n + l] : J[l * n + i] * J[l * n + j];
      G[i * k + j] = sum;
    }
  factor(G, k);
  return root(determinant(G, k));
}

// Adds to v what the preferences wish at q: the opposite of the chapter's z [K5.27, its sign kept].
// `evaluation`, `moved` (n) and G are working memory, used by dexterity alone.
SUPPLE_FN void wish(const Problem &problem, const Preference *preferences, int count, const double *q,
                    const double *goals, const Evaluation &evaluation, double *moved, double *G, double *v) {
  const int n = problem.n;
  for (int i = 0; i < count; ++i) {
    const Preference &p = preferences[i];
    if (p.wish == dexterity) {
      // uphill, by central differences: their steps keep half of the digits
      const double step = 1e-6;
      for (int k = 0; k < n; ++k)
        moved[k] = q[k];
      for (int k = 0; k < n; ++k) {
        double side[2];
        for (int s = 0; s < 2; ++s) {
          moved[k] = q[k] + (s ? step : -step);
          evaluate(problem, moved, goals, false, evaluation);
          side[s] = freedom(evaluation.J, problem.rows, n, G);
        }
        moved[k] = q[k];
        v[k] += p.gain[k] * (side[1] - side[0]) / (2 * step);
      }
      continue;
    }
    for (int k = 0; k < n; ++k)
      moved[k] = p.value[k] - q[k];
    for (int b = 0; b < problem.ball_count; ++b) {
      const int k = problem.balls[b].index;
      const Vec<double> way = between(Vec<double>{q[k], q[k + 1], q[k + 2]},
                                      Vec<double>{p.value[k], p.value[k + 1], p.value[k + 2]});
      moved[k] = way.x;
      moved[k + 1] = way.y;
      moved[k + 2] = way.z;
    }
    double factor = 1;
    if (p.wish == away_from) {
      double square = 0;
      for (int k = 0; k < n; ++k)
        square += moved[k] * moved[k];
      factor = -std::exp(-square / (2 * p.width * p.width));
    }
    for (int k = 0; k < n; ++k)
      v[k] += factor * p.gain[k] * moved[k];
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
