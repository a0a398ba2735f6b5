// Set-up data as blocks of bytes for a device: of a compiled solver, of one link, of several links.
#include "search.h"
#include "supple/cuda/block.h"
#include "supple/cuda/general_search.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#if !defined(_WIN32)
#include <unistd.h>
#endif
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace {

// A block while it is written: bytes, and where its pointers are.
class BlockWriter {
public:
  // `count` values at the end, aligned; their offset
  template <class T>
  std::size_t append(const T *values, std::size_t count) {
    bytes.resize((bytes.size() + 15) / 16 * 16);
    const std::size_t at = bytes.size();
    bytes.resize(at + sizeof(T) * count);
    if (count)
      std::memcpy(bytes.data() + at, values, sizeof(T) * count);
    return at;
  }
  // the pointer at a place becomes the offset of what it points to
  void point(std::size_t place, std::size_t to) {
    const long long offset = (long long)(to);
    std::memcpy(bytes.data() + place, &offset, sizeof offset);
    pointers.push_back((long long)(place));
  }
  // values that a pointer in a struct at `place` points to
  template <class T>
  std::size_t append_to(std::size_t place, const T *values, std::size_t count) {
    const std::size_t at = append(values, count);
    point(place, at);
    return at;
  }
  nb::bytes finished() {
    BlockHeader header{};
    header.pointer_count = (long long)(pointers.size());
    header.pointers = (long long)(append(pointers.data(), pointers.size()));
    header.bytes = (long long)(bytes.size());
    std::memcpy(bytes.data(), &header, sizeof header);
    return nb::bytes(bytes.data(), bytes.size());
  }

private:
  std::vector<char> bytes;
  std::vector<long long> pointers;
};

template <class S>
nb::object arm_bytes(const ArmBase<S> &base, const std::vector<ArmJoint<S>> &joints) {
  const std::size_t size = sizeof base, more = sizeof(ArmJoint<S>) * joints.size();
  std::vector<char> bytes(size + more);
  std::memcpy(bytes.data(), &base, size);
  std::memcpy(bytes.data() + size, joints.data(), more);
  return nb::bytes(bytes.data(), bytes.size());
}

// (single, double, kind of its goal): an arm as its bytes in both precisions, or (None, None, 0)
template <class Make>
nb::tuple arm_pair(int joint_count, Make make) {
  ArmBase<float> single_base;
  ArmBase<double> double_base;
  std::vector<ArmJoint<float>> single_joints(joint_count);
  std::vector<ArmJoint<double>> double_joints(joint_count);
  if (!make(single_base, single_joints.data()) || !make(double_base, double_joints.data()))
    return nb::make_tuple(nb::none(), nb::none(), 0);
  return nb::make_tuple(arm_bytes(single_base, single_joints), arm_bytes(double_base, double_joints),
                        single_base.goal);
}

void append_targets(const Problem &problem, std::size_t place, BlockWriter &writer) {
  const std::size_t targets = writer.append_to(place, problem.targets, problem.target_count);
  for (int t = 0; t < problem.target_count; ++t) {
    const Target &target = problem.targets[t];
    const std::size_t at = targets + sizeof(Target) * t;
    writer.append_to(at + offsetof(Target, chain) + offsetof(Chain, joints), target.chain.joints,
                     target.chain.count);
    writer.append_to(at + offsetof(Target, masses) + offsetof(MassTree, nodes), target.masses.nodes,
                     target.masses.count);
  }
}

void append_search(const Problem &problem, const Search &search, std::size_t place, BlockWriter &writer) {
  const int n = problem.n, columns = search.column_begin[problem.target_count];
  int axes = 0;
  for (int t = 0; t < problem.target_count; ++t)
    axes += problem.targets[t].chain.axes;
  writer.append_to(place + offsetof(Search, joints), search.joints, n);
  if (search.near_joints)
    writer.append_to(place + offsetof(Search, near_joints), search.near_joints, n);
  writer.append_to(place + offsetof(Search, columns), search.columns, columns);
  writer.append_to(place + offsetof(Search, column_begin), search.column_begin, problem.target_count + 1);
  writer.append_to(place + offsetof(Search, axis_column), search.axis_column, axes);
  if (!search.has_table)
    return;
  const Table &table = search.table;
  const std::size_t cells = cell_count(table), at = place + offsetof(Search, table);
  writer.append_to(at + offsetof(Table, samples), table.samples, cells * table.fields * Table::cell_samples);
  writer.append_to(at + offsetof(Table, counts), table.counts, cells);
}

int longest_chain(const Problem &problem) {
  int longest = 0;
  for (int t = 0; t < problem.target_count; ++t)
    longest = std::max<int>(longest, problem.targets[t].chain.axes);
  return longest;
}

// (block, single arm, double arm, kind of goal, sizes) of a compiled solver; sizes: (dof, n, targets, axes of
// the longest chain, scratch bytes of a thread, of a thread in a warp, and for each further solution)
nb::tuple solver_block(const SearchSolver &solver) {
  const Problem &problem = solver.encoded.problem;
  const Search &search = solver.search;
  SolverBlock block{};
  block.problem = problem;
  block.search = search;
  block.dof = solver.encoded.dof;
  block.other_count = int(solver.others.size());
  block.other_ball_count = int(solver.other_balls.size());
  BlockWriter writer;
  writer.append(&block, 1);
  const std::size_t in_problem = offsetof(SolverBlock, problem);
  append_targets(problem, in_problem + offsetof(Problem, targets), writer);
  writer.append_to(in_problem + offsetof(Problem, lower), problem.lower, problem.n);
  writer.append_to(in_problem + offsetof(Problem, upper), problem.upper, problem.n);
  writer.append_to(in_problem + offsetof(Problem, balls), problem.balls, problem.ball_count);
  append_search(problem, search, offsetof(SolverBlock, search), writer);
  writer.append_to(offsetof(SolverBlock, columns), solver.encoded.columns.data(), problem.n);
  writer.append_to(offsetof(SolverBlock, rest), solver.rest.data(), block.dof);
  writer.append_to(offsetof(SolverBlock, others), solver.others.data(), solver.others.size());
  writer.append_to(offsetof(SolverBlock, other_balls), solver.other_balls.data(), solver.other_balls.size());
  const nb::tuple arms = arm_pair(problem.n, [&](auto &base, auto *joints) {
    return make_arm(problem, search, solver.encoded.columns.data(), base, joints);
  });
  using Warp = LaneGroup<double, 32>;
  const nb::tuple sizes =
      nb::make_tuple(block.dof, problem.n, problem.target_count, longest_chain(problem),
                     general_scratch_bytes<double>(problem, 1), general_scratch_bytes<Warp>(problem, 1));
  return nb::make_tuple(writer.finished(), arms[0], arms[1], arms[2], sizes);
}

// (block, single arm, double arm, axes) of one link
nb::tuple chain_block(Tree &tree, nb::handle link) {
  const Path &path = tree.path(tree.place(link));
  ChainBlock block{};
  block.chain = path.chain;
  BlockWriter writer;
  writer.append(&block, 1);
  writer.append_to(offsetof(ChainBlock, chain) + offsetof(Chain, joints), path.chain.joints,
                   path.chain.count);
  const nb::tuple arms = arm_pair(path.chain.count, [&](auto &base, auto *joints) {
    return make_arm(path.chain, static_cast<const SearchJoint *>(nullptr), base, joints);
  });
  return nb::make_tuple(writer.finished(), arms[0], arms[1], path.chain.axes);
}

// (block, nodes) of the links of a tree, or of some
nb::tuple tree_block(Tree &tree, nb::handle links) {
  const Fields names(links, "links");
  std::vector<Tip> tips;
  for (Py_ssize_t i = 0; i < names.size(); ++i)
    tips.push_back(tree.tips[tree.place(names[i])]);
  TreeBlock block{{}, nullptr, nullptr, int(tree.nodes.size()), int(tips.size()), tree.dof};
  BlockWriter writer;
  writer.append(&block, 1);
  writer.append_to(offsetof(TreeBlock, nodes), tree.nodes.data(), tree.nodes.size());
  writer.append_to(offsetof(TreeBlock, tips), tips.data(), tips.size());
  return nb::make_tuple(writer.finished(), int(tree.nodes.size()));
}

// ---- Copies of rows ----

// Threads that wait for pieces of copies: to start them anew takes as long as a copy of megabytes. They are
// never ended; a process that was forked begins with new ones.
class CopyThreads {
public:
  static CopyThreads &get() {
    static std::mutex making;
    static CopyThreads *made = nullptr;
    static long owner = 0;
    const std::lock_guard<std::mutex> held(making);
    if (!made || owner != process_id()) {
      made = new CopyThreads;
      owner = process_id();
    }
    return *made;
  }

  // Calls work(begin, end), which does not throw, for pieces of 0..n of at least `grain`.
  template <class F>
  void run(long long n, long long grain, F work) {
    const long long most = n / grain < 1 ? 1 : n / grain;
    const int pieces = int(most < count + 1 ? most : count + 1);
    int left = pieces - 1;
    std::condition_variable all_done;
    auto piece = [&](int k) { work(n * k / pieces, n * (k + 1) / pieces); };
    {
      const std::lock_guard<std::mutex> held(mutex);
      for (int k = 1; k < pieces; ++k)
        tasks.push_back([&, k] {
          piece(k);
          const std::lock_guard<std::mutex> counting(mutex);
          if (--left == 0)
            all_done.notify_one();
        });
    }
    wake.notify_all();
    piece(0);
    std::unique_lock<std::mutex> held(mutex);
    while (left && !tasks.empty()) { // help: others may be busy
      const std::function<void()> task = std::move(tasks.front());
      tasks.pop_front();
      held.unlock();
      task();
      held.lock();
    }
    all_done.wait(held, [&] { return left == 0; });
  }

private:
  static constexpr int most_threads = 15;
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::function<void()>> tasks;
  int count = 0;

  static long process_id() {
#if defined(_WIN32)
    return 0; // it does not fork
#else
    return long(getpid());
#endif
  }
  CopyThreads() {
    const int wanted = thread_count() - 1 < most_threads ? thread_count() - 1 : most_threads;
    try {
      for (; count < wanted; ++count)
        std::thread([this] { serve(); }).detach();
    } catch (...) { // no more threads: there are fewer
    }
  }
  [[noreturn]] void serve() {
    std::unique_lock<std::mutex> held(mutex);
    for (;;) {
      wake.wait(held, [&] { return !tasks.empty(); });
      const std::function<void()> task = std::move(tasks.front());
      tasks.pop_front();
      held.unlock();
      task();
      held.lock();
    }
  }
};

// Copies bytes past the caches, where that is possible: what is copied is not read soon.
void stream_bytes(char *to, const char *from, std::size_t size) {
#if defined(__SSE2__)
  if (reinterpret_cast<std::uintptr_t>(to) % 16 == 0)
    for (; size >= 16; size -= 16, to += 16, from += 16)
      _mm_stream_si128(reinterpret_cast<__m128i *>(to),
                       _mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
#endif
  if (size)
    std::memcpy(to, from, size);
}

// whether an array is one piece of memory from an axis on
bool is_contiguous(PyArrayObject *array, int first_axis) {
  npy_intp expected = PyArray_ITEMSIZE(array);
  for (int i = PyArray_NDIM(array); i-- > first_axis;) {
    if (PyArray_DIM(array, i) != 1 && PyArray_STRIDE(array, i) != expected)
      return false;
    expected *= PyArray_DIM(array, i);
  }
  return true;
}

// Copies the rows of `source` to `target`, with several threads; int32 becomes int64 where the target is.
void copy_rows(nb::handle target_given, nb::handle source_given) {
  if (!PyArray_Check(target_given.ptr()) || !PyArray_Check(source_given.ptr()))
    bad_input("target and source must be arrays of NumPy");
  auto *target = reinterpret_cast<PyArrayObject *>(target_given.ptr());
  auto *source = reinterpret_cast<PyArrayObject *>(source_given.ptr());
  const int type = PyArray_TYPE(target), axes = PyArray_NDIM(target);
  const bool widens = type == NPY_INT64 && PyArray_TYPE(source) == NPY_INT32;
  const bool same = axes > 0 && axes == PyArray_NDIM(source) &&
                    PyArray_CompareLists(PyArray_DIMS(target), PyArray_DIMS(source), axes);
  const bool numbers_only = PyTypeNum_ISNUMBER(type) || PyTypeNum_ISBOOL(type);
  if (!same || !numbers_only || !(widens || type == PyArray_TYPE(source)) || !PyArray_ISNOTSWAPPED(source))
    bad_input("target and source must have one shape and one type, of numbers");
  if (!PyArray_ISCARRAY(target) || !is_contiguous(source, widens ? 0 : 1) || !PyArray_ISALIGNED(source))
    bad_input("target must be contiguous and writable, and each row of source contiguous");
  if (share_memory(target, source))
    bad_input("target and source must not share memory");
  const long long rows = (long long)(PyArray_DIM(target, 0));
  const long long numbers = rows ? (long long)(PyArray_SIZE(target)) / rows : 0;
  const std::size_t row_bytes = std::size_t(numbers) * std::size_t(PyArray_ITEMSIZE(target));
  const std::int64_t stride = PyArray_STRIDE(source, 0);
  char *to = PyArray_BYTES(target);
  const char *from = PyArray_BYTES(source);
  const long long grain = (long long)(1 + (std::size_t(1) << 20) / (row_bytes + 1));
  nb::gil_scoped_release released;
  CopyThreads::get().run(rows, grain, [&](long long begin, long long end) {
    if (widens) {
      const auto *narrow = reinterpret_cast<const std::int32_t *>(from) + begin * numbers;
      auto *wide = reinterpret_cast<std::int64_t *>(to) + begin * numbers;
      for (long long i = 0; i < (end - begin) * numbers; ++i)
        wide[i] = narrow[i];
    } else if (stride == std::int64_t(row_bytes)) {
      stream_bytes(to + begin * stride, from + begin * stride, std::size_t(end - begin) * row_bytes);
    } else {
      for (long long i = begin; i < end; ++i)
        stream_bytes(to + i * std::int64_t(row_bytes), from + i * stride, row_bytes);
    }
#if defined(__SSE2__)
    _mm_sfence(); // before others read it
#endif
  });
}

} // namespace

void bind_device(nb::module_ &m) {
  m.def("solver_block", solver_block,
        nb::sig("def solver_block(solver: SearchSolver, /) -> "
                "tuple[bytes, bytes | None, bytes | None, int, tuple[int, int, int, int, int, int]]"),
        "A compiled solver for a device: its block, its arm in single and in double precision, or None, the "
        "kind of its goal, and (dof, values that goals need, goals, axes of the longest chain, scratch bytes "
        "of "
        "a thread, of a thread in a warp).");
  m.def(
      "chain_block", chain_block,
      nb::sig("def chain_block(tree: Tree, link: str, /) -> tuple[bytes, bytes | None, bytes | None, int]"),
      "One link for a device: its block, its arm in single and in double precision, or None, and its axes.");
  m.def("tree_block", tree_block,
        nb::sig("def tree_block(tree: Tree, links: list[str], /) -> tuple[bytes, int]"),
        "Some links for a device: their block, and the number of nodes of the tree.");
  m.def("copy_rows", copy_rows, nb::arg("target"), nb::arg("source"),
        nb::sig("def copy_rows(target: object, source: object) -> None"),
        "Copies rows of one array of the host to another, with several threads.");
}
