// The residual of a goal: how far an end effector is from it, as a difference, as weighted rows and as sizes.
//
//   end_effector   frame of the end effector at its point, and the axes of its joints
//   residual       what is left to the goal, in world axes, in one of two metrics of rotation
//   remove_slack   what of it is beyond the goal's slack
//   row_weights    weight of each row; 0 inside its slack
//   to_rows        rows of the linear and angular components of a residual
//   velocity_rows  rows of a velocity of the end effector, such as a column of the Jacobian
//   squared_distance, squared_angle   its squared sizes without weights
#pragma once
#include "supple/model/center_of_mass.h"
#include "supple/task/types.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Sets the properties of a target that follow from its rows.
SUPPLE_FN void set_properties(Target &target) {
  target.has_rotation = target.points = target.has_radial = target.has_slack = false;
  target.has_position = target.looks;
  for (bool &has : target.has_component)
    has = false;
  int exact_rotations = 0; // rotation rows without slack
  double cone = 0;
  for (int i = 0; i < target.rows; ++i) {
    const int component = target.component[i];
    target.has_slack = target.has_slack || target.slack[i] > 0;
    if (component < across_1)
      target.has_component[component] = true;
    if (is_position_component(component)) {
      target.has_position = true;
      target.has_radial = target.has_radial || component >= radial_1;
    } else if (component < across_1) {
      target.has_rotation = true;
      exact_rotations += target.slack[i] == 0;
    } else {
      target.points = true;
      target.has_component[about_x] = target.has_component[about_y] = target.has_component[about_z] = true;
      cone = target.slack[i];
    }
  }
  if (target.looks || target.has_radial)
    target.has_component[along_x] = target.has_component[along_y] = target.has_component[along_z] = true;
  if (target.has_pole) {
    target.has_position = true;
    target.has_rotation = false;
    target.has_component[along_x] = target.has_component[along_y] = target.has_component[along_z] = true;
  }
  target.has_direction = target.points && !target.looks;
  target.needs_angle = target.points ? cone > 0 : exact_rotations < 3;
}

// Frame of the end effector at the target's point; `axes` receives those of its joints and needs space for
// one extra element. Of a pole, the first two columns of the rotation are the shoulder and the elbow instead.
template <class T>
SUPPLE_FLAT_APART Frame<T> end_effector(const Target &target, const T *q, Axis<T> *axes) {
  if (target.masses.count)
    return {identity<T>(), center_of_mass(target.masses, q, axes)};
  Frame<T> tip = frame<T>(traverse_chain(target.chain, q, axes));
  tip.p = tip * splat3<T>(target.point);
  if (target.has_pole)
    tip.r = {axes[target.limb[0]].p, axes[target.limb[1]].p, {splat<T>(0), splat<T>(0), splat<T>(0)}};
  return tip;
}

// the target's axis that is to point along the goal's direction, in the world
template <class T>
SUPPLE_FLAT Vec<T> pointing_axis(const Target &target, const Frame<T> &tip) {
  return tip.r * splat3<T>(target.axis);
}

// the frame of a goal from its twelve numbers, and the direction of a goal that has one
template <class T>
SUPPLE_FLAT Frame<T> goal_frame(const T *goal) {
  return {{{goal[0], goal[3], goal[6]}, {goal[1], goal[4], goal[7]}, {goal[2], goal[5], goal[8]}},
          {goal[9], goal[10], goal[11]}};
}
template <class T>
SUPPLE_FLAT Vec<T> goal_direction(const Frame<T> &goal) {
  return {goal.r.x.x, goal.r.y.x, goal.r.z.x};
}

// two unit vectors across a unit vector and each other
template <class T>
SUPPLE_FLAT void perpendicular(Vec<T> a, Vec<T> &u, Vec<T> &v) {
  const T zero = splat<T>(0), one = splat<T>(1);
  const Mask<T> use_x = magnitude(a.x) < splat<T>(0.6);
  u = cross(a, Vec<T>{select(use_x, one, zero), select(use_x, zero, one), zero});
  u = (one / root(dot(u, u))) * u;
  v = cross(a, u);
}

// The rotation vector that takes the direction a to the direction b by the smallest angle; `across` is a unit
// vector across a, for half a turn.
SUPPLE_FLAT Vec<double> rotation_between(Vec<double> a, Vec<double> b, Vec<double> across) {
  const Vec<double> axis = cross(a, b);
  const double sine = root(dot(axis, axis)), cosine = dot(a, b);
  if (sine > 1e-12)
    return (atan2(sine, cosine) / sine) * axis;
  return cosine > 0 ? axis : 3.14159265358979323846 * across;
}
SUPPLE_FN Vec<double> rotation_between(Vec<double> a, Vec<double> b) {
  Vec<double> u, v;
  perpendicular(a, u, v);
  return rotation_between(a, b, u);
}

// Metric of rotations: the angle a about the axis, a rotation vector.
struct Angle {
  SUPPLE_FLAT Vec<double> between(const Rot<double> &from, const Rot<double> &to) const {
    return log_rotation(to * transpose(from));
  }
  SUPPLE_FLAT Vec<double> between(Vec<double> from, Vec<double> to, Vec<double> across) const {
    return rotation_between(from, to, across);
  }
  SUPPLE_FLAT Vec<double> finish(Vec<double> rotation, bool) const { return rotation; }
};

// Metric of rotations: 2 sin(a/2) about the axis, which needs no angle. With `exact`, or where a goal needs
// the angle, that length is stretched to a. At half a turn the axis is not
// determined; any axis will do.
struct HalfSine {
  bool exact = false;

  // cross products of the columns sum to 2 sin a; their dot products to 1 + 2 cos a
  template <class T>
  SUPPLE_FLAT Vec<T> between(const Rot<T> &from, const Rot<T> &to) const {
    const T zero = splat<T>(0), one = splat<T>(1), two = splat<T>(2);
    const Vec<T> v = cross(from.x, to.x) + cross(from.y, to.y) + cross(from.z, to.z);
    const T cosines = dot(from.x, to.x) + dot(from.y, to.y) + dot(from.z, to.z) - one;
    const T square = cosines + two;
    const Mask<T> half_turn = square < splat<T>(PrecisionOf<T>::half_turn);
    const T k = reciprocal_root(select(half_turn, one, square));
    return select3<T>(half_turn, {two, zero, zero}, k * v);
  }
  template <class T>
  SUPPLE_FLAT Vec<T> between(Vec<T> from, Vec<T> to, Vec<T> across) const {
    const T one = splat<T>(1);
    const Vec<T> v = cross(from, to);
    const T square = splat<T>(0.5) * (one + dot(from, to));
    const Mask<T> half_turn = square < splat<T>(PrecisionOf<T>::half_turn);
    const T k = reciprocal_root(select(half_turn, one, square));
    return select3<T>(half_turn, splat<T>(2) * across, k * v);
  }
  template <class T>
  SUPPLE_FLAT Vec<T> finish(Vec<T> rotation, bool needs_angle) const {
    return exact || needs_angle ? to_angle(rotation) : rotation;
  }

  // a rotation vector of length a from one of length 2 sin(a/2)
  template <class T>
  static SUPPLE_FLAT Vec<T> to_angle(Vec<T> rotation) {
    const T square = dot(rotation, rotation), quarter = square * splat<T>(0.25), one = splat<T>(1);
    const Mask<T> tiny = square < splat<T>(1e-8);
    const T sine = root(quarter), safe = select(tiny, one, sine);
    return select(tiny, one + square * splat<T>(1.0 / 24),
                  atan2(sine, root(larger(one - quarter, splat<T>(0)))) / safe) *
           rotation;
  }
};

// The vectors in world axes that turn linear and angular components into rows other than along and about
// those axes.
template <class T>
struct RowVectors {
  Vec<T> across[2]; // of rows of a pointing axis: unit vectors across it
  Vec<T> radial[2]; // of radial rows: unit vectors
  Vec<T> look;      // of a point to look at: fade times the unit vector to it, over its distance
  T fade;           // of a point to look at: less than 1 where it is near
  T bend;         // of a radial row, 1/m: 1 / distance, the curvature of the sphere through the end effector
  Vec<T> limb[3]; // of a pole, 1/m: how the angle gets less as the shoulder, the elbow and the point move
  Vec<T> pole;    // of a pole, 1/m: how the angle grows as the pole moves
};

// What is left from an end effector to its goal, in world axes; components that the goal does not have are 0.
template <class T>
struct Residual {
  Vec<T> position; // goal minus end effector
  Vec<T> rotation; // that takes the end effector to the goal; its length is the metric's
  Vec<T> pointing; // of a pointing axis: that axis in the world
  RowVectors<T> rows;
};

// A point to look at counts less within this distance in metres, and not at all where the end effector is at
// it: every direction passes through it there.
constexpr double look_distance = 0.01;

// The unit vector to the point to look at, with what its rows need.
template <class T>
SUPPLE_FLAT Vec<T> look_direction(Vec<T> to, RowVectors<T> &rows) {
  const T one = splat<T>(1), per_distance = splat<T>(1 / look_distance);
  const T distance = root(dot(to, to));
  const T fraction = lesser(distance * per_distance, one);
  const Vec<T> direction = (one / larger(distance, splat<T>(PrecisionOf<T>::least_length))) * to;
  rows.bend = splat<T>(0);
  rows.fade = fraction * fraction * (splat<T>(3) - splat<T>(2) * fraction);
  rows.look = (rows.fade / larger(distance, splat<T>(PrecisionOf<T>::least_length))) * direction;
  return direction;
}

// The shortest vector from the end effector to the sphere or cylinder of its goal or, with two rows, to its
// line; `offset` is the goal's position minus that of the end effector. At the centre any direction will do.
template <class T>
SUPPLE_FLAT Vec<T> radial_residual(const Target &target, Vec<T> offset, RowVectors<T> &rows) {
  const Vec<T> line = splat3<T>(target.line);
  const bool has_line = target.line[0] != 0 || target.line[1] != 0 || target.line[2] != 0;
  if (has_line) {
    offset = offset - dot(line, offset) * line;
    perpendicular(line, rows.radial[0], rows.radial[1]);
  } else {
    rows.radial[0] = rows.radial[1] = {splat<T>(1), splat<T>(0), splat<T>(0)};
  }
  rows.bend = splat<T>(0);
  if (target.component[1] == radial_2)
    return offset;
  const T distance = root(dot(offset, offset));
  const Mask<T> apart = distance > splat<T>(PrecisionOf<T>::least_length);
  const T safe = select(apart, distance, splat<T>(1));
  rows.radial[0] = select3<T>(apart, (splat<T>(1) / safe) * offset, rows.radial[0]);
  rows.bend = splat<T>(1) / larger(distance, splat<T>(0.1 * target.distance + 1e-6));
  return (distance - splat<T>(target.distance)) * rows.radial[0];
}

// A pole counts less where the elbow, the pole or the point is within this fraction of the length of the
// upper limb from the line or the shoulder, and not at all at them: a straight limb has no plane.
constexpr double pole_fraction = 0.05;

// The angle about the line u from the shoulder S to the point H, from the elbow E to the pole P. With e, c
// and h the vectors from S to E, P and H, a vector x at right angles to u turns about it by (u x x / x.x) .
// (its velocity), and a vector w relative to the rotating line changes by its velocity minus (w . u / |h|)
// times that of h.
template <class T>
SUPPLE_FN Residual<T> pole_residual(const Frame<T> &tip, Vec<T> pole) {
  const T zero = splat<T>(0), one = splat<T>(1), tiny = splat<T>(PrecisionOf<T>::least_square);
  const Vec<T> e = tip.r.y - tip.r.x, h = tip.p - tip.r.x, c = pole - tip.r.x;
  const T square = larger(dot(h, h), tiny), per_length = one / root(square);
  const Vec<T> u = per_length * h;
  const T along_e = dot(e, u), along_c = dot(c, u);
  const Vec<T> elbow = e - along_e * u, toward = c - along_c * u;
  const T elbow_square = larger(dot(elbow, elbow), tiny), pole_square = larger(dot(toward, toward), tiny);
  const T per_fraction = one / larger(splat<T>(pole_fraction * pole_fraction) * dot(e, e), tiny);
  auto fade = [&](T x) {
    const T fraction = lesser(x * per_fraction, one);
    return fraction * fraction * (splat<T>(3) - splat<T>(2) * fraction);
  };
  const T counts = fade(elbow_square) * fade(pole_square) * fade(square);
  const Vec<T> turn_e = (counts / elbow_square) * cross(u, elbow);
  const Vec<T> turn_c = (counts / pole_square) * cross(u, toward);
  const T part_e = along_e * per_length, part_c = along_c * per_length;
  Residual<T> r;
  r.position = r.pointing = {zero, zero, zero};
  r.rotation = {counts * atan2(dot(u, cross(elbow, toward)), dot(elbow, toward)), zero, zero};
  r.rows.limb[0] = (one - part_c) * turn_c - (one - part_e) * turn_e;
  r.rows.limb[1] = turn_e;
  r.rows.limb[2] = part_c * turn_c - part_e * turn_e;
  r.rows.pole = turn_c;
  return r;
}

// Replaces the axes of a pole's chain: a turn about the axis in its place, or a slide along it, changes the
// angle of the pole as the joint does. All are along x: their second derivatives are zero.
template <class T>
SUPPLE_FN void make_pole_axes(const Target &target, const RowVectors<T> &rows, const Frame<T> &tip,
                              Axis<T> *axes) {
  const T zero = splat<T>(0);
  const Vec<T> points[3] = {tip.r.x, tip.r.y, tip.p};
  int at = 0;
  for (int i = 0; i < target.chain.count; ++i) {
    const int motion = target.chain.joints[i].motion;
    for (int k = 0; k < (motion == spherical ? 3 : 1); ++k, ++at) {
      T rate = zero;
      for (int j = 0; j < 3; ++j)
        if (j == 2 || at <= target.limb[j])
          rate = rate + dot(rows.limb[j],
                            motion == prismatic ? axes[at].z : cross(axes[at].z, points[j] - axes[at].p));
      axes[at] = {{rate, zero, zero}, tip.p};
    }
  }
}

template <class Metric, class T>
SUPPLE_FLAT Residual<T> residual(const Target &target, const Frame<T> &tip, const Frame<T> &goal,
                                 Metric metric = {}) {
  if (target.has_pole)
    return pole_residual(tip, goal.p);
  const T zero = splat<T>(0);
  const Vec<T> none{zero, zero, zero};
  // a component that the goal does not have may be anything, even NaN
  auto only = [&](const bool *has, Vec<T> v) {
    return Vec<T>{has[0] ? v.x : zero, has[1] ? v.y : zero, has[2] ? v.z : zero};
  };
  Residual<T> r; // its row vectors are set where the goal has such rows
  r.position = only(target.has_component, goal.p - tip.p);
  r.rotation = r.pointing = none;
  if (target.has_radial)
    r.position = radial_residual(target, r.position, r.rows);
  if (target.points) {
    Vec<T> direction = goal_direction(goal);
    if (target.looks) {
      direction = look_direction(r.position, r.rows);
      r.position = none;
    }
    r.pointing = pointing_axis(target, tip);
    perpendicular(r.pointing, r.rows.across[0], r.rows.across[1]);
    const Vec<T> rotation = metric.between(r.pointing, direction, r.rows.across[0]);
    r.rotation = metric.finish(rotation, target.needs_angle);
    if (target.looks)
      r.rotation = r.rows.fade * r.rotation;
  } else if (target.has_rotation) {
    const Vec<T> rotation = metric.finish(metric.between(tip.r, goal.r), target.needs_angle);
    r.rotation = only(target.has_component + about_x, rotation);
  }
  return r;
}

// one of the six world components of a residual
template <class T>
SUPPLE_FLAT T &component_of(Residual<T> &r, int component) {
  T *all[6] = {&r.position.x, &r.position.y, &r.position.z, &r.rotation.x, &r.rotation.y, &r.rotation.z};
  return *all[component];
}

// Subtracts the slack from a residual: a component x becomes x - clip(x, -slack, slack). Of a distance, what
// is within the slack on either side becomes zero. For a cone, the first row is the shortest rotation to the
// cone, zero inside it; the second row is always zero.
template <class T>
SUPPLE_FLAT void remove_slack(const Target &target, Residual<T> &r) {
  if (!target.has_slack)
    return;
  const T zero = splat<T>(0);
  const Vec<T> none{zero, zero, zero};
  if (target.points && target.needs_angle) {
    const T cone = splat<T>(target.slack[target.rows - 1]);
    const T size = root(dot(r.rotation, r.rotation));
    const Mask<T> outside = size > cone;
    const Vec<T> toward = (splat<T>(1) / larger(size, splat<T>(PrecisionOf<T>::smallest))) * r.rotation;
    r.rows.across[0] = select3<T>(outside, toward, none);
    r.rows.across[1] = none;
    r.rotation = select(outside, size - cone, zero) * r.rows.across[0];
  }
  for (int i = 0; i < target.rows; ++i) {
    if (target.component[i] == radial_1) {
      const T along = dot(r.rows.radial[0], r.position);
      r.position =
          (along - clip(along, splat<T>(-target.slack[i]), splat<T>(target.slack[i]))) * r.rows.radial[0];
    }
    if (target.component[i] >= across_1)
      continue;
    T &x = component_of(r, target.component[i]);
    x = x - clip(x, splat<T>(-target.slack[i]), splat<T>(target.slack[i]));
  }
}

// The weight of each row of a residual without its slack: 0 for a row inside its slack, so that neither its
// error nor its Jacobian counts.
template <class T>
SUPPLE_FLAT void row_weights(const Target &target, Residual<T> &r, T *weight) {
  for (int i = 0; i < target.rows; ++i) {
    weight[i] = splat<T>(target.weight[i]);
    if (target.component[i] < across_1 && target.slack[i] > 0)
      weight[i] = select(component_of(r, target.component[i]) == splat<T>(0), splat<T>(0), weight[i]);
    if (target.component[i] == radial_1 && target.slack[i] > 0)
      weight[i] = select(dot(r.position, r.position) == splat<T>(0), splat<T>(0), weight[i]);
  }
}

// The rows of a target from the linear and angular components of a residual in world axes, each times its
// weight.
template <class T>
SUPPLE_FLAT void to_rows(const Target &target, const RowVectors<T> &vectors, const T *weight, Vec<T> linear,
                         Vec<T> angular, T *rows) {
  T all[component_count] = {};
  store3(linear, all);
  store3(angular, all + about_x);
  if (target.points) {
    all[across_1] = dot(vectors.across[0], angular);
    all[across_2] = dot(vectors.across[1], angular);
  }
  if (target.has_radial) {
    all[radial_1] = dot(vectors.radial[0], linear);
    all[radial_2] = dot(vectors.radial[1], linear);
  }
  for (int i = 0; i < target.rows; ++i)
    rows[i] = weight[i] * all[target.component[i]];
}

// The rows of a velocity of the end effector at its point: how fast it makes the residual's rows less. With d
// the unit vector to a point to look at, that turns by -d x linear / distance. Of a pole, both components are
// along x: see make_pole_axes.
template <class T>
SUPPLE_FLAT void velocity_rows(const Target &target, const RowVectors<T> &vectors, const T *weight,
                               Vec<T> linear, Vec<T> angular, T *rows) {
  if (target.looks)
    angular = vectors.fade * angular + cross(vectors.look, linear);
  if (target.has_pole)
    angular = angular + linear;
  to_rows(target, vectors, weight, linear, angular, rows);
}

// squared sizes of a residual, without weights: in metres, and of the rotation in its metric (in radians by
// Angle)
template <class T>
SUPPLE_FLAT T squared_distance(const Residual<T> &r) {
  return dot(r.position, r.position);
}
template <class T>
SUPPLE_FLAT T squared_angle(const Residual<T> &r) {
  return dot(r.rotation, r.rotation);
}

// weighted squared error of all goals, from the frames of their end effectors
SUPPLE_FN double squared_error(const Problem &problem, const double *goals, const Frame<double> *tips) {
  double sum = 0, weight[6], e[6];
  for (int t = 0; t < problem.target_count; ++t) {
    const Target &target = problem.targets[t];
    Residual<double> r = residual<Angle>(target, tips[t], goal_frame(goals + 12 * t));
    remove_slack(target, r);
    row_weights(target, r, weight);
    to_rows(target, r.rows, weight, r.position, r.rotation, e);
    for (int i = 0; i < target.rows; ++i)
      sum += e[i] * e[i];
  }
  return sum;
}

} // namespace SUPPLE_ISA
} // namespace supple
