"""Small .gltf and .glb files, built field by field, for tests of the reader."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np


class GltfFile:
    """The JSON of a file and its one buffer; change ``json`` to make it wrong."""

    def __init__(self, nodes: list[dict[str, Any]]) -> None:
        self.json: dict[str, Any] = {
            "asset": {"version": "2.0"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": nodes,
            "accessors": [],
            "bufferViews": [],
        }
        self.data = b""

    def array(self, rows: Any, kind: str, component: int = 5126, **more: Any) -> int:
        """Adds an array; returns its accessor."""
        types = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5126: "<f4"}
        packed = np.asarray(rows).astype(types[component])
        self.json["bufferViews"].append({"buffer": 0, "byteOffset": len(self.data), "byteLength": packed.nbytes})
        self.data += packed.tobytes() + bytes(-packed.nbytes % 4)
        accessor = {"bufferView": len(self.json["bufferViews"]) - 1, "componentType": component, "type": kind, **more}
        self.json["accessors"].append({"count": len(packed), **accessor})
        return len(self.json["accessors"]) - 1

    def animate(self, node: int, path: str, times: Any, values: Any, mode: str | None = None, **more: Any) -> None:
        """Adds a channel to the first animation."""
        animation = self.json.setdefault("animations", [{"channels": [], "samplers": []}])[0]
        kind = "VEC4" if path == "rotation" else "VEC3"
        width = 4 if path == "rotation" else 3
        values = np.asarray(values)
        sampler = {"input": self.array(np.asarray(times)[:, None], "SCALAR")}
        sampler["output"] = self.array(values.reshape(-1, width), kind, **more)
        if mode is not None:
            sampler["interpolation"] = mode
        animation["channels"].append({"sampler": len(animation["samplers"]), "target": {"node": node, "path": path}})
        animation["samplers"].append(sampler)

    def glb(self) -> bytes:
        """The file as .glb."""
        document = {**self.json}
        if self.data and "buffers" not in document:
            document["buffers"] = [{"byteLength": len(self.data)}]
        text = json.dumps(document).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<I4s", len(text), b"JSON") + text
        if self.data:
            chunks += struct.pack("<I4s", len(self.data), b"BIN\0") + self.data
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks

    def gltf(self, uri: str | None = None) -> bytes:
        """The file as .gltf, with its buffer in it, or elsewhere."""
        uri = uri or "data:application/octet-stream;base64," + base64.b64encode(self.data).decode()
        return json.dumps({**self.json, "buffers": [{"byteLength": len(self.data), "uri": uri}]}).encode()

    def save(self, path: Path) -> Path:
        path.write_bytes(self.glb() if path.suffix == ".glb" else self.gltf())
        return path


def arm() -> GltfFile:
    """Three nodes, of which two turn."""
    file = GltfFile(
        [
            {"name": "base", "children": [1]},
            {"name": "upper", "translation": [0, 1, 0], "children": [2]},
            {"name": "hand", "translation": [0, 0, 2]},
        ]
    )
    turns = [[0, 0, 0, 1], [0, 0, 0.6, 0.8], [0.6, 0, 0, 0.8]]
    file.animate(1, "rotation", [0, 1, 2], turns)
    file.animate(2, "rotation", [0, 1, 2], turns[::-1])
    return file
