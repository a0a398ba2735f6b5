// The tracker's templates, compiled for one instruction set.
#include "kernels/tracking.h"

#include "supple/tracking/tick.h"

namespace supple {
inline namespace SUPPLE_ISA {

static std::size_t tick_scratch(const Tracking &t) {
  ScratchLayout layout = ScratchLayout::count();
  TickScratch unplaced;
  lay_out(unplaced, layout, t);
  return layout.bytes();
}

static long long tick_memory(const Tracking &t) {
  ScratchLayout layout = ScratchLayout::count();
  ArmMemory unplaced;
  lay_out(unplaced, layout, t);
  return layout.bytes() / sizeof(double);
}

static ArmMemory place_memory(const Tracking &t, double *block) {
  ScratchLayout layout = ScratchLayout::place(block);
  ArmMemory memory;
  lay_out(memory, layout, t);
  return memory;
}

static void tick_begin(const Tracking &t, double *memory, const double *q) {
  begin_arm(t, place_memory(t, memory), q);
}
static const double *tick_values(const Tracking &t, double *memory) { return place_memory(t, memory).q; }

// the request of one arm; `goal_of_frame` receives the twelve numbers of a frame
static TickRequest row_request(const TickJob &job, long long row, double *goal_of_frame) {
  const int n = job.tracking->problem.n, targets = job.tracking->problem.target_count;
  TickRequest request{};
  if (job.frames) {
    const double *frame = job.frames + row * 16;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j)
        goal_of_frame[3 * i + j] = frame[4 * i + j];
      goal_of_frame[9 + i] = frame[4 * i + 3];
    }
    request.goals = goal_of_frame;
  } else if (job.goals) {
    request.goals = job.goals + row * 12 * targets;
  }
  request.twist = job.twists ? job.twists + row * 6 * targets : nullptr;
  request.measured = job.measured ? job.measured + row * n : nullptr;
  request.stamped = job.stamps != nullptr;
  request.stamp = job.stamps ? job.stamps[row] : 0;
  request.dt = job.dt;
  request.external = job.external;
  request.preferred = job.preferred;
  return request;
}

static void write_result(const Tracking &t, const ArmMemory &memory, const Command *commands,
                         const TickRequest &request, const TickResult &result, const ResultRow &out) {
  for (int i = 0; i < t.problem.n; ++i) {
    out.q[i] = memory.q[i];
    out.velocity[i] = memory.velocity[i] * t.unit[i];
  }
  for (int k = 0; k < t.problem.target_count; ++k) {
    double *goal = out.goal + 12 * k;
    if (result.status != held) {
      std::memcpy(goal, commands[k].goal, sizeof commands[k].goal);
    } else if (request.goals) { // as it came, for the reason
      std::memcpy(goal, request.goals + 12 * k, 12 * sizeof(double));
    } else {
      std::memset(goal, 0, 12 * sizeof(double));
      if (request.twist)
        std::memcpy(goal, request.twist + 6 * k, 6 * sizeof(double));
    }
  }
  const SingularReport &report = result.singular;
  *out.numbers = {double(result.status),
                  report.damping,
                  report.smallest_singular_value,
                  report.fold,
                  double(report.near_singular),
                  double(result.bounded),
                  double(result.regular),
                  result.lag,
                  result.reducible,
                  double(report.target),
                  {}};
  std::memcpy(out.numbers->direction, report.direction, sizeof report.direction);
}

template <int N, int M>
static void tick_rows(const TickJob &job, long long first, long long last, void *scratch_block) {
  const Tracking &t = *job.tracking;
  const int n = t.problem.n, targets = t.problem.target_count;
  ScratchLayout layout = ScratchLayout::place(scratch_block);
  TickScratch scratch;
  lay_out(scratch, layout, t);
  const long long memory_size = tick_memory(t), size = result_size(n, targets);
  for (long long row = first; row < last; ++row) {
    const ArmMemory memory = place_memory(t, job.memory + row * memory_size);
    const ResultRow out = result_row(job.results + row * size, n, targets);
    double goal_of_frame[12];
    const TickRequest request = row_request(job, row, goal_of_frame);
    const TickResult result = tick<N, M>(t, job.options, job.tolerance, request, memory, scratch,
                                         {out.joint_weights, out.sides, out.error});
    write_result(t, memory, scratch.commands, request, result, out);
  }
}

static void tick_arms(const TickJob &job, long long first, long long last, void *scratch) {
  const Problem &p = job.tracking->problem;
  if (p.rows == 6 && job.tracking->one_pose && job.tracking->level_count == 1) {
    if (p.n == 5)
      return tick_rows<5, 6>(job, first, last, scratch);
    if (p.n == 6)
      return tick_rows<6, 6>(job, first, last, scratch);
    if (p.n == 7)
      return tick_rows<7, 6>(job, first, last, scratch);
  }
  tick_rows<0, 0>(job, first, last, scratch);
}

extern const TrackingKernels tracking_kernels;
const TrackingKernels tracking_kernels = {tick_memory, tick_scratch, tick_begin, tick_values, tick_arms};

} // namespace SUPPLE_ISA
} // namespace supple
