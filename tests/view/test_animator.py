"""The parts of the page for animation that need no browser: handles, keys, the file of keys, the worker."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from supple import BadInput, Frame, Goal, UnknownName, models
from supple.animate import Timeline
from supple.animate.timeline_file import read, written
from supple.view.animator.export import content
from supple.view.animator.keys import Keys
from supple.view.animator.rig import Rig, Role
from supple.view.animator.worker import Worker


def moved(frame: Frame, way: list[float], part: float) -> Frame:
    return Frame.at(frame.position + part * np.array(way), frame)


def test_a_person_has_handles_on_hands_feet_gaze_and_poles() -> None:
    for figure in (models.human(), models.g1()):
        rig = Rig(figure)
        sides = {f"{side} {part}" for side in ("left", "right") for part in ("hand", "elbow", "foot", "knee")}
        assert set(rig.handles) == {"pelvis", "gaze", *sides}
        assert set(rig.pins) == {"left foot", "right foot"}


def test_other_linkages_have_handles_on_their_tips() -> None:
    assert set(Rig(models.puppet()).handles) == {"left_hand", "right_hand"}
    with pytest.raises(UnknownName, match="left_hand"):
        Rig(models.puppet()).move("left_hnd", Frame())


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("right hand", [1.2, 0.2, 0.6]),
        ("pelvis", [0, 0, -0.15]),
        ("gaze", [0, 1, 0.5]),
        ("left knee", [0, 0.5, 0]),
        ("left foot", [0.4, 0, 0.3]),
        ("right elbow", [0, 0, -0.5]),
    ],
)
def test_a_drag_there_and_back_is_smooth_and_leaves_the_other_feet(name: str, way: list[float]) -> None:
    rig = Rig(models.human())
    figure, first, q = rig.linkage, rig.at(name), rig.q
    feet = {side: figure.frame(q, f"{side}_foot").position for side in ("left", "right")}
    rig.begin()
    for part in np.sin(np.linspace(0, np.pi, 120)):
        now = rig.move(name, moved(first, way, part))
        assert np.abs(figure.difference(q, now)).max() < 0.15  # knees that were nearly straight bend fast
        assert figure.inside(now)
        for side, place in feet.items():
            if f"{side} foot" != name:
                assert (
                    np.linalg.norm(figure.frame(now, f"{side}_foot").position - place) < 4e-3
                )  # an ankle at its limit yields
        q = now
    assert np.abs(figure.difference(figure.rest, q)).max() < 0.06


def test_a_pinned_hand_stays_while_the_pelvis_moves_and_a_released_one_goes_along() -> None:
    rig = Rig(models.human())
    rig.begin()
    hand = rig.at("right hand")
    rig.move("right hand", moved(hand, [0.2, 0, 0.2], 1.0))
    place = rig.linkage.frame(rig.q, "right_hand").position
    pelvis = rig.at("pelvis")
    for part in np.linspace(0, 1, 20):
        rig.move("pelvis", moved(pelvis, [0.05, 0, -0.1], part))
    assert np.linalg.norm(rig.linkage.frame(rig.q, "right_hand").position - place) < 1e-3
    rig.release("right hand")
    rig.move("pelvis", moved(pelvis, [0, 0, -0.2], 1.0))
    assert np.linalg.norm(rig.at("right hand").position - place) > 0.02


def test_a_gaze_turns_the_head_to_its_point() -> None:
    rig = Rig(models.human())
    point = rig.at("gaze").position + np.array([0, 0.4, -0.1])
    rig.move("gaze", Frame.at(point))
    head = rig.linkage.frame(rig.q, "head")
    way = (point - head.position) / np.linalg.norm(point - head.position)
    assert float(head.rotation[:, 0] @ way) > np.cos(1e-3)
    assert rig.handles["gaze"].role is Role.GAZE


def test_keys_are_added_replaced_found_and_removed() -> None:
    figure = models.human()
    keys, bent = Keys(Timeline(figure)), figure.q(left_elbow=1.2)
    assert keys.times == []
    assert keys.motion() is None
    with pytest.raises(BadInput, match="keys at two times"):
        keys.sampled(60)
    keys.add_pose(0.0, figure.rest)
    keys.add_pose(1.0, figure.rest)
    keys.add_pose(1.0, bent)
    keys.add_pose(2.0, figure.rest)
    assert keys.times == [0.0, 1.0, 2.0]
    assert np.allclose(keys.at(1.0), bent)
    assert (keys.near(1.0, True), keys.near(1.0, False), keys.near(2.0, True)) == (2.0, 0.0, None)
    assert keys.remove(1.0)
    assert not keys.remove(1.0)
    assert keys.times == [0.0, 2.0]


def test_a_key_goal_makes_the_hand_follow_a_path_and_is_replaced_at_its_time() -> None:
    figure = models.human()
    rig, keys = Rig(figure), Keys(Timeline(figure))
    hand, handle = rig.at("right hand").position, rig.handles["right hand"]
    keys.add_pose(0.0, figure.rest)
    keys.add_pose(2.0, figure.rest)
    keys.add_goal(1.0, handle, Goal("right_hand", position=hand + np.array([0.1, 0, 0.1])))
    keys.add_goal(1.0, handle, Goal("right_hand", position=hand + np.array([0.2, 0, 0.3])))
    assert keys.names_at(1.0) == ["right_hand"]
    motion = keys.sampled(60)
    assert np.allclose(motion.frame(1.0, "right_hand").position, hand + np.array([0.2, 0, 0.3]), atol=1e-4)


def test_a_file_of_keys_reads_back_as_the_same_motion(tmp_path: Path) -> None:
    figure = models.human()
    q = np.array(figure.random(seed=3))
    line = Timeline(figure).pose(0, figure.rest).pose(1, q, ease=False).pose(2, figure.rest)
    hand = figure.frame(figure.rest, "right_hand").position
    line = line.goal(0.5, Goal("right_hand", position=hand + np.array([0.1, 0, 0.1])), base="chest", blend=0.2)
    line = line.goal(1.5, Goal("left_foot", figure.frame(figure.rest, "left_foot")), blend=0.1)
    line = line.goal(1.2, Goal("head", axis=[1, 0, 0], look_at=[2, 1, 1.5]), base="chest")
    limb = ("right_upper_arm", "right_forearm")
    line = line.goal(0.7, Goal("right_hand", pole=[0, -1, 1], limb=limb), base="chest")
    path = tmp_path / "keys.json"
    path.write_text(written(line, "human"))
    again = read(path, lambda name: models.human() if name == "human" else models.puppet())
    assert np.abs(again.motion(30).q - line.motion(30).q).max() < 1e-6
    with pytest.raises(BadInput, match="centre of mass"):
        written(line.goal(0, Goal.center_of_mass([0, 0, 1])), "human")


@pytest.mark.parametrize("ending", [".glb", ".gltf", ".bvh", ".npz", ".csv", ".json"])
def test_every_export_is_a_file_that_reads_back(ending: str, tmp_path: Path) -> None:
    from supple import Motion

    figure = models.human()
    keys = Keys(Timeline(figure).pose(0, figure.rest).pose(0.5, figure.q(left_elbow=1.0)))
    path = tmp_path / f"motion{ending}"
    path.write_bytes(content(keys, "human", ending, 20))
    if ending == ".json":
        assert len(read(path, lambda name: figure).motion(20)) == 11
    else:
        motion = Motion.load(path, figure) if ending in (".npz", ".csv") else Motion.load(path)
        assert len(motion) == 11


def test_the_worker_keeps_the_order_and_survives_errors() -> None:
    done, seen, ready = threading.Event(), list[int](), threading.Event()
    worker = Worker(0.01, lambda passed: None)
    worker.put(lambda: ready.wait(10) and None)
    for i in range(5):
        worker.put(lambda i=i: seen.append(i), "drag")  # type: ignore[misc]
    worker.put(lambda: 1 / 0 and None)  # type: ignore[arg-type, return-value]
    worker.put(lambda: seen.append(9))
    worker.put(done.set)
    ready.set()
    assert done.wait(10)
    worker.close()
    assert seen == [4, 9]
