"""RateLimit: a token bucket."""

from __future__ import annotations


class RateLimit:
    """A rate a second, and at most a tenth of a second's worth at once, or ``burst``. It has no clock of its own."""

    def __init__(self, rate: float, burst: float | None = None) -> None:
        self._rate, self._most = rate, max(rate / 10, 1.0) if burst is None else burst
        self._left, self._at = self._most, float("-inf")

    def allow(self, now: float) -> bool:
        """Whether one more is allowed at a time (s)."""
        self._refill(now)
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True

    def delay(self, amount: float, now: float) -> float:
        """Takes an amount in any case; returns the seconds to wait until the rate is kept again."""
        self._refill(now)
        self._left -= amount
        return max(-self._left / self._rate, 0.0)

    def _refill(self, now: float) -> None:
        self._left = min(self._left + self._rate * max(now - self._at, 0.0), self._most)
        self._at = now
