"""Keys: the keyboard of a browser moves a handle, a little with each press, repeatedly while a key is held."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import numpy as np

from supple.frame import Array

# key, name, direction in the view: right, away, up. W, A, S, D, Q, E and the arrows move the camera.
KEYS = (
    ("L", "right", (1, 0, 0)),
    ("J", "left", (-1, 0, 0)),
    ("I", "away", (0, 1, 0)),
    ("K", "nearer", (0, -1, 0)),
    ("U", "up", (0, 0, 1)),
    ("O", "down", (0, 0, -1)),
)


GRIPPER_KEYS = (("N", "close the gripper", -0.1), ("M", "open the gripper", 0.1))
"""Key, name, and how far a press moves the gripper."""


def add(
    client: Any,
    nudge: Callable[[Array, bool], None],
    switch: Callable[[], None],
    grip: Callable[[float], None],
) -> list[Any]:
    """Registers the keys with a client of viser.

    ``nudge`` is called with a direction (3,) in the world and whether to turn, ``switch`` to use the next handle,
    ``grip`` with the change of the gripper.
    """

    def move(direction: tuple[int, int, int], turn: bool) -> None:
        nudge(to_world(client.camera, direction), turn)

    made = []
    for key, word, view_direction in KEYS:
        for turn in (False, True):
            label = f"turn the handle about {_axis(view_direction)}" if turn else f"move the handle {word}"
            command = client.gui.add_command(label, hotkey=key, modifier="shift" if turn else None)
            command.on_trigger(_in_order(partial(move, view_direction, turn)))
            made.append(command)
    for key, label, change in GRIPPER_KEYS:
        command = client.gui.add_command(label, hotkey=key)
        command.on_trigger(_in_order(partial(grip, change)))
        made.append(command)
    command = client.gui.add_command("switch to the next handle", hotkey="H")
    command.on_trigger(_in_order(switch))
    return [*made, command]


def _in_order(act: Callable[[], None]) -> Callable[[Any], Coroutine[Any, Any, None]]:
    """A callback. Viser calls coroutines in the order of the key presses, but functions in threads, in any order."""

    async def on_trigger(_: Any) -> None:
        act()

    return on_trigger


def to_world(camera: Any, direction: tuple[int, int, int]) -> Array:
    """The direction (3,) in the world of right, away and up in the view; right and away are horizontal."""
    away = np.array(camera.look_at, dtype=float) - np.array(camera.position, dtype=float)
    away[2] = 0.0
    length = float(np.linalg.norm(away))
    away = away / length if length > 1e-9 else np.array([0.0, 1.0, 0.0])
    right = np.cross(away, [0.0, 0.0, 1.0])
    world: Array = direction[0] * right + direction[1] * away + direction[2] * np.array([0.0, 0.0, 1.0])
    return world


def _axis(direction: tuple[int, int, int]) -> str:
    sign = "-" if min(direction) < 0 else "+"
    return sign + ("right", "away", "up")[int(np.argmax(np.abs(direction)))]
