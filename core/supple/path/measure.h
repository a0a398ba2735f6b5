// Measures of a planned path: the error of each frame, and its jumps.
#pragma once
#include "supple/path/rotation.h"

namespace supple {
inline namespace SUPPLE_ISA {

// The largest distance and angle of the targets at each frame, one frame in each lane.
template <class T>
SUPPLE_FN void measure_errors(const Problem &problem, const Search &search, const PathRequest &path,
                              int first, SearchStepScratch<T> &step, PathRows rows) {
  constexpr int W = Lane<T>::width;
  const T zero = splat<T>(0);
  const int numbers = 12 * problem.target_count;
  for (int lane = 0; lane < W; ++lane) {
    const std::size_t frame = first + lane < path.frames ? first + lane : path.frames - 1;
    for (int i = 0; i < numbers; ++i)
      put(step.goals[i], lane, path.goals[frame * numbers + i]);
    for (int l = 0; l < problem.n; ++l)
      put(step.q[l], lane, rows.q[frame * problem.n + l]);
  }
  T distance = zero, angle = zero;
  for (int t = 0; t < problem.target_count; ++t) {
    const Target &target = problem.targets[t];
    const Frame<T> tip = end_effector(target, step.q, step.axes);
    Residual<T> r = residual(target, tip, goal_frame(step.goals + 12 * t), HalfSine{true});
    remove_slack(target, r);
    distance = larger(distance, squared_distance(r));
    angle = larger(angle, squared_angle(r));
  }
  for (int lane = 0; lane < W && first + lane < path.frames; ++lane) {
    const int frame = first + lane;
    const double d = std::sqrt(get(distance, lane)), a = std::sqrt(get(angle, lane));
    constexpr double fraction = SearchConstants::tolerance_fraction;
    rows.distance[frame] = d;
    rows.angle[frame] = a;
    const bool good = d <= search.position_tolerance / fraction && a <= search.angle_tolerance / fraction;
    rows.outcome[frame] = static_cast<unsigned char>(good ? arrived : stuck);
  }
}

template <class T, class Narrow>
SUPPLE_FN void measure(const Problem &problem, const Search &search, const PathRequest &path,
                       PlanScratch<T, Narrow> &scratch, PathRows rows) {
  for (int first = 0; first < path.frames; first += Lane<T>::width)
    measure_errors(problem, search, path, first, scratch.run.population.step.step, rows);
  rows.reconfigured[0] = false;
  for (int frame = 1; frame < path.frames; ++frame) {
    const double *row = rows.q + std::size_t(frame) * problem.n;
    rows.reconfigured[frame] =
        is_jump(problem, search, path, time_to(path, frame), row - problem.n, row, scratch.steps);
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
