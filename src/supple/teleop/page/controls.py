"""Cockpit: handles and controls of the one browser that drives; they exist in that browser only."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.frame import Array, Frame
from supple.teleop.page import keys
from supple.teleop.page.arm import Arm
from supple.teleop.methods import ABOUT, METHODS
from supple.teleop.page.tour import HAZARDS

if TYPE_CHECKING:
    from supple.teleop.page.actions import Pilot

INDEX, HOLD, BACK = "index", "take hold", "bring back"
RECORD, STOP, ALL = "record", "stop", "all five"
KNOB = (209, 102, 58)


class Cockpit:
    """What the driver sees. Every control ends in a word to the `Pilot`, which does it."""

    def __init__(self, client: Any, pilot: Pilot, let_go: Callable[[int], None]) -> None:
        """Add handles and controls to a client of viser; ``let_go`` is called with its number when it gives up."""
        self.client, self._pilot, self._let_go = client, pilot, let_go
        self._handles: list[tuple[Any, Any]] = []
        self._places: list[Frame | None] = []
        self._arm: Arm | None = None
        self._folder = client.gui.add_folder(None, order=10)
        with self._folder:
            self._controls(client.gui)
        self._commands = keys.add(client, pilot.grip.nudge, pilot.grip.other_hand)
        self.refresh()

    def remove(self) -> None:
        """Take everything away."""
        for nodes in self._handles:
            for node in nodes:
                node.remove()
        for command in self._commands:
            command.remove()
        self._folder.remove()

    # -- controls -----------------------------------------------------------------------------------------------------

    def _controls(self, gui: Any) -> None:
        pilot, session = self._pilot, self._pilot.session
        self._arms = gui.add_dropdown("arm", pilot.arms, initial_value=session.arm.linkage.name)
        self._arms.on_update(_said(pilot.choose))
        self._methods = gui.add_dropdown("method", tuple(METHODS), initial_value=session.method, hint=_about())
        self._methods.on_update(_said(pilot.use))
        self._scale = gui.add_slider(
            "scale",
            min=0.1,
            max=3.0,
            step=0.1,
            initial_value=min(max(session.scale, 0.1), 3.0),
            hint="metres of the arm for a metre of the handle; turns are never scaled",
        )
        self._scale.on_update(_said(pilot.scale))
        self._index = gui.add_button_group(
            "handle", (INDEX, BACK), hint="index: it moves alone, until it takes hold again; bring back: to the hand"
        )
        self._index.on_click(_said(lambda value: pilot.bring_back() if value == BACK else pilot.grip.index()))
        self._record = gui.add_button_group("drive", (RECORD, "replay", "reset"))
        self._record.on_click(_said(self._drive))
        tour = (ALL, *(hazard.name for hazard in HAZARDS), STOP)
        self._tour = gui.add_button_group("tour", tour, hint="five hazards: the handle moves by itself")
        self._tour.on_click(_said(lambda value: pilot.end() if value == STOP else pilot.tour(value)))
        with gui.add_folder("more", expand_by_default=False):
            self._links = gui.add_dropdown("hand", session.arm.linkage.tips, hint="the link that is driven")
            self._links.on_update(_said(pilot.choose_hand))
            self._egg = gui.add_checkbox("ellipsoid", pilot.ellipsoids, hint="how fast the hand can go each way")
            self._egg.on_update(_said(pilot.show_ellipsoids))
            self._upload = gui.add_upload_button(
                "your own URDF", mime_type=".urdf,.xml", hint="drawn without its meshes; it stays on this machine"
            )
            self._upload.on_upload(lambda event: pilot.upload(event.target.value.name, event.target.value.content))
            self._leave = gui.add_button("let go", hint="another browser may drive", color="gray")
            self._leave.on_click(lambda event: self._let_go(event.client_id))

    def _drive(self, value: str) -> None:
        if value == "replay":
            self._pilot.replay()
        elif value == "reset":
            self._pilot.reset()
        else:
            self._pilot.record()

    def refresh(self) -> None:
        """Show what the session is: after another arm, an upload, the beginning or end of a recording."""
        session, pilot = self._pilot.session, self._pilot
        arm = session.arm
        if arm is not self._arm:
            self._arm = arm
            _set(self._arms, pilot.arms, arm.linkage.name)
            tips = tuple(dict.fromkeys((*arm.links, *arm.linkage.tips)))
            _set(self._links, tips, arm.links[0])
            self._grasp(arm)
        own = not session.hands.driven
        several = len(arm.links) == 1 and len(self._links.options) > 1
        shown = [(control, own) for control in (self._arms, self._upload, self._index, self._tour)]
        for control, visible in (*shown, (self._links, own and several)):
            if control.visible != visible:
                control.visible = visible
        for handle, knob in self._handles:
            handle.visible = knob.visible = own
            handle.opacity = 1.0 if session.hands.holding else 0.45
        _offer(self._index, (INDEX if session.hands.holding else HOLD, BACK))
        _offer(self._record, (STOP if session.recording else RECORD, "replay", "reset"))
        if self._methods.value != session.method:
            self._methods.value = session.method
        if self._egg.value != pilot.ellipsoids:
            self._egg.value = pilot.ellipsoids

    # -- handles ------------------------------------------------------------------------------------------------------

    def _grasp(self, arm: Arm) -> None:
        for nodes in self._handles:
            for node in nodes:
                node.remove()
        self._handles = [self._handle(arm, k) for k in range(len(arm.links))]
        self._places = [None] * len(arm.links)
        self.follow()

    def _handle(self, arm: Arm, k: int) -> tuple[Any, Any]:
        size, scene = 0.21 * arm.size, self.client.scene
        handle = scene.add_transform_controls(
            f"/handles/{k}",
            scale=size,
            active_axes=arm.axes[k],
            disable_rotations=not arm.whole[k],
            depth_test=False,
            line_width=2.0,
        )
        knob = scene.add_icosphere(
            f"/knobs/{k}", radius=0.13 * size, color=KNOB, opacity=0.85, cast_shadow=False, receive_shadow=False
        )
        grasped = _Grasp(self._pilot, k)
        handle.on_update(grasped.by_handle)
        knob.on_drag("left")(grasped.by_knob)
        return handle, knob

    def follow(self) -> None:
        """Put the handles where the hands are that they stand for, but not under the pointer that drags them."""
        hands = self._pilot.session.hands
        for k, ((handle, knob), hand) in enumerate(zip(self._handles, hands.hands, strict=False)):
            frame = hand.frame
            if frame is self._places[k]:
                continue
            self._places[k] = frame
            with self.client.atomic():
                knob.position = frame.position
                if not hand.dragged or self._pilot.grip.knob == k:
                    handle.position, handle.wxyz = frame.position, frame.to_quaternion()


class _Grasp:
    """A person's hand on one handle. Its methods are coroutines: viser calls those in the order things happened."""

    def __init__(self, pilot: Pilot, k: int) -> None:
        self._pilot, self._k = pilot, k
        self._start: tuple[Array, Array] | None = None

    async def by_handle(self, event: Any) -> None:
        self._pilot.grip.drag(self._k, event.phase, event.target.position, event.target.wxyz)

    async def by_knob(self, event: Any) -> None:
        """The knob moves in the plane that faces the eye."""
        if event.phase == "start":
            self._start = np.array(event.start_position), self._pilot.session.hands.hands[self._k].frame.position
        if self._start is not None:
            grabbed, place = self._start
            moved = place + (np.array(event.end_position) - grabbed) * self._pilot.session.arm.axes[self._k]
            self._pilot.grip.drag(self._k, event.phase, moved, None)
        if event.phase == "end":
            self._start = None


def _said(act: Callable[[Any], object]) -> Callable[[Any], None]:
    """A callback that passes on what a person chose, and nothing that the program itself has set."""

    def heard(event: Any) -> None:
        if event.client_id is not None:
            act(event.target.value)

    return heard


def _about() -> str:
    return "; ".join(f"{name}: {about}" for name, about in ABOUT.items())


def _offer(group: Any, options: tuple[str, ...]) -> None:
    if tuple(group.options) != options:
        group.options = options


def _set(dropdown: Any, options: tuple[str, ...], value: str) -> None:
    _offer(dropdown, options)
    if dropdown.value != value:
        dropdown.value = value
