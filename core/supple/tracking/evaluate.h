// What a tick sees: Jacobian, error, what is left of it beside this tick's command, its curvature, and the
// gradients.
#pragma once
#include "supple/math/box_qp.h"
#include "supple/task/hessian.h"
#include "supple/tracking/recovery.h"

namespace supple {
inline namespace SUPPLE_ISA {

// working memory of a tick; m rows, n joints
struct TickDesk {
  Axis<double> *axes;  // one target after another
  Mover *movers;       // the same
  int *mover_count;    // of each target
  Frame<double> *tips; // of each target
  double *J, *U;       // n columns of m rows: weighted Jacobian, and J times each direction
  double *G, *H, *A, *Z, *M,
      *F; // n x n: J'J, Hessian, H over the free joints, its directions (rows), cost of a deviation, spare
  double *e, *r, *c, *b, *k; // m
  double *back, *ahead, *way_home,
      *rest; // n: gradients of what is left and of what is fed forward, ways to postures
  double *low, *high, *x, *wanted, *xb, *xf, *xn, *pace, *d, *gamma, *full, *climb; // n
  int *order;                                                                       // n: the free joints
  char *null;                                                                       // n
  BoxDesk box;
  HomeDesk home;
};

// what a target asks in world axes: position and turn that are left, their weights, and a direction to point
// along
struct Asking {
  Vec<double> p, o, cp, co, wp, wo, u, v, pointing;
  bool points;
};

template <int M>
SUPPLE_FLAT double dot_rows(const double *a, const double *b, int m) {
  double sum = 0;
  for (int i = 0; i < (M ? M : m); ++i)
    sum += a[i] * b[i];
  return sum;
}
SUPPLE_FLAT double squared(double x) { return x * x; }
SUPPLE_FLAT double positive(double x) { return x > 0 ? x : 0; }

// The rows of a target from a linear and an angular part in world axes.
template <bool Plain = false>
SUPPLE_FLAT void to_rows(const Target &target, const Vec<double> &u, const Vec<double> &v, double unit,
                         Vec<double> linear, Vec<double> angular, double *rows) {
  if (Plain) { // all six, in their order
    const double all[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
    for (int i = 0; i < 6; ++i)
      rows[i] = unit * target.weight[i] * all[i];
    return;
  }
  const double all[8] = {linear.x,  linear.y,  linear.z,        angular.x,
                         angular.y, angular.z, dot(u, angular), dot(v, angular)};
  for (int i = 0; i < target.rows; ++i)
    rows[i] = unit * target.weight[i] * all[target.component[i]];
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
    if (target.component[i] < across_1)
      w[target.component[i]] = weight;
    else
      w[3] = w[4] = w[5] = weight;
  }
  a.wp = {w[0], w[1], w[2]}, a.wo = {w[3], w[4], w[5]};
  // what has no weight may be anything, even no number
  auto only = [](Vec<double> weight, Vec<double> x) {
    return Vec<double>{weight.x > 0 ? x.x : 0.0, weight.y > 0 ? x.y : 0.0, weight.z > 0 ? x.z : 0.0};
  };
  a.p = only(a.wp, a.p);
  a.cp = only(a.wp, a.cp);
  a.co = only(a.wo, a.co);
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

// What one arm sees in one tick. N joints and M rows where they are known when compiling, else 0.
template <int N, int M>
struct Glance {
  const Tracking &t;
  const LawMemory &s;
  const TickDesk &desk;
  const Law &law;
  const double dt;
  const int n, m;
  int free_count = 0; // joints that are not held at a limit
  double bend = 0;    // how far H is from J'J
  double speed = 0;   // of the command, in weighted units a second
  double activity = 0;

  SUPPLE_FN Glance(const Tracking &t_, const LawMemory &s_, const TickDesk &desk_, double dt_)
      : t(t_), s(s_), desk(desk_), law(t_.law), dt(dt_), n(N ? N : t_.problem.n), m(M ? M : t_.problem.rows) {
  }

  // Jacobian, error, what is left of it beside this tick's command, its curvature, and the gradients.
  SUPPLE_FN void look_around(const Wanted *wanted) {
    for (int i = 0; i < n * n; ++i)
      desk.H[i] = 0;
    if (!t.plain)
      for (int i = 0; i < n * m; ++i)
        desk.J[i] = 0;
    for (int i = 0; i < n; ++i)
      desk.full[i] = s.velocity[i] * dt;
    Axis<double> *axes = desk.axes;
    Mover *moving = desk.movers;
    for (int k = 0; k < t.problem.target_count; ++k) {
      const Target &target = t.problem.targets[k];
      Frame<double> tip = frame<double>(traverse_chain(target.chain, s.q, axes));
      tip.p = tip * Vec<double>{target.point[0], target.point[1], target.point[2]};
      desk.tips[k] = tip;
      const int count = desk.mover_count[k] = movers(target.chain, axes, tip.p, t.size, moving),
                first = target.first;
      const Asking a = ask(target, tip, wanted[k], t.unit);
      auto rows = [&](Vec<double> linear, Vec<double> angular, double *out) {
        to_rows<M == 6>(target, a.u, a.v, t.unit, linear, angular, out);
      };
      for (int i = 0; i < count; ++i) {
        double *column = desk.J + moving[i].index * m + first;
        if (t.plain) {
          rows(moving[i].j, moving[i].z, column);
        } else {
          double more[6];
          rows(moving[i].j, moving[i].z, more);
          for (int l = 0; l < target.rows; ++l)
            column[l] += more[l];
        }
      }
      rows(a.p, a.o, desk.e + first);
      rows(a.cp, a.co, desk.c + first);
      Vec<double> linear, angular;
      second_along(moving, count, desk.full, linear, angular);
      rows(linear, angular, desk.b + first);
      const Vec<double> p = a.p - a.cp, o = a.o - a.co;
      // what is hardly there does not bend
      const double most = squared(larger(a.wp.x, larger(a.wp.y, a.wp.z))) * dot(p, p) +
                          squared(larger(a.wo.x, larger(a.wo.y, a.wo.z))) * dot(o, o);
      if (most > 1e-12) {
        add_curvature(moving, count, p, o, a.wp, a.wo, a.points, a.pointing, n, desk.H);
        bend = 1;
      }
      axes += target.chain.axes;
      moving += count;
    }
    if (bend > 0) {
      bend = 0;
      for (int i = 0; i < n * n; ++i)
        bend += desk.H[i] * desk.H[i];
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
    if (g.component[g.rows - 1] >= across_1)
      across(desk.tips[target].r * Vec<double>{g.axis[0], g.axis[1], g.axis[2]}, u, v);
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

  // Adds to `climb` how the singular value of a direction z of all joints, J z = u, grows with each joint,
  // times weight.
  SUPPLE_FN void add_growth(const double *z, const double *u_rows, double sigma, double weight) const {
    const Mover *moving = desk.movers;
    for (int k = 0; k < t.problem.target_count; ++k) {
      const Target &target = t.problem.targets[k];
      Vec<double> u, v;
      across_of(k, u, v);
      derivative_along_each(moving, desk.mover_count[k], z,
                            [&](int joint, Vec<double> linear, Vec<double> angular) {
                              double rows[6], sum = 0;
                              to_rows<M == 6>(target, u, v, t.unit, linear, angular, rows);
                              for (int i = 0; i < target.rows; ++i)
                                sum += rows[i] * u_rows[target.first + i];
                              desk.climb[joint] += weight * sum / sigma;
                            });
      moving += desk.mover_count[k];
    }
  }

  // Copies a square matrix and rows of the free joints together.
  SUPPLE_FN void gather(const double *from, double *to) const {
    const int nf = free_count;
    for (int i = 0; i < nf; ++i)
      for (int j = 0; j < nf; ++j)
        to[i * nf + j] = from[desk.order[i] * n + desk.order[j]];
  }

  // A direction that no goal sees.
  SUPPLE_FN void unseen(double lambda, double back, double ahead, double rest, double up, double &d,
                        double &y, double &f, double &prefer) const {
    const double chi = squared(positive(1 - std::fabs(lambda) / squared(law.weak)));
    d = std::fabs(lambda) + law.damping * chi + 1e-9;
    y = back / d;
    f = ahead / d;
    prefer = activity * (law.rest * chi * rest / d + law.climb * up);
  }
};

} // namespace SUPPLE_ISA
} // namespace supple
