"""Reasons in words: why a solve did not arrive, or why a tracker does not follow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from supple import _reach
from supple.frame import Array
from supple.linkage import Linkage


def said_length(metres: float) -> str:
    """A length in words: metres, millimetres, micrometres or nanometres."""
    for unit, size in (("m", 1.0), ("mm", 1e-3), ("um", 1e-6)):
        if metres >= size:
            return f"{metres / size:.3g} {unit}"
    return f"{metres / 1e-9:.3g} nm"


def said_angle(radians: float) -> str:
    """An angle in words: radians or milliradians."""
    return f"{radians:.3g} rad" if radians >= 0.1 else f"{radians * 1e3:.3g} mrad"


def said_direction(vector: Array, signed: bool = True) -> str:
    """A direction (3,) in words: a world axis where it is near one, else its three parts."""
    length = float(np.linalg.norm(vector))
    if not length > 0:
        return "anywhere"
    unit = vector / length
    k = int(np.argmax(np.abs(unit)))
    if abs(unit[k]) > 0.9:
        return ("+" if unit[k] > 0 else "-") * signed + "xyz"[k]
    return "(" + ", ".join(f"{x + 0.0:.2f}" for x in unit) + ")"


def out_of_reach(linkage: Linkage, link: str, position: Array, error: Array, far: float = 0.0) -> list[str]:
    """That a position (3,) is farther than a link can reach, if it is; ``error`` (3,) tells which way.

    ``far`` is by how much it is missed, in metres, where that is more: the orientation may cost some of the reach.
    """
    beyond = _reach.beyond(linkage, link, position)
    if not beyond > 0:
        return []
    return [f"{link} is out of reach by {said_length(max(beyond, far))} along {said_direction(error)}"]


def at_limits(names: Sequence[str], sides: Iterable[float]) -> list[str]:
    """Which joints stand at their limits: sides are -1 (lower), 1 (upper) or anything else."""
    at = [
        f"{name} at its {'upper' if side > 0 else 'lower'} limit"
        for name, side in zip(names, sides, strict=True)
        if side in (1, -1)
    ]
    return at if len(at) <= 4 else [f"{len(at)} joints at their limits"]


def singular(names: Sequence[str], weights: Array, way: Array, link: str = "") -> list[str]:
    """That joints swing without moving the end effector one way (6,): linear and angular, in weighted units.

    ``link`` names the end effector, where there are several.
    """
    swinging = [name for name, weight in zip(names, weights, strict=True) if weight < 0.8][:3]
    linear, angular, what = way[:3], way[3:], f" {link}" if link else ""
    if not way.any():
        slow = f"pointing{what} is slow"
    elif np.linalg.norm(linear) >= np.linalg.norm(angular):
        slow = f"moving{what} along {said_direction(linear, signed=False)} is slow"
    else:
        slow = f"turning{what} about {said_direction(angular, signed=False)} is slow"
    return [f"{', '.join(swinging) or 'the arm'} singular: {slow}"]


def too_slow(names: Sequence[str], sides: Iterable[float]) -> list[str]:
    """Which joints are as fast as they may be (2, -2), or speed up or brake as hard as they may (3, -3)."""
    pairs = list(zip(names, sides, strict=True))
    fast = [f"{name} at its speed limit" for name, side in pairs if abs(side) == 2]
    hard = [f"{name} at its acceleration limit" for name, side in pairs if abs(side) == 3]
    return (fast or hard)[:3]
