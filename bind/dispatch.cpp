// Which instruction sets this build and this machine share, and which is in use.
#include "dispatch.h"

#include <atomic>
#include <cstring>
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
#include <intrin.h>
#endif

#define SUPPLE_DECLARE(set)                                                                                  \
  namespace supple {                                                                                         \
  namespace set {                                                                                            \
  extern const ForwardKernels forward_kernels;                                                               \
  extern const LocalKernels local_kernels;                                                                   \
  extern const SearchKernels search_kernels;                                                                 \
  extern const PathKernels path_kernels;                                                                     \
  extern const TrackingKernels tracking_kernels;                                                             \
  }                                                                                                          \
  }                                                                                                          \
  static const InstructionSet set##_set = {#set,                                                             \
                                           &supple::set::forward_kernels,                                    \
                                           &supple::set::local_kernels,                                      \
                                           &supple::set::search_kernels,                                     \
                                           &supple::set::path_kernels,                                       \
                                           &supple::set::tracking_kernels};
SUPPLE_DECLARE(baseline)
#ifdef SUPPLE_HAS_avx2
SUPPLE_DECLARE(avx2)
#endif
#ifdef SUPPLE_HAS_avx512
SUPPLE_DECLARE(avx512)
#endif

namespace {

#if defined(SUPPLE_HAS_avx2) || defined(SUPPLE_HAS_avx512)
#if defined(_MSC_VER) && !defined(__clang__)
bool machine_has(bool wide) {
  int leaf[4];
  __cpuid(leaf, 1);
  const bool fma = leaf[2] & (1 << 12), saves = leaf[2] & (1 << 27);
  if (!fma || !saves)
    return false;
  const unsigned long long state = _xgetbv(0);
  __cpuidex(leaf, 7, 0);
  const unsigned features = static_cast<unsigned>(leaf[1]);
  if (!wide)
    return (features & (1u << 5)) && (state & 0x6) == 0x6;
  const unsigned wanted = (1u << 16) | (1u << 17) | (1u << 30) | (1u << 31);
  return (features & wanted) == wanted && (state & 0xe6) == 0xe6;
}
#else
bool machine_has(bool wide) {
  __builtin_cpu_init();
  if (!wide)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("fma");
}
#endif
#endif

struct Available {
  const InstructionSet *sets[3];
  int count = 0;
  Available() {
    sets[count++] = &baseline_set;
#ifdef SUPPLE_HAS_avx2
    if (machine_has(false))
      sets[count++] = &avx2_set;
#endif
#ifdef SUPPLE_HAS_avx512
    if (machine_has(true))
      sets[count++] = &avx512_set;
#endif
  }
};

const Available &available() {
  static const Available all;
  return all;
}

std::atomic<const InstructionSet *> in_use{available().sets[available().count - 1]};

} // namespace

const InstructionSet *const *instruction_sets(int &count) {
  count = available().count;
  return available().sets;
}

const InstructionSet &instruction_set() { return *in_use.load(std::memory_order_relaxed); }

bool use_instruction_set(const char *name) {
  const Available &all = available();
  for (int i = all.count - 1; i >= 0; --i)
    if (!name || std::strcmp(all.sets[i]->name, name) == 0) {
      in_use = all.sets[i];
      return true;
    }
  return false;
}
