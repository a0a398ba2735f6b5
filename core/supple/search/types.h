// Plain data of a search: what its set-up computes, the request of a solve and its result.
#pragma once
#include "supple/task/types.h"

namespace supple {

constexpr double unbounded = 1e300; // a limit or a distance of this size or more counts as infinite

// Angles farther from 0 than this have too few digits left for a tolerance: joints that wrap come back to
// within half a turn of 0 from there. A joint that moves by less than least_gain for a change of its value is
// not moved.
constexpr double largest_angle = 1048576, least_gain = 1e-9;

// Constants of the search. A restart is one descent; its seed is the q where it begins. The start is the q
// that the caller gives: the seed of the first restart.
struct SearchConstants {
  // step: damping = this fraction of the squared error [D21]
  static constexpr double damping = 0.02;
  // Where joints slide, of the squared error of a goal within the reach of the turns, at most: 2 pi and half
  // a turn. Slides go much farther than that, and so much damping would hold them back.
  static constexpr double damped_error = 44;

  // A restart is abandoned if error(k) > ratio * error(k - window), both squared, or after so many steps. The
  // ratio is less strict from the caller's start.
  static constexpr double error_ratio = 0.5, own_error_ratio = 0.9;
  static constexpr int error_window = 4, restart_steps = 30;

  // The first batch of restarts, of which the best solution is taken, does not depend on the width of lanes.
  static constexpr int first_batch = 8;
  static constexpr int whole_seed_every = 8; // for several goals, the other restarts are partial
  // for several goals, a target is met in a lane if its squared error is below this share of the lane's
  static constexpr double met_error_share = 1e-2;
  static constexpr int unreachable_restarts = 64;    // for a goal farther away than the reach
  static constexpr double same_solution = 0.01;      // two solutions are equal below this, in natural sizes
  static constexpr double tolerance_fraction = 0.98; // others, who round differently, agree on arrival

  // The nearest solution to a start: seeds in rounds of so many, at most so many from the table, and before
  // them a few in a box round the start, of this fraction of the distance of the solution so far. A seed of
  // the table is used if it is no farther from the start than the solution, plus the margin, and not so near
  // to a solution of an earlier round that it would lead there. Distances are in weighted sizes.
  static constexpr int near_round = 16, near_table_seeds = 96, near_box_seeds = 4;
  static constexpr int many_box_seeds = 12; // the same without a table, and for solutions that slide
  // a value of a seed that is so many radians outside its limits, at most, is moved to them
  static constexpr double near_outside = 1;
  static constexpr double near_box = 0.6, near_margin = 0.5, near_solution = 0.8;
  static constexpr int near_cells = 33;                      // of the table, round that of the goal
  static constexpr double near_shift = 0.5, near_tilt = 0.5; // of the goal to those cells: of a cell, radians
  static constexpr int known_solutions = 64;
  static constexpr double known_gap = 0.1; // between two of them
  // wrists that are turned over: axes are at right angles if the cosine is below; how much farther than the
  // solution so far they may begin
  static constexpr int flips = 8;
  static constexpr double flip_cosine = 0.1, flip_margin = 1.0;
  // a descent is dropped if its squared error is below the first and it will end this much farther away than
  // the solution so far
  static constexpr double drop_error = 0.1, drop_margin = 0.3;
  // slides of redundant linkages: from this squared error on; least and largest step size
  static constexpr double slide_error = 0.1, least_step_size = 0.05, largest_step_size = 1;
  static constexpr int last_steps = 10;       // after the last slide
  static constexpr int refined_solutions = 4; // of the nearest solutions at the end

  // When no restart arrives: so many abandoned candidates descend a little, and the best of them far.
  static constexpr int candidates = 96, short_descent = 10;
  static constexpr int best_candidates = 8, long_descent = 300;

  // When that does not arrive either: a squared error below this is a miss by little, which is worth so many
  // more restarts in a box of this half side, in weighted sizes.
  static constexpr double near_miss = 1e-4, near_miss_box = 3;
  static constexpr int near_miss_restarts = 2048;

  // seeds for chains of many joints that bend every joint by the same angle: from so many joints on, how
  // many, halvings of that angle, joints that point the seed to the goal
  static constexpr int arc_joints = 12, arc_seeds = 4, arc_halvings = 40, pointing_joints = 3;

  // steps in double, at most, that finish what a search in float has found
  static constexpr int polish_steps = 8;
  // most iterations of the first batch of restarts in float, with their finish
  static constexpr int float_iterations = first_batch * (restart_steps + 1 + polish_steps);

  // table
  static constexpr int table_samples = 20000;
  static constexpr int table_trials = 256; // solves that decide whether the table stays
  static constexpr int table_trial_restarts = 320, table_trial_iterations = 40000; // of each, at most
  static constexpr double table_trial_step = 1, table_trial_tolerance = 1e-6;
  static constexpr double sample_margin = 0.97; // fraction of a limited range that is sampled
};

// One joint value in a search.
struct SearchJoint {
  double natural_size;            // natural size of a change: 1 rad, or a length that moves as much
  double weighted_size;           // the same times the joint weight; 0: locked
  double lower, upper;            // a step stays within; -unbounded and unbounded where the joint wraps
  float float_lower, float_upper; // the same, rounded inward
  double range_begin, range_size; // of seeds
  double stride;                  // fraction of the range by which each seed differs from the one before
  double middle;                  // the first seed if there is no table
  double period;                  // of a joint that wraps, else 0
  double full_turn, largest;      // of a joint that may turn all round: its period, even if it is locked, and
                                  // the value from which on it comes back to 0; else 0 and unbounded
  int parent;                     // joint value before this one on the path from the world, or -1
  bool fixed;                     // its joint follows with a gain below least_gain
  bool is_prismatic;              // a length: its change is not cut to the longest step
};

// Samples of q in cells, by position and direction of the end effector. Two angles are left out of the
// samples because they follow from the goal: that of a first revolute joint, which only turns all others
// about its axis, and that of a last one, if it only turns the end effector about a fixed direction.
struct Table {
  static constexpr int cell_samples = 16; // samples of a cell, at most
  bool solves_first, solves_last;         // which of the two angles are left out
  bool has_direction;                     // whether directions count
  int position_cells[3];                  // along (radius, height) or (x, y, z) in the base frame
  int direction_cells; // along each side of the octahedral map of directions; 1: no directions
  double cell_origin[3], cell_size[3];
  double base_rotation[9], base_position[3]; // frame of the first joint
  double direction[3], side[3], point[3]; // in the end effector's axes; side is at a right angle to direction
  double first_gain, last_gain;           // angle of the joint for a change of q
  int first_index, last_index;            // places of the two joints in q
  double position_weight;                 // in the distance between a sample and a goal
  int fields;                             // numbers of a sample: see TableField
  const float *samples;                   // cells x fields x cell_samples
  const int *counts;                      // samples in each cell
};

// The set-up of a search. Its arrays lie in one block of memory, those of the table in another.
struct Search {
  const SearchJoint *joints; // n
  // n: the same where no joint with limits wraps, for the nearest solution to a start: a joint that leaves
  // its limits would come back a full turn away. Null if that changes nothing.
  const SearchJoint *near_joints;
  const int *columns;      // joint values that move each target, one target after another: the columns of J
  const int *column_begin; // targets + 1
  const int *axis_column;  // for each axis of each target: its column among those of the target
  Table table;
  bool has_table;
  bool nearest;        // with a start: the nearest solution, not the nearest of the first batch
  bool moves_to_start; // the same for a redundant linkage: its solutions are moved towards the start
  bool has_slack;
  bool aligns_root;     // seeds move a floating root to where the end effectors are near their goals
  bool uses_frame_step; // one goal with six rows without slack, for a chain of simple joints
  int max_restarts;
  int max_iterations;          // of one solve, all restarts together
  double damped_error;         // most of a squared error that damps a step
  double max_step;             // largest change of a joint in a step, in weighted sizes
  double accept_distance;      // a solution from the caller's start that is nearer ends the solve
  double reach, reach_base[3]; // the end effector stays within this distance; unbounded: not known
  double length;               // of the longest chain, in metres: what float can resolve is a fraction of it
  double position_tolerance, angle_tolerance; // metres, radians
};

// What the caller says about a search. Arrays have n numbers.
struct SearchOptions {
  const double *natural_size, *weight, *rest;
  int max_restarts, max_iterations;
  double max_step, accept_distance;
  double position_tolerance, angle_tolerance;
  double reach, reach_base[3];
  bool nearest;
};

// A step of more joints than this takes long: it looks itself whether the solve is to end.
constexpr int many_joints = 64;

// What ends a solve from outside; without functions nothing does.
struct Deadline {
  void (*start)(void *clock);  // a solve begins
  bool (*passed)(void *clock); // it is to end now; from then on this stays true until the next one begins
  void *clock;
  bool timed;   // there is a time limit for each solve
  int interval; // a power of two less one: the steps between two looks
};

// One solve.
struct Request {
  const double *goals; // 12 for each target
  const double *start; // n, or null
  int wanted;          // solutions, at most
  Deadline deadline;
};

// What became of one solve.
struct Found {
  int outcome, iterations, restarts;
  double squared_error; // of the candidate returned when none arrived
};

// Many solves of one kind.
struct SearchBatch {
  long long count;
  const double *goals;  // count x 12 for each target
  const double *starts; // count x n, or null
  Deadline deadline;
  double *q;    // count x n
  Found *found; // count
};

// Many descents without restarts.
struct Descents {
  long long count;
  const double *goals;  // count x 12 for each target
  const double *starts; // count x n
  double fraction; // of the distance to its start by which a row is drawn from where the row before ended;
                   // < 0: each row begins at its start
  int max_steps;
  double *q;     // count x n
  int *outcomes; // count: arrived or stuck
};

// The parts of the set-up that run in the instruction set in use, with their scratch memory.
struct SetupKernels {
  // `rows` of fields numbers for each sample
  void (*sample)(const Problem &, const Search &, int count, float *rows, void *scratch);
  Found (*solve)(const Problem &, const Search &, const Request &, double *q, int &count, void *scratch);
  void *scratch;
};

} // namespace supple
