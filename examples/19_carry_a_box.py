"""Baxter carries a box of 60 cm with both hands: one hand is held relative to the other, which leads the box."""

from math import cos, pi, sin

import numpy as np

from supple import Frame, Goal, Solver, TrackingStatus, models, solve

robot, dt = models.baxter(), 1 / 300
left, right = "left_gripper", "right_gripper"
# the grippers hold the box from both sides; their z axes point at each other
left_grip = Frame.at([0, 0.3, 0], Frame.turn([1, 0, 0], pi / 2) @ Frame.turn([0, 0, 1], pi / 2))
right_grip = Frame.at([0, -0.3, 0], Frame.turn([1, 0, 0], -pi / 2) @ Frame.turn([0, 0, 1], -pi / 2))
hold = Goal(left, right_grip.inverse() @ left_grip, relative_to=right)  # whatever the right hand does


def lead(box):
    """The goal that leads the right hand; the hold comes first."""
    return Goal(right, box @ right_grip, priority=1)


# from a few seeds: the solution whose joints are farthest from their limits
begin, seeds = Frame.at([0.5, 0, 0.25]), robot.random(60, seed=0)
found = solve(robot, [hold, lead(begin)], seeds)
room = np.minimum(found.q - robot.lower, robot.upper - found.q)
arms = [i for i, name in enumerate(robot.names) if name.startswith(("left_", "right_"))]
start = found.q[np.argmax(np.where(found.arrived, room[:, arms].min(axis=-1), -1))]


def carried(t):
    """The pose of the box: up and down, to the sides and turned; after 12 s forward, out of reach, and back."""
    s, far = (1 - cos(pi * min(t / 3, 1))) / 2, sin(pi * min(max(t - 12, 0), 6) / 6) ** 2
    moved = [0.4 * far, 0.08 * s * sin(t), 0.15 * s * sin(0.7 * t)]
    return Frame.at(moved) @ begin @ Frame.turn([0, 0, 1], 0.2 * s * sin(0.5 * t))


def slip(q):
    """Distance and angle between where the left hand is on the box and where it took hold."""
    off = hold.orientation.T @ (robot.frame(q, right).inverse() @ robot.frame(q, left)).rotation
    place = (robot.frame(q, right).inverse() @ robot.frame(q, left)).position
    return np.linalg.norm(place - hold.position), np.arccos(np.clip((np.trace(off) - 1) / 2, -1, 1))


tracker = Solver().track(robot, [hold, lead(begin)], start)
worst = {status: np.zeros(2) for status in TrackingStatus}
ticks = dict.fromkeys(TrackingStatus, 0)
for tick in range(round(22 / dt)):
    step = tracker.step([hold, lead(carried(tick * dt))], dt)
    ticks[step.status] += 1
    worst[step.status] = np.maximum(worst[step.status], slip(step.q))
for status, count in ticks.items():
    if count:
        far, angle = worst[status]
        slipped = f"{1e3 * far:.3f} mm and {np.degrees(angle):.4f} degrees"
        print(f"{status.name.lower()} for {count * dt:.1f} s: the left hand slips on the box by {slipped}")
