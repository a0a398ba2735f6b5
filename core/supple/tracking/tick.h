// One tick: from the joints' values and a request to the joints' next values, a status and a report.
//
// The law: minimise the weighted residual with its true Hessian; feed the command's velocity forward; turn
// the displacement that remains into a speed with one factor for all joints; damp only along near-singular
// directions; and stay in a box of position, speed, acceleration, braking and jerk. While the command rests,
// no end effector moves away from it (keep_near.h), an arm that comes no nearer stands still (rest.h), and
// one in a local minimum may return (recovery.h). docs/tracking.md tells what each part is for.
#pragma once
#include "supple/tracking/keep_near.h"
#include "supple/tracking/measured.h"
#include "supple/tracking/memory.h"

namespace supple {
inline namespace SUPPLE_ISA {

// the bound that a joint is at in this tick: a SideMagnitude with its sign
SUPPLE_FLAT double side_of(const JointBounds &joint, double limit_side, double v, double a) {
  if (limit_side != 0)
    return limit_side * at_limit;
  if (std::fabs(v) > 0.999999 * joint.speed)
    return v > 0 ? at_speed_limit : -at_speed_limit;
  if (std::fabs(a) > 0.999 * joint.acceleration)
    return a > 0 ? at_acceleration_limit : -at_acceleration_limit;
  return not_limited;
}

// Takes the step: updates q, velocity and acceleration. With `keep_limits`, rounding carries no joint past
// its limit.
SUPPLE_FN void take_step(const Tracking &t, const ArmMemory &memory, const BoundsScratch &scratch, double dt,
                         bool keep_limits, double *sides) {
  for (int i = 0; i < t.problem.n; ++i) {
    const JointBounds &joint = t.bounds[i];
    const double v = scratch.step[i] / dt, a = (v - memory.velocity[i]) / dt;
    const double low = joint.lower * t.unit[i], high = joint.upper * t.unit[i];
    const double last = scratch.previous_q[i] = memory.q[i], next = last + scratch.step[i] * t.unit[i];
    sides[i] = side_of(joint, memory.limit_side[i], v, a);
    memory.acceleration[i] = a;
    memory.velocity[i] = v;
    // more than rounding: the limit is a new one, and the joint brakes past it
    const double rounding = 1e-9 * larger(1.0, std::fabs(next));
    memory.q[i] = keep_limits && last <= high && next > high && next - high < rounding ? high
                  : keep_limits && last >= low && next < low && low - next < rounding  ? low
                                                                                       : next;
  }
  for (int b = 0; b < t.problem.ball_count; ++b) {
    const int k = t.problem.balls[b].index;
    store3(turned(load3(scratch.previous_q + k), load3(scratch.step + k)), memory.q + k);
  }
}

// Moves the remembered posture a share of the way to q, where the arm can move freely:
// K_m dt clip((sigma/sigma_0)^2 - 1, 0, 1).
SUPPLE_FN void remember_posture(const Tracking &t, const ArmMemory &memory, const double *to_posture,
                                double smallest_singular_value, double dt) {
  const double free = clip(squared(smallest_singular_value / t.law.singular_threshold) - 1, 0.0, 1.0);
  const double share = lesser(1.0, t.law.posture_rate * dt * free);
  if (!(share > 0))
    return;
  for (int i = 0; i < t.problem.n; ++i)
    memory.posture[i] += share * (memory.q[i] - memory.posture[i]);
  for (int b = 0; b < t.problem.ball_count; ++b) {
    const int k = t.problem.balls[b].index;
    store3(turned(load3(memory.q + k), (1 - share) * load3(to_posture + k)), memory.posture + k);
  }
}

// nothing is held and nothing is fed forward
SUPPLE_FN void forget_feedforward(const ArmMemory &memory, int n) {
  for (int i = 0; i < n; ++i)
    memory.limit_side[i] = memory.feedforward_velocity[i] = memory.feedforward_acceleration[i] = 0;
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
  bound_balls(setup.tracking, memory, setup.dt, bounds);
  if (setup.tracking.effector_bounds)
    bound_effector_speed(setup.tracking, memory, setup.dt, scratch.evaluation, bounds);
  take_step(setup.tracking, memory, bounds, setup.dt, true, out.sides);
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
  if (!external.bounded) {
    for (int i = 0; i < n; ++i)
      bounds.step[i] = std::fabs(desired[i]) < 1e300 ? desired[i] : 0;
    take_step(t, memory, bounds, setup.dt, false, out.sides);
    return result;
  }
  if (t.effector_bounds)
    plan_effector_speed(t, setup.dt, at, desired);
  result.bounded =
      bound_step(n, desired, bounds, [&](double *cost) { external_cost(external, at.gram, n, cost); });
  bound_balls(t, memory, setup.dt, bounds);
  if (t.effector_bounds)
    bound_effector_speed(t, memory, setup.dt, at, bounds);
  take_step(t, memory, bounds, setup.dt, true, out.sides);
  return result;
}

// The tick of the law. `measured`, where it is known, is where the real joints are.
template <int N, int M>
SUPPLE_FN TickResult follow_law(const TickSetup<N, M> &setup, const double *measured, const double *preferred,
                                const ArmMemory &memory, const TickScratch &scratch,
                                const TickResultArrays &out) {
  const Tracking &t = setup.tracking;
  const Law &law = setup.law;
  const int n = setup.n();
  const TickEvaluation &at = scratch.evaluation;
  const ApproachScratch &approach = scratch.approach;
  const BoundsScratch &bounds = scratch.bounds;
  ArmScalars &scalars = *memory.scalars;
  // the residual, its derivatives, and the box
  const EvaluationSummary summary = evaluate_tick(setup, memory, scratch.commands, at);
  for (int i = 0; i < n; ++i)
    at.preferred[i] = preferred ? preferred[i] / t.unit[i] : 0;
  scalars.pressed *= positive(1 - setup.dt / law.pressed_time);
  step_box(setup, memory, bounds);
  if (measured)
    bound_lead(t, measured, setup.dt, memory, bounds);
  // the desired step: of the law, out of a local minimum, or none
  if (measured)
    watch_waiting(is_waiting(t, bounds), setup.dt, scalars);
  const bool jumped = command_change(scratch.commands, t.problem.target_count).jumped;
  const bool settled = watch_rest(setup, at, summary, jumped, memory);
  update_recovery(setup, at, summary, scratch.commands, settled && !(scalars.waiting_time > 0), memory,
                  scratch.recovery);
  DesiredStep desired;
  if (is_recovering(t, scalars)) {
    desired = recovery_step(setup, at, memory, approach, out.joint_weights);
    scalars.no_decrease_time = 0;
  } else {
    desired = approach_command(setup, at, summary, memory, bounds.low, bounds.high, scratch.regular,
                               scratch.singular, scratch.levels, approach, out.joint_weights);
    watch_local_minimum(setup, summary, desired.reducible, settled, scalars);
    const double *x = approach.displacements.preferred;
    scalars.preferred = preferred ? root(dot_rows<N>(x, x, n)) : 0;
    for (int i = 0; i < n && settled; ++i)
      approach.step[i] = 0;
  }
  for (int i = 0; i < n; ++i) {
    memory.feedforward_acceleration[i] = approach.feedforward_acceleration[i];
    memory.feedforward_velocity[i] = approach.displacements.feedforward[i] / setup.dt;
    memory.limit_side[i] = approach.limit_side[i];
  }
  // the nearest step in the box
  if (t.effector_bounds)
    plan_effector_speed(t, setup.dt, at, approach.step);
  TickResult result;
  result.bounded = bound_step(n, approach.step, bounds,
                              [&](double *cost) { deviation_cost(setup, at, desired, memory, cost); });
  const bool anew = jumped || scalars.reweighed || !scalars.distance_known;
  if (!is_recovering(t, scalars)) // a return may lead away
    keep_near(setup, scratch.commands, anew, at, memory, bounds,
              [&](double *cost) { deviation_cost(setup, at, desired, memory, cost); });
  // what is remembered of q where it was good
  const double smallest = desired.report.smallest_singular_value;
  remember_posture(t, memory, at.to_posture, smallest, setup.dt);
  if (summary.residual_norm < law.following_error && smallest > law.singular_threshold)
    for (int i = 0; i < n; ++i)
      memory.recovery_anchor[i] = memory.q[i];
  // the step
  bound_balls(t, memory, setup.dt, bounds);
  if (t.effector_bounds)
    bound_effector_speed(t, memory, setup.dt, at, bounds);
  take_step(t, memory, bounds, setup.dt, true, out.sides);
  for (int i = 0; i < n && measured; ++i)
    if (out.sides[i] == not_limited && std::fabs(bounds.lead[i]) > waiting_lead)
      out.sides[i] = bounds.lead[i] > 0 ? ahead_of_measured : -ahead_of_measured;
  result.singular = desired.report;
  result.reducible = scalars.waiting_time > 0 ? 1 : settled ? 0 : desired.reducible;
  result.regular = desired.kind == StepKind::regular || desired.kind == StepKind::redundant;
  return result;
}

// Measures goal minus end effector at q, in world axes, for each target; whether all are within tolerance of
// their goals' slack.
SUPPLE_FN bool measure_error(const Tracking &t, const Command *commands, const double *q,
                             const Stop &tolerance, Axis<double> *axes, double *error) {
  bool within = true;
  for (int k = 0; k < t.problem.target_count; ++k) {
    const Target &target = t.status_targets[k];
    const Frame<double> tip = end_effector(target, q, axes);
    Residual<double> r = residual<Angle>(target, tip, goal_frame(commands[k].goal));
    store3(r.position, error + 6 * k);
    store3(r.rotation, error + 6 * k + 3);
    remove_slack(target, r);
    within = within && root(squared_distance(r)) <= tolerance.position &&
             root(squared_angle(r)) <= tolerance.angle;
  }
  return within;
}

// The status of a measured arm: FOLLOWING when its joints without noise are within tolerance, until they are
// far outside; LAGGING when only the arm is behind. `within` measures the error at q.
template <class Within>
SUPPLE_FN void measured_status(const Tracking &t, const Stop &tolerance, const ArmMemory &memory,
                               const BoundsScratch &scratch, Within &&within, TickResult &result) {
  ArmScalars &scalars = *memory.scalars;
  Stop allowed = tolerance;
  if (scalars.measured_within) {
    allowed.position *= leave_tolerance;
    allowed.angle *= leave_tolerance;
  }
  double *q = scratch.effector.next_q;
  quiet_joints(t, scratch.previous_q, memory.lead_slow, q);
  scalars.measured_within = within(q, allowed);
  if (scalars.measured_within)
    result.status = following;
  else if (within(memory.q, tolerance))
    result.status = lagging;
}

SUPPLE_FN bool is_finite(const double *x, int n) {
  for (int i = 0; i < n; ++i)
    if (!(std::fabs(x[i]) < 1e300))
      return false;
  return true;
}

// The largest acceleration of the feed-forward over its joint's limit, with the feed-forward before this
// tick.
SUPPLE_FN double acceleration_demand(const Tracking &t, const double *before, const double *after,
                                     double dt) {
  double most = 0;
  for (int i = 0; i < t.problem.n; ++i)
    most = larger(most, std::fabs(after[i] - before[i]) / t.bounds[i].acceleration);
  return most / dt;
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
  scalars.weight_changes = t.weight_changes;
  const TickResult result = follow_law(setup, request.measured, request.preferred, memory, scratch, out);
  scalars.distance_known = !is_recovering(t, scalars);
  scalars.demand = acceleration_demand(t, scratch.last_feedforward, memory.feedforward_velocity, setup.dt);
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
    begin_path(memory.command_states[k], scratch.commands[k], request.dt, scratch.paths[k]);
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

// One tick of one arm.
template <int N, int M>
SUPPLE_FN TickResult tick(const Tracking &t, const CommandOptions *options, const Stop &tolerance,
                          TickRequest request, const ArmMemory &memory, const TickScratch &scratch,
                          const TickResultArrays &out) {
  const int targets = t.problem.target_count, n = t.problem.n;
  for (int i = 0; i < 6 * targets; ++i)
    out.error[i] = 0;
  for (int i = 0; i < n; ++i) {
    out.joint_weights[i] = 1;
    out.sides[i] = not_limited;
  }
  if (!(request.dt >= shortest_tick && request.dt < endless_tick))
    return {}; // not a time step: nothing moves, the status is HELD
  request.dt = lesser(request.dt, longest_pause);
  if (request.measured && !is_finite(request.measured, n))
    request.measured = nullptr;
  request.measured = last_measured(request.measured, request.dt, n, memory);
  if (!request.measured) {
    memory.scalars->measured_known = memory.scalars->measured_within = false;
    memory.scalars->waiting_time = 0;
  }
  TickResult result;
  bool valid;
  const int pieces = request.external ? 1 : piece_count(request.dt);
  if (pieces > 1) {
    valid = divide_tick<N, M>(t, options, request, pieces, memory, scratch, out, result);
  } else {
    valid = read_request(t, options, request, memory, scratch.evaluation.axes, scratch.commands);
    result = take_tick(TickSetup<N, M>{t, t.law, request.dt}, request, valid, memory, scratch, out);
  }
  if (!valid) {
    for (int k = 0; k < targets; ++k)
      memory.command_states[k].started = false;
    return result;
  }
  for (int k = 0; k < targets; ++k)
    result.lag = k ? larger(result.lag, scratch.commands[k].lag) : scratch.commands[k].lag;
  auto within = [&](const double *q, const Stop &tolerance) {
    return measure_error(t, scratch.commands, q, tolerance, scratch.evaluation.axes, out.error);
  };
  result.status = comes_nearer(*memory.scalars, result.reducible) ? lagging : yielding;
  if (request.measured)
    measured_status(t, tolerance, memory, scratch.bounds, within, result);
  const bool here = within(request.measured ? request.measured : memory.q, tolerance);
  if (here && !request.measured)
    result.status = following;
  if (!request.external && is_returning(t, *memory.scalars))
    result.status = returning;
  return result;
}

} // namespace SUPPLE_ISA
} // namespace supple
