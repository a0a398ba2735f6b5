// The kernel that searches one frame of an arm of SUPPLE_JOINTS joints with a warp for each row.
#include "supple/cuda/arm_lanes.h"
#include "supple/cuda/kernel.h"

using namespace supple;
constexpr int N = SUPPLE_JOINTS;
using SingleArm = Arm<float, N>;
using DoubleArm = Arm<double, N>;

// Groups of 32 lanes take rows from the list of hard ones; without a list all rows, whose goals they read.
SUPPLE_KERNEL(128, search_in_warps, const SolverBlock *block, SUPPLE_STRUCT(SingleArm, single_arm),
              SUPPLE_STRUCT(DoubleArm, double_arm), SUPPLE_STRUCT(Numbers, position),
              SUPPLE_STRUCT(Numbers, orientation), SUPPLE_STRUCT(Rows, rows), const int *hard_rows,
              int *left_rows, Counters *counters, long long count) {
  using L = RowLanes<32>;
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
