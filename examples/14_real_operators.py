"""A real hand: seen 60 to 125 times a second, irregular, trembling and lossy; followed a thousand times a second."""

from math import pi

import numpy as np

from supple import Frame, Goal, Solver, models, solve
from supple.gauntlet import Operator

arm, rate, seconds = models.ur5(), 1000, 8.0
start = arm.q(shoulder_lift_joint=-1.2, elbow_joint=1.5, wrist_1_joint=-1.0, wrist_2_joint=-1.2)
home = arm.frame(start, "tool0")
times = np.arange(0, seconds, 1 / rate)


def hand(t):
    """Where the hand is at times (N,): a slow eight, and at rest for the last two seconds; frames (N, 4, 4)."""
    u = np.clip(t / 6, 0, 1)
    phase = 2 * pi * u**3 * (10 - 15 * u + 6 * u * u)
    way = np.stack([0 * phase, 0.15 * np.sin(phase), 0.1 * np.sin(2 * phase)], axis=-1)
    return (Frame.at(way) @ home).matrix


def follow(goals, stamps):
    """Joint values (N, dof) and stated lags (N,) of a tracker that is given these goals (N, 4, 4)."""
    tracker = Solver().track(arm, "tool0", start=start)
    told = [tracker.step(g, 1 / rate, stamp=s) for g, s in zip(goals, stamps, strict=True)]
    return np.array([step.q for step in told]), np.array([step.lag for step in told])


def judge(name, q, lag):
    """How far the arm is from the clean hand as it was when the tracker says, and how roughly it moves."""
    off = np.linalg.norm(arm.frame(q, "tool0").position - hand(times - lag)[:, :3, 3], axis=-1)
    rough = np.abs(np.diff(q, n=2, axis=0)).max(axis=1) * rate**2
    moving = slice(rate // 2, 6 * rate)
    print(
        f"{name:<22} lag {1e3 * lag[moving].max():4.1f} ms   off by {1e3 * off[moving].max():.1f} mm,"
        f" at rest by {1e3 * off[-1]:.2f} mm   accelerates {np.sqrt((rough[moving] ** 2).mean()):6.1f} rad/s2 rms"
    )


judge("a clean hand", *follow(hand(times), times))
for samples_a_second in (60, 90, 125):
    operator = Operator(rate=samples_a_second)  # 1 mm of tremor, 5 % lost, up to 4 ms early or late
    heard = operator.sample(hand, seconds)
    newest = heard.newest(times)  # which sample the loop knows of, in each tick
    judge(f"{operator.rate:g} Hz, stamped", *follow(heard.frames[newest], heard.stamps[newest]))
    judge(f"{operator.rate:g} Hz, no stamps", *follow(heard.frames[newest], [None] * len(times)))

# what that smoothness is worth: the joint values of each sample, as they are
q = [start]
for frame in heard.frames:
    q.append(solve(arm, Goal("tool0", frame), start=q[-1]).q)
judge("125 Hz, just solved", np.array(q[1:])[newest], 0 * times)
