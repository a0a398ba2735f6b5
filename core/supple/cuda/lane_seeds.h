// The first seeds of a goal of an arm, one in each lane.
//
// What TableSeeds does for all samples of a cell in one thread, with one sample in each lane. The formulas
// are those of search/seeds.h and search/setup.h, in single precision, with the numbers of an arm.
#pragma once
#include "supple/cuda/arm.h"
#include "supple/cuda/lanes.h"
#include "supple/search/seeds.h"

namespace supple {
inline namespace SUPPLE_ISA {

// What the table is looked up with, for one goal.
struct LaneKey {
  TableKey<float> key;
  int cell; // -1: there is no table
};

SUPPLE_FN LaneKey key_of_goal(const SolverBlock &block, const double *goal) {
  const Search &search = block.search;
  LaneKey found{};
  found.cell = -1;
  if (!search.has_table)
    return found;
  float numbers[12];
  SUPPLE_UNROLL(12)
  for (int i = 0; i < 12; ++i)
    numbers[i] = float(goal[i]);
  Target target;
  target.has_direction = arm_goal == position_and_axis; // known to the compiler
  for (int i = 0; i < 3; ++i)
    target.point[i] = block.problem.targets[0].point[i];
  found.key = TableSeeds::goal_key(target, search.table, numbers);
  found.cell = int(table_cell(search.table, found.key.position, found.key.direction));
  return found;
}

// One value of a seed, inside limits.
SUPPLE_FLAT float seed_value(const ArmJoint<float> &joint, float x) {
  return joint.size > 0 ? clip(x, joint.lower, joint.upper) : joint.middle;
}

// Seed k of those that need no table: the middle of the ranges, then evenly spaced ones.
template <int N>
SUPPLE_FLAT void load_even_seed(const Arm<float, N> &arm, int k, float *q) {
  SUPPLE_UNROLL(16)
  for (int i = 0; i < N; ++i) {
    const ArmJoint<float> &joint = arm.joints[i];
    q[i] = seed_value(joint, k == 0 ? joint.middle : even_seed(joint, k));
  }
}

// The first seeds of a goal, one in each of W lanes: the samples of the table's cell, best first, as
// TableSeeds has them, then those without a table. Each lane works out one sample. place(i, k, q) receives
// seed k of lane i, where k is less than `wanted`. Returns how many are from the table.
template <int N, int W, class Place>
SUPPLE_FLAT int seeds_in_lanes(const SolverBlock &block, const Arm<float, N> &arm, const LaneKey &goal,
                               int wanted, Place place) {
  using L = RowLanes<W>;
  constexpr int size = Table::cell_samples;
  static_assert(W >= size, "a lane for each sample");
  const Search &search = block.search;
  const Table &table = search.table;
  const int count = goal.cell < 0 ? 0 : table.counts[goal.cell];
  const float *samples = table.samples + static_cast<long long>(goal.cell) * table.fields * size;
  float distance[L::own], first[L::own], last[L::own];
  int rank[L::own];
  for (int i = 0; i < L::own && goal.cell >= 0; ++i) { // before the count is there
    const int sample = L::lane(i) % size;
    const float sum = sample_distance(
        table, arm_goal == whole_frame, goal.key, arm.joints[0], arm.joints[N - 1],
        [&](int f) { return samples[f * size + sample]; }, first[i], last[i]);
    distance[i] = sample < count ? sum : TableSeeds::worst;
  }
  for (int i = 0; i < L::own && count; ++i) {
    rank[i] = 0;
    SUPPLE_UNROLL(16)
    for (int other = 0; other < size; ++other) {
      const float theirs = L::from(distance, 1, other);
      rank[i] += theirs < distance[i] || (theirs == distance[i] && other < L::lane(i) % size);
    }
  }
  for (int i = 0; i < L::own; ++i) {
    const int k = L::lane(i);
    int sample = 0;
    SUPPLE_UNROLL(16)
    for (int other = 0; other < size; ++other)
      sample = count && L::from(rank, 1, other) == k ? other : sample;
    const float first_value = L::from(first, 1, sample);
    const float last_value = L::from(last, 1, sample);
    if (k >= wanted)
      continue;
    float q[N];
    if (k < count) {
      SUPPLE_UNROLL(16)
      for (int j = 0; j < N; ++j) {
        const int l = arm.joints[j].index;
        const float stored = samples[(q_field + l) * size + sample];
        const float x = table.solves_first && l == table.first_index ? first_value
                        : table.solves_last && l == table.last_index ? last_value
                                                                     : stored;
        q[j] = seed_value(arm.joints[j], x);
      }
    } else {
      load_even_seed(arm, k - count, q);
    }
    place(i, k, q);
  }
  return count;
}

} // namespace SUPPLE_ISA
} // namespace supple
