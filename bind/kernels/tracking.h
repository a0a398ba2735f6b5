// The table of the tracker's native verbs that each instruction set offers.
#pragma once
#include <cstddef>

#include "supple/tracking/command.h"
#include "supple/tracking/types.h"

// one tick of many arms: goals (or twists), measured and what is told are rows, one an arm
struct TickJob {
  const supple::Tracking *tracking;
  const supple::CommandOptions *options; // one a target
  supple::Stop near;
  double *memory;         // arms x memory doubles
  const double *goals;    // arms x targets x 12, or null
  const double *frames;   // or instead, of a single target, arms x 16
  const double *twists;   // arms x targets x 6, or null
  const double *measured; // arms x n, or null
  const double *stamps;   // one an arm, or null
  double dt;
  const supple::Steering *steering; // of a single arm, or null
  double *told;                     // arms x told_size(n, targets)
};

// what is told of an arm, in doubles: q, velocity, weights, sides (n each), error (6 a target), goal (12 a
// target), and these
enum TickNumber : int {
  told_state,
  told_damping,
  told_least,
  told_fold,
  told_weak,
  told_bounded,
  told_quick,
  told_lag,
  told_reducible,
  told_target,
  told_way,
  tick_numbers = told_way + 6
};
inline long long told_size(int n, int targets) { return 4LL * n + 18LL * targets + tick_numbers; }

struct Ticks {
  const char *name;
  long long (*memory)(const supple::Tracking &);    // doubles for one arm
  std::size_t (*scratch)(const supple::Tracking &); // bytes, 64-byte aligned by the caller
  void (*begin)(const supple::Tracking &, double *memory, const double *q);
  const double *(*values)(const supple::Tracking &, double *memory); // n: where the joints of an arm are
  void (*tick)(const TickJob &, long long begin, long long end, void *scratch);
};

const Ticks &ticks(); // of the instruction set in use
