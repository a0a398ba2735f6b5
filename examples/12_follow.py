"""Follow a hand: within reach, past it, over a limit, after a jump and through nonsense, always within bounds."""

from math import nan, sin, tau

import numpy as np

from supple import Frame, Solver, models

arm, dt = models.ur5(), 1 / 300
start = arm.q(shoulder_pan_joint=5.5, shoulder_lift_joint=-1.2, elbow_joint=1.5, wrist_1_joint=-1.0, wrist_2_joint=-1.2)
hand = arm.frame(start, "tool0")
away = 0.8 * hand.position / np.linalg.norm(hand.position)  # 80 cm on, straight from the base


def out(t):
    """From 0 to 1 within two seconds, there for one, and back within two."""
    u, v = np.clip([t / 2, (t - 3) / 2], 0, 1)
    return u * u * (3 - 2 * u) - v * v * (3 - 2 * v)


def swing(t):
    return Frame.at([0.1 * sin(tau * t) * out(t), 0, 0]) @ hand


def push(t):
    return Frame.at(out(t) * away) @ hand


def turn(t):  # about the base, farther than the first joint can go
    return Frame.turn([0, 0, 1], 1.2 * out(t)) @ hand


def jump(t):
    return Frame.at([0, 0, -0.2]) @ hand if 1 < t < 3 else hand


def nonsense(t):
    return np.full((4, 4), nan) if 1 < t < 2 else hand


follow = Solver().track(arm, "tool0", start=start)
way, before, speed, acceleration = [start], 0 * start, 0.0, 0.0
for command in (swing, push, turn, jump, nonsense):
    said = {}  # for each outcome, how long, and the fullest reason
    for tick in range(1800):
        step = follow.step(command(tick * dt), dt)
        time, why = said.get(step.status, (0, ""))
        said[step.status] = time + dt, max(why, step.why, key=len)
        speed = max(speed, (abs(step.velocity) / arm.speed).max())
        acceleration = max(acceleration, abs(step.velocity - before).max() / dt)
        before = step.velocity.copy()
        way.append(step.q.copy())
    print(f"{command.__name__}: ends {step.status.name}, {abs(step.q - start).max():.0e} rad from the start")
    for outcome, (time, why) in said.items():
        print(f"  {time:4.2f} s {outcome.name.lower():<10}{why}")

print(f"\n{len(way) - 1} ticks: at most {speed:.3f} of a speed limit, {acceleration:.3f} rad/s2 of 15")
print("always inside the limits:", bool(arm.inside(np.array(way)).all()))
