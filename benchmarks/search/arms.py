"""The linkages of the search benchmark: nine arms with one goal each, two trees with several."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import inf, pi, radians
from typing import NamedTuple

from supple import Frame, Joint, Linkage, models
from supple.joint import Kind

AXIS = (0.0, 0.0, 1.0)
"""The axis of the link in axis goals: the approach direction of a gripper."""


class Arm(NamedTuple):
    """A linkage, the link with the goal, and the kind of goal: ``frame``, or ``axis`` for position and axis."""

    linkage: Linkage
    link: str
    kind: str


class Tree(NamedTuple):
    """A linkage and its links with goals, each a frame."""

    linkage: Linkage
    links: tuple[str, ...]


def _part(name: str, tip: str, kind: str = "frame") -> Callable[[], Arm]:
    """An arm of a bundled model: from its root to a tip, without grippers."""

    def made() -> Arm:
        whole = models.get(name)
        return Arm(whole.part(whole.root, tip), tip, kind)

    return cache(made)


Row = tuple[Kind, tuple[float, float, float], tuple[float, float, float], float, float]
"""A joint of a chain: kind, position, angles about fixed x, y, z, lower and upper limit."""


def _chain(name: str, rows: tuple[Row, ...], tip: Frame) -> Linkage:
    """Joints j1, j2, ... about or along z, each on the one before; then a fixed ``tool``."""
    links = ["base", *(f"link{i}" for i in range(1, len(rows) + 1))]
    joints = [
        Joint(
            f"j{i + 1}",
            kind,
            links[i],
            links[i + 1],
            Frame.at(position, Frame.fixed("xyz", angles)),
            lower=(low,),
            upper=(high,),
        )
        for i, (kind, position, angles, low, high) in enumerate(rows)
    ]
    return Linkage(name, [*joints, Joint.fixed("tool_mount", links[-1], "tool", at=tip)])


@cache
def torso() -> Arm:
    """A lift of 35 cm before seven revolute joints, in the proportions and limits of a TIAGo."""
    h = pi / 2
    rows = (
        (Kind.PRISMATIC, (-0.05, 0.0, 0.6), (0.0, 0.0, 0.0), 0.0, 0.35),
        (Kind.REVOLUTE, (0.155, 0.014, -0.151), (0.0, 0.0, -h), 0.0698, 2.6789),
        (Kind.REVOLUTE, (0.125, 0.0195, -0.031), (-h, 0.0, 0.0), -1.5, 1.02),
        (Kind.REVOLUTE, (0.0, 0.0, 0.0895), (-h, 0.0, h), -3.46, 1.57),
        (Kind.REVOLUTE, (-0.02, -0.027, -0.222), (-h, -h, 0.0), -0.32, 2.29),
        (Kind.REVOLUTE, (-0.162, 0.02, 0.027), (0.0, -h, 0.0), -2.07, 2.07),
        (Kind.REVOLUTE, (0.0, 0.0, 0.15), (-h, -h, 0.0), -1.39, 1.39),
        (Kind.REVOLUTE, (0.0, 0.0, 0.0), (h, 0.0, h), -2.07, 2.07),
    )
    return Arm(_chain("torso", rows, Frame.at([0.0, 0.0, 0.15])), "tool", "frame")


@cache
def kinova() -> Arm:
    """Six joints in the proportions of a Kinova Jaco: wrist axes at 60 degrees that do not intersect."""
    s = pi / 3
    rows = (
        (Kind.CONTINUOUS, (0.0, 0.0, 0.15675), (0.0, pi, 0.0), -inf, inf),
        (Kind.REVOLUTE, (0.0, 0.0016, -0.11875), (-pi / 2, 0.0, pi), radians(47), radians(313)),
        (Kind.REVOLUTE, (0.0, -0.41, 0.0), (0.0, pi, 0.0), radians(19), radians(341)),
        (Kind.CONTINUOUS, (0.0, 0.2073, -0.0114), (-pi / 2, 0.0, pi), -inf, inf),
        (Kind.CONTINUOUS, (0.0, 0.03703, -0.06414), (s, 0.0, pi), -inf, inf),
        (Kind.CONTINUOUS, (0.0, 0.03703, -0.06414), (s, 0.0, pi), -inf, inf),
    )
    return Arm(_chain("kinova", rows, Frame.at([0.0, 0.0, -0.16], Frame.turn([1, 0, 0], pi))), "tool", "frame")


@cache
def baxter_both() -> Tree:
    """Baxter's two arms, a goal for each gripper."""
    links = ("left_gripper", "right_gripper")
    return Tree(models.baxter().part("base", *links), links)


@cache
def g1() -> Tree:
    """The G1 with a floating pelvis within a metre; goals for pelvis, hands and feet."""
    whole = models.g1()
    root = Joint.floating("afloat", "world", whole.root, lower=(-1.0,) * 3, upper=(1.0,) * 3)
    links = ("pelvis", "left_rubber_hand", "right_rubber_hand", "left_ankle_roll_link", "right_ankle_roll_link")
    return Tree(Linkage("g1", [root, *whole.joints]), links)


ARMS: dict[str, Callable[[], Arm]] = {
    "panda": _part("panda", "panda_hand_tcp"),
    "ur5": _part("ur5", "tool0"),
    "ur10": _part("ur10", "tool0"),
    "iiwa14": _part("iiwa14", "tool0"),
    "puma560": _part("puma560", "tool"),
    "baxter": _part("baxter", "left_gripper"),
    "torso": torso,
    "kinova": kinova,
    "so101": _part("so101", "gripper_frame_link", "axis"),
}
TREES: dict[str, Callable[[], Tree]] = {"baxter-both": baxter_both, "g1": g1}
