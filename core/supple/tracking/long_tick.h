// The motion of a command within a tick that is divided because it is long.
#pragma once
#include "supple/tracking/value.h"

namespace supple {
inline namespace SUPPLE_ISA {

// s: a longer tick is divided into equal pieces, none longer than the second; where more than `few_values`
// joint values move, whose ticks take long, none longer than the third
constexpr double longest_tick = 4.000001e-3, longest_piece = 1e-3, longest_piece_of_many = 2e-3;
constexpr int few_values = 10;

SUPPLE_FLAT bool is_divided(double dt) { return dt > longest_tick; }

// of a tick in which n joint values move
SUPPLE_FLAT int piece_count(double dt, int n) {
  const double longest = n > few_values ? longest_piece_of_many : longest_piece;
  return is_divided(dt) ? int(std::ceil(dt / longest - 1e-6)) : 1;
}

// Whether a command that rested before a long tick, or for which the loop stalled, is somewhere else after
// it: it may have stopped there, so it is not taken for a motion that goes on. `v` and `last` are the mean
// velocities of this tick and of the last.
SUPPLE_FN bool is_sudden(const CommandState &s, const CommandOptions &o, const double *v, const double *last,
                         double dt) {
  if (!(dt > o.long_tick))
    return false;
  double change[6];
  for (int i = 0; i < 6; ++i)
    change[i] = v[i] - last[i];
  const bool rested = weighted_norm(o, last) <= no_motion, stalled = dt > o.stall * s.last_dt;
  return (rested || stalled) && weighted_norm(o, change) > o.sudden_speed;
}

// How the command moves in a divided tick that ends at `end`. It starts with the velocity that it had; at its
// end it has that of the parabola through the last three outputs, v + (v - v') dt / (dt + dt'), with v and v'
// the mean velocities of this tick and of the last; at rest where it did not move, or moved suddenly.
SUPPLE_FN void begin_path(CommandState &s, const CommandOptions &o, const Command &end, double dt,
                          CommandPath &path) {
  path.end = end;
  path.moves = false;
  bool rests = true;
  double v[6], last[6];
  for (int i = 0; i < 6; ++i) {
    v[i] = end.displacement[i] / dt;
    last[i] = v[i] - end.acceleration[i] * dt;
    rests = rests && v[i] == 0;
  }
  path.end.jumped = end.jumped || is_sudden(s, o, v, last, dt);
  for (int i = 0; i < 6; ++i) {
    const double end_velocity = v[i] + (v[i] - last[i]) * dt / (dt + s.last_dt);
    path.start_velocity[i] = path.end.jumped ? 0 : s.divided ? s.end_velocity[i] : last[i];
    path.end_velocity[i] = rests || path.end.jumped ? 0 : end_velocity;
    path.moves = path.moves || path.start_velocity[i] != 0 || path.end_velocity[i] != 0;
    s.end_velocity[i] = path.end_velocity[i];
  }
  s.divided = true;
  s.last_dt = dt;
}

// Moves the command to u of the tick, from wherever it was: the cubic
// x(u) = u (1 - u)^2 dt v0 + u^2 (3 - 2u) d - u^2 (1 - u) dt v1, d its displacement, from the end back by
// d - x(u).
SUPPLE_FN void move_along(const CommandOptions &o, const CommandPath &path, double u, double dt,
                          Command &out) {
  double last[12];
  std::memcpy(last, out.goal, sizeof last);
  out = path.end;
  if (!path.moves || path.end.jumped) {
    for (int i = 0; i < 6; ++i)
      out.displacement[i] = 0;
    return;
  }
  if (u < 1) {
    double back[6], value[value_size];
    for (int i = 0; i < 6; ++i) {
      back[i] = u * (1 - u) * dt * ((1 - u) * path.start_velocity[i] - u * path.end_velocity[i]) -
                (1 - u) * (1 - u) * (1 + 2 * u) * path.end.displacement[i];
    }
    goal_to_value(o, path.end.goal, value);
    add_difference(o, back, value);
    value_to_goal(o, value, path.end.goal, out.goal);
  }
  goal_difference(o, last, out.goal, out.displacement);
}

} // namespace SUPPLE_ISA
} // namespace supple
