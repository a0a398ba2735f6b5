// Kernels of the search for one goal of an arm of SUPPLE_JOINTS joints, for many rows: begin_rows, descend,
// polish_rows, then search_in_warps (arm_warps.cu) for the hard ones. Lists and their lengths stay on the
// device.
//
// SUPPLE_GOAL: the kind of the goal, an ArmGoal.
#include "supple/cuda/arm_search.h"
#include "supple/cuda/kernel.h"

using namespace supple;
constexpr int N = SUPPLE_JOINTS;
using SingleArm = Arm<float, N>;
using DoubleArm = Arm<double, N>;
constexpr int threads = 128, seed_lanes = Table::cell_samples;

// Each thread reads the goal of one row; then all work out the seeds of one row after another, in groups.
SUPPLE_KERNEL(128, begin_rows, SUPPLE_STRUCT(SolverBlock, block), SUPPLE_STRUCT(SingleArm, arm),
              SUPPLE_STRUCT(GoalNumbers, goals), SUPPLE_STRUCT(ArmRows, rows), long long count) {
  using L = RowLanes<seed_lanes>;
  SUPPLE_SHARED LaneKey keys[threads];
  SUPPLE_SHARED bool needs_seeds[threads];
  SUPPLE_BLOCKS(b) {
    const long long first = b * threads;
    SUPPLE_BLOCK_THREADS(k)
    needs_seeds[k] = first + k < count && begin_row(block, rows, goals, first + k, keys[k]);
    SUPPLE_BARRIER;
    SUPPLE_BLOCK_THREADS(k)
    for (int i = k / seed_lanes; i < threads && k % L::own == 0; i += threads / seed_lanes)
      if (needs_seeds[i])
        seeds_in_lanes<N, seed_lanes>(block, arm, keys[i], rows.seed_count,
                                      [&](int, int seed, const float *q) {
                                        SUPPLE_UNROLL(16)
                                        for (int j = 0; j < N; ++j)
                                          rows.seeds[((first + i) * rows.seed_count + seed) * N + j] = q[j];
                                      });
    SUPPLE_BARRIER;
  }
}

SUPPLE_KERNEL(128, descend, SUPPLE_STRUCT(SingleArm, arm), SUPPLE_STRUCT(ArmRows, rows), long long count) {
  SUPPLE_THREADS(t) {
    (void)t;
    descend_rows(arm, rows, int(count));
  }
}

SUPPLE_KERNEL(128, polish_rows, SUPPLE_STRUCT(SolverBlock, block), SUPPLE_STRUCT(SingleArm, single_arm),
              SUPPLE_STRUCT(DoubleArm, double_arm), SUPPLE_STRUCT(ArmRows, rows),
              SUPPLE_STRUCT(Solutions, solutions), long long count) {
  SUPPLE_THREADS(row)
  if (row < count)
    polish_row(block, single_arm, double_arm, rows, row, solutions);
}
