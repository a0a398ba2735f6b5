"""Shows a linkage in the browser, with a slider for each degree of freedom: `show(arm)`."""

from __future__ import annotations

import threading
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from supple import _check, _renamed
from supple.view import address, extra, notebook
from supple.view.served import Served

if TYPE_CHECKING:
    from supple.frame import Array
    from supple.linkage import Linkage

__all__ = ["Viewer", "serve", "show"]


class Viewer(Served):
    """A page that shows a linkage, made by `serve`. It may be used from any thread, and as a context manager."""

    linkage: Linkage
    """The linkage that is shown."""

    def __init__(self, linkage: Linkage, host: str, port: int, frames: bool) -> None:
        """Start serving; the arguments are those of `serve`."""
        extra.check("view", "the browser viewer")
        from supple.view import messages, server
        from supple.view.panel import Panel
        from supple.view.scene import Scene

        self.linkage = linkage
        self._lock = threading.RLock()
        self._q: Array = linkage.rest
        super().__init__(server.start(host, port, messages.VIEW, framed=notebook.is_running()), host)
        try:
            self._scene = Scene(self._server, linkage, frames=frames)
            self._panel = Panel(self._server, linkage, self._scene, self._set)
        except BaseException:
            self._server.stop()
            raise

    @property
    def q(self) -> Array:
        """Joint values (dof,) that are shown; setting them moves the linkage and the sliders."""
        return np.array(self._q)

    @q.setter
    def q(self, values: ArrayLike) -> None:
        self._set(np.array(_check.vector(values, self.linkage.dof, "q")))

    def _set(self, q: Array) -> None:
        with self._lock:
            self._scene.show(q)
            self._q = q
            self._panel.show(q)

    def _repr_html_(self) -> str:
        """For a notebook: the page itself, in a frame, while it is served."""
        return f"<p>{escape(repr(self))}</p>" if self.closed else notebook.frame(self.url)

    @property
    def _shown(self) -> str:
        return self.linkage.name


def serve(
    linkage: Linkage, *, host: str = "127.0.0.1", port: int = 8080, frames: bool = False, open_browser: bool = False
) -> Viewer:
    """Serve a page that shows a linkage, and return at once. It is served until it is closed or the program ends.

    Args:
        linkage: the linkage.
        host: address to listen on; by default only this machine can see the page, with "0.0.0.0" other machines too.
        port: port to listen on, or the next free one; 0 for any.
        frames: draw the axes of all links.
        open_browser: open the page in a browser.
    """
    from supple._linkage.argument import checked_linkage  # imports the whole library

    viewer = Viewer(checked_linkage(linkage), host, port, frames)
    if open_browser:
        address.open_page(viewer.url)
    return viewer


def show(
    linkage: Linkage,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    frames: bool = False,
    open_browser: bool | None = None,
    block: bool | None = None,
) -> Viewer:
    """Show a linkage in the browser until Ctrl-C, or, with ``block=False``, return at once. Arguments as in `serve`.

    In a notebook it returns at once and opens no browser, unless an argument says so. As the last line of a cell it
    shows the page below the cell. The notebook must run on the machine of its browser.
    """
    inline = notebook.is_running()
    viewer = serve(
        linkage, host=host, port=port, frames=frames, open_browser=not inline if open_browser is None else open_browser
    )
    if not inline if block is None else block:
        print(f"{linkage.name}: {viewer.url} (Ctrl-C ends)")
        viewer.wait()
    return viewer


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise _renamed.no_attribute("supple.view", name)
