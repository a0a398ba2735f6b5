// What a search needs to know: plain data that every instruction set reads alike.
#pragma once
#include "supple/task/types.h"

namespace supple {

// Samples of q, and where they bring the end effector, in cells by place and direction. What a turn of the
// first joint does is left out (it only turns the rest about its axis), and what a turn of the last does too,
// where it only turns the hand about its own axis: both follow from the goal.
struct Table {
  static constexpr int spots = 16; // samples a cell, at most
  bool turns_first, turns_last;    // which of the two are left out
  bool points;                     // whether directions count
  int places[3];                   // cells along each part of the place: (radius, height) or (x, y, z)
  int sides;                       // cells along each side of the octahedron of directions; 1: one for all
  double low[3], step[3];          // of the cells
  double rotation[9], position[3]; // frame of the first joint
  double first_gain;               // its angle for a change of q
  double axis[3], across[3],
      point[3];             // in the end effector's axes: direction, across it, and the point that counts
  double last_gain, weight; // of the place, in a distance to a goal
  int first, last;          // places in q
  int fields;               // numbers of a sample: place 3, direction 3, across 3, angle, then q
  const float *samples;     // cells x fields x spots
  const int *counts;        // cells
};

struct Search {
  const double *natural;     // n: natural size of a change of each joint: 1 rad, or as much in metres
  const double *unit;        // n: the same times its weight; 0: locked
  const double *low, *high;  // n: limits, far away for those that wrap
  bool frame;                // one whole frame for a chain of simple joints
  const double *from, *span; // n: where starts lie
  const double *spread;      // n: the part of its span by which each start differs from the one before
  const double *middle;      // n: the first start where there is no table
  const double *period;      // n: of joints that wrap, else 0
  const int *columns;        // the joints of each target, one target after another
  const int *column_first;   // targets + 1
  const int *slots;          // of each axis of each target: the place of its column among those of the target
  const int *parent;         // n: the joint before each on the way from the world, or -1
  const Table *table;        // or null
  int starts;                // most starts
  int iterations;            // most iterations of one solve, all starts together
  double longest;            // most that a joint may change in a step
  double near;               // an answer from the caller's start that is nearer than this is taken at once
  double farthest, base[3];  // the hand is never farther than this from there; 1e301: not known
  bool (*late)(void *clock,
               bool begins); // whether time is up, when a solve begins and then now and again; or null
  void *clock;
};

// of one answer
struct Found {
  int outcome, iterations, starts;
  double error;
};

} // namespace supple
