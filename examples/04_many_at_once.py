"""A million frames in one call: how far the Panda's hand can get, and how often it is nearly singular."""

import time

import numpy as np

import supple

arm = supple.models.panda().locked(["panda_finger_joint1"])
hand = "panda_hand_tcp"
q = arm.random(1_000_000, seed=0)  # (1000000, 7), uniform within the limits

start = time.perf_counter()
frames = arm.frame(q, hand)  # leading axes of q come back as leading axes of the answer
took = time.perf_counter() - start
print(f"{len(frames):,} frames in {1000 * took:.0f} ms: {1e9 * took / len(q):.0f} ns each")

low, high = frames.position.min(axis=0), frames.position.max(axis=0)
for axis, a, b in zip("xyz", low, high, strict=True):
    print(f"workspace along {axis}: {a:6.3f} to {b:.3f} m")
shoulder = np.array([0, 0, 0.333])
far = np.linalg.norm(frames.position - shoulder, axis=-1)
print(f"farthest from the shoulder: {far.max():.3f} m; reach, with every turn free: {arm.reach(hand):.3f} m")

# any number of leading axes: rows of one joint, columns of another
grid = arm.q(panda_joint1=0) + np.zeros((50, 40, 1))
grid[..., 1] = np.linspace(arm.lower[1], arm.upper[1], 50)[:, None]
grid[..., 3] = np.linspace(arm.lower[3], arm.upper[3], 40)
height = arm.frame(grid, hand).position[..., 2]
print(f"\nshoulder by elbow, a grid of {height.shape}: the hand is highest at {height.max():.3f} m")

# in a loop, give the memory once and it is used again
few = q[:10_000]
frames_here, jacobians_here = np.empty((10_000, 4, 4)), np.empty((10_000, 6, arm.dof))
for _ in range(10):
    arm.frame_and_jacobian(few, hand, out=(frames_here, jacobians_here))
print(f"\nJacobians {jacobians_here.shape} written in place")
free = arm.manipulability(few, hand)
print(f"manipulability: median {np.median(free):.4f}, below 0.01 in {100 * np.mean(free < 0.01):.1f} % of random q")
