"""Build a planar arm with two links in code, and compare it with the closed form."""

import math

import numpy as np

from supple import Box, Frame, Geometry, Joint, Link, Linkage

UPPER, FORE = 15.0, 10.0

arm = Linkage(
    "two_links",
    joints=[
        Joint.revolute("shoulder", "base", "upper", lower=-2, upper=2, speed=1),
        Joint.revolute("elbow", "upper", "fore", at=Frame.at([UPPER, 0, 0]), lower=0, upper=2.5, rest=0.5),
        Joint.fixed("wrist", "fore", "tip", at=Frame.at([FORE, 0, 0])),
    ],
    links=[
        Link("base"),
        Link("upper", [Geometry(Box((UPPER, 1, 1)), Frame.at([UPPER / 2, 0, 0]))]),
        Link("fore", [Geometry(Box((FORE, 1, 1)), Frame.at([FORE / 2, 0, 0]))]),
        Link("tip"),
    ],
)
print(arm)


def closed_form(shoulder: np.ndarray, elbow: np.ndarray) -> np.ndarray:
    """Position (..., 2) of the tip."""
    x = UPPER * np.cos(shoulder) + FORE * np.cos(shoulder + elbow)
    y = UPPER * np.sin(shoulder) + FORE * np.sin(shoulder + elbow)
    return np.stack([x, y], axis=-1)


q = arm.random(10_000, seed=1)
error = arm.frame(q, "tip").position[:, :2] - closed_form(q[:, 0], q[:, 1])
print(f"\n10,000 random q: largest difference from the closed form {np.abs(error).max():.1e} m")

# |det J| = L1 L2 |sin(elbow)|: zero if the arm is straight
J = arm.jacobian(q, "tip")[:, :2]
error = np.abs(np.linalg.det(J)) - UPPER * FORE * np.abs(np.sin(q[:, 1]))
print(f"|det J|: largest difference from L1 L2 |sin(elbow)| {np.abs(error).max():.1e} m²")
bent = np.linalg.norm(arm.frame([0.3, math.pi / 2], "tip").position)
print(f"reach {arm.reach('tip'):.1f} m; elbow at 90° {bent:.3f} m, by Pythagoras {math.hypot(UPPER, FORE):.3f} m")
