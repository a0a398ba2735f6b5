"""Watchdog: decides from the commands whether the arm must be held, and gives the reason."""

from __future__ import annotations

import math

from supple.teleop.command import Command

_RESTART = 1.0  # s; a stamp that goes back by more comes from another clock
_DRIFT = 1e-3  # s/s; two clocks never drift apart faster
_STEADY_DELAY = 2.0  # s; after this time a constant delay is taken for a changed clock or a longer network path


class Silent(Exception):
    """Raised by a source that knows that its operator is silent: the arm is held at once, with this reason."""


class Watchdog:
    """Checks every command. The arm is held while the operator is silent, or the commands are stale or invalid.

    - Silent: no new command for `patience` seconds, or none yet. A command with an old stamp is not new.
    - Stale: a command arrives more than `patience` seconds later than the fastest one before it. Any constant offset
      between the operator's clock and this one is allowed. A delay that stays the same for two seconds becomes the new
      offset.
    - Invalid: hands that are not finite frames, or a wrong number of hands.

    A command with an older stamp than the one before is dropped. A stamp that goes back by more than a second means
    that the operator has restarted: the arm is held until the next command.
    """

    def __init__(self, patience: float, hands: int) -> None:
        self.patience, self.hands = patience, hands
        self._arrived = math.nan
        self._stamp = math.nan
        self._offset = math.inf  # smallest (our clock - stamp) at an arrival
        self._offset_time = 0.0  # when the offset was last updated
        self._stale = (math.nan, math.nan)  # since when all commands are stale, and the offset at that time
        self._flaw = ""

    def accept(self, command: Command, now: float) -> bool:
        """Whether this is a new, valid command; `reason` says why the arm must be held, if it must."""
        if math.isfinite(command.stamp) and not self._accept_stamp(command.stamp, now):
            return False
        self._arrived = now
        self._flaw = command.flaw
        if len(command.hands) not in (0, self.hands):
            self._flaw = f"{len(command.hands)} hands for {self.hands} links"
        elif len(command.grippers) not in (0, self.hands):
            self._flaw = f"{len(command.grippers)} grippers for {self.hands} links"
        return not self._flaw

    def reason(self, now: float) -> str:
        """Why the arm must be held; empty if it need not be."""
        if self._flaw:
            return self._flaw
        if math.isnan(self._arrived):
            return "no command yet"
        return f"silent for more than {self.patience:g} s" if now - self._arrived > self.patience else ""

    def _accept_stamp(self, stamp: float, now: float) -> bool:
        back = self._stamp - stamp
        if back > _RESTART:  # perhaps another operator with the hand elsewhere: holding makes it engage again
            self._stamp, self._offset_time, self._offset = stamp, now, now - stamp
            self._flaw = "the operator's clock has restarted"
            return False
        if back >= 0:
            return False
        offset, gap = now - stamp, now - self._offset_time
        self._offset = min(self._offset + _DRIFT * gap, offset)
        self._stamp, self._offset_time = stamp, now
        if offset - self._offset > self.patience:
            since, first = self._stale
            if not (abs(offset - first) <= self.patience and gap <= self.patience):
                self._stale = since, first = now, offset
            if now - since < _STEADY_DELAY:
                self._flaw = f"stale: commands come more than {self.patience:g} s late"
                return False
            self._offset = min(first, offset)
        self._stale = (math.nan, math.nan)
        return True
