// Step, clamp, judge; until arrived, stuck or spent.
#pragma once
#include "supple/local/coordinate_descent.h"

namespace supple {
inline namespace SUPPLE_ISA {

// all working memory of a solve
struct SolveScratch {
  Evaluation evaluation;
  StepScratch step;
  DampingScratch damp;
  double *memory;                                    // of the damping schemes, for the length of a solve
  double *q, *next, *best, *dq, *v, *spare, *recent; // n each
  Frame<double> *after;                              // one a target
};

// The weighted squared error at some q.
SUPPLE_FN double error_at(const Problem &problem, const double *goals, const double *q,
                          const SolveScratch &desk) {
  evaluate(problem, q, goals, false, desk.evaluation);
  return squared_error(problem, goals, desk.evaluation.tips);
}

// A joint at its limit that the error presses outward takes no part in the step: its column becomes zero, the
// paper's weight of 0 [D13], and so does its wish.
SUPPLE_FN void hold_limits(const Problem &problem, const double *q, const double *e, double *J, double *v) {
  const int n = problem.n;
  for (int l = 0; l < n; ++l) {
    const bool low = q[l] <= problem.lower[l], high = q[l] >= problem.upper[l];
    if (!low && !high)
      continue;
    double slope = 0;
    for (int i = 0; i < problem.rows; ++i)
      slope += J[i * n + l] * e[i];
    if ((low && slope < 0) || (high && slope > 0)) {
      for (int i = 0; i < problem.rows; ++i)
        J[i * n + l] = 0;
      v[l] = 0;
    }
  }
}

// What is wished of the joints at q.
SUPPLE_FN void wish_at(const Problem &problem, const Method &method, const double *goals, const double *q,
                       const SolveScratch &desk) {
  for (int l = 0; l < problem.n; ++l)
    desk.v[l] = 0;
  if (method.ask)
    method.ask(method.asked, q, desk.v);
  if (method.preference_count)
    wish(problem, method.preferences, method.preference_count, q, goals, desk.evaluation, desk.spare,
         desk.step.A, desk.v);
}

// The paper's step from what is seen at q and wished there, with damping and joint weights by the schemes;
// returns alpha.
SUPPLE_FN double damped_step(const Problem &problem, const Method &method, const double *q, double dt,
                             double *memory, const SolveScratch &desk, double *dq) {
  const int n = problem.n;
  const double alpha = damp(problem, method, q, desk.evaluation.e, desk.evaluation.J, dt, memory, desk.damp);
  bool wishes = false;
  for (int l = 0; l < n; ++l)
    wishes = wishes || desk.v[l] != 0;
  weighted_least_squares(desk.evaluation.J, desk.damp.Jw, desk.damp.w, problem.rows, n, desk.evaluation.e,
                         alpha, wishes ? desk.v : nullptr, method.bypass, desk.step, dq);
  remember(memory, dq, n);
  discard_tiny(problem, method, q, dt, dq);
  return alpha;
}

// One tick of the paper's controller: the raw step from q towards the goals after dt seconds, not clamped,
// with the damping and the joint weights (n) it took. `memory` holds what the schemes remember (see damp.h).
// `rows`, if not null, are the weights W_x of this tick, one for each row of the error.
SUPPLE_FN void damped_tick(const Problem &problem, const Method &method, const double *goals, const double *q,
                           double dt, double *memory, const SolveScratch &desk, double *dq, double *alpha,
                           double *w, const double *rows = nullptr) {
  wish_at(problem, method, goals, q, desk);
  evaluate(problem, q, goals, method.pull, desk.evaluation);
  for (int t = 0; t < problem.target_count && rows; ++t)
    for (int i = 0; i < problem.targets[t].rows; ++i) {
      const int row = problem.targets[t].first + i;
      const double scale = rows[row] / problem.targets[t].weight[i];
      desk.evaluation.e[row] *= scale;
      for (int l = 0; l < problem.n; ++l)
        desk.evaluation.J[row * problem.n + l] *= scale;
    }
  *alpha = damped_step(problem, method, q, dt, memory, desk, dq);
  for (int l = 0; l < problem.n; ++l)
    w[l] = desk.damp.w[l];
}

// One step of a method from q, which stays: the change it makes. False where the method finds none.
SUPPLE_FN bool one_step(const Problem &problem, const Method &method, const double *goals, const double *q,
                        const SolveScratch &desk, double *dq) {
  const int n = problem.n;
  if (method.way == by_descent) {
    for (int l = 0; l < n; ++l)
      desk.next[l] = q[l];
    descend(Descent{problem, goals, method.clamp, method.halvings}, method.rank, desk.next, desk.spare,
            desk.recent, desk.evaluation.axes, desk.evaluation.tips, desk.after);
    for (int l = 0; l < n; ++l)
      dq[l] = desk.next[l] - q[l];
    for (int b = 0; b < problem.ball_count; ++b) {
      const int k = problem.balls[b].index;
      const Vec<double> way = between(Vec<double>{q[k], q[k + 1], q[k + 2]},
                                      Vec<double>{desk.next[k], desk.next[k + 1], desk.next[k + 2]});
      dq[k] = way.x;
      dq[k + 1] = way.y;
      dq[k + 2] = way.z;
    }
  } else {
    wish_at(problem, method, goals, q, desk);
    evaluate(problem, q, goals, method.pull, desk.evaluation);
    if (method.clamp)
      hold_limits(problem, q, desk.evaluation.e, desk.evaluation.J, desk.v);
    for (int l = 0; l < n && method.locked; ++l) {
      if (!method.locked[l])
        continue;
      for (int i = 0; i < problem.rows; ++i)
        desk.evaluation.J[i * n + l] = 0;
      desk.v[l] = 0;
    }
    if (method.schemes)
      damped_step(problem, method, q, iteration_time, desk.memory, desk, dq);
    else if (!choose(problem, method, desk.evaluation.e, desk.evaluation.J, desk.v, desk.step, dq))
      return false;
  }
  for (int l = 0; l < n; ++l)
    dq[l] *= method.shorten;
  shorten_to(dq, n, method.longest);
  if (!method.halvings)
    return true;
  const double was = error_at(problem, goals, q, desk);
  for (int i = 0; i <= method.halvings; ++i) {
    move(problem, method.clamp, q, dq, desk.next);
    if (error_at(problem, goals, desk.next, desk) <= was)
      return true;
    for (int l = 0; l < n; ++l)
      dq[l] /= 2;
  }
  for (int l = 0; l < n; ++l)
    dq[l] = 0;
  return true;
}

// Counts a step in the report; false if it is none.
SUPPLE_FN bool count_step(const double *dq, int n, Report &report) {
  double square = 0, largest = 0;
  for (int l = 0; l < n; ++l)
    square += dq[l] * dq[l], largest = larger(largest, std::fabs(dq[l]));
  if (!(largest < 1e300))
    return false;
  report.path += std::sqrt(square);
  report.largest_step = larger(report.largest_step, largest);
  return true;
}

// Descent goes round corners slowly: while it helps, the way of the last sweep is gone on, each time twice as
// far but never farther than a step may be.
SUPPLE_FN void stride(const Problem &problem, const Method &method, const double *goals,
                      const SolveScratch &desk, int most, Report &report) {
  double error = error_at(problem, goals, desk.q, desk);
  for (int i = 0; i < 8 && report.iterations + 1 < most; ++i) {
    move(problem, method.clamp, desk.q, desk.dq, desk.next);
    const double further = error_at(problem, goals, desk.next, desk);
    if (!(further < error))
      return;
    error = further;
    count_step(desk.dq, problem.n, report);
    ++report.iterations;
    for (int l = 0; l < problem.n; ++l)
      desk.q[l] = desk.next[l], desk.dq[l] *= 2;
    shorten_to(desk.dq, problem.n, method.longest);
  }
}

// Out of a corner, first time: every joint that presses against a limit goes to the other side of its range.
// Next time, or where none presses (a straight arm that should fold), every joint does; and then every joint
// goes to its middle. False if no joint has two limits.
SUPPLE_FN bool escape(const Problem &problem, const double *goals, int time, const SolveScratch &desk) {
  const int n = problem.n;
  evaluate(problem, desk.q, goals, false, desk.evaluation);
  for (int all = time % 3 > 0; all < 2; ++all) {
    bool moved = false;
    for (int l = 0; l < n; ++l) {
      const double low = problem.lower[l], high = problem.upper[l], q = desk.q[l];
      double slope = 0;
      for (int i = 0; i < problem.rows; ++i)
        slope += desk.evaluation.J[i * n + l] * desk.evaluation.e[i];
      const bool pressed = (q <= low && slope < 0) || (q >= high && slope > 0);
      if (!(high - low < 1e300) || !(all || pressed))
        continue;
      desk.q[l] = time % 3 == 2 ? (low + high) / 2 : low + high - q;
      moved = true;
    }
    if (moved)
      return true;
  }
  return false;
}

// As near as it gets: from the best q on, damped steps that may only lower the error, the damping growing
// after a step that would raise it and shrinking after one that does not (Levenberg and Marquardt).
SUPPLE_FN void settle(const Problem &problem, const Method &method, const Stop &stop, const double *goals,
                      const SolveScratch &desk, Report &report) {
  const int n = problem.n;
  double error = error_at(problem, goals, desk.best, desk), damping = 0.1 * error;
  for (; report.iterations < stop.iterations; ++report.iterations) {
    evaluate(problem, desk.best, goals, false, desk.evaluation);
    for (int l = 0; l < n; ++l)
      desk.v[l] = 0;
    if (method.clamp)
      hold_limits(problem, desk.best, desk.evaluation.e, desk.evaluation.J, desk.v);
    least_squares(desk.evaluation.J, problem.rows, n, desk.evaluation.e, damping, nullptr, desk.step,
                  desk.dq);
    shorten_to(desk.dq, n, method.longest);
    move(problem, method.clamp, desk.best, desk.dq, desk.next);
    const double next = error_at(problem, goals, desk.next, desk);
    if (!(next < error)) {
      damping *= 4;
      if (!(damping < 1e6 * error))
        return;
      continue;
    }
    count_step(desk.dq, n, report);
    for (int l = 0; l < n; ++l)
      desk.best[l] = desk.next[l];
    const bool done = error - next < 1e-12 * error;
    error = next;
    damping *= 0.3;
    if (done)
      return;
  }
}

// whether what is seen is within tolerance of every goal
SUPPLE_FN bool within(const Problem &problem, const Stop &stop, const Evaluation &evaluation) {
  for (int t = 0; t < problem.target_count; ++t)
    if (!(evaluation.distance[t] <= stop.position && evaluation.angle[t] <= stop.angle))
      return false;
  return true;
}

// From start to the goals. `best` holds the q with the smallest weighted error that was visited.
SUPPLE_FN Report solve(const Problem &problem, const Method &method, const Stop &stop, const double *goals,
                       const double *start, const SolveScratch &desk) {
  const int n = problem.n;
  Report report{spent, 0, 0, 0};
  double least = 1e300, mark = 1e300;
  int waited = 0, escapes = 0;
  for (int l = 0; l < n; ++l)
    desk.dq[l] = desk.recent[l] = 0;
  desk.memory[0] = 0;
  move(problem, method.clamp, start, desk.dq, desk.q);
  for (;; ++report.iterations) {
    evaluate(problem, desk.q, goals, false, desk.evaluation);
    double error = 0;
    const bool there = within(problem, stop, desk.evaluation);
    for (int i = 0; i < problem.rows; ++i)
      error += desk.evaluation.e[i] * desk.evaluation.e[i];
    if (there || error < least || !report.iterations) {
      least = error;
      for (int l = 0; l < n; ++l)
        desk.best[l] = desk.q[l];
    }
    if (there) {
      report.outcome = arrived;
      return report;
    }
    if (report.iterations >= stop.iterations) {
      if (escapes)
        report.outcome = stuck; // it was, and what remained did not free it
      return report;
    }
    // progress is a hundredth of the error within the time that patience allows
    if (error < 0.99 * mark)
      mark = error, waited = 0;
    else
      ++waited;
    const bool given_up = waited > stop.patience || !(error < 1e300);
    if (given_up) {
      for (int l = 0; l < n; ++l)
        desk.next[l] = desk.q[l];
      if (escapes >= method.escapes || !escape(problem, goals, escapes, desk)) {
        report.outcome = stuck;
        if (method.way == by_damping && !method.pull && error < 1e300) {
          settle(problem, method, stop, goals, desk, report);
          evaluate(problem, desk.best, goals, false, desk.evaluation);
          if (within(problem, stop, desk.evaluation))
            report.outcome = arrived;
        }
        return report;
      }
      ++escapes;
      desk.memory[0] = 0; // nothing that was remembered holds there
      double square = 0;  // an escape is part of the way, but no step
      for (int l = 0; l < n; ++l)
        square += (desk.q[l] - desk.next[l]) * (desk.q[l] - desk.next[l]);
      report.path += std::sqrt(square);
      mark = 1e300;
      waited = 0;
      continue;
    }
    if (!one_step(problem, method, goals, desk.q, desk, desk.dq) || !count_step(desk.dq, n, report)) {
      report.outcome = stuck;
      return report;
    }
    move(problem, method.clamp, desk.q, desk.dq, desk.next);
    for (int l = 0; l < n; ++l)
      desk.q[l] = desk.next[l];
    if (method.way == by_descent)
      stride(problem, method, goals, desk, stop.iterations, report);
  }
}

// From a q that has arrived, as the wishes would have it for as long as the goals hold: steps with the wish,
// each brought back to the goals by steps without, until nothing moves. `best` holds the last q within
// tolerance.
SUPPLE_FN void refine(const Problem &problem, const Method &method, const Stop &stop, const double *goals,
                      const double *start, const SolveScratch &desk) {
  const int n = problem.n;
  Method plain = method;
  plain.preference_count = 0;
  plain.ask = nullptr;
  for (int l = 0; l < n; ++l)
    desk.best[l] = desk.q[l] = start[l];
  for (int k = 0; k < stop.iterations; ++k) {
    if (!one_step(problem, method, goals, desk.q, desk, desk.dq))
      return;
    move(problem, method.clamp, desk.q, desk.dq, desk.next);
    bool back = false;
    for (int i = 0; i < 8 && !back; ++i) {
      evaluate(problem, desk.next, goals, false, desk.evaluation);
      back = within(problem, stop, desk.evaluation);
      if (back)
        break;
      for (int l = 0; l < n; ++l)
        desk.q[l] = desk.next[l];
      if (!one_step(problem, plain, goals, desk.q, desk, desk.dq))
        return;
      move(problem, method.clamp, desk.q, desk.dq, desk.next);
    }
    if (!back)
      return;
    double moved = 0;
    for (int l = 0; l < n; ++l) {
      moved = larger(moved, std::fabs(desk.next[l] - desk.best[l]));
      desk.best[l] = desk.q[l] = desk.next[l];
    }
    if (moved < 1e-7)
      return;
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
