// Error and Jacobian of every goal: where each end effector is, where it should be, how each joint moves it
// [K5.11-5.17].
#pragma once
#include "supple/model/chain.h"
#include "supple/task/types.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Columns of a chain's joints in J (6 rows of `dof`, linear then angular; the others must be zero already):
// the velocity of a point fixed to the end effector, in world axes, or in the axes of `rotation` when
// `turned`.
template <class T>
SUPPLE_FLAT void jacobian(const Chain &chain, const Axis<T> *axes, Vec<T> point, bool turned,
                          const Rot<T> &rotation, T *J) {
  const int dof = chain.dof;
  const T zero(Scalar<T>(0));
  auto column = [&](int index, bool shared, Vec<T> linear, Vec<T> angular) {
    if (turned) {
      linear = {dot(rotation.x, linear), dot(rotation.y, linear), dot(rotation.z, linear)};
      angular = {dot(rotation.x, angular), dot(rotation.y, angular), dot(rotation.z, angular)};
    }
    T *j = J + index;
    if (shared) {
      linear = linear + Vec<T>{j[0], j[dof], j[2 * dof]};
      angular = angular + Vec<T>{j[3 * dof], j[4 * dof], j[5 * dof]};
    }
    j[0] = linear.x;
    j[dof] = linear.y;
    j[2 * dof] = linear.z;
    j[3 * dof] = angular.x;
    j[4 * dof] = angular.y;
    j[5 * dof] = angular.z;
  };
  for (int i = 0; i < chain.count; ++i) {
    const Link &link = chain.links[i];
    if (link.motion == turns) {
      const Vec<T> axis = T(Scalar<T>(link.turn_gain)) * axes->z;
      column(link.index, link.shared, cross(axis, point - axes->p), axis);
      ++axes;
    } else if (link.motion == slides) {
      column(link.index, link.shared, T(Scalar<T>(link.slide_gain)) * axes->z, Vec<T>{zero, zero, zero});
      ++axes;
    } else {
      for (int k = 0; k < 3; ++k, ++axes)
        column(link.index + k, false, cross(axes->z, point - axes->p), axes->z);
    }
  }
}

// the rotation (or direction) and position of a goal, from its twelve numbers
template <class S>
SUPPLE_FN Frame<S> goal_frame(const double *goal) {
  return constant<S>(goal, goal + 9);
}

// The turn, as a rotation vector, that takes the direction a to the direction b the shortest way.
template <class S>
SUPPLE_FN Vec<S> turn_between(Vec<S> a, Vec<S> b) {
  const Vec<S> across = cross(a, b);
  const S sine = root(dot(across, across)), cosine = dot(a, b);
  if (sine > S(1e-12))
    return (atan2(sine, cosine) / sine) * across;
  if (cosine > 0)
    return across;
  // straight back: half a turn about anything across a
  const Vec<S> any = std::fabs(a.x) < S(0.6) ? Vec<S>{1, 0, 0} : Vec<S>{0, 1, 0}, axis = cross(a, any);
  return (S(3.14159265358979323846) / root(dot(axis, axis))) * axis;
}

// two directions across a unit vector
template <class S>
SUPPLE_FN void across(Vec<S> a, Vec<S> &u, Vec<S> &v) {
  const Vec<S> any = std::fabs(a.x) < S(0.6) ? Vec<S>{1, 0, 0} : Vec<S>{0, 1, 0};
  u = cross(a, any);
  u = (1 / root(dot(u, u))) * u;
  v = cross(a, u);
}

// what is known of the goals at one q
template <class S>
struct Sight {
  S *e, *J;            // weighted error (rows) and Jacobian (rows x n)
  S *full;             // 6 x n, working memory
  Frame<S> *tips;      // each end effector in the world, at its point
  Axis<S> *axes;       // the joints' axes, one target after another
  S *distance, *angle; // of each target, without weights, in metres and radians
};

// Error of a target from the frame of its end effector: weighted rows in e, and its size without weights.
template <class S>
SUPPLE_FN void measure(const Target &target, const Frame<S> &tip, const double *goal, S *e, S &distance,
                       S &angle) {
  const Frame<S> wanted = goal_frame<S>(goal);
  const Vec<S> shift = wanted.p - tip.p;
  Vec<S> turn{0, 0, 0}, u{0, 0, 0}, v{0, 0, 0};
  const int last = target.component[target.rows - 1];
  if (last >= across_1) {
    const Vec<S> a = tip.r * Vec<S>{S(target.axis[0]), S(target.axis[1]), S(target.axis[2])};
    turn = turn_between(a, Vec<S>{S(goal[0]), S(goal[1]), S(goal[2])});
    across(a, u, v);
  } else if (last >= about_x) {
    turn = log_rotation(wanted.r * transpose(tip.r));
  }
  // with a cone, the first of the two rows is the way to it; the second, along it, is free
  const S cone = last >= across_1 ? S(target.slack[target.rows - 1]) : S(0);
  if (cone > 0) {
    const S angle_off = root(dot(turn, turn));
    turn = (angle_off > cone ? (angle_off - cone) / angle_off : S(0)) * turn;
    u = angle_off > cone ? (1 / (angle_off - cone)) * turn : Vec<S>{0, 0, 0};
    v = Vec<S>{0, 0, 0};
  }
  const S all[8] = {shift.x, shift.y, shift.z, turn.x, turn.y, turn.z, dot(u, turn), dot(v, turn)};
  S squares[2] = {0, 0};
  for (int i = 0; i < target.rows; ++i) {
    const int component = target.component[i];
    const S slack = component < across_1 ? S(target.slack[i]) : S(0),
            x = all[component] - clip(all[component], -slack, slack);
    squares[component >= about_x] += x * x;
    e[i] = S(target.weight[i]) * x;
  }
  distance = root(squares[0]);
  angle = root(squares[1]);
}

// All there is to know at q; with `pull`, the Jacobian of the goal's position as if it were fixed to the end
// effector.
template <class S>
SUPPLE_FN void look(const Problem &problem, const S *q, const double *goals, bool pull,
                    const Sight<S> &sight) {
  const int n = problem.n;
  Axis<S> *axes = sight.axes;
  for (int t = 0; t < problem.target_count; ++t) {
    const Target &target = problem.targets[t];
    Frame<S> tip = frame<S>(traverse_chain(target.chain, q, axes));
    tip.p = tip * Vec<S>{S(target.point[0]), S(target.point[1]), S(target.point[2])};
    sight.tips[t] = tip;
    S *e = sight.e + target.first;
    measure(target, tip, goals + 12 * t, e, sight.distance[t], sight.angle[t]);
    for (int i = 0; i < 6 * n; ++i)
      sight.full[i] = 0;
    jacobian(target.chain, axes, pull ? goal_frame<S>(goals + 12 * t).p : tip.p, false, tip.r, sight.full);
    Vec<S> u{0, 0, 0}, v{0, 0, 0};
    if (target.component[target.rows - 1] >= across_1) {
      const Vec<S> a = tip.r * Vec<S>{S(target.axis[0]), S(target.axis[1]), S(target.axis[2])};
      across(a, u, v);
      if (target.slack[target.rows - 1] > 0) {
        const double *wanted = goals + 12 * t;
        const Vec<S> turn = turn_between(a, Vec<S>{S(wanted[0]), S(wanted[1]), S(wanted[2])});
        const S size = root(dot(turn, turn));
        u = size > S(target.slack[target.rows - 1]) ? (1 / size) * turn : Vec<S>{0, 0, 0};
        v = Vec<S>{0, 0, 0};
      }
    }
    for (int i = 0; i < target.rows; ++i) {
      const int component = target.component[i];
      const Vec<S> way = component == across_1 ? u : v;
      S *row = sight.J + (target.first + i) * n;
      const S weight = component < across_1 && target.slack[i] > 0 && e[i] == 0
                           ? S(0)
                           : S(target.weight[i]); // inside its slack it asks for nothing
      for (int k = 0; k < n; ++k) {
        const S *column = sight.full + k;
        row[k] = weight * (component < across_1
                               ? column[component * n]
                               : way.x * column[3 * n] + way.y * column[4 * n] + way.z * column[5 * n]);
      }
    }
    axes += target.chain.axes;
  }
}

// weighted squared error of all goals, from the frames of their end effectors
template <class S>
SUPPLE_FN S squared_error(const Problem &problem, const double *goals, const Frame<S> *tips) {
  S sum = 0, e[6], distance, angle;
  for (int t = 0; t < problem.target_count; ++t) {
    measure(problem.targets[t], tips[t], goals + 12 * t, e, distance, angle);
    for (int i = 0; i < problem.targets[t].rows; ++i)
      sum += e[i] * e[i];
  }
  return sum;
}

} // namespace SUPPLE_ISA
} // namespace supple
