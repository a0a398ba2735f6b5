// Less joint motion along a path of a redundant linkage: its frames move within their self-motion.
//
// With the null space N_f of the Jacobian of each frame (n x r), the frames move by N_f a_f so that the sum
// of |W_f^1/2 (q_(f+1) + N_(f+1) a_(f+1) - q_f - N_f a_f)|^2 becomes least: a block tridiagonal system of r x
// r blocks. Newton's steps bring each frame back to its goals. The weights W_f of a joint grow where it is
// faster than its limit allows.
#pragma once
#include "supple/path/run.h"

namespace supple {
inline namespace SUPPLE_ISA {

template <class T>
struct SmoothScratch {
  double *null_space;  // frames x n x r: rows of joints
  double *coupling;    // frames x r x r: S_f^-1 B_f of the factorisation
  double *shift;       // frames x r: a_f
  double *weight;      // frames x n: of the step that follows each frame
  double *moved;       // frames x n: joint values of a trial
  double *pair;        // r x r: a diagonal block
  double *cross_block; // r x r: the block beside it
  double *steps;       // n
  double *gap;         // n: a fraction of the gap at the end
  T *projection;       // n x n: I - J'A^-1 J
  T *gram;             // rows x rows
  T *jacobian;         // rows x n
  T *column;           // rows
};

// How many directions of self-motion are smoothed; 0: none.
SUPPLE_FN int smoothed_directions(const Problem &problem, const Search &search) {
  int moving = 0;
  for (int l = 0; l < problem.n; ++l)
    moving += search.joints[l].weighted_size > 0;
  const bool usable = !search.has_slack && problem.ball_count == 0;
  return usable && problem.rows < moving ? moving - problem.rows : 0;
}

template <class T>
SUPPLE_FN void lay_out(SmoothScratch<T> &scratch, ScratchLayout &layout, const Problem &problem, int frames) {
  const std::size_t n = problem.n, r = problem.rows < problem.n ? n - problem.rows : 0, count = frames;
  layout.array(scratch.null_space, count * n * r);
  layout.array(scratch.coupling, count * r * r);
  layout.array(scratch.shift, count * r);
  layout.array(scratch.weight, count * n);
  layout.array(scratch.moved, count * n);
  layout.array(scratch.pair, r * r);
  layout.array(scratch.cross_block, r * r);
  layout.array(scratch.steps, n);
  layout.array(scratch.gap, n);
  layout.array(scratch.projection, n * n);
  layout.array(scratch.gram, std::size_t(problem.rows) * problem.rows);
  layout.array(scratch.jacobian, problem.rows * n);
  layout.array(scratch.column, problem.rows);
}

// The goals and joint values of frames first, first + 1, ... into the lanes; beyond `end` the last again.
template <class T>
SUPPLE_FN void load_frames(const Problem &problem, const PathRequest &path, int first, int end,
                           const double *q, SearchStepScratch<T> &step) {
  const int numbers = 12 * problem.target_count;
  for (int lane = 0; lane < Lane<T>::width; ++lane) {
    const std::size_t frame = first + lane < end ? first + lane : end - 1;
    for (int i = 0; i < numbers; ++i)
      put(step.goals[i], lane, path.goals[frame * numbers + i]);
    for (int l = 0; l < problem.n; ++l)
      put(step.q[l], lane, q[frame * problem.n + l]);
  }
}

// I - J'(J J' + damping)^-1 J of all lanes, in weighted sizes.
template <class T>
SUPPLE_FN void find_projection(const Problem &problem, const Search &search, SearchStepScratch<T> &step,
                               SmoothScratch<T> &scratch) {
  const int n = problem.n, m = problem.rows;
  const T zero = splat<T>(0);
  add_targets(problem, search, false, step);
  for (int i = 0; i < m * n; ++i)
    scratch.jacobian[i] = zero;
  for (int t = 0; t < problem.target_count; ++t)
    for (int c = search.column_begin[t]; c < search.column_begin[t + 1]; ++c)
      for (int i = 0; i < problem.targets[t].rows; ++i)
        scratch.jacobian[(problem.targets[t].first + i) * n + search.columns[c]] = step.J[6 * c + i];
  auto at = [&](int i, int l) { return scratch.jacobian[i * n + l]; };
  gram(m, n, true, splat<T>(1e-9), at, scratch.gram);
  factor(scratch.gram, m);
  for (int l = 0; l < n; ++l) {
    for (int i = 0; i < m; ++i)
      scratch.column[i] = at(i, l);
    solve(scratch.gram, m, scratch.column);
    for (int k = 0; k < n; ++k) {
      T sum = splat<T>(k == l ? 1 : 0);
      for (int i = 0; i < m; ++i)
        sum = sum - at(i, k) * scratch.column[i];
      scratch.projection[k * n + l] =
          search.joints[k].weighted_size > 0 && search.joints[l].weighted_size > 0 ? sum : zero;
    }
  }
}

// An orthonormal basis of the self-motion of one lane (n x r): columns of the projection, the longest first.
template <class T>
SUPPLE_FN void find_basis(int n, int r, int lane, T *projection, double *basis) {
  for (int d = 0; d < r; ++d) {
    int pivot = 0;
    for (int l = 1; l < n; ++l)
      if (get(projection[l * n + l], lane) > get(projection[pivot * n + pivot], lane))
        pivot = l;
    const double square = get(projection[pivot * n + pivot], lane);
    const double scale = square > 1e-12 ? 1 / std::sqrt(square) : 0;
    for (int l = 0; l < n; ++l)
      basis[l * r + d] = scale * get(projection[l * n + pivot], lane);
    for (int k = 0; k < n; ++k)
      for (int l = 0; l < n; ++l)
        put(projection[k * n + l], lane,
            get(projection[k * n + l], lane) - basis[k * r + d] * basis[l * r + d]);
  }
}

// The null spaces of frames begin to end.
template <class T>
SUPPLE_FN void find_null_spaces(const Problem &problem, const Search &search, const PathRequest &path, int r,
                                int begin, int end, const double *q, SearchStepScratch<T> &step,
                                SmoothScratch<T> &scratch) {
  const std::size_t size = std::size_t(problem.n) * r;
  for (int first = begin; first < end; first += Lane<T>::width) {
    load_frames(problem, path, first, end, q, step);
    find_projection(problem, search, step, scratch);
    for (int lane = 0; lane < Lane<T>::width && first + lane < end; ++lane)
      find_basis(problem.n, r, lane, scratch.projection, scratch.null_space + (first + lane) * size);
  }
}

// block += factor N'W M, with the null spaces N and M of two frames (n x r) and the weights W (n)
SUPPLE_FN void add_products(int n, int r, const double *N, const double *M, const double *W, double factor,
                            double *block) {
  for (int l = 0; l < n; ++l)
    for (int i = 0; i < r; ++i) {
      const double product = factor * W[l] * N[l * r + i];
      for (int j = 0; j < r; ++j)
        block[i * r + j] += product * M[l * r + j];
    }
}

// Adds to the block and the right side the pull on joints that are near their limits.
SUPPLE_FN void add_limits(const Problem &problem, const Search &search, int preference, int r,
                          const double *N, const double *q, double *block, double *right) {
  for (int l = 0; l < problem.n; ++l) {
    const SearchJoint &joint = search.joints[l];
    const double half = 0.5 * (problem.upper[l] - problem.lower[l]);
    if (!(joint.weighted_size > 0) || !(half < 0.5 * unbounded) || !(half > 0))
      continue;
    const double middle = problem.lower[l] + half;
    const double bound = PathConstants::smooth_zone * half;
    const double over = q[l] > middle + bound   ? q[l] - middle - bound
                        : q[l] < middle - bound ? q[l] - middle + bound
                                                : 0;
    const double all = preference == centred ? PathConstants::centring_weight : 0;
    const double weight = over != 0 ? PathConstants::limit_weight : 0;
    const double pull = (weight * over + all * (q[l] - middle)) / joint.weighted_size;
    for (int i = 0; i < r && (weight > 0 || all > 0); ++i) {
      right[i] -= N[l * r + i] * pull;
      for (int j = 0; j < r; ++j)
        block[i * r + j] += (weight + all) * N[l * r + i] * N[l * r + j];
    }
  }
}

// the step from one frame to the next, in weighted sizes
SUPPLE_FN void weighted_steps(const Problem &problem, const Search &search, const double *q, double *steps) {
  joint_steps(problem, q, q + problem.n, steps);
  for (int l = 0; l < problem.n; ++l) {
    const double size = search.joints[l].weighted_size;
    steps[l] = size > 0 ? steps[l] / size : 0;
  }
}

// Solves for the shifts of frames begin to end; the first and the last stay if they are fixed.
template <class T>
SUPPLE_FN void find_shifts(const Problem &problem, const Search &search, const PathRequest &path, int r,
                           int begin, int end, bool fixed_first, bool fixed_last, const double *q,
                           SmoothScratch<T> &scratch) {
  const int n = problem.n;
  const std::size_t size = std::size_t(n) * r;
  double *S = scratch.pair, *B = scratch.cross_block;
  for (int f = begin; f < end; ++f) {
    const double *N = scratch.null_space + f * size;
    double *u = scratch.shift + std::size_t(f) * r;
    const bool fixed = (f == begin && fixed_first) || (f == end - 1 && fixed_last);
    for (int i = 0; i < r * r; ++i)
      S[i] = i % (r + 1) ? 0 : fixed ? 1e12 : PathConstants::smooth_damping;
    for (int i = 0; i < r; ++i)
      u[i] = 0;
    for (int side = f - 1; side <= f; ++side) {
      if (side < begin || side > end - 2)
        continue;
      const double *W = scratch.weight + std::size_t(side) * n;
      weighted_steps(problem, search, q + std::size_t(side) * n, scratch.steps);
      const double sign = side == f ? 1 : -1;
      for (int l = 0; l < n; ++l)
        for (int i = 0; i < r; ++i)
          u[i] += sign * W[l] * N[l * r + i] * scratch.steps[l];
      add_products(n, r, N, N, W, 1, S);
    }
    add_limits(problem, search, path.preference, r, N, q + std::size_t(f) * n, S, u);
    if (f > begin) { // B holds H_(f-1, f), Y its solution
      const double *before = scratch.shift + std::size_t(f - 1) * r,
                   *Y = scratch.coupling + std::size_t(f - 1) * r * r;
      for (int i = 0; i < r; ++i)
        for (int k = 0; k < r; ++k) {
          u[i] -= B[k * r + i] * before[k];
          for (int j = 0; j < r; ++j)
            S[i * r + j] -= B[k * r + i] * Y[k * r + j];
        }
    }
    factor(S, r);
    solve(S, r, u);
    if (f + 1 == end)
      continue;
    for (int i = 0; i < r * r; ++i)
      B[i] = 0;
    add_products(n, r, N, N + size, scratch.weight + std::size_t(f) * n, -1, B);
    double *Y = scratch.coupling + std::size_t(f) * r * r;
    for (int j = 0; j < r; ++j) {
      double *column = scratch.steps; // n, which is at least r
      for (int i = 0; i < r; ++i)
        column[i] = B[i * r + j];
      solve(S, r, column);
      for (int i = 0; i < r; ++i)
        Y[i * r + j] = column[i];
    }
  }
  for (int f = end - 2; f >= begin; --f)
    for (int i = 0; i < r; ++i)
      for (int j = 0; j < r; ++j)
        scratch.shift[std::size_t(f) * r + i] -=
            scratch.coupling[std::size_t(f) * r * r + i * r + j] * scratch.shift[std::size_t(f + 1) * r + j];
}

// Brings frames begin to end of q back to their goals by Newton's steps, with joints that wrap at their
// turns; false if one does not arrive.
template <class T>
SUPPLE_FN bool return_to_goals(const Problem &problem, const Search &search, const PathRequest &path,
                               int begin, int end, double *q, ContinuationScratch<T> &step) {
  constexpr int W = Lane<T>::width;
  for (int first = begin; first < end; first += W) {
    load_frames(problem, path, first, end, q, step.step);
    step.has_preferred = false;
    step.keeps_turns = true;
    for (int l = 0; l < problem.n; ++l)
      step.preferred[l] = splat<T>(0);
    const int count = end - first < W ? end - first : W, wanted = (1 << count) - 1;
    if (arrive(problem, search, wanted, step) != wanted)
      return false;
    for (int lane = 0; lane < count; ++lane)
      for (int l = 0; l < problem.n; ++l)
        q[std::size_t(first + lane) * problem.n + l] = get(step.found[l], lane);
  }
  return true;
}

// Moves frames by a fraction of their shifts and back to their goals, into `moved`; false if one does not
// arrive.
template <class T>
SUPPLE_FN bool move_frames(const Problem &problem, const Search &search, const PathRequest &path, int r,
                           int begin, int end, double fraction, const double *q, ContinuationScratch<T> &step,
                           SmoothScratch<T> &scratch) {
  const int n = problem.n;
  const std::size_t size = std::size_t(n) * r;
  for (int f = begin; f < end; ++f)
    for (int l = 0; l < n; ++l) {
      const SearchJoint &joint = search.joints[l];
      double sum = 0;
      for (int i = 0; i < r; ++i)
        sum += scratch.null_space[f * size + l * r + i] * scratch.shift[std::size_t(f) * r + i];
      const std::size_t at = std::size_t(f) * n + l;
      scratch.moved[at] = clip(q[at] + fraction * sum * joint.weighted_size,
                               lower_limit(problem, search, l, true), upper_limit(problem, search, l, true));
    }
  return return_to_goals(problem, search, path, begin, end, scratch.moved, step);
}

// Measures the joint motion: the sum of squares of steps in weighted sizes; the largest step divided by the
// longest allowed one; and the sum of squares of the excess of this ratio above 1.
struct MotionCost {
  double squares = 0, largest = 0, excess = 0;

  SUPPLE_FN bool is_too_fast() const { return largest > 1; }
};
template <class T>
SUPPLE_FN MotionCost motion_cost(const Problem &problem, const Search &search, const PathRequest &path,
                                 int begin, int end, const double *q, SmoothScratch<T> &scratch) {
  MotionCost cost;
  for (int f = begin; f + 1 < end; ++f) {
    weighted_steps(problem, search, q + std::size_t(f) * problem.n, scratch.steps);
    const double dt = time_to(path, f + 1);
    for (int l = 0; l < problem.n; ++l) {
      const SearchJoint &joint = search.joints[l];
      const double step = std::fabs(scratch.steps[l]);
      cost.squares += step * step;
      if (!(joint.weighted_size > 0))
        continue;
      const double ratio = step * joint.weighted_size / longest_step(joint, path.speed[l], dt);
      cost.largest = larger(cost.largest, ratio);
      cost.excess += ratio > 1 ? (ratio - 1) * (ratio - 1) : 0;
    }
  }
  return cost;
}

// Raises the weights of steps that come near the longest allowed one.
template <class T>
SUPPLE_FN void raise_weights(const Problem &problem, const Search &search, const PathRequest &path, int begin,
                             int end, const double *q, SmoothScratch<T> &scratch) {
  for (int f = begin; f + 1 < end; ++f) {
    weighted_steps(problem, search, q + std::size_t(f) * problem.n, scratch.steps);
    const double dt = time_to(path, f + 1);
    for (int l = 0; l < problem.n; ++l) {
      const SearchJoint &joint = search.joints[l];
      if (!(joint.weighted_size > 0))
        continue;
      const double used =
          std::fabs(scratch.steps[l]) * joint.weighted_size / longest_step(joint, path.speed[l], dt);
      const double over = larger(used - PathConstants::speed_zone, 0.0);
      scratch.weight[std::size_t(f) * problem.n + l] *= 1 + PathConstants::weight_growth * over;
    }
  }
}

// Smooths frames begin to end of q, which meet their goals without a break.
template <class T>
SUPPLE_FN void smooth_frames(const Problem &problem, const Search &search, const PathRequest &path, int begin,
                             int end, bool fixed_first, bool fixed_last, double *q,
                             ContinuationScratch<T> &step, SmoothScratch<T> &scratch) {
  const int n = problem.n, r = smoothed_directions(problem, search);
  for (std::size_t i = std::size_t(begin) * n; i < std::size_t(end) * n; ++i)
    scratch.weight[i] = 1;
  MotionCost now = motion_cost(problem, search, path, begin, end, q, scratch);
  for (int round = 0; round < PathConstants::smoothing_rounds; ++round) {
    if (!now.is_too_fast() && round >= PathConstants::usual_rounds)
      return;
    if (now.largest > PathConstants::speed_zone)
      raise_weights(problem, search, path, begin, end, q, scratch);
    find_null_spaces(problem, search, path, r, begin, end, q, step.step, scratch);
    find_shifts(problem, search, path, r, begin, end, fixed_first, fixed_last, q, scratch);
    const MotionCost before = now;
    bool better = false;
    for (int halvings = 0; halvings < PathConstants::step_halvings && !better; ++halvings) {
      const double fraction = 1.0 / (1 << halvings);
      if (!move_frames(problem, search, path, r, begin, end, fraction, q, step, scratch))
        continue;
      const MotionCost then = motion_cost(problem, search, path, begin, end, scratch.moved, scratch);
      better = before.is_too_fast()
                   ? then.excess < before.excess * (1 - 1e-6)
                   : !then.is_too_fast() && (path.preference == centred || then.squares < before.squares);
      if (better)
        now = then;
    }
    if (!better)
      return;
    for (std::size_t i = std::size_t(begin) * n; i < std::size_t(end) * n; ++i)
      q[i] = scratch.moved[i];
    constexpr double most = (1 - PathConstants::least_relief) * (1 - PathConstants::least_relief);
    if (now.is_too_fast() && now.excess > most * before.excess && round >= PathConstants::usual_rounds)
      return;
  }
}

// Whether no step between rows begin to end is a jump at any speed limit.
template <class T>
SUPPLE_FN bool are_connected(const Problem &problem, const Search &search, const PathRequest &path, int begin,
                             int end, const double *rows, SmoothScratch<T> &scratch) {
  for (int f = begin; f + 1 < end; ++f) {
    const double *row = rows + std::size_t(f) * problem.n;
    joint_steps(problem, row, row + problem.n, scratch.steps);
    for (int l = 0; l < problem.n; ++l)
      if (!(std::fabs(scratch.steps[l]) <= longest_continuous_step(search.joints[l], time_to(path, f + 1))))
        return false;
  }
  return true;
}

// Spreads the gap between the last q and the required one over frames begin to end, step by step. Returns
// whether they still meet their goals without a jump.
template <class T>
SUPPLE_FN bool close_gap(const Problem &problem, const Search &search, const PathRequest &path, int begin,
                         int end, const double *wanted, double *q, ContinuationScratch<T> &step,
                         SmoothScratch<T> &scratch) {
  constexpr int steps = PathConstants::gap_steps;
  const int n = problem.n;
  for (std::size_t i = std::size_t(begin) * n; i < std::size_t(end) * n; ++i)
    scratch.moved[i] = q[i];
  const double *last = scratch.moved + std::size_t(end - 1) * n;
  for (int k = 0; k < steps; ++k) {
    const bool whole = k == steps - 1;
    for (int l = 0; l < n; ++l)
      scratch.gap[l] = (wanted[l] - last[l]) / (steps - k);
    for (int f = begin; f < end; ++f) {
      double *row = scratch.moved + std::size_t(f) * n;
      for (int l = 0; l < n; ++l)
        row[l] += scratch.gap[l] * (f - begin) / (end - 1 - begin);
      clamp_balls(problem, search, row);
    }
    if (!return_to_goals(problem, search, path, begin, whole ? end - 1 : end, scratch.moved, step))
      return false;
  }
  for (int l = 0; l < n; ++l)
    scratch.moved[std::size_t(end - 1) * n + l] = wanted[l];
  if (!are_connected(problem, search, path, begin, end, scratch.moved, scratch))
    return false;
  for (std::size_t i = std::size_t(begin) * n; i < std::size_t(end) * n; ++i)
    q[i] = scratch.moved[i];
  return true;
}

} // namespace SUPPLE_ISA
} // namespace supple
