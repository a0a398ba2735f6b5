"""Actions: everything that the controls of a page do: arm, method, stop, reset; see `Scripts` for the rest."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from supple import models
from supple.errors import SuppleError
from supple.frame import Array
from supple.teleop.command import Source, Tick
from supple.teleop.methods import METHODS, SUPPLE
from supple.teleop.page import uploads
from supple.teleop.page.arm import MAX_HANDLES, Arm, from_upload
from supple.teleop.page.arm_view import ArmView, is_tall
from supple.teleop.page.handle_input import HandleInput
from supple.teleop.page.panel import Panel, note
from supple.teleop.page.plots import SAMPLES, SECONDS, Plots
from supple.teleop.page.scripts import FAILED, MESSAGE_SECONDS, Scripts
from supple.teleop.page.session import Session
from supple.teleop.robot import Connection

NOBODY = "nobody drives"
STOPPED = "stopped by the emergency stop"
REARM_AFTER = 1.0
"""Seconds after a press of the stop in which re-arm does nothing: a hand in a hurry presses more than once."""
ALARM = "#b3261e"
HOW_TO_DRIVE = "Its ball moves freely, its arrows and arcs along one axis."
KEYS = "Keys: J L sideways, I K away and nearer, U O up and down."
_log = logging.getLogger(__name__)


class Actions(Scripts):
    """The current session, its drawing, and the actions on it. Safe from any thread."""

    def __init__(
        self,
        server: Any,
        arm: Arm,
        *,
        method: str = SUPPLE,
        rate: float = 300.0,
        scale: float = 1.0,
        folder: str | os.PathLike[str] = "recordings",
        record: str | os.PathLike[str] | None = None,
        other: Source | None = None,
        robot: Connection | None = None,
    ) -> None:
        """Begins with an arm that nobody drives; arguments as in `serve`."""
        super().__init__(Path(folder))
        self.changed: Callable[[], None] = lambda: None
        """Called when the controls must be refreshed."""
        self.ellipsoids = False
        """Whether manipulability ellipsoids are drawn."""
        self.handles = HandleInput(self)
        """Pointer and keys on the handles."""
        self._server, self._rate = server, rate
        self.lock = threading.RLock()
        """Held while the session or its drawing is changed."""
        self._panel, self.plots = Panel(server), Plots(server.gui)
        self._uploaded: Arm | None = None
        self._message: tuple[str, str, float] = ("", "", 0.0)
        self._frames = 0
        self._stop_pressed = -np.inf
        self._present, self._other_drove = False, other is not None
        self._answers: Callable[[float], bool] = lambda now: True
        self.view: Any = None
        session = Session(arm, method=method, rate=rate, scale=scale, other=other, robot=robot)
        self._draw_arm(arm)
        self._start(session, record)

    # -- called by the page ------------------------------------------------------------------------------------------

    def hold(self) -> None:
        """Holds the arm, unless another source drives it; does not block."""
        if not self.session.source.other_drives:
            self.session.loop.pause(NOBODY)

    def set_present(self, present: bool, answers: Callable[[float], bool] | None = None) -> None:
        """A browser drives from now on, or none: then the arm is held.

        ``answers``: whether that browser answers at a time (s); by default as before.
        """
        with self.lock:
            session, source = self.session, self.session.source
            self._answers = answers or self._answers
            source.answers = self._answers
            if not present:
                session.end_script()
                session.loop.cancel_moves()
                self._hazards = []
            self._present = source.alive = present
            self.handles.begin()
            source.forget_grippers()
            session.place_handles(session.q)
            if present or source.other_drives:
                session.loop.resume()
            else:
                self.hold()
                end = time.monotonic() + 0.1  # wait for the hold, so that the next driver starts from the arm
                while session.loop.running and not session.loop.held and time.monotonic() < end:
                    time.sleep(0.002)

    def set_camera(self, client: Any) -> Array | None:
        """Sets the camera of a browser on a phone, where the arm is above the panel; others start with the default.

        Returns its position (3,), or None.
        """
        with self.lock:
            position: Array | None = self.view.set_camera(client) if is_tall(client) else None
            return position

    def update(self) -> None:
        """Draws the newest tick; called about 30 times a second by one thread."""
        with self.lock:
            self._update_script()
            if not self.session.loop.running:
                self.show_message("the loop has ended", "See the terminal where supple was started.", None)
            if self._other_drove and not self.session.source.other_drives:
                self._other_drove = False
                self.session.recentre()
                self.show_message(
                    self.session.source.ended or "the source has ended", "You can drive with the handle now."
                )
                self.changed()
            if self._frames % 30 == 0 and self.session.recording_failure:
                self._show_failed_recording()
            tick = self.session.newest
            if tick is not None:
                self.draw(tick)

    def draw(self, tick: Tick) -> None:
        """Draws a tick: the scene each time, plots and panel less often."""
        with self.lock:
            self.view.ellipsoids = self.ellipsoids
            self.view.show(tick)
            if self._frames % round(30 * SECONDS / SAMPLES) == 0:
                self.plots.sample(tick)
            if self._frames % 3 == 0:
                self.plots.draw()
                self._panel.show(tick, self.session.arm, self._current_note(), self.session.loop.statistics)
            self._frames += 1

    def close(self) -> None:
        """Ends the session; raises the exception that ended its loop, if one did."""
        with self.lock:
            self.session.loop.stop()

    # -- a real arm ---------------------------------------------------------------------------------------------------

    @property
    def has_robot(self) -> bool:
        """Whether a real arm is attached; then the page drives that one only."""
        return self.session.robot is not None

    def stop_arm(self) -> None:
        """Stops the arm until `rearm`; does not block, and works from every browser."""
        self.session.loop.stop_arm(STOPPED)
        self._stop_pressed = time.monotonic()
        self.changed()

    @property
    def can_rearm(self) -> bool:
        """Whether the arm is stopped, and `rearm` counts: not just after the stop was pressed."""
        return bool(self.session.loop.stopped) and time.monotonic() - self._stop_pressed > REARM_AFTER

    def rearm(self) -> None:
        """The arm may be driven again, from where it is, if it `can_rearm`."""
        if not self.can_rearm:
            return
        with self.lock:
            self.end_script()
            self.session.source.release_handles()
            self.session.loop.rearm()
            self.changed()

    def set_gripper(self, k: int, opening: float) -> None:
        """Opens the gripper of end effector k: 0 closed to 1 open."""
        openings = self.session.source.openings
        if k < len(openings) and 0 <= opening <= 1:
            openings[k] = float(opening)

    # -- arm and method ----------------------------------------------------------------------------------------------

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the arms that can be chosen."""
        uploaded = () if self._uploaded is None else (self._uploaded.linkage.name,)
        return tuple(dict.fromkeys((*models.names(), *uploaded, self.session.arm.linkage.name)))

    def choose_arm(self, name: str, drives: Callable[[], bool] = lambda: True) -> None:
        """Changes to a bundled arm or the uploaded one; ``drives``: whether it is still wanted when it is ready."""
        uploaded = self._uploaded
        if uploaded is not None and name == uploaded.linkage.name:
            self._change(lambda: uploaded, drives)
        elif name in models.names() and name != self.session.arm.linkage.name:
            self._change(lambda: Arm.of(models.get(name)), drives)

    def choose_links(self, links: tuple[str, ...], drives: Callable[[], bool] = lambda: True) -> None:
        """Drives other links of the same linkage, from where it is; ``drives`` as in `choose_arm`."""
        arm = self.session.arm
        known = {one.name for one in arm.linkage.links}
        if 0 < len(links) <= MAX_HANDLES and known.issuperset(links) and set(links) != set(arm.links):
            self._change(lambda: arm.with_links(links), drives)

    def upload(self, name: str, content: bytes, drives: Callable[[], bool] = lambda: True, client: Any = None) -> None:
        """Changes to an arm from a robot description that a client of viser sent; ``drives`` as in `choose_arm`."""
        ended = partial(uploads.say_ended, client, name)
        self._change(lambda: from_upload(name[-60:], content), drives, uploaded=True, ended=ended)

    def refuse_upload(self, name: str, size: int, client: Any) -> None:
        """Shows that an uploaded file is too large."""
        reason = f"{name[-60:]} has {size:,} bytes; it may have {uploads.largest(name):,}"
        self.show_message(FAILED, reason)
        uploads.say_ended(client, name, reason)

    def choose_method(self, method: str) -> None:
        """Changes the method."""
        with self.lock:
            if method in METHODS and method != self.session.method:
                self.session.use(method)
                self.retell_hazard()
                self.changed()

    def set_scale(self, value: float) -> None:
        """Changes the scale between handle and arm."""
        with self.lock:
            if 0.01 <= value <= 100:
                self.session.scale = float(value)

    def show_ellipsoids(self, shown: bool) -> None:
        """Shows or hides the manipulability ellipsoids."""
        self.ellipsoids = bool(shown)

    # -- reset ---------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Puts the arm at rest and the handles at its end effectors."""
        with self.lock:
            self.end_script()
            self._try(self.session.reset)

    def jog(self, column: int, value: float) -> None:
        """Moves one joint value towards another; see `Session.jog`."""
        with self.lock:
            self.end_script()
            self._try(lambda: self.session.jog(column, value))

    def recentre(self) -> None:
        """Puts handles and goals at the end effectors."""
        with self.lock:
            self.end_script()
            self.session.recentre()

    def show_message(self, title: str, text: str, seconds: float | None = MESSAGE_SECONDS) -> None:
        """Shows a message in the panel for a time; None: until the next message."""
        self._message = (title, text, np.inf if seconds is None else time.monotonic() + seconds)

    def end_message(self, title: str) -> None:
        """Takes a message away, if it is the one that is shown."""
        if self._message[0] == title:
            self.show_message("", "")

    # ----------------------------------------------------------------------------------------------------------------

    def _change(
        self,
        make: Callable[[], Arm],
        drives: Callable[[], bool],
        uploaded: bool = False,
        ended: Callable[[Arm | str], None] = lambda arm: None,
    ) -> None:
        """Makes an arm, and changes to it if the browser still drives then. Meanwhile the arm before is driven.

        ``ended`` is called with the arm, or with the reason why there is none.
        """
        if self.has_robot:
            self.show_message(
                FAILED, f"a real {self.session.arm.linkage.name} is attached: only that one can be driven"
            )
            return
        try:
            session = self._prepare(make())
        except Exception as error:
            if drives():
                self._show_failure(error)
                ended(str(error))
            return
        with self.lock:
            if drives():
                failure = self._try(lambda: self._switch(session, uploaded))
                ended(session.arm if failure is None else str(failure))

    def _prepare(self, arm: Arm) -> Session:
        """A session of an arm, with all that takes long, not started yet."""
        _ = arm.axes, arm.columns, arm.size, arm.bodies
        return Session(arm, method=self.session.method, rate=self._rate, scale=self.session.scale)

    def _switch(self, session: Session, uploaded: bool = False) -> None:
        """Changes to another session; if its arm cannot be drawn, that before goes on."""
        before = self.session
        if session.method != before.method:
            session.use(before.method)
        session.scale = before.scale
        self.end_script()
        try:
            self._draw_arm(session.arm)
            self._set_cameras()
        except Exception:
            self._draw_arm(before.arm)
            self.changed()
            raise
        self._try(before.loop.stop)  # it may fail to complete a recording; the change goes on
        if session.arm.linkage is before.arm.linkage:
            session.begin_at(before.q)
        self._start(session)
        if uploaded:
            self._uploaded = session.arm
        self.set_present(self._present)
        self.changed()

    def _draw_arm(self, arm: Arm) -> None:
        """Draws an arm at rest in place of the one before."""
        if self.view is not None:
            self._try(self.view.clear)
        self.view = ArmView(self._server, arm)
        self.plots.begin(arm)
        self._panel.name(arm)

    def _set_cameras(self) -> None:
        for client in self._server.get_clients().values():
            self.view.set_camera(client)

    def _start(self, session: Session, record: str | os.PathLike[str] | None = None) -> None:
        """Starts the loop of a session that is drawn already."""
        self.session = session
        self.handles.begin()
        if record is not None:
            self._last_recording = session.record(self._folder, record)
        if not session.source.other_drives:
            session.loop.pause(NOBODY)
        session.loop.start()

    def _try(self, act: Callable[[], object]) -> Exception | None:
        """Does it, or shows the reason of the failure: nothing that a browser sends ends the loop or takes the seat."""
        try:
            act()
        except Exception as error:
            self._show_failure(error)
            return error
        return None

    def _show_failure(self, error: Exception) -> None:
        if isinstance(error, SuppleError | OSError):
            self.show_message(FAILED, str(error)[:300])
        else:
            _log.error("an action of the page failed", exc_info=error)
            self.show_message(FAILED, f"{type(error).__name__}: {error}"[:300])

    def _current_note(self) -> str:
        if self.session.loop.stopped:
            return note("the arm is stopped", "Nothing moves it until the browser that drives presses re-arm.", ALARM)
        title, text, until = self._message
        return note(title, text) if title and time.monotonic() < until else self._hint()

    def _hint(self) -> str:
        """What the card says while there is no message."""
        if self.session.source.other_drives:
            return note("another program drives", "The page shows the arm.")
        if not self._present:
            return note(NOBODY, "The arm stays where it is until a browser drives.")
        return note("drag the handle", HOW_TO_DRIVE, keys=KEYS)
