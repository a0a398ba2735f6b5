// No end effector goes away from a command that rests, not even by its momentum, and not so that another
// comes nearer.
//
// The least distance of each end effector from its command is remembered; the ways of commands that move are
// added to it. A step is allowed if the distance stays within Law::distance_margin of that when all joints
// brake afterwards, along a straight line in joint space, in the time T = max |v_i| / a_i.
//   1. Where the step x is not allowed, the nearest one is taken that is, as the law measures deviations:
//      the distance d of each end effector that would go away gives a row g x <= h with g = dd/dx.
//   2. What is left of the excess is removed by blending the step with braking.
// Where braking itself leads farther away than the margin, as after a jump in mid-flight, the distance to
// which it leads is the margin of this tick.
#pragma once
#include "supple/tracking/effector_speed.h"
#include "supple/tracking/rest.h"

namespace supple {
inline namespace SUPPLE_ISA {

// samples of the way of braking
constexpr int braking_samples = 4;
// of the acceleration limits, with which braking is planned: the rest is for what the samples miss
constexpr double planned_braking = 0.9;
// halvings of the way from braking to a step
constexpr int step_halvings = 6;
// times that a step is moved to one that is allowed; distances are not linear
constexpr int allowed_rounds = 3;
// what any motion costs beside the law's own cost, so that no near-singular direction is used up
constexpr double joint_motion_cost = 0.01;
// weight of a row, over the largest cost of a joint
constexpr double row_weight = 1e4;
// a target of less than this share of the largest weight may be taken away
constexpr double light_weight = 0.5;

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

// Metres that count as much as a radian, for one target.
SUPPLE_FLAT double radian_length(const Tracking &t, int k) { return t.reach[k] / pi; }

// Whether the distance of a target's point from its command is one that counts: all of its position is asked
// for, before anything else, and it is not light beside another.
SUPPLE_FN bool is_kept_near(const Tracking &t, int k) {
  const Target &target = t.problem.targets[k];
  if (target.looks || target.has_radial || target.has_pole || t.row_level[target.first] != 0)
    return false;
  int components = 0;
  double largest = 0;
  for (int i = 0; i < target.rows; ++i)
    components += target.component[i] <= along_z;
  auto weight = [&](int of) { return t.problem.targets[of].weight[0] * radian_length(t, of); };
  for (int other = 0; other < t.problem.target_count; ++other)
    largest = larger(largest, weight(other));
  return components == 3 && weight(k) >= light_weight * largest;
}

// How far the commands move in this tick, as an angle: a command that moves or turns may take the nearest
// place of every end effector with it.
SUPPLE_FN double command_way(const Tracking &t, const Command *commands) {
  double square = 0;
  for (int k = 0; k < t.problem.target_count; ++k)
    for (int i = 0; i < 6; ++i)
      square += squared(commands[k].displacement[i] / (i < 3 ? radian_length(t, k) : 1.0));
  return root(square);
}

// The least distance from the origin on the way from a to b.
SUPPLE_FN double least_on_the_way(Vec<double> a, Vec<double> b) {
  const Vec<double> way = b - a;
  const double square = dot(way, way), share = square > 0 ? clip(-dot(a, way) / square, 0.0, 1.0) : 0;
  const Vec<double> nearest = a + share * way;
  return root(dot(nearest, nearest));
}

// What is the same for all steps of a tick.
struct Nearness {
  const Tracking &t;
  const Command *commands;
  const ArmMemory &memory;
  const TickEvaluation &at;
  const EffectorScratch &scratch;
  double dt, command_way;
  double ramp; // s: by which jerk delays braking
};

// Growth of the distance that is allowed to target k, m.
SUPPLE_FLAT double allowed_growth(const Tracking &t, int k) {
  return t.law.distance_margin * radian_length(t, k);
}

// An acceleration ends in a tick, or with jerk given as slowly as it began; then braking grows with jerk.
SUPPLE_FN double braking_ramp(const Tracking &t) {
  double longest = 0;
  for (int i = 0; i < t.problem.n; ++i)
    if (t.bounds[i].acceleration > 0)
      longest = larger(longest, t.bounds[i].acceleration / t.bounds[i].jerk);
  return (t.end_rate < 1e9 ? 1.5 : 0.5) * longest;
}

// Of target k, in the step whose velocity is in scratch.velocity and while all joints brake afterwards, for
// the time T. `next_q` is written.
SUPPLE_FN Departure departure(const Nearness &nearness, int k, double T) {
  const Tracking &t = nearness.t;
  const Target &target = t.problem.targets[k];
  const EffectorScratch &scratch = nearness.scratch;
  const Vec<double> goal = load3(nearness.commands[k].goal + 9);
  const double allowed = allowed_growth(t, k) + nearness.command_way / nearness.dt * T * radian_length(t, k);
  double least = nearness.memory.least_distance[k];
  Vec<double> before = nearness.at.targets[k].error.position;
  Departure most{-1e300, before, nearness.dt};
  for (int sample = 1; sample <= braking_samples; ++sample) {
    const double time = nearness.dt + (nearness.ramp + 0.5 * T) * sample / braking_samples;
    moved_joints(t, nearness.memory.q, scratch.velocity, time, scratch.next_q);
    const Vec<double> away = goal - end_effector(target, scratch.next_q, nearness.at.axes).p;
    least = lesser(least, least_on_the_way(before, away));
    const double excess = root(dot(away, away)) - least - allowed;
    if (excess > most.excess)
      most = {excess, away, time};
    before = away;
  }
  return most;
}

// The departures of all targets in the step x, in scratch.departures; whether one is larger than allowed.
SUPPLE_FN bool departs(const Nearness &nearness, const double *x, const double *allowed) {
  const EffectorScratch &scratch = nearness.scratch;
  for (int i = 0; i < nearness.t.problem.n; ++i)
    scratch.velocity[i] = x[i] / nearness.dt;
  const double T = braking_time(nearness.t, scratch.velocity) / planned_braking;
  bool any = false;
  for (int k = 0; k < nearness.t.problem.target_count; ++k) {
    scratch.departures[k].excess = -1e300;
    if (is_kept_near(nearness.t, k))
      scratch.departures[k] = departure(nearness, k, T);
    any = any || scratch.departures[k].excess > allowed[k];
  }
  return any;
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
// changes with the step x. The next step y must satisfy d + g (y - x) <= d_allowed.
SUPPLE_FN void departure_rows(const Nearness &nearness) {
  const int n = nearness.t.problem.n;
  const Mover *mover = nearness.at.movers;
  for (int k = 0; k < nearness.t.problem.target_count; ++k) {
    const Departure &of = nearness.scratch.departures[k];
    double *row = nearness.scratch.rows + k * n;
    const Mover *end = mover + nearness.at.mover_count[k];
    if (of.excess > 0) {
      const double scale = of.time / (nearness.dt * larger(root(dot(of.away, of.away)), 1e-12));
      for (int i = 0; i < n; ++i)
        row[i] = 0;
      for (; mover < end; ++mover)
        row[mover->index] -= scale * dot(of.away, mover->j);
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
  const Nearness nearness{t, commands, memory, at, scratch, dt, command_way(t, commands), braking_ramp(t)};
  double *x = bounds.step, *allowed = scratch.allowed;
  for (int k = 0; k < t.problem.target_count; ++k)
    scratch.none[k] = 0;
  if (!watch_distances(nearness, anew, x) || !departs(nearness, x, scratch.none))
    return;
  const double T = braking_time(t, memory.velocity), left = T > dt ? 1 - dt / T : 0;
  for (int i = 0; i < n; ++i)
    scratch.braking[i] = clip(left * memory.velocity[i] * dt, bounds.low[i], bounds.high[i]);
  departs(nearness, scratch.braking, scratch.none);
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
