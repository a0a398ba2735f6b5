// Bounds on the turns of ball joints: a ball joint slides along its cone and its twist limit, and the other
// joints make up for what it cannot do.
#pragma once
#include "supple/tracking/bounds.h"

namespace supple {
inline namespace SUPPLE_ISA {

// rad: how far inside its limits a ball joint stops, so that rounding and what the cone bends away do not
// make it brake (leave_room_to_brake)
constexpr double ball_margin = 1e-4;
// share of its braking time for which a ball joint goes on at its speed: 1/2 and some more
constexpr double braking_way = 0.6;
// what a row costs, over a deviation along the costliest direction
constexpr double ball_row_weight = 1e3;
// rows that a step exceeds after others hold are added so often
constexpr int ball_rounds = 3;
// the same where rows may also end to count; nearly always three are enough
constexpr int one_sided_rounds = 8;
// rad: less is no excess
constexpr double least_excess = 1e-9;

// A ball joint at the start of a tick. With its axis a, and u the same axis at rest as the child sees it, the
// lean grows along u x a and the twist along u + a, in the child's axes.
struct BallState {
  const Ball &ball;
  Vec<double> a, q, v;
  double time; // s: for which it would go on at its speed, until it has braked

  BallState(const Tracking &t, const Ball &of, const ArmMemory &memory, double dt)
      : ball(of), a(load3(of.axis)), q(load3(memory.q + of.index)), v(load3(memory.velocity + of.index)) {
    const double speed = root(dot(v, v));
    time = dt + (speed > 0 ? braking_way * speed / acceleration_about(t.bounds + of.index, v) : 0);
  }
  // q after it went on across n: there the limits may be nearer
  Vec<double> across(Vec<double> n) const { return turned(q, time * (v - dot(n, v) * n)); }
  // how far it is to the cone then, along n
  double to_cone(Vec<double> n) const {
    const Vec<double> u = transpose(exp_rotation(across(n))) * a, side = cross(u, a);
    return ball.swing - atan2(root(dot(side, side)), dot(u, a));
  }
  double twist(Vec<double> n) const {
    const Quat<double> r = exp_quaternion(across(n));
    const double along = r.x * a.x + r.y * a.y + r.z * a.z;
    return r.w < 0 ? 2 * atan2(-along, -r.w) : 2 * atan2(along, r.w);
  }
};

// What bounds the turn of a ball joint: the profile before limits; or, where braking leads farther, braking.
enum class BallLimit { profile, braking };

// The row n x <= limit of a ball joint with `left` to its limit: by the profile before limits, and no less
// than braking does.
SUPPLE_FN BallRow ball_row(const Tracking &t, const BallState &state, Vec<double> n, double left, double dt,
                           const BoundsScratch &scratch, BallLimit kind) {
  const int k = state.ball.index;
  const double a = acceleration_about(t.bounds + k, n), inside = left - ball_margin;
  const double way = profile_step(std::fabs(inside), t.law.limit_gain, landing_share_of(t) * a, dt);
  if (kind == BallLimit::profile)
    return {k, n, inside < 0 ? -way : way};
  const Vec<double> braking = dt * state.v - (a * dt * dt) * n;
  const double *low = scratch.low + k, *high = scratch.high + k;
  const Vec<double> within{clip(braking.x, low[0], high[0]), clip(braking.y, low[1], high[1]),
                           clip(braking.z, low[2], high[2])};
  return {k, n, larger(inside < 0 ? -way : way, dot(n, within))};
}

// The rows of all ball joints, in scratch.ball_rows; returns how many.
SUPPLE_FN int find_ball_rows(const Tracking &t, const ArmMemory &memory, double dt,
                             const BoundsScratch &scratch, BallLimit kind) {
  int count = 0;
  for (int b = 0; b < t.problem.ball_count; ++b) {
    const Ball &ball = t.problem.balls[b];
    if (!is_limited(ball))
      continue;
    const BallState state(t, ball, memory, dt);
    const Vec<double> u = transpose(exp_rotation(state.q)) * state.a;
    const Vec<double> lean = cross(u, state.a), about = u + state.a;
    const double sine = root(dot(lean, lean)), length = root(dot(about, about));
    auto add = [&](Vec<double> n, double left) {
      scratch.ball_rows[count] = ball_row(t, state, n, left, dt, scratch, kind);
      scratch.row_active[count++] = false;
    };
    if (ball.swing < pi && sine > 1e-6) {
      const Vec<double> n = (1 / sine) * lean;
      add(n, state.to_cone(n));
    }
    if (is_twist_limited(ball) && length > 1e-3) { // along n the twist grows by 2 / length
      const Vec<double> n = (1 / length) * about;
      const double twist = state.twist(n), above = ball.high - twist, below = twist - ball.low;
      add(above < below ? n : -n, 0.5 * length * lesser(above, below));
    }
  }
  return count;
}

// Adds w (n x - limit)^2 to the cost x'M x - 2 b x.
SUPPLE_FN void add_row(const BallRow &row, double weight, int n, double *M, double *b) {
  const double parts[3] = {row.n.x, row.n.y, row.n.z};
  for (int i = 0; i < 3; ++i) {
    b[row.index + i] += weight * row.limit * parts[i];
    for (int j = 0; j < 3; ++j)
      M[(row.index + i) * n + row.index + j] += weight * parts[i] * parts[j];
  }
}

// Adds the rows that the step exceeds and that did not count yet; whether there are any. The first time, M is
// filled and b = M desired.
template <class FillCost>
SUPPLE_FN bool add_exceeded(int n, int count, const double *desired, const BoundsScratch &scratch,
                            bool &started, double &weight, FillCost &&fill_cost) {
  double *M = scratch.deviation_cost, *b = scratch.row_target;
  bool more = false;
  for (int r = 0; r < count; ++r) {
    const BallRow &row = scratch.ball_rows[r];
    if (scratch.row_active[r] || !(dot(row.n, load3(scratch.step + row.index)) > row.limit + least_excess))
      continue;
    if (!started) {
      fill_cost(M);
      for (int i = 0; i < n; ++i) {
        weight = larger(weight, ball_row_weight * M[i * n + i]);
        b[i] = dot_rows<0>(M + i * n, desired, n);
      }
      started = true;
    }
    more = scratch.row_active[r] = true;
    add_row(row, weight, n, M, b);
  }
  return more;
}

// The step that minimises (x - d)'M(x - d) + w sum (n x - limit)^2 in the box, in scratch.step, from the
// matrix and the gradient of the sum.
SUPPLE_FN void take_nearest(int n, const BoundsScratch &scratch) {
  double *target = scratch.turned_target;
  std::memcpy(scratch.nearest.A, scratch.deviation_cost, n * n * sizeof(double));
  std::memcpy(target, scratch.row_target, n * sizeof(double));
  factor(scratch.nearest.A, n);
  solve(scratch.nearest.A, n, target);
  nearest_in_box(scratch.deviation_cost, n, target, scratch.low, scratch.high, scratch.nearest, scratch.step);
}

// Marks the rows that count next: those that the step exceeds, also of those that count already. A row that
// counts and is not exceeded would pull outward. Returns whether they are others than before.
SUPPLE_FN bool mark_exceeded(int count, const BoundsScratch &scratch) {
  bool changed = false;
  for (int r = 0; r < count; ++r) {
    const BallRow &row = scratch.ball_rows[r];
    const double excess = dot(row.n, load3(scratch.step + row.index)) - row.limit;
    const bool active = excess > (scratch.row_active[r] ? 0 : least_excess);
    changed = changed || active != scratch.row_active[r];
    scratch.row_active[r] = active;
  }
  return changed;
}

// The same as bound_turns, with rows that end to count when they are no longer exceeded: the step is the only
// nearest one, which does not jump when another row is exceeded.
template <class FillCost>
SUPPLE_FN void bound_turns_one_sided(int n, int count, const double *desired, const BoundsScratch &scratch,
                                     FillCost &&fill_cost) {
  double *M = scratch.deviation_cost, *b = scratch.row_target;
  for (int round = 0; round < one_sided_rounds && mark_exceeded(count, scratch); ++round) {
    double weight = 0;
    fill_cost(M);
    for (int i = 0; i < n; ++i) {
      weight = larger(weight, ball_row_weight * M[i * n + i]);
      b[i] = dot_rows<0>(M + i * n, desired, n);
    }
    for (int r = 0; r < count; ++r)
      if (scratch.row_active[r])
        add_row(scratch.ball_rows[r], weight, n, M, b);
    take_nearest(n, scratch);
  }
}

// Moves the step in scratch.step to the nearest one in the box that keeps the rows of ball joints: it
// minimises (x - d)'M(x - d) + w sum (n x - limit)^2 over the rows that are exceeded.
template <class FillCost>
SUPPLE_FN void bound_turns(const Tracking &t, const ArmMemory &memory, double dt, const double *desired,
                           const BoundsScratch &scratch, FillCost &&fill_cost,
                           BallLimit kind = BallLimit::braking) {
  if (t.problem.ball_count == 0)
    return;
  const int n = t.problem.n, count = find_ball_rows(t, memory, dt, scratch, kind);
  if (has_priorities(t))
    return bound_turns_one_sided(n, count, desired, scratch, fill_cost);
  double weight = 0;
  bool started = false;
  for (int round = 0; round < ball_rounds; ++round) {
    if (!add_exceeded(n, count, desired, scratch, started, weight, fill_cost))
      return;
    take_nearest(n, scratch);
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
