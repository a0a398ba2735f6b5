// How a kernel is written: for a device, or as a function of a host that runs its threads one after another.
//
// SUPPLE_KERNEL(most threads of a block, name, parameters...) begins a kernel; SUPPLE_STRUCT(type, name) is a
// parameter that is a struct. Inside, SUPPLE_THREADS(t) runs a statement for the thread of number t; in a
// kernel whose threads work together, SUPPLE_BLOCKS(b) and SUPPLE_BLOCK_THREADS(k) do so for a block and for
// the threads of a block, with SUPPLE_BARRIER between their parts. A kernel that is launched `early` begins
// with SUPPLE_WAIT_FOR_EARLIER, which waits for the end of the kernel before it; that one says
// SUPPLE_LET_NEXT_BEGIN when blocks of the next may take room that it leaves.
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
#if __CUDA_ARCH__ >= 900
#define SUPPLE_LET_NEXT_BEGIN asm volatile("griddepcontrol.launch_dependents;" ::: "memory")
#define SUPPLE_WAIT_FOR_EARLIER asm volatile("griddepcontrol.wait;" ::: "memory")
#else
#define SUPPLE_LET_NEXT_BEGIN
#define SUPPLE_WAIT_FOR_EARLIER
#endif

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
#define SUPPLE_LET_NEXT_BEGIN
#define SUPPLE_WAIT_FOR_EARLIER

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
