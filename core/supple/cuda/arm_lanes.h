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

// polish_arm, apart from the descents: they keep their registers.
template <bool quick, int N>
SUPPLE_APART bool polish_apart(const SolverBlock &block, const Arm<float, N> &single_arm,
                               const Arm<double, N> &double_arm, const double *goal, bool refine,
                               ArmFound<N> &found, int &steps) {
  return polish_arm<quick>(block, single_arm, double_arm, goal, refine, found, steps);
}

// The restarts of a search: from the first, at most so many.
struct LaneRestarts {
  int first, most;
  const double *centre; // of a box, or null
};

// Restarts until one arrives; of L lanes lane k runs the restarts k, k + L, k + 2 L, ... after the first. Of
// descents that come near the goal in the same step, the first lane whose steps in double precision arrive
// gives the solution, so that it depends on the goal alone. Each lane keeps the best of its restarts that
// were abandoned. `quick`: see polish_arm.
template <bool quick, int N, class Lanes>
SUPPLE_FLAT bool search_in_lanes(const SolverBlock &block, const Arm<float, N> &single_arm,
                                 const Arm<double, N> &double_arm, const double *goal_numbers, bool refine,
                                 const Lanes &lanes, const LaneRestarts &restarts,
                                 ArmCandidate<N> *candidates, ArmFound<N> &found) {
  constexpr int own = Lanes::own;
  const Frame<float> goal = single_goal(goal_numbers);
  ArmDescent<N> descent[own];
  int restart[own], table_seeds = 0;
  bool near_it[own], going_on[own];
  auto begin = [&](int i) {
    going_on[i] = restart[i] < restarts.most;
    if (!going_on[i])
      return;
    load_lane_seed(single_arm, table_seeds, restarts.centre, restart[i], descent[i].q);
    begin_descent(descent[i]);
  };
  auto abandon = [&](int i) {
    keep_candidate(descent[i], candidates[i]);
    restart[i] += lanes.count();
    begin(i);
  };
  lanes.each([&](int i) { restart[i] = restarts.first + lanes.lane(i); });
  if (restarts.first == 0 && !restarts.centre) // the first warp, or the only one, has the table's seeds
    table_seeds = seeds_in_lanes<N, 32>(block, single_arm, key_of_goal(block, goal_numbers), 32,
                                        [&](int i, int, const float *q) {
                                          SUPPLE_UNROLL(16)
                                          for (int j = 0; j < N; ++j)
                                            descent[i].q[j] = q[j];
                                        });
  lanes.each([&](int i) {
    going_on[i] = restart[i] < restarts.most;
    if (restarts.first == 0 && !restarts.centre && lanes.lane(i) < 32)
      begin_descent(descent[i]);
    else
      begin(i);
  });
  for (;;) {
    lanes.each([&](int i) {
      near_it[i] = false;
      if (!going_on[i])
        return;
      const DescentProgress progress = advance_descent(single_arm, goal, descent[i]);
      near_it[i] = progress == is_near;
      if (progress == abandoned)
        abandon(i);
    });
    for (int winner = lanes.first(near_it); winner >= 0; winner = lanes.first(near_it)) {
      SUPPLE_UNROLL(16)
      for (int k = 0; k < N; ++k)
        found.q[k] = lanes.from(winner, [&](int i) { return descent[i].q[k]; });
      int steps;
      if (polish_apart<quick>(block, single_arm, double_arm, goal_numbers, refine, found, steps)) {
        found.iterations = steps + lanes.from(winner, [&](int i) { return descent[i].steps; });
        found.restarts = 1 + lanes.from(winner, [&](int i) { return restart[i]; });
        found.outcome = arrived;
        return true;
      }
      lanes.each([&](int i) {
        if (lanes.lane(i) != winner)
          return;
        near_it[i] = false;
        abandon(i);
      });
    }
    if (lanes.first(going_on) < 0)
      return false;
  }
}

// All restarts of one row if it is the last attempt, else the first; false: none of those arrives.
template <bool last, int N, class Lanes>
SUPPLE_FN bool search_row(const SolverBlock &block, const Arm<float, N> &single_arm,
                          const Arm<double, N> &double_arm, const double *goal, long long row,
                          const Lanes &lanes, int first_restarts, const Solutions &solutions) {
  const int all = restarts_for(block.search, goal);
  LaneRestarts restarts{0, last || all < first_restarts ? all : first_restarts, nullptr};
  ArmCandidate<N> candidates[Lanes::own];
  lanes.each([&](int i) { candidates[i].error = 1e30f; });
  ArmFound<N> found, nearest;
  for (;;) {
    if (search_in_lanes<!last>(block, single_arm, double_arm, goal, solutions.single, lanes, restarts,
                               candidates, found))
      break;
    if (!last)
      return false;
    if (restarts.centre) {
      found = nearest;
      break;
    }
    nearest_in_lanes(block, double_arm, goal, lanes, candidates, nearest);
    nearest.restarts = restarts.most;
    const bool near_miss = nearest.outcome != arrived && !is_beyond_reach(block.search, goal) &&
                           nearest.error.squared_error < SearchConstants::near_miss;
    if (!near_miss) {
      found = nearest;
      break;
    }
    restarts = {0, SearchConstants::near_miss_restarts, nearest.q};
  }
  if (lanes.leads())
    write_solution(block, double_arm, goal, row, found, solutions);
  return true;
}

// Searches rows of a list, or all, until there are no more. Each has only its first restarts; those that need
// more go to the list `left_rows`. With `last`, the rows of that list. Where no restart arrives, the nearest
// joint values are the solution; where they miss the goal by little, it can probably be met, and more
// restarts follow in a box round them.
template <bool last, int N, class Lanes>
SUPPLE_FLAT void search_rows(const SolverBlock &block, const Arm<float, N> &single_arm,
                             const Arm<double, N> &double_arm, const GoalNumbers &goals, const ArmRows &rows,
                             const Solutions &solutions, int first_restarts, const Lanes &lanes,
                             long long thread, const int *list, int length) {
  Counters &counters = *rows.counters;
  for (bool working = true; working; working = list != nullptr) {
    int next = int(thread / 32);
    if (list) {
      if (lanes.leads())
        next = take_one(last ? &counters.next_left : &counters.next_hard);
      next = lanes.from(0, [&](int) { return next; });
    }
    if (next >= length)
      break;
    const long long row = list ? list[next] : next;
    double goal[12];
    bool valid = true;
    if (rows.goals)
      for (int i = 0; i < 12; ++i)
        goal[i] = rows.goals[12 * row + i];
    else
      valid = read_arm_goal(block, goals, row, goal);
    if (!valid) {
      if (lanes.leads())
        write_invalid(block, double_arm, goal, row, solutions);
    } else if (!search_row<last>(block, single_arm, double_arm, goal, row, lanes, first_restarts,
                                 solutions)) {
      if (lanes.leads())
        rows.left_rows[take_one(&counters.left_count)] = int(row);
    }
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
