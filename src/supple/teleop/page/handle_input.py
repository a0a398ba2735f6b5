"""HandleInput: moves the handles of the page by pointer, by key and by gamepad."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supple.frame import Array, Frame
from supple.teleop.devices import Reading, move_hand
from supple.teleop.page.keys import to_world

if TYPE_CHECKING:
    from supple.teleop.page.actions import Actions

DETACHED = "handle detached"
STICK = (0.25, 0.8)  # of the arm's size, and radians, a second at full deflection
NUDGE = (0.012, 0.05)  # of the arm's size, and radians, for a key press
RELEASED = 0.3  # s; a key that was held during a stop counts as released after so long without a press


class HandleInput:
    """Applies pointer, keys and gamepad to the handles of the current session. No method blocks."""

    def __init__(self, actions: Actions) -> None:
        """For the session of these actions."""
        self._actions = actions
        self.dragged_ball: int | None = None
        """The handle that is dragged by its ball."""
        self._active = 0
        self._pressed = -math.inf  # when a key was last pressed
        self._key_held = self._stick_held = False  # since a stop

    def begin(self) -> None:
        """Starts again, with no handle dragged and all attached."""
        self.dragged_ball, self._active = None, 0
        self._actions.session.source.attached = True
        self._actions.end_message(DETACHED)

    def drag(self, k: int, phase: str, position: ArrayLike, wxyz: ArrayLike | None) -> None:
        """A drag of handle k: "start", "update" or "end". Without a quaternion it is dragged by its ball."""
        source = self._actions.session.source
        if source.scripted or k >= len(source.handles):  # the event may be of the arm before
            return
        handle = source.handles[k]
        if phase == "start":
            self.dragged_ball = k if wxyz is None else None
            self._active = k
            handle.drag(True)
        elif phase == "update" and handle.dragged:
            handle.move(position, wxyz)
        elif phase == "end":
            handle.drag(False)
            self.dragged_ball = None

    def nudge(self, direction: Array, turn: bool) -> None:
        """Moves the active handle a little along a direction (3,) in the world, or turns it about that direction."""
        session = self._actions.session
        source = session.source
        if not self._key_counts() or source.scripted or source.other_drives:
            return
        k = min(self._active, len(source.handles) - 1)
        handle, step = source.handles[k], NUDGE[0] * session.arm.size
        if turn and session.arm.turns[k]:
            turned = Frame.rotvec(NUDGE[1] * direction * session.arm.turn_axes[k]) @ handle.frame
            handle.move(handle.frame.position, turned.to_quaternion())
        elif not turn:
            handle.move(handle.frame.position + step * direction * session.arm.axes[k])

    def steer(self, state: Reading, dt: float, camera: Any) -> None:
        """Moves the active handle for dt seconds as a gamepad says, in the axes of the view, and its gripper."""
        session = self._actions.session
        source, arm = session.source, session.arm
        if not self._stick_counts(state) or source.scripted or source.other_drives:
            return
        k = min(self._active, len(source.handles) - 1)
        if state.grip:
            self._actions.set_gripper(k, 0.0 if state.grip < 0 else 1.0)
        moved = move_hand(Frame(), state.axes, dt, STICK[0] * arm.size, STICK[1])
        if state.engaged and moved != Frame():
            handle = source.handles[k]
            world = np.stack([to_world(camera, axis) for axis in ((0, 1, 0), (-1, 0, 0), (0, 0, 1))], axis=-1)
            turned = Frame.rotvec(world @ moved.to_rotvec() * arm.turn_axes[k]) @ handle.frame
            wxyz = turned.to_quaternion() if arm.turns[k] else None
            handle.move(handle.frame.position + world @ moved.position * arm.axes[k], wxyz)

    def grip(self, change: float) -> None:
        """Opens the gripper of the active handle a little more, or closes it."""
        session = self._actions.session
        if not self._key_counts():
            return
        k = min(self._active, len(session.source.handles) - 1)
        present = session.source.openings[k]
        opening = float(session.grippers[k]) if present is None else present
        if not (session.source.scripted or session.source.other_drives or math.isnan(opening)):
            self._actions.set_gripper(k, min(max(opening + change, 0.0), 1.0))

    def _key_counts(self) -> bool:
        """Whether a press counts: not in a stop, and not of a key that has been down since then."""
        now = time.monotonic()
        again, self._pressed = now - self._pressed < RELEASED, now
        self._key_held = bool(self._actions.session.loop.stopped) or (self._key_held and again)
        return not self._key_held

    def _stick_counts(self, state: Reading) -> bool:
        """Whether a gamepad counts: not in a stop, and after it only when its buttons have been released."""
        down = state.engaged or bool(state.grip)
        self._stick_held = down and (self._stick_held or bool(self._actions.session.loop.stopped))
        return not self._stick_held

    def switch_handle(self) -> None:
        """Keys move the next handle from now on."""
        links = self._actions.session.arm.links
        self._active = (self._active + 1) % len(links)
        self._actions.show_message("keys", f"The keys now move {links[self._active]}.")

    def toggle_attached(self) -> None:
        """Detaches the handles from the arm, or attaches them: a detached handle moves alone."""
        source = self._actions.session.source
        source.attached = not source.attached
        if source.attached:
            self._actions.end_message(DETACHED)
        else:
            text = "The handle moves and the arm stays. Press attach to drive on from there."
            self._actions.show_message(DETACHED, text, None)
        self._actions.changed()
