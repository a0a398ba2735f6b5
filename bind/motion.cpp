// Motions in time: filters of rows, and feet that do not slide.
#include "supple/motion/ball_rows.h"
#include "supple/motion/footsteps.h"
#include "supple/motion/goal_rows.h"
#include "supple/motion/poses.h"
#include "supple/motion/stance.h"

#include "array.h"

#include <algorithm>
#include <memory>
#include <vector>

using namespace supple;

namespace {

constexpr long long most_frames = 1LL << 40, widest = 1LL << 24;

// the length of the last axis of an array
int last_size(nb::handle given, const char *what, int axes) {
  if (!PyArray_Check(given.ptr()))
    bad_input(std::string(what) + " must be an array");
  PyArrayObject *array = reinterpret_cast<PyArrayObject *>(given.ptr());
  if (PyArray_NDIM(array) != axes || PyArray_DIM(array, axes - 1) > (1 << 30))
    bad_input(std::string(what) + " must have " + std::to_string(axes) + " axes, not the shape " +
              shape_text(array));
  return int(PyArray_DIM(array, axes - 1));
}

nb::object filter(nb::handle given, nb::handle kernel) {
  const Rows rows(given, "rows", last_size(given, "rows", 2));
  const int size = int(PyArray_DIM(rows.array, 1)), weights_count = last_size(kernel, "weights", 1);
  const Rows weights(kernel, "weights", weights_count);
  if (weights_count < 1 || weights_count > rows.n)
    bad_input("weights must be from 1 to as many as there are rows");
  Fresh out(rows, {size});
  {
    const nb::gil_scoped_release free;
    std::vector<double> ends(std::size_t(3) * std::size_t(weights_count - 1) * std::size_t(size));
    filter_rows(rows.data, rows.n, size, weights.data, weights_count - 1, ends.data(), out.data);
  }
  return std::move(out.owner);
}

nb::object bound(nb::handle given, long long width) {
  const int count = last_size(given, "values", 1);
  const Rows values(given, "values", count);
  if (width < 1 || width > widest)
    bad_input("width must be from 1 to " + std::to_string(widest));
  std::vector<double> largest(count), window(std::size_t(2 * width + 1));
  Fresh out(values, {count});
  {
    const nb::gil_scoped_release free;
    bound_above(values.data, count, width, largest.data(), window.data(), out.data);
  }
  return std::move(out.owner);
}

Vec<double> point(nb::handle given, const char *what) {
  const Rows row(given, what, 3);
  if (row.n != 1)
    bad_input(std::string(what) + " must have shape (3,), not " + shape_text(row.array));
  return load3(row.data);
}

nb::object place(nb::handle frames, nb::handle contacts, nb::handle heel, nb::handle toe, nb::handle flat,
                 long long fade, long long rise) {
  const Rows asked(frames, "frames", 4, 4), on(contacts, "contacts", 3);
  if (asked.lead != 1 || on.lead != 1 || asked.n != on.n || asked.n > most_frames)
    bad_input("frames and contacts must have one leading axis of the same length");
  if (fade < 1 || fade > widest || rise < 1 || rise > widest)
    bad_input("fade and rise must be from 1 to " + std::to_string(widest) + " frames");
  const std::size_t n = std::size_t(asked.n);
  const FootPath path{asked.n, on.data, point(heel, "heel"), point(toe, "toe"), fade, rise};
  Rot<double> turn = identity<double>();
  if (!flat.is_none()) {
    const Rows given(flat, "flat", 3, 3);
    if (given.n != 1)
      bad_input("flat must have shape (3, 3), not " + shape_text(given.array));
    const double *m = given.data;
    turn = {{m[0], m[3], m[6]}, {m[1], m[4], m[7]}, {m[2], m[5], m[8]}};
  }
  Fresh out(asked, {4, 4});
  {
    const nb::gil_scoped_release free;
    const std::unique_ptr<bool[]> flags(new bool[n]());
    std::vector<Vec<double>> vectors(2 * n);
    std::vector<double> numbers(4 * n + std::size_t(2 * rise + 1));
    std::vector<Frame<double>> foot(n);
    double *at = numbers.data();
    FootScratch scratch{flags.get(), vectors.data(), vectors.data() + n, at,
                        at + n,      at + 2 * n,     at + 3 * n,         at + 4 * n};
    for (std::size_t i = 0; i < n; ++i)
      foot[i] = read_frame(asked.data + 16 * i);
    if (!flat.is_none())
      flatten_foot(path, turn, scratch, foot.data());
    place_foot(path, scratch, foot.data());
    for (std::size_t i = 0; i < n; ++i)
      write_frame(foot[i], out.data + 16 * i);
  }
  return std::move(out.owner);
}

// rows that must be as many as others
Rows same_rows(nb::handle given, const char *what, npy_intp n, int size, int size2 = 0) {
  Rows rows(given, what, size, size2);
  if (rows.lead != 1 || rows.n != n)
    bad_input(std::string(what) + " must have " + std::to_string(n) + " rows, not the shape " +
              shape_text(rows.array));
  return rows;
}

std::vector<Frame<double>> frames_of(const Rows &rows) {
  std::vector<Frame<double>> out(std::size_t(rows.n));
  for (npy_intp i = 0; i < rows.n; ++i)
    out[std::size_t(i)] = read_frame(rows.data + 16 * i);
  return out;
}

// a rotation as an array of 9 numbers, row by row
Rot<double> read_rotation(const double *m) {
  return {{m[0], m[3], m[6]}, {m[1], m[4], m[7]}, {m[2], m[5], m[8]}};
}
void write_rotation(const Rot<double> &r, double *m) {
  const double rows[9] = {r.x.x, r.y.x, r.z.x, r.x.y, r.y.y, r.z.y, r.x.z, r.y.z, r.z.z};
  std::memcpy(m, rows, sizeof rows);
}

void write_quaternion(Quat<double> q, double *to) {
  to[0] = q.w;
  store3(Vec<double>{q.x, q.y, q.z}, to + 1);
}

nb::object leg_goals(nb::handle pelvis, nb::handle feet, nb::handle knee) {
  const Rows base(pelvis, "pelvis", 4, 4);
  const Rows wanted = same_rows(feet, "feet", base.n, 4, 4);
  const int goals = knee.is_none() ? 1 : 2;
  nb::object owner;
  const double *knees = nullptr;
  if (!knee.is_none()) {
    const Rows rows = same_rows(knee, "knee", base.n, 3);
    owner = rows.owner;
    knees = rows.data;
  }
  Fresh out(wanted, {goals, goal_size});
  for (npy_intp i = 0; i < base.n; ++i) {
    const Vec<double> at = knees ? load3(knees + 3 * i) : Vec<double>{0, 0, 0};
    write_leg_goals(read_frame(base.data + 16 * i), read_frame(wanted.data + 16 * i), knees ? &at : nullptr,
                    out.data + i * goals * goal_size);
  }
  return std::move(out.owner);
}

nb::object turn_goals(nb::handle base, nb::handle wanted) {
  const Rows from(base, "base", 3, 3);
  const Rows to = same_rows(wanted, "wanted", from.n, 3, 3);
  Fresh out(to, {1, goal_size});
  for (npy_intp i = 0; i < from.n; ++i) {
    clear_goal(out.data + i * goal_size);
    write_goal_turn(transpose(read_rotation(from.data + 9 * i)) * read_rotation(to.data + 9 * i),
                    out.data + i * goal_size);
  }
  return std::move(out.owner);
}

nb::object arm_goals(nb::handle chest, nb::handle upper, nb::handle fore, nb::handle hands,
                     nb::handle shoulder, nb::handle natural, double most_turn, nb::handle kernel) {
  const Rows base(chest, "chest", 3, 3);
  const Rows first = same_rows(upper, "upper", base.n, 3), second = same_rows(fore, "fore", base.n, 3);
  const Rows weights(kernel, "weights", last_size(kernel, "weights", 1));
  const Vec<double> at = point(shoulder, "shoulder");
  const int goals = hands.is_none() ? 2 : 3;
  nb::object owner;
  const double *turns = nullptr;
  if (!hands.is_none()) {
    const Rows rows = same_rows(hands, "hands", base.n, 3, 3);
    owner = rows.owner;
    turns = rows.data;
  }
  if (!(most_turn > 0) || PyArray_DIM(weights.array, 0) < 1)
    bad_input("most_turn must be positive, and weights one or more");
  const std::size_t n = std::size_t(base.n);
  std::vector<BentLimb> arms(n);
  std::vector<double> numbers(6 * n);
  Fresh out(first, {goals, goal_size});
  for (std::size_t i = 0; i < n; ++i) {
    const Rot<double> back = transpose(read_rotation(base.data + 9 * i));
    arms[i] = bent_limb(back * load3(first.data + 3 * i), back * load3(second.data + 3 * i),
                        i ? &arms[i - 1] : nullptr);
  }
  smooth_bends(arms.data(), base.n, most_turn, point(natural, "natural"), weights.data,
               PyArray_DIM(weights.array, 0) - 1, numbers.data());
  for (std::size_t i = 0; i < n; ++i) {
    const Vec<double> u = load3(first.data + 3 * i), f = load3(second.data + 3 * i);
    Rot<double> hand = identity<double>();
    if (turns)
      hand = transpose(read_rotation(base.data + 9 * i)) * read_rotation(turns + 9 * i);
    write_arm_goals(arms[i], longest_distance(root(dot(u, u)), root(dot(f, f))), at, turns ? &hand : nullptr,
                    out.data + i * std::size_t(goals * goal_size));
  }
  return std::move(out.owner);
}

nb::object foot_states(nb::handle pelvis, nb::handle leg, nb::handle asked, nb::handle contacts,
                       nb::handle heel, nb::handle toe) {
  const Rows base(pelvis, "pelvis", 4, 4);
  const Rows tip = same_rows(leg, "leg", base.n, 4, 4), wanted = same_rows(asked, "asked", base.n, 4, 4);
  const Rows on = same_rows(contacts, "contacts", base.n, 3);
  const Vec<double> points[2] = {point(heel, "heel"), point(toe, "toe")};
  Fresh out(base, {foot_state_size});
  for (npy_intp i = 0; i < base.n; ++i) {
    const Frame<double> reached = read_frame(base.data + 16 * i) * read_frame(tip.data + 16 * i);
    const FootState state =
        foot_state(reached, read_frame(wanted.data + 16 * i), on.data + 3 * i, points[0], points[1]);
    double *row = out.data + i * foot_state_size;
    row[0] = state.off;
    row[1] = state.lowest;
    store3(state.turn, row + 2);
  }
  return std::move(out.owner);
}

// One leg of a body that leans, with the arrays that it refers to.
struct LegArrays {
  std::vector<Frame<double>> feet;
  nb::object owners[3];
  LeaningLeg leg;
  LegArrays(nb::tuple given, npy_intp n) {
    if (nb::len(given) != 6)
      bad_input("a leg must be (feet, contacts, states, yielding, points, (roll, arm))");
    feet = frames_of(same_rows(given[0], "feet", n, 4, 4));
    const Rows contacts = same_rows(given[1], "contacts", n, 3);
    const Rows states = same_rows(given[2], "states", n, foot_state_size);
    const Rows yielding = same_rows(given[3], "yielding", n, 1), points(given[4], "points", 2, 3);
    if (points.n != 1)
      bad_input("points must have the shape (2, 3), not " + shape_text(points.array));
    owners[0] = contacts.owner;
    owners[1] = states.owner;
    owners[2] = yielding.owner;
    const Rows roll(given[5], "roll", 2);
    if (roll.n != 1)
      bad_input("roll must have the shape (2,), not " + shape_text(roll.array));
    leg = {feet.data(),        contacts.data,          states.data,  yielding.data,
           load3(points.data), load3(points.data + 3), roll.data[0], roll.data[1]};
  }
};

nb::object lean(nb::handle pelvis, nb::handle asked, nb::handle forward, double thigh, double shank,
                long long window, bool up, nb::tuple left, nb::tuple right) {
  const Rows base(pelvis, "pelvis", 4, 4);
  const Rows wanted = same_rows(asked, "asked", base.n, 4, 4);
  if (window < 1 || window > widest || !(thigh > 0) || !(shank > 0))
    bad_input("window must be from 1 to " + std::to_string(widest) + ", and lengths positive");
  const std::vector<Frame<double>> at = frames_of(base), before = frames_of(wanted);
  const LegArrays legs[2] = {LegArrays(left, base.n), LegArrays(right, base.n)};
  const Lean body{base.n, at.data(), before.data(), point(forward, "forward"),
                  thigh,  shank,     window,        {legs[0].leg, legs[1].leg}};
  const std::size_t n = std::size_t(base.n);
  std::vector<double> numbers(5 * n + std::size_t(2 * window + 1));
  double *memory = numbers.data();
  LeanScratch scratch{memory, memory + n, memory + 2 * n, memory + 3 * n, memory + 4 * n, memory + 5 * n};
  std::vector<Vec<double>> shift(n);
  if (up)
    lean_up(body, scratch, shift.data());
  else
    lean_back(body, scratch, shift.data());
  Fresh out(base, {3});
  for (std::size_t i = 0; i < n; ++i)
    store3(shift[i], out.data + 3 * i);
  return std::move(out.owner);
}

// places of some of `count` things, checked
std::vector<npy_intp> places_of(nb::handle given, npy_intp count, const char *what) {
  std::vector<npy_intp> places;
  for (nb::handle one : nb::borrow<nb::list>(given)) {
    const npy_intp place = PyLong_Check(one.ptr()) ? PyLong_AsSsize_t(one.ptr()) : -1;
    PyErr_Clear(); // of a number that is too large, which is refused too
    if (place < 0 || place >= count)
      bad_input(std::string(what) + " must be from 0 to " + std::to_string(count - 1));
    places.push_back(place);
  }
  return places;
}

nb::object pose_columns(nb::handle frames, nb::list points, nb::list turns) {
  const Rows all(frames, "frames", 4, 4);
  if (all.lead != 2)
    bad_input("frames must have the shape (n, links, 4, 4), not " + shape_text(all.array));
  const npy_intp n = PyArray_DIM(all.array, 0), links = PyArray_DIM(all.array, 1);
  const std::vector<npy_intp> at = places_of(points, links, "a link"),
                              turned = places_of(turns, links, "a link");
  const npy_intp size = npy_intp(3 * at.size() + 4 * turned.size());
  Fresh out(nullptr, 0, {n, size});
  for (npy_intp i = 0; i < n; ++i) {
    double *row = out.data + i * size;
    for (const npy_intp link : at) {
      store3(read_frame(all.data + 16 * (i * links + link)).p, row);
      row += 3;
    }
    for (const npy_intp link : turned) {
      write_quaternion(
          near_quaternion(read_frame(all.data + 16 * (i * links + link)).r, i ? row - size : nullptr), row);
      row += 4;
    }
  }
  return std::move(out.owner);
}

nb::tuple column_poses(nb::handle given, nb::handle offsets) {
  const int size = last_size(given, "columns", 2);
  const Rows columns(given, "columns", size), offset(offsets, "offsets", 3, 3);
  const npy_intp n = columns.n, turns = offset.n, points = (size - 4 * turns) / 3;
  if (points < 0 || 3 * points + 4 * turns != size)
    bad_input("columns must have 3 numbers for each point, then 4 for each of the offsets");
  Fresh places(nullptr, 0, {points, n, 3}), rotations(nullptr, 0, {turns, n, 3, 3});
  for (npy_intp i = 0; i < n; ++i) {
    const double *row = columns.data + i * size;
    for (npy_intp k = 0; k < points; ++k, row += 3)
      store3(load3(row), places.data + 3 * (k * n + i));
    for (npy_intp k = 0; k < turns; ++k, row += 4)
      write_rotation(mean_rotation(row) * read_rotation(offset.data + 9 * k),
                     rotations.data + 9 * (k * n + i));
  }
  return nb::make_tuple(std::move(places.owner), std::move(rotations.owner));
}

nb::object bound_below(nb::handle given, double most) {
  const int count = last_size(given, "values", 1);
  const Rows values(given, "values", count);
  Fresh out(values, {count});
  bound_changes_below(values.data, count, most, out.data);
  return std::move(out.owner);
}

nb::object continued(nb::handle given, nb::list firsts) {
  const int size = last_size(given, "rows", 2);
  const Rows rows(given, "rows", size);
  Fresh out(rows, {size});
  std::copy_n(rows.data, rows.n * size, out.data);
  for (const npy_intp first : places_of(firsts, size - 2, "a first column"))
    continue_ball_rows(out.data, rows.n, size, int(first));
  return std::move(out.owner);
}

void clamp_balls(nb::handle given, nb::list firsts, nb::handle limits) {
  if (!is_writable(given))
    bad_input("rows that are clamped in place must be a writable, C-contiguous float64 array");
  const int size = last_size(given, "rows", 2);
  const Rows rows(given, "rows", size), limit(limits, "limits", 6);
  const std::vector<npy_intp> places = places_of(firsts, size - 2, "a first column");
  if (limit.lead != 1 || std::size_t(limit.n) != places.size())
    bad_input("limits must have the shape (" + std::to_string(places.size()) + ", 6), not " +
              shape_text(limit.array));
  double *data = const_cast<double *>(rows.data);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double *numbers = limit.data + 6 * i;
    Ball ball{};
    store3(load3(numbers), ball.axis);
    ball.swing = numbers[3];
    ball.low = numbers[4];
    ball.high = numbers[5];
    clamp_ball_rows(ball, data + places[i], rows.n, size);
  }
}

nb::object slow_ball(nb::handle given, nb::handle limit, nb::handle fixed, nb::handle axis, double swing,
                     double low, double high) {
  const Rows rows(given, "rows", 3), most(limit, "limit", 3);
  const Rows stays = same_rows(fixed, "fixed", rows.n, 1);
  if (rows.lead != 1 || most.n != 1)
    bad_input("rows must have one leading axis, and limit the shape (3,)");
  Ball ball{};
  if (!axis.is_none())
    store3(point(axis, "axis"), ball.axis);
  ball.swing = swing;
  ball.low = low;
  ball.high = high;
  Fresh out(rows, {3});
  std::copy_n(rows.data, 3 * rows.n, out.data);
  const std::unique_ptr<bool[]> fast(new bool[std::size_t(rows.n) + 1]());
  slow_ball_rows({axis.is_none() ? nullptr : &ball, most.data, stays.data, rows.n, out.data}, fast.get());
  return std::move(out.owner);
}

nb::object differing(nb::handle first, nb::handle second, double tolerance) {
  const int size = last_size(first, "first", 2);
  const Rows a(first, "first", size), b = same_rows(second, "second", a.n, size);
  Fresh out(a, {});
  for (npy_intp i = 0; i < a.n; ++i) {
    double most = 0;
    for (int k = 0; k < size; ++k)
      most = larger(most, std::fabs(a.data[i * size + k] - b.data[i * size + k]));
    out.data[i] = most > tolerance;
  }
  return std::move(out.owner);
}

nb::object contacts(nb::handle given, double height, double speed, long long short_gap) {
  const Rows points(given, "points", 3);
  if (points.lead != 1)
    bad_input("points must have one leading axis");
  const std::size_t n = std::size_t(points.n);
  const std::unique_ptr<bool[]> flags(new bool[2 * n + 1]());
  find_contacts(points.data, points.n, {height, speed, short_gap}, flags.get(), flags.get() + n);
  Fresh out(points, {});
  for (std::size_t i = 0; i < n; ++i)
    out.data[i] = flags[n + i];
  return std::move(out.owner);
}

} // namespace

#define ARRAY "numpy.typing.NDArray[numpy.float64]"

void bind_motion(nb::module_ &m) {
  m.def("filter_rows", filter, nb::sig("def filter_rows(rows: " ARRAY ", weights: " ARRAY ") -> " ARRAY),
        "Rows (n, k), each the mean of its neighbours with weights (reach + 1,), its own first; ends are "
        "continued by reflection.");
  m.def("bound_above", bound, nb::sig("def bound_above(values: " ARRAY ", width: int) -> " ARRAY),
        "A smooth bound above values (n,), no higher than needed within ``width`` of them.");
  m.def("leg_goals", leg_goals, nb::arg(), nb::arg(), nb::arg().none(),
        nb::sig("def leg_goals(pelvis: " ARRAY ", feet: " ARRAY ", knee: " ARRAY " | None) -> " ARRAY),
        "Goals (n, 1 or 2, 12) of a leg for frames (n, 4, 4) and points (n, 3) in the world.");
  m.def("turn_goals", turn_goals, nb::sig("def turn_goals(base: " ARRAY ", wanted: " ARRAY ") -> " ARRAY),
        "Goals (n, 1, 12) of a limb's end: rotations (n, 3, 3) on a base with rotations (n, 3, 3).");
  m.def(
      "arm_goals", arm_goals, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(),
      nb::arg(), nb::arg(),
      nb::sig("def arm_goals(chest: " ARRAY ", upper: " ARRAY ", fore: " ARRAY ", hands: " ARRAY
              " | None, shoulder: " ARRAY ", natural: " ARRAY ", most_turn: float, weights: " ARRAY
              ") -> " ARRAY),
      "Goals (n, 2 or 3, 12) of an arm on a chest with rotations (n, 3, 3), for ways (n, 3) along its parts "
      "and rotations of its hand; its elbow turns by at most ``most_turn`` a frame, and points to "
      "``natural`` "
      "if the arm is never bent.");
  m.def("foot_states", foot_states,
        nb::sig("def foot_states(pelvis: " ARRAY ", leg: " ARRAY ", asked: " ARRAY ", contacts: " ARRAY
                ", heel: " ARRAY ", toe: " ARRAY ") -> " ARRAY),
        "Of a foot that a leg has reached (n, 5): how far points that touch the ground are from their "
        "places, the height of the lower one, and the rotation vector from what was asked.");
  m.def("lean", lean,
        nb::sig("def lean(pelvis: " ARRAY ", asked: " ARRAY ", forward: " ARRAY
                ", thigh: float, shank: float, window: int, up: bool, left: tuple[" ARRAY
                ", ...], right: tuple[" ARRAY ", ...]) -> " ARRAY),
        "How far (n, 3) the pelvis moves back, or up, so that flat feet need not yield by more than they "
        "roll.");
  m.def("pose_columns", pose_columns,
        nb::sig("def pose_columns(frames: " ARRAY ", points: list[int], turns: list[int]) -> " ARRAY),
        "Positions of some links and quaternions of others, side by side (n, 3 points + 4 turns), for frames "
        "(n, links, 4, 4); each quaternion is near the one before.");
  m.def(
      "column_poses", column_poses,
      nb::sig("def column_poses(columns: " ARRAY ", offsets: " ARRAY ") -> tuple[" ARRAY ", " ARRAY "]"),
      "The reverse: positions (points, n, 3) and rotations (turns, n, 3, 3), followed by offsets (turns, 3, "
      "3).");
  m.def("bound_changes_below", bound_below,
        nb::sig("def bound_changes_below(values: " ARRAY ", most: float) -> " ARRAY),
        "The greatest values (n,) below others that change by at most ``most`` from one to the next.");
  m.def("continued", continued, nb::sig("def continued(rows: " ARRAY ", firsts: list[int]) -> " ARRAY),
        "Rows (n, k) whose rotation vectors, which begin in some columns, go on beyond a half turn: they do "
        "not "
        "jump from row to row.");
  m.def("clamp_balls", clamp_balls,
        nb::sig("def clamp_balls(rows: " ARRAY ", firsts: list[int], limits: " ARRAY ") -> None"),
        "Makes rotation vectors, which begin in some columns of rows (n, k), the nearest within limits "
        "(balls, 6): axis, swing, least and greatest twist.");
  m.def("slow_ball", slow_ball, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(),
        nb::arg(),
        nb::sig("def slow_ball(rows: " ARRAY ", limit: " ARRAY ", fixed: " ARRAY ", axis: " ARRAY
                " | None, swing: float, low: float, high: float) -> " ARRAY),
        "Rotation vectors (n, 3) that turn by at most ``limit`` (3,) from row to row, near others; rows that "
        "are ``fixed`` (n, 1) stay if they can. With an axis, they keep to a swing and a range of twist.");
  m.def("rows_differ", differing,
        nb::sig("def rows_differ(first: " ARRAY ", second: " ARRAY ", tolerance: float) -> " ARRAY),
        "1 for rows (n, k) that differ by more than ``tolerance`` in a number, else 0.");
  m.def(
      "find_contacts", contacts,
      nb::sig("def find_contacts(points: " ARRAY ", height: float, speed: float, short_gap: int) -> " ARRAY),
      "1 in frames (n,) in which a point (n, 3) touches the ground: lower than ``height`` and slower than "
      "``speed`` a frame, or between two such frames that are near; else 0.");
  m.def(
      "place_foot", place, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(),
      nb::sig("def place_foot(frames: " ARRAY ", contacts: " ARRAY ", heel: " ARRAY ", toe: " ARRAY
              ", flat: " ARRAY " | None, fade: int, rise: int) -> " ARRAY),
      "Frames (n, 4, 4) of a foot near those asked that stands and rolls without sliding while heel and toe "
      "touch the ground, contacts (n, 3): heel, toe, and whether the foot stays.");
}
