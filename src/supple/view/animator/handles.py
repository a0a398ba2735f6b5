"""Handles of the page: a ball for each handle of a rig, and arrows and arcs on the selected one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from supple.frame import Array, Frame
from supple.view.animator.rig import Rig, Role

PINNED, FREE, POLE = (209, 102, 58), (84, 136, 143), (176, 138, 62)
_BALL = {Role.FRAME: 0.032, Role.POINT: 0.028, Role.GAZE: 0.024, Role.POLE: 0.02}  # radius, of the figure's size
_ARROWS = 0.17  # of the figure's size
_LINE = (176, 138, 62)


class Handles:
    """The handles of a rig on a viser server, for all browsers."""

    def __init__(
        self,
        server: Any,
        rig: Rig,
        size: float,
        dragged: Callable[[str, str, Frame], None],
        select: Callable[[str], None],
    ) -> None:
        """Draw them; ``dragged(name, phase, frame)`` and ``select(name)`` are called when a person uses them."""
        self._server, self._rig, self._size = server, rig, size
        self._dragged, self._select = dragged, select
        self._balls = {name: self._ball(name, i) for i, name in enumerate(rig.handles)}
        self._lines = {name: self._line(i) for i, name in enumerate(rig.handles) if self._tied(name)}
        self._arrows = server.scene.add_transform_controls(
            "/arrows", scale=_ARROWS * size, depth_test=False, line_width=2.0, visible=False
        )
        self._arrows.on_update(self._on_arrows)
        self._selected = ""
        self._held = ""  # the handle that is dragged by its arrows, whose frame is the browser's
        self._visible = True

    @property
    def visible(self) -> bool:
        """Whether handles are drawn; not while a motion plays."""
        return self._visible

    @visible.setter
    def visible(self, shown: bool) -> None:
        self._visible = shown
        for ball in self._balls.values():
            ball.visible = shown
        for line in self._lines.values():
            line.visible = shown
        self._arrows.visible = shown and bool(self._selected)

    def show(self, selected: str) -> None:
        """Draw all handles where they are, and the arrows on the selected one."""
        with self._server.atomic():
            for name, ball in self._balls.items():
                ball.position = self._rig.grip(name)
                colour = self._colour(name)
                if tuple(ball.color) != colour:
                    ball.color = colour
            for name, line in self._lines.items():
                line.points = self._ends(name)
            if selected != self._selected:
                self._selected = selected
                turns = selected != "" and self._rig.handles[selected].role is Role.FRAME
                self._arrows.disable_rotations = not turns
                self._arrows.visible = self._visible and bool(selected)
            if selected and self._held != selected:
                frame = self._rig.at(selected)
                self._arrows.position, self._arrows.wxyz = frame.position, frame.to_quaternion()

    def _colour(self, name: str) -> tuple[int, int, int]:
        if name in self._rig.pins:
            return PINNED
        return POLE if self._rig.handles[name].role in (Role.POLE, Role.GAZE) else FREE

    def _ball(self, name: str, number: int) -> Any:
        radius = _BALL[self._rig.handles[name].role] * self._size
        ball = self._server.scene.add_icosphere(
            f"/balls/{number}", radius=radius, color=self._colour(name), opacity=0.8, cast_shadow=False,
            receive_shadow=False,
        )  # fmt: skip
        events = _BallEvents(self, name)
        ball.on_drag("left")(events.on_drag)
        return ball

    def _tied(self, name: str) -> bool:
        handle = self._rig.handles[name]
        return handle.role in (Role.POLE, Role.GAZE) or handle.behind > 0

    def _line(self, number: int) -> Any:
        name = list(self._rig.handles)[number]
        return self._server.scene.add_line_segments(
            f"/lines/{number}", self._ends(name), np.array(_LINE, dtype=np.uint8), line_width=1.5
        )

    def _ends(self, name: str) -> Array:
        """The line (1, 2, 3) from a ball to what it moves, such as an elbow."""
        handle = self._rig.handles[name]
        link = handle.link if handle.limb is None else handle.limb[1]
        start = self._rig.linkage.frame(self._rig.q, link).position
        return np.stack([start, self._rig.grip(name)])[None].astype(np.float32)

    async def _on_arrows(self, event: Any) -> None:
        name = self._selected
        if not name:
            return
        self._held = "" if event.phase == "end" else name
        target = event.target
        self._dragged(name, event.phase, Frame.at(target.position, Frame.quaternion(target.wxyz)))


class _BallEvents:
    """Drags of one ball, in the plane of the screen. Coroutines, because viser calls coroutines in order."""

    def __init__(self, handles: Handles, name: str) -> None:
        self._handles, self._name = handles, name
        self._start: tuple[Array, Frame] | None = None

    async def on_drag(self, event: Any) -> None:
        if event.phase == "start":
            self._handles._select(self._name)
            self._start = np.array(event.start_position), self._handles._rig.at(self._name)
        if self._start is not None:
            pointer, frame = self._start
            moved = frame.position + np.array(event.end_position) - pointer
            self._handles._dragged(self._name, event.phase, Frame.at(moved, frame))
        if event.phase == "end":
            self._start = None
