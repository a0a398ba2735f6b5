// Recovery: an arm in a local minimum goes to other joint values, which reach the command; its status is then
// TrackingStatus::returning. They are searched from where the arm last followed, one step per tick.
//
// An arm that lost the command can stand in a local minimum long after the command is back in reach.
//   recover_off    it stays there
//   recover_slow   it returns after the command has rested for Law::return_delay, if no joint has to turn by
//                  more than Law::return_turn, and if the residual never grows by more than
//                  Law::return_detour while the joints move straight; announced, and no faster than
//                  Law::return_speed
//   recover_free   it returns after Law::recovery_delay, as fast as the bounds allow, by any way; it
//                  goes on searching while the command rests, up to `most_free_returns`
#pragma once
#include "supple/tracking/recovery_search.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Returns that may be started while the command rests; after them the arm stays. A free recovery searches
// anywhere, and may try more often.
constexpr int most_returns = 3, most_free_returns = 10;
// s: if the arm stands for this long during a return, a limit is in its way, such as the cone of a ball joint
constexpr double stuck_return_time = 0.5;

// Whether a return has failed: the arm stands, but not where it was to go.
template <int N, int M>
SUPPLE_FN bool is_stuck_in_return(const TickSetup<N, M> &setup, const ArmMemory &memory) {
  ArmScalars &scalars = *memory.scalars;
  const double square = dot_rows<N>(memory.velocity, memory.velocity, setup.n());
  scalars.standing_time = square < squared(standing_speed) ? scalars.standing_time + setup.dt : 0;
  return scalars.standing_time > stuck_return_time;
}

// of Law::recovery_delay: from then on a free return is announced
constexpr double free_announcement = 0.5;

// Whether the arm goes to recovery_q in this tick, and whether that is announced.
SUPPLE_FLAT bool is_recovering(const Tracking &t, const ArmScalars &scalars) {
  return t.recovery == recover_free ? scalars.local_minimum_time >= t.law.recovery_delay
                                    : scalars.recovery == recovery_moving;
}
SUPPLE_FLAT bool is_returning(const Tracking &t, const ArmScalars &scalars) {
  return t.recovery == recover_free
             ? scalars.local_minimum_time >= free_announcement * t.law.recovery_delay
             : scalars.recovery >= recovery_announced && scalars.recovery <= recovery_moving;
}

// of the speed limits: what a joint uses on a slow return, so that an operator can stop it
constexpr double return_joint_speed = 0.25;

// ---- free

// Searches while the arm does not follow. An arm that follows needs no recovery.
template <int N, int M>
SUPPLE_FN void update_free_recovery(const TickSetup<N, M> &setup, const EvaluationSummary &summary,
                                    const Command *commands, const ArmMemory &memory,
                                    const RecoveryScratch &scratch) {
  ArmScalars &scalars = *memory.scalars;
  if (scalars.command_rest_time == 0)
    scalars.recovery_count = scalars.recovery_searches = 0;
  const bool recovering = is_recovering(setup.tracking, scalars);
  const bool stuck = recovering && is_stuck_in_return(setup, memory);
  const bool all_tried = !recovering && scalars.recovery_count >= most_free_returns;
  if (summary.residual_norm < setup.law.following_error || stuck || all_tried) {
    scalars.recovery = recovery_idle;
    scalars.local_minimum_time = scalars.standing_time = 0;
    return;
  }
  // recovery_q is one tick behind the command, and the command may be read one later
  const double tolerance = reached_error * setup.law.following_error + 2 * summary.command_speed * setup.dt;
  search_recovery(setup.tracking, commands, tolerance, memory, scratch);
  if (scalars.recovery != recovery_reached)
    scalars.local_minimum_time = 0;
  else if (scalars.local_minimum_time == 0)
    choose_turns(setup.tracking, memory);
}

// a step that removes a smaller share of the squared residual removes hardly any
constexpr double stuck_share = 0.1;

// Adds this tick to the time in a local minimum: hardly any of the residual is reduced from here, though
// other joint values reach the command.
template <int N, int M>
SUPPLE_FN void watch_local_minimum(const TickSetup<N, M> &setup, const EvaluationSummary &summary,
                                   double reducible, bool settled, ArmScalars &scalars) {
  if (!(settled || reducible < stuck_share) || scalars.recovery != recovery_reached)
    return;
  scalars.local_minimum_time += setup.dt * lesser(1.0, squared(summary.residual_norm / setup.law.lost_error));
  scalars.recovery_count += is_recovering(setup.tracking, scalars); // a return begins
}

// ---- slow

// samples of the way that are checked, one a tick
constexpr int return_samples = 32;
// searches that are begun while the command rests: half from the anchor, half from rest
constexpr int return_searches = 6;

// rad: of the excess of a ball joint's limits that is rounding
constexpr double ball_rounding = 1e-6;

// Whether a ball joint leaves its limits on its straight way.
SUPPLE_FN bool leaves_limits(const Ball &ball, const double *q, const double *way) {
  if (!is_limited(ball))
    return false;
  const BallExcess excess = largest_excess(ball, load3(q + ball.index), load3(way + ball.index));
  return is_beyond(excess, {ball_rounding, ball_rounding});
}

// Whether sample number `sample` of the straight way of the joints to recovery_q is allowed.
SUPPLE_FN bool is_allowed(const Tracking &t, const Command *commands, double residual_norm, int sample,
                          const ArmMemory &memory, const RecoveryScratch &scratch) {
  displacement(t, memory.q, memory.recovery_q, scratch.dq);
  for (int b = 0; b < t.problem.ball_count; ++b)
    if (leaves_limits(t.problem.balls[b], memory.q, scratch.dq))
      return false; // the arm would go another way than the one that is checked
  for (int i = 0; i < t.problem.n; ++i) {
    if (!(std::fabs(scratch.dq[i]) < t.law.return_turn))
      return false;
    scratch.dq[i] *= t.unit[i] * sample / return_samples;
  }
  for (int k = 0; k < t.problem.target_count; ++k)
    std::memcpy(scratch.goals + 12 * k, commands[k].goal, sizeof commands[k].goal);
  move(t.problem, false, memory.q, scratch.dq, scratch.preferred);
  evaluate(t.problem, scratch.preferred, scratch.goals, false, scratch.evaluation);
  const double square = dot_rows<0>(scratch.evaluation.e, scratch.evaluation.e, t.problem.rows);
  return t.weight_scale * root(square) < residual_norm + t.law.return_detour;
}

// rad and rad/s: a joint that is nearer and slower has arrived
constexpr double arrived_distance = 1e-4, arrived_speed = 1e-3;

// Whether the arm stands at recovery_q.
SUPPLE_FN bool is_there(const Tracking &t, const ArmMemory &memory, const RecoveryScratch &scratch) {
  bool there = true;
  displacement(t, memory.q, memory.recovery_q, scratch.dq);
  for (int i = 0; i < t.problem.n; ++i)
    there =
        there && std::fabs(scratch.dq[i]) < arrived_distance && std::fabs(memory.velocity[i]) < arrived_speed;
  return there;
}

// Begins the motion of a slow return. Where it began is kept in recovery_previous_q, which it does not need.
SUPPLE_FN void begin_return(const Tracking &t, double residual_norm, const ArmMemory &memory) {
  ArmScalars &scalars = *memory.scalars;
  scalars.recovery = recovery_moving;
  scalars.standing_time = 0;
  scalars.return_bound = residual_norm + t.law.return_detour;
  std::memcpy(memory.recovery_previous_q, memory.q, t.problem.n * sizeof(double));
}

// A slow return ends where it was to go. One that leaves the way that was checked, as where a ball joint at
// its limit is left behind by the others, or that is stuck, goes back to where it began; it is the last.
template <int N, int M>
SUPPLE_FN void watch_return(const TickSetup<N, M> &setup, double residual_norm, const ArmMemory &memory,
                            const RecoveryScratch &scratch) {
  ArmScalars &scalars = *memory.scalars;
  const bool goes_back = scalars.recovery_count >= most_returns, stuck = is_stuck_in_return(setup, memory);
  if (is_there(setup.tracking, memory, scratch) || (goes_back && stuck)) {
    scalars.recovery = recovery_refused; // there, and the command moved a little since; or back
  } else if (!goes_back && (stuck || residual_norm > scalars.return_bound)) {
    scalars.recovery_count = most_returns;
    scalars.standing_time = 0;
    std::memcpy(memory.recovery_q, memory.recovery_previous_q, setup.n() * sizeof(double));
  }
}

// One tick of a slow recovery: search, check of the way, announcement, motion.
template <int N, int M>
SUPPLE_FN void update_slow_recovery(const TickSetup<N, M> &setup, const EvaluationSummary &summary,
                                    const Command *commands, bool settled, const ArmMemory &memory,
                                    const RecoveryScratch &scratch) {
  const Law &law = setup.law;
  ArmScalars &scalars = *memory.scalars;
  if (scalars.command_rest_time == 0)
    scalars.recovery_count = 0;
  if (scalars.command_rest_time == 0 || summary.residual_norm < law.following_error) {
    scalars.recovery_count += scalars.recovery == recovery_moving;
    scalars.recovery = recovery_idle;
    scalars.recovery_searches = 0;
    return;
  }
  switch (scalars.recovery) {
  case recovery_idle:
    if (scalars.recovery_searches >= return_searches || scalars.recovery_count >= most_returns) {
      scalars.recovery = recovery_refused;
      return;
    }
    if (!settled || scalars.command_rest_time < law.return_delay)
      return;
    [[fallthrough]];
  case recovery_searching:
    search_recovery(setup.tracking, commands, reached_error * law.following_error, memory, scratch);
    scalars.recovery_samples = 0;
    if (scalars.recovery == recovery_reached)
      choose_turns(setup.tracking, memory);
    return;
  case recovery_reached:
    if (!is_allowed(setup.tracking, commands, summary.residual_norm, ++scalars.recovery_samples, memory,
                    scratch)) {
      scalars.recovery = recovery_idle;
      scalars.recovery_from_rest = !scalars.recovery_from_rest;
    } else if (scalars.recovery_samples == return_samples) {
      scalars.recovery = recovery_announced;
      scalars.recovery_time = 0;
    }
    return;
  case recovery_announced:
    scalars.recovery_time += setup.dt;
    if (scalars.recovery_time >= law.announcement)
      begin_return(setup.tracking, summary.residual_norm, memory);
    return;
  case recovery_moving:
    watch_return(setup, summary.residual_norm, memory, scratch);
    return;
  case recovery_refused:
    return;
  }
}

// ---- both

template <int N, int M>
SUPPLE_FN void update_recovery(const TickSetup<N, M> &setup, const TickEvaluation &at,
                               const EvaluationSummary &summary, const Command *commands, bool settled,
                               const ArmMemory &memory, const RecoveryScratch &scratch) {
  // what only later goals miss moves no earlier one
  double first = 0;
  for (int i = 0; i < setup.m(); ++i)
    if (setup.tracking.row_level[i] < setup.tracking.first_levels)
      first += squared(at.residual[i]);
  if (!(root(first) >= setup.law.following_error)) {
    memory.scalars->recovery = recovery_idle;
    memory.scalars->local_minimum_time = 0;
  } else if (setup.tracking.recovery == recover_free)
    update_free_recovery(setup, summary, commands, memory, scratch);
  else if (memory.scalars->twist_active)
    memory.scalars->recovery = recovery_idle;
  else if (setup.tracking.recovery == recover_slow)
    update_slow_recovery(setup, summary, commands, settled, memory, scratch);
}

// Ball joints whose straight way to recovery_q leaves their limits go towards their rotation of zero first,
// which is the middle of their cone. Where zero is outside their twist, the return is given up.
SUPPLE_FN void go_round_ball_limits(const Tracking &t, const ArmMemory &memory, double *way) {
  for (int b = 0; b < t.problem.ball_count; ++b) {
    const Ball &ball = t.problem.balls[b];
    if (leaves_limits(ball, memory.q, way))
      store3(between(load3(memory.q + ball.index), Vec<double>{0, 0, 0}), way + ball.index);
  }
}

// The desired step of an arm that recovers: each joint straight to recovery_q, whose own motion is fed
// forward; slowly, where the mode says so.
template <int N, int M>
SUPPLE_FN DesiredStep recovery_step(const TickSetup<N, M> &setup, const TickEvaluation &at,
                                    const ArmMemory &memory, const ApproachScratch &scratch,
                                    double *joint_weights) {
  const Displacements &x = scratch.displacements;
  const bool slow = setup.tracking.recovery == recover_slow;
  const int n = setup.n(), m = setup.m();
  displacement(setup.tracking, memory.q, memory.recovery_q, x.feedback);
  go_round_ball_limits(setup.tracking, memory, x.feedback);
  displacement(setup.tracking, memory.recovery_previous_q, memory.recovery_q, x.feedforward);
  for (int i = 0; i < n; ++i) {
    x.feedforward[i] = slow ? 0 : x.feedforward[i];
    x.feedback[i] -= x.feedforward[i];
    x.preferred[i] = scratch.limit_side[i] = 0;
    joint_weights[i] = 1;
  }
  combine(setup, memory, nullptr, nullptr, scratch); // nothing is preferred
  if (slow) {
    double square = 0;
    for (int l = 0; l < m; ++l) {
      double sum = 0;
      for (int i = 0; i < n; ++i)
        sum += at.J[i * m + l] * scratch.step[i];
      square += sum * sum;
    }
    double fastest = root(square) / (setup.law.return_speed * setup.dt);
    for (int i = 0; i < n; ++i)
      if (setup.tracking.bounds[i].speed > 0)
        fastest = larger(fastest, std::fabs(scratch.step[i]) /
                                      (return_joint_speed * setup.tracking.bounds[i].speed * setup.dt));
    for (int i = 0; i < n && fastest > 1; ++i)
      scratch.step[i] /= fastest;
  }
  DesiredStep desired{};
  desired.kind = StepKind::recovery;
  desired.reducible = 1;
  return desired;
}

} // namespace SUPPLE_ISA
} // namespace supple
