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
struct ArmDescent {
  float q[N];
  float recent_errors[SearchConstants::error_window]; // squared, oldest first
  int steps;
};

enum DescentProgress : int { goes_on, is_near, abandoned };

template <int N>
SUPPLE_FLAT void begin_descent(ArmDescent<N> &descent) {
  descent.steps = 0;
  SUPPLE_UNROLL(4)
  for (float &error : descent.recent_errors)
    error = 1e30f;
}

// One step; where the descent ends, its q stays.
template <int N>
SUPPLE_FLAT DescentProgress advance_descent(const Arm<float, N> &arm, const Frame<float> &goal,
                                            ArmDescent<N> &descent) {
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

// Reads the goal of a row, and makes its first seeds: number k of seed s goes to seeds[(s N + k) count +
// row], so that neighbouring threads write neighbouring numbers. A goal beyond reach needs none.
template <int N>
SUPPLE_FN void begin_row(const SolverBlock &block, const Arm<float, N> &arm, const Rows &rows,
                         const Numbers &position, const Numbers &orientation, long long row, long long count,
                         int seed_count, float *seeds) {
  const Problem &problem = block.problem;
  const Numbers none{};
  double goal[12]; // in registers; written once
  const bool valid = read_goal_row(problem.targets[0], position, orientation, none, row, goal);
  SUPPLE_UNROLL(12)
  for (int i = 0; i < 12; ++i)
    rows.goals[12 * row + i] = goal[i];
  if (!valid) {
    rows.outcome[row] = invalid;
    return;
  }
  const bool beyond = is_beyond_reach(block.search, goal);
  rows.outcome[row] = beyond ? hard : pending;
  if (beyond)
    return;
  TableSeeds found;
  look_up_seeds(block, goal, found);
  for (int s = 0; s < seed_count; ++s) {
    float q[N];
    load_arm_seed(block, arm, found, s, q);
    SUPPLE_UNROLL(16)
    for (int k = 0; k < N; ++k)
      seeds[(static_cast<long long>(s) * N + k) * count + row] = q[k];
  }
}

// Descends from the seeds of row after row. What came near goes to `near_q` (rows x N).
template <int N>
SUPPLE_FN void descend_rows(const Arm<float, N> &arm, const Rows &rows, int row_count, int seed_count,
                            const float *seeds, float *near_q, int *next_row) {
  ArmDescent<N> descent;
  Frame<float> goal;
  int row = -1, seed = 0;
  auto load_seed = [&] {
    SUPPLE_UNROLL(16)
    for (int k = 0; k < N; ++k)
      descent.q[k] = seeds[(static_cast<long long>(seed) * N + k) * row_count + row];
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
    const DescentProgress progress = advance_descent(arm, goal, descent);
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
