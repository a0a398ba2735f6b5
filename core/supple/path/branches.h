// Dynamic programming over branches: solutions of key frames, continued to the key frames before and after,
// and joined where they come near each other.
//
// Branches of a linkage that is not redundant meet at its singularities. There a joint motion may pass from
// one to the other, and a continuation alone cannot tell which of them it is on.
#pragma once
#include "supple/path/bridge.h"

namespace supple {
inline namespace SUPPLE_ISA {

struct BranchScratch {
  static constexpr int most = 2 * PathConstants::key_solutions; // branches of a frame
  double *q;                                                    // frames x most x n
  unsigned char *parent;                                        // frames x most
  int *count;                                                   // frames
  double *cost;                                                 // 2 x most: of this frame and the one before
  double *steps;                                                // n
};

SUPPLE_FN void lay_out(BranchScratch &scratch, ScratchLayout &layout, const Problem &problem, int frames) {
  constexpr int most = BranchScratch::most;
  layout.array(scratch.q, std::size_t(frames) * most * problem.n);
  layout.array(scratch.parent, std::size_t(frames) * most);
  layout.array(scratch.count, std::size_t(frames));
  layout.array(scratch.cost, 2 * most);
  layout.array(scratch.steps, problem.n);
}

// Adds the candidates of a run that began at `begin` to the branches of its frames, `from` its k-th frame on.
template <class T>
SUPPLE_FN void add_branches(const Problem &problem, int begin, int direction, int from, const Run &run,
                            const int *alive_until, const RunScratch<T> &run_scratch,
                            BranchScratch &scratch) {
  constexpr int W = Lane<T>::width;
  const int n = problem.n;
  const std::size_t numbers = std::size_t(PathConstants::many / W) * n;
  for (int k = from; k < run.frames; ++k) {
    const std::size_t frame = begin + direction * k;
    for (int i = 0; i < run_scratch.population.count; ++i) {
      if (alive_until[i] < k || scratch.count[frame] == BranchScratch::most)
        continue;
      double *row = scratch.q + (frame * BranchScratch::most + scratch.count[frame]++) * n;
      for (int l = 0; l < n; ++l)
        row[l] = get(run_scratch.history[k * numbers + i / W * n + l], i % W);
    }
  }
}

// The cost of a step between branches: its length in weighted sizes, with joints that wrap going the shorter
// direction round, and a large cost if it is a jump or too fast.
SUPPLE_FN double branch_step_cost(const Problem &problem, const Search &search, const PathRequest &path,
                                  double dt, const double *q, const double *to, double *steps) {
  joint_steps(problem, q, to, steps);
  double square = 0, excess = 0;
  bool jumps = false;
  for (int l = 0; l < problem.n; ++l) {
    const SearchJoint &joint = search.joints[l];
    double step = steps[l];
    if (joint.period > 0)
      step -= joint.period * std::round(step / joint.period);
    step = std::fabs(step);
    jumps = jumps || !(step <= longest_continuous_step(joint, dt));
    excess += larger(step - longest_step(joint, path.speed[l], dt), 0.0) / joint.natural_size;
    if (joint.weighted_size > 0)
      square += step * step / (joint.weighted_size * joint.weighted_size);
  }
  const double over = jumps        ? PathConstants::jump_cost
                      : excess > 0 ? PathConstants::speed_cost * (1 + excess)
                                   : 0;
  return std::sqrt(square) + over;
}

// A joint that wraps, made continuous along a column of rows, without regard to its limits.
SUPPLE_FN void follow_turns(double period, int frames, int n, double *column) {
  for (int k = 1; k < frames; ++k) {
    double &x = column[std::size_t(k) * n];
    x += period * std::round((column[std::size_t(k - 1) * n] - x) / period);
  }
}

// The first frame from `begin` on at which a joint must change by a whole turn to stay within its limits;
// `low` and `high` receive its range until then. With `fixed` it stays at the turn of the first frame.
SUPPLE_FN int end_of_turn(const SearchJoint &joint, double lower, double upper, int begin, int end, int n,
                          bool fixed, const double *column, double &low, double &high) {
  low = high = column[std::size_t(begin) * n];
  for (int k = begin + 1; k < end; ++k) {
    const double x = column[std::size_t(k) * n], least = lesser(low, x), most = larger(high, x);
    const double first = std::ceil((lower - least) / joint.period),
                 last = std::floor((upper - most) / joint.period);
    if (fixed ? first > 0 || last < 0 : first > last)
      return k;
    low = least;
    high = most;
  }
  return end;
}

// Joints that wrap, made continuous along rows and moved into their limits. A given start (n) stays at its
// turn. Where no turns fit all frames, all joints change theirs together, as late as possible.
SUPPLE_FN void unwind(const Problem &problem, const Search &search, int frames, const double *start,
                      double *rows) {
  const int n = problem.n;
  for (int l = 0; l < n; ++l) {
    const SearchJoint &joint = search.joints[l];
    if (!(joint.period > 0))
      continue;
    if (start)
      rows[l] = nearest_turn(rows[l], start[l], joint.period, problem.lower[l], problem.upper[l]);
    follow_turns(joint.period, frames, n, rows + l);
  }
  for (int begin = 0, end; begin < frames; begin = end) {
    const bool fixed = start && begin == 0;
    double low, high;
    end = frames;
    for (int l = 0; l < n; ++l)
      if (search.joints[l].period > 0)
        end = end_of_turn(search.joints[l], problem.lower[l], problem.upper[l], begin, end, n, fixed,
                          rows + l, low, high);
    for (int l = 0; l < n && !fixed; ++l) {
      const SearchJoint &joint = search.joints[l];
      if (!(joint.period > 0))
        continue;
      end_of_turn(joint, problem.lower[l], problem.upper[l], begin, end, n, false, rows + l, low, high);
      const double shift = turns_into_limits(joint, problem.lower[l], problem.upper[l], low, high);
      for (int k = begin; k < frames; ++k)
        rows[std::size_t(k) * n + l] += shift;
    }
  }
}

// The least costs of all branches of the last frame, into scratch.cost, through `parent`. With `only`, from
// that branch of the first frame.
SUPPLE_FN void find_costs(const Problem &problem, const Search &search, const PathRequest &path, int begin,
                          int end, int only, BranchScratch &scratch) {
  constexpr int most = BranchScratch::most;
  const int n = problem.n;
  double *cost = scratch.cost, *before = scratch.cost + most;
  for (int i = 0; i < most; ++i)
    cost[i] = only < 0 || i == only ? 0 : unbounded;
  for (int f = begin + 1; f < end; ++f) {
    const double dt = time_to(path, f);
    for (int i = 0; i < most; ++i)
      before[i] = cost[i];
    for (int j = 0; j < scratch.count[f]; ++j) {
      const double *to = scratch.q + (std::size_t(f) * most + j) * n;
      cost[j] = 2 * unbounded;
      for (int i = 0; i < scratch.count[f - 1]; ++i) {
        const double *from = scratch.q + (std::size_t(f - 1) * most + i) * n;
        const double through =
            before[i] + branch_step_cost(problem, search, path, dt, from, to, scratch.steps);
        if (through < cost[j]) {
          cost[j] = through;
          scratch.parent[std::size_t(f) * most + j] = static_cast<unsigned char>(i);
        }
      }
    }
  }
}

// The branch of the last frame by which a path is cheapest, with the step from there to `wanted` if that is
// given; its cost.
SUPPLE_FN double cheapest_end(const Problem &problem, const Search &search, const PathRequest &path, int end,
                              const double *wanted, int &best, BranchScratch &scratch) {
  constexpr int most = BranchScratch::most;
  double least = 4 * unbounded;
  for (int j = 0; j < scratch.count[end - 1]; ++j) {
    const double *q = scratch.q + (std::size_t(end - 1) * most + j) * problem.n;
    const double dt = time_to(path, end - 1);
    const double cost = scratch.cost[j] +
                        (wanted ? branch_step_cost(problem, search, path, dt, q, wanted, scratch.steps) : 0);
    if (cost < least) {
      least = cost;
      best = j;
    }
  }
  return least;
}

// The cheapest path through the branches of frames begin to end, into rows. A closed path is tried from each
// branch of its first frame.
SUPPLE_FN void join_branches(const Problem &problem, const Search &search, const PathRequest &path, int begin,
                             int end, const double *start, BranchScratch &scratch, double *rows) {
  constexpr int most = BranchScratch::most;
  const int n = problem.n;
  const bool closes = path.closed && begin == 0 && end == path.frames && end > 1;
  const double *wanted = end == path.frames ? path.end : nullptr;
  int best = 0;
  if (closes) {
    int first = 0;
    double least = 4 * unbounded;
    for (int i = 0; i < scratch.count[begin]; ++i) {
      find_costs(problem, search, path, begin, end, i, scratch);
      const double *home = scratch.q + (std::size_t(begin) * most + i) * n;
      const double cost = cheapest_end(problem, search, path, end, home, best, scratch);
      if (cost < least) {
        least = cost;
        first = i;
      }
    }
    find_costs(problem, search, path, begin, end, first, scratch);
    wanted = scratch.q + (std::size_t(begin) * most + first) * n;
  } else {
    find_costs(problem, search, path, begin, end, -1, scratch);
  }
  cheapest_end(problem, search, path, end, wanted, best, scratch);
  for (int f = end - 1; f >= begin; --f) {
    for (int l = 0; l < n; ++l)
      rows[std::size_t(f - begin) * n + l] = scratch.q[(std::size_t(f) * most + best) * n + l];
    best = scratch.parent[std::size_t(f) * most + best];
  }
  unwind(problem, search, end - begin, start, rows);
}

} // namespace SUPPLE_ISA
} // namespace supple
