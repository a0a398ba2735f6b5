"""Laws of the fast door: a plan answers as solve does, refuses what is no frame, and keeps nothing."""

import gc
import sys
import threading
import tracemalloc

import numpy as np
import pytest
from test_search import HANDS

from oracle_search import there
from supple import Frame, Goal, Joint, Linkage, Solver, _core, method, models, prefer, solve
from supple.errors import BadInput, UnknownName

PANDA, HAND = models.panda(), "panda_hand_tcp"
FIND = Solver().compile(PANDA, HAND)
FRAME = np.array(PANDA.frame(PANDA.random(seed=1), HAND).matrix)
FAR = FRAME + np.array([[0, 0, 0, 5.0]] + [[0] * 4] * 3)


# -- it answers as solve does -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", _core.instruction_sets())
@pytest.mark.parametrize("robot", ["panda", "ur5", "so101", "planar3"])
def test_a_compiled_solver_gives_the_bits_of_solve(robot, name):
    _core.use(name)
    arm, link = models.get(robot), HANDS[robot]
    frames, start = np.array(arm.frame(arm.random(100, seed=1), link).matrix), arm.random(100, seed=2)
    frames[::10, :3, 3] *= 3
    find = Solver().compile(arm, link)
    for given in (None, start):
        found = solve(arm, Goal(link, frames), given)
        assert not found.arrived.all()
        for i in range(100):
            out = np.full(arm.dof, np.nan)
            begin = None if given is None else given[i]
            q, same = find(frames[i], begin), find(frames[i], begin, out)
            assert (q is not None) == (same is not None) == found.arrived[i]
            assert np.array_equal(out, found.q[i])
            if q is not None:
                assert np.array_equal(q, found.q[i])
                assert same is out
                assert q is not out


PLANS = {
    "position": {"position": [0, 0, 0]},
    "orientation": {"orientation": np.eye(3)},
    "point": {"frame": np.eye(4), "point": [0.1, 0.2, 0.3]},
    "weights": {"frame": np.eye(4), "weight": (1, 0, 1), "turn_weight": (1, 2, 0)},
    "box": {"frame": np.eye(4), "slack": 0.01, "turn_slack": (0.1, 0, 0)},
}


@pytest.mark.parametrize("kind", PLANS)
def test_a_goal_says_which_rows_of_the_frames_count(kind):
    goal = Goal(HAND, **PLANS[kind])
    find = Solver().compile(PANDA, goal)
    for frame in PANDA.frame(PANDA.random(50, seed=3), HAND) @ Frame.at(goal.point):
        parts = {
            "position": None if goal.position is None else frame.position,
            "orientation": None if goal.orientation is None else frame,
        }
        rows = {name: getattr(goal, name) for name in ("point", "weight", "turn_weight", "slack", "turn_slack")}
        one = Goal(HAND, **parts, **rows)
        q = find(frame)
        assert there(PANDA, [one], q)
        assert np.array_equal(q, solve(PANDA, one).q)


def test_an_axis_points_where_the_frame_takes_it():
    arm, link, axis = models.so101(), "gripper_frame_link", [0.6, 0, 0.8]
    find = Solver().compile(arm, Goal(link, position=[0, 0, 0], axis=axis, direction=[0, 0, 1]))
    for frame in arm.frame(arm.random(50, seed=3), link):
        one = Goal(link, position=frame.position, axis=axis, direction=frame.rotation @ axis)
        assert there(arm, [one], find(frame))


def test_several_end_effectors_take_a_frame_each():
    baxter, hands = models.baxter(), ["left_gripper", "right_gripper"]
    find = Solver().compile(baxter, hands)
    q, start = baxter.random(30, seed=1), baxter.random(30, seed=2)
    frames = np.stack([baxter.frame(q, hand).matrix for hand in hands], axis=1)
    found = solve(baxter, [Goal(hand, frames[:, i]) for i, hand in enumerate(hands)], start)
    for i in range(30):
        assert np.array_equal(find(frames[i], start[i]), found.q[i])
        assert np.array_equal(find(Frame(frames[i]), start[i]), found.q[i])
    with pytest.raises(BadInput, match=r"goal must have shape \(2, 4, 4\), not \(4, 4\)"):
        find(frames[0, 0])
    with pytest.raises(BadInput, match=r"goal must have shape \(2, 4, 4\), not \(3, 4, 4\)"):
        find(np.stack([np.eye(4)] * 3))


def test_options_of_the_solver_count():
    start = PANDA.random(40, seed=4)
    frames = PANDA.frame(PANDA.random(40, seed=5), HAND)
    for options in (
        {"joint_weights": {"panda_joint3": 0}},
        {"max_iterations": 10},
        {"keep_limits": False},
        {"max_step": 0.2},
    ):
        solver = Solver(**options)
        find = solver.compile(PANDA, HAND)
        found = solver.solve(PANDA, Goal(HAND, frames), start)
        for i in range(40):
            out = np.empty(8)
            assert (find(frames[i], start[i], out) is not None) == found.arrived[i]
            assert np.array_equal(out, found.q[i])
    soon = Solver(timeout=1e-9).compile(PANDA, HAND)
    assert soon(FAR) is None


def test_joints_that_no_goal_needs_stay_as_they_were():
    start = np.append(PANDA.rest[:-1], 0.033)
    assert FIND(FRAME, start)[-1] == 0.033
    assert FIND(FRAME)[-1] == PANDA.rest[-1]
    out = np.empty(8)
    assert FIND(FAR, start, out) is None
    assert out[-1] == 0.033


def test_a_call_forgets_the_calls_before_it():
    fresh = Solver().compile(models.panda(), HAND)
    wanted = fresh(FRAME)
    for other in (FAR, np.eye(4), PANDA.frame(PANDA.random(seed=9), HAND)):
        fresh(other, PANDA.random(seed=8))
        assert np.array_equal(fresh(FRAME), wanted)


def test_frames_may_be_lists_transposed_or_single_precision():
    wanted = FIND(FRAME)
    for given in (FRAME.tolist(), Frame(FRAME), np.asfortranarray(FRAME), np.stack([FRAME] * 2, axis=-1)[..., 0]):
        assert np.array_equal(FIND(given), wanted)
    assert np.array_equal(FIND(FRAME, start=PANDA.rest.tolist()), FIND(FRAME, PANDA.rest))
    rough = FIND(FRAME.astype(np.float32))
    assert np.abs(PANDA.frame(rough, HAND).matrix - FRAME).max() < 1e-5


def test_a_plan_may_be_asked_from_many_threads():
    frames = PANDA.frame(PANDA.random(200, seed=6), HAND).matrix
    wanted, wrong = [FIND(frame) for frame in frames], []

    def ask():
        wrong.extend(i for i, frame in enumerate(frames) if not np.array_equal(FIND(frame), wanted[i]))

    team = [threading.Thread(target=ask) for _ in range(4)]
    for each in team:
        each.start()
    for each in team:
        each.join()
    assert not wrong


def test_a_plan_outlives_everything_it_was_made_of():
    find = Solver().compile(models.get("ur5"), "tool0")
    gc.collect()
    frames = models.ur5().frame(models.ur5().random(50, seed=1), "tool0")
    assert all(there(models.ur5(), [Goal("tool0", frame)], find(frame)) for frame in frames)
    door = Solver().compile(models.get("ur5"), "tool0")
    gc.collect()
    assert np.array_equal(door(frames[0]), find(frames[0]))


def test_a_plan_says_what_it_is():
    assert repr(FIND) == "Solver().compile('panda', ['panda_hand_tcp'])"
    assert FIND.linkage is PANDA
    assert FIND.goals[0].link == HAND
    assert FIND.solver == Solver()


# -- what is refused --------------------------------------------------------------------------------------------


def changed(row, column, value):
    frame = FRAME.copy()
    frame[row, column] = value
    return frame


NO_FRAME = {
    "not a number": changed(0, 3, np.nan),
    "infinite": changed(1, 1, np.inf),
    "stretched": FRAME * [[1.1, 1.1, 1.1, 1]],
    "mirrored": FRAME * [[-1, 1, 1, 1]],
    "sheared": FRAME @ (np.eye(4) + np.diag([0.01, 0, 0], 1)),
    "zero": np.zeros((4, 4)),
    "without a last row": changed(3, 0, 1.0),
    "with another last row": changed(3, 3, 2.0),
}


@pytest.mark.parametrize("kind", NO_FRAME)
def test_what_is_no_frame_is_refused_before_anything_is_written(kind):
    out = np.full(8, 7.0)
    with pytest.raises(BadInput, match="goal must be"):
        FIND(NO_FRAME[kind], None, out)
    assert (out == 7).all()


CALLS = {
    "goal must have shape (..., 4, 4), not (3, 4)": lambda: FIND(FRAME[:3]),
    "goal must be numbers, got None": lambda: FIND(None),
    "goal must have shape (4, 4), not (5, 4, 4)": lambda: FIND(np.stack([FRAME] * 5)),
    "goal must be numbers": lambda: FIND("there"),
    "start must have shape (..., 8), not (2,)": lambda: FIND(FRAME, [1, 2]),
    "start must be numbers": lambda: FIND(FRAME, "rest"),
    "start must be 8 finite numbers": lambda: FIND(FRAME, np.full(8, np.nan)),
    "out must be a writable, C-contiguous float64 array of shape (8,)": lambda: FIND(FRAME, None, np.zeros(7)),
    "float64 array of shape (8,)": lambda: FIND(FRAME, None, np.zeros(8, np.float32)),
    "array of shape (8,)": lambda: FIND(FRAME, None, [0.0] * 8),
    "C-contiguous float64 array": lambda: FIND(FRAME, None, np.zeros(16)[::2]),
    "links must be names of links, or goals; got 3": lambda: Solver().compile(PANDA, 3),
    "links must be names of links, or goals; got None": lambda: Solver().compile(PANDA, None),
    "links must be names of links, or goals; got []": lambda: Solver().compile(PANDA, []),
    "or goals; got ['panda_hand_tcp', None]": lambda: Solver().compile(PANDA, [HAND, None]),
    "linkage must be a Linkage, got 'panda'": lambda: Solver().compile("panda", HAND),
    "no joint moves any of the links": lambda: Solver().compile(PANDA, "panda_link0"),
    "compile needs method.search()": lambda: Solver(method=method.damped()).compile(PANDA, HAND),
    "compile needs method.search(), without preferences": lambda: Solver(prefer=prefer.centre()).compile(PANDA, HAND),
    "a compiled solver takes goals of one priority": lambda: Solver().compile(
        PANDA, [HAND, Goal("panda_link4", position=[0, 0, 0], priority=1)]
    ),
}


@pytest.mark.parametrize("reason", CALLS)
def test_what_cannot_be_asked_is_refused_with_the_reason(reason):
    with pytest.raises(BadInput) as refused:
        CALLS[reason]()
    assert reason in str(refused.value)


def test_an_unknown_link_is_refused_with_near_matches():
    with pytest.raises(UnknownName, match="did you mean 'panda_hand_tcp'"):
        Solver().compile(PANDA, "panda_hand_tpc")


def test_closed_arrays_are_not_written_into():
    out = np.zeros(8)
    out.flags.writeable = False
    with pytest.raises(BadInput, match="out must be a writable"):
        FIND(FRAME, None, out)


# -- it keeps nothing -------------------------------------------------------------------------------------------


def test_calls_keep_nothing_good_or_bad():
    start, out, bad, frame = PANDA.rest.copy(), np.zeros(8), changed(0, 0, np.nan), Frame(FRAME)

    def ask():
        FIND(FRAME)
        FIND(frame, start)
        FIND(FAR, start, out)
        FIND(FRAME.tolist(), start.tolist())
        for wrong in ((bad,), (FRAME, bad), (FRAME, start, bad), ("there",)):
            with pytest.raises(BadInput):
                FIND(*wrong)

    for _ in range(20):
        ask()
    gc.collect()
    counts = [sys.getrefcount(each) for each in (FRAME, FAR, start, out, bad, frame)]
    blocks = sys.getallocatedblocks()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(300):
        ask()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert [sys.getrefcount(each) for each in (FRAME, FAR, start, out, bad, frame)] == counts
    assert sys.getallocatedblocks() - blocks < 300
    assert grown < 300 * 64


def test_plans_are_kept_once_for_each_kind_of_goal_and_not_for_ever():
    arm = Linkage("arm", [Joint.revolute("a", "base", "l"), Joint.fixed("t", "l", "tip", at=Frame.at([1, 0, 0]))])
    for _ in range(3):
        Solver().compile(arm, "tip")
        solve(arm, Goal("tip", np.eye(4)))
    assert len(arm.__dict__["_plans"]) == 1
    for i in range(200):
        Solver().compile(arm, Goal("tip", np.eye(4), weight=1 + i))
    assert len(arm.__dict__["_plans"]) <= 65
