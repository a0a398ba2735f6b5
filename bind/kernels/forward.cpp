// The core's templates, compiled for one instruction set: one row at a time, or one row in each lane.
#include "dispatch.h"
#include "stream.h"
#include "supple/local/iterate.h"

namespace supple {
inline namespace SUPPLE_ISA {

// hands out pieces of the caller's memory
struct Desk {
  char *free;
  template <class T>
  SUPPLE_FLAT T *take(int n) {
    T *piece = reinterpret_cast<T *>(free);
    free += (sizeof(T) * n + 63) / 64 * 64;
    return piece;
  }
};

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

// the product of the singular values of some rows of J: of J J', or of J'J where there are fewer columns than
// rows
template <class T>
SUPPLE_FLAT T volume(const ChainJob &job, const T *J, int dof) {
  const int m = job.row_count, n = job.column_count, k = m < n ? m : n;
  if (k == 0)
    return T(0.0);
  T a[36] = {T(0.0)};
  for (int i = 0; i < k; ++i)
    for (int j = 0; j <= i; ++j) {
      T sum(0.0);
      for (int l = 0; l < (m < n ? n : m); ++l) {
        const T *row = J + job.first_row * dof;
        sum = sum + (m < n ? row[i * dof + job.columns[l]] * row[j * dof + job.columns[l]]
                           : row[l * dof + job.columns[i]] * row[l * dof + job.columns[j]]);
      }
      a[i * k + j] = sum;
    }
  factor(a, k);
  return root(determinant(a, k));
}

// working memory of a chain: joint values, axes and Jacobian; columns that nothing moves stay zero throughout
template <class T>
struct ChainDesk {
  T *q, *J;
  Axis<T> *axes;
  ChainDesk(const ChainJob &job, Desk desk, T *place_of_J)
      : q(desk.take<T>(job.chain->dof)), J(place_of_J ? place_of_J : desk.take<T>(6 * job.chain->dof)),
        axes(desk.take<Axis<T>>(job.chain->axes + 1)) {
    if (job.column_count < job.chain->dof)
      for (int i = 0; i < 6 * job.chain->dof; ++i)
        J[i] = T(0.0);
  }
};

// rows of a chain in lanes; their frames and Jacobians go where `frames` and `jacobians` point, if anywhere.
// `more`: the memory of q goes on for as many rows again.
template <class T>
SUPPLE_FLAT void chain_rows(const ChainJob &job, long long row, int lanes, bool more,
                            const ChainDesk<T> &desk, double *frames, double *jacobians) {
  const Chain &chain = *job.chain;
  const int dof = chain.dof;
  if (more && Lane<T>::width > 1 && job.column_count && dof >= Lane<T>::width / 2)
    load_blocks(desk.q, job.q + row * dof, dof, job.columns[0], job.columns[job.column_count - 1]);
  else
    load(desk.q, job.q + row * dof, dof, lanes, job.columns, job.column_count);
  const Columns<ColumnOf<T>> columns = traverse_chain(chain, desk.q, desk.axes);
  const Frame<T> tip = frame<T>(columns);
  if (frames)
    store(columns, frames, 16, lanes);
  if (!jacobians && !job.manipulability)
    return;
  Vec<T> point = tip.p;
  if (job.point) {
    T p[3] = {T(0.0), T(0.0), T(0.0)};
    load(p, job.point + row * job.point_step, job.point_step, lanes, nullptr, 3);
    point = tip * Vec<T>{p[0], p[1], p[2]};
  }
  geometric_jacobian(chain, desk.axes, point, job.turned, tip.r, desk.J);
  if (jacobians && Lane<T>::width > 1)
    store(desk.J, 6 * dof, jacobians, 6 * dof, lanes);
  if (job.manipulability) {
    const T v = volume(job, desk.J, dof);
    store(&v, 1, job.manipulability + row, 1, lanes);
  }
}

template <class T>
void tree_rows(const TreeJob &job, long long row, int lanes, Desk desk) {
  T *q = desk.take<T>(job.dof);
  Frame<T> *world = desk.take<Frame<T>>(job.count);
  load(q, job.q + row * job.dof, job.dof, lanes, nullptr, job.dof);
  traverse<T>(job.nodes, job.count, q, world);
  const long long step = 16LL * job.tip_count;
  for (int i = 0; i < job.tip_count; ++i) {
    const Tip &tip = job.tips[i];
    const Frame<T> at = constant<T>(tip.rotation, tip.position);
    store(tip.node < 0 ? at : world[tip.node] * at, job.frames + row * step + 16 * i, step, lanes);
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

void chain(const ChainJob &job, long long begin, long long end, void *scratch) {
  Desk desk{static_cast<char *>(scratch)};
  const int size = 6 * job.chain->dof;
  if (job.single) {
    double *J = job.jacobians;
    return chain_rows<double>(job, 0, 1, false, ChainDesk<double>(job, desk, J), job.frames, J);
  }
  constexpr int W = native_width;
  Stream frames{job.frames ? job.frames + begin * 16 : nullptr, desk.take<double>(16 * W + 8)};
  Stream jacobians{job.jacobians ? job.jacobians + begin * size : nullptr, desk.take<double>(size * W + 8)};
  const ChainDesk<Wide> wide(job, desk, nullptr);
  // more than caches hold (8 MB) is written past them
  const bool streams = (end - begin) * (16LL * !!job.frames + (long long)(size) * !!job.jacobians) > 1 << 20;
  long long row = begin;
  for (; streams && row + W <= end; row += W) {
    chain_rows<Wide>(job, row, W, row + 2 * W <= end, wide, frames.to ? frames.place() : nullptr,
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
    chain_rows<Wide>(job, row, int(end - row < W ? end - row : W), row + 2 * W <= end, wide,
                     job.frames ? job.frames + row * 16 : nullptr,
                     job.jacobians ? job.jacobians + row * size : nullptr);
}

void tree(const TreeJob &job, long long begin, long long end, void *scratch) {
  const Desk desk{static_cast<char *>(scratch)};
  if (job.single)
    return tree_rows<double>(job, begin, 1, desk);
  for (long long row = begin; row < end; row += native_width)
    tree_rows<Wide>(job, row, int(end - row < native_width ? end - row : native_width), desk);
}

// a chain needs six numbers an axis, at most three axes a joint; a tree needs twelve a joint
std::size_t scratch(int count, int dof) {
  return sizeof(Wide) * (18 * std::size_t(count) + 13 * std::size_t(dof) + 24) + 8 * 64;
}

// room for the axes of any chain that a damping scheme looks at
int damper_axes(const Method &method) {
  int most = 0;
  for (int i = 0; i < method.damper_count; ++i)
    for (const Chain &chain : {method.dampers[i].carrier, method.dampers[i].axis_of})
      most = chain.axes > most ? chain.axes : most;
  return most + 1;
}

// working memory of a solve, laid out in the caller's
SolveScratch solve_desk(const Problem &problem, const Method *method, void *scratch) {
  Desk desk{static_cast<char *>(scratch)};
  const int m = problem.rows, n = problem.n, t = problem.target_count,
            size = m > n ? (m > 4 ? m : 4) : (n > 4 ? n : 4);
  int axes = 1;
  for (int i = 0; i < t; ++i)
    axes += problem.targets[i].chain.axes;
  SolveScratch all;
  all.evaluation = {desk.take<double>(m),        desk.take<double>(m * n),      desk.take<double>(6 * n),
                    desk.take<Frame<double>>(t), desk.take<Axis<double>>(axes), desk.take<double>(t),
                    desk.take<double>(t)};
  all.step = {desk.take<double>(size * size), desk.take<double>(size * size), desk.take<double>(size),
              desk.take<double>(size),        desk.take<double>(size),        desk.take<int>(size)};
  for (double **row : {&all.q, &all.next, &all.best, &all.dq, &all.v, &all.spare, &all.recent})
    *row = desk.take<double>(n);
  all.after = desk.take<Frame<double>>(t);
  if (method) {
    all.damp = {
        desk.take<double>(n), desk.take<double>(m * n), all.step.A,
        all.step.V,           desk.take<double>(size),  desk.take<Axis<double>>(damper_axes(*method))};
    all.memory = desk.take<double>(method->memory_size);
  }
  return all;
}

std::size_t solve_scratch(const Problem &problem, const Method &method) {
  const std::size_t m = problem.rows, n = problem.n, t = problem.target_count, size = (m > n ? m : n) + 4;
  std::size_t axes = 1;
  for (std::size_t i = 0; i < t; ++i)
    axes += problem.targets[i].chain.axes;
  const std::size_t damping = n + m * n + size + 6 * damper_axes(method) + method.memory_size;
  return 8 * (m + m * n + 6 * n + 26 * t + 6 * axes + 2 * size * size + 4 * size + 7 * n + damping) + 64 * 30;
}

void solve_rows(const SolveJob &job, long long begin, long long end, void *scratch) {
  const SolveScratch desk = solve_desk(*job.problem, job.method, scratch);
  const int n = job.problem->n;
  for (long long row = begin; row < end; ++row) {
    job.reports[row] = solve(*job.problem, *job.method, job.stop,
                             job.goals + row * 12 * job.problem->target_count, job.start + row * n, desk);
    for (int l = 0; l < n; ++l)
      job.q[row * n + l] = desk.best[l];
  }
}

void refine_rows(const SolveJob &job, long long begin, long long end, void *scratch) {
  const SolveScratch desk = solve_desk(*job.problem, job.method, scratch);
  const int n = job.problem->n;
  for (long long row = begin; row < end; ++row) {
    for (int l = 0; l < n; ++l)
      desk.recent[l] = 0;
    desk.memory[0] = 0;
    refine(*job.problem, *job.method, job.stop, job.goals + row * 12 * job.problem->target_count,
           job.start + row * n, desk);
    for (int l = 0; l < n; ++l)
      job.q[row * n + l] = desk.best[l];
  }
}

bool step_once(const Problem &problem, const Method &method, const double *goals, const double *q, double *dq,
               void *scratch) {
  const SolveScratch desk = solve_desk(problem, &method, scratch);
  for (int l = 0; l < problem.n; ++l)
    desk.recent[l] = 0;
  desk.memory[0] = 0;
  return one_step(problem, method, goals, q, desk, dq);
}

void tick_once(const DampJob &job, void *scratch) {
  const SolveScratch desk = solve_desk(*job.problem, job.method, scratch);
  damped_tick(*job.problem, *job.method, job.goals, job.q, job.dt, job.memory, desk, job.dq, job.alpha,
              job.weights, job.row_weights);
}

void look_once(const Problem &problem, const double *q, const double *goals, bool pull, double *e, double *J,
               double *distance, double *angle, void *scratch) {
  const SolveScratch desk = solve_desk(problem, nullptr, scratch);
  Evaluation evaluation = desk.evaluation;
  evaluation.e = e;
  evaluation.J = J;
  evaluation.distance = distance;
  evaluation.angle = angle;
  evaluate(problem, q, goals, pull, evaluation);
}

#define SUPPLE_TEXT(x) SUPPLE_QUOTE(x)
#define SUPPLE_QUOTE(x) #x
extern const Kernels table;
const Kernels table = {SUPPLE_TEXT(SUPPLE_ISA), native_width, finite,      scratch,   chain,     tree,
                       solve_scratch,           solve_rows,   refine_rows, step_once, tick_once, look_once};

} // namespace SUPPLE_ISA
} // namespace supple
