// Jacobian of an end effector: how each joint moves it [K5.11-5.17].
#pragma once
#include "chain.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Columns of a chain's joints in J (6 rows of `dof`, linear then angular; the others must be zero already): the
// velocity of a point fixed to the end effector, in world axes, or in the axes of `rotation` when `turned`.
template <class T>
SUPPLE_FN void jacobian(const Chain &chain, const Axis<T> *axes, Vec<T> point, bool turned, const Rot<T> &rotation, T *J) {
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
    j[0] = linear.x, j[dof] = linear.y, j[2 * dof] = linear.z;
    j[3 * dof] = angular.x, j[4 * dof] = angular.y, j[5 * dof] = angular.z;
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
      for (int k = 0; k < 3; ++k, ++axes) column(link.index + k, false, cross(axes->z, point - axes->p), axes->z);
    }
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
