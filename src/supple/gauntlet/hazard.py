"""A hazard: a clean command, the start of the arm, and how well the command can be followed at best."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import degrees
from typing import Any

import numpy as np

from supple import _check
from supple.frame import Array, Frame
from supple.gauntlet import reference
from supple.gauntlet.arms import Arm
from supple.gauntlet.hand_motions import Circle, Joints, Lines, Oscillation, Wander, shifted, turned
from supple.gauntlet.operator import Operator, Samples
from supple.gauntlet.reference import Reference

Spec = Mapping[str, Any]
"""A hazard as plain data: ``kind`` and the numbers of that kind."""


@dataclass(frozen=True)
class DrivenJoint:
    """A joint that the command drives past its limit."""

    joint: int
    sign: float
    """1: past the upper limit, -1: past the lower one."""
    q: Callable[[Array], Array]
    """Joint values (N, dof) behind the command, limits or not."""


@dataclass(frozen=True, eq=False)
class Hazard:
    """A difficult command for a controller: the motion ``hand`` of the operator's hand."""

    arm: Arm
    key: str
    """s1_baseline to s8_orient, s9_circle."""
    title: str
    hand: Callable[[Array], Array]
    """Frames (N, 4, 4) of the command at times (N,), in seconds."""
    duration: float
    start: Array
    """Joint values (dof,) that meet the command at time 0."""
    jumps: tuple[float, ...] = ()
    """Times at which the command jumps, in seconds."""
    hold: tuple[float, float] | None = None
    """The last half second of a rest out of reach, from and to in seconds; the error should be minimal there."""
    driven: DrivenJoint | None = None
    other_starts: tuple[Array, ...] = ()
    """Joint values (dof,) near other parts of the command: further starts for the reference."""
    stored_reference: Reference | None = None

    def times(self, rate: float) -> Array:
        """Times of the ticks (N,) of a loop with ``rate`` ticks per second, in seconds."""
        _check.positive(rate, "rate", "ticks per second")
        return np.asarray(np.arange(round(self.duration * rate) + 1) * (1.0 / rate))

    def frames(self, rate: float) -> Array:
        """The clean command at each tick (N, 4, 4), read-only; computed once."""
        if rate not in self._frames:
            frames = np.ascontiguousarray(self.hand(self.times(rate)))
            frames.flags.writeable = False
            self._frames[rate] = frames
        return self._frames[rate]

    def samples(self, operator: Operator) -> Samples:
        """The samples of the command by an operator; computed once."""
        if operator not in self._samples:
            self._samples[operator] = operator.sample(self.hand, self.duration)
        return self._samples[operator]

    @cached_property
    def reference(self) -> Reference:
        """The smallest possible error along the command; stored for the known arms, else computed (seconds)."""
        return self.stored_reference or reference.compute(self)

    @cached_property
    def _frames(self) -> dict[float, Array]:
        return {}

    @cached_property
    def _samples(self) -> dict[Operator, Samples]:
        return {}

    def __repr__(self) -> str:
        return f"<Hazard {self.key} of {self.arm.name}: {self.title}, {self.duration:g} s>"


def make_hazard(arm: Arm, key: str, spec: Spec, stored: Reference | None = None) -> Hazard:
    """A hazard from plain data, with its stored reference, if any."""
    return replace(_KINDS[spec["kind"]](arm, key, spec), stored_reference=stored)


def _circle(arm: Arm, key: str, spec: Spec) -> Hazard:
    q = np.array(spec["q"], dtype=float)
    hand = Circle(arm.frames(q), spec["size"])
    within = "nearly reachable" if spec.get("nearly") else "inside"
    return Hazard(arm, key, f"slow circle with rotation, {within}", hand, hand.duration, q)


def _oscillation(arm: Arm, key: str, spec: Spec) -> Hazard:
    q = np.array(spec["q"], dtype=float)
    hand = Oscillation(arm, q, np.array(spec["sizes"], dtype=float))
    return Hazard(arm, key, "all joints oscillate slowly, inside", hand, hand.duration, q)


def _line(arm: Arm, key: str, spec: Spec) -> Hazard:
    """A line through a near-singular configuration, in the direction that needs the fastest joints; and back."""
    near = np.array(spec["q"], dtype=float)
    frame, direction = arm.frames(near), fastest_direction(arm, near)
    a, b = (shifted(frame, sign * spec["half"] * direction) for sign in (-1, 1))
    hand = Lines(a).hold(0.3).to(b, spec["time"]).hold(0.7).to(a, spec["time"]).hold(1.0)
    return Hazard(arm, key, _TITLES[key], hand, hand.duration, np.array(spec["start"], dtype=float))


def fastest_direction(arm: Arm, q: Array) -> Array:
    """The direction of translation (3,) that needs the fastest joints at q; its largest component is positive."""
    inverse = np.linalg.pinv(arm.linkage.jacobian(q, arm.link))
    direction = np.linalg.svd(inverse[:, :3])[2][0]
    return np.asarray(direction * np.sign(direction[np.argmax(np.abs(direction))]))


def _swing(arm: Arm, key: str, spec: Spec) -> Hazard:
    """Joints swing through a singular configuration and back, so the command can be followed exactly."""
    a, b = (np.array(spec[name], dtype=float) for name in ("from", "to"))
    hand = Joints(arm, a).hold(0.3).to(b, spec["time"]).hold(0.7).to(a, spec["time"]).hold(1.0)
    return Hazard(arm, key, "joints swing through a singularity", hand, hand.duration, a)


def _skirt(arm: Arm, key: str, spec: Spec) -> Hazard:
    """Past the cylinder around the base axis that the wrist cannot enter: out 5 mm outside it, back 30 mm inside."""
    frame, normal = arm.frames(spec["q"]), np.array(spec["normal"], dtype=float)
    along, half, time = np.cross([0.0, 0.0, 1.0], normal), spec["half"], spec["time"]
    near, far, inner, outer = (
        shifted(frame, off * normal + side * half * along)
        for off, side in ((0.005, -1), (0.005, 1), (-0.03, 1), (-0.03, -1))
    )
    hand = Lines(near).hold(0.3).to(far, time).hold(0.3).to(inner, 0.6)
    hand = hand.hold(0.3).to(outer, time).hold(0.3).to(near, 0.6).hold(1.0)
    return Hazard(arm, key, _TITLES[key], hand, hand.duration, np.array(spec["start"], dtype=float))


def _push(arm: Arm, key: str, spec: Spec) -> Hazard:
    q = np.array(spec["q"], dtype=float)
    frame = arm.frames(q)
    goal = shifted(frame, np.array(spec["by"], dtype=float))
    hand = Lines(frame).hold(0.3).to(goal, 2.5).hold(1.5).to(frame, 2.5).hold(1.2)
    title = f"push {spec['past']:.2f} m past full reach, hold, return"
    return Hazard(arm, key, title, hand, hand.duration, q, hold=(3.8, 4.3))


def _drive(arm: Arm, key: str, spec: Spec) -> Hazard:
    q, joint, sign = np.array(spec["q"], dtype=float), int(spec["joint"]), float(spec["sign"])
    end = q.copy()
    end[joint] = (arm.upper if sign > 0 else arm.lower)[joint] + sign * spec["past"]
    hand = Joints(arm, q).hold(0.3).to(end, 2.0).hold(1.5).to(q, 2.0).hold(1.2)
    title = f"drive joint {joint + 1} {spec['past']:.2f} past its limit, reverse"
    others = (np.clip(end, arm.lower, arm.upper),)
    return Hazard(
        arm,
        key,
        title,
        hand,
        hand.duration,
        q,
        hold=(3.3, 3.8),
        driven=DrivenJoint(joint, sign, hand.q),
        other_starts=others,
    )


def _jump(arm: Arm, key: str, spec: Spec) -> Hazard:
    q, there = np.array(spec["q"], dtype=float), np.array(spec["there"], dtype=float)
    frame = arm.frames(q)
    goal = arm.frames(there)
    if "shift" in spec:
        goal = shifted(frame, np.array(spec["shift"], dtype=float))
        goal[:3, :3] = Frame.rotvec(spec["turn"]).rotation @ frame[:3, :3]
    hand = Lines(frame).hold(0.5).jump(goal).hold(4.0).jump(frame).hold(4.0)
    far = float(np.linalg.norm(goal[:3, 3] - frame[:3, 3]))
    turn = degrees(np.linalg.norm((Frame(frame).inverse() @ Frame(goal)).to_rotvec()))
    title = f"{far:.2f} m / {turn:.0f} deg command jump and back"
    return Hazard(arm, key, title, hand, hand.duration, q, jumps=tuple(hand.jumps), other_starts=(there,))


def _wander(arm: Arm, key: str, spec: Spec) -> Hazard:
    q = np.array(spec["q"], dtype=float)
    aside = np.array(spec["aside"], dtype=float)
    hand = Wander(arm.frames(q), spec["size"], spec["turn"], aside, spec.get("scale", 1.0))
    others = tuple(np.array(row, dtype=float) for row in spec.get("also", ()))
    return Hazard(
        arm, key, "30 s of hand motion with tremor, in and out of reach", hand, hand.duration, q, other_starts=others
    )


def _twist(arm: Arm, key: str, spec: Spec) -> Hazard:
    q = np.array(spec["q"], dtype=float)
    frame = arm.frames(q)
    goal = turned(frame, spec["angle"] * np.array(spec["axis"], dtype=float))
    hand = Lines(frame).hold(0.3).to(goal, 2.0).hold(1.7).to(frame, 2.0).hold(1.5)
    title = "unreachable orientation at a reachable position"
    return Hazard(arm, key, title, hand, hand.duration, q, hold=(3.5, 4.0))


_TITLES = {"s2_wrist": "line through wrist singularity", "s3_shoulder": "shoulder singularity pass"}
_KINDS: dict[str, Callable[[Arm, str, Spec], Hazard]] = {
    "circle": _circle,
    "oscillation": _oscillation,
    "line": _line,
    "swing": _swing,
    "skirt": _skirt,
    "push": _push,
    "drive": _drive,
    "jump": _jump,
    "wander": _wander,
    "twist": _twist,
}
