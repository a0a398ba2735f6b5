// Arrays of rotations and frames, converted one by one.
#include "supple/math/se3.h"
#include "supple/motion/ball_rows.h"

#include "array.h"

#include <algorithm>
#include <mutex>

using namespace supple;

namespace {

template <class F>
nb::object to_frames(nb::handle given, const char *what, int size, F convert) {
  const Rows rows(given, what, size);
  Fresh out(rows, {4, 4});
  for (npy_intp i = 0; i < rows.n; ++i)
    write_frame(convert(rows.data + size * i), out.data + 16 * i);
  return out.frozen();
}

template <class F>
nb::object from_frames(nb::handle given, int size, F convert) {
  const Rows rows(given, "frame", 4, 4);
  Fresh out(rows, {size});
  for (npy_intp i = 0; i < rows.n; ++i)
    convert(read_frame(rows.data + 16 * i), out.data + size * i);
  return std::move(out.owner);
}

nb::object clamp(nb::handle given, nb::handle axis, double swing, double low, double high) {
  const Rows rows(given, "rotation vector", 3), about(axis, "axis", 3);
  if (about.n != 1)
    bad_input("axis must have shape (3,), not " + shape_text(about.array));
  Fresh out(rows, {3});
  Ball ball{};
  store3(load3(about.data), ball.axis);
  ball.swing = swing;
  ball.low = low;
  ball.high = high;
  std::copy_n(rows.data, 3 * rows.n, out.data);
  clamp_ball_rows(ball, out.data, rows.n, 3);
  return std::move(out.owner);
}

nb::object mend_frames(nb::handle given) {
  if (!is_writable(given))
    bad_input("frames that are mended in place must be a writable, C-contiguous float64 array");
  const Rows rows(given, "frame", 4, 4);
  double *data = const_cast<double *>(rows.data);
  int wrong = 100;
  double off = 0;
  auto check = [&](long long begin, long long end) {
    double worst = 0;
    int least = 100;
    for (long long i = begin; i < end; ++i) {
      const FrameDefect found = repair_frame(data + 16 * i, worst);
      if (found != no_defect)
        least = std::min<int>(least, int(found));
    }
    return std::make_pair(least, worst);
  };
  std::mutex mutex;
  auto work = [&](long long begin, long long end) {
    const auto [least, worst] = check(begin, end);
    const std::lock_guard<std::mutex> lock(mutex);
    wrong = std::min<int>(wrong, least);
    off = std::max<double>(off, worst);
  };
  if (rows.n < 4096) {
    work(0, rows.n);
  } else {
    nb::gil_scoped_release released;
    parallel(rows.n, 2048, work);
  }
  return nb::make_tuple(wrong < 100 ? wrong : 0, off);
}

// One frame for an object that keeps it: a Frame, copied if its array is a view, whose memory may change; or
// an array, checked, mended and copied. None for all else: the general way takes it or says what is wrong.
nb::object one_frame(nb::handle given) {
  const nb::object matrix = matrix_of(given);
  const bool is_frame = matrix.ptr() != given.ptr();
  PyArrayObject *a = reinterpret_cast<PyArrayObject *>(matrix.ptr());
  if (!PyArray_CheckExact(matrix.ptr()) || PyArray_TYPE(a) != NPY_DOUBLE || !PyArray_ISBEHAVED_RO(a) ||
      PyArray_NDIM(a) != 2 || PyArray_DIM(a, 0) != 4 || PyArray_DIM(a, 1) != 4)
    return nb::none();
  if (is_frame && !PyArray_BASE(a))
    return nb::borrow(given);
  Fresh out(PyArray_DIMS(a), 2, {});
  for (int k = 0; k < 16; ++k)
    out.data[k] = *static_cast<const double *>(PyArray_GETPTR2(a, k / 4, k % 4));
  double off = 0;
  if (!is_frame && repair_frame(out.data, off) != no_defect)
    return nb::none();
  return frame_of(out.frozen());
}

} // namespace

#define ARRAY "numpy.typing.NDArray[numpy.float64]"

void bind_frames(nb::module_ &m) {
  const Vec<double> none{0, 0, 0};
  m.def("mend_frames", mend_frames, nb::sig("def mend_frames(frames: " ARRAY ") -> tuple[int, float]"),
        "Checks frames (..., 4, 4) and mends nearly orthonormal rotations in place: what is wrong (0 "
        "nothing, 1 not finite, 2 not orthonormal, "
        "3 mirrors, 4 last row), and by how much the worst is off.");
  m.def(
      "one_frame", one_frame, nb::arg().none(), nb::sig("def one_frame(frame: typing.Any, /) -> typing.Any"),
      "A Frame whose array is its own, from one Frame or an array (4, 4) of float64; None for anything else, "
      "and for what is no frame.");
  m.def(
      "exp_rotation",
      [none](nb::handle v) {
        return to_frames(v, "rotation vector", 3,
                         [&](const double *x) { return Frame<double>{exp_rotation(load3(x)), none}; });
      },
      nb::sig("def exp_rotation(vector: " ARRAY ") -> " ARRAY),
      "Frames (..., 4, 4) of rotation vectors (..., 3).");
  m.def(
      "log_rotation",
      [](nb::handle f) {
        return from_frames(f, 3, [](const Frame<double> &x, double *out) { store3(log_rotation(x.r), out); });
      },
      nb::sig("def log_rotation(frame: " ARRAY ") -> " ARRAY),
      "Rotation vectors (..., 3) of frames (..., 4, 4).");
  m.def(
      "from_quaternion",
      [none](nb::handle q) {
        return to_frames(q, "quaternion", 4, [&](const double *x) {
          return Frame<double>{rotation(Quat<double>{x[0], x[1], x[2], x[3]}), none};
        });
      },
      nb::sig("def from_quaternion(quaternion: " ARRAY ") -> " ARRAY),
      "Frames (..., 4, 4) of unit quaternions (..., 4).");
  m.def(
      "to_quaternion",
      [](nb::handle f) {
        return from_frames(f, 4, [](const Frame<double> &x, double *out) {
          const Quat<double> q = quaternion(x.r);
          out[0] = q.w;
          out[1] = q.x;
          out[2] = q.y;
          out[3] = q.z;
        });
      },
      nb::sig("def to_quaternion(frame: " ARRAY ") -> " ARRAY),
      "Unit quaternions (..., 4) of frames (..., 4, 4).");
  m.def(
      "exp_frame",
      [](nb::handle t) {
        return to_frames(t, "twist", 6, [](const double *x) { return exp_frame(load3(x), load3(x + 3)); });
      },
      nb::sig("def exp_frame(twist: " ARRAY ") -> " ARRAY), "Frames (..., 4, 4) of twists (..., 6).");
  m.def(
      "log_frame",
      [](nb::handle f) {
        return from_frames(f, 6, [](const Frame<double> &x, double *out) {
          Vec<double> linear, angular;
          log_frame(x, linear, angular);
          store3(linear, out);
          store3(angular, out + 3);
        });
      },
      nb::sig("def log_frame(frame: " ARRAY ") -> " ARRAY), "Twists (..., 6) of frames (..., 4, 4).");
  m.def("clamp_ball", clamp,
        nb::sig("def clamp_ball(vector: " ARRAY ", axis: " ARRAY
                ", swing: float, low: float, high: float) -> " ARRAY),
        "Rotation vectors (..., 3) brought inside a cone and a range of twist about a unit axis.");
}
