"""Laws of the limits in use: speeds of end effectors, margins, scaled joint speeds and warnings."""

import contextlib
import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from random_commands import command, coned, moving_tree, paced, passed, ticks_of, turning, wander
from random_goals import random_goals, ranked, some_relative
from supple import Frame, Goal, Solver, damping, method, models, prefer, solve_path
from supple._solve import margins
from supple._solve.goal_error import goal_frame
from supple.errors import BadInput
from supple.step import TrackingStatus

EPSILON = np.finfo(float).eps
UR5, PANDA = models.ur5(), models.panda()


class Options(NamedTuple):
    """Options of `Solver.track` for a random ride."""

    speed: np.ndarray
    turn_speed: np.ndarray
    speed_scale: float
    margin: tuple
    jerk: float | None
    acceleration: float | None
    smooth: float
    recover: str


def random_options(rng, goals):
    def some(low, high, n):
        return np.where(rng.random(n) < 0.2, math.inf, 10 ** rng.uniform(low, high, n))

    return Options(
        some(-2, 1, goals),
        some(-1.5, 1, goals),
        float(rng.choice([1.0, rng.uniform(0.05, 1)])),
        (float(rng.choice([0.0, 10 ** rng.uniform(-3, -0.5)])),),
        None if rng.random() < 0.5 else 10 ** rng.uniform(1, 4),
        None if rng.random() < 0.5 else 10 ** rng.uniform(0, 2),
        float(rng.choice([0.0, 10 ** rng.uniform(-3, 0)])),
        str(rng.choice(["off", "slow", "free"])),
    )


def outside(linkage, q, margin):
    """How far (..., dof) each value of q is outside its limits with a margin; for a ball, how far it must turn."""
    far = np.abs(linkage.difference(q, margins.clamp(linkage, q, margin)))
    for first in np.flatnonzero(coned(linkage))[::3]:
        far[..., first : first + 3] = np.linalg.norm(far[..., first : first + 3], axis=-1, keepdims=True)
    return far


def effector_speeds(linkage, goal, q, time):
    """Speed and angular speed (ticks, arms) of a goal's point, from where it was before and after each tick.

    Relative to another link, as that link sees it.
    """
    frames = goal_frame(linkage, goal, q) @ Frame.at(goal.point)
    way = np.linalg.norm(np.diff(frames.position, axis=0), axis=-1)
    turn = np.linalg.norm((frames[:-1].inverse() @ frames[1:]).to_rotvec(), axis=-1)
    rounding = 1e-14 * (1 + np.abs(frames.position).max())
    tiny = 3e-8 * (turn < 1e-6)  # the angle of a rotation matrix is known to half the digits
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num((way - rounding) / time), np.nan_to_num((turn - tiny) / time)


class OneByOne:
    """Trackers of one arm each, with the calls of a tracker of many arms: preferences take a single arm."""

    def __init__(self, solver, linkage, goals, start, **options):
        self.trackers = [solver.track(linkage, goals, q, **options) for q in start]
        self.acceleration = self.trackers[0].acceleration

    def step(self, asked, dt, measured=None):
        return self._all(lambda follow, k, seen: follow.step(_of_arm(asked, k), dt, measured=seen), measured)

    def push(self, twist, dt, measured=None):
        return self._all(lambda follow, k, seen: follow.push(twist[k], dt, measured=seen), measured)

    def _all(self, tick, measured):
        steps = [tick(one, k, None if measured is None else measured[k]) for k, one in enumerate(self.trackers)]
        names = ("q", "velocity", "statuses")
        return Told(*(np.stack([getattr(step, name) for step in steps]) for name in names))


class Told(NamedTuple):
    """What the steps of several trackers tell, as one of many arms does."""

    q: np.ndarray
    velocity: np.ndarray
    statuses: np.ndarray


def _of_arm(asked, k):
    """The command of one arm, from one for many."""
    if isinstance(asked, list):
        return [_of_arm(one, k) for one in asked]
    if not isinstance(asked, Goal):
        return asked[k]
    place = {} if asked.position is None else {"position": _finite(asked.position[k]), "point": asked.point}
    kept = {name: getattr(asked, name) for name in ("axis", "weight", "turn_weight", "relative_to")}
    return Goal(asked.link, direction=_finite(asked.direction[k]), **kept, **place)


def _finite(row):
    """The row, or another one where it is not finite: a `Goal` of one arm refuses it."""
    return row if np.isfinite(row).all() else np.ones(3)


def random_preference(linkage, goals, rng):
    """One or two preferences of any kind."""
    kinds = [
        prefer.rest(linkage.random(seed=rng), rng.uniform(0.01, 1)),
        prefer.centre(rng.uniform(0.01, 1)),
        prefer.away(linkage.random(seed=rng), rng.uniform(0.01, 1)),
        prefer.dexterity(rng.uniform(0.01, 1)),
    ]
    elbow = prefer.elbow(
        str(rng.choice([link.name for link in linkage.links])), rng.normal(size=3), rng.uniform(0.01, 1)
    )
    with contextlib.suppress(BadInput):  # no joint moves this link, or each one moves a goal
        Solver(prefer=elbow).track(linkage, goals)
        kinds.append(elbow)
    return sum((kinds[k] for k in rng.integers(0, len(kinds), rng.integers(1, 3))), prefer.nothing)


def random_task(linkage, seed):
    """Goals of any kind, with priorities and relative to other links."""
    rng = np.random.default_rng([seed, 12])
    return ranked(some_relative(linkage, random_goals(linkage, seed), rng), rng)


def ride(linkage, goals, seed, ticks, arms, measures, *, prefers=False, rest=0.0):
    """Many arms with random limits through everything that may come, and then commands at rest: broken bounds raise."""
    rng = np.random.default_rng([seed, 8])
    options = random_options(rng, len(goals))
    start = linkage.random(arms, seed=rng)  # some within the margin
    if prefers:
        solver = Solver(prefer=random_preference(linkage, goals, rng))
        follow = OneByOne(solver, linkage, goals, start, **options._asdict())
    else:
        follow = Solver().track(linkage, goals, start, **options._asdict())
    reaches = [linkage.reach(goal.link) for goal in goals]
    dts = ticks_of(rng, ticks)
    made = [
        wander(rng, goal_frame(linkage, goal, start).matrix, reach if 0 < reach < math.inf else 1.0, dts, arms)
        for goal, reach in zip(goals, reaches, strict=True)
    ]
    dts = np.concatenate([dts, np.full(round(300 * rest), 1 / 300)])
    q, velocity = np.zeros((2, len(dts) + 1, *start.shape))
    q[0] = start
    returned = np.zeros(arms, bool)
    lag = int(rng.integers(1, 4))
    for k, dt in enumerate(dts.tolist()):
        noise = rng.normal(0, 1e-3, start.shape)
        seen = q[max(0, k - lag)] + noise if measures else None
        if k < ticks and rng.random() < 0.2:
            twist = rng.normal(size=(arms, len(goals), 6)) * 10 ** rng.uniform(-2, 1.5, (arms, 1, 1))
            twist[rng.random(arms) < 0.02] = rng.choice([math.nan, math.inf, 1e200])
            step = follow.push(twist, dt, measured=seen)
        else:
            asked = [command(goal, frames[min(k, ticks - 1)]) for goal, frames in zip(goals, made, strict=True)]
            step = follow.step(asked[0] if len(asked) == 1 else asked, dt, measured=seen)
        q[k + 1], velocity[k + 1] = step.q, step.velocity
        returned |= step.statuses == TrackingStatus.RETURNING.value
    check(linkage, goals, options, follow, passed(dts)[:, None, None], q, velocity)
    if rest:
        early, late = swing(q[ticks + 900 : ticks + 1200]), swing(q[-300:])
        growth = late - np.maximum(1.5 * early, 5e-3)  # of which 1e-3 may be noise
        assert (growth[~returned] <= 0).all()


def swing(q):
    """Median way (arms, dof) between reversals of q (ticks, arms, dof); 0 where there are less than four."""
    swings = np.zeros(q.shape[1:])
    for arm, k in np.ndindex(swings.shape):
        row = q[:, arm, k]
        way = np.diff(row)
        moving = np.flatnonzero(np.abs(way) > 1e-9)
        turns = moving[1:][np.diff(np.sign(way[moving])) != 0]
        if len(turns) >= 4:
            swings[arm, k] = np.median(np.abs(np.diff(row[turns])))
    return swings


def check(linkage, goals, options, follow, time, q, velocity):
    assert np.isfinite(q).all()
    assert (np.abs(velocity) <= options.speed_scale * linkage.speed * (1 + 1e-12)).all()
    change = np.abs(np.diff(velocity, axis=0))
    change[np.broadcast_to(time == 0, change.shape)] = 0
    assert (change <= follow.acceleration * time * (1 + 1e-12) + 8 * EPSILON * np.abs(velocity[1:])).all()
    scale = np.maximum(1, np.abs(q[:-1]))
    assert (np.diff(outside(linkage, q, options.margin), axis=0) <= 1e-12 * scale + 1e-9 * turning(linkage)).all()
    for goal, speed, turn_speed in zip(goals, options.speed, options.turn_speed, strict=True):
        linear, angular = effector_speeds(linkage, goal, q, time[..., 0])
        assert (linear <= speed).all()
        assert (angular <= turn_speed).all()


random_tasks = given(count=st.integers(1, 20), seed=st.integers(0, 2**32 - 1), measures=st.booleans())


@pytest.mark.slow
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@random_tasks
def test_in_100_000_random_ticks_no_limit_in_use_is_broken(count, seed, measures):
    linkage = paced(moving_tree(seed, count), np.random.default_rng([seed, 5]))
    ride(linkage, random_task(linkage, seed), seed, ticks=100, arms=50, measures=measures)


@pytest.mark.gate
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@random_tasks
def test_in_a_million_random_ticks_no_limit_in_use_is_broken(count, seed, measures):
    linkage = paced(moving_tree(seed, count), np.random.default_rng([seed, 5]))
    ride(linkage, random_task(linkage, seed), seed, ticks=100, arms=100, measures=measures)


@pytest.mark.slow
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(count=st.integers(1, 12), seed=st.integers(0, 2**32 - 1), measures=st.booleans(), prefers=st.booleans())
def test_no_oscillation_grows_after_random_ticks(count, seed, measures, prefers):
    linkage = paced(moving_tree(seed, count), np.random.default_rng([seed, 5]))
    ride(linkage, random_task(linkage, seed), seed, ticks=60, arms=4, measures=measures, prefers=prefers, rest=8)


@pytest.mark.parametrize("seed", range(12))
def test_no_limit_in_use_is_broken(seed):
    linkage = paced(moving_tree(seed, 1 + seed), np.random.default_rng([seed, 5]))
    ride(linkage, random_task(linkage, seed), seed, ticks=60, arms=20, measures=seed % 2 == 0)


@pytest.mark.parametrize("seed", range(6))
def test_with_preferences_no_limit_in_use_is_broken(seed):
    linkage = paced(moving_tree(seed, 2 + 2 * seed), np.random.default_rng([seed, 5]))
    ride(linkage, random_task(linkage, seed), seed, ticks=60, arms=3, measures=seed % 2 == 0, prefers=True)


# -- speeds of end effectors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [60, 300, 1000])
@pytest.mark.parametrize(("arm", "link"), [(UR5, "tool0"), (PANDA, "panda_hand_tcp")], ids=["ur5", "panda"])
def test_a_jump_is_approached_at_nearly_the_speed_limit_and_reached(arm, link, rate):
    here = arm.frame(arm.rest, link)
    there = Frame.at([-0.1, 0.3, 0]) @ here
    follow = Solver().track(arm, link, speed=0.2, turn_speed=0.5)
    q, status = follow.replay(np.stack([here.matrix] + [there.matrix] * (3 * rate)), 1 / rate)
    places = arm.frame(q, link).position
    speeds = np.linalg.norm(np.diff(places, axis=0), axis=-1) * rate
    assert speeds.max() <= 0.2
    assert np.median(speeds[rate // 2 : rate]) > 0.95 * 0.2
    assert status[-1] == TrackingStatus.FOLLOWING.value
    assert speeds[-1] < 1e-9


def test_an_end_effector_at_its_speed_limit_is_the_reason():
    here = UR5.frame(UR5.rest, "tool0")
    follow = Solver().track(UR5, "tool0", speed=0.1)
    follow.step(here, 1 / 300)
    for _ in range(60):
        step = follow.step(Frame.at([0, 0.3, 0]) @ here, 1 / 300)
    assert step.status is TrackingStatus.LAGGING
    assert "tool0 at its speed limit" in step.why


def test_a_speed_limit_may_change_while_the_arm_moves():
    here, rate = UR5.frame(UR5.rest, "tool0"), 300
    follow = Solver().track(UR5, "tool0", speed=0.5)
    follow.step(here, 1 / rate)
    there, q, v = Frame.at([0, 0.4, 0]) @ here, [], []
    for tick in range(150):
        if tick == 60:
            follow.limits(speed=0.1)
        step = follow.step(there, 1 / rate)
        q.append(step.q.copy())
        v.append(step.velocity.copy())
    speeds = np.linalg.norm(np.diff(UR5.frame(np.array(q), "tool0").position, axis=0), axis=-1) * rate
    assert speeds[50] > 0.4
    assert (speeds[90:] <= 0.1).all()
    assert (np.abs(np.diff(v, axis=0)) * rate <= follow.acceleration * (1 + 1e-9)).all()
    follow.limits(speed=math.inf)
    assert follow.speed[0] == math.inf


@pytest.mark.parametrize(
    "solver", [Solver(method=method.damped(), damping=damping.constant(1e-3)), Solver(method=method.pseudoinverse())]
)
def test_other_ways_of_stepping_keep_the_same_speed_limits(solver):
    here, rate = UR5.frame(UR5.rest, "tool0"), 300
    follow = solver.track(UR5, "tool0", speed=0.1, turn_speed=0.3)
    q = [UR5.rest, *(follow.step(Frame.at([0, 0.2, 0]) @ here, 1 / rate).q.copy() for _ in range(300))]
    speeds = np.linalg.norm(np.diff(UR5.frame(np.array(q), "tool0").position, axis=0), axis=-1) * rate
    assert 0.05 < speeds.max() <= 0.1


def test_each_end_effector_has_its_own_speed():
    baxter, rate = models.baxter(), 300
    links = ["left_gripper", "right_gripper"]
    frames = [baxter.frame(baxter.rest, link) for link in links]
    follow = Solver().track(baxter, links, speed=[0.1, 0.3])
    follow.step(frames, 1 / rate)
    there = [Frame.at([0, 0, 0.2]) @ frame for frame in frames]
    q = [baxter.rest, *(follow.step(there, 1 / rate).q.copy() for _ in range(300))]
    for link, bound in zip(links, (0.1, 0.3), strict=True):
        speeds = np.linalg.norm(np.diff(baxter.frame(np.array(q), link).position, axis=0), axis=-1) * rate
        assert speeds.max() <= bound


def test_a_goal_relative_to_another_link_has_the_speed_that_this_link_sees():
    baxter, rate = models.baxter(), 300
    left, right = "left_gripper", "right_gripper"
    goals = [Goal(left, Frame(), relative_to=right), Goal(right, Frame())]
    here = [goal_frame(baxter, goal, baxter.rest) for goal in goals]
    follow = Solver().track(baxter, goals, speed=[0.1, math.inf])
    follow.step(here, 1 / rate)
    there = [Frame.at([0, 0, 0.1]) @ here[0], Frame.at([0.1, 0, 0.1]) @ here[1]]
    q = np.array([baxter.rest, *(follow.step(there, 1 / rate).q.copy() for _ in range(300))])
    seen, right_hand = (
        np.linalg.norm(np.diff(goal_frame(baxter, goal, q).position, axis=0), axis=-1) * rate for goal in goals
    )
    assert 0.09 < seen.max() <= 0.1
    assert right_hand.max() > 0.05


def test_a_centre_of_mass_takes_no_speed_limit():
    g1 = models.g1()
    goals = [Goal("left_rubber_hand", position=[0, 0, 0]), Goal.center_of_mass([0, 0, 0])]
    for wrong in ({"speed": 0.1}, {"turn_speed": 0.1}, {"speed": [0.1, 0.1]}):
        with pytest.raises(BadInput, match=r"goal 1 is for the centre of mass.*math\.inf"):
            Solver().track(g1, goals, **wrong)
    follow = Solver().track(g1, goals, speed=[0.1, math.inf])
    hand, mass = g1.frame(g1.rest, "left_rubber_hand").position, g1.center_of_mass(g1.rest)
    asked = [Goal("left_rubber_hand", position=hand + np.array([0.1, 0, 0.1])), Goal.center_of_mass(mass)]
    q = np.array([g1.rest, *(follow.step(asked, 1 / 300).q.copy() for _ in range(300))])
    speeds = np.linalg.norm(np.diff(g1.frame(q, "left_rubber_hand").position, axis=0), axis=-1) * 300
    assert 0.09 < speeds.max() <= 0.1


# -- margins and scales ---------------------------------------------------------------------------------------------


def test_a_start_within_the_margin_is_brought_back_without_a_jump():
    start = UR5.q(elbow_joint=UR5.upper[2] - 0.01)
    follow = Solver().track(UR5, "tool0", start=start, margin=0.1)
    here, rate = UR5.frame(start, "tool0"), 300
    q = np.array([start, *(follow.step(here, 1 / rate).q.copy() for _ in range(600))])
    assert (np.diff(np.maximum(q - follow.upper, 0)[:, 2]) <= 1e-12).all()
    assert (q[-1] <= follow.upper).all()
    assert (np.abs(np.diff(q, 2, axis=0)) * rate**2 <= follow.acceleration * (1 + 1e-9)).all()


def test_a_joint_stays_a_margin_away_from_its_limit():
    start = UR5.q(shoulder_pan_joint=5.8)
    follow = Solver().track(UR5, "tool0", start=start, margin=0.2)
    tool = UR5.frame(start, "tool0")
    for tick in range(600):
        step = follow.step(Frame.turn([0, 0, 1], 0.001 * tick) @ tool, 1 / 300)
    assert 0 <= follow.upper[0] - step.q[0] < 1e-3
    assert UR5.upper[0] - step.q[0] >= 0.2 - 1e-12
    assert "shoulder_pan_joint at the margin of its upper limit" in step.why


def test_one_margin_leaves_every_joint_half_of_its_range_and_one_of_its_own_may_not_take_all():
    follow = Solver().track(PANDA, "panda_hand_tcp", margin=0.3)  # the fingers have 0.04 m
    assert (follow.upper - follow.lower >= 0.5 * (PANDA.upper - PANDA.lower) - 1e-12).all()
    assert (follow.lower[:7] == PANDA.lower[:7] + 0.3).all()
    with pytest.raises(BadInput, match="no range"):
        Solver().track(PANDA, "panda_hand_tcp", margin=[0, 0, 0, 5.0, 0, 0, 0, 0])


@pytest.mark.parametrize("solver", [Solver(margin=0.3), Solver(method=method.damped(), margin=0.3)])
def test_solutions_stay_a_margin_away_from_limits(solver):
    q = PANDA.random(200, seed=3)
    found = solver.solve(PANDA, Goal("panda_hand_tcp", PANDA.frame(q, "panda_hand_tcp")), q)
    lower, upper, _ = margins.narrowed(PANDA, (0.3,))
    assert (found.q >= lower - 1e-12)[:, :7].all()  # no goal needs the finger
    assert (found.q <= upper + 1e-12)[:, :7].all()
    assert found.arrived.mean() > 0.2
    assert Solver.from_dict(solver.to_dict()) == solver


def test_paths_stay_a_margin_away_from_limits():
    start = PANDA.q(panda_joint4=PANDA.upper[3] - 0.6)  # nearly straight
    here = PANDA.frame(start, "panda_hand_tcp")
    path = Goal("panda_hand_tcp", position=here.position + np.linspace(0, 1, 11)[:, None] * [0, 0, 0.3])
    for steps in (None, 3):
        free, kept = (
            solve_path(PANDA, path, start, steps=steps, solver=Solver(method=method.damped(), margin=margin)).motion.q
            for margin in (0, 0.5)
        )
        assert (free[:, 3] > PANDA.upper[3] - 0.5).any()
        assert (kept[:, :7] <= PANDA.upper[:7] - 0.5 + 1e-12).all()


def test_joint_speeds_are_scaled():
    here = UR5.frame(UR5.rest, "tool0")
    follow = Solver().track(UR5, "tool0", speed_scale=0.1)
    follow.step(here, 1 / 300)
    speeds = [abs(follow.step(Frame.at([0, 0.4, 0]) @ here, 1 / 300).velocity).copy() for _ in range(300)]
    assert (np.array(speeds) <= 0.1 * UR5.speed * (1 + 1e-12)).all()
    assert np.max(np.array(speeds) / UR5.speed) > 0.0999


@pytest.mark.parametrize(
    "wrong",
    [
        {"speed": 0},
        {"speed": -1},
        {"speed": math.nan},
        {"turn_speed": [1, 2]},
        {"speed_scale": 0},
        {"speed_scale": 1.1},
        {"margin": -0.1},
        {"margin": [0.1, 0.1]},
        {"margin": math.inf},
    ],
)
def test_limits_that_cannot_be_meant_are_refused(wrong):
    with pytest.raises(BadInput, match=next(iter(wrong))):
        Solver().track(UR5, "tool0", **wrong)
    follow = Solver().track(UR5, "tool0")
    with pytest.raises(BadInput, match=next(iter(wrong))):
        follow.limits(**wrong)
    assert follow.speed[0] == math.inf


def test_without_limits_there_are_none_to_set():
    raw = Solver(method=method.pseudoinverse(), keep_limits=False)
    with pytest.raises(BadInput, match="keep_limits"):
        raw.track(UR5, "tool0", speed=0.1)
    with pytest.raises(BadInput, match="keep_limits"):
        Solver(method=method.pseudoinverse(), keep_limits=False, margin=0.1)


# -- warnings -------------------------------------------------------------------------------------------------------


def test_a_joint_that_winds_up_is_announced_before_its_limit():
    start = UR5.q(shoulder_pan_joint=4.9)  # its limit is 2 pi
    follow = Solver().track(UR5, "tool0", start=start)
    tool, warned, reached = UR5.frame(start, "tool0"), None, None
    for tick in range(900):
        step = follow.step(Frame.turn([0, 0, 1], 0.002 * tick) @ tool, 1 / 300)
        if step.warnings and warned is None:
            warned = tick
            assert step.warnings[0].startswith("shoulder_pan_joint has 60 degrees left to its upper limit, 1.7 s")
            assert step.warnings[0] in str(step)
        if reached is None and abs(step.sides[0]) == 1:
            reached = tick
            assert step.warnings == ()
    assert 300 < reached - warned < 600


def test_an_arm_that_turns_back_or_rests_is_not_warned_of():
    start = UR5.q(shoulder_pan_joint=5.9)
    follow = Solver().track(UR5, "tool0", start=start)
    tool = UR5.frame(start, "tool0")
    assert follow.step(tool, 1 / 300).warnings == ()
    for tick in range(100):
        assert follow.step(Frame.turn([0, 0, 1], -0.002 * tick) @ tool, 1 / 300).warnings == ()


# -- jerk -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [300, 1000])
@pytest.mark.parametrize("jerk", [30.0, 100.0, 500.0, 2000.0, 5000.0])
@pytest.mark.parametrize(("arm", "link"), [(UR5, "tool0"), (PANDA, "panda_hand_tcp")], ids=["ur5", "panda"])
def test_a_jump_is_reached_within_the_jerk_bound_and_without_overshoot(arm, link, jerk, rate):
    here = arm.frame(arm.rest, link)
    there = Frame.at([-0.1, 0.2, 0.1]) @ here
    follow = Solver().track(arm, link, jerk=jerk)
    q, status = follow.replay(np.stack([here.matrix] + [there.matrix] * (4 * rate)), 1 / rate)
    velocity = np.diff(q, axis=0, prepend=[arm.rest] * 3) * rate
    acceleration = np.diff(velocity, axis=0) * rate
    measured = np.abs(np.diff(acceleration, axis=0)) * rate
    assert (measured <= np.maximum(jerk, follow.acceleration / 0.008) * (1 + 1e-6)).all()
    now, before = acceleration[1:], acceleration[:-1]
    growing = (now * before >= 0) & (np.abs(now) > np.abs(before))
    assert (measured[growing] <= jerk * (1 + 1e-6)).all()
    left = np.linalg.norm(arm.frame(q, link).position - there.position, axis=-1)
    arrived = int(np.argmax(status == TrackingStatus.FOLLOWING.value))
    arrived += int(np.argmax(left[arrived:] < 1e-3))
    assert left[arrived:].max() < 2e-3
    assert status[-1] == TrackingStatus.FOLLOWING.value


# -- what came ------------------------------------------------------------------------------------------------------


def test_a_start_outside_limits_and_a_long_pause_are_told():
    start = UR5.q(elbow_joint=UR5.upper[2] + 1.5)
    follow = Solver().track(UR5, "tool0", start=start)
    step = follow.step(UR5.frame(start, "tool0"), 1e-3)
    assert step.warnings == ("elbow_joint is 1.5 rad outside its upper limit and is brought back",)
    assert "dt of 2 s counts as 0.25 s" in follow.step(UR5.frame(start, "tool0"), 2.0).warnings
    for _ in range(900):
        step = follow.step(UR5.frame(start, "tool0"), 1 / 300)
    assert step.warnings == ()
    assert UR5.inside(step.q)


def test_a_held_step_does_not_change_with_the_array_of_its_command():
    follow = Solver().track(UR5, "tool0")
    command = UR5.frame(UR5.rest, "tool0").matrix.copy()
    command[1, 3] = math.inf
    step = follow.step(command, 0.01)
    command[:] = np.eye(4)
    assert step.why == "held: the command is not finite, it has inf"
    twist = np.array([0, 0, math.nan, 0, 0, 0])
    step = follow.push(twist, 0.01)
    twist[:] = 0
    assert step.why == "held: the command is not finite, it has nan"


def test_new_weights_count_for_the_reading_of_commands_too():
    here = UR5.frame(UR5.rest, "tool0")

    def motion(first):
        follow = Solver().track(UR5, Goal("tool0", here, turn_weight=first))
        turns = np.repeat(np.linspace(0, 1.5, 60), 5)  # 60 samples a second, 300 ticks: a jump for some weights
        goals = (Goal("tool0", here @ Frame.turn([0, 0, 1], 5 * turn), turn_weight=0.02) for turn in turns)
        return np.array([follow.step(goal, 1 / 300).q.copy() for goal in goals])

    assert np.array_equal(motion(0.02), motion(1.0))


@pytest.mark.parametrize("seed", range(12))
def test_limits_may_change_at_any_tick_and_the_linkages_own_still_hold(seed):
    rng = np.random.default_rng([seed, 9])
    linkage = paced(moving_tree(seed, 3 + 2 * (seed % 6)), rng)
    goals = random_task(linkage, seed)
    start = linkage.random(30, seed=rng)
    follow = Solver().track(linkage, goals, start)
    dts = ticks_of(rng, 200)
    made = [wander(rng, goal_frame(linkage, goal, start).matrix, 1.0, dts, 30) for goal in goals]
    q, velocity = np.zeros((2, 201, *start.shape))
    q[0] = start
    for k, dt in enumerate(dts.tolist()):
        if rng.random() < 0.1:
            options = random_options(rng, len(goals))
            names = ("speed", "turn_speed", "speed_scale", "margin")
            follow.limits(**{name: getattr(options, name) for name in names if rng.random() < 0.5})
        asked = [command(goal, frames[k]) for goal, frames in zip(goals, made, strict=True)]
        step = follow.step(asked[0] if len(asked) == 1 else asked, dt)
        q[k + 1], velocity[k + 1] = step.q, step.velocity
    time = passed(dts)[:, None, None]
    assert (np.abs(velocity) <= linkage.speed * (1 + 1e-12)).all()
    change = np.abs(np.diff(velocity, axis=0))
    change[np.broadcast_to(time == 0, change.shape)] = 0
    assert (change <= follow.acceleration * time * (1 + 1e-12) + 8 * EPSILON * np.abs(velocity[1:])).all()
    assert (outside(linkage, q, (0.0,)) <= 1e-12 * np.maximum(1, np.abs(q)) + 1e-9 * turning(linkage)).all()


@pytest.mark.parametrize("options", [{}, {"acceleration": 2.0}, {"jerk": 60.0}, {"acceleration": 2.0, "jerk": 100.0}])
@pytest.mark.parametrize("room", [0.3, 0.05, 0.005])
def test_a_margin_that_widens_under_a_moving_joint_brakes_it_and_does_not_stop_it_dead(options, room):
    arm, dt = models.ur5(), 1 / 300
    start = arm.q(
        shoulder_pan_joint=4.5, shoulder_lift_joint=-1.2, elbow_joint=1.5, wrist_1_joint=-1.2, wrist_2_joint=-1.4
    )
    tool, tracker = arm.frame(start, "tool0"), Solver().track(arm, "tool0", start, **options)
    last, velocity, widened = start, np.zeros(arm.dof), False
    for tick in range(900):
        step = tracker.step(Frame.turn([0, 0, 1], tick * dt) @ tool, dt)
        now = (step.q - last) / dt
        assert (np.abs(now - velocity) <= tracker.acceleration * dt * (1 + 1e-9) + 1e-12).all()
        assert np.allclose(now, step.velocity, atol=1e-9)
        last, velocity = step.q, now
        if not widened and step.q[0] > 5.0:
            widened = True
            tracker.limits(margin=float(arm.upper[0] - step.q[0] - room))
    assert step.q[0] <= tracker.upper[0] + 1e-6


def test_a_joint_that_no_goal_needs_is_not_said_to_come_back():
    baxter = models.baxter()
    start, k = baxter.rest.copy(), list(baxter.names).index("right_s0")
    start[k] = baxter.upper[k] - 0.05
    tracker = Solver().track(baxter, "left_gripper", start, margin=0.15)
    assert tracker.step(baxter.frame(start, "left_gripper"), 1 / 300).warnings == ()


@pytest.mark.parametrize("dt", [1e-3, 1 / 60, 0.2])
@pytest.mark.parametrize("arms", [1, 70])
def test_a_joint_that_no_goal_needs_comes_back_into_its_limits(dt, arms):
    """The finger of a Panda starts outside; it comes in within its speed and acceleration, and is announced."""
    arm = models.panda()
    start = arm.random(seed=0)
    for outside in (0.3, -0.2):
        start[7] = outside
        goal = arm.frame(start, "panda_hand").matrix
        tracker = Solver().track(arm, "panda_hand", start=start if arms == 1 else np.tile(start, (arms, 1)))
        q, v = start[7], 0.0
        for _ in range(round(4 / dt)):
            step = tracker.step(goal if arms == 1 else np.tile(goal, (arms, 1, 1)), dt)
            now = np.atleast_2d(step.q)[-1, 7]
            if arms == 1 and not arm.lower[7] - 1e-6 <= now <= arm.upper[7] + 1e-6:
                assert "panda_finger_joint1 is" in step.warnings[0]
            velocity = np.atleast_2d(step.velocity)[-1, 7]
            assert abs(velocity) <= arm.speed[7] * (1 + 1e-9)
            assert abs(now - q) <= arm.speed[7] * dt * (1 + 1e-9)
            assert abs(velocity - v) <= tracker.acceleration[7] * dt * (1 + 1e-6) + 1e-12
            assert dt > 4e-3 or velocity == pytest.approx((now - q) / dt, abs=1e-9)
            q, v = now, velocity
        assert arm.lower[7] <= q <= arm.upper[7]
        assert v == 0
