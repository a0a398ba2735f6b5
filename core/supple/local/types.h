// Local methods and their options: plain data, the same for all instruction sets.
#pragma once
#include "supple/task/types.h"

namespace supple {

// how a step is chosen
enum MethodKind : int {
  method_inverse,
  method_pseudoinverse,
  method_damped,
  method_transpose,
  method_coordinate_descent,
  method_selectively_damped
};

// which joint coordinate descent moves next
enum JointOrder : int { outermost_first, largest_reduction_first, least_recent_first, most_room_first };

// the last two are of a link: far along a direction, or near a point
enum PreferenceKind : int {
  prefer_value,
  avoid_value,
  prefer_manipulability,
  prefer_direction,
  prefer_point
};

struct Preference {
  int kind;
  const double *gain;  // n
  const double *value; // n
  double width;        // standard deviation of avoid_value; reach of the link of prefer_point
  Chain chain;         // to the link
  double wanted[3];    // direction or point for the link's origin, in the world
};

// by what a damping scheme chooses alpha and the joint weights
enum SchemeKind : int {
  scheme_constant,
  scheme_manipulability,         // Nakamura and Hanafusa [D19]
  scheme_falling_manipulability, // Kelmar and Khosla
  scheme_condition_bound,        // Mayorga [D20]
  scheme_error,                  // Chan and Lawrence [D21]
  scheme_named_singularity,      // Schinstock [D22, D23]
  scheme_smallest_singular_value,
  scheme_joint_limits, // Schinstock [D24-D27]
  scheme_callback
};

// How far a named singularity is: by a joint's value, by its sine, by a point beyond a cylinder about an
// axis, or by the caller's function.
enum SingularityMeasure : int { by_joint_value, by_joint_sine, by_point_off_axis, by_callback };

// One damping scheme: alpha, and which joints to spare. Unused fields are zero.
struct DampingScheme {
  int kind, measure;
  bool as_printed;       // the equations as the paper prints them, not as corrected
  bool relative;         // alpha0 is for a largest singular value of 1: its square is a factor
  double alpha0, region; // the most damping; where it begins
  double min_weight;     // the least a joint weight becomes
  double ramp_rate;      // of ramps, in 1/s
  double ignored_speed;  // outward, of a joint at its limit
  int rank;              // the most that goals and linkage can have together
  int callback;          // which of the caller's functions
  int memory;            // where its numbers begin in the memory of a tick
  const double
      *joints; // n: for joint limits, the region of each joint, 0: none; for a singularity, 1: spared
  // for a named singularity
  int index; // joint value, times gain plus offset, close to one of `values`; those of a turn wrap
  double gain, offset;
  bool wraps;
  const double *values;
  int value_count;
  Chain point_chain, axis_chain; // the link with the point; the link with the axis, through its origin
  double point[3], axis[3], radius;
};

// A damping scheme by the caller's function; for a singularity's measure, alpha is the distance.
using DampingCallback = void (*)(void *data, int which, const double *q, const double *e, const double *J,
                                 double dt, double *alpha, double *weights);

// Adds the caller's preferred step (n) at q.
using PreferenceCallback = void (*)(void *data, const double *q, double *preferred);

struct Method {
  int kind, joint_order;
  bool alternative_jacobian; // of the goal's position, as if it were fixed to the end effector
  bool clamp;                // keep q within its limits
  double damping;            // alpha, where there are no schemes
  double transpose_scale;    // 0: the best at each step
  double max_step;           // most that a joint may change in a step
  double step_scale;         // factor on every step
  int max_halvings;          // how often a step may be halved while it raises the error
  int limit_escapes;         // how often joints that press against their limits may be sent to the other side
  const Preference *preferences;
  int preference_count;
  PreferenceCallback preference_callback; // one more preference, or null
  void *preference_data;
  const bool *locked; // n, or null: joints that stay
  bool has_schemes;   // damping and joint weights come from the schemes below, largest and smallest of all
  bool preference_unweighted; // as printed in [D18]: the joint weights do not apply to the preferred step
  const DampingScheme *schemes;
  int scheme_count;
  int memory_size; // how many numbers the schemes remember, at least 1
  DampingCallback damping_callback;
  void *damping_data;
};

struct Report {
  int outcome, iterations;
  double largest_step, path; // largest change of a joint in a step, and length of the path through q
};

} // namespace supple
