// The step that the law desires: feedback with one factor for all joints, feed-forward, and the preference in
// the null space. Joints that would leave their limits are held.
#pragma once
#include "supple/model/joint_limits.h"
#include "supple/tracking/singular.h"

namespace supple {
inline namespace SUPPLE_ISA {

// native_width numbers of an array in a register, and back
using Lanes = Pack<double, native_width>;
SUPPLE_FLAT Lanes load_lanes(const double *from) {
  Lanes x;
  std::memcpy(&x, from, sizeof x);
  return x;
}
SUPPLE_FLAT void store_lanes(Lanes x, double *to) { std::memcpy(to, &x, sizeof x); }
SUPPLE_FLAT double largest_lane(Lanes x) {
  double most = get(x, 0);
  for (int i = 1; i < native_width; ++i)
    most = larger(most, get(x, i));
  return most;
}

// Whether goals have priorities; an arm with few joints has two levels without any.
SUPPLE_FLAT bool has_priorities(const Tracking &t) { return t.level_count > t.first_levels; }

// where a desired step comes from
enum class StepKind { regular, redundant, singular, levels, recovery };

// The step before bounds, and what a deviation from it costs (see deviation_cost).
struct DesiredStep {
  StepKind kind;
  SingularReport report;
  double reducible;             // share of the squared residual that the feedback displacement removes
  Freedom free;                 // regular, singular
  Directions directions;        // singular: over the free joints; levels: over all joints
  double null_curvature_change; // redundant
  const double *coast;          // levels, with priorities: the step that does not change the speed of later
                                // ones (level_change.h); else null
};

// A direction that a level leaves in part is one of that level and one of the next.
constexpr int most_directions(int n) { return 3 * n; }

struct LevelScratch {
  double *hessian;                                  // n x n: of one level
  double *feedback_gradient, *feedforward_gradient; // n: of one level
  double *rows;                                     // m
  double *row_gram;                                 // m x m: of the rows of earlier levels
  double *bases[2];                                 // n rows of n each: of this level and of the next
  double *directions;                               // most_directions rows of n: of all levels
  double *direction_cost;                           // most_directions
  double *feedback, *feedforward;                   // n: of all levels together
  double *level_step, *acceleration;                // n: of one level
  double *coast;                                    // n: see DesiredStep
};

struct ApproachScratch {
  Displacements displacements;
  double *limit_side;               // n: joints held in this tick
  int *free_index;                  // n
  double *feedforward_acceleration; // n, padded: low-passed
  double *step;                     // n: the desired step
};

// of the acceleration limit: what is left for feedback at least, however much feed-forward takes
constexpr double least_deceleration_share = 0.15;

// Adds f_n x_n to the step: at most Law::preferred_speed of any speed limit, and no more than the bounds
// allow beside the rest.
template <int N, int M>
SUPPLE_FN void add_preferred(const TickSetup<N, M> &setup, double f_n, const double *low, const double *high,
                             const ApproachScratch &scratch) {
  const double *preferred = scratch.displacements.preferred;
  double share = f_n;
  bool any = false;
  for (int i = 0; i < setup.n(); ++i) {
    if (preferred[i] == 0)
      continue;
    any = true;
    const double longest = setup.law.preferred_speed * setup.tracking.bounds[i].speed * setup.dt;
    const double to_bound = preferred[i] > 0 ? high[i] - scratch.step[i] : scratch.step[i] - low[i];
    share = lesser(share, positive(lesser(longest, to_bound)) / std::fabs(preferred[i]));
  }
  for (int i = 0; i < setup.n() && any; ++i)
    scratch.step[i] += share * preferred[i];
}

// Combines displacements into a step: f x_b + f_n x_n + x_f, with x_b = x.feedback, x_n = x.preferred and
// x_f = x.feedforward.
//
// f is the smallest over all joints of pi(D; K, a') / D = K dt / sqrt(1 + K^2 D / 2a') (see profile_step),
// with D = |x_b| of the joint, so that every joint can brake. a' = `deceleration` is what feed-forward
// leaves: clip(share a + acceleration of x_f in the direction of x_b, least_deceleration_share a, a), share =
// Law::deceleration_share. f_n is the same with K_n, |x_n| and share a; see add_preferred.
//
// The acceleration of x_f is low-passed; the filter starts again when other joints are held.
template <int N, int M>
SUPPLE_FN void combine(const TickSetup<N, M> &setup, const ArmMemory &memory, const double *low,
                       const double *high, const ApproachScratch &scratch) {
  const Law &law = setup.law;
  const int n = setup.n(), stride = setup.stride();
  const double dt = setup.dt, spacing = step_spacing(*memory.scalars, dt);
  const Displacements &x = scratch.displacements;
  bool same_joints = true;
  for (int i = 0; i < n; ++i)
    same_joints = same_joints && scratch.limit_side[i] == memory.limit_side[i];
  for (int i = n; i < stride; ++i)
    x.feedback[i] = x.feedforward[i] = x.preferred[i] = 0;
  const Lanes zero(0.0), keep(same_joints ? 1.0 : 0.0), rate(1 / dt), change_rate(1 / spacing);
  const Lanes filter(same_joints ? dt / (dt + law.filter_time) : 0.0);
  const Lanes share(law.deceleration_share), floor(least_deceleration_share);
  Lanes feedback_time = zero, preferred_time = zero;
  for (int i = 0; i < n; i += native_width) {
    const Lanes speed = load_lanes(setup.tracking.bound_rows + speed_row * stride + i);
    const Lanes a = load_lanes(setup.tracking.bound_rows + acceleration_row * stride + i);
    const Lanes feedback = load_lanes(x.feedback + i), preferred = load_lanes(x.preferred + i);
    const Lanes last = load_lanes(memory.feedforward_acceleration + i);
    const Lanes change = load_lanes(x.feedforward + i) * rate - load_lanes(memory.feedforward_velocity + i);
    const Lanes acceleration = keep * last + filter * (change * change_rate - last);
    store_lanes(acceleration, scratch.feedforward_acceleration + i);
    const Lanes toward = select(feedback < zero, -acceleration, acceleration);
    const Lanes deceleration = clip(share * a + toward, floor * a, a);
    const Mask<Lanes> movable = (a > zero) & (speed > zero); // else it need not brake
    feedback_time = larger(feedback_time, select(movable, magnitude(feedback) / deceleration, zero));
    preferred_time = larger(preferred_time, select(movable, magnitude(preferred) / (share * a), zero));
  }
  auto factor = [&](double K, Lanes time) {
    return lesser(1.0, K * dt / root(1 + 0.5 * K * K * largest_lane(time)));
  };
  const double f = factor(law.feedback_gain, feedback_time),
               f_n = factor(law.null_space_gain, preferred_time);
  for (int i = 0; i < n; ++i)
    scratch.step[i] = f * x.feedback[i] + x.feedforward[i];
  add_preferred(setup, f_n, low, high, scratch);
}

// Whether joint i is at a limit and a step leads outward: 1 at its upper limit, -1 at its lower, else 0.
SUPPLE_FLAT int held_side(const Tracking &t, int i, const double *q, double step) {
  return outward_side(q[i] / t.unit[i], t.bounds[i].lower, t.bounds[i].upper, t.law.limit_margin, step);
}

// Displacements over the free joints, by the regular way where it applies.
template <int N, int M>
SUPPLE_FN DesiredStep displacements(const TickSetup<N, M> &setup, const TickEvaluation &at,
                                    const EvaluationSummary &summary, const Freedom &free,
                                    const ArmMemory &memory, const RegularScratch &regular_scratch,
                                    const SingularScratch &singular_scratch, const ApproachScratch &scratch,
                                    double *joint_weights) {
  DesiredStep desired{};
  desired.free = free;
  for (int i = 0; i < setup.n(); ++i)
    joint_weights[i] = scratch.limit_side[i] == 0 ? 1 : 0;
  const RegularStep regular =
      regular_step(setup, at, summary, free, memory, regular_scratch, scratch.displacements);
  if (regular.applies) {
    desired.kind = regular.has_null_direction ? StepKind::redundant : StepKind::regular;
    desired.null_curvature_change = regular.null_curvature_change;
    desired.report.smallest_singular_value = regular.smallest_singular_value;
    return desired;
  }
  const SingularStep singular = singular_step(setup, at, summary, free, scratch.limit_side, memory,
                                              singular_scratch, joint_weights, scratch.displacements);
  desired.kind = StepKind::singular;
  desired.report = singular.report;
  desired.directions = singular.directions;
  memory.scalars->pressed = singular.pressed;
  return desired;
}

} // namespace SUPPLE_ISA
} // namespace supple
