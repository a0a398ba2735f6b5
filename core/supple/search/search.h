// The search: many starts, side by side in lanes, each abandoned when it stalls; the first to arrive wins.
#pragma once
#include "supple/search/nearest.h"

namespace supple {
inline namespace SUPPLE_ISA {

// sorts answers by nearness
SUPPLE_FN void sort_answers(const Problem &problem, const Search &search, const double *reference, int count,
                            double *row, double *q) {
  const int n = problem.n;
  for (int i = 1; i < count; ++i) {
    for (int l = 0; l < n; ++l)
      row[l] = q[i * n + l];
    const double distance = distance_between(problem, search, row, reference);
    int at = i;
    for (; at > 0 && distance_between(problem, search, q + (at - 1) * n, reference) > distance; --at)
      for (int l = 0; l < n; ++l)
        q[at * n + l] = q[(at - 1) * n + l];
    for (int l = 0; l < n; ++l)
      q[at * n + l] = row[l];
  }
}

// whether a value belongs to a ball
SUPPLE_FN bool of_ball(const Problem &problem, int l) {
  for (int i = 0; i < problem.ball_count; ++i)
    if (l >= problem.balls[i].index && l < problem.balls[i].index + 3)
      return true;
  return false;
}

// Whether an answer is another than those before: some joint differs.
SUPPLE_FN bool is_new(const Problem &problem, const Search &search, const double *q, int count,
                      const double *row) {
  const int n = problem.n;
  for (int a = 0; a < count; ++a) {
    bool same = true;
    for (int l = 0; l < n && same; ++l) {
      const double gap = q[a * n + l] - row[l], period = search.period[l];
      same = std::fabs(period > 0 ? gap - period * std::round(gap / period) : gap) <
                 Hunt::apart * search.natural[l] ||
             of_ball(problem, l);
    }
    for (int i = 0; i < problem.ball_count && same; ++i) {
      const double *x = q + a * n + problem.balls[i].index, *y = row + problem.balls[i].index;
      const Vec<double> turn = between(Vec<double>{x[0], x[1], x[2]}, Vec<double>{y[0], y[1], y[2]});
      same = dot(turn, turn) < Hunt::apart * Hunt::apart;
    }
    if (same)
      return false;
  }
  return true;
}

// How many starts a goal is worth: few where it is farther away than the hand can be, and never more than
// steps.
SUPPLE_FN int starts_for(const Search &search, const double *goal) {
  int starts = search.iterations < search.starts ? search.iterations + 1 : search.starts;
  if (search.farthest < 1e300) {
    const Vec<double> away =
        goal_frame<double>(goal).p - Vec<double>{search.base[0], search.base[1], search.base[2]};
    if (dot(away, away) > search.farthest * search.farthest && starts > Hunt::beyond)
      starts = Hunt::beyond;
  }
  return starts;
}

// how many starts the first wave has
SUPPLE_FN int wave_of(const Search &search, const Ask &ask) {
  const int starts = starts_for(search, ask.goals);
  return ask.wanted > 1 ? 0 : starts < Hunt::wave ? starts : Hunt::wave;
}

// One solve. Answers go to rows of q (`wanted` of n numbers), sorted by nearness to the reference; returns
// what came of the first, and how many there are in `count`: none means that row 0 holds the nearest.
//
// Of the first wave of starts, the answer of the earliest is given, whichever arrives first, so that a solve
// in a batch, which takes them one after another, gives the same; with a start of the caller's, the nearest
// answer, unless the caller's own leads to one near by. Of later starts the first to arrive wins.
template <class T>
SUPPLE_FN Found search_one(const Problem &problem, const Search &search, const Stop &stop, const Ask &ask,
                           SearchDesk<T> &desk, double *q, int &count) {
  constexpr int W = Lane<T>::width;
  const int n = problem.n, starts = starts_for(search, ask.goals), wave = wave_of(search, ask);
  const double *reference = ask.reference(search);
  Seeds &seeds = desk.seeds[0];
  Found found{stuck, 0, 0, 0};
  if (search.late)
    search.late(search.clock, true);
  desk.end_count = count = 0;
  seeds.count = 0;
  if (search.table)
    seeds.look_up(problem, search, ask.goals);
  int begun = 0, active = 0, heard = 0; // heard: of the first wave, those that have arrived or were abandoned
  for (int i = 0; i < 12 * problem.target_count; ++i)
    desk.aim.goals[i] = T(Scalar<T>(ask.goals[i]));
  for (int lane = 0; lane < W; ++lane) {
    if (begun < starts) {
      begin(problem, search, ask, begun++, lane, desk.aim.q, seeds, desk);
      active |= 1 << lane;
    } else {
      reset_lane(-1, false, lane, desk);
      for (int l = 0; l < n; ++l)
        put(desk.aim.q[l], lane, get(desk.aim.q[l], 0));
    }
  }
  double rank = 1e300;          // of the answer in hand: the less the better
  int best = starts, steps = 0; // its start, and how many steps that took
  const int whole_wave = (1 << wave) - 1;
  for (; active; ++found.iterations) {
    int there, ended;
    const T *now = advance(problem, search, stop, active, desk, there, ended);
    for (int lane = 0; lane < W && (there | ended); ++lane) {
      if (!((there | ended) >> lane & 1))
        continue;
      const int k = desk.start[lane];
      active &= ~(1 << lane);
      if (k < wave)
        heard |= 1 << k;
      if (ended >> lane & 1) {
        keep_end(problem, lane, now, desk);
        continue;
      }
      const double away = harvest(problem, search, reference, lane, now, desk.row),
                   distance = away < 1e199 ? away : 1e199;
      const bool own = ask.start && k == 0 && distance < search.near * search.near;
      const double ranked = k >= wave ? 1e200 : own ? -1 : ask.start ? distance : k;
      if (ask.wanted > 1 ? count >= ask.wanted || !is_new(problem, search, q, count, desk.row)
                         : !(ranked < rank))
        continue;
      const int row = ask.wanted > 1 ? count : 0;
      for (int l = 0; l < n; ++l)
        q[row * n + l] = desk.row[l];
      rank = ranked;
      count = row + 1;
      best = k;
      steps = int(get(desk.steps, lane)) - 1;
      // nothing else in the wave can be better, or nothing later
      if (own)
        heard = whole_wave;
      else if (!ask.start && k < wave)
        heard |= whole_wave & ~((1 << k) - 1);
    }
    if (count >= ask.wanted && heard == whole_wave)
      break;
    if (out_of_budget<T>(search, found)) {
      if (!count)
        found.outcome = spent;
      for (int lane = 0; lane < W; ++lane)
        if (active >> lane & 1)
          keep_end(problem, lane, now, desk);
      break;
    }
    // with something in hand only the first wave is waited for
    for (int lane = 0; lane < W && begun < starts && (count < ask.wanted || begun < wave); ++lane) {
      if (active >> lane & 1)
        continue;
      // mostly what is met already is kept
      const bool partly = problem.target_count > 1 && ended >> lane & 1 && begun % Hunt::anew &&
                          begin_partly(problem, search, begun, lane, now, desk.aim.q, desk);
      if (!partly)
        begin(problem, search, ask, begun, lane, desk.aim.q, seeds, desk);
      ++begun;
      active |= 1 << lane;
    }
  }
  found.starts = begun;
  if (count) {
    found.outcome = arrived;
    if (best < wave)
      found.iterations = steps, found.starts = ask.start ? wave : best + 1;
    sort_answers(problem, search, reference, count, desk.row, q);
    return found;
  }
  settle_ends(problem, search, stop, ask, desk, found, q);
  if (found.outcome == arrived)
    count = 1;
  return found;
}

// Many solves: one problem a lane, its starts of the first wave one after another, refilled the moment it
// arrives. Those that none of the wave solves are searched one by one, in lanes of `few`, and so are all with
// several goals, whose starts learn from each other. `hard` is room for `count` numbers.
template <class T, class Few>
SUPPLE_FN void search_many(const Problem &problem, const Search &search, const Stop &stop, long long count,
                           const double *goals, const double *starts, SearchDesk<T> &desk,
                           SearchDesk<Few> &few, int *hard, double *q, Found *found) {
  constexpr int W = Lane<T>::width;
  const int n = problem.n, size = 12 * problem.target_count;
  const int tries = starts || problem.target_count > 1 ? 1
                    : Hunt::wave < search.starts       ? Hunt::wave
                                                       : search.starts;
  long long next = 0, row[W];
  int active = 0, hards = 0;
  auto asked = [&](long long r) { return Ask{goals + r * size, starts ? starts + r * n : nullptr, 1}; };
  auto refill = [&](int lane) {
    if (next >= count)
      return;
    row[lane] = next++;
    const Ask ask = asked(row[lane]);
    desk.seeds[lane].count = 0;
    if (search.table && !ask.start)
      desk.seeds[lane].look_up(problem, search, ask.goals);
    set_goals(problem, lane, ask.goals, desk.aim);
    begin(problem, search, ask, 0, lane, desk.aim.q, desk.seeds[lane], desk);
    active |= 1 << lane;
  };
  for (int lane = 0; lane < W; ++lane) {
    if (next < count) {
      refill(lane);
    } else {
      set_goals(problem, lane, goals, desk.aim);
      reset_lane(-1, false, lane, desk);
      for (int l = 0; l < n; ++l)
        put(desk.aim.q[l], lane, get(desk.aim.q[l], 0));
    }
  }
  const bool limited = search.late || search.iterations < Hunt::wave * W * (Hunt::most + 1);
  while (active) {
    int there, ended;
    const T *now = advance(problem, search, stop, active, desk, there, ended);
    if (limited)
      ended |= active & ~there; // a small budget, or a clock, is for the one by one to spend
    for (int lane = 0; lane < W && (there | ended); ++lane) {
      const bool arrives = there >> lane & 1;
      if (!arrives && !(ended >> lane & 1))
        continue;
      const long long r = row[lane];
      const Ask ask = asked(r);
      const int k = desk.start[lane], steps = int(get(desk.steps, lane)) - 1;
      active &= ~(1 << lane);
      const double distance =
          arrives ? harvest(problem, search, ask.reference(search), lane, now, q + r * n) : 0;
      if (arrives && (!ask.start || distance < search.near * search.near)) {
        found[r] = {arrived, steps, ask.start ? wave_of(search, ask) : k + 1, 0};
      } else if (!limited && k + 1 < tries) {
        begin(problem, search, ask, k + 1, lane, desk.aim.q, desk.seeds[lane], desk);
        active |= 1 << lane;
        continue;
      } else {
        hard[hards++] = int(r);
      }
      refill(lane);
    }
  }
  for (int i = 0; i < hards; ++i) {
    int answers;
    found[hard[i]] = search_one(problem, search, stop, asked(hard[i]), few, q + hard[i] * n, answers);
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
