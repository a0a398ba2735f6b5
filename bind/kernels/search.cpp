// The search's templates, compiled for one instruction set.
#include "kernels/search.h"

#include "supple/search/search.h"

namespace supple {
inline namespace SUPPLE_ISA {

// many problems fill the widest lanes; one runs its first starts in fewer, since the first of all mostly
// arrives
using Wide = Pack<double, native_width>;
using Few = Pack < double, native_width<4 ? native_width : 4>;

// hands out pieces of memory, or only counts them
struct Room {
  char *at;
  std::size_t used = 0;
  template <class T>
  void take(T *&piece, std::size_t count) {
    if (at)
      piece = reinterpret_cast<T *>(at + used);
    used += (sizeof(T) * count + 63) / 64 * 64;
  }
};

template <class T>
static void lay_out(const Problem &problem, Room &room, SearchDesk<T> &d) {
  AimDesk<T> &a = d.aim;
  const int n = problem.n, m = problem.rows, size = m < n && problem.target_count == 1 ? m : n;
  int axes = 0, all = 0;
  for (int t = 0; t < problem.target_count; ++t)
    axes = problem.targets[t].chain.axes > axes ? problem.targets[t].chain.axes : axes,
    all += problem.targets[t].chain.axes;
  room.take(a.goals, 12 * problem.target_count);
  for (T **row : {&a.q, &a.next, &a.dq, &a.best})
    room.take(*row, n);
  room.take(a.axes, axes + 1);
  room.take(a.J, 6 * (all > n ? all : n));
  room.take(a.e, m), room.take(a.A, size * size), room.take(a.misses, problem.target_count);
  room.take(d.ends, Hunt::kept * n), room.take(d.row, n);
}

static std::size_t hunt_scratch(const Problem &problem, long long rows) {
  Room room{nullptr};
  SearchDesk<Wide> wide;
  SearchDesk<Few> few;
  int *hard = nullptr;
  lay_out(problem, room, wide);
  lay_out(problem, room, few);
  room.take(hard, std::size_t(rows));
  return room.used;
}

static Found hunt_one(const HuntJob &job, int wanted, int &count, void *scratch) {
  Room room{static_cast<char *>(scratch)};
  SearchDesk<Few> desk;
  lay_out(*job.problem, room, desk);
  return search_one(*job.problem, *job.search, job.stop, Ask{job.goals, job.starts, wanted}, desk, job.q,
                    count);
}

static void hunt_many(const HuntJob &job, long long begin, long long end, void *scratch) {
  Room room{static_cast<char *>(scratch)};
  SearchDesk<Wide> desk;
  SearchDesk<Few> few;
  int *hard = nullptr;
  lay_out(*job.problem, room, desk);
  lay_out(*job.problem, room, few);
  room.take(hard, std::size_t(end - begin));
  const int n = job.problem->n;
  search_many(
      *job.problem, *job.search, job.stop, end - begin, job.goals + begin * 12 * job.problem->target_count,
      job.starts ? job.starts + begin * n : nullptr, desk, few, hard, job.q + begin * n, job.found + begin);
}

static void hunt_sample(const Problem &problem, const Search &search, const Table &table, int count,
                        float *rows, void *scratch) {
  Room room{static_cast<char *>(scratch)};
  SearchDesk<Wide> desk;
  lay_out(problem, room, desk);
  sample_table(problem, search, table, count, desk.aim.q, desk.aim.axes, rows);
}

#define SUPPLE_TEXT(x) SUPPLE_QUOTE(x)
#define SUPPLE_QUOTE(x) #x
extern const Hunts hunt_table;
const Hunts hunt_table = {
    SUPPLE_TEXT(SUPPLE_ISA), native_width, hunt_scratch, hunt_one, hunt_many, hunt_sample, fill_table};

} // namespace SUPPLE_ISA
} // namespace supple
