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
from supple.textbook import paper

IMAGES = Path(__file__).parent / "images"
SOFTWARE = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PATIENCE = 120_000  # milliseconds
PANEL = 410  # width of the viewer's panel on the right, in the page's pixels
ASIDE = 0.16  # how far left of the middle the viewer puts a linkage to make room for it, in heights of the page


def photograph(browser: Any, linkage: supple.Linkage, q: ArrayLike, size: tuple[int, int], frames: bool = False) -> Any:
    """The page of the viewer at joint values q (dof,), once it has stopped changing."""
    with supple.view.serve(linkage, port=0, frames=frames) as viewer:
        viewer.q = np.asarray(q)
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
    whole = Image.new("RGB", (sum(square.width for square in squares), squares[0].height))
    for i, square in enumerate(squares):
        whole.paste(square, (i * square.width, 0))
    return whole


def save(picture: Any, name: str, width: int) -> None:
    """Write a picture that many pixels wide."""
    picture = picture.resize((width, round(picture.height * width / picture.width)), Image.Resampling.LANCZOS)
    picture.save(IMAGES / name, optimize=True)
    print(f"{name}: {picture.width} x {picture.height}, {(IMAGES / name).stat().st_size // 1024} kB")


def main() -> None:
    """Take all pictures again."""
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
        save(strip(browser, box, 480), "stock.png", 1600)
        browser.close()


if __name__ == "__main__":
    main()
