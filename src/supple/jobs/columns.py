"""Joints and Pose: the columns of a table that hold joint values and poses, to read or to write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple import _check
from supple.errors import BadInput, unknown
from supple.frame import Array, Frame
from supple.linkage import Linkage

Names = str | Sequence[str]
_ORDERS = ("wxyz", "xyzw")
_ROUNDING = 1e-9  # radians, degrees or metres: a joint value this far outside its limits is at them


def _names(value: object, what: str) -> tuple[str, ...]:
    given = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list | tuple) else None
    if not given or not all(isinstance(name, str) and name for name in given):
        raise BadInput(f"{what} must be the name of a column or several names, got {_check.short(value)}")
    if len(set(given)) != len(given):
        raise BadInput(f"{what} names a column twice: {', '.join(given)}")
    return given


@dataclass(frozen=True)
class Joints:
    """The columns with joint values: one column of lists, or one column of numbers for each value.

    >>> from supple.jobs import Joints
    >>> Joints("observation.state", degrees=True)
    Joints('observation.state', degrees=True)
    >>> Joints(["q1", "q2"], names=["shoulder", "elbow"])
    Joints(('q1', 'q2'), names=('shoulder', 'elbow'))
    """

    columns: tuple[str, ...]
    """One name: a column of lists. Several: a column of numbers for each value."""
    names: tuple[str | None, ...] | None
    """The joint value that each entry is for, by its name in `Linkage.names`; None for an entry that is none."""
    degrees: bool
    """Whether angles are in degrees; slides are in metres in any case."""

    def __init__(self, columns: Names, names: Sequence[str | None] | None = None, *, degrees: bool = False) -> None:
        """Columns with joint values.

        Args:
            columns: the name of a column of lists, or the names of one column for each value.
            names: which joint value each entry is, in the order of the list or of the columns; None for an entry that
                is not a joint value. Joint values without an entry are at rest. By default all values of the linkage in
                its order, or if there are just as many entries, those that move the end effector.
            degrees: whether angles are in degrees.
        """
        object.__setattr__(self, "columns", _names(columns, "joints"))
        if names is not None and not (
            isinstance(names, list | tuple) and all(name is None or isinstance(name, str) for name in names)
        ):
            raise BadInput(f"names must be a list with names of joint values, or None; got {_check.short(names)}")
        object.__setattr__(self, "names", None if names is None else tuple(names))
        object.__setattr__(self, "degrees", _check.flag(degrees, "degrees"))
        several = len(self.columns) > 1
        if self.names is not None and several and len(self.names) != len(self.columns):
            raise BadInput(f"joints has {len(self.columns)} columns and names has {len(self.names)} names")

    def __repr__(self) -> str:
        return f"Joints({_shown(self.columns)}{_more(names=self.names, degrees=self.degrees or None)})"


@dataclass(frozen=True)
class Pose:
    """The columns with poses of the end effector, in metres.

    >>> from supple.jobs import Pose
    >>> Pose("ee_pose")
    Pose('ee_pose')
    >>> Pose(position="ee_position", quaternion="ee_rotation", order="xyzw")
    Pose(position='ee_position', quaternion='ee_rotation', order='xyzw')
    """

    pose: tuple[str, ...] | None
    """Seven numbers: position, then quaternion."""
    position: tuple[str, ...] | None
    """Three numbers."""
    quaternion: tuple[str, ...] | None
    """Four numbers, of any length but zero."""
    matrix: tuple[str, ...] | None
    """Sixteen numbers, row by row: the homogeneous matrix (4, 4)."""
    order: str
    """The order of a quaternion: "wxyz" or "xyzw"."""

    def __init__(
        self,
        pose: Names | None = None,
        *,
        position: Names | None = None,
        quaternion: Names | None = None,
        matrix: Names | None = None,
        order: str = "wxyz",
    ) -> None:
        """Columns with poses. Each argument is the name of a column of lists, or the names of columns of numbers.

        Args:
            pose: seven numbers, position before quaternion.
            position: three numbers; without a quaternion the goal is the position alone.
            quaternion: four numbers.
            matrix: sixteen numbers, or lists of four lists of four, by rows.
            order: of the quaternion, "wxyz" or "xyzw".
        """
        given = {"pose": pose, "position": position, "quaternion": quaternion, "matrix": matrix}
        for name, value in given.items():
            names = None if value is None else _names(value, name)
            if names is not None and len(names) not in (1, _WIDTHS[name]):
                raise BadInput(f"{name} takes 1 column of lists or {_WIDTHS[name]} columns, got {len(names)}")
            object.__setattr__(self, name, names)
        object.__setattr__(self, "order", _check.one_of(order, "order", _ORDERS))
        whole = (pose is not None) + (matrix is not None)
        parts = position is not None or quaternion is not None
        if whole + parts != 1:
            raise BadInput("a pose is one of: pose (7 numbers), matrix (16), or position (3) and quaternion (4)")

    @property
    def parts(self) -> dict[str, tuple[str, ...]]:
        """The columns by what they hold, in the order in which they are written."""
        given = {name: getattr(self, name) for name in _WIDTHS}
        return {name: columns for name, columns in given.items() if columns is not None}

    @property
    def turns(self) -> bool:
        """Whether it has orientations."""
        return self.position is None or self.quaternion is not None

    @property
    def places(self) -> bool:
        """Whether it has positions."""
        return self.quaternion is None or self.position is not None

    def frames(self, numbers: dict[str, Array]) -> tuple[Frame, NDArray[np.bool_]]:
        """Frames (rows,) of the numbers (rows, n) of each part, and which are good (rows,).

        Positions beyond 1e12 m are not good: their squares would overflow.
        """
        if "matrix" in numbers:
            frames, good = Frame.masked(numbers["matrix"].reshape(-1, 4, 4))
        elif "pose" in numbers:
            whole = numbers["pose"]
            frames, good = Frame.masked(position=whole[:, :3], quaternion=whole[:, 3:], order=self.order)
        else:
            position, quaternion = numbers.get("position"), numbers.get("quaternion")
            frames, good = Frame.masked(position=position, quaternion=quaternion, order=self.order)
        near: Any = (np.abs(frames.position) <= _check.LARGEST).all(axis=-1)
        if near.all():
            return frames, good
        return Frame._trusted(np.where(near[:, None, None], frames.matrix, np.eye(4))), good & near

    def numbers(self, frames: Frame) -> dict[str, Array]:
        """The numbers (rows, n) of each part of frames (rows,); the inverse of `frames`."""
        if self.matrix is not None:
            return {"matrix": frames.matrix.reshape(-1, 16)}
        made: dict[str, Array] = {}
        if self.position is not None:
            made["position"] = frames.position
        if self.quaternion is not None:
            made["quaternion"] = frames.to_quaternion(self.order)
        if self.pose is not None:
            made["pose"] = np.concatenate([frames.position, frames.to_quaternion(self.order)], axis=-1)
        return made

    def __repr__(self) -> str:
        parts = self.parts
        first = [_shown(parts.pop("pose"))] if self.pose is not None else []
        named = [f"{name}={_shown(columns)}" for name, columns in parts.items()]
        return f"Pose({', '.join(first + named)}{_more(order=self.order if self.order != 'wxyz' else None)})"


_WIDTHS = {"pose": 7, "position": 3, "quaternion": 4, "matrix": 16}


def _shown(columns: tuple[str, ...]) -> str:
    return repr(columns[0] if len(columns) == 1 else columns)


def _more(**options: Any) -> str:
    return "".join(f", {name}={value!r}" for name, value in options.items() if value is not None)


def joints(value: Joints | Names, what: str = "joints") -> Joints:
    """A `Joints`; the names of columns become one."""
    return value if isinstance(value, Joints) else Joints(_names(value, what))


def pose(value: Pose | str, what: str = "pose") -> Pose:
    """A `Pose`; the name of a column becomes one of seven numbers."""
    if isinstance(value, Pose | str):
        return value if isinstance(value, Pose) else Pose(value)
    raise BadInput(f"{what} must be a Pose or the name of a column with 7 numbers, got {_check.short(value)}")


class JointMap:
    """Which entries of the joint columns are which values of q, and in which unit."""

    def __init__(self, linkage: Linkage, link: str, columns: Joints, width: int) -> None:
        """For columns with ``width`` entries; raises `BadInput` if they do not fit the linkage."""
        self.linkage, self.width = linkage, width
        names = columns.names
        if names is None:
            names = _default_names(linkage, link, width, columns)
        if len(names) != width:
            raise BadInput(f"{_shown(columns.columns)} has {width} values and names has {len(names)} names")
        for name in names:
            if name is not None and name not in linkage.names:
                raise unknown("joint value", name, linkage.names)
        pairs = [(i, linkage.names.index(name)) for i, name in enumerate(names) if name is not None]
        self.entries = np.array([i for i, _ in pairs], dtype=int)
        self.values = np.array([k for _, k in pairs], dtype=int)
        if len(set(self.values.tolist())) != len(pairs):
            raise BadInput(f"names has a joint value twice: {', '.join(str(name) for name in names)}")
        self._low, self._high = linkage.lower[self.values], linkage.upper[self.values]
        angular = np.array([linkage.units[k] == "rad" for k in self.values], dtype=bool)
        self._unit = np.where(angular & columns.degrees, np.pi / 180, 1.0)
        self._scaled = columns.degrees and bool(angular.any())
        self._whole = width == linkage.dof and self.entries.tolist() == self.values.tolist() == list(range(width))

    def q(self, numbers: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Joint values (rows, dof) of entries (rows, width), and which rows are finite; the others are at rest."""
        if self._whole and not self._scaled:
            q = numbers
        else:
            q = np.empty((len(numbers), self.linkage.dof))
            q[:] = self.linkage.rest
            q[:, self.values] = numbers[:, self.entries] * self._unit
        good: Any = np.isfinite(q).all(axis=1)
        return (q if good.all() else np.where(good[:, None], q, self.linkage.rest)), good

    def entries_of(self, q: Array) -> Array:
        """The entries (rows, width) for joint values q (rows, dof)."""
        if self._whole and not self._scaled:
            return q
        entries = np.full((len(q), self.width), np.nan)
        entries[:, self.entries] = q[:, self.values] / self._unit
        return entries

    def singles(self, entries: Array) -> NDArray[np.float32]:
        """Entries (rows, width) as float32; those within the limits are rounded to float32 within the limits."""
        made = entries.astype(np.float32)
        given, rounded = entries[:, self.entries], made[:, self.entries]
        low, high = self._low / self._unit, self._high / self._unit
        within = (given >= low - _ROUNDING) & (given <= high + _ROUNDING)
        below, above = (np.nextafter(rounded, np.float32(side)) for side in (-np.inf, np.inf))
        rounded = np.where(within & (rounded > high), below, np.where(within & (rounded < low), above, rounded))
        made[:, self.entries] = rounded
        return made


def _default_names(linkage: Linkage, link: str, width: int, columns: Joints) -> tuple[str, ...]:
    if width == linkage.dof:
        return linkage.names
    moving = moving_values(linkage, link)
    if width == len(moving):
        return tuple(linkage.names[k] for k in moving)
    choice = f"{linkage.dof} values ({', '.join(linkage.names)})"
    if len(moving) != linkage.dof:
        choice += f" or the {len(moving)} that move {link}"
    raise BadInput(f"{_shown(columns.columns)} has {width} values; {linkage.name} has {choice}. For others give names=")


def moving_values(linkage: Linkage, link: str) -> list[int]:
    """The indices of the values of q that move a link."""
    jacobian = linkage.jacobian(linkage.random(4, seed=0), link)
    return [int(k) for k in np.flatnonzero(np.abs(jacobian).max(axis=(0, 1)) > 0)]
