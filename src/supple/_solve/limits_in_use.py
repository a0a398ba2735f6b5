"""Limits in use: those of a linkage with a margin and a scale, and speed limits of end effectors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple._solve.margins import checked_margin, narrowed
from supple.errors import BadInput
from supple.frame import Array

if TYPE_CHECKING:
    from supple import _core
    from supple.linkage import Linkage

_EFFECTORS = ("speed", "turn_speed")


@dataclass(frozen=True)
class LimitsInUse:
    """What a tracker keeps to, within the limits of its linkage."""

    speed: Array
    """Of each end effector (goals,), in m/s; inf for none."""
    turn_speed: Array
    """Of each end effector (goals,), in rad/s; inf for none."""
    speed_scale: float
    """A factor on the speed limits of all joints, above 0 and at most 1."""
    margin: tuple[float, ...]
    """To the position limits, in radians or metres: one number, or one for each value of q."""

    def apply(self, track: _core.Tracker, linkage: Linkage) -> None:
        """Make the tracker of the core keep to them."""
        lower, upper, balls = narrowed(linkage, self.margin)
        effectors = np.stack([self.speed, self.turn_speed], axis=-1)
        track.limit(lower, upper, self.speed_scale * linkage.speed, balls, np.ascontiguousarray(effectors))

    @property
    def are_the_linkages(self) -> bool:
        """Whether they are just the limits of the linkage."""
        bounded = np.isfinite(self.speed).any() or np.isfinite(self.turn_speed).any()
        return not (bounded or self.speed_scale != 1 or any(self.margin))

    def to_dict(self) -> dict[str, Any]:
        """Those that differ from the linkage's own, as plain data; null stands for no limit."""
        effectors = {name: [None if math.isinf(v) else float(v) for v in getattr(self, name)] for name in _EFFECTORS}
        kept = {name: row for name, row in effectors.items() if any(v is not None for v in row)}
        scale = {"speed_scale": self.speed_scale} if self.speed_scale != 1 else {}
        return kept | scale | ({"margin": list(self.margin)} if any(self.margin) else {})

    def changed(self, linkage: Linkage, **given: Any) -> LimitsInUse:
        """The same with some given anew; those that are None stay."""
        count = len(self.speed)
        speed, turn_speed, speed_scale, margin = (
            given.get(name) for name in ("speed", "turn_speed", "speed_scale", "margin")
        )
        if margin is not None:
            narrowed(linkage, margin := checked_margin(margin))
        return LimitsInUse(
            self.speed if speed is None else _effector_speeds(speed, count, "speed"),
            self.turn_speed if turn_speed is None else _effector_speeds(turn_speed, count, "turn_speed"),
            self.speed_scale if speed_scale is None else _check.fraction(speed_scale, "speed_scale"),
            self.margin if margin is None else margin,
        )


def unlimited(goals: int, margin: Any) -> LimitsInUse:
    """The limits of the linkage with a margin."""
    return LimitsInUse(np.full(goals, math.inf), np.full(goals, math.inf), 1.0, margin)


def options(data: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `Solver.track` that `LimitsInUse.to_dict` wrote."""
    return {
        name: [math.inf if v is None else float(v) for v in value] if name in _EFFECTORS else value
        for name, value in data.items()
    }


def _effector_speeds(given: ArrayLike, count: int, what: str) -> Array:
    """One number for all end effectors, or (goals,); inf for no limit."""
    row = _check.one_or_each(given, count, what)
    if not (row > 0).all():
        raise BadInput(f"{what} must be positive, got {_check.short(given)}")
    return row
