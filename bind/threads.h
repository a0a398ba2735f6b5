// Rows shared out among threads.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

// working memory, aligned for the widest lanes
struct Scratch {
  std::unique_ptr<char[]> bytes;
  void *data;
  explicit Scratch(std::size_t size) : bytes(new char[size + 64]) {
    data = bytes.get() + (64 - reinterpret_cast<std::uintptr_t>(bytes.get()) % 64) % 64;
  }
};

inline int thread_count() {
  static const int count = [] {
    const char *wanted = std::getenv("SUPPLE_THREADS");
    const int n = wanted ? std::atoi(wanted) : int(std::thread::hardware_concurrency());
    return n < 1 ? 1 : n > 256 ? 256 : n;
  }();
  return count;
}

// calls work(begin, end) for pieces of 0..n, each at least `grain` long and, but for the last, a multiple of
// 64
template <class F>
void parallel(long long n, long long grain, F work) {
  const long long most = (n + grain - 1) / grain;
  const int threads = int(most < thread_count() ? most : thread_count());
  if (threads <= 1)
    return work(0LL, n);
  const long long piece = ((n + threads - 1) / threads + 63) / 64 * 64;
  std::vector<std::thread> team;
  team.reserve(threads);
  for (long long begin = piece; begin < n; begin += piece) {
    const long long end = begin + piece < n ? begin + piece : n;
    team.emplace_back([=, &work] { work(begin, end); });
  }
  work(0LL, piece < n ? piece : n);
  for (std::thread &t : team)
    t.join();
}
