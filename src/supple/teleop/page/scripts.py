"""Scripts: the actions of a page that record, replay a recording, or give a tour."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

from supple.errors import BadInput
from supple.teleop.page.session import Session, script_of_recording
from supple.teleop.page.tour import HAZARDS, Hazard

MESSAGE_SECONDS = 6.0  # how long a message is shown
FAILED = "that did not work"


class Scripts(ABC):
    """Recording, replay and tour; the base of `Actions`, which has the session."""

    session: Session
    lock: threading.RLock
    changed: Callable[[], None]

    def __init__(self, folder: Path) -> None:
        """Without a script; recordings are written to a folder."""
        self._folder = folder
        self._last_recording: Path | None = None
        self._hazards: list[Hazard] = []
        self._tour_length = 0
        self._told: tuple[str, Hazard] | None = None  # title and hazard of the note that is shown
        self._replaying = False
        self._script_ended = threading.Event()

    @property
    @abstractmethod
    def has_robot(self) -> bool:
        """Whether a real arm is attached."""

    @abstractmethod
    def show_message(self, title: str, text: str, seconds: float | None = MESSAGE_SECONDS) -> None:
        """Shows a message in the panel for a time; None: until the next message."""

    @abstractmethod
    def _try(self, act: Callable[[], object]) -> Exception | None:
        """Does it, or shows the reason of the failure and returns it."""

    # -- record and replay --------------------------------------------------------------------------------------------

    def record(self) -> None:
        """Begins a recording, or ends it."""
        with self.lock:
            self._try(self._end_recording if self.session.recording else self._begin_recording)
            self.changed()

    def replay(self) -> None:
        """Plays the goals of the last recording, with the method that is chosen now; ends a replay that runs."""
        with self.lock:
            if self.replaying:
                self.end_script()
                return
            self._try(self._replay)

    # -- the tour ------------------------------------------------------------------------------------------------------

    def tour(self, name: str = "") -> None:
        """Starts one hazard by its name, or all."""
        with self.lock:
            if self.has_robot:
                self.show_message(FAILED, "the tour is for a simulated arm: it goes past reach and at full speed")
                return
            chosen = [hazard for hazard in HAZARDS if name == hazard.name] or list(HAZARDS)
            self.end_script()
            self._hazards, self._tour_length = chosen, len(chosen)
            self._next_hazard()

    def end_script(self) -> None:
        """Ends the tour or a replay."""
        with self.lock:
            self._hazards, self._told = [], None
            replayed, self._replaying = self._replaying, False
            if self.session.source.scripted:
                self.session.end_script()
                self.show_message("", "")
            self._script_ended.clear()
            if replayed:
                self.changed()

    @property
    def replaying(self) -> bool:
        """Whether a recording is being replayed."""
        return self._replaying and self.session.source.scripted

    def retell_hazard(self) -> None:
        """Shows the note of the present hazard again, for the method that is chosen now."""
        if self._told is not None:
            title, hazard = self._told
            self.show_message(title, hazard.note(self.session.method), None)

    def _update_script(self) -> None:
        """Goes on with the tour after a script has ended."""
        if self._script_ended.is_set():
            self._script_ended.clear()
            self._next_hazard()

    def _next_hazard(self) -> None:
        """Starts the next hazard of the tour, if there is one."""
        self.session.end_script()
        self._told = None
        if self._replaying:
            self._replaying = False
            self.changed()
        while self._hazards:
            hazard = self._hazards.pop(0)
            script = hazard.script(self.session.arm)
            if script is not None:
                number = self._tour_length - len(self._hazards)
                count = f"{number} of {self._tour_length}: " if self._tour_length > 1 else ""
                self._told = count + hazard.title, hazard
                self.retell_hazard()
                self.session.start_script(script, self.session.arm.linkage.rest, self._script_ended.set)
                return
            self.show_message(hazard.title, "This arm has none.")
            if not self._hazards:
                return
        self.show_message("", "")

    def _replay(self) -> None:
        if self.session.recording:
            self._end_recording()
            self.changed()
        if self._last_recording is None:
            raise BadInput("there is no recording yet: press record, drive, press finish")
        script, begin, name = script_of_recording(self._last_recording)
        arm = self.session.arm
        if name != arm.linkage.name or len(begin) != arm.linkage.dof or len(script.at(0.0)) != len(arm.links):
            raise BadInput(f"{self._last_recording.name} is of {name}: choose that arm first")
        self.end_script()
        self.show_message("replay", f"{self._last_recording.name}, with the method {self.session.method}", None)
        self.session.start_script(script, begin, self._script_ended.set)
        self._replaying = True
        self.changed()

    def _begin_recording(self) -> None:
        self.end_script()
        self._last_recording = self.session.record(self._folder)
        self.show_message("recording", f"to {self._last_recording}", None)

    def _show_failed_recording(self) -> None:
        """Ends a recording that cannot go on, such as on a full disk, and shows the reason until the next message."""
        reason = self.session.recording_failure
        self._try(self.session.end_recording)
        self.show_message("the recording has failed", f"{self._last_recording}: {reason}"[:300], None)
        self.changed()

    def _end_recording(self) -> None:
        path = self.session.end_recording()
        self.show_message("recorded", f"{path}; to compare with another method: supple replay {path} --solver ...")
