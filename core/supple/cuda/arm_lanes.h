// The search for one goal of an arm with several lanes for a row, each with restarts of its own: for few
// rows, and for hard ones.
#pragma once
#include "supple/cuda/arm_nearest.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Restart k of a lane: an evenly spaced seed, or one in a box round a centre (in the order of the chain), if
// there is one.
template <int N>
SUPPLE_FLAT void load_lane_seed(const Arm<float, N> &arm, int table_seeds, const double *centre, int k,
                                float *q) {
  if (!centre)
    return load_even_seed(arm, k - table_seeds, q);
  SUPPLE_UNROLL(16)
  for (int i = 0; i < N; ++i) {
    const ArmJoint<float> &joint = arm.joints[i];
    const float half = float(SearchConstants::near_miss_box) * joint.size;
    q[i] = seed_value(joint, even_seed_round(float(centre[i]), joint, half, k));
  }
}

// The restarts of a search: from the first, at most so many.
struct LaneRestarts {
  int first, most;
  const double *centre; // of a box, or null
};

// Restarts until one arrives; of L lanes lane k runs the restarts k, k + L, k + 2 L, ... after the first.
// Descents that come near the goal in the same step go on in double precision side by side; the first that
// arrives gives the solution, of several the one of the first lane, so that it depends on the goal alone.
// Returns that lane, whose `found` it is, or -1. Each lane keeps the best of its restarts that were
// abandoned.
template <int N, class Lanes>
SUPPLE_FLAT int search_in_lanes(const SolverBlock &block, const Arm<float, N> &single_arm,
                                const Arm<double, N> &double_arm, const double *goal_numbers, bool refine,
                                const Lanes &lanes, const LaneRestarts &restarts, ArmCandidate<N> *candidates,
                                ArmFound<N> *found) {
  constexpr int own = Lanes::own;
  const Frame<float> goal = single_goal(goal_numbers);
  ArmDescent<N> descent[own];
  int restart[own], table_seeds = 0;
  bool needs_seed[own], going_on[own], near_it[own], polishing[own], there[own];
  const bool has_table_seeds = restarts.first == 0 && !restarts.centre;
  if (has_table_seeds) // of the first warp, or the only one
    table_seeds = seeds_in_lanes<N, 32>(block, single_arm, key_of_goal(block, goal_numbers), 32,
                                        [&](int i, int, const float *q) {
                                          SUPPLE_UNROLL(16)
                                          for (int j = 0; j < N; ++j)
                                            descent[i].q[j] = q[j];
                                        });
  lanes.each([&](int i) {
    restart[i] = restarts.first + lanes.lane(i);
    going_on[i] = restart[i] < restarts.most;
    needs_seed[i] = !has_table_seeds || lanes.lane(i) >= 32;
    begin_descent(descent[i]);
  });
  for (;;) {
    lanes.each([&](int i) {
      near_it[i] = false;
      if (!going_on[i])
        return;
      if (needs_seed[i]) {
        load_lane_seed(single_arm, table_seeds, restarts.centre, restart[i], descent[i].q);
        begin_descent(descent[i]);
      }
      const DescentProgress progress = advance_descent(single_arm, goal, descent[i]);
      near_it[i] = progress == is_near;
      needs_seed[i] = progress != goes_on;
    });
    if (lanes.first(near_it) >= 0) {
      const Frame<double> exact_goal = goal_frame(goal_numbers);
      lanes.each([&](int i) {
        polishing[i] = near_it[i];
        SUPPLE_UNROLL(16)
        for (int k = 0; k < N; ++k)
          found[i].q[k] = descent[i].q[k];
        to_double(double_arm, found[i].q);
      });
      for (int steps = 0; lanes.first(polishing) >= 0; ++steps) {
        lanes.each([&](int i) {
          there[i] = false;
          if (!polishing[i])
            return;
          const DescentProgress progress =
              polish_step(block, single_arm, double_arm, exact_goal, refine, steps, found[i]);
          there[i] = progress == is_near;
          polishing[i] = progress == goes_on;
          found[i].iterations = descent[i].steps + steps;
          found[i].restarts = restart[i] + 1;
          found[i].outcome = arrived;
        });
        const int winner = lanes.first(there);
        if (winner >= 0)
          return winner;
      }
    }
    lanes.each([&](int i) {
      if (!going_on[i] || !needs_seed[i])
        return;
      keep_candidate(descent[i], candidates[i]);
      restart[i] += lanes.count();
      going_on[i] = restart[i] < restarts.most;
    });
    if (lanes.first(going_on) < 0)
      return -1;
  }
}

// All restarts for one goal if it is the last attempt, else the first ones. Returns the lane whose `found` is
// the solution; -1: none of those arrives. Where no restart arrives in the last attempt, the nearest joint
// values are the solution; where they miss the goal by little, it can probably be met, and more restarts
// follow in a box round them.
template <int N, class Lanes>
SUPPLE_FLAT int find_in_lanes(const SolverBlock &block, const Arm<float, N> &single_arm,
                              const Arm<double, N> &double_arm, const double *goal, bool refine, bool last,
                              int first_restarts, const Lanes &lanes, ArmFound<N> *found) {
  const int all = restarts_for(block.search, goal);
  LaneRestarts restarts{0, last || all < first_restarts ? all : first_restarts, nullptr};
  ArmCandidate<N> candidates[Lanes::own];
  lanes.each([&](int i) { candidates[i].error = 1e30f; });
  ArmFound<N> nearest;
  for (;;) {
    const int winner =
        search_in_lanes(block, single_arm, double_arm, goal, refine, lanes, restarts, candidates, found);
    if (winner >= 0 || !last)
      return winner;
    if (restarts.centre)
      break;
    nearest_in_lanes(block, double_arm, goal, lanes, candidates, nearest);
    nearest.restarts = restarts.most;
    const bool near_miss = nearest.outcome != arrived && !is_beyond_reach(block.search, goal) &&
                           nearest.error.squared_error < SearchConstants::near_miss;
    if (!near_miss)
      break;
    restarts = {0, SearchConstants::near_miss_restarts, nearest.q};
  }
  lanes.each([&](int i) { found[i] = nearest; });
  return 0;
}

// Searches one row and writes its solution; false if that needs more restarts than the first.
template <int N, class Lanes>
SUPPLE_FLAT bool search_row(const SolverBlock &block, const Arm<float, N> &single_arm,
                            const Arm<double, N> &double_arm, const GoalNumbers &goals, const ArmRows &rows,
                            const Solutions &solutions, long long row, bool last, int first_restarts,
                            const Lanes &lanes) {
  double goal[12];
  ArmFound<N> found[Lanes::own];
  bool valid = true;
  int winner = 0;
  if (rows.goals)
    for (int i = 0; i < 12; ++i)
      goal[i] = rows.goals[12 * row + i];
  else
    valid = read_arm_goal(block, goals, row, goal);
  if (valid)
    winner = find_in_lanes(block, single_arm, double_arm, goal, solutions.single, last, first_restarts, lanes,
                           found);
  else
    lanes.each([&](int i) { find_nothing(found[i]); });
  lanes.each([&](int i) {
    if (lanes.lane(i) == winner)
      write_solution(block, double_arm, goal, row, found[i], solutions);
  });
  return winner >= 0;
}

} // namespace SUPPLE_ISA
} // namespace supple
