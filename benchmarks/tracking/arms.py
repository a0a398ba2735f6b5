"""The arms that the tracker is measured on: bundled ones, and ones read from the package example-robot-data.

    pip install example-robot-data

Files are read from the installed package at run time. Nothing is copied. Arms in TUNE may be looked at while constants
of the tracker are chosen. Arms in JUDGE may not: they decide whether a law holds. The package has no xArm 6.
"""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import supple
from supple.frame import Array
from supple.joint import Kind
from supple.linkage import Linkage

WIDE = 2 * np.pi  # rad; stands for a limit where a turn has none
LONG = 1.0  # m; the same for a slide


@dataclass(frozen=True, eq=False)
class Arm:
    """A linkage whose every joint moves at least one of its end effectors."""

    name: str
    linkage: Linkage
    links: tuple[str, ...]
    """End effectors."""

    @property
    def link(self) -> str:
        """The first end effector."""
        return self.links[0]

    @property
    def low(self) -> Array:
        """Lowest joint values (dof,), finite."""
        return np.where(np.isfinite(self.linkage.lower), self.linkage.lower, -self._wide)

    @property
    def high(self) -> Array:
        """Highest joint values (dof,), finite."""
        return np.where(np.isfinite(self.linkage.upper), self.linkage.upper, self._wide)

    @property
    def _wide(self) -> Array:
        return np.where(self.slides, LONG, WIDE)

    @property
    def slides(self) -> Array:
        """Which joints are prismatic (dof,)."""
        return np.array([joint.kind is Kind.PRISMATIC for joint in self.linkage.joints for _ in range(joint.dof)])

    def reach(self, k: int = 0) -> float:
        """Metres from the first joint that moves an end effector to the farthest it gets; at least 0.1."""
        chain = self.linkage.part(self.linkage.root, self.links[k])
        there = chain.frame(chain.random(256, seed=1), self.links[k]).position
        first = next(joint for joint in chain.joints if joint.dof)
        centre = chain.frame(chain.rest, first.child).position
        return max(0.1, float(np.linalg.norm(there - centre, axis=-1).max()))

    def frames(self, q: Array) -> Array:
        """Frames (..., links, 4, 4) of the end effectors at q (..., dof)."""
        return np.stack([self.linkage.frame(q, link).matrix for link in self.links], axis=-3)


BUNDLED = {
    "panda": ("panda_link0", "panda_hand_tcp"),
    "ur5": ("", "tool0"),
    "ur10": ("", "tool0"),
    "puma560": ("", "tool"),
    "iiwa14": ("", "tool0"),
    "so101": ("", "gripper_frame_link"),
    "kraft": ("", "tool"),
}
"""Root of the part, and end effector. An empty root is the linkage's own."""
READ = {
    "talos": ("talos_data/robots/talos_reduced.urdf", "torso_2_link", "gripper_left_base_link"),
    "pr2": ("pr2_description/urdf/pr2.urdf", "torso_lift_link", "l_gripper_tool_frame"),
    "alex": ("alex_description/urdf/alex_nub_hands.urdf", "", "leftNub"),
    "kinova": ("kinova_description/robots/kinova.urdf", "", "j2s6s200_end_effector"),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", "", "link_eef"),
    "z1": ("z1_description/urdf/z1.urdf", "", "gripperStator"),
    "tiago": ("tiago_description/robots/tiago_no_hand.urdf", "torso_lift_link", "wrist_ft_tool_link"),
    "tiago_lift": ("tiago_description/robots/tiago_no_hand.urdf", "", "wrist_ft_tool_link"),
    "tiago_pro": ("tiago_pro_description/robots/tiago_pro.urdf", "torso_lift_link", "arm_left_tool_link"),
    "ur3": ("ur_description/urdf/ur3_robot.urdf", "", "tool0"),
    "centauro": ("centauro_description/urdf/centauro.urdf", "", "arm1_8"),
    "so100": ("so_arm_description/urdf/so100.urdf", "", "gripper"),
}
"""File in the package, root of the part, and end effector."""
TREES: dict[str, tuple[str, tuple[str, ...]]] = {
    "baxter2": ("baxter", ("left_gripper", "right_gripper")),
    "baxter3": ("baxter", ("left_gripper", "right_gripper", "head_camera_link")),
    "g1_2": ("g1", ("left_rubber_hand", "right_rubber_hand")),
    "g1_3": ("g1", ("left_rubber_hand", "right_rubber_hand", "head_link")),
    "talos2": ("talos_data/robots/talos_reduced.urdf", ("gripper_left_base_link", "gripper_right_base_link")),
    "tiago_pro2": ("tiago_pro_description/robots/tiago_pro.urdf", ("arm_left_tool_link", "arm_right_tool_link")),
    "tiago_pro3": (
        "tiago_pro_description/robots/tiago_pro.urdf",
        ("arm_left_tool_link", "arm_right_tool_link", "head_2_link"),
    ),
}
"""Several end effectors at once: a bundled linkage or a file in the package, and the end effectors."""

TUNE = ("panda", "ur5", "ur10", "puma560", "iiwa14", "so101", "kraft", "talos", "pr2", "alex")
TUNE_TREES = ("baxter2", "baxter3", "g1_2", "g1_3", "talos2")
JUDGE = ("kinova", "xarm7", "z1", "tiago", "tiago_lift", "tiago_pro", "ur3", "centauro", "so100")
JUDGE_TREES = ("tiago_pro2", "tiago_pro3")
SETS = {
    "tune": TUNE,
    "judge": JUDGE,
    "trees": TUNE_TREES + JUDGE_TREES,
    "tune_trees": TUNE_TREES,
    "judge_trees": JUDGE_TREES,
    "twelve": ("panda", "ur5", "puma560", "iiwa14", "so101", *JUDGE[:4], "tiago_pro", "ur3", "centauro"),
}
"""What --arms may say instead of names."""


def folder() -> Path:
    """Where the package keeps its robots."""
    found = importlib.metadata.distribution("example-robot-data")
    return Path(str(found.locate_file("cmeel.prefix/share/example-robot-data/robots")))


def available() -> bool:
    """Whether the package is installed."""
    try:
        return folder().is_dir()
    except importlib.metadata.PackageNotFoundError:
        return False


@cache
def get(name: str) -> Arm:
    """An arm by its name."""
    if name in BUNDLED:
        root, link = BUNDLED[name]
        return _arm(name, supple.models.get(name), root, (link,))
    if name in TREES:
        source, links = TREES[name]
        whole = supple.load(folder() / source) if "/" in source else supple.models.get(source)
        return _arm(name, whole, "", links)
    source, root, link = READ[name]
    return _arm(name, supple.load(folder() / source), root, (link,))


def _arm(name: str, whole: Linkage, root: str, links: tuple[str, ...]) -> Arm:
    return Arm(name, whole.part(root or whole.root, *links), links)


def named(text: str) -> list[str]:
    """Names from text such as ``ur5,judge``: names of arms and of sets."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    names = [name for part in parts for name in SETS.get(part, (part,))]
    known = {*BUNDLED, *READ, *TREES}
    wrong = [name for name in names if name not in known]
    if wrong:
        raise SystemExit(f"no arm is called {', '.join(wrong)}; these are: {', '.join(sorted(known | set(SETS)))}")
    if not available():
        outside = {name for name in names if name in READ or "/" in TREES.get(name, ("",))[0]}
        if outside:
            print(f"left out, since example-robot-data is not installed: {', '.join(sorted(outside))}")
        names = [name for name in names if name not in outside]
    return list(dict.fromkeys(names))
