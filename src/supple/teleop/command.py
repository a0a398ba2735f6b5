"""What passes through a loop: the command of an operator, the tick that comes of it, and who gives and takes them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import BadInput
from supple.frame import Array, Frame

if TYPE_CHECKING:
    from supple.step import Step

_OFF = 1e-6  # how far from orthonormal a rotation may be; the tracker's own bound
_FAR = 1e6  # m: no hand is farther; what is larger may overflow later


@dataclass(frozen=True, slots=True, init=False)
class Command:
    """What an operator says at one moment. Frozen.

    `Command(hand, stamp=t)` for one hand, `Command(hands=[left, right], stamp=t)` for one hand for each driven link.
    Numbers are not judged here: what is not a finite frame is let through, and the loop holds the arm.
    """

    hands: tuple[Frame | None, ...]
    """The frame of each hand in the operator's own axes; None: that hand lets go. Empty: a sign of life, no more."""
    grip: bool
    """Whether the hands hold on. Let go (False), move back and take hold again: the goal does not move."""
    stamp: float
    """When it was made, in seconds on the operator's own clock; nan if that is not known."""
    sequence: int
    """Counts up from command to command, where a sender counts; 0 where nobody does."""
    buttons: int
    """Bit k is set while button k is down."""

    def __init__(
        self,
        hand: Frame | ArrayLike | None = None,
        grip: bool = True,
        stamp: float = math.nan,
        sequence: int = 0,
        buttons: int = 0,
        *,
        hands: Sequence[Frame | ArrayLike | None] = (),
    ) -> None:
        """A hand is a Frame or any array (4, 4); `hand` is short for `hands` with one."""
        if hand is not None and len(hands):
            raise BadInput("give hand or hands, not both")
        given = hands if hand is None else (hand,)
        put = object.__setattr__
        put(self, "hands", tuple(None if one is None else _frame(one) for one in given))
        put(self, "grip", bool(grip))
        put(self, "stamp", float(stamp))
        put(self, "sequence", int(sequence))
        put(self, "buttons", int(buttons))

    @property
    def hand(self) -> Frame | None:
        """The first hand; None if it lets go, or if there is nothing new."""
        return self.hands[0] if self.hands else None

    @property
    def flaw(self) -> str:
        """Why the hands cannot be meant, in words; empty if they can: finite, and their rotations rotations."""
        for k, hand in enumerate(self.hands):
            if hand is not None:
                (a, b, c, x), (d, e, f, y), (g, h, i, z) = hand.matrix[:3].tolist()
                if not (abs(x) < _FAR and abs(y) < _FAR and abs(z) < _FAR):
                    return f"hand {k} is nowhere: not finite, or a thousand kilometres away"
                square = (a * a + b * b + c * c, d * d + e * e + f * f, g * g + h * h + i * i)
                across = (a * d + b * e + c * f, a * g + b * h + c * i, d * g + e * h + f * i)
                unit = all(abs(one - 1) < _OFF for one in square) and all(abs(one) < _OFF for one in across)
                if not (unit and a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) > 0):
                    return f"the rotation of hand {k} is none"
        return ""


class Tick(NamedTuple):
    """One tick of a loop: all that went into the tracker, to the last bit, and what came out. Arrays: copy or keep."""

    number: int
    """Counts ticks that were due since the loop began; those that were skipped are missing."""
    t: float
    """When it was due, in seconds since the loop began: number / rate."""
    dt: float
    """Time since the last tick that was not skipped, in seconds, as given to the tracker."""
    late: float
    """How long after t it began, in seconds."""
    command: Command | None
    """The newest command, None before the first."""
    fresh: bool
    """Whether that command came in this tick."""
    goals: Array
    """The frame (links, 4, 4) given to the tracker for each driven link; nan while the arm is held."""
    stamp: float
    """The stamp given to the tracker, in seconds on the operator's clock; nan: none."""
    measured: Array | None
    """The real arm's joint values (dof,) given to the tracker; None: none."""
    step: Step
    """What the tracker made of it: q, outcome, error ..."""
    held: str
    """Why the loop holds the arm, in words: paused, silent, stale ...; empty if it does not."""
    begin: Array | None
    """The joint values (dof,) at which the tracker was reset just before this tick (so at the first); else None."""


@runtime_checkable
class Source(Protocol):
    """Where commands come from. Any object with these two methods."""

    def read(self) -> Command | None:
        """The newest command since the last call, or None. Called once a tick: it must not block.

        A hand that was not seen anew is no new hand: a source that only wants to be known alive says `Command()`.
        Bad data is dropped or let through, never raised; if it raises all the same, the loop holds the arm and says
        why. StopIteration means that the source has come to its end: the loop stops.
        """
        ...

    def close(self) -> None:
        """Called once, when the loop has ended."""
        ...


@runtime_checkable
class Sink(Protocol):
    """Where ticks go: an arm, a viewer, a recorder. Any object with these two methods."""

    def write(self, tick: Tick) -> None:
        """Takes a tick. Called once a tick, in the loop's own time, so be quick. What it raises ends the loop."""
        ...

    def close(self) -> None:
        """Called once, when the loop has ended, however it ended."""
        ...


def _frame(value: Frame | ArrayLike) -> Frame:
    """A hand as a frame whose numbers nobody has looked at."""
    if isinstance(value, Frame):
        matrix = value.matrix
    else:
        try:
            matrix = np.array(value, dtype=float)
        except (TypeError, ValueError) as error:
            raise BadInput(f"a hand must be a frame or numbers of shape (4, 4): {error}") from None
        matrix.flags.writeable = False
    if matrix.shape != (4, 4):
        raise BadInput(f"a hand must be a single frame of shape (4, 4), not {matrix.shape}")
    return value if isinstance(value, Frame) else Frame._trusted(matrix)
