"""Laws of the human figure: proportions, ranges like a person's, a stable rest pose, and limits that hold."""

from __future__ import annotations

import numpy as np
import pytest

from supple import Capsule, Frame, Goal, Kind, Solver, Sphere, models, solve
from supple.errors import BadInput

HUMAN = models.human()


def pose(**rotations: Frame | float) -> np.ndarray:
    """Joint values for rotations of links in their parents, by joint: others as with the arms sideways."""
    values: dict[str, object] = {}
    for joint in HUMAN.joints:
        if joint.kind is Kind.BALL:
            wanted = rotations.get(joint.name, Frame())
            assert isinstance(wanted, Frame)
            values[joint.name] = (Frame.at([0, 0, 0], joint.location).inverse() @ wanted).to_rotvec()
        elif joint.kind is Kind.REVOLUTE:
            values[joint.name] = rotations.get(joint.name, 0.0)
    return HUMAN.q(values)


def turn(axis: str, degrees: float) -> Frame:
    return Frame.turn(np.eye(3)["xyz".index(axis)], np.radians(degrees))


def test_there_are_20_to_25_joints_with_ranges() -> None:
    moving = [joint for joint in HUMAN.joints if joint.dof]
    assert 20 <= len(moving) <= 25
    for joint in moving:
        if joint.kind is Kind.BALL:
            assert joint.swing < np.pi
            assert joint.twist[1] - joint.twist[0] < 2 * np.pi
        else:
            assert joint.kind is Kind.FLOATING or np.isfinite([*joint.lower, *joint.upper]).all()


@pytest.mark.parametrize("height", [1.2, 1.75, 2.1])
def test_heights_are_those_asked_for_and_the_soles_touch_the_ground(height: float) -> None:
    for options in ({}, {"legs": 1.2}, {"torso": 0.8, "head": 1.4}, {"arms": 1.3, "shoulders": 1.2, "hips": 0.8}):
        figure = models.human(height, **options)
        assert figure.frame(figure.rest, "head_End").position[2] == pytest.approx(height, rel=2e-3)
        lowest = min(
            (frame.apply([[0, 0, -shape.length / 2], [0, 0, shape.length / 2]])[:, 2] - shape.radius).min()
            for _, piece, frame in figure.world_geometry(figure.rest)
            if isinstance(shape := piece.shape, Capsule)
        )
        assert lowest == pytest.approx(0, abs=1e-3 * height)
        assert figure.mass == pytest.approx(70)
        x, y, _ = figure.center_of_mass(figure.rest)
        heel, toe = (figure.frame(figure.rest, link).position[0] for link in ("left_foot", "left_toes_End"))
        assert heel < x < toe  # it would not fall
        assert y == pytest.approx(0, abs=1e-9)


def test_proportions_change_what_they_name() -> None:
    def length(figure: object, one: str, other: str) -> float:
        frames = figure.frames(figure.rest)  # type: ignore[attr-defined]
        return float(np.linalg.norm(frames[one].position - frames[other].position))

    long = models.human(arms=1.25)
    for parts in (("left_upper_arm", "left_forearm"), ("right_forearm", "right_hand")):
        assert length(long, *parts) == pytest.approx(1.25 * length(HUMAN, *parts))
    wide = models.human(hips=1.5)
    assert length(wide, "left_thigh", "right_thigh") == pytest.approx(1.5 * length(HUMAN, "left_thigh", "right_thigh"))
    legs = models.human(legs=1.2)
    assert length(legs, "left_thigh", "left_shank") > 1.08 * length(HUMAN, "left_thigh", "left_shank")


@pytest.mark.parametrize(
    "wrong", [{"height": 0}, {"height": "tall"}, {"height": [1.7]}, {"arms": -1}, {"legs": 10}, {"mass": float("nan")}]
)
def test_impossible_people_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(BadInput, match="must be"):
        models.human(**wrong)


def test_left_and_right_are_mirror_images() -> None:
    frames = HUMAN.frames(HUMAN.rest)
    for link in HUMAN.links:
        if link.name.startswith("left_"):
            left, right = (frames[link.name.replace("left", side)].position for side in ("left", "right"))
            assert left == pytest.approx(right * [1, -1, 1], abs=1e-12)


def mirrored(side: str, degrees: float) -> Frame:
    """A turn about x that raises an arm of that side."""
    return turn("x", degrees if side == "left" else -degrees)


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_person_can_do_this_and_not_that(side: str) -> None:
    sign = 1 if side == "left" else -1
    can = {
        "arms sideways": pose(),
        "arm down": pose(**{f"{side}_shoulder": mirrored(side, -85)}),
        "arm forward": pose(**{f"{side}_shoulder": turn("z", -90 * sign)}),
        "arm up": pose(**{f"{side}_collar": mirrored(side, 25), f"{side}_shoulder": mirrored(side, 60)}),
        "elbow bent": pose(**{f"{side}_elbow": np.radians(140)}),
        "thigh forward": pose(**{f"{side}_hip": turn("y", -100), f"{side}_knee": np.radians(100)}),
        "leg sideways": pose(**{f"{side}_hip": mirrored(side, 35)}),
        "head turned": pose(neck=turn("z", 35), head=turn("z", 35)),
        "bent forward": pose(waist=turn("y", 35), spine=turn("y", 25)),
        "on the toes": pose(**{f"{side}_ankle": turn("y", 40), f"{side}_toes": np.radians(40)}),
    }
    cannot = {
        "arm backward": pose(**{f"{side}_shoulder": turn("z", 80 * sign)}),
        "elbow back": pose(**{f"{side}_elbow": np.radians(-20)}),
        "knee forward": pose(**{f"{side}_knee": np.radians(-20)}),
        "thigh backward": pose(**{f"{side}_hip": turn("y", 60)}),
        "leg over the other": pose(**{f"{side}_hip": mirrored(side, -60)}),
        "owl": pose(head=turn("z", 120)),
        "bent backward": pose(waist=turn("y", -50)),
        "foot turned": pose(**{f"{side}_ankle": turn("z", 90)}),
        "arm twisted": pose(**{f"{side}_shoulder": turn("y", 170)}),
    }
    assert {name for name, q in can.items() if not HUMAN.inside(q)} == set()
    assert {name for name, q in cannot.items() if HUMAN.inside(q)} == set()


def test_solutions_keep_the_ranges_exactly() -> None:
    q = HUMAN.random(300, seed=1)
    goals = [Goal(link, position=HUMAN.frame(q, link).position) for link in ("left_hand", "right_foot")]
    found = solve(HUMAN, goals, HUMAN.rest)
    assert np.mean(found.arrived) > 0.99
    assert np.all(HUMAN.inside(found.q, 1e-9))


def test_a_tracked_hand_keeps_the_ranges() -> None:
    standing = HUMAN.locked({"root": HUMAN.rest[:6]})
    tracker = Solver().track(standing, "right_hand", standing.rest)
    start = standing.frame(standing.rest, "right_hand")
    for tick in range(400):
        away = Frame.at([0.006 * tick, -0.003 * tick, 0.004 * tick])  # beyond what can be reached
        step = tracker.step(away @ start, 1 / 100)
        assert standing.inside(step.q, 1e-9)


def test_shapes_are_round_and_coloured() -> None:
    pieces = [piece for link in HUMAN.links for piece in link.geometry]
    assert len(pieces) > 30
    assert sum(isinstance(piece.shape, Capsule | Sphere) for piece in pieces) >= len(pieces) - 2
    assert all(piece.colour is not None for piece in pieces)


def test_the_puppet_has_two_arms_on_one_body() -> None:
    puppet = models.puppet()
    assert puppet.tips == ("left_hand", "right_hand")
    assert [joint.parent for joint in puppet.joints].count("body") == 2
    moved = puppet.q(left_shoulder=1.0)
    one, other = (puppet.frame(q, "right_hand").position for q in (puppet.rest, moved))
    assert one.tolist() == other.tolist()  # an arm does not move the other
    assert np.abs(puppet.frames(puppet.random(50, seed=1)).matrix[..., 0, 3]).max() < 1e-12  # all in one plane


def test_shanks_lean_over_flat_feet_as_those_of_people_do() -> None:
    ankle = HUMAN.part("left_shank", "left_foot")
    flat = HUMAN.frames(HUMAN.rest)["left_foot"].rotation
    for lean, arrives in ((-45, True), (34, True), (38, False)):  # degrees: toes down, and shank forward
        shank = Frame.turn([0, 1, 0], np.radians(lean))
        goal = Goal("left_foot", orientation=shank.inverse().rotation @ flat)
        assert solve(ankle, goal, progress=False).arrived == arrives, lean
