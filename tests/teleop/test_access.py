"""Access control of a network source: one operator at a time, newest command first."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from packets import command, packet
from supple.teleop.network import wire
from supple.teleop.network.access import AccessControl, Counts

TOKEN = "correct horse"


def test_whatever_is_lost_doubled_or_late_what_is_read_only_gets_newer() -> None:
    draw = random.Random(1)
    begin = 2**32 - 3000  # the numbers begin again on the way
    sent = [k for k in range(6000) for _ in range(draw.choice([0, 1, 1, 1, 2]))]
    way = [(k + draw.expovariate(1 / 3), (begin + k) % 2**32) for k in sent]
    access, read, newest = AccessControl("", 1e6, 2.0), [], begin
    for when, sequence in sorted(way):
        assert access.receive("operator", packet(sequence), when / 1000) is None
        newest = sequence if wire.newer(sequence, newest) else newest
        if draw.random() < 0.5:
            got = access.read()
            if got is not None:
                assert got.sequence == newest  # what waited is forgotten
                read.append(got.sequence)
    assert len(read) > 1500
    assert all(wire.newer(b, a) for a, b in itertools.pairwise(read))
    counts = access.counts
    assert counts.received == len(way)
    assert 0 < counts.old == counts.dropped < len(way) / 2


def test_a_second_operator_is_refused_and_told_until_the_first_is_silent() -> None:
    access = AccessControl("", 1000, 2.0)
    access.receive("first", packet(1, 0.1), 0.0)
    for now, form in enumerate(wire.Form, 1):
        answer = access.receive("second", packet(50, form=form), 0.5 * now)
        assert answer is not None
        assert (answer[:1] == b"{") == (form is wire.Form.JSON)
        assert wire.decode_answer(answer) == wire.Refusal("another operator drives", 50)
    assert access.counts.refused == 2
    first = access.read()
    assert first is not None
    assert first.sequence == 1
    assert access.read() is None
    assert access.receive("second", packet(51, 0.7), 2.1) is None
    released, second = access.read(), access.read()
    assert released is not None
    assert (released.hands, released.engaged) == ((None,), False)
    assert second is not None
    assert second.sequence == 51
    assert access.receive("first", packet(2), 2.2) is not None  # who comes back must wait as well


def test_who_was_silent_for_long_begins_anew_and_takes_hold_anew() -> None:
    access = AccessControl("", 1000, 2.0)
    access.receive("first", packet(70), 0.0)
    assert access.read() is not None
    access.receive("first", packet(3), 1.9)  # a number of the past
    assert access.read() is None
    access.receive("first", packet(3), 2.1)  # a program that was started again
    released, then = access.read(), access.read()
    assert released is not None
    assert not released.engaged
    assert then is not None
    assert then.sequence == 3


def test_stamps_go_on_when_another_operator_drives() -> None:
    access = AccessControl("", 1000, 2.0)
    stamps = []
    for k, (who, clock) in enumerate([("first", 1.7e9), ("second", 12.0)]):
        for tick in range(5):
            now = 10.0 * k + 0.01 * tick
            access.receive(who, wire.encode(command(tick, stamp=clock + 0.01 * tick)), now)
            read = access.read() if access.counts.received != 6 else (access.read(), access.read())[1]
            assert read is not None
            stamps.append(read.stamp - now)
    assert np.ptp(stamps) < 1e-6


def test_more_than_the_limit_is_dropped_and_a_crowd_takes_nothing_from_the_operator() -> None:
    access = AccessControl("", 100, 2.0)
    access.receive("operator", packet(0), 0.0)
    for k in range(3000):  # for 3 s a crowd of a thousand senders, and the operator at 100 a second
        now = k / 1000
        access.receive(f"stranger {k}", packet(k), now)
        if k % 10 == 0:
            access.receive("operator", packet(1 + k), now)
    assert access.counts.over_rate == pytest.approx(3000 - 310, abs=15)
    assert access.counts.over_rate + access.counts.refused == 3000
    newest = access.read()
    assert newest is not None
    assert newest.sequence == 2991
    for k in range(1000):  # for a second, ten times what is allowed
        access.receive("operator", packet(5000 + k), 3.0 + k / 1000)
    assert access.counts.over_rate == pytest.approx(3000 - 310 + 1000 - 110, abs=30)


def test_refusals_are_too_few_to_be_a_flood() -> None:
    access = AccessControl("", 1000, 2.0)
    access.receive("operator", packet(0), 0.0)
    told = sum(access.receive("stranger", packet(k), k / 1000) is not None for k in range(1000))
    assert 5 <= told <= 15


def test_without_the_token_no_one_drives() -> None:
    access = AccessControl(TOKEN, 1000, 2.0)
    for now, token in enumerate(("", "wrong horse!", TOKEN + "x")):
        answer = access.receive("operator", packet(1, token=token), float(now))
        assert answer is not None
        assert "token" in wire.decode_answer(answer).reason  # type: ignore[union-attr]
    assert access.read() is None
    assert access.counts == Counts(received=3, refused=3)
    assert access.receive("operator", packet(1, token=TOKEN), 3.0) is None
    assert access.read() is not None
    assert access.receive("someone", packet(1), 10.0) is not None  # nor takes a free seat
    assert access.operator[0] == "operator"


def test_an_operator_who_leaves_releases_the_arm() -> None:
    access = AccessControl("", 1000, 2.0)
    access.receive("first", packet(1), 0.0)
    access.disconnect("second")
    assert access.read() is not None
    access.disconnect("first")
    released = access.read()
    assert released is not None
    assert not released.engaged
    assert access.operator[0] is None
    assert access.receive("second", packet(1), 0.1) is None


def test_counts_say_it_in_words() -> None:
    assert str(Counts()) == "0 received, 0 dropped"
    counts = Counts(received=1200, malformed=1, old=2, over_rate=3, refused=4)
    assert str(counts) == "1,200 received, 10 dropped: 1 malformed, 2 old, 3 over rate, 4 refused"
