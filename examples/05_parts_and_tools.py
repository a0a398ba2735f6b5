"""Take one arm of a robot, add a tool, lock joints, move the base, and attach an arm to another arm."""

import numpy as np

import supple
from supple import Cylinder, Frame, Geometry

baxter = supple.models.baxter()
print(repr(baxter))

left = baxter.part("torso", "left_gripper")  # from one link to another; its root is the new world frame
print(repr(left), "-> the left arm")
in_whole = baxter.frame(baxter.rest, "torso").inverse() @ baxter.frame(baxter.rest, "left_gripper")
in_part = left.frame(left.rest, "left_gripper")
print(f"the same pose, to {np.abs((in_whole.inverse() @ in_part).log()).max():.0e} m")

# a tool is a new link at a frame on another link, here with geometry
pen = Geometry(Cylinder(radius=0.005, length=0.12), Frame.at([0, 0, 0.06]))
writer = left.with_tool("left_gripper", Frame.at([0, 0, 0.12]), name="pen", geometry=[pen])
print("tips now", writer.tips, f"reach {writer.reach('pen'):.3f} m")

# locked joints become fixed joints and are no longer part of q
stiff = writer.locked({"left_e0": 0.0, "left_w0": 0.0})
print("two joints locked:", stiff.dof, "degrees of freedom:", ", ".join(stiff.names))
q = stiff.rest
print("the pen is at", stiff.frame(q, "pen").position.round(4), "m from the torso")

# another pose of the base
moved = stiff.at(Frame.at([2, 0, 1], Frame.turn([0, 0, 1], np.pi / 2)))
print("with the moved base it is at", moved.frame(q, "pen").position.round(4), "m")

# attach a small arm to the tool of a large one
both = supple.models.ur10().attach("tool0", supple.models.so101(), at=Frame.at([0, 0, 0.05]), prefix="small_")
print(repr(both), f"reach {both.reach('small_gripper_frame_link'):.3f} m")

# linkages are immutable: the first one has not changed
assert baxter == supple.models.baxter()
assert baxter.dof == 17
