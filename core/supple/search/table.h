// The table of a search: samples of q in cells, by position and direction of the end effector.
//
// The table is made once, in generic code, on the caller's memory. Only its samples and the trial solves that
// decide whether it stays run in the instruction set in use, through SetupKernels.
#pragma once
#include "supple/search/setup.h"

namespace supple {
inline namespace SUPPLE_ISA {

// places of the numbers of a sample in a table
enum TableField : int {
  position_field = 0,
  direction_field = 3,
  side_field = 6,
  azimuth_field = 9,
  q_field = 10
};

// What a table knows of a frame, in the axes of the first joint. If the table solves for that joint's angle,
// the frame is turned back by its azimuth; position is then (radius, height, 0).
template <class T>
struct TableKey {
  Vec<T> position, direction, side;
  T azimuth;
};

template <class T>
SUPPLE_FLAT TableKey<T> table_key(const Table &table, const Frame<T> &tip, Vec<T> direction) {
  const Frame<T> base = constant<T>(table.base_rotation, table.base_position);
  const Rot<T> back = transpose(base.r);
  const T zero = splat<T>(0), one = splat<T>(1);
  TableKey<T> key{back * (tip * splat3<T>(table.point) - base.p), back * direction,
                  back * (tip.r * splat3<T>(table.side)), zero};
  if (!table.solves_first)
    return key;
  const Vec<T> p = key.position;
  key.azimuth = atan2(p.y, p.x);
  const T radius = root(p.x * p.x + p.y * p.y);
  const Mask<T> axial = radius < splat<T>(1e-9);
  const T safe = select(axial, one, radius);
  const T c = select(axial, one, p.x / safe);
  const T s = select(axial, zero, p.y / safe);
  auto turned_back = [&](Vec<T> v) { return Vec<T>{c * v.x + s * v.y, c * v.y - s * v.x, v.z}; };
  return {{radius, p.z, zero}, turned_back(key.direction), turned_back(key.side), key.azimuth};
}

// the cell of a position and a direction, as a whole number: a grid, times an octahedron unfolded into a
// square
template <class T>
SUPPLE_FLAT T table_cell(const Table &table, Vec<T> position, Vec<T> direction) {
  const T zero = splat<T>(0), one = splat<T>(1), half = splat<T>(0.5);
  auto slot = [&](T x, int count) { return whole_part(clip(x, zero, splat<T>(double(count - 1)))); };
  T at[3];
  store3(position, at);
  T cell = zero;
  for (int i = 0; i < 3; ++i)
    cell = cell * splat<T>(double(table.position_cells[i])) +
           slot((at[i] - splat<T>(table.cell_origin[i])) * splat<T>(1 / table.cell_size[i]),
                table.position_cells[i]);
  if (table.direction_cells == 1)
    return cell;
  const T sides = splat<T>(double(table.direction_cells));
  const T size = magnitude(direction.x) + magnitude(direction.y) + magnitude(direction.z);
  const T u = direction.x / size, v = direction.y / size;
  const Mask<T> below = direction.z < zero;
  const T folded_u = select(u < zero, magnitude(v) - one, one - magnitude(v));
  const T folded_v = select(v < zero, magnitude(u) - one, one - magnitude(u));
  auto along = [&](T x) { return slot((x + one) * half * sides, table.direction_cells); };
  return (cell * sides + along(select(below, folded_u, u))) * sides + along(select(below, folded_v, v));
}

// The numbers of `count` samples, one sample after another; q and axes are scratch. This runs in the
// instruction set in use.
template <class T>
SUPPLE_FN void sample_table(const Problem &problem, const Search &search, int count, T *q, Axis<T> *axes,
                            float *rows) {
  constexpr int W = Lane<T>::width;
  const Table &table = search.table;
  for (int first = 0; first < count; first += W) {
    for (int l = 0; l < problem.n; ++l) {
      const SearchJoint &joint = search.joints[l];
      const bool left_out =
          (table.solves_first && l == table.first_index) || (table.solves_last && l == table.last_index);
      const double middle = joint.range_begin + 0.5 * joint.range_size;
      for (int lane = 0; lane < W; ++lane) {
        const double even = even_seed(joint, first + lane);
        const double inside =
            joint.period > 0 ? even : middle + SearchConstants::sample_margin * (even - middle);
        put(q[l], lane, left_out ? 0.0 : inside);
      }
    }
    const Frame<T> tip = frame<T>(traverse_chain(problem.targets[0].chain, q, axes));
    const TableKey<T> key = table_key(table, tip, tip.r * splat3<T>(table.direction));
    T numbers[q_field];
    store3(key.position, numbers + position_field);
    store3(key.direction, numbers + direction_field);
    store3(key.side, numbers + side_field);
    numbers[azimuth_field] = key.azimuth;
    for (int lane = 0; lane < W && first + lane < count; ++lane) {
      float *row = rows + (first + lane) * table.fields;
      for (int i = 0; i < q_field; ++i)
        row[i] = float(get(numbers[i], lane));
      for (int l = 0; l < problem.n; ++l)
        row[q_field + l] = float(get(q[l], lane));
    }
  }
}

// Which angles the table leaves out, its frames and the number of its cells.
SUPPLE_FN Table table_geometry(const Problem &problem) {
  const Target &target = problem.targets[0];
  const Chain &chain = target.chain;
  const ChainJoint &first = chain.joints[0], &last = chain.joints[chain.count - 1];
  Table table{};
  table.solves_first = first.motion == revolute;
  table.solves_last = is_frame(target) && last.motion == revolute;
  table.has_direction = target.has_direction || is_frame(target);
  table.first_index = first.index;
  table.last_index = last.index;
  table.first_gain = first.turn_gain;
  table.last_gain = last.turn_gain;
  table.position_weight = target.weight[0];
  for (int k = 0; k < 9; ++k)
    table.base_rotation[k] = first.rotation[k];
  store3(load3(first.position), table.base_position);
  store3(load3(target.point), table.point);
  store3(load3(target.axis), table.direction);
  store3(Vec<double>{1, 0, 0}, table.side);
  if (table.solves_last) {
    // in the axes of the last joint: the point of its axis nearest to the target's point does not move
    const Frame<double> tip = constant<double>(chain.rotation, chain.position);
    const Rot<double> back = transpose(tip.r);
    const double height = (tip * load3(target.point)).z;
    store3(back * (Vec<double>{0, 0, height} - tip.p), table.point);
    store3(back * Vec<double>{0, 0, 1}, table.direction);
    store3(back * Vec<double>{1, 0, 0}, table.side);
  } else if (is_frame(target)) {
    store3(Vec<double>{0, 0, 1}, table.direction);
  }
  const int cylinder[3] = {4, 6, 1}, box[3] = {4, 4, 4};
  for (int k = 0; k < 3; ++k) {
    const int cells = table.solves_first ? cylinder[k] : box[k];
    table.position_cells[k] = table.has_direction || cells == 1 ? cells : 2 * cells;
  }
  table.direction_cells = table.has_direction ? 4 : 1;
  table.fields = q_field + problem.n;
  return table;
}

SUPPLE_FN int cell_count(const Table &table) {
  return table.position_cells[0] * table.position_cells[1] * table.position_cells[2] * table.direction_cells *
         table.direction_cells;
}

struct TableArrays {
  float *samples;
  int *counts;
};
SUPPLE_FN void lay_out(TableArrays &arrays, ScratchLayout &layout, const Table &table) {
  layout.array(arrays.samples, std::size_t(cell_count(table)) * table.fields * Table::cell_samples);
  layout.array(arrays.counts, cell_count(table));
}

// memory of set_up_table that is needed no longer than the call
struct TableScratch {
  float *rows;          // table_samples x fields
  double *q, *solution; // n: of a trial
  Axis<double> *axes;
};
SUPPLE_FN void lay_out(TableScratch &scratch, ScratchLayout &layout, const Problem &problem,
                       const Table &table) {
  layout.array(scratch.rows, std::size_t(SearchConstants::table_samples) * table.fields);
  layout.array(scratch.q, problem.n);
  layout.array(scratch.solution, problem.n);
  layout.array(scratch.axes, problem.targets[0].chain.axes + 1);
}

// the range of positions, divided into cells
SUPPLE_FN void set_up_cells(Table &table, const float *rows) {
  for (int k = 0; k < 3; ++k) {
    float least = rows[k], most = rows[k];
    for (int i = 0; i < SearchConstants::table_samples; ++i) {
      const float x = rows[std::size_t(i) * table.fields + k];
      least = lesser(x, least);
      most = larger(x, most);
    }
    table.cell_origin[k] = least;
    table.cell_size[k] = larger(double(most - least), 1e-9) / table.position_cells[k];
  }
}

// puts samples into their cells; a full cell takes no more
SUPPLE_FN void fill_table(Table &table, const float *rows, const TableArrays &arrays) {
  const int cells = cell_count(table);
  std::memset(arrays.samples, 0, sizeof(float) * cells * table.fields * Table::cell_samples);
  std::memset(arrays.counts, 0, sizeof(int) * cells);
  for (int i = 0; i < SearchConstants::table_samples; ++i) {
    const float *row = rows + std::size_t(i) * table.fields;
    const int cell =
        int(table_cell(table, Vec<double>{row[0], row[1], row[2]}, Vec<double>{row[3], row[4], row[5]}));
    if (arrays.counts[cell] >= Table::cell_samples)
      continue;
    float *sample = arrays.samples + cell * table.fields * Table::cell_samples + arrays.counts[cell]++;
    for (int f = 0; f < table.fields; ++f)
      sample[f * Table::cell_samples] = row[f];
  }
  table.samples = arrays.samples;
  table.counts = arrays.counts;
}

// Steps that the search takes for a set of reachable goals.
SUPPLE_FN long long trial_steps(const Problem &problem, const Search &search, const SetupKernels &kernels,
                                TableScratch &scratch) {
  const Target &target = problem.targets[0];
  long long steps = 0;
  for (int i = 0; i < SearchConstants::table_trials; ++i) {
    for (int l = 0; l < problem.n; ++l) {
      const SearchJoint &joint = search.joints[l];
      const double place = 0.25 + (i + 1) * search.joints[(l + 1) % problem.n].stride;
      scratch.q[l] = joint.range_begin + joint.range_size * (place - std::floor(place));
    }
    const Frame<double> tip = end_effector(target, scratch.q, scratch.axes);
    double goal[12];
    goal_numbers(target, tip, goal);
    int count;
    const Request request{goal, nullptr, 1, {}};
    steps += kernels.solve(problem, search, request, scratch.solution, count, kernels.scratch).iterations;
  }
  return steps;
}

// bytes of memory for a table, and of scratch to make it
SUPPLE_FN std::size_t table_bytes(const Table &table) {
  ScratchLayout layout = ScratchLayout::count();
  TableArrays arrays{};
  lay_out(arrays, layout, table);
  return layout.bytes();
}
SUPPLE_FN std::size_t table_scratch_bytes(const Problem &problem, const Table &table) {
  ScratchLayout layout = ScratchLayout::count();
  TableScratch scratch{};
  lay_out(scratch, layout, problem, table);
  return layout.bytes();
}

// The options of the search that a table is made and tried with. Those that a caller may change have fixed
// values here, so that all searches of a linkage and a kind of goal have the same table. `ones` (n) are 1.
SUPPLE_FN SearchOptions table_options(const SearchOptions &given, const double *ones) {
  SearchOptions options = given;
  options.weight = ones;
  options.max_restarts = SearchConstants::table_trial_restarts;
  options.max_iterations = SearchConstants::table_trial_iterations;
  options.max_step = SearchConstants::table_trial_step;
  options.position_tolerance = options.angle_tolerance = SearchConstants::table_trial_tolerance;
  return options;
}

// whether a table of this geometry may have the samples of another
SUPPLE_FN bool have_same_cells(const Table &a, const Table &b) {
  bool same = a.fields == b.fields && a.direction_cells == b.direction_cells;
  for (int k = 0; k < 3; ++k)
    same = same && a.position_cells[k] == b.position_cells[k];
  return same;
}

// Gives a search the table of another one of the same linkage and kind of goal; its memory must stay.
SUPPLE_FN void use_table(const Table &made, Search &search) {
  search.table = made;
  search.has_table = true;
}

// Gives a search a table of the geometry `table`, on `memory`, which must stay. False: searches need no fewer
// steps with it; the search is then as before and needs no memory for a table.
SUPPLE_FN bool set_up_table(const Problem &problem, const Table &table, const SetupKernels &kernels,
                            void *memory, void *scratch_memory, Search &search) {
  ScratchLayout layout = ScratchLayout::place(memory);
  ScratchLayout scratch_layout = ScratchLayout::place(scratch_memory);
  TableArrays arrays{};
  TableScratch scratch{};
  lay_out(arrays, layout, table);
  lay_out(scratch, scratch_layout, problem, table);
  search.table = table;
  kernels.sample(problem, search, SearchConstants::table_samples, scratch.rows, kernels.scratch);
  set_up_cells(search.table, scratch.rows);
  fill_table(search.table, scratch.rows, arrays);
  const long long steps_without = trial_steps(problem, search, kernels, scratch);
  search.has_table = true;
  if (trial_steps(problem, search, kernels, scratch) >= steps_without) {
    search.has_table = false;
    search.table = {};
  }
  return search.has_table;
}

} // namespace SUPPLE_ISA
} // namespace supple
