"""Mapping: turns the motion of the operator's hand into the motion of a goal."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from supple import _check, _renamed
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.teleop.filter import OneEuro

Axes = Literal["world", "tool", "view"]
_ONE_AND_A_HALF = 1.5 * np.eye(3)


@_renamed.answers_old_names
class Mapping(metaclass=_renamed.HidesOldNames):
    """How one hand moves the goal of one link: scaling and indexing [D, section 7].

    A *hand* is the pose of one device. When it is engaged, its frame H0 and the goal G0 are stored. While it is
    engaged, with A the rotation from the operator's axes to the world's:

        position    = p(G0) + scale A (p(H) - p(H0))
        orientation = A R(H) R(H0)^-1 A^-1 R(G0)

    At the moment of engaging the goal is G0, so it does not jump. The scale applies to translation only, never to
    rotation. A is

        "world"  C                     motion along the hand's x moves the goal along the world's x
        "tool"   R(G0) C R(H0)^-1      motion in the hand's axes moves the end effector in its own axes
        "view"   V C                   right and up for the hand are right and up on the screen

    with C the rotation of `calibration` and V that of `view`. `scale`, `axes`, `calibration` and `view` may be set at
    any time, also while engaged and from another thread: the mapping continues from the current hand and goal.
    """

    _hand: Frame  # the newest, filtered
    _unbounded: Array  # position of the goal without the box
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
        gripper_speed: float = 2.0,
        gripper_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        """A mapping that is not engaged.

        Args:
            scale: metres of the goal for a metre of the hand; finite and positive.
            axes: the axes in which the hand's motion is read: "world", "tool" or "view".
            calibration: rotation from the operator's axes to the world's; its position is ignored.
            view: axes of the camera in the world: x to its right, y up, z towards the camera.
            box: lowest and highest position (3,) of a goal, in metres in world axes; None: unlimited. A goal that is
                already outside is not moved by the box; it may only come nearer.
            filter: smooths the hand; see `OneEuro` for its lag. It must not be shared with another mapping.
            gripper_speed: most openings per second of the gripper: 2.0 opens it fully in half a second.
            gripper_range: what 0 and 1 of the operator are for the gripper, both within 0 closed and 1 open:
                ``(0.2, 0.8)`` for less than its whole way, ``(1, 0)`` for a lever that works the other way round.
        """
        self.scale, self.axes, self.calibration, self.view = scale, axes, calibration, view
        self.filter = None if filter is None else _check.instance(filter, OneEuro, "filter", "OneEuro()")
        self.box = None if box is None else _box(box)
        self.gripper_speed, self.gripper_range = gripper_speed, gripper_range
        self._engaged = False

    @property
    def gripper_speed(self) -> float:
        """Most openings per second of the gripper; one opening is its whole way."""
        return self._gripper_speed

    @gripper_speed.setter
    def gripper_speed(self, value: float) -> None:
        self._gripper_speed = _check.positive(value, "gripper_speed", "openings per second")

    @property
    def gripper_range(self) -> tuple[float, float]:
        """What 0 and 1 of the operator are for the gripper, within 0 closed and 1 open."""
        return self._gripper_range

    @gripper_range.setter
    def gripper_range(self, value: tuple[float, float]) -> None:
        low, high = (float(end) for end in _check.vector(value, 2, "gripper_range"))
        if not (0 <= low <= 1 and 0 <= high <= 1):
            raise BadInput(f"gripper_range must lie within 0 (closed) and 1 (open), got {_check.short(value)}")
        self._gripper_range = (low, high)

    @property
    def scale(self) -> float:
        """Metres of the goal for a metre of the hand."""
        return self._scale

    @scale.setter
    def scale(self, value: float) -> None:
        self._scale = _check.positive(value, "scale")

    @property
    def axes(self) -> Axes:
        """The axes in which the hand's motion is read: "world", "tool" or "view"."""
        return self._axes

    @axes.setter
    def axes(self, value: Axes) -> None:
        _check.one_of(value, "axes", get_args(Axes))
        self._axes: Axes = value

    @property
    def calibration(self) -> Frame:
        """Rotation from the operator's axes to the world's."""
        return self._calibration

    @calibration.setter
    def calibration(self, value: Frame) -> None:
        self._calibration = _single(value, "calibration")

    @property
    def view(self) -> Frame:
        """Axes of the camera in the world, for axes="view": x to its right, y up, z towards the camera."""
        return self._view

    @view.setter
    def view(self, value: Frame) -> None:
        self._view = _single(value, "view")

    @property
    def engaged(self) -> bool:
        """Whether the hand moves the goal."""
        return self._engaged

    def engage(self, hand: Frame, goal: Frame, t: float = math.nan) -> None:
        """Connects hand and goal: from now on the hand's motion moves the goal.

        Args:
            hand: the hand's frame in the operator's axes, at time t.
            goal: the goal's frame in the world.
            t: seconds on any clock; used by the filter only.
        """
        hand, goal = _single(hand, "hand"), _single(goal, "goal")
        if self.filter is not None:
            self.filter.begin(hand, t)
        self._position = goal.position
        self._connect(hand, goal.position, goal.rotation)
        self._engaged = True

    def release(self) -> None:
        """Disconnects hand and goal: the goal stays."""
        self._engaged = False

    def goal(self, hand: Frame, t: float = math.nan) -> Frame:
        """The goal's frame in the world for an engaged hand; arguments as in `engage`."""
        if not self._engaged:
            raise BadInput("no hand is engaged: call engage first")
        hand = _single(hand, "hand")
        if self._settings() != self._used:
            self._connect(self._hand, self._unbounded, self._rotation)
        self._hand = hand = hand if self.filter is None else self.filter.smooth(hand, t)
        self._unbounded = self._start + self._scaled_turn @ (hand.position - self._hand_start)
        # rounding makes products of rotations drift; one Newton step to the nearest rotation: R (3 I - R' R) / 2
        r = self._turn @ hand.rotation @ self._turn_start
        self._rotation = r @ (_ONE_AND_A_HALF - 0.5 * (r.T @ r))
        self._position = self._bounded(self._unbounded)
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = self._rotation, self._position
        matrix.flags.writeable = False
        return Frame._trusted(matrix)

    def move_gripper(self, opening: float, wanted: float, dt: float) -> float:
        """The opening of the gripper after dt seconds: towards what the operator wants, within `gripper_speed`.

        Args:
            opening: how far it is open, 0 closed to 1 open; nan if that is not known, then the wanted one is taken.
            wanted: the operator's value, 0 to 1; `gripper_range` says what it means for the gripper.
            dt: time step in seconds.
        """
        opening, dt = _check.finite_or_not(opening, "opening"), _check.finite_or_not(dt, "dt")
        wanted = _check.finite_or_not(wanted, "wanted")
        low, high = self._gripper_range
        end = low + (high - low) * min(max(wanted, 0.0), 1.0)
        if math.isnan(opening):
            return end
        step = self._gripper_speed * max(dt, 0.0)
        return min(max(end, opening - step), opening + step)

    def _connect(self, hand: Frame, position: Array, rotation: Array) -> None:
        """Stores H0 and G0, and A for the current settings; ``position`` is that of the goal without the box."""
        scale, axes, calibration, view = self._used = self._settings()
        turn = calibration.rotation
        if axes == "tool":
            turn = rotation @ turn @ hand.rotation.T
        elif axes == "view":
            turn = view.rotation @ turn
        self._turn, self._scaled_turn = turn, scale * turn
        self._turn_start = hand.rotation.T @ turn.T @ rotation
        self._hand, self._hand_start = hand, hand.position
        self._start = self._unbounded = position
        self._rotation = rotation

    def _settings(self) -> tuple[float, Axes, Frame, Frame]:
        return self._scale, self._axes, self._calibration, self._view

    def _bounded(self, position: Array) -> Array:
        """The position within the box, or within the box extended to the last position if that is outside."""
        if self.box is None:
            return position
        low, high = np.minimum(self.box[0], self._position), np.maximum(self.box[1], self._position)
        bounded: Array = np.minimum(np.maximum(position, low), high)
        return bounded

    def __repr__(self) -> str:
        parts = [f"scale={self.scale:g}", f"axes={self.axes!r}"]
        if self.box is not None:
            parts.append(f"box=({self.box[0].tolist()}, {self.box[1].tolist()})")
        if self.filter is not None:
            parts.append(f"filter={self.filter!r}")
        return f"<Mapping({', '.join(parts)}), {'engaged' if self._engaged else 'released'}>"


def _single(value: Frame, what: str) -> Frame:
    if not (isinstance(value, Frame) and value.shape == ()):
        raise BadInput(f"{what} must be a single Frame, got {_check.short(value)}")
    return value._kept()


def _box(box: tuple[ArrayLike, ArrayLike]) -> tuple[Array, Array]:
    if not isinstance(box, tuple | list | np.ndarray) or len(box) != 2:
        raise BadInput(f"a box is its lowest and its highest corner, got {_check.short(box)}")
    low, high = box
    lowest = _check.vector(low, 3, "lowest corner of the box")
    highest = _check.vector(high, 3, "highest corner of the box")
    if not (lowest <= highest).all():
        raise BadInput(f"a box is its lowest and its highest corner, got {_check.short(low)} and {_check.short(high)}")
    return lowest, highest
