// The flattened tree: plain data, the same for all instruction sets.
#pragma once

namespace supple {

// how a joint moves its child: a rotation about z, a translation along z, or any rotation about its origin
enum Motion : int { revolute = 0, prismatic = 1, spherical = 2 };

// one simple joint; its location has the axis turned to z and fixed joints folded in
struct Node {
  double rotation[9];        // of the location, row by row
  double position[3];        // of the location, in metres
  double gain, offset;       // value = gain * q[index] + offset
  int parent, index, motion; // parent: -1 for the world; index: first of one value of q, or of three
  bool inverted = false;     // of a ball: it turns by the inverse of its values
};

// One joint of a chain. A turn about z at the end of one location and at the start of the next is one turn,
// so each location needs only a shift and a tilt about x; what remains of its turns is part of `turn_offset`.
// The first joint, and one after a ball, have no turn before them to take it: they keep their whole location.
enum Tilt : int { no_tilt = 0, some_tilt = 1, up = 2, down = 3 }; // up and down: a right angle about x or -x

struct ChainJoint {
  double rotation[9], position[3];     // the whole location
  double shift[3], tilt_cos, tilt_sin; // its shift in the turned axes, and its tilt about x
  double turn_gain, turn_offset;       // angle about z = turn_gain * q[index] + turn_offset
  double slide_gain, slide_offset;     // length along z = slide_gain * q[index] + slide_offset
  int index, motion, tilt;
  bool shifts[3]; // which components of the shift are not zero
  bool whole;     // use the whole location
  bool shared;    // a joint before this one has the same column of the Jacobian
  bool inverted;  // of a ball: it turns by the inverse of its values, as seen from its child
};

// the joints between the world, or the link that a goal is relative to, and one end effector, outermost last
struct Chain {
  const ChainJoint *joints;
  int count, axes,
      dof; // axes: one for each turn or slide, three for a ball; of a centre of mass, also scratch
  double rotation[9], position[3]; // the end effector, as seen from the last joint
};

// One joint that carries mass, in a tree with parents before children. Links that are rigidly connected to
// the joint count as one.
struct MassNode {
  Node joint;       // its parent is among these nodes
  double share;     // its own fraction of the mass of the linkage
  double center[3]; // of that mass, in the axes of what the joint carries
  double carried;   // the fraction of the mass that it carries, its own and that of what hangs on it
  int end;          // what hangs on it are the nodes after it and before this one
};

// the masses of a linkage; `fixed` is the part of the centre of mass that no joint moves, times its mass
struct MassTree {
  const MassNode *nodes;
  int count, axes; // axes: one for each turn or slide, three for a ball
  double fixed[3];
};

// a link of the whole tree, as seen from the joint that carries it (-1: the world)
struct Tip {
  double rotation[9], position[3];
  int node;
};

// a ball joint's place in q, and its limits
struct Ball {
  int index;
  double axis[3], swing, low, high;
};

} // namespace supple
