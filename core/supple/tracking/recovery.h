// Recovery: joint values that reach the command are searched from where the arm last followed it, one step a
// tick; an arm in a local minimum goes to them.
//
// An arm that lost the command can stand in a local minimum long after the command is back in reach.
#pragma once
#include "supple/local/iterate.h"
#include "supple/tracking/bounds.h"

namespace supple {
inline namespace SUPPLE_ISA {

struct RecoveryScratch {
  double *goals;         // 12 a target
  Evaluation evaluation; // of all goals at recovery_q
  StepScratch step;
  double *preferred; // n: zeros, which hold_limits takes
  double *dq;        // n
};

// Takes one damped step of recovery_q towards the commands. The search starts at the anchor; after 20 steps
// that do not reach the commands it starts again at rest, then at the anchor, in turns. The commands are
// reached when the weighted error is below `tolerance`, which must allow for the motion of the commands in a
// tick: recovery_q is one tick behind them.
SUPPLE_FN void search_recovery(const Tracking &t, const Command *commands, double tolerance,
                               const ArmMemory &memory, const RecoveryScratch &scratch) {
  const Problem &problem = t.problem;
  const int n = problem.n;
  ArmScalars &scalars = *memory.scalars;
  for (int k = 0; k < problem.target_count; ++k)
    std::memcpy(scratch.goals + 12 * k, commands[k].goal, sizeof commands[k].goal);
  if (scalars.recovery == recovery_idle) {
    const double *start = scalars.recovery_from_rest ? memory.rest : memory.recovery_anchor;
    for (int i = 0; i < n; ++i)
      memory.recovery_q[i] = start[i];
    scalars.recovery = recovery_searching;
    scalars.recovery_steps = 0;
  }
  for (int i = 0; i < n; ++i) {
    memory.recovery_previous_q[i] = memory.recovery_q[i];
    scratch.preferred[i] = 0;
  }
  double *e = scratch.evaluation.e, *J = scratch.evaluation.J;
  evaluate(problem, memory.recovery_q, scratch.goals, false, scratch.evaluation);
  const double square = dot_rows<0>(e, e, problem.rows);
  if (square < tolerance * tolerance) {
    scalars.recovery = recovery_reached;
  } else if (scalars.recovery == recovery_reached && square > 4 * tolerance * tolerance) {
    scalars.recovery = recovery_searching;
    scalars.recovery_steps = 0;
  }
  hold_limits(problem, memory.recovery_q, e, J, scratch.preferred);
  for (int i = 0; i < problem.rows; ++i)
    for (int l = 0; l < n; ++l)
      J[i * n + l] *= t.unit[l];
  least_squares(J, problem.rows, n, e, 0.02 * square + 1e-12, nullptr, scratch.step, scratch.dq);
  shorten_to(scratch.dq, n, 1.0);
  for (int l = 0; l < n; ++l)
    scratch.dq[l] *= t.unit[l];
  move(problem, true, memory.recovery_previous_q, scratch.dq, memory.recovery_q);
  if (scalars.recovery == recovery_searching && ++scalars.recovery_steps > 20) {
    scalars.recovery = recovery_idle;
    scalars.recovery_from_rest = !scalars.recovery_from_rest;
  }
}

// Searches while the arm does not follow. An arm that follows needs no recovery.
template <int N, int M>
SUPPLE_FN void update_recovery(const TickSetup<N, M> &setup, const EvaluationSummary &summary,
                               const Command *commands, const ArmMemory &memory,
                               const RecoveryScratch &scratch) {
  ArmScalars &scalars = *memory.scalars;
  if (summary.residual_norm < setup.law.following_error) {
    scalars.recovery = recovery_idle;
    scalars.local_minimum_time = 0;
    return;
  }
  const double tolerance = 0.2 * setup.law.following_error + 2 * summary.command_speed * setup.dt;
  search_recovery(setup.tracking, commands, tolerance, memory, scratch);
  if (scalars.recovery != recovery_reached)
    scalars.local_minimum_time = 0;
}

// Adds this tick to the time in a local minimum: hardly any of the residual can be reduced from here, though
// other joint values reach the command.
template <int N, int M>
SUPPLE_FN void watch_local_minimum(const TickSetup<N, M> &setup, const EvaluationSummary &summary,
                                   double reducible, ArmScalars &scalars) {
  if (reducible < 0.1 && scalars.recovery == recovery_reached)
    scalars.local_minimum_time +=
        setup.dt * lesser(1.0, squared(summary.residual_norm / setup.law.lost_error));
}

// The desired step of an arm that recovers: each joint straight to recovery_q, whose own motion is fed
// forward.
template <int N, int M>
SUPPLE_FN DesiredStep recovery_step(const TickSetup<N, M> &setup, const ArmMemory &memory,
                                    const ApproachScratch &scratch, double *joint_weights) {
  const Displacements &x = scratch.displacements;
  displacement(setup.tracking, memory.q, memory.recovery_q, x.feedback);
  displacement(setup.tracking, memory.recovery_previous_q, memory.recovery_q, x.feedforward);
  for (int i = 0; i < setup.n(); ++i) {
    x.feedback[i] -= x.feedforward[i];
    x.preferred[i] = scratch.limit_side[i] = 0;
    joint_weights[i] = 1;
  }
  combine(setup, memory, scratch);
  DesiredStep desired{};
  desired.kind = StepKind::recovery;
  desired.reducible = 1;
  return desired;
}

} // namespace SUPPLE_ISA
} // namespace supple
