// The search for joint values that reach the commands, one step a tick, from where the arm last followed
// them.
#pragma once
#include "supple/local/iterate.h"
#include "supple/search/setup.h"
#include "supple/tracking/rest.h"

namespace supple {
inline namespace SUPPLE_ISA {

struct RecoveryScratch {
  double *goals;         // 12 a target
  Evaluation evaluation; // of all goals at recovery_q
  StepScratch step;
  double *preferred; // n: zeros, which hold_limits takes
  double *dq;        // n
};

// steps of a search before it starts again elsewhere: one that reaches the commands takes about ten
constexpr int search_steps = 20;
// damping of these steps, of the squared error [D21], and what is added so that it is never singular
constexpr double search_damping = 0.02, least_search_damping = 1e-12;
// rad: the longest step of a joint; the Jacobian holds for no longer one
constexpr double longest_search_step = 1.0;
// of Law::following_error: an error that counts as reached, so that the arm follows when it is there
constexpr double reached_error = 0.2;
// an error larger than so many times that one counts as reached no more
constexpr double lost_again = 2;

// s: rest of the command before a free recovery searches anywhere in the limits. It finds other branches,
// which an operator who only pauses does not want.
constexpr double wide_search_delay = 2;

// The k-th of a sequence of joint values that fills the limits evenly, at most half a turn, or the reach of
// the arm, from the anchor.
SUPPLE_FN void even_start(const Tracking &t, int k, const double *anchor, double *q) {
  const double x = roberts_root(t.problem.n);
  for (int i = 0; i < t.problem.n; ++i) {
    const double low = larger(t.bounds[i].lower * t.unit[i], anchor[i] - pi * t.unit[i]);
    const double high = lesser(t.bounds[i].upper * t.unit[i], anchor[i] + pi * t.unit[i]);
    q[i] = low + (high - low) * even_part(std::pow(x, -(i + 1)), k);
  }
  for (int b = 0; b < t.problem.ball_count; ++b) {
    const Ball &ball = t.problem.balls[b];
    double *rotation = q + ball.index;
    store3(clamp_ball(load3(rotation), load3(ball.axis), ball.swing, ball.low, ball.high), rotation);
  }
}

// Begins a search: at the anchor and at rest in turns. Where a command has rested for `wide_search_delay`, a
// free recovery goes on anywhere in the limits.
SUPPLE_FN void begin_search(const Tracking &t, const ArmMemory &memory) {
  ArmScalars &scalars = *memory.scalars;
  const double *start = scalars.recovery_from_rest ? memory.rest : memory.recovery_anchor;
  if (t.recovery == recover_free && scalars.command_rest_time >= wide_search_delay)
    even_start(t, scalars.recovery_searches, memory.recovery_anchor, memory.recovery_q);
  else
    std::memcpy(memory.recovery_q, start, t.problem.n * sizeof(double));
  ++scalars.recovery_searches;
  scalars.recovery = recovery_searching;
  scalars.recovery_steps = 0;
}

// Takes one damped step of recovery_q towards the commands; after `search_steps` that do not reach them
// the search begins again elsewhere. The commands are reached when the weighted error is below `tolerance`,
// which must allow for the motion of the commands in a tick: recovery_q is one tick behind them.
SUPPLE_FN void search_recovery(const Tracking &t, const Command *commands, double tolerance,
                               const ArmMemory &memory, const RecoveryScratch &scratch) {
  const Problem &problem = t.problem;
  const int n = problem.n;
  ArmScalars &scalars = *memory.scalars;
  for (int k = 0; k < problem.target_count; ++k)
    std::memcpy(scratch.goals + 12 * k, commands[k].goal, sizeof commands[k].goal);
  if (scalars.recovery == recovery_idle)
    begin_search(t, memory);
  for (int i = 0; i < n; ++i) {
    memory.recovery_previous_q[i] = memory.recovery_q[i];
    scratch.preferred[i] = 0;
  }
  double *e = scratch.evaluation.e, *J = scratch.evaluation.J;
  evaluate(problem, memory.recovery_q, scratch.goals, false, scratch.evaluation);
  const double square = dot_rows<0>(e, e, problem.rows);
  if (square < tolerance * tolerance) {
    scalars.recovery = recovery_reached;
    if (scalars.command_rest_time > 0)
      return; // a further step may lose what is reached, at a limit
  } else if (scalars.recovery == recovery_reached &&
             square > lost_again * lost_again * tolerance * tolerance) {
    scalars.recovery = recovery_searching;
    scalars.recovery_steps = 0;
  }
  hold_limits(problem, memory.recovery_q, e, J, scratch.preferred);
  for (int i = 0; i < problem.rows; ++i)
    for (int l = 0; l < n; ++l)
      J[i * n + l] *= t.unit[l];
  least_squares(J, problem.rows, n, e, search_damping * square + least_search_damping, nullptr, scratch.step,
                scratch.dq);
  shorten_to(scratch.dq, n, longest_search_step);
  for (int l = 0; l < n; ++l)
    scratch.dq[l] *= t.unit[l];
  move(problem, true, memory.recovery_previous_q, scratch.dq, memory.recovery_q);
  for (int l = 0; l < n; ++l) // the limits in use may be narrower
    memory.recovery_q[l] =
        clip(memory.recovery_q[l], t.bounds[l].lower * t.unit[l], t.bounds[l].upper * t.unit[l]);
  if (scalars.recovery == recovery_searching && ++scalars.recovery_steps > search_steps) {
    scalars.recovery = recovery_idle;
    scalars.recovery_from_rest = !scalars.recovery_from_rest;
  }
}

// Shifts recovery_q by whole turns to the values nearest to q that the limits allow; a ball joint has no
// turns.
SUPPLE_FN void choose_turns(const Tracking &t, const ArmMemory &memory) {
  for (int i = 0; i < t.problem.n; ++i) {
    bool turns_about_an_axis = t.unit[i] == 1;
    for (int b = 0; b < t.problem.ball_count; ++b)
      turns_about_an_axis =
          turns_about_an_axis && (i < t.problem.balls[b].index || i > t.problem.balls[b].index + 2);
    if (!turns_about_an_axis)
      continue;
    const double way = memory.recovery_q[i] - memory.q[i], turns = 2 * pi * std::nearbyint(way / (2 * pi));
    const double shifted = memory.recovery_q[i] - turns;
    if (turns == 0 || shifted < t.bounds[i].lower || shifted > t.bounds[i].upper)
      continue;
    memory.recovery_q[i] = shifted;
    memory.recovery_previous_q[i] -= turns;
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
