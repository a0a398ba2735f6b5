// A search at the wall: linkage and goals compiled together, with a table of where to begin.
#pragma once
#include "kernels/search.h"
#include "problem.h"
#include "threads.h"

#include <chrono>

constexpr double full_turn = 6.283185307179586;
constexpr int sample_count = 20000, trial_count = 256;
using Clock = std::chrono::steady_clock;

// when a solve has used its time
struct Deadline {
  double microseconds;
  Clock::time_point end;
  static bool late(void *self, bool begins) {
    Deadline &d = *static_cast<Deadline *>(self);
    if (begins)
      d.end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double, std::micro>(d.microseconds));
    return !begins && Clock::now() >= d.end;
  }
};

// the twelve numbers of a goal, from a frame of sixteen: false where it is none
inline bool read_goal(const Target &target, const double *m, double *goal) {
  for (int i = 0; i < 16; ++i)
    if (!(std::fabs(m[i]) < 1e300))
      return false;
  if (m[12] != 0 || m[13] != 0 || m[14] != 0 || m[15] != 1)
    return false;
  split(m, goal, goal + 9);
  const Vec<double> x{m[0], m[4], m[8]}, y{m[1], m[5], m[9]}, z{m[2], m[6], m[10]}, off = cross(x, y) - z;
  if (!(std::fabs(dot(x, y)) + std::fabs(dot(x, x) - 1) + std::fabs(dot(y, y) - 1) + dot(off, off) < 1e-6))
    return false;
  if (target.component[target.rows - 1] >= across_1) {
    const Vec<double> way =
        Rot<double>{x, y, z} * Vec<double>{target.axis[0], target.axis[1], target.axis[2]};
    goal[0] = way.x;
    goal[1] = way.y;
    goal[2] = way.z;
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

  // sizes: natural size, weight and rest of each value of q; how: (starts, iterations, longest, near,
  // microseconds); tolerance: (position, angle); reach: (farthest, x, y, z)
  Finder(nb::object tree, nb::list wanted, nb::handle lower, nb::handle upper, nb::list balls,
         nb::tuple sizes, nb::tuple how, nb::tuple tolerance, nb::tuple reach)
      : posed(tree, wanted, lower, upper, balls), scratch(0) {
    const int n = posed.problem.n, dof = posed.dof;
    const Rows natural_size(sizes[0], "sizes", dof), weights(sizes[1], "weights", dof),
        rest(sizes[2], "rest", dof);
    for (std::vector<double> *row : {&natural, &unit, &low, &high, &from, &span, &spread, &middle, &period})
      row->assign(n, 0.0);
    std::vector<int> kind(n, -1); // the motion of a joint alone with its value, or else -1
    std::vector<double> gain(n, 1.0);
    for (const auto &links : posed.links)
      for (const Link &link : links) {
        if (link.motion == supple::balls)
          continue;
        const double here = link.motion == turns ? link.turn_gain : link.slide_gain;
        int &known = kind[link.index];
        const bool differs =
            known >= 0 && (known != link.motion || gain[link.index] != here); // a mimic, seen by another goal
        known = link.shared || known == -2 || differs ? -2 : link.motion;
        gain[link.index] = here;
      }
    // the root of x^(n+1) = x + 1: its powers fill n dimensions evenly
    double root = 1.5;
    for (int i = 0; i < 60; ++i)
      root = std::pow(1 + root, 1.0 / (n + 1));
    for (int l = 0; l < n; ++l) {
      const int c = posed.columns[l];
      natural[l] = natural_size.data[c];
      unit[l] = natural[l] * weights.data[c];
      const double a = posed.lower[l], b = posed.upper[l], turn = full_turn / std::fabs(gain[l]);
      const bool limited = a > -1e300 && b < 1e300;
      if (kind[l] == turns && unit[l] > 0 && !(b - a < turn))
        period[l] = turn;
      const double about = limited      ? (a + b) / 2
                           : a > -1e300 ? larger(a, rest.data[c])
                           : b < 1e300  ? lesser(b, rest.data[c])
                                        : rest.data[c];
      const double wide = period[l] > 0 ? turn : limited ? b - a : full_turn * natural[l];
      from[l] = limited || period[l] > 0 ? about - wide / 2 : larger(a, about - wide / 2);
      span[l] = lesser(b, from[l] + wide) - from[l];
      middle[l] = unit[l] > 0 ? about : rest.data[c];
      low[l] = period[l] > 0 || !(a > -1e300) ? -1e300 : a;
      high[l] = period[l] > 0 || !(b < 1e300) ? 1e300 : b;
      const double power = std::pow(root, -(l + 1));
      spread[l] = power - std::floor(power);
    }
    for (const Ball &ball : posed.balls)
      for (int k = ball.index; k < ball.index + 3; ++k)
        from[k] = -2, span[k] = 4, middle[k] = rest.data[posed.columns[k]], low[k] = -1e300, high[k] = 1e300,
        period[k] = 0;
    for (const Target &target : posed.targets) {
      const int first = int(columns.size());
      column_first.push_back(first);
      std::vector<int> slot(n, -1);
      for (int i = 0; i < target.chain.count; ++i)
        for (int k = 0; k < (target.chain.links[i].motion == supple::balls ? 3 : 1); ++k) {
          const int l = target.chain.links[i].index + k;
          if (slot[l] < 0)
            slot[l] = int(columns.size()) - first, columns.push_back(l);
          slots.push_back(slot[l]);
        }
    }
    column_first.push_back(int(columns.size()));
    find_parents();
    const Target &target = posed.targets[0];
    bool simple = posed.targets.size() == 1 && posed.balls.empty(), slack = false, locked = false;
    for (int l = 0; l < n; ++l)
      simple = simple && kind[l] >= 0, locked = locked || !(unit[l] > 0);
    for (int k = 0; k < target.rows; ++k)
      slack = slack || target.slack[k] > 0;
    const bool whole_frame = target.rows == 6 && target.component[5] == about_z;
    search = {natural.data(),
              unit.data(),
              low.data(),
              high.data(),
              simple && whole_frame && !slack,
              from.data(),
              span.data(),
              spread.data(),
              middle.data(),
              period.data(),
              columns.data(),
              column_first.data(),
              slots.data(),
              parent.data(),
              nullptr,
              whole(how[0]),
              whole(how[1]),
              number(how[2]),
              number(how[3]),
              1e301,
              {},
              nullptr,
              nullptr};
    budget = number(how[4]);
    // a little within, so that other people's arithmetic agrees
    stop = {0, 0, 0.98 * number(tolerance[0]), 0.98 * number(tolerance[1])};
    scratch = Scratch(hunts().scratch(posed.problem, 0));
    sized_for = &hunts();
    q.resize(n);
    begin.resize(n);
    goals.resize(12 * posed.targets.size());
    rest_row.assign(rest.data, rest.data + dof);
    if (simple && !locked && target.rows >= 3 && target.component[2] == along_z && target.chain.count >= 2)
      make_table(whole_frame);
    const double farthest = number(reach[0]);
    if (posed.targets.size() == 1 && !slack && target.rows >= 3 && target.component[2] == along_z &&
        farthest < 1e300) {
      search.farthest = farthest * (1 + 1e-6) + 1e-9;
      for (int k = 0; k < 3; ++k)
        search.base[k] = number(reach[1 + k]);
    }
  }
  Finder(const Finder &) = delete;

  // The joint before each, where every chain is a way through one tree and joints come after those before
  // them; else all joints in a row, which is a tree too.
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
      for (const Link &link : links)
        tree = tree && !link.shared;
    for (int k = 0; k < n && !tree; ++k)
      parent[k] = k - 1;
  }

  // Samples q and sorts it by where the hand is; kept only if searches then need fewer steps.
  void make_table(bool whole_frame) {
    const Target &target = posed.targets[0];
    const Chain &chain = target.chain;
    const Link &first = chain.links[0], &last = chain.links[chain.count - 1];
    const int n = posed.problem.n;
    table.turns_first = first.motion == turns;
    table.turns_last = whole_frame && last.motion == turns;
    table.points = target.component[target.rows - 1] >= across_1 || whole_frame;
    table.first = first.index;
    table.last = last.index;
    table.first_gain = first.turn_gain;
    table.last_gain = last.turn_gain;
    table.weight = target.weight[0];
    std::copy_n(first.rotation, 9, table.rotation);
    std::copy_n(first.position, 3, table.position);
    const Frame<double> hand = constant<double>(chain.rotation, chain.position); // seen from the last joint
    const Rot<double> back = transpose(hand.r);
    auto put3 = [](double *into, Vec<double> v) {
      into[0] = v.x;
      into[1] = v.y;
      into[2] = v.z;
    };
    const Vec<double> point{target.point[0], target.point[1], target.point[2]};
    put3(table.point, point), put3(table.axis, Vec<double>{target.axis[0], target.axis[1], target.axis[2]}),
        put3(table.across, {1, 0, 0});
    if (table.turns_last) {
      // the point of the last axis that is nearest to the hand stays where it is, whatever the last joint
      // does
      const Vec<double> at = hand * point;
      put3(table.point, back * (Vec<double>{0, 0, at.z} - hand.p)),
          put3(table.axis, back * Vec<double>{0, 0, 1}), put3(table.across, back * Vec<double>{1, 0, 0});
    } else if (whole_frame) {
      put3(table.axis, {0, 0, 1});
    }
    table.sides = table.points ? 4 : 1;
    const int grid[2][3] = {{4, 6, 1}, {4, 4, 4}};
    for (int k = 0; k < 3; ++k)
      table.places[k] = grid[!table.turns_first][k] * (table.points                  ? 1
                                                       : k < 2 || !table.turns_first ? 2
                                                                                     : 1);
    table.fields = 10 + n;
    std::vector<float> rows(std::size_t(sample_count) * table.fields);
    hunts().sample(posed.problem, search, table, sample_count, rows.data(), scratch.data);
    for (int k = 0; k < 3; ++k) {
      float least = rows[k], most = rows[k];
      for (int i = 0; i < sample_count; ++i)
        least = std::min(least, rows[std::size_t(i) * table.fields + k]),
        most = std::max(most, rows[std::size_t(i) * table.fields + k]);
      table.low[k] = least, table.step[k] = larger(double(most - least), 1e-9) / table.places[k];
    }
    const int cells = table.places[0] * table.places[1] * table.places[2] * table.sides * table.sides;
    samples.assign(std::size_t(cells) * table.fields * Table::spots, 0.0f);
    counts.assign(cells, 0);
    hunts().fill(table, rows.data(), sample_count, samples.data(), counts.data());
    const long long without = trial();
    search.table = &table;
    if (trial() >= without)
      search.table = nullptr, samples.clear(), samples.shrink_to_fit();
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
      double goal[12] = {hand.r.x.x, hand.r.y.x, hand.r.z.x, hand.r.x.y, hand.r.y.y, hand.r.z.y,
                         hand.r.x.z, hand.r.y.z, hand.r.z.z, hand.p.x,   hand.p.y,   hand.p.z};
      if (target.component[target.rows - 1] >= across_1) {
        const Vec<double> way = hand.r * Vec<double>{target.axis[0], target.axis[1], target.axis[2]};
        goal[0] = way.x;
        goal[1] = way.y;
        goal[2] = way.z;
      }
      int count;
      steps +=
          hunts()
              .one({&posed.problem, &search, stop, goal, nullptr, q.data(), nullptr}, 1, count, scratch.data)
              .iterations;
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
    if (row.lead || bad >= 0)
      bad_input("start must be " + std::to_string(posed.dof) + " finite numbers" +
                (bad >= 0 ? "; value " + std::to_string(bad) + " is not"
                          : ", not of shape " + shape_text(row.array)));
    full.assign(row.data, row.data + posed.dof);
    posed.gather(row.data, begin.data());
    return begin.data();
  }

  // one solve of what is in `goals`, into `to` (dof)
  Found solve_one(const double *from, double *to, int &count) {
    if (sized_for != &hunts())
      scratch = Scratch(hunts().scratch(posed.problem, 0)), sized_for = &hunts();
    Deadline deadline{budget, {}};
    Search timed;
    if (budget > 0)
      timed = search, timed.late = Deadline::late, timed.clock = &deadline;
    const Found found = hunts().one(
        {&posed.problem, budget > 0 ? &timed : &search, stop, goals.data(), from, q.data(), nullptr}, 1,
        count, scratch.data);
    std::copy_n(full.data(), posed.dof, to);
    posed.scatter(q.data(), to);
    return found;
  }

  // one frame, or one for each goal; a start and a place for the answer, or none
  nb::object quick(PyObject *given, PyObject *start, PyObject *into) {
    if (Py_TYPE(given) == frame_type.type)
      given = *reinterpret_cast<PyObject **>(reinterpret_cast<char *>(given) + frame_type.slot);
    const int targets = posed.problem.target_count;
    const Rows frames(given, "goal", 4, 4);
    if (frames.n != targets || frames.lead > 1)
      bad_input("goal must have shape " +
                (targets > 1 ? "(" + std::to_string(targets) + ", 4, 4)" : std::string("(4, 4)")) + ", not " +
                shape_text(frames.array));
    for (int t = 0; t < targets; ++t)
      if (!read_goal(posed.targets[t], frames.data + 16 * t, goals.data() + 12 * t))
        bad_input("goal must be a finite frame: a rotation and a position above 0 0 0 1");
    const double *from = read_start(start);
    nb::object out;
    double *to;
    if (into == Py_None) {
      const npy_intp size = posed.dof;
      Fresh fresh(&size, 1, {});
      out = std::move(fresh.owner);
      to = fresh.data;
    } else {
      PyArrayObject *a = reinterpret_cast<PyArrayObject *>(into);
      if (!PyArray_Check(into) || PyArray_TYPE(a) != NPY_DOUBLE || !PyArray_ISCARRAY(a) ||
          PyArray_NDIM(a) != 1 || PyArray_DIM(a, 0) != posed.dof)
        bad_input("out must be a writable, C-contiguous float64 array of shape (" +
                  std::to_string(posed.dof) + ",)");
      out = nb::borrow(into), to = static_cast<double *>(PyArray_DATA(a));
    }
    int count;
    solve_one(from, to, count);
    return count ? std::move(out) : nb::none();
  }

  // the parts of one goal, each an array or none: (q, outcome, iterations, starts)
  nb::object answer(PyObject *position, PyObject *orientation, PyObject *direction, PyObject *start) {
    if (posed.problem.target_count != 1)
      bad_input("one goal, where several are asked");
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
    const npy_intp size = posed.dof;
    Fresh out(&size, 1, {});
    int count;
    const Found found = solve_one(from, out.data, count);
    PyObject *told = PyTuple_New(4);
    if (!told)
      throw nb::python_error();
    PyTuple_SET_ITEM(told, 0, out.owner.release().ptr());
    PyTuple_SET_ITEM(told, 1, PyLong_FromLong(found.outcome));
    PyTuple_SET_ITEM(told, 2, PyLong_FromLong(found.iterations));
    PyTuple_SET_ITEM(told, 3, PyLong_FromLong(found.starts));
    return nb::steal(told);
  }
};
