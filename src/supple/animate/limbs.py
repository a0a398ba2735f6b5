"""The limbs of a target body: each a small linkage of its own, solved for all frames in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from supple import method
from supple._solve import batch, compilation
from supple._solve.tolerance import Tolerance
from supple.animate.body import Body
from supple.animate.pose_targets import PoseTargets
from supple.frame import Array, Frame
from supple.goal import Goal, take_rows
from supple.joint import Joint, Kind
from supple.link import Link
from supple.linkage import Linkage
from supple.solution import Outcome
from supple.solver import Solver

_ITERATIONS = 12
_SEARCH_ITERATIONS = 1000
_DAMPING = 1e-5
_PULL = 0.15  # part of the way to the rest pose that each frame begins with: it leads a limb out of a wrong fold
_POLE_WEIGHT = 0.3
_HAND_TURN_WEIGHT = 0.15
"""Of the orientation of a hand, beside its position: where both cannot be met, the position wins."""
_LEAST_LEG_DOF = 7  # from which a leg can choose where its knee points
_LEAST_ARM_DOF = 7
_TOLERANCE = Tolerance(position=1e-5, angle=1e-5)


class Limb:
    """The joints between two links of a body, with goals for its end in the axes of its base."""

    def __init__(self, linkage: Linkage, base: str, tip: str, keep: Sequence[str] = ()) -> None:
        """The limb from ``base`` to ``tip``; the joints named in ``keep`` stay at rest."""
        part = linkage.part(base, tip)
        self.linkage = part.locked([joint.name for joint in part.joints if joint.name in keep and joint.dof])
        self.base, self.tip = base, tip
        places = {name: i for i, name in enumerate(linkage.names)}
        self.columns = np.array([places[name] for name in self.linkage.names], dtype=int)
        self.all_arrived = False
        """Whether all frames of the last `solve` met their goals."""
        self._solver = Solver(
            method=method.damped(),
            damping=_DAMPING,
            max_iterations=_ITERATIONS,
            tolerance=_TOLERANCE,
            limit_escapes=0,  # a jump to the other end of a joint's range is not a motion
        )

    def solve(self, goals: Sequence[Goal], start: Array, chained: bool) -> Array:
        """Joint values (n, dof) of the limb for n goals each, from ``start`` (n, dof).

        With ``chained`` each frame starts where the one before it ended, drawn a little to its row of ``start``.
        """
        if not self.linkage.dof:
            return start
        solver = compilation.compiled(self.linkage, goals, self._solver)
        numbers = batch.goal_numbers(goals, (len(start),))
        q, report = solver.solve(numbers, np.ascontiguousarray(start), None, None, _PULL if chained else -1.0)
        self.all_arrived = bool((report[:, 0] == Outcome.ARRIVED.value).all())
        return q

    def search(self, goals: Sequence[Goal], q: Array, rows: Any) -> None:
        """Searches again for some rows of joint values q (n, dof), from where they are; those that arrive are written
        into q. A local solve can end at limits of ball joints although the goals can be met."""
        if not len(rows) or not self.linkage.dof:
            return
        shape = (len(q),)
        found = Solver(tolerance=_TOLERANCE, max_iterations=_SEARCH_ITERATIONS).solve(
            self.linkage, [take_rows(goal, shape, rows) for goal in goals], q[rows], progress=False
        )
        q[rows[found.arrived]] = found.q[found.arrived]


class Limbs:
    """The spine, the neck, the arms and the legs of a target body."""

    def __init__(self, body: Body) -> None:
        """The limbs of a body whose linkage has a floating root."""
        linkage, links = body.linkage, body.links
        self.body = body
        self.spine = Limb(linkage, links["pelvis"], links["chest"])
        self.neck = Limb(linkage, links["chest"], links["head"]) if "head" in links else None
        self.arms, self.legs = {}, {}
        for side in ("left", "right"):
            hand, arm = links[f"{side}_hand"], links[f"{side}_upper_arm"]
            above = [joint for joint in linkage.part(links["chest"], arm).joints if joint.child != arm]
            whole = Limb(linkage, links["chest"], hand)
            keep = [joint.name for joint in above] if whole.linkage.dof > _LEAST_ARM_DOF else []
            self.arms[side] = Limb(linkage, links["chest"], hand, keep) if keep else whole
            self.legs[side] = Limb(linkage, links["pelvis"], links[f"{side}_foot"])

    def leg_goals(self, side: str, feet: Array, knee: Array, pelvis: Array) -> list[Goal]:
        """The goals of a leg for frames of its foot (n, 4, 4) and points for its knee (n, 3), in the world."""
        links, limb = self.body.links, self.legs[side]
        back = np.swapaxes(pelvis[:, :3, :3], -1, -2)
        local = np.zeros_like(feet)
        local[:, 3, 3] = 1.0
        local[:, :3, :3] = back @ feet[:, :3, :3]
        local[:, :3, 3] = np.einsum("nij,nj->ni", back, feet[:, :3, 3] - pelvis[:, :3, 3])
        goals = [Goal(limb.tip, Frame._trusted(local), weight=10.0)]
        if limb.linkage.dof >= _LEAST_LEG_DOF:
            pole = np.einsum("nij,nj->ni", back, knee - pelvis[:, :3, 3])
            parts = links[f"{side}_thigh"], links[f"{side}_shank"]
            goals.append(Goal(limb.tip, pole=pole, limb=parts, turn_weight=_POLE_WEIGHT))
        return goals

    def arm_goals(self, side: str, targets: PoseTargets, chest: Array) -> list[Goal]:
        """The goals of an arm for rotations of the chest (n, 3, 3)."""
        body, links, limb = self.body, self.body.links, self.arms[side]
        rest = body.rest["chest"]
        shoulder = rest[:3, :3].T @ (body.position(f"{side}_upper_arm") - rest[:3, 3])
        back = np.swapaxes(chest, -1, -2)
        upper, fore = (np.einsum("nij,nj->ni", back, way) for way in targets.arms[side])
        parts = links[f"{side}_upper_arm"], links[f"{side}_forearm"]
        elbow = shoulder + upper
        goals = [
            Goal(limb.tip, position=elbow + fore),
            Goal(limb.tip, pole=elbow + (upper - fore), limb=parts, turn_weight=_POLE_WEIGHT),
        ]
        if limb.linkage.dof >= _LEAST_ARM_DOF:
            goals.append(Goal(limb.tip, orientation=back @ targets.hands[side], turn_weight=_HAND_TURN_WEIGHT))
        return goals


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


def root_values(linkage: Linkage, name: str, link: str, frames: Array) -> Array:
    """Values (n, 6) of a floating joint that bring a link which it carries to frames (n, 4, 4) in the world."""
    joint = linkage.joint(name)
    rest = linkage.frames(linkage.rest)
    carried = rest[joint.child].inverse() @ rest[link]
    parent = rest[joint.parent] @ joint.location
    local: Any = parent.inverse().matrix @ frames @ carried.inverse().matrix
    return np.concatenate([local[:, :3, 3], Frame._trusted(np.ascontiguousarray(local)).to_rotvec()], axis=1)
