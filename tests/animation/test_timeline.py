"""Key poses and key goals in time."""

import dataclasses
import json
import warnings

import numpy as np
import pytest

from supple import BadInput, Frame, Goal, Linkage, Motion, UnknownName, models
from supple.animate import Timeline, blend, plant_feet
from supple.animate.timeline_file import EXAMPLE, read

HUMAN = models.human()


def test_key_poses_are_met_at_any_rate_and_joints_stay_in_their_range():
    keys = HUMAN.random(5, seed=1)
    line = Timeline(HUMAN)
    for time, q in zip((0, 0.5, 1.25, 2, 3), keys, strict=True):
        line = line.pose(time, q, ease=time != 1.25)
    for rate in (4, 60, 1000):
        motion = line.motion(rate)
        assert len(motion) == 3 * rate + 1
        for time, q in zip((0, 0.5, 1.25, 2, 3), keys, strict=True):
            assert np.abs(HUMAN.difference(motion.at(time), q)).max() < 1e-9
        assert HUMAN.inside(motion.q).all()


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ({"left_elbow": 4}, "left_elbow is 4 rad, outside its limits, 0 rad to 2.618 rad$"),
        ({"left_elbow": 80}, "left_elbow is 80 rad, .* looks like degrees"),
        ({"left_shoulder": [3, 0, 0.5]}, r"left_shoulder is turned by \(3, 0, 0.5\) rad, .*swing up to 1.745 rad"),
    ],
)
def test_a_key_pose_outside_the_limits_is_refused_with_the_joint_and_its_limits(q, found):
    line = Timeline(HUMAN).pose(0, HUMAN.rest)
    with pytest.raises(BadInput, match=found):
        line.pose(1, HUMAN.q(q))
    assert len(line.pose(1, HUMAN.q(q), joints=["right_elbow"]).poses) == 2  # the key is not for that joint


def test_a_key_pose_of_a_file_outside_the_limits_is_refused_in_degrees(tmp_path):
    keys = {"figure": "human", "poses": [{"time": 0, "joints": {}}, {"time": 1, "joints": {"left_elbow": 400}}]}
    (tmp_path / "keys.json").write_text(json.dumps(keys))
    with pytest.raises(
        BadInput, match=r"poses\[1\]: left_elbow is 400 degrees, outside its limits, 0 degrees to 150 degrees"
    ):
        read(tmp_path / "keys.json", lambda _: HUMAN)


def test_joints_stop_at_keys_with_ease_and_pass_others():
    arm = models.planar2()
    line = Timeline(arm).pose(0, [0, 0]).pose(1, [1, 1]).pose(2, [2, 2], ease=False).pose(3, [3, 3])
    speed = np.gradient(line.at(np.linspace(0, 3, 3001))[:, 0], 1e-3)
    assert abs(speed[1000]) < 1e-2
    assert abs(speed[0]) < 1e-2
    assert abs(speed[-1]) < 1e-2
    assert speed[2000] > 0.5


def test_keys_of_some_joints_leave_the_others_alone():
    arm = models.planar3()
    line = Timeline(arm).pose(0, [0, 0, 0]).pose(2, [2, 2, 2]).pose(1, [9, 5, 9], joints=["joint2"])
    q = line.at([1.0])[0]
    assert np.allclose(q, [1, 5, 1])


def test_a_link_follows_its_key_goals_and_other_limbs_their_key_poses():
    wave = HUMAN.q(left_elbow=1.5)
    hand = HUMAN.frame(HUMAN.rest, "right_hand").position
    line = Timeline(HUMAN).pose(0, HUMAN.rest).pose(2, wave)
    line = line.goal(0.5, Goal("right_hand", position=np.add(hand, [0.1, 0, 0.2])), base="chest")
    line = line.goal(1.5, Goal("right_hand", position=np.add(hand, [0.2, 0.1, 0.3])), base="chest")
    motion = line.motion(100)
    at = motion.frame([0.5, 1.0, 1.5], "right_hand").position
    assert np.linalg.norm(at[0] - hand - [0.1, 0, 0.2]) < 1e-4
    assert np.linalg.norm(at[1] - hand - [0.15, 0.05, 0.25]) < 1e-4
    assert np.linalg.norm(at[2] - hand - [0.2, 0.1, 0.3]) < 1e-4
    posed = Timeline(HUMAN).pose(0, HUMAN.rest).pose(2, wave).motion(100)
    left = [i for i, name in enumerate(HUMAN.names) if not name.startswith("right")]
    assert np.abs(motion.q[:, left] - posed.q[:, left]).max() < 1e-9  # only what hangs on the chest, on the right
    assert np.abs(motion.q[0] - HUMAN.rest).max() < 1e-9
    assert np.abs(motion.q[-1] - wave).max() < 1e-6
    steps = np.abs(HUMAN.difference(motion.q[:-1], motion.q[1:])).max()
    assert steps * 100 < 8  # rad/s: it enters and leaves the path without a jump


def test_feet_that_slide_are_planted_and_the_rest_stays():
    rng = np.random.default_rng(3)
    q = np.tile(HUMAN.rest, (241, 1))
    q[:, 2] -= 0.05
    t = np.arange(241) / 120
    q[:, 0] = 0.03 * np.sin(2 * t)
    q[:, 1] = 0.02 * np.sin(3 * t)
    q[:, 30] += 0.2 * rng.normal()
    planted = plant_feet(Motion(HUMAN, t, HUMAN.clamp(q)))
    for link in ("left_foot", "right_foot"):
        assert np.ptp(planted.frame(t, link).position, axis=0).max() < 1e-3
    arms = [i for i, name in enumerate(HUMAN.names) if "shoulder" in name or "elbow" in name]
    assert np.abs(planted.q[:, arms] - HUMAN.clamp(q)[:, arms]).max() < 1e-9


def test_a_blend_is_each_pose_at_its_end_and_turns_balls_the_shortest_way():
    a, b = HUMAN.random(2, seed=5)
    assert np.abs(HUMAN.difference(blend(HUMAN, a, b, 0.0), a)).max() < 1e-12
    assert np.abs(HUMAN.difference(blend(HUMAN, a, b, 1.0), b)).max() < 1e-9
    middle = blend(HUMAN, a, b, 0.5)
    assert np.allclose(HUMAN.difference(a, middle), HUMAN.difference(a, b) / 2, atol=1e-9)
    arm = blend(HUMAN, a, b, {"left_shoulder": 1.0})
    moved = {HUMAN.names[i] for i in np.flatnonzero(np.abs(arm - a) > 1e-12)}
    assert moved
    assert all(name.startswith("left_") for name in moved)
    assert not any(name.startswith(("left_hip", "left_collar")) for name in moved)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Timeline(HUMAN).motion(), "needs a key"),
        (lambda: Timeline(HUMAN).pose(0, [0.0]), "finite numbers"),
        (lambda: Timeline(HUMAN).pose(np.nan, HUMAN.rest), "finite number of seconds"),
        (lambda: Timeline(HUMAN).goal(0, Goal("head", position=np.zeros((2, 3)))), "without leading axes"),
        (lambda: Timeline(HUMAN).goal(0, Goal("head", position=np.zeros(3)), blend=-1), "blend"),
        (lambda: Timeline(HUMAN).pose(0, HUMAN.rest).pose(0, HUMAN.rest).motion(), "same time"),
        (lambda: Timeline(HUMAN).pose(0, HUMAN.rest).motion(0), "rate"),
        (lambda: Timeline(HUMAN).pose(0, HUMAN.rest).pose(1e9, HUMAN.rest).motion(), "frames need about"),
        (lambda: blend(HUMAN, HUMAN.rest, HUMAN.rest, 2), "from 0 to 1"),
    ],
)
def test_keys_that_cannot_be_meant_are_refused(make, text):
    with pytest.raises(BadInput, match=text):
        make()


def test_unknown_names_are_refused():
    with pytest.raises(UnknownName):
        Timeline(HUMAN).pose(0, HUMAN.rest, joints=["nothing"])
    with pytest.raises(UnknownName):
        Timeline(HUMAN).goal(0, Goal("head", position=[0, 0, 1]), base="nothing")


def test_the_example_file_reads(tmp_path):
    file = tmp_path / "keys.json"
    file.write_text(EXAMPLE)
    motion = read(file, models.get).motion(30)
    assert len(motion) == 91
    assert np.linalg.norm(motion.frame(1.0, "right_hand").position - [0.45, -0.2, 1.3]) < 1e-3


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "cannot read"),
        ("[]", "is an object"),
        ('{"figure": "human", "more": 1}', "more"),
        ('{"figure": "human", "poses": 1}', "must be a list"),
        ('{"figure": "human", "poses": [1]}', r"poses\[0\]: a key is an object"),
        ('{"figure": "human", "poses": [{"time": 0}]}', r"poses\[0\]: a key needs 'joints'"),
        ('{"figure": "human", "poses": [{"time": 0, "joints": {"x": 1}}]}', r"poses\[0\].*x"),
        ('{"figure": "human", "poses": [{"time": 0, "joints": {"left_elbow": [1, 2]}}]}', "takes one number"),
        ('{"figure": "human", "goals": [{"time": 0, "link": "head"}]}', r"goals\[0\]: a goal needs"),
        ('{"figure": "human", "goals": [{"time": 0, "link": "head", "rpy": [1]}]}', "three angles"),
        ('{"figure": "human", "goals": [{"time": 0, "link": "head", "pose": [1]}]}', "'pose'"),
        ('{"figure": "human", "poses": [{"time": 0, "joints": {}, "ease": "no"}]}', r"poses\[0\]: ease must be"),
        (
            '{"figure": "human", "goals": [{"time": 0, "link": "head", "position": [0, 0, 1], "ease": 0}]}',
            "ease must be",
        ),
        ("[" * 100_000, "cannot read"),
    ],
)
def test_a_bad_file_of_keys_is_refused_with_its_place(tmp_path, text, found):
    file = tmp_path / "keys.json"
    file.write_text(text)
    with pytest.raises(BadInput, match=found) as caught:
        read(file, models.get)
    assert "keys.json" in str(caught.value)


def test_goals_that_cannot_be_met_together_make_no_joint_jump():
    """A crouch in which the ankles reach their limits, so that flat feet and the pelvis cannot all be met."""
    human = models.human(1.75, legs=1.05)
    rest = human.frames(human.rest)
    line = Timeline(human).pose(0, human.rest)
    for time, depth in ((0.0, 0.03), (0.6, 0.22), (1.6, 0.03)):
        place = rest["pelvis"].position - np.array([0.36 * depth, 0, depth])
        line = line.goal(time, Goal("pelvis", Frame.at(place)), blend=0)
    for time in (0.0, 1.6):
        for link in ("left_foot", "right_foot"):
            line = line.goal(time, Goal(link, rest[link]), blend=0)
    motion = line.motion(120, progress=False)
    assert motion.within_limits(1e-6)
    assert motion.speed.max() < 10  # rad/s


def test_a_timeline_shows_its_counts_and_not_its_arrays():
    line = Timeline(models.human())
    assert repr(line) == "<Timeline of 'human': 0 key poses, 0 key goals>"
    line = line.pose(0, line.linkage.rest).goal(1.5, Goal("head", position=[0, 0, 1.5]))
    assert repr(line) == "<Timeline of 'human': 1 key pose, 1 key goal from 0 to 1.5 s>"


def test_a_key_goal_of_an_unknown_link_is_refused_at_once():
    with pytest.raises(UnknownName, match="did you mean 'right_hand'"):
        Timeline(models.human()).goal(1, Goal("right_han", position=[1, 0, 1]))


@pytest.mark.parametrize("base", ["left_foot", "right_hand", "left_hand"])
def test_a_base_that_does_not_carry_the_link_is_refused(base):
    with pytest.raises(BadInput, match="base must be a link that carries 'right_hand'"):
        Timeline(HUMAN).goal(1, Goal("right_hand", position=[0.4, 0, 1.2]), base=base)


@pytest.mark.parametrize("limited", [True, False])
def test_a_key_goal_out_of_reach_makes_no_limb_jump(limited):
    figure = HUMAN
    if not limited:
        joints = [dataclasses.replace(joint, speed=(np.inf,) * joint.dof) for joint in HUMAN.joints]
        figure = Linkage("unlimited", joints, HUMAN.links)
    hand = figure.frame(figure.rest, "right_hand").position
    for far in ([2.5, -0.2, 1.2], [-1.5, 0.5, 2.5], [0.2, 2.0, 1.3]):
        line = Timeline(figure).pose(0, figure.rest).pose(3, figure.rest)
        for time, place in ((0.5, hand), (1.5, far), (2.5, hand)):
            line = line.goal(time, Goal("right_hand", position=place), base="chest")
        for rate in (60, 120):
            motion = line.motion(rate, progress=False)
            speeds = np.abs(figure.difference(motion.q[:-1], motion.q[1:])) * rate
            assert (speeds <= np.where(np.isfinite(figure.speed), figure.speed, 20.0) * (1 + 1e-6)).all()
            assert figure.inside(motion.q, 1e-9).all()
            reached = motion.frame(1.5, "right_hand").position
            assert np.linalg.norm(reached - far) < np.linalg.norm(hand - np.array(far)) - 0.2  # it tries


def test_no_times_give_no_poses():
    keyed = (
        Timeline(models.planar3()).goal(0, Goal("tip", position=[10, 0, 0])).goal(1, Goal("tip", position=[5, 0, 0]))
    )
    assert keyed.at([]).shape == (0, 3)


def test_a_wrong_joint_is_refused_at_the_key_that_names_it(tmp_path):
    poses = [{"time": 0, "joints": {"left_elbow": 10}}, {"time": 1, "joints": {"left_elbwo": 20}}]
    (tmp_path / "keys.json").write_text(json.dumps({"figure": "human", "poses": poses}))
    with pytest.raises(BadInput, match=r"poses\[1\].*left_elbwo"):
        read(tmp_path / "keys.json", models.get)


@pytest.mark.parametrize("end", [1e5, 1e6, 1e9])
def test_more_frames_than_memory_holds_are_refused_with_both_numbers(end):
    line = Timeline(models.human())
    for time in (0, 1, 2, end):
        line = line.pose(time, models.human().rest)
    with pytest.raises(BadInput, match=r"frames need about [\d,.]+ GB.*lower rate"):
        line.motion()
    assert len(line.motion(rate=2e3 / end)) == 2001


def test_a_motion_names_the_key_goals_that_it_misses():
    planar = models.planar3()
    line = Timeline(planar).pose(0, planar.rest).goal(1, Goal("tip", position=[10, 10, 0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert line.missed(line.motion()) == []
    line = line.goal(2, Goal("tip", position=[90, 10, 0]))
    with pytest.warns(UserWarning, match="at 2 s tip is .* m away from its key goal"):
        motion = line.motion()
    (missed,) = line.missed(motion)
    reached = motion.frame(2.0, "tip").position
    assert (missed.time, missed.link) == (2, "tip")
    assert missed.distance == pytest.approx(np.linalg.norm(reached - [90, 10, 0]))
    with pytest.raises(BadInput, match="takes a Motion"):
        line.missed(Timeline(models.puppet()).pose(0, models.puppet().rest).motion())
