// A number of a group of W threads of a warp: each thread has one lane of it.
//
// The search is written for numbers with lanes and branches only where all lanes agree. With this number W
// threads run one search together. Each keeps the values that all lanes share in memory of its own.
#pragma once
#include "supple/math/simd.h"

namespace supple {
inline namespace SUPPLE_ISA {

template <int W>
struct GroupMask {
  bool v;
  friend SUPPLE_FLAT GroupMask operator|(GroupMask a, GroupMask b) { return {a.v || b.v}; }
  friend SUPPLE_FLAT GroupMask operator&(GroupMask a, GroupMask b) { return {a.v && b.v}; }
  friend SUPPLE_FLAT GroupMask operator!(GroupMask a) { return {!a.v}; }
};

template <class S, int W>
struct LaneGroup {
  S v;
  LaneGroup() = default;
  SUPPLE_FLAT explicit LaneGroup(S x) : v(x) {}
  friend SUPPLE_FLAT LaneGroup operator+(LaneGroup a, LaneGroup b) { return LaneGroup(a.v + b.v); }
  friend SUPPLE_FLAT LaneGroup operator-(LaneGroup a, LaneGroup b) { return LaneGroup(a.v - b.v); }
  friend SUPPLE_FLAT LaneGroup operator*(LaneGroup a, LaneGroup b) { return LaneGroup(a.v * b.v); }
  friend SUPPLE_FLAT LaneGroup operator/(LaneGroup a, LaneGroup b) { return LaneGroup(a.v / b.v); }
  friend SUPPLE_FLAT LaneGroup operator-(LaneGroup a) { return LaneGroup(-a.v); }
  using M = GroupMask<W>;
  friend SUPPLE_FLAT M operator<(LaneGroup a, LaneGroup b) { return {a.v < b.v}; }
  friend SUPPLE_FLAT M operator>(LaneGroup a, LaneGroup b) { return {a.v > b.v}; }
  friend SUPPLE_FLAT M operator<=(LaneGroup a, LaneGroup b) { return {a.v <= b.v}; }
  friend SUPPLE_FLAT M operator>=(LaneGroup a, LaneGroup b) { return {a.v >= b.v}; }
  friend SUPPLE_FLAT M operator==(LaneGroup a, LaneGroup b) { return {a.v == b.v}; }
};

template <class S, int W>
struct Lane<LaneGroup<S, W>> {
  using Scalar = S;
  using Mask = GroupMask<W>;
  static constexpr int width = W;
};

template <class S, int W>
SUPPLE_FLAT LaneGroup<S, W> select(GroupMask<W> m, LaneGroup<S, W> a, LaneGroup<S, W> b) {
  return LaneGroup<S, W>(m.v ? a.v : b.v);
}
template <class S, int W>
SUPPLE_FLAT GroupMask<W> odd(LaneGroup<S, W> sum) {
  return {odd(sum.v)};
}
template <class S, int W>
SUPPLE_FLAT LaneGroup<S, W> turn_sign(LaneGroup<S, W> x, LaneGroup<S, W> sum, int ahead) {
  return LaneGroup<S, W>(turn_sign(x.v, sum.v, ahead));
}
template <class S, int W>
SUPPLE_FLAT LaneGroup<S, W> magnitude(LaneGroup<S, W> x) {
  return LaneGroup<S, W>(magnitude(x.v));
}
template <class S, int W>
SUPPLE_FLAT LaneGroup<S, W> root(LaneGroup<S, W> x) {
  return LaneGroup<S, W>(root(x.v));
}

#if defined(__CUDA_ARCH__)

// the first lane of this thread's group in its warp, and all its lanes as bits of the warp
template <int W>
SUPPLE_FLAT int group_begin() {
  return threadIdx.x % 32 / W * W;
}
template <int W>
SUPPLE_FLAT unsigned group_members() {
  return W == 32 ? 0xffffffffu : ((1u << (W % 32)) - 1) << group_begin<W>();
}

template <int W>
SUPPLE_FLAT int bits_of(GroupMask<W> m) {
  return int((__ballot_sync(group_members<W>(), m.v) & group_members<W>()) >> group_begin<W>());
}
template <int W>
SUPPLE_FLAT bool any(GroupMask<W> m) {
  return __any_sync(group_members<W>(), m.v);
}
template <class S, int W>
SUPPLE_FLAT S get(const LaneGroup<S, W> &x, int lane) {
  return __shfl_sync(group_members<W>(), x.v, lane, W);
}
template <class S, int W>
SUPPLE_FLAT void put(LaneGroup<S, W> &x, int lane, S value) {
  if (int(threadIdx.x % W) == lane)
    x.v = value;
}
template <int W>
SUPPLE_FLAT bool all(GroupMask<W> m) {
  return !any(!m);
}

#endif

} // namespace SUPPLE_ISA
} // namespace supple
