// The search's templates, compiled for one instruction set.
#include "hunts.h"

#include "supple/search.h"

namespace supple {
inline namespace SUPPLE_ISA {

using Wide = Pack<double, native_width>;

// working memory, laid out in the caller's; returns its size in bytes
static std::size_t lay_out(const Problem &problem, long long rows, char *at, SearchDesk<Wide> *desk, int **hard) {
  std::size_t used = 0;
  auto take = [&](auto *&piece, std::size_t count) {
    if (at) piece = reinterpret_cast<std::remove_reference_t<decltype(piece)>>(at + used);
    used += (sizeof(*piece) * count + 63) / 64 * 64;
  };
  SearchDesk<Wide> none;
  int *nothing;
  SearchDesk<Wide> &d = desk ? *desk : none;
  AimDesk<Wide> &a = d.aim;
  const int n = problem.n, m = problem.rows, size = m < n && problem.target_count == 1 ? m : n;
  int axes = 0;
  for (int t = 0; t < problem.target_count; ++t) axes = problem.targets[t].chain.axes > axes ? problem.targets[t].chain.axes : axes;
  take(a.goals, 12 * problem.target_count);
  for (Wide **row : {&a.q, &a.next, &a.dq, &a.best}) take(*row, n);
  take(a.axes, axes + 1);
  take(a.J, (m > 6 ? m : 6) * n);
  take(a.e, m), take(a.A, size * size), take(a.misses, problem.target_count);
  take(d.ends, Hunt::kept * n), take(d.row, n);
  take(hard ? *hard : nothing, std::size_t(rows));
  return used;
}

static std::size_t hunt_scratch(const Problem &problem, long long rows) { return lay_out(problem, rows, nullptr, nullptr, nullptr); }

static Found hunt_one(const HuntJob &job, int wanted, int &count, void *scratch) {
  SearchDesk<Wide> desk;
  int *hard;
  lay_out(*job.problem, 0, static_cast<char *>(scratch), &desk, &hard);
  return search_one(*job.problem, *job.search, job.stop, Ask{job.goals, job.starts, wanted}, desk, job.q, count);
}

static void hunt_many(const HuntJob &job, long long begin, long long end, void *scratch) {
  SearchDesk<Wide> desk;
  int *hard;
  lay_out(*job.problem, end - begin, static_cast<char *>(scratch), &desk, &hard);
  const int n = job.problem->n;
  search_many(*job.problem, *job.search, job.stop, end - begin, job.goals + begin * 12 * job.problem->target_count, job.starts ? job.starts + begin * n : nullptr,
              desk, hard, job.q + begin * n, job.found + begin);
}

static void hunt_sample(const Problem &problem, const Search &search, const Table &table, int count, float *rows, void *scratch) {
  SearchDesk<Wide> desk;
  lay_out(problem, 0, static_cast<char *>(scratch), &desk, nullptr);
  sample_table(problem, search, table, count, desk.aim.q, desk.aim.axes, rows);
}

#define SUPPLE_TEXT(x) SUPPLE_QUOTE(x)
#define SUPPLE_QUOTE(x) #x
extern const Hunts hunt_table;
const Hunts hunt_table = {SUPPLE_TEXT(SUPPLE_ISA), native_width, hunt_scratch, hunt_one, hunt_many, hunt_sample, fill_table};

} // namespace SUPPLE_ISA
} // namespace supple
