// Second derivatives of the end effectors and of the goals' squared error with respect to the joints.
//
// With z the axes of the joints in their order and j the velocities they give the end effector, the second
// derivative along i and k, i before k, is z_i x j_k for the position and z_i x z_k (of which a symmetric
// matrix takes half) for the orientation. What comes after a joint turns with it; what comes before does not.
#pragma once
#include "supple/task/goal.h"

namespace supple {
inline namespace SUPPLE_ISA {

// a turn or slide of one end effector, as it moves that end effector; the three of a ball belong together
struct Mover {
  Vec<double> z, j; // angular and linear velocity a unit of its joint
  int index;        // of its joint
  int group;        // the first mover of its ball, or itself
  int end;          // the movers after it and before `end` turn with it
};

// The movers of a chain from its axes; `unit` holds the natural unit of each joint. Returns how many.
SUPPLE_FN int chain_movers(const Chain &chain, const Axis<double> *axes, Vec<double> point,
                           const double *unit, Mover *out) {
  int count = 0;
  const int end = chain.axes;
  for (int i = 0; i < chain.count; ++i) {
    const ChainJoint &joint = chain.joints[i];
    if (joint.motion == prismatic) {
      out[count] = {{0, 0, 0}, (joint.slide_gain * unit[joint.index]) * axes->z, joint.index, count, end};
      ++count;
      ++axes;
    } else if (joint.motion == revolute) {
      const Vec<double> z = (joint.turn_gain * unit[joint.index]) * axes->z;
      out[count] = {z, cross(z, point - axes->p), joint.index, count, end};
      ++count;
      ++axes;
    } else {
      const int group = count;
      for (int k = 0; k < 3; ++k, ++count, ++axes) {
        const Vec<double> z = unit[joint.index + k] * axes->z;
        out[count] = {z, cross(z, point - axes->p), joint.index + k, group, end};
      }
    }
  }
  return count;
}

// The movers of a centre of mass: its axes are stored times the mass that they carry, which counts for j
// alone.
SUPPLE_FN int mass_movers(const MassTree &tree, const Axis<double> *axes, Vec<double> point,
                          const double *unit, Mover *out) {
  int count = 0;
  for (int i = 0; i < tree.count; ++i) {
    const MassNode &node = tree.nodes[i];
    const bool slide = node.joint.motion == prismatic;
    const int group = count, values = node.joint.motion == spherical ? 3 : 1;
    int end = count + values;
    for (int k = i + 1; k < node.end; ++k)
      end += tree.nodes[k].joint.motion == spherical ? 3 : 1;
    for (int k = 0; k < values; ++k, ++count, ++axes) {
      const int index = node.joint.index + k;
      const Vec<double> z = ((values == 3 ? 1 : node.joint.gain) * unit[index]) * axes->z;
      const Vec<double> none{0, 0, 0};
      out[count] = {slide ? none : (1 / node.carried) * z, slide ? z : cross(z, point - axes->p), index,
                    values == 3 ? group : count, end};
    }
  }
  return count;
}
SUPPLE_FLAT int movers(const Target &target, const Axis<double> *axes, Vec<double> point, const double *unit,
                       Mover *out) {
  return target.masses.count ? mass_movers(target.masses, axes, point, unit, out)
                             : chain_movers(target.chain, axes, point, unit, out);
}

// second_along and derivative_along_each for movers of a tree, of which only some turn with a mover. Only
// positions: a centre of mass has no orientation.
SUPPLE_FN Vec<double> tree_second_along(const Mover *m, int count, const double *d) {
  Vec<double> sum{0, 0, 0};
  for (int i = 0; i < count; ++i) {
    Vec<double> after{0, 0, 0};
    for (int k = m[i].group; k < m[i].end; ++k)
      after = after + ((m[k].group == m[i].group ? 1 : 2) * d[m[k].index]) * m[k].j;
    sum = sum + cross(d[m[i].index] * m[i].z, after);
  }
  return sum;
}
template <class Use>
SUPPLE_FN void tree_derivative_along_each(const Mover *m, int count, const double *d, Use &&use) {
  for (int i = 0; i < count; ++i) {
    Vec<double> before{0, 0, 0}, after{0, 0, 0};
    for (int k = 0; k < i; ++k)
      if (i < m[k].end)
        before = before + d[m[k].index] * m[k].z;
    for (int k = i; k < m[i].end; ++k)
      after = after + d[m[k].index] * m[k].j;
    use(m[i], cross(before, m[i].j) + cross(m[i].z, after), Vec<double>{0, 0, 0});
  }
}

// Second derivative of position and orientation along d (of the joints).
SUPPLE_FN void second_along(const Mover *m, int count, const double *d, Vec<double> &linear,
                            Vec<double> &angular) {
  Vec<double> after_j{0, 0, 0}, after_z{0, 0, 0}, zero{0, 0, 0};
  linear = angular = zero;
  for (int i = count - 1; i >= 0; --i) {
    if (m[i].group != i)
      continue; // a ball joint is summed at its first mover
    Vec<double> z = zero, j = zero;
    for (int k = i; k < count && m[k].group == i; ++k) {
      z = z + d[m[k].index] * m[k].z;
      j = j + d[m[k].index] * m[k].j;
    }
    linear = linear + cross(z, j + 2.0 * after_j);
    angular = angular + cross(z, after_z);
    after_j = after_j + j;
    after_z = after_z + z;
  }
}

// Derivative of (J d) along each joint: what turning that joint adds to the velocity that d gives. `use` is
// called with the mover, linear and angular.
template <class Use>
SUPPLE_FN void derivative_along_each(const Mover *m, int count, const double *d, Use &&use) {
  Vec<double> before{0, 0, 0}, after_j{0, 0, 0}, after_z{0, 0, 0};
  for (int i = 0; i < count; ++i) {
    after_j = after_j + d[m[i].index] * m[i].j;
    after_z = after_z + d[m[i].index] * m[i].z;
  }
  for (int i = 0; i < count; ++i) {
    const Vec<double> z = d[m[i].index] * m[i].z, j = d[m[i].index] * m[i].j;
    after_z = after_z - z;
    use(m[i], cross(before, m[i].j) + cross(m[i].z, after_j), cross(m[i].z, after_z));
    before = before + z;
    after_j = after_j - j;
  }
}

// the velocity of the end effector's point along d (of the joints)
SUPPLE_FN Vec<double> velocity_along(const Mover *m, int count, const double *d) {
  Vec<double> sum{0, 0, 0};
  for (int i = 0; i < count; ++i)
    sum = sum + d[m[i].index] * m[i].j;
  return sum;
}

// ---- goals whose rows turn with the end effector's position

// the component of a velocity that a radial row sees, and the component across it that the row does not see
SUPPLE_FLAT Vec<double> radial_part(const Target &target, const RowVectors<double> &rows, Vec<double> v) {
  Vec<double> component = dot(rows.radial[0], v) * rows.radial[0];
  if (target.component[1] == radial_2)
    component = component + dot(rows.radial[1], v) * rows.radial[1];
  return component;
}
SUPPLE_FLAT Vec<double> tangential_part(const Target &target, const RowVectors<double> &rows, Vec<double> v) {
  const Vec<double> line = load3(target.line);
  return v - dot(rows.radial[0], v) * rows.radial[0] - dot(line, v) * line;
}

// Adds to the second derivatives of the end effector's position and orientation what the turning of the rows
// adds to those of the rows, along velocities a and b of the point. With u the unit vector of a radial row
// and t the component across it: -t_a . t_b / distance. With L the unit vector to a point to look at, over
// its distance: (L . a) (L x b) + (L . b) (L x a).
SUPPLE_FN void add_goal_curvature(const Target &target, const RowVectors<double> &rows, Vec<double> a,
                                  Vec<double> b, Vec<double> &linear, Vec<double> &angular) {
  const Vec<double> L = rows.look;
  if (target.looks)
    angular = angular + dot(L, a) * cross(L, b) + dot(L, b) * cross(L, a);
  if (target.has_radial && target.component[1] != radial_2) {
    const double across = dot(tangential_part(target, rows, a), tangential_part(target, rows, b));
    linear = linear - (rows.bend * across) * rows.radial[0];
  }
}
SUPPLE_FN void add_goal_curvature(const Target &target, const RowVectors<double> &rows, const Mover *m,
                                  int count, const double *d, Vec<double> &linear, Vec<double> &angular) {
  const Vec<double> v = velocity_along(m, count, d);
  add_goal_curvature(target, rows, v, v, linear, angular);
}

// Adds to H (n x n) what the turning of a radial row adds to the curvature of half the squared error: pull
// t_a . t_b / distance, `pull` being the squared weight times the residual along the row.
SUPPLE_FN void add_radial_curvature(const Target &target, const RowVectors<double> &rows, const Mover *m,
                                    int count, double pull, int n, double *H) {
  if (target.component[1] == radial_2)
    return;
  for (int a = 0; a < count; ++a) {
    const Vec<double> t = (pull * rows.bend) * tangential_part(target, rows, m[a].j);
    for (int b = 0; b < count; ++b)
      H[m[a].index * n + m[b].index] += dot(t, m[b].j);
  }
}

// the second derivatives of a target along d (of the joints), with what the turning of its rows adds
SUPPLE_FLAT void target_second_along(const Target &target, const RowVectors<double> &rows, const Mover *m,
                                     int count, const double *d, Vec<double> &linear, Vec<double> &angular) {
  if (target.masses.count) {
    linear = tree_second_along(m, count, d);
    angular = {0, 0, 0};
  } else {
    second_along(m, count, d, linear, angular);
  }
  if (target.looks || target.has_radial)
    add_goal_curvature(target, rows, m, count, d, linear, angular);
}

// the same along each joint and d
template <class Use>
SUPPLE_FN void target_derivative_along_each(const Target &target, const RowVectors<double> &rows,
                                            const Mover *m, int count, const double *d, Use &&use) {
  const bool turns_with_goal = target.looks || target.has_radial;
  const Vec<double> moved = turns_with_goal ? velocity_along(m, count, d) : Vec<double>{0, 0, 0};
  auto pass = [&](const Mover &mover, Vec<double> linear, Vec<double> angular) {
    if (turns_with_goal)
      add_goal_curvature(target, rows, mover.j, moved, linear, angular);
    use(mover.index, linear, angular);
  };
  if (target.masses.count)
    tree_derivative_along_each(m, count, d, pass);
  else
    derivative_along_each(m, count, d, pass);
}

// x cot x, smooth through 0
SUPPLE_FLAT double x_cot_x(double x) { return x < 1e-4 ? 1 - x * x / 3 : x / std::tan(x); }

// Adds to H (n x n) what the error's curvature adds to J'J: with it H is the Hessian of half the squared
// error of this target, exactly where its turns have one weight. `p` and `o` are the position and turn that
// are left, `wp` and `wo` the weights of their components. A goal with a direction has no error about the
// axis `pointing`.
SUPPLE_FN void add_curvature(const Mover *m, int count, Vec<double> p, Vec<double> o, Vec<double> wp,
                             Vec<double> wo, bool points, Vec<double> pointing, int n, double *H) {
  const Vec<double> P{wp.x * wp.x * p.x, wp.y * wp.y * p.y, wp.z * wp.z * p.z};
  const Vec<double> O{0.5 * wo.x * wo.x * o.x, 0.5 * wo.y * wo.y * o.y, 0.5 * wo.z * wo.z * o.z};
  const double angle = root(dot(o, o));
  const bool one_turn_weight = wo.x == wo.y && wo.y == wo.z && angle > 0;
  const Vec<double> along = angle > 0 ? (1 / angle) * o : o;
  const double loss = one_turn_weight ? wo.x * wo.x * (x_cot_x(points ? angle : 0.5 * angle) - 1) : 0;
  const Vec<double> side = cross(2.0 * O, pointing);
  for (int a = 0; a < count; ++a) {
    const Vec<double> za = m[a].z, A = cross(P, za);
    // the fraction of a rotation about za that reduces the error: less than 1 across the error
    Vec<double> L = loss * (za - dot(za, along) * along);
    if (points)
      L = L - dot(L, pointing) * pointing;
    // later axes rotate with it; a direction has no error about itself
    const Vec<double> B = points ? dot(za, pointing) * side : cross(O, za);
    for (int b = a; b < m[a].end; ++b) {
      double h = dot(L, m[b].z);
      if (a != b && m[a].group == m[b].group) {
        h -= 0.5 * (dot(A, m[b].j) + dot(cross(P, m[b].z), m[a].j));
        if (points)
          h -= 0.5 * (dot(B, m[b].z) + dot(m[b].z, pointing) * dot(side, za));
      } else {
        h -= dot(A, m[b].j) + (a != b || points ? dot(B, m[b].z) : 0.0);
      }
      H[m[a].index * n + m[b].index] += h;
      if (a != b)
        H[m[b].index * n + m[a].index] += h;
    }
  }
}

// Adds to H (n x n) what the curvature of a point to look at adds to J'J. With a the axis, s the vector to
// the point, rho its length, d = s / rho and c = a . d = cos(theta), half the squared angle g(c) = theta^2 /
// 2 has the second derivative g'' c_i c_k + g' c_ik, where g' = -theta / sin(theta), g'' = (1 - theta
// cot(theta)) / sin(theta)^2, c_i = a_i . d + a . d_i and c_ik = a_ik . d + a_i . d_k + a_k . d_i + a . d_ik.
// Here a_i = z_i x a, s_i = -j_i, and for i before k a_ik = z_i x (z_k x a), s_ik = -z_i x j_k; of two movers
// of a ball both orders count half.
SUPPLE_FN void add_look_curvature(const Mover *m, int count, Vec<double> s, Vec<double> a, double weight,
                                  int n, double *H) {
  const double rho = root(dot(s, s)), inverse_rho = 1 / rho;
  const Vec<double> d = inverse_rho * s, normal = cross(a, d);
  const double c = dot(a, d), sine = root(dot(normal, normal)), theta = atan2(sine, c);
  if (!(theta < 3.1))
    return; // half a turn away the error has a corner
  const double dg = theta < 1e-4 ? -1 - theta * theta / 6 : -theta / sine;
  const double d2g =
      theta < 1e-2 ? 1.0 / 3 + theta * theta * (2.0 / 15) : (1 - x_cot_x(theta)) / (sine * sine);
  // the component of a . d_ik that is linear in s_ik is beside . s_ik
  const Vec<double> beside = inverse_rho * (a - c * d);
  auto a_ik = [&](const Mover &i, const Mover &k) { return dot(cross(i.z, cross(k.z, a)), d); };
  auto s_ik = [&](const Mover &i, const Mover &k) { return -dot(beside, cross(i.z, k.j)); };
  for (int i = 0; i < count; ++i) {
    const Vec<double> ai = cross(m[i].z, a), ti = m[i].j - dot(d, m[i].j) * d, di = (-inverse_rho) * ti;
    const Vec<double> seen_i = m[i].z + inverse_rho * cross(d, m[i].j);
    for (int k = i; k < count; ++k) {
      const Vec<double> ak = cross(m[k].z, a), tk = m[k].j - dot(d, m[k].j) * d, dk = (-inverse_rho) * tk;
      const Vec<double> seen_k = m[k].z + inverse_rho * cross(d, m[k].j);
      double cik = a_ik(m[i], m[k]) + s_ik(m[i], m[k]);
      if (i != k && m[i].group == m[k].group)
        cik = 0.5 * (cik + a_ik(m[k], m[i]) + s_ik(m[k], m[i]));
      cik += dot(ai, dk) + dot(ak, di);
      cik += inverse_rho * (dot(a, dk) * dot(d, m[i].j) + dot(a, di) * dot(d, m[k].j)) -
             c * inverse_rho * inverse_rho * dot(ti, tk);
      const double ci = dot(ai, d) + dot(a, di), ck = dot(ak, d) + dot(a, dk);
      const double gram = dot(seen_i, seen_k) - dot(seen_i, a) * dot(seen_k, a);
      const double h = weight * weight * (d2g * ci * ck + dg * cik - gram);
      H[m[i].index * n + m[k].index] += h;
      if (i != k)
        H[m[k].index * n + m[i].index] += h;
    }
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
