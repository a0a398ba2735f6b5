// What threads of a kernel do together: lanes that work on one row, and counters that all rows share.
//
// On a host, where tests run the same code, one thread has all lanes, and nothing runs at the same time.
#pragma once
#include "supple/math/simd.h"

namespace supple {
inline namespace SUPPLE_ISA {

#if defined(__CUDA_ARCH__)

// adds 1 to a counter; its value before
SUPPLE_FLAT int take_one(int *counter) { return atomicAdd(counter, 1); }

// W lanes of a warp. A thread is one of them.
template <int W>
struct RowLanes {
  static constexpr int own = 1; // lanes of a thread
  SUPPLE_FLAT static int lane(int) { return threadIdx.x % W; }
  SUPPLE_FLAT static unsigned members() {
    return W == 32 ? 0xffffffffu : ((1u << (W % 32)) - 1) << (threadIdx.x % 32 / W * W);
  }
  // bits of the lanes where a condition holds
  SUPPLE_FLAT static unsigned where(const bool *condition) {
    const unsigned found = __ballot_sync(members(), condition[0]) & members();
    return found >> (threadIdx.x % 32 / W * W);
  }
  template <class S>
  SUPPLE_FLAT static S from(const S *value, int stride, int lane) {
    (void)stride;
    return __shfl_sync(members(), value[0], lane, W);
  }
  SUPPLE_FLAT static bool leads() { return threadIdx.x % W == 0; }
};

#else

SUPPLE_FLAT int take_one(int *counter) { return (*counter)++; }

template <int W>
struct RowLanes {
  static constexpr int own = W;
  static int lane(int i) { return i; }
  static unsigned where(const bool *condition) {
    unsigned found = 0;
    for (int i = 0; i < W; ++i)
      found |= unsigned(condition[i]) << i;
    return found;
  }
  // of the values of all lanes, `stride` apart
  template <class S>
  static S from(const S *value, int stride, int lane) {
    return value[stride * lane];
  }
  static bool leads() { return true; }
};

#endif

// the first of some bits, at least one of which is set
SUPPLE_FLAT int first_of(unsigned bits) {
#if defined(__CUDA_ARCH__)
  return __ffs(int(bits)) - 1;
#else
  int i = 0;
  while (!(bits >> i & 1))
    ++i;
  return i;
#endif
}

} // namespace SUPPLE_ISA
} // namespace supple
