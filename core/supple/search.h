// The search: many starts, side by side in lanes, each abandoned when it stalls; the first to arrive wins.
#pragma once
#include "nearest.h"

namespace supple {
inline namespace SUPPLE_ISA {

// sorts answers by nearness
SUPPLE_FN void sort_answers(const Problem &problem, const Search &search, const double *reference, int count, double *row, double *q) {
  const int n = problem.n;
  for (int i = 1; i < count; ++i) {
    for (int l = 0; l < n; ++l) row[l] = q[i * n + l];
    const double distance = distance_between(problem, search, row, reference);
    int at = i;
    for (; at > 0 && distance_between(problem, search, q + (at - 1) * n, reference) > distance; --at)
      for (int l = 0; l < n; ++l) q[at * n + l] = q[(at - 1) * n + l];
    for (int l = 0; l < n; ++l) q[at * n + l] = row[l];
  }
}

// Whether an answer is another than those before: some joint differs.
SUPPLE_FN bool is_new(const Problem &problem, const Search &search, const double *q, int count, const double *row) {
  const int n = problem.n;
  for (int a = 0; a < count; ++a) {
    bool same = true;
    for (int l = 0; l < n && same; ++l) {
      const double gap = q[a * n + l] - row[l], period = search.period[l];
      same = std::fabs(period > 0 ? gap - period * std::round(gap / period) : gap) < Hunt::apart * search.natural[l];
    }
    if (same) return false;
  }
  return true;
}

// How many starts a goal is worth: few where it is farther away than the hand can be, and never more than steps.
SUPPLE_FN int starts_for(const Search &search, const double *goal) {
  int starts = search.iterations < search.starts ? search.iterations + 1 : search.starts;
  if (search.farthest < 1e300) {
    const Vec<double> away = goal_frame<double>(goal).p - Vec<double>{search.base[0], search.base[1], search.base[2]};
    if (dot(away, away) > search.farthest * search.farthest && starts > Hunt::beyond) starts = Hunt::beyond;
  }
  return starts;
}

// One solve. Answers go to rows of q (`wanted` of n numbers), sorted by nearness to the reference; returns what came of
// the first, and how many there are in `count`: none means that row 0 holds the nearest.
//
// Without a start of the caller's, the first start is heard before any other answer is given, so that a solve in a batch,
// which begins with that one alone, gives the same. With one, all of the first wave are heard, and the nearest is given,
// unless the caller's own leads to an answer near by.
template <class T> SUPPLE_FN Found search_one(const Problem &problem, const Search &search, const Stop &stop, const Ask &ask, SearchDesk<T> &desk, double *q, int &count) {
  constexpr int W = Lane<T>::width;
  const int n = problem.n, starts = starts_for(search, ask.goals), wave = ask.wanted > 1 ? 0 : ask.start ? Hunt::wave : 1;
  const double *reference = ask.reference(search);
  Found found{stuck, 0, 0, 0};
  if (search.late) search.late(search.clock, true);
  desk.end_count = count = 0;
  desk.seeds.count = 0;
  if (search.table) desk.seeds.look_up(problem, search, ask.goals);
  int begun = 0, waiting = wave < starts ? wave : starts, active = 0;
  for (int lane = 0; lane < W; ++lane) {
    set_goals(problem, lane, ask.goals, desk.aim);
    if (begun < starts) {
      begin(problem, search, ask, begun++, lane, desk.aim.q, desk), active |= 1 << lane;
    } else {
      reset_lane(-1, false, lane, desk);
      for (int l = 0; l < n; ++l) put(desk.aim.q[l], lane, get(desk.aim.q[l], 0));
    }
  }
  double nearest = 1e300;
  bool from_wave = false;
  for (; active; ++found.iterations) {
    int there, ended;
    const T *now = advance(problem, search, stop, active, desk, there, ended);
    for (int lane = 0; lane < W && (there | ended); ++lane) {
      if (!((there | ended) >> lane & 1)) continue;
      const int k = desk.start[lane];
      active &= ~(1 << lane);
      if (k < wave) --waiting;
      if (ended >> lane & 1) {
        keep_end(problem, lane, now, desk);
        continue;
      }
      const double distance = harvest(problem, search, reference, lane, now, desk.row);
      bool taken;
      if (ask.wanted > 1) taken = count < ask.wanted && is_new(problem, search, q, count, desk.row);
      else taken = k < wave ? !from_wave || distance < nearest : !count; // of the first wave the nearest; else the first
      if (!taken) continue;
      const int row = ask.wanted > 1 ? count : 0;
      for (int l = 0; l < n; ++l) q[row * n + l] = desk.row[l];
      nearest = distance, from_wave = k < wave, count = row + 1;
      if (k == 0 && wave && (!ask.start || distance < search.near * search.near)) waiting = 0;
    }
    if (count >= ask.wanted && !waiting) break;
    if (out_of_budget<T>(search, found)) {
      if (!count) found.outcome = spent;
      for (int lane = 0; lane < W; ++lane)
        if (active >> lane & 1) keep_end(problem, lane, now, desk);
      break;
    }
    // with something in hand only the first wave is waited for
    for (int lane = 0; lane < W && begun < starts && (count < ask.wanted || begun < wave); ++lane) {
      if (active >> lane & 1) continue;
      // three times of four what is met already is kept
      const bool partly = problem.target_count > 1 && ended >> lane & 1 && begun % 4 && begin_partly(problem, search, begun, lane, now, desk.aim.q, desk);
      if (!partly) begin(problem, search, ask, begun, lane, desk.aim.q, desk);
      ++begun;
      active |= 1 << lane;
    }
  }
  found.starts = begun;
  if (count) {
    found.outcome = arrived;
    sort_answers(problem, search, reference, count, desk.row, q);
    return found;
  }
  settle_ends(problem, search, stop, ask, desk, found, q);
  if (found.outcome == arrived) count = 1;
  return found;
}

// Many solves: one problem a lane, its first start only, refilled the moment it arrives or stalls; those that stall
// are searched one by one. `hard` is room for `count` numbers.
template <class T>
SUPPLE_FN void search_many(const Problem &problem, const Search &search, const Stop &stop, long long count, const double *goals, const double *starts, SearchDesk<T> &desk,
                           int *hard, double *q, Found *found) {
  constexpr int W = Lane<T>::width;
  const int n = problem.n, size = 12 * problem.target_count;
  long long next = 0, row[W];
  int active = 0, hards = 0;
  auto refill = [&](int lane) {
    if (next >= count) return;
    row[lane] = next++;
    const Ask ask{goals + row[lane] * size, starts ? starts + row[lane] * n : nullptr, 1};
    desk.seeds.count = 0;
    if (search.table && !ask.start) desk.seeds.look_up(problem, search, ask.goals);
    set_goals(problem, lane, ask.goals, desk.aim);
    begin(problem, search, ask, 0, lane, desk.aim.q, desk);
    active |= 1 << lane;
  };
  for (int lane = 0; lane < W; ++lane) {
    if (next < count) {
      refill(lane);
    } else {
      set_goals(problem, lane, goals, desk.aim);
      reset_lane(-1, false, lane, desk);
      for (int l = 0; l < n; ++l) put(desk.aim.q[l], lane, get(desk.aim.q[l], 0));
    }
  }
  while (active) {
    int there, ended;
    const T *now = advance(problem, search, stop, active, desk, there, ended);
    for (int lane = 0; lane < W; ++lane) {
      const bool arrives = there >> lane & 1;
      // what is over its budget ends too
      if (!(active >> lane & 1) || !(arrives || ended >> lane & 1 || (desk.steps[lane] + 1LL) * W > search.iterations)) continue;
      const long long r = row[lane];
      const double *start = starts ? starts + r * n : nullptr;
      active &= ~(1 << lane);
      const double distance = arrives ? harvest(problem, search, start ? start : search.middle, lane, now, q + r * n) : 0;
      if (arrives && (!start || distance < search.near * search.near)) found[r] = {arrived, desk.steps[lane] - 1, 1, 0};
      else hard[hards++] = int(r);
      refill(lane);
    }
  }
  for (int i = 0; i < hards; ++i) {
    const long long r = hard[i];
    const Ask ask{goals + r * size, starts ? starts + r * n : nullptr, 1};
    int answers;
    found[r] = search_one(problem, search, stop, ask, desk, q + r * n, answers);
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
