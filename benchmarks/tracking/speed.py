"""Time of a tick as called from Python, beside pink, mink and placo: best of several runs."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from supple.frame import Array
from supple.gauntlet.arms import arm_from_linkage

from . import arms, motion, several
from .arms import Arm
from .report import Asked, Row

sys.path.insert(0, str(Path(__file__).parent.parent))
import peers

ARMS = ("panda", "ur5", "xarm7", "kinova", "baxter2", "g1_2")
QUICK = ("panda", "baxter2", "g1_2")
RATE = 300
BARS = {"panda following": 2.5, "panda yielding": 4.0, "baxter2 following": 12.0, "g1_2 following": 14.0}  # us
BARS |= {"g1_2 yielding": 25.0}
SLOWEST = 15.0  # us, of one tick in a thousand, Panda
PEERS = {"pink": "pink example", "mink": "mink example", "placo": "placo"}


def measure(name: str, asked: Asked) -> list[Row]:
    """Rows of one arm: following, where the command stays within reach, and yielding, where it is out of reach."""
    arm = arms.get(name)
    runs = 3 if asked.quick else 20
    rows = []
    for kind in ("following", "yielding"):
        start, commands = _commands(arm, kind)
        mean, late = _best(lambda s=start: _own(arm, s, asked), commands, runs)
        others = "; ".join(_beside(arm, start, commands, peer) for peer in PEERS if peer in asked.peers)
        rows.append(Row("speed", name, f"{kind}, mean of a tick", mean, "us", BARS.get(f"{name} {kind}"), others))
        rows.append(Row("speed", name, f"{kind}, p99.9", late, "us", SLOWEST if name == "panda" else None))
    return rows


def _commands(arm: Arm, kind: str) -> tuple[Array, list[Any]]:
    """Start, and commands of 10 s: a gentle circle of 5 cm, 0 or 0.5 reach away."""
    rng = motion.random_of(arm, "speed", 0)
    tries = np.array([motion.inside(arm, rng, 0.5) for _ in range(20)])
    values = [np.linalg.svd(arm.linkage.jacobian(tries, link), compute_uv=False)[:, -1] for link in arm.links]
    start = tries[np.min(values, axis=0).argmax()]
    time_ = np.arange(10 * RATE) / RATE
    circle = 0.05 * np.stack([np.sin(time_), 1 - np.cos(time_), 0 * time_], axis=1)
    here = arm.frames(start)
    out = here[:, :3, 3] - here[:, :3, 3].mean(axis=0) if len(arm.links) > 1 else here[:, :3, 3]
    out = out / np.linalg.norm(out, axis=-1, keepdims=True) * (0.6 * arm.reach() if kind == "yielding" else 0.0)
    way = circle[:, None] + motion.smooth(time_ / 2)[:, None, None] * out
    frames = motion.moved(here[None], way, np.zeros(3))
    return start, [list(frame) if len(arm.links) > 1 else frame[0].copy() for frame in frames]


def _own(arm: Arm, start: Array, asked: Asked) -> Callable[[Any], Any]:
    follow, dt = motion.tracker(arm, start, asked.options), 1 / RATE
    return lambda command: follow.step(command, dt)


def _best(make: Callable[[], Callable[[Any], Any]], commands: Sequence[Any], runs: int) -> tuple[float, float]:
    """The least mean, and the least p99.9, of several runs, in microseconds; the first 2 s do not count."""
    found = []
    for _ in range(runs):
        tick = make()
        times = np.empty(len(commands))
        gc.collect()
        gc.disable()
        for i, command in enumerate(commands):
            began = time.perf_counter_ns()
            tick(command)
            times[i] = time.perf_counter_ns() - began
        gc.enable()
        settled = times[2 * RATE :] / 1e3
        found.append((settled.mean(), float(np.quantile(settled, 0.999))))
    means, late = zip(*found, strict=True)
    return float(min(means)), float(min(late))


def _beside(arm: Arm, start: Array, commands: Sequence[Any], peer: str) -> str:
    """Mean and p99.9 of a peer, in words."""
    if peers.missing(PEERS[peer]):
        return f"{peer} not installed"
    frames = np.array(commands[: 4 * RATE])
    if len(arm.links) > 1:
        return _several(arm, start, frames, peer)

    def make() -> Callable[[Any], Any]:
        loop: Any = peers.CONTROLLERS[PEERS[peer]](arm_from_linkage(arm.linkage, arm.link), 1 / RATE)
        loop.reset(start.copy())
        here = [start.copy()]

        def tick(goal: Any) -> None:
            here[0] = np.clip(np.asarray(loop.step(here[0], goal, 1 / RATE)), arm.linkage.lower, arm.linkage.upper)

        make.loop = loop  # type: ignore[attr-defined]
        return tick

    make()
    loop = make.loop  # type: ignore[attr-defined]
    goals = loop.prepare(frames) if hasattr(loop, "prepare") else list(frames)
    try:
        mean, late = _best(make, goals, 1)
    except Exception as error:  # a peer that finds no answer
        return f"{peer} raised {type(error).__name__}"
    return f"{peer} {mean:.0f} / {late:.0f} us"


def _several(arm: Arm, start: Array, frames: Array, peer: str) -> str:
    """The same on several end effectors, with how far off it ends."""
    made: list[several.Loop] = []

    def make() -> Callable[[Any], Any]:
        made.append(several.PEERS[peer](arm, start, 1 / RATE))
        return made[-1].tick

    try:
        mean, late = _best(make, list(frames), 1)
    except Exception as error:  # a peer that finds no answer
        return f"{peer} raised {type(error).__name__}"
    off = 1e3 * float(motion.far(arm, made[-1].values()[None], frames[-1:]).max())
    return f"{peer} {mean:.0f} / {late:.0f} us, {off:.2g} mm off"
