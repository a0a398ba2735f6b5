// Local methods, compiled for one instruction set: one row at a time.
#include "kernels/local.h"

#include "supple/local/iterate.h"

namespace supple {
inline namespace SUPPLE_ISA {

static std::size_t solve_scratch(const Problem &problem, const Method &method) {
  SolveScratch scratch{};
  ScratchLayout layout = ScratchLayout::count();
  lay_out(scratch, layout, problem, &method);
  return layout.bytes();
}

static SolveScratch place_scratch(const Problem &problem, const Method *method, void *block) {
  SolveScratch scratch{};
  ScratchLayout layout = ScratchLayout::place(block);
  lay_out(scratch, layout, problem, method);
  return scratch;
}

static void solve_rows(const SolveJob &job, long long begin, long long end, void *block) {
  const SolveScratch scratch = place_scratch(*job.problem, job.method, block);
  const int n = job.problem->n, goal_size = 12 * job.problem->target_count;
  for (long long row = begin; row < end; ++row) {
    const double *start = job.start + row * n;
    if (job.pull >= 0 && row > 0) { // the rows come in their order, from one thread
      const double *last = job.q + (row - 1) * n;
      difference(*job.problem, last, start, scratch.dq);
      for (int l = 0; l < n; ++l)
        scratch.dq[l] *= job.method->locked && job.method->locked[l] ? 1 : job.pull;
      move(*job.problem, job.method->clamp, last, scratch.dq, scratch.trial);
      start = scratch.trial;
    }
    job.reports[row] =
        solve(*job.problem, *job.method, job.stop, job.goals + row * goal_size, start, scratch);
    copy_values(scratch.best, n, job.q + row * n);
  }
}

static void refine_rows(const SolveJob &job, long long begin, long long end, void *block) {
  const SolveScratch scratch = place_scratch(*job.problem, job.method, block);
  const int n = job.problem->n, goal_size = 12 * job.problem->target_count;
  for (long long row = begin; row < end; ++row) {
    refine(*job.problem, *job.method, job.stop, job.goals + row * goal_size, job.start + row * n, scratch);
    copy_values(scratch.best, n, job.q + row * n);
  }
}

static bool step_once(const Problem &problem, const Method &method, const double *goals, const double *q,
                      double *dq, void *block) {
  const SolveScratch scratch = place_scratch(problem, &method, block);
  set_values(0, problem.n, scratch.last_moved);
  scratch.memory[0] = 0;
  return one_step(problem, method, goals, q, scratch, dq);
}

static void prefer_once(const Problem &problem, const Method &method, const double *goals, const double *q,
                        double *preferred, void *block) {
  const SolveScratch scratch = place_scratch(problem, &method, block);
  prefer_at(problem, method, goals, q, scratch);
  copy_values(scratch.preferred, problem.n, preferred);
}

static void tick_once(const DampJob &job, void *block) {
  const SolveScratch scratch = place_scratch(*job.problem, job.method, block);
  damped_tick(*job.problem, *job.method, job.goals, job.q, job.dt, job.memory, scratch, job.dq, job.alpha,
              job.weights, job.row_weights);
}

static void evaluate_once(const Problem &problem, const double *q, const double *goals, bool alternative,
                          double *e, double *J, double *distance, double *angle, void *block) {
  Evaluation evaluation = place_scratch(problem, nullptr, block).evaluation;
  evaluation.e = e;
  evaluation.J = J;
  evaluation.distance = distance;
  evaluation.angle = angle;
  evaluate(problem, q, goals, alternative, evaluation);
}

extern const LocalKernels local_kernels;
const LocalKernels local_kernels = {solve_scratch, solve_rows, refine_rows,  step_once,
                                    prefer_once,   tick_once,  evaluate_once};

} // namespace SUPPLE_ISA
} // namespace supple
