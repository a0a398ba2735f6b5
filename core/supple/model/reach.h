// The reach of a chain: the largest distance of its end from its base if all rotations are free.
#pragma once
#include "supple/model/chain.h"

namespace supple {
inline namespace SUPPLE_ISA {

// The point of the first joint's axis that is nearest to the second axis; for a prismatic joint, its origin.
// Axes with an angle below 0.01 rad count as parallel: their nearest points may be far away.
SUPPLE_FN Vec<double> base_point(const ChainJoint *joints, int count, Vec<double> end) {
  const Frame<double> first = constant<double>(joints[0].rotation, joints[0].position);
  if (joints[0].motion != revolute)
    return first.p;
  Vec<double> to = end - first.p, axis = first.r.z;
  double along = dot(axis, to);
  if (count > 1) {
    const Frame<double> next = first * constant<double>(joints[1].rotation, joints[1].position);
    to = next.p - first.p;
    const double lean = dot(axis, next.r.z), square = 1 - lean * lean;
    along = dot(axis, to);
    if (joints[1].motion == revolute && square > 1e-4)
      along = (along - lean * dot(next.r.z, to)) / square;
  }
  return first.p + along * axis;
}

// The path from the base to the end that meets every axis in between, as lengths along those axes.
//
// A point of an axis stays where it is in both links that the axis joins. So the distance of two such points
// of neighbouring axes does not change, and by the triangle inequality the length of any path that meets the
// axes in order bounds the distance of the end from the base. The shortest such path is the greatest
// distance: there both sides of every axis have the same angle with it, and turning about the axes makes the
// path straight (Borcea and Streinu, Extremal Reaches in Polynomial Time, 2011). Its length is convex in the
// points.
struct ReachPath {
  int count;                       // axes that are met
  Axis<double> *axes;              // count, direction and a point of each
  Vec<double> base, end;           // of the path
  double *at;                      // count: where the path meets each axis, from its point
  double *trial;                   // count
  double *diagonal, *below, *step; // count: of Newton's step
};

SUPPLE_FN Vec<double> point_on(const ReachPath &path, const double *at, int i) {
  return i < 0 ? path.base : i >= path.count ? path.end : path.axes[i].p + at[i] * path.axes[i].z;
}

// sum of sqrt(|d|^2 + rounding^2) over the pieces d of the path
SUPPLE_FN double path_length(const ReachPath &path, const double *at, double rounding) {
  double sum = 0;
  for (int i = 0; i <= path.count; ++i) {
    const Vec<double> d = point_on(path, at, i) - point_on(path, at, i - 1);
    sum += root(dot(d, d) + rounding * rounding);
  }
  return sum;
}

// Newton's step of path_length into `step`: a tridiagonal system. Returns the decrease of path_length that
// its derivative predicts for this step.
SUPPLE_FN double path_step(const ReachPath &path, double rounding) {
  for (int i = 0; i < path.count; ++i)
    path.diagonal[i] = path.below[i] = path.step[i] = 0;
  for (int i = 0; i <= path.count; ++i) {
    const Vec<double> d = point_on(path, path.at, i) - point_on(path, path.at, i - 1);
    const double inverse = 1 / root(dot(d, d) + rounding * rounding);
    const bool first = i > 0, second = i < path.count;
    const Vec<double> none{0, 0, 0};
    const Vec<double> a = first ? path.axes[i - 1].z : none, b = second ? path.axes[i].z : none;
    const double da = inverse * dot(d, a), db = inverse * dot(d, b);
    if (first) {
      path.diagonal[i - 1] += inverse * (1 - da * da);
      path.step[i - 1] += da;
    }
    if (second) {
      path.diagonal[i] += inverse * (1 - db * db);
      path.step[i] -= db;
    }
    if (first && second)
      path.below[i] = -inverse * (dot(a, b) - da * db);
  }
  // parallel axes leave the system singular
  for (int i = 0; i < path.count; ++i)
    path.diagonal[i] = path.diagonal[i] * (1 + 1e-9) + 1e-300;
  double decrease = 0;
  for (int i = 0; i < path.count; ++i)
    path.trial[i] = path.step[i];
  for (int i = 1; i < path.count; ++i) {
    const double ratio = path.below[i] / path.diagonal[i - 1];
    path.diagonal[i] = larger(path.diagonal[i] - ratio * path.below[i], 1e-15 * path.diagonal[i] + 1e-300);
    path.step[i] -= ratio * path.step[i - 1];
  }
  for (int i = path.count - 1; i >= 0; --i) {
    const double after = i + 1 < path.count ? path.below[i + 1] * path.step[i + 1] : 0;
    path.step[i] = (path.step[i] - after) / path.diagonal[i];
    decrease += path.step[i] * path.trial[i];
  }
  return decrease;
}

// Minimises path_length by Newton's steps, each halved until the path is shorter.
SUPPLE_FN void shorten_path(const ReachPath &path, double rounding) {
  constexpr int most_steps = 40, most_halvings = 30;
  double length = path_length(path, path.at, rounding);
  for (int k = 0; k < most_steps; ++k) {
    const double decrease = path_step(path, rounding);
    if (!(decrease > 1e-16 * length))
      return;
    double fraction = 1, shorter = length;
    for (int half = 0; half < most_halvings; ++half, fraction *= 0.5) {
      for (int i = 0; i < path.count; ++i)
        path.trial[i] = path.at[i] + fraction * path.step[i];
      shorter = path_length(path, path.trial, rounding);
      if (shorter < length)
        break;
    }
    if (!(shorter < length))
      return;
    for (int i = 0; i < path.count; ++i)
      path.at[i] = path.trial[i];
    length = shorter;
  }
}

// Moves each point to where the path is shortest while the others are fixed. For neighbours at distances a
// and b from the axis, the point divides the segment between their feet on the axis in the ratio a : b. This
// is exact where axes meet.
SUPPLE_FN void polish_path(const ReachPath &path) {
  for (int i = 0; i < path.count; ++i) {
    const Axis<double> &axis = path.axes[i];
    const Vec<double> before = point_on(path, path.at, i - 1) - axis.p;
    const Vec<double> after = point_on(path, path.at, i + 1) - axis.p;
    const double foot_before = dot(before, axis.z), foot_after = dot(after, axis.z);
    const Vec<double> a = before - foot_before * axis.z, b = after - foot_after * axis.z;
    const double off_before = root(dot(a, a)), off_after = root(dot(b, b)), off = off_before + off_after;
    if (off > 0)
      path.at[i] = (foot_before * off_after + foot_after * off_before) / off;
  }
}

// The largest distance for fixed values of the prismatic joints, in q.
SUPPLE_FN double rigid_reach(const Chain &chain, const double *q, ReachPath &path) {
  path.end = vec(traverse_chain(chain, q, path.axes).p);
  path.count = 0;
  for (int i = 0; i < chain.count; ++i) // the base is a point of the first axis, if that turns
    if (i && chain.joints[i].motion == revolute)
      path.axes[path.count++] = path.axes[i];
  double size = 0;
  for (int i = 0; i < path.count; ++i)
    path.at[i] = 0;
  for (int sweep = 0; sweep < 2; ++sweep)
    polish_path(path);
  size = path_length(path, path.at, 0);
  for (double fraction = 0.1; fraction > 1e-11 && size > 0; fraction *= 0.1)
    shorten_path(path, fraction * size);
  double length = larger(size, 0.0);
  for (int sweep = 0; sweep < 30; ++sweep) {
    const double now = path_length(path, path.at, 0);
    length = lesser(length, now);
    polish_path(path);
  }
  return length;
}

// numbers of scratch for `reach`, and axes, of a chain
SUPPLE_FN int reach_scratch(int count) { return 6 * count; }

// The greatest distance of the end from `base`, which becomes the point it is measured from. The joints must
// be turns and slides with indices 0, 1, 2, ...; `scratch` has reach_scratch(count) numbers, and there is one
// axis more than joints.
//
// The distance is convex in the values of prismatic joints, so it is largest at an end of each range. For up
// to most_slides of them all combinations of ends are tried. With more, the others stay in the middle and
// half of their travel is added, which is an upper bound.
SUPPLE_FN double reach(const Chain &chain, const double *lower, const double *upper, double *scratch,
                       Axis<double> *axes, Vec<double> &base) {
  constexpr int most_slides = 6;
  const int n = chain.count;
  if (n == 0)
    return 0;
  double *q = scratch;
  ReachPath path{};
  path.axes = axes;
  path.at = scratch + n;
  path.trial = scratch + 2 * n;
  path.diagonal = scratch + 3 * n;
  path.below = scratch + 4 * n;
  path.step = scratch + 5 * n;
  int slide_count = 0;
  double travel = 0;
  for (int i = 0; i < n; ++i) {
    const bool slide = chain.joints[i].motion != revolute;
    q[i] = slide ? 0.5 * lower[i] + 0.5 * upper[i] : 0;
    slide_count += slide;
    travel += slide ? 0.5 * upper[i] - 0.5 * lower[i] : 0;
  }
  base = path.base = base_point(chain.joints, n, vec(traverse_chain(chain, q, axes).p));
  if (slide_count > most_slides)
    return rigid_reach(chain, q, path) + travel;
  double most = 0;
  for (int ends = 0; ends < 1 << slide_count; ++ends) {
    for (int i = 0, slide = 0; i < n; ++i)
      if (chain.joints[i].motion != revolute)
        q[i] = ends >> slide++ & 1 ? upper[i] : lower[i];
    most = larger(most, rigid_reach(chain, q, path));
  }
  return most;
}

} // namespace SUPPLE_ISA
} // namespace supple
