// The compiled search of one linkage and its goals, and the solve of one goal. Batches and the slots that
// Python calls directly are in search.cpp.
#pragma once
#include "kernels/search.h"
#include "problem.h"
#include "supple/cuda/types.h"
#include "supple/model/limits.h"
#include "supple/search/table.h"
#include "threads.h"
#include "watch.h"

#include <atomic>
#include <memory>
#include <utility>

// One part of the goals of one target: an array with a row for each problem, or for all, of any strides.
struct Part {
  nb::object owner;
  const char *data = nullptr;
  npy_intp row = 0, step = 0, inner = 0; // strides in bytes
  int size = 0, axes = 0;

  Part(nb::handle given, const char *what, npy_intp count, int last) {
    if (given.is_none())
      return;
    PyArrayObject *a = reinterpret_cast<PyArrayObject *>(given.ptr());
    const bool array = PyArray_Check(given.ptr()) && PyArray_TYPE(a) == NPY_DOUBLE && PyArray_ISBEHAVED_RO(a);
    const int lead = array ? PyArray_NDIM(a) - last : -1;
    bool fits = lead == 0 || lead == 1;
    if (lead == 1)
      fits = PyArray_DIM(a, 0) == count;
    for (int i = 0; i < last && fits; ++i)
      fits = PyArray_DIM(a, lead + i) == 3;
    if (!fits)
      bad_input(std::string(what) + " must be float64 with a row for each problem");
    owner = nb::borrow(given);
    data = PyArray_BYTES(a);
    axes = last;
    row = lead ? PyArray_STRIDE(a, 0) : 0;
    inner = PyArray_STRIDE(a, lead + last - 1);
    step = last == 2 ? PyArray_STRIDE(a, lead) : 0;
    size = last == 2 ? 9 : 3;
  }
  // Takes a copy if `written`, which is about to be written to, has memory in common with this part.
  void keep_apart(nb::handle written) {
    if (!data || !share_memory(array(owner), array(written)))
      return;
    PyObject *made = PyArray_NewCopy(array(owner), NPY_CORDER);
    if (!made)
      throw nb::python_error();
    const nb::object copy = nb::steal(made);
    *this = Part(copy, "", row_count(copy), axes);
  }
  void read(long long i, double *to) const {
    for (int k = 0; k < size; ++k)
      to[k] = *reinterpret_cast<const double *>(data + i * row + (k / 3) * step + (k % 3) * inner);
  }

private:
  static PyArrayObject *array(nb::handle given) { return reinterpret_cast<PyArrayObject *>(given.ptr()); }
  npy_intp row_count(nb::handle given) const {
    return PyArray_NDIM(array(given)) > axes ? PyArray_DIM(array(given), 0) : 0;
  }
};

// The memory of one solve. A call takes it and brings it back, so that calls of several threads, or one
// within another, never share it.
struct SolveMemory {
  const SearchKernels &kernels;
  const Scratch scratch;               // for these kernels
  std::vector<double> q, goals, start; // the joints that goals need; 12 a target
  std::vector<double> full;            // dof: a result before the search fills in its values

  SolveMemory(const SearchKernels &used, const EncodedProblem &encoded)
      : kernels(used), scratch(used.scratch(encoded.problem, 0)), q(encoded.problem.n),
        goals(12 * encoded.targets.size()), start(encoded.problem.n), full(encoded.dof) {
    used.place(encoded.problem, 0, scratch.data);
  }
};

// A table of seeds, or the knowledge that searches need none. Searches of one linkage and kind of goal share
// it, whatever their options; nobody changes it.
struct SeedTable {
  Scratch memory{0};
  Table table{}; // its arrays lie in `memory`
  bool is_used = false;
};
struct SharedTable {
  std::shared_ptr<const SeedTable> made;
};

struct SearchSolver {
  EncodedProblem encoded;
  Search search;
  Scratch search_memory{0};               // what `search` points into, but for its table
  std::shared_ptr<const SeedTable> seeds; // null: a search of this kind has no table
  double microseconds;                    // time limit of a solve; 0: none
  std::vector<double> rest;               // dof
  std::vector<Interval> others;           // joint values that no goal needs, unless they are locked
  std::vector<Ball> other_balls;
  SolveMemory *spare = nullptr; // taken and brought back under the interpreter lock

  // sizes: natural size, weight and rest of each value of q; options: (restarts, iterations, longest step,
  // accept distance, microseconds, whether the nearest solution is wanted); tolerance: (position, angle);
  // reach: (distance, x, y, z); table: that of another search of the same linkage and kind of goal, or None
  SearchSolver(nb::object tree, nb::handle targets, nb::handle lower, nb::handle upper, nb::handle balls,
               nb::handle given_sizes, nb::handle given_options, nb::handle tolerances,
               nb::handle given_reach, nb::handle table)
      : encoded(tree, targets, lower, upper, balls) {
    const int n = encoded.problem.n, dof = encoded.dof;
    const Fields sizes(given_sizes, "sizes", 3), options(given_options, "options", 6);
    const Rows natural_size(sizes[0], "sizes", dof), weight(sizes[1], "weights", dof),
        rest_position(sizes[2], "rest", dof);
    if (natural_size.n != 1 || weight.n != 1 || rest_position.n != 1)
      bad_input("sizes, weights and rest must be one row each");
    std::vector<double> values[3];
    const double *given[3] = {natural_size.data, weight.data, rest_position.data};
    for (int k = 0; k < 3; ++k) {
      values[k].resize(n);
      encoded.gather(given[k], values[k].data());
    }
    find_others(lower, upper, weight.data);
    rest.assign(rest_position.data, rest_position.data + dof);
    clamp_others(rest.data());
    microseconds = number(options[4]);
    double tolerance[2], reach[4];
    numbers(tolerances, "tolerance", 2, tolerance);
    numbers(given_reach, "reach", 4, reach);
    const SearchOptions all{values[0].data(),
                            values[1].data(),
                            values[2].data(),
                            whole(options[0], "restarts", 1, 1024),
                            whole(options[1], "iterations", 0),
                            number(options[2]),
                            number(options[3]),
                            tolerance[0],
                            tolerance[1],
                            reach[0],
                            {reach[1], reach[2], reach[3]},
                            truth(options[5])};
    if (!table.is_none())
      share_table(native<SharedTable>(table, "a SharedTable"));
    const nb::gil_scoped_release free; // a set-up takes a millisecond, and seconds for thousands of joints
    set_up(all);
  }
  SearchSolver(const SearchSolver &) = delete;
  ~SearchSolver() { delete spare; }

  void share_table(const SharedTable &given) {
    const bool simple = encoded.problem.target_count == 1 && encoded.problem.targets[0].chain.count > 0;
    if (!given.made || !simple || !have_same_cells(given.made->table, table_geometry(encoded.problem)))
      bad_input("a table of seeds is for searches of one linkage and kind of goal");
    seeds = given.made;
  }

  void set_up(const SearchOptions &options) {
    const Problem &problem = encoded.problem;
    const SearchKernels &kernels = *instruction_set().search;
    std::unique_ptr<SolveMemory> memory(new SolveMemory(kernels, encoded));
    bool table_possible;
    search_memory = Scratch(search_bytes(problem));
    search = set_up_search(problem, options, search_memory.data, table_possible);
    if (!table_possible)
      seeds = nullptr;
    else if (!seeds)
      seeds = make_table(options, *memory);
    if (seeds && seeds->is_used)
      use_table(seeds->table, search);
    spare = memory.release();
  }

  std::shared_ptr<const SeedTable> make_table(const SearchOptions &options, const SolveMemory &memory) const {
    const Problem &problem = encoded.problem;
    const std::vector<double> ones(problem.n, 1.0);
    const Scratch trial_memory(search_bytes(problem));
    bool possible;
    Search trial = set_up_search(problem, table_options(options, ones.data()), trial_memory.data, possible);
    const auto made = std::make_shared<SeedTable>();
    made->table = table_geometry(problem);
    const Scratch working(table_scratch_bytes(problem, made->table));
    made->memory = Scratch(table_bytes(made->table));
    made->is_used =
        set_up_table(problem, made->table, {memory.kernels.sample, memory.kernels.one, memory.scratch.data},
                     made->memory.data, working.data, trial);
    if (made->is_used)
      made->table = trial.table;
    else
      made->memory = Scratch(0);
    return made;
  }

  void find_others(nb::handle lower, nb::handle upper, const double *weight) {
    const int dof = encoded.dof;
    const Rows low(lower, "lower", dof), high(upper, "upper", dof);
    for (int i = 0; i < dof; ++i)
      if (encoded.place[i] < 0 && weight[i] > 0 && (low.data[i] > -unbounded || high.data[i] < unbounded))
        others.push_back({i, low.data[i], high.data[i]});
    for (const Ball &ball : encoded.other_balls)
      if (weight[ball.index] > 0 && is_limited(ball))
        other_balls.push_back(ball);
  }

  // brings the joints that no goal needs into their limits
  void clamp_others(double *q) const {
    for (const Interval &other : others)
      q[other.index] = clip(q[other.index], other.lower, other.upper);
    for (const Ball &ball : other_balls) {
      double *v = q + ball.index;
      store3(clamp_ball(load3(v), load3(ball.axis), ball.swing, ball.low, ball.high), v);
    }
  }

  struct GiveBack {
    SearchSolver &solver;
    void operator()(SolveMemory *memory) const { delete std::exchange(solver.spare, memory); }
  };
  using TakenMemory = std::unique_ptr<SolveMemory, GiveBack>;
  TakenMemory take_memory() {
    const SearchKernels &kernels = *instruction_set().search;
    SolveMemory *memory = std::exchange(spare, nullptr);
    if (memory && &memory->kernels != &kernels) {
      delete memory;
      memory = nullptr;
    }
    return TakenMemory(memory ? memory : new SolveMemory(kernels, encoded), {*this});
  }

  // Reads a start, if any, into `start`, and the values that no goal needs into `full`; null if none is
  // given.
  const double *read_start(PyObject *given, SolveMemory &memory) const {
    if (given == Py_None) {
      memory.full = rest;
      return nullptr;
    }
    const Rows row(given, "start", encoded.dof);
    const npy_intp bad = row.not_finite();
    if (row.lead || bad >= 0)
      bad_input("start must be " + std::to_string(encoded.dof) + " finite numbers" +
                (bad >= 0 ? "; value " + std::to_string(bad) + " is not"
                          : ", not of shape " + shape_text(row.array)));
    memory.full.assign(row.data, row.data + encoded.dof);
    clamp_others(memory.full.data());
    encoded.gather(row.data, memory.start.data());
    make_exact(encoded.problem, search, memory.start.data());
    return memory.start.data();
  }

  // One solve of the goals in `memory`; its values, with those that no goal needs, go to memory.full. No
  // Python runs but signal handlers; a long solve releases the interpreter lock.
  Found solve_one(const double *from, SolveMemory &memory, int &count) const {
    Found found;
    {
      std::atomic<bool> stopped{false};
      Watch watch(microseconds, Watch::holds_lock, stopped);
      const Request request{memory.goals.data(), from, 1, watch.deadline(encoded.problem.n)};
      found =
          memory.kernels.one(encoded.problem, search, request, memory.q.data(), count, memory.scratch.data);
    }
    raise_signal();
    encoded.scatter(memory.q.data(), memory.full.data());
    return found;
  }

  // One frame, or one for each goal; a start and a place for the solution, or none. All that may run Python
  // comes before the solve.
  nb::object solve_frames(PyObject *given, PyObject *start, PyObject *into) {
    const TakenMemory memory = take_memory();
    const int targets = encoded.problem.target_count;
    {
      const Rows frames(matrix_of(given), "goal", 4, 4);
      if (frames.n != targets || frames.lead > 1)
        bad_input("goal must have shape " +
                  (targets > 1 ? "(" + std::to_string(targets) + ", 4, 4)" : std::string("(4, 4)")) +
                  ", not " + shape_text(frames.array));
      for (int t = 0; t < targets; ++t)
        if (!read_goal(encoded.targets[t], frames.data + 16 * t, memory->goals.data() + 12 * t))
          bad_input("goal must be a finite frame: a rotation and a position above 0 0 0 1");
    }
    const double *from = read_start(start, *memory);
    if (into != Py_None)
      check_out(into);
    int count;
    solve_one(from, *memory, count);
    nb::object out;
    double *to;
    if (into == Py_None) {
      const npy_intp size = encoded.dof;
      Fresh fresh(&size, 1, {});
      to = fresh.data;
      out = std::move(fresh.owner);
    } else {
      check_out(into); // again: other threads may have run
      to = static_cast<double *>(PyArray_DATA(reinterpret_cast<PyArrayObject *>(into)));
      out = nb::borrow(into);
    }
    std::copy_n(memory->full.data(), encoded.dof, to);
    return count ? std::move(out) : nb::none();
  }

  void check_out(PyObject *into) const {
    PyArrayObject *a = reinterpret_cast<PyArrayObject *>(into);
    if (!is_writable(into) || PyArray_NDIM(a) != 1 || PyArray_DIM(a, 0) != encoded.dof)
      bad_input("out must be a writable, C-contiguous float64 array of shape (" +
                std::to_string(encoded.dof) + ",)");
  }

  // one goal, a frame (4, 4): (q, outcome, iterations, restarts)
  nb::object solve_frame(PyObject *frame, PyObject *start) {
    const TakenMemory memory = take_memory();
    {
      const Rows given(frame, "goal", 4, 4);
      if (encoded.problem.target_count != 1 || given.lead)
        bad_input("this search takes one frame (4, 4) for each goal");
      if (!read_goal(encoded.targets[0], given.data, memory->goals.data()))
        bad_input("goal must be a finite frame: a rotation and a position above 0 0 0 1");
    }
    return solution(start, *memory);
  }

  // the parts of one goal, each an array or none: (q, outcome, iterations, restarts)
  nb::object solve_parts(PyObject *position, PyObject *orientation, PyObject *direction, PyObject *start) {
    if (encoded.problem.target_count != 1)
      bad_input("one goal is given, but this search has several");
    const TakenMemory memory = take_memory();
    double *goals = memory->goals.data();
    std::fill_n(goals, 12, 0.0);
    if (position != Py_None)
      Part(position, "position", -1, 1).read(0, goals + 9);
    if (orientation != Py_None)
      Part(orientation, "orientation", -1, 2).read(0, goals);
    if (direction != Py_None)
      Part(direction, "direction", -1, 1).read(0, goals);
    for (int i = 0; i < 12; ++i)
      if (!std::isfinite(goals[i]))
        bad_input("a goal must be finite");
    return solution(start, *memory);
  }

  // the goals in `memory`, from a start or none: (q, outcome, iterations, restarts)
  nb::object solution(PyObject *start, SolveMemory &memory) const {
    const double *from = read_start(start, memory);
    int count;
    const Found found = solve_one(from, memory, count);
    const npy_intp size = encoded.dof;
    Fresh out(&size, 1, {});
    std::copy_n(memory.full.data(), size, out.data);
    PyObject *result = PyTuple_New(4);
    if (!result)
      throw nb::python_error();
    PyTuple_SetItem(result, 0, out.owner.release().ptr());
    PyTuple_SetItem(result, 1, PyLong_FromLong(found.outcome));
    PyTuple_SetItem(result, 2, PyLong_FromLong(found.iterations));
    PyTuple_SetItem(result, 3, PyLong_FromLong(found.restarts));
    return nb::steal(result);
  }
};
