// Closed paths that begin at another frame: if a plan begins at a singularity, or its candidates do not
// return to the first q, a plan from another frame may succeed.
#pragma once
#include "supple/path/plan.h"

namespace supple {
inline namespace SUPPLE_ISA {

// A closed path that begins at frame `shift`: its frame k is frame (shift + k) mod (frames - 1) of `path`.
template <class T, class Narrow>
SUPPLE_FN PathRequest rotated_path(const Problem &problem, const PathRequest &path, int shift,
                                   PlanScratch<T, Narrow> &scratch) {
  const int numbers = 12 * problem.target_count, around = path.frames - 1;
  for (int k = 0; k < path.frames; ++k) {
    const double *goals = path.goals + std::size_t((shift + k) % around) * numbers;
    for (int i = 0; i < numbers; ++i)
      scratch.rotated_goals[std::size_t(k) * numbers + i] = goals[i];
    scratch.rotated_times[k] =
        k == 0 ? 0 : scratch.rotated_times[k - 1] + time_to(path, (shift + k - 1) % around + 1);
  }
  PathRequest rotated = path;
  rotated.goals = scratch.rotated_goals;
  rotated.times = path.times ? scratch.rotated_times : nullptr;
  return rotated;
}

// Whether the last q (of frames x n) equals the first.
SUPPLE_FN bool returns(const Problem &problem, const Search &search, int frames, const double *q) {
  const double *last = q + std::size_t(frames - 1) * problem.n;
  for (int l = 0; l < problem.n; ++l)
    if (!(std::fabs(last[l] - q[l]) <= PathConstants::same_value * search.joints[l].natural_size))
      return false;
  return true;
}

// If the plan q of a closed path has jumps or a gap, plans it again from other frames, and takes a plan that
// has fewer.
template <class T, class Narrow>
SUPPLE_FN void try_rotations(const Problem &problem, const Search &search, const PathRequest &path,
                             PlanScratch<T, Narrow> &scratch, double *q) {
  const int n = problem.n, frames = path.frames, around = frames - 1;
  constexpr int sections = PathConstants::rotations;
  if (!path.closed || path.start || path.end || frames <= sections || !has_same_ends(problem, path))
    return;
  int least =
      count_jumps(problem, search, path, 0, frames, q, scratch.steps) + !returns(problem, search, frames, q);
  for (int k = 1; k < sections && least > 0 && !is_stopped(path, 0); ++k) {
    const int shift = k * around / sections;
    const PathRequest rotated = rotated_path(problem, path, shift, scratch);
    plan_frames(problem, search, rotated, scratch, scratch.rotated_rows);
    const int jumps = count_jumps(problem, search, rotated, 0, frames, scratch.rotated_rows, scratch.steps);
    if (jumps >= least || !returns(problem, search, frames, scratch.rotated_rows))
      continue;
    least = jumps;
    for (int f = 0; f < frames; ++f)
      for (int l = 0; l < n; ++l)
        q[std::size_t(f) * n + l] = scratch.rotated_rows[std::size_t((f + around - shift) % around) * n + l];
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
