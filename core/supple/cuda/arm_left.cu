// The kernel that searches one goal with all restarts, for the rows that arm_warps.cu leaves, of an arm of
// SUPPLE_JOINTS joints.
//
// SUPPLE_GOAL: the kind of the goal, an ArmGoal.
#include "supple/cuda/arm_lanes.h"
#include "supple/cuda/kernel.h"

using namespace supple;
constexpr int N = SUPPLE_JOINTS;
using SingleArm = Arm<float, N>;
using DoubleArm = Arm<double, N>;

// The rows that are left: if there are few, each has a whole block.
SUPPLE_KERNEL(256, search_left_rows, const SolverBlock *block, SUPPLE_STRUCT(SingleArm, single_arm),
              SUPPLE_STRUCT(DoubleArm, double_arm), SUPPLE_STRUCT(GoalNumbers, goals),
              SUPPLE_STRUCT(ArmRows, rows), SUPPLE_STRUCT(Solutions, solutions), int first_restarts, int few_left,
              long long) {
  SUPPLE_WAIT_FOR_EARLIER;
  using Team = LaneTeam<8>; // warps of a block
  const int length = rows.counters->left_count;
  const Team team{length <= few_left};
  SUPPLE_THREADS(t)
  if (Team::own == 1 || t % team.count() == 0)
    search_rows<true>(*block, single_arm, double_arm, goals, rows, solutions, first_restarts, team, t,
                      rows.left_rows, length);
  SUPPLE_BARRIER;
  if (is_last_block(&rows.counters->blocks_done))
    *rows.counters = Counters{}; // for the next solve
}
