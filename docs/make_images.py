"""Takes the pictures of the docs, most from the real viewer in a headless Chromium: ``python docs/make_images.py``."""

from __future__ import annotations

import io
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import draw_search
import draw_wall
import numpy as np
from numpy.typing import ArrayLike
from PIL import Image
from playwright.sync_api import sync_playwright

import supple
from supple import Frame, Goal
from supple.textbook import paper
from supple.view import solids

IMAGES = Path(__file__).parent / "images"
SOFTWARE = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PATIENCE = 120_000  # milliseconds
PANEL = 410  # width of the viewer's panel on the right, in the page's pixels
ASIDE = 0.16  # how far left of the middle the viewer puts a linkage to leave space for it, in heights of the page


def photograph(
    browser: Any, linkage: supple.Linkage, q: ArrayLike, size: tuple[int, int], frames: bool = False, box: Any = None
) -> Any:
    """The page of the viewer at joint values q (dof,), when it no longer changes; with ``box``, another solid."""
    with supple.view.serve(linkage, port=0, frames=frames) as viewer:
        viewer.q = np.asarray(q)
        if box is not None:
            viewer._server.scene.add_mesh_trimesh("/box", box, receive_shadow=False)
        page = browser.new_page(viewport={"width": size[0], "height": size[1]}, device_scale_factor=1.5)
        page.goto(viewer.url)
        page.get_by_text("go to").wait_for(timeout=PATIENCE)
        last: Any = None
        while True:
            page.wait_for_timeout(1000)
            # a notice that pixels are drawn without a graphics card, which no reader's browser will show
            page.add_style_tag(content=".mantine-Notifications-root { display: none }")
            shot = Image.open(io.BytesIO(page.screenshot(timeout=PATIENCE))).convert("RGB")
            if last is not None and np.array_equal(np.asarray(shot), np.asarray(last)):
                break
            last = shot
        page.close()
    return shot


def strip(browser: Any, linkages: Sequence[supple.Linkage], side: int) -> Any:
    """Square pictures of linkages at rest, side by side, without the panel."""
    squares = []
    for linkage in linkages:
        shot = photograph(browser, linkage, linkage.rest, (side + 2 * PANEL, side))
        left = round(shot.width / 2 - (0.5 + ASIDE) * shot.height)
        squares.append(shot.crop((left, 0, left + shot.height, shot.height)))
    return side_by_side(squares)


def side_by_side(squares: Sequence[Any]) -> Any:
    """One picture of several of equal height."""
    whole = Image.new("RGB", (sum(square.width for square in squares), squares[0].height))
    for i, square in enumerate(squares):
        whole.paste(square, (i * square.width, 0))
    return whole


def carry_a_box(browser: Any) -> Any:
    """Baxter with a box of 60 cm in both hands at three places, side by side: examples/19_carry_a_box.py."""
    robot, left, right = supple.models.baxter(), "left_gripper", "right_gripper"
    left_grip = Frame.at([0, 0.3, 0], Frame.turn([1, 0, 0], np.pi / 2) @ Frame.turn([0, 0, 1], np.pi / 2))
    right_grip = Frame.at([0, -0.3, 0], Frame.turn([1, 0, 0], -np.pi / 2) @ Frame.turn([0, 0, 1], -np.pi / 2))
    hold = Goal(left, right_grip.inverse() @ left_grip, relative_to=right)
    squares, q = [], None
    for place, turn in (((0.55, 0.05, 0.35), 0.2), ((0.5, 0, 0.2), 0.0), ((0.5, -0.05, 0.02), -0.2)):
        at = Frame.at(place, Frame.turn([0, 0, 1], turn))
        seeds = robot.random(60, seed=0) if q is None else q
        found = supple.solve(robot, [hold, Goal(right, at @ right_grip, priority=1)], seeds)
        q = found.q if q is not None else found.q[int(np.argmax(np.where(found.arrived, _room(robot, found.q), -1)))]
        box = solids.slab((0.3, 0.6, 0.25), (0.8, 0.6, 0.36, 1.0), (0, 0, 1)).apply_transform(at.matrix)
        shot = photograph(browser, robot, q, (480 + 2 * PANEL, 480), box=box)
        begin = round(shot.width / 2 - (0.5 + ASIDE) * shot.height)
        squares.append(shot.crop((begin, 0, begin + shot.height, shot.height)))
    return side_by_side(squares)


def _room(robot: supple.Linkage, q: Any) -> Any:
    """The least distance of a joint of the arms from its limits (...), at joint values q (..., dof)."""
    arms = [i for i, name in enumerate(robot.names) if name.startswith(("left_", "right_"))]
    return np.minimum(q - robot.lower, robot.upper - q)[..., arms].min(axis=-1)


def save(picture: Any, name: str, width: int) -> None:
    """Write a picture that many pixels wide."""
    picture = picture.resize((width, round(picture.height * width / picture.width)), Image.Resampling.LANCZOS)
    picture.save(IMAGES / name, optimize=True)
    print(f"{name}: {picture.width} x {picture.height}, {(IMAGES / name).stat().st_size // 1024} kB")


def main() -> None:
    """Take all pictures."""
    IMAGES.mkdir(exist_ok=True)
    paper.save(IMAGES / "paper.png")
    draw_search.main()
    draw_wall.main()
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    panda, box = supple.models.panda(), [supple.models.get(name) for name in ("ur5", "so101", "baxter", "g1")]
    q = panda.q(
        panda_joint1=-0.3,
        panda_joint2=-0.7,
        panda_joint3=0.25,
        panda_joint4=-2.3,
        panda_joint6=1.8,
        panda_finger_joint1=0.04,
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=SOFTWARE)
        save(photograph(browser, panda, q, (1180, 640)), "panda.png", 1400)
        save(strip(browser, box, 480), "models.png", 1600)
        save(carry_a_box(browser), "carry-a-box.png", 1600)
        browser.close()


if __name__ == "__main__":
    main()
