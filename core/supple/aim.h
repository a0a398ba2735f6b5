// One step of a search, for a whole lane of problems: where the hands are, what is missing, how to go on.
//
// The error of a turn by a is 2 sin(a/2) about its axis, which needs no angle. The damping is a part of the squared error,
// so that it vanishes as the goal comes near [D21]. A joint at its limit that the error presses outward takes no part.
#pragma once
#include "look.h"
#include "searching.h"
#include "small.h"

namespace supple {
inline namespace SUPPLE_ISA {

template <class T> struct AimDesk {
  T *goals;      // 12 a target
  T *q, *next;   // n each
  T *dq, *best;  // n each
  Axis<T> *axes; // of one chain, and one more
  T *J;          // rows x n; for a single frame, 6 a joint
  T *e, *A;      // rows; the square of rows or of n
  T *misses;     // weighted squared error of each target
  T error;       // weighted and squared, at q
  Mask<T> there; // whether q is within tolerance
};

template <class T> SUPPLE_FLAT Frame<T> frame_of(const T *goal) {
  return {{{goal[0], goal[3], goal[6]}, {goal[1], goal[4], goal[7]}, {goal[2], goal[5], goal[8]}}, {goal[9], goal[10], goal[11]}};
}

// Half the turn from one rotation to another: 2 sin(a/2) about its axis. Half a turn of a whole one has none that can be
// told; any will do to leave it.
template <class T> SUPPLE_FLAT Vec<T> half_turn(const Rot<T> &from, const Rot<T> &to) {
  using S = Scalar<T>;
  const Vec<T> v = cross(from.x, to.x) + cross(from.y, to.y) + cross(from.z, to.z);
  const T front = dot(from.x, to.x) + dot(from.y, to.y) + dot(from.z, to.z) - T(S(1));
  const T square = front + T(S(2));
  const Mask<T> back = square < T(S(1e-12));
  const T k = reciprocal_root(select(back, T(S(1)), square));
  return {select(back, T(S(2)), k * v.x), select(back, T(S(0)), k * v.y), select(back, T(S(0)), k * v.z)};
}

// the same for a direction; `across` is one across it
template <class T> SUPPLE_FLAT Vec<T> half_turn(Vec<T> from, Vec<T> to, Vec<T> across) {
  using S = Scalar<T>;
  const Vec<T> v = cross(from, to);
  const T front = dot(from, to);
  const T square = T(S(0.5)) * (T(S(1)) + front);
  const Mask<T> back = square < T(S(1e-12));
  const T k = reciprocal_root(select(back, T(S(1)), square)), two(S(2));
  return {select(back, two * across.x, k * v.x), select(back, two * across.y, k * v.y), select(back, two * across.z, k * v.z)};
}

// the whole angle, for a vector of length 2 sin(a/2)
template <class T> SUPPLE_FLAT Vec<T> whole_turn(Vec<T> half) {
  using S = Scalar<T>;
  const T square = dot(half, half), quarter = square * T(S(0.25)), one(S(1));
  const Mask<T> tiny = square < T(S(1e-8));
  const T sine = root(quarter), safe = select(tiny, one, sine);
  return select(tiny, one + square * T(S(1.0 / 24)), atan2(sine, root(larger(one - quarter, T(S(0))))) / safe) * half;
}

template <class T> SUPPLE_FLAT T joint_mask(Mask<T> keep) { return select(keep, T(Scalar<T>(1)), T(Scalar<T>(0))); }

// cuts a change to the longest allowed and takes it, within limits
template <class T> SUPPLE_FLAT void take_step(const Problem &problem, const Search &search, AimDesk<T> &desk) {
  using S = Scalar<T>;
  T most(S(search.longest));
  for (int l = 0; l < problem.n; ++l) most = larger(most, magnitude(desk.dq[l]));
  const T part = T(S(search.longest)) * reciprocal(most);
  for (int l = 0; l < problem.n; ++l) {
    const T change = part * desk.dq[l], to = desk.q[l] + (search.unit[l] == 1 ? change : change * T(S(search.unit[l])));
    desk.next[l] = search.unit[l] > 0 ? clip(to, T(S(search.low[l])), T(S(search.high[l]))) : desk.q[l];
  }
  for (int i = 0; i < problem.ball_count; ++i) {
    const Ball &ball = problem.balls[i];
    const int k = ball.index;
    if (!(search.unit[k] > 0)) continue;
    const T unit = part * T(S(search.unit[k]));
    Vec<T> r = turned(Vec<T>{desk.q[k], desk.q[k + 1], desk.q[k + 2]}, Vec<T>{unit * desk.dq[k], unit * desk.dq[k + 1], unit * desk.dq[k + 2]});
    r = clamp_ball(r, Vec<T>{T(S(ball.axis[0])), T(S(ball.axis[1])), T(S(ball.axis[2]))}, T(S(ball.swing)), T(S(ball.low)), T(S(ball.high)));
    desk.next[k] = r.x, desk.next[k + 1] = r.y, desk.next[k + 2] = r.z;
  }
}

// One frame for a chain of simple joints: its six rows stay in registers.
template <class T> SUPPLE_FN void aim_frame(const Problem &problem, const Search &search, const Stop &stop, T part, bool exact, AimDesk<T> &desk) {
  using S = Scalar<T>;
  const Target &target = problem.targets[0];
  const Chain &chain = target.chain;
  const T zero(S(0));
  Frame<T> tip = frame<T>(traverse_chain(chain, desk.q, desk.axes));
  tip.p = tip * Vec<T>{T(S(target.point[0])), T(S(target.point[1])), T(S(target.point[2]))};
  const Frame<T> goal = frame_of(desk.goals);
  const Vec<T> shift = goal.p - tip.p;
  Vec<T> turn = half_turn(tip.r, goal.r);
  desk.there = (dot(shift, shift) <= T(S(stop.position * stop.position))) & (dot(turn, turn) <= T(S(stop.angle * stop.angle)));
  if (exact) turn = whole_turn(turn);
  const T w[6] = {T(S(target.weight[0])), T(S(target.weight[1])), T(S(target.weight[2])), T(S(target.weight[3])), T(S(target.weight[4])), T(S(target.weight[5]))};
  T e[6] = {w[0] * shift.x, w[1] * shift.y, w[2] * shift.z, w[3] * turn.x, w[4] * turn.y, w[5] * turn.z};
  const bool turn_weights = target.weight[3] != 1 || target.weight[4] != 1 || target.weight[5] != 1;
  T error = zero;
  for (int i = 0; i < 6; ++i) error = error + e[i] * e[i];
  desk.error = error;
  T A[21];
  const T damping = part * error + T(S(1e-12));
  for (int i = 0; i < 21; ++i) A[i] = zero;
  A[0] = A[2] = A[5] = A[9] = A[14] = A[20] = damping;
  for (int k = 0; k < chain.count; ++k) {
    const Link &link = chain.links[k];
    const int l = link.index;
    const Axis<T> &axis = desk.axes[k];
    T c[6];
    if (link.motion == turns) {
      const double gain = link.turn_gain * search.unit[l];
      const Vec<T> z = gain == 1 ? axis.z : T(S(gain)) * axis.z, v = cross(z, tip.p - axis.p);
      c[0] = w[0] * v.x, c[1] = w[1] * v.y, c[2] = w[2] * v.z, c[3] = z.x, c[4] = z.y, c[5] = z.z;
      if (turn_weights)
        for (int i = 3; i < 6; ++i) c[i] = w[i] * c[i];
    } else {
      const Vec<T> z = T(S(link.slide_gain * search.unit[l])) * axis.z;
      c[0] = w[0] * z.x, c[1] = w[1] * z.y, c[2] = w[2] * z.z, c[3] = c[4] = c[5] = zero;
    }
    const T slope = (c[0] * e[0] + c[1] * e[1]) + (c[2] * e[2] + c[3] * e[3]) + (c[4] * e[4] + c[5] * e[5]);
    const Mask<T> held = ((desk.q[l] <= T(S(search.low[l]))) & (slope < zero)) | ((desk.q[l] >= T(S(search.high[l]))) & (slope > zero));
    const T kept = joint_mask<T>(!held);
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) desk.J[6 * l + i] = c[i] = kept * c[i];
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i)
#pragma GCC unroll 6
      for (int j = 0; j <= i; ++j) A[i * (i + 1) / 2 + j] = A[i * (i + 1) / 2 + j] + c[i] * c[j];
  }
  // L D L', the inverses of D on the diagonal
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) {
    T scaled[6];
    const int row = j * (j + 1) / 2;
#pragma GCC unroll 6
    for (int k = 0; k < j; ++k) scaled[k] = A[row + k], A[row + k] = A[row + k] * A[k * (k + 1) / 2 + k];
#pragma GCC unroll 6
    for (int k = 0; k < j; ++k) A[row + j] = A[row + j] - scaled[k] * A[row + k];
    A[row + j] = reciprocal(larger(A[row + j], T(S(1e-14))));
#pragma GCC unroll 6
    for (int i = j + 1; i < 6; ++i)
#pragma GCC unroll 6
      for (int k = 0; k < j; ++k) A[i * (i + 1) / 2 + j] = A[i * (i + 1) / 2 + j] - A[i * (i + 1) / 2 + k] * A[row + k];
  }
#pragma GCC unroll 6
  for (int i = 1; i < 6; ++i)
#pragma GCC unroll 6
    for (int k = 0; k < i; ++k) e[i] = e[i] - A[i * (i + 1) / 2 + k] * e[k];
#pragma GCC unroll 6
  for (int i = 0; i < 6; ++i) e[i] = e[i] * A[i * (i + 1) / 2 + i];
#pragma GCC unroll 6
  for (int i = 4; i >= 0; --i)
#pragma GCC unroll 6
    for (int k = i + 1; k < 6; ++k) e[i] = e[i] - A[k * (k + 1) / 2 + i] * e[k];
  for (int l = 0; l < problem.n; ++l) {
    const T *c = desk.J + 6 * l;
    desk.dq[l] = (c[0] * e[0] + c[1] * e[1]) + (c[2] * e[2] + c[3] * e[3]) + (c[4] * e[4] + c[5] * e[5]);
  }
  take_step(problem, search, desk);
}

// what lies outside a range about zero
template <class T> SUPPLE_FLAT T outside(T x, double slack) {
  using S = Scalar<T>;
  return x - clip(x, T(S(-slack)), T(S(slack)));
}

// Rows of one target: its weighted errors in e, the parts of them that a motion of the hand moves in `rows` (linear and
// angular for each), and how far it is from its goal.
template <class T>
SUPPLE_FN void missing(const Target &target, const Frame<T> &tip, const Frame<T> &goal, bool exact, T *e, Vec<T> (*rows)[2], T &distance, T &angle) {
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
    const Vec<T> any = cross(a, Vec<T>{select(flat, one, zero), select(flat, zero, one), zero}), unit = (one / root(dot(any, any))) * any;
    turn = half_turn(a, Vec<T>{goal.r.x.x, goal.r.y.x, goal.r.z.x}, unit);
    if (exact || slack > 0) turn = whole_turn(turn);
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
    for (int i = 0; i < target.rows; ++i) parts += target.component[i] >= about_x && target.slack[i] == 0;
    if (exact || parts < 3) turn = whole_turn(turn);
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
    const Vec<T> unit{component % 3 == 0 ? kept : zero, component % 3 == 1 ? kept : zero, component % 3 == 2 ? kept : zero};
    rows[i][0] = component < about_x ? unit : none;
    rows[i][1] = component < about_x ? none : component == across_1 ? w * u : component == across_2 ? w * v : unit;
  }
}

// dq = J'(J J' + damping)^-1 e, for few rows
template <class T> SUPPLE_FN void across_rows(const T *J, int m, int n, T damping, AimDesk<T> &desk) {
  const T zero(Scalar<T>(0));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j <= i; ++j) {
      T sum = i == j ? damping : zero;
      for (int l = 0; l < n; ++l) sum = sum + J[i * n + l] * J[j * n + l];
      desk.A[i * m + j] = sum;
    }
  factor(desk.A, m);
  solve(desk.A, m, desk.e);
  for (int l = 0; l < n; ++l) {
    desk.dq[l] = zero;
    for (int i = 0; i < m; ++i) desk.dq[l] = desk.dq[l] + J[i * n + l] * desk.e[i];
  }
}

// The same as (J'J + damping)^-1 J'e, for many goals. Joints of different branches have nothing in common, and that stays so
// when the matrix is taken apart from the outermost joints inward (Featherstone): `parent` is the joint before each.
template <class T> SUPPLE_FN void along_joints(const Problem &problem, const Search &search, T damping, AimDesk<T> &desk) {
  const int n = problem.n;
  const int *parent = search.parent;
  const T zero(Scalar<T>(0)), one(Scalar<T>(1));
  T *H = desk.A, *x = desk.dq;
  for (int k = 0; k < n; ++k) {
    for (int j = parent[k]; j >= 0; j = parent[j]) H[k * n + j] = zero;
    H[k * n + k] = damping, x[k] = zero;
  }
  for (int t = 0; t < problem.target_count; ++t) {
    const Target &target = problem.targets[t];
    for (int i = target.first; i < target.first + target.rows; ++i) {
      const T *row = desk.J + i * n, error = desk.e[i];
      for (int c = search.column_first[t]; c < search.column_first[t + 1]; ++c) {
        const int k = search.columns[c];
        const T at = row[k];
        x[k] = x[k] + at * error;
        for (int j = k; j >= 0; j = parent[j]) H[k * n + j] = H[k * n + j] + at * row[j];
      }
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    const T inverse = reciprocal(larger(H[k * n + k], T(Scalar<T>(1e-14))));
    H[k * n + k] = inverse;
    for (int i = parent[k]; i >= 0; i = parent[i]) {
      const T a = H[k * n + i] * inverse;
      for (int j = i; j >= 0; j = parent[j]) H[i * n + j] = H[i * n + j] - a * H[k * n + j];
      x[i] = x[i] - a * x[k];
      H[k * n + i] = a;
    }
  }
  for (int k = 0; k < n; ++k) {
    T sum = x[k] * H[k * n + k];
    for (int i = parent[k]; i >= 0; i = parent[i]) sum = sum - H[k * n + i] * x[i];
    x[k] = sum;
  }
}

// Any goals, for any joints.
template <class T> SUPPLE_FN void aim_any(const Problem &problem, const Search &search, const Stop &stop, T part, bool exact, AimDesk<T> &desk) {
  using S = Scalar<T>;
  const int m = problem.rows, n = problem.n;
  const T zero(S(0));
  T *J = desk.J, *e = desk.e;
  for (int i = 0; i < m * n; ++i) J[i] = zero;
  desk.error = zero;
  desk.there = zero == zero;
  for (int t = 0; t < problem.target_count; ++t) {
    const Target &target = problem.targets[t];
    const Chain &chain = target.chain;
    Frame<T> tip = frame<T>(traverse_chain(chain, desk.q, desk.axes));
    tip.p = tip * Vec<T>{T(S(target.point[0])), T(S(target.point[1])), T(S(target.point[2]))};
    Vec<T> rows[6][2];
    T distance, angle;
    missing(target, tip, frame_of(desk.goals + 12 * t), exact, e + target.first, rows, distance, angle);
    desk.there = desk.there & (distance <= T(S(stop.position * stop.position))) & (angle <= T(S(stop.angle * stop.angle)));
    T square = zero;
    for (int i = 0; i < target.rows; ++i) square = square + e[target.first + i] * e[target.first + i];
    desk.misses[t] = square, desk.error = desk.error + square;
    const Axis<T> *axis = desk.axes;
    for (int k = 0; k < chain.count; ++k) {
      const Link &link = chain.links[k];
      for (int b = 0; b < (link.motion == balls ? 3 : 1); ++b, ++axis) {
        const int l = link.index + b;
        const double gain = (link.motion == turns ? link.turn_gain : link.motion == slides ? link.slide_gain : 1) * search.unit[l];
        const Vec<T> z = T(S(gain)) * axis->z, linear = link.motion == slides ? z : cross(z, tip.p - axis->p);
        for (int i = 0; i < target.rows; ++i) {
          T &at = J[(target.first + i) * n + l];
          at = at + (target.component[i] < about_x ? dot(rows[i][0], linear) : link.motion == slides ? zero : dot(rows[i][1], z));
        }
      }
    }
  }
  for (int l = 0; l < n; ++l) {
    T slope = zero;
    for (int i = 0; i < m; ++i) slope = slope + J[i * n + l] * e[i];
    const Mask<T> held = ((desk.q[l] <= T(S(search.low[l]))) & (slope < zero)) | ((desk.q[l] >= T(S(search.high[l]))) & (slope > zero));
    if (!any(held)) continue;
    const T kept = joint_mask<T>(!held);
    for (int i = 0; i < m; ++i) J[i * n + l] = kept * J[i * n + l];
  }
  const T damping = part * desk.error + T(S(1e-12));
  if (problem.target_count == 1 && m <= n) across_rows(J, m, n, damping, desk);
  else along_joints(problem, search, damping, desk);
  take_step(problem, search, desk);
}

} // namespace SUPPLE_ISA
} // namespace supple
