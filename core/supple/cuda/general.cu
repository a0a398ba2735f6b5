// Kernels of the search for any goals: read_goals for each target, read_starts, solve_rows or solve_left,
// finish_rows.
//
// SUPPLE_AXES: of the longest chain.
#include "supple/cuda/general_search.h"
#include "supple/cuda/kernel.h"
#include "supple/cuda/lanes.h"

using namespace supple;

#if defined(__CUDACC__)
using WarpNumber = LaneGroup<double, 32>;
#else
using WarpNumber = Pack<double, 32>;
#endif

// One goal of each row: its position, orientation and direction, each given or not.
SUPPLE_KERNEL(128, read_goals, const SolverBlock *block, int target, SUPPLE_STRUCT(Numbers, position),
              SUPPLE_STRUCT(Numbers, orientation), SUPPLE_STRUCT(Numbers, direction),
              SUPPLE_STRUCT(Rows, rows), long long count) {
  SUPPLE_THREADS(row)
  if (row < count) {
    const Problem &problem = block->problem;
    const bool valid =
        read_goal_row(problem.targets[target].has_direction, problem.targets[target], position, orientation,
                      direction, row, rows.goals + 12 * (row * problem.target_count + target));
    if (target == 0 || !valid)
      rows.outcome[row] = valid ? pending : int(invalid);
  }
}

SUPPLE_KERNEL(128, read_starts, const SolverBlock *block, SUPPLE_STRUCT(Numbers, starts),
              SUPPLE_STRUCT(Rows, rows), long long count) {
  SUPPLE_THREADS(row)
  if (row < count && !read_start_row(*block, starts, row, rows.starts + row * block->problem.n))
    rows.outcome[row] = invalid;
}

// A row in each thread; threads take row after row. Each has `scratch_bytes` of scratch.
//
// With a list of rows that are left, a row has only its first restarts here; one that needs more goes to the
// list: a thread would run hundreds of restarts one after another while all others wait.
SUPPLE_KERNEL(128, solve_rows, const SolverBlock *block, SUPPLE_STRUCT(Rows, rows), char *scratch,
              long long scratch_bytes, int *next_row, int *left_rows, int *left_count, long long count) {
  SUPPLE_THREADS(t)
  for (long long row = take_one(next_row); row < count; row = take_one(next_row)) {
    if (rows.outcome[row] != pending)
      continue;
    if (!left_rows)
      solve_row<double>(*block, rows, row, 0, true, scratch + t * scratch_bytes);
    else if (!begin_solve<double>(*block, rows, row, scratch + t * scratch_bytes))
      left_rows[take_one(left_count)] = int(row);
  }
}

// A row in each group of 32 threads: the rows of a list, or all if it is null.
SUPPLE_KERNEL(128, solve_in_warps, const SolverBlock *block, SUPPLE_STRUCT(Rows, rows), const int *list,
              const int *list_count, int most_restarts, char *scratch, long long scratch_bytes, int *next_row,
              long long count) {
  using L = RowLanes<32>;
  SUPPLE_THREADS(t)
  for (bool working = t % L::own == 0; working;) {
    int next = 0;
    if (L::leads())
      next = take_one(next_row);
    next = L::from(&next, 0, 0);
    working = next < (list ? *list_count : count);
    const long long row = working && list ? list[next] : next;
    if (working && rows.outcome[row] == pending)
      solve_row<WarpNumber>(*block, rows, row, most_restarts, L::leads(), scratch + t * scratch_bytes);
  }
}

SUPPLE_KERNEL(128, finish_rows, const SolverBlock *block, SUPPLE_STRUCT(Numbers, starts),
              SUPPLE_STRUCT(Rows, rows), SUPPLE_STRUCT(Solutions, solutions), long long count) {
  Axis<double> axes[SUPPLE_AXES + 1];
  SUPPLE_THREADS(row)
  if (row < count)
    finish_row(*block, starts, rows, row, solutions, axes);
}
