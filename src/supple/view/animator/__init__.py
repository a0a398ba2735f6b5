"""Animator: a page on which a person poses a figure with handles, keys the poses in time, plays and exports them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from supple.errors import BadInput, SuppleError
from supple.view import address, extra
from supple.view.served import Served

if TYPE_CHECKING:
    from supple.animate.timeline import Timeline
    from supple.frame import Array, Frame
    from supple.linkage import Linkage

__all__ = ["Animator", "serve"]

_PERIOD = 1 / 30  # s: how often a motion that plays is drawn
_LENGTH = 3.0  # s: of a timeline without keys


class Animator(Served):
    """A page on which a figure is animated, made by `serve`. A context manager.

    All of its state is changed by one thread, its worker.
    """

    def __init__(self, timeline: Timeline, host: str, port: int, figure: str | None) -> None:
        """Start serving; ``figure`` is what a file of keys calls the figure."""
        extra.check("view", "the page for figures")
        from supple.view import messages, server
        from supple.view.animator.controls import Actions, Controls
        from supple.view.animator.handles import Handles
        from supple.view.animator.keys import Keys
        from supple.view.animator.rig import Rig
        from supple.view.animator.worker import Worker
        from supple.view.scene import Scene

        self.rig = Rig(timeline.linkage)
        """The handles."""
        self.keys = Keys(_floated(timeline, self.rig.linkage))
        """The keys in time."""
        self._figure = figure or timeline.linkage.name
        super().__init__(server.start(host, port, messages.POSE), host)
        try:
            self._scene = Scene(self._server, self.rig.linkage)
            size = float(max(self._scene.high - self._scene.low))
            self._handles = Handles(self._server, self.rig, size, self._on_drag, self._later(self._select))
            self._length = max([_LENGTH, *self.keys.times])
            self._time, self._playing, self._loop, self._selected = 0.0, False, True, ""
            actions = Actions(
                *map(self._later, (self._toggle, self._scrub, self._step, self._key, self._set_length)),
                *map(self._later, (self._set_loop, self._select, self._release, self._set_natural, self._export)),
            )
            title = self.rig.linkage.name or "figure"
            self._controls = Controls(self._server, title, list(self.rig.handles), self._length, actions)
            self._worker: Any = Worker(_PERIOD, self._tick)
        except BaseException:
            self._server.stop()
            raise
        self._worker.put(lambda: self._go(0.0))

    @property
    def q(self) -> Array:
        """Joint values (dof,) of the pose that is shown."""
        q: Array = self.rig.q.copy()
        return q

    @property
    def time(self) -> float:
        """The time that is shown, in seconds."""
        return self._time

    @property
    def playing(self) -> bool:
        """Whether the motion plays."""
        return self._playing

    def _stop_serving(self) -> None:
        self._worker.close()
        super()._stop_serving()

    @property
    def _shown(self) -> str:
        return self.rig.linkage.name

    # -- what controls and handles do; all but the first two run in the worker -----------------------------------

    def _later(self, act: Any) -> Any:
        """A function that lets the worker do something; errors of use are shown on the page."""

        def put(*values: Any) -> None:
            def run() -> None:
                try:
                    act(*values)
                except SuppleError as error:
                    self._controls.show_status(f"**{error}**")

            self._worker.put(run, act.__name__ if act in (self._scrub, self._set_length) else "")

        return put

    def _on_drag(self, name: str, phase: str, frame: Frame) -> None:
        self._worker.put(lambda: self._drag(name, phase, frame), f"drag {name}" if phase == "update" else "")

    def _drag(self, name: str, phase: str, frame: Frame) -> None:
        if self._playing:
            return
        if phase == "start":
            self.rig.begin()
        self.rig.move(name, frame)
        if phase == "end":
            self._controls.show_status("")
        self._draw()

    def _tick(self, passed: float) -> None:
        if not self._playing:
            return
        end = self.keys.times[-1] if self.keys.times else 0.0
        time = self._time + passed
        if time > end:
            time = min(self.keys.times[0], end) if self._loop else end
            self._playing = self._loop
        self._time = time
        q = self.keys.at(time)
        if q is not None:
            self.rig.q = q
            self._scene.show(q)
        self._controls.show_time(time)
        if not self._playing:
            self._stop()

    def _toggle(self) -> None:
        if self._playing:
            self._stop()
            return
        if len(self.keys.times) < 2:
            raise BadInput("there is no motion yet: key poses at two times or more")
        if self._time >= self.keys.times[-1] - 1e-6:
            self._time = self.keys.times[0]
        self.keys.motion()
        self._playing = True
        self._handles.visible = False
        self._controls.show_playing(True)

    def _stop(self) -> None:
        self._playing = False
        self._controls.show_playing(False)
        self._handles.visible = True
        self._go(self._time)

    def _scrub(self, time: float) -> None:
        if self._playing:
            self._stop()
        self._go(time)

    def _step(self, later: bool) -> None:
        near = self.keys.near(self._time, later)
        if near is not None:
            self._scrub(near)

    def _go(self, time: float) -> None:
        """Show the pose of a time: of the keys, or as it is if there are none."""
        self._time = time
        q = self.keys.at(time)
        self.rig.pose(self.rig.q if q is None else q)
        self._draw()

    def _key(self, what: str) -> None:
        from supple.view.animator.controls import DELETE, KEY_GOAL

        if what == DELETE:
            if not self.keys.remove(self._time):
                raise BadInput(f"there is no key at {self._time:.2f} s")
        elif what == KEY_GOAL:
            if not self._selected:
                raise BadInput("select a handle first: `key goal` stores where it is")
            self.keys.add_goal(self._time, self.rig.handles[self._selected], self.rig.goal(self._selected))
        else:
            self.keys.add_pose(self._time, self.rig.q)
        self._controls.show_status("")
        self._go(self._time)

    def _set_length(self, length: float) -> None:
        self._length = max(float(length), *self.keys.times, 0.1)
        self._controls.show_length(self._length)
        if self._time > self._length:
            self._scrub(self._length)

    def _set_loop(self, loop: bool) -> None:
        self._loop = loop

    def _set_natural(self, natural: bool) -> None:
        self.rig.natural = natural

    def _select(self, name: str) -> None:
        self._selected = name
        self._draw()

    def _release(self, what: str) -> None:
        if what == "rest pose":
            self.rig.pose(self.rig.linkage.rest)
        elif what == "release all":
            self.rig.pose(self.rig.q)
        elif self._selected:
            self.rig.release(self._selected)
        else:
            raise BadInput("select a handle first")
        self._draw()

    def _export(self, client: Any, ending: str, rate: float) -> None:
        from supple.view.animator.export import content

        name = f"{Path(self.rig.linkage.name or 'figure').name}{ending}"
        client.send_file_download(name, content(self.keys, self._figure, ending, rate), save_immediately=True)
        self._controls.show_status(f"{name} is downloaded")

    def _draw(self) -> None:
        self._scene.show(self.rig.q)
        self._handles.show(self._selected)
        self._controls.show_handle(self._selected)
        self._controls.show_time(self._time)
        self._controls.show_keys(_key_text(self.keys.times, self._time, self.keys.names_at(self._time)))


def serve(
    figure: Linkage | Timeline,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    open_browser: bool = False,
    name: str | None = None,
) -> Animator:
    """Serve a page on which a figure is animated, and return at once. It is served until it is closed.

    Args:
        figure: the linkage, or a timeline with keys to go on with.
        host: address to listen on; by default only this machine can see the page.
        port: port to listen on, or the next free one; 0 for any.
        open_browser: open the page in a browser.
        name: what an exported file of keys calls the figure: a model or a file; by default the linkage's name.

    >>> from supple.models import puppet
    >>> from supple.view import animator
    >>> with animator.serve(puppet(), port=0) as page:
    ...     list(page.rig.handles)
    ['left_hand', 'right_hand']
    """
    from supple._linkage.argument import checked_linkage
    from supple.animate.timeline import Timeline

    timeline = figure if isinstance(figure, Timeline) else Timeline(checked_linkage(figure))
    page = Animator(timeline, host, port, name)
    if open_browser:
        address.open_page(page.url)
    return page


def _floated(timeline: Timeline, linkage: Linkage) -> Timeline:
    """The timeline for its linkage with a floating root; `BadInput` if it has key poses without one."""
    from supple.animate.timeline import Timeline

    if timeline.linkage is linkage or timeline.linkage == linkage:
        return timeline
    if timeline.poses:
        raise BadInput(f"{timeline.linkage.name!r} has no floating root; its keys cannot be edited on the page")
    return Timeline(linkage, (), timeline.tracks)


def _key_text(times: list[float], now: float, names: list[str]) -> str:
    if not times:
        return "no keys yet"
    shown = [f"**{t:.2f}**" if abs(t - now) < 0.005 else f"{t:.2f}" for t in times]
    if len(shown) > 24:
        shown = [*shown[:12], "…", *shown[-11:]]
    here = f"  \nhere: {', '.join(names)}" if names else ""
    return f"keys at {' · '.join(shown)} s{here}"
