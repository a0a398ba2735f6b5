// The kernel that searches one goal with a warp for each row, for the first restarts of an arm of
// SUPPLE_JOINTS joints.
//
// SUPPLE_GOAL: the kind of the goal, an ArmGoal.
#include "supple/cuda/arm_lanes.h"
#include "supple/cuda/kernel.h"

using namespace supple;
constexpr int N = SUPPLE_JOINTS;
using SingleArm = Arm<float, N>;
using DoubleArm = Arm<double, N>;

// Each row in one warp.
SUPPLE_KERNEL(256, search_in_warps, const SolverBlock *block, SUPPLE_STRUCT(SingleArm, single_arm),
              SUPPLE_STRUCT(DoubleArm, double_arm), SUPPLE_STRUCT(GoalNumbers, goals),
              SUPPLE_STRUCT(ArmRows, rows), SUPPLE_STRUCT(Solutions, solutions), int first_restarts, int,
              long long count) {
  SUPPLE_LET_NEXT_BEGIN;
  using Team = LaneTeam<1>;
  const Team team{false};
  const int *list = rows.hard_rows;
  const int length = list ? rows.counters->hard_count : int(count);
  SUPPLE_THREADS(t)
  if (Team::own == 1 || t % team.count() == 0)
    search_rows<false>(*block, single_arm, double_arm, goals, rows, solutions, first_restarts, team, t, list,
                       length);
}
