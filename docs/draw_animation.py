"""Draws the pictures of the page on animation, one in a headless Chromium: ``python docs/draw_animation.py``."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image, ImageSequence
from playwright.sync_api import sync_playwright

from supple import Capsule, Frame, Geometry, Link, Linkage, Motion
from supple.animate import Retarget, load_clip
from supple.animate.pose_targets import shortest_turn
from supple.frame import Array
from supple.models import g1, human
from supple.view import animator
from supple.view.motion import animated_picture

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "benchmarks"))
from figures.clips import reach_with_steps, turn_on_the_spot  # noqa: E402

CLIP = HERE.parent / "tests" / "data" / "cmu_01_01.bvh"
SOFTWARE = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PATIENCE = 120_000  # milliseconds
INK, SOFT, LEFT, RIGHT = "#1a2a3a", "#9aa7b4", "#c8553d", "#2f6f9f"


def seen(points: Array, turn: float) -> Array:
    """Points (..., 3) as a camera sees them that looks a little down from a direction, ``turn`` from x, in radians."""
    c, s, tilt = np.cos(turn), np.sin(turn), 0.18
    right = points @ np.array([-s, c, 0.0])
    deep = points @ np.array([c, s, 0.0])
    return np.stack([right, points[..., 2] - tilt * deep], axis=-1)


def dressed(robot: Linkage) -> Linkage:
    """A G1 with round shapes: its file has meshes alone, which these pictures do not draw."""
    shell, dark = (0.80, 0.82, 0.85, 1.0), (0.20, 0.22, 0.26, 1.0)

    def capsule(a: list[float], b: list[float], radius: float, colour: tuple[float, float, float, float]) -> Geometry:
        start, way = np.array(a), np.array(b) - np.array(a)
        frame = Frame.at(start + way / 2, shortest_turn(np.array([0.0, 0.0, 1.0]), way))
        return Geometry(Capsule(radius, float(np.linalg.norm(way))), frame, colour)

    shapes = {
        "torso_link": [
            capsule([0, 0, 0.06], [0, 0, 0.24], 0.085, shell),
            capsule([0, -0.07, 0.24], [0, 0.07, 0.24], 0.06, shell),
            capsule([0.01, 0, 0.40], [0.02, 0, 0.44], 0.07, dark),
        ],
        "pelvis": [capsule([0, -0.05, -0.05], [0, 0.05, -0.05], 0.07, dark)],
    }
    bones = {
        "hip_pitch": 0.05,
        "hip_roll": 0.06,
        "hip_yaw": 0.06,
        "knee": 0.05,
        "shoulder_yaw": 0.042,
        "elbow": 0.036,
        "wrist_roll": 0.034,
    }
    for joint in robot.joints:
        _, _, part = joint.parent.removesuffix("_link").partition("_")
        if part in bones and joint.dof:
            end = (robot.frame(robot.rest, joint.parent).inverse() @ robot.frame(robot.rest, joint.child)).position
            piece = capsule([0, 0, 0], end.tolist(), bones[part], dark if part in ("knee", "elbow") else shell)
            shapes.setdefault(joint.parent, []).append(piece)
    for side in ("left", "right"):
        shapes[f"{side}_ankle_roll_link"] = [capsule([-0.04, 0, -0.02], [0.11, 0, -0.02], 0.022, dark)]
        shapes[f"{side}_wrist_yaw_link"] = [capsule([0.02, 0, 0], [0.10, 0, 0], 0.03, dark)]
    links = [Link(link.name, tuple(shapes.get(link.name, ()))) for link in robot.links]
    return Linkage(robot.name, robot.joints, links, robot.base)


def draw(axes: object, linkage: Linkage, q: Array, turn: float, height: float) -> None:
    """A pose as lines between joints, at the middle of its axes, on a line for the ground."""
    frames = linkage.frames(q)
    root = next(joint.child for joint in linkage.joints if joint.dof)
    middle = np.array(frames[root].position) * [1, 1, 0]
    for joint in linkage.joints:
        sensor = not joint.dof and any(word in joint.child for word in ("d435", "imu", "logo"))
        if sensor or (joint.parent == linkage.root and joint.dof == 6):
            continue
        ends = np.stack([frames[joint.parent].position, frames[joint.child].position]) - middle
        name = joint.child.lower()
        side = LEFT if name.startswith(("left", "l")) and "lower" not in name else None
        side = RIGHT if name.startswith(("right", "r")) and "root" not in name else side
        line = seen(ends, turn)
        axes.plot(line[:, 0], line[:, 1], color=side or INK, lw=2.2, solid_capstyle="round")  # type: ignore[attr-defined]
    ring = np.linspace(0, 2 * np.pi, 60)
    floor = seen(0.35 * height * np.stack([np.cos(ring), np.sin(ring), 0 * ring], axis=-1), turn)
    axes.fill(floor[:, 0], floor[:, 1], color="#eef2f5", zorder=0)  # type: ignore[attr-defined]
    axes.set(xlim=(-0.55 * height, 0.55 * height), ylim=(-0.15 * height, 1.3 * height), aspect="equal")  # type: ignore[attr-defined]
    axes.axis("off")  # type: ignore[attr-defined]


def sheet(rows: list[tuple[str, Motion, float]], times: Array, turn: float, name: str) -> None:
    """A contact sheet: a row for each motion, a column for each time."""
    figure = Figure(figsize=(1.55 * len(times), 2.25 * len(rows)), layout="constrained")
    grid = figure.subplots(len(rows), len(times), squeeze=False)
    for axes, (label, motion, height) in zip(grid, rows, strict=True):
        for one, time in zip(axes, times, strict=True):
            draw(one, motion.linkage, motion.at(time), turn, height)
        axes[0].set_title(label, loc="left", size=10, color=INK)
    for one, time in zip(grid[-1], times, strict=True):
        one.text(0, -0.14 * rows[-1][2], f"{time:.2f} s", ha="center", va="top", size=8, color=SOFT)
    figure.savefig(HERE / "images" / name, dpi=110)


def retargeted(clip: Motion, times: Array, turn: float, name: str) -> None:
    """The sheet of a clip, and of the human figure and G1 that move as it does."""
    rows = [("the clip", clip, 1.6)]
    rows += [
        (target.name, Retarget(clip.linkage, target).motion(clip), size)
        for target, size in ((human(), 1.7), (g1(), 1.25))
    ]
    sheet(rows, times, turn, name)


def side_by_side(clip: Motion, begin: float, end: float, turn: float, name: str) -> None:
    """An animated picture of a clip, and of the human figure and G1 that move as it does."""
    motions = [clip, *(Retarget(clip.linkage, target).motion(clip) for target in (human(), dressed(g1())))]
    columns = []
    for motion in motions:
        first, last = (float(motion.times[int(np.abs(motion.times - t).argmin())]) for t in (begin, end))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "one.png"
            animated_picture(motion.part(first, last), file, rate=20, height=300, turn=turn, progress=False)
            with Image.open(file) as picture:
                columns.append([frame.convert("RGB") for frame in ImageSequence.Iterator(picture)])
    pictures = []
    for row in zip(*columns, strict=False):
        whole = Image.new("RGB", (sum(one.width for one in row), 300))
        left = 0
        for one in row:
            whole.paste(one, (left, 0))
            left += one.width
        pictures.append(whole.quantize(64))
    path = HERE / "images" / name
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=50, loop=0)


def page() -> None:
    """The page of `supple animate human`, with a pose of some handles, in a browser."""
    figure = human()
    with animator.serve(figure, port=0) as served, sync_playwright() as playwright:
        path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        browser = playwright.chromium.launch(executable_path=path, args=SOFTWARE)
        tab = browser.new_page(viewport={"width": 1180, "height": 740})
        tab.goto(served.url)
        tab.get_by_text("key pose").first.wait_for(timeout=PATIENCE)

        def pose(time: float, moves: dict[str, list[float]]) -> None:
            served._scrub(time)
            for handle, way in moves.items():
                start = served.rig.at(handle)
                for part in np.linspace(0, 1, 30):
                    served._drag(handle, "update", Frame.at(start.position + part * np.array(way), start))
            served._key("key pose")

        pose(0.0, {})
        pose(0.8, {"right hand": [0.45, -0.2, 0.5], "pelvis": [0.0, 0.06, -0.08]})
        pose(1.6, {"right hand": [0.1, -0.25, 0.3], "gaze": [0.0, -0.5, 0.2]})
        served._scrub(0.8)
        served._drag("right hand", "update", served.rig.at("right hand"))
        served._select("right hand")
        tab.wait_for_timeout(8000)  # a software renderer fades in slowly
        tab.add_style_tag(content=".mantine-Notifications-root { display: none }")
        tab.screenshot(path=HERE / "images" / "animate-page.png", timeout=PATIENCE)
        browser.close()


def main() -> None:
    """Draw all."""
    side_by_side(load_clip(CLIP), 1.2, 2.9, 0.5, "retarget.gif")
    page()
    retargeted(load_clip(CLIP), np.linspace(1.2, 2.35, 9), 0.5, "retarget-jump.png")
    retargeted(reach_with_steps(), np.linspace(0.0, 5.5, 9), 1.2, "retarget-reach.png")
    retargeted(turn_on_the_spot(), np.linspace(0.0, 4.2, 9), 0.6, "retarget-turn.png")


if __name__ == "__main__":
    main()
