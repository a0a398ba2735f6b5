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
#include "threads.h"

namespace nb = nanobind;

// raises supple.errors.BadInput
[[noreturn]] inline void bad_input(const std::string &message) {
  nb::object kind = nb::module_::import_("supple.errors").attr("BadInput");
  PyErr_SetString(kind.ptr(), message.c_str());
  throw nb::python_error();
}

inline std::string shape_text(PyArrayObject *a) {
  std::string text = "(";
  for (int i = 0; i < PyArray_NDIM(a); ++i)
    text += (i ? ", " : "") + std::to_string(PyArray_DIM(a, i));
  return text + (PyArray_NDIM(a) == 1 ? ",)" : ")");
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
    if (PyArray_Check(o) && PyArray_TYPE((PyArrayObject *)o) == NPY_DOUBLE &&
        PyArray_ISCARRAY_RO((PyArrayObject *)o)) {
      owner = nb::borrow(given);
    } else {
      PyObject *made = PyArray_FROM_OTF(o, NPY_DOUBLE, NPY_ARRAY_CARRAY_RO);
      if (!made) {
        nb::python_error error;
        bad_input(std::string(what) + " must be numbers: " + nb::str(error.value()).c_str());
      }
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
    bool fits = PyArray_Check(given.ptr()) && PyArray_TYPE(a) == NPY_DOUBLE && PyArray_ISCARRAY(a) &&
                PyArray_NDIM(a) == like.lead + int(last.size());
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
