"""The smallest possible error along each command: stored for the known arms, computed for others."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supple.frame import Array
from supple.gauntlet.nearest_pose import nearest

if TYPE_CHECKING:
    from supple.gauntlet.hazard import Hazard

Mask = NDArray[np.bool_]
INTERVAL = 0.1  # s between two reference points
REACHABLE_ERROR = 1e-6  # weighted error; a command with a smaller one is reachable
_STEPS_PER_INTERVAL = 5  # while the local optimum is continued
STORED = Path(__file__).parent / "known.json"


@dataclass(frozen=True)
class Reference:
    """The smallest weighted error of joint values within limits, along the command of a hazard."""

    times: Array
    """Times (M,) in seconds, every 0.1 s."""
    least: Array
    """Smallest weighted error (M,), on the branch of the start."""
    unreachable: tuple[tuple[float, float], ...]
    """Intervals in which the command is out of reach, from and to in seconds."""
    held: Array | None = None
    """The nearest joint values (dof,) in the hold window."""


@cache
def stored_arms() -> dict[str, Any]:
    """The stored data: for each known arm its hazards as plain data, and their references."""
    data: dict[str, Any] = json.loads(STORED.read_text(encoding="utf-8"))
    return data


def stored(arm: str, key: str) -> Reference | None:
    """The stored reference of a hazard of a known arm, or None."""
    row = stored_arms().get(arm, {}).get("references", {}).get(key)
    if row is None:
        return None
    least = np.zeros(row["count"])
    least[row["at"]] = row["least"]
    held = None if row["held"] is None else np.array(row["held"])
    times: Array = np.arange(len(least)) * np.float64(INTERVAL)
    return Reference(times, least, tuple((a, b) for a, b in row["unreachable"]), held)


def to_data(reference: Reference) -> dict[str, Any]:
    """A reference as plain data; errors below 1e-11 become 0."""
    at = np.flatnonzero(reference.least > 1e-11)
    return {
        "count": len(reference.times),
        "at": at.tolist(),
        "least": reference.least[at].tolist(),
        "unreachable": [list(pair) for pair in reference.unreachable],
        "held": None if reference.held is None else reference.held.tolist(),
    }


def compute(hazard: Hazard) -> Reference:
    """The reference of any hazard: the local optimum continued from the start, and the best from some other starts."""
    times = np.arange(0, hazard.duration + 1e-9, INTERVAL)
    others = [hazard.start, *hazard.other_starts]
    followed = _followed(hazard)
    least, at, q = np.empty(len(times)), np.empty((len(times), hazard.arm.dof)), hazard.start
    for i, frame in enumerate(hazard.hand(times)):
        q, least[i] = _best(hazard, frame, [q, followed[min(i * _STEPS_PER_INTERVAL, len(followed) - 1)], *others])
        at[i] = q
    out = least >= REACHABLE_ERROR

    def reachable(t: float) -> bool:
        near = followed[min(round(t / INTERVAL * _STEPS_PER_INTERVAL), len(followed) - 1)]
        return _best(hazard, hazard.hand(np.array([t]))[0], [near, *others])[1] < REACHABLE_ERROR

    held = None if hazard.hold is None else at[round(float(np.mean(hazard.hold)) / INTERVAL)]
    return Reference(times, np.where(out, least, 0.0), _intervals(times, out, reachable), held)


def _followed(hazard: Hazard) -> Array:
    """Joint values (K, dof) that follow the command greedily from the start, within the speed limits."""
    times = np.arange(0, hazard.duration + 1e-9, INTERVAL / _STEPS_PER_INTERVAL)
    arm, q, rows = hazard.arm, hazard.start, []
    most = arm.speed * INTERVAL / _STEPS_PER_INTERVAL
    for frame in hazard.hand(times):
        q, _ = nearest(arm, q, frame, np.maximum(arm.lower, q - most), np.minimum(arm.upper, q + most), iterations=6)
        rows.append(q)
    return np.array(rows)


def _best(hazard: Hazard, goal: Array, starts: Sequence[Array]) -> tuple[Array, float]:
    best: tuple[Array, float] = (hazard.start, np.inf)
    for start in starts:
        found = nearest(hazard.arm, start, goal)
        if found[1] < best[1]:
            best = found
        if best[1] < 1e-9:
            break
    return best


def _intervals(times: Array, out: Mask, reachable: Callable[[float], bool]) -> tuple[tuple[float, float], ...]:
    """The intervals in which the command is out of reach; their ends are found by six bisections."""

    def edge(a: float, b: float, becomes: bool) -> float:
        for _ in range(6):
            middle = 0.5 * (a + b)
            a, b = (a, middle) if reachable(middle) == becomes else (middle, b)
        return 0.5 * (a + b)

    pairs, i = [], 0
    while i < len(times):
        if out[i]:
            last = i
            while last + 1 < len(times) and out[last + 1]:
                last += 1
            begin = float(times[i]) if i == 0 else edge(float(times[i - 1]), float(times[i]), False)
            final = last + 1 >= len(times)
            end = float(times[last]) + INTERVAL if final else edge(float(times[last]), float(times[last + 1]), True)
            pairs.append((begin, end))
            i = last
        i += 1
    return tuple(pairs)
