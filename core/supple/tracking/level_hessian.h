// The Hessian and the gradients of one level of priority, for steps that keep the goals of earlier levels.
#pragma once
#include "supple/tracking/approach.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Factors J J' + 0.1 sigma_0^2 I of the rows of levels before `level`, in scratch.row_gram. Other rows are
// left out: of them the matrix is the identity.
template <int N, int M>
SUPPLE_FN void factor_earlier_rows(const TickSetup<N, M> &setup, const TickEvaluation &at, int level,
                                   const LevelScratch &scratch) {
  const int n = setup.n(), m = setup.m(), *row_level = setup.tracking.row_level;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j <= i; ++j) {
      const bool both = row_level[i] < level && row_level[j] < level;
      double sum = i != j ? 0.0 : both ? 0.1 * squared(setup.law.singular_threshold) : 1.0;
      for (int k = 0; k < n && both; ++k)
        sum += at.J[k * m + i] * at.J[k * m + j];
      scratch.row_gram[i * m + j] = sum;
    }
  factor(scratch.row_gram, m);
}

// Adds to scratch.hessian the curvature of earlier rows f, for steps that keep them. With g = J'r of the
// level and mu = (J_f J_f')^-1 J_f g, a step z with J_f z = 0 is followed by the joints' second derivative
// -J_f^+ f''(z), which adds mu.f''(z) to the second derivative of |r|^2 / 2. That is the curvature of a
// residual -mu of these rows; of a turn only to first order: so the turn is short and its weight large. What
// the turning of the direction to a point to look at adds is left out.
template <int N, int M>
SUPPLE_FN void add_earlier_curvature(const TickSetup<N, M> &setup, const TickEvaluation &at, int level,
                                     const LevelScratch &scratch) {
  const Tracking &t = setup.tracking;
  const int n = setup.n(), m = setup.m();
  double *mu = scratch.rows;
  for (int k = 0; k < m; ++k) {
    mu[k] = 0;
    for (int i = 0; i < n && t.row_level[k] < level; ++i)
      mu[k] += at.J[i * m + k] * scratch.feedback_gradient[i];
  }
  factor_earlier_rows(setup, at, level, scratch);
  solve(scratch.row_gram, m, mu);
  constexpr double w = 1e3;
  const Mover *target_movers = at.movers;
  for (int k = 0; k < t.problem.target_count; ++k) {
    const Target &target = t.problem.targets[k];
    double pull[6]; // linear and angular, in world axes
    for (int c = 0; c < 6; ++c) {
      double unit[6] = {}, rows[6];
      unit[c] = 1;
      weighted_rows<M == 6>(target, at.rows[k], load3(unit), load3(unit + 3), rows);
      pull[c] = -dot_rows<0>(rows, mu + target.first, target.rows) / (w * w);
    }
    add_curvature(target_movers, at.mover_count[k], load3(pull), load3(pull + 3), {w, w, w}, {w, w, w},
                  target.points, at.targets[k].error.pointing, n, scratch.hessian);
    if (target.has_radial)
      add_radial_curvature(target, at.rows[k].vectors, target_movers, at.mover_count[k],
                           -at.rows[k].weight[0] * mu[target.first], n, scratch.hessian);
    target_movers += at.mover_count[k];
  }
}

// The Hessian and the gradients of one level, in scratch. `taken` is the step of earlier levels.
template <int N, int M>
SUPPLE_FN void evaluate_level(const TickSetup<N, M> &setup, const TickEvaluation &at, int level,
                              const double *taken, const LevelScratch &scratch) {
  const Tracking &t = setup.tracking;
  const int n = setup.n(), m = setup.m();
  for (int i = 0; i < n * n; ++i)
    scratch.hessian[i] = 0;
  const Mover *target_movers = at.movers;
  for (int k = 0; k < t.problem.target_count; ++k) {
    const Target &target = t.problem.targets[k];
    CommandResidual r = at.targets[k];
    bool any = false;
    for (int i = 0; i < target.rows; ++i)
      any = any || t.row_level[target.first + i] == level;
    component_weights(t, target, level, r);
    if (any)
      add_residual_curvature(target, r, target_movers, at.mover_count[k], n, scratch.hessian);
    target_movers += at.mover_count[k];
  }
  double *rest = scratch.rows; // c - b/2 - J x
  for (int i = 0; i < m; ++i) {
    rest[i] = at.feedforward[i];
    for (int k = 0; k < n; ++k)
      rest[i] -= at.J[k * m + i] * taken[k];
  }
  for (int i = 0; i < n; ++i) {
    const double *a = at.J + i * m;
    double feedback = 0, feedforward = 0;
    for (int k = 0; k < m; ++k)
      if (t.row_level[k] == level) {
        feedback += a[k] * at.residual[k];
        feedforward += a[k] * rest[k];
      }
    scratch.feedback_gradient[i] = feedback;
    scratch.feedforward_gradient[i] = feedforward;
  }
  if (level > 0)
    add_earlier_curvature(setup, at, level, scratch);
  for (int i = 0; i < n; ++i) {
    const double *a = at.J + i * m;
    for (int j = 0; j <= i; ++j) {
      const double *b = at.J + j * m;
      double sum = scratch.hessian[i * n + j];
      for (int k = 0; k < m; ++k)
        if (t.row_level[k] == level)
          sum += a[k] * b[k];
      scratch.hessian[i * n + j] = scratch.hessian[j * n + i] = sum;
    }
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
