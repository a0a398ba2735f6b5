"""ArmView: draws the arm for all browsers: links, goals, joints at their limits, manipulability ellipsoids."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.frame import Array, Frame
from supple.joint import Kind
from supple.linkage import Linkage
from supple.teleop.command import Tick
from supple.teleop.page import framing
from supple.teleop.page.arm import Arm
from supple.view.link_nodes import LinkNodes
from supple.view.scene import Scene
from supple.view.solids import Solid

GOAL = (209, 102, 58)  # the colour of goals in all figures
# light and dark violet: unlike each other and the colours of every bundled model, also for colour-blind eyes
LIMIT = (195, 75, 255)
BEYOND = (105, 0, 255)
MARK_OPACITY = 0.8
ELLIPSOID = (84, 136, 143)
GHOST = (70, 120, 190)  # the measured arm
GOAL_SHOWN = (0.004, 0.03)  # of the arm's size, and radians: error from which the goal is drawn
AT_LIMIT = 0.004  # of a joint's range: within it the joint is shown at its limit
INVISIBLE = 1e-6  # metres and radians: smaller changes are not drawn
GHOST_SHOWN = 0.01  # rad or m: how far a measured joint is away from which the measured arm is drawn


class ArmView:
    """An arm drawn on a viser server for all browsers. `show` must be called from one thread only."""

    def __init__(self, server: Any, arm: Arm) -> None:
        """Draws the arm at rest."""
        self._server, self.arm = server, arm
        self.ellipsoids = False
        """Whether to draw manipulability ellipsoids: how fast an end effector can move in each direction."""
        linkage = arm.linkage
        self.scene = Scene(server, linkage, solids=arm.bodies)
        server.initial_camera.position, server.initial_camera.look_at = self._camera(tall=False)
        self._bodies = arm.bodies
        places = {link.name: i for i, link in enumerate(linkage.links)}
        self._moved_link = [places[joint.child] for joint in linkage.joints for _ in range(joint.dof)]
        self._lower, self._upper = linkage.lower, linkage.upper
        self._limit_zone = AT_LIMIT * np.minimum(self._upper - self._lower, 2 * np.pi)
        self._limit_marks: dict[int, Any] = {}
        self._goal_marks = [self._goal_mark(k) for k in range(len(arm.links))]
        self._ellipsoids = [self._ellipsoid(k) for k in range(len(arm.links))]
        self._ghost: LinkNodes | None = None
        self._drawn: Array = np.full(2 * linkage.dof + 16 * len(arm.links) + 1, np.nan)

    def show(self, tick: Tick) -> None:
        """Draws the result of a tick: the commanded arm, and the measured one as a ghost where it is elsewhere."""
        q = np.array(tick.step.q)
        if not np.isfinite(q).all():
            return
        opened = self.arm.grippers.put(q, tick.grippers)
        measured = np.full(len(q), np.nan) if tick.measured is None else tick.measured
        state = np.concatenate([opened, tick.goals.ravel(), measured, [float(self.ellipsoids)]])
        change = np.abs(state - self._drawn)
        if not ((change > INVISIBLE) | (np.isnan(state) != np.isnan(self._drawn))).any():
            return  # nothing to send
        with self._server.atomic():
            self.scene.show(opened)
            self._mark_limits(q)
            self._mark_goals(tick)
            self._draw_ghost(opened, tick.measured)
            self._draw_ellipsoids(q)
        self._drawn = state

    def set_camera(self, client: Any) -> Array:
        """Turns a browser's camera so that it sees the whole reach of the arm, beside the panels or above them.

        Returns its position (3,).
        """
        position, middle = self._camera(is_tall(client))
        client.camera.up_direction = (0.0, 0.0, 1.0)
        client.camera.position, client.camera.look_at = position, middle
        return position

    def _camera(self, tall: bool) -> tuple[Array, Array]:
        """Position of the camera (3,) and the point it looks at (3,); ``tall`` for a phone, with the panel below."""
        window = framing.PHONE if tall else framing.LAPTOP
        return framing.camera(window, self.scene.low, self.scene.high, self.arm.size)

    def clear(self) -> None:
        """Removes all of it."""
        for name in ("/links", "/goals", "/ellipsoids", "/measured", "/ground"):
            self._server.scene.remove_by_name(name)

    def _draw_ghost(self, q: Array, measured: Array | None) -> None:
        """Draws the measured arm (dof,), unless it is where the commanded arm q (dof,) is."""
        driven = self.arm.columns
        shown = measured is not None and bool(np.abs(measured - q)[driven].max(initial=0.0) > GHOST_SHOWN)
        if shown and self._ghost is None:
            self._ghost = LinkNodes(self._server, "/measured", self.arm.linkage, show_axes=False)
            for name, solids in zip(self._ghost.names, self._bodies, strict=True):
                self._add(f"{name}/solids", solids, GHOST, 0.28)
        if self._ghost is None:
            return
        if shown and measured is not None:
            placed = np.array(q)
            placed[driven] = measured[driven]
            self._ghost.show(self.arm.linkage.frames(placed).matrix)
        for node in self._ghost.nodes:
            if node.visible != shown:
                node.visible = shown

    def _mark_limits(self, q: Array) -> None:
        driven = np.zeros(len(q), dtype=bool)
        driven[self.arm.columns] = True
        out = np.maximum(self._lower - q, q - self._upper)
        wanted = {}
        for i in np.flatnonzero(driven & (out > -self._limit_zone)):
            wanted[self._moved_link[i]] = BEYOND if out[i] > self._limit_zone[i] else LIMIT
        for link, colour in wanted.items():
            if link not in self._limit_marks:
                self._limit_marks[link] = self._add(
                    f"{self.scene.paths[link]}/limit", self._bodies[link], colour, MARK_OPACITY
                )
            node = self._limit_marks[link]
            if node is not None and tuple(node.color) != colour:
                node.color = colour
        for link, node in self._limit_marks.items():
            if node is not None and node.visible != (link in wanted):
                node.visible = link in wanted

    def _mark_goals(self, tick: Tick) -> None:
        """Draws each goal that its end effector has not reached."""
        distance, angle = tick.step.distance, tick.step.angle
        for k, (frame, _) in enumerate(self._goal_marks):
            missed = distance[k] > GOAL_SHOWN[0] * self.arm.size or (self.arm.turns[k] and angle[k] > GOAL_SHOWN[1])
            visible = bool(missed and np.isfinite(tick.goals[k]).all())
            if visible:
                goal = Frame._trusted(tick.goals[k])
                turned = goal if self.arm.turns[k] else self.arm.linkage.frame(tick.step.q, self.arm.links[k])
                frame.position, frame.wxyz = goal.position, turned.to_quaternion()
            if frame.visible != visible:
                frame.visible = visible

    def _draw_ellipsoids(self, q: Array) -> None:
        for node, link in zip(self._ellipsoids, self.arm.links, strict=True):
            if node.visible != self.ellipsoids:
                node.visible = self.ellipsoids
            if not self.ellipsoids:
                continue
            at, jacobian = self.arm.linkage.frame_and_jacobian(q, link)
            axes, radii, _ = np.linalg.svd(jacobian[:3])
            axes[:, 2] *= np.linalg.det(axes)
            radii = np.maximum(0.2 * np.append(radii, np.zeros(3 - len(radii))), 0.004 * self.arm.size)
            node.position, node.wxyz = at.position, Frame.at(np.zeros(3), axes).to_quaternion()
            node.scale = tuple(float(r) for r in radii)

    def _goal_mark(self, k: int) -> tuple[Any, Any]:
        linkage, link = self.arm.linkage, self.arm.links[k]
        frames = linkage.frames(linkage.rest)
        to_link = frames[link].inverse()
        solids = []
        for name in _rigid_part(linkage, link):
            i = next(i for i, one in enumerate(linkage.links) if one.name == name)
            solids += [solid.copy().apply_transform((to_link @ frames[name]).matrix) for solid in self._bodies[i]]
        size = 0.09 * self.arm.size
        node = self._server.scene.add_frame(
            f"/goals/{k}", axes_length=size, axes_radius=0.03 * size, origin_radius=0.06 * size, visible=False
        )
        return node, self._add(f"/goals/{k}/solids", solids, GOAL, 0.3)

    def _ellipsoid(self, k: int) -> Any:
        return self._server.scene.add_icosphere(
            f"/ellipsoids/{k}",
            radius=1.0,
            color=ELLIPSOID,
            opacity=0.4,
            visible=False,
            cast_shadow=False,
            receive_shadow=False,
        )

    def _add(
        self, name: str, solids: list[Solid] | tuple[Solid, ...], colour: tuple[int, int, int], opacity: float
    ) -> Any:
        """Solids as one translucent mesh; None if there are none."""
        if not solids:
            return None
        counts = np.cumsum([0, *(len(solid.vertices) for solid in solids)])
        return self._server.scene.add_mesh_simple(
            name,
            vertices=np.concatenate([np.asarray(solid.vertices) for solid in solids]),
            faces=np.concatenate([np.asarray(solid.faces) + n for solid, n in zip(solids, counts, strict=False)]),
            color=colour,
            opacity=opacity,
            cast_shadow=False,
            receive_shadow=False,
        )


def is_tall(client: Any) -> bool:
    """Whether a browser's window is that of a phone held upright."""
    return bool(client.camera.aspect < 0.8)


def _rigid_part(linkage: Linkage, link: str) -> list[str]:
    """The links that are rigidly connected to a link, and all links beyond them."""
    above = {joint.child: joint for joint in linkage.joints}
    top = link
    while top in above and above[top].kind is Kind.FIXED:
        top = above[top].parent
    connected = {top}
    for joint in linkage.joints:  # parents come before children
        if joint.parent in connected:
            connected.add(joint.child)
    return [one.name for one in linkage.links if one.name in connected]
