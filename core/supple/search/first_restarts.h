// The first restarts of a solve for one frame, in float: most goals need no others.
//
// They run side by side, and each that arrives waits until all before it have failed: the earliest wins. What
// it found is finished in double. If none arrives the search begins again in double.
#pragma once
#include "supple/search/search.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Whether the first restarts of a solve run in float: with a start, several goals or several solutions,
// solutions are compared with each other, and little budget ends the first restarts.
SUPPLE_FN bool begins_in_float(const Problem &problem, const Search &search, const double *start,
                               int wanted) {
  return search.uses_frame_step && !start && wanted == 1 && problem.n <= many_joints &&
         search.max_iterations >= 2 * SearchConstants::float_iterations;
}

// The restarts of one solve, as bits.
struct FirstState {
  int restarts = 0; // at most so many
  int begun = 0;    // so many
  int active = 0;   // lanes with a restart
  int waiting = 0;  // restarts that arrived in float
  int failed = 0;
  int earliest = 0; // of the restarts that have not failed
  int steps[SearchConstants::first_batch] = {};
};

// Begins restarts in free lanes, of the first `lanes`. Those after one that waits are not needed unless it
// fails.
template <class T>
SUPPLE_FN void begin_first_restarts(const Problem &problem, const Search &search, const Request &request,
                                    int lanes, FirstState &state, RestartScratch<T> &scratch) {
  for (int lane = 0; lane < lanes && state.begun < state.restarts && !state.waiting; ++lane) {
    if (state.active >> lane & 1)
      continue;
    begin_restart(problem, search, request, state.begun++, lane, scratch.seeds[0], scratch);
    state.active |= 1 << lane;
  }
}

// Finishes the earliest restart while it waits; true: it arrives, and its joint values are in `solution` (n).
template <class T>
SUPPLE_FN bool take_earliest(const Problem &problem, const Search &search, const Request &request,
                             FirstState &state, double *solution, RestartScratch<T> &scratch) {
  for (; (state.waiting | state.failed) >> state.earliest & 1; ++state.earliest) {
    const int bit = 1 << state.earliest;
    if (!(state.waiting & bit))
      continue;
    const double *row = scratch.candidates + state.earliest * problem.n;
    for (int l = 0; l < problem.n; ++l)
      solution[l] = row[l];
    int &steps = state.steps[state.earliest];
    if (polish<one_frame>(problem, search, request.goals, solution, steps, scratch.polish.step)) {
      wrap_joints(problem, search, request, solution);
      return true;
    }
    state.waiting &= ~bit;
    state.failed |= bit;
  }
  return false;
}

// The solution of the earliest of the first restarts that arrives, into `solution` (n); false: none does.
template <class T>
SUPPLE_FN bool search_first_restarts(const Problem &problem, const Search &search, const Request &request,
                                     RestartScratch<T> &scratch, Found &found, double *solution) {
  FirstState state;
  state.restarts = first_batch_for(search, request);
  TableSeeds &seeds = scratch.seeds[0];
  seeds.count = 0;
  for (int i = 0; i < 12; ++i)
    scratch.step.goals[i] = splat<T>(request.goals[i]);
  if (search.has_table)
    TablePlace<T>::of(problem.targets[0], search.table, scratch.step.goals)
        .look_up(problem, search, 0, seeds);
  // the first restart or the second mostly arrives: more seeds would cost time
  constexpr int W = Lane<T>::width, at_first = W < 2 ? W : 2;
  begin_first_restarts(problem, search, request, at_first, state, scratch);
  for (int lane = state.begun; lane < W; ++lane)
    idle_lane(problem, lane, scratch);
  while (state.active) {
    const Advance<T> step = advance<one_frame>(problem, search, state.active, scratch);
    const int ended = step.arrived | step.abandoned;
    if (!ended)
      continue;
    for (int lane = 0; lane < Lane<T>::width; ++lane) {
      if (!(ended >> lane & 1))
        continue;
      const int restart = scratch.restart[lane];
      const bool lane_arrived = step.arrived >> lane & 1;
      (lane_arrived ? state.waiting : state.failed) |= 1 << restart;
      if (!lane_arrived)
        continue;
      state.steps[restart] = int(get(scratch.steps, lane));
      read_lane(problem, search, request, lane, scratch.step.q, scratch.candidates + restart * problem.n);
    }
    state.active &= ~ended;
    if (take_earliest(problem, search, request, state, solution, scratch)) {
      found = {arrived, state.steps[state.earliest], state.earliest + 1, 0};
      return true;
    }
    begin_first_restarts(problem, search, request, W, state, scratch);
  }
  return false;
}

// One solve, as search_one, its first restarts in float where that is possible.
template <class First, class T>
SUPPLE_FN Found search_one(const Problem &problem, const Search &search, const Request &request,
                           RestartScratch<First> &first, RestartScratch<T> &scratch, double *solutions,
                           int &count) {
  if (!begins_in_float(problem, search, request.start, request.wanted))
    return search_one(problem, search, request, scratch, solutions, count);
  Found found;
  count = 1;
  if (search_first_restarts(problem, search, request, first, found, solutions))
    return found;
  Search rest = search;
  rest.max_iterations -= SearchConstants::float_iterations;
  return search_one(problem, rest, request, scratch, solutions, count);
}

} // namespace SUPPLE_ISA
} // namespace supple
