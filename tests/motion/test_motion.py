"""Laws of Motion: keys are hit, nothing overshoots, turns stay on the sphere, files come back as they went."""

import copy
import math
import os
import pickle

import numpy as np
import pytest

from random_trees import random_q, random_tree
from supple import models
from supple._motion.continued import continued
from supple.errors import BadInput
from supple.frame import Frame
from supple.joint import Joint, Kind
from supple.linkage import Linkage
from supple.motion import Interpolation, Motion

BOTH = pytest.mark.parametrize("between", list(Interpolation), ids=lambda b: b.value)
BALL = Linkage("socket", [Joint.ball("ball", "torso", "arm")])
SLIDE = Linkage("slide", [Joint.prismatic("slide", "rail", "cart", axis=[1, 0, 0], lower=-9, upper=9, speed=2)])


def motions(between, count=30, keys=None):
    """Motions of random linkages with joints of every kind, at uneven times."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        linkage = random_tree(seed, count=int(rng.integers(1, 9)))
        n = int(rng.integers(2, 9)) if keys is None else keys
        times = rng.uniform(-5, 5) + np.cumsum(rng.uniform(0.05, 2, n))
        yield Motion(linkage, times, random_q(linkage, seed, n), between)


def inner(motion, count=200, seed=0):
    return np.random.default_rng(seed).uniform(motion.start, motion.end, count)


def apart(motion, a, b):
    """The largest step (as turns, for ball joints) between two q."""
    return np.abs(motion.linkage.difference(a, b)).max(initial=0)


def balls(linkage):
    """The columns of each rotation vector in q."""
    at, found = 0, []
    for joint in linkage.joints:
        if joint.kind in (Kind.BALL, Kind.FLOATING):
            found.append(np.arange(at + joint.dof - 3, at + joint.dof))
        at += joint.dof
    return found


def plain(linkage):
    return np.setdiff1d(np.arange(linkage.dof), np.ravel(balls(linkage)).astype(int))


# -- in-betweens ------------------------------------------------------------------------------------------------


@BOTH
def test_keys_are_hit_exactly(between):
    for motion in motions(between):
        assert np.array_equal(motion.at(motion.times), motion.q)


@BOTH
def test_keys_are_approached_from_both_sides(between):
    for motion in motions(between):
        h = 1e-9 * np.diff(motion.times).min()
        fast = 1 + motion.speed.max(initial=0)
        assert apart(motion, motion.at(motion.times[:-1] + h), motion.q[:-1]) < 1e-12 + 2 * h * fast + 1e-13
        assert apart(motion, motion.at(motion.times[1:] - h), motion.q[1:]) < 1e-12 + 2 * h * fast + 1e-13


@BOTH
def test_outside_its_time_a_motion_stands_at_its_ends(between):
    for motion in motions(between, 10):
        assert np.array_equal(motion.at([motion.start - 1, motion.end + 1e9]), motion.q[[0, -1]])
        assert not motion.velocity([motion.start - 1, motion.end + 1]).any()


@BOTH
def test_plain_values_stay_between_their_keys(between):
    for motion in motions(between):
        t = inner(motion)
        i = np.searchsorted(motion.times, t) - 1
        columns = plain(motion.linkage)
        low, high = np.minimum(motion.q[i], motion.q[i + 1]), np.maximum(motion.q[i], motion.q[i + 1])
        q = motion.at(t)
        assert (q[:, columns] >= low[:, columns]).all()
        assert (q[:, columns] <= high[:, columns]).all()


def test_rising_keys_rise_all_the_way():
    rng = np.random.default_rng(1)
    for _ in range(300):
        n = int(rng.integers(2, 12))
        rises = np.cumsum(rng.choice([0, 1e-3, 1, 100], n) * rng.random(n))[:, None]
        motion = Motion(SLIDE, np.cumsum(rng.uniform(0.01, 3, n)), rises, Interpolation.SMOOTH)
        q = motion.at(np.linspace(motion.start, motion.end, 1000))
        assert np.diff(q, axis=0).min() >= -1e-14 * rises.max()
        assert motion.velocity(np.linspace(motion.start, motion.end, 1000)).min() >= -1e-12 * motion.speed.max()


def test_a_key_that_turns_back_is_an_extreme():
    motion = Motion(SLIDE, [0, 1, 3, 4], [[0.0], [5], [2], [3]], Interpolation.SMOOTH)
    assert motion.velocity([1, 3]).ravel() == pytest.approx([0, 0], abs=1e-14)
    assert motion.at(np.linspace(0, 4, 4001)).max() == 5


def test_a_smooth_motion_has_no_jump_of_velocity_and_rests_at_its_ends():
    for motion in motions(Interpolation.SMOOTH):
        assert np.array_equal(motion.leaving[1:], motion.arriving[:-1])
        fast = 1 + motion.speed.max(initial=0)
        h = 1e-9 * np.diff(motion.times).min()
        middle = motion.times[1:-1]
        assert np.abs(motion.velocity(middle + h) - motion.velocity(middle - h)).max(initial=0) < 1e-6 * fast
        assert np.abs(motion.velocity([motion.start, motion.end])).max(initial=0) < 1e-12 * fast


@BOTH
def test_velocity_is_the_derivative(between):
    for motion in motions(between):
        h = 1e-5 * np.diff(motion.times).min()
        t = inner(motion)
        t = t[np.abs(t[:, None] - motion.times).min(axis=1) > 2 * h]
        slope = motion.linkage.difference(motion.at(t - h), motion.at(t + h)) / (2 * h)
        assert np.abs(slope - motion.velocity(t)).max(initial=0) < 1e-6 * (1 + motion.speed.max(initial=0))


@BOTH
def test_speed_is_the_greatest_there_is(between):
    for motion in motions(between, 20):
        seen = np.abs(motion.velocity(np.linspace(motion.start, motion.end, 5001))).max(axis=0)
        columns = plain(motion.linkage)
        assert (seen[columns] <= motion.speed[columns] * (1 + 1e-12)).all()
        assert (seen <= motion.speed + 0.01 * motion.speed.max(initial=0)).all()
        assert (motion.speed <= seen + 0.01 * seen.max(initial=0)).all()


def test_linear_pieces_have_constant_velocity():
    for motion in motions(Interpolation.LINEAR):
        for i in range(len(motion) - 1):
            t = motion.times[i] + np.array([0.1, 0.5, 0.9]) * (motion.times[i + 1] - motion.times[i])
            assert np.abs(motion.velocity(t) - motion.leaving[i]).max(initial=0) < 1e-12 * (
                1 + motion.speed.max(initial=0)
            )


def test_a_ball_joint_turns_at_constant_speed_about_one_axis():
    rng = np.random.default_rng(2)
    for q in rng.uniform(-2.5, 2.5, (200, 2, 3)):
        motion = Motion(BALL, [0, 1], q)
        turns = Frame.rotvec(motion.at(np.linspace(0, 1, 11)))
        steps = (turns[:-1].inverse() @ turns[1:]).to_rotvec()
        assert np.abs(steps - steps[0]).max() < 1e-13
        whole = (Frame.rotvec(q[0]).inverse() @ Frame.rotvec(q[1])).to_rotvec()
        assert np.abs(10 * steps[0] - whole).max() < 1e-12
        assert np.linalg.norm(whole) <= math.pi + 1e-12  # the shortest way


def test_about_one_axis_a_smooth_ball_joint_does_as_a_smooth_hinge():
    rng = np.random.default_rng(3)
    hinge = Linkage("hinge", [Joint.continuous("hinge", "torso", "arm")])
    for _ in range(100):
        n = int(rng.integers(2, 7))
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        angle, times = rng.uniform(-1.5, 1.5, (n, 1)), np.cumsum(rng.uniform(0.1, 2, n))
        ball = Motion(BALL, times, angle * axis, Interpolation.SMOOTH)
        one = Motion(hinge, times, angle, Interpolation.SMOOTH)
        t = inner(ball, 50)
        assert np.abs(ball.at(t) - one.at(t) * axis).max() < 1e-13
        assert np.abs(ball.velocity(t) - one.velocity(t) * axis).max() < 1e-12


def test_a_smooth_ball_joint_never_turns_back_on_its_way():
    rng = np.random.default_rng(4)
    for _ in range(200):
        q = rng.uniform(-1.5, 1.5, (4, 3))
        motion = Motion(BALL, np.cumsum(rng.uniform(0.1, 2, 4)), q, Interpolation.SMOOTH)
        for i in range(3):
            turns = Frame.rotvec(motion.at(np.linspace(motion.times[i], motion.times[i + 1], 101)))
            step = (Frame.rotvec(q[i]).inverse() @ Frame.rotvec(q[i + 1])).to_rotvec()
            halfway = Frame.rotvec(q[i]) @ Frame.rotvec(step / 2)
            along = (halfway.inverse() @ turns).to_rotvec() @ (step / np.linalg.norm(step))
            assert np.diff(along).min() > -1e-12
            assert np.abs(along[[0, -1]]) == pytest.approx(np.linalg.norm(step) / 2, abs=1e-12)


def test_where_a_ball_joint_stands_does_not_change_how_it_moves():
    rng = np.random.default_rng(5)
    for _ in range(50):
        q, times = rng.uniform(-1.5, 1.5, (5, 3)), np.cumsum(rng.uniform(0.1, 2, 5))
        other = Frame.rotvec(rng.uniform(-1.5, 1.5, 3))
        turned = (other @ Frame.rotvec(q)).to_rotvec()
        a, b = (Motion(BALL, times, keys, Interpolation.SMOOTH) for keys in (q, turned))
        t = inner(a, 50)
        assert np.abs((other @ Frame.rotvec(a.at(t))).matrix - Frame.rotvec(b.at(t)).matrix).max() < 1e-12
        assert np.abs(a.velocity(t) - b.velocity(t)).max() < 1e-11 * (1 + a.speed.max())


def test_a_turn_without_end_counts_its_turns():
    wheel = Linkage("wheel", [Joint.continuous("axle", "cart", "wheel")])
    motion = Motion(wheel, [0, 1], [[0.0], [20.0]])
    assert motion.at(0.5) == pytest.approx(10)


def test_times_broadcast_over_any_axes():
    motion = next(motions(Interpolation.SMOOTH, keys=4))
    t = inner(motion, 24).reshape(2, 3, 4)
    assert motion.at(t).shape == motion.velocity(t).shape == (2, 3, 4, motion.linkage.dof)
    assert np.array_equal(motion.at(t)[1, 2, 3], motion.at(t[1, 2, 3]))
    link = motion.linkage.tips[0]
    assert np.array_equal(motion.frame(t, link).matrix, motion.linkage.frame(motion.at(t), link).matrix)
    assert np.array_equal(motion.frames(t)[link].matrix, motion.linkage.frames(motion.at(t))[link].matrix)


# -- one from another -------------------------------------------------------------------------------------------


@BOTH
def test_backwards_is_the_same_way(between):
    for motion in motions(between):
        back = motion.reversed()
        t = inner(motion)
        mirrored = motion.start + motion.end - t
        assert apart(motion, back.at(mirrored), motion.at(t)) < 1e-12
        assert np.abs(back.velocity(mirrored) + motion.velocity(t)).max(initial=0) < 1e-9 * (
            1 + motion.speed.max(initial=0)
        )
        assert np.array_equal(back.reversed().q, motion.q)


@BOTH
def test_two_motions_join_unchanged(between):
    for motion in motions(between):
        q = np.concatenate([motion.q[-1:], random_q(motion.linkage, 7, 3)])
        second = Motion(motion.linkage, [10, 11, 13, 20], q, between)
        both = motion + second
        assert len(both) == len(motion) + 3
        assert both.duration == pytest.approx(motion.duration + 10)
        t = inner(motion)
        assert np.array_equal(both.at(t), motion.at(t))
        later = inner(second)
        assert apart(motion, both.at(later - 10 + motion.end), second.at(later)) < 1e-12


def test_a_motion_that_begins_elsewhere_does_not_join():
    arm = models.planar2()
    with pytest.raises(BadInput, match=r"does not begin where the first ends: joint2 is 0\.5 off"):
        Motion(arm, [0, 1], [[0, 0], [1, 1]]) + Motion(arm, [0, 1], [[1, 1.5], [0, 0]])
    with pytest.raises(BadInput, match="another linkage, 'planar3'"):
        Motion(arm, [0], [[0, 0]]) + Motion(models.planar3(), [0], [[0, 0, 0]])


def test_parts_put_together_make_the_whole():
    for between in Interpolation:
        for motion in motions(between, 40):
            cut = float(inner(motion, 1)[0])
            whole = motion.part(end=cut) + motion.part(cut)
            t = inner(motion)
            off = np.abs(motion.linkage.difference(whole.at(t), motion.at(t)))
            assert off[:, plain(motion.linkage)].max(initial=0) < 1e-11
            assert off.max(initial=0) < (1e-11 if between is Interpolation.LINEAR else 0.02)
            assert whole.at(cut) == pytest.approx(motion.at(cut), abs=1e-12)
            assert motion.part() == motion
            assert motion.part(motion.times[0], motion.times[1]).times.tolist() == motion.times[:2].tolist()


def test_a_part_outside_is_refused():
    motion = Motion(SLIDE, [1, 2], [[0.0], [1]])
    for start, end in ((0, 2), (1, 3), (1.5, 1.5), (1.8, 1.2)):
        with pytest.raises(BadInput, match="within 1 and 2 s"):
            motion.part(start, end)


def test_retimed_goes_the_same_way_at_another_speed():
    for motion in motions(Interpolation.SMOOTH, 20):
        slow = motion.retimed(3 * motion.duration, start=100)
        t = inner(motion)
        assert apart(motion, slow.at(100 + 3 * (t - motion.start)), motion.at(t)) < 1e-9
        assert slow.speed == pytest.approx(motion.speed / 3, rel=1e-6)
        assert (slow.start, slow.end) == (100, pytest.approx(100 + 3 * motion.duration))


def test_samples_lie_on_the_motion_at_the_rate_and_at_its_end():
    motion = Motion(SLIDE, [0, 1, 2.05], [[0.0], [1], [5]], Interpolation.SMOOTH)
    sampled = motion.sampled(10)
    assert sampled.times.tolist() == pytest.approx([*np.arange(21) / 10, 2.05])
    assert np.array_equal(sampled.q, motion.at(sampled.times))
    assert len(motion.part(0, 1).sampled(3)) == 4
    assert len(motion.part(0, 1).sampled(0.1)) == 2


# -- limits -----------------------------------------------------------------------------------------------------


def test_a_motion_says_whether_it_keeps_its_limits():
    assert Motion(SLIDE, [0, 10], [[-9], [9]], Interpolation.SMOOTH).within_limits()
    assert not Motion(SLIDE, [0, 5, 10], [[0], [9.1], [0]]).within_limits()
    assert Motion(SLIDE, [0, 9], [[-9], [9]]).within_speeds()
    assert not Motion(
        SLIDE, [0, 9], [[-9], [9]], Interpolation.SMOOTH
    ).within_speeds()  # it must make up for its slow ends
    assert Motion(SLIDE, [0, 9], [[-9], [9]], Interpolation.SMOOTH).speed == pytest.approx(3)


def test_a_ball_joint_that_leaves_its_range_between_its_keys_is_seen():
    tight = Linkage("tight", [Joint.ball("ball", "torso", "arm", swing=0.5, twist=(-3, 3))])
    assert Motion(tight, [0, 1], [[0, 0, -1], [0, 0, 1]]).within_limits()
    keys = np.array([[0, 0, -2.9], [0, 0, 2.9]])  # the shortest way leads over pi
    assert tight.inside(keys).all()
    assert not Motion(tight, [0, 1], keys).within_limits()


def test_a_motion_says_what_it_is():
    motion = Motion(SLIDE, [0, 2, 9], [[0.0], [5], [4]])
    assert str(motion) == "slide moves for 9 s through 3 keys, slide the fastest at 2.5 m/s, beyond its speeds"
    assert repr(motion) == f"<Motion: {motion}>"
    for excess, said in ((5e-5, "within its limits"), (1e-3, "beyond its limits")):  # as far as the text is precise
        beyond = Motion(SLIDE, [0, 9], [[0.0], [9 + excess]])
        assert not beyond.within_limits()
        assert str(beyond).endswith(said)
    assert str(Motion(SLIDE, [0], [[0.0]])) == "slide stands still for 0 s, 1 key"
    assert str(Motion(SLIDE, [0, 2], [[0.5], [0.5 + 1e-15]])) == "slide stands still for 2 s, 2 keys"
    assert "within its limits" in str(motion.retimed(60))


# -- being a value ----------------------------------------------------------------------------------------------


@BOTH
def test_motions_are_values(between):
    for motion in motions(between, 5):
        again = pickle.loads(pickle.dumps(motion))
        assert again == motion
        assert hash(again) == hash(motion)
        assert copy.deepcopy(motion) is motion
        assert motion != motion.retimed(2 * motion.duration)
        assert np.array_equal(again.at(motion.times + 0.01), motion.at(motion.times + 0.01))
        with pytest.raises(AttributeError):
            motion.q = motion.q
        with pytest.raises(ValueError):
            motion.q[0] = 0


def test_a_motion_does_not_change_with_the_arrays_it_was_made_from():
    q, times = np.zeros((2, 1)), np.array([0.0, 1])
    motion = Motion(SLIDE, times, q)
    q[:], times[:] = 5, 7
    assert motion == Motion(SLIDE, [0, 1], [[0], [0]])


def test_a_single_key_is_a_motion():
    motion = Motion(BALL, [3], [[1, 0, 0]])
    assert motion.at([0, 3, 9]).tolist() == [[1, 0, 0]] * 3
    assert motion.at(0).tolist() == [1, 0, 0]
    assert (motion.duration, len(motion), motion.within_limits(), motion.sampled(5)) == (0, 1, True, motion)
    assert motion.reversed() == motion + motion == motion
    assert not motion.velocity(3).any()


@pytest.mark.parametrize(
    ("times", "q", "between", "said"),
    [
        ([0, 1], [[0], [1], [2]], Interpolation.LINEAR, "3 keys need times of shape (3,), not (2,)"),
        ([0, 0], [[0], [1]], Interpolation.LINEAR, "times must increase: 0.0 s is followed by 0.0 s"),
        ([0, 2, 1], [[0], [1], [2]], Interpolation.LINEAR, "2.0 s is followed by 1.0 s"),
        ([0, math.nan], [[0], [1]], Interpolation.LINEAR, "times must be finite"),
        ([0, 1], [[0], [math.inf]], Interpolation.LINEAR, "q must be finite"),
        ([0, 1], [[0, 0], [1, 1]], Interpolation.LINEAR, "q must have shape (..., 1)"),
        ([0], [0], Interpolation.LINEAR, "q must have shape (n, 1)"),
        ([], np.zeros((0, 1)), Interpolation.LINEAR, "one key or more"),
        (
            [0, 1],
            [[0], [1]],
            "smooth",
            "interpolation must be Interpolation.LINEAR or Interpolation.SMOOTH, got 'smooth'",
        ),
        ([0, 1], "ab", Interpolation.LINEAR, "q must be numbers"),
        (["a", "b"], [[0], [1]], Interpolation.LINEAR, "times must be numbers"),
        ([-1e308, 1e308], [[0], [1]], Interpolation.SMOOTH, "too long"),
        ([0, 1e-300], [[0], [1e100]], Interpolation.SMOOTH, "too far apart"),
    ],
)
def test_what_cannot_be_a_motion_is_refused(times, q, between, said):
    with pytest.raises(BadInput) as caught:
        Motion(SLIDE, times, q, between)
    assert said in str(caught.value)


def test_times_that_are_none_are_refused():
    motion = Motion(SLIDE, [0, 1], [[0.0], [1]])
    for call in (motion.at, motion.velocity, lambda t: motion.part(t), lambda t: motion.retimed(1, t)):
        for t in (math.nan, [math.inf, 0], "soon"):
            with pytest.raises(BadInput):
                call(t)
    for rate in (0, -1, math.inf, math.nan, "fast", 1e12):
        with pytest.raises(BadInput):
            motion.sampled(rate)
    with pytest.raises(BadInput, match="duration must be a positive number"):
        motion.retimed(0)


# -- files ------------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("ending", [".npz", ".csv", ".NPZ"])
def test_files_come_back_to_the_last_digit(between, ending, tmp_path):
    file = tmp_path / f"motion{ending}"
    for motion in motions(between, 25):
        joined = motion + motion.reversed()
        joined.save(file)
        back = Motion.load(file, motion.linkage)
        assert np.array_equal(back.times, joined.times)
        assert np.array_equal(back.q, joined.q)
        if ending != ".csv" or between is Interpolation.LINEAR:
            t = inner(joined)
            assert apart(motion, back.at(t), joined.at(t)) < 1e-12
        if ending != ".csv":
            assert back == joined
        motion.save(file)
        assert Motion.load(file, motion.linkage, between) == motion


def test_a_csv_is_a_plain_table(tmp_path):
    file = tmp_path / "nod.csv"
    Motion(models.planar2(), [0, 0.1], [[0, -1.5], [1 / 3, 1e-17]]).save(file)
    assert file.read_bytes() == b"time,joint1,joint2\n0.0,0.0,-1.5\n0.1,0.3333333333333333,1e-17\n"


def test_a_csv_with_other_line_ends_quotes_blank_lines_and_a_mark_is_read(tmp_path):
    file = tmp_path / "nod.csv"
    file.write_bytes(b'\xef\xbb\xbf"time",joint1,joint2\r\n0, 1 ,2\r\n\r\n1.5,+3e0,.5\r\n\r\n')
    assert Motion.load(file, models.planar2()) == Motion(models.planar2(), [0, 1.5], [[1, 2], [3, 0.5]])


def test_odd_names_come_back(tmp_path):
    odd = Linkage("odd", [Joint.revolute('a, "b"\nc', "x", "y"), Joint.ball("Ellenbögen", "y", "z")])
    motion = Motion(odd, [0, 1], np.arange(8.0).reshape(2, 4) / 10)
    for ending in ("csv", "npz"):
        motion.save(tmp_path / f"odd.{ending}")
        assert Motion.load(tmp_path / f"odd.{ending}", odd) == motion


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "bad.csv:1: expected 3 names"),
        ("time,joint1,joint2\n", "bad.csv: there is no line of numbers"),
        ("time,joint1,elbow\n0,0,0\n", "bad.csv:1: name 3 is 'elbow'; this linkage has 'joint2' there"),
        ("time,joint1\n0,0\n", "bad.csv:1: expected 3 names, 'time', 'joint1', 'joint2'; got 2"),
        ("t,joint1,joint2\n0,0,0\n", "bad.csv:1: name 1 is 't'; this linkage has 'time' there"),
        ("time,joint1,joint2\n0,0,0\n1,0\n", "bad.csv:3: expected 3 numbers, a time and 2 values of q; got 2"),
        ("time,joint1,joint2\n0,0,0\n1,0,0,0\n", "bad.csv:3: expected 3 numbers"),
        ("time,joint1,joint2\n0,0,0\n\n1,zero,0\n", "bad.csv:4: expected a finite number written like 0.5, got 'zero'"),
        ("time,joint1,joint2\n0,nan,0\n", "bad.csv:2: expected a finite number written like 0.5, got 'nan'"),
        ("time,joint1,joint2\n0,1e999,0\n", "bad.csv:2: expected a finite number written like 0.5, got '1e999'"),
        ("time,joint1,joint2\n0,1_0,0\n", "bad.csv:2: expected a finite number written like 0.5, got '1_0'"),
        ("time;joint1;joint2\n0;0;0\n", "bad.csv:1: name 1 is 'time;joint1;joint2'"),
        ("time,joint1,joint2\n0,0,0\n0,1,1\n", "bad.csv:3: times must increase: 0.0 is followed by 0"),
        ('time,joint1,joint2\n0,0,0\n1,"0,0\n', "bad.csv:3: not a table of numbers between commas"),
        (b"time,joint1,joint2\n0,0,\xff\n", "bad.csv:1: not a table of numbers between commas"),
        (b"time,joint1,joint2\n0,0,\x00\n", "bad.csv:2:"),
    ],
)
def test_a_bad_table_is_refused_with_its_line(text, said, tmp_path):
    file = tmp_path / "bad.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadInput) as caught:
        Motion.load(file, models.planar2())
    assert said in str(caught.value)


GOOD = {
    "names": np.array(["joint1", "joint2"]),
    "times": np.array([0.0, 1, 2]),
    "q": np.zeros((3, 2)),
    "leaving": np.zeros((2, 2)),
    "arriving": np.zeros((2, 2)),
}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"names": np.array(["joint1", "elbow"])}, "name 2 is 'elbow'; this linkage has 'joint2' there"),
        ({"names": np.array(["joint1"])}, "expected 2 names"),
        ({"q": None}, "not a motion: there is no array 'q'"),
        ({"q": np.zeros((3, 3))}, "q (3, 3)"),
        ({"q": np.full((3, 2), np.nan)}, "q must be finite numbers"),
        ({"q": np.zeros((3, 2), complex)}, "q must be finite numbers"),
        ({"q": np.full((3, 2), "a")}, "q must be finite numbers"),
        ({"times": np.array([0.0, 1, 1])}, "times must increase, but number 3 does not"),
        ({"times": np.zeros(())}, "the shapes of the arrays do not match"),
        ({"leaving": np.zeros((3, 2))}, "the shapes of the arrays do not match"),
        ({"times": np.zeros(0)}, "the shapes of the arrays do not match"),
    ],
)
def test_an_archive_that_is_no_motion_is_refused(change, said, tmp_path):
    file = tmp_path / "bad.npz"
    np.savez(file, **{name: array for name, array in (GOOD | change).items() if array is not None})
    with pytest.raises(BadInput) as caught:
        Motion.load(file, models.planar2())
    assert str(caught.value).startswith(f"{file}: ")
    assert said in str(caught.value)


def test_a_good_archive_is_read(tmp_path):
    np.savez(tmp_path / "good.npz", **GOOD)
    assert len(Motion.load(tmp_path / "good.npz", models.planar2())) == 3


class Trap:
    """What makes a folder when it is unpickled."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (self.folder,)


def test_a_pickle_is_never_opened(tmp_path):
    sprung, file = str(tmp_path / "sprung"), tmp_path / "trap.npz"
    for name in ("q", "names"):
        np.savez(file, allow_pickle=True, **GOOD | {name: np.array([Trap(sprung)] * 3, dtype=object)})
        with pytest.raises(BadInput, match="not an archive of plain arrays"):
            Motion.load(file, models.planar2())
    file.write_bytes(pickle.dumps(Trap(sprung)))
    with pytest.raises(BadInput, match="not an archive of plain arrays"):
        Motion.load(file, models.planar2())
    assert not os.path.exists(sprung)
    pickle.loads(file.read_bytes())  # the trap itself works
    assert os.path.exists(sprung)


def test_damaged_archives_are_refused_and_nothing_else(tmp_path):
    file = tmp_path / "motion.npz"
    arm = models.planar2()
    Motion(arm, [0, 1], [[0, 0], [1, 2]]).save(file)
    whole = file.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(150):
        broken = bytearray(whole)
        for at in rng.integers(0, len(broken), 3):
            broken[at] = rng.integers(0, 256)
        file.write_bytes(bytes(broken[: rng.integers(1, len(broken) + 1)] if rng.random() < 0.3 else broken))
        try:
            assert isinstance(Motion.load(file, arm), Motion)
        except BadInput:
            refused += 1
    assert refused > 20


def test_other_endings_and_missing_files_are_named(tmp_path):
    motion = Motion(SLIDE, [0], [[0.0]])
    for call in (motion.save, lambda path: Motion.load(path, SLIDE)):
        with pytest.raises(BadInput, match=r"ends in \.npz or \.csv"):
            call(tmp_path / "motion.txt")
    with pytest.raises(FileNotFoundError):
        Motion.load(tmp_path / "none.csv", SLIDE)
    with pytest.raises(BadInput, match="linkage must be a Linkage, got 'planar2'"):
        Motion.load(tmp_path / "none.csv", "planar2")


@pytest.mark.parametrize("ending", [".bvh", ".glb"])
def test_rotations_of_an_animation_file_go_on_beyond_a_half_turn(tmp_path, ending):
    joints = [Joint.floating("free", "world", "body"), Joint.ball("ball", "body", "tip", at=Frame.at([0, 0, 1]))]
    figure = Linkage("spinner", joints)
    q = np.zeros((100, figure.dof))
    q[:, 5], q[:, 6] = np.linspace(0, 5, 100), np.linspace(1, -5, 100)
    motion = Motion(figure, np.arange(100) / 50, q)
    motion.save(tmp_path / f"spin{ending}")
    again = Motion.load(tmp_path / f"spin{ending}")
    assert np.abs(np.diff(again.q, axis=0)).max() < 0.1
    for link in ("body", "tip"):
        assert np.abs(again.frame(motion.times, link).matrix - motion.frame(motion.times, link).matrix).max() < 1e-5


def test_continued_values_are_the_same_poses_and_limits_hold():
    joints = [
        Joint.continuous("a", "world", "one", axis=[0, 0, 1]),
        Joint.revolute("b", "one", "two", axis=[0, 0, 1], lower=-3.2, upper=3.2),
        Joint.ball("c", "two", "three", swing=2.0),
        Joint.ball("d", "three", "four"),
    ]
    arm = Linkage("free", joints)
    rng = np.random.default_rng(3)
    q = np.cumsum(rng.uniform(-0.2, 0.6, (400, arm.dof)), axis=0)
    q[:, :2] = np.arctan2(np.sin(q[:, :2]), np.cos(q[:, :2]))
    for first in (2, 5):
        q[:, first : first + 3] = Frame.rotvec(q[:, first : first + 3]).to_rotvec()
    done = continued(arm, q)
    assert np.array_equal(done[:, 1:5], q[:, 1:5])  # limited
    assert np.abs(np.diff(done[:, 0])).max() < 0.7
    assert np.allclose(arm.frame(done, "four").matrix, arm.frame(q, "four").matrix)
    assert np.abs(np.diff(done[:, 5:], axis=0)).sum() < np.abs(np.diff(q[:, 5:], axis=0)).sum()
