// The kernel that searches one goal with a warp for each row, or a block, of an arm of SUPPLE_JOINTS joints.
//
// SUPPLE_GOAL: the kind of the goal, an ArmGoal.
#include "supple/cuda/arm_lanes.h"
#include "supple/cuda/kernel.h"

using namespace supple;
constexpr int N = SUPPLE_JOINTS;
using SingleArm = Arm<float, N>;
using DoubleArm = Arm<double, N>;

// Few rows: each has its first restarts in a warp; those that need more have all of them in the whole block,
// one after another. Neighbours are in different blocks: hard rows are often together.
//
// Many rows, of lists: with `last` 0 those of `hard_rows` have their first restarts, and those that need more
// go to `left_rows`; with `last` 1 these have all restarts, in a block each if there are few.
SUPPLE_KERNEL(256, search_in_warps, SUPPLE_STRUCT(SolverBlock, block), SUPPLE_STRUCT(SingleArm, single_arm),
              SUPPLE_STRUCT(DoubleArm, double_arm), SUPPLE_STRUCT(GoalNumbers, goals),
              SUPPLE_STRUCT(ArmRows, rows), SUPPLE_STRUCT(Solutions, solutions), int first_restarts,
              int few_left, int last, long long count) {
  constexpr int warps = 8; // of a block
  using Team = LaneTeam<warps>;
  SUPPLE_SHARED int left_here[warps], left_here_count;
  Counters &counters = *rows.counters;
  const int *list = !rows.hard_rows ? nullptr : last ? rows.left_rows : rows.hard_rows;
  const int length = !list ? 0 : last ? counters.left_count : counters.hard_count;
  const long long blocks = (count + warps - 1) / warps;
  SUPPLE_BLOCKS(b) {
    SUPPLE_BLOCK_THREADS(k)
    if (k == 0)
      left_here_count = 0;
    SUPPLE_BARRIER;
    bool done = false;
    for (int turn = 0; !done; ++turn) {
      const bool again = !list && turn > 0;
      const Team team{list ? last && length <= few_left : again};
      SUPPLE_BLOCK_THREADS(k)
      if (Team::own == 1 || k % team.count() == 0) {
        long long row = k / 32 * blocks + b;
        if (list) {
          int next = 0;
          if (team.leads())
            next = take_one(last ? &counters.next_left : &counters.next_hard);
          next = team.from(0, [&](int) { return next; });
          done = next >= length;
          row = done ? count : list[next];
        } else if (again) {
          done = turn > left_here_count;
          row = done ? count : left_here[turn - 1];
        }
        if (row < count &&
            !search_row(block, single_arm, double_arm, goals, rows, solutions, row, last || again,
                        first_restarts, team) &&
            team.leads()) {
          if (list)
            rows.left_rows[take_one(&counters.left_count)] = int(row);
          else
            left_here[take_one(&left_here_count)] = int(row);
        }
      }
      if (!list) {
        SUPPLE_BARRIER;
      }
    }
  }
}
