"""Statistics: how well a loop kept its time, in bounded memory."""

from __future__ import annotations

import math

_LEAST, _STEP, _BINS = 1e-7, math.log(1.02), 1050  # bins of lateness: from 0.1 us to 100 s, 2 % wide


class Statistics:
    """How a loop went. It counts; its size does not grow. It may be read while the loop runs.

    Printed, it is a sentence: 300 Hz for 60.0 s: 17,998 ticks, 2 missed (0.01 %); late by 2 us at p50 ...
    """

    def __init__(self, rate: float) -> None:
        self.rate = rate
        """Ticks a second that were asked for."""
        self.ticks = 0
        """Ticks that ran."""
        self.missed = 0
        """Deadlines missed: ticks that ran and were not done when the next was due, and ticks that were skipped."""
        self.skipped = 0
        """Ticks that did not run, since the one after them was due already. The tracker was given their time."""
        self.held = 0
        """Ticks in which the loop held the arm; the braking at its end is not counted."""
        self.holds = 0
        """How often it began to."""
        self.failures = 0
        """Ticks in which the source raised, or the arm's joint values could not be had."""
        self.said = ""
        """The newest reason to hold the arm, in words."""
        self.seconds = 0.0
        """How long it ran."""
        self.tracker_seconds = 0.0
        """Time in the tracker."""
        self.work_seconds = 0.0
        """Time in ticks: source, mapping, tracker and sink."""
        self.latest = 0.0
        """The latest that a tick began after it was due, in seconds."""
        self._late = [0] * _BINS

    @property
    def missed_share(self) -> float:
        """Deadlines missed, as a share of all that were due: 0 to 1."""
        return self.missed / max(self.ticks + self.skipped, 1)

    @property
    def tracker_share(self) -> float:
        """The tracker's share of the time: 0 to 1."""
        return self.tracker_seconds / self.seconds if self.seconds else 0.0

    @property
    def work_share(self) -> float:
        """The share of the time in which the loop was at work, and did not wait: 0 to 1."""
        return self.work_seconds / self.seconds if self.seconds else 0.0

    def jitter(self, share: float = 0.999) -> float:
        """How late ticks begin, in seconds: this share of them (0 to 1) is not later. Exact to 2 %."""
        left = share * self.ticks
        for k, count in enumerate(self._late):
            left -= count
            if count and left <= 1e-9:
                return min(_LEAST * math.exp(_STEP * (k + 1)), self.latest)
        return self.latest

    def note(self, late: float) -> None:
        """A tick ran, `late` seconds after it, or the first that was skipped for it, was due."""
        self.ticks += 1
        if late > self.latest:
            self.latest = late
        self._late[min(int(math.log(late / _LEAST) / _STEP), _BINS - 1) if late > _LEAST else 0] += 1

    def __str__(self) -> str:
        late = ", ".join(f"{_said(self.jitter(p))} at p{100 * p:g}" for p in (0.5, 0.99, 0.999))
        tracker = self.tracker_seconds / max(self.ticks, 1)
        parts = [
            f"{self.rate:g} Hz for {self.seconds:.1f} s: {self.ticks:,} ticks, "
            f"{self.missed:,} missed ({100 * self.missed_share:.2f} %)",
            f"late by {late}, {_said(self.latest)} at most",
            f"the tracker takes {_said(tracker)} a tick, {100 * self.tracker_share:.1f} % of the time",
        ]
        if self.held:
            parts.append(f"held in {self.held:,} ticks, at last: {self.said}")
        if self.failures:
            parts.append(f"{self.failures:,} failures")
        return "; ".join(parts)

    def __repr__(self) -> str:
        return f"<Statistics: {self}>"


def _said(seconds: float) -> str:
    return f"{1e6 * seconds:.0f} us" if seconds < 1e-3 else f"{1e3 * seconds:.1f} ms"
