"""Panel: the status of the arm and its reason, for all browsers."""

from __future__ import annotations

from html import escape
from typing import Any

from supple.step import TrackingStatus
from supple.teleop.command import Tick
from supple.teleop.page import words
from supple.teleop.page.arm import Arm
from supple.teleop.statistics import Statistics

COLOURS = {
    TrackingStatus.FOLLOWING: "#3f8f5f",
    TrackingStatus.LAGGING: "#c79a1e",
    TrackingStatus.YIELDING: "#d9692a",
    TrackingStatus.HELD: "#8a8f94",
    TrackingStatus.RETURNING: "#4a78c2",
}
"""Green, amber, orange, grey, blue."""
NOTE = "#54888f"  # of the mark of a card
# on a phone viser's panel has a fixed width and leaves a strip of the scene beside it, texts need fewer lines, and
# there are no keys
_PHONE = (
    '<style>@media (max-width: 480px) { [style*="width: 20em"] { width: 100vw !important }'
    "[data-state] { height: 5.4em !important } [data-notes] { height: 5.3em !important } }"
    "@media (max-width: 480px), (hover: none) and (pointer: coarse) { [data-keys] { display: none } }</style>"
)


class Panel:
    """The part of the right panel that all browsers share."""

    def __init__(self, server: Any) -> None:
        """Adds it to a viser server."""
        self._gui = server.gui
        self._gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(84, 136, 143))
        self._status = self._gui.add_html("", order=0)
        self._foot = self._gui.add_html("", order=1000)
        self._gui.add_html(_PHONE, order=1001)
        self._shown = ("", "")

    def name(self, arm: Arm) -> None:
        """Shows the name of the arm."""
        self._gui.set_panel_label(arm.linkage.name[:40])

    def show(self, tick: Tick, arm: Arm, note: str, statistics: Statistics) -> None:
        """Shows the result of a tick; ``note`` is the HTML of a message."""
        content = status(tick, arm) + note, foot(statistics)
        for element, html, before in zip((self._status, self._foot), content, self._shown, strict=True):
            if html != before:
                element.content = html
        self._shown = content


def status(tick: Tick, arm: Arm) -> str:
    """The status in its colour and the reason, as HTML."""
    status = TrackingStatus.HELD if tick.held else tick.step.status
    why = words.reason(tick, arm)
    return (
        f'<div data-state style="padding:0.1em 0.9em 0;font-size:0.875em;line-height:1.4;height:7.6em;overflow-y:auto">'
        f'<span data-status="{status.name.lower()}" style="display:inline-block;background:{COLOURS[status]};'
        f'color:#fff;border-radius:1em;padding:0.05em 0.85em 0.1em;font-weight:600">{status.name.lower()}</span>'
        f'<div data-why style="color:#5b5751;margin-top:0.35em">{escape(why)}</div></div>'
    )


def note(title: str, sentence: str, colour: str = NOTE, keys: str = "") -> str:
    """A card with a title and a sentence, as HTML, marked in a colour; ``keys`` is shown only with a keyboard.

    It is always there and has one height: the controls below stay.
    """
    alarm = "" if colour == NOTE else f' style="color:{colour}"'
    more = f" <span data-keys>{escape(keys)}</span>" if keys else ""
    return (
        f'<div data-notes style="margin:0 0.9em 0.8em;padding:0.4em 0.8em;border-left:3px solid {colour};'
        "background:#f3f6f6;height:6.8em;overflow-y:auto;box-sizing:border-box;"
        f'font-size:0.8125em;line-height:1.4"><b data-note{alarm}>{escape(title)}</b>'
        f'<div style="color:#5b5751">{escape(sentence)}{more}</div></div>'
    )


def foot(statistics: Statistics) -> str:
    """Rate and missed deadlines of the loop, as HTML."""
    missed = 100 * statistics.missed_share
    return (
        f'<div data-foot style="padding:0 0.9em 0.7em;color:#9a958d;font-size:0.75em">loop at {statistics.rate:g} Hz, '
        f"{missed:.1f} % of deadlines missed</div>"
    )
