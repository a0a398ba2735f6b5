"""Make the meshes of bundled robots from those of their sources: one per link and colour, simplified.

Usage: python docs/make_meshes.py NAME SOURCE.urdf FOLDER
FOLDER has the packages that the source names (package://...). The visual elements of the links with the same names in
src/supple/data/NAME.urdf are replaced; nothing else in that file changes. Needs pymeshlab, pycollada, scipy.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pymeshlab
import trimesh
from lxml import etree

DATA = Path(__file__).parents[1] / "src" / "supple" / "data"
BUDGET = {"so101": 260_000, "iiwa14": 260_000, "g1": 380_000, "baxter": 385_000}  # bytes, at most 400 kB a robot
TRIANGLE = {".stl": 50, ".ply": 19}  # bytes in a binary file; a PLY file has each vertex once
FORMAT = {"so101": ".stl", "iiwa14": ".stl", "g1": ".ply", "baxter": ".ply"}
LEFT_OUT = {"g1": ("logo_link",)}  # links that cannot be recognised after simplification: letters
SMALL = 0.04  # parts below this share of the size of their link are left out: screws, gears inside
MINOR = 0.05  # colours below this share of the surface of a link take the main one
WRAPPED = {"baxter": (1.2, 0.1)}  # robots whose meshes have torn and inner surfaces: size and distance of their wrap, %
LIGHTER = {  # colours of the source, 0 to 255, that would be too dark under the lights of the page
    "iiwa14": {(163, 163, 163): (224, 224, 222), (101, 101, 101): (90, 90, 92)},
    "baxter": {(4, 4, 4): (48, 48, 51), (0, 0, 0): (48, 48, 51), (25, 25, 25): (66, 66, 70)},
}

Colour = tuple[int, ...]
Groups = dict[Colour, Any]


def origin(element: Any) -> Any:
    """The 4 x 4 matrix of an element's origin."""
    found = element.find("origin")
    get = {} if found is None else found.attrib
    xyz, rpy = (np.array(get.get(key, "0 0 0").split(), float) for key in ("xyz", "rpy"))
    matrix = trimesh.transformations.euler_matrix(*rpy, "sxyz")
    matrix[:3, 3] = xyz
    return matrix


def colour_of(visual: Any, named: dict[str, str]) -> Colour | None:
    """The colour (0 to 255) of a visual element, if it has one."""
    material = visual.find("material")
    if material is None:
        return None
    own = material.find("color")
    text = own.get("rgba") if own is not None else named.get(material.get("name", ""))
    return None if text is None else tuple(round(255 * float(x)) for x in text.split()[:3])


def parts(file: Path) -> list[tuple[Any, Colour | None]]:
    """The meshes of a file in its own axes, each with its colour."""
    scene = trimesh.load(file, force="scene")
    made = []
    for node in scene.graph.nodes_geometry:
        placed, name = scene.graph[node]
        body = scene.geometry[name].copy()
        own = getattr(getattr(body.visual, "material", None), "main_color", None)
        body.apply_transform(placed)
        plain = trimesh.Trimesh(body.vertices, body.faces)
        plain.merge_vertices(digits_vertex=6)
        made.append((plain, None if own is None else tuple(int(x) for x in own[:3])))
    return made


def read(name: str, link: Any, named: dict[str, str], folder: Path) -> Groups:
    """The meshes of a link by colour, in the axes of the link, without small parts."""
    found: dict[Colour, list[Any]] = defaultdict(list)
    for visual in link.findall("visual"):
        mesh = visual.find("geometry/mesh")
        if mesh is None:
            continue
        scale = np.diag([*map(float, mesh.get("scale", "1 1 1").split()), 1.0])
        for body, own in parts(folder / mesh.get("filename").removeprefix("package://")):
            colour = own or colour_of(visual, named) or (179, 179, 179)
            body.apply_transform(origin(visual) @ scale)
            found[LIGHTER.get(name, {}).get(colour, colour)].append(body)
    if not found:
        return {}
    size = np.linalg.norm(trimesh.util.concatenate([body for bodies in found.values() for body in bodies]).extents)
    groups = {}
    for colour, bodies in found.items():
        pieces = [piece for body in bodies for piece in body.split(only_watertight=False, repair=False)]
        kept = [piece for piece in pieces if np.linalg.norm(piece.extents) > SMALL * size]
        if kept:
            groups[colour] = trimesh.util.concatenate(kept)
    main = max(groups, key=lambda colour: groups[colour].area)
    total = sum(body.area for body in groups.values())
    for colour in [colour for colour in groups if groups[colour].area < MINOR * total]:
        groups[main] = trimesh.util.concatenate([groups[main], groups.pop(colour)])
    return groups


def simplified(body: Any, count: int, wrap: tuple[float, float] | None = None) -> Any:
    """The mesh with at most about that many triangles. Its holes and handles may close.

    With ``wrap`` only its outside is left, as a closed surface: what is torn cannot be simplified well.
    """
    body.merge_vertices(digits_vertex=6)
    body.update_faces(body.nondegenerate_faces() & body.unique_faces())
    body.remove_unreferenced_vertices()
    count = max(count, 24)
    if len(body.faces) <= count:
        return body
    work = pymeshlab.MeshSet()
    work.add_mesh(pymeshlab.Mesh(np.asarray(body.vertices, float), np.asarray(body.faces, np.int32)))
    if wrap is not None:
        alpha, offset = map(pymeshlab.PercentageValue, wrap)
        work.generate_alpha_wrap(alpha=alpha, offset=offset)
    work.meshing_decimation_quadric_edge_collapse(targetfacenum=count, preservenormal=True, planarquadric=True)
    made = work.current_mesh()
    return trimesh.Trimesh(made.vertex_matrix(), made.face_matrix())


def main(name: str, source: Path, folder: Path) -> None:
    """Write the meshes and the visual elements of a robot."""
    urdf = etree.parse(source).getroot()
    named = {
        m.get("name"): m.find("color").get("rgba") for m in urdf.findall("material") if m.find("color") is not None
    }
    own = DATA / f"{name}.urdf"
    text = own.read_text(encoding="utf-8")
    links = {link.get("name"): link for link in urdf.findall("link")}
    wanted = [
        link
        for link in re.findall(r'<link name="([^"]+)"', text)
        if link in links and link not in LEFT_OUT.get(name, ())
    ]
    keys = {
        link: b"".join(etree.tostring(visual, method="c14n") for visual in links[link].findall("visual"))
        for link in wanted
    }
    first = {keys[link]: link for link in reversed(wanted)}  # links with the same meshes share their files
    groups = {link: read(name, links[link], named, folder) for link in first.values()}
    share = {(link, colour): body.area**0.5 for link, found in groups.items() for colour, body in found.items()}
    count = BUDGET[name] / TRIANGLE[FORMAT[name]] / sum(share.values())
    target = DATA / "meshes" / name
    target.mkdir(parents=True, exist_ok=True)
    elements = defaultdict(str)
    for (link, colour), area in share.items():
        body = simplified(groups[link][colour], int(count * area), WRAPPED.get(name))
        several = len(groups[link]) > 1
        file = f"{link}{'_' + str(list(groups[link]).index(colour) + 1) if several else ''}{FORMAT[name]}"
        write = trimesh.exchange.stl.export_stl if FORMAT[name] == ".stl" else trimesh.exchange.ply.export_ply
        (target / file).write_bytes(write(body))
        rgba = " ".join(f"{x / 255:.3g}" for x in colour)
        elements[link] += (
            f'\n    <visual>\n      <geometry>\n        <mesh filename="meshes/{name}/{file}"/>\n      </geometry>\n'
            f'      <material name="{name}_{bytes(colour).hex()}">\n        <color rgba="{rgba} 1"/>\n'
            "      </material>\n    </visual>"
        )
    for link in wanted:
        drawn = elements[first[keys[link]]]
        if drawn:
            bare = rf'<link name="{link}"\s*/>'
            text = re.sub(bare, lambda found, d=drawn, n=link: f'<link name="{n}">{d}\n  </link>', text)
            text = re.sub(rf'(<link name="{link}">)(?!\s*<visual)', lambda found, d=drawn: found[1] + d, text)
    own.write_text(text, encoding="utf-8")
    sizes = [file.stat().st_size for file in target.iterdir()]
    print(f"{name}: {len(sizes)} files, {sum(sizes) // 1000} kB")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
