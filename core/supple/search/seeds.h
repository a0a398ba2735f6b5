// The seeds that a table has for a goal: the samples of the goal's cell, best first.
#pragma once
#include "supple/search/floating_root.h"
#include "supple/search/table.h"

namespace supple {
inline namespace SUPPLE_ISA {

// ---- Samples and a goal ----
//
// S: a number of one sample, or of several. Joint: SearchJoint, or what has the same numbers in another
// precision.

// The joint value of an angle, give or take full turns, that is nearest to the middle of the joint's range;
// `outside`: how far it is outside that range.
template <class S, class Joint, class R>
SUPPLE_FLAT S value_of_angle(S angle, const Joint &joint, R gain, S &outside) {
  const S full_turn = splat<S>(R(full_circle) / gain);
  const S middle = splat<S>(joint.range_begin + R(0.5) * joint.range_size);
  const S half = splat<S>(R(0.5) * joint.range_size);
  const S q = angle * splat<S>(1 / gain), turns_off = (q - middle) / full_turn;
  const S whole_turns = (turns_off + S(big<Scalar<S>>)) - S(big<Scalar<S>>);
  const S value = q - whole_turns * full_turn;
  outside = joint.period > 0 ? splat<S>(0) : larger(magnitude(value - middle) - half, splat<S>(0));
  return value;
}

constexpr float farthest_sample = 1e30f;

// The distance of samples from the goal that has this key:
// w^2 |p - p_goal|^2 + |d - d_goal|^2 + |side - side_goal|^2 + (how far solved angles are outside)^2,
// and the joint values of the solved angles, of those that the table solves for. field(f): the number f of
// the samples; `has_side`: whether the goal has a whole orientation.
template <class S, class K, class Joint, class Field>
SUPPLE_FLAT S sample_distance(const Table &table, bool has_side, const TableKey<K> &key,
                              const Joint &first_joint, const Joint &last_joint, Field field, S &first_value,
                              S &last_value) {
  using R = decltype(Joint::range_size);
  auto number = [](K x) { return splat<S>(x); };
  auto vector = [&](Vec<K> v) { return Vec<S>{number(v.x), number(v.y), number(v.z)}; };
  auto fields = [&](int f) { return Vec<S>{field(f), field(f + 1), field(f + 2)}; };
  auto plus_squared = [&](S sum, int f, Vec<K> v) {
    const Vec<S> off = fields(f) - vector(v);
    return sum + off.x * off.x + off.y * off.y + off.z * off.z;
  };
  const Vec<S> off = fields(position_field) - vector(key.position);
  const R weight = R(table.position_weight);
  S sum = splat<S>(weight * weight) * dot(off, off), outside;
  if (table.has_direction)
    sum = plus_squared(sum, direction_field, key.direction);
  if (table.solves_first) {
    const S angle = number(key.azimuth) - field(azimuth_field);
    first_value = value_of_angle(angle, first_joint, R(table.first_gain), outside);
    sum = sum + outside * outside;
  }
  if (table.solves_last) { // the angle that turns the side of a sample to that of the goal
    const Vec<S> side = fields(side_field), goal_side = vector(key.side);
    const S angle = atan2(dot(cross(side, goal_side), vector(key.direction)), dot(side, goal_side));
    last_value = value_of_angle(angle, last_joint, R(table.last_gain), outside);
    sum = sum + outside * outside;
  } else if (table.has_direction && has_side) {
    sum = plus_squared(sum, side_field, key.side);
  }
  return select(sum < S(farthest_sample), sum, S(farthest_sample)); // not a number: last
}

// The samples of one cell, each with its distance from the goal and the two angles that follow from the goal.
struct TableSeeds {
  using Samples = Pack<float, Table::cell_samples>; // one number of each sample of a cell
  const float *samples = nullptr;
  int count = 0;
  float distance[Table::cell_samples];
  float first_angle[Table::cell_samples], last_angle[Table::cell_samples]; // as joint values
  int taken = 0;                                                           // samples, best first
  int order[Table::cell_samples];                                          // those

  SUPPLE_FLAT Samples field(int f) const {
    Samples x;
#if defined(__CUDA_ARCH__) // four numbers at a time: threads read different cells
    const float4 *from = reinterpret_cast<const float4 *>(samples + f * Table::cell_samples);
    SUPPLE_UNROLL(4)
    for (int i = 0; i < Table::cell_samples / 4; ++i) {
      const float4 four = from[i];
      x.v[4 * i] = four.x;
      x.v[4 * i + 1] = four.y;
      x.v[4 * i + 2] = four.z;
      x.v[4 * i + 3] = four.w;
    }
#else
    std::memcpy(&x, samples + f * Table::cell_samples, sizeof x);
#endif
    return x;
  }

  // The table's key of a goal. A goal without a rotation is looked up as if the end effector had none.
  template <class T>
  static SUPPLE_FN TableKey<T> goal_key(const Target &target, const Table &table, const T *goal) {
    Frame<T> tip = goal_frame(goal);
    const bool pointing = target.has_direction;
    if (pointing || !table.has_direction) {
      tip.r = identity<T>();
      tip.p = tip.p - splat3<T>(table.point);
    } else {
      tip.p = tip.p - tip.r * splat3<T>(target.point);
    }
    return table_key(table, tip, pointing ? load3(goal) : tip.r * splat3<T>(table.direction));
  }

  // Finds the cell of one goal (its twelve numbers) and the distances of its samples.
  SUPPLE_FN void look_up(const Problem &problem, const Search &search, const double *goal) {
    const Table &table = search.table;
    const Target &target = problem.targets[0];
    const TableKey<double> key = goal_key(target, table, goal);
    look_up(problem, search, key, int(table_cell(table, key.position, key.direction)));
  }

  // The samples of one cell, with their distances from the goal that has this key.
  template <class S>
  SUPPLE_APART void look_up(const Problem &problem, const Search &search, const TableKey<S> &key, int cell) {
    const Table &table = search.table;
    const Target &target = problem.targets[0];
    samples = table.samples + cell * table.fields * Table::cell_samples;
    count = table.counts[cell];
    taken = 0;
    if (!count)
      return;
    Samples first, last;
    const Samples sum = sample_distance(
        table, !target.has_direction, key, search.joints[table.first_index], search.joints[table.last_index],
        [this](int f) { return field(f); }, first, last);
    if (table.solves_first)
      std::memcpy(first_angle, &first, sizeof first);
    if (table.solves_last)
      std::memcpy(last_angle, &last, sizeof last);
    std::memcpy(distance, &sum, sizeof sum);
    for (int i = count; i < Table::cell_samples; ++i)
      distance[i] = worst;
  }
  static constexpr float worst = 2e30f; // not a sample, or taken

  // The k-th best sample; of equal ones the first is better. Samples are taken one after another, best first.
  SUPPLE_FN int sample(int k) {
    for (; taken <= k; ++taken) {
      order[taken] = best();
      distance[order[taken]] = worst;
    }
    return order[k];
  }

  // the first of the samples with the least distance that is not taken
  SUPPLE_FN int best() const {
    static_assert(Table::cell_samples == 16, "halved to 8 and to 4");
    Samples all;
    Pack<float, 8> eight[2];
    Pack<float, 4> four[2];
    std::memcpy(&all, distance, sizeof all);
    std::memcpy(eight, distance, sizeof eight);
    const Pack<float, 8> least_eight = lesser(eight[0], eight[1]);
    std::memcpy(four, &least_eight, sizeof four);
    const Pack<float, 4> least = lesser(four[0], four[1]);
    const float lowest = lesser(lesser(get(least, 0), get(least, 1)), lesser(get(least, 2), get(least, 3)));
    return first_bit(bits_of(all == Samples(lowest)));
  }

  // joint value l of a sample
  SUPPLE_FLAT double value(const Table &table, int sample, int l) const {
    if (table.solves_first && l == table.first_index)
      return first_angle[sample];
    if (table.solves_last && l == table.last_index)
      return last_angle[sample];
    return samples[(q_field + l) * Table::cell_samples + sample];
  }
};

// Where the table is to be looked up, for the goal of each lane.
template <class T>
struct TablePlace {
  TableKey<T> key;
  T cell;

  SUPPLE_FN static TablePlace of(const Target &target, const Table &table, const T *goals) {
    const TableKey<T> key = TableSeeds::goal_key(target, table, goals);
    return {key, table_cell(table, key.position, key.direction)};
  }
  SUPPLE_FN TableKey<Scalar<T>> key_of(int lane) const {
    auto vector = [lane](const Vec<T> &v) {
      return Vec<Scalar<T>>{get(v.x, lane), get(v.y, lane), get(v.z, lane)};
    };
    return {vector(key.position), vector(key.direction), vector(key.side), get(key.azimuth, lane)};
  }
  SUPPLE_FN void look_up(const Problem &problem, const Search &search, int lane, TableSeeds &seeds) const {
    seeds.look_up(problem, search, key_of(lane), int(get(cell, lane)));
  }
  // Fetches the samples that look_up will need.
  SUPPLE_FN void prefetch(const Table &table, int lane) const {
    const int size = table.fields * Table::cell_samples;
    [[maybe_unused]] const float *samples = table.samples + int(get(cell, lane)) * size;
    for (int i = 0; i < size; i += 16)
      SUPPLE_PREFETCH(samples + i);
  }
};

// ---- Seeds without a table ----

// moves the balls of a row of q into their limits
SUPPLE_FN void clamp_balls(const Problem &problem, const Search &search, double *row) {
  for (int i = 0; i < problem.ball_count; ++i) {
    const Ball &ball = problem.balls[i];
    if (!(search.joints[ball.index].weighted_size > 0))
      continue;
    double *v = row + ball.index;
    store3(clamp_ball(load3(v), load3(ball.axis), ball.swing, ball.low, ball.high), v);
  }
}

// Where locked joints stay, what joints that wrap come back to, and what solutions are sorted by.
SUPPLE_FLAT double reference(const Search &search, const Request &request, int l) {
  return request.start ? request.start[l] : search.joints[l].middle;
}

// ---- Arcs, for chains of many joints ----

// Evenly spaced values of many joints make a tangle, from which no descent leads to a stretched chain.
SUPPLE_FN bool has_arcs(const Problem &problem) {
  const Target &target = problem.targets[0];
  return problem.target_count == 1 && problem.n >= SearchConstants::arc_joints && is_position(target) &&
         !target.masses.count && target.chain.axes == target.chain.count;
}

// Every joint bent by `angle` from the middle of its range, or every second one, into `row` (n).
SUPPLE_FN void bend(const Problem &problem, const Search &search, const Request &request, int k, double angle,
                    double *row) {
  const double sign = k % 2 ? -1 : 1;
  for (int l = 0; l < problem.n; ++l) {
    const SearchJoint &joint = search.joints[l];
    const double share = k < 2 || l % 2 == k % 2 ? sign * angle : 0;
    const double x = joint.middle + share * joint.natural_size;
    row[l] = joint.weighted_size > 0 ? clip(x, joint.lower, joint.upper) : reference(search, request, l);
  }
}

// Turns the first joints of a chain one after another so that its end points to the goal.
SUPPLE_FN void point_to(const Problem &problem, const Search &search, Vec<double> goal, Axis<double> *axes,
                        double *row) {
  const Target &target = problem.targets[0];
  const Chain &chain = target.chain;
  for (int i = 0; i < chain.count && i < SearchConstants::pointing_joints; ++i) {
    const ChainJoint &chain_joint = chain.joints[i];
    const SearchJoint &joint = search.joints[chain_joint.index];
    if (chain_joint.motion != revolute || chain_joint.turn_gain == 0 || !(joint.weighted_size > 0))
      continue;
    const Vec<double> end = end_effector(target, row, axes).p, axis = axes[i].z;
    const Vec<double> to = end - axes[i].p, from = goal - axes[i].p;
    const Vec<double> a = to - dot(axis, to) * axis, b = from - dot(axis, from) * axis;
    const double angle = std::atan2(dot(axis, cross(a, b)), dot(a, b));
    double &x = row[chain_joint.index];
    x = clip(x + angle / chain_joint.turn_gain, joint.lower, joint.upper);
  }
}

// The k-th arc, into `row` (n): as long from the first joint to its end as the goal is away, and pointed to
// it.
SUPPLE_FN void make_arc(const Problem &problem, const Search &search, const Request &request, int k,
                        Axis<double> *axes, double *row) {
  const Target &target = problem.targets[0];
  const Vec<double> goal = goal_frame(request.goals).p;
  double low = 0, high = full_circle / problem.n;
  for (int half = 0; half < SearchConstants::arc_halvings; ++half) {
    const double angle = 0.5 * (low + high);
    bend(problem, search, request, k, angle, row);
    const Vec<double> end = end_effector(target, row, axes).p;
    const Vec<double> span = end - axes[0].p, wanted = goal - axes[0].p;
    (dot(span, span) > dot(wanted, wanted) ? low : high) = angle;
  }
  bend(problem, search, request, k, low, row);
  point_to(problem, search, goal, axes, row);
}

// Seed k of a solve, into `row` (n): the caller's start if there is one, the samples of the table, the middle
// of the ranges, arcs for chains of many joints, then evenly spaced ones. `axes`: scratch for one chain.
SUPPLE_APART void make_seed(const Problem &problem, const Search &search, const Request &request, int k,
                            TableSeeds &seeds, Axis<double> *axes, double *row) {
  const bool is_start = request.start && k == 0;
  if (request.start)
    --k;
  const int sample = k >= 0 && k < seeds.count ? seeds.sample(k) : -1;
  if (k >= seeds.count)
    k -= seeds.count;
  if (sample < 0 && k > 0 && has_arcs(problem)) {
    k -= SearchConstants::arc_seeds;
    if (k <= 0)
      return make_arc(problem, search, request, k + SearchConstants::arc_seeds - 1, axes, row);
  }
  for (int l = 0; l < problem.n; ++l) {
    const SearchJoint &joint = search.joints[l];
    const double x = is_start      ? request.start[l]
                     : sample >= 0 ? seeds.value(search.table, sample, l)
                     : k == 0      ? joint.middle
                                   : even_seed(joint, k);
    row[l] = joint.weighted_size > 0 ? clip(x, joint.lower, joint.upper) : reference(search, request, l);
  }
  if (!is_start && search.aligns_root)
    align_root(problem, request.goals, axes, row);
  clamp_balls(problem, search, row);
}

} // namespace SUPPLE_ISA
} // namespace supple
