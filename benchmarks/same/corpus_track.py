"""The corpus's ticks: hazards, jumps and holds, two end effectors, and all that a tracker can be given."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import api
import numpy as np
from cases import ENDS, Store, chain, slider, small_trees
from corpus_solve import named_singularities

HAZARD_ARMS = ("panda", "ur5", "puma560", "so101", "iiwa14")


def record(store: Store, key: str, steps: Iterable[Any], every: int = 5) -> None:
    """All that a sequence of ticks tells."""
    rows = [api.step_parts(step) for step in steps]
    store.thinned(key, every, **{name: np.array([row[name] for row in rows]) for name in rows[0]})


def tracking(store: Store) -> None:
    hazards(store)
    jumps(store)
    two_hands(store)
    given(store)
    steered(store)
    trees(store)


def hazards(store: Store) -> None:
    """The gauntlet at 300 Hz."""
    for name in HAZARD_ARMS:
        for hazard in api.gauntlet.hazards(name):
            if store.quick and hazard.key[:2] not in ("s1", "s4", "s5", "s8"):
                continue
            arm = hazard.arm
            goal = api.Goal(arm.link, np.eye(4), weight=math.pi / arm.reach)
            tracker = api.solver().track(arm.linkage, goal, start=hazard.start, acceleration=15.0)
            frames = hazard.frames(300.0)
            record(store, f"tracking/gauntlet/{name}/{hazard.key}", (tracker.step(f, 1 / 300) for f in frames), 20)
            tracker.reset(hazard.start)
            q, states = tracker.replay(frames[:: store.few(1, 4)], 1 / 300)
            store.thinned(f"tracking/replay/{name}/{hazard.key}", 20, q=q, status=states)


def held(rng: Any, tracker: Any, links: list[str], rate: float, seconds: float) -> Callable[[], Iterable[Any]]:
    """Commands that jump every so often to frames near or far, some out of reach, and rest there."""
    arm = tracker.linkage

    def steps() -> Iterable[Any]:
        for _ in range(4):
            q = arm.clamp(arm.integrate(tracker.q, rng.normal(size=arm.dof) * rng.choice([0.1, 0.5, 1.5])))
            frames = [arm.frame(q, link).matrix.copy() for link in links]
            for frame in frames:
                frame[:3, 3] += rng.normal(size=3) * rng.choice([0.0, 0.0, 0.3])
            for _ in range(int(seconds * rate)):
                yield tracker.step(frames[0] if len(frames) == 1 else frames, 1 / rate)

    return steps


def jumps(store: Store) -> None:
    """Random jumps and holds."""
    for name in ("panda", "ur5", "puma560", "so101", "iiwa14", "kraft", "slider", "planar3"):
        arm = slider() if name == "slider" else chain(name)
        for rate in (60.0, 125.0, 300.0, 1000.0):
            for seed in range(store.few(10, 1)):
                start = arm.random(seed=seed)
                tracker = api.solver().track(arm, arm.tips[0], start=start)
                steps = held(np.random.default_rng([seed, 9]), tracker, [arm.tips[0]], rate, store.few(2, 1))
                record(store, f"tracking/jumps/{name}/{rate:g} Hz, {seed}", steps(), 20)


def two_hands(store: Store) -> None:
    """Two end effectors."""
    for name, links in (
        ("baxter", ["left_gripper", "right_gripper"]),
        ("g1", ["left_rubber_hand", "right_rubber_hand"]),
    ):
        arm = api.models.get(name)
        for rate in (125.0, 300.0):
            tracker = api.solver().track(arm, links)
            steps = held(np.random.default_rng(int(rate)), tracker, links, rate, store.few(3, 1))
            record(store, f"tracking/two hands/{name}/{rate:g} Hz", steps(), 20)


def given(store: Store) -> None:
    """Measured joints, twists, stamps, irregular ticks, other bounds, bad commands, many arms."""
    for name in ("panda", "ur5"):
        arm, link = chain(name), ENDS[name]
        ticks, rng = store.few(1500, 400), np.random.default_rng(4)
        centre, t = arm.frame(arm.rest, link).matrix, np.arange(ticks) / 300
        frames = np.repeat(centre[None], ticks, axis=0)
        frames[:, :3, 3] += 0.2 * np.stack([np.sin(2 * t), np.sin(3 * t), np.sin(5 * t)], axis=-1)
        stamps = np.maximum.accumulate(t + rng.uniform(-0.004, 0.002, ticks))
        dts = 10 ** rng.uniform(-4, -1, ticks)
        twists = np.repeat(rng.normal(size=(-(-ticks // 100), 6)) * 0.3, 100, axis=0)[:ticks]
        bad = frames.copy()
        bad[::40, 0, 3] = np.nan
        bad[20::40, :3, :3] *= 2.0

        def make(arm: Any = arm, link: str = link, **options: Any) -> Any:
            return api.solver().track(arm, link, **options)

        def measured(tracker: Any, frames: Any = frames) -> Iterable[Any]:
            real = tracker.q.copy()
            for frame in frames:
                step = tracker.step(frame, 1 / 300, measured=real)
                real = real + 0.05 * (step.q - real)
                yield step

        key = f"tracking/given/{name}"
        record(store, f"{key}/measured", measured(make()))
        a, b, c, d, e, f = (make() for _ in range(6))
        record(
            store, f"{key}/stamps", (a.step(x, 1 / 300, stamp=s) for x, s in zip(frames[::5], stamps[::5], strict=True))
        )
        record(store, f"{key}/irregular", (b.step(x, dt) for x, dt in zip(frames, dts, strict=True)))
        record(store, f"{key}/bad", (c.step(x, dt) for x, dt in zip(bad, [1 / 300, 0, math.nan] * ticks, strict=False)))
        record(store, f"{key}/twists", (d.push(x, 1 / 300) for x in twists))
        record(store, f"{key}/position", _positions(arm, link, frames))
        turn = api.Goal(link, np.eye(4), weight=3.0, turn_weight=(1.0, 0.5, 0.0))
        weighed = api.solver().track(arm, turn)
        record(store, f"{key}/weights", (weighed.step(x, 1 / 300) for x in frames))
        slow = make(acceleration=2.0, jerk=30.0, tolerance=api.Tolerance(1e-2, 1e-2))
        record(store, f"{key}/slow", (slow.step(x, 1 / 300) for x in frames))
        mixed = (
            e.push(w, 1 / 300) if i % 50 < 20 else e.step(x, 1 / 300)
            for i, (w, x) in enumerate(zip(twists, frames, strict=True))
        )
        record(store, f"{key}/mixed", mixed)
        many = make(start=arm.random(5, seed=3))
        record(store, f"{key}/many", (many.step(np.repeat(x[None], 5, axis=0), 1 / 300) for x in frames[:400]))
        q, states = f.replay(frames, 1 / 300, stamps)
        store.thinned(f"{key}/replay", 5, q=q, status=states)


def _positions(arm: Any, link: str, frames: Any) -> Iterable[Any]:
    """Commands of a position, and of an axis too."""
    at = api.solver().track(arm, api.Goal(link, position=[0.0, 0.0, 0.0]))
    both = api.solver().track(arm, api.axis_goal(link, [0, 0, 1], [0, 0, -1], position=[0, 0, 0]))
    for frame in frames:
        yield at.step(api.Goal(link, position=frame[:3, 3]), 1 / 300)
        yield both.step(api.axis_goal(link, [0, 0, 1], frame[:3, 0], position=frame[:3, 3]), 1 / 300)


def steered(store: Store) -> None:
    """Ticks whose step is another method's."""
    scheme = api.scheme
    for name in ("panda", "ur5", "kraft"):
        hazard = next(h for h in api.gauntlet.hazards("ur5" if name == "kraft" else name, ["s4"]))
        arm, link, start, frames = hazard.arm.linkage, hazard.arm.link, hazard.start, hazard.frames(300.0)
        ways = {
            "constant": api.solver("damped", damping=scheme("constant", 1e-3)),
            "damped": api.solver("damped", damping=0.01),
            "pseudoinverse": api.solver("pseudoinverse"),
            "selectively_damped": api.solver("selectively_damped"),
            "coordinate_descent": api.solver("coordinate_descent"),
        }
        for each, more in (
            ("nakamura_hanafusa", {"below": 0.1}),
            ("kelmar_khosla", {}),
            ("mayorga", {"above": 1e3}),
            ("limits", {}),
        ):
            ways[each] = api.solver("damped", damping=scheme(each, **more))
            printed = scheme(each, **more, as_printed=True) | scheme("limits", as_printed=True)
            ways[f"{each}, printed"] = api.solver("damped", damping=printed, keep_limits=False)
        ways["schinstock"] = api.solver("damped", damping=scheme("schinstock"))
        if name == "kraft":
            arm, link = api.models.kraft(), "tool"
            start = arm.rest
            frames = arm.frame(start, link).matrix @ np.linalg.inv(frames[0]) @ frames
            ways = {"named": api.solver("damped", damping=scheme("schinstock", named_singularities()))}
        for label, solver in ways.items():
            tracker = solver.track(arm, link, start=start)
            some = frames[: store.few(1500, 300)]
            record(store, f"tracking/steered/{name}/{label}", (tracker.step(x, 1 / 300) for x in some), 10)


def trees(store: Store) -> None:
    """Random trees with balls, slides and several tips."""
    for number, (tree, tips) in enumerate(small_trees(store.few(100, 10), 9000)):
        tracker = api.solver().track(tree, tips, start=tree.random(seed=number))
        steps = held(np.random.default_rng([number, 11]), tracker, tips, 300.0, 0.4)
        record(store, f"tracking/trees/{tree.name}", steps(), 10)
