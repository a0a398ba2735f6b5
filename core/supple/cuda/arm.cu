// Kernels of the search for one frame of an arm of SUPPLE_JOINTS joints.
//
// Many rows: begin_rows, descend, polish_rows, search_in_warps for the hard ones, then the general
// search for what is left, and finish_arm. Few rows: search_in_warps, the general search, finish_arm. Lists and
// their lengths stay on the device.
#include "supple/cuda/arm_search.h"
#include "supple/cuda/kernel.h"

using namespace supple;
constexpr int N = SUPPLE_JOINTS;
using SingleArm = Arm<float, N>;
using DoubleArm = Arm<double, N>;

// Counters of a solve, all 0 when it begins.
struct Counters {
  int next_row, hard_count, next_hard, left_count, next_left;
};

// Goals: positions, and orientations whose lines and numbers have the strides given; seeds (count, seed_count,
// N).
SUPPLE_KERNEL(128, begin_rows, const SolverBlock *block, SUPPLE_STRUCT(SingleArm, arm),
              SUPPLE_STRUCT(Numbers, position), SUPPLE_STRUCT(Numbers, orientation), SUPPLE_STRUCT(Rows, rows),
              int seed_count, float *seeds, long long count) {
  SUPPLE_THREADS(row)
  if (row < count)
    begin_row(*block, arm, rows, position, orientation, row, seed_count, seeds + row * seed_count * N);
}

SUPPLE_KERNEL(128, descend, SUPPLE_STRUCT(SingleArm, arm), SUPPLE_STRUCT(Rows, rows), int seed_count,
              const float *seeds, float *near_q, Counters *counters, long long count) {
  SUPPLE_THREADS(t) {
    (void)t;
    descend_rows(arm, rows, int(count), seed_count, seeds, near_q, &counters->next_row);
  }
}

SUPPLE_KERNEL(128, polish_rows, const SolverBlock *block, SUPPLE_STRUCT(DoubleArm, arm),
              SUPPLE_STRUCT(Rows, rows), const float *near_q, int *hard_rows, Counters *counters,
              long long count) {
  SUPPLE_THREADS(row)
  if (row < count)
    polish_row(*block, arm, rows, row, near_q, hard_rows, &counters->hard_count);
}

// Groups of 32 lanes take rows from the list of hard ones; without a list all rows, whose goals they read.
SUPPLE_KERNEL(128, search_in_warps, const SolverBlock *block, SUPPLE_STRUCT(SingleArm, single_arm),
              SUPPLE_STRUCT(DoubleArm, double_arm), SUPPLE_STRUCT(Numbers, position),
              SUPPLE_STRUCT(Numbers, orientation), SUPPLE_STRUCT(Rows, rows), const int *hard_rows,
              int *left_rows, Counters *counters, long long count) {
  using L = Lanes<32>;
  SUPPLE_THREADS(t)
  for (bool working = t % L::own == 0; working;) {
    int next = 0;
    if (L::leads())
      next = take_one(&counters->next_hard);
    next = L::from(&next, 0, 0);
    working = next < (hard_rows ? counters->hard_count : count);
    if (!working)
      break;
    const long long row = hard_rows ? hard_rows[next] : next;
    double goal[12];
    bool valid = true;
    if (hard_rows)
      for (int i = 0; i < 12; ++i)
        goal[i] = rows.goals[12 * row + i];
    else
      valid = read_goal_row(block->problem.targets[0], position, orientation, Numbers{}, row, goal);
    if (L::leads() && !hard_rows) {
      for (int i = 0; i < 12; ++i)
        rows.goals[12 * row + i] = goal[i];
      rows.outcome[row] = valid ? pending : int(invalid);
    }
    if (valid)
      search_row<N, 32>(*block, single_arm, double_arm, rows, goal, row, left_rows, &counters->left_count);
  }
}

SUPPLE_KERNEL(128, finish_arm, const SolverBlock *block, SUPPLE_STRUCT(DoubleArm, arm),
              SUPPLE_STRUCT(Rows, rows), SUPPLE_STRUCT(Answers, answers), long long count) {
  SUPPLE_THREADS(row)
  if (row < count)
    finish_arm_row(*block, arm, rows, row, answers);
}
