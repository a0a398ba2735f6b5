"""Track a moving command: within reach, out of reach, past a limit, after a jump, and with NaN; within all bounds."""

from math import nan, sin, tau

import numpy as np

from supple import Frame, Solver, models

arm, dt = models.ur5(), 1 / 300
start = arm.q(shoulder_pan_joint=5.5, shoulder_lift_joint=-1.2, elbow_joint=1.5, wrist_1_joint=-1.0, wrist_2_joint=-1.2)
tool = arm.frame(start, "tool0")
outward = 0.8 * tool.position / np.linalg.norm(tool.position)  # 80 cm away from the base


def ramp(t):
    """From 0 to 1 in two seconds, one second at 1, and back to 0 in two."""
    u, v = np.clip([t / 2, (t - 3) / 2], 0, 1)
    return u * u * (3 - 2 * u) - v * v * (3 - 2 * v)


def swing(t):
    return Frame.at([0.1 * sin(tau * t) * ramp(t), 0, 0]) @ tool


def push(t):
    return Frame.at(ramp(t) * outward) @ tool


def turn(t):  # about the base, past the limit of the first joint
    return Frame.turn([0, 0, 1], 1.2 * ramp(t)) @ tool


def jump(t):
    return Frame.at([0, 0, -0.2]) @ tool if 1 < t < 3 else tool


def not_a_number(t):
    return np.full((4, 4), nan) if 1 < t < 2 else tool


tracker = Solver().track(arm, "tool0", start=start)
motion, before, speed, acceleration = [start], 0 * start, 0.0, 0.0
for command in (swing, push, turn, jump, not_a_number):
    log = {}  # for each status its duration and its longest reason
    for tick in range(1800):
        step = tracker.step(command(tick * dt), dt)
        time, why = log.get(step.status, (0, ""))
        log[step.status] = time + dt, max(why, step.why, key=len)
        speed = max(speed, (abs(step.velocity) / arm.speed).max())
        acceleration = max(acceleration, abs(step.velocity - before).max() / dt)
        before = step.velocity.copy()
        motion.append(step.q.copy())
    print(f"{command.__name__}: ends {step.status.name}, {abs(step.q - start).max():.0e} rad from the start")
    for status, (time, why) in log.items():
        print(f"  {time:4.2f} s {status.name.lower():<10}{why}")

print(
    f"\n{len(motion) - 1} ticks: speed up to {speed:.3f} of the limit, acceleration to {acceleration:.3f} of 15 rad/s2"
)
print("always inside the limits:", bool(arm.inside(np.array(motion)).all()))
