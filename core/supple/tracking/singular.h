// Direction by direction: those in which the end effectors hardly move are damped, and folds are left on the
// remembered side.
#pragma once
#include "supple/tracking/regular.h"

namespace supple {
inline namespace SUPPLE_ISA {

template <int N, int M>
struct Weak : Quick<N, M> {
  using Base = Quick<N, M>;
  using Base::Base;
  using Base::t, Base::s, Base::desk, Base::law, Base::dt, Base::n, Base::m, Base::free_count, Base::activity,
      Base::gather, Base::add_growth, Base::second_rows, Base::unseen;

  // direction c of the free joints as one of all joints, in `full`
  SUPPLE_FN void expand(int c) const {
    for (int i = 0; i < n; ++i)
      desk.full[i] = 0;
    for (int k = 0; k < free_count; ++k)
      desk.full[desk.order[k]] = desk.Z[c * free_count + k];
  }

  // The eigenvectors of H over the free joints as rows of Z, by Jacobi rotations from an earlier basis of the
  // same free joints. Two bases are kept: one of all joints, and one of the joints that were free the last
  // time some were held.
  SUPPLE_FN void find_directions() {
    const int nf = free_count;
    gather(desk.H, desk.A);
    bool same = true;
    for (int i = 0; i < n && nf < n; ++i) {
      same = same && desk.x[i] == s.basis_held[i]; // x holds which joints are held now
      s.basis_held[i] = desk.x[i];
    }
    double *V = nf == n ? s.basis : s.basis + n * n, &turned = s.scalars[nf == n ? 1 : 2];
    const bool again = same && turned > 0 && turned < 1000; // rounding adds up: now and then anew
    turned = again ? turned + 1 : 1;
    if (!again)
      for (int i = 0; i < nf * nf; ++i)
        V[i] = i % (nf + 1) ? 0 : 1;
    if (N > 1 && nf == N)
      eigen_from<N>(desk.A, nf, 1e-8, V, desk.F);
    else if (N > 2 && nf == N - 1)
      eigen_from<(N > 2 ? N - 1 : 0)>(desk.A, nf, 1e-8, V, desk.F);
    else
      eigen_from<0>(desk.A, nf, 1e-8, V, desk.F);
    for (int i = 0; i < nf * nf; ++i)
      desk.Z[i] = V[i];
  }

  // Displacements xb (what is left), xf (fed forward) and xn (preferred) over the free joints, direction by
  // direction.
  SUPPLE_FN void by_direction(Tick &tick) {
    const int nf = free_count;
    const double weak = squared(law.weak);
    find_directions();
    for (int i = 0; i < n; ++i)
      desk.xb[i] = desk.xf[i] = desk.xn[i] = desk.climb[i] = 0;
    for (int c = 0; c < nf; ++c) {
      double *u = desk.U + c * m;
      for (int i = 0; i < m; ++i)
        u[i] = 0;
      for (int k = 0; k < nf; ++k) {
        const double z = desk.Z[c * nf + k];
        const double *column = desk.J + desk.order[k] * m;
        for (int i = 0; i < m; ++i)
          u[i] += z * column[i];
      }
      desk.gamma[c] = dot_rows<M>(u, u, m);
      desk.null[c] = 0;
    }
    // where there are more joints than the goals can use, the directions that move least are nobody's
    const int nulls = nf > t.rank ? nf - t.rank : 0;
    for (int k = 0; k < nulls; ++k) {
      int best = -1;
      for (int c = 0; c < nf; ++c)
        if (!desk.null[c] && (best < 0 || desk.gamma[c] < desk.gamma[best]))
          best = c;
      desk.null[best] = 1;
    }
    double least = 1e300;
    for (int c = 0; c < nf; ++c)
      if (!desk.null[c])
        least = lesser(least, desk.gamma[c]);
    tick.least = root(least);
    if (nulls) {
      const double near = squared(law.climb_below);
      for (int c = 0; c < nf; ++c)
        if (!desk.null[c] && desk.gamma[c] < near) {
          expand(c);
          add_growth(desk.full, desk.U + c * m, root(desk.gamma[c]) + 1e-12,
                     squared(1 - desk.gamma[c] / near));
        }
    }
    for (int c = 0; c < nf; ++c) {
      double back = 0, ahead = 0, home = 0, rest = 0, up = 0;
      for (int k = 0; k < nf; ++k) {
        const double z = desk.Z[c * nf + k];
        const int l = desk.order[k];
        back += z * desk.back[l];
        ahead += z * desk.ahead[l];
        home += z * desk.way_home[l];
        rest += z * desk.rest[l];
        up += z * desk.climb[l];
      }
      double lambda = desk.A[c * nf + c], y, f, prefer = 0, d;
      const double gamma = desk.gamma[c], curvature = lambda;
      if (desk.null[c]) {
        unseen(lambda, back, ahead, rest, up, d, y, f, prefer);
      } else if (gamma < weak) {
        expand(c);
        second_rows(desk.full, desk.k);
        // what strong directions can undo does not count
        for (int o = 0; o < nf; ++o)
          if (!desk.null[o] && desk.gamma[o] > weak) {
            const double *u = desk.U + o * m, part = dot_rows<M>(u, desk.k, m) / desk.gamma[o];
            for (int i = 0; i < m; ++i)
              desk.k[i] -= part * u[i];
          }
        const double kappa = root(dot_rows<M>(desk.k, desk.k, m)),
                     fold = squared(kappa) / (squared(kappa) + squared(law.fold));
        const double psi = squared(1 - gamma / weak);
        lambda = gamma + (1 - psi + psi * fold) * (lambda - gamma); // curvature counts where there is a fold
        const double chi = squared(positive(1 - std::fabs(lambda) / weak)),
                     alpha = (law.damping + law.fold_damping * squared(kappa)) * chi;
        d = std::fabs(lambda) + alpha + 1e-9;
        // never longer than Newton's step: the divisor is at least the second derivative along this direction
        const double divisor = larger(d + (law.feedback - 1) * law.damping * chi, curvature);
        y = (back + (law.pull + law.fold_pull * fold) * chi * activity * home) / divisor;
        f = ahead / d;
        if (kappa > 1e-9)
          leave_fold(c, kappa, fold, psi, gamma, home, y);
        report(c, alpha, chi, fold, gamma <= least, tick);
      } else {
        d = std::fabs(lambda) + 1e-9;
        y = back / d;
        f = ahead / d;
      }
      desk.d[c] = d;
      for (int k = 0; k < nf; ++k) {
        const double z = desk.Z[c * nf + k];
        const int l = desk.order[k];
        desk.xb[l] += y * z;
        desk.xf[l] += f * z;
        desk.xn[l] += prefer * z;
      }
    }
  }

  // what a tick tells of a weak direction
  SUPPLE_FN void report(int c, double alpha, double chi, double fold, bool weakest, Tick &tick) const {
    tick.weak = tick.weak || chi > 0;
    tick.damping = larger(tick.damping, alpha);
    for (int k = 0; k < free_count; ++k)
      tick.weights[desk.order[k]] -= chi * squared(desk.Z[c * free_count + k]);
    if (!weakest)
      return;
    tick.fold = fold;
    // Which way it lacks: what is left of the error beside what strong directions can do, of the target that
    // has most of it; or, where nothing is left, the way it moves least.
    double *lack = desk.k, size = 0, most = -1;
    for (int i = 0; i < m; ++i)
      lack[i] = desk.r[i];
    for (int o = 0; o < free_count; ++o)
      if (!desk.null[o] && desk.gamma[o] > squared(law.weak)) {
        const double *u = desk.U + o * m, part = dot_rows<M>(u, lack, m) / desk.gamma[o];
        for (int i = 0; i < m; ++i)
          lack[i] -= part * u[i];
      }
    if (!(dot_rows<M>(lack, lack, m) > 1e-12))
      for (int i = 0; i < m; ++i)
        lack[i] = desk.U[c * m + i];
    for (int k = 0; k < t.problem.target_count; ++k) {
      const Target &target = t.problem.targets[k];
      const double part = dot_rows<0>(lack + target.first, lack + target.first, target.rows);
      if (!(part > most))
        continue;
      most = part;
      size = larger(root(part), 1e-300);
      tick.target = k;
      for (int i = 0; i < 6; ++i)
        tick.way[i] = 0;
      for (int i = 0; i < target.rows; ++i)
        if (target.component[i] < across_1)
          tick.way[target.component[i]] = lack[target.first + i] / size;
    }
  }

  // Out of a fold: along a weak direction the task bends by kappa. Once the command comes back into reach, or
  // will soon, the step leads to the root of that parabola, on the remembered side.
  SUPPLE_FN void leave_fold(int c, double kappa, double fold, double psi, double gamma, double home,
                            double &y) {
    const double slope = dot_rows<M>(desk.k, desk.U + c * m, m) / kappa,
                 left = dot_rows<M>(desk.k, desk.r, m) / kappa;
    const double coming = dot_rows<M>(desk.k, desk.c, m) / kappa;
    s.scalars[0] = larger(s.scalars[0], clip(-kappa * psi * left / law.press, 0.0, 1.0));
    // where joints are held the others have less to leave with
    const double b = kappa * (left + (free_count == n ? 1.0 : 0.5) * law.look_ahead * coming / dt);
    if (!(b > 0))
      return;
    const double at = -slope / kappa, side = home - at < 0 ? -1 : 1;
    const double there = at + side * root(slope * slope + 2 * b) / kappa;
    const double W = s.scalars[0] * fold * squared(positive(1 - gamma / squared(law.fold_below))) * b /
                     (b + 0.05 * squared(law.weak));
    y += W * (there - y);
  }
};

} // namespace SUPPLE_ISA
} // namespace supple
