// The step out of a fold, where the end effector can only move back, in one of two ways.
//
// With s the distance along the near-singular direction z, the task in the direction k/kappa is
// task(s) = slope s + kappa s^2 / 2. Once the command is within reach again, or will be within T_l, the step
// leads to the root s of task(s) = residual + ahead that lies on the side of the remembered posture.
//
// The formulas call the constants of Law: sigma_0 singular_threshold, sigma_f fold_threshold, T_l look_ahead,
// b_1 pressed_scale.
#pragma once
#include "supple/tracking/passing.h"
#include "supple/tracking/regular.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Part of T_l where some joints are held: fewer joints can leave the fold, so it looks ahead half as far.
constexpr double held_look_ahead = 0.5;
// The reach margin, in units of sigma_0^2, at which half of the exit is applied: the exit begins without a
// jump.
constexpr double half_exit_margin = 0.05;

struct FoldExit {
  double feedback, pressed;
};

// The slope at the remembered posture less that here, to first order over all joints. The slope is zero where
// the arm is singular, so its sign tells the side. `gradient`: scratch for n numbers.
template <int N, int M>
SUPPLE_FN double slope_change(const TickSetup<N, M> &setup, const TickEvaluation &at, const double *k,
                              double kappa, const double *direction, double *gradient) {
  const int n = setup.n();
  for (int i = 0; i < n; ++i)
    gradient[i] = 0;
  add_singular_value_gradient(setup, at, direction, k, kappa, 1.0, gradient);
  return dot_rows<N>(gradient, at.to_posture, n);
}

// The feedback along z, the `direction` over all joints with its `image` J z, mixed with the way out of the
// fold as far as the command lately pressed against it.
template <int N, int M>
SUPPLE_FN FoldExit leave_fold(const TickSetup<N, M> &setup, const TickEvaluation &at, const double *k,
                              const double *image, const Fold &fold, double gamma, const double *direction,
                              bool all_free, double feedback, double pressed, double *gradient) {
  const Law &law = setup.law;
  const int m = setup.m();
  const double kappa = fold.kappa, slope = dot_rows<M>(k, image, m) / kappa;
  const double residual = dot_rows<M>(k, at.residual, m) / kappa;
  const double command = dot_rows<M>(k, at.command, m) / kappa;
  pressed = larger(pressed, clip(-kappa * fold.psi * residual / law.pressed_scale, 0.0, 1.0));
  const double ahead = (all_free ? 1.0 : held_look_ahead) * law.look_ahead * command / setup.dt;
  const double reach_margin = kappa * (residual + ahead); // positive: the command is within reach
  if (!(reach_margin > 0))
    return {feedback, pressed};
  const double vertex = -slope / kappa;
  const double side = slope + slope_change(setup, at, k, kappa, direction, gradient) < 0 ? -1 : 1;
  const double displacement = vertex + side * root(slope * slope + 2 * reach_margin) / kappa;
  const double weight = pressed * fold.weight * squared(positive(1 - gamma / squared(law.fold_threshold))) *
                        reach_margin / (reach_margin + half_exit_margin * squared(law.singular_threshold));
  return {feedback + weight * (displacement - feedback), pressed};
}

} // namespace SUPPLE_ISA
} // namespace supple
