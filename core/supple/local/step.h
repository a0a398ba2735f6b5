// One change of q from error and Jacobian: inverse, pseudo-inverse, damped, transpose, selectively damped.
#pragma once
#include "supple/local/damping.h"

namespace supple {
inline namespace SUPPLE_ISA {

// size = max(m, n, 4)
struct StepScratch {
  double *A;           // size x size: the matrix of a linear solve
  double *V;           // size x size: eigenvectors
  double *x;           // size: right-hand side, then solution
  double *row;         // size: rows or joints of one direction
  double *null_motion; // size: the preferred step in the null space; or the error minus J times it
  int *order;          // size: of pivots
};

SUPPLE_FN void lay_out(StepScratch &s, ScratchLayout &layout, int size) {
  layout.array(s.A, size * size);
  layout.array(s.V, size * size);
  layout.array(s.x, size);
  layout.array(s.row, size);
  layout.array(s.null_motion, size);
  layout.array(s.order, size);
}

// [K5.22-5.24, K5.29-5.31] dq = J'(J J' + alpha I)^-1 (e - J v) + v, by one linear solve on the shorter side:
// where there are more rows than joints, (J'J + alpha I)^-1 J'(e - J v) + v is the same. A null e or v counts
// as zero.
SUPPLE_FN void least_squares(const double *J, int m, int n, const double *e, double alpha, const double *v,
                             const StepScratch &scratch, double *dq) {
  const bool by_rows = m <= n;
  const int k = by_rows ? m : n;
  double *x = scratch.x;
  auto prepare = [&] {
    gram(J, m, n, by_rows, alpha, scratch.A);
    mirror(scratch.A, k);
    for (int i = 0; i < m; ++i) {
      scratch.row[i] = e ? e[i] : 0;
      for (int l = 0; l < n && v; ++l)
        scratch.row[i] -= J[i * n + l] * v[l];
    }
    for (int i = 0; i < k; ++i) {
      x[i] = by_rows ? scratch.row[i] : 0;
      for (int l = 0; l < m && !by_rows; ++l)
        x[i] += J[l * n + i] * scratch.row[l];
    }
  };
  prepare();
  if (solve_semidefinite(scratch.A, k, x, scratch.order, 1e-14) < k) {
    prepare();
    solve_shortest(scratch.A, k, x, 1e-14, scratch.V, scratch.row);
  }
  for (int l = 0; l < n; ++l) {
    dq[l] = (v ? v[l] : 0) + (by_rows ? 0 : x[l]);
    for (int i = 0; i < m && by_rows; ++i)
      dq[l] += J[i * n + l] * x[i];
  }
}

// [D11-D18] The paper's step, given J_w = W_x J W_q and P = J_w J_w' + alpha I:
//   dq = W_q (J_w' P^-1 (e - J_w v) + v)
// v is a preferred step in weighted coordinates, so a joint with weight 0 does not move. With
// `preference_unweighted`, as printed in the paper, the weights do not apply to v:
//   dq = W_q J_w' P^-1 (e - J v) + v
// v moves the end effector by alpha P^-1 J_w v (second form: alpha P^-1 J v), so not at all without damping.
SUPPLE_FN void weighted_least_squares(const double *J, const double *Jw, const double *w, int m, int n,
                                      const double *e, double alpha, const double *v,
                                      bool preference_unweighted, const StepScratch &scratch, double *dq) {
  if (preference_unweighted && v) {
    for (int i = 0; i < m; ++i) {
      scratch.null_motion[i] = e[i];
      for (int l = 0; l < n; ++l)
        scratch.null_motion[i] -= J[i * n + l] * v[l];
    }
    e = scratch.null_motion;
  }
  least_squares(Jw, m, n, e, alpha, preference_unweighted ? nullptr : v, scratch, dq);
  for (int l = 0; l < n; ++l)
    dq[l] = w[l] * dq[l] + (preference_unweighted && v ? v[l] : 0);
}

// dq = a J'e; the best a, used where `scale` is 0, minimises |J dq - e|.
SUPPLE_FN void transposed_step(const double *J, int m, int n, const double *e, double scale, double *dq) {
  double along = 0, square = 0, error = 0;
  for (int l = 0; l < n; ++l) {
    dq[l] = 0;
    for (int i = 0; i < m; ++i)
      dq[l] += J[i * n + l] * e[i];
  }
  for (int i = 0; i < m; ++i) {
    double moved = 0;
    for (int l = 0; l < n; ++l)
      moved += J[i * n + l] * dq[l];
    along += moved * e[i];
    square += moved * moved;
    error += e[i] * e[i];
  }
  // a slope far below rounding counts as zero
  const double a = scale > 0 ? scale : along > 1e-28 * error ? along / square : 0;
  for (int l = 0; l < n; ++l)
    dq[l] *= a;
}

// Scales a step so that no joint changes by more than `most`.
SUPPLE_FN void shorten_to(double *dq, int n, double most) {
  double largest = 0;
  for (int l = 0; l < n; ++l)
    largest = larger(largest, std::fabs(dq[l]));
  if (largest > most)
    for (int l = 0; l < n; ++l)
      dq[l] *= most / largest;
}

// Whether row i is the last of the position rows or of the rotation rows of its target.
SUPPLE_FN bool ends_group(const Problem &problem, int i) {
  for (int t = 0; t < problem.target_count; ++t) {
    const Target &target = problem.targets[t];
    if (i < target.first || i >= target.first + target.rows)
      continue;
    const int k = i - target.first;
    return k + 1 == target.rows ||
           is_position_component(target.component[k]) != is_position_component(target.component[k + 1]);
  }
  return true;
}

// Sum over the groups of rows of the norm of a vector; at(i) gives its components.
template <class At>
SUPPLE_FN double sum_of_norms(const Problem &problem, At &&at) {
  double sum = 0, square = 0;
  for (int i = 0; i < problem.rows; ++i) {
    square += at(i) * at(i);
    if (ends_group(problem, i)) {
      sum += std::sqrt(square);
      square = 0;
    }
  }
  return sum;
}

// Selectively damped least squares (Buss and Kim 2005): each singular direction is bounded by how much it
// moves the joints compared with how much it moves the end effectors. A position or an orientation counts as
// one end effector.
SUPPLE_FN void selectively_damped_step(const Problem &problem, const double *J, const double *e, double most,
                                       const StepScratch &scratch, double *dq) {
  const int m = problem.rows, n = problem.n;
  gram(J, m, n, true, 0, scratch.A);
  mirror(scratch.A, m);
  eigen(scratch.A, m, scratch.V);
  double largest_square = 0;
  for (int i = 0; i < m; ++i)
    largest_square = larger(largest_square, scratch.A[i * m + i]);
  // how far each joint moves all end effectors together
  double *joint_motion = scratch.x, *direction = scratch.row;
  for (int l = 0; l < n; ++l) {
    dq[l] = 0;
    joint_motion[l] = sum_of_norms(problem, [&](int i) { return J[i * n + l]; });
  }
  for (int d = 0; d < m; ++d) {
    const double square = scratch.A[d * m + d];
    if (!(square > 1e-14 * largest_square && largest_square > 1e-28))
      continue; // J J' does not resolve smaller ones
    const double sigma = std::sqrt(square);
    const double moves = sum_of_norms(problem, [&](int i) { return scratch.V[i * m + d]; });
    double error = 0, joint_moves = 0, largest = 0;
    for (int i = 0; i < m; ++i)
      error += scratch.V[i * m + d] * e[i];
    for (int l = 0; l < n; ++l) {
      double v = 0;
      for (int i = 0; i < m; ++i)
        v += J[i * n + l] * scratch.V[i * m + d];
      direction[l] = v / sigma;
      joint_moves += std::fabs(direction[l]) * joint_motion[l] / sigma;
    }
    const double bound = (joint_moves > moves ? moves / joint_moves : 1) * most;
    for (int l = 0; l < n; ++l) {
      direction[l] *= error / sigma;
      largest = larger(largest, std::fabs(direction[l]));
    }
    const double scale = largest > bound ? bound / largest : 1;
    for (int l = 0; l < n; ++l)
      dq[l] += scale * direction[l];
  }
  shorten_to(dq, n, most);
}

SUPPLE_FN bool is_zero(const double *v, int n) {
  for (int l = 0; l < n; ++l)
    if (v[l] != 0)
      return false;
  return true;
}

// The change of q that a method chooses from error and Jacobian; v is the preferred step. False where it
// finds none.
SUPPLE_FN bool choose_step(const Problem &problem, const Method &method, const double *e, const double *J,
                           const double *v, const StepScratch &scratch, double *dq) {
  const int m = problem.rows, n = problem.n;
  const double eighth_turn = 0.78539816339744831;
  if (method.kind == method_inverse) {
    for (int i = 0; i < n * n; ++i)
      scratch.A[i] = J[i];
    for (int i = 0; i < n; ++i)
      dq[i] = e[i];
    return solve_square(scratch.A, n, dq);
  }
  if (method.kind == method_transpose) {
    transposed_step(J, m, n, e, method.transpose_scale, dq);
    return true;
  }
  if (method.kind == method_selectively_damped) {
    selectively_damped_step(problem, J, e, lesser(method.max_step, eighth_turn), scratch, dq);
    return true;
  }
  // Damped, a preferred step would move the end effector by alpha P^-1 J v: its null-space component is found
  // undamped.
  const bool has_preference = !is_zero(v, n);
  if (has_preference)
    least_squares(J, m, n, nullptr, 0, v, scratch, scratch.null_motion);
  least_squares(J, m, n, e, method.kind == method_damped ? method.damping : 0, nullptr, scratch, dq);
  for (int l = 0; l < n && has_preference; ++l)
    dq[l] += scratch.null_motion[l];
  return true;
}

// q after a step: q + dq, ball joints composed as rotations; within the limits if `clamp`.
SUPPLE_FN void move(const Problem &problem, bool clamp, const double *q, const double *dq, double *out) {
  for (int l = 0; l < problem.n; ++l) {
    out[l] = q[l] + dq[l];
    if (clamp)
      out[l] = clip(out[l], problem.lower[l], problem.upper[l]);
  }
  for (int i = 0; i < problem.ball_count; ++i) {
    const Ball &ball = problem.balls[i];
    const int k = ball.index;
    Vec<double> r = turned(load3(q + k), load3(dq + k));
    if (clamp)
      r = clamp_ball(r, load3(ball.axis), ball.swing, ball.low, ball.high);
    store3(r, out + k);
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
