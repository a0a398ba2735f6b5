// The table of search functions that each instruction set offers.
#pragma once
#include <cstddef>

#include "supple/search/types.h"

struct SearchKernels {
  // bytes for one solve or a batch of so many; the caller aligns them to 64
  std::size_t (*scratch)(const supple::Problem &, long long batch_size);
  // lays out that memory, once for all solves of the problem
  void (*place)(const supple::Problem &, long long batch_size, void *scratch);
  // one solve: up to request.wanted solutions into rows of q, nearest first, and their number into count
  supple::Found (*one)(const supple::Problem &, const supple::Search &, const supple::Request &, double *q,
                       int &count, void *scratch);
  void (*many)(const supple::Problem &, const supple::Search &, const supple::SearchBatch &, void *scratch);
  // descents from starts, without restarts
  void (*descend)(const supple::Problem &, const supple::Search &, const supple::Descents &, void *scratch);
  // samples of the search's table: `count` rows of fields
  void (*sample)(const supple::Problem &, const supple::Search &, int count, float *rows, void *scratch);
};
