// The compiled search of one linkage and its goals, and the solve of one goal. Batches and the slots that
// Python calls directly are in search.cpp.
#pragma once
#include "kernels/search.h"
#include "problem.h"
#include "supple/search/table.h"
#include "threads.h"

#include <chrono>

// the time limit of a solve, by the steady clock
struct Timer {
  using Clock = std::chrono::steady_clock;
  std::chrono::duration<double, std::micro> limit;
  Clock::time_point end;
  explicit Timer(double microseconds) : limit(microseconds) {}

  static void start(void *self) {
    Timer &timer = *static_cast<Timer *>(self);
    timer.end = Clock::now() + std::chrono::duration_cast<Clock::duration>(timer.limit);
  }
  static bool passed(void *self) { return Clock::now() >= static_cast<Timer *>(self)->end; }
  Deadline deadline() { return limit.count() > 0 ? Deadline{start, passed, this} : Deadline{}; }
};

// One part of the goals of one target: an array with a row for each problem, or for all, of any strides.
struct Part {
  nb::object owner;
  const char *data = nullptr;
  npy_intp row = 0, step = 0, inner = 0; // strides in bytes
  int size = 0;

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
    row = lead ? PyArray_STRIDE(a, 0) : 0;
    inner = PyArray_STRIDE(a, lead + last - 1);
    step = last == 2 ? PyArray_STRIDE(a, lead) : 0;
    size = last == 2 ? 9 : 3;
  }
  void read(long long i, double *to) const {
    for (int k = 0; k < size; ++k)
      to[k] = *reinterpret_cast<const double *>(data + i * row + (k / 3) * step + (k % 3) * inner);
  }
};

struct SearchSolver {
  EncodedProblem encoded;
  Search search;
  Scratch search_memory{0}, table_memory{0}; // what `search` points into
  double microseconds;                       // time limit of a solve; 0: none
  Scratch scratch{0};                        // of one solve, for these kernels
  const SearchKernels *scratch_kernels;
  std::vector<double> q, goals, start; // of one solve
  std::vector<double> full, rest; // dof: a result before the search fills in its values; the rest position

  // sizes: natural size, weight and rest of each value of q; options: (restarts, iterations, longest step,
  // accept distance, microseconds, whether the nearest answer is wanted); tolerance: (position, angle);
  // reach: (distance, x, y, z)
  SearchSolver(nb::object tree, nb::list wanted, nb::handle lower, nb::handle upper, nb::list balls,
               nb::tuple sizes, nb::tuple options, nb::tuple tolerance, nb::tuple reach)
      : encoded(tree, wanted, lower, upper, balls) {
    const int n = encoded.problem.n, dof = encoded.dof;
    const Rows natural_size(sizes[0], "sizes", dof), weight(sizes[1], "weights", dof),
        rest_position(sizes[2], "rest", dof);
    std::vector<double> values[3];
    const double *given[3] = {natural_size.data, weight.data, rest_position.data};
    for (int k = 0; k < 3; ++k) {
      values[k].resize(n);
      encoded.gather(given[k], values[k].data());
    }
    rest.assign(rest_position.data, rest_position.data + dof);
    q.resize(n);
    start.resize(n);
    goals.resize(12 * encoded.targets.size());
    microseconds = number(options[4]);
    set_up({values[0].data(),
            values[1].data(),
            values[2].data(),
            whole(options[0]),
            whole(options[1]),
            number(options[2]),
            number(options[3]),
            number(tolerance[0]),
            number(tolerance[1]),
            number(reach[0]),
            {number(reach[1]), number(reach[2]), number(reach[3])},
            whole(options[5]) != 0});
  }
  SearchSolver(const SearchSolver &) = delete;

  void set_up(const SearchOptions &options) {
    const Problem &problem = encoded.problem;
    const SearchKernels &kernels = *instruction_set().search;
    allocate_scratch(kernels);
    bool table_possible;
    search_memory = Scratch(search_bytes(problem));
    search = set_up_search(problem, options, search_memory.data, table_possible);
    if (!table_possible)
      return;
    const Table table = table_geometry(problem);
    const Scratch table_scratch(table_scratch_bytes(problem, table));
    table_memory = Scratch(table_bytes(table));
    if (!set_up_table(problem, table, {kernels.sample, kernels.one, scratch.data}, table_memory.data,
                      table_scratch.data, search))
      table_memory = Scratch(0);
  }

  void allocate_scratch(const SearchKernels &kernels) {
    scratch = Scratch(kernels.scratch(encoded.problem, 0));
    scratch_kernels = &kernels;
  }

  // Reads a start, if any, into `start`, and the values that no goal needs into `full`; null if none is
  // given.
  const double *read_start(PyObject *given) {
    if (given == Py_None) {
      full = rest;
      return nullptr;
    }
    const Rows row(given, "start", encoded.dof);
    const npy_intp bad = row.not_finite();
    if (row.lead || bad >= 0)
      bad_input("start must be " + std::to_string(encoded.dof) + " finite numbers" +
                (bad >= 0 ? "; value " + std::to_string(bad) + " is not"
                          : ", not of shape " + shape_text(row.array)));
    full.assign(row.data, row.data + encoded.dof);
    encoded.gather(row.data, start.data());
    return start.data();
  }

  // one solve of what is in `goals`, into `to` (dof)
  Found solve_one(const double *from, double *to, int &count) {
    const SearchKernels &kernels = *instruction_set().search;
    if (scratch_kernels != &kernels)
      allocate_scratch(kernels);
    Timer timer(microseconds);
    const Found found = kernels.one(encoded.problem, search, {goals.data(), from, 1, timer.deadline()},
                                    q.data(), count, scratch.data);
    std::copy_n(full.data(), encoded.dof, to);
    encoded.scatter(q.data(), to);
    return found;
  }

  // one frame, or one for each goal; a start and a place for the answer, or none
  nb::object solve_frames(PyObject *given, PyObject *start, PyObject *into) {
    if (Py_TYPE(given) == frame_type.type)
      given = *reinterpret_cast<PyObject **>(reinterpret_cast<char *>(given) + frame_type.slot);
    const int targets = encoded.problem.target_count;
    const Rows frames(given, "goal", 4, 4);
    if (frames.n != targets || frames.lead > 1)
      bad_input("goal must have shape " +
                (targets > 1 ? "(" + std::to_string(targets) + ", 4, 4)" : std::string("(4, 4)")) + ", not " +
                shape_text(frames.array));
    for (int t = 0; t < targets; ++t)
      if (!read_goal(encoded.targets[t], frames.data + 16 * t, goals.data() + 12 * t))
        bad_input("goal must be a finite frame: a rotation and a position above 0 0 0 1");
    const double *from = read_start(start);
    nb::object out;
    double *to;
    if (into == Py_None) {
      const npy_intp size = encoded.dof;
      Fresh fresh(&size, 1, {});
      out = std::move(fresh.owner);
      to = fresh.data;
    } else {
      PyArrayObject *a = reinterpret_cast<PyArrayObject *>(into);
      if (!PyArray_Check(into) || PyArray_TYPE(a) != NPY_DOUBLE || !PyArray_ISCARRAY(a) ||
          PyArray_NDIM(a) != 1 || PyArray_DIM(a, 0) != encoded.dof)
        bad_input("out must be a writable, C-contiguous float64 array of shape (" +
                  std::to_string(encoded.dof) + ",)");
      out = nb::borrow(into);
      to = static_cast<double *>(PyArray_DATA(a));
    }
    int count;
    solve_one(from, to, count);
    return count ? std::move(out) : nb::none();
  }

  // the parts of one goal, each an array or none: (q, outcome, iterations, restarts)
  nb::object solve_parts(PyObject *position, PyObject *orientation, PyObject *direction, PyObject *start) {
    if (encoded.problem.target_count != 1)
      bad_input("one goal is given, but this search has several");
    std::fill_n(goals.data(), 12, 0.0);
    if (position != Py_None)
      Part(position, "position", -1, 1).read(0, goals.data() + 9);
    if (orientation != Py_None)
      Part(orientation, "orientation", -1, 2).read(0, goals.data());
    if (direction != Py_None)
      Part(direction, "direction", -1, 1).read(0, goals.data());
    for (int i = 0; i < 12; ++i)
      if (!std::isfinite(goals[i]))
        bad_input("a goal must be finite");
    const double *from = read_start(start);
    const npy_intp size = encoded.dof;
    Fresh out(&size, 1, {});
    int count;
    const Found found = solve_one(from, out.data, count);
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
