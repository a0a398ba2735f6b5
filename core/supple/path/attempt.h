// Attempts to plan a path from a frame on: runs are smoothed and measured, and the best is kept.
#pragma once
#include "supple/path/branches.h"

namespace supple {
inline namespace SUPPLE_ISA {

template <class T, class Narrow>
struct PlanScratch {
  RunScratch<T> run;
  RestartScratch<Narrow> search;
  SmoothScratch<T> smooth;
  BranchScratch branches;
  double *rows, *best_rows; // frames x n: joint values of an attempt, and of the best one
  double *kept_rows;        // frames x n: joint values before a window is planned again
  double *rotated_goals;    // frames x 12 for each target: of a closed path that begins at another frame
  double *rotated_times;    // frames
  double *rotated_rows;     // frames x n: its joint values
  double *starts;           // starts x n: first joint values of a closed path
  double *met;              // many x n: candidates of a forward run at the middle frame
  double *met_cost;         // many; unbounded: none
  double *left_cost;        // many: cost of the candidates of a backward run there
  double *steps;            // n
};

template <class T, class Narrow>
SUPPLE_FN void lay_out(PlanScratch<T, Narrow> &scratch, ScratchLayout &layout, const Problem &problem,
                       int frames) {
  lay_out(scratch.search, layout, problem);
  lay_out(scratch.run, layout, problem, frames + 1); // two runs that meet share a frame
  lay_out(scratch.smooth, layout, problem, frames);
  lay_out(scratch.branches, layout, problem, frames);
  layout.array(scratch.rows, std::size_t(frames) * problem.n);
  layout.array(scratch.best_rows, std::size_t(frames) * problem.n);
  layout.array(scratch.kept_rows, std::size_t(frames) * problem.n);
  layout.array(scratch.rotated_goals, std::size_t(frames) * 12 * problem.target_count);
  layout.array(scratch.rotated_times, std::size_t(frames));
  layout.array(scratch.rotated_rows, std::size_t(frames) * problem.n);
  layout.array(scratch.starts, std::size_t(PathConstants::starts) * problem.n);
  layout.array(scratch.met, std::size_t(PathConstants::many) * problem.n);
  layout.array(scratch.met_cost, PathConstants::many);
  layout.array(scratch.left_cost, PathConstants::many);
  layout.array(scratch.steps, problem.n);
}

// One attempt from a frame on: the number of planned frames, their jumps and their length.
struct Attempt {
  int frames = 0, jumps = 0;
  double length = unbounded;

  SUPPLE_FN bool is_perfect(int wanted) const { return frames == wanted && jumps == 0; }
  // an attempt with frames is better than an empty one; then more frames without a jump, fewer jumps, less
  // motion
  SUPPLE_FN bool is_better_than(const Attempt &other) const {
    if (!frames || !other.frames)
      return frames > 0 && !other.frames;
    if (frames - jumps != other.frames - other.jumps)
      return frames - jumps > other.frames - other.jumps;
    return jumps != other.jumps ? jumps < other.jumps : length < other.length;
  }
};

// What is being planned: frames from `begin` on, from a given start or from anywhere.
struct Stage {
  int begin;
  const double *start; // n, or null
  Attempt best;        // its rows are in scratch.best_rows
};

// Finds up to `wanted` solutions for a frame, into scratch.run.seeds; with `start`, only the one nearest to
// it. Returns their number; if it is 0, row 0 has the nearest joint values.
template <class T, class Narrow>
SUPPLE_FN int find_seeds(const Problem &problem, const Search &search, const PathRequest &path, int frame,
                         const double *start, int wanted, PlanScratch<T, Narrow> &scratch) {
  const Request request{path.goals + std::size_t(frame) * 12 * problem.target_count, start,
                        start ? 1 : wanted, path.deadline};
  int count = 0;
  search_one(problem, search, request, scratch.search, scratch.run.seeds, count);
  return count;
}

// Smooths the frames of an attempt, if they have self-motion, and moves the last one to its required q.
// Returns whether that is possible.
template <class T, class Narrow>
SUPPLE_FN bool finish_rows(const Problem &problem, const Search &search, const PathRequest &path,
                           const Stage &stage, int frames, PlanScratch<T, Narrow> &scratch, double *rows) {
  const int n = problem.n;
  const PathRequest section = section_of(problem, path, stage.begin, stage.begin + frames);
  ContinuationScratch<T> &step = scratch.run.population.step;
  const bool ends = stage.begin + frames == path.frames && (path.end || (path.closed && stage.begin == 0));
  const double *wanted = path.end ? path.end : rows;
  const bool smooths = path.smoothed && frames > 2 && smoothed_directions(problem, search);
  bool closed = true;
  if (ends && smoothed_directions(problem, search) && frames > 2) {
    closed = close_gap(problem, search, section, 0, frames, wanted, rows, step, scratch.smooth);
  } else if (ends && frames > 1) {
    double *last = rows + std::size_t(frames - 1) * n;
    closed =
        !is_jump(problem, search, section, time_to(section, frames - 1), last - n, wanted, scratch.steps) &&
        !is_jump(problem, search, section, time_to(section, frames - 1), last, wanted, scratch.steps);
    for (int l = 0; closed && l < n; ++l)
      last[l] = wanted[l];
  }
  if (smooths)
    smooth_frames(problem, search, section, 0, frames, stage.start || (path.closed && stage.begin == 0),
                  ends && closed, rows, step, scratch.smooth);
  return closed;
}

// The sum of squares of the distances of joints from the middle of their range, as fractions of half the
// range.
SUPPLE_FN double off_centre(const Problem &problem, const double *q) {
  double sum = 0;
  for (int l = 0; l < problem.n; ++l) {
    const double half = 0.5 * (problem.upper[l] - problem.lower[l]);
    if (!(half < 0.5 * unbounded) || !(half > 0))
      continue;
    const double offset = (q[l] - problem.lower[l] - half) / half;
    sum += offset * offset;
  }
  return sum;
}

// Finishes the attempt in scratch.rows, measures it, and keeps it if it is the best. Returns whether it is
// perfect: all frames, no jump.
template <class T, class Narrow>
SUPPLE_FN bool take_attempt(const Problem &problem, const Search &search, const PathRequest &path, int frames,
                            PlanScratch<T, Narrow> &scratch, Stage &stage) {
  const int n = problem.n;
  Attempt attempt;
  attempt.frames = frames;
  attempt.jumps = !finish_rows(problem, search, path, stage, frames, scratch, scratch.rows);
  bridge_jumps(problem, search, section_of(problem, path, stage.begin, stage.begin + frames), scratch.rows,
               scratch.run.population.step, scratch.smooth);
  attempt.length = 0;
  for (int k = 1; k < frames; ++k) {
    const double *row = scratch.rows + std::size_t(k) * n;
    const double dt = time_to(path, stage.begin + k);
    attempt.jumps += is_jump(problem, search, path, dt, row - n, row, scratch.steps);
    double square = 0;
    for (int l = 0; l < n; ++l) {
      const double size = search.joints[l].weighted_size;
      square += size > 0 ? scratch.steps[l] * scratch.steps[l] / (size * size) : 0;
    }
    attempt.length += std::sqrt(square);
    if (path.preference == centred)
      attempt.length += PathConstants::centring_cost * off_centre(problem, row);
  }
  if (attempt.is_better_than(stage.best)) {
    stage.best = attempt;
    for (std::size_t i = 0; i < std::size_t(frames) * n; ++i)
      scratch.best_rows[i] = scratch.rows[i];
  }
  return attempt.is_perfect(path.frames - stage.begin);
}

// A run from the seeds in scratch.run.seeds.
template <class T, class Narrow>
SUPPLE_FN Run run_from_seeds(const Problem &problem, const Search &search, const PathRequest &path, int begin,
                             int end, int seed_count, int count, bool fixed,
                             PlanScratch<T, Narrow> &scratch) {
  Population<T> &population = scratch.run.population;
  begin_population(problem, search, scratch.run.seeds, seed_count < count ? seed_count : count, count,
                   population);
  population.keeps_turns = fixed;
  return continue_population(problem, search, path, begin, end, count > path.candidates,
                             end == path.frames || (begin == path.frames - 1 && path.closed), scratch.run);
}

// Tries the best candidates of a run, one after another. Returns whether one is perfect. For a redundant
// linkage several perfect ones are compared.
template <class T, class Narrow>
SUPPLE_FN bool take_run(const Problem &problem, const Search &search, const PathRequest &path, Run &run,
                        bool backward, PlanScratch<T, Narrow> &scratch, Stage &stage) {
  const bool compares = path.preference != well_conditioned && smoothed_directions(problem, search);
  const int compared = compares ? path.smoothed : 1;
  const int tried = compared > PathConstants::least_choices ? compared : PathConstants::least_choices;
  bool perfect = false;
  while (run.best >= 0) {
    trace_back(problem, search, run, backward, scratch.run, scratch.rows);
    perfect |= take_attempt(problem, search, path, run.frames, scratch, stage);
    if (run.tries >= (perfect ? compared : tried) || stage.begin + run.frames < path.frames)
      break;
    choose(problem, search, path, true, scratch.run, run);
  }
  return perfect;
}

// Continues few candidates from the first frame. If all of them fail at a frame, solutions of that frame are
// continued backward, and then forward. Returns whether a plan is perfect.
template <class T, class Narrow>
SUPPLE_FN bool try_few(const Problem &problem, const Search &search, const PathRequest &path, int seed_count,
                       PlanScratch<T, Narrow> &scratch, Stage &stage) {
  const int few = path.candidates;
  const int frames = path.frames, n = problem.n, begin = stage.begin;
  Run run =
      run_from_seeds(problem, search, path, begin, frames, seed_count, few, stage.start != nullptr, scratch);
  if (take_run(problem, search, path, run, false, scratch, stage))
    return true;
  const int stop = begin + run.frames;
  if (stage.start || stop == frames)
    return false;
  const int seeds = find_seeds(problem, search, path, stop, nullptr, few, scratch);
  if (!seeds)
    return false;
  const Run back = run_from_seeds(problem, search, path, stop, begin - 1, seeds, few, false, scratch);
  if (back.frames != stop - begin + 1)
    return false;
  trace_back(problem, search, back, true, scratch.run, scratch.rows);
  double *middle = scratch.rows + std::size_t(stop - begin) * n;
  for (int l = 0; l < n; ++l)
    scratch.run.seeds[l] = middle[l];
  const Run rest = run_from_seeds(problem, search, path, stop, frames, 1, few, true, scratch);
  trace_back(problem, search, rest, false, scratch.run, middle);
  return take_attempt(problem, search, path, stop - begin + rest.frames, scratch, stage);
}

// Continues `count` candidates, spread over the redundancy: from the first frame forward, then from the last
// one backward. Returns whether a plan is perfect.
template <class T, class Narrow>
SUPPLE_FN bool try_spread(const Problem &problem, const Search &search, const PathRequest &path, int count,
                          PlanScratch<T, Narrow> &scratch, Stage &stage) {
  const int seeds = find_seeds(problem, search, path, stage.begin, stage.start, count, scratch);
  if (!seeds)
    return false;
  Run run = run_from_seeds(problem, search, path, stage.begin, path.frames, seeds, count,
                           stage.start != nullptr, scratch);
  if (take_run(problem, search, path, run, false, scratch, stage))
    return true;
  if (stage.start)
    return false;
  const int last = path.frames - 1;
  const int last_seeds = find_seeds(problem, search, path, last, path.end, count, scratch);
  if (!last_seeds)
    return false;
  run = run_from_seeds(problem, search, path, last, stage.begin - 1, last_seeds, count, false, scratch);
  return run.frames == path.frames - stage.begin &&
         take_run(problem, search, path, run, true, scratch, stage);
}

} // namespace SUPPLE_ISA
} // namespace supple
