// The table of local methods that each instruction set offers, and the jobs it takes.
#pragma once
#include <cstddef>

#include "supple/local/types.h"

// many problems of one kind: goals are 12 numbers a target, start and q are n numbers, for each of the rows
struct SolveJob {
  const supple::Problem *problem;
  const supple::Method *method;
  supple::Stop stop;
  const double *goals, *start;
  double *q;
  supple::Report *reports;
  // Where not negative, each row starts from where the one before it ended, moved by this part of the way to
  // its own start.
  double pull = -1;
};

// one raw step from q (n) after dt seconds, with the memory of the schemes; row_weights (rows) may be null
struct DampJob {
  const supple::Problem *problem;
  const supple::Method *method;
  const double *goals, *q, *row_weights;
  double dt;
  double *memory, *dq, *alpha, *weights;
};

struct LocalKernels {
  // bytes for one solve; the caller aligns them to 64
  std::size_t (*scratch)(const supple::Problem &, const supple::Method &);
  void (*solve)(const SolveJob &, long long begin, long long end, void *scratch);
  // from q that reach their goals along the preferences, while the goals hold
  void (*refine)(const SolveJob &, long long begin, long long end, void *scratch);
  // one step from q; false where the method finds none
  bool (*step)(const supple::Problem &, const supple::Method &, const double *goals, const double *q,
               double *dq, void *scratch);
  // the preferred step (n) at q
  void (*prefer)(const supple::Problem &, const supple::Method &, const double *goals, const double *q,
                 double *preferred, void *scratch);
  // one tick of the damping schemes: the change of q, the damping and the joint weights; see damped_tick
  void (*tick)(const DampJob &, void *scratch);
  // weighted error (rows) and Jacobian (rows x n), distance and angle of each target
  void (*evaluate)(const supple::Problem &, const double *q, const double *goals, bool alternative, double *e,
                   double *J, double *distance, double *angle, void *scratch);
};
