"""Player: a motion on a page of the viewer, with play, scrub and speed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from supple.view import Viewer, serve
from supple.view.animator.worker import Worker
from supple.view.served import Served

if TYPE_CHECKING:
    from supple.frame import Array
    from supple.motion import Motion

__all__ = ["Player", "play"]

PLAY, PAUSE = "▶ play", "❚❚ pause"
_PERIOD = 1 / 30  # s: how often a motion that plays is drawn
_LOOKS = 200  # times at which a motion is looked at to find where it takes place
_SPEEDS = ("0.1", "0.25", "0.5", "1", "2")


class Player(Served):
    """A motion that plays in a viewer again and again. A context manager; `close` closes the viewer too."""

    def __init__(self, motion: Motion, viewer: Viewer) -> None:
        """Add the controls to a viewer, and play."""
        super().__init__(viewer._server, viewer._host)
        self.viewer = viewer
        """The page."""
        self._motion, self._time, self._speed, self._playing = motion, motion.start, 1.0, True
        self._worker: Worker
        viewer._scene.show_around(*_bounds(motion))
        gui = viewer._server.gui
        with gui.add_folder("motion", order=-1):
            length = max(round(motion.duration, 2), 1e-2)
            self._slider = gui.add_slider(
                "time (s)", min=0.0, max=length, step=min(0.01, length), initial_value=0.0, hint=str(motion)
            )
            self._slider.on_update(self._on_time)
            self._button = gui.add_button_group("", (PAUSE,))
            self._button.on_click(lambda _: self._worker.put(self._toggle))
            speed = gui.add_dropdown("speed", _SPEEDS, initial_value="1")
            speed.on_update(lambda event: self._worker.put(lambda: self._set_speed(float(event.target.value))))
        self._go(motion.start)
        self._worker = Worker(_PERIOD, self._tick)

    @property
    def time(self) -> float:
        """The time that is shown, in seconds of the motion."""
        return self._time

    @property
    def playing(self) -> bool:
        """Whether it plays."""
        return self._playing

    def _stop_serving(self) -> None:
        self._worker.close()
        self.viewer.close()

    @property
    def _shown(self) -> str:
        return self._motion.linkage.name

    def _on_time(self, event: Any) -> None:
        if event.client_id is not None:
            self._worker.put(lambda: self._scrub(self._slider.value), "scrub")

    def _scrub(self, value: float) -> None:
        if self._playing:
            self._toggle()
        self._go(self._motion.start + value)

    def _toggle(self) -> None:
        self._playing = not self._playing
        self._button.options = (PAUSE if self._playing else PLAY,)

    def _set_speed(self, speed: float) -> None:
        self._speed = speed

    def _tick(self, passed: float) -> None:
        if self._playing:
            later = self._time + self._speed * passed
            self._go(later if later <= self._motion.end else self._motion.start)

    def _go(self, time: float) -> None:
        self._time = time
        self.viewer.q = self._motion.at(time)
        self._slider.value = min(max(round(time - self._motion.start, 3), 0.0), float(self._slider.max))


def _bounds(motion: Motion) -> tuple[Array, Array]:
    """Corners (3,) of the box in which the links of a motion are, in metres."""
    times = np.linspace(motion.start, motion.end, _LOOKS)
    matrices = motion.linkage.frames(motion.at(times)).matrix
    points = matrices[:, 1:, :3, 3].reshape(-1, 3) if matrices.shape[1] > 1 else matrices[:, :, :3, 3].reshape(-1, 3)
    return points.min(axis=0), points.max(axis=0)


def play(
    motion: Motion, *, host: str = "127.0.0.1", port: int = 8080, frames: bool = False, open_browser: bool = False
) -> Player:
    """Serve a page on which a motion plays, and return at once; the arguments are those of `supple.view.serve`.

    >>> from supple import Motion, models
    >>> from supple.view.player import play
    >>> with play(Motion(models.planar2(), [0, 1], [[0, 0], [1, 0.5]]), port=0) as player:
    ...     player.playing
    True
    """
    return Player(motion, serve(motion.linkage, host=host, port=port, frames=frames, open_browser=open_browser))
