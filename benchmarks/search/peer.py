"""What the solvers that stand beside supple have in common, and the arm in the format they read."""

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
    """What they have in common: made for an arm, goals prepared, one call a goal."""

    name = ""
    module = ""
    """What must be importable."""
    settings = ""
    most = 1000
    """How many goals at most: slow ones get fewer."""
    starts = True
    """Whether a start means anything to it."""

    def __init__(self, arm: Arm) -> None:
        self.arm, self.linkage = arm, arm.linkage

    def prepare(self, frames: Array, starts: Array) -> list[Call]:
        """What `solve` takes for each goal (n, 4, 4) and start (n, dof)."""
        return list(zip(frames, starts, strict=True))

    def solve(self, *call: Any) -> Any:
        """An answer in the peer's own type: this is what is timed."""
        raise NotImplementedError

    def q(self, answer: Any) -> Array | None:
        """The joint values (dof,) of an answer, inside limits by whole turns where that can be; None if it failed."""
        return None if answer is None else wrapped(self.linkage, np.asarray(answer, dtype=float)[None])[0]


def bounded(arm: Arm) -> str:
    """The arm as a URDF in which every joint has limits, if wide ones."""
    return urdf(cast(Any, SimpleNamespace(name=arm.linkage.name, linkage=arm.linkage)))


def description(arm: Arm) -> str:
    """The arm as a URDF, with turns that have no limits as continuous ones."""
    root = ElementTree.fromstring(bounded(arm))
    for joint in root.iter("joint"):
        limit = joint.find("limit")
        if limit is not None and float(limit.get("lower", 0)) == -FAR:
            joint.set("type", "continuous")
            joint.remove(limit)
    return ElementTree.tostring(root, encoding="unicode")
