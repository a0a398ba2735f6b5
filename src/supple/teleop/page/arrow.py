"""Arrow: at the edge of the window, towards a handle that is out of view."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from supple.frame import Array, Frame

STEP = 5  # degrees; smaller changes are not sent
_MARGIN = 0.97  # of the window: what is farther out counts as out of view
# a round mark with an arrow, the same for every angle; it is no part of viser's page and takes no clicks
_SCRIPT = """(() => {
  let mark = document.getElementById("supple-arrow");
  const angle = %s;
  if (angle === null) { if (mark) mark.remove(); return; }
  if (!mark) {
    mark = document.createElement("div");
    mark.id = "supple-arrow";
    mark.title = "the handle is out of view";
    mark.style.cssText = "position:fixed;z-index:5;pointer-events:none;width:34px;height:34px;border-radius:50%%;" +
      "background:#d1663a;color:#fff;font:22px/32px sans-serif;text-align:center;margin:-17px;opacity:0.9";
    mark.innerHTML = "\\u279c";
    document.body.appendChild(mark);
  }
  const x = Math.cos(angle), y = Math.sin(angle), far = 0.44 / Math.max(Math.abs(x), Math.abs(y));
  mark.style.left = 100 * (0.5 + far * x) + "%%";
  mark.style.top = 100 * (0.5 + far * y) + "%%";
  mark.style.transform = "rotate(" + angle + "rad)";
})();"""


class Arrow:
    """The arrow in one browser."""

    def __init__(self, client: Any) -> None:
        """For a client of viser; nothing is shown yet."""
        self._client = client
        self._shown: int | None = None

    def show(self, places: Iterable[Array]) -> None:
        """Points to the first of some places (3,) that the camera does not see; without one the arrow disappears."""
        angles = (out_of_view(self._client.camera, place) for place in places)
        angle = next((found for found in angles if found is not None), None)
        self._send(None if angle is None else round(math.degrees(angle) / STEP))

    def remove(self) -> None:
        """Takes the arrow away."""
        self._send(None)

    def _send(self, steps: int | None) -> None:
        from viser import _messages

        if steps != self._shown:
            self._shown = steps
            value = "null" if steps is None else f"{math.radians(STEP * steps):.4f}"
            self._client._websock_connection.queue_message(_messages.RunJavascriptMessage(_SCRIPT % value))


def out_of_view(camera: Any, place: Array) -> float | None:
    """The angle on the screen, clockwise from right, at which a place (3,) lies; None if the camera sees it."""
    seen = Frame.quaternion(np.array(camera.wxyz)).rotation.T @ (place - np.array(camera.position))
    x, y, depth = (float(value) for value in seen)  # right, down, away
    high = math.tan(camera.fov / 2) * depth * _MARGIN
    if depth > 0 and abs(y) <= high and abs(x) <= high * camera.aspect:
        return None
    return math.atan2(y, x)
