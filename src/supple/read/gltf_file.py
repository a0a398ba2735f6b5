"""Container of .gltf and .glb files: their JSON, checked entry by entry, and the arrays in their buffers."""

from __future__ import annotations

import base64
import binascii
import json
import math
import os
import struct
import urllib.parse
from typing import Any, BinaryIO, NoReturn

import numpy as np

from supple import _check
from supple.errors import BadInput, BadLinkage
from supple.frame import Array
from supple.read import bounded

MAX_BYTES = 2**30
"""Largest file, and largest buffer beside it."""
_MAX_ENTRIES = 5_000_000  # commas and brackets of the JSON: each becomes an object in memory
_JSON, _BINARY = 0x4E4F534A, 0x004E4942  # kinds of chunk of a .glb
_COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Document:
    """The JSON of a file, and its buffers, which are read when an array needs them."""

    def __init__(self, file: str) -> None:
        self.file = file
        with bounded.open_binary(file, MAX_BYTES) as binary:
            data = _all(binary, MAX_BYTES)
        self._binary: memoryview | None = None
        text = self._chunks(data) if data[:4] == b"glTF" else memoryview(data)
        self._json = self._parsed(bytes(text))
        self._buffers: dict[int, memoryview] = {}
        version = self.table(self._json.get("asset"), "asset").get("version")
        if not isinstance(version, str) or version.split(".")[0] != "2":
            self.refuse(f"its version must be 2.0, got {_check.short(version)}", "asset")
        required = self._json.get("extensionsRequired", [])
        if required:
            self.refuse(f"it needs extensions, which are not read: {_check.short(required)}", "extensionsRequired")

    def refuse(self, reason: str, element: str = "") -> NoReturn:
        """Raise `BadLinkage` about an element, such as ``nodes[3]``."""
        raise BadLinkage(reason, element=element, file=self.file)

    # -- the container ------------------------------------------------------------------------------------------

    def _chunks(self, data: bytes) -> memoryview:
        """The JSON of a .glb; its binary chunk is kept."""
        if len(data) < 20:
            self.refuse("the file is cut short: a .glb has a header of 12 bytes and a chunk")
        _, version, length = struct.unpack_from("<III", data)
        if version != 2:
            self.refuse(f"its version must be 2, got {version}")
        if length != len(data):
            self.refuse(f"its header says {length:,} bytes, but there are {len(data):,}")
        view, at, chunks = memoryview(data), 12, []
        while at < length:
            if at + 8 > length:
                self.refuse(f"the file is cut short at byte {at}")
            size, kind = struct.unpack_from("<II", data, at)
            if at + 8 + size > length:
                self.refuse(f"the chunk at byte {at} says {size:,} bytes, more than are left")
            chunks.append((kind, view[at + 8 : at + 8 + size]))
            at += 8 + size
            if len(chunks) > 1000:
                self.refuse("more than 1,000 chunks")
        if chunks[0][0] != _JSON:
            self.refuse("the first chunk of a .glb must be JSON")
        if len(chunks) > 1 and chunks[1][0] == _BINARY:
            self._binary = chunks[1][1]
        return chunks[0][1]

    def _parsed(self, text: bytes) -> dict[str, Any]:
        if text.count(b",") + text.count(b"[") + text.count(b"{") > _MAX_ENTRIES:
            self.refuse(f"its JSON has more than {_MAX_ENTRIES:,} entries")

        def constant(word: str) -> NoReturn:
            self.refuse(f"{word} is not a number of JSON")

        try:
            parsed = json.loads(text.decode("utf-8-sig"), parse_constant=constant)
        except (ValueError, RecursionError) as error:
            if isinstance(error, BadLinkage):
                raise
            self.refuse(f"not JSON: {str(error)[:200]}")
        if not isinstance(parsed, dict):
            self.refuse(f"its JSON must be an object, got {_check.short(parsed)}")
        return parsed

    # -- entries of the JSON ------------------------------------------------------------------------------------

    def table(self, value: object, element: str) -> dict[str, Any]:
        """A JSON object."""
        if not isinstance(value, dict):
            self.refuse(f"it must be an object, got {_check.short(value)}", element)
        return value

    def rows(self, owner: dict[str, Any], key: str, element: str) -> list[Any]:
        """A JSON array; empty where the key is missing."""
        value = owner.get(key, [])
        if not isinstance(value, list):
            self.refuse(f"{key} must be an array, got {_check.short(value)}", element)
        return value

    def all(self, kind: str) -> list[Any]:
        """All entries of a kind, such as ``nodes``."""
        return self.rows(self._json, kind, kind)

    def entry(self, kind: str, index: object, element: str) -> dict[str, Any]:
        """One entry of a kind, by its index in what ``element`` is."""
        rows = self.all(kind)
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(rows):
            self.refuse(f"there are {len(rows):,} {kind}; got index {_check.short(index)}", element)
        return self.table(rows[index], f"{kind}[{index}]")

    def whole(self, owner: dict[str, Any], key: str, element: str, default: int | None = None) -> int:
        """A whole number that is not negative."""
        value = owner.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**40:
            self.refuse(f"{key} must be a whole number that is not negative, got {_check.short(value)}", element)
        return value

    def numbers(self, owner: dict[str, Any], key: str, count: int, element: str, default: Array) -> Array:
        """Finite numbers (count,) within 1e12."""
        if key not in owner:
            return default
        given = owner[key]
        good = isinstance(given, list) and len(given) == count and all(map(_check.is_number, given))
        array = np.array([_check.real(value) for value in given]) if good else np.array([math.nan])
        if not (np.abs(array) <= _check.LARGEST).all():
            wanted = f"{count} numbers within {_check.LARGEST:g}"
            self.refuse(f"{key} must be {wanted}, got {_check.short(given)}", element)
        return array

    @property
    def scene(self) -> dict[str, Any] | None:
        """The scene that is shown first; None if the file has none."""
        if not self.all("scenes"):
            return None
        return self.entry("scenes", self._json.get("scene", 0), "scene")

    # -- arrays -------------------------------------------------------------------------------------------------

    def array(self, index: object, width: int, element: str) -> Array:
        """The numbers (n, width) of an accessor; integers are scaled to -1 to 1 if they are normalised."""
        place = f"accessors[{index}]"
        accessor = self.entry("accessors", index, element)
        if "sparse" in accessor or "bufferView" not in accessor:
            self.refuse("sparse accessors, and those without a bufferView, are not read", place)
        component = accessor.get("componentType")
        if not isinstance(component, int) or component not in _COMPONENTS:
            self.refuse(f"componentType must be one of {[*_COMPONENTS]}, got {_check.short(component)}", place)
        kind = accessor.get("type")
        if not isinstance(kind, str) or _WIDTHS.get(kind) != width:
            self.refuse(f"expected {width} numbers for each entry, got type {_check.short(kind)}", place)
        dtype = np.dtype(_COMPONENTS[component])
        count = self.whole(accessor, "count", place)
        view, stride = self._view(accessor["bufferView"], place)
        size = dtype.itemsize * width
        stride = stride or size
        offset = self.whole(accessor, "byteOffset", place, 0)
        if not count or stride < size or offset + (count - 1) * stride + size > len(view):
            needs = f"{count:,} entries of {size} bytes from byte {offset:,}, {stride} apart"
            self.refuse(f"{needs}, do not fit into {len(view):,} bytes", place)
        raw = np.ndarray((count, width), dtype, view, offset, (stride, dtype.itemsize))
        array: Array = raw.astype(float)
        if dtype.kind != "f" and accessor.get("normalized") is True:
            array = np.maximum(array / np.iinfo(dtype).max, -1.0)
        if not (np.abs(array) <= _check.LARGEST).all():
            self.refuse(f"its numbers must be finite and within {_check.LARGEST:g}", place)
        return array

    def _view(self, index: object, element: str) -> tuple[memoryview, int]:
        """The bytes of a bufferView, and the bytes from one of its entries to the next; 0 if they are packed."""
        place = f"bufferViews[{index}]"
        view = self.entry("bufferViews", index, element)
        buffer = self._buffer(view.get("buffer"), place)
        offset, length = self.whole(view, "byteOffset", place, 0), self.whole(view, "byteLength", place)
        if offset + length > len(buffer):
            self.refuse(f"bytes {offset:,} to {offset + length:,} of a buffer of {len(buffer):,}", place)
        stride = self.whole(view, "byteStride", place, 0)
        if stride > 252:
            self.refuse(f"byteStride must be at most 252, got {stride:,}", place)
        return buffer[offset : offset + length], stride

    def _buffer(self, index: object, element: str) -> memoryview:
        place = f"buffers[{index}]"
        buffer = self.entry("buffers", index, element)
        assert isinstance(index, int)
        if index not in self._buffers:
            length, uri = self.whole(buffer, "byteLength", place), buffer.get("uri")
            if uri is None and index == 0 and self._binary is not None:
                data = self._binary
            elif not isinstance(uri, str):
                self.refuse("it has neither a uri nor the binary chunk of a .glb", place)
            else:
                data = self._embedded(uri, place) if uri[:5].lower() == "data:" else self._beside(uri, length, place)
            if len(data) < length:
                self.refuse(f"it should have {length:,} bytes, but there are {len(data):,}", place)
            self._buffers[index] = data[:length]
        return self._buffers[index]

    def _embedded(self, uri: str, place: str) -> memoryview:
        head, comma, body = uri.partition(",")
        if not comma or not head.lower().endswith(";base64"):
            self.refuse("a data URI must be in base64", place)
        try:
            return memoryview(base64.b64decode(body, validate=True))
        except (binascii.Error, ValueError) as error:
            self.refuse(f"a data URI that is not base64: {str(error)[:100]}", place)

    def _beside(self, uri: str, length: int, place: str) -> memoryview:
        """The bytes of a file in the folder of this one, or below it."""
        name = urllib.parse.unquote(uri)
        parts = name.split("/")
        if ":" in name or "\\" in name or "\0" in name or name.startswith("/") or ".." in parts or len(name) > 4000:
            wanted = "a buffer must be a file in the folder of this one, or below it"
            self.refuse(f"{wanted}; got {_check.short(uri)}", place)
        folder = os.path.realpath(os.path.dirname(self.file) or ".")
        path = os.path.realpath(os.path.join(folder, name))
        if os.path.commonpath([folder, path]) != folder:
            self.refuse(f"a link leads out of the folder of this file: {_check.short(uri)}", place)
        try:
            with bounded.open_binary(path, MAX_BYTES) as binary:
                return memoryview(_all(binary, length))
        except (BadInput, OSError) as error:
            self.refuse(f"its file {_check.short(uri)} cannot be read: {str(error)[:300]}", place)


def _all(binary: BinaryIO, most: int) -> bytes:
    """The bytes of an open file, at most ``most``; memory is reserved only for bytes that exist."""
    return binary.read(min(os.fstat(binary.fileno()).st_size, most))
