"""Laws of many searches at once: the same as one by one, whatever the threads; bad rows, memory, the bar and Ctrl-C."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from test_search import HANDS

from supple import Goal, Outcome, Solver, _core, errors, method, models, prefer, solve
from supple._solve import search

PANDA, HAND = models.panda(), "panda_hand_tcp"
FIELDS = ("q", "outcomes", "iterations", "starts", "error")


def frames_of(arm, link, count, seed=1):
    """Frames (count, 4, 4), most of which the arm can reach."""
    frames = np.array(arm.frame(arm.random(count, seed=seed), link).matrix)
    frames[::7, :3, 3] *= 1.3
    return frames


# -- one and many -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", _core.instruction_sets())
@pytest.mark.parametrize("started", [False, True])
def test_many_are_found_as_one_by_one_to_the_bit(name, started):
    _core.use(name)
    for robot in ("panda", "ur5", "so101"):
        arm, link = models.get(robot), HANDS[robot]
        frames, start = frames_of(arm, link, 100), arm.random(100, seed=2)
        many = solve(arm, Goal(link, frames), start if started else None)
        assert 0.5 < many.arrived.mean() <= 1
        for i in range(100):
            one = solve(arm, Goal(link, frames[i]), start[i] if started else None)
            for field in FIELDS:
                assert np.array_equal(getattr(one, field), getattr(many, field)[i]), (robot, i, field)


@pytest.mark.slow
def test_many_of_every_kind_are_found_as_one_by_one_to_the_bit():
    frames = PANDA.frame(PANDA.random(30, seed=1), HAND)
    place, axis = frames.position, frames.rotation @ [0, 0, 1.0]
    elbow = PANDA.frame(PANDA.random(30, seed=2), "panda_link4").position
    asked = {
        "position": lambda i: [Goal(HAND, position=place[i])],
        "cone": lambda i: [Goal(HAND, position=place[i], axis=[0, 0, 1], direction=axis[i], turn_slack=0.1)],
        "box": lambda i: [Goal(HAND, frames[i], slack=(0.1, 0, 0.05), turn_slack=(0.1, 0.2, 0))],
        "two": lambda i: [Goal(HAND, position=place[i]), Goal("panda_link4", position=elbow[i])],
        "first things first": lambda i: [
            *(Goal(HAND, position=place[i]), Goal("panda_link4", position=elbow[i], priority=1))
        ],
    }
    for kind, goals in asked.items():
        for options in ({}, {"prefer": prefer.centre(0.1)}, {"joint_weights": {"panda_joint2": 0.3}}):
            many = solve(PANDA, goals(slice(None)), **options)
            for i in range(30):
                one = solve(PANDA, goals(i), **options)
                for field in FIELDS:
                    assert np.array_equal(getattr(one, field), getattr(many, field)[i]), (kind, options, i, field)


def test_leading_axes_of_goals_and_starts_broadcast():
    frames, start = frames_of(PANDA, HAND, 6), PANDA.random(5, seed=3)
    found = solve(PANDA, Goal(HAND, frames.reshape(3, 2, 1, 4, 4)), start)
    assert found.q.shape == (3, 2, 5, 8)
    assert found.error.shape == (3, 2, 5, 1, 6)
    assert found.outcomes.shape == found.starts.shape == (3, 2, 5)
    flat = solve(PANDA, Goal(HAND, np.repeat(frames, 5, axis=0)), np.tile(start, (6, 1)))
    assert np.array_equal(found.q.reshape(30, 8), flat.q)
    three = solve(PANDA, Goal(HAND, frames.reshape(3, 2, 4, 4)), solutions=4)
    assert three.q.shape == (3, 2, 4, 8)
    assert three.error.shape == (3, 2, 4, 1, 6)
    assert solve(PANDA, Goal(HAND, np.zeros((0, 4, 4)))).q.shape == (0, 8)
    assert solve(PANDA, Goal(HAND, np.zeros((0, 4, 4))), solutions=4).q.shape == (0, 4, 8)


def test_where_a_goal_stands_among_many_does_not_matter():
    frames = frames_of(PANDA, HAND, 3000)
    order = np.random.default_rng(1).permutation(3000)
    found, mixed = solve(PANDA, Goal(HAND, frames)), solve(PANDA, Goal(HAND, frames[order]))
    some = solve(PANDA, Goal(HAND, frames[1234:1239]))
    for field in FIELDS:
        assert np.array_equal(getattr(found, field)[order], getattr(mixed, field)), field
        assert np.array_equal(getattr(found, field)[1234:1239], getattr(some, field)), field


def test_solves_in_many_threads_do_not_disturb_each_other():
    frames, wrong = frames_of(PANDA, HAND, 300), []
    wanted = solve(PANDA, Goal(HAND, frames)).q

    def together():
        wrong.extend("together" for _ in range(5) if not np.array_equal(solve(PANDA, Goal(HAND, frames)).q, wanted))

    def alone():
        found = (solve(PANDA, Goal(HAND, frames[i])).q for i in range(300))
        wrong.extend(i for i, q in enumerate(found) if not np.array_equal(q, wanted[i]))

    team = [threading.Thread(target=each) for each in (together, alone, together, alone)]
    for each in team:
        each.start()
    for each in team:
        each.join()
    assert not wrong


# -- the same again ---------------------------------------------------------------------------------------------

PROGRAM = """
import hashlib, numpy as np
from supple import Goal, prefer, solve, models
panda, baxter, seen = models.panda(), models.baxter(), hashlib.sha256()
hand, grippers = "panda_hand_tcp", ("left_gripper", "right_gripper")
frames = np.array(panda.frame(panda.random(4000, seed=1), hand).matrix)
frames[::40, :3, 3] *= 1.3
start, q = panda.random(4000, seed=2), baxter.random(300, seed=3)
for found in (
    solve(panda, Goal(hand, frames)),
    solve(panda, Goal(hand, frames), start),
    solve(panda, Goal(hand, frames[:300]), start[:300], solutions=5),
    solve(panda, Goal(hand, position=frames[:, :3, 3])),
    solve(baxter, [Goal(each, baxter.frame(q, each), priority=i) for i, each in enumerate(grippers)]),
    solve(panda, Goal(hand, frames[:500]), prefer=prefer.centre(0.1)),
):
    for field in (found.q, found.outcomes, found.iterations, found.starts):
        seen.update(np.ascontiguousarray(field).tobytes())
    print(seen.hexdigest())
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", _core.instruction_sets())
def test_any_number_of_threads_gives_the_same_bits_again_and_again(name):
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "SUPPLE_THREADS": threads, "SUPPLE_ISA": name},
            stdout=subprocess.PIPE,
            text=True,
        )
        for threads in ("1", "2", "3", "3")
    ]
    said = [each.communicate()[0] for each in running]
    assert [each.returncode for each in running] == [0] * 4
    assert len(said[0].split()) == 6
    assert len(set(said)) == 1


def test_an_instruction_set_that_the_machine_lacks_is_refused():
    ran = subprocess.run(
        [sys.executable, "-c", "import supple._core"],
        env={**os.environ, "SUPPLE_ISA": "abacus"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode
    assert "this machine has no instruction set 'abacus'" in ran.stderr


def test_every_instruction_set_finds_what_can_be_reached():
    goal, start = Goal(HAND, PANDA.frame(PANDA.random(2000, seed=1), HAND)), PANDA.random(2000, seed=2)
    far = []
    for name in _core.instruction_sets():
        _core.use(name)
        assert solve(PANDA, goal).arrived.all()
        found = solve(PANDA, goal, start)
        assert found.arrived.all()
        far.append(np.linalg.norm(found.q - start, axis=1).mean())
    assert max(far) < 1.05 * min(far)  # no machine's answers are nearer than another's


def test_a_change_of_the_instruction_set_finds_plans_of_the_other_in_order():
    sets = _core.instruction_sets()
    goal = Goal(HAND, frames_of(PANDA, HAND, 50))
    for first in sets:
        arm = models.panda()
        _core.use(first)
        solve(arm, goal)
        for then in sets:
            _core.use(then)
            found = solve(arm, goal)
            assert np.array_equal(found.arrived, solve(arm, goal, found.q).arrived)


# -- rows that mean nothing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("started", [False, True])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_rows_that_are_not_finite_are_invalid_and_spoil_no_other(started, bad):
    frames, start = frames_of(PANDA, HAND, 600), PANDA.random(600, seed=2)
    given = start if started else None
    rows = np.array([3, 70, 256, 599])
    fine = ~np.isin(np.arange(600), rows)
    broken = frames.copy()
    broken[rows, [0, 1, 2, 0], [3, 1, 3, 0]] = bad
    for options in ({}, {"solutions": 3}, {"prefer": prefer.centre(0.1)}):
        whole, found = (solve(PANDA, Goal(HAND, each), given, **options) for each in (frames, broken))
        invalid = found.outcomes == Outcome.INVALID.value
        assert np.array_equal(invalid.reshape(600, -1).all(axis=1), ~fine)
        for field in FIELDS[:4]:
            assert np.array_equal(getattr(found, field)[fine], getattr(whole, field)[fine])
        kept = start[rows] if started else np.broadcast_to(PANDA.rest, (4, 8))
        assert (found.q[rows].reshape(4, -1, 8) == kept[:, None]).all()
        assert (found.iterations[rows] == 0).all()
        assert not found.arrived[rows].any()
    assert solve(PANDA, Goal(HAND, np.full((2, 4, 4), bad))).outcomes.tolist() == [Outcome.INVALID.value] * 2


def test_starts_that_are_not_finite_are_invalid_and_spoil_no_other():
    frames, start = frames_of(PANDA, HAND, 50), PANDA.random(50, seed=2)
    whole = solve(PANDA, Goal(HAND, frames), start)
    broken = start.copy()
    broken[5, 2], broken[9] = np.inf, np.nan
    found = solve(PANDA, Goal(HAND, frames), broken)
    assert np.flatnonzero(found.outcomes == Outcome.INVALID.value).tolist() == [5, 9]
    fine = ~np.isin(np.arange(50), [5, 9])
    assert np.array_equal(found.q[fine], whole.q[fine])
    assert np.isfinite(found.q).all()
    assert np.array_equal(np.delete(found.q[5], 2), np.delete(start[5], 2))


def test_goals_too_far_for_numbers_spoil_no_other():
    place = PANDA.frame(PANDA.random(40, seed=1), HAND).position.copy()
    whole = solve(PANDA, Goal(HAND, position=place))
    place[::5] = [[1e150, 0, 0]]
    with np.errstate(over="ignore"):
        found = solve(PANDA, Goal(HAND, position=place))
    fine = np.arange(40) % 5 > 0
    assert np.array_equal(found.q[fine], whole.q[fine])
    assert np.isfinite(found.q).all()
    assert PANDA.inside(found.q, 0).all()
    assert not found.arrived[~fine].any()


# -- memory -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [method.search(), method.damped()], ids=repr)
def test_answers_are_written_into_the_array_that_is_given(how):
    frames, start = frames_of(PANDA, HAND, 60).reshape(6, 10, 4, 4), PANDA.random(60, seed=2).reshape(6, 10, 8)
    goal, solver = Goal(HAND, frames), Solver(method=how)
    wanted = solver.solve(PANDA, goal, start)
    out = np.full((6, 10, 8), np.nan)
    found = solver.solve(PANDA, goal, start, out=out)
    assert np.shares_memory(found.q, out)
    assert np.array_equal(out, wanted.q)
    assert np.array_equal(found.outcomes, wanted.outcomes)
    place = start.copy()  # it may be the start itself
    assert np.array_equal(solver.solve(PANDA, goal, place, out=place).q, wanted.q)
    one = np.full(8, np.nan)
    assert np.array_equal(solver.solve(PANDA, Goal(HAND, frames[0, 0]), start[0, 0], out=one).q, one)
    assert np.array_equal(one, wanted.q[0, 0])


def test_out_holds_what_the_solution_says_in_every_case():
    frames = frames_of(PANDA, HAND, 40)
    frames[3] = np.nan
    elbow = Goal("panda_link4", position=[0, 0, 1.0], priority=1)
    for goals, options in (
        ([Goal(HAND, frames)], {}),
        ([Goal(HAND, frames), elbow], {}),
        ([Goal(HAND, frames)], {"prefer": prefer.centre(0.1)}),
    ):
        out = np.full((40, 8), np.nan)
        found = solve(PANDA, goals, out=out, **options)
        assert np.array_equal(found.q, out)
        assert np.array_equal(solve(PANDA, goals, **options).q, out)


def test_arrays_that_cannot_be_written_into_are_refused_and_untouched():
    frames = frames_of(PANDA, HAND, 6)
    closed = np.zeros((6, 8))
    closed.flags.writeable = False
    for out in (np.zeros((6, 7)), np.zeros((5, 8)), np.zeros(48), np.zeros((6, 8), np.float32), closed):
        with pytest.raises(
            errors.BadInput, match=r"out must be a writable, C-contiguous float64 array of shape \(6, 8"
        ):
            solve(PANDA, Goal(HAND, frames), out=out)
        assert not out.any()
    for out in (np.zeros((6, 16))[:, ::2], np.zeros((8, 6)).T, [[0.0] * 8] * 6, "here"):
        with pytest.raises(errors.BadInput, match="out must be"):
            solve(PANDA, Goal(HAND, frames), out=out)


def test_goals_and_starts_are_read_and_never_changed():
    frames, start = frames_of(PANDA, HAND, 3000)[::2], PANDA.random(3000, seed=1)[::2]
    kept = frames.copy(), start.copy()
    found = solve(PANDA, Goal(HAND, frames), start)
    assert np.array_equal(frames, kept[0])
    assert np.array_equal(start, kept[1])
    assert not np.shares_memory(found.q, start)


# -- the bar, and Ctrl-C ----------------------------------------------------------------------------------------

LONG = """
import sys, threading, time
import numpy as np
from supple import Goal, Outcome, errors, solve, models
arm, hand = models.panda(), "panda_hand_tcp"
count, frames = 400_000, np.array(arm.frame(arm.random(1000, seed=1), "panda_hand_tcp").matrix)
frames[:, :3, 3] *= 1.15
frames = np.tile(frames, (count // 1000, 1, 1))
out, start = np.zeros((count, 8)), np.broadcast_to(arm.rest + 0.01, (count, 8))
goals = Goal(hand, frames)
def report():
    while not out[:1000].any(axis=1).all():
        time.sleep(0.01)
    print("ready", flush=True)
threading.Thread(target=report, daemon=True).start()
try:
    solve(arm, goals, start, out=out, progress=PROGRESS)
except errors.Interrupted as stop:
    assert isinstance(stop, KeyboardInterrupt)
    found = stop.found
    left = found.outcomes == Outcome.OUT_OF_BUDGET.value
    done = ~left
    assert len(found) == count and np.shares_memory(found.q, out)
    assert (found.q[left] == start[0]).all()
    assert (found.starts[done] > 0).all() and not found.starts[left].any() and not found.iterations[left].any()
    again = solve(arm, Goal(hand, frames[:200]), start[:200])
    assert np.array_equal(again.q, found.q[:200]) and np.array_equal(again.outcomes, found.outcomes[:200])
    print("done", done.sum(), found)
"""


def interrupted(progress, wait):
    """Runs a solve of minutes, interrupts it when `wait` says so, and gives back what it said and showed."""
    program = LONG.replace("PROGRESS", repr(progress))
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"ready\n"
        seen = wait(child)
        child.send_signal(signal.SIGINT)
        said, more = child.communicate(timeout=300)
    assert child.returncode == 0, more.decode()[-2000:]
    word, done, *_ = said.decode().split()
    assert word == "done"
    assert 200 < int(done) < 400_000
    return seen + more


def until_the_bar(child):
    """What is shown on stderr, until a bar is."""
    shown = b""
    while b"%" not in shown:
        shown += os.read(child.stderr.fileno(), 1000)
        assert shown
    time.sleep(0.02)
    return shown


def a_moment(child):
    time.sleep(1.2)
    return b""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a process there cannot be sent Ctrl-C alone")
def test_control_c_stops_many_and_loses_nothing_that_is_done():
    shown = interrupted(True, until_the_bar)
    assert b"[" in shown
    assert shown.endswith((b"\r", b"\x1b[K"))  # the bar is wiped away


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a process there cannot be sent Ctrl-C alone")
@pytest.mark.parametrize("progress", [None, False])
def test_no_progress_bar_is_shown_without_a_terminal_or_when_turned_off(progress):
    assert interrupted(progress, a_moment) == b""


def test_no_bar_is_shown_for_what_takes_no_second(capfd):
    solve(PANDA, Goal(HAND, frames_of(PANDA, HAND, 3000)), progress=True)
    assert capfd.readouterr() == ("", "")


def test_a_budget_of_starts_ends_every_search():
    goal = Goal(HAND, frames_of(PANDA, HAND, 700)[::7])
    found = solve(PANDA, goal)
    assert (found.starts <= search.STARTS + search.MORE_STARTS).all()
    assert (found.iterations <= search.ITERATIONS).all()


def test_a_lost_row_asked_again_alone_is_refused():
    frames = np.array(models.panda().frame(models.panda().random(3, seed=0), "panda_hand_tcp").matrix)
    frames[1] = np.nan
    found = solve(models.panda(), Goal("panda_hand_tcp", frames))
    assert found[1].outcome is Outcome.INVALID
    with pytest.raises(errors.BadInput, match="finite"):
        solve(models.panda(), found[1].goals[0])
