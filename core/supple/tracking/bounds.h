// The box of a tick: how far each joint may move, the nearest such step to the desired one, and ball joints'
// cones.
#pragma once
#include "supple/math/box_qp.h"
#include "supple/model/limits.h"
#include "supple/tracking/levels.h"

namespace supple {
inline namespace SUPPLE_ISA {

// s: a shorter time is none; speeds are not exact over the shortest numbers
constexpr double shortest_tick = 1e-6;
constexpr double endless_tick = 1e9; // s: a dt this long is no time step
// s: after a pause it goes on as if the pause had been short
constexpr double longest_pause = 0.25;

// ---- one joint

// share of the acceleration limit with which joints land at their limits
constexpr double landing_share = 0.8;

// The same with priorities: earlier levels need the rest to compensate.
SUPPLE_FLAT double landing_share_of(const Tracking &t) {
  return t.level_count > 1 ? t.law.level_share : landing_share;
}

// The smooth profile pi(D; K, a) = K dt D / sqrt(1 + K^2 D / 2a): way in one tick at K times the distance D,
// but never so fast that constant braking by a would not stop in time. Its deceleration stays below a and its
// jerk below a K / 4.
template <class T>
SUPPLE_FLAT T profile_step(T D, T K, T a, T dt) {
  const T zero(0.0), one(1.0), largest(1e9), d = clip(D, zero, largest);
  return K * dt * d / root(one + K * K * d / (a + a));
}

// The longest step x within dt after which braking by a stops within D, whatever the lengths of the ticks
// that follow: x + (x/dt)^2 / 2a = D. Braking in ticks stops no later than braking continuously.
template <class T>
SUPPLE_FLAT T braking_step(T D, T a, T dt) {
  const T zero(0.0), one(1.0), largest(1e9), two = clip(D + D, zero, largest);
  return two / (one + root(one + two / (a * dt * dt)));
}

// How far joints may move in a tick. Speed, acceleration and braking before limits are never broken; jerk
// yields to them, and the profile before limits yields to jerk. `v` and `a` are speed and acceleration of the
// last tick. Never empty: if braking was possible before, braking by the acceleration limit is possible now.
template <class T>
SUPPLE_FLAT void step_bounds(T lower, T upper, T speed, T acceleration, T jerk, T q, T v, T a, T dt,
                             T limit_gain, T landing_share, T end_rate, T &low, T &high) {
  const T zero(0.0), one(1.0), longest = speed * dt, change = acceleration * dt * dt, last = v * dt;
  const T above = upper - q, below = q - lower, gentle = landing_share * acceleration;
  const Mask<T> over = above < zero, under = below < zero;
  // outside its limits a joint comes back by the profile, to a little inside so that it gets there
  const T inside = T(1e-3) * lesser(one, upper - lower);
  const T way_up = profile_step(select(over, inside - above, above), limit_gain, gentle, dt);
  const T way_down = profile_step(select(under, inside - below, below), limit_gain, gentle, dt);
  const T soft_up = lesser(longest, way_up), soft_down = lesser(longest, way_down);
  T up = select(over, -soft_up, select(under, soft_down, soft_up));
  T down = select(under, soft_down, select(over, -soft_up, -soft_down));
  // Bounds by jerk, widened towards acceleration 0: an acceleration may end in the time 1 / end_rate
  const T jerk_change = jerk * dt * dt * dt, last_change = a * dt * dt, end_change = end_rate * dt * change;
  const T jerk_low = last + lesser(last_change - jerk_change, larger(last_change - end_change, zero));
  const T jerk_high = last + larger(last_change + jerk_change, lesser(last_change + end_change, zero));
  up = clip(up, jerk_low, jerk_high);
  down = clip(down, jerk_low, jerk_high);
  const T hard_up = lesser(longest, braking_step(above, acceleration, dt));
  const T hard_down = -lesser(longest, braking_step(below, acceleration, dt));
  up = clip(up, hard_down, hard_up);
  down = clip(down, hard_down, hard_up);
  // Acceleration comes last, so that its bound always holds: a joint too fast to stop before its limit brakes
  // by the acceleration limit.
  high = clip(up, last - change, last + change);
  low = clip(down, last - change, last + change);
}
SUPPLE_FLAT void step_bounds(const JointBounds &joint, double q, double v, double a, double dt,
                             double limit_gain, double landing_share, double end_rate, double &low,
                             double &high) {
  step_bounds(joint.lower, joint.upper, joint.speed, joint.acceleration, joint.jerk, q, v, a, dt, limit_gain,
              landing_share, end_rate, low, high);
}

// The speed with which a joint that is to stand still within its limits moves in this tick.
SUPPLE_FN double return_velocity(const Tracking &t, const JointBounds &joint, double q, double v, double a,
                                 double dt) {
  double low, high;
  step_bounds(joint, q, v, a, dt, t.law.limit_gain, landing_share, t.end_rate, low, high);
  return clip(0.0, low, high) / dt;
}

// step_bounds without jerk and without the braking profile: the bounds that always hold.
SUPPLE_FN void hard_bounds(const JointBounds &joint, double q, double v, double dt, double &low,
                           double &high) {
  const double longest = joint.speed * dt, change = joint.acceleration * dt * dt, last = v * dt;
  high = clip(lesser(longest, braking_step(joint.upper - q, joint.acceleration, dt)), last - change,
              last + change);
  low = clip(-lesser(longest, braking_step(q - joint.lower, joint.acceleration, dt)), last - change,
             last + change);
}

// ---- all joints

// By how much more than allowed an end effector goes away from its command, where it does so most.
struct Departure {
  double excess;    // m
  Vec<double> away; // from the end effector to its command
  double time;      // s: from the end of the step until then
  bool together;    // the joints brake together until then, not each by itself
};

// of effector_speed.h and keep_near.h
struct EffectorScratch {
  double *velocity, *next_q, *q_on_the_way, *braking, *candidate, *way; // n each
  Frame<double> *tips;                                                  // one a target
  Departure *departures;                                                // two a target: of both ways to brake
  double *allowed, *none;                                               // one a target: m
  double *rows; // n a target: how the distance changes
  bool *marked; // n: joints that brake
};

// A bound n x <= limit on the turn x of one ball joint, of whose three values `index` is the first.
struct BallRow {
  int index;
  Vec<double> n;
  double limit;
};

struct BoundsScratch {
  double *natural_q;              // n, padded: q in natural units
  double *lead;                   // n: q less the measured joints
  double *measured_velocity;      // n
  double *low, *high;             // n, padded: the box
  double *limit_low, *limit_high; // n: of the position and speed limits alone (level_change.h)
  double *deviation_cost;         // n x n
  BoxScratch nearest;
  BallRow *ball_rows;                 // two a ball
  bool *row_active;                   // of each
  double *row_target, *turned_target; // n: of a step that keeps them
  double *step;                       // n: the step taken
  double *previous_q;                 // n
  EffectorScratch effector;
};

// s: the time in which all joints can stop together
SUPPLE_FN double braking_time(const Tracking &t, const double *velocity) {
  double time = 0;
  for (int i = 0; i < t.problem.n; ++i)
    if (velocity[i] != 0)
      time = larger(time, std::fabs(velocity[i]) / t.bounds[i].acceleration);
  return time;
}

// Joints come to their speed limits with an acceleration that jerk can end in time: x + (x/dt)^2 / 2j is at
// most what is left of the speed, for the change of speed x.
SUPPLE_FN void approach_speed_limits(const Tracking &t, const double *velocity, double dt,
                                     const BoundsScratch &scratch) {
  for (int i = 0; i < t.problem.n; ++i) {
    const JointBounds &joint = t.bounds[i];
    double &low = scratch.low[i], &high = scratch.high[i];
    const double v = velocity[i];
    high = larger(low, lesser(high, (v + braking_step(joint.speed - v, joint.jerk, dt)) * dt));
    low = lesser(high, larger(low, (v - braking_step(joint.speed + v, joint.jerk, dt)) * dt));
  }
}

// Gain of the profile before limits. Where end effectors have a speed limit, all joints must be able to brake
// together before a limit (effector_speed.h): v_i T / 2 is left of the way, and T may grow by a tick in a
// tick.
SUPPLE_FLAT double limit_gain(const Tracking &t, const double *velocity, double dt) {
  return t.effector_bounds ? lesser(t.law.limit_gain, 2 / (braking_time(t, velocity) + 3 * dt))
                           : t.law.limit_gain;
}

// The box of this tick, in scratch.low and scratch.high.
template <int N, int M>
SUPPLE_FN void step_box(const TickSetup<N, M> &setup, const ArmMemory &memory, const BoundsScratch &scratch) {
  const Tracking &t = setup.tracking;
  const int n = setup.n(), stride = setup.stride();
  const double landing = landing_share_of(t);
  for (int i = 0; i < n; ++i)
    scratch.natural_q[i] = memory.q[i] / t.unit[i];
  const Lanes end_rate(t.end_rate), one(1.0);
  const Lanes spacing(step_spacing(*memory.scalars, setup.dt) / setup.dt);
  const Lanes gain(limit_gain(t, memory.velocity, setup.dt));
  for (int i = 0; i < n; i += native_width) {
    auto bound = [&](BoundRow row) { return load_lanes(t.bound_rows + row * stride + i); };
    // an acceleration at its limit goes on as limit dt, any other as acceleration times spacing
    const Lanes limit = bound(acceleration_row), last = load_lanes(memory.acceleration + i);
    const Lanes expected = last * select(magnitude(last) < limit, spacing, one);
    Lanes low, high;
    step_bounds(bound(lower_row), bound(upper_row), bound(speed_row), limit, bound(jerk_row),
                load_lanes(scratch.natural_q + i), load_lanes(memory.velocity + i), expected, Lanes(setup.dt),
                gain, Lanes(landing), end_rate, low, high);
    store_lanes(low, scratch.low + i);
    store_lanes(high, scratch.high + i);
  }
  if (t.end_rate < 1e9) // jerk is given
    approach_speed_limits(t, memory.velocity, setup.dt, scratch);
}

// J'J + alpha W_q^-2 [D16], or where no weights are known the identity.
SUPPLE_FN void external_cost(const ExternalStep &external, const double *gram, int n, double *cost) {
  for (int i = 0; i < n * n; ++i)
    cost[i] = external.weights ? gram[i] : 0;
  for (int i = 0; i < n; ++i) {
    const double w = external.weights ? larger(external.weights[i], 1e-4) : 1;
    cost[i * n + i] += external.weights ? external.damping / (w * w) + 1e-9 : 1;
  }
}

// What a deviation x from the desired step costs, as the matrix of x'Mx. Held joints count for themselves.
//   regular     M = H over the free joints
//   redundant   M = H with the curvature along the null direction as it is damped
//   singular    M = Z' diag(d) Z over the free joints
//   levels      the same, with the directions of later levels cheaper
//   recovery    M = I
template <int N, int M>
SUPPLE_FN void deviation_cost(const TickSetup<N, M> &setup, const TickEvaluation &at,
                              const DesiredStep &desired, const ArmMemory &memory, double *cost) {
  const int n = setup.n();
  const Freedom &free = desired.free;
  if (desired.kind == StepKind::redundant) {
    const double *z = memory.null_direction, change = desired.null_curvature_change;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        cost[i * n + j] = at.hessian[i * n + j] + change * z[i] * z[j];
    return;
  }
  for (int i = 0; i < n * n; ++i)
    cost[i] = i % (n + 1) ? 0 : 1;
  if (desired.kind == StepKind::recovery)
    return;
  const Directions &directions = desired.directions;
  if (desired.kind == StepKind::levels) {
    for (int a = 0; a < free.count; ++a)
      for (int b = 0; b <= a; ++b) {
        const int i = free.index[a], j = free.index[b];
        double sum = i == j ? 1e-9 : 0;
        for (int c = 0; c < directions.count; ++c) {
          const double *z = directions.z + c * n;
          sum += z[i] * directions.curvatures[c] * z[j];
        }
        cost[i * n + j] = cost[j * n + i] = sum;
      }
    return;
  }
  for (int a = 0; a < free.count; ++a)
    for (int b = 0; b <= a; ++b) {
      const int i = free.index[a], j = free.index[b];
      double sum = 0;
      if (desired.kind == StepKind::regular)
        sum = at.hessian[i * n + j];
      else
        for (int c = 0; c < directions.count; ++c) {
          const double *z = directions.z + c * directions.count;
          sum += z[a] * directions.curvatures[c] * z[b];
        }
      cost[i * n + j] = cost[j * n + i] = sum;
    }
}

// The nearest step of the box to the desired one, in scratch.step; returns whether the desired one is
// outside. Only then `fill_cost` is called, with the matrix to fill. What is not a number becomes 0 in
// `desired`: no such value reaches a joint.
template <class FillCost>
SUPPLE_FLAT bool bound_step(int n, double *desired, const BoundsScratch &scratch, FillCost &&fill_cost) {
  bool outside = false;
  for (int i = 0; i < n; ++i) {
    if (!(std::fabs(desired[i]) < 1e300))
      desired[i] = 0;
    outside = outside || desired[i] > scratch.high[i] || desired[i] < scratch.low[i];
  }
  if (outside) {
    fill_cost(scratch.deviation_cost);
    nearest_in_box(scratch.deviation_cost, n, desired, scratch.low, scratch.high, scratch.nearest,
                   scratch.step);
  } else {
    for (int i = 0; i < n; ++i)
      scratch.step[i] = desired[i];
  }
  return outside;
}

// ---- ball joints, whose limits are a cone and a twist

// acceleration limit of a ball joint about an axis
SUPPLE_FN double acceleration_about(const JointBounds *bounds, Vec<double> axis) {
  const double parts[3] = {axis.x, axis.y, axis.z}, length = root(dot(axis, axis));
  double a = 1e300;
  for (int i = 0; i < 3; ++i)
    if (std::fabs(parts[i]) > 1e-12 * length)
      a = lesser(a, bounds[i].acceleration * length / std::fabs(parts[i]));
  return a;
}

// The step of a ball joint that brakes about the axis about which it turns.
SUPPLE_FN Vec<double> braking_turn(const JointBounds *bounds, Vec<double> v, double dt) {
  const double speed = root(dot(v, v));
  return (speed > 0 ? dt * positive(1 - acceleration_about(bounds, v) * dt / speed) : 0.0) * v;
}

// The step that turns a ball joint back inside along `inward`, all its axes together, so that it goes
// straight.
SUPPLE_FN void turn_inward(const Tracking &t, int first, Vec<double> inward, double inside,
                           Vec<double> braking, double dt, const BoundsScratch &scratch) {
  const double distance = root(dot(inward, inward));
  const double *low = scratch.low + first, *high = scratch.high + first;
  const double axis[3] = {inward.x / distance, inward.y / distance, inward.z / distance};
  double least = -1e300, most = 1e300;
  for (int i = 0; i < 3; ++i)
    if (std::fabs(axis[i]) > 1e-12) {
      const double a = low[i] / axis[i], b = high[i] / axis[i];
      least = larger(least, lesser(a, b));
      most = lesser(most, larger(a, b));
    }
  const double a = acceleration_about(t.bounds + first, inward);
  const double length = lesser(profile_step(distance + inside, t.law.limit_gain, 0.8 * a, dt),
                               braking_step(distance + inside, a, dt));
  double brake[3];
  store3(braking, brake);
  for (int i = 0; i < 3; ++i)
    scratch.step[first + i] =
        least <= most ? clip(clip(length, least, most) * axis[i], low[i], high[i]) : brake[i];
}

// Of the step in scratch.step, as much is taken as leaves way to brake; the rest of it is braking. Where
// even braking leads outside, after a change of limits, no step leads farther outside than braking does: so
// the limits before the change, which left way to brake, still hold.
SUPPLE_FN void leave_room_to_brake(const JointBounds *bounds, const Ball &ball, Vec<double> q,
                                   Vec<double> braking, double dt, double *step) {
  // how far outside it would get, if it braked after this step
  auto end_excess = [&](Vec<double> x) {
    const double length = root(dot(x, x));
    const double stretch = length > 0 ? 1 + length / (2 * acceleration_about(bounds, x) * dt * dt) : 1.0;
    return largest_excess(ball, q, stretch * x);
  };
  const Vec<double> x = load3(step);
  BallExcess allowed{1e-12, 1e-12};
  if (!is_beyond(end_excess(x), allowed))
    return;
  const BallExcess of_braking = end_excess(braking);
  allowed = {positive(of_braking.swing) + 1e-12, positive(of_braking.twist) + 1e-12};
  if (!is_beyond(end_excess(x), allowed))
    return;
  double kept = 0, refused = 1; // shares of the way from braking to x
  for (int turn = 0; turn < 24; ++turn) {
    const double share = 0.5 * (kept + refused);
    (is_beyond(end_excess(braking + share * (x - braking)), allowed) ? refused : kept) = share;
  }
  store3(braking + kept * (x - braking), step);
}

// the turn to the limits of a ball joint that is outside
SUPPLE_FN Vec<double> inward_turn(const Ball &ball, Vec<double> q) {
  return between(q, clamp_ball(q, load3(ball.axis), ball.swing, ball.low, ball.high));
}
SUPPLE_FN bool is_outside(Vec<double> inward) { return root(dot(inward, inward)) > 1e-9; }

// Whether the step x goes straight back inside. On the way the cone may be left farther while the twist comes
// back, and the other way round.
SUPPLE_FN bool goes_straight(Vec<double> x, Vec<double> inward) {
  const Vec<double> aside = cross(x, inward);
  return is_outside(inward) && !(dot(x, inward) < 0) &&
         dot(aside, aside) <= 1e-18 * dot(x, x) * dot(inward, inward);
}

// Keeps a ball joint within its limits; one that is outside turns back.
SUPPLE_FN void bound_ball(const Tracking &t, const Ball &ball, const ArmMemory &memory, double dt,
                          const BoundsScratch &scratch) {
  if (!is_limited(ball))
    return;
  const int k = ball.index;
  const JointBounds *bounds = t.bounds + k;
  const Vec<double> q = load3(memory.q + k), braking = braking_turn(bounds, load3(memory.velocity + k), dt);
  const Vec<double> inward = inward_turn(ball, q);
  if (is_outside(inward)) {
    const double inside = 1e-3 * lesser(1.0, lesser(ball.swing, ball.high - ball.low));
    turn_inward(t, k, inward, inside, braking, dt, scratch);
  }
  if (!goes_straight(load3(scratch.step + k), inward))
    leave_room_to_brake(bounds, ball, q, braking, dt, scratch.step + k);
}

SUPPLE_FN void bound_balls(const Tracking &t, const ArmMemory &memory, double dt,
                           const BoundsScratch &scratch) {
  for (int b = 0; b < t.problem.ball_count; ++b)
    bound_ball(t, t.problem.balls[b], memory, dt, scratch);
}

} // namespace SUPPLE_ISA
} // namespace supple
