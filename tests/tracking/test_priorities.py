"""Priorities, position before orientation on arms with few joints, and preferences in the null space."""

import numpy as np
import pytest

import supple
from quick import first_is_quick
from supple import Frame, Goal, Solver, TrackingStatus, prefer

RATE = 300


def smooth(u):
    u = np.clip(u, 0, 1)
    return u**3 * (10 + u * (6 * u - 15))


@pytest.mark.parametrize("seed", first_is_quick(list(range(12))))
@pytest.mark.parametrize("name", ["g1", "baxter"])
def test_a_later_goal_does_not_move_an_earlier_one(name, seed):
    figure = getattr(supple.models, name)()
    hands = {"g1": ["left_rubber_hand", "right_rubber_hand"], "baxter": ["left_gripper", "right_gripper"]}[name]
    rng = np.random.default_rng(seed)
    middle, half = 0.5 * (figure.lower + figure.upper), 0.15 * (figure.upper - figure.lower)
    start = np.where(np.isfinite(half), rng.uniform(middle - half, middle + half), 0)
    first, second = (figure.frame(start, hand) for hand in hands)
    goals = [Goal(hand, np.eye(4), priority=k) for k, hand in enumerate(hands)]
    tracker = Solver().track(figure, goals, start=start)
    way = rng.normal(size=3)
    way *= rng.uniform(0.3, 0.9) / np.linalg.norm(way)
    for tick in range(5 * RATE):
        step = tracker.step([first, Frame.at(smooth(tick / (2 * RATE)) * way) @ second], 1 / RATE)
        assert step.distance[0] < 1e-3
        assert step.angle[0] < np.radians(0.5)
    assert np.abs(step.velocity).max() < 1e-6


@pytest.mark.parametrize("trial", first_is_quick([1, 2, 11]))
@pytest.mark.parametrize(("name", "elbow"), [("iiwa14", "link_4"), ("panda", "panda_link4")])
def test_an_elbow_that_swings_does_not_move_the_hand(name, elbow, trial):
    """Also near singularities of the hand, and where the elbow's command is faster than the arm."""
    arm, rng = getattr(supple.models, name)(), np.random.default_rng([7, trial])
    hand = {"iiwa14": "tool0", "panda": "panda_hand_tcp"}[name]
    middle, half = 0.5 * (arm.lower + arm.upper), 0.3 * (arm.upper - arm.lower)
    start, way = rng.uniform(middle - half, middle + half), rng.normal(size=3)
    way *= rng.uniform(0.2, 0.5) / np.linalg.norm(way)
    here, place, hertz = arm.frame(start, hand), arm.frame(start, elbow).position, rng.uniform(0.3, 1.0)
    goals = [Goal(hand, np.eye(4)), Goal(elbow, position=place, priority=1)]
    tracker = Solver().track(arm, goals, start=start)
    for tick in range(4 * RATE):
        t = tick / RATE
        there = Goal(elbow, position=place + smooth(t) * np.sin(2 * np.pi * hertz * t) * way, priority=1)
        step = tracker.step([here, there], 1 / RATE)
        assert step.distance[0] < 1e-3
        assert step.angle[0] < np.radians(0.5)


def test_the_reason_names_the_goal_that_gives_way():
    baxter = supple.models.baxter()
    arm = ["left_gripper"]
    here = baxter.frame(baxter.rest, arm[0])
    elbow = "left_lower_elbow" if "left_lower_elbow" in [link.name for link in baxter.links] else baxter.links[-3].name
    goals = [Goal(arm[0], here), Goal(elbow, position=baxter.frame(baxter.rest, elbow).position, priority=1)]
    tracker = Solver().track(baxter, goals, start=baxter.rest)
    away = Goal(elbow, position=(Frame.at([0, 0, 0.1]) @ baxter.frame(baxter.rest, elbow)).position, priority=1)
    for _ in range(900):
        step = tracker.step([goals[0], away], 1 / RATE)
    assert step.distance[0] < 1e-4
    assert step.status is TrackingStatus.YIELDING
    assert step.why


@pytest.mark.parametrize("seed", first_is_quick(list(range(10))))
def test_five_joints_keep_the_position_while_the_wrist_turns(seed):
    arm = supple.models.so101()
    link, rng = arm.tips[0], np.random.default_rng(seed)
    link = "gripper_frame_link" if "gripper_frame_link" in [one.name for one in arm.links] else link
    middle, half = 0.5 * (arm.lower + arm.upper), 0.3 * (arm.upper - arm.lower)
    start = rng.uniform(middle - half, middle + half)
    here, axis = arm.frame(start, link).matrix, rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    tracker = Solver().track(arm, link, start=start)
    for tick in range(4 * RATE):
        command = here.copy()
        command[:3, :3] = Frame.turn(axis, 0.8 * smooth(tick / (2 * RATE))).matrix[:3, :3] @ here[:3, :3]
        step = tracker.step(command, 1 / RATE)
        assert step.distance[0] < 1e-3
    assert np.abs(step.velocity).max() < 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_a_preference_moves_the_null_space_alone(seed):
    arm, link = supple.models.panda(), "panda_hand_tcp"
    start = arm.clamp(arm.rest + np.random.default_rng(seed).uniform(-0.4, 0.4, arm.dof))
    here, wanted = arm.frame(start, link), arm.clamp(arm.rest + 0.5)
    tracker = Solver(prefer=prefer.rest(wanted)).track(arm, link, start=start)
    steps = [tracker.step(here, 1 / RATE) for _ in range(5 * RATE)]
    assert max(float(step.distance[0]) for step in steps) < 1e-5
    q = steps[-1].q
    null = np.linalg.svd(arm.jacobian(q, link)[:, :7])[2][-1]
    assert abs(null @ (wanted - q)[:7]) < 1e-3 * np.linalg.norm(wanted - start)  # nothing is left to gain
    assert np.linalg.norm(q - wanted) < np.linalg.norm(start - wanted)
    assert np.abs(steps[-1].velocity).max() < 1e-6


def test_replay_with_a_preference_is_step_by_step():
    arm, link = supple.models.panda(), "panda_hand_tcp"
    frames = np.stack([Frame.at([0, 0.0005 * k, 0]).matrix @ arm.frame(arm.rest, link).matrix for k in range(50)])
    solver = Solver(prefer=prefer.centre())
    one, other = solver.track(arm, link), solver.track(arm, link)
    q, _ = one.replay(frames, 1 / RATE)
    assert (q == np.array([other.step(frame, 1 / RATE).q for frame in frames])).all()


def test_a_light_position_is_not_called_out_of_reach():
    arm = supple.models.ur5()
    tool = arm.frame(arm.rest, "tool0")
    tracker = Solver().track(arm, Goal("tool0", np.eye(4), weight=0.01))
    for tick in range(900):
        step = tracker.step(Frame.at([0, 0.3 * smooth(tick / 300), 0]) @ Frame.turn([1, 0, 0], 0.0) @ tool, 1 / RATE)
    assert "out of reach" not in step.why


def first_errors(linkage, first, second, start, ticks=900):
    """The largest error of the first goal while the second pulls, and the last step."""
    tracker = Solver().track(linkage, [first, second], start=start)
    steps = [tracker.step([first, second], 1 / RATE) for _ in range(ticks)]
    return max(float(step.distance[0]) for step in steps), max(float(step.angle[0]) for step in steps), steps[-1]


@pytest.mark.parametrize("slack", [0.0, 1e-3, 0.05])
@pytest.mark.parametrize("kind", ["look", "cone", "line"])
def test_slack_of_an_earlier_goal_lets_no_later_one_in(kind, slack):
    arm, link = supple.models.panda(), "panda_hand_tcp"
    here = arm.frame(arm.rest, link)
    first = {
        "look": lambda: Goal(link, axis=[0, 0, 1], look_at=(here @ Frame.at([0, 0, 0.5])).position, turn_slack=slack),
        "cone": lambda: Goal(link, axis=[0, 0, 1], direction=here.rotation[:, 2], turn_slack=slack),
        "line": lambda: Goal(link, position=here.position, line=[0, 0, 1], slack=slack),
    }[kind]()
    second = Goal(link, position=here.position + np.array([0.0, 0.1, 0.05]), priority=1)
    distance, angle, step = first_errors(arm, first, second, arm.rest)
    assert distance < 1e-4
    assert angle < 1e-4
    assert np.abs(step.velocity).max() < 1e-6


def test_a_distance_out_of_reach_keeps_its_priority():
    arm = supple.models.ur5()
    for seed in range(4):
        start = arm.random(seed=seed)
        turned = Frame.turn([0, 1, 0], 1.0) @ arm.frame(start, "tool0")
        far = Goal("tool0", position=[2.5, 0.3, 0.4], distance=0.2)
        alone = Solver().track(arm, far, start=start)
        both = Solver().track(arm, [far, Goal("tool0", orientation=turned, priority=1)], start=start)
        for _ in range(6 * RATE):
            one, other = (
                alone.step(far, 1 / RATE),
                both.step([far, Goal("tool0", orientation=turned, priority=1)], 1 / RATE),
            )
        assert other.distance[0] < one.distance[0] + 2e-3


@pytest.mark.parametrize("name", ["ur5", "panda", "iiwa14"])
def test_after_a_jump_that_turns_far_the_end_effector_keeps_its_place(name):
    arm = getattr(supple.models, name)()
    link, away = {"panda": "panda_hand_tcp"}.get(name, arm.tips[0]), []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        middle, half = 0.5 * (arm.lower + arm.upper), 0.3 * (arm.upper - arm.lower)
        start = rng.uniform(middle - half, middle + half)
        axis = rng.normal(size=3)
        here = arm.frame(start, link).matrix
        command = here.copy()
        command[:3, :3] = Frame.turn(axis / np.linalg.norm(axis), rng.uniform(1, 3)).matrix[:3, :3] @ here[:3, :3]
        tracker = Solver().track(arm, link, start=start)
        tracker.step(here, 1 / RATE)
        steps = [tracker.step(command, 1 / RATE) for _ in range(4 * RATE)]
        free = [float(step.distance[0]) for step in steps if step.status is not TrackingStatus.RETURNING]
        away.append(max(free) > 0.02)
        assert np.abs(steps[-1].velocity).max() < 1e-6 or steps[-1].status is TrackingStatus.RETURNING
    assert sum(away) <= 1
