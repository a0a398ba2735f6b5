"""Clips as other software writes them: reference poses, rest poses that do not stand, names, feet of other sizes."""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

from supple import Frame, Goal, Joint, Link, Linkage, Motion, models
from supple.animate import BodyMap, Retarget, Timeline, load_clip
from supple.animate.body import SIDES, Body
from supple.animate.body_names import matched
from supple.animate.clip_frames import without_reference_pose
from supple.animate.pose_targets import Correspondence, pose_targets

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from figures.clips import reach_with_steps, turn_on_the_spot
from figures.measures import measured
from figures.random_clips import random_walk

HUMAN, G1 = models.human(), models.g1()
CMU = Path(__file__).parents[1] / "data" / "cmu_01_01.bvh"


def with_reference_pose(clip: Motion) -> Motion:
    """A clip as converters write it: its first frame is the rest pose at the origin."""
    q = clip.q + 0.0
    q[:, 0] += 0.7
    reference = np.concatenate([clip.linkage.rest[None], q])
    return Motion(clip.linkage, np.arange(len(reference)) / 120, reference)


@pytest.mark.parametrize("target", [HUMAN, G1], ids=["human", "g1"])
def test_a_reference_pose_before_a_clip_is_no_part_of_it(target):
    clip = with_reference_pose(random_walk(71))
    retarget = Retarget(clip.linkage, target)
    motion = retarget.motion(clip)
    assert len(motion) == len(clip)
    assert (motion.times == clip.times).all()
    without = Motion(clip.linkage, clip.times[1:], clip.q[1:])
    expected = retarget.motion(without)
    frames, wanted = (one.linkage.frames(one.q) for one in (motion, expected))
    link = retarget.target_map.links["pelvis"]
    assert np.abs(frames[link].position[1:] - wanted[link].position).max() < 1e-3
    assert measured(retarget, clip, motion.q).slide < 3e-3
    assert measured(retarget, clip, motion.q).jerk < 1.1 * measured(retarget, without, expected.q).jerk


def test_the_recorded_clip_has_a_reference_pose_and_made_clips_have_none():
    recorded = Motion.load(CMU, up="y", unit=0.056444)
    found = without_reference_pose(recorded)
    assert (found.q[0] == recorded.q[1]).all()
    assert (found.q[1:] == recorded.q[1:]).all()
    assert without_reference_pose(found) is found
    for clip in (reach_with_steps(), turn_on_the_spot(), random_walk(72)):
        assert without_reference_pose(clip) is clip
    keys = Motion(HUMAN, [0, 0.5, 1, 2, 3], [HUMAN.rest, *4 * [HUMAN.q(left_shoulder=[0, 0, 0])]])
    assert without_reference_pose(keys) is keys


def along_one_axis(clip: Motion) -> Motion:
    """The same motion of a figure whose bones all lie along x at rest, as files say that give each bone its own axes:
    the axes of each link are turned so that the way to its first child is along x.
    """
    linkage, turn, first = clip.linkage, {}, {}
    for joint in linkage.joints:
        if joint.parent != linkage.root and joint.parent not in first:
            first[joint.parent] = joint.location.position
    for link in (link.name for link in linkage.links):
        way = first.get(link, np.zeros(3))
        length = np.linalg.norm(way)
        axis = np.cross([1.0, 0, 0], way)
        turn[link] = Frame.at([0, 0, 0])
        if length > 1e-6 and np.linalg.norm(axis) > 1e-9:
            angle = np.arccos(way[0] / length)
            turn[link] = Frame.at([0, 0, 0], Frame.turn(axis, angle).rotation)
    turn[linkage.root] = Frame.at([0, 0, 0])
    frames = linkage.frames(clip.q)
    joints, columns = [], []
    for joint in linkage.joints:
        at = turn[joint.parent].inverse().apply(joint.location.position)
        before = frames[joint.parent] @ turn[joint.parent] @ Frame.at(at)
        local = before.inverse() @ (frames[joint.child] @ turn[joint.child])
        if joint.parent == linkage.root:
            joints.append(joint.floating(joint.name, joint.parent, joint.child))
            columns += [frames[joint.child].position, (frames[joint.child] @ turn[joint.child]).to_rotvec()]
        else:
            joints.append(joint.ball(joint.name, joint.parent, joint.child, at=Frame.at(at)))
            columns.append(local.to_rotvec())
    made = Linkage("bones", joints, [dataclasses.replace(link, geometry=()) for link in linkage.links])
    return Motion(made, clip.times, np.concatenate(columns, axis=1))


def test_a_figure_whose_bones_lie_along_one_axis_at_rest_stands_as_in_its_motion(tmp_path):
    walk = random_walk(73)
    walk.save(tmp_path / "walk.bvh", up="y", unit="cm")
    plain = load_clip(tmp_path / "walk.bvh")
    bones = along_one_axis(plain)
    bones.save(tmp_path / "bones.bvh", up="y", unit="cm")
    clip = load_clip(tmp_path / "bones.bvh")
    heads = [one.frame(one.times, "head").position for one in (plain, clip)]
    assert np.abs(heads[0] - heads[1]).max() < 1e-6
    made, expected = (Retarget(one.linkage, HUMAN).motion(one) for one in (clip, plain))
    for link in ("pelvis", "chest", "left_forearm", "right_hand", "left_foot", "right_foot"):
        ways = [one.frame(one.times, link).position for one in (made, expected)]
        assert np.linalg.norm(ways[0] - ways[1], axis=-1).max() < 0.06, link
    assert measured(Retarget(clip.linkage, HUMAN), clip, made.q).slide < 3e-3


NAMES = {  # of the pelvis, and of the left limbs from shoulder and hip on
    "3ds Max Biped": "Bip01 Pelvis, Bip01 L UpperArm, Bip01 L Forearm, Bip01 L Hand, "
    "Bip01 L Thigh, Bip01 L Calf, Bip01 L Foot, Bip01 L Toe0",
    "3ds Max BVH": "Hips, LeftShoulder, LeftElbow, LeftWrist, LeftHip, LeftKnee, LeftAnkle, LeftToe",
    "Character Studio": "Hips, LeftUpArm, LeftLowArm, LeftHand, LeftUpLeg, LeftLowLeg, LeftFoot, LeftToe",
    "Xsens": "Pelvis, LeftUpperArm, LeftForeArm, LeftHand, LeftUpperLeg, LeftLowerLeg, LeftFoot, LeftToe",
    "Unreal": "pelvis, upperarm_l, lowerarm_l, hand_l, thigh_l, calf_l, foot_l, ball_l",
    "VRM": "J_Bip_C_Hips, J_Bip_L_UpperArm, J_Bip_L_LowerArm, J_Bip_L_Hand, "
    "J_Bip_L_UpperLeg, J_Bip_L_LowerLeg, J_Bip_L_Foot, J_Bip_L_ToeBase",
    "Poser": "hip, lShldr, lForeArm, lHand, lThigh, lShin, lFoot, lToe",
    "Genesis": "pelvis, lShldrBend, lForearmBend, lHand, lThighBend, lShin, lFoot, lToe",
    "Acclaim": "root, lhumerus, lradius, lwrist, lfemur, ltibia, lfoot, ltoes",
    "SMPL": "Pelvis, L_Shoulder, L_Elbow, L_Wrist, L_Hip, L_Knee, L_Ankle, L_Toe",
    "MakeHuman": "root, upperarm01.L, lowerarm01.L, wrist.L, upperleg01.L, lowerleg01.L, foot.L, toe1-1.L",
    "Character Creator": "CC_Base_Pelvis, CC_Base_L_Upperarm, CC_Base_L_Forearm, CC_Base_L_Hand, "
    "CC_Base_L_Thigh, CC_Base_L_Calf, CC_Base_L_Foot, CC_Base_L_ToeBase",
    "a prefix": "Robot_Hips, Robot_LeftArm, Robot_LeftForeArm, Robot_LeftHand, "
    "Robot_LeftUpLeg, Robot_LeftLeg, Robot_LeftFoot, Robot_LeftToeBase",
}


@pytest.mark.parametrize("software", NAMES)
def test_parts_are_found_by_the_names_of_other_software(software):
    names = NAMES[software].split(", ")
    parts = ("pelvis", *(f"left_{part}" for part in ("upper_arm", "forearm", "hand", "thigh", "shank", "foot", "toes")))
    found = matched(names)
    assert {part: found.get(part) for part in parts} == dict(zip(parts, names, strict=True))


def test_a_foot_that_moves_on_an_ankle_is_the_ball_of_the_foot():
    renamed = {"left_foot": "L_Ankle", "left_toes": "L_Foot", "right_foot": "R_Ankle", "right_toes": "R_Foot"}
    joints = [
        dataclasses.replace(j, parent=renamed.get(j.parent, j.parent), child=renamed.get(j.child, j.child))
        for j in HUMAN.joints
    ]
    links = [dataclasses.replace(link, name=renamed.get(link.name, link.name)) for link in HUMAN.links]
    found = BodyMap.of(Linkage("smpl", joints, links)).links
    assert (found["left_foot"], found["left_toes"]) == ("L_Ankle", "L_Foot")
    assert (found["right_foot"], found["right_toes"]) == ("R_Ankle", "R_Foot")


def bends(body: Body, q: np.ndarray, side: str) -> np.ndarray:
    """The angles of a knee (n,), in radians."""
    frames = body.linkage.frames(q)
    hip, knee, ankle = (frames[body.links[f"{side}_{part}"]].position for part in ("thigh", "shank", "foot"))
    upper, lower = knee - hip, ankle - knee
    cosine = (upper * lower).sum(-1) / np.linalg.norm(upper, axis=-1) / np.linalg.norm(lower, axis=-1)
    return np.arccos(np.clip(cosine, -1, 1))


def wide_steps(figure: Linkage) -> Motion:
    """A figure that stands with one foot far ahead, and sways a little forward and back."""
    rest = figure.frames(figure.rest)
    line = Timeline(figure).pose(0, figure.rest)
    for time, sway in ((0, 0.0), (1, 0.06), (2, 0.0)):
        line = line.goal(time, Goal("pelvis", Frame.at(rest["pelvis"].position + np.array([sway, 0, -0.09]))), blend=0)
        for side, ahead in (("left", 0.28), ("right", -0.28)):
            foot = rest[f"{side}_foot"]
            line = line.goal(
                time, Goal(f"{side}_foot", Frame.at(foot.position + np.array([ahead, 0, 0]), foot.rotation)), blend=0
            )
    return line.motion(60, progress=False)


def test_knees_are_bent_as_those_of_the_source_whatever_the_height_of_its_ankles():
    clip = wide_steps(HUMAN)
    target = models.human(1.5)
    body, soles = Body.of(HUMAN, BodyMap.of(HUMAN)), {}
    for side in SIDES:
        for name, point in (("heel", body.heel[side]), ("toe", body.toe[side])):
            soles[f"{side}_{name}"] = (point[0], point[1], -0.01)
    low = dataclasses.replace(BodyMap.of(HUMAN), soles=soles)  # as in files that have no soles
    retarget = Retarget(HUMAN, target, source_map=low)
    motion = retarget.motion(clip)
    for side in SIDES:
        source, found = bends(retarget._pair.source, clip.q, side), bends(retarget._body, motion.q, side)
        assert np.abs(source - found).max() < 0.15


def test_a_figure_that_sits_is_not_moved_over_its_feet():
    rest = HUMAN.frames(HUMAN.rest)
    line = Timeline(HUMAN).pose(0, HUMAN.rest)
    for time in (0, 1):
        line = line.goal(time, Goal("pelvis", Frame.at(rest["pelvis"].position + np.array([-0.35, 0, -0.42]))), blend=0)
        for side in SIDES:
            line = line.goal(time, Goal(f"{side}_foot", rest[f"{side}_foot"]), blend=0)
    clip = line.motion(60, progress=False)
    body = Body.of(HUMAN, BodyMap.of(HUMAN))
    targets = pose_targets(Correspondence.of(body, body, None), clip.q, 1 / 60, 0.0)
    assert np.abs(targets.pelvis[:, :3, 3] - clip.linkage.frames(clip.q)["pelvis"].position).max() < 0.02


def renamed(linkage: Linkage, names: dict[str, str], more: tuple[Joint, ...] = ()) -> Linkage:
    """A linkage with other names of links, and more joints."""
    joints = [
        dataclasses.replace(j, parent=names.get(j.parent, j.parent), child=names.get(j.child, j.child))
        for j in linkage.joints
    ]
    links = [dataclasses.replace(link, name=names.get(link.name, link.name)) for link in linkage.links]
    return Linkage("robot", [*joints, *more], [*links, *(Link(joint.child) for joint in more)])


def test_limbs_of_a_robot_whose_links_are_numbered_are_found_by_their_bones():
    chains: dict[str, list[str]] = {}
    for joint in G1.joints:
        side, _, rest = joint.child.partition("_")
        if side in ("left", "right") and joint.dof:
            kind = "leg" if any(word in rest for word in ("hip", "knee", "ankle")) else "arm"
            chains.setdefault(f"{kind}_{side}", []).append(joint.child)
    names = {link: f"{chain}_{i + 1}_link" for chain, links in chains.items() for i, link in enumerate(links)}
    robot = renamed(G1, {**names, "pelvis": "base_link", "torso_link": "body_2_link"})
    found = BodyMap.of(robot).links
    for part, link in (
        ("shank", "knee_link"),
        ("foot", "ankle_roll_link"),
        ("forearm", "elbow_link"),
        ("hand", "wrist_yaw_link"),
        ("thigh", "hip_yaw_link"),
        ("upper_arm", "shoulder_roll_link"),
    ):
        for side in SIDES:
            assert found[f"{side}_{part}"] == names[f"{side}_{link}"]
    assert (found["pelvis"], found["chest"]) == ("base_link", "body_2_link")
    clip = turn_on_the_spot()
    retarget = Retarget(clip.linkage, robot)
    assert measured(retarget, clip, retarget.motion(clip).q).slide < 3e-3


def test_shells_that_are_fixed_to_links_are_no_parts_of_a_body():
    names = {"chest": "trunk_9"} | {f"{side}_upper_arm": f"{side}_shoulder_9" for side in SIDES}
    shells = [Joint.fixed("shell", "trunk_9", "torso", at=Frame.at([0.05, 0, 0]))]
    shells += [Joint.fixed(f"{side}_shell", f"{side}_shoulder_9", f"{side}_upper_arm") for side in SIDES]
    found = BodyMap.of(renamed(HUMAN, names, tuple(shells))).links
    assert found["chest"] == "trunk_9"
    assert [found[f"{side}_upper_arm"] for side in SIDES] == ["left_shoulder_9", "right_shoulder_9"]
    assert found["left_hand"] == "left_hand"


def test_a_thing_before_the_figure_of_a_file_changes_nothing(tmp_path):
    walk = random_walk(74)
    walk.save(tmp_path / "walk.bvh", up="y", unit="cm")
    lines = (tmp_path / "walk.bvh").read_text().splitlines()
    at = lines.index("MOTION") + 3
    ball = ["ROOT ball", "{", "OFFSET 0 0 0", "CHANNELS 3 Xposition Yposition Zposition", "}"]
    rows = [f"{i} 20 0 {line}" for i, line in enumerate(lines[at:])]
    (tmp_path / "ball.bvh").write_text("\n".join([lines[0], *ball, *lines[1:at], *rows]))
    clips = [load_clip(tmp_path / name) for name in ("walk.bvh", "ball.bvh")]
    made = [Retarget(clip.linkage, G1).motion(clip).q for clip in clips]
    assert np.abs(made[0] - made[1]).max() < 1e-9
