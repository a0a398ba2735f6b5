// Batches of the compiled search (`many`), which threads share, and the slots through which Python calls a
// solve of one goal directly. The solve of one goal itself is in search.h.
#include "search.h"

#include <atomic>

namespace {

// The arrays of a call of `many`.
struct ManyArrays {
  std::vector<Part> parts; // position, orientation and direction of each target
  nb::object start_owner;
  const double *start = nullptr; // rows x dof, or null
  double *q;                     // rows x solutions x dof
  npy_int64 *report;             // 3 x rows x solutions: outcome, iterations, restarts
  long long rows;
  int solutions; // of each row

  ManyArrays(const SearchSolver &solver, nb::handle given_goals, nb::object given_start, nb::handle into,
             nb::handle reported, int wanted) {
    const int dof = solver.encoded.dof;
    const std::vector<Fields> goals = EncodedProblem::rows_of(given_goals, "goal", 3);
    if (int(goals.size()) != solver.encoded.problem.target_count)
      bad_input("there must be as many goals as were planned for");
    if (wanted < 0)
      bad_input("a number of solutions must not be negative");
    if (!is_writable(into))
      bad_input("q must be a writable, C-contiguous float64 array");
    PyArrayObject *numbers = reinterpret_cast<PyArrayObject *>(reported.ptr());
    const Rows out = wanted ? Rows(into, "q", wanted, dof) : Rows(into, "q", dof);
    rows = out.n;
    solutions = wanted ? wanted : 1;
    if (!is_writable(reported, NPY_INT64) || PyArray_SIZE(numbers) != 3 * rows * solutions || out.lead != 1)
      bad_input("q and report must have the same number of rows");
    if (share_memory(out.array, numbers))
      bad_input("q and report must not share memory");
    for (const Fields &goal : goals) {
      parts.emplace_back(goal[0], "position", rows, 1);
      parts.emplace_back(goal[1], "orientation", rows, 2);
      parts.emplace_back(goal[2], "direction", rows, 1);
    }
    for (Part &part : parts) {
      part.keep_apart(into);
      part.keep_apart(reported);
    }
    if (!given_start.is_none()) {
      Rows s(given_start, "start", dof);
      if (s.n != rows)
        bad_input("goals and start must have the same number of rows");
      s.keep_apart(into);
      s.keep_apart(reported);
      start_owner = s.owner;
      start = s.data;
    }
    q = const_cast<double *>(out.data);
    report = static_cast<npy_int64 *>(PyArray_DATA(numbers));
  }

  void set_report(long long place, int outcome, int iterations, int restarts) const {
    report[place] = outcome;
    report[rows * solutions + place] = iterations;
    report[2 * rows * solutions + place] = restarts;
  }

  // the goals of a row (12 for each target); false if they, or the start, are not finite
  bool read(const SearchSolver &solver, long long row, double *goals) const {
    const int targets = solver.encoded.problem.target_count, dof = solver.encoded.dof;
    std::fill_n(goals, 12 * targets, 0.0);
    for (int t = 0; t < targets; ++t) {
      parts[3 * t].read(row, goals + 12 * t + 9);
      parts[3 * t + 1].read(row, goals + 12 * t);
      parts[3 * t + 2].read(row, goals + 12 * t);
    }
    double sum = 0; // 0 * x is 0 only where x is finite, else NaN
    for (int i = 0; i < 12 * targets; ++i)
      sum += goals[i] * 0.0;
    for (int i = 0; start && i < dof; ++i)
      sum += start[row * dof + i] * 0.0;
    return sum == 0;
  }

  // a row that cannot be solved: its start where that is finite, else the rest position
  void set_invalid(const SearchSolver &solver, long long row) const {
    const int dof = solver.encoded.dof;
    for (int k = 0; k < solutions; ++k) {
      const long long place = row * solutions + k;
      set_report(place, invalid, 0, 0);
      for (int i = 0; i < dof; ++i) {
        const bool given = start && std::isfinite(start[row * dof + i]);
        q[place * dof + i] = given ? start[row * dof + i] : solver.rest[i];
      }
    }
  }

  // a solved row: `found_count` solutions; further places repeat the first as no_more
  void set_solutions(const SearchSolver &solver, long long row, const Found &found, int found_count,
                     const double *values) const {
    const int dof = solver.encoded.dof, n = solver.encoded.problem.n;
    for (int k = 0; k < solutions; ++k) {
      const long long place = row * solutions + k;
      std::copy_n(start ? start + row * dof : solver.rest.data(), dof, q + place * dof);
      solver.clamp_others(q + place * dof);
      solver.encoded.scatter(values + (k < found_count ? k : 0) * n, q + place * dof);
      set_report(place, k && k >= found_count ? no_more : found.outcome, found.iterations, found.restarts);
    }
  }
};

// What one thread needs to solve chunks of rows.
struct ManyWorker {
  const SearchSolver &solver;
  const SearchKernels &kernels;
  const ManyArrays &arrays;
  const long long chunk;
  const int wanted;
  Scratch scratch;
  std::vector<double> goals, start, q;
  std::vector<Found> found;
  std::vector<long long> rows; // of the arrays, those in the chunk that can be solved
  const std::atomic<bool> &stopped;
  Watch watch;

  ManyWorker(const SearchSolver &f, const SearchKernels &k, const ManyArrays &a, long long chunk_rows,
             int solutions, Watch::Role role, std::atomic<bool> &stop)
      : solver(f), kernels(k), arrays(a), chunk(chunk_rows), wanted(solutions),
        scratch(kernels.scratch(f.encoded.problem, chunk_rows)),
        goals(chunk_rows * 12 * f.encoded.problem.target_count),
        start(a.start ? chunk_rows * f.encoded.problem.n : 0),
        q(chunk_rows * a.solutions * f.encoded.problem.n), found(chunk_rows), stopped(stop),
        watch(f.microseconds, role, stop) {
    rows.reserve(chunk_rows);
    kernels.place(f.encoded.problem, chunk_rows, scratch.data);
  }

  // rows `begin` to at most begin + chunk or `end`
  void solve(long long begin, long long end) {
    const int n = solver.encoded.problem.n;
    const std::size_t size = 12 * std::size_t(solver.encoded.problem.target_count);
    rows.clear();
    for (long long row = begin; row < std::min<long long>(begin + chunk, end); ++row) {
      const std::size_t place = rows.size();
      if (!arrays.read(solver, row, goals.data() + place * size)) {
        arrays.set_invalid(solver, row);
        continue;
      }
      if (arrays.start) {
        solver.encoded.gather(arrays.start + row * solver.encoded.dof, start.data() + place * n);
        make_exact(solver.encoded.problem, solver.search, start.data() + place * n);
      }
      rows.push_back(row);
    }
    const double *starts = arrays.start ? start.data() : nullptr;
    const Deadline deadline = watch.deadline(n);
    int count = 0;
    if (!wanted)
      kernels.many(solver.encoded.problem, solver.search,
                   {(long long)rows.size(), goals.data(), starts, deadline, q.data(), found.data()},
                   scratch.data);
    else if (!rows.empty())
      found[0] = kernels.one(solver.encoded.problem, solver.search, {goals.data(), starts, wanted, deadline},
                             q.data(), count, scratch.data);
    if (stopped)
      return; // the rows of this chunk stay undone
    for (std::size_t i = 0; i < rows.size(); ++i)
      arrays.set_solutions(solver, rows[i], found[i], count, q.data() + i * arrays.solutions * n);
  }
};

// Rows begin to end: goals is a list of (position, orientation, direction), each an array or None; start
// (rows, dof) or None. Fills q (rows, dof) and report (3, rows): outcome, iterations, restarts. With
// `wanted`, up to so many solutions for each: q (rows, wanted, dof), report (3, rows, wanted), where what is
// beyond those found repeats the first and counts as no_more.
void search_many(SearchSolver &solver, nb::handle goals, nb::object start, nb::handle into, nb::handle report,
                 int wanted, long long begin, long long end) {
  const ManyArrays arrays(solver, goals, start, into, report, wanted);
  if (begin < 0 || end < begin || end > arrays.rows)
    bad_input("begin to end must be rows of q");
  const SearchKernels &kernels = *instruction_set().search;
  const bool long_steps = solver.encoded.problem.n > many_joints;
  // at the end of a chunk lanes wait for the last: a large one has less of that, a small one is shared better
  const long long chunk = wanted ? 1 : long_steps ? 8 : end - begin < 16384 ? 256 : 1024;
  std::atomic<long long> next{begin};
  std::atomic<bool> stopped{false};
  const std::thread::id caller = std::this_thread::get_id();
  {
    const nb::gil_scoped_release free;
    // `parallel` gives the number of threads alone, at most one for each chunk; chunks come from `next`
    parallel((end - begin + chunk - 1) / chunk * 64, 64, [&](long long, long long) {
      const bool hears = std::this_thread::get_id() == caller;
      ManyWorker worker(solver, kernels, arrays, chunk, wanted,
                        hears ? Watch::hears_signals : Watch::only_waits, stopped);
      for (long long first; !stopped && (first = next.fetch_add(chunk)) < end;)
        worker.solve(first, end);
    });
  }
  raise_signal();
}

// Descents from starts (rows, dof) for goals (rows, targets, 12), without restarts: (q, arrived). With `part`
// >= 0 each row begins where the one before it ended, drawn by that part to its start.
nb::tuple search_descend(SearchSolver &solver, nb::handle goals, nb::handle start, double part,
                         int max_steps) {
  const EncodedProblem &encoded = solver.encoded;
  const Rows g(goals, "goals", encoded.problem.target_count, 12), s(start, "start", encoded.dof);
  if (g.lead != 1 || s.lead != 1 || g.n != s.n)
    bad_input("goals and start must have one leading axis of the same length");
  if (g.not_finite() >= 0 || s.not_finite() >= 0)
    bad_input("goals and start must be finite");
  if (!(part <= 1) || max_steps < 1 || max_steps > 10000)
    bad_input("part must be at most 1, and max_steps from 1 to 10000");
  const npy_intp rows = g.n;
  const int n = encoded.problem.n;
  std::vector<double> from(std::size_t(rows) * n), to(std::size_t(rows) * n);
  std::vector<int> outcomes(rows);
  Fresh q(s, {encoded.dof}), there(s, {});
  {
    const SearchSolver::TakenMemory memory = solver.take_memory();
    const nb::gil_scoped_release free;
    for (npy_intp i = 0; i < rows; ++i)
      encoded.gather(s.data + i * encoded.dof, from.data() + i * n);
    if (rows)
      memory->kernels.descend(encoded.problem, solver.search,
                              {rows, g.data, from.data(), part, max_steps, to.data(), outcomes.data()},
                              memory->scratch.data);
    for (npy_intp i = 0; i < rows; ++i) {
      double *row = q.data + i * encoded.dof;
      std::copy_n(s.data + i * encoded.dof, encoded.dof, row);
      solver.clamp_others(row);
      encoded.scatter(to.data() + i * n, row);
      there.data[i] = outcomes[i] == arrived;
    }
  }
  return nb::make_tuple(std::move(q.owner), std::move(there.owner));
}

// Entry points that Python calls directly, without the binding's conversion of arguments.
template <class F>
PyObject *guarded(F call) {
  try {
    return call().release().ptr();
  } catch (nb::python_error &error) {
    error.restore();
  } catch (...) {
    set_python_error(std::current_exception());
  }
  return nullptr;
}
// raises if __init__ was not called
void check_made(PyObject *self) {
  if (nb::inst_ready(self))
    return;
  PyErr_SetString(PyExc_TypeError, "__init__ was not called");
  throw nb::python_error();
}

// An object that solves one goal when it is called; `owner` keeps the solver alive.
struct DirectSearch {
  nb::object owner;
  SearchSolver *solver;
  explicit DirectSearch(nb::object given)
      : owner(given), solver(&native<SearchSolver>(given, "a SearchSolver")) {}
};
PyObject *call_search(PyObject *self, PyObject *args, PyObject *names) {
  return guarded([&] {
    static const char *const known[3] = {"goal", "start", "out"};
    PyObject *given[3] = {nullptr, Py_None, Py_None};
    const Py_ssize_t count = PyTuple_Size(args);
    for (Py_ssize_t i = 0; i < count && i < 3; ++i)
      given[i] = PyTuple_GetItem(args, i);
    Py_ssize_t named = 0;
    for (int i = int(count); i < 3 && names; ++i)
      if (PyObject *value = PyDict_GetItemString(names, known[i])) {
        given[i] = value;
        ++named;
      }
    if (count > 3 || !given[0] || (names && named != PyDict_Size(names))) {
      PyErr_SetString(PyExc_TypeError, "a compiled solver is called with goal, start=None, out=None");
      throw nb::python_error();
    }
    check_made(self);
    try {
      return nb::inst_ptr<DirectSearch>(self)->solver->solve_frames(given[0], given[1], given[2]);
    } catch (const nb::python_error &error) {
      if (!error.matches(nb::module_::import_("supple._check").attr("ForeignArray")))
        throw;
    } // a goal that is an array of another library
    return nb::module_::import_("supple._solve.foreign")
        .attr("solve_compiled")(nb::handle(self), nb::handle(given[0]), nb::handle(given[1]),
                                nb::handle(given[2]));
  });
}
PyType_Slot call_slots[] = {{Py_tp_call, reinterpret_cast<void *>(call_search)}, {0, nullptr}};
PyObject *call_answer(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  return guarded([&] {
    if (count != 2 && count != 4)
      bad_input("solution takes a frame and a start, or position, orientation, direction and start");
    check_made(self);
    if (count == 2)
      return nb::inst_ptr<SearchSolver>(self)->solve_frame(args[0], args[1]);
    return nb::inst_ptr<SearchSolver>(self)->solve_parts(args[0], args[1], args[2], args[3]);
  });
}
using FastCall = PyObject *(*)(PyObject *, PyObject *const *, Py_ssize_t);
PyMethodDef answer_method = {
    "answer", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)(void)>(FastCall(call_answer))),
    METH_FASTCALL,
    "solution(frame, start) or solution(position, orientation, direction, start): (q, outcome, iterations, "
    "restarts) of one goal."};

} // namespace

#define ARRAY "numpy.typing.NDArray[numpy.float64]"

void bind_search(nb::module_ &m) {
  nb::class_<DirectSearch>(m, "DirectSearch", nb::type_slots(call_slots),
                           "Called with a goal, a start and an array for the solution; see supple.solver.")
      .def(nb::init<nb::object>(), nb::sig("def __init__(self, solver: SearchSolver, /) -> None"));
  nb::class_<SharedTable>(m, "SharedTable",
                          "A table of seeds that searches of one linkage and kind of goal share.");
  nb::class_<SearchSolver>(m, "SearchSolver", "A linkage and its goals, compiled together for the search.")
      .def(nb::init<nb::object, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle,
                    nb::handle, nb::handle, nb::handle>(),
           nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
           nb::arg() = nb::none(),
           nb::sig("def __init__(self, tree: Tree, targets: list[typing.Any], lower: " ARRAY ", upper: " ARRAY
                   ", balls: list[typing.Any], sizes: "
                   "tuple[typing.Any, ...], how: tuple[typing.Any, ...], tolerance: tuple[typing.Any, ...], "
                   "reach: tuple[typing.Any, ...], table: SharedTable | None = None, /) -> None"))
      .def_prop_ro(
          "table",
          [](const SearchSolver &f) { return f.seeds ? nb::cast(SharedTable{f.seeds}) : nb::none(); },
          nb::sig("def table(self) -> SharedTable | None"),
          "The table of seeds, for other searches of the same linkage and kind of goal; None if this kind "
          "has "
          "none.")
      .def_prop_ro(
          "has_table", [](const SearchSolver &f) { return f.search.has_table; },
          "Whether the search takes its first seeds from a table.")
      .def_prop_ro(
          "columns", [](const SearchSolver &f) { return int(f.encoded.columns.size()); },
          "How many values of q some goal needs.")
      .def_prop_ro(
          "answer",
          [](nb::handle self) {
            PyObject *made = PyCFunction_New(&answer_method, self.ptr());
            if (!made)
              throw nb::python_error();
            return nb::steal(made);
          },
          nb::sig("def answer(self) -> typing.Callable[..., tuple[" ARRAY ", int, int, int]]"),
          "answer(frame, start) or answer(position, orientation, direction, start), each an array or None: "
          "q (dof,), outcome, iterations and restarts of one goal.")
      .def("many", search_many, nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
           nb::arg(),
           nb::sig(
               "def many(self, goals: list[typing.Any], start: " ARRAY " | None, q: " ARRAY
               ", report: numpy.typing.NDArray[numpy.int64], wanted: int, begin: int, end: int, /) -> None"),
           "Rows begin to end into q (rows, dof) and report (3, rows): outcome, iterations, restarts. Goals "
           "are (position, orientation, direction) for "
           "each; with `wanted`, q (rows, wanted, dof) and report (3, rows, wanted), nearest first.")
      .def("descend", search_descend, nb::arg(), nb::arg(), nb::arg(), nb::arg(),
           nb::sig("def descend(self, goals: " ARRAY ", start: " ARRAY
                   ", part: float, max_steps: int, /) -> tuple[" ARRAY ", " ARRAY "]"),
           "Descents without restarts for goals (rows, targets, 12) from start (rows, dof): q (rows, dof), "
           "and 1 "
           "for each row that arrived, else 0. With part >= 0 each row begins where the one before it ended, "
           "drawn by that part to its start.");
}
