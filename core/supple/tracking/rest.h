// Rest: while the command rests, an arm that comes no nearer stands still.
//
// The law lowers the squared residual, of each level of priority as far as earlier ones allow. Where it has
// not for some time, nor the displacement that the caller prefers, what is left is rounding, a slow way along
// a flat direction or a cycle, and every joint brakes and stays until the command moves.
#pragma once
#include "supple/tracking/bounds.h"

namespace supple {
inline namespace SUPPLE_ISA {

// An arm that overshoots comes back: a swing whose peak is at most half of the one before is a gain, for as
// long as the cost falls. Returns whether it is one.
SUPPLE_FN bool watch_swing(double cost, double gain, Swing &swing) {
  if (swing.falls) {
    if (cost < swing.extreme - gain) {
      swing.extreme = cost;
      return swing.gains;
    }
    if (cost > swing.extreme + 1e-3 * cost + gain) {
      swing.falls = false;
      swing.extreme = cost;
    }
    return false;
  }
  if (cost > swing.extreme) {
    swing.extreme = cost;
  } else if (cost < swing.extreme - 1e-3 * swing.extreme - gain) {
    swing.falls = true;
    swing.gains = swing.extreme < 0.5 * swing.last_peak;
    if (swing.gains)
      swing.last_peak = swing.extreme;
    swing.extreme = cost;
  }
  return false;
}

// Watches the command and the residual of this tick; returns whether the arm is to stand still.
template <int N, int M>
SUPPLE_FN bool watch_rest(const TickSetup<N, M> &setup, const TickEvaluation &at,
                          const EvaluationSummary &summary, const Command *commands,
                          const ArmMemory &memory) {
  const Law &law = setup.law;
  const int m = setup.m();
  ArmScalars &scalars = *memory.scalars;
  bool jumped = false;
  for (int k = 0; k < setup.tracking.problem.target_count; ++k)
    jumped = jumped || commands[k].jumped;
  // the command, for a return: small motions add up
  double drift = 0;
  for (int i = 0; i < m; ++i) {
    memory.command_drift[i] += at.command[i];
    drift += squared(memory.command_drift[i]);
  }
  scalars.command_rest_time += setup.dt;
  if (jumped || drift > squared(law.rest_drift)) {
    scalars.command_rest_time = 0;
    for (int i = 0; i < m; ++i)
      memory.command_drift[i] = 0;
  }
  // the residual, for standing still: any motion of the command begins anew
  double cost[most_levels] = {};
  for (int i = 0; i < m; ++i)
    cost[setup.tracking.row_level[i]] += 0.5 * squared(at.residual[i]);
  // an arm that stands still and yet has another residual has other weights
  bool stands = scalars.no_gain_time >= law.rest_time;
  for (int i = 0; i < setup.n(); ++i)
    stands = stands && memory.velocity[i] == 0;
  double total = 0;
  for (double of_level : cost)
    total += of_level;
  const bool reweighed = stands && std::fabs(total - scalars.last_cost) > 1e-9 * (total + 1e-3);
  scalars.last_cost = total;
  const bool moves = jumped || reweighed || summary.command_speed > 0;
  if (moves || !(scalars.no_gain_time > 0)) {
    std::memcpy(scalars.least_cost, cost, sizeof cost);
    scalars.least_preferred = scalars.preferred;
    scalars.no_gain_time = moves ? 0 : setup.dt;
    scalars.momentum_time = 0;
    if (moves) {
      scalars.swing = {true, false, total, total};
      scalars.short_waits = 0;
    }
    return false;
  }
  const double braking = braking_time(setup.tracking, memory.velocity);
  const double last_gain_time = scalars.no_gain_time;
  scalars.no_gain_time += setup.dt;
  // the longer the command rests, the more must be gained to go on
  const double patience = scalars.command_rest_time / law.rest_patience;
  const double gain_share = patience < 1 ? 0 : patience < 1.25 ? 1e-3 : patience < 1.5 ? 1e-2 : 3e-2;
  if (watch_swing(total, larger(law.rest_gain, gain_share * total), scalars.swing))
    scalars.no_gain_time = setup.dt;
  const double kept = scalars.command_rest_time < law.rest_patience ? 0.999 : 0.8; // share that is no gain
  if (scalars.preferred > 1e-6 &&
      (scalars.least_preferred == 0 || scalars.preferred < kept * scalars.least_preferred)) {
    scalars.least_preferred = scalars.preferred;
    scalars.no_gain_time = setup.dt;
  }
  for (int level = 0; level < setup.tracking.level_count; ++level) {
    double &least = scalars.least_cost[level];
    const double gain = larger(law.rest_gain, gain_share * cost[level]);
    if (cost[level] < least - gain) {
      std::memcpy(&least, cost + level, (setup.tracking.level_count - level) * sizeof(double));
      scalars.no_gain_time = setup.dt;
      break;
    }
    if (cost[level] > least + gain)
      break; // later levels gain at the cost of this one
  }
  // what moved when it last gained must brake, and may come back
  const bool gained = scalars.no_gain_time < last_gain_time;
  scalars.momentum_time = gained ? braking : larger(scalars.momentum_time, braking);
  return scalars.no_gain_time >= law.rest_time + 3 * scalars.momentum_time;
}

} // namespace SUPPLE_ISA
} // namespace supple
