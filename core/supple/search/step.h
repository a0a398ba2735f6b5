// One step of a search for any goals: several hands, positions, directions, with slack, for any joints.
#pragma once
#include "supple/search/frame_step.h"

namespace supple {
inline namespace SUPPLE_ISA {

// what lies outside a range about zero
template <class T>
SUPPLE_FLAT T outside(T x, double slack) {
  using S = Scalar<T>;
  return x - clip(x, T(S(-slack)), T(S(slack)));
}

// Rows of one target: its weighted errors in e, the parts of them that a motion of the hand moves in `rows`
// (linear and angular for each), and how far it is from its goal.
template <class T>
SUPPLE_FN void missing(const Target &target, const Frame<T> &tip, const Frame<T> &goal, bool exact, T *e,
                       Vec<T> (*rows)[2], T &distance, T &angle) {
  using S = Scalar<T>;
  const T zero(S(0)), one(S(1));
  const Vec<T> none{zero, zero, zero}, shift = goal.p - tip.p;
  Vec<T> turn = none, u = none, v = none;
  const int last = target.component[target.rows - 1];
  if (last >= across_1) {
    const Vec<T> a = tip.r * Vec<T>{T(S(target.axis[0])), T(S(target.axis[1])), T(S(target.axis[2]))};
    // across the direction; with a cone, the way to it and the way along it, which is free
    const double slack = target.slack[target.rows - 1];
    const Mask<T> flat = magnitude(a.x) < T(S(0.6));
    const Vec<T> any = cross(a, Vec<T>{select(flat, one, zero), select(flat, zero, one), zero}),
                 unit = (one / root(dot(any, any))) * any;
    turn = half_turn(a, Vec<T>{goal.r.x.x, goal.r.y.x, goal.r.z.x}, unit);
    if (exact || slack > 0)
      turn = whole_turn(turn);
    if (slack > 0) {
      const T size = root(dot(turn, turn));
      const Mask<T> far = size > T(S(slack));
      const Vec<T> way = (one / larger(size, T(S(1e-300)))) * turn;
      u = {select(far, way.x, zero), select(far, way.y, zero), select(far, way.z, zero)};
      turn = select(far, size - T(S(slack)), zero) * u;
    } else {
      u = unit;
      v = cross(a, u);
    }
  } else if (last >= about_x) {
    turn = half_turn(tip.r, goal.r);
    // where a part of the turn does not count, the parts that do must be of the angle itself
    int parts = 0;
    for (int i = 0; i < target.rows; ++i)
      parts += target.component[i] >= about_x && target.slack[i] == 0;
    if (exact || parts < 3)
      turn = whole_turn(turn);
  }
  const T all[8] = {shift.x, shift.y, shift.z, turn.x, turn.y, turn.z, dot(u, turn), dot(v, turn)};
  distance = angle = zero;
  for (int i = 0; i < target.rows; ++i) {
    const int component = target.component[i];
    const bool pointing = component >= across_1;
    const T x = pointing ? all[component] : outside(all[component], target.slack[i]), w(S(target.weight[i]));
    // inside its slack a row asks for nothing
    const T kept = pointing || target.slack[i] == 0 ? w : select(x == zero, zero, w);
    (component < about_x ? distance : angle) = (component < about_x ? distance : angle) + x * x;
    e[i] = w * x;
    const Vec<T> unit{component % 3 == 0 ? kept : zero, component % 3 == 1 ? kept : zero,
                      component % 3 == 2 ? kept : zero};
    rows[i][0] = component < about_x ? unit : none;
    rows[i][1] = component < about_x     ? none
                 : component == across_1 ? w * u
                 : component == across_2 ? w * v
                                         : unit;
  }
}

// dq = J'(J J' + damping)^-1 e, for one target of M rows
template <int M, class T>
SUPPLE_FN void across_rows(const Search &search, T damping, AimDesk<T> &desk) {
  const int columns = search.column_first[1];
  const T zero(Scalar<T>(0));
  T A[M * (M + 1) / 2], e[M];
#pragma GCC unroll 6
  for (int i = 0; i < M; ++i) {
    e[i] = desk.e[i];
    for (int j = 0; j <= i; ++j)
      A[i * (i + 1) / 2 + j] = i == j ? damping : zero;
  }
  for (int c = 0; c < columns; ++c) {
    const T *column = desk.J + 6 * c;
#pragma GCC unroll 6
    for (int i = 0; i < M; ++i)
#pragma GCC unroll 6
      for (int j = 0; j <= i; ++j)
        A[i * (i + 1) / 2 + j] = A[i * (i + 1) / 2 + j] + column[i] * column[j];
  }
  solve_packed<M>(A, e);
  for (int c = 0; c < columns; ++c) {
    T sum = desk.J[6 * c] * e[0];
#pragma GCC unroll 6
    for (int i = 1; i < M; ++i)
      sum = sum + desk.J[6 * c + i] * e[i];
    desk.dq[search.columns[c]] = sum;
  }
}
template <class T>
SUPPLE_FN void across_rows(int rows, const Search &search, T damping, AimDesk<T> &desk) {
  switch (rows) {
  case 1:
    return across_rows<1>(search, damping, desk);
  case 2:
    return across_rows<2>(search, damping, desk);
  case 3:
    return across_rows<3>(search, damping, desk);
  case 4:
    return across_rows<4>(search, damping, desk);
  case 5:
    return across_rows<5>(search, damping, desk);
  default:
    return across_rows<6>(search, damping, desk);
  }
}

// The same as (J'J + damping)^-1 J'e, for many goals; dq holds J'e. Joints of different branches have nothing
// in common, and that stays so when the matrix is taken apart from the outermost joints inward
// (Featherstone): `parent` is the joint before each.
template <class T>
SUPPLE_FN void along_joints(const Problem &problem, const Search &search, T damping, AimDesk<T> &desk) {
  const int n = problem.n;
  const int *parent = search.parent;
  const T zero(Scalar<T>(0));
  T *H = desk.A, *x = desk.dq;
  for (int k = 0; k < n; ++k) {
    for (int j = parent[k]; j >= 0; j = parent[j])
      H[k * n + j] = zero;
    H[k * n + k] = damping;
  }
  for (int t = 0; t < problem.target_count; ++t) {
    const int first = search.column_first[t], last = search.column_first[t + 1],
              rows = problem.targets[t].rows;
    for (int c = first; c < last; ++c) {
      const T *one = desk.J + 6 * c;
      for (int d = first; d <= c; ++d) {
        const int a = search.columns[c], b = search.columns[d];
        T &at = H[a > b ? a * n + b : b * n + a];
        const T *other = desk.J + 6 * d;
        T sum = at;
        if (rows == 6)
          sum = (sum + one[0] * other[0] + one[1] * other[1] + one[2] * other[2]) +
                (one[3] * other[3] + one[4] * other[4] + one[5] * other[5]);
        else
          for (int i = 0; i < rows; ++i)
            sum = sum + one[i] * other[i];
        at = sum;
      }
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    const T inverse = T(Scalar<T>(1)) / larger(H[k * n + k], T(Scalar<T>(1e-14)));
    H[k * n + k] = inverse;
    for (int i = parent[k]; i >= 0; i = parent[i]) {
      const T a = H[k * n + i] * inverse;
      for (int j = i; j >= 0; j = parent[j])
        H[i * n + j] = H[i * n + j] - a * H[k * n + j];
      x[i] = x[i] - a * x[k];
      H[k * n + i] = a;
    }
  }
  for (int k = 0; k < n; ++k) {
    T sum = x[k] * H[k * n + k];
    for (int i = parent[k]; i >= 0; i = parent[i])
      sum = sum - H[k * n + i] * x[i];
    x[k] = sum;
  }
}

template <class T>
SUPPLE_FN void aim_any(const Problem &problem, const Search &search, const Stop &stop, T part, bool exact,
                       AimDesk<T> &desk) {
  using S = Scalar<T>;
  const int n = problem.n;
  const T zero(S(0));
  T *e = desk.e, *slope = desk.dq;
  desk.error = zero;
  desk.there = zero == zero;
  for (int l = 0; l < n; ++l)
    slope[l] = zero;
  const int *slot = search.slots;
  for (int t = 0; t < problem.target_count; ++t) {
    const Target &target = problem.targets[t];
    const Chain &chain = target.chain;
    Frame<T> tip = frame<T>(traverse_chain(chain, desk.q, desk.axes));
    tip.p = tip * Vec<T>{T(S(target.point[0])), T(S(target.point[1])), T(S(target.point[2]))};
    Vec<T> rows[6][2];
    T distance, angle, square = zero;
    missing(target, tip, frame_of(desk.goals + 12 * t), exact, e + target.first, rows, distance, angle);
    desk.there = desk.there & (distance <= T(S(stop.position * stop.position))) &
                 (angle <= T(S(stop.angle * stop.angle)));
    for (int i = 0; i < target.rows; ++i)
      square = square + e[target.first + i] * e[target.first + i];
    desk.misses[t] = square;
    desk.error = desk.error + square;
    T *J = desk.J + 6 * search.column_first[t];
    const Axis<T> *axis = desk.axes;
    int filled = 0;
    for (int k = 0; k < chain.count; ++k) {
      const Link &link = chain.links[k];
      for (int b = 0; b < (link.motion == balls ? 3 : 1); ++b, ++axis, ++slot) {
        const int l = link.index + b;
        const double gain = (link.motion == turns    ? link.turn_gain
                             : link.motion == slides ? link.slide_gain
                                                     : 1) *
                            search.unit[l];
        const Vec<T> z = T(S(gain)) * axis->z, linear = link.motion == slides ? z : cross(z, tip.p - axis->p);
        T *column = J + 6 * *slot;
        const bool more = *slot < filled; // another joint has the same value
        for (int i = 0; i < target.rows; ++i) {
          const T at = target.component[i] < about_x ? dot(rows[i][0], linear)
                       : link.motion == slides       ? zero
                                                     : dot(rows[i][1], z);
          column[i] = more ? column[i] + at : at;
          slope[l] = slope[l] + at * e[target.first + i];
        }
        filled = more ? filled : *slot + 1;
      }
    }
  }
  for (int l = 0; l < n; ++l) {
    const Mask<T> held = ((desk.q[l] <= T(S(search.low[l]))) & (slope[l] < zero)) |
                         ((desk.q[l] >= T(S(search.high[l]))) & (slope[l] > zero));
    if (!any(held))
      continue;
    const T kept = joint_mask<T>(!held);
    slope[l] = kept * slope[l];
    for (int t = 0; t < problem.target_count; ++t)
      for (int c = search.column_first[t]; c < search.column_first[t + 1]; ++c)
        if (search.columns[c] == l)
          for (int i = 0; i < problem.targets[t].rows; ++i)
            desk.J[6 * c + i] = kept * desk.J[6 * c + i];
  }
  const T damping = part * desk.error + T(S(1e-12));
  if (problem.target_count == 1 && problem.rows <= n)
    across_rows(problem.rows, search, damping, desk);
  else
    along_joints(problem, search, damping, desk);
  take_step(problem, search, desk);
}

} // namespace SUPPLE_ISA
} // namespace supple
