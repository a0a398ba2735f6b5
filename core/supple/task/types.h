// Goals and the problem they make: plain data that every instruction set reads alike.
#pragma once
#include "supple/model/types.h"

namespace supple {

// the rows an error can have: position and orientation along the world's axes, and two across a pointing
// direction
enum Component : int { along_x, along_y, along_z, about_x, about_y, about_z, across_1, across_2 };

// What is wanted of one end effector. Its chain counts only the joints that some goal needs, 0 to n - 1. The
// goal itself is given for each problem as twelve numbers: the rotation row by row (its first row is the
// direction, when has_direction) and the position.
struct Target {
  Chain chain;
  int first, rows;  // its rows among all
  int component[6]; // which ones they are; those without weight are left out
  double weight[6]; // of each row
  double slack[6]; // of each row: as far from the goal as this is as good; for a direction, half the angle of
                   // a cone
  double point[3]; // what is to be brought to the position, in the end effector's axes
  double axis[3];  // what is to point along the direction, in the end effector's axes
  // derived from the rows by set_properties (task/goal.h)
  bool has_position;  // some of along_x, along_y, along_z
  bool has_rotation;  // some of about_x, about_y, about_z
  bool has_direction; // across_1 and across_2
  bool has_slack;     // of some row
  bool needs_angle;   // its rotation rows must be of the angle itself: a cone, or not all three without slack
  bool has_component[6]; // which world components of position and rotation count; a direction has all
                         // rotations
};

struct Problem {
  const Target *targets;
  int target_count, rows, n;
  const double *lower, *upper; // n
  const Ball *balls;
  int ball_count;
};

struct Stop {
  int iterations, patience; // patience: iterations without progress before it is stuck
  double position, angle;   // tolerances, in metres and radians
};

enum Outcome : int { arrived, stuck, out_of_budget, invalid };

} // namespace supple
