// The plan of a path: runs one after another, each as long as possible, with the fewest reconfigurations.
#pragma once
#include "supple/path/smooth.h"

namespace supple {
inline namespace SUPPLE_ISA {

template <class T, class Narrow>
struct PlanScratch {
  RunScratch<T> run;
  RestartScratch<Narrow> search;
  SmoothScratch<T> smooth;
  double *rows, *other_rows; // frames x n: joint values of two attempts
};

template <class T, class Narrow>
SUPPLE_FN void lay_out(PlanScratch<T, Narrow> &scratch, ScratchLayout &layout, const Problem &problem,
                       int frames) {
  lay_out(scratch.search, layout, problem);
  lay_out(scratch.run, layout, problem, frames);
  lay_out(scratch.smooth, layout, problem, frames);
  layout.array(scratch.rows, std::size_t(frames) * problem.n);
  layout.array(scratch.other_rows, std::size_t(frames) * problem.n);
}

// One attempt to go on from a frame: so many frames of rows, at this cost.
struct Attempt {
  int frames = 0;
  double cost = unbounded;

  SUPPLE_FN bool is_perfect(int wanted) const { return frames == wanted && cost < PathConstants::speed_cost; }
  SUPPLE_FN bool is_better_than(const Attempt &other) const {
    return frames > other.frames || (frames == other.frames && cost < other.cost);
  }
};

// Up to `wanted` answers for a frame into scratch.run.seeds; with `start`, the nearest to it alone. Returns
// how many; if that is 0, row 0 has the nearest joint values.
template <class T, class Narrow>
SUPPLE_FN int find_seeds(const Problem &problem, const Search &search, const PathRequest &path, int frame,
                         const double *start, int wanted, PlanScratch<T, Narrow> &scratch) {
  const Request request{path.goals + std::size_t(frame) * 12 * problem.target_count, start,
                        start ? 1 : wanted, path.deadline};
  int count = 0;
  search_one(problem, search, request, scratch.search, scratch.run.seeds, count);
  return count;
}

// A run from the seeds; its rows to `rows`.
template <class T, class Narrow>
SUPPLE_FN Attempt run_from_seeds(const Problem &problem, const Search &search, const PathRequest &path,
                                 int begin, int end, int seed_count, int count, bool fixed,
                                 PlanScratch<T, Narrow> &scratch, double *rows) {
  Population<T> &population = scratch.run.population;
  const int most = seed_count < count ? seed_count : count;
  begin_population(problem, search, scratch.run.seeds, most, count, population);
  population.keeps_turns = fixed;
  const bool backward = end < begin;
  const Run run = continue_population(problem, search, path, begin, end, count > PathConstants::few,
                                      !backward && end == path.frames, scratch.run);
  trace_back(problem, search, run, backward, scratch.run, rows);
  return {run.frames, run.cost};
}

// Few candidates from `begin` on; where they all end, those of that frame are continued backward.
template <class T, class Narrow>
SUPPLE_FN Attempt try_few(const Problem &problem, const Search &search, const PathRequest &path, int begin,
                          const double *start, int seed_count, PlanScratch<T, Narrow> &scratch,
                          double *rows) {
  constexpr int few = PathConstants::few;
  const int frames = path.frames;
  Attempt first =
      run_from_seeds(problem, search, path, begin, frames, seed_count, few, start != nullptr, scratch, rows);
  const int stop = begin + first.frames;
  if (start || stop == frames)
    return first;
  const int seeds = find_seeds(problem, search, path, stop, nullptr, few, scratch);
  if (!seeds)
    return first;
  const Attempt back =
      run_from_seeds(problem, search, path, stop, begin - 1, seeds, few, false, scratch, scratch.other_rows);
  if (back.frames != stop - begin + 1)
    return first;
  const int n = problem.n;
  for (std::size_t i = 0; i < std::size_t(back.frames) * n; ++i)
    rows[i] = scratch.other_rows[i];
  for (int l = 0; l < n; ++l)
    scratch.run.seeds[l] = rows[std::size_t(stop - begin) * n + l];
  const Attempt rest = run_from_seeds(problem, search, path, stop, frames, 1, few, true, scratch,
                                      rows + std::size_t(stop - begin) * n);
  return {stop - begin + rest.frames, back.cost + rest.cost};
}

// The joint values of a frame that has no answer: from those of the frame before, towards the goal, by steps
// that are no jumps. Returns whether they arrive after all.
template <class T, class Narrow>
SUPPLE_FN bool approach_frame(const Problem &problem, const Search &search, const PathRequest &path,
                              int frame, PlanScratch<T, Narrow> &scratch, const double *before, double *row) {
  SearchStepScratch<T> &step = scratch.run.population.step.step;
  const int numbers = 12 * problem.target_count;
  const double dt = time_to(path, frame);
  for (int i = 0; i < numbers; ++i)
    step.goals[i] = splat<T>(path.goals[std::size_t(frame) * numbers + i]);
  for (int l = 0; l < problem.n; ++l) {
    step.q[l] = splat<T>(before[l]);
    row[l] = before[l];
  }
  for (int k = 0; k <= PathConstants::nearest_steps; ++k) {
    const SearchStepResult<T> result =
        general_step(problem, search, splat<T>(SearchConstants::damping), false, step);
    if (bits_of(result.arrived) & 1) {
      for (int l = 0; l < problem.n; ++l)
        row[l] = get(step.q[l], 0);
      return true;
    }
    for (int l = 0; l < problem.n; ++l) {
      const double most = longest_step(search.joints[l], path.speed[l], dt);
      step.q[l] = splat<T>(clip(get(step.next[l], 0), before[l] - most, before[l] + most));
    }
  }
  for (int l = 0; l < problem.n; ++l)
    row[l] = get(step.q[l], 0);
  return false;
}

// Frames without an answer, from `frame` on; returns the first that has one again, whose joint values are in
// its row, or have to be searched (`found` false).
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
    if (k % PathConstants::search_again == PathConstants::search_again - 1 &&
        find_seeds(problem, search, path, frame, nullptr, 1, scratch))
      return frame;
  }
  return frame;
}

// Smooths the frames of a run, if they have self-motion, and takes the last to where it shall be.
template <class T, class Narrow>
SUPPLE_FN void smooth_run(const Problem &problem, const Search &search, const PathRequest &path, int begin,
                          int end, bool fixed_first, PlanScratch<T, Narrow> &scratch, double *q) {
  ContinuationScratch<T> &step = scratch.run.population.step;
  if (end - begin < 3 || !smoothed_directions(problem, search))
    return;
  bool fixed_last = false;
  if (end == path.frames && (path.end || (path.closed && begin == 0)))
    fixed_last =
        close_gap(problem, search, path, begin, end, path.end ? path.end : q, q, step, scratch.smooth);
  smooth_frames(problem, search, path, begin, end, fixed_first || path.closed, fixed_last, q, step,
                scratch.smooth);
}

// Plans all frames of a path into q (frames x n); the first is `start` or near it, if that is given.
template <class T, class Narrow>
SUPPLE_FN void plan_frames(const Problem &problem, const Search &search, const PathRequest &path,
                           PlanScratch<T, Narrow> &scratch, double *q) {
  const int n = problem.n;
  const double *start = path.start;
  for (int frame = 0; frame < path.frames && !is_stopped(path, 0);) {
    double *rows = q + std::size_t(frame) * n;
    int seeds = find_seeds(problem, search, path, frame, start, PathConstants::few, scratch);
    if (!seeds) {
      bool found;
      frame = pass_unreachable(problem, search, path, frame, scratch, q, found);
      start = found ? q + std::size_t(frame) * n : nullptr;
      continue;
    }
    const int wanted = path.frames - frame;
    Attempt best = try_few(problem, search, path, frame, start, seeds, scratch, rows);
    const int stop = frame + best.frames;
    const bool more = !best.is_perfect(wanted) &&
                      (stop == path.frames || find_seeds(problem, search, path, stop, nullptr, 1, scratch));
    seeds = more ? find_seeds(problem, search, path, frame, start, PathConstants::many, scratch) : 0;
    if (seeds) {
      const Attempt other = run_from_seeds(problem, search, path, frame, path.frames, seeds,
                                           PathConstants::many, start != nullptr, scratch, scratch.rows);
      if (other.is_better_than(best)) {
        best = other;
        for (std::size_t i = 0; i < std::size_t(best.frames) * n; ++i)
          rows[i] = scratch.rows[i];
      }
    }
    if (path.smooth)
      smooth_run(problem, search, path, frame, frame + best.frames, start != nullptr, scratch, q);
    frame += best.frames;
    start = nullptr;
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
