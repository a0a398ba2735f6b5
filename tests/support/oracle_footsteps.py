"""Paths of feet that do not slide, written with NumPy: slow references of the core's."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from supple import Frame
from supple.animate.footsteps import Contacts, exponential
from supple.animate.rows import turned
from supple.animate.smoothing import runs
from supple.frame import Array

Mask = Any
FADE, RISE = 0.3, 0.05  # s


def placed(
    rotations: Array,
    positions: Array,
    contacts: Contacts,
    points: tuple[Array, Array],
    flat: Array | None,
    dt: float,
    anchors: Mask,
) -> tuple[Array, Array]:
    """Rotations (n, 3, 3) and positions (n, 3) of a foot that does not slide; ``points`` are its heel and its toe."""
    fade, (heel, toe) = max(1, int(FADE / dt)), points
    turns = rotations if flat is None else _flattened(rotations, contacts.heel & contacts.toe, flat, fade)
    standing = contacts.heel | contacts.toe
    offsets = np.zeros_like(positions)
    lowest = -np.minimum(turned(turns, heel)[:, 2], turned(turns, toe)[:, 2])
    for begin, end in runs(standing):
        path = _rolled(turns[begin:end], contacts.heel[begin:end], contacts.toe[begin:end], heel, toe)
        stays = anchors[begin:end] if anchors[begin:end].any() else np.ones(end - begin, dtype=bool)
        path += (positions[begin:end] - path)[stays].mean(axis=0)
        path[:, 2] = lowest[begin:end]
        offsets[begin:end] = path - positions[begin:end]
    out = positions + bridged(offsets, standing, fade)
    below = np.maximum(lowest - out[:, 2], 0.0)
    below[standing] = 0.0
    if below.any():
        lift = raised(below, max(1, int(RISE / dt)))
        out[:, 2] = np.where(standing, out[:, 2], np.maximum(out[:, 2] + lift * _clear(standing, fade), lowest))
    return turns, out


def _clear(standing: Mask, fade: int) -> Array:
    """A factor (n,) that is 0 where a foot stands and grows to 1 within a third of ``fade`` frames from there."""
    index = np.arange(len(standing))
    at = np.flatnonzero(standing)
    if not len(at):
        return np.ones(len(standing))
    place = np.clip(np.searchsorted(at, index), 1, len(at) - 1) if len(at) > 1 else np.zeros(len(index), dtype=int)
    near = np.abs(index - at[place])
    if len(at) > 1:
        near = np.minimum(near, np.abs(index - at[place - 1]))
    part = np.minimum(near / max(1.0, fade / 3), 1.0)
    factor: Array = part * part * (3 - 2 * part)
    return factor


def _flattened(rotations: Array, both: Mask, flat: Array, fade: int) -> Array:
    """Rotations (n, 3, 3) that are flat and constant over each run of frames in which heel and toe touch."""
    corrections = np.zeros((len(rotations), 3))
    for begin, end in runs(both):
        forward = rotations[begin:end].mean(axis=0) @ flat[0]
        yaw = np.arctan2(forward[1], forward[0])
        turn = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1.0]])
        wanted = turn @ flat
        corrections[begin:end] = logarithm(np.swapaxes(rotations[begin:end], -1, -2) @ wanted)
    corrections = bridged(corrections, both, fade)
    return rotations @ exponential(corrections)


def _rolled(rotations: Array, heel_on: Mask, toe_on: Mask, heel: Array, toe: Array) -> Array:
    """The positions (n, 3), from zero, of a foot that turns about the point that touches the ground."""
    on_toe = toe_on[1:] & toe_on[:-1]
    on_heel = heel_on[1:] & heel_on[:-1]
    pivot = np.where((on_toe | ~on_heel)[:, None], toe, heel)
    steps = np.einsum("nij,nj->ni", rotations[:-1] - rotations[1:], pivot)
    path: Array = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    return path


def bridged(values: Array, known: Any, fade: int) -> Array:
    """Values (n, k) where ``known`` (n,), and curves over the gaps between, which begin and end with their slopes.

    The curves are quintics with the values and slopes of both sides and no acceleration there; the accelerations of
    both sides end within a third of ``fade`` samples. Before the first known run and after the last, the slope ends
    within ``fade`` samples and the value stays.
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
            length = min((end - begin) // 2, fade // 3)
            out[begin : begin + length] += _ending(_acceleration(values, before, True), length)
            out[end - length + 1 : end + 1] += _ending(_acceleration(values, after, False), length)[::-1]
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


def _part(values: Array, run: tuple[int, int], at_end: bool) -> Array:
    """The last or the first samples of a known run, up to four."""
    begin, end = run
    count = min(end - begin, 4)
    return values[end - count : end] if at_end else values[begin : begin + count]


def _slope(values: Array, run: tuple[int, int], at_end: bool) -> Array:
    """The slope (k,) per sample at an end of a known run."""
    part = _part(values, run, at_end)
    if len(part) < 2:
        return np.zeros(values.shape[1])
    middle: Array = (part[-1] - part[0]) / (len(part) - 1)
    way = 0.5 * (len(part) - 1)  # from the middle of the samples to the end
    return middle + (way if at_end else -way) * _acceleration(values, run, at_end)


def _acceleration(values: Array, run: tuple[int, int], at_end: bool) -> Array:
    """The second difference (k,) at an end of a known run."""
    part = _part(values, run, at_end)
    if len(part) < 3:
        return np.zeros(values.shape[1])
    second: Array = np.diff(part, n=2, axis=0).mean(axis=0)
    return second


def _ending(acceleration: Array, length: int) -> Array:
    """A bump (length, k) that begins without value and slope, with this acceleration, and ends without all three."""
    sample = np.arange(length)[:, None]
    bump: Array = 0.5 * sample**2 * (1 - sample / max(length, 1)) ** 3 * acceleration
    return bump


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


def logarithm(rotations: Array) -> Array:
    """Rotation vectors (n, 3) of rotations (n, 3, 3)."""
    return Frame.at(np.zeros((len(rotations), 3)), rotations).to_rotvec()
