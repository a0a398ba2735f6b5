// The search for one goal of an arm: descents in single precision from several seeds, then a few steps and
// the judgement in double precision.
#pragma once
#include "supple/cuda/arm.h"
#include "supple/cuda/lane_seeds.h"
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

// The goals of an arm as they are given: positions, orientations and directions, each or not.
struct GoalNumbers {
  Numbers position, orientation, direction;
};

// Reads the goal of a row; false if it is not valid.
SUPPLE_FLAT bool read_arm_goal(const SolverBlock &block, const GoalNumbers &given, long long row,
                               double *goal) {
  Numbers orientation = given.orientation, direction = given.direction;
  if (arm_goal != position_and_axis)
    direction.data = nullptr; // known to the compiler
  if (arm_goal == only_position)
    orientation.data = nullptr;
  return read_goal_row(arm_goal == position_and_axis, block.problem.targets[0], given.position, orientation,
                       direction, row, goal);
}

// ---- Descents ----

// One descent; values are in the order of the chain.
template <int N>
struct ArmDescent {
  float q[N];
  float recent_errors[SearchConstants::error_window]; // squared, oldest first
  float error;                                        // squared, at q
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

// One step. A descent that is near takes it too, since it is computed: polishing then begins nearer. An
// abandoned one stays.
template <int N>
SUPPLE_FLAT DescentProgress advance_descent(const Arm<float, N> &arm, const Frame<float> &goal,
                                            ArmDescent<N> &descent) {
  constexpr int window = SearchConstants::error_window;
  float next[N];
  ArmState<float, N> state;
  evaluate_arm(arm, goal, descent.q, false, state);
  step_arm(arm, arm, state, descent.q, float(SearchConstants::damping), next);
  const float error = descent.error = state.error.squared_error;
  if (error <= float(near_error)) {
    SUPPLE_UNROLL(16)
    for (int k = 0; k < N; ++k)
      descent.q[k] = next[k];
    return is_near;
  }
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

// What a search has found: joint values in the order of the chain, and their error.
template <int N>
struct ArmFound {
  double q[N];
  ArmError<double> error;
  int outcome, iterations, restarts;
};

// Brings joints that wrap back by whole turns, as near to the middle as their limits allow.
template <int N>
SUPPLE_FLAT void wrap_arm(const Arm<double, N> &arm, double *q) {
  SUPPLE_UNROLL(16)
  for (int k = 0; k < N; ++k) {
    const ArmJoint<double> &joint = arm.joints[k];
    if (ArmShape::wraps_at(joint, k))
      q[k] = nearest_turn(q[k], joint.middle, joint.period, joint.wrap_lower, joint.wrap_upper);
  }
}

// Joint values of a search in single precision, inside limits.
template <int N>
SUPPLE_FLAT void to_double(const Arm<double, N> &arm, double *q) {
  SUPPLE_UNROLL(16)
  for (int k = 0; k < N; ++k) {
    const ArmJoint<double> &joint = arm.joints[k];
    q[k] = joint.size > 0 ? clip(q[k], joint.lower, joint.upper) : joint.middle;
  }
}

// Where an arm is, for what happens seldom: one copy of the code, which is most of what is compiled.
template <int N>
SUPPLE_APART void evaluate_apart(const Arm<double, N> &arm, const Frame<double> &goal, const double *q,
                                 bool exact, ArmState<double, N> &state) {
  evaluate_arm(arm, goal, q, exact, state);
}

// A step of double precision throughout, for where single precision does not lead to the goal; returns the
// error before it.
template <int N>
SUPPLE_APART ArmError<double> step_in_double(const Arm<double, N> &arm, const Frame<double> &goal,
                                             const double *q, bool exact, double damping_factor,
                                             double *next) {
  ArmState<double, N> state;
  evaluate_apart(arm, goal, q, exact, state);
  step_arm(arm, arm, state, q, damping_factor, next);
  return state.error;
}

// Judges the joint values of `found`, inside limits (see to_double), after so many steps, and takes one more
// if they have not arrived. What is judged is what is returned: joints that wrap are brought back first.
// `refine`: to a quarter of the tolerance if they can, for joint values that will be rounded to single
// precision: the rest is for the rounding. The first steps are solved for in single precision.
template <int N>
SUPPLE_FLAT DescentProgress polish_step(const SolverBlock &block, const Arm<float, N> &single_arm,
                                        const Arm<double, N> &arm, const Frame<double> &goal, bool refine,
                                        int steps, ArmFound<N> &found) {
  constexpr int steps_in_single = 3, most = SearchConstants::polish_steps;
  const Search &search = block.search;
  double next[N];
  ArmState<double, N> state;
  wrap_arm(arm, found.q);
  evaluate_arm(arm, goal, found.q, false, state);
  const ArmError<double> error = found.error = state.error;
  const bool within = is_within_tolerance(search, error.squared_distance, error.squared_angle);
  const bool well_within =
      !refine || is_within_tolerance(search, 16 * error.squared_distance, 16 * error.squared_angle);
  const bool is_last = steps + 1 >= most;
  if (within && (well_within || is_last))
    return is_near;
  if (is_last || (!within && !(error.squared_error < lost_error)))
    return abandoned; // it leads away from what single precision has found
  if (steps < steps_in_single) {
    step_arm(arm, single_arm, state, found.q, SearchConstants::damping, next);
  } else { // of copies: what such a function is given lies in memory
    const Frame<double> same_goal = goal;
    double from[N], to[N];
    SUPPLE_UNROLL(16)
    for (int k = 0; k < N; ++k)
      from[k] = found.q[k];
    step_in_double(arm, same_goal, from, false, SearchConstants::damping, to);
    SUPPLE_UNROLL(16)
    for (int k = 0; k < N; ++k)
      next[k] = to[k];
  }
  SUPPLE_UNROLL(16)
  for (int k = 0; k < N; ++k)
    found.q[k] = next[k];
  return goes_on;
}

// ---- Solutions ----

// Writes the solution of a row. In single precision, its error is that of the joint values as they are
// written.
template <int N>
SUPPLE_FLAT void write_solution(const SolverBlock &block, const Arm<double, N> &arm, const double *goal,
                                long long row, const ArmFound<N> &found, const Solutions &solutions) {
  const long long place = row * block.dof;
  if (block.dof > N || found.outcome == invalid)
    set_resting(block, place, solutions);
  RowError error{0, 0};
  if (found.outcome != invalid) {
    double q[N];
    SUPPLE_UNROLL(16)
    for (int k = 0; k < N; ++k) {
      const ArmJoint<double> &joint = arm.joints[k];
      q[k] = solutions.set(place + joint.column, found.q[k], joint.wrap_lower, joint.wrap_upper);
    }
    ArmError<double> left = found.error;
    if (solutions.single) {
      ArmState<double, N> state;
      evaluate_apart(arm, goal_frame(goal), q, false, state);
      left = state.error;
    }
    const double half_sine = 0.5 * root(left.squared_angle);
    error = {root(left.squared_distance), 2 * atan2(half_sine, root(larger(0.0, 1 - half_sine * half_sine)))};
  }
  solutions.outcome[row] = judged(block.search, found.outcome, error);
  solutions.iterations[row] = found.iterations;
  solutions.restarts[row] = found.restarts;
  solutions.position_error[row] = error.position;
  solutions.angle_error[row] = error.angle;
}

// What is found for a goal that is not valid.
template <int N>
SUPPLE_FLAT void find_nothing(ArmFound<N> &found) {
  found.outcome = invalid;
  found.iterations = found.restarts = 0;
}

// ---- Many rows ----

// Arrays of many rows on their way, one row after another.
struct ArmRows {
  double *goals;       // 12
  float *single_goals; // 12
  float *seeds;        // seed_count x N
  float *near_q;       // N: what a descent has found, in the order of the chain
  int *outcome, *iterations, *restarts;
  int *hard_rows, *left_rows; // lists: rows that need a warp, and those that need more
  Counters *counters;
  int seed_count;
};

// Reads the goal of a row; true if it needs seeds: a goal beyond reach, or one that is not valid, does not.
SUPPLE_FN bool begin_row(const SolverBlock &block, const ArmRows &rows, const GoalNumbers &given,
                         long long row, LaneKey &key) {
  double goal[12]; // in registers; written once
  const bool valid = read_arm_goal(block, given, row, goal);
  SUPPLE_UNROLL(12)
  for (int i = 0; i < 12; ++i) {
    rows.goals[12 * row + i] = goal[i];
    rows.single_goals[12 * row + i] = float(goal[i]);
  }
  const bool beyond = valid && is_beyond_reach(block.search, goal);
  rows.outcome[row] = !valid ? int(invalid) : beyond ? hard : pending;
  if (!valid || beyond)
    return false;
  key = key_of_goal(block, goal);
  return true;
}

// Descends from the seeds of row after row.
template <int N>
SUPPLE_FN void descend_rows(const Arm<float, N> &arm, const ArmRows &rows, int row_count) {
  ArmDescent<N> descent;
  Frame<float> goal;
  int row = -1, seed = 0;
  auto load_seed = [&] {
    const float *from = rows.seeds + (static_cast<long long>(row) * rows.seed_count + seed) * N;
    SUPPLE_UNROLL(16)
    for (int k = 0; k < N; ++k)
      descent.q[k] = from[k];
    begin_descent(descent);
  };
  for (;;) {
    if (row < 0) {
      row = take_one(&rows.counters->next_row);
      if (row >= row_count)
        return;
      if (rows.outcome[row] != pending) {
        row = -1;
        continue;
      }
      goal = goal_frame(rows.single_goals + 12LL * row);
      seed = 0;
      load_seed();
    }
    const DescentProgress progress = advance_descent(arm, goal, descent);
    if (progress == goes_on)
      continue;
    if (progress == abandoned && ++seed < rows.seed_count) {
      load_seed();
      continue;
    }
    rows.outcome[row] = progress == is_near ? near_goal : hard;
    rows.iterations[row] = descent.steps;
    rows.restarts[row] = seed + 1;
    SUPPLE_UNROLL(16)
    for (int k = 0; k < N; ++k)
      rows.near_q[static_cast<long long>(row) * N + k] = descent.q[k];
    row = -1;
  }
}

// Finishes a row that came near its goal; rows that are not solved go to the list of hard rows.
template <int N>
SUPPLE_FN void polish_row(const SolverBlock &block, const Arm<float, N> &single_arm,
                          const Arm<double, N> &arm, const ArmRows &rows, long long row,
                          const Solutions &solutions) {
  const double *goal_numbers = rows.goals + 12 * row;
  ArmFound<N> found;
  found.outcome = rows.outcome[row];
  if (found.outcome == near_goal) {
    SUPPLE_UNROLL(16)
    for (int k = 0; k < N; ++k)
      found.q[k] = rows.near_q[row * N + k];
    to_double(arm, found.q);
    const Frame<double> goal = goal_frame(goal_numbers);
    DescentProgress progress = goes_on;
    int steps = -1;
    while (progress == goes_on)
      progress = polish_step(block, single_arm, arm, goal, solutions.single, ++steps, found);
    found.outcome = progress == is_near ? int(arrived) : hard;
    found.iterations = rows.iterations[row] + steps;
    found.restarts = rows.restarts[row];
  } else if (found.outcome == invalid) {
    find_nothing(found);
  }
  if (found.outcome == hard)
    rows.hard_rows[take_one(&rows.counters->hard_count)] = int(row);
  else
    write_solution(block, arm, goal_numbers, row, found, solutions);
}

} // namespace SUPPLE_ISA
} // namespace supple
