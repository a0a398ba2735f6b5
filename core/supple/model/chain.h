// Forward kinematics of one end effector: the joints between it and the world, one after another.
#pragma once
#include "supple/model/tree.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Makes the joints of a chain from the nodes between the world and an end effector (model/types.h): splits
// each location into a turn about z, which the joint before it takes over, a shift, a tilt about x, and a
// turn about z, which the joint takes itself.
inline void make_chain(const Node *nodes, int count, ChainJoint *joints) {
  for (int i = 0; i < count; ++i) {
    const Node &node = nodes[i];
    ChainJoint &joint = joints[i];
    joint = {};
    for (int k = 0; k < 9; ++k)
      joint.rotation[k] = node.rotation[k];
    for (int k = 0; k < 3; ++k)
      joint.position[k] = node.position[k];
    joint.index = node.index;
    joint.motion = node.motion;
    joint.inverted = node.inverted;
    joint.whole = i == 0 || nodes[i - 1].motion == spherical || node.motion == spherical;
    double before = 0, after = 0;
    if (!joint.whole) {
      // R = Rz(before) Rx(tilt) Rz(after)
      const double *r = node.rotation;
      if (r[2] != 0 || r[5] != 0)
        before = std::atan2(r[2], -r[5]);
      const double c = std::cos(before), s = std::sin(before);
      after = std::atan2(-(c * r[1] + s * r[4]), c * r[0] + s * r[3]);
      joint.tilt_cos = r[8];
      joint.tilt_sin = s * r[2] - c * r[5];
      joint.shift[0] = c * node.position[0] + s * node.position[1];
      joint.shift[1] = c * node.position[1] - s * node.position[0];
      joint.shift[2] = node.position[2];
      joints[i - 1].turn_offset += before;
      // numbers far below rounding count as zero: most arms have right angles and offsets along one axis
      double size = 0;
      for (double x : joint.shift)
        size += std::fabs(x);
      for (int k = 0; k < 3; ++k)
        joint.shifts[k] = std::fabs(joint.shift[k]) > 1e-17 * size;
      joint.tilt = some_tilt;
      if (std::fabs(joint.tilt_cos) < 1e-16)
        joint.tilt = joint.tilt_sin > 0 ? up : down;
      else if (joint.tilt_cos > 0 && std::fabs(joint.tilt_sin) < 1e-16)
        joint.tilt = no_tilt;
    }
    joint.turn_offset = after + (node.motion == revolute ? node.offset : 0);
    joint.turn_gain = node.motion == revolute ? node.gain : 0;
    joint.slide_offset = node.motion == prismatic ? node.offset : 0;
    joint.slide_gain = node.motion == prismatic ? node.gain : 0;
  }
}

// A frame as its columns. Forward kinematics only ever adds multiples of columns, so a column may be three
// numbers (Vec) or, for a single frame, one register of four (Pack).
template <class Col>
struct Columns {
  Col x, y, z, p;
};
template <class S>
SUPPLE_FLAT Pack<S, 4> operator*(S s, Pack<S, 4> v) {
  return Pack<S, 4>(s) * v;
}

template <class T>
SUPPLE_FLAT void load_frame(Columns<Vec<T>> &c, const Frame<T> &f) {
  c = {f.r.x, f.r.y, f.r.z, f.p};
}
template <class S>
SUPPLE_FLAT void load_frame(Columns<Pack<S, 4>> &c, const Frame<S> &f) {
  const S padded[16] = {f.r.x.x, f.r.x.y, f.r.x.z, 0, f.r.y.x, f.r.y.y, f.r.y.z, 0,
                        f.r.z.x, f.r.z.y, f.r.z.z, 0, f.p.x,   f.p.y,   f.p.z,   1};
  std::memcpy(&c, padded, sizeof c);
}
// the columns of a frame b that is seen from a
template <class T, class Col>
SUPPLE_FLAT Columns<Col> after(const Columns<Col> &a, const Frame<T> &b) {
  return {b.r.x.x * a.x + b.r.x.y * a.y + b.r.x.z * a.z, b.r.y.x * a.x + b.r.y.y * a.y + b.r.y.z * a.z,
          b.r.z.x * a.x + b.r.z.y * a.y + b.r.z.z * a.z, b.p.x * a.x + b.p.y * a.y + b.p.z * a.z + a.p};
}

// a point of a joint's axis and its direction, in the world
template <class T>
struct Axis {
  Vec<T> z, p;
};

template <class T>
SUPPLE_FLAT Vec<T> vec(Vec<T> v) {
  return v;
}
template <class S>
SUPPLE_FLAT Vec<S> vec(Pack<S, 4> v) {
  return {get(v, 0), get(v, 1), get(v, 2)};
}

template <class T>
SUPPLE_FLAT void store_axis(Axis<T> *axis, const Vec<T> &z, const Vec<T> &p) {
  *axis = {z, p};
}
// stores four numbers at a time: the next store overwrites the fourth
template <class S>
SUPPLE_FLAT void store_axis(Axis<S> *axis, const Pack<S, 4> &z, const Pack<S, 4> &p) {
  std::memcpy(&axis->z, &z, sizeof z);
  std::memcpy(&axis->p, &p, sizeof p);
}

// for a single frame, columns as registers; for lanes, and where registers are narrow, as three numbers
template <class T>
using ColumnOf = std::conditional_t<Lane<T>::width == 1 && native_width >= 4, Pack<Scalar<T>, 4>, Vec<T>>;

template <class T>
SUPPLE_FLAT Frame<T> frame(const Columns<ColumnOf<T>> &c) {
  return {{vec(c.x), vec(c.y), vec(c.z)}, vec(c.p)};
}

// The nodes of the chain from one link to another: against the joints of `up` (nodes from the common ancestor
// to the first link), then along those of `down` (to the second). The inverse of a joint is
// (L Rot(v))^-1 = Rot(-v) L^-1, so each location moves to the joint before. `from` and `to` are the frames of
// the links on their last nodes; `to` becomes that of the second link on the last node of the chain.
inline void make_relative_nodes(const Node *up, int up_count, const Node *down, int down_count,
                                const Frame<double> &from, Frame<double> &to, Node *out) {
  auto place = [](Node node, const Frame<double> &at) {
    const double rows[9] = {at.r.x.x, at.r.y.x, at.r.z.x, at.r.x.y, at.r.y.y,
                            at.r.z.y, at.r.x.z, at.r.y.z, at.r.z.z};
    std::memcpy(node.rotation, rows, sizeof rows);
    store3(at.p, node.position);
    return node;
  };
  Frame<double> before = inverse(from);
  for (int i = up_count - 1; i >= 0; --i) {
    Node node = place(up[i], before);
    node.gain = -node.gain;
    node.offset = -node.offset;
    node.inverted = !node.inverted;
    *out++ = node;
    before = inverse(constant<double>(up[i].rotation, up[i].position));
  }
  for (int i = 0; i < down_count; ++i) {
    *out++ = place(down[i], before * constant<double>(down[i].rotation, down[i].position));
    before = {identity<double>(), {0, 0, 0}};
  }
  to = before * to;
}

// Frame of the end effector, and the axes of all joints on the path to it; the array must hold one axis
// more.
template <class T>
SUPPLE_FLAT Columns<ColumnOf<T>> traverse_chain(const Chain &chain, const T *q, Axis<T> *axes) {
  using Col = ColumnOf<T>;
  T s[block], c[block];
  Columns<Col> at;
  for (int first = 0; first < chain.count; first += block) {
    const int n = chain.count - first < block ? chain.count - first : block;
    const ChainJoint *joints = chain.joints + first;
    sincos_run(n, s, c, [&](int i) {
      return splat<T>(joints[i].turn_gain) * q[joints[i].index] + splat<T>(joints[i].turn_offset);
    });
    for (int i = 0; i < n; ++i) {
      const ChainJoint &joint = joints[i];
      if (joint.whole) {
        const Frame<T> location = constant<T>(joint.rotation, joint.position);
        if (first + i)
          at = after(at, location);
        else
          load_frame(at, location);
      } else {
        if (joint.shifts[0])
          at.p = at.p + splat<T>(joint.shift[0]) * at.x;
        if (joint.shifts[1])
          at.p = at.p + splat<T>(joint.shift[1]) * at.y;
        if (joint.shifts[2])
          at.p = at.p + splat<T>(joint.shift[2]) * at.z;
        const Col y = at.y, z = at.z;
        if (joint.tilt == up) {
          at.y = z;
          at.z = -y;
        } else if (joint.tilt == down) {
          at.y = -z;
          at.z = y;
        } else if (joint.tilt == some_tilt) {
          at.y = splat<T>(joint.tilt_cos) * y + splat<T>(joint.tilt_sin) * z;
          at.z = splat<T>(joint.tilt_cos) * z - splat<T>(joint.tilt_sin) * y;
        }
      }
      if (joint.motion != spherical) {
        const Col x = at.x;
        at.x = c[i] * x + s[i] * at.y;
        at.y = c[i] * at.y - s[i] * x;
        if (joint.motion == prismatic)
          at.p = at.p + (splat<T>(joint.slide_gain) * q[joint.index] + splat<T>(joint.slide_offset)) * at.z;
        store_axis(axes++, at.z, at.p);
      } else {
        // values of a ball turn about its child's axes, which an inverted ball has before its turn
        const T o = splat<T>(0);
        const Vec<T> rotation = load3(q + joint.index);
        if (joint.inverted) {
          store_axis(axes++, -at.x, at.p);
          store_axis(axes++, -at.y, at.p);
          store_axis(axes++, -at.z, at.p);
        }
        at = after(at, Frame<T>{exp_rotation(joint.inverted ? -rotation : rotation), {o, o, o}});
        if (!joint.inverted) {
          store_axis(axes++, at.x, at.p);
          store_axis(axes++, at.y, at.p);
          store_axis(axes++, at.z, at.p);
        }
      }
    }
  }
  const Frame<T> tip = constant<T>(chain.rotation, chain.position);
  if (chain.count)
    return after(at, tip);
  load_frame(at, tip);
  return at;
}

} // namespace SUPPLE_ISA
} // namespace supple
