// How hard to push: damping factor and joint weights from schemes, largest and smallest of all [D19-D29].
#pragma once
#include "supple/local/nullspace.h"

namespace supple {
inline namespace SUPPLE_ISA {

// what the paper calls an iteration, in seconds: its controller ran at about 300 Hz
constexpr double iteration_time = 1.0 / 300;
// a smaller change of a joint is rounding and no direction
constexpr double no_direction = 1e-12;

// working memory; A and V may be those of a step
struct DampingScratch {
  double *w;          // n: the joint weights
  double *Jw;         // m x n: W_x J W_q [D13]
  double *A, *V;      // size x size each, size = max(m, n)
  double *squares;    // size: singular values of J_w, squared, largest first
  Axis<double> *axes; // those of one chain, and one more
};

// What schemes remember from one tick to the next, as numbers in the caller's memory: whether there was a
// tick (if not, the others may be anything), the last change of each joint [D24], its last direction, and
// what each scheme has for itself. Returns how many.
SUPPLE_FN int lay_out_memory(Damper *dampers, int count, int n) {
  int size = 1 + 2 * n;
  for (int i = 0; i < count; ++i) {
    dampers[i].memory = size;
    size += dampers[i].scheme == by_limits ? n : 1;
  }
  return size;
}

// Notes a change of the joints; the schemes' next tick looks at where they were going.
SUPPLE_FN void remember(double *memory, const double *dq, int n) {
  for (int l = 0; l < n; ++l) {
    memory[1 + l] = dq[l];
    if (std::fabs(dq[l]) > no_direction)
      memory[1 + n + l] = dq[l] > 0 ? 1 : -1;
  }
}

// J J' or J'J, whichever is smaller, less `shift` on the diagonal: the size of its side. The lower half
// alone.
SUPPLE_FN int shorter_square(const double *J, int m, int n, double shift, double *A) {
  const bool wide = m <= n;
  const int k = wide ? m : n;
  for (int i = 0; i < k; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = i == j ? -shift : 0;
      for (int l = 0; l < (wide ? n : m); ++l)
        sum += wide ? J[i * n + l] * J[j * n + l] : J[l * n + i] * J[l * n + j];
      A[i * k + j] = sum;
    }
  return k;
}

// The squared singular values of J, largest first; as many as its shorter side.
SUPPLE_FN void squared_singular_values(const double *J, int m, int n, double *A, double *V, double *squares) {
  const int k = shorter_square(J, m, n, 0, A);
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < i; ++j)
      A[j * k + i] = A[i * k + j];
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
// zeta the largest row sum of L. `A` holds the matrix and becomes the factors. Beyond 1e30 all is one.
SUPPLE_FN double bound_by_factors(double *A, int k) {
  factor(A, k);
  double zeta = 1, greatest = A[0], smallest = A[0];
  for (int i = 0; i < k; ++i) {
    double sum = 1;
    for (int j = 0; j < i; ++j)
      sum += std::fabs(A[i * k + j]);
    zeta = larger(zeta, sum);
    greatest = larger(greatest, A[i * k + i]), smallest = lesser(smallest, A[i * k + i]);
  }
  const double top = k * zeta * zeta * zeta * zeta * greatest;
  return top < 1e30 * smallest ? top / smallest : 1e30;
}

// from 0 to 1 without a kink at either end
SUPPLE_FN double smooth_step(double x) { return x * x * (3 - 2 * x); }

// How far q is from a named singularity: an angle, a sine or a length.
SUPPLE_FN double distance_from(const Damper &d, const double *q, const DampingScratch &desk) {
  if (d.measure == off_axis) {
    const Frame<double> tip = frame<double>(traverse_chain(d.carrier, q, desk.axes)),
                        base = frame<double>(traverse_chain(d.axis_of, q, desk.axes));
    const Vec<double> way = tip * Vec<double>{d.point[0], d.point[1], d.point[2]} - base.p;
    const Vec<double> across = cross(base.r * Vec<double>{d.axis[0], d.axis[1], d.axis[2]}, way);
    // along the tangent of the cylinder: the way that is left in the plane of an arm with that offset
    return root(larger(dot(across, across) - d.radius * d.radius, 0.0));
  }
  const double x = d.gain * q[d.index] + d.offset;
  double nearest = 1e300;
  for (int i = 0; i < d.value_count; ++i) {
    double away = x - d.values[i];
    if (d.measure == sine_of)
      away = std::sin(away);
    else if (d.wraps)
      away = std::remainder(away, 6.283185307179586477);
    nearest = lesser(nearest, std::fabs(away));
  }
  return nearest;
}

// [D24-D27] Ramps of the joints near their limits: lowers w, and returns how much of alpha_0 they ask for.
//
// As printed, a joint that rests counts as moving up, a ramp may jump up by almost 1, and beyond a limit
// weights are negative. Mended, the last direction counts (at first the nearer limit), ramps stay between 0
// and 1, move by no more than their step either way, and fade without a kink.
SUPPLE_FN double ramp(const Problem &problem, const Damper &d, const double *q, double dt, double *memory,
                      double *w) {
  const int n = problem.n;
  const double *last = memory + 1, *way = memory + 1 + n, step = d.rate * dt;
  double *ramps = memory + d.memory, most = 0;
  for (int l = 0; l < n; ++l) {
    if (!(d.each[l] > 0))
      continue;
    const double above = problem.upper[l] - q[l], below = q[l] - problem.lower[l];
    double &u = ramps[l];
    if (d.printed) {
      const double room = last[l] >= 0 ? above : below;
      u = room < d.each[l] ? larger(u - step, room / d.each[l]) : lesser(u + step, 1.0);
      most = larger(most, 1 - u * u);
      w[l] = lesser(w[l], d.weight + (1 - d.weight) * u);
    } else {
      const bool up = way[l] > 0 || (way[l] == 0 && above <= below);
      u = clip(clip((up ? above : below) / d.each[l], 0.0, 1.0), u - step, u + step);
      most = larger(most, (1 - u * u) * (1 - u * u));
      w[l] = lesser(w[l], d.weight + (1 - d.weight) * smooth_step(u));
    }
  }
  return most;
}

// All schemes at q, for what is seen there (weighted error, weighted Jacobian): returns alpha [D28] and
// leaves the joint weights [D29] and J_w on the desk. Weights merge first, so that schemes that look at the
// Jacobian see J_w: with a joint frozen at its limit J can be healthy and J_w singular.
SUPPLE_FN double damp(const Problem &problem, const Method &method, const double *q, const double *e,
                      const double *J, double dt, double *memory, const DampingScratch &desk) {
  const int m = problem.rows, n = problem.n, k = m < n ? m : n;
  double *w = desk.w, alpha = 0, share = 0; // share: of the largest singular value, squared
  for (int l = 0; l < n; ++l)
    w[l] = 1;
  if (!method.schemes)
    alpha = method.way == by_damping ? method.damping : 0;
  auto ask_for = [&](const Damper &d, double part) {
    (d.bounded ? share : alpha) = larger(d.bounded ? share : alpha, d.alpha0 * part);
  };
  const bool first = memory[0] == 0;
  for (int l = 0; l < 2 * n && first; ++l)
    memory[1 + l] = 0;
  memory[0] = 1;
  for (int i = 0; i < method.damper_count; ++i) {
    const Damper &d = method.dampers[i];
    if (first) {
      const double fresh = d.scheme == by_limits ? 1 : 0;
      for (int l = 0; l < (d.scheme == by_limits ? n : 1); ++l)
        memory[d.memory + l] = fresh;
    }
    if (d.scheme == by_constant)
      ask_for(d, 1);
    else if (d.scheme == by_limits)
      ask_for(d, ramp(problem, d, q, dt, memory, w));
    else if (d.scheme == by_asking) {
      for (int l = 0; l < n; ++l)
        desk.Jw[l] = 1;
      double said = 0;
      if (method.ask_damping)
        method.ask_damping(method.asked_damping, d.asked, q, e, J, dt, &said, desk.Jw);
      ask_for(d, said);
      for (int l = 0; l < n; ++l)
        w[l] = lesser(w[l], desk.Jw[l]);
    } else if (d.scheme == by_error) { // [D21]
      double square = 0;
      for (int r = 0; r < m; ++r)
        square += e[r] * e[r];
      ask_for(d, square);
    } else if (d.scheme == by_singularity) { // [D22, D23]
      double away = 1e300;
      if (d.measure != as_asked)
        away = distance_from(d, q, desk);
      else if (method.ask_damping)
        method.ask_damping(method.asked_damping, d.asked, q, e, J, dt, &away, desk.Jw);
      if (!(away < d.region))
        continue;
      const double x = larger(away, 0.0) / d.region, part = 1 - x * x;
      ask_for(d, d.printed ? part : part * part);
      const double weight = d.weight + (1 - d.weight) * (d.printed ? x : smooth_step(x));
      for (int l = 0; l < n; ++l)
        if (d.each[l] > 0)
          w[l] = lesser(w[l], weight);
    }
  }
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < n; ++l)
      desk.Jw[i * n + l] = J[i * n + l] * w[l];
  bool known = false;
  auto squares = [&]() -> const double * {
    if (!known)
      squared_singular_values(desk.Jw, m, n, desk.A, desk.V, desk.squares);
    known = true;
    return desk.squares;
  };
  // the product of as many singular values as there can be; as printed the root of det(J J'), whatever the
  // rank
  auto freedom_for = [&](const Damper &d) {
    if (d.printed)
      return m > n ? 0.0 : freedom(J, m, n, desk.A);
    if (d.rank >= k)
      return freedom(desk.Jw, m, n, desk.A);
    double product = 1;
    for (int r = 0; r < d.rank; ++r)
      product *= squares()[r];
    return root(product);
  };
  for (int i = 0; i < method.damper_count; ++i) {
    const Damper &d = method.dampers[i];
    if (d.scheme == by_manipulability) { // [D19]
      const double x = freedom_for(d) / d.region;
      if (x < 1)
        ask_for(d, (1 - x) * (1 - x));
    } else if (d.scheme == by_falling) {
      const double now = freedom_for(d), before = memory[d.memory];
      double ratio = !first && before > 0 ? now / before : 1;
      if (!d.printed)
        ratio = std::pow(ratio, iteration_time / dt);
      if (ratio < d.region)
        ask_for(d, 1 - ratio);
      memory[d.memory] = now;
    } else if (d.scheme == by_factors && d.printed) {
      ask_for(d, memory[d.memory]);
    } else if (d.scheme == by_factors) { // [D20]
      double bound;
      if (d.rank < k)
        bound = squares()[0] < 1e30 * squares()[d.rank - 1] ? d.rank * squares()[0] / squares()[d.rank - 1]
                                                            : 1e30;
      else
        bound = bound_by_factors(desk.A, shorter_square(desk.Jw, m, n, 0, desk.A));
      if (bound > d.region)
        ask_for(d, (1 - d.region / bound) * (1 - d.region / bound));
    } else if (d.scheme == by_weakest) {
      const double part = d.region * d.region;
      if (d.rank >= k) {
        // most often a factorisation shows that the smallest is above the region, of more than the largest
        // there can be
        double all = 0;
        for (int j = 0; j < m * n; ++j)
          all += desk.Jw[j] * desk.Jw[j];
        shorter_square(desk.Jw, m, n, part * all, desk.A);
        if (all > 0 && factor(desk.A, k) > 0)
          continue;
      }
      const double edge = part * squares()[0], weakest = squares()[d.rank - 1];
      if (weakest < edge || !(edge > 0))
        ask_for(d, edge > 0 ? (1 - weakest / edge) * (1 - weakest / edge) : 1);
    }
  }
  if (share > 0)
    alpha = larger(alpha, share * squares()[0]); // [D10] at sigma_m = 0
  for (int i = 0; i < method.damper_count; ++i) {
    const Damper &d = method.dampers[i];
    if (d.scheme != by_factors || !d.printed)
      continue;
    // as printed: from the factors of the very matrix that is solved now, for the next iteration
    for (int r = 0; r < m; ++r)
      for (int c = 0; c <= r; ++c) {
        desk.A[r * m + c] = r == c ? alpha : 0;
        for (int l = 0; l < n; ++l)
          desk.A[r * m + c] += desk.Jw[r * n + l] * desk.Jw[c * n + l];
      }
    const double bound = bound_by_factors(desk.A, m);
    memory[d.memory] = bound > d.region ? (1 - bound / d.region) * (1 - bound / d.region) : 0;
  }
  return alpha;
}

// A joint at its limit keeps a small weight, or it would never leave; what little it would go outward does
// not count.
SUPPLE_FN void discard_tiny(const Problem &problem, const Method &method, const double *q, double dt,
                            double *dq) {
  for (int i = 0; i < method.damper_count; ++i) {
    const Damper &d = method.dampers[i];
    if (d.scheme != by_limits || !(d.tiny > 0))
      continue;
    for (int l = 0; l < problem.n; ++l)
      if (d.each[l] > 0 && std::fabs(dq[l]) < d.tiny * dt &&
          ((dq[l] > 0 && q[l] >= problem.upper[l]) || (dq[l] < 0 && q[l] <= problem.lower[l])))
        dq[l] = 0;
  }
}

} // namespace SUPPLE_ISA
} // namespace supple
