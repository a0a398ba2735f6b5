"""LegShape: numbers of one leg of a body that its stance needs again and again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.animate.body import Body
from supple.frame import Array
from supple.joint import Joint
from supple.linkage import Linkage

_TRIED = 721  # values of a knee
_BENT = 0.05  # rad: a knee begins so far from straight
_ROLL_SLIDE = 8e-4  # m: a foot whose ankle cannot bend farther rolls about its toe until its heel is so far forward


@dataclass(frozen=True, eq=False)
class LegShape:
    """One leg of a body."""

    points: Array
    """Where the hip is in the axes of the pelvis, and the direction to the left in those of the foot (2, 3)."""
    roll: Array
    """The angle by which the foot rolls before the pelvis moves, and how far the toe is ahead of the ankle (2,)."""
    knee: int | None
    """Column of the knee among the leg's joint values, if it is one value."""
    straight: float
    """The value of the knee at which the leg is longest: beyond it some robots bend it backwards a little."""
    way: float
    """1 if the knee bends forward with larger values, -1 if with smaller ones."""

    @classmethod
    def of(cls, body: Body, leg: Linkage, side: str) -> LegShape:
        """The leg of one side, with its own linkage."""
        base, back = body.rest["pelvis"], body.rest[f"{side}_foot"][:3, :3].T
        hip = base[:3, :3].T @ (body.position(f"{side}_thigh") - base[:3, 3])
        forward = base[:3, :3].T @ body.upright[:, 0]
        sole = float(np.linalg.norm(body.toe[side] - body.heel[side]))
        angle = np.arccos(1 - min(_ROLL_SLIDE / max(sole, 1e-9), 1.0))
        shank = body.links[f"{side}_shank"]
        knee = next((j for j in leg.joints if j.child == shank and j.dof == 1 and j.mimic is None), None)
        straight, way = 0.0, 1.0
        if knee is not None:
            straight, way = _straight(leg, knee, body.links[f"{side}_thigh"], body.links[f"{side}_foot"], forward)
        return cls(
            np.stack([hip, back @ body.upright[:, 1]]),
            np.array([angle, body.toe[side] @ back @ body.upright[:, 0]]),
            None if knee is None else leg._sources[knee.name].first,
            straight,
            way,
        )

    def bent(self, start: Array) -> Array:
        """Bends the knee of joint values (n, dof) forward where it is straight: a descent does not leave its limit."""
        if self.knee is not None:
            knee = start[:, self.knee]
            if self.way > 0:
                np.maximum(knee, self.straight + _BENT, out=knee)
            else:
                np.minimum(knee, self.straight - _BENT, out=knee)
        return start


def _straight(leg: Linkage, knee: Joint, thigh: str, foot: str, forward: Array) -> tuple[float, float]:
    """The value of a knee at which the thigh and the foot of a leg are farthest apart, and whether larger values bend
    it forward, 1, or smaller ones, -1: forward (3,) in the axes of its base.
    """
    low, high = max(knee.lower[0], -np.pi), min(knee.upper[0], np.pi)
    q = np.tile(leg.rest, (_TRIED, 1))
    q[:, leg._sources[knee.name].first] = values = np.linspace(low, high, _TRIED)
    frames = leg.frames(q)
    hip, middle, end = (frames[link].position for link in (thigh, knee.child, foot))
    line = end - hip
    lengths = np.linalg.norm(line, axis=-1)
    longest = int(np.argmax(lengths))
    bend = (middle - hip) - (np.sum((middle - hip) * line, axis=-1) / np.maximum(lengths, 1e-12) ** 2)[:, None] * line
    ahead = bend @ forward
    return float(values[longest]), 1.0 if ahead[longest:].max() >= ahead[: longest + 1].max() else -1.0
