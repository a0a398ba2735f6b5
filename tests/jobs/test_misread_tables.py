"""Notes about tables that look misread: positions in millimetres, quaternions in the other order."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commands import data, invoke
from job_tables import lists
from supple import Frame, jobs, models
from supple.jobs import Pose

ARMS = {
    "panda": "panda_hand_tcp",
    "ur5": "tool0",
    "ur10": "tool0",
    "iiwa14": "tool0",
    "puma560": "tool",
    "so101": "gripper_frame_link",
    "planar3": "tip",
}


def rows(name, order="wxyz", seed=0, count=60):
    """Reachable poses (count, 7) of an arm."""
    arm = models.get(name)
    link = ARMS[name] if ARMS[name] in [each.name for each in arm.links] else arm.tips[0]
    frames = arm.frame(arm.random(count, seed=seed), link)
    return arm, link, np.concatenate([frames.position, frames.to_quaternion(order)], axis=-1)


def result(tmp_path, work, arm, link, seven, **options):
    pq.write_table(pa.table({"p": lists(seven)}), tmp_path / "in.parquet")
    job = work(arm, tmp_path / "in.parquet", tmp_path / "out.parquet", pose=Pose("p"), link=link, **options)
    return job.run(), job


@pytest.mark.parametrize("name", ARMS)
def test_a_good_table_has_no_note(tmp_path, name):
    done, _ = result(tmp_path, jobs.solve, *rows(name))
    assert done.counts["arrived"] == done.rows
    assert not done.notes
    assert "note" not in str(done)


@pytest.mark.parametrize("name", ARMS)
def test_a_table_of_goals_beyond_the_reach_has_no_note(tmp_path, name):
    arm, link, seven = rows(name, seed=1)
    seven[:, :3] *= 3.0
    done, _ = result(tmp_path, jobs.solve, arm, link, seven)
    assert not done.notes
    rng = np.random.default_rng(2)  # and orientations at random, most of which some arms do not reach
    seven = np.concatenate([seven[:, :3] / 3.0, rng.normal(size=(len(seven), 4))], axis=-1)
    (tmp_path / "b").mkdir()
    assert not result(tmp_path / "b", jobs.solve, arm, link, seven)[0].notes


@pytest.mark.parametrize(("unit", "factor"), [("millimetres", 1e3), ("centimetres", 1e2)])
@pytest.mark.parametrize("work", ["solve", "path", "track"])
def test_positions_in_another_unit_are_noted(tmp_path, unit, factor, work):
    arm, link, seven = rows("panda", count=20)
    seven[:, :3] *= factor
    options = {} if work == "solve" else {"rate": 30.0}
    done, job = result(tmp_path, getattr(jobs, work), arm, link, seven, **options)
    assert done.notes["out.parquet"].startswith(f"positions look like {unit}: they are ")
    assert f"note    out.parquet: positions look like {unit}" in str(done)
    again = job.run()  # the note is kept with the result
    assert (again.kept, again.notes) == (1, done.notes)


@pytest.mark.parametrize("order", ["wxyz", "xyzw"])
@pytest.mark.parametrize("name", ["so101", "puma560", "planar3"])
def test_quaternions_in_the_other_order_are_noted(tmp_path, name, order):
    other = "xyzw" if order == "wxyz" else "wxyz"
    arm, link, seven = rows(name, other)
    pq.write_table(pa.table({"p": lists(seven)}), tmp_path / "in.parquet")
    pose = Pose("p", order=order)
    done = jobs.solve(arm, tmp_path / "in.parquet", tmp_path / "out.parquet", pose=pose, link=link).run()
    assert done.counts["arrived"] < 0.8 * done.rows
    assert done.notes["out.parquet"].startswith(f"quaternions look like {other}: of 40 rows ")


@pytest.mark.parametrize("name", ["panda", "so101"])
def test_joint_values_in_degrees_are_noted(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    arm = models.get(name)
    q = np.degrees(arm.random(50, seed=4))
    q[:, 0] = np.where(np.abs(q[:, 0]) < 10, 10, q[:, 0])
    for file, rows in ("degrees", q), ("radians", np.radians(q)), ("some", np.concatenate([q, np.radians(q[:1])])):
        pq.write_table(pa.table({"q": lists(rows)}), f"{file}.parquet")
    options = {"joints": "q", "link": ARMS[name]}
    done = jobs.forward(arm, "degrees.parquet", "out.parquet", **options).run()
    assert done.counts["outside_limits"] == 50
    assert "give degrees=True" in done.notes["out.parquet"]
    assert "note    out.parquet: every row is outside" in str(done)
    assert jobs.forward(arm, "degrees.parquet", "out.parquet", **options).run().notes == done.notes  # it is kept
    told = {"joints": jobs.Joints("q", degrees=True), "link": ARMS[name]}
    assert not jobs.forward(arm, "degrees.parquet", "told.parquet", **told).run().notes
    for file in ("radians", "some"):
        assert not jobs.forward(arm, f"{file}.parquet", f"{file}-out.parquet", **options).run().notes
    words = ("table", "forward", name, "degrees.parquet", "cli.parquet", "--joints", "q", "--link", ARMS[name])
    assert "note    cli.parquet: every row" in invoke(*words).stdout
    assert "give --degrees" in invoke(*words).stdout


def test_the_commands_say_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arm, link, seven = rows("puma560", count=30)
    seven[:, :3] *= 1e3
    pq.write_table(pa.table({"p": lists(seven)}), "in.parquet")
    words = ("table", "solve", "puma560", "in.parquet", "out.parquet", "--pose", "p", "--link", link)
    assert "note    out.parquet: positions look like millimetres" in invoke(*words).stdout
    assert "millimetres" in data(invoke(*words, "--json"))["notes"]["out.parquet"]
    head = "x,y,z,qw,qx,qy,qz"
    arm, link = models.so101(), "gripper_frame_link"
    q = arm.rest + np.linspace(0, 0.3, 30)[:, None]
    frames = arm.frame(q, link)
    for file, place, order in ("mm", 1e3, "wxyz"), ("order", 1.0, "xyzw"), ("good", 1.0, "wxyz"):
        table = np.concatenate([place * frames.position, frames.to_quaternion(order)], axis=-1)
        np.savetxt(f"{file}.csv", table, delimiter=",", header=head, comments="")
    path = ("--robot", "so101", "--link", link)
    assert "mm.csv: positions look like millimetres" in invoke("path", "mm.csv", *path).stderr
    assert "order.csv: quaternions look like xyzw" in invoke("path", "order.csv", *path).stderr
    assert invoke("path", "good.csv", *path).stderr == ""
    turned = Frame.turn([0, 0, 1], 0.3) @ frames  # matrices have no order of quaternions
    np.savez("far.npz", frames=Frame.at(3 * turned.position, turned).matrix)
    assert "look like" not in invoke("path", "far.npz", *path).stderr
