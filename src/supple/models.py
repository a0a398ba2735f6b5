"""Bundled models: planar arms, robot arms, a two-armed robot, a humanoid and figures, each with a usual rest pose.

Each function returns the same immutable `supple.Linkage` at every call; the first call reads it. Sources and licences
are in ``data/LICENSES.md``. None of the models has acceleration limits.

>>> from supple import models
>>> models.panda().dof
8
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, wraps
from math import pi, radians
from typing import TYPE_CHECKING, Any, TypeVar

from supple import _check, _renamed
from supple.errors import unknown
from supple.frame import Frame
from supple.joint import Joint
from supple.linkage import Linkage

F = TypeVar("F", bound=Callable[..., Any])

__all__ = [
    "about",
    "baxter",
    "g1",
    "get",
    "human",
    "iiwa14",
    "kraft",
    "names",
    "panda",
    "planar2",
    "planar3",
    "puma560",
    "puppet",
    "so101",
    "ur5",
    "ur10",
]


def _remembered(build: F) -> F:
    """Decorator: the function keeps its last results. Arguments that are not hashable go to its own checks."""
    remembered = lru_cache(maxsize=64)(build)

    @wraps(build)
    def made(*values: Any, **named: Any) -> Any:
        try:
            hash((values, *named.values()))
        except (TypeError, ValueError):
            return build(*values, **named)
        return remembered(*values, **named)

    made.cache_info = remembered.cache_info  # type: ignore[attr-defined]
    return made  # type: ignore[return-value]


def names() -> tuple[str, ...]:
    """The names of all bundled models.

    >>> from supple.models import names
    >>> names()[:3]
    ('planar2', 'planar3', 'panda')
    """
    return tuple(_NAMED)


def get(name: str) -> Linkage:
    """The bundled model of that name.

    >>> from supple.models import get
    >>> get("ur5").name
    'ur5'
    """
    return _known(name)()


def about(name: str) -> str:
    """One line about a bundled model: what it is, degrees of freedom, end effectors, source and licence.

    >>> from supple.models import about
    >>> about("planar2")
    'planar arm, lengths 15 and 10 m; 2 dof; end effector tip; written for supple; Apache-2.0'
    """
    what, dof, ends, source, licence = _ALL[_known(name)]
    return f"{what}; {dof} dof; end effector {ends}; {source}; {licence}"


@cache
def planar2() -> Linkage:
    """Two revolute joints about z with links 15 and 10 m long along x. End effector ``tip``.

    >>> from supple.models import planar2
    >>> planar2().dof
    2
    """
    return _planar("planar2", (15.0, 10.0), (pi / 8, pi / 4))


@cache
def planar3() -> Linkage:
    """Three revolute joints about z with links 15, 10 and 5 m long along x. End effector ``tip``.

    >>> from supple.models import planar3
    >>> planar3().dof
    3
    """
    return _planar("planar3", (15.0, 10.0, 5.0), (pi / 8, pi / 4, pi / 4))


@cache
def panda() -> Linkage:
    """Franka Emika Panda: seven revolute joints and a gripper, with meshes.

    End effectors ``panda_hand_tcp`` and ``panda_hand``.

    >>> from supple.models import panda
    >>> panda().dof
    8
    """
    arm = (0.0, -pi / 4, 0.0, -3 * pi / 4, 0.0, pi / 2, pi / 4)
    return _read("panda", {**_numbered("panda_joint{}", arm), "panda_finger_joint1": 0.02})


@cache
def ur5() -> Linkage:
    """Universal Robots UR5: six revolute joints, with meshes.

    End effectors ``tool0`` (z points out of the flange) and ``ee_link``.

    >>> from supple.models import ur5
    >>> ur5().dof
    6
    """
    return _read("ur5", dict(zip(_UR, _UR_REST, strict=True)))


@cache
def ur10() -> Linkage:
    """Universal Robots UR10: six revolute joints.

    End effectors ``tool0`` (z points out of the flange) and ``ee_link``.

    >>> from supple.models import ur10
    >>> ur10().dof
    6
    """
    return _read("ur10", dict(zip(_UR, _UR_REST, strict=True)))


@cache
def iiwa14() -> Linkage:
    """KUKA LBR iiwa 14 R820: seven revolute joints, with meshes. End effector ``tool0``.

    >>> from supple.models import iiwa14
    >>> iiwa14().dof
    7
    """
    return _read("iiwa14", _numbered("joint_a{}", (0.0, 0.6, 0.0, -1.4, 0.0, 1.1, 0.0)))


@cache
def puma560() -> Linkage:
    """Unimation Puma 560: six revolute joints, with published dimensions. End effector ``tool``.

    >>> from supple.models import puma560
    >>> puma560().dof
    6
    """
    h = pi / 2
    table = (  # position, rotation about x in the parent; limits and speed in degrees; rest in radians
        ((0.0, 0.0, 0.672), 0.0, -160, 160, 82, 0.0),
        ((0.0, 0.0, 0.0), -h, -225, 45, 74, -0.9),
        ((0.4318, 0.0, 0.14909), 0.0, -45, 225, 122, 2.9),
        ((-0.02032, 0.0, 0.0), h, -110, 170, 228, 0.0),
        ((0.0, 0.0, 0.43307), -h, -100, 100, 241, 1.1),
        ((0.0, 0.0, 0.0), h, -266, 266, 228, 0.0),
    )
    links = ["base", *(f"link{i}" for i in range(1, 7))]
    joints = [
        Joint.revolute(
            f"joint{i}",
            links[i - 1],
            links[i],
            at=Frame.at(position, Frame.turn([1, 0, 0], tilt)),
            lower=radians(low),
            upper=radians(high),
            speed=radians(speed),
            rest=rest,
        )
        for i, (position, tilt, low, high, speed, rest) in enumerate(table, 1)
    ]
    tool = Joint.fixed("tool_mount", "link6", "tool", at=Frame.at([0.0, 0.0, 0.15625]))
    return Linkage("puma560", [*joints, tool])


@cache
def so101() -> Linkage:
    """SO-101, a low-cost arm: five revolute joints and a jaw, with meshes. End effector ``gripper_frame_link``.

    >>> from supple.models import so101
    >>> so101().dof
    6
    """
    rest = {"shoulder_lift": -0.4, "elbow_flex": 0.5, "wrist_flex": 0.9, "gripper": 0.3}
    return _read("so101", rest)


@cache
def baxter() -> Linkage:
    """Rethink Baxter: a head, two arms of seven revolute joints, and grippers, with meshes.

    End effectors ``left_gripper`` and ``right_gripper``.

    >>> from supple.models import baxter
    >>> baxter().dof
    17
    """
    arm = {"s0": -0.4, "s1": -0.8, "e0": 0.0, "e1": 1.6, "w0": 0.0, "w1": 0.8, "w2": 0.0}
    mirrored = ("s0", "e0", "w0", "w2")  # of the opposite sign on the right
    rest = {f"left_{joint}": value for joint, value in arm.items()}
    rest |= {f"right_{joint}": -value if joint in mirrored else value for joint, value in arm.items()}
    return _read("baxter", rest | {"l_gripper_l_finger_joint": 0.01, "r_gripper_l_finger_joint": 0.01})


@cache
def g1() -> Linkage:
    """Unitree G1: a humanoid of 29 revolute joints, with the pelvis as its root and with meshes.

    End effectors ``left_rubber_hand``, ``left_ankle_roll_link`` and the same on the right.

    >>> from supple.models import g1
    >>> g1().dof
    29
    """
    leg = {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3}
    arm = {"shoulder_pitch": 0.3, "elbow": 0.8}
    rest = {f"{side}_{joint}_joint": v for side in ("left", "right") for joint, v in {**leg, **arm}.items()}
    return _read("g1", rest | {"left_shoulder_roll_joint": 0.2, "right_shoulder_roll_joint": -0.2})


@cache
def kraft() -> Linkage:
    """Six revolute joints in the order of a Kraft arm, with round dimensions. End effector ``tool``.

    The joints are yaw, pitch, pitch, pitch, yaw and roll.

    >>> from supple.models import kraft
    >>> kraft().dof
    6
    """
    return _read("kraft", {"shoulder": 0.7, "elbow": -1.4, "wrist_pitch": 0.4})


@_check.known_options()
@_remembered
def human(
    height: float = 1.75,
    *,
    mass: float = 70.0,
    arms: float = 1.0,
    legs: float = 1.0,
    torso: float = 1.0,
    shoulders: float = 1.0,
    hips: float = 1.0,
    head: float = 1.0,
) -> Linkage:
    """A human figure: 23 joints with anatomical ranges on a floating root, 56 degrees of freedom.

    End effectors ``left_hand``, ``right_hand``, ``left_foot``, ``right_foot`` and ``head``. x is forward, y left, z up.
    At rest it stands on the plane z = 0 with the arms a little away from the body.

    Args:
        height: from the sole to the top of the head with straight legs, in metres; at rest the knees are slightly bent.
        mass: in kilograms.
        arms: factor on the length of the arms.
        legs: factor on the share of the height that the legs have.
        torso: factor on the share of the height that the torso has.
        shoulders: factor on the width of the shoulders.
        hips: factor on the width of the hips.
        head: factor on the share of the height that neck and head have.

    >>> from supple.models import human
    >>> print(human(1.9).frame(human(1.9).rest, "head_End").position[2].round(2))
    1.9
    """
    from supple._figure import human as figure

    factors = {"arms": arms, "legs": legs, "torso": torso, "shoulders": shoulders, "hips": hips, "head": head}
    return figure.build(height, mass, factors)


@cache
def puppet() -> Linkage:
    """A puppet, 0.5 m tall: a body with two arms of two revolute joints each.

    End effectors ``left_hand`` and ``right_hand``.

    >>> from supple.models import puppet
    >>> puppet().dof
    4
    """
    from supple._figure import puppet as figure

    return figure.build()


_UR = (
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_1_joint",
    "wrist_2_joint",
    "wrist_3_joint",
)
_UR_REST = (0.0, -1.2, 1.5, -1.9, -pi / 2, 0.0)
_ERD = "by way of example-robot-data 6.0.0"
_OWN = "written for supple"
# what, degrees of freedom, end effectors, source, licence
_ALL: dict[Callable[[], Linkage], tuple[str, str, str, str, str]] = {
    planar2: ("planar arm, lengths 15 and 10 m", "2", "tip", _OWN, "Apache-2.0"),
    planar3: ("planar arm, lengths 15, 10 and 5 m", "3", "tip", _OWN, "Apache-2.0"),
    panda: ("Franka Emika Panda with hand", "7 + 1", "panda_hand_tcp", f"frankaemika/franka_ros {_ERD}", "Apache-2.0"),
    ur5: ("Universal Robots UR5", "6", "tool0", f"ros-industrial/universal_robot {_ERD}", "BSD-3-Clause"),
    ur10: ("Universal Robots UR10", "6", "tool0", f"ros-industrial/universal_robot {_ERD}", "BSD-3-Clause"),
    iiwa14: (
        "KUKA LBR iiwa 14 R820",
        "7",
        "tool0",
        "ros-industrial/kuka_experimental by way of tesseract-robotics-nanobind 0.35.0.8",
        "Apache-2.0",
    ),
    puma560: ("Unimation Puma 560", "6", "tool", f"published dimensions, {_OWN}", "Apache-2.0"),
    so101: (
        "SO-101 low-cost arm with jaw",
        "5 + 1",
        "gripper_frame_link",
        f"TheRobotStudio/SO-ARM100 {_ERD}",
        "Apache-2.0",
    ),
    baxter: (
        "Rethink Robotics Baxter, head, two arms, two grippers",
        "1 + 2 × (7 + 1)",
        "left_gripper, right_gripper",
        f"RethinkRobotics/baxter_common {_ERD}",
        "BSD-3-Clause",
    ),
    g1: (
        "Unitree G1 humanoid",
        "29",
        "left_rubber_hand, right_rubber_hand, left_ankle_roll_link, right_ankle_roll_link",
        f"unitreerobotics/unitree_ros {_ERD}",
        "BSD-3-Clause",
    ),
    kraft: ("Kraft-like arm, yaw pitch pitch pitch yaw roll", "6", "tool", _OWN, "CC0-1.0"),
    human: (
        "human figure, 23 joints with anatomical ranges on a floating root",
        "56",
        "left_hand, right_hand, left_foot, right_foot, head",
        f"published proportions, {_OWN}",
        "Apache-2.0",
    ),
    puppet: ("puppet, two arms of two joints", "4", "left_hand, right_hand", _OWN, "Apache-2.0"),
}
_DOF = (2, 3, 8, 6, 6, 7, 6, 6, 17, 29, 6, 56, 4)
_NAMED = {made.__name__: made for made in _ALL}


def dof_of(name: str) -> int:
    """The degrees of freedom of a bundled model, without reading it."""
    return _DOF[list(_NAMED).index(_known(name).__name__)]


def _known(name: str) -> Callable[[], Linkage]:
    if not isinstance(name, str) or name not in _NAMED:
        raise unknown("bundled model", name, _NAMED)
    return _NAMED[name]


def _planar(name: str, lengths: Sequence[float], rest: Sequence[float]) -> Linkage:
    n = len(lengths)
    links = ["base", *(f"link{i}" for i in range(1, n + 1)), "tip"]
    places = [Frame.at([length, 0.0, 0.0]) for length in (0.0, *lengths)]
    joints = [Joint.revolute(f"joint{i + 1}", links[i], links[i + 1], at=places[i], rest=rest[i]) for i in range(n)]
    return Linkage(name, [*joints, Joint.fixed("tip_mount", links[n], "tip", at=places[n])])


def _numbered(pattern: str, values: Sequence[float]) -> dict[str, float]:
    return {pattern.format(i): value for i, value in enumerate(values, 1)}


def _read(name: str, rest: Mapping[str, float]) -> Linkage:
    """The linkage in the file of that name, with rest values of some of its joints."""
    from supple import read  # here, so that a program without bundled models loads no reader

    linkage = read.load(os.path.join(os.path.dirname(__file__), "data", f"{name}.urdf"))
    joints = [
        dataclasses.replace(joint, rest=(rest[joint.name],)) if joint.name in rest else joint
        for joint in linkage.joints
    ]
    return Linkage(name, joints, linkage.links, linkage.base)


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise _renamed.no_attribute("supple.models", name)
