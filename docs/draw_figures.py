"""Takes the pictures of the page on figures from the viewer in a headless Chromium: ``python docs/draw_figures.py``."""

from __future__ import annotations

import io
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw
from playwright.sync_api import sync_playwright

import supple
from supple import Frame, Kind, Linkage, Motion

IMAGES = Path(__file__).parent / "images"
CLIP = Path(__file__).parents[1] / "tests" / "data" / "cmu_01_01.bvh"
SOFTWARE = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PATIENCE = 120_000  # milliseconds
PANEL, ASIDE = 410, 0.16  # width of the viewer's panel; how far left of the middle it draws, in heights of the page
SIDE = 420  # pixels of the page


def photographs(browser: Any, linkage: Linkage, poses: Sequence[Any]) -> list[Any]:
    """Square pictures of a linkage at joint values (dof,), without the panel, each when it no longer changes."""
    squares = []
    with supple.view.serve(linkage, port=0) as viewer:
        page = browser.new_page(viewport={"width": SIDE + 2 * PANEL, "height": SIDE}, device_scale_factor=1.5)
        page.goto(viewer.url)
        page.get_by_text("go to").wait_for(timeout=PATIENCE)
        for q in poses:
            viewer.q = np.asarray(q)
            last: Any = None
            while True:
                page.wait_for_timeout(700)
                # a notice that pixels are drawn without a graphics card, which no reader's browser will show
                page.add_style_tag(content=".mantine-Notifications-root { display: none }")
                shot = Image.open(io.BytesIO(page.screenshot(timeout=PATIENCE))).convert("RGB")
                if last is not None and np.array_equal(np.asarray(shot), np.asarray(last)):
                    break
                last = shot
            left = round(shot.width / 2 - (0.5 + ASIDE) * shot.height)
            squares.append(shot.crop((left, 0, left + shot.height, shot.height)))
        page.close()
    return squares


def human_poses() -> tuple[Linkage, list[Any]]:
    """The human figure at rest, with arms sideways, reaching up on one leg, and sitting."""
    human = supple.models.human()

    def pose(height: float, bends: dict[str, float], **turns: Frame) -> Any:
        values: dict[str, Any] = {"root": [0, 0, height, 0, 0, 0], **bends}
        for name, turn in turns.items():
            values[name] = (Frame.at([0, 0, 0], human.joint(name).location).inverse() @ turn).to_rotvec()
        return human.q(values)

    def about(axis: str, degrees: float) -> Frame:
        return Frame.turn(np.eye(3)["xyz".index(axis)], np.radians(degrees))

    assert all(human.joint(name).kind is Kind.BALL for name in ("left_shoulder", "left_hip"))
    stand = float(human.rest[2])
    straight = {"left_elbow": 0.05, "right_elbow": 0.05}
    sideways = pose(stand, straight, left_shoulder=Frame(), right_shoulder=Frame())
    reach = pose(
        stand,
        {"left_elbow": 0.7, "left_knee": 1.2},
        left_collar=about("x", 20),
        left_shoulder=about("z", -55) @ about("x", 25),
        right_shoulder=about("x", 45),
        left_hip=about("y", -55),
        waist=about("z", -12),
        head=about("y", -20),
    )
    sit = pose(
        0.545 * stand,
        {"left_knee": 1.5, "right_knee": 1.5, "left_elbow": 0.9, "right_elbow": 0.9},
        left_hip=about("y", -88),
        right_hip=about("y", -88),
        left_ankle=Frame(),
        right_ankle=Frame(),
        left_shoulder=about("y", -35) @ about("x", -78),
        right_shoulder=about("y", -35) @ about("x", 78),
        waist=about("y", 8),
    )
    return human, [human.rest, sideways, reach, sit]


def clip_poses(count: int) -> tuple[Linkage, list[Any], list[float]]:
    """Poses of the clip at equal times, with the hips above the origin, and the ground where the viewer draws it."""
    clip = Motion.load(CLIP, up="y", unit=0.056444)
    times = np.linspace(clip.start + 1, clip.end - 1, count)
    q = clip.at(times)
    q[:, [0, 2]] = 0.0  # x and z of the file are along the ground; y is the height
    q[:, 1] += clip.linkage.frames(clip.linkage.rest).matrix[:, 2, 3].min()  # the viewer draws it below the rest pose
    return clip.linkage, list(q), times.tolist()


def sheet(squares: Sequence[Any], columns: int, captions: Sequence[str] = ()) -> Any:
    """One picture of several, in rows, with captions."""
    side = squares[0].width
    rows = -(-len(squares) // columns)
    whole = Image.new("RGB", (side * columns, side * rows), "white")
    for i, square in enumerate(squares):
        whole.paste(square, (side * (i % columns), side * (i // columns)))
    pen = ImageDraw.Draw(whole)
    for i, caption in enumerate(captions):
        pen.text((side * (i % columns) + 18, side * (i // columns) + 14), caption, fill=(90, 90, 90), font_size=26)
    return whole


def save(picture: Any, name: str, width: int) -> None:
    """Write a picture that many pixels wide."""
    picture = picture.resize((width, round(picture.height * width / picture.width)), Image.Resampling.LANCZOS)
    picture.save(IMAGES / name, optimize=True)
    print(f"{name}: {picture.width} x {picture.height}, {(IMAGES / name).stat().st_size // 1024} kB")


def main() -> None:
    """Take both pictures."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=SOFTWARE)
        human, poses = human_poses()
        save(sheet(photographs(browser, human, poses), 4), "human.png", 1600)
        figure, q, times = clip_poses(8)
        save(sheet(photographs(browser, figure, q), 4, [f"{t:.1f} s" for t in times]), "clip.png", 1600)
        browser.close()


if __name__ == "__main__":
    main()
