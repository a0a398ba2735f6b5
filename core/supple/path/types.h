// Plain data of a path: what is asked, how it is bounded, and what comes back.
#pragma once
#include "supple/search/types.h"

namespace supple {

// Constants of the path planner. A candidate is one q that is continued from frame to frame.
struct PathConstants {
  // A step of a joint is a jump if it is longer than its speed limit allows in the time between two frames,
  // or longer than this, in radians or the length that moves as much; where frames are more than
  // jump / jump_speed apart, longer than this speed allows.
  static constexpr double jump = 0.3, jump_speed = 6;
  static constexpr double rounding = 1e-9; // part of a bound by which a step may exceed it

  static constexpr int some = 48, many = 256; // candidates where the first ones fail
  static constexpr int newton_steps = 6;      // of a candidate in one frame, from where it is predicted
  static constexpr double longest_step = 0.5; // of a joint in one of them, in weighted sizes

  // Redundant candidates keep away from limits: from this part of half the range on, at most by this part of
  // the distance to the middle in a frame.
  static constexpr double limit_zone = 0.8, limit_gain = 0.1;

  // Many candidates of a redundant linkage are spread every so many frames: those nearer to a better one than
  // this, in weighted sizes, take the place of a copy of one that is better, and drift apart from it by this
  // part of a jump in each frame.
  static constexpr int spread_frames = 6;
  static constexpr double spread_gap = 0.12, drift = 0.3, drift_relief = 0.5;

  // Where few candidates fail without redundancy: so many solutions of each key frame, every so many frames.
  static constexpr int key_solutions = 16, key_frames = 12;

  static constexpr int gap_parts = 5; // in which the gap at the end of a path is closed

  static constexpr int choices = 8,
                       least_choices =
                           3; // candidates at the end of a run that are tried, at most and where they fail
  static constexpr double choice_gap = 0.3; // between two of them, in weighted sizes

  // A closed path that has no plan from its first frame on is planned from others, a path divided into so
  // many parts; joint values that differ by less, in radians or the length that moves as much, are the same.
  static constexpr int rotations = 4;
  static constexpr double same_value = 1e-6;

  // Where candidates from many first q fail: so many that are tried one by one, and the least gap between
  // them, in weighted sizes; how often they are spread before; and frames of all runs from them.
  static constexpr int starts = 128, start_rounds = 8, start_frames = 40000;
  static constexpr double same_goal = 1e-4; // difference of two goals, in metres and entries of rotations
  static constexpr double start_gap = 0.1;
  // Candidates from both ends that are joined in the middle: pairs that are tried, the largest gap between
  // two, in weighted sizes, and its cost.
  static constexpr int pairs = 3;
  static constexpr double meeting_gap = 1, meeting_cost = 100;

  // cost of a frame: the length of the step in weighted sizes, plus
  static constexpr double centring_cost = 0.05, conditioning_cost = 0.01, speed_cost = 1e4, jump_cost = 1e8;

  // A path is planned in windows of at most so many frames, fewer where there are many joints.
  static constexpr int window = 8192, least_window = 512;
  static constexpr long long window_numbers = 4 << 20; // joint values of all candidates of a window

  // Where a frame has no solution, others are looked for every so many frames.
  static constexpr int search_again = 8;
  static constexpr double closable_gap = 1.5;  // at the end of a redundant path, in weighted sizes
  static constexpr int nearest_steps = 12;     // of the descent that follows such frames
  static constexpr int ball_halvings = 4;      // of a turn in one, where limits of a ball lengthen it
  static constexpr double nearest_gain = 1e-4; // of the squared error, below which it ends

  // A jump is mended within so many frames before and after it, at first and at most; so many that cannot be
  // mended are tried.
  static constexpr int least_bridge = 2, longest_bridge = 8, bridge_failures = 8;

  // Smoothing: rounds, and most of them where joints are too fast; what keeps shifts small; the part of half
  // the range beyond which limits pull, and how strongly; from which part of the longest step on weights
  // grow, and how fast.
  static constexpr int usual_rounds = 2, smoothing_rounds = 24;
  static constexpr int step_halvings = 3;      // how much of a step is tried: all, a half, a quarter
  static constexpr double least_relief = 0.03; // part of the excess speed that a round must take away
  static constexpr double smooth_damping = 1e-4, smooth_zone = 0.9, limit_weight = 0.1,
                          centring_weight = 0.05;
  static constexpr double speed_zone = 0.85, weight_gain = 4;
};

enum PathPreference : int { least_motion, centred, well_conditioned };

// One path.
struct PathRequest {
  int frames;
  const double *goals; // frames x 12 for each target
  const double *times; // frames, in seconds, or null
  double dt;           // between frames, if there are no times
  const double *speed; // n, per second; unbounded: none
  const double *start; // n: near the first q, or null
  const double *end;   // n: near the last q, or null
  bool closed;         // the last q is to be the first
  int preference;      // a PathPreference
  int smoothed;        // candidates of a redundant linkage that are smoothed and compared; 0: none
  int candidates;      // at first; where they fail there are many
  Deadline deadline;
};

// What becomes of each frame of a path.
struct PathRows {
  double *q;                // frames x n
  unsigned char *outcome;   // Outcome
  double *distance, *angle; // largest of the targets, in metres and radians
  bool *reconfigured;       // the step to this frame is a jump
};

} // namespace supple
