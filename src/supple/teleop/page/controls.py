"""Controls: handles and controls of the browser that drives; no other browser has them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.frame import Array, Frame
from supple.teleop.devices import Reading
from supple.teleop.methods import DESCRIPTIONS, METHODS
from supple.teleop.page import keys, several_files, words
from supple.teleop.page.arm import MAX_HANDLES, Arm
from supple.teleop.page.arrow import Arrow
from supple.teleop.page.gamepad import PageGamepad
from supple.teleop.page.handle_choice import HandleChoice
from supple.teleop.page.joints import JointSliders
from supple.teleop.page.queue import Queue
from supple.teleop.page.tour import HAZARDS

if TYPE_CHECKING:
    from supple.teleop.page.actions import Actions

DETACH, ATTACH, RECENTRE = "detach", "attach", "recentre"
RECORD, FINISH, REPLAY, END_REPLAY, RESET = "record", "finish", "replay", "end replay", "reset"
ALL, END_TOUR = "all five", "end tour"
MAX_ACTIONS = 16  # of a browser that wait; values are read when they run, so that the newest counts
BALL = (209, 102, 58)


class Controls:
    """Handles, buttons and keys of the driving browser. Each calls a method of `Actions`."""

    def __init__(
        self, client: Any, actions: Actions, release: Callable[[int], None], drives: Callable[[], bool] = lambda: True
    ) -> None:
        """Adds them to a client of viser.

        ``release`` is called with its number when it stops driving. ``drives``: whether it still drives; what it had
        queued before has no effect afterwards.
        """
        self.client, self._actions, self._release = client, actions, release
        self._shown_here, self._has_seat = True, drives
        self._queue, self._uploads = Queue("supple actions", MAX_ACTIONS), Queue("supple upload", 1)
        self._handles: list[tuple[Any, Any]] = []
        self._shown: list[Frame | None] = []
        self._arm: Arm | None = None
        self._folder = client.gui.add_folder(None, order=10)
        with self._folder:
            self._add_controls(client.gui)
        self._commands = keys.add(
            client,
            lambda direction, turn: self._put(lambda: actions.handles.nudge(direction, turn)),
            lambda: self._put(actions.handles.switch_handle),
            lambda change: self._put(lambda: actions.handles.grip(change)),
        )
        self._gamepad = PageGamepad(client, self._steer, actions.stop_arm if actions.has_robot else lambda: None)
        self._arrow = Arrow(client)
        self.refresh()

    def remove(self) -> None:
        """Removes all of it; what waits is dropped."""
        self._shown_here = False
        self._gamepad.close()
        self._arrow.remove()
        self._queue.close()
        self._uploads.close()
        self._remove_handles()
        for command in self._commands:
            command.remove()
        self._folder.remove()

    # -- controls -----------------------------------------------------------------------------------------------------

    def _add_controls(self, gui: Any) -> None:
        actions, session = self._actions, self._actions.session
        self._arms = gui.add_dropdown("arm", actions.arms, initial_value=session.arm.linkage.name)
        self._arms.on_update(self._by_user(lambda name: actions.choose_arm(name, self._drives), locked=False))
        hint = "; ".join(f"{name}: {line}" for name, line in DESCRIPTIONS.items())
        self._methods = gui.add_dropdown("method", tuple(METHODS), initial_value=session.method, hint=hint)
        self._methods.on_update(self._by_user(actions.choose_method))
        self._scale = gui.add_slider(
            "scale",
            min=0.1,
            max=3.0,
            step=0.1,
            initial_value=min(max(session.scale, 0.1), 3.0),
            hint="metres that the arm moves for one metre of the handle; rotations are not scaled",
        )
        self._scale.on_update(self._by_user(actions.set_scale))
        self._grippers = [self._add_gripper(gui, k) for k in range(MAX_HANDLES)]
        self._openings_shown = [math.nan] * MAX_HANDLES
        hint = "detach: move the handle without the arm; recentre: put the handle back at the end effector"
        self._attach = gui.add_button_group("handle", (DETACH, RECENTRE), hint=hint)
        self._attach.on_click(self._by_user(self._click_handle))
        self._record = gui.add_button_group("drive", (RECORD, REPLAY, RESET))
        self._record.on_click(self._by_user(self._click_drive))
        tour = (ALL, *(hazard.name for hazard in HAZARDS), END_TOUR)
        self._tour = gui.add_button_group("tour", tour, hint="five hazards: the handle moves by itself")
        self._tour.on_click(
            self._by_user(lambda value: actions.end_script() if value == END_TOUR else actions.tour(value))
        )
        self._joints = JointSliders(gui, actions, self._by_user)
        with gui.add_folder("more", expand_by_default=False):
            self._add_more(gui)

    def _add_gripper(self, gui: Any, k: int) -> Any:
        hint = "0 is closed, 1 is open; the keys N and M close and open it"
        slider = gui.add_slider("gripper", min=0.0, max=1.0, step=0.01, initial_value=0.0, hint=hint, visible=False)
        slider.on_update(self._by_user(lambda value: self._actions.set_gripper(k, float(value))))
        return slider

    def show_values(self) -> None:
        """Shows joint values, and how far grippers are open; hides the sliders of end effectors without one."""
        self._joints.show()
        session = self._actions.session
        openings = session.grippers
        for k, slider in enumerate(self._grippers):
            has = k < len(openings) and not np.isnan(openings[k]) and not session.source.other_drives
            if slider.visible != has:
                slider.visible = has
            if has:
                wanted = session.source.openings[k]
                value = round(float(openings[k]) if wanted is None else wanted, 2)
                if value != self._openings_shown[k]:  # else it may be what the operator has just set
                    self._openings_shown[k] = slider.value = value

    def _add_more(self, gui: Any) -> None:
        actions = self._actions
        tips = actions.session.arm.linkage.tips
        self._links = gui.add_dropdown("end effector", tips, hint="the link that is driven")
        self._links.on_update(self._by_user(lambda link: actions.choose_links((link,), self._drives), locked=False))
        self._choice = HandleChoice(gui, lambda links: actions.choose_links(links, self._drives), self._by_user)
        hint = "how fast the end effector can move in each direction"
        self._ellipsoid = gui.add_checkbox("ellipsoid", actions.ellipsoids, hint=hint)
        self._ellipsoid.on_update(self._by_user(actions.show_ellipsoids))
        hint = "a URDF file; with its meshes, choose all of the files, or a zip file of them; it stays on this machine"
        self._upload = gui.add_upload_button("your own URDF", mime_type=several_files.ENDINGS, hint=hint)
        several_files.accept(self.client)
        self._upload.on_upload(self._on_upload)
        self._stop_driving = gui.add_button("stop driving", hint="lets another browser drive", color="gray")
        self._stop_driving.on_click(lambda event: self._release(event.client_id))

    def _drives(self) -> bool:
        return self._shown_here and self._has_seat()

    def _act(self, act: Callable[[], object]) -> None:
        """Does something if the browser drives at that time."""
        with self._actions.lock:
            if self._drives():
                act()

    def _put(self, act: Callable[[], object]) -> None:
        self._queue.put(lambda: self._act(act))

    def _by_user(self, act: Callable[[Any], object], locked: bool = True) -> Callable[[Any], Any]:
        """A callback that passes on a value set by a person, in order, and ignores values set by the program.

        ``locked``: whether the action is short; else it checks by itself whether the browser drives when it is ready.
        """

        def run(event: Any) -> None:
            if locked:
                self._act(lambda: act(event.target.value))
            elif self._drives():
                act(event.target.value)

        async def on_event(event: Any) -> None:
            if event.client_id is not None:
                self._queue.put(lambda: run(event))

        return on_event

    async def _on_upload(self, event: Any) -> None:
        name, content = event.target.value.name, event.target.value.content
        actions, client = self._actions, self.client
        if self._drives() and not self._uploads.put(lambda: actions.upload(name, content, self._drives, client)):
            self._actions.show_message("not read", f"{name[-60:]}: an upload is being read")

    def _click_handle(self, value: str) -> None:
        if value == RECENTRE:
            self._actions.recentre()
        else:
            self._actions.handles.toggle_attached()

    def _click_drive(self, value: str) -> None:
        if value in (REPLAY, END_REPLAY):
            self._actions.replay()
        elif value == RESET:
            self._actions.reset()
        else:
            self._actions.record()

    def refresh(self) -> None:
        """Shows the current state: after another arm, an upload, the beginning or end of a recording."""
        actions, session = self._actions, self._actions.session
        arm, source = session.arm, session.source
        if arm is not self._arm:
            self._arm = arm
            _set_value(self._arms, actions.arms, arm.linkage.name)
            tips = tuple(dict.fromkeys((*arm.links, *arm.linkage.tips)))
            _set_value(self._links, tips, arm.links[0])
            self._name_grippers(arm)
            self._joints.begin(arm)
            self._choice.begin(arm)
            self._add_handles(arm)
        own, real = not source.other_drives, actions.has_robot
        several = len(arm.links) == 1 and len(self._links.options) > 1
        shown = [(control, own and not real) for control in (self._arms, self._upload, self._tour)]
        for control, visible in (*shown, (self._attach, own), (self._links, own and several and not real)):
            if control.visible != visible:
                control.visible = visible
        self._choice.visible = own and not real
        for handle, ball in self._handles:
            handle.visible = ball.visible = own
            handle.opacity = 1.0 if source.attached else 0.45
        _set_options(self._attach, (DETACH if source.attached else ATTACH, RECENTRE))
        _set_options(self._record, self._drive_options())
        if self._methods.value != session.method:
            self._methods.value = session.method
        if self._ellipsoid.value != actions.ellipsoids:
            self._ellipsoid.value = actions.ellipsoids

    def _name_grippers(self, arm: Arm) -> None:
        """Says which gripper a slider moves, where there are several end effectors."""
        for name, slider in zip(words.short_names(arm.links), self._grippers, strict=False):
            label = f"gripper {name}".strip()
            if slider.label != label:
                slider.label = label

    def _drive_options(self) -> tuple[str, str, str]:
        recording, replaying = self._actions.session.recording, self._actions.replaying
        return FINISH if recording else RECORD, END_REPLAY if replaying else REPLAY, RESET

    # -- handles ------------------------------------------------------------------------------------------------------

    def _add_handles(self, arm: Arm) -> None:
        self._remove_handles()
        self._handles = [self._add_handle(arm, k) for k in range(len(arm.links))]
        self._shown = [None] * len(arm.links)
        self.place_handles()

    def _remove_handles(self) -> None:
        for nodes in self._handles:
            for node in nodes:
                node.remove()

    def _add_handle(self, arm: Arm, k: int) -> tuple[Any, Any]:
        size, scene = 0.21 * arm.size, self.client.scene
        handle = scene.add_transform_controls(
            f"/handles/{k}",
            scale=size,
            active_axes=arm.axes[k],
            disable_rotations=not arm.turns[k],
            depth_test=False,
            line_width=2.0,
        )
        ball = scene.add_icosphere(
            f"/balls/{k}", radius=0.13 * size, color=BALL, opacity=0.85, cast_shadow=False, receive_shadow=False
        )
        events = _HandleEvents(self._actions, k, self._drives)
        handle.on_update(events.on_handle)
        ball.on_drag("left")(events.on_ball)
        return handle, ball

    def _steer(self, state: Reading, dt: float) -> None:
        if self._drives():
            self._actions.handles.steer(state, dt, self.client.camera)

    def place_handles(self) -> None:
        """Draws the handles at their frames, except the one that the pointer drags."""
        handles = self._actions.session.source.handles
        for k, ((node, ball), handle) in enumerate(zip(self._handles, handles, strict=False)):
            frame = handle.frame
            if frame is self._shown[k]:
                continue
            self._shown[k] = frame
            with self.client.atomic():
                ball.position = frame.position
                if not handle.dragged or self._actions.handles.dragged_ball == k:
                    node.position, node.wxyz = frame.position, frame.to_quaternion()
        self._arrow.show(handle.frame.position for handle in handles)


class _HandleEvents:
    """Events of one handle. The methods are coroutines because viser calls coroutines in order."""

    def __init__(self, actions: Actions, k: int, drives: Callable[[], bool]) -> None:
        self._actions, self._k, self._drives = actions, k, drives
        self._start: tuple[Array, Array] | None = None

    async def on_handle(self, event: Any) -> None:
        if self._drives():
            self._actions.handles.drag(self._k, event.phase, event.target.position, event.target.wxyz)

    async def on_ball(self, event: Any) -> None:
        """The ball moves in the plane of the screen."""
        if not self._drives():
            return
        session = self._actions.session
        if event.phase == "start":
            self._start = np.array(event.start_position), session.source.handles[self._k].frame.position
        if self._start is not None:
            pointer, position = self._start
            moved = position + (np.array(event.end_position) - pointer) * session.arm.axes[self._k]
            self._actions.handles.drag(self._k, event.phase, moved, None)
        if event.phase == "end":
            self._start = None


def _set_options(control: Any, options: tuple[str, ...]) -> None:
    if tuple(control.options) != options:
        control.options = options


def _set_value(dropdown: Any, options: tuple[str, ...], value: str) -> None:
    _set_options(dropdown, options)
    if dropdown.value != value:
        dropdown.value = value
