// Scratch memory of a call, and rows shared among threads.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

// scratch memory, aligned for the widest vectors
struct Scratch {
  std::unique_ptr<char[]> bytes;
  void *data;
  explicit Scratch(std::size_t size) : bytes(new char[size + 64]) {
    data = bytes.get() + (64 - reinterpret_cast<std::uintptr_t>(bytes.get()) % 64) % 64;
  }
};

inline int thread_count() {
  static const int count = [] {
    const char *setting = std::getenv("SUPPLE_THREADS");
    const int n = setting ? std::atoi(setting) : int(std::thread::hardware_concurrency());
    return n < 1 ? 1 : n > 256 ? 256 : n;
  }();
  return count;
}

// Calls work(begin, end) for pieces of 0..n, each at least `grain` long and, but for the last, a multiple
// of 64.
//
// Where a thread cannot start, this thread takes its piece. Where work throws, every thread is joined and the
// first exception is thrown again here.
template <class F>
void parallel(long long n, long long grain, F work) {
  const long long most = (n + grain - 1) / grain;
  const int threads = int(most < thread_count() ? most : thread_count());
  if (threads <= 1)
    return work(0LL, n);
  const long long piece = ((n + threads - 1) / threads + 63) / 64 * 64;
  const int pieces = int((n + piece - 1) / piece);
  std::vector<std::exception_ptr> errors(pieces);
  auto run = [&](int k) noexcept {
    try {
      work(k * piece, (k + 1) * piece < n ? (k + 1) * piece : n);
    } catch (...) {
      errors[k] = std::current_exception();
    }
  };
  std::vector<std::thread> workers;
  workers.reserve(pieces);
  int started = 1; // piece 0 is this thread's
  try {
    for (; started < pieces; ++started)
      workers.emplace_back(run, started);
  } catch (...) { // no more threads, or no memory for one: the rest is done here
  }
  run(0);
  for (int k = started; k < pieces; ++k)
    run(k);
  for (std::thread &worker : workers)
    worker.join();
  for (const std::exception_ptr &error : errors)
    if (error)
      std::rethrow_exception(error);
}
