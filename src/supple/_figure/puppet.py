"""The puppet: a body with two arms of two links each, in one plane."""

from __future__ import annotations

from math import radians

from supple._figure.limb import Colour, limb
from supple.frame import Frame
from supple.joint import Joint
from supple.link import Geometry, Link, Sphere
from supple.linkage import Linkage

BODY: Colour = (0.42, 0.58, 0.59, 1.0)
LIMB: Colour = (0.89, 0.85, 0.78, 1.0)
HEAD: Colour = (0.87, 0.68, 0.55, 1.0)
_UPPER, _FORE = 0.16, 0.14  # metres
_SHOULDER, _RANGE = 0.09, radians(150)


def build() -> Linkage:
    """A body about 0.5 m tall in the plane x = 0, facing x; its joints turn about x."""
    joints, links = [], [Link("body", (limb([0, 0, 0], [0, 0, 0.22], 0.06, BODY), _head()))]
    for side, sign in (("left", 1.0), ("right", -1.0)):
        down = Frame.turn([1, 0, 0], -sign * radians(35))  # arms point sideways and down while values are zero
        joints += [
            Joint.revolute(
                f"{side}_shoulder",
                "body",
                f"{side}_upper_arm",
                at=Frame.at([0, sign * _SHOULDER, 0.22], down),
                axis=[sign, 0, 0],
                lower=-radians(60),
                upper=radians(120),
                speed=6.0,
            ),
            Joint.revolute(
                f"{side}_elbow",
                f"{side}_upper_arm",
                f"{side}_forearm",
                at=Frame.at([0, sign * _UPPER, 0]),
                axis=[sign, 0, 0],
                lower=0.0,
                upper=_RANGE,
                rest=0.7,
                speed=6.0,
            ),
            Joint.fixed(f"{side}_wrist", f"{side}_forearm", f"{side}_hand", at=Frame.at([0, sign * _FORE, 0])),
        ]
        links += [
            Link(f"{side}_upper_arm", (limb([0, 0, 0], [0, sign * _UPPER, 0], 0.022, LIMB),)),
            Link(f"{side}_forearm", (limb([0, 0, 0], [0, sign * _FORE, 0], 0.018, LIMB),)),
            Link(f"{side}_hand", (Geometry(Sphere(0.026), colour=HEAD),)),
        ]
    return Linkage("puppet", joints, links)


def _head() -> Geometry:
    return Geometry(Sphere(0.075), Frame.at([0, 0, 0.345]), HEAD)
