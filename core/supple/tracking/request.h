// The commands that a request has: goals that can be meant, or twists that move goals.
#pragma once
#include "supple/tracking/command.h"
#include "supple/tracking/smoothing.h"

namespace supple {
inline namespace SUPPLE_ISA {

// a rotation with a smaller defect keeps its bits
constexpr double exact_rotation = 1e-6;
// m; a position farther away cannot be meant
constexpr double farthest_position = 1e12;

// Reads the twelve numbers of a goal: what no row asks may be anything, even not a number, and becomes the
// identity; a rotation that is nearly one becomes the nearest. False where the goal cannot be meant.
SUPPLE_FN bool read_tracked_goal(const Target &target, const double *requested, double *goal) {
  const double identity[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
  std::memcpy(goal, identity, sizeof identity);
  for (int i = 9; i < 12 && target.has_position; ++i) {
    goal[i] = requested[i];
    if (!(std::fabs(goal[i]) <= farthest_position))
      return false;
  }
  if (target.has_rotation || target.has_direction)
    std::memcpy(goal, requested, 9 * sizeof(double));
  if (target.has_direction) {
    const double square = dot(load3(goal), load3(goal));
    return square > 1e-12 && square < 1e300;
  }
  if (!target.has_rotation)
    return true;
  double gram[9];
  const double off = rotation_defect(goal, 3, gram);
  double finite = 0;
  for (int i = 0; i < 9; ++i)
    finite += gram[i] * 0;
  if (!(finite == 0 && off <= mendable_rotation))
    return false;
  if (off > exact_rotation)
    mend_rotation(goal, 3, gram, off);
  return dot(load3(goal), cross(load3(goal + 3), load3(goal + 6))) > 0;
}

SUPPLE_FN void write_goal(const Frame<double> &f, double *goal) {
  const double all[12] = {f.r.x.x, f.r.y.x, f.r.z.x, f.r.x.y, f.r.y.y, f.r.z.y,
                          f.r.x.z, f.r.y.z, f.r.z.z, f.p.x,   f.p.y,   f.p.z};
  std::memcpy(goal, all, sizeof all);
}

// How far a goal may be ahead of its end effector while a twist moves it, weighted: about 2 cm and 3 degrees
// of an arm of a metre.
constexpr double largest_twist_lead = 0.05;

// Moves a goal by a twist. The goal waits where the end effector cannot follow, so that it is not far ahead
// when the twist turns back. `goal` is where it was, if `active`; else it begins at the end effector.
SUPPLE_FN void move_by_twist(const Target &target, const Frame<double> &tip, const double *twist, double dt,
                             bool active, double scale, double *goal, Command &command) {
  Frame<double> at = active ? goal_frame(goal) : tip;
  const Vec<double> p = at.p - tip.p, o = log_rotation(at.r * transpose(tip.r));
  const double all[6] = {p.x, p.y, p.z, o.x, o.y, o.z};
  double square = 0;
  for (int i = 0; i < target.rows; ++i) {
    const int component = target.component[i];
    const double w = scale * target.weight[i];
    square += component < across_1 ? w * all[component] * (w * all[component]) : w * w * dot(o, o) / 2;
  }
  if (square > largest_twist_lead * largest_twist_lead) {
    const double share = largest_twist_lead / root(square);
    at = {exp_rotation(share * o) * tip.r, tip.p + share * p};
  }
  for (int i = 0; i < 6; ++i)
    command.displacement[i] = twist[i] * dt;
  at = {exp_rotation(load3(command.displacement + 3)) * at.r, at.p + load3(command.displacement)};
  at.r = rotation(quaternion(at.r)); // rounding must not add up
  write_goal(at, goal);
  std::memcpy(command.goal, goal, sizeof command.goal);
  if (target.has_direction)
    store3(pointing_axis(target, at), command.goal);
}

// The commands of a request for twists; false where one is not finite.
SUPPLE_FN bool read_twists(const Tracking &t, const TickRequest &request, const ArmMemory &memory,
                           Axis<double> *axes, Command *commands) {
  double sum = 0;
  for (int i = 0; i < 6 * t.problem.target_count; ++i)
    sum += request.twist[i] * 0;
  if (sum != 0)
    return false;
  for (int k = 0; k < t.problem.target_count; ++k) {
    const Target &target = t.problem.targets[k];
    const Frame<double> tip = end_effector(target, memory.q, axes);
    move_by_twist(target, tip, request.twist + 6 * k, request.dt, memory.scalars->twist_active,
                  t.weight_scale, memory.twist_goals + 12 * k, commands[k]);
    memory.command_states[k].started = false;
  }
  memory.scalars->twist_active = true;
  return true;
}

// The commands of a tick; false where the request has none that can be meant. `axes` is scratch.
SUPPLE_FN bool read_request(const Tracking &t, const CommandOptions *options, const TickRequest &request,
                            const ArmMemory &memory, Axis<double> *axes, Command *commands) {
  const int targets = t.problem.target_count;
  for (int k = 0; k < targets; ++k) {
    commands[k].lag = 0;
    commands[k].jumped = false;
  }
  if (request.twist)
    return read_twists(t, request, memory, axes, commands);
  memory.scalars->twist_active = false;
  for (int k = 0; k < targets; ++k)
    if (!read_tracked_goal(t.problem.targets[k], request.goals + 12 * k, commands[k].goal))
      return false;
  for (int k = 0; k < targets; ++k) {
    double goal[12];
    std::memcpy(goal, commands[k].goal, sizeof goal);
    if (request.external) { // as it is, at rest
      commands[k] = {};
      std::memcpy(commands[k].goal, request.goals + 12 * k, sizeof goal);
      if (t.problem.targets[k].has_rotation)
        std::memcpy(commands[k].goal, goal, 9 * sizeof(double));
      continue;
    }
    estimate_command(memory.command_states[k], goal, request.stamped, request.stamp, request.dt, options[k],
                     commands[k]);
    smooth_command(memory.command_states[k], options[k], memory.scalars->demand, request.dt, commands[k]);
  }
  return true;
}

} // namespace SUPPLE_ISA
} // namespace supple
