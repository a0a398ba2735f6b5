"""What the corpus is made of: a store of arrays by key, linkages, and goals of every kind."""

from __future__ import annotations

import sys
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
for helper in ("random_trees.py", "oracle.py"):
    sys.path.append(str(next((ROOT / "tests").rglob(helper)).parent))

import api  # noqa: E402

from random_trees import random_tree  # noqa: E402
from supple.joint import Kind  # noqa: E402

ENDS = {
    "planar2": "tip",
    "planar3": "tip",
    "panda": "panda_hand_tcp",
    "ur5": "tool0",
    "ur10": "tool0",
    "iiwa14": "tool0",
    "puma560": "tool",
    "so101": "gripper_frame_link",
    "kraft": "tool",
    "baxter": "left_gripper",
    "g1": "left_rubber_hand",
}


class Store:
    """Arrays by key."""

    def __init__(self, quick: bool) -> None:
        self.quick = quick
        self.arrays: dict[str, np.ndarray] = {}

    def few(self, full: int, quick: int) -> int:
        return quick if self.quick else full

    def put(self, key: str, **values: Any) -> None:
        for name, value in values.items():
            whole = f"{key}/{name}"
            if whole in self.arrays:
                raise KeyError(f"{whole} is stored twice")
            self.arrays[whole] = np.array(value)

    def thinned(self, key: str, every: int, **values: Any) -> None:
        """Every so many rows, and a checksum of all rows."""
        for name, value in values.items():
            rows = np.ascontiguousarray(value)
            self.put(f"{key}/{name}", rows=rows[::every], checksum=zlib.crc32(rows.tobytes()))
            if name in ("status", "outcome"):
                self.put(key, **{name: rows})

    def attempt(self, key: str, solver: Any, *given: Any, **options: Any) -> None:
        """A solution, or that it is refused."""
        try:
            self.put(key, **api.solution_parts(solver.solve(*given, **options)))
        except api.BadInput:
            self.put(key, outcome=-1)


# -- linkages and goals ------------------------------------------------------------------------------------------------


def chain(name: str) -> Any:
    """A bundled arm without what does not move its end effector."""
    whole = api.models.get(name)
    return whole.part(whole.root, ENDS[name])


def limited(tree: Any, seed: int) -> Any:
    """The same linkage with limits on most of its joints."""
    rng = np.random.default_rng([seed, 3])

    def limit(joint: Any) -> Any:
        low, high = np.sort(rng.uniform(-2.5, 2.5, (2, max(joint.dof, 1))), axis=0)
        swing, free = rng.uniform(0.2, 3), rng.random() < 0.3
        if joint.mimic or free:
            return joint
        if joint.kind in (Kind.REVOLUTE, Kind.PRISMATIC, Kind.PLANAR):
            return replace(joint, lower=tuple(low.tolist()), upper=tuple(high.tolist()), rest=())
        if joint.kind is Kind.BALL:
            return replace(joint, swing=swing, twist=(low[0], high[0]), rest=())
        return joint

    return api.Linkage(tree.name, [limit(joint) for joint in tree.joints], tree.links, tree.base)


def small_trees(count: int, first: int = 5000) -> list[tuple[Any, list[str]]]:
    """Trees of 2 to 10 joints of every kind with limits, and up to three of their tips that move."""
    found: list[tuple[Any, list[str]]] = []
    seed = first
    while len(found) < count:
        seed += 1
        tree = limited(random_tree(seed, 2 + seed % 9), seed)
        moved = np.abs(tree.frames(tree.random(8, seed=seed)).matrix - tree.frames(tree.rest).matrix).max(
            axis=(0, 2, 3)
        )
        tips = [link.name for link, far in zip(tree.links, moved, strict=True) if link.name in tree.tips and far > 1e-3]
        if tips:
            found.append((tree, tips[:3]))
    return found


def slider() -> Any:
    """A lift and a rail in front of a wrist: two slides, four turns."""
    joint, at = api.Joint, api.Frame.at
    turns = [(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 0)]
    joints = [
        joint.prismatic("lift", "base", "a", axis=(0, 0, 1), lower=0.0, upper=0.8, speed=0.5),
        joint.prismatic("rail", "a", "b", axis=(1, 0, 0), lower=-0.5, upper=0.5, speed=0.5),
    ]
    names = ["b", "c", "d", "e", "f"]
    for i, axis in enumerate(turns):
        place = at([0.1 * i, 0.0, 0.1])
        bounds = {"lower": -2.5, "upper": 2.5, "speed": 2.0}
        joints.append(joint.revolute(f"turn{i}", names[i], names[i + 1], at=place, axis=axis, **bounds))
    return api.Linkage("slider", [*joints, joint.fixed("mount", "f", "tool", at=at([0.2, 0.0, 0.0]))])


def goal_kinds(link: str, frames: Any) -> dict[str, Any]:
    """A goal of every kind that these frames (...) fulfil."""
    goal, matrix = api.Goal, frames.matrix
    point = np.array([0.05, -0.02, 0.1])
    at, along = frames.apply(point), matrix[..., :3, :3] @ np.array([0.0, 0.6, 0.8])
    return {
        "frame": goal(link, frames),
        "position": goal(link, position=frames.position),
        "point": goal(link, position=at, point=point, weight=(1.0, 2.0, 0.5)),
        "plane": goal(link, position=frames.position, weight=(1.0, 0.0, 2.0)),
        "orientation": goal(link, orientation=frames, turn_weight=(1.0, 0.5, 2.0)),
        "axis": api.axis_goal(link, [0.0, 0.6, 0.8], along),
        "axis and position": api.axis_goal(link, [0.0, 0.6, 0.8], along, position=frames.position),
        "slack": goal(link, frames, slack=(0.01, 0.0, 0.03), turn_slack=0.05),
        "cone": api.axis_goal(link, [0.0, 0.6, 0.8], along, position=frames.position, turn_slack=0.2),
    }
