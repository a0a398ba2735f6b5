"""Clips that are retargeted frame by frame."""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

from supple import BadInput, Linkage, Motion, models
from supple.animate import Retarget, load_clip
from supple.animate.fade import Bound, Fade, SlowMean, SplitFade
from supple.animate.smoothing import smoothed, smoothed_to_end

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from figures.clips import reach_with_steps, turn_on_the_spot
from figures.measures import measured
from figures.random_clips import at_speed, random_walk
from figures.streams import streamed

HUMAN, G1 = models.human(), models.g1()


def test_a_stream_follows_with_small_errors_and_within_limits():
    clip = turn_on_the_spot()
    retarget = Retarget(clip.linkage, G1)
    q = streamed(retarget, clip)[0]
    assert q.shape == (len(clip), retarget.target.dof)
    assert np.abs(retarget.target.clamp(q) - q).max() < 1e-9
    assert (np.abs(np.diff(q[:, 6:], axis=0)) * 120 <= G1.speed + 1e-9).all()
    whole = retarget.motion(clip)
    ends = [retarget.target.frame(rows, "left_wrist_yaw_link").position for rows in (q, whole.q)]
    assert np.percentile(np.linalg.norm(ends[0] - ends[1], axis=-1), 95) < 0.01


@pytest.mark.parametrize("target", [HUMAN, G1], ids=["human", "g1"])
@pytest.mark.parametrize(
    "make", [lambda: random_walk(5), lambda: random_walk(31), reach_with_steps], ids=["walk-5", "walk-31", "reach"]
)
def test_a_stream_that_looks_ahead_neither_slides_nor_shakes(make, target):
    clip = make()
    retarget = Retarget(clip.linkage, target)
    found, whole = (measured(retarget, clip, q) for q in (streamed(retarget, clip)[0], retarget.motion(clip).q))
    assert found.contacts > 8
    assert found.slide < 3e-3
    assert found.depth < 1.1e-3
    assert found.past_limits < 1e-9
    assert found.speed <= 1 + 1e-6
    assert found.jerk < 2 * whole.jerk


def test_the_feet_of_a_stream_without_delay_are_fast_enough_to_stand_where_they_land():
    clip = random_walk(5)
    retarget = Retarget(clip.linkage, HUMAN)
    stream = retarget.stream(rate=120, delay=0)
    assert stream.delay_frames == 0
    q = np.stack([stream.step(row).q for row in clip.q[:400]])
    assert stream.finish() == []
    found = measured(retarget, clip, q)
    assert found.contacts > 4
    assert found.slide < 3e-3
    assert found.depth < 1.1e-3
    assert found.speed <= 1 + 1e-6


@pytest.mark.parametrize("rate", [24, 30, 60, 300])
def test_a_stream_of_any_rate_does_not_slide_and_keeps_limits_and_speeds(rate):
    clip = turn_on_the_spot().sampled(rate)
    retarget = Retarget(clip.linkage, HUMAN)
    found = measured(retarget, clip, streamed(retarget, clip)[0])
    assert found.contacts > 8
    assert found.slide < 3e-3
    assert found.depth < 1.1e-3
    assert found.past_limits < 1e-9
    assert found.speed <= 1 + 1e-6


def test_a_source_that_jumps_from_one_pose_to_another_is_followed_within_speeds_and_above_ground():
    retarget = Retarget(HUMAN, G1)
    high = np.array(HUMAN.rest)
    high[:3] += [0.5, 0.2, 0.3]
    stream = retarget.stream(rate=60)
    q = np.stack([stream.step(row).q for row in [HUMAN.rest] * 20 + [high] * 60 + [HUMAN.rest] * 60])
    steps = retarget.target.difference(q[:-1], q[1:])
    assert (np.abs(steps) * 60 <= retarget.target.speed * (1 + 1e-6)).all()
    assert np.abs(retarget.target.clamp(q) - q).max() < 1e-9
    frames = retarget.target.frames(q)
    for side in ("left", "right"):
        foot = frames[retarget._body.links[f"{side}_foot"]]
        for point in (retarget._body.heel[side], retarget._body.toe[side]):
            assert foot.apply(point)[:, 2].min() > -1.1e-3


def test_a_stream_of_a_source_that_stands_stands():
    stream = Retarget(HUMAN, HUMAN).stream(rate=60)
    steps = [stream.step(HUMAN.rest) for _ in range(30)]
    assert np.ptp([step.q for step in steps], axis=0).max() < 1e-6
    assert steps[-1].touching == {"left": (True, True), "right": (True, True)}
    assert "60 frames per second, 3 behind" in repr(stream)


@pytest.mark.parametrize("delay", [-0.1, 1.5, np.nan, "long", None])
def test_a_bad_delay_is_refused(delay):
    with pytest.raises(BadInput, match=r"delay|number"):
        Retarget(HUMAN, HUMAN).stream(60, delay=delay)


def test_a_fade_goes_on_with_speed_and_acceleration_and_ends_with_none():
    rng = np.random.default_rng(1)
    for left in rng.integers(3, 40, 200):
        way, speed, bend = rng.normal(size=(3, 3))
        t = np.arange(-2, 1)[:, None]
        fade = Fade(np.inf)
        fade.begin(way + speed * t + 0.5 * bend * t**2, int(left))
        ahead = [fade.at(i) for i in range(int(left) + 2)]
        stepped = [fade.at(0), *(fade.next() for _ in range(int(left) + 1))]
        np.testing.assert_allclose(stepped, ahead, atol=1e-9 * left**2)
        assert np.abs(stepped[-2:]).max() == 0
        fine = 1e-3 * np.arange(3)[:, None]  # at its beginning it has the given slope and acceleration
        fade.begin(way + speed * t + 0.5 * bend * t**2, int(left))
        near = np.stack([fade.at(float(x)) for x in fine[:, 0]])
        np.testing.assert_allclose((near[1] - near[0]) / 1e-3, speed, atol=0.02 * (1 + left))


def test_a_fade_that_begins_in_noise_does_not_lead_away():
    rng = np.random.default_rng(3)
    for left in rng.integers(3, 60, 200):
        fade, before = Fade(0.03), rng.normal(size=3) + 0.05 * rng.normal(size=(3, 3))
        fade.begin(before, int(left))
        ahead = np.stack([fade.at(i) for i in range(int(left) + 1)])
        assert np.linalg.norm(ahead, axis=-1).max() <= np.linalg.norm(before[2]) + 0.03 + 1e-9


def test_a_stream_without_delay_stays_near_a_clip_that_is_not_filtered():
    clip = load_clip(Path(__file__).parents[1] / "data" / "cmu_01_01.bvh")
    part = Motion(clip.linkage, clip.times[1150:1400] - clip.times[1150], clip.q[1150:1400])
    retarget = Retarget(clip.linkage, HUMAN)
    q, whole = streamed(retarget, part, ground=retarget.ground(clip), delay=0.0)[0], retarget.motion(part).q
    for link in ("left_foot", "right_foot"):
        places = [HUMAN.frame(rows, link).position for rows in (q, whole)]
        assert np.linalg.norm(places[0] - places[1], axis=-1).max() < 0.3


@pytest.mark.parametrize("seed", [81, 82])
def test_a_slow_figure_keeps_the_speed_limits_of_its_root_and_ball_joints(seed):
    joints = [
        dataclasses.replace(joint, speed=tuple(0.05 * speed for speed in joint.speed))
        if joint.dof and joint.mimic is None
        else joint
        for joint in HUMAN.joints
    ]
    clip = at_speed(random_walk(seed), 1.5)
    retarget = Retarget(clip.linkage, Linkage("slow", joints, HUMAN.links))
    assert retarget.motion(clip).within_speeds(1e-6)
    q = streamed(retarget, clip, delay=0.0)[0]
    speed = np.abs(retarget.target.difference(q[:-1], q[1:])) * 120
    assert (speed <= retarget.target.speed * (1 + 1e-5)).all()


def test_a_bound_is_above_what_is_known_ahead_and_smooth():
    rng = np.random.default_rng(2)
    values = np.maximum(rng.normal(size=400), 0) * (rng.random(400) < 0.05)
    ahead = 12
    bound = Bound(ahead + 1)
    found = np.array([bound.next(values[i : i + ahead + 1]) for i in range(380)])
    assert (found >= values[:380] - 1e-12).all()
    assert np.abs(np.diff(found)).max() < 0.25 * values.max()


def test_a_slow_mean_takes_its_first_number_at_once_and_the_next_ones_slowly():
    mean = SlowMean()
    assert mean.next(None, 0.1) == 0
    assert mean.next(3.0, 0.1) == 3
    assert mean.next(4.0, 0.1) == pytest.approx(3.01)
    assert mean.next(None, 0.1) == pytest.approx(3.019)


def test_with_the_ground_of_the_clip_the_feet_of_a_stream_stand_where_those_of_the_whole_clip_do():
    clip = load_clip(Path(__file__).parents[1] / "data" / "cmu_01_01.bvh")
    part = Motion(clip.linkage, clip.times[600:1200] - clip.times[600], clip.q[600:1200])
    retarget = Retarget(clip.linkage, models.g1())
    assert retarget.ground(part) > 0.05  # the soles of this clip do not stand at 0
    stream = retarget.stream(rate=120, ground=retarget.ground(clip))
    q = np.array([stream.step(row).q for row in part.q])[stream.delay_frames :]
    whole = retarget.motion(part).q[: len(q)]
    heights = [retarget.target.frame(rows, "left_ankle_roll_link").position[:, 2] for rows in (q, whole)]
    assert np.median(np.abs(heights[0] - heights[1])) < 0.01


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_knee_that_is_bent_backwards_a_little_begins_bent_forward(side):
    leg, shape = (getattr(Retarget(HUMAN, G1)._limbs, name)[side] for name in ("legs", "leg_shapes"))
    assert leg.linkage.lower[shape.knee] < -0.05
    q = np.tile(leg.linkage.lower, (3, 1))
    q[:, shape.knee] += [0.0, 0.04, 0.3]
    bent = shape.bent(q.copy())
    assert (bent[:, shape.knee] > 0).all()


def test_a_robot_that_lands_in_a_stream_bends_its_knees():
    clip = load_clip(Path(__file__).parents[1] / "data" / "cmu_01_01.bvh")
    retarget = Retarget(clip.linkage, G1)
    part = Motion(clip.linkage, clip.times[:720], clip.q[:720])
    q, whole = streamed(retarget, part, ground=retarget.ground(clip))[0], retarget.motion(part).q
    heights = [retarget.target.frame(rows, "pelvis").position[640:, 2] for rows in (q, whole)]
    assert np.abs(heights[0] - heights[1]).max() < 0.06


@pytest.mark.parametrize(("target", "most"), [(HUMAN, 1.35), (G1, 1.5)], ids=["human", "g1"])
def test_a_stream_of_a_recorded_clip_shakes_little_more_than_the_whole_clip(target, most):
    clip = load_clip(Path(__file__).parents[1] / "data" / "cmu_01_01.bvh")
    part = Motion(clip.linkage, clip.times[1000:1600] - clip.times[1000], clip.q[1000:1600])
    retarget = Retarget(clip.linkage, target)
    q = streamed(retarget, part, ground=retarget.ground(part))[0]
    found, whole = (measured(retarget, part, rows) for rows in (q, retarget.motion(part).q))
    assert found.jerk < most * whole.jerk
    assert found.sliding < 0.05
    steps = retarget.target.difference(q[:-1], q[1:])[:, 6:]
    assert np.abs(np.diff(steps, axis=0)).max() * 120**2 < 700  # rad/s^2


def test_the_parts_of_a_split_fade_end_at_their_times_and_begin_as_one():
    rng = np.random.default_rng(4)
    for along in (True, False):
        before, up = rng.normal(size=(3, 3)), np.array([0.0, 0.6, 0.8])
        whole, split = Fade(np.inf), SplitFade(np.inf, along=along)
        whole.begin(before, 9)
        split.begin(before, 9, up, 0)
        np.testing.assert_allclose([split.next() for _ in range(9)], [whole.next() for _ in range(9)], atol=1e-12)
        split.begin(before, 9, up, 6)
        rest = split.at(9)  # of the slow part only
        assert (abs(rest @ up) if along else np.linalg.norm(rest - (rest @ up) * up)) < 1e-12
        assert np.linalg.norm(rest) > 1e-3
        assert np.abs(split.at(15)).max() == 0


def test_a_filter_of_rows_that_go_on_ends_as_if_the_last_row_stayed():
    rows = np.random.default_rng(5).normal(size=(40, 3))
    whole = np.concatenate([rows[:1].repeat(60, axis=0), rows, rows[-1:].repeat(60, axis=0)])
    np.testing.assert_allclose(smoothed_to_end(rows, 3.0), smoothed(whole, 3.0)[60:100], atol=1e-12)
    assert (smoothed_to_end(rows, 0.0) == rows).all()


@pytest.mark.parametrize("target", [HUMAN, G1], ids=["human", "g1"])
def test_the_feet_of_a_stream_stand_still_while_a_source_that_stands_trembles(target):
    rng = np.random.default_rng(6)
    stream = Retarget(HUMAN, target).stream(rate=120)
    noise = 1.5e-3 * rng.normal(size=(240, HUMAN.dof))  # m and rad: feet tremble by 2 mm
    q = np.stack([stream.step(row).q for row in HUMAN.clamp(HUMAN.integrate(np.tile(HUMAN.rest, (240, 1)), noise))])
    frames = stream._retarget.target.frames(q[60:])
    for side in ("left", "right"):
        place = frames[stream._retarget._body.links[f"{side}_foot"]].position
        assert np.ptp(place, axis=0).max() < 3e-3
