// What the core's test programs share: random numbers, names of number types, counted allocations, and the
// report.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "supple/math/simd.h"

// every allocation of the program is counted: the core must make none
inline long allocations = 0;
void *operator new(std::size_t size) {
  ++allocations;
  if (void *memory = std::malloc(size ? size : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

namespace test { // what is named here hides what the core names alike

using namespace supple;

struct Random {
  std::uint64_t state;
  std::uint64_t bits() { // splitmix64
    std::uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  double unit() { return double(bits() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + unit() * (high - low); }
  int below(int n) { return int(bits() % std::uint64_t(n)); }
};

// the plainest build tries every number type, the others only those whose code differs
#if defined(SUPPLE_PLAIN_ARRAYS)
constexpr bool scalars_too = false, every_width = false;
#else
constexpr bool scalars_too = true, every_width = native_width == 2;
#endif

template <class T>
std::string name_of() {
  const std::string scalar = sizeof(Scalar<T>) == 8 ? "double" : "float";
  return Lane<T>::width == 1 ? scalar : scalar + " x " + std::to_string(Lane<T>::width);
}

// a list of laws as JSON: each with what was measured, what is allowed, and where the worst was seen
struct Report {
  bool empty = true;
  Report() { std::printf("["); }
  ~Report() { std::printf("]\n"); }
  void add(const char *law, const std::string &type, double measured, double allowed, double at = 0) {
    std::printf("%s{\"law\": \"%s\", \"type\": \"%s\", ", empty ? "" : ",\n", law, type.c_str());
    number("measured", measured, ", "), number("allowed", allowed, ", "), number("at", at, "}");
    empty = false;
  }
  static void number(const char *key, double x, const char *end) {
    if (x != x)
      std::printf("\"%s\": NaN%s", key, end);
    else if (std::fabs(x) > 1e308)
      std::printf("\"%s\": %s1e999%s", key, x < 0 ? "-" : "", end);
    else
      std::printf("\"%s\": %.17g%s", key, x, end);
  }
};

// the worst of many errors; one that is no number is worse than any
struct Worst {
  double error = 0, at = 0;
  void see(long double e, double where = 0) {
    const double size = double(e < 0 ? -e : e);
    if (size <= error)
      return;
    error = size == size ? size : std::numeric_limits<double>::infinity();
    at = where;
  }
};

template <class T>
T fill(const Scalar<T> *numbers) {
  T x;
  for (int i = 0; i < Lane<T>::width; ++i)
    put(x, i, numbers[i]);
  return x;
}
template <class T>
T spread(double x) {
  return T(Scalar<T>(x));
}
template <class T>
constexpr double epsilon = std::numeric_limits<Scalar<T>>::epsilon();

// where long double is no longer than double, what we compare with is itself off by this
constexpr double doubt = std::numeric_limits<long double>::digits > 53
                             ? 0
                             : std::numeric_limits<double>::epsilon() / 2;

template <class S>
bool same_bits(S a, S b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

} // namespace test
