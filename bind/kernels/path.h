// The table of path functions that each instruction set offers.
#pragma once
#include <cstddef>

#include "supple/path/types.h"

struct PathKernels {
  // bytes for a path of so many frames; the caller aligns them to 64
  std::size_t (*scratch)(const supple::Problem &, int frames);
  void (*solve)(const supple::Problem &, const supple::Search &, const supple::PathRequest &,
                const supple::PathRows &, void *scratch);
};
