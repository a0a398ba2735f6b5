// The table of the search's native verbs that each instruction set offers.
#pragma once
#include <cstddef>

#include "supple/search/types.h"

// many solves of one kind: goals are 12 numbers a target, starts n numbers (or null), for each of the rows
struct HuntJob {
  const supple::Problem *problem;
  const supple::Search *search;
  supple::Stop stop;
  const double *goals, *starts;
  double *q;            // n a row
  supple::Found *found; // one a row
};

struct Hunts {
  const char *name;
  int width;
  std::size_t (*scratch)(const supple::Problem &, long long rows); // bytes, 64-byte aligned by the caller
  // one solve: up to `wanted` answers, nearest first; returns what came of it
  supple::Found (*one)(const HuntJob &, int wanted, int &count, void *scratch);
  void (*many)(const HuntJob &, long long begin, long long end, void *scratch);
  // samples of a table, as rows; and the same put into cells
  void (*sample)(const supple::Problem &, const supple::Search &, const supple::Table &, int count,
                 float *rows, void *scratch);
  void (*fill)(supple::Table &, const float *rows, int count, float *samples, int *counts);
};

const Hunts &hunts(); // of the instruction set in use
