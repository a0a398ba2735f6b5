"""Grip: what a person does to the handles of a page, by pointer and by key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from supple.frame import Array, Frame

if TYPE_CHECKING:
    from supple.teleop.page.actions import Pilot

NUDGE = (0.012, 0.05)  # of the arm's size, and radians: what a key press does


class Grip:
    """A person's grip on the handles of the session that is under way. None of it waits, or blocks a browser."""

    def __init__(self, pilot: Pilot) -> None:
        """Of what a pilot drives."""
        self._pilot = pilot
        self.knob: int | None = None
        """Which handle is dragged by its ball."""
        self._active = 0

    def begin(self) -> None:
        """Nobody holds anything yet."""
        self.knob, self._active = None, 0
        self._pilot.session.hands.holding = True

    def drag(self, k: int, phase: str, position: ArrayLike, wxyz: ArrayLike | None) -> None:
        """A handle is taken hold of, moved, let go: "start", "update" or "end". Without a quaternion, by its knob."""
        session = self._pilot.session
        if session.hands.scripted or k >= len(session.hands.hands):  # of an arm that was there before
            return
        hand = session.hands.hands[k]
        if phase == "start":
            self.knob = k if wxyz is None else None
            self._active = k
            hand.drag(True)
        elif phase == "update" and hand.dragged:
            hand.move(position, wxyz)
        elif phase == "end":
            hand.drag(False)
            self.knob = None

    def nudge(self, way: Array, turn: bool) -> None:
        """Moves a handle a little along a direction (3,) in the world, or turns it about that."""
        session = self._pilot.session
        if session.hands.scripted or session.hands.driven:
            return
        k = min(self._active, len(session.hands.hands) - 1)
        hand, step = session.hands.hands[k], NUDGE[0] * session.arm.size
        if turn and session.arm.whole[k]:
            hand.move(hand.frame.position, (Frame.rotvec(NUDGE[1] * way) @ hand.frame).to_quaternion())
        elif not turn:
            hand.move(hand.frame.position + step * way * session.arm.axes[k])

    def other_hand(self) -> None:
        """Keys move the other hand from now on."""
        self._active = (self._active + 1) % len(self._pilot.session.arm.links)
        self._pilot.tell("keys", f"they move {self._pilot.session.arm.links[self._active]} now")

    def index(self) -> None:
        """Lets go of the arm, or takes hold again: in between, a handle moves alone."""
        self._pilot.session.hands.holding = not self._pilot.session.hands.holding
        if not self._pilot.session.hands.holding:
            self._pilot.tell("indexing", "Move the handle: the arm stays. Take hold, and it goes on from there.", None)
        else:
            self._pilot.tell("", "")
        self._pilot.changed()
