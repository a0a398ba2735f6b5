// Plans at the wall: linkage, goals and method compiled together, and solved for one row or many.
#include "kernels.h"
#include "parallel.h"
#include "tree.h"

#include <nanobind/stl/string.h>

namespace {

double number(nb::handle h) { return nb::cast<double>(h); }
int whole(nb::handle h) { return nb::cast<int>(h); }

struct Plan {
  nb::object tree_kept;
  int dof;
  std::vector<int> columns; // the values of q that some goal needs
  std::vector<std::vector<Link>> links;
  std::vector<Target> targets;
  std::vector<Ball> balls;
  std::vector<double> lower, upper;
  std::vector<std::vector<double>> gains;
  std::vector<Preference> preferences;
  Problem problem;
  Method method;
  Stop stop;
  std::size_t scratch;

  // targets: (link, components, weights, point, axis); balls: (index, axis, swing, low, high);
  // method: (way, rank, pull, clamp, damping, scale, longest, shorten, halvings, escapes); preferences: (wish, gain, value, width);
  // stop: (iterations, patience, position, angle)
  Plan(nb::object tree, nb::list wanted, nb::handle low, nb::handle high, nb::list ball_list, nb::tuple how, nb::list wishes, nb::tuple end)
      : tree_kept(tree) {
    Tree &t = nb::cast<Tree &>(tree);
    dof = t.dof;
    const Rows lows(low, "lower", dof), highs(high, "upper", dof);
    std::vector<const Path *> paths;
    std::vector<char> needed(dof);
    for (nb::handle w : wanted) {
      paths.push_back(&t.path(t.place(w[0])));
      for (int c : paths.back()->columns) needed[c] = 1;
    }
    std::vector<int> place(dof, -1);
    for (int i = 0; i < dof; ++i)
      if (needed[i]) place[i] = int(columns.size()), columns.push_back(i);
    const int n = int(columns.size());
    links.reserve(paths.size());
    int rows = 0;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      nb::handle w = wanted[i];
      links.push_back(paths[i]->links);
      for (Link &link : links.back()) link.index = place[link.index];
      Target target{};
      target.chain = paths[i]->chain;
      target.chain.links = links.back().data();
      target.chain.dof = n;
      target.first = rows;
      target.rows = int(nb::len(nb::object(w[1])));
      if (target.rows < 1 || target.rows > 6) bad_input("a goal has between 1 and 6 rows");
      for (int k = 0; k < target.rows; ++k) target.component[k] = whole(w[1][k]), target.weight[k] = number(w[2][k]);
      for (int k = 0; k < 3; ++k) target.point[k] = number(w[3][k]), target.axis[k] = number(w[4][k]);
      rows += target.rows;
      targets.push_back(target);
    }
    for (int c : columns) lower.push_back(lows.data[c]), upper.push_back(highs.data[c]);
    for (nb::handle b : ball_list) {
      const int index = place[whole(b[0])];
      if (index >= 0) balls.push_back({index, {number(b[1][0]), number(b[1][1]), number(b[1][2])}, number(b[2]), number(b[3]), number(b[4])});
    }
    for (nb::handle w : wishes)
      for (int k = 1; k <= 2; ++k) {
        const Rows row(w[k], "preference", dof);
        gains.emplace_back();
        for (int c : columns) gains.back().push_back(row.data[c]);
      }
    for (std::size_t i = 0; i < gains.size(); i += 2)
      preferences.push_back({whole(wishes[i / 2][0]), gains[i].data(), gains[i + 1].data(), number(wishes[i / 2][3])});
    problem = {targets.data(), int(targets.size()), rows, n, lower.data(), upper.data(), balls.data(), int(balls.size())};
    method = {whole(how[0]), whole(how[1]), nb::cast<bool>(how[2]), nb::cast<bool>(how[3]), number(how[4]), number(how[5]), number(how[6]),
              number(how[7]), whole(how[8]), whole(how[9]), preferences.data(), int(preferences.size()), nullptr, nullptr};
    stop = {whole(end[0]), whole(end[1]), number(end[2]), number(end[3])};
    scratch = kernels().solve_scratch(problem);
  }
  Plan(const Plan &) = delete;

  void gather(const double *full, double *part) const {
    for (int c : columns) *part++ = full[c];
  }
  void scatter(const double *part, double *full) const {
    for (int c : columns) full[c] = *part++;
  }
};

// a Python function that wishes, asked from within the loop: full rows of q in, full rows of wishes out
struct Asked {
  const Plan &plan;
  nb::object function;
  std::vector<double> full; // the values that no goal needs stay as they were at the start
  std::exception_ptr error;

  static void ask(void *self, const double *q, double *v) {
    Asked &a = *static_cast<Asked *>(self);
    if (a.error) return;
    try {
      a.plan.scatter(q, a.full.data());
      const npy_intp size = a.plan.dof;
      Fresh row(&size, 1, {});
      std::copy(a.full.begin(), a.full.end(), row.data);
      const Rows wish(a.function(row.owner), "the wish of a preference by function", a.plan.dof);
      if (wish.lead || wish.not_finite() >= 0) bad_input("a preference by function must return " + std::to_string(a.plan.dof) + " finite numbers");
      std::vector<double> part(a.plan.columns.size());
      a.plan.gather(wish.data, part.data());
      for (std::size_t i = 0; i < part.size(); ++i) v[i] += part[i];
    } catch (...) {
      a.error = std::current_exception();
    }
  }
};

nb::object plan_solve(Plan &plan, nb::handle goals, nb::handle start, nb::object function) {
  const Rows g(goals, "goals", plan.problem.target_count, 12), s(start, "start", plan.dof);
  if (g.lead != 1 || s.lead != 1 || g.n != s.n) bad_input("goals and start must have one leading axis of the same length");
  const npy_intp n = g.n;
  const int k = plan.problem.n;
  std::vector<double> from(std::size_t(n) * k), to(std::size_t(n) * k);
  std::vector<Report> reports(n);
  for (npy_intp i = 0; i < n; ++i) plan.gather(s.data + i * plan.dof, from.data() + i * k);
  Method method = plan.method;
  SolveJob job{&plan.problem, &method, plan.stop, g.data, from.data(), to.data(), reports.data()};
  if (function.is_none()) {
    nb::gil_scoped_release free;
    parallel(n, 256, [&](long long begin, long long end) {
      const Scratch scratch(plan.scratch);
      kernels().solve(job, begin, end, scratch.data);
    });
  } else {
    const Scratch scratch(plan.scratch);
    for (npy_intp i = 0; i < n; ++i) {
      Asked asked{plan, function, std::vector<double>(s.data + i * plan.dof, s.data + (i + 1) * plan.dof), nullptr};
      method.ask = Asked::ask, method.asked = &asked;
      kernels().solve(job, i, i + 1, scratch.data);
      if (asked.error) std::rethrow_exception(asked.error);
    }
  }
  Fresh q(s, {plan.dof}), numbers(s, {4});
  for (npy_intp i = 0; i < n; ++i) {
    std::copy_n(s.data + i * plan.dof, plan.dof, q.data + i * plan.dof);
    plan.scatter(to.data() + i * k, q.data + i * plan.dof);
    const Report &r = reports[i];
    double *row = numbers.data + 4 * i;
    row[0] = r.outcome, row[1] = r.iterations, row[2] = r.largest_step, row[3] = r.path;
  }
  return nb::make_tuple(std::move(q.owner), std::move(numbers.owner));
}

nb::object plan_step(Plan &plan, nb::handle q, nb::handle goals, nb::object function) {
  const Rows from(q, "q", plan.dof), g(goals, "goals", plan.problem.target_count, 12);
  if (from.lead || g.lead) bad_input("a single step takes one q and one row of goals");
  const int k = plan.problem.n;
  std::vector<double> part(k), change(k);
  plan.gather(from.data, part.data());
  Method method = plan.method;
  Asked asked{plan, function, std::vector<double>(from.data, from.data + plan.dof), nullptr};
  if (!function.is_none()) method.ask = Asked::ask, method.asked = &asked;
  const Scratch scratch(plan.scratch);
  const bool found = kernels().step(plan.problem, method, g.data, part.data(), change.data(), scratch.data);
  if (asked.error) std::rethrow_exception(asked.error);
  if (!found) return nb::none();
  Fresh out(from, {plan.dof});
  std::fill_n(out.data, plan.dof, 0.0);
  plan.scatter(change.data(), out.data);
  return std::move(out.owner);
}

nb::object plan_look(Plan &plan, nb::handle q, nb::handle goals, bool pull) {
  const Rows from(q, "q", plan.dof), g(goals, "goals", plan.problem.target_count, 12);
  if (from.lead || g.lead) bad_input("a single look takes one q and one row of goals");
  const int k = plan.problem.n, m = plan.problem.rows;
  std::vector<double> part(k), J(std::size_t(m) * k);
  plan.gather(from.data, part.data());
  Fresh e(from, {m}), full(from, {m, plan.dof}), distance(from, {plan.problem.target_count}), angle(from, {plan.problem.target_count});
  const Scratch scratch(plan.scratch);
  kernels().look(plan.problem, part.data(), g.data, pull, e.data, J.data(), distance.data, angle.data, scratch.data);
  std::fill_n(full.data, std::size_t(m) * plan.dof, 0.0);
  for (int i = 0; i < m; ++i) plan.scatter(J.data() + i * k, full.data + i * plan.dof);
  return nb::make_tuple(std::move(e.owner), std::move(full.owner), std::move(distance.owner), std::move(angle.owner));
}

} // namespace

#define ARRAY "numpy.typing.NDArray[numpy.float64]"

void bind_plan(nb::module_ &m) {
  nb::class_<Plan>(m, "Plan", "A linkage, its goals and a method, compiled together.")
      .def(nb::init<nb::object, nb::list, nb::handle, nb::handle, nb::list, nb::tuple, nb::list, nb::tuple>(),
           nb::sig("def __init__(self, tree: Tree, targets: list[typing.Any], lower: " ARRAY ", upper: " ARRAY
                   ", balls: list[typing.Any], method: tuple[typing.Any, ...], preferences: list[typing.Any], stop: tuple[typing.Any, ...], /) -> None"))
      .def_prop_ro("rows", [](const Plan &p) { return p.problem.rows; }, "How many rows the error has.")
      .def_prop_ro("columns", [](const Plan &p) {
        nb::list all;
        for (int c : p.columns) all.append(c);
        return nb::tuple(all);
      }, nb::sig("def columns(self) -> tuple[int, ...]"), "The values of q that some goal needs.")
      .def("solve", plan_solve, nb::arg(), nb::arg(), nb::arg().none(),
           nb::sig("def solve(self, goals: " ARRAY ", start: " ARRAY ", wish: typing.Any, /) -> tuple[" ARRAY ", " ARRAY "]"),
           "q (n, dof) for goals (n, targets, 12) from start (n, dof), and outcome, iterations, largest step, path (n, 4).")
      .def("step", plan_step, nb::arg(), nb::arg(), nb::arg().none(), nb::sig("def step(self, q: " ARRAY ", goals: " ARRAY ", wish: typing.Any, /) -> " ARRAY " | None"),
           "The change (dof,) that one step makes to q, or None where the method finds none.")
      .def("look", plan_look, nb::sig("def look(self, q: " ARRAY ", goals: " ARRAY ", pull: bool, /) -> tuple[" ARRAY ", " ARRAY ", " ARRAY ", " ARRAY "]"),
           "Weighted error (rows,), Jacobian (rows, dof), distance and angle of each target.");
}
