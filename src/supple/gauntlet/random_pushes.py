"""Random pushes out of reach and back: whether the arm returns, and whether on the same branch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import radians

import numpy as np

from supple import _check
from supple.errors import BadInput
from supple.frame import Array
from supple.gauntlet.arms import Arm, arm_from_linkage, known_arm
from supple.gauntlet.derived_hazards import margin, random_inside
from supple.gauntlet.hand_motions import Lines, shifted, turned
from supple.gauntlet.hazard import Hazard
from supple.gauntlet.measures import ANGLE, POSITION, Measures, common_measures, position_and_angle
from supple.gauntlet.rest_measures import REST
from supple.gauntlet.runner import Run
from supple.gauntlet.singularities import smallest_singular_value, task_rank
from supple.linkage import Linkage

BRANCH = 1e-3  # rad or m; a larger difference between start and end is another branch


def pushes(arm: str | Linkage | Arm, count: int = 100, seed: int = 0, link: str | None = None) -> list[Hazard]:
    """Random pushes: 0.2 to 0.8 of the reach in a random direction with up to 70 degrees of rotation, hold, return.

    Each starts at random joint values, at least 0.1 rad within limits, whose smallest singular value is at least a
    third of the median. It takes 2.5 s out and 2.5 s back, with rests of 0.3, 1.0 and 1.2 s before, between and after.

    Args:
        arm: a name from `supple.gauntlet.names`, or any linkage.
        count: number of pushes.
        seed: seed of the random numbers; a longer list begins with the pushes of a shorter one.
        link: the end effector, for a linkage with several tips.
    """
    count = _check.whole(count, "count", 1)
    chosen = (
        known_arm(arm) if isinstance(arm, str) else arm_from_linkage(arm, link) if isinstance(arm, Linkage) else arm
    )
    rng = np.random.default_rng(seed)
    starts = _well_conditioned(chosen, seed)
    return [_push(chosen, i, next(starts), rng) for i in range(count)]


def _well_conditioned(arm: Arm, seed: int) -> Iterator[Array]:
    full = task_rank(arm)
    free = float(np.median(smallest_singular_value(arm, random_inside(arm, 256, 1), full))) / 3
    for chunk in range(1000):
        q = random_inside(arm, 64, 1000 * seed + chunk, 1.0)
        yield from q[(margin(arm, q) > 0.1) & (smallest_singular_value(arm, q, full) > free)]
    raise BadInput(f"{arm.name} has too few well-conditioned joint values inside its limits")


def _push(arm: Arm, number: int, q: Array, rng: np.random.Generator) -> Hazard:
    way, axis = rng.normal(size=3), rng.normal(size=3)
    far, angle = rng.uniform(0.2, 0.8) * arm.reach, rng.uniform(0, radians(70))
    frame = arm.frames(q)
    there = shifted(turned(frame, angle * axis / np.linalg.norm(axis)), far * way / np.linalg.norm(way))
    hand = Lines(frame).hold(0.3).to(there, 2.5).hold(1.0).to(frame, 2.5).hold(1.2)
    title = f"push {far:.2f} m, turn {np.degrees(angle):.0f} deg, hold, return"
    return Hazard(arm, f"push_{number:03d}", title, hand, hand.duration, q, hold=(3.3, 3.8))


def pushed(run: Run) -> Measures:
    """The measures of a push: back (within 1 mm and 0.5 deg at the end), closure_rad, same_branch, and the bounds."""
    far, off = position_and_angle(run.hazard.arm.error(run.q[-1:], run.hazard.frames(run.rate)[-1:]))
    closure = float(np.abs(_shortest(run.hazard.arm, run.q[-1] - run.hazard.start)).max())
    return common_measures(run) | {
        "back": bool(far[0] < POSITION and off[0] < ANGLE),
        "closure_rad": closure,
        "same_branch": closure <= BRANCH,
        "end_mm": float(far[0] * 1e3),
        "end_deg": float(np.degrees(off[0])),
    }


def _shortest(arm: Arm, change: Array) -> Array:
    """A change of q (dof,), modulo whole turns for joints without limits."""
    turns = np.array([unit == "rad" for joint in arm.linkage.joints if joint.dof for unit in joint.units])
    endless = turns & np.isinf(arm.lower) & np.isinf(arm.upper)
    return np.asarray(np.where(endless, (change + np.pi) % (2 * np.pi) - np.pi, change))


def summarize_pushes(rows: Sequence[Measures]) -> Measures:
    """A summary of many pushes: how many did not return, changed branch, chattered, moved at rest; and worst values.

    ``moving`` counts the pushes in which a joint moves while the command rests, also those that are still returning.
    """
    return {
        "count": len(rows),
        "lost": sum(not row["back"] for row in rows),
        "other_branch": sum(not row["same_branch"] for row in rows),
        "chattering": sum(row["chatter_frac"] > 1e-3 for row in rows),
        "moving": sum(row.get("rest_joint_speed_max", 0.0) > REST for row in rows),
        "rest_joint_speed_max": max(row.get("rest_joint_speed_max", 0.0) for row in rows),
        "acc_max": max(row["acc_max"] for row in rows),
        "raw_ratio_max": max(row["raw_ratio_max"] for row in rows),
        "limit_viol_worst_rad": max(row["limit_viol_worst_rad"] for row in rows),
        "exceptions": sum(row["exceptions"] for row in rows),
        "nan": sum(row["nan"] for row in rows),
        "lost_which": [i for i, row in enumerate(rows) if not row["back"]],
        "other_branch_which": [i for i, row in enumerate(rows) if not row["same_branch"]],
    }
