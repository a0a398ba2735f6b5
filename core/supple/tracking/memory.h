// Where an arm's memory and a tick's scratch arrays lie: one description of each counts, places and checks.
#pragma once
#include "supple/math/scratch.h"
#include "supple/tracking/recovery.h"

namespace supple {
inline namespace SUPPLE_ISA {

SUPPLE_FN void lay_out(ArmMemory &memory, ScratchLayout &layout, const Tracking &t) {
  const int n = t.problem.n, m = t.problem.rows, targets = t.problem.target_count;
  layout.array(memory.command_states, targets);
  layout.array(memory.scalars, 1);
  double **rows[] = {&memory.q,
                     &memory.velocity,
                     &memory.acceleration,
                     &memory.posture,
                     &memory.rest,
                     &memory.feedforward_velocity,
                     &memory.feedforward_acceleration,
                     &memory.limit_side,
                     &memory.null_direction,
                     &memory.recovery_anchor,
                     &memory.approach_q,
                     &memory.rest_q,
                     &memory.recovery_q,
                     &memory.last_measured,
                     &memory.recovery_previous_q,
                     &memory.lead_fast,
                     &memory.lead_slow,
                     &memory.velocity_fast};
  for (double **row : rows)
    layout.array(*row, t.stride);
  layout.array(memory.basis, n * n);
  layout.array(memory.reduced_basis, held_passes * n * n);
  layout.array(memory.reduced_limit_side, held_passes * t.stride);
  layout.array(memory.weakest_row, m);
  layout.array(memory.command_drift, m);
  layout.array(memory.least_distance, targets);
  layout.array(memory.twist_goals, 12 * targets);
}

// all scratch memory of a tick, stage by stage
struct TickScratch {
  Command *commands;        // one a target
  CommandPath *paths;       // one a target
  double *last_feedforward; // n: velocity of the last tick's feed-forward
  TickEvaluation evaluation;
  RegularScratch regular;
  SingularScratch singular;
  LevelScratch levels;
  ApproachScratch approach;
  BoundsScratch bounds;
  RecoveryScratch recovery;
};

SUPPLE_FN void lay_out(TickEvaluation &at, ScratchLayout &layout, const Tracking &t, int axes) {
  const int n = t.problem.n, m = t.problem.rows, targets = t.problem.target_count;
  layout.array(at.axes, axes);
  layout.array(at.movers, axes);
  layout.array(at.mover_count, targets);
  layout.array(at.rows, targets);
  layout.array(at.J, n * m);
  for (double **matrix : {&at.gram, &at.hessian})
    layout.array(*matrix, n * n);
  for (double **row : {&at.residual, &at.command, &at.feedforward})
    layout.array(*row, m);
  for (double **row : {&at.feedback_gradient, &at.feedforward_gradient, &at.last_step, &at.to_posture,
                       &at.to_rest, &at.preferred})
    layout.array(*row, n);
  layout.array(at.targets, targets);
}

SUPPLE_FN void lay_out(RegularScratch &regular, SingularScratch &singular, ScratchLayout &layout, int n,
                       int m) {
  for (double **matrix : {&regular.reduced, &regular.factor, &singular.hessian, &singular.basis})
    layout.array(*matrix, n * n);
  layout.array(singular.products, eigen_scratch(n));
  layout.array(singular.images, n * m);
  for (double **row : {&regular.solution, &singular.gamma, &singular.joint_direction, &singular.climb,
                       &singular.curvatures, &singular.gradient, &singular.still})
    layout.array(*row, n);
  for (double **rows : {&singular.sources, &singular.components})
    layout.array(*rows, component_count * n);
  for (double **rows : {&singular.steps, &singular.moves})
    layout.array(*rows, step_count * n);
  for (double **row : {&singular.curvature_rows, &singular.remainder})
    layout.array(*row, m);
  layout.array(singular.is_null, n);
}

SUPPLE_FN void lay_out(LevelScratch &levels, ScratchLayout &layout, int n, int m) {
  for (double **matrix : {&levels.hessian, &levels.bases[0], &levels.bases[1]})
    layout.array(*matrix, n * n);
  for (double **row : {&levels.feedback_gradient, &levels.feedforward_gradient, &levels.feedback,
                       &levels.feedforward, &levels.level_step, &levels.acceleration, &levels.coast})
    layout.array(*row, n);
  layout.array(levels.directions, most_directions(n) * n);
  layout.array(levels.direction_cost, most_directions(n));
  layout.array(levels.rows, m);
  layout.array(levels.row_gram, m * m);
}

SUPPLE_FN void lay_out(ApproachScratch &approach, BoundsScratch &bounds, ScratchLayout &layout, int n,
                       int stride) {
  Displacements &x = approach.displacements;
  for (double **row : {&x.feedback, &x.feedforward, &x.preferred, &approach.feedforward_acceleration,
                       &bounds.natural_q, &bounds.low, &bounds.high})
    layout.array(*row, stride);
  for (double **row :
       {&approach.limit_side, &approach.step, &bounds.lead, &bounds.measured_velocity, &bounds.step,
        &bounds.previous_q, &bounds.limit_low, &bounds.limit_high, &bounds.nearest.p})
    layout.array(*row, n);
  EffectorScratch &effector = bounds.effector;
  for (double **row : {&effector.velocity, &effector.next_q, &effector.q_on_the_way, &effector.braking,
                       &effector.candidate, &effector.way})
    layout.array(*row, n);
  layout.array(approach.free_index, n);
  layout.array(bounds.nearest.free, n);
  layout.array(bounds.nearest.side, n);
  for (double **matrix : {&bounds.deviation_cost, &bounds.nearest.A})
    layout.array(*matrix, n * n);
}

SUPPLE_FN void lay_out(RecoveryScratch &recovery, ScratchLayout &layout, const Tracking &t, int axes) {
  const int n = t.problem.n, m = t.problem.rows, targets = t.problem.target_count;
  layout.array(recovery.goals, 12 * targets);
  Evaluation &at = recovery.evaluation;
  layout.array(at.e, m);
  layout.array(at.J, m * n);
  layout.array(at.full, 6 * n);
  layout.array(at.tips, targets);
  layout.array(at.axes, axes);
  layout.array(at.distance, targets);
  layout.array(at.angle, targets);
  lay_out(recovery.step, layout, (m > n ? m : n) + 4);
  layout.array(recovery.preferred, n);
  layout.array(recovery.dq, n);
}

SUPPLE_FN void lay_out(TickScratch &scratch, ScratchLayout &layout, const Tracking &t) {
  int axes = 1; // forward kinematics writes one more
  for (int k = 0; k < t.problem.target_count; ++k)
    axes += t.problem.targets[k].chain.axes;
  layout.array(scratch.commands, t.problem.target_count);
  layout.array(scratch.paths, t.problem.target_count);
  layout.array(scratch.last_feedforward, t.problem.n);
  lay_out(scratch.evaluation, layout, t, axes);
  lay_out(scratch.regular, scratch.singular, layout, t.problem.n, t.problem.rows);
  lay_out(scratch.levels, layout, t.problem.n, t.problem.rows);
  lay_out(scratch.approach, scratch.bounds, layout, t.problem.n, t.stride);
  EffectorScratch &effector = scratch.bounds.effector;
  layout.array(effector.tips, t.problem.target_count);
  layout.array(effector.departures, 2 * t.problem.target_count);
  layout.array(effector.allowed, t.problem.target_count);
  layout.array(effector.none, t.problem.target_count);
  layout.array(effector.rows, t.problem.target_count * t.problem.n);
  layout.array(effector.marked, t.problem.n);
  layout.array(scratch.bounds.ball_rows, 2 * t.problem.ball_count);
  layout.array(scratch.bounds.row_active, 2 * t.problem.ball_count);
  layout.array(scratch.bounds.row_target, t.problem.n);
  layout.array(scratch.bounds.turned_target, t.problem.n);
  lay_out(scratch.recovery, layout, t, axes);
}

// Begins at q, at rest.
SUPPLE_FN void begin_arm(const Tracking &t, const ArmMemory &memory, const double *q) {
  *memory.scalars = {};
  for (int k = 0; k < t.problem.target_count; ++k)
    std::memset(static_cast<void *>(memory.command_states + k), 0, sizeof(CommandState));
  for (int i = 0; i < t.problem.n; ++i) {
    memory.q[i] = memory.posture[i] = memory.rest[i] = q[i];
    memory.recovery_anchor[i] = memory.approach_q[i] = memory.rest_q[i] = q[i];
    memory.velocity[i] = memory.acceleration[i] = 0;
    memory.feedforward_velocity[i] = memory.feedforward_acceleration[i] = 0;
    memory.limit_side[i] = 0;
    memory.null_direction[i] = i == 0;
  }
  for (int i = t.problem.n; i < t.stride; ++i) { // padding, read with the joints
    memory.velocity[i] = memory.acceleration[i] = 0;
    memory.feedforward_velocity[i] = memory.feedforward_acceleration[i] = 0;
  }
  for (int i = 0; i < held_passes * t.stride; ++i)
    memory.reduced_limit_side[i] = 0;
  for (int i = 0; i < t.problem.rows; ++i) {
    memory.weakest_row[i] = i == 0;
    memory.command_drift[i] = 0;
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
