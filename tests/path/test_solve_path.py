"""Whole paths: continuous, within limits and speeds, as asked; and in words where that is not possible."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import supple
from supple import Frame, Goal, GoalPath, Joint, Linkage, Motion, Solver, Tolerance, models, prefer, solve_path
from supple.errors import BadInput, UnknownName
from supple.solution import Outcome

DATA = Path(__file__).parent.parent / "data" / "paths"
CPPFLOW = {
    "hello": ("fetch", [0.8, 0.45, 0.25]),
    "circle": ("fetch", [0.9, 0.25, 0.46]),
    "s": ("fetch", [1.0, 0.3, 0.55]),
    "2cubes": ("panda", [0, 0.54, 0.79]),
}
ARMS = {"panda": "panda_hand_tcp", "ur5": "tool0", "puma560": None, "iiwa14": None}
RATE = 30.0


def smooth_motion(arm: Linkage, frames: int, seed: int, closed: bool = False) -> np.ndarray:
    """A random motion (frames, dof) within limits and 60 % of the speed limits at RATE."""
    random = np.random.default_rng(seed)
    lower, upper = np.maximum(arm.lower, -np.pi), np.minimum(arm.upper, np.pi)
    half, s = (upper - lower)[None] / 2, np.linspace(0, 1, frames)[:, None]
    turns = np.ones((1, arm.dof)) if closed else random.uniform(0.3, 1.0, (1, arm.dof))
    wave = np.sin(2 * np.pi * turns * s + random.uniform(0, 6.28, (1, arm.dof))) * random.uniform(0.1, 0.6, arm.dof)
    fastest = np.abs(np.diff(wave, axis=0)).max(axis=0) * RATE * half[0]
    wave *= np.minimum(1, 0.6 * np.minimum(arm.speed, 3.0) / fastest)
    left = 0.95 - np.abs(wave).max(axis=0)
    return (lower + upper) / 2 + half * (wave + random.uniform(-left, left))


def fast_closed_motion(arm: Linkage, frames: int, seed: int) -> np.ndarray:
    """A closed motion (frames, dof): sums of three sines, within limits and 80 % of the speed limits at RATE."""
    random = np.random.default_rng([seed, 7])
    half, s = (arm.upper - arm.lower) / 2, np.linspace(0, 1, frames)[:, None, None]
    turns = np.array([1, 2, 3])[:, None]
    sines = np.sin(2 * np.pi * turns * s + random.uniform(0, 6.28, (3, arm.dof)))
    wave = (random.normal(size=(3, arm.dof)) / turns * sines).sum(axis=1)
    wave *= random.uniform(0.1, 0.9, arm.dof) / np.abs(wave).max(axis=0)
    wave *= np.minimum(1, 0.8 * np.minimum(arm.speed, 3.0) / (np.abs(np.diff(wave, axis=0)).max(axis=0) * RATE * half))
    left = 0.98 - np.abs(wave).max(axis=0)
    return (arm.lower + arm.upper) / 2 + half * (wave + random.uniform(-left, left))


def errors(arm: Linkage, link: str, q: np.ndarray, wanted: Frame) -> tuple[float, float]:
    at = arm.frame(q, link)
    turned = np.linalg.norm((wanted.inverse() @ at).to_rotvec(), axis=-1)
    return float(np.linalg.norm(at.position - wanted.position, axis=-1).max()), float(turned.max())


def assert_followed(arm: Linkage, link: str, done: supple.PathSolution, wanted: Frame, rate: float = RATE) -> None:
    """Everything that a good path is, measured without the planner."""
    far, turned = errors(arm, link, done.q, wanted)
    assert far <= 1e-6
    assert turned <= 1e-6
    step = np.abs(arm.difference(done.q[:-1], done.q[1:]))
    assert (step <= np.minimum(arm.speed / rate, 0.3) * (1 + 1e-8)).all()
    assert arm.inside(done.q, 1e-9).all()
    assert done.arrived
    assert done.continuous
    assert not done.reconfigured.any()
    assert done.why == ""
    assert bool(done)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("closed", [False, True])
def test_random_smooth_paths_are_followed_without_a_jump(name: str, closed: bool) -> None:
    arm = models.get(name)
    link = ARMS[name] or arm.tips[0]
    truth = np.stack([smooth_motion(arm, 120, seed, closed) for seed in range(12)], axis=1)
    wanted = arm.frame(truth, link)
    done = solve_path(arm, Goal(link, wanted), rate=RATE, closed=closed)
    assert done.shape == (12,)
    assert done.q.shape == truth.shape
    for i in range(12):
        assert_followed(arm, link, done[i], wanted[:, i])
        if closed:
            assert np.abs(done[i].q[0] - done[i].q[-1]).max() < 1e-6


def test_an_arm_of_five_joints_follows_positions_and_an_axis() -> None:
    arm, link = models.so101(), "gripper_frame_link"
    for seed in range(10):
        wanted = arm.frame(smooth_motion(arm, 120, seed), link)
        goal = Goal(link, position=wanted.position, axis=(0, 0, 1), direction=wanted.rotation[..., :, 2])
        done = solve_path(arm, goal, rate=RATE)
        assert done
        assert np.linalg.norm(arm.frame(done.q, link).position - wanted.position, axis=-1).max() <= 1e-6


@pytest.mark.parametrize("name", CPPFLOW)
def test_the_paths_of_cppflow_are_valid(name: str) -> None:
    """Within 0.1 mm, 0.1 degree and 7 degrees a step (Morgan, Millard and Sukhatme, CppFlow, 2024)."""
    robot, offset = CPPFLOW[name]
    arm, link = (models.panda(), "panda_hand") if robot == "panda" else (supple.load(DATA / "fetch_arm.urdf"), None)
    link = link or "gripper_link"
    table = np.loadtxt(DATA / f"{name}.csv", delimiter=",", skiprows=1)
    wanted = Frame.at(table[:, 1:4] + offset, Frame.quaternion(table[:, 4:8]))
    done = solve_path(arm, Goal(link, wanted))
    far, turned = errors(arm, link, done.q, wanted)
    assert far < 1e-4
    assert turned < math.radians(0.1)
    assert done.change.max() < math.radians(7)
    assert arm.inside(done.q).all()


def test_one_path_or_many_give_the_same_bits() -> None:
    arm, link = models.panda(), "panda_hand_tcp"
    truth = np.stack([smooth_motion(arm, 60, seed) for seed in range(6)], axis=1)
    together = solve_path(arm, Goal(link, arm.frame(truth, link)), rate=RATE)
    for i in range(6):
        alone = solve_path(arm, Goal(link, arm.frame(truth[:, i], link)), rate=RATE)
        assert np.array_equal(alone.q, together[i].q)


def test_a_gap_at_the_end_is_reported_with_its_joint() -> None:
    """Around the base a shoulder turns once: the last q is a turn away from the first."""
    arm = Linkage(
        "elbow",
        [
            Joint.continuous("shoulder", "base", "arm", axis=(0, 0, 1)),
            Joint.revolute("elbow", "arm", "hand", at=Frame.at([1, 0, 0]), axis=(0, 0, 1), lower=0.1, upper=2.5),
            Joint.fixed("tool", "hand", "tip", at=Frame.at([1, 0, 0])),
        ],
    )
    around = GoalPath.circle([1.2, 0, 0], centre=[0, 0, 0]).goal("tip", 241, weight=(1, 1, 0))
    free = solve_path(arm, around)
    assert free
    assert free.ended
    assert not free.gap.any()
    done = solve_path(arm, around, closed=True)
    assert done.arrived
    assert done.continuous
    assert not done.ended
    assert not done
    assert abs(done.gap[0]) == pytest.approx(2 * np.pi, abs=1e-6)
    assert "shoulder is 6.28 rad away" in done.why
    assert "shoulder is 6.28 rad away" in str(done)
    far = solve_path(arm, around, free.q[0], end=free.q[0])
    assert not far
    assert "shoulder is 6.28 rad away" in far.why


def test_a_path_that_is_closed_has_no_gap() -> None:
    arm, link = models.panda(), "panda_hand_tcp"
    truth = np.stack([smooth_motion(arm, 120, seed, True) for seed in range(4)], axis=1)
    done = solve_path(arm, Goal(link, arm.frame(truth, link)), rate=RATE, closed=True)
    assert done.ended.all()
    assert done
    assert np.abs(done.q[0] - done.q[-1]).max() <= 1e-6
    assert done[1].why == ""


@pytest.mark.slow
def test_closed_paths_of_a_redundant_arm_return() -> None:
    """Closed paths at up to 80 % of the speed limits, some of which candidates that merge by cost do not close."""
    arm = models.iiwa14()
    link, frames = arm.tips[0], 300
    truth = np.stack([fast_closed_motion(arm, frames, seed) for seed in range(40)], axis=1)
    done = solve_path(arm, Goal(link, arm.frame(truth, link)), rate=RATE, closed=True)
    assert done.arrived.all()
    assert (done.continuous & done.ended).sum() >= 39


def test_start_and_end_are_kept() -> None:
    arm, link = models.panda(), "panda_hand_tcp"
    for seed in range(5):
        truth = smooth_motion(arm, 100, seed)
        wanted = Goal(link, arm.frame(truth, link))
        begun = solve_path(arm, wanted, truth[0], rate=RATE)
        assert np.abs(begun.q[0, :7] - truth[0, :7]).max() < 1e-9
        ended = solve_path(arm, wanted, rate=RATE, end=truth[-1])
        assert np.abs(ended.q[-1, :7] - truth[-1, :7]).max() < 1e-6
        assert ended.arrived
        both = solve_path(arm, wanted, truth[0], rate=RATE, end=truth[-1])
        assert np.abs(both.q[[0, -1], :7] - truth[[0, -1], :7]).max() < 1e-6
        assert both.arrived


def test_smoothing_leaves_less_joint_motion_than_following_frame_by_frame() -> None:
    arm, link = models.panda(), "panda_hand_tcp"
    ratios = []
    for seed in range(8):
        truth = smooth_motion(arm, 150, seed)
        done = solve_path(arm, Goal(link, arm.frame(truth, link)), rate=RATE)
        ratios.append(done.length / np.linalg.norm(np.diff(truth[:, :7], axis=0), axis=-1).sum())
    assert np.mean(ratios) < 0.98


def test_centred_paths_keep_nearer_to_the_middle_of_their_limits() -> None:
    arm, link = models.panda(), "panda_hand_tcp"
    middle, half = (arm.lower + arm.upper)[:7] / 2, (arm.upper - arm.lower)[:7] / 2
    off = {"least motion": [], "centred": []}
    for seed in range(8):
        wanted = Goal(link, arm.frame(smooth_motion(arm, 80, seed), link))
        for how, kept in off.items():
            done = solve_path(arm, wanted, rate=RATE, prefer=how)
            assert done.arrived
            kept.append((((done.q[:, :7] - middle) / half) ** 2).sum(axis=-1).mean())
    assert np.mean(off["centred"]) < 0.95 * np.mean(off["least motion"])
    same = [solve_path(arm, wanted, rate=RATE, prefer=how).q for how in ("centred", prefer.centre())]
    assert np.array_equal(*same)


def test_conditioned_paths_keep_farther_from_singularities() -> None:
    arm, link = models.panda(), "panda_hand_tcp"
    margins = {"least motion": [], "conditioning": []}
    for seed in range(8):
        wanted = Goal(link, arm.frame(smooth_motion(arm, 60, seed), link))
        for how, kept in margins.items():
            kept.append(solve_path(arm, wanted, rate=RATE, prefer=how).singularity_margin.min())
    assert np.mean(margins["conditioning"]) > np.mean(margins["least motion"])


def test_retiming_keeps_to_speeds_and_accelerations_and_stretches_as_little_as_speeds_allow() -> None:
    arm, link = models.panda(), "panda_hand_tcp"
    wanted = Goal(link, arm.frame(smooth_motion(arm, 200, 3), link))
    fast = solve_path(arm, wanted, duration=0.5)
    assert not fast.continuous
    assert "comes too soon" in fast.why
    assert "retime=True" in fast.why
    done = solve_path(arm, wanted, duration=0.5, retime=True)
    assert done
    assert done.motion.within_speeds(1e-6)
    assert done.stretch > 1
    part = done.motion.speed / arm.speed
    assert part.max() == pytest.approx(1, abs=1e-6)
    slow = solve_path(arm, wanted, duration=100.0, retime=True)
    assert float(slow.stretch) == 1
    assert slow.times == pytest.approx(np.linspace(0, 100, 200))


def test_retiming_leaves_the_time_of_paths_that_keep_to_speeds_as_they_are() -> None:
    arm = models.iiwa14()
    truth = np.stack([fast_closed_motion(arm, 150, seed) for seed in range(12)], axis=1)
    wanted = Goal(arm.tips[0], arm.frame(truth, arm.tips[0]))
    within = solve_path(arm, wanted, rate=RATE)
    done = solve_path(arm, wanted, rate=RATE, retime=True)
    assert within.continuous.all()
    assert done.continuous.all()
    np.testing.assert_allclose(done.stretch, 1, rtol=1e-8)


def test_retiming_takes_for_each_path_the_plan_that_needs_less_time() -> None:
    arm = models.iiwa14()
    truth = np.stack([fast_closed_motion(arm, 150, seed) for seed in range(4)], axis=1)
    wanted = Goal(arm.tips[0], arm.frame(truth, arm.tips[0]))
    done = solve_path(arm, wanted, rate=4 * RATE, retime=True)
    free = solve_path(arm, wanted)  # without times, speed limits do not count
    assert done.arrived.all()
    assert done.continuous.all()
    for i in range(4):
        assert done[i].motion.within_speeds(1e-6)
        rushed = Motion(arm, free.times[:, i] * 149 / (4 * RATE), free.q[:, i])
        speed = np.abs(np.diff(rushed.q, axis=0)) / np.diff(rushed.times)[:, None] / arm.speed
        needed = np.maximum(speed.max(axis=1), 1).mean()  # each step at its speed limit, or as it was
        assert 1 < done.stretch[i] < 1.2 * needed


def test_retiming_bounds_accelerations() -> None:
    joints = [Joint.revolute(f"j{i}", a, b, axis=(0, 0, 1), speed=2.0, acceleration=3.0) for i, (a, b) in LINKS]
    arm = Linkage("three", joints)
    q = np.stack([np.sin(np.linspace(0, 9, 400)), np.cos(np.linspace(0, 7, 400)), np.linspace(0, 1, 400)], axis=1)
    from supple._path.timing import retimed

    times = retimed(arm, np.linspace(0, 2.0, 400), q)
    dt = np.diff(times)
    velocity = np.diff(q, axis=0) / dt[:, None]
    acceleration = np.diff(velocity, axis=0) / (0.5 * (dt[1:] + dt[:-1]))[:, None]
    assert np.abs(velocity).max() <= 2.0 * (1 + 1e-9)
    assert np.abs(acceleration).max() <= 3.0 * 1.05
    assert (dt >= np.diff(np.linspace(0, 2.0, 400)) * (1 - 1e-9)).all()


LINKS = [(0, ("base", "a")), (1, ("a", "b")), (2, ("b", "tip"))]


def test_a_path_that_must_be_broken_has_one_reconfiguration_with_its_joint() -> None:
    """A shoulder of less than a full turn, and a circle around it: the arm must go back once."""
    joints = [
        Joint.revolute("shoulder", "base", "arm", axis=(0, 0, 1), lower=-3.0, upper=3.0),
        Joint.revolute("elbow", "arm", "hand", at=Frame.at([1, 0, 0]), axis=(0, 0, 1), lower=-2.5, upper=2.5),
        Joint.fixed("tool", "hand", "tip", at=Frame.at([1, 0, 0])),
    ]
    arm = Linkage("elbow", joints)
    path = GoalPath.circle([1.2, 0, 0], centre=[0, 0, 0], angle=2 * math.pi).goal("tip", 241, weight=(1, 1, 0))
    done = solve_path(arm, path)
    assert done.arrived
    assert len(done.reconfigurations) == 1
    frame = int(done.reconfigurations[0])
    assert f"frame {frame} " in done.why
    assert "shoulder" in done.why
    assert f"1 reconfiguration, at frame {frame}" in str(done)
    assert not done
    assert done.worst_step.joint == "shoulder"
    assert done.worst_step.frame == frame
    assert done.worst_step.part > 1


def test_frames_out_of_reach_are_stuck_near_their_goals_and_the_rest_is_followed() -> None:
    arm, link = models.ur5(), "tool0"
    here = arm.frame(arm.rest + 0.3, link)
    away = np.zeros((90, 3))
    away[30:60, 0] = np.sin(np.linspace(0, np.pi, 30)) * 3.0
    goal = Goal(link, position=here.position + away)
    done = solve_path(arm, goal, rate=RATE)
    reach = np.linalg.norm(goal.position - arm.frame(arm.rest, "shoulder_link").position, axis=-1)
    assert (done.solution.outcomes[reach > 1.2] == Outcome.STUCK.value).all()
    assert done.solution.arrived[:30].all()
    assert done.solution.arrived[-20:].all()
    assert "out of reach" in done.why
    assert done.left == int(np.argmin(done.solution.arrived))


def test_several_end_effectors_and_relative_goals_are_followed() -> None:
    arm = models.baxter()
    q = arm.clamp(arm.rest + 0.3 * np.sin(np.linspace(0, 2, 60)[:, None] + np.arange(arm.dof)))
    hands = ("left_gripper", "right_gripper")
    done = solve_path(arm, [Goal(hand, arm.frame(q, hand)) for hand in hands], rate=60.0)
    assert done
    assert done.distance.shape == (60, 2)
    between = arm.frame(q, hands[0]).inverse() @ arm.frame(q, hands[1])
    assert solve_path(arm, Goal(hands[1], between, relative_to=hands[0]), rate=60.0)


def test_measures_are_those_of_numpy() -> None:
    arm, link = models.ur5(), "tool0"
    truth = smooth_motion(arm, 40, 2)
    done = solve_path(arm, Goal(link, arm.frame(truth, link)), rate=RATE)
    assert done.length == pytest.approx(np.linalg.norm(np.diff(done.q, axis=0), axis=-1).sum())
    assert done.limit_margin == pytest.approx(np.minimum(done.q - arm.lower, arm.upper - done.q).min(axis=-1))
    weights = np.array([np.pi / arm.reach(link)] * 3 + [1.0] * 3)[:, None]
    values = np.linalg.svd(weights * arm.jacobian(done.q, link), compute_uv=False)[:, -1]
    assert done.singularity_margin == pytest.approx(values, rel=1e-6)
    assert isinstance(done.motion, Motion)
    assert np.array_equal(done.motion.q, done.q)


def test_a_looser_tolerance_and_a_margin_are_used() -> None:
    arm, link = models.panda(), "panda_hand_tcp"
    wanted = Goal(link, arm.frame(smooth_motion(arm, 50, 4), link))
    done = solve_path(arm, wanted, rate=RATE, solver=Solver(tolerance=Tolerance(1e-3, 1e-3), margin=0.05))
    assert done.arrived
    assert 1e-9 < done.distance.max() <= 1e-3
    assert done.limit_margin.min() >= 0.05 - 1e-9


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"solver": Solver(prefer=prefer.elbow("panda_link4"))}, "a path prefers one of"),
        ({"start": np.zeros((2, 8))}, "start must have shape (8,)"),
        ({"progress": "yes"}, "progress must be"),
        ({"steps": 1, "closed": True}, "follow one path"),
    ],
)
def test_what_cannot_be_planned_is_refused_before_any_work(options: dict[str, object], said: str) -> None:
    arm, link = models.panda(), "panda_hand_tcp"
    with pytest.raises(BadInput) as caught:
        solve_path(arm, Goal(link, arm.frame(smooth_motion(arm, 5, 0), link)), **options)
    assert said in str(caught.value)


def test_an_unknown_preference_is_named() -> None:
    with pytest.raises(UnknownName, match="least motion"):
        solve_path(models.planar3(), GoalPath.line([12, 6, 0], [10, 8, 0]).goal("tip", 5), prefer="elbow up")


def test_many_paths_have_no_single_motion() -> None:
    arm, link = models.ur5(), "tool0"
    truth = np.stack([smooth_motion(arm, 20, seed) for seed in range(2)], axis=1)
    done = solve_path(arm, Goal(link, arm.frame(truth, link)), rate=RATE)
    assert str(done) == "2 paths of 20 frames: 2 arrived everywhere, 2 continuous"
    for name in ("motion", "left", "reconfigurations", "worst_step", "why"):
        with pytest.raises(ValueError, match=r"use done\[i\]"):
            getattr(done, name)
    with pytest.raises(IndexError, match="a single path cannot be indexed"):
        done[0][0]
    with pytest.raises(IndexError, match=r"there are 2 paths: \[2\]"):
        done[2]
    assert len(list(done)) == 2


def test_frames_that_come_too_soon_after_one_out_of_reach_are_not_called_out_of_reach() -> None:
    arm = models.panda()
    angle = np.linspace(0, np.pi / 2, 60)
    position = np.stack([0.45 * np.cos(angle), 0.45 * np.sin(angle), np.full_like(angle, 0.35)], -1)
    position[30] = [5, 0, 0]
    done = solve_path(arm, Goal("panda_hand_tcp", Frame.at(position, Frame.rpy(np.pi, 0, 0))), rate=10)
    assert done.why.startswith("frame 30 (3 s): panda_hand_tcp is out of reach by 4")
    assert "frames 30" not in done.why
    away = solve_path(arm, Goal("panda_hand_tcp", position=[[0.5 + 0.05 * k, 0, 0.3] for k in range(30)]), rate=10)
    assert "is out of reach by up to 1" in away.why
