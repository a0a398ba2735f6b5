// One table of compiled functions for each instruction set, and which of them is in use.
#pragma once
#include "kernels/forward.h"
#include "kernels/local.h"
#include "kernels/path.h"
#include "kernels/search.h"
#include "kernels/tracking.h"

struct InstructionSet {
  const char *name;
  const ForwardKernels *forward;
  const LocalKernels *local;
  const SearchKernels *search;
  const PathKernels *path;
  const TrackingKernels *tracking;
};

// those of this build that this machine has, narrowest first
const InstructionSet *const *instruction_sets(int &count);
// The one in use. A call looks once and keeps it: scratch of one set does not fit another.
const InstructionSet &instruction_set();
bool use_instruction_set(const char *name); // null: the widest; false if there is none of that name
