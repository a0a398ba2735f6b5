"""WaitingPanel: what a browser shows that does not drive: its place in the queue, or the field for the token."""

from __future__ import annotations

from html import escape
from typing import Any

from supple.teleop.page.drivers import Drivers


class WaitingPanel:
    """A text, a field for the token and a button, in one browser only."""

    def __init__(self, client: Any, drivers: Drivers) -> None:
        """Adds them to a client of viser."""
        self._drivers, self._id = drivers, client.client_id
        gui = client.gui
        self._folder = gui.add_folder(None, order=10)
        with self._folder:
            self._text = gui.add_html("")
            self._token = gui.add_text("token", "", hint="printed where supple was started")
            self._button = gui.add_button("drive")
            self._button.on_click(lambda _: self._request())
        self.refresh()

    def refresh(self) -> None:
        """Shows the place in the queue, or asks for the token."""
        place, driver = self._drivers.queue_position(self._id), self._drivers.driver
        known, tries = self._drivers.admitted(self._id), self._drivers.tries_left(self._id)
        if not known:
            text = "You can watch. To drive, enter the token that supple printed where it was started."
            if tries <= 0:
                text = "Too many wrong tokens. You can watch."
            elif self._token.value:
                text = f"That is not the token; {tries} tries are left."
        elif place is None:
            text = "Nobody drives." if driver is None else "Someone else is driving."
        else:
            before = f"{place - 1} before you" if place > 1 else "you are next"
            text = f"Someone else is driving; {before}. You take over when they stop driving or leave."
        self._text.content = (
            f'<div data-waiting style="padding:0 0.9em 0.7em;font-size:0.875em;line-height:1.45">{escape(text)}</div>'
        )
        self._token.visible = not known and tries > 0
        self._button.visible = (not known and tries > 0) or (known and place is None)

    def remove(self) -> None:
        """Removes all of it."""
        self._folder.remove()

    def _request(self) -> None:
        if self._drivers.admitted(self._id):
            self._drivers.request(self._id)
        elif not self._drivers.give_token(self._id, self._token.value):
            self.refresh()
