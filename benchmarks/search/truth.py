"""Results of the offline optimisation, stored in truth.npz: reachable goals, and smallest errors of the others.

python benchmarks/search.py --truth panda,ur5      (a minute per robot)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import goals
from .arms import ARMS, Arm
from .descent import nearest
from .judge import METRES, RADIANS, Array, apart

FILE = Path(__file__).parent / "truth.npz"
COUNT = 1000
"""Goals of a family, and unreachable goals of a robot."""
ROBOTS = ("panda", "ur5", "so101")
"""The robots with stored unreachable goals."""
CLEAR = 1e-3
"""A goal is unreachable if the smallest weighted error is above this."""
CANDIDATES = 2500


def reachable(name: str, family: str) -> tuple[Array, NDArray[np.bool_]]:
    """Goals (n, 4, 4) of a family of which not all are reachable, and whether they are (n,)."""
    frames = goals.FAMILIES[family](ARMS[name](), COUNT)
    with np.load(FILE) as kept:
        _same(frames, kept, key := f"{name}/{family}")
        return frames, np.unpackbits(kept[key], count=len(frames)).astype(bool)


def unreachable(name: str) -> tuple[Array, Array, NDArray[np.str_]]:
    """Unreachable goals (n, 4, 4) of a robot, the smallest weighted errors (n,), and the family of each (n,)."""
    frames, errors, sorts = [], [], []
    with np.load(FILE) as kept:
        for sort, made in goals.UNREACHABLE.items():
            key = f"{name}/{sort}"
            candidates = made(ARMS[name](), CANDIDATES)
            _same(candidates, kept, key)
            frames.append(candidates[kept[key]])
            errors.append(kept[f"{key}/error"])
            sorts += [sort] * len(errors[-1])
    return np.concatenate(frames), np.concatenate(errors), np.array(sorts)


def build(name: str) -> str:
    """Compute the data of a robot, write it, and return a summary."""
    arm = ARMS[name]()
    found: dict[str, Any] = {}
    summary = []
    for family in goals.UNSURE:
        frames = goals.FAMILIES[family](arm, COUNT)
        there = _met(arm, nearest(arm, frames)[0], frames)
        found |= {f"{name}/{family}": np.packbits(there), f"{name}/{family}/print": _fingerprint(frames)}
        summary.append(f"{family} {there.sum()} of {len(frames)} reachable")
    for sort, made in goals.UNREACHABLE.items() if name in ROBOTS else ():
        frames, wanted = made(arm, CANDIDATES), COUNT // 3 + (sort == "beyond")
        errors = np.empty(0)
        while (errors > CLEAR).sum() < wanted and len(errors) < CANDIDATES:
            errors = np.append(errors, nearest(arm, frames[len(errors) : len(errors) + 250])[1])
        chosen = np.flatnonzero(errors > CLEAR)[:wanted]
        found |= {f"{name}/{sort}": chosen, f"{name}/{sort}/error": errors[chosen]}
        found |= {f"{name}/{sort}/print": _fingerprint(frames)}
        summary.append(f"{sort} {len(chosen)} out of reach")
    if FILE.exists():
        with np.load(FILE) as kept:
            found = {key: kept[key] for key in kept.files if not key.startswith(f"{name}/")} | found
    np.savez_compressed(FILE, **found)
    return f"{name}: {', '.join(summary)}"


def _met(arm: Arm, q: Array, frames: Array) -> NDArray[np.bool_]:
    metres, radians = apart(arm.linkage.frame(q, arm.link).matrix, frames, arm.kind)
    met: NDArray[np.bool_] = (metres <= METRES) & (radians <= RADIANS)
    return met


def _fingerprint(frames: Array) -> Array:
    """A few numbers that identify goals."""
    return np.array([len(frames), *frames[:, :3].sum(axis=0).ravel()])


def _same(frames: Array, kept: object, key: str) -> None:
    """Raise if the stored data is for other goals."""
    assert isinstance(kept, np.lib.npyio.NpzFile)
    if f"{key}/print" not in kept.files or not np.allclose(kept[f"{key}/print"], _fingerprint(frames), atol=1e-6):
        raise RuntimeError(
            f"{FILE.name} has other goals for {key}; compute them again with --truth {key.split('/')[0]}"
        )
