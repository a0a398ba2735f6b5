// Rows of a solve on a device: goals and starts as they come in, solutions as they go out.
#pragma once
#include "supple/cuda/block.h"
#include "supple/search/search.h"

namespace supple {
inline namespace SUPPLE_ISA {

// An array of numbers of single or double precision, with its strides in numbers; no address: none is given.
struct Numbers {
  const void *data;
  long long row, step, inner; // from row to row, from line to line of a matrix, from number to number
  bool single;

  SUPPLE_FLAT double at(long long i, int line, int k) const {
    const long long place = i * row + line * step + k * inner;
    return single ? double(static_cast<const float *>(data)[place])
                  : static_cast<const double *>(data)[place];
  }
  // `lines` lines of three numbers of a row: all are under way before the first is needed
  template <int lines>
  SUPPLE_FLAT void read(long long i, double *to) const {
    if (single) {
      float numbers[3 * lines];
      SUPPLE_UNROLL(9)
      for (int k = 0; k < 3 * lines; ++k)
        numbers[k] = static_cast<const float *>(data)[i * row + k / 3 * step + k % 3 * inner];
      SUPPLE_UNROLL(9)
      for (int k = 0; k < 3 * lines; ++k)
        to[k] = numbers[k];
    } else {
      SUPPLE_UNROLL(9)
      for (int k = 0; k < 3 * lines; ++k)
        to[k] = static_cast<const double *>(data)[i * row + k / 3 * step + k % 3 * inner];
    }
  }
};

// what all kernels of a solve share: a row each
struct Rows {
  double *goals;  // 12 for each target
  double *starts; // n, or null
  double *q;      // wanted x n
  int *outcome, *iterations, *restarts;
  int *solutions; // how many there are, or null if one is wanted
  int wanted;
};

constexpr int pending = -1; // outcome of a row that is not solved yet

// Reads one goal of a row, its twelve numbers; false if they are not finite, or no rotation. `has_direction`:
// of the target, known to the compiler if it can be.
SUPPLE_FLAT bool read_goal_row(bool has_direction, const Target &target, const Numbers &position,
                               const Numbers &orientation, const Numbers &direction, long long row,
                               double *goal) {
  double zero = 0; // nothing but a finite number gives 0 times 0
  SUPPLE_UNROLL(12)
  for (int i = 0; i < 12; ++i)
    goal[i] = 0;
  if (position.data)
    position.read<1>(row, goal + 9);
  if (orientation.data)
    orientation.read<3>(row, goal);
  if (orientation.data && has_direction) { // a frame that stands for a direction
    Vec<double> axis = goal_frame(goal).r * load3(target.axis);
    for (int i = 0; i < 9; ++i)
      goal[i] = 0;
    store3(axis, goal);
  }
  if (direction.data)
    direction.read<1>(row, goal);
  SUPPLE_UNROLL(12)
  for (int i = 0; i < 12; ++i)
    zero += goal[i] * 0.0;
  if (!(zero == 0))
    return false;
  if (has_direction) {
    const double size = root(dot(load3(goal), load3(goal)));
    store3((1 / size) * load3(goal), goal);
    return size > 1e-12 && size < unbounded;
  }
  if (!orientation.data)
    return true;
  double gram[9];
  const double off = rotation_defect(goal, 3, gram);
  if (!(off <= mendable_rotation))
    return false;
  mend_rotation(goal, 3, gram, off);
  return dot(cross(load3(goal), load3(goal + 3)), load3(goal + 6)) > 0;
}

// Reads the start of a row; false if it is not finite.
SUPPLE_FN bool read_start_row(const SolverBlock &block, const Numbers &given, long long row, double *start) {
  double zero = 0;
  for (int l = 0; l < block.dof; ++l)
    zero += given.at(row, 0, l) * 0.0;
  if (!(zero == 0))
    return false;
  for (int l = 0; l < block.problem.n; ++l)
    start[l] = given.at(row, 0, block.columns[l]);
  make_exact(block.problem, block.search, start);
  return true;
}

SUPPLE_FN Request request_of_row(const SolverBlock &block, const Rows &rows, long long row, int wanted) {
  return {rows.goals + row * 12 * block.problem.target_count,
          rows.starts ? rows.starts + row * block.problem.n : nullptr, wanted, Deadline{}};
}

// ---- Solutions ----

struct RowError {
  double position, angle; // metres and radians, the largest of all goals
};

// How far q (n) is from the goals of a row; `axes`: scratch for the longest chain.
SUPPLE_FN RowError row_error(const Problem &problem, const double *goals, const double *q,
                             Axis<double> *axes) {
  double squared_position = 0, squared_turn = 0;
  for (int t = 0; t < problem.target_count; ++t) {
    const Target &target = problem.targets[t];
    const Frame<double> tip = end_effector(target, q, axes);
    Residual<double> r = residual<Angle>(target, tip, goal_frame(goals + 12 * t));
    remove_slack(target, r);
    squared_position = larger(squared_position, squared_distance(r));
    squared_turn = larger(squared_turn, squared_angle(r));
  }
  return {root(squared_position), root(squared_turn)};
}

// the next number of single precision, up (1) or down (-1)
SUPPLE_FLAT float next_float(float x, int direction) {
  if (x == 0)
    return direction * 1.4e-45f;
  int steps = bits(x) + ((x > 0) == (direction > 0) ? 1 : -1);
  std::memcpy(&x, &steps, sizeof x);
  return x;
}

// A number as it is returned; in single precision, rounded towards the inside of its limits.
SUPPLE_FLAT float inward(double x, double lower, double upper) {
  float y = float(x);
  if (double(y) > upper)
    y = next_float(y, -1);
  if (double(y) < lower)
    y = next_float(y, 1);
  return y;
}

// An array of solutions, of single or double precision: wanted x dof for each row.
struct Solutions {
  void *q;
  bool single;
  int *outcome, *iterations, *restarts; // wanted for each row
  double *position_error, *angle_error; // the same, in metres and radians

  // writes a number, and returns it as it was written
  SUPPLE_FLAT double set(long long place, double x, double lower, double upper) const {
    if (!single)
      return static_cast<double *>(q)[place] = x;
    return static_cast<float *>(q)[place] = inward(x, lower, upper);
  }
};

// All joints of a row at rest, within their limits. `place`: of the row in the solutions.
SUPPLE_FN void set_resting(const SolverBlock &block, long long place, const Solutions &solutions) {
  for (int l = 0; l < block.dof; ++l)
    solutions.set(place + l, block.rest[l], -unbounded, unbounded);
  for (int i = 0; i < block.other_count; ++i) {
    const Interval &other = block.others[i];
    solutions.set(place + other.index, block.rest[other.index], other.lower, other.upper);
  }
}

// The joints of a row that no goal needs: from its start, or at rest, within their limits. `place`: of the
// row in the solutions.
SUPPLE_FN void set_others(const SolverBlock &block, const Numbers &starts, long long row, long long place,
                          const Solutions &solutions) {
  for (int l = 0; l < block.dof; ++l) {
    const double given = starts.data ? starts.at(row, 0, l) : block.rest[l];
    solutions.set(place + l, given * 0.0 == 0 ? given : block.rest[l], -unbounded, unbounded);
  }
  for (int i = 0; i < block.other_count; ++i) {
    const Interval &other = block.others[i];
    const double given = starts.data ? starts.at(row, 0, other.index) : block.rest[other.index];
    solutions.set(place + other.index, clip(given, other.lower, other.upper), other.lower, other.upper);
  }
  for (int i = 0; i < block.other_ball_count; ++i) {
    const Ball &ball = block.other_balls[i];
    double v[3];
    for (int k = 0; k < 3; ++k)
      v[k] = starts.data ? starts.at(row, 0, ball.index + k) : block.rest[ball.index + k];
    store3(clamp_ball(load3(v), load3(ball.axis), ball.swing, ball.low, ball.high), v);
    for (int k = 0; k < 3; ++k)
      solutions.set(place + ball.index + k, v[k], -unbounded, unbounded);
  }
}

// Writes the joints that goals need, and changes `values` (n) to what was written.
SUPPLE_FN void set_values(const SolverBlock &block, long long place, double *values,
                          const Solutions &solutions) {
  const Problem &problem = block.problem;
  for (int l = 0; l < problem.n; ++l)
    values[l] = solutions.set(place + block.columns[l], values[l], problem.lower[l], problem.upper[l]);
}

// The outcome of what is returned: it has arrived only if its error says so.
SUPPLE_FLAT int judged(const Search &search, int outcome, const RowError &error) {
  constexpr double fraction = SearchConstants::tolerance_fraction;
  const bool within = fraction * error.position <= search.position_tolerance &&
                      fraction * error.angle <= search.angle_tolerance;
  return outcome == arrived && !within ? stuck : outcome;
}

} // namespace SUPPLE_ISA
} // namespace supple
