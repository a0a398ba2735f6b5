"""Messages that a page accepts from browsers, decoded strictly; everything else is dropped.

Viser would decode any message of its protocol, and with it any nesting, any declared length and any attribute.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal, Union

import msgspec
from viser import _messages

MAX_TEXT = 256
"""Characters of the longest text in a message."""
MAX_NUMBER = 1e6
"""Largest number in a message: metres, pixels, joint values."""

Text = Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]
Number = Annotated[float, msgspec.Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)]
Whole = Annotated[int, msgspec.Meta(ge=0, le=2**31)]
Pixels = Annotated[int, msgspec.Meta(ge=1, le=2**31)]
Vector = tuple[Number, Number, Number]
Quaternion = tuple[Number, Number, Number, Number]


class _Accepted(msgspec.Struct, tag_field="type", forbid_unknown_fields=True):
    """A message of viser, with the same fields."""


class ViewerCameraMessage(_Accepted, tag=True):
    """The camera of the browser."""

    wxyz: Quaternion
    position: Vector
    fov: Number
    near: Number
    far: Number
    image_height: Pixels
    image_width: Pixels
    look_at: Vector
    up_direction: Vector


class _Value(msgspec.Struct, forbid_unknown_fields=True):
    value: Union[bool, Number, Text]  # noqa: UP007 - msgspec reads it at run time


class GuiUpdateMessage(_Accepted, tag=True):
    """The new value of a control."""

    uuid: Text
    updates: _Value


class CommandTriggerMessage(_Accepted, tag=True):
    """A key of a command was pressed."""

    uuid: Text


class TransformControlsUpdateMessage(_Accepted, tag=True):
    """A sample of a handle that is dragged."""

    name: Text
    wxyz: Quaternion
    position: Vector
    owner: Text = ""


class TransformControlsDragStartMessage(_Accepted, tag=True):
    """A handle is dragged from now on."""

    name: Text
    owner: Text = ""


class TransformControlsDragEndMessage(_Accepted, tag=True):
    """A handle is released."""

    name: Text
    owner: Text = ""


class SceneNodeDragMessage(_Accepted, tag=True):
    """A ball is dragged."""

    phase: Literal["start", "update", "end"]
    name: Text
    instance_index: Whole | None
    start_position: Vector
    start_screen_pos: tuple[Number, Number]
    end_position: Vector
    end_screen_pos: tuple[Number, Number]
    button: Literal["left", "middle", "right"]
    modifier: Text | None
    owner: Text = ""


class FileTransferStartUpload(_Accepted, tag=True):
    """A file will follow."""

    source_component_uuid: Text
    transfer_uuid: Text
    filename: str
    mime_type: Text
    part_count: Whole
    size_bytes: int


class FileTransferPart(_Accepted, tag=True):
    """A part of a file."""

    source_component_uuid: Text | None
    transfer_uuid: Text
    part_index: Whole
    content: bytes


VIEW = (ViewerCameraMessage, GuiUpdateMessage)
"""The messages of a page with controls."""
POSE = (
    *VIEW,
    TransformControlsUpdateMessage,
    TransformControlsDragStartMessage,
    TransformControlsDragEndMessage,
    SceneNodeDragMessage,
)
"""The messages of a page with controls and handles."""
DRIVE = (
    *POSE,
    CommandTriggerMessage,
    FileTransferStartUpload,
    FileTransferPart,
)
"""The messages of a page with keys and uploads as well."""


def decoder(accepted: Iterable[type[_Accepted]]) -> Callable[[bytes], Any]:
    """A function that makes a message of viser from bytes; None for what is malformed or not accepted."""
    read = msgspec.msgpack.Decoder(Union[tuple(accepted)])  # noqa: UP007

    def decode(raw: bytes) -> Any:
        try:
            found = read.decode(raw)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return None
        fields = {name: getattr(found, name) for name in found.__struct_fields__}
        if not all(map(_finite, fields.values())):
            return None
        if isinstance(found, GuiUpdateMessage):
            fields["updates"] = {"value": found.updates.value}
        return getattr(_messages, type(found).__name__)(**fields)

    return decode


def fits(control: Any, value: bool | float | str) -> bool:
    """Whether a person could have given this value to a control of viser: in its range, one of its options."""
    if isinstance(control.value, bool):
        return isinstance(value, bool)
    if isinstance(control.value, float | int):
        low, high = getattr(control, "min", None), getattr(control, "max", None)
        if isinstance(value, bool | str):
            return False
        return (low is None or low <= value) and (high is None or value <= high)
    options = getattr(control, "options", None)
    return isinstance(control.value, str) and isinstance(value, str) and (options is None or value in options)


def _finite(value: object) -> bool:
    """Whether there is no nan in a value: msgspec takes it for a number within any range."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, tuple):
        return all(map(math.isfinite, value))
    return not isinstance(value, _Value) or _finite(value.value)
