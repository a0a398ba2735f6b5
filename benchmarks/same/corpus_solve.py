"""The corpus's solves: local methods with their damping schemes and preferences, and the search."""

from __future__ import annotations

from math import pi
from typing import Any

import api
import numpy as np
from api import prefer, scheme
from cases import ENDS, Store, chain, goal_kinds, slider, small_trees

LOCAL_ARMS = ("planar2", "planar3", "panda", "ur5", "so101", "puma560", "kraft")


def local(store: Store) -> None:
    arms = [(name, chain(name), [ENDS[name]]) for name in LOCAL_ARMS] + [("slider", slider(), ["tool"])]
    arms += [(tree.name, tree, tips) for tree, tips in small_trees(store.few(30, 8))]
    count = store.few(12, 4)
    for number, (name, arm, links) in enumerate(arms):
        frames = [arm.frame(arm.random(count, seed=number), link) for link in links]
        start = arm.random(count, seed=1000 + number)
        goals: list[Any] = [api.Goal(link, frame) for link, frame in zip(links, frames, strict=True)]
        far = [api.Goal(link, position=frame.position * 3 + 1) for link, frame in zip(links, frames, strict=True)]
        for label, solver in methods().items():
            how = f"local/methods/{name}/{label}"
            store.attempt(f"{how}", solver, arm, goals, start)
            store.attempt(f"{how}, far", solver, arm, far, start)
            one_step(store, f"local/steps/{name}/{label}", solver, arm, links, start[0])
        if number % 2 or name in ENDS:
            for label, solver in (options() | preferences(arm)).items():
                key = f"local/options/{name}/{label}"
                store.attempt(key, solver, arm, goals, start)
        if number % 3 == 0 or name in ENDS:
            for label, damping in schemes(name).items():
                key = f"local/damping/{name}/{label}"
                store.attempt(key, damped(damping), arm, goals, start)
                key = f"local/damping/{name}/{label}, outside"
                free = damped(damping, keep_limits=False, max_iterations=40)
                store.attempt(key, free, arm, far, start)
    kinds(store)


def one_step(store: Store, key: str, solver: Any, arm: Any, links: list[str], q: Any) -> None:
    """A single step, or that there is none."""
    goals = [api.Goal(link, position=arm.frame(arm.rest, link).position + 0.1) for link in links]
    try:
        store.put(key, q=solver.step(arm, goals, q))
    except api.BadInput:
        store.put(key, outcome=-1)


def kinds(store: Store) -> None:
    """Every kind of goal, by every method."""
    for name in ("panda", "ur5", "slider"):
        arm = slider() if name == "slider" else chain(name)
        link = arm.tips[0]
        frames, start = arm.frame(arm.random(3, seed=7), link), arm.random(3, seed=8)
        for kind, goal in goal_kinds(link, frames).items():
            for label, solver in methods().items():
                key = f"local/kinds/{name}/{kind}, {label}"
                store.attempt(key, solver, arm, goal, start)


def methods() -> dict[str, Any]:
    """A solver for every local method."""
    names = [name for name in api.METHODS if name not in ("search", "coordinate_descent")]
    made = {name: api.solver(name) for name in names} | {"transpose 0.05": api.solver("transpose", 0.05)}
    return made | {f"descent {rank.value}": api.solver("coordinate_descent", rank) for rank in api.ranks()}


def damped(damping: Any, **options: Any) -> Any:
    return api.solver("damped", damping=damping, **options)


def options() -> dict[str, Any]:
    """Damped least squares with every option."""
    return {
        "damping 1": damped(1.0),
        "damping 0": damped(0),
        "max_step": damped(None, max_step=0.1),
        "step_scale": damped(None, step_scale=0.4),
        "halvings": damped(None, halvings=4),
        "no escapes": damped(None, limit_escapes=0),
        "no limits": damped(None, keep_limits=False),
        "patience": damped(None, patience=3),
        "7 iterations": damped(None, max_iterations=7),
        "tolerance": damped(None, tolerance=api.Tolerance(1e-3, 1e-2)),
        "alternative, damping": api.solver("alternative_jacobian", damping=0.01, halvings=2),
    }


def preferences(arm: Any) -> dict[str, Any]:
    """Every preference, by the methods that take one."""
    some = {
        "rest": prefer.rest(arm.rest, 0.2),
        "centre": prefer.centre(),
        "away": prefer.away(arm.rest, 0.1, 0.5),
        "dexterity": prefer.dexterity(0.05),
        "function": prefer.function(lambda q: 0.1 * np.cos(q)),
        "sum": prefer.centre(0.05) + prefer.rest(arm.rest, np.linspace(0.05, 0.2, arm.dof)),
    }
    ways = ("pseudoinverse", "damped", "alternative_jacobian")
    return {f"{way}, {name}": api.solver(way, prefer=wish) for way in ways for name, wish in some.items()}


def schemes(name: str) -> dict[str, Any]:
    """Every damping scheme, as meant and as printed."""
    bound = scheme("condition_bound", 200.0)
    made = {
        "none": scheme("none"),
        "constant": scheme("constant", 1e-3),
        "bound": scheme("constant", bound),
        "singularities": scheme("singularities"),
        "singularities, bound": scheme("singularities", alpha0=bound, region=0.1),
        "chan_lawrence": scheme("chan_lawrence"),
        "function": scheme("function", lambda q, e, J, dt: (1e-3 + e @ e, np.full(len(q), 0.5))),
    }
    for each in ("nakamura_hanafusa", "kelmar_khosla", "mayorga", "limits", "schinstock"):
        made |= {each: scheme(each), f"{each}, printed": scheme(each, as_printed=True)}
    made["merged"] = scheme("limits", region=0.4) | scheme("mayorga", above=1e3) | scheme("kelmar_khosla", below=0.9)
    if name == "kraft":
        named = named_singularities()
        made["named"] = scheme("singularities", *named)
        made["named, printed"] = scheme("singularities", *named, as_printed=True)
        made["named, schinstock"] = scheme("schinstock", named)
    return made


def named_singularities() -> tuple[Any, ...]:
    """Those of the Kraft arm, one by each measure, so far as it has them."""
    one = api.Singularity
    return (
        one.bend("elbow", joints=("shoulder", "elbow", "wrist_pitch")),
        one.sine("wrist_yaw", pi / 2, joints=("wrist_pitch", "wrist_roll")),
        one.off_axis("azimuth", "wrist_yaw_link", region=0.3, joints=("azimuth",)),
    )


def search(store: Store) -> None:
    count = store.few(300, 15)
    for number, name in enumerate(ENDS):
        arm, link = chain(name), ENDS[name]
        case(store, f"search/arms/{name}", arm, [link], count, number)
    case(store, "search/arms/slider", slider(), ["tool"], count, 50)
    for number, (tree, tips) in enumerate(small_trees(store.few(200, 15), 7000)):
        case(store, f"search/trees/{tree.name}", tree, tips, 6, 100 + number)
    both = ["left_gripper", "right_gripper"]
    case(store, "search/several/baxter", api.models.baxter().part("base", *both), both, 12, 60)
    hands = ["left_rubber_hand", "right_rubber_hand", "left_ankle_roll_link"]
    case(store, "search/several/g1", api.models.g1(), hands, store.few(6, 2), 61)
    for name in ("panda", "ur5", "so101", "slider"):
        variants(store, name, slider() if name == "slider" else chain(name))
    for name in ("panda", "ur5", "so101"):
        arm, link = chain(name), ENDS[name]
        frames = arm.frame(arm.random(store.few(20_000, 500), seed=70), link)
        store.attempt(f"search/batch/{name}", api.solver(), arm, api.Goal(link, frames))
        start = arm.random(len(frames.matrix), seed=71)
        bad = frames.matrix.copy()
        bad[::50, 0, 3] = np.nan
        goal = api.Goal(link, position=bad[:, :3, 3], orientation=bad[:, :3, :3])
        store.attempt(f"search/batch/{name}, start", api.solver(), arm, goal, start)


def case(store: Store, key: str, arm: Any, links: list[str], count: int, seed: int) -> None:
    """Reachable and unreachable goals, one by one and in a batch, with and without a start."""
    frames = [arm.frame(arm.random(count, seed=seed), link) for link in links]
    start = arm.random(count, seed=seed + 500)
    plain, short = api.solver(), api.solver(max_iterations=4000)
    find = api.compiled(plain, arm, links)
    q, near = np.full((2, count, arm.dof), np.nan)
    found = []
    for i in range(count):
        wanted = frames[0][i] if len(links) == 1 else np.stack([frame.matrix[i] for frame in frames])
        answer = find(wanted)
        q[i] = np.nan if answer is None else answer
        found.append([answer is not None, find(wanted, start[i], near[i]) is not None])
    store.put(f"{key}/compiled", q=q, near=near, outcome=np.array(found, int))
    goals = [api.Goal(link, frame) for link, frame in zip(links, frames, strict=True)]
    store.attempt(f"{key}/batch", plain, arm, goals)
    store.attempt(f"{key}/batch, start", plain, arm, goals, start)
    one = [api.Goal(link, frame[0]) for link, frame in zip(links, frames, strict=True)]
    store.put(f"{key}/one", **api.solution_parts(api.solve(arm, one[0] if len(one) == 1 else one)))
    few = min(count, 8)
    far = [
        api.Goal(link, position=frame.position[:few] * 2 + 0.5, orientation=frame[:few])
        for link, frame in zip(links, frames, strict=True)
    ]
    store.attempt(f"{key}/far", short, arm, far)
    store.attempt(f"{key}/far, start", short, arm, far, start[:few])


def variants(store: Store, name: str, arm: Any) -> None:
    """Kinds of goals, several solutions, and the options of the search."""
    link = arm.tips[0]
    count = store.few(50, 5)
    frames, start = arm.frame(arm.random(count, seed=80), link), arm.random(count, seed=81)
    quick = api.solver(max_iterations=4000)
    for kind, goal in goal_kinds(link, frames).items():
        store.attempt(f"search/kinds/{name}/{kind}", quick, arm, goal)
        store.attempt(f"search/kinds/{name}/{kind}, start", quick, arm, goal, start)
    goal = api.Goal(link, position=frames.position)
    store.attempt(f"search/solutions/{name}/8", quick, arm, goal, solutions=8)
    one = api.Goal(link, frames[0])
    store.attempt(f"search/solutions/{name}/one", quick, arm, one, start[0], solutions=16)
    first, later = api.Goal(link, position=frames.position), api.Goal(link, orientation=frames, priority=1)
    store.attempt(f"search/options/{name}/priority", quick, arm, [first, later], start)
    for label, options in {
        "weights": {"joint_weights": tuple(np.linspace(0.2, 1, arm.dof))},
        "locked": {"joint_weights": (0.0, *[1.0] * (arm.dof - 1))},
        "max_step": {"max_step": 0.3},
        "300 iterations": {"max_iterations": 300},
        "no limits": {"keep_limits": False},
        "tolerance": {"tolerance": api.Tolerance(1e-3, 1e-3)},
        "prefer": {"prefer": prefer.centre()},
    }.items():
        solver = api.solver(**({"max_iterations": 4000} | options))
        store.attempt(f"search/options/{name}/{label}", solver, arm, goal, start)
