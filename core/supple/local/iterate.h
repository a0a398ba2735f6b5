// A local solve: steps until the goals are reached, no progress is made, or the iterations are used up.
#pragma once
#include "supple/local/coordinate_descent.h"

namespace supple {
inline namespace SUPPLE_ISA {

struct SolveScratch {
  Evaluation evaluation;
  StepScratch step;
  DampingScratch damping;
  double *memory;            // of the damping schemes, for the length of a solve
  double *q, *next;          // n: where the solve is, and a candidate for the next q
  double *best;              // n: the q with the smallest error so far
  double *dq;                // n: the step
  double *preferred;         // n: the preferred step
  double *trial;             // n: q that a preference or coordinate descent tries
  double *last_moved;        // n: when coordinate descent moved each joint last
  Frame<double> *tips_after; // of each target, after a joint has moved
};

// One description of the arrays of a solve: counts or places them. Without a method there is only what
// evaluate needs.
SUPPLE_FN void lay_out(SolveScratch &s, ScratchLayout &layout, const Problem &problem, const Method *method) {
  const int m = problem.rows, n = problem.n, targets = problem.target_count;
  int axes = 1, size = m > n ? m : n;
  size = size > 4 ? size : 4;
  for (int i = 0; i < targets; ++i)
    axes += problem.targets[i].chain.axes;
  layout.array(s.evaluation.e, m);
  layout.array(s.evaluation.J, m * n);
  layout.array(s.evaluation.full, 6 * n);
  layout.array(s.evaluation.tips, targets);
  layout.array(s.evaluation.axes, axes);
  layout.array(s.evaluation.distance, targets);
  layout.array(s.evaluation.angle, targets);
  if (!method)
    return;
  lay_out(s.step, layout, size);
  lay_out(s.damping, layout, m, n, size, *method);
  s.damping.A = s.step.A;
  s.damping.V = s.step.V;
  layout.array(s.memory, method->memory_size);
  for (double **row : {&s.q, &s.next, &s.best, &s.dq, &s.preferred, &s.trial, &s.last_moved})
    layout.array(*row, n);
  layout.array(s.tips_after, targets);
}

SUPPLE_FN void copy_values(const double *from, int n, double *to) {
  for (int l = 0; l < n; ++l)
    to[l] = from[l];
}
SUPPLE_FN void set_values(double value, int n, double *to) {
  for (int l = 0; l < n; ++l)
    to[l] = value;
}

// The weighted squared error at q.
SUPPLE_FN double error_at(const Problem &problem, const double *goals, const double *q,
                          const SolveScratch &scratch) {
  evaluate(problem, q, goals, false, scratch.evaluation);
  return squared_error(problem, goals, scratch.evaluation.tips);
}

// whether an evaluation is within tolerance of every goal
SUPPLE_FN bool is_within(const Problem &problem, const Stop &stop, const Evaluation &evaluation) {
  for (int t = 0; t < problem.target_count; ++t)
    if (!(evaluation.distance[t] <= stop.position && evaluation.angle[t] <= stop.angle))
      return false;
  return true;
}

// component l of J'e: the descent direction of the error along joint l
SUPPLE_FN double descent_along(const Problem &problem, const double *J, const double *e, int l) {
  double sum = 0;
  for (int i = 0; i < problem.rows; ++i)
    sum += J[i * problem.n + l] * e[i];
  return sum;
}

// Takes a joint out of the step: its column becomes zero, the paper's weight of 0 [D13], and so does its
// preference.
SUPPLE_FN void drop_joint(const Problem &problem, int l, double *J, double *preferred) {
  for (int i = 0; i < problem.rows; ++i)
    J[i * problem.n + l] = 0;
  preferred[l] = 0;
}

// Drops joints at a limit that the error presses outward.
SUPPLE_FN void hold_limits(const Problem &problem, const double *q, const double *e, double *J,
                           double *preferred) {
  for (int l = 0; l < problem.n; ++l) {
    if (q[l] > problem.lower[l] && q[l] < problem.upper[l])
      continue;
    if (pressed_outward(q[l], problem.lower[l], problem.upper[l], descent_along(problem, J, e, l)))
      drop_joint(problem, l, J, preferred);
  }
}

// The preferred step at q.
SUPPLE_FN void prefer_at(const Problem &problem, const Method &method, const double *goals, const double *q,
                         const SolveScratch &scratch) {
  set_values(0, problem.n, scratch.preferred);
  if (method.preference_callback)
    method.preference_callback(method.preference_data, q, scratch.preferred);
  if (method.preference_count)
    add_preferences(problem, method.preferences, method.preference_count, q, goals, scratch.evaluation,
                    scratch.damping.axes, scratch.trial, scratch.step.A, scratch.preferred);
}

// The paper's step from the evaluation and the preferred step at q, with damping and joint weights by the
// schemes; returns alpha.
SUPPLE_FN double damped_step(const Problem &problem, const Method &method, const double *q, double dt,
                             double *memory, const SolveScratch &scratch, double *dq) {
  const int n = problem.n;
  const double *e = scratch.evaluation.e, *J = scratch.evaluation.J;
  const double alpha = choose_damping({problem, method, q, e, J, dt}, memory, scratch.damping);
  const double *preferred = is_zero(scratch.preferred, n) ? nullptr : scratch.preferred;
  weighted_least_squares(J, scratch.damping.Jw, scratch.damping.w, problem.rows, n, e, alpha, preferred,
                         method.preference_unweighted, scratch.step, dq);
  remember(memory, dq, n);
  ignore_outward_creep(problem, method, q, dt, dq);
  return alpha;
}

// One tick of the paper's controller: the raw step from q towards the goals after dt seconds, not clamped,
// with the damping and the joint weights (n) it took. `memory` holds what the schemes remember
// (local/damping.h). `row_weights`, if not null, are the weights W_x of this tick, one for each row of the
// error.
SUPPLE_FN void damped_tick(const Problem &problem, const Method &method, const double *goals, const double *q,
                           double dt, double *memory, const SolveScratch &scratch, double *dq, double *alpha,
                           double *w, const double *row_weights = nullptr) {
  const Evaluation &evaluation = scratch.evaluation;
  prefer_at(problem, method, goals, q, scratch);
  evaluate(problem, q, goals, method.alternative_jacobian, evaluation);
  for (int t = 0; t < problem.target_count && row_weights; ++t)
    for (int i = 0; i < problem.targets[t].rows; ++i) {
      const int row = problem.targets[t].first + i;
      const double scale = row_weights[row] / problem.targets[t].weight[i];
      evaluation.e[row] *= scale;
      for (int l = 0; l < problem.n; ++l)
        evaluation.J[row * problem.n + l] *= scale;
    }
  *alpha = damped_step(problem, method, q, dt, memory, scratch, dq);
  copy_values(scratch.damping.w, problem.n, w);
}

// One sweep of coordinate descent from q, as a step.
SUPPLE_FN void descent_step(const Problem &problem, const Method &method, const double *goals,
                            const double *q, const SolveScratch &scratch, double *dq) {
  copy_values(q, problem.n, scratch.next);
  descend(Descent{problem, goals, method.clamp, method.max_halvings}, method.joint_order, scratch.next,
          scratch.trial, scratch.last_moved, scratch.evaluation.axes, scratch.evaluation.tips,
          scratch.tips_after);
  difference(problem, q, scratch.next, dq);
}

// Halves a step until it does not raise the error; 0 after max_halvings.
SUPPLE_FN void halve_while_worse(const Problem &problem, const Method &method, const double *goals,
                                 const double *q, const SolveScratch &scratch, double *dq) {
  const double before = error_at(problem, goals, q, scratch);
  for (int i = 0; i <= method.max_halvings; ++i) {
    move(problem, method.clamp, q, dq, scratch.next);
    if (error_at(problem, goals, scratch.next, scratch) <= before)
      return;
    for (int l = 0; l < problem.n; ++l)
      dq[l] /= 2;
  }
  set_values(0, problem.n, dq);
}

// One step of a method from q into dq; q is not changed. False where the method finds no step.
SUPPLE_FN bool one_step(const Problem &problem, const Method &method, const double *goals, const double *q,
                        const SolveScratch &scratch, double *dq) {
  const int n = problem.n;
  const Evaluation &evaluation = scratch.evaluation;
  if (method.kind == method_coordinate_descent) {
    descent_step(problem, method, goals, q, scratch, dq);
  } else {
    prefer_at(problem, method, goals, q, scratch);
    evaluate(problem, q, goals, method.alternative_jacobian, evaluation);
    if (method.clamp)
      hold_limits(problem, q, evaluation.e, evaluation.J, scratch.preferred);
    for (int l = 0; l < n && method.locked; ++l)
      if (method.locked[l])
        drop_joint(problem, l, evaluation.J, scratch.preferred);
    if (method.has_schemes)
      damped_step(problem, method, q, iteration_time, scratch.memory, scratch, dq);
    else if (!choose_step(problem, method, evaluation.e, evaluation.J, scratch.preferred, scratch.step, dq))
      return false;
  }
  for (int l = 0; l < n; ++l)
    dq[l] *= method.step_scale;
  shorten_to(dq, n, method.max_step);
  if (method.max_halvings)
    halve_while_worse(problem, method, goals, q, scratch, dq);
  return true;
}

// Counts a step in the report; false if it is not finite.
SUPPLE_FN bool count_step(const double *dq, int n, Report &report) {
  double square = 0, largest = 0;
  for (int l = 0; l < n; ++l) {
    square += dq[l] * dq[l];
    largest = larger(largest, std::fabs(dq[l]));
  }
  if (!(largest < 1e300))
    return false;
  report.path += std::sqrt(square);
  report.largest_step = larger(report.largest_step, largest);
  return true;
}

// Coordinate descent is slow along curved valleys: while it lowers the error, the last sweep's step is
// repeated, each time twice as long, up to max_step.
SUPPLE_FN void extrapolate(const Problem &problem, const Method &method, const double *goals,
                           const SolveScratch &scratch, int max_iterations, Report &report) {
  double error = error_at(problem, goals, scratch.q, scratch);
  for (int i = 0; i < 8 && report.iterations + 1 < max_iterations; ++i) {
    move(problem, method.clamp, scratch.q, scratch.dq, scratch.next);
    const double next_error = error_at(problem, goals, scratch.next, scratch);
    if (!(next_error < error))
      return;
    error = next_error;
    count_step(scratch.dq, problem.n, report);
    ++report.iterations;
    for (int l = 0; l < problem.n; ++l) {
      scratch.q[l] = scratch.next[l];
      scratch.dq[l] *= 2;
    }
    shorten_to(scratch.dq, problem.n, method.max_step);
  }
}

// Leaves a local minimum at limits. First, every joint that presses against a limit goes to the other side of
// its range; the second time, or where none presses (a straight arm that should fold), every joint does; the
// third time every joint goes to its middle. False if no joint has two limits.
SUPPLE_FN bool escape(const Problem &problem, const double *goals, int escapes_before,
                      const SolveScratch &scratch) {
  const int n = problem.n;
  const Evaluation &evaluation = scratch.evaluation;
  evaluate(problem, scratch.q, goals, false, evaluation);
  enum Pass : int { pressed_joints, all_joints };
  const bool pressed_joints_first = escapes_before % 3 == 0, to_middle = escapes_before % 3 == 2;
  for (int pass = pressed_joints_first ? pressed_joints : all_joints; pass <= all_joints; ++pass) {
    bool moved = false;
    for (int l = 0; l < n; ++l) {
      const double low = problem.lower[l], high = problem.upper[l], q = scratch.q[l];
      const double descent = descent_along(problem, evaluation.J, evaluation.e, l);
      if (!(high - low < 1e300) || !(pass == all_joints || pressed_outward(q, low, high, descent)))
        continue;
      scratch.q[l] = to_middle ? (low + high) / 2 : low + high - q;
      moved = true;
    }
    if (moved)
      return true;
  }
  return false;
}

// The nearest q to goals out of reach, from the best q on: Levenberg-Marquardt. The damping grows by 4 after
// a step that would raise the error and shrinks to 0.3 of itself after one that lowers it.
//
// search/nearest.h has the same rule for lanes of candidates. It is written apart: there each lane accepts or
// refuses its step by a mask, and the step is the search's own.
SUPPLE_FN void approach_nearest(const Problem &problem, const Method &method, const Stop &stop,
                                const double *goals, const SolveScratch &scratch, Report &report) {
  const int n = problem.n;
  const Evaluation &evaluation = scratch.evaluation;
  double error = error_at(problem, goals, scratch.best, scratch), damping = 0.1 * error;
  for (; report.iterations < stop.iterations && !stop.is_interrupted(); ++report.iterations) {
    evaluate(problem, scratch.best, goals, false, evaluation);
    set_values(0, n, scratch.preferred);
    if (method.clamp)
      hold_limits(problem, scratch.best, evaluation.e, evaluation.J, scratch.preferred);
    least_squares(evaluation.J, problem.rows, n, evaluation.e, damping, nullptr, scratch.step, scratch.dq);
    shorten_to(scratch.dq, n, method.max_step);
    move(problem, method.clamp, scratch.best, scratch.dq, scratch.next);
    const double next_error = error_at(problem, goals, scratch.next, scratch);
    if (!(next_error < error)) {
      damping *= 4;
      if (!(damping < 1e6 * error))
        return;
      continue;
    }
    count_step(scratch.dq, n, report);
    copy_values(scratch.next, n, scratch.best);
    const bool converged = error - next_error < 1e-12 * error;
    error = next_error;
    damping *= 0.3;
    if (converged)
      return;
  }
}

// Ends a solve that makes no progress. With damped steps it first goes on to the joint values nearest to the
// goals.
SUPPLE_FN void end_stuck(const Problem &problem, const Method &method, const Stop &stop, const double *goals,
                         double error, const SolveScratch &scratch, Report &report) {
  report.outcome = stuck;
  if (method.kind != method_damped || method.alternative_jacobian || !(error < 1e300))
    return;
  approach_nearest(problem, method, stop, goals, scratch, report);
  evaluate(problem, scratch.best, goals, false, scratch.evaluation);
  if (is_within(problem, stop, scratch.evaluation))
    report.outcome = arrived;
}

// Escapes from a local minimum, if that is allowed once more and possible; it counts in the path, but not as
// a step.
SUPPLE_FN bool try_escape(const Problem &problem, const Method &method, const double *goals, int escapes,
                          const SolveScratch &scratch, Report &report) {
  copy_values(scratch.q, problem.n, scratch.next);
  if (escapes >= method.limit_escapes || !escape(problem, goals, escapes, scratch))
    return false;
  double square = 0;
  for (int l = 0; l < problem.n; ++l)
    square += (scratch.q[l] - scratch.next[l]) * (scratch.q[l] - scratch.next[l]);
  report.path += std::sqrt(square);
  scratch.memory[0] = 0; // what the schemes remember does not hold there
  return true;
}

// Counts iterations without progress: less than a hundredth of the error.
struct Progress {
  double mark = 1e300;
  int waited = 0;

  SUPPLE_FN bool is_over(double error, int patience) {
    if (error < 0.99 * mark) {
      mark = error;
      waited = 0;
    } else {
      ++waited;
    }
    return waited > patience || !(error < 1e300);
  }
};

// From start to the goals. `best` holds the q with the smallest weighted error that was visited.
SUPPLE_FN Report solve(const Problem &problem, const Method &method, const Stop &stop, const double *goals,
                       const double *start, const SolveScratch &scratch) {
  const int n = problem.n;
  Report report{out_of_budget, 0, 0, 0};
  Progress progress;
  double least = 1e300;
  int escapes = 0;
  set_values(0, n, scratch.dq);
  set_values(0, n, scratch.last_moved);
  scratch.memory[0] = 0;
  move(problem, method.clamp, start, scratch.dq, scratch.q);
  for (;; ++report.iterations) {
    if (stop.is_interrupted())
      return report;
    evaluate(problem, scratch.q, goals, false, scratch.evaluation);
    double error = 0;
    const bool reached = is_within(problem, stop, scratch.evaluation);
    for (int i = 0; i < problem.rows; ++i)
      error += scratch.evaluation.e[i] * scratch.evaluation.e[i];
    if (reached || error < least || !report.iterations) {
      least = error;
      copy_values(scratch.q, n, scratch.best);
    }
    if (reached) {
      report.outcome = arrived;
      return report;
    }
    if (report.iterations >= stop.iterations) {
      if (escapes)
        report.outcome = stuck; // all escapes failed, so the solve is stuck as before the first
      return report;
    }
    if (progress.is_over(error, stop.patience)) {
      if (!try_escape(problem, method, goals, escapes, scratch, report)) {
        end_stuck(problem, method, stop, goals, error, scratch, report);
        return report;
      }
      ++escapes;
      progress = {};
      continue;
    }
    if (!one_step(problem, method, goals, scratch.q, scratch, scratch.dq) ||
        !count_step(scratch.dq, n, report)) {
      report.outcome = stuck;
      return report;
    }
    move(problem, method.clamp, scratch.q, scratch.dq, scratch.next);
    copy_values(scratch.next, n, scratch.q);
    if (method.kind == method_coordinate_descent)
      extrapolate(problem, method, goals, scratch, stop.iterations, report);
  }
}

// Steps without preferences from `next` back to the goals, at most eight; false where they do not get there.
// Ends in `next`.
SUPPLE_FN bool return_to_goals(const Problem &problem, const Method &plain, const Stop &stop,
                               const double *goals, const SolveScratch &scratch) {
  for (int i = 0; i < 8; ++i) {
    evaluate(problem, scratch.next, goals, false, scratch.evaluation);
    if (is_within(problem, stop, scratch.evaluation))
      return true;
    copy_values(scratch.next, problem.n, scratch.q);
    if (!one_step(problem, plain, goals, scratch.q, scratch, scratch.dq))
      return false;
    move(problem, plain.clamp, scratch.q, scratch.dq, scratch.next);
  }
  return false;
}

// From a q that has arrived, towards the preferences for as long as the goals hold: steps with preferences,
// each brought back to the goals by steps without, until nothing moves. `best` holds the last q within
// tolerance.
SUPPLE_FN void refine(const Problem &problem, const Method &method, const Stop &stop, const double *goals,
                      const double *start, const SolveScratch &scratch) {
  const int n = problem.n;
  Method plain = method;
  plain.preference_count = 0;
  plain.preference_callback = nullptr;
  set_values(0, n, scratch.last_moved);
  scratch.memory[0] = 0;
  copy_values(start, n, scratch.best);
  copy_values(start, n, scratch.q);
  for (int k = 0; k < stop.iterations && !stop.is_interrupted(); ++k) {
    if (!one_step(problem, method, goals, scratch.q, scratch, scratch.dq))
      return;
    move(problem, method.clamp, scratch.q, scratch.dq, scratch.next);
    if (!return_to_goals(problem, plain, stop, goals, scratch))
      return;
    double moved = 0;
    for (int l = 0; l < n; ++l)
      moved = larger(moved, std::fabs(scratch.next[l] - scratch.best[l]));
    copy_values(scratch.next, n, scratch.best);
    copy_values(scratch.next, n, scratch.q);
    if (moved < 1e-7)
      return;
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
