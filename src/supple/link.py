"""Link: a rigid part of a linkage, and the shapes of its geometry."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

from supple import _check
from supple.errors import BadLinkage
from supple.frame import Frame

HEAVIEST = 1e12
"""Greatest mass of a link in kilograms; more than that is a mistake in the file."""
FARTHEST = 1e12
"""Greatest coordinate of a centre of mass in metres."""


@dataclass(frozen=True)
class Box:
    """A box, centred at its origin.

    >>> from supple import Box
    >>> Box((0.1, 0.2, 0.3)).size
    (0.1, 0.2, 0.3)
    """

    size: tuple[float, float, float]
    """Lengths along x, y and z, in metres."""


@dataclass(frozen=True)
class Sphere:
    """A sphere, centred at its origin.

    >>> from supple import Sphere
    >>> Sphere(0.05).radius
    0.05
    """

    radius: float
    """Metres."""


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along z, centred at its origin.

    >>> from supple import Cylinder
    >>> Cylinder(radius=0.05, length=0.3).length
    0.3
    """

    radius: float
    """Metres."""
    length: float
    """Metres."""


@dataclass(frozen=True)
class Capsule:
    """A cylinder along z with a half sphere on each end, centred at its origin.

    >>> from supple import Capsule
    >>> Capsule(radius=0.05, length=0.3).length
    0.3
    """

    radius: float
    """Metres."""
    length: float
    """Metres, without the two half spheres."""


@dataclass(frozen=True)
class Mesh:
    """A mesh in a file, in metres after scaling.

    >>> from supple import Mesh
    >>> Mesh("gripper.stl", scale=(0.001, 0.001, 0.001)).found
    True
    """

    path: str
    """Path of the file; if the file was not found, the name in the robot description."""
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Factors along x, y and z."""
    found: bool = True
    """Whether the file existed when the linkage was read."""


Shape = Box | Sphere | Cylinder | Capsule | Mesh


@dataclass(frozen=True)
class Geometry:
    """A shape, its frame on its link and its colour.

    >>> from supple import Box, Frame, Geometry
    >>> Geometry(Box((0.1, 0.1, 0.3)), Frame.at([0, 0, 0.15]), colour=(1, 0, 0, 1)).frame.position
    array([0.  , 0.  , 0.15])
    """

    shape: Shape
    frame: Frame = Frame()
    """Frame of the shape in the link."""
    colour: tuple[float, float, float, float] | None = None
    """Red, green, blue and opacity between 0 and 1."""


@dataclass(frozen=True)
class Link:
    """A rigid part of a linkage: a node of the tree, with its geometry and its mass.

    >>> from supple import Capsule, Geometry, Link
    >>> Link("upper_arm", (Geometry(Capsule(0.05, 0.3)),), mass=2.5, center_of_mass=(0, 0, 0.1)).mass
    2.5
    """

    name: str
    geometry: tuple[Geometry, ...] = ()
    mass: float = 0.0
    """Kilograms; 0 where none is given."""
    center_of_mass: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Centre of mass (3,) in the link's axes, from its origin, in metres."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise BadLinkage(f"a link needs a name, got {self.name!r}")
        object.__setattr__(self, "geometry", tuple(self.geometry))
        object.__setattr__(self, "mass", _checked_mass(self.name, self.mass))
        object.__setattr__(self, "center_of_mass", _checked_center(self.name, self.center_of_mass))


def _checked_mass(link: str, mass: object) -> float:
    number = isinstance(mass, Real) and not isinstance(mass, bool)
    if not (number and 0 <= mass <= HEAVIEST):  # type: ignore[operator]
        reason = f"its mass must be between 0 and {HEAVIEST:g} kg, got {_check.short(mass)}"
        raise BadLinkage(reason, element=f"link {link!r}")
    return float(mass)  # type: ignore[arg-type]


def _checked_center(link: str, center: object) -> tuple[float, float, float]:
    try:
        x, y, z = (float(value) for value in center)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        x = y = z = math.nan
    if not max(abs(x), abs(y), abs(z)) <= FARTHEST or math.isnan(x + y + z):
        reason = f"its centre of mass must be 3 numbers within {FARTHEST:g} m, got {_check.short(center)}"
        raise BadLinkage(reason, element=f"link {link!r}")
    return x, y, z
