"""Several end effectors of the human figure: met together or, where that cannot be, by their priorities."""

import numpy as np

from supple import Goal, Solver, models, prefer, solve

HUMAN = models.human()


def sets_of_five(count, seed):
    q = HUMAN.random(count, seed=seed)
    frames = HUMAN.frames(q)
    ahead = frames["head"].apply(np.array([2.0, 0, 0]))
    feet = [Goal(f"{side}_foot", frames[f"{side}_foot"]) for side in ("left", "right")]
    hands = [Goal(f"{side}_hand", position=frames[f"{side}_hand"].position) for side in ("left", "right")]
    return [*feet, *hands, Goal("head", axis=[1, 0, 0], look_at=ahead)]


def test_sets_of_five_goals_that_a_pose_meets_are_met_within_limits():
    found = solve(HUMAN, sets_of_five(400, 7), progress=False)
    assert found.arrived.mean() >= 0.995
    assert np.abs(HUMAN.clamp(found.q) - found.q).max() < 1e-9


def test_ball_joints_at_their_limits_do_not_stop_the_descent_from_the_first_seed():
    q = HUMAN.random(300, seed=8)
    frames = HUMAN.frames(q)
    ends = ("left_hand", "right_hand", "left_foot", "right_foot", "head")
    found = solve(HUMAN, [Goal(link, frames[link]) for link in ends], progress=False)
    assert found.arrived.all()
    assert (found.starts == 1).mean() > 0.6
    assert (solve(HUMAN, sets_of_five(300, 8), progress=False).starts == 1).mean() > 0.9


def standing():
    rest = HUMAN.frames(HUMAN.rest)
    feet = [Goal(f"{side}_foot", rest[f"{side}_foot"]) for side in ("left", "right")]
    return feet, rest["right_hand"].position


def test_pinned_feet_stay_where_the_hand_cannot_reach():
    feet, _ = standing()
    far = Goal("right_hand", position=[3.0, -0.5, 1.2], priority=1)
    found = solve(HUMAN, [*feet, far], HUMAN.rest)
    assert not found.arrived
    assert found.distance[:2].max() < 1e-5
    hand = HUMAN.frame(found.q, "right_hand").position
    assert hand[0] > 0.5  # it does its best
    assert np.abs(HUMAN.clamp(found.q) - found.q).max() < 1e-9


def test_a_hand_whose_goal_moves_past_reach_and_back_does_not_chatter():
    feet, hand = standing()
    tracker = Solver().track(HUMAN, [*feet, Goal("right_hand", position=hand, priority=1)], HUMAN.rest)
    q, dt = [], 1 / 120
    for i in range(720):
        reach = np.add(hand, [1.6 * np.sin(np.pi * i / 720) ** 2, 0, 0.3 * np.sin(np.pi * i / 720)])
        step = tracker.step([*feet, Goal("right_hand", position=reach, priority=1)], dt)
        q.append(step.q)
    q = np.array(q)
    for side, goal in zip(("left", "right"), feet, strict=True):
        assert np.linalg.norm(HUMAN.frame(q, f"{side}_foot").position - goal.position, axis=-1).max() < 5e-3
    changes = HUMAN.difference(q[:-1], q[1:])
    turns = np.sum((changes[1:] * changes[:-1] < 0) & (np.abs(changes[1:]) > 1e-4), axis=0)
    assert turns.max() < 25  # a joint that chatters turns back in every tick
    assert np.abs(HUMAN.clamp(q) - q).max() < 1e-9


def test_feet_stay_while_ball_joints_slide_along_their_limits():
    rest = HUMAN.frames(HUMAN.rest)
    feet, hand = standing()[0], rest["left_hand"].position
    tracker = Solver().track(HUMAN, [*feet, Goal("left_hand", position=hand, priority=1)], HUMAN.rest)
    for i in range(340):
        there = np.add(hand, np.sin(np.pi * i / 340) ** 2 * np.array([0.09, -0.97, -0.54]))
        step = tracker.step([*feet, Goal("left_hand", position=there, priority=1)], 1 / 125)
        assert step.distance[:2].max() < 1e-3
        assert np.abs(HUMAN.clamp(step.q) - step.q).max() < 1e-9


def test_a_posture_preference_makes_a_reach_more_natural():
    feet, hand = standing()
    goals = [*feet, Goal("right_hand", position=np.add(hand, [0.3, 0.1, 0.2]))]
    start = HUMAN.clamp(HUMAN.integrate(HUMAN.rest, 0.3 * np.random.default_rng(0).normal(size=HUMAN.dof)))
    plain = solve(HUMAN, goals, start)
    natural = Solver(prefer=prefer.rest(HUMAN.rest)).solve(HUMAN, goals, start)
    away = [np.linalg.norm(HUMAN.difference(HUMAN.rest, found.q)) for found in (plain, natural)]
    assert plain.arrived
    assert natural.arrived
    assert away[1] < 0.8 * away[0]
