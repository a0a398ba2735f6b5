"""The 3-D scene of the viewer: a linkage that moves with its joint values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple.frame import Array, Frame
from supple.linkage import Linkage
from supple.view.bodies import bodies, thickness
from supple.view.link_nodes import LinkNodes
from supple.view.solids import Solid

BACKDROP = ((250, 250, 249), (232, 232, 230))  # top and bottom of the background
FIELD_OF_VIEW = math.radians(40)


class Scene:
    """A linkage in the scene of a viser server: one node for each link, with its solids as children."""

    def __init__(
        self,
        server: Any,
        linkage: Linkage,
        *,
        frames: bool = False,
        names: bool = False,
        solids: Sequence[Sequence[Solid]] | None = None,
    ) -> None:
        """Draw the linkage at rest, on a grid, with a camera that sees all of it; ``solids`` are `bodies` of it."""
        self._server, self._linkage = server, linkage
        self._bodies = bodies(linkage) if solids is None else solids
        self.low, self.high = self._draw(frames, names)
        self._surround()
        self.show(linkage.rest)

    def show(self, q: ArrayLike) -> None:
        """Move every link to its pose at joint values q (dof,)."""
        self._links.show(self._linkage.frames(_check.own(q)).matrix)

    def show_around(self, low: Array, high: Array) -> None:
        """Place ground and camera for a linkage that moves within a box, with corners (3,) in metres."""
        self.low, self.high = low, high
        self._surround()

    @property
    def paths(self) -> list[str]:
        """The path of the node of each link: what is added below it moves with the link."""
        return self._links.names

    @property
    def frames(self) -> bool:
        """Whether the axes of every link are drawn."""
        return bool(self._nodes[0].show_axes)

    @frames.setter
    def frames(self, shown: bool) -> None:
        for node in self._nodes:
            node.show_axes = shown

    @property
    def names(self) -> bool:
        """Whether the name of every link is written beside it."""
        return bool(self._labels[0].visible)

    @names.setter
    def names(self, shown: bool) -> None:
        for label in self._labels:
            label.visible = shown

    def _draw(self, frames: bool, names: bool) -> tuple[Array, Array]:
        """Make the nodes of all links. Returns the corners (3,) of the bounding box at rest, in metres."""
        scene, r = self._server.scene, thickness(self._linkage)
        placed = self._linkage.frames(self._linkage.rest).matrix
        points = [placed[:, :3, 3]]
        axes = {"show_axes": frames, "axes_length": 2.6 * r, "axes_radius": 0.09 * r}
        self._links = LinkNodes(self._server, "/links", self._linkage, **axes)
        self._nodes, self._labels = self._links.nodes, []
        for i, (link, body) in enumerate(zip(self._linkage.links, self._bodies, strict=True)):
            self._labels.append(scene.add_label(f"{self.paths[i]}/name", link.name, visible=names))
            for k, solid in enumerate(body):
                scene.add_mesh_trimesh(f"{self.paths[i]}/solid_{k}", solid, receive_shadow=False)
                points.append(Frame(placed[i]).apply(np.asarray(solid.vertices)))
        every = np.concatenate(points)
        return every.min(axis=0), every.max(axis=0)

    def _surround(self) -> None:
        """Add background, ground and camera, in proportion to the linkage."""
        scene, camera = self._server.scene, self._server.initial_camera
        top, bottom = (np.array(colour, dtype=float) for colour in BACKDROP)
        blend = np.linspace(0, 1, 64)[:, None, None]
        scene.set_background_image(np.broadcast_to(top + (bottom - top) * blend, (64, 64, 3)).astype(np.uint8))
        scene.set_up_direction("+z")
        size = float(np.linalg.norm(self.high - self.low)) or 1.0
        cell = 10.0 ** math.floor(math.log10(size)) / (5 if math.log10(size) % 1 < 0.5 else 2)
        middle = (self.low + self.high) / 2
        around = (
            np.round(middle[:2] / (5 * cell)) * 5 * cell
        )  # multiples of a cell, so that grid lines pass through the root
        scene.add_grid(
            "/ground",
            width=cell * 10 * math.ceil(2 * size / cell / 10 + 1),
            height=cell * 10 * math.ceil(2 * size / cell / 10 + 1),
            position=(around[0], around[1], min(0.0, float(self.low[2]))),
            cell_size=cell,
            section_size=5 * cell,
            cell_color=(222, 221, 218),
            section_color=(200, 199, 195),
            shadow_opacity=0.2,
        )
        flat = max(0.0, 1 - 2 * float(self.high[2] - self.low[2]) / size)  # a flat linkage is seen from above
        away = (1 - flat) * np.array([0.58, -0.72, 0.37]) + flat * np.array([0.0, -0.5, 0.87])
        away *= 0.52 * size / math.sin(FIELD_OF_VIEW / 2) / np.linalg.norm(away)
        aside = 0.13 * np.cross([0.0, 0.0, 1.0], away)  # leaves space for the panel on the right
        camera.position, camera.look_at, camera.up = middle + away + aside, middle + aside, (0.0, 0.0, 1.0)
        camera.fov, camera.near, camera.far = FIELD_OF_VIEW, size / 200, size * 50
