// The vectors that searches and paths use, and what both need of the search: search.cpp compiles it for both.
#pragma once
#include "supple/search/search.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Many problems fill the widest lanes. One solve runs its first restarts in fewer: the first of all mostly
// arrives.
using Wide = Pack<double, native_width>;
using Narrow = Pack<double, (native_width < 4 ? native_width : 4)>;

extern template SearchStepResult<Wide> general_step<Wide>(const Problem &, const Search &, Wide, bool,
                                                          SearchStepScratch<Wide> &);
extern template Found search_one<Narrow>(const Problem &, const Search &, const Request &,
                                         RestartScratch<Narrow> &, double *, int &);

} // namespace SUPPLE_ISA
} // namespace supple
