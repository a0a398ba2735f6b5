// Plain data of a search: what its set-up computes, what a solve is asked and what it returns.
#pragma once
#include "supple/task/types.h"

namespace supple {

constexpr double unbounded = 1e300; // a limit or a distance of this size or more counts as infinite

// Constants of the search. A restart is one descent from one seed.
struct SearchConstants {
  static constexpr double damping = 0.02;    // of a step, as a part of the squared error [D21]
  static constexpr double error_ratio = 0.5; // a restart is abandoned if its squared error is above this part
  static constexpr double own_error_ratio = 0.9; // (the restart from the caller's start: above this part)
  static constexpr int error_window = 4;         // of that so many steps before,
  static constexpr int restart_steps = 30;       // or after so many steps in all
  static constexpr int first_batch = 8; // restarts of which the best answer is taken, for all lane widths
  static constexpr int whole_seed_every =
      8;                                // for several goals, one restart of so many has a new seed as a whole
  static constexpr int candidates = 96; // best abandoned candidates that are kept
  static constexpr int short_descent = 10;        // steps from each of them, when no restart arrives
  static constexpr int long_descents = 8;         // how many of the best are then refined
  static constexpr int long_descent = 300;        // in at most so many steps
  static constexpr int unreachable_restarts = 64; // where the goal is farther than the reach of the linkage
  static constexpr double same_answer = 0.01; // answers are equal if all joints differ by less natural sizes
  static constexpr double tolerance_part = 0.98; // so that others, who round differently, agree on arrival
  static constexpr double sample_margin = 0.97; // samples of a table keep away from limits: part of the range
  static constexpr int table_samples = 20000;   // from which a table is made
  static constexpr int table_trials = 256;      // solves that decide whether the table stays
};

// One joint value in a search.
struct SearchJoint {
  double natural_size;            // natural size of a change: 1 rad, or a length that moves as much
  double weighted_size;           // the same times the joint weight; 0: locked
  double lower, upper;            // a step stays within; -unbounded and unbounded where the joint wraps
  double range_begin, range_size; // of seeds
  double stride;                  // part of the range by which each seed differs from the one before
  double middle;                  // the first seed if there is no table
  double period;                  // of a joint that wraps, else 0
  int parent;                     // joint value before this one on the way from the world, or -1
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
  const int *columns;        // joint values that move each target, one target after another: the columns of J
  const int *column_begin;   // targets + 1
  const int *axis_column;    // for each axis of each target: its column among those of the target
  Table table;
  bool has_table;
  bool uses_frame_step; // one goal with six rows without slack, for a chain of simple joints
  int max_restarts;
  int max_iterations;          // of one solve, all restarts together
  double max_step;             // largest change of a joint in a step, in weighted sizes
  double accept_distance;      // an answer from the caller's start that is nearer ends the solve
  double reach, reach_base[3]; // the end effector stays within this distance; unbounded: not known
  double position_tolerance, angle_tolerance; // metres, radians
};

// What the caller says about a search. Arrays have n numbers.
struct SearchOptions {
  const double *natural_size, *weight, *rest;
  int max_restarts, max_iterations;
  double max_step, accept_distance;
  double position_tolerance, angle_tolerance;
  double reach, reach_base[3];
};

// A time limit for each solve; without functions there is none.
struct Deadline {
  void (*start)(void *clock); // a solve begins
  bool (*passed)(void *clock);
  void *clock;
};

// What one solve is asked.
struct Request {
  const double *goals; // 12 for each target
  const double *start; // n, or null
  int wanted;          // answers, at most
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

// The parts of the set-up that run in the instruction set in use, with their scratch memory.
struct SetupKernels {
  // `rows` of fields numbers for each sample
  void (*sample)(const Problem &, const Search &, int count, float *rows, void *scratch);
  Found (*solve)(const Problem &, const Search &, const Request &, double *q, int &count, void *scratch);
  void *scratch;
};

} // namespace supple
