"""Reader of .xml files: URDF or MJCF, by the root element."""

from __future__ import annotations

from collections.abc import Mapping

from supple.linkage import Linkage
from supple.read import safe_xml, urdf
from supple.read.meshes import Finder


def read(file: str, finder: Finder, name: str | None, arguments: Mapping[str, str] | None) -> Linkage:
    """The linkage in an .xml file with URDF or MJCF in it."""
    root = safe_xml.parse(safe_xml.read_bytes(file), file)
    if root.tag == "mujoco":
        from supple.read import mjcf

        return mjcf.read_checked(file, finder, name)
    if not root.tag.endswith("robot"):
        raise safe_xml.wrong_root(root, file, "<robot> (URDF) or <mujoco> (MJCF)")
    return urdf.build(root, file, finder, name)
