"""Every bundled arm is whole and in the free part of the window, on a laptop and on a phone."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

pytest.importorskip("viser", reason="the teleop extra is not installed")

from supple import Frame, models
from supple.teleop.page import framing
from supple.teleop.page.arm import Arm
from supple.teleop.page.tour import HAZARDS
from supple.view.scene import FIELD_OF_VIEW

PLOTS, PANEL, MARGIN = 345, 335, 8  # pixels from the left, from the right, and all round
HANDLE = 75  # pixels of a handle and its arrows beside its middle
HEAD = 0.4  # share of a phone's window above the panel


@functools.cache
def arm_of(name: str) -> Arm:
    return Arm.of(models.get(name))


def on_screen(arm: Arm, window: framing.Window, width: int, height: int, more: Any = None) -> np.ndarray:
    """Where the arm at rest is drawn: pixels (n, 2) of its vertices, or of ``more`` points (n, 3)."""
    placed = arm.linkage.frames(arm.linkage.rest).matrix
    points = np.concatenate(
        [Frame(placed[i]).apply(np.asarray(s.vertices)) for i, solids in enumerate(arm.bodies) for s in solids]
    )
    position, middle = framing.camera(window, points.min(axis=0), points.max(axis=0), arm.size)
    away = (middle - position) / np.linalg.norm(middle - position)
    right = np.cross(away, [0, 0, 1])
    right /= np.linalg.norm(right)
    seen = ((points if more is None else more) - position) @ np.stack([right, np.cross(away, right), away], axis=1)
    scale = height / 2 / np.tan(FIELD_OF_VIEW / 2)
    return np.array([width, height]) / 2 + scale * seen[:, :2] / seen[:, 2:]


@pytest.mark.parametrize("name", models.names())
@pytest.mark.parametrize("size", [(1280, 720), (1440, 900), (1920, 1080)])
def test_on_a_laptop_the_arm_stands_between_the_panels(name: str, size: tuple[int, int]) -> None:
    width, height = size
    seen = on_screen(arm_of(name), framing.LAPTOP, width, height)
    (left, top), (right, bottom) = seen.min(axis=0), seen.max(axis=0)
    assert left > PLOTS + MARGIN
    assert right < width - PANEL - MARGIN
    assert top > MARGIN
    assert bottom < height - MARGIN
    assert abs((left + right) / 2 - width / 2) < 0.1 * width
    assert abs((top + bottom) / 2 - height / 2) < 0.08 * height


@pytest.mark.parametrize("name", [name for name in models.names() if name != "human"])
@pytest.mark.parametrize("size", [(1280, 720), (1440, 900)])
def test_a_goal_out_of_reach_is_not_behind_the_panel(name: str, size: tuple[int, int]) -> None:
    arm = arm_of(name)
    script = next(hazard for hazard in HAZARDS if hazard.name == "reach").script(arm)
    assert script is not None
    goals = [frame.position for t in np.linspace(0, script.seconds, 50) for frame in script.at(t) if frame is not None]
    seen = on_screen(arm, framing.LAPTOP, *size, more=np.array(goals))
    assert (seen > [PLOTS, 0]).all()
    assert (seen < [size[0] - PANEL - HANDLE, size[1]]).all()


@pytest.mark.parametrize("name", models.names())
@pytest.mark.parametrize("size", [(360, 740), (390, 844), (430, 932)])
def test_on_a_phone_the_arm_stands_above_the_panel(name: str, size: tuple[int, int]) -> None:
    width, height = size
    seen = on_screen(arm_of(name), framing.PHONE, width, height)
    (left, top), (right, bottom) = seen.min(axis=0), seen.max(axis=0)
    assert left > MARGIN
    assert right < width - MARGIN
    assert top > 0
    assert bottom < HEAD * height
    assert abs((left + right) / 2 - width / 2) < 0.15 * width
