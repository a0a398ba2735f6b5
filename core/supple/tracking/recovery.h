// The way home: joint values that reach the command, sought from where the arm last followed it, one step a
// tick.
//
// An arm that lost the command can stand in a corner, as near as it gets from there, long after the command
// is back in reach. Another q knows: one that starts where the arm was well and steps towards the command as
// a solver would.
#pragma once
#include "supple/local/iterate.h"
#include "supple/tracking/types.h"

namespace supple {
inline namespace SUPPLE_ISA {

enum Seeking : int { seeks_not, seeks, found };

// Seeks one step on; `rest` is where to begin when `anchor` leads nowhere, `size` the natural unit of each
// joint, and `near` the weighted error that has found it.
SUPPLE_FN void seek(const Problem &problem, const double *goals, const double *rest, const double *size,
                    double near, const Home &home, const HomeDesk &desk) {
  const int n = problem.n;
  double &state = *home.state, &steps = home.state[1], &start = home.state[2];
  if (state == seeks_not) {
    for (int i = 0; i < n; ++i)
      home.q[i] = start == 0 ? home.anchor[i] : rest[i];
    state = seeks;
    steps = 0;
  }
  for (int i = 0; i < n; ++i)
    home.was[i] = home.q[i], desk.v[i] = 0;
  const Evaluation evaluation{desk.e,
                              desk.J,
                              desk.full,
                              static_cast<Frame<double> *>(desk.tips),
                              static_cast<Axis<double> *>(desk.axes),
                              desk.distance,
                              desk.angle};
  const StepScratch step{desk.A, desk.V, desk.b, desk.c, desk.free, desk.order};
  evaluate(problem, home.q, goals, false, evaluation);
  double error = 0;
  for (int i = 0; i < problem.rows; ++i)
    error += desk.e[i] * desk.e[i];
  // while the command moves, a step a tick stays behind by a tick
  if (error < near * near)
    state = found;
  else if (state == found && error > 4 * near * near)
    state = seeks, steps = 0;
  hold_limits(problem, home.q, desk.e, desk.J, desk.v);
  for (int i = 0; i < problem.rows; ++i)
    for (int l = 0; l < n; ++l)
      desk.J[i * n + l] *= size[l];
  least_squares(desk.J, problem.rows, n, desk.e, 0.02 * error + 1e-12, nullptr, step, desk.dq);
  shorten_to(desk.dq, n, 1.0);
  for (int l = 0; l < n; ++l)
    desk.dq[l] *= size[l];
  move(problem, true, home.was, desk.dq, home.q);
  if (state == seeks && ++steps > 20) {
    state = seeks_not;
    start = 1 - start;
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
