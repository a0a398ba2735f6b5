// One step of a search for any goals and joints: residual, Jacobian, damped least squares, limits.
//
// A rotation by an angle a has the error 2 sin(a/2) about its axis, which needs no angle. The damping is a
// fraction of the squared error, so that it vanishes near the goal [D21]. A joint at its limit that the step
// would push outward is left out. All lanes of T step at once, each for its own problem or seed.
#pragma once
#include "supple/math/dense.h"
#include "supple/model/joint_limits.h"
#include "supple/search/held_balls.h"
#include "supple/search/setup.h"
#include "supple/search/several_targets.h"

namespace supple {
inline namespace SUPPLE_ISA {

template <class T>
struct SearchStepScratch {
  T *goals;         // 12 for each target
  T *q, *next;      // n: joint values, and those after the step
  T *change;        // n: the step, in weighted sizes of the joints
  T *gradient;      // n: J'e
  Axis<T> *axes;    // of one chain, and one more
  T *J;             // columns of 6, in weighted sizes: those of each target, one target after another
  T *e;             // rows: weighted residual
  T *normal_matrix; // n x n, lower triangle: J'J + damping
  T *target_error;  // weighted squared error of each target
  const Deadline *deadline = nullptr;

  // asked in long loops over many joints
  SUPPLE_FN bool is_to_end() const {
    return deadline && deadline->passed && deadline->passed(deadline->clock);
  }
};

// whether a step solves for the rows of its goal, and not for the joints
SUPPLE_FN bool solves_by_rows(const Problem &problem) {
  return problem.target_count == 1 && problem.rows <= problem.n;
}

template <class T>
SUPPLE_FN void lay_out(SearchStepScratch<T> &scratch, ScratchLayout &layout, const Problem &problem) {
  const int n = problem.n;
  int longest = 0, all = 0;
  for (int t = 0; t < problem.target_count; ++t) {
    const int axes = problem.targets[t].chain.axes;
    longest = axes > longest ? axes : longest;
    all += axes;
  }
  layout.array(scratch.goals, 12 * problem.target_count);
  layout.array(scratch.q, n);
  layout.array(scratch.next, n);
  layout.array(scratch.change, n);
  layout.array(scratch.gradient, n);
  layout.array(scratch.axes, longest + 1);
  layout.array(scratch.J, 6 * (all > n ? all : n));
  layout.array(scratch.e, problem.rows);
  layout.array(scratch.normal_matrix, solves_by_rows(problem) ? 0 : std::size_t(n) * n);
  layout.array(scratch.target_error, problem.target_count);
}

// the state before a step
template <class T>
struct SearchStepResult {
  T squared_error; // weighted, of all targets
  Mask<T> arrived; // within tolerance; in float, within what double finishes
};

template <class T>
SUPPLE_FLAT Mask<T> is_within_tolerance(const Search &search, T squared_distance, T squared_angle) {
  double position = search.position_tolerance, angle = search.angle_tolerance;
  if constexpr (!is_double<T>) {
    position = larger(position, PrecisionOf<T>::handover * search.length);
    angle = larger(angle, PrecisionOf<T>::handover);
  }
  const Mask<T> at_position = squared_distance <= splat<T>(position * position);
  const Mask<T> at_angle = squared_angle <= splat<T>(angle * angle);
  return at_position & at_angle;
}

// Columns of a target in J, and its share of the gradient J'e. `vectors` and `weight` are those of its rows.
template <class T>
SUPPLE_FN void add_columns(const Target &target, const Search &search, int t, Vec<T> point,
                           const RowVectors<T> &vectors, const T *weight, const int *&axis_column,
                           SearchStepScratch<T> &scratch) {
  const Chain &chain = target.chain;
  const T zero = splat<T>(0);
  const T *e = scratch.e + target.first;
  T *J = scratch.J + 6 * search.column_begin[t];
  const Axis<T> *axis = scratch.axes;
  int filled = 0;
  for (int k = 0; k < chain.count; ++k) {
    const ChainJoint &chain_joint = chain.joints[k];
    const bool is_prismatic = chain_joint.motion == prismatic;
    const double gain = chain_joint.motion == revolute ? chain_joint.turn_gain
                        : is_prismatic                 ? chain_joint.slide_gain
                                                       : 1;
    for (int b = 0; b < axis_count(chain_joint); ++b, ++axis, ++axis_column) {
      const int l = chain_joint.index + b;
      const Vec<T> z = splat<T>(gain * search.joints[l].weighted_size) * axis->z;
      T rows[6];
      if (is_prismatic)
        velocity_rows(target, vectors, weight, z, Vec<T>{zero, zero, zero}, rows);
      else
        velocity_rows(target, vectors, weight, cross(z, point - axis->p), z, rows);
      T *column = J + 6 * *axis_column;
      const bool add = *axis_column < filled; // another joint of the chain has the same value
      T gradient = scratch.gradient[l];
      for (int i = 0; i < target.rows; ++i) {
        column[i] = add ? column[i] + rows[i] : rows[i];
        gradient = gradient + rows[i] * e[i];
      }
      scratch.gradient[l] = gradient;
      filled = add ? filled : *axis_column + 1;
    }
  }
}

// limits of a joint
template <class T>
SUPPLE_FLAT T lower_limit(const SearchJoint &joint) {
  if constexpr (is_double<T>)
    return T(joint.lower);
  else
    return T(joint.float_lower);
}
template <class T>
SUPPLE_FLAT T upper_limit(const SearchJoint &joint) {
  if constexpr (is_double<T>)
    return T(joint.upper);
  else
    return T(joint.float_upper);
}

// whether a joint is at a limit and J'e points outward
template <class T>
SUPPLE_FLAT Mask<T> is_held(const SearchJoint &joint, T q, T gradient) {
  return pressed_outward(q, lower_limit<T>(joint), upper_limit<T>(joint), gradient);
}

// 1 for a joint that moves, 0 for one that is held
template <class T>
SUPPLE_FLAT T free_factor(Mask<T> held) {
  return select(!held, splat<T>(1), splat<T>(0));
}

// Clears the columns of held joints.
template <class T>
SUPPLE_FN void hold_joints(const Problem &problem, const Search &search, SearchStepScratch<T> &scratch) {
  for (int l = 0; l < problem.n; ++l) {
    const Mask<T> held = is_held(search.joints[l], scratch.q[l], scratch.gradient[l]);
    if (!any(held))
      continue;
    const T factor = free_factor<T>(held);
    scratch.gradient[l] = factor * scratch.gradient[l];
    for (int t = 0; t < problem.target_count; ++t)
      for (int c = search.column_begin[t]; c < search.column_begin[t + 1]; ++c)
        if (search.columns[c] == l)
          for (int i = 0; i < problem.targets[t].rows; ++i)
            scratch.J[6 * c + i] = factor * scratch.J[6 * c + i];
  }
}

// change = J'(J J' + damping)^-1 e, for one target of M rows
template <int M, class T>
SUPPLE_FN void solve_by_rows(const Search &search, T damping, SearchStepScratch<T> &scratch) {
  const int columns = search.column_begin[1];
  const T zero = splat<T>(0);
  T A[M * (M + 1) / 2], e[M];
  SUPPLE_UNROLL(6)
  for (int i = 0; i < M; ++i) {
    e[i] = scratch.e[i];
    for (int j = 0; j <= i; ++j)
      A[i * (i + 1) / 2 + j] = i == j ? damping : zero;
  }
  for (int c = 0; c < columns; ++c) {
    const T *column = scratch.J + 6 * c;
    SUPPLE_UNROLL(6)
    for (int i = 0; i < M; ++i)
      SUPPLE_UNROLL(6)
    for (int j = 0; j <= i; ++j)
      A[i * (i + 1) / 2 + j] = A[i * (i + 1) / 2 + j] + column[i] * column[j];
  }
  solve_packed<M>(A, e);
  for (int c = 0; c < columns; ++c) {
    T sum = scratch.J[6 * c] * e[0];
    SUPPLE_UNROLL(6)
    for (int i = 1; i < M; ++i)
      sum = sum + scratch.J[6 * c + i] * e[i];
    scratch.change[search.columns[c]] = sum;
  }
}

template <class T>
SUPPLE_FN void solve_by_rows(int rows, const Search &search, T damping, SearchStepScratch<T> &scratch) {
  switch (rows) {
  case 1:
    return solve_by_rows<1>(search, damping, scratch);
  case 2:
    return solve_by_rows<2>(search, damping, scratch);
  case 3:
    return solve_by_rows<3>(search, damping, scratch);
  case 4:
    return solve_by_rows<4>(search, damping, scratch);
  case 5:
    return solve_by_rows<5>(search, damping, scratch);
  default:
    return solve_by_rows<6>(search, damping, scratch);
  }
}

// J'J + damping, where joints have a common target; elsewhere it is zero and not stored
template <class T>
SUPPLE_FN void make_normal_matrix(const Problem &problem, const Search &search, T damping,
                                  SearchStepScratch<T> &scratch) {
  const std::ptrdiff_t n = problem.n;
  T *H = scratch.normal_matrix;
  for (int k = 0; k < n; ++k) {
    for (int j = search.joints[k].parent; j >= 0; j = search.joints[j].parent)
      H[k * n + j] = splat<T>(0);
    H[k * n + k] = damping;
  }
  for (int t = 0; t < problem.target_count; ++t) {
    const int begin = search.column_begin[t], end = search.column_begin[t + 1];
    const int rows = problem.targets[t].rows;
    for (int c = begin; c < end; ++c) {
      if (n > many_joints && scratch.is_to_end())
        return;
      for (int d = begin; d <= c; ++d) {
        const int k = search.columns[c], j = search.columns[d];
        const T *a = scratch.J + 6 * c, *b = scratch.J + 6 * d;
        T &entry = H[k > j ? k * n + j : j * n + k];
        T sum = entry;
        if (rows == 6)
          sum = (sum + a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
        else
          for (int i = 0; i < rows; ++i)
            sum = sum + a[i] * b[i];
        entry = sum;
      }
    }
  }
}

// change = (J'J + damping)^-1 J'e, for several targets. Joints of different branches have no common entry,
// and that stays so if the matrix is factored from the outermost joints inward: L'D L with the sparsity of
// the tree (Featherstone, Rigid Body Dynamics Algorithms, 6.5). A solve that is to end takes no step.
template <class T>
SUPPLE_FN void solve_by_joints(const Problem &problem, const Search &search, T damping,
                               SearchStepScratch<T> &scratch) {
  const std::ptrdiff_t n = problem.n;
  const SearchJoint *joints = search.joints;
  T *H = scratch.normal_matrix, *x = scratch.change;
  make_normal_matrix(problem, search, damping, scratch);
  for (int k = 0; k < n; ++k)
    x[k] = scratch.gradient[k];
  for (int k = problem.n - 1; k >= 0; --k) {
    if (n > many_joints && scratch.is_to_end()) {
      for (int i = 0; i < n; ++i)
        x[i] = splat<T>(0);
      return;
    }
    const T inverse = splat<T>(1) / larger(H[k * n + k], splat<T>(PrecisionOf<T>::least_pivot));
    H[k * n + k] = inverse;
    for (int i = joints[k].parent; i >= 0; i = joints[i].parent) {
      const T a = H[k * n + i] * inverse;
      for (int j = i; j >= 0; j = joints[j].parent)
        H[i * n + j] = H[i * n + j] - a * H[k * n + j];
      x[i] = x[i] - a * x[k];
      H[k * n + i] = a;
    }
  }
  for (int k = 0; k < n; ++k) {
    T sum = x[k] * H[k * n + k];
    for (int i = joints[k].parent; i >= 0; i = joints[i].parent)
      sum = sum - H[k * n + i] * x[i];
    x[k] = sum;
  }
}

// next = q + change, the change cut to the longest step of angles and to the limits. Slides are linear: they
// may go far at once.
template <class T>
SUPPLE_FLAT void apply_change(const Problem &problem, const Search &search, SearchStepScratch<T> &scratch) {
  const T max_step = splat<T>(lesser(search.max_step, PrecisionOf<T>::unlimited));
  T largest = max_step;
  for (int l = 0; l < problem.n; ++l)
    if (!search.joints[l].is_prismatic)
      largest = larger(largest, magnitude(scratch.change[l]));
  const T factor = max_step / largest;
  for (int l = 0; l < problem.n; ++l) {
    const SearchJoint &joint = search.joints[l];
    const T change = joint.is_prismatic ? scratch.change[l] : factor * scratch.change[l];
    const T to = scratch.q[l] + (joint.weighted_size == 1 ? change : change * splat<T>(joint.weighted_size));
    scratch.next[l] =
        joint.weighted_size > 0 ? clip(to, lower_limit<T>(joint), upper_limit<T>(joint)) : scratch.q[l];
  }
  for (int i = 0; i < problem.ball_count; ++i) {
    const Ball &ball = problem.balls[i];
    const int l = ball.index;
    if (!(search.joints[l].weighted_size > 0))
      continue;
    const T size = factor * splat<T>(search.joints[l].weighted_size);
    const Vec<T> r = turned(load3(scratch.q + l), size * load3(scratch.change + l));
    store3(clamp_ball(r, splat3<T>(ball.axis), splat<T>(ball.swing), splat<T>(ball.low), splat<T>(ball.high)),
           scratch.next + l);
  }
}

// the residual and the columns of one target; returns its share of the result
template <class T>
SUPPLE_FN SearchStepResult<T> add_target(const Target &target, const Search &search, int t, bool exact,
                                         const int *&axis_column, SearchStepScratch<T> &scratch) {
  const Frame<T> tip = end_effector(target, scratch.q, scratch.axes);
  Residual<T> r = residual(target, tip, goal_frame(scratch.goals + 12 * t), HalfSine{exact});
  remove_slack(target, r);
  T weight[6], *e = scratch.e + target.first;
  row_weights(target, r, weight);
  to_rows(target, r.rows, weight, r.position, r.rotation, e);
  SearchStepResult<T> result;
  result.arrived = is_within_tolerance(search, squared_distance(r), squared_angle(r));
  result.squared_error = splat<T>(0);
  for (int i = 0; i < target.rows; ++i)
    result.squared_error = result.squared_error + e[i] * e[i];
  scratch.target_error[t] = result.squared_error;
  if (target.has_pole)
    make_pole_axes(target, r.rows, tip, scratch.axes);
  add_columns(target, search, t, tip.p, r.rows, weight, axis_column, scratch);
  return result;
}

// the residual, the columns and the gradient of all targets
template <class T>
SUPPLE_FN SearchStepResult<T> add_targets(const Problem &problem, const Search &search, bool exact,
                                          SearchStepScratch<T> &scratch) {
  const T zero = splat<T>(0);
  SearchStepResult<T> result{zero, zero == zero};
  for (int l = 0; l < problem.n; ++l)
    scratch.gradient[l] = zero;
  const int *axis_column = search.axis_column;
  for (int t = 0; t < problem.target_count; ++t) {
    const SearchStepResult<T> added = add_target(problem.targets[t], search, t, exact, axis_column, scratch);
    result.squared_error = result.squared_error + added.squared_error;
    result.arrived = result.arrived & added.arrived;
  }
  return result;
}

// a fraction of the squared error [D21]
template <class T>
SUPPLE_FLAT T step_damping(const Search &search, T factor, T squared_error) {
  const T most = splat<T>(lesser(search.damped_error, PrecisionOf<T>::unlimited));
  return factor * lesser(squared_error, most) + splat<T>(PrecisionOf<T>::least_damping);
}

// One step from q, into `next`; with `exact`, rotations count by their angle.
template <class T>
SUPPLE_FN SearchStepResult<T> general_step(const Problem &problem, const Search &search, T damping_factor,
                                           bool exact, SearchStepScratch<T> &scratch) {
  const SearchStepResult<T> result = add_targets(problem, search, exact, scratch);
  hold_joints(problem, search, scratch);
  hold_balls(problem, search, scratch.q, scratch.gradient, scratch.J, scratch.gradient);
  const T damping = step_damping(search, damping_factor, result.squared_error);
  if (solves_by_all_rows(problem))
    solve_by_all_rows(problem, search, damping, scratch.J, scratch.normal_matrix, scratch.e, scratch.change);
  else if (solves_by_rows(problem))
    solve_by_rows(problem.rows, search, damping, scratch);
  else
    solve_by_joints(problem, search, damping, scratch);
  apply_change(problem, search, scratch);
  return result;
}

} // namespace SUPPLE_ISA
} // namespace supple
