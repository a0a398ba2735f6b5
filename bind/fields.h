// Plain values from Python objects: each is checked, and nothing that Python may change meanwhile is trusted.
#pragma once
#include "array.h"

#include <climits>

// A finite or infinite number; BadInput for what is none, or does not fit.
inline double number(nb::handle given) {
  const double value = PyFloat_AsDouble(given.ptr());
  if (value == -1 && PyErr_Occurred())
    refuse_conversion("a number is needed");
  return value;
}

// A whole number from `least` to `most`.
inline int whole(nb::handle given, const char *what = "a value", int least = INT_MIN, int most = INT_MAX) {
  PyObject *index = PyNumber_Index(given.ptr());
  if (!index)
    refuse_conversion(std::string(what) + " must be a whole number");
  const nb::object kept = nb::steal(index);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index, &overflow);
  if (overflow || value < least || value > most)
    bad_input(std::string(what) + " must be a whole number from " + std::to_string(least) + " to " +
              std::to_string(most));
  return int(value);
}

inline bool truth(nb::handle given) {
  const int value = PyObject_IsTrue(given.ptr());
  if (value < 0)
    throw nb::python_error();
  return value != 0;
}

// The items of a sequence, taken at once: later changes of a list do no harm.
class Fields {
public:
  Fields(nb::handle given, const char *what, Py_ssize_t wanted = -1) {
    PyObject *items_of = given.ptr();
    if (!PyList_Check(items_of) && !PyTuple_Check(items_of) && !PyArray_Check(items_of))
      bad_input(std::string(what) + " must be a list or tuple, not " + nb::type_name(given.type()).c_str());
    PyObject *made = PySequence_Tuple(items_of);
    if (!made)
      refuse_conversion(std::string(what) + " must be a sequence");
    items = nb::steal(made);
    if (wanted >= 0 && size() != wanted)
      bad_input(std::string(what) + " must have " + std::to_string(wanted) + " fields, not " +
                std::to_string(size()));
  }
  Py_ssize_t size() const { return PyTuple_Size(items.ptr()); }
  nb::handle operator[](Py_ssize_t i) const {
    PyObject *item = PyTuple_GetItem(items.ptr(), i);
    if (!item)
      throw nb::python_error();
    return item;
  }

private:
  nb::object items;
};

// `count` numbers of a sequence
inline void numbers(nb::handle given, const char *what, int count, double *to) {
  const Fields fields(given, what, count);
  for (int i = 0; i < count; ++i)
    to[i] = number(fields[i]);
}

// An object of the core that a constructor takes; BadInput for another one, or one without __init__.
template <class T>
T &native(nb::handle given, const char *what) {
  T *found = nullptr;
  if (!nb::isinstance<T>(given) || !nb::inst_ready(given) || !nb::try_cast<T *>(given, found, false) ||
      !found)
    bad_input(std::string(what) + " is needed, got " + nb::type_name(given.type()).c_str());
  return *found;
}
