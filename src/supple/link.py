"""Link: a rigid part of a linkage, and the shapes of its geometry."""

from __future__ import annotations

from dataclasses import dataclass

from supple import _check
from supple.errors import BadLinkage
from supple.frame import Frame

HEAVIEST = _check.LARGEST
"""Greatest mass of a link in kilograms; more than that is a mistake in the file."""
FARTHEST = _check.LARGEST
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

    def __post_init__(self) -> None:
        _set_lengths(self, "size", 3)


@dataclass(frozen=True)
class Sphere:
    """A sphere, centred at its origin.

    >>> from supple import Sphere
    >>> Sphere(0.05).radius
    0.05
    """

    radius: float
    """Metres."""

    def __post_init__(self) -> None:
        _set_lengths(self, "radius")


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

    def __post_init__(self) -> None:
        _set_lengths(self, "radius")
        _set_lengths(self, "length")


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

    def __post_init__(self) -> None:
        _set_lengths(self, "radius")
        _set_lengths(self, "length")


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

    def __post_init__(self) -> None:
        if not isinstance(self.path, str) or not self.path:
            raise BadLinkage(f"a mesh needs the path of its file, got {_check.short(self.path)}")
        _check.flag(self.found, "found")
        _set_lengths(self, "scale", 3, negative=True)


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

    def __post_init__(self) -> None:
        if not isinstance(self.shape, Shape):
            raise BadLinkage(f"a shape is a Box, Sphere, Cylinder, Capsule or Mesh, got {_check.short(self.shape)}")
        if not isinstance(self.frame, Frame) or self.frame.shape != ():
            raise BadLinkage(f"the frame of a shape must be a single Frame, got {_check.short(self.frame)}")
        object.__setattr__(self, "frame", self.frame._kept())
        far = max(map(abs, self.frame.matrix[:3, 3].tolist()))
        if not far <= FARTHEST:
            raise BadLinkage(f"the frame of a shape must be within {FARTHEST:g} m, got {far:g}")
        if self.colour is not None:
            colour = _check.vector(self.colour, 4, "colour")
            if type(self.colour) is not tuple:
                object.__setattr__(self, "colour", tuple(colour.tolist()))


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
    """Kilograms; 0 by default."""
    center_of_mass: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Centre of mass (3,) in the link's frame, in metres."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise BadLinkage(f"a link needs a name, got {_check.short(self.name)}")
        try:
            geometry = tuple(self.geometry)
        except TypeError:
            geometry = (None,)  # type: ignore[assignment]
        for piece in geometry:
            if not isinstance(piece, Geometry):
                reason = f"its geometry must be Geometry values, got {_check.short(self.geometry)}"
                raise BadLinkage(reason, element=f"link {_check.short(self.name)}")
        object.__setattr__(self, "geometry", geometry)
        object.__setattr__(self, "mass", _checked_mass(self.name, self.mass))
        object.__setattr__(self, "center_of_mass", _checked_center(self.name, self.center_of_mass))


def _checked_mass(link: str, mass: object) -> float:
    number = _check.real(mass)
    if not 0 <= number <= HEAVIEST:
        reason = f"its mass must be between 0 and {HEAVIEST:g} kg, got {_check.short(mass)}"
        raise BadLinkage(reason, element=f"link {_check.short(link)}")
    return number


def _checked_center(link: str, center: object) -> tuple[float, float, float]:
    row = _check.numbers_or_none(center)  # type: ignore[arg-type]
    if row is None or row.shape != (3,) or not (abs(row) <= FARTHEST).all():
        reason = f"its centre of mass must be 3 numbers within {FARTHEST:g} m, got {_check.short(center)}"
        raise BadLinkage(reason, element=f"link {_check.short(link)}")
    x, y, z = row.tolist()
    return x, y, z


def _set_lengths(shape: object, field: str, count: int = 1, negative: bool = False) -> None:
    """Check one length of a shape, or several, in metres, and store it as a float or a tuple of floats."""
    value = getattr(shape, field)
    numbers = _check.numbers_or_none(value)
    least = -FARTHEST if negative else 0.0
    fits = numbers is not None and numbers.shape == (() if count == 1 else (count,)) and not isinstance(value, bool)
    if numbers is None or not fits or not ((numbers >= least) & (numbers <= FARTHEST)).all():
        wanted = f"{'a number' if count == 1 else f'{count} numbers'} {'within' if negative else 'from 0 to'}"
        reason = f"{field} of a {type(shape).__name__} must be {wanted} {FARTHEST:g}, got {_check.short(value)}"
        raise BadLinkage(reason)
    if count > 1 and type(value) is not tuple:
        object.__setattr__(shape, field, tuple(numbers.tolist()))
    elif count == 1 and type(value) not in (int, float):
        object.__setattr__(shape, field, float(numbers))
