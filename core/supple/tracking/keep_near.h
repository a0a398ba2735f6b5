// While a command rests, no end effector goes away from it: not by its momentum, and not to bring another end
// effector nearer to its command.
//
// The smallest distance of each end effector from its command is remembered; how far commands move is added
// to it. A step is allowed if the distance grows beyond that by no more than Law::distance_margin while all
// joints brake after the step. They may brake in two ways: together, along a straight line in joint space, in
// the time T = max |v_i| / a_i; or, where that leads too far away, each by itself, in |v_i| / a_i. After an
// allowed step, the rest of the same braking is allowed too.
//   1. If the step x is not allowed, the nearest allowed one is taken, as the law measures deviations: the
//      distance d of each end effector that would go away gives a row g x <= h with g = dd/dx.
//   2. What is left of the excess is removed by blending the step with braking.
// If braking itself leads farther away than the margin, as when the command has jumped during a motion, the
// distance to which braking leads is the margin of this tick.
#pragma once
#include "supple/tracking/departures.h"

namespace supple {
inline namespace SUPPLE_ISA {

// halvings of the way from braking to a step
constexpr int step_halvings = 6;
// times that a step is moved to one that is allowed; distances are not linear
constexpr int allowed_rounds = 3;
// what any motion costs beside the law's own cost, so that no near-singular direction is used up
constexpr double joint_motion_cost = 0.01;
// weight of a row, over the largest cost of a joint
constexpr double row_weight = 1e4;
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

// Remembers the least distances from the commands; returns whether the arm, as fast as it is with the step x,
// might exceed them.
SUPPLE_FN bool watch_distances(const Nearness &nearness, bool anew, const double *x) {
  const Tracking &t = nearness.t;
  const double dt = nearness.dt;
  bool might = false;
  const Mover *mover = nearness.at.movers;
  double T = 0;
  for (int i = 0; i < t.problem.n; ++i)
    if (x[i] != 0)
      T = larger(T, std::fabs(x[i]) / (dt * planned_braking * t.bounds[i].acceleration));
  for (int k = 0; k < t.problem.target_count; ++k) {
    const Vec<double> error = nearness.at.targets[k].error.position;
    const double distance = root(dot(error, error)), unit = radian_length(t, k);
    double way = 0;
    for (const Mover *end = mover + nearness.at.mover_count[k]; mover < end; ++mover)
      way += std::fabs(x[mover->index]) * root(dot(mover->j, mover->j));
    double &least = nearness.memory.least_distance[k];
    least = anew ? distance : lesser(distance, least + nearness.command_way * unit);
    might = might || distance + way * (1 + (nearness.ramp + 0.6 * T) / dt) > least + allowed_growth(t, k);
  }
  return might;
}

// The rows of the targets that depart, in scratch.rows. Row k is g = dd/dx: how the distance d of target k
// changes with the step x. The next step y must satisfy d + g (y - x) <= d_allowed. With v, the way of a
// joint that brakes together with the others grows by its equivalent time, that of one that brakes by itself
// by min(time, |v|/a).
SUPPLE_FN void departure_rows(const Nearness &nearness) {
  const Tracking &t = nearness.t;
  const int n = t.problem.n;
  const double T = braking_time(t, nearness.scratch.velocity) / planned_braking;
  const Mover *mover = nearness.at.movers;
  for (int k = 0; k < t.problem.target_count; ++k) {
    const Departure &of = nearness.scratch.departures[k];
    double *row = nearness.scratch.rows + k * n;
    const Mover *end = mover + nearness.at.mover_count[k];
    for (int i = 0; i < n && of.excess > 0; ++i)
      row[i] = 0;
    for (; mover < end && of.excess > 0; ++mover) {
      const int i = mover->index;
      const double v = nearness.scratch.velocity[i];
      double time = equivalent_time(nearness, i, v, of.time, T, of.together);
      if (meets_limit(t, i, nearness.memory.q, v * time))
        continue;
      if (!of.together && v != 0) // a joint without acceleration stands
        time = nearness.dt +
               lesser(of.time, nearness.ramp + std::fabs(v) / (planned_braking * t.bounds[i].acceleration));
      const double distance = larger(root(dot(of.away, of.away)), 1e-12);
      row[i] -= time / nearness.dt * dot(of.away, mover->j) / distance;
    }
    mover = end;
  }
}

// Moves the step x to the nearest one whose distances, to first order, are allowed. It minimises
// dx'M dx + w (g dx + excess)^2 in the box: M' = M + w g'g, and M' dx = -w g' excess without the box.
SUPPLE_FN void move_to_allowed(const Nearness &nearness, const BoundsScratch &bounds, double *x) {
  const int n = nearness.t.problem.n;
  const EffectorScratch &scratch = nearness.scratch;
  double *cost = bounds.deviation_cost, largest = joint_motion_cost;
  departure_rows(nearness);
  for (int i = 0; i < n; ++i)
    largest = larger(largest, cost[i * n + i]);
  for (int i = 0; i < n; ++i)
    scratch.candidate[i] = 0;
  for (int k = 0; k < nearness.t.problem.target_count; ++k) {
    const Departure &of = scratch.departures[k];
    if (!(of.excess > 0))
      continue;
    const double *row = scratch.rows + k * n, square = dot_rows<0>(row, row, n);
    if (!(square > 1e-12))
      continue;
    const double weight = row_weight * largest / square;
    for (int i = 0; i < n; ++i) {
      scratch.candidate[i] -= weight * row[i] * of.excess;
      for (int j = 0; j < n; ++j)
        cost[i * n + j] += weight * row[i] * row[j];
    }
  }
  // the change y of the step, without the box
  for (int i = 0; i < n * n; ++i)
    bounds.nearest.A[i] = cost[i];
  factor(bounds.nearest.A, n);
  solve(bounds.nearest.A, n, scratch.candidate);
  for (int i = 0; i < n; ++i)
    scratch.candidate[i] += x[i];
  nearest_in_box(cost, n, scratch.candidate, bounds.low, bounds.high, bounds.nearest, x);
}

// Marks the joints of the targets that depart, and those of targets that share one of these, in
// scratch.marked.
SUPPLE_FN void mark_departing(const Nearness &nearness, const double *allowed) {
  const Problem &problem = nearness.t.problem;
  bool *marked = nearness.scratch.marked;
  for (int i = 0; i < problem.n; ++i)
    marked[i] = false;
  bool more = true;
  for (int pass = 0; more; ++pass) {
    const Mover *mover = nearness.at.movers;
    more = false;
    for (int k = 0; k < problem.target_count; ++k) {
      const Mover *first = mover, *end = mover + nearness.at.mover_count[k];
      bool any = pass == 0 && nearness.scratch.departures[k].excess > allowed[k];
      for (mover = first; mover < end; ++mover)
        any = any || marked[mover->index];
      for (mover = first; mover < end && any; ++mover) {
        more = more || !marked[mover->index];
        marked[mover->index] = true;
      }
      mover = end;
    }
  }
}

// Of the step x, as much is taken as is allowed; the rest of it is braking. Only the marked joints brake.
SUPPLE_FN void blend_with_braking(const Nearness &nearness, const double *allowed, double *x) {
  const EffectorScratch &scratch = nearness.scratch;
  const int n = nearness.t.problem.n;
  mark_departing(nearness, allowed);
  auto blend = [&](double share, double *to) {
    for (int i = 0; i < n; ++i)
      to[i] = scratch.marked[i] ? scratch.braking[i] + share * (x[i] - scratch.braking[i]) : x[i];
  };
  double kept = 0, refused = 1; // shares of the way from braking to x
  for (int turn = 0; turn < step_halvings; ++turn) {
    const double share = 0.5 * (kept + refused);
    blend(share, scratch.candidate);
    (departs(nearness, scratch.candidate, allowed) ? refused : kept) = share;
  }
  blend(kept, x);
}

// Keeps the end effectors near with the step in bounds.step. `anew`: what was remembered of distances does
// not count. `fill_cost` fills the matrix of what a deviation from the step costs.
template <int N, int M, class FillCost>
SUPPLE_FN void keep_near(const TickSetup<N, M> &setup, const Command *commands, bool anew,
                         const TickEvaluation &at, const ArmMemory &memory, const BoundsScratch &bounds,
                         FillCost &&fill_cost) {
  const Tracking &t = setup.tracking;
  const int n = setup.n();
  const double dt = setup.dt;
  const EffectorScratch &scratch = bounds.effector;
  Nearness nearness{t, commands, memory, at, scratch, dt, command_way(t, commands), braking_ramp(t)};
  double *x = bounds.step, *allowed = scratch.allowed;
  for (int k = 0; k < t.problem.target_count; ++k)
    scratch.none[k] = 0;
  if (!watch_distances(nearness, anew, x) || !departs(nearness, x, scratch.none))
    return;
  brake_together(t, memory.velocity, dt, bounds, scratch.braking);
  if (departs(nearness, scratch.braking, scratch.none)) {
    nearness.either_way = true;
    departs(nearness, scratch.braking, scratch.none);
    const double together = worst_excess(nearness);
    brake_apart(t, memory.velocity, dt, bounds, scratch.braking);
    if (departs(nearness, scratch.braking, scratch.none) && worst_excess(nearness) > together) {
      brake_together(t, memory.velocity, dt, bounds, scratch.braking);
      departs(nearness, scratch.braking, scratch.none);
    }
  }
  for (int k = 0; k < t.problem.target_count; ++k)
    allowed[k] = positive(scratch.departures[k].excess);
  // braking alone ends every motion: after some time the rows, with which joints may swing, no longer count
  const int rounds =
      patience_of(t.law, memory.scalars->unhalved_time, *memory.scalars) > 1 ? 0 : allowed_rounds;
  for (int round = 0; round < rounds && departs(nearness, x, scratch.none); ++round) {
    fill_cost(bounds.deviation_cost);
    for (int i = 0; i < n; ++i)
      bounds.deviation_cost[i * n + i] += joint_motion_cost;
    move_to_allowed(nearness, bounds, x);
  }
  if (departs(nearness, x, allowed))
    blend_with_braking(nearness, allowed, x);
}

} // namespace SUPPLE_ISA
} // namespace supple
