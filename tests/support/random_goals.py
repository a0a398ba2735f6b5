"""Random goals and limits for the linkages of random_trees: seeded, of every kind, one or several at once."""

from dataclasses import replace

import numpy as np

from oracle_solve import path
from random_trees import random_q, random_tree
from supple._solve.goal_error import goal_jacobian
from supple.goal import Goal
from supple.joint import Kind
from supple.linkage import Linkage


def small_tree(seed):
    """A random linkage of 1 to 10 joints, or None if nothing in it moves."""
    tree = random_tree(seed, int(np.random.default_rng([seed, 1]).integers(1, 11)))
    return tree if tree.dof else None


def random_goals(tree, seed):
    """One to three goals for links that move: frames, positions, turns and axes, with weights and points."""
    rng = np.random.default_rng([seed, 2])
    links = [link.name for link in tree.links if any(j.kind is not Kind.FIXED for j in path(tree, link.name))]
    frames = tree.frames(random_q(tree, seed + 1_000_000))
    return [
        random_goal(link, frames[link], rng)
        for link in rng.choice(links, min(len(links), rng.choice([1, 1, 1, 2, 3])), replace=False).tolist()
    ]


def random_goal(link, frame, rng):
    """A goal of any kind that this frame fulfils, but for an axis, which is another one."""
    weight = [None, 1.0, 2.5, (1.0, 2.0, 0.5), (1.0, 0.0, 2.0)][rng.choice(5, p=[0.3, 0.2, 0.2, 0.2, 0.1])]
    turn = [1.0, 0.4, (1.0, 0.5, 2.0), (1.0, 0.0, 1.0)][rng.choice(4, p=[0.4, 0.3, 0.2, 0.1])]
    point = rng.uniform(-0.3, 0.3, 3) if rng.random() < 0.3 else np.zeros(3)
    place = {"position": frame.apply(point), "point": point, "weight": weight}
    aim = {"axis": rng.normal(size=3), "direction": rng.normal(size=3), "turn_weight": turn}
    return [
        lambda: Goal(link, orientation=frame, turn_weight=turn, **place),
        lambda: Goal(link, **place),
        lambda: Goal(link, orientation=frame, turn_weight=turn),
        lambda: Goal(link, **aim),
        lambda: Goal(link, **place, **aim),
    ][rng.choice(5, p=[0.2, 0.35, 0.15, 0.15, 0.15])]()


def ranked(goals, rng):
    """The same goals with priorities of their own; some share one."""
    return [with_options(goal, priority=int(rng.integers(0, 3))) for goal in goals]


def some_relative(tree, goals, rng):
    """The same goals, some of them relative to another link, where joints between the two move it."""

    def changed(goal):
        links = [link.name for link in tree.links if link.name != goal.link]
        if not links or rng.random() < 0.5:
            return goal
        relative = with_options(goal, relative_to=str(rng.choice(links)))
        moves = np.abs(goal_jacobian(tree, relative, tree.random(4, seed=rng))).max() > 1e-6
        return relative if moves else goal

    return [changed(goal) for goal in goals]


def with_options(goal, **changed):
    """The same goal with some options changed."""
    names = (
        "position",
        "orientation",
        "axis",
        "direction",
        "point",
        "relative_to",
        "weight",
        "turn_weight",
        "priority",
    )
    return Goal(goal.link, **{name: getattr(goal, name) for name in names} | changed)


def limited(tree, seed):
    """The same linkage with limits on most of its joints."""
    rng = np.random.default_rng([seed, 3])

    def bounds(n):
        low, high = np.sort(rng.uniform(-2.5, 2.5, (2, n)), axis=0)
        return {"lower": tuple(low.tolist()), "upper": tuple(high.tolist())}

    def limit(joint):
        if joint.mimic or rng.random() < 0.3:
            return joint
        if joint.kind in (Kind.REVOLUTE, Kind.PRISMATIC, Kind.PLANAR):
            return replace(joint, **bounds(joint.kind.dof), rest=())
        if joint.kind is Kind.BALL:
            twist = np.sort(rng.uniform(-3, 3, 2)).tolist()
            return replace(joint, swing=rng.uniform(0.2, 3), twist=tuple(twist), rest=())
        return joint

    return Linkage(tree.name, [limit(joint) for joint in tree.joints], tree.links, tree.base)
