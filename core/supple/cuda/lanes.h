// What threads of a kernel do together: lanes that work on one row, and counters that all rows share.
//
// RowLanes: up to 32 lanes of a warp, known to the compiler. LaneTeam: one warp, or all warps of a block.
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
  static constexpr int own = 1;                                                 // lanes of a thread
  static constexpr unsigned all = W == 32 ? 0xffffffffu : (1u << (W % 32)) - 1; // as bits
  SUPPLE_FLAT static int lane(int) { return threadIdx.x % W; }
  SUPPLE_FLAT static unsigned members() { return all << (threadIdx.x % 32 / W * W); }
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

// The lanes of one row: those of a warp, or with `whole_block` those of all warps of a block of 32
// `most_warps` threads. A thread is one of them. All lanes call each function together.
template <int most_warps>
struct LaneTeam {
  static constexpr int own = 1; // lanes of a thread
  bool whole_block;

  SUPPLE_FLAT int count() const { return whole_block ? 32 * most_warps : 32; }
  SUPPLE_FLAT int lane(int) const { return whole_block ? int(threadIdx.x) : int(threadIdx.x % 32); }
  SUPPLE_FLAT bool leads() const { return lane(0) == 0; }
  template <class Work>
  SUPPLE_FLAT void each(Work work) const {
    work(0);
  }
  // the first lane where a condition holds, or -1
  SUPPLE_FLAT int first(const bool *condition) const {
    const unsigned found = __ballot_sync(0xffffffffu, condition[0]);
    if (!whole_block)
      return __ffs(int(found)) - 1;
    __shared__ unsigned of_warps[most_warps];
    __syncthreads();
    if (threadIdx.x % 32 == 0)
      of_warps[threadIdx.x / 32] = found;
    __syncthreads();
    int lane = -1;
    for (int i = most_warps - 1; i >= 0; --i)
      lane = of_warps[i] ? 32 * i + __ffs(int(of_warps[i])) - 1 : lane;
    return lane;
  }
  // what value(0) is in one lane
  template <class Value>
  SUPPLE_FLAT auto from(int lane, Value value) const {
    const auto own_value = value(0);
    if (!whole_block)
      return __shfl_sync(0xffffffffu, own_value, lane);
    __shared__ double slot;
    __syncthreads();
    if (int(threadIdx.x) == lane)
      std::memcpy(&slot, &own_value, sizeof own_value);
    __syncthreads();
    auto found = own_value;
    std::memcpy(&found, &slot, sizeof found);
    return found;
  }
};

#else

SUPPLE_FLAT int take_one(int *counter) { return (*counter)++; }

template <int W>
struct RowLanes {
  static constexpr int own = W;
  static constexpr unsigned all = W == 32 ? 0xffffffffu : (1u << (W % 32)) - 1;
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

template <int most_warps>
struct LaneTeam {
  static constexpr int own = 32 * most_warps;
  bool whole_block;

  int count() const { return whole_block ? own : 32; }
  int lane(int i) const { return i; }
  bool leads() const { return true; }
  template <class Work>
  void each(Work work) const {
    for (int i = 0; i < count(); ++i)
      work(i);
  }
  int first(const bool *condition) const {
    for (int i = 0; i < count(); ++i)
      if (condition[i])
        return i;
    return -1;
  }
  template <class Value>
  auto from(int lane, Value value) const {
    return value(lane);
  }
};

#endif

} // namespace SUPPLE_ISA
} // namespace supple
