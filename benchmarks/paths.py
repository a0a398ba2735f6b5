"""Whole paths: those of CppFlow, random smooth ones of five arms, many episodes; beside warm-started loops of others.

    python benchmarks/paths.py [--paths N] [--peer-paths N] [--episodes N] [--seed S] [--json FILE]
    pip install 'supple[bench]' pytracik roboticstoolbox-python    # the loops that are there are run

CppFlow's paths count as valid within 0.1 mm and 0.1 degree, with joint steps of at most 7 degrees. Random paths are
frames of smooth joint motions within limits and 80 % of the speed limits, 300 frames at 30 Hz, half of them closed; a
path is continuous if every frame is reached and no joint step is longer than its speed limit allows. The loops of the
others start from the q that made the first frame, and each frame from the result before; ours get no q at all.
The default seed is the one that judges; constants of the planner were tuned with others. Times are CPU times.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import peers

import supple
from supple import Frame, Goal, Linkage, Solver, models, solve_path
from supple._path import solve_many
from supple._table import text_table
from supple.frame import Array

DATA = Path(__file__).parent.parent / "tests" / "data" / "paths"
CPPFLOW = {
    "hello": ("fetch", [0.8, 0.45, 0.25]),
    "circle": ("fetch", [0.9, 0.25, 0.46]),
    "s": ("fetch", [1.0, 0.3, 0.55]),
    "2cubes": ("panda", [0, 0.54, 0.79]),
}
ARMS = {"panda": "panda_hand_tcp", "ur5": "tool0", "puma560": "", "iiwa14": "", "so101": "gripper_frame_link"}
FRAMES, RATE, PART = 300, 30.0, 0.8
Follow = Callable[[Array, Array], Array]
"""Joint values (frames, dof) for frames (frames, 4, 4) from a first q (dof,)."""


def smooth_motion(arm: Linkage, random: np.random.Generator, closed: bool) -> Array:
    """Sums of three sines for each joint (frames, dof), within limits and PART of the speeds."""
    lower, upper = np.maximum(arm.lower, -2 * np.pi), np.minimum(arm.upper, 2 * np.pi)
    half, s = (upper - lower) / 2, np.linspace(0, 1, FRAMES)
    q = np.empty((FRAMES, arm.dof))
    for joint in range(arm.dof):
        stretch = 1.0 if closed else random.uniform(0.5, 2.0)
        wave = np.zeros(FRAMES)
        for k in (1, 2, 3):
            wave += random.normal() / k * np.sin(2 * np.pi * k * stretch * s + random.uniform(0, 2 * np.pi))
        wave *= random.uniform(0.1, 0.9) / max(float(np.abs(wave).max()), 1e-9)
        fastest = float(np.abs(np.diff(wave)).max()) * RATE * half[joint]
        wave *= min(1.0, PART * min(float(arm.speed[joint]), 3.0) / max(fastest, 1e-9))
        left = 0.98 - float(np.abs(wave).max())
        q[:, joint] = (lower + upper)[joint] / 2 + half[joint] * (wave + random.uniform(-left, left))
    return q


def goals(name: str, arm: Linkage, link: str, frames: Frame) -> Goal:
    """Whole frames; for the arm with five joints positions and an axis."""
    if name == "so101":
        return Goal(link, position=frames.position, axis=(0, 0, 1), direction=frames.rotation[..., :, 2])
    return Goal(link, frames)


def is_continuous(arm: Linkage, goal: Goal, q: Array) -> bool:
    """Whether all frames are within 0.1 mm and 0.1 degree, within limits, without a jump."""
    if not np.isfinite(q).all():
        return False
    step = np.abs(arm.difference(q[:-1], q[1:]))
    allowed = np.minimum(arm.speed / RATE, 0.3) * (1 + 1e-6)
    if (step > allowed).any() or not arm.inside(q, 1e-6).all():
        return False
    at = arm.frame(q, goal.link)
    away = np.linalg.norm(at.position - goal.position, axis=-1).max()
    if goal.orientation is not None:
        turn = np.linalg.norm((Frame.at(np.zeros(3), goal.orientation).inverse() @ at).to_rotvec(), axis=-1).max()
    else:
        turn = np.arccos(np.clip(np.sum(at.rotation[..., :, 2] * goal.direction, axis=-1), -1, 1)).max()
    return bool(away < 1e-4 and turn < np.radians(0.1))


# -- the loops of others ----------------------------------------------------------------------------------------


def tracik(arm: Linkage, link: str, kind: str = "Speed") -> Follow:
    """TRAC-IK with its own tolerance and time: the first answer, or (Distance) the nearest found in 5 ms."""
    import pytracik

    text = peers.urdf(SimpleNamespace(linkage=arm, name=arm.name))  # type: ignore[arg-type]
    solver = pytracik.TRAC_IK(arm.root, link, text, 0.005, 1e-5, getattr(pytracik.SolveType, kind))

    def follow(frames: Array, q: Array) -> Array:
        rows = []
        for frame in frames:
            x, y, z, w = np.roll(Frame(frame).to_quaternion(), -1)
            found = np.asarray(pytracik.ik(solver, q, *frame[:3, 3], x, y, z, w))
            q = found[1:] if found[0] >= 0 else q
            rows.append(q)
        return np.array(rows)

    return follow


def turn_costs(arm: Linkage) -> list[float]:
    """Costs of turns about the axes of the end effector: an arm with five joints has a goal for its z axis alone."""
    return [1.0, 1.0, 0.0 if arm.dof == 5 else 1.0]


def pink_loop(arm: Linkage, link: str, steps: int = 10) -> Follow:
    import pink
    import pinocchio as pin
    from pink.tasks import FrameTask

    model = pin.buildModelFromXML(peers.urdf(SimpleNamespace(linkage=arm, name=arm.name)))  # type: ignore[arg-type]
    cost = np.array(turn_costs(arm))
    task = FrameTask(link, position_cost=np.pi / arm.reach(link), orientation_cost=cost, lm_damping=1e-6)
    rows = np.concatenate([np.ones(3), cost])

    def follow(frames: Array, q: Array) -> Array:
        at, found = pink.Configuration(model, model.createData(), q.copy()), []
        for frame in frames:
            task.set_target(pin.SE3(frame[:3, :3], frame[:3, 3]))
            for _ in range(steps):
                velocity = pink.solve_ik(at, [task], 1.0, solver="daqp", damping=1e-12)
                moved = at.integrate(velocity, 1.0)
                at.update(np.clip(moved, model.lowerPositionLimit, model.upperPositionLimit))
                if np.linalg.norm(rows * task.compute_error(at)) < 1e-6:
                    break
            found.append(np.array(at.q))
        return np.array(found)

    return follow


def mink_loop(arm: Linkage, link: str, steps: int = 10) -> Follow:
    import mink
    import mujoco

    text = peers.urdf(SimpleNamespace(linkage=arm, name=arm.name))  # type: ignore[arg-type]
    model = mujoco.MjModel.from_xml_string(text)
    cost = np.array(turn_costs(arm))
    task = mink.FrameTask(link, "body", position_cost=np.pi / arm.reach(link), orientation_cost=cost, lm_damping=1e-6)
    rows = np.concatenate([np.ones(3), cost])
    limits = [mink.ConfigurationLimit(model)]

    def follow(frames: Array, q: Array) -> Array:
        at, found = mink.Configuration(model, q.copy()), []
        for frame in frames:
            turn = mink.SO3.from_matrix(frame[:3, :3])
            task.set_target(mink.SE3.from_rotation_and_translation(turn, frame[:3, 3]))
            for _ in range(steps):
                at.update(at.integrate(mink.solve_ik(at, [task], 1.0, "daqp", 1e-12, limits=limits), 1.0))
                if np.linalg.norm(rows * task.compute_error(at)) < 1e-6:
                    break
            found.append(np.array(at.q))
        return np.array(found)

    return follow


def rtb(arm: Linkage, link: str) -> Follow:
    from search.arms import Arm
    from search.peers import Toolbox

    solver = Toolbox(Arm(arm, link, "frame"))

    def follow(frames: Array, q: Array) -> Array:
        rows = []
        for frame in frames:
            found = solver.robot.ik_LM(frame, q0=q, tol=1e-12)
            q = np.array(found.q) if found.success else q
            rows.append(q)
        return np.array(rows)

    return follow


def supple_loop(arm: Linkage, link: str) -> Follow:
    find = Solver().compile(arm, link)

    def follow(frames: Array, q: Array) -> Array:
        rows = []
        for frame in frames:
            found = find(frame, q)
            q = q if found is None else found
            rows.append(q)
        return np.array(rows)

    return follow


LOOPS: dict[str, Callable[[Linkage, str], Follow]] = {
    "supple, frame by frame": supple_loop,
    "TRAC-IK loop": tracik,
    "TRAC-IK loop, Distance": lambda arm, link: tracik(arm, link, "Distance"),
    "RTB loop": rtb,
    "pink loop": pink_loop,
    "mink loop": mink_loop,
}
FIVE_ROWS = ("pink loop", "mink loop")
"""The loops that take a position and an axis as goal."""
SLOW_LOOPS = {"TRAC-IK loop, Distance": 5}
"""The most paths for loops that always use all of their time."""


# -- tables -----------------------------------------------------------------------------------------------------


def cppflow() -> list[list[str]]:
    """CppFlow's problems without obstacles: ours beside a greedy loop from 64 first answers."""
    fetch, panda = supple.load(DATA / "fetch_arm.urdf"), models.panda()
    rows = [
        ["path", "frames", "valid", "time, ms", "largest step, deg", "length", "greedy: followed", "its best length"]
    ]
    for name, (robot, offset) in CPPFLOW.items():
        arm, link = (fetch, "gripper_link") if robot == "fetch" else (panda, "panda_hand")
        table = np.loadtxt(DATA / f"{name}.csv", delimiter=",", skiprows=1)
        frames = Frame.at(table[:, 1:4] + offset, Frame.quaternion(table[:, 4:8]))
        goal, seconds = Goal(link, frames), []
        done = solve_path(arm, goal)
        for _ in range(5):
            begin = time.perf_counter()
            done = solve_path(arm, goal)
            seconds.append(time.perf_counter() - begin)
        far, turn = done.distance.max(), np.degrees(done.angle.max())
        valid = far < 1e-4 and turn < 0.1 and done.change.max() < np.radians(7)
        lengths = greedy(arm, link, frames)
        best = f"{min(lengths):.2f}" if lengths else "-"
        step = f"{np.degrees(done.change.max()):.2f}"
        row = [name, str(len(table)), "yes" if valid else "NO", f"{1e3 * min(seconds):.1f}", step, f"{done.length:.2f}"]
        rows.append([*row, f"{len(lengths)} of 64", best])
    return rows


def greedy(arm: Linkage, link: str, frames: Frame) -> list[float]:
    """Lengths of the loops over the compiled solver that follow a path, of 64 first answers."""
    first = supple.solve(arm, Goal(link, frames[0]), solutions=64).q
    follow, lengths = supple_loop(arm, link), []
    for q in np.atleast_2d(first):
        way = follow(frames.matrix, q)
        steps = np.abs(arm.difference(way[:-1], way[1:]))
        if steps.max() < np.radians(7) and np.abs(arm.frame(way, link).matrix - frames.matrix).max() < 1e-4:
            lengths.append(float(np.linalg.norm(steps, axis=-1).sum()))
    return lengths


def random_paths(count: int, peer_count: int, seed: int) -> list[list[str]]:
    """Random paths: how many are continuous, and CPU time for each frame, of ours and of each loop."""
    rows = [["arm", "paths", "by", "continuous", "CPU, us a frame", "length / truth"]]
    for name, tip in ARMS.items():
        whole = models.get(name)
        link = tip or whole.tips[0]
        arm = whole.part(whole.root, link)
        for closed in (False, True):
            random = np.random.default_rng([seed, list(ARMS).index(name), closed])
            truth = np.stack([smooth_motion(arm, random, closed) for _ in range(count)])
            frames = arm.frame(truth, link)
            goal = goals(name, arm, link, arm.frame(truth.reshape(-1, arm.dof), link))
            begin = time.process_time()
            found = solve_many(arm, goal, np.arange(count + 1) * FRAMES, Solver(), dt=1 / RATE, closed=closed)
            took = time.process_time() - begin
            q = found.q.reshape(truth.shape)
            shown = f"{count} {'closed' if closed else 'open'}"
            rows.append([name, shown, "supple", *_judged(arm, name, link, frames, q, truth, took, closed)])
            print("\n".join(text_table(rows[-1:], "<<<>>>")), flush=True)
            for loop, make in LOOPS.items():
                some = min(peer_count, SLOW_LOOPS.get(loop, peer_count))
                if some == 0 or (name == "so101" and loop not in FIVE_ROWS):
                    continue
                row = _loop(arm, name, link, make, frames[:some], truth[:some], closed)
                rows.append(["", f"{some}", loop, *row])
                print("\n".join(text_table(rows[-1:], "<<<>>>")), flush=True)
    return rows


def _judged(
    arm: Linkage, name: str, link: str, frames: Frame, q: Array, truth: Array, took: float, closed: bool
) -> list[str]:
    good = [is_continuous(arm, goals(name, arm, link, frames[i]), q[i]) for i in range(len(q))]
    if closed:
        good = [g and np.abs(way[-1] - way[0]).max() < 1e-3 for g, way in zip(good, q, strict=True)]
    lengths = [np.linalg.norm(np.diff(way, axis=1), axis=-1).sum(axis=1) for way in (q, truth)]
    part = float((lengths[0][good] / lengths[1][good]).mean()) if any(good) else float("nan")
    return [f"{sum(good)} of {len(q)}", f"{1e6 * took / q[..., 0].size:.1f}", f"{part:.2f}"]


def _loop(arm: Linkage, name: str, link: str, make: Any, frames: Frame, truth: Array, closed: bool) -> list[str]:
    try:
        follow = make(arm, link)
    except Exception as error:
        return [f"not run: {type(error).__name__}", "", ""]
    q = np.full(truth.shape, np.nan)
    begin = time.process_time()
    for i in range(len(truth)):
        with contextlib.suppress(Exception):  # a loop that raises on a path, as QP solvers do, has not followed it
            q[i] = follow(frames[i].matrix, truth[i, 0])
    return _judged(arm, name, link, frames, q, truth, time.process_time() - begin, closed)


def episodes(count: int, seed: int) -> dict[str, float]:
    """Panda episodes: frames a second, CPU time, jumps that are not marked, frames that arrived."""
    arm, random = models.panda(), np.random.default_rng([seed, 99])
    truth = np.concatenate([smooth_motion(arm, random, False) for _ in range(count)])
    goal = Goal("panda_hand_tcp", arm.frame(truth, "panda_hand_tcp"))
    begin, cpu = time.perf_counter(), time.process_time()
    found = solve_many(arm, goal, np.arange(count + 1) * FRAMES, Solver(), dt=1 / RATE)
    wall, used = time.perf_counter() - begin, time.process_time() - cpu
    q = found.q.reshape(count, FRAMES, -1)
    step = np.abs(np.diff(q, axis=1))
    jump = (step > np.minimum(arm.speed / RATE, 0.3) * (1 + 1e-6)).any(axis=-1)
    marked = found.reconfigured.reshape(count, FRAMES)[:, 1:]
    return {
        "episodes": count,
        "frames_per_second": len(truth) / wall,
        "cpu_us_per_frame": 1e6 * used / len(truth),
        "unmarked_jumps": int((jump & ~marked).sum()),
        "marked_jumps": int(marked.sum()),
        "arrived": float((found.outcome == 0).mean()),
        "continuous_episodes": int((~marked.any(axis=1)).sum()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paths", type=int, default=300)
    parser.add_argument("--peer-paths", type=int, default=10)
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=20261116)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    made: dict[str, Any] = {"cppflow": cppflow()}
    print("\n".join(text_table(made["cppflow"], "<>>>>>>>")), flush=True)
    made["episodes"] = episodes(given.episodes, given.seed)
    print(made["episodes"], flush=True)
    made["random"] = random_paths(given.paths, given.peer_paths, given.seed)
    if given.json:
        given.json.write_text(json.dumps(made, indent=1))


if __name__ == "__main__":
    main()
