// Ball joints at their limits in a step of a search: directions that lead outward are left out.
#pragma once
#include "supple/model/limits.h"
#include "supple/search/types.h"

namespace supple {
inline namespace SUPPLE_ISA {

constexpr double ball_limit_margin = 1e-7; // radians within which a ball joint is at its limit

// Removes the component along a unit vector n from three numbers that are `stride` apart, in lanes whose
// factor is 1.
template <class T>
SUPPLE_FLAT void remove_component(T factor, Vec<T> n, T *first, int stride) {
  const Vec<T> row{first[0], first[stride], first[2 * stride]};
  const Vec<T> kept = row - (factor * dot(row, n)) * n;
  first[0] = kept.x;
  first[stride] = kept.y;
  first[2 * stride] = kept.z;
}

// The same for the columns of all targets, and for `change` (n), of the ball joint with values l, l + 1, l
// + 2.
template <class T>
SUPPLE_FN void remove_direction(const Problem &problem, const Search &search, int l, Mask<T> held, Vec<T> n,
                                T *J, T *change) {
  const T factor = select(held, splat<T>(1), splat<T>(0));
  const Vec<T> unit = (splat<T>(1) / root(larger(dot(n, n), splat<T>(1e-20)))) * n;
  remove_component(factor, unit, change + l, 1);
  for (int t = 0; t < problem.target_count; ++t)
    for (int c = search.column_begin[t]; c < search.column_begin[t + 1]; ++c)
      if (search.columns[c] == l) // those of l + 1 and l + 2 follow
        for (int i = 0; i < problem.targets[t].rows; ++i)
          remove_component(factor, unit, J + 6 * c + i, 6);
}

// Removes what leads ball joints that are at their limits outward, if `direction` (n: a step, or J'e) leads
// there, from J and from `change` (n); whether there is any. With the axis a of a ball, and u the same axis
// at rest as the child sees it, the lean grows along u x a and the twist along u + a, in the child's axes.
// These are perpendicular.
template <class T>
SUPPLE_FN bool hold_balls(const Problem &problem, const Search &search, const T *q, const T *direction, T *J,
                          T *change) {
  const T zero = splat<T>(0);
  bool held_any = false;
  for (int i = 0; i < problem.ball_count; ++i) {
    const Ball &ball = problem.balls[i];
    const int l = ball.index;
    if (!is_limited(ball) || !(search.joints[l].weighted_size > 0))
      continue;
    const Vec<T> a = splat3<T>(ball.axis), d = load3(direction + l);
    const Quat<T> r = exp_quaternion(load3(q + l));
    const Vec<T> u = transpose(rotation(r)) * a, lean = cross(u, a), about = u + a;
    double s, c;
    if (ball.swing < pi) {
      sincos(ball.swing - ball_limit_margin, s, c);
      const T upright = dot(u, a), outward = dot(lean, d);
      const Mask<T> leans = (upright <= splat<T>(c)) & (outward > zero);
      if (any(leans)) {
        remove_direction(problem, search, l, leans, lean, J, change);
        held_any = true;
      }
    }
    if (is_twist_limited(ball)) {
      // the twist is 2 atan2(along, w), with w >= 0
      const T sign = select(r.w < zero, splat<T>(-1), splat<T>(1)), w = sign * r.w;
      const T along = sign * (r.x * a.x + r.y * a.y + r.z * a.z), outward = dot(about, d);
      sincos(0.5 * (ball.high - ball_limit_margin), s, c);
      const Mask<T> above = (along * splat<T>(c) >= w * splat<T>(s)) & (outward > zero);
      sincos(0.5 * (ball.low + ball_limit_margin), s, c);
      const Mask<T> below = (along * splat<T>(c) <= w * splat<T>(s)) & (outward < zero);
      if (any(above | below)) {
        remove_direction(problem, search, l, above | below, about, J, change);
        held_any = true;
      }
    }
  }
  return held_any;
}

} // namespace SUPPLE_ISA
} // namespace supple
