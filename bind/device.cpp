// Set-up data as blocks of bytes for a device: of a compiled solver, of one link, of several links.
#include "search.h"
#include "supple/cuda/block.h"
#include "supple/cuda/general_search.h"

#include <cstddef>

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

// (single, double): an arm as its bytes in both precisions, or (None, None)
template <class Make>
nb::tuple arm_pair(int joint_count, Make make) {
  ArmBase<float> single_base;
  ArmBase<double> double_base;
  std::vector<ArmJoint<float>> single_joints(joint_count);
  std::vector<ArmJoint<double>> double_joints(joint_count);
  if (!make(single_base, single_joints.data()) || !make(double_base, double_joints.data()))
    return nb::make_tuple(nb::none(), nb::none());
  return nb::make_tuple(arm_bytes(single_base, single_joints), arm_bytes(double_base, double_joints));
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

// (block, single arm, double arm, sizes) of a compiled solver; sizes: (dof, n, targets, axes of the longest
// chain, scratch bytes of a thread, of a thread in a warp, and for each further answer)
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
  const nb::tuple arms =
      arm_pair(problem.n, [&](auto &base, auto *joints) { return make_arm(problem, search, base, joints); });
  using Warp = LaneGroup<double, 32>;
  const nb::tuple sizes =
      nb::make_tuple(block.dof, problem.n, problem.target_count, longest_chain(problem),
                     general_scratch_bytes<double>(problem, 1), general_scratch_bytes<Warp>(problem, 1));
  return nb::make_tuple(writer.finished(), arms[0], arms[1], sizes);
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

} // namespace

void bind_device(nb::module_ &m) {
  m.def(
      "solver_block", solver_block,
      nb::sig("def solver_block(solver: SearchSolver, /) -> "
              "tuple[bytes, bytes | None, bytes | None, tuple[int, int, int, int, int, int]]"),
      "A compiled solver for a device: its block, its arm in single and in double precision, or None, and "
      "(dof, "
      "values that goals need, goals, axes of the longest chain, scratch bytes of a thread, of a thread in a "
      "warp).");
  m.def(
      "chain_block", chain_block,
      nb::sig("def chain_block(tree: Tree, link: str, /) -> tuple[bytes, bytes | None, bytes | None, int]"),
      "One link for a device: its block, its arm in single and in double precision, or None, and its axes.");
  m.def("tree_block", tree_block,
        nb::sig("def tree_block(tree: Tree, links: list[str], /) -> tuple[bytes, int]"),
        "Some links for a device: their block, and the number of nodes of the tree.");
}
