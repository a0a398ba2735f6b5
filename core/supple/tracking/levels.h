// The step of goals with priorities: level by level, each in the directions that earlier levels leave free.
//
// Level l has its rows J_l, residual r_l and Hessian H_l = J_l'J_l + curvature of r_l. In the basis B of the
// directions left to it, its feedback is the step of singular_step for B'H_l B. Its feed-forward also cancels
// what the steps x of earlier levels do to it: J_l'(c_l - b_l/2 - J_l x). A null direction of level l with
// curvature lambda is left to the next level by the share (1 - |lambda|/sigma_0^2)^2: where level l cannot
// reach its command, moving along such a direction would make it worse.
//
// Along B a later level has the Hessian of the Lagrangian (level_hessian.h): earlier rows stay where they are
// only if the joints turn on curves, and these change its cost too. Its feedback is damped in all directions,
// less as its residual falls: where its cost is almost flat, its minimum is far away on a side that changes
// from tick to tick, and little is gained there.
#pragma once
#include "supple/tracking/level_hessian.h"

namespace supple {
inline namespace SUPPLE_ISA {

// a deviation along a direction of a later level costs this share
constexpr double later_level_cost = 1e-4;
// curvature added along every direction of a later level, less where it nearly meets its command, and least
// curvature for what a deviation costs
constexpr double later_level_damping = 0.02, least_deviation_curvature = 0.1;
// Law::level_share of later priorities, which change their speed gently (level_change.h)
constexpr double priority_share = 0.25;

// deceleration_share of a level
SUPPLE_FLAT double share_of_level(const Tracking &t, int level) {
  return !level ? t.law.deceleration_share : level < t.first_levels ? t.law.level_share : priority_share;
}

// Shortens the feedback of a later level along each of its directions by d / (d + damping), d the curvature
// there. The rows of the basis are orthogonal.
SUPPLE_FN void damp_feedback(const Freedom &free, int n, const SingularStep &found, double damping,
                             const SingularScratch &singular, double *feedback) {
  double *part = singular.gradient; // of the feedback along each row of the basis
  for (int k = 0; k < free.count; ++k) {
    const double *row = free.basis + k * n;
    part[k] = dot_rows<0>(row, feedback, n) / larger(dot_rows<0>(row, row, n), 1e-300);
  }
  for (int c = 0; c < free.count; ++c) {
    const double *z = found.directions.z + c * free.count;
    const double removed =
        dot_rows<0>(z, part, free.count) * damping / (found.directions.curvatures[c] + damping);
    expand(z, free, n, singular.joint_direction);
    for (int i = 0; i < n; ++i)
      feedback[i] -= removed * singular.joint_direction[i];
  }
}

// f of a level: that every joint can brake by that share of its acceleration limit.
template <int N, int M>
SUPPLE_FN double level_factor(const TickSetup<N, M> &setup, double K, double share,
                              const double *displacement) {
  double time = 0;
  for (int i = 0; i < setup.n(); ++i) {
    const JointBounds &joint = setup.tracking.bounds[i];
    if (joint.acceleration > 0 && joint.speed > 0)
      time = larger(time, std::fabs(displacement[i]) / (share * joint.acceleration));
  }
  return lesser(1.0, K * setup.dt / root(1 + 0.5 * K * K * time));
}

// How much of a later level's step, in scratch.level_step, earlier levels can bear. Joints that move with the
// velocity v make the end effectors of earlier levels accelerate by x''(v), and the joints must accelerate by
// J'(J J')^-1 x''(v) to make up for it: at most Law::level_acceleration of their limits, or
// Law::split_acceleration. That grows like v^2.
template <int N, int M>
SUPPLE_FN double sustainable_share(const TickSetup<N, M> &setup, const TickEvaluation &at, int level,
                                   const double *taken, const LevelScratch &scratch) {
  const Tracking &t = setup.tracking;
  const int n = setup.n(), m = setup.m();
  double *acceleration = scratch.acceleration;
  for (int i = 0; i < n; ++i)
    acceleration[i] = (taken[i] + scratch.level_step[i]) / setup.dt;
  second_derivative(setup, at, acceleration, scratch.rows);
  for (int k = 0; k < m; ++k)
    if (t.row_level[k] >= level)
      scratch.rows[k] = 0;
  factor_earlier_rows(setup, at, level, scratch);
  solve(scratch.row_gram, m, scratch.rows);
  for (int i = 0; i < n; ++i)
    acceleration[i] = dot_rows<M>(at.J + i * m, scratch.rows, m);
  double demand = 0;
  for (int i = 0; i < n; ++i)
    if (t.bounds[i].acceleration > 0)
      demand = larger(demand, std::fabs(acceleration[i]) / t.bounds[i].acceleration);
  const Law &law = setup.law;
  const double most = level < t.first_levels ? law.split_acceleration : law.level_acceleration;
  return lesser(1.0, root(most / larger(demand, 1e-12)));
}

// Appends the directions of a level to those of all levels, and makes the basis of the next level; returns
// how many directions it has.
template <int N, int M>
SUPPLE_FN int next_basis(const TickSetup<N, M> &setup, const Freedom &free, const SingularStep &found,
                         double cost, bool last, const SingularScratch &singular, const LevelScratch &scratch,
                         double *basis, int &direction_count) {
  const int n = setup.n();
  int count = 0;
  for (int c = 0; c < free.count; ++c) {
    expand(found.directions.z + c * free.count, free, n, singular.joint_direction);
    const double *z = singular.joint_direction;
    const double share =
        singular.is_null[c] && !last ? left_share(setup.law, singular.hessian[c * free.count + c]) : 0;
    if (share < 1 && direction_count < most_directions(n)) { // what is not left belongs to this level
      const double least = free.level > 0 ? least_deviation_curvature : 1e-6;
      scratch.direction_cost[direction_count] =
          (1 - share) * cost * larger(found.directions.curvatures[c], least);
      for (int i = 0; i < n; ++i)
        scratch.directions[direction_count * n + i] = z[i];
      ++direction_count;
    }
    for (int i = 0; i < n && share > 0; ++i)
      basis[count * n + i] = share * z[i];
    count += share > 0;
  }
  return count;
}

// The part of a step along the rows of a basis, which are orthogonal; added to `out`.
SUPPLE_FN void add_part_along(const Freedom &free, int n, const double *step, double *out) {
  for (int k = 0; k < free.count; ++k) {
    const double *row = free.basis + k * n;
    const double part = dot_rows<0>(row, step, n) / larger(dot_rows<0>(row, row, n), 1e-300);
    for (int i = 0; i < n; ++i)
      out[i] += part * row[i];
  }
}

// Adds f_n w x_n to the step: the preferred displacement of the last level along each of its null directions,
// at most Law::preferred_speed of any speed limit. With gamma = |J z|^2 of a direction and the least of those
// that are not null, w = (1 - gamma/least)^2: where two directions are about to change places, neither is
// preferred. What the box leaves does not count: the step would begin and end with every side of the box.
template <int N, int M>
SUPPLE_FN void add_level_preferred(const TickSetup<N, M> &setup, const EvaluationSummary &summary,
                                   const Freedom &free, const SingularStep &found,
                                   const SingularScratch &singular, const ApproachScratch &approach) {
  const int n = setup.n();
  const Law &law = setup.law;
  double *preferred = approach.displacements.preferred, least = 1e300;
  for (int c = 0; c < free.count; ++c)
    if (!singular.is_null[c])
      least = lesser(least, singular.gamma[c]);
  for (int i = 0; i < n; ++i)
    preferred[i] = 0;
  for (int c = 0; c < free.count; ++c) {
    if (!singular.is_null[c])
      continue;
    const double *z = found.directions.z + c * free.count;
    const DirectionComponents along = components_along(c, singular);
    const double lambda = singular.hessian[c * free.count + c];
    const double w = squared(positive(1 - singular.gamma[c] / larger(least, 1e-300)));
    const double x = w * null_step(law, summary, lambda, along).preferred;
    expand(z, free, n, singular.joint_direction);
    for (int i = 0; i < n; ++i)
      preferred[i] += x * singular.joint_direction[i];
  }
  double share = level_factor(setup, law.null_space_gain, priority_share, preferred);
  for (int i = 0; i < n; ++i)
    if (preferred[i] != 0)
      share = lesser(share, law.preferred_speed * setup.tracking.bounds[i].speed * setup.dt /
                                std::fabs(preferred[i]));
  for (int i = 0; i < n; ++i)
    approach.step[i] += share * preferred[i];
}

// The displacements and the step of all levels over the free joints; scratch.step is what they desire
// together.
template <int N, int M>
SUPPLE_FN DesiredStep level_steps(const TickSetup<N, M> &setup, const TickEvaluation &at,
                                  const EvaluationSummary &summary, const Freedom &joints,
                                  const ArmMemory &memory, const double *low, const double *high,
                                  const SingularScratch &singular, const LevelScratch &scratch,
                                  const ApproachScratch &approach, double *joint_weights) {
  const Tracking &t = setup.tracking;
  const Law &law = setup.law;
  const int n = setup.n();
  const Displacements &x = approach.displacements;
  DesiredStep desired{};
  desired.kind = StepKind::levels;
  desired.free = joints;
  // along a flat direction of a later level rounding decides the side of the gradient, so no least rate there
  Law later_law = law;
  later_law.rest_step = 0;
  const TickSetup<N, M> later{t, later_law, setup.dt};
  TickEvaluation level_at = at;
  level_at.hessian = scratch.hessian;
  level_at.feedback_gradient = scratch.feedback_gradient;
  level_at.feedforward_gradient = scratch.feedforward_gradient;
  Freedom free = joints;
  int direction_count = 0;
  double cost = 1;
  for (int i = 0; i < n; ++i) {
    approach.step[i] = scratch.feedback[i] = scratch.feedforward[i] = 0;
    joint_weights[i] = approach.limit_side[i] == 0 ? 1 : 0;
  }
  for (int level = 0; level < t.level_count && free.count > 0; ++level) {
    const bool last = level + 1 == t.level_count;
    free.level = level;
    free.rank = t.level_rank[level];
    evaluate_level(setup, at, level, approach.step, scratch);
    if (level == t.first_levels) {
      for (int i = 0; i < n; ++i)
        scratch.coast[i] = approach.step[i];
      add_part_along(free, n, at.last_step, scratch.coast);
      desired.coast = scratch.coast;
    }
    // a later command that hurries must not damp an earlier level
    EvaluationSummary of_level = summary;
    double square = 0, error = 0;
    for (int k = 0; k < setup.m(); ++k) {
      if (t.row_level[k] <= level)
        square += squared(at.command[k]);
      if (t.row_level[k] == level)
        error += squared(at.residual[k]);
    }
    set_command_speed(law, root(square) / setup.dt, of_level);
    const SingularStep found = singular_step(level ? later : setup, level_at, of_level, free,
                                             approach.limit_side, memory, singular, joint_weights, x);
    if (level)
      damp_feedback(free, n, found, later_level_damping * lesser(1.0, root(error) / law.lost_error), singular,
                    x.feedback);
    memory.scalars->pressed = found.pressed;
    if (!desired.report.near_singular)
      desired.report = found.report;
    const double f = level_factor(setup, law.feedback_gain, share_of_level(t, level), x.feedback);
    for (int i = 0; i < n; ++i)
      scratch.level_step[i] = f * x.feedback[i] + x.feedforward[i];
    const double share = level ? sustainable_share(setup, at, level, approach.step, scratch) : 1;
    for (int i = 0; i < n; ++i) {
      approach.step[i] += share * scratch.level_step[i];
      scratch.feedback[i] += x.feedback[i];
      scratch.feedforward[i] += share * x.feedforward[i];
    }
    double *basis = scratch.bases[level % 2];
    const int count = next_basis(setup, free, found, cost, last, singular, scratch, basis, direction_count);
    if (last && has_priorities(t))
      add_level_preferred(setup, of_level, free, found, singular, approach);
    else if (last)
      add_preferred(setup, level_factor(setup, law.null_space_gain, law.level_share, x.preferred), low, high,
                    approach);
    free.basis = basis;
    free.count = count;
    cost *= later_level_cost;
  }
  for (int i = 0; i < n; ++i) {
    x.feedback[i] = scratch.feedback[i];
    x.feedforward[i] = scratch.feedforward[i];
    approach.feedforward_acceleration[i] = 0;
  }
  desired.directions = {scratch.directions, scratch.direction_cost, direction_count};
  return desired;
}

// The joints that are not held, in scratch.free_index.
template <int N, int M>
SUPPLE_FN Freedom free_joints(const TickSetup<N, M> &setup, const ApproachScratch &scratch) {
  int count = 0;
  for (int i = 0; i < setup.n(); ++i)
    if (scratch.limit_side[i] == 0)
      scratch.free_index[count++] = i;
  return {scratch.free_index, count, setup.tracking.rank, count == setup.n()};
}

// Holds the free joints at a limit whose step leads outward; whether there are any.
template <int N, int M>
SUPPLE_FN bool hold_outward(const TickSetup<N, M> &setup, const double *q, const ApproachScratch &scratch) {
  bool more = false;
  for (int i = 0; i < setup.n(); ++i) {
    if (scratch.limit_side[i] != 0)
      continue;
    scratch.limit_side[i] = held_side(setup.tracking, i, q, scratch.step[i]);
    more = more || scratch.limit_side[i] != 0;
  }
  return more;
}

// Passes hold different joints: each begins from the eigenvectors that it found itself in an earlier tick.
// The first pass holds none, and uses ArmMemory::basis.
struct PassMemory {
  ArmMemory memory;
  int &age;
  PassMemory(const Tracking &t, const ArmMemory &whole, int pass)
      : memory(whole), age(whole.scalars->pass_basis_age[pass ? pass - 1 : 0]) {
    const int held = pass ? pass - 1 : 0;
    memory.reduced_basis += held * t.problem.n * t.problem.n;
    memory.reduced_limit_side += held * t.stride;
    memory.scalars->reduced_basis_age = age;
  }
  ~PassMemory() { age = memory.scalars->reduced_basis_age; }
};

// The desired step, in scratch.step. A free joint at a limit whose step leads outward is held and the others
// are asked again, held_passes times at most; a held joint goes to the side of the box at its limit.
template <int N, int M>
SUPPLE_FN DesiredStep approach_command(const TickSetup<N, M> &setup, const TickEvaluation &at,
                                       const EvaluationSummary &summary, const ArmMemory &memory,
                                       const double *low, const double *high,
                                       const RegularScratch &regular_scratch,
                                       const SingularScratch &singular_scratch,
                                       const LevelScratch &level_scratch, const ApproachScratch &scratch,
                                       double *joint_weights) {
  const Tracking &t = setup.tracking;
  const int n = setup.n();
  DesiredStep desired;
  for (int i = 0; i < n; ++i)
    scratch.limit_side[i] = 0;
  for (int pass = 0; pass <= held_passes; ++pass) {
    const Freedom free = free_joints(setup, scratch);
    const PassMemory own(t, memory, pass);
    if (t.level_count > 1) {
      desired = level_steps(setup, at, summary, free, own.memory, low, high, singular_scratch, level_scratch,
                            scratch, joint_weights);
    } else {
      desired = displacements(setup, at, summary, free, own.memory, regular_scratch, singular_scratch,
                              scratch, joint_weights);
      combine(setup, memory, low, high, scratch);
    }
    if (!hold_outward(setup, memory.q, scratch))
      break;
  }
  double removed = 0;
  for (int i = 0; i < n; ++i) {
    removed += scratch.displacements.feedback[i] * at.feedback_gradient[i];
    if (scratch.limit_side[i] != 0)
      scratch.step[i] = scratch.limit_side[i] > 0 ? high[i] : low[i];
  }
  desired.reducible = summary.residual_norm > 0 ? removed / squared(summary.residual_norm) : 1;
  return desired;
}

} // namespace SUPPLE_ISA
} // namespace supple
