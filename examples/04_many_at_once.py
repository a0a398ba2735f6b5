"""A million frames in one call: the workspace of the Panda, and how often it is near a singularity."""

import time

import numpy as np

import supple

arm = supple.models.panda().locked(["panda_finger_joint1"])
tool = "panda_hand_tcp"
q = arm.random(1_000_000, seed=0)  # (1000000, 7), uniform within the limits

start = time.perf_counter()
frames = arm.frame(q, tool)  # leading axes of q become leading axes of the result
took = time.perf_counter() - start
print(f"{len(frames):,} frames in {1000 * took:.0f} ms: {1e9 * took / len(q):.0f} ns each")

low, high = frames.position.min(axis=0), frames.position.max(axis=0)
for axis, a, b in zip("xyz", low, high, strict=True):
    print(f"workspace along {axis}: {a:6.3f} to {b:.3f} m")
shoulder = np.array([0, 0, 0.333])
far = np.linalg.norm(frames.position - shoulder, axis=-1)
print(f"largest distance from the shoulder: {far.max():.3f} m; reach without joint limits: {arm.reach(tool):.3f} m")

# any number of leading axes: one joint varies over rows, another over columns
grid = arm.q(panda_joint1=0) + np.zeros((50, 40, 1))
grid[..., 1] = np.linspace(arm.lower[1], arm.upper[1], 50)[:, None]
grid[..., 3] = np.linspace(arm.lower[3], arm.upper[3], 40)
height = arm.frame(grid, tool).position[..., 2]
print(f"\na grid of {height.shape} shoulder and elbow angles: the highest tool position is {height.max():.3f} m")

# in a loop, out= reuses memory
few = q[:10_000]
frames_here, jacobians_here = np.empty((10_000, 4, 4)), np.empty((10_000, 6, arm.dof))
for _ in range(10):
    arm.frame_and_jacobian(few, tool, out=(frames_here, jacobians_here))
print(f"\nJacobians {jacobians_here.shape} written in place")
measure = arm.manipulability(few, tool)
print(
    f"manipulability: median {np.median(measure):.4f}, below 0.01 in {100 * np.mean(measure < 0.01):.1f} % of random q"
)
