"""Tracker and Step as their user meets them: shapes, words, what is refused, and what happens when things go wrong."""

import copy
import math
import pickle

import numpy as np
import pytest

from random_commands import moving_tree
from supple import Frame, Goal, Joint, Linkage, Solver, Tolerance, damping, method, models
from supple.errors import BadInput, UnknownName
from supple.step import TrackingStatus

UR5, TOOL = models.ur5(), "tool0"
START = np.array([0.0, -1.2, 1.5, -1.0, -1.2, 0.3])
HERE = UR5.frame(START, TOOL)
BAXTER, HANDS = models.baxter(), ["left_gripper", "right_gripper"]
SIDES = {"s0": 0.3, "s1": -0.6, "e0": 0.2, "e1": 1.5, "w0": 0.1, "w1": 0.8, "w2": 0.2}
BOTH = BAXTER.q({f"{side}_{name}": value for side in ("left", "right") for name, value in SIDES.items()})
RATE = 300
DT = 1 / RATE


def tracker(start=START, **options):
    return Solver().track(UR5, TOOL, start, **options)


def shifted(*way, frame=HERE):
    """A frame, moved."""
    return Frame.at(frame.position + way, frame.rotation)


def settle(follow, goal, seconds=2.0):
    """The last of many steps towards a goal that stands still."""
    for _ in range(round(seconds * RATE)):
        step = follow.step(goal, DT)
    return step


# -- what a step says -----------------------------------------------------------------------------------------------


def test_a_step_of_one_arm_has_a_value_for_each_joint_and_six_for_each_goal():
    step = tracker().step(HERE, DT)
    for name in ("q", "velocity", "joint_weights", "sides"):
        assert getattr(step, name).shape == (6,)
    assert step.error.shape == (1, 6)
    assert step.goal.shape == (1, 12)
    assert step.distance.shape == step.angle.shape == (1,)
    assert step.status is TrackingStatus.FOLLOWING
    assert (step.damping, step.lag, step.why, step.at_bounds) == (0.0, 0.0, "", ())
    assert np.array_equal(step.q, START)
    assert not step.velocity.any()
    assert step.joint_weights.tolist() == [1.0] * 6


def test_a_step_of_many_arms_has_their_leading_axis_and_each_can_be_taken():
    many = tracker(np.stack([START, START + 0.1, START]))
    goals = np.stack([HERE.matrix, HERE.matrix, np.full((4, 4), math.nan)])
    step = many.step(goals, DT)
    assert (len(many), len(step)) == (3, 3)
    assert step.q.shape == step.velocity.shape == step.joint_weights.shape == step.sides.shape == (3, 6)
    assert step.error.shape == (3, 1, 6)
    assert step.goal.shape == (3, 1, 12)
    assert step.damping.shape == step.lag.shape == (3,)
    wanted = [TrackingStatus.FOLLOWING, TrackingStatus.LAGGING, TrackingStatus.HELD]
    assert [TrackingStatus(value) for value in step.statuses] == wanted
    with pytest.raises(ValueError, match=r"for many arms, use step\[i\]\.status"):
        _ = step.status
    assert str(step) == "3 arms: 1 following, 1 lagging, 1 held"
    assert step[1].status is TrackingStatus.LAGGING
    assert np.array_equal(step[1].q, step.q[1])
    assert step[-1].why.startswith("held")
    for name in ("why", "at_bounds"):
        with pytest.raises(ValueError, match=rf"for many arms, use step\[i\].{name}"):
            getattr(step, name)
    with pytest.raises(IndexError):
        step[3]
    for single in (step[0], tracker()):
        with pytest.raises(TypeError, match="single arm has no length"):
            len(single)
    with pytest.raises(IndexError, match="single arm"):
        step[0][0]


def test_velocity_is_the_change_of_q_and_error_is_goal_minus_end_effector():
    follow, before = tracker(), START
    for k in range(60):
        goal = shifted(1e-3 * k, -2e-3 * k, 5e-4 * k)
        step = follow.step(goal, DT)
        assert (step.q - before) / DT == pytest.approx(step.velocity, abs=1e-12)
        hand = UR5.frame(step.q, TOOL)
        followed = step.goal[0]
        assert step.error[0, :3] == pytest.approx(followed[9:] - hand.position, abs=1e-12)
        off = Frame.at([0, 0, 0], followed[:9].reshape(3, 3)) @ Frame.at([0, 0, 0], hand.rotation).inverse()
        assert step.error[0, 3:] == pytest.approx(off.to_rotvec(), abs=1e-9)
        assert step.distance[0] == pytest.approx(np.linalg.norm(step.error[0, :3]))
        before = step.q.copy()


def test_trackers_and_steps_are_sentences():
    follow = tracker()
    assert repr(follow) == "<Tracker of ur5: 'tool0'>"
    assert repr(Solver().track(BAXTER, HANDS)) == "<Tracker of baxter: 'left_gripper', 'right_gripper'>"
    step = follow.step(shifted(0.3, 0, 0), DT)
    assert str(step).startswith("lagging, ")
    assert str(step).endswith(step.why)
    assert repr(step) == f"<Step: {step}>"
    assert str(settle(follow, HERE)).startswith("following, ")


# -- outcomes and their reasons -------------------------------------------------------------------------------------


def test_a_goal_out_of_reach_is_yielded_to_and_the_reason_tells_how_far_and_which_way():
    step = settle(tracker(), shifted(2, 0, 0), 4)
    assert step.status is TrackingStatus.YIELDING
    far = float(step.why.split("out of reach by ")[1].split(" m")[0])
    beyond = np.linalg.norm(step.goal[0, 9:]) - UR5.reach(TOOL)  # from about the middle of its base
    assert far == pytest.approx(beyond, abs=0.2)
    assert "tool0 is out of reach" in step.why
    assert "along +x" in step.why


def test_a_jump_is_caught_up_with_and_the_reason_names_what_is_too_slow():
    follow = tracker()
    step = follow.step(HERE, DT)
    reasons = set()
    for _ in range(100):
        step = follow.step(shifted(-0.2, 0.3, 0), DT)
        if step.status is TrackingStatus.LAGGING:
            reasons.add(step.why)
            for name in step.at_bounds:
                assert name in UR5.names
    assert any("at its acceleration limit" in why for why in reasons)
    assert settle(follow, shifted(-0.2, 0.3, 0)).status is TrackingStatus.FOLLOWING


def test_a_joint_at_its_limit_is_named():
    arm = Linkage(
        "short",
        [
            Joint.revolute("shoulder", "base", "upper", lower=-0.5, upper=0.5, speed=2),
            Joint.revolute("elbow", "upper", "fore", at=Frame.at([0.4, 0, 0]), lower=0.2, upper=2, speed=2),
            Joint.fixed("end", "fore", "tip", at=Frame.at([0.3, 0, 0])),
        ],
    )
    follow = Solver().track(arm, Goal("tip", position=[0, 0, 0], weight=(1, 1, 0)), [0.0, 1.0])
    there = Frame.at([-0.1, 0.5, 0.0])
    step = settle(follow, there)
    assert step.status is TrackingStatus.YIELDING
    assert step.q[0] == pytest.approx(0.5, abs=1e-6)
    assert "shoulder at its upper limit" in step.why
    assert "shoulder" in step.at_bounds
    assert step.joint_weights[0] == 0
    assert (arm.lower <= step.q).all()
    assert (step.q <= arm.upper).all()
    assert np.abs(step.velocity).max() <= 1e-6


def test_weights_lie_between_none_and_all_and_fall_where_a_joint_swings():
    follow, least = tracker(), 1.0
    for k in range(900):  # out through full stretch and beyond
        step = follow.step(shifted(0.6 * min(k / 600, 1), 0, 0.1), DT)
        assert (step.joint_weights >= 0).all()
        assert (step.joint_weights <= 1).all()
        assert step.damping >= 0
        assert (step.damping == 0) or (step.joint_weights < 1).any()
        least = min(least, step.joint_weights.min())
    assert least < 1


def test_tolerance_decides_what_is_following():
    for near, state in (
        (Tolerance(1.0, 1.0), TrackingStatus.FOLLOWING),
        (Tolerance(1e-9, 1e-9), TrackingStatus.LAGGING),
    ):
        follow = tracker(tolerance=near)
        follow.step(HERE, DT)
        assert follow.step(shifted(0.02, 0, 0), DT).status is state


# -- when nothing sound is asked ------------------------------------------------------------------------------------

NONSENSE = {
    "nan": lambda m: m * math.nan,
    "one nan": lambda m: np.where(np.arange(16).reshape(4, 4) == 7, math.nan, m),
    "inf": lambda m: np.where(np.arange(16).reshape(4, 4) == 3, math.inf, m),
    "no rotation": lambda m: m * np.array([2, 2, 2, 1]),
    "mirrored": lambda m: m * np.array([-1, 1, 1, 1]),
    "zero": lambda m: 0 * m,
}


@pytest.mark.parametrize("kind", NONSENSE)
def test_what_is_no_frame_holds_the_arm_and_then_it_goes_on(kind):
    follow = tracker()
    for k in range(100):
        moving = follow.step(shifted(4e-4 * k, 0, 0), DT)
    assert np.abs(moving.velocity).max() > 0.05
    bad = NONSENSE[kind](shifted(0.04, 0, 0).matrix)
    for _ in range(60):
        held = follow.step(bad, DT)
        assert held.status is TrackingStatus.HELD
        assert held.why.startswith("held")
        assert np.isfinite(held.q).all()
    assert not held.velocity.any()
    assert np.array_equal(follow.step(bad, DT).q, held.q)
    assert settle(follow, shifted(0.05, 0, 0), 1.0).distance[0] < 1e-6


@pytest.mark.parametrize("size", [1e6, 1e30, 1e155, 1e300])
def test_a_goal_at_the_end_of_the_world_does_no_harm(size):
    follow = tracker()
    for way in ((1, 0, 0), (0.3, -0.4, 0.5), (0, 0, -1)):
        for _ in range(30):
            step = follow.step(Frame.at(size * np.array(way)), DT)
            assert np.isfinite(step.q).all()
            assert (np.abs(step.velocity) <= UR5.speed * (1 + 1e-12)).all()
    assert settle(follow, HERE, 4).distance[0] < 1e-6


def test_what_no_row_asks_for_may_be_anything():
    position = Solver().track(UR5, Goal(TOOL, position=[0, 0, 0]), START)
    turn = Solver().track(UR5, Goal(TOOL, orientation=Frame()), START)
    for k in range(100):
        goal = np.array(shifted(0.02 * (1 - math.cos(k / 60)), 0, 0).matrix)
        bare, aimed = goal.copy(), goal.copy()
        bare[:3, :3], aimed[:3, 3] = math.nan, math.nan
        placed, turned = position.step(bare, DT), turn.step(aimed, DT)
        assert placed.status is turned.status is TrackingStatus.FOLLOWING
        hand = UR5.frame(placed.q, TOOL).position
        assert k < 5 or np.linalg.norm(hand - goal[:3, 3]) < 1e-6


@pytest.mark.parametrize("dt", [0, 0.0, 5e-324, 1e-300, 1e-10, -0.01, math.nan, math.inf, -math.inf, 1e300])
def test_where_no_time_passes_nothing_moves(dt):
    follow = tracker()
    for k in range(50):
        before = follow.step(shifted(1e-3 * k, 0, 0), DT)
    for step in (follow.step(shifted(0.3, 0, 0), dt), follow.push([1, 0, 0, 0, 0, 0], dt)):
        assert step.status is TrackingStatus.HELD
        assert np.array_equal(step.q, before.q)
    after = follow.step(shifted(0.05, 0, 0), DT)
    assert np.abs(after.velocity - before.velocity).max() <= 15 * DT * (1 + 1e-12)


def test_after_a_long_pause_it_goes_on_as_if_the_pause_had_been_short():
    steps = [tracker().step(shifted(0.1, 0, 0), dt) for dt in (0.25, 0.26, 10.0, 1e6)]
    for step in steps[1:]:
        assert np.array_equal(step.q, steps[0].q)
        assert (np.abs(step.q - START) <= 15 * 0.25**2 * (1 + 1e-9)).all()


@pytest.mark.parametrize("stuck", [{"speed": 0.0}, {"acceleration": 0.0}])
@pytest.mark.parametrize("value", [-2.0, 0.0, 2.0, 2.5])
def test_a_joint_that_cannot_move_holds_up_no_other(stuck, value):
    joints = [
        Joint.revolute(
            f"j{i}", f"l{i}", f"l{i + 1}", at=Frame.at([0.3, 0, 0]), axis=np.eye(3)[i % 3], lower=-2, upper=2
        )
        if i != 1
        else Joint.revolute("j1", "l1", "l2", at=Frame.at([0.3, 0, 0]), axis=(0, 1, 0), lower=-2, upper=2, **stuck)
        for i in range(6)
    ]
    arm = Linkage("stiff", joints)
    start = np.array([0.1, value, 0.3, 0.2, 0.4, 0.1])
    there = start + 0.1 * (np.arange(6) != 1)
    step = settle(Solver().track(arm, "l6", start), arm.frame(there, "l6"))
    assert step.q[1] == value
    assert step.q == pytest.approx(there, abs=1e-6)


@pytest.mark.parametrize("weight", [1e-9, 1e-3, 1e3, 1e9])
def test_only_the_ratio_of_weights_counts(weight):
    there = UR5.frame(START + 0.1, TOOL)
    moved = []
    for size in (1.0, weight):
        follow = Solver().track(UR5, Goal(TOOL, HERE, weight=3 * size, turn_weight=size), START)
        moved.append(np.array([follow.step(there, DT).q for _ in range(100)]))
    assert np.abs(moved[0] - moved[1]).max() <= 1e-9


# -- pushing --------------------------------------------------------------------------------------------------------


def test_a_push_moves_the_end_effector_at_its_speed_and_nothing_else():
    follow = tracker()
    for twist, way, turn in (
        ((0.1, 0, 0, 0, 0, 0), (0.05, 0, 0), (0, 0, 0)),
        ((0, -0.1, 0.05, 0, 0, 0), (0, -0.05, 0.025), (0, 0, 0)),
        ((0, 0, 0, 0, 0, 0.4), (0, 0, 0), (0, 0, 0.2)),
    ):
        follow.reset(START)
        for _ in range(150):
            step = follow.push(twist, DT)
        for _ in range(60):  # and it stops when the push does
            step = follow.push(np.zeros(6), DT)
        assert step.status is TrackingStatus.FOLLOWING
        assert np.abs(step.velocity).max() <= 1e-4
        hand = UR5.frame(step.q, TOOL)
        assert hand.position - HERE.position == pytest.approx(np.array(way), abs=1e-3)
        off = Frame.at([0, 0, 0], hand.rotation) @ Frame.at([0, 0, 0], HERE.rotation).inverse()
        assert off.to_rotvec() == pytest.approx(np.array(turn), abs=2e-3)


def test_a_push_out_of_reach_turns_back_at_once():
    follow = tracker()
    for _ in range(1500):
        step = follow.push([0.5, 0, 0, 0, 0, 0], DT)
    assert step.status is TrackingStatus.YIELDING
    far = UR5.frame(step.q, TOOL).position[0]
    for _ in range(150):  # what was pushed beyond reach has not piled up
        step = follow.push([-0.2, 0, 0, 0, 0, 0], DT)
    assert UR5.frame(step.q, TOOL).position[0] < far - 0.02


def test_pushes_and_goals_take_turns_without_a_jump():
    follow, before = tracker(), np.zeros(6)
    rng = np.random.default_rng(0)
    for k in range(600):
        dt = float(10 ** rng.uniform(-4, -1.5))
        step = follow.push([0.2, 0, -0.1, 0, 0.3, 0], dt) if k // 40 % 2 else follow.step(shifted(0.1, 0, 0), dt)
        assert np.abs(step.velocity - before).max() <= 15 * dt * (1 + 1e-12) + 1e-14
        before = step.velocity.copy()


def test_pushes_have_a_row_for_each_goal_and_arm():
    one, two = tracker(), Solver().track(BAXTER, HANDS, BOTH)
    many = tracker(np.stack([START] * 4))
    both = Solver().track(BAXTER, HANDS, np.stack([BOTH] * 4))
    assert np.array_equal(one.push(np.ones(6), DT).q, tracker().push(np.ones((1, 6)), DT).q)
    assert two.push(np.ones((2, 6)), DT).error.shape == (2, 6)
    assert many.push(np.ones((4, 6)), DT).q.shape == (4, 6)
    assert many.push(np.ones((4, 1, 6)), DT).q.shape == (4, 6)
    assert both.push(np.ones((4, 2, 6)), DT).error.shape == (4, 2, 6)
    assert many.push(np.array([[math.nan] * 6] + [[0.0] * 6] * 3), DT).statuses[0] == TrackingStatus.HELD.value
    for follow, wrong in ((one, (5,)), (one, (2, 6)), (two, (6,)), (two, (3, 6)), (many, (6,)), (many, (3, 6))):
        with pytest.raises(BadInput, match="twist must have"):
            follow.push(np.zeros(wrong), DT)


# -- several goals, weights, memory ---------------------------------------------------------------------------------


def test_two_hands_are_followed_at_once():
    follow = Solver().track(BAXTER, HANDS, BOTH)
    frames = [BAXTER.frame(BOTH, hand) for hand in HANDS]
    for k in range(300):
        way = 0.03 * (1 - math.cos(k / 40))
        goals = [shifted(0, way, 0, frame=frames[0]), shifted(0, 0, -way, frame=frames[1])]
        step = follow.step(goals, DT)
        assert step.status is TrackingStatus.FOLLOWING
        for hand, goal in zip(HANDS, goals, strict=True):
            assert k < 5 or np.linalg.norm(BAXTER.frame(step.q, hand).position - goal.position) < 1e-5
    assert step.error.shape == (2, 6)
    assert step.goal.shape == (2, 12)
    arms = np.array([name.startswith(("left", "right")) for name in BAXTER.names])
    assert np.array_equal(step.q[~arms], BOTH[~arms])


@pytest.mark.parametrize("seed", range(8))
def test_frames_for_several_end_effectors_are_read_in_every_form(seed):
    rng = np.random.default_rng([seed, 14])
    linkage = moving_tree(seed, 6 + seed)
    links = [linkage.links[-1].name, linkage.joints[rng.integers(len(linkage.joints) - 1)].child]
    start = linkage.random(seed=seed)
    forms = {
        "frames": lambda frames: frames,
        "tuple": tuple,
        "arrays": lambda frames: [frame.matrix for frame in frames],
        "columns": lambda frames: [np.asfortranarray(frame.matrix) for frame in frames],
        "nested lists": lambda frames: [frame.matrix.tolist() for frame in frames],
        "goals": lambda frames: [Goal(link, frame) for link, frame in zip(links, frames, strict=True)],
    }
    trackers = {name: Solver().track(linkage, [Goal(link, HERE) for link in links], start) for name in forms}
    for _ in range(20):
        q = start + rng.normal(0, 0.01, start.shape)
        frames = [linkage.frame(q, link) for link in links]
        steps = [trackers[name].step(form(frames), DT) for name, form in forms.items()]
        for step in steps[1:]:
            assert np.array_equal(step.q, steps[0].q)
            assert np.array_equal(step.error, steps[0].error)
    broken = [frames[0].matrix, np.full((4, 4), math.nan)]
    assert trackers["arrays"].step(broken, DT).status is TrackingStatus.HELD
    for wrong in ([frames[0], np.eye(3)], [frames[0], "here"], [frames[0], Goal("nowhere", HERE)], frames[:1]):
        with pytest.raises(BadInput):
            trackers["frames"].step(wrong, DT)


def test_weights_may_change_from_tick_to_tick():
    far = shifted(0.6, 0, 0.2)
    follow, ends = tracker(), {}
    for turn_weight in (1.0, 0.05, 1.0):
        for _ in range(1200):
            step = follow.step(Goal(TOOL, far, turn_weight=turn_weight), DT)
        ends.setdefault(turn_weight, []).append((step.distance[0], step.angle[0]))
    (near, turned), (again, back) = ends[1.0]
    [(nearer, more_turned)] = ends[0.05]
    assert nearer < near - 1e-4
    assert more_turned > turned + 1e-3
    assert (again, back) == pytest.approx((near, turned), rel=1e-2)
    made = Solver().track(UR5, Goal(TOOL, HERE, turn_weight=0.05), START)
    assert settle(made, far, 4).distance[0] == pytest.approx(nearer, rel=1e-2)


def test_reset_begins_anew_as_a_new_tracker_does():
    follow = tracker()
    for k in range(200):
        follow.step(shifted(3e-3 * k, 0, 0), DT, measured=START)
        follow.push([0, 0, 1, 0, 0, 0], DT)
    start = START + 0.2
    follow.reset(start)
    new = tracker(start)
    for k in range(200):
        goal = shifted(3e-3 * k, 0, 0)
        assert np.array_equal(follow.step(goal, DT)._result, new.step(goal, DT)._result)


def test_a_replay_is_as_many_steps():
    frames = np.stack([shifted(1e-3 * k if k < 400 else 0.4, 0, 0).matrix for k in range(600)])
    frames[450] = math.nan
    follow = tracker()
    steps = [follow.step(frame, DT) for frame in frames]
    q, states = tracker().replay(frames, DT)
    assert np.array_equal(q, np.array([step.q for step in steps]))
    assert states.tolist() == [step.status.value for step in steps]
    stamps = np.arange(600) * DT
    follow = tracker()
    stamped = [follow.step(frame, DT, stamp=t) for frame, t in zip(frames, stamps.tolist(), strict=True)]
    assert np.array_equal(tracker().replay(frames, DT, stamps)[0], np.array([step.q for step in stamped]))


def test_a_frame_an_array_and_a_goal_ask_for_the_same():
    goals = (HERE, HERE.matrix, Goal(TOOL, HERE), [HERE], (HERE.matrix,), HERE.matrix.tolist(), Frame(HERE.matrix))
    steps = [tracker(START + 0.1).step(goal, DT)._result for goal in goals]
    for told in steps[1:]:
        assert np.array_equal(told, steps[0])


# -- the real arm and the command's own time ------------------------------------------------------------------------


def test_the_error_told_is_that_of_the_real_arm():
    real = START + 0.05
    step = tracker().step(HERE, DT, measured=real)
    assert step.error[0, :3] == pytest.approx(HERE.position - UR5.frame(real, TOOL).position, abs=1e-12)
    assert step.status is not TrackingStatus.FOLLOWING


def test_an_arm_that_is_blocked_is_waited_for():
    follow, blocked = tracker(), START.copy()
    for _ in range(900):
        step = follow.step(shifted(-0.4, 0.4, 0.2), DT, measured=blocked)
    ahead = np.abs(step.q - blocked).max()
    assert 0.1 < ahead < 0.5
    assert np.abs(step.velocity).max() <= 1e-3
    for _ in range(900):  # it lets go and catches up
        blocked = blocked + 0.2 * (step.q - blocked)
        step = follow.step(shifted(-0.4, 0.4, 0.2), DT, measured=blocked)
    assert step.status is TrackingStatus.FOLLOWING
    assert step.distance[0] < 1e-6


def test_an_arm_that_follows_a_little_behind_changes_nothing():
    plain, watched, real = tracker(), tracker(), START.copy()
    for k in range(300):
        goal = shifted(5e-4 * k, 0, 0)
        alone = plain.step(goal, DT)
        step = watched.step(goal, DT, measured=real)
        assert step.q == pytest.approx(alone.q, abs=1e-9)
        real = real + 0.3 * (step.q - real)


def test_a_real_joint_that_counts_its_turns_from_elsewhere_is_not_waited_for():
    arm = Linkage(
        "wheel and ball",
        [
            Joint.continuous("wheel", "base", "disc", speed=2),
            Joint.ball("ball", "disc", "rod", at=Frame.at([0.3, 0, 0]), speed=2),
            Joint.fixed("end", "rod", "tip", at=Frame.at([0.2, 0.1, 0])),
        ],
    )
    start = np.array([3.1, math.pi - 0.02, 0, 0])
    plain, watched = (Solver().track(arm, "tip", start) for _ in range(2))
    for k in range(300):
        goal = arm.frame(arm.integrate(start, [0.05 * (1 - math.cos(k / 60))] * 2 + [0, 0]), "tip")
        step = plain.step(goal, DT)
        turns = np.where(np.arange(4) == 0, step.q - 4 * math.pi, step.q)
        turns[1:] *= 1 - 2 * math.pi / np.linalg.norm(turns[1:])  # the same turn, the other way round
        assert watched.step(goal, DT, measured=turns).q == pytest.approx(step.q, abs=1e-9)


def test_measured_values_that_are_no_numbers_count_as_none():
    for bad in (np.full(6, math.nan), np.full(6, math.inf), np.where(np.arange(6) == 2, math.nan, START)):
        plain, watched = tracker(), tracker()
        for k in range(20):
            goal = shifted(1e-3 * k, 0, 0)
            assert np.array_equal(plain.step(goal, DT)._result, watched.step(goal, DT, measured=bad)._result)


def test_a_slow_stamped_command_is_smoothed_and_its_lag_is_told():
    follow, still = tracker(), tracker()
    lags, jolts, before = [], [], np.zeros(6)
    for k in range(900):
        t = k // 5 / 60  # sixty times a second
        goal = shifted(0.05 * math.sin(2 * t), 0.03 * (1 - math.cos(3 * t)), 0)
        step = follow.step(goal, DT, stamp=t)
        assert still.step(HERE, DT, stamp=k * DT).lag <= 0.025
        lags.append(step.lag)
        jolts.append(np.abs(step.velocity - before).max() / DT)
        before = step.velocity.copy()
    assert 0 < max(lags) <= 0.025
    assert max(jolts[300:]) < 5  # of 15: no sample is felt as a blow
    late = shifted(0.05 * math.sin(2 * (t - lags[-1])), 0.03 * (1 - math.cos(3 * (t - lags[-1]))), 0)
    assert np.linalg.norm(UR5.frame(step.q, TOOL).position - late.position) < 5e-3


def test_stamps_that_are_no_numbers_or_run_backwards_do_no_harm():
    follow = tracker()
    stamps = [0.0, 0.01, math.nan, -math.inf, math.inf, 0.005, -5.0, 1e300, 3, np.float64(2)]
    for k in range(300):
        step = follow.step(shifted(2e-4 * k, 0, 0), DT, stamp=stamps[k % len(stamps)])
        assert np.isfinite(step.q).all()
    assert settle(follow, shifted(0.06, 0, 0)).distance[0] < 1e-5


# -- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("links", "start", "options", "said"),
    [
        ([], START, {}, "at least one link"),
        (None, START, {}, "link"),
        (3, START, {}, "link"),
        ([TOOL, 3], START, {}, "link"),
        ("base", START, {}, "no joint moves"),
        (Goal(TOOL, Frame(np.stack([np.eye(4)] * 2))), START, {}, "single goals"),
        (TOOL, np.zeros(5), {}, r"shape \(..., 6\)"),
        (TOOL, np.zeros((2, 3, 6)), {}, "start must have shape"),
        (TOOL, np.full(6, math.nan), {}, "finite"),
        (TOOL, "rest", {}, "numbers"),
        (TOOL, START, {"acceleration": 0}, "positive"),
        (TOOL, START, {"acceleration": -1}, "positive"),
        (TOOL, START, {"acceleration": math.nan}, "finite"),
        (TOOL, START, {"acceleration": [1, 2]}, "one number or 6"),
        (TOOL, START, {"acceleration": "hard"}, "one number or 6"),
        (TOOL, START, {"jerk": 0}, "positive"),
        (TOOL, START, {"tolerance": 3}, "tolerance"),
    ],
)
def test_a_tracker_refuses_what_it_cannot_track(links, start, options, said):
    with pytest.raises(BadInput, match=said):
        Solver().track(UR5, links, start, **options)


def test_a_tracker_refuses_links_and_linkages_that_are_none():
    with pytest.raises(UnknownName, match="did you mean"):
        Solver().track(UR5, "tool1", START)
    with pytest.raises(BadInput, match="linkage"):
        Solver().track("ur5", TOOL)


@pytest.mark.parametrize(
    "goal",
    [
        None,
        "there",
        0,
        [],
        np.eye(3),
        np.eye(4)[:3],
        np.stack([np.eye(4)] * 2),
        [HERE, HERE],
        Frame(np.stack([np.eye(4)] * 2)),
        Goal(TOOL, Frame(np.stack([np.eye(4)] * 2))),
        Goal("wrist_3_link", HERE),
        Goal(TOOL, position=[0, 0, 0]),
        np.eye(4) * 1j,
    ],
    ids=str,
)
def test_a_step_refuses_what_cannot_be_a_goal(goal):
    follow = tracker()
    with pytest.raises(BadInput):
        follow.step(goal, DT)
    assert np.array_equal(follow.step(HERE, DT).q, START)


@pytest.mark.parametrize("dt", [None, "soon", [DT], np.array([DT, DT]), 1j])
def test_a_step_refuses_what_cannot_be_a_time(dt):
    for call in (lambda: tracker().step(HERE, dt), lambda: tracker().push(np.zeros(6), dt)):
        with pytest.raises(BadInput, match="dt"):
            call()
    with pytest.raises(BadInput, match="stamp"):
        tracker().step(HERE, DT, stamp="now")


def test_measured_and_reset_take_one_value_for_each_joint():
    for wrong in (np.zeros(5), np.zeros((2, 6)), "here"):
        with pytest.raises(BadInput, match="measured"):
            tracker().step(HERE, DT, measured=wrong)
        with pytest.raises(BadInput):
            tracker().reset(wrong)
    with pytest.raises(BadInput, match="finite"):
        tracker().reset(np.full(6, math.nan))
    for wrong in ("up", np.zeros(5), np.zeros((2, 6))):
        with pytest.raises(BadInput, match="twist"):
            tracker().push(wrong, DT)
    for wrong in (np.zeros((5, 3, 3)), np.zeros((5, 2, 4, 4)), "all"):
        with pytest.raises(BadInput):
            tracker().replay(wrong, DT)
    with pytest.raises(BadInput, match="single arm"):
        tracker(np.stack([START] * 2)).replay(np.stack([np.eye(4)] * 3), DT)


def test_a_direction_to_point_along_is_asked_for_with_a_goal():
    aim = Goal(TOOL, axis=[0, 0, 1], direction=[0, 0, -1])
    follow = Solver().track(UR5, aim, START)
    step = settle(follow, aim)
    assert step.status is TrackingStatus.FOLLOWING
    assert UR5.frame(step.q, TOOL).rotation[:, 2] == pytest.approx(np.array([0, 0, -1.0]), abs=1e-6)
    with pytest.raises(BadInput, match="axis and direction"):
        follow.step(HERE, DT)


def test_many_arms_follow_the_tracking_law_only():
    with pytest.raises(BadInput, match="many arms"):
        Solver(method=method.damped(), damping=damping.constant(1e-3)).track(UR5, TOOL, np.stack([START] * 2))


@pytest.mark.parametrize("single", [True, False])
def test_the_number_of_frames_is_that_of_the_end_effectors(single):
    arm = models.panda()
    frame = arm.frame(arm.rest, "panda_hand_tcp")
    if single:
        tracker, said = Solver().track(arm, "panda_hand_tcp"), "this tracker has 1 end effector; give one frame, got 2"
        wrong = [[frame, frame], np.stack([frame.matrix] * 2)]
    else:
        tracker = Solver().track(arm, ["panda_hand_tcp", "panda_leftfinger"])
        said, wrong = "this tracker has 2 end effectors; give a list of 2 frames, got 1", [frame, frame.matrix, [frame]]
    for goal in wrong:
        with pytest.raises(BadInput) as refused:
            tracker.step(goal, 0.01)
        assert str(refused.value) == said


@pytest.mark.parametrize("chosen", [Solver(), Solver(method=method.damped())], ids=["law", "damped"])
def test_a_step_that_is_held_names_its_cause(chosen):
    arm = models.panda()
    frame = arm.frame(arm.rest, "panda_hand_tcp")
    for goal, dt, said in (
        (frame, 0.0, "held: no time passed, dt is 0 s and must be at least 1e-06 s"),
        (frame, 1e-10, "held: no time passed, dt is 1e-10 s and must be at least 1e-06 s"),
        (frame, -1, "held: dt must be positive and less than 1e+09 s, it is -1"),
        (frame, math.nan, "held: dt must be positive and less than 1e+09 s, it is nan"),
        (frame, 1e9, "held: dt must be positive and less than 1e+09 s, it is 1e+09"),
        (frame.matrix * np.nan, 0.01, "held: the command is not finite, it has nan"),
        (
            frame.matrix @ np.diag([1.1, 1.1, 1.1, 1]),
            0.01,
            "held: the rotation of the command is not orthonormal, it is off by 0.21, more than the 0.02 that is "
            "corrected",
        ),
        (
            frame.matrix @ np.diag([1, 1, -1, 1]),
            0.01,
            "held: the rotation of the command is a reflection, its determinant is -1",
        ),
    ):
        step = chosen.track(arm, "panda_hand_tcp").step(goal, dt)
        assert step.status is TrackingStatus.HELD
        assert step.why == str(step) == said


def _in_single_precision(frame, rng):
    """The frame after a chain of 200 single-precision products that end where they began."""
    turns = Frame.rotvec(rng.normal(size=(100, 3))).matrix.astype(np.float32)
    whole = frame.astype(np.float32)
    for turn in (*turns, *np.swapaxes(turns[::-1], 1, 2)):
        whole = whole @ turn
    return whole.astype(float)


@pytest.mark.parametrize(
    ("change", "most"),
    [
        (lambda frame, rng: np.round(frame, 6), 2e-6),
        (lambda frame, rng: np.round(frame, 3), 2e-3),
        (_in_single_precision, 1e-4),
        (lambda frame, rng: frame @ np.diag([1.009, 0.992, 1.005, 1]), 1e-9),
    ],
    ids=["6 decimals", "3 decimals", "float32 products", "stretched by 1 %"],
)
def test_a_frame_within_a_hundredth_of_a_rotation_is_followed(change, most):
    """At the end the hand is at the nearest rotation, no farther from the true frame than the change (m, rad)."""
    rng = np.random.default_rng(0)
    follow = tracker()
    for tick in range(300):
        true = (Frame.turn(rng.normal(size=3), 1e-3) @ shifted(0, 1e-4 * tick, 0)).matrix
        step = follow.step(change(true, rng), DT)
        assert step.status is not TrackingStatus.HELD
        rotation = step.goal[0, :9].reshape(3, 3)
        assert np.abs(rotation @ rotation.T - np.eye(3)).max() < 2e-6
    command = change(HERE.matrix, rng)
    settle(follow, command)
    reached = UR5.frame(follow.q, TOOL)
    assert np.linalg.norm(reached.position - HERE.position) < most
    assert np.linalg.norm((reached.inverse() @ HERE).to_rotvec()) < most


def test_a_frame_that_is_a_rotation_keeps_its_bits():
    for _ in range(20):
        frame = Frame.rotvec(np.random.default_rng(1).normal(size=3)).matrix @ HERE.matrix
        assert tracker().step(frame, DT).goal[0, :9].tobytes() == np.ascontiguousarray(frame[:3, :3]).tobytes()


def test_one_of_many_arms_that_is_held_names_its_cause():
    arm = models.panda()
    good = arm.frame(arm.rest, "panda_hand_tcp").matrix
    tracker = Solver().track(arm, "panda_hand_tcp", start=np.stack([arm.rest] * 2))
    bad = good.copy()
    bad[0, 3] = np.inf
    step = tracker.step(np.stack([good, bad]), 0.01)
    assert str(step[0]) == "following, within tolerance"
    assert step[1].why == "held: the command is not finite, it has inf"


@pytest.mark.parametrize("far", [2e6, -1e12, 1e16, 1e300])
def test_a_start_that_is_no_place_for_an_arm_is_refused(far):
    start = np.array(START, dtype=float)
    start[1] = far
    with pytest.raises(BadInput, match="start: shoulder_lift_joint is"):
        Solver().track(UR5, TOOL, start=start)
    with pytest.raises(BadInput, match="start: shoulder_lift_joint is"):
        tracker().reset(start)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_tracker_is_not_copied(duplicate):
    """A shallow copy would share the state of the core, so that one arm moves with the other's ticks."""
    with pytest.raises(TypeError, match="cannot pickle or copy a 'Tracker'"):
        duplicate(tracker())


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda step: pickle.loads(pickle.dumps(step))])
def test_a_copy_of_a_step_says_the_same_without_its_tracker(duplicate):
    follow = tracker()
    late = tracker(speed=0.1).step(shifted(0.1, 0, 0), DT)
    steps = [late, settle(follow, shifted(9, 0, 0)), follow.step(np.eye(4), math.nan)]
    assert {step.status.name for step in steps} == {"LAGGING", "YIELDING", "HELD"}
    many = tracker(np.stack([START, START + 0.1])).step(np.stack([HERE.matrix] * 2), DT)
    for step in [*steps, many[1]]:
        made = duplicate(step)
        assert made._tracker is not step._tracker
        assert (str(made), made.why, made.warnings, made.at_bounds) == (
            str(step),
            step.why,
            step.warnings,
            step.at_bounds,
        )
        for name in ("q", "velocity", "joint_weights", "sides", "error", "goal", "statuses", "damping", "lag"):
            assert np.array_equal(getattr(made, name), getattr(step, name))
    assert len(duplicate(many)) == 2


@pytest.mark.parametrize("index", [2, -3, (0, 0), "x", 1.5, None, 2**70, [5]])
def test_an_arm_that_is_not_there_is_named_with_how_many_there_are(index):
    many = tracker(np.stack([START, START])).step(np.stack([HERE.matrix] * 2), DT)
    with pytest.raises(IndexError, match="there are 2 arms"):
        many[index]
    assert len(list(many)) == 2


def test_measured_values_that_are_not_finite_are_named():
    arm = models.ur5()
    tracker = Solver().track(arm, "tool0")
    frame = arm.frame(arm.rest, "tool0")
    assert tracker.step(frame, 0.01, measured=arm.rest).warnings == ()
    blind = tracker.step(frame, 0.01, measured=[*arm.rest[:5], math.nan])
    assert blind.warnings == ("measured values that are not finite are not used",)
    assert pickle.loads(pickle.dumps(blind)).warnings == blind.warnings
    assert np.isfinite(blind.q).all()


@pytest.mark.parametrize("far", [1e13, 1e100, -1e300])
def test_a_command_that_cannot_be_meant_holds_the_arm(far):
    arm = models.panda()
    tracker = Solver().track(arm, "panda_hand_tcp")
    frame = arm.frame(arm.rest, "panda_hand_tcp").matrix.copy()
    for begins_there in (False, True):
        if not begins_there:
            tracker.step(frame, 0.01)
        frame[0, 3] = far
        step = tracker.step(frame, 0.01)
        assert step.status is TrackingStatus.HELD
        assert step.why == f"held: the command is too far away, it has {far:g} m; 1e+12 m is most"
        assert (step.q == arm.rest).all()
        tracker = Solver().track(arm, "panda_hand_tcp")
