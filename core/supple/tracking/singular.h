// The step where some direction is near-singular: computed separately for each eigenvector of the Hessian.
//
// For the eigenvector z with eigenvalue lambda and gamma = |J z|^2:
//   null           the (count - rank) directions with the smallest gamma: see null_step
//   near-singular  gamma < sigma_0^2: damped, pulled to the remembered posture, and led out of folds
//   regular        all others: gradient over |lambda|
//
// Symbols and fields of Law (those of folds: fold_exit.h):
//   sigma_0  singular_threshold    alpha_0  damping                   kappa_0  fold_curvature
//   sigma_1  climb_threshold       alpha_1  fold_damping              p_1      fold_posture_pull
//   beta     feedback_damping_ratio
#pragma once
#include "supple/math/eigen.h"
#include "supple/tracking/fold_exit.h"
#include "supple/tracking/passing.h"

namespace supple {
inline namespace SUPPLE_ISA {

// vectors of which the components along directions are needed, and displacements that are made of them
constexpr int component_count = 6, step_count = 3;

struct SingularScratch {
  double *hessian;         // count x count: H over the free joints; afterwards diagonal, with the eigenvalues
  double *products;        // eigen_scratch(n): of eigen_from
  double *basis;           // count x count: directions of a level
  double *images;          // count rows of m: J z of each direction
  double *gamma;           // count: |J z|^2
  bool *is_null;           // count
  double *joint_direction; // n: one direction over all joints
  double *curvature_rows; // m: k, second derivative along z minus the part that regular directions can cancel
  double *remainder;      // m: residual minus the part that regular directions can remove
  double *climb;          // n: gradient of small singular values
  double *curvatures;     // count: d of each direction
  double *gradient;       // n: of one singular value
  double *sources, *components; // component_count a direction: of the vectors, and of their components
  double *still;                // count: a null direction that moves no row, along all directions
  double *steps, *moves;        // step_count rows of count: along directions, and of joints
};

// The directions of the free joints.
struct Directions {
  const double *z;          // count rows of count
  const double *curvatures; // count: d, which is also the cost of a squared deviation along each direction
  int count;
};

struct SingularStep {
  SingularReport report;
  double pressed;
  Directions directions;
  double exact_share = 1; // of damping, that no near-singular direction needs
};

// What is left off the diagonal, over the size of H, of a level. Null directions of a level have no gradient;
// rest_displacement divides by 1e-7 where they have no curvature either, so what rounding leaves must be
// less.
constexpr double level_precision = 1e-12;

// Eigenvectors of H over the free joints, as rows; its eigenvalues on the diagonal of scratch.hessian. From
// the basis of an earlier tick with the same free joints, which is made orthonormal again every 1000 ticks,
// since rounding adds up; else from the identity. Two bases are remembered: one for ticks in which all joints
// are free, one for ticks in which some are held.
template <int N, int M>
SUPPLE_FN const double *find_directions(const TickSetup<N, M> &setup, const TickEvaluation &at,
                                        const Freedom &free, const double *limit_side,
                                        const ArmMemory &memory, const SingularScratch &scratch) {
  const int n = setup.n(), count = free.count;
  const bool all_free = count == n;
  if (free.basis)
    project(at.hessian, n, free, scratch.products, scratch.hessian);
  else
    gather(at.hessian, n, free, scratch.hessian);
  if (free.level >= 0) { // levels change too often to begin from an earlier basis
    for (int i = 0; i < count * count; ++i)
      scratch.basis[i] = i % (count + 1) ? 0 : 1;
    eigen_from<0>(scratch.hessian, count, level_precision, scratch.basis, scratch.products);
    return scratch.basis;
  }
  bool same_joints = true;
  for (int i = 0; i < n && !all_free; ++i) {
    same_joints = same_joints && limit_side[i] == memory.reduced_limit_side[i];
    memory.reduced_limit_side[i] = limit_side[i];
  }
  double *basis = all_free ? memory.basis : memory.reduced_basis;
  int &age = all_free ? memory.scalars->basis_age : memory.scalars->reduced_basis_age;
  const bool reuse = same_joints && age > 0, again = reuse && age == 1000;
  age = reuse && !again ? age + 1 : 1;
  for (int i = 0; i < count * count && !reuse; ++i)
    basis[i] = i % (count + 1) ? 0 : 1;
  if (again)
    make_orthonormal<0>(count, place_eigen(count, scratch.products), basis);
  if (N > 1 && count == N)
    eigen_from<N>(scratch.hessian, count, 1e-8, basis, scratch.products);
  else if (N > 2 && count == N - 1)
    eigen_from<(N > 2 ? N - 1 : 0)>(scratch.hessian, count, 1e-8, basis, scratch.products);
  else
    eigen_from<0>(scratch.hessian, count, 1e-8, basis, scratch.products);
  return basis;
}

// a direction of the freedom as one of all joints
SUPPLE_FN void expand(const double *direction, const Freedom &free, int n, double *out) {
  for (int i = 0; i < n; ++i)
    out[i] = 0;
  for (int k = 0; k < free.count; ++k)
    if (free.basis)
      for (int i = 0; i < n; ++i)
        out[i] += direction[k] * free.basis[k * n + i];
    else
      out[free.index[k]] = direction[k];
}

// Rows of other levels become 0.
SUPPLE_FLAT void keep_level(const Tracking &t, const Freedom &free, double *rows) {
  for (int i = 0; i < t.problem.rows && free.level >= 0; ++i)
    if (t.row_level[i] != free.level)
      rows[i] = 0;
}

// J z and its square for each direction.
template <int N, int M>
SUPPLE_FN void project_directions(const TickSetup<N, M> &setup, const TickEvaluation &at, const Freedom &free,
                                  const double *z, const SingularScratch &scratch) {
  const int m = setup.m();
  if (!free.basis)
    multiply(z, free.count, free.count, [&](int k) { return at.J + free.index[k] * m; }, m, scratch.images);
  for (int c = 0; c < free.count; ++c) {
    double *image = scratch.images + c * m;
    if (free.basis) {
      for (int i = 0; i < m; ++i)
        image[i] = 0;
      expand(z + c * free.count, free, setup.n(), scratch.joint_direction);
      for (int k = 0; k < setup.n(); ++k)
        for (int i = 0; i < m; ++i)
          image[i] += scratch.joint_direction[k] * at.J[k * m + i];
    }
    keep_level(setup.tracking, free, image);
    scratch.gamma[c] = dot_rows<M>(image, image, m);
  }
}

// added to gamma_s: a direction along which nothing moves is left alone
constexpr double least_still_gamma = 1e-12;
// |J z|^2 up to which it is rounding that tells directions apart
constexpr double rounded_gamma = 1e-7;

// Marks the (count - rank) directions with the smallest gamma as null; returns the smallest gamma of the
// others. Where two singular values vanish, one null direction stays what it was in the last tick, if that is
// known (`last`, of all joints).
SUPPLE_FN double mark_null_directions(int count, int rank, const double *z, const double *last,
                                      const SingularScratch &scratch) {
  const bool one = last && count == rank + 1;
  auto score = [&](int c) {
    return scratch.gamma[c] +
           (one ? rounded_gamma * (1 - squared(dot_rows<0>(z + c * count, last, count))) : 0.0);
  };
  for (int c = 0; c < count; ++c)
    scratch.is_null[c] = false;
  for (int k = rank; k < count; ++k) {
    int smallest = -1;
    double least = 0;
    for (int c = 0; c < count; ++c) {
      const double of = scratch.is_null[c] ? 0 : score(c);
      if (!scratch.is_null[c] && (smallest < 0 || of < least)) {
        smallest = c;
        least = of;
      }
    }
    scratch.is_null[smallest] = true;
  }
  double least = 1e300;
  for (int c = 0; c < count; ++c)
    if (!scratch.is_null[c])
      least = lesser(least, scratch.gamma[c]);
  return least;
}

// singular values below it are climbed less: the sign of the gradient changes at 0
constexpr double climb_corner = 0.01;

// The sum of the gradients of singular values below sigma_1, weighted by (1 - gamma/sigma_1^2)^2.
template <int N, int M>
SUPPLE_FN void climb_gradient(const TickSetup<N, M> &setup, const TickEvaluation &at, const Freedom &free,
                              const double *q, const double *z, const SingularScratch &scratch) {
  const double threshold = squared(setup.law.climb_threshold);
  for (int i = 0; i < setup.n(); ++i)
    scratch.climb[i] = 0;
  if (free.count <= free.rank)
    return; // no null space to climb in
  add_limit_push(setup, q, scratch.climb);
  for (int c = 0; c < free.count; ++c) {
    const double gamma = scratch.gamma[c];
    if (scratch.is_null[c] || !(gamma < threshold))
      continue;
    expand(z + c * free.count, free, setup.n(), scratch.joint_direction);
    // through zero, where the gradient of sigma has a corner, that of root(gamma + corner^2) is smooth
    add_singular_value_gradient(setup, at, scratch.joint_direction, scratch.images + c * setup.m(),
                                root(gamma + squared(climb_corner)), squared(1 - gamma / threshold),
                                scratch.climb);
  }
}

// Subtracts from rows the part that directions with gamma above the threshold can cancel.
template <int M>
SUPPLE_FN void remove_regular_part(const SingularScratch &scratch, int count, int m, double threshold,
                                   double *rows) {
  for (int c = 0; c < count; ++c) {
    if (scratch.is_null[c] || !(scratch.gamma[c] > threshold))
      continue;
    const double *image = scratch.images + c * m, part = dot_rows<M>(image, rows, m) / scratch.gamma[c];
    for (int i = 0; i < m; ++i)
      rows[i] -= part * image[i];
  }
}

// Part of the damping along near-singular directions beside a null space, which can lead away from the
// singularity.
constexpr double redundant_damping = 0.5;
// Which way the weakest direction fails: the residual minus the part that regular directions can remove, of
// the target where most of it remains. Where it is zero, J z takes its place.
template <int N, int M>
SUPPLE_FN void report_weakest(const TickSetup<N, M> &setup, const TickEvaluation &at, const double *image,
                              const Freedom &free, const SingularScratch &scratch, SingularReport &report) {
  const int m = setup.m();
  double *rows = scratch.remainder, most = -1;
  for (int i = 0; i < m; ++i)
    rows[i] = at.residual[i];
  keep_level(setup.tracking, free, rows);
  remove_regular_part<M>(scratch, free.count, m, squared(setup.law.singular_threshold), rows);
  if (!(dot_rows<M>(rows, rows, m) > 1e-12))
    for (int i = 0; i < m; ++i)
      rows[i] = image[i];
  for (int k = 0; k < setup.tracking.problem.target_count; ++k) {
    const Target &target = setup.tracking.problem.targets[k];
    const double *part = rows + target.first, square = dot_rows<0>(part, part, target.rows);
    if (!(square > most))
      continue;
    most = square;
    report.target = k;
    for (double &x : report.direction)
      x = 0;
    const double length = larger(root(square), 1e-300);
    for (int i = 0; i < target.rows; ++i)
      if (target.component[i] < across_1)
        report.direction[target.component[i]] = part[i] / length;
  }
}

// The step along the near-singular direction c, and what the tick reports of it:
//   lambda' = gamma + (1 - psi + psi omega)(lambda - gamma)          curvature counts where there is a fold
//   chi = (1 - |lambda'|/sigma_0^2)^2 or 0, d = |lambda'| + (alpha_0 + alpha_1 kappa^2) chi
//   x_b = [z.J'r + p_1 omega chi haste activity z.(posture - q)] / max(d + (beta - 1) alpha_0 chi, lambda);
//   damping and pull only as much as the joints' bounds need (unneeded_shares); beside a null space half
//   of the damping and no pull
//   x_f = z.J'(c - b/2) / d, c = displacement of the command, b = second derivative along the last step
// The divisor is at least lambda, so that no step is longer than Newton's.
template <int N, int M>
SUPPLE_FN DirectionStep near_singular_step(const TickSetup<N, M> &setup, const TickEvaluation &at,
                                           const EvaluationSummary &summary, const Freedom &free, int c,
                                           const DirectionComponents &along, bool weakest, double exact_share,
                                           const SingularScratch &scratch, double *joint_weights,
                                           SingularStep &out) {
  const Law &law = setup.law;
  const int m = setup.m();
  const double *z = out.directions.z + c * free.count, *image = scratch.images + c * m;
  const double gamma = scratch.gamma[c], lambda = scratch.hessian[c * free.count + c];
  const double threshold = squared(law.singular_threshold);
  double *k = scratch.curvature_rows;
  expand(z, free, setup.n(), scratch.joint_direction);
  second_derivative(setup, at, scratch.joint_direction, k);
  keep_level(setup.tracking, free, k);
  remove_regular_part<M>(scratch, free.count, m, threshold, k);
  const double kappa = root(dot_rows<M>(k, k, m));
  const Fold fold{kappa, squared(kappa) / (squared(kappa) + squared(law.fold_curvature)),
                  squared(1 - gamma / threshold)};
  const double blended = gamma + (1 - fold.psi + fold.psi * fold.weight) * (lambda - gamma);
  const double chi = squared(positive(1 - std::fabs(blended) / threshold));
  UnneededShares unneeded;
  if (free.level < 0) {
    unneeded =
        unneeded_shares(setup, at, summary, scratch.joint_direction, image, gamma, fold, scratch.gradient);
    out.exact_share = lesser(out.exact_share, unneeded.damping);
    unneeded.damping = lesser(unneeded.damping, exact_share);
  }
  // a null space chooses the posture; a pull would only hold the arm off its command
  const bool redundant = free.level < 0 && free.count > free.rank;
  const double pull = redundant ? 0
                                : law.fold_posture_pull * fold.weight * chi * (1 - unneeded.pull) *
                                      summary.haste * summary.activity;
  const double needed = 1 - summary.activity * unneeded.damping; // at rest all of the damping is
  const double damped = (redundant ? redundant_damping : 1) * chi * needed;
  const double damping = (law.damping + law.fold_damping * squared(kappa)) * damped * summary.haste;
  const double d = std::fabs(blended) + damping + 1e-9;
  const double feedback_damping = (law.feedback_damping_ratio - 1) * law.damping * damped;
  const double divisor = larger(d + feedback_damping, lambda);
  const double resting = rest_displacement(setup, summary.haste, along.feedback_gradient, lambda,
                                           acceleration_along(setup.tracking, scratch.joint_direction));
  // at_least without the pull: where the two point apart, it would jump from one to the other
  double feedback = at_least(along.feedback_gradient / divisor, resting) + pull * along.to_posture / divisor;
  // of several levels, one with a joint held may not reach the other side of the fold
  if (kappa > 1e-9 && (free.level < 0 || free.all_joints)) {
    const FoldExit exit = leave_fold(setup, at, k, image, fold, gamma, scratch.joint_direction,
                                     free.all_joints, feedback, out.pressed, scratch.gradient);
    feedback = exit.feedback;
    out.pressed = exit.pressed;
  }
  out.report.near_singular = out.report.near_singular || chi > 0;
  out.report.damping = larger(out.report.damping, damping);
  for (int i = 0; i < setup.n(); ++i)
    joint_weights[i] -= chi * squared(scratch.joint_direction[i]);
  if (weakest) {
    out.report.fold = fold.weight;
    report_weakest(setup, at, image, free, scratch, out.report);
  }
  return {d, feedback, along.feedforward_gradient / d, 0};
}

// Components along all directions of the freedom, in scratch.components.
SUPPLE_FN void find_components(const double *z, const Freedom &free, int n, const TickEvaluation &at,
                               const SingularScratch &scratch) {
  // one row for each joint value, or each row of the basis
  const double *const vectors[component_count] = {
      at.feedback_gradient, at.feedforward_gradient, at.to_posture, at.to_rest, scratch.climb, at.preferred};
  for (int k = 0; k < free.count; ++k)
    for (int i = 0; i < component_count; ++i)
      scratch.sources[k * component_count + i] =
          free.basis ? dot_rows<0>(free.basis + k * n, vectors[i], n) : vectors[i][free.index[k]];
  multiply(
      z, free.count, free.count, [&](int k) { return scratch.sources + k * component_count; },
      component_count, scratch.components);
}
SUPPLE_FLAT DirectionComponents components_along(int c, const SingularScratch &scratch) {
  const double *of = scratch.components + c * component_count;
  return {of[0], of[1], of[2], of[3], of[4], of[5]};
}

// A null direction z of H still moves the rows where H is not J'J. Its part that moves none is, to first
// order, y = z_c - sum f_s z_s over the directions s that are not null, f_s = J z_c . J z_s / gamma_s.
// Without this, what the null space prefers would be led along the near-singular directions that z_c
// contains.
SUPPLE_FN DirectionComponents still_components(int c, int count, int m, DirectionComponents along,
                                               const SingularScratch &scratch) {
  double square = 1;
  for (int s = 0; s < count; ++s) {
    scratch.still[s] = s == c;
    if (scratch.is_null[s])
      continue;
    const double f = dot_rows<0>(scratch.images + c * m, scratch.images + s * m, m) /
                     (scratch.gamma[s] + least_still_gamma);
    const DirectionComponents of = components_along(s, scratch);
    along.to_rest -= f * of.to_rest;
    along.climb -= f * of.climb;
    along.preferred -= f * of.preferred;
    scratch.still[s] = -f;
    square += f * f;
  }
  const double scale = 1 / root(square);
  for (int s = 0; s < count; ++s)
    scratch.still[s] *= scale;
  along.to_rest *= scale;
  along.climb *= scale;
  along.preferred *= scale;
  return along;
}
SUPPLE_FN void add_still_step(int count, double step, const SingularScratch &scratch) {
  for (int s = 0; s < count; ++s)
    scratch.steps[2 * count + s] += step * scratch.still[s];
}
// Remembers the null direction of all joints.
SUPPLE_FN void keep_null_direction(const double *z, int count, const SingularScratch &scratch, double *out) {
  for (int i = 0; i < count; ++i) {
    out[i] = 0;
    for (int s = 0; s < count; ++s)
      out[i] += scratch.still[s] * z[s * count + i];
  }
}

// The steps along all directions as displacements of the joints: the rows of scratch.steps times Z.
SUPPLE_FN void take_directions(const double *z, const Freedom &free, int n, const SingularScratch &scratch,
                               const Displacements &out) {
  double *const displacements[step_count] = {out.feedback, out.feedforward, out.preferred};
  const int count = free.count;
  multiply(scratch.steps, step_count, count, [&](int c) { return z + c * count; }, count, scratch.moves);
  for (int i = 0; i < step_count; ++i)
    expand(scratch.moves + i * count, free, n, displacements[i]);
}

// The share of a null direction with curvature lambda that a level leaves to the next; too little is none.
SUPPLE_FLAT double left_share(const Law &law, double lambda) {
  const double share = squared(positive(1 - std::fabs(lambda) / squared(law.singular_threshold)));
  return share > 1e-3 ? share : 0;
}

// Displacements over the free joints, direction by direction. `joint_weights` must be 1 for free joints.
template <int N, int M>
SUPPLE_FN SingularStep singular_step(const TickSetup<N, M> &setup, const TickEvaluation &at,
                                     const EvaluationSummary &summary, const Freedom &free,
                                     const double *limit_side, const ArmMemory &memory,
                                     const SingularScratch &scratch, double *joint_weights,
                                     const Displacements &out) {
  const int n = setup.n(), count = free.count;
  const double *z = find_directions(setup, at, free, limit_side, memory, scratch);
  SingularStep result{{}, memory.scalars->pressed, {z, scratch.curvatures, count}};
  project_directions(setup, at, free, z, scratch);
  const bool whole = free.level < 0 && free.all_joints; // directions are of all joints, and one is remembered
  const double least =
      mark_null_directions(count, free.rank, z, whole ? memory.null_direction : nullptr, scratch);
  result.report.smallest_singular_value = root(least);
  climb_gradient(setup, at, free, memory.q, z, scratch);
  ArmScalars &scalars = *memory.scalars;
  find_components(z, free, n, at, scratch);
  for (int c = 0; c < count; ++c)
    scratch.steps[2 * count + c] = 0;
  for (int c = 0; c < count; ++c) {
    const DirectionComponents along = components_along(c, scratch);
    const double gamma = scratch.gamma[c], lambda = scratch.hessian[c * count + c];
    DirectionStep step;
    if (scratch.is_null[c]) {
      const DirectionComponents still = still_components(c, count, setup.m(), along, scratch);
      step = null_step(setup.law, summary, lambda, still);
      add_still_step(count, step.preferred, scratch);
      if (whole && count == free.rank + 1)
        keep_null_direction(z, count, scratch, memory.null_direction);
      expand(z + c * count, free, n, scratch.joint_direction);
      step.feedback = at_least(
          step.feedback, rest_displacement(setup, summary.haste, along.feedback_gradient, lambda,
                                           acceleration_along(setup.tracking, scratch.joint_direction)));
      if (free.level >= 0 && free.level + 1 < setup.tracking.level_count)
        step.feedback *= 1 - left_share(setup.law, lambda);
    } else if (gamma < squared(setup.law.singular_threshold)) {
      step = near_singular_step(setup, at, summary, free, c, along, gamma <= least, scalars.exact_share,
                                scratch, joint_weights, result);
    } else {
      const double d = std::fabs(lambda) + 1e-9;
      step = {d, along.feedback_gradient / d, along.feedforward_gradient / d, 0};
    }
    if (free.level > 0) // what earlier levels do is cancelled, not more
      step.feedforward *= step.curvature / larger(step.curvature, gamma);
    scratch.curvatures[c] = step.curvature;
    scratch.steps[c] = step.feedback;
    scratch.steps[count + c] = step.feedforward;
  }
  take_directions(z, free, n, scratch, out);
  if (free.level < 0)
    scalars.next_exact_share =
        lesser(result.exact_share, risen_share(setup.law, setup.dt, scalars.exact_share));
  return result;
}

} // namespace SUPPLE_ISA
} // namespace supple
