"""JointSliders: a slider and a number for each joint of the arm, which also move it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.frame import Array
from supple.teleop.page.arm import Arm

if TYPE_CHECKING:
    from supple.teleop.page.actions import Actions

INTERVAL = 6  # drawings between two updates of the numbers
FREE = 2 * math.pi  # rad; how far the slider of a joint without limits goes
UNTOUCHED = 1.0  # s; a slider that the operator has moved is not set before: values that wait would take steps back


class JointSliders:
    """The sliders of the joints that move an end effector, in a folder of a client's panel."""

    def __init__(self, gui: Any, actions: Actions, by_user: Callable[[Callable[[Any], object]], Any]) -> None:
        """Adds the folder, folded; ``by_user`` makes a callback that passes on what a person has set."""
        self._gui, self._actions, self._by_user = gui, actions, by_user
        self._folder = gui.add_folder("move joints", expand_by_default=False)
        self._sliders: dict[int, Any] = {}
        self._factors = np.zeros(0)
        self._shown: dict[int, float] = {}
        self._touched: dict[int, float] = {}  # when the operator moved each slider
        self._drawings = 0

    def begin(self, arm: Arm) -> None:
        """Replaces the sliders by those of an arm."""
        for slider in self._sliders.values():
            slider.remove()
        linkage = arm.linkage
        self._factors = np.array([math.degrees(1.0) if unit == "rad" else 1e3 for unit in linkage.units])
        places = np.cumsum([0, *(joint.dof for joint in linkage.joints)])
        single = {int(k) for k, joint in zip(places, linkage.joints, strict=False) if joint.dof == 1}
        with self._folder:
            self._sliders = {column: self._add(arm, column) for column in map(int, arm.columns) if column in single}
        self._shown, self._touched = {}, {}
        self._folder.visible = bool(self._sliders)

    def show(self) -> None:
        """Shows the present joint values, a few times a second; a joint that is being moved shows its target."""
        self._drawings += 1
        if self._drawings % INTERVAL:
            return
        session = self._actions.session
        values: Array = (session.q if session.jogged is None else session.jogged) * self._factors
        now = time.monotonic()
        for column, slider in self._sliders.items():
            if now - self._touched.get(column, -math.inf) < UNTOUCHED:
                continue
            value = round(float(np.clip(values[column], slider.min, slider.max)), 1)
            if value != self._shown.get(column):  # else it may be what the operator has just set
                self._shown[column] = slider.value = value

    def _add(self, arm: Arm, column: int) -> Any:
        linkage, factor = arm.linkage, self._factors[column]
        turns = linkage.units[column] == "rad"
        low, high = (
            float(limit if math.isfinite(limit) else side * FREE) * factor
            for limit, side in ((linkage.lower[column], -1), (linkage.upper[column], 1))
        )
        slider = self._gui.add_slider(
            f"{linkage.names[column]}, {'°' if turns else 'mm'}",
            min=math.floor(low * 10) / 10,
            max=math.ceil(high * 10) / 10,
            step=0.1,
            initial_value=round(float(np.clip(self._actions.session.q[column] * factor, low, high)), 1),
            hint=f"moves this joint alone, within its bounds; in {'degrees' if turns else 'millimetres'}",
        )
        slider.on_update(self._by_user(lambda value: self._jog(column, float(value))))
        return slider

    def _jog(self, column: int, value: float) -> None:
        self._touched[column], self._shown[column] = time.monotonic(), value
        if not self._actions.session.source.other_drives:
            self._actions.jog(column, value / self._factors[column])
