"""Figures: inverse kinematics of a human figure, and clips retargeted to it and to a robot, beside mink.

    python benchmarks/figures.py [--sets N] [--frames N] [--clip FILE.bvh | --other | --seed N] [--skip-mink]
        [--stream] [--json FILE]

Times are process times, the minimum of some rounds. mink solves a quadratic program for each frame: once a frame, and
as often as its errors change (at most ten times), as retargeting programs do. It has the same tasks: frames of pelvis
and feet, orientations of chest and head, positions of elbows and hands. Needs mink, mujoco and daqp. With --stream
clips are also retargeted frame by frame, with the default delay and with none.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from figures.clips import reach_with_steps, turn_on_the_spot
from figures.measures import Measures, measured
from figures.mink_loop import MinkLoop
from figures.other_clips import crouch, dance, kick
from figures.random_clips import at_speed, random_walk
from figures.streams import ground_of, streamed

from supple import Goal, Linkage, Motion, solve
from supple._table import text_table
from supple.animate import Retarget, load_clip
from supple.animate.pose_targets import pose_targets
from supple.frame import Array
from supple.models import g1, human

CLIP = Path(__file__).parents[1] / "tests" / "data" / "cmu_01_01.bvh"
ENDS = ("left_hand", "right_hand", "left_foot", "right_foot", "head")


def goal_sets(figure: Linkage, q: Array) -> dict[str, list[Goal]]:
    """Sets of five goals that joint values (n, dof) meet together."""
    frames = figure.frames(q)
    ahead = frames["head"].apply(np.array([2.0, 0.0, 0.0]))
    feet = [Goal(f"{side}_foot", frames[f"{side}_foot"]) for side in ("left", "right")]
    hands = [Goal(f"{side}_hand", position=frames[f"{side}_hand"].position) for side in ("left", "right")]
    return {
        "five positions": [Goal(link, position=frames[link].position) for link in ENDS],
        "feet, hands, gaze": [*feet, *hands, Goal("head", axis=[1, 0, 0], look_at=ahead)],
        "five frames": [Goal(link, frames[link]) for link in ENDS],
    }


def figure_ik(count: int) -> list[dict[str, Any]]:
    """Sets of goals of random poses of the human figure."""
    figure, rows = human(), []
    q = figure.random(count, seed=1)
    for name, goals in goal_sets(figure, q).items():
        best = np.inf
        for _ in range(2):
            begin = time.process_time()
            found = solve(figure, goals, progress=False)
            best = min(best, time.process_time() - begin)
        excess = float(np.abs(figure.clamp(found.q) - found.q).max())
        rows.append({"goals": name, "arrived": float(found.arrived.mean()), "us": best / count * 1e6, "past": excess})
    return rows


def retargeted(clip: Motion, name: str, target: Linkage, frames: int, with_mink: bool) -> list[dict[str, Any]]:
    """A clip for a target, by us and by mink."""
    retarget = Retarget(clip.linkage, target)
    best, wall = np.inf, np.inf
    for _ in range(4):
        began, begin = time.perf_counter(), time.process_time()
        motion = retarget.motion(clip, progress=False)
        best, wall = min(best, time.process_time() - begin), min(wall, time.perf_counter() - began)
    what = {"clip": name, "target": target.name}
    ours = measured(retarget, clip, motion.q)
    rows = [{**what, "by": "supple", "fps": len(clip) / best, "wall": len(clip) / wall, **vars(ours)}]
    if not with_mink:
        return rows
    dt = float(clip.times[1] - clip.times[0])
    targets = pose_targets(retarget._pair, clip.q, dt, retarget._smooth / dt)
    for steps, label in ((1, "mink, once"), (10, "mink")):
        rounds = [MinkLoop(retarget, targets, motion, dt, steps).run(min(frames, len(clip))) for _ in range(3)]
        q, fps = rounds[0][0], max(fps for _, fps in rounds)
        theirs = measured(retarget, clip, q)
        same: Measures = measured(retarget, clip, motion.q[: len(q)])
        ratio, jerk = rows[0]["fps"] / fps, same.jerk / theirs.jerk
        rows.append({**what, "by": label, "fps": fps, "ratio": ratio, "jerk_ratio": jerk, **vars(theirs)})
    return rows


def streams(clip: Motion, name: str, target: Linkage) -> list[dict[str, Any]]:
    """A clip for a target, frame by frame; and its jerk beside that of the whole clip."""
    retarget = Retarget(clip.linkage, target)
    whole = measured(retarget, clip, retarget.motion(clip, progress=False).q)
    rows = []
    for label, options in (("stream", {}), ("stream, 0 s", {"delay": 0.0})):
        # recorded clips have a ground of their own
        q, fps = streamed(
            retarget, clip, ground=ground_of(retarget, clip) if name.startswith("CMU") else 0.0, **options
        )
        found = measured(retarget, clip, q)
        of_whole = found.jerk / whole.jerk
        rows.append({"clip": name, "target": target.name, "by": label, "fps": fps, "of_whole": of_whole, **vars(found)})
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """The retargeted clips as text."""
    head = ("clip", "target", "by", "frames/s", "slide", "sliding", "depth", "past limits", "speed", "jerk")
    body = [
        (
            row["clip"],
            row["target"],
            row["by"],
            f"{row['fps']:,.0f}" + (f" (1/{row['ratio']:.0f})" if "ratio" in row else ""),
            f"{1e3 * row['slide']:.2f} mm",
            f"{100 * row['sliding']:.1f} %",
            f"{1e3 * row['depth']:.2f} mm",
            f"{row['past_limits']:.1e}",
            f"{row['speed']:.3f}",
            f"{row['jerk']:,.0f}"
            + (f" (ours {row['jerk_ratio']:.2f} of it)" if "jerk_ratio" in row else "")
            + (f" ({row['of_whole']:.2f} of that of the whole clip)" if "of_whole" in row else ""),
        )
        for row in rows
    ]
    return "\n".join(text_table([head, *body]))


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=10_000)
    parser.add_argument("--frames", type=int, default=600, help="frames of a clip that mink gets")
    parser.add_argument("--clip", type=Path, default=CLIP)
    parser.add_argument("--other", action="store_true", help="the clips that retargeting was not built with")
    parser.add_argument("--seed", type=int, help="random walks, and the clip of CMU faster and slower")
    parser.add_argument("--skip-mink", action="store_true")
    parser.add_argument("--stream", action="store_true", help="also frame by frame")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    sets = figure_ik(options.sets)
    for row in sets:
        print(f"{row['goals']}: {100 * row['arrived']:.2f} % arrive, {row['us']:.0f} us, limits by {row['past']:.1e}")
    if options.other:
        clips = {"crouch": crouch(), "kick": kick(), "dance": dance()}
    elif options.seed is not None:
        clips = {f"walk {seed}": random_walk(seed) for seed in (options.seed, options.seed + 1)}
        clips |= {f"CMU x {speed}": at_speed(load_clip(options.clip), speed) for speed in (0.8, 1.3)}
    else:
        clips = {"CMU jump": load_clip(options.clip), "reach": reach_with_steps(), "turn": turn_on_the_spot()}
    rows = []
    for name, clip in clips.items():
        for target in (human(), g1()):
            rows += retargeted(clip, name, target, options.frames, not options.skip_mink)
            rows += streams(clip, name, target) if options.stream else []
    print(table(rows))
    if options.json:
        options.json.write_text(json.dumps({"sets": sets, "clips": rows}, indent=1))


if __name__ == "__main__":
    main()
