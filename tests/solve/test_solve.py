"""Laws of solving: one and many, several goals at once, what cannot be reached, and what cannot be asked."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import supple
from supple import Frame, Goal, Joint, Linkage, Outcome, Solver, _core, method, models, prefer, solve
from supple._solve import compilation
from supple.errors import BadInput

ARM = models.planar3()
PANDA, HAND = models.panda(), "panda_hand_tcp"
ALL = [name for name in method.names() if name != "inverse"]
STEPPING = [name for name in ALL if name != "search"]
WISHING = [method.search(), method.damped()]


def flat(x, y):
    return Goal("tip", position=[x, y, 0], weight=(1, 1, 0))


def reachable(arm, link, count, seed=0):
    return arm.frame(arm.random(count, seed=seed), link)


# -- one and many -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", _core.instruction_sets())
@pytest.mark.parametrize("way", ALL)
def test_many_are_solved_as_one_by_one_to_the_bit(way, name):
    _core.use(name)
    solver = Solver(method=method.get(way), max_iterations=60)
    goal = Goal(HAND, position=reachable(PANDA, HAND, 40).position.reshape(4, 10, 3))
    many = solver.solve(PANDA, goal)
    assert many.q.shape == (4, 10, PANDA.dof)
    assert many.outcomes.shape == many.arrived.shape == many.iterations.shape == many.path.shape == (4, 10)
    assert many.error.shape == (4, 10, 1, 6)
    for i in np.ndindex(4, 10):
        one = solver.solve(PANDA, Goal(HAND, position=goal.position[i]))
        for field in ("q", "iterations", "largest_step", "path", "error", "distance", "angle", "outcomes"):
            assert np.array_equal(getattr(one, field), getattr(many, field)[i]), field
        assert one.outcome is many[i].outcome
        assert one.arrived == many.arrived[i]


def test_what_is_said_to_have_arrived_has():
    frames = reachable(PANDA, HAND, 200)
    found = solve(PANDA, Goal(HAND, frames))
    there = PANDA.frame(found.q, HAND)
    place = np.linalg.norm(there.position - frames.position, axis=-1)
    turn = np.linalg.norm((there.inverse() @ frames).to_rotvec(), axis=-1)
    assert found.distance[:, 0] == pytest.approx(place, abs=1e-12)
    assert found.angle[:, 0] == pytest.approx(turn, abs=1e-9)
    assert np.array_equal(found.arrived, (place <= 1e-6) & (turn <= 1e-6))
    assert found.arrived.mean() > 0.5
    assert PANDA.inside(found.q, 0).all()


def test_leading_axes_of_goals_and_start_broadcast():
    goal = Goal("tip", position=reachable(ARM, "tip", 5).position[:, None])
    start = ARM.random(3, seed=1)
    found = solve(ARM, goal, start)
    assert found.q.shape == (5, 3, 3)
    for i, k in np.ndindex(5, 3):
        assert np.array_equal(found.q[i, k], solve(ARM, Goal("tip", position=goal.position[i, 0]), start[k]).q)
    assert solve(ARM, flat(10, 10), start).q.shape == (3, 3)
    two = [Goal("tip", position=np.ones((4, 1, 3))), Goal("link2", position=np.ones((2, 3)))]
    assert solve(ARM, two, np.ones((7, 1, 1, 3)), max_iterations=1).error.shape == (7, 4, 2, 2, 6)


def test_no_rows_are_none():
    found = solve(ARM, Goal("tip", position=np.zeros((0, 3))))
    assert found.q.shape == (0, 3)
    assert len(found) == 0
    assert str(found) == "0 solves"


def test_the_start_is_the_linkages_rest_unless_given():
    local = Solver(method=method.damped())
    assert np.array_equal(local.solve(ARM, flat(10, 12)).q, local.solve(ARM, flat(10, 12), ARM.rest).q)
    # from another start another answer
    assert not np.allclose(local.solve(ARM, flat(10, 12), [2.0, -1, -1]).q, local.solve(ARM, flat(10, 12)).q)


def test_no_iterations_give_the_start_within_limits():
    start = np.full(PANDA.dof, 9.0)
    local = Solver(method=method.damped(), max_iterations=0)
    found = local.solve(PANDA, Goal(HAND, position=[0.4, 0, 0.4]), start)
    moved = PANDA.jacobian(PANDA.rest, HAND).any(axis=0)
    assert np.array_equal(found.q[moved], PANDA.clamp(start)[moved])
    assert (found.iterations, found.path, found.largest_step) == (0, 0, 0)
    assert found.outcome is Outcome.OUT_OF_BUDGET
    there = Goal(HAND, PANDA.frame(PANDA.rest, HAND))
    assert local.solve(PANDA, there).outcome is Outcome.ARRIVED
    free = replace(local, keep_limits=False).solve(PANDA, Goal(HAND, position=[0.4, 0, 0.4]), start)
    assert np.array_equal(free.q, start)


def test_joints_that_no_goal_needs_stay_as_they_were():
    start = np.append(PANDA.rest[:-1], 0.033)
    assert solve(PANDA, Goal(HAND, position=[0.4, 0.1, 0.4]), start).q[-1] == 0.033
    baxter = models.baxter()
    left = solve(baxter, Goal("left_gripper", position=[0.7, 0.4, 0.3]))
    changed = np.array(baxter.names)[left.q != baxter.rest]
    assert left.arrived
    assert len(changed) == 7
    assert all(name.startswith("left_") for name in changed)


@pytest.mark.slow
def test_any_number_of_threads_gives_the_same_bits():
    program = """
import hashlib, sys
from supple import Goal, Solver, method, models
arm = models.panda()
goal = Goal("panda_hand_tcp", arm.frame(arm.random(1500, seed=0), "panda_hand_tcp"))
for way in ("damped", "selectively_damped", "coordinate_descent"):
    found = Solver(method=method.get(way), max_iterations=20).solve(arm, goal)
    print(hashlib.sha256(found.q.tobytes() + found.path.tobytes() + found.iterations.tobytes()).hexdigest())
"""
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "SUPPLE_THREADS": str(threads)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in (1, 2, 3, 7)
    }
    assert len(said) == 1
    assert len(said.pop().split()) == 3


def test_instruction_sets_find_the_same_to_tolerance():
    goal = Goal(HAND, position=reachable(PANDA, HAND, 300).position)
    found = {}
    for name in _core.instruction_sets():
        _core.use(name)
        found[name] = solve(PANDA, goal)
        assert found[name].arrived.all()
    first = found[_core.instruction_sets()[0]]
    for other in found.values():
        # where the way forks rounding may choose, which is rare
        assert (np.abs(other.q - first.q).max(axis=-1) < 1e-4).mean() > 0.98


# -- several goals ----------------------------------------------------------------------------------------------


def test_both_hands_of_baxter_arrive_at_once():
    baxter, hands = models.baxter(), ("left_gripper", "right_gripper")
    rng = np.random.default_rng(3)
    q = baxter.clamp(baxter.rest + rng.uniform(-0.4, 0.4, (30, baxter.dof)))
    goals = [Goal(hand, baxter.frame(q, hand)) for hand in hands]
    found = solve(baxter, goals, method=method.damped())
    assert found.arrived.mean() > 0.9
    assert found.distance.shape == (30, 2)
    for i, hand in enumerate(hands):
        away = np.linalg.norm(baxter.frame(found.q, hand).position - goals[i].position, axis=-1)
        assert (away[found.arrived] <= 1e-6).all()
    # the arms do not share joints, so each finds what it finds alone
    alone = solve(baxter, goals[0], method=method.damped())
    both = found.arrived & alone.arrived
    left = [name.startswith("left_") for name in baxter.names]
    assert np.abs(found.q - alone.q)[both][:, left].max() < 1e-4


def test_five_joints_bring_a_point_to_a_place_and_an_axis_to_a_direction():
    arm, link = models.so101(), "gripper_frame_link"
    frames = arm.frame(arm.clamp(arm.rest + np.random.default_rng(0).uniform(-0.5, 0.5, (100, arm.dof))), link)
    along = frames.rotation @ [0, 0, 1.0]
    point = [0.01, 0.02, 0.03]
    found = solve(arm, Goal(link, position=frames.apply(point), point=point, axis=[0, 0, 1], direction=along))
    assert found.arrived.mean() > 0.9
    there = arm.frame(found.q, link)
    good = found.arrived
    assert np.abs(there.apply(point) - frames.apply(point))[good].max() < 1e-6
    assert np.abs(there.rotation @ [0, 0, 1.0] - along)[good].max() < 2e-6


def test_goals_that_quarrel_find_their_weighted_middle():
    slide = Linkage("slide", [Joint.prismatic("x", "base", "tip", axis=[1, 0, 0])])
    pull = [Goal("tip", position=[x, 0, 0], weight=w) for x, w in ((0, 1.0), (3, 2.0))]
    found = solve(slide, pull)
    assert found.q == pytest.approx([12 / 5], abs=1e-6)  # the least of x^2 + 4 (x - 3)^2
    assert found.outcome is Outcome.STUCK


@pytest.mark.parametrize("how", WISHING, ids=repr)
def test_an_opposite_direction_is_no_dead_end(how):
    for axis in ([1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0, 0.8]):
        ball = Linkage("ball", [Joint.ball("b", "base", "tip")])
        found = solve(ball, Goal("tip", axis=axis, direction=np.negative(axis)), method=how)
        assert found.arrived
        assert ball.frame(found.q, "tip").rotation @ axis == pytest.approx(np.negative(axis), abs=1e-6)


# -- what cannot be reached -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("way", "nearly"), [("damped", 1e-6), ("coordinate_descent", 1e-6), ("selectively_damped", 6)])
def test_beyond_reach_it_is_stuck_and_says_by_how_much(way, nearly):
    rng = np.random.default_rng(5)
    for angle, far in zip(rng.uniform(-3, 3, 20), rng.uniform(31, 80, 20), strict=True):
        found = solve(ARM, flat(far * np.cos(angle), far * np.sin(angle)), method=method.get(way))
        assert found.outcome is Outcome.STUCK
        assert found.distance[0] >= far - 30 - 1e-9
        assert found.distance[0] == pytest.approx(far - 30, abs=nearly)
        assert found.why.startswith(f"tip is out of reach by {far - 30:.3g} m along ")


def test_robots_out_of_reach_end_stuck_and_never_say_they_arrived():
    for arm, link in ((PANDA, HAND), (models.ur5(), "tool0"), (models.so101(), "gripper_frame_link")):
        reach, base = supple._linkage.reach._measured(arm, link)
        direction = np.random.default_rng(1).normal(size=(100, 3))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        found = solve(arm, Goal(link, position=base + 1.5 * reach * direction))
        assert not found.arrived.any()
        assert (found.outcomes == Outcome.STUCK.value).mean() > 0.95
        assert (found.distance[:, 0] >= 0.5 * reach * (1 - 1e-9)).all()
        assert arm.inside(found.q, 0).all()
        assert all("is out of reach by" in found[i].why for i in range(100))


@pytest.mark.parametrize("way", ["pseudoinverse", "damped", "alternative_jacobian", "transpose", "selectively_damped"])
def test_the_q_given_back_is_the_best_that_was_visited(way):
    # out of reach, and with too little damping, so that the way leads up and down
    solver = Solver(method=method.get(way), keep_limits=False, limit_escapes=0, max_iterations=12, patience=100)
    goal = flat(-35, 5)
    plan, numbers = compilation.compiled(ARM, [goal], solver), goal._encoded(())[None]
    q, visited = ARM.rest, []
    for _ in range(13):
        visited.append((np.sum(plan.evaluate(q, numbers, False)[0] ** 2), q))
        q = solver.step(ARM, goal, q)
    best = min(visited, key=lambda each: each[0])[1]
    found = solver.solve(ARM, goal)
    assert found.q == pytest.approx(best, abs=1e-9)
    assert found.iterations == 12
    assert found.outcome is Outcome.OUT_OF_BUDGET


def test_a_goal_too_far_for_numbers_gives_back_the_start():
    with np.errstate(over="ignore"):
        found = solve(ARM, Goal("tip", position=[1e200, 0, 0]), method=method.damped())
    assert np.array_equal(found.q, ARM.rest)
    assert found.outcome is Outcome.STUCK


@pytest.mark.parametrize("how", WISHING, ids=repr)
def test_why_names_the_limits_that_forbid_it(how):
    arm = Linkage(
        "arm",
        [
            Joint.revolute("a", "base", "l1", lower=-0.5, upper=0.5),
            Joint.revolute("b", "l1", "l2", at=Frame.at([1, 0, 0]), lower=-0.5, upper=0.5),
            Joint.fixed("t", "l2", "tip", at=Frame.at([1, 0, 0])),
            Joint.revolute("other", "base", "aside", lower=0, upper=1),  # at its limit, and no matter
        ],
    )
    solver = Solver(method=how)
    # a right angle at each joint would do, and half a radian of it is allowed
    past = "a would have to be 1.07 rad past its {0} limit; b would have to be 1.07 rad past its {0} limit"
    for y, side in ((1, "upper"), (-1, "lower")):
        found = solver.solve(arm, Goal("tip", position=[-1, y, 0]))
        assert found.outcome is Outcome.STUCK
        assert found.why == "tip not found there: 2.44 m short along -x; " + past.format(side)
        assert str(found).startswith("stuck after ")
        assert str(found).endswith(f": {found.why}")
    none = replace(solver, max_iterations=0).solve(arm, Goal("tip", position=[1.9, 0.5, 0]))
    assert none.why == "stopped after 0 iterations; it can be reached"


def test_directions_that_are_free_are_not_out_of_reach():
    assert solve(ARM, Goal("tip", position=[20, 0, 500], weight=(1, 1, 0))).arrived
    far = solve(ARM, Goal("tip", position=[40, 0, 500], weight=(1, 1, 0)))
    assert far.why.startswith("tip is out of reach by 10 m along ")
    assert far.distance[0] == pytest.approx(10, abs=1e-6)


# -- rows that mean nothing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", ["position", "frame", "orientation", "direction"])
def test_rows_that_are_not_finite_are_invalid_and_spoil_no_other(wanted):
    frames = np.array(reachable(PANDA, HAND, 6).matrix)
    parts = {
        "position": ("position", frames[:, :3, 3].copy(), {}),
        "frame": ("frame", frames.copy(), {}),
        "orientation": ("orientation", frames[:, :3, :3].copy(), {}),
        "direction": ("direction", frames[:, :3, 2].copy(), {"axis": [0, 0, 1]}),
    }
    name, values, more = parts[wanted]
    whole = solve(PANDA, Goal(HAND, **{name: values}, **more))
    for row, bad in ((2, np.nan), (4, np.inf)):
        values[row, ..., 0] = bad
    found = solve(PANDA, Goal(HAND, **{name: values}, **more))
    assert [o == Outcome.INVALID.value for o in found.outcomes] == [False, False, True, False, True, False]
    fine = [0, 1, 3, 5]
    assert np.array_equal(found.q[fine], whole.q[fine])
    assert np.array_equal(found.outcomes[fine], whole.outcomes[fine])
    assert np.array_equal(found.q[[2, 4]], [PANDA.rest] * 2)
    assert not found.arrived[[2, 4]].any()
    assert "2 invalid" in str(found)
    assert "invalid" in str(found[2])


# -- steps ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", STEPPING)
@pytest.mark.parametrize("max_step", [0.05, 0.5])
def test_no_joint_changes_by_more_than_the_longest_step(way, max_step):
    frames = reachable(PANDA, HAND, 50)
    found = solve(
        PANDA, Goal(HAND, frames), method=method.get(way), max_step=max_step, max_iterations=40, limit_escapes=0
    )
    assert (found.largest_step <= max_step * (1 + 1e-12)).all()
    assert (found.largest_step > 0.9 * max_step).any()
    assert (found.path <= found.iterations * np.sqrt(7) * max_step + 1e-9).all()
    assert (np.abs(found.q - PANDA.rest).max(axis=-1) <= found.iterations * max_step + 1e-9).all()


@pytest.mark.parametrize("way", ALL)
def test_limits_are_kept_or_not_as_told(way):
    frames = reachable(PANDA, HAND, 100)
    kept = solve(PANDA, Goal(HAND, frames), method=method.get(way), max_iterations=50)
    assert PANDA.inside(kept.q, 0).all()
    free = solve(PANDA, Goal(HAND, frames), method=method.get(way), max_iterations=50, keep_limits=False)
    assert not PANDA.inside(free.q).all()


def test_shorter_steps_go_the_same_way():
    whole, part = (
        Solver(method=method.damped(), step_scale=s, max_step=1e9).step(ARM, flat(10, 12), ARM.rest) - ARM.rest
        for s in (1.0, 0.25)
    )
    assert part == pytest.approx(whole / 4, abs=1e-14)


def test_solve_is_step_after_step():
    solver = Solver(method=method.damped(), max_iterations=5, patience=50, limit_escapes=0)
    goal = Goal(HAND, position=[0.4, 0.3, 0.5])
    q = PANDA.rest
    for _ in range(5):
        q = solver.step(PANDA, goal, q)
    assert solver.solve(PANDA, goal).q == pytest.approx(q, abs=1e-12)


# -- functions as preferences -----------------------------------------------------------------------------------


def test_a_function_that_says_the_same_is_the_same():
    values, gain = np.array([0.1, -0.4, 0.2, -1.5, 0.3, 1.2, 0.4, 0.02]), np.linspace(0.05, 0.4, 8)
    frames = reachable(PANDA, HAND, 20)
    local = Solver(method=method.damped())
    built_in = replace(local, prefer=prefer.rest(values, gain)).solve(PANDA, Goal(HAND, frames))
    by_function = replace(local, prefer=prefer.function(lambda q: gain * (values - q))).solve(PANDA, Goal(HAND, frames))
    assert np.abs(built_in.q - by_function.q).max() < 1e-12
    assert np.array_equal(built_in.iterations, by_function.iterations)
    assert not np.allclose(built_in.q, local.solve(PANDA, Goal(HAND, frames)).q)


def test_a_function_sees_all_of_q_and_cannot_change_it():
    seen = []

    def wish(q):
        seen.append(q.copy())
        q[:] = 99
        return np.zeros(8)

    start = np.append(PANDA.rest[:-1], 0.031)
    goal, local = Goal(HAND, position=[0.4, 0.1, 0.5]), Solver(method=method.damped())
    found = replace(local, prefer=prefer.function(wish)).solve(PANDA, goal, start)
    assert np.array_equal(found.q, local.solve(PANDA, goal, start).q)
    assert np.array_equal(seen[0], start)
    assert {q[-1] for q in seen} == {0.031}


@pytest.mark.parametrize("how", WISHING, ids=repr)
def test_a_function_may_itself_solve(how):
    def wish(q):
        return 0.1 * (solve(ARM, flat(10, 12), q).q - q)

    assert Solver(method=how, prefer=prefer.function(wish)).solve(ARM, flat(12, 10)).arrived


class Odd(Exception):
    pass


@pytest.mark.parametrize("how", WISHING, ids=repr)
def test_what_a_function_raises_comes_through(how):
    def fails(q):
        raise Odd("at " + str(len(q)))

    solver = Solver(method=how, prefer=prefer.function(fails))
    for attempt in (
        lambda: solver.solve(ARM, flat(10, 12)),
        lambda: solver.step(ARM, flat(10, 12), ARM.rest),
        lambda: solver.solve(ARM, Goal("tip", position=reachable(ARM, "tip", 300).position)),
    ):
        with pytest.raises(Odd, match="at 3"):
            attempt()
    calls = []

    def fails_later(q):
        calls.append(1)
        return np.zeros(3) if len(calls) < 7 else fails(q)

    with pytest.raises(Odd):
        Solver(method=how, prefer=prefer.function(fails_later)).solve(ARM, Goal("tip", position=[[10, 12, 0]] * 50))
    assert len(calls) == 7
    assert solve(ARM, flat(10, 12)).arrived  # and nothing is broken


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (np.full(3, np.nan), "must return 3 finite numbers, got array"),
        (np.zeros(2), "must return 3 finite numbers, got array"),
        (np.zeros((1, 3)), "must return 3 finite numbers"),
        (1.0, "must return 3 finite numbers, got 1.0"),
        (None, "must return 3 finite numbers, got None"),
        ("up", "must return 3 finite numbers, got 'up'"),
    ],
)
@pytest.mark.parametrize("how", WISHING, ids=repr)
def test_a_preference_function_that_returns_no_finite_numbers_is_refused(answer, reason, how):
    solver = Solver(method=how, prefer=prefer.function(lambda q: answer))
    for attempt in (lambda: solver.solve(ARM, flat(10, 12)), lambda: solver.step(ARM, flat(10, 12), ARM.rest)):
        with pytest.raises(BadInput) as refused:
            attempt()
        assert "a preference by function " + reason in str(refused.value)


def _python_functions(call):
    """The Python functions that a call enters, by name."""
    entered = []

    def note(frame, event, argument):
        if event == "call":
            entered.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return entered


@pytest.mark.parametrize("form", ["array", "frame", "view of frames"])
def test_an_everyday_solve_enters_few_python_functions(form):
    arm, link = models.panda(), "panda_hand_tcp"
    frames = arm.frame(arm.random(2, seed=3), link)
    given = {"array": frames.matrix[1].copy(), "frame": Frame(frames.matrix[1]), "view of frames": frames[1]}[form]

    def call():
        solve(arm, Goal(link, given))

    call()  # compiles the search
    assert _python_functions(call) == ["call", "__init__", "solve", "solve_frame", "_from_answer"]


@pytest.mark.parametrize(("position", "arrives"), [([12, 6, 0], True), ([50, 0, 0], False)])
def test_whether_a_single_solve_arrived_needs_no_other_field(position, arrives):
    goal = Goal("tip", Frame.at(position)) if not arrives else Goal("tip", ARM.frame([0.1, 0.2, 0.3], "tip"))
    found = solve(ARM, goal)
    assert bool(found) is arrives
    assert isinstance(found.arrived, np.bool_)
    assert found.arrived.shape == ()
    assert bool(found.arrived) is arrives
    assert "outcomes" not in found.__dict__
    assert (found.outcomes == Outcome.ARRIVED.value) == arrives
    again = replace(found, outcomes=np.int64(Outcome.STUCK.value))
    assert not again
    assert not again.arrived
