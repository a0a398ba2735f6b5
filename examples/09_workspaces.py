"""The reachable and the dexterous workspace, and whether a goal is over-constrained."""

import math

import numpy as np

import supple
from supple import Frame, Goal
from supple.analysis import constraint
from supple.workspace import dexterous, reachable

# positions at half a million random joint values, on all cores
panda = supple.models.panda()
space = reachable(panda, "panda_hand_tcp", 500_000)
print(space)
low, high = space.bounds
print(f"from z = {low[2]:.2f} to {high[2]:.2f} m; {len(space.centres()):,} voxels hold samples")
for point in ([0.5, 0, 0.4], [0, 0, 0.333], [1.0, 0, 0.4]):
    print(f"  {point}: {'reachable' if space.contains(point) else 'out of reach'}")
print(f"the convex outline of its section at right angles to y has {len(space.outline())} corners")

# a planar arm with links of 15, 10 and 5 m: its wrist reaches 5 to 25 m from the base, so the tip has every
# orientation at 10 to 20 m
planar = supple.models.planar3()
ring = dexterous(planar, "tip", orientations=24, samples=50_000, voxel=1.5)
print(f"\n{ring}")
print(f"by theory {math.pi * 30**2:.0f} m² and {math.pi * (20**2 - 10**2):.0f} m²")
middles = ring.centres()
far, free = np.linalg.norm(middles, axis=-1), ring.values(middles)
for a in range(0, 30, 5):
    print(
        f"  {a:2} to {a + 5:2} m from the base: {100 * free[(far >= a) & (far < a + 5)].mean():3.0f} % of orientations"
    )

# the rank of the Jacobian shows whether a goal is over- or under-constrained
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

# stretched, with the goal on the forearm: singular, but not unreachable
goal = Goal("tip", position=[20, 0, 0], weight=(1, 1, 0))
print(f"\nstretched: {constraint(planar, goal, q=[0, 0, 0])}")
print(f"bent:      {constraint(planar, goal, q=[0.1, -0.2, 0.1])}")

# space.draw() draws a section; supple.view.cloud.add(viewer, space) shows a point cloud in the browser
