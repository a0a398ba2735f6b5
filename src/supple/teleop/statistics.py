"""Statistics: ticks, missed deadlines and jitter of a loop, in bounded memory."""

from __future__ import annotations

import math

from supple import _check

_LONGEST = 1e9  # s
_SHORTEST, _WIDTH, _BINS = 1e-7, math.log(1.02), 1050  # histogram of lateness: 0.1 us to 100 s, bins 2 % wide


class Statistics:
    """Counts of a loop, of constant size. They may be read while the loop runs.

    Printed: 300 Hz for 60.0 s: 17,998 ticks, 2 missed (0.01 %); late by 2 us at p50 ...
    """

    def __init__(self, rate: float) -> None:
        self.rate = _check.positive(rate, "rate")
        """Requested ticks per second."""
        self.ticks = 0
        """Ticks that ran."""
        self.missed = 0
        """Missed deadlines: ticks that were not done when the next was due, and skipped ticks."""
        self.skipped = 0
        """Ticks that did not run because the next was already due. Their time is added to the next time step."""
        self.held = 0
        """Ticks in which the loop held the arm, without the braking at its end."""
        self.holds = 0
        """Number of times it began to hold the arm."""
        self.failures = 0
        """Ticks in which the source or the measurement of the arm failed; not those before its first reading."""
        self.hold_reason = ""
        """The newest reason to hold the arm."""
        self.arm_end = ""
        """What failed when a real arm was held or released and closed at the end; else empty."""
        self.seconds = 0.0
        """Run time in seconds."""
        self.tracker_seconds = 0.0
        """Time in the tracker, in seconds."""
        self.work_seconds = 0.0
        """Time in ticks (source, mapping, tracker and sink), in seconds."""
        self.latest = 0.0
        """Largest delay of a tick, in seconds."""
        self._late = [0] * _BINS

    @property
    def missed_share(self) -> float:
        """Missed deadlines as a fraction of all: 0 to 1."""
        return self.missed / max(self.ticks + self.skipped, 1)

    @property
    def tracker_share(self) -> float:
        """Fraction of the time spent in the tracker: 0 to 1."""
        return self.tracker_seconds / self.seconds if self.seconds else 0.0

    @property
    def work_share(self) -> float:
        """Fraction of the time spent in ticks rather than waiting: 0 to 1."""
        return self.work_seconds / self.seconds if self.seconds else 0.0

    def jitter(self, share: float = 0.999) -> float:
        """Quantile of the delay of ticks, in seconds: ``share`` of them (0 to 1) are not later. Exact to 2 %."""
        left = _check.fraction(share, "share", zero=True) * self.ticks
        for k, count in enumerate(self._late):
            left -= count
            if count and left <= 1e-9:
                return min(_SHORTEST * math.exp(_WIDTH * (k + 1)), self.latest)
        return self.latest

    def count(self, late: float) -> None:
        """Counts a tick that ran; ``late`` is its delay in seconds, from the first skipped tick before it."""
        late = min(_check.finite_or_not(late, "late"), _LONGEST)
        self.ticks += 1
        if late > self.latest:
            self.latest = late
        self._late[min(int(math.log(late / _SHORTEST) / _WIDTH), _BINS - 1) if late > _SHORTEST else 0] += 1

    def __str__(self) -> str:
        late = ", ".join(f"{_short(self.jitter(p))} at p{100 * p:g}" for p in (0.5, 0.99, 0.999))
        tracker = self.tracker_seconds / max(self.ticks, 1)
        parts = [
            f"{self.rate:g} Hz for {self.seconds:.1f} s: {self.ticks:,} ticks, "
            f"{self.missed:,} missed ({100 * self.missed_share:.2f} %)",
            f"late by {late}, {_short(self.latest)} at most",
            f"the tracker takes {_short(tracker)} a tick, {100 * self.tracker_share:.1f} % of the time",
        ]
        if self.held:
            parts.append(f"held in {self.held:,} ticks, last reason: {self.hold_reason}")
        if self.failures:
            parts.append(f"{self.failures:,} ticks without an answer of the source or the arm")
        if self.arm_end:
            parts.append(f"at the end of the arm: {self.arm_end}")
        return "; ".join(parts)

    def __repr__(self) -> str:
        return f"<Statistics: {self}>"


def _short(seconds: float) -> str:
    return f"{1e6 * seconds:.0f} us" if seconds < 1e-3 else f"{1e3 * seconds:.1f} ms"
