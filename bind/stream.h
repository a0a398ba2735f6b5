// Rows on their way to memory that is too large for any cache: whole lines, written past the caches.
#pragma once
#include <cstdint>
#include <cstring>
#if defined(__SSE2__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace supple {
inline namespace SUPPLE_ISA {

// The line at `to` is 64 bytes and aligned; `from` is anywhere.
inline void write_line(double *to, const double *from) {
#if defined(__AVX512F__)
  _mm512_stream_pd(to, _mm512_loadu_pd(from));
#elif defined(__AVX__)
  for (int i = 0; i < 8; i += 4)
    _mm256_stream_pd(to + i, _mm256_loadu_pd(from + i));
#elif defined(__SSE2__) || defined(_M_X64)
  for (int i = 0; i < 8; i += 2)
    _mm_stream_pd(to + i, _mm_loadu_pd(from + i));
#else
  std::memcpy(to, from, 64);
#endif
}

// Takes rows in order and writes them one after another. `stage` is where the next rows are put: working
// memory for them and eight numbers more, of which some may be held over from the rows before.
struct Stream {
  double *to, *stage;
  int held = 0;

  double *place() const { return stage + held; }

  // `count` numbers have been put at place(): on with them, but for the part of a line that is not full yet
  void append(int count) {
    const double *from = stage;
    int left = held + count;
    const int lead = int((64 - reinterpret_cast<std::uintptr_t>(to) % 64) % 64 / 8);
    if (lead && left >= lead) {
      std::memcpy(to, from, 8 * std::size_t(lead));
      to += lead, from += lead, left -= lead;
    }
    if (reinterpret_cast<std::uintptr_t>(to) % 64 == 0)
      for (; left >= 8; to += 8, from += 8, left -= 8)
        write_line(to, from);
    std::memmove(stage, from, 8 * std::size_t(left));
    held = left;
  }

  void finish() {
    std::memcpy(to, stage, 8 * std::size_t(held));
    held = 0;
#if defined(__SSE2__) || defined(_M_X64)
    _mm_sfence();
#endif
  }
};

} // namespace SUPPLE_ISA
} // namespace supple
