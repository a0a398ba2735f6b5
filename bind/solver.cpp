// Local methods: linkage, goals and method compiled together, and solved for one row or many.
#include "solver.h"
#include "threads.h"
#include "watch.h"

#include <algorithm>
#include <nanobind/stl/string.h>

// The joints between the world and a link, with the values of q counted as this solver does.
Chain LocalSolver::chain_of(Tree &tree, nb::handle link, const std::string &refusal) {
  const Path &path = tree.path(tree.place(link));
  chain_joints.push_back(path.joints);
  for (ChainJoint &joint : chain_joints.back()) {
    joint.index = encoded.place[joint.index];
    if (joint.index < 0)
      bad_input(refusal);
  }
  Chain chain = path.chain;
  chain.joints = chain_joints.back().data();
  chain.dof = encoded.problem.n;
  return chain;
}

// a number for each joint that some goal needs, from one for each value of q
const double *LocalSolver::row_of(nb::handle full, const char *what) {
  const Rows given(full, what, encoded.dof);
  if (given.n != 1)
    bad_input(std::string(what) + " must be one row of numbers");
  rows.emplace_back(encoded.columns.size());
  encoded.gather(given.data, rows.back().data());
  return rows.back().data();
}

// how: fields of Method (kind, joint_order, alternative_jacobian, clamp, damping, transpose_scale, max_step,
// step_scale, max_halvings, limit_escapes, preference_unweighted); preference_list: fields of Preference
// (kind, gain, value, width, link of chain or None, wanted); end: fields of Stop (iterations, patience,
// position, angle); schemes: None, or see read_schemes; the others as in EncodedProblem
LocalSolver::LocalSolver(nb::object tree, nb::handle targets, nb::handle low, nb::handle high,
                         nb::handle balls, nb::handle given_method, nb::handle given_preferences,
                         nb::handle given_stop, nb::object schemes)
    : encoded(tree, targets, low, high, balls) {
  read_preferences(given_preferences);
  if (!schemes.is_none())
    read_schemes(schemes);
  const int memory = lay_out_memory(dampers.data(), int(dampers.size()), encoded.problem.n);
  const Fields how(given_method, "method", 11), end(given_stop, "stop", 4);
  method = {whole(how[0], "a method", method_inverse, method_selectively_damped),
            whole(how[1], "a joint order", outermost_first, most_room_first),
            truth(how[2]),
            truth(how[3]),
            number(how[4]),
            number(how[5]),
            number(how[6]),
            number(how[7]),
            whole(how[8], "halvings", 0),
            whole(how[9], "escapes", 0),
            preferences.data(),
            int(preferences.size()),
            nullptr,
            nullptr,
            nullptr,
            !schemes.is_none(),
            truth(how[10]),
            dampers.data(),
            int(dampers.size()),
            memory,
            nullptr,
            nullptr};
  if (method.kind == method_inverse && encoded.problem.rows != encoded.problem.n)
    bad_input("the inverse needs a square Jacobian, but the goals have " +
              std::to_string(encoded.problem.rows) + " rows and " + std::to_string(encoded.problem.n) +
              " joint values move them; use method.pseudoinverse()");
  stop = {whole(end[0], "iterations", 0), whole(end[1], "patience", 0), number(end[2]), number(end[3])};
}

void LocalSolver::read_preferences(nb::handle given) {
  for (const Fields &w : EncodedProblem::rows_of(given, "preference", 6)) {
    const double *gain = row_of(w[1], "preference"), *value = row_of(w[2], "preference");
    Preference p{whole(w[0], "a preference", prefer_value, prefer_point), gain, value, number(w[3]), {}, {}};
    const bool of_link = p.kind == prefer_direction || p.kind == prefer_point;
    if (of_link == w[4].is_none())
      bad_input("a preference for a link, and only that, names a link");
    if (of_link) {
      const std::string link = nb::str(w[4]).c_str();
      p.chain = chain_of(native<Tree>(encoded.tree_owner, "a Tree"), w[4],
                         "the preference for link '" + link + "' needs a joint that moves no goal");
      if (!p.chain.count)
        bad_input("the preference for link '" + link + "' has no effect: no joint moves this link");
      numbers(w[5], "what is wanted of a link", 3, p.wanted);
    }
    preferences.push_back(p);
  }
}

// schemes: fields of DampingScheme (kind, measure, as_printed, relative, alpha0, region, min_weight,
// ramp_rate, ignored_speed, rank, callback, joints, (index, gain, offset, wraps), values, (link of
// point_chain, point), (link of axis_chain, axis, radius)); the last two may be None
void LocalSolver::read_schemes(nb::handle given) {
  Tree &tree = native<Tree>(encoded.tree_owner, "a Tree");
  const std::string moves_no_goal = "a singularity is measured by a joint that moves no goal";
  for (const Fields &s : EncodedProblem::rows_of(given, "damping scheme", 16)) {
    DampingScheme d{};
    d.kind = whole(s[0], "a damping scheme", scheme_constant, scheme_callback);
    d.measure = whole(s[1], "a measure", by_joint_value, by_callback);
    d.as_printed = truth(s[2]);
    d.relative = truth(s[3]);
    d.alpha0 = number(s[4]);
    d.region = number(s[5]);
    d.min_weight = number(s[6]);
    d.ramp_rate = number(s[7]);
    d.ignored_speed = number(s[8]);
    d.rank =
        std::max<int>(1, whole(s[9], "a rank", 0, std::min<int>(encoded.problem.rows, encoded.problem.n)));
    d.callback = whole(s[10], "the number of a function");
    d.joints = row_of(s[11], "joints of a scheme");
    const Fields joint(s[12], "joint of a scheme", 4);
    const int index = whole(joint[0], "the value of a joint", -1, encoded.dof - 1);
    if (index >= 0)
      d.index = encoded.place[index];
    if (d.index < 0)
      bad_input(moves_no_goal);
    d.gain = number(joint[1]);
    d.offset = number(joint[2]);
    d.wraps = truth(joint[3]);
    const Fields values(s[13], "values of a scheme");
    rows.emplace_back();
    for (Py_ssize_t i = 0; i < values.size(); ++i)
      rows.back().push_back(number(values[i]));
    d.values = rows.back().data();
    d.value_count = int(rows.back().size());
    const bool off_axis = d.kind == scheme_named_singularity && d.measure == by_point_off_axis;
    if (off_axis && s[14].is_none())
      bad_input("a singularity of a point off an axis needs both");
    if (!s[14].is_none()) {
      const Fields point(s[14], "point of a scheme", 2), axis(s[15], "axis of a scheme", 3);
      d.point_chain = chain_of(tree, point[0], moves_no_goal);
      d.axis_chain = chain_of(tree, axis[0], moves_no_goal);
      numbers(point[1], "point", 3, d.point);
      numbers(axis[1], "axis", 3, d.axis);
      d.radius = number(axis[2]);
    }
    dampers.push_back(d);
  }
}

namespace {

// a fresh array around numbers
nb::object copied(const double *numbers, std::initializer_list<npy_intp> shape) {
  Fresh fresh(nullptr, 0, shape);
  npy_intp size = 1;
  for (npy_intp s : shape)
    size *= s;
  std::copy_n(numbers, size, fresh.data);
  return std::move(fresh.owner);
}

} // namespace

void Callbacks::call_preference(void *self, const double *q, double *v) {
  Callbacks &a = *static_cast<Callbacks *>(self);
  if (a.error)
    return;
  try {
    a.encoded.scatter(q, a.full.data());
    const Rows step(a.preference(copied(a.full.data(), {a.encoded.dof})),
                    "the step of a preference by function", a.encoded.dof);
    if (step.lead || step.not_finite() >= 0)
      bad_input("a preference by function must return " + std::to_string(a.encoded.dof) + " finite numbers");
    std::vector<double> part(a.encoded.columns.size());
    a.encoded.gather(step.data, part.data());
    for (std::size_t i = 0; i < part.size(); ++i)
      v[i] += part[i];
  } catch (...) {
    a.error = std::current_exception();
  }
}

void Callbacks::call_damping(void *self, int which, const double *q, const double *e, const double *J,
                             double dt, double *alpha, double *w) {
  Callbacks &a = *static_cast<Callbacks *>(self);
  if (a.error)
    return;
  try {
    const int m = a.encoded.problem.rows, n = a.encoded.problem.n;
    a.encoded.scatter(q, a.full.data());
    std::vector<double> full(std::size_t(m) * a.encoded.dof);
    for (std::size_t i = 0; i < std::size_t(m); ++i)
      a.encoded.scatter(J + i * n, full.data() + i * a.encoded.dof);
    const nb::object result = a.damping(which, copied(a.full.data(), {a.encoded.dof}), copied(e, {m}),
                                        copied(full.data(), {m, a.encoded.dof}), dt);
    const Fields returned(result, "the result of a damping by function", 2);
    const double returned_alpha = number(returned[0]);
    if (!returned[1].is_none()) {
      const Rows weights(returned[1], "the weights of a damping by function", a.encoded.dof);
      if (weights.n != 1)
        bad_input("a damping by function must return one row of weights");
      a.encoded.gather(weights.data, w);
    }
    *alpha = returned_alpha;
  } catch (...) {
    a.error = std::current_exception();
  }
}

namespace {

// Runs a job over its rows without the interpreter lock; raises what a signal handler raised meanwhile.
void run_watched(npy_intp rows, long long grain, const SolveJob &job,
                 void (*kernel)(const SolveJob &, long long, long long, void *), std::size_t scratch_size) {
  std::atomic<bool> stopped{false};
  const std::thread::id caller = std::this_thread::get_id();
  {
    const nb::gil_scoped_release free;
    parallel(rows, grain, [&](long long begin, long long end) {
      const bool hears = std::this_thread::get_id() == caller;
      Watch watch(0, hears ? Watch::hears_signals : Watch::only_waits, stopped);
      SolveJob watched = job;
      watched.stop.interrupted = Watch::asked;
      watched.stop.interrupt_data = &watch;
      const Scratch scratch(scratch_size);
      for (long long row = begin; row < end && !stopped; row += 64)
        kernel(watched, row, std::min<long long>(row + 64, end), scratch.data);
    });
  }
  raise_signal();
}

nb::object local_solve(LocalSolver &solver, nb::handle goals, nb::handle start, nb::object preference,
                       nb::object damping, double pull) {
  const LocalKernels &kernels = *instruction_set().local;
  const Rows g(goals, "goals", solver.encoded.problem.target_count, 12),
      s(start, "start", solver.encoded.dof);
  if (g.lead != 1 || s.lead != 1 || g.n != s.n)
    bad_input("goals and start must have one leading axis of the same length");
  const npy_intp n = g.n;
  const int k = solver.encoded.problem.n;
  std::vector<double> from(std::size_t(n) * k), to(std::size_t(n) * k);
  std::vector<Report> reports(n);
  for (npy_intp i = 0; i < n; ++i)
    solver.encoded.gather(s.data + i * solver.encoded.dof, from.data() + i * k);
  Method method = solver.method;
  SolveJob job{&solver.encoded.problem, &method, solver.stop, g.data, from.data(), to.data(),
               reports.data(),          pull};
  if (preference.is_none() && damping.is_none()) {
    run_watched(n, pull >= 0 ? n + 1 : 256, job, kernels.solve,
                kernels.scratch(solver.encoded.problem, solver.method));
  } else {
    const Scratch scratch(kernels.scratch(solver.encoded.problem, solver.method));
    for (npy_intp i = 0; i < n; ++i) {
      Callbacks callbacks(solver.encoded, preference, damping, s.data + i * solver.encoded.dof);
      callbacks.join(method);
      kernels.solve(job, i, i + 1, scratch.data);
      callbacks.raise();
    }
  }
  Fresh q(s, {solver.encoded.dof}), numbers(s, {4});
  for (npy_intp i = 0; i < n; ++i) {
    std::copy_n(s.data + i * solver.encoded.dof, solver.encoded.dof, q.data + i * solver.encoded.dof);
    solver.encoded.scatter(to.data() + i * k, q.data + i * solver.encoded.dof);
    const Report &r = reports[i];
    double *row = numbers.data + 4 * i;
    row[0] = r.outcome;
    row[1] = r.iterations;
    row[2] = r.largest_step;
    row[3] = r.path;
  }
  return nb::make_tuple(std::move(q.owner), std::move(numbers.owner));
}

nb::object local_refine(LocalSolver &solver, nb::handle goals, nb::handle q, nb::object preference,
                        nb::handle weights) {
  const LocalKernels &kernels = *instruction_set().local;
  const Rows g(goals, "goals", solver.encoded.problem.target_count, 12), from(q, "q", solver.encoded.dof);
  if (g.lead != 1 || from.lead != 1 || g.n != from.n)
    bad_input("goals and q must have one leading axis of the same length");
  const npy_intp n = g.n;
  const int k = solver.encoded.problem.n;
  std::vector<double> begin(std::size_t(n) * k), end(std::size_t(n) * k);
  for (npy_intp i = 0; i < n; ++i)
    solver.encoded.gather(from.data + i * solver.encoded.dof, begin.data() + i * k);
  std::vector<double> weight(k);
  const Rows given_weights(weights, "weights", solver.encoded.dof);
  if (given_weights.n != 1)
    bad_input("weights must be one row");
  solver.encoded.gather(given_weights.data, weight.data());
  const std::unique_ptr<bool[]> locked(new bool[k]);
  for (int i = 0; i < k; ++i)
    locked[i] = !(weight[i] > 0);
  Method method = solver.method;
  method.locked = locked.get();
  SolveJob job{&solver.encoded.problem, &method, solver.stop, g.data, begin.data(), end.data(), nullptr};
  if (preference.is_none()) {
    run_watched(n, 64, job, kernels.refine, kernels.scratch(solver.encoded.problem, solver.method));
  } else {
    const Scratch scratch(kernels.scratch(solver.encoded.problem, solver.method));
    for (npy_intp i = 0; i < n; ++i) {
      Callbacks callbacks(solver.encoded, preference, nb::none(), from.data + i * solver.encoded.dof);
      callbacks.join(method);
      kernels.refine(job, i, i + 1, scratch.data);
      callbacks.raise();
    }
  }
  Fresh out(from, {solver.encoded.dof});
  std::copy_n(from.data, n * solver.encoded.dof, out.data);
  for (npy_intp i = 0; i < n; ++i)
    solver.encoded.scatter(end.data() + i * k, out.data + i * solver.encoded.dof);
  return std::move(out.owner);
}

nb::object local_preferred(LocalSolver &solver, nb::handle q, nb::handle goals, nb::object preference) {
  const LocalKernels &kernels = *instruction_set().local;
  const Rows from(q, "q", solver.encoded.dof), g(goals, "goals", solver.encoded.problem.target_count, 12);
  if (from.lead || g.lead)
    bad_input("a preferred step takes one q and one row of goals");
  const int k = solver.encoded.problem.n;
  std::vector<double> part(k), step(k);
  solver.encoded.gather(from.data, part.data());
  Method method = solver.method;
  Callbacks callbacks(solver.encoded, preference, nb::none(), from.data);
  callbacks.join(method);
  const Scratch scratch(kernels.scratch(solver.encoded.problem, solver.method));
  kernels.prefer(solver.encoded.problem, method, g.data, part.data(), step.data(), scratch.data);
  callbacks.raise();
  Fresh out(from, {solver.encoded.dof});
  std::fill_n(out.data, solver.encoded.dof, 0.0);
  solver.encoded.scatter(step.data(), out.data);
  return std::move(out.owner);
}

nb::object local_step(LocalSolver &solver, nb::handle q, nb::handle goals, nb::object preference,
                      nb::object damping) {
  const LocalKernels &kernels = *instruction_set().local;
  const Rows from(q, "q", solver.encoded.dof), g(goals, "goals", solver.encoded.problem.target_count, 12);
  if (from.lead || g.lead)
    bad_input("a single step takes one q and one row of goals");
  const int k = solver.encoded.problem.n;
  std::vector<double> part(k), change(k);
  solver.encoded.gather(from.data, part.data());
  Method method = solver.method;
  Callbacks callbacks(solver.encoded, preference, damping, from.data);
  callbacks.join(method);
  const Scratch scratch(kernels.scratch(solver.encoded.problem, solver.method));
  const bool found =
      kernels.step(solver.encoded.problem, method, g.data, part.data(), change.data(), scratch.data);
  callbacks.raise();
  if (!found)
    return nb::none();
  Fresh out(from, {solver.encoded.dof});
  std::fill_n(out.data, solver.encoded.dof, 0.0);
  solver.encoded.scatter(change.data(), out.data);
  return std::move(out.owner);
}

nb::object local_tick(LocalSolver &solver, nb::handle q, nb::handle goals, double dt, Memory &memory,
                      nb::object row_weights, nb::object preference, nb::object damping) {
  const LocalKernels &kernels = *instruction_set().local;
  const Rows from(q, "q", solver.encoded.dof), g(goals, "goals", solver.encoded.problem.target_count, 12);
  if (from.lead || g.lead)
    bad_input("a tick takes one q and one row of goals");
  if (from.not_finite() >= 0 || g.not_finite() >= 0)
    bad_input("q and goals of a tick must be finite");
  if (!(dt > 0 && dt < 1e300))
    bad_input("dt must be a positive number of seconds, got " + std::to_string(dt));
  if (int(memory.numbers.size()) != solver.method.memory_size)
    bad_input("this memory was made for other damping schemes or joints");
  const double *weights_of_rows = nullptr;
  nb::object kept;
  if (!row_weights.is_none()) {
    const Rows given(row_weights, "row weights", solver.encoded.problem.rows);
    bool good = !given.lead;
    for (int i = 0; i < solver.encoded.problem.rows && good; ++i)
      good = given.data[i] > 0 && given.data[i] < 1e300;
    if (!good)
      bad_input("row weights must be " + std::to_string(solver.encoded.problem.rows) + " positive numbers");
    weights_of_rows = given.data;
    kept = given.owner;
  }
  const int k = solver.encoded.problem.n;
  std::vector<double> part(k), change(k), weights(k);
  solver.encoded.gather(from.data, part.data());
  Method method = solver.method;
  Callbacks callbacks(solver.encoded, preference, damping, from.data);
  callbacks.join(method);
  double alpha;
  const Scratch scratch(kernels.scratch(solver.encoded.problem, solver.method));
  std::vector<double> remembered = memory.numbers; // functions of the caller may tick with the same memory
  kernels.tick({&solver.encoded.problem, &method, g.data, part.data(), weights_of_rows, dt, remembered.data(),
                change.data(), &alpha, weights.data()},
               scratch.data);
  callbacks.raise();
  memory.numbers = remembered;
  Fresh dq(from, {solver.encoded.dof}), w(from, {solver.encoded.dof});
  std::fill_n(dq.data, solver.encoded.dof, 0.0);
  std::fill_n(w.data, solver.encoded.dof, 1.0);
  solver.encoded.scatter(change.data(), dq.data);
  solver.encoded.scatter(weights.data(), w.data);
  return nb::make_tuple(std::move(dq.owner), alpha, std::move(w.owner));
}

nb::object local_evaluate(LocalSolver &solver, nb::handle q, nb::handle goals, bool alternative) {
  const LocalKernels &kernels = *instruction_set().local;
  const Rows from(q, "q", solver.encoded.dof), g(goals, "goals", solver.encoded.problem.target_count, 12);
  if (from.lead != g.lead || from.n != g.n)
    bad_input("an evaluation takes as many rows of goals as of q");
  const int k = solver.encoded.problem.n, m = solver.encoded.problem.rows, dof = solver.encoded.dof;
  const npy_intp targets = solver.encoded.problem.target_count;
  std::vector<double> part(k), J(std::size_t(m) * k);
  Fresh e(from, {m}), full(from, {m, dof}), distance(from, {targets}), angle(from, {targets});
  const Scratch scratch(kernels.scratch(solver.encoded.problem, solver.method));
  std::fill_n(full.data, std::size_t(from.n) * m * dof, 0.0);
  for (npy_intp row = 0; row < from.n; ++row) {
    solver.encoded.gather(from.data + row * dof, part.data());
    kernels.evaluate(solver.encoded.problem, part.data(), g.data + row * targets * 12, alternative,
                     e.data + row * m, J.data(), distance.data + row * targets, angle.data + row * targets,
                     scratch.data);
    for (int i = 0; i < m; ++i)
      solver.encoded.scatter(J.data() + i * k, full.data + (row * m + i) * dof);
  }
  return nb::make_tuple(std::move(e.owner), std::move(full.owner), std::move(distance.owner),
                        std::move(angle.owner));
}

} // namespace

#define ARRAY "numpy.typing.NDArray[numpy.float64]"

void bind_local_solver(nb::module_ &m) {
  nb::class_<Memory>(
      m, "Memory",
      "What damping schemes remember from one tick to the next: ramps, directions, last factors.")
      .def(
          "reset", [](Memory &memory) { std::fill(memory.numbers.begin(), memory.numbers.end(), 0.0); },
          "Forget all.");
  nb::class_<LocalSolver>(m, "LocalSolver", "A linkage, its goals and a method, compiled together.")
      .def(nb::init<nb::object, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle,
                    nb::handle, nb::object>(),
           nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
           nb::arg().none() = nb::none(),
           nb::sig("def __init__(self, tree: Tree, targets: list[typing.Any], lower: " ARRAY ", upper: " ARRAY
                   ", balls: list[typing.Any], method: "
                   "tuple[typing.Any, ...], preferences: list[typing.Any], stop: tuple[typing.Any, ...], "
                   "schemes: list[typing.Any] | None = None, /) -> None"))
      .def_prop_ro(
          "rows", [](const LocalSolver &p) { return p.encoded.problem.rows; }, "How many rows the error has.")
      .def_prop_ro(
          "targets", [](const LocalSolver &p) { return p.encoded.problem.target_count; },
          "How many goals it has.")
      .def_prop_ro(
          "columns",
          [](const LocalSolver &p) {
            nb::list all;
            for (int c : p.encoded.columns)
              all.append(c);
            return nb::tuple(all);
          },
          nb::sig("def columns(self) -> tuple[int, ...]"), "The values of q that some goal needs.")
      .def("refine", local_refine, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(),
           nb::sig("def refine(self, goals: " ARRAY ", q: " ARRAY ", preference: typing.Any, weights: " ARRAY
                   ", /) -> " ARRAY),
           "From q (rows, dof) that reach their goals (rows, goals, 12): along the preferences, for as "
           "long as the goals hold. Joints of weight 0 stay.")
      .def("solve", local_solve, nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none() = nb::none(),
           nb::arg() = -1.0,
           nb::sig("def solve(self, goals: " ARRAY ", start: " ARRAY
                   ", preference: typing.Any, damping: typing.Any = None, pull: float = -1.0, /) -> "
                   "tuple[" ARRAY ", " ARRAY "]"),
           "q (n, dof) for goals (n, targets, 12) from start (n, dof), and outcome, iterations, largest "
           "step, path (n, 4). Where `pull` is not negative, each row starts from where the one before it "
           "ended, moved by that part of the way to its own start.")
      .def("step", local_step, nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none() = nb::none(),
           nb::sig("def step(self, q: " ARRAY ", goals: " ARRAY
                   ", preference: typing.Any, damping: typing.Any = None, /) -> " ARRAY " | None"),
           "The change (dof,) that one step makes to q, or None where the method finds none.")
      .def(
          "preferred", local_preferred, nb::arg(), nb::arg(), nb::arg().none(),
          nb::sig("def preferred(self, q: " ARRAY ", goals: " ARRAY ", preference: typing.Any, /) -> " ARRAY),
          "The step (dof,) that the preferences ask at q, before the goals.")
      .def(
          "memory", [](const LocalSolver &p) { return Memory{std::vector<double>(p.method.memory_size)}; },
          "A fresh memory for `tick`.")
      .def("tick", local_tick, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none() = nb::none(),
           nb::arg().none() = nb::none(), nb::arg().none() = nb::none(),
           nb::sig(
               "def tick(self, q: " ARRAY ", goals: " ARRAY ", dt: float, memory: Memory, row_weights: " ARRAY
               " | None = None, preference: typing.Any = None, damping: typing.Any = None, /) -> tuple[" ARRAY
               ", float, " ARRAY "]"),
           "The raw change (dof,) of q in a tick of dt seconds, not clamped, and the damping and joint "
           "weights (dof,) it took.")
      .def("evaluate", local_evaluate,
           nb::sig("def evaluate(self, q: " ARRAY ", goals: " ARRAY ", alternative: bool, /) -> tuple[" ARRAY
                   ", " ARRAY ", " ARRAY ", " ARRAY "]"),
           "Weighted error (..., rows), Jacobian (..., rows, dof), distance and angle of each target, at "
           "each q "
           "(..., dof).");
}
