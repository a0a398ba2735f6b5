// The search for any goals, in double precision: one row in one thread, or in the lanes of a warp.
#pragma once
#include "supple/cuda/lane_group.h"
#include "supple/cuda/rows.h"

namespace supple {
inline namespace SUPPLE_ISA {

// The scratch of a thread. Where lanes are threads, each has all of it: what all lanes share is then never
// written by one thread while another reads it.
template <class T>
struct GeneralScratch {
  RestartScratch<T> *restarts;
  double *solutions; // wanted x n
};
template <class T>
SUPPLE_FN void lay_out(GeneralScratch<T> &scratch, ScratchLayout &layout, const Problem &problem,
                       int wanted) {
  layout.array(scratch.restarts, 1);
  layout.array(scratch.solutions, std::size_t(wanted) * problem.n);
}
template <class T>
SUPPLE_FN std::size_t general_scratch_bytes(const Problem &problem, int wanted) {
  ScratchLayout layout = ScratchLayout::count();
  GeneralScratch<T> scratch;
  RestartScratch<T> restarts;
  lay_out(scratch, layout, problem, wanted);
  lay_out(restarts, layout, problem);
  return layout.bytes();
}

// One row; the solutions go to rows.q, those that are not found repeat the first. `most_restarts`: 0, or
// fewer than the search has, where a row has had many already.
template <class T>
SUPPLE_FN void solve_row(const SolverBlock &block, const Rows &rows, long long row, int most_restarts,
                         bool leads, void *memory) {
  const Problem &problem = block.problem;
  ScratchLayout layout = ScratchLayout::place(memory);
  GeneralScratch<T> scratch;
  lay_out(scratch, layout, problem, rows.wanted);
  lay_out(*scratch.restarts, layout, problem);
  Search search = block.search;
  if (most_restarts && most_restarts < search.max_restarts)
    search.max_restarts = most_restarts;
  const Request request = request_of_row(block, rows, row, rows.wanted);
  int count = 0;
  const Found found = search_one(problem, search, request, *scratch.restarts, scratch.solutions, count);
  if (!leads)
    return;
  const int written = (count > 1 ? count : 1) * problem.n;
  for (int i = 0; i < written; ++i)
    rows.q[row * rows.wanted * problem.n + i] = scratch.solutions[i];
  rows.outcome[row] = found.outcome;
  rows.iterations[row] = found.iterations;
  rows.restarts[row] = found.restarts;
  if (rows.solutions)
    rows.solutions[row] = count;
}

// The first restarts of one row, without a start; false if none arrives. Which solution wins is as in
// search_one.
template <class T>
SUPPLE_FN bool begin_solve(const SolverBlock &block, const Rows &rows, long long row, void *memory) {
  const Problem &problem = block.problem;
  const Search &search = block.search;
  if (search.max_iterations < SearchConstants::first_batch * (SearchConstants::restart_steps + 1))
    return false; // search_one counts them
  ScratchLayout layout = ScratchLayout::place(memory);
  GeneralScratch<T> scratch;
  lay_out(scratch, layout, problem, rows.wanted);
  lay_out(*scratch.restarts, layout, problem);
  const Request request = request_of_row(block, rows, row, 1);
  const int first = first_batch_for(search, request);
  SolveState state{first, first};
  scratch.restarts->step.deadline = &request.deadline;
  scratch.restarts->candidate_count = 0;
  begin_lanes(problem, search, request, state, *scratch.restarts);
  while (state.active) {
    const Advance<T> step = advance(problem, search, state.active, *scratch.restarts);
    collect_lanes(problem, search, request, step, state, *scratch.restarts, scratch.solutions);
    if (state.count && state.decided == state.whole_batch())
      break;
    refill_lanes(problem, search, request, step, state, *scratch.restarts);
  }
  if (!state.count)
    return false;
  rows.outcome[row] = arrived;
  rows.iterations[row] = state.winner_steps;
  rows.restarts[row] = state.winner + 1;
  for (int l = 0; l < problem.n; ++l)
    rows.q[row * problem.n + l] = scratch.solutions[l];
  return true;
}

// Writes the solutions of a row; `axes`: scratch for the longest chain.
SUPPLE_FN void finish_row(const SolverBlock &block, const Numbers &starts, const Rows &rows, long long row,
                          const Solutions &solutions, Axis<double> *axes) {
  const Problem &problem = block.problem;
  const int outcome = rows.outcome[row], found = rows.solutions ? rows.solutions[row] : 1;
  for (int i = 0; i < rows.wanted; ++i) {
    const long long solution = row * rows.wanted + i;
    set_others(block, starts, row, solution * block.dof, solutions);
    RowError error{0, 0};
    if (outcome != invalid) {
      double *values = rows.q + solution * problem.n;
      if (i > 0 && i >= found)
        for (int l = 0; l < problem.n; ++l)
          values[l] = rows.q[row * rows.wanted * problem.n + l];
      set_values(block, solution * block.dof, values, solutions);
      error = row_error(problem, rows.goals + row * 12 * problem.target_count, values, axes);
    }
    solutions.outcome[solution] =
        i > 0 && i >= found && outcome != invalid ? int(no_more) : judged(block.search, outcome, error);
    solutions.iterations[solution] = outcome == invalid ? 0 : rows.iterations[row];
    solutions.restarts[solution] = outcome == invalid ? 0 : rows.restarts[row];
    solutions.position_error[solution] = error.position;
    solutions.angle_error[solution] = error.angle;
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
