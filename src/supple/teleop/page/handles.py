"""Handles: the handles of the page as a source of commands, interpolated between the browser's samples."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from supple.frame import Array, Frame
from supple.teleop.command import Command, Source
from supple.teleop.page.heartbeat import PATIENCE
from supple.teleop.recording.playback import Playback
from supple.teleop.watchdog import Silent

INTERPOLATION = 0.06
"""Seconds in which a handle moves to a new sample; a browser sends one every 0.05 s."""
TOO_SLOW = f"this browser is too slow: nothing came for {PATIENCE:g} s; a smaller window helps"
"""Why the arm is held while the page that drives does not answer."""
MAX_POSITION = 1e4
"""Largest coordinate of a handle, in metres; samples beyond it are dropped."""


class Handle:
    """One handle: its frame, and whether it is dragged. Used from any thread."""

    def __init__(self, frame: Frame) -> None:
        """A handle at a frame, not dragged."""
        self._motion = (frame, frame, -math.inf)  # from, to, start time; one tuple, so that a reader gets all three
        self._rested = frame  # where the last command left it at rest
        self._dragged = self._engaged = False

    @property
    def frame(self) -> Frame:
        """The newest frame from the browser."""
        return self._motion[1]

    @property
    def dragged(self) -> bool:
        """Whether it is being dragged in the browser."""
        return self._dragged

    @property
    def moving(self) -> bool:
        """Whether it is dragged, or was released but its last frame is not yet in a command."""
        return self._dragged or self._rested is not self._motion[1]

    def place(self, frame: Frame) -> None:
        """Puts the handle at a frame at once, and ends dragging."""
        self._dragged, self._rested = False, frame
        self._motion = (frame, frame, -math.inf)

    def drag(self, dragged: bool) -> None:
        """Dragging begins or ends."""
        self._dragged = dragged

    def move(self, position: ArrayLike, wxyz: ArrayLike | None = None) -> None:
        """A new sample from a browser: position (3,) in metres, quaternion (4,); an invalid one is dropped."""
        frame = valid_frame(position, self.frame.to_quaternion() if wxyz is None else wxyz)
        if frame is not None:
            now = time.monotonic()
            self._motion = (self.at(now), frame, now)

    def command(self, now: float) -> Frame | None:
        """The frame for the command at a time, at first the one where dragging began; None if it does not move."""
        before, self._engaged = self._engaged, self.moving
        if not self._engaged:
            return None
        if not before:
            return self._rested
        frame = self.at(now)
        if frame is self._motion[1]:
            self._rested = frame
        return frame

    def engage_again(self) -> None:
        """Engages a handle that moves where it is: the next command has its present frame, not that of its start."""
        self._engaged = self.moving

    def at(self, now: float) -> Frame:
        """The interpolated frame at a time."""
        start, end, since = self._motion
        u = (now - since) / INTERPOLATION
        if not u < 1:
            return end
        turn = (start.inverse() @ end).to_rotvec()
        return Frame.at(start.position + u * (end.position - start.position), start) @ Frame.rotvec(u * turn)


class Script:
    """Frames of the hands at given times: the tour, or a recording."""

    def __init__(self, frames: Array, times: Array, grippers: Array | None = None) -> None:
        """Frames (n, hands, 4, 4) at times (n,) in seconds from 0, ascending; nan for a released hand.

        ``grippers``: how far they are open (n, hands), 0 closed to 1 open; nan to leave one as it is.
        """
        self._grippers = grippers
        self._frames = [[Frame._trusted(one) if np.isfinite(one).all() else None for one in row] for row in frames]
        self._times = times

    @property
    def seconds(self) -> float:
        """Duration in seconds."""
        return float(self._times[-1])

    def at(self, t: float) -> Sequence[Frame | None]:
        """Frames of the hands at a time (s)."""
        return self._frames[self._index(t)]

    def grippers_at(self, t: float) -> list[float | None]:
        """How far the grippers are open at a time (s); empty if that is not known."""
        if self._grippers is None:
            return []
        return [None if math.isnan(opening) else opening for opening in self._grippers[self._index(t)].tolist()]

    def _index(self, t: float) -> int:
        return max(int(np.searchsorted(self._times, t, side="right")) - 1, 0)


class HandleSource:
    """The source of a page: its handles, or a script while one runs, or another source in their place."""

    def __init__(self, frames: Sequence[Frame], other: Source | None = None) -> None:
        """Handles at frames; with ``other`` its commands are passed on and the handles are ignored."""
        self.handles = tuple(map(Handle, frames))
        self.alive = False
        """Whether a browser drives; else there are no commands."""
        self.attached = True
        """Whether a dragged handle moves the arm; False while indexing."""
        self.answers: Callable[[float], bool] = lambda now: True
        """Whether the browser that drives answers at a time."""
        self.openings: list[float | None] = []
        """How far each gripper should open, 0 closed to 1 open; None: as it is."""
        self.forget_grippers()
        self._silent_since = math.inf
        self._other = other
        self._other_name = "the recording" if isinstance(other, Playback) else "the source"
        self.ended = ""
        """That the other source has ended; empty before that."""
        self._script: tuple[Script, float, Callable[[], None]] | None = None
        self._expected = False
        self._lock = threading.Lock()

    @property
    def other_drives(self) -> bool:
        """Whether another source drives in place of the handles."""
        return self._other is not None

    @property
    def scripted(self) -> bool:
        """Whether a script runs, or waits until the arm is at its start."""
        return self._script is not None or self._expected

    def release_handles(self) -> None:
        """Ends all dragging: a handle moves the arm again when it is taken hold of anew."""
        for handle in self.handles:
            handle.place(handle.frame)

    def forget_grippers(self) -> None:
        """The grippers stay as they are, until the operator moves them again."""
        self.openings = [None] * len(self.handles)

    def expect(self) -> None:
        """A script will be played when the arm is at its start; `end` takes that back."""
        self._expected = True

    def play(self, script: Script, done: Callable[[], None]) -> None:
        """Starts a script; ``done`` is called when it has ended, but not if `end` ends it."""
        with self._lock:
            self._script, self._expected = (script, time.monotonic(), done), False

    def end(self) -> None:
        """Ends a script, if one runs or is expected."""
        with self._lock:
            self._script, self._expected = None, False

    def read(self) -> Command | None:
        """The command of the handles; None while no browser drives. A handle that does not move is released.

        Raises `Silent` while the browser that drives does not answer. When it answers again, a script goes on where it
        was, and a handle that is dragged is engaged where it is then.
        """
        running, other = self._script, self._other
        if running is None and other is not None:
            try:
                return other.read()
            except StopIteration:  # such as the end of a recording: the handles drive from now on
                self.ended = f"{self._other_name} has ended"
                self.close()
        if not self.alive:
            if self.ended:
                raise Silent(self.ended)
            return None
        now = time.monotonic()
        self._check_silence(now)
        running = self._script
        if running is not None:
            return self._scripted(*running, now)
        frames = [handle.command(now) for handle in self.handles]
        hands = frames if self.attached else [None] * len(frames)
        return Command(hands=hands, stamp=now, grippers=tuple(self.openings))

    def _check_silence(self, now: float) -> None:
        if not self.answers(now):
            self._silent_since = min(self._silent_since, now)
            raise Silent(TOO_SLOW)
        if now > self._silent_since:
            for handle in self.handles:
                handle.engage_again()
            with self._lock:
                if self._script is not None:
                    script, since, done = self._script
                    self._script = script, since + now - max(self._silent_since, since), done
            self._silent_since = math.inf

    def _scripted(self, script: Script, since: float, done: Callable[[], None], now: float) -> Command:
        frames = script.at(now - since)
        for handle, frame in zip(self.handles, frames, strict=False):
            if frame is not None:
                handle.place(frame)
        if now - since > script.seconds:
            with self._lock:
                ended = self._script is not None and self._script[0] is script
                self._script = None if ended else self._script
            if ended:
                done()
        hands = [*frames, *[None] * (len(self.handles) - len(frames))]
        return Command(hands=hands, stamp=now, grippers=self._script_grippers(script, now - since))

    def _script_grippers(self, script: Script, t: float) -> tuple[float | None, ...]:
        """The grippers of a script at a time (s); where it has none, those of the operator."""
        given = script.grippers_at(t)
        return tuple(given) if len(given) == len(self.handles) else tuple(self.openings)

    def close(self) -> None:
        """Closes the other source, if there is one."""
        other, self._other = self._other, None
        if other is not None:
            other.close()


def valid_frame(position: ArrayLike, wxyz: ArrayLike) -> Frame | None:
    """The frame of a sample from a browser; None if it is invalid."""
    try:
        place, turn = np.array(position, dtype=float), np.array(wxyz, dtype=float)
    except (TypeError, ValueError):
        return None
    if place.shape != (3,) or turn.shape != (4,) or not np.isfinite([*place, *turn]).all():
        return None
    length = float(np.linalg.norm(turn))
    if np.abs(place).max() > MAX_POSITION or not 0.5 < length < 2:
        return None
    return Frame.at(place, Frame.quaternion(turn / length))
