"""The gate of a network source: who may drive, how often, and which command is the newest."""

from __future__ import annotations

import hmac
import math
import threading
from collections.abc import Hashable
from dataclasses import dataclass, replace

from supple.errors import BadInput
from supple.teleop.command import Command
from supple.teleop.network import wire

SHORTEST = 8
"""Characters of the shortest token; fewer are guessed."""
REST = 1e-3
"""Seconds that a listener rests after a packet over the rate, so that a flood holds the arm but not the loop."""
_REFUSALS = 10.0  # answers a second to those who are refused: enough to be seen, too few to be a flood


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the packets that came."""

    received: int = 0
    """All of them."""
    malformed: int = 0
    """Dropped: not of the format."""
    old: int = 0
    """Dropped: not newer than the newest; late, or come twice."""
    over_rate: int = 0
    """Dropped: more a second than is allowed."""
    refused: int = 0
    """Dropped, and answered: another operator drives, or the token is wrong."""

    @property
    def dropped(self) -> int:
        """All that were dropped."""
        return self.malformed + self.old + self.over_rate + self.refused

    def __str__(self) -> str:
        parts = {"malformed": self.malformed, "old": self.old, "over rate": self.over_rate, "refused": self.refused}
        lost = ", ".join(f"{count:,} {name}" for name, count in parts.items() if count)
        return f"{self.received:,} received, {self.dropped:,} dropped" + (f": {lost}" if lost else "")


class Gate:
    """One operator at a time, newest command first. Knows no socket and no clock: it is told who, what and when."""

    flooded: bool
    """Whether the last packet was over the rate."""

    def __init__(self, token: str, limit: float, release: float) -> None:
        """As `UdpSource` has it: a token or none, packets a second, seconds until the seat is free."""
        wire.checked_token(token)
        if token and len(token) < SHORTEST:
            raise BadInput(f"a token has at least {SHORTEST} characters, got {len(token)}")
        if not (0 < limit < float("inf") and 0 < release < float("inf")):
            raise BadInput(f"limit and release must be finite and positive, got {limit!r} and {release!r}")
        self._token, self._release = token, release
        # the operator has an allowance of its own, so that no crowd can use it up; the crowd shares one
        self._mine, self._others = _Allowance(limit), _Allowance(limit)
        self._answers = _Allowance(_REFUSALS)
        self._lock = threading.Lock()
        self.flooded = False
        self._counts = Counts()
        self._driver: Hashable | None = None
        self._form = wire.Form.BINARY
        self._heard = 0.0
        self._sequence = 0
        self._shift = 0.0  # from the operator's clock to ours, so that stamps go on when another operator drives
        self._newest: Command | None = None
        self._hands = 0
        self._letting_go = False

    @property
    def counts(self) -> Counts:
        """What became of the packets so far."""
        return self._counts

    @property
    def driver(self) -> tuple[Hashable | None, wire.Form]:
        """Who drives, None if nobody does, and the form they write in."""
        with self._lock:
            return self._driver, self._form

    def hear(self, sender: Hashable, data: bytes, now: float) -> bytes | None:
        """Takes a packet that came at a time (s, any steady clock); what to answer, None if nothing."""
        with self._lock:
            fate, answer = self._judged(sender, data, now)
            self._count("received", *fate)
            self.flooded = "over_rate" in fate
            return answer

    def _judged(self, sender: Hashable, data: bytes, now: float) -> tuple[tuple[str, ...], bytes | None]:
        """As what a packet is dropped, nothing if it is not, and what to answer."""
        if not (self._mine if sender == self._driver else self._others).take(now):
            return ("over_rate",), None
        try:
            command, token, form = wire.decode(data)
        except wire.Malformed:
            return ("malformed",), None
        if not hmac.compare_digest(token, self._token):
            return ("refused",), self._refusal("the token is wrong", command, form, now)
        anew = self._driver is None or now - self._heard > self._release
        if not anew and sender != self._driver:
            return ("refused",), self._refusal("another operator drives", command, form, now)
        if not (anew or wire.newer(command.sequence, self._sequence)):
            return ("old",), None
        if anew:
            self._let_go()
            self._driver, self._form = sender, form
            self._shift = 0.0 if math.isnan(command.stamp) else now - command.stamp
        self._sequence, self._heard = command.sequence, now
        self._newest = replace(command, stamp=command.stamp + self._shift)
        self._hands = len(command.hands) or self._hands
        return (), None

    def read(self) -> Command | None:
        """The newest command since the last call, or None; before those of a new operator, that the last lets go."""
        with self._lock:
            if self._letting_go:
                self._letting_go = False
                return Command(hands=[None] * self._hands, grip=False)
            newest, self._newest = self._newest, None
            return newest

    def leave(self, sender: Hashable) -> None:
        """A sender is gone: if it was the operator, its hands let go and the seat is free."""
        with self._lock:
            if sender == self._driver:
                self._driver = self._newest = None
                self._let_go()

    def broken(self) -> None:
        """Counts a packet that came but could not even be taken."""
        with self._lock:
            self._count("received", "malformed")

    def turned_away(self) -> None:
        """Counts a sender that was refused before it could speak."""
        with self._lock:
            self._count("received", "refused")

    def _let_go(self) -> None:
        self._letting_go = self._hands > 0

    def _refusal(self, reason: str, command: Command, form: wire.Form, now: float) -> bytes | None:
        if not self._answers.take(now):
            return None
        return wire.encode_answer(wire.Refusal(reason, command.sequence), form)

    def _count(self, *kinds: str) -> None:
        self._counts = replace(self._counts, **{kind: getattr(self._counts, kind) + 1 for kind in kinds})


class _Allowance:
    """So many a second, and a tenth of a second's worth at once."""

    def __init__(self, rate: float) -> None:
        self._rate, self._most = rate, max(rate / 10, 1.0)
        self._left, self._at = self._most, float("-inf")

    def take(self, now: float) -> bool:
        """Whether one more is allowed."""
        self._left = min(self._left + self._rate * max(now - self._at, 0.0), self._most)
        self._at = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True
