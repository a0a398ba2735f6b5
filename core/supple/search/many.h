// Many solves by search, one problem in each lane.
#pragma once
#include "supple/search/first_restarts.h"

namespace supple {
inline namespace SUPPLE_ISA {

// The state of many solves: one problem in each lane of T.
template <class T>
struct BatchState {
  int lane_restarts;  // restarts of a problem in its lane; those that need more are left for search_one
  bool limited;       // little budget or a time limit: one step in a lane, then search_one
  long long next = 0; // problem to begin
  long long problem_of[Lane<T>::width]; // in each lane
  int active = 0;                       // lanes, as bits
  int left_count = 0;                   // problems left for search_one
};

SUPPLE_FN Request request_of(const Problem &problem, const SearchBatch &batch, long long i) {
  const double *start = batch.starts ? batch.starts + i * problem.n : nullptr;
  return {batch.goals + i * 12 * problem.target_count, start, 1, batch.deadline};
}

// Begins the next problem in a lane, if there is one.
template <class T>
SUPPLE_FN void begin_problem(const Problem &problem, const Search &search, const SearchBatch &batch, int lane,
                             BatchState<T> &state, RestartScratch<T> &scratch) {
  if (state.next >= batch.count)
    return;
  state.problem_of[lane] = state.next++;
  const Request request = request_of(problem, batch, state.problem_of[lane]);
  TableSeeds &seeds = scratch.seeds[lane];
  seeds.count = 0;
  if (search.has_table && !request.start)
    seeds.look_up(problem, search, request.goals);
  set_goals(problem, lane, request.goals, scratch.step);
  for (int l = 0; l < problem.n && request.start; ++l)
    put(scratch.slide.start[l], lane, request.start[l]);
  begin_restart(problem, search, request, 0, lane, seeds, scratch);
  state.active |= 1 << lane;
}

// A lane ended at q: its problem is solved, tried from the next seed, or left for search_one.
template <class T>
SUPPLE_FN void end_lane(const Problem &problem, const Search &search, const SearchBatch &batch, int lane,
                        bool lane_arrived, const T *q, int *left, BatchState<T> &state,
                        RestartScratch<T> &scratch) {
  const long long i = state.problem_of[lane];
  const Request request = request_of(problem, batch, i);
  const int restart = scratch.restart[lane];
  int steps = 0;
  double *solution = batch.q + i * problem.n;
  state.active &= ~(1 << lane);
  bool solved = lane_arrived && collect(problem, search, request, lane, q, solution, steps, scratch);
  if (solved && request.start)
    solved = !(search.nearest && search.has_slack) && // there search_one keeps the nearest of several
             distance_from_reference(problem, search, request, solution) <
                 search.accept_distance * search.accept_distance;
  if (solved) {
    const bool whole_batch = request.start && !search.nearest;
    batch.found[i] = {arrived, steps, whole_batch ? first_batch_for(search, request) : restart + 1, 0};
  } else if (!state.limited && restart + 1 < state.lane_restarts) {
    begin_restart(problem, search, request, restart + 1, lane, scratch.seeds[lane], scratch);
    state.active |= 1 << lane;
    return;
  } else {
    left[state.left_count++] = int(i);
  }
  begin_problem(problem, search, batch, lane, state, scratch);
}

// Many solves: one problem in each lane, its first batch of restarts one after another; a lane takes the next
// problem the moment it ends. What the first batch does not solve goes to search_one, in lanes of Narrow, and
// so does what needs its lanes together: problems with a start, if the solution from it is not near, and with
// several targets. `left` holds the numbers of all problems.
template <class T, class Narrow>
SUPPLE_FN void search_many(const Problem &problem, const Search &search, const SearchBatch &batch,
                           RestartScratch<T> &scratch, RestartScratch<Narrow> &narrow, int *left) {
  constexpr int W = Lane<T>::width;
  constexpr int full_batch = SearchConstants::first_batch;
  BatchState<T> state;
  state.lane_restarts = batch.starts || problem.target_count > 1 ? 1
                        : full_batch < search.max_restarts       ? full_batch
                                                                 : search.max_restarts;
  state.limited =
      batch.deadline.timed || search.max_iterations < full_batch * W * (SearchConstants::restart_steps + 1);
  const Deadline &deadline = batch.deadline;
  if (deadline.timed && problem.n > many_joints) // a step of all lanes may take longer than the limit
    for (; state.next < batch.count; ++state.next)
      left[state.left_count++] = int(state.next);
  for (int lane = 0; lane < W; ++lane) {
    if (state.next < batch.count) {
      begin_problem(problem, search, batch, lane, state, scratch);
    } else {
      set_goals(problem, lane, batch.goals, scratch.step);
      idle_lane(problem, lane, scratch);
    }
  }
  scratch.slide.limits = coarse_slide;
  scratch.step.deadline = deadline.timed ? nullptr : &deadline;
  for (int steps = 0; state.active; ++steps) {
    if (scratch.step.deadline && (steps & deadline.interval) == deadline.interval && scratch.step.is_to_end())
      return; // what is found is not complete
    const Advance<T> step = batch.starts ? advance_near_start(problem, search, state.active, scratch)
                                         : advance(problem, search, state.active, scratch);
    const int ended = step.arrived | (state.limited ? state.active : step.abandoned);
    for (int lane = 0; lane < W && ended; ++lane)
      if (ended >> lane & 1)
        end_lane(problem, search, batch, lane, step.arrived >> lane & 1, step.q, left, state, scratch);
  }
  for (int k = 0; k < state.left_count; ++k) {
    const int i = left[k];
    int count;
    batch.found[i] = search_one(problem, search, request_of(problem, batch, i), narrow,
                                batch.q + std::size_t(i) * problem.n, count);
  }
}

// ---- One frame, in float ----

// The state of many solves that begin in float.
template <class T>
struct FrameBatch {
  using Number = typename Finishing<T>::Number;
  static constexpr int lanes = Lane<T>::width, slots = Lane<Number>::width;
  int lane_restarts;         // restarts of a problem in lanes; those that need more are left for search_one
  long long next = 0;        // problem to begin
  int active = 0;            // lanes, as bits
  int problem_of[lanes];     // in each lane
  TablePlace<T> place;       // of problems place_begin, place_begin + 1, ...
  long long place_begin = 0; // none before the first problem
  long long place_end = 0;

  // lanes of double: joint values that arrived in float are finished there
  int finishing = 0;     // slots in use, as bits
  int short_of_goal = 0; // of those, slots that were judged and need a step, as bits
  int slot_problem[slots], slot_restart[slots], slot_steps[slots], slot_polish[slots];

  // problems whose finish failed, with the restart that is next: no more than are in lanes and slots together
  int failed_count = 0, failed_problem[lanes + slots], failed_restart[lanes + slots];
  int left_count = 0; // problems left for search_one
};

// Looks up the table for the next problems, one in each lane.
template <class T>
SUPPLE_FN void find_places(const Problem &problem, const Search &search, const SearchBatch &batch,
                           FrameBatch<T> &state) {
  T goals[12];
  state.place_begin = state.next;
  for (int lane = 0; lane < state.lanes; ++lane) {
    const long long last = batch.count - 1, i = state.next + lane < last ? state.next + lane : last;
    for (int k = 0; k < 12; ++k)
      put(goals[k], lane, Scalar<T>(batch.goals[12 * i + k]));
  }
  state.place_end = state.next + state.lanes;
  state.place = TablePlace<T>::of(problem.targets[0], search.table, goals);
}

// Begins a problem in a lane: one whose finish failed, or the next.
template <class T>
SUPPLE_FN void begin_frame(const Problem &problem, const Search &search, const SearchBatch &batch, int lane,
                           FrameBatch<T> &state, RestartScratch<T> &scratch) {
  TableSeeds &seeds = scratch.seeds[lane];
  seeds.count = 0;
  int i, restart = 0;
  if (state.failed_count) {
    i = state.failed_problem[--state.failed_count];
    restart = state.failed_restart[state.failed_count];
    if (search.has_table) {
      T goals[12];
      for (int k = 0; k < 12; ++k)
        goals[k] = splat<T>(batch.goals[12 * i + k]);
      TablePlace<T>::of(problem.targets[0], search.table, goals).look_up(problem, search, 0, seeds);
    }
  } else if (state.next < batch.count) {
    if (search.has_table) {
      if (state.next >= state.place_end)
        find_places(problem, search, batch, state);
      const int at = int(state.next - state.place_begin);
      state.place.look_up(problem, search, at, seeds);
      if (at + 1 < state.lanes)
        state.place.prefetch(search.table, at + 1);
    }
    i = int(state.next++);
  } else {
    return;
  }
  const Request request = request_of(problem, batch, i);
  state.problem_of[lane] = i;
  set_goals(problem, lane, request.goals, scratch.step);
  begin_restart(problem, search, request, restart, lane, seeds, scratch);
  state.active |= 1 << lane;
}

// One step of the slots that need one, when half of all do or there are no others.
template <class T>
SUPPLE_FN void move_finish(const Problem &problem, const Search &search, FrameBatch<T> &state,
                           SearchStepScratch<typename FrameBatch<T>::Number> &step) {
  const int moving = state.short_of_goal;
  int count = 0;
  for (int slot = 0; slot < state.slots; ++slot)
    count += moving >> slot & 1;
  if (!count || (2 * count < state.slots && moving != state.finishing))
    return;
  using Number = typename FrameBatch<T>::Number;
  search_step<one_frame>(problem, search, splat<Number>(SearchConstants::damping), false, step);
  for (int slot = 0; slot < state.slots; ++slot) {
    if (!(moving >> slot & 1))
      continue;
    ++state.slot_polish[slot];
    for (int l = 0; l < problem.n; ++l)
      put(step.q[l], slot, get(step.next[l], slot));
  }
  state.short_of_goal = 0;
}

// Judges the slots: what arrives is done, what does not needs a step, and after polish_steps it fails.
template <class T>
SUPPLE_FN void advance_finish(const Problem &problem, const Search &search, const SearchBatch &batch,
                              int *left, FrameBatch<T> &state, RestartScratch<T> &scratch) {
  SearchStepScratch<typename FrameBatch<T>::Number> &step = scratch.polish.step;
  for (int slot = 0; slot < state.slots; ++slot) // slots without a problem repeat one that has
    if (!(state.finishing >> slot & 1)) {
      const int other = first_bit(state.finishing);
      for (int l = 0; l < problem.n; ++l)
        put(step.q[l], slot, get(step.q[l], other));
      for (int k = 0; k < 12; ++k)
        put(step.goals[k], slot, get(step.goals[k], other));
    }
  move_finish(problem, search, state, step);
  const int there = bits_of(has_arrived<one_frame>(problem, search, step));
  for (int slot = 0; slot < state.slots; ++slot) {
    if (!((state.finishing & ~state.short_of_goal) >> slot & 1))
      continue;
    const int i = state.slot_problem[slot], restart = state.slot_restart[slot];
    if (there >> slot & 1) {
      double *solution = batch.q + std::ptrdiff_t(i) * problem.n;
      for (int l = 0; l < problem.n; ++l)
        solution[l] = get(step.q[l], slot);
      wrap_joints(problem, search, request_of(problem, batch, i), solution);
      batch.found[i] = {arrived, state.slot_steps[slot] + state.slot_polish[slot], restart + 1, 0};
    } else if (state.slot_polish[slot] < SearchConstants::polish_steps) {
      state.short_of_goal |= 1 << slot;
      continue;
    } else if (restart + 1 < state.lane_restarts) {
      state.failed_problem[state.failed_count] = i;
      state.failed_restart[state.failed_count++] = restart + 1;
    } else {
      left[state.left_count++] = i;
    }
    state.finishing &= ~(1 << slot);
  }
}

// Puts the joint values of a lane that arrived into a free slot.
template <class T>
SUPPLE_FN void begin_finish(const Problem &problem, const Search &search, const Request &request, int lane,
                            FrameBatch<T> &state, RestartScratch<T> &scratch) {
  const int slot = first_bit(~state.finishing);
  state.finishing |= 1 << slot;
  state.slot_problem[slot] = state.problem_of[lane];
  state.slot_restart[slot] = scratch.restart[lane];
  state.slot_steps[slot] = int(get(scratch.steps, lane));
  state.slot_polish[slot] = 0;
  read_lane(problem, search, request, lane, scratch.step.q, scratch.solution);
  for (int l = 0; l < problem.n; ++l)
    put(scratch.polish.step.q[l], slot, scratch.solution[l]);
  set_goals(problem, slot, request.goals, scratch.polish.step);
}

// A lane ended: its joint values are finished, or its problem is tried from the next seed, or left.
template <class T>
SUPPLE_FN void end_float_lane(const Problem &problem, const Search &search, const SearchBatch &batch,
                              int lane, bool lane_arrived, int *left, FrameBatch<T> &state,
                              RestartScratch<T> &scratch) {
  const int i = state.problem_of[lane], restart = scratch.restart[lane];
  const Request request = request_of(problem, batch, i);
  if (!lane_arrived && restart + 1 < state.lane_restarts)
    return begin_restart(problem, search, request, restart + 1, lane, scratch.seeds[lane], scratch);
  state.active &= ~(1 << lane);
  if (!lane_arrived) {
    left[state.left_count++] = i;
  } else {
    begin_finish(problem, search, request, lane, state, scratch);
    while (state.finishing == (1 << state.slots) - 1) // one slot at least must become free
      advance_finish(problem, search, batch, left, state, scratch);
  }
  begin_frame(problem, search, batch, lane, state, scratch);
}

// Many solves that begin in float, with the solutions of search_one: one problem in each lane, its first
// batch of restarts one after another; what arrives is finished in double, also in lanes.
template <class T, class First, class Narrow>
SUPPLE_FN void search_many_frames(const Problem &problem, const Search &search, const SearchBatch &batch,
                                  RestartScratch<T> &scratch, RestartScratch<First> &first,
                                  RestartScratch<Narrow> &narrow, int *left) {
  FrameBatch<T> state;
  const Deadline &deadline = batch.deadline;
  constexpr int full_batch = SearchConstants::first_batch;
  state.lane_restarts = full_batch < search.max_restarts ? full_batch : search.max_restarts;
  for (; deadline.timed && state.next < batch.count; ++state.next)
    left[state.left_count++] = int(state.next);
  for (int lane = 0; lane < state.lanes && batch.count; ++lane) {
    set_goals(problem, lane, batch.goals, scratch.step);
    begin_frame(problem, search, batch, lane, state, scratch);
    if (!(state.active >> lane & 1))
      idle_lane(problem, lane, scratch);
  }
  for (int steps = 0; state.active | state.finishing; ++steps) {
    if (deadline.passed && (steps & deadline.interval) == deadline.interval &&
        deadline.passed(deadline.clock))
      return; // what is found is not complete
    if (!state.active) {
      advance_finish(problem, search, batch, left, state, scratch);
      for (int lane = 0; lane < state.lanes && state.failed_count; ++lane)
        begin_frame(problem, search, batch, lane, state, scratch);
      continue;
    }
    const Advance<T> step = advance<one_frame>(problem, search, state.active, scratch);
    const int ended = step.arrived | step.abandoned;
    for (int lane = 0; lane < state.lanes && ended; ++lane)
      if (ended >> lane & 1)
        end_float_lane(problem, search, batch, lane, step.arrived >> lane & 1, left, state, scratch);
  }
  for (int k = 0; k < state.left_count; ++k) {
    const int i = left[k];
    int count;
    batch.found[i] = search_one(problem, search, request_of(problem, batch, i), first, narrow,
                                batch.q + std::size_t(i) * problem.n, count);
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
