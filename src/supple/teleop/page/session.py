"""Session: one arm being driven: its hands, its way of stepping, the loop that moves it, and what is recorded of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from supple.errors import BadInput
from supple.frame import Array
from supple.teleop.command import Source, Tick
from supple.teleop.loop import Loop
from supple.teleop.mapping import Mapping
from supple.teleop.page.arm import Arm
from supple.teleop.page.handles import Hands, Script
from supple.teleop.methods import METHODS, SUPPLE
from supple.teleop.recording import Recorder, Recording
from supple.tracker import Tracker


class Session:
    """An arm in its loop. It is the loop's own sink: it keeps the newest tick, and passes ticks on to a recorder."""

    def __init__(
        self, arm: Arm, *, method: str = SUPPLE, rate: float = 300.0, scale: float = 1.0, other: Source | None = None
    ) -> None:
        """An arm at rest that nobody drives; `start` begins.

        Args:
            arm: what is driven.
            method: how, by a name of `METHODS`.
            rate: ticks a second.
            scale: metres of a goal for a metre of its handle.
            other: what drives instead of the handles.
        """
        self.arm, self.rate, self.method = arm, rate, method
        self.hands = Hands(arm.frames(arm.linkage.rest), other)
        self.newest: Tick | None = None
        """The last tick, None before the first."""
        self.jumps = 0
        """How often the arm was put somewhere."""
        self._scale = scale
        self._mappings = [Mapping(scale) for _ in arm.links]
        self._recorder: Recorder | None = None
        self._begun = False  # whether the recorder has had the tick at which the arm was put to rest
        self._tracker = self._made(method)
        self.loop = Loop(self.hands, self._mappings, self._tracker, self, rate)

    # -- the loop's sink --------------------------------------------------------------------------------------------

    def write(self, tick: Tick) -> None:
        """Takes a tick."""
        self.newest = tick
        recorder = self._recorder
        if tick.begin is not None:
            self.jumps += 1
            self._begun = True
        if recorder is not None and self._begun:
            recorder.write(tick)

    def close(self) -> None:
        """Ends a recording, if one is made."""
        self.recorded()

    # -- for the one who drives ---------------------------------------------------------------------------------------

    @property
    def q(self) -> Array:
        """Joint values (dof,) now."""
        return np.array(self.arm.linkage.rest if self.newest is None else self.newest.step.q)

    @property
    def scale(self) -> float:
        """Metres of a goal for a metre of its handle."""
        return self._scale

    @scale.setter
    def scale(self, value: float) -> None:
        self._scale = value
        if not self.hands.scripted:
            self._scaled(value)

    def use(self, method: str) -> None:
        """From now on steps are taken by another method."""
        self._tracker, self.method = self._made(method), method
        self.loop.use(self._tracker)

    def reset(self, q: Array | None = None) -> None:
        """Puts the arm at joint values q (dof,), by default at rest, with the handles at its hands."""
        begin = self.arm.linkage.rest if q is None else q
        self.hands.end()
        self._scaled(self._scale)
        self.loop.reset(begin)
        self.place(begin)

    def bring_back(self) -> None:
        """Gives up what was asked for: handles and goals are where the hands are."""
        self.reset(self.arm.linkage.clamp(self.q))

    def place(self, q: Array) -> None:
        """Puts the handles where joint values q (dof,) put the hands."""
        for hand, frame in zip(self.hands.hands, self.arm.frames(q), strict=True):
            hand.place(frame)

    def play(self, script: Script, begin: Array, done: Callable[[], None]) -> None:
        """Lets a script move the hands, from joint values (dof,); the loop calls ``done`` when it has ended."""
        self.reset(begin)
        self._scaled(1.0)
        self.hands.play(script, done)

    def end_play(self) -> None:
        """Ends a script, if one runs; the handles are the operator's again."""
        self.hands.end()
        self._scaled(self._scale)

    # -- recordings ---------------------------------------------------------------------------------------------------

    @property
    def recording(self) -> bool:
        """Whether a recording is being made."""
        return self._recorder is not None

    def record(self, folder: str | os.PathLike[str], file: str | os.PathLike[str] | None = None) -> Path:
        """Records from now on, to a new file in a folder (made if need be) or to the file given; returns which.

        The arm is brought to rest where it is, so that a replay begins as the recording did.
        """
        if self._recorder is not None:
            raise BadInput(f"{self._recorder.path} is being recorded; end that first")
        if file is None:
            Path(folder).mkdir(parents=True, exist_ok=True)
            recorder = Recorder.within(folder, self._tracker, self.rate)
        else:
            recorder = Recorder(file, self._tracker, self.rate)
        self._begun = False
        self._recorder = recorder
        self.bring_back()
        return recorder.path

    def recorded(self) -> Path | None:
        """Ends a recording; the file, None if none was made. Raises what went wrong with it."""
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return None
        recorder.close()
        return recorder.path

    # ---------------------------------------------------------------------------------------------------------------

    def _made(self, method: str) -> Tracker:
        return METHODS[method].track(self.arm.linkage, list(self.arm.goals), start=self.arm.linkage.rest)

    def _scaled(self, value: float) -> None:
        for mapping in self._mappings:
            mapping.scale = value


def played(path: str | os.PathLike[str]) -> tuple[Script, Array, str]:
    """A recording as a script: its goals at their times, where it began (dof,), and what it is of."""
    recording = Recording(path)
    rows = recording.rows()
    begin = np.isfinite(rows.begin).all(axis=1)
    start = rows.begin[int(np.argmax(begin))] if begin.any() else rows.q[0]
    return Script(rows.goals, rows.t - rows.t[0]), start, recording.linkage.name
