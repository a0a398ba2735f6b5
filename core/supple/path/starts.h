// Paths of redundant linkages from one first q after another. For a closed path candidates spread forward
// from the first frame, from the same q at the last frame backward, and are joined in the middle. For an open
// path they also spread in both directions from the frame at which a joint is too fast.
#pragma once
#include "supple/path/attempt.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Spreads the solutions of a frame in scratch.run.seeds over its self-motion. Returns their number.
template <class T, class Narrow>
SUPPLE_FN int spread_seeds(const Problem &problem, const Search &search, const PathRequest &path, int frame,
                           int seeds, PlanScratch<T, Narrow> &scratch) {
  constexpr int W = Lane<T>::width, many = PathConstants::many;
  Population<T> &population = scratch.run.population;
  const int n = problem.n, numbers = 12 * problem.target_count;
  begin_population(problem, search, scratch.run.seeds, seeds, many, population);
  population.keeps_turns = false;
  population.home = Home::none;
  for (int i = 0; i < numbers; ++i)
    population.step.step.goals[i] = splat<T>(path.goals[std::size_t(frame) * numbers + i]);
  for (int k = 0; k < PathConstants::start_rounds * PathConstants::spread_frames; ++k) {
    if (k % PathConstants::spread_frames == 0)
      spread(problem, search, k, scratch.run.parent, population);
    for (int p = 0; p < population.packs; ++p) {
      if (population.alive[p])
        advance_pack(problem, search, path, p, 1, 0, 1, true, population);
      population.cost[p] = splat<T>(0);
    }
  }
  int count = 0;
  for (int i = 0; i < population.count; ++i) {
    if (!(population.alive[i / W] >> i % W & 1))
      continue;
    for (int l = 0; l < n; ++l) {
      const double x = get(population.q[i / W * n + l], i % W), period = search.joints[l].period;
      scratch.run.seeds[std::size_t(count) * n + l] =
          period > 0 ? nearest_turn(x, x, period, problem.lower[l], problem.upper[l]) : x;
    }
    ++count;
  }
  return count;
}

// Takes solutions from scratch.run.seeds into scratch.starts, each time the one farthest from those taken
// before. Returns their number.
template <class T, class Narrow>
SUPPLE_FN int order_starts(const Problem &problem, const Search &search, int seeds,
                           PlanScratch<T, Narrow> &scratch) {
  constexpr double gap = PathConstants::start_gap;
  const int n = problem.n;
  double *apart = scratch.met_cost;
  for (int i = 0; i < seeds; ++i)
    apart[i] = unbounded;
  int taken = 0;
  for (int next = 0; taken < PathConstants::starts && taken < seeds && apart[next] >= gap * gap;) {
    double *start = scratch.starts + std::size_t(taken++) * n;
    for (int l = 0; l < n; ++l)
      start[l] = scratch.run.seeds[std::size_t(next) * n + l];
    for (int i = 0; i < seeds; ++i)
      apart[i] =
          lesser(apart[i], squared_gap(problem, search, scratch.run.seeds + std::size_t(i) * n, start));
    for (int i = 0; i < seeds; ++i)
      next = apart[i] > apart[next] ? i : next;
  }
  return taken;
}

// Moves the memory of runs by `frames` frames.
template <class T>
SUPPLE_FN void move_history(const Problem &problem, int frames, RunScratch<T> &scratch) {
  scratch.history += frames * std::ptrdiff_t(PathConstants::many / Lane<T>::width) * problem.n;
  scratch.parent += frames * std::ptrdiff_t(PathConstants::many);
}

// The costs of the candidates that are at the last frame of a run.
template <class T>
SUPPLE_FN void read_costs(const RunScratch<T> &scratch, double *cost) {
  constexpr int W = Lane<T>::width;
  for (int i = 0; i < scratch.population.count; ++i)
    cost[i] = scratch.alive[i / W] >> i % W & 1 ? scratch.cost[i] : unbounded;
}

// The runs from both ends of a closed path, from `start` to the middle; whether both get there.
struct Meeting {
  int middle;
  Run ahead, back;
};
template <class T, class Narrow>
SUPPLE_FN bool run_from_both_ends(const Problem &problem, const Search &search, const PathRequest &path,
                                  const double *start, bool fixed, int count, PlanScratch<T, Narrow> &scratch,
                                  Meeting &meeting) {
  constexpr int W = Lane<T>::width;
  const int n = problem.n, middle = meeting.middle, last = path.frames - 1;
  RunScratch<T> &run = scratch.run;
  for (int l = 0; l < n; ++l)
    run.seeds[l] = start[l];
  meeting.ahead = run_from_seeds(problem, search, path, 0, middle + 1, 1, count, fixed, scratch);
  if (meeting.ahead.frames != middle + 1)
    return false;
  read_costs(run, scratch.met_cost);
  for (int i = 0; i < run.population.count; ++i)
    for (int l = 0; l < n; ++l)
      scratch.met[std::size_t(i) * n + l] = get(run.population.q[i / W * n + l], i % W);
  move_history(problem, middle + 1, run);
  meeting.back = run_from_seeds(problem, search, path, last, middle - 1, 1, count, fixed, scratch);
  move_history(problem, -(middle + 1), run);
  read_costs(run, scratch.left_cost);
  return meeting.back.frames == last - middle + 1;
}

// The squared distance of two q, in weighted sizes; whole turns count.
SUPPLE_FN double squared_way(const Problem &problem, const Search &search, const double *q,
                             const double *to) {
  double sum = 0;
  for (int l = 0; l < problem.n; ++l) {
    const double size = search.joints[l].weighted_size;
    sum += size > 0 ? (to[l] - q[l]) * (to[l] - q[l]) / (size * size) : 0;
  }
  return sum;
}

// The cheapest pair of candidates that meet; false if none are near each other.
template <class T, class Narrow>
SUPPLE_FN bool choose_pair(const Problem &problem, Meeting &meeting, const Search &search,
                           PlanScratch<T, Narrow> &scratch) {
  constexpr int W = Lane<T>::width;
  constexpr double most = PathConstants::meeting_gap;
  const Population<T> &population = scratch.run.population;
  double least = unbounded;
  for (int j = 0; j < population.count; ++j) {
    if (!(scratch.left_cost[j] < unbounded))
      continue;
    for (int l = 0; l < problem.n; ++l)
      scratch.steps[l] = get(population.q[j / W * problem.n + l], j % W);
    for (int i = 0; i < population.count; ++i) {
      if (!(scratch.met_cost[i] < unbounded))
        continue;
      const double square =
          squared_way(problem, search, scratch.met + std::size_t(i) * problem.n, scratch.steps);
      const double cost =
          scratch.met_cost[i] + scratch.left_cost[j] + PathConstants::meeting_cost * std::sqrt(square);
      if (square < most * most && cost < least) {
        least = cost;
        meeting.ahead.best = i;
        meeting.back.best = j;
      }
    }
  }
  return least < unbounded;
}

// Joins the chosen candidates of a meeting, at turns that are within the limits: the gap between them is
// spread over the frames before the middle.
template <class T, class Narrow>
SUPPLE_FN bool join_pair(const Problem &problem, const Search &search, const PathRequest &path,
                         const Meeting &meeting, PlanScratch<T, Narrow> &scratch) {
  const int n = problem.n, middle = meeting.middle;
  double *join = scratch.rows + std::size_t(middle) * n, *gap = scratch.steps;
  trace_turns(problem, meeting.ahead, false, scratch.run, scratch.rows);
  for (int l = 0; l < n; ++l)
    gap[l] = join[l];
  move_history(problem, middle + 1, scratch.run);
  trace_turns(problem, meeting.back, true, scratch.run, join);
  move_history(problem, -(middle + 1), scratch.run);
  for (int l = 0; l < n; ++l)
    gap[l] -= join[l];
  move_into_limits(problem, search, path.frames, scratch.rows);
  if (!are_within_limits(problem, search, path.frames, scratch.rows))
    return false;
  for (int l = 0; l < n; ++l) {
    scratch.run.seeds[l] = join[l];
    join[l] += gap[l];
  }
  const PathRequest half = section_of(problem, path, 0, middle + 1);
  return close_gap(problem, search, half, 0, middle + 1, scratch.run.seeds, scratch.rows,
                   scratch.run.population.step, scratch.smooth);
}

// Whether the goals of the last frame are those of the first, so that a path can be closed.
SUPPLE_FN bool has_same_ends(const Problem &problem, const PathRequest &path) {
  const int numbers = 12 * problem.target_count;
  const double *last = path.goals + std::size_t(path.frames - 1) * numbers;
  for (int i = 0; i < numbers; ++i)
    if (!(std::fabs(last[i] - path.goals[i]) <= PathConstants::same_goal))
      return false;
  return true;
}

// Plans a closed path from a first q. Returns whether it is perfect.
template <class T, class Narrow>
SUPPLE_FN bool try_closed(const Problem &problem, const Search &search, const PathRequest &path, int count,
                          const double *start, PlanScratch<T, Narrow> &scratch, Stage &stage) {
  Meeting meeting{path.frames / 2, {}, {}};
  if (!run_from_both_ends(problem, search, path, start, stage.start != nullptr, count, scratch, meeting))
    return false;
  for (int k = 0; k < PathConstants::pairs && choose_pair(problem, meeting, search, scratch); ++k) {
    if (join_pair(problem, search, path, meeting, scratch) &&
        take_attempt(problem, search, path, path.frames, scratch, stage))
      return true;
    scratch.met_cost[meeting.ahead.best] = scratch.left_cost[meeting.back.best] = unbounded;
  }
  return false;
}

// From one first q of the stage after another, `count` candidates that spread from it; with a start, from
// that alone.
template <class T, class Narrow>
SUPPLE_FN bool try_starts(const Problem &problem, const Search &search, const PathRequest &path, int count,
                          PlanScratch<T, Narrow> &scratch, Stage &stage) {
  const int n = problem.n, begin = stage.begin;
  const bool closes = path.closed && !path.end && begin == 0 && path.frames > 3;
  if (closes && !has_same_ends(problem, path))
    return false;
  int seeds = find_seeds(problem, search, path, begin, stage.start, PathConstants::many, scratch);
  if (seeds && !stage.start)
    seeds = spread_seeds(problem, search, path, begin, seeds, scratch);
  const int found = order_starts(problem, search, seeds, scratch);
  const int most = 1 + PathConstants::start_frames / (path.frames - begin);
  const int starts = found < most ? found : most;
  for (int s = 0; s < starts && !is_stopped(path, 0); ++s) {
    const double *start = scratch.starts + std::size_t(s) * n;
    if (closes && try_closed(problem, search, path, count, start, scratch, stage))
      return true;
    for (int l = 0; l < n; ++l)
      scratch.run.seeds[l] = start[l];
    Run run =
        run_from_seeds(problem, search, path, begin, path.frames, 1, count, stage.start != nullptr, scratch);
    if (run.frames == path.frames - begin && take_run(problem, search, path, run, false, scratch, stage))
      return true;
  }
  return false;
}

// ---- From the hardest frame ----

// The frame of the best attempt of a stage whose step is longest compared with the allowed one, counted from
// the first frame of the stage.
template <class T, class Narrow>
SUPPLE_FN int hardest_frame(const Problem &problem, const Search &search, const PathRequest &path,
                            const Stage &stage, PlanScratch<T, Narrow> &scratch) {
  int hardest = 0;
  double most = 0;
  for (int k = 1; k < stage.best.frames; ++k) {
    const double *row = scratch.best_rows + std::size_t(k) * problem.n;
    const double dt = time_to(path, stage.begin + k);
    joint_steps(problem, row - problem.n, row, scratch.steps);
    for (int l = 0; l < problem.n; ++l) {
      const double ratio = std::fabs(scratch.steps[l]) / longest_step(search.joints[l], path.speed[l], dt);
      if (ratio > most) {
        most = ratio;
        hardest = k;
      }
    }
  }
  return hardest;
}

// From one q of the hardest frame after another, `count` candidates forward and as many backward.
template <class T, class Narrow>
SUPPLE_FN bool try_hardest(const Problem &problem, const Search &search, const PathRequest &path, int count,
                           PlanScratch<T, Narrow> &scratch, Stage &stage) {
  const int n = problem.n, begin = stage.begin, frames = path.frames - begin;
  const int k = stage.best.frames == frames ? hardest_frame(problem, search, path, stage, scratch) : 0;
  if (k < 1 || stage.start || path.closed)
    return false;
  int seeds = find_seeds(problem, search, path, begin + k, nullptr, PathConstants::many, scratch);
  seeds = seeds ? spread_seeds(problem, search, path, begin + k, seeds, scratch) : 0;
  const int found = order_starts(problem, search, seeds, scratch);
  const int most = 1 + PathConstants::start_frames / frames;
  for (int s = 0; s < found && s < most && !is_stopped(path, 0); ++s) {
    double *middle = scratch.rows + std::size_t(k) * n;
    for (int direction = -1; direction <= 1; direction += 2) {
      for (int l = 0; l < n; ++l)
        scratch.run.seeds[l] = scratch.starts[std::size_t(s) * n + l];
      const int end = direction < 0 ? begin - 1 : path.frames;
      const Run run = run_from_seeds(problem, search, path, begin + k, end, 1, count, false, scratch);
      if (run.frames != (end - begin - k) * direction)
        break;
      trace_turns(problem, run, direction < 0, scratch.run, direction < 0 ? scratch.rows : middle);
      if (direction < 0)
        continue;
      move_into_limits(problem, search, frames, scratch.rows);
      if (are_within_limits(problem, search, frames, scratch.rows) &&
          take_attempt(problem, search, path, frames, scratch, stage))
        return true;
    }
  }
  return false;
}

} // namespace SUPPLE_ISA
} // namespace supple
