// Removes jumps at singularities: the frames around a jump move onto a cubic between the frames on both
// sides, and from there back to their goals.
//
// Near a singularity a frame has solutions that are far apart, and a continuation may take some that do not
// continue. The joint values before and after show where the joints pass.
#pragma once
#include "supple/path/smooth.h"

namespace supple {
inline namespace SUPPLE_ISA {

// The number of jumps in the steps to frames begin + 1 to end - 1.
SUPPLE_FN int count_jumps(const Problem &problem, const Search &search, const PathRequest &path, int begin,
                          int end, const double *q, double *steps) {
  int jumps = 0;
  for (int f = begin + 1; f < end; ++f) {
    const double *row = q + std::size_t(f) * problem.n;
    jumps += is_jump(problem, search, path, time_to(path, f), row - problem.n, row, steps);
  }
  return jumps;
}

// Frames first to last of `moved`: those between are on the cubic of Hermite whose slopes are the speeds
// outside, or the mean speed where there are no frames outside.
SUPPLE_FN void lay_cubic(const Problem &problem, const Search &search, const PathRequest &path, int first,
                         int last, const double *q, double *moved) {
  const int n = problem.n;
  double duration = 0, time = 0;
  for (int f = first + 1; f <= last; ++f)
    duration += time_to(path, f);
  const double *from = q + std::size_t(first) * n, *to = q + std::size_t(last) * n;
  const double before = first > 0 ? duration / time_to(path, first) : 0,
               after = last + 1 < path.frames ? duration / time_to(path, last + 1) : 0;
  for (int f = first; f <= last; ++f) {
    time += f > first ? time_to(path, f) : 0;
    const double s = time / duration, r = 1 - s;
    for (int l = 0; l < n; ++l) {
      const double change = to[l] - from[l];
      const double slope = before > 0 ? before * (from[l] - from[l - n]) : change,
                   end_slope = after > 0 ? after * (to[l + n] - to[l]) : change;
      const double x = from[l] + change * s * s * (3 - 2 * s) + r * s * (r * slope - s * end_slope);
      const bool inner = f > first && f < last;
      moved[std::size_t(f) * n + l] =
          inner ? clip(x, lower_limit(problem, search, l, true), upper_limit(problem, search, l, true))
                : q[std::size_t(f) * n + l];
    }
  }
}

// Removes the jump to frame f of q, if possible. Returns whether it is removed.
template <class T>
SUPPLE_FN bool bridge_jump(const Problem &problem, const Search &search, const PathRequest &path, int f,
                           double *q, ContinuationScratch<T> &step, SmoothScratch<T> &scratch) {
  for (int width = PathConstants::least_bridge; width <= PathConstants::longest_bridge; width *= 2) {
    const int first = f - 1 - width > 0 ? f - 1 - width : 0,
              last = f + width < path.frames ? f + width : path.frames - 1;
    lay_cubic(problem, search, path, first, last, q, scratch.moved);
    if (!return_to_goals(problem, search, path, first + 1, last, scratch.moved, step) ||
        count_jumps(problem, search, path, first, last + 1, scratch.moved, scratch.steps))
      continue;
    for (std::size_t i = std::size_t(first) * problem.n; i < std::size_t(last + 1) * problem.n; ++i)
      q[i] = scratch.moved[i];
    return true;
  }
  return false;
}

// Removes jumps of q (frames x n); gives up after bridge_failures jumps that it cannot remove.
template <class T>
SUPPLE_FN void bridge_jumps(const Problem &problem, const Search &search, const PathRequest &path, double *q,
                            ContinuationScratch<T> &step, SmoothScratch<T> &scratch) {
  if (problem.ball_count > 0)
    return;
  for (int f = 1, failures = 0; f < path.frames && failures < PathConstants::bridge_failures; ++f) {
    const double *row = q + std::size_t(f) * problem.n;
    if (is_jump(problem, search, path, time_to(path, f), row - problem.n, row, scratch.steps))
      failures += !bridge_jump(problem, search, path, f, q, step, scratch);
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
