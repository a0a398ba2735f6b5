"""The wire format: commands, answers and refusals as JSON or binary, decoded strictly; see docs/network.md."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from supple import _core
from supple.errors import BadInput, SuppleError
from supple.frame import Array, Frame
from supple.step import TrackingStatus
from supple.teleop.command import Command, Tick

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
_ENGAGED, _STAMPED = 1, 2
_RELEASED = (0.0,) * 7
_CYCLE = 1 << 32  # sequence numbers are taken modulo this


class Form(Enum):
    """Encoding of a packet."""

    JSON = "json"
    BINARY = "binary"


class Malformed(SuppleError, ValueError):
    """A packet that is too long, not in this format, or has numbers out of range."""


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

    @classmethod
    def of(cls, tick: Tick) -> Answer:
        """The answer for a tick."""
        sequence = 0 if tick.command is None else tick.command.sequence
        return cls(tick.number % _CYCLE, tick.t, sequence % _CYCLE, tick.step.status, tick.step.q, tick.step.error)


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
        return _json(_COMMAND, fields | ({"token": token} if token else {}))
    flags = _ENGAGED * command.engaged | _STAMPED * stamped
    head = (sequence, command.buttons, command.stamp if stamped else 0.0)
    numbers = [x for row in hands for x in (row or [0.0] * 7)]
    return (
        _HEAD.pack(_MAGIC, VERSION, _COMMAND, flags, len(hands), *head)
        + struct.pack(f"<{len(numbers)}dB", *numbers, len(token))
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
    if not (np.isfinite(q).all() and np.isfinite(error).all()):
        raise BadInput("an answer must be finite")
    if form is Form.JSON:
        fields = {"number": answer.number, "t": answer.t, "sequence": answer.sequence}
        return _json(
            _ANSWER, fields | {"outcome": answer.status.name.lower(), "q": q.tolist(), "error": error.tolist()}
        )
    return (
        _HEAD.pack(_MAGIC, VERSION, _ANSWER, answer.status.value, len(error), answer.sequence, answer.number, answer.t)
        + struct.pack("<H", len(q))
        + q.astype("<f8").tobytes()
        + error.astype("<f8").tobytes()
    )


def packet(tick: Tick, form: Form) -> bytes | None:
    """The answer for a tick as a packet; None if a value is out of range."""
    try:
        return encode_answer(Answer.of(tick), form)
    except BadInput:
        return None


def check_token(token: str) -> str:
    """The token, if it fits into a packet; else BadInput."""
    if len(token) > MAX_TOKEN or not (token.isascii() and token.isprintable()):
        raise BadInput(f"a token is at most {MAX_TOKEN} printable ASCII characters, got {token!r}")
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
    fields = _read_json(data, _COMMAND, ("sequence", "grip", "hands"), ("stamp", "buttons", "token"))
    _require(type(fields["grip"]) is bool, "grip is true or false")
    _require(type(fields["hands"]) is list and len(fields["hands"]) <= MAX_HANDS, "hands are a list")
    token = _text(fields.get("token", ""), MAX_TOKEN)
    stamp = _number(fields["stamp"], MAX_TIME) if "stamp" in fields else math.nan
    hands = []
    for hand in fields["hands"]:
        if hand is not None:
            _require(
                type(hand) is dict and hand.keys() == {"position", "quaternion"}, "position and quaternion of a hand"
            )
            hand = _hand(_numbers(hand["position"], 3, MAX_POSITION) + _numbers(hand["quaternion"], 4, 2.0))
        hands.append(hand)
    return Message(
        Command(
            hands=hands,
            engaged=fields["grip"],
            stamp=stamp,
            sequence=_whole(fields["sequence"]),
            buttons=_whole(fields.get("buttons", 0)),
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
        _require(len(data) == _HEAD.size + count and not (which or number or t), "a refusal is a text")
        return Refusal(_text(_read(lambda: data[_HEAD.size :].decode()), 255), sequence)
    _require(kind == _ANSWER and which < len(TrackingStatus) and count <= MAX_HANDS, "an answer")
    _require(len(data) >= _HEAD.size + 2, "an answer")
    (dof,) = struct.unpack_from("<H", data, _HEAD.size)
    _require(dof <= MAX_JOINTS and len(data) == _HEAD.size + 2 + 8 * (dof + 6 * count), "the length of an answer")
    numbers = np.frombuffer(data, "<f8", offset=_HEAD.size + 2).astype(float)
    _require(bool(np.isfinite(numbers).all()) and abs(t) <= MAX_TIME, "finite numbers")
    return Answer(number, t, sequence, TrackingStatus(which), numbers[:dof], numbers[dof:].reshape(count, 6))


def _json_answer(data: bytes) -> Answer | Refusal:
    fields = _read_json(data, None, ("sequence",), ("reason", "number", "t", "outcome", "q", "error"))
    if fields["kind"] == "refusal":
        _require(
            fields.keys() == {"supple", "kind", "sequence", "reason"} and type(fields["reason"]) is str, "a refusal"
        )
        return Refusal(_text(fields["reason"], 255), _whole(fields["sequence"]))
    _require(fields["kind"] == "answer" and "reason" not in fields and len(fields) == 8, "an answer")
    states = {state.name.lower(): state for state in TrackingStatus}
    _require(type(fields["outcome"]) is str and fields["outcome"] in states, "an outcome")
    _require(type(fields["q"]) is list and len(fields["q"]) <= MAX_JOINTS, "joint values")
    _require(type(fields["error"]) is list and len(fields["error"]) <= MAX_HANDS, "errors")
    q = _numbers(fields["q"], len(fields["q"]), math.inf)
    error = [_numbers(row, 6, math.inf) for row in fields["error"]]
    number, t = _whole(fields["number"]), _number(fields["t"], MAX_TIME)
    return Answer(
        number, t, _whole(fields["sequence"]), states[fields["outcome"]], np.array(q), np.array(error).reshape(-1, 6)
    )


def _binary_command(data: bytes) -> Message:
    kind, flags, count, sequence, buttons, stamp = _head(data)
    _require(kind == _COMMAND and flags <= _ENGAGED | _STAMPED and count <= MAX_HANDS, "a command")
    end = _HEAD.size + 56 * count
    _require(len(data) > end and len(data) == end + 1 + data[end] and data[end] <= MAX_TOKEN, "the length of a command")
    _require(abs(stamp) <= MAX_TIME and (bool(flags & _STAMPED) or stamp == 0), "a stamp")
    token = _text(_read(lambda: data[end + 1 :].decode("ascii")), MAX_TOKEN)
    numbers = struct.unpack_from(f"<{7 * count}d", data, _HEAD.size)
    rows = [numbers[k : k + 7] for k in range(0, 7 * count, 7)]
    hands = [None if row == _RELEASED else _hand(row) for row in rows]
    when = stamp if flags & _STAMPED else math.nan
    command = Command(hands=hands, engaged=bool(flags & _ENGAGED), stamp=when, sequence=sequence, buttons=buttons)
    return Message(command, token, Form.BINARY)


def _hand(row: Sequence[float]) -> Frame:
    """A hand from its position and quaternion."""
    _require(all(map(math.isfinite, row)) and max(map(abs, row[:3])) <= MAX_POSITION, "finite positions within bounds")
    length = math.hypot(*row[3:])
    _require(abs(length - 1) <= 1e-3, "a quaternion of length 1")
    # from the core directly: the numbers are checked already
    matrix = _core.from_quaternion(np.array([x / length for x in row[3:]])).copy()
    matrix[:3, 3] = row[:3]
    matrix.flags.writeable = False
    return Frame._trusted(matrix)


def _head(data: bytes) -> tuple[int, int, int, int, int, float]:
    _require(_HEAD.size <= len(data) <= MAX_BYTES, "the length of a packet")
    magic, version, kind, which, count, first, second, time = _HEAD.unpack_from(data)
    _require(magic == _MAGIC and version == VERSION, f"{_MAGIC!r} and version {VERSION}")
    return kind, which, count, first, second, time


def _read_json(data: bytes, kind: int | None, needed: Sequence[str], allowed: Sequence[str]) -> dict[str, Any]:
    """A JSON object of this format with exactly these names."""
    _require(len(data) <= MAX_BYTES, "the length of a packet")
    fields = _read(lambda: json.loads(data.decode(), object_pairs_hook=_unique, parse_constant=_refuse_constant))
    _require(type(fields) is dict and {"supple", "kind", *needed} <= fields.keys(), "the names of a packet")
    _require(fields.keys() <= {"supple", "kind", *needed, *allowed}, "no other names")
    _require(fields["supple"] == VERSION and type(fields["supple"]) is int, f"version {VERSION}")
    _require(type(fields["kind"]) is str and (kind is None or fields["kind"] == _KINDS[kind]), "the right kind")
    return dict(fields)


def _read(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except (ValueError, RecursionError) as error:
        raise Malformed(str(error)) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    _require(len(fields) == len(pairs), "each name once")
    return fields


def _refuse_constant(name: str) -> None:
    raise Malformed(f"expected numbers, not {name}")


def _require(true: bool, what: str) -> None:
    if not true:
        raise Malformed(f"expected {what}")


def _text(value: object, length: int) -> str:
    if type(value) is str and len(value) <= length and value.isascii() and value.isprintable():
        return value
    raise Malformed(f"expected a text of at most {length} characters")


def _number(value: object, bound: float) -> float:
    if type(value) is int or type(value) is float:
        _require(abs(value) <= min(bound, 1e300), "finite numbers within bounds")
        return float(value)
    raise Malformed("expected numbers")


def _numbers(values: object, count: int, bound: float) -> tuple[float, ...]:
    if type(values) is list and len(values) == count:
        return tuple(_number(value, bound) for value in values)
    raise Malformed(f"expected {count} numbers")


def _whole(value: object) -> int:
    if type(value) is int and 0 <= value < _CYCLE:
        return value
    raise Malformed("expected a whole number of 32 bits")
