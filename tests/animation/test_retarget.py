"""Clips of one figure for another and for a robot."""

import contextlib
import dataclasses
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from oracle_footsteps import placed as placed_by_reference
from supple import BadInput, Frame, Goal, Linkage, Motion, SuppleError, _core, models
from supple.animate import (
    BodyMap,
    Retarget,
    Timeline,
    blend,
    load_clip,
    load_maps,
    plant_feet,
    save_maps,
    timeline_file,
)
from supple.animate.body_names import matched
from supple.animate.footsteps import Contacts, exponential, ground_height, placed
from supple.animate.rows import joined
from supple.animate.smoothing import raised, smoothed, within_speeds

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from figures.clips import reach_with_steps, turn_on_the_spot
from figures.measures import measured
from figures.random_clips import random_walk

CMU = Path(__file__).parents[1] / "data" / "cmu_01_01.bvh"
HUMAN, G1 = models.human(), models.g1()


@pytest.fixture(scope="module")
def clips():
    return {"reach": reach_with_steps(), "turn": turn_on_the_spot()}


@pytest.mark.parametrize("target", [HUMAN, G1], ids=["human", "g1"])
@pytest.mark.parametrize("name", ["reach", "turn"])
def test_feet_do_not_slide_and_limits_and_speeds_are_kept(clips, name, target):
    clip = clips[name]
    retarget = Retarget(clip.linkage, target)
    motion = retarget.motion(clip)
    found = measured(retarget, clip, motion.q)
    assert found.contacts > 8
    assert found.slide < 3e-3
    assert found.depth < 5e-3
    assert found.past_limits < 1e-9
    assert found.speed <= 1 + 1e-6


@pytest.mark.parametrize(("seed", "jerk"), [(101, 65.0), (403, 100.0), (504, 150.0), (1011, 68.0)])
def test_legs_do_not_swivel_at_limits_of_ankles_or_stay_straight_where_feet_come_near(seed, jerk):  # in rad/s^3
    clip = random_walk(seed)
    retarget = Retarget(clip.linkage, HUMAN)
    found = measured(retarget, clip, retarget.motion(clip).q)
    assert found.jerk < jerk
    assert found.slide < 3e-3
    assert found.depth < 5e-3
    assert found.past_limits < 1e-9
    assert found.speed <= 1 + 1e-6


@pytest.mark.parametrize("seed", [3, 26])
def test_a_pelvis_that_moves_back_for_one_ankle_leaves_the_other_foot_within_reach(seed):
    clip = random_walk(seed)
    retarget = Retarget(clip.linkage, HUMAN)
    found = measured(retarget, clip, retarget.motion(clip).q)
    assert found.slide < 3e-3
    assert found.depth < 5e-3
    assert found.speed <= 1 + 1e-6


@pytest.mark.parametrize("seed", range(20))
def test_a_pelvis_moves_back_no_farther_than_feet_on_the_ground_can_be_reached(seed):
    rng = np.random.default_rng(seed)
    n, thigh, shank, hip = 60, 0.43, 0.42, np.array([0.0, 0.09, 0.0])
    longest = 0.99 * (thigh + shank)

    def path(low, high):  # (n, 3), slow in time
        return smoothed(rng.uniform(low, high, (n, 3)), 6.0)

    pelvis = joined(exponential(path(-0.3, 0.3)), path([-0.1, -0.1, 0.75], [0.1, 0.1, 0.85]))
    legs = []
    for side in (1.0, -1.0):
        feet = joined(np.tile(np.eye(3), (n, 1, 1)), path([-0.3, 0.09 * side, 0.08], [0.3, 0.09 * side, 0.08]))
        states = np.zeros((n, 5))
        states[:, 0], states[:, 3] = 0.01, rng.uniform(0, 0.4, n)  # off by 1 cm: ankles bend too little
        flat = np.repeat(rng.random((n // 10, 1)) < 0.7, 10, axis=0) * np.ones((1, 3))
        points = np.stack([hip * [1, side, 1], [0.0, 1.0, 0.0]])
        legs.append((feet, flat.astype(float), states, np.ones((n, 1)), points, np.array([0.0, 0.15])))
    shift = _core.lean(pelvis, pelvis, np.array([1.0, 0, 0]), thigh, shank, 6, False, *legs)
    assert np.abs(shift).max() > 1e-3
    for feet, flat, _, _, points, _ in legs:
        way = pelvis[:, :3, :3] @ points[0] + pelvis[:, :3, 3] - feet[:, :3, 3]
        before, after = (np.linalg.norm(one, axis=-1) for one in (way, way + shift))
        on = flat[:, 0] > 0
        assert (after[on] <= np.maximum(before[on], longest) + 1e-9).all()


@pytest.mark.parametrize(("excess", "moves"), [(0.02, False), (0.2, True)])
def test_a_pelvis_stays_where_a_small_roll_of_a_foot_is_enough(excess, moves):
    n, points = 30, np.array([[0.0, 0.09, 0.0], [0.0, 1.0, 0.0]])
    pelvis = joined(np.tile(np.eye(3), (n, 1, 1)), np.tile([0.0, 0.0, 0.85], (n, 1)))
    feet = joined(np.tile(np.eye(3), (n, 1, 1)), np.tile([-0.1, 0.09, 0.08], (n, 1)))
    states = np.zeros((n, 5))
    states[:, 0], states[:, 3] = 0.01, excess  # the foot is 1 cm off: its ankle bends too little by this angle
    leg = (feet, np.ones((n, 3)), states, np.ones((n, 1)), points, np.array([0.09, 0.15]))
    for up in (False, True):
        shift = _core.lean(pelvis, pelvis, np.array([1.0, 0, 0]), 0.43, 0.42, 6, up, leg, leg)
        assert (np.abs(shift).max() > 1e-3) == moves


def test_a_recorded_jump_stays_above_the_floor_and_stands_where_ankles_reach_their_limits():
    whole = load_clip(CMU)
    clip = Motion(whole.linkage, whole.times[600:1000], whole.q[600:1000])
    retarget = Retarget(clip.linkage, HUMAN)
    found = measured(retarget, clip, retarget.motion(clip).q)
    assert found.contacts > 20
    assert found.slide < 3e-3
    assert found.depth < 3e-3
    assert found.past_limits < 1e-9
    assert found.speed <= 1 + 1e-6


def test_a_jump_of_a_recorded_person_on_the_robot():
    whole = load_clip(CMU)
    clip = Motion(whole.linkage, whole.times[120:360], whole.q[120:360])
    retarget = Retarget(clip.linkage, G1)
    found = measured(retarget, clip, retarget.motion(clip).q)
    assert found.slide < 3e-3
    assert found.depth < 5e-3
    assert found.past_limits < 1e-9
    assert found.speed <= 1 + 1e-6


def test_the_target_has_the_directions_of_the_clips_limbs(clips):
    clip = clips["reach"]
    retarget = Retarget(clip.linkage, HUMAN, smooth=0)
    motion = retarget.motion(clip)
    for first, second in (("right_upper_arm", "right_forearm"), ("right_forearm", "right_hand")):
        ways = []
        for one in (clip, motion):
            frames = one.linkage.frames(one.q)
            way = frames[second].position - frames[first].position
            ways.append(way / np.linalg.norm(way, axis=-1, keepdims=True))
        angle = np.arccos(np.clip(np.sum(ways[0] * ways[1], axis=-1), -1, 1))
        assert np.percentile(angle, 95) < 0.06


def test_a_figure_retargeted_to_itself_moves_as_before(clips):
    clip = clips["turn"]
    motion = Retarget(clip.linkage, clip.linkage, smooth=0).motion(clip)
    for link in ("pelvis", "left_hand", "right_hand", "left_foot", "head"):
        before, after = (one.linkage.frame(one.q, link).position for one in (clip, motion))
        assert np.percentile(np.linalg.norm(before - after, axis=-1), 95) < 0.03


@pytest.mark.parametrize(
    ("names", "part", "link"),
    [
        (["Hips", "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase"], "left_toes", "LeftToeBase"),
        (["mixamorig:Hips", "mixamorig:Spine2", "mixamorig:RightForeArm"], "right_forearm", "mixamorig:RightForeArm"),
        (["pelvis", "l_hip_roll_link", "l_knee_link"], "left_shank", "l_knee_link"),
        (["root", "R_Thigh", "R_Calf", "R_Foot"], "right_shank", "R_Calf"),
        (["left_hip", "left_knee", "left_ankle", "spine3", "left_wrist"], "left_hand", "left_wrist"),
    ],
)
def test_parts_are_found_by_the_names_that_people_give(names, part, link):
    assert matched(names)[part] == link


def test_maps_are_written_edited_and_read(tmp_path):
    source, target = BodyMap.of(HUMAN), BodyMap.of(G1)
    save_maps(tmp_path / "map.json", source, target)
    assert load_maps(tmp_path / "map.json", HUMAN, G1) == (source, target)
    data = json.loads((tmp_path / "map.json").read_text())
    data["target"]["links"]["left_hand"] = "left_rubber_hand"
    del data["source"]
    (tmp_path / "map.json").write_text(json.dumps(data))
    assert load_maps(tmp_path / "map.json", HUMAN, G1)[1].links["left_hand"] == "left_rubber_hand"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{", "cannot read"),
        ("[]", "an object"),
        ('{"from": {}}', "source"),
        ('{"source": []}', "object"),
        ('{"source": {"links": []}}', "links"),
        ('{"source": {"links": {"tail": "head"}}}', "tail"),
        ('{"source": {"links": {"head": "nothing"}}}', "nothing"),
        ('{"source": {"soles": {"left_toe": [1, 2]}}}', "left_toe"),
        ('{"source": {"soles": {"left_ear": [1, 2, 3]}}}', "left_ear"),
    ],
)
def test_a_bad_map_is_refused_with_its_file(tmp_path, text, found):
    (tmp_path / "map.json").write_text(text)
    with pytest.raises(BadInput, match=found) as caught:
        load_maps(tmp_path / "map.json", HUMAN, G1)
    assert "map.json" in str(caught.value)


def test_bodies_and_clips_that_do_not_fit_are_refused():
    with pytest.raises(BadInput, match=r"no link of .panda. is named"):
        Retarget(HUMAN, models.panda())
    with pytest.raises(BadInput, match="scale"):
        Retarget(HUMAN, G1, scale=0)
    retarget = Retarget(HUMAN, G1)
    with pytest.raises(BadInput, match="a clip must be"):
        retarget.motion(Motion(models.panda(), [0, 1], np.zeros((2, 8))))
    with pytest.raises(BadInput, match="two frames"):
        retarget.motion(Motion(HUMAN, [0], HUMAN.rest[None]))
    with pytest.raises(BadInput, match="finite"):
        retarget.stream(60).step(np.full(HUMAN.dof, np.nan))


def test_what_a_body_lacks_is_named_with_the_line_to_write():
    with pytest.raises(BadInput, match=r"no link of 'ur5' is named like a part of a body.*BodyMap.of\(linkage, "):
        BodyMap.of(models.ur5())
    handless = models.human().part("world", "head", "left_hand", "left_foot", "right_foot")
    with pytest.raises(BadInput, match="is no whole body: no link is named like its right upper arm, right forearm, "):
        BodyMap.of(handless)
    with pytest.raises(BadInput, match="load_clip"):
        Retarget(HUMAN, G1).motion("walk.bvh")


def test_retarget_prints_its_bodies():
    assert repr(Retarget(HUMAN, G1)).startswith("<Retarget from 'human' to 'g1': scale 0.")


def test_a_clip_that_was_cut_between_its_frames_is_sampled_at_equal_times():
    clip = Motion(HUMAN, [0, 0.1, 0.2, 0.3, 0.35], np.tile(HUMAN.rest, (5, 1)))
    motion = Retarget(HUMAN, G1).motion(clip)
    assert (motion.start, motion.end) == (0, 0.35)
    assert np.ptp(np.diff(motion.times)) < 1e-12


@pytest.mark.parametrize("target", [HUMAN, G1], ids=["human", "g1"])
def test_a_figure_that_turns_round_and_round_has_no_steps_of_a_whole_turn(target):
    q = np.tile(HUMAN.rest, (241, 1))
    q[:, 5] = np.linspace(-1.0, 4 * np.pi, 241)
    q[:, 5] = np.arctan2(np.sin(q[:, 5]), np.cos(q[:, 5]))  # the clip itself has steps
    assert np.abs(np.diff(q[:, 5])).max() > 6
    motion = Retarget(HUMAN, target).motion(Motion(HUMAN, np.arange(241) / 60, q))
    yaw = motion.q[:, motion.linkage.names.index("root.rz")]
    assert np.abs(np.diff(yaw)).max() < 0.2
    assert abs(np.ptp(yaw) - 4 * np.pi - 1) < 0.1
    assert motion.within_speeds(1e-6)


def test_a_recorded_clip_becomes_values_without_steps_of_a_whole_turn():
    motion = Retarget(load_clip(CMU).linkage, G1).motion(load_clip(CMU))
    free = np.isinf(motion.linkage.upper)
    assert np.abs(np.diff(motion.q[:, free], axis=0)).max() < 0.5


def test_the_unit_and_the_up_axis_of_a_clip_are_found():
    clip = load_clip(CMU)
    heights = clip.linkage.frames(clip.q)["Head"].position[:, 2]
    assert 1.1 < np.median(heights) < 1.6


@pytest.mark.parametrize("options", [{}, {"unit": "m"}, {"up": "y"}, {"up": "y", "unit": "m"}])
def test_a_person_in_gltf_stands_whatever_is_given(tmp_path, options):
    Motion(HUMAN, [0, 1], [HUMAN.rest, HUMAN.rest]).save(tmp_path / "still.glb")
    assert load_clip(tmp_path / "still.glb", **options).frame(0.5, "head").position[2] > 1.4


@pytest.mark.parametrize("ending", [".bvh", ".glb"])
def test_a_figure_that_stands_in_the_motion_but_not_at_rest(tmp_path, ending):
    path = tmp_path / f"still{ending}"
    Motion(HUMAN, [0, 1], [HUMAN.rest, HUMAN.rest]).save(tmp_path / "still.bvh", up="y", unit="cm")
    if ending == ".glb":
        Motion.load(tmp_path / "still.bvh", up="y", unit="cm").save(path)
    clip = load_clip(path)
    assert clip.frame(0.5, "head").position[2] > 1.4
    assert clip.linkage.frame(clip.linkage.rest, "head").position[2] > 0.5
    motion = Retarget(clip.linkage, G1).motion(clip)
    assert motion.frame(0.5, "pelvis").position[2] > 0.7


@pytest.mark.parametrize("up", ["x", "y", "z"])
@pytest.mark.parametrize("turned", [False, True])
def test_a_clip_of_any_up_axis_stands_or_is_asked_for_its_axis(tmp_path, up, turned):
    figure = HUMAN
    if turned:  # legs along y at rest, as most files have them
        Motion(HUMAN, [0, 1], [HUMAN.rest, HUMAN.rest]).save(tmp_path / "turned.glb")
        figure = load_clip(tmp_path / "turned.glb").linkage
    Motion(figure, [0, 1], [figure.rest, figure.rest]).save(tmp_path / "still.bvh", up=up, unit="cm")
    try:
        clip = load_clip(tmp_path / "still.bvh")
    except BadInput:
        with pytest.raises(BadInput, match=f'up="{up}"'):
            load_clip(tmp_path / "still.bvh")
        clip = load_clip(tmp_path / "still.bvh", up=up)
    assert clip.frame(0.5, "head").position[2] > 1.4
    assert clip.linkage.frame(clip.linkage.rest, "head").position[2] > 0.5
    motion = Retarget(clip.linkage, G1).motion(clip)
    assert motion.frame(0.5, "pelvis").position[2] > 0.7


def test_a_clip_of_a_figure_that_lies_is_read_if_its_up_axis_is_given(tmp_path):
    lying = np.array(HUMAN.rest)
    lying[4] = np.pi / 2
    Motion(HUMAN, [0, 1], [lying, lying]).save(tmp_path / "lying.bvh")
    with pytest.raises(BadInput, match='up="x" or, if the figure lies, up="z"'):
        load_clip(tmp_path / "lying.bvh")
    assert load_clip(tmp_path / "lying.bvh", up="z").frame(0.5, "head").position[2] < 1.0


def test_a_clip_without_legs_is_read_if_up_and_unit_are_given(tmp_path):
    arm = models.ur5()
    Motion(arm, [0, 1], [arm.rest, arm.rest]).save(tmp_path / "arm.glb")
    with pytest.raises(BadInput, match=r"no links named like thighs.*--up y --unit cm.*Its links are"):
        load_clip(tmp_path / "arm.glb")
    assert len(load_clip(tmp_path / "arm.glb", up="y", unit="m")) == 2


HOSTILE = ("x", None, [1, "a"], np.nan, np.inf, {}, object(), np.zeros((3, 3)), -1, True, [[1], [2, 3]])
CALLS = {
    "pose time": lambda bad: Timeline(HUMAN).pose(bad, HUMAN.rest),
    "pose q": lambda bad: Timeline(HUMAN).pose(0, bad),
    "pose joints": lambda bad: Timeline(HUMAN).pose(0, HUMAN.rest, joints=bad),
    "goal": lambda bad: Timeline(HUMAN).goal(0, bad),
    "goal base": lambda bad: Timeline(HUMAN).goal(0, Goal("head", position=[0, 0, 1]), base=bad),
    "goal blend": lambda bad: Timeline(HUMAN).goal(0, Goal("head", position=[0, 0, 1]), blend=bad),
    "rate": lambda bad: Timeline(HUMAN).pose(0, HUMAN.rest).pose(1, HUMAN.rest).motion(bad),
    "blend": lambda bad: blend(HUMAN, bad, HUMAN.rest, 0.5),
    "weight": lambda bad: blend(HUMAN, HUMAN.rest, HUMAN.rest, bad),
    "plant": plant_feet,
    "source": lambda bad: Retarget(bad, HUMAN),
    "target": lambda bad: Retarget(HUMAN, bad),
    "scale": lambda bad: Retarget(HUMAN, HUMAN, scale=bad),
    "smooth": lambda bad: Retarget(HUMAN, HUMAN, smooth=bad),
    "map": lambda bad: Retarget(HUMAN, HUMAN, source_map=bad),
    "source rest": lambda bad: Retarget(HUMAN, HUMAN, source_rest=bad),
    "clip": lambda bad: Retarget(HUMAN, HUMAN).motion(bad),
    "stream": lambda bad: Retarget(HUMAN, HUMAN).stream(bad),
    "ground": lambda bad: Retarget(HUMAN, HUMAN).stream(60, ground=bad),
    "links": lambda bad: BodyMap(bad, {}),
    "file": load_clip,
}


@pytest.mark.parametrize("name", CALLS)
def test_hostile_arguments_raise_nothing_but_errors_of_supple(name):
    for bad in HOSTILE:
        with contextlib.suppress(SuppleError):
            CALLS[name](bad)


def test_maps_are_written_to_files_only_and_read_from_ordinary_ones(tmp_path):
    parts = BodyMap.of(HUMAN)
    for wrong in (1, True, None, "", b"maps.json", "a\0b"):  # the number of an open file would be written and closed
        with pytest.raises(BadInput, match="path must be the path of a file"):
            save_maps(wrong, parts, parts)
    with pytest.raises(BadInput, match="target must be a BodyMap"):
        save_maps(tmp_path / "maps.json", parts, None)
    assert not list(tmp_path.iterdir())
    os.mkfifo(tmp_path / "pipe.json")
    for read in (lambda file: load_maps(file, HUMAN, HUMAN), lambda file: timeline_file.read(file, models.get)):
        with pytest.raises(BadInput, match="a device or a pipe is not read"):
            read(tmp_path / "pipe.json")


# -- smoothing in time ------------------------------------------------------------------------------------------------


def test_a_filter_keeps_lines_and_ends():
    line = np.linspace(0, 3, 50)[:, None] * [1.0, -2.0]
    assert np.abs(smoothed(line, 4.0) - line).max() < 1e-12
    noise = np.random.default_rng(0).normal(size=(400, 3))
    assert smoothed(noise, 3.0).std() < 0.4
    assert np.abs(smoothed(noise, 3.0)[[0, -1]] - noise[[0, -1]]).max() < 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_a_foot_is_placed_as_by_the_reference(seed):
    """Random contacts, also none and all, feet below the ground, and steps that stay in some frames."""
    rng = np.random.default_rng(seed)
    count, dt = int(rng.integers(2, 200)), float(rng.choice([1 / 120, 1 / 30, 0.5]))
    heel_on, toe_on, anchors = (np.repeat(rng.random(count), rng.integers(1, 30))[:count] < p for p in rng.random(3))
    contacts = Contacts(heel_on, toe_on if seed else heel_on)
    walk = np.cumsum(rng.normal(0, 0.02, (count, 6)), axis=0)
    walk[:, 2] += 0.05
    frames = joined(exponential(walk[:, 3:]), walk[:, :3])
    points = np.array([-0.05, 0.01, -0.08]), np.array([0.15, 0.0, -0.08])
    flat = None if seed % 2 else exponential(rng.normal(0, 0.3, (1, 3)))[0]
    got = placed(frames, contacts.numbers(anchors), *points, dt, flat)
    turns, positions = placed_by_reference(frames[:, :3, :3], frames[:, :3, 3], contacts, points, flat, dt, anchors)
    np.testing.assert_allclose(got, joined(turns, positions), rtol=0, atol=1e-12)


def test_a_foot_of_no_frames_has_none():
    nothing = np.zeros(0, dtype=bool)
    points = np.zeros(3), np.ones(3)
    assert placed(np.zeros((0, 4, 4)), Contacts(nothing, nothing).numbers(), *points, 0.1).shape == (0, 4, 4)


@pytest.mark.parametrize("width", [0.4, 2.4, 24.0, 60.0])
def test_short_and_long_filters_agree(width, monkeypatch):
    rows = np.random.default_rng(1).normal(size=(250, 4)).cumsum(axis=0)
    short = smoothed(rows, width)
    monkeypatch.setattr("supple.animate.smoothing._SHORT", 0 if width < 25 else 1000)
    np.testing.assert_allclose(smoothed(rows, width), short, rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_a_raised_bound_is_above_and_smooth(seed):
    values = np.maximum(np.random.default_rng(seed).normal(size=300) - 1.5, 0)
    above = raised(values, 12)
    assert (above >= values - 1e-12).all()
    assert np.abs(np.diff(above)).max() < 0.5


@pytest.mark.parametrize("seed", range(3))
def test_speeds_are_kept_from_row_to_row(seed):
    rng = np.random.default_rng(seed)
    q = HUMAN.random(200, seed=seed)
    q = HUMAN.clamp(HUMAN.integrate(np.tile(HUMAN.rest, (200, 1)), 0.3 * rng.normal(size=q.shape)))
    out = within_speeds(HUMAN, q, 1 / 120)
    assert (np.abs(HUMAN.difference(out[:-1], out[1:])) * 120 <= HUMAN.speed * (1 + 1e-6)).all()
    assert HUMAN.inside(out, 1e-9).all()


@pytest.mark.parametrize("seed", range(5))
def test_continued_rotation_vectors_are_the_same_rotations_and_do_not_jump(seed):
    rng = np.random.default_rng(seed)
    axes = smoothed(rng.normal(0, 1.0, (400, 3)), 15.0)
    angles = np.pi + 1.5 * np.sin(np.linspace(-1.5, 12.0, 400))  # from less than a half turn to more and back
    path = angles[:, None] * axes / np.linalg.norm(axes, axis=1, keepdims=True)
    vectors = Frame.at([0, 0, 0], exponential(path)).to_rotvec()
    assert np.linalg.norm(np.diff(vectors, axis=0), axis=1).max() > np.pi  # they jump
    rows = np.concatenate([rng.random((400, 1)), vectors, rng.random((400, 2))], axis=1)
    found = _core.continued(rows, [1])
    assert (found[:, [0, 4, 5]] == rows[:, [0, 4, 5]]).all()
    assert np.abs(found[:, 1:4] - path).max() < 1e-6


def test_the_height_of_the_ground_is_a_percentile():
    rng = np.random.default_rng(0)
    for count in (1, 2, 3, 20, 21, 22, 500):
        heights = rng.random((count, 4))
        assert abs(ground_height(heights) - np.percentile(heights.min(axis=-1), 5)) < 1e-12


def swinging_arms(elbow):
    """The arms of a human swing to the side and forward for 3 s, with elbows bent as a function of time says."""
    times = np.arange(361) / 120
    q = np.tile(HUMAN.rest, (361, 1))
    step = np.zeros_like(q)
    for side in ("left", "right"):
        first = HUMAN._sources[f"{side}_shoulder"].first
        step[:, first] = 0.2 * np.sin(4 * np.pi * times / 3)
        step[:, first + 1] = 0.6 * np.sin(2 * np.pi * times / 3)
        q[:, HUMAN._sources[f"{side}_elbow"].first] = elbow(times)
    return Motion(HUMAN, times, HUMAN.clamp(HUMAN.integrate(q, step)))


@pytest.mark.parametrize("target", [models.human(1.6), G1], ids=["human", "g1"])
@pytest.mark.parametrize(
    "elbow",
    [
        lambda t: 0 * t,
        lambda t: np.maximum(0, 0.5 * np.cos(np.pi * t)),
        lambda t: 0.002 * np.random.default_rng(1).random(len(t)),
    ],
    ids=["straight", "straight at times", "shaking"],
)
def test_a_straight_arm_does_not_turn_fast_about_itself(elbow, target):
    clip = swinging_arms(elbow)
    retarget = Retarget(HUMAN, target)
    motion = retarget.motion(clip)
    arms = [i for limb in retarget._limbs.arms.values() for i in limb.columns]
    speed = np.abs(motion.linkage.difference(motion.q[:-1], motion.q[1:]))[:, arms].max() * 120
    assert speed < 10.5
    hands = [motion.frame(motion.times, retarget.target_map.links[f"{side}_hand"]) for side in ("left", "right")]
    assert max(np.abs(np.diff(hand.position, axis=0)).max() for hand in hands) * 120 < 2.0


def test_a_clip_of_few_keys_far_apart_is_refused_before_it_fills_the_memory():
    clip = Motion(HUMAN, [0, 0.1, 0.2, 1e6], np.tile(HUMAN.rest, (4, 1)))
    with pytest.raises(BadInput, match=r"10,000,000 frames need about [\d,.]+ GB"):
        Retarget(HUMAN, G1).motion(clip)


@pytest.mark.parametrize("point", [(0, 0, np.nan), (np.inf, 0, 0), (0, 0), "abc", None])
def test_soles_that_are_no_points_are_refused(point):
    whole = BodyMap.of(HUMAN)
    with pytest.raises(BadInput, match="left_heel"):
        BodyMap(whole.links, {**whole.soles, "left_heel": point})


@pytest.mark.parametrize("link", [pytest.param(10**5000, id="long number"), None, 3.0, ["left_hand"]])
def test_a_link_of_a_body_that_is_no_name_is_refused(link):
    whole = BodyMap.of(HUMAN)
    with pytest.raises(BadInput, match="left_hand"):
        BodyMap({**whole.links, "left_hand": link}, whole.soles)


@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 41])
def test_differences_of_many_rows_are_those_of_single_rows(rows):
    rng = np.random.default_rng(rows)
    start, end = HUMAN.random(rows, seed=rng), HUMAN.random(rows, seed=rng)
    step = HUMAN.difference(start, end)
    for i in range(rows):
        assert np.allclose(step[i], HUMAN.difference(start[i], end[i]), rtol=0, atol=1e-14)
    there = HUMAN.frames(HUMAN.integrate(start, step)).matrix
    assert np.allclose(there, HUMAN.frames(end).matrix, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("count", "size", "reach"), [(1, 3, 0), (2, 1, 1), (9, 5, 8), (40, 1, 19), (41, 7, 20), (90, 3, 4)]
)
def test_a_filter_is_the_weighted_sum_of_rows_reflected_at_the_ends(count, size, reach):
    rng = np.random.default_rng(count)
    rows, weights = rng.normal(size=(count, size)), rng.uniform(size=reach + 1)
    whole = np.concatenate([2 * rows[:1] - rows[reach:0:-1], rows, 2 * rows[-1:] - rows[-2 : -reach - 2 : -1]])
    both = np.concatenate([weights[:0:-1], weights])
    expected = np.stack([both @ whole[i : i + 2 * reach + 1] for i in range(count)])
    np.testing.assert_allclose(_core.filter_rows(rows, weights), expected, rtol=0, atol=1e-12)


def test_many_ball_joints_are_clamped_as_each_alone_and_the_argument_stays():
    figure = models.human()
    q = 3 * figure.random(2, 30, seed=4)
    given, nearest = q.copy(), figure.clamp(q)
    assert np.array_equal(q, given)
    within = np.clip(q, figure.lower, figure.upper)
    firsts, ranges = figure._ball_limits
    assert len(firsts) > 5
    for first, (*axis, swing, low, high) in zip(firsts, ranges.tolist(), strict=True):
        columns = slice(first, first + 3)
        within[..., columns] = _core.clamp_ball(
            np.ascontiguousarray(within[..., columns]), np.array(axis), swing, low, high
        )
    assert np.array_equal(nearest, within)
    assert np.array_equal(figure.clamp(q[1, 7]), nearest[1, 7])


def test_a_robot_whose_knees_bend_with_smaller_values_moves_as_one_with_larger_values():
    joints = []
    for joint in G1.joints:
        if "knee" in joint.name:
            axis = tuple(-x for x in joint.axis)
            limits = {"lower": (-joint.upper[0],), "upper": (-joint.lower[0],), "rest": (-joint.rest[0],)}
            joint = dataclasses.replace(joint, axis=axis, **limits)
        joints.append(joint)
    mirrored = Linkage("mirrored", joints, G1.links)
    clip = turn_on_the_spot()
    made = [Retarget(clip.linkage, robot).motion(clip) for robot in (G1, mirrored)]
    for link in ("left_knee_link", "right_ankle_roll_link", "pelvis"):
        places = [motion.frame(motion.times, link).position for motion in made]
        assert np.abs(places[0] - places[1]).max() < 1e-4
