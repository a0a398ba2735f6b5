"""Goal: what an end effector should reach: a frame or a part of it, a point to look at, a distance.

Or where the centre of mass should be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple._arrays import goals as foreign
from supple._arrays.given import PLAIN, Given
from supple._core import one_frame
from supple._solve import goal_arguments, goal_rows, goal_text
from supple._solve.goal_rows import ORIGIN as _ORIGIN
from supple._solve.goal_rows import ZERO as _ZERO
from supple.errors import BadInput, unknown_option
from supple.frame import Array, Frame

_ARRAYS = ("position", "orientation", "axis", "direction", "look_at", "line", "pole", "point")
_PLAIN = (
    "is_center_of_mass",
    "distance",
    "limb",
    "relative_to",
    "weight",
    "turn_weight",
    "slack",
    "turn_slack",
    "priority",
)
_FIELDS = ("link", *_ARRAYS, *_PLAIN)
_OPTIONS = ("frame", *(name for name in (*_ARRAYS, *_PLAIN) if name != "is_center_of_mass"))

_QUATERNIONS = ("quaternion", "quat", "wxyz", "xyzw")  # options of other libraries
_set = object.__setattr__
# default arguments: `Goal` compares by identity
_ONCE = 1.0
_EXACT = 0.0
_FIRST = 0
_HIGHEST_PRIORITY = (1 << 31) - 1
_NO_FOREIGN = PLAIN | {Frame}  # types of arrays that are certainly of no other library
CENTER_OF_MASS = "centre of mass"


class Goal:
    """What one link should reach. A frozen value, which threads may share.

    A goal is a frame, a position, an orientation, an axis along a direction, an axis that points at a point, or a
    distance from a point or a line. Positions, orientations, directions and points to look at may have leading axes,
    which mean many problems at once; they broadcast.

    >>> from supple import Goal
    >>> Goal("hand", position=[0.3, 0, 0.5])
    Goal('hand', position=(0.3, 0, 0.5))
    """

    __slots__ = (*_FIELDS, "_frame", "_frames", "_given")
    _given: Given | None  # of a goal without _frame: what arrays of another library had in common
    _frame: Frame | None  # of a goal that is one frame and nothing else: the fields come from it when they are read
    _frames: Any  # of a goal without _frame: the same, frames (..., 4, 4) in the memory of a GPU; or None
    link: str
    """Name of the end effector; "centre of mass" in a goal for it."""
    position: Array | None
    """Position of its point (..., 3), in metres, or None; with `distance` or `line`, the point to measure from."""
    orientation: Array | None
    """Its rotation matrix (..., 3, 3), or None."""
    axis: Array | None
    """A unit vector (3,) in link axes that should point along `direction` or at `look_at`, or None."""
    direction: Array | None
    """Unit vectors (..., 3) in world axes, or None."""
    look_at: Array | None
    """Points (..., 3) in metres that the axis through the link's point should pass through, ahead of it; or None."""
    line: Array | None
    """Direction (3,), of length 1, of a line through `position`: `distance` is from this line. None: from the point."""
    pole: Array | None
    """Points (..., 3) in metres that the elbow between a shoulder and the link's point should point to; or None."""
    point: Array
    """The point (3,) of the link, in link axes, that `position` is for."""
    is_center_of_mass: bool
    """Whether the goal is for the centre of mass of the whole linkage; made by `center_of_mass`."""
    distance: float | None
    """Distance in metres that the link's point should have from `position`, or from the line through it; or None."""
    limb: tuple[str, str] | None
    """The links that begin at the shoulder and at the elbow of `pole`; None: the two joints before the link's own."""
    relative_to: str | None
    """Name of another link whose axes take the place of the world's, or None."""
    weight: tuple[float, float, float] | None
    """Weight of the position error along each axis; None: pi / reach, as in the paper [D30]."""
    turn_weight: tuple[float, float, float]
    """Weight of the orientation error about each world axis; for an axis, only the first counts."""
    slack: tuple[float, float, float]
    """Position errors within this box count as zero: half its sides along the world axes, in metres."""
    turn_slack: tuple[float, float, float]
    """Orientation errors within these angles about the world axes count as zero, in radians; for an axis, all three
    are the half-angle of its cone."""
    priority: int
    """Goals with a lower number are met first, later ones as far as those allow."""

    def __init__(
        self,
        link: str,
        frame: Frame | ArrayLike | None = None,
        *,
        position: ArrayLike | None = None,
        orientation: Frame | ArrayLike | None = None,
        axis: ArrayLike | None = None,
        direction: ArrayLike | None = None,
        look_at: ArrayLike | None = None,
        distance: float | None = None,
        line: ArrayLike | None = None,
        pole: ArrayLike | None = None,
        limb: Sequence[str] | None = None,
        point: ArrayLike = _ORIGIN,
        relative_to: str | None = None,
        weight: float | Sequence[float] | None = None,
        turn_weight: float | Sequence[float] = _ONCE,
        slack: float | Sequence[float] = _EXACT,
        turn_slack: float | Sequence[float] = _EXACT,
        priority: int = _FIRST,
        **unknown: NoReturn,
    ) -> None:
        """A goal for a link: ``frame`` (..., 4, 4), or any of position, orientation and an axis along a direction.

        Args:
            link: the end effector.
            frame: its frame: a Frame or an array (..., 4, 4).
            position: the position of its ``point`` (..., 3), in metres.
            orientation: its orientation: a Frame, or rotation matrices (..., 3, 3).
            axis: a vector (3,) in link axes that should point along ``direction`` or at ``look_at``; the link may turn
                about it.
            direction: directions (..., 3) in world axes, of any length.
            look_at: points (..., 3) in metres: the axis that begins at ``point`` should pass through them. Within 1 cm
                of such a point the angle counts less, and at it not at all, since any axis passes through it.
            distance: how far the link's ``point`` should be from ``position``, in metres: anywhere on a sphere. With
                ``line`` it is the distance from that line, 0 by default: on the line.
            line: the direction (3,) of a line through ``position``, of any length.
            pole: points (..., 3) in metres, one for each problem, that an elbow or a knee should point to: it lies in
                the half-plane that ends at the line from the shoulder (or hip) to the link's ``point`` and contains
                the pole. A goal with a pole has nothing else; give another goal for the hand. Where the limb is
                nearly straight the pole counts less, and not at all where it is straight: it has no plane there.
            limb: the two links that begin at the shoulder and at the elbow, such as ``("upper_arm", "forearm")``. By
                default the two joints before the link's own, without those that share an origin.
            point: the point (3,) of the link, in link axes, that ``position`` is for; its origin by default.
            relative_to: another link, which may move too: the goal is then given in the axes of that link, at its
                origin, and so are weights, slacks and errors. Joints that move both links together do not affect it.
            weight: of the position error: one number, or one for each world axis; 0 leaves that axis free. By default
                pi / reach, so that the whole workspace counts as half a turn. For a goal relative to another link, the
                reach is the larger one of the two.
            turn_weight: of the orientation error: one number, or one for each world axis; 0 leaves it free.
            slack: position errors up to this count as zero, in metres: one number, or one for each world axis. For a
                distance, one number: the distance may be smaller or larger by this much.
            turn_slack: orientation errors up to this count as zero, in radians: one number, or one about each world
                axis. For an axis, one number: the half-angle of a cone around ``direction``, or around the line
                to ``look_at``.
            priority: goals with a lower number are met first, later ones as far as those allow.
        """
        one = one_frame(frame)  # None for all but one frame
        bare = (
            type(link) is str
            and link
            and position is orientation is axis is direction is look_at is distance is line is pole is None
            and relative_to is None
            and limb is None
            and weight is None
            and point is _ORIGIN
            and turn_weight is _ONCE
            and slack is turn_slack is _EXACT
            and priority is _FIRST
            and not unknown
        )
        if bare and one is not None:
            _set(self, "link", link)
            _set(self, "_frame", one)
            return
        if one is not None:
            frame = one
        _set(self, "_frame", None)
        _set(self, "_frames", None)
        if bare and frame is not None and type(frame) not in _NO_FOREIGN:
            given = foreign.frames_on_gpu(frame)
            if given is not None:
                _set(self, "link", link)
                _set(self, "_given", given)
                _set(self, "_frames", frame)
                return
        if unknown:
            name = next(iter(unknown))
            quaternion = "write orientation=Frame.quaternion([w, x, y, z])" if name in _QUATERNIONS else ""
            raise unknown_option("Goal", name, _OPTIONS, {"along": "direction"}, quaternion)
        if not isinstance(link, str) or not link:
            if isinstance(frame, str):
                raise BadInput(f"the link comes first: write Goal({frame!r}, frame)")
            raise BadInput(f"a goal is for a link, by name; got {_check.short(link)}")
        if relative_to is not None:
            goal_arguments.other_link(relative_to, link)
        _set(self, "_given", None)
        on_gpu = None
        if not _NO_FOREIGN.issuperset(map(type, (frame, position, orientation, direction, look_at, pole))):
            values = {"frame": frame, "position": position, "orientation": orientation}
            values |= {"direction": direction, "look_at": look_at, "pole": pole}
            given = foreign.given_of(values)
            _set(self, "_given", given)
            if given is not None and given.is_on_gpu:
                frame, position, orientation, direction, look_at, pole = foreign.stand_ins(values).values()
                on_gpu = foreign.fields(given, values)
        if frame is not None:
            if position is not None or orientation is not None or axis is not None:
                raise BadInput("a goal is a frame, or position, orientation and axis; not both")
            whole = frame if isinstance(frame, Frame) else goal_arguments.frames(frame, link)
            orientation = whole = whole if whole.matrix.base is None else whole._kept()
            place: Array | None = goal_arguments.frozen(whole.position)
        else:
            place = None if position is None else goal_arguments.vectors(position, "position")
        oriented = orientation is not None or axis is not None
        radial = distance is not None or line is not None
        goal_arguments.check_parts(
            frame, place, position, orientation, axis, direction, look_at, distance, line, pole, limb
        )
        _set(self, "link", link)
        _set(self, "is_center_of_mass", False)
        _set(self, "position", place)
        _set(self, "orientation", None if orientation is None else goal_arguments.rotations(orientation))
        _set(self, "axis", None if axis is None else goal_arguments.unit_vectors(axis, "axis", single=True))
        _set(self, "direction", None if direction is None else goal_arguments.unit_vectors(direction, "direction"))
        _set(self, "look_at", None if look_at is None else goal_arguments.vectors(look_at, "look_at"))
        _set(self, "line", None if line is None else goal_arguments.unit_vectors(line, "line", single=True))
        _set(self, "pole", None if pole is None else goal_arguments.vectors(pole, "pole"))
        _set(self, "distance", goal_arguments.distance(distance) if radial else None)
        _set(self, "limb", None if limb is None else goal_arguments.limb(limb, link))
        _set(self, "point", _ORIGIN if point is _ORIGIN else goal_arguments.vectors(point, "point", single=True))
        _set(self, "relative_to", relative_to)
        _set(self, "weight", None if weight is None else goal_arguments.three(weight, "weight"))
        _set(self, "turn_weight", goal_arguments.three(turn_weight, "turn_weight"))
        placed = place is not None and self.weight != _ZERO
        one_turn_weight = axis is not None or pole is not None
        oriented = (oriented or pole is not None) and (
            self.turn_weight[0] > 0 if one_turn_weight else self.turn_weight != _ZERO
        )
        if not (placed or oriented):
            raise BadInput("a goal needs a weight that is not zero")
        _set(self, "slack", goal_arguments.position_slack(slack, placed))
        if radial:
            goal_arguments.check_distance(self.distance, line is not None, self.weight, self.slack)
        _set(self, "turn_slack", goal_arguments.orientation_slack(turn_slack, oriented, one_turn_weight))
        if type(priority) is not int or not -_HIGHEST_PRIORITY <= priority <= _HIGHEST_PRIORITY:
            priority = _check.whole(priority, "priority")
            if abs(priority) > _HIGHEST_PRIORITY:
                raise BadInput(f"priority must be within 2^31, got {_check.short(priority)}")
        _set(self, "priority", priority)
        for name, array in (on_gpu or {}).items():
            _set(self, name, array)
        try:
            leading = self.shape
        except (ValueError, RuntimeError) as error:  # numpy raises the latter for too many axes
            raise BadInput(f"the leading axes of a goal must broadcast: {error}") from None
        if leading and len(leading) > _check.MOST_AXES:
            raise BadInput(f"a goal must have at most {_check.MOST_AXES} leading axes, got {len(leading)}")

    if not TYPE_CHECKING:  # a misspelt name is found by type checkers

        def __getattr__(self, name: str) -> Any:
            """A field of a goal that is frames and nothing else: all of them are set when the first is read."""
            if name not in _FIELDS or (self._frame is None and self._frames is None):
                raise AttributeError(f"a Goal has no {name!r}")
            if self._frame is not None:
                place = goal_arguments.frozen(self._frame.position)
                turn = goal_arguments.frozen(self._frame.rotation)
            else:
                place, turn = foreign.frame_parts(self._frames)
            for field, value in {**_FRAME_FIELDS, "position": place, "orientation": turn}.items():
                _set(self, field, value)
            return object.__getattribute__(self, name)

    @classmethod
    def center_of_mass(
        cls,
        position: ArrayLike,
        *,
        distance: float | None = None,
        line: ArrayLike | None = None,
        weight: float | Sequence[float] | None = None,
        slack: float | Sequence[float] = 0.0,
        priority: int = 0,
    ) -> Goal:
        """A goal for the centre of mass of the whole linkage, whose links must have masses.

        Args:
            position: where the centre of mass should be (..., 3), in metres and world axes.
            distance: its distance from ``position``, or from ``line``, instead.
            line: direction (3,) of a line through ``position``.
            weight: one number, or one for each world axis: ``weight=(1, 1, 0)`` leaves the height free.
            slack: in metres, as for other goals.
            priority: as for other goals.

        >>> from supple import Goal
        >>> Goal.center_of_mass([0, 0, 0.7], weight=(1, 1, 0))
        Goal.center_of_mass(position=(0, 0, 0.7), weight=(1.0, 1.0, 0.0))
        """
        options: dict[str, Any] = {"distance": distance, "line": line, "weight": weight, "slack": slack}
        goal = cls(CENTER_OF_MASS, position=position, priority=priority, **options)
        _set(goal, "is_center_of_mass", True)
        return goal

    @property
    def shape(self) -> tuple[int, ...]:
        """The leading axes: () for a single goal.

        >>> from supple import Goal
        >>> Goal("hand", position=[[0.3, 0, 0.5], [0.4, 0, 0.5]]).shape
        (2,)
        """
        placed = () if self.position is None else self.position.shape[:-1]
        turned = () if self.orientation is None else self.orientation.shape[:-2]
        toward = self.direction if self.look_at is None else self.look_at
        toward = toward if self.pole is None else self.pole
        directed = () if toward is None else toward.shape[:-1]
        return np.broadcast_shapes(placed, turned, directed) if placed or turned or directed else ()

    @property
    def _place(self) -> Array | None:
        """The position that the core reads: of the goal, of the point to look at, or of the pole."""
        return next((place for place in (self.look_at, self.pole) if place is not None), self.position)

    @property
    def _special_kind(self) -> str:
        """The argument of a goal that is not a frame, a position, an orientation or a direction; else ""."""
        return next((name for name in ("look_at", "distance", "pole") if getattr(self, name) is not None), "")

    @property
    def _surface(self) -> goal_rows.Surface:
        """What the core knows of the kind of goal: whether it looks at a point; distance; direction of the line."""
        return goal_rows.surface(self)

    @property
    def _is_on_line(self) -> bool:
        """Whether two rows hold the point on a line; a distance has one."""
        return self.line is not None and not self.distance and self.slack == _ZERO

    @property
    def _kind(self) -> tuple[Any, ...]:
        """All but the frame: goals of one kind share a compiled solver."""
        return goal_rows.kind(self)

    def _rows(self, reach: float) -> tuple[list[int], list[float]]:
        """The error components that the goal uses and their weights, for an end effector of that reach in metres."""
        return goal_rows.rows(self, reach)

    def _slacks(self) -> list[float]:
        """The slack of each component that `_rows` names, in metres or radians; for an axis, its cone's half-angle."""
        return goal_rows.slacks(self)

    def _encoded(self, shape: tuple[int, ...]) -> Array:
        """The goal as the core reads it (*shape, 12)."""
        return goal_rows.encoded(self, shape)

    def _without_slack(self) -> Goal:
        """The same goal without slack."""
        if self.slack == _ZERO and self.turn_slack == _ZERO:
            return self
        without = {"slack": _ZERO, "turn_slack": _ZERO}
        return _rebuilt(*(without.get(name, getattr(self, name)) for name in _FIELDS))

    def _value(self) -> tuple[object, ...]:
        arrays = (getattr(self, name) for name in _ARRAYS)
        values = (None if a is None else (a.shape, (a + 0.0).tobytes()) for a in arrays)
        return (self.link, *values, *(getattr(self, name) for name in _PLAIN))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Goal) and self._value() == other._value()

    def __hash__(self) -> int:
        return hash(self._value())

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Goal does not change; make another")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a Goal does not change; make another")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, tuple(getattr(self, name) for name in _FIELDS)

    def __repr__(self) -> str:
        return goal_text.call_text(self)


_FRAME_FIELDS: dict[str, Any] = {
    **dict.fromkeys((*_ARRAYS, *_PLAIN)),
    "point": _ORIGIN,
    "is_center_of_mass": False,
    "turn_weight": (1.0, 1.0, 1.0),
    "slack": _ZERO,
    "turn_slack": _ZERO,
    "priority": 0,
}


def _rebuilt(*fields: Any) -> Goal:
    goal = object.__new__(Goal)
    for name in ("_frame", "_frames", "_given"):
        _set(goal, name, None)
    for name, value in zip(_FIELDS, fields, strict=True):
        if isinstance(value, np.ndarray):
            value = value.view()
            value.flags.writeable = False
        _set(goal, name, value)
    return goal


def take_rows(goal: Goal, shape: tuple[int, ...], indices: Any) -> Goal:
    """The goals of some of many problems of that shape, by their flat indices."""

    def rows(array: Array | None, last: int) -> Array | None:
        if array is None:
            return None
        tail = array.shape[array.ndim - last :]
        chosen: Array = np.broadcast_to(array, (*shape, *tail)).reshape(math.prod(shape), *tail)[indices]
        return chosen

    lasts = {"position": 1, "orientation": 2, "direction": 1, "look_at": 1, "pole": 1}
    fields = {name: getattr(goal, name) for name in _FIELDS}
    return _rebuilt(*({**fields, **{name: rows(fields[name], last) for name, last in lasts.items()}}.values()))


def with_numbers(goal: Goal, numbers: Mapping[str, Array], relative_to: str | None = None) -> Goal:
    """The same goal with other positions, orientations, directions, points to look at or poles, and in the axes of
    another link if it is given."""
    fields = {name: getattr(goal, name) for name in _FIELDS}
    link = fields["relative_to"] if relative_to is None else relative_to
    return _rebuilt(*({**fields, **numbers, "relative_to": link}.values()))


def with_priority(goal: Goal, priority: int) -> Goal:
    """The same goal with another priority."""
    fields = {name: getattr(goal, name) for name in _FIELDS}
    return _rebuilt(*({**fields, "priority": priority}.values()))


def replaced_link(goal: Goal, link: str) -> Goal:
    """The goal's axes and numbers for the origin of another link."""
    fields = {name: getattr(goal, name) for name in _FIELDS}
    return _rebuilt(*({**fields, "link": link, "point": _ORIGIN}.values()))
