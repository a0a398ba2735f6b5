// Rest: while the command rests, an arm that comes no nearer stands still.
//
// The law lowers the squared residual: that of each level of priority as far as earlier ones allow. If
// neither the residual nor the displacement that the caller prefers has become smaller for some time, what
// is left is rounding, a slow motion along a flat direction, or a cycle. Then every joint brakes and stays
// until the command moves.
#pragma once
#include "supple/tracking/bounds.h"

namespace supple {
inline namespace SUPPLE_ISA {

// share of the cost: a smaller change is rounding, not a turn from fall to rise or back
constexpr double least_swing = 1e-3;
// a peak is a gain if it is lower than this part of the last one that was: the arm overshoots, comes back
constexpr double gaining_peak = 0.5;

// An arm that overshoots comes back: a swing whose peak is at most `gaining_peak` of the one before is a
// gain, for as long as the cost falls. Returns whether it is one.
SUPPLE_FN bool watch_swing(double cost, double gain, Swing &swing) {
  if (swing.falls) {
    if (cost < swing.extreme - gain) {
      swing.extreme = cost;
      return swing.gains;
    }
    if (cost > swing.extreme + least_swing * cost + gain) {
      swing.falls = false;
      swing.extreme = cost;
    }
    return false;
  }
  if (cost > swing.extreme) {
    swing.extreme = cost;
  } else if (cost < swing.extreme - least_swing * swing.extreme - gain) {
    swing.falls = true;
    swing.gains = swing.extreme < gaining_peak * swing.last_peak;
    swing.repeats = swing.gains ? 0 : swing.repeats + 1;
    if (swing.gains)
      swing.last_peak = swing.extreme;
    swing.extreme = cost;
  }
  return false;
}

// Adds this tick to the rest of the command, for a return. Small motions add up: one that has moved by
// Law::rest_drift does not rest.
SUPPLE_FN void watch_command(const Law &law, const double *command, int m, bool jumped, double dt,
                             const ArmMemory &memory) {
  double drift = 0;
  for (int i = 0; i < m; ++i) {
    memory.command_drift[i] += command[i];
    drift += squared(memory.command_drift[i]);
  }
  memory.scalars->command_rest_time += dt;
  if (!jumped && !(drift > squared(law.rest_drift)))
    return;
  memory.scalars->command_rest_time = 0;
  for (int i = 0; i < m; ++i)
    memory.command_drift[i] = 0;
}

// Adds this tick to the time since the cost was last halved. `moves`: the command does, and it begins anew.
SUPPLE_FN void watch_halving(double total, bool moves, double dt, ArmScalars &scalars) {
  const bool halved = moves || total < 0.5 * scalars.halved_cost;
  scalars.halved_cost = halved ? total : scalars.halved_cost;
  scalars.unhalved_time = halved ? 0 : scalars.unhalved_time + dt;
}

// s: the time that the speed and acceleration limits of a joint need for the way D from rest to rest:
// 2 sqrt(D/a), or D/v + v/a where the speed limit is reached.
SUPPLE_FN double needed_time(const JointBounds &joint, double D) {
  if (!(D > 0 && joint.acceleration > 0 && joint.speed > 0))
    return 0;
  return D * joint.acceleration <= squared(joint.speed) ? 2 * root(D / joint.acceleration)
                                                        : D / joint.speed + joint.speed / joint.acceleration;
}

// s: the same for the way of all joints from approach_q to q.
SUPPLE_FN double way_time(const Tracking &t, const ArmMemory &memory) {
  double longest = 0;
  for (int i = 0; i < t.problem.n; ++i)
    longest =
        larger(longest, needed_time(t.bounds[i], std::fabs(memory.q[i] - memory.approach_q[i]) / t.unit[i]));
  return longest;
}

// Starts the clock of the deadline (deadline.h): the command moves, or what is asked of the arm has changed.
SUPPLE_FN void start_rest_clock(const Tracking &t, const ArmMemory &memory) {
  ArmScalars &scalars = *memory.scalars;
  scalars.rest_clock = scalars.returned_clock = scalars.bounded_time = 0;
  scalars.overdue = false;
  std::memcpy(memory.rest_q, memory.q, t.problem.n * sizeof(double));
}

// A time in which the arm could have come nearer, in units of Law::rest_patience; at most the rest of the
// command. The braking time is added to the patience: fast joints may brake and come back.
SUPPLE_FLAT double patience_of(const Law &law, double time, const ArmScalars &scalars) {
  return lesser(scalars.command_rest_time, time) / (law.rest_patience + scalars.momentum_time);
}

// How long the arm has had to come nearer, in units of Law::rest_patience. An arm with low acceleration
// limits needs long for a long motion, so what counts is the time since the last halving of the cost; but at
// least the time that the approach took beyond what its way needs: halvings one after another do not make it
// endless.
SUPPLE_FN double spent_patience(const Tracking &t, const ArmMemory &memory) {
  const ArmScalars &scalars = *memory.scalars;
  double time = scalars.unhalved_time;
  if (time < scalars.approach_time)
    time = larger(time, scalars.approach_time - way_time(t, memory));
  return patience_of(t.law, time, scalars);
}

// Share of the cost that must be gained: the longer it takes, see spent_patience, the more. Up to the first
// patience any gain counts that is more than rounding.
SUPPLE_FLAT double least_gain_share(double patience) {
  constexpr double until[] = {0.5, 1, 1.25, 1.5}, share[] = {0, 1e-3, 1e-2, 3e-2, 0.1};
  int i = 0;
  while (i < 4 && !(patience < until[i]))
    ++i;
  return share[i];
}
// A motion counts if it gains this share of the most that its way could gain, |r| |way|: an arm that must go
// slowly gains little in a tick.
constexpr double least_efficiency = 0.03;

// Share of the speed that the joints' limits allow: a slower motion counts as one of this speed.
constexpr double creep_share = 0.01;

// rad: the joints' way since the last gain, at least that of a creep. An end effector with a speed limit may
// have to go slowly.
SUPPLE_FN double way_since_gain(const Tracking &t, const ArmScalars &scalars) {
  double fastest = 0;
  for (int i = 0; i < t.problem.n; ++i)
    fastest = larger(fastest, lesser(t.bounds[i].speed, t.bounds[i].acceleration * t.law.rest_patience));
  const double creep = t.effector_bounds ? 0 : creep_share * fastest;
  return larger(scalars.joint_travel, creep * scalars.no_decrease_time);
}

// The gain that counts, of a cost with the joints' way since the last gain.
SUPPLE_FLAT double needed_gain(double cost, double least_gain, double share, double way) {
  return larger(least_gain, lesser(share * cost, least_efficiency * root(2 * cost) * way));
}
// Part of the preferred displacement that may be left without having gained: before and after the patience
constexpr double preferred_left = 0.999, preferred_left_later = 0.8;
// a shorter preferred displacement is none
constexpr double least_preferred_step = 1e-6;
// Law::rest_time is extended by so many times the time that the joints need to brake: they may come back
constexpr double momentum_factor = 3;

// Whether the displacement that the caller prefers became shorter.
SUPPLE_FN bool gains_preferred(double left, ArmScalars &scalars) {
  if (!(scalars.preferred > least_preferred_step) ||
      !(scalars.least_preferred == 0 || scalars.preferred < left * scalars.least_preferred))
    return false;
  scalars.least_preferred = scalars.preferred;
  return true;
}

// Whether a level became better, and none before it worse.
SUPPLE_FN bool gains_level(const double *cost, int level_count, double least_gain, double share, double way,
                           ArmScalars &scalars) {
  for (int level = 0; level < level_count; ++level) {
    double &least = scalars.least_cost[level];
    const double gain = needed_gain(cost[level], least_gain, share, way);
    if (cost[level] < least - gain) {
      std::memcpy(&least, cost + level, (level_count - level) * sizeof(double));
      return true;
    }
    if (cost[level] > least + least_gain)
      return false; // later levels gain at the cost of this one
  }
  return false;
}

// Whether the arm came nearer in this tick. One that swings again and again gains nothing, though each swing
// may come a little nearer.
SUPPLE_FN bool watch_gain(const Tracking &t, const double *cost, double total, const ArmMemory &memory) {
  const Law &law = t.law;
  ArmScalars &scalars = *memory.scalars;
  const double patience = spent_patience(t, memory), share = least_gain_share(patience);
  const double way = share > 0 ? way_since_gain(t, scalars) : 0;
  watch_swing(total, law.rest_gain, scalars.cycle);
  const bool swing = watch_swing(total, needed_gain(total, law.rest_gain, share, way), scalars.swing);
  const bool preferred = gains_preferred(patience < 1 ? preferred_left : preferred_left_later, scalars);
  const bool level = gains_level(cost, t.level_count, law.rest_gain, share, way, scalars);
  const bool cycles = !(patience < 1) && scalars.cycle.repeats >= law.rest_swings;
  return !cycles && (swing || preferred || level);
}

// s: of the low-pass of progress, and from which rest of the command on it decides on the status
constexpr double progress_time = 0.05, progress_delay = 0.3;
// 1/s: a faster fall of the cost, as a part of it, is progress for joints at any speed
constexpr double least_progress = 0.1;
// progress is cut off here, so that the low-pass forgets a fast fall in time
constexpr double most_progress = 2;
// 1/s, of the cost: less is rounding
constexpr double least_fall = 1e-12;

// rad/s: slower joints stand, and come no nearer
constexpr double standing_speed = 1e-6;

// The first level that is not met yet: its cost tells whether the arm comes nearer, since later ones may grow
// for it. The last level where all are met.
SUPPLE_FLAT int open_level(const double *cost, int level_count, double following_error) {
  int level = 0;
  while (level + 1 < level_count && !(2 * cost[level] > squared(following_error)))
    ++level;
  return level;
}

// Watches how fast the cost of the open level falls while the command rests: over what counts as progress for
// joints as fast as they are.
SUPPLE_FN void watch_progress(const Tracking &t, const double *cost, double joint_speed, bool moves,
                              double dt, ArmScalars &scalars) {
  const int level = open_level(cost, t.level_count, t.law.following_error);
  const double left = cost[level], fall = (scalars.last_level_cost[level] - left) / dt;
  const double enough =
      lesser(least_progress * left, least_efficiency * root(2 * left) * joint_speed) + least_fall;
  const double progress = clip(fall / enough, -most_progress, most_progress);
  scalars.progress = moves || joint_speed < standing_speed
                         ? 0
                         : scalars.progress + dt / (dt + progress_time) * (progress - scalars.progress);
}

// a step that would remove this share of the squared residual leads nearer to a command that moves
constexpr double reducible_share = 0.25;

// Whether the arm comes nearer. Of a command that moves, or did so just now, it is judged by what a step
// would remove of the residual; of one that rests by what is removed.
SUPPLE_FLAT bool comes_nearer(const ArmScalars &scalars, double reducible) {
  if (scalars.no_decrease_time > progress_delay || scalars.command_rest_time > progress_delay)
    return scalars.progress > 1 || scalars.waiting_time > 0;
  return reducible > reducible_share || scalars.progress > 1;
}

// the cost of an arm that stands has changed by more than rounding: relative to it, and to this cost if it is
// smaller
constexpr double reweighed_change = 1e-9, reweighed_cost = 1e-3;

// Watches the command and the residual of this tick; returns whether the arm is to stand still.
template <int N, int M>
SUPPLE_FN bool watch_rest(const TickSetup<N, M> &setup, const TickEvaluation &at,
                          const EvaluationSummary &summary, bool jumped, const ArmMemory &memory) {
  const Law &law = setup.law;
  ArmScalars &scalars = *memory.scalars;
  watch_command(law, at.command, setup.m(), jumped, setup.dt, memory);
  double cost[most_levels] = {}, total = 0;
  for (int i = 0; i < setup.m(); ++i)
    cost[setup.tracking.row_level[i]] += 0.5 * squared(at.residual[i]);
  for (double of_level : cost)
    total += of_level;
  // an arm that stands still and yet has another residual has other weights
  bool stands = scalars.no_decrease_time >= law.rest_time;
  for (int i = 0; i < setup.n(); ++i)
    stands = stands && memory.velocity[i] == 0;
  const bool reweighed =
      stands && std::fabs(total - scalars.last_cost) > reweighed_change * (total + reweighed_cost);
  const bool moves = jumped || reweighed || summary.command_speed > 0;
  const double joint_speed = root(dot_rows<N>(memory.velocity, memory.velocity, setup.n()));
  watch_progress(setup.tracking, cost, joint_speed, moves, setup.dt, scalars);
  watch_halving(total, moves, setup.dt, scalars);
  scalars.last_cost = total;
  std::memcpy(scalars.last_level_cost, cost, sizeof cost);
  if (moves || !(scalars.no_decrease_time > 0)) { // it begins anew
    std::memcpy(scalars.least_cost, cost, sizeof cost);
    scalars.least_preferred = scalars.preferred;
    scalars.no_decrease_time = moves ? 0 : setup.dt;
    scalars.momentum_time = scalars.joint_travel = scalars.approach_time = 0;
    std::memcpy(memory.approach_q, memory.q, setup.n() * sizeof(double));
    if (moves) {
      scalars.swing = scalars.cycle = {true, false, total, total, 0};
      scalars.short_waits = 0;
      start_rest_clock(setup.tracking, memory);
    }
    return false;
  }
  const double braking = braking_time(setup.tracking, memory.velocity);
  scalars.joint_travel += setup.dt * joint_speed;
  scalars.approach_time += setup.dt;
  const bool gained = watch_gain(setup.tracking, cost, total, memory);
  scalars.no_decrease_time = gained ? setup.dt : scalars.no_decrease_time + setup.dt;
  scalars.joint_travel = gained ? 0 : scalars.joint_travel;
  // what moved when it last gained must brake, and may come back
  scalars.momentum_time = gained ? braking : larger(scalars.momentum_time, braking);
  return scalars.no_decrease_time >= law.rest_time + momentum_factor * scalars.momentum_time;
}

} // namespace SUPPLE_ISA
} // namespace supple
