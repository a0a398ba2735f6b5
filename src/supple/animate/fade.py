"""Numbers that follow frame by frame without jumps: offsets that fade, bounds above what is known ahead, slow means."""

from __future__ import annotations

import numpy as np

from supple.frame import Array

_OF_SLOPE, _OF_BEND = 0.19, 0.0173  # the farthest that quintics go whose first slope or acceleration is 1, in 1


class Fade:
    """An offset (3,) that ends after some frames: a quintic to zero without slope and acceleration there."""

    def __init__(self, most: float) -> None:
        """No offset. Its slope and acceleration at first may lead it away by ``most``: noise of a source that is not
        filtered would lead it anywhere.
        """
        self._most = most
        self.left = 0
        """Frames until it ends."""
        self._value = self._slope = self._bend = np.zeros(3)  # of this frame; slope and acceleration a frame

    def begin(self, before: Array, left: int) -> None:
        """The offset goes on from its last three values (3, 3), oldest first, and ends in ``left`` frames."""
        self._value = before[2]
        self._slope = 1.5 * before[2] - 2 * before[1] + 0.5 * before[0]
        self._bend = before[2] - 2 * before[1] + before[0]
        self.left = left
        away = _OF_SLOPE * left * np.linalg.norm(self._slope) + _OF_BEND * left**2 * np.linalg.norm(self._bend)
        part = min(1.0, self._most / max(float(away), 1e-12))
        self._slope, self._bend = part * self._slope, part * self._bend

    def shift(self, way: Array, left: int) -> None:
        """Moves the offset by ``way`` (3,), since what it is measured from has moved; it ends in ``left`` frames."""
        self._value, self.left = self._value + way, left

    def at(self, frames: float) -> Array:
        """The offset (3,) some frames from now."""
        return self._curve(frames)[0]

    def next(self) -> Array:
        """Goes on to the next frame: its offset (3,)."""
        self._value, self._slope, self._bend = self._curve(1)
        self.left = max(self.left - 1, 0)
        return self._value

    def _curve(self, frames: float) -> tuple[Array, Array, Array]:
        """Value, slope and acceleration (3,) some frames from now.

        With the part s of the time T that is left then, the quintic that has value x, slope v and acceleration a at
        s = 1 and none of them at s = 0 is c3 s^3 + c4 s^4 + c5 s^5.
        """
        if frames >= self.left:
            return np.zeros(3), np.zeros(3), np.zeros(3)
        time = float(self.left)
        x, v, a = self._value, time * self._slope, time * time * self._bend
        c3, c4, c5 = 10 * x + 4 * v + 0.5 * a, -15 * x - 7 * v - a, 6 * x + 3 * v + 0.5 * a
        s = 1 - frames / time
        value = s**3 * (c3 + s * (c4 + s * c5))
        slope = -(s**2) * (3 * c3 + s * (4 * c4 + s * 5 * c5)) / time
        bend = s * (6 * c3 + s * (12 * c4 + s * 20 * c5)) / time**2
        return value, slope, bend


class SplitFade:
    """An offset (3,) whose part along a direction and whose part across it end at different times."""

    def __init__(self, most: float, *, along: bool) -> None:
        """No offset. ``most``: see `Fade`; ``along``: whether the part along the direction ends first."""
        self._along = along
        self._quick, self._slow = Fade(most), Fade(most)

    @property
    def left(self) -> int:
        """Frames until the quick part ends."""
        return self._quick.left

    def begin(self, before: Array, left: int, direction: Array, later: int = 0) -> None:
        """As `Fade.begin`, with a direction (3,) of length 1; the slow part ends ``later`` frames after the other."""
        quick, slow = self._parts(before, direction)
        self._quick.begin(quick, left)
        self._slow.begin(slow, left + later)

    def shift(self, way: Array, left: int, direction: Array) -> None:
        """As `Fade.shift`."""
        quick, slow = self._parts(way, direction)
        self._quick.shift(quick, left)
        self._slow.shift(slow, max(left, self._slow.left))

    def quick_at(self, frames: float) -> float:
        """The length of the quick part some frames from now."""
        return float(np.linalg.norm(self._quick.at(frames)))

    def at(self, frames: float) -> Array:
        """The offset (3,) some frames from now."""
        return self._quick.at(frames) + self._slow.at(frames)

    def next(self) -> Array:
        """Goes on to the next frame: its offset (3,)."""
        return self._quick.next() + self._slow.next()

    def _parts(self, offsets: Array, direction: Array) -> tuple[Array, Array]:
        """The quick and the slow part of offsets (..., 3)."""
        along = (offsets @ direction)[..., None] * direction
        return (along, offsets - along) if self._along else (offsets - along, along)


class Bound:
    """A smooth bound above numbers that are known some frames ahead: a mean of the largest that were ahead.

    It is above them if the mean is over no more frames than are known ahead; else it may come late.
    """

    def __init__(self, frames: int) -> None:
        """A mean over so many frames, with a Hann window."""
        weights = 1 - np.cos(2 * np.pi * np.arange(1, frames + 1) / (frames + 1))
        self._weights = weights / weights.sum()
        self._largest: Array | None = None

    def next(self, ahead: Array) -> float:
        """The bound in this frame, for the numbers (n,) of this frame and of those after it."""
        largest = float(ahead.max())
        if self._largest is None:
            self._largest = np.full(len(self._weights), largest)
        self._largest[:-1] = self._largest[1:]
        self._largest[-1] = largest
        return float(self._weights @ self._largest)


class SlowMean:
    """A mean of numbers that changes slowly and without jumps: two filters of first order, one after the other."""

    def __init__(self) -> None:
        """No number yet: the first counts in full."""
        self.value = 0.0
        self._found: float | None = None

    def next(self, found: float | None, part: float) -> float:
        """The mean with one more number, if there is one; ``part``: how much of the way to it each filter goes."""
        if self._found is None:
            if found is not None:
                self._found = self.value = found
            return self.value
        if found is not None:
            self._found += part * (found - self._found)
        self.value += part * (self._found - self.value)
        return self.value
