// The nearest solution to the caller's start: a descent from the start, then rounds of descents from other
// seeds.
//
// What a round begins with depends on the rounds before it, never on the order in which its lanes end: the
// solution does not depend on the width of lanes.
#pragma once
#include "supple/search/nearest.h"

namespace supple {
inline namespace SUPPLE_ISA {

// The state of a solve, and its solution.
struct NearState {
  double squared_distance = unbounded; // of the solution from the start, in weighted sizes
  int steps = 0;                       // of the descent that found it
  int begun = 0;                       // descents
  int known = 0;                       // solutions that differ
  bool ended = false;                  // no budget is left
  double *solution;

  SUPPLE_FLAT double distance() const { return std::sqrt(squared_distance); }
};

// Lanes that will end farther from the start than `bound` allows, as bits.
template <class T>
SUPPLE_FN int far_lanes(const Problem &problem, const Search &search, double bound, const T *q,
                        RestartScratch<T> &scratch) {
  const Mask<T> close = scratch.squared_error < splat<T>(SearchConstants::drop_error);
  if (!(bound < 1e100) || !any(close))
    return 0;
  SlideScratch<T> &slide = scratch.slide;
  if (!search.moves_to_start) {
    find_displacement(problem, search, q, slide);
    slide.reduction = splat<T>(0);
  }
  // |d| - reduction / |d| > bound
  const T allowed = root(slide.squared_distance) * splat<T>(bound + SearchConstants::drop_margin);
  return bits_of(close & (slide.squared_distance - slide.reduction > allowed));
}

// Takes the solution of a lane that arrived at q if it is the nearest so far, and remembers it if it is new.
template <class T>
SUPPLE_FN void take_near_solution(const Problem &problem, const Search &search, const Request &request,
                                  int lane, const T *q, NearState &state, RestartScratch<T> &scratch) {
  const int n = problem.n;
  constexpr double gap = SearchConstants::known_gap;
  int steps;
  if (!collect(problem, search, request, lane, q, scratch.solution, steps, scratch))
    return keep_candidate(problem, lane, q, scratch);
  const double distance = distance_from_reference(problem, search, request, scratch.solution);
  bool fresh = state.known < SearchConstants::known_solutions;
  for (int i = 0; i < state.known && fresh; ++i)
    fresh = !(squared_gap(problem, search, scratch.solution, scratch.nearby.known + i * n) < gap * gap);
  for (int l = 0; l < n && fresh; ++l)
    scratch.nearby.known[state.known * n + l] = scratch.solution[l];
  state.known += fresh;
  if (!(distance < state.squared_distance))
    return;
  state.squared_distance = distance;
  state.steps = steps;
  for (int l = 0; l < n; ++l)
    state.solution[l] = scratch.solution[l];
}

// Descents from all seeds that `next_seed(row)` gives, until it returns false; in lanes as they become free.
template <class T, class NextSeed>
SUPPLE_FN void run_round(const Problem &problem, const Search &search, const Request &request,
                         NextSeed next_seed, NearState &state, RestartScratch<T> &scratch, Found &found) {
  constexpr int W = Lane<T>::width;
  const double bound = state.distance();
  int active = 0;
  auto fill_lanes = [&] {
    for (int lane = 0; lane < W; ++lane) {
      if (active >> lane & 1 || !next_seed(scratch.seed))
        continue;
      reset_lane(state.begun, state.begun == 0, lane, scratch);
      ++state.begun;
      for (int l = 0; l < problem.n; ++l)
        put(scratch.step.q[l], lane, scratch.seed[l]);
      active |= 1 << lane;
    }
  };
  fill_lanes();
  for (int lane = 1; lane < W && active; ++lane)
    if (!(active >> lane & 1))
      idle_lane(problem, lane, scratch);
  for (; active; ++found.iterations) {
    const Advance<T> step = advance_near_start(problem, search, active, scratch);
    int ended = step.arrived | step.abandoned;
    ended |= active & far_lanes(problem, search, bound, step.q, scratch);
    active &= ~ended;
    for (int lane = 0; lane < W && (ended | step.met); ++lane) {
      if ((step.arrived | step.met) >> lane & 1)
        take_near_solution(problem, search, request, lane, step.q, state, scratch);
      else if (step.abandoned >> lane & 1)
        keep_candidate(problem, lane, step.q, scratch);
    }
    if (ended)
      fill_lanes();
    // half of the iterations are left for the search that follows if no solution is found
    state.ended = active && (2LL * (found.iterations + 1) * W > search.max_iterations ||
                             budget_is_spent<T>(search, request, found));
    if (state.ended)
      return;
  }
}

// Wrists of a solution turned over, those within `bound` of the start, into scratch.nearby.flipped; returns
// how many.
template <class T>
SUPPLE_APART int flip_wrists(const Problem &problem, const Search &search, const double *solution,
                             const double *start, double bound, RestartScratch<T> &scratch) {
  int count = 0;
  for (int t = 0; t < problem.target_count; ++t) {
    const Chain &chain = problem.targets[t].chain;
    if (chain.axes != chain.count) // balls
      continue;
    end_effector(problem.targets[t], solution, scratch.nearby.axes);
    for (int k = 0; k + 3 <= chain.count && count < SearchConstants::flips; ++k) {
      double *row = scratch.nearby.flipped + count * problem.n;
      count += flip_wrist(problem, search, start, chain, k, scratch.nearby.axes, solution, row) &&
               squared_gap(problem, search, row, start) < bound * bound;
    }
  }
  return count;
}

// A seed of the table that is near the start and not near a known solution, into `row`; false: there is none.
template <class T>
SUPPLE_FN bool take_sample(const Problem &problem, const Search &search, const double *start, double bound,
                           int known, double *row, RestartScratch<T> &scratch) {
  constexpr double gap = SearchConstants::near_solution;
  while (scratch.nearby.samples->take(problem, search, start, bound, row)) {
    bool fresh = true;
    for (int i = 0; i < known && fresh; ++i)
      fresh = !(squared_gap(problem, search, row, scratch.nearby.known + i * problem.n) < gap * gap);
    if (fresh)
      return true;
  }
  return false;
}

// Rounds of descents: wrists of the last solution turned over, seeds round the start, samples of the table.
template <class T>
SUPPLE_FN void run_rounds(const Problem &problem, const Search &search, const Request &request,
                          NearState &state, RestartScratch<T> &scratch, Found &found) {
  const bool many = search.moves_to_start || !search.has_table;
  const int box_seeds = many ? SearchConstants::many_box_seeds : SearchConstants::near_box_seeds;
  int box_seed = 0, samples = SearchConstants::near_table_seeds;
  double last_flipped = unbounded; // squared distance of the solution whose wrists were turned over
  for (bool some = true; some && !state.ended;) {
    const double bound = state.distance() + SearchConstants::near_margin;
    const double box = SearchConstants::near_box * lesser(state.distance(), 4.0);
    const int known = state.known;
    int free_lanes = SearchConstants::near_round, flip = 0, flips = 0;
    if (state.squared_distance < last_flipped)
      flips = flip_wrists(problem, search, state.solution, request.start,
                          state.distance() + SearchConstants::flip_margin, scratch);
    last_flipped = state.squared_distance;
    some = false;
    auto next_seed = [&](double *row) {
      if (!free_lanes)
        return false;
      if (flip < flips) {
        for (int l = 0; l < problem.n; ++l)
          row[l] = scratch.nearby.flipped[flip * problem.n + l];
        ++flip;
      } else if (box_seed < box_seeds) {
        seed_round_start(problem, search, request.start, box_seed++, box, row);
      } else if (!samples || !take_sample(problem, search, request.start, bound, known, row, scratch)) {
        return false;
      } else {
        --samples;
      }
      --free_lanes;
      some = true;
      return true;
    };
    run_round(problem, search, request, next_seed, state, scratch, found);
  }
}

// Slides the nearest of the known solutions once more, with more precision.
template <class T>
SUPPLE_FN void refine_solutions(const Problem &problem, const Search &search, const Request &request,
                                NearState &state, RestartScratch<T> &scratch, Found &found) {
  scratch.slide.limits = fine_slide;
  const int known = state.known;
  int taken = 0;
  double last = -1; // squared distance of the solution before
  auto next_seed = [&](double *row) {
    double least = unbounded;
    for (int i = 0; i < known; ++i) {
      const double *solution = scratch.nearby.known + i * problem.n;
      const double distance = distance_from_reference(problem, search, request, solution);
      if (!(distance > last && distance < least))
        continue;
      least = distance;
      for (int l = 0; l < problem.n; ++l)
        row[l] = solution[l];
    }
    last = least;
    return least < unbounded && taken++ < SearchConstants::refined_solutions;
  };
  run_round(problem, search, request, next_seed, state, scratch, found);
}

// The nearest solution to the start, into `solution` (n); count: 1, or 0 if none was found, which does not
// mean that there is none.
template <class T>
SUPPLE_FN Found search_near_start(const Problem &problem, const Search &search, const Request &request,
                                  RestartScratch<T> &scratch, double *solution, int &count) {
  Found found{stuck, 0, 0, 0};
  NearState state;
  state.solution = solution;
  for (int i = 0; i < 12 * problem.target_count; ++i)
    scratch.step.goals[i] = splat<T>(request.goals[i]);
  for (int l = 0; l < problem.n; ++l)
    scratch.slide.start[l] = splat<T>(request.start[l]);
  scratch.slide.limits = search.has_slack ? slack_slide : coarse_slide;
  TableSeeds &samples = scratch.seeds[0];
  samples.count = 0;
  auto only_start = [&](double *row) {
    if (state.begun)
      return false;
    make_seed(problem, search, request, 0, samples, scratch.nearby.axes, row);
    return true;
  };
  run_round(problem, search, request, only_start, state, scratch, found);
  if (!(state.distance() < search.accept_distance) && !state.ended) {
    *scratch.nearby.samples = {};
    if (search.has_table) {
      scratch.nearby.samples->add_cells(problem, search, request, samples);
      scratch.nearby.samples->sort(state.distance() + SearchConstants::near_margin);
    }
    run_rounds(problem, search, request, state, scratch, found);
    if (search.moves_to_start && state.known && !state.ended)
      refine_solutions(problem, search, request, state, scratch, found);
  }
  found.restarts = state.begun;
  count = state.squared_distance < unbounded;
  if (count) {
    found.outcome = arrived;
    found.iterations = state.steps;
  }
  return found;
}

} // namespace SUPPLE_ISA
} // namespace supple
