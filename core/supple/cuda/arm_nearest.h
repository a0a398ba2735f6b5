// The nearest joint values of an arm when no restart arrives: find_nearest for the candidates of several
// lanes.
#pragma once
#include "supple/cuda/arm_search.h"

namespace supple {
inline namespace SUPPLE_ISA {

// The best of the restarts of a lane that were abandoned.
template <int N>
struct ArmCandidate {
  float q[N]; // in the order of the chain
  float error;
};

template <int N>
SUPPLE_FLAT void keep_candidate(const ArmDescent<N> &descent, ArmCandidate<N> &candidate) {
  if (!(descent.error < candidate.error))
    return;
  candidate.error = descent.error;
  SUPPLE_UNROLL(16)
  for (int k = 0; k < N; ++k)
    candidate.q[k] = descent.q[k];
}

// One descent of descend_lanes (search/nearest.h), with a step of an arm.
template <int N>
struct NearDescent {
  double q[N], best[N];
  LoweringDescent<double> state;
  bool arrived;
};

template <int N>
SUPPLE_FN void advance_near_descent(const SolverBlock &block, const Arm<double, N> &arm,
                                    const Frame<double> &goal, NearDescent<N> &descent) {
  double next[N];
  LoweringDescent<double> &state = descent.state;
  const ArmError<double> now =
      step_in_double(arm, goal, descent.q, true, state.damping_factor * state.far_factor, next);
  const bool better = state.judge(now.squared_error);
  state.converged = state.converged || !(now.squared_error < 1e30);
  descent.arrived = better && is_within_tolerance(block.search, now.squared_distance, now.squared_angle);
  SUPPLE_UNROLL(16)
  for (int k = 0; k < N; ++k) {
    descent.best[k] = better ? descent.q[k] : descent.best[k];
    descent.q[k] = better ? next[k] : descent.best[k];
  }
}

template <int N>
SUPPLE_FN void begin_near_descent(const Arm<double, N> &arm, const ArmCandidate<N> &candidate,
                                  const Frame<double> &goal, NearDescent<N> &descent) {
  SUPPLE_UNROLL(16)
  for (int k = 0; k < N; ++k)
    descent.q[k] = candidate.error < 1e30f ? candidate.q[k] : 0;
  to_double(arm, descent.q);
  double next[N];
  const ArmError<double> error = step_in_double(arm, goal, descent.q, true, SearchConstants::damping, next);
  descent.state = {};
  descent.state.far_factor = LoweringDescent<double>::share_of_far(error.squared_error);
  descent.state.converged = !(error.squared_error < 1e30);
  descent.arrived = false;
  SUPPLE_UNROLL(16)
  for (int k = 0; k < N; ++k)
    descent.best[k] = descent.q[k];
}

// The nearest joint values, from the candidate of each lane: a few steps from all, then many from the best.
template <int N, class Lanes>
SUPPLE_APART void nearest_in_lanes(const SolverBlock &block, const Arm<double, N> &arm,
                                   const double *goal_numbers, const Lanes &lanes,
                                   const ArmCandidate<N> *candidates, ArmFound<N> &found) {
  const Frame<double> goal = goal_frame(goal_numbers);
  NearDescent<N> descent[Lanes::own];
  bool flag[Lanes::own];
  lanes.each([&](int i) { begin_near_descent(arm, candidates[i], goal, descent[i]); });
  int steps = 0, winner = -1;
  for (; steps <= SearchConstants::long_descent; ++steps) {
    if (steps == SearchConstants::short_descent) { // the best lanes go on
      int better[Lanes::own];
      lanes.each([&](int i) { better[i] = 0; });
      for (int lane = 0; lane < lanes.count(); ++lane) {
        const double other = lanes.from(lane, [&](int i) { return descent[i].state.squared_error; });
        lanes.each([&](int i) {
          const double own = descent[i].state.squared_error;
          better[i] += other < own || (other == own && lane < lanes.lane(i));
        });
      }
      lanes.each([&](int i) {
        bool &converged = descent[i].state.converged;
        converged = converged || better[i] >= SearchConstants::best_candidates;
      });
    }
    lanes.each([&](int i) {
      if (!descent[i].state.converged)
        advance_near_descent(block, arm, goal, descent[i]);
      flag[i] = descent[i].arrived;
    });
    winner = lanes.first(flag);
    if (winner >= 0)
      break;
    lanes.each([&](int i) { flag[i] = !descent[i].state.converged; });
    if (lanes.first(flag) < 0)
      break;
  }
  found.outcome = winner >= 0 ? int(arrived) : int(stuck);
  found.iterations = steps;
  double least = 1e300;
  for (int lane = 0; lane < lanes.count() && found.outcome != arrived; ++lane) {
    const double error = lanes.from(lane, [&](int i) { return descent[i].state.squared_error; });
    winner = error < least || lane == 0 ? lane : winner;
    least = error < least ? error : least;
  }
  SUPPLE_UNROLL(16)
  for (int k = 0; k < N; ++k)
    found.q[k] = lanes.from(winner, [&](int i) { return descent[i].best[k]; });
  wrap_arm(arm, found.q);
  double next[N];
  found.error = step_in_double(arm, goal, found.q, false, SearchConstants::damping, next);
}

} // namespace SUPPLE_ISA
} // namespace supple
