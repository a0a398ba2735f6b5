"""GoalPath: frames along lines, arcs and splines, for an end effector to follow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple._arrays import nesting
from supple._motion import curve as curves
from supple._motion.curve import Arc, Cubics
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.goal import Goal

MAX_FRAMES = 10_000_000  # of one path; more is taken for a mistake
MAX_ANGLE = 1e6  # of a circle, in radians: its orientations are kept at every 1.5 rad


class GoalPath:
    """A path in space from s = 0 to s = 1, at constant speed. Immutable.

    Made by `line`, `arc`, `circle` and `spline` from waypoints: frames, or positions (3,) in metres. s is the fraction
    of the arc length, or of the rotation where only the orientation changes. The orientation goes from waypoint to
    waypoint at constant speed about one axis (slerp).

    >>> from supple import GoalPath
    >>> lift = GoalPath.line([0.4, 0, 0.1], [0.4, 0, 0.5])
    >>> lift.at(0.25).position
    array([0.4, 0. , 0.2])
    >>> print(lift)
    a line 0.4 m long, of positions
    """

    __slots__ = ("_curve", "_stops", "_turns", "kind")
    kind: str
    """``a line``, ``an arc`` or ``a spline``."""
    _curve: Arc | Cubics
    _stops: Array  # (m,) values of s at which the orientations are given
    _turns: Frame | None  # (m,)

    def __init__(self) -> None:
        raise TypeError("a path is made by GoalPath.line, GoalPath.arc, GoalPath.circle or GoalPath.spline")

    @classmethod
    def _of(cls, kind: str, curve: Arc | Cubics, stops: Array, turns: Frame | None) -> GoalPath:
        path = object.__new__(cls)
        for name, value in (("kind", kind), ("_curve", curve), ("_stops", stops), ("_turns", turns)):
            object.__setattr__(path, name, value)
        return path

    # -- constructors -------------------------------------------------------------------------------------------

    @classmethod
    def line(cls, *places: Frame | ArrayLike) -> GoalPath:
        """Straight lines from each waypoint to the next: two or more frames, or two or more positions (3,) in metres.

        >>> from supple import GoalPath
        >>> GoalPath.line([0, 0, 0], [1, 0, 0], [1, 1, 0]).length
        2.0
        """
        positions, turns = _places(places, 2)
        _apart(positions, turns)
        return cls._through("a line", curves.lines(positions), turns)

    @classmethod
    def spline(cls, *places: Frame | ArrayLike) -> GoalPath:
        """Through all waypoints without a corner: the natural cubic spline over the distances between them.

        >>> from supple import GoalPath
        >>> GoalPath.spline([0, 0, 0], [1, 1, 0], [2, 0, 0]).at(0.5).position.round(6)
        array([1., 1., 0.])
        """
        positions, turns = _places(places, 2)
        _apart(positions, None)
        return cls._through("a spline", curves.spline(positions), turns)

    @classmethod
    def arc(cls, start: Frame | ArrayLike, via: Frame | ArrayLike, end: Frame | ArrayLike) -> GoalPath:
        """Along the circle through three waypoints, from the first over the second to the third.

        >>> from supple import GoalPath
        >>> round(GoalPath.arc([1, 0, 0], [0, 1, 0], [-1, 0, 0]).length, 6)
        3.141593
        """
        positions, turns = _places((start, via, end), 3)
        curve, middle = curves.arc(positions)
        return cls._of("an arc", curve, np.array([0, middle, 1]), turns)

    @classmethod
    def circle(
        cls, start: Frame | ArrayLike, centre: ArrayLike, axis: ArrayLike = (0, 0, 1), angle: float = 2 * math.pi
    ) -> GoalPath:
        """Around an axis (3,) through a centre (3,) in metres, by an angle in radians, right-handed if positive.

        A frame as the start rotates about the axis too.

        >>> from supple import GoalPath
        >>> GoalPath.circle([1, 0, 0], centre=[0, 0, 0]).at(0.25).position.round(6)
        array([0., 1., 0.])
        """
        positions, turns = _places((start,), 1)
        around = _check.unit_vector(_check.vector(axis, 3, "axis"), 3, "axis")
        number = _check.real(angle)
        if not 0 < abs(number) < math.inf:
            raise BadInput(f"angle must be a finite number that is not 0, got {_check.short(angle)}")
        if abs(number) > MAX_ANGLE:
            raise BadInput(f"angle must be within {MAX_ANGLE:g} rad, got {_check.short(angle)}")
        angle = number
        curve = curves.circle(positions[0], _within(_check.vector(centre, 3, "centre")), around, angle)
        stops = np.linspace(0, 1, math.ceil(abs(angle) / 1.5) + 1)  # slerp is ambiguous at pi: steps of at most 1.5 rad
        if turns is not None:
            turns = Frame.rotvec(stops[:, None] * (angle * around)) @ turns
        return cls._of("an arc", curve, stops, turns)

    def facing(self, start: Frame | ArrayLike, end: Frame | ArrayLike | None = None) -> GoalPath:
        """The same path with another orientation, a Frame or (3, 3): constant, or turning evenly from start to end.

        >>> from supple import Frame, GoalPath
        >>> GoalPath.line([0, 0, 0], [1, 0, 0]).facing(Frame.turn([0, 1, 0], 0.5)).at(1)
        Frame at (1, 0, 0), turned 0.5 rad about (0, 1, 0)
        """
        turns = [_turn(start), _turn(start if end is None else end)]
        return GoalPath._of(
            self.kind, self._curve, np.array([0.0, 1.0]), Frame(np.stack([turn.matrix for turn in turns]))
        )

    @classmethod
    def _through(cls, kind: str, curve: Cubics, turns: Frame | None) -> GoalPath:
        stops = curve.stops
        if turns is not None and not curve.length:
            far = np.linalg.norm((turns[:-1].inverse() @ turns[1:]).to_rotvec(), axis=-1)
            stops = np.append(0, np.cumsum(far)) / far.sum() if far.any() else np.linspace(0, 1, len(turns))
        return cls._of(kind, curve, stops, turns)

    # -- frames along the path ----------------------------------------------------------------------------------

    @property
    def length(self) -> float:
        """Arc length, in metres."""
        return self._curve.length

    @property
    def turns(self) -> bool:
        """Whether the path has orientations; if not, the frames of `at` are not rotated, and `goal` gives positions."""
        return self._turns is not None

    def at(self, s: ArrayLike) -> Frame:
        """Frames (...) at fractions s (...) of the path; values below 0 or above 1 give the ends.

        >>> from supple import GoalPath
        >>> GoalPath.line([0, 0, 0], [1, 0, 0]).at([0, 0.5, 1]).position
        array([[0. , 0. , 0. ],
               [0.5, 0. , 0. ],
               [1. , 0. , 0. ]])
        """
        part = np.clip(_check.finite(_check.numbers(s, "s"), "s", ", from 0 to 1"), 0, 1)
        position = self._curve.at(part)
        if self._turns is None:
            return Frame.at(position)
        i = np.clip(np.searchsorted(self._stops, part, side="right") - 1, 0, len(self._stops) - 2)
        early, late = self._stops[i], self._stops[i + 1]
        begin, step = self._turns[:-1], (self._turns[:-1].inverse() @ self._turns[1:]).to_rotvec()
        far = ((part - early) / np.where(late > early, late - early, 1.0))[..., None]
        return Frame.at(position, begin[i] @ Frame.rotvec(far * step[i]))

    def sampled(self, frames: int) -> Frame:
        """The given number of frames, two or more, evenly spaced along the path, both ends included: (frames,).

        >>> from supple import GoalPath
        >>> GoalPath.line([0, 0, 0], [1, 0, 0]).sampled(5).shape
        (5,)
        """
        count = _check.whole(frames, "frames", 2)
        if count > MAX_FRAMES:
            raise BadInput(f"frames must be at most {MAX_FRAMES:,}, got {_check.short(frames)}")
        return self.at(np.linspace(0, 1, count))

    def goal(self, link: str, frames: int = 101, **options: Any) -> Goal:
        """Goals (frames,) of a link along the path, for `solve_path`: frames, or positions if it has no orientations.

        ``options`` are those of `Goal`, such as ``weight=(1, 1, 0)`` or ``point=(0, 0, 0.1)``.

        >>> from supple import GoalPath
        >>> GoalPath.line([0, 0, 0], [1, 0, 0]).goal("tip", frames=11).shape
        (11,)
        """
        if isinstance(frames, str):
            written = f"path.goal({_check.short(frames)}, {_check.short(link)})"
            raise BadInput(f"the link comes first: write {written}")
        wanted = self.sampled(frames)
        return Goal(link, wanted, **options) if self.turns else Goal(link, position=wanted.position, **options)

    # -- an immutable value -------------------------------------------------------------------------------------

    def _value(self) -> tuple[object, ...]:
        turns = None if self._turns is None else (self._stops.tobytes(), self._turns)
        return self.kind, self._curve.value(), turns

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a GoalPath does not change; make another")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GoalPath) and self._value() == other._value()

    def __hash__(self) -> int:
        return hash(self._value())

    def __reduce__(self) -> tuple[object, ...]:
        return GoalPath._of, (self.kind, self._curve, self._stops, self._turns)

    def __str__(self) -> str:
        if self._turns is None:
            return f"{self.kind} {self.length:.4g} m long, of positions"
        far = np.linalg.norm((self._turns[:-1].inverse() @ self._turns[1:]).to_rotvec(), axis=-1).sum()
        return f"{self.kind} {self.length:.4g} m long, turning {far:.4g} rad"

    def __repr__(self) -> str:
        return f"<GoalPath: {self}>"


def _within(positions: Array) -> Array:
    """The positions, if the squares of their distances are finite."""
    if not (np.abs(positions) <= _check.LARGEST).all():
        raise BadInput(f"the positions of a path must be within {_check.LARGEST:g} m")
    return positions


def _places(places: Sequence[Frame | ArrayLike], least: int) -> tuple[Array, Frame | None]:
    """Positions (n, 3) of waypoints and, if they are frames, their orientations (n,)."""
    if len(places) < least:
        raise BadInput(f"a path needs {least} waypoints or more, got {len(places)}")
    framed = [isinstance(place, Frame) or _shape(place) == (4, 4) for place in places]
    if all(framed):
        frames = [Frame(place) for place in places]
        if any(frame.shape for frame in frames):
            raise BadInput("a waypoint must be a single frame; give many one by one: GoalPath.line(*frames)")
        whole = Frame(np.stack([frame.matrix for frame in frames]))
        return _within(whole.position), Frame.at(np.zeros(3), whole)
    if any(framed):
        raise BadInput("the waypoints of a path must all be frames, or all be positions of shape (3,)")
    return _within(np.stack([_check.vector(place, 3, "a position") for place in places])), None


def _apart(positions: Array, turns: Frame | None) -> None:
    """Refuse two equal positions in a row, unless only the orientation changes along the whole path."""
    still = np.flatnonzero((np.diff(positions, axis=0) == 0).all(axis=1))
    if len(still) and not (turns is not None and len(still) == len(positions) - 1):
        i = int(still[0])
        raise BadInput(
            f"waypoints {i} and {i + 1} are at the same position: at constant speed no time passes between them"
        )


def _turn(value: Frame | ArrayLike) -> Frame:
    turn = Frame.at(np.zeros(3), value)
    if turn.shape:
        raise BadInput(f"an orientation must be a single Frame or have shape (3, 3), not {turn.shape}")
    return turn


def _shape(value: Any) -> tuple[int, ...]:
    try:
        return nesting.shape(value)
    except _check.NOT_CONVERTED:  # rows of different lengths
        return ()
