// Goals and the problem they make: plain data, the same for all instruction sets.
#pragma once
#include "supple/model/types.h"

namespace supple {

// the rows an error can have: position and orientation along the world's axes; two rotations across a
// pointing axis; the distance from a point or a line, or two rows across a line
enum Component : int {
  along_x,
  along_y,
  along_z,
  about_x,
  about_y,
  about_z,
  across_1,
  across_2,
  radial_1,
  radial_2
};
constexpr int component_count = 10;

inline bool is_position_component(int component) { return component < about_x || component >= radial_1; }

// What is wanted of one end effector. Its chain counts only the joints that some goal needs, 0 to n - 1. The
// goal itself is given for each problem as twelve numbers: the rotation row by row (its first row is the
// direction, when has_direction) and the position (which is the point to look at, when looks, and
// the pole, when has_pole).
struct Target {
  Chain chain;      // for a centre of mass, all joints that move it
  MassTree masses;  // of a goal for the centre of mass of the linkage; else its count is 0
  int first, rows;  // its rows among all
  int component[6]; // which ones they are; those without weight are left out
  double weight[6]; // of each row
  double slack[6]; // of each row: as far from the goal as this is as good; for a direction, half the angle of
                   // a cone
  double point[3]; // what is to be brought to the position, in the end effector's axes
  double axis[3];  // what is to point along the direction, in the end effector's axes
  bool looks;      // the axis, from the point, is to pass through the goal's position
  double distance; // of radial rows: how far the point shall be from the goal's position, or from a line
                   // through it
  double line[3];  // direction of that line, of length 1; zero: there is none
  bool has_pole;   // the one row, about_x, is the angle of the elbow about the line from the shoulder to the
                   // point: the goal's position is to be on the elbow's side of that line
  int limb[2];     // of a pole: the axes at whose origins the shoulder and the elbow are
  // derived from the rows by set_properties (task/goal.h)
  bool has_position;  // the goal's position counts
  bool has_rotation;  // some of about_x, about_y, about_z
  bool points;        // across_1 and across_2
  bool has_direction; // the same, along a direction that the goal gives
  bool has_radial;    // radial_1
  bool has_slack;     // of some row
  bool needs_angle;   // its rotation rows must be of the angle itself: a cone, or not all three without slack
  bool has_component[6]; // which world components of position and rotation count; a direction has all
                         // rotations, a distance and a point to look at have all positions
};

struct Problem {
  const Target *targets;
  int target_count, rows, n;
  const double *lower, *upper; // n
  const Ball *balls;
  int ball_count;
};

struct Stop {
  int iterations, patience;                  // patience: iterations without progress before it is stuck
  double position, angle;                    // tolerances, in metres and radians
  bool (*interrupted)(void *data) = nullptr; // whether a solve is to end before it is done, or null
  void *interrupt_data = nullptr;

  bool is_interrupted() const { return interrupted && interrupted(interrupt_data); }
};

// no_more: of several requested answers, a place beyond those found, which repeats the first.
enum Outcome : int { arrived, stuck, out_of_budget, invalid, no_more };

} // namespace supple
