// Trackers in Python: what a tick may be given, and the names of a tracker.
#include "tracker.h"

#include <nanobind/stl/vector.h>

namespace {

// one arm, one goal: a Frame, or an array (4, 4)
nb::object track_frame(Tracker &track, nb::handle goal, double dt, double stamp, nb::handle measured) {
  const Rows rows(matrix_of(goal), "goal", 4, 4);
  if (rows.n != track.arms || track.encoded.problem.target_count != 1)
    bad_input("goal must have one frame for each arm, got shape " + shape_text(rows.array));
  Tracker::Given given;
  given.frames = rows.data;
  if (std::isnan(stamp))
    return track.run(given, measured, dt);
  const std::vector<double> stamps(track.arms, stamp);
  given.stamps = stamps.data();
  return track.run(given, measured, dt);
}

// the same without stamp or measured: the entry point of control loops converts no other arguments
nb::object track_tick(Tracker &track, nb::handle goal, double dt) {
  return track_frame(track, goal, dt, NAN, nb::none());
}

// the twelve numbers of an array (4, 4), into `out`; false for anything else
bool read_frame(nb::handle matrix, double *out) {
  if (!PyArray_CheckExact(matrix.ptr()))
    return false;
  PyArrayObject *a = (PyArrayObject *)matrix.ptr();
  if (PyArray_NDIM(a) != 2 || PyArray_DIM(a, 0) != 4 || PyArray_DIM(a, 1) != 4 ||
      PyArray_TYPE(a) != NPY_DOUBLE || !PyArray_ISCARRAY_RO(a))
    return false;
  const double *frame = (const double *)PyArray_DATA(a);
  for (int i = 0; i < 3; ++i) {
    std::memcpy(out + 3 * i, frame + 4 * i, 3 * sizeof(double));
    out[9 + i] = frame[4 * i + 3];
  }
  return true;
}

// one arm, several goals: a list or tuple of Frames or of arrays (4, 4). None for anything else: the general
// way reads it, or says what is wrong.
nb::object track_frames(Tracker &track, nb::handle goals, double dt) {
  const int targets = track.encoded.problem.target_count;
  const bool listed = PyList_CheckExact(goals.ptr()) || PyTuple_CheckExact(goals.ptr());
  if (track.many || !listed)
    return nb::none();
  const nb::object frames = nb::steal(PySequence_Tuple(goals.ptr())); // a list may change while it is read
  if (!frames.is_valid())
    throw nb::python_error();
  if (PyTuple_Size(frames.ptr()) != targets)
    return nb::none();
  std::vector<double> numbers(12 * targets);
  for (int k = 0; k < targets; ++k)
    if (!read_frame(matrix_of(PyTuple_GetItem(frames.ptr(), k)), numbers.data() + 12 * k))
      return nb::none();
  Tracker::Given given;
  given.goals = numbers.data();
  return track.run(given, nb::none(), dt);
}

// goals as twelve numbers a target, (targets, 12) or (arms, targets, 12)
nb::object track_goals(Tracker &track, nb::handle goals, double dt, double stamp, nb::handle measured) {
  const Rows rows(goals, "goals", track.encoded.problem.target_count, 12);
  if (rows.n != track.arms)
    bad_input("goals must have one row for each of " + std::to_string(track.arms) + " arms");
  const std::vector<double> stamps(std::isnan(stamp) ? 0 : track.arms, stamp);
  Tracker::Given given;
  given.goals = rows.data;
  given.stamps = stamps.empty() ? nullptr : stamps.data();
  return track.run(given, measured, dt);
}

// one arm: a step that another scheme chose, with its damping and joint weights, if it has any
nb::object track_steer(Tracker &track, nb::handle goals, double dt, nb::handle measured, nb::handle step,
                       double alpha, nb::handle weights, bool bounded) {
  const Rows rows(goals, "goals", track.encoded.problem.target_count, 12),
      change(step, "step", track.encoded.dof);
  if (rows.n != 1 || track.arms != 1 || change.n != 1)
    bad_input("a step of another scheme takes a single arm");
  const int n = track.encoded.problem.n;
  std::vector<double> part(2 * n);
  track.encoded.gather(change.data, part.data());
  if (!weights.is_none()) {
    const Rows given(weights, "weights", track.encoded.dof);
    if (given.n != 1)
      bad_input("weights must be one row");
    track.encoded.gather(given.data, part.data() + n);
  }
  const ExternalStep external{part.data(), weights.is_none() ? nullptr : part.data() + n, alpha, bounded};
  Tracker::Given given;
  given.goals = rows.data;
  given.external = &external;
  return track.run(given, measured, dt);
}

nb::object track_push(Tracker &track, nb::handle twists, double dt, nb::handle measured) {
  const Rows rows(twists, "twist", track.encoded.problem.target_count, 6);
  if (rows.n != track.arms)
    bad_input("twist must have one row for each of " + std::to_string(track.arms) + " arms");
  Tracker::Given given;
  given.twists = rows.data;
  return track.run(given, measured, dt);
}

} // namespace

#define ARRAY "numpy.typing.NDArray[numpy.float64]"

void bind_tracker(nb::module_ &m) {
  nb::class_<Tracker>(m, "Tracker", "The memory of one arm or many, and the law that moves them.")
      .def(nb::init<nb::object, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle, int, double,
                    nb::handle, int, nb::handle, nb::handle, nb::handle, nb::handle, double, double>(),
           nb::sig(
               "def __init__(self, tree: Tree, targets: list[typing.Any], lower: " ARRAY ", upper: " ARRAY
               ", balls: list[typing.Any], bounds: tuple[typing.Any, ...], rank: int, weight_scale: float, "
               "tolerance: tuple[float, float], recover: int, levels: tuple[list[int], list[int], int], "
               "slacks: list[list[float]], reaches: list[float], "
               "start: " ARRAY ", smooth: float, predict: float, /) -> None"))
      .def("tick", track_tick, nb::sig("def tick(self, goal: typing.Any, dt: float, /) -> " ARRAY),
           "A tick of arms with one goal each, a frame.")
      .def("frame", track_frame, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
           nb::sig("def frame(self, goal: typing.Any, dt: float, stamp: float, measured: typing.Any, /) "
                   "-> " ARRAY),
           "The same, with a stamp or measured joint values.")
      .def("frames", track_frames,
           nb::sig("def frames(self, goals: typing.Any, dt: float, /) -> " ARRAY " | None"),
           "A tick of one arm with a list of frames; None where it is no such list.")
      .def("goals", track_goals, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
           nb::sig("def goals(self, goals: " ARRAY
                   ", dt: float, stamp: float, measured: typing.Any, /) -> " ARRAY),
           "A tick with goals as twelve numbers a target.")
      .def("steer", track_steer, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(),
           nb::arg().none(), nb::arg(),
           nb::sig("def steer(self, goals: " ARRAY ", dt: float, measured: typing.Any, step: " ARRAY
                   ", alpha: float, weights: typing.Any, bounded: bool, /) -> " ARRAY),
           "A tick of one arm with a step (dof,) that another scheme chose.")
      .def("push", track_push, nb::arg(), nb::arg(), nb::arg().none(),
           nb::sig("def push(self, twists: " ARRAY ", dt: float, measured: typing.Any, /) -> " ARRAY),
           "A tick with a twist for each target.")
      .def("replay", &Tracker::replay, nb::arg(), nb::arg(), nb::arg().none(),
           nb::sig("def replay(self, goals: " ARRAY ", dt: float, stamps: typing.Any, /) -> tuple[" ARRAY
                   ", " ARRAY "]"),
           "q (ticks, dof) and states (ticks,) for recorded goals (ticks, targets, 12).")
      .def("reset", &Tracker::reset, nb::sig("def reset(self, start: " ARRAY ", /) -> None"),
           "Begins anew at start, at rest.")
      .def_prop_ro("q", &Tracker::values, nb::sig("def q(self) -> " ARRAY), "Where the joints are.")
      .def("prefer", &Tracker::prefer, nb::sig("def prefer(self, step: " ARRAY ", /) -> None"),
           "The step (dof,) that the null space is to take from now on.")
      .def("weigh", &Tracker::weigh, nb::sig("def weigh(self, target: int, weights: list[float], /) -> None"),
           "New weights of a target's rows.")
      .def("limit", &Tracker::limit,
           nb::sig("def limit(self, lower: " ARRAY ", upper: " ARRAY ", speed: " ARRAY
                   ", balls: list[typing.Any], effectors: " ARRAY ", /) -> None"),
           "New limits of the joints and new bounds on the speed of the end effectors (targets, 2).")
      .def_prop_ro("arms", [](const Tracker &t) { return int(t.arms); }, "How many arms.");
}
