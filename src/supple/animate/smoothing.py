"""Smoothing of motions in time: filters without delay, bridges over gaps, and bounds on speeds."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from supple import _core
from supple.frame import Array
from supple.joint import Joint, Kind
from supple.link import Link
from supple.linkage import Linkage


def smoothed(values: Array, width: float) -> Array:
    """Values (n, k) filtered along the first axis by a Gaussian of a standard deviation of ``width`` samples.

    The ends are continued by reflection at the end values, so that they stay and straight lines stay straight.
    """
    count = len(values)
    reach = min(int(np.ceil(4 * width)), count - 1)
    if width <= 0 or reach < 1:
        return values
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    kernel /= kernel.sum()
    first = 2 * values[:1] - values[reach:0:-1]
    last = 2 * values[-1:] - values[-2 : -reach - 2 : -1]
    extended = np.concatenate([first, values, last])
    size = 1 << int(np.ceil(np.log2(len(extended) + len(kernel))))
    spectrum = np.fft.rfft(extended, size, axis=0) * np.fft.rfft(kernel, size)[:, None]
    whole: Array = np.fft.irfft(spectrum, size, axis=0)[2 * reach : 2 * reach + count]
    return whole


def continuous(quaternions: Array) -> Array:
    """Quaternions (n, ..., 4) with the signs that make each near the one before."""
    dots = np.sum(quaternions[1:] * quaternions[:-1], axis=-1)
    signs = np.cumprod(np.where(dots < 0, -1.0, 1.0), axis=0)
    out: Array = quaternions.copy()
    out[1:] *= signs[..., None]
    return out


def runs(mask: Any) -> list[tuple[int, int]]:
    """The first index and the index after the last of each run of True in a mask (n,)."""
    edges = np.diff(np.concatenate([[0], mask.astype(np.int8), [0]]))
    return list(zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True))


def bridged(values: Array, known: Any, fade: int) -> Array:
    """Values (n, k) where ``known`` (n,), and curves over the gaps between, which begin and end with their slopes.

    The curves are quintics with the values and slopes of both sides and no acceleration there. Before the first known
    run and after the last, the slope ends within ``fade`` samples and the value stays.
    """
    out: Array = values.copy()
    pieces = runs(known)
    if not pieces:
        return np.zeros_like(values)
    first, last = pieces[0], pieces[-1]
    ends: list[tuple[tuple[int, int] | None, tuple[int, int] | None]] = [(None, first), *pairwise(pieces), (last, None)]
    for before, after in ends:
        begin = before[1] - 1 if before else 0
        end = after[0] if after else len(values) - 1
        if before and after:
            out[begin : end + 1] = _quintic(
                values, begin, end, _slope(values, before, True), _slope(values, after, False)
            )
        elif after and end > 0:
            start = max(0, end - fade)
            slope = _slope(values, after, False)
            rest = values[end] - 0.5 * slope * (end - start)
            held = np.concatenate([np.broadcast_to(rest, (end, values.shape[1])), values[end:]])
            out[: start + 1] = rest
            out[start : end + 1] = _quintic(held, start, end, np.zeros_like(slope), slope)
        elif before and begin < len(values) - 1:
            stop = min(len(values) - 1, begin + fade)
            slope = _slope(values, before, True)
            held = values.copy()
            held[stop] = values[begin] + 0.5 * slope * (stop - begin)
            out[stop:] = held[stop]
            out[begin : stop + 1] = _quintic(held, begin, stop, slope, np.zeros_like(slope))
    return out


def _slope(values: Array, run: tuple[int, int], at_end: bool) -> Array:
    """The slope (k,) per sample at an end of a known run, over up to four of its samples."""
    begin, end = run
    count = min(end - begin, 4)
    if count < 2:
        return np.zeros(values.shape[1])
    part = values[end - count : end] if at_end else values[begin : begin + count]
    slope: Array = (part[-1] - part[0]) / (count - 1)
    return slope


def _quintic(values: Array, begin: int, end: int, slope_0: Array, slope_1: Array) -> Array:
    """The quintic (end - begin + 1, k) from one sample to another with these slopes and no acceleration at both."""
    length = end - begin
    if length < 1:
        return values[begin : end + 1]
    t = np.linspace(0.0, 1.0, length + 1)[:, None]
    rise = values[end] - values[begin]
    h = t**3 * (10 - 15 * t + 6 * t * t)
    h0 = t - 6 * t**3 + 8 * t**4 - 3 * t**5
    h1 = -4 * t**3 + 7 * t**4 - 3 * t**5
    curve: Array = values[begin] + rise * h + length * (slope_0 * h0 + slope_1 * h1)
    return curve


def raised(values: Array, width: int) -> Array:
    """A smooth bound above values (n,), no more than needed within ``width`` samples of them."""
    if width < 1 or not values.any():
        return values
    padded = np.concatenate([np.full(width, values[0]), values, np.full(width, values[-1])])
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * width + 1)
    highest = windows.max(axis=-1)
    weights = 0.5 * (1 - np.cos(2 * np.pi * np.arange(1, 2 * width + 2) / (2 * width + 2)))
    padded = np.concatenate([np.full(width, highest[0]), highest, np.full(width, highest[-1])])
    mean: Array = np.convolve(padded, weights / weights.sum(), mode="valid")
    return mean


def within_speeds(linkage: Linkage, q: Array, dt: float, fixed: Any = None) -> Array:
    """Joint values (n, dof) that change by no more than the speed limits from row to row, near the values given.

    The mean of the largest values below and the smallest above that keep the limit. A row of a ball joint that is too
    far from the next one is drawn to it. Values that are ``fixed`` (n, dof) stay, as far as the limits allow.
    """
    held = np.zeros(q.shape, dtype=bool) if fixed is None else fixed
    bound = linkage.speed * dt * (1 - 1e-9)
    fast: Any = (np.abs(linkage.difference(q[:-1], q[1:])) > bound).any(axis=0)
    if not fast.any():
        return q
    out: Array = q.copy()
    for joint in linkage.joints:
        if joint.mimic is not None or not joint.dof:
            continue
        first = linkage._sources[joint.name].first
        turns = {Kind.BALL: 0, Kind.FLOATING: 3}.get(joint.kind, joint.dof)  # values before the rotation vector
        for column in range(first, first + turns):
            if fast[column]:
                out[:, column] = _lipschitz(out[:, column], float(bound[column]), held[:, column])
        if turns < joint.dof and fast[first + turns : first + joint.dof].any():
            columns = slice(first + turns, first + joint.dof)
            out[:, columns] = _slow_ball(joint, out[:, columns], bound[columns], held[:, columns.start])
    return out


def _lipschitz(values: Array, bound: float, fixed: Any) -> Array:
    """The mean of the greatest values (n,) below and the least above that change by at most ``bound`` a sample.

    First values are brought within what the ``fixed`` ones (n,) allow, which then stay.
    """
    ramp = bound * np.arange(len(values))

    def below(x: Array) -> Array:
        forward = np.minimum.accumulate(x - ramp) + ramp
        least: Array = np.minimum(forward, np.minimum.accumulate((x + ramp)[::-1])[::-1] - ramp)
        return least

    if fixed.any():
        highest, lowest = (below(np.where(fixed, sign * values, 1e300)) for sign in (1, -1))
        values = np.where(fixed, values, np.minimum(np.maximum(values, -lowest), highest))
    mean: Array = 0.5 * (below(values) - below(-values))
    return mean


def _slow_ball(joint: Joint, values: Array, limit: Array, fixed: Any) -> Array:
    """Rotation vectors (n, 3) of a ball joint that turn by at most ``limit`` (3,) from row to row.

    A row that is too far from the next one is drawn to it; after a ``fixed`` row (n,) the next one is drawn to that.
    """
    ball = _ball()
    out: Array = values.copy()

    def drawn(row: int, anchor: int) -> bool:
        """Draws a row to its neighbour where it is too far; whether it was."""
        change = ball.difference(out[anchor], out[row])
        excess = float(np.max(np.abs(change) / limit))
        if excess <= 1:
            return False
        turned = ball.integrate(out[anchor], change / excess)
        if joint.kind is Kind.BALL:
            turned = _core.clamp_ball(turned, np.array(joint.axis), joint.swing, *joint.twist)
        out[row] = turned
        return True

    for _ in range(4):
        changes = np.abs(ball.difference(out[:-1], out[1:]))
        fast = np.flatnonzero((changes > limit).any(axis=-1))
        if not len(fast):
            break
        for row in fast.tolist():
            while row + 1 < len(out) and fixed[row] and not fixed[row + 1] and drawn(row + 1, row):
                row += 1
                while row + 1 < len(out) and not fixed[row + 1] and drawn(row + 1, row):
                    row += 1
        for last in fast[::-1].tolist():
            row = last
            while row >= 0 and drawn(row, row + 1):
                row -= 1
    return out


@cache
def _ball() -> Linkage:
    """One ball joint without limits."""
    return Linkage("ball", [Joint.ball("ball", "base", "tip")], [Link("base"), Link("tip")])
