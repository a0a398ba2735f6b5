// Plain data of a path: the request, the constants of the planner, and the results.
#pragma once
#include "supple/search/types.h"

namespace supple {

// Constants of the path planner. A candidate is one q that is continued from frame to frame. Steps and gaps
// are in weighted sizes (SearchJoint), if nothing else is said.
struct PathConstants {
  // A step of a joint is a jump if it is longer than its speed limit allows in the time between two frames,
  // or longer than `jump`, in radians or natural sizes. Where frames are more than jump / jump_speed seconds
  // apart, the second bound is the speed `jump_speed` instead.
  static constexpr double jump = 0.3;
  static constexpr double jump_speed = 6;
  static constexpr double rounding = 1e-9; // a step may exceed its bound by this fraction of it

  // Candidates, and Newton's steps of each in a frame.
  static constexpr int some = 48;        // candidates if the first ones fail
  static constexpr int many = 256;       // candidates if these fail too
  static constexpr int newton_steps = 6; // at most, from the predicted q

  // Candidates of a redundant linkage keep away from limits.
  static constexpr double limit_zone = 0.8; // they move back beyond this fraction of half the range
  static constexpr double limit_pull =
      0.1; // by at most this fraction of the distance to the middle in a frame

  // Candidates of a redundant linkage are spread: of two that are near each other, the one of more cost is
  // replaced by a copy of a better one, which then drifts away from it.
  static constexpr int spread_frames = 6;     // frames between two spreads
  static constexpr double spread_gap = 0.12;  // candidates nearer than this are near each other
  static constexpr double drift = 0.3;        // drift in a frame, as a fraction of `jump`
  static constexpr double drift_relief = 0.5; // factor on the drift of a candidate that is too fast

  // If few candidates fail without redundancy, solutions of key frames are joined (branches.h).
  static constexpr int key_solutions = 16; // solutions of a key frame
  static constexpr int key_frames = 12;    // frames between two key frames

  static constexpr int gap_steps = 5; // the gap at the end of a path is closed in so many steps

  // Candidates at the end of a run that are tried.
  static constexpr int choices = 8;         // at most
  static constexpr int least_choices = 3;   // if none is without a jump
  static constexpr double choice_gap = 0.3; // between two of them

  // A closed path without a plan from its first frame is planned from other frames (rotation.h).
  static constexpr int rotations = 4;        // the path is divided into so many sections
  static constexpr double same_value = 1e-6; // joint values that differ by less, in natural sizes, are equal

  // If candidates from many first q fail, these q are tried one by one (starts.h).
  static constexpr int starts = 128;         // first q, at most
  static constexpr double start_gap = 0.1;   // between two of them, at least
  static constexpr int start_rounds = 8;     // how often they are spread before
  static constexpr int start_frames = 40000; // frames of all runs from them
  // goals that differ by less, in metres and entries of rotations, are equal
  static constexpr double same_goal = 1e-4;

  // Candidates from both ends of a closed path are joined in the middle (starts.h).
  static constexpr int pairs = 3;             // pairs that are tried
  static constexpr double meeting_gap = 1;    // between the two of a pair, at most
  static constexpr double meeting_cost = 100; // of the gap

  // The cost of a frame is the length of its step, plus:
  static constexpr double centring_cost = 0.05;     // with the preference centred
  static constexpr double conditioning_cost = 0.01; // with the preference well_conditioned
  static constexpr double speed_cost = 1e4;         // of a step that is too fast
  static constexpr double jump_cost = 1e8;          // of a jump

  // A path is planned in windows.
  static constexpr int window = 8192;                  // frames, at most
  static constexpr int least_window = 512;             // frames, however many joints there are
  static constexpr long long window_numbers = 4 << 20; // joint values of all candidates of a window

  // Frames without a solution are followed by a descent (plan.h).
  static constexpr int search_again = 8;   // every so many frames a solution is searched
  static constexpr int nearest_steps = 12; // steps of the descent in a frame
  static constexpr int ball_halvings = 4;  // halvings of a ball joint's rotation that its limits lengthen
  static constexpr double least_reduction =
      1e-4; // it ends if a step lowers the squared error by a smaller fraction

  static constexpr double closable_gap = 1.5; // at the end of a path of a redundant linkage

  // The frames around a jump are moved (bridge.h).
  static constexpr int least_bridge = 2;    // frames before and after the jump at first
  static constexpr int longest_bridge = 8;  // the same, at most
  static constexpr int bridge_failures = 8; // jumps that cannot be removed before it gives up

  // Smoothing (smooth.h).
  static constexpr int usual_rounds = 2;         // rounds
  static constexpr int smoothing_rounds = 24;    // rounds while joints are too fast
  static constexpr int step_halvings = 3;        // a whole step is tried, then a half, then a quarter
  static constexpr double least_relief = 0.03;   // fraction of the excess speed that a round must remove
  static constexpr double smooth_damping = 1e-4; // keeps shifts small
  static constexpr double smooth_zone = 0.9; // limits pull joints back beyond this fraction of half the range
  static constexpr double limit_weight = 0.1;     // how strongly
  static constexpr double centring_weight = 0.05; // the same for all joints, with the preference centred
  static constexpr double speed_zone = 0.85;      // weights grow beyond this fraction of the longest step
  static constexpr double weight_growth = 4;      // how fast they grow
};

enum PathPreference : int { least_motion, centred, well_conditioned };

// One path.
struct PathRequest {
  int frames;
  const double *goals; // frames x 12 for each target
  const double *times; // frames, in seconds, or null
  double dt;           // between frames, if there are no times
  const double *speed; // n, per second; unbounded: none
  const double *start; // n: the first q is this one, or the solution nearest to it; null: any
  const double *end;   // n: the same of the last q
  bool closed;         // the last q should equal the first
  int preference;      // a PathPreference
  int smoothed;        // candidates of a redundant linkage that are smoothed and compared; 0: none
  int candidates;      // at first; if they fail, PathConstants::some and then `many`
  Deadline deadline;
};

// The result of each frame of a path.
struct PathRows {
  double *q;                // frames x n
  unsigned char *outcome;   // Outcome
  double *distance, *angle; // largest of the targets, in metres and radians
  bool *reconfigured;       // the step to this frame is a jump
};

} // namespace supple
