"""A hazard: one clean command, where the arm starts, and what is known about how well it can be followed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import degrees
from typing import Any

import numpy as np

from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.gauntlet import reference
from supple.gauntlet.arms import Arm
from supple.gauntlet.hand_motions import Circle, Joints, Lines, Wander, Weave, shifted, turned
from supple.gauntlet.operator import Operator, Samples
from supple.gauntlet.reference import Reference

Spec = Mapping[str, Any]
"""A hazard as plain data: ``kind`` and the numbers that kind needs."""


@dataclass(frozen=True)
class Driven:
    """A joint that the command drives past its limit."""

    joint: int
    sign: float
    """1: past the upper limit, -1: past the lower one."""
    q: Callable[[Array], Array]
    """Joint values (N, dof) behind the command, limits or not."""


@dataclass(frozen=True, eq=False)
class Hazard:
    """What a controller is put through: ``hand`` gives the clean command at any time."""

    arm: Arm
    key: str
    """s1_baseline to s8_orient, s9_circle."""
    title: str
    hand: Callable[[Array], Array]
    """Frames (N, 4, 4) of the command at times (N,), in seconds."""
    duration: float
    start: Array
    """Joint values (dof,) at the beginning: exactly what the command asks for then."""
    jumps: tuple[float, ...] = ()
    """When the command jumps, in seconds."""
    hold: tuple[float, float] | None = None
    """The end of a rest with the command out of reach, in seconds: where the arm must stand as near as can be."""
    driven: Driven | None = None
    also: tuple[Array, ...] = ()
    """Joint values (dof,) that bring the arm to other parts of the command."""
    ready: Reference | None = None

    def times(self, rate: float) -> Array:
        """When a loop of that many ticks a second runs (N,), in seconds."""
        if not (np.isfinite(rate) and rate > 0):
            raise BadInput(f"rate must be a positive number of ticks a second, got {rate!r}")
        return np.asarray(np.arange(round(self.duration * rate) + 1) * (1.0 / rate))

    def frames(self, rate: float) -> Array:
        """The clean command at each tick (N, 4, 4), read-only; computed once."""
        if rate not in self._kept:
            frames = np.ascontiguousarray(self.hand(self.times(rate)))
            frames.flags.writeable = False
            self._kept[rate] = frames
        return self._kept[rate]

    def samples(self, operator: Operator) -> Samples:
        """What arrives of the command when that operator gives it; computed once."""
        if operator not in self._sampled:
            self._sampled[operator] = operator.sample(self.hand, self.duration)
        return self._sampled[operator]

    @cached_property
    def reference(self) -> Reference:
        """How near the command can be followed at all; kept ready for the known arms, else computed (seconds)."""
        return self.ready or reference.computed(self)

    @cached_property
    def _kept(self) -> dict[float, Array]:
        return {}

    @cached_property
    def _sampled(self) -> dict[Operator, Samples]:
        return {}

    def __repr__(self) -> str:
        return f"<Hazard {self.key} of {self.arm.name}: {self.title}, {self.duration:g} s>"


def make(arm: Arm, key: str, spec: Spec, ready: Reference | None = None) -> Hazard:
    """A hazard from plain data, with its reference if it is known."""
    return replace(_KINDS[spec["kind"]](arm, key, spec), ready=ready)


def _circle(arm: Arm, key: str, spec: Spec) -> Hazard:
    q = np.array(spec["q"], dtype=float)
    hand = Circle(arm.frames(q), spec["size"])
    within = "only nearly within reach" if spec.get("nearly") else "inside"
    return Hazard(arm, key, f"gentle circle + orientation, {within}", hand, hand.duration, q)


def _weave(arm: Arm, key: str, spec: Spec) -> Hazard:
    q = np.array(spec["q"], dtype=float)
    hand = Weave(arm, q, np.array(spec["sizes"], dtype=float))
    return Hazard(arm, key, "all joints weave gently, inside", hand, hand.duration, q)


def _line(arm: Arm, key: str, spec: Spec) -> Hazard:
    """A line without turning, through a nearly singular place, along what needs the fastest joints there; and back."""
    near = np.array(spec["q"], dtype=float)
    frame, direction = arm.frames(near), fastest(arm, near)
    a, b = (shifted(frame, sign * spec["half"] * direction) for sign in (-1, 1))
    hand = Lines(a).hold(0.3).to(b, spec["time"]).hold(0.7).to(a, spec["time"]).hold(1.0)
    return Hazard(arm, key, _TITLES[key], hand, hand.duration, np.array(spec["start"], dtype=float))


def fastest(arm: Arm, q: Array) -> Array:
    """The direction (3,) of translation that needs the fastest joints at q, its largest component positive."""
    inverse = np.linalg.pinv(arm.linkage.jacobian(q, arm.link))
    direction = np.linalg.svd(inverse[:, :3])[2][0]
    return np.asarray(direction * np.sign(direction[np.argmax(np.abs(direction))]))


def _swing(arm: Arm, key: str, spec: Spec) -> Hazard:
    """Joints swing through a singular place and back: a command that can be followed exactly."""
    a, b = (np.array(spec[name], dtype=float) for name in ("from", "to"))
    hand = Joints(arm, a).hold(0.3).to(b, spec["time"]).hold(0.7).to(a, spec["time"]).hold(1.0)
    return Hazard(arm, key, "joints swing through a singular place", hand, hand.duration, a)


def _skirt(arm: Arm, key: str, spec: Spec) -> Hazard:
    """Past the cylinder about the base axis that the wrist cannot enter: out 5 mm outside it, back 30 mm inside."""
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
    away = shifted(frame, np.array(spec["by"], dtype=float))
    hand = Lines(frame).hold(0.3).to(away, 2.5).hold(1.5).to(frame, 2.5).hold(1.2)
    title = f"push {spec['past']:.2f} m past full reach, hold, return"
    return Hazard(arm, key, title, hand, hand.duration, q, hold=(3.8, 4.3))


def _drive(arm: Arm, key: str, spec: Spec) -> Hazard:
    q, joint, sign = np.array(spec["q"], dtype=float), int(spec["joint"]), float(spec["sign"])
    end = q.copy()
    end[joint] = (arm.upper if sign > 0 else arm.lower)[joint] + sign * spec["past"]
    hand = Joints(arm, q).hold(0.3).to(end, 2.0).hold(1.5).to(q, 2.0).hold(1.2)
    title = f"drive joint {joint + 1} {spec['past']:.2f} past its limit, reverse"
    also = (np.clip(end, arm.lower, arm.upper),)
    return Hazard(
        arm, key, title, hand, hand.duration, q, hold=(3.3, 3.8), driven=Driven(joint, sign, hand.q), also=also
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
    return Hazard(arm, key, title, hand, hand.duration, q, jumps=tuple(hand.jumps), also=(there,))


def _wander(arm: Arm, key: str, spec: Spec) -> Hazard:
    q = np.array(spec["q"], dtype=float)
    aside = np.array(spec["aside"], dtype=float)
    hand = Wander(arm.frames(q), spec["size"], spec["turn"], aside, spec.get("scale", 1.0))
    also = tuple(np.array(row, dtype=float) for row in spec.get("also", ()))
    return Hazard(arm, key, "30 s noisy hand motion in and out of reach", hand, hand.duration, q, also=also)


def _twist(arm: Arm, key: str, spec: Spec) -> Hazard:
    q = np.array(spec["q"], dtype=float)
    frame = arm.frames(q)
    away = turned(frame, spec["angle"] * np.array(spec["axis"], dtype=float))
    hand = Lines(frame).hold(0.3).to(away, 2.0).hold(1.7).to(frame, 2.0).hold(1.5)
    title = "impossible orientation at a reachable position"
    return Hazard(arm, key, title, hand, hand.duration, q, hold=(3.5, 4.0))


_TITLES = {"s2_wrist": "line through wrist singularity", "s3_shoulder": "shoulder singularity pass"}
_KINDS: dict[str, Callable[[Arm, str, Spec], Hazard]] = {
    "circle": _circle,
    "weave": _weave,
    "line": _line,
    "swing": _swing,
    "skirt": _skirt,
    "push": _push,
    "drive": _drive,
    "jump": _jump,
    "wander": _wander,
    "twist": _twist,
}
