"""Keys: the keyboard of a browser moves a handle, a little with each press and on and on while a key is held."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from supple.frame import Array

# key, what it does, which way as the eye sees it: right, away, up. W, A, S, D, Q, E and the arrows move the eye itself.
KEYS = (
    ("L", "right", (1, 0, 0)),
    ("J", "left", (-1, 0, 0)),
    ("I", "away", (0, 1, 0)),
    ("K", "nearer", (0, -1, 0)),
    ("U", "up", (0, 0, 1)),
    ("O", "down", (0, 0, -1)),
)


def add(client: Any, nudge: Callable[[Array, bool], None], other: Callable[[], None]) -> list[Any]:
    """Register the keys with a client of viser; ``nudge`` is told which way (3,) in the world, and whether to turn."""
    made = []
    for key, word, way in KEYS:
        for turn in (False, True):
            label = f"turn the hand about {_axis(way)}" if turn else f"move the hand {word}"
            command = client.gui.add_command(label, hotkey=key, modifier="shift" if turn else None)
            command.on_trigger(lambda _, way=way, turn=turn: nudge(seen(client.camera, way), turn))
            made.append(command)
    command = client.gui.add_command("take the other hand", hotkey="H")
    command.on_trigger(lambda _: other())
    return [*made, command]


def seen(camera: Any, way: tuple[int, int, int]) -> Array:
    """The direction (3,) in the world that is right, away or up for the eye; level, but for up."""
    away = np.array(camera.look_at, dtype=float) - np.array(camera.position, dtype=float)
    away[2] = 0.0
    length = float(np.linalg.norm(away))
    away = away / length if length > 1e-9 else np.array([0.0, 1.0, 0.0])
    right = np.cross(away, [0.0, 0.0, 1.0])
    direction: Array = way[0] * right + way[1] * away + way[2] * np.array([0.0, 0.0, 1.0])
    return direction


def _axis(way: tuple[int, int, int]) -> str:
    return f"{'-' if min(way) < 0 else '+'}{('right', 'away', 'up')[int(np.argmax(np.abs(way)))]}"
