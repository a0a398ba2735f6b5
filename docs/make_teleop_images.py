"""Takes the pictures of the tele-operation docs in a headless Chromium.

python docs/make_teleop_images.py [stills] [film]
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

import supple
from supple.teleop import page as pages
from supple.teleop.page import heartbeat, panel

IMAGES = Path(__file__).parent / "images"
SOFTWARE = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PATIENCE = 120_000  # milliseconds
LAPTOP, PHONE = (1280, 720), (390, 844)
# a notice that pixels are drawn without a graphics card, and how well the loop does meanwhile
QUIET = ".mantine-Notifications-root, [data-foot] { display: none }"
FILM, STEP = (900, 560), 30  # the size of a frame in the page, and of how many ticks one is drawn
FILM_AWAY, FILM_MIDDLE, FILM_FAR, FILM_ASIDE = (0.25, 0.93, 0.3), (0.75, 0.0, 0.4), 2.8, 0.69


class Studio:
    """A page and a browser that drives it. The ticks of its loop are stored and drawn later, one by one."""

    def __init__(self, browser: Any, linkage: supple.Linkage, size: tuple[int, int]) -> None:
        """Open the page and wait for its handle."""
        self._folder = tempfile.TemporaryDirectory()
        self.page = pages.serve(linkage, port=0, folder=self._folder.name)
        self.tab = browser.new_page(
            viewport={"width": size[0], "height": size[1]}, device_scale_factor=1.5 if size != FILM else 1.0
        )
        self.tab.goto(self.page.url)
        self.tab.get_by_text("method", exact=True).wait_for(timeout=PATIENCE)
        self.tab.add_style_tag(content=QUIET)
        self.actions, self.ticks = self.page._actions, []
        self.tab.wait_for_timeout(3000)

    def look(self, away: Any, middle: Any, far: float, aside: float) -> None:
        """Put the camera ``far`` metres from a point, and that point ``aside`` metres left of the middle."""
        away = np.array(away) / np.linalg.norm(away)
        right = np.cross([0.0, 0.0, 1.0], away)
        at = np.array(middle) + aside * right / np.linalg.norm(right)
        for client in self.page._server.get_clients().values():
            client.camera.position, client.camera.look_at = at + far * away, at
        self.tab.wait_for_timeout(1000)

    def hazard(self, name: str, method: str = "supple", seconds: float = 60.0) -> None:
        """Play a hazard of the tour, or part of it, and store its ticks."""
        write, kept = self.page.session.write, []
        self.actions.choose_method(method)
        self.page.session.write = lambda tick: (kept.append(tick), write(tick))[1]  # type: ignore[method-assign]
        self.actions.tour(name)
        self._said = self.actions._message[:2]
        end = time.monotonic() + seconds
        while self.page.session.source.scripted and time.monotonic() < end:
            self.tab.wait_for_timeout(50)
        self.page.session.write = write  # type: ignore[method-assign]
        self.ticks = [tick for tick in kept if not tick.held]  # without the way to the start
        self.actions.end_script()
        self.actions.update = lambda: None  # from now on nothing is drawn but what `show` shows

    def show(self, number: int) -> None:
        """Draw a stored tick, with its handles and texts."""
        tick = self.ticks[number]
        self.actions.show_message(*self._said, None)
        for handle, frame in zip(self.page.session.source.handles, tick.goals, strict=True):
            handle.place(supple.Frame(frame))
        self.actions.draw(tick)

    def photograph(self) -> Any:
        """The tab, when it no longer changes."""
        last = b""
        while True:
            self.tab.wait_for_timeout(150)
            shot = self.tab.screenshot(timeout=PATIENCE, animations="disabled")
            if shot == last:
                return Image.open(io.BytesIO(shot)).convert("RGB")
            last = shot

    def still(self, seconds: float) -> Any:
        """The picture at a time of the stored ticks, in seconds, with the earlier ticks in the plots."""
        self.actions.plots.begin(self.page.session.arm)
        end = next(k for k, tick in enumerate(self.ticks) if tick.t - self.ticks[0].t >= seconds)  # some are skipped
        for number in range(0, end, 10):
            self.show(number)
        self.actions._frames = 0
        self.show(end)
        self.tab.wait_for_timeout(500)
        return self.photograph()

    def close(self) -> None:
        """Close the page."""
        self.tab.close()
        self.page.close()
        self._folder.cleanup()


def save(picture: Any, name: str, width: int) -> None:
    """Write a picture that many pixels wide."""
    picture = picture.resize((width, round(picture.height * width / picture.width)), Image.Resampling.LANCZOS)
    picture.save(IMAGES / name, optimize=True)
    print(f"{name}: {picture.width} x {picture.height}, {(IMAGES / name).stat().st_size // 1024} kB")


def stills(browser: Any) -> None:
    """The still pictures."""
    studio = Studio(browser, supple.models.panda(), LAPTOP)
    studio.hazard("reach", seconds=7.0)
    save(studio.still(3.4), "teleop.png", 1400)
    studio.close()
    studio = Studio(browser, supple.models.panda(), LAPTOP)
    studio.actions.show_ellipsoids(True)
    studio.hazard("limit", seconds=8.0)
    save(studio.still(3.8), "teleop-limit.png", 1400)
    studio.close()
    studio = Studio(browser, supple.models.baxter(), LAPTOP)
    studio.hazard("jump", seconds=5.0)
    save(studio.still(1.1), "teleop-two.png", 1400)
    studio.close()
    studio = Studio(browser, supple.models.panda(), PHONE)
    studio.hazard("reach", seconds=7.0)
    save(studio.still(3.4), "teleop-phone.png", 500)
    studio.close()


def film(browser: Any) -> None:
    """The animation: past reach and back. The arm reaches to the left, away from the panel."""
    studio = Studio(browser, supple.models.panda(), FILM)
    studio.actions.plots.panel.minimize()
    studio.look(FILM_AWAY, FILM_MIDDLE, FILM_FAR, FILM_ASIDE)
    studio.hazard("reach")
    studio.show(0)
    studio.photograph()
    frames = []
    for number in range(0, min(len(studio.ticks), round(300 * 6.4)), STEP):
        studio.actions._frames = 0
        studio.show(number)
        studio.tab.wait_for_timeout(120)
        shot = studio.tab.screenshot(timeout=PATIENCE, animations="disabled")
        frames.append(Image.open(io.BytesIO(shot)).convert("RGB"))
    studio.close()
    colours = _palette(frames)
    drawn = []
    for frame in frames:  # exactly the nearest colour: Pillow's own choice tints greys
        pixels, place = np.unique(np.asarray(frame).reshape(-1, 3), axis=0, return_inverse=True)
        indices = _nearest(colours, pixels)[place].reshape(frame.height, frame.width)
        image = Image.fromarray(indices.astype(np.uint8), "P")
        image.putpalette(colours.astype(np.uint8).tobytes())
        drawn.append(image)
    path = IMAGES / "teleop.gif"
    drawn[0].save(path, save_all=True, append_images=drawn[1:], duration=round(1000 * STEP / 300), loop=0)
    print(f"{path.name}: {len(drawn)} frames, {path.stat().st_size // 1024} kB")


def _palette(frames: list[Any]) -> Any:
    """Colours (n, 3) for all frames: means of groups of their pixels, in which rare colours count more."""
    pixels = np.concatenate([np.asarray(frame).reshape(-1, 3) for frame in frames[::4]])
    some, counts = np.unique(pixels, axis=0, return_counts=True)
    weights = counts**0.5
    fixed = [[int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in panel.COLOURS.values()]
    order = np.random.default_rng(0).choice(len(some), 240, replace=False, p=weights / weights.sum())
    colours = np.concatenate([fixed, some[order]]).astype(float)
    for _ in range(12):
        group = _nearest(colours, some)
        total = np.bincount(group, weights, len(colours))
        for k in range(3):
            mean = np.bincount(group, weights * some[:, k], len(colours)) / np.maximum(total, 1e-9)
            colours[:, k] = np.where(total > 0, mean, colours[:, k])
        colours[: len(fixed)] = fixed
    return np.round(colours)


def _nearest(colours: Any, pixels: Any) -> Any:
    """For each pixel (n, 3) the index (n,) of its nearest colour."""
    parts = np.array_split(pixels.astype(float), len(pixels) // 10_000 + 1)
    return np.concatenate([np.argmin((colours**2).sum(1) - 2 * part @ colours.T, axis=1) for part in parts])


def main() -> None:
    """Take all pictures."""
    IMAGES.mkdir(exist_ok=True)
    heartbeat.PATIENCE = heartbeat.SEAT_SECONDS = PATIENCE / 1000  # a page that is drawn by the processor is late
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=SOFTWARE)
        for take in (stills, film):
            if take.__name__ in (sys.argv[1:] or [take.__name__]):
                take(browser)
        browser.close()


if __name__ == "__main__":
    main()
