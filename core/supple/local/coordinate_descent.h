// Coordinate descent: one joint at a time takes the value that best brings the end effectors to their goals:
// that of the least chordal error.
#pragma once
#include "supple/local/chordal_error.h"

namespace supple {
inline namespace SUPPLE_ISA {

// The best change of one value of q, or of a ball joint's three, and the frames of the end effectors after
// it.
struct Descent {
  const Problem &problem;
  const double *goals;
  bool clamp;
  int max_halvings;

  // the first joint in a target's chain that value k of q moves, and its axis, or null; `count` is how many
  // it moves
  SUPPLE_FN const ChainJoint *joint_of(const Target &target, const Axis<double> *axes, int k,
                                       const Axis<double> *&axis, int &count) const {
    const ChainJoint *found = nullptr;
    count = 0;
    for (int i = 0; i < target.chain.count; ++i) {
      const ChainJoint &joint = target.chain.joints[i];
      if (joint.index == k && !count++) {
        found = &joint;
        axis = axes;
      }
      axes += joint.motion == spherical ? 3 : 1;
    }
    return found;
  }

  // frames after value k has changed by `change`, or, for a ball joint, after the rotation Q of the world
  // about it
  SUPPLE_FN void frames_after(int k, double change, const Rot<double> *Q, const Axis<double> *axes,
                              const Frame<double> *tips, Frame<double> *after) const {
    for (int t = 0; t < problem.target_count; ++t) {
      const Target &target = problem.targets[t];
      after[t] = tips[t];
      // the outermost of several joints that share a value moves first, so the axes of the others still hold
      const Axis<double> *axis = axes + target.chain.axes;
      for (int i = target.chain.count - 1; i >= 0; --i) {
        const ChainJoint &joint = target.chain.joints[i];
        axis -= joint.motion == spherical ? 3 : 1;
        if (joint.index != k)
          continue;
        if (joint.motion == prismatic) {
          after[t].p = after[t].p + (joint.slide_gain * change) * axis->z;
        } else {
          const Rot<double> r = Q ? *Q : exp_rotation((joint.turn_gain * change) * axis->z);
          after[t] = {r * after[t].r, r * (after[t].p - axis->p) + axis->p};
        }
      }
      axes += target.chain.axes;
    }
  }

  SUPPLE_FN ErrorOfJoint error_of_joint(int k, const Axis<double> *axes, const Frame<double> *tips) const {
    ErrorOfJoint error;
    double w[3];
    Vec<double> from[3], to[3];
    for (int t = 0; t < problem.target_count; ++t) {
      const Target &target = problem.targets[t];
      const Axis<double> *axis = nullptr;
      int count = 0;
      const ChainJoint *joint = joint_of(target, axes, k, axis, count);
      axes += target.chain.axes;
      if (!joint)
        continue;
      error.shared = error.shared || count > 1;
      position_weights(target, w);
      const Vec<double> goal = goal_frame(goals + 12 * t).p;
      if (joint->motion == prismatic) {
        error.add_prismatic(*joint, *axis, tips[t], goal, w);
        continue;
      }
      error.add_revolute(*joint, *axis, tips[t], goal, w);
      const int directions = aligned_directions(target, tips[t], goals + 12 * t, from, to);
      const double weight = directions ? rotation_weight(target) : 0;
      for (int i = 0; i < directions; ++i) {
        error.size += weight;
        error.add_direction(axis->z, from[i], to[i], (directions == 1 ? 2 : 1) * weight);
      }
    }
    return error;
  }

  // best change of a value that turns or slides
  SUPPLE_FN double best_change(int k, double q, const Axis<double> *axes, const Frame<double> *tips,
                               Frame<double> *after) const {
    const ErrorOfJoint error = error_of_joint(k, axes, tips);
    if (!error.has_revolute && !error.has_prismatic)
      return 0;
    const double low = clamp ? problem.lower[k] - q : -1e301, high = clamp ? problem.upper[k] - q : 1e301;
    // where it makes no difference but for rounding, a joint stays
    const double least = 1e-14 * error.size, gain = error.gain;
    double change = 0;
    if (error.shared || gain == 0)
      change = clip(newton_change(k, axes, tips, after), low, high);
    else if (error.has_prismatic ? error.stiffness <= least : error.harmonics.size() <= least)
      change = clip(0.0, low, high);
    else if (error.has_prismatic)
      change = clip(error.pull / error.stiffness, low, high);
    else
      change =
          error.harmonics.lowest(gain > 0 ? low * gain : high * gain, gain > 0 ? high * gain : low * gain) /
          gain;
    return accept(k, change, axes, tips, after);
  }

  // where several joints share a value there is no closed form: a Newton step on the chordal error
  SUPPLE_FN double newton_change(int k, const Axis<double> *axes, const Frame<double> *tips,
                                 Frame<double> *after) const {
    const double h = 1e-4, now = chordal_error(problem, goals, tips);
    frames_after(k, h, nullptr, axes, tips, after);
    const double above = chordal_error(problem, goals, after);
    frames_after(k, -h, nullptr, axes, tips, after);
    const double below = chordal_error(problem, goals, after), slope = (above - below) / (2 * h),
                 curvature = (above - 2 * now + below) / (h * h);
    if (curvature > 0)
      return clip(-slope / curvature, -0.5, 0.5);
    return slope > 0 ? -0.1 : slope < 0 ? 0.1 : 0.0;
  }

  // the errors that a change must not raise: the chordal one, and where steps are halved the weighted one
  struct Errors {
    double chordal, weighted;
  };
  SUPPLE_FN Errors errors_of(const Frame<double> *tips) const {
    return {chordal_error(problem, goals, tips), max_halvings ? squared_error(problem, goals, tips) : 0};
  }
  SUPPLE_FN bool is_no_worse(const Errors &before, const Frame<double> *after) const {
    return chordal_error(problem, goals, after) <= before.chordal &&
           (!max_halvings || squared_error(problem, goals, after) <= before.weighted);
  }

  // Takes a change if it does not raise the error, halving it as often as allowed; else none.
  SUPPLE_FN double accept(int k, double change, const Axis<double> *axes, const Frame<double> *tips,
                          Frame<double> *after) const {
    const Errors before = errors_of(tips);
    for (int i = 0; i <= max_halvings + 4; ++i, change /= 2) {
      frames_after(k, change, nullptr, axes, tips, after);
      if (is_no_worse(before, after))
        return change;
    }
    for (int t = 0; t < problem.target_count; ++t)
      after[t] = tips[t];
    return 0;
  }

  // The rotation of a ball joint, in world axes, that brings the end effectors nearest to their goals, and
  // the axes of its child; false if it moves none.
  SUPPLE_FN bool best_ball_rotation(const Ball &ball, const Axis<double> *axes, const Frame<double> *tips,
                                    Vec<double> &rotation, Rot<double> &child) const {
    double B[9] = {}, w[3], size = 0;
    Vec<double> from[3], to[3];
    bool found = false;
    auto add = [&](double weight, Vec<double> a, Vec<double> b) {
      const double x[3] = {a.x, a.y, a.z}, y[3] = {b.x, b.y, b.z};
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          B[3 * i + j] += weight * y[i] * x[j];
      size += weight * (dot(a, a) + dot(b, b));
    };
    for (int t = 0; t < problem.target_count; ++t) {
      const Target &target = problem.targets[t];
      const Axis<double> *axis = nullptr;
      int count = 0;
      const ChainJoint *joint = joint_of(target, axes, ball.index, axis, count);
      axes += target.chain.axes;
      if (!joint)
        continue;
      found = true;
      child = {axis[0].z, axis[1].z, axis[2].z};
      position_weights(target, w);
      const Vec<double> goal = goal_frame(goals + 12 * t).p;
      add(2 * (w[0] + w[1] + w[2]) / 3, tips[t].p - axis->p, goal - axis->p);
      const int directions = aligned_directions(target, tips[t], goals + 12 * t, from, to);
      for (int i = 0; i < directions; ++i)
        add((directions == 1 ? 2 : 1) * rotation_weight(target), from[i], to[i]);
    }
    if (found)
      rotation = best_rotation(B, size);
    return found;
  }

  // Best new values of a ball joint, in q; false if none. The rotation is halved until it is no worse.
  SUPPLE_FN bool move_ball(const Ball &ball, const Axis<double> *axes, const Frame<double> *tips, double *q,
                           Frame<double> *after) const {
    Vec<double> rotation{};
    Rot<double> child{};
    if (!best_ball_rotation(ball, axes, tips, rotation, child))
      return false;
    const Vec<double> step = transpose(child) * rotation, now = load3(q);
    const Errors before = errors_of(tips);
    double fraction = 1;
    for (int i = 0; i <= max_halvings + 4; ++i, fraction /= 2) {
      Vec<double> next = turned(now, fraction * step);
      if (clamp)
        next = clamp_ball(next, load3(ball.axis), ball.swing, ball.low, ball.high);
      const Rot<double> Q = exp_rotation(child * between(now, next));
      frames_after(ball.index, 0, &Q, axes, tips, after);
      if (is_no_worse(before, after)) {
        store3(next, q);
        return true;
      }
    }
    for (int t = 0; t < problem.target_count; ++t)
      after[t] = tips[t];
    return false;
  }

  // Moves the joint that has value k (a ball joint's first value); returns how far the chordal error falls.
  SUPPLE_FN double move_joint(int k, double *q, const Axis<double> *axes, const Frame<double> *tips,
                              Frame<double> *after) const {
    const double before = chordal_error(problem, goals, tips);
    for (int i = 0; i < problem.ball_count; ++i)
      if (problem.balls[i].index == k)
        return move_ball(problem.balls[i], axes, tips, q + k, after)
                   ? before - chordal_error(problem, goals, after)
                   : 0;
    const double change = best_change(k, q[k], axes, tips, after);
    q[k] += change;
    if (clamp)
      q[k] = clip(q[k], problem.lower[k], problem.upper[k]);
    return before - chordal_error(problem, goals, after);
  }

  // whether value k moves a joint with one farther out whose value comes earlier, as a mimic can
  SUPPLE_FN bool is_out_of_order(int k) const {
    for (int t = 0; t < problem.target_count; ++t) {
      bool farther_out = false;
      for (int i = 0; i < problem.targets[t].chain.count; ++i) {
        const int index = problem.targets[t].chain.joints[i].index;
        if (farther_out && index < k)
          return true;
        farther_out = farther_out || index == k;
      }
    }
    return false;
  }

  // the first value of the joint before value k, and -1 before the first
  SUPPLE_FN int joint_before(int k) const {
    for (int i = 0; i < problem.ball_count; ++i)
      if (k - 3 == problem.balls[i].index)
        return k - 3;
    return k - 1;
  }

  // frames and axes at q
  SUPPLE_FN void evaluate_frames(const double *q, Axis<double> *axes, Frame<double> *tips) const {
    for (int t = 0; t < problem.target_count; ++t) {
      tips[t] = end_effector(problem.targets[t], q, axes);
      axes += problem.targets[t].chain.axes;
    }
  }

  // One sweep of every joint once, from the outermost inward.
  SUPPLE_FN void sweep(double *q, Axis<double> *axes, Frame<double> *tips, Frame<double> *after) const {
    evaluate_frames(q, axes, tips);
    for (int k = joint_before(problem.n); k >= 0; k = joint_before(k)) {
      move_joint(k, q, axes, tips, after);
      // the axes of joints farther in still hold
      if (is_out_of_order(k))
        evaluate_frames(q, axes, tips);
      else
        for (int t = 0; t < problem.target_count; ++t)
          tips[t] = after[t];
    }
  }

  // The joint that comes first in an order among those that lower the error; -1 if none does.
  SUPPLE_FN int first_in_order(int order, const double *q, double *trial, const double *last_moved,
                               const Axis<double> *axes, const Frame<double> *tips,
                               Frame<double> *after) const {
    int chosen = -1;
    double highest = 0;
    for (int k = joint_before(problem.n); k >= 0; k = joint_before(k)) {
      for (int l = 0; l < problem.n; ++l)
        trial[l] = q[l];
      const double reduction = move_joint(k, trial, axes, tips, after);
      if (!(reduction > 1e-12 * chordal_error(problem, goals, tips)))
        continue;
      const double to_limit = lesser(q[k] - problem.lower[k], problem.upper[k] - q[k]);
      const double score = order == largest_reduction_first ? reduction
                           : order == least_recent_first    ? -last_moved[k]
                                                            : lesser(to_limit, 1e300);
      if (chosen < 0 || score > highest) {
        chosen = k;
        highest = score;
      }
    }
    return chosen;
  }
};

// One sweep: every joint once from the outermost inward, or as many moves as there are joints, each by the
// joint that comes first in the order. `last_moved` (n) says when each moved last; `trial` (n) and `after`
// are scratch.
SUPPLE_FN void descend(const Descent &descent, int order, double *q, double *trial, double *last_moved,
                       Axis<double> *axes, Frame<double> *tips, Frame<double> *after) {
  const int n = descent.problem.n;
  if (order == outermost_first)
    return descent.sweep(q, axes, tips, after);
  descent.evaluate_frames(q, axes, tips);
  for (int moves = descent.joint_before(n); moves >= 0; moves = descent.joint_before(moves)) {
    const int chosen = descent.first_in_order(order, q, trial, last_moved, axes, tips, after);
    if (chosen < 0)
      return;
    descent.move_joint(chosen, q, axes, tips, after);
    double latest = 0;
    for (int l = 0; l < n; ++l)
      latest = larger(latest, last_moved[l]);
    last_moved[chosen] = latest + 1;
    descent.evaluate_frames(q, axes, tips);
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
