"""The core refuses what it cannot read or write: each line once crashed, or wrote where it should not."""

import copy
import math
import pickle

import numpy as np
import pytest

from supple import BadInput, Frame, Goal, Solver, Tolerance, _core, models
from supple._solve import batch, encoding, search

PANDA, TIP = models.panda(), "panda_hand_tcp"
FRAME = PANDA.frame(PANDA.rest, TIP)


def frame_without_matrix():
    return Frame.__new__(Frame)


def frame_with_deleted_matrix():
    frame = Frame(FRAME.matrix)
    object.__delattr__(frame, "matrix")
    return frame


@pytest.mark.parametrize("make", [frame_without_matrix, frame_with_deleted_matrix])
def test_a_frame_without_its_matrix_is_refused(make):
    find, tracker = Solver().compile(PANDA, TIP), Solver().track(PANDA, TIP)
    for call in (find, lambda frame: tracker.step(frame, 0.01), lambda frame: tracker.step(frame, 0.01, stamp=1.0)):
        with pytest.raises((BadInput, AttributeError), match="matrix"):
            call(make())


@pytest.mark.filterwarnings("ignore:nanobind")
def test_objects_without_init_are_refused():
    find, solver = Solver().compile(PANDA, TIP), search.compiled(PANDA, [Goal(TIP, FRAME)], Solver())

    class Sub(type(find)):
        def __init__(self):
            pass

    for made in (type(find).__new__(type(find)), Sub(), _core.DirectSearch.__new__(_core.DirectSearch)):
        with pytest.raises(TypeError, match="__init__"):
            made(FRAME)
    with pytest.raises(TypeError):
        _core.SearchSolver.__new__(_core.SearchSolver).answer(np.zeros(3), None, None, None)
    for kind in (_core.Tree, _core.SearchSolver, _core.LocalSolver, _core.Tracker, _core.Memory):
        empty = kind.__new__(kind)
        for name in (name for name in dir(kind) if not name.startswith("_")):
            with pytest.raises((TypeError, BadInput)):
                getattr(empty, name)()
    with pytest.raises(BadInput):
        _core.DirectSearch(_core.SearchSolver.__new__(_core.SearchSolver))
    with pytest.raises(TypeError):
        copy.copy(solver)(FRAME)


def test_a_compiled_solver_is_copied_and_pickled():
    find = Solver().compile(PANDA, TIP)
    for same in (copy.copy(find), copy.deepcopy(find), pickle.loads(pickle.dumps(find))):
        assert np.array_equal(same(FRAME), find(FRAME))
        assert same.goals == find.goals


def test_no_entry_writes_to_memory_that_is_not_its_own():
    frames = np.frombuffer(FRAME.matrix.tobytes(), dtype=float).reshape(4, 4)
    for given in (frames, FRAME.matrix.astype(np.float32), FRAME.matrix.tolist(), np.asfortranarray(FRAME.matrix)):
        with pytest.raises(BadInput, match="writable"):
            _core.mend_frames(given)
    solver = search.compiled(PANDA, [Goal(TIP, FRAME)], Solver())
    parts = [batch.parts(Goal(TIP, FRAME), ())]
    report = np.zeros((3, 1), dtype=np.int64)
    for q in (np.zeros((1, 8), dtype=np.float32), np.frombuffer(bytes(64)).reshape(1, 8), [[0.0] * 8]):
        with pytest.raises(BadInput, match="writable"):
            solver.many(parts, None, q, report, 0, 0, 1)
    shared = np.zeros(32)
    with pytest.raises(BadInput, match="share memory"):
        solver.many(parts, None, shared[:8].reshape(1, 8), shared[4:7].view(np.int64).reshape(3, 1), 0, 0, 1)


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (1, [], "at least one goal"),
        (0, object(), "a Tree is needed"),
        (0, _core.Tree.__new__(_core.Tree), "a Tree is needed"),
        (5, (), "sizes must have 3 fields"),
        (6, (1, 2), "options must have 6 fields"),
        (6, (2**40, 10, 1.0, 0.5, 0.0, 1), "restarts must be a whole number"),
        (7, (10**400, 1.0), "a number is needed"),
        (8, ("x", 0, 0, 0), "a number is needed"),
        (4, [(10**6, (0, 0, 1), 1.0, -1.0, 1.0)], "the index of a ball"),
        (4, [(0, (0, 0, 1), 1.0, -1.0, 1.0)], "not that of a ball joint"),
    ],
)
def test_fields_of_a_search_are_checked(place, value, said, monkeypatch):
    made = []
    monkeypatch.setattr(
        _core, "SearchSolver", lambda *given, kind=_core.SearchSolver: made.append(given) or kind(*given)
    )
    PANDA.__dict__.pop("_plans", None)
    Solver().compile(PANDA, TIP)
    monkeypatch.undo()
    arguments = list(made[0])
    arguments[place] = value
    with pytest.raises(BadInput, match=said):
        _core.SearchSolver(*arguments)


def test_a_component_that_does_not_exist_is_refused():
    (target,) = encoding.targets(PANDA, [Goal(TIP, FRAME)])
    for component in (10**6, -1, 10, 2**70):
        wrong = (target[0], (component, *target[1][1:]), *target[2:])
        with pytest.raises(BadInput, match="a component must be a whole number from 0 to 9"):
            _core.LocalSolver(PANDA._native, [wrong], PANDA.lower, PANDA.upper, [], (2, 0) + (0,) * 9, [], (1, 1, 1, 1))


def test_no_text_of_the_language_below_reaches_a_caller():
    assert Tolerance(10**400, 1e-3).position == math.inf
    with pytest.raises(BadInput, match="position must be positive"):
        Tolerance(-(10**400), 1e-3)
    with pytest.raises((BadInput, OverflowError, TypeError)) as refused:
        Solver().track(PANDA, TIP).step(FRAME, 10**400)
    assert "std::" not in str(refused.value)


@pytest.mark.slow
def test_a_chain_of_65_600_joints_needs_no_square_of_its_joints():
    """n * n was more than an int has; one goal needs no such matrix."""
    n = 65_600
    location = np.tile(np.eye(4), (n, 1, 1))
    location[:, 0, 3] = 1e-5
    ones, order = np.ones(n), np.arange(n)
    tree = _core.Tree(0 * order, order - 1, order, ones, 0 * ones, location, ("tip",), [n - 1], np.eye(4)[None], n)
    target = ("tip", (0, 1), (1.0, 1.0), (0, 0, 0), (0, 0, 0), (0, 0), None, (False, 0, 0, 0, 0), None, None)
    arguments = (ones, ones, 0 * ones), (4, 40, 0.5, 0.5, 0.0, 0), (1e-3, 1e-3), (1e301, 0, 0, 0)
    solver = _core.SearchSolver(tree, [target], -ones, ones, [], *arguments)
    q, outcome, *_ = solver.answer(np.array([0.5, 0.2, 0.0]), None, None, None)
    assert q.shape == (n,)
    assert outcome in (0, 1, 2)
    shares = np.zeros((1, 4))
    shares[0, 0] = 1
    mass = (None, (0, 1), *target[2:8], shares, None)
    _core.LocalSolver(tree, [mass], -ones, ones, [], (2, 0, 0, 1, 1e-4, 0, 1, 1, 0, 0, 0), [], (1, 1, 1e-3, 1e-3))


def test_out_may_share_memory_with_what_is_read():
    for rows in (1, 5, 400):
        q = PANDA.random(rows, seed=rows)
        frames, jacobians = PANDA.frame(q, TIP).matrix, PANDA.jacobian(q, TIP)
        for shift in (0, 1, 7, 8, 24):
            block = np.zeros(rows * 48 + 64)
            inside = block[shift : shift + 8 * rows].reshape(rows, 8)
            inside[:] = q
            PANDA.frame(inside, TIP, out=block[: 16 * rows].reshape(rows, 4, 4))
            assert np.array_equal(block[: 16 * rows].reshape(rows, 4, 4), frames)
            inside[:] = q
            PANDA.jacobian(inside, TIP, out=block[: 48 * rows].reshape(rows, 6, 8))
            assert np.array_equal(block[: 48 * rows].reshape(rows, 6, 8), jacobians)
    block = np.zeros(5 * 64)
    with pytest.raises(BadInput, match="share memory"):
        PANDA.frame_and_jacobian(q[:5], TIP, out=(block[:80].reshape(5, 4, 4), block[40:280].reshape(5, 6, 8)))


def test_out_of_a_solve_may_be_its_start():
    goal = Goal(TIP, PANDA.frame(PANDA.random(600, seed=1), TIP))
    start = PANDA.random(600, seed=2)
    expected = Solver().solve(PANDA, goal, start).q
    for shift in (0, 8, 2400, 4000):  # rows of start are where rows before them are written
        block = np.zeros(600 * 8 + shift)
        begin, out = block[:4800].reshape(600, 8), block[shift:].reshape(600, 8)
        begin[:] = start
        Solver().solve(PANDA, goal, begin, out=out)
        assert np.array_equal(out, expected)
    find, one = Solver().compile(PANDA, TIP), start[0].copy()
    expected = find(FRAME, one.copy())
    assert find(FRAME, one, one) is one
    assert np.array_equal(one, expected)


def test_motions_of_wrong_shapes_are_refused():
    rows, frames, contacts, point = np.zeros((5, 2)), np.tile(np.eye(4), (5, 1, 1)), np.zeros((5, 3)), np.zeros(3)
    turns = np.tile(np.eye(3), (5, 1, 1))
    leg = (frames, contacts, np.zeros((5, 5)), np.ones((5, 1)), np.ones((2, 3)))
    calls = [
        lambda: _core.filter_rows(rows, np.ones(6)),
        lambda: _core.filter_rows(rows, np.ones(0)),
        lambda: _core.filter_rows(rows[0], np.ones(1)),
        lambda: _core.filter_rows([[1.0]], np.ones(1)),
        lambda: _core.filter_rows(np.array([["a"]]), np.ones(1)),
        lambda: _core.clamp_balls(contacts, [1], np.ones((1, 6))),
        lambda: _core.clamp_balls(contacts, [0], np.ones((2, 6))),
        lambda: _core.clamp_balls(contacts, [0], np.ones(6)),
        lambda: _core.clamp_balls(contacts[0], [0], np.ones((1, 6))),
        lambda: _core.clamp_balls(frames[:, 0, :3], [0], np.ones((1, 6))),
        lambda: _core.bound_above(rows, 3),
        lambda: _core.bound_above(rows[:, 0], 0),
        lambda: _core.bound_above(rows[:, 0], 2**40),
        lambda: _core.leg_goals(frames, frames[:3], None),
        lambda: _core.leg_goals(frames, frames, contacts[:3]),
        lambda: _core.turn_goals(turns, turns[:3]),
        lambda: _core.arm_goals(turns, contacts, contacts, None, point, point, 0.1, np.ones(0)),
        lambda: _core.arm_goals(turns, contacts, contacts, None, point, point, 0.0, np.ones(1)),
        lambda: _core.arm_goals(turns, contacts, contacts, turns[:2], point, point, 0.1, np.ones(1)),
        lambda: _core.foot_states(frames, frames, frames[:2], contacts, point, point),
        lambda: _core.lean(frames, frames, point, 0.4, 0.4, 0, True, leg, leg),
        lambda: _core.lean(frames, frames, point, 0.4, 0.4, 3, True, leg[:4], leg),
        lambda: _core.lean(frames, frames, point, 0.4, 0.4, 3, True, leg, (*leg[:4], np.ones((0, 2, 3)))),
        lambda: _core.pose_columns(frames, [0], [0]),
        lambda: _core.pose_columns(frames[:, None], [1], [0]),
        lambda: _core.pose_columns(frames[:, None], [0], [2**80]),
        lambda: _core.pose_columns(frames[:, None], [0], ["0"]),
        lambda: _core.column_poses(np.ones((5, 9)), turns[:1]),
        lambda: _core.find_contacts(contacts[0], 0.05, 0.01, 3),
        lambda: _core.bound_changes_below(rows, 0.1),
        lambda: _core.rows_differ(rows, rows[:3], 0.1),
        lambda: _core.slow_ball(contacts, contacts, rows[:, :1], None, 0.1, 0.0, 0.0),
        lambda: _core.slow_ball(contacts, point, rows[:3, :1], None, 0.1, 0.0, 0.0),
        lambda: _core.place_foot(frames, contacts[:4], point, point, None, 3, 3),
        lambda: _core.place_foot(frames[0], contacts[0], point, point, None, 3, 3),
        lambda: _core.place_foot(frames, contacts, point, contacts, None, 3, 3),
        lambda: _core.place_foot(frames, contacts, point, point, frames, 3, 3),
        lambda: _core.place_foot(frames, contacts, point, point, None, 0, 3),
        lambda: _core.place_foot(frames, contacts, point, point, None, 3, 2**60),
    ]
    for call in calls:
        with pytest.raises(BadInput):
            call()
