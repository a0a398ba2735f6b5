// A ball's limits, which a box cannot say: how far outside its cone and its twist a turn about one axis
// leads.
#pragma once
#include "supple/model/tree.h"

namespace supple {
inline namespace SUPPLE_ISA {

constexpr double half_turn = 3.14159265358979323846;

SUPPLE_FN bool is_twist_limited(const Ball &ball) { return ball.low > -half_turn || ball.high < half_turn; }
SUPPLE_FN bool is_limited(const Ball &ball) { return ball.swing < half_turn || is_twist_limited(ball); }

// How far outside a ball is at worst while it turns from q along a way, about its child's axes: in radians,
// at most 0 inside. Exact, since the axis moves on a circle, whose lean has one summit, and the twist only
// grows or only falls.
SUPPLE_FN double strays(const Ball &ball, Vec<double> q, Vec<double> way) {
  const double turn = 2 * half_turn, end = root(dot(way, way));
  const Vec<double> axis{ball.axis[0], ball.axis[1], ball.axis[2]},
      about = end > 0 ? (1 / end) * way : Vec<double>{0, 0, 0};
  // the lean at an angle, from the axis at rest as the child sees it
  const Vec<double> upright = transpose(exp_rotation(q)) * axis;
  auto lean = [&](double angle) {
    const Vec<double> at = exp_rotation(angle * about) * axis, side = cross(at, upright);
    return atan2(root(dot(side, side)), dot(at, upright));
  };
  const double middle = dot(about, axis) * dot(about, upright), B = dot(axis, upright) - middle,
               C = dot(cross(about, axis), upright);
  const double summit = atan2(-C, -B), first = summit < 0 ? summit + turn : summit;
  double out = larger(lean(0), lean(end)) - ball.swing;
  if (first < end)
    out = larger(out, lean(first) - ball.swing);
  if (!is_twist_limited(ball))
    return out;
  if (end > turn - 1e-6)
    return turn; // all the way round, through every twist
  // the twist, and which way it goes
  auto twist = [&](Quat<double> r) {
    const double along = r.x * axis.x + r.y * axis.y + r.z * axis.z;
    return r.w < 0 ? 2 * atan2(-along, -r.w) : 2 * atan2(along, r.w);
  };
  const Quat<double> now = exp_quaternion(q), then = now * exp_quaternion(way);
  const Vec<double> v{now.x, now.y, now.z};
  const double from = twist(now),
               rate = dot(now.w * about + cross(v, about), axis) * now.w + dot(v, axis) * dot(v, about);
  double moved = rate < 0 ? from - twist(then) : twist(then) - from;
  if (moved < -1e-9)
    moved += turn; // it went round
  const double to = rate < 0 ? from - moved : from + moved;
  return larger(out, larger(larger(from, to) - ball.high, ball.low - lesser(from, to)));
}

} // namespace SUPPLE_ISA
} // namespace supple
