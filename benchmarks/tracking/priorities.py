"""Several wishes at once: which gives way, five-joint arms, and both hands on one box."""

from __future__ import annotations

import re

import numpy as np

from supple import Goal, Solver
from supple.gauntlet.arms import difference

from . import arms, motion
from .arms import Arm
from .report import Asked, Row
from .swings import wander

ARMS = ("g1_2", "baxter2", "talos2", "tiago_pro2", "so101", "so100", "ur5", "xarm7", "kinova")
QUICK = ("g1_2", "tiago_pro2", "so101", "baxter2", "ur5", "xarm7")
RATE = 300
DRAGGED = 1.0  # mm, the tolerance of following
BOX = 0.6  # m


def measure(name: str, asked: Asked) -> list[Row]:
    """Rows of one arm."""
    arm = arms.get(name)
    if len(arm.links) == 1:
        return [_said(arm, asked), _five(arm, asked)] if arm.linkage.dof < 6 else [_said(arm, asked)]
    rows = _dragged(arm, asked)
    return [*rows, _box(arm, asked)] if name.startswith("baxter") else rows


def _dragged(arm: Arm, asked: Asked) -> list[Row]:
    """The second end effector overreaches; the first has the lower priority number, and its command rests."""
    worst, total = (0.0, ""), 0
    for number in asked.trials(50, 6):
        rng = motion.random_of(arm, "priorities", number)
        start = motion.inside(arm, rng, 0.3)
        here = arm.frames(start)
        way, axis = rng.normal(size=(2, 3))
        way *= rng.uniform(0.2, 0.9) / np.linalg.norm(way)
        u = motion.smooth(np.arange(5 * RATE) / (2 * RATE))[:, None]
        right = motion.moved(here[1][None], u * way, u * 0.4 * axis)
        goals = [Goal(link, np.eye(4), priority=k) for k, link in enumerate(arm.links)]
        follow = motion.tracker(arm, start, asked.options, goals)
        commands = np.stack([np.broadcast_to(here[0], right.shape), right], axis=1)
        q, _ = follow.replay(commands, 1 / RATE)
        moved = 1e3 * float(motion.far(arm, q, commands)[:, 0].max())
        worst = max(worst, (moved, f"--parts priorities --arms {arm.name} --first {number} --count 1"))
        total += 1
    what = f"first end effector dragged by the second, worst of {total}"
    return [Row("priorities", arm.name, what, worst[0], "mm", DRAGGED, worst[1])]


def _said(arm: Arm, asked: Asked) -> Row:
    """A goal whose position weighs 0.01: by how much it is said to be out of reach, against by how much it is."""
    worst = (0.0, "")
    for number in asked.trials(50, 20):
        rng = motion.random_of(arm, "light", number)
        start = motion.inside(arm, rng, 0.7)
        way, axis = rng.normal(size=(2, 3))
        way *= rng.uniform(0.1, 0.8) * arm.reach() / np.linalg.norm(way)
        u = motion.smooth(np.arange(5 * RATE) / (2 * RATE))[:, None]
        commands = motion.moved(arm.frames(start), u * way, u * 0.5 * axis)
        follow = motion.tracker(arm, start, asked.options, Goal(arm.link, np.eye(4), weight=0.01))
        follow.replay(commands[:, None], 1 / RATE)
        why = follow.step(commands[-1], 1 / RATE).why
        amount = re.search(r"out of reach by ([\d.e+-]+) (mm|m|um)\b", why)
        if amount:
            goal = Goal(arm.link, position=commands[-1, :3, 3])
            nearest = arm.linkage.frame(Solver().solve(arm.linkage, goal).q, arm.link).position
            truth = float(np.linalg.norm(nearest - commands[-1, :3, 3]))
            said = float(amount[1]) * {"mm": 1e-3, "m": 1.0, "um": 1e-6}[amount[2]]
            note = (
                f"{why} (truly {1e3 * truth:.0f} mm); --parts priorities --arms {arm.name} --first {number} --count 1"
            )
            worst = max(worst, (1e3 * (said - truth), note))
    return Row(
        "priorities", arm.name, "position of weight 0.01: said farther out of reach", worst[0], "mm", 10, worst[1]
    )


def _five(arm: Arm, asked: Asked) -> Row:
    """The position rests inside the reach while the orientation turns: the position must not give way."""
    worst = (0.0, "")
    for number in asked.trials(50, 10):
        rng = motion.random_of(arm, "five", number)
        start = motion.inside(arm, rng, 0.6)
        axis = rng.normal(size=3)
        u = motion.smooth(np.arange(5 * RATE) / (2 * RATE))[:, None]
        turn = u * rng.uniform(0.2, 1.0) * axis / np.linalg.norm(axis)
        commands = motion.moved(arm.frames(start), np.zeros(3), turn)[:, None]
        q, _ = motion.tracker(arm, start, asked.options).replay(commands, 1 / RATE)
        error = 1e3 * float(motion.far(arm, q, commands).max())
        worst = max(worst, (error, f"--parts priorities --arms {arm.name} --first {number} --count 1"))
    return Row("priorities", arm.name, "position error while the wrist turns", worst[0], "mm", 1.0, worst[1])


def _box(arm: Arm, asked: Asked) -> Row:
    """Both hands hold a box of 60 cm, which goes through the workspace and past it: error of one hand from the other.

    The second hand is held relative to the first, which leads the box. The hold comes first.
    """
    rng = motion.random_of(arm, "box", asked.first)
    start = arm.linkage.rest.copy()
    here = arm.frames(start)
    middle = here[:, :3, 3].mean(axis=0)
    hands = here.copy()
    side = here[0, :3, 3] - here[1, :3, 3]
    side /= np.linalg.norm(side)
    hands[:, :3, 3] = middle + np.array([0.5, -0.5])[:, None] * BOX * side
    leader, other = arm.links
    one, wanted = np.linalg.inv(here[0]) @ here[1], np.linalg.inv(hands[0]) @ hands[1]
    goals = [Goal(other, one, relative_to=leader), Goal(leader, here[0], priority=1)]
    follow = motion.tracker(arm, start, asked.options, goals)
    apart = motion.towards(one[None], wanted[None], motion.smooth(np.arange(3 * RATE) / (2 * RATE)))
    to_box = motion.towards(here[:1], hands[:1], motion.smooth(np.arange(3 * RATE) / (2 * RATE)))
    follow.replay(np.concatenate([apart, to_box], axis=1), 1 / RATE)
    time = np.arange(20 * RATE) / RATE
    way = wander(rng, time, 3, 0.05, 0.2) * np.array([0.5, 0.4, 0.5]) * motion.smooth(time / 2)[:, None]
    moved = motion.moved(hands[None, :1], way[:, None], np.zeros(3))
    commands = np.concatenate([np.broadcast_to(wanted, moved.shape), moved], axis=1)
    q, status = follow.replay(commands, 1 / RATE)
    frames = arm.frames(q)
    error = 1e3 * np.linalg.norm(difference(wanted[None], np.linalg.inv(frames[:, 0]) @ frames[:, 1])[:, :3], axis=1)
    note = f"yields or lags in {100 * float((status != 0).mean()):.0f} % of ticks"
    return Row("priorities", arm.name, "box: error of one hand from the other", float(error.max()), "mm", 0.1, note)
