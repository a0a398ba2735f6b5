"""Access control of a network source: which sender may drive, at what rate, and the newest command."""

from __future__ import annotations

import hmac
import math
import threading
from collections.abc import Hashable
from dataclasses import dataclass, replace

from supple import _check
from supple.errors import BadInput
from supple.teleop.command import Command
from supple.teleop.network import wire
from supple.view.rate_limit import RateLimit

MIN_TOKEN = 8
"""Characters of the shortest allowed token; shorter ones can be guessed."""
FLOOD_PAUSE = 1e-3
"""Seconds that a listener sleeps after packets over the rate, so that a flood cannot slow down the loop."""
_REFUSAL_RATE = 10.0  # refusals a second; more could be used to flood someone else


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of the received packets."""

    received: int = 0
    """All packets."""
    malformed: int = 0
    """Dropped: not in the wire format."""
    old: int = 0
    """Dropped: not newer than the newest one; late or a duplicate."""
    over_rate: int = 0
    """Dropped: over the allowed rate."""
    refused: int = 0
    """Dropped and answered: another operator drives, or the token is wrong."""

    @property
    def dropped(self) -> int:
        """All dropped packets."""
        return self.malformed + self.old + self.over_rate + self.refused

    def __str__(self) -> str:
        parts = {"malformed": self.malformed, "old": self.old, "over rate": self.over_rate, "refused": self.refused}
        lost = ", ".join(f"{count:,} {name}" for name, count in parts.items() if count)
        return f"{self.received:,} received, {self.dropped:,} dropped" + (f": {lost}" if lost else "")


class AccessControl:
    """Lets one operator drive at a time and holds the newest command. It has no socket and no clock of its own."""

    flooded: bool
    """Whether the last packet was over the rate."""
    authentic: bool
    """Whether the last packet was well-formed and had the right token."""

    def __init__(self, token: str, limit: float, release: float) -> None:
        """Arguments as for `UdpSource`."""
        wire.check_token(token)
        if token and len(token) < MIN_TOKEN:
            raise BadInput(f"a token has at least {MIN_TOKEN} characters, got {len(token)}")
        limit = _check.positive(limit, "limit", "packets a second")
        self._token, self._release = token, _check.positive(release, "release", "seconds")
        # the operator has its own rate limit, so that others cannot use it up; all others share one
        self._operator_limit, self._others_limit = RateLimit(limit), RateLimit(limit)
        self._refusal_limit = RateLimit(_REFUSAL_RATE)
        self._lock = threading.Lock()
        self.flooded = self.authentic = False
        self._counts = Counts()
        self._operator: Hashable | None = None
        self._form = wire.Form.BINARY
        self._arrived = 0.0
        self._sequence = 0
        self._clock_offset = 0.0  # our clock - the operator's, so that stamps keep rising when operators change
        self._newest: Command | None = None
        self._hands = 0
        self._release_hands = False

    @property
    def counts(self) -> Counts:
        """Counts of the packets so far."""
        return self._counts

    @property
    def operator(self) -> tuple[Hashable | None, wire.Form]:
        """The sender that drives, None if there is none, and the form of its packets."""
        with self._lock:
            return self._operator, self._form

    def receive(self, sender: Hashable, data: bytes, now: float) -> bytes | None:
        """Takes a packet that arrived at a time (s, any monotonic clock); returns the answer, None for none."""
        with self._lock:
            dropped_as, answer = self._check_packet(sender, data, now)
            self._count("received", *dropped_as)
            self.flooded = "over_rate" in dropped_as
            return answer

    def _check_packet(self, sender: Hashable, data: bytes, now: float) -> tuple[tuple[str, ...], bytes | None]:
        """The count under which a packet is dropped, empty if it is accepted, and the answer."""
        self.authentic = False
        if not (self._operator_limit if sender == self._operator else self._others_limit).allow(now):
            return ("over_rate",), None
        try:
            command, token, form = wire.decode(data)
        except wire.Malformed:
            return ("malformed",), None
        if not hmac.compare_digest(token, self._token):
            return ("refused",), self._refusal("the token is wrong", command, form, now)
        self.authentic = True
        vacant = self._operator is None or now - self._arrived > self._release
        if not vacant and sender != self._operator:
            return ("refused",), self._refusal("another operator drives", command, form, now)
        if not (vacant or wire.newer(command.sequence, self._sequence)):
            return ("old",), None
        if vacant:
            self._release_hands = self._hands > 0
            self._operator, self._form = sender, form
            self._clock_offset = 0.0 if math.isnan(command.stamp) else now - command.stamp
        self._sequence, self._arrived = command.sequence, now
        self._newest = replace(command, stamp=command.stamp + self._clock_offset)
        self._hands = len(command.hands) or self._hands
        return (), None

    def read(self) -> Command | None:
        """The newest command since the last call, or None. When the operator changes, one that releases all hands."""
        with self._lock:
            if self._release_hands:
                self._release_hands = False
                return Command(hands=[None] * self._hands, engaged=False)
            newest, self._newest = self._newest, None
            return newest

    def disconnect(self, sender: Hashable) -> None:
        """A sender has disconnected: if it was the operator, all hands are released and another may drive."""
        with self._lock:
            if sender == self._operator:
                self._operator = self._newest = None
                self._release_hands = self._hands > 0

    def count_over_rate(self, packets: int) -> None:
        """Counts packets that were not even looked at."""
        with self._lock:
            self._counts = replace(
                self._counts,
                received=self._counts.received + packets,
                over_rate=self._counts.over_rate + packets,
            )

    def count_malformed(self) -> None:
        """Counts a packet that could not be received as a whole."""
        with self._lock:
            self._count("received", "malformed")

    def count_refused(self) -> None:
        """Counts a connection that was refused."""
        with self._lock:
            self._count("received", "refused")

    def _refusal(self, reason: str, command: Command, form: wire.Form, now: float) -> bytes | None:
        if not self._refusal_limit.allow(now):
            return None
        return wire.encode_answer(wire.Refusal(reason, command.sequence), form)

    def _count(self, *kinds: str) -> None:
        self._counts = replace(self._counts, **{kind: getattr(self._counts, kind) + 1 for kind in kinds})
