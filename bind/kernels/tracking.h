// The table of tracking functions that each instruction set offers, and the rows that they read and write.
#pragma once
#include <cstddef>

#include "supple/tracking/types.h"

// One tick of many arms: goals (or twists), measured joints and results are rows, one an arm.
struct TickJob {
  const supple::Tracking *tracking;
  const supple::CommandOptions *options; // one a target
  supple::Stop tolerance;
  double *memory;         // arms x TrackingKernels::memory
  const double *goals;    // arms x targets x 12, or null
  const double *frames;   // or instead, of a single target, arms x 16
  const double *twists;   // arms x targets x 6, or null
  const double *measured; // arms x n, or null
  const double *stamps;   // one an arm, or null
  double dt;
  const supple::ExternalStep *external; // of a single arm, or null
  const double *preferred;              // n, of a single arm, or null
  double *results;                      // arms x result_size(n, targets)
};

// the single numbers of a result, in the order in which Python reads them
struct ResultNumbers {
  double status, damping, smallest_singular_value, fold, near_singular, bounded, regular, lag, reducible;
  double target, direction[6];
};
constexpr int result_number_count = sizeof(ResultNumbers) / sizeof(double);

// the parts of a result row, in their order; the first four are rows of n
struct ResultRow {
  double *q, *velocity, *joint_weights, *sides;
  double *error;          // 6 a target
  double *goal;           // 12 a target
  ResultNumbers *numbers; // the last
};
constexpr int result_joint_rows = 4;
inline long long result_size(int n, int targets) {
  return (long long)result_joint_rows * n + 18LL * targets + result_number_count;
}
inline ResultRow result_row(double *row, int n, int targets) {
  double *error = row + result_joint_rows * n, *goal = error + 6 * targets;
  return {row,
          row + n,
          row + 2 * n,
          row + 3 * n,
          error,
          goal,
          reinterpret_cast<ResultNumbers *>(goal + 12 * targets)};
}

struct TrackingKernels {
  long long (*memory)(const supple::Tracking &);    // doubles for one arm, 64-byte aligned by the caller
  std::size_t (*scratch)(const supple::Tracking &); // bytes, 64-byte aligned by the caller
  void (*begin)(const supple::Tracking &, double *memory, const double *q);
  const double *(*values)(const supple::Tracking &, double *memory); // n: where the joints of an arm are
  void (*tick)(const TickJob &, long long begin, long long end, void *scratch);
};
