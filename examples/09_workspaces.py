"""Where a hand can get, where it can be turned any way, and whether a goal asks too much."""

import math

import numpy as np

import supple
from supple import Frame, Goal
from supple.analysis import constraint
from supple.workspace import dexterous, reachable

# positions for half a million random joint values, on all cores
panda = supple.models.panda()
space = reachable(panda, "panda_hand_tcp", 500_000)
print(space)
low, high = space.bounds
print(f"from z = {low[2]:.2f} to {high[2]:.2f} m; {len(space.centres()):,} voxels hold samples")
for point in ([0.5, 0, 0.4], [0, 0, 0.333], [1.0, 0, 0.4]):
    print(f"  {point}: {'reachable' if space.contains(point) else 'out of reach'}")
print(f"its section across y has a convex outline of {len(space.outline())} corners")

# a flat arm with links of 15, 10 and 5 m: its wrist must come within 5 to 25 m of the base, so that the tip can be
# turned any way from 10 to 20 m
planar = supple.models.planar3()
ring = dexterous(planar, "tip", orientations=24, samples=50_000, voxel=1.5)
print(f"\n{ring}")
print(f"by theory {math.pi * 30**2:.0f} m² and {math.pi * (20**2 - 10**2):.0f} m²")
middles = ring.centres()
far, free = np.linalg.norm(middles, axis=-1), ring.values(middles)
for a in range(0, 30, 5):
    print(f"  {a:2} to {a + 5:2} m from the base: {100 * free[(far >= a) & (far < a + 5)].mean():3.0f} % of all turns")

# is a goal over- or under-constrained? ranks tell
frame = Frame.at([0.3, 0.1, 0.3])
print()
for name, goal in (
    ("panda", Goal("panda_hand_tcp", frame)),
    ("ur5", Goal("tool0", frame)),
    ("so101", Goal("gripper_frame_link", frame)),
    ("so101", Goal("gripper_frame_link", position=frame.position)),
):
    what = "position" if goal.orientation is None else "frame"
    print(f"{name + ',':<7}{what:<9}{constraint(supple.models.get(name), goal)}")

# stretched, with the goal on the forearm: singular, not unreachable
goal = Goal("tip", position=[20, 0, 0], weight=(1, 1, 0))
print(f"\nstretched: {constraint(planar, goal, q=[0, 0, 0])}")
print(f"bent:      {constraint(planar, goal, q=[0.1, -0.2, 0.1])}")

# space.draw() makes a picture; supple.view.cloud.add(viewer, space) a cloud around the arm in the browser
