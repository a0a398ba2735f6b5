// Seeds for the nearest solution to the caller's start: samples of the table, the neighbourhood of the start,
// and solutions with a wrist turned over. Where no restart arrives: joints at their other limits.
#pragma once
#include "supple/search/seeds.h"

namespace supple {
inline namespace SUPPLE_ISA {

// ---- Samples of the table ----

// The samples of the cells round a goal, each with its distance from the start.
struct SampleSeeds {
  static constexpr int cells = SearchConstants::near_cells, capacity = cells * Table::cell_samples;
  int count = 0, cell_count = 0;
  int cell[cells];                                   // those looked up
  int cell_of[capacity], sample_of[capacity];        // of each seed
  float squared_distance[capacity];                  // from the start, in weighted sizes
  float first_angle[capacity], last_angle[capacity]; // as joint values
  int order[capacity];                               // the sorted ones
  int sorted = 0, next = 0;                          // how many, and how many of them are taken

  // squared distances of joint value l of all samples of a cell from the start
  static SUPPLE_FLAT TableSeeds::Samples squared_gaps(const SearchJoint &joint, TableSeeds::Samples value,
                                                      double start) {
    using Samples = TableSeeds::Samples;
    Samples gap = value - splat<Samples>(start);
    if (joint.full_turn > 0) {
      const Samples period = splat<Samples>(joint.full_turn), rounder = Samples(big<float>);
      gap = gap - ((gap / period + rounder) - rounder) * period;
    }
    const Samples size = gap * splat<Samples>(1 / joint.weighted_size);
    return size * size;
  }

  SUPPLE_FN void add_cell(const Problem &problem, const Search &search, const double *start,
                          const TableKey<double> &key, int place, TableSeeds &samples) {
    for (int i = 0; i < cell_count; ++i)
      if (cell[i] == place)
        return;
    cell[cell_count++] = place;
    samples.look_up(problem, search, key, place);
    if (!samples.count)
      return;
    const Table &table = search.table;
    TableSeeds::Samples sum = TableSeeds::Samples(0.0f);
    for (int l = 0; l < problem.n; ++l) {
      TableSeeds::Samples value = samples.field(q_field + l);
      if (table.solves_first && l == table.first_index)
        std::memcpy(&value, samples.first_angle, sizeof value);
      if (table.solves_last && l == table.last_index)
        std::memcpy(&value, samples.last_angle, sizeof value);
      sum = sum + squared_gaps(search.joints[l], value, start[l]);
    }
    std::memcpy(squared_distance + count, &sum, sizeof sum);
    for (int i = 0; i < samples.count; ++i, ++count) {
      first_angle[count] = samples.first_angle[i];
      last_angle[count] = samples.last_angle[i];
      cell_of[count] = place;
      sample_of[count] = i;
    }
  }

  // Adds the cells of the goal and of goals beside it: shifted in one or two of radius, height and two tilts.
  SUPPLE_APART void add_cells(const Problem &problem, const Search &search, const Request &request,
                              TableSeeds &samples) {
    const Table &table = search.table;
    const TableKey<double> key = TableSeeds::goal_key(problem.targets[0], table, request.goals);
    const Vec<double> direction = key.direction;
    const Vec<double> other = std::fabs(direction.x) < 0.6 ? Vec<double>{1, 0, 0} : Vec<double>{0, 1, 0};
    const Vec<double> across = cross(direction, other);
    const Vec<double> side = (1 / root(larger(dot(across, across), 1e-30))) * across;
    const Vec<double> up = cross(direction, side);
    auto add = [&](const double *shift) {
      const double cells = SearchConstants::near_shift, tilt = SearchConstants::near_tilt;
      const Vec<double> at{key.position.x + shift[0] * cells * table.cell_size[0],
                           key.position.y + shift[1] * cells * table.cell_size[1], key.position.z};
      const Vec<double> tilted = direction + (tilt * shift[2]) * side + (tilt * shift[3]) * up;
      add_cell(problem, search, request.start, key, int(table_cell(table, at, tilted)), samples);
    };
    double shift[4] = {};
    add(shift);
    for (int i = 0; i < 8; ++i) {
      shift[i / 2] = i % 2 ? -1 : 1;
      add(shift);
      shift[i / 2] = 0;
    }
    for (int i = 0; i < 8 && search.moves_to_start; ++i)
      for (int k = 2 * (i / 2) + 2; k < 8; ++k) {
        shift[i / 2] = i % 2 ? -1 : 1;
        shift[k / 2] = k % 2 ? -1 : 1;
        add(shift);
        shift[i / 2] = shift[k / 2] = 0;
      }
  }

  // Sorts the seeds within `bound` by their distance, to a tenth of a weighted size.
  SUPPLE_FN void sort(double bound) {
    constexpr int buckets = 128;
    int end[buckets + 1] = {};
    const float most = float(lesser(bound * bound, 1e30));
    auto bucket = [](float x) { return int(lesser(10 * std::sqrt(x), float(buckets - 1))); };
    for (int i = 0; i < count; ++i)
      if (squared_distance[i] < most)
        ++end[bucket(squared_distance[i]) + 1];
    for (int k = 0; k < buckets; ++k)
      end[k + 1] += end[k];
    next = 0;
    sorted = end[buckets];
    for (int i = 0; i < count; ++i)
      if (squared_distance[i] < most)
        order[end[bucket(squared_distance[i])]++] = i;
  }

  // A value x of a joint plus whole turns, as near to the start as its limits allow. Solutions that slide are
  // often nearest to the start at a limit: a value that is outside by little is moved there, not to the other
  // end of the range, a whole turn away.
  static SUPPLE_FN double near_turn(const SearchJoint &joint, double x, double start, double lower,
                                    double upper) {
    const double nearest = x + joint.full_turn * std::round((start - x) / joint.full_turn);
    const double inside = clip(nearest, lower, upper);
    const bool stops = !(joint.period > 0) && std::fabs(nearest - inside) * full_circle <
                                                  SearchConstants::near_outside * joint.full_turn;
    return stops ? inside : nearest_turn(x, start, joint.full_turn, lower, upper);
  }

  // The next seed within `bound`, into `row` (n); false: there is none.
  SUPPLE_FN bool take(const Problem &problem, const Search &search, const double *start, double bound,
                      double *row) {
    if (next >= sorted || !(squared_distance[order[next]] < bound * bound))
      return false;
    const int i = order[next++];
    const Table &table = search.table;
    const float *samples = table.samples + cell_of[i] * table.fields * Table::cell_samples;
    for (int l = 0; l < problem.n; ++l) {
      const SearchJoint &joint = search.joints[l];
      const bool first = table.solves_first && l == table.first_index;
      const bool last = table.solves_last && l == table.last_index;
      const double x = first  ? first_angle[i]
                       : last ? last_angle[i]
                              : samples[(q_field + l) * Table::cell_samples + sample_of[i]];
      row[l] = joint.full_turn > 0 ? near_turn(joint, x, start[l], problem.lower[l], problem.upper[l])
                                   : clip(x, joint.lower, joint.upper);
    }
    return true;
  }
};

// ---- Round the start ----

// The k-th seed of an even sequence in a box round the start, into `row` (n). Its half side is `size`, in
// weighted sizes, and no more than half the range of a joint.
SUPPLE_APART void seed_round_start(const Problem &problem, const Search &search, const double *start, int k,
                                   double size, double *row) {
  for (int l = 0; l < problem.n; ++l) {
    const SearchJoint &joint = search.joints[l];
    const double x = even_seed_round(start[l], joint, size * joint.weighted_size, k);
    row[l] = joint.weighted_size > 0 ? clip(x, joint.lower, joint.upper) : start[l];
  }
  clamp_balls(problem, search, row);
}

// ---- Wrists turned over ----

// squared distance of two rows of joint values, in weighted sizes, give or take whole periods
SUPPLE_FN double squared_gap(const Problem &problem, const Search &search, const double *a, const double *b) {
  double sum = 0;
  for (int l = 0; l < problem.n; ++l) {
    const SearchJoint &joint = search.joints[l];
    if (!(joint.weighted_size > 0))
      continue;
    double gap = a[l] - b[l];
    if (joint.period > 0)
      gap -= joint.period * std::round(gap / joint.period);
    gap /= joint.weighted_size;
    sum += gap * gap;
  }
  return sum;
}

// Turns over the wrist of joints k, k + 1 and k + 2 of a chain at q, into `row` (n): half a turn, minus twice
// the angle between the outer axes, half a turn. Where the three axes meet in a point the end effector stays;
// where they nearly do this is a good seed. False: each axis must be at a right angle to the one before.
SUPPLE_FN bool flip_wrist(const Problem &problem, const Search &search, const double *start,
                          const Chain &chain, int k, const Axis<double> *axes, const double *q, double *row) {
  for (int i = k; i < k + 3; ++i) {
    const ChainJoint &joint = chain.joints[i];
    if (joint.motion != revolute || joint.shared || !(search.joints[joint.index].weighted_size > 0))
      return false;
  }
  const Vec<double> first = axes[k].z, middle = axes[k + 1].z, last = axes[k + 2].z;
  if (std::fabs(dot(first, middle)) > SearchConstants::flip_cosine ||
      std::fabs(dot(middle, last)) > SearchConstants::flip_cosine)
    return false;
  const double angle = std::atan2(dot(middle, cross(first, last)), dot(first, last));
  const double by[3] = {0.5 * full_circle, -2 * angle, 0.5 * full_circle};
  for (int l = 0; l < problem.n; ++l)
    row[l] = q[l];
  for (int i = 0; i < 3; ++i) {
    const ChainJoint &chain_joint = chain.joints[k + i];
    const int l = chain_joint.index;
    const SearchJoint &joint = search.joints[l];
    const double period = full_circle / std::fabs(chain_joint.turn_gain);
    double x = q[l] + by[i] / chain_joint.turn_gain;
    x += period * std::round((start[l] - x) / period);
    if (x < joint.lower && x + period <= joint.upper)
      x += period;
    if (x > joint.upper && x - period >= joint.lower)
      x -= period;
    row[l] = clip(x, joint.lower, joint.upper);
  }
  return true;
}

// ---- Joints at their other limits ----

// Seeds beside joint values q (n): each joint at a limit, one after another, at its other limit. Of a range
// of nearly a full turn that is nearly the same angle.
struct OppositeLimits {
  int next = 0; // the joint value of the next seed

  // The next seed, into `row` (n); false: there is none.
  SUPPLE_FN bool take(const Problem &problem, const Search &search, const double *q, double *row) {
    for (; next < problem.n; ++next) {
      const SearchJoint &joint = search.joints[next];
      const bool low = q[next] <= joint.lower, limited = joint.upper - joint.lower < unbounded;
      if (!(joint.weighted_size > 0) || !limited || !(low || q[next] >= joint.upper))
        continue;
      for (int l = 0; l < problem.n; ++l)
        row[l] = q[l];
      row[next++] = low ? joint.upper : joint.lower;
      return true;
    }
    return false;
  }
};

// What the search for the nearest solution needs beside its lanes.
struct NearScratch {
  SampleSeeds *samples;
  double *known;      // SearchConstants::known_solutions x n: solutions that differ
  double *flipped;    // SearchConstants::flips x n
  Axis<double> *axes; // of one chain, and one more
};

SUPPLE_FN void lay_out(NearScratch &scratch, ScratchLayout &layout, const Problem &problem) {
  int longest = 0;
  for (int t = 0; t < problem.target_count; ++t) {
    const int axes = problem.targets[t].chain.axes;
    longest = axes > longest ? axes : longest;
  }
  layout.array(scratch.samples, 1);
  layout.array(scratch.known, SearchConstants::known_solutions * problem.n);
  layout.array(scratch.flipped, SearchConstants::flips * problem.n);
  layout.array(scratch.axes, longest + 1);
}

} // namespace SUPPLE_ISA
} // namespace supple
