// Many rotation vectors of one ball joint, brought within its limits of position and speed.
#pragma once
#include "supple/model/limits.h"

namespace supple {
inline namespace SUPPLE_ISA {

// Makes rotation vectors, the first three of each row (count x size), the nearest within the limits. Swing
// and twist are at most the angle of the whole rotation: a smaller one than all limits is within them.
SUPPLE_FN void clamp_ball_rows(const Ball &ball, double *rows, long long count, int size) {
  const Vec<double> axis = load3(ball.axis);
  const double swing = ball.swing, low = ball.low, high = ball.high;
  const double least = larger(lesser(swing, lesser(-low, high)), 0.0) * (1 - 1e-12);
  for (long long i = 0; i < count; ++i) {
    double *row = rows + i * size;
    const Vec<double> v = load3(row);
    if (!(dot(v, v) < least * least))
      store3(clamp_ball(v, axis, swing, low, high), row);
  }
}

// Rotation vectors in columns `first` to first + 2 of rows (count x size) that go on beyond a half turn: each
// is that of the same rotation, (1 + 2 pi k/a) v for a whole number k and its angle a, that is nearest to the
// one before.
SUPPLE_FN void continue_ball_rows(double *rows, long long count, int size, int first) {
  for (long long i = 1; i < count; ++i) {
    double *row = rows + i * size + first;
    const Vec<double> v = load3(row), before = load3(row - size);
    const double square = dot(v, v), along = dot(before, v) - square;
    // k is not 0 only where (before - v).v/a is more than pi in size
    if (!(along * along > pi * pi * square))
      continue;
    const double angle = root(square);
    store3((1 + 2 * pi * std::round(along / (2 * pi * angle)) / angle) * v, row);
  }
}

// Rotation vectors of a ball joint in time that shall turn by at most `limit` (3) from row to row.
struct SlowBall {
  const Ball *ball; // null: without limits
  const double *limit;
  const double *fixed; // count: rows that stay, as far as the limits allow
  long long count;
  double *rows; // count x 3
};

// The largest turn from one row to another, as a part of the limits.
SUPPLE_FN double turn_part(const SlowBall &motion, Vec<double> turn) {
  const double x = std::fabs(turn.x) / motion.limit[0], y = std::fabs(turn.y) / motion.limit[1];
  return larger(larger(x, y), std::fabs(turn.z) / motion.limit[2]);
}

// The nearest rotation vector within the limits of position.
SUPPLE_FN Vec<double> clamped(const SlowBall &motion, Vec<double> v) {
  const Ball *ball = motion.ball;
  return ball ? clamp_ball(v, load3(ball->axis), ball->swing, ball->low, ball->high) : v;
}

// Draws a row to its neighbour where it is too far; whether it was.
SUPPLE_FN bool draw_row(const SlowBall &motion, long long row, long long anchor) {
  const Vec<double> at = load3(motion.rows + 3 * anchor);
  const Vec<double> turn = between(at, load3(motion.rows + 3 * row));
  const double excess = turn_part(motion, turn);
  if (!(excess > 1))
    return false;
  store3(clamped(motion, turned(at, (1 / excess) * turn)), motion.rows + 3 * row);
  return true;
}

// Draws a row to its neighbour where it is too far, within the limits for certain: a clamped row may be
// farther away than it was drawn, so it goes less and less of the way.
SUPPLE_FN void hold_row(const SlowBall &motion, long long row, long long anchor) {
  constexpr double rounding = 1 + 1e-10;
  constexpr int halvings = 40;
  const Vec<double> at = load3(motion.rows + 3 * anchor);
  const Vec<double> turn = between(at, load3(motion.rows + 3 * row));
  const double excess = turn_part(motion, turn);
  if (!(excess > rounding))
    return;
  double part = 1 / excess;
  for (int i = 0; i < halvings; ++i, part *= 0.5) {
    const Vec<double> drawn = clamped(motion, turned(at, part * turn));
    if (turn_part(motion, between(at, drawn)) <= rounding) {
      store3(drawn, motion.rows + 3 * row);
      return;
    }
  }
  store3(at, motion.rows + 3 * row);
}

// A row that is too far from the next one is drawn to it; after a fixed row the next one is drawn to that.
// Some may be too far again: a few rounds, and then rows follow those before them. `fast`: count.
SUPPLE_FN void slow_ball_rows(const SlowBall &motion, bool *fast) {
  constexpr int rounds = 4;
  const double least = lesser(motion.limit[0], lesser(motion.limit[1], motion.limit[2]));
  for (int round = 0; round < rounds; ++round) {
    bool any_fast = false;
    for (long long i = 0; i + 1 < motion.count; ++i) {
      const Vec<double> from = load3(motion.rows + 3 * i), to = load3(motion.rows + 3 * i + 3);
      // two rotations are no farther apart than their rotation vectors
      const Vec<double> way = to - from;
      fast[i] = dot(way, way) > least * least && turn_part(motion, between(from, to)) > 1;
      any_fast = any_fast || fast[i];
    }
    if (!any_fast)
      return;
    auto is_free = [&](long long row) { return row < motion.count && motion.fixed[row] == 0; };
    for (long long i = 0; i + 1 < motion.count; ++i)
      if (fast[i] && motion.fixed[i] != 0)
        for (long long row = i; is_free(row + 1) && draw_row(motion, row + 1, row);)
          ++row;
    for (long long i = motion.count - 2; i >= 0; --i)
      for (long long row = i; fast[i] && row >= 0 && draw_row(motion, row, row + 1);)
        --row;
  }
  for (long long i = 0; i + 1 < motion.count; ++i)
    hold_row(motion, i + 1, i);
}

} // namespace SUPPLE_ISA
} // namespace supple
