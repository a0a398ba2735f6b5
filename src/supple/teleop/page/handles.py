"""Hands: the handles of a page as a source of commands, smooth between the samples that a browser sends."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from supple.frame import Array, Frame
from supple.teleop.command import Command, Source

GLIDE = 0.06
"""Seconds in which a handle glides to a new sample: a browser sends one every 0.05."""
FAR = 1e4
"""Metres from the origin beyond which a handle is not believed."""


class Hand:
    """One handle: where it is, and whether somebody holds it. Used from any thread."""

    def __init__(self, frame: Frame) -> None:
        """A handle at a frame that nobody holds."""
        self._way = (frame, frame, -math.inf)  # from, to, since when: one tuple, so that no reader sees half of it
        self._given = frame  # where it last came to rest, as it was passed on
        self._dragged = self._gripped = False

    @property
    def frame(self) -> Frame:
        """Where the handle is, as last said by the browser."""
        return self._way[1]

    @property
    def dragged(self) -> bool:
        """Whether somebody holds it in the browser."""
        return self._dragged

    @property
    def held(self) -> bool:
        """Whether it is dragged, or has been let go before it was passed on where it came to rest."""
        return self._dragged or self._given is not self._way[1]

    def place(self, frame: Frame) -> None:
        """Puts the handle there at once; nobody holds it any longer."""
        self._dragged, self._given = False, frame
        self._way = (frame, frame, -math.inf)

    def drag(self, dragged: bool) -> None:
        """Somebody takes hold, or lets go."""
        self._dragged = dragged

    def move(self, position: ArrayLike, wxyz: ArrayLike | None = None) -> None:
        """A new sample from a browser: position (3,) in metres, quaternion (4,); one that makes no sense is dropped."""
        frame = believable(position, self.frame.to_quaternion() if wxyz is None else wxyz)
        if frame is not None:
            now = time.monotonic()
            self._way = (self.at(now), frame, now)

    def take(self, now: float) -> Frame | None:
        """The frame to pass on at a time, at first the one where it was taken hold of; None if nobody holds it."""
        before, self._gripped = self._gripped, self.held
        if not self._gripped:
            return None
        if not before:
            return self._given
        frame = self.at(now)
        if frame is self._way[1]:
            self._given = frame
        return frame

    def at(self, now: float) -> Frame:
        """Where it is at a time, on its way from sample to sample."""
        start, end, since = self._way
        u = (now - since) / GLIDE
        if not u < 1:
            return end
        turn = (start.inverse() @ end).to_rotvec()
        return Frame.at(start.position + u * (end.position - start.position), start) @ Frame.rotvec(u * turn)


class Script:
    """Hands that move by themselves: the tour, or a recording."""

    def __init__(self, frames: Array, times: Array) -> None:
        """Frames (n, hands, 4, 4) at times (n,) in seconds from 0, ascending; frames that are nan let go."""
        self._frames = [[Frame._trusted(one) if np.isfinite(one).all() else None for one in row] for row in frames]
        self._times = times

    @property
    def seconds(self) -> float:
        """How long it takes."""
        return float(self._times[-1])

    def at(self, t: float) -> Sequence[Frame | None]:
        """The hands at a time."""
        return self._frames[max(int(np.searchsorted(self._times, t, side="right")) - 1, 0)]


class Hands:
    """The source of a page: its handles, or a script while one runs, or another source that drives instead."""

    def __init__(self, frames: Sequence[Frame], other: Source | None = None) -> None:
        """Handles at frames; with ``other`` its commands are passed on and the handles have no say."""
        self.hands = tuple(map(Hand, frames))
        self.alive = False
        """Whether somebody is there to drive; else it is silent."""
        self.holding = True
        """Whether a handle that is dragged takes the arm along; False while indexing."""
        self._other = other
        self._script: tuple[Script, float, Callable[[], None]] | None = None
        self._lock = threading.Lock()

    @property
    def driven(self) -> bool:
        """Whether another source drives, and not the handles."""
        return self._other is not None

    @property
    def scripted(self) -> bool:
        """Whether a script moves the hands."""
        return self._script is not None

    def play(self, script: Script, done: Callable[[], None]) -> None:
        """Lets a script move the hands from now on; ``done`` is called when it has ended by itself."""
        with self._lock:
            self._script = (script, time.monotonic(), done)

    def end(self) -> None:
        """Ends a script, if one runs."""
        with self._lock:
            self._script = None

    def read(self) -> Command | None:
        """What the hands do now; None while nobody is there. A hand that is not held lets go."""
        running, other = self._script, self._other
        if running is None and other is not None:
            try:
                return other.read()
            except StopIteration:  # a recording has ended: the handles may drive
                self.close()
        if not self.alive:
            return None
        now = time.monotonic()
        if running is not None:
            return self._scripted(*running, now)
        taken = [hand.take(now) for hand in self.hands]
        return Command(hands=taken if self.holding else [None] * len(taken), stamp=now)

    def _scripted(self, script: Script, since: float, done: Callable[[], None], now: float) -> Command:
        given = script.at(now - since)
        for hand, frame in zip(self.hands, given, strict=False):
            if frame is not None:
                hand.place(frame)
        if now - since > script.seconds:
            with self._lock:
                mine = self._script is not None and self._script[0] is script
                self._script = None if mine else self._script
            if mine:
                done()
        return Command(hands=[*given, *[None] * (len(self.hands) - len(given))], stamp=now)

    def close(self) -> None:
        """Closes the other source, if there is one."""
        other, self._other = self._other, None
        if other is not None:
            other.close()


def believable(position: ArrayLike, wxyz: ArrayLike) -> Frame | None:
    """A frame of what a browser sent; None if no handle can be there."""
    try:
        place, turn = np.array(position, dtype=float), np.array(wxyz, dtype=float)
    except (TypeError, ValueError):
        return None
    if place.shape != (3,) or turn.shape != (4,) or not np.isfinite([*place, *turn]).all():
        return None
    length = float(np.linalg.norm(turn))
    if np.abs(place).max() > FAR or not 0.5 < length < 2:
        return None
    return Frame.at(place, Frame.quaternion(turn / length))
