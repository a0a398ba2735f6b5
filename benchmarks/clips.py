"""Compares reading a clip of motion capture, and the positions of its joints, with bvhio and the package bvh.

    python benchmarks/clips.py [--json FILE]

Each number is the minimum of some rounds of process time. Compare the ratios. Positions are first checked against each
other, of the clip as it is and of the clip as supple writes it. Needs the packages bvhio and bvh; one that is missing
is left out.
"""

from __future__ import annotations

import argparse
import importlib
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from supple import Motion
from supple._table import text_table

CLIP = Path(__file__).parents[1] / "tests" / "data" / "cmu_01_01.bvh"
CHECKED = (0, 1, 700, 2751)  # poses whose positions are compared


def seconds(call: Callable[[], object], rounds: int) -> float:
    """Process time of a call, the minimum of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best


def package(name: str) -> Any:
    """A package, or None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def check(bvhio: Any, file: Path, motion: Motion) -> float:
    """The largest difference between positions of bvhio, which computes in single precision, and of supple."""
    root = bvhio.readAsHierarchy(str(file))
    frames = motion.linkage.frames(motion.q)
    worst = 0.0
    for pose in CHECKED:
        root.loadPose(pose)
        for joint, _, _ in root.layout():
            if joint.Name in {link.name for link in motion.linkage.links}:
                other = np.array(joint.PositionWorld.to_tuple())
                worst = max(worst, float(np.abs(frames[joint.Name].position[pose] - other).max()))
    return worst


def positions_of_bvhio(root: Any, poses: range) -> None:
    """World positions of all joints for some poses."""
    for pose in poses:
        root.loadPose(pose)
        for joint, _, _ in root.layout():
            _ = joint.PositionWorld


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    clip = Motion.load(CLIP)
    linkage, q = clip.linkage, clip.q
    rows = {
        "supple": {"read": seconds(lambda: Motion.load(CLIP), 7), "all poses": seconds(lambda: linkage.frames(q), 15)}
    }
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, "clip.bvh")
        rows["supple"]["write"] = seconds(lambda: clip.save(written), 5)
        bvhio, bvh = package("bvhio"), package("bvh")
        if bvhio is not None:
            worst = check(bvhio, CLIP, clip), check(bvhio, written, clip)
            print(f"bvhio: positions at most {worst[0]:.1e} away, of the written clip {worst[1]:.1e}, in its units")
            root = bvhio.readAsHierarchy(str(CLIP))
            some = range(100)
            each = seconds(lambda: positions_of_bvhio(root, some), 2) / len(some)
            rows["bvhio"] = {
                "read": seconds(lambda: bvhio.readAsHierarchy(str(CLIP)), 2),
                "all poses": each * len(clip),
            }
    if bvh is not None:
        rows["bvh"] = {"read": seconds(lambda: bvh.Bvh(CLIP.read_text()), 3)}  # numbers stay texts
    cells = [["", "read", "all poses", "write"]]
    for name, row in rows.items():
        own = rows["supple"]
        cells.append([name, *(f"{1e3 * row[k]:.1f} ms ({row[k] / own[k]:.0f} x)" if k in row else "" for k in own)])
    print("\n".join(text_table(cells, "<>>>")))
    if chosen.json:
        chosen.json.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
