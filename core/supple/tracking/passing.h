// What the joints would need to follow the command exactly past a singularity, and how much of the damping
// and of the pull to the remembered posture is not needed then.
#pragma once
#include "supple/tracking/regular.h"

namespace supple {
inline namespace SUPPLE_ISA {

// How the task curves along a near-singular direction.
struct Fold {
  double kappa;  // |k|
  double weight; // omega = kappa^2 / (kappa^2 + kappa_0^2): 0 passes through (wrist), 1 folds (full stretch)
  double psi;    // (1 - gamma/sigma_0^2)^2
};

// weights of a fold up to which the command is taken to pass through, and from which on to fold
constexpr double fold_begin = 0.3, fold_end = 0.7;

// What an exact pass asks of a joint, over its speed or acceleration limit.
struct PassDemand {
  double whole; // of the whole pass
  double ahead; // of the part that is still to come
};

// The largest speed or acceleration over its limit, of a joint, for these along the unit direction z.
SUPPLE_FN double over_limits(const Tracking &t, const double *z, double speed, double acceleration) {
  double most = 0;
  for (int i = 0; i < t.problem.n; ++i) {
    const JointBounds &joint = t.bounds[i];
    if (joint.acceleration > 0 && joint.speed > 0)
      most = larger(most, std::fabs(z[i]) * larger(speed / joint.speed, acceleration / joint.acceleration));
  }
  return most;
}

// With u = J z / sigma, the command has the speed v_u = u.c / dt along the lost motion, and sigma changes by
// v_s a second. v_s is that of the feed-forward: with feedback in it, a small oscillation would keep itself
// up.
//   Passing through, sigma is the distance from the singularity. A command that goes on straight passes at
//   the distance m = sigma |v_u| / s, s^2 = v_u^2 + v_s^2. The angle along z is atan(x), x = s t / m = v_s /
//   v_u. It has the speed (s / m) / (1 + x^2), at most s / m, and the acceleration 2 x (s / m)^2 / (1 +
//   x^2)^2, at most 0.65 (s / m)^2, where x = 1 / sqrt 3. Now the speed is v_u / sigma and the acceleration
//   2 v_u v_s / sigma^2. After the place of the largest, for x > 0, these are all that is still ahead.
//   In a fold the task is kappa x^2 / 2 with x = sigma / kappa: the speed is v_u / sigma, and the
//   acceleration kappa v_u^2 / sigma^3. Twice of that leaves time to brake before the fold. A command that
//   turns back before a fold has v_u = 0 there, where s / m says nothing: so between the two it is decided
//   early (fold_begin, fold_end).
template <int N, int M>
SUPPLE_FN PassDemand demand_of_pass(const TickSetup<N, M> &setup, const TickEvaluation &at,
                                    const double *feedforward_velocity, const double *z, const double *image,
                                    double gamma, const Fold &fold, double *gradient) {
  const int n = setup.n();
  const double sigma = root(gamma) + 1e-12;
  for (int i = 0; i < n; ++i)
    gradient[i] = 0;
  add_singular_value_gradient(setup, at, z, image, sigma, 1.0, gradient);
  const double v_s = dot_rows<N>(gradient, feedforward_velocity, n);
  const double v_u = std::fabs(dot_rows<M>(image, at.command, setup.m())) / (sigma * setup.dt);
  const double now = v_u / sigma, turn = (squared(v_u) + squared(v_s)) / (sigma * v_u + 1e-12); // s / m
  const double folds = clip((fold.weight - fold_begin) / (fold_end - fold_begin), 0.0, 1.0);
  const double folding = 2 * fold.kappa * squared(v_u) / (gamma * sigma);
  auto demand = [&](double speed, double acceleration) {
    return over_limits(setup.tracking, z, speed + folds * (now - speed),
                       acceleration + folds * (folding - acceleration));
  };
  const double largest = 0.65 * squared(turn), whole = demand(turn, largest);
  if (!(v_s > 0))
    return {whole, whole};
  return {whole, demand(now, v_s > v_u / root(3.0) ? 2 * now * v_s / sigma : largest)};
}

// Shares of damping and of the pull to the remembered posture, 0 to 1, that are not needed.
struct UnneededShares {
  double damping = 0, pull = 0;
};

// how large the share of damping that is left out may be a tick later
SUPPLE_FLAT double risen_share(const Law &law, double dt, double share) {
  return lesser(1.0, share + law.exact_rate * dt);
}

// Where the command turns back, its speed is 0 for a moment, which says nothing of the rest of the pass. So
// the share of damping that is not needed falls at once and rises slowly. Begins a tick: how large it may be.
SUPPLE_FN void begin_exact_share(const Law &law, double dt, ArmScalars &scalars) {
  scalars.exact_share = scalars.next_exact_share;
  scalars.next_exact_share = risen_share(law, dt, scalars.exact_share);
}

// Not needed: the arm follows the command, and the joints can do what passing the singularity exactly asks of
// them. Damping stays until the whole pass could be exact, so that what was missed is made up smoothly. The
// pull holds the arm off its command, so it ends as soon as the rest of the pass can be exact; what little of
// it is needed counts as less.
template <int N, int M>
SUPPLE_FN UnneededShares unneeded_shares(const TickSetup<N, M> &setup, const TickEvaluation &at,
                                         const EvaluationSummary &summary, const double *z,
                                         const double *image, double gamma, const Fold &fold,
                                         double *gradient) {
  const Law &law = setup.law;
  const double follows = positive(1 - squared(summary.residual_norm / law.lost_error));
  if (!(follows * summary.command_speed > 0))
    return {};
  const PassDemand demand =
      demand_of_pass(setup, at, summary.feedforward_velocity, z, image, gamma, fold, gradient);
  auto share = [&](double of) {
    const double x = clip((law.damped_demand - of) / (law.damped_demand - law.exact_demand), 0.0, 1.0);
    return follows * x * x * (3 - 2 * x);
  };
  return {share(demand.whole), 1 - squared(1 - share(demand.ahead))};
}

} // namespace SUPPLE_ISA
} // namespace supple
