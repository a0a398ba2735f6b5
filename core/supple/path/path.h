// A whole path: planned in windows of bounded memory, then measured.
#pragma once
#include "supple/path/measure.h"

namespace supple {
inline namespace SUPPLE_ISA {

// The frames of a window: fewer where there are many joints.
SUPPLE_FN int window_frames(const Problem &problem) {
  const long long most = PathConstants::window_numbers / (PathConstants::many * (long long)problem.n);
  const long long frames = most < PathConstants::window ? most : PathConstants::window;
  return int(frames < PathConstants::least_window ? PathConstants::least_window : frames);
}

// The jumps of frames begin to end, with the one to the first.
template <class T, class Narrow>
SUPPLE_FN int count_jumps(const Problem &problem, const Search &search, const PathRequest &path, int begin,
                          int end, const double *q, PlanScratch<T, Narrow> &scratch) {
  int jumps = 0;
  for (int f = begin > 0 ? begin : 1; f < end; ++f) {
    const double *row = q + std::size_t(f) * problem.n;
    jumps += is_jump(problem, search, path, time_to(path, f), row - problem.n, row, scratch.steps);
  }
  return jumps;
}

// Plans frames begin to end of a path; the first is where it is already, unless it is the first of all.
template <class T, class Narrow>
SUPPLE_FN void plan_window(const Problem &problem, const Search &search, const PathRequest &path, int begin,
                           int end, PlanScratch<T, Narrow> &scratch, double *q) {
  PathRequest part = part_of(problem, path, begin, end);
  part.start = begin ? q + std::size_t(begin) * problem.n : path.start;
  plan_frames(problem, search, part, scratch, q + std::size_t(begin) * problem.n);
}

// Plans a path and measures it. Where a window that follows another one has jumps, it is planned again from
// the middle of the one before; the better of the two stays.
template <class T, class Narrow>
SUPPLE_FN void solve_path(const Problem &problem, const Search &search, const PathRequest &path,
                          PlanScratch<T, Narrow> &scratch, PathRows rows) {
  const int window = window_frames(problem), n = problem.n;
  int end = path.frames < window ? path.frames : window;
  plan_window(problem, search, path, 0, end, scratch, rows.q);
  while (end < path.frames && !is_stopped(path, 0)) {
    const int begin = end - 1, back = begin - window / 2;
    end = path.frames < begin + window ? path.frames : begin + window;
    plan_window(problem, search, path, begin, end, scratch, rows.q);
    const int jumps = count_jumps(problem, search, path, begin, end, rows.q, scratch);
    if (!jumps)
      continue;
    const int again = path.frames < back + window ? path.frames : back + window;
    const int before = count_jumps(problem, search, path, back, again, rows.q, scratch);
    const std::size_t first = std::size_t(back) * n, count = std::size_t(again - back) * n;
    for (std::size_t i = 0; i < count; ++i)
      scratch.kept_rows[i] = rows.q[first + i];
    plan_window(problem, search, path, back, again, scratch, rows.q);
    if (count_jumps(problem, search, path, back, again, rows.q, scratch) < before) {
      end = again;
      continue;
    }
    for (std::size_t i = 0; i < count; ++i)
      rows.q[first + i] = scratch.kept_rows[i];
  }
  measure(problem, search, path, scratch, rows);
}

} // namespace SUPPLE_ISA
} // namespace supple
