// Forward kinematics: joint values to frames, parents before children [K fig. 5.13].
#pragma once
#include <cstring>
#include <type_traits>

#include "supple/math/se3.h"
#include "supple/math/simd.h"
#include "supple/model/types.h"

namespace supple {
inline namespace SUPPLE_ISA {

// a constant frame of the tree, as numbers of type T
template <class T>
SUPPLE_FLAT Frame<T> constant(const double *r, const double *p) {
  return {{{splat<T>(r[0]), splat<T>(r[3]), splat<T>(r[6])},
           {splat<T>(r[1]), splat<T>(r[4]), splat<T>(r[7])},
           {splat<T>(r[2]), splat<T>(r[5]), splat<T>(r[8])}},
          {splat<T>(p[0]), splat<T>(p[1]), splat<T>(p[2])}};
}

template <class T>
SUPPLE_FLAT T value(const Node &node, const T *q) {
  return splat<T>(node.gain) * q[node.index] + splat<T>(node.offset);
}

// frame of a node's child on its parent: the constant location, then the articulation, whose sine and cosine
// are known
template <class T>
SUPPLE_FLAT Frame<T> articulated(const Node &node, const T *q, T s, T c) {
  Frame<T> at = constant<T>(node.rotation, node.position);
  if (node.motion == revolute) {
    const Vec<T> x = at.r.x, y = at.r.y;
    at.r.x = c * x + s * y;
    at.r.y = c * y - s * x;
  } else if (node.motion == prismatic) {
    at.p = at.p + value(node, q) * at.r.z;
  } else {
    at.r = at.r * exp_rotation(load3(q + node.index));
  }
  return at;
}

// frames of all nodes of a tree, parents before children
template <class T>
SUPPLE_FLAT void traverse(const Node *nodes, int count, const T *q, Frame<T> *world) {
  T s[block], c[block];
  for (int first = 0; first < count; first += block) {
    const int n = count - first < block ? count - first : block;
    sincos_run(n, s, c, [&](int i) { return value(nodes[first + i], q); });
    for (int i = 0; i < n; ++i) {
      const Node &node = nodes[first + i];
      const Frame<T> local = articulated(node, q, s[i], c[i]);
      world[first + i] = node.parent < 0 ? local : world[node.parent] * local;
    }
  }
}

// a ball joint's values after a turn about its child's axes, and the shortest such turn between two values
template <class T>
SUPPLE_FLAT Vec<T> turned(Vec<T> q, Vec<T> step) {
  return log_quaternion(with_positive_w(exp_quaternion(q) * exp_quaternion(step)));
}
template <class T>
SUPPLE_FLAT Vec<T> between(Vec<T> start, Vec<T> end) {
  return log_quaternion(with_positive_w(conjugate(exp_quaternion(start)) * exp_quaternion(end)));
}

} // namespace SUPPLE_ISA
} // namespace supple
