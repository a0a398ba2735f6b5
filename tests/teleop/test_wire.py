"""The wire format: what is written is read again, and nothing else is."""

from __future__ import annotations

import json
import math
import random
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple import BadInput, Frame, TrackingStatus
from supple.teleop.command import Command
from supple.teleop.network import wire

FORMS = list(wire.Form)
TOKEN = "correct horse"


def frames(count: int, seed: int) -> list[Frame]:
    draw = np.random.default_rng(seed)
    return [Frame.at(draw.uniform(-1e3, 1e3, 3)) @ Frame.rotvec(draw.normal(size=3) * 2) for _ in range(count)]


def commands() -> list[Command]:
    """Commands of all shapes."""
    draw = random.Random(1)
    found = [Command(engaged=False), Command(hands=[None]), Command(hands=[None, Frame()], stamp=0.0)]
    for seed in range(200):
        hands: list[Frame | None] = list(frames(draw.randrange(wire.MAX_HANDS + 1), seed))
        hands = [None if draw.random() < 0.2 else hand for hand in hands]
        stamp = draw.choice([math.nan, 0.0, -3.5, draw.uniform(0, 1e6), 1.7e9])
        found.append(
            Command(
                hands=hands,
                engaged=draw.random() < 0.5,
                stamp=stamp,
                sequence=draw.randrange(2**32),
                buttons=draw.choice([0, draw.randrange(2**32)]),
            )
        )
    return found


def answers() -> list[wire.Answer]:
    draw = np.random.default_rng(2)
    return [
        wire.Answer(
            number=int(draw.integers(2**32)),
            t=float(draw.uniform(0, 1e6)),
            sequence=int(draw.integers(2**32)),
            status=TrackingStatus(k % 4),
            q=draw.normal(size=k),
            error=draw.normal(size=(k % (wire.MAX_HANDS + 1), 6)),
        )
        for k in (0, 1, 6, 7, 15, wire.MAX_JOINTS)
    ]


@pytest.mark.parametrize("form", FORMS)
def test_a_command_that_is_written_is_read_again(form: wire.Form) -> None:
    for command in commands():
        read, token, how = wire.decode(wire.encode(command, TOKEN, form))
        assert (token, how) == (TOKEN, form)
        assert (read.engaged, read.sequence, read.buttons) == (command.engaged, command.sequence, command.buttons)
        assert read.stamp == command.stamp or (math.isnan(read.stamp) and math.isnan(command.stamp))
        assert len(read.hands) == len(command.hands)
        for ours, theirs in zip(read.hands, command.hands, strict=True):
            assert (ours is None) == (theirs is None)
            if ours is not None and theirs is not None:
                assert np.array_equal(ours.position, theirs.position)
                assert np.abs(ours.rotation - theirs.rotation).max() < 1e-14
        assert not read.flaw


@pytest.mark.parametrize("form", FORMS)
def test_an_answer_that_is_written_is_read_again_to_the_last_bit(form: wire.Form) -> None:
    for answer in answers():
        packet = wire.encode_answer(answer, form)
        assert len(packet) <= wire.MAX_BYTES
        read = wire.decode_answer(packet)
        assert isinstance(read, wire.Answer)
        assert (read.number, read.t, read.sequence) == (answer.number, answer.t, answer.sequence)
        assert read.status is answer.status
        assert np.array_equal(read.q, answer.q)
        assert np.array_equal(read.error, answer.error)


@pytest.mark.parametrize("form", FORMS)
def test_a_refusal_that_is_written_is_read_again(form: wire.Form) -> None:
    refusal = wire.Refusal("another operator drives", 2**32 - 1)
    assert wire.decode_answer(wire.encode_answer(refusal, form)) == refusal


def test_the_json_of_the_documentation_is_read() -> None:
    page = (Path(__file__).parents[2] / "docs" / "network.md").read_text(encoding="utf-8")
    asked, told = (block.encode() for block in re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    command, token, form = wire.decode(asked)
    assert (command.sequence, command.hand, token, form) == (7, Frame.at([0.5, 0, 0.2]), "open sesame", wire.Form.JSON)
    answer = wire.decode_answer(told)
    assert isinstance(answer, wire.Answer)
    assert (answer.number, answer.status, answer.q.shape) == (1234, TrackingStatus.FOLLOWING, (6,))


def test_the_bytes_are_those_of_the_documentation() -> None:
    command = Command(Frame.at([0.5, 0, -0.25]) @ Frame.turn([0, 0, 1], math.pi), stamp=12.5, sequence=7, buttons=5)
    packet = wire.encode(command, "open sesame")
    told = struct.unpack("<4sBBBBIId7dB11s", packet)
    assert told[:8] == (b"SUPL", 1, 1, 3, 1, 7, 5, 12.5)
    assert told[8:15] == pytest.approx((0.5, 0, -0.25, 0, 0, 0, 1), abs=1e-15)
    assert told[15:] == (11, b"open sesame")


def test_sequence_numbers_go_on_after_the_last() -> None:
    draw = random.Random(3)
    for _ in range(2000):
        first, ahead = draw.randrange(2**32), draw.randrange(1, 2**31)
        then = (first + ahead) % 2**32
        assert wire.newer(then, first)
        assert not wire.newer(first, then)
    assert not wire.newer(5, 5)
    assert wire.newer(0, 2**32 - 1)
    assert wire.decode(wire.encode(Command(sequence=2**32 + 3))).command.sequence == 3


# -- what is not of the format --------------------------------------------------------------------------------------


def refuses(read: Callable[[bytes], Any], data: bytes) -> bool:
    """Whether a reader refuses a packet; anything but `Malformed` goes through."""
    try:
        read(data)
    except wire.Malformed:
        return True
    return False


def refused(data: bytes) -> bool:
    return refuses(wire.decode, data) and refuses(wire.decode_answer, data)


def packets() -> list[bytes]:
    found = [
        wire.encode(command, token, form) for command in commands()[:40] for token in ("", TOKEN) for form in FORMS
    ]
    found += [wire.encode_answer(answer, form) for answer in answers() for form in FORMS]
    return found + [wire.encode_answer(wire.Refusal("no", 1), form) for form in FORMS]


def test_random_bytes_are_refused() -> None:
    draw = random.Random(4)
    for _ in range(20000):
        data = draw.randbytes(draw.randrange(120))
        assert refused(data)
        assert refused(b"SUPL\x01" + data)
        assert refused(b"{" + data)


def test_whatever_is_done_to_a_packet_it_is_read_or_refused() -> None:
    draw, found = random.Random(5), packets()
    lost = 0
    for _ in range(30000):
        data = bytearray(draw.choice(found))
        for _ in range(draw.randrange(1, 4)):
            place = draw.randrange(len(data)) if data else 0
            match draw.randrange(5):
                case 0:
                    data[place : place + 1] = bytes([draw.randrange(256)])
                case 1:
                    del data[place : place + draw.randrange(1, 20)]
                case 2:
                    data[place:place] = draw.randbytes(draw.randrange(1, 20))
                case 3:
                    other = draw.choice(found)
                    data[place:] = other[draw.randrange(len(other)) :]
                case 4 if data:
                    data[place] ^= 1 << draw.randrange(8)
        lost += refused(bytes(data))
        if not refuses(wire.decode, bytes(data)):  # what is read can be meant
            command = wire.decode(bytes(data)).command
            assert not command.flaw
            assert math.isnan(command.stamp) or abs(command.stamp) <= wire.MAX_TIME
    assert 0.5 < lost / 30000 < 1  # most are refused, and some are not: the test sees both


def said(**changed: Any) -> bytes:
    """A JSON command with some names changed, or left out where they are `...`."""
    hand = {"position": [0.1, 0.2, 0.3], "quaternion": [1, 0, 0, 0]}
    whole = {"supple": 1, "kind": "command", "sequence": 1, "grip": True, "stamp": 0.5, "hands": [hand]} | changed
    return json.dumps({name: value for name, value in whole.items() if value is not ...}).encode()


def hand(**changed: Any) -> bytes:
    return said(hands=[{"position": [0.1, 0.2, 0.3], "quaternion": [1, 0, 0, 0]} | changed])


def test_what_json_need_not_say_may_be_left_out() -> None:
    command, token, form = wire.decode(said(stamp=..., hands=[None]))
    assert (command.hands, command.buttons, token, form) == ((None,), 0, "", wire.Form.JSON)
    assert math.isnan(command.stamp)


@pytest.mark.parametrize(
    "data",
    [
        said(supple=2),
        said(supple=True),
        said(kind="answer"),
        said(kind=...),
        said(sequence=...),
        said(sequence=-1),
        said(sequence=2**32),
        said(sequence=1.0),
        said(sequence=True),
        said(grip=1),
        said(grip=...),
        said(stamp="0.5"),
        said(stamp=None),
        said(stamp=1.7e12),
        said(stamp=math.nan),
        said(stamp=math.inf),
        said(stamp=10**400),
        said(hands=None),
        said(hands=[[0] * 7]),
        said(hands=[None] * 9),
        said(buttons=2**32),
        said(token=5),
        said(token="é"),
        said(token="a" * 65),
        said(token="a\nb"),
        said(more=1),
        hand(position=[0, 0]),
        hand(position=[0, 0, math.nan]),
        hand(position=[0, 0, 1001]),
        hand(position=[0, 0, True]),
        hand(position=[0, 0, "1"]),
        hand(position=[0, 0, [1]]),
        hand(position=None),
        hand(quaternion=[1, 0, 0]),
        hand(quaternion=[0, 0, 0, 0]),
        hand(quaternion=[0.99, 0, 0, 0]),
        hand(quaternion=[1.1, 0, 0, 0]),
        hand(more=1),
        said(token="a" * 60) + b" " * wire.MAX_BYTES,
        b"{" * wire.MAX_BYTES,
        b'{"a":' * 1500,
        b'{"supple":' + b"[" * (wire.MAX_BYTES - 20),
        b'{"supple":' + b"9" * 8000 + b"}",
        b'{"sequence":1,' + said()[1:],
        said()[:-1],
        said() + b"x",
        "{\ud800".encode("utf-8", "surrogatepass"),
        b"",
        b"{}",
        b"[]",
        b"null",
    ],
)
def test_a_json_packet_that_cannot_be_meant_is_refused(data: bytes) -> None:
    wire.decode(said())
    assert refused(data)


def test_bytes_that_cannot_be_meant_are_refused() -> None:
    good = wire.encode(Command(Frame.at([0.1, 0.2, 0.3]), stamp=0.5, sequence=1), TOKEN)
    size = struct.calcsize("<4sBBBBIId")
    wire.decode(good)

    def changed(place: int, to: bytes) -> bytes:
        return good[:place] + to + good[place + len(to) :]

    wrong = {
        "magic": changed(0, b"supl"),
        "version": changed(4, b"\x02"),
        "kind": changed(5, b"\x04"),
        "flags": changed(6, b"\x04"),
        "no stamp but one": changed(6, b"\x01"),
        "count": changed(7, b"\x02"),
        "crowd": changed(7, b"\x09") + bytes(8 * 56),
        "stamp": changed(16, struct.pack("<d", math.nan)),
        "late stamp": changed(16, struct.pack("<d", 1.7e12)),
        "position": changed(size, struct.pack("<d", math.inf)),
        "far": changed(size, struct.pack("<d", 1000.1)),
        "quaternion": changed(size + 24, struct.pack("<d", 0.99)),
        "nan": changed(size + 32, struct.pack("<d", math.nan)),
        "token": changed(len(good) - 1, b"\xff"),
        "control": changed(len(good) - 1, b"\n"),
        "token's length": changed(size + 56, b"\x00"),
        "short": good[:-1],
        "long": good + b"\x00",
        "longer": good + bytes(wire.MAX_BYTES),
    }
    assert [name for name, data in wrong.items() if not refused(data)] == []
    answer = wire.encode_answer(answers()[2])
    for place, to in ((6, b"\x05"), (7, b"\x09"), (size, b"\xff\xff"), (size + 2, struct.pack("<d", math.nan))):
        assert refused(answer[:place] + to + answer[place + len(to) :])


def test_what_no_packet_can_say_is_not_written() -> None:
    for command in (
        Command(np.full((4, 4), np.nan)),
        Command(hands=[Frame()] * 9),
        Command(Frame.at([0, 0, 1001])),
        Command(Frame(), stamp=math.inf),
        Command(Frame(), stamp=1.7e12),
        Command(Frame(), buttons=2**32),
        Command(Frame(), buttons=-1),
    ):
        with pytest.raises(BadInput):
            wire.encode(command)
    with pytest.raises(BadInput):
        wire.encode(Command(), "ü" * 8)
    with pytest.raises(BadInput):
        wire.encode_answer(wire.Answer(0, 0.0, 0, TrackingStatus.HELD, np.array([np.nan]), np.zeros((1, 6))))
    with pytest.raises(BadInput):
        wire.encode_answer(wire.Answer(0, 0.0, 0, TrackingStatus.HELD, np.zeros((2, 6)), np.zeros((2, 1, 6))))
