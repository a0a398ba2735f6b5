"""Eight handles in a real Chromium: each of them moves its own limb, by the pointer and by keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from browser import patient
from driven_page import Browser, browsed, plainly
from supple.read.files import urdf_text
from supple.teleop.page import serve
from supple.teleop.page.arm import MAX_HANDLES

LENGTH = 0.3


def spider() -> str:
    """A body with eight legs of three joints, each of them in its own direction."""
    joint = (
        '<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{name}"/>'
        '<origin xyz="{x} 0 {z}" rpy="0 {pitch} {yaw}"/><axis xyz="{axis}"/>'
        '<limit lower="-1" upper="1" velocity="2"/></joint><link name="{name}"/>'
    )
    parts = ['<link name="body"/>']
    for k in range(MAX_HANDLES):
        yaw = 2 * np.pi * k / MAX_HANDLES
        for name, parent, x, axis, pitch in (
            (f"hip{k}", "body", 0.0, "0 0 1", 0.0),
            (f"thigh{k}", f"hip{k}", 0.1, "0 1 0", -0.6),
            (f"shin{k}", f"thigh{k}", LENGTH, "0 1 0", 1.4),
        ):
            turned = yaw if parent == "body" else 0.0
            parts.append(joint.format(name=name, parent=parent, x=x, z=0, yaw=turned, pitch=pitch, axis=axis))
        parts.append(
            f'<joint name="ankle{k}" type="fixed"><parent link="shin{k}"/><child link="foot{k}"/>'
            f'<origin xyz="{LENGTH} 0 0"/></joint><link name="foot{k}"/>'
        )
    return f'<robot name="spider">{"".join(parts)}</robot>'


@browsed
def test_each_of_eight_handles_moves_its_own_limb(chromium: Any, tmp_path: Path) -> None:
    linkage = urdf_text(spider())
    feet = [f"foot{k}" for k in range(MAX_HANDLES)]
    with patient(), serve(linkage, feet, port=0, folder=tmp_path) as page:
        plainly(page)
        driver = Browser(page, chromium)
        try:
            driver.tab.get_by_text("method", exact=True).wait_for()
            assert driver.until(lambda: len(page._clients[driver.id][1]._handles) == MAX_HANDLES)
            assert driver.says("following")
            driver.tab.mouse.click(450, 20)  # the scene has the keys
            for k in range(MAX_HANDLES):
                before = np.array([driver.hand(j) for j in range(MAX_HANDLES)])
                driver.tab.keyboard.press("u")
                assert driver.until(lambda k=k, before=before: driver.hand(k)[2] > before[k, 2] + 2e-3), k
                assert driver.still()
                moved = np.array([driver.hand(j) for j in range(MAX_HANDLES)]) - before
                assert np.abs(np.delete(moved, k, axis=0)).max() < 1e-4, k
                driver.tab.keyboard.press("h")  # the next handle
            nearest = max(range(MAX_HANDLES), key=lambda k: driver.on_screen(driver.handle(k).position)[1])
            before = np.array([driver.hand(j) for j in range(MAX_HANDLES)])
            driver.drag(lambda: driver.on_screen(driver.handle(nearest).position), np.array((0, -30)))
            assert driver.still()
            moved = np.linalg.norm(np.array([driver.hand(j) for j in range(MAX_HANDLES)]) - before, axis=1)
            assert moved[nearest] > 0.01
            assert np.delete(moved, nearest).max() < 1e-4
            assert driver.complaints == []
        finally:
            driver.context.close()
