"""A real operator, sampled at 60 to 125 Hz with jitter, tremor and loss, and tracked at 1000 Hz."""

from math import pi

import numpy as np

from supple import Frame, Goal, Solver, models, solve
from supple.gauntlet import Operator

arm, rate, seconds = models.ur5(), 1000, 8.0
start = arm.q(shoulder_lift_joint=-1.2, elbow_joint=1.5, wrist_1_joint=-1.0, wrist_2_joint=-1.2)
home = arm.frame(start, "tool0")
times = np.arange(0, seconds, 1 / rate)


def hand(t):
    """Frames (N, 4, 4) of the operator's hand at times (N,): a slow figure of eight, then two seconds of rest."""
    u = np.clip(t / 6, 0, 1)
    phase = 2 * pi * u**3 * (10 - 15 * u + 6 * u * u)
    shift = np.stack([0 * phase, 0.15 * np.sin(phase), 0.1 * np.sin(2 * phase)], axis=-1)
    return (Frame.at(shift) @ home).matrix


def track(goals, stamps):
    """Joint values (N, dof) and stated lags (N,) of a tracker for goals (N, 4, 4)."""
    tracker = Solver().track(arm, "tool0", start=start)
    steps = [tracker.step(g, 1 / rate, stamp=s) for g, s in zip(goals, stamps, strict=True)]
    return np.array([step.q for step in steps]), np.array([step.lag for step in steps])


def evaluate(name, q, lag):
    """Print the error to the clean motion, shifted by the stated lag, and the acceleration."""
    error = np.linalg.norm(arm.frame(q, "tool0").position - hand(times - lag)[:, :3, 3], axis=-1)
    acceleration = np.abs(np.diff(q, n=2, axis=0)).max(axis=1) * rate**2
    moving = slice(rate // 2, 6 * rate)
    print(
        f"{name:<22} lag {1e3 * lag[moving].max():4.1f} ms   error {1e3 * error[moving].max():.1f} mm,"
        f" at rest {1e3 * error[-1]:.2f} mm   rms {np.sqrt((acceleration[moving] ** 2).mean()):6.1f} rad/s2"
    )


evaluate("clean", *track(hand(times), times))
for sample_rate in (60, 90, 125):
    operator = Operator(rate=sample_rate)  # 1 mm of tremor, 5 % loss, 4 ms of jitter
    samples = operator.sample(hand, seconds)
    newest = samples.newest(times)  # index of the newest sample in each tick
    evaluate(f"{operator.rate:g} Hz, stamped", *track(samples.frames[newest], samples.stamps[newest]))
    evaluate(f"{operator.rate:g} Hz, no stamps", *track(samples.frames[newest], [None] * len(times)))

# for comparison: each sample solved on its own
q = [start]
for frame in samples.frames:
    q.append(solve(arm, Goal("tool0", frame), start=q[-1]).q)
evaluate("125 Hz, only solved", np.array(q[1:])[newest], 0 * times)
