"""Session: one arm being driven: its handles, its method, its loop and its recording."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np

from supple.errors import BadInput
from supple.frame import Array
from supple.teleop.command import Source, Tick
from supple.teleop.loop import Loop
from supple.teleop.mapping import Mapping
from supple.teleop.methods import METHODS, SUPPLE
from supple.teleop.page.arm import Arm
from supple.teleop.page.handles import HandleSource, Script
from supple.teleop.recording import Recorder, Recording
from supple.teleop.robot import Connection
from supple.tracker import Tracker

JOGGING = "moving a joint"
REAL_SPEED = 0.25
"""Share of the bounds of speed and acceleration with which a real arm moves to the start."""


class Session:
    """An arm and its loop. It is also the loop's sink: it stores the newest tick and passes ticks to a recorder."""

    def __init__(
        self,
        arm: Arm,
        *,
        method: str = SUPPLE,
        rate: float = 300.0,
        scale: float = 1.0,
        other: Source | None = None,
        robot: Connection | None = None,
    ) -> None:
        """An arm at rest; `loop.start()` begins.

        Args:
            arm: the arm.
            method: name of the method, of `METHODS`.
            rate: ticks per second.
            scale: metres of a goal for a metre of its handle.
            other: a source in place of the handles.
            robot: a real arm that follows; its pose is where the loop begins.
        """
        self.arm, self.rate, self.method = arm, rate, method
        self.source = HandleSource(arm.frames(arm.linkage.rest), other)
        self.newest: Tick | None = None
        """The newest tick; None before the first."""
        self.begins = 0
        """How often a real arm has been taken over where it was: at first, and after it was lost or stopped."""
        self.robot = robot
        self._scale, self._start = scale, arm.linkage.rest
        self._jog_target: Array | None = None
        self._jogs = threading.RLock()
        self._mappings = [Mapping(scale) for _ in arm.links]
        self._recorder: Recorder | None = None
        self._begun = threading.Event()  # whether the arm stands where the recording begins
        self._tracker = self._make_tracker(method)
        rest = arm.grippers.opening(arm.linkage.rest)
        self.loop = Loop(self.source, self._mappings, self._tracker, self, rate, arm=robot, grippers=rest)

    # -- the loop's sink --------------------------------------------------------------------------------------------

    def write(self, tick: Tick) -> None:
        """Takes a tick."""
        self.newest = tick
        if self.robot is not None and self.robot.starts != self.begins:
            self.begins = self.robot.starts
            self.source.end()  # what was to be played began elsewhere
            self.source.forget_grippers()
            self.place_handles(tick.step.q)
        recorder = self._recorder
        if recorder is not None and self._begun.is_set():
            recorder.write(tick)

    def close(self) -> None:
        """Ends a recording, if there is one."""
        self.end_recording()

    # -- control -------------------------------------------------------------------------------------------------------

    @property
    def q(self) -> Array:
        """Current joint values (dof,)."""
        return np.array(self._start if self.newest is None else self.newest.step.q)

    @property
    def grippers(self) -> Array:
        """How far the grippers are open (links,): 0 closed to 1 open; nan for an end effector without one."""
        return np.full(len(self.arm.links), np.nan) if self.newest is None else self.newest.grippers

    @property
    def scale(self) -> float:
        """Metres of a goal for a metre of its handle."""
        return self._scale

    @scale.setter
    def scale(self, value: float) -> None:
        self._scale = value
        if not self.source.scripted:
            self._set_scale(value)

    def use(self, method: str) -> None:
        """Changes the method."""
        self._tracker, self.method = self._make_tracker(method), method
        self.loop.use(self._tracker)

    def reset(
        self, q: Array | None = None, done: Callable[[], None] = lambda: None, *, for_script: bool = False
    ) -> None:
        """Moves the arm to joint values q (dof,), by default its rest, and the handles to its end effectors there.

        It moves within the bounds, a real arm at a part of them; ``done`` is called in the loop's thread when it is
        there, which may be before this returns. ``for_script``: a script will be played then. Raises `BadInput` while a
        real arm is not driven yet: it must not move by itself as soon as it is connected.
        """
        self._check_driven()
        self.end_jog()
        self.source.end()
        if for_script:
            self.source.expect()
        self._set_scale(self._scale)
        end = self.arm.linkage.clamp(self.arm.linkage.rest if q is None else q)
        self.place_handles(end)

        def arrived() -> None:
            self.place_handles(end)
            done()

        self.loop.move(end, arrived, speed=self._move_speed, why="moving to the start")

    def begin_at(self, q: Array) -> None:
        """Begins at joint values q (dof,) in place of rest; before the loop is started, and not with a real arm."""
        self._start = np.array(q)
        self.loop.reset(q)
        self.place_handles(q)

    @property
    def jogged(self) -> Array | None:
        """The joint values (dof,) that `jog` moves to; None if it does not."""
        target = self._jog_target
        return np.array(target) if target is not None and JOGGING in self.loop.moves else None

    def jog(self, column: int, value: float) -> None:
        """Moves one joint value towards another, within the bounds, a real arm at a part of them.

        While it moves, a new value is taken up when the one before is reached. Raises `BadInput` as `reset` does.
        """
        self._check_driven()
        with self._jogs:
            before = self.jogged
            target = self.q if before is None else before
            target[column] = value
            wanted = self._jog_target = self.arm.linkage.clamp(target)
            if before is None:
                self._jog_on(wanted)

    def end_jog(self) -> None:
        """Ends the motion of a joint: the arm brakes."""
        self._jog_target = None
        self.loop.cancel_moves(JOGGING)

    def _jog_on(self, target: Array) -> None:
        self.source.end()

        def arrived() -> None:
            self.place_handles(target)
            with self._jogs:
                wanted = self._jog_target
                self._jog_target = None if wanted is target else wanted
                if self._jog_target is not None:
                    self._jog_on(self._jog_target)

        self.loop.move(target, arrived, speed=self._move_speed, why=JOGGING)

    def _check_driven(self) -> None:
        if self.robot is not None and self.robot.needs_start:
            raise BadInput(f"the arm is not driven yet: {self.loop.held}")

    @property
    def _move_speed(self) -> float:
        return 1.0 if self.robot is None else REAL_SPEED

    def recentre(self, done: Callable[[], None] = lambda: None) -> None:
        """Brakes, and puts handles and goals at the end effectors; ``done`` as in `reset`."""
        self.end_jog()
        self.source.end()
        self._set_scale(self._scale)

        def stands() -> None:
            self.place_handles(self.loop.q)
            done()

        self.loop.move(None, stands, why="stopping")

    def place_handles(self, q: Array) -> None:
        """Puts the handles at the end effectors of joint values q (dof,)."""
        for handle, frame in zip(self.source.handles, self.arm.frames(q), strict=True):
            handle.place(frame)

    def start_script(self, script: Script, begin: Array, done: Callable[[], None]) -> None:
        """Starts a script from joint values (dof,); the loop calls ``done`` when it has ended."""

        def play() -> None:
            if self.source.scripted:  # nobody has ended it meanwhile
                self._set_scale(1.0)
                self.source.play(script, done)

        self.reset(begin, play, for_script=True)

    def end_script(self) -> None:
        """Ends a script, if one runs; the operator moves the handles again."""
        self.source.end()
        self._set_scale(self._scale)

    # -- recordings ---------------------------------------------------------------------------------------------------

    @property
    def recording(self) -> bool:
        """Whether it is being recorded."""
        return self._recorder is not None

    @property
    def recording_failure(self) -> str:
        """Why the present recording has ended early; empty if it has not."""
        return "" if self._recorder is None else self._recorder.failure

    def record(self, folder: str | os.PathLike[str], file: str | os.PathLike[str] | None = None) -> Path:
        """Begins a recording in a new file of a folder, which is created if needed, or in ``file``; returns the file.

        The arm is stopped where it is, so that a replay starts from the same state.
        """
        if self._recorder is not None:
            raise BadInput(f"{self._recorder.path} is being recorded; end that recording first")
        if file is None:
            Path(folder).mkdir(parents=True, exist_ok=True)
            recorder = Recorder.within(folder, self._tracker, self.rate)
        else:
            recorder = Recorder(file, self._tracker, self.rate)
        self._begun.clear()
        self._recorder = recorder
        self.recentre(self._begun.set)
        return recorder.path

    def end_recording(self) -> Path | None:
        """Ends a recording and returns its file, None if there is none. Raises the exception that ended it early."""
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return None
        recorder.close()
        return recorder.path

    # ---------------------------------------------------------------------------------------------------------------

    def _make_tracker(self, method: str) -> Tracker:
        return METHODS[method].track(self.arm.linkage, list(self.arm.goals), start=self.arm.linkage.rest)

    def _set_scale(self, value: float) -> None:
        for mapping in self._mappings:
            mapping.scale = value


def script_of_recording(path: str | os.PathLike[str]) -> tuple[Script, Array, str]:
    """A recording as a script: its goals and their times; its first joint values (dof,); the name of its linkage."""
    recording = Recording(path)
    rows = recording.rows()
    begin = np.isfinite(rows.begin).all(axis=1)
    start = rows.begin[int(np.argmax(begin))] if begin.any() else rows.q[0]
    return Script(rows.goals, rows.t - rows.t[0], rows.grippers), start, recording.linkage.name
