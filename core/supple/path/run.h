// A run: the candidates of one frame, continued as far as any of them goes, forward or backward in time.
#pragma once
#include "supple/path/population.h"

namespace supple {
inline namespace SUPPLE_ISA {

// What a run needs besides its candidates.
template <class T>
struct RunScratch {
  Population<T> population;
  T *history;            // frames x packs x n: where the candidates were
  unsigned char *parent; // frames x many: which candidate each one was in the frame before
  double *seeds;         // many x n
  int alive[PathConstants::many];
  int last_alive[PathConstants::many]; // the last frame of the run that each candidate reached, without
                                       // spread
  double cost[PathConstants::many];    // of each candidate before the last frame
};

template <class T>
SUPPLE_FN void lay_out(RunScratch<T> &scratch, ScratchLayout &layout, const Problem &problem, int frames) {
  const std::size_t packs = PathConstants::many / Lane<T>::width;
  lay_out(scratch.population, layout, problem);
  layout.array(scratch.history, std::size_t(frames) * packs * problem.n);
  layout.array(scratch.parent, std::size_t(frames) * PathConstants::many);
  layout.array(scratch.seeds, std::size_t(PathConstants::many) * problem.n);
}

// The result of a run: its frames, the first included, and the cost of its best candidate.
struct Run {
  int frames = 0;
  int best = -1;
  double cost = unbounded;
  int tried[PathConstants::choices]; // candidates that were the best before
  int tries = 0;
};

// Remembers the candidates of frame k of a run.
template <class T>
SUPPLE_FN void remember(const Problem &problem, int k, RunScratch<T> &scratch) {
  const Population<T> &population = scratch.population;
  const std::size_t numbers = std::size_t(PathConstants::many / Lane<T>::width) * problem.n;
  for (int i = 0; i < population.packs * problem.n; ++i)
    scratch.history[k * numbers + i] = population.q[i];
  for (int p = 0; p < population.packs; ++p)
    scratch.alive[p] = population.alive[p];
  for (int i = 0; i < population.count; ++i) {
    scratch.cost[i] = get(population.cost[i / Lane<T>::width], i % Lane<T>::width);
    if (population.alive[i / Lane<T>::width] >> i % Lane<T>::width & 1)
      scratch.last_alive[i] = k;
  }
}

// The distance of a candidate from the q at which the path should end, in weighted sizes; 0 if any q may be
// the last.
template <class T>
SUPPLE_FN double end_gap(const Problem &problem, const Search &search, const PathRequest &path, int i,
                         const Population<T> &population) {
  constexpr int W = Lane<T>::width;
  if (!path.end && !path.closed)
    return 0;
  double sum = 0;
  for (int l = 0; l < problem.n; ++l) {
    const double size = search.joints[l].weighted_size;
    const double end = path.end ? path.end[l] : get(population.first[i / W * problem.n + l], i % W);
    const double d = get(population.q[i / W * problem.n + l], i % W) - end;
    sum += size > 0 ? d * d / (size * size) : 0;
  }
  return std::sqrt(sum);
}

// Whether a candidate began and ended near one that was tried.
template <class T>
SUPPLE_FN bool is_like_tried(const Problem &problem, const Search &search, int i,
                             const RunScratch<T> &scratch, const Run &run) {
  constexpr int W = Lane<T>::width;
  const Population<T> &population = scratch.population;
  for (int k = 0; k < run.tries; ++k) {
    const int j = run.tried[k];
    double sum = 0;
    for (int l = 0; l < problem.n; ++l) {
      const double size = search.joints[l].weighted_size;
      const std::size_t a = i / W * problem.n + l, b = j / W * problem.n + l;
      const double begin = get(population.first[a], i % W) - get(population.first[b], j % W);
      const double end = get(population.q[a], i % W) - get(population.q[b], j % W);
      sum += size > 0 ? (begin * begin + end * end) / (size * size) : 0;
    }
    if (sum < PathConstants::choice_gap * PathConstants::choice_gap)
      return true;
  }
  return false;
}

// Chooses the candidate of least cost among those alive before the last frame that are not near one that was
// tried. `whole`: the path ends there.
template <class T>
SUPPLE_FN void choose(const Problem &problem, const Search &search, const PathRequest &path, bool whole,
                      RunScratch<T> &scratch, Run &run) {
  constexpr int W = Lane<T>::width;
  const double most_gap = is_redundant(problem, search) ? PathConstants::closable_gap : PathConstants::jump;
  run.best = -1;
  run.cost = unbounded;
  for (int i = 0; i < scratch.population.count; ++i) {
    if (!(scratch.alive[i / W] >> i % W & 1) || is_like_tried(problem, search, i, scratch, run))
      continue;
    const double gap = whole ? end_gap(problem, search, path, i, scratch.population) : 0;
    const double penalty = gap > most_gap ? PathConstants::speed_cost : 0;
    const double cost = scratch.cost[i] + gap + penalty * gap;
    if (cost < run.cost) {
      run.cost = cost;
      run.best = i;
    }
  }
  if (run.best >= 0 && run.tries < PathConstants::choices)
    run.tried[run.tries++] = run.best;
}

SUPPLE_FN bool is_stopped(const PathRequest &path, int frame) {
  const Deadline &deadline = path.deadline;
  return deadline.passed && frame % 16 == 0 && deadline.passed(deadline.clock);
}

// Continues the population, which is at frame `begin`, to `end` (exclusive; towards 0 if it is below), as far
// as any candidate goes. `spreads`: every few frames candidates are spread.
template <class T>
SUPPLE_FN Run continue_population(const Problem &problem, const Search &search, const PathRequest &path,
                                  int begin, int end, bool spreads, bool whole, RunScratch<T> &scratch) {
  Population<T> &population = scratch.population;
  const int direction = end < begin ? -1 : 1, goal_numbers = 12 * problem.target_count;
  const bool redundant = is_redundant(problem, search);
  const bool to_end = whole && direction > 0 && path.end;
  const bool around = whole && !path.end && path.closed && (direction > 0 ? begin == 0 : end == -1);
  population.home = to_end ? Home::end : around ? Home::first : Home::none;
  Run run;
  remember(problem, 0, scratch);
  run.frames = 1;
  double last_dt = 0;
  for (int frame = begin + direction; frame != end; frame += direction, ++run.frames) {
    if (is_stopped(path, frame))
      break;
    const double dt = time_to(path, direction > 0 ? frame : frame + 1);
    unsigned char *parent = scratch.parent + std::size_t(run.frames) * PathConstants::many;
    for (int i = 0; i < population.count; ++i)
      parent[i] = static_cast<unsigned char>(i);
    if (spreads && redundant && run.frames % PathConstants::spread_frames == 1)
      spread(problem, search, frame, parent, population);
    for (int i = 0; i < goal_numbers; ++i)
      population.step.step.goals[i] = splat<T>(path.goals[std::size_t(frame) * goal_numbers + i]);
    for (int p = 0; p < population.packs; ++p)
      if (population.alive[p])
        advance_pack(problem, search, path, p, dt, last_dt, (end - frame) * direction, redundant, population);
    if (!is_alive(population))
      break;
    remember(problem, run.frames, scratch);
    last_dt = dt;
  }
  choose(problem, search, path, whole, scratch, run);
  return run;
}

// The whole turns, in q, by which a joint that wraps is moved into its limits all along a run.
SUPPLE_FN double turns_into_limits(const SearchJoint &joint, double lower, double upper, double low,
                                   double high) {
  if (!(joint.period > 0) || (lower <= -unbounded && upper >= unbounded))
    return 0;
  const double first = std::ceil((lower - low) / joint.period),
               last = std::floor((upper - high) / joint.period);
  return joint.period * (first > 0 ? first : last < 0 ? last : 0);
}

// Whether all joints that wrap are within their limits in all rows (frames x n), but for rounding of turns.
SUPPLE_FN bool are_within_limits(const Problem &problem, const Search &search, int frames,
                                 const double *rows) {
  for (int l = 0; l < problem.n; ++l) {
    const double rounding = PathConstants::rounding * search.joints[l].period;
    for (int k = 0; rounding > 0 && k < frames; ++k) {
      const double x = rows[std::size_t(k) * problem.n + l];
      if (x < problem.lower[l] - rounding || x > problem.upper[l] + rounding)
        return false;
    }
  }
  return true;
}

// Moves joints that wrap by whole turns into their limits, the same in all rows (frames x n).
SUPPLE_FN void move_into_limits(const Problem &problem, const Search &search, int frames, double *rows) {
  const int n = problem.n;
  for (int l = 0; l < n; ++l) {
    double low = rows[l], high = rows[l];
    for (int k = 1; k < frames; ++k) {
      const double x = rows[std::size_t(k) * n + l];
      low = lesser(low, x);
      high = larger(high, x);
    }
    const double shift = turns_into_limits(search.joints[l], problem.lower[l], problem.upper[l], low, high);
    for (int k = 0; shift != 0 && k < frames; ++k)
      rows[std::size_t(k) * n + l] += shift;
  }
}

// The joint values of the best candidate of a run, in the order of the path, into rows (run.frames x n), at
// the turns where the run began.
template <class T>
SUPPLE_FN void trace_turns(const Problem &problem, const Run &run, bool backward,
                           const RunScratch<T> &scratch, double *rows) {
  constexpr int W = Lane<T>::width;
  const int n = problem.n;
  const std::size_t numbers = std::size_t(PathConstants::many / W) * n;
  int i = run.best;
  for (int k = run.frames - 1; k >= 0; --k) {
    double *row = rows + std::size_t(backward ? run.frames - 1 - k : k) * n;
    for (int l = 0; l < n; ++l)
      row[l] = get(scratch.history[k * numbers + i / W * n + l], i % W);
    if (k > 0)
      i = scratch.parent[std::size_t(k) * PathConstants::many + i];
  }
}

// The same, with joints that wrap moved into their limits.
template <class T>
SUPPLE_FN void trace_back(const Problem &problem, const Search &search, const Run &run, bool backward,
                          const RunScratch<T> &scratch, double *rows) {
  trace_turns(problem, run, backward, scratch, rows);
  move_into_limits(problem, search, run.frames, rows);
}

} // namespace SUPPLE_ISA
} // namespace supple
