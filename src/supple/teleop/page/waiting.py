"""Lobby: what a browser sees that does not drive: whom it waits for, or what it must say first."""

from __future__ import annotations

from html import escape
from typing import Any

from supple.teleop.page.drivers import Drivers


class Lobby:
    """A few words and a button, in one browser only."""

    def __init__(self, client: Any, drivers: Drivers) -> None:
        """Add them to a client of viser."""
        self._drivers, self._id = drivers, client.client_id
        gui = client.gui
        self._folder = gui.add_folder(None, order=10)
        with self._folder:
            self._words = gui.add_html("")
            self._token = gui.add_text("token", "", hint="printed where supple was started")
            self._ask = gui.add_button("drive")
            self._ask.on_click(lambda _: self._knock())
        self.refresh()

    def refresh(self) -> None:
        """Say where this browser stands."""
        place, driver = self._drivers.place(self._id), self._drivers.driver
        known, tries = self._drivers.admitted(self._id), self._drivers.tries_left(self._id)
        if not known:
            words = "You may watch. To drive, give the token that supple printed where it was started."
            if tries <= 0:
                words = "That was not the token, too often. You may watch."
            elif self._token.value:
                words = f"That is not the token; {tries} tries are left."
        elif place is None:
            words = "Nobody drives." if driver is None else "Someone else is driving."
        else:
            before = f"{place - 1} before you" if place > 1 else "you are next"
            words = f"Someone else is driving; {before}. You take over when they let go or leave."
        self._words.content = (
            f'<div data-lobby style="padding:0 0.9em 0.7em;font-size:0.875em;line-height:1.45">{escape(words)}</div>'
        )
        self._token.visible = not known and tries > 0
        self._ask.visible = (not known and tries > 0) or (known and place is None)

    def remove(self) -> None:
        """Take everything away."""
        self._folder.remove()

    def _knock(self) -> None:
        if self._drivers.admitted(self._id):
            self._drivers.ask(self._id)
        elif not self._drivers.admit(self._id, self._token.value):
            self.refresh()
