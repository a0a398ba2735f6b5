"""The limbs of a target body: each a small linkage of its own, solved for all frames in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np

from supple import _core
from supple._motion.interpolation import ball_columns
from supple._solve import search
from supple._solve.tolerance import Tolerance
from supple.animate.body import SIDES, Body
from supple.animate.leg_shape import LegShape
from supple.animate.smoothing import kernel
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.joint import Joint, Kind
from supple.link import Link
from supple.linkage import Linkage
from supple.solver import Solver

_STEPS = 20  # most steps of a descent
PULL = 0.15  # part of the way to the rest pose that each frame begins with: it leads a limb out of a wrong fold
_ELBOW_WEIGHT = 0.1
_KNEE_WEIGHT = 0.5
"""Of where a knee points, beside the turn of its foot: with less, a leg swivels where an ankle meets its limit."""
_FOOT_WEIGHT, _FOOT_TURN_WEIGHT = 30.0, 3.0
_HAND_TURN_WEIGHT = 0.15
"""Of the orientation of a hand, beside its position: where both cannot be met, the position wins."""
_LEAST_LEG_DOF = 7  # from which a leg can choose where its knee points
_LEAST_ARM_DOF = 7
_ELBOW_SPEED = 10.0  # rad/s: most that an elbow turns about the line from the shoulder to the hand
_ELBOW_WIDTHS, _ELBOW_WIDEST = 5.0, 100.0  # of its filter: in widths of that of the clip, and in frames
_RUNS = 8  # of rows that are solved side by side
_TOLERANCE = Tolerance(position=1e-5, angle=1e-5)


class Limb:
    """The joints between two links of a body, with goals for its end in the axes of its base."""

    def __init__(
        self,
        linkage: Linkage,
        base: str,
        tip: str,
        goals: Callable[[int], list[Goal]],
        keep: Sequence[str] = (),
        tolerance: Tolerance = _TOLERANCE,
    ) -> None:
        """The limb from ``base`` to ``tip``; the joints named in ``keep`` stay at rest.

        ``goals`` gives goals of the kinds that the limb is solved for, by its degrees of freedom; their numbers do not
        count.
        """
        part = linkage.part(base, tip)
        self.linkage = part.locked([joint.name for joint in part.joints if joint.name in keep and joint.dof])
        self.base, self.tip = base, tip
        places = {name: i for i, name in enumerate(linkage.names)}
        self.columns = np.array([places[name] for name in self.linkage.names], dtype=int)
        self.all_arrived = False
        """Whether all frames of the last `solve` met their goals."""
        self.goals = goals(self.linkage.dof)
        self._balls: list[int] = ball_columns(self.linkage)[:, 0].tolist()  # where rotation vectors begin
        self._solver = Solver(tolerance=tolerance)

    @cached_property
    def _search(self) -> _core.SearchSolver:
        return search.compiled(self.linkage, self.goals, self._solver)

    def continued(self, q: Array) -> Array:
        """The limb's joint values (n, dof) with rotation vectors that go on beyond a half turn.

        One of almost a half turn may be followed by one of almost a half turn the other way: they are near as
        rotations, but not as numbers.
        """
        return _core.continued(np.ascontiguousarray(q), self._balls)

    def solve(self, goals: Array, start: Array, chained: bool, max_steps: int = _STEPS) -> Array:
        """Joint values (n, dof) of the limb from ``start`` (n, dof), in at most ``max_steps`` steps.

        ``goals`` (n, goals, 12) are the numbers of its goals, as the core reads them. With ``chained`` each frame
        starts where the one before it ended, drawn a little to its row of ``start``.
        """
        if not self.linkage.dof:
            return start
        if chained:
            q, arrived = self._search.descend(goals, np.ascontiguousarray(start), PULL, max_steps)
        else:  # neighbours are alike: each run of rows that is solved together has some of all kinds
            order, back = _mixed_order(len(start))
            mixed = goals.take(order, axis=0), start.take(order, axis=0)
            q, arrived = self._search.descend(*mixed, -1.0, max_steps)
            q = q.take(back, axis=0)
        self.all_arrived = bool(arrived.all())
        return q


@lru_cache(maxsize=64)
def _mixed_order(count: int) -> tuple[Any, Any]:
    """Places (count,) of rows, first each `_RUNS`-th of them, then each after those, and so on; and where each is."""
    order = np.argsort(np.arange(count) % _RUNS, kind="stable")
    back = np.argsort(order)
    order.flags.writeable = back.flags.writeable = False
    return order, back


class Limbs:
    """The spine, the neck, the arms and the legs of a target body."""

    def __init__(self, body: Body, tolerance: Tolerance = _TOLERANCE) -> None:
        """The limbs of a body whose linkage has a floating root, solved within a tolerance."""
        linkage, links = body.linkage, body.links
        self.body = body
        self.spine = Limb(linkage, links["pelvis"], links["chest"], lambda _: [_turned(links["chest"])], (), tolerance)
        self.neck = None
        if "head" in links:
            self.neck = Limb(linkage, links["chest"], links["head"], lambda _: [_turned(links["head"])], (), tolerance)
        self.arms, self.legs, self.leg_shapes = {}, {}, {}
        for side in SIDES:
            hand, arm, foot = (links[f"{side}_{part}"] for part in ("hand", "upper_arm", "foot"))
            goals = partial(_arm_kinds, hand, (arm, links[f"{side}_forearm"]))
            above = [joint for joint in linkage.part(links["chest"], arm).joints if joint.child != arm]
            whole = Limb(linkage, links["chest"], hand, goals, (), tolerance)
            keep = [joint.name for joint in above] if whole.linkage.dof > _LEAST_ARM_DOF else []
            self.arms[side] = Limb(linkage, links["chest"], hand, goals, keep, tolerance) if keep else whole
            parts = links[f"{side}_thigh"], links[f"{side}_shank"]
            self.legs[side] = Limb(linkage, links["pelvis"], foot, partial(_leg_kinds, foot, parts), (), tolerance)
            self.leg_shapes[side] = LegShape.of(body, self.legs[side].linkage, side)

    def leg_goals(self, side: str, feet: Array, knee: Array, pelvis: Array) -> Array:
        """Numbers (n, goals, 12) of the goals of a leg: for frames of its foot and of the pelvis (n, 4, 4), and points
        for its knee (n, 3), all in the world.
        """
        return _core.leg_goals(pelvis, feet, knee if len(self.legs[side].goals) > 1 else None)

    def arm_goals(
        self, side: str, ways: tuple[Array, Array], hands: Array, chest: Array, dt: float, width: float
    ) -> Array:
        """Numbers (n, goals, 12) of the goals of an arm for ways (n, 3) along its two parts, and for rotations of its
        hand and of the chest (n, 3, 3).

        Where the arm is nearly straight, the direction in which its elbow points is filtered with a standard deviation
        of `_ELBOW_WIDTHS` times ``width`` frames.
        """
        body, rest = self.body, self.body.rest["chest"]
        shoulder = rest[:3, :3].T @ (body.position(f"{side}_upper_arm") - rest[:3, 3])
        turned_hands = hands if len(self.arms[side].goals) > 2 else None
        weights = kernel(min(_ELBOW_WIDTHS * width, _ELBOW_WIDEST), len(chest))
        back_and_down = -rest[:3, :3].T @ (body.upright[:, 0] + body.upright[:, 2])
        return _core.arm_goals(chest, *ways, turned_hands, shoulder, back_and_down, _ELBOW_SPEED * dt, weights)


def _turned(link: str) -> Goal:
    return Goal(link, orientation=np.eye(3))


def _leg_kinds(foot: str, limb: tuple[str, str], dof: int) -> list[Goal]:
    """The frame of the foot and, where the leg can choose it, where the knee points."""
    place = Goal(foot, Frame.at([0, 0, 0]), weight=_FOOT_WEIGHT, turn_weight=_FOOT_TURN_WEIGHT)
    return [place, *([_pole(foot, limb, _KNEE_WEIGHT)] if dof >= _LEAST_LEG_DOF else [])]


def _arm_kinds(hand: str, limb: tuple[str, str], dof: int) -> list[Goal]:
    """The place of the hand, where the elbow points and, where the arm can choose it, how the hand is turned."""
    turn = Goal(hand, orientation=np.eye(3), turn_weight=_HAND_TURN_WEIGHT)
    return [
        Goal(hand, position=np.zeros(3)),
        _pole(hand, limb, _ELBOW_WEIGHT),
        *([turn] if dof >= _LEAST_ARM_DOF else []),
    ]


def _pole(tip: str, limb: tuple[str, str], weight: float) -> Goal:
    return Goal(tip, pole=np.zeros(3), limb=limb, turn_weight=weight)


def floating(linkage: Linkage) -> tuple[Linkage, str]:
    """A linkage that moves freely in the world, and the name of its floating joint: itself if it has one."""
    for joint in linkage.joints:
        if joint.kind is Kind.FLOATING:
            return linkage, joint.name
    names = {joint.name for joint in linkage.joints}
    name = next(name for name in ("root", "floating_base", "floating_root") if name not in names)
    taken = {link.name for link in linkage.links}
    world = next(word for word in ("world", "ground", "world_frame") if word not in taken)
    root = Joint.floating(name, world, linkage.root)
    return Linkage(linkage.name, [root, *linkage.joints], [Link(world), *linkage.links]), name


class Root:
    """A floating joint, and a link that it carries."""

    def __init__(self, linkage: Linkage, name: str, link: str) -> None:
        """The joint ``name`` of a linkage, and the link ``link``."""
        joint, rest = linkage.joint(name), linkage.frames(linkage.rest)
        self.columns = slice(linkage._sources[name].first, linkage._sources[name].first + 6)
        """Its columns among the joint values of the linkage."""
        parent = rest[joint.parent] @ joint.location
        self.up = parent.rotation[2]
        """Up in the axes in which the joint moves (3,)."""
        moving = np.abs(self.up) > 1e-9
        self.rise = float((np.array(joint.speed[:3])[moving] / np.abs(self.up[moving])).min())
        """Most that it goes up, in metres per second."""
        self._before = parent.inverse().matrix
        self._after = (rest[joint.child].inverse() @ rest[link]).inverse().matrix

    def values(self, frames: Array) -> Array:
        """Values (n, 6) of the joint that bring the link to frames (n, 4, 4) in the world."""
        local: Any = self._before @ frames @ self._after
        return np.concatenate([local[:, :3, 3], Frame._trusted(np.ascontiguousarray(local)).to_rotvec()], axis=1)
