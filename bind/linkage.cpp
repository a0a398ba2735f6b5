// Linkages: the compiled tree, and its forward kinematics over arrays.
#include "linkage.h"
#include "array.h"
#include "dispatch.h"
#include "supple/model/reach.h"
#include "threads.h"

#include <chrono>

namespace {

// runs a job over its rows: one on the spot, many on lanes, very many on threads with the interpreter lock
// released
template <class Job>
void run(const ForwardKernels &kernels, void (*kernel)(const Job &, long long, long long, void *),
         const Job &job, long long n, int count, int dof) {
  const std::size_t size = kernels.scratch(count, dof);
  constexpr std::size_t on_stack = 32768;
  if (n == 1 && size <= on_stack) {
    alignas(64) char memory[on_stack];
    return kernel(job, 0, 1, memory);
  }
  if (n == 0)
    return;
  nb::gil_scoped_release free;
  parallel(n, 100000 / (count + 1) + 64, [&](long long begin, long long end) {
    const Scratch scratch(size);
    kernel(job, begin, end, scratch.data);
  });
}

ChainJob chain_job(const Path &path, const Rows &q) {
  return {q.n == 1,
          &path.chain,
          path.columns.data(),
          int(path.columns.size()),
          q.data,
          nullptr,
          0,
          false,
          nullptr,
          nullptr,
          nullptr,
          0,
          0,
          nullptr,
          nullptr};
}

void run_chain(const Tree &tree, const ChainJob &job, npy_intp n) {
  const ForwardKernels &kernels = *instruction_set().forward;
  run(kernels, kernels.chain, job, n, job.chain->count, tree.dof);
}

nb::object tree_frame(Tree &tree, nb::handle q, nb::handle link, nb::handle into) {
  const Path &path = tree.path(tree.place(link));
  Rows rows = tree.values(q);
  Fresh out(into, rows, {4, 4});
  if (!into.is_none())
    rows.keep_apart(into);
  ChainJob job = chain_job(path, rows);
  job.frames = out.data;
  run_chain(tree, job, rows.n);
  return frame_of(out.frozen(into.is_none()));
}

nb::object tree_frames(Tree &tree, nb::handle q) {
  const Rows rows = tree.values(q);
  Fresh out(rows, {npy_intp(tree.tips.size()), 4, 4});
  const TreeJob job{rows.n == 1, tree.nodes.data(),     tree.tips.data(), int(tree.nodes.size()),
                    tree.dof,    int(tree.tips.size()), rows.data,        out.data};
  const ForwardKernels &kernels = *instruction_set().forward;
  run(kernels, kernels.tree, job, rows.n, int(tree.nodes.size() + tree.tips.size()), tree.dof);
  return out.frozen();
}

struct Point {
  nb::object owner;
  // `into`: where the result goes, or none
  void set(ChainJob &job, nb::handle point, const Rows &q, nb::handle into) {
    if (point.is_none())
      return;
    Rows rows(point, "point", 3);
    if (rows.not_finite() >= 0)
      bad_input("point must be finite");
    if (rows.lead &&
        (rows.lead != q.lead ||
         !std::equal(PyArray_DIMS(rows.array), PyArray_DIMS(rows.array) + q.lead, PyArray_DIMS(q.array))))
      bad_input("the leading axes of point " + shape_text(rows.array) + " do not fit those of q " +
                shape_text(q.array));
    if (!into.is_none())
      rows.keep_apart(into);
    owner = rows.owner;
    job.point = rows.data;
    job.point_step = rows.lead ? 3 : 0;
  }
};

nb::object tree_jacobian(Tree &tree, nb::handle q, nb::handle link, nb::handle point, bool turned,
                         nb::handle into) {
  const Path &path = tree.path(tree.place(link));
  Rows rows = tree.values(q);
  Fresh out(into, rows, {6, tree.dof});
  if (!into.is_none())
    rows.keep_apart(into);
  ChainJob job = chain_job(path, rows);
  Point at;
  at.set(job, point, rows, into);
  job.jacobians = out.data;
  job.turned = turned;
  run_chain(tree, job, rows.n);
  return std::move(out.owner);
}

nb::object tree_frame_and_jacobian(Tree &tree, nb::handle q, nb::handle link, nb::handle frames_into,
                                   nb::handle jacobians_into) {
  const Path &path = tree.path(tree.place(link));
  Rows rows = tree.values(q);
  Fresh frames(frames_into, rows, {4, 4}), jacobians(jacobians_into, rows, {6, tree.dof});
  if (!frames_into.is_none()) {
    if (share_memory(reinterpret_cast<PyArrayObject *>(frames_into.ptr()),
                     reinterpret_cast<PyArrayObject *>(jacobians_into.ptr())))
      bad_input("the two arrays of out must not share memory");
    rows.keep_apart(frames_into);
    rows.keep_apart(jacobians_into);
  }
  ChainJob job = chain_job(path, rows);
  job.frames = frames.data;
  job.jacobians = jacobians.data;
  run_chain(tree, job, rows.n);
  PyObject *pair = PyTuple_New(2);
  if (!pair)
    throw nb::python_error();
  PyTuple_SetItem(pair, 0, frame_of(frames.frozen(frames_into.is_none())).release().ptr());
  PyTuple_SetItem(pair, 1, jacobians.owner.release().ptr());
  return nb::steal(pair);
}

nb::object tree_frame_gradient(Tree &tree, nb::handle q, nb::handle link, nb::handle of_frames) {
  const Path &path = tree.path(tree.place(link));
  const Rows rows = tree.values(q), given(of_frames, "gradient", 4, 4);
  if (rows.lead != given.lead ||
      !std::equal(PyArray_DIMS(rows.array), PyArray_DIMS(rows.array) + rows.lead, PyArray_DIMS(given.array)))
    bad_input("q " + shape_text(rows.array) + " and gradient " + shape_text(given.array) +
              " differ in their leading axes");
  Fresh out(rows, {tree.dof});
  ChainJob job = chain_job(path, rows);
  job.of_frames = given.data;
  job.gradients = out.data;
  run_chain(tree, job, rows.n);
  return std::move(out.owner);
}

nb::object tree_manipulability(Tree &tree, nb::handle q, nb::handle link, bool position, bool orientation) {
  const Path &path = tree.path(tree.place(link));
  const Rows rows = tree.values(q);
  Fresh out(rows, {});
  ChainJob job = chain_job(path, rows);
  job.manipulability = out.data;
  job.first_row = position ? 0 : 3;
  job.row_count = position && orientation ? 6 : 3;
  run_chain(tree, job, rows.n);
  return std::move(out.owner);
}

nb::object pairwise(Tree &tree, nb::handle a, nb::handle b, const char *first, const char *second,
                    bool integrates) {
  const Rows x = tree.values(a, first), y = tree.values(b, second);
  if (x.lead != y.lead ||
      !std::equal(PyArray_DIMS(x.array), PyArray_DIMS(x.array) + x.lead, PyArray_DIMS(y.array)))
    bad_input(std::string(first) + " " + shape_text(x.array) + " and " + second + " " + shape_text(y.array) +
              " differ in shape");
  Fresh out(x, {tree.dof});
  const std::vector<int> &balls = tree.balls_at;
  instruction_set().forward->pairs(
      {integrates, balls.data(), int(balls.size()), tree.dof, x.data, y.data, out.data}, 0, x.n);
  return std::move(out.owner);
}

nb::object tree_reach(Tree &tree, nb::handle link, nb::handle lower, nb::handle upper) {
  const Path &path = tree.path(tree.place(link));
  const Rows low(lower, "lower", tree.dof), high(upper, "upper", tree.dof);
  if (low.n != 1 || high.n != 1)
    bad_input("reach takes one row of limits");
  if (path.chain.count != tree.dof || !tree.balls_at.empty())
    bad_input("reach needs a chain of revolute and prismatic joints");
  std::vector<double> scratch(reach_scratch(tree.dof));
  std::vector<Axis<double>> axes(tree.dof + 1);
  Vec<double> base{0, 0, 0};
  const double most = reach(path.chain, low.data, high.data, scratch.data(), axes.data(), base);
  return nb::make_tuple(most, base.x, base.y, base.z);
}

// nanoseconds a row that the core needs for frame and Jacobian, with no array made: the least of some rounds
double core_cost(Tree &tree, nb::handle q, nb::handle link, int repeats, double (*clock)()) {
  const Path &path = tree.path(tree.place(link));
  const Rows rows = tree.values(q);
  if (rows.n < 1 || repeats < 1 || repeats > 100000)
    bad_input("a cost needs at least one row, and 1 to 100000 repeats");
  std::vector<double> frames(16 * rows.n), jacobians(std::size_t(6) * tree.dof * rows.n);
  ChainJob job = chain_job(path, rows);
  job.frames = frames.data();
  job.jacobians = jacobians.data();
  const ForwardKernels &kernels = *instruction_set().forward;
  const Scratch scratch(kernels.scratch(job.chain->count, tree.dof));
  double best = 1e300;
  for (int round = 0; round < 20; ++round) {
    const double start = clock();
    for (int i = 0; i < repeats; ++i)
      kernels.chain(job, 0, rows.n, scratch.data);
    best = std::min<double>(best, clock() - start);
  }
  return best * 1e9 / (double(repeats) * double(rows.n));
}

} // namespace

#define ARRAY "numpy.typing.NDArray[numpy.float64]"
#define LIKE "numpy.typing.ArrayLike"

void bind_linkage(nb::module_ &m) {
  nb::class_<Tree>(
      m, "Tree",
      "A linkage, flattened: nodes that turn about z, slide along z or roll as a ball, and links on them.")
      .def(nb::init<nb::handle, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle,
                    nb::handle, nb::handle, int>(),
           nb::sig("def __init__(self, motion: " LIKE ", parent: " LIKE ", q: " LIKE ", gain: " LIKE
                   ", offset: " LIKE ", location: " LIKE ", names: tuple[str, ...], link_node: " LIKE
                   ", link_frame: " LIKE ", dof: int, /) -> None"))
      // Without named arguments nanobind takes its short way, which is worth half of a small frame; it
      // refuses None.
      .def(
          "frame", [](Tree &t, nb::handle q, nb::handle link) { return tree_frame(t, q, link, nb::none()); },
          nb::sig("def frame(self, q: " LIKE ", link: str, /) -> typing.Any"),
          "Frames of a link for q (..., dof).")
      .def("frame_into", tree_frame,
           nb::sig("def frame_into(self, q: " LIKE ", link: str, out: " ARRAY ", /) -> typing.Any"),
           "Frames of a link for q (..., dof), written to an array (..., 4, 4).")
      .def("frames", tree_frames, nb::sig("def frames(self, q: " LIKE ", /) -> " ARRAY),
           "Frames (..., links, 4, 4) of all links for q (..., dof).")
      .def(
          "jacobian",
          [](Tree &t, nb::handle q, nb::handle link) {
            return tree_jacobian(t, q, link, nb::none(), false, nb::none());
          },
          nb::sig("def jacobian(self, q: " LIKE ", link: str, /) -> " ARRAY),
          "Jacobians (..., 6, dof) of a link in world axes.")
      .def("jacobian_at", tree_jacobian, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none(),
           nb::sig("def jacobian_at(self, q: " LIKE ", link: str, point: " LIKE
                   " | None, turned: bool, out: " ARRAY " | None, /) -> " ARRAY),
           "Jacobians (..., 6, dof) of a link, or of a point (3,) or (..., 3) in its axes; in its axes if "
           "turned.")
      .def(
          "frame_and_jacobian",
          [](Tree &t, nb::handle q, nb::handle link) {
            return tree_frame_and_jacobian(t, q, link, nb::none(), nb::none());
          },
          nb::sig("def frame_and_jacobian(self, q: " LIKE ", link: str, /) -> tuple[typing.Any, " ARRAY "]"),
          "Frames and Jacobians (..., 6, dof) of a link, together.")
      .def("frame_and_jacobian_into", tree_frame_and_jacobian,
           nb::sig("def frame_and_jacobian_into(self, q: " LIKE ", link: str, frames: " ARRAY
                   ", jacobians: " ARRAY ", /) -> tuple[typing.Any, " ARRAY "]"),
           "Frames and Jacobians of a link, written to arrays (..., 4, 4) and (..., 6, dof).")
      .def("frame_gradient", tree_frame_gradient,
           nb::sig("def frame_gradient(self, q: " LIKE ", link: str, of_frames: " LIKE ", /) -> " ARRAY),
           "Gradients (..., dof) by the joints, a ball's about its child's axes, for gradients (..., 4, 4) "
           "by the entries of a link's frames.")
      .def("manipulability", tree_manipulability,
           nb::sig("def manipulability(self, q: " LIKE
                   ", link: str, position: bool, orientation: bool, /) -> " ARRAY),
           "Product of the singular values (...) of the linear rows, the angular rows or both.")
      .def(
          "integrate",
          [](Tree &t, nb::handle q, nb::handle step) { return pairwise(t, q, step, "q", "step", true); },
          nb::sig("def integrate(self, q: " LIKE ", step: " LIKE ", /) -> " ARRAY),
          "q after a step, both (..., dof).")
      .def(
          "difference",
          [](Tree &t, nb::handle a, nb::handle b) { return pairwise(t, a, b, "start", "end", false); },
          nb::sig("def difference(self, start: " LIKE ", end: " LIKE ", /) -> " ARRAY),
          "The step from one q to another, all (..., dof).")
      .def("reach", tree_reach,
           nb::sig("def reach(self, link: str, lower: " LIKE ", upper: " LIKE
                   ", /) -> tuple[float, float, float, float]"),
           "Greatest distance of a link from its base, for a chain of revolute and prismatic joints, and the "
           "base.")
      .def(
          "core_cost",
          [](Tree &t, nb::handle q, nb::handle link, int repeats) {
            return core_cost(t, q, link, repeats, [] {
              return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
                  .count();
            });
          },
          nb::sig("def core_cost(self, q: " LIKE ", link: str, repeats: int, /) -> float"),
          "Nanoseconds a row that frame and Jacobian take in the core, on one thread; for benchmarks.");
}
