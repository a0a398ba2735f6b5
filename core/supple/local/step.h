// One change of q from error and Jacobian: inverse, pseudo-inverse, damped, transpose, selectively damped.
#pragma once
#include "supple/local/damping.h"

namespace supple {
inline namespace SUPPLE_ISA {

// working memory of a step: two square matrices and some rows
struct StepScratch {
  double *A, *V; // size x size each, size = max(m, n, 4)
  double *b, *c; // size
  double *free;  // size
  int *order;    // size
};

// [K5.22-5.24, K5.29-5.31] dq = J'(J J' + alpha)^-1 (e - J v) + v, by one linear solve on the shorter side:
// where there are more rows than joints, (J'J + alpha)^-1 (J'e + alpha v) is the same. No e, or no v, is none
// asked.
SUPPLE_FN void least_squares(const double *J, int m, int n, const double *e, double damping, const double *v,
                             const StepScratch &desk, double *dq) {
  const bool wide = m <= n;
  const int k = wide ? m : n;
  auto prepare = [&] {
    for (int i = 0; i < k; ++i)
      for (int j = 0; j <= i; ++j) {
        double sum = i == j ? damping : 0;
        for (int l = 0; l < (wide ? n : m); ++l)
          sum += wide ? J[i * n + l] * J[j * n + l] : J[l * n + i] * J[l * n + j];
        desk.A[i * k + j] = desk.A[j * k + i] = sum;
      }
    // what the wish alone would do is taken from what is asked
    for (int i = 0; i < m; ++i) {
      desk.c[i] = e ? e[i] : 0;
      for (int l = 0; l < n && v; ++l)
        desk.c[i] -= J[i * n + l] * v[l];
    }
    for (int i = 0; i < k; ++i) {
      desk.b[i] = wide ? desk.c[i] : 0;
      for (int l = 0; l < m && !wide; ++l)
        desk.b[i] += J[l * n + i] * desk.c[l];
    }
  };
  prepare();
  if (solve_semidefinite(desk.A, k, desk.b, desk.order, 1e-14) < k) {
    prepare();
    solve_shortest(desk.A, k, desk.b, 1e-14, desk.V, desk.c);
  }
  for (int l = 0; l < n; ++l) {
    dq[l] = (v ? v[l] : 0) + (wide ? 0 : desk.b[l]);
    for (int i = 0; i < m && wide; ++i)
      dq[l] += J[i * n + l] * desk.b[i];
  }
}

// [D11-D18] The paper's five steps, given J_w = W_x J W_q: dq = W_q (J_w'(J_w J_w' + alpha)^-1 (e - J_w v) +
// v), where v is a wish in weighted coordinates, so that a weight of 0 silences a joint. With `bypass` the
// wish goes past the weights, as printed. A wish moves the hand by no more than alpha P^-1 J_w v.
SUPPLE_FN void weighted_least_squares(const double *J, const double *Jw, const double *w, int m, int n,
                                      const double *e, double damping, const double *v, bool bypass,
                                      const StepScratch &desk, double *dq) {
  if (bypass && v) {
    for (int i = 0; i < m; ++i) {
      desk.free[i] = e[i];
      for (int l = 0; l < n; ++l)
        desk.free[i] -= J[i * n + l] * v[l];
    }
    e = desk.free;
  }
  least_squares(Jw, m, n, e, damping, bypass ? nullptr : v, desk, dq);
  for (int l = 0; l < n; ++l)
    dq[l] = w[l] * dq[l] + (bypass && v ? v[l] : 0);
}

// dq = a J'e. The best a makes J dq as near to e as it can.
SUPPLE_FN void transposed(const double *J, int m, int n, const double *e, double scale, double *dq) {
  double up = 0, down = 0, asked = 0;
  for (int l = 0; l < n; ++l) {
    dq[l] = 0;
    for (int i = 0; i < m; ++i)
      dq[l] += J[i * n + l] * e[i];
  }
  for (int i = 0; i < m; ++i) {
    double moved = 0;
    for (int l = 0; l < n; ++l)
      moved += J[i * n + l] * dq[l];
    up += moved * e[i];
    down += moved * moved;
    asked += e[i] * e[i];
  }
  // a slope that is far below rounding leads nowhere
  const double a = scale > 0 ? scale : up > 1e-28 * asked ? up / down : 0;
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

// Selectively damped least squares (Buss and Kim 2005): each singular direction is held back by as much as it
// would move the joints compared with how much it moves the end effectors. A position or an orientation is
// one end effector.
SUPPLE_FN void selective(const Problem &problem, const double *J, const double *e, double most,
                         const StepScratch &desk, double *dq) {
  const int m = problem.rows, n = problem.n;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = 0;
      for (int l = 0; l < n; ++l)
        sum += J[i * n + l] * J[j * n + l];
      desk.A[i * m + j] = desk.A[j * m + i] = sum;
    }
  eigen(desk.A, m, desk.V);
  double top = 0;
  for (int i = 0; i < m; ++i)
    top = larger(top, desk.A[i * m + i]);
  for (int l = 0; l < n; ++l)
    dq[l] = 0;
  // rows that belong together: the positions or the turns of one target
  auto group_ends = [&](int i) {
    for (int t = 0; t < problem.target_count; ++t) {
      const Target &target = problem.targets[t];
      if (i < target.first || i >= target.first + target.rows)
        continue;
      const int k = i - target.first;
      return k + 1 == target.rows || (target.component[k] < about_x) != (target.component[k + 1] < about_x);
    }
    return true;
  };
  // how far each joint moves all end effectors together
  for (int l = 0; l < n; ++l) {
    double square = 0;
    desk.b[l] = 0;
    for (int i = 0; i < m; ++i) {
      square += J[i * n + l] * J[i * n + l];
      if (group_ends(i))
        desk.b[l] += std::sqrt(square), square = 0;
    }
  }
  for (int d = 0; d < m; ++d) {
    if (!(desk.A[d * m + d] > 1e-14 * top && top > 1e-28))
      continue; // J J' knows no smaller ones
    const double sigma = std::sqrt(desk.A[d * m + d]);
    double asked = 0, moves = 0, square = 0, turns_by = 0, largest = 0;
    for (int i = 0; i < m; ++i) {
      const double u = desk.V[i * m + d];
      asked += u * e[i];
      square += u * u;
      if (group_ends(i))
        moves += std::sqrt(square), square = 0;
    }
    for (int l = 0; l < n; ++l) {
      double v = 0;
      for (int i = 0; i < m; ++i)
        v += J[i * n + l] * desk.V[i * m + d];
      desk.c[l] = v / sigma;
      turns_by += std::fabs(desk.c[l]) * desk.b[l] / sigma;
    }
    const double bound = (turns_by > moves ? moves / turns_by : 1) * most;
    for (int l = 0; l < n; ++l)
      desk.c[l] *= asked / sigma, largest = larger(largest, std::fabs(desk.c[l]));
    const double scale = largest > bound ? bound / largest : 1;
    for (int l = 0; l < n; ++l)
      dq[l] += scale * desk.c[l];
  }
  shorten_to(dq, n, most);
}

// The change of q that a method chooses from what is seen; v is the preferences' wish. False where it finds
// none.
SUPPLE_FN bool choose(const Problem &problem, const Method &method, const double *e, const double *J,
                      const double *v, const StepScratch &desk, double *dq) {
  const int m = problem.rows, n = problem.n;
  if (method.way == by_inverse) {
    for (int i = 0; i < n * n; ++i)
      desk.A[i] = J[i];
    for (int i = 0; i < n; ++i)
      dq[i] = e[i];
    return solve_square(desk.A, n, dq);
  }
  if (method.way == by_transpose)
    transposed(J, m, n, e, method.scale, dq);
  else if (method.way == by_selection)
    selective(problem, J, e, method.longest < 0.78539816339744831 ? method.longest : 0.78539816339744831,
              desk, dq);
  else {
    // damped, a wish would leak into the hand by alpha P^-1 J v: what it may do is found without
    bool wishes = false;
    for (int l = 0; l < n; ++l)
      wishes = wishes || v[l] != 0;
    if (wishes)
      least_squares(J, m, n, nullptr, 0, v, desk, desk.free);
    least_squares(J, m, n, e, method.way == by_damping ? method.damping : 0, nullptr, desk, dq);
    for (int l = 0; l < n && wishes; ++l)
      dq[l] += desk.free[l];
  }
  return true;
}

// q after a step: a sum, but balls turn on; within the limits if they are to be kept.
SUPPLE_FN void move(const Problem &problem, bool clamp, const double *q, const double *dq, double *out) {
  for (int l = 0; l < problem.n; ++l) {
    out[l] = q[l] + dq[l];
    if (clamp)
      out[l] = clip(out[l], problem.lower[l], problem.upper[l]);
  }
  for (int i = 0; i < problem.ball_count; ++i) {
    const Ball &ball = problem.balls[i];
    const int k = ball.index;
    Vec<double> r = turned(Vec<double>{q[k], q[k + 1], q[k + 2]}, Vec<double>{dq[k], dq[k + 1], dq[k + 2]});
    if (clamp)
      r = clamp_ball(r, Vec<double>{ball.axis[0], ball.axis[1], ball.axis[2]}, ball.swing, ball.low,
                     ball.high);
    out[k] = r.x, out[k + 1] = r.y, out[k + 2] = r.z;
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
