// The tracker's templates, compiled for one instruction set.
#include "kernels/tracking.h"

#include "supple/tracking/tick.h"

namespace supple {
inline namespace SUPPLE_ISA {

// hands out pieces of the caller's memory, or only counts them
struct TickSpace {
  char *free;
  std::size_t used = 0;
  template <class T>
  T *take(long long n) {
    T *piece = reinterpret_cast<T *>(free + used);
    used += (sizeof(T) * n + 63) / 64 * 64;
    return piece;
  }
};

static std::size_t lay_out(const Tracking &t, void *memory, FollowDesk *desk, double **distance) {
  TickSpace space{static_cast<char *>(memory)};
  const int n = t.problem.n, m = t.problem.rows, targets = t.problem.target_count;
  int axes = 1;
  for (int i = 0; i < targets; ++i)
    axes += t.problem.targets[i].chain.axes;
  FollowDesk d;
  d.tick.axes = space.take<Axis<double>>(axes);
  d.tick.movers = space.take<Mover>(axes);
  d.tick.mover_count = space.take<int>(targets);
  d.tick.tips = space.take<Frame<double>>(targets);
  for (double **p : {&d.tick.J, &d.tick.U})
    *p = space.take<double>(n * m);
  for (double **p : {&d.tick.G, &d.tick.H, &d.tick.A, &d.tick.Z, &d.tick.M, &d.tick.F, &d.tick.box.A})
    *p = space.take<double>(n * n);
  for (double **p : {&d.tick.e, &d.tick.r, &d.tick.c, &d.tick.b, &d.tick.k})
    *p = space.take<double>(m);
  for (double **p : {&d.tick.back, &d.tick.ahead, &d.tick.way_home, &d.tick.rest, &d.tick.low, &d.tick.high,
                     &d.tick.x, &d.tick.wanted, &d.tick.xb, &d.tick.xf, &d.tick.xn, &d.tick.pace, &d.tick.d,
                     &d.tick.gamma, &d.tick.full, &d.tick.climb, &d.tick.box.p})
    *p = space.take<double>((n + 7) / 8 * 8);
  d.tick.order = space.take<int>(n);
  d.tick.box.free = space.take<int>(n);
  d.tick.null = space.take<char>(n);
  d.tick.box.side = space.take<signed char>(n);
  const int big = (m > n ? m : n) + 4;
  HomeDesk &h = d.tick.home;
  h.goals = space.take<double>(12 * targets);
  h.J = space.take<double>(m * n);
  h.full = space.take<double>(6 * n);
  for (double **p : {&h.A, &h.V})
    *p = space.take<double>(big * big);
  for (double **p : {&h.e, &h.b, &h.c, &h.free, &h.v, &h.dq})
    *p = space.take<double>(big);
  for (double **p : {&h.distance, &h.angle})
    *p = space.take<double>(targets);
  h.order = space.take<int>(big);
  h.tips = space.take<Frame<double>>(targets);
  h.axes = space.take<Axis<double>>(axes);
  d.wanted = space.take<Wanted>(targets);
  double *spare = space.take<double>(2 * targets);
  if (desk)
    *desk = d, *distance = spare;
  return space.used;
}

static std::size_t tick_scratch(const Tracking &t) { return lay_out(t, nullptr, nullptr, nullptr); }
static long long tick_memory(const Tracking &t) { return arm_memory(t, nullptr, nullptr); }
static void tick_begin(const Tracking &t, double *memory, const double *q) {
  ArmMemory arm;
  arm_memory(t, memory, &arm);
  begin(t, arm, q);
}

static const double *tick_values(const Tracking &t, double *memory) {
  ArmMemory arm;
  arm_memory(t, memory, &arm);
  return arm.law.q;
}

template <int N, int M>
static void tick_rows(const TickJob &job, long long first, long long last, void *scratch) {
  const Tracking &t = *job.tracking;
  const int n = t.problem.n, targets = t.problem.target_count;
  FollowDesk desk;
  double *spare;
  lay_out(t, scratch, &desk, &spare);
  const long long memory = arm_memory(t, nullptr, nullptr), size = told_size(n, targets);
  for (long long row = first; row < last; ++row) {
    ArmMemory arm;
    arm_memory(t, job.memory + row * memory, &arm);
    double *told_row = job.told + row * size, *error = told_row + 4 * n, *goal = error + 6 * targets,
           *numbers = goal + 12 * targets;
    Told told{};
    told.tick.weights = told_row + 2 * n;
    told.tick.sides = told_row + 3 * n;
    told.error = error;
    told.distance = spare;
    told.angle = spare + targets;
    double goal_of_frame[12];
    if (job.frames) {
      const double *from = job.frames + row * 16;
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j)
          goal_of_frame[3 * i + j] = from[4 * i + j];
        goal_of_frame[9 + i] = from[4 * i + 3];
      }
    }
    const Order order{job.frames  ? goal_of_frame
                      : job.goals ? job.goals + row * 12 * targets
                                  : nullptr,
                      job.twists ? job.twists + row * 6 * targets : nullptr,
                      job.measured ? job.measured + row * n : nullptr,
                      job.stamps != nullptr,
                      job.stamps ? job.stamps[row] : 0,
                      job.dt,
                      job.steering};
    follow<N, M>(t, job.options, job.near, arm, order, desk, told);
    for (int i = 0; i < n; ++i)
      told_row[i] = arm.law.q[i], told_row[n + i] = arm.law.velocity[i] * t.size[i];
    if (told.state == at_rest)
      std::memset(goal, 0, 96 * targets);
    else
      for (int k = 0; k < targets; ++k)
        std::memcpy(goal + 12 * k, desk.wanted[k].goal, 96);
    numbers[told_state] = told.state, numbers[told_damping] = told.tick.damping,
    numbers[told_least] = told.tick.least;
    numbers[told_fold] = told.tick.fold;
    numbers[told_weak] = told.tick.weak;
    numbers[told_bounded] = told.tick.bounded;
    numbers[told_quick] = told.tick.quick;
    numbers[told_lag] = told.lag;
    numbers[told_reducible] = told.tick.reducible;
    numbers[told_target] = told.tick.target;
    for (int i = 0; i < 6; ++i)
      numbers[told_way + i] = told.tick.way[i];
  }
}

static void tick(const TickJob &job, long long first, long long last, void *scratch) {
  const Problem &p = job.tracking->problem;
  if (p.rows == 6 && job.tracking->plain) {
    if (p.n == 5)
      return tick_rows<5, 6>(job, first, last, scratch);
    if (p.n == 6)
      return tick_rows<6, 6>(job, first, last, scratch);
    if (p.n == 7)
      return tick_rows<7, 6>(job, first, last, scratch);
  }
  tick_rows<0, 0>(job, first, last, scratch);
}

#define SUPPLE_TEXT(x) SUPPLE_QUOTE(x)
#define SUPPLE_QUOTE(x) #x
extern const Ticks tick_table;
const Ticks tick_table = {SUPPLE_TEXT(SUPPLE_ISA), tick_memory, tick_scratch, tick_begin, tick_values, tick};

} // namespace SUPPLE_ISA
} // namespace supple
