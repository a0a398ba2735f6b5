// The table of forward kinematics that each instruction set offers, and the jobs it takes.
#pragma once
#include <cstddef>

#include "supple/model/types.h"

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
  const double *of_frames;  // n x 16: gradients by the frames' entries
  double *gradients;        // n x dof: the same by the joints, a ball's about its child's axes
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

// Joint values of n rows, two by two: the step from the first to the second, or the first after the second, a
// step.
struct PairJob {
  bool integrates;
  const int *balls; // columns at which rotation vectors begin
  int ball_count, dof;
  const double *first, *second; // n x dof
  double *out;                  // n x dof
};

struct ForwardKernels {
  int width;                                              // doubles in a vector
  bool (*finite)(const double *numbers, long long count); // whether all are
  // bytes for a tree of that size; the caller aligns them to 64
  std::size_t (*scratch)(int count, int dof);
  // rows begin to end of a job, as scalars or in lanes
  void (*chain)(const ChainJob &, long long begin, long long end, void *scratch);
  void (*tree)(const TreeJob &, long long begin, long long end, void *scratch);
  void (*pairs)(const PairJob &, long long begin, long long end);
};
