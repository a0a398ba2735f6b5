// The centre of mass of a linkage, and axes that move it as if it were one end effector.
#pragma once
#include "supple/model/chain.h"

namespace supple {
inline namespace SUPPLE_ISA {

// numbers of type Axis that a node needs as scratch: its frame, and its moment
constexpr int mass_scratch = 3;

template <class T>
SUPPLE_FLAT Frame<T> stored_frame(const Axis<T> *at) {
  return {{at[0].z, at[0].p, at[1].z}, at[1].p};
}

// The centre of mass c. With the fraction m of the mass carried by a joint and its centre c_m, the joint with
// the axis z through p moves c by m z x (c_m - p). It is stored as the axis m z through c - (c_m - p), so
// that it moves c as the axes of a chain move an end effector. After the axes, `axes` has scratch for
// mass_scratch a node.
template <class T>
SUPPLE_FN Vec<T> center_of_mass(const MassTree &tree, const T *q, Axis<T> *axes) {
  Axis<T> *scratch = axes + tree.axes;
  Vec<T> center = splat3<T>(tree.fixed);
  T s[block], c[block];
  for (int first = 0; first < tree.count; first += block) {
    const MassNode *nodes = tree.nodes + first;
    const int n = tree.count - first < block ? tree.count - first : block;
    sincos_run(n, s, c, [&](int i) { return value(nodes[i].joint, q); });
    for (int i = 0; i < n; ++i) {
      Frame<T> at = articulated(nodes[i].joint, q, s[i], c[i]);
      if (nodes[i].joint.parent >= 0)
        at = stored_frame(scratch + mass_scratch * nodes[i].joint.parent) * at;
      Axis<T> *to = scratch + mass_scratch * (first + i);
      to[0] = {at.r.x, at.r.y};
      to[1] = {at.r.z, at.p};
      to[2].z = splat<T>(nodes[i].share) * (at * splat3<T>(nodes[i].center));
    }
  }
  for (int i = tree.count - 1; i >= 0; --i) {
    Vec<T> &moment =
        tree.nodes[i].joint.parent < 0 ? center : scratch[mass_scratch * tree.nodes[i].joint.parent + 2].z;
    moment = moment + scratch[mass_scratch * i + 2].z;
  }
  for (int i = 0; i < tree.count; ++i) {
    const MassNode &node = tree.nodes[i];
    const Frame<T> at = stored_frame(scratch + mass_scratch * i);
    const T carried = splat<T>(node.carried);
    const Vec<T> lever = (splat<T>(1 / node.carried)) * scratch[mass_scratch * i + 2].z - at.p;
    const Vec<T> through = center - lever;
    if (node.joint.motion == spherical) {
      *axes++ = {carried * at.r.x, through};
      *axes++ = {carried * at.r.y, through};
    }
    *axes++ = {carried * at.r.z, through};
  }
  return center;
}

} // namespace SUPPLE_ISA
} // namespace supple
