// The set-up data of a linkage and of a compiled solver as one block of bytes that a device can read.
//
// A block begins with its header. Its pointers are offsets from its first byte; whoever places the block adds
// the address of that byte to each of them.
#pragma once
#include "supple/search/types.h"

namespace supple {

struct BlockHeader {
  long long bytes;
  long long pointer_count;
  long long pointers; // offset of the offsets of all pointers in the block
};

// One joint of an arm, in the precision of a step. The numbers are those of ChainJoint and SearchJoint.
template <class S>
struct ArmJoint {
  S shift[3], tilt_cos, tilt_sin;
  S turn_gain, turn_offset, slide_gain, slide_offset;
  S lower, upper, size;                      // size: the weighted size of a change; 0: locked
  S range_begin, range_size, stride, middle; // of seeds
  S period, wrap_lower, wrap_upper;          // of a joint that wraps: its limits; else the period is 0
  short motion, tilt;
  int index, column; // index: of its value in q of the search; column: in q of the linkage
};

// What the goal of an arm is. Kernels are compiled for one of these, SUPPLE_GOAL.
enum ArmGoal : int { whole_frame, only_position, position_and_axis };

// What an arm has beside its joints.
template <class S>
struct ArmBase {
  S rotation[9], position[3];         // the location of the first joint
  S tip_rotation[9], tip_position[3]; // the end effector at its point, as seen from the last joint
  S axis[3];                          // of a goal with an axis: that axis, in the end effector's axes
  S weight[6];                        // of the rows of its error
  S max_step;
  int joint_count, goal; // goal: an ArmGoal
};

// One goal of a chain of N simple joints, each with a value of its own. Values are in the order of the
// chain; `index` of a joint is its place in q. Kernels take an arm by value: its numbers then lie where an
// instruction reads them at no cost.
template <class S, int N>
struct Arm {
  ArmBase<S> base;
  ArmJoint<S> joints[N];
};

// a value of q and its limits
struct Interval {
  int index;
  double lower, upper;
};

struct SolverBlock {
  BlockHeader header;
  Problem problem;
  Search search;
  int dof;            // of the linkage
  const int *columns; // n: the values of q that some goal needs
  const double *rest; // dof, within the limits
  const Interval *others;
  const Ball *other_balls; // joints that no goal needs and that have limits
  int other_count, other_ball_count;
};

// one link and the joints that move it
struct ChainBlock {
  BlockHeader header;
  Chain chain;
};

// some links of a tree
struct TreeBlock {
  BlockHeader header;
  const Node *nodes;
  const Tip *tips;
  int node_count, tip_count, dof;
};

} // namespace supple
