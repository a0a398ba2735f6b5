// What is asked of a linkage and how to go about it: plain data that every instruction set reads alike.
#pragma once
#include "linkage.h"

namespace supple {

// the rows an error can have: position and orientation along the world's axes, and two across a pointing direction
enum Component : int { along_x, along_y, along_z, about_x, about_y, about_z, across_1, across_2 };

// What is wanted of one end effector. Its chain counts only the joints that some goal needs, 0 to n - 1. The goal itself
// is given for each problem: twelve numbers, the rotation row by row (its first three are the direction, when
// pointing) and the position.
struct Target {
  Chain chain;
  int first, rows;  // its rows among all
  int component[6]; // which ones they are; those without weight are left out
  double weight[6]; // of each row
  double point[3];  // what is to be brought to the position, in the end effector's axes
  double axis[3];   // what is to point along the direction, in the end effector's axes
};

// a ball joint's place in q, and its limits
struct Ball {
  int index;
  double axis[3], swing, low, high;
};

struct Problem {
  const Target *targets;
  int target_count, rows, n;
  const double *lower, *upper; // n
  const Ball *balls;
  int ball_count;
};

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

struct Method {
  int way, rank;
  bool pull;          // the alternative Jacobian: pull the goal to the end effector
  bool clamp;         // keep q within its limits
  double damping;     // alpha
  double scale;       // of the transpose; 0: the best each step
  double longest;     // most that a joint may change in a step
  double shorten;     // factor on every step
  int halvings;       // how often a step may be halved while it raises the error
  int escapes;        // how often joints that press against their limits may be sent to the other side
  const Preference *preferences;
  int preference_count;
  void (*ask)(void *asked, const double *q, double *v); // one more wish, by the caller's function, or null
  void *asked;
};

struct Stop {
  int iterations, patience; // patience: iterations without progress before it is stuck
  double position, angle;   // tolerances, in metres and radians
};

enum Outcome : int { arrived, stuck, spent, invalid };

struct Report {
  int outcome, iterations;
  double largest_step, path; // largest change of a joint in a step, and length of the way through q
};

} // namespace supple
