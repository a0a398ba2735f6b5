// Searches at the wall: linkage and goals compiled together, with a table of where to begin.
#include "hunts.h"

#include "parallel.h"
#include "problem.h"
#include "supple/reach.h"

#include <atomic>
#include <chrono>

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
  if (!std::strcmp(name, supple::avx512::hunt_table.name)) return supple::avx512::hunt_table;
#endif
#ifdef SUPPLE_HAS_avx2
  if (!std::strcmp(name, supple::avx2::hunt_table.name)) return supple::avx2::hunt_table;
#endif
  (void)name;
  return supple::baseline::hunt_table;
}

namespace {

constexpr double whole_turn = 6.283185307179586;
constexpr int sample_count = 20000, trial_count = 256;
using Clock = std::chrono::steady_clock;

// when a solve has used its time
struct Deadline {
  double microseconds;
  Clock::time_point end;
  static bool late(void *self, bool begins) {
    Deadline &d = *static_cast<Deadline *>(self);
    if (begins) d.end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::micro>(d.microseconds));
    return !begins && Clock::now() >= d.end;
  }
};

// the twelve numbers of a goal, from a frame of sixteen: false where it is none
bool read_goal(const Target &target, const double *m, double *goal) {
  for (int i = 0; i < 16; ++i)
    if (!(std::fabs(m[i]) < 1e300)) return false;
  if (m[12] != 0 || m[13] != 0 || m[14] != 0 || m[15] != 1) return false;
  split(m, goal, goal + 9);
  const Vec<double> x{m[0], m[4], m[8]}, y{m[1], m[5], m[9]}, z{m[2], m[6], m[10]}, off = cross(x, y) - z;
  if (!(std::fabs(dot(x, y)) + std::fabs(dot(x, x) - 1) + std::fabs(dot(y, y) - 1) + dot(off, off) < 1e-6)) return false;
  if (target.component[target.rows - 1] >= across_1) {
    const Vec<double> way = Rot<double>{x, y, z} * Vec<double>{target.axis[0], target.axis[1], target.axis[2]};
    goal[0] = way.x, goal[1] = way.y, goal[2] = way.z;
  }
  return true;
}

struct Finder {
  Posed posed;
  std::vector<double> natural, unit, low, high, from, span, spread, middle, period;
  std::vector<int> columns, column_first, parent, counts;
  std::vector<float> samples;
  Table table{};
  Search search{};
  Stop stop{};
  double budget; // microseconds, or 0
  Scratch scratch;
  const Hunts *sized_for;
  std::vector<double> q, goals, begin, full, rest_row; // of one solve

  // sizes: natural size, weight and rest of each value of q; how: (starts, iterations, longest, near, microseconds);
  // tolerance: (position, angle); reach: (farthest, x, y, z)
  Finder(nb::object tree, nb::list wanted, nb::handle lower, nb::handle upper, nb::list balls, nb::tuple sizes, nb::tuple how, nb::tuple tolerance, nb::tuple reach)
      : posed(tree, wanted, lower, upper, balls), scratch(0) {
    const int n = posed.problem.n, dof = posed.dof;
    const Rows natural_size(sizes[0], "sizes", dof), weights(sizes[1], "weights", dof), rest(sizes[2], "rest", dof);
    for (std::vector<double> *row : {&natural, &unit, &low, &high, &from, &span, &spread, &middle, &period}) row->assign(n, 0.0);
    std::vector<int> kind(n, -1); // the motion of a joint alone with its value, or else -1
    std::vector<double> gain(n, 1.0);
    for (const auto &links : posed.links)
      for (const Link &link : links) {
        if (link.motion == supple::balls) continue;
        const double here = link.motion == turns ? link.turn_gain : link.slide_gain;
        int &known = kind[link.index];
        const bool differs = known >= 0 && (known != link.motion || gain[link.index] != here); // a mimic, seen by another goal
        known = link.shared || known == -2 || differs ? -2 : link.motion;
        gain[link.index] = here;
      }
    // the root of x^(n+1) = x + 1: its powers fill n dimensions evenly
    double root = 1.5;
    for (int i = 0; i < 60; ++i) root = std::pow(1 + root, 1.0 / (n + 1));
    for (int l = 0; l < n; ++l) {
      const int c = posed.columns[l];
      natural[l] = natural_size.data[c], unit[l] = natural[l] * weights.data[c];
      const double a = posed.lower[l], b = posed.upper[l], turn = whole_turn / std::fabs(gain[l]);
      const bool limited = a > -1e300 && b < 1e300;
      if (kind[l] == turns && unit[l] > 0 && !(b - a < turn)) period[l] = turn;
      const double about = limited ? (a + b) / 2 : a > -1e300 ? larger(a, rest.data[c]) : b < 1e300 ? lesser(b, rest.data[c]) : rest.data[c];
      const double wide = period[l] > 0 ? turn : limited ? b - a : whole_turn * natural[l];
      from[l] = limited || period[l] > 0 ? about - wide / 2 : larger(a, about - wide / 2);
      span[l] = lesser(b, from[l] + wide) - from[l];
      middle[l] = unit[l] > 0 ? about : rest.data[c];
      low[l] = period[l] > 0 || !(a > -1e300) ? -1e300 : a, high[l] = period[l] > 0 || !(b < 1e300) ? 1e300 : b;
      const double power = std::pow(root, -(l + 1));
      spread[l] = power - std::floor(power);
    }
    for (const Ball &ball : posed.balls)
      for (int k = ball.index; k < ball.index + 3; ++k) from[k] = -2, span[k] = 4, middle[k] = rest.data[posed.columns[k]], low[k] = -1e300, high[k] = 1e300, period[k] = 0;
    for (const Target &target : posed.targets) {
      column_first.push_back(int(columns.size()));
      std::vector<char> seen(n);
      for (int i = 0; i < target.chain.count; ++i)
        for (int k = 0; k < (target.chain.links[i].motion == supple::balls ? 3 : 1); ++k) {
          const int l = target.chain.links[i].index + k;
          if (!seen[l]) columns.push_back(l);
          seen[l] = 1;
        }
    }
    column_first.push_back(int(columns.size()));
    find_parents();
    const Target &target = posed.targets[0];
    bool simple = posed.targets.size() == 1 && posed.balls.empty(), slack = false, locked = false;
    for (int l = 0; l < n; ++l) simple = simple && kind[l] >= 0, locked = locked || !(unit[l] > 0);
    for (int k = 0; k < target.rows; ++k) slack = slack || target.slack[k] > 0;
    const bool whole_frame = target.rows == 6 && target.component[5] == about_z;
    search = {natural.data(), unit.data(), low.data(), high.data(), simple && whole_frame && !slack, from.data(), span.data(), spread.data(), middle.data(), period.data(),
              columns.data(), column_first.data(), parent.data(), nullptr, whole(how[0]), whole(how[1]), number(how[2]), number(how[3]), 1e301, {}, nullptr, nullptr};
    budget = number(how[4]);
    // a little within, so that other people's arithmetic agrees
    stop = {0, 0, 0.98 * number(tolerance[0]), 0.98 * number(tolerance[1])};
    scratch = Scratch(hunts().scratch(posed.problem, 0)), sized_for = &hunts();
    q.resize(n), begin.resize(n), goals.resize(12 * posed.targets.size());
    rest_row.assign(rest.data, rest.data + dof);
    if (simple && !locked && target.rows >= 3 && target.component[2] == along_z && target.chain.count >= 2) make_table(whole_frame);
    const double farthest = number(reach[0]);
    if (posed.targets.size() == 1 && !slack && target.rows >= 3 && target.component[2] == along_z && farthest < 1e300) {
      search.farthest = farthest * (1 + 1e-6) + 1e-9;
      for (int k = 0; k < 3; ++k) search.base[k] = number(reach[1 + k]);
    }
  }
  Finder(const Finder &) = delete;

  // The joint before each, where every chain is a way through one tree and joints come after those before them; else all
  // joints in a row, which is a tree too.
  void find_parents() {
    const int n = posed.problem.n;
    parent.assign(n, -2);
    bool tree = true;
    for (std::size_t t = 0; t + 1 < column_first.size(); ++t) {
      int before = -1;
      for (int c = column_first[t]; c < column_first[t + 1]; before = columns[c++]) {
        int &known = parent[columns[c]];
        tree = tree && before < columns[c] && (known == -2 || known == before);
        known = before;
      }
    }
    for (const auto &links : posed.links)
      for (const Link &link : links) tree = tree && !link.shared;
    for (int k = 0; k < n && !tree; ++k) parent[k] = k - 1;
  }

  // Samples q and sorts it by where the hand is; kept only if searches then need fewer steps.
  void make_table(bool whole_frame) {
    const Target &target = posed.targets[0];
    const Chain &chain = target.chain;
    const Link &first = chain.links[0], &last = chain.links[chain.count - 1];
    const int n = posed.problem.n;
    table.turns_first = first.motion == turns, table.turns_last = whole_frame && last.motion == turns;
    table.points = target.component[target.rows - 1] >= across_1 || whole_frame;
    table.first = first.index, table.last = last.index, table.n = n;
    table.first_gain = first.turn_gain, table.last_gain = last.turn_gain, table.weight = target.weight[0];
    std::copy_n(first.rotation, 9, table.rotation), std::copy_n(first.position, 3, table.position);
    const Frame<double> hand = constant<double>(chain.rotation, chain.position); // seen from the last joint
    const Rot<double> back = transpose(hand.r);
    auto put3 = [](double *into, Vec<double> v) { into[0] = v.x, into[1] = v.y, into[2] = v.z; };
    const Vec<double> point{target.point[0], target.point[1], target.point[2]};
    put3(table.point, point), put3(table.axis, Vec<double>{target.axis[0], target.axis[1], target.axis[2]}), put3(table.across, {1, 0, 0});
    if (table.turns_last) {
      // the point of the last axis that is nearest to the hand stays where it is, whatever the last joint does
      const Vec<double> at = hand * point;
      put3(table.point, back * (Vec<double>{0, 0, at.z} - hand.p)), put3(table.axis, back * Vec<double>{0, 0, 1}), put3(table.across, back * Vec<double>{1, 0, 0});
    } else if (whole_frame) {
      put3(table.axis, {0, 0, 1});
    }
    table.sides = table.points ? 4 : 1;
    const int grid[2][3] = {{4, 6, 1}, {4, 4, 4}};
    for (int k = 0; k < 3; ++k) table.places[k] = grid[!table.turns_first][k] * (table.points ? 1 : k < 2 || !table.turns_first ? 2 : 1);
    table.fields = 10 + n;
    std::vector<float> rows(std::size_t(sample_count) * table.fields);
    hunts().sample(posed.problem, search, table, sample_count, rows.data(), scratch.data);
    for (int k = 0; k < 3; ++k) {
      float least = rows[k], most = rows[k];
      for (int i = 0; i < sample_count; ++i) least = std::min(least, rows[std::size_t(i) * table.fields + k]), most = std::max(most, rows[std::size_t(i) * table.fields + k]);
      table.low[k] = least, table.step[k] = larger(double(most - least), 1e-9) / table.places[k];
    }
    const int cells = table.places[0] * table.places[1] * table.places[2] * table.sides * table.sides;
    samples.assign(std::size_t(cells) * table.fields * Table::spots, 0.0f), counts.assign(cells, 0);
    hunts().fill(table, rows.data(), sample_count, samples.data(), counts.data());
    const long long without = trial();
    search.table = &table;
    if (trial() >= without) search.table = nullptr, samples.clear(), samples.shrink_to_fit();
  }

  // how many steps searches take, for goals from even starts of their own
  long long trial() {
    long long steps = 0;
    const int n = posed.problem.n;
    std::vector<Axis<double>> axes(posed.targets[0].chain.axes + 1);
    for (int i = 0; i < trial_count; ++i) {
      for (int l = 0; l < n; ++l) {
        const double part = 0.25 + (i + 1) * spread[(l + 1) % n];
        q[l] = from[l] + span[l] * (part - std::floor(part));
      }
      const Target &target = posed.targets[0];
      Frame<double> hand = frame<double>(traverse_chain(target.chain, q.data(), axes.data()));
      hand.p = hand * Vec<double>{target.point[0], target.point[1], target.point[2]};
      double goal[12] = {hand.r.x.x, hand.r.y.x, hand.r.z.x, hand.r.x.y, hand.r.y.y, hand.r.z.y, hand.r.x.z, hand.r.y.z, hand.r.z.z, hand.p.x, hand.p.y, hand.p.z};
      if (target.component[target.rows - 1] >= across_1) {
        const Vec<double> way = hand.r * Vec<double>{target.axis[0], target.axis[1], target.axis[2]};
        goal[0] = way.x, goal[1] = way.y, goal[2] = way.z;
      }
      int count;
      steps += hunts().one({&posed.problem, &search, stop, goal, nullptr, q.data(), nullptr}, 1, count, scratch.data).iterations;
    }
    return steps;
  }

  // one frame, or one for each goal; a start and a place for the answer, or none
  nb::object quick(PyObject *given, PyObject *start, PyObject *into) {
    if (Py_TYPE(given) == frame_type.type) given = *reinterpret_cast<PyObject **>(reinterpret_cast<char *>(given) + frame_type.slot);
    const int targets = posed.problem.target_count;
    const Rows frames(given, "goal", 4, 4);
    if (frames.n != targets || frames.lead > 1) bad_input("goal must have shape " + (targets > 1 ? "(" + std::to_string(targets) + ", 4, 4)" : std::string("(4, 4)")) + ", not " + shape_text(frames.array));
    for (int t = 0; t < targets; ++t)
      if (!read_goal(posed.targets[t], frames.data + 16 * t, goals.data() + 12 * t)) bad_input("goal must be a finite frame: a rotation and a position above 0 0 0 1");
    const double *from = nullptr;
    if (start != Py_None) {
      const Rows row(start, "start", posed.dof);
      if (row.lead || row.not_finite() >= 0) bad_input("start must be " + std::to_string(posed.dof) + " finite numbers");
      posed.gather(row.data, begin.data());
      from = begin.data();
      full.assign(row.data, row.data + posed.dof);
    } else {
      full = rest_row;
    }
    nb::object out;
    double *to;
    if (into == Py_None) {
      const npy_intp size = posed.dof;
      Fresh fresh(&size, 1, {});
      out = std::move(fresh.owner), to = fresh.data;
    } else {
      PyArrayObject *a = reinterpret_cast<PyArrayObject *>(into);
      if (!PyArray_Check(into) || PyArray_TYPE(a) != NPY_DOUBLE || !PyArray_ISCARRAY(a) || PyArray_NDIM(a) != 1 || PyArray_DIM(a, 0) != posed.dof)
        bad_input("out must be a writable, C-contiguous float64 array of shape (" + std::to_string(posed.dof) + ",)");
      out = nb::borrow(into), to = static_cast<double *>(PyArray_DATA(a));
    }
    if (sized_for != &hunts()) scratch = Scratch(hunts().scratch(posed.problem, 0)), sized_for = &hunts();
    Deadline deadline{budget, {}};
    Search timed;
    if (budget > 0) timed = search, timed.late = Deadline::late, timed.clock = &deadline;
    int count;
    hunts().one({&posed.problem, budget > 0 ? &timed : &search, stop, goals.data(), from, q.data(), nullptr}, 1, count, scratch.data);
    std::copy_n(full.data(), posed.dof, to);
    posed.scatter(q.data(), to);
    return count ? std::move(out) : nb::none();
  }
};

// goals (k, targets, 12) and starts (k, dof) or None; q (k, dof) and report (k, 4) are filled, rows begin to end
void finder_many(Finder &finder, nb::handle goals, nb::object start, nb::handle into, nb::handle report, long long begin, long long end) {
  const Rows g(goals, "goals", finder.posed.problem.target_count, 12), out(into, "q", finder.posed.dof), told(report, "report", 4);
  const int n = finder.posed.problem.n, dof = finder.posed.dof, size = 12 * finder.posed.problem.target_count;
  if (out.n != g.n || told.n != g.n || begin < 0 || end < begin || end > g.n) bad_input("goals, q and report must have as many rows");
  const Rows s(start.is_none() ? into : start, "start", dof);
  if (s.n != g.n) bad_input("goals and start must have as many rows");
  const bool given = !start.is_none();
  double *to = const_cast<double *>(out.data), *numbers = const_cast<double *>(told.data);
  nb::gil_scoped_release free;
  constexpr long long chunk = 256;
  std::atomic<long long> next{begin};
  parallel((end - begin + chunk - 1) / chunk * 64, 64, [&](long long, long long) {
    const Scratch scratch(hunts().scratch(finder.posed.problem, chunk));
    std::vector<double> q(chunk * n), from(given ? chunk * n : 0);
    std::vector<Found> found(chunk);
    Search search = finder.search;
    Deadline deadline{finder.budget, {}};
    if (finder.budget > 0) search.late = Deadline::late, search.clock = &deadline;
    for (long long at; (at = next.fetch_add(chunk)) < end;) {
      const long long count = std::min(chunk, end - at);
      for (long long i = 0; i < count && given; ++i) finder.posed.gather(s.data + (at + i) * dof, from.data() + i * n);
      hunts().many({&finder.posed.problem, &search, finder.stop, g.data + at * size, given ? from.data() : nullptr, q.data(), found.data()}, 0, count, scratch.data);
      for (long long i = 0; i < count; ++i) {
        finder.posed.scatter(q.data() + i * n, to + (at + i) * dof);
        const double row[4] = {double(found[i].outcome), double(found[i].iterations), double(found[i].starts), found[i].error};
        std::copy_n(row, 4, numbers + 4 * (at + i));
      }
    }
  });
}

// the same with up to `wanted` answers for each: q (k, wanted, dof), report (k, wanted, 4); rows beyond those found
// repeat the first and count as spent
void finder_several(Finder &finder, nb::handle goals, nb::object start, nb::handle into, nb::handle report, int wanted, long long begin, long long end) {
  const Rows g(goals, "goals", finder.posed.problem.target_count, 12), out(into, "q", wanted, finder.posed.dof), told(report, "report", wanted, 4);
  const int n = finder.posed.problem.n, dof = finder.posed.dof, size = 12 * finder.posed.problem.target_count;
  if (out.n != g.n || told.n != g.n || begin < 0 || end < begin || end > g.n) bad_input("goals, q and report must have as many rows");
  nb::object kept = start;
  const double *given = nullptr;
  if (!start.is_none()) {
    const Rows s(start, "start", dof);
    if (s.n != g.n) bad_input("goals and start must have as many rows");
    kept = s.owner, given = s.data;
  }
  double *to = const_cast<double *>(out.data), *numbers = const_cast<double *>(told.data);
  nb::gil_scoped_release free;
  std::atomic<long long> next{begin};
  parallel((end - begin) * 64, 64, [&](long long, long long) {
    const Scratch scratch(hunts().scratch(finder.posed.problem, 0));
    std::vector<double> q(std::size_t(n) * wanted), from(n);
    Search search = finder.search;
    Deadline deadline{finder.budget, {}};
    if (finder.budget > 0) search.late = Deadline::late, search.clock = &deadline;
    for (long long at; (at = next.fetch_add(1)) < end;) {
      if (given) finder.posed.gather(given + at * dof, from.data());
      int count;
      const Found found = hunts().one({&finder.posed.problem, &search, finder.stop, g.data + at * size, given ? from.data() : nullptr, q.data(), nullptr}, wanted, count, scratch.data);
      for (int k = 0; k < wanted; ++k) {
        finder.posed.scatter(q.data() + (k < count ? k : 0) * n, to + (at * wanted + k) * dof);
        const double row[4] = {double(k < count || !k ? found.outcome : spent), double(found.iterations), double(found.starts), found.error};
        std::copy_n(row, 4, numbers + 4 * (at * wanted + k));
      }
    }
  });
}

// The fast door: a plain function of Python's, without the arguments' names.
PyObject *quick_call(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  try {
    Finder &finder = *nb::inst_ptr<Finder>(self);
    if (count < 1 || count > 3) bad_input("find takes a goal, a start and an array for the answer");
    return finder.quick(args[0], count > 1 ? args[1] : Py_None, count > 2 ? args[2] : Py_None).release().ptr();
  } catch (nb::python_error &error) {
    error.restore();
  } catch (std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}
PyMethodDef quick_door = {"find", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)(void)>(quick_call)), METH_FASTCALL,
                          "find(goal, start=None, out=None): joint values that bring the end effectors there, or None."};

} // namespace

#define ARRAY "numpy.typing.NDArray[numpy.float64]"

void bind_find(nb::module_ &m) {
  nb::class_<Finder>(m, "Finder", "A linkage and its goals, compiled together for the search.")
      .def(nb::init<nb::object, nb::list, nb::handle, nb::handle, nb::list, nb::tuple, nb::tuple, nb::tuple, nb::tuple>(),
           nb::sig("def __init__(self, tree: Tree, targets: list[typing.Any], lower: " ARRAY ", upper: " ARRAY ", balls: list[typing.Any], sizes: "
                   "tuple[typing.Any, ...], how: tuple[typing.Any, ...], tolerance: tuple[typing.Any, ...], reach: tuple[typing.Any, ...], /) -> None"))
      .def_prop_ro("has_table", [](const Finder &f) { return f.search.table != nullptr; }, "Whether a table of starts is worth its while here.")
      .def_prop_ro("columns", [](const Finder &f) { return int(f.posed.columns.size()); }, "How many values of q some goal needs.")
      .def_prop_ro("find", [](nb::handle self) {
        PyObject *made = PyCFunction_New(&quick_door, self.ptr());
        if (!made) throw nb::python_error();
        return nb::steal(made);
      }, nb::sig("def find(self) -> typing.Callable[..., " ARRAY " | None]"),
           "The fast door: find(goal, start=None, out=None), goal (4, 4) or (goals, 4, 4); q (dof,) if it arrived, else None.")
      .def("many", finder_many, nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
           nb::sig("def many(self, goals: " ARRAY ", start: " ARRAY " | None, q: " ARRAY ", report: " ARRAY ", begin: int, end: int, /) -> None"),
           "Rows begin to end of goals (k, goals, 12) and starts (k, dof) into q (k, dof) and report (k, 4): outcome, iterations, starts, squared error.")
      .def("several", finder_several, nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
           nb::sig("def several(self, goals: " ARRAY ", start: " ARRAY " | None, q: " ARRAY ", report: " ARRAY ", wanted: int, begin: int, end: int, /) -> None"),
           "The same with up to `wanted` answers each, nearest first: q (k, wanted, dof) and report (k, wanted, 4).");
}
