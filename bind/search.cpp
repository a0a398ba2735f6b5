// Searches at the wall: one goal through the fast doors, or many shared out among threads.
#include "search.h"

#include <atomic>

namespace supple {
namespace baseline {
extern const Hunts hunt_table;
}
#ifdef SUPPLE_HAS_avx2
namespace avx2 {
extern const Hunts hunt_table;
}
#endif
#ifdef SUPPLE_HAS_avx512
namespace avx512 {
extern const Hunts hunt_table;
}
#endif
} // namespace supple

const Hunts &hunts() {
  const char *name = kernels().name;
#ifdef SUPPLE_HAS_avx512
  if (!std::strcmp(name, supple::avx512::hunt_table.name))
    return supple::avx512::hunt_table;
#endif
#ifdef SUPPLE_HAS_avx2
  if (!std::strcmp(name, supple::avx2::hunt_table.name))
    return supple::avx2::hunt_table;
#endif
  (void)name;
  return supple::baseline::hunt_table;
}

namespace {

// Rows begin to end: goals is a list of (position, orientation, direction), each an array or None; start
// (rows, dof) or None. Fills q (rows, dof) and report (3, rows): outcome, iterations, starts. With `wanted`,
// up to so many answers for each: q (rows, wanted, dof), report (3, rows, wanted), where what is beyond those
// found repeats the first and counts as spent.
void finder_many(Finder &finder, nb::list goals, nb::object start, nb::handle into, nb::handle report,
                 int wanted, long long begin, long long end) {
  const int n = finder.posed.problem.n, dof = finder.posed.dof, targets = finder.posed.problem.target_count,
            size = 12 * targets, each = wanted ? wanted : 1;
  if (int(goals.size()) != targets)
    bad_input("there must be as many goals as were planned for");
  PyArrayObject *told = reinterpret_cast<PyArrayObject *>(report.ptr());
  const Rows out = wanted ? Rows(into, "q", wanted, dof) : Rows(into, "q", dof);
  const long long count = out.n;
  if (!PyArray_Check(report.ptr()) || PyArray_TYPE(told) != NPY_INT64 || !PyArray_ISCARRAY(told) ||
      PyArray_SIZE(told) != 3 * count * each || out.lead != 1 || begin < 0 || end < begin || end > count)
    bad_input("q and report must have as many rows");
  std::vector<Part> parts;
  for (nb::handle goal : goals) {
    parts.emplace_back(goal[0], "position", count, 1);
    parts.emplace_back(goal[1], "orientation", count, 2);
    parts.emplace_back(goal[2], "direction", count, 1);
  }
  nb::object kept;
  const double *given = nullptr;
  if (!start.is_none()) {
    const Rows s(start, "start", dof);
    if (s.n != count)
      bad_input("goals and start must have as many rows");
    kept = s.owner;
    given = s.data;
  }
  double *to = const_cast<double *>(out.data);
  npy_int64 *numbers = static_cast<npy_int64 *>(PyArray_DATA(told));
  nb::gil_scoped_release free;
  const long long chunk = wanted ? 1 : 256;
  std::atomic<long long> next{begin};
  parallel((end - begin + chunk - 1) / chunk * 64, 64, [&](long long, long long) {
    const Scratch scratch(hunts().scratch(finder.posed.problem, chunk));
    std::vector<double> asked(chunk * size), from(given ? chunk * n : 0), q(chunk * each * n);
    std::vector<Found> found(chunk);
    std::vector<long long> rows(chunk);
    Search search = finder.search;
    Deadline deadline{finder.budget, {}};
    if (finder.budget > 0)
      search.late = Deadline::late, search.clock = &deadline;
    for (long long at; (at = next.fetch_add(chunk)) < end;) {
      int good = 0;
      for (long long row = at; row < std::min(at + chunk, end); ++row) {
        double *goal = asked.data() + good * size, sum = 0;
        std::fill_n(goal, size, 0.0);
        for (int t = 0; t < targets; ++t)
          parts[3 * t].read(row, goal + 12 * t + 9), parts[3 * t + 1].read(row, goal + 12 * t),
              parts[3 * t + 2].read(row, goal + 12 * t);
        for (int i = 0; i < size; ++i)
          sum += goal[i] * 0.0;
        for (int i = 0; given && i < dof; ++i)
          sum += given[row * dof + i] * 0.0;
        if (!(sum == 0)) {
          for (int k = 0; k < each; ++k) {
            const long long at_row = row * each + k;
            numbers[at_row] = invalid;
            numbers[count * each + at_row] = numbers[2 * count * each + at_row] = 0;
            double *place = to + (row * each + k) * dof;
            for (int i = 0; i < dof; ++i)
              place[i] =
                  given && std::isfinite(given[row * dof + i]) ? given[row * dof + i] : finder.rest_row[i];
          }
          continue;
        }
        if (given)
          finder.posed.gather(given + row * dof, from.data() + good * n);
        rows[good++] = row;
      }
      const HuntJob job{&finder.posed.problem,         &search,  finder.stop, asked.data(),
                        given ? from.data() : nullptr, q.data(), found.data()};
      int answers = 0;
      if (!wanted)
        hunts().many(job, 0, good, scratch.data);
      else if (good)
        found[0] = hunts().one(job, wanted, answers, scratch.data);
      for (int i = 0; i < good; ++i)
        for (int k = 0; k < each; ++k) {
          const long long place = rows[i] * each + k;
          std::copy_n(given ? given + rows[i] * dof : finder.rest_row.data(), dof, to + place * dof);
          finder.posed.scatter(q.data() + (i * each + (k < answers ? k : 0)) * n, to + place * dof);
          numbers[place] = k && k >= answers ? spent : found[i].outcome;
          numbers[count * each + place] = found[i].iterations;
          numbers[2 * count * each + place] = found[i].starts;
        }
    }
  });
}

// The fast doors: plain functions of Python's, without the arguments' names.
template <class F>
PyObject *guarded(F call) {
  try {
    return call().release().ptr();
  } catch (nb::python_error &error) {
    error.restore();
  } catch (std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}
// an object that was never initialised has nothing behind its door
void made(PyObject *self) {
  if (nb::inst_ready(self))
    return;
  PyErr_SetString(PyExc_TypeError, "this was never made: __init__ was not called");
  throw nb::python_error();
}

// an object that is called: Python's own door, without a frame of Python's
struct Door {
  nb::object kept;
  Finder *finder;
  explicit Door(nb::object given) : kept(given), finder(&nb::cast<Finder &>(given)) {}
};
PyObject *door_call(PyObject *self, PyObject *args, PyObject *names) {
  return guarded([&] {
    static const char *const known[3] = {"goal", "start", "out"};
    PyObject *given[3] = {nullptr, Py_None, Py_None};
    const Py_ssize_t count = PyTuple_GET_SIZE(args);
    for (Py_ssize_t i = 0; i < count && i < 3; ++i)
      given[i] = PyTuple_GET_ITEM(args, i);
    Py_ssize_t named = 0;
    for (int i = int(count); i < 3 && names; ++i)
      if (PyObject *value = PyDict_GetItemString(names, known[i]))
        given[i] = value, ++named;
    if (count > 3 || !given[0] || (names && named != PyDict_GET_SIZE(names))) {
      PyErr_SetString(PyExc_TypeError, "a plan is called with goal, start=None, out=None");
      throw nb::python_error();
    }
    made(self);
    return nb::inst_ptr<Door>(self)->finder->quick(given[0], given[1], given[2]);
  });
}
PyType_Slot door_slots[] = {{Py_tp_call, reinterpret_cast<void *>(door_call)}, {0, nullptr}};
PyObject *answer_call(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  return guarded([&] {
    if (count != 4)
      bad_input("answer takes position, orientation, direction and start");
    made(self);
    return nb::inst_ptr<Finder>(self)->answer(args[0], args[1], args[2], args[3]);
  });
}
using Quick = PyObject *(*)(PyObject *, PyObject *const *, Py_ssize_t);
PyMethodDef answer_door = {
    "answer", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)(void)>(Quick(answer_call))),
    METH_FASTCALL,
    "answer(position, orientation, direction, start): (q, outcome, iterations, starts) of one goal."};

} // namespace

#define ARRAY "numpy.typing.NDArray[numpy.float64]"

void bind_find(nb::module_ &m) {
  nb::class_<Door>(m, "Door", nb::type_slots(door_slots),
                   "Called with a goal, a start and an array for the answer; see supple.plan.")
      .def(nb::init<nb::object>(), nb::sig("def __init__(self, finder: Finder, /) -> None"));
  nb::class_<Finder>(m, "Finder", "A linkage and its goals, compiled together for the search.")
      .def(nb::init<nb::object, nb::list, nb::handle, nb::handle, nb::list, nb::tuple, nb::tuple, nb::tuple,
                    nb::tuple>(),
           nb::sig("def __init__(self, tree: Tree, targets: list[typing.Any], lower: " ARRAY ", upper: " ARRAY
                   ", balls: list[typing.Any], sizes: "
                   "tuple[typing.Any, ...], how: tuple[typing.Any, ...], tolerance: tuple[typing.Any, ...], "
                   "reach: tuple[typing.Any, ...], /) -> None"))
      .def_prop_ro(
          "has_table", [](const Finder &f) { return f.search.table != nullptr; },
          "Whether a table of starts is worth its while here.")
      .def_prop_ro(
          "columns", [](const Finder &f) { return int(f.posed.columns.size()); },
          "How many values of q some goal needs.")
      .def_prop_ro(
          "answer",
          [](nb::handle self) {
            PyObject *made = PyCFunction_New(&answer_door, self.ptr());
            if (!made)
              throw nb::python_error();
            return nb::steal(made);
          },
          nb::sig("def answer(self) -> typing.Callable[..., tuple[" ARRAY ", int, int, int]]"),
          "answer(position, orientation, direction, start), each an array or None: q (dof,), outcome, "
          "iterations and starts of one goal.")
      .def("many", finder_many, nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
           nb::arg(),
           nb::sig(
               "def many(self, goals: list[typing.Any], start: " ARRAY " | None, q: " ARRAY
               ", report: numpy.typing.NDArray[numpy.int64], wanted: int, begin: int, end: int, /) -> None"),
           "Rows begin to end into q (rows, dof) and report (3, rows): outcome, iterations, starts. Goals "
           "are (position, orientation, direction) for "
           "each; with `wanted`, q (rows, wanted, dof) and report (3, rows, wanted), nearest first.");
}
