"""The parts: each yields rows with what was measured."""

from __future__ import annotations

import functools
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from search.arms import ARMS, TREES

import supple
from supple import Goal, Solver
from supple._cuda import arm_search, blocks, driver, forward, general_search, nvrtc, search
from supple._solve import batch
from supple._solve import search as core_search

Row = dict[str, Any]
BANDWIDTH = 4.3e12
"""Bytes a second that a copy on an H200 moves."""
ORDINAL = 0


def line(row: Row) -> str:
    """A row as text."""
    if "failed" in row:
        return f"{row['part']:8} FAILED {row['failed'].strip().splitlines()[-1]}"
    shown = (f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in row.items())
    return "  ".join(shown)


def stream() -> int:
    return driver.device(ORDINAL).stream


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """The least time of some rounds of work on the GPU, in seconds."""
    owner = driver.device(ORDINAL)
    work()
    owner.synchronize(stream())
    best = float("inf")
    for _ in range(repeats):
        begin, end = driver.Event(owner, timing=True), driver.Event(owner, timing=True)
        begin.record(stream())
        held = work()
        end.record(stream())
        best = min(best, begin.seconds_until(end))
        del held
    return best


def seconds_in_a_row(work: Callable[[], object], count: int = 40, repeats: int = 5) -> float:
    """The least time of one of many rounds of work, one after another without waiting, in seconds."""
    owner = driver.device(ORDINAL)
    best = float("inf")
    for _ in range(repeats):
        begin, end = driver.Event(owner, timing=True), driver.Event(owner, timing=True)
        begin.record(stream())
        for _ in range(count):
            work()
        end.record(stream())
        best = min(best, begin.seconds_until(end) / count)
    return best


def device_solver(linkage: Any, goals: list[Goal]) -> tuple[Any, search.DeviceSolver]:
    """The compiled solver of the processor, and the same on the GPU."""
    compiled = core_search.compiled(linkage, goals, Solver())
    return compiled, search.DeviceSolver(compiled, ORDINAL)


def goals_of(arm: Any, frames: Any) -> list[Goal]:
    if arm.kind == "frame":
        return [Goal(arm.link, frames)]
    return [Goal(arm.link, position=frames[..., :3, 3], axis=(0, 0, 1), direction=frames[..., :3, 2])]


def uploaded(goal: Goal) -> blocks.Part:
    """The parts of a goal on the GPU; they are kept for the process."""
    made = []
    for array, tail in zip(batch.parts(goal, goal.shape), (1, 2, 1), strict=True):
        if array is None:
            made.append(blocks.NONE)
            continue
        on_gpu = driver.upload(np.ascontiguousarray(array), ORDINAL)
        _kept.append(on_gpu)
        made.append(blocks.numbers(on_gpu, tail))
    return made[0], made[1], made[2]


_kept: list[Any] = []


def compile_part(_: int) -> Iterator[Row]:
    """Time to compile each module, and to load it from the cache."""
    owner = driver.device(ORDINAL)
    yield {"gpu": owner.name, "capability": owner.capability, "nvrtc": str(nvrtc.compiler())}
    with tempfile.TemporaryDirectory() as folder:
        import os

        before = os.environ.get("SUPPLE_CACHE")
        os.environ["SUPPLE_CACHE"] = folder
        arm = ARMS["panda"]()
        for rows in (1, 10_000):
            times = []
            for _ in range(2):
                frames = np.array(arm.linkage.frame(arm.linkage.random(rows, seed=1), arm.link).matrix)
                _, solver = device_solver(arm.linkage, [Goal(arm.link, frames)])
                driver._loaded.cache_clear()
                began = time.perf_counter()
                solver.solve([uploaded(goal) for goal in goals_of(arm, frames)], rows, stream()).q.numpy()
                times.append(time.perf_counter() - began)
            yield {"first solve of a Panda, rows": rows, "s": times[0], "from the cache s": times[1]}
            driver._fingerprint.cache_clear()
            for file in Path(folder).iterdir():
                file.unlink()
        cases: dict[str, tuple[str, dict[str, object], tuple[str, ...]]] = {
            "arm": ("arm.cu", {"SUPPLE_JOINTS": 7}, arm_search.OPTIONS),
            "warps": ("arm_warps.cu", {"SUPPLE_JOINTS": 7}, arm_search.OPTIONS),
            "general": ("general.cu", {"SUPPLE_AXES": 16, "SUPPLE_COMPACT": 1}, general_search.FAST_COMPILATION),
        }
        for name, (source, defines, options) in cases.items():
            times = []
            for _ in range(2):
                began = time.perf_counter()
                code = driver.compiled(source, defines, owner.capability, options)
                driver.Module(owner, code, source)
                times.append(time.perf_counter() - began)
            yield {"module": name, "compile s": times[0], "cached s": times[1], "bytes": len(code)}
        if before is None:
            del os.environ["SUPPLE_CACHE"]
        else:
            os.environ["SUPPLE_CACHE"] = before


def forward_part(_: int) -> Iterator[Row]:
    """Frame and Jacobian of ten million q: right, and how near to the bandwidth of the memory."""
    arm = ARMS["panda"]()
    rows, dof = 10_000_000, arm.linkage.dof
    some = arm.linkage.random(1000, seed=3)
    for kind in (np.float64, np.float32):
        chain = forward.DeviceChain(arm.linkage._native, arm.link, dof, ORDINAL)
        q = driver.upload(np.tile(some, (rows // 1000, 1)).astype(kind), ORDINAL)
        frames, jacobians = chain.frame_and_jacobian(driver.upload(some.astype(kind), ORDINAL), stream())
        exact, J = arm.linkage.frame_and_jacobian(some.astype(kind).astype(float), arm.link)
        worst = max(np.abs(frames.numpy() - exact.matrix).max(), np.abs(jacobians.numpy() - J).max())
        best = seconds(lambda chain=chain, q=q: chain.frame_and_jacobian(q, stream()))
        moved = rows * (dof + 16 + 6 * dof) * np.dtype(kind).itemsize
        yield {
            "dtype": np.dtype(kind).name,
            "error": float(worst),
            "ms": 1e3 * best,
            "TB/s": moved / best / 1e12,
            "of bandwidth": moved / best / BANDWIDTH,
        }


def check(linkage: Any, goals: list[Goal], found: search.Found) -> Row:
    """Success, limits, and arrivals that another forward kinematics does not confirm."""
    q, outcome = found.q.numpy().astype(float), found.outcome.numpy()
    arrived = outcome == 0
    wrong = np.zeros(len(q), bool)
    for goal in goals:
        tip = np.asarray(linkage.frame(q, goal.link).matrix)
        if goal.direction is not None:
            far = np.linalg.norm(tip[:, :3, 3] - goal.position, axis=1)
            turn = np.linalg.norm(np.cross(tip[:, :3, 2], goal.direction), axis=1)
        else:
            far = np.linalg.norm(tip[:, :3, 3] - goal.position, axis=1)
            turned = tip[:, :3, :3] @ np.swapaxes(goal.orientation, -1, -2)
            skew = turned - np.swapaxes(turned, -1, -2)
            turn = np.linalg.norm(skew[:, (2, 0, 1), (1, 2, 0)], axis=1) / 2
        wrong |= arrived & ((far > 1.001e-6) | (turn > 1.001e-6))
    beyond = np.maximum(linkage.lower - q, q - linkage.upper)
    return {
        "success": float(arrived.mean()),
        "missed": int((~arrived).sum()),
        "wrong": int(wrong.sum()),
        "beyond limits": float(max(0.0, beyond.max())),
    }


def laws_part(count: int) -> Iterator[Row]:
    """The laws of the search for each arm."""
    for name, make in ARMS.items():
        arm = make()
        frames = np.array(arm.linkage.frame(arm.linkage.random(count, seed=11), arm.link).matrix)
        goals = goals_of(arm, frames)
        _, solver = device_solver(arm.linkage, goals)
        parts = [uploaded(goal) for goal in goals]
        began = time.perf_counter()
        found = solver.solve(parts, count, stream())
        row = check(arm.linkage, goals, found)
        yield {"arm": name, "fast": solver.has_arm, "goals": count, **row, "s": time.perf_counter() - began}


def speed_part(_: int) -> Iterator[Row]:
    """Goals a second, resident on the GPU and from the host."""
    for name in ("panda", "ur5", "iiwa14", "torso", "so101"):
        arm, most = ARMS[name](), 1_000_000
        frames = np.array(arm.linkage.frame(arm.linkage.random(most, seed=12), arm.link).matrix)
        _, solver = device_solver(arm.linkage, goals_of(arm, frames))
        for rows in (most, 100_000, 10_000, 1000):
            parts = [uploaded(goal) for goal in goals_of(arm, frames[:rows])]
            work = functools.partial(solver.solve, parts, rows, stream())
            best = seconds(work, 10)
            yield {"arm": name, "rows": rows, "ms": 1e3 * best, "million/s": rows / best / 1e6}
            if rows <= 10_000:
                each = seconds_in_a_row(work)
                yield {"arm": name, "rows in a row": rows, "ms": 1e3 * each, "million/s": rows / each / 1e6}
            yield {"arm": name, "rows": rows, **stages(solver, parts, rows)}
        if name == "panda":
            yield {"arm": name, "rows": most, **with_copies(solver, frames)}
            ten = np.tile(frames, (10, 1, 1))
            yield {"arm": name, "rows": len(ten), **with_copies(solver, ten)}


def others_part(_: int) -> Iterator[Row]:
    """Positions alone, and goals that cannot be met."""
    arm, count = ARMS["panda"](), 100_000
    frames = np.array(arm.linkage.frame(arm.linkage.random(count, seed=14), arm.link).matrix)
    far = frames.copy()
    far[:, :3, 3] *= 3 / np.linalg.norm(far[:, :3, 3], axis=1)[:, None]
    turned = frames[:20_000].copy()
    turned[:, :3, 3] = frames[20_000:40_000, :3, 3] * 1.02  # mostly another orientation than it can have there
    cases = {
        "position": [Goal(arm.link, position=np.ascontiguousarray(frames[:, :3, 3]))],
        "beyond reach": [Goal(arm.link, far)],
        "some out of reach": [Goal(arm.link, turned)],
    }
    for name, goals in cases.items():
        compiled, solver = device_solver(arm.linkage, goals)
        parts, rows = [uploaded(goal) for goal in goals], goals[0].shape[0]
        best = seconds(lambda solver=solver, parts=parts, rows=rows: solver.solve(parts, rows, stream()), 3)
        found = solver.solve(parts, rows, stream())
        some = 300
        goal = goals[0]
        mine = Solver().solve(arm.linkage, goal[:some] if hasattr(goal, "__getitem__") else part_of(goal, some))
        outcome, error = found.outcome.numpy()[:some], found.position_error.numpy()[:some]
        del compiled
        yield {
            "goals": name,
            "rows": rows,
            "million/s": rows / best / 1e6,
            "arrived": float((found.outcome.numpy() == 0).mean()),
            "same outcome as the CPU": float((outcome == mine.outcomes).mean()),
            "mean distance m": float(error.mean()),
            "of the CPU m": float(np.asarray(mine.distance).mean()),
        }


def part_of(goal: Goal, count: int) -> Goal:
    """The first problems of a goal."""
    if goal.orientation is None:
        return Goal(goal.link, position=goal.position[:count])
    frames = np.tile(np.eye(4), (count, 1, 1))
    frames[:, :3, :3], frames[:, :3, 3] = goal.orientation[:count], goal.position[:count]
    return Goal(goal.link, frames)


def calls_part(_: int) -> Iterator[Row]:
    """The public calls, with torch tensors and NumPy arrays: wall time of one call, of calls in a row."""
    import torch

    arm, solver = ARMS["panda"](), Solver(device="cuda")
    frames = np.array(arm.linkage.frame(arm.linkage.random(1_000_000, seed=15), arm.link).matrix)
    for rows in (1000, 10_000, 100_000, 1_000_000):
        there = torch.tensor(frames[:rows], device="cuda")

        def call(there: Any = there) -> Any:
            return supple.solve(arm.linkage, Goal(arm.link, there)).q

        call()
        torch.cuda.synchronize()
        single = []
        for _ in range(20):
            began = time.perf_counter()
            call()
            torch.cuda.synchronize()
            single.append(time.perf_counter() - began)
        began = time.perf_counter()
        for _ in range(50):
            call()
        host = (time.perf_counter() - began) / 50
        torch.cuda.synchronize()
        many = (time.perf_counter() - began) / 50
        yield {
            "torch rows": rows,
            "one call us": 1e6 * min(single),
            "host us": 1e6 * host,
            "in a row us": 1e6 * many,
            "million/s": rows / many / 1e6,
        }
    goal, times = Goal(arm.link, frames), []
    for _ in range(4):
        began = time.perf_counter()
        solver.solve(arm.linkage, goal)
        times.append(time.perf_counter() - began)
    yield {"NumPy rows": len(frames), "ms": 1e3 * min(times), "million/s": len(frames) / min(times) / 1e6}


def stages(solver: search.DeviceSolver, parts: list[blocks.Part], rows: int) -> Row:
    """Milliseconds of each kernel of a solve."""
    owner, times, launch = driver.device(ORDINAL), [], driver.Kernel.launch

    def timed(self: driver.Kernel, *args: Any, **options: Any) -> None:
        begin, end = driver.Event(owner, timing=True), driver.Event(owner, timing=True)
        begin.record(stream())
        launch(self, *args, **options)
        end.record(stream())
        times.append((f"{len(times) + 1} {self.name}", begin, end))

    driver.Kernel.launch = timed  # type: ignore[method-assign]
    try:
        solver.solve(parts, rows, stream())
    finally:
        driver.Kernel.launch = launch  # type: ignore[method-assign]
    return {f"{name} ms": 1e3 * begin.seconds_until(end) for name, begin, end in times}


def with_copies(solver: search.DeviceSolver, frames: Any) -> Row:
    """Goals from the host and answers to the host."""
    q, outcome = np.empty((len(frames), solver.dof)), np.empty(len(frames), np.int32)

    def work(given: list[Any], on: int) -> list[Any]:
        found = solver.solve([blocks.frame_goal(given[0])], given[0].shape[0], on)
        return [found.q, found.outcome]

    best = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        driver.in_chunks([frames[:, :3]], [q, outcome], work, ORDINAL)
        best = min(best, time.perf_counter() - began)
    return {"with copies ms": 1e3 * best, "million/s": len(frames) / best / 1e6}


def trees_part(_: int) -> Iterator[Row]:
    """Several end effectors."""
    for name, make in TREES.items():
        tree, count = make(), 2000
        q = tree.linkage.random(count, seed=13)
        goals = [Goal(link, np.array(tree.linkage.frame(q, link).matrix)) for link in tree.links]
        _, solver = device_solver(tree.linkage, goals)
        parts = [uploaded(goal) for goal in goals]
        found = solver.solve(parts, count, stream())
        best = seconds(lambda solver=solver, parts=parts, count=count: solver.solve(parts, count, stream()), 1)
        yield {"tree": name, "rows": count, **check(tree.linkage, goals, found), "rows/s": count / best}


PARTS: dict[str, Callable[[int], Iterator[Row]]] = {
    "compile": compile_part,
    "forward": forward_part,
    "laws": laws_part,
    "speed": speed_part,
    "others": others_part,
    "calls": calls_part,
    "trees": trees_part,
}
