"""The wire format: commands, answers and refusals as JSON or as bytes, read strictly; docs/network.md describes it."""

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
LIMIT = 8192
"""Bytes of the largest packet."""
HANDS = 8
"""Hands of a command, and end effectors of an answer, at most."""
JOINTS = 256
"""Joint values of an answer, at most."""
TOKEN = 64
"""Characters of the longest token."""
FAR = 1e3
"""Metres from the origin that a hand may be away along an axis."""
LATEST = 1e11
"""Seconds that a clock may show; milliseconds since 1970 are more."""

_MAGIC = b"SUPL"
_HEAD = struct.Struct("<4sBBBBIId")  # magic, version, kind, flags or outcome, count, two numbers, time
_COMMAND, _ANSWER, _REFUSAL = 1, 2, 3
_KINDS = {_COMMAND: "command", _ANSWER: "answer", _REFUSAL: "refusal"}
_GRIP, _STAMPED = 1, 2
_LET_GO = (0.0,) * 7
_TURN = 1 << 32  # sequence numbers begin again at 0 after this many


class Form(Enum):
    """How a packet is written."""

    JSON = "json"
    BINARY = "binary"


class Malformed(SuppleError, ValueError):
    """A packet that is none: too long, not of this format, or with numbers that cannot be meant."""


class Message(NamedTuple):
    """A command as it came: who may send it, and how it was written."""

    command: Command
    token: str
    form: Form


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What came of a tick, for an arm or an operator."""

    number: int
    """Counts ticks, modulo 2**32."""
    t: float
    """When the tick was due, in seconds since the loop began."""
    sequence: int
    """Sequence number of the newest command that the loop knew; 0 before the first."""
    status: TrackingStatus
    q: Array
    """Joint values (dof,)."""
    error: Array
    """Goal minus end effector (goals, 6): metres, then radians, in world axes."""

    @classmethod
    def of(cls, tick: Tick) -> Answer:
        """What a tick has to say."""
        sequence = 0 if tick.command is None else tick.command.sequence
        return cls(tick.number % _TURN, tick.t, sequence % _TURN, tick.step.status, tick.step.q, tick.step.error)


class Refusal(NamedTuple):
    """Why a command was not heard."""

    reason: str
    """At most 255 printable ASCII characters."""
    sequence: int
    """Sequence number of that command."""


def newer(sequence: int, than: int) -> bool:
    """Whether a sequence number comes after another, on a circle of 2**32: less than half a turn ahead."""
    return 0 < (sequence - than) % _TURN < _TURN // 2


# -- writing --------------------------------------------------------------------------------------------------------


def encode(command: Command, token: str = "", form: Form = Form.BINARY) -> bytes:
    """A command as a packet; its sequence number is taken modulo 2**32. BadInput for what no packet can say."""
    if command.flaw:
        raise BadInput(f"a command that can be sent has finite frames: {command.flaw}")
    if len(command.hands) > HANDS:
        raise BadInput(f"a packet has at most {HANDS} hands, not {len(command.hands)}")
    if any(hand is not None and np.abs(hand.position).max() > FAR for hand in command.hands):
        raise BadInput(f"a hand must be within {FAR:g} m of the origin")
    if not 0 <= command.buttons < 1 << 32:
        raise BadInput(f"buttons are 32 bits, not {command.buttons}")
    stamped = not math.isnan(command.stamp)
    if stamped and not abs(command.stamp) <= LATEST:
        raise BadInput(f"a stamp must be within {LATEST:g} s, not {command.stamp!r}")
    checked_token(token)
    sequence = command.sequence % _TURN
    hands = [
        None if hand is None else [*hand.position.tolist(), *hand.to_quaternion().tolist()] for hand in command.hands
    ]
    if form is Form.JSON:
        said: dict[str, Any] = {"sequence": sequence, "grip": command.grip}
        said |= {"stamp": command.stamp} if stamped else {}
        said["hands"] = [None if row is None else {"position": row[:3], "quaternion": row[3:]} for row in hands]
        said |= {"buttons": command.buttons} if command.buttons else {}
        return _json(_COMMAND, said | ({"token": token} if token else {}))
    flags = _GRIP * command.grip | _STAMPED * stamped
    head = (sequence, command.buttons, command.stamp if stamped else 0.0)
    numbers = [x for row in hands for x in (row or [0.0] * 7)]
    return (
        _HEAD.pack(_MAGIC, VERSION, _COMMAND, flags, len(hands), *head)
        + struct.pack(f"<{len(numbers)}dB", *numbers, len(token))
        + token.encode("ascii")
    )


def encode_answer(answer: Answer | Refusal, form: Form = Form.BINARY) -> bytes:
    """An answer or a refusal as a packet. BadInput for what no packet can say."""
    if isinstance(answer, Refusal):
        if form is Form.JSON:
            return _json(_REFUSAL, {"sequence": answer.sequence, "reason": answer.reason})
        text = answer.reason.encode("ascii")
        return _HEAD.pack(_MAGIC, VERSION, _REFUSAL, 0, len(text), answer.sequence, 0, 0.0) + text
    q, error = answer.q, answer.error
    if q.ndim != 1 or len(q) > JOINTS or error.shape[1:] != (6,) or len(error) > HANDS:
        raise BadInput(f"an answer has {JOINTS} joint values and {HANDS} goals at most: {q.shape}, {error.shape}")
    if not (np.isfinite(q).all() and np.isfinite(error).all()):
        raise BadInput("an answer must be finite")
    if form is Form.JSON:
        said = {"number": answer.number, "t": answer.t, "sequence": answer.sequence}
        return _json(_ANSWER, said | {"outcome": answer.status.name.lower(), "q": q.tolist(), "error": error.tolist()})
    return (
        _HEAD.pack(_MAGIC, VERSION, _ANSWER, answer.status.value, len(error), answer.sequence, answer.number, answer.t)
        + struct.pack("<H", len(q))
        + q.astype("<f8").tobytes()
        + error.astype("<f8").tobytes()
    )


def packet(tick: Tick, form: Form) -> bytes | None:
    """What came of a tick as a packet; None if no packet can say it."""
    try:
        return encode_answer(Answer.of(tick), form)
    except BadInput:
        return None


def checked_token(token: str) -> str:
    """A token that a packet can carry, or BadInput."""
    if len(token) > TOKEN or not (token.isascii() and token.isprintable()):
        raise BadInput(f"a token is at most {TOKEN} printable ASCII characters, got {token!r}")
    return token


def _json(kind: int, said: dict[str, Any]) -> bytes:
    return json.dumps({"supple": VERSION, "kind": _KINDS[kind]} | said, separators=(",", ":"), allow_nan=False).encode()


# -- reading --------------------------------------------------------------------------------------------------------


def decode(data: bytes) -> Message:
    """The command in a packet of either form; `Malformed` for anything else."""
    if data[:1] != b"{":
        return _binary_command(data)
    said = _object(data, _COMMAND, ("sequence", "grip", "hands"), ("stamp", "buttons", "token"))
    _need(type(said["grip"]) is bool, "grip is true or false")
    _need(type(said["hands"]) is list and len(said["hands"]) <= HANDS, "hands are a list")
    token = _text(said.get("token", ""), TOKEN)
    stamp = _number(said["stamp"], LATEST) if "stamp" in said else math.nan
    hands = []
    for hand in said["hands"]:
        if hand is not None:
            _need(type(hand) is dict and hand.keys() == {"position", "quaternion"}, "position and quaternion of a hand")
            hand = _hand(_numbers(hand["position"], 3, FAR) + _numbers(hand["quaternion"], 4, 2.0))
        hands.append(hand)
    return Message(
        Command(
            hands=hands,
            grip=said["grip"],
            stamp=stamp,
            sequence=_whole(said["sequence"]),
            buttons=_whole(said.get("buttons", 0)),
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
        _need(len(data) == _HEAD.size + count and not (which or number or t), "a refusal is a text")
        return Refusal(_text(_read(lambda: data[_HEAD.size :].decode()), 255), sequence)
    _need(kind == _ANSWER and which < len(TrackingStatus) and count <= HANDS, "an answer")
    _need(len(data) >= _HEAD.size + 2, "an answer")
    (dof,) = struct.unpack_from("<H", data, _HEAD.size)
    _need(dof <= JOINTS and len(data) == _HEAD.size + 2 + 8 * (dof + 6 * count), "the length of an answer")
    numbers = np.frombuffer(data, "<f8", offset=_HEAD.size + 2).astype(float)
    _need(bool(np.isfinite(numbers).all()) and abs(t) <= LATEST, "finite numbers")
    return Answer(number, t, sequence, TrackingStatus(which), numbers[:dof], numbers[dof:].reshape(count, 6))


def _json_answer(data: bytes) -> Answer | Refusal:
    said = _object(data, None, ("sequence",), ("reason", "number", "t", "outcome", "q", "error"))
    if said["kind"] == "refusal":
        _need(said.keys() == {"supple", "kind", "sequence", "reason"} and type(said["reason"]) is str, "a refusal")
        return Refusal(_text(said["reason"], 255), _whole(said["sequence"]))
    _need(said["kind"] == "answer" and "reason" not in said and len(said) == 8, "an answer")
    states = {state.name.lower(): state for state in TrackingStatus}
    _need(type(said["outcome"]) is str and said["outcome"] in states, "an outcome")
    _need(type(said["q"]) is list and len(said["q"]) <= JOINTS, "joint values")
    _need(type(said["error"]) is list and len(said["error"]) <= HANDS, "errors")
    q = _numbers(said["q"], len(said["q"]), math.inf)
    error = [_numbers(row, 6, math.inf) for row in said["error"]]
    number, t = _whole(said["number"]), _number(said["t"], LATEST)
    return Answer(
        number, t, _whole(said["sequence"]), states[said["outcome"]], np.array(q), np.array(error).reshape(-1, 6)
    )


def _binary_command(data: bytes) -> Message:
    kind, flags, count, sequence, buttons, stamp = _head(data)
    _need(kind == _COMMAND and flags <= _GRIP | _STAMPED and count <= HANDS, "a command")
    end = _HEAD.size + 56 * count
    _need(len(data) > end and len(data) == end + 1 + data[end] and data[end] <= TOKEN, "the length of a command")
    _need(abs(stamp) <= LATEST and (bool(flags & _STAMPED) or stamp == 0), "a stamp")
    token = _text(_read(lambda: data[end + 1 :].decode("ascii")), TOKEN)
    numbers = struct.unpack_from(f"<{7 * count}d", data, _HEAD.size)
    rows = [numbers[k : k + 7] for k in range(0, 7 * count, 7)]
    hands = [None if row == _LET_GO else _hand(row) for row in rows]
    when = stamp if flags & _STAMPED else math.nan
    command = Command(hands=hands, grip=bool(flags & _GRIP), stamp=when, sequence=sequence, buttons=buttons)
    return Message(command, token, Form.BINARY)


def _hand(row: Sequence[float]) -> Frame:
    """A hand from its position and quaternion."""
    _need(all(map(math.isfinite, row)) and max(map(abs, row[:3])) <= FAR, "finite positions within bounds")
    length = math.hypot(*row[3:])
    _need(abs(length - 1) <= 1e-3, "a quaternion of length 1")
    # the core's own, since what was checked here need not be checked again, a thousand times a second
    matrix = _core.from_quaternion(np.array([x / length for x in row[3:]])).copy()
    matrix[:3, 3] = row[:3]
    matrix.flags.writeable = False
    return Frame._trusted(matrix)


def _head(data: bytes) -> tuple[int, int, int, int, int, float]:
    _need(_HEAD.size <= len(data) <= LIMIT, "the length of a packet")
    magic, version, kind, which, count, first, second, time = _HEAD.unpack_from(data)
    _need(magic == _MAGIC and version == VERSION, f"{_MAGIC!r} and version {VERSION}")
    return kind, which, count, first, second, time


def _object(data: bytes, kind: int | None, needed: Sequence[str], allowed: Sequence[str]) -> dict[str, Any]:
    """A JSON object of this format with just these names."""
    _need(len(data) <= LIMIT, "the length of a packet")
    said = _read(lambda: json.loads(data.decode(), object_pairs_hook=_once, parse_constant=_no_constant))
    _need(type(said) is dict and {"supple", "kind", *needed} <= said.keys(), "the names of a packet")
    _need(said.keys() <= {"supple", "kind", *needed, *allowed}, "no other names")
    _need(said["supple"] == VERSION and type(said["supple"]) is int, f"version {VERSION}")
    _need(type(said["kind"]) is str and (kind is None or said["kind"] == _KINDS[kind]), "its kind")
    return dict(said)


def _read(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except (ValueError, RecursionError) as error:
        raise Malformed(str(error)) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    said = dict(pairs)
    _need(len(said) == len(pairs), "each name once")
    return said


def _no_constant(name: str) -> None:
    raise Malformed(f"expected numbers, not {name}")


def _need(true: bool, what: str) -> None:
    if not true:
        raise Malformed(f"expected {what}")


def _text(value: object, length: int) -> str:
    if type(value) is str and len(value) <= length and value.isascii() and value.isprintable():
        return value
    raise Malformed(f"expected a text of at most {length} characters")


def _number(value: object, bound: float) -> float:
    if type(value) is int or type(value) is float:
        _need(abs(value) <= min(bound, 1e300), "finite numbers within bounds")
        return float(value)
    raise Malformed("expected numbers")


def _numbers(values: object, count: int, bound: float) -> tuple[float, ...]:
    if type(values) is list and len(values) == count:
        return tuple(_number(value, bound) for value in values)
    raise Malformed(f"expected {count} numbers")


def _whole(value: object) -> int:
    if type(value) is int and 0 <= value < _TURN:
        return value
    raise Malformed("expected a whole number of 32 bits")
