// Local methods and their options: plain data that every instruction set reads alike.
#pragma once
#include "supple/task/types.h"

namespace supple {

// which way to choose a step
enum Way : int { by_inverse, by_pseudoinverse, by_damping, by_transpose, by_descent, by_selection };
// which joint descent moves next
enum Rank : int { outermost_first, most_useful, least_recent, most_room };
// what a preference wishes
enum Wish : int { towards, away_from, dexterity };

struct Preference {
  int wish;
  const double *gain;  // n
  const double *value; // n
  double width;        // how near counts as near, when away from a value
};

// what a damping scheme goes by
enum Scheme : int {
  by_constant,
  by_manipulability,
  by_falling,
  by_factors,
  by_error,
  by_singularity,
  by_weakest,
  by_limits,
  by_asking
};
// how far a named singularity is: by the value of a joint, by its sine, by a point beyond a cylinder about an
// axis, or by the caller's function
enum Measure : int { bend_of, sine_of, off_axis, as_asked };

// One damping scheme: how hard to push, and which joints to spare. Unused fields are zero.
struct Damper {
  int scheme, measure;
  bool printed;          // the letter of the paper, not its mended form
  bool bounded;          // alpha0 is for a largest singular value of 1: its square is a factor
  double alpha0, region; // the most damping; where it begins
  double weight;         // the least a joint weight becomes
  double rate, tiny;     // of ramps a second; speed outward of a joint at its limit that does not count
  int rank;              // the most that goals and linkage can have together
  int asked;             // which of the caller's functions
  int memory;            // where its numbers begin in the memory of a tick
  const double *each; // n: by limits, the region of each joint, 0: none; by singularity, 1 for those to spare
  // by singularity
  int index; // joint value, times gain plus offset, near one of some values; those of a turn wrap
  double gain, offset;
  bool wraps;
  const double *values;
  int value_count;
  Chain carrier, axis_of; // the link with the point; the link with the axis, through its origin
  double point[3], axis[3], radius;
};

// what a damping scheme by the caller's function sees and says; for a measure, alpha is the distance
using AskDamping = void (*)(void *asked, int which, const double *q, const double *e, const double *J,
                            double dt, double *alpha, double *w);

struct Method {
  int way, rank;
  bool pull;      // the alternative Jacobian: pull the goal to the end effector
  bool clamp;     // keep q within its limits
  double damping; // alpha, where there are no schemes
  double scale;   // of the transpose; 0: the best each step
  double longest; // most that a joint may change in a step
  double shorten; // factor on every step
  int halvings;   // how often a step may be halved while it raises the error
  int escapes;    // how often joints that press against their limits may be sent to the other side
  const Preference *preferences;
  int preference_count;
  void (*ask)(void *asked, const double *q, double *v); // one more wish, by the caller's function, or null
  void *asked;
  const bool *locked; // n, or null: joints that stay
  bool schemes; // whether damping and joint weights come from the schemes below, largest and smallest of all
  bool bypass;  // the wish as printed in [D18]: past the joint weights
  const Damper *dampers;
  int damper_count;
  int memory_size; // how many numbers they remember, at least 1
  AskDamping ask_damping;
  void *asked_damping;
};

struct Report {
  int outcome, iterations;
  double largest_step, path; // largest change of a joint in a step, and length of the way through q
};

} // namespace supple
