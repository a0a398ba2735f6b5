"""The control panel of the viewer: sliders for the joints, buttons, switches, and the pose of the end effector."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from supple._table import markdown_table
from supple.frame import Array
from supple.joint import Joint
from supple.linkage import Linkage
from supple.view.bodies import length, ways
from supple.view.scene import Scene

OPEN = 18  # degrees of freedom; with more of them folders start closed
ACCENT = (84, 136, 143)


class Panel:
    """Sliders, buttons, switches and a readout. It requests joint values through ``move`` and shows those of `show`."""

    def __init__(self, server: Any, linkage: Linkage, scene: Scene, move: Callable[[Array], None]) -> None:
        """Add the controls to a viser server; ``move`` is called with q (dof,) when a user changes a control."""
        self._linkage, self._move = linkage, move
        self._q = linkage.rest
        self._random = np.random.default_rng()
        gui = server.gui
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=ACCENT, control_width="large")
        gui.set_panel_label(linkage.name or "linkage")
        places = gui.add_button_group("go to", ("rest", "zero", "random"))
        places.on_click(lambda event: self._go(event.target.value))
        for what, hint in (("frames", "axes of every link: x red, y green, z blue"), ("names", "names of the links")):
            box = gui.add_checkbox(what, bool(getattr(scene, what)), hint=hint)
            box.on_update(lambda event, what=what: setattr(scene, what, event.target.value))
        with gui.add_folder("end effector"):
            self._tip = gui.add_dropdown(
                "link", linkage.tips, initial_value=max(linkage.tips, key=ways(linkage).__getitem__)
            )
            self._tip.on_update(lambda _: self._read())
            self._readout = gui.add_markdown("")
        self._sliders: list[Any] = []
        groups = limbs(linkage)
        for name, joints in groups:
            with gui.add_folder(name if len(groups) > 1 else "joints", expand_by_default=linkage.dof <= OPEN):
                for joint in joints:
                    self._add_sliders(gui, joint)
        self.show(linkage.rest)

    def show(self, q: Array) -> None:
        """Show joint values q (dof,) in the sliders and the readout."""
        self._q = q
        for slider, value in zip(self._sliders, q, strict=True):
            slider.value = on_scale(value, slider.min, slider.max, slider.step)
        self._read()

    def _add_sliders(self, gui: Any, joint: Joint) -> None:
        for k, unit in enumerate(joint.units):
            i = len(self._sliders)
            low, high, step = scale(joint.lower[k], joint.upper[k], math.pi if unit == "rad" else length(self._linkage))
            slider = gui.add_slider(
                f"{self._linkage.names[i]} ({unit})",
                min=low,
                max=high,
                step=step,
                initial_value=on_scale(joint.rest[k], low, high, step),
                hint=f"{joint.kind.value}, {joint.lower[k]:g} to {joint.upper[k]:g} {unit}",
            )
            slider.on_update(lambda event, i=i: self._slide(event, i))
            self._sliders.append(slider)

    def _slide(self, event: Any, i: int) -> None:
        if event.client_id is None:  # set by `show`, not by a user
            return
        q = self._q.copy()
        q[i] = self._sliders[i].value  # the newest value, in case events arrive out of order
        self._move(self._linkage.clamp(q))

    def _go(self, place: str) -> None:
        if place == "rest":
            self._move(self._linkage.rest)
        elif place == "zero":
            self._move(self._linkage.clamp(np.zeros(self._linkage.dof)))
        else:
            self._move(self._linkage.random(seed=self._random))

    def _read(self) -> None:
        self._readout.content = readout(self._linkage, self._q, self._tip.value)


def readout(linkage: Linkage, q: Array, link: str) -> str:
    """The pose of a link in Markdown: position in metres, roll, pitch and yaw in degrees, quaternion."""
    frame = linkage.frame(q, link)
    position = _rounded(frame.position, 4)
    rpy = _rounded(np.degrees(frame.to_rpy()), 1)
    rows = [["", "x", "y", "z"], ["position, m", *position], ["roll pitch yaw, °", *rpy]]
    return f"{markdown_table(rows, '<>')}\n\nquaternion wxyz: {' '.join(_rounded(frame.to_quaternion(), 4))}"


def _rounded(values: Array, digits: int) -> list[str]:
    return [f"{value + 0.0:.{digits}f}" for value in np.round(values, digits)]


def limbs(linkage: Linkage) -> list[tuple[str, list[Joint]]]:
    """Groups of movable joints, in the order of q, split where the tree branches.

    Each group has the name of the first link it moves.
    """
    mover: dict[str, str] = {linkage.root: ""}  # the last movable joint before each link
    after: dict[str, str] = {}
    for joint in linkage.joints:
        mover[joint.child] = joint.name if joint.dof else mover[joint.parent]
        if joint.dof:
            after[joint.name] = mover[joint.parent]
    followers = list(after.values())
    groups: list[list[Joint]] = []
    for joint in linkage.joints:
        if joint.dof and groups and after[joint.name] and followers.count(after[joint.name]) == 1:
            groups[-1].append(joint)
        elif joint.dof:
            groups.append([joint])
    return [(group[0].child, group) for group in groups]


def scale(low: float, high: float, far: float) -> tuple[float, float, float]:
    """Minimum, maximum and step of a slider; ``far`` is used where there is no limit."""
    if math.isinf(low):
        low = -far if math.isinf(high) or high > -far else high - 2 * far
    if math.isinf(high):
        high = far if low < far else low + 2 * far
    if high <= low:
        return low, low, 1e-3
    digits = 3 - math.floor(math.log10(high - low) + 1e-9)
    step = round(10.0**-digits, max(digits, 0))
    # multiples of the step, so that a slider shows few digits
    inner = round(math.ceil(low / step - 1e-6) * step, digits), round(math.floor(high / step + 1e-6) * step, digits)
    return (*inner, step) if inner[0] < inner[1] else (low, high, high - low)


def on_scale(value: float, low: float, high: float, step: float) -> float:
    """The value that a slider shows: within its range, rounded to a tenth of its step."""
    return float(min(max(round(float(value), 1 - math.floor(math.log10(step))), low), high))
