"""RobotKinematics for LeRobot: its class with the same methods and units, on the tracker of supple."""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple._find import find
from supple.errors import BadInput, unknown
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.linkage import Linkage
from supple.solver import Solver
from supple.step import Step
from supple.teleop.servo import Motor
from supple.tracker import Recover, Tracker

__all__ = ["ACCELERATION", "RobotKinematics", "motors"]
ACCELERATION = 40.0
"""rad/s^2: LeRobot sets a Feetech STS3215 to this: 254 times 100 steps/s^2, with 4096 steps per turn."""
_FASTEST = 1e4  # calls per second
_LONGEST = 0.1  # s; a call counts as at most so long after the one before
_PAUSE = 0.5  # s without a call after which the arm may have been moved by someone else
_MOVED = math.radians(3)  # what counts as moved in such a pause
_AWAY = math.radians(45)  # farther than commands get ahead of a blocked arm: someone else moves the arm
_FARTHEST = 1e6  # degrees; a value beyond it is an error of the reading
_RECENT = 0.3  # s; an arm follows its commands with a shorter delay
PerJoint = float | Sequence[float] | Mapping[str, float]
"""One number for all joints, one for each, or by name those that differ from the default."""
_TURN_WEIGHTS = (0.1, 1.0)  # the constants of the tracking law are for weights of this size


class RobotKinematics:
    """Forward and inverse kinematics in degrees, for the classes of LeRobot that take its ``RobotKinematics``.

    Each call of `inverse_kinematics` takes one step of a `Tracker`. So joints keep their limits of position, speed and
    acceleration, an arm that is commanded out of reach rests at the nearest pose, and nothing jumps. If an arm has too
    few joints for a whole frame, its position comes first. `step` has the status and the reason of the last call.

    Threads: it changes with every call, so only one thread may use it.

    >>> import numpy as np
    >>> from supple.integrations.lerobot import RobotKinematics
    >>> arm = RobotKinematics("so101", joint_names=["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex"])
    >>> now = np.array([0.0, -20, 30, 50, 42])          # degrees of four joints, and a gripper
    >>> pose = arm.forward_kinematics(now)
    >>> pose[2, 3] += 0.01                              # 1 cm up
    >>> for _ in range(30):
    ...     now = arm.inverse_kinematics(now, pose)
    >>> bool(abs(arm.forward_kinematics(now) - pose)[:3, 3].max() < 1e-6), now[4]
    (True, np.float64(42.0))
    """

    joint_names: list[str]
    """The joints whose angles are given and returned, in this order."""
    target_frame_name: str
    """The link that is moved."""
    linkage: Linkage
    """The chain from the base to that link, with the joints that move it."""
    motors: tuple[Motor, ...]
    """How the angles of `joint_names` in degrees become joint values in radians."""
    _tracker: Tracker | None
    _last: Array | None  # the last result
    _commands: deque[Array]  # joint values of the last results
    _called: float  # when, in seconds of the monotonic clock
    step: Step | None
    """The last step of the tracker: its status, error and reason. None before the first call, and after `reset`."""

    def __init__(
        self,
        urdf_path: str | os.PathLike[str] | Linkage,
        target_frame_name: str = "gripper_frame_link",
        joint_names: Sequence[str] | None = None,
        *,
        sign: PerJoint | None = None,
        offset: PerJoint | None = None,
        fps: float | None = 30.0,
        acceleration: ArrayLike = ACCELERATION,
        jerk: ArrayLike | None = None,
        smooth: float = 0.0,
        recover: Recover = "slow",
        speed: float | None = None,
        turn_speed: float | None = None,
        speed_scale: float | None = None,
        margin: ArrayLike | None = None,
    ) -> None:
        """Kinematics of one arm; the first three arguments are those of LeRobot.

        Args:
            urdf_path: a robot description, the name of a bundled model such as "so101", or a `Linkage`.
            target_frame_name: the link that is moved.
            joint_names: the joints in the order of the values; by default all of the description. Other joints of the
                chain stay at 0.
            sign: -1 for a motor that turns in the other direction than its joint, else 1: one number, one for each of
                ``joint_names``, or by name. joint = sign (motor - offset).
            offset: reading of a motor when its joint is at 0 in the description, in degrees; given like ``sign``.
            fps: calls per second; None to measure the time between calls. A longer pause counts as 0.1 s.
            acceleration: bound for each joint of `linkage`, in rad/s^2; that of the description, if it has a lower one.
                This and the options after it are those of `Solver.track`, in radians.
            jerk: as in `Solver.track`.
            smooth: as in `Solver.track`.
            recover: as in `Solver.track`.
            speed: as in `Solver.track`.
            turn_speed: as in `Solver.track`.
            speed_scale: as in `Solver.track`.
            margin: as in `Solver.track`.
        """
        whole = urdf_path if isinstance(urdf_path, Linkage) else _described(urdf_path)
        self.joint_names = _names(whole.names if joint_names is None else joint_names, "joint_names")
        for name in self.joint_names:
            if name not in whole.names:
                raise unknown("joint", name, whole.names)
        self.target_frame_name = whole.link(target_frame_name).name
        self.linkage = _chain(whole, self.target_frame_name, self.joint_names)
        self._columns = [self.joint_names.index(name) for name in self.linkage.names]
        self.motors = motors(self.joint_names, sign, offset)
        rate = None if fps is None else _check.positive(fps, "fps", "calls per second")
        if rate is not None and rate > _FASTEST:
            raise BadInput(f"fps must be at most {_FASTEST:g} calls per second, got {_check.short(fps)}")
        self._dt = None if rate is None else min(1 / rate, _LONGEST)
        self._options: dict[str, Any] = {
            "acceleration": acceleration,
            "jerk": jerk,
            "smooth": smooth,
            "recover": recover,
            "speed": speed,
            "turn_speed": turn_speed,
            "speed_scale": speed_scale,
            "margin": margin,
        }
        self._track(self._goal(1.0, 0.01), self.linkage.rest)  # wrong options raise here
        self.reset()

    def forward_kinematics(self, joint_pos_deg: ArrayLike) -> Array:
        """Frame (4, 4) of the target in the axes of the base, in metres.

        Args:
            joint_pos_deg: angles of `joint_names` in degrees; more values after them are ignored.

        >>> from supple.integrations.lerobot import RobotKinematics
        >>> RobotKinematics("so101").forward_kinematics([0, 0, 0, 0, 0, 0])[:3, 3].round(3) + 0
        array([0.391, 0.   , 0.226])
        """
        return np.array(self.linkage.frame(self._joints(self._values(joint_pos_deg)), self.target_frame_name).matrix)

    def inverse_kinematics(
        self,
        current_joint_pos: ArrayLike,
        desired_ee_pose: ArrayLike,
        position_weight: float = 1.0,
        orientation_weight: float = 0.01,
    ) -> Array:
        """Joint angles for the next period, in degrees, on the way to a pose; all are finite.

        Args:
            current_joint_pos: measured angles of `joint_names` in degrees, or the last result. More values after them,
                and joints that do not move the target, are returned as they are. The tracker goes on from its own
                values, unless these are far away from what was commanded. Values that are not finite count as the last.
            desired_ee_pose: frame (4, 4) of the target. One that is not finite stops the arm.
            position_weight: 0 leaves the position free.
            orientation_weight: 0 leaves the orientation free. For an arm that can meet whole frames, the two are the
                weights of the squared errors, in metres and radians, where a pose is out of reach; the orientation
                counts at most as half a turn over the reach. For others, as with five joints, the position comes first.
                With other weights than before, the tracker begins again at rest.

        >>> import numpy as np
        >>> from supple.integrations.lerobot import RobotKinematics
        >>> arm, degrees = RobotKinematics("so101"), np.array([0.0, -20, 35, 40, 5, 42])
        >>> arm.inverse_kinematics(degrees, np.full((4, 4), np.nan)).round(6).tolist()    # no pose: it stays
        [0.0, -20.0, 35.0, 40.0, 5.0, 42.0]
        """
        values = self._values(current_joint_pos)
        if self._last is not None and len(self._last) == len(values):
            values = np.where(np.abs(values) < _FARTHEST, values, self._last)
        if not (np.abs(values) < _FARTHEST).all():
            raise BadInput(f"current_joint_pos must be finite at the first call, got {_check.short(current_joint_pos)}")
        pose = _check.numbers(desired_ee_pose, "desired_ee_pose", "(4, 4)")
        if pose.shape != (4, 4):
            raise BadInput(f"desired_ee_pose must have shape (4, 4), not {pose.shape}")
        goal, measured, dt = self._goal(position_weight, orientation_weight), self._joints(values), self._elapsed()
        self.step = self._tracker_at(goal, measured).step(pose, dt, measured=measured)
        self._commands.append(self.step.q)
        for column, value in zip(self._columns, self.step.q, strict=True):
            values[column] = self.motors[column].to_motor(float(value))
        self._last = values.copy()
        return values

    def reset(self) -> None:
        """Forgets what was commanded: the next call begins at its ``current_joint_pos``, at rest.

        >>> from supple.integrations.lerobot import RobotKinematics
        >>> RobotKinematics("so101").reset()
        """
        self.step = self._tracker = self._last = None
        self._called = -math.inf
        rate = 1 / (self._dt or _LONGEST)
        self._commands = deque(maxlen=max(math.ceil(_RECENT * rate), 2))

    # -- the tracker --------------------------------------------------------------------------------------------------

    def _tracker_at(self, goal: Goal, measured: Array) -> Tracker:
        """The tracker for a goal; it begins at the measured joint values (dof,) if the arm is not where it was sent."""
        tracker = self._tracker
        if tracker is not None and self._moved_away(tracker, measured):
            tracker.reset(measured)
            self._commands.clear()
        if tracker is None or goal != tracker.goals[0]:
            tracker = self._track(goal, measured if tracker is None else tracker.q)
        self._tracker = tracker
        return tracker

    def _moved_away(self, tracker: Tracker, measured: Array) -> bool:
        """Whether someone else has moved the arm: in a pause, or far from all that was commanded lately."""
        if self._paused:
            return bool(np.abs(measured - tracker.q).max() > _MOVED)
        recent = np.array([tracker.q, *self._commands])
        beyond = np.maximum(measured - recent.max(axis=0), recent.min(axis=0) - measured)
        return bool(beyond.max() > _AWAY)

    def _track(self, goal: Goal, start: Array) -> Tracker:
        return Solver().track(self.linkage, goal, start=start, **self._options)

    def _elapsed(self) -> float:
        """Time since the last call in seconds, as it counts."""
        now = time.monotonic()
        passed, self._called = now - self._called, now
        self._paused = passed > _PAUSE
        return min(passed, _LONGEST) if self._dt is None else self._dt

    def _goal(self, position_weight: float, orientation_weight: float) -> Goal:
        """What counts, with these weights; the pose comes with each step."""
        place = _check.positive(position_weight, "position_weight", zero=True)
        turn = _check.positive(orientation_weight, "orientation_weight", zero=True)
        if not place and not turn:
            raise BadInput("one of position_weight and orientation_weight must not be 0")
        if not turn:
            return Goal(self.target_frame_name, position=np.zeros(3))
        if not place:
            return Goal(self.target_frame_name, orientation=np.eye(3))
        # the tracker multiplies errors by its weights, pi / reach for the position
        relative = math.pi / self.linkage.reach(self.target_frame_name) * math.sqrt(turn / place)
        least, most = _TURN_WEIGHTS
        return Goal(self.target_frame_name, Frame(), turn_weight=min(max(relative, least), most))

    # -- angles -------------------------------------------------------------------------------------------------------

    def _values(self, given: ArrayLike) -> Array:
        """All values of a caller (n,), a new array."""
        values = np.array(_check.numbers(given, "joint positions", f"({len(self.joint_names)} or more,)"))
        if values.ndim != 1 or len(values) < len(self.joint_names):
            raise BadInput(
                f"joint positions must be {len(self.joint_names)} or more degrees ({', '.join(self.joint_names)}), "
                f"got shape {values.shape}"
            )
        return values

    def _joints(self, values: Array) -> Array:
        """Joint values (dof,) of the chain in radians."""
        angles: Array = np.array([self.motors[k].to_joint(float(values[k])) for k in self._columns])
        return angles

    def __getstate__(self) -> dict[str, Any]:
        """Without the tracker: a copy begins at its first call."""
        gone = {"step": None, "_tracker": None, "_last": None, "_called": -math.inf}
        return {**self.__dict__, **gone, "_commands": deque(maxlen=self._commands.maxlen)}

    def __repr__(self) -> str:
        return (
            f"<RobotKinematics of {self.linkage.name!r}: {self.target_frame_name!r} by {', '.join(self.joint_names)}>"
        )


def _described(path: str | os.PathLike[str]) -> Linkage:
    """The linkage in a file, or the bundled model of that name."""
    return find(_check.file_name(path, "urdf_path"))


def _chain(whole: Linkage, target: str, names: Sequence[str]) -> Linkage:
    """The part of a linkage that moves a link, in which only the named joints move."""
    chain = whole.part(whole.root, target)
    others = {name: 0.0 for name in chain.names if name not in names}
    chain = chain.locked(others) if others else chain
    if not chain.dof:
        raise BadInput(f"none of the joints {', '.join(names)} moves {target!r}")
    for name, unit in zip(chain.names, chain.units, strict=True):
        if unit != "rad":
            raise BadInput(f"joint {name!r} slides: the values of LeRobot are degrees")
    return chain


def motors(names: Sequence[str], sign: PerJoint | None = None, offset: PerJoint | None = None) -> tuple[Motor, ...]:
    """The motors of joints, in degrees: sign 1 and offset 0 where they are not given.

    >>> from supple.integrations.lerobot import motors
    >>> [motor.sign for motor in motors(["pan", "lift"], sign={"lift": -1})]
    [1, -1]
    """
    names = _names(names, "names")
    signs, offsets = _each(names, sign, 1.0, "sign"), _each(names, offset, 0.0, "offset")
    if not (np.abs(signs) == 1).all():
        raise BadInput(f"a sign is 1 or -1, got {_check.short(sign)}")
    return tuple(
        Motor(name, name, offset=float(zero), sign=int(way))
        for name, way, zero in zip(names, signs, offsets, strict=True)
    )


def _names(given: Sequence[str], what: str) -> list[str]:
    """Names, each of them once."""
    try:
        names = [] if isinstance(given, str) else list(given)
    except _check.NOT_CONVERTED:
        names = []
    if not names or not all(isinstance(name, str) for name in names):
        raise BadInput(f"{what} must be a list of names, got {_check.short(given)}")
    if len(set(names)) < len(names):
        raise BadInput(f"{what} has a name twice: {_check.short(names)}")
    return names


def _each(names: Sequence[str], given: PerJoint | None, default: float, what: str) -> Array:
    """A finite number for each joint (n,)."""
    if isinstance(given, Mapping):
        for name in given:
            if name not in names:
                raise unknown(f"joint (in {what})", name, names)
        return np.array([_check.finite_number(given.get(name, default), f"{what} of {name}") for name in names])
    return _check.finite(_check.one_or_each(default if given is None else given, len(names), what), what)
