// Which instruction sets this machine has, and which is in use.
#include "dispatch.h"

#include <atomic>
#include <cstring>
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
#include <intrin.h>
#endif

namespace supple {
namespace baseline {
extern const Kernels table;
}
#ifdef SUPPLE_HAS_avx2
namespace avx2 {
extern const Kernels table;
}
#endif
#ifdef SUPPLE_HAS_avx512
namespace avx512 {
extern const Kernels table;
}
#endif
} // namespace supple

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

struct Found {
  const Kernels *tables[3];
  int count = 0;
  Found() {
    tables[count++] = &supple::baseline::table;
#ifdef SUPPLE_HAS_avx2
    if (machine_has(false))
      tables[count++] = &supple::avx2::table;
#endif
#ifdef SUPPLE_HAS_avx512
    if (machine_has(true))
      tables[count++] = &supple::avx512::table;
#endif
  }
};

const Found &found() {
  static const Found f;
  return f;
}

std::atomic<const Kernels *> in_use{found().tables[found().count - 1]};

} // namespace

const Kernels *const *all_kernels(int &count) {
  count = found().count;
  return found().tables;
}

const Kernels &kernels() { return *in_use.load(std::memory_order_relaxed); }

bool use_kernels(const char *name) {
  for (int i = 0; i < found().count; ++i)
    if (!name || std::strcmp(found().tables[i]->name, name) == 0) {
      in_use = found().tables[name ? i : found().count - 1];
      return true;
    }
  return false;
}
