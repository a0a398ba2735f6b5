"""Link: a rigid part, and the shapes it may be drawn with."""

from __future__ import annotations

from dataclasses import dataclass

from supple.errors import BadLinkage
from supple.frame import Frame


@dataclass(frozen=True)
class Box:
    """A box, centred at its origin."""

    size: tuple[float, float, float]
    """Lengths along x, y and z, in metres."""


@dataclass(frozen=True)
class Sphere:
    """A ball, centred at its origin."""

    radius: float
    """Metres."""


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along z, centred at its origin."""

    radius: float
    """Metres."""
    length: float
    """Metres."""


@dataclass(frozen=True)
class Capsule:
    """A cylinder along z with half a ball on each end, centred at its origin."""

    radius: float
    """Metres."""
    length: float
    """Metres, without the two half balls."""


@dataclass(frozen=True)
class Mesh:
    """A mesh in a file."""

    path: str
    """The file, as found; where it was not found, as the description names it."""
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Factors along x, y and z."""
    found: bool = True
    """Whether the file was there when the linkage was read."""


Shape = Box | Sphere | Cylinder | Capsule | Mesh


@dataclass(frozen=True)
class Geometry:
    """A shape and the transformation that readies it: that puts it in place on its link."""

    shape: Shape
    frame: Frame = Frame()
    """The shape's own axes, as seen from the link."""
    colour: tuple[float, float, float, float] | None = None
    """Red, green, blue and opacity between 0 and 1."""


@dataclass(frozen=True)
class Link:
    """A rigid part of a linkage: a node of the tree, with the geometry to be articulated."""

    name: str
    geometry: tuple[Geometry, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise BadLinkage(f"a link needs a name, got {self.name!r}")
        object.__setattr__(self, "geometry", tuple(self.geometry))
