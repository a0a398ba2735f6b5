"""A command that trembles, seen at every tick or by a slow device: how much the arm trembles, peak to peak."""

from __future__ import annotations

import numpy as np

from supple.frame import Array

from . import arms, motion
from .arms import Arm
from .report import Asked, Row

ARMS = (*arms.TUNE, *arms.JUDGE)
QUICK = ("ur5", "xarm7")
RATES = (300, 1000)
BOUNDS = (3, 5, 8, 15, 50)  # rad/s2
FREQUENCIES = (0.5, 1, 2, 4, 7, 10, 12, 15, 20, 30)  # Hz
SIZES = (2e-4, 5e-4, 2e-3)  # m; the turn is 0.4 degrees for each millimetre
DEVICES = (60, 90, 125)  # samples per second, up to 4 ms off their time, 5 % lost
DEVICE_SIZES = ((5e-4, 30.0), (2e-3, 30.0), (0.012, 7.0), (0.03, 2.0))  # m, and the highest frequency, Hz
IRREGULAR = ((0.7, 0.05), (1.0, 0.03), (1.02, 0.1), (1.4, 0.03))  # samples for each tick, and the part lost
DEVICE_BOUND = 50  # rad/s2: what the device does, not what the joints cannot do
MOST = 1.02


def measure(name: str, asked: Asked) -> list[Row]:
    """Rows of one arm: for each rate and acceleration bound the worst ratio over frequency and size."""
    arm = arms.get(name)
    rows = []
    bounds = (3, 15, 50) if asked.quick else BOUNDS
    for rate in RATES:
        for bound in bounds:
            found = []
            for number in asked.trials(5, 1):
                found += [_sine(arm, number, rate, bound, f, size, asked) for f in FREQUENCIES for size in SIZES]
                found.append(_mixed(arm, number, rate, bound, asked))
            ratio, words = max(found)
            rows.append(Row("tremor", name, f"{rate} Hz, {bound} rad/s2, arm / command", ratio, "", MOST, words))
        for device in DEVICES[::2] if asked.quick else DEVICES:
            ratio, words = max(
                _device(arm, number, rate, device, f, size, asked)
                for number in asked.trials(2, 1)
                for size, highest in DEVICE_SIZES
                for f in FREQUENCIES
                if f <= highest
            )
            rows.append(Row("tremor", name, f"device of {device} Hz, {rate} Hz, arm / command", ratio, "", MOST, words))
        for label, devices in (("irregular samples", IRREGULAR), ("large swings", ((1.0, 0.0),))):
            ratio, words = max(
                _device(arm, number, rate, share * rate, f, size, asked, lost=lost, off=0.0, late=4e-3 if lost else 0.0)
                for number in asked.trials(2, 1)
                for share, lost in devices
                for size, highest in (DEVICE_SIZES if lost else DEVICE_SIZES[2:])
                for f in FREQUENCIES
                if f <= highest
            )
            rows.append(Row("tremor", name, f"{label}, {rate} Hz, arm / command", ratio, "", MOST, words))
    return rows


def _start(arm: Arm, number: int) -> tuple[Array, np.random.Generator]:
    """Joint values at which the arm moves freely."""
    rng = motion.random_of(arm, "tremor", number)
    tries = np.array([motion.inside(arm, rng, 0.7) for _ in range(40)])
    weight = np.array([3.0 / arm.reach()] * 3 + [1.0] * 3)[:, None]
    values = np.linalg.svd(weight * arm.linkage.jacobian(tries, arm.link), compute_uv=False)
    rank = int((values > 1e-4 * values[:, :1]).sum(axis=1).max())
    return tries[values[:, rank - 1].argmax()], rng


def _sine(arm: Arm, number: int, rate: int, bound: float, hertz: float, size: float, asked: Asked) -> tuple[float, str]:
    """One frequency, one direction."""
    start, rng = _start(arm, number)
    way, axis = rng.normal(size=(2, 3))
    seconds = 2 + max(2.0, 3 / hertz)
    time = np.arange(round(seconds * rate)) / rate
    wave = (np.sin(2 * np.pi * hertz * time) * np.clip(time, 0, 1))[:, None]
    shift = size * way / np.linalg.norm(way) * wave
    turn = np.radians(400 * size) * axis / np.linalg.norm(axis) * wave
    ratio, share = _ratio(arm, start, shift, turn, rate, bound, asked)
    return ratio, f"{hertz:g} Hz, {1e3 * size:g} mm, at the bound in {100 * share:.0f} % of ticks; trial {number}"


def _device(
    arm: Arm,
    number: int,
    rate: int,
    device: float,
    hertz: float,
    size: float,
    asked: Asked,
    lost: float = 0.05,
    off: float = 4e-3,
    late: float = 0.0,
) -> tuple[float, str]:
    """One frequency, one direction, of which the loop sees the newest sample; every second trial has no stamps.

    Samples are taken up to ``off`` seconds off their time, and received up to ``late`` seconds later.
    """
    start, rng = _start(arm, number)
    way, axis = rng.normal(size=(2, 3))
    count = int((3 + max(2.0, 3 / hertz)) * device)
    taken = np.maximum.accumulate(np.arange(count) / device + rng.uniform(-off, off, count))
    taken = np.concatenate([[0.0], taken[(taken > 0) & (rng.random(count) >= lost)]])
    received = np.maximum.accumulate(taken + rng.uniform(0, late, len(taken)) * (taken > 0))
    ticks = np.arange(round(taken[-1] * rate)) / rate
    seen = taken[np.searchsorted(received, ticks + 1e-9, side="right") - 1]

    def wave(time: Array) -> Array:
        return np.asarray((np.sin(2 * np.pi * hertz * time) * np.clip(time, 0, 1))[:, None])

    shift, turn = size * way / np.linalg.norm(way), np.radians(min(400 * size, 3.0)) * axis / np.linalg.norm(axis)
    commands = motion.moved(arm.frames(start)[None], (shift * wave(seen))[:, None], (turn * wave(seen))[:, None])
    stamps = seen if number % 2 == 0 else None
    follow = motion.tracker(arm, start, asked.options | {"acceleration": DEVICE_BOUND})
    q, _ = follow.replay(commands, 1 / rate, stamps)
    settled = ticks > 3
    hand = np.linalg.norm(np.ptp(shift * wave(ticks[settled]), axis=0))
    ratio = float(np.linalg.norm(np.ptp(arm.frames(q[settled])[:, 0, :3, 3], axis=0)) / hand)
    words = f"{hertz:g} Hz, {1e3 * size:g} mm, {'no stamps' if stamps is None else 'stamped'}"
    return ratio, f"{words}, {device / rate:.3g} samples a tick; trial {number}"


def _mixed(arm: Arm, number: int, rate: int, bound: float, asked: Asked) -> tuple[float, str]:
    """0.5 mm and 0.2 degrees of many frequencies between 7 and 12 Hz."""
    start, rng = _start(arm, number)
    frequency, phase = rng.uniform(7, 12, (6, 3)), rng.uniform(0, 2 * np.pi, (6, 3))
    time = np.arange(10 * rate) / rate
    wave = np.sin(2 * np.pi * frequency * time[:, None, None] + phase).mean(axis=2) * np.clip(time, 0, 1)[:, None]
    ratio, share = _ratio(arm, start, 5e-4 * wave[:, :3], np.radians(0.2) * wave[:, 3:], rate, bound, asked)
    return ratio, f"7-12 Hz mixed, 0.5 mm, at the bound in {100 * share:.0f} % of ticks; trial {number}"


def _ratio(
    arm: Arm, start: Array, shift: Array, turn: Array, rate: int, bound: float, asked: Asked
) -> tuple[float, float]:
    """Peak to peak of the end effector over that of the command, after 2 s; share of ticks at the bound."""
    commands = motion.moved(arm.frames(start)[None], shift[:, None], turn[:, None])
    follow = motion.tracker(arm, start, asked.options | {"acceleration": bound})
    q, _ = follow.replay(commands, 1 / rate)
    settled = slice(2 * rate, None)
    hand, own = commands[settled, 0, :3, 3], arm.frames(q[settled])[:, 0, :3, 3]
    acceleration = np.abs(np.diff(q, n=2, axis=0)) * rate**2
    share = float((acceleration > 0.98 * follow.acceleration).any(axis=1)[settled].mean())
    return float(np.linalg.norm(np.ptp(own, axis=0)) / np.linalg.norm(np.ptp(hand, axis=0))), share
