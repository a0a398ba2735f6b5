"""Global search: one solution, the nearest, all branches, many goals in one call, and unreachable goals."""

import time

import numpy as np

import supple
from supple import Frame, Goal, Solver

arm = supple.models.ur5()
goal = Goal("tool0", Frame.at([0.4, 0.3, 0.4], Frame.turn([1, 0, 0], np.pi)))  # the tool pointing down

# one goal, without a start: the first solution that is found
found = supple.solve(arm, goal)
print(f"first found:       {found.q.round(3)}  {found}")

# with a start: the nearest of the solutions found
start = np.array([0.2, -1.0, 1.8, -2.0, -1.5, 0.5])
near = supple.solve(arm, goal, start)
print(f"nearest to start:  {near.q.round(3)}  largest change of a joint {abs(near.q - start).max():.2f} rad")

# all branches, nearest first: shoulder, elbow and wrist each have two
branches = supple.solve(arm, goal, start, solutions=16)
print(f"\n{len(branches)} solutions, nearest first:\n{branches.q.round(3)}")
print(f"largest errors {branches.distance.max():.0e} m and {branches.angle.max():.0e} rad")

# a partial goal: within a square of 10 x 10 cm, tilted by up to 20 degrees, with the elbow locked
loose = Goal(
    "tool0", position=goal.position, slack=(0.05, 0.05, 0), axis=[0, 0, 1], direction=[0, 0, -1], turn_slack=np.pi / 9
)
locked = supple.solve(arm, loose, start, joint_weights={"elbow_joint": 0})
print(f"\nlocked: the elbow stays at {locked.q[2]:.3f}; {locked}")

# many goals: leading axes broadcast; out= reuses memory
frames = arm.frame(arm.random(100_000, seed=0), "tool0")
q = np.empty((len(frames), arm.dof))
begin = time.perf_counter()
many = supple.solve(arm, Goal("tool0", frames), out=q)
print(f"\n{many}; {len(frames) / (time.perf_counter() - begin):,.0f} per second")
print(f"on average {many.starts.mean():.2f} seeds, all within limits: {arm.inside(q).all()}")

# a compiled solver takes a frame and returns joint values, or None
find = Solver().compile(arm, "tool0")
matrices = frames.matrix[:2000]
begin = time.perf_counter()
missed = sum(find(matrix) is None for matrix in matrices)
print(f"compiled solver: {(time.perf_counter() - begin) / len(matrices) * 1e6:.1f} us per call, {missed} not reached")

# a goal that is not reached: the nearest q, the error and the reason
short = supple.models.so101()
print()
for linkage, unreachable in (
    (arm, Goal("tool0", Frame.at([0.9, 0.6, 0.2]))),
    (arm, Goal("tool0", position=[0, 0.02, 0.1])),
    (short, Goal("gripper_frame_link", Frame.at([0.2, 0.1, 0.1]))),
):
    print(supple.solve(linkage, unreachable))
