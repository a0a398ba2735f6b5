// Whole paths by the compiled search: many at once, which threads share.
#include "kernels/path.h"
#include "search.h"
#include "supple/path/retime.h"

#include <atomic>

namespace {

// The arrays of a call: rows of all paths, one path after another.
struct PathArrays {
  std::vector<Part> parts; // position, orientation and direction of each target
  const long long *offsets;
  long long paths, rows;
  nb::object owners[5];
  const double *times = nullptr;                 // rows, or null
  const double *start = nullptr, *end = nullptr; // paths x dof, or null
  std::vector<double> speed;                     // of the joints that goals need
  double dt;
  bool closed;
  int preference, smoothed, candidates;
  double *q, *distance, *angle;
  unsigned char *outcome;
  bool *reconfigured;

  // how: (dt, closed, preference, smoothed, candidates)
  PathArrays(const SearchSolver &solver, nb::handle given_goals, nb::handle given_offsets,
             nb::object given_times, nb::handle given_speed, nb::object given_start, nb::object given_end,
             nb::handle how, nb::handle given_out) {
    const int dof = solver.encoded.dof;
    const Fields options(how, "how", 5), out(given_out, "out", 5);
    dt = number(options[0]);
    closed = truth(options[1]);
    preference = whole(options[2], "preference", 0, 2);
    smoothed = whole(options[3], "smoothed", 0, 64);
    candidates = whole(options[4], "candidates", 1, 64);
    read_offsets(given_offsets);
    read_outputs(out, dof);
    const std::vector<Fields> goals = EncodedProblem::rows_of(given_goals, "goal", 3);
    if (int(goals.size()) != solver.encoded.problem.target_count)
      bad_input("there must be as many goals as were planned for");
    for (const Fields &goal : goals) {
      parts.emplace_back(goal[0], "position", rows, 1);
      parts.emplace_back(goal[1], "orientation", rows, 2);
      parts.emplace_back(goal[2], "direction", rows, 1);
    }
    for (Part &part : parts)
      for (int i = 0; i < 5; ++i)
        part.keep_apart(out[i]);
    times = given_times.is_none() ? nullptr : row_of(given_times, "times", 1, rows, owners[0]);
    start = given_start.is_none() ? nullptr : row_of(given_start, "start", dof, paths, owners[1]);
    end = given_end.is_none() ? nullptr : row_of(given_end, "end", dof, paths, owners[2]);
    const double *all = row_of(given_speed, "speed", dof, 1, owners[3]);
    speed.resize(solver.encoded.problem.n);
    solver.encoded.gather(all, speed.data());
  }

private:
  static const double *row_of(nb::handle given, const char *what, int size, long long count,
                              nb::object &owner) {
    const Rows found(given, what, size);
    if (found.n != count)
      bad_input(std::string(what) + " must have " + std::to_string(count) + " rows, not " +
                std::to_string(found.n));
    owner = found.owner;
    return found.data;
  }
  void read_offsets(nb::handle given) {
    PyArrayObject *array = reinterpret_cast<PyArrayObject *>(given.ptr());
    if (!is_writable(given, NPY_INT64) || PyArray_NDIM(array) != 1 || PyArray_SIZE(array) < 1)
      bad_input("offsets must be a C-contiguous int64 array of shape (paths + 1,)");
    owners[4] = nb::borrow(given);
    offsets = static_cast<const long long *>(PyArray_DATA(array));
    paths = PyArray_SIZE(array) - 1;
    for (long long i = 0; i < paths; ++i)
      if (offsets[i + 1] < offsets[i] || offsets[i + 1] - offsets[i] > INT_MAX / 2)
        bad_input("offsets must not decrease");
    if (offsets[0] != 0)
      bad_input("offsets must begin at 0");
    rows = offsets[paths];
  }
  void read_outputs(const Fields &out, int dof) {
    auto data = [&](int i, int type, long long size, const char *what) {
      PyArrayObject *array = reinterpret_cast<PyArrayObject *>(out[i].ptr());
      if (!is_writable(out[i], type) || PyArray_SIZE(array) != size)
        bad_input(std::string(what) + " must be a writable, C-contiguous array with a row for each frame");
      return PyArray_DATA(array);
    };
    q = static_cast<double *>(data(0, NPY_DOUBLE, rows * dof, "q"));
    outcome = static_cast<unsigned char *>(data(1, NPY_UINT8, rows, "outcome"));
    distance = static_cast<double *>(data(2, NPY_DOUBLE, rows, "distance"));
    angle = static_cast<double *>(data(3, NPY_DOUBLE, rows, "angle"));
    reconfigured = static_cast<bool *>(data(4, NPY_BOOL, rows, "reconfigured"));
  }
};

// What one thread needs to solve paths one after another.
struct PathWorker {
  const SearchSolver &solver;
  const PathKernels &kernels;
  const PathArrays &arrays;
  Scratch scratch;
  std::size_t scratch_bytes;
  std::vector<double> goals, times, q, distance, angle, start, end;
  std::vector<unsigned char> outcome;
  std::unique_ptr<bool[]> reconfigured;
  std::vector<long long> rows; // frames that are finite
  Watch watch;

  PathWorker(const SearchSolver &s, const PathKernels &k, const PathArrays &a, long long longest,
             Watch::Role role, std::atomic<bool> &stop)
      : solver(s), kernels(k), arrays(a), scratch(k.scratch(s.encoded.problem, int(longest))),
        goals(longest * 12 * s.encoded.problem.target_count), times(longest),
        q(longest * s.encoded.problem.n), distance(longest), angle(longest), start(s.encoded.problem.n),
        end(s.encoded.problem.n), outcome(longest), reconfigured(new bool[longest]), watch(0, role, stop) {
    rows.reserve(longest);
  }

  // Reads the finite frames of a path.
  void read(long long begin, long long last) {
    const int targets = solver.encoded.problem.target_count;
    rows.clear();
    for (long long row = begin; row < last; ++row) {
      double *to = goals.data() + rows.size() * 12 * targets, sum = 0;
      std::fill_n(to, 12 * targets, 0.0);
      for (int t = 0; t < targets; ++t) {
        arrays.parts[3 * t].read(row, to + 12 * t + 9);
        arrays.parts[3 * t + 1].read(row, to + 12 * t);
        arrays.parts[3 * t + 2].read(row, to + 12 * t);
      }
      for (int i = 0; i < 12 * targets; ++i)
        sum += to[i] * 0.0; // 0 only where all are finite
      if (!(sum == 0))
        continue;
      times[rows.size()] = arrays.times ? arrays.times[row] : arrays.dt * double(row - begin);
      rows.push_back(row);
    }
  }

  const double *read_values(const double *from, long long path, std::vector<double> &to) const {
    if (!from)
      return nullptr;
    solver.encoded.gather(from + path * solver.encoded.dof, to.data());
    make_exact(solver.encoded.problem, solver.search, to.data());
    return to.data();
  }

  void solve(long long path) {
    const long long begin = arrays.offsets[path], last = arrays.offsets[path + 1];
    read(begin, last);
    const bool even = !arrays.times && (long long)rows.size() == last - begin;
    const double *from = read_values(arrays.start, path, start), *to = read_values(arrays.end, path, end);
    if (to)
      move_inside(solver.encoded.problem, solver.search, end.data());
    PathRequest request{int(rows.size()),
                        goals.data(),
                        even ? nullptr : times.data(),
                        arrays.dt,
                        arrays.speed.data(),
                        from,
                        to,
                        arrays.closed,
                        arrays.preference,
                        arrays.smoothed,
                        arrays.candidates,
                        watch.deadline(solver.encoded.problem.n)};
    if (!rows.empty())
      kernels.solve(solver.encoded.problem, solver.search, request,
                    {q.data(), outcome.data(), distance.data(), angle.data(), reconfigured.get()},
                    scratch.data);
    write(path, begin, last);
  }

  // Frames that are not finite repeat the joint values before them, or those of the first that is.
  void write(long long path, long long begin, long long last) const {
    const int dof = solver.encoded.dof, n = solver.encoded.problem.n;
    const double *others = arrays.start ? arrays.start + path * dof : solver.rest.data();
    std::size_t k = 0;
    for (long long row = begin; row < last; ++row) {
      const bool good = k < rows.size() && rows[k] == row;
      const std::size_t from = good ? k : k ? k - 1 : 0;
      double *values = arrays.q + row * dof;
      std::copy_n(others, dof, values);
      solver.clamp_others(values);
      if (!rows.empty())
        solver.encoded.scatter(q.data() + from * n, values);
      arrays.outcome[row] = good ? outcome[k] : static_cast<unsigned char>(invalid);
      arrays.distance[row] = good ? distance[k] : NAN;
      arrays.angle[row] = good ? angle[k] : NAN;
      arrays.reconfigured[row] = good && reconfigured[k];
      k += good;
    }
  }
};

void solve_paths(SearchSolver &solver, nb::handle goals, nb::handle offsets, nb::object times,
                 nb::handle speed, nb::object start, nb::object end, nb::handle how, nb::handle out,
                 long long first, long long last) {
  const PathArrays arrays(solver, goals, offsets, times, speed, start, end, how, out);
  if (first < 0 || last < first || last > arrays.paths)
    bad_input("first to last must be paths");
  const PathKernels &kernels = *instruction_set().path;
  long long longest = 1;
  for (long long i = first; i < last; ++i)
    longest = std::max<long long>(longest, arrays.offsets[i + 1] - arrays.offsets[i]);
  std::atomic<long long> next{first};
  std::atomic<bool> stopped{false};
  const std::thread::id caller = std::this_thread::get_id();
  {
    const nb::gil_scoped_release free;
    // `parallel` gives the number of threads alone; paths come from `next`
    parallel((last - first) * 64, 64, [&](long long, long long) {
      const bool hears = std::this_thread::get_id() == caller;
      PathWorker worker(solver, kernels, arrays, longest, hears ? Watch::hears_signals : Watch::only_waits,
                        stopped);
      for (long long path; !stopped && (path = next.fetch_add(1)) < last;)
        worker.solve(path);
    });
  }
  raise_signal();
}

// Later times (frames) for the steps (frames - 1, dof) between frames, within speed and acceleration (dof).
nb::object stretched_times(nb::handle given_times, nb::handle given_steps, nb::handle given_speed,
                           nb::handle given_acceleration) {
  const Rows times(given_times, "times", 1);
  PyArrayObject *array = reinterpret_cast<PyArrayObject *>(given_steps.ptr());
  const int dof =
      PyArray_Check(given_steps.ptr()) && PyArray_NDIM(array) == 2 ? int(PyArray_DIM(array, 1)) : 0;
  const Rows steps(given_steps, "steps", dof), speed(given_speed, "speed", dof),
      acceleration(given_acceleration, "acceleration", dof);
  const npy_intp frames = times.n;
  if (frames < 2 || frames > INT_MAX || steps.n != frames - 1 || speed.n != 1 || acceleration.n != 1)
    bad_input("there must be a step between each time and the next, and one limit for each joint");
  Fresh out(&frames, 1, {});
  std::vector<double> x(frames);
  stretch_times(int(frames), dof, times.data, steps.data, speed.data, acceleration.data, x.data(), out.data);
  return std::move(out.owner);
}

} // namespace

#define ARRAY "numpy.typing.NDArray[numpy.float64]"

void bind_path(nb::module_ &m) {
  m.def("stretch_times", stretched_times,
        nb::sig("def stretch_times(times: " ARRAY ", steps: " ARRAY ", speed: " ARRAY ", acceleration: " ARRAY
                ", /) -> " ARRAY),
        "Later times (frames,) at which steps (frames - 1, dof) keep to speeds and accelerations (dof,).");
  m.def(
      "solve_paths", solve_paths, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
      nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
      nb::sig("def solve_paths(solver: SearchSolver, goals: list[typing.Any], offsets: "
              "numpy.typing.NDArray[numpy.int64], times: " ARRAY " | None, speed: " ARRAY ", start: " ARRAY
              " | None, end: " ARRAY
              " | None, how: tuple[typing.Any, ...], out: tuple[typing.Any, ...], first: int, last: int, /) "
              "-> None"),
      "Paths first to last; rows offsets[i] to offsets[i + 1] are path i. Goals are (position, orientation, "
      "direction) for each target; how is (dt, closed, preference, smoothed, candidates); out is q (rows, "
      "dof), outcome "
      "(rows,) uint8, distance, angle (rows,), reconfigured (rows,) bool.");
}
