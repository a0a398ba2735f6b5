"""A whole path: a closed weld seam of 481 poses, followed without a jump, then faster than the arm can, and retimed."""

import numpy as np

from supple import Frame, Goal, models, solve_path

arm, link = models.ur5(), "tool0"

# the seam: a flat figure of eight, the tool pointing down
s = np.linspace(0, 2 * np.pi, 481)
seam = np.stack([0.42 + 0.1 * np.sin(2 * s), 0.25 * np.sin(s), np.full_like(s, 0.25)], axis=-1)
down = Frame.at([0, 0, 0], Frame.turn([1, 0, 0], np.pi))
poses = Frame.at(seam, down)

# the planner chooses the first joint values, and comes back to them
weld = solve_path(arm, Goal(link, poses), duration=12.0, closed=True)
print(weld)
print(
    f"  joints move {weld.length:.2f} rad in all; worst step: {weld.worst_step.joint}, {weld.worst_step.part:.0%} of it"
)
print(f"  nearest limit {weld.limit_margin.min():.2f} rad, smallest singular value {weld.singularity_margin.min():.2f}")
print(f"  closed within {np.abs(weld.q[0] - weld.q[-1]).max():.0e} rad")

# from the joint values where the arm stands
stands = weld.q[0] + [0, 0.02, -0.02, 0, 0, 0]
begun = solve_path(arm, Goal(link, poses), stands)
print(f"\nfrom where it stands, the first q is {np.abs(begun.q[0] - stands).max():.3f} rad away")

# too fast: the result says where, and how much longer it must take
rushed = solve_path(arm, Goal(link, poses), duration=0.6, closed=True)
print(f"\nin 0.6 s: {rushed.why.partition(';')[0]}")
slower = solve_path(arm, Goal(link, poses), duration=0.6, closed=True, retime=True)
print(f"retimed:  {slower.motion.duration:.2f} s, {float(slower.stretch):.2f} times as long, good: {bool(slower)}")

# many paths in one call: the same seam at eight heights
high = np.stack([Frame.at(seam + np.array([0, 0, z]), down).matrix for z in np.linspace(0, 0.2, 8)], axis=1)
print(f"\n{solve_path(arm, Goal(link, high), duration=12.0)}")

weld.motion.save("weld.npz")
