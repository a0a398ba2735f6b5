// Rotations and frames at the wall: arrays of them, converted one by one.
#include "supple/rigid.h"

#include "array.h"

using namespace supple;

namespace {

Vec<double> vec(const double *v) { return {v[0], v[1], v[2]}; }

Frame<double> frame(const double *m) {
  return {{{m[0], m[4], m[8]}, {m[1], m[5], m[9]}, {m[2], m[6], m[10]}}, {m[3], m[7], m[11]}};
}

void write(const Frame<double> &f, double *m) {
  const double row[16] = {f.r.x.x, f.r.y.x, f.r.z.x, f.p.x, f.r.x.y, f.r.y.y, f.r.z.y, f.p.y,
                          f.r.x.z, f.r.y.z, f.r.z.z, f.p.z, 0,       0,       0,       1};
  std::memcpy(m, row, sizeof row);
}

void write(Vec<double> v, double *out) { out[0] = v.x, out[1] = v.y, out[2] = v.z; }

template <class F> nb::object to_frames(nb::handle given, const char *what, int size, F convert) {
  const Rows rows(given, what, size);
  Fresh out(rows, {4, 4});
  for (npy_intp i = 0; i < rows.n; ++i) write(convert(rows.data + size * i), out.data + 16 * i);
  return out.frozen();
}

template <class F> nb::object from_frames(nb::handle given, int size, F convert) {
  const Rows rows(given, "frame", 4, 4);
  Fresh out(rows, {size});
  for (npy_intp i = 0; i < rows.n; ++i) convert(frame(rows.data + 16 * i), out.data + size * i);
  return std::move(out.owner);
}

nb::object clamp(nb::handle given, nb::handle axis, double swing, double low, double high) {
  const Rows rows(given, "rotation vector", 3), about(axis, "axis", 3);
  Fresh out(rows, {3});
  for (npy_intp i = 0; i < rows.n; ++i) write(clamp_ball(vec(rows.data + 3 * i), vec(about.data), swing, low, high), out.data + 3 * i);
  return std::move(out.owner);
}

} // namespace

#define ARRAY "numpy.typing.NDArray[numpy.float64]"

void bind_frames(nb::module_ &m) {
  const Vec<double> none{0, 0, 0};
  m.def("exp_rotation", [none](nb::handle v) {
    return to_frames(v, "rotation vector", 3, [&](const double *x) { return Frame<double>{exp_rotation(vec(x)), none}; });
  }, nb::sig("def exp_rotation(vector: " ARRAY ") -> " ARRAY), "Frames (..., 4, 4) of rotation vectors (..., 3).");
  m.def("log_rotation", [](nb::handle f) {
    return from_frames(f, 3, [](const Frame<double> &x, double *out) { write(log_rotation(x.r), out); });
  }, nb::sig("def log_rotation(frame: " ARRAY ") -> " ARRAY), "Rotation vectors (..., 3) of frames (..., 4, 4).");
  m.def("from_quaternion", [none](nb::handle q) {
    return to_frames(q, "quaternion", 4, [&](const double *x) { return Frame<double>{rotation(Quat<double>{x[0], x[1], x[2], x[3]}), none}; });
  }, nb::sig("def from_quaternion(quaternion: " ARRAY ") -> " ARRAY), "Frames (..., 4, 4) of unit quaternions (..., 4).");
  m.def("to_quaternion", [](nb::handle f) {
    return from_frames(f, 4, [](const Frame<double> &x, double *out) {
      const Quat<double> q = quaternion(x.r);
      out[0] = q.w, out[1] = q.x, out[2] = q.y, out[3] = q.z;
    });
  }, nb::sig("def to_quaternion(frame: " ARRAY ") -> " ARRAY), "Unit quaternions (..., 4) of frames (..., 4, 4).");
  m.def("exp_frame", [](nb::handle t) {
    return to_frames(t, "twist", 6, [](const double *x) { return exp_frame(vec(x), vec(x + 3)); });
  }, nb::sig("def exp_frame(twist: " ARRAY ") -> " ARRAY), "Frames (..., 4, 4) of twists (..., 6).");
  m.def("log_frame", [](nb::handle f) {
    return from_frames(f, 6, [](const Frame<double> &x, double *out) {
      Vec<double> linear, angular;
      log_frame(x, linear, angular);
      write(linear, out), write(angular, out + 3);
    });
  }, nb::sig("def log_frame(frame: " ARRAY ") -> " ARRAY), "Twists (..., 6) of frames (..., 4, 4).");
  m.def("clamp_ball", clamp, nb::sig("def clamp_ball(vector: " ARRAY ", axis: " ARRAY ", swing: float, low: float, high: float) -> " ARRAY),
        "Rotation vectors (..., 3) brought inside a cone and a range of twist about a unit axis.");
}
