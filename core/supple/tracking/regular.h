// The short way: no direction is weak, so no direction need be known.
#pragma once
#include "supple/tracking/evaluate.h"

namespace supple {
inline namespace SUPPLE_ISA {

template <int N, int M>
struct Quick : Glance<N, M> {
  using Base = Glance<N, M>;
  using Base::Base;
  using Base::t, Base::s, Base::desk, Base::law, Base::dt, Base::n, Base::m, Base::free_count, Base::bend,
      Base::gather, Base::add_growth, Base::unseen;

  // The short way: no direction is weak, so no direction need be known. For as many joints as rows, a factor
  // tells; with one joint more, the direction that no goal sees is found by a projection. False where it does
  // not hold.
  SUPPLE_FN bool quick(Tick &tick) {
    const int nf = free_count;
    const double clear = 2 * squared(law.weak); // above, even the posture is learnt at full pace
    if (nf > t.rank + 1 || nf == 0)
      return false;
    if (nf == t.rank + 1)
      return nf == n && m == t.rank && quick_redundant(tick);
    if constexpr (N > 0 && N <= 8) {
      if (nf == N) {
        Factored<N> F;
        if (F.factor(desk.G, clear) || F.factor(desk.H, clear))
          return false;
        F.factor(desk.H, 0);
        for (int i = 0; i < n; ++i)
          desk.xb[i] = desk.back[i], desk.xf[i] = desk.ahead[i], desk.xn[i] = 0;
        F.solve(desk.xb);
        F.solve(desk.xf);
        return true;
      }
    }
    gather(desk.G, desk.A);
    if (factor_shifted<0>(desk.A, nf, clear, desk.F))
      return false;
    gather(desk.H, desk.A);
    if (factor_shifted<0>(desk.A, nf, clear, desk.F))
      return false;
    factor_shifted<0>(desk.A, nf, 0, desk.F);
    for (int i = 0; i < n; ++i)
      desk.xb[i] = desk.xf[i] = desk.xn[i] = 0;
    for (int side = 0; side < 2; ++side) {
      for (int i = 0; i < nf; ++i)
        desk.full[i] = (side ? desk.ahead : desk.back)[desk.order[i]];
      solve_shifted<0>(desk.F, nf, desk.full);
      for (int i = 0; i < nf; ++i)
        (side ? desk.xf : desk.xb)[desk.order[i]] = desk.full[i];
    }
    return true;
  }

  // The same with one joint more than rows; for the sizes that are known when compiling.
  SUPPLE_FN bool quick_redundant(Tick &tick) {
    if constexpr (N == 0 || M == 0 || N > 8)
      return false;
    else {
      const double near = squared(law.climb_below), clear = 2 * squared(law.weak);
      if (!(bend < 1e-2 * clear))
        return false;
      using Row = Pack<double, 8>;
      Row column[N];
      for (int k = 0; k < N; ++k) {
        double padded[8] = {};
        std::memcpy(padded, desk.J + k * M, M * sizeof(double));
        std::memcpy(&column[k], padded, sizeof(Row));
      }
      double S[M * M];
#pragma GCC unroll 8
      for (int i = 0; i < M; ++i) {
        Row sum(0.0);
#pragma GCC unroll 8
        for (int k = 0; k < N; ++k)
          sum = sum + Row(get(column[k], i)) * column[k];
        double all[8];
        std::memcpy(all, &sum, sizeof sum);
        std::memcpy(S + i * M, all, M * sizeof(double));
      }
      Factored<M> F;
      const int below = F.factor(S, near);
      if (below > 1)
        return false;
      F.factor(S, 0);
      auto transposed = [&](const double *rows, double *out) { // J' rows
        for (int k = 0; k < N; ++k)
          out[k] = dot_rows<M>(desk.J + k * M, rows, M);
      };
      for (int i = 0; i < N; ++i)
        desk.climb[i] = 0;
      if (below) {
        // the weakest direction of the rows, by inverse iteration from that of the last tick
        double u[M], gamma = 0, z[N];
        std::memcpy(u, s.null + N, sizeof u);
        for (int turn = 0; turn < 12; ++turn) {
          F.solve(u);
          const double length = root(dot_rows<M>(u, u, M)), was = gamma;
          if (!(length > 0 && length < 1e300))
            return false;
          gamma = 1 / length;
          for (int i = 0; i < M; ++i)
            u[i] *= gamma;
          if (std::fabs(gamma - was) < 1e-3 * gamma)
            break;
          if (turn == 11)
            return false;
        }
        std::memcpy(s.null + N, u, sizeof u);
        if (!(gamma > clear && gamma < near))
          return false;
        const double sigma = root(gamma);
        transposed(u, z);
        for (int k = 0; k < N; ++k)
          z[k] /= sigma;
        for (int i = 0; i < M; ++i)
          u[i] *= sigma;
        add_growth(z, u, sigma, squared(1 - gamma / near));
        tick.least = sigma;
      }
      // the direction that no goal sees, from that of the last tick
      double *z = s.null, length = 0, free[N];
      for (int first = -1; first < N && !(length > (first > 0 ? 0.3 : 0.5)); ++first) {
        if (first >= 0)
          for (int k = 0; k < N; ++k)
            z[k] = k == first;
        Row along(0.0);
        for (int k = 0; k < N; ++k)
          along = along + Row(z[k]) * column[k];
        double l[8];
        std::memcpy(l, &along, sizeof along);
        F.solve(l);
        length = 0;
        for (int k = 0; k < N; ++k)
          free[k] = z[k] - dot_rows<M>(desk.J + k * M, l, M), length += free[k] * free[k];
        length = root(length);
      }
      if (!(length > 0.1))
        return false;
      for (int k = 0; k < N; ++k)
        z[k] = free[k] / length;
      double lambda = 0, back = 0, ahead = 0, rest = 0, up = 0;
      for (int i = 0; i < N; ++i) {
        double sum = 0;
        for (int j = 0; j < N; ++j)
          sum += desk.H[i * N + j] * z[j];
        lambda += z[i] * sum;
        back += z[i] * desk.back[i];
        ahead += z[i] * desk.ahead[i];
        rest += z[i] * desk.rest[i];
        up += z[i] * desk.climb[i];
      }
      double y, f, prefer, d;
      unseen(lambda, back, ahead, rest, up, d, y, f, prefer);
      desk.d[0] = d;
      desk.d[1] = lambda;
      for (int i = 0; i < N; ++i)
        desk.xn[i] = prefer * z[i];
      if (bend < 1e-7) { // the shortest steps are good enough
        double r[M], b[M];
        std::memcpy(r, desk.r, sizeof r), std::memcpy(b, desk.b, sizeof b);
        F.solve(r);
        F.solve(b);
        transposed(r, desk.xb);
        transposed(b, desk.xf);
        return true;
      }
      // with the eigenvalue of that direction moved to one, H has a factor
      for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j)
          desk.M[i * N + j] = desk.H[i * N + j] + (1 - lambda) * z[i] * z[j];
      Factored<N> whole;
      if (whole.factor(desk.M, 0))
        return false;
      for (int i = 0; i < N; ++i)
        desk.xb[i] = desk.back[i] - back * z[i], desk.xf[i] = desk.ahead[i] - ahead * z[i];
      whole.solve(desk.xb);
      whole.solve(desk.xf);
      for (int i = 0; i < N; ++i)
        desk.xb[i] += y * z[i], desk.xf[i] += f * z[i];
      return true;
    }
  }
};

} // namespace SUPPLE_ISA
} // namespace supple
