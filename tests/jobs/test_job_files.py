"""Which files a job reads and writes: folders and files, links to nothing, results whose tables are gone."""

import os

import pytest

from job_tables import ARM, LINK, joint_table, write
from supple import BadInput, jobs


def forward(source, target, **options):
    return jobs.forward(ARM, source, target, **{"joints": "joints", "link": LINK, **options})


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "in", {"a.parquet": joint_table(1), "b.parquet": joint_table(1)})


def test_several_tables_need_a_folder_as_target(folder, tmp_path):
    for source in (folder, str(folder / "*.parquet"), [folder / "a.parquet"]):
        job = forward(source, tmp_path / "out.parquet")
        for call in (job.plan, job.run):
            with pytest.raises(BadInput, match=r"out\.parquet is the name of a file.*give a folder, such as .*out$"):
                call()
    assert not (tmp_path / "out.parquet").exists()
    with pytest.raises(BadInput, match="no file 'nowhere'"):
        forward("nowhere", tmp_path / "out.parquet").plan()
    (tmp_path / "out.parquet").mkdir()
    assert forward(folder, tmp_path / "out.parquet").run().made == 2


@pytest.mark.parametrize("source", ["in", "in/*.parquet", "in/c.parquet"])
def test_a_link_to_nothing_is_named(folder, tmp_path, monkeypatch, source):
    monkeypatch.chdir(tmp_path)
    os.symlink("nowhere.parquet", folder / "c.parquet")
    for call in (forward(source, "out").plan, forward(source, "out").run):
        with pytest.raises(BadInput, match=r"c\.parquet is a link to nowhere\.parquet, which does not exist"):
            call()
    assert not (tmp_path / "out").exists()


def test_results_of_tables_that_are_gone_are_mentioned(folder, tmp_path):
    job = forward(folder, tmp_path / "out", format="arrow")
    assert job.run().stale == ()
    (folder / "b.parquet").unlink()
    plan = job.plan()
    assert plan.stale == ("b.arrow",)
    assert "stale   b.arrow: its table is not among those of the job" in str(plan)
    result = job.run()
    assert result.stale == ("b.arrow",)
    assert "stale   b.arrow: its table is not among those of the job" in str(result)
    assert (tmp_path / "out/b.arrow").is_file()
    (tmp_path / "out/b.arrow").unlink()
    assert job.run().stale == ()
