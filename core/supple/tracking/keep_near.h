// An end effector that is alone does not go away from a command that rests, not even by its momentum. Of
// several, one may have to, so that another comes near.
//
// The least distance of the end effector from its command is remembered; the way of a command that moves is
// added to it. A step is allowed if the distance stays within Law::distance_margin of that when all joints
// brake afterwards, along a straight line in joint space, in the time T = max |v_i| / a_i. Where no allowed
// step is in the box, as after a jump in mid-flight, none that leads farther away than braking is.
#pragma once
#include "supple/tracking/effector_speed.h"

namespace supple {
inline namespace SUPPLE_ISA {

// samples of the way of braking
constexpr int braking_samples = 4;
// of the acceleration limits, with which braking is planned: the rest is for what the samples miss
constexpr double planned_braking = 0.9;
// halvings of the way from braking to a step
constexpr int step_halvings = 6;

// What the commands did in this tick.
struct CommandChange {
  bool jumped, moved;
};

SUPPLE_FN CommandChange command_change(const Command *commands, int target_count) {
  CommandChange change{false, false};
  for (int k = 0; k < target_count; ++k) {
    change.jumped = change.jumped || commands[k].jumped;
    for (double x : commands[k].displacement)
      change.moved = change.moved || x != 0;
  }
  return change;
}

// Whether the distance of a target's point from its command is one that counts: it is the only target, and
// all of its position is asked for, before anything else.
SUPPLE_FN bool is_kept_near(const Tracking &t, const Target &target) {
  if (t.problem.target_count > 1 || target.looks || target.has_radial || target.has_pole ||
      t.row_level[target.first] != 0)
    return false;
  int components = 0;
  for (int i = 0; i < target.rows; ++i)
    components += target.component[i] <= along_z;
  return components == 3;
}

// Metres for one unit of the weighted error of a target.
SUPPLE_FLAT double metres(const Tracking &t, const Target &target) {
  return 1 / larger(t.weight_scale * target.weight[0], 1e-12);
}

// How far a target's command moves in this tick, in metres: a turn by a radian counts as reach/pi, since a
// command that turns may take the nearest place with it.
SUPPLE_FN double command_way(const Tracking &t, const Target &target, const TickEvaluation &at) {
  const double *rows = at.command + target.first;
  return metres(t, target) * root(dot_rows<0>(rows, rows, target.rows));
}

// The least distance from the origin on the way from a to b.
SUPPLE_FN double least_on_the_way(Vec<double> a, Vec<double> b) {
  const Vec<double> way = b - a;
  const double square = dot(way, way), share = square > 0 ? clip(-dot(a, way) / square, 0.0, 1.0) : 0;
  const Vec<double> nearest = a + share * way;
  return root(dot(nearest, nearest));
}

// By how much more than allowed an end effector goes away from its command, in the step x and while all
// joints brake afterwards. `next_q` is written.
SUPPLE_FN double distance_excess(const Tracking &t, const Command *commands, const ArmMemory &memory,
                                 const double *x, double dt, const TickEvaluation &at,
                                 const EffectorScratch &scratch) {
  for (int i = 0; i < t.problem.n; ++i)
    scratch.velocity[i] = x[i] / dt;
  const double T = braking_time(t, scratch.velocity) / planned_braking;
  double most = -1e300;
  for (int k = 0; k < t.problem.target_count; ++k) {
    if (!is_kept_near(t, t.problem.targets[k]))
      continue;
    const Target &target = t.problem.targets[k];
    const Vec<double> goal = load3(commands[k].goal + 9);
    const double allowed = t.law.distance_margin * metres(t, target) + command_way(t, target, at) / dt * T;
    double least = memory.least_distance[k];
    Vec<double> away = at.targets[k].error.position;
    for (int sample = 1; sample <= braking_samples; ++sample) {
      moved_joints(t, memory.q, scratch.velocity, dt + 0.5 * T * sample / braking_samples, scratch.next_q);
      const Vec<double> next = goal - end_effector(t.problem.targets[k], scratch.next_q, at.axes).p;
      least = lesser(least, least_on_the_way(away, next));
      most = larger(most, root(dot(next, next)) - least - allowed);
      away = next;
    }
  }
  return most;
}

// Remembers the least distances from the commands; returns whether the arm, as fast as it is with the step x,
// might exceed them.
SUPPLE_FN bool watch_distances(const Tracking &t, bool anew, double dt, const TickEvaluation &at,
                               const ArmMemory &memory, const double *x) {
  bool might = false;
  const Mover *mover = at.movers;
  double T = 0;
  for (int i = 0; i < t.problem.n; ++i)
    if (x[i] != 0)
      T = larger(T, std::fabs(x[i]) / (dt * planned_braking * t.bounds[i].acceleration));
  for (int k = 0; k < t.problem.target_count; ++k) {
    const Target &target = t.problem.targets[k];
    const Vec<double> error = at.targets[k].error.position;
    const double distance = root(dot(error, error)), moved = command_way(t, target, at);
    double way = 0;
    for (const Mover *end = mover + at.mover_count[k]; mover < end; ++mover)
      way += std::fabs(x[mover->index]) * root(dot(mover->j, mover->j));
    double &least = memory.least_distance[k];
    least = anew ? distance : lesser(distance, least + moved);
    might = might || distance + way * (1 + 0.6 * T / dt) > least + t.law.distance_margin * metres(t, target);
  }
  return might;
}

// Of the step in bounds.step, as much is taken as keeps the end effectors near; the rest of it is braking,
// all joints together. `anew`: what was remembered of distances does not count.
SUPPLE_FN void keep_near(const Tracking &t, const Command *commands, bool anew, double dt,
                         const TickEvaluation &at, const ArmMemory &memory, const BoundsScratch &bounds) {
  const int n = t.problem.n;
  const EffectorScratch &scratch = bounds.effector;
  double *x = bounds.step;
  if (!is_kept_near(t, t.problem.targets[0]) || !watch_distances(t, anew, dt, at, memory, x))
    return;
  auto excess = [&](const double *step) {
    return distance_excess(t, commands, memory, step, dt, at, scratch);
  };
  const double of_step = excess(x);
  if (!(of_step > 0))
    return;
  const double T = braking_time(t, memory.velocity), left = T > dt ? 1 - dt / T : 0;
  for (int i = 0; i < n; ++i)
    scratch.braking[i] = clip(left * memory.velocity[i] * dt, bounds.low[i], bounds.high[i]);
  const double allowed = positive(excess(scratch.braking));
  if (of_step <= allowed)
    return;
  double kept = 0, refused = 1; // shares of the way from braking to x
  for (int turn = 0; turn < step_halvings; ++turn) {
    const double share = 0.5 * (kept + refused);
    for (int i = 0; i < n; ++i)
      scratch.candidate[i] = scratch.braking[i] + share * (x[i] - scratch.braking[i]);
    (excess(scratch.candidate) > allowed ? refused : kept) = share;
  }
  for (int i = 0; i < n; ++i)
    x[i] = scratch.braking[i] + kept * (x[i] - scratch.braking[i]);
}

} // namespace SUPPLE_ISA
} // namespace supple
