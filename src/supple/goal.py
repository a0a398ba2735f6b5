"""Goal: what is wanted of an end effector."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import BadInput
from supple.frame import Array, Frame

_set = object.__setattr__


class Goal:
    """What is wanted of one link: a frame, a position, an orientation, or an axis to point along. A frozen value.

    Every wanted thing may have leading axes, which mean many problems at once; they broadcast.

    >>> Goal("hand", position=[0.3, 0, 0.5])
    Goal('hand', position=(0.3, 0, 0.5))
    """

    __slots__ = ("axis", "direction", "link", "orientation", "point", "position", "turn_weight", "weight")
    link: str
    """Name of the end effector."""
    position: Array | None
    """Where its point shall be (..., 3), in metres, or None."""
    orientation: Array | None
    """How it shall be turned (..., 3, 3), or None."""
    axis: Array | None
    """A unit vector (3,) of the link that shall point along `direction`, or None."""
    direction: Array | None
    """Unit vectors (..., 3) in the world, or None."""
    point: Array
    """The point (3,) of the link that the position speaks of, in the link's axes."""
    weight: tuple[float, float, float] | None
    """Weight of the position error along each world axis; None: pi / reach, the paper's [D30]."""
    turn_weight: tuple[float, float, float]
    """Weight of the orientation error about each world axis (the first one, for an axis that points)."""

    def __init__(
        self,
        link: str,
        frame: Frame | ArrayLike | None = None,
        *,
        position: ArrayLike | None = None,
        orientation: Frame | ArrayLike | None = None,
        axis: ArrayLike | None = None,
        along: ArrayLike | None = None,
        point: ArrayLike = (0, 0, 0),
        weight: float | Sequence[float] | None = None,
        turn_weight: float | Sequence[float] = 1.0,
    ) -> None:
        """A goal for a link: ``frame`` (..., 4, 4), or any of position, orientation and an axis along a direction.

        Args:
            link: the end effector.
            frame: where and how it shall be: a Frame or an array (..., 4, 4).
            position: where its ``point`` shall be (..., 3), in metres.
            orientation: how it shall be turned: a Frame, or rotation matrices (..., 3, 3).
            axis: a vector (3,) of the link that shall point ``along`` a direction.
            along: directions (..., 3) in the world, of any length.
            point: the point (3,) of the link, in its own axes, that the position speaks of.
            weight: of the position error: one number, or one for each world axis; a 0 leaves that axis free. By
                default pi / reach, so that the whole workspace counts as half a turn.
            turn_weight: of the orientation error: one number, or one for each world axis; a 0 leaves it free.
        """
        if not isinstance(link, str) or not link:
            raise BadInput(f"a goal is for a link, by name; got {link!r}")
        if frame is not None:
            if position is not None or orientation is not None or axis is not None:
                raise BadInput("a goal is a frame, or position, orientation and axis; not both")
            whole = frame if isinstance(frame, Frame) else _frames(frame)
            position, orientation = whole.position, whole
        if orientation is not None and axis is not None:
            raise BadInput("a goal has an orientation or an axis to point along, not both")
        if (axis is None) != (along is None):
            raise BadInput("axis (of the link) and along (a direction in the world) go together")
        if position is None and orientation is None and axis is None:
            raise BadInput("a goal needs a frame, a position, an orientation or an axis")
        _set(self, "link", link)
        _set(self, "position", None if position is None else _rows(position, "position"))
        _set(self, "orientation", None if orientation is None else _rotation(orientation))
        _set(self, "axis", None if axis is None else _unit(axis, "axis", single=True))
        _set(self, "direction", None if along is None else _unit(along, "along"))
        _set(self, "point", _rows(point, "point", single=True))
        _set(self, "weight", None if weight is None else _weights(weight, "weight"))
        _set(self, "turn_weight", _weights(turn_weight, "turn_weight"))
        free = (self.position is None or self.weight == (0.0, 0.0, 0.0)) and (
            (self.orientation is None and self.axis is None) or not any(self.turn_weight)
        )
        if free:
            raise BadInput("a goal whose weights are all zero asks for nothing")
        try:
            _ = self.shape
        except ValueError as error:
            raise BadInput(f"the leading axes of a goal must broadcast: {error}") from None

    @property
    def shape(self) -> tuple[int, ...]:
        """The leading axes: () for a single goal."""
        parts = [
            () if self.position is None else self.position.shape[:-1],
            () if self.orientation is None else self.orientation.shape[:-2],
            () if self.direction is None else self.direction.shape[:-1],
        ]
        return np.broadcast_shapes(*parts)

    def rows(self, reach: float) -> tuple[list[int], list[float]]:
        """The error components it speaks of and their weights, for an end effector of that reach in metres."""
        components: list[int] = []
        weights: list[float] = []
        if self.position is not None:
            farthest = reach + float(np.linalg.norm(self.point))
            natural = math.pi / farthest if 1e-6 < farthest < math.inf else 1.0
            for i, w in enumerate(self.weight or (natural,) * 3):
                if w:
                    components.append(i)
                    weights.append(w)
        if self.orientation is not None:
            for i, w in enumerate(self.turn_weight):
                if w:
                    components.append(3 + i)
                    weights.append(w)
        elif self.axis is not None and self.turn_weight[0]:
            components += [6, 7]
            weights += [self.turn_weight[0]] * 2
        return components, weights

    def numbers(self, shape: tuple[int, ...]) -> Array:
        """The goal as the core reads it (*shape, 12): rotation row by row, or the direction, then the position."""
        out = np.zeros((*shape, 12))
        if self.orientation is not None:
            out[..., :9] = self.orientation.reshape(*self.orientation.shape[:-2], 9)
        if self.direction is not None:
            out[..., :3] = self.direction
        if self.position is not None:
            out[..., 9:] = self.position
        return out

    def _value(self) -> tuple[object, ...]:
        arrays = (self.position, self.orientation, self.axis, self.direction, self.point)
        kept = tuple(None if a is None else (a.shape, (a + 0.0).tobytes()) for a in arrays)
        return (self.link, *kept, self.weight, self.turn_weight)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Goal) and self._value() == other._value()

    def __hash__(self) -> int:
        return hash(self._value())

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Goal does not change; make another")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a Goal does not change; make another")

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, tuple(getattr(self, name) for name in _FIELDS)

    def __repr__(self) -> str:
        said = [repr(self.link)]
        for name, value in (("position", self.position), ("axis", self.axis), ("along", self.direction)):
            if value is not None:
                said.append(f"{name}={_brief(value)}")
        if self.orientation is not None:
            many = self.orientation.shape[:-2]
            turn = f" of shape {many}" if many else f"={Frame.at(np.zeros(3), self.orientation)!r}"
            said.append(f"orientation{turn}")
        if self.point.any():
            said.append(f"point={_brief(self.point)}")
        if self.weight is not None:
            said.append(f"weight={self.weight}")
        if self.turn_weight != (1.0, 1.0, 1.0):
            said.append(f"turn_weight={self.turn_weight}")
        return f"Goal({', '.join(said)})"


_FIELDS = ("link", "position", "orientation", "axis", "direction", "point", "weight", "turn_weight")


def _again(*fields: Any) -> Goal:
    goal = object.__new__(Goal)
    for name, value in zip(_FIELDS, fields, strict=True):
        if isinstance(value, np.ndarray):
            value = value.view()
            value.flags.writeable = False
        _set(goal, name, value)
    return goal


def picked(goal: Goal, shape: tuple[int, ...], which: Any) -> Goal:
    """The goals of some of many problems of that shape: those with the numbers ``which``, counted row by row."""

    def rows(array: Array | None, last: int) -> Array | None:
        if array is None:
            return None
        tail = array.shape[array.ndim - last :]
        chosen: Array = np.broadcast_to(array, (*shape, *tail)).reshape(math.prod(shape), *tail)[which]
        return chosen

    parts = rows(goal.position, 1), rows(goal.orientation, 2), goal.axis, rows(goal.direction, 1)
    return _again(goal.link, *parts, goal.point, goal.weight, goal.turn_weight)


def _frames(value: ArrayLike) -> Frame:
    """Frames from an array (..., 4, 4); of many, rows that are not finite stay so, to be refused one by one."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise BadInput(f"a frame must be numbers of shape (..., 4, 4): {error}") from None
    if array.ndim <= 2 or array.shape[-2:] != (4, 4):
        return Frame(array)
    bad = ~np.isfinite(array).all(axis=(-1, -2))
    array[bad] = np.eye(4)
    frames = np.array(Frame(array).matrix)
    frames[bad] = np.nan
    return Frame._trusted(frames)


def _brief(a: Array) -> str:
    if a.ndim > 1:
        return f"<{a.shape}>"
    return "(" + ", ".join(f"{x:.6g}" for x in a) + ")"


def _rows(value: ArrayLike, what: str, single: bool = False) -> Array:
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{what} must be numbers: {error}") from None
    wanted = "(3,)" if single else "(..., 3)"
    if array.shape[-1:] != (3,) or (single and array.ndim != 1):
        raise BadInput(f"{what} must have shape {wanted}, not {array.shape}")
    if (single or array.ndim == 1) and not np.isfinite(array).all():
        raise BadInput(f"{what} must be finite, got {array.tolist()}")
    array.flags.writeable = False
    return array


def _unit(value: ArrayLike, what: str, single: bool = False) -> Array:
    array = _rows(value, what, single)
    length = np.linalg.norm(array, axis=-1, keepdims=True)
    if np.any(length == 0):
        raise BadInput(f"{what} must not be zero")
    with np.errstate(invalid="ignore"):  # a row that is not finite stays so
        unit: Array = array / length
    unit.flags.writeable = False
    return unit


def _rotation(value: Frame | ArrayLike) -> Array:
    if isinstance(value, Frame):
        return value.rotation
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise BadInput(f"orientation must be a Frame or numbers of shape (..., 3, 3): {error}") from None
    if array.shape[-2:] != (3, 3):
        raise BadInput(f"orientation must be a Frame or have shape (..., 3, 3), not {array.shape}")
    whole = np.zeros((*array.shape[:-2], 4, 4))
    whole[..., :3, :3], whole[..., 3, 3] = array, 1
    return _frames(whole).rotation


def _weights(value: float | Sequence[float], what: str) -> tuple[float, float, float]:
    try:
        row = np.broadcast_to(np.asarray(value, dtype=float), (3,))
    except (TypeError, ValueError):
        raise BadInput(f"{what} must be one number or three, got {value!r}") from None
    if not np.isfinite(row).all() or (row < 0).any():
        raise BadInput(f"{what} must be finite and not negative, got {value!r}")
    return float(row[0]), float(row[1]), float(row[2])
