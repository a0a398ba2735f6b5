"""The human figure: 23 joints with anatomical ranges, proportions of an average adult, and capsules to draw it.

Axes at the reference pose, standing with the arms stretched sideways: x forward, y left, z up, for all links.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cos, radians

import numpy as np

from supple import _check
from supple._figure.limb import Colour, ball, limb
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.joint import Joint
from supple.link import Box, Geometry, Link, Sphere
from supple.linkage import Linkage

SKIN: Colour = (0.87, 0.68, 0.55, 1.0)
SHIRT: Colour = (0.42, 0.58, 0.59, 1.0)
TROUSERS: Colour = (0.28, 0.31, 0.38, 1.0)
SHOES: Colour = (0.20, 0.20, 0.23, 1.0)
HAIR: Colour = (0.25, 0.20, 0.17, 1.0)
SPEED = 15.0  # rad/s
BENT = 0.06  # rad: half of the bend of the knees at rest
_LEAST, _MOST = 0.25, 4.0  # of a proportion


@dataclass
class _Sizes:
    """Lengths in metres, from the ratios to the height of Drillis and Contini (1966)."""

    height: float
    arms: float = 1.0
    legs: float = 1.0
    torso: float = 1.0
    shoulders: float = 1.0
    hips: float = 1.0
    head: float = 1.0
    unit: float = field(init=False)

    def __post_init__(self) -> None:
        # the factors change the shares of the height, not the height
        self.unit = 1.0
        self.unit = self.height / self.top

    @property
    def foot(self) -> float:
        """Height of the ankle."""
        return 0.039 * self.unit * self.legs

    @property
    def shank(self) -> float:
        return 0.246 * self.unit * self.legs

    @property
    def thigh(self) -> float:
        return 0.245 * self.unit * self.legs

    @property
    def hip(self) -> float:
        """Height of the hips and of the origin of the pelvis."""
        return self.foot + self.shank + self.thigh

    @property
    def top(self) -> float:
        return self.hip + (0.045 + 0.090 + 0.170) * self.unit * self.torso + (0.050 + 0.115) * self.unit * self.head


def build(height: float, mass: float, proportions: dict[str, float]) -> Linkage:
    """The figure of a height in metres and a mass in kilograms, with factors on its proportions."""
    if not 0.1 <= _check.real(height) <= 100:
        raise BadInput(f"height must be between 0.1 and 100 m, got {_check.short(height)}")
    if not 0 <= _check.real(mass) <= 1e6:
        raise BadInput(f"mass must be between 0 and 1e6 kg, got {_check.short(mass)}")
    for name, factor in proportions.items():
        if not _LEAST <= _check.real(factor) <= _MOST:
            raise BadInput(f"{name} must be a factor from {_LEAST} to {_MOST:g}, got {_check.short(factor)}")
    sizes = _Sizes(float(height), **{name: float(factor) for name, factor in proportions.items()})
    joints, links = _trunk(sizes, mass)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for part in (_arm(side, sign, sizes, mass), _leg(side, sign, sizes, mass)):
            joints += part[0]
            links += part[1]
    return Linkage("human", joints, links)


def _trunk(size: _Sizes, mass: float) -> tuple[list[Joint], list[Link]]:
    u, torso = size.unit, size.unit * size.torso
    waist, ribs, spine = 0.045 * torso, 0.090 * torso, 0.170 * torso
    neck, head = 0.050 * u * size.head, 0.115 * u * size.head
    up, half = np.array([0.0, 0.0, 1.0]), 0.5 * u * size.hips
    wide = u * size.shoulders
    speeds = [5.0] * 3 + [SPEED] * 3
    standing = size.foot + (size.thigh + size.shank) * cos(BENT)
    joints = [
        Joint.floating("root", "world", "pelvis", rest=[0, 0, standing, 0, 0, 0], speed=speeds),
        ball("waist", "pelvis", "abdomen", [0, 0, waist], up, centre=[0.15, 0, 1], swing=35, twist=20),
        ball("spine", "abdomen", "chest", [0, 0, ribs], up, centre=[0.1, 0, 1], swing=25, twist=30),
        ball("neck", "chest", "neck", [-0.01 * u, 0, spine], up, centre=[0.1, 0, 1], swing=35, twist=40),
        ball("head", "neck", "head", [0.01 * u, 0, neck], up, centre=[0.05, 0, 1], swing=30, twist=40),
        Joint.fixed("head_top", "head", "head_End", at=Frame.at([0, 0, head])),
    ]
    skull = 0.5 * head
    links = [
        Link("world"),
        _link(
            "pelvis",
            [
                limb([0, -0.10 * half, 0.01 * u], [0, 0.10 * half, 0.01 * u], 0.060 * u, TROUSERS),
                limb([0, -0.065 * half, waist], [0, 0.065 * half, waist], 0.055 * u, SHIRT),
            ],
            0.142 * mass,
        ),
        _link("abdomen", _barrel(0.030 * wide, 0.036 * wide, 0.1 * ribs, 1.1 * ribs, 0.056 * u), 0.139 * mass),
        _link("chest", _barrel(0.040 * wide, 0.066 * wide, 0.1 * spine, 0.68 * spine, 0.058 * u), 0.216 * mass),
        _link("neck", [limb([0, 0, -0.2 * neck], [0.006 * u, 0, neck], 0.030 * u * size.head, SKIN)], 0.010 * mass),
        _link(
            "head",
            [
                limb([0.006 * u, 0, 0.42 * skull], [0, 0, head - 0.92 * skull], 0.40 * head, SKIN),
                Geometry(Sphere(0.42 * head), Frame.at([-0.05 * head, 0, head - 0.45 * head]), HAIR),
                Geometry(Sphere(0.07 * head), Frame.at([0.44 * head, 0, 0.36 * head]), SKIN),
            ],
            0.071 * mass,
        ),
        Link("head_End"),
    ]
    return joints, links


def _arm(side: str, sign: float, size: _Sizes, mass: float) -> tuple[list[Joint], list[Link]]:
    u, arm = size.unit, size.unit * size.arms
    collar, upper, fore, palm, fingers = 0.100 * u * size.shoulders, 0.186 * arm, 0.146 * arm, 0.055 * arm, 0.053 * arm
    out = np.array([0.0, sign, 0.0])
    down = Frame.turn([1, 0, 0], -sign * radians(78))  # from the reference pose to arms that hang
    joints = [
        ball(
            f"{side}_collar",
            "chest",
            f"{side}_shoulder",
            [0.01 * u, 0.015 * sign * u, 0.150 * u * size.torso],
            out,
            centre=[-0.05, sign, 0.2],
            swing=22,
            twist=10,
        ),
        ball(
            f"{side}_shoulder",
            f"{side}_shoulder",
            f"{side}_upper_arm",
            collar * out,
            out,
            centre=[0.62, 0.74 * sign, -0.25],
            swing=100,
            twist=80,
            rest=down,
        ),
        Joint.revolute(
            f"{side}_elbow",
            f"{side}_upper_arm",
            f"{side}_forearm",
            at=Frame.at(upper * out),
            axis=[0, 0, -sign],
            lower=0.0,
            upper=radians(150),
            rest=0.3,
            speed=SPEED,
        ),
        ball(f"{side}_wrist", f"{side}_forearm", f"{side}_hand", fore * out, out, centre=out, swing=70, twist=85),
        Joint.revolute(
            f"{side}_knuckles",
            f"{side}_hand",
            f"{side}_fingers",
            at=Frame.at(palm * out),
            axis=[-sign, 0, 0],
            lower=radians(-20),
            upper=radians(95),
            rest=0.25,
            speed=SPEED,
        ),
        Joint.fixed(f"{side}_fingertips", f"{side}_fingers", f"{side}_fingers_End", at=Frame.at(fingers * out)),
    ]
    flat = Box((0.045 * arm, 0.9 * palm, 0.018 * arm))
    links = [
        _link(f"{side}_shoulder", [limb([0, 0, 0], 0.9 * collar * out, 0.034 * u, SHIRT)], 0.0),
        _link(
            f"{side}_upper_arm",
            [
                limb([0, 0, 0], 0.45 * upper * out, 0.033 * u, SHIRT),
                limb(0.4 * upper * out, upper * out, 0.026 * u, SKIN),
            ],
            0.028 * mass,
            0.436 * upper * out,
        ),
        _link(
            f"{side}_forearm",
            [limb([0, 0, 0], 0.45 * fore * out, 0.0255 * u, SKIN), limb([0, 0, 0], fore * out, 0.020 * u, SKIN)],
            0.016 * mass,
            0.430 * fore * out,
        ),
        _link(
            f"{side}_hand",
            [
                Geometry(flat, Frame.at(0.5 * palm * out), SKIN),
                limb(
                    [0.02 * arm, 0.3 * palm * sign, 0],
                    [0.034 * arm, 0.95 * palm * sign, -0.004 * arm],
                    0.009 * arm,
                    SKIN,
                ),
            ],
            0.006 * mass,
            0.5 * palm * out,
        ),
        _link(
            f"{side}_fingers",
            [
                limb([x * arm, 0, 0], [x * arm, y * fingers * sign, 0], 0.0088 * arm, SKIN)
                for x, y in ((-0.016, 0.78), (0.0, 0.9), (0.016, 0.82))
            ],
            0.0,
        ),
        Link(f"{side}_fingers_End"),
    ]
    return joints, links


def _leg(side: str, sign: float, size: _Sizes, mass: float) -> tuple[list[Joint], list[Link]]:
    u, leg = size.unit, size.unit * size.legs
    thigh, shank, high, long, toes = size.thigh, size.shank, size.foot, 0.085 * leg, 0.045 * leg
    down, forward = np.array([0.0, 0.0, -1.0]), np.array([1.0, 0.0, 0.0])
    joints = [
        ball(
            f"{side}_hip",
            "pelvis",
            f"{side}_thigh",
            [0, 0.052 * sign * u * size.hips, 0],
            down,
            centre=[1.0, 0.25 * sign, -1.0],
            swing=75,
            twist=40,
            rest=Frame.turn([0, 1, 0], -BENT),
        ),
        Joint.revolute(
            f"{side}_knee",
            f"{side}_thigh",
            f"{side}_shank",
            at=Frame.at(thigh * down),
            axis=[0, 1, 0],
            lower=0.0,
            upper=radians(145),
            rest=2 * BENT,
            speed=SPEED,
        ),
        ball(
            f"{side}_ankle",
            f"{side}_shank",
            f"{side}_foot",
            shank * down,
            forward,
            centre=[1.0, 0.0, -0.1],
            swing=41,
            twist=25,
            rest=Frame.turn([0, 1, 0], -BENT),
        ),
        Joint.revolute(
            f"{side}_toes",
            f"{side}_foot",
            f"{side}_toes",
            at=Frame.at([long, 0, 0.012 * leg - high]),
            axis=[0, -1, 0],
            lower=radians(-20),
            upper=radians(60),
            speed=SPEED,
        ),
        Joint.fixed(f"{side}_toe_tip", f"{side}_toes", f"{side}_toes_End", at=Frame.at(toes * forward)),
    ]
    sole = 0.017 * leg
    links = [
        _link(
            f"{side}_thigh",
            [
                limb([0, 0, 0], 0.5 * thigh * down, 0.050 * u, TROUSERS),
                limb([0, 0, 0], thigh * down, 0.040 * u, TROUSERS),
            ],
            0.100 * mass,
            0.433 * thigh * down,
        ),
        _link(
            f"{side}_shank",
            [
                limb([-0.006 * u, 0, -0.1 * shank], [-0.006 * u, 0, -0.45 * shank], 0.037 * u, TROUSERS),
                limb([0, 0, 0], 0.92 * shank * down, 0.031 * u, TROUSERS),
            ],
            0.0465 * mass,
            0.433 * shank * down,
        ),
        _link(
            f"{side}_foot",
            [
                limb([-0.028 * leg, 0, 1.1 * sole - high], [long, 0, 1.1 * sole - high], 1.1 * sole, SHOES),
                limb([0, 0, 0], [0.5 * long, 0, 1.25 * sole - high], 1.25 * sole, SHOES),
            ],
            0.0145 * mass,
            [0.4 * long, 0, -0.6 * high],
        ),
        _link(
            f"{side}_toes",
            [
                limb([0, y * leg, 0.0034 * leg], [toes - sole, 0.6 * y * leg, 0.0034 * leg], 0.9 * sole, SHOES)
                for y in (-0.012, 0.012)
            ],
            0.0,
        ),
        Link(f"{side}_toes_End"),
    ]
    return joints, links


def _barrel(low: float, high: float, bottom: float, top: float, radius: float) -> list[Geometry]:
    """Upright capsules side by side, wider at the top."""
    return [limb([0, k * low, bottom], [0, k * high, top], radius, SHIRT) for k in (-1.0, -0.33, 0.33, 1.0)]


def _link(name: str, geometry: list[Geometry], mass: float, centre: Array | list[float] | None = None) -> Link:
    x, y, z = (0.0, 0.0, 0.0) if centre is None else (float(value) for value in centre)
    return Link(name, tuple(geometry), mass, (x, y, z))
