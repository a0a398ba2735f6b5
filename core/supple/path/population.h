// The candidates of a path: many joint values for the same frame, continued together from frame to frame.
//
// Candidates of a redundant linkage are spread over its self-motion: where two come together the one of less
// cost stays, and the other becomes a copy of one that drifts elsewhere. This is dynamic programming over
// samples of the self-motion that move along the path.
#pragma once
#include "supple/path/continuation.h"

namespace supple {
inline namespace SUPPLE_ISA {

// The q that candidates of a redundant linkage should have at the end of a run.
enum class Home { none, first, end };

template <class T>
struct Population {
  static constexpr int W = Lane<T>::width;
  int count = 0, packs = 0;       // candidates, alive or not, and the packs that hold them
  int alive[PathConstants::many]; // lanes of each pack, as bits
  bool keeps_turns;               // joints that wrap stay at the turn where they began
  Home home;
  T *q, *last;                      // packs x n: in this frame and the one before
  T *first;                         // packs x n: where they began
  T *low, *high;                    // packs x n: least and largest q since the beginning
  T *drift;                         // packs x n: of redundant candidates, in weighted sizes
  T *cost;                          // packs
  int order[PathConstants::many];   // candidates by cost
  double rank[PathConstants::many]; // cost of each
  ContinuationScratch<T> step;
};

template <class T>
SUPPLE_FN void lay_out(Population<T> &population, ScratchLayout &layout, const Problem &problem) {
  const std::size_t packs = PathConstants::many / Lane<T>::width, numbers = packs * problem.n;
  layout.array(population.q, numbers);
  layout.array(population.last, numbers);
  layout.array(population.first, numbers);
  layout.array(population.low, numbers);
  layout.array(population.high, numbers);
  layout.array(population.drift, numbers);
  layout.array(population.cost, packs);
  lay_out(population.step, layout, problem);
}

// Whether more joints move than the goals have rows, or goals have slack.
SUPPLE_FN bool is_redundant(const Problem &problem, const Search &search) {
  int moving = 0;
  for (int l = 0; l < problem.n; ++l)
    moving += search.joints[l].weighted_size > 0;
  return problem.rows < moving || search.has_slack;
}

// The drift of a joint of a candidate, evenly spread over joints, candidates and frames, and the same in
// every run; some candidates drift four times as far as others.
SUPPLE_FN double drift_of(const SearchJoint &joint, int candidate, int frame) {
  const double place = 0.5 + (candidate + 1) * joint.stride + 0.6180339887498949 * frame;
  const double size = PathConstants::drift * PathConstants::jump * (0.5 + 0.5 * (candidate % 4));
  return size * (2 * (place - std::floor(place)) - 1);
}

// ---- Begin ----

template <class T>
SUPPLE_FN void set_candidate(const Problem &problem, const double *row, int i, Population<T> &population) {
  constexpr int W = Lane<T>::width;
  const int first = i / W * problem.n, lane = i % W;
  for (int l = 0; l < problem.n; ++l) {
    put(population.q[first + l], lane, row[l]);
    put(population.last[first + l], lane, row[l]);
    put(population.first[first + l], lane, row[l]);
    put(population.low[first + l], lane, row[l]);
    put(population.high[first + l], lane, row[l]);
    put(population.drift[first + l], lane, 0.0);
  }
  put(population.cost[i / W], lane, 0.0);
}

// `seeds` candidates from rows, filled up to `count` with copies of them, which drift, if it is redundant.
template <class T>
SUPPLE_FN void begin_population(const Problem &problem, const Search &search, const double *seeds,
                                int seed_count, int count, Population<T> &population) {
  constexpr int W = Lane<T>::width;
  const bool redundant = is_redundant(problem, search);
  population.count = redundant ? count : seed_count;
  population.packs = (population.count + W - 1) / W;
  for (int p = 0; p < population.packs; ++p)
    population.alive[p] = 0;
  for (int i = 0; i < population.packs * W; ++i) {
    set_candidate(problem, seeds + i % seed_count * problem.n, i, population);
    if (i < population.count)
      population.alive[i / W] |= 1 << i % W;
    for (int l = 0; i >= seed_count && redundant && l < problem.n; ++l)
      put(population.drift[i / W * problem.n + l], i % W, drift_of(search.joints[l], i, 0));
  }
}

template <class T>
SUPPLE_FN bool is_alive(const Population<T> &population) {
  int any_alive = 0;
  for (int p = 0; p < population.packs; ++p)
    any_alive |= population.alive[p];
  return any_alive != 0;
}

// ---- One frame ----

// Predicts the q of the candidates of a pack, into step.q: q plus `ratio` times the last step, within limits.
// Ball joints stay.
template <class T>
SUPPLE_FN void predict(const Problem &problem, const Search &search, int pack, T ratio,
                       Population<T> &population) {
  const T *q = population.q + pack * problem.n, *last = population.last + pack * problem.n;
  for (int l = 0; l < problem.n; ++l) {
    const T lower = splat<T>(lower_limit(problem, search, l, population.keeps_turns)),
            upper = splat<T>(upper_limit(problem, search, l, population.keeps_turns));
    population.step.step.q[l] = clip(q[l] + ratio * (q[l] - last[l]), lower, upper);
  }
  for (int i = 0; i < problem.ball_count; ++i)
    for (int l = problem.balls[i].index; l < problem.balls[i].index + 3; ++l)
      population.step.step.q[l] = q[l];
}

// The preferred step of redundant candidates from the predicted q. It is a sum: back to the last q, so that
// the whole step is small; away from limits, or to the middle; towards the q at which the path should end;
// and their drift.
template <class T>
SUPPLE_FN void set_preferred(const Problem &problem, const Search &search, const PathRequest &path, int pack,
                             int frames_left, Population<T> &population) {
  const T zero = splat<T>(0), one = splat<T>(1);
  const int preference = path.preference;
  const T *q = population.q + pack * problem.n, *drift = population.drift + pack * problem.n;
  const T *first = population.first + pack * problem.n;
  ContinuationScratch<T> &scratch = population.step;
  for (int l = 0; l < problem.n; ++l) {
    const SearchJoint &joint = search.joints[l];
    scratch.preferred[l] = zero;
    if (!(joint.weighted_size > 0))
      continue;
    const T per_size = splat<T>(1 / joint.weighted_size);
    T preferred = (q[l] - scratch.step.q[l]) * per_size + drift[l];
    const double half = 0.5 * (problem.upper[l] - problem.lower[l]);
    const bool wraps = joint.period > 0 && !population.keeps_turns;
    if (!wraps && half < 0.5 * unbounded && half > 0) {
      const T from_middle = q[l] - splat<T>(problem.lower[l] + half);
      const T offset = magnitude(from_middle) * splat<T>(1 / half);
      const T zone = splat<T>(preference == centred ? 0 : PathConstants::limit_zone);
      const T pull = clip((offset - zone) / (one - zone), zero, one) * splat<T>(PathConstants::limit_pull);
      preferred = preferred - pull * from_middle * per_size;
    }
    if (population.home != Home::none) {
      const T home = population.home == Home::end ? splat<T>(path.end[l]) : first[l];
      const T most = splat<T>(PathConstants::drift * PathConstants::jump);
      preferred = preferred + clip((home - q[l]) * per_size * splat<T>(1.0 / frames_left), -most, most);
    }
    scratch.preferred[l] = preferred;
  }
  for (int i = 0; i < problem.ball_count; ++i)
    for (int l = problem.balls[i].index; l < problem.balls[i].index + 3; ++l)
      scratch.preferred[l] = zero;
}

// Lanes whose joints that wrap fit into their limits, at this turn or another.
template <class T>
SUPPLE_FN int fitting_lanes(const Problem &problem, const Search &search, int pack, int lanes,
                            const Population<T> &population) {
  int fitting = lanes;
  for (int l = 0; l < problem.n; ++l) {
    const double period = search.joints[l].period, lower = problem.lower[l], upper = problem.upper[l];
    if (!(period > 0) || (lower <= -unbounded && upper >= unbounded))
      continue;
    for (int lane = 0; lane < Lane<T>::width; ++lane) {
      const double low = get(population.low[pack * problem.n + l], lane),
                   high = get(population.high[pack * problem.n + l], lane);
      const double first = std::ceil((lower - low) / period), last = std::floor((upper - high) / period);
      const bool fits = population.keeps_turns ? first <= 0 && last >= 0 : first <= last;
      fitting &= fits ? ~0 : ~(1 << lane);
    }
  }
  return fitting;
}

// The cost of the step to `found` in each lane; `broken` receives the lanes in which it is a jump.
template <class T>
SUPPLE_FN T step_cost(const Problem &problem, const Search &search, const PathRequest &path, double dt,
                      const T *steps, const T *found, int &broken) {
  const T zero = splat<T>(0);
  T square = zero, excess = zero, off_centre = zero;
  Mask<T> jumps = zero > zero;
  for (int l = 0; l < problem.n; ++l) {
    const SearchJoint &joint = search.joints[l];
    const T size = magnitude(steps[l]);
    const double most = longest_continuous_step(joint, dt);
    jumps = jumps | !(size <= splat<T>(most));
    if (path.speed[l] < unbounded) {
      const double allowed = path.speed[l] * dt * (1 + 0.5 * PathConstants::rounding);
      excess = excess + larger(size - splat<T>(allowed), zero) * splat<T>(1 / joint.natural_size);
    }
    if (joint.weighted_size > 0)
      square = square + steps[l] * steps[l] * splat<T>(1 / (joint.weighted_size * joint.weighted_size));
    const double half = 0.5 * (problem.upper[l] - problem.lower[l]);
    if (path.preference == centred && half < 0.5 * unbounded && half > 0) {
      const T offset = (found[l] - splat<T>(problem.lower[l] + half)) * splat<T>(1 / half);
      off_centre = off_centre + offset * offset;
    }
  }
  broken = bits_of(jumps);
  const T over = select(excess > zero, splat<T>(1), zero);
  return root(square) + splat<T>(PathConstants::centring_cost) * off_centre +
         splat<T>(PathConstants::speed_cost) * (over + excess);
}

// cost of conditioning: the inverse of the smallest pivot of J J' at `q`, bounded
template <class T>
SUPPLE_FN T conditioning_cost(const Problem &problem, const Search &search, const T *q,
                              ContinuationScratch<T> &scratch) {
  SearchStepScratch<T> &step = scratch.step;
  for (int l = 0; l < problem.n; ++l)
    step.q[l] = q[l];
  add_targets(problem, search, false, step);
  const T zero = splat<T>(0);
  if (!solves_by_rows(problem))
    return zero;
  T A[36];
  const int m = problem.rows, columns = search.column_begin[1];
  for (int i = 0; i < m; ++i)
    for (int j = 0; j <= i; ++j) {
      T sum = zero;
      for (int c = 0; c < columns; ++c)
        sum = sum + step.J[6 * c + i] * step.J[6 * c + j];
      A[i * m + j] = sum;
    }
  const T smallest = larger(factor(A, m), splat<T>(1e-8));
  return splat<T>(PathConstants::conditioning_cost) / root(smallest);
}

// Takes the candidates of a pack to the goals in step.goals; those that cannot follow are dropped.
template <class T>
SUPPLE_FN void advance_pack(const Problem &problem, const Search &search, const PathRequest &path, int pack,
                            double dt, double last_dt, int frames_left, bool redundant,
                            Population<T> &population) {
  const int n = problem.n;
  ContinuationScratch<T> &scratch = population.step;
  T *q = population.q + pack * n, *last = population.last + pack * n;
  int &alive = population.alive[pack];
  predict(problem, search, pack, splat<T>(last_dt > 0 ? dt / last_dt : 0), population);
  scratch.has_preferred = redundant;
  scratch.keeps_turns = population.keeps_turns;
  for (int l = 0; l < n; ++l)
    scratch.preferred[l] = splat<T>(0);
  if (redundant)
    set_preferred(problem, search, path, pack, frames_left, population);
  int arrived = arrive(problem, search, alive, scratch);
  if (alive & ~arrived) {
    for (int l = 0; l < n; ++l) {
      scratch.step.q[l] = q[l];
      scratch.preferred[l] = splat<T>(0);
    }
    scratch.has_preferred = false;
    arrived |= arrive(problem, search, alive & ~arrived, scratch);
  }
  int broken;
  T *steps = scratch.step.change;
  joint_steps(problem, q, scratch.found, steps);
  T cost = step_cost(problem, search, path, dt, steps, scratch.found, broken);
  if (path.preference == well_conditioned)
    cost = cost + conditioning_cost(problem, search, scratch.found, scratch);
  alive &= arrived & ~broken;
  // candidates that are too fast drift less
  const Mask<T> fast = cost >= splat<T>(PathConstants::speed_cost);
  for (int l = 0; redundant && l < n; ++l) {
    T &drift = population.drift[pack * n + l];
    drift = select(fast, splat<T>(PathConstants::drift_relief) * drift, drift);
  }
  population.cost[pack] = population.cost[pack] + cost;
  for (int l = 0; l < n; ++l) {
    last[l] = q[l];
    q[l] = scratch.found[l];
    population.low[pack * n + l] = lesser(population.low[pack * n + l], q[l]);
    population.high[pack * n + l] = larger(population.high[pack * n + l], q[l]);
  }
  alive = fitting_lanes(problem, search, pack, alive, population);
}

// ---- Spread ----

// Sorts the candidates that are alive by cost; returns how many there are.
template <class T>
SUPPLE_FN int sort_candidates(Population<T> &population) {
  constexpr int W = Lane<T>::width;
  int count = 0;
  for (int i = 0; i < population.count; ++i) {
    if (!(population.alive[i / W] >> i % W & 1))
      continue;
    population.rank[i] = get(population.cost[i / W], i % W);
    int place = count++;
    for (; place > 0 && population.rank[population.order[place - 1]] > population.rank[i]; --place)
      population.order[place] = population.order[place - 1];
    population.order[place] = i;
  }
  return count;
}

template <class T>
SUPPLE_FN double gap_of_candidates(const Problem &problem, const Search &search,
                                   const Population<T> &population, int a, int b) {
  constexpr int W = Lane<T>::width;
  double sum = 0;
  for (int l = 0; l < problem.n; ++l) {
    const double size = search.joints[l].weighted_size;
    if (!(size > 0))
      continue;
    const double d =
        (get(population.q[a / W * problem.n + l], a % W) - get(population.q[b / W * problem.n + l], b % W)) /
        size;
    sum += d * d;
  }
  return sum;
}

template <class T>
SUPPLE_FN void copy_candidate(const Problem &problem, int from, int to, Population<T> &population) {
  constexpr int W = Lane<T>::width;
  T *arrays[5] = {population.q, population.last, population.first, population.low, population.high};
  for (T *array : arrays)
    for (int l = 0; l < problem.n; ++l)
      put(array[to / W * problem.n + l], to % W, get(array[from / W * problem.n + l], from % W));
  put(population.cost[to / W], to % W, get(population.cost[from / W], from % W));
  population.alive[to / W] |= 1 << to % W;
}

// Spreads the candidates: `parent` receives for each the one it was before.
template <class T>
SUPPLE_FN void spread(const Problem &problem, const Search &search, int frame, unsigned char *parent,
                      Population<T> &population) {
  constexpr int W = Lane<T>::width;
  constexpr double gap = PathConstants::spread_gap;
  const int living = sort_candidates(population);
  int kept = 0;
  for (int k = 0; k < living; ++k) {
    const int i = population.order[k];
    bool apart = true;
    for (int j = 0; j < kept && apart; ++j)
      apart = !(gap_of_candidates(problem, search, population, i, population.order[j]) < gap * gap);
    if (apart)
      population.order[kept++] = i;
    else
      population.alive[i / W] &= ~(1 << i % W);
  }
  if (!kept)
    return;
  int next = 0;
  for (int i = 0; i < population.count; ++i) {
    parent[i] = static_cast<unsigned char>(i);
    const bool is_copy = !(population.alive[i / W] >> i % W & 1);
    if (is_copy) {
      const int source = population.order[next++ % kept];
      copy_candidate(problem, source, i, population);
      parent[i] = static_cast<unsigned char>(source);
    }
    for (int l = 0; l < problem.n; ++l)
      put(population.drift[i / W * problem.n + l], i % W,
          is_copy ? drift_of(search.joints[l], i, frame) : 0.0);
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
