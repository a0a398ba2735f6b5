// The plan of a path: runs one after another, each as long as possible, with the fewest reconfigurations.
#pragma once
#include "supple/path/starts.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Branches of key frames, joined where they meet.
template <class T, class Narrow>
SUPPLE_FN bool try_branches(const Problem &problem, const Search &search, const PathRequest &path,
                            PlanScratch<T, Narrow> &scratch, Stage &stage) {
  BranchScratch &branches = scratch.branches;
  for (int f = stage.begin; f < path.frames; ++f)
    branches.count[f] = 0;
  for (int key = stage.begin, next; key < path.frames; key = next) {
    next = key + PathConstants::key_frames;
    if (key < path.frames - 1 && next > path.frames - 1)
      next = path.frames - 1;
    const int before =
        key - PathConstants::key_frames < stage.begin ? stage.begin : key - PathConstants::key_frames;
    const int seeds = find_seeds(problem, search, path, key, key == stage.begin ? stage.start : nullptr,
                                 PathConstants::key_solutions, scratch);
    for (int direction = seeds ? -1 : 3; direction <= 1; direction += 2) {
      const int end = direction < 0 ? before : next < path.frames ? next : path.frames;
      if (key == end)
        continue;
      begin_population(problem, search, scratch.run.seeds, seeds, seeds, scratch.run.population);
      scratch.run.population.keeps_turns = false;
      const Run run = continue_population(problem, search, path, key, end, false, false, scratch.run);
      add_branches(problem, key, direction, direction > 0 ? 0 : 1, run, scratch.run.last_alive, scratch.run,
                   branches);
    }
  }
  int end = stage.begin;
  while (end < path.frames && branches.count[end])
    ++end;
  if (end == stage.begin)
    return false;
  join_branches(problem, search, path, stage.begin, end, stage.start, branches, scratch.rows);
  return take_attempt(problem, search, path, end - stage.begin, scratch, stage);
}

// A ball joint rotated from `from` towards `to`, by at most `most` about each axis, within its limits. The
// limits are not convex, and clamping may lengthen the rotation: it is then halved.
SUPPLE_FN Vec<double> turned_towards(const Ball &ball, Vec<double> from, Vec<double> to, const double *most) {
  const Vec<double> rotation = between(from, to);
  auto excess = [&](Vec<double> rotation) {
    double largest = 0;
    const double angles[3] = {std::fabs(rotation.x), std::fabs(rotation.y), std::fabs(rotation.z)};
    for (int i = 0; i < 3; ++i)
      if (angles[i] > most[i])
        largest = larger(largest, most[i] > 0 ? angles[i] / most[i] : unbounded);
    return largest;
  };
  const double over = excess(rotation);
  double share = over > 1 ? 1 / over : 1;
  for (int k = 0; k < PathConstants::ball_halvings; ++k, share *= 0.5) {
    const Vec<double> found =
        clamp_ball(turned(from, share * rotation), load3(ball.axis), ball.swing, ball.low, ball.high);
    if (!(excess(between(from, found)) > 1 + PathConstants::rounding))
      return found;
  }
  return from;
}

// The joint values of a frame that has no solution: from those of the frame before, towards the goal, by
// steps that are not jumps and that lower the error (Levenberg-Marquardt). Returns whether they arrive.
template <class T, class Narrow>
SUPPLE_FN bool approach_frame(const Problem &problem, const Search &search, const PathRequest &path,
                              int frame, PlanScratch<T, Narrow> &scratch, const double *before, double *row) {
  SearchStepScratch<T> &step = scratch.run.population.step.step;
  const int numbers = 12 * problem.target_count;
  const double dt = time_to(path, frame);
  for (int i = 0; i < numbers; ++i)
    step.goals[i] = splat<T>(path.goals[std::size_t(frame) * numbers + i]);
  for (int l = 0; l < problem.n; ++l)
    row[l] = before[l];
  double damping = SearchConstants::damping, least = unbounded;
  for (int l = 0; l < problem.n; ++l)
    step.q[l] = splat<T>(row[l]);
  for (int k = 0; k < PathConstants::nearest_steps; ++k) {
    const SearchStepResult<T> result = general_step(problem, search, splat<T>(damping), false, step);
    const double error = get(result.squared_error, 0);
    const bool better = error < least;
    if (better) {
      for (int l = 0; l < problem.n; ++l)
        row[l] = get(step.q[l], 0);
      if (bits_of(result.arrived) & 1)
        return true;
      if (error > (1 - PathConstants::least_reduction) * least)
        return false;
      least = error;
    } else {
      for (int l = 0; l < problem.n; ++l)
        step.q[l] = splat<T>(row[l]);
      general_step(problem, search, splat<T>(damping), false, step);
    }
    damping *= better ? 0.3 : 8;
    for (int l = 0; l < problem.n; ++l) {
      const double most = longest_given_step(search.joints[l], path.speed[l], dt);
      const double lower = larger(before[l] - most, lower_limit(problem, search, l, true)),
                   upper = lesser(before[l] + most, upper_limit(problem, search, l, true));
      step.q[l] = splat<T>(clip(get(step.next[l], 0), lower, upper));
    }
    for (int i = 0; i < problem.ball_count; ++i) {
      const int l = problem.balls[i].index;
      double most[3];
      for (int k = 0; k < 3; ++k)
        most[k] = longest_given_step(search.joints[l + k], path.speed[l + k], dt);
      const Vec<double> to{get(step.next[l], 0), get(step.next[l + 1], 0), get(step.next[l + 2], 0)};
      const Vec<double> found = turned_towards(problem.balls[i], load3(before + l), to, most);
      store3(Vec<T>{splat<T>(found.x), splat<T>(found.y), splat<T>(found.z)}, step.q + l);
    }
  }
  return false;
}

// Plans frames without a solution, from `frame` on. Returns the next frame that has one. Its joint values are
// in its row if `found` is set; otherwise they must be searched.
template <class T, class Narrow>
SUPPLE_FN int pass_unreachable(const Problem &problem, const Search &search, const PathRequest &path,
                               int frame, PlanScratch<T, Narrow> &scratch, double *q, bool &found) {
  const int n = problem.n;
  found = false;
  if (frame == 0) {
    for (int l = 0; l < n; ++l)
      q[l] = scratch.run.seeds[l];
    ++frame;
  }
  for (int k = 0; frame < path.frames && !is_stopped(path, frame); ++frame, ++k) {
    const double *before = q + std::size_t(frame - 1) * n;
    found = approach_frame(problem, search, path, frame, scratch, before, q + std::size_t(frame) * n);
    if (found)
      return frame;
    if (k % PathConstants::search_again != PathConstants::search_again - 1 ||
        !find_seeds(problem, search, path, frame, nullptr, 1, scratch))
      continue;
    for (int i = 1; i < PathConstants::search_again; ++i, --frame)
      if (!find_seeds(problem, search, path, frame - 1, nullptr, 1, scratch))
        break;
    return frame;
  }
  return frame;
}

// Plans from the solution of a frame that is nearest to the joint values before it. Returns whether this
// reaches the last frame without a reconfiguration. Steps may be too fast: they only need more time.
template <class T, class Narrow>
SUPPLE_FN bool try_near(const Problem &problem, const Search &search, const PathRequest &path,
                        const double *before, PlanScratch<T, Narrow> &scratch, Stage &stage) {
  const int seeds = find_seeds(problem, search, path, stage.begin, before, 1, scratch);
  if (!seeds)
    return false;
  stage.start = before;
  const bool perfect = try_few(problem, search, path, seeds, scratch, stage);
  stage.start = nullptr;
  const PathRequest section = section_of(problem, path, stage.begin, path.frames);
  return perfect ||
         (stage.best.frames == section.frames &&
          are_connected(problem, search, section, 0, section.frames, scratch.best_rows, scratch.smooth));
}

// Plans all frames of a path into q (frames x n); the first is `start` or near it, if that is given.
template <class T, class Narrow>
SUPPLE_FN void plan_frames(const Problem &problem, const Search &search, const PathRequest &path,
                           PlanScratch<T, Narrow> &scratch, double *q) {
  const int n = problem.n;
  const double *start = path.start, *before = nullptr;
  for (int frame = 0; frame < path.frames && !is_stopped(path, 0);) {
    int seeds = find_seeds(problem, search, path, frame, start, path.candidates, scratch);
    if (!seeds) {
      bool found;
      frame = pass_unreachable(problem, search, path, frame, scratch, q, found);
      start = found ? q + std::size_t(frame) * n : nullptr;
      before = found ? nullptr : q + std::size_t(frame - 1) * n;
      continue;
    }
    Stage stage{frame, start, {}};
    const bool goes_on = before && try_near(problem, search, path, before, scratch, stage);
    if (before && !goes_on)
      seeds = find_seeds(problem, search, path, frame, start, path.candidates, scratch);
    if (!goes_on && !try_few(problem, search, path, seeds, scratch, stage)) {
      const int stop = frame + stage.best.frames;
      const bool more = stop == path.frames || find_seeds(problem, search, path, stop, nullptr, 1, scratch);
      if (more && is_redundant(problem, search))
        try_spread(problem, search, path, PathConstants::some, scratch, stage) ||
            try_spread(problem, search, path, PathConstants::many, scratch, stage) ||
            (stage.best.frames == path.frames - frame &&
             (try_starts(problem, search, path, PathConstants::some, scratch, stage) ||
              try_hardest(problem, search, path, PathConstants::some, scratch, stage)));
      else if (more)
        try_branches(problem, search, path, scratch, stage);
    }
    if (!stage.best.frames) { // no candidate reached this frame: it is planned alone
      find_seeds(problem, search, path, frame, start, 1, scratch);
      stage.best.frames = 1;
      for (int l = 0; l < n; ++l)
        scratch.best_rows[l] = scratch.run.seeds[l];
    }
    for (std::size_t i = 0; i < std::size_t(stage.best.frames) * n; ++i)
      q[std::size_t(frame) * n + i] = scratch.best_rows[i];
    frame += stage.best.frames;
    start = before = nullptr;
  }
  bridge_jumps(problem, search, path, q, scratch.run.population.step, scratch.smooth);
}

} // namespace SUPPLE_ISA
} // namespace supple
