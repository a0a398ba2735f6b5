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

// Plans frames begin to end of a path. Frame `begin` keeps its q, unless it is the first of the path.
template <class T, class Narrow>
SUPPLE_FN void plan_window(const Problem &problem, const Search &search, const PathRequest &path, int begin,
                           int end, PlanScratch<T, Narrow> &scratch, double *q) {
  PathRequest section = section_of(problem, path, begin, end);
  section.start = begin ? q + std::size_t(begin) * problem.n : path.start;
  if (begin && end == path.frames && path.closed && !path.end)
    section.end = q;
  plan_frames(problem, search, section, scratch, q + std::size_t(begin) * problem.n);
}

// Extends the plan of frames 0 to `end` by half a window; returns the new end. The last quarter of the window
// before is planned again, so that the q where the plan continues is known to continue; if the new section
// has jumps, the last half.
template <class T, class Narrow>
SUPPLE_FN int plan_on(const Problem &problem, const Search &search, const PathRequest &path, int end,
                      PlanScratch<T, Narrow> &scratch, double *q) {
  const int half = window_frames(problem) / 2, last = end - 1, low = last - half;
  const int new_end = path.frames < last + half ? path.frames : last + half;
  plan_window(problem, search, path, last - half / 2, new_end, scratch, q);
  const int jumps = count_jumps(problem, search, path, low > 0 ? low - 1 : 0, new_end, q, scratch.steps);
  if (!jumps)
    return new_end;
  double *rows = q + std::size_t(low) * problem.n;
  const std::size_t count = std::size_t(new_end - low) * problem.n;
  for (std::size_t i = 0; i < count; ++i)
    scratch.kept_rows[i] = rows[i];
  plan_window(problem, search, path, low, new_end, scratch, q);
  const bool better =
      count_jumps(problem, search, path, low > 0 ? low - 1 : 0, new_end, q, scratch.steps) < jumps;
  for (std::size_t i = 0; !better && i < count; ++i)
    rows[i] = scratch.kept_rows[i];
  return new_end;
}

// Plans a path, and measures it as it is returned: ball joints within their limits, whatever was blended.
template <class T, class Narrow>
SUPPLE_FN void solve_path(const Problem &problem, const Search &search, const PathRequest &path,
                          PlanScratch<T, Narrow> &scratch, PathRows rows) {
  const int window = window_frames(problem);
  int end = path.frames < window ? path.frames : window;
  plan_window(problem, search, path, 0, end, scratch, rows.q);
  if (end == path.frames)
    try_rotations(problem, search, path, scratch, rows.q);
  while (end < path.frames && !is_stopped(path, 0))
    end = plan_on(problem, search, path, end, scratch, rows.q);
  for (int frame = 0; frame < path.frames; ++frame)
    clamp_balls(problem, search, rows.q + std::size_t(frame) * problem.n);
  measure(problem, search, path, scratch, rows);
}

} // namespace SUPPLE_ISA
} // namespace supple
