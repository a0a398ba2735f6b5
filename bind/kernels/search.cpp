// The search, compiled for one instruction set.
#include "kernels/search.h"

#include <new>

#include "kernels/lanes.h"
#include "supple/search/descend.h"
#include "supple/search/many.h"

namespace supple {
inline namespace SUPPLE_ISA {

template SearchStepResult<Wide> general_step<Wide>(const Problem &, const Search &, Wide, bool,
                                                   SearchStepScratch<Wide> &);
template Found search_one<Narrow>(const Problem &, const Search &, const Request &, RestartScratch<Narrow> &,
                                  double *, int &);

// Wide and Narrow of first restarts, in float.
using WideFloat = Pack<float, 2 * native_width>;
using NarrowFloat = Pack<float, 4>;

struct SearchScratch {
  RestartScratch<NarrowFloat> narrow_float;
  RestartScratch<Narrow> narrow;
  RestartScratch<WideFloat> wide_float;
  RestartScratch<Wide> wide;
  int *left;
};

// The arrays, after the struct that has their places.
static void lay_out(SearchScratch &scratch, ScratchLayout &layout, const Problem &problem,
                    long long batch_size) {
  SearchScratch *places;
  layout.array(places, 1);
  lay_out(scratch.narrow_float, layout, problem);
  lay_out(scratch.narrow, layout, problem);
  lay_out(scratch.wide_float, layout, problem);
  lay_out(scratch.wide, layout, problem);
  layout.array(scratch.left, std::size_t(batch_size));
}

static std::size_t scratch_bytes(const Problem &problem, long long batch_size) {
  ScratchLayout layout = ScratchLayout::count();
  SearchScratch scratch;
  lay_out(scratch, layout, problem, batch_size);
  return layout.bytes();
}

static void place(const Problem &problem, long long batch_size, void *memory) {
  ScratchLayout layout = ScratchLayout::place(memory);
  lay_out(*new (memory) SearchScratch{}, layout, problem, batch_size);
}

static SearchScratch &placed(void *memory) { return *static_cast<SearchScratch *>(memory); }

static Found solve_one(const Problem &problem, const Search &search, const Request &request, double *q,
                       int &count, void *memory) {
  SearchScratch &scratch = placed(memory);
  return search_one(problem, search, request, scratch.narrow_float, scratch.narrow, q, count);
}

static void solve_many(const Problem &problem, const Search &search, const SearchBatch &batch, void *memory) {
  SearchScratch &scratch = placed(memory);
  if (begins_in_float(problem, search, batch.starts, 1))
    search_many_frames(problem, search, batch, scratch.wide_float, scratch.narrow_float, scratch.narrow,
                       scratch.left);
  else
    search_many(problem, search, batch, scratch.wide, scratch.narrow, scratch.left);
}

static void descend(const Problem &problem, const Search &search, const Descents &descents, void *memory) {
  RestartScratch<Wide> &wide = placed(memory).wide;
  static_assert(native_width + 2 <= SearchConstants::candidates, "solutions lie in the place of candidates");
  wide.step.deadline = nullptr;
  descend_rows(problem, search, descents, wide.step, wide.best, wide.seed, wide.candidates);
}

static void sample(const Problem &problem, const Search &search, int count, float *rows, void *memory) {
  SearchStepScratch<Wide> &step = placed(memory).wide.step;
  sample_table(problem, search, count, step.q, step.axes, rows);
}

extern const SearchKernels search_kernels;
const SearchKernels search_kernels = {scratch_bytes, place, solve_one, solve_many, descend, sample};

} // namespace SUPPLE_ISA
} // namespace supple
