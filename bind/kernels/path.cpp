// The path planner, compiled for one instruction set.
#include "kernels/path.h"

#include "kernels/lanes.h"
#include "supple/path/path.h"

namespace supple {
inline namespace SUPPLE_ISA {

static int frames_at_once(const Problem &problem, int frames) {
  const int window = window_frames(problem);
  return frames < window ? frames : window;
}

static std::size_t scratch_bytes(const Problem &problem, int frames) {
  ScratchLayout layout = ScratchLayout::count();
  PlanScratch<Wide, Narrow> scratch;
  lay_out(scratch, layout, problem, frames_at_once(problem, frames));
  return layout.bytes();
}

static void solve(const Problem &problem, const Search &search, const PathRequest &path, const PathRows &rows,
                  void *memory) {
  ScratchLayout layout = ScratchLayout::place(memory);
  PlanScratch<Wide, Narrow> scratch;
  lay_out(scratch, layout, problem, frames_at_once(problem, path.frames));
  solve_path(problem, search, path, scratch, rows);
}

extern const PathKernels path_kernels;
const PathKernels path_kernels = {scratch_bytes, solve};

} // namespace SUPPLE_ISA
} // namespace supple
