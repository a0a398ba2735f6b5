// A solve by search: restarts in lanes, each abandoned when it stalls.
#pragma once
#include "supple/search/near_start.h"

// SUPPLE_ONCE: a function that several kernels of a host call and one compiles; it is never inlined there
#if defined(__GNUC__) && !defined(__CUDACC__)
#define SUPPLE_ONCE __attribute__((noinline)) SUPPLE_FN
#elif defined(_MSC_VER) && !defined(__CUDACC__)
#define SUPPLE_ONCE __declspec(noinline) SUPPLE_FN
#else
#define SUPPLE_ONCE SUPPLE_FN
#endif

namespace supple {
inline namespace SUPPLE_ISA {

// ---- Solutions ----

// Sorts solutions (rows of q) by their distance from the reference.
template <class T>
SUPPLE_FN void sort_solutions(const Problem &problem, const Search &search, const Request &request, int count,
                              double *q, RestartScratch<T> &scratch) {
  const int n = problem.n;
  auto distance = [&](const double *row) { return distance_from_reference(problem, search, request, row); };
  auto copy = [n](const double *from, double *to) {
    for (int l = 0; l < n; ++l)
      to[l] = from[l];
  };
  for (int i = 1; i < count; ++i) {
    copy(q + i * n, scratch.moved);
    const double moved_distance = distance(scratch.moved);
    int place = i;
    for (; place > 0 && distance(q + (place - 1) * n) > moved_distance; --place)
      copy(q + (place - 1) * n, q + place * n);
    copy(scratch.moved, q + place * n);
  }
}

SUPPLE_FN bool is_ball_value(const Problem &problem, int l) {
  for (int i = 0; i < problem.ball_count; ++i)
    if (l >= problem.balls[i].index && l < problem.balls[i].index + 3)
      return true;
  return false;
}

// whether all joints of two solutions are equal, but for whole periods
SUPPLE_FN bool is_same_solution(const Problem &problem, const Search &search, const double *a,
                                const double *b) {
  for (int l = 0; l < problem.n; ++l) {
    const SearchJoint &joint = search.joints[l];
    const double gap = a[l] - b[l], period = joint.period;
    const double rest = period > 0 ? gap - period * std::round(gap / period) : gap;
    if (!(std::fabs(rest) < SearchConstants::same_solution * joint.natural_size) &&
        !is_ball_value(problem, l))
      return false;
  }
  for (int i = 0; i < problem.ball_count; ++i) {
    const int l = problem.balls[i].index;
    const Vec<double> rotation = between(load3(a + l), load3(b + l));
    if (!(dot(rotation, rotation) < SearchConstants::same_solution * SearchConstants::same_solution))
      return false;
  }
  return true;
}

SUPPLE_FN bool is_new_solution(const Problem &problem, const Search &search, const double *q, int count,
                               const double *solution) {
  for (int i = 0; i < count; ++i)
    if (is_same_solution(problem, search, q + i * problem.n, solution))
      return false;
  return true;
}

// ---- One solve ----

SUPPLE_FN bool is_beyond_reach(const Search &search, const double *goal) {
  if (search.reach >= unbounded)
    return false;
  const Vec<double> away = goal_frame(goal).p - load3(search.reach_base);
  return dot(away, away) > search.reach * search.reach;
}

// How many restarts a goal is worth: fewer where it is out of reach, and never more than there are
// iterations.
SUPPLE_FN int restarts_for(const Search &search, const double *goal) {
  const int restarts =
      search.max_iterations < search.max_restarts ? search.max_iterations + 1 : search.max_restarts;
  if (restarts <= SearchConstants::unreachable_restarts)
    return restarts;
  return is_beyond_reach(search, goal) ? SearchConstants::unreachable_restarts : restarts;
}

// how many restarts the first batch has; none if several solutions are wanted
SUPPLE_FN int first_batch_for(const Search &search, const Request &request) {
  const int restarts = restarts_for(search, request.goals);
  if (request.wanted > 1)
    return 0;
  return restarts < SearchConstants::first_batch ? restarts : SearchConstants::first_batch;
}

// The state of one solve.
struct SolveState {
  int restarts, first_batch; // how many, at most and in the first batch
  int begun = 0;             // restarts so far
  int active = 0;            // lanes with a restart, as bits
  int decided = 0;           // restarts of the first batch that can change the solution no more, as bits
  int count = 0;             // solutions
  double rank = unbounded;   // of the solution so far: a lower one replaces it
  int winner = 0, winner_steps = 0; // the restart of that solution, and its steps

  SUPPLE_FLAT int whole_batch() const { return (1 << first_batch) - 1; }
};

// Begins the first restarts, one in each lane.
template <class T>
SUPPLE_FN void begin_lanes(const Problem &problem, const Search &search, const Request &request,
                           SolveState &state, RestartScratch<T> &scratch) {
  TableSeeds &seeds = scratch.seeds[0];
  seeds.count = 0;
  if (search.has_table)
    seeds.look_up(problem, search, request.goals);
  for (int i = 0; i < 12 * problem.target_count; ++i)
    scratch.step.goals[i] = splat<T>(request.goals[i]);
  for (int lane = 0; lane < Lane<T>::width; ++lane) {
    if (state.begun < state.restarts) {
      begin_restart(problem, search, request, state.begun++, lane, seeds, scratch);
      state.active |= 1 << lane;
    } else {
      idle_lane(problem, lane, scratch);
    }
  }
}

// Takes the solution of a lane that arrived at q, if it is better than the one so far, or new.
//
// In the first batch the earliest restart wins, whichever arrives first, so that a batch of problems, which
// runs its restarts one after another, gives the same solutions. With a start of the caller's the nearest
// solution wins, unless the start itself leads to one within accept_distance. Later, the first to arrive
// wins.
template <class T>
SUPPLE_APART void take_solution(const Problem &problem, const Search &search, const Request &request,
                                int lane, const T *q, SolveState &state, RestartScratch<T> &scratch,
                                double *solutions) {
  const int n = problem.n, restart = scratch.restart[lane];
  int steps;
  if (!collect(problem, search, request, lane, q, scratch.solution, steps, scratch)) {
    keep_candidate(problem, lane, q, scratch);
    return;
  }
  const double measured = distance_from_reference(problem, search, request, scratch.solution);
  const double distance = measured < 1e199 ? measured : 1e199;
  const bool accepted =
      request.start && restart == 0 && distance < search.accept_distance * search.accept_distance;
  const double rank = restart >= state.first_batch ? 1e200
                      : accepted                   ? -1
                      : request.start              ? distance
                                                   : restart;
  const bool several = request.wanted > 1;
  if (several ? state.count >= request.wanted ||
                    !is_new_solution(problem, search, solutions, state.count, scratch.solution)
              : !(rank < state.rank))
    return;
  const int row = several ? state.count : 0;
  for (int l = 0; l < n; ++l)
    solutions[row * n + l] = scratch.solution[l];
  state.count = row + 1;
  state.rank = rank;
  state.winner = restart;
  state.winner_steps = steps;
  if (accepted)
    state.decided = state.whole_batch();
  else if (!request.start && restart >= 0 && restart < state.first_batch)
    state.decided |= state.whole_batch() & ~((1 << restart) - 1); // later restarts cannot win
}

// Collects solutions and abandoned candidates from the lanes that ended.
template <class T>
SUPPLE_FN void collect_lanes(const Problem &problem, const Search &search, const Request &request,
                             const Advance<T> &step, SolveState &state, RestartScratch<T> &scratch,
                             double *solutions) {
  const int ended = step.arrived | step.abandoned;
  for (int lane = 0; lane < Lane<T>::width && ended; ++lane) {
    if (!(ended >> lane & 1))
      continue;
    state.active &= ~(1 << lane);
    if (scratch.restart[lane] >= 0 && scratch.restart[lane] < state.first_batch)
      state.decided |= 1 << scratch.restart[lane];
    if (step.abandoned >> lane & 1)
      keep_candidate(problem, lane, step.q, scratch);
    else
      take_solution(problem, search, request, lane, step.q, state, scratch, solutions);
  }
}

// Begins the next restarts in free lanes. With all solutions found only the first batch goes on.
template <class T>
SUPPLE_FN void refill_lanes(const Problem &problem, const Search &search, const Request &request,
                            const Advance<T> &step, SolveState &state, RestartScratch<T> &scratch) {
  for (int lane = 0; lane < Lane<T>::width; ++lane) {
    const bool needed = state.count < request.wanted || state.begun < state.first_batch;
    if (state.begun >= state.restarts || !needed)
      return;
    if (state.active >> lane & 1)
      continue;
    const bool partial = problem.target_count > 1 && step.abandoned >> lane & 1 &&
                         state.begun % SearchConstants::whole_seed_every &&
                         begin_partial_restart(problem, search, state.begun, lane, step.q, scratch);
    if (!partial)
      begin_restart(problem, search, request, state.begun, lane, scratch.seeds[0], scratch);
    ++state.begun;
    state.active |= 1 << lane;
  }
}

// More restarts where the nearest joint values do not arrive. Often a wrist is stopped there at a limit, and
// the same wrist turned over arrives, or a joint at its other limit does. Where they miss the goals by
// little, the goals can probably be met, by few joint values: many more restarts follow, in a box round them.
// The solution goes to `solution` (n), which has the nearest joint values; false if none arrives.
template <class T>
SUPPLE_FN bool search_round_nearest(const Problem &problem, const Search &search, const Request &request,
                                    RestartScratch<T> &scratch, Found &found, double *solution) {
  constexpr int W = Lane<T>::width;
  for (int t = 0; t < problem.target_count; ++t)
    if (problem.targets[t].masses.count)
      return false;
  const int flips = flip_wrists(problem, search, solution, solution, 1e100, scratch);
  const bool near_miss =
      found.squared_error < SearchConstants::near_miss && !is_beyond_reach(search, request.goals);
  const int box_seeds = near_miss ? SearchConstants::near_miss_restarts : 0;
  OppositeLimits opposite;
  int flip = 0, box_seed = 0, begun = 0, active = 0;
  auto next_seed = [&](double *row) {
    if (flip < flips) {
      for (int l = 0; l < problem.n; ++l)
        row[l] = scratch.nearby.flipped[flip * problem.n + l];
      ++flip;
      return true;
    }
    if (opposite.take(problem, search, solution, row))
      return true;
    if (box_seed == box_seeds)
      return false;
    seed_round_start(problem, search, solution, box_seed++, SearchConstants::near_miss_box, row);
    return true;
  };
  auto fill_lanes = [&] {
    for (int lane = 0; lane < W; ++lane) {
      if (active >> lane & 1 || !next_seed(scratch.seed))
        continue;
      reset_lane(-1, false, lane, scratch);
      for (int l = 0; l < problem.n; ++l)
        put(scratch.step.q[l], lane, scratch.seed[l]);
      active |= 1 << lane;
      ++begun;
    }
  };
  fill_lanes();
  for (int lane = 1; lane < W && active; ++lane)
    if (!(active >> lane & 1))
      idle_lane(problem, lane, scratch);
  for (; active && !budget_is_spent<T>(search, request, found); ++found.iterations) {
    const Advance<T> step = advance(problem, search, active, scratch);
    active &= ~(step.arrived | step.abandoned);
    for (int lane = 0, steps; lane < W; ++lane)
      if (step.arrived >> lane & 1 &&
          collect(problem, search, request, lane, step.q, scratch.solution, steps, scratch)) {
        for (int l = 0; l < problem.n; ++l)
          solution[l] = scratch.solution[l];
        found.restarts += begun;
        return true;
      }
    fill_lanes();
  }
  found.restarts += begun;
  return false;
}

// Restarts in lanes until there are enough solutions. Solutions go to rows of `solutions` (wanted x n),
// sorted by distance from the reference, and their number to `count`; if that is 0, row 0 has the nearest
// joint values. `found`: what was spent before.
template <class T>
SUPPLE_FN Found search_restarts(const Problem &problem, const Search &search, const Request &request,
                                RestartScratch<T> &scratch, Found found, double *solutions, int &count) {
  SolveState state{restarts_for(search, request.goals), first_batch_for(search, request)};
  begin_lanes(problem, search, request, state, scratch);
  for (; state.active; ++found.iterations) {
    const Advance<T> step = advance(problem, search, state.active, scratch);
    collect_lanes(problem, search, request, step, state, scratch, solutions);
    if (state.count >= request.wanted && state.decided == state.whole_batch())
      break;
    if (budget_is_spent<T>(search, request, found)) {
      if (!state.count)
        found.outcome = out_of_budget;
      for (int lane = 0; lane < Lane<T>::width; ++lane)
        if (state.active >> lane & 1)
          keep_candidate(problem, lane, step.q, scratch);
      break;
    }
    refill_lanes(problem, search, request, step, state, scratch);
  }
  found.restarts += state.begun;
  count = state.count;
  if (!count) {
    find_nearest(problem, search, request, scratch, found, solutions);
    if (found.outcome == stuck && search_round_nearest(problem, search, request, scratch, found, solutions))
      found.outcome = arrived;
    count = found.outcome == arrived;
    return found;
  }
  found.outcome = arrived;
  if (state.winner < state.first_batch) {
    found.iterations = state.winner_steps;
    found.restarts = request.start ? state.first_batch : state.winner + 1;
  }
  sort_solutions(problem, search, request, count, solutions, scratch);
  return found;
}

// One solve, as search_restarts; with one solution and a start, the nearest. Where there is no table or there
// is slack, the nearest of the first batch of restarts counts too.
template <class T>
SUPPLE_ONCE Found search_one(const Problem &problem, const Search &search, const Request &request,
                             RestartScratch<T> &scratch, double *solutions, int &count) {
  if (request.deadline.start)
    request.deadline.start(request.deadline.clock);
  scratch.step.deadline = &request.deadline;
  scratch.candidate_count = 0;
  const Found nothing{stuck, 0, 0, 0};
  const bool nearest = search.nearest && request.start && request.wanted == 1;
  if (!nearest || is_beyond_reach(search, request.goals))
    return search_restarts(problem, search, request, scratch, nothing, solutions, count);
  Search within = search;
  within.joints = search.near_joints ? search.near_joints : search.joints;
  const Found near_start = search_near_start(problem, within, request, scratch, solutions, count);
  if (!count)
    return search_restarts(problem, search, request, scratch, near_start, solutions, count);
  const double distance = distance_from_reference(problem, search, request, solutions);
  const bool accepted = distance < search.accept_distance * search.accept_distance;
  if (accepted || (search.has_table && !search.has_slack))
    return near_start;
  double *other = scratch.nearby.known; // no longer needed
  const Found restarted = search_restarts(problem, search, request, scratch, nothing, other, count);
  const bool nearer = count && distance_from_reference(problem, search, request, other) < distance;
  count = 1;
  if (!nearer)
    return near_start;
  for (int l = 0; l < problem.n; ++l)
    solutions[l] = other[l];
  return restarted;
}

} // namespace SUPPLE_ISA
} // namespace supple
