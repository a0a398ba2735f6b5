"""Arms, goals and random damping schemes for tests, each scheme as a value and as the oracle's."""

import math
from functools import cache

import numpy as np

import oracle_damping as oracle
from oracle import columns
from random_goals import limited, random_goals, small_tree
from supple import Goal, Solver, damping, method, models
from supple._solve import compilation
from supple.damping import Singularity
from supple.joint import Kind

ENDS = {
    "panda": "panda_hand_tcp",
    "ur5": "tool0",
    "puma560": "tool",
    "so101": "gripper_frame_link",
    "kraft": "tool",
    "iiwa14": "tool0",
    "planar3": "tip",
}
DT = 1 / 300


def planned(arm, goals, scheme, **options):
    """A plan, and the function that ticks it with a memory of its own."""
    solver = Solver(method=method.damped(), damping=scheme, keep_limits=False, **options)
    plan = compilation.compiled(arm, goals, solver)
    memory = plan.memory()
    asked = solver._callbacks()

    def tick(q, numbers=None, dt=DT, rows=None):
        given = np.stack([goal._encoded(()) for goal in goals]) if numbers is None else numbers
        return plan.tick(q, given, dt, memory, rows, *asked)

    return plan, tick


def goals_can_be_moved(arm, goals):
    """Whether each joint value changes the goals' errors, somewhere; none does for a ball's own centre."""
    if not goals:
        return [False]
    plan = compilation.compiled(arm, goals, Solver())
    numbers = np.stack([goal._encoded(()) for goal in goals])
    return np.abs(plan.evaluate(arm.random(seed=0), numbers, False)[1]).max(axis=0) > 1e-6


@cache
def arm_of(seed):
    """A stock arm or a random tree with limits, and goals for it."""
    rng = np.random.default_rng([seed, 7])
    if seed % 2:
        tree = small_tree(seed)
        goals = random_goals(tree, seed) if tree is not None else []
        if any(goals_can_be_moved(tree, goals)):
            return limited(tree, seed), goals
    name = rng.choice(list(ENDS))
    arm, end = models.get(name), ENDS[name]
    frame = arm.frame(arm.random(seed=seed), end)
    kind = rng.integers(3)
    wanted = [
        lambda: Goal(end, frame),
        lambda: Goal(end, position=frame.position),
        lambda: Goal(end, orientation=frame),
    ]
    return arm, [wanted[kind]()]


@cache
def rank_of(seed):
    """The rank that goals and linkage can have together."""
    arm, goals = arm_of(seed)
    plan = compilation.compiled(arm, goals, Solver())
    numbers = np.stack([goal._encoded(()) for goal in goals])
    used = list(plan.columns)
    return max(
        np.linalg.matrix_rank(plan.evaluate(q, numbers, False)[1][:, used], 1e-6) for q in arm.random(40, seed=5)
    )


def regions(arm, used, turn, slide):
    """Where each joint's limits begin to be felt (dof,)."""
    found, where = np.zeros(arm.dof), columns(arm)
    for joint in arm.joints:
        if joint.mimic is None and joint.kind in (Kind.REVOLUTE, Kind.PRISMATIC, Kind.PLANAR):
            slides = {Kind.PRISMATIC: 1, Kind.PLANAR: 2}.get(joint.kind, 0)
            for i in range(joint.kind.dof):
                found[where[joint.name] + i] = slide if i < slides else turn
    found[~np.isin(np.arange(arm.dof), used)] = 0
    found[np.isinf(arm.lower) & np.isinf(arm.upper)] = 0
    return found


def random_scheme(arm, used, rank, rng, which):
    """One scheme twice: as a value, and as the oracle's."""
    alpha0, printed = float(10 ** rng.uniform(-4, -1)), bool(rng.integers(2))
    given, bounded = alpha0, alpha0
    if rng.random() < 0.3:
        kappa = float(10 ** rng.uniform(0.5, 4))
        given, bounded = damping.condition_bound(kappa), ("kappa", kappa)
    single = [
        j.name for j in arm.joints if j.mimic is None and j.kind in (Kind.REVOLUTE, Kind.CONTINUOUS, Kind.PRISMATIC)
    ]
    single = [name for name in single if columns(arm)[name] in used]
    if which == 0:
        return damping.constant(given), oracle.Constant(bounded)
    if which == 1:
        return damping.chan_lawrence(alpha0), oracle.Error(alpha0)
    if which == 2:
        w0 = float(10 ** rng.uniform(-3, 2))
        return damping.nakamura_hanafusa(given, w0, as_printed=printed), oracle.Manipulability(bounded, w0, printed)
    if which == 3:
        return damping.kelmar_khosla(given, 0.9, as_printed=printed), oracle.Falling(bounded, 0.9, printed)
    if which == 4:
        l0 = float(10 ** rng.uniform(1, 6))
        return damping.mayorga(given, l0), oracle.Conditioning(bounded, l0)
    if which == 5:
        region = float(rng.uniform(0.01, 0.9))
        return damping.singularities(alpha0=given, region=region), oracle.Weakest(bounded, region)
    if which == 6:
        turn, slide, least, rate = (float(x) for x in rng.uniform([0.1, 0.1, 0.001, 2], [2, 1, 0.3, 50]))
        value = damping.limits(given, turn, least, rate, slide_region=slide, tiny=0.0, as_printed=printed)
        found = regions(arm, used, turn, slide)
        return value, oracle.Limits(bounded, arm.lower, arm.upper, found, least, rate, printed)
    if which == 7 and single:
        region, least = float(rng.uniform(0.3, 2)), float(rng.uniform(0, 0.5))
        spared = rng.choice(single, rng.integers(1, len(single) + 1), replace=False).tolist()
        common = {"region": region, "joints": spared, "weight": least}
        joint = arm.joint(rng.choice(single))
        column, turns = columns(arm)[joint.name], joint.kind is not Kind.PRISMATIC
        values = rng.uniform(-2, 2, rng.integers(1, 4)).tolist()
        named, measure = Singularity.bend(joint.name, values, **common), oracle.bend(column, values, turns)
        if turns and rng.integers(2):
            named, measure = (
                Singularity.sine(joint.name, values[0], **common),
                lambda q: abs(np.sin(q[column] - values[0])),
            )
        if rng.random() < 0.3:
            named, measure = Singularity.function(measure, **common), measure
        where = [columns(arm)[name] for name in spared]
        value = damping.singularities(named, alpha0=given, as_printed=printed)
        return value, oracle.Named(bounded, measure, region, where, least, printed)

    def f(q, e, J, dt):
        return abs(math.sin(q.sum())) * dt + np.abs(e).sum() * 1e-3, np.abs(np.cos(q + J.sum(axis=0)))

    return damping.function(f), oracle.Asked(f)
