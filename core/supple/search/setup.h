// The set-up of a search, made once for a linkage and its kind of goals: ranges, seeds, columns, tree order.
//
// It is compiled once, in generic code, and works on the caller's memory.
#pragma once
#include "supple/math/scratch.h"
#include "supple/model/chain.h"
#include "supple/search/floating_root.h"
#include "supple/search/types.h"
#include "supple/task/goal.h"

namespace supple {
inline namespace SUPPLE_ISA {

constexpr double full_circle = 6.283185307179586;

SUPPLE_FN int axis_count(const ChainJoint &chain_joint) { return chain_joint.motion == spherical ? 3 : 1; }

SUPPLE_FN bool is_position(const Target &target) {
  return target.rows >= 3 && target.component[2] == along_z;
}
SUPPLE_FN bool is_frame(const Target &target) { return target.rows == 6 && target.component[5] == about_z; }

// ---- Goals ----

// the twelve numbers of the goal that an end effector at `tip` meets
SUPPLE_FN void goal_numbers(const Target &target, const Frame<double> &tip, double *goal) {
  const Rot<double> &r = tip.r;
  const double rows[9] = {r.x.x, r.y.x, r.z.x, r.x.y, r.y.y, r.z.y, r.x.z, r.y.z, r.z.z};
  for (int i = 0; i < 9; ++i)
    goal[i] = rows[i];
  store3(tip.p, goal + 9);
  if (target.has_direction)
    store3(r * load3(target.axis), goal);
}

// The twelve numbers of a goal from a matrix (4, 4); false if that is not a finite rigid transform.
SUPPLE_FN bool read_goal(const Target &target, const double *m, double *goal) {
  for (int i = 0; i < 16; ++i)
    if (!(std::fabs(m[i]) < unbounded))
      return false;
  if (m[12] != 0 || m[13] != 0 || m[14] != 0 || m[15] != 1)
    return false;
  const Rot<double> r{{m[0], m[4], m[8]}, {m[1], m[5], m[9]}, {m[2], m[6], m[10]}};
  const Vec<double> off = cross(r.x, r.y) - r.z;
  if (!(std::fabs(dot(r.x, r.y)) + std::fabs(dot(r.x, r.x) - 1) + std::fabs(dot(r.y, r.y) - 1) +
            dot(off, off) <
        1e-6))
    return false;
  goal_numbers(target, {r, {m[3], m[7], m[11]}}, goal);
  return true;
}

// ---- Joints ----

// The k-th number of a sequence that fills [0, 1) evenly (Kronecker's, with the strides of Roberts).
template <class S>
SUPPLE_FLAT S even_part(S stride, int k) {
  const S place = S(0.5) + S(k + 1) * stride;
  return place - std::floor(place);
}

// The k-th of a sequence of seeds that fills the range of every joint evenly.
template <class Joint>
SUPPLE_FN auto even_seed(const Joint &joint, int k) {
  return joint.range_begin + joint.range_size * even_part(joint.stride, k);
}

// The same in a box round a value, whose half side is `half` and no more than half the range of the joint.
template <class S, class Joint>
SUPPLE_FLAT S even_seed_round(S centre, const Joint &joint, S half, int k) {
  return centre + lesser(half, S(0.5) * joint.range_size) * (2 * even_part(joint.stride, k) - 1);
}

struct SearchArrays {
  SearchJoint *joints, *near_joints;         // n, as in Search
  int *columns, *column_begin, *axis_column; // as in Search
  int *motion;                               // n: of the joint that alone has this value, or one of below
  double *gain;                              // n: of that joint
  int *column_of;                            // n: column of a joint value in the target at hand, or -1
};
constexpr int unknown_motion = -1, several_motions = -2;

SUPPLE_FN void lay_out(SearchArrays &arrays, ScratchLayout &layout, const Problem &problem) {
  int axes = 0;
  for (int t = 0; t < problem.target_count; ++t)
    axes += problem.targets[t].chain.axes;
  layout.array(arrays.joints, problem.n);
  layout.array(arrays.near_joints, problem.n);
  layout.array(arrays.columns, axes);
  layout.array(arrays.column_begin, problem.target_count + 1);
  layout.array(arrays.axis_column, axes);
  layout.array(arrays.motion, problem.n);
  layout.array(arrays.gain, problem.n);
  layout.array(arrays.column_of, problem.n);
}

// How each joint value moves its joint. A value with several joints (a mimic) has no one motion.
SUPPLE_FN void find_motions(const Problem &problem, SearchArrays &arrays) {
  for (int l = 0; l < problem.n; ++l) {
    arrays.motion[l] = unknown_motion;
    arrays.gain[l] = 1;
  }
  for (int t = 0; t < problem.target_count; ++t)
    for (int i = 0; i < problem.targets[t].chain.count; ++i) {
      const ChainJoint &chain_joint = problem.targets[t].chain.joints[i];
      if (chain_joint.motion == spherical)
        continue;
      const double gain = chain_joint.motion == revolute ? chain_joint.turn_gain : chain_joint.slide_gain;
      int &motion = arrays.motion[chain_joint.index];
      const bool differs =
          motion >= 0 && (motion != chain_joint.motion || gain != arrays.gain[chain_joint.index]);
      motion =
          chain_joint.shared || motion == several_motions || differs ? several_motions : chain_joint.motion;
      arrays.gain[chain_joint.index] = gain;
    }
}

// The positive root of x^(n+1) = x + 1. Multiples of its powers 1/x, 1/x^2, ... modulo 1 fill n dimensions
// evenly (M. Roberts, The unreasonable effectiveness of quasirandom sequences).
SUPPLE_FN double roberts_root(int n) {
  double x = 1.5;
  for (int i = 0; i < 60; ++i)
    x = std::pow(1 + x, 1.0 / (n + 1));
  return x;
}

// The same angle within half a turn of 0, if a value is too large to be exact.
SUPPLE_FN double exact_value(const SearchJoint &joint, double x) {
  if (!(std::fabs(x) > joint.largest))
    return x;
  const double gain = full_circle / joint.full_turn, angle = gain * x;
  return std::atan2(std::sin(angle), std::cos(angle)) / gain;
}

// A value x plus whole periods: as near to the reference as the limits allow, which are at least a period
// apart.
SUPPLE_FN double nearest_turn(double x, double reference, double period, double lower, double upper) {
  x += period * std::round((reference - x) / period);
  if (x < lower)
    x += period * std::ceil((lower - x) / period);
  if (x > upper)
    x -= period * std::ceil((x - upper) / period);
  return clip(x, lower, upper); // adding periods rounds
}

// One joint value: `lower` and `upper` are its limits, `motion` and `gain` those of its joint. Limits from
// `largest` on count as none for a joint that wraps.
SUPPLE_FN SearchJoint set_up_joint(double lower, double upper, int motion, double gain, double natural_size,
                                   double weight, double rest, double largest) {
  SearchJoint joint{};
  const bool moves = motion < 0 || std::fabs(gain) >= least_gain;
  joint.fixed = !moves;
  joint.natural_size = natural_size;
  joint.is_prismatic = motion == prismatic;
  joint.weighted_size = moves ? natural_size * weight : 0;
  const double full_turn = full_circle / std::fabs(gain);
  const bool whole = motion == revolute && moves && !(upper - lower < full_turn);
  const bool wraps = whole && joint.weighted_size > 0;
  joint.period = wraps ? full_turn : 0;
  joint.full_turn = whole ? full_turn : 0;
  joint.largest = whole ? largest / std::fabs(gain) : unbounded;
  const bool has_lower = lower > -joint.largest, has_upper = upper < joint.largest;
  const bool limited = has_lower && has_upper;
  rest = exact_value(joint, rest);
  const double middle = limited     ? (lower + upper) / 2
                        : has_lower ? larger(lower, rest)
                        : has_upper ? lesser(upper, rest)
                                    : rest;
  const double size = wraps ? full_turn : limited ? upper - lower : full_circle * natural_size;
  joint.range_begin = limited || wraps ? middle - size / 2 : larger(lower, middle - size / 2);
  joint.range_size = lesser(upper, joint.range_begin + size) - joint.range_begin;
  joint.middle = joint.weighted_size > 0 ? middle : moves ? rest : clip(rest, lower, upper);
  // a value of several joints has no period: it stays where all of them are exact
  const double bound = motion == several_motions ? largest : unbounded;
  joint.lower = wraps ? -unbounded : larger(lower, has_upper && upper < -bound ? lower : -bound);
  joint.upper = wraps ? unbounded : lesser(upper, has_lower && lower > bound ? upper : bound);
  return joint;
}

// Rounds the limits of a joint inward to float; what is unlimited stays finite.
SUPPLE_FN void round_limits(SearchJoint &joint) {
  constexpr double most = Precision<float>::unlimited;
  const float lower = float(clip(joint.lower, -most, most)), upper = float(clip(joint.upper, -most, most));
  auto last_place = [](float x) { return std::fabs(x) * 1.2e-7f + 1e-37f; };
  joint.float_lower = lower < joint.lower ? lower + last_place(lower) : lower;
  joint.float_upper = upper > joint.upper ? upper - last_place(upper) : upper;
}

SUPPLE_FN void set_up_joints(const Problem &problem, const SearchOptions &options, SearchArrays &arrays) {
  find_motions(problem, arrays);
  const double x = roberts_root(problem.n);
  // wrapping an angle rounds it by about 1e-15 of its size, which may take 1/200 of a tolerance
  const double tolerance = lesser(options.position_tolerance, options.angle_tolerance);
  const double largest = clip(0.005 * tolerance / 1e-15, 16.0, largest_angle);
  for (int l = 0; l < problem.n; ++l) {
    SearchJoint &joint = arrays.joints[l];
    joint = set_up_joint(problem.lower[l], problem.upper[l], arrays.motion[l], arrays.gain[l],
                         options.natural_size[l], options.weight[l], options.rest[l], largest);
    const double power = std::pow(x, -(l + 1));
    joint.stride = power - std::floor(power);
  }
  // rotation vectors of balls: their limits are no box
  for (int i = 0; i < problem.ball_count; ++i)
    for (int l = problem.balls[i].index; l < problem.balls[i].index + 3; ++l) {
      SearchJoint &joint = arrays.joints[l];
      joint.range_begin = -2;
      joint.range_size = 4;
      joint.middle = options.rest[l];
      joint.lower = -unbounded;
      joint.upper = unbounded;
      joint.period = 0;
    }
  for (int l = 0; l < problem.n; ++l)
    round_limits(arrays.joints[l]);
}

// The joints of a search for the nearest solution; whether they differ.
SUPPLE_FN bool set_up_near_joints(const Problem &problem, SearchArrays &arrays) {
  bool differ = false;
  for (int l = 0; l < problem.n; ++l) {
    SearchJoint &joint = arrays.near_joints[l];
    joint = arrays.joints[l];
    const double lower = problem.lower[l], upper = problem.upper[l];
    if (!(joint.period > 0) || !(lower > -joint.largest || upper < joint.largest))
      continue;
    joint.lower = lower;
    joint.upper = upper;
    joint.period = 0;
    round_limits(joint);
    differ = true;
  }
  return differ;
}

// Makes the caller's start (n) exact: what is too large comes back by whole turns. A value that moves nothing
// is brought into its limits.
SUPPLE_FN void make_exact(const Problem &problem, const Search &search, double *start) {
  for (int l = 0; l < problem.n; ++l) {
    const SearchJoint &joint = search.joints[l];
    start[l] = exact_value(joint, start[l]);
    if (joint.fixed)
      start[l] = clip(start[l], problem.lower[l], problem.upper[l]);
  }
  for (int i = 0; i < problem.ball_count; ++i) {
    double *v = start + problem.balls[i].index;
    if (dot(load3(v), load3(v)) > largest_angle)
      store3(log_rotation(exp_rotation(load3(v))), v);
  }
}

// Brings joint values (n) into their limits, those of joints that turn all round by whole turns.
SUPPLE_FN void move_inside(const Problem &problem, const Search &search, double *q) {
  for (int l = 0; l < problem.n; ++l) {
    const double full_turn = search.joints[l].full_turn, lower = problem.lower[l], upper = problem.upper[l];
    q[l] = full_turn > 0 ? nearest_turn(q[l], q[l], full_turn, lower, upper) : clip(q[l], lower, upper);
  }
  for (int i = 0; i < problem.ball_count; ++i) {
    const Ball &ball = problem.balls[i];
    double *v = q + ball.index;
    store3(clamp_ball(load3(v), load3(ball.axis), ball.swing, ball.low, ball.high), v);
  }
}

// The joint values of each target, in the order in which its chain has them.
SUPPLE_FN void set_up_columns(const Problem &problem, SearchArrays &arrays) {
  int end = 0;
  int *axis_column = arrays.axis_column;
  for (int t = 0; t < problem.target_count; ++t) {
    const Chain &chain = problem.targets[t].chain;
    const int begin = arrays.column_begin[t] = end;
    for (int l = 0; l < problem.n; ++l)
      arrays.column_of[l] = -1;
    for (int i = 0; i < chain.count; ++i)
      for (int k = 0; k < axis_count(chain.joints[i]); ++k) {
        int &column = arrays.column_of[chain.joints[i].index + k];
        if (column < 0) {
          column = end - begin;
          arrays.columns[end++] = chain.joints[i].index + k;
        }
        *axis_column++ = column;
      }
  }
  arrays.column_begin[problem.target_count] = end;
}

// The joint value before each one, if every chain is a path in one tree whose joints are numbered outward;
// otherwise all values in a row, which is a tree too.
SUPPLE_FN void set_up_parents(const Problem &problem, SearchArrays &arrays) {
  constexpr int unknown = -2;
  SearchJoint *joints = arrays.joints;
  for (int l = 0; l < problem.n; ++l)
    joints[l].parent = unknown;
  bool tree = true;
  for (int t = 0; t < problem.target_count; ++t) {
    int before = -1;
    for (int c = arrays.column_begin[t]; c < arrays.column_begin[t + 1]; ++c) {
      const int l = arrays.columns[c];
      tree = tree && before < l && (joints[l].parent == unknown || joints[l].parent == before);
      joints[l].parent = before;
      before = l;
    }
    const Chain &chain = problem.targets[t].chain;
    for (int i = 0; i < chain.count; ++i)
      tree = tree && !chain.joints[i].shared;
  }
  for (int l = 0; l < problem.n && !tree; ++l)
    joints[l].parent = l - 1;
}

// one goal for a chain of revolute and prismatic joints, each with a value of its own
SUPPLE_FN bool is_simple_chain(const Problem &problem, const SearchArrays &arrays) {
  bool simple = problem.target_count == 1 && problem.ball_count == 0;
  for (int l = 0; l < problem.n; ++l)
    simple = simple && arrays.motion[l] >= 0;
  return simple;
}

SUPPLE_FN bool can_have_table(const Problem &problem, const SearchArrays &arrays) {
  const Target &target = problem.targets[0];
  bool locked = false;
  for (int l = 0; l < problem.n; ++l)
    locked = locked || !(arrays.joints[l].weighted_size > 0);
  return is_simple_chain(problem, arrays) && !locked && is_position(target) && target.chain.count >= 2 &&
         !target.masses.count;
}

// metres from the first joint of a chain to the point of its target, stretched
SUPPLE_FN double chain_length(const Target &target) {
  auto length = [](const double *v) { return root(dot(load3(v), load3(v))); };
  double sum = length(target.chain.position) + length(target.point);
  for (int i = 1; i < target.chain.count; ++i)
    sum += length(target.chain.joints[i].position);
  return sum;
}

// bytes of memory for set_up_search
SUPPLE_FN std::size_t search_bytes(const Problem &problem) {
  ScratchLayout layout = ScratchLayout::count();
  SearchArrays arrays{};
  lay_out(arrays, layout, problem);
  return layout.bytes();
}

// A search without a table, on `memory`, which must stay; `table_possible`: whether set_up_table may follow.
SUPPLE_FN Search set_up_search(const Problem &problem, const SearchOptions &options, void *memory,
                               bool &table_possible) {
  ScratchLayout layout = ScratchLayout::place(memory);
  SearchArrays arrays{};
  lay_out(arrays, layout, problem);
  set_up_joints(problem, options, arrays);
  set_up_columns(problem, arrays);
  set_up_parents(problem, arrays);
  table_possible = can_have_table(problem, arrays);
  const Target &target = problem.targets[0];
  Search search{};
  search.joints = arrays.joints;
  search.columns = arrays.columns;
  search.column_begin = arrays.column_begin;
  search.axis_column = arrays.axis_column;
  search.uses_frame_step = is_simple_chain(problem, arrays) && is_frame(target) && !target.has_slack;
  search.aligns_root = can_align_root(problem);
  for (int k = 0; k < 4 && search.aligns_root; ++k)
    search.aligns_root = search.joints[target.chain.joints[k].index].weighted_size > 0;
  int moving = 0;
  search.damped_error = unbounded;
  for (int l = 0; l < problem.n; ++l) {
    moving += search.joints[l].weighted_size > 0;
    if (search.joints[l].is_prismatic)
      search.damped_error = SearchConstants::damped_error;
  }
  search.nearest = options.nearest;
  for (int t = 0; t < problem.target_count; ++t)
    search.has_slack = search.has_slack || problem.targets[t].has_slack;
  search.moves_to_start = options.nearest && (problem.rows < moving || search.has_slack);
  // solutions that cannot slide lie apart: there a limit stops none of them, and turning on past it finds
  // more
  if (search.moves_to_start && set_up_near_joints(problem, arrays))
    search.near_joints = arrays.near_joints;
  search.max_restarts = options.max_restarts;
  search.max_iterations = options.max_iterations;
  search.max_step = options.max_step;
  search.accept_distance = options.accept_distance;
  search.position_tolerance = SearchConstants::tolerance_fraction * options.position_tolerance;
  search.angle_tolerance = SearchConstants::tolerance_fraction * options.angle_tolerance;
  for (int t = 0; t < problem.target_count; ++t)
    search.length = larger(search.length, chain_length(problem.targets[t]));
  search.reach = 10 * unbounded;
  if (problem.target_count == 1 && !target.has_slack && is_position(target) && options.reach < unbounded) {
    search.reach = options.reach * (1 + 1e-6) + 1e-9;
    store3(load3(options.reach_base), search.reach_base);
  }
  return search;
}

} // namespace SUPPLE_ISA
} // namespace supple
