"""What ends a row, a file or a job: damaged pages, missing times, columns that tell no episodes apart, exceptions."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from job_tables import ARM, LINK, joint_table, lists, motion, seven, write
from supple import BadInput, jobs
from supple.jobs import one_file, work

FRAMES = 30


def test_a_flipped_byte_of_a_page_with_checksum_ends_its_file(tmp_path):
    write(
        tmp_path / "in",
        {"a.parquet": joint_table(), "b.parquet": joint_table()},
        write_page_checksum=True,
        compression="none",
        use_dictionary=False,
    )
    place = tmp_path / "in/b.parquet"
    data = bytearray(place.read_bytes())
    value = joint_table()["joints"].combine_chunks().flatten()[100].as_py()
    data[data.index(np.float64(value).tobytes()) + 3] ^= 1
    place.write_bytes(data)
    with pytest.raises(jobs.JobFailed, match=r"b\.parquet.*(CRC|checksum)") as failed:
        jobs.forward(ARM, tmp_path / "in", tmp_path / "out", joints="joints", link=LINK).run()
    assert list(failed.value.result.failed) == ["b.parquet"]
    assert (tmp_path / "out/a.parquet").is_file()
    assert not (tmp_path / "out/b.parquet").exists()


def timed(tmp_path, times, **columns):
    table = pa.table({"p": lists(seven(motion(2, frames=FRAMES))), "t": times, **columns})
    pq.write_table(table, tmp_path / "in.parquet")
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    return jobs.path(ARM, source, target, pose="p", link=LINK, time="t", episode="e" if columns else None)


@pytest.mark.parametrize("bad", [None, float("nan"), float("inf")])
def test_a_row_without_a_time_is_invalid_and_its_file_is_made(tmp_path, bad):
    times = [i / 30 for i in range(2 * FRAMES)]
    times[0] = times[7] = times[-1] = bad
    result = timed(tmp_path, times).run()
    assert result.counts["invalid"] == 3
    outcomes = pq.read_table(tmp_path / "out.parquet")["outcome"].to_pylist()
    assert [i for i, word in enumerate(outcomes) if word == "invalid"] == [0, 7, 2 * FRAMES - 1]


def test_the_time_increases_over_the_rows_that_count(tmp_path):
    """An episode without a good row changes nothing, and the error names the row of the table."""
    episodes = np.repeat([0, 1], FRAMES)
    times = [None] * FRAMES + [i / 30 for i in range(FRAMES)]
    assert timed(tmp_path, times, e=episodes).run().counts["invalid"] == FRAMES
    (tmp_path / "out.parquet").unlink()
    times[-2], times[-1] = None, 0.0
    with pytest.raises(jobs.JobFailed, match=rf"row {2 * FRAMES - 1}: the time must increase .* 0.9, then 0"):
        timed(tmp_path, times, e=episodes).run()


NO_EPISODES = {
    "lists": ([[1]] * 5, "list<item: int64>|list<element: int64>"),
    "structs": ([{"x": 1}] * 5, "struct"),
    "null": (pa.nulls(5), "null"),
    "nan": ([0.0, 0.0, None, float("nan"), 1.0], "row 3 has nan"),
}


@pytest.mark.parametrize("case", NO_EPISODES)
@pytest.mark.parametrize("make", [jobs.path, jobs.track])
def test_a_column_that_does_not_tell_episodes_apart_is_refused_before_any_work(tmp_path, case, make):
    values, message = NO_EPISODES[case]
    pq.write_table(pa.table({"p": lists(seven(motion(1, frames=5))), "e": values}), tmp_path / "in.parquet")
    job = make(ARM, tmp_path / "in.parquet", tmp_path / "out.parquet", pose="p", link=LINK, rate=30, episode="e")
    for call in (job.plan, job.run):
        with pytest.raises(BadInput, match=rf"in\.parquet: column 'e' must tell episodes apart.*({message})"):
            call()


@pytest.mark.parametrize("values", [[0.0, 0.0, 1.0, 1.0, None], list("aabbc"), [True, True, False, False, False]])
def test_numbers_and_texts_tell_episodes_apart(tmp_path, values):
    pq.write_table(pa.table({"p": lists(seven(motion(1, frames=5))), "e": values}), tmp_path / "in.parquet")
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    assert jobs.path(ARM, source, target, pose="p", link=LINK, rate=30, episode="e").run().rows == 5


def test_any_exception_in_one_file_ends_that_file_alone(tmp_path, monkeypatch):
    write(tmp_path / "in", {name: joint_table(1, seed) for seed, name in enumerate(("a.parquet", "b.parquet"))})
    rows = work.Forward.rows

    def spoilt(self, batch):
        if self.layout.table.path.name == "a.parquet":
            raise ZeroDivisionError("a mistake")
        return rows(self, batch)

    monkeypatch.setattr(work.Forward, "rows", spoilt)
    with pytest.raises(jobs.JobFailed, match=r"a\.parquet: ZeroDivisionError: a mistake") as failed:
        jobs.forward(ARM, tmp_path / "in", tmp_path / "out", joints="joints", link=LINK).run()
    assert failed.value.result.made == 1
    assert (tmp_path / "out/b.parquet").is_file()


def test_a_table_that_grows_while_it_is_read_is_named(tmp_path):
    pq.write_table(joint_table(1), tmp_path / "in.parquet")
    job = jobs.track(ARM, tmp_path / "in.parquet", tmp_path / "out.parquet", pose="ee", link=LINK, rate=30)
    layout = one_file.Layout(job, one_file.Table(tmp_path / "in.parquet"))
    with pytest.raises(BadInput, match=r"in\.parquet: it has more rows than were read"):
        list(one_file._side_by_side(layout, layout.table.batches(), iter(()), None))
