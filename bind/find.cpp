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

// One part of the goals of one target: an array with a row for each problem, or for all, of any strides.
struct Part {
  nb::object owner;
  const char *data = nullptr;
  npy_intp row = 0, step = 0, inner = 0; // strides in bytes
  int size = 0;

  Part(nb::handle given, const char *what, npy_intp count, int last) {
    if (given.is_none()) return;
    PyArrayObject *a = reinterpret_cast<PyArrayObject *>(given.ptr());
    const bool array = PyArray_Check(given.ptr()) && PyArray_TYPE(a) == NPY_DOUBLE && PyArray_ISBEHAVED_RO(a);
    const int lead = array ? PyArray_NDIM(a) - last : -1;
    bool fits = lead == 0 || lead == 1;
    if (lead == 1) fits = PyArray_DIM(a, 0) == count || count < 0;
    for (int i = 0; i < last && fits; ++i) fits = PyArray_DIM(a, lead + i) == 3;
    if (!fits) bad_input(std::string(what) + " must be float64 with a row for each problem");
    owner = nb::borrow(given), data = PyArray_BYTES(a);
    row = lead ? PyArray_STRIDE(a, 0) : 0, inner = PyArray_STRIDE(a, lead + last - 1), step = last == 2 ? PyArray_STRIDE(a, lead) : 0;
    size = last == 2 ? 9 : 3;
  }
  void read(long long i, double *to) const {
    for (int k = 0; k < size; ++k) to[k] = *reinterpret_cast<const double *>(data + i * row + (k / 3) * step + (k % 3) * inner);
  }
};

struct Finder {
  Posed posed;
  std::vector<double> natural, unit, low, high, from, span, spread, middle, period;
  std::vector<int> columns, column_first, slots, parent, counts;
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
      const int first = int(columns.size());
      column_first.push_back(first);
      std::vector<int> slot(n, -1);
      for (int i = 0; i < target.chain.count; ++i)
        for (int k = 0; k < (target.chain.links[i].motion == supple::balls ? 3 : 1); ++k) {
          const int l = target.chain.links[i].index + k;
          if (slot[l] < 0) slot[l] = int(columns.size()) - first, columns.push_back(l);
          slots.push_back(slot[l]);
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
              columns.data(), column_first.data(), slots.data(), parent.data(), nullptr, whole(how[0]), whole(how[1]), number(how[2]), number(how[3]), 1e301, {}, nullptr, nullptr};
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

  // Reads a start, if any, into `begin` and the values that no goal needs into `full`; null if none is given.
  const double *read_start(PyObject *start) {
    if (start == Py_None) {
      full = rest_row;
      return nullptr;
    }
    const Rows row(start, "start", posed.dof);
    const npy_intp bad = row.not_finite();
    if (row.lead || bad >= 0) bad_input("start must be " + std::to_string(posed.dof) + " finite numbers" + (bad >= 0 ? "; value " + std::to_string(bad) + " is not" : ", not of shape " + shape_text(row.array)));
    full.assign(row.data, row.data + posed.dof);
    posed.gather(row.data, begin.data());
    return begin.data();
  }

  // one solve of what is in `goals`, into `to` (dof)
  Found solve_one(const double *from, double *to, int &count) {
    if (sized_for != &hunts()) scratch = Scratch(hunts().scratch(posed.problem, 0)), sized_for = &hunts();
    Deadline deadline{budget, {}};
    Search timed;
    if (budget > 0) timed = search, timed.late = Deadline::late, timed.clock = &deadline;
    const Found found = hunts().one({&posed.problem, budget > 0 ? &timed : &search, stop, goals.data(), from, q.data(), nullptr}, 1, count, scratch.data);
    std::copy_n(full.data(), posed.dof, to);
    posed.scatter(q.data(), to);
    return found;
  }

  // one frame, or one for each goal; a start and a place for the answer, or none
  nb::object quick(PyObject *given, PyObject *start, PyObject *into) {
    if (Py_TYPE(given) == frame_type.type) given = *reinterpret_cast<PyObject **>(reinterpret_cast<char *>(given) + frame_type.slot);
    const int targets = posed.problem.target_count;
    const Rows frames(given, "goal", 4, 4);
    if (frames.n != targets || frames.lead > 1) bad_input("goal must have shape " + (targets > 1 ? "(" + std::to_string(targets) + ", 4, 4)" : std::string("(4, 4)")) + ", not " + shape_text(frames.array));
    for (int t = 0; t < targets; ++t)
      if (!read_goal(posed.targets[t], frames.data + 16 * t, goals.data() + 12 * t)) bad_input("goal must be a finite frame: a rotation and a position above 0 0 0 1");
    const double *from = read_start(start);
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
    int count;
    solve_one(from, to, count);
    return count ? std::move(out) : nb::none();
  }

  // the parts of one goal, each an array or none: (q, outcome, iterations, starts)
  nb::object answer(PyObject *position, PyObject *orientation, PyObject *direction, PyObject *start) {
    if (posed.problem.target_count != 1) bad_input("one goal, where several are asked");
    std::fill_n(goals.data(), 12, 0.0);
    if (position != Py_None) Part(position, "position", -1, 1).read(0, goals.data() + 9);
    if (orientation != Py_None) Part(orientation, "orientation", -1, 2).read(0, goals.data());
    if (direction != Py_None) Part(direction, "direction", -1, 1).read(0, goals.data());
    const double *from = read_start(start);
    const npy_intp size = posed.dof;
    Fresh out(&size, 1, {});
    int count;
    const Found found = solve_one(from, out.data, count);
    PyObject *told = PyTuple_New(4);
    if (!told) throw nb::python_error();
    PyTuple_SET_ITEM(told, 0, out.owner.release().ptr());
    PyTuple_SET_ITEM(told, 1, PyLong_FromLong(found.outcome));
    PyTuple_SET_ITEM(told, 2, PyLong_FromLong(found.iterations));
    PyTuple_SET_ITEM(told, 3, PyLong_FromLong(found.starts));
    return nb::steal(told);
  }
};

// Rows begin to end: goals is a list of (position, orientation, direction), each an array or None; start (rows, dof) or None.
// Fills q (rows, dof) and report (3, rows): outcome, iterations, starts. With `wanted`, up to so many answers for each:
// q (rows, wanted, dof), report (3, rows, wanted), where what is beyond those found repeats the first and counts as spent.
void finder_many(Finder &finder, nb::list goals, nb::object start, nb::handle into, nb::handle report, int wanted, long long begin, long long end) {
  const int n = finder.posed.problem.n, dof = finder.posed.dof, targets = finder.posed.problem.target_count, size = 12 * targets, each = wanted ? wanted : 1;
  if (int(goals.size()) != targets) bad_input("there must be as many goals as were planned for");
  PyArrayObject *told = reinterpret_cast<PyArrayObject *>(report.ptr());
  const Rows out = wanted ? Rows(into, "q", wanted, dof) : Rows(into, "q", dof);
  const long long count = out.n;
  if (!PyArray_Check(report.ptr()) || PyArray_TYPE(told) != NPY_INT64 || !PyArray_ISCARRAY(told) || PyArray_SIZE(told) != 3 * count * each || out.lead != 1 || begin < 0 || end < begin || end > count)
    bad_input("q and report must have as many rows");
  std::vector<Part> parts;
  for (nb::handle goal : goals) {
    parts.emplace_back(goal[0], "position", count, 1), parts.emplace_back(goal[1], "orientation", count, 2), parts.emplace_back(goal[2], "direction", count, 1);
  }
  nb::object kept;
  const double *given = nullptr;
  if (!start.is_none()) {
    const Rows s(start, "start", dof);
    if (s.n != count) bad_input("goals and start must have as many rows");
    kept = s.owner, given = s.data;
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
    if (finder.budget > 0) search.late = Deadline::late, search.clock = &deadline;
    for (long long at; (at = next.fetch_add(chunk)) < end;) {
      int good = 0;
      for (long long row = at; row < std::min(at + chunk, end); ++row) {
        double *goal = asked.data() + good * size, sum = 0;
        std::fill_n(goal, size, 0.0);
        for (int t = 0; t < targets; ++t) parts[3 * t].read(row, goal + 12 * t + 9), parts[3 * t + 1].read(row, goal + 12 * t), parts[3 * t + 2].read(row, goal + 12 * t);
        for (int i = 0; i < size; ++i) sum += goal[i] * 0.0;
        for (int i = 0; given && i < dof; ++i) sum += given[row * dof + i] * 0.0;
        if (!(sum == 0)) {
          for (int k = 0; k < each; ++k) {
            const long long at_row = row * each + k;
            numbers[at_row] = invalid, numbers[count * each + at_row] = numbers[2 * count * each + at_row] = 0;
            double *place = to + (row * each + k) * dof;
            for (int i = 0; i < dof; ++i) place[i] = given && std::isfinite(given[row * dof + i]) ? given[row * dof + i] : finder.rest_row[i];
          }
          continue;
        }
        if (given) finder.posed.gather(given + row * dof, from.data() + good * n);
        rows[good++] = row;
      }
      const HuntJob job{&finder.posed.problem, &search, finder.stop, asked.data(), given ? from.data() : nullptr, q.data(), found.data()};
      int answers = 0;
      if (!wanted) hunts().many(job, 0, good, scratch.data);
      else if (good) found[0] = hunts().one(job, wanted, answers, scratch.data);
      for (int i = 0; i < good; ++i)
        for (int k = 0; k < each; ++k) {
          const long long place = rows[i] * each + k;
          std::copy_n(given ? given + rows[i] * dof : finder.rest_row.data(), dof, to + place * dof);
          finder.posed.scatter(q.data() + (i * each + (k < answers ? k : 0)) * n, to + place * dof);
          numbers[place] = k && k >= answers ? spent : found[i].outcome;
          numbers[count * each + place] = found[i].iterations, numbers[2 * count * each + place] = found[i].starts;
        }
    }
  });
}

// The fast doors: plain functions of Python's, without the arguments' names.
template <class F> PyObject *guarded(F call) {
  try {
    return call().release().ptr();
  } catch (nb::python_error &error) {
    error.restore();
  } catch (std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
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
    for (Py_ssize_t i = 0; i < count && i < 3; ++i) given[i] = PyTuple_GET_ITEM(args, i);
    Py_ssize_t named = 0;
    for (int i = int(count); i < 3 && names; ++i)
      if (PyObject *value = PyDict_GetItemString(names, known[i])) given[i] = value, ++named;
    if (count > 3 || !given[0] || (names && named != PyDict_GET_SIZE(names))) {
      PyErr_SetString(PyExc_TypeError, "a plan is called with goal, start=None, out=None");
      throw nb::python_error();
    }
    return nb::inst_ptr<Door>(self)->finder->quick(given[0], given[1], given[2]);
  });
}
PyType_Slot door_slots[] = {{Py_tp_call, reinterpret_cast<void *>(door_call)}, {0, nullptr}};
PyObject *answer_call(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  return guarded([&] {
    if (count != 4) bad_input("answer takes position, orientation, direction and start");
    return nb::inst_ptr<Finder>(self)->answer(args[0], args[1], args[2], args[3]);
  });
}
using Quick = PyObject *(*)(PyObject *, PyObject *const *, Py_ssize_t);
PyMethodDef answer_door = {"answer", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)(void)>(Quick(answer_call))), METH_FASTCALL,
                           "answer(position, orientation, direction, start): (q, outcome, iterations, starts) of one goal."};

} // namespace

#define ARRAY "numpy.typing.NDArray[numpy.float64]"

void bind_find(nb::module_ &m) {
  nb::class_<Door>(m, "Door", nb::type_slots(door_slots), "Called with a goal, a start and an array for the answer; see supple.plan.")
      .def(nb::init<nb::object>(), nb::sig("def __init__(self, finder: Finder, /) -> None"));
  nb::class_<Finder>(m, "Finder", "A linkage and its goals, compiled together for the search.")
      .def(nb::init<nb::object, nb::list, nb::handle, nb::handle, nb::list, nb::tuple, nb::tuple, nb::tuple, nb::tuple>(),
           nb::sig("def __init__(self, tree: Tree, targets: list[typing.Any], lower: " ARRAY ", upper: " ARRAY ", balls: list[typing.Any], sizes: "
                   "tuple[typing.Any, ...], how: tuple[typing.Any, ...], tolerance: tuple[typing.Any, ...], reach: tuple[typing.Any, ...], /) -> None"))
      .def_prop_ro("has_table", [](const Finder &f) { return f.search.table != nullptr; }, "Whether a table of starts is worth its while here.")
      .def_prop_ro("columns", [](const Finder &f) { return int(f.posed.columns.size()); }, "How many values of q some goal needs.")
      .def_prop_ro("answer", [](nb::handle self) {
        PyObject *made = PyCFunction_New(&answer_door, self.ptr());
        if (!made) throw nb::python_error();
        return nb::steal(made);
      }, nb::sig("def answer(self) -> typing.Callable[..., tuple[" ARRAY ", int, int, int]]"),
                   "answer(position, orientation, direction, start), each an array or None: q (dof,), outcome, iterations and starts of one goal.")
      .def("many", finder_many, nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
           nb::sig("def many(self, goals: list[typing.Any], start: " ARRAY " | None, q: " ARRAY ", report: numpy.typing.NDArray[numpy.int64], wanted: int, begin: int, end: int, /) -> None"),
           "Rows begin to end into q (rows, dof) and report (3, rows): outcome, iterations, starts. Goals are (position, orientation, direction) for "
           "each; with `wanted`, q (rows, wanted, dof) and report (3, rows, wanted), nearest first.");
}
