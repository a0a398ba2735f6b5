"""Stage: what every browser sees of the arm: its links, its goal where it is not, joints at their limits, its ease."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from supple.frame import Array, Frame
from supple.joint import Kind
from supple.linkage import Linkage
from supple.teleop.command import Tick
from supple.teleop.page.arm import Arm
from supple.view.bodies import bodies
from supple.view.scene import Scene
from supple.view.solids import Solid

GOAL = (209, 102, 58)  # the colour of goals in all figures
LIMIT = (232, 116, 40)
BEYOND = (206, 44, 44)
EASE = (84, 136, 143)
APART = (0.004, 0.03)  # of the arm's size, and radians: how far from the hand its goal is drawn beside it
NEAR = 0.004  # of a joint's range: within it the joint is at its limit
STILL = 1e-6  # metres and radians that nobody sees
GLIDE = 0.35  # s: an arm that was put elsewhere is seen to go there, though it is there at once


class Stage:
    """An arm drawn on a viser server for all browsers. `show` is called by one thread only."""

    def __init__(self, server: Any, arm: Arm) -> None:
        """Draw the arm at rest."""
        self._server, self.arm = server, arm
        self.ellipsoids = False
        """Whether to draw how fast the hands can be moved in each direction."""
        linkage = arm.linkage
        self.scene = Scene(server, linkage)
        server.initial_camera.position, server.initial_camera.look_at = self._view(tall=False)
        self._bodies = bodies(linkage)
        places = {link.name: i for i, link in enumerate(linkage.links)}
        self._carried = [places[joint.child] for joint in linkage.joints for _ in range(joint.dof)]
        self._lower, self._upper = linkage.lower, linkage.upper
        self._touch = NEAR * np.minimum(self._upper - self._lower, 2 * np.pi)
        self._glows: dict[int, Any] = {}
        self._ghosts = [self._ghost(k) for k in range(len(arm.links))]
        self._eggs = [self._egg(k) for k in range(len(arm.links))]
        self._shown: Array = linkage.rest
        self._left: tuple[Array, float] = (np.zeros(linkage.dof), 0.0)
        self._drawn: tuple[Array, Array] = (np.full(linkage.dof, np.nan), np.zeros(16 * len(arm.links) + 1))

    def show(self, tick: Tick, jumped: bool = False) -> None:
        """Draw what came of a tick. An arm that was put somewhere, ``jumped``, is seen to glide there."""
        q = np.array(tick.step.q)
        if not np.isfinite(q).all():
            return
        if jumped:
            self._left = (self._eased(self._shown) - q, time.monotonic())
        drawn = (self._eased(q), np.append(tick.goals, float(self.ellipsoids)))
        if all(np.allclose(a, b, 0.0, STILL, equal_nan=True) for a, b in zip(drawn, self._drawn, strict=True)):
            return  # a picture that stays the same costs a browser nothing
        with self._server.atomic():
            self.scene.show(drawn[0])
            self._glow(q)
            self._beside(tick)
            self._stretch(q)
        self._shown, self._drawn = q, drawn

    def look(self, client: Any) -> None:
        """Turn a browser's camera so that it sees all that the hands can reach, beside the panels or above them."""
        client.camera.up_direction = (0.0, 0.0, 1.0)
        client.camera.position, client.camera.look_at = self._view(tall(client))

    def _view(self, tall: bool) -> tuple[Array, Array]:
        """Where the eye is (3,) and what it looks at (3,); ``tall`` for a phone, with its panel below the arm."""
        low, high = self.scene.low, self.scene.high
        size = max(self.arm.size, 0.66 * float(np.linalg.norm(high - low)))
        away = np.array([0.0, -0.3, 1.0] if high[2] - low[2] < 0.1 * size else [0.8, -0.6, 0.42])
        away *= (5.6 if tall else 3.1) * size / np.linalg.norm(away)
        middle = (low + high) / 2
        middle += (0.2 if tall else 0.35) * size * np.cross([0.0, 0.0, 1.0], away) / np.linalg.norm(away[:2])
        middle[2] -= (1.1 if tall else 0.05) * size
        return middle + away, middle

    def clear(self) -> None:
        """Take everything away."""
        for name in ("/links", "/ghosts", "/ease", "/ground"):
            self._server.scene.remove_by_name(name)

    def _eased(self, q: Array) -> Array:
        left, since = self._left
        u = (time.monotonic() - since) / GLIDE
        return q if u >= 1 else q + left * (1 - u) ** 2 * (1 + 2 * u)

    def _glow(self, q: Array) -> None:
        driven = np.zeros(len(q), dtype=bool)
        driven[self.arm.columns] = True
        out = np.maximum(self._lower - q, q - self._upper)
        wanted = {}
        for i in np.flatnonzero(driven & (out > -self._touch)):
            wanted[self._carried[i]] = BEYOND if out[i] > self._touch[i] else LIMIT
        for link, colour in wanted.items():
            if link not in self._glows:
                self._glows[link] = self._add(f"/links/{link}/glow", self._bodies[link], colour, 0.72)
            node = self._glows[link]
            if node is not None and tuple(node.color) != colour:
                node.color = colour
        for link, node in self._glows.items():
            if node is not None and node.visible != (link in wanted):
                node.visible = link in wanted

    def _beside(self, tick: Tick) -> None:
        """Each goal as a ghost where its hand is not."""
        distance, angle = tick.step.distance, tick.step.angle
        for k, (frame, _) in enumerate(self._ghosts):
            apart = distance[k] > APART[0] * self.arm.size or (self.arm.whole[k] and angle[k] > APART[1])
            seen = bool(apart and np.isfinite(tick.goals[k]).all())
            if seen:
                goal = Frame._trusted(tick.goals[k])
                turned = goal if self.arm.whole[k] else self.arm.linkage.frame(tick.step.q, self.arm.links[k])
                frame.position, frame.wxyz = goal.position, turned.to_quaternion()
            if frame.visible != seen:
                frame.visible = seen

    def _stretch(self, q: Array) -> None:
        for egg, link in zip(self._eggs, self.arm.links, strict=True):
            if egg.visible != self.ellipsoids:
                egg.visible = self.ellipsoids
            if not self.ellipsoids:
                continue
            at, jacobian = self.arm.linkage.frame_and_jacobian(q, link)
            axes, radii, _ = np.linalg.svd(jacobian[:3])
            axes[:, 2] *= np.linalg.det(axes)
            radii = np.maximum(0.2 * np.append(radii, np.zeros(3 - len(radii))), 0.004 * self.arm.size)
            egg.position, egg.wxyz = at.position, Frame.at(np.zeros(3), axes).to_quaternion()
            egg.scale = tuple(float(r) for r in radii)

    def _ghost(self, k: int) -> tuple[Any, Any]:
        linkage, link = self.arm.linkage, self.arm.links[k]
        frames = linkage.frames(linkage.rest)
        seen = frames[link].inverse()
        solids = []
        for name in _rigid(linkage, link):
            i = next(i for i, one in enumerate(linkage.links) if one.name == name)
            solids += [solid.copy().apply_transform((seen @ frames[name]).matrix) for solid in self._bodies[i]]
        size = 0.09 * self.arm.size
        node = self._server.scene.add_frame(
            f"/ghosts/{k}", axes_length=size, axes_radius=0.03 * size, origin_radius=0.06 * size, visible=False
        )
        return node, self._add(f"/ghosts/{k}/hand", solids, GOAL, 0.3)

    def _egg(self, k: int) -> Any:
        return self._server.scene.add_icosphere(
            f"/ease/{k}", radius=1.0, color=EASE, opacity=0.22, visible=False, cast_shadow=False, receive_shadow=False
        )

    def _add(
        self, name: str, solids: list[Solid] | tuple[Solid, ...], colour: tuple[int, int, int], part: float
    ) -> Any:
        """Solids as one translucent mesh; None where there are none."""
        if not solids:
            return None
        counts = np.cumsum([0, *(len(solid.vertices) for solid in solids)])
        return self._server.scene.add_mesh_simple(
            name,
            vertices=np.concatenate([np.asarray(solid.vertices) for solid in solids]),
            faces=np.concatenate([np.asarray(solid.faces) + n for solid, n in zip(solids, counts, strict=False)]),
            color=colour,
            opacity=part,
            cast_shadow=False,
            receive_shadow=False,
        )


def tall(client: Any) -> bool:
    """Whether a browser's window is that of a phone held upright."""
    return bool(client.camera.aspect < 0.8)


def _rigid(linkage: Linkage, link: str) -> list[str]:
    """The links of a hand: those that hang rigidly together with a link, and all they carry."""
    above = {joint.child: joint for joint in linkage.joints}
    top = link
    while top in above and above[top].kind is Kind.FIXED:
        top = above[top].parent
    held = {top}
    for joint in linkage.joints:  # parents come before children
        if joint.parent in held:
            held.add(joint.child)
    return [one.name for one in linkage.links if one.name in held]
