"""RetargetStream: a clip that arrives frame by frame becomes joint values of a target at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple.animate.body import SIDES
from supple.animate.footsteps import CONTACT_HEIGHT, CONTACT_SPEED
from supple.animate.pose_targets import hip_position
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.linkage import Linkage
from supple.solver import Solver
from supple.step import Step
from supple.tracker import Tracker

if TYPE_CHECKING:
    from supple.animate.retarget import Retarget

_RELEASE = 0.15  # s: in which a foot that is lifted comes back to its path
_FOOT_WEIGHT, _FOOT_TURN_WEIGHT = 60.0, 4.0
_PELVIS_WEIGHT = 5.0
_RAMP = 0.1  # s: in which a joint without a limit of acceleration reaches its speed limit
_GREATEST = 60.0  # rad/s^2 or m/s^2: of joints without limits, such as the root
_ARM_WEIGHT = 3.0
_TURN_WEIGHT = 0.3


def _acceleration(target: Linkage) -> Array:
    """Accelerations (dof,) with which a target follows: its own limits, or those of a person who lands from a jump."""
    return np.minimum(target.acceleration, np.minimum(target.speed / _RAMP, _GREATEST))


class RetargetStream:
    """The target of a `Retarget`, driven frame by frame by a tracker: within limits, speeds and accelerations.

    It sees no frame before it comes: feet that begin to touch the ground stay where they are then.

    >>> from supple.animate import Retarget
    >>> from supple.models import human
    >>> stream = Retarget(human(1.7), human()).stream(rate=60)
    >>> stream.step(human(1.7).rest).q.shape
    (56,)
    """

    def __init__(self, retarget: Retarget, rate: float, ground: float) -> None:
        """A stream of ``rate`` frames a second; ``ground`` is the height of the source's ground in metres."""
        if not 1 <= _check.real(rate) <= 10_000:
            raise BadInput(f"rate must be from 1 to 10000 frames a second, got {_check.short(rate)}")
        if not abs(_check.real(ground)) <= 1e6:
            raise BadInput(f"ground must be a finite number of metres, got {_check.short(ground)}")
        self._retarget, self._dt, self._ground = retarget, 1.0 / float(rate), float(ground)
        self._soles: Array | None = None
        self._feet: dict[str, tuple[Array, Array]] = {}
        self._ankles: dict[str, Array] = {}
        self._tracker: Tracker | None = None

    def step(self, q: ArrayLike) -> Step:
        """The next frame: joint values (dof,) of the source. Returns the tracker's step; its ``q`` are the target's."""
        values = np.array(_check.numbers(q, "q"), dtype=float)
        source = self._retarget.source
        if values.shape != (source.dof,) or not np.isfinite(values).all():
            raise BadInput(f"q must be {source.dof} finite numbers, got {_check.short(q)}")
        goals = self._goals(values)
        if self._tracker is None:
            start = self._start(goals)
            target = self._retarget.target
            self._tracker = Solver().track(target, goals, start, acceleration=_acceleration(target))
        return self._tracker.step(goals, self._dt)

    def _start(self, goals: list[Goal]) -> Array:
        """Joint values (dof,) to begin with: the root where it shall be, then all goals as far as they can be met."""
        retarget = self._retarget
        target, root = retarget.target, retarget._root
        q = np.array(target.rest)
        pelvis = goals[0]
        whole = np.eye(4)[None].copy()
        whole[0, :3, :3], whole[0, :3, 3] = pelvis.orientation, pelvis.position
        q[root.columns] = root.values(whole)[0]
        return np.array(Solver().solve(target, goals, q).q)

    def _goals(self, q: Array) -> list[Goal]:
        pair, links = self._retarget._pair, self._retarget._body.links
        source, target, scale = pair.source, pair.target, pair.scale
        frames = source.linkage.frames(q)
        at = {part: frames[source.links[part]] for part in source.rest}
        turned = {part: at[part].rotation @ offset for part, offset in pair.rest_offsets.items()}
        place = {part: frame.position - [0, 0, self._ground] for part, frame in at.items()}
        rest = target.rest["pelvis"]
        hips = 0.5 * (target.position("left_thigh") + target.position("right_thigh"))
        middle = scale * 0.5 * (place["left_thigh"] + place["right_thigh"])
        pelvis = np.eye(4)
        pelvis[:3, :3] = turned["pelvis"]
        pelvis[:3, 3] = middle - turned["pelvis"] @ rest[:3, :3].T @ (hips - rest[:3, 3])
        goals = [Goal(links["pelvis"], Frame._trusted(pelvis), weight=_PELVIS_WEIGHT)]
        goals.append(Goal(links["chest"], orientation=turned["chest"]))
        touching = self._touching(at)
        for side in SIDES:
            hip = hip_position(target, pelvis[None], side)[0]
            ankle = hip + scale * (place[f"{side}_foot"] - place[f"{side}_thigh"])
            foot = self._foot(side, turned[f"{side}_foot"], ankle, touching[side])
            goals.append(Goal(links[f"{side}_foot"], foot, weight=_FOOT_WEIGHT, turn_weight=_FOOT_TURN_WEIGHT))
        goals += [self._arm_goal(side, place, pelvis, turned["chest"]) for side in SIDES]
        goals += [self._pole(side, place, pelvis, turned["chest"]) for side in SIDES]
        return goals

    def _shoulder(self, side: str, pelvis: Array, chest: Array) -> Array:
        """Where a shoulder is (3,) if pelvis and chest are as asked."""
        target = self._retarget._body
        rest, base = target.rest["chest"], target.rest["pelvis"]
        waist = base[:3, :3].T @ (rest[:3, 3] - base[:3, 3])
        out = rest[:3, :3].T @ (target.position(f"{side}_upper_arm") - rest[:3, 3])
        shoulder: Array = pelvis[:3, 3] + pelvis[:3, :3] @ waist + chest @ out
        return shoulder

    def _ways(self, side: str, place: dict[str, Array]) -> tuple[Array, Array]:
        """The ways (3,) along the upper arm and the forearm, as long as those of the target."""
        target, ways = self._retarget._body, []
        for first, second in (("upper_arm", "forearm"), ("forearm", "hand")):
            way = place[f"{side}_{second}"] - place[f"{side}_{first}"]
            length = np.linalg.norm(target.position(f"{side}_{second}") - target.position(f"{side}_{first}"))
            ways.append(length * way / max(float(np.linalg.norm(way)), 1e-9))
        return ways[0], ways[1]

    def _arm_goal(self, side: str, place: dict[str, Array], pelvis: Array, chest: Array) -> Goal:
        upper, fore = self._ways(side, place)
        position = self._shoulder(side, pelvis, chest) + upper + fore
        return Goal(self._retarget._body.links[f"{side}_hand"], position=position, weight=_ARM_WEIGHT)

    def _pole(self, side: str, place: dict[str, Array], pelvis: Array, chest: Array) -> Goal:
        links = self._retarget._body.links
        upper, fore = self._ways(side, place)
        pole = self._shoulder(side, pelvis, chest) + 2 * upper - fore
        limb = links[f"{side}_upper_arm"], links[f"{side}_forearm"]
        return Goal(links[f"{side}_hand"], pole=pole, limb=limb, turn_weight=_TURN_WEIGHT)

    def _touching(self, at: dict[str, Frame]) -> dict[str, tuple[bool, bool]]:
        """For each side, whether heel and toe of the source touch the ground."""
        source = self._retarget._pair.source
        points = np.stack(
            [at[f"{side}_foot"].apply(point[side]) for side in SIDES for point in (source.heel, source.toe)]
        )
        before, self._soles = self._soles, points
        speed = np.zeros(4) if before is None else np.linalg.norm(points - before, axis=-1) / self._dt
        on = (points[:, 2] - self._ground < CONTACT_HEIGHT) & (speed < CONTACT_SPEED)
        return {side: (bool(on[2 * i]), bool(on[2 * i + 1])) for i, side in enumerate(SIDES)}

    def _foot(self, side: str, rotation: Array, ankle: Array, touching: tuple[bool, bool]) -> Frame:
        """The frame of a foot of the target that does not slide while it touches the ground."""
        body = self._retarget._body
        heel, toe = body.heel[side], body.toe[side]
        lowest = -min(float((rotation @ heel)[2]), float((rotation @ toe)[2]))
        before = self._feet.get(side)
        if before is None:
            position = ankle.copy()
        elif any(touching):
            pivot = toe if touching[1] else heel
            position = before[1] + (before[0] - rotation) @ pivot
        else:
            position = ankle + np.exp(-self._dt / _RELEASE) * (before[1] - self._ankles[side])
        position[2] = lowest if any(touching) else max(position[2], lowest)
        self._feet[side] = rotation, position
        self._ankles[side] = ankle
        whole = np.eye(4)
        whole[:3, :3], whole[:3, 3] = rotation, position
        return Frame._trusted(whole)
