"""The columns of a recording: a tick becomes a row, and rows become arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.frame import Array, Frame
from supple.step import TrackingStatus
from supple.teleop.command import Command, Tick

WHOLE = ("number", "sequence", "buttons", "lost")
"""Whole numbers: the tick's; the command's; its buttons; ticks that were lost just before this one."""
FLAGS = ("fresh", "grip")
TEXTS = ("hands", "outcome", "held", "why", "how")
"""Words: which hands were given ("h") or let go ("-"); how it went; why the loop held; why the tracker did not follow;
how the tracker was made, where that changes."""
SINGLE = ("t", "dt", "late", "stamp", "taken", "damping", "lag")
"""Numbers, one a tick: see `Tick` and `Step`; ``taken`` is the stamp of the newest command."""
JOINTS = ("begin", "measured", "q", "velocity", "weight")
"""Numbers, one for each value of q."""
FRAME = ("r00", "r01", "r02", "r10", "r11", "r12", "r20", "r21", "r22", "x", "y", "z")
ERROR = ("x", "y", "z", "rx", "ry", "rz")
MUST_BE_FINITE = ("t", "dt", "late", "damping", "lag", "q", "velocity", "weight", "error")
_MASK = (1 << 63) - 1  # a sender may count higher than a column can


@dataclass(frozen=True, eq=False)
class Rows:
    """Ticks in a row: every array has one row for each; nan stands for what was not given."""

    number: Any
    """Which tick of the loop (n,)."""
    t: Array
    """When it was due, in seconds since the loop began (n,)."""
    dt: Array
    """Time given to the tracker, in seconds (n,)."""
    late: Array
    """How long after t it began, in seconds (n,)."""
    stamp: Array
    """Stamp given to the tracker, in seconds on the operator's clock (n,)."""
    goals: Array
    """Frames given to the tracker (n, links, 4, 4)."""
    measured: Array
    """Joint values of the real arm given to the tracker (n, dof)."""
    begin: Array
    """Joint values at which the tracker was reset just before the tick (n, dof)."""
    q: Array
    """Joint values (n, dof)."""
    velocity: Array
    """Joint velocities (n, dof), per second."""
    joint_weights: Array
    """Joint weights (n, dof)."""
    error: Array
    """Goal minus end effector (n, links, 6): metres, then radians."""
    damping: Array
    """(n,)."""
    lag: Array
    """How old the command is that was followed, in seconds (n,)."""
    status: Any
    """Value of each `TrackingStatus` (n,)."""
    why: Sequence[str]
    """Why the tracker did not follow."""
    held: Sequence[str]
    """Why the loop held the arm."""
    how: Sequence[str]
    """How the tracker was made, where that changed; else empty."""
    lost: Any
    """Ticks that could not be recorded just before this one (n,)."""
    fresh: Any
    """Whether a command came in this tick (n,)."""
    taken: Array
    """Stamp of the newest command, in seconds on the operator's clock (n,)."""
    grip: Any
    """Whether its hands held on (n,)."""
    hands: Sequence[str]
    """A letter for each of its hands: "h" for one given, "-" for one that lets go."""
    hand: Array
    """Frames of its hands (n, links, 4, 4)."""
    sequence: Any
    """Its number (n,)."""
    buttons: Any
    """Its buttons (n,)."""

    def __len__(self) -> int:
        return len(self.t)

    def command(self, k: int) -> Command:
        """The newest command of row k, as the operator gave it."""
        hands = [self._hand(k, i) if letter == "h" else None for i, letter in enumerate(self.hands[k])]
        whole = {"sequence": int(self.sequence[k]), "buttons": int(self.buttons[k])}
        return Command(grip=bool(self.grip[k]), stamp=float(self.taken[k]), hands=hands, **whole)

    def _hand(self, k: int, i: int) -> Frame:
        return Frame._trusted(self.hand[k, i] if i < self.hand.shape[1] else np.full((4, 4), math.nan))


class Layout:
    """Which columns a recording has, for the names of q and the links it drives."""

    def __init__(self, names: Sequence[str], links: Sequence[str]) -> None:
        self.dof, self.links = len(names), len(links)
        columns = list(SINGLE)
        called = [f"{link} ({k + 1})" if links.count(link) > 1 else link for k, link in enumerate(links)]
        self.parts: dict[str, slice] = {name: slice(k, k + 1) for k, name in enumerate(SINGLE)}
        blocks = [(part, list(names)) for part in JOINTS]
        blocks += [(part, [f"{link}.{x}" for link in called for x in FRAME]) for part in ("hand", "goal")]
        blocks.append(("error", [f"{link}.{x}" for link in called for x in ERROR]))
        for part, inner in blocks:
            self.parts[part] = slice(len(columns), len(columns) + len(inner))
            columns += [f"{part}.{name}" for name in inner]
        self.numbers = tuple(columns)
        """Names of the columns of numbers."""
        self.columns = (*WHOLE, *FLAGS, *TEXTS, *self.numbers)
        """Names of all columns, in their order."""
        self.finite = np.zeros(len(columns), dtype=bool)
        for part in MUST_BE_FINITE:
            self.finite[self.parts[part]] = True

    def fill(self, row: Array, tick: Tick, lost: int, how: str) -> tuple[list[int], list[bool], list[str]]:
        """Writes the numbers of a tick into a row, and returns its whole numbers, flags and words."""
        step, command, parts = tick.step, tick.command, self.parts
        taken = math.nan if command is None else command.stamp
        row[: len(SINGLE)] = tick.t, tick.dt, tick.late, tick.stamp, taken, step.damping, step.lag
        row[parts["begin"]] = math.nan if tick.begin is None else tick.begin
        row[parts["measured"]] = math.nan if tick.measured is None else tick.measured
        row[parts["q"]], row[parts["velocity"]], row[parts["weight"]] = step.q, step.velocity, step.joint_weights
        row[parts["goal"]] = twelve(tick.goals).ravel()
        row[parts["error"]] = step.error.ravel()
        row[parts["hand"]] = math.nan
        hands = () if command is None else command.hands
        first = parts["hand"].start
        for k, hand in enumerate(hands[: self.links]):
            if hand is not None:
                row[first + 12 * k : first + 12 * k + 12] = twelve(hand.matrix)
        letters = "".join("-" if hand is None else "h" for hand in hands[: self.links + 1])
        grip, sequence, buttons = (
            (False, 0, 0) if command is None else (command.grip, command.sequence, command.buttons)
        )
        words = [letters, step.status.name.lower(), tick.held, step.why, how]
        return [tick.number, sequence & _MASK, buttons & _MASK, lost], [tick.fresh, grip], words

    def rows(self, whole: Mapping[str, Any], texts: Mapping[str, Sequence[str]], numbers: Array) -> Rows:
        """Columns that were read as arrays; ``numbers`` is (n, len(self.numbers))."""

        def part(name: str) -> Array:
            return numbers[:, self.parts[name]]

        known = {state.name.lower(): state.value for state in TrackingStatus}
        arrays: dict[str, Any] = {name: whole[name] for name in (*WHOLE, *FLAGS)}
        arrays |= {name: texts[name] for name in TEXTS if name != "outcome"}
        arrays |= {name: part(name)[:, 0] for name in SINGLE}
        arrays |= {name: part(name) for name in JOINTS if name != "weight"}
        return Rows(
            **arrays,
            joint_weights=part("weight"),
            hand=_frames(part("hand"), self.links),
            goals=_frames(part("goal"), self.links),
            error=part("error").reshape(-1, self.links, 6),
            status=np.array([known[word] for word in texts["outcome"]]),
        )


def twelve(frames: Array) -> Array:
    """Frames (..., 4, 4) as (..., 12): rotation row by row, then position."""
    return np.concatenate([frames[..., :3, :3].reshape(*frames.shape[:-2], 9), frames[..., :3, 3]], axis=-1)


def _frames(numbers: Array, links: int) -> Array:
    """Frames (n, links, 4, 4) from their numbers (n, 12 links)."""
    twelves = numbers.reshape(-1, links, 12)
    frames = np.zeros((len(twelves), links, 4, 4))
    frames[..., :3, :3], frames[..., :3, 3], frames[..., 3, 3] = (
        twelves[..., :9].reshape(-1, links, 3, 3),
        twelves[..., 9:],
        1,
    )
    return frames
