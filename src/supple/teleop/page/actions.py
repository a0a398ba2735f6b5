"""Pilot: does what a page's controls ask for: another arm, another method, the tour, recordings."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from supple import models
from supple.errors import BadInput, SuppleError
from supple.teleop.command import Source, Tick
from supple.teleop.page.arm import UPLOAD, Arm, uploaded
from supple.teleop.page.arm_view import Stage, tall
from supple.teleop.page.handle_input import Grip
from supple.teleop.methods import METHODS, SUPPLE
from supple.teleop.page.panel import Panel, note
from supple.teleop.page.plots import SAMPLES, SECONDS, Plots
from supple.teleop.page.session import Session, played
from supple.teleop.page.tour import HAZARDS, Hazard

BRIEF = 6.0  # s: how long a message stays
NOBODY = "nobody drives"


class Pilot:
    """The session that is under way, what is drawn of it, and all that may be done with it. Safe from any thread."""

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
    ) -> None:
        """Begin with an arm that nobody drives; arguments as in `serve`."""
        self.changed: Callable[[], None] = lambda: None
        """Called when what the controls show is not so any more."""
        self.ellipsoids = False
        """Whether manipulability ellipsoids are drawn."""
        self.grip = Grip(self)
        """What a person does to the handles."""
        self._server, self._folder, self._rate = server, Path(folder), rate
        self.lock = threading.RLock()
        """Held by whoever changes what is driven or shown."""
        self._panel, self.plots = Panel(server), Plots(server.gui)
        self._last: Path | None = None
        self._own: Arm | None = None
        self._hazards: list[Hazard] = []
        self._round = 0
        self._ended = threading.Event()
        self._note: tuple[str, str, float] = ("", "", 0.0)
        self._jumps = self._frames = 0
        self._present, self._driven = False, other is not None
        self._enter(arm, method, scale, other, record)

    # -- what the page tells -----------------------------------------------------------------------------------------

    def hold(self) -> None:
        """Holds the arm, unless another source drives it; waits for nobody."""
        if not self.session.hands.driven:
            self.session.loop.pause(NOBODY)

    def attend(self, present: bool) -> None:
        """Somebody drives from now on, or nobody: then the arm is held."""
        with self.lock:
            session, hands = self.session, self.session.hands
            if not present:
                session.end_play()
                self._hazards = []
            self._present = hands.alive = present
            self.grip.begin()
            session.place(session.q)  # where the goals will begin anew
            if present or hands.driven:
                session.loop.resume()
            else:
                self.hold()
                end = time.monotonic() + 0.1  # until it is heard: who comes next begins anew, however soon
                while session.loop.running and not session.loop.held and time.monotonic() < end:
                    time.sleep(0.002)

    def greet(self, client: Any) -> None:
        """A browser was opened: let a phone see the arm above its panel; others see it as they come."""
        with self.lock:
            if tall(client):
                self.stage.look(client)

    def update(self) -> None:
        """Draw the newest tick; called about 30 times a second by one thread."""
        with self.lock:
            if self._ended.is_set():
                self._ended.clear()
                self._next()
            if not self.session.loop.running:
                self.tell("the loop has ended", "see where supple was started", None)
            if self._driven and not self.session.hands.driven:
                self._driven = False
                self.session.bring_back()  # the handles stayed behind
                self.tell("the source has ended", "the handle is yours")
                self.changed()
            tick = self.session.newest
            if tick is not None:
                self.draw(tick)

    def draw(self, tick: Tick) -> None:
        """Draw a tick: the scene, and now and then the plots and the words."""
        with self.lock:
            jumped, self._jumps = self.session.jumps != self._jumps, self.session.jumps
            self.stage.ellipsoids = self.ellipsoids
            self.stage.show(tick, jumped)
            if self._frames % round(30 * SECONDS / SAMPLES) == 0:
                self.plots.sample(tick)
            if self._frames % 3 == 0:
                self.plots.draw()
                self._panel.show(tick, self.session.arm, self._said(), self.session.loop.statistics)
            self._frames += 1

    def close(self) -> None:
        """End the session; raises what ended its loop, if it failed."""
        with self.lock:
            self.session.loop.stop()

    # -- arm and method ----------------------------------------------------------------------------------------------

    @property
    def arms(self) -> tuple[str, ...]:
        """The names that `choose` knows."""
        own = () if self._own is None else (self._own.linkage.name,)
        return tuple(dict.fromkeys((*models.names(), *own, self.session.arm.linkage.name)))

    def choose(self, name: str) -> None:
        """Another arm: a stock one, or the one that was uploaded."""
        with self.lock:
            if self._own is not None and name == self._own.linkage.name:
                self._switch(self._own)
            elif name in models.names() and name != self.session.arm.linkage.name:
                self._switch(Arm.of(models.get(name)))

    def choose_hand(self, link: str) -> None:
        """Another link of the same linkage as its hand."""
        with self.lock:
            linkage = self.session.arm.linkage
            if any(link == one.name for one in linkage.links) and self.session.arm.links != (link,):
                self._try(lambda: self._switch(Arm.of(linkage, (link,))))

    def upload(self, name: str, content: bytes) -> None:
        """Another arm from a description that a browser sent."""
        with self.lock:
            self._try(lambda: self._take(uploaded(name[-60:], content)))

    def refused(self, name: str, size: int) -> None:
        """Says that a description is too large to be taken."""
        self.tell("that did not work", f"{name[-60:]} has {size:,} bytes; a description may have {UPLOAD:,}")

    def use(self, method: str) -> None:
        """Another method."""
        with self.lock:
            if method in METHODS and method != self.session.method:
                self.session.use(method)
                self.changed()

    def scale(self, value: float) -> None:
        """Another scale between handle and arm."""
        with self.lock:
            if 0.01 <= value <= 100:
                self.session.scale = float(value)

    def show_ellipsoids(self, shown: bool) -> None:
        """Draw how fast the hands can go each way, or do not."""
        self.ellipsoids = bool(shown)

    # -- record, replay, reset ---------------------------------------------------------------------------------------

    def reset(self) -> None:
        """The arm at rest, the handles at its hands."""
        with self.lock:
            self.end()
            self.session.reset()

    def bring_back(self) -> None:
        """Handles and goals back to the hands."""
        with self.lock:
            self.end()
            self.session.bring_back()

    def record(self) -> None:
        """Begins a recording, or ends it."""
        with self.lock:
            if self.session.recording:
                self._try(self._recorded)
            else:
                self._try(self._begin_record)
            self.changed()

    def replay(self) -> None:
        """Plays the last recording, by the method that is chosen now."""
        with self.lock:
            self._try(self._replay)

    # -- the tour ----------------------------------------------------------------------------------------------------

    def tour(self, name: str = "") -> None:
        """One of the five hazards by its name, or all."""
        with self.lock:
            chosen = [hazard for hazard in HAZARDS if name == hazard.name] or list(HAZARDS)
            self.end()
            self._hazards, self._round = chosen, len(chosen)
            self._next()

    def end(self) -> None:
        """Ends the tour or a replay."""
        with self.lock:
            self._hazards = []
            if self.session.hands.scripted:
                self.session.end_play()
                self.tell("", "")
            self._ended.clear()

    def tell(self, title: str, sentence: str, seconds: float | None = BRIEF) -> None:
        """Shows a message in the panel for a while; None: until the next."""
        self._note = (title, sentence, np.inf if seconds is None else time.monotonic() + seconds)

    # ----------------------------------------------------------------------------------------------------------------

    def _next(self) -> None:
        """The next hazard of the tour, if there is one."""
        self.session.end_play()
        while self._hazards:
            hazard = self._hazards.pop(0)
            script = hazard.script(self.session.arm)
            if script is not None:
                count = f"{self._round - len(self._hazards)} of {self._round}: " if self._round > 1 else ""
                self.tell(count + hazard.title, hazard.sentence, None)
                self.session.play(script, self.session.arm.linkage.rest, self._ended.set)
                return
            self.tell(hazard.title, "this arm has none")
            if not self._hazards:
                return
        self.tell("", "")

    def _replay(self) -> None:
        if self.session.recording:
            self._recorded()
            self.changed()
        if self._last is None:
            raise BadInput("nothing was recorded yet: press record, drive, press stop")
        script, begin, name = played(self._last)
        arm = self.session.arm
        if name != arm.linkage.name or len(begin) != arm.linkage.dof or len(script.at(0.0)) != len(arm.links):
            raise BadInput(f"{self._last.name} is of {name}: choose that arm first")
        self.end()
        self.tell("replay", f"{self._last.name}, by {self.session.method}", None)
        self.session.play(script, begin, self._ended.set)

    def _begin_record(self) -> None:
        self.end()
        self._last = self.session.record(self._folder)
        self.tell("recording", f"to {self._last}", None)

    def _recorded(self) -> None:
        path = self.session.recorded()
        self.tell("recorded", f"{path}; see what differs by another method: supple replay {path} --solver ...")

    def _take(self, arm: Arm) -> None:
        self._switch(arm)
        self._own = arm
        self.changed()

    def _switch(self, arm: Arm) -> None:
        """Goes on with another arm; if it cannot be drawn or driven, with the old one."""
        _ = arm.goals, arm.axes, arm.columns  # complaints come before anything is taken away
        before = self.session
        self.end()
        try:
            before.loop.stop()
        except Exception as error:  # a recording that could not be ended, most likely: the old arm is left anyway
            self.tell("that did not work", str(error)[:300])
        self.stage.clear()
        try:
            self._enter(arm, before.method, before.scale)
        except Exception:
            self._enter(before.arm, before.method, before.scale)
            raise
        finally:
            for client in self._server.get_clients().values():
                self.stage.look(client)
            self.attend(self._present)
            self.changed()

    def _enter(
        self,
        arm: Arm,
        method: str,
        scale: float,
        other: Source | None = None,
        record: str | os.PathLike[str] | None = None,
    ) -> None:
        session = Session(arm, method=method, rate=self._rate, scale=scale, other=other)
        self.stage = Stage(self._server, arm)
        self.plots.begin(arm)
        self._panel.name(arm)
        self.session, self._jumps = session, 0
        self.grip.begin()
        if record is not None:
            self._last = session.record(self._folder, record)
        if other is None:
            session.loop.pause(NOBODY)
        session.loop.start()

    def _try(self, act: Callable[[], None]) -> None:
        """Does it, or says why not."""
        try:
            act()
        except (SuppleError, OSError) as error:
            self.tell("that did not work", str(error)[:300])

    def _said(self) -> str:
        title, sentence, until = self._note
        return note(title, sentence) if title and time.monotonic() < until else ""
