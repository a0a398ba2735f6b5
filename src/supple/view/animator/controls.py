"""Controls of the page: timeline, handles and export. They call the functions of an `Actions` and show its state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from supple.view.animator.keys import STEP
from supple.view.panel import ACCENT

PLAY, PAUSE = "▶ play", "❚❚ pause"
PREVIOUS, NEXT = "◀ key", "key ▶"
KEY_POSE, KEY_GOAL, DELETE = "key pose", "key goal", "delete key"
FORMATS = (".glb", ".gltf", ".bvh", ".npz", ".csv", ".json")
LONGEST = 600.0
"""Most seconds of a timeline on the page."""
_HELP = (
    "Drag a ball: the figure follows, its feet stay. What you have placed is pinned (orange); `release` frees it. "
    "Then press `key pose`, move the time, and pose again."
)


@dataclass(frozen=True)
class Actions:
    """What the controls do. All are called from threads of the server."""

    play: Callable[[], None]
    scrub: Callable[[float], None]
    step: Callable[[bool], None]
    key: Callable[[str], None]
    length: Callable[[float], None]
    loop: Callable[[bool], None]
    select: Callable[[str], None]
    release: Callable[[str], None]
    natural: Callable[[bool], None]
    export: Callable[[Any, str, float], None]


class Controls:
    """The panel of the page."""

    def __init__(self, server: Any, title: str, handles: Sequence[str], length: float, actions: Actions) -> None:
        """Add the controls to a viser server; ``length`` is that of the timeline in seconds."""
        gui = server.gui
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=ACCENT, control_width="large")
        gui.set_panel_label(title)
        with gui.add_folder("timeline"):
            self._time = gui.add_slider("time (s)", min=0.0, max=length, step=STEP, initial_value=0.0)
            self._time.on_update(_by_person(lambda value: actions.scrub(value)))
            self._play = gui.add_button_group("", (PREVIOUS, PLAY, NEXT))
            self._play.on_click(lambda event: self._pressed(event.target.value, actions))
            keys = gui.add_button_group(" ", (KEY_POSE, KEY_GOAL, DELETE))
            keys.on_click(lambda event: actions.key(event.target.value))
            self._keys = gui.add_markdown("")
            self._length = gui.add_number("length (s)", length, min=0.1, max=LONGEST, step=0.1)
            self._length.on_update(_by_person(lambda value: actions.length(value)))
            loop = gui.add_checkbox("loop", True, hint="begin again when the motion has ended")
            loop.on_update(_by_person(lambda value: actions.loop(value)))
        with gui.add_folder("handles"):
            self._handle = gui.add_dropdown("handle", ("none", *handles), initial_value="none")
            self._handle.on_update(_by_person(lambda value: actions.select("" if value == "none" else value)))
            free = gui.add_button_group("  ", ("release", "release all", "rest pose"))
            free.on_click(lambda event: actions.release(event.target.value))
            natural = gui.add_checkbox(
                "natural pose", True, hint="joints that the handles leave free stay near the pose in which a drag began"
            )
            natural.on_update(_by_person(lambda value: actions.natural(value)))
        with gui.add_folder("export"):
            ending = gui.add_dropdown("file", FORMATS, initial_value=".glb", hint=".json: the keys, to edit later")
            rate = gui.add_number("frames per second", 60.0, min=1.0, max=1000.0, step=1.0)
            button = gui.add_button("download")
            button.on_click(lambda event: actions.export(event.client, ending.value, float(rate.value)))
        self._status = gui.add_markdown(_HELP)

    def _pressed(self, word: str, actions: Actions) -> None:
        if word in (PREVIOUS, NEXT):
            actions.step(word == NEXT)
        else:
            actions.play()

    def show_time(self, time: float) -> None:
        """Show the present time in seconds."""
        value = min(max(round(time, 3), 0.0), float(self._time.max))
        if self._time.value != value:
            self._time.value = value

    def show_length(self, length: float) -> None:
        """Show how long the timeline is, in seconds."""
        self._time.max = length
        if self._length.value != length:
            self._length.value = length

    def show_playing(self, playing: bool) -> None:
        """Show whether the motion plays."""
        self._play.options = (PREVIOUS, PAUSE if playing else PLAY, NEXT)

    def show_handle(self, name: str) -> None:
        """Show which handle is selected."""
        if self._handle.value != (name or "none"):
            self._handle.value = name or "none"

    def show_keys(self, text: str) -> None:
        """Show which keys there are, in Markdown."""
        if self._keys.content != text:
            self._keys.content = text

    def show_status(self, text: str) -> None:
        """Show what happened last, in Markdown; an empty text for what to do."""
        text = text or _HELP
        if self._status.content != text:
            self._status.content = text


def _by_person(act: Callable[[Any], None]) -> Callable[[Any], None]:
    """A callback for changes that a person makes, not for those that this program makes."""

    def on_update(event: Any) -> None:
        if event.client_id is not None:
            act(event.target.value)

    return on_update
