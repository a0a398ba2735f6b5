"""Goals with a pole: where an elbow or a knee points."""

import numpy as np
import pytest

from supple import BadInput, Goal, Solver, UnknownName, method, models, solve
from supple._solve import batch, compilation, encoding, goal_error
from supple.goal import take_rows

HUMAN = models.human()
ARM = ("left_upper_arm", "left_forearm")


def bent_poses(count, seed):
    """Random poses (n, dof) whose left elbow is bent by 0.3 rad or more."""
    q = HUMAN.random(3 * count, seed=seed)
    elbow = HUMAN.names.index("left_elbow")
    return q[q[:, elbow] > 0.3][:count]


def limb(linkage, q, names=(*ARM, "left_hand")):
    return [linkage.frame(q, name).position for name in names]


def off_half_plane(shoulder, elbow, hand, pole):
    """The angle (n,) between the half-planes of elbow and pole that end at the line from shoulder to hand."""
    line = hand - shoulder
    line /= np.linalg.norm(line, axis=-1, keepdims=True)
    sides = []
    for point in (elbow, pole):
        way = point - shoulder
        way = way - np.sum(way * line, axis=-1, keepdims=True) * line
        sides.append(way / np.linalg.norm(way, axis=-1, keepdims=True))
    return np.arccos(np.clip(np.sum(sides[0] * sides[1], axis=-1), -1, 1))


def is_bent(shoulder, elbow, hand):
    """Whether an arm is bent so far that its pole counts in full."""
    upper, line = elbow - shoulder, hand - shoulder
    length = np.linalg.norm(line, axis=-1, keepdims=True)
    aside = upper - np.sum(upper * line, axis=-1, keepdims=True) * line / length**2
    return np.linalg.norm(aside, axis=-1) > 0.05 * np.linalg.norm(upper, axis=-1)


def poles_of(q, seed):
    """Poles (n, 3) on the side of the elbows of poses, near and far."""
    shoulder, elbow, hand = limb(HUMAN, q)
    part = np.random.default_rng(seed).uniform(0.1, 3, (len(q), 2))
    return shoulder + part[:, :1] * (hand - shoulder) + part[:, 1:] * (elbow - 0.5 * (shoulder + hand))


def test_a_search_brings_the_elbow_into_the_half_plane_of_the_pole():
    q = bent_poses(300, 1)
    _, _, hand = limb(HUMAN, q)
    pole = poles_of(q, 1)
    feet = [Goal(f"{side}_foot", HUMAN.frame(q, f"{side}_foot")) for side in ("left", "right")]
    found = solve(HUMAN, [Goal("left_hand", position=hand), Goal("left_hand", pole=pole), *feet])
    assert found.arrived.mean() >= 0.995
    bent = is_bent(*limb(HUMAN, found.q)) & found.arrived  # a straight arm meets any pole
    assert bent.mean() > 0.8
    assert off_half_plane(*limb(HUMAN, found.q[bent]), pole[bent]).max() < 1e-5
    assert np.abs(HUMAN.clamp(found.q) - found.q).max() < 1e-9


def test_the_core_and_the_report_agree_and_the_derivative_is_that_of_the_angle():
    q = bent_poses(40, 2)
    goal = Goal("left_hand", pole=poles_of(q, 2) + np.random.default_rng(0).normal(size=(40, 3)))
    local = compilation.compiled(HUMAN, [goal], Solver(method=method.damped()))
    numbers = batch.goal_numbers([goal], (40,))
    for i in range(40):
        one = take_rows(goal, (40,), i)
        error, jacobian = local.evaluate(q[i], numbers[i], False)[:2]
        assert abs(error[0] - goal_error.goal_error(HUMAN, one, q[i], ())[3]) < 1e-12
        assert np.abs(jacobian[0] - goal_error.goal_jacobian(HUMAN, one, q[i])[3]).max() < 1e-11
        step = np.random.default_rng(i).normal(size=HUMAN.dof) * 1e-6
        ahead, behind = (
            goal_error.goal_error(HUMAN, one, HUMAN.integrate(q[i], sign * step), ())[3] for sign in (1, -1)
        )
        assert abs((behind - ahead) / 2 - jacobian[0] @ step) < 1e-9


def test_a_straight_arm_has_no_plane_so_its_pole_is_met():
    q = HUMAN.q(left_elbow=0.0)
    wanted = Goal("left_hand", pole=[1.0, 1.0, 1.0])
    assert np.abs(goal_error.goal_error(HUMAN, wanted, q, ())).max() < 1e-3
    bends = np.linspace(0, 0.4, 81)
    angles = [goal_error.goal_error(HUMAN, wanted, HUMAN.q(left_elbow=bend), ())[3] for bend in bends]
    assert np.abs(np.diff(angles)).max() < 0.25  # it fades in
    assert abs(angles[-1]) > 0.5


def test_a_tracker_turns_the_elbow_to_a_moving_pole_and_keeps_the_hand():
    arm = models.iiwa14()
    names = [joint.child for joint in arm.joints if joint.dof]
    parts = (names[1], names[3])
    q = arm.clamp(np.array([0.3, 0.6, 0.2, -1.4, 0.1, 0.8, 0.0]))
    tip = arm.tips[0]
    frame = arm.frame(q, tip)
    elbow = arm.frame(q, parts[1]).position
    tracker = Solver().track(arm, [Goal(tip, frame), Goal(tip, pole=np.add(elbow, [0, 0, 0.5]), limb=parts)], q)
    for i in range(400):
        pole = np.add(elbow, [0, 0.4 * np.sin(min(i, 200) / 200), 0.5])
        step = tracker.step([Goal(tip, frame), Goal(tip, pole=pole, limb=parts)], 0.01)
    points = [arm.frame(step.q, name).position[None] for name in (*parts, tip)]
    assert off_half_plane(*points, pole[None])[0] < 2e-3
    assert np.linalg.norm(arm.frame(step.q, tip).position - frame.position) < 1e-4
    assert np.linalg.norm(elbow - points[1][0]) > 0.02


def test_slack_of_a_pole_is_an_angle_to_either_side():
    q = bent_poses(100, 3)
    _, _, hand = limb(HUMAN, q)
    pole = poles_of(q, 3)
    chest = HUMAN.frame(q, "chest")
    goals = [Goal("left_hand", position=hand), Goal("chest", chest), Goal("left_hand", pole=pole, turn_slack=0.3)]
    found = solve(HUMAN, goals)
    bent = is_bent(*limb(HUMAN, found.q)) & found.arrived
    assert found.arrived.mean() >= 0.99
    assert bent.mean() > 0.8
    assert off_half_plane(*limb(HUMAN, found.q[bent]), pole[bent]).max() < 0.3 + 1e-5


def test_the_limb_is_found_or_given():
    assert encoding.limb(HUMAN, Goal("left_hand", pole=[1, 0, 0])) == ARM
    assert encoding.limb(HUMAN, Goal("left_foot", pole=[1, 0, 0])) == ("left_thigh", "left_shank")
    given = Goal("left_wrist_yaw_link", pole=[1, 0, 0], limb=("left_shoulder_roll_link", "left_elbow_link"))
    assert encoding.limb(models.g1(), given) == given.limb


@pytest.mark.parametrize(
    ("goal", "text"),
    [
        (lambda: Goal("hand", pole=[0, 0, 1], position=[0, 0, 0]), "a pole or something else"),
        (lambda: Goal("hand", position=[0, 0, 1], limb=("a", "b")), "has no pole"),
        (lambda: Goal("hand", pole=[0, 0, 1], limb=("a", "a")), "different links"),
        (lambda: Goal("hand", pole=[0, 0, 1], limb="ab"), "two names of links"),
        (lambda: Goal("hand", pole=[0, 0]), "pole must have shape"),
        (lambda: Goal("hand", pole=[0, 0, np.nan]), "finite"),
        (lambda: Goal("hand", pole=[0, 0, 1], turn_slack=[1, 0, 0]), "one number"),
        (lambda: Goal("hand", pole=[0, 0, 1], turn_weight=0), "not zero"),
    ],
)
def test_a_pole_that_cannot_be_meant_is_refused(goal, text):
    with pytest.raises(BadInput, match=text):
        goal()


def test_a_limb_that_does_not_fit_is_refused():
    with pytest.raises(BadInput, match="on the way to"):
        solve(HUMAN, Goal("left_hand", pole=[0, 0, 1], limb=("left_forearm", "left_upper_arm")))
    with pytest.raises(UnknownName):
        solve(HUMAN, Goal("left_hand", pole=[0, 0, 1], limb=("nothing", "left_upper_arm")))
    with pytest.raises(BadInput, match="shoulder and an elbow"):
        solve(models.planar2(), Goal(models.planar2().links[1].name, pole=[0, 0, 1]))
    with pytest.raises(BadInput, match="pole"):
        Solver(method=method.coordinate_descent()).solve(HUMAN, Goal("left_hand", pole=[0, 0, 1]))
