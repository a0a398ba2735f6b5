"""Writer of .gltf and .glb files: the nodes of a linkage, a skin that moves with them, and an animation."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

import numpy as np

from supple._figure import local_frames, skin
from supple._figure.convention import Convention
from supple._progress import Progress
from supple.frame import Array, Frame
from supple.joint import Kind
from supple.linkage import Linkage
from supple.write import atomic
from supple.write.gltf_buffer import Buffer


def write(file: str, linkage: Linkage, times: Array, q: Array, convention: Convention) -> None:
    """Write a linkage and its keys, times (n,) in seconds and q (n, dof).

    Each link is a node, at rest where the linkage is at rest. Links that a joint moves are joints of a skin. Numbers
    are in single precision. Times begin at 0 if they would be negative.
    """
    buffer = Buffer()
    rest = _transform(next(local_frames.blocks(linkage, linkage.rest[None], convention.turn))[1][0], convention.unit)
    document: dict[str, Any] = {"asset": {"version": "2.0", "generator": "supple"}, "scene": 0}
    nodes = _nodes(linkage, rest)
    document |= _skin(linkage, nodes, buffer, convention)
    document["nodes"] = nodes
    document["scenes"] = [{"name": linkage.name or "scene", "nodes": [0, *range(len(linkage.links), len(nodes))]}]
    document["animations"] = [_animation(linkage, times, q, buffer, convention)]
    document |= buffer.tables()
    _save(file, document, buffer)


def _transform(frame: Frame, unit: float) -> tuple[Array, Array]:
    """Positions (..., 3) in units of the file and quaternions (..., 4), xyzw."""
    return frame.position / unit, frame.to_quaternion(order="xyzw")


def _nodes(linkage: Linkage, rest: tuple[Array, Array]) -> list[dict[str, Any]]:
    """One node for each link, in the order of the links."""
    nodes: list[dict[str, Any]] = [{"name": link.name} for link in linkage.links]
    for node, position, quaternion in zip(nodes, *rest, strict=True):
        if position.any():
            node["translation"] = _numbers(position)
        if (quaternion != [0, 0, 0, 1]).any():
            node["rotation"] = _numbers(quaternion)
    for child, parent in enumerate(local_frames.parents(linkage)[1:], 1):
        nodes[parent].setdefault("children", []).append(child)
    return nodes


def _numbers(row: Array) -> list[float]:
    return [float(value) for value in np.round(row, 12) + 0.0]


# -- the skin ---------------------------------------------------------------------------------------------------------


def _skin(linkage: Linkage, nodes: list[dict[str, Any]], buffer: Buffer, convention: Convention) -> dict[str, Any]:
    """Skins, meshes and materials. A surface of a link moves with the nearest joint above it; those that no joint
    moves are a mesh of the root node."""
    carriers = _carriers(linkage)
    joints = sorted({carrier for carrier in carriers if carrier > 0})
    surfaces = skin.surfaces(linkage, linkage.rest)
    to_file = convention.turn.inverse()
    still = [piece for piece in surfaces if carriers[piece.link] == 0]
    moved = [piece for piece in surfaces if carriers[piece.link] > 0]
    meshes: list[dict[str, Any]] = []
    made: dict[str, Any] = {}
    if joints:
        binds = [(to_file @ linkage.frame(linkage.rest, linkage.links[joint].name)) for joint in joints]
        inverse = np.stack([bind.inverse().matrix for bind in binds])
        inverse[:, :3, 3] /= convention.unit
        columns = buffer.add(np.swapaxes(inverse, -1, -2).reshape(-1, 16), "MAT4")
        made["skins"] = [{"joints": joints, "inverseBindMatrices": columns}]
    if moved:
        number = {joint: k for k, joint in enumerate(joints)}
        owners = [number[carriers[piece.link]] for piece in moved]
        nodes.append({"name": "skin", "mesh": len(meshes), "skin": 0})
        meshes.append(_mesh(moved, to_file, convention.unit, buffer, owners))
    if still:
        root = linkage.frame(linkage.rest, linkage.root).inverse()
        nodes[0]["mesh"] = len(meshes)
        meshes.append(_mesh(still, root, convention.unit, buffer))
    if meshes:
        made["meshes"] = meshes
        rough = {"metallicFactor": 0.0, "roughnessFactor": 0.65}
        made["materials"] = [{"name": "skin", "pbrMetallicRoughness": rough}]
    return made


def _carriers(linkage: Linkage) -> list[int]:
    """For each link the nearest link, itself or above it, that is the child of a moving joint; 0 if there is none."""
    carriers = [0]
    for child, (joint, parent) in enumerate(
        zip(linkage.joints, local_frames.parents(linkage)[1:], strict=True), start=1
    ):
        carriers.append(carriers[parent] if joint.kind is Kind.FIXED else child)
    return carriers


def _mesh(
    surfaces: list[skin.Surface], frame: Frame, unit: float, buffer: Buffer, owners: list[int] | None = None
) -> dict[str, Any]:
    """One mesh of all surfaces, their vertices taken to a frame; each bound to the joint of that number."""
    sizes = [len(piece.vertices) for piece in surfaces]
    starts = np.cumsum([0, *sizes[:-1]])
    vertices = frame.apply(np.concatenate([piece.vertices for piece in surfaces])) / unit
    normals = np.concatenate([piece.normals for piece in surfaces]) @ frame.rotation.T
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    colours = np.array([[*(np.array(piece.colour[:3]) ** 2.2), piece.colour[3]] for piece in surfaces])  # linear light
    faces = np.concatenate([piece.faces + start for piece, start in zip(surfaces, starts, strict=True)])
    attributes = {
        "POSITION": buffer.add(vertices, "VEC3", vertex=True, bounds=True),
        "NORMAL": buffer.add(normals, "VEC3", vertex=True),
        "COLOR_0": buffer.add(np.repeat(np.clip(colours, 0, 1), sizes, axis=0), "VEC4", vertex=True),
    }
    if owners is not None:
        bound = np.zeros((len(vertices), 4), dtype=np.uint16)
        bound[:, 0] = np.repeat(owners, sizes)
        weights = np.zeros((len(vertices), 4))
        weights[:, 0] = 1.0
        attributes["JOINTS_0"] = buffer.add(bound, "VEC4", vertex=True)
        attributes["WEIGHTS_0"] = buffer.add(weights, "VEC4", vertex=True)
    indices = buffer.add(faces.reshape(-1, 1).astype(np.uint32), "SCALAR", index=True)
    return {"name": "skin", "primitives": [{"attributes": attributes, "indices": indices, "material": 0}]}


# -- the animation ----------------------------------------------------------------------------------------------------


def _animation(linkage: Linkage, times: Array, q: Array, buffer: Buffer, convention: Convention) -> dict[str, Any]:
    """Rotations of all links that a joint moves, and translations of those whose position changes."""
    seconds = (times - min(float(times[0]), 0.0)).astype(np.float32)
    apart = np.concatenate([[True], np.diff(seconds) > 0])  # keys that single precision cannot tell apart
    seconds, q = seconds[apart], q[apart]
    turning = [i for i, joint in enumerate(linkage.joints, 1) if joint.kind not in (Kind.FIXED, Kind.PRISMATIC)]
    sliding = [i for i, joint in enumerate(linkage.joints, 1) if local_frames.slides(joint)]
    quaternions = np.empty((len(turning), len(q), 4), dtype=np.float32)
    positions = np.empty((len(sliding), len(q), 3), dtype=np.float32)
    with Progress("writing", len(q)) as progress:
        for part, frames in local_frames.blocks(linkage, q, convention.turn):
            place, turn = _transform(frames, convention.unit)
            quaternions[:, part] = np.swapaxes(turn[:, turning], 0, 1)
            positions[:, part] = np.swapaxes(place[:, sliding], 0, 1)
            progress.step(part.stop - part.start)
    # q and -q are the same rotation: each key has the sign that is nearer to the one before
    flips = np.sign(np.sum(quaternions[:, 1:] * quaternions[:, :-1], axis=-1))
    quaternions[:, 1:] *= np.cumprod(np.where(flips == 0, 1, flips), axis=1)[..., None]
    when = buffer.add(seconds[:, None], "SCALAR", bounds=True)
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []
    moves = [("rotation", turning, quaternions, "VEC4"), ("translation", sliding, positions, "VEC3")]
    for path, links, values, kind in moves:
        for link, rows in zip(links, values, strict=True):
            channels.append({"sampler": len(samplers), "target": {"node": link, "path": path}})
            samplers.append({"input": when, "output": buffer.add(rows, kind), "interpolation": "LINEAR"})
    if not channels:  # nothing moves: an animation needs a channel
        root = convention.turn.inverse() @ linkage.base
        still = np.tile(root.to_quaternion(order="xyzw"), (len(q), 1))
        channels.append({"sampler": 0, "target": {"node": 0, "path": "rotation"}})
        samplers.append({"input": when, "output": buffer.add(still, "VEC4"), "interpolation": "LINEAR"})
    return {"name": linkage.name or "motion", "channels": channels, "samplers": samplers}


# -- the file ---------------------------------------------------------------------------------------------------------


def _save(file: str, document: dict[str, Any], buffer: Buffer) -> None:
    data = buffer.data()
    packed = file.lower().endswith(".glb")
    document["buffers"] = [{"byteLength": len(data)}]
    if not packed:
        document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    with atomic.replacing(file) as new, open(new, "wb") as binary:
        if not packed:
            binary.write(text)
            return
        text += b" " * (-len(text) % 4)
        binary.write(struct.pack("<4sII", b"glTF", 2, 12 + 8 + len(text) + 8 + len(data)))
        binary.write(struct.pack("<I4s", len(text), b"JSON") + text)
        binary.write(struct.pack("<I4s", len(data), b"BIN\0") + data)
