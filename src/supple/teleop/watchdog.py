"""Watchdog: whether an operator can be trusted now, and if not, why not."""

from __future__ import annotations

import math

from supple.teleop.command import Command

_RESTART = 1.0  # s: a stamp that goes back by more is another clock
_DRIFT = 1e-3  # s/s: two clocks never run apart faster
_STEADY = 2.0  # s: commands that come steadily late for so long are not late: a clock was set, or the way is longer


class Watchdog:
    """Hears every command. A silent, stale or senseless operator is a reason to hold the arm.

    - Silent: nothing new for `patience` seconds, or nothing at all yet. A stamp that does not move on is nothing new.
    - Stale: a command that comes more than `patience` seconds later than the quickest before it. The operator's clock
      may differ from ours by anything, but it runs on as ours does. After two seconds of that it was the clock.
    - Senseless: hands that are not finite frames, or too many or too few of them.

    A command older than the one before is passed over. But one that goes back by more than a second means that the
    operator has begun anew: the arm is held until the next.
    """

    def __init__(self, patience: float, hands: int) -> None:
        self.patience, self.hands = patience, hands
        self._heard = math.nan
        self._stamp = math.nan
        self._offset = math.inf  # the least that our clock was ahead of the stamp when a command came
        self._since = 0.0  # when that was reckoned
        self._stale = (math.nan, math.nan)  # since when all are stale, and how far our clock was ahead then
        self._flaw = ""

    def hear(self, command: Command, now: float) -> bool:
        """Whether this is a new command to act upon; `why` tells what to think of it."""
        stamp = command.stamp
        if math.isfinite(stamp):
            back = self._stamp - stamp
            if back > _RESTART:  # perhaps another operator, whose hand is elsewhere: a moment's hold makes it grip anew
                self._stamp, self._since, self._offset = stamp, now, now - stamp
                self._flaw = "the operator's clock began anew"
                return False
            if back >= 0:
                return False
            ahead, gap = now - stamp, now - self._since
            self._offset = min(self._offset + _DRIFT * gap, ahead)
            self._stamp, self._since = stamp, now
            if ahead - self._offset > self.patience:
                since, then = self._stale
                if not (abs(ahead - then) <= self.patience and gap <= self.patience):
                    self._stale = since, then = now, ahead
                if now - since < _STEADY:
                    self._flaw = f"stale: commands come more than {self.patience:g} s late"
                    return False
                self._offset = min(then, ahead)
            self._stale = (math.nan, math.nan)
        self._heard = now
        self._flaw = command.flaw
        if len(command.hands) not in (0, self.hands):
            self._flaw = f"{len(command.hands)} hands for {self.hands} links"
        return not self._flaw

    def why(self, now: float) -> str:
        """Why the arm must be held, in words; empty if it need not."""
        if self._flaw:
            return self._flaw
        if math.isnan(self._heard):
            return "no command yet"
        return f"silent for more than {self.patience:g} s" if now - self._heard > self.patience else ""
