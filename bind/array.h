// Numpy arrays in and out: arguments are checked, results are new.
#pragma once
#define PY_ARRAY_UNIQUE_SYMBOL supple_numpy
#ifndef SUPPLE_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <nanobind/nanobind.h>
#include <numpy/arrayobject.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "dispatch.h"
#include "supple/math/se3.h"
#include "threads.h"

namespace nb = nanobind;

// raises supple.errors.BadInput
[[noreturn]] inline void bad_input(const std::string &message) {
  nb::object kind = nb::module_::import_("supple.errors").attr("BadInput");
  PyErr_SetString(kind.ptr(), message.c_str());
  throw nb::python_error();
}

// Raises BadInput in place of the Python error that is set, if that is about a value; others stay as they
// are.
[[noreturn]] inline void refuse_conversion(const std::string &message) {
  nb::python_error error;
  if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError) &&
      !error.matches(PyExc_OverflowError))
    throw error;
  bad_input(message + ": " + nb::str(error.value()).c_str());
}

// Sets the Python error of a C++ exception that is not one of Python's. Its text is ours, never the
// library's.
void set_python_error(const std::exception_ptr &error) noexcept;

inline std::string shape_text(PyArrayObject *a) {
  std::string text = "(";
  for (int i = 0; i < PyArray_NDIM(a); ++i)
    text += (i ? ", " : "") + std::to_string(PyArray_DIM(a, i));
  return text + (PyArray_NDIM(a) == 1 ? ",)" : ")");
}

// Whether the memory that two arrays span overlaps; exact for contiguous arrays.
inline bool share_memory(PyArrayObject *a, PyArrayObject *b) {
  auto span = [](PyArrayObject *array, const char *&begin, const char *&end) {
    begin = PyArray_BYTES(array);
    end = begin + PyArray_ITEMSIZE(array);
    for (int i = 0; i < PyArray_NDIM(array); ++i) {
      const npy_intp reach = (PyArray_DIM(array, i) - 1) * PyArray_STRIDE(array, i);
      (reach < 0 ? begin : end) += reach;
    }
  };
  if (!PyArray_SIZE(a) || !PyArray_SIZE(b))
    return false;
  const char *begin_a, *end_a, *begin_b, *end_b;
  span(a, begin_a, end_a);
  span(b, begin_b, end_b);
  return begin_a < end_b && begin_b < end_a;
}

// whether an object is an array of this type that may be written to, C-contiguous and aligned
inline bool is_writable(nb::handle given, int type = NPY_DOUBLE) {
  if (!PyArray_Check(given.ptr()))
    return false;
  PyArrayObject *array = reinterpret_cast<PyArrayObject *>(given.ptr());
  return PyArray_TYPE(array) == type && PyArray_ISCARRAY(array);
}

// a C-contiguous array of doubles, borrowed where it is one already, whose last axes have the given sizes
struct Rows {
  nb::object owner;
  PyArrayObject *array;
  const double *data;
  npy_intp n = 1; // product of the leading axes
  int lead;       // how many leading axes

  Rows(nb::handle given, const char *what, int size, int size2 = 0) {
    const int last = size2 ? 2 : 1;
    PyObject *o = given.ptr();
    if (PyArray_CheckExact(o) && PyArray_TYPE((PyArrayObject *)o) == NPY_DOUBLE &&
        PyArray_ISCARRAY_RO((PyArrayObject *)o)) {
      owner = nb::borrow(given);
    } else { // also texts, dates and masked arrays, which are refused
      owner = nb::module_::import_("supple._check").attr("core_numbers")(given, what);
      PyObject *made = PyArray_FROM_OTF(owner.ptr(), NPY_DOUBLE, NPY_ARRAY_CARRAY_RO);
      if (!made)
        refuse_conversion(std::string(what) + " must be numbers");
      owner = nb::steal(made);
    }
    array = (PyArrayObject *)owner.ptr();
    lead = PyArray_NDIM(array) - last;
    const npy_intp *dims = PyArray_DIMS(array);
    if (lead < 0 || dims[lead] != size || (size2 && dims[lead + 1] != size2)) {
      const std::string wanted = std::to_string(size) + (size2 ? ", " + std::to_string(size2) : "");
      bad_input(std::string(what) + " must have shape (..., " + wanted + "), not " + shape_text(array));
    }
    for (int i = 0; i < lead; ++i)
      n *= dims[i];
    data = (const double *)PyArray_DATA(array);
  }

  npy_intp size() const { return PyArray_SIZE(array); }

  // Takes a copy if `written`, which is about to be written to, has memory in common with these rows.
  void keep_apart(nb::handle written) {
    if (!share_memory(array, reinterpret_cast<PyArrayObject *>(written.ptr())))
      return;
    PyObject *made = PyArray_NewCopy(array, NPY_CORDER);
    if (!made)
      throw nb::python_error();
    owner = nb::steal(made);
    array = reinterpret_cast<PyArrayObject *>(made);
    data = static_cast<const double *>(PyArray_DATA(array));
  }

  // index of the first number that is not finite, or -1
  npy_intp not_finite() const {
    const npy_intp count = size();
    const ForwardKernels &kernels = *instruction_set().forward;
    std::atomic<bool> good{true};
    if (count < 1 << 17) {
      good = kernels.finite(data, count);
    } else {
      nb::gil_scoped_release free;
      parallel(count, 1 << 16, [&](long long begin, long long end) {
        if (!kernels.finite(data + begin, end - begin))
          good = false;
      });
    }
    npy_intp i = good ? -1 : 0;
    while (!good && std::isfinite(data[i]))
      ++i;
    return i;
  }
};

// a fresh array with the leading axes of `like` and these last ones
struct Fresh {
  nb::object owner;
  double *data;
  Fresh(const Rows &like, std::initializer_list<npy_intp> last)
      : Fresh(PyArray_DIMS(like.array), like.lead, last) {}
  Fresh(const npy_intp *dims, int lead, std::initializer_list<npy_intp> last) {
    npy_intp shape[NPY_MAXDIMS];
    int k = 0;
    for (; k < lead; ++k)
      shape[k] = dims[k];
    if (lead + int(last.size()) > NPY_MAXDIMS)
      bad_input("too many axes");
    for (npy_intp d : last)
      shape[k++] = d;
    PyObject *made = PyArray_SimpleNew(k, shape, NPY_DOUBLE);
    if (!made)
      throw nb::python_error();
    owner = nb::steal(made);
    data = (double *)PyArray_DATA((PyArrayObject *)made);
  }
  // the caller's own array if one is given: it must be just what would have been made
  Fresh(nb::handle given, const Rows &like, std::initializer_list<npy_intp> last) {
    if (given.is_none()) {
      *this = Fresh(like, last);
      return;
    }
    PyArrayObject *a = (PyArrayObject *)given.ptr();
    bool fits = is_writable(given) && PyArray_NDIM(a) == like.lead + int(last.size());
    std::string shape;
    for (int i = 0; i < like.lead + int(last.size()); ++i) {
      const npy_intp wanted = i < like.lead ? PyArray_DIM(like.array, i) : *(last.begin() + (i - like.lead));
      fits = fits && PyArray_DIM(a, i) == wanted;
      shape += (i ? ", " : "") + std::to_string(wanted);
    }
    if (!fits)
      bad_input("out must be a writable, C-contiguous float64 array of shape (" + shape + ")");
    owner = nb::borrow(given);
    data = (double *)PyArray_DATA(a);
  }
  // Frames are values: their arrays are read-only. A caller's own array stays writable; the frame has a
  // read-only view of it.
  nb::object frozen(bool own = true) {
    if (!own) {
      PyObject *view = PyArray_View((PyArrayObject *)owner.ptr(), nullptr, nullptr);
      if (!view)
        throw nb::python_error();
      owner = nb::steal(view);
    }
    PyArray_CLEARFLAGS((PyArrayObject *)owner.ptr(), NPY_ARRAY_WRITEABLE);
    return std::move(owner);
  }
};

// frames as arrays of 16 numbers, row by row
inline supple::Frame<double> read_frame(const double *m) {
  return {{{m[0], m[4], m[8]}, {m[1], m[5], m[9]}, {m[2], m[6], m[10]}}, {m[3], m[7], m[11]}};
}
inline void write_frame(const supple::Frame<double> &f, double *m) {
  const double row[16] = {f.r.x.x, f.r.y.x, f.r.z.x, f.p.x, f.r.x.y, f.r.y.y, f.r.z.y, f.p.y,
                          f.r.x.z, f.r.y.z, f.r.z.z, f.p.z, 0,       0,       0,       1};
  std::memcpy(m, row, sizeof row);
}

// the Python class Frame, made known at import, and a value of it around an array, put straight into its one
// slot
struct FrameType {
  PyTypeObject *type = nullptr;
  Py_ssize_t slot = 0;
  allocfunc allocate = nullptr;
};
extern FrameType frame_type;
inline PyObject *&object_at(PyObject *object, Py_ssize_t offset) {
  return *reinterpret_cast<PyObject **>(reinterpret_cast<char *>(object) + offset);
}
inline nb::object frame_of(nb::object array) {
  PyObject *frame = frame_type.allocate(frame_type.type, 0);
  if (!frame)
    throw nb::python_error();
  object_at(frame, frame_type.slot) = array.release().ptr();
  return nb::steal(frame);
}

// the matrix of a Frame, or the object itself
inline nb::object matrix_of(nb::handle goal) {
  if (Py_TYPE(goal.ptr()) != frame_type.type)
    return nb::borrow(goal);
  const char *frame = reinterpret_cast<const char *>(goal.ptr());
  PyObject *matrix = *reinterpret_cast<PyObject *const *>(frame + frame_type.slot);
  if (!matrix)
    bad_input("this Frame has no matrix: it was made without Frame(...)");
  return nb::borrow(matrix);
}
