// The plan of a path: runs one after another, each as long as possible, with the fewest reconfigurations.
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
  double *starts;           // starts x n: first joint values of a closed path
  double *steps;            // n
};

template <class T, class Narrow>
SUPPLE_FN void lay_out(PlanScratch<T, Narrow> &scratch, ScratchLayout &layout, const Problem &problem,
                       int frames) {
  lay_out(scratch.search, layout, problem);
  lay_out(scratch.run, layout, problem, frames);
  lay_out(scratch.smooth, layout, problem, frames);
  lay_out(scratch.branches, layout, problem, frames);
  layout.array(scratch.rows, std::size_t(frames) * problem.n);
  layout.array(scratch.best_rows, std::size_t(frames) * problem.n);
  layout.array(scratch.kept_rows, std::size_t(frames) * problem.n);
  layout.array(scratch.starts, std::size_t(PathConstants::starts) * problem.n);
  layout.array(scratch.steps, problem.n);
}

// One attempt to go on from a frame: so many frames, with so many jumps, and their length.
struct Attempt {
  int frames = 0, jumps = 0;
  double length = unbounded;

  SUPPLE_FN bool is_perfect(int wanted) const { return frames == wanted && jumps == 0; }
  // more frames; where all are there fewer jumps, and less motion
  SUPPLE_FN bool is_better_than(const Attempt &other) const {
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

// Whether the step from one row to the next is a jump.
SUPPLE_FN bool is_jump(const Problem &problem, const Search &search, const PathRequest &path, double dt,
                       const double *q, const double *next, double *steps) {
  joint_steps(problem, q, next, steps);
  for (int l = 0; l < problem.n; ++l)
    if (!(std::fabs(steps[l]) <= longest_step(search.joints[l], path.speed[l], dt)))
      return true;
  return false;
}

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

// Smooths the frames of an attempt, if they have self-motion, and takes the last to where it shall be;
// whether that is possible.
template <class T, class Narrow>
SUPPLE_FN bool finish_rows(const Problem &problem, const Search &search, const PathRequest &path,
                           const Stage &stage, int frames, PlanScratch<T, Narrow> &scratch, double *rows) {
  const int n = problem.n;
  const PathRequest part = part_of(problem, path, stage.begin, stage.begin + frames);
  ContinuationScratch<T> &step = scratch.run.population.step;
  const bool ends = stage.begin + frames == path.frames && (path.end || (path.closed && stage.begin == 0));
  const double *wanted = path.end ? path.end : rows;
  const bool smooths = path.smoothed && frames > 2 && smoothed_directions(problem, search);
  bool closed = true;
  if (ends && smoothed_directions(problem, search) && frames > 2) {
    closed = close_gap(problem, search, part, 0, frames, wanted, rows, step, scratch.smooth);
  } else if (ends && frames > 1) {
    double *last = rows + std::size_t(frames - 1) * n;
    closed = !is_jump(problem, search, part, time_to(part, frames - 1), last - n, wanted, scratch.steps) &&
             !is_jump(problem, search, part, time_to(part, frames - 1), last, wanted, scratch.steps);
    for (int l = 0; closed && l < n; ++l)
      last[l] = wanted[l];
  }
  if (smooths)
    smooth_frames(problem, search, part, 0, frames, stage.start || (path.closed && stage.begin == 0),
                  ends && closed, rows, step, scratch.smooth);
  return closed;
}

// The sum of squares of the parts of half their ranges by which joints are off their middles.
SUPPLE_FN double off_centre(const Problem &problem, const double *q) {
  double sum = 0;
  for (int l = 0; l < problem.n; ++l) {
    const double half = 0.5 * (problem.upper[l] - problem.lower[l]);
    if (!(half < 0.5 * unbounded) || !(half > 0))
      continue;
    const double part = (q[l] - problem.lower[l] - half) / half;
    sum += part * part;
  }
  return sum;
}

// Finishes the attempt in scratch.rows, measures it, and keeps it if it is the best; whether it is perfect.
template <class T, class Narrow>
SUPPLE_FN bool take_attempt(const Problem &problem, const Search &search, const PathRequest &path, int frames,
                            PlanScratch<T, Narrow> &scratch, Stage &stage) {
  const int n = problem.n;
  Attempt attempt;
  attempt.frames = frames;
  attempt.jumps = !finish_rows(problem, search, path, stage, frames, scratch, scratch.rows);
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

// Tries the best candidates of a run to the last frame or as far as it came; whether one is perfect. Of a
// redundant linkage some that are perfect are compared.
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

// Few candidates from the first frame on; where they all end, those of that frame are continued backward, and
// then forward. Whether they go all the way, without a jump.
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

// `count` candidates, spread over the redundancy: from the first frame forward, then from the last backward.
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

// Of the answers in scratch.run.seeds, those that are apart from each other, into scratch.starts; how many.
template <class T, class Narrow>
SUPPLE_FN int keep_apart(const Problem &problem, const Search &search, int seeds,
                         PlanScratch<T, Narrow> &scratch) {
  constexpr double gap = PathConstants::start_gap;
  const int n = problem.n;
  int kept = 0;
  for (int i = 0; i < seeds && kept < PathConstants::starts; ++i) {
    const double *seed = scratch.run.seeds + std::size_t(i) * n;
    bool apart = true;
    for (int k = 0; k < kept && apart; ++k)
      apart = squared_gap(problem, search, seed, scratch.starts + std::size_t(k) * n) >= gap * gap;
    for (int l = 0; apart && l < n; ++l)
      scratch.starts[std::size_t(kept) * n + l] = seed[l];
    kept += apart;
  }
  return kept;
}

// A closed path from one first q after another: candidates that spread from it and come back to it.
template <class T, class Narrow>
SUPPLE_FN bool try_starts(const Problem &problem, const Search &search, const PathRequest &path,
                          PlanScratch<T, Narrow> &scratch, Stage &stage) {
  const int n = problem.n;
  const int starts = keep_apart(
      problem, search, find_seeds(problem, search, path, 0, nullptr, PathConstants::many, scratch), scratch);
  for (int i = 0; i < starts; ++i) {
    for (int l = 0; l < n; ++l)
      scratch.run.seeds[l] = scratch.starts[std::size_t(i) * n + l];
    Run run = run_from_seeds(problem, search, path, 0, path.frames, 1, PathConstants::some, false, scratch);
    if (run.frames == path.frames && take_run(problem, search, path, run, false, scratch, stage))
      return true;
  }
  return false;
}

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
                                 PathConstants::key_answers, scratch);
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

// The joint values of a frame that has no answer: from those of the frame before, towards the goal, by steps
// that are no jumps and that lower the error (Levenberg-Marquardt). Returns whether they arrive after all.
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
      if (error > (1 - PathConstants::nearest_gain) * least)
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
      step.q[l] = splat<T>(clip(get(step.next[l], 0), before[l] - most, before[l] + most));
    }
  }
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

// Plans all frames of a path into q (frames x n); the first is `start` or near it, if that is given.
template <class T, class Narrow>
SUPPLE_FN void plan_frames(const Problem &problem, const Search &search, const PathRequest &path,
                           PlanScratch<T, Narrow> &scratch, double *q) {
  const int n = problem.n;
  const double *start = path.start;
  for (int frame = 0; frame < path.frames && !is_stopped(path, 0);) {
    const int seeds = find_seeds(problem, search, path, frame, start, path.candidates, scratch);
    if (!seeds) {
      bool found;
      frame = pass_unreachable(problem, search, path, frame, scratch, q, found);
      start = found ? q + std::size_t(frame) * n : nullptr;
      continue;
    }
    Stage stage{frame, start, {}};
    if (!try_few(problem, search, path, seeds, scratch, stage)) {
      const int stop = frame + stage.best.frames;
      const bool more = stop == path.frames || find_seeds(problem, search, path, stop, nullptr, 1, scratch);
      if (more && is_redundant(problem, search))
        try_spread(problem, search, path, PathConstants::some, scratch, stage) ||
            try_spread(problem, search, path, PathConstants::many, scratch, stage) ||
            (path.closed && frame == 0 && !start && try_starts(problem, search, path, scratch, stage));
      else if (more)
        try_branches(problem, search, path, scratch, stage);
    }
    for (std::size_t i = 0; i < std::size_t(stage.best.frames) * n; ++i)
      q[std::size_t(frame) * n + i] = scratch.best_rows[i];
    frame += stage.best.frames;
    start = nullptr;
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
