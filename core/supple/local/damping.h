// The damping factor alpha and the joint weights from damping schemes [D19-D29]. Of all schemes, the largest
// alpha and the smallest weight of each joint count.
#pragma once
#include "supple/local/nullspace.h"
#include "supple/math/scratch.h"
#include "supple/model/joint_limits.h"

namespace supple {
inline namespace SUPPLE_ISA {

// what the paper calls an iteration, in seconds: its controller ran at about 300 Hz
constexpr double iteration_time = 1.0 / 300;
// a smaller change of a joint is rounding and has no direction
constexpr double no_direction = 1e-12;

// size = max(m, n, 4)
struct DampingScratch {
  double *w;          // n: the joint weights
  double *Jw;         // m x n: W_x J W_q [D13]
  double *callback_w; // n: joint weights of a callback
  double *A, *V; // size x size each, shared with StepScratch: no step is in progress while damping is chosen
  double *squares;    // size: singular values of J_w, squared, largest first
  Axis<double> *axes; // those of one chain of a scheme or of a preference, and one more
};

SUPPLE_FN void lay_out(DampingScratch &s, ScratchLayout &layout, int m, int n, int size,
                       const Method &method) {
  int axes = 0;
  for (int i = 0; i < method.scheme_count; ++i) {
    const int point = method.schemes[i].point_chain.axes, axis = method.schemes[i].axis_chain.axes;
    axes = axes > point ? axes : point;
    axes = axes > axis ? axes : axis;
  }
  for (int i = 0; i < method.preference_count; ++i)
    axes = axes > method.preferences[i].chain.axes ? axes : method.preferences[i].chain.axes;
  layout.array(s.w, n);
  layout.array(s.Jw, m * n);
  layout.array(s.callback_w, n);
  layout.array(s.squares, size);
  layout.array(s.axes, axes + 1);
}

// What schemes remember from one tick to the next, as numbers in the caller's memory. Until `started` is set,
// the others may be anything.
struct SchemeMemory {
  double *started;        // 0 or 1
  double *last_change;    // n: of each joint [D24]
  double *last_direction; // n: of each joint, the sign of its last change beyond rounding

  SUPPLE_FN SchemeMemory(double *numbers, int n)
      : started(numbers), last_change(numbers + 1), last_direction(numbers + 1 + n) {}
};

// how many numbers a scheme has for itself: a ramp for each joint, or one number
SUPPLE_FN int own_memory(const DampingScheme &scheme, int n) {
  return scheme.kind == scheme_joint_limits ? n : 1;
}

// Places the schemes' own numbers; returns how many numbers there are in all.
SUPPLE_FN int lay_out_memory(DampingScheme *schemes, int count, int n) {
  int size = 1 + 2 * n;
  for (int i = 0; i < count; ++i) {
    schemes[i].memory = size;
    size += own_memory(schemes[i], n);
  }
  return size;
}

// Sets the memory to its state before the first tick: no change, no direction, ramps open.
SUPPLE_FN void start_memory(const Method &method, int n, double *numbers) {
  const SchemeMemory memory(numbers, n);
  *memory.started = 1;
  for (int l = 0; l < n; ++l)
    memory.last_change[l] = memory.last_direction[l] = 0;
  for (int i = 0; i < method.scheme_count; ++i) {
    const DampingScheme &scheme = method.schemes[i];
    for (int l = 0; l < own_memory(scheme, n); ++l)
      numbers[scheme.memory + l] = scheme.kind == scheme_joint_limits ? 1 : 0;
  }
}

// Remembers a change of the joints for the next tick.
SUPPLE_FN void remember(double *numbers, const double *dq, int n) {
  const SchemeMemory memory(numbers, n);
  for (int l = 0; l < n; ++l) {
    memory.last_change[l] = dq[l];
    if (std::fabs(dq[l]) > no_direction)
      memory.last_direction[l] = dq[l] > 0 ? 1 : -1;
  }
}

// The squared singular values of J, largest first; as many as its shorter side.
SUPPLE_FN void squared_singular_values(const double *J, int m, int n, double *A, double *V, double *squares) {
  const int k = gram(J, m, n, m <= n, 0, A);
  mirror(A, k);
  eigen(A, k, V);
  for (int i = 0; i < k; ++i) {
    int at = i;
    const double value = larger(A[i * k + i], 0.0);
    for (; at > 0 && squares[at - 1] < value; --at)
      squares[at] = squares[at - 1];
    squares[at] = value;
  }
}

// [D20] Mayorga's bound on the condition number of a matrix by its factors L D L': m zeta^4 d_g / d_s, with
// zeta the largest row sum of L, and 1e30 at most. `A` holds the matrix and becomes the factors.
SUPPLE_FN double condition_bound(double *A, int k) {
  factor(A, k);
  double zeta = 1, greatest = A[0], smallest = A[0];
  for (int i = 0; i < k; ++i) {
    double sum = 1;
    for (int j = 0; j < i; ++j)
      sum += std::fabs(A[i * k + j]);
    zeta = larger(zeta, sum);
    greatest = larger(greatest, A[i * k + i]);
    smallest = lesser(smallest, A[i * k + i]);
  }
  const double bound = k * zeta * zeta * zeta * zeta * greatest;
  return bound < 1e30 * smallest ? bound / smallest : 1e30;
}

// from 0 to 1 with slope 0 at both ends
SUPPLE_FN double smooth_step(double x) { return x * x * (3 - 2 * x); }

// How far q is from a named singularity: an angle, a sine or a length.
SUPPLE_FN double singularity_distance(const DampingScheme &d, const double *q, Axis<double> *axes) {
  if (d.measure == by_point_off_axis) {
    const Frame<double> link = frame<double>(traverse_chain(d.point_chain, q, axes));
    const Frame<double> base = frame<double>(traverse_chain(d.axis_chain, q, axes));
    const Vec<double> offset = link * load3(d.point) - base.p;
    const Vec<double> across = cross(base.r * load3(d.axis), offset);
    // along the tangent of the cylinder: what is left in the plane of an arm with that offset
    return root(larger(dot(across, across) - d.radius * d.radius, 0.0));
  }
  const double x = d.gain * q[d.index] + d.offset;
  double nearest = 1e300;
  for (int i = 0; i < d.value_count; ++i) {
    double away = x - d.values[i];
    if (d.measure == by_joint_sine)
      away = std::sin(away);
    else if (d.wraps)
      away = std::remainder(away, 6.283185307179586477);
    nearest = lesser(nearest, std::fabs(away));
  }
  return nearest;
}

// [D24-D27] Ramps of the joints near their limits: lowers w, and returns the factor on alpha_0.
//
// As printed, a joint that rests counts as moving up, a ramp may jump up by almost 1, and beyond a limit
// weights are negative. Corrected, the last direction counts (at first the nearer limit), ramps stay between
// 0 and 1, move by at most their step in either direction, and end with slope 0.
SUPPLE_FN double joint_limit_factor(const Problem &problem, const DampingScheme &d, const double *q,
                                    double dt, double *numbers, double *w) {
  const int n = problem.n;
  const SchemeMemory memory(numbers, n);
  const double step = d.ramp_rate * dt;
  double *ramps = numbers + d.memory, factor = 0;
  for (int l = 0; l < n; ++l) {
    if (!(d.joints[l] > 0))
      continue;
    const double above = problem.upper[l] - q[l], below = q[l] - problem.lower[l];
    double &u = ramps[l];
    if (d.as_printed) {
      const double to_limit = memory.last_change[l] >= 0 ? above : below;
      u = to_limit < d.joints[l] ? larger(u - step, to_limit / d.joints[l]) : lesser(u + step, 1.0);
      factor = larger(factor, 1 - u * u);
      w[l] = lesser(w[l], d.min_weight + (1 - d.min_weight) * u);
    } else {
      const double direction = memory.last_direction[l];
      const bool up = direction > 0 || (direction == 0 && above <= below);
      u = clip(clip((up ? above : below) / d.joints[l], 0.0, 1.0), u - step, u + step);
      factor = larger(factor, (1 - u * u) * (1 - u * u));
      w[l] = lesser(w[l], d.min_weight + (1 - d.min_weight) * smooth_step(u));
    }
  }
  return factor;
}

// one evaluation of the goals, as the schemes see it
struct DampingInput {
  const Problem &problem;
  const Method &method;
  const double *q, *e, *J; // weighted error and Jacobian at q
  double dt;
};

// [D22, D23] Near a named singularity: lowers w of the singularity's joints, and returns the factor on
// alpha_0.
SUPPLE_FN double named_singularity_factor(const DampingInput &in, const DampingScheme &d,
                                          const DampingScratch &scratch) {
  double away = 1e300;
  if (d.measure != by_callback)
    away = singularity_distance(d, in.q, scratch.axes);
  else if (in.method.damping_callback)
    in.method.damping_callback(in.method.damping_data, d.callback, in.q, in.e, in.J, in.dt, &away,
                               scratch.callback_w);
  if (!(away < d.region))
    return 0;
  const double x = larger(away, 0.0) / d.region, factor = 1 - x * x;
  const double weight = d.min_weight + (1 - d.min_weight) * (d.as_printed ? x : smooth_step(x));
  for (int l = 0; l < in.problem.n; ++l)
    if (d.joints[l] > 0)
      scratch.w[l] = lesser(scratch.w[l], weight);
  return d.as_printed ? factor : factor * factor;
}

// The caller's scheme: lowers w, and returns alpha.
SUPPLE_FN double callback_factor(const DampingInput &in, const DampingScheme &d,
                                 const DampingScratch &scratch) {
  const int n = in.problem.n;
  double alpha = 0;
  for (int l = 0; l < n; ++l)
    scratch.callback_w[l] = 1;
  if (in.method.damping_callback)
    in.method.damping_callback(in.method.damping_data, d.callback, in.q, in.e, in.J, in.dt, &alpha,
                               scratch.callback_w);
  for (int l = 0; l < n; ++l)
    scratch.w[l] = lesser(scratch.w[l], scratch.callback_w[l]);
  return alpha;
}

// The factor on alpha_0 from a scheme that does not use J_w, 0 for other schemes; lowers the joint weights in
// scratch.w.
SUPPLE_FN double factor_by_state(const DampingInput &in, const DampingScheme &d, double *memory,
                                 const DampingScratch &scratch) {
  if (d.kind == scheme_constant)
    return 1;
  if (d.kind == scheme_joint_limits)
    return joint_limit_factor(in.problem, d, in.q, in.dt, memory, scratch.w);
  if (d.kind == scheme_callback)
    return callback_factor(in, d, scratch);
  if (d.kind == scheme_named_singularity)
    return named_singularity_factor(in, d, scratch);
  if (d.kind != scheme_error)
    return 0;
  double square = 0; // [D21]
  for (int r = 0; r < in.problem.rows; ++r)
    square += in.e[r] * in.e[r];
  return square;
}

// J_w and its singular values, computed when first needed
struct WeightedJacobian {
  const double *J;
  int m, n, k; // k: its shorter side
  const DampingScratch &scratch;
  bool known = false;

  SUPPLE_FN const double *squares() {
    if (!known)
      squared_singular_values(scratch.Jw, m, n, scratch.A, scratch.V, scratch.squares);
    known = true;
    return scratch.squares;
  }
  // the product of as many singular values as there can be; as printed sqrt(det(J J')), whatever the rank
  SUPPLE_FN double manipulability_for(const DampingScheme &d) {
    if (d.as_printed)
      return m > n ? 0.0 : manipulability(J, m, n, scratch.A);
    if (d.rank >= k)
      return manipulability(scratch.Jw, m, n, scratch.A);
    double product = 1;
    for (int r = 0; r < d.rank; ++r)
      product *= squares()[r];
    return root(product);
  }
};

// [D19] (1 - w / w_0)^2 below w_0
SUPPLE_FN double manipulability_factor(const DampingScheme &d, WeightedJacobian &jacobian) {
  const double x = jacobian.manipulability_for(d) / d.region;
  return x < 1 ? (1 - x) * (1 - x) : 0;
}

// 1 - r where r = w / w_before, over 1/300 s, is below the region; 0 elsewhere
SUPPLE_FN double falling_factor(const DampingScheme &d, WeightedJacobian &jacobian, double dt,
                                double &before) {
  const double now = jacobian.manipulability_for(d);
  double ratio = before > 0 ? now / before : 1;
  if (!d.as_printed)
    ratio = std::pow(ratio, iteration_time / dt);
  before = now;
  return ratio < d.region ? 1 - ratio : 0;
}

// [D20] (1 - c_0 / c)^2 beyond c_0, with c a bound on the condition number
SUPPLE_FN double condition_factor(const DampingScheme &d, WeightedJacobian &jacobian) {
  const DampingScratch &scratch = jacobian.scratch;
  double bound;
  if (d.rank < jacobian.k) {
    const double largest = jacobian.squares()[0], smallest = jacobian.squares()[d.rank - 1];
    bound = largest < 1e30 * smallest ? d.rank * largest / smallest : 1e30;
  } else {
    gram(scratch.Jw, jacobian.m, jacobian.n, jacobian.m <= jacobian.n, 0, scratch.A);
    bound = condition_bound(scratch.A, jacobian.k);
  }
  return bound > d.region ? squared(1 - d.region / bound) : 0;
}

// (1 - sigma_r^2 / sigma_0^2)^2 below sigma_0 = region times the largest singular value
SUPPLE_FN double smallest_singular_value_factor(const DampingScheme &d, WeightedJacobian &jacobian) {
  const DampingScratch &scratch = jacobian.scratch;
  const int m = jacobian.m, n = jacobian.n, k = jacobian.k;
  const double squared_region = d.region * d.region;
  if (d.rank >= k) {
    // A quick test that succeeds most often: if all pivots of J_w J_w' - region^2 |J_w|^2 I are positive, the
    // smallest singular value is above region |J_w|, and |J_w| is no less than the largest singular value.
    double all = 0;
    for (int j = 0; j < m * n; ++j)
      all += scratch.Jw[j] * scratch.Jw[j];
    gram(scratch.Jw, m, n, m <= n, -(squared_region * all), scratch.A);
    if (all > 0 && factor(scratch.A, k) > 0)
      return 0;
  }
  const double edge = squared_region * jacobian.squares()[0], smallest = jacobian.squares()[d.rank - 1];
  if (!(edge > 0))
    return 1;
  return smallest < edge ? squared(1 - smallest / edge) : 0;
}

// The factor on alpha_0 from a scheme that uses J_w, 0 for other schemes.
SUPPLE_FN double factor_by_jacobian(const DampingScheme &d, WeightedJacobian &jacobian, double dt,
                                    double *memory) {
  if (d.kind == scheme_manipulability)
    return manipulability_factor(d, jacobian);
  if (d.kind == scheme_falling_manipulability)
    return falling_factor(d, jacobian, dt, memory[d.memory]);
  if (d.kind == scheme_condition_bound)
    return d.as_printed ? memory[d.memory] : condition_factor(d, jacobian);
  if (d.kind == scheme_smallest_singular_value)
    return smallest_singular_value_factor(d, jacobian);
  return 0;
}

// As printed, [D20] takes the condition bound of J_w J_w' + alpha I, the matrix that this iteration solves,
// and uses it in the next iteration.
SUPPLE_FN void remember_condition_bounds(const DampingInput &in, double alpha, double *memory,
                                         const DampingScratch &scratch) {
  for (int i = 0; i < in.method.scheme_count; ++i) {
    const DampingScheme &d = in.method.schemes[i];
    if (d.kind != scheme_condition_bound || !d.as_printed)
      continue;
    const int m = gram(scratch.Jw, in.problem.rows, in.problem.n, true, alpha, scratch.A);
    const double bound = condition_bound(scratch.A, m);
    memory[d.memory] = bound > d.region ? squared(1 - bound / d.region) : 0;
  }
}

// All schemes at q: returns alpha [D28] and leaves the joint weights [D29] and J_w in the scratch. Weights
// merge first, so that schemes that use the Jacobian use J_w: with a joint frozen at its limit J can be well
// conditioned and J_w singular.
SUPPLE_FN double choose_damping(const DampingInput &in, double *memory, const DampingScratch &scratch) {
  const Method &method = in.method;
  const int m = in.problem.rows, n = in.problem.n;
  double alpha = !method.has_schemes && method.kind == method_damped ? method.damping : 0;
  double relative = 0; // in fractions of the largest singular value, squared
  auto raise = [&](const DampingScheme &d, double factor) {
    if (factor == 0)
      return;
    double &largest = d.relative ? relative : alpha;
    largest = larger(largest, d.alpha0 * factor);
  };
  for (int l = 0; l < n; ++l)
    scratch.w[l] = 1;
  if (memory[0] == 0)
    start_memory(method, n, memory);
  for (int i = 0; i < method.scheme_count; ++i)
    raise(method.schemes[i], factor_by_state(in, method.schemes[i], memory, scratch));
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < n; ++l)
      scratch.Jw[i * n + l] = in.J[i * n + l] * scratch.w[l];
  WeightedJacobian jacobian{in.J, m, n, m < n ? m : n, scratch};
  for (int i = 0; i < method.scheme_count; ++i)
    raise(method.schemes[i], factor_by_jacobian(method.schemes[i], jacobian, in.dt, memory));
  if (relative > 0)
    alpha = larger(alpha, relative * jacobian.squares()[0]); // [D10] at sigma_m = 0
  remember_condition_bounds(in, alpha, memory, scratch);
  return alpha;
}

// A joint at its limit keeps a small weight, or it would never leave; a slower speed outward than the
// scheme's ignored_speed becomes 0.
SUPPLE_FN void ignore_outward_creep(const Problem &problem, const Method &method, const double *q, double dt,
                                    double *dq) {
  for (int i = 0; i < method.scheme_count; ++i) {
    const DampingScheme &d = method.schemes[i];
    if (d.kind != scheme_joint_limits || !(d.ignored_speed > 0))
      continue;
    for (int l = 0; l < problem.n; ++l)
      if (d.joints[l] > 0 && std::fabs(dq[l]) < d.ignored_speed * dt &&
          pressed_outward(q[l], problem.lower[l], problem.upper[l], dq[l]))
        dq[l] = 0;
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
