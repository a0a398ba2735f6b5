"""Footsteps: when the feet of a body touch the ground, and paths of feet that do not slide while they do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple import _core
from supple.animate.smoothing import bridged, raised, runs
from supple.frame import Array

Mask = Any
"""An array of bool."""
CONTACT_HEIGHT = 0.05
"""A toe or heel lower than this above the ground, in metres, and slower than `CONTACT_SPEED` is in contact."""
CONTACT_SPEED = 0.15
"""In m/s."""
_SHORT_GAP = 0.06  # s: a contact that is lost for no longer goes on
_FADE = 0.3  # s: in which corrections end before the first and after the last contact


@dataclass(frozen=True, eq=False)
class Contacts:
    """Which points of one foot touch the ground in each frame."""

    heel: Mask
    """Whether the heel does (n,)."""
    toe: Mask
    """Whether the toe does (n,)."""


def ground_height(heights: Array) -> float:
    """The height of the ground under points (n, k) of feet, in metres: where the lowest of them are at rest."""
    return float(np.percentile(heights.min(axis=-1), 5))


def in_contact(points: Array, ground: float, dt: float) -> Mask:
    """Whether a point (n, 3) of a foot touches the ground in each frame (n,)."""
    if len(points) < 2:
        return np.asarray(points[:, 2] - ground < CONTACT_HEIGHT)
    speed = np.linalg.norm(np.gradient(points, dt, axis=0), axis=-1)
    touching = (points[:, 2] - ground < CONTACT_HEIGHT) & (speed < CONTACT_SPEED)
    longest = int(_SHORT_GAP / dt)
    for begin, end in runs(~touching):
        low = (points[begin:end, 2] - ground < CONTACT_HEIGHT).all()
        if begin > 0 and end < len(points) and end - begin <= longest and low:
            touching[begin:end] = True
    return np.asarray(touching)


def placed(
    rotations: Array, positions: Array, contacts: Contacts, heel: Array, toe: Array, flat: Array | None, dt: float
) -> tuple[Array, Array]:
    """The path of a foot that rolls on the ground z = 0 without sliding, near a given path.

    Args:
        rotations: of the foot (n, 3, 3).
        positions: of its origin (n, 3), in metres.
        contacts: which points touch the ground.
        heel: the point of the heel (3,), in the foot's axes.
        toe: the point of the toe (3,), in the foot's axes.
        flat: rotation (3, 3) of the foot when it stands flat and forward is along x; None: rotations stay as they are.
        dt: time between frames, in seconds.
    """
    fade = max(1, int(_FADE / dt))
    turned = rotations if flat is None else _flattened(rotations, contacts.heel & contacts.toe, flat, fade)
    standing = contacts.heel | contacts.toe
    offsets = np.zeros_like(positions)
    lowest = -np.minimum(turned @ heel, turned @ toe)[:, 2]
    for begin, end in runs(standing):
        path = _rolled(turned[begin:end], contacts.heel[begin:end], contacts.toe[begin:end], heel, toe)
        path += (positions[begin:end] - path).mean(axis=0)
        path[:, 2] = lowest[begin:end]
        offsets[begin:end] = path - positions[begin:end]
    out = positions + bridged(offsets, standing, fade)
    below = np.maximum(lowest - out[:, 2], 0.0)
    below[standing] = 0.0
    if below.any():
        lift = raised(below, max(1, int(0.05 / dt)))
        out[:, 2] = np.where(standing, out[:, 2], np.maximum(out[:, 2] + lift * _clear(standing, fade), lowest))
    return turned, out


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
        forward = (rotations[begin:end] @ flat.T)[:, :, 0].mean(axis=0)
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


def logarithm(rotations: Array) -> Array:
    """Rotation vectors (n, 3) of rotations (n, 3, 3)."""
    whole = np.zeros((len(rotations), 4, 4))
    whole[:, :3, :3], whole[:, 3, 3] = rotations, 1.0
    return _core.log_rotation(whole)


def exponential(vectors: Array) -> Array:
    """Rotations (n, 3, 3) of rotation vectors (n, 3)."""
    rotations: Array = _core.exp_rotation(np.ascontiguousarray(vectors))[:, :3, :3]
    return rotations
