// The residual at the joints' present values with its first and second derivatives.
//
// With e = goal minus end effector and c = the command's displacement in this tick, both weighted:
//   residual       r = e - c, for feedback
//   feed-forward   c - b/2, b = second derivative of the end effectors along the last step
//   gradients      J'r and J'(c - b/2)
//   Hessian        H = J'J + curvature of the residual: the exact one of |r|^2 / 2
#pragma once
#include "supple/task/hessian.h"
#include "supple/tracking/request.h"

namespace supple {
inline namespace SUPPLE_ISA {

// What every stage of a tick reads. N joints and M rows where they are known when compiling, else 0.
template <int N, int M>
struct TickSetup {
  const Tracking &tracking;
  const Law &law;
  double dt;

  SUPPLE_FLAT int n() const { return N ? N : tracking.problem.n; }
  SUPPLE_FLAT int m() const { return M ? M : tracking.problem.rows; }
  SUPPLE_FLAT int stride() const { return N ? (N + 7) / 8 * 8 : tracking.stride; }
};

// s: from the middle of the last step to that of a step of dt. Velocities are means over steps, so where
// steps differ in length, their change is the acceleration times this.
SUPPLE_FLAT double step_spacing(const ArmScalars &scalars, double dt) {
  return scalars.step_time > 0 ? 0.5 * (scalars.step_time + dt) : dt;
}

// What turns linear and angular parts into the rows of one target.
struct TargetRows {
  double weight[6]; // of each row, scaled
  RowVectors<double> vectors;
};

// What a command asks of one end effector, in world axes.
struct CommandResidual {
  Residual<double> error;                                   // goal minus end effector
  Vec<double> position_displacement, rotation_displacement; // of the command in this tick
  Vec<double> position_weight, rotation_weight;             // of each component, 0 where it is not asked
  TargetRows rows;
};

// arrays of an evaluation
struct TickEvaluation {
  Axis<double> *axes;                               // one target after another, and one more
  Mover *movers;                                    // one target after another
  int *mover_count;                                 // of each target
  TargetRows *rows;                                 // of each target
  double *J;                                        // n columns of m rows: the weighted Jacobian
  double *gram, *hessian;                           // n x n: J'J and H
  double *residual, *command, *feedforward;         // m: r, c, c - b/2
  double *feedback_gradient, *feedforward_gradient; // n: J'r, J'(c - b/2)
  double *last_step;                                // n: displacement of the last tick
  double *to_posture, *to_rest;                     // n: displacements to the remembered posture and to rest
  double *preferred;                                // n: displacement that the caller prefers
  CommandResidual *targets;                         // of each target
};

struct EvaluationSummary {
  double residual_norm;
  double curvature_norm; // Frobenius norm of H - J'J
  double command_speed;  // weighted, 1/s
  double activity;       // s / (s + s_0), s = command_speed
  double climb_activity; // s / (s + s_2): a slow command has time, and a fast climb overshoots its summit
  double haste;          // (s / s_1)^2, at most 1: a motion past a singularity needs accelerations like s^2
  const double *feedforward_velocity; // n: of the last tick
};

template <int M>
SUPPLE_FLAT double dot_rows(const double *a, const double *b, int m) {
  double sum = 0;
  for (int i = 0; i < (M ? M : m); ++i)
    sum += a[i] * b[i];
  return sum;
}
SUPPLE_FLAT double positive(double x) { return x > 0 ? x : 0; }

// The weighted rows of a velocity of an end effector, or of a motion of its goal, in world axes. One pose has
// all six rows, in their order.
template <bool OnePose>
SUPPLE_FLAT void weighted_rows(const Target &target, const TargetRows &of, Vec<double> linear,
                               Vec<double> angular, double *rows) {
  if (OnePose) {
    const double all[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
    for (int i = 0; i < 6; ++i)
      rows[i] = of.weight[i] * all[i];
    return;
  }
  velocity_rows(target, of.vectors, of.weight, linear, angular, rows);
}

// The weights of the components of position and rotation, from those of the rows of one level, or of all rows
// (level -1); 0 where nothing is asked.
SUPPLE_FN void component_weights(const Tracking &t, const Target &target, int level, CommandResidual &r) {
  double w[6] = {0, 0, 0, 0, 0, 0};
  for (int i = 0; i < target.rows; ++i) {
    if (level >= 0 && t.row_level[target.first + i] != level)
      continue;
    if (target.component[i] >= radial_1)
      w[along_x] = w[along_y] = w[along_z] = r.rows.weight[i];
    else if (target.component[i] < across_1)
      w[target.component[i]] = r.rows.weight[i];
    else
      w[about_x] = w[about_y] = w[about_z] = r.rows.weight[i];
  }
  r.position_weight = load3(w);
  r.rotation_weight = load3(w + about_x);
}

SUPPLE_FN CommandResidual command_residual(const Target &target, const Frame<double> &tip,
                                           const Command &command, const Tracking &t) {
  CommandResidual r{};
  r.error = residual<Angle>(target, tip, goal_frame(command.goal));
  r.rows.vectors = r.error.rows;
  for (int i = 0; i < target.rows; ++i)
    r.rows.weight[i] = t.weight_scale * target.weight[i];
  component_weights(t, target, -1, r);
  double moved[6];
  for (int i = 0; i < 6; ++i)
    moved[i] = target.has_component[i] ? command.displacement[i] : 0;
  r.position_displacement = load3(moved);
  r.rotation_displacement = load3(moved + about_x);
  if (target.has_pole)
    r.position_displacement = {dot(r.error.rows.pole, r.position_displacement), 0, 0};
  if (target.points) { // about the pointing axis itself nothing is asked
    const Vec<double> axis = r.error.pointing;
    r.rotation_displacement = r.rotation_displacement - dot(r.rotation_displacement, axis) * axis;
  }
  return r;
}

// The curvature of a point to look at, for the point where it was before this tick.
SUPPLE_FN bool add_look_curvature(const CommandResidual &r, const Mover *movers, int count, int n,
                                  double *H) {
  const RowVectors<double> &rows = r.error.rows;
  const double square = dot(rows.look, rows.look);
  if (!(rows.fade == 1) || !(square > 0))
    return false; // near the point, the Hessian is J'J
  const Vec<double> to = (1 / square) * rows.look - r.position_displacement;
  add_look_curvature(movers, count, to, r.error.pointing, r.rotation_weight.x, n, H);
  return true;
}

// Adds the curvature of one target's residual to H; false where that residual is too short to matter.
SUPPLE_FN bool add_residual_curvature(const Target &target, const CommandResidual &r, const Mover *movers,
                                      int count, int n, double *H) {
  auto largest = [](Vec<double> w) { return larger(w.x, larger(w.y, w.z)); };
  if (target.looks)
    return add_look_curvature(r, movers, count, n, H);
  Vec<double> p = r.error.position - r.position_displacement;
  if (target.has_radial)
    p = r.error.position - radial_part(target, r.error.rows, r.position_displacement);
  const Vec<double> o = r.error.rotation - r.rotation_displacement;
  const double square =
      squared(largest(r.position_weight)) * dot(p, p) + squared(largest(r.rotation_weight)) * dot(o, o);
  if (!(square > 1e-12))
    return false;
  add_curvature(movers, count, p, o, r.position_weight, r.rotation_weight, target.points, r.error.pointing, n,
                H);
  if (target.has_radial)
    add_radial_curvature(target, r.error.rows, movers, count,
                         squared(r.position_weight.x) * dot(r.error.rows.radial[0], p), n, H);
  return true;
}

// Evaluates one target: its columns of J, its rows of r, c and c - b/2. Returns whether its residual bends.
template <int N, int M>
SUPPLE_FLAT bool evaluate_target(const TickSetup<N, M> &setup, const Target &target, const CommandResidual &r,
                                 const Mover *movers, int count, const TickEvaluation &out) {
  const int m = setup.m(), first = target.first;
  auto rows = [&](Vec<double> linear, Vec<double> angular, double *to) {
    weighted_rows<M == 6>(target, r.rows, linear, angular, to);
  };
  for (int i = 0; i < count; ++i) {
    double *column = out.J + movers[i].index * m + first;
    if (setup.tracking.one_pose) {
      rows(movers[i].j, movers[i].z, column);
    } else {
      double more[6];
      rows(movers[i].j, movers[i].z, more);
      for (int l = 0; l < target.rows; ++l)
        column[l] += more[l];
    }
  }
  Vec<double> linear, angular;
  target_second_along(target, r.rows.vectors, movers, count, out.last_step, linear, angular);
  double error[6], second[6];
  if (M == 6)
    rows(r.error.position, r.error.rotation, error);
  else
    to_rows(target, r.rows.vectors, r.rows.weight, r.error.position, r.error.rotation, error);
  rows(r.position_displacement, r.rotation_displacement, out.command + first);
  rows(linear, angular, second);
  for (int i = 0; i < target.rows; ++i) {
    out.residual[first + i] = error[i] - out.command[first + i];
    out.feedforward[first + i] = out.command[first + i] - 0.5 * second[i];
  }
  return add_residual_curvature(target, r, movers, count, setup.n(), out.hessian);
}

// Displacements from q to a posture, in natural units; a ball joint turns the shortest way.
SUPPLE_FN void displacement(const Tracking &t, const double *from, const double *to, double *out) {
  for (int i = 0; i < t.problem.n; ++i)
    out[i] = (to[i] - from[i]) / t.unit[i];
  for (int b = 0; b < t.problem.ball_count; ++b) {
    const int k = t.problem.balls[b].index;
    store3(between(load3(from + k), load3(to + k)), out + k);
  }
}

// J'J, H = J'J + the curvature that `hessian` holds already, and the gradients.
template <int N, int M>
SUPPLE_FLAT void evaluate_products(const TickSetup<N, M> &setup, const TickEvaluation &out) {
  const int n = setup.n(), m = setup.m();
  for (int i = 0; i < n; ++i) {
    const double *column = out.J + i * m;
    for (int j = 0; j <= i; ++j) {
      const double g = dot_rows<M>(column, out.J + j * m, m);
      out.gram[i * n + j] = out.gram[j * n + i] = g;
      out.hessian[j * n + i] = out.hessian[i * n + j] = out.hessian[i * n + j] + g;
    }
    out.feedback_gradient[i] = dot_rows<M>(column, out.residual, m);
    out.feedforward_gradient[i] = dot_rows<M>(column, out.feedforward, m);
  }
}

// What the speed s of the commands makes of the law: activity and haste.
SUPPLE_FLAT void set_command_speed(const Law &law, double s, EvaluationSummary &summary) {
  summary.command_speed = s;
  summary.activity = s / (s + law.active_speed);
  summary.climb_activity = s / (s + law.climb_speed);
  summary.haste = lesser(1.0, squared(s / law.full_damping_speed));
}

template <int N, int M>
SUPPLE_FN EvaluationSummary evaluate_tick(const TickSetup<N, M> &setup, const ArmMemory &memory,
                                          const Command *commands, const TickEvaluation &out) {
  const Tracking &t = setup.tracking;
  const int n = setup.n(), m = setup.m();
  for (int i = 0; i < n * n; ++i)
    out.hessian[i] = 0;
  if (!t.one_pose) // else each column is written once
    for (int i = 0; i < n * m; ++i)
      out.J[i] = 0;
  for (int i = 0; i < n; ++i)
    out.last_step[i] = memory.velocity[i] * setup.dt;
  Axis<double> *axes = out.axes;
  Mover *target_movers = out.movers;
  bool curved = false;
  for (int k = 0; k < t.problem.target_count; ++k) {
    const Target &target = t.problem.targets[k];
    const Frame<double> tip = end_effector(target, memory.q, axes);
    const CommandResidual r = command_residual(target, tip, commands[k], t);
    if (target.has_pole)
      make_pole_axes(target, r.error.rows, tip, axes);
    const int count = out.mover_count[k] = movers(target, axes, tip.p, t.unit, target_movers);
    out.rows[k] = r.rows;
    out.targets[k] = r;
    curved = evaluate_target(setup, target, r, target_movers, count, out) || curved;
    axes += target.chain.axes;
    target_movers += count;
  }
  double square = 0;
  for (int i = 0; i < n * n && curved; ++i)
    square += out.hessian[i] * out.hessian[i];
  evaluate_products(setup, out);
  displacement(t, memory.q, memory.posture, out.to_posture);
  displacement(t, memory.q, memory.rest, out.to_rest);
  EvaluationSummary summary{};
  summary.feedforward_velocity = memory.feedforward_velocity;
  summary.residual_norm = root(dot_rows<M>(out.residual, out.residual, m));
  summary.curvature_norm = root(square);
  set_command_speed(setup.law, root(dot_rows<M>(out.command, out.command, m)) / setup.dt, summary);
  return summary;
}

// The second derivative of all rows along d.
template <int N, int M>
SUPPLE_FN void second_derivative(const TickSetup<N, M> &setup, const TickEvaluation &at, const double *d,
                                 double *rows) {
  const Mover *target_movers = at.movers;
  for (int k = 0; k < setup.tracking.problem.target_count; ++k) {
    const Target &target = setup.tracking.problem.targets[k];
    Vec<double> linear, angular;
    target_second_along(target, at.rows[k].vectors, target_movers, at.mover_count[k], d, linear, angular);
    weighted_rows<M == 6>(target, at.rows[k], linear, angular, rows + target.first);
    target_movers += at.mover_count[k];
  }
}

// Adds weight times the gradient of a singular value to `gradient`: d sigma / d q_i = <J z, (dJ/dq_i) z> /
// sigma for its right singular vector z of all joints, `image` = J z.
template <int N, int M>
SUPPLE_FN void add_singular_value_gradient(const TickSetup<N, M> &setup, const TickEvaluation &at,
                                           const double *z, const double *image, double sigma, double weight,
                                           double *gradient) {
  const Mover *target_movers = at.movers;
  for (int k = 0; k < setup.tracking.problem.target_count; ++k) {
    const Target &target = setup.tracking.problem.targets[k];
    target_derivative_along_each(target, at.rows[k].vectors, target_movers, at.mover_count[k], z,
                                 [&](int joint, Vec<double> linear, Vec<double> angular) {
                                   double rows[6], sum = 0;
                                   weighted_rows<M == 6>(target, at.rows[k], linear, angular, rows);
                                   for (int i = 0; i < target.rows; ++i)
                                     sum += rows[i] * image[target.first + i];
                                   gradient[joint] += weight * sum / sigma;
                                 });
    target_movers += at.mover_count[k];
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
