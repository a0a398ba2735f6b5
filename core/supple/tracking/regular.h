// The step where no direction is near-singular: one factorisation of the Hessian, no eigenvectors.
#pragma once
#include "supple/math/dense.h"
#include "supple/tracking/evaluate.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Displacements over all joints, natural units; padded to the stride. A held joint has 0 in each.
struct Displacements {
  double *feedback;    // x_b: removes the residual
  double *feedforward; // x_f: follows the command
  double *preferred;   // x_n: in the null space
};

// What a step may use: the joints that are not held at a limit, in their order; for a level of priority, the
// directions of them that earlier levels leave free.
struct Freedom {
  const int *index;              // of the free joints
  int count;                     // of free joints, or of directions
  int rank;                      // of the rows that the step is for
  bool all_joints;               // none is held
  int level = -1;                // of the rows; -1: all rows
  const double *basis = nullptr; // count rows of n: the directions; null: each free joint is one
};

struct RegularScratch {
  double *reduced;  // count x count: J'J or H over the free joints
  double *factor;   // count x count
  double *solution; // count
};

// Whether no direction is near-singular; if so, the displacements are written.
struct RegularStep {
  bool applies = false;
  bool has_null_direction = false;  // one joint more than rows: memory.null_direction
  double null_curvature_change = 0; // damped curvature along it less the Hessian's
  double smallest_singular_value = far_from_singular;
};

// Components along one direction z of the free joints.
struct DirectionComponents {
  double feedback_gradient = 0, feedforward_gradient = 0, to_posture = 0, to_rest = 0, climb = 0,
         preferred = 0;
};

// Displacements along one direction, and the curvature d that they divide by.
struct DirectionStep {
  double curvature, feedback, feedforward, preferred;
};

// Along a direction of the null space with curvature lambda: chi = (1 - |lambda|/sigma_0^2)^2 or 0,
// d = |lambda| + alpha_0 chi, and the preference activity p_n chi z.(rest - q) / d + climb_activity mu
// z.climb + z.preferred.
SUPPLE_FLAT DirectionStep null_step(const Law &law, const EvaluationSummary &summary, double lambda,
                                    const DirectionComponents &along) {
  const double chi = squared(positive(1 - std::fabs(lambda) / squared(law.singular_threshold)));
  const double d = std::fabs(lambda) + law.damping * chi + 1e-9;
  const double preferred = summary.activity * law.rest_pull * chi * along.to_rest / d +
                           summary.climb_activity * law.climb_gain * along.climb + along.preferred;
  return {d, along.feedback_gradient / d, along.feedforward_gradient / d, preferred};
}

// The displacement along a direction with curvature lambda that approaches its minimum at Law::rest_rate, but
// no longer than Law::rest_step. Damping must not make the way to rest slower than that. It fades where the
// command moves fast. With D the way to the minimum, the speed is to be v = rest_rate D; a displacement x is
// taken with K x / sqrt(1 + K^2 x / 2a), a the acceleration along the direction, so
// x = v^2/4a + sqrt((v^2/4a)^2 + (v/K)^2), at most D.
template <int N, int M>
SUPPLE_FLAT double rest_displacement(const TickSetup<N, M> &setup, double haste, double gradient,
                                     double lambda, double acceleration) {
  const Law &law = setup.law;
  const double K = lesser(1.0, law.feedback_gain * setup.dt) / setup.dt;
  const double D = std::fabs(gradient) / (std::fabs(lambda) + 1e-7), v = law.rest_rate * D;
  const double run = 0.25 * v * v / acceleration;
  const double x = lesser(lesser(D, run + root(run * run + squared(v / K))), law.rest_step);
  return positive(1 - 4 * haste) * (gradient < 0 ? -x : x);
}

// The acceleration along a unit direction of the joints that every joint's limit allows.
SUPPLE_FN double acceleration_along(const Tracking &t, const double *direction) {
  double least = 1e300;
  for (int i = 0; i < t.problem.n; ++i)
    if (t.bounds[i].acceleration > 0 && std::fabs(direction[i]) > 1e-3)
      least = lesser(least, t.bounds[i].acceleration / std::fabs(direction[i]));
  return least;
}
// the longer of two displacements
SUPPLE_FLAT double at_least(double x, double least) { return std::fabs(least) > std::fabs(x) ? least : x; }

// Adds to `climb` what keeps joints away from their limits: (1 - distance/margin)^2 Law::limit_push, nearer
// than the margin.
template <int N, int M>
SUPPLE_FN void add_limit_push(const TickSetup<N, M> &setup, const double *q, double *climb) {
  const Tracking &t = setup.tracking;
  for (int i = 0; i < setup.n(); ++i) {
    const JointBounds &joint = t.bounds[i];
    const double x = q[i] / t.unit[i],
                 margin = lesser(setup.law.push_margin, 0.25 * (joint.upper - joint.lower));
    const double above = joint.upper - x, below = x - joint.lower;
    if (above < margin)
      climb[i] -= setup.law.limit_push * squared(1 - positive(above) / margin);
    else if (below < margin)
      climb[i] += setup.law.limit_push * squared(1 - positive(below) / margin);
  }
}

// B A B' of a symmetric n x n matrix A and the rows B of a basis; `products` is scratch for count x n
// numbers.
SUPPLE_FN void project(const double *from, int n, const Freedom &free, double *products, double *to) {
  for (int i = 0; i < free.count; ++i) {
    double *row = products + i * n;
    for (int l = 0; l < n; ++l)
      row[l] = 0;
    for (int k = 0; k < n; ++k) {
      const double part = free.basis[i * n + k];
      for (int l = 0; l < n && part != 0; ++l)
        row[l] += part * from[k * n + l];
    }
    for (int j = 0; j <= i; ++j)
      to[i * free.count + j] = to[j * free.count + i] = dot_rows<0>(row, free.basis + j * n, n);
  }
}

// Copies the rows and columns of the free joints of an n x n matrix together.
SUPPLE_FN void gather(const double *from, int n, const Freedom &free, double *to) {
  for (int i = 0; i < free.count; ++i)
    for (int j = 0; j < free.count; ++j)
      to[i * free.count + j] = from[free.index[i] * n + free.index[j]];
}

// Where every eigenvalue is above this, no direction is near-singular, and the posture is learnt at full
// rate.
SUPPLE_FLAT double regular_threshold(const Law &law) { return 2 * squared(law.singular_threshold); }

// H x = gradient for both gradients, with all N joints free.
template <int N, int M>
SUPPLE_FN bool solve_all_joints(const TickSetup<N, M> &setup, const TickEvaluation &at,
                                const Displacements &out) {
  const double threshold = regular_threshold(setup.law);
  Factored<N> factored;
  if (factored.factor(at.gram, threshold) || factored.factor(at.hessian, threshold))
    return false;
  factored.factor(at.hessian, 0);
  for (int i = 0; i < N; ++i) {
    out.feedback[i] = at.feedback_gradient[i];
    out.feedforward[i] = at.feedforward_gradient[i];
    out.preferred[i] = 0;
  }
  factored.solve(out.feedback);
  factored.solve(out.feedforward);
  return true;
}

// The same over some free joints.
template <int N, int M>
SUPPLE_FN bool solve_free_joints(const TickSetup<N, M> &setup, const TickEvaluation &at, const Freedom &free,
                                 const RegularScratch &scratch, const Displacements &out) {
  const int n = setup.n();
  const double threshold = regular_threshold(setup.law);
  gather(at.gram, n, free, scratch.reduced);
  if (factor_shifted<0>(scratch.reduced, free.count, threshold, scratch.factor))
    return false;
  gather(at.hessian, n, free, scratch.reduced);
  if (factor_shifted<0>(scratch.reduced, free.count, threshold, scratch.factor))
    return false;
  factor_shifted<0>(scratch.reduced, free.count, 0, scratch.factor);
  for (int i = 0; i < n; ++i)
    out.feedback[i] = out.feedforward[i] = out.preferred[i] = 0;
  auto solve_into = [&](const double *gradient, double *displacement) {
    for (int i = 0; i < free.count; ++i)
      scratch.solution[i] = gradient[free.index[i]];
    solve_shifted<0>(scratch.factor, free.count, scratch.solution);
    for (int i = 0; i < free.count; ++i)
      displacement[free.index[i]] = scratch.solution[i];
  };
  solve_into(at.feedback_gradient, out.feedback);
  solve_into(at.feedforward_gradient, out.feedforward);
  return true;
}

// ---- one joint more than rows, sizes known when compiling

// The columns of J, each in a register.
template <int N, int M>
struct JacobianColumns {
  using Register = Pack<double, 8>;
  Register column[N];

  SUPPLE_FLAT explicit JacobianColumns(const double *J) {
    for (int k = 0; k < N; ++k) {
      double padded[8] = {};
      std::memcpy(padded, J + k * M, M * sizeof(double));
      std::memcpy(&column[k], padded, sizeof(Register));
    }
  }
  // J J'
  SUPPLE_FLAT void row_gram(double *out) const {
    SUPPLE_UNROLL(8)
    for (int i = 0; i < M; ++i) {
      Register sum(0.0);
      SUPPLE_UNROLL(8)
      for (int k = 0; k < N; ++k)
        sum = sum + Register(get(column[k], i)) * column[k];
      double all[8];
      std::memcpy(all, &sum, sizeof sum);
      std::memcpy(out + i * M, all, M * sizeof(double));
    }
  }
  // J z, eight numbers
  SUPPLE_FLAT void image(const double *z, double *out) const {
    Register sum(0.0);
    for (int k = 0; k < N; ++k)
      sum = sum + Register(z[k]) * column[k];
    std::memcpy(out, &sum, sizeof sum);
  }
};

// J' rows
template <int N, int M>
SUPPLE_FLAT void transpose_times(const double *J, const double *rows, double *out) {
  for (int k = 0; k < N; ++k)
    out[k] = dot_rows<M>(J + k * M, rows, M);
}

// Inverse iteration for the smallest eigenvalue of J J', from and to the unit vector u. 0 where it fails.
template <int M>
SUPPLE_FLAT double smallest_eigenvalue(const Factored<M> &row_gram, double *u) {
  double gamma = 0;
  for (int turn = 0; turn < 12; ++turn) {
    row_gram.solve(u);
    const double length = root(dot_rows<M>(u, u, M)), last = gamma;
    if (!(length > 0 && length < 1e300))
      return 0;
    gamma = 1 / length;
    for (int i = 0; i < M; ++i)
      u[i] *= gamma;
    if (std::fabs(gamma - last) < 1e-3 * gamma)
      return gamma;
  }
  return 0;
}

// Gradient of the smallest singular value, weighted by (1 - gamma/sigma_1^2)^2, into `climb`. Returns that
// singular value; 0 where it is not found, or not between the two thresholds.
template <int N, int M>
SUPPLE_FN double climb_smallest(const TickSetup<N, M> &setup, const TickEvaluation &at,
                                const Factored<M> &row_gram, double *weakest_row, double *climb) {
  const double threshold = squared(setup.law.climb_threshold);
  double u[M], z[N];
  std::memcpy(u, weakest_row, sizeof u);
  const double gamma = smallest_eigenvalue<M>(row_gram, u);
  if (gamma == 0)
    return 0;
  std::memcpy(weakest_row, u, sizeof u);
  if (!(gamma > regular_threshold(setup.law) && gamma < threshold))
    return 0;
  const double sigma = root(gamma);
  transpose_times<N, M>(at.J, u, z);
  for (int k = 0; k < N; ++k)
    z[k] /= sigma;
  for (int i = 0; i < M; ++i)
    u[i] *= sigma;
  add_singular_value_gradient(setup, at, z, u, sigma, squared(1 - gamma / threshold), climb);
  return sigma;
}

// The null direction: z - J'(J J')^-1 J z of the last tick's z, or of a unit vector where that is too short.
template <int N, int M>
SUPPLE_FLAT bool update_null_direction(const JacobianColumns<N, M> &columns, const Factored<M> &row_gram,
                                       const double *J, double *z) {
  double length = 0, projected[N];
  for (int axis = -1; axis < N && !(length > (axis > 0 ? 0.3 : 0.5)); ++axis) {
    for (int k = 0; k < N && axis >= 0; ++k)
      z[k] = k == axis;
    double rows[8];
    columns.image(z, rows);
    row_gram.solve(rows);
    length = 0;
    for (int k = 0; k < N; ++k) {
      projected[k] = z[k] - dot_rows<M>(J + k * M, rows, M);
      length += projected[k] * projected[k];
    }
    length = root(length);
  }
  if (!(length > 0.1))
    return false;
  for (int k = 0; k < N; ++k)
    z[k] = projected[k] / length;
  return true;
}

// Displacements by the factor of H with its eigenvalue along z moved to 1; those along z are given.
template <int N, int M>
SUPPLE_FN bool solve_beside_null(const TickEvaluation &at, const double *z, double lambda,
                                 const DirectionComponents &along, const DirectionStep &null,
                                 const Displacements &out) {
  double moved[N * N];
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      moved[i * N + j] = at.hessian[i * N + j] + (1 - lambda) * z[i] * z[j];
  Factored<N> factored;
  if (factored.factor(moved, 0))
    return false;
  for (int i = 0; i < N; ++i) {
    out.feedback[i] = at.feedback_gradient[i] - along.feedback_gradient * z[i];
    out.feedforward[i] = at.feedforward_gradient[i] - along.feedforward_gradient * z[i];
  }
  factored.solve(out.feedback);
  factored.solve(out.feedforward);
  for (int i = 0; i < N; ++i) {
    out.feedback[i] += null.feedback * z[i];
    out.feedforward[i] += null.feedforward * z[i];
  }
  return true;
}

// Minimum-norm displacements J'(J J')^-1 r: enough where H hardly differs from J'J.
template <int N, int M>
SUPPLE_FLAT void solve_minimum_norm(const TickEvaluation &at, const Factored<M> &row_gram,
                                    const Displacements &out) {
  double r[M], f[M];
  std::memcpy(r, at.residual, sizeof r);
  std::memcpy(f, at.feedforward, sizeof f);
  row_gram.solve(r);
  row_gram.solve(f);
  transpose_times<N, M>(at.J, r, out.feedback);
  transpose_times<N, M>(at.J, f, out.feedforward);
}

// All joints free, one more than rows: the null direction by projection, the rest as for six joints.
template <int N, int M>
SUPPLE_FN RegularStep regular_redundant(const TickSetup<N, M> &setup, const TickEvaluation &at,
                                        const EvaluationSummary &summary, const ArmMemory &memory,
                                        const Displacements &out) {
  RegularStep step;
  if constexpr (N > 0 && M > 0 && N <= 8) {
    if (!(summary.curvature_norm < 1e-2 * regular_threshold(setup.law)))
      return step;
    const JacobianColumns<N, M> columns(at.J);
    double gram[M * M], climb[N] = {}, *z = memory.null_direction;
    columns.row_gram(gram);
    Factored<M> row_gram;
    const int below = row_gram.factor(gram, squared(setup.law.climb_threshold));
    if (below > 1)
      return step;
    row_gram.factor(gram, 0);
    if (below) {
      step.smallest_singular_value = climb_smallest(setup, at, row_gram, memory.weakest_row, climb);
      if (step.smallest_singular_value == 0)
        return step;
    }
    if (!update_null_direction(columns, row_gram, at.J, z))
      return step;
    add_limit_push(setup, memory.q, climb);
    double lambda = 0;
    DirectionComponents along;
    for (int i = 0; i < N; ++i) {
      lambda += z[i] * dot_rows<N>(at.hessian + i * N, z, N);
      along.feedback_gradient += z[i] * at.feedback_gradient[i];
      along.feedforward_gradient += z[i] * at.feedforward_gradient[i];
      along.to_rest += z[i] * at.to_rest[i];
      along.climb += z[i] * climb[i];
      along.preferred += z[i] * at.preferred[i];
    }
    const DirectionStep null = null_step(setup.law, summary, lambda, along);
    step.has_null_direction = true;
    step.null_curvature_change = null.curvature - lambda;
    for (int i = 0; i < N; ++i)
      out.preferred[i] = null.preferred * z[i];
    if (summary.curvature_norm < 1e-7) {
      solve_minimum_norm<N, M>(at, row_gram, out);
      step.applies = true;
    } else {
      step.applies = solve_beside_null<N, M>(at, z, lambda, along, null, out);
    }
  }
  return step;
}

// The regular step, where it applies: all eigenvalues of J'J and of H over the free joints, less those of the
// null space, are above the threshold.
template <int N, int M>
SUPPLE_FN RegularStep regular_step(const TickSetup<N, M> &setup, const TickEvaluation &at,
                                   const EvaluationSummary &summary, const Freedom &free,
                                   const ArmMemory &memory, const RegularScratch &scratch,
                                   const Displacements &out) {
  const int rank = free.rank;
  RegularStep step;
  if (free.count == 0 || free.count > rank + 1)
    return step;
  if (free.count == rank + 1) {
    if (free.count == setup.n() && setup.m() == rank)
      return regular_redundant(setup, at, summary, memory, out);
    return step;
  }
  if constexpr (N > 0 && N <= 8) {
    if (free.count == N) {
      step.applies = solve_all_joints(setup, at, out);
      return step;
    }
  }
  step.applies = solve_free_joints(setup, at, free, scratch, out);
  return step;
}

} // namespace SUPPLE_ISA
} // namespace supple
