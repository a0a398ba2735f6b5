// Forward kinematics, compiled for one instruction set: one row at a time, or one in each lane.
#include "kernels/forward.h"

#include "stream.h"
#include "supple/math/dense.h"
#include "supple/math/scratch.h"
#include "supple/task/jacobian.h"

namespace supple {
inline namespace SUPPLE_ISA {

// rows in memory to numbers in lanes, one by one; lanes without a row take the last
template <class T>
SUPPLE_FLAT void load(T *into, const double *rows, long long step, int lanes, const int *columns, int count) {
  for (int k = 0; k < count; ++k) {
    const int column = columns ? columns[k] : k;
    for (int lane = 0; lane < Lane<T>::width; ++lane)
      put(into[column], lane, rows[(lane < lanes ? lane : lanes - 1) * step + column]);
  }
}

// the same in blocks, for columns first to last, where memory goes on for another row
template <class T>
SUPPLE_FLAT void load_blocks(T *into, const double *rows, long long step, int first, int last) {
  constexpr int W = Lane<T>::width;
  for (int k = first; k <= last; k += W) {
    T tile[W];
    for (int lane = 0; lane < W; ++lane)
      std::memcpy(tile + lane, rows + lane * step + k, sizeof(T));
    if constexpr (W > 1)
      transpose(tile);
    for (int i = 0; i < W && k + i <= last; ++i)
      into[k + i] = tile[i];
  }
}

// numbers in lanes to rows in memory: in blocks where all lanes are wanted, else one by one
template <class T>
SUPPLE_FLAT void store(const T *from, int count, double *rows, long long step, int lanes) {
  constexpr int W = Lane<T>::width;
  const double *numbers = reinterpret_cast<const double *>(from);
  if constexpr (W > 1) {
    if (lanes == W && count >= W) {
      for (int k = 0; k < count; k += W) {
        if (k + W > count)
          k = count - W; // the last block goes over part of the one before it
        T tile[W];
        for (int i = 0; i < W; ++i)
          tile[i] = from[k + i];
        transpose(tile);
        for (int lane = 0; lane < W; ++lane)
          std::memcpy(rows + lane * step + k, tile + lane, sizeof(T));
      }
      return;
    }
  }
  for (int lane = 0; lane < lanes; ++lane)
    for (int k = 0; k < count; ++k)
      rows[lane * step + k] = numbers[k * W + lane];
}

template <class T>
SUPPLE_FLAT void store(const Frame<T> &f, double *rows, long long step, int lanes) {
  const T o(0.0), l(1.0);
  const T m[16] = {f.r.x.x, f.r.y.x, f.r.z.x, f.p.x, f.r.x.y, f.r.y.y, f.r.z.y, f.p.y,
                   f.r.x.z, f.r.y.z, f.r.z.z, f.p.z, o,       o,       o,       l};
  store(m, 16, rows, step, lanes);
}

template <class T>
SUPPLE_FLAT void store(const Columns<Vec<T>> &c, double *rows, long long step, int lanes) {
  store(Frame<T>{{c.x, c.y, c.z}, c.p}, rows, step, lanes);
}
SUPPLE_FLAT void store(const Columns<Pack<double, 4>> &c, double *rows, long long, int) {
  Pack<double, 4> tile[4] = {c.x, c.y, c.z, c.p};
  transpose(tile);
  std::memcpy(rows, tile, sizeof tile);
}

// manipulability of some rows and columns of J
template <class T>
SUPPLE_FLAT T manipulability_of(const ChainJob &job, const T *J, int dof) {
  const int m = job.row_count, n = job.column_count;
  if (m == 0 || n == 0)
    return T(0.0);
  T A[36] = {T(0.0)};
  const T *rows = J + job.first_row * dof;
  return manipulability<T>(m, n, [&](int i, int l) { return rows[i * dof + job.columns[l]]; }, A);
}

// The gradient by the joints of a function of the frame's entries, given by those: d(R) = w x R and d(p) = v
// for the twist (v, w) of each column of J.
template <class T>
SUPPLE_FLAT void frame_gradient(const ChainJob &job, long long row, int lanes, const Frame<T> &tip,
                                const T *J, int dof) {
  T g[16] = {T(0.0)};
  const double *given = job.of_frames + 16 * row;
  if (lanes == Lane<T>::width && lanes > 1)
    load_blocks(g, given, 16, 0, 15);
  else
    load(g, given, 16, lanes, nullptr, 16);
  const Vec<T> force{g[3], g[7], g[11]};
  const Vec<T> torque = cross(tip.r.x, Vec<T>{g[0], g[4], g[8]}) + cross(tip.r.y, Vec<T>{g[1], g[5], g[9]}) +
                        cross(tip.r.z, Vec<T>{g[2], g[6], g[10]});
  for (int k = 0; k < dof; ++k) {
    const T *j = J + k;
    const T sum = dot(force, Vec<T>{j[0], j[dof], j[2 * dof]}) +
                  dot(torque, Vec<T>{j[3 * dof], j[4 * dof], j[5 * dof]});
    store(&sum, 1, job.gradients + row * dof + k, dof, lanes);
  }
}

// of one chain; columns of J that no joint moves stay zero throughout
template <class T>
struct ChainScratch {
  T *q, *J;
  Axis<T> *axes;
};
template <class T>
void lay_out(ChainScratch<T> &s, ScratchLayout &layout, int dof, int axes) {
  layout.array(s.q, dof);
  layout.array(s.J, 6 * dof);
  layout.array(s.axes, axes + 1);
}
template <class T>
void clear_unmoved(const ChainJob &job, const ChainScratch<T> &scratch) {
  if (job.column_count < job.chain->dof)
    for (int i = 0; i < 6 * job.chain->dof; ++i)
      scratch.J[i] = T(0.0);
}

// rows of a chain in lanes; their frames and Jacobians go where `frames` and `jacobians` point, if anywhere.
// `more`: the memory of q goes on for as many rows again.
template <class T>
SUPPLE_FLAT void chain_rows(const ChainJob &job, long long row, int lanes, bool more,
                            const ChainScratch<T> &scratch, double *frames, double *jacobians) {
  const Chain &chain = *job.chain;
  const int dof = chain.dof;
  if (more && Lane<T>::width > 1 && job.column_count && dof >= Lane<T>::width / 2)
    load_blocks(scratch.q, job.q + row * dof, dof, job.columns[0], job.columns[job.column_count - 1]);
  else
    load(scratch.q, job.q + row * dof, dof, lanes, job.columns, job.column_count);
  const Columns<ColumnOf<T>> columns = traverse_chain(chain, scratch.q, scratch.axes);
  const Frame<T> tip = frame<T>(columns);
  if (frames)
    store(columns, frames, 16, lanes);
  if (!jacobians && !job.manipulability && !job.gradients)
    return;
  Vec<T> point = tip.p;
  if (job.point) {
    T p[3] = {T(0.0), T(0.0), T(0.0)};
    load(p, job.point + row * job.point_step, job.point_step, lanes, nullptr, 3);
    point = tip * load3(p);
  }
  geometric_jacobian(chain, scratch.axes, point, job.turned, tip.r, scratch.J);
  if (jacobians && Lane<T>::width > 1)
    store(scratch.J, 6 * dof, jacobians, 6 * dof, lanes);
  if (job.gradients)
    frame_gradient(job, row, lanes, tip, scratch.J, dof);
  if (job.manipulability) {
    const T v = manipulability_of(job, scratch.J, dof);
    store(&v, 1, job.manipulability + row, 1, lanes);
  }
}

template <class T>
struct TreeScratch {
  T *q;
  Frame<T> *world; // of each node
};
template <class T>
void lay_out(TreeScratch<T> &s, ScratchLayout &layout, int dof, int count) {
  layout.array(s.q, dof);
  layout.array(s.world, count);
}

template <class T>
void tree_rows(const TreeJob &job, long long row, int lanes, const TreeScratch<T> &scratch) {
  load(scratch.q, job.q + row * job.dof, job.dof, lanes, nullptr, job.dof);
  traverse<T>(job.nodes, job.count, scratch.q, scratch.world);
  const long long step = 16LL * job.tip_count;
  for (int i = 0; i < job.tip_count; ++i) {
    const Tip &tip = job.tips[i];
    const Frame<T> at = constant<T>(tip.rotation, tip.position);
    store(tip.node < 0 ? at : scratch.world[tip.node] * at, job.frames + row * step + 16 * i, step, lanes);
  }
}

using Wide = Pack<double, native_width>;

// nothing but a finite number is zero times itself
bool finite(const double *numbers, long long count) {
  Wide sum[4] = {Wide(0.0), Wide(0.0), Wide(0.0), Wide(0.0)};
  long long i = 0;
  for (; i + 4 * native_width <= count; i += 4 * native_width)
    for (int k = 0; k < 4; ++k) {
      Wide x;
      std::memcpy(&x, numbers + i + k * native_width, sizeof x);
      sum[k] = sum[k] + x * Wide(0.0);
    }
  double rest = 0;
  for (; i < count; ++i)
    rest += numbers[i] * 0.0;
  const Wide all_of_it = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  return rest == 0.0 && all(all_of_it == Wide(0.0));
}

// of rows of a chain in lanes, and a stage for rows that are written past the caches
struct ChainBatchScratch {
  double *frames, *jacobians;
  ChainScratch<Wide> chain;
};
void lay_out(ChainBatchScratch &s, ScratchLayout &layout, int dof, int axes) {
  layout.array(s.frames, 16 * native_width + 8);
  layout.array(s.jacobians, 6 * dof * native_width + 8);
  lay_out(s.chain, layout, dof, axes);
}

void one_chain(const ChainJob &job, void *block) {
  ChainScratch<double> scratch;
  ScratchLayout layout = ScratchLayout::place(block);
  lay_out(scratch, layout, job.chain->dof, job.chain->axes);
  if (job.jacobians)
    scratch.J = job.jacobians;
  clear_unmoved(job, scratch);
  chain_rows<double>(job, 0, 1, false, scratch, job.frames, job.jacobians);
}

void chain(const ChainJob &job, long long begin, long long end, void *block) {
  if (job.single)
    return one_chain(job, block);
  constexpr int W = native_width;
  const int size = 6 * job.chain->dof;
  ChainBatchScratch scratch;
  ScratchLayout layout = ScratchLayout::place(block);
  lay_out(scratch, layout, job.chain->dof, job.chain->axes);
  clear_unmoved(job, scratch.chain);
  Stream frames{job.frames ? job.frames + begin * 16 : nullptr, scratch.frames};
  Stream jacobians{job.jacobians ? job.jacobians + begin * size : nullptr, scratch.jacobians};
  // more than caches hold (8 MB) is written past them
  const bool streams = (end - begin) * (16LL * !!job.frames + (long long)(size) * !!job.jacobians) > 1 << 20;
  long long row = begin;
  for (; streams && row + W <= end; row += W) {
    chain_rows<Wide>(job, row, W, row + 2 * W <= end, scratch.chain, frames.to ? frames.place() : nullptr,
                     jacobians.to ? jacobians.place() : nullptr);
    if (frames.to)
      frames.append(16 * W);
    if (jacobians.to)
      jacobians.append(size * W);
  }
  if (frames.to)
    frames.finish();
  if (jacobians.to)
    jacobians.finish();
  for (; row < end; row += W)
    chain_rows<Wide>(job, row, int(end - row < W ? end - row : W), row + 2 * W <= end, scratch.chain,
                     job.frames ? job.frames + row * 16 : nullptr,
                     job.jacobians ? job.jacobians + row * size : nullptr);
}

template <class T>
TreeScratch<T> tree_scratch(const TreeJob &job, void *block) {
  TreeScratch<T> scratch;
  ScratchLayout layout = ScratchLayout::place(block);
  lay_out(scratch, layout, job.dof, job.count);
  return scratch;
}

void tree(const TreeJob &job, long long begin, long long end, void *block) {
  if (job.single)
    return tree_rows<double>(job, begin, 1, tree_scratch<double>(job, block));
  const TreeScratch<Wide> scratch = tree_scratch<Wide>(job, block);
  for (long long row = begin; row < end; row += native_width)
    tree_rows<Wide>(job, row, int(end - row < native_width ? end - row : native_width), scratch);
}

// the rotation vectors of some rows in lanes, from one column on; lanes without a row take the last
template <class T>
SUPPLE_FLAT Vec<T> load_vectors(const double *rows, int step, int lanes) {
  constexpr int W = Lane<T>::width;
  double v[3][W];
  for (int lane = 0; lane < W; ++lane)
    for (int i = 0; i < 3; ++i)
      v[i][lane] = rows[(lane < lanes ? lane : lanes - 1) * step + i];
  Vec<T> out;
  std::memcpy(&out.x, v[0], sizeof(T));
  std::memcpy(&out.y, v[1], sizeof(T));
  std::memcpy(&out.z, v[2], sizeof(T));
  return out;
}

template <class T>
void pair_rows(const PairJob &job, long long row, int lanes) {
  const double *first = job.first + row * job.dof, *second = job.second + row * job.dof;
  double *out = job.out + row * job.dof;
  const int count = lanes * job.dof;
  if (job.integrates)
    for (int i = 0; i < count; ++i)
      out[i] = first[i] + second[i];
  else
    for (int i = 0; i < count; ++i)
      out[i] = second[i] - first[i];
  for (int b = 0; b < job.ball_count; ++b) {
    const int column = job.balls[b];
    const Vec<T> p = load_vectors<T>(first + column, job.dof, lanes);
    const Vec<T> r = load_vectors<T>(second + column, job.dof, lanes);
    const Vec<T> found = job.integrates ? turned(p, r) : between(p, r);
    const T numbers[3] = {found.x, found.y, found.z};
    store(numbers, 3, out + column, job.dof, lanes);
  }
}

// single rows are in lanes too: a row has the same bits alone and among others
void pairs(const PairJob &job, long long begin, long long end) {
  for (long long row = begin; row < end; row += native_width)
    pair_rows<Wide>(job, row, int(end - row < native_width ? end - row : native_width));
}

// enough for any chain of a tree of that size, which has at most three axes a joint, and for the whole tree
std::size_t scratch(int count, int dof) {
  ChainBatchScratch batch;
  TreeScratch<Wide> whole;
  ScratchLayout chains = ScratchLayout::count(), trees = ScratchLayout::count();
  lay_out(batch, chains, dof, 3 * count);
  lay_out(whole, trees, dof, count);
  return chains.bytes() > trees.bytes() ? chains.bytes() : trees.bytes();
}

extern const ForwardKernels forward_kernels;
const ForwardKernels forward_kernels = {native_width, finite, scratch, chain, tree, pairs};

} // namespace SUPPLE_ISA
} // namespace supple
