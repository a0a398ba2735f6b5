// Limits of ball joints: how far outside its cone and its twist a rotation leads.
#pragma once
#include "supple/model/tree.h"

namespace supple {
inline namespace SUPPLE_ISA {

constexpr double pi = 3.14159265358979323846;

SUPPLE_FN bool is_twist_limited(const Ball &ball) { return ball.low > -pi || ball.high < pi; }
SUPPLE_FN bool is_limited(const Ball &ball) { return ball.swing < pi || is_twist_limited(ball); }

// How far a ball joint is outside its cone and its twist, in radians: at most 0 inside.
struct BallExcess {
  double swing, twist;
};

SUPPLE_FN bool is_beyond(const BallExcess &excess, const BallExcess &allowed) {
  return excess.swing > allowed.swing || excess.twist > allowed.twist;
}

// The largest excess while a ball joint rotates from q by the rotation vector `rotation`, about its child's
// axes. It is exact: the axis moves on a circle, where its angle from rest has one maximum, and the twist is
// monotonic.
SUPPLE_FN BallExcess largest_excess(const Ball &ball, Vec<double> q, Vec<double> rotation) {
  const double end = root(dot(rotation, rotation));
  const Vec<double> axis = load3(ball.axis), about = end > 0 ? (1 / end) * rotation : Vec<double>{0, 0, 0};
  // the angle between the axis and its direction at rest, in the child's axes, after a rotation by an angle
  const Vec<double> upright = transpose(exp_rotation(q)) * axis;
  auto lean = [&](double angle) {
    const Vec<double> at = exp_rotation(angle * about) * axis, side = cross(at, upright);
    return atan2(root(dot(side, side)), dot(at, upright));
  };
  // cos(lean) = middle + B cos(angle) + C sin(angle) is smallest at atan2(-C, -B)
  const double middle = dot(about, axis) * dot(about, upright), B = dot(axis, upright) - middle;
  const double C = dot(cross(about, axis), upright);
  const double summit = atan2(-C, -B), first = summit < 0 ? summit + 2 * pi : summit;
  double outside = larger(lean(0), lean(end)) - ball.swing;
  if (first < end)
    outside = larger(outside, lean(first) - ball.swing);
  if (!is_twist_limited(ball))
    return {outside, -2 * pi};
  if (end > 2 * pi - 1e-6)
    return {outside, 2 * pi}; // a full turn passes every twist
  auto twist = [&](Quat<double> r) {
    const double along = r.x * axis.x + r.y * axis.y + r.z * axis.z;
    return r.w < 0 ? 2 * atan2(-along, -r.w) : 2 * atan2(along, r.w);
  };
  const Quat<double> start = exp_quaternion(q), stop = start * exp_quaternion(rotation);
  const Vec<double> v{start.x, start.y, start.z};
  const double from = twist(start);
  const double rate = dot(start.w * about + cross(v, about), axis) * start.w + dot(v, axis) * dot(v, about);
  double turned = rate < 0 ? from - twist(stop) : twist(stop) - from;
  if (turned < -1e-9)
    turned += 2 * pi; // it passed pi
  const double to = rate < 0 ? from - turned : from + turned;
  return {outside, larger(larger(from, to) - ball.high, ball.low - lesser(from, to))};
}

} // namespace SUPPLE_ISA
} // namespace supple
