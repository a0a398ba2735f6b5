"""The forms in which tables hold joint values and poses, read and written."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from job_tables import ARM, LINK, joint_table, lists, motion, numbers, poses, seven, write
from supple import BadInput, Goal, Outcome, Solver, jobs, models
from supple.jobs import Joints, Pose, outcomes

ROWS = 30
Q = motion(1, frames=ROWS)


def run(tmp_path, table, make, **options):
    pq.write_table(table, tmp_path / "in.parquet")
    result = make(ARM, tmp_path / "in.parquet", tmp_path / "out.parquet", link=LINK, **options).run()
    return pq.read_table(tmp_path / "out.parquet"), result


def nested(values, outer, inner):
    return pa.array(np.asarray(values).reshape(len(values), outer, inner).tolist(), pa.list_(pa.list_(pa.float64())))


FRAMES = poses(Q)
P, W, X = FRAMES.position, FRAMES.to_quaternion(), FRAMES.to_quaternion("xyzw")
MATRICES = FRAMES.matrix.reshape(-1, 16)
POSES = {
    "seven numbers": ({"p": lists(seven(Q))}, Pose("p")),
    "seven numbers, xyzw": ({"p": lists(seven(Q, "xyzw"))}, Pose("p", order="xyzw")),
    "lists of any length": ({"p": lists(seven(Q), "list")}, Pose("p")),
    "position and quaternion": ({"p": lists(P), "r": lists(W)}, Pose(position="p", quaternion="r")),
    "quaternions of any length": ({"p": lists(P), "r": lists(W * -3)}, Pose(position="p", quaternion="r")),
    "plain columns": (
        {f"c{i}": column for i, column in enumerate([*P.T, *X.T])},
        Pose(position=["c0", "c1", "c2"], quaternion=["c3", "c4", "c5", "c6"], order="xyzw"),
    ),
    "sixteen numbers": ({"m": lists(MATRICES)}, Pose(matrix="m")),
    "lists of lists": ({"m": nested(MATRICES, 4, 4)}, Pose(matrix="m")),
    "sixteen columns": (
        {f"m{i}": column for i, column in enumerate(MATRICES.T)},
        Pose(matrix=[f"m{i}" for i in range(16)]),
    ),
    "float32": ({"p": lists(seven(Q).astype(np.float32))}, Pose("p")),
    "half floats": ({"p": lists(seven(Q).astype(np.float16))}, Pose("p")),
}


@pytest.mark.parametrize("form", POSES)
def test_poses_are_read_in_every_form(tmp_path, form):
    columns, pose = POSES[form]
    after, result = run(tmp_path, pa.table(columns), jobs.solve, pose=pose)
    assert result.counts["arrived"] == ROWS == result.rows
    reached = poses(numbers(after, "q"))
    bound = 1e-3 if form == "half floats" else 1e-5
    assert np.abs(reached.position - P).max() < bound
    assert np.abs(reached.rotation - FRAMES.rotation).max() < 10 * bound


WRITTEN = {
    "seven": (Pose("e"), lambda t: numbers(t, "e"), seven(Q)),
    "xyzw": (Pose("e", order="xyzw"), lambda t: numbers(t, "e"), seven(Q, "xyzw")),
    "matrix": (Pose(matrix="e"), lambda t: numbers(t, "e"), MATRICES),
    "parts": (Pose(position="e", quaternion="f"), lambda t: np.hstack([numbers(t, "e"), numbers(t, "f")]), seven(Q)),
    "columns": (
        Pose(position=["x", "y", "z"]),
        lambda t: np.stack([t[name].to_numpy() for name in "xyz"], axis=1),
        P,
    ),
}


@pytest.mark.parametrize("form", WRITTEN)
def test_poses_are_written_in_every_form(tmp_path, form):
    pose, read, wanted = WRITTEN[form]
    after, _ = run(tmp_path, pa.table({"q": lists(Q)}), jobs.forward, joints="q", pose=pose)
    assert (read(after) == wanted).all()


def test_a_position_alone_and_an_orientation_alone_are_goals(tmp_path):
    after, result = run(tmp_path, pa.table({"p": lists(P)}), jobs.solve, pose=Pose(position="p"))
    assert result.counts["arrived"] == ROWS
    assert np.abs(poses(numbers(after, "q")).position - P).max() < 1e-5
    (tmp_path / "second").mkdir()
    after, result = run(tmp_path / "second", pa.table({"r": lists(W)}), jobs.solve, pose=Pose(quaternion="r"))
    assert np.abs(poses(numbers(after, "q")).rotation - FRAMES.rotation).max() < 1e-4


def test_a_goal_gives_the_parts_that_count(tmp_path):
    arm = models.so101()
    link = arm.tips[0]
    frames = arm.frame(arm.random(50, seed=3), link)
    table = pa.table({"m": lists(frames.matrix.reshape(-1, 16))})
    pq.write_table(table, tmp_path / "in.parquet")
    goal = Goal(link, position=[0, 0, 0], axis=[0, 0, 1], direction=[0, 0, 1])
    jobs.solve(arm, tmp_path / "in.parquet", tmp_path / "out.parquet", pose=Pose(matrix="m"), link=goal).run()
    after = pq.read_table(tmp_path / "out.parquet")
    reached = arm.frame(numbers(after, "q"), link)
    arrived = np.array(after["outcome"].to_pylist()) == "arrived"
    assert arrived.mean() > 0.95
    assert np.abs((reached.position - frames.position)[arrived]).max() < 1e-4
    assert np.abs((reached.rotation - frames.rotation)[arrived][:, :, 2]).max() < 1e-3


def test_joint_values_in_degrees_and_by_name(tmp_path):
    seven_joints = np.degrees(Q[:, :7])
    after, _ = run(tmp_path, pa.table({"j": lists(seven_joints)}), jobs.forward, joints=Joints("j", degrees=True))
    assert np.abs(numbers(after, "pose") - seven(Q)).max() < 1e-12
    (tmp_path / "named").mkdir()
    names = [*reversed(ARM.names[:7]), None]
    shuffled = np.hstack([Q[:, 6::-1], np.full((ROWS, 1), 99.0)])
    after, _ = run(tmp_path / "named", pa.table({"j": lists(shuffled)}), jobs.forward, joints=Joints("j", names))
    assert (numbers(after, "pose") == seven(Q)).all()


def test_joint_values_are_written_as_they_are_read(tmp_path):
    names = [f"joint {i}" for i in range(7)]
    joints = Joints(names, ARM.names[:7], degrees=True)
    after, _ = run(tmp_path, pa.table({"p": lists(seven(Q))}), jobs.solve, pose="p", joints=joints)
    degrees = np.stack([after[name].to_numpy() for name in names], axis=1)
    assert np.abs(degrees).max() > 7
    back = tmp_path / "back.parquet"
    jobs.forward(ARM, tmp_path / "out.parquet", back, joints=joints, link=LINK, prefix="b_").run()
    assert np.abs(numbers(pq.read_table(back), "pose")[:, :3] - P).max() < 1e-5


def test_whole_numbers_are_joint_values(tmp_path):
    whole = np.round(Q).astype(np.int64)
    after, _ = run(tmp_path, pa.table({"q": lists(whole, "list")}), jobs.forward, joints="q")
    assert (numbers(after, "pose") == seven(whole.astype(float))).all()


def test_single_floats_are_written_when_asked(tmp_path):
    after, _ = run(tmp_path, pa.table({"q": lists(Q)}), jobs.forward, joints="q", single=True)
    assert after.schema.field("pose").type == pa.list_(pa.float32(), 7)
    assert np.abs(numbers(after, "pose") - seven(Q)).max() < 1e-6


def test_bad_rows_are_marked_and_the_others_are_as_without_them(tmp_path):
    table = pa.table({"p": lists(seven(Q))})
    clean, _ = run(tmp_path, table, jobs.solve, pose="p")
    bad = seven(Q)
    bad[3, 2], bad[7, 3:], bad[11, 5], bad[19, 0] = np.nan, 0, np.inf, 1e300
    rows = [list(row) for row in bad]
    rows[13] = None
    rows[17] = rows[17][:6]
    (tmp_path / "bad").mkdir()
    after, result = run(tmp_path / "bad", pa.table({"p": pa.array(rows, pa.list_(pa.float64()))}), jobs.solve, pose="p")
    wrong = np.zeros(ROWS, dtype=bool)
    wrong[[3, 7, 11, 13, 17, 19]] = True
    assert (np.array([outcome == "invalid" for outcome in after["outcome"].to_pylist()]) == wrong).all()
    assert result.counts["invalid"] == 6
    q = numbers(after, "q")
    assert np.isnan(q[wrong]).all()
    assert np.isnan(after["position_error"].to_numpy()[wrong]).all()
    assert np.abs(poses(q[~wrong]).position - P[~wrong]).max() < 1e-5
    assert (numbers(clean, "q")[~wrong] == q[~wrong]).mean() > 0.9


def test_outcomes_say_why_a_pose_is_not_reached(tmp_path):
    far = seven(Q)
    far[:10, 0] += 5
    after, result = run(tmp_path, pa.table({"p": lists(far)}), jobs.solve, pose="p")
    assert after["outcome"].to_pylist()[:10] == ["out_of_reach"] * 10
    assert result.counts["out_of_reach"] == 10
    assert (after["position_error"].to_numpy()[:10] > 1).all()
    assert "10 out of reach" in str(result)


def test_forward_marks_joint_values_outside_their_limits(tmp_path):
    q = Q.copy()
    q[4, 0] = 9
    after, _ = run(tmp_path, pa.table({"q": lists(q)}), jobs.forward, joints="q")
    assert after["outcome"].to_pylist()[3:6] == ["computed", "outside_limits", "computed"]
    assert (numbers(after, "pose") == seven(q)).all()


def test_the_tracker_is_used_for_each_episode(tmp_path):
    table = joint_table(3)
    after, result = run(tmp_path, table, jobs.track, pose="ee", rate=30)
    assert result.counts["following"] + result.counts["lagging"] > 0.9 * result.rows
    q = numbers(after, "q")
    steps = np.abs(np.diff(q.reshape(3, -1, 8), axis=1)).max(axis=(0, 1))
    assert (steps <= ARM.speed / 30 * 1.01).all()
    distance = np.linalg.norm(poses(q).position - numbers(after, "ee")[:, :3], axis=1)
    assert np.abs(distance - after["position_error"].to_numpy()).max() < 1e-6


def test_an_episode_may_span_row_groups(tmp_path):
    table = joint_table(4)
    write(tmp_path, {"whole.parquet": table})
    write(tmp_path, {"cut.parquet": table}, row_group_size=7)
    for name in ("whole", "cut"):
        jobs.track(
            ARM, tmp_path / f"{name}.parquet", tmp_path / f"{name}_out.parquet", pose="ee", rate=30, link=LINK
        ).run()
    whole, cut = (pq.read_table(tmp_path / f"{name}_out.parquet") for name in ("whole", "cut"))
    assert whole.equals(cut)


def test_rows_of_an_episode_that_stand_apart_are_refused(tmp_path):
    table = joint_table(3)
    mixed = pa.concat_tables([table.slice(0, 20), table.slice(60), table.slice(20, 40)])
    pq.write_table(mixed, tmp_path / "in.parquet")
    job = jobs.track(ARM, tmp_path / "in.parquet", tmp_path / "out.parquet", pose="ee", rate=30, link=LINK)
    with pytest.raises(jobs.JobFailed, match=r"episode 0 begins again at row 80.*sort by 'episode_index'"):
        job.run()
    assert not (tmp_path / "out.parquet").exists()


REFUSED = {
    "no columns": (lambda: Pose(), "a pose is one of"),
    "two forms": (lambda: Pose("p", matrix="m"), "a pose is one of"),
    "five columns": (lambda: Pose(position=["a", "b", "c", "d", "e"]), "position takes 1 column of lists or 3"),
    "order": (lambda: Pose("p", order="xwyz"), "no order named 'xwyz'"),
    "twice": (lambda: Joints(["a", "a"]), "names a column twice"),
    "count of names": (lambda: Joints(["a", "b"], ["x"]), "2 columns and names has 1"),
    "number": (lambda: Joints(3), "joints must be the name of a column"),
    "pose": (lambda: jobs.solve(ARM, "a", "b", pose=3), "pose must be a Pose"),
    "tips": (lambda: jobs.forward(models.baxter(), "a", "b", joints="q"), "give link="),
    "rate": (lambda: jobs.track(ARM, "a", "b", pose="p", link=LINK), "track needs rate="),
    "format": (lambda: jobs.solve(ARM, "a", "b", pose="p", link=LINK, format="xls"), "no format named 'xls'"),
    "position goal": (
        lambda: jobs.solve(ARM, "a", "b", pose=Pose(position="p"), link=Goal(LINK, np.eye(4))),
        "the goal has an orientation, and the pose has none",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_arguments_are_refused(case):
    call, message = REFUSED[case]
    with pytest.raises((BadInput, KeyError), match=message):
        call()


def test_a_row_whose_budget_is_used_up_says_so_also_at_a_limit():
    """Only a goal that is proven out of reach is called so instead."""
    q = np.stack([ARM.upper, ARM.upper, ARM.upper])
    ended = np.array([Outcome.STUCK.value, Outcome.OUT_OF_BUDGET.value, Outcome.OUT_OF_BUDGET.value])
    position = np.array([[0.3, 0, 0.3], [0.3, 0, 0.3], [30, 0, 0]])
    codes = outcomes.solve_codes(ARM, Goal(LINK, np.eye(4)), Solver(), position, q, ended, list(range(8)))
    assert [outcomes.SOLVE[code] for code in codes] == ["at_limits", "out_of_budget", "out_of_reach"]
