// One frame of a continuation: candidates, one in each lane, follow the goals of a path to its next frame.
//
// A step is z + J'A^-1 (e - J z) with A = J J' + damping: Newton's to the goals, and of all such steps the
// one nearest to the preferred step z. Joints that would leave their limits go to the limit and take no
// further section.
#pragma once
#include "supple/path/types.h"
#include "supple/search/search.h"

namespace supple {
inline namespace SUPPLE_ISA {

template <class T>
struct ContinuationScratch {
  SearchStepScratch<T> step;
  T *preferred; // n: z, in weighted sizes
  T *residual;  // rows: e
  T *found;     // n: where the lanes arrived
  T *is_free;   // n: 1, or 0 for a joint that goes to its limit
  bool has_preferred;
  bool keeps_turns; // joints that wrap have limits too: they stay at the turn where they are
};

template <class T>
SUPPLE_FN void lay_out(ContinuationScratch<T> &scratch, ScratchLayout &layout, const Problem &problem) {
  lay_out(scratch.step, layout, problem);
  layout.array(scratch.preferred, problem.n);
  layout.array(scratch.residual, problem.rows);
  layout.array(scratch.found, problem.n);
  layout.array(scratch.is_free, problem.n);
}

// ---- Steps of joints ----

// The limits of a joint value. For a joint that wraps they count only if it stays at its turn.
SUPPLE_FN double lower_limit(const Problem &problem, const Search &search, int l, bool keeps_turns) {
  const SearchJoint &joint = search.joints[l];
  return joint.period > 0 && keeps_turns ? problem.lower[l] : joint.lower;
}
SUPPLE_FN double upper_limit(const Problem &problem, const Search &search, int l, bool keeps_turns) {
  const SearchJoint &joint = search.joints[l];
  return joint.period > 0 && keeps_turns ? problem.upper[l] : joint.upper;
}

// The step from q to `to` (n), in radians or metres.
template <class T>
SUPPLE_FN void joint_steps(const Problem &problem, const T *q, const T *to, T *steps) {
  for (int l = 0; l < problem.n; ++l)
    steps[l] = to[l] - q[l];
  for (int i = 0; i < problem.ball_count; ++i) {
    const int l = problem.balls[i].index;
    store3(between(load3(q + l), load3(to + l)), steps + l);
  }
}

// The longest step of a joint that is not a jump at any speed limit.
SUPPLE_FN double longest_continuous_step(const SearchJoint &joint, double dt) {
  return joint.natural_size * larger(PathConstants::jump, PathConstants::jump_speed * dt);
}
// The longest step that the planner takes, and the longest that does not count as a jump: it is longer by
// rounding.
SUPPLE_FN double longest_given_step(const SearchJoint &joint, double speed, double dt) {
  return lesser(longest_continuous_step(joint, dt), speed * dt);
}
SUPPLE_FN double longest_step(const SearchJoint &joint, double speed, double dt) {
  return (1 + PathConstants::rounding) * longest_given_step(joint, speed, dt);
}

// Whether the step from one row to the next is a jump.
SUPPLE_FN bool is_jump(const Problem &problem, const Search &search, const PathRequest &path, double dt,
                       const double *q, const double *next, double *steps) {
  joint_steps(problem, q, next, steps);
  for (int l = 0; l < problem.n; ++l)
    if (!(std::fabs(steps[l]) <= longest_step(search.joints[l], path.speed[l], dt)))
      return true;
  return false;
}

SUPPLE_FN double time_to(const PathRequest &path, int frame) {
  return path.times ? path.times[frame] - path.times[frame - 1] : path.dt;
}

// The frames `begin` to `end` of a path, without its start, and with its end only if they contain its last
// frame.
SUPPLE_FN PathRequest section_of(const Problem &problem, const PathRequest &path, int begin, int end) {
  PathRequest section = path;
  section.frames = end - begin;
  section.goals += std::size_t(begin) * 12 * problem.target_count;
  section.times = path.times ? path.times + begin : nullptr;
  section.start = nullptr;
  section.end = end == path.frames ? path.end : nullptr;
  section.closed = path.closed && begin == 0 && end == path.frames;
  return section;
}

// ---- One step towards the goals of a frame ----

// e = residual - J z
template <class T>
SUPPLE_FN void set_rows_to_meet(const Problem &problem, const Search &search,
                                ContinuationScratch<T> &scratch) {
  SearchStepScratch<T> &step = scratch.step;
  for (int i = 0; i < problem.rows; ++i)
    step.e[i] = scratch.residual[i];
  for (int t = 0; t < problem.target_count; ++t) {
    const Target &target = problem.targets[t];
    T *e = step.e + target.first;
    for (int c = search.column_begin[t]; c < search.column_begin[t + 1]; ++c)
      for (int i = 0; i < target.rows; ++i)
        e[i] = e[i] - step.J[6 * c + i] * scratch.preferred[search.columns[c]];
  }
}

// Removes a joint that goes to its limit from J, and the effect of its step from the residual.
template <class T>
SUPPLE_FN void force_joint(const Problem &problem, const Search &search, int l, Mask<T> forced,
                           ContinuationScratch<T> &scratch) {
  const T zero = splat<T>(0);
  for (int t = 0; t < problem.target_count; ++t) {
    T *residual = scratch.residual + problem.targets[t].first;
    for (int c = search.column_begin[t]; c < search.column_begin[t + 1]; ++c) {
      if (search.columns[c] != l)
        continue;
      for (int i = 0; i < problem.targets[t].rows; ++i) {
        T &entry = scratch.step.J[6 * c + i];
        residual[i] = residual[i] - select(forced, entry * scratch.preferred[l], zero);
        entry = select(forced, zero, entry);
      }
    }
  }
}

// Joints that the step in `change` takes out of their limits go to the limit; whether there are any.
template <class T>
SUPPLE_FN bool force_to_limits(const Problem &problem, const Search &search,
                               ContinuationScratch<T> &scratch) {
  const SearchStepScratch<T> &step = scratch.step;
  const T zero = splat<T>(0);
  bool forced_any = false;
  for (int l = 0; l < problem.n; ++l) {
    const SearchJoint &joint = search.joints[l];
    const double least = lower_limit(problem, search, l, scratch.keeps_turns),
                 most = upper_limit(problem, search, l, scratch.keeps_turns);
    if (!(joint.weighted_size > 0) || (least <= -unbounded && most >= unbounded))
      continue;
    const T lower = splat<T>(least), upper = splat<T>(most);
    const T to = step.q[l] + splat<T>(joint.weighted_size) * step.change[l];
    const Mask<T> free = scratch.is_free[l] > zero, low = to < lower;
    const Mask<T> forced = free & (low | (to > upper));
    if (!any(forced))
      continue;
    forced_any = true;
    const T limit = select(low, lower, upper);
    scratch.is_free[l] = select(forced, zero, scratch.is_free[l]);
    scratch.preferred[l] =
        select(forced, (limit - step.q[l]) * splat<T>(1 / joint.weighted_size), scratch.preferred[l]);
    force_joint(problem, search, l, forced, scratch);
  }
  return forced_any;
}

// One step of all lanes from step.q, into step.next. The preferred step is given; it changes at limits.
template <class T>
SUPPLE_FN SearchStepResult<T> step_to_goals(const Problem &problem, const Search &search,
                                            ContinuationScratch<T> &scratch) {
  constexpr int passes = 3; // a joint at its limit can push another one out
  SearchStepScratch<T> &step = scratch.step;
  const SearchStepResult<T> result = add_targets(problem, search, false, step);
  const T damping = splat<T>(SearchConstants::damping) * result.squared_error + splat<T>(1e-12);
  for (int i = 0; i < problem.rows; ++i)
    scratch.residual[i] = step.e[i];
  for (int l = 0; l < problem.n; ++l)
    scratch.is_free[l] = splat<T>(1);
  for (int pass = 1;; ++pass) {
    set_rows_to_meet(problem, search, scratch);
    solve_for_change(problem, search, damping, step);
    for (int l = 0; l < problem.n; ++l)
      step.change[l] = scratch.preferred[l] + scratch.is_free[l] * step.change[l];
    if (pass == passes || !force_to_limits(problem, search, scratch))
      break;
  }
  apply_change(problem, search, step);
  for (int l = 0; scratch.keeps_turns && l < problem.n; ++l)
    if (search.joints[l].period > 0 && search.joints[l].weighted_size > 0)
      step.next[l] = clip(step.next[l], splat<T>(problem.lower[l]), splat<T>(problem.upper[l]));
  return result;
}

// Newton's steps of all lanes from step.q until those of `wanted` (bits) arrive; returns which did. Their
// joint values go to scratch.found; the preferred step is that of the first step.
template <class T>
SUPPLE_FN int arrive(const Problem &problem, const Search &search, int wanted,
                     ContinuationScratch<T> &scratch) {
  SearchStepScratch<T> &step = scratch.step;
  int arrived = 0;
  for (int k = 0; k <= PathConstants::newton_steps; ++k) {
    const SearchStepResult<T> result = step_to_goals(problem, search, scratch);
    const int now = bits_of(result.arrived) & wanted & ~arrived;
    // the preferred step moves a lane that has arrived already: it is taken first
    const bool prefers = k == 0 && scratch.has_preferred;
    if (!prefers && now) {
      for (int lane = 0; lane < Lane<T>::width; ++lane)
        for (int l = 0; now >> lane & 1 && l < problem.n; ++l)
          put(scratch.found[l], lane, get(step.q[l], lane));
      arrived |= now;
      if (arrived == wanted)
        break;
    }
    T *before = step.q;
    step.q = step.next;
    step.next = before;
    for (int l = 0; l < problem.n; ++l)
      scratch.preferred[l] = splat<T>(0);
  }
  return arrived;
}

} // namespace SUPPLE_ISA
} // namespace supple
