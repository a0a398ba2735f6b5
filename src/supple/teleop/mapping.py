"""Mapping: how the operator's hand becomes a goal."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import BadInput, unknown
from supple.frame import Array, Frame, finite
from supple.teleop.filter import OneEuro

Axes = Literal["world", "tool", "view"]


class Mapping:
    """How one hand becomes the goal of one link: scaling and indexing [D, section 7].

    At the grip the hand H0 and the goal G0 are remembered. While gripped, with A the turn from the operator's axes to
    the world's:

        position    = p(G0) + scale A (p(H) - p(H0))
        orientation = A R(H) R(H0)^-1 A^-1 R(G0)

    so at the grip the goal is G0: nothing jumps. Scale counts for translation only; a turn is never scaled. A is

        "world"  C                     the hand moves along its x, the goal moves along the world's x
        "tool"   R(G0) C R(H0)^-1      what the hand does in its own axes, the end effector does in its own
        "view"   V C                   what is right and up for the hand is right and up on the screen

    with C the turn of `calibration` and V that of `view`. All four may be set at any time, also while gripped and from
    another thread: the mapping goes on from where hand and goal are then.
    """

    _hand: Frame  # the newest, smoothed
    _free: Array  # where the goal would be without a box
    _rotation: Array  # of the goal
    _hand_start: Array
    _start: Array

    def __init__(
        self,
        scale: float = 1.0,
        axes: Axes = "world",
        calibration: Frame = Frame(),
        view: Frame = Frame(),
        box: tuple[ArrayLike, ArrayLike] | None = None,
        filter: OneEuro | None = None,
    ) -> None:
        """A mapping that nobody holds yet.

        Args:
            scale: metres of the goal for a metre of the hand; finite and positive.
            axes: in whose axes the hand is read: "world", "tool" or "view".
            calibration: from the operator's axes to the world's. Its position has no part: only changes count.
            view: axes of the eye in the world: x to its right, y up, z towards the eye.
            box: lowest and highest position (3,) of a goal, in metres in world axes; None: anywhere. A goal that is
                already outside may only come nearer, so that a box never moves it.
            filter: smooths the hand; see `OneEuro` for its lag. It belongs to this mapping alone.
        """
        self.scale, self.axes, self.calibration, self.view = scale, axes, calibration, view
        self.filter = filter
        self.box = None if box is None else _box(*box)
        self._gripped = False

    @property
    def scale(self) -> float:
        """Metres of the goal for a metre of the hand."""
        return self._scale

    @scale.setter
    def scale(self, value: float) -> None:
        if not (isinstance(value, int | float | np.number) and math.isfinite(value) and value > 0):
            raise BadInput(f"scale must be finite and positive, got {value!r}")
        self._scale = float(value)

    @property
    def axes(self) -> Axes:
        """In whose axes the hand is read: "world", "tool" or "view"."""
        return self._axes

    @axes.setter
    def axes(self, value: Axes) -> None:
        if value not in get_args(Axes):
            raise unknown("axes", value, get_args(Axes))
        self._axes: Axes = value

    @property
    def calibration(self) -> Frame:
        """From the operator's axes to the world's."""
        return self._calibration

    @calibration.setter
    def calibration(self, value: Frame) -> None:
        self._calibration = _single(value, "calibration")

    @property
    def view(self) -> Frame:
        """The axes of the eye in the world, for axes="view": x to its right, y up, z towards the eye."""
        return self._view

    @view.setter
    def view(self, value: Frame) -> None:
        self._view = _single(value, "view")

    @property
    def gripped(self) -> bool:
        """Whether a hand holds on."""
        return self._gripped

    def grip(self, hand: Frame, goal: Frame, t: float = math.nan) -> None:
        """A hand takes hold: from now on its changes move the goal, which is at `goal` now.

        Args:
            hand: the hand's frame in the operator's own axes, taken at time t.
            goal: the goal's frame in the world.
            t: seconds on any clock; only the filter asks for it.
        """
        if self.filter is not None:
            self.filter.begin(hand, t)
        self._at = goal.position
        self._anchor(hand, goal.position, goal.rotation)
        self._gripped = True

    def release(self) -> None:
        """The hand lets go."""
        self._gripped = False

    def goal(self, hand: Frame, t: float = math.nan) -> Frame:
        """The goal's frame in the world for a gripped hand, taken at time t; both as in `grip`."""
        if not self._gripped:
            raise BadInput("no hand holds on: grip first")
        if self._settings() != self._used:
            self._anchor(self._hand, self._free, self._rotation)
        self._hand = hand = hand if self.filter is None else self.filter.smooth(hand, t)
        self._free = self._start + self._way @ (hand.position - self._hand_start)
        # products of rotations drift; one step of Newton's method towards the nearest rotation
        r = self._turn @ hand.rotation @ self._turn_start
        self._rotation = r @ (_ONE_AND_A_HALF - 0.5 * (r.T @ r))
        self._at = self._bounded(self._free)
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = self._rotation, self._at
        matrix.flags.writeable = False
        return Frame._trusted(matrix)

    def _anchor(self, hand: Frame, position: Array, rotation: Array) -> None:
        """Hand and goal belong together from here on; `position` is where the goal would be without a box."""
        scale, axes, calibration, view = self._used = self._settings()
        turn = calibration.rotation
        if axes == "tool":
            turn = rotation @ turn @ hand.rotation.T
        elif axes == "view":
            turn = view.rotation @ turn
        self._turn, self._way = turn, scale * turn
        self._turn_start = hand.rotation.T @ turn.T @ rotation
        self._hand, self._hand_start = hand, hand.position
        self._start = self._free = position
        self._rotation = rotation

    def _settings(self) -> tuple[float, Axes, Frame, Frame]:
        return self._scale, self._axes, self._calibration, self._view

    def _bounded(self, position: Array) -> Array:
        if self.box is None:
            return position
        low, high = self.box
        bounded: Array = np.minimum(np.maximum(position, np.minimum(low, self._at)), np.maximum(high, self._at))
        return bounded

    def __repr__(self) -> str:
        parts = [f"scale={self.scale:g}", f"axes={self.axes!r}"]
        if self.box is not None:
            parts.append(f"box=({self.box[0].tolist()}, {self.box[1].tolist()})")
        if self.filter is not None:
            parts.append(f"filter={self.filter!r}")
        return f"<Mapping({', '.join(parts)}), {'gripped' if self._gripped else 'free'}>"


_ONE_AND_A_HALF = 1.5 * np.eye(3)


def _single(value: Frame, what: str) -> Frame:
    if not (isinstance(value, Frame) and value.shape == ()):
        raise BadInput(f"{what} must be a single Frame, got {value!r}")
    return value


def _box(low: ArrayLike, high: ArrayLike) -> tuple[Array, Array]:
    lowest, highest = finite(low, 3, "lowest corner of the box"), finite(high, 3, "highest corner of the box")
    if lowest.shape != (3,) or highest.shape != (3,) or not (lowest <= highest).all():
        raise BadInput(f"a box is its lowest and its highest corner, got {low!r} and {high!r}")
    return lowest, highest
