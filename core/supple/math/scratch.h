// Scratch memory: one description of a layout counts its bytes, places its arrays, and checks them.
//
// A layout is a function that calls `array` for each of its arrays. It runs in one of three modes: count (how
// many bytes), place (pointers into a block of that size) and check (no array was written past its end).
// Canaries between the arrays exist in builds with SUPPLE_CANARIES alone.
#pragma once
#include <cstddef>
#include <cstring>

#include "supple/math/number.h"

namespace supple {
inline namespace SUPPLE_ISA {

#ifdef SUPPLE_CANARIES
constexpr std::size_t canary_bytes = 64;
#else
constexpr std::size_t canary_bytes = 0;
#endif
constexpr unsigned char canary_value = 0xC5;

class ScratchLayout {
public:
  static ScratchLayout count() { return ScratchLayout(nullptr, Mode::count); }
  static ScratchLayout place(void *block) { return ScratchLayout(block, Mode::place); }
  static ScratchLayout check(void *block) { return ScratchLayout(block, Mode::check); }

  // `size` elements of T, aligned to 64 bytes; `pointer` is set when placing
  template <class T>
  void array(T *&pointer, std::size_t size) {
    if (mode == Mode::place)
      pointer = reinterpret_cast<T *>(base + used);
    used += (sizeof(T) * size + 63) / 64 * 64;
    guard();
  }

  std::size_t bytes() const { return used; }
  bool intact() const { return no_overrun; }

private:
  enum class Mode { count, place, check };
  ScratchLayout(void *block, Mode m) : base(static_cast<unsigned char *>(block)), mode(m) {}

  void guard() {
    for (std::size_t i = 0; i < canary_bytes; ++i) {
      if (mode == Mode::place)
        base[used + i] = canary_value;
      if (mode == Mode::check)
        no_overrun = no_overrun && base[used + i] == canary_value;
    }
    used += canary_bytes;
  }

  unsigned char *base;
  Mode mode;
  std::size_t used = 0;
  bool no_overrun = true;
};

} // namespace SUPPLE_ISA
} // namespace supple
