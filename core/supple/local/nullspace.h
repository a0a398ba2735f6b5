// The preferred step: where preferences would move q in the null space of the goals [K5.25-5.31, D5].
#pragma once
#include "supple/local/types.h"
#include "supple/math/dense.h"
#include "supple/task/jacobian.h"

namespace supple {
inline namespace SUPPLE_ISA {

// difference of two q: later - earlier, and for a ball joint the shortest rotation, in its child's axes
SUPPLE_FN void difference(const Problem &problem, const double *earlier, const double *later, double *out) {
  for (int l = 0; l < problem.n; ++l)
    out[l] = later[l] - earlier[l];
  for (int b = 0; b < problem.ball_count; ++b) {
    const int k = problem.balls[b].index;
    store3(between(load3(earlier + k), load3(later + k)), out + k);
  }
}

// Adds gain times the gradient of manipulability, by central differences: their steps keep half of the
// digits.
SUPPLE_FN void add_manipulability_gradient(const Problem &problem, const double *gain, const double *q,
                                           const double *goals, const Evaluation &evaluation, double *moved,
                                           double *A, double *preferred) {
  const int n = problem.n;
  const double step = 1e-6;
  auto at_moved = [&] {
    evaluate(problem, moved, goals, false, evaluation);
    return manipulability(evaluation.J, problem.rows, n, A);
  };
  for (int k = 0; k < n; ++k)
    moved[k] = q[k];
  for (int k = 0; k < n; ++k) {
    moved[k] = q[k] - step;
    const double below = at_moved();
    moved[k] = q[k] + step;
    const double above = at_moved();
    moved[k] = q[k];
    preferred[k] += gain[k] * (above - below) / (2 * step);
  }
}

// Adds gain times J'd for the origin p of a link with Jacobian J: the gradient of d.p; or, towards a point w,
// with d = (w - p) / max(L, |w - p|), L the width: the pull of a spring that is constant beyond the distance
// L.
SUPPLE_FN void add_link_gradient(const Problem &problem, const Preference &p, const double *q, double *J,
                                 Axis<double> *axes, double *preferred) {
  const int n = problem.n;
  const Frame<double> link = frame<double>(traverse_chain(p.chain, q, axes));
  Vec<double> direction = load3(p.wanted);
  if (p.kind == prefer_point) {
    direction = direction - link.p;
    direction = 1 / larger(p.width, root(dot(direction, direction))) * direction;
  }
  for (int k = 0; k < 6 * n; ++k)
    J[k] = 0;
  geometric_jacobian(p.chain, axes, link.p, false, link.r, J);
  for (int k = 0; k < n; ++k)
    preferred[k] += p.gain[k] * dot(direction, Vec<double>{J[k], J[n + k], J[2 * n + k]});
}

// Adds to `preferred` what the preferences ask at q: -z of the chapter [K5.27]. `evaluation`, `axes` (those
// of the longest chain of a preference, and one more), `moved` (n) and A are scratch; evaluation and A are
// used for manipulability and links alone.
SUPPLE_FN void add_preferences(const Problem &problem, const Preference *preferences, int count,
                               const double *q, const double *goals, const Evaluation &evaluation,
                               Axis<double> *axes, double *moved, double *A, double *preferred) {
  const int n = problem.n;
  for (int i = 0; i < count; ++i) {
    const Preference &p = preferences[i];
    if (p.kind == prefer_manipulability) {
      add_manipulability_gradient(problem, p.gain, q, goals, evaluation, moved, A, preferred);
      continue;
    }
    if (p.kind == prefer_direction || p.kind == prefer_point) {
      add_link_gradient(problem, p, q, evaluation.full, axes, preferred);
      continue;
    }
    difference(problem, q, p.value, moved);
    double factor = 1;
    if (p.kind == avoid_value) {
      double square = 0;
      for (int k = 0; k < n; ++k)
        square += moved[k] * moved[k];
      factor = -std::exp(-square / (2 * p.width * p.width));
    }
    for (int k = 0; k < n; ++k)
      preferred[k] += factor * p.gain[k] * moved[k];
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
