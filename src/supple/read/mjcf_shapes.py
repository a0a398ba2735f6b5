"""Geometry of a MuJoCo model; files of meshes and textures may be missing."""

from __future__ import annotations

import os
from typing import Any

from supple.frame import Frame
from supple.link import Box, Capsule, Cylinder, Geometry, Mesh, Shape, Sphere


def compiled(mujoco: Any, file: str, scratch: str | None) -> tuple[Any, dict[int, Mesh], set[int]]:
    """The compiled model, the missing meshes by the index of their geom, and the bodies whose mass needs one of them.

    The compiler computes the mass of a body without <inertial> from its geoms. It works in the folder ``scratch``, if
    given: MuJoCo writes its log, MUJOCO_LOG.TXT, to the working directory.
    """
    path, before = os.path.abspath(file), os.getcwd()
    if scratch is None:
        return _compiled(mujoco, path)
    os.chdir(scratch)
    try:
        return _compiled(mujoco, path)
    finally:
        os.chdir(before)


def _compiled(mujoco: Any, path: str) -> tuple[Any, dict[int, Mesh], set[int]]:
    virtual = {}
    if not path.endswith(".xml"):  # MuJoCo needs this ending; relative names keep their folder
        with open(path, "rb") as stream:
            path, virtual = path + ".xml", {path + ".xml": stream.read()}
    try:
        return mujoco.MjSpec.from_file(path, include=virtual).compile(), {}, set()
    except ValueError as error:
        first = error
    spec = mujoco.MjSpec.from_file(path, include=virtual)
    changed, absent = _without_files(mujoco, spec, os.path.dirname(path))
    if not changed:
        raise first
    model = spec.compile()
    lost = {geom.id: absent[geom.info] for geom in spec.geoms if geom.info in absent}
    always = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    given = set() if always else {body.id for body in spec.bodies if body.explicitinertial}
    return model, lost, {int(model.geom_bodyid[g]) for g in lost} - given


def geometry(mujoco: Any, model: Any, file: str, absent: dict[int, Mesh]) -> list[list[Geometry]]:
    """Geometry of each body: the geoms that never collide (the visual ones) if it has any, else all."""
    pieces: list[list[tuple[bool, Geometry]]] = [[] for _ in range(model.nbody)]
    for g in range(model.ngeom):
        shape = absent.get(g) or _shape(mujoco.mjtGeom, model, g, file)
        if shape is None:
            continue
        frame = Frame.at(model.geom_pos[g], Frame.quaternion(model.geom_quat[g]))
        mesh = model.geom_dataid[g]
        if (
            isinstance(shape, Mesh) and g not in absent
        ):  # the compiler centres a mesh; this restores the axes of its file
            frame = frame @ Frame.at(model.mesh_pos[mesh], Frame.quaternion(model.mesh_quat[mesh])).inverse()
        shown = not model.geom_contype[g] and not model.geom_conaffinity[g]
        pieces[model.geom_bodyid[g]].append((shown, Geometry(shape, frame, _colour(model, g))))
    return [
        [piece for shown, piece in body if shown or not any(other for other, _ in body)]  # keeps the order of the file
        for body in pieces
    ]


def _shape(kinds: Any, model: Any, g: int, file: str) -> Shape | None:
    x, y, z = (float(value) for value in model.geom_size[g])
    kind = model.geom_type[g]
    if kind == kinds.mjGEOM_BOX:
        return Box((2 * x, 2 * y, 2 * z))
    if kind == kinds.mjGEOM_SPHERE:
        return Sphere(x)
    if kind == kinds.mjGEOM_CYLINDER:
        return Cylinder(x, 2 * y)
    if kind == kinds.mjGEOM_CAPSULE:
        return Capsule(x, 2 * y)
    if kind == kinds.mjGEOM_MESH:
        mesh = model.geom_dataid[g]
        start = model.mesh_pathadr[mesh]
        if start < 0:  # the vertices are in the model itself: there is no file
            return None
        path = model.paths[start : model.paths.index(b"\0", start)].decode()
        path = os.path.join(os.path.dirname(file), path)
        sx, sy, sz = (float(value) for value in model.mesh_scale[mesh])
        return Mesh(path, (sx, sy, sz), os.path.isfile(path))
    return None


def _colour(model: Any, g: int) -> tuple[float, float, float, float]:
    rgba = model.geom_rgba[g]
    material = model.geom_matid[g]
    if material >= 0 and rgba.tolist() == [0.5, 0.5, 0.5, 1.0]:  # the default: use the material's colour
        rgba = model.mat_rgba[material]
    red, green, blue, opacity = (min(max(float(value), 0.0), 1.0) for value in rgba)
    return red, green, blue, opacity


def _without_files(mujoco: Any, spec: Any, folder: str) -> tuple[bool, dict[str, Mesh]]:
    """Replace missing meshes by small spheres and missing textures by colours; whether any, and the meshes."""

    def there(asset: Any, directory: str) -> bool:
        name = os.path.basename(asset.file) if spec.strippath else asset.file
        return not asset.file or os.path.isfile(os.path.join(folder, directory, name))

    absent: dict[str, Mesh] = {}
    meshes = {mesh.name or os.path.splitext(os.path.basename(mesh.file))[0]: mesh for mesh in spec.meshes}
    lost = {name: mesh for name, mesh in meshes.items() if not there(mesh, spec.meshdir)}
    for i, geom in enumerate(spec.geoms):
        if geom.meshname in lost:
            sx, sy, sz = (float(value) for value in lost[geom.meshname].scale)
            geom.info = f"missing mesh of geom {i}"
            absent[geom.info] = Mesh(lost[geom.meshname].file, (sx, sy, sz), found=False)
            geom.type, geom.meshname, geom.size = mujoco.mjtGeom.mjGEOM_SPHERE, "", [0.01, 0, 0]
    for mesh in lost.values():
        spec.delete(mesh)
    plain = [texture for texture in spec.textures if not there(texture, spec.texturedir)]
    for texture in plain:
        texture.file, texture.builtin = "", mujoco.mjtBuiltin.mjBUILTIN_FLAT
        texture.width = texture.height = 1
    return bool(lost or plain), absent
