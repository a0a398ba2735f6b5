"""Base of the other solvers, and the arm in the format they read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from xml.etree import ElementTree

import numpy as np
from peers import FAR, urdf

from .arms import Arm
from .judge import Array, wrapped

Call = tuple[Any, ...]


class Peer:
    """A solver for an arm: goals are converted first, then solved in one call each."""

    name = ""
    module = ""
    """The module that must be importable."""
    settings = ""
    most = 1000
    """Largest number of goals; fewer for slow solvers."""
    starts = True
    """Whether it uses a start."""

    def __init__(self, arm: Arm) -> None:
        self.arm, self.linkage = arm, arm.linkage

    def prepare(self, frames: Array, starts: Array) -> list[Call]:
        """The arguments of `solve` for each goal (n, 4, 4) and start (n, dof)."""
        return list(zip(frames, starts, strict=True))

    def solve(self, *call: Any) -> Any:
        """The result in the type of the solver; this call is timed."""
        raise NotImplementedError

    def q(self, answer: Any) -> Array | None:
        """The joint values (dof,) of a result, moved inside limits by whole turns; None if it failed."""
        return None if answer is None else wrapped(self.linkage, np.asarray(answer, dtype=float)[None])[0]


def bounded(arm: Arm) -> str:
    """The arm as a URDF in which every joint has limits."""
    return urdf(cast(Any, SimpleNamespace(name=arm.linkage.name, linkage=arm.linkage)))


def description(arm: Arm) -> str:
    """The arm as a URDF, with joints without limits as continuous joints."""
    root = ElementTree.fromstring(bounded(arm))
    for joint in root.iter("joint"):
        limit = joint.find("limit")
        if limit is not None and float(limit.get("lower", 0)) == -FAR:
            joint.set("type", "continuous")
            joint.remove(limit)
    return ElementTree.tostring(root, encoding="unicode")
