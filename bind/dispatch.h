// The table of native verbs that each instruction set offers: plain data in, plain data out.
#pragma once
#include <cstddef>

#include "supple/local/types.h"

// the joint values of n rows, and what is wanted of one link for each; null pointers are not wanted
struct ChainJob {
  bool single; // one row in all: scalars instead of lanes
  const supple::Chain *chain;
  const int *columns; // the values of q that move the link
  int column_count;
  const double *q;     // n x dof
  const double *point; // a point in the link's axes for each row, or null for its origin
  long long point_step;
  bool turned;              // Jacobian in the link's axes
  double *frames;           // n x 16
  double *jacobians;        // n x 6 x dof
  double *manipulability;   // n
  int first_row, row_count; // of the Jacobian, for manipulability
};

// the frames of all links, for n rows of joint values
struct TreeJob {
  bool single;
  const supple::Node *nodes;
  const supple::Tip *tips;
  int count, dof, tip_count;
  const double *q; // n x dof
  double *frames;  // n x tips x 16
};

// many problems of one kind: goals are 12 numbers a target, start and q are n numbers, for each of the rows
struct SolveJob {
  const supple::Problem *problem;
  const supple::Method *method;
  supple::Stop stop;
  const double *goals, *start;
  double *q;
  supple::Report *reports;
};

// one raw step from q (n) after dt seconds, with the memory of the schemes; row_weights (rows) may be null
struct DampJob {
  const supple::Problem *problem;
  const supple::Method *method;
  const double *goals, *q, *row_weights;
  double dt;
  double *memory, *dq, *alpha, *weights;
};

struct Kernels {
  const char *name;
  int width;
  bool (*finite)(const double *numbers, long long count); // whether all are
  // working memory in bytes for a tree of that size, 64-byte aligned by the caller
  std::size_t (*scratch)(int count, int dof);
  // rows begin to end of a job, through scalars or through lanes
  void (*chain)(const ChainJob &, long long begin, long long end, void *scratch);
  void (*tree)(const TreeJob &, long long begin, long long end, void *scratch);
  std::size_t (*solve_scratch)(const supple::Problem &, const supple::Method &);
  void (*solve)(const SolveJob &, long long begin, long long end, void *scratch);
  void (*refine)(const SolveJob &, long long begin, long long end,
                 void *scratch); // as the wishes would have it
  // one step from q; false where the method finds none
  bool (*step)(const supple::Problem &, const supple::Method &, const double *goals, const double *q,
               double *dq, void *scratch);
  // one tick of the damping schemes: the change of q, the damping and the joint weights; see damped_tick
  void (*tick)(const DampJob &, void *scratch);
  // weighted error (rows) and Jacobian (rows x n), distance and angle of each target
  void (*look)(const supple::Problem &, const double *q, const double *goals, bool pull, double *e, double *J,
               double *distance, double *angle, void *scratch);
};

// the instruction sets in this build that this machine has, worst first, and the one in use
const Kernels *const *all_kernels(int &count);
const Kernels &kernels();
bool use_kernels(const char *name); // null: the best; false if there is none of that name
