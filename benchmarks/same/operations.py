"""The operations that speed.py times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import api
import numpy as np


def operations(small: bool) -> dict[str, tuple[Callable[[], Any], int]]:
    """Each operation: a call, and how many pieces of work it does; ``small`` batches for counting."""
    panda, ur5 = (api.models.get(name) for name in ("panda", "ur5"))
    panda, ur5 = panda.part(panda.root, "panda_hand_tcp"), ur5.part(ur5.root, "tool0")
    made: dict[str, tuple[Callable[[], Any], int]] = {}
    for name, arm, link in (("panda", panda, "panda_hand_tcp"), ("ur5", ur5, "tool0")):
        find = api.compiled(api.solver(), arm, link)
        frames = _each(arm, link, 200)
        made[f"solve {name}"] = (_over(find, frames), len(frames))
    goals = [api.Goal("panda_hand_tcp", frame) for frame in _each(panda, "panda_hand_tcp", 100)]
    made["everyday"] = (_over(lambda goal: api.solve(panda, goal), goals), len(goals))
    rows = 2_000 if small else 20_000
    many = api.Goal("panda_hand_tcp", panda.frame(panda.random(rows, seed=2), "panda_hand_tcp"))
    out = np.empty((rows, panda.dof))
    made["batch"] = (lambda: api.solve(panda, many, out=out, progress=False), rows)
    baxter, hands = api.models.baxter(), ["left_gripper", "right_gripper"]
    made["tick panda"] = _ticks(panda, ["panda_hand_tcp"], 0.12, 0.0)
    made["tick ur5"] = _ticks(ur5, ["tool0"], 0.1, 1.0)
    made["tick baxter"] = _ticks(baxter, hands, 0.08, 0.0)
    look, q = api.forward_call(panda), panda.random(seed=3)
    made["forward one"] = (_over(lambda each: look(each, "panda_hand_tcp"), [q] * 500), 500)
    rows = 10_000 if small else 100_000
    rows_q, into = panda.random(rows, seed=4), (np.empty((rows, 4, 4)), np.empty((rows, 6, panda.dof)))
    made["forward batch"] = (lambda: look(rows_q, "panda_hand_tcp", out=into), rows)
    return made


def _over(call: Callable[[Any], Any], given: list[Any]) -> Callable[[], None]:
    """A call for each, of which nothing is kept: kept results would cost the growth of memory."""

    def calls() -> None:
        for each in given:
            call(each)

    return calls


def _each(arm: Any, link: str, count: int) -> list[Any]:
    frames = arm.frame(arm.random(count, seed=1), link)
    return [frames[i] for i in range(count)]


def _ticks(arm: Any, links: list[str], size: float, beyond: float) -> tuple[Callable[[], Any], int]:
    """A closed curve about rest, or so many metres beyond the reach, from the start each time."""
    ticks = 200
    t = 2 * np.pi * np.arange(ticks) / ticks
    commands = []
    for link in links:
        frames = np.repeat(arm.frame(arm.rest, link).matrix[None], ticks, axis=0)
        frames[:, :3, 3] += size * np.stack([np.sin(t), 1 - np.cos(t), np.sin(2 * t)], axis=-1) + [beyond, 0, 0]
        commands.append(frames)
    wanted = list(commands[0]) if len(links) == 1 else [list(each) for each in zip(*commands, strict=True)]
    tracker = api.solver().track(arm, links if len(links) > 1 else links[0])
    for _ in range(400 if beyond else 50):
        step = tracker.step(wanted[0], 1 / 300)
    start, name = tracker.q.copy(), api.first(step, "status", "outcome").name
    if name != ("YIELDING" if beyond else "FOLLOWING"):
        raise SystemExit(f"{arm.name} should be {'yielding' if beyond else 'following'}, it is {name}")

    def call() -> None:
        tracker.reset(start)
        for frame in wanted:
            tracker.step(frame, 1 / 300)

    return call, ticks
