"""Buffer of a .gltf file: arrays one after the other, with the entries of the JSON that describe them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_COMPONENTS = {"f": (5126, "<f4"), 2: (5123, "<u2"), 4: (5125, "<u4")}
_VERTICES, _INDICES = 34962, 34963


class Buffer:
    """Arrays that were added so far."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0
        self._views: list[dict[str, Any]] = []
        self._accessors: list[dict[str, Any]] = []

    def add(
        self, rows: NDArray[Any], kind: str, *, vertex: bool = False, index: bool = False, bounds: bool = False
    ) -> int:
        """Add an array (n, width): floats in single precision, or unsigned integers. Returns its accessor."""
        component, dtype = _COMPONENTS["f" if rows.dtype.kind == "f" else rows.dtype.itemsize]
        packed = np.ascontiguousarray(rows, dtype=dtype)
        data = packed.tobytes()
        view: dict[str, Any] = {"buffer": 0, "byteOffset": self._length, "byteLength": len(data)}
        if vertex or index:
            view["target"] = _VERTICES if vertex else _INDICES
        accessor: dict[str, Any] = {
            "bufferView": len(self._views),
            "componentType": component,
            "count": len(packed),
            "type": kind,
        }
        if bounds:
            accessor |= {"min": packed.min(axis=0).tolist(), "max": packed.max(axis=0).tolist()}
        padding = bytes(-len(data) % 4)
        self._parts += [data, padding]
        self._length += len(data) + len(padding)
        self._views.append(view)
        self._accessors.append(accessor)
        return len(self._accessors) - 1

    def data(self) -> bytes:
        """All bytes."""
        return b"".join(self._parts)

    def tables(self) -> dict[str, Any]:
        """The entries of the JSON."""
        return {"bufferViews": self._views, "accessors": self._accessors}
