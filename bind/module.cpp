// The module supple._core: registers everything that Python calls.
#define SUPPLE_IMPORTS_NUMPY
#include "array.h"
#include "dispatch.h"

#include <cstdlib>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <new>
#include <stdexcept>

void bind_frames(nb::module_ &);
void bind_linkage(nb::module_ &);
void bind_search(nb::module_ &);
void bind_device(nb::module_ &);
void bind_motion(nb::module_ &);
void bind_path(nb::module_ &);
void bind_local_solver(nb::module_ &);
void bind_tracker(nb::module_ &);

FrameType frame_type;

void set_python_error(const std::exception_ptr &error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const std::bad_alloc &) {
    PyErr_SetString(PyExc_MemoryError, "there is not enough memory for this call");
  } catch (const std::length_error &) {
    PyErr_SetString(PyExc_MemoryError, "there is not enough memory for this call");
  } catch (const nb::cast_error &) {
    PyErr_SetString(PyExc_TypeError, "an argument has the wrong type");
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "an error inside supple; please report it");
  }
}

// Where an object keeps its slot `matrix`, in bytes; 0 if it has none. The stable ABI does not tell: an
// object of its own is put into the slot and looked for.
static Py_ssize_t find_slot(nb::handle type, nb::handle frame) {
  const nb::object slot = type.attr("matrix"), mark = nb::module_::import_("builtins").attr("object")();
  if (!nb::isinstance(slot, nb::module_::import_("types").attr("MemberDescriptorType")))
    return 0;
  slot.attr("__set__")(frame, mark);
  const Py_ssize_t size = nb::cast<Py_ssize_t>(type.attr("__basicsize__"));
  Py_ssize_t found = 0;
  for (Py_ssize_t at = sizeof(PyObject); at + Py_ssize_t(sizeof(PyObject *)) <= size;
       at += sizeof(PyObject *))
    if (object_at(frame.ptr(), at) == mark.ptr())
      found = at;
  slot.attr("__delete__")(frame);
  return found;
}

static void know_frame(nb::type_object type) {
  // only this class is made without its constructor
  if (nb::cast<std::string>(nb::str(type.attr("__module__"))) != "supple.frame")
    bad_input("the class of frames is supple.Frame");
  PyTypeObject *made = (PyTypeObject *)type.ptr();
  const allocfunc allocate = (allocfunc)PyType_GetSlot(made, Py_tp_alloc);
  const nb::object frame = nb::steal(allocate(made, 0));
  if (!frame.is_valid())
    throw nb::python_error();
  const Py_ssize_t slot = find_slot(type, frame);
  if (!slot)
    bad_input("a frame needs a slot called matrix");
  frame_type = {made, slot, allocate};
  type.release();
}

static int import_numpy() {
  import_array1(-1);
  return 0;
}

NB_MODULE(_core, m) {
  if (import_numpy() < 0)
    throw nb::python_error();
  m.doc() = "supple's native core.";
  nb::set_leak_warnings(false); // linkages that live as long as the interpreter are no leak
  nb::register_exception_translator([](const std::exception_ptr &error, void *) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception &) {
      set_python_error(error);
    }
  });
  bind_frames(m);
  bind_motion(m);
  bind_linkage(m);
  bind_local_solver(m);
  bind_search(m);
  bind_device(m);
  bind_path(m);
  bind_tracker(m);
  const char *wanted = std::getenv("SUPPLE_ISA");
  if (wanted && *wanted && !use_instruction_set(wanted))
    throw nb::import_error(
        (std::string("SUPPLE_ISA: this machine has no instruction set '") + wanted + "'").c_str());
  m.def("know_frame", know_frame, nb::sig("def know_frame(type: type) -> None"),
        "Tell the core which class holds frames: one with a slot called matrix.");
  m.def(
      "instruction_sets",
      [] {
        int count;
        const InstructionSet *const *sets = instruction_sets(count);
        nb::list names;
        for (int i = 0; i < count; ++i)
          names.append(sets[i]->name);
        return nb::tuple(names);
      },
      nb::sig("def instruction_sets() -> tuple[str, ...]"),
      "The instruction sets this build and this machine share, worst first.");
  m.def("instruction_set", [] { return instruction_set().name; }, "The instruction set in use.");
  m.def(
      "lane_width", [] { return instruction_set().forward->width; },
      "How many rows the instruction set in use works on at once.");
  m.def(
      "use",
      [](std::optional<std::string> name) {
        if (!use_instruction_set(name ? name->c_str() : nullptr))
          bad_input("this machine has no instruction set '" + *name + "'");
      },
      nb::arg("name").none(), "Use another instruction set; None for the best.");
}
