"""Two arms carry a tray: one tracker for both, weights when it is out of reach, and fifty robots in one call."""

from math import cos, pi

import numpy as np

from supple import Frame, Goal, Solver, TrackingStatus, models

robot, dt = models.baxter(), 1 / 300
grippers = ("left_gripper", "right_gripper")
bend = {"s0": -0.6, "s1": -0.6, "e0": -0.2, "e1": 1.5, "w0": 0.1, "w1": 0.8, "w2": 0.2}
mirrored = {"s0": -1, "e0": -1, "w0": -1, "w2": -1}
start = robot.q(
    {f"left_{name}": value for name, value in bend.items()}
    | {f"right_{name}": mirrored.get(name, 1) * value for name, value in bend.items()}
)
left, right = (robot.frame(start, gripper) for gripper in grippers)
tray = Frame.at((left.position + right.position) / 2)
grips = [tray.inverse() @ left, tray.inverse() @ right]  # pose of each gripper relative to the tray
print(f"the grippers are {np.linalg.norm(left.position - right.position):.2f} m apart")


def moved(t):
    """The pose of the tray: up and down, and tilted."""
    return Frame.at([0, 0, 0.1 * (1 - cos(2 * t))]) @ tray @ Frame.turn([0, 1, 0], 0.15 * (1 - cos(t)))


tracker = Solver().track(robot, grippers, start=start)
slip = 0.0
for tick in range(1800):
    now = moved(tick * dt)
    step = tracker.step([now @ grip for grip in grips], dt)
    places = [robot.frame(step.q, gripper).position for gripper in grippers]
    slip = max(slip, abs(np.linalg.norm(places[0] - places[1]) - np.linalg.norm(left.position - right.position)))
print(
    f"carried for 6 s: {step.status.name.lower()}, the distance of the grippers changes by at most {1e9 * slip:.0f} nm"
)

# 70 cm to the side, out of reach: the weights decide between position and orientation
aside = [Frame.at([0, 0.7, 0]) @ tray @ grip for grip in grips]
for weight in (1.0, 0.1):
    tracker = Solver().track(robot, [Goal(gripper, Frame(), turn_weight=weight) for gripper in grippers], start)
    for _ in range(1200):
        step = tracker.step(aside, dt)
    missed = f"{1e3 * step.distance.max():.0f} mm and {np.degrees(step.angle.max()):.0f} degrees"
    print(f"out of reach, orientation weight {weight:g}: {step.status.name.lower()}, error {missed}")

# fifty robots, each with its own tray; frames have a leading axis for the robots
tracker = Solver().track(robot, grippers, np.tile(start, (50, 1)))
for tick in range(900):
    lifts = np.linspace(0, 1, 50) * (1 - cos(min(tick * dt, 2) * pi / 2)) / 2
    now = Frame.at(lifts[:, None] * [0, 0, 1]) @ tray
    step = tracker.step([now @ grip for grip in grips], dt)
high = lifts[step.statuses == TrackingStatus.FOLLOWING.value]
print(f"{step}; the highest tray that is still followed is up by {high.max():.1f} m")
