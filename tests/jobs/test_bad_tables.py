"""Bad tables and bad places: clear errors or marked rows; nothing is lost, nothing is half-written."""

import os
import resource
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from job_tables import ARM, LINK, contents, joint_table, lists, motion, seven, write
from supple import BadInput, jobs
from supple.jobs import Pose


def forward(source, target, **options):
    return jobs.forward(ARM, source, target, **{"joints": "joints", "link": LINK, **options})


def refused(job, message):
    """Running and planning both refuse the job, and nothing is written."""
    for call in (job.plan, job.run):
        with pytest.raises(BadInput, match=message):
            call()


def single(tmp_path, columns, **options):
    pq.write_table(pa.table(columns), tmp_path / "in.parquet")
    return jobs.solve(ARM, tmp_path / "in.parquet", tmp_path / "out.parquet", **{"pose": "p", "link": LINK, **options})


SEVEN = seven(motion(1, frames=5))
BAD_COLUMNS = {
    "missing": ({"pp": lists(SEVEN)}, "p", r"in.parquet: no column 'p'; did you mean 'pp'\?"),
    "wrong size": ({"p": lists(SEVEN[:, :6])}, "p", "column 'p' must have 7 numbers in a row, not 6"),
    "wrong lengths": ({"p": lists(SEVEN[:, :6], "list")}, "p", "must have 7 numbers in a row; row 0 has 6"),
    "text": ({"p": ["a"] * 5}, "p", "column 'p' must hold numbers or lists of numbers, not string"),
    "times": ({"p": pa.array([1, 2], pa.timestamp("s"))}, "p", "must hold numbers"),
    "structs": ({"p": [{"x": 1.0}] * 5}, "p", "must hold numbers"),
    "numbers for lists": ({"p": [1.0] * 5}, "p", "must have 7 numbers in a row, not 1"),
    "lists for numbers": (
        {"x": lists(SEVEN), "y": [1.0] * 5, "z": [1.0] * 5},
        Pose(position=["x", "y", "z"]),
        "column 'x' must have 1 number in a row, not 7",
    ),
    "taken": (
        {"p": lists(SEVEN), "outcome": [1] * 5},
        "p",
        "already has a column 'outcome'; give prefix= to rename the columns that are added",
    ),
    "joints taken": ({"p": lists(SEVEN), "q": [1] * 5}, "p", "already has a column 'q'; give joints= another name"),
}


@pytest.mark.parametrize("case", BAD_COLUMNS)
def test_columns_that_do_not_fit_are_refused_before_any_work(tmp_path, case):
    columns, pose, message = BAD_COLUMNS[case]
    refused(single(tmp_path, columns, pose=pose), message)
    assert os.listdir(tmp_path) == ["in.parquet"]


def test_a_column_that_is_there_twice_passes_through_but_is_not_read(tmp_path):
    q = lists(motion(1, frames=4))
    table = pa.Table.from_arrays([pa.array([1, 2, 3, 4]), q, pa.array(list("abcd"))], ["a", "joints", "a"])
    pq.write_table(table, tmp_path / "in.parquet")
    forward(tmp_path / "in.parquet", tmp_path / "out.parquet").run()
    before, after = (pq.ParquetFile(tmp_path / name).read() for name in ("in.parquet", "out.parquet"))
    assert after.select([0, 1, 2]).equals(before)
    refused(forward(tmp_path / "in.parquet", tmp_path / "other.parquet", joints=["a", "b"]), "2 columns named 'a'")


def test_one_bad_table_of_many_is_named_before_any_work(tmp_path):
    good = joint_table()
    folder = write(tmp_path / "in", {"a.parquet": good, "b.parquet": good.drop_columns(["joints"]), "c.parquet": good})
    refused(forward(folder, tmp_path / "out"), r"b\.parquet: no column 'joints'")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("keep", [0, 3, 200, -40, -1])
def test_a_truncated_file_is_refused(tmp_path, keep):
    folder = write(tmp_path / "in", {"a.parquet": joint_table()})
    data = (folder / "a.parquet").read_bytes()
    (folder / "a.parquet").write_bytes(data[:keep] if keep else b"")
    refused(forward(folder, tmp_path / "out"), r"a\.parquet: (not a whole parquet file|the file is empty)")


def test_a_file_with_bad_pages_fails_alone_and_is_made_when_mended(tmp_path):
    good = {f"{k}.parquet": joint_table(3, k) for k in range(4)}
    folder = write(tmp_path / "in", good)
    whole = (folder / "2.parquet").read_bytes()
    spoiled = bytearray(whole)
    spoiled[100:3000] = bytes(2900)
    (folder / "2.parquet").write_bytes(spoiled)
    with pytest.raises(jobs.JobFailed, match=r"1 of 4 files failed.*2\.parquet") as failed:
        forward(folder, tmp_path / "out").run()
    result = failed.value.result
    assert (result.made, result.kept, list(result.failed)) == (3, 0, ["2.parquet"])
    assert sorted(contents(tmp_path / "out")) == ["0.parquet", "1.parquet", "3.parquet"]
    (folder / "2.parquet").write_bytes(whole)
    again = forward(folder, tmp_path / "out").run()
    assert (again.made, again.kept, again.rows) == (1, 3, 480)
    forward(folder, tmp_path / "fresh").run()
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")


def test_a_table_without_rows_gives_one_without_rows(tmp_path):
    folder = write(tmp_path / "in", {"none.parquet": joint_table().slice(0, 0), "some.parquet": joint_table()})
    for make, options in (
        (jobs.forward, {"joints": "joints"}),
        (jobs.solve, {"pose": "ee"}),
        (jobs.track, {"pose": "ee", "rate": 30}),
        (jobs.path, {"pose": "ee", "rate": 30}),
    ):
        target = tmp_path / make.__name__
        result = make(ARM, folder, target, link=LINK, **options).run()
        none, some = (pq.read_table(target / name) for name in ("none.parquet", "some.parquet"))
        assert none.schema.equals(some.schema, check_metadata=True)
        assert (none.num_rows, some.num_rows, result.rows) == (0, 120, 120)


def test_source_and_target_may_not_be_the_same(tmp_path):
    folder = write(tmp_path / "in", {"a.parquet": joint_table()})
    before = contents(folder)
    refused(forward(folder, folder), "source and target are the same folder")
    os.symlink(folder, tmp_path / "link")
    refused(forward(folder, tmp_path / "link"), "source and target are the same folder")
    refused(forward(folder / "a.parquet", folder / "a.parquet"), "is also a table that is read")
    refused(forward(folder / "a.parquet", folder), "is also a table that is read")
    os.symlink(folder / "a.parquet", tmp_path / "b.parquet")
    refused(forward(folder / "a.parquet", tmp_path / "b.parquet"), "is also a table that is read")
    refused(forward(str(folder / "*.parquet"), folder, overwrite=True), "is also a table that is read")
    assert contents(folder) == before


def test_a_target_inside_the_source_is_not_read_again(tmp_path):
    folder = write(tmp_path / "in", {"a.parquet": joint_table()})
    for _ in range(2):
        result = forward(folder, folder / "out").run()
        assert result.made + result.kept == 1


def test_links_are_followed_once_and_keep_their_names(tmp_path):
    store = write(tmp_path / "blobs", {"0a1b2c": joint_table(2)})
    folder = tmp_path / "in"
    folder.mkdir()
    os.symlink(store / "0a1b2c", folder / "a.parquet")
    os.symlink(folder, folder / "round")
    before = contents(store)
    result = forward(folder, tmp_path / "out").run()
    assert result.made == 1
    assert list(contents(tmp_path / "out")) == ["a.parquet"]
    assert contents(store) == before


def test_files_that_are_in_the_way_are_refused_or_replaced_when_asked(tmp_path):
    folder = write(tmp_path / "in", {"a.parquet": joint_table()})
    target = tmp_path / "out"
    target.mkdir()
    (target / "a.parquet").write_bytes(b"precious")
    refused(forward(folder, target), "a.parquet is there, and not of this job")
    assert (target / "a.parquet").read_bytes() == b"precious"
    forward(folder, target, overwrite=True).run()
    assert pq.read_table(target / "a.parquet").num_rows == 120
    (tmp_path / "file").write_text("x")
    refused(forward(folder, tmp_path / "file"), "target must be a folder")


def test_results_of_another_job_are_not_mixed(tmp_path):
    folder = write(tmp_path / "in", {"a.parquet": joint_table(), "b.parquet": joint_table(2)})
    forward(folder, tmp_path / "out").run()
    refused(forward(folder, tmp_path / "out", single=True), "results of another job.*single differs")
    result = forward(folder, tmp_path / "out", single=True, overwrite=True).run()
    assert (result.made, result.kept) == (2, 0)


def test_a_changed_table_is_made_again(tmp_path):
    folder = write(tmp_path / "in", {"a.parquet": joint_table(), "b.parquet": joint_table(2)})
    forward(folder, tmp_path / "out").run()
    write(folder, {"b.parquet": joint_table(4)})
    result = forward(folder, tmp_path / "out").run()
    assert (result.made, result.kept, result.rows) == (1, 1, 280)
    os.unlink(tmp_path / "out" / "a.parquet")
    assert forward(folder, tmp_path / "out").run().made == 1


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_that_cannot_be_written_is_an_error_that_names_it(tmp_path):
    folder = write(tmp_path / "in", {"a.parquet": joint_table()})
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(BadInput, match=r"the target cannot be made: .*closed"):
        forward(folder, tmp_path / "closed" / "out").run()


FULL = """
import resource, signal, sys
sys.path.insert(0, {support!r})
from job_tables import ARM, LINK
from supple import jobs
resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most}))
try:
    jobs.forward(ARM, {source!r}, {target!r}, joints="joints", link=LINK).run()
except jobs.JobFailed as failed:
    print(sorted(failed.result.failed.items()))
    print(failed.result.made)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="no limit of file sizes here")
def test_a_full_disk_leaves_no_half_file(tmp_path):
    folder = write(tmp_path / "in", {"big.parquet": joint_table(60), "small.parquet": joint_table(1)})
    support = os.path.dirname(sys.modules["job_tables"].__file__)
    code = FULL.format(support=support, most=200_000, source=str(folder), target=str(tmp_path / "out"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "big.parquet: " in done.stdout, done.stderr
    assert done.stdout.splitlines()[-1] == "1"
    assert list(contents(tmp_path / "out")) == ["small.parquet"]
    assert not list((tmp_path / "out" / ".supple-job").glob("*.part"))
    again = forward(folder, tmp_path / "out").run()
    assert (again.made, again.kept) == (1, 1)


def test_two_processes_do_not_work_on_one_job(tmp_path):
    folder = write(tmp_path / "in", {"a.parquet": joint_table()})
    job = forward(folder, tmp_path / "out")
    _, held = job._folder()
    with held.opened(False), pytest.raises(BadInput, match="another process works on this job"):
        job.run()


def test_names_that_would_be_one_file_are_refused(tmp_path):
    folder = write(tmp_path / "in", {"a.parquet": joint_table(), "a.pq": joint_table()})
    refused(forward(folder, tmp_path / "out", format="arrow"), "have the same result")


def test_a_missing_source_is_named(tmp_path):
    refused(forward(tmp_path / "nowhere", tmp_path / "out"), "no file .*nowhere")
    refused(forward(str(tmp_path / "*.parquet"), tmp_path / "out"), "no file matches")
    (tmp_path / "empty").mkdir()
    refused(forward(tmp_path / "empty", tmp_path / "out"), "has no tables.*csv when asked")


def test_csv_has_no_lists(tmp_path):
    pq.write_table(joint_table(), tmp_path / "in.parquet")
    refused(
        forward(tmp_path / "in.parquet", tmp_path / "out.csv", format="csv"), "csv has no lists, and column 'joints'"
    )


def test_csv_rows_that_are_no_numbers_are_marked(tmp_path):
    from supple import models

    arm = models.planar2()
    (tmp_path / "in.csv").write_text("q_0,q_1\n0.1,0.2\nx,0.2\n,1\nnan,1\n1e400,0\n 0.3 ,+.5\n")
    jobs.forward(arm, tmp_path / "in.csv", tmp_path / "out.csv", joints="q").run()
    rows = (tmp_path / "out.csv").read_text().splitlines()[1:]
    assert [row.split(",")[-1].strip('"') for row in rows] == ["computed", *["invalid"] * 4, "computed"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process is read from /proc")
def test_memory_does_not_grow_with_the_row_group(tmp_path):
    rows = 400_000
    q = np.tile(motion(4, frames=100), (rows // 400, 1))
    columns = {"joints": lists(q), **{f"c{i}": np.random.default_rng(i).random(rows) for i in range(40)}}
    pq.write_table(pa.table(columns), tmp_path / "in.parquet", row_group_size=rows, use_dictionary=False)
    code = f"""
import re, sys
from pathlib import Path
sys.path.insert(0, {os.path.dirname(sys.modules["job_tables"].__file__)!r})
from job_tables import ARM, LINK
from supple import jobs
jobs.forward(ARM, {str(tmp_path / "in.parquet")!r}, {str(tmp_path / "out.parquet")!r}, joints="joints", link=LINK).run()
print(int(re.search("VmHWM:\\\\s*(\\\\d+)", Path("/proc/self/status").read_text())[1]) // 1024)
"""
    size = os.path.getsize(tmp_path / "in.parquet") >> 20
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert size > 130
    assert int(done.stdout) < 420


def test_a_target_below_a_file_is_an_error_that_names_it(tmp_path):
    folder = write(tmp_path / "in", {"a.parquet": joint_table()})
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match=r"the target cannot be made: .*file"):
        forward(folder, tmp_path / "file" / "out").run()


def test_parquet_becomes_arrow_and_csv_becomes_parquet(tmp_path):
    table = joint_table(2).append_column("side", pa.array(["left", "right"] * 40).dictionary_encode())
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=30)
    forward(tmp_path / "in.parquet", tmp_path / "out.arrow", format="arrow").run()
    with pa.ipc.open_file(tmp_path / "out.arrow") as file:
        made = file.read_all()
    assert made.select(range(5)).equals(pq.read_table(tmp_path / "in.parquet").unify_dictionaries())
    (tmp_path / "in.csv").write_text("q_0,q_1,note\n0.1,0.2,a\n0.3,0.4,b\n")
    from supple import models

    jobs.forward(models.planar2(), tmp_path / "in.csv", tmp_path / "c.parquet", joints="q", format="parquet").run()
    made = pq.read_table(tmp_path / "c.parquet")
    assert made["note"].to_pylist() == ["a", "b"]
    assert made.schema.field("pose").type == pa.list_(pa.float64(), 7)
