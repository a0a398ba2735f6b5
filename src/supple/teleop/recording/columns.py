"""The columns of a recording: a tick as a row, and rows as arrays."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from supple.frame import Array, Frame
from supple.step import TrackingStatus
from supple.teleop.command import Command, Tick

INTEGERS = ("number", "sequence", "buttons", "lost")
"""Number of the tick; sequence number and buttons of the command; ticks lost just before this one."""
FLAGS = ("fresh", "grip")
"""Whether a command arrived in this tick; whether its hands were engaged."""
TEXTS = ("hands", "outcome", "held", "why", "how")
"""One letter for each hand: "h" if given, "-" if not; the tracking status; the reason why the loop held the arm; the
tracker's explanation; the new tracker as JSON, where it changed."""
SINGLE = ("t", "dt", "late", "stamp", "taken", "damping", "lag")
"""Numbers, one for each tick: see `Tick` and `Step`; ``taken`` is the stamp of the newest command."""
JOINTS = ("begin", "measured", "q", "velocity", "weight")
"""Numbers, one for each value of q."""
FRAME = ("r00", "r01", "r02", "r10", "r11", "r12", "r20", "r21", "r22", "x", "y", "z")
ERROR = ("x", "y", "z", "rx", "ry", "rz")
GRIPPERS = ("gripper", "wanted")
"""Numbers, one for each link, 0 closed to 1 open: how far the grippers were opened, and what the command wanted."""
STAYS = -1.0
"""In the column ``wanted``: the gripper was to stay as it was; nan if the command had no grippers."""
MUST_BE_FINITE = ("t", "dt", "late", "damping", "lag", "q", "velocity", "weight", "error")
_FIELDS = {"taken": "command_stamp", "grip": "engaged", "hands": "hands_given", "how": "new_tracker"}
"""Fields of `Rows` whose name differs from that of their column."""
_MASK = (1 << 63) - 1  # largest number of an integer column


@dataclass(frozen=True, eq=False)
class Rows:
    """Ticks of a recording: every array has one row for each tick; nan stands for a value that was not given."""

    number: Any
    """Number of the tick (n,)."""
    t: Array
    """Time at which it was due, in seconds since the loop began (n,)."""
    dt: Array
    """Time step given to the tracker, in seconds (n,)."""
    late: Array
    """How late it began after t, in seconds (n,)."""
    stamp: Array
    """Stamp given to the tracker, in seconds on the operator's clock (n,)."""
    goals: Array
    """Frames given to the tracker (n, links, 4, 4)."""
    measured: Array
    """Measured joint values given to the tracker (n, dof)."""
    begin: Array
    """Joint values to which the tracker was reset just before the tick (n, dof)."""
    q: Array
    """Joint values (n, dof)."""
    velocity: Array
    """Joint velocities (n, dof), per second."""
    joint_weights: Array
    """Joint weights (n, dof)."""
    error: Array
    """Goal minus end effector (n, links, 6): metres, then radians."""
    damping: Array
    """Damping (n,)."""
    lag: Array
    """Age of the command that was followed, in seconds (n,)."""
    status: Any
    """Value of the `TrackingStatus` (n,)."""
    why: Sequence[str]
    """Why the arm was not at its goal: why the loop held it, else the tracker's explanation."""
    held: Sequence[str]
    """Reason why the loop held the arm; empty while it did not."""
    new_tracker: Sequence[str]
    """The tracker as JSON, where it changed; else empty."""
    lost: Any
    """Number of ticks lost just before this one (n,)."""
    fresh: Any
    """Whether a command arrived in this tick (n,)."""
    command_stamp: Array
    """Stamp of the newest command, in seconds on the operator's clock (n,)."""
    engaged: Any
    """Whether its hands were engaged (n,)."""
    hands_given: Sequence[str]
    """One letter for each of its hands: "h" if the hand was given, "-" if it was released."""
    hands: Array
    """Frames of its hands (n, links, 4, 4)."""
    sequence: Any
    """Its sequence number (n,)."""
    buttons: Any
    """Its buttons (n,)."""
    grippers: Array
    """How far the grippers were to be open (n, links): 0 closed to 1 open; nan where that is unknown."""
    wanted: Array
    """How far the newest command wanted them to be open (n, links); -1: to stay as they were."""

    def __len__(self) -> int:
        return len(self.t)

    def command(self, k: int) -> Command:
        """The newest command of row k."""
        return Command(
            hands=[self._hand(k, i) if letter == "h" else None for i, letter in enumerate(self.hands_given[k])],
            engaged=bool(self.engaged[k]),
            stamp=float(self.command_stamp[k]),
            sequence=int(self.sequence[k]),
            buttons=int(self.buttons[k]),
            grippers=self._wanted_openings(k),
        )

    def _wanted_openings(self, k: int) -> list[float | None]:
        if np.isnan(self.wanted[k]).all():
            return []
        return [None if math.isnan(opening) or opening == STAYS else opening for opening in self.wanted[k].tolist()]

    def _hand(self, k: int, i: int) -> Frame:
        return Frame._trusted(self.hands[k, i] if i < self.hands.shape[1] else np.full((4, 4), math.nan))

    @classmethod
    def join(cls, parts: Sequence[Rows]) -> Rows:
        """Several blocks of rows as one."""
        joined: dict[str, Any] = {}
        for field in fields(cls):
            columns = [getattr(part, field.name) for part in parts]
            if isinstance(columns[0], np.ndarray):
                joined[field.name] = np.concatenate(columns)
            else:
                joined[field.name] = [value for column in columns for value in column]
        return cls(**joined)


class Layout:
    """Names and places of the columns, for the names of q and the driven links."""

    def __init__(self, names: Sequence[str], links: Sequence[str], grippers: bool = True) -> None:
        """``grippers``: whether there are columns for them; recordings of format 1 and 2 have none."""
        self.dof, self.links, self.grippers = len(names), len(links), grippers
        columns = list(SINGLE)
        times = Counter(links)
        labels = [f"{link} ({k + 1})" if times[link] > 1 else link for k, link in enumerate(links)]
        self.parts: dict[str, slice] = {name: slice(k, k + 1) for k, name in enumerate(SINGLE)}
        blocks = [(part, list(names)) for part in JOINTS]
        blocks += [(part, [f"{link}.{x}" for link in labels for x in FRAME]) for part in ("hand", "goal")]
        blocks.append(("error", [f"{link}.{x}" for link in labels for x in ERROR]))
        blocks += [(part, labels) for part in GRIPPERS if grippers]
        for part, inner in blocks:
            self.parts[part] = slice(len(columns), len(columns) + len(inner))
            columns += [f"{part}.{name}" for name in inner]
        self.numbers = tuple(columns)
        """Names of the columns of floating-point numbers."""
        self.columns = (*INTEGERS, *FLAGS, *TEXTS, *self.numbers)
        """Names of all columns, in their order."""
        self.finite = np.zeros(len(columns), dtype=bool)
        for part in MUST_BE_FINITE:
            self.finite[self.parts[part]] = True

    def fill(self, row: Array, tick: Tick, lost: int, new_tracker: str) -> tuple[list[int], list[bool], list[str]]:
        """Writes the floating-point numbers of a tick into a row; returns its integers, flags and texts."""
        step, command, parts = tick.step, tick.command, self.parts
        taken = math.nan if command is None else command.stamp
        row[: len(SINGLE)] = tick.t, tick.dt, tick.late, tick.stamp, taken, step.damping, step.lag
        row[parts["begin"]] = math.nan if tick.begin is None else tick.begin
        row[parts["measured"]] = math.nan if tick.measured is None else tick.measured
        row[parts["q"]], row[parts["velocity"]], row[parts["weight"]] = step.q, step.velocity, step.joint_weights
        row[parts["goal"]] = _flat(tick.goals).ravel()
        row[parts["error"]] = step.error.ravel()
        row[parts["gripper"]] = tick.grippers if len(tick.grippers) == self.links else math.nan
        row[parts["wanted"]] = math.nan
        for k, wanted in enumerate(() if command is None else command.grippers[: self.links]):
            row[parts["wanted"].start + k] = STAYS if wanted is None else wanted
        row[parts["hand"]] = math.nan
        hands = () if command is None else command.hands
        first = parts["hand"].start
        for k, hand in enumerate(hands[: self.links]):
            if hand is not None:
                row[first + 12 * k : first + 12 * k + 12] = _flat(hand.matrix)
        letters = "".join("-" if hand is None else "h" for hand in hands[: self.links + 1])
        engaged, sequence, buttons = (
            (False, 0, 0) if command is None else (command.engaged, command.sequence, command.buttons)
        )
        texts = [letters, step.status.name.lower(), tick.held, tick.why, new_tracker]
        return [tick.number, sequence & _MASK, buttons & _MASK, lost], [tick.fresh, engaged], texts

    def rows(self, integers: Mapping[str, Any], texts: Mapping[str, Sequence[str]], numbers: Array) -> Rows:
        """Rows from columns: integers and flags by name, texts by name, numbers (n, len(self.numbers))."""

        def part(name: str) -> Array:
            return numbers[:, self.parts[name]]

        columns: dict[str, Any] = {name: integers[name] for name in (*INTEGERS, *FLAGS)}
        columns |= {name: texts[name] for name in TEXTS if name != "outcome"}
        columns |= {name: part(name)[:, 0] for name in SINGLE}
        columns |= {name: part(name) for name in JOINTS if name != "weight"}
        unknown = np.full((len(numbers), self.links), math.nan)
        values = {status.name.lower(): status.value for status in TrackingStatus}
        return Rows(
            **{_FIELDS.get(name, name): column for name, column in columns.items()},
            joint_weights=part("weight"),
            hands=_frames(part("hand"), self.links),
            goals=_frames(part("goal"), self.links),
            error=part("error").reshape(-1, self.links, 6),
            status=np.array([values[word] for word in texts["outcome"]]),
            grippers=part("gripper") if self.grippers else unknown,
            wanted=part("wanted") if self.grippers else unknown,
        )


def _flat(frames: Array) -> Array:
    """Frames (..., 4, 4) as numbers (..., 12): rotation row by row, then position."""
    return np.concatenate([frames[..., :3, :3].reshape(*frames.shape[:-2], 9), frames[..., :3, 3]], axis=-1)


def _frames(numbers: Array, links: int) -> Array:
    """Frames (n, links, 4, 4) from their numbers (n, 12 links)."""
    each = numbers.reshape(-1, links, 12)
    frames = np.zeros((len(each), links, 4, 4))
    frames[..., :3, :3] = each[..., :9].reshape(-1, links, 3, 3)
    frames[..., :3, 3] = each[..., 9:]
    frames[..., 3, 3] = 1
    return frames
