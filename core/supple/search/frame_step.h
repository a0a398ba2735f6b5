// One step of a search, for a whole lane of problems: where the hand is, what is missing, how to go on.
//
// The error of a turn by a is 2 sin(a/2) about its axis, which needs no angle. The damping is a part of the
// squared error, so that it vanishes as the goal comes near [D21]. A joint at its limit that the error
// presses outward takes no part.
#pragma once
#include "supple/math/dense.h"
#include "supple/search/types.h"
#include "supple/task/goal.h"

namespace supple {
inline namespace SUPPLE_ISA {

template <class T>
struct AimDesk {
  T *goals;      // 12 a target
  T *q, *next;   // n each
  T *dq, *best;  // n each
  Axis<T> *axes; // of one chain, and one more
  T *J;          // 6 a joint of each target, one target after another
  T *e, *A;      // rows; the square of rows or of n
  T *misses;     // weighted squared error of each target
  T error;       // weighted and squared, at q
  Mask<T> there; // whether q is within tolerance
};

template <class T>
SUPPLE_FLAT Frame<T> frame_of(const T *goal) {
  return {{{goal[0], goal[3], goal[6]}, {goal[1], goal[4], goal[7]}, {goal[2], goal[5], goal[8]}},
          {goal[9], goal[10], goal[11]}};
}

// Half the turn from one rotation to another: 2 sin(a/2) about its axis. Half a turn of a whole one has none
// that can be told; any will do to leave it.
template <class T>
SUPPLE_FLAT Vec<T> half_turn(const Rot<T> &from, const Rot<T> &to) {
  using S = Scalar<T>;
  const Vec<T> v = cross(from.x, to.x) + cross(from.y, to.y) + cross(from.z, to.z);
  const T front = dot(from.x, to.x) + dot(from.y, to.y) + dot(from.z, to.z) - T(S(1));
  const T square = front + T(S(2));
  const Mask<T> back = square < T(S(1e-12));
  const T k = reciprocal_root(select(back, T(S(1)), square));
  return {select(back, T(S(2)), k * v.x), select(back, T(S(0)), k * v.y), select(back, T(S(0)), k * v.z)};
}

// the same for a direction; `across` is one across it
template <class T>
SUPPLE_FLAT Vec<T> half_turn(Vec<T> from, Vec<T> to, Vec<T> across) {
  using S = Scalar<T>;
  const Vec<T> v = cross(from, to);
  const T front = dot(from, to);
  const T square = T(S(0.5)) * (T(S(1)) + front);
  const Mask<T> back = square < T(S(1e-12));
  const T k = reciprocal_root(select(back, T(S(1)), square)), two(S(2));
  return {select(back, two * across.x, k * v.x), select(back, two * across.y, k * v.y),
          select(back, two * across.z, k * v.z)};
}

// the whole angle, for a vector of length 2 sin(a/2)
template <class T>
SUPPLE_FLAT Vec<T> whole_turn(Vec<T> half) {
  using S = Scalar<T>;
  const T square = dot(half, half), quarter = square * T(S(0.25)), one(S(1));
  const Mask<T> tiny = square < T(S(1e-8));
  const T sine = root(quarter), safe = select(tiny, one, sine);
  return select(tiny, one + square * T(S(1.0 / 24)),
                atan2(sine, root(larger(one - quarter, T(S(0))))) / safe) *
         half;
}

template <class T>
SUPPLE_FLAT T joint_mask(Mask<T> keep) {
  return select(keep, T(Scalar<T>(1)), T(Scalar<T>(0)));
}

// cuts a change to the longest allowed and takes it, within limits
template <class T>
SUPPLE_FLAT void take_step(const Problem &problem, const Search &search, AimDesk<T> &desk) {
  using S = Scalar<T>;
  T most(S(search.longest));
  for (int l = 0; l < problem.n; ++l)
    most = larger(most, magnitude(desk.dq[l]));
  const T part = T(S(search.longest)) / most;
  for (int l = 0; l < problem.n; ++l) {
    const T change = part * desk.dq[l],
            to = desk.q[l] + (search.unit[l] == 1 ? change : change * T(S(search.unit[l])));
    desk.next[l] = search.unit[l] > 0 ? clip(to, T(S(search.low[l])), T(S(search.high[l]))) : desk.q[l];
  }
  for (int i = 0; i < problem.ball_count; ++i) {
    const Ball &ball = problem.balls[i];
    const int k = ball.index;
    if (!(search.unit[k] > 0))
      continue;
    const T unit = part * T(S(search.unit[k]));
    Vec<T> r = turned(Vec<T>{desk.q[k], desk.q[k + 1], desk.q[k + 2]},
                      Vec<T>{unit * desk.dq[k], unit * desk.dq[k + 1], unit * desk.dq[k + 2]});
    r = clamp_ball(r, Vec<T>{T(S(ball.axis[0])), T(S(ball.axis[1])), T(S(ball.axis[2]))}, T(S(ball.swing)),
                   T(S(ball.low)), T(S(ball.high)));
    desk.next[k] = r.x, desk.next[k + 1] = r.y, desk.next[k + 2] = r.z;
  }
}

// Solves A x = e in place of e, for the lower half of a symmetric A of M rows, packed row by row: L D L', the
// inverses of D on the diagonal. A is lost.
template <int M, class T>
SUPPLE_FLAT void solve_packed(T *A, T *e) {
  using S = Scalar<T>;
#pragma GCC unroll 6
  for (int j = 0; j < M; ++j) {
    T scaled[M];
    const int row = j * (j + 1) / 2;
#pragma GCC unroll 6
    for (int k = 0; k < j; ++k)
      scaled[k] = A[row + k], A[row + k] = A[row + k] * A[k * (k + 1) / 2 + k];
#pragma GCC unroll 6
    for (int k = 0; k < j; ++k)
      A[row + j] = A[row + j] - scaled[k] * A[row + k];
    A[row + j] = T(S(1)) / larger(A[row + j], T(S(1e-14)));
#pragma GCC unroll 6
    for (int i = j + 1; i < M; ++i)
#pragma GCC unroll 6
      for (int k = 0; k < j; ++k)
        A[i * (i + 1) / 2 + j] = A[i * (i + 1) / 2 + j] - A[i * (i + 1) / 2 + k] * A[row + k];
  }
#pragma GCC unroll 6
  for (int i = 1; i < M; ++i)
#pragma GCC unroll 6
    for (int k = 0; k < i; ++k)
      e[i] = e[i] - A[i * (i + 1) / 2 + k] * e[k];
#pragma GCC unroll 6
  for (int i = 0; i < M; ++i)
    e[i] = e[i] * A[i * (i + 1) / 2 + i];
#pragma GCC unroll 6
  for (int i = M - 2; i >= 0; --i)
#pragma GCC unroll 6
    for (int k = i + 1; k < M; ++k)
      e[i] = e[i] - A[k * (k + 1) / 2 + i] * e[k];
}

// One frame for a chain of simple joints: its six rows stay in registers.
template <class T>
SUPPLE_FN void aim_frame(const Problem &problem, const Search &search, const Stop &stop, T part, bool exact,
                         AimDesk<T> &desk) {
  using S = Scalar<T>;
  const Target &target = problem.targets[0];
  const Chain &chain = target.chain;
  const T zero(S(0));
  Frame<T> tip = frame<T>(traverse_chain(chain, desk.q, desk.axes));
  tip.p = tip * Vec<T>{T(S(target.point[0])), T(S(target.point[1])), T(S(target.point[2]))};
  const Frame<T> goal = frame_of(desk.goals);
  const Vec<T> shift = goal.p - tip.p;
  Vec<T> turn = half_turn(tip.r, goal.r);
  desk.there = (dot(shift, shift) <= T(S(stop.position * stop.position))) &
               (dot(turn, turn) <= T(S(stop.angle * stop.angle)));
  if (exact)
    turn = whole_turn(turn);
  const T w[6] = {T(S(target.weight[0])), T(S(target.weight[1])), T(S(target.weight[2])),
                  T(S(target.weight[3])), T(S(target.weight[4])), T(S(target.weight[5]))};
  T e[6] = {w[0] * shift.x, w[1] * shift.y, w[2] * shift.z, w[3] * turn.x, w[4] * turn.y, w[5] * turn.z};
  const bool turn_weights = target.weight[3] != 1 || target.weight[4] != 1 || target.weight[5] != 1;
  T error = zero;
  for (int i = 0; i < 6; ++i)
    error = error + e[i] * e[i];
  desk.error = error;
  T A[21];
  const T damping = part * error + T(S(1e-12));
  for (int i = 0; i < 21; ++i)
    A[i] = zero;
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
        for (int i = 3; i < 6; ++i)
          c[i] = w[i] * c[i];
    } else {
      const Vec<T> z = T(S(link.slide_gain * search.unit[l])) * axis.z;
      c[0] = w[0] * z.x;
      c[1] = w[1] * z.y;
      c[2] = w[2] * z.z;
      c[3] = c[4] = c[5] = zero;
    }
    const T slope = (c[0] * e[0] + c[1] * e[1]) + (c[2] * e[2] + c[3] * e[3]) + (c[4] * e[4] + c[5] * e[5]);
    const Mask<T> held = ((desk.q[l] <= T(S(search.low[l]))) & (slope < zero)) |
                         ((desk.q[l] >= T(S(search.high[l]))) & (slope > zero));
    const T kept = joint_mask<T>(!held);
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i)
      desk.J[6 * l + i] = c[i] = kept * c[i];
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i)
#pragma GCC unroll 6
      for (int j = 0; j <= i; ++j)
        A[i * (i + 1) / 2 + j] = A[i * (i + 1) / 2 + j] + c[i] * c[j];
  }
  solve_packed<6>(A, e);
  for (int l = 0; l < problem.n; ++l) {
    const T *c = desk.J + 6 * l;
    desk.dq[l] = (c[0] * e[0] + c[1] * e[1]) + (c[2] * e[2] + c[3] * e[3]) + (c[4] * e[4] + c[5] * e[5]);
  }
  take_step(problem, search, desk);
}

} // namespace SUPPLE_ISA
} // namespace supple
