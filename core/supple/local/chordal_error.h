// The chordal error of all goals, and its least value over the values of one joint.
//
// The error is w_p^2 |g - p|^2 + w_o^2 (3 - tr(R_g' R)), so that each joint's best value has a closed form;
// near the goal it is the weighted squared error.
#pragma once
#include "supple/local/step.h"

namespace supple {
inline namespace SUPPLE_ISA {

// one squared weight for the rotation of a target: the mean over its axes
SUPPLE_FN double rotation_weight(const Target &target) {
  double square = 0;
  for (int i = 0; i < target.rows; ++i)
    if (target.component[i] >= about_x)
      square += target.weight[i] * target.weight[i];
  return square / (target.has_direction ? 2 : 3);
}

// squared weights of x, y and z
SUPPLE_FN void position_weights(const Target &target, double *w) {
  w[0] = w[1] = w[2] = 0;
  for (int i = 0; i < target.rows; ++i)
    if (target.component[i] < about_x)
      w[target.component[i]] = target.weight[i] * target.weight[i];
}

// The directions that the goal aligns, now and at the goal: the columns of a rotation, or the pointing axis.
// Returns how many.
SUPPLE_FN int aligned_directions(const Target &target, const Frame<double> &tip, const double *goal,
                                 Vec<double> *from, Vec<double> *to) {
  const Frame<double> at_goal = goal_frame(goal);
  if (target.has_direction) {
    from[0] = pointing_axis(target, tip);
    to[0] = goal_direction(at_goal);
    return 1;
  }
  if (!target.has_rotation)
    return 0;
  from[0] = tip.r.x;
  from[1] = tip.r.y;
  from[2] = tip.r.z;
  to[0] = at_goal.r.x;
  to[1] = at_goal.r.y;
  to[2] = at_goal.r.z;
  return 3;
}

// the chordal error of all goals, from the frames of their end effectors
SUPPLE_FN double chordal_error(const Problem &problem, const double *goals, const Frame<double> *tips) {
  double sum = 0, w[3];
  Vec<double> from[3], to[3];
  for (int t = 0; t < problem.target_count; ++t) {
    const Target &target = problem.targets[t];
    position_weights(target, w);
    const Vec<double> d = goal_frame(goals + 12 * t).p - tips[t].p;
    sum += w[0] * d.x * d.x + w[1] * d.y * d.y + w[2] * d.z * d.z;
    const int count = aligned_directions(target, tips[t], goals + 12 * t, from, to);
    const double weight = count ? (count == 1 ? 2 : 1) * rotation_weight(target) : 0;
    for (int i = 0; i < count; ++i)
      sum += weight * (1 - dot(from[i], to[i]));
  }
  return sum;
}

// c1 cos a + s1 sin a + c2 cos 2a + s2 sin 2a
struct HarmonicSum {
  double c1 = 0, s1 = 0, c2 = 0, s2 = 0;

  SUPPLE_FN double at(double a) const {
    return c1 * std::cos(a) + s1 * std::sin(a) + c2 * std::cos(2 * a) + s2 * std::sin(2 * a);
  }
  SUPPLE_FN double size() const { return std::fabs(c1) + std::fabs(s1) + std::fabs(c2) + std::fabs(s2); }

  // Newton's steps towards a minimum; downhill by a fixed step where the second derivative is not positive
  SUPPLE_FN double minimum_from(double a, int steps) const {
    for (int k = 0; k < steps; ++k) {
      const double slope =
          -c1 * std::sin(a) + s1 * std::cos(a) - 2 * c2 * std::sin(2 * a) + 2 * s2 * std::cos(2 * a);
      const double curvature =
          -c1 * std::cos(a) - s1 * std::sin(a) - 4 * c2 * std::cos(2 * a) - 4 * s2 * std::sin(2 * a);
      const double step = curvature > 0 ? slope / curvature : slope > 0 ? 0.1 : -0.1;
      a -= clip(step, -0.3, 0.3);
      if (std::fabs(step) < 1e-15)
        break;
    }
    return a;
  }

  // the angle of the minimum between low and high
  SUPPLE_FN double lowest(double low, double high) const {
    const double pi = 3.14159265358979323846;
    double best = larger(low, lesser(high, 0.0));
    const double rounding = 1e-14 * size();
    auto consider = [&](double a) {
      // the same angle, once around, may be inside the range; of equal ones the shorter rotation is the first
      for (double b : {a, a - 2 * pi, a + 2 * pi})
        if (b >= low && b <= high && at(b) < at(best) - rounding)
          best = b;
    };
    if (std::fabs(c2) + std::fabs(s2) <= 1e-14 * (std::fabs(c1) + std::fabs(s1))) {
      consider(std::atan2(-s1, -c1));
    } else {
      for (int i = 0; i < 16; ++i) {
        const double a = minimum_from(i * pi / 8 - pi, 20);
        consider(std::atan2(std::sin(a), std::cos(a)));
      }
      // the first to find the minimum may not have converged
      const double converged = minimum_from(best, 4);
      if (std::fabs(converged - best) < 1e-3 && converged >= low && converged <= high)
        best = converged;
    }
    if (low > -1e300)
      consider(low);
    if (high < 1e300)
      consider(high);
    return best;
  }
};

// The chordal error of all goals as a function of one value of q: a sum of harmonics for revolute joints, a
// parabola for prismatic ones.
struct ErrorOfJoint {
  HarmonicSum harmonics; // of the angle
  double pull = 0,
         stiffness = 0; // minus half the slope, and half the second derivative, along a prismatic axis
  double size = 0;      // of the terms, to judge rounding
  bool has_revolute = false, has_prismatic = false;
  bool shared = false; // several joints have this value, with no closed form
  double gain = 1;     // angle or length for a change of the value

  SUPPLE_FN void add_prismatic(const ChainJoint &joint, const Axis<double> &axis, const Frame<double> &tip,
                               Vec<double> goal, const double *w) {
    shared = shared || has_revolute || (has_prismatic && joint.slide_gain != gain);
    has_prismatic = true;
    gain = joint.slide_gain;
    const Vec<double> z = axis.z, d = goal - tip.p;
    pull += gain * (w[0] * z.x * d.x + w[1] * z.y * d.y + w[2] * z.z * d.z);
    stiffness += gain * gain * (w[0] * z.x * z.x + w[1] * z.y * z.y + w[2] * z.z * z.z);
    size += gain * gain * (w[0] + w[1] + w[2]);
  }

  // of the position p(a) = p_0 + cos(a) u + sin(a) v
  SUPPLE_FN void add_revolute(const ChainJoint &joint, const Axis<double> &axis, const Frame<double> &tip,
                              Vec<double> goal, const double *w) {
    shared = shared || has_prismatic || (has_revolute && joint.turn_gain != gain);
    has_revolute = true;
    gain = joint.turn_gain;
    const Vec<double> z = axis.z, arm = tip.p - axis.p, along = dot(z, arm) * z, u = arm - along,
                      v = cross(z, u), d = goal - axis.p - along;
    harmonics.c1 -= 2 * (w[0] * d.x * u.x + w[1] * d.y * u.y + w[2] * d.z * u.z);
    harmonics.s1 -= 2 * (w[0] * d.x * v.x + w[1] * d.y * v.y + w[2] * d.z * v.z);
    harmonics.c2 += 0.5 * (w[0] * (u.x * u.x - v.x * v.x) + w[1] * (u.y * u.y - v.y * v.y) +
                           w[2] * (u.z * u.z - v.z * v.z));
    harmonics.s2 += w[0] * u.x * v.x + w[1] * u.y * v.y + w[2] * u.z * v.z;
    size += (w[0] + w[1] + w[2]) * (dot(arm, arm) + dot(goal - axis.p, goal - axis.p));
  }

  // of a direction that turns about z
  SUPPLE_FN void add_direction(Vec<double> z, Vec<double> from, Vec<double> to, double weight) {
    const double along = dot(z, from);
    harmonics.c1 -= weight * dot(from - along * z, to);
    harmonics.s1 -= weight * dot(cross(z, from), to);
  }
};

// The rotation vector R that maximises the sum of weight b'R a (Davenport): B is the sum of weight b a', and
// the quaternion is the eigenvector of the largest eigenvalue of a 4 x 4 matrix.
SUPPLE_FN Vec<double> best_rotation(const double *B, double size) {
  const double trace = B[0] + B[4] + B[8], zx = B[7] - B[5], zy = B[2] - B[6], zz = B[3] - B[1];
  // clang-format off
  double K[16] = {trace, zx, zy, zz,
                  zx, 2 * B[0] - trace, B[1] + B[3], B[2] + B[6],
                  zy, B[1] + B[3], 2 * B[4] - trace, B[5] + B[7],
                  zz, B[2] + B[6], B[5] + B[7], 2 * B[8] - trace};
  // clang-format on
  double V[16];
  eigen(K, 4, V);
  int top = 0;
  for (int i = 1; i < 4; ++i)
    if (K[5 * i] > K[5 * top])
      top = i;
  // of rotations that are as good (one direction alone leaves the rotation about it free), the shortest
  double best[4] = {};
  for (int d = 0; d < 4; ++d)
    for (int i = 0; i < 4 && K[5 * d] >= K[5 * top] - 1e-13 * size; ++i)
      best[i] += V[d] * V[4 * i + d];
  if (best[0] < 1e-12) // they are all half a turn
    for (int i = 0; i < 4; ++i)
      best[i] = (V[top] < 0 ? -1 : 1) * V[4 * i + top];
  const double length =
      std::sqrt(best[0] * best[0] + best[1] * best[1] + best[2] * best[2] + best[3] * best[3]);
  return log_quaternion(Quat<double>{best[0] / length, best[1] / length, best[2] / length, best[3] / length});
}

} // namespace SUPPLE_ISA
} // namespace supple
