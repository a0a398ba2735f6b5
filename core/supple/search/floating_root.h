// Seeds of a figure with a floating root: the root is moved so that the end effectors are near their goals.
#pragma once
#include "supple/math/dense.h"
#include "supple/search/types.h"
#include "supple/task/goal.h"

namespace supple {
inline namespace SUPPLE_ISA {

constexpr int most_root_targets = 8;

// Whether three slides and a ball carry a target's chain, in this order and with a value of their own each.
SUPPLE_FN bool has_floating_root(const Target &target) {
  const Chain &chain = target.chain;
  if (target.masses.count || chain.count < 4 || chain.joints[3].motion != spherical ||
      chain.joints[3].inverted)
    return false;
  for (int k = 0; k < 3; ++k)
    if (chain.joints[k].motion != prismatic || chain.joints[k].slide_gain == 0)
      return false;
  return true;
}

// Whether a target wants its end effector at a position.
SUPPLE_FN bool wants_position(const Target &target) {
  return target.rows >= 3 && target.component[2] == along_z && !target.has_pole;
}

// Whether three targets or more that want positions hang on the same floating root.
SUPPLE_FN bool can_align_root(const Problem &problem) {
  int count = 0;
  for (int t = 0; t < problem.target_count; ++t) {
    const Target &target = problem.targets[t];
    if (!has_floating_root(target) ||
        target.chain.joints[3].index != problem.targets[0].chain.joints[3].index)
      return false;
    count += wants_position(target);
  }
  return count >= 3 && problem.target_count <= most_root_targets;
}

// The rotation vector that turns the points a (k) about their centre to be nearest to b (k) about theirs: the
// eigenvector of the largest eigenvalue of Horn's matrix is its quaternion (Horn 1987, Closed-form solution
// of absolute orientation using unit quaternions).
SUPPLE_FN Vec<double> aligning_rotation(const Vec<double> *a, const Vec<double> *b, int k) {
  double s[3][3] = {};
  for (int i = 0; i < k; ++i) {
    const double from[3] = {a[i].x, a[i].y, a[i].z}, to[3] = {b[i].x, b[i].y, b[i].z};
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c)
        s[r][c] += from[r] * to[c];
  }
  double n[16] = {
      s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0], s[1][2] - s[2][1],
      s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2], s[2][0] - s[0][2], s[0][1] + s[1][0],
      s[1][1] - s[0][0] - s[2][2], s[1][2] + s[2][1], s[0][1] - s[1][0], s[2][0] + s[0][2], s[1][2] + s[2][1],
      s[2][2] - s[0][0] - s[1][1]};
  double v[16];
  eigen(n, 4, v);
  int best = 0;
  for (int i = 1; i < 4; ++i)
    best = n[5 * i] > n[5 * best] ? i : best;
  double w = v[best], x = v[4 + best], y = v[8 + best], z = v[12 + best];
  if (w < 0) {
    w = -w;
    x = -x;
    y = -y;
    z = -z;
  }
  const double sine = root(x * x + y * y + z * z);
  const double scale = sine > 1e-12 ? 2 * atan2(sine, w) / sine : 2;
  return {scale * x, scale * y, scale * z};
}

// Moves the root in `row` (n) so that the end effectors are as near to their positions as a rigid body's
// points can be. `axes`: scratch for one chain.
SUPPLE_APART void align_root(const Problem &problem, const double *goals, Axis<double> *axes, double *row) {
  Vec<double> from[most_root_targets], to[most_root_targets];
  Vec<double> from_mean{0, 0, 0}, to_mean{0, 0, 0};
  int count = 0;
  for (int t = 0; t < problem.target_count; ++t) {
    if (!wants_position(problem.targets[t]))
      continue;
    from[count] = end_effector(problem.targets[t], row, axes).p;
    to[count] = goal_frame(goals + 12 * t).p;
    from_mean = from_mean + from[count];
    to_mean = to_mean + to[count];
    ++count;
  }
  from_mean = (1.0 / count) * from_mean;
  to_mean = (1.0 / count) * to_mean;
  for (int i = 0; i < count; ++i) {
    from[i] = from[i] - from_mean;
    to[i] = to[i] - to_mean;
  }
  const Vec<double> rotation = aligning_rotation(from, to, count);
  end_effector(problem.targets[0], row, axes);
  const ChainJoint *joints = problem.targets[0].chain.joints;
  const Vec<double> at = axes[3].p, moved = to_mean + exp_rotation(rotation) * (at - from_mean) - at;
  if (!(dot(moved, moved) < 1e12))
    return;
  for (int k = 0; k < 3; ++k) {
    double &x = row[joints[k].index];
    x = clip(x + dot(axes[k].z, moved) / joints[k].slide_gain, problem.lower[joints[k].index],
             problem.upper[joints[k].index]);
  }
  const Vec<double> local{dot(axes[3].z, rotation), dot(axes[4].z, rotation), dot(axes[5].z, rotation)};
  double *ball = row + joints[3].index;
  store3(turned(load3(ball), local), ball);
}

} // namespace SUPPLE_ISA
} // namespace supple
