"""Laws of a solve with a start: its solution is the nearest of all within limits, in 99 of 100 solves."""

import math

import numpy as np
import pytest

from supple import Goal, Joint, Linkage, Outcome, Solver, method, models, solve
from supple.errors import BadInput
from supple.frame import Frame

SAME = 1e-3  # rad
FIRST_FOUND = Solver(method=method.search(nearest=False))
HANDS = {"ur5": "tool0", "puma560": "tool", "kraft": "tool", "panda": "panda_hand_tcp", "iiwa14": "tool0"}


def pairs(arm, count, seed, way=None):
    """Starts and the joint values of goals (count, dof), anywhere or at most ``way`` rad apart."""
    rng = np.random.default_rng(seed)
    start, end = arm.random(count, seed=seed), arm.random(count, seed=seed + 1)
    if way is not None:
        step = rng.normal(size=start.shape)
        step *= rng.uniform(0.02, way, (count, 1)) / np.linalg.norm(step, axis=1, keepdims=True)
        end = arm.clamp(start + step)
    return start, end


def unwound(arm, q, start):
    """q with joints of a whole turn or more moved by turns, as near to the start as limits allow."""
    x = q + math.tau * np.round((start - q) / math.tau)
    x = np.where(x < arm.lower, x + math.tau, x)
    x = np.where(x > arm.upper, x - math.tau, x)
    return np.where((arm.upper - arm.lower >= math.tau) & arm.inside(x, 1e-12)[..., None], x, q)


def least_distance(arm, link, frame, start, rng, starts=600):
    """Of the nearest solution that many starts lead to."""
    begin = arm.random(starts, seed=int(rng.integers(1 << 30)))
    near = start + rng.normal(size=(starts // 2, arm.dof)) * rng.uniform(0, 1, (starts // 2, 1))
    begin[: starts // 2] = arm.clamp(near)
    found = FIRST_FOUND.solve(arm, Goal(link, np.broadcast_to(frame, (starts, 4, 4))), begin)
    return np.linalg.norm(unwound(arm, found.q[found.arrived], start) - start, axis=1).min()


@pytest.mark.parametrize("way", [None, 0.3])
@pytest.mark.parametrize("name", ["ur5", "puma560", "kraft"])
def test_of_all_branches_the_nearest_to_the_start_is_found(name, way):
    arm, link, rng = models.get(name), HANDS[name], np.random.default_rng(7)
    start, end = pairs(arm, 200, 11, way)
    frames = arm.frame(end, link).matrix
    found = solve(arm, Goal(link, frames), start)
    assert found.arrived.all()
    truth = np.array([least_distance(arm, link, frame, s, rng) for frame, s in zip(frames, start, strict=True)])
    farther = np.linalg.norm(found.q - start, axis=1) > truth + SAME
    assert farther.mean() <= 0.01, f"{farther.sum()} of {farther.size} have a nearer solution"


@pytest.mark.parametrize("name", ["panda", "iiwa14"])
def test_a_redundant_arm_has_no_nearer_solution_beside_the_one_found(name):
    """Along the null space the distance does not fall: its slope is zero, or a limit is in the way."""
    arm, link = models.get(name), HANDS[name]
    used = np.abs(arm.jacobian(arm.random(seed=1), link)).max(axis=0) > 0
    start, end = pairs(arm, 200, 21)
    found = solve(arm, Goal(link, arm.frame(end, link)), start)
    assert found.arrived.all()
    bad = 0
    for q, s in zip(found.q, start, strict=True):
        null = np.linalg.svd(arm.jacobian(q, link)[:, used])[2][-1]
        slope = float(null @ (s - q)[used])
        direction = np.sign(slope) * null
        at = ((q <= arm.lower + 1e-6)[used] & (direction < 0)) | ((q >= arm.upper - 1e-6)[used] & (direction > 0))
        bad += slope**2 / 2 > 2 * SAME * np.linalg.norm(s - q) and not at.any()
    assert bad <= 2


@pytest.mark.parametrize("name", HANDS)
def test_it_is_no_farther_than_the_nearest_of_the_first_seeds(name):
    arm, link = models.get(name), HANDS[name]
    start, end = pairs(arm, 300, 31)
    goal = Goal(link, arm.frame(end, link))
    near, first = solve(arm, goal, start), FIRST_FOUND.solve(arm, goal, start)
    both = near.arrived & first.arrived
    assert both.all()
    farther = np.linalg.norm(near.q - start, axis=1) > np.linalg.norm(first.q - start, axis=1) + SAME
    assert farther.mean() <= 0.005


def test_both_hands_are_nearer_than_the_first_seeds_lead():
    arm, hands = models.baxter(), ("left_gripper", "right_gripper")
    start, end = pairs(arm, 60, 41)
    goals = [Goal(hand, arm.frame(end, hand)) for hand in hands]
    near, first = solve(arm, goals, start), FIRST_FOUND.solve(arm, goals, start)
    gain = np.linalg.norm(first.q - start, axis=1) - np.linalg.norm(near.q - start, axis=1)
    assert near.arrived.all()
    assert (gain > -SAME).all()
    assert (gain > SAME).mean() > 0.4


def test_of_two_links_the_nearer_elbow_is_found():
    """The closed form: both elbows, each with its whole turns within limits."""
    joints = [
        Joint.revolute("a", "base", "b", lower=-2.5 * math.pi, upper=2.5 * math.pi),
        Joint.revolute("c", "b", "d", at=Frame.at([1, 0, 0]), lower=-2, upper=2),
        Joint.fixed("e", "d", "tip", at=Frame.at([0.8, 0, 0])),
    ]
    arm = Linkage("two", joints)
    start, end = pairs(arm, 500, 51)
    position = arm.frame(end, "tip").position
    found = solve(arm, Goal("tip", position=position, weight=(1, 1, 0)), start)
    assert found.arrived.all()
    x, y = position[:, 0], position[:, 1]
    bend = np.arccos(np.clip((x**2 + y**2 - 1.64) / 1.6, -1, 1))
    ways = []
    for elbow in (bend, -bend):
        first = np.arctan2(y, x) - np.arctan2(0.8 * np.sin(elbow), 1 + 0.8 * np.cos(elbow))
        for turns in range(-2, 3):
            q = np.stack([first + math.tau * turns, elbow], axis=1)
            ways.append(np.where(arm.inside(q, 1e-9), np.linalg.norm(q - start, axis=1), np.inf))
    farther = np.linalg.norm(found.q - start, axis=1) > np.min(ways, axis=0) + SAME
    assert farther.mean() <= 0.01


def seven_joints(seed):
    """Each axis at a right angle to the one before, with offsets; every second joint has a range of two turns."""
    rng, joints = np.random.default_rng(seed), []
    for i in range(7):
        quarter = Frame.rotvec([(math.pi / 2 if rng.random() < 0.5 else -math.pi / 2) if i else 0, 0, 0])
        at = Frame.at(rng.uniform(-0.1, 0.1, 3) + np.array([0, 0, 0.3 * (i % 2 == 0)])) @ quarter
        low, high = (-math.tau, math.tau) if i % 2 == 0 else (-rng.uniform(0.2, 2.3), rng.uniform(1.5, 3))
        joints.append(Joint.revolute(f"j{i}", f"l{i}", f"l{i + 1}", at=at, axis=(0, 0, 1), lower=low, upper=high))
    return Linkage("seven", [*joints, Joint.fixed("end", "l7", "tip", at=Frame.at([0, 0, 0.1]))])


def test_it_is_found_at_a_limit_of_a_range_of_two_turns():
    """From starts less than 1 rad from such limits, no farther than the joint values that the goal is made of."""
    farther = []
    for seed in range(3):
        arm, rng = seven_joints(seed), np.random.default_rng(100 + seed)
        start = rng.uniform(arm.lower, arm.upper, (1000, 7))
        start[:, ::2] = rng.choice([-1, 1], (1000, 4)) * (math.tau - rng.uniform(0, 1, (1000, 4)))
        step = rng.normal(size=start.shape)
        step *= rng.uniform(1, 4, (1000, 1)) / np.linalg.norm(step, axis=1, keepdims=True)
        end = arm.clamp(start + step)
        found = solve(arm, Goal("tip", arm.frame(end, "tip")), start)
        assert found.arrived.all()
        farther.append(np.linalg.norm(found.q - start, axis=1) > np.linalg.norm(end - start, axis=1) + SAME)
    assert np.mean(farther) <= 0.012


def test_without_a_start_it_makes_no_difference():
    arm = models.panda()
    goal = Goal("panda_hand_tcp", arm.frame(arm.random(200, seed=3), "panda_hand_tcp"))
    assert solve(arm, goal).q.tobytes() == FIRST_FOUND.solve(arm, goal).q.tobytes()


@pytest.mark.parametrize("budget", [0, 8, 40, 200, 1000])
def test_the_budget_holds_for_the_nearest_too(budget):
    arm = models.panda()
    start, end = pairs(arm, 100, 61)
    found = solve(arm, Goal("panda_hand_tcp", arm.frame(end, "panda_hand_tcp")), start, max_iterations=budget)
    assert (found.iterations <= budget).all()
    assert set(found.outcomes.tolist()) <= {Outcome.ARRIVED.value, Outcome.OUT_OF_BUDGET.value}


def test_nearest_is_a_choice_that_is_written_and_read():
    for chosen in (method.search(), method.search(nearest=False)):
        assert method.Method.from_dict(chosen.to_dict()) == chosen
        assert eval(repr(chosen), {"method": method}) == chosen
    with pytest.raises(BadInput, match="nearest must be True or False"):
        method.search(nearest=1)
