// One tick: from the joints' values and a request to the joints' next values, a status and a report.
//
// The law: minimise the weighted residual with its true Hessian; feed the command's velocity forward; turn
// the displacement that remains into a speed with one factor for all joints; damp only along near-singular
// directions; and stay in a box of position, speed, acceleration, braking and jerk. While the command rests,
// no end effector moves away from it (keep_near.h), an arm that comes no nearer stands still (rest.h), every
// arm stands still by a deadline (deadline.h), and an arm in a local minimum may return (recovery.h).
// docs/tracking.md says what each part is for.
#pragma once
#include "supple/tracking/keep_near.h"
#include "supple/tracking/level_change.h"
#include "supple/tracking/status.h"
#include "supple/tracking/take_step.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Takes the step in bounds.step, within the cones of ball joints and the speed limits of end effectors.
template <int N, int M>
SUPPLE_FN void take_bounded(const TickSetup<N, M> &setup, const ArmMemory &memory, const TickEvaluation &at,
                            const BoundsScratch &bounds, double *sides) {
  const Tracking &t = setup.tracking;
  bound_balls(t, memory, setup.dt, bounds);
  if (t.effector_bounds)
    bound_effector_speed(t, memory, setup.dt, at, bounds);
  take_step(t, memory, bounds, setup.dt, true, sides);
}

// No command: every joint brakes and stays.
template <int N, int M>
SUPPLE_FN TickResult hold(const TickSetup<N, M> &setup, const ArmMemory &memory, const TickScratch &scratch,
                          const TickResultArrays &out) {
  const BoundsScratch &bounds = scratch.bounds;
  step_box(setup, memory, bounds);
  memory.scalars->measured_known = memory.scalars->distance_known = false;
  for (int i = 0; i < setup.n(); ++i)
    bounds.step[i] = clip(0.0, bounds.low[i], bounds.high[i]);
  forget_feedforward(memory, setup.n());
  start_rest_clock(setup.tracking, memory);
  take_bounded(setup, memory, scratch.evaluation, bounds, out.sides);
  TickResult result;
  result.singular.smallest_singular_value = far_from_singular;
  result.reducible = 1;
  result.regular = true;
  return result;
}

// A step that another scheme chose. Not bounded, it is taken as it is.
template <int N, int M>
SUPPLE_FN TickResult follow_external(const TickSetup<N, M> &setup, const ExternalStep &external,
                                     const double *measured, const ArmMemory &memory,
                                     const TickScratch &scratch, const TickResultArrays &out) {
  const Tracking &t = setup.tracking;
  const int n = setup.n();
  const TickEvaluation &at = scratch.evaluation;
  const BoundsScratch &bounds = scratch.bounds;
  double *desired = scratch.approach.step, removed = 0;
  evaluate_tick(setup, memory, scratch.commands, at);
  step_box(setup, memory, bounds);
  if (measured)
    bound_lead(t, measured, setup.dt, memory, bounds);
  forget_feedforward(memory, n);
  for (int i = 0; i < n; ++i) {
    desired[i] = external.step[i] / t.unit[i];
    removed += desired[i] * at.feedback_gradient[i];
    memory.limit_side[i] = held_side(t, i, memory.q, desired[i]);
    out.joint_weights[i] = external.weights ? external.weights[i] : 1;
  }
  const double square = dot_rows<M>(at.residual, at.residual, setup.m());
  TickResult result;
  result.singular.damping = external.damping;
  result.singular.near_singular = external.damping > 0;
  result.singular.smallest_singular_value = far_from_singular;
  result.reducible = square > 0 ? removed / square : 1;
  if (external.bounded) {
    if (t.effector_bounds)
      plan_effector_speed(t, setup.dt, at, desired);
    result.bounded =
        bound_step(n, desired, bounds, [&](double *cost) { external_cost(external, at.gram, n, cost); });
    take_bounded(setup, memory, at, bounds, out.sides);
  } else {
    for (int i = 0; i < n; ++i)
      bounds.step[i] = std::fabs(desired[i]) < 1e300 ? desired[i] : 0;
    take_step(t, memory, bounds, setup.dt, false, out.sides);
  }
  return result;
}

// What the stages of the law hand on.
struct LawTick {
  EvaluationSummary summary;
  bool jumped;  // some command did
  bool settled; // the arm comes no nearer, and is to stand still
  DesiredStep desired;
};

// The residual, its derivatives, and the box; whether the arm is to stand still, and the way of a recovery.
template <int N, int M>
SUPPLE_FN void evaluate_law(const TickSetup<N, M> &setup, const double *measured, const double *preferred,
                            const ArmMemory &memory, const TickScratch &scratch, LawTick &tick) {
  const Tracking &t = setup.tracking;
  const TickEvaluation &at = scratch.evaluation;
  ArmScalars &scalars = *memory.scalars;
  tick.summary = evaluate_tick(setup, memory, scratch.commands, at);
  for (int i = 0; i < setup.n(); ++i)
    at.preferred[i] = preferred ? preferred[i] / t.unit[i] : 0;
  scalars.pressed *= positive(1 - setup.dt / setup.law.pressed_time);
  begin_exact_share(setup.law, setup.dt, scalars);
  step_box(setup, memory, scratch.bounds);
  if (measured) {
    bound_lead(t, measured, setup.dt, memory, scratch.bounds);
    watch_waiting(is_waiting(t, scratch.bounds), setup.dt, scalars);
  }
  tick.jumped = command_change(scratch.commands, t.problem.target_count).jumped;
  tick.settled = watch_rest(setup, at, tick.summary, tick.jumped, memory);
  const bool overdue = watch_deadline(setup, at, memory, scratch.bounds.effector.next_q);
  tick.settled = tick.settled || overdue;
  update_recovery(setup, at, tick.summary, scratch.commands, tick.settled && !(scalars.waiting_time > 0),
                  memory, scratch.recovery);
}

// The desired step, in scratch.approach.step: of the law, out of a local minimum, or none. Remembers what was
// fed forward.
template <int N, int M>
SUPPLE_FN void desire_step(const TickSetup<N, M> &setup, bool prefers, const ArmMemory &memory,
                           const TickScratch &scratch, double *joint_weights, LawTick &tick) {
  const int n = setup.n();
  const TickEvaluation &at = scratch.evaluation;
  const ApproachScratch &approach = scratch.approach;
  ArmScalars &scalars = *memory.scalars;
  if (is_recovering(setup.tracking, scalars)) {
    tick.desired = recovery_step(setup, at, memory, approach, joint_weights);
    scalars.no_decrease_time = 0;
  } else {
    tick.desired =
        approach_command(setup, at, tick.summary, memory, scratch.bounds.low, scratch.bounds.high,
                         scratch.regular, scratch.singular, scratch.levels, approach, joint_weights);
    watch_local_minimum(setup, tick.summary, tick.desired.reducible, tick.settled, scalars);
    const double *x = approach.displacements.preferred;
    scalars.preferred = prefers ? root(dot_rows<N>(x, x, n)) : 0;
    for (int i = 0; i < n && tick.settled; ++i)
      approach.step[i] = 0;
  }
  for (int i = 0; i < n; ++i) {
    memory.feedforward_acceleration[i] = approach.feedforward_acceleration[i];
    memory.feedforward_velocity[i] = approach.displacements.feedforward[i] / setup.dt;
    memory.limit_side[i] = approach.limit_side[i];
  }
}

// The nearest step in the box that takes no end effector away; returns whether the desired one was outside.
template <int N, int M>
SUPPLE_FN bool bound_desired(const TickSetup<N, M> &setup, const LawTick &tick, const ArmMemory &memory,
                             const TickScratch &scratch) {
  const Tracking &t = setup.tracking;
  const TickEvaluation &at = scratch.evaluation;
  const ArmScalars &scalars = *memory.scalars;
  if (scalars.overdue && !is_recovering(t, scalars)) {
    brake_together(t, memory.velocity, setup.dt, scratch.bounds, scratch.bounds.step);
    return true;
  }
  auto fill_cost = [&](double *cost) { deviation_cost(setup, at, tick.desired, memory, cost); };
  if (tick.desired.coast && !tick.settled)
    change_gently(setup, tick.desired.coast, memory, scratch.bounds, scratch.approach.step, fill_cost);
  if (t.effector_bounds)
    plan_effector_speed(t, setup.dt, at, scratch.approach.step);
  const bool bounded = bound_step(setup.n(), scratch.approach.step, scratch.bounds, fill_cost);
  bound_turns(t, memory, setup.dt, scratch.approach.step, scratch.bounds, fill_cost);
  const bool anew = tick.jumped || scalars.reweighed || !scalars.distance_known;
  if (!is_recovering(t, scalars)) // a return may lead away
    keep_near(setup, scratch.commands, anew, at, memory, scratch.bounds, fill_cost);
  return bounded;
}

// Remembers q where it is good: the posture, and the anchor of recoveries.
template <int N, int M>
SUPPLE_FN void remember_good(const TickSetup<N, M> &setup, const LawTick &tick, const ArmMemory &memory,
                             const TickEvaluation &at) {
  const double smallest = tick.desired.report.smallest_singular_value;
  remember_posture(setup.tracking, memory, at.to_posture, smallest, setup.dt);
  if (tick.summary.residual_norm < setup.law.following_error && smallest > setup.law.singular_threshold)
    for (int i = 0; i < setup.n(); ++i)
      memory.recovery_anchor[i] = memory.q[i];
}

// The tick of the law. `measured`, where it is known, is where the real joints are.
template <int N, int M>
SUPPLE_FN TickResult follow_law(const TickSetup<N, M> &setup, const double *measured, const double *preferred,
                                const ArmMemory &memory, const TickScratch &scratch,
                                const TickResultArrays &out) {
  const BoundsScratch &bounds = scratch.bounds;
  LawTick tick;
  evaluate_law(setup, measured, preferred, memory, scratch, tick);
  desire_step(setup, preferred != nullptr, memory, scratch, out.joint_weights, tick);
  TickResult result;
  result.bounded = bound_desired(setup, tick, memory, scratch);
  remember_good(setup, tick, memory, scratch.evaluation);
  take_bounded(setup, memory, scratch.evaluation, bounds, out.sides);
  for (int i = 0; i < setup.n() && measured; ++i)
    if (out.sides[i] == not_limited && std::fabs(bounds.lead[i]) > waiting_lead)
      out.sides[i] = bounds.lead[i] > 0 ? ahead_of_measured : -ahead_of_measured;
  const DesiredStep &desired = tick.desired;
  result.singular = desired.report;
  result.reducible = memory.scalars->waiting_time > 0 ? 1 : tick.settled ? 0 : desired.reducible;
  result.regular = desired.kind == StepKind::regular || desired.kind == StepKind::redundant;
  return result;
}

// The largest acceleration of the feed-forward over its joint's limit, with the feed-forward before this
// tick.
SUPPLE_FN double acceleration_demand(const Tracking &t, const double *before, const double *after,
                                     double spacing) {
  double most = 0;
  for (int i = 0; i < t.problem.n; ++i)
    most = larger(most, std::fabs(after[i] - before[i]) / t.bounds[i].acceleration);
  return most / spacing;
}

// Takes the step of one tick towards the commands that were read; without valid ones, the joints brake.
template <int N, int M>
SUPPLE_FN TickResult take_tick(const TickSetup<N, M> &setup, const TickRequest &request, bool valid,
                               const ArmMemory &memory, const TickScratch &scratch,
                               const TickResultArrays &out) {
  if (!valid)
    return hold(setup, memory, scratch, out);
  if (request.external)
    return follow_external(setup, *request.external, request.measured, memory, scratch, out);
  for (int i = 0; i < setup.n(); ++i)
    scratch.last_feedforward[i] = memory.feedforward_velocity[i];
  const Tracking &t = setup.tracking;
  ArmScalars &scalars = *memory.scalars;
  const CommandChange change = command_change(scratch.commands, t.problem.target_count);
  // other weights may ask for another distance
  scalars.reweighed =
      (scalars.reweighed || scalars.weight_changes != t.weight_changes) && !change.jumped && !change.moved;
  if (scalars.weight_changes != t.weight_changes || scalars.limit_changes != t.limit_changes)
    start_rest_clock(t, memory);
  scalars.weight_changes = t.weight_changes;
  scalars.limit_changes = t.limit_changes;
  const double spacing = step_spacing(scalars, setup.dt);
  const TickResult result = follow_law(setup, request.measured, request.preferred, memory, scratch, out);
  scalars.distance_known = !is_recovering(t, scalars);
  if (is_returning(t, scalars))
    scalars.returned_clock = scalars.rest_clock;
  if (is_recovering(t, scalars)) // while a return is announced, the arm that was stopped stands
    scalars.overdue = false;
  scalars.demand = acceleration_demand(t, scratch.last_feedforward, memory.feedforward_velocity, spacing);
  return result;
}

// A long tick, as `pieces` short ones in which the commands move smoothly. False where they are not valid.
template <int N, int M>
SUPPLE_FN bool divide_tick(const Tracking &t, const CommandOptions *options, const TickRequest &request,
                           int pieces, const ArmMemory &memory, const TickScratch &scratch,
                           const TickResultArrays &out, TickResult &result) {
  const int targets = t.problem.target_count;
  TickRequest piece = request;
  piece.dt = request.dt / pieces;
  const TickSetup<N, M> setup{t, t.law, piece.dt};
  double demand = 0;
  bool valid =
      request.twist || read_request(t, options, request, memory, scratch.evaluation.axes, scratch.commands);
  for (int k = 0; k < targets && valid && !request.twist; ++k) {
    begin_path(memory.command_states[k], options[k], scratch.commands[k], request.dt, scratch.paths[k]);
    move_along(options[k], scratch.paths[k], 0, request.dt, scratch.commands[k]);
  }
  for (int i = 1; i <= pieces; ++i) {
    if (request.twist)
      valid = read_request(t, options, piece, memory, scratch.evaluation.axes, scratch.commands);
    else
      for (int k = 0; k < targets && valid; ++k)
        move_along(options[k], scratch.paths[k], double(i) / pieces, request.dt, scratch.commands[k]);
    result = take_tick(setup, request, valid, memory, scratch, out);
    demand = larger(demand, memory.scalars->demand);
  }
  memory.scalars->demand = demand;
  return valid;
}

SUPPLE_FN bool is_finite(const double *x, int n) {
  for (int i = 0; i < n; ++i)
    if (!(std::fabs(x[i]) < 1e300))
      return false;
  return true;
}

// s for which measured joints count when ticks bring no others: encoders may be slower than the loop
constexpr double measured_lifetime = 0.25;

// The measured joints of this tick, or those of an earlier one; null where they are too old.
SUPPLE_FN const double *last_measured(const double *measured, double dt, int n, const ArmMemory &memory) {
  ArmScalars &scalars = *memory.scalars;
  if (measured) {
    std::memcpy(memory.last_measured, measured, n * sizeof(double));
    scalars.measured_age = 0;
    return measured;
  }
  scalars.measured_age += dt;
  return scalars.measured_known && scalars.measured_age < measured_lifetime ? memory.last_measured : nullptr;
}

// The measured joints that count in this tick, or null; without any, what was known of them is forgotten.
SUPPLE_FN const double *measured_joints(const TickRequest &request, int n, const ArmMemory &memory) {
  const double *given = request.measured && is_finite(request.measured, n) ? request.measured : nullptr;
  const double *measured = last_measured(given, request.dt, n, memory);
  if (!measured) {
    memory.scalars->measured_known = memory.scalars->measured_within = false;
    memory.scalars->waiting_time = 0;
  }
  return measured;
}

// Results of a tick in which nothing happens.
SUPPLE_FN void clear_results(int n, int targets, const TickResultArrays &out) {
  for (int i = 0; i < 6 * targets; ++i)
    out.error[i] = 0;
  for (int i = 0; i < n; ++i) {
    out.joint_weights[i] = 1;
    out.sides[i] = not_limited;
  }
}

// Whether the lengths of two ticks are similar. If not, the motions of the command within them fit together
// badly, so what they demand of joints is no sign of tremor.
SUPPLE_FLAT bool lengths_are_similar(double before, double now) {
  return before <= 2 * now && now <= 2 * before;
}

// One tick of one arm.
template <int N, int M>
SUPPLE_FN TickResult tick(const Tracking &t, const CommandOptions *options, const Stop &tolerance,
                          TickRequest request, const ArmMemory &memory, const TickScratch &scratch,
                          const TickResultArrays &out) {
  const int targets = t.problem.target_count, n = t.problem.n;
  clear_results(n, targets, out);
  if (!(request.dt >= shortest_tick && request.dt < endless_tick))
    return {}; // not a time step: nothing moves, the status is HELD
  request.dt = lesser(request.dt, longest_pause);
  request.measured = measured_joints(request, n, memory);
  ArmScalars &scalars = *memory.scalars;
  const bool even = lengths_are_similar(scalars.tick_time, request.dt);
  scalars.tick_time = request.dt;
  TickResult result;
  bool valid;
  const int pieces = request.external ? 1 : piece_count(request.dt, n);
  if (pieces > 1) {
    valid = divide_tick<N, M>(t, options, request, pieces, memory, scratch, out, result);
  } else {
    valid = read_request(t, options, request, memory, scratch.evaluation.axes, scratch.commands);
    result = take_tick(TickSetup<N, M>{t, t.law, request.dt}, request, valid, memory, scratch, out);
  }
  if (!even)
    scalars.demand = 0;
  if (!valid) {
    scalars.reported.known = false;
    for (int k = 0; k < targets; ++k)
      memory.command_states[k].started = false;
    return result;
  }
  for (int k = 0; k < targets; ++k)
    result.lag = k ? larger(result.lag, scratch.commands[k].lag) : scratch.commands[k].lag;
  result.status = status_of(t, tolerance, request, memory, scratch, result.reducible, out.error);
  return result;
}

} // namespace SUPPLE_ISA
} // namespace supple
