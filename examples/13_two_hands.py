"""Two hands carry a tray: one tracker for both, what it gives up first, and fifty robots in one call."""

from math import cos, pi

import numpy as np

from supple import Frame, Goal, Solver, TrackingStatus, models

robot, dt = models.baxter(), 1 / 300
hands = ("left_gripper", "right_gripper")
bend = {"s0": -0.6, "s1": -0.6, "e0": -0.2, "e1": 1.5, "w0": 0.1, "w1": 0.8, "w2": 0.2}
mirrored = {"s0": -1, "e0": -1, "w0": -1, "w2": -1}
start = robot.q(
    {f"left_{name}": value for name, value in bend.items()}
    | {f"right_{name}": mirrored.get(name, 1) * value for name, value in bend.items()}
)
left, right = (robot.frame(start, hand) for hand in hands)
tray = Frame.at((left.position + right.position) / 2)
grips = [tray.inverse() @ left, tray.inverse() @ right]  # where each hand holds the tray
print(f"the hands are {np.linalg.norm(left.position - right.position):.2f} m apart")


def moved(t):
    """The tray, up and down and tilted."""
    return Frame.at([0, 0, 0.1 * (1 - cos(2 * t))]) @ tray @ Frame.turn([0, 1, 0], 0.15 * (1 - cos(t)))


follow = Solver().track(robot, hands, start=start)
slip = 0.0
for tick in range(1800):
    now = moved(tick * dt)
    step = follow.step([now @ grip for grip in grips], dt)
    places = [robot.frame(step.q, hand).position for hand in hands]
    slip = max(slip, abs(np.linalg.norm(places[0] - places[1]) - np.linalg.norm(left.position - right.position)))
print(f"carried for 6 s: {step.status.name.lower()}, the grip slips by at most {1e9 * slip:.0f} nanometres")

# 70 cm aside, which is too far: what counts more is kept longer
aside = [Frame.at([0, 0.7, 0]) @ tray @ grip for grip in grips]
for weight in (1.0, 0.1):
    follow = Solver().track(robot, [Goal(hand, Frame(), turn_weight=weight) for hand in hands], start)
    for _ in range(1200):
        step = follow.step(aside, dt)
    missed = f"{1e3 * step.distance.max():.0f} mm and {np.degrees(step.angle.max()):.0f} degrees"
    print(f"too far, turns count {weight:g}: {step.status.name.lower()}, missed by {missed}")

# fifty robots, each with a tray of its own; frames have the robots' leading axis
follow = Solver().track(robot, hands, np.tile(start, (50, 1)))
for tick in range(900):
    lifts = np.linspace(0, 1, 50) * (1 - cos(min(tick * dt, 2) * pi / 2)) / 2
    now = Frame.at(lifts[:, None] * [0, 0, 1]) @ tray
    step = follow.step([now @ grip for grip in grips], dt)
high = lifts[[status is TrackingStatus.FOLLOWING for status in step.status]]
print(f"{step}; the highest tray that is still level is up by {high.max():.1f} m")
