// The numbers of an arm, from those of its chain and its search.
#pragma once
#include "supple/cuda/types.h"
#include "supple/math/number.h"
#include "supple/task/goal.h"

namespace supple {
inline namespace SUPPLE_ISA {

template <class S>
SUPPLE_FLAT S bounded(double limit) {
  return S(clip(limit, -1e30, 1e30)); // in float, an unlimited joint has a finite limit too
}

// The numbers of an arm; `joints`: of the search, or null where only its frames are wanted; `joints_of_arm`
// has a place for each joint. False if the chain is no arm: it has balls, or a value with several joints.
template <class S>
SUPPLE_FN bool make_arm(const Chain &chain, const SearchJoint *joints, ArmBase<S> &arm,
                        ArmJoint<S> *joints_of_arm) {
  arm = {};
  if (chain.count < 1)
    return false;
  for (int k = 0; k < chain.count; ++k) {
    const ChainJoint &from = chain.joints[k];
    if (from.motion == spherical || from.shared || (k > 0 && from.whole))
      return false;
    ArmJoint<S> &to = joints_of_arm[k];
    for (int i = 0; i < 3; ++i)
      to.shift[i] = S(from.shift[i]);
    to.tilt_cos = S(from.tilt_cos);
    to.tilt_sin = S(from.tilt_sin);
    to.turn_gain = S(from.turn_gain);
    to.turn_offset = S(from.turn_offset);
    to.slide_gain = S(from.slide_gain);
    to.slide_offset = S(from.slide_offset);
    to.motion = short(from.motion);
    to.tilt = short(from.tilt);
    to.index = to.column = from.index;
    to.lower = joints ? bounded<S>(joints[from.index].lower) : S(-1e30);
    to.upper = joints ? bounded<S>(joints[from.index].upper) : S(1e30);
    to.size = joints ? S(joints[from.index].weighted_size) : S(1);
  }
  for (int i = 0; i < 9; ++i) {
    arm.rotation[i] = S(chain.joints[0].rotation[i]);
    arm.tip_rotation[i] = S(chain.rotation[i]);
  }
  for (int i = 0; i < 3; ++i) {
    arm.position[i] = S(chain.joints[0].position[i]);
    arm.tip_position[i] = S(chain.position[i]);
  }
  arm.joint_count = chain.count;
  return true;
}

// The kind of a target's goal, if an arm can have it: all of a position, without slack, and beside it
// nothing, all of an orientation, or an axis. Else -1.
SUPPLE_FN int arm_goal_of(const Target &target) {
  if (target.masses.count || target.has_pole || target.looks || target.has_radial || target.has_slack ||
      target.rows < 3)
    return -1;
  for (int i = 0; i < 3; ++i)
    if (target.component[i] != along_x + i)
      return -1;
  if (target.rows == 3)
    return only_position;
  if (target.rows == 5 && target.has_direction && target.weight[3] == target.weight[4])
    return position_and_axis;
  return target.rows == 6 && !target.points ? int(whole_frame) : -1;
}

// The arm of a search for one goal. False if the search has no such arm, or if its angles are too large for
// single precision.
template <class S>
SUPPLE_FN bool make_arm(const Problem &problem, const Search &search, const int *columns, ArmBase<S> &arm,
                        ArmJoint<S> *joints_of_arm) {
  const Target &target = problem.targets[0];
  constexpr double largest = 64;          // radians or metres
  constexpr int least_iterations = 10000; // fewer are counted by the general search
  const int goal = problem.target_count == 1 ? arm_goal_of(target) : -1;
  if (goal < 0 || search.aligns_root || search.max_iterations < least_iterations ||
      problem.n >= SearchConstants::arc_joints || target.chain.count != problem.n ||
      !make_arm(target.chain, search.joints, arm, joints_of_arm))
    return false;
  arm.goal = goal;
  const Frame<double> tip = constant<double>(target.chain.rotation, target.chain.position);
  const Vec<double> point = tip * load3(target.point);
  arm.tip_position[0] = S(point.x);
  arm.tip_position[1] = S(point.y);
  arm.tip_position[2] = S(point.z);
  for (int i = 0; i < target.rows; ++i)
    arm.weight[i] = S(target.weight[i]);
  if (goal == position_and_axis)
    arm.weight[5] = arm.weight[4]; // the two rows across the axis stand for all three of a rotation
  for (int i = 0; i < 3; ++i)
    arm.axis[i] = S(target.axis[i]);
  arm.max_step = bounded<S>(search.max_step);
  for (int l = 0; l < problem.n; ++l) {
    const SearchJoint &joint = search.joints[l];
    if (!(std::fabs(joint.range_begin) < largest && joint.range_size < largest &&
          std::fabs(joint.middle) < largest))
      return false;
  }
  for (int k = 0; k < problem.n; ++k) {
    ArmJoint<S> &to = joints_of_arm[k];
    const SearchJoint &joint = search.joints[to.index];
    to.range_begin = S(joint.range_begin);
    to.range_size = S(joint.range_size);
    to.stride = S(joint.stride);
    to.middle = S(joint.middle);
    to.period = S(joint.period);
    to.column = columns[to.index];
    to.wrap_lower = bounded<S>(problem.lower[to.index]);
    to.wrap_upper = bounded<S>(problem.upper[to.index]);
  }
  return true;
}

} // namespace SUPPLE_ISA
} // namespace supple
