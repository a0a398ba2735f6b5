// The search for one frame of an arm with several lanes for a row, each with restarts of its own: for few
// rows, and for hard ones.
#pragma once
#include "supple/cuda/arm_search.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Restarts until one arrives; lane k runs the restarts k, k + W, k + 2 W, ... Of descents that come near the
// goal in the same step, the first lane whose steps in double precision arrive gives the answer, so that it
// depends on the goal alone.
template <int N, int W>
SUPPLE_FN bool search_in_lanes(const SolverBlock &block, const Arm<float, N> &single_arm,
                               const Arm<double, N> &double_arm, const double *goal_numbers, double *answer,
                               int &iterations, int &restarts) {
  using L = RowLanes<W>;
  const Frame<float> goal = single_goal(goal_numbers);
  // as many as the general search has, with those round the nearest answer: here they cost much less
  const int most = restarts_for(block.search, goal_numbers) + SearchConstants::near_miss_restarts;
  TableSeeds seeds;
  look_up_seeds(block, goal_numbers, seeds);
  ArmDescent<N> descent[L::own];
  int restart[L::own];
  bool near_it[L::own], over[L::own];
  auto begin = [&](int i) {
    over[i] = restart[i] >= most;
    if (over[i])
      return;
    load_arm_seed(block, single_arm, seeds, restart[i], descent[i].q);
    begin_descent(descent[i]);
  };
  for (int i = 0; i < L::own; ++i) {
    restart[i] = L::lane(i);
    begin(i);
  }
  for (;;) {
    for (int i = 0; i < L::own; ++i) {
      near_it[i] = false;
      if (over[i])
        continue;
      const DescentProgress progress = advance_descent(single_arm, goal, descent[i]);
      near_it[i] = progress == is_near;
      if (progress == abandoned) {
        restart[i] += W;
        begin(i);
      }
    }
    for (unsigned near_lanes = L::where(near_it); near_lanes; near_lanes &= near_lanes - 1) {
      const int winner = first_of(near_lanes);
      double q[N];
      for (int k = 0; k < N; ++k)
        q[k] = L::from(&descent[0].q[k], int(sizeof(ArmDescent<N>) / sizeof(float)), winner);
      int steps;
      if (polish_arm(block, double_arm, goal_numbers, q, steps)) {
        iterations = steps + L::from(&descent[0].steps, int(sizeof(ArmDescent<N>) / sizeof(int)), winner);
        restarts = 1 + L::from(restart, 1, winner);
        store_answer(double_arm, q, answer);
        return true;
      }
      for (int i = 0; i < L::own; ++i)
        if (L::lane(i) == winner) {
          restart[i] += W;
          begin(i);
        }
    }
    if (L::where(over) == (W == 32 ? 0xffffffffu : (1u << (W % 32)) - 1))
      return false;
  }
}

// One row in W lanes, with the goal that all of them know; one that is not solved goes to the list of rows
// for the general search.
template <int N, int W>
SUPPLE_FN void search_row(const SolverBlock &block, const Arm<float, N> &single_arm,
                          const Arm<double, N> &double_arm, const Rows &rows, const double *goal,
                          long long row, int *left_rows, int *left_count) {
  int iterations = 0, restarts = 0;
  double answer[N];
  const bool found = !is_beyond_reach(block.search, goal) &&
                     search_in_lanes<N, W>(block, single_arm, double_arm, goal, answer, iterations, restarts);
  if (!RowLanes<W>::leads())
    return;
  if (!found) {
    rows.outcome[row] = pending;
    left_rows[take_one(left_count)] = int(row);
    return;
  }
  rows.outcome[row] = arrived;
  rows.iterations[row] = iterations;
  rows.restarts[row] = restarts;
  for (int l = 0; l < N; ++l)
    rows.q[row * N + l] = answer[l];
}

} // namespace SUPPLE_ISA
} // namespace supple
