// Where a search begins: a table of samples by where they bring the hand, and starts that fill the range of q
// evenly.
#pragma once
#include "supple/model/chain.h"
#include "supple/search/types.h"
#include "supple/task/goal.h"

namespace supple {
inline namespace SUPPLE_ISA {

// The k-th of a sequence of starts that fills the range of every joint evenly (Kronecker's, with the roots of
// Roberts).
SUPPLE_FN double even_start(const Search &search, int l, int k) {
  const double part = 0.5 + (k + 1) * search.spread[l];
  return search.from[l] + search.span[l] * (part - std::floor(part));
}

// places of the numbers of a sample in a table
enum Field : int { place_field = 0, direction_field = 3, across_field = 6, azimuth_field = 9, q_field = 10 };

// what a table asks of a frame: its place, direction and what is across it, without the azimuth that it has
template <class T>
struct Clue {
  Vec<T> place, direction, across;
  T azimuth;
};

template <class T>
SUPPLE_FLAT Clue<T> clue_of(const Table &table, const Frame<T> &hand, Vec<T> pointing) {
  using S = Scalar<T>;
  auto constant3 = [](const double *v) { return Vec<T>{T(S(v[0])), T(S(v[1])), T(S(v[2]))}; };
  const Frame<T> base = constant<T>(table.rotation, table.position);
  const Rot<T> back = transpose(base.r);
  const T zero(S(0));
  Clue<T> clue{back * (hand * constant3(table.point) - base.p), back * pointing,
               back * (hand.r * constant3(table.across)), zero};
  if (!table.turns_first)
    return clue;
  clue.azimuth = atan2(clue.place.y, clue.place.x);
  const T radius = root(clue.place.x * clue.place.x + clue.place.y * clue.place.y);
  const Mask<T> axial = radius < T(S(1e-9));
  const T safe = select(axial, T(S(1)), radius), c = select(axial, T(S(1)), clue.place.x / safe),
          s = select(axial, zero, clue.place.y / safe);
  auto turn = [&](Vec<T> v) { return Vec<T>{c * v.x + s * v.y, c * v.y - s * v.x, v.z}; };
  return {{radius, clue.place.z, zero}, turn(clue.direction), turn(clue.across), clue.azimuth};
}

// the cell of a place and a direction: a grid, times an octahedron unfolded into a square
SUPPLE_FN int cell_of(const Table &table, Vec<double> place, Vec<double> direction) {
  auto slot = [](double x, int count) { return int(clip(std::floor(x), 0.0, double(count - 1))); };
  const double at[3] = {place.x, place.y, place.z};
  int cell = 0;
  for (int i = 0; i < 3; ++i)
    cell = cell * table.places[i] + slot((at[i] - table.low[i]) / table.step[i], table.places[i]);
  if (table.sides == 1)
    return cell;
  const double size = std::fabs(direction.x) + std::fabs(direction.y) + std::fabs(direction.z);
  double u = direction.x / size, v = direction.y / size;
  if (direction.z < 0) {
    const double fold = (1 - std::fabs(v)) * (u < 0 ? -1 : 1);
    v = (1 - std::fabs(u)) * (v < 0 ? -1 : 1);
    u = fold;
  }
  return (cell * table.sides + slot((u + 1) * 0.5 * table.sides, table.sides)) * table.sides +
         slot((v + 1) * 0.5 * table.sides, table.sides);
}

// what points, of a hand or of a goal: its own axis, or the direction that the goal gives
template <class T>
SUPPLE_FLAT Vec<T> pointing_of(const Table &table, const Rot<T> &hand) {
  using S = Scalar<T>;
  return hand * Vec<T>{T(S(table.axis[0])), T(S(table.axis[1])), T(S(table.axis[2]))};
}

// Samples `count` rows of a table's fields, in lanes, one sample after another; q and axes are working
// memory.
template <class T>
SUPPLE_FN void sample_table(const Problem &problem, const Search &search, const Table &table, int count, T *q,
                            Axis<T> *axes, float *rows) {
  constexpr int W = Lane<T>::width;
  for (int first = 0; first < count; first += W) {
    for (int l = 0; l < problem.n; ++l)
      for (int lane = 0; lane < W; ++lane) {
        // a margin to the limits leaves room to go on
        const double even = even_start(search, l, first + lane),
                     inside = search.from[l] + 0.5 * search.span[l];
        const bool left_out =
            (table.turns_first && l == table.first) || (table.turns_last && l == table.last);
        put(q[l], lane, left_out ? 0.0 : search.period[l] > 0 ? even : inside + 0.97 * (even - inside));
      }
    const Frame<T> hand = frame<T>(traverse_chain(problem.targets[0].chain, q, axes));
    const Clue<T> clue = clue_of(table, hand, pointing_of(table, hand.r));
    const T numbers[q_field] = {clue.place.x,     clue.place.y,     clue.place.z,  clue.direction.x,
                                clue.direction.y, clue.direction.z, clue.across.x, clue.across.y,
                                clue.across.z,    clue.azimuth};
    for (int lane = 0; lane < W && first + lane < count; ++lane) {
      float *row = rows + (first + lane) * table.fields;
      for (int i = 0; i < q_field; ++i)
        row[i] = float(get(numbers[i], lane));
      for (int l = 0; l < problem.n; ++l)
        row[q_field + l] = float(get(q[l], lane));
    }
  }
}

// Puts samples into their cells, the first that come; there must be room for all cells.
SUPPLE_FN void fill_table(Table &table, const float *rows, int count, float *samples, int *counts) {
  for (int i = 0; i < count; ++i) {
    const float *row = rows + i * table.fields;
    const int cell = cell_of(table, {row[0], row[1], row[2]}, {row[3], row[4], row[5]});
    if (counts[cell] >= Table::spots)
      continue;
    float *into = samples + cell * table.fields * Table::spots + counts[cell]++;
    for (int f = 0; f < table.fields; ++f)
      into[f * Table::spots] = row[f];
  }
  table.samples = samples;
  table.counts = counts;
}

// The samples of a cell that a goal falls into, each with its distance from the goal and the two joints that
// follow.
struct Seeds {
  using Spots = Pack<float, Table::spots>;
  const float *samples = nullptr;
  int count = 0, order[Table::spots];
  bool sorted;
  float score[Table::spots], first[Table::spots], last[Table::spots];

  // one angle of a joint that differs from another by whole turns and is nearest to the middle of its range
  static SUPPLE_FLAT Spots turned_in(Spots angle, const Search &search, int l, double gain, Spots &outside) {
    const Spots turn(float(6.283185307179586 / gain)), middle(float(search.from[l] + 0.5 * search.span[l])),
        half(float(0.5 * search.span[l]));
    const Spots q = angle * Spots(float(1 / gain)), away = (q - middle) / turn;
    const Spots whole = (away + Spots(big<float>)) - Spots(big<float>), at = q - whole * turn;
    outside = search.period[l] > 0 ? Spots(0.0f) : larger(magnitude(at - middle) - half, Spots(0.0f));
    return at;
  }

  // of one goal: its twelve numbers, a direction if it only points
  SUPPLE_FN void look_up(const Problem &problem, const Search &search, const double *goal) {
    const Table &table = *search.table;
    const Target &target = problem.targets[0];
    const bool direction = target.component[target.rows - 1] >= across_1;
    Frame<double> hand = goal_frame<double>(goal);
    // the goal is for the target's point, seen from the link
    const Vec<double> point{target.point[0], target.point[1], target.point[2]};
    if (direction || !table.points)
      hand.r = identity<double>(),
      hand.p = hand.p - Vec<double>{table.point[0], table.point[1], table.point[2]};
    else
      hand.p = hand.p - hand.r * point;
    const Vec<double> pointing =
        direction ? Vec<double>{goal[0], goal[1], goal[2]} : pointing_of(table, hand.r);
    const Clue<double> clue = clue_of(table, hand, pointing);
    const int cell = cell_of(table, clue.place, clue.direction);
    samples = table.samples + cell * table.fields * Table::spots;
    count = table.counts[cell];
    sorted = false;
    if (!count)
      return;
    auto field = [&](int f) {
      Spots x;
      std::memcpy(&x, samples + f * Table::spots, sizeof x);
      return x;
    };
    auto one = [](double x) { return Spots(float(x)); };
    auto square = [](Spots x) { return x * x; };
    Spots far = one(table.weight * table.weight) *
                (square(field(0) - one(clue.place.x)) + square(field(1) - one(clue.place.y)) +
                 square(field(2) - one(clue.place.z)));
    const Spots x = field(6), y = field(7), z = field(8);
    const Vec<double> g = clue.across, d = clue.direction;
    Spots out(0.0f), angle(0.0f);
    if (table.points)
      far = far + square(field(3) - one(d.x)) + square(field(4) - one(d.y)) + square(field(5) - one(d.z));
    if (table.turns_first) {
      const Spots at =
          turned_in(one(clue.azimuth) - field(azimuth_field), search, table.first, table.first_gain, out);
      std::memcpy(first, &at, sizeof at);
      far = far + out * out;
    }
    if (table.turns_last) {
      const Spots sine = (y * one(g.z) - z * one(g.y)) * one(d.x) + (z * one(g.x) - x * one(g.z)) * one(d.y) +
                         (x * one(g.y) - y * one(g.x)) * one(d.z);
      const Spots at = turned_in(atan2(sine, x * one(g.x) + y * one(g.y) + z * one(g.z)), search, table.last,
                                 table.last_gain, out);
      std::memcpy(last, &at, sizeof at);
      far = far + out * out;
    } else if (table.points && !direction) {
      far = far + square(x - one(g.x)) + square(y - one(g.y)) + square(z - one(g.z));
    }
    far = select(far < Spots(1e30f), far, Spots(1e30f)); // what is no number comes last
    std::memcpy(score, &far, sizeof far);
  }

  // the k-th best sample
  SUPPLE_FN int spot(int k) {
    if (k == 0) {
      int best = 0;
      for (int i = 1; i < count; ++i)
        best = score[i] < score[best] ? i : best;
      return best;
    }
    if (!sorted)
      sort();
    return order[k];
  }

  // each sample's rank is how many are better; of equals the first is
  SUPPLE_FN void sort() {
    sorted = true;
    float rank[Table::spots] = {};
    for (int i = count; i < Table::spots; ++i)
      score[i] = 1e30f;
    for (int i = 0; i < count; ++i)
      for (int k = 0; k < Table::spots; ++k)
        rank[k] += score[i] < score[k] || (score[i] == score[k] && i < k) ? 1.0f : 0.0f;
    for (int k = 0; k < count; ++k)
      order[int(rank[k])] = k;
  }

  SUPPLE_FLAT double value(const Table &table, int spot, int l) const {
    if (table.turns_first && l == table.first)
      return first[spot];
    if (table.turns_last && l == table.last)
      return last[spot];
    return samples[(q_field + l) * Table::spots + spot];
  }
};

} // namespace SUPPLE_ISA
} // namespace supple
