// A tracker's tick as a whole: the command is read, the law moves the joints, and what came of it is told.
#pragma once
#include "supple/tracking/approach.h"
#include "supple/tracking/command.h"

namespace supple {
inline namespace SUPPLE_ISA {

// What one arm remembers: that of the law, of its commands, and the goals that were pushed along.
struct ArmMemory {
  LawMemory law;
  CommandState *commands; // one a target
  double *pushed;         // twelve numbers a target
  double *pushing;        // 1 while it is pushed
};

// what is asked of one arm in one tick; null pointers are not given
struct Order {
  const double *goals;    // twelve numbers a target
  const double *twist;    // or instead six numbers a target: linear and angular speed in world axes
  const double *measured; // n: where the real joints are
  bool stamped;
  double stamp, dt;
  const Steering *steering; // a step that is chosen already, goals as they are
};

// what is told besides the tick itself
struct Told {
  Tick tick;
  int state;
  double lag;    // of the command that was followed, seconds
  double *error; // six a target: goal minus end effector after the step, metres and radians in world axes
  double *distance, *angle; // of each target, of its rows
};

struct FollowDesk {
  TickDesk tick;
  Wanted *wanted; // one a target
};

// a row of memory in doubles, cut into its parts; null only counts. Returns how many doubles it takes.
SUPPLE_FN long long arm_memory(const Tracking &t, double *at, ArmMemory *arm) {
  const long long n = t.problem.n, m = t.problem.rows, targets = t.problem.target_count,
                  wide = (n + 7) / 8 * 8;
  const long long each = (sizeof(CommandState) + 63) / 64 * 8;
  long long used = 0;
  auto take = [&](long long count) {
    double *piece = at + used;
    used += count;
    return piece;
  };
  static_assert(sizeof(CommandState) % 64 == 0, "command states stand in a row");
  double *commands = take(each * targets);
  double *rows[12];
  for (double *&row : rows)
    row = take(wide);
  double *state = take(4), *basis = take(2 * n * n), *null = take(n + m), *scalars = take(3),
         *pushed = take(12 * targets), *pushing = take(1);
  if (arm)
    *arm = {{rows[0],
             rows[1],
             rows[2],
             rows[3],
             rows[4],
             rows[5],
             rows[6],
             rows[7],
             basis,
             rows[11],
             null,
             scalars,
             {rows[8], rows[9], rows[10], state}},
            reinterpret_cast<CommandState *>(commands),
            pushed,
            pushing};
  return (used + 7) / 8 * 8;
}

// Begins at q, at rest.
SUPPLE_FN void begin(const Tracking &t, const ArmMemory &arm, const double *q) {
  const int n = t.problem.n;
  const LawMemory &s = arm.law;
  for (int i = 0; i < n; ++i) {
    s.q[i] = s.posture[i] = s.rest[i] = s.home.anchor[i] = q[i];
    s.velocity[i] = s.acceleration[i] = s.ahead[i] = s.pace[i] = s.held[i] = s.basis_held[i] = 0;
    s.null[i] = i == 0;
  }
  for (int i = 0; i < t.problem.rows; ++i)
    s.null[n + i] = i == 0;
  s.scalars[0] = s.scalars[1] = s.scalars[2] = 0;
  for (int i = 0; i < 4; ++i)
    s.home.state[i] = 0;
  for (int k = 0; k < t.problem.target_count; ++k)
    std::memset(static_cast<void *>(arm.commands + k), 0, sizeof(CommandState));
  *arm.pushing = 0;
}

// whether a goal can be meant: finite, and its rotation one (to 1e-6), where a rotation is asked
SUPPLE_FN bool sound(const Target &target, const double *goal) {
  double sum = 0;
  const int last = target.component[target.rows - 1], first = target.component[0];
  for (int i = 9; i < 12 && first < about_x; ++i)
    sum += goal[i] * 0;
  if (last >= across_1) {
    const double length = goal[0] * goal[0] + goal[1] * goal[1] + goal[2] * goal[2];
    return sum == 0 && length > 1e-12 && length < 1e300;
  }
  if (last < about_x)
    return sum == 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j <= i; ++j) {
      const double d =
          goal[3 * i] * goal[3 * j] + goal[3 * i + 1] * goal[3 * j + 1] + goal[3 * i + 2] * goal[3 * j + 2];
      if (!(std::fabs(d - (i == j)) < 1e-6))
        return false;
    }
  const double handed = goal[0] * (goal[4] * goal[8] - goal[5] * goal[7]) -
                        goal[1] * (goal[3] * goal[8] - goal[5] * goal[6]) +
                        goal[2] * (goal[3] * goal[7] - goal[4] * goal[6]);
  return sum == 0 && handed > 0;
}

SUPPLE_FN Frame<double> tip_of(const Target &target, const double *q, Axis<double> *axes) {
  Frame<double> tip = frame<double>(traverse_chain(target.chain, q, axes));
  tip.p = tip * Vec<double>{target.point[0], target.point[1], target.point[2]};
  return tip;
}

SUPPLE_FN void write_frame(const Frame<double> &f, double *goal) {
  const double all[12] = {f.r.x.x, f.r.y.x, f.r.z.x, f.r.x.y, f.r.y.y, f.r.z.y,
                          f.r.x.z, f.r.y.z, f.r.z.z, f.p.x,   f.p.y,   f.p.z};
  std::memcpy(goal, all, sizeof all);
}

// A goal that is pushed along by a twist; it waits where the end effector cannot follow, so that it is not
// far ahead when the push turns back.
SUPPLE_FN void push_along(const Target &target, const Frame<double> &tip, const double *twist, double dt,
                          bool on, double unit, double *goal, Wanted &wanted) {
  const double ahead = 0.05; // in weighted units: about 2 cm and 3 degrees of an arm of a metre
  Frame<double> at = on ? goal_frame<double>(goal) : tip;
  const Vec<double> p = at.p - tip.p, o = log_rotation(at.r * transpose(tip.r));
  double square = 0;
  for (int i = 0; i < target.rows; ++i) {
    const double all[6] = {p.x, p.y, p.z, o.x, o.y, o.z}, w = unit * target.weight[i];
    square += target.component[i] < across_1 ? squared(w * all[target.component[i]]) : w * w * dot(o, o) / 2;
  }
  if (square > squared(ahead)) {
    const double part = ahead / root(square);
    at = {exp_rotation(part * o) * tip.r, tip.p + part * p};
  }
  for (int i = 0; i < 6; ++i)
    wanted.moved[i] = twist[i] * dt;
  const Vec<double> turn{wanted.moved[3], wanted.moved[4], wanted.moved[5]};
  at = {exp_rotation(turn) * at.r,
        {at.p.x + wanted.moved[0], at.p.y + wanted.moved[1], at.p.z + wanted.moved[2]}};
  at.r = rotation(quaternion(at.r)); // rounding must not add up
  write_frame(at, goal);
  std::memcpy(wanted.goal, goal, sizeof wanted.goal);
  if (target.component[target.rows - 1] >= across_1) {
    const Vec<double> a = at.r * Vec<double>{target.axis[0], target.axis[1], target.axis[2]};
    wanted.goal[0] = a.x;
    wanted.goal[1] = a.y;
    wanted.goal[2] = a.z;
  }
}

// What is wanted in this tick, from the order. False where nothing sound is.
SUPPLE_FN bool read_order(const Tracking &t, const CommandOptions *options, const ArmMemory &arm,
                          const Order &order, const FollowDesk &desk, Told &told) {
  const int targets = t.problem.target_count;
  double sum = 0;
  told.lag = 0;
  if (order.twist) {
    for (int i = 0; i < 6 * targets; ++i)
      sum += order.twist[i] * 0;
    if (sum != 0)
      return false;
    for (int k = 0; k < targets; ++k) {
      const Frame<double> tip = tip_of(t.problem.targets[k], arm.law.q, desk.tick.axes);
      push_along(t.problem.targets[k], tip, order.twist + 6 * k, order.dt, *arm.pushing != 0, t.unit,
                 arm.pushed + 12 * k, desk.wanted[k]);
      arm.commands[k].started = false;
    }
    *arm.pushing = 1;
    return true;
  }
  *arm.pushing = 0;
  for (int k = 0; k < targets; ++k)
    if (!sound(t.problem.targets[k], order.goals + 12 * k))
      return false;
  for (int k = 0; k < targets && order.steering; ++k) {
    std::memset(desk.wanted + k, 0, sizeof(Wanted));
    std::memcpy(desk.wanted[k].goal, order.goals + 12 * k, 12 * sizeof(double));
  }
  for (int k = 0; k < targets && !order.steering; ++k) {
    // what no row asks may be anything, even no number
    double goal[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
    const Target &target = t.problem.targets[k];
    if (target.component[target.rows - 1] >= about_x)
      std::memcpy(goal, order.goals + 12 * k, 9 * sizeof(double));
    if (target.component[0] < about_x)
      std::memcpy(goal + 9, order.goals + 12 * k + 9, 3 * sizeof(double));
    Command command;
    estimate(arm.commands[k], goal, order.stamped, order.stamp, order.dt, options[k], command);
    std::memcpy(desk.wanted[k].goal, command.goal, sizeof command.goal);
    std::memcpy(desk.wanted[k].moved, command.moved, sizeof command.moved);
    told.lag = larger(told.lag, command.lag);
  }
  return true;
}

// One tick of one arm.
template <int N, int M>
SUPPLE_FN void follow(const Tracking &t, const CommandOptions *options, const Stop &near,
                      const ArmMemory &arm, const Order &asked, const FollowDesk &desk, Told &told) {
  const int targets = t.problem.target_count, n = t.problem.n;
  Order order = asked;
  told.state = at_rest;
  for (int i = 0; i < 6 * targets; ++i)
    told.error[i] = 0;
  for (int i = 0; i < n; ++i)
    told.tick.weights[i] = 1, told.tick.sides[i] = 0;
  told.tick.damping = told.tick.fold = told.tick.reducible = 0;
  told.tick.weak = told.tick.bounded = told.tick.quick = false;
  told.lag = 0;
  if (!(order.dt > 0 && order.dt < 1e9))
    return; // no time passed, so nothing moves
  if (order.dt > 0.25)
    order.dt = 0.25; // after a pause it goes on as if the pause had been short
  Tracker<N, M> law(t, arm.law, desk.tick, order.dt);
  if (!read_order(t, options, arm, order, desk, told)) {
    for (int k = 0; k < targets; ++k)
      arm.commands[k].started = false;
    return law.hold(told.tick);
  }
  if (order.measured)
    for (int i = 0; i < n; ++i)
      if (!(std::fabs(order.measured[i]) < 1e300))
        order.measured = nullptr, i = n;
  if (order.steering)
    law.steer(desk.wanted, order.measured, *order.steering, told.tick);
  else
    law.step(desk.wanted, order.measured, told.tick);
  bool there = true;
  for (int k = 0; k < targets; ++k) {
    const Target &target = t.problem.targets[k];
    const Frame<double> tip = tip_of(target, order.measured ? order.measured : arm.law.q, desk.tick.axes);
    double rows[6];
    measure(target, tip, desk.wanted[k].goal, rows, told.distance[k], told.angle[k]);
    const Frame<double> goal = goal_frame<double>(desk.wanted[k].goal);
    const Vec<double> p = goal.p - tip.p;
    Vec<double> o{0, 0, 0};
    const int last = target.component[target.rows - 1];
    if (last >= across_1)
      o = turn_between(tip.r * Vec<double>{target.axis[0], target.axis[1], target.axis[2]},
                       Vec<double>{desk.wanted[k].goal[0], desk.wanted[k].goal[1], desk.wanted[k].goal[2]});
    else if (last >= about_x)
      o = log_rotation(goal.r * transpose(tip.r));
    const double all[6] = {p.x, p.y, p.z, o.x, o.y, o.z};
    for (int i = 0; i < target.rows; ++i) {
      const int c = target.component[i];
      if (c < across_1)
        told.error[6 * k + c] = all[c];
      else
        for (int j = 3; j < 6; ++j)
          told.error[6 * k + j] = all[j];
    }
    there = there && told.distance[k] <= near.position && told.angle[k] <= near.angle;
  }
  told.state = there ? following : told.tick.reducible > 0.25 ? lagging : yielding;
}

} // namespace SUPPLE_ISA
} // namespace supple
