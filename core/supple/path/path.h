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

// Plans a path and measures it. A path of several windows keeps the first half of each but the last; the next
// begins where that ends.
template <class T, class Narrow>
SUPPLE_FN void solve_path(const Problem &problem, const Search &search, const PathRequest &path,
                          PlanScratch<T, Narrow> &scratch, PathRows rows) {
  const int window = window_frames(problem);
  const double *start = path.start;
  for (int begin = 0; begin < path.frames && !is_stopped(path, 0);) {
    const bool last = path.frames - begin <= window;
    const int end = last ? path.frames : begin + window;
    double *q = rows.q + std::size_t(begin) * problem.n;
    PathRequest part = part_of(problem, path, begin, end);
    part.start = start;
    plan_frames(problem, search, part, scratch, q);
    begin = last ? path.frames : begin + window / 2;
    start = rows.q + std::size_t(begin) * problem.n;
  }
  measure(problem, search, path, scratch, rows);
}

} // namespace SUPPLE_ISA
} // namespace supple
