"""Jobs over whole episodes: continuous joint values, times, and rows that are left out."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from job_tables import ARM, FRAMES, LINK, joint_table, lists, motion, numbers, poses, seven, write
from supple import BadInput, Solver, jobs, method
from supple.jobs import episodes

EPISODES = 6
STEP = ARM.speed / 30 * 1.001


def run(tmp_path, table, make=jobs.path, name="t", **options):
    write(tmp_path, {f"{name}.parquet": table})
    target = tmp_path / f"{name}_out.parquet"
    result = make(
        ARM, tmp_path / f"{name}.parquet", target, **{"pose": "ee", "link": LINK, "rate": 30, **options}
    ).run()
    return pq.read_table(target), result


def steps(q):
    return np.abs(np.diff(q.reshape(EPISODES, FRAMES, 8), axis=1))


def test_joint_values_of_a_path_are_continuous_within_each_episode_and_reach_the_poses(tmp_path):
    after, result = run(tmp_path, joint_table(EPISODES))
    q = numbers(after, "q")
    assert result.counts["arrived"] == result.rows == EPISODES * FRAMES
    marked = np.array(after["reconfigured"].to_pylist()).reshape(EPISODES, FRAMES)
    assert result.reconfigured == marked.sum()
    assert not marked[:, 0].any()
    assert (steps(q) <= STEP).all(axis=2)[~marked[:, 1:]].all()
    assert marked.mean() < 0.01
    assert np.abs(poses(q).position - numbers(after, "ee")[:, :3]).max() < 1e-3
    assert (after["position_error"].to_numpy() < 1e-3).all()


def test_invalid_rows_are_left_out_of_a_path(tmp_path):
    table = joint_table(EPISODES)
    values = numbers(table, "ee").copy()
    bad = [3, 4, 50, FRAMES * 2, FRAMES * 3 - 1]
    values[bad] = np.nan
    after, result = run(tmp_path, table.set_column(3, "ee", lists(values)))
    outcome = np.array(after["outcome"].to_pylist())
    assert np.flatnonzero(outcome == "invalid").tolist() == bad
    assert result.counts["arrived"] == EPISODES * FRAMES - len(bad)
    q = numbers(after, "q")
    assert np.isnan(q[bad]).all()
    assert np.isfinite(np.delete(q, bad, axis=0)).all()
    gap = np.abs(q[5] - q[2])  # three ticks
    assert (gap <= 3 * STEP).all()
    assert not after["reconfigured"][5].as_py()


@pytest.mark.parametrize("make", [jobs.solve, jobs.path, jobs.track])
def test_tables_and_episodes_without_a_good_row_are_marked(tmp_path, make):
    table = joint_table(2)
    options = {} if make is jobs.solve else {"rate": 30}
    for name, first in (("all", 0), ("half", FRAMES)):
        values = numbers(table, "ee").copy()
        values[: len(values) if name == "all" else first] = np.nan
        source = write(tmp_path / name, {"a.parquet": table.set_column(3, "ee", lists(values))})
        result = make(ARM, source, tmp_path / f"{name}_{make.__name__}", pose="ee", link=LINK, **options).run()
        assert result.counts["invalid"] == (80 if name == "all" else 40)


def test_the_cut_into_chunks_and_row_groups_changes_nothing(tmp_path, monkeypatch):
    table = joint_table(EPISODES)
    whole, _ = run(tmp_path, table, name="whole")
    monkeypatch.setattr(episodes, "CHUNK_ROWS", 50)
    write(tmp_path, {"cut.parquet": table}, row_group_size=17)
    jobs.path(ARM, tmp_path / "cut.parquet", tmp_path / "cut_out.parquet", pose="ee", link=LINK, rate=30).run()
    cut = pq.read_table(tmp_path / "cut_out.parquet")
    assert cut.equals(whole)


def test_an_episode_column_may_be_text_and_the_whole_file_may_be_one_episode(tmp_path):
    table = joint_table(EPISODES)
    names = pa.array([f"take {i}" for i in table["episode_index"].to_pylist()])
    named, _ = run(tmp_path, table.set_column(0, "take", names.dictionary_encode()), name="text", episode="take")
    plain, _ = run(tmp_path, table, name="plain")
    assert (numbers(named, "q") == numbers(plain, "q")).all()
    one = table.slice(0, FRAMES).drop_columns(["episode_index"])
    alone, _ = run(tmp_path, one, name="alone")
    assert (numbers(alone, "q") == numbers(plain, "q")[:FRAMES]).all()


def test_times_of_a_column_take_the_place_of_a_rate(tmp_path):
    table = joint_table(EPISODES).append_column("t", pa.array(np.tile(np.arange(FRAMES) / 30, EPISODES)))
    timed, _ = run(tmp_path, table, name="timed", time="t", rate=None)
    plain, _ = run(tmp_path, table, name="plain")
    assert np.abs(numbers(timed, "q") - numbers(plain, "q")).max() < 1e-3
    back = table.set_column(4, "t", pa.array(np.tile(np.arange(FRAMES)[::-1] / 30, EPISODES)))
    with pytest.raises(jobs.JobFailed, match=r"row 1: the time must increase within an episode, and column 't' has"):
        run(tmp_path, back, name="back", time="t", rate=None)
    assert not (tmp_path / "back_out.parquet").exists()


def test_a_path_needs_a_search():
    with pytest.raises(BadInput, match=r"path needs a solver with method\.search"):
        jobs.path(ARM, "a", "b", pose="p", link=LINK, solver=Solver(method=method.damped()))


def test_a_path_that_cannot_be_continuous_is_marked_where_it_jumps(tmp_path):
    q = np.concatenate([motion(1, 1, 20), motion(1, 9, 20)])
    table = pa.table({"ee": lists(seven(q))})
    write(tmp_path, {"in.parquet": table})
    jobs.path(ARM, tmp_path / "in.parquet", tmp_path / "out.parquet", pose="ee", link=LINK, rate=30).run()
    after = pq.read_table(tmp_path / "out.parquet")
    assert np.flatnonzero(after["reconfigured"].to_numpy()).tolist() == [20]


def test_the_bar_shows_rows_in_a_second_and_the_time_left(tmp_path, capsys):
    from supple._progress import Progress

    bar = Progress("solve", 1000, unit="rows")
    bar.step(250)
    assert bar.line(2.0).endswith("25 %, 125 rows/s, 6 s left")
    run(tmp_path, joint_table(1), name="quiet")
    assert capsys.readouterr().err == ""
