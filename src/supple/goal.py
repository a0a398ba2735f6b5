"""Goal: what is wanted of an end effector."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import BadInput, unknown_option
from supple.frame import Array, Frame
from supple.frame import _unit as unit_of

_ARRAYS = ("position", "orientation", "axis", "direction", "point")
_PLAIN = ("weight", "turn_weight", "slack", "turn_slack", "priority")
_FIELDS = ("link", *_ARRAYS, *_PLAIN)
_OPTIONS = ("frame", *_ARRAYS, *_PLAIN)

_set = object.__setattr__
_ORIGIN: Array = np.zeros(3)
_ORIGIN.flags.writeable = False
_NONE = (0.0, 0.0, 0.0)


class Goal:
    """What is wanted of one link: a frame, a position, an orientation, or an axis to point along. A frozen value.

    Every wanted thing may have leading axes, which mean many problems at once; they broadcast.

    >>> Goal("hand", position=[0.3, 0, 0.5])
    Goal('hand', position=(0.3, 0, 0.5))
    """

    __slots__ = _FIELDS
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
    slack: tuple[float, float, float]
    """How far from the position is as good as there, along each world axis, in metres: half the sides of a box."""
    turn_slack: tuple[float, float, float]
    """How far from the orientation is as good as so turned, about each world axis, in radians; for an axis that points,
    three times the half-angle of its cone."""
    priority: int
    """Goals of a lower number are met first, later ones only as far as those allow."""

    def __init__(
        self,
        link: str,
        frame: Frame | ArrayLike | None = None,
        *,
        position: ArrayLike | None = None,
        orientation: Frame | ArrayLike | None = None,
        axis: ArrayLike | None = None,
        direction: ArrayLike | None = None,
        point: ArrayLike = _ORIGIN,
        weight: float | Sequence[float] | None = None,
        turn_weight: float | Sequence[float] = 1.0,
        slack: float | Sequence[float] = 0.0,
        turn_slack: float | Sequence[float] = 0.0,
        priority: int = 0,
        **unknown: NoReturn,
    ) -> None:
        """A goal for a link: ``frame`` (..., 4, 4), or any of position, orientation and an axis along a direction.

        Args:
            link: the end effector.
            frame: where and how it shall be: a Frame or an array (..., 4, 4).
            position: where its ``point`` shall be (..., 3), in metres.
            orientation: how it shall be turned: a Frame, or rotation matrices (..., 3, 3).
            axis: a vector (3,) of the link that shall point along ``direction``.
            direction: directions (..., 3) in the world, of any length.
            point: the point (3,) of the link, in its own axes, that the position speaks of; its origin by default.
            weight: of the position error: one number, or one for each world axis; a 0 leaves that axis free. By
                default pi / reach, so that the whole workspace counts as half a turn.
            turn_weight: of the orientation error: one number, or one for each world axis; a 0 leaves it free.
            slack: how far from the position, in metres, is as good as there: one number, or one for each world axis.
            turn_slack: how far from the orientation, in radians, is as good as so turned: one number, or one about
                each world axis. For an axis that points, one number: the half-angle of a cone around ``direction``.
            priority: goals of a lower number are met first, later ones only as far as those allow.
        """
        if unknown:
            raise unknown_option("Goal", next(iter(unknown)), _OPTIONS, {"along": "direction"})
        if not isinstance(link, str) or not link:
            raise BadInput(f"a goal is for a link, by name; got {link!r}")
        if frame is not None:
            if position is not None or orientation is not None or axis is not None:
                raise BadInput("a goal is a frame, or position, orientation and axis; not both")
            orientation = whole = frame if isinstance(frame, Frame) else _frames(frame)
            where: Array | None = _frozen(whole.position)
        else:
            where = None if position is None else _rows(position, "position")
        if orientation is not None and axis is not None:
            raise BadInput("a goal has an orientation or an axis to point along, not both")
        if (axis is None) != (direction is None):
            raise BadInput("axis (of the link) and direction (in the world) go together")
        turned = orientation is not None or axis is not None
        if where is None and not turned:
            raise BadInput("a goal needs a frame, a position, an orientation or an axis")
        _set(self, "link", link)
        _set(self, "position", where)
        _set(self, "orientation", None if orientation is None else _rotation(orientation))
        _set(self, "axis", None if axis is None else _unit(axis, "axis", single=True))
        _set(self, "direction", None if direction is None else _unit(direction, "direction"))
        _set(self, "point", _ORIGIN if point is _ORIGIN else _rows(point, "point", single=True))
        _set(self, "weight", None if weight is None else _three(weight, "weight"))
        _set(self, "turn_weight", _three(turn_weight, "turn_weight"))
        placed = where is not None and self.weight != _NONE
        turned = turned and (self.turn_weight != _NONE if axis is None else self.turn_weight[0] > 0)
        if not (placed or turned):
            raise BadInput("a goal whose weights are all zero asks for nothing")
        _set(self, "slack", _slack(slack, placed))
        _set(self, "turn_slack", _turn_slack(turn_slack, turned, axis is not None))
        _set(self, "priority", priority if type(priority) is int else _whole(priority))
        try:
            _ = self.shape
        except ValueError as error:
            raise BadInput(f"the leading axes of a goal must broadcast: {error}") from None

    @property
    def shape(self) -> tuple[int, ...]:
        """The leading axes: () for a single goal."""
        placed = () if self.position is None else self.position.shape[:-1]
        turned = () if self.orientation is None else self.orientation.shape[:-2]
        aimed = () if self.direction is None else self.direction.shape[:-1]
        return np.broadcast_shapes(placed, turned, aimed) if placed or turned or aimed else ()

    @property
    def _kind(self) -> tuple[Any, ...]:
        """All of it but where it is: goals of one kind share what is compiled for them."""
        axis = None if self.axis is None else self.axis.tobytes()
        point = None if self.point is _ORIGIN else self.point.tobytes()
        asked = (self.link, self.position is None, self.orientation is None, axis, point)
        return (*asked, self.weight, self.turn_weight, self.slack, self.turn_slack, self.priority)

    def _rows(self, reach: float) -> tuple[list[int], list[float]]:
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

    def _slacks(self) -> list[float]:
        """The slack of each component that `_rows` names, in metres or radians; for an axis, its cone's half-angle."""
        slacks: list[float] = []
        if self.position is not None:
            weight = self.weight or (1.0, 1.0, 1.0)
            slacks += [s for s, w in zip(self.slack, weight, strict=True) if w]
        if self.orientation is not None:
            slacks += [s for s, w in zip(self.turn_slack, self.turn_weight, strict=True) if w]
        elif self.axis is not None and self.turn_weight[0]:
            slacks += self.turn_slack[:2]
        return slacks

    def _encoded(self, shape: tuple[int, ...]) -> Array:
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
        arrays = (getattr(self, name) for name in _ARRAYS)
        kept = (None if a is None else (a.shape, (a + 0.0).tobytes()) for a in arrays)
        return (self.link, *kept, *(getattr(self, name) for name in _PLAIN))

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
        for name, value in (("position", self.position), ("axis", self.axis), ("direction", self.direction)):
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
        if self.slack != _NONE:
            said.append(f"slack={self.slack}")
        if self.turn_slack != _NONE:
            said.append(f"turn_slack={self.turn_slack if self.axis is None else self.turn_slack[0]}")
        if self.priority:
            said.append(f"priority={self.priority}")
        return f"Goal({', '.join(said)})"


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
    return _again(goal.link, *parts, goal.point, *(getattr(goal, name) for name in _PLAIN))


def _frames(value: ArrayLike) -> Frame:
    """Frames from an array (..., 4, 4); of many, rows that are not finite stay so, to be refused one by one."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise BadInput(f"a frame must be numbers of shape (..., 4, 4): {error}") from None
    if array.ndim <= 2 or array.shape[-2:] != (4, 4):
        return Frame(array)
    bad = ~np.isfinite(array).all(axis=(-1, -2))
    if not bad.any():
        return Frame(array)
    frames = np.where(bad[..., None, None], np.eye(4), array)
    frames = np.array(Frame(frames).matrix)
    frames[bad] = np.nan
    return Frame._trusted(frames)


def _frozen(array: Array) -> Array:
    """The array itself where nobody can change it, else a copy."""
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


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
    if array.ndim == 1 and not all(map(math.isfinite, array.tolist())):
        raise BadInput(f"{what} must be finite, got {array.tolist()}")
    array.flags.writeable = False
    return array


def _unit(value: ArrayLike, what: str, single: bool = False) -> Array:
    array = _rows(value, what, single)
    if not array.any(axis=-1).all():
        raise BadInput(f"{what} must not be zero")
    with np.errstate(invalid="ignore"):  # a row that is not finite stays so
        unit = unit_of(array)
    unit.flags.writeable = False
    return unit


def _rotation(value: Frame | ArrayLike) -> Array:
    if isinstance(value, Frame):
        return _frozen(value.rotation)
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise BadInput(f"orientation must be a Frame or numbers of shape (..., 3, 3): {error}") from None
    if array.shape[-2:] != (3, 3):
        raise BadInput(f"orientation must be a Frame or have shape (..., 3, 3), not {array.shape}")
    whole = np.zeros((*array.shape[:-2], 4, 4))
    whole[..., :3, :3], whole[..., 3, 3] = array, 1
    return _frames(whole).rotation


def _three(value: float | Sequence[float], what: str, most: float = math.inf) -> tuple[float, float, float]:
    """One number or three, as three that are finite, not negative and at most so much."""
    if (type(value) is float or type(value) is int) and 0 <= value <= most and value != math.inf:
        one = float(value)
        return one, one, one
    try:
        row = np.broadcast_to(np.asarray(value, dtype=float), (3,))
    except (TypeError, ValueError):
        raise BadInput(f"{what} must be one number or three, got {value!r}") from None
    if not np.isfinite(row).all() or (row < 0).any():
        raise BadInput(f"{what} must be finite and not negative, got {value!r}")
    if (row > most).any():
        raise BadInput(f"{what} must be at most pi, got {value!r}")
    return float(row[0]), float(row[1]), float(row[2])


def _slack(value: float | Sequence[float], placed: bool) -> tuple[float, float, float]:
    slack = _three(value, "slack")
    if not placed and slack != _NONE:
        raise BadInput(f"slack is of a position, and this goal asks for none; got {value!r}")
    return slack


def _turn_slack(value: float | Sequence[float], turned: bool, cone: bool) -> tuple[float, float, float]:
    slack = _three(value, "turn_slack", most=math.pi)
    if not turned and slack != _NONE:
        raise BadInput(f"turn_slack is of an orientation or an axis, and this goal asks for neither; got {value!r}")
    if cone and np.ndim(value):
        raise BadInput(f"turn_slack of an axis is one number, the half-angle of a cone; got {value!r}")
    return slack


def _whole(value: object) -> int:
    try:
        if not isinstance(value, bool):
            return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        pass
    raise BadInput(f"priority must be a whole number, got {value!r}")
