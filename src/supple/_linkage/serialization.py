"""A linkage as plain data, ready for JSON, and back: every field explicit, with a version, exact to the last bit."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from supple import _check
from supple.errors import BadLinkage, SuppleError, unknown
from supple.frame import Frame
from supple.joint import Joint, Kind, Mimic
from supple.link import Box, Capsule, Cylinder, Geometry, Link, Mesh, Shape, Sphere

if TYPE_CHECKING:
    from supple.linkage import Linkage

FORMAT = "supple.linkage"
VERSION = 1
MAX_JOINTS = 100_000
MAX_PIECES = 1_000_000
MAX_TEXT = 4_096
_LIMITS = ("lower", "upper", "speed", "acceleration")  # null stands for no limit
_SAME = 1e-12  # numbers this near to those of a unit axis or a rotation are taken as they are
_SHAPES: dict[str, tuple[type[Shape], tuple[str, ...]]] = {
    "box": (Box, ("size",)),
    "sphere": (Sphere, ("radius",)),
    "cylinder": (Cylinder, ("radius", "length")),
    "capsule": (Capsule, ("radius", "length")),
    "mesh": (Mesh, ("path", "scale", "found")),
}
_MASSES = ("mass", "center_of_mass")  # both or neither
_LENGTH_THREE = ("size", "scale")
T = TypeVar("T")


# -- to plain data ----------------------------------------------------------------------------------------------------


def to_dict(linkage: Linkage, geometry: bool, folder: str | os.PathLike[str] | None) -> dict[str, Any]:
    """See `Linkage.to_dict`."""
    base = None if folder is None else os.path.abspath(_check.file_name(folder, "folder"))
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": linkage.name,
        "base": linkage.base.matrix.tolist(),
        "links": [_link_data(link, geometry, base) for link in linkage.links],
        "joints": [_joint_data(joint) for joint in linkage.joints],
    }


def _link_data(link: Link, geometry: bool, base: str | None) -> dict[str, Any]:
    """The data of a link. Fields of masses are only there if the link has a mass."""
    data: dict[str, Any] = {
        "name": link.name,
        "geometry": [_geometry_data(piece, base) for piece in link.geometry] if geometry else [],
    }
    if link.mass or any(link.center_of_mass):
        data |= {"mass": link.mass, "center_of_mass": list(link.center_of_mass)}
    return data


def _joint_data(joint: Joint) -> dict[str, Any]:
    mimic = joint.mimic
    return {
        "name": joint.name,
        "kind": joint.kind.value,
        "parent": joint.parent,
        "child": joint.child,
        "location": joint.location.matrix.tolist(),
        "axis": list(joint.axis),
        **{field: [x if math.isfinite(x) else None for x in getattr(joint, field)] for field in _LIMITS},
        "rest": list(joint.rest),
        "mimic": mimic and {"joint": mimic.joint, "gain": float(mimic.gain), "offset": float(mimic.offset)},
        "swing": joint.swing,
        "twist": list(joint.twist),
    }


def _geometry_data(piece: Geometry, base: str | None) -> dict[str, Any]:
    kind = type(piece.shape).__name__.lower()
    shape = {"kind": kind, **{field: _plain(getattr(piece.shape, field)) for field in _SHAPES[kind][1]}}
    if base is not None and isinstance(piece.shape, Mesh) and piece.shape.found:
        shape["path"] = _relative(piece.shape.path, base)
    return {"shape": shape, "frame": piece.frame.matrix.tolist(), "colour": _plain(piece.colour)}


def _relative(path: str, base: str) -> str:
    """The path of a file from a folder, with slashes; the absolute path where there is none, as from another drive."""
    try:
        return os.path.relpath(os.path.abspath(path), base).replace(os.sep, "/")
    except ValueError:
        return os.path.abspath(path)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | bool):
        return value
    return float(value) if np.ndim(value) == 0 else [float(x) for x in value]


# -- from plain data --------------------------------------------------------------------------------------------------


def from_dict(cls: type[Linkage], data: Mapping[str, Any], folder: str | os.PathLike[str] | None) -> Linkage:
    """See `Linkage.from_dict`."""
    base = None if folder is None else os.path.abspath(_check.file_name(folder, "folder"))
    written = data.get("format") if isinstance(data, Mapping) else None
    if not isinstance(written, str) or written != FORMAT:
        raise BadLinkage(f"expected a dict made by Linkage.to_dict(), with 'format': {FORMAT!r}")
    version = data.get("version")
    if type(version) is not int or version != VERSION:
        raise BadLinkage(f"version {_short(version)} of the data is not known; this supple reads version {VERSION}")
    fields = _Fields(data, "", ("format", "version", "name", "base", "links", "joints"))
    links = fields.each("links", lambda link, place: _link(link, place, base), MAX_JOINTS + 1)
    if sum(len(link.geometry) for link in links) > MAX_PIECES:
        raise BadLinkage(f"there are more than {MAX_PIECES:,} pieces of geometry", element="links")
    joints = fields.each("joints", _joint, MAX_JOINTS)
    return cls(fields.text("name", empty=True), joints, links, fields.frame("base"))


def _link(data: Any, place: str, base: str | None) -> Link:
    fields = _Fields(data, place, ("name", "geometry"), _MASSES)
    pieces = fields.each("geometry", lambda piece, where: _geometry(piece, where, base), MAX_PIECES)
    name, geometry = fields.text("name"), tuple(pieces)
    if not any(field in fields for field in _MASSES):
        return Link(name, geometry)
    mass = fields.number("mass")
    x, y, z = fields.numbers("center_of_mass", 3)
    try:
        return Link(name, geometry, mass, (x, y, z))
    except BadLinkage as error:
        raise BadLinkage(error.reason, element=place) from None


def _geometry(data: Any, place: str, base: str | None) -> Geometry:
    fields = _Fields(data, place, ("shape", "frame", "colour"))
    colour = None if fields["colour"] is None else fields.numbers("colour", 4)
    shape, frame = _shape(fields["shape"], f"{place}.shape", base), fields.frame("frame")
    try:
        return Geometry(shape, frame, colour)  # type: ignore[arg-type]
    except BadLinkage as error:
        raise BadLinkage(error.reason, element=place) from None


def _shape(data: Any, place: str, base: str | None) -> Shape:
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if not isinstance(kind, str) or kind not in _SHAPES:
        raise BadLinkage(f"kind must be one of {', '.join(_SHAPES)}; got {_short(kind)}", element=place)
    made, names = _SHAPES[kind]
    fields = _Fields(data, place, ("kind", *names))
    values: list[Any] = []
    for name in names:
        if name == "path":
            values.append(fields.text(name))
        elif name == "found":
            values.append(fields.flag(name))
        else:
            values.append(fields.numbers(name, 3) if name in _LENGTH_THREE else fields.number(name))
    if base is not None and made is Mesh and values[2]:
        values[0] = os.path.normpath(os.path.join(base, values[0]))
    try:
        return made(*values)
    except BadLinkage as error:
        raise BadLinkage(error.reason, element=place) from None


def _joint(data: Any, place: str) -> Joint:
    names = ("name", "kind", "parent", "child", "location", "axis", *_LIMITS, "rest", "mimic", "swing", "twist")
    fields = _Fields(data, place, names)
    kinds = {kind.value: kind for kind in Kind}
    kind = kinds.get(fields.text("kind"))
    if kind is None:
        raise fields.bad("kind", str(unknown("kind of joint", data["kind"], kinds)))
    mimic = None
    if fields["mimic"] is not None:
        source = _Fields(fields["mimic"], f"{place}.mimic", ("joint", "gain", "offset"))
        followed = source.text("joint"), source.number("gain"), source.number("offset")
        try:
            mimic = Mimic(*followed)
        except BadLinkage as error:
            raise BadLinkage(error.reason, element=f"{place}.mimic") from None
    limits = {name: fields.numbers(name, kind.dof, none=-math.inf if name == "lower" else math.inf) for name in _LIMITS}
    x, y, z = fields.numbers("axis", 3)
    low, high = fields.numbers("twist", 2)
    joint = Joint(
        fields.text("name"),
        kind,
        fields.text("parent"),
        fields.text("child"),
        fields.frame("location"),
        (x, y, z),
        rest=fields.numbers("rest", kind.dof),
        mimic=mimic,
        swing=fields.number("swing"),
        twist=(low, high),
        **limits,
    )
    if max(abs(a - b) for a, b in zip(joint.axis, (x, y, z), strict=True)) <= _SAME:
        object.__setattr__(joint, "axis", (x, y, z))  # scaling it to length 1 again may change its last bit
    return joint


class _Fields:
    """The fields of one dict: all that are expected, no others; each is read by the type that it must have.

    The ``together`` fields must be all there, or all missing.
    """

    def __init__(self, data: Any, place: str, expected: tuple[str, ...], together: tuple[str, ...] = ()) -> None:
        self.data, self.place = data, place
        if not isinstance(data, Mapping):
            raise BadLinkage(f"expected a dict with {', '.join(expected)}; got {_short(data)}", element=place)
        if any(name in data for name in together):
            expected += together
        for name in expected:
            if name not in data:
                raise BadLinkage(f"field {name!r} is missing", element=place)
        if len(data) > len(expected):
            extra = next(name for name in data if name not in expected)
            known = dict.fromkeys(expected + together)
            raise BadLinkage(str(unknown("field", extra if isinstance(extra, str) else "", known)), element=place)

    def __contains__(self, name: str) -> bool:
        return name in self.data

    def __getitem__(self, name: str) -> Any:
        return self.data[name]

    def bad(self, name: str, reason: str) -> BadLinkage:
        return BadLinkage(reason, element=f"{self.place}.{name}".lstrip("."))

    def text(self, name: str, empty: bool = False) -> str:
        value = self.data[name]
        if type(value) is not str or not (value or empty) or len(value) > MAX_TEXT:
            raise self.bad(name, f"expected a string of at most {MAX_TEXT:,} characters, got {_short(value)}")
        return value

    def flag(self, name: str) -> bool:
        value = self.data[name]
        if type(value) is not bool:
            raise self.bad(name, f"expected true or false, got {_short(value)}")
        return value

    def number(self, name: str) -> float:
        return self._number(name, self.data[name], None)

    def numbers(self, name: str, count: int, none: float | None = None) -> tuple[float, ...]:
        """So many finite numbers; null stands for ``none`` where that is given."""
        return self._row(name, self.data[name], count, none)

    def frame(self, name: str) -> Frame:
        """A frame with exactly the numbers of the data, if they are a frame up to rounding."""
        rows = self.data[name]
        if not isinstance(rows, list | tuple) or len(rows) != 4:
            raise self.bad(name, f"expected 4 rows of 4 numbers, got {_short(rows)}")
        matrix = np.array([self._row(name, row, 4) for row in rows])
        try:
            frame = Frame(matrix)
        except SuppleError as error:
            raise self.bad(name, str(error)) from None
        if np.abs(frame.matrix - matrix).max() > _SAME:
            return frame
        matrix.flags.writeable = False
        return Frame._trusted(matrix)

    def each(self, name: str, make: Callable[[Any, str], T], most: int) -> list[T]:
        """A list of things, each made from its own data."""
        values = self.data[name]
        if not isinstance(values, list | tuple) or len(values) > most:
            raise self.bad(name, f"expected a list of at most {most:,}, got {_short(values)}")
        return [make(value, f"{self.place}.{name}[{i}]".lstrip(".")) for i, value in enumerate(values)]

    def _row(self, name: str, values: Any, count: int, none: float | None = None) -> tuple[float, ...]:
        if not isinstance(values, list | tuple) or len(values) != count:
            raise self.bad(name, f"expected {count} numbers, got {_short(values)}")
        return tuple(self._number(name, value, none) for value in values)

    def _number(self, name: str, value: Any, none: float | None) -> float:
        if value is None and none is not None:
            return none
        if type(value) not in (int, float) or not abs(value) <= sys.float_info.max:
            raise self.bad(name, f"expected a finite number, got {_short(value)}")
        return float(value)


def _short(value: object) -> str:
    if isinstance(value, Mapping | list | tuple) and len(value) > 8:
        return f"{len(value):,} items"
    shown = _check.short(value)
    return shown if len(shown) <= 80 else shown[:77] + "..."
