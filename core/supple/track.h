// One tick: from where the joints are and what is commanded to where the joints go next.
//
// The law: minimise the weighted error with its true Hessian; feed the command's velocity forward; turn the displacement
// that remains into a speed with one factor for all joints; damp only along directions in which the end effectors hardly
// move; and stay in a box of position, speed, acceleration, braking and jerk. docs/tracking.md tells what each part is for.
#pragma once
#include "bend.h"
#include "box.h"
#include "home.h"

namespace supple {
inline namespace SUPPLE_ISA {

// working memory of a tick; m rows, n joints
struct TickDesk {
  Axis<double> *axes;               // one target after another
  Mover *movers;                    // the same
  int *mover_count;                 // of each target
  Frame<double> *tips;              // of each target
  double *J, *U;                    // n columns of m rows: weighted Jacobian, and J times each direction
  double *G, *H, *A, *Z, *M, *F;    // n x n: J'J, Hessian, H over the free joints, its directions (rows), cost of a deviation, spare
  double *e, *r, *c, *b, *k;        // m
  double *back, *ahead, *way_home, *rest;                                   // n: gradients of what is left and of what is fed forward, ways to postures
  double *low, *high, *x, *wanted, *xb, *xf, *xn, *pace, *d, *gamma, *full, *climb; // n
  int *order;                       // n: the free joints
  char *null;                       // n
  BoxDesk box;
  HomeDesk home;
};

// what a target asks in world axes: position and turn that are left, their weights, and a direction to point along
struct Asking {
  Vec<double> p, o, cp, co, wp, wo, u, v, pointing;
  bool points;
};

template <int M> SUPPLE_FLAT double dot_rows(const double *a, const double *b, int m) {
  double sum = 0;
  for (int i = 0; i < (M ? M : m); ++i) sum += a[i] * b[i];
  return sum;
}
SUPPLE_FLAT double squared(double x) { return x * x; }
SUPPLE_FLAT double positive(double x) { return x > 0 ? x : 0; }

// The rows of a target from a linear and an angular part in world axes.
template <bool Plain = false>
SUPPLE_FLAT void to_rows(const Target &target, const Vec<double> &u, const Vec<double> &v, double unit, Vec<double> linear, Vec<double> angular, double *rows) {
  if (Plain) { // all six, in their order
    const double all[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
    for (int i = 0; i < 6; ++i) rows[i] = unit * target.weight[i] * all[i];
    return;
  }
  const double all[8] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z, dot(u, angular), dot(v, angular)};
  for (int i = 0; i < target.rows; ++i) rows[i] = unit * target.weight[i] * all[target.component[i]];
}

SUPPLE_FN Asking ask(const Target &target, const Frame<double> &tip, const Wanted &wanted, double unit) {
  Asking a{};
  const Frame<double> goal = goal_frame<double>(wanted.goal);
  a.p = goal.p - tip.p;
  a.cp = {wanted.moved[0], wanted.moved[1], wanted.moved[2]};
  a.co = {wanted.moved[3], wanted.moved[4], wanted.moved[5]};
  double w[6] = {0, 0, 0, 0, 0, 0};
  a.points = target.component[target.rows - 1] >= across_1;
  for (int i = 0; i < target.rows; ++i) {
    const double weight = unit * target.weight[i];
    if (target.component[i] < across_1) w[target.component[i]] = weight;
    else w[3] = w[4] = w[5] = weight;
  }
  a.wp = {w[0], w[1], w[2]}, a.wo = {w[3], w[4], w[5]};
  // what has no weight may be anything, even no number
  auto only = [](Vec<double> weight, Vec<double> x) { return Vec<double>{weight.x > 0 ? x.x : 0.0, weight.y > 0 ? x.y : 0.0, weight.z > 0 ? x.z : 0.0}; };
  a.p = only(a.wp, a.p), a.cp = only(a.wp, a.cp), a.co = only(a.wo, a.co);
  if (a.points) {
    a.pointing = tip.r * Vec<double>{target.axis[0], target.axis[1], target.axis[2]};
    a.o = turn_between(a.pointing, Vec<double>{wanted.goal[0], wanted.goal[1], wanted.goal[2]});
    across(a.pointing, a.u, a.v);
    a.co = a.co - dot(a.co, a.pointing) * a.pointing;
  } else if (target.component[target.rows - 1] >= about_x) {
    a.o = log_rotation(goal.r * transpose(tip.r));
  }
  return a;
}

// One tick of one arm. N joints and M rows where they are known when compiling, else 0.
template <int N, int M> struct Tracker {
  const Tracking &t;
  const Memory &s;
  const TickDesk &desk;
  const Law &law;
  const double dt;
  const int n, m;
  int free_count = 0; // joints that are not held at a limit
  double bend = 0;    // how far H is from J'J
  double speed = 0;   // of the command, in weighted units a second
  double activity = 0;

  SUPPLE_FN Tracker(const Tracking &t_, const Memory &s_, const TickDesk &desk_, double dt_)
      : t(t_), s(s_), desk(desk_), law(t_.law), dt(dt_), n(N ? N : t_.problem.n), m(M ? M : t_.problem.rows) {}

  // Jacobian, error, what is left of it beside this tick's command, its curvature, and the gradients.
  SUPPLE_FN void look_around(const Wanted *wanted) {
    for (int i = 0; i < n * n; ++i) desk.H[i] = 0;
    if (!t.plain)
      for (int i = 0; i < n * m; ++i) desk.J[i] = 0;
    for (int i = 0; i < n; ++i) desk.full[i] = s.velocity[i] * dt;
    Axis<double> *axes = desk.axes;
    Mover *moving = desk.movers;
    for (int k = 0; k < t.problem.target_count; ++k) {
      const Target &target = t.problem.targets[k];
      Frame<double> tip = frame<double>(traverse_chain(target.chain, s.q, axes));
      tip.p = tip * Vec<double>{target.point[0], target.point[1], target.point[2]};
      desk.tips[k] = tip;
      const int count = desk.mover_count[k] = movers(target.chain, axes, tip.p, t.size, moving), first = target.first;
      const Asking a = ask(target, tip, wanted[k], t.unit);
      auto rows = [&](Vec<double> linear, Vec<double> angular, double *out) { to_rows<M == 6>(target, a.u, a.v, t.unit, linear, angular, out); };
      for (int i = 0; i < count; ++i) {
        double *column = desk.J + moving[i].index * m + first;
        if (t.plain) {
          rows(moving[i].j, moving[i].z, column);
        } else {
          double more[6];
          rows(moving[i].j, moving[i].z, more);
          for (int l = 0; l < target.rows; ++l) column[l] += more[l];
        }
      }
      rows(a.p, a.o, desk.e + first);
      rows(a.cp, a.co, desk.c + first);
      Vec<double> linear, angular;
      second_along(moving, count, desk.full, linear, angular);
      rows(linear, angular, desk.b + first);
      const Vec<double> p = a.p - a.cp, o = a.o - a.co;
      // what is hardly there does not bend
      const double most = squared(larger(a.wp.x, larger(a.wp.y, a.wp.z))) * dot(p, p) + squared(larger(a.wo.x, larger(a.wo.y, a.wo.z))) * dot(o, o);
      if (most > 1e-12) add_curvature(moving, count, p, o, a.wp, a.wo, a.points, a.pointing, n, desk.H), bend = 1;
      axes += target.chain.axes;
      moving += count;
    }
    if (bend > 0) {
      bend = 0;
      for (int i = 0; i < n * n; ++i) bend += desk.H[i] * desk.H[i];
      bend = root(bend);
    }
    speed = 0;
    for (int i = 0; i < m; ++i) {
      desk.r[i] = desk.e[i] - desk.c[i];
      desk.b[i] = desk.c[i] - 0.5 * desk.b[i];
      speed += desk.c[i] * desk.c[i];
    }
    speed = root(speed) / dt;
    activity = speed / (speed + law.active);
    for (int i = 0; i < n; ++i) {
      const double *column = desk.J + i * m;
      for (int j = 0; j <= i; ++j) {
        const double g = dot_rows<M>(column, desk.J + j * m, m);
        desk.G[i * n + j] = desk.G[j * n + i] = g;
        desk.H[j * n + i] = desk.H[i * n + j] = desk.H[i * n + j] + g;
      }
      desk.back[i] = dot_rows<M>(column, desk.r, m);
      desk.ahead[i] = dot_rows<M>(column, desk.b, m);
    }
  }

  SUPPLE_FN void across_of(int target, Vec<double> &u, Vec<double> &v) const {
    const Target &g = t.problem.targets[target];
    u = v = Vec<double>{0, 0, 0};
    if (g.component[g.rows - 1] >= across_1) across(desk.tips[target].r * Vec<double>{g.axis[0], g.axis[1], g.axis[2]}, u, v);
  }

  // Second derivative of all rows along d.
  SUPPLE_FN void second_rows(const double *d, double *rows) const {
    const Mover *moving = desk.movers;
    for (int k = 0; k < t.problem.target_count; ++k) {
      const Target &target = t.problem.targets[k];
      Vec<double> linear, angular, u, v;
      second_along(moving, desk.mover_count[k], d, linear, angular);
      across_of(k, u, v);
      to_rows<M == 6>(target, u, v, t.unit, linear, angular, rows + target.first);
      moving += desk.mover_count[k];
    }
  }

  // Adds to `climb` how the singular value of a direction z of all joints, J z = u, grows with each joint, times weight.
  SUPPLE_FN void add_growth(const double *z, const double *u_rows, double sigma, double weight) const {
    const Mover *moving = desk.movers;
    for (int k = 0; k < t.problem.target_count; ++k) {
      const Target &target = t.problem.targets[k];
      Vec<double> u, v;
      across_of(k, u, v);
      derivative_along_each(moving, desk.mover_count[k], z, [&](int joint, Vec<double> linear, Vec<double> angular) {
        double rows[6], sum = 0;
        to_rows<M == 6>(target, u, v, t.unit, linear, angular, rows);
        for (int i = 0; i < target.rows; ++i) sum += rows[i] * u_rows[target.first + i];
        desk.climb[joint] += weight * sum / sigma;
      });
      moving += desk.mover_count[k];
    }
  }

  // Copies a square matrix and rows of the free joints together.
  SUPPLE_FN void gather(const double *from, double *to) const {
    const int nf = free_count;
    for (int i = 0; i < nf; ++i)
      for (int j = 0; j < nf; ++j) to[i * nf + j] = from[desk.order[i] * n + desk.order[j]];
  }

  // The short way: no direction is weak, so no direction need be known. For as many joints as rows, a factor tells; with
  // one joint more, the direction that no goal sees is found by a projection. False where it does not hold.
  SUPPLE_FN bool quick(Tick &tick) {
    const int nf = free_count;
    const double clear = 2 * squared(law.weak); // above, even the posture is learnt at full pace
    if (nf > t.rank + 1 || nf == 0) return false;
    if (nf == t.rank + 1) return nf == n && m == t.rank && quick_redundant(tick);
    if constexpr (N > 0 && N <= 8) {
      if (nf == N) {
        Factored<N> F;
        if (F.factor(desk.G, clear) || F.factor(desk.H, clear)) return false;
        F.factor(desk.H, 0);
        for (int i = 0; i < n; ++i) desk.xb[i] = desk.back[i], desk.xf[i] = desk.ahead[i], desk.xn[i] = 0;
        F.solve(desk.xb);
        F.solve(desk.xf);
        return true;
      }
    }
    gather(desk.G, desk.A);
    if (factor_shifted<0>(desk.A, nf, clear, desk.F)) return false;
    gather(desk.H, desk.A);
    if (factor_shifted<0>(desk.A, nf, clear, desk.F)) return false;
    factor_shifted<0>(desk.A, nf, 0, desk.F);
    for (int i = 0; i < n; ++i) desk.xb[i] = desk.xf[i] = desk.xn[i] = 0;
    for (int side = 0; side < 2; ++side) {
      for (int i = 0; i < nf; ++i) desk.full[i] = (side ? desk.ahead : desk.back)[desk.order[i]];
      solve_shifted<0>(desk.F, nf, desk.full);
      for (int i = 0; i < nf; ++i) (side ? desk.xf : desk.xb)[desk.order[i]] = desk.full[i];
    }
    return true;
  }

  // The same with one joint more than rows; for the sizes that are known when compiling.
  SUPPLE_FN bool quick_redundant(Tick &tick) {
    if constexpr (N == 0 || M == 0 || N > 8) return false;
    else {
      const double near = squared(law.climb_below), clear = 2 * squared(law.weak);
      if (!(bend < 1e-2 * clear)) return false;
      using Row = Pack<double, 8>;
      Row column[N];
      for (int k = 0; k < N; ++k) {
        double padded[8] = {};
        std::memcpy(padded, desk.J + k * M, M * sizeof(double));
        std::memcpy(&column[k], padded, sizeof(Row));
      }
      double S[M * M];
#pragma GCC unroll 8
      for (int i = 0; i < M; ++i) {
        Row sum(0.0);
#pragma GCC unroll 8
        for (int k = 0; k < N; ++k) sum = sum + Row(get(column[k], i)) * column[k];
        double all[8];
        std::memcpy(all, &sum, sizeof sum);
        std::memcpy(S + i * M, all, M * sizeof(double));
      }
      Factored<M> F;
      const int below = F.factor(S, near);
      if (below > 1) return false;
      F.factor(S, 0);
      auto transposed = [&](const double *rows, double *out) { // J' rows
        for (int k = 0; k < N; ++k) out[k] = dot_rows<M>(desk.J + k * M, rows, M);
      };
      for (int i = 0; i < N; ++i) desk.climb[i] = 0;
      if (below) {
        // the weakest direction of the rows, by inverse iteration from that of the last tick
        double u[M], gamma = 0, z[N];
        std::memcpy(u, s.null + N, sizeof u);
        for (int turn = 0; turn < 12; ++turn) {
          F.solve(u);
          const double length = root(dot_rows<M>(u, u, M)), was = gamma;
          if (!(length > 0 && length < 1e300)) return false;
          gamma = 1 / length;
          for (int i = 0; i < M; ++i) u[i] *= gamma;
          if (std::fabs(gamma - was) < 1e-3 * gamma) break;
          if (turn == 11) return false;
        }
        std::memcpy(s.null + N, u, sizeof u);
        if (!(gamma > clear && gamma < near)) return false;
        const double sigma = root(gamma);
        transposed(u, z);
        for (int k = 0; k < N; ++k) z[k] /= sigma;
        for (int i = 0; i < M; ++i) u[i] *= sigma;
        add_growth(z, u, sigma, squared(1 - gamma / near));
        tick.least = sigma;
      }
      // the direction that no goal sees, from that of the last tick
      double *z = s.null, length = 0, free[N];
      for (int first = -1; first < N && !(length > (first > 0 ? 0.3 : 0.5)); ++first) {
        if (first >= 0)
          for (int k = 0; k < N; ++k) z[k] = k == first;
        Row along(0.0);
        for (int k = 0; k < N; ++k) along = along + Row(z[k]) * column[k];
        double l[8];
        std::memcpy(l, &along, sizeof along);
        F.solve(l);
        length = 0;
        for (int k = 0; k < N; ++k) free[k] = z[k] - dot_rows<M>(desk.J + k * M, l, M), length += free[k] * free[k];
        length = root(length);
      }
      if (!(length > 0.1)) return false;
      for (int k = 0; k < N; ++k) z[k] = free[k] / length;
      double lambda = 0, back = 0, ahead = 0, rest = 0, up = 0;
      for (int i = 0; i < N; ++i) {
        double sum = 0;
        for (int j = 0; j < N; ++j) sum += desk.H[i * N + j] * z[j];
        lambda += z[i] * sum, back += z[i] * desk.back[i], ahead += z[i] * desk.ahead[i], rest += z[i] * desk.rest[i], up += z[i] * desk.climb[i];
      }
      double y, f, prefer, d;
      unseen(lambda, back, ahead, rest, up, d, y, f, prefer);
      desk.d[0] = d, desk.d[1] = lambda;
      for (int i = 0; i < N; ++i) desk.xn[i] = prefer * z[i];
      if (bend < 1e-7) { // the shortest steps are good enough
        double r[M], b[M];
        std::memcpy(r, desk.r, sizeof r), std::memcpy(b, desk.b, sizeof b);
        F.solve(r);
        F.solve(b);
        transposed(r, desk.xb);
        transposed(b, desk.xf);
        return true;
      }
      // with the eigenvalue of that direction moved to one, H has a factor
      for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j) desk.M[i * N + j] = desk.H[i * N + j] + (1 - lambda) * z[i] * z[j];
      Factored<N> whole;
      if (whole.factor(desk.M, 0)) return false;
      for (int i = 0; i < N; ++i) desk.xb[i] = desk.back[i] - back * z[i], desk.xf[i] = desk.ahead[i] - ahead * z[i];
      whole.solve(desk.xb);
      whole.solve(desk.xf);
      for (int i = 0; i < N; ++i) desk.xb[i] += y * z[i], desk.xf[i] += f * z[i];
      return true;
    }
  }

  // A direction that no goal sees.
  SUPPLE_FN void unseen(double lambda, double back, double ahead, double rest, double up, double &d, double &y, double &f, double &prefer) const {
    const double chi = squared(positive(1 - std::fabs(lambda) / squared(law.weak)));
    d = std::fabs(lambda) + law.damping * chi + 1e-9;
    y = back / d, f = ahead / d;
    prefer = activity * (law.rest * chi * rest / d + law.climb * up);
  }

  // direction c of the free joints as one of all joints, in `full`
  SUPPLE_FN void expand(int c) const {
    for (int i = 0; i < n; ++i) desk.full[i] = 0;
    for (int k = 0; k < free_count; ++k) desk.full[desk.order[k]] = desk.Z[c * free_count + k];
  }

  // The eigenvectors of H over the free joints as rows of Z, from those of the last tick where the same joints are free.
  SUPPLE_FN void find_directions() {
    const int nf = free_count;
    gather(desk.H, desk.A);
    const bool again = nf == n && s.scalars[1] > 0 && s.scalars[1] < 1000; // rounding adds up: now and then anew
    s.scalars[1] = nf == n ? (again ? s.scalars[1] + 1 : 1) : 0;
    double *V = nf == n ? s.basis : desk.Z;
    if (!again)
      for (int i = 0; i < nf * nf; ++i) V[i] = i % (nf + 1) ? 0 : 1;
    if (nf == N && N) eigen_from<N>(desk.A, nf, 1e-9, V, desk.F);
    else eigen_from<0>(desk.A, nf, 1e-9, V, desk.F);
    if (nf == n)
      for (int i = 0; i < n * n; ++i) desk.Z[i] = V[i];
  }

  // Displacements xb (what is left), xf (fed forward) and xn (preferred) over the free joints, direction by direction.
  SUPPLE_FN void by_direction(Tick &tick) {
    const int nf = free_count;
    const double weak = squared(law.weak);
    find_directions();
    for (int i = 0; i < n; ++i) desk.xb[i] = desk.xf[i] = desk.xn[i] = desk.climb[i] = 0;
    for (int c = 0; c < nf; ++c) {
      double *u = desk.U + c * m;
      for (int i = 0; i < m; ++i) u[i] = 0;
      for (int k = 0; k < nf; ++k) {
        const double z = desk.Z[c * nf + k];
        const double *column = desk.J + desk.order[k] * m;
        for (int i = 0; i < m; ++i) u[i] += z * column[i];
      }
      desk.gamma[c] = dot_rows<M>(u, u, m);
      desk.null[c] = 0;
    }
    // where there are more joints than the goals can use, the directions that move least are nobody's
    const int nulls = nf > t.rank ? nf - t.rank : 0;
    for (int k = 0; k < nulls; ++k) {
      int best = -1;
      for (int c = 0; c < nf; ++c)
        if (!desk.null[c] && (best < 0 || desk.gamma[c] < desk.gamma[best])) best = c;
      desk.null[best] = 1;
    }
    double least = 1e300;
    for (int c = 0; c < nf; ++c)
      if (!desk.null[c]) least = lesser(least, desk.gamma[c]);
    tick.least = root(least);
    if (nulls) {
      const double near = squared(law.climb_below);
      for (int c = 0; c < nf; ++c)
        if (!desk.null[c] && desk.gamma[c] < near) {
          expand(c);
          add_growth(desk.full, desk.U + c * m, root(desk.gamma[c]) + 1e-12, squared(1 - desk.gamma[c] / near));
        }
    }
    for (int c = 0; c < nf; ++c) {
      double back = 0, ahead = 0, home = 0, rest = 0, up = 0;
      for (int k = 0; k < nf; ++k) {
        const double z = desk.Z[c * nf + k];
        const int l = desk.order[k];
        back += z * desk.back[l], ahead += z * desk.ahead[l], home += z * desk.way_home[l], rest += z * desk.rest[l], up += z * desk.climb[l];
      }
      double lambda = desk.A[c * nf + c], y, f, prefer = 0, d;
      const double gamma = desk.gamma[c];
      if (desk.null[c]) {
        unseen(lambda, back, ahead, rest, up, d, y, f, prefer);
      } else if (gamma < weak) {
        expand(c);
        second_rows(desk.full, desk.k);
        // what strong directions can undo does not count
        for (int o = 0; o < nf; ++o)
          if (!desk.null[o] && desk.gamma[o] > weak) {
            const double *u = desk.U + o * m, part = dot_rows<M>(u, desk.k, m) / desk.gamma[o];
            for (int i = 0; i < m; ++i) desk.k[i] -= part * u[i];
          }
        const double kappa = root(dot_rows<M>(desk.k, desk.k, m)), fold = squared(kappa) / (squared(kappa) + squared(law.fold));
        const double psi = squared(1 - gamma / weak);
        lambda = gamma + (1 - psi + psi * fold) * (lambda - gamma); // curvature counts where there is a fold
        const double chi = squared(positive(1 - std::fabs(lambda) / weak)), alpha = (law.damping + law.fold_damping * squared(kappa)) * chi;
        d = std::fabs(lambda) + alpha + 1e-9;
        y = (back + (law.pull + law.fold_pull * fold) * chi * activity * home) / (d + (law.feedback - 1) * law.damping * chi);
        f = ahead / d;
        if (kappa > 1e-9) leave_fold(c, kappa, fold, psi, gamma, home, y);
        report(c, alpha, chi, fold, gamma <= least, tick);
      } else {
        d = std::fabs(lambda) + 1e-9;
        y = back / d, f = ahead / d;
      }
      desk.d[c] = d;
      for (int k = 0; k < nf; ++k) {
        const double z = desk.Z[c * nf + k];
        const int l = desk.order[k];
        desk.xb[l] += y * z, desk.xf[l] += f * z, desk.xn[l] += prefer * z;
      }
    }
  }

  // what a tick tells of a weak direction
  SUPPLE_FN void report(int c, double alpha, double chi, double fold, bool weakest, Tick &tick) const {
    tick.weak = tick.weak || chi > 0;
    tick.damping = larger(tick.damping, alpha);
    for (int k = 0; k < free_count; ++k) tick.weights[desk.order[k]] -= chi * squared(desk.Z[c * free_count + k]);
    if (!weakest) return;
    tick.fold = fold;
    // which way it lacks: of the rows, what no other direction gives
    const Target &target = t.problem.targets[0];
    for (int i = 0; i < 6; ++i) tick.way[i] = 0;
    const double size = larger(root(desk.gamma[c]), 1e-12);
    for (int i = 0; i < target.rows && i < 6; ++i)
      if (target.component[i] < across_1) tick.way[target.component[i]] = desk.U[c * m + target.first + i] / size;
  }

  // Out of a fold: along a weak direction the task bends by kappa. Once the command comes back into reach, or will soon,
  // the step leads to the root of that parabola, on the remembered side.
  SUPPLE_FN void leave_fold(int c, double kappa, double fold, double psi, double gamma, double home, double &y) {
    const double slope = dot_rows<M>(desk.k, desk.U + c * m, m) / kappa, left = dot_rows<M>(desk.k, desk.r, m) / kappa;
    const double coming = dot_rows<M>(desk.k, desk.c, m) / kappa;
    s.scalars[0] = larger(s.scalars[0], clip(-kappa * psi * left / law.press, 0.0, 1.0));
    // where joints are held the others have less to leave with
    const double b = kappa * (left + (free_count == n ? 1.0 : 0.5) * law.look_ahead * coming / dt);
    if (!(b > 0)) return;
    const double at = -slope / kappa, side = home - at < 0 ? -1 : 1;
    const double there = at + side * root(slope * slope + 2 * b) / kappa;
    const double W = s.scalars[0] * fold * squared(positive(1 - gamma / squared(law.fold_below))) * b / (b + 0.05 * squared(law.weak));
    y += W * (there - y);
  }

  // One factor for all joints: what is left is approached so that every joint can brake, beside what is fed forward.
  SUPPLE_FN void combine() {
    using W = Pack<double, native_width>;
    auto load = [](const double *from) {
      W x;
      std::memcpy(&x, from, sizeof x);
      return x;
    };
    bool same = true;
    for (int i = 0; i < n; ++i) same = same && desk.x[i] == s.held[i]; // x holds which joints are held now
    const W zero(0.0), part(same ? dt / (dt + law.smooth) : 0.0), keep(same ? 1.0 : 0.0), rate(1 / dt), most(law.braking), least(0.15);
    W worst = zero, worst_free = zero, fast = zero;
    const int stride = N ? (N + 7) / 8 * 8 : t.stride;
    for (int i = n; i < stride; ++i) desk.xb[i] = desk.xf[i] = desk.xn[i] = 0;
    for (int i = 0; i < n; i += native_width) {
      const W speed = load(t.rows + 2 * stride + i), a = load(t.rows + 3 * stride + i), xb = load(desk.xb + i), xn = load(desk.xn + i);
      // how what is fed forward changes, low-passed; anew when other joints are held
      const W was = load(s.pace + i), pace = keep * was + part * ((load(desk.xf + i) * rate - load(s.ahead + i)) * rate - was);
      std::memcpy(desk.pace + i, &pace, sizeof pace);
      const W braking = clip(most * a + select(xb < zero, -pace, pace), least * a, a);
      // what cannot move need not brake
      const Mask<W> moves = (a > zero) & (speed > zero);
      worst = larger(worst, select(moves, magnitude(xb) / braking, zero));
      worst_free = larger(worst_free, select(moves, magnitude(xn) / (most * a), zero));
      fast = larger(fast, select(moves, magnitude(xn) / speed, zero));
    }
    auto largest = [](W x) {
      double top = get(x, 0);
      for (int i = 1; i < native_width; ++i) top = larger(top, get(x, i));
      return top;
    };
    const double K = law.gain, Kn = law.free_gain;
    const double f = lesser(1.0, K * dt / root(1 + 0.5 * K * K * largest(worst)));
    double fn = lesser(1.0, Kn * dt / root(1 + 0.5 * Kn * Kn * largest(worst_free)));
    if (largest(fast) * fn > 0.5 * dt) fn = 0.5 * dt / largest(fast);
    for (int i = 0; i < n; ++i) desk.wanted[i] = f * desk.xb[i] + fn * desk.xn[i] + desk.xf[i];
  }

  // Straight to joint values that are known to reach the command: out of a corner.
  SUPPLE_FN void head_home(Tick &tick) {
    for (int i = 0; i < n; ++i) {
      desk.xb[i] = (s.home.q[i] - s.q[i]) / t.size[i];
      desk.xf[i] = (s.home.q[i] - s.home.was[i]) / t.size[i];
      desk.xn[i] = desk.x[i] = 0, desk.order[i] = i;
    }
    for (int b = 0; b < t.problem.ball_count; ++b) {
      const int k = t.problem.balls[b].index;
      auto way = [&](const double *from, double *out) {
        const Vec<double> d = between(Vec<double>{from[k], from[k + 1], from[k + 2]}, Vec<double>{s.home.q[k], s.home.q[k + 1], s.home.q[k + 2]});
        out[k] = d.x, out[k + 1] = d.y, out[k + 2] = d.z;
      };
      way(s.q, desk.xb);
      way(s.home.was, desk.xf);
    }
    free_count = n;
    tick.quick = false, tick.reducible = 1, tick.least = 0;
    for (int i = 0; i < n; ++i) desk.xb[i] -= desk.xf[i], tick.weights[i] = desk.d[i] = 1;
    for (int i = 0; i < n * n; ++i) desk.Z[i] = i % (n + 1) ? 0 : 1;
    combine();
  }

  // Where the joints go.
  // `measured`, where it is known, is where the real joints are: the arm does not run away from them.
  SUPPLE_FN void step(const Wanted *wanted, const double *measured, Tick &tick) {
    look_around(wanted);
    s.scalars[0] *= positive(1 - dt / law.press_time);
    ways();
    bound(measured);
    const double left = root(dot_rows<M>(desk.r, desk.r, m));
    double &stuck = s.home.state[3];
    if (left < law.astray) {
      *s.home.state = stuck = 0;
    } else {
      for (int k = 0; k < t.problem.target_count; ++k) std::memcpy(desk.home.goals + 12 * k, wanted[k].goal, sizeof wanted[k].goal);
      seek(t.problem, desk.home.goals, s.rest, 0.2 * law.astray + 2 * speed * dt, s.home, desk.home);
      if (*s.home.state != found) stuck = 0;
    }
    tick.damping = tick.fold = 0, tick.weak = false, tick.least = 1e300;
    if (stuck >= law.stuck) {
      head_home(tick);
    } else {
      wish_step(tick);
      double less = 0;
      for (int i = 0; i < n; ++i) less += desk.xb[i] * desk.back[i];
      tick.reducible = left > 0 ? less / squared(left) : 1;
      if (tick.reducible < 0.1 && *s.home.state == found) stuck += dt * lesser(1.0, squared(left / law.lost));
    }
    for (int i = 0; i < n; ++i) s.pace[i] = desk.pace[i], s.ahead[i] = desk.xf[i] / dt, s.held[i] = desk.x[i];
    if (t.problem.ball_count) bring_back_balls();
    into_box(tick);
    // the posture is remembered only where the arm can move freely
    const double learn = lesser(1.0, law.learn * dt * clip(squared(tick.least / law.weak) - 1, 0.0, 1.0));
    if (learn > 0) recall(learn);
    if (left < law.astray && tick.least > law.weak)
      for (int i = 0; i < n; ++i) s.home.anchor[i] = s.q[i];
    go(tick);
  }

  // The wanted step of the law: joints that would leave their limits stay there, and the others see to it.
  SUPPLE_FN void wish_step(Tick &tick) {
    double *held = desk.x; // 1, -1 or 0
    for (int i = 0; i < n; ++i) held[i] = 0;
    for (int pass = 0; pass < 4; ++pass) {
      free_count = 0;
      for (int i = 0; i < n; ++i)
        if (held[i] == 0) desk.order[free_count++] = i;
      for (int i = 0; i < n; ++i) tick.weights[i] = held[i] == 0 ? 1 : 0;
      tick.damping = tick.fold = 0, tick.weak = false, tick.least = 1e300;
      tick.quick = quick(tick);
      if (!tick.quick) by_direction(tick);
      combine();
      bool more = false;
      for (int i = 0; i < n; ++i) {
        if (held[i] != 0) continue;
        const double q = s.q[i] / t.size[i];
        if (t.bounds[i].upper - q < law.touch && desk.wanted[i] > 0) held[i] = 1, more = true;
        else if (q - t.bounds[i].lower < law.touch && desk.wanted[i] < 0) held[i] = -1, more = true;
      }
      if (!more || pass == 3) break;
    }
    for (int i = 0; i < n; ++i)
      if (held[i] != 0) desk.wanted[i] = held[i] > 0 ? desk.high[i] : desk.low[i];
  }

  // A ball outside its limits turns back to them, at the pace of a landing.
  SUPPLE_FN void bring_back_balls() {
    for (int b = 0; b < t.problem.ball_count; ++b) {
      const Ball &ball = t.problem.balls[b];
      const int k = ball.index;
      const Vec<double> q{s.q[k], s.q[k + 1], s.q[k + 2]};
      const Vec<double> d = between(q, clamp_ball(q, Vec<double>{ball.axis[0], ball.axis[1], ball.axis[2]}, ball.swing, ball.low, ball.high));
      const double far = root(dot(d, d));
      if (!(far > 1e-9)) continue;
      const double way[3] = {d.x, d.y, d.z};
      for (int i = 0; i < 3; ++i) desk.wanted[k + i] = way[i] / far * approach(far + 1e-3, law.landing, 0.5 * t.bounds[k + i].acceleration, dt);
    }
  }

  // The box of this tick.
  SUPPLE_FN void bound(const double *measured) {
    using W = Pack<double, native_width>;
    auto load = [](const double *from) {
      W x;
      std::memcpy(&x, from, sizeof x);
      return x;
    };
    const double *row = t.rows;
    const int stride = N ? (N + 7) / 8 * 8 : t.stride;
    for (int i = 0; i < n; ++i) desk.full[i] = s.q[i] / t.size[i];
    for (int i = 0; i < n; i += native_width) {
      W low, high;
      step_bounds(load(row + i), load(row + stride + i), load(row + 2 * stride + i), load(row + 3 * stride + i), load(row + 4 * stride + i),
                  load(desk.full + i), load(s.velocity + i), load(s.acceleration + i), W(dt), W(law.landing), low, high);
      std::memcpy(desk.low + i, &low, sizeof low);
      std::memcpy(desk.high + i, &high, sizeof high);
    }
    for (int i = 0; i < n && measured; ++i) {
      double &low = desk.low[i], &high = desk.high[i];
      // on a leash: what is ahead of the real joint by much waits for it
      const double ahead = (s.q[i] - measured[i]) / t.size[i], a = 0.8 * t.bounds[i].acceleration;
      high = larger(low, lesser(high, approach(law.leash - ahead, law.landing, a, dt)));
      low = lesser(high, larger(low, -approach(law.leash + ahead, law.landing, a, dt)));
    }
  }

  // Ways to the remembered posture and to rest, in natural units; balls turn the shortest way.
  SUPPLE_FN void ways() {
    for (int i = 0; i < n; ++i) {
      desk.way_home[i] = (s.posture[i] - s.q[i]) / t.size[i];
      desk.rest[i] = (s.rest[i] - s.q[i]) / t.size[i];
    }
    for (int b = 0; b < t.problem.ball_count; ++b) {
      const int k = t.problem.balls[b].index;
      auto way = [&](const double *to, double *out) {
        const Vec<double> d = between(Vec<double>{s.q[k], s.q[k + 1], s.q[k + 2]}, Vec<double>{to[k], to[k + 1], to[k + 2]});
        out[k] = d.x, out[k + 1] = d.y, out[k + 2] = d.z;
      };
      way(s.posture, desk.way_home);
      way(s.rest, desk.rest);
    }
  }

  // Moves the remembered posture a part of the way to q.
  SUPPLE_FN void recall(double part) {
    for (int i = 0; i < n; ++i) s.posture[i] += part * (s.q[i] - s.posture[i]);
    for (int b = 0; b < t.problem.ball_count; ++b) {
      const int k = t.problem.balls[b].index;
      const Vec<double> q{s.q[k], s.q[k + 1], s.q[k + 2]}, back{(1 - part) * desk.way_home[k], (1 - part) * desk.way_home[k + 1], (1 - part) * desk.way_home[k + 2]};
      const Vec<double> p = turned(q, back);
      s.posture[k] = p.x, s.posture[k + 1] = p.y, s.posture[k + 2] = p.z;
    }
  }

  SUPPLE_FN void into_box(Tick &tick) {
    bool out = false;
    for (int i = 0; i < n; ++i) {
      if (!(std::fabs(desk.wanted[i]) < 1e300)) desk.wanted[i] = 0; // nothing but a number reaches a joint
      out = out || desk.wanted[i] > desk.high[i] || desk.wanted[i] < desk.low[i];
    }
    tick.bounded = out;
    if (!out) {
      for (int i = 0; i < n; ++i) desk.x[i] = desk.wanted[i];
      return;
    }
    const int nf = free_count;
    if (nf < 0) {
    } else if (tick.quick && nf == n && nf > t.rank) {
      // H with the eigenvalue of the direction that no goal sees as it is damped
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) desk.M[i * n + j] = desk.H[i * n + j] + (desk.d[0] - desk.d[1]) * s.null[i] * s.null[j];
    } else {
      for (int i = 0; i < n * n; ++i) desk.M[i] = i % (n + 1) ? 0 : 1;
      for (int a = 0; a < nf; ++a)
        for (int b = 0; b <= a; ++b) {
          double sum = 0;
          if (tick.quick) sum = desk.H[desk.order[a] * n + desk.order[b]];
          else
            for (int c = 0; c < nf; ++c) sum += desk.Z[c * nf + a] * desk.d[c] * desk.Z[c * nf + b];
          desk.M[desk.order[a] * n + desk.order[b]] = desk.M[desk.order[b] * n + desk.order[a]] = sum;
        }
    }
    nearest_in_box(desk.M, n, desk.wanted, desk.low, desk.high, desk.box, desk.x);
  }

  // A ball's limits are a cone and a twist, which a box cannot say: of the step that the box allows, as much is taken
  // as leaves room to brake; the rest of it is braking, about the axis about which it turned before.
  SUPPLE_FN void keep_ball(const Ball &ball) {
    const int k = ball.index;
    const Vec<double> q{s.q[k], s.q[k + 1], s.q[k + 2]}, axis{ball.axis[0], ball.axis[1], ball.axis[2]};
    auto outside = [&](Vec<double> r) {
      const Vec<double> d = between(r, clamp_ball(r, axis, ball.swing, ball.low, ball.high));
      return root(dot(d, d));
    };
    auto hardest = [&](Vec<double> way) { // acceleration along a direction
      const double parts[3] = {way.x, way.y, way.z}, length = root(dot(way, way));
      double a = 1e300;
      for (int i = 0; i < 3; ++i)
        if (std::fabs(parts[i]) > 1e-12 * length) a = lesser(a, t.bounds[k + i].acceleration * length / std::fabs(parts[i]));
      return a;
    };
    // how far outside it would come to stand, if it braked after this step
    auto ends = [&](Vec<double> x) {
      const double length = root(dot(x, x));
      if (!(length > 0)) return outside(q);
      const double on = squared(length / dt) / (2 * hardest(x)) / length;
      return larger(outside(turned(q, x)), outside(turned(q, (1 + on) * x)));
    };
    const Vec<double> x{desk.x[k], desk.x[k + 1], desk.x[k + 2]}, v{s.velocity[k], s.velocity[k + 1], s.velocity[k + 2]};
    const double allowed = 1e-12 + outside(q);
    if (!(ends(x) > allowed)) return;
    const double speed = root(dot(v, v));
    const Vec<double> still = (speed > 0 ? dt * positive(1 - hardest(v) * dt / speed) : 0.0) * v;
    double low = 0, high = 1;
    for (int turn = 0; turn < 24; ++turn) {
      const double part = 0.5 * (low + high);
      (ends(still + part * (x - still)) > allowed ? high : low) = part;
    }
    const Vec<double> kept = still + low * (x - still);
    desk.x[k] = kept.x, desk.x[k + 1] = kept.y, desk.x[k + 2] = kept.z;
  }

  // Takes the step x.
  SUPPLE_FN void go(Tick &tick) {
    for (int b = 0; b < t.problem.ball_count; ++b) keep_ball(t.problem.balls[b]);
    take(tick, true);
  }
  SUPPLE_FN void take(Tick &tick, bool keep) {
    for (int i = 0; i < n; ++i) {
      const Bounds &joint = t.bounds[i];
      const double v = desk.x[i] / dt, a = (v - s.velocity[i]) / dt;
      const double q = s.q[i] + desk.x[i] * t.size[i], low = joint.lower * t.size[i], high = joint.upper * t.size[i];
      tick.sides[i] = s.held[i] != 0 ? s.held[i] : std::fabs(v) > 0.999999 * joint.speed ? (v > 0 ? 2 : -2)
                      : std::fabs(a) > 0.999 * joint.acceleration ? (a > 0 ? 3 : -3) : 0;
      s.acceleration[i] = a;
      s.velocity[i] = v;
      desk.full[i] = s.q[i];
      // rounding must not carry a joint past its limit
      s.q[i] = keep && s.q[i] <= high && q > high ? high : keep && s.q[i] >= low && q < low ? low : q;
    }
    for (int b = 0; b < t.problem.ball_count; ++b) {
      const int k = t.problem.balls[b].index;
      const Vec<double> r = turned(Vec<double>{desk.full[k], desk.full[k + 1], desk.full[k + 2]}, Vec<double>{desk.x[k], desk.x[k + 1], desk.x[k + 2]});
      s.q[k] = r.x, s.q[k + 1] = r.y, s.q[k + 2] = r.z;
    }
  }

  // A step that another scheme chose, and what a deviation from it costs: J'J + alpha W_q^-2 [D16], or where no weights
  // are known each joint for itself. Not `boxed`, it is taken as it is.
  SUPPLE_FN void steer(const Wanted *wanted, const double *measured, const Steering &steering, Tick &tick) {
    look_around(wanted);
    bound(measured);
    double less = 0, left = dot_rows<M>(desk.r, desk.r, m);
    for (int i = 0; i < n; ++i) {
      desk.wanted[i] = steering.step[i] / t.size[i];
      less += desk.wanted[i] * desk.back[i];
      s.held[i] = s.pace[i] = s.ahead[i] = 0;
      tick.weights[i] = steering.weights ? steering.weights[i] : 1;
      const double q = s.q[i] / t.size[i];
      if (t.bounds[i].upper - q < law.touch && desk.wanted[i] > 0) s.held[i] = 1;
      else if (q - t.bounds[i].lower < law.touch && desk.wanted[i] < 0) s.held[i] = -1;
    }
    tick.damping = steering.alpha, tick.reducible = left > 0 ? less / left : 1;
    tick.fold = 0, tick.least = 1e300, tick.weak = steering.alpha > 0, tick.quick = false;
    if (!steering.boxed) {
      for (int i = 0; i < n; ++i) desk.x[i] = std::fabs(desk.wanted[i]) < 1e300 ? desk.wanted[i] : 0;
      tick.bounded = false;
      return take(tick, false);
    }
    if (t.problem.ball_count) bring_back_balls();
    for (int i = 0; i < n * n; ++i) desk.M[i] = steering.weights ? desk.G[i] : 0;
    for (int i = 0; i < n; ++i) {
      const double w = steering.weights ? larger(steering.weights[i], 1e-4) : 1;
      desk.M[i * n + i] += steering.weights ? steering.alpha / (w * w) + 1e-9 : 1;
    }
    free_count = -1; // M is made
    into_box(tick);
    go(tick);
  }

  // No goal: every joint brakes and stays.
  SUPPLE_FN void hold(Tick &tick) {
    bound(nullptr);
    for (int i = 0; i < n; ++i) {
      desk.x[i] = clip(0.0, desk.low[i], desk.high[i]);
      tick.weights[i] = 1, s.held[i] = s.pace[i] = s.ahead[i] = 0;
    }
    tick.damping = tick.fold = 0, tick.reducible = 1, tick.least = 1e300, tick.weak = tick.bounded = false, tick.quick = true;
    go(tick);
  }
};

} // namespace SUPPLE_ISA
} // namespace supple
