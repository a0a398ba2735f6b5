"""Paths: frames along lines, arcs and splines, for end effectors to follow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple._motion import curve as curves
from supple._motion.curve import Arc, Cubics
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.goal import Goal


class GoalPath:
    """A way through space that begins at s = 0, ends at s = 1 and goes at constant speed. A frozen value.

    Made by `line`, `arc`, `circle` and `spline`, from places: frames, or positions (3,) in metres if only those
    matter. s is the part of the arc length; where nothing but the orientation changes, it is the part of the turn.
    Orientations turn from place to place at a constant speed about one axis (slerp).

    >>> lift = GoalPath.line([0.4, 0, 0.1], [0.4, 0, 0.5])
    >>> lift.at(0.25).position
    array([0.4, 0. , 0.2])
    >>> print(lift)
    a line 0.4 m long, of positions
    """

    __slots__ = ("_curve", "_stops", "_turns", "kind")
    kind: str
    """What it is: a line, an arc or a spline."""
    _curve: Arc | Cubics
    _stops: Array  # (m,) where along the path the orientations stand
    _turns: Frame | None  # (m,)

    def __init__(self) -> None:
        raise TypeError("a path is made by GoalPath.line, GoalPath.arc, GoalPath.circle or GoalPath.spline")

    @classmethod
    def _of(cls, kind: str, curve: Arc | Cubics, stops: Array, turns: Frame | None) -> GoalPath:
        path = object.__new__(cls)
        for name, value in (("kind", kind), ("_curve", curve), ("_stops", stops), ("_turns", turns)):
            object.__setattr__(path, name, value)
        return path

    # -- making one ---------------------------------------------------------------------------------------------

    @classmethod
    def line(cls, *places: Frame | ArrayLike) -> GoalPath:
        """Straight from each place to the next: two or more frames, or two or more positions (3,)."""
        positions, turns = _places(places, 2)
        _apart(positions, turns)
        return cls._through("a line", curves.lines(positions), turns)

    @classmethod
    def spline(cls, *places: Frame | ArrayLike) -> GoalPath:
        """Through all places without a corner: the natural cubic spline over the distances between them."""
        positions, turns = _places(places, 2)
        _apart(positions, None)
        return cls._through("a spline", curves.spline(positions), turns)

    @classmethod
    def arc(cls, start: Frame | ArrayLike, via: Frame | ArrayLike, end: Frame | ArrayLike) -> GoalPath:
        """Along the circle through three places, from the first over the second to the third."""
        positions, turns = _places((start, via, end), 3)
        curve, middle = curves.arc(positions)
        return cls._of("an arc", curve, np.array([0, middle, 1]), turns)

    @classmethod
    def circle(
        cls, start: Frame | ArrayLike, centre: ArrayLike, axis: ArrayLike = (0, 0, 1), angle: float = 2 * math.pi
    ) -> GoalPath:
        """Around an axis (3,) through a centre (3,), by an angle in radians; a frame turns along, like a door's handle.

        The right hand's fingers show the way round if its thumb is the axis; a negative angle goes the other way.
        """
        positions, turns = _places((start,), 1)
        around = curves.unit(_row(axis, "axis"), "axis")
        if not (isinstance(angle, int | float | np.number) and angle and math.isfinite(angle)):
            raise BadInput(f"angle must be a finite number that is not 0, got {angle!r}")
        curve = curves.circle(positions[0], _row(centre, "centre"), around, float(angle))
        stops = np.linspace(0, 1, math.ceil(abs(angle) / 1.5) + 1)  # each turn well below half, where slerp is unsure
        if turns is not None:
            turns = Frame.rotvec(stops[:, None] * (angle * around)) @ turns
        return cls._of("an arc", curve, stops, turns)

    def facing(self, start: Frame | ArrayLike, end: Frame | ArrayLike | None = None) -> GoalPath:
        """The same way with another orientation, a Frame or (3, 3): constant, or turning evenly to one at the end."""
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

    # -- asking it ----------------------------------------------------------------------------------------------

    @property
    def length(self) -> float:
        """How long it is, in metres."""
        return self._curve.length

    @property
    def turns(self) -> bool:
        """Whether it has orientations; without, its frames are not turned and its goals are positions."""
        return self._turns is not None

    def at(self, s: ArrayLike) -> Frame:
        """Frames (...) at parts s (...) of the way, from 0 to 1; what is below or above stands at the ends."""
        try:
            part = np.array(s, dtype=float)
        except (TypeError, ValueError) as error:
            raise BadInput(f"s must be numbers from 0 to 1: {error}") from None
        if not np.isfinite(part).all():
            raise BadInput("s must be finite, from 0 to 1")
        part = np.clip(part, 0, 1)
        position = self._curve.at(part)
        if self._turns is None:
            return Frame.at(position)
        i = np.clip(np.searchsorted(self._stops, part, side="right") - 1, 0, len(self._stops) - 2)
        early, late = self._stops[i], self._stops[i + 1]
        begin, step = self._turns[:-1], (self._turns[:-1].inverse() @ self._turns[1:]).to_rotvec()
        far = ((part - early) / np.where(late > early, late - early, 1.0))[..., None]
        return Frame.at(position, begin[i] @ Frame.rotvec(far * step[i]))

    def sampled(self, frames: int) -> Frame:
        """That many frames (frames,), evenly along the way, both ends among them; two or more."""
        if not isinstance(frames, int | np.integer) or isinstance(frames, bool) or frames < 2:
            raise BadInput(f"frames must be a whole number of at least 2, got {frames!r}")
        return self.at(np.linspace(0, 1, frames))

    def goal(self, link: str, frames: int = 101, **options: Any) -> Goal:
        """The goals for a link, one for each frame, for `solve_path`: frames, or positions if it has no turns.

        ``options`` are those of `Goal`, such as ``weight=(1, 1, 0)`` or ``point=(0, 0, 0.1)``.
        """
        wanted = self.sampled(frames)
        return Goal(link, wanted, **options) if self.turns else Goal(link, position=wanted.position, **options)

    # -- being a value ------------------------------------------------------------------------------------------

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


def _places(places: Sequence[Frame | ArrayLike], least: int) -> tuple[Array, Frame | None]:
    """Positions (n, 3) and, of frames, orientations (n,)."""
    if len(places) < least:
        raise BadInput(f"a path needs {least} places or more, got {len(places)}")
    framed = [isinstance(place, Frame) or _shape(place) == (4, 4) for place in places]
    if all(framed):
        frames = [Frame(place) for place in places]
        if any(frame.shape for frame in frames):
            raise BadInput("a place must be a single frame; give many one by one: GoalPath.line(*frames)")
        whole = Frame(np.stack([frame.matrix for frame in frames]))
        return whole.position, Frame.at(np.zeros(3), whole)
    if any(framed):
        raise BadInput("the places of a path must all be frames, or all be positions of shape (3,)")
    return np.stack([_row(place, "a position") for place in places]), None


def _apart(positions: Array, turns: Frame | None) -> None:
    """Refuse a place twice in a row, unless nothing but the orientation changes all the way."""
    still = np.flatnonzero((np.diff(positions, axis=0) == 0).all(axis=1))
    if len(still) and not (turns is not None and len(still) == len(positions) - 1):
        i = int(still[0])
        raise BadInput(f"places {i} and {i + 1} are at the same position: at constant speed there is no time between")


def _row(value: ArrayLike | Frame, what: str) -> Array:
    try:
        row = np.array(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{what} must be three numbers, in metres: {error}") from None
    if row.shape != (3,) or not np.isfinite(row).all():
        raise BadInput(f"{what} must be three finite numbers, in metres; got {row.tolist()}")
    return row


def _turn(value: Frame | ArrayLike) -> Frame:
    turn = Frame.at(np.zeros(3), value)
    if turn.shape:
        raise BadInput(f"an orientation must be a single Frame or have shape (3, 3), not {turn.shape}")
    return turn


def _shape(value: Any) -> tuple[int, ...]:
    try:
        return np.shape(value)
    except ValueError:  # rows of different lengths
        return ()
