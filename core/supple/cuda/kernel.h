// How a kernel is written: for a device, or as a function of a host that runs its threads one after another.
//
// SUPPLE_KERNEL(most threads of a block, name, parameters...) begins a kernel; SUPPLE_STRUCT(type, name) is a
// parameter that is a struct. Inside, SUPPLE_THREADS(t) runs a statement for the thread of number t; in a
// kernel whose threads work together, SUPPLE_BLOCKS(b) and SUPPLE_BLOCK_THREADS(k) do so for a block and for
// the threads of a block, with SUPPLE_BARRIER between their parts.
#pragma once

#if defined(__CUDACC__)

#define SUPPLE_KERNEL(most_threads, name, ...)                                                               \
  extern "C" __global__ void __launch_bounds__(most_threads) name(__VA_ARGS__)
#define SUPPLE_STRUCT(type, name) const __grid_constant__ type name
#define SUPPLE_THREADS(t)                                                                                    \
  if (const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; true)
#define SUPPLE_BLOCKS(b) if (const long long b = blockIdx.x; true)
#define SUPPLE_BLOCK_THREADS(k) if (const int k = int(threadIdx.x); true)
#define SUPPLE_BLOCK_SIZE int(blockDim.x)
#define SUPPLE_SHARED __shared__
#define SUPPLE_BARRIER __syncthreads()

#else

struct HostGrid {
  long long blocks;
  int block_size;
};
#define SUPPLE_KERNEL(most_threads, name, ...) extern "C" void name(const HostGrid *grid, __VA_ARGS__)
#define SUPPLE_STRUCT(type, name) const type &name
#define SUPPLE_THREADS(t) for (long long t = 0; t < grid->blocks * grid->block_size; ++t)
#define SUPPLE_BLOCKS(b) for (long long b = 0; b < grid->blocks; ++b)
#define SUPPLE_BLOCK_THREADS(k) for (int k = 0; k < grid->block_size; ++k)
#define SUPPLE_BLOCK_SIZE (grid->block_size)
#define SUPPLE_SHARED
#define SUPPLE_BARRIER

#endif

namespace supple {

// A value of each thread of a block that outlasts a SUPPLE_BLOCK_THREADS: on a device, a variable.
template <class X, int threads>
struct OfThread {
#if defined(__CUDACC__)
  X value;
  __device__ __forceinline__ X &operator[](int) { return value; }
#else
  X value[threads];
  X &operator[](int k) { return value[k]; }
#endif
};

} // namespace supple
