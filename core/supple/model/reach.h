// How far a chain can get: the greatest distance of its end from its base, every turn being free.
#pragma once
#include "supple/model/chain.h"

namespace supple {
inline namespace SUPPLE_ISA {

// The point of the first joint's axis that is nearest to the second's; for a slide, where it starts. Axes
// that lean by less than 0.01 rad count as parallel: where they come nearest may be far away, and means
// nothing.
SUPPLE_FN Vec<double> base_point(const ChainJoint *joints, int count, Vec<double> end) {
  const Frame<double> first = constant<double>(joints[0].rotation, joints[0].position);
  if (joints[0].motion != turns)
    return first.p;
  Vec<double> to = end - first.p, axis = first.r.z;
  double along = dot(axis, to);
  if (count > 1) {
    const Frame<double> next = first * constant<double>(joints[1].rotation, joints[1].position);
    to = next.p - first.p;
    const double lean = dot(axis, next.r.z), square = 1 - lean * lean;
    along = dot(axis, to);
    if (joints[1].motion == turns && square > 1e-4)
      along = (along - lean * dot(next.r.z, to)) / square;
  }
  return first.p + along * axis;
}

// Climbs the distance joint by joint, from the outermost inward, until it grows no more; from several starts.
// `base` becomes the point it is measured from. The joints must be turns and slides with indices 0, 1, 2,
// ...; q and axes are scratch for `count` and one more of them.
SUPPLE_FN double reach(const Chain &chain, const double *lower, const double *upper, double *q,
                       Axis<double> *axes, Vec<double> &base) {
  const int n = chain.count;
  if (n == 0)
    return 0;
  double best = 0;
  for (int start = 0; start < 16; ++start) {
    for (int i = 0; i < n; ++i) {
      const double part = (start + 1) * 0.6180339887498949 * (i + 1), spread = part - std::floor(part);
      q[i] = chain.joints[i].motion == turns ? 6.283185307179586 * spread
                                             : lower[i] + spread * (upper[i] - lower[i]);
    }
    double now = 0;
    for (int sweep = 0; sweep < 1000; ++sweep) {
      Vec<double> end = vec(traverse_chain(chain, q, axes).p);
      if (start == 0 && sweep == 0)
        base = base_point(chain.joints, n, end);
      for (int i = n - 1; i >= 0; --i) {
        const Vec<double> axis = axes[i].z;
        if (chain.joints[i].motion == turns) {
          // across the axis, the end should point away from the base
          const Vec<double> to = end - axes[i].p, from = axes[i].p - base;
          const Vec<double> a = to - dot(axis, to) * axis, b = from - dot(axis, from) * axis;
          const double angle = atan2(dot(axis, cross(a, b)), dot(a, b));
          double s, c;
          sincos(angle, s, c);
          end = axes[i].p + dot(axis, to) * axis + c * a + s * cross(axis, a);
          q[i] += angle;
        } else {
          const double low = lower[i] - q[i], high = upper[i] - q[i];
          const Vec<double> down = end + low * axis - base, up = end + high * axis - base;
          const double move = dot(down, down) > dot(up, up) ? low : high;
          end = end + move * axis;
          q[i] += move;
        }
      }
      const Vec<double> span = end - base;
      const double distance = root(dot(span, span));
      const bool converged = distance - now <= 1e-15 * distance;
      now = distance;
      if (converged)
        break;
    }
    best = larger(best, now);
  }
  return best;
}

} // namespace SUPPLE_ISA
} // namespace supple
