// The search for one frame of an arm: descents in single precision from several seeds, then a few steps and
// the judgement in double precision.
#pragma once
#include "supple/cuda/arm.h"
#include "supple/cuda/lanes.h"
#include "supple/cuda/rows.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Outcomes of rows on their way.
constexpr int near_goal = -2, hard = -3; // a descent came near the goal; no descent did

// The squared error from which on double precision takes over, and from which on it gives up.
constexpr double near_error = 1e-9, lost_error = 1e-4;

// Counters of a solve, all 0 when it begins.
struct Counters {
  int next_row, hard_count, next_hard, left_count, next_left;
};

// ---- Seeds ----

// Seed k of a row, in the order of the chain: make_seed of an arm, which has neither arcs nor a floating
// root.
template <int N>
SUPPLE_FLAT void load_arm_seed(const SolverBlock &block, const Arm<float, N> &arm, TableSeeds &seeds, int k,
                               float *q) {
  const Search &search = block.search;
  const int sample = k < seeds.count ? seeds.sample(k) : -1;
  SUPPLE_UNROLL(16)
  for (int i = 0; i < N; ++i) {
    const int l = arm.joints[i].index;
    const SearchJoint &joint = search.joints[l];
    const double x = sample >= 0        ? seeds.value(search.table, sample, l)
                     : k == seeds.count ? joint.middle
                                        : even_seed(joint, k - seeds.count);
    q[i] = float(joint.weighted_size > 0 ? clip(x, joint.lower, joint.upper) : joint.middle);
  }
}

SUPPLE_APART void look_up_seeds(const SolverBlock &block, const double *goal, TableSeeds &seeds) {
  seeds.count = 0;
  if (block.search.has_table)
    seeds.look_up(block.problem, block.search, goal);
}

// ---- Descents ----

// One descent; values are in the order of the chain.
template <int N>
struct Descent {
  float q[N];
  float recent_errors[SearchConstants::error_window]; // squared, oldest first
  int steps;
};

enum Progress : int { goes_on, is_near, abandoned };

template <int N>
SUPPLE_FLAT void begin_descent(Descent<N> &descent) {
  descent.steps = 0;
  SUPPLE_UNROLL(4)
  for (float &error : descent.recent_errors)
    error = 1e30f;
}

// One step; where the descent ends, its q stays.
template <int N>
SUPPLE_FLAT Progress advance_descent(const Arm<float, N> &arm, const Frame<float> &goal,
                                     Descent<N> &descent) {
  constexpr int window = SearchConstants::error_window;
  float next[N];
  const float error = arm_step(arm, goal, descent.q, next).squared_error;
  if (error <= float(near_error))
    return is_near;
  const float allowed = float(SearchConstants::error_ratio) * descent.recent_errors[0];
  if (!(error <= allowed) || descent.steps >= SearchConstants::restart_steps)
    return abandoned;
  SUPPLE_UNROLL(4)
  for (int i = 0; i + 1 < window; ++i)
    descent.recent_errors[i] = descent.recent_errors[i + 1];
  descent.recent_errors[window - 1] = error;
  SUPPLE_UNROLL(16)
  for (int k = 0; k < N; ++k)
    descent.q[k] = next[k];
  ++descent.steps;
  return goes_on;
}

SUPPLE_FLAT Frame<float> single_goal(const double *goal) {
  float numbers[12];
  SUPPLE_UNROLL(12)
  for (int i = 0; i < 12; ++i)
    numbers[i] = float(goal[i]);
  return goal_frame(numbers);
}

// ---- Double precision ----

// Steps from q (in the order of the chain) until it has arrived, inside limits; false if it does not. What is
// judged is what is returned: joints that wrap are brought back first.
template <int N>
SUPPLE_FLAT bool polish_arm(const SolverBlock &block, const Arm<double, N> &arm, const double *goal_numbers,
                            double *q, int &steps) {
  const Search &search = block.search;
  const Problem &problem = block.problem;
  const Request request{goal_numbers, nullptr, 1, Deadline{}};
  const Frame<double> goal = goal_frame(goal_numbers);
  SUPPLE_UNROLL(16)
  for (int k = 0; k < N; ++k) {
    const ArmJoint<double> &joint = arm.joints[k];
    q[k] = joint.size > 0 ? clip(q[k], joint.lower, joint.upper) : reference(search, request, joint.index);
  }
  for (steps = 0; steps < SearchConstants::polish_steps; ++steps) {
    SUPPLE_UNROLL(16)
    for (int k = 0; k < N; ++k) {
      const int l = arm.joints[k].index;
      const double period = search.joints[l].period;
      if (period > 0)
        q[k] = nearest_turn(q[k], reference(search, request, l), period, problem.lower[l], problem.upper[l]);
    }
    double next[N];
    const ArmError<double> error = arm_step(arm, goal, q, next);
    if (is_within_tolerance(search, error.squared_distance, error.squared_angle))
      return true;
    if (!(error.squared_error < lost_error))
      return false; // it leads away from what single precision has found
    SUPPLE_UNROLL(16)
    for (int k = 0; k < N; ++k)
      q[k] = next[k];
  }
  return false;
}

// Stores an answer in the order of the problem.
template <int N>
SUPPLE_FLAT void store_answer(const Arm<double, N> &arm, const double *q, double *answer) {
  SUPPLE_UNROLL(16)
  for (int k = 0; k < N; ++k)
    answer[arm.joints[k].index] = q[k];
}

// ---- Many rows: one row in each thread ----

// Reads the goal of a row, and makes its first seeds: `seeds` has room for seed_count x N numbers. A goal
// beyond reach needs none.
template <int N>
SUPPLE_FN void begin_row(const SolverBlock &block, const Arm<float, N> &arm, const Rows &rows,
                         const Numbers &position, const Numbers &orientation, long long row, int seed_count,
                         float *seeds) {
  const Problem &problem = block.problem;
  double *goal = rows.goals + 12 * row;
  const Numbers none{};
  if (!read_goal_row(problem.targets[0], position, orientation, none, row, goal)) {
    rows.outcome[row] = invalid;
    return;
  }
  const bool beyond = is_beyond_reach(block.search, goal);
  rows.outcome[row] = beyond ? hard : pending;
  if (beyond)
    return;
  TableSeeds found;
  look_up_seeds(block, goal, found);
  for (int s = 0; s < seed_count; ++s)
    load_arm_seed(block, arm, found, s, seeds + s * N);
}

// Descends from the seeds of row after row. What came near goes to `near_q` (rows x N).
template <int N>
SUPPLE_FN void descend_rows(const Arm<float, N> &arm, const Rows &rows, int row_count, int seed_count,
                            const float *seeds, float *near_q, int *next_row) {
  Descent<N> descent;
  Frame<float> goal;
  int row = -1, seed = 0;
  auto load_seed = [&] {
    const float *from = seeds + (static_cast<long long>(row) * seed_count + seed) * N;
    SUPPLE_UNROLL(16)
    for (int k = 0; k < N; ++k)
      descent.q[k] = from[k];
    begin_descent(descent);
  };
  for (;;) {
    if (row < 0) {
      row = take_one(next_row);
      if (row >= row_count)
        return;
      if (rows.outcome[row] != pending) {
        row = -1;
        continue;
      }
      goal = single_goal(rows.goals + 12LL * row);
      seed = 0;
      load_seed();
    }
    const Progress progress = advance_descent(arm, goal, descent);
    if (progress == goes_on)
      continue;
    if (progress == abandoned && ++seed < seed_count) {
      load_seed();
      continue;
    }
    rows.outcome[row] = progress == is_near ? near_goal : hard;
    rows.iterations[row] = descent.steps;
    rows.restarts[row] = seed + 1;
    SUPPLE_UNROLL(16)
    for (int k = 0; k < N; ++k)
      near_q[static_cast<long long>(row) * N + k] = descent.q[k];
    row = -1;
  }
}

// Finishes a row that came near its goal; rows that are not solved go to the list of hard rows.
template <int N>
SUPPLE_FN void polish_row(const SolverBlock &block, const Arm<double, N> &arm, const Rows &rows,
                          long long row, const float *near_q, int *hard_rows, int *hard_count) {
  if (rows.outcome[row] == near_goal) {
    double q[N];
    SUPPLE_UNROLL(16)
    for (int k = 0; k < N; ++k)
      q[k] = near_q[row * N + k];
    int steps;
    if (polish_arm(block, arm, rows.goals + 12 * row, q, steps)) {
      rows.outcome[row] = arrived;
      rows.iterations[row] += steps;
      store_answer(arm, q, rows.q + row * N);
      return;
    }
    rows.outcome[row] = hard;
  }
  if (rows.outcome[row] == hard)
    hard_rows[take_one(hard_count)] = int(row);
}

// ---- Few rows, or hard ones: one row in W lanes, each with restarts of its own ----

template <int N, int W>
SUPPLE_FN bool search_in_lanes(const SolverBlock &block, const Arm<float, N> &single_arm,
                               const Arm<double, N> &double_arm, const double *goal_numbers, double *answer,
                               int &iterations, int &restarts) {
  using L = Lanes<W>;
  const Frame<float> goal = single_goal(goal_numbers);
  const int most = restarts_for(block.search, goal_numbers);
  TableSeeds seeds;
  look_up_seeds(block, goal_numbers, seeds);
  Descent<N> descent[L::own];
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
      const Progress progress = advance_descent(single_arm, goal, descent[i]);
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
        q[k] = L::from(&descent[0].q[k], int(sizeof(Descent<N>) / sizeof(float)), winner);
      int steps;
      if (polish_arm(block, double_arm, goal_numbers, q, steps)) {
        iterations = steps + L::from(&descent[0].steps, int(sizeof(Descent<N>) / sizeof(int)), winner);
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
  if (!Lanes<W>::leads())
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

// ---- Answers ----

// Writes the answer of a row.
template <int N>
SUPPLE_FN void finish_arm_row(const SolverBlock &block, const Arm<double, N> &arm, const Rows &rows,
                              long long row, const Answers &answers) {
  const Numbers none{};
  const long long place = row * block.dof;
  double values[N], q[N], e[6];
  Axis<double> axes[N];
  set_others(block, none, row, place, answers);
  const int outcome = rows.outcome[row];
  if (outcome != invalid) {
    for (int l = 0; l < N; ++l)
      values[l] = rows.q[row * N + l];
    set_values(block, place, values, answers);
    SUPPLE_UNROLL(16)
    for (int k = 0; k < N; ++k)
      q[k] = values[arm.joints[k].index];
  }
  RowError error{0, 0};
  if (outcome != invalid) {
    const ArmError<double> left =
        arm_error(arm, traverse_arm(arm, q, axes), goal_frame(rows.goals + 12 * row), e);
    const double half_sine = 0.5 * root(left.squared_angle);
    error = {root(left.squared_distance), 2 * atan2(half_sine, root(larger(0.0, 1 - half_sine * half_sine)))};
  }
  answers.outcome[row] = judged(block.search, outcome, error);
  answers.iterations[row] = outcome == invalid ? 0 : rows.iterations[row];
  answers.restarts[row] = outcome == invalid ? 0 : rows.restarts[row];
  answers.position_error[row] = error.position;
  answers.angle_error[row] = error.angle;
}

} // namespace SUPPLE_ISA
} // namespace supple
