// As near as it gets: from where starts were abandoned on, when none has arrived.
#pragma once
#include "supple/search/restarts.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Whether another step would be one too many, or too late.
template <class T>
SUPPLE_FN bool out_of_budget(const Search &search, const Found &found) {
  return (found.iterations + 1LL) * Lane<T>::width > search.iterations ||
         (search.late && found.iterations % 8 == 7 && search.late(search.clock, false));
}

// keeps the end of an abandoned start, if it is one of the best
template <class T>
SUPPLE_FN void keep_end(const Problem &problem, int lane, const T *q, SearchDesk<T> &desk) {
  const double seen = get(desk.aim.error, lane),
               error = seen < 1e300 ? seen : 1e300; // what is no number comes last
  int at = desk.end_count;
  if (at == Hunt::kept) {
    at = 0;
    for (int i = 1; i < desk.end_count; ++i)
      if (desk.end_error[i] > desk.end_error[at])
        at = i;
    if (!(error < desk.end_error[at]))
      return;
  } else {
    ++desk.end_count;
  }
  desk.end_error[at] = error;
  for (int l = 0; l < problem.n; ++l)
    desk.ends[at * problem.n + l] = get(q[l], lane);
}

// Goes on from the q that lanes hold, for a number of steps, which may only lower the error: the damping
// grows after one that would raise it. Leaves the best q in `best`, returns its error; lanes that arrived in
// `there`.
template <class T>
SUPPLE_FN T settle_lanes(const Problem &problem, const Search &search, const Stop &stop, int steps,
                         SearchDesk<T> &desk, Found &found, int &there) {
  using S = Scalar<T>;
  const int n = problem.n;
  AimDesk<T> &at = desk.aim;
  T part = T(S(Hunt::damping)), least = T(S(1e30));
  Mask<T> settled = part < part,
          ventured = settled; // whether q is a new one, or the best again after a step too far
  for (int l = 0; l < n; ++l)
    at.best[l] = at.q[l];
  there = 0;
  for (int k = 0; k <= steps && !there && !all(settled); ++k) {
    if (k && out_of_budget<T>(search, found))
      break;
    found.iterations += k > 0;
    aim(problem, search, stop, part, true, at);
    const Mask<T> better = at.error <= least;
    settled = settled | (part > T(S(1e9))) | (ventured & better & (at.error > T(S(1 - 1e-6)) * least));
    least = select(better, at.error, least);
    part = select(better, select(ventured, larger(part * T(S(0.3)), T(S(1e-4))), part), part * T(S(8)));
    ventured = better;
    for (int l = 0; l < n; ++l) {
      at.best[l] = select(better, at.q[l], at.best[l]);
      at.q[l] = select(better, at.next[l], at.best[l]);
    }
    there = bits_of(at.there & better);
  }
  return least;
}

// From the ends that were kept as near as it gets: a few steps from all, then to the end from the best. The q
// with the smallest error in `out`.
template <class T>
SUPPLE_FN void settle_ends(const Problem &problem, const Search &search, const Stop &stop, const Ask &ask,
                           SearchDesk<T> &desk, Found &found, double *out) {
  constexpr int W = Lane<T>::width;
  const int n = problem.n;
  int there = 0;
  T least(Scalar<T>(0));
  auto load = [&](int first) {
    for (int i = 0; i < W; ++i)
      for (int l = 0; l < n; ++l)
        put(desk.aim.q[l], i, desk.ends[(first + i < desk.end_count ? first + i : 0) * n + l]);
  };
  for (int first = 0;
       first < desk.end_count && !there && desk.end_count > W && !out_of_budget<T>(search, found);
       first += W) {
    load(first);
    least = settle_lanes(problem, search, stop, Hunt::trying, desk, found, there);
    for (int i = 0; i < W && first + i < desk.end_count; ++i) {
      desk.end_error[first + i] = get(least, i);
      for (int l = 0; l < n; ++l)
        desk.ends[(first + i) * n + l] = get(desk.aim.best[l], i);
    }
  }
  if (!there) {
    // the best to the front
    for (int i = 0; i < Hunt::last && i < desk.end_count; ++i) {
      int best = i;
      for (int k = i + 1; k < desk.end_count; ++k)
        if (desk.end_error[k] < desk.end_error[best])
          best = k;
      const double kept = desk.end_error[i];
      desk.end_error[i] = desk.end_error[best];
      desk.end_error[best] = kept;
      for (int l = 0; l < n; ++l) {
        const double x = desk.ends[i * n + l];
        desk.ends[i * n + l] = desk.ends[best * n + l];
        desk.ends[best * n + l] = x;
      }
    }
  }
  if (!there && ask.start) {
    // whatever was found, it is no farther from the goals than the caller's own start
    const int at = desk.end_count < Hunt::last ? desk.end_count++ : Hunt::last - 1;
    double *row = desk.ends + at * n;
    for (int l = 0; l < n; ++l)
      row[l] = search.unit[l] > 0 ? clip(ask.start[l], search.low[l], search.high[l]) : ask.start[l];
    clamp_balls(problem, search, row);
  }
  found.error = 1e300;
  for (int first = 0; first < Hunt::last && first < desk.end_count && found.outcome != arrived; first += W) {
    if (!there) {
      load(first);
      least = settle_lanes(problem, search, stop, Hunt::settling, desk, found, there);
    }
    for (int lane = 0; lane < W; ++lane) {
      if (there ? !(there >> lane & 1) || found.outcome == arrived : !(get(least, lane) < found.error))
        continue;
      if (there)
        found.outcome = arrived;
      found.error = get(least, lane);
      harvest(problem, search, ask.reference(search), lane, desk.aim.best, out);
    }
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
