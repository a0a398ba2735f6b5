"""The wire format: commands, answers and refusals as JSON or binary, decoded strictly; see docs/network.md."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from supple import _check, _core
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.step import TrackingStatus
from supple.teleop.command import NO_GRIPPERS, Command, Tick
from supple.teleop.network import strict
from supple.teleop.network.strict import Malformed as Malformed

VERSION = 1
MAX_BYTES = 8192
"""Largest packet, in bytes."""
MAX_HANDS = 8
"""Most hands of a command, and end effectors of an answer."""
MAX_JOINTS = 256
"""Most joint values of an answer."""
MAX_TOKEN = 64
"""Longest token, in characters."""
MAX_POSITION = 1e3
"""Largest coordinate of a hand, in metres."""
MAX_TIME = 1e11
"""Largest stamp, in seconds; smaller than milliseconds since 1970, to catch that mistake."""

_MAGIC = b"SUPL"
_HEAD = struct.Struct("<4sBBBBIId")  # magic, version, kind, flags or status, count, two numbers, time
_COMMAND, _ANSWER, _REFUSAL = 1, 2, 3
_KINDS = {_COMMAND: "command", _ANSWER: "answer", _REFUSAL: "refusal"}
_ENGAGED, _STAMPED, _GRIPPERS = 1, 2, 4
_ANSWERS_GRIPPERS = 128  # added to the status of an answer that ends with the grippers
_UNCHANGED = -1.0  # a gripper that stays as it is
_RELEASED = (0.0,) * 7
_CYCLE = 1 << 32  # sequence numbers are taken modulo this


class Form(Enum):
    """Encoding of a packet."""

    JSON = "json"
    BINARY = "binary"


class Message(NamedTuple):
    """A decoded command, with its token and form."""

    command: Command
    token: str
    form: Form


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Result of a tick, for an arm or an operator."""

    number: int
    """Number of the tick, modulo 2**32."""
    t: float
    """Time at which the tick was due, in seconds since the loop began."""
    sequence: int
    """Sequence number of the newest command; 0 before the first."""
    status: TrackingStatus
    q: Array
    """Joint values (dof,)."""
    error: Array
    """Goal minus end effector (goals, 6): metres, then radians, in the axes of its goal."""
    grippers: Array = field(default_factory=lambda: NO_GRIPPERS)
    """How far the grippers are to be open (goals,): 0 closed to 1 open; empty if the operator has none."""

    @classmethod
    def of(cls, tick: Tick) -> Answer:
        """The answer for a tick; it has grippers if the operator's command had them."""
        sequence = 0 if tick.command is None else tick.command.sequence
        has_grippers = tick.command is not None and tick.command.grippers and np.isfinite(tick.grippers).all()
        grippers = tick.grippers if has_grippers else NO_GRIPPERS
        step = tick.step
        return cls(tick.number % _CYCLE, tick.t, sequence % _CYCLE, step.status, step.q, step.error, grippers)


class Refusal(NamedTuple):
    """Why a command was refused."""

    reason: str
    """At most 255 printable ASCII characters."""
    sequence: int
    """Sequence number of that command."""


def newer(sequence: int, than: int) -> bool:
    """Whether a sequence number follows another modulo 2**32: by less than half the range."""
    return 0 < (sequence - than) % _CYCLE < _CYCLE // 2


# -- encoding -------------------------------------------------------------------------------------------------------


def encode(command: Command, token: str = "", form: Form = Form.BINARY) -> bytes:
    """A command as a packet; its sequence number is taken modulo 2**32. BadInput if a value is out of range."""
    if command.flaw:
        raise BadInput(f"this command cannot be sent: {command.flaw}")
    if len(command.hands) > MAX_HANDS:
        raise BadInput(f"a packet has at most {MAX_HANDS} hands, not {len(command.hands)}")
    if len(command.grippers) > MAX_HANDS:
        raise BadInput(f"a packet has at most {MAX_HANDS} grippers, not {len(command.grippers)}")
    if any(hand is not None and np.abs(hand.position).max() > MAX_POSITION for hand in command.hands):
        raise BadInput(f"a hand must be within {MAX_POSITION:g} m of the origin")
    if not 0 <= command.buttons < 1 << 32:
        raise BadInput(f"buttons are 32 bits, not {command.buttons}")
    stamped = not math.isnan(command.stamp)
    if stamped and not abs(command.stamp) <= MAX_TIME:
        raise BadInput(f"a stamp must be within {MAX_TIME:g} s, not {command.stamp!r}")
    check_token(token)
    sequence = command.sequence % _CYCLE
    hands = [
        None if hand is None else [*hand.position.tolist(), *hand.to_quaternion().tolist()] for hand in command.hands
    ]
    if form is Form.JSON:
        fields: dict[str, Any] = {"sequence": sequence, "grip": command.engaged}
        fields |= {"stamp": command.stamp} if stamped else {}
        fields["hands"] = [None if row is None else {"position": row[:3], "quaternion": row[3:]} for row in hands]
        fields |= {"buttons": command.buttons} if command.buttons else {}
        fields |= {"grippers": list(command.grippers)} if command.grippers else {}
        return _json(_COMMAND, fields | ({"token": token} if token else {}))
    flags = _ENGAGED * command.engaged | _STAMPED * stamped | _GRIPPERS * bool(command.grippers)
    openings = [_UNCHANGED if opening is None else opening for opening in command.grippers]
    grippers = struct.pack(f"<B{len(openings)}d", len(openings), *openings) if openings else b""
    head = (sequence, command.buttons, command.stamp if stamped else 0.0)
    numbers = [x for row in hands for x in (row or [0.0] * 7)]
    return (
        _HEAD.pack(_MAGIC, VERSION, _COMMAND, flags, len(hands), *head)
        + struct.pack(f"<{len(numbers)}d", *numbers)
        + grippers
        + struct.pack("<B", len(token))
        + token.encode("ascii")
    )


def encode_answer(answer: Answer | Refusal, form: Form = Form.BINARY) -> bytes:
    """An answer or a refusal as a packet. BadInput if a value is out of range."""
    if isinstance(answer, Refusal):
        if form is Form.JSON:
            return _json(_REFUSAL, {"sequence": answer.sequence, "reason": answer.reason})
        text = answer.reason.encode("ascii")
        return _HEAD.pack(_MAGIC, VERSION, _REFUSAL, 0, len(text), answer.sequence, 0, 0.0) + text
    q, error = answer.q, answer.error
    if q.ndim != 1 or len(q) > MAX_JOINTS or error.shape[1:] != (6,) or len(error) > MAX_HANDS:
        raise BadInput(
            f"an answer has {MAX_JOINTS} joint values and {MAX_HANDS} goals at most: {q.shape}, {error.shape}"
        )
    grippers = answer.grippers
    if len(grippers) not in (0, len(error)):
        raise BadInput(f"an answer has a gripper for each of {len(error)} goals, or none; not {len(grippers)}")
    if not (np.isfinite(q).all() and np.isfinite(error).all() and np.isfinite(grippers).all()):
        raise BadInput("an answer must be finite")
    if form is Form.JSON:
        fields: dict[str, Any] = {"number": answer.number, "t": answer.t, "sequence": answer.sequence}
        fields |= {"outcome": answer.status.name.lower(), "q": q.tolist(), "error": error.tolist()}
        return _json(_ANSWER, fields | ({"grippers": grippers.tolist()} if len(grippers) else {}))
    status = answer.status.value + _ANSWERS_GRIPPERS * bool(len(grippers))
    return (
        _HEAD.pack(_MAGIC, VERSION, _ANSWER, status, len(error), answer.sequence, answer.number, answer.t)
        + struct.pack("<H", len(q))
        + q.astype("<f8").tobytes()
        + error.astype("<f8").tobytes()
        + grippers.astype("<f8").tobytes()
    )


def packet(tick: Tick, form: Form) -> bytes | None:
    """The answer for a tick as a packet; None if a value is out of range."""
    try:
        return encode_answer(Answer.of(tick), form)
    except BadInput:
        return None


def check_token(token: str) -> str:
    """The token, if it fits into a packet; else BadInput."""
    _check.text(token, "token", empty=True)
    if len(token) > MAX_TOKEN or not (token.isascii() and token.isprintable()):
        raise BadInput(f"a token is at most {MAX_TOKEN} printable ASCII characters, got {_check.short(token)}")
    return token


def _json(kind: int, fields: dict[str, Any]) -> bytes:
    return json.dumps(
        {"supple": VERSION, "kind": _KINDS[kind]} | fields, separators=(",", ":"), allow_nan=False
    ).encode()


# -- decoding -------------------------------------------------------------------------------------------------------


def decode(data: bytes) -> Message:
    """The command in a packet of either form; `Malformed` for anything else."""
    if data[:1] != b"{":
        return _binary_command(data)
    fields = _read_json(data, _COMMAND, ("sequence", "grip", "hands"), ("stamp", "buttons", "grippers", "token"))
    strict.require(type(fields["grip"]) is bool, "grip is true or false")
    strict.require(type(fields["hands"]) is list and len(fields["hands"]) <= MAX_HANDS, "hands are a list")
    token = strict.text(fields.get("token", ""), MAX_TOKEN)
    stamp = strict.number(fields["stamp"], MAX_TIME) if "stamp" in fields else math.nan
    hands = []
    for hand in fields["hands"]:
        if hand is not None:
            strict.require(
                type(hand) is dict and hand.keys() == {"position", "quaternion"}, "position and quaternion of a hand"
            )
            hand = _hand(strict.numbers(hand["position"], 3, MAX_POSITION) + strict.numbers(hand["quaternion"], 4, 2.0))
        hands.append(hand)
    grippers = fields.get("grippers", [])
    strict.require(type(grippers) is list and len(grippers) <= MAX_HANDS, "grippers are a list")
    return Message(
        Command(
            hands=hands,
            grippers=[None if one is None else _opening(strict.number(one, 1.0)) for one in grippers],
            engaged=fields["grip"],
            stamp=stamp,
            sequence=strict.whole(fields["sequence"]),
            buttons=strict.whole(fields.get("buttons", 0)),
        ),
        token,
        Form.JSON,
    )


def decode_answer(data: bytes) -> Answer | Refusal:
    """The answer or refusal in a packet of either form; `Malformed` for anything else."""
    if data[:1] == b"{":
        return _json_answer(data)
    kind, which, count, sequence, number, t = _head(data)
    if kind == _REFUSAL:
        strict.require(len(data) == _HEAD.size + count and not (which or number or t), "a refusal is a text")
        return Refusal(strict.text(strict.read(lambda: data[_HEAD.size :].decode()), 255), sequence)
    openings = count if which & _ANSWERS_GRIPPERS else 0
    which &= ~_ANSWERS_GRIPPERS
    strict.require(kind == _ANSWER and which < len(TrackingStatus) and count <= MAX_HANDS, "an answer")
    strict.require(len(data) >= _HEAD.size + 2, "an answer")
    (dof,) = struct.unpack_from("<H", data, _HEAD.size)
    numbers_end = dof + 6 * count
    length = _HEAD.size + 2 + 8 * (numbers_end + openings)
    strict.require(dof <= MAX_JOINTS and len(data) == length, "the length of an answer")
    numbers = np.frombuffer(data, "<f8", offset=_HEAD.size + 2).astype(float)
    strict.require(bool(np.isfinite(numbers).all()) and abs(t) <= MAX_TIME, "finite numbers")
    error, grippers = numbers[dof:numbers_end].reshape(count, 6), numbers[numbers_end:]
    return Answer(number, t, sequence, TrackingStatus(which), numbers[:dof], error, grippers)


def _json_answer(data: bytes) -> Answer | Refusal:
    fields = _read_json(data, None, ("sequence",), ("reason", "number", "t", "outcome", "q", "error", "grippers"))
    if fields["kind"] == "refusal":
        strict.require(
            fields.keys() == {"supple", "kind", "sequence", "reason"} and type(fields["reason"]) is str, "a refusal"
        )
        return Refusal(strict.text(fields["reason"], 255), strict.whole(fields["sequence"]))
    strict.require(fields["kind"] == "answer" and "reason" not in fields, "an answer")
    strict.require(len(fields) == 8 + ("grippers" in fields), "an answer")
    states = {state.name.lower(): state for state in TrackingStatus}
    strict.require(type(fields["outcome"]) is str and fields["outcome"] in states, "an outcome")
    strict.require(type(fields["q"]) is list and len(fields["q"]) <= MAX_JOINTS, "joint values")
    strict.require(type(fields["error"]) is list and len(fields["error"]) <= MAX_HANDS, "errors")
    q = strict.numbers(fields["q"], len(fields["q"]), math.inf)
    error = [strict.numbers(row, 6, math.inf) for row in fields["error"]]
    number, t = strict.whole(fields["number"]), strict.number(fields["t"], MAX_TIME)
    errors, sequence = np.array(error).reshape(-1, 6), strict.whole(fields["sequence"])
    grippers = np.array(strict.numbers(fields["grippers"], len(error), math.inf) if "grippers" in fields else ())
    return Answer(number, t, sequence, states[fields["outcome"]], np.array(q), errors, grippers)


def _binary_command(data: bytes) -> Message:
    kind, flags, count, sequence, buttons, stamp = _head(data)
    strict.require(kind == _COMMAND and flags <= _ENGAGED | _STAMPED | _GRIPPERS and count <= MAX_HANDS, "a command")
    end = _HEAD.size + 56 * count
    grippers, end = _binary_grippers(data, end) if flags & _GRIPPERS else ([], end)
    strict.require(
        len(data) > end and len(data) == end + 1 + data[end] and data[end] <= MAX_TOKEN, "the length of a command"
    )
    strict.require(abs(stamp) <= MAX_TIME and (bool(flags & _STAMPED) or stamp == 0), "a stamp")
    token = strict.text(strict.read(lambda: data[end + 1 :].decode("ascii")), MAX_TOKEN)
    numbers = struct.unpack_from(f"<{7 * count}d", data, _HEAD.size)
    rows = [numbers[k : k + 7] for k in range(0, 7 * count, 7)]
    hands = [None if row == _RELEASED else _hand(row) for row in rows]
    when = stamp if flags & _STAMPED else math.nan
    engaged = bool(flags & _ENGAGED)
    command = Command(hands=hands, engaged=engaged, stamp=when, sequence=sequence, buttons=buttons, grippers=grippers)
    return Message(command, token, Form.BINARY)


def _binary_grippers(data: bytes, start: int) -> tuple[list[float | None], int]:
    """The grippers of a command that begin at a byte, and where they end."""
    strict.require(len(data) > start and 0 < data[start] <= MAX_HANDS, "the number of grippers")
    count = data[start]
    end = start + 1 + 8 * count
    strict.require(len(data) >= end, "the length of a command")
    openings = struct.unpack_from(f"<{count}d", data, start + 1)
    return [None if opening == _UNCHANGED else _opening(opening) for opening in openings], end


def _opening(value: float) -> float:
    strict.require(0 <= value <= 1, "a gripper within 0 and 1")
    return value


def _hand(row: Sequence[float]) -> Frame:
    """A hand from its position and quaternion."""
    strict.require(
        all(map(math.isfinite, row)) and max(map(abs, row[:3])) <= MAX_POSITION, "finite positions within bounds"
    )
    length = math.hypot(*row[3:])
    strict.require(abs(length - 1) <= 1e-3, "a quaternion of length 1")
    # from the core directly: the numbers are checked already
    matrix = _core.from_quaternion(np.array([x / length for x in row[3:]])).copy()
    matrix[:3, 3] = row[:3]
    matrix.flags.writeable = False
    return Frame._trusted(matrix)


def _head(data: bytes) -> tuple[int, int, int, int, int, float]:
    strict.require(_HEAD.size <= len(data) <= MAX_BYTES, "the length of a packet")
    magic, version, kind, which, count, first, second, time = _HEAD.unpack_from(data)
    strict.require(magic == _MAGIC and version == VERSION, f"{_MAGIC!r} and version {VERSION}")
    return kind, which, count, first, second, time


def _read_json(data: bytes, kind: int | None, needed: Sequence[str], allowed: Sequence[str]) -> dict[str, Any]:
    """A JSON object of this format with exactly these names."""
    strict.require(len(data) <= MAX_BYTES, "the length of a packet")
    fields = strict.read(
        lambda: json.loads(data.decode(), object_pairs_hook=strict.unique_names, parse_constant=strict.refuse_constant)
    )
    strict.require(type(fields) is dict and {"supple", "kind", *needed} <= fields.keys(), "the names of a packet")
    strict.require(fields.keys() <= {"supple", "kind", *needed, *allowed}, "no other names")
    strict.require(fields["supple"] == VERSION and type(fields["supple"]) is int, f"version {VERSION}")
    strict.require(type(fields["kind"]) is str and (kind is None or fields["kind"] == _KINDS[kind]), "the right kind")
    return dict(fields)
