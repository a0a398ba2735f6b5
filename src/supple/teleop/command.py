"""The data of a loop: the operator's command, the tick, and the protocols of sources and sinks."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from supple import _check, _renamed
from supple.errors import BadInput, unknown_option
from supple.frame import Array, Frame

if TYPE_CHECKING:
    from supple.step import Step

_ROTATION_TOLERANCE = 1e-6  # largest deviation of R R' from I after rounded rotations were corrected
_OPTIONS = ("hand", "engaged", "stamp", "sequence", "buttons", "hands", "gripper", "grippers")
_LARGEST_COUNT = 2**63 - 1
_MAX_DISTANCE = 1e6  # m along an axis; larger numbers may overflow later


@_renamed.answers_old_names
@dataclass(frozen=True, slots=True, init=False)
class Command(metaclass=_renamed.HidesOldNames):
    """The frames of the operator's hands at one moment, and how far the grippers should open. Frozen.

    A *hand* is the pose of one device. `Command(hand, stamp=t)` is for one driven link, `Command(hands=[left, right],
    stamp=t)` has a hand for each. `Command(hand, gripper=0.5)` and `Command(hands=..., grippers=[0, 1])` also set the
    grippers: 0 closed, 1 open. A gripper that is not within 0 to 1 is refused. The frames are not checked here: with
    one that is not finite or not rigid, the loop holds the arm.
    """

    hands: tuple[Frame | None, ...]
    """The frame of each hand in the operator's axes. None: that hand is disengaged. Empty: nothing new, but the
    operator is alive."""
    engaged: bool
    """Whether the motion of the hands moves the goals. While it is False the hands may move and the goals stay."""
    stamp: float
    """Time of the command in seconds on the operator's clock; nan if unknown."""
    sequence: int
    """Sequence number of the sender, rising; 0 if the sender does not count."""
    buttons: int
    """Bit k is set while button k is down."""
    grippers: tuple[float | None, ...]
    """How far each gripper should open: 0 closed to 1 open; None: it stays as it is now. Empty: nothing new, it goes on
    to where the last command wanted it. A gripper moves whether or not its hand is engaged."""

    if not TYPE_CHECKING:

        def __new__(cls, *values: object, **options: object) -> Command:
            """A command; raises `UnknownOption` with the nearest name for an option that does not exist."""
            for name in options:
                if name not in _OPTIONS:
                    raise unknown_option("Command", name, _OPTIONS, {"grip": "engaged"})
            return object.__new__(cls)

    def __init__(
        self,
        hand: Frame | ArrayLike | None = None,
        engaged: bool = True,
        stamp: float = math.nan,
        sequence: int = 0,
        buttons: int = 0,
        *,
        hands: Sequence[Frame | ArrayLike | None] = (),
        gripper: float | None = None,
        grippers: Sequence[float | None] = (),
    ) -> None:
        """A hand is a Frame or an array (4, 4); `hand` is short for `hands` with one element, as is `gripper`."""
        _check_sequence(hands, "hands", "frames")
        _check_sequence(grippers, "grippers", "openings")
        if hand is not None and len(hands):
            raise BadInput("give hand or hands, not both")
        if gripper is not None and len(grippers):
            raise BadInput("give gripper or grippers, not both")
        given = hands if hand is None else (hand,)
        put = object.__setattr__
        put(self, "hands", tuple(None if one is None else _frame(one) for one in given))
        put(self, "engaged", _check.flag(engaged, "engaged"))
        put(self, "stamp", _check.finite_or_not(stamp, "stamp"))
        put(self, "sequence", _check.whole(sequence, "sequence", -_LARGEST_COUNT, _LARGEST_COUNT))
        put(self, "buttons", _check.whole(buttons, "buttons", -_LARGEST_COUNT, _LARGEST_COUNT))
        openings = grippers if gripper is None else (gripper,)
        put(self, "grippers", tuple(None if one is None else _opening(one) for one in openings))

    @property
    def gripper(self) -> float | None:
        """How far the first gripper should open: 0 closed to 1 open; None if it is not given."""
        return self.grippers[0] if self.grippers else None

    @property
    def hand(self) -> Frame | None:
        """The first hand; None if it is disengaged or not given."""
        return self.hands[0] if self.hands else None

    @property
    def flaw(self) -> str:
        """What is wrong; empty if all hands are finite frames with a proper rotation."""
        for k, hand in enumerate(self.hands):
            if hand is not None:
                (a, b, c, x), (d, e, f, y), (g, h, i, z) = hand.matrix[:3].tolist()
                if not (abs(x) < _MAX_DISTANCE and abs(y) < _MAX_DISTANCE and abs(z) < _MAX_DISTANCE):
                    return f"the position of hand {k} is not finite or too far away"
                norms = (a * a + b * b + c * c, d * d + e * e + f * f, g * g + h * h + i * i)
                products = (a * d + b * e + c * f, a * g + b * h + c * i, d * g + e * h + f * i)
                unit = all(abs(n - 1) < _ROTATION_TOLERANCE for n in norms)
                orthogonal = all(abs(p) < _ROTATION_TOLERANCE for p in products)
                determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
                if not (unit and orthogonal and determinant > 0):
                    return f"the rotation of hand {k} is not a proper rotation matrix"
        return ""


_init = inspect.signature(Command.__init__)
Command.__signature__ = _init.replace(parameters=list(_init.parameters.values())[1:])  # type: ignore[attr-defined]


NO_GRIPPERS: Array = np.empty(0)
NO_GRIPPERS.flags.writeable = False


class Tick(NamedTuple):
    """One tick of a loop: every input of the tracker, exactly, and its result. The arrays are never changed later."""

    number: int
    """Number of the tick since the loop began, skipped ticks included."""
    t: float
    """Time at which it was due, in seconds since the loop began: number / rate."""
    dt: float
    """Time step given to the tracker, in seconds: the time since the last tick that ran."""
    late: float
    """How late it began after t, in seconds."""
    command: Command | None
    """The newest command; None before the first."""
    fresh: bool
    """Whether that command arrived in this tick."""
    goals: Array
    """The frame (links, 4, 4) given to the tracker for each driven link; nan while the arm is held."""
    stamp: float
    """The stamp given to the tracker, in seconds on the operator's clock; nan if none."""
    measured: Array | None
    """The measured joint values (dof,) given to the tracker; None if none."""
    step: Step
    """Result of the tracker: q, status, error and so on."""
    held: str
    """Reason why the loop holds the arm (paused, silent, stale); empty while it does not."""
    begin: Array | None
    """Joint values (dof,) to which the tracker was reset just before this tick, as at the first tick; else None. While
    the arm moves to given joint values, as by *reset* on the page, those of every tick."""
    grippers: Array = NO_GRIPPERS
    """How far each gripper is to be open in this tick (links,): 0 closed to 1 open; nan if that is not known yet."""
    limited: str = ""
    """Why a real arm does not go where it is sent, such as the limit of a motor; else empty."""

    @property
    def why(self) -> str:
        """Why the arm is not at its goal: why the loop holds it, what a real arm says, else what the tracker says."""
        return self.held or self.limited or self.step.why


@runtime_checkable
class Source(Protocol):
    """Where commands come from: any object with these two methods."""

    def read(self) -> Command | None:
        """The newest command since the last call, or None. Called once a tick, so it must not block.

        A source that is alive but has no new hand frames returns `Command()`, not the old frames again. It should drop
        bad data or pass it on, not raise; if it raises, the loop holds the arm and reports the reason. StopIteration
        means that the source has ended: the loop stops.
        """
        ...

    def close(self) -> None:
        """Called once, when the loop has ended."""
        ...


@runtime_checkable
class Sink(Protocol):
    """Where ticks go, such as an arm, a viewer or a recorder: any object with these two methods."""

    def write(self, tick: Tick) -> None:
        """Takes a tick. Called once a tick in the loop's thread, so it must be quick. An exception ends the loop."""
        ...

    def close(self) -> None:
        """Called once, when the loop has ended, even after an exception."""
        ...


def _check_sequence(values: object, what: str, of: str) -> None:
    if not isinstance(values, Sequence | np.ndarray) or (isinstance(values, np.ndarray) and not values.ndim):
        raise BadInput(f"{what} must be a sequence of {of}, got {_check.short(values)}")


def _opening(value: float) -> float:
    """How far a gripper should open, from 0 to 1."""
    opening = _check.finite_or_not(value, "gripper")
    if not 0 <= opening <= 1:
        hint = "; divide an opening from 0 to 100 by 100" if 1 < opening <= 100 else ""
        raise BadInput(f"gripper must be from 0 (closed) to 1 (open), got {_check.short(value)}{hint}")
    return opening


def _frame(value: Frame | ArrayLike) -> Frame:
    """A hand as a frame; its numbers are not checked."""
    if isinstance(value, Frame):
        matrix = value.matrix
    else:
        matrix = np.array(_check.numbers(value, "a hand", "(4, 4)"))
        matrix.flags.writeable = False
    if matrix.shape != (4, 4):
        raise BadInput(f"a hand must be a single frame of shape (4, 4), not {matrix.shape}")
    if isinstance(value, Frame):
        return value._kept()
    try:
        return Frame(matrix)  # rounded rotations are corrected, as in a tracker
    except BadInput:
        return Frame._trusted(matrix)  # `flaw` names what is wrong
