"""Laws of the tracker: a million ticks of whatever an operator may do break no bound, and what can be followed is."""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle_solve import path
from quick import first_is_quick
from random_commands import columns, command, coned, moving_tree, paced, passed, piece, ticks_of, turning, wander
from random_goals import random_goals
from supple import Frame, Goal, Joint, Linkage, Solver, _core, damping, method, models
from supple.joint import Kind
from supple.step import TrackingStatus

EPSILON = np.finfo(float).eps
CLOSE = 1e-9  # to a limit, in radians or metres, is inside again
PANDA, UR5 = models.panda(), models.ur5()
ELBOW_UP = {
    "shoulder_lift_joint": -1.2, "elbow_joint": 1.5, "wrist_1_joint": -1.0, "wrist_2_joint": -1.2, "wrist_3_joint": 0.3
}  # fmt: skip
READY = {"panda_joint2": -0.4, "panda_joint4": -2.0, "panda_joint6": 1.6, "panda_joint7": 0.8}
ARMS = {
    "panda": (PANDA, "panda_hand_tcp", PANDA.q(**READY)),
    "ur5": (UR5, "tool0", UR5.q(**ELBOW_UP)),
}


# -- what must hold -------------------------------------------------------------------------------------------------


class Ride(NamedTuple):
    """What a tracker did: the joint values before and after each tick, and what bounds them."""

    linkage: Linkage
    time: np.ndarray  # (ticks, 1, 1): how long each was
    piece: np.ndarray  # (ticks, 1, 1): how long the pieces were into which it was divided
    q: np.ndarray  # (ticks + 1, arms, dof)
    velocity: np.ndarray  # (ticks + 1, arms, dof)
    acceleration: np.ndarray  # (dof,)
    used: np.ndarray  # (dof,): whether a goal needs it


def ride(linkage, goals, seed, ticks, arms, *, pushes, measures):
    """A tracker of many arms through everything that may come; it returns what it did, having raised nothing."""
    rng = np.random.default_rng([seed, 4])
    start = linkage.random(arms, seed=rng)
    astray = rng.random(start.shape) < 0.1
    start = np.where(astray, start + rng.normal(size=start.shape) * 10 ** rng.uniform(-4, 0.5, start.shape), start)
    given = 10 ** rng.uniform(0, 2) if rng.random() < 0.3 else None
    follow = Solver().track(linkage, goals, start, acceleration=given)
    reaches = [linkage.reach(goal.link) for goal in goals]
    measures_of = [math.pi if math.isinf(reach) else reach for reach in reaches if reach > 1e-6]
    natural = max(measures_of, default=math.pi) / math.pi
    slides = np.array([unit == "m" for joint in linkage.joints if joint.dof for unit in joint.units])
    bound = np.where(
        np.isfinite(linkage.acceleration), linkage.acceleration, np.where(slides, min(15 * natural, 10), 15.0)
    )
    bound = bound if given is None else np.minimum(given, linkage.acceleration)
    dts = ticks_of(rng, ticks)
    made = [
        wander(rng, linkage.frame(start, goal.link).matrix, reach if 0 < reach < math.inf else 1.0, dts, arms)
        for goal, reach in zip(goals, reaches, strict=True)
    ]
    q, velocity = np.zeros((2, ticks + 1, *start.shape))
    q[0] = real = start
    haste = rng.choice([0.0, 0.1, 1.0], (arms, 1))  # of the real arms: blocked, slow or at once
    for k, dt in enumerate(dts.tolist()):
        real = real + haste * (q[k] - real)
        seen = None if not measures or rng.random() < 0.5 else real * rng.choice([1.0] * 9 + [math.nan])
        if pushes and rng.random() < 0.2:
            twist = rng.normal(size=(arms, len(goals), 6)) * 10 ** rng.uniform(-2, 1.5, (arms, 1, 1))
            twist[rng.random(arms) < 0.02] = rng.choice([math.nan, math.inf, 1e200])
            step = follow.push(twist, dt, measured=seen)
        else:
            asked = [command(goal, frames[k]) for goal, frames in zip(goals, made, strict=True)]
            stamp = None if rng.random() < 0.8 else float(rng.choice([0.01 * k, 0.01 * k - 0.005, -1e9, math.nan]))
            step = follow.step(asked[0] if len(asked) == 1 else asked, dt, stamp=stamp, measured=seen)
        q[k + 1], velocity[k + 1] = step.q, step.velocity
    used = columns(linkage, lambda joint: any(joint in path(linkage, goal.link) for goal in goals))
    pieces = piece(dts, np.count_nonzero(used))
    return Ride(linkage, passed(dts)[:, None, None], pieces[:, None, None], q, velocity, bound, used)


def outside(linkage, q):
    """How far (..., dof) each value of q is outside its limits; for a ball, how far it must turn to be inside."""
    far = np.abs(linkage.difference(q, linkage.clamp(q)))
    for first in np.flatnonzero(coned(linkage))[::3]:
        far[..., first : first + 3] = np.linalg.norm(far[..., first : first + 3], axis=-1, keepdims=True)
    return far


def check(done):
    """Every law of a ride. Bounds hold to 1e-12 of themselves, and to the rounding of the numbers they are told in."""
    linkage, time = done.linkage, done.time
    before, after = done.q[:-1], done.q[1:]
    assert np.isfinite(done.q).all()
    assert np.isfinite(done.velocity).all()
    # speed
    assert (np.abs(done.velocity) <= linkage.speed * (1 + 1e-12)).all()
    # acceleration: a speed is known to a few parts in 2^53 of itself
    change = np.abs(np.diff(done.velocity, axis=0))
    change[np.broadcast_to(time == 0, change.shape)] = 0
    assert (change <= done.acceleration * time * (1 + 1e-12) + 8 * EPSILON * np.abs(done.velocity[1:]).clip(0)).all()
    # position: inside stays inside, and outside never goes further out
    balls, scale = turning(linkage), np.maximum(1, np.abs(before))
    assert (np.diff(outside(linkage, done.q), axis=0) <= 1e-12 * scale + 1e-9 * balls).all()
    # what is told is what was done; the turn between two rotations is known to half the digits, near half a turn
    off = np.abs(linkage.difference(linkage.integrate(before, done.velocity[1:] * time), after))
    whole = done.piece == time
    assert ((off <= 1e-12 * scale + 1e-7 * balls) | ~whole).all()
    # a divided tick: its pieces change the velocity by at most a each, as the differences of q show
    off = np.where(balls, 0, off)
    assert (off <= 0.5 * done.acceleration * time * (time - done.piece) * (1 + 1e-9) + 1e-12 * scale).all()
    moved = time[:, 0, 0] > 0
    long, short = time[moved], done.piece[moved]
    mean = np.where(balls, 0, (after - before)[moved]) / long
    rounding = 1e-13 * scale[moved] / long  # of up to 250 pieces
    assert (np.abs(mean) <= linkage.speed * (1 + 1e-12) + rounding).all()
    allowed = 0.5 * done.acceleration * (long[1:] + short[1:] + long[:-1] - short[:-1])
    assert (np.abs(np.diff(mean, axis=0)) <= allowed * (1 + 1e-9) + rounding[1:] + rounding[:-1]).all()
    # where no time passes nothing moves, and nothing within its limits moves that no goal needs
    still = time[:, 0, 0] == 0
    assert (after[still] == before[still]).all()
    idle = ~done.used & (outside(linkage, done.q[0]) == 0)
    assert np.where(idle, done.q == done.q[0], True).all()


ROOM = {"panda": 0.35, "ur5": 0.5}  # m: how far past reach a hand is pushed


@pytest.mark.parametrize("name", first_is_quick(ARMS))
@pytest.mark.parametrize("kind", ["wander", "past reach"])
def test_the_motion_does_not_depend_on_the_length_of_ticks(name, kind):
    """Within 2 mm and half a degree of the run at 1 kHz, at 10 Hz to 500 Hz and with ticks of 1 to 100 ms."""
    linkage, link, start = ARMS[name]
    here, rng = linkage.frame(start, link).matrix, np.random.default_rng(7)
    time = np.arange(6000) / 1000
    if kind == "wander":
        hertz, phase = rng.uniform(0.2, 1.6, (4, 6)), rng.uniform(0, 6.28, (4, 6))
        way = np.sin(2 * np.pi * hertz * time[:, None, None] + phase).mean(axis=1) * np.clip(time, 0, 1)[:, None] ** 3
        way *= [0.04, 0.04, 0.04, 0.1, 0.1, 0.1]
    else:
        u = np.clip(np.minimum(time / 2.0, (6.0 - time) / 2.0), 0, 1)
        way = (u**3 * (10 + u * (6 * u - 15)))[:, None] * [ROOM[name], 0.1, 0.1, 0.1, 0.2, 0.0]
    grid = np.tile(here, (len(time), 1, 1))
    grid[:, :3, 3] += way[:, :3]
    grid[:, :3, :3] = Frame.rotvec(way[:, 3:]).matrix[:, :3, :3] @ here[:3, :3]

    def hands(ticks):
        follow = Solver().track(linkage, link, start)
        dts = np.diff(ticks, prepend=0) / 1000
        q = [follow.step(grid[k], dt).q.copy() for k, dt in zip(ticks.tolist(), dts.tolist(), strict=True)]
        return linkage.frame(np.array(q), link)

    exact = hands(np.arange(1, 6000))
    uneven = np.cumsum(rng.integers(1, 101, 6000))
    for ticks in (*(np.arange(step, 6000, step) for step in (100, 50, 33, 8, 2)), uneven[uneven < 6000]):
        apart = exact[ticks - 1].inverse() @ hands(ticks)
        assert np.linalg.norm(apart.position, axis=-1).max() < 2e-3
        assert np.linalg.norm(apart.to_rotvec(), axis=-1).max() < np.radians(0.5)


@pytest.mark.parametrize("name", ARMS)
def test_ticks_of_different_lengths_follow_as_closely_as_equal_ones(name):
    """From a short tick to a long one a velocity changes by what the mean of the two asks: no bound is in the way."""
    linkage, link, start = ARMS[name]
    rng, speed, acceleration = np.random.default_rng(3), 2 * np.pi * 1.5, 8.0
    swing = rng.uniform(-1, 1, linkage.dof)
    swing *= acceleration / speed**2 / np.abs(swing).max()
    ticks = np.cumsum(rng.integers(10, 31, 1000)) / 10000  # 1 to 3 ms
    share = (1 - np.cos(speed * ticks)) * (ticks / ticks[-1]) ** 3
    commands = linkage.frame(start + share[:, None] * swing, link).matrix
    follow, dts = Solver().track(linkage, link, start), np.diff(ticks, prepend=0)
    far = [follow.step(command, dt).distance[0] for command, dt in zip(commands, dts.tolist(), strict=True)]
    assert max(far) < 2e-7


@pytest.mark.parametrize("seed", [0, 4])
def test_an_arm_with_five_joints_follows_whole_frames_that_it_can_reach(seed):
    """Its position comes first, but orientation does not stay behind where the joints can do both."""
    so101, link, dt = models.so101(), "gripper_frame_link", 1 / 300
    arm, rng, time = so101.part(so101.root, link), np.random.default_rng(seed), np.arange(0, 3, 1 / 300)
    swing = 0.5 * rng.uniform(-1, 1, arm.dof)
    start = np.array([0, -0.6, 0.5, 0.6, 0]) + 0.2 * rng.normal(size=arm.dof)
    share = (1 - np.cos(np.pi * time)) / 2 * (time / 3) ** 3
    follow = Solver().track(arm, link, start)
    steps = [follow.step(command, dt) for command in arm.frame(start + share[:, None] * swing, link).matrix]
    assert max(step.angle[0] for step in steps) < 1e-3


def patience(done):
    """How long (arms, dof) a joint outside its limits may take, at ease: to speed up, cruise, brake and land."""
    linkage = done.linkage
    far = outside(linkage, done.q[0])
    room = np.minimum(1.0, linkage.upper - linkage.lower) * 1e-3 + 1e-12
    with np.errstate(invalid="ignore"):
        slow = np.nan_to_num(far / linkage.speed)
    return 3 * (np.log(1 + far / room) / 50 + 4 * np.sqrt((far + room) / done.acceleration) + slow) + 2


def ten_thousand_ticks(count, seed, pushes, measures):
    rng = np.random.default_rng([seed, 5])
    linkage = paced(moving_tree(seed, count), rng)
    goals = random_goals(linkage, seed)
    done = ride(linkage, goals, seed, ticks=100, arms=100, pushes=pushes, measures=measures)
    check(done)
    if not measures:  # a real arm that is blocked outside holds its tracker there
        late = (outside(linkage, done.q[-1]) > CLOSE) & (done.time.sum() > patience(done))
        assert not (late & done.used).any()


random_rides = given(
    count=st.integers(1, 20), seed=st.integers(0, 2**32 - 1), pushes=st.booleans(), measures=st.booleans()
)


@pytest.mark.slow
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@random_rides
def test_in_200_000_random_ticks_no_bound_is_broken(count, seed, pushes, measures):
    ten_thousand_ticks(count, seed, pushes, measures)


@pytest.mark.gate
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@random_rides
def test_in_a_million_random_ticks_no_bound_is_broken(count, seed, pushes, measures):
    ten_thousand_ticks(count, seed, pushes, measures)


SLOW_TREE = pytest.param(3, marks=pytest.mark.gate)  # its slowest joint needs minutes to come back


@pytest.mark.parametrize("seed", [*first_is_quick([0, 1, 2, 4, 5, 6, 7]), SLOW_TREE])
def test_a_joint_that_starts_outside_its_limits_comes_back_in_bounded_time(seed):
    rng = np.random.default_rng([seed, 6])
    linkage = paced(moving_tree(seed, 1 + seed, most=12), rng)
    goals = random_goals(linkage, seed)
    start = linkage.random(20, seed=seed)
    start = start + rng.normal(size=start.shape)
    follow = Solver().track(linkage, goals, start, acceleration=20.0)
    frames = [linkage.frame(start, goal.link).matrix for goal in goals]
    q = [start]
    steps = [1 / 300, 0.02, 0.05]
    used = columns(linkage, lambda joint: any(joint in path(linkage, goal.link) for goal in goals))
    bound = np.minimum(20.0, linkage.acceleration)
    begun = Ride(linkage, np.zeros(1), np.zeros(1), start[None], start[None], bound, used)
    wait = np.where(used, patience(begun), 0).max()
    for k in range(int(wait / np.mean(steps)) + 1):
        asked = [command(goal, frame) for goal, frame in zip(goals, frames, strict=True)]
        q.append(follow.step(asked if len(asked) > 1 else asked[0], steps[k % 3]).q.copy())
    out = outside(linkage, np.array(q))[..., used]
    assert (np.diff(out, axis=0) <= 1e-9).all()
    assert (out[0] > 0).any() or linkage.inside(q[0]).all()
    assert (out[-1] <= CLOSE).all()


@pytest.mark.parametrize(
    "solver",
    [
        Solver(method=method.damped(), damping=damping.constant(1e-3)),
        Solver(method=method.damped(), damping=damping.singularities() | damping.limits()),
        Solver(method=method.damped(), damping=lambda q, e, J, dt: (1e-3, np.ones(len(q)))),
        Solver(method=method.pseudoinverse()),
        Solver(method=method.transpose()),
    ],
    ids=repr,
)
def test_other_ways_of_stepping_stay_inside_the_same_bounds(solver):
    start = UR5.q(**ELBOW_UP)
    follow = solver.track(UR5, "tool0", start)
    rng = np.random.default_rng(7)
    dts = ticks_of(rng, 400)
    frames = wander(rng, UR5.frame(start, "tool0").matrix[None], 0.8, dts, 1)
    told = [follow.step(frame, dt) for frame, dt in zip(frames[:, 0], dts.tolist(), strict=True)]
    q = np.array([start, *(step.q for step in told)])[:, None]
    velocity = np.array([0 * start, *(step.velocity for step in told)])[:, None]
    time = passed(dts)[:, None, None]
    check(Ride(UR5, time, time, q, velocity, np.full(6, 15.0), np.ones(6, bool)))


# -- what can be followed is ----------------------------------------------------------------------------------------


def circle(frame, t):
    """A circle of 5 cm across x that starts and stays smooth, from a frame (4, 4)."""
    moved = np.array(frame)
    ease = min(t / 0.5, 1.0) ** 2 * (3 - 2 * min(t / 0.5, 1.0))
    moved[:3, 3] += 0.05 * ease * np.array([0, math.sin(2 * t), 1 - math.cos(2 * t)])
    return moved


def there_and_back(frame, t, way):
    """A frame that goes a way (3,) within a second, is back after two, and stays."""
    moved = np.array(frame)
    moved[:3, 3] += math.sin(math.pi * min(t, 2.0) / 2) ** 2 * np.asarray(way)
    return moved


def followed(arm, link, start, motion, rate, seconds):
    """Every step of a tracker along a motion t -> frame."""
    follow = Solver().track(arm, link, start)
    return [follow.step(motion(k / rate), 1 / rate) for k in range(round(seconds * rate))]


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("rate", [300, 1000])
def test_what_is_in_reach_is_followed_exactly(name, rate):
    arm, link, start = ARMS[name]
    frame = arm.frame(start, link).matrix
    for k, step in enumerate(followed(arm, link, start, lambda t: circle(frame, t), rate, 3)):
        assert step.status is TrackingStatus.FOLLOWING
        assert step.damping == 0
        off = arm.frame(step.q, link).matrix[:3, 3] - circle(frame, k / rate)[:3, 3]
        assert np.linalg.norm(off) <= (1e-7 if k > 3 else 1e-5)


@pytest.mark.parametrize("name", ARMS)
def test_an_arm_that_is_held_out_of_reach_is_at_rest(name):
    arm, link, start = ARMS[name]
    away = np.array(arm.frame(start, link).matrix)
    away[0, 3] += 2
    last = followed(arm, link, start, lambda t: away, 300, 6)[-1]
    assert last.status is TrackingStatus.YIELDING
    assert np.abs(last.velocity).max() <= 1e-6
    assert "out of reach" in last.why
    assert "+x" in last.why


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize(("way", "apart"), [((0.1, 0.1, 0), 1e-6), ((0.3, 0.3, 0), 5e-3), ((0.6, 0.3, 0.1), 5e-3)])
def test_the_motion_does_not_depend_on_the_rate(name, way, apart):
    arm, link, start = ARMS[name]
    frame = arm.frame(start, link).matrix
    fast, slow = (
        np.array([s.q for s in followed(arm, link, start, lambda t: there_and_back(frame, t, way), rate, 3)])
        for rate in (1000, 250)
    )
    hands = [arm.frame(q, link).matrix[:, :3, 3] for q in (fast[::4], slow)]
    assert np.linalg.norm(hands[0] - hands[1], axis=1).max() <= apart


def resized(linkage, factor):
    """The same linkage with all lengths times a factor."""

    def longer(joint):
        place = np.array(joint.location.matrix)
        place[:3, 3] *= factor
        slides = joint.kind is Kind.PRISMATIC
        fields = ("lower", "upper", "speed", "acceleration", "rest") if slides else ()
        lengths = {name: tuple(factor * x for x in getattr(joint, name)) for name in fields}
        return replace(joint, location=Frame(place), **lengths)

    return Linkage(linkage.name, [longer(joint) for joint in linkage.joints], linkage.links)


SLIDING = Linkage(
    "gantry",
    [
        Joint.prismatic("x", "world", "cart", axis=(1, 0, 0), lower=-0.5, upper=0.5, speed=0.8, acceleration=4),
        Joint.revolute("turn", "cart", "post", at=Frame.at([0, 0, 0.4]), lower=-2, upper=2, speed=2),
        Joint.revolute("bend", "post", "arm", at=Frame.at([0.1, 0, 0]), axis=(0, 1, 0), lower=-2, upper=2, speed=2),
        Joint.prismatic(
            "out", "arm", "rod", at=Frame.at([0.2, 0, 0]), axis=(1, 0, 0), lower=0, upper=0.4, speed=0.5, acceleration=4
        ),
        Joint.continuous("roll", "rod", "grip", axis=(1, 0, 0), speed=3),
        Joint.revolute("tilt", "grip", "tool", at=Frame.at([0.1, 0, 0]), axis=(0, 1, 0), lower=-2, upper=2, speed=2),
    ],
)
SIZED = ARMS | {"gantry": (SLIDING, "tool", SLIDING.q(turn=0.3, bend=0.4, out=0.2, roll=0.2, tilt=0.5))}


@pytest.mark.parametrize("name", SIZED)
@pytest.mark.parametrize("factor", [0.1, 10.0])
@pytest.mark.parametrize("way", [(0.05, 0.1, 0), (0.5, 0.4, 0.2)])
def test_an_arm_of_any_size_moves_alike(name, factor, way):
    arm, link, start = SIZED[name]
    lengths = np.array([unit == "m" for joint in arm.joints if joint.dof for unit in joint.units])
    grown = np.where(lengths, factor, 1.0)
    frame = arm.frame(start, link).matrix
    large = frame * np.array([1, 1, 1, factor]) ** (np.arange(4) < 3)[:, None]
    one = followed(arm, link, start, lambda t: there_and_back(frame, t, way), 300, 2.5)
    other = followed(
        resized(arm, factor), link, start * grown, lambda t: there_and_back(large, t, factor * np.array(way)), 300, 2.5
    )
    apart = np.abs(np.array([s.q for s in other]) / grown - np.array([s.q for s in one]))
    assert apart.max() <= 1e-9


# -- one and many, again and again ----------------------------------------------------------------------------------


def trips(arms):
    """Starts (arms, dof) of Pandas and frames (ticks, arms, 4, 4) for them: in reach, out of it, jumping, none."""
    arm, link, start = ARMS["panda"]
    rng = np.random.default_rng(8)
    starts = start + rng.uniform(-0.2, 0.2, (arms, arm.dof)) * (np.arange(arm.dof) < 7)
    return starts, wander(rng, arm.frame(starts, link).matrix, 0.5, np.full(120, 1 / 300), arms)


@pytest.mark.parametrize("kind", _core.instruction_sets())
@pytest.mark.parametrize("arms", [3, 70])  # few in turn, many on all cores
def test_many_arms_in_one_call_move_as_they_do_one_by_one_to_the_last_bit(kind, arms):
    _core.use(kind)
    starts, frames = trips(arms)
    together = Solver().track(PANDA, "panda_hand_tcp", starts)
    told = [together.step(row, 1 / 300)._result for row in frames]
    for i in {0, 1, 2, arms - 1}:
        alone = Solver().track(PANDA, "panda_hand_tcp", starts[i])
        for row, many in zip(frames, told, strict=True):
            assert np.array_equal(alone.step(row[i], 1 / 300)._result, many[i], equal_nan=True)


def test_every_instruction_set_moves_the_same_way():
    arm, link, start = ARMS["panda"]
    frame = arm.frame(start, link).matrix
    paths = []
    for kind in _core.instruction_sets():
        _core.use(kind)
        paths.append(np.array([s.q for s in followed(arm, link, start, lambda t: circle(frame, t), 300, 2)]))
    for other in paths[1:]:
        assert np.abs(other - paths[0]).max() <= 1e-9


def test_the_same_commands_give_the_same_motion_to_the_last_bit():
    starts, frames = trips(5)
    follow = Solver().track(PANDA, "panda_hand_tcp", starts)
    first = [follow.step(row, 1 / 300)._result.copy() for row in frames]
    follow.reset(starts)
    for row, told in zip(frames, first, strict=True):
        assert np.array_equal(follow.step(row, 1 / 300)._result, told, equal_nan=True)


# -- arms of all kinds ----------------------------------------------------------------------------------------------


def snake(count):
    """A chain of so many turns about x, y and z in turn."""
    joints = [
        Joint.revolute(f"j{i}", f"l{i}", f"l{i + 1}", at=Frame.at([0.2, 0.03, 0]), axis=np.eye(3)[i % 3], speed=3)
        for i in range(count)
    ]
    return Linkage(f"snake{count}", [*joints, Joint.fixed("end", f"l{count}", "tip", at=Frame.at([0.2, 0, 0]))])


BAXTER, SO101 = models.baxter(), models.so101()
SIDES = {"s0": 0.3, "s1": -0.6, "e0": 0.2, "e1": 1.5, "w0": 0.1, "w1": 0.8, "w2": 0.2}
BOTH = BAXTER.q({f"{side}_{name}": value for side in ("left", "right") for name, value in SIDES.items()})
WEAK_ROWS = Goal("tip", position=[0, 0, 0], weight=(1, 1, 0))
ANY = {
    "five joints, all of a frame": (SO101, ["gripper_frame_link"], SO101.rest + 0.3),
    "a plane, its two positions": (models.planar3(), [WEAK_ROWS], [0.4, 0.7, 0.6]),
    "one joint": (snake(1), ["tip"], [0.3]),
    "twenty joints": (snake(20), ["tip"], 0.25 + 0.5 * np.cos(2.0 * np.arange(20))),
    "two hands": (BAXTER, ["left_gripper", "right_gripper"], BOTH),
    "a position": (UR5, [Goal("tool0", position=[0, 0, 0])], UR5.q(**ELBOW_UP)),
    "a turn": (UR5, [Goal("tool0", orientation=Frame())], UR5.q(**ELBOW_UP)),
}


@pytest.mark.parametrize("name", ANY)
def test_no_arm_is_reported_singular_far_from_singularities(name):
    arm, asked, start = ANY[name]
    start = np.clip(start, arm.lower, arm.upper)
    follow = Solver().track(arm, asked, start)
    links = [goal.link for goal in follow.goals]
    for k in range(300):
        ease = min(k / 100, 1.0) ** 2 * (3 - 2 * min(k / 100, 1.0))
        swing = 0.08 * ease * (np.sin(0.01 * k + np.arange(arm.dof)) - np.sin(np.arange(arm.dof)))
        frames = [arm.frame(start + swing, link) for link in links]
        step = follow.step(frames if len(frames) > 1 else frames[0], 1 / 300)
        assert step.status is TrackingStatus.FOLLOWING
        assert step.damping == 0
        assert (step.joint_weights == 1).all()
        if k > 10:
            reach = max(arm.reach(link) for link in links)
            assert step.distance.max() <= 1e-4 * reach
            assert step.angle.max() <= 1e-4


@pytest.mark.parametrize("speed", [0.05, 0.2])
def test_a_circle_beside_full_stretch_is_followed_where_the_joints_can(speed):
    """The UR5 passes 5 mm inside its full reach. The exact motion needs 55 % of its bounds at 20 cm/s."""
    rate, radius = 300, 0.0947823
    start = np.array([-0.916585, 1.633909, 1.412599, -4.835565, 1.724794, 0.785613])
    here = UR5.frame(start, "tool0")
    u, w = np.array([0.288943, -0.501206, 0.815662]), np.array([0.939406, -0.015731, -0.342445])
    tracker = Solver().track(UR5, "tool0", start=start, acceleration=15.0)
    angle, farthest = 0.0, 0.0
    for tick in range(round((2 * np.pi * radius / speed + 1) * rate)):
        v = min(tick / rate, 1.0)
        angle += v**3 * (10 + v * (6 * v - 15)) * speed / radius / rate
        way = radius * ((np.cos(angle) - 1) * u + np.sin(angle) * w)
        step = tracker.step(Frame.at(way) @ here, 1 / rate)
        farthest = max(farthest, float(np.ravel(step.distance)[0]))
    assert farthest < 5e-5


def test_an_arm_with_five_joints_that_comes_nearer_is_not_called_stuck():
    # position comes first: the orientation may get worse on the way
    arm, link = models.so101(), "gripper_frame_link"
    for seed in range(100, 120):
        turned = Frame.rotvec(np.random.default_rng(seed).standard_normal(3))
        tracker = Solver().track(arm, link, start=arm.random(seed=seed))
        command = arm.frame(arm.random(seed=seed + 50), link) @ turned
        steps = [tracker.step(command, 0.01) for _ in range(400)]
        distance = np.array([float(step.distance[0]) for step in steps])
        for now in np.flatnonzero(distance[40:-10] - distance[50:] > 0.01) + 40:
            assert steps[now].status is TrackingStatus.LAGGING, (seed, now)


def test_a_standing_arm_does_not_lag_and_its_reason_speaks_of_no_measured_arm():
    arm, link = models.so101(), "gripper_frame_link"
    for seed in range(60):
        tracker = Solver().track(arm, link, start=arm.random(seed=seed))
        command = arm.frame(arm.random(seed=seed + 50), link)
        for _ in range(400):
            step = tracker.step(command, 0.01)
            assert "measured" not in step.why
            if not np.abs(step.velocity).max() > 1e-9:
                assert step.status is not TrackingStatus.LAGGING


def test_five_joints_in_place_say_that_they_are_too_few_to_turn_so():
    arm, link = models.so101(), "gripper_frame_link"
    tool = arm.frame(arm.rest, link)
    tracker = Solver().track(arm, link)
    for _ in range(300):
        step = tracker.step(tool @ Frame.rotvec([0.0, 0.3, 0.3]), 0.01)
    assert step.distance[0] < 1e-6
    assert step.angle[0] > 0.01
    assert "is in place, but 5 joints are too few for its orientation too" in step.why


def test_ball_joints_stay_inside_their_limits_to_the_last_digits():
    figure = models.human()
    hands = ["left_hand", "right_hand"]
    for seed in range(3):
        tracker = Solver().track(figure, hands)
        far = [figure.frame(figure.random(seed=seed), hand) for hand in hands]
        for _ in range(150):
            assert figure.inside(tracker.step(far, 1 / 60).q)
