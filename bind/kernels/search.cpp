// The search, compiled for one instruction set.
#include "kernels/search.h"

#include "supple/search/search.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Many problems fill the widest lanes. One solve runs its first restarts in fewer: the first of all mostly
// arrives.
using Wide = Pack<double, native_width>;
using Narrow = Pack<double, (native_width < 4 ? native_width : 4)>;

struct SearchScratch {
  RestartScratch<Narrow> narrow;
  RestartScratch<Wide> wide;
  int *left;
};

static void lay_out(SearchScratch &scratch, ScratchLayout &layout, const Problem &problem,
                    long long batch_size) {
  lay_out(scratch.narrow, layout, problem);
  lay_out(scratch.wide, layout, problem);
  layout.array(scratch.left, std::size_t(batch_size));
}

static std::size_t scratch_bytes(const Problem &problem, long long batch_size) {
  ScratchLayout layout = ScratchLayout::count();
  SearchScratch scratch;
  lay_out(scratch, layout, problem, batch_size);
  return layout.bytes();
}

static Found solve_one(const Problem &problem, const Search &search, const Request &request, double *q,
                       int &count, void *memory) {
  ScratchLayout layout = ScratchLayout::place(memory);
  RestartScratch<Narrow> scratch; // comes first in the layout
  lay_out(scratch, layout, problem);
  return search_one(problem, search, request, scratch, q, count);
}

static void solve_many(const Problem &problem, const Search &search, const SearchBatch &batch, void *memory) {
  ScratchLayout layout = ScratchLayout::place(memory);
  SearchScratch scratch{};
  lay_out(scratch, layout, problem, batch.count);
  search_many(problem, search, batch, scratch.wide, scratch.narrow, scratch.left);
}

static void sample(const Problem &problem, const Search &search, int count, float *rows, void *memory) {
  ScratchLayout layout = ScratchLayout::place(memory);
  SearchScratch scratch{};
  lay_out(scratch, layout, problem, 0);
  sample_table(problem, search, count, scratch.wide.step.q, scratch.wide.step.axes, rows);
}

extern const SearchKernels search_kernels;
const SearchKernels search_kernels = {scratch_bytes, solve_one, solve_many, sample};

} // namespace SUPPLE_ISA
} // namespace supple
