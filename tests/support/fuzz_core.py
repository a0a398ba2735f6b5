"""Calls every entry point of supple._core with damaged arguments: run as ``python fuzz_core.py SEED CALLS LOG``.

The arguments begin as those of real calls; one to three of them, or of their parts, are replaced. A call may raise, but
not crash, hang, write to read-only memory, or show the text of a C++ exception. The log has the call before it is made,
so that its last line names a crash.
"""

from __future__ import annotations

import faulthandler
import math
import random
import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import numpy as np

from supple import Frame, Goal, GoalPath, Joint, Linkage, Solver, _core, damping, method, models, prefer, solve_path
from supple._solve import search as core_search

CXX_TEXT = ("std::", "bad_cast", "bad_alloc", "vector::", "basic_string", "_M_", "terminate", "inside supple")


class Evil(np.ndarray):
    """A subclass of an array."""


class Lies:
    """An object that is converted to what the shape of another one promised, or raises."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __array__(self, *_: Any, **__: Any) -> Any:
        if self.value is None:
            raise RuntimeError("no array")
        return self.value

    def __float__(self) -> float:
        raise RuntimeError("no number")

    def __len__(self) -> int:
        return 3

    def __getitem__(self, _: Any) -> Any:
        return self


OTHER_TREE = models.ur5()._native
OTHER_TABLE = core_search.compiled(models.puma560(), [Goal("tool", Frame())], Solver()).table
FROZEN_BYTES, UNTOUCHED = bytes(8 * 4096), b"\0" * 8 * 4096


def frozen(*shape: int) -> Any:
    """An array over immutable bytes."""
    return np.frombuffer(FROZEN_BYTES, dtype=float, count=math.prod(shape)).reshape(shape)


def odd_values(rng: random.Random) -> list[Any]:
    """Objects that no entry point expects; arrays are new each time."""
    n = rng.choice([0, 1, 2, 3, 4, 6, 7, 8, 12, 16, 63, 64, 65])
    whole = np.arange(4096.0)
    return [
        *(None, True, False, 0, 1, -1, 2, 3, 7, 255, 10**6, -(10**6), 2**31 - 1, -(2**31), 2**31, 2**63, 10**400),
        *(0.0, -0.0, 1.5, math.nan, math.inf, -math.inf, 5e-324, 1e308, 1e-300, 1j, "", "panda_hand_tcp", b"bytes"),
        *((), [], {}, set(), object(), Lies(None), Lies(np.eye(4)), Lies(np.zeros(8)), Frame, Frame.__new__(Frame)),
        *(_core.Tree.__new__(_core.Tree), _core.SearchSolver.__new__(_core.SearchSolver), OTHER_TREE),
        *(_core.SharedTable.__new__(_core.SharedTable), OTHER_TABLE),
        *(Frame(), np.eye(4), np.zeros(n), np.zeros((n, 8)), np.zeros((n, 4, 4)), np.zeros((n, 1, 12))),
        *(np.zeros((1, n)), np.full(n, math.nan), np.full((4, 4), math.inf), np.zeros(n, dtype=np.float32)),
        *(np.zeros((n, 8), dtype=np.float32), np.zeros(8, dtype=">f8"), np.zeros(8, dtype=object), np.zeros(8, "U3")),
        *(np.zeros(8, dtype=np.int64), np.zeros((3, n), dtype=np.int64), np.zeros(8, dtype=complex)),
        *(
            whole[:8],
            whole[4:12],
            whole[:64:8],
            whole[8:0:-1],
            whole[:64].reshape(8, 8).T,
            whole[: 16 * n].reshape(n, 4, 4),
        ),
        *(
            np.broadcast_to(1.0, (n, 8)),
            np.zeros((n, 0)),
            np.zeros((0, 8)),
            np.zeros((1,) * 20),
            np.zeros(8).view(Evil),
        ),
        *(frozen(8), frozen(4, 4), frozen(3, 4, 4), frozen(3, 8), frozen(6, 8), [1.0] * 8, ["a"] * 8, [[1], [2, 3]]),
        *(np.ndarray((8,), buffer=bytearray(65), offset=1), np.eye(4, order="F"), np.float64(3), np.int8(3), slice(3)),
    ]


@contextmanager
def recorded(name: str, calls: list[tuple[str, Any, tuple[Any, ...]]]) -> Any:
    """Records the arguments with which a class of the core is made, or a function of it called."""
    kind = getattr(_core, name)

    def make(*arguments: Any) -> Any:
        calls.append((name, kind, arguments))
        return kind(*arguments)

    setattr(_core, name, make)
    try:
        yield
    finally:
        setattr(_core, name, kind)


def foot_path() -> tuple[np.ndarray, ...]:
    """Frames (40, 4, 4) of a foot, its contacts (40, 3), its heel and its toe."""
    contacts = np.zeros((40, 3))
    contacts[10:25, :2] = 1
    return np.tile(np.eye(4), (40, 1, 1)), contacts, np.array([-0.1, 0, 0]), np.array([0.1, 0, 0])


def real_calls() -> list[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    """One or more good calls of every entry point: name, function, arguments."""
    calls: list[Any] = []
    hand = "panda_hand_tcp"
    with ExitStack() as all_recorded:
        for name in ("Tree", "SearchSolver", "LocalSolver", "Tracker", "solve_paths", "stretch_times"):
            all_recorded.enter_context(recorded(name, calls))
        panda = models.panda()
        ball = Linkage(
            "ball",
            [
                Joint.ball("shoulder", "base", "arm", swing=1.0),
                Joint.revolute("elbow", "arm", "fore", at=Frame.at([0.3, 0, 0]), lower=-2, upper=2),
                Joint.prismatic("wrist", "fore", "hand", at=Frame.at([0.3, 0, 0]), lower=0, upper=0.2),
            ],
        )
        solvers = [Solver(), Solver(prefer=prefer.centre()), Solver(timeout=0.01)]
        solvers += [Solver(method=method.get(name)) for name in ("damped", "coordinate_descent", "selectively_damped")]
        solvers += [Solver(method=method.damped(), damping=damping.singularities() | damping.limits())]
        for arm, link in ((panda, hand), (ball, "hand")):
            for solver in solvers:
                solver.solve(arm, Goal(link, arm.frame(arm.rest, link)))
            Solver().track(arm, link).step(arm.frame(arm.rest, link), 0.01)
        several = [Goal(link, panda.frame(panda.rest, link)) for link in (hand, "panda_link4")]
        Solver().solve(panda, several)
        Solver().track(panda, [hand, "panda_link4"], start=panda.random(3, seed=0))
        along = GoalPath.line([0.4, -0.1, 0.5], [0.4, 0.1, 0.5])
        solve_path(panda, along.goal(hand, 8), start=panda.rest, duration=0.1, retime=True)
    tree, q = panda._native, panda.random(5, seed=1)
    frames = panda.frame(q, hand).matrix
    calls += [
        (f"Tree.{name}", getattr(tree, name), (q.copy(), hand)) for name in ("frame", "jacobian", "frame_and_jacobian")
    ]
    calls += [
        ("Tree.frame_into", tree.frame_into, (q, hand, np.empty((5, 4, 4)))),
        ("Tree.frames", tree.frames, (q,)),
        ("Tree.jacobian_at", tree.jacobian_at, (q, hand, np.zeros(3), True, np.empty((5, 6, 8)))),
        (
            "Tree.frame_and_jacobian_into",
            tree.frame_and_jacobian_into,
            (q, hand, np.empty((5, 4, 4)), np.empty((5, 6, 8))),
        ),
        ("Tree.frame_gradient", tree.frame_gradient, (q, hand, frames.copy())),
        ("Tree.manipulability", tree.manipulability, (q, hand, True, True)),
        ("Tree.integrate", tree.integrate, (q, q.copy())),
        ("Tree.difference", tree.difference, (q, q.copy())),
        ("Tree.reach", models.ur5()._native.reach, ("tool0", -np.ones(6), np.ones(6))),
        ("Tree.core_cost", tree.core_cost, (q[0].copy(), hand, 2)),
        ("mend_frames", _core.mend_frames, (frames.copy(),)),
        ("one_frame", _core.one_frame, (frames[0].copy(),)),
        ("continued", _core.continued, (np.ones((40, 7)), [0, 4])),
        ("exp_rotation", _core.exp_rotation, (np.ones((2, 3)),)),
        ("log_rotation", _core.log_rotation, (frames.copy(),)),
        ("from_quaternion", _core.from_quaternion, (np.ones((2, 4)) / 2,)),
        ("to_quaternion", _core.to_quaternion, (frames.copy(),)),
        ("exp_frame", _core.exp_frame, (np.ones((2, 6)),)),
        ("log_frame", _core.log_frame, (frames.copy(),)),
        ("clamp_ball", _core.clamp_ball, (np.ones((2, 3)), np.array([0, 0, 1.0]), 0.5, -1.0, 1.0)),
        ("clamp_balls", _core.clamp_balls, (np.ones((40, 7)), [0, 4], np.tile([0, 0, 1.0, 0.5, -1, 1], (2, 1)))),
        ("use", _core.use, (None,)),
        ("chain_block", _core.chain_block, (tree, hand)),
        ("tree_block", _core.tree_block, (tree, [hand])),
        ("filter_rows", _core.filter_rows, (np.ones((40, 3)), np.array([0.5, 0.25]))),
        ("bound_above", _core.bound_above, (np.ones(40), 5)),
        ("bound_changes_below", _core.bound_changes_below, (np.ones(40), 0.5)),
        ("find_contacts", _core.find_contacts, (np.zeros((40, 3)), 0.05, 0.01, 3)),
        ("rows_differ", _core.rows_differ, (np.zeros((7, 4)), np.ones((7, 4)), 0.1)),
        ("slow_ball", _core.slow_ball, (np.ones((7, 3)), np.ones(3), np.zeros((7, 1)), np.ones(3), 0.5, -1.0, 1.0)),
        *_limb_calls(7),
        ("place_foot", _core.place_foot, (*foot_path(), None, 4, 2)),
        ("copy_rows", _core.copy_rows, (np.zeros((40, 12)), np.ones((40, 16))[:, :12])),
        ("solver_block", _core.solver_block, (core_search.compiled(models.ur5(), [Goal("tool0", Frame())], Solver()),)),
    ]
    for name, kind, arguments in list(calls):
        if isinstance(kind, type) and name != "Tree":
            calls += _methods(name, kind(*arguments), arguments[0])
    return calls


def _limb_calls(n: int) -> list[Any]:
    """Good calls of functions for n frames of a body."""
    frames, turns, points = np.tile(np.eye(4), (n, 1, 1)), np.tile(np.eye(3), (n, 1, 1)), np.ones((n, 3))
    point, weights = np.ones(3), np.array([0.5, 0.25])
    leg = (frames.copy(), points.copy(), np.zeros((n, 5)), np.ones((n, 1)), np.ones((2, 3)), np.array([0.1, 0.15]))
    return [
        ("leg_goals", _core.leg_goals, (frames.copy(), frames.copy(), points.copy())),
        ("turn_goals", _core.turn_goals, (turns.copy(), turns.copy())),
        (
            "arm_goals",
            _core.arm_goals,
            (turns.copy(), points.copy(), points[::-1] + 0.1, turns, point, point, 0.1, weights),
        ),
        ("foot_states", _core.foot_states, (*(frames.copy() for _ in range(3)), points.copy(), point, -point)),
        ("lean", _core.lean, (frames.copy(), frames.copy(), point, 0.4, 0.4, 5, True, leg, leg)),
        ("pose_columns", _core.pose_columns, (np.tile(np.eye(4), (n, 3, 1, 1)), [0, 2], [1])),
        ("column_poses", _core.column_poses, (np.ones((n, 10)), turns[:1].copy())),
    ]


def _methods(name: str, made: Any, tree: Any) -> list[Any]:
    """Good calls of the methods of an object of the core."""
    dof = _dof(tree)
    row, rows, targets = np.zeros(dof), np.zeros((3, dof)), getattr(made, "targets", 1)
    goal = np.array([1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0.3, 0.1, 0.4])
    goals = np.tile(goal, (3, targets, 1))
    if name == "SearchSolver":
        find = _core.DirectSearch(made)
        part = [(np.zeros((3, 3)), np.tile(np.eye(3), (3, 1, 1)), None)]
        return [
            ("SearchSolver.answer", made.answer, (np.array([0.3, 0, 0.4]), np.eye(3), None, row)),
            ("SearchSolver.many", made.many, (part, rows.copy(), rows, np.zeros((3, 3), dtype=np.int64), 0, 0, 3)),
            (
                "SearchSolver.many",
                made.many,
                (part, None, np.zeros((3, 2, dof)), np.zeros((3, 3, 2), dtype=np.int64), 2, 0, 3),
            ),
            ("DirectSearch", _core.DirectSearch, (made,)),
            ("DirectSearch()", find, (Frame(), row, row.copy())),
        ]
    if name == "LocalSolver":
        memory = made.memory()
        return [
            ("LocalSolver.solve", made.solve, (goals, rows, None, None)),
            ("LocalSolver.refine", made.refine, (goals, rows, None, np.ones(dof))),
            ("LocalSolver.step", made.step, (row, goals[0].copy(), None, None)),
            ("LocalSolver.preferred", made.preferred, (row, goals[0].copy(), None)),
            ("LocalSolver.tick", made.tick, (row, goals[0].copy(), 0.01, memory, None, None, None)),
            ("LocalSolver.evaluate", made.evaluate, (row, goals[0].copy(), False)),
            ("Memory.reset", memory.reset, ()),
        ]
    arms, count = made.arms, 2 if made.q.ndim == 2 else 1
    lead = (arms,) if made.q.ndim == 2 else ()
    numbers, start = np.zeros((*lead, count, 12)) + goal, np.zeros((*lead, dof))
    frames = np.zeros((*lead, 4, 4)) + np.eye(4)
    return [
        ("Tracker.tick", made.tick, (Frame(), 0.01)),
        ("Tracker.frame", made.frame, (frames, 0.01, 0.5, start)),
        ("Tracker.goals", made.goals, (numbers, 0.01, math.nan, start)),
        ("Tracker.steer", made.steer, (numbers, 0.01, None, np.zeros(dof), 0.1, np.ones(dof), True)),
        ("Tracker.push", made.push, (np.zeros((*lead, count, 6)), 0.01, start)),
        ("Tracker.replay", made.replay, (np.zeros((4, count, 12)) + goal, 0.01, np.arange(4.0))),
        ("Tracker.reset", made.reset, (start,)),
        ("Tracker.prefer", made.prefer, (np.zeros(dof),)),
        ("Tracker.weigh", made.weigh, (0, [1.0] * 6)),
        ("Tracker.limit", made.limit, (-np.ones(dof), np.ones(dof), np.ones(dof), [], np.ones((count, 2)))),
    ]


def _dof(tree: Any) -> int:
    for dof in range(1, 40):
        try:
            tree.frames(np.zeros(dof))
        except ValueError:
            continue
        return dof
    raise AssertionError("no dof fits")


def damaged(value: Any, rng: random.Random, odd: list[Any]) -> Any:
    """A value, or one of its parts, replaced by something odd."""
    if isinstance(value, list | tuple) and value and rng.random() < 0.75:
        parts = list(value)
        what = rng.random()
        if what < 0.1:
            parts.pop(rng.randrange(len(parts)))
        elif what < 0.2:
            parts.append(rng.choice(odd))
        else:
            place = rng.randrange(len(parts))
            parts[place] = damaged(parts[place], rng, odd)
        return type(value)(parts) if type(value) in (list, tuple) else parts
    if isinstance(value, np.ndarray) and value.dtype == float and value.size and rng.random() < 0.5:
        changed = value.copy()
        changed.reshape(-1)[rng.randrange(changed.size)] = rng.choice([math.nan, math.inf, -1e300, 0.0, 1e-320, 1e9])
        return changed
    return rng.choice(odd)


def text(value: object) -> str:
    """What a report shows; objects without their parts have none of their own."""
    try:
        return repr(value)
    except AttributeError:
        return ", ".join(map(text, value)) if isinstance(value, list | tuple) else object.__repr__(value)


def is_forbidden(error: BaseException) -> bool:
    """Whether an exception shows that a call hung, or that C++ was not translated."""
    return isinstance(error, SystemError | TimeoutError) or any(text in str(error) for text in CXX_TEXT)


def main(seed: int, count: int, log: str) -> None:
    faulthandler.enable()
    warnings.simplefilter("ignore")
    rng = random.Random(seed)

    def late(*_: Any) -> None:
        raise TimeoutError("ten seconds are over")

    signal.signal(signal.SIGALRM, late)
    calls = real_calls()
    known = {name.split(".")[0] for name, _, _ in calls}
    missing = {name for name in dir(_core) if not name.startswith("_")} - known
    missing -= {"instruction_set", "instruction_sets", "lane_width", "know_frame"}  # take nothing, or change the class
    missing -= {"SharedTable"}  # made by a search only
    assert not missing, f"entry points without a call: {missing}"
    succeeded = set()
    for name, function, arguments in calls:  # each is good for some of the objects before it is damaged
        with suppress(ValueError):
            function(*arguments)
            succeeded.add(name)
    failing = {name for name, _, _ in calls} - succeeded
    assert not failing, f"entry points that no call gets past: {failing}"
    good = raised = 0
    with open(log, "w") as file:
        for number in range(count):
            name, function, arguments = rng.choice(calls)
            odd = odd_values(rng)
            given = list(arguments)
            for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
                if given:
                    place = rng.randrange(len(given))
                    given[place] = damaged(given[place], rng, odd)
            shared = [k for k, value in enumerate(given) if isinstance(value, np.ndarray)]
            if len(shared) > 1 and rng.random() < 0.1:  # two arguments that share memory
                given[shared[0]] = given[shared[1]]
            file.seek(0)
            file.write(f"{number} {name} {text(given)}"[:20000] + "\n")
            file.truncate()
            file.flush()
            signal.alarm(10)
            try:
                function(*given)
                good += 1
            except Exception as error:
                raised += 1
                if is_forbidden(error):
                    sys.exit(f"{error!r} from {name} {text(given)}")
            finally:
                signal.alarm(0)
            assert UNTOUCHED == FROZEN_BYTES, f"{name} wrote to bytes: {text(given)}"
    print(f"{good} calls returned, {raised} raised")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
