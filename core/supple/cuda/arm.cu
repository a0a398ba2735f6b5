// Kernels of the search for one frame of an arm of SUPPLE_JOINTS joints.
//
// Many rows: begin_rows, descend, polish_rows, search_in_warps (arm_warps.cu) for the hard ones, then the
// general search for what is left, and finish_arm. Few rows: search_in_warps, the general search, finish_arm.
// Lists and their lengths stay on the device.
#include "supple/cuda/arm_search.h"
#include "supple/cuda/kernel.h"

using namespace supple;
constexpr int N = SUPPLE_JOINTS;
using SingleArm = Arm<float, N>;
using DoubleArm = Arm<double, N>;

// Goals: positions, and orientations whose lines and numbers have the strides given; seeds
// (seed_count, N, count).
SUPPLE_KERNEL(128, begin_rows, const SolverBlock *block, SUPPLE_STRUCT(SingleArm, arm),
              SUPPLE_STRUCT(Numbers, position), SUPPLE_STRUCT(Numbers, orientation),
              SUPPLE_STRUCT(Rows, rows), int seed_count, float *seeds, long long count) {
  SUPPLE_THREADS(row)
  if (row < count)
    begin_row(*block, arm, rows, position, orientation, row, count, seed_count, seeds);
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

SUPPLE_KERNEL(128, finish_arm, const SolverBlock *block, SUPPLE_STRUCT(DoubleArm, arm),
              SUPPLE_STRUCT(Rows, rows), SUPPLE_STRUCT(Answers, answers), long long count) {
  SUPPLE_THREADS(row)
  if (row < count)
    finish_arm_row(*block, arm, rows, row, answers);
}
