// Coordinate descent: one joint at a time takes the value that best brings the end effectors to their goals.
//
// The error that it lowers is chordal, w_p^2 |g - p|^2 + w_o^2 (3 - tr(R_g' R)), so that each joint's best
// value has a closed form; near the goal it is the weighted squared error.
#pragma once
#include "supple/local/step.h"

namespace supple {
inline namespace SUPPLE_ISA {

// one weight for the turns of a target: their root mean square over three axes
SUPPLE_FN double turn_weight(const Target &target) {
  double square = 0;
  for (int i = 0; i < target.rows; ++i)
    if (target.component[i] >= about_x)
      square += target.weight[i] * target.weight[i];
  return square / (target.has_direction ? 2 : 3);
}

SUPPLE_FN void position_weights(const Target &target, double *w) {
  w[0] = w[1] = w[2] = 0;
  for (int i = 0; i < target.rows; ++i)
    if (target.component[i] < about_x)
      w[target.component[i]] = target.weight[i] * target.weight[i];
}

// what is to be turned and where to: the columns of a rotation, or the one direction that is to point
SUPPLE_FN int directions(const Target &target, const Frame<double> &tip, const double *goal,
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

SUPPLE_FN double chordal(const Problem &problem, const double *goals, const Frame<double> *tips) {
  double sum = 0, w[3];
  Vec<double> from[3], to[3];
  for (int t = 0; t < problem.target_count; ++t) {
    const Target &target = problem.targets[t];
    position_weights(target, w);
    const Vec<double> d = goal_frame(goals + 12 * t).p - tips[t].p;
    sum += w[0] * d.x * d.x + w[1] * d.y * d.y + w[2] * d.z * d.z;
    const int count = directions(target, tips[t], goals + 12 * t, from, to);
    for (int i = 0; i < count; ++i)
      sum += (count == 1 ? 2 : 1) * turn_weight(target) * (1 - dot(from[i], to[i]));
  }
  return sum;
}

// the wave c1 cos + s1 sin + c2 cos 2 + s2 sin 2 of an angle
struct Wave {
  double c1 = 0, s1 = 0, c2 = 0, s2 = 0;
  SUPPLE_FN double at(double a) const {
    return c1 * std::cos(a) + s1 * std::sin(a) + c2 * std::cos(2 * a) + s2 * std::sin(2 * a);
  }
  // the angle of its lowest point between low and high
  SUPPLE_FN double lowest(double low, double high) const {
    const double pi = 3.14159265358979323846;
    double best = larger(low, lesser(high, 0.0));
    const double rounding = 1e-14 * (std::fabs(c1) + std::fabs(s1) + std::fabs(c2) + std::fabs(s2));
    auto consider = [&](double a) {
      // the same angle, once around, may be inside the range; of equal ones the shorter way is the first
      for (double b : {a, a - 2 * pi, a + 2 * pi})
        if (b >= low && b <= high && at(b) < at(best) - rounding)
          best = b;
    };
    if (std::fabs(c2) + std::fabs(s2) <= 1e-14 * (std::fabs(c1) + std::fabs(s1))) {
      consider(std::atan2(-s1, -c1));
    } else {
      auto settled = [&](double a, int steps) {
        for (int k = 0; k < steps; ++k) {
          const double slope =
              -c1 * std::sin(a) + s1 * std::cos(a) - 2 * c2 * std::sin(2 * a) + 2 * s2 * std::cos(2 * a);
          const double bend =
              -c1 * std::cos(a) - s1 * std::sin(a) - 4 * c2 * std::cos(2 * a) - 4 * s2 * std::sin(2 * a);
          const double step = bend > 0 ? slope / bend : slope > 0 ? 0.1 : -0.1;
          a -= clip(step, -0.3, 0.3);
          if (std::fabs(step) < 1e-15)
            break;
        }
        return a;
      };
      for (int i = 0; i < 16; ++i) {
        const double a = settled(i * pi / 8 - pi, 20);
        consider(std::atan2(std::sin(a), std::cos(a)));
      }
      // the first to find the lowest point may not have come to rest there
      const double rest = settled(best, 4);
      if (std::fabs(rest - best) < 1e-3 && rest >= low && rest <= high)
        best = rest;
    }
    if (low > -1e300)
      consider(low);
    if (high < 1e300)
      consider(high);
    return best;
  }
};

// The best change of one value of q, or of a ball's three, and the frames of the end effectors after it.
struct Descent {
  const Problem &problem;
  const double *goals;
  bool clamp;
  int halvings;

  // the first link in a target's chain that value k of q moves, and its axis; null if none does, or more than
  // one
  SUPPLE_FN const Link *link_at(const Target &target, const Axis<double> *axes, int k,
                                const Axis<double> *&axis, int &count) const {
    const Link *found = nullptr;
    count = 0;
    for (int i = 0; i < target.chain.count; ++i) {
      const Link &link = target.chain.links[i];
      if (link.index == k && !count++)
        found = &link, axis = axes;
      axes += link.motion == balls ? 3 : 1;
    }
    return found;
  }

  // frames after value k has changed by `by` (for a ball, after the world has turned by Q about its centre)
  SUPPLE_FN void carried(int k, double by, const Rot<double> *Q, const Axis<double> *axes,
                         const Frame<double> *tips, Frame<double> *after) const {
    for (int t = 0; t < problem.target_count; ++t) {
      const Target &target = problem.targets[t];
      after[t] = tips[t];
      const Axis<double> *at = axes;
      // the outermost of several joints that share a value moves first, so the axes of the others still hold
      const Axis<double> *end = axes + target.chain.axes;
      for (int i = target.chain.count - 1; i >= 0; --i) {
        const Link &link = target.chain.links[i];
        end -= link.motion == balls ? 3 : 1;
        if (link.index != k)
          continue;
        if (link.motion == slides) {
          after[t].p = after[t].p + (link.slide_gain * by) * end->z;
        } else {
          const Rot<double> r = Q ? *Q : exp_rotation((link.turn_gain * by) * end->z);
          after[t] = {r * after[t].r, r * (after[t].p - end->p) + end->p};
        }
      }
      axes = at + target.chain.axes;
    }
  }

  // best change of a value that turns or slides
  SUPPLE_FN double best(int k, double q, const Axis<double> *axes, const Frame<double> *tips,
                        Frame<double> *after) const {
    Wave wave;
    double pull = 0, stiffness = 0, size = 0, w[3];
    bool turning = false, sliding = false, shared = false;
    double gain = 1;
    Vec<double> from[3], to[3];
    const Axis<double> *start = axes;
    for (int t = 0; t < problem.target_count; ++t) {
      const Target &target = problem.targets[t];
      const Axis<double> *axis = nullptr;
      int count = 0;
      const Link *link = link_at(target, start, k, axis, count);
      start += target.chain.axes;
      if (!link)
        continue;
      shared = shared || count > 1;
      position_weights(target, w);
      const Vec<double> goal = goal_frame(goals + 12 * t).p;
      if (link->motion == slides) {
        shared = shared || turning || (sliding && link->slide_gain != gain);
        sliding = true;
        gain = link->slide_gain;
        const Vec<double> z = axis->z, d = goal - tips[t].p;
        pull += gain * (w[0] * z.x * d.x + w[1] * z.y * d.y + w[2] * z.z * d.z);
        stiffness += gain * gain * (w[0] * z.x * z.x + w[1] * z.y * z.y + w[2] * z.z * z.z);
        size += gain * gain * (w[0] + w[1] + w[2]);
        continue;
      }
      shared = shared || sliding || (turning && link->turn_gain != gain);
      turning = true;
      gain = link->turn_gain;
      // p = o + along + cos u + sin v
      const Vec<double> z = axis->z, arm = tips[t].p - axis->p, along = dot(z, arm) * z, u = arm - along,
                        v = cross(z, u);
      const Vec<double> d = goal - axis->p - along;
      wave.c1 -= 2 * (w[0] * d.x * u.x + w[1] * d.y * u.y + w[2] * d.z * u.z);
      wave.s1 -= 2 * (w[0] * d.x * v.x + w[1] * d.y * v.y + w[2] * d.z * v.z);
      wave.c2 += 0.5 * (w[0] * (u.x * u.x - v.x * v.x) + w[1] * (u.y * u.y - v.y * v.y) +
                        w[2] * (u.z * u.z - v.z * v.z));
      wave.s2 += w[0] * u.x * v.x + w[1] * u.y * v.y + w[2] * u.z * v.z;
      size += (w[0] + w[1] + w[2]) * (dot(arm, arm) + dot(goal - axis->p, goal - axis->p));
      const int turned = directions(target, tips[t], goals + 12 * t, from, to);
      for (int i = 0; i < turned; ++i) {
        size += turn_weight(target);
        const double weight = (turned == 1 ? 2 : 1) * turn_weight(target), part = dot(z, from[i]);
        wave.c1 -= weight * dot(from[i] - part * z, to[i]);
        wave.s1 -= weight * dot(cross(z, from[i]), to[i]);
      }
    }
    if (!turning && !sliding)
      return 0;
    const double low = clamp ? problem.lower[k] - q : -1e301, high = clamp ? problem.upper[k] - q : 1e301;
    // where it makes no difference but for rounding, a joint stays
    const double least = 1e-14 * size,
                 waves = std::fabs(wave.c1) + std::fabs(wave.s1) + std::fabs(wave.c2) + std::fabs(wave.s2);
    double by = 0;
    if (shared || gain == 0)
      by = clip(slope_step(k, axes, tips, after), low, high);
    else if (sliding ? stiffness <= least : waves <= least)
      by = clip(0.0, low, high);
    else if (sliding)
      by = clip(pull / stiffness, low, high);
    else
      by = wave.lowest(gain > 0 ? low * gain : high * gain, gain > 0 ? high * gain : low * gain) / gain;
    return accept(k, by, axes, tips, after);
  }

  // where several joints share a value there is no closed form: a Newton step on the chordal error
  SUPPLE_FN double slope_step(int k, const Axis<double> *axes, const Frame<double> *tips,
                              Frame<double> *after) const {
    const double h = 1e-4, now = chordal(problem, goals, tips);
    carried(k, h, nullptr, axes, tips, after);
    const double up = chordal(problem, goals, after);
    carried(k, -h, nullptr, axes, tips, after);
    const double down = chordal(problem, goals, after), slope = (up - down) / (2 * h),
                 bend = (up - 2 * now + down) / (h * h);
    return bend > 0 ? clip(-slope / bend, -0.5, 0.5) : slope > 0 ? -0.1 : slope < 0 ? 0.1 : 0.0;
  }

  // Takes a change if it does not raise the error, halving it as often as allowed; else none.
  SUPPLE_FN double accept(int k, double by, const Axis<double> *axes, const Frame<double> *tips,
                          Frame<double> *after) const {
    const double before = chordal(problem, goals, tips),
                 was = halvings ? squared_error(problem, goals, tips) : 0;
    for (int i = 0; i <= halvings + 4; ++i, by /= 2) {
      carried(k, by, nullptr, axes, tips, after);
      if (chordal(problem, goals, after) <= before &&
          (!halvings || squared_error(problem, goals, after) <= was))
        return by;
    }
    for (int t = 0; t < problem.target_count; ++t)
      after[t] = tips[t];
    return 0;
  }

  // Best turn of a ball (Davenport: the largest eigenvector of a 4 x 4 matrix): its new values in q; false if
  // none.
  SUPPLE_FN bool best_ball(const Ball &ball, const Axis<double> *axes, const Frame<double> *tips, double *q,
                           Frame<double> *after) const {
    double B[9] = {}, w[3], size = 0;
    Rot<double> child{};
    Vec<double> from[3], to[3];
    bool found = false;
    const Axis<double> *start = axes;
    for (int t = 0; t < problem.target_count; ++t) {
      const Target &target = problem.targets[t];
      const Axis<double> *axis = nullptr;
      int count = 0;
      const Link *link = link_at(target, start, ball.index, axis, count);
      start += target.chain.axes;
      if (!link)
        continue;
      found = true;
      child = {axis[0].z, axis[1].z, axis[2].z};
      position_weights(target, w);
      auto add = [&](double weight, Vec<double> a, Vec<double> b) {
        const double x[3] = {a.x, a.y, a.z}, y[3] = {b.x, b.y, b.z};
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j)
            B[3 * i + j] += weight * y[i] * x[j];
        size += weight * (dot(a, a) + dot(b, b));
      };
      add(2 * (w[0] + w[1] + w[2]) / 3, tips[t].p - axis->p, goal_frame(goals + 12 * t).p - axis->p);
      const int turned = directions(target, tips[t], goals + 12 * t, from, to);
      for (int i = 0; i < turned; ++i)
        add((turned == 1 ? 2 : 1) * turn_weight(target), from[i], to[i]);
    }
    if (!found)
      return false;
    const double trace = B[0] + B[4] + B[8], zx = B[7] - B[5], zy = B[2] - B[6], zz = B[3] - B[1];
    double K[16] = {trace,
                    zx,
                    zy,
                    zz,
                    zx,
                    2 * B[0] - trace,
                    B[1] + B[3],
                    B[2] + B[6],
                    zy,
                    B[1] + B[3],
                    2 * B[4] - trace,
                    B[5] + B[7],
                    zz,
                    B[2] + B[6],
                    B[5] + B[7],
                    2 * B[8] - trace};
    double V[16];
    eigen(K, 4, V);
    int top = 0;
    for (int i = 1; i < 4; ++i)
      if (K[5 * i] > K[5 * top])
        top = i;
    // of turns that are as good (one direction alone leaves the turn about it free), the shortest
    double best[4] = {};
    for (int d = 0; d < 4; ++d)
      for (int i = 0; i < 4 && K[5 * d] >= K[5 * top] - 1e-13 * size; ++i)
        best[i] += V[d] * V[4 * i + d];
    if (best[0] < 1e-12) // they are all half a turn
      for (int i = 0; i < 4; ++i)
        best[i] = (V[top] < 0 ? -1 : 1) * V[4 * i + top];
    const double length =
        std::sqrt(best[0] * best[0] + best[1] * best[1] + best[2] * best[2] + best[3] * best[3]);
    const Vec<double> turn =
        log_quaternion(Quat<double>{best[0] / length, best[1] / length, best[2] / length, best[3] / length});
    // the turn in the child's axes, shorter and shorter until it is no worse
    const Vec<double> step = transpose(child) * turn, now{q[0], q[1], q[2]};
    double part = 1;
    for (int i = 0; i <= halvings + 4; ++i, part /= 2) {
      Vec<double> next = supple::turned(now, part * step);
      if (clamp)
        next = clamp_ball(next, Vec<double>{ball.axis[0], ball.axis[1], ball.axis[2]}, ball.swing, ball.low,
                          ball.high);
      const Rot<double> Q = child * exp_rotation(between(now, next)) * transpose(child);
      const double before = chordal(problem, goals, tips),
                   was = halvings ? squared_error(problem, goals, tips) : 0;
      carried(ball.index, 0, &Q, axes, tips, after);
      if (chordal(problem, goals, after) <= before &&
          (!halvings || squared_error(problem, goals, after) <= was)) {
        q[0] = next.x;
        q[1] = next.y;
        q[2] = next.z;
        return true;
      }
    }
    for (int t = 0; t < problem.target_count; ++t)
      after[t] = tips[t];
    return false;
  }

  // moves the joint that holds value k (a ball's first value); returns how far its error falls
  SUPPLE_FN double move_one(int k, double *q, const Axis<double> *axes, const Frame<double> *tips,
                            Frame<double> *after) const {
    const double before = chordal(problem, goals, tips);
    for (int i = 0; i < problem.ball_count; ++i)
      if (problem.balls[i].index == k)
        return best_ball(problem.balls[i], axes, tips, q + k, after) ? before - chordal(problem, goals, after)
                                                                     : 0;
    const double by = best(k, q[k], axes, tips, after);
    q[k] += by;
    if (clamp)
      q[k] = clip(q[k], problem.lower[k], problem.upper[k]);
    return before - chordal(problem, goals, after);
  }

  // whether value k moves a joint with one farther out whose value comes earlier, as a mimic can
  SUPPLE_FN bool tangled(int k) const {
    for (int t = 0; t < problem.target_count; ++t) {
      bool after = false;
      for (int i = 0; i < problem.targets[t].chain.count; ++i) {
        const int index = problem.targets[t].chain.links[i].index;
        if (after && index < k)
          return true;
        after = after || index == k;
      }
    }
    return false;
  }

  // the first value of the joint before value k, and -1 before the first
  SUPPLE_FN int before(int k) const {
    for (int i = 0; i < problem.ball_count; ++i)
      if (k - 3 == problem.balls[i].index)
        return k - 3;
    return k - 1;
  }
};

// One sweep. Cyclic: every joint once, from the outermost inward. Ranked: as many moves as there are joints,
// each by the joint that ranks highest among those that help; `recent` (n) remembers when each moved last,
// `other` (n) and the second row of frames are working memory.
SUPPLE_FN void descend(const Descent &descent, int rank, double *q, double *other, double *recent,
                       Axis<double> *axes, Frame<double> *tips, Frame<double> *after) {
  const Problem &problem = descent.problem;
  auto see = [&] {
    Axis<double> *at = axes;
    for (int t = 0; t < problem.target_count; ++t) {
      const Target &target = problem.targets[t];
      tips[t] = end_effector(target, q, at);
      at += target.chain.axes;
    }
  };
  see();
  const int outermost = descent.before(problem.n);
  if (rank == outermost_first) {
    for (int k = outermost; k >= 0; k = descent.before(k)) {
      descent.move_one(k, q, axes, tips, after);
      // the axes of joints farther in still hold
      if (descent.tangled(k))
        see();
      else
        for (int t = 0; t < problem.target_count; ++t)
          tips[t] = after[t];
    }
    return;
  }
  for (int moves = outermost; moves >= 0; moves = descent.before(moves)) {
    int chosen = -1;
    double score = 0;
    for (int k = outermost; k >= 0; k = descent.before(k)) {
      for (int l = 0; l < problem.n; ++l)
        other[l] = q[l];
      const double gained = descent.move_one(k, other, axes, tips, after);
      if (!(gained > 1e-12 * chordal(problem, descent.goals, tips)))
        continue;
      const double low = q[k] - problem.lower[k], high = problem.upper[k] - q[k];
      const double value = rank == most_useful    ? gained
                           : rank == least_recent ? -recent[k]
                                                  : lesser(lesser(low, high), 1e300);
      if (chosen < 0 || value > score) {
        chosen = k;
        score = value;
      }
    }
    if (chosen < 0)
      return;
    descent.move_one(chosen, q, axes, tips, after);
    double latest = 0;
    for (int l = 0; l < problem.n; ++l)
      latest = larger(latest, recent[l]);
    recent[chosen] = latest + 1;
    see();
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
