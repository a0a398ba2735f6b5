// The Jacobian of the goals' rows: how each joint moves each end effector [K5.11-5.17].
#pragma once
#include "supple/task/goal.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Columns of a chain's joints in J (6 rows of `dof`, linear then angular; the others must be zero already):
// the velocity of a point fixed to the end effector, in world axes, or in the end effector's axes
// (`rotation`) when `in_link_axes`. A revolute joint gives (z x (point - p), z), a prismatic one (z, 0).
template <class T>
SUPPLE_FLAT void geometric_jacobian(const Chain &chain, const Axis<T> *axes, Vec<T> point, bool in_link_axes,
                                    const Rot<T> &rotation, T *J) {
  const int dof = chain.dof;
  const T zero = splat<T>(0);
  auto column = [&](int index, bool shared, Vec<T> linear, Vec<T> angular) {
    if (in_link_axes) {
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
    const ChainJoint &joint = chain.joints[i];
    if (joint.motion == revolute) {
      const Vec<T> axis = splat<T>(joint.turn_gain) * axes->z;
      column(joint.index, joint.shared, cross(axis, point - axes->p), axis);
      ++axes;
    } else if (joint.motion == prismatic) {
      column(joint.index, joint.shared, splat<T>(joint.slide_gain) * axes->z, Vec<T>{zero, zero, zero});
      ++axes;
    } else {
      for (int k = 0; k < 3; ++k, ++axes)
        column(joint.index + k, false, cross(axes->z, point - axes->p), axes->z);
    }
  }
}

// the goals' rows and their Jacobian at one q
struct Evaluation {
  double *e, *J;            // weighted error (rows) and Jacobian (rows x n)
  double *full;             // 6 x n: the geometric Jacobian of one target
  Frame<double> *tips;      // each end effector in the world, at its point
  Axis<double> *axes;       // the joints' axes, one target after another, and one more
  double *distance, *angle; // of each target, without weights, in metres and radians
};

// Rows of one target's residual and their Jacobian, from the geometric one in `full`. The Jacobian is
// velocity_rows of each column, written row by row, which vectorises.
SUPPLE_FN void evaluate_rows(const Target &target, Residual<double> &r, int n, const double *full, double *e,
                             double *J) {
  double weight[6];
  row_weights(target, r, weight);
  to_rows(target, r.rows, weight, r.position, r.rotation, e);
  for (int i = 0; i < target.rows; ++i) {
    const int component = target.component[i];
    double *row = J + i * n;
    if (component < across_1) {
      for (int k = 0; k < n; ++k)
        row[k] = weight[i] * full[component * n + k];
      for (int k = 0; k < n && target.has_pole; ++k)
        row[k] += weight[i] * full[k];
    } else if (component < radial_1) {
      const Vec<double> a = r.rows.across[component - across_1];
      const double factor = target.looks ? r.rows.fade * weight[i] : weight[i];
      for (int k = 0; k < n; ++k)
        row[k] = factor * dot(a, Vec<double>{full[3 * n + k], full[4 * n + k], full[5 * n + k]});
      const Vec<double> moved = cross(a, r.rows.look); // a . (look x v) = (a x look) . v
      for (int k = 0; k < n && target.looks; ++k)
        row[k] += weight[i] * dot(moved, Vec<double>{full[k], full[n + k], full[2 * n + k]});
    } else {
      const Vec<double> a = r.rows.radial[component - radial_1];
      for (int k = 0; k < n; ++k)
        row[k] = weight[i] * dot(a, Vec<double>{full[k], full[n + k], full[2 * n + k]});
    }
  }
}

// Evaluates all goals at q. With `pull`, the Jacobian is of the goal's position as if it were fixed to the
// end effector: the alternative Jacobian.
SUPPLE_FN void evaluate(const Problem &problem, const double *q, const double *goals, bool pull,
                        const Evaluation &out) {
  const int n = problem.n;
  Axis<double> *axes = out.axes;
  for (int t = 0; t < problem.target_count; ++t) {
    const Target &target = problem.targets[t];
    const Frame<double> tip = end_effector(target, q, axes), goal = goal_frame(goals + 12 * t);
    out.tips[t] = tip;
    Residual<double> r = residual<Angle>(target, tip, goal);
    remove_slack(target, r);
    out.distance[t] = root(squared_distance(r));
    out.angle[t] = root(squared_angle(r));
    for (int i = 0; i < 6 * n; ++i)
      out.full[i] = 0;
    if (target.has_pole)
      make_pole_axes(target, r.rows, tip, axes);
    geometric_jacobian(target.chain, axes, pull && !target.has_pole ? goal.p : tip.p, false, tip.r, out.full);
    evaluate_rows(target, r, n, out.full, out.e + target.first, out.J + target.first * n);
    axes += target.chain.axes;
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
