// Goals of limbs for many frames of time, as a search reads them: twelve numbers each, a rotation row by row
// and then a position.
#pragma once
#include "supple/motion/bend.h"

namespace supple {
inline namespace SUPPLE_ISA {

constexpr int goal_size = 12;

SUPPLE_FN void write_goal_turn(const Rot<double> &r, double *goal) {
  const Rot<double> rows = transpose(r);
  store3(rows.x, goal);
  store3(rows.y, goal + 3);
  store3(rows.z, goal + 6);
}
SUPPLE_FN void write_goal_place(Vec<double> p, double *goal) { store3(p, goal + 9); }
SUPPLE_FN void clear_goal(double *goal) {
  for (int i = 0; i < goal_size; ++i)
    goal[i] = 0;
}

// A leg: the frame of its foot in the axes of the pelvis, and the point for its knee, if there is one.
SUPPLE_FN void write_leg_goals(const Frame<double> &pelvis, const Frame<double> &foot,
                               const Vec<double> *knee, double *goals) {
  const Frame<double> back = inverse(pelvis), wanted = back * foot;
  write_goal_turn(wanted.r, goals);
  write_goal_place(wanted.p, goals);
  if (!knee)
    return;
  clear_goal(goals + goal_size);
  write_goal_place(back * *knee, goals + goal_size);
}

// An arm, in the axes of the chest: the place of its wrist, the point that its elbow points to, and with
// `hand` how its hand is turned. The arm is never quite straight: its elbow would point nowhere.
SUPPLE_FN void write_arm_goals(const BentLimb &arm, double longest, Vec<double> shoulder,
                               const Rot<double> *hand, double *goals) {
  clear_goal(goals);
  write_goal_place(shoulder + lesser(arm.distance, longest) * arm.along, goals);
  clear_goal(goals + goal_size);
  const Vec<double> way = 0.5 * arm.distance * arm.along + longest * bend_direction(arm);
  write_goal_place(shoulder + way, goals + goal_size);
  if (!hand)
    return;
  clear_goal(goals + 2 * goal_size);
  write_goal_turn(*hand, goals + 2 * goal_size);
}

} // namespace SUPPLE_ISA
} // namespace supple
