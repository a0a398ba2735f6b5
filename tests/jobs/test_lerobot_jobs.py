"""LeRobot datasets (v3): data files, features, statistics and episodes stay true when a job adds columns."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from job_tables import ARM, LINK, contents, numbers, seven
from lerobot_dataset import LENGTHS, dataset
from supple import BadInput, jobs

STATISTICS = ("min", "max", "mean", "std", "count", "q01", "q10", "q50", "q90", "q99")


def forward(source, target, **options):
    chosen = {"joints": "observation.state", "pose": "observation.ee_pose", "link": LINK, **options}
    return jobs.forward(ARM, source, target, **chosen)


def test_features_and_statistics_of_the_added_columns_are_true(tmp_path):
    source, target = dataset(tmp_path / "in", spoil=True), tmp_path / "out"
    result = forward(source, target).run()
    assert (result.made, result.rows, result.counts["invalid"]) == (2, sum(LENGTHS), 1)
    info = json.loads((target / "meta/info.json").read_text())
    before = json.loads((source / "meta/info.json").read_text())
    pose = info["features"].pop("observation.ee_pose")
    outcome = info["features"].pop("outcome")
    assert info == before
    names = ["x", "y", "z", "qw", "qx", "qy", "qz"]
    assert pose == {"dtype": "float32", "shape": [7], "names": names}
    assert (outcome["dtype"], outcome["info"]["outcomes"][2]) == ("int64", "invalid")
    data = pa.concat_tables([pq.read_table(target / f"data/chunk-000/file-{k:03d}.parquet") for k in range(2)])
    values, index = numbers(data, "observation.ee_pose"), data["episode_index"].to_numpy()
    episodes = pq.read_table(target / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    for row in episodes:
        part = values[index == row["episode_index"]].astype(float)
        part = part[np.isfinite(part).all(axis=1)]
        stats = {name: row[f"stats/observation.ee_pose/{name}"] for name in STATISTICS}
        assert stats["count"] == [len(part)] == [row["length"] - (row["episode_index"] == 1)]
        wanted = {"min": part.min(0), "max": part.max(0), "mean": part.mean(0), "std": part.std(0)}
        wanted["q50"] = np.quantile(part, 0.5, axis=0, method="inverted_cdf")
        for name, value in wanted.items():
            assert np.allclose(stats[name], value, atol=1e-12), name
    whole = values[np.isfinite(values).all(axis=1)].astype(float)
    stats = json.loads((target / "meta/stats.json").read_text())
    assert stats["timestamp"] == {"min": [0.0]}
    assert sorted(stats["observation.ee_pose"]) == sorted(STATISTICS)
    for name, value in {"min": whole.min(0), "max": whole.max(0), "mean": whole.mean(0), "std": whole.std(0)}.items():
        assert np.allclose(stats["observation.ee_pose"][name], value, atol=1e-9), name
    assert stats["outcome"]["count"] == [sum(LENGTHS)]


def test_all_other_files_and_columns_are_kept(tmp_path):
    source, target = dataset(tmp_path / "in"), tmp_path / "out"
    forward(source, target).run()
    before, after = contents(source), contents(target)
    assert before.keys() == after.keys()
    same = {name for name in before if before[name] == after[name]}
    assert same == {"videos/clip.mp4", "meta/tasks.parquet"}
    for k in range(2):
        name = f"data/chunk-000/file-{k:03d}.parquet"
        old, new = pq.ParquetFile(source / name), pq.ParquetFile(target / name)
        assert new.read().select(range(5)).equals(old.read())
        sizes = [[f.metadata.row_group(i).num_rows for i in range(f.metadata.num_row_groups)] for f in (old, new)]
        assert sizes[0] == sizes[1] == list(LENGTHS[2 * k : 2 * k + 2])
        noted = json.loads(new.schema_arrow.metadata[b"huggingface"])["info"]["features"]
        assert noted["observation.ee_pose"]["length"] == 7
        assert noted["outcome"] == {"dtype": "int64", "_type": "Value"}
    again = forward(source, target).run()
    assert (again.made, again.kept) == (0, 2)
    assert contents(target) == after


def test_poses_of_a_dataset_become_joint_values_at_its_own_rate(tmp_path):
    source = dataset(tmp_path / "in")
    forward(source, tmp_path / "poses").run()
    options = {"pose": "observation.ee_pose", "joints": "action", "link": LINK, "prefix": "ik_"}
    for make in (jobs.path, jobs.track, jobs.solve):
        target = tmp_path / make.__name__
        job = make(ARM, tmp_path / "poses", target, **options)
        assert job.rate == (None if make is jobs.solve else 30)
        result = job.run()
        assert result.rows == sum(LENGTHS)
        info = json.loads((target / "meta/info.json").read_text())
        assert info["features"]["action"] == {"dtype": "float32", "shape": [8], "names": list(ARM.names)}
        table = pq.read_table(target / "data/chunk-000/file-000.parquet")
        assert table.schema.field("action").type == pa.list_(pa.float32(), 8)
        reached = seven(numbers(table, "action").astype(float))[:, :3]
        assert np.abs(reached - numbers(table, "observation.ee_pose")[:, :3]).max() < (
            0.2 if make is jobs.track else 1e-3
        )


REFUSED = {
    "version": (lambda info: info.update(codebase_version="v2.1"), {}, r"codebase_version must be v3.x, got v2.1"),
    "features": (lambda info: info.pop("features"), {}, "it has no features"),
    "name": (lambda info: None, {"pose": "ee/pose"}, "has no / in its name"),
    "format": (lambda info: None, {"format": "arrow"}, "a LeRobot dataset is written as parquet"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_dataset_does_not_allow_is_refused_before_any_work(tmp_path, case):
    spoil, options, message = REFUSED[case]
    source = dataset(tmp_path / "in")
    info = json.loads((source / "meta/info.json").read_text())
    spoil(info)
    (source / "meta/info.json").write_text(json.dumps(info))
    job = forward(source, tmp_path / "out", **options)
    for call in (job.plan, job.run):
        with pytest.raises(BadInput, match=message):
            call()
    assert not (tmp_path / "out").exists()


def test_an_episode_in_two_files_is_refused_and_the_dataset_has_no_info(tmp_path):
    source = dataset(tmp_path / "in")
    place = source / "data/chunk-000/file-001.parquet"
    table = pq.read_table(place)
    index = table.schema.names.index("episode_index")
    changed = np.where(table["episode_index"].to_numpy() == 2, 1, table["episode_index"].to_numpy())
    pq.write_table(table.set_column(index, table.schema.field(index), pa.array(changed)), place)
    with pytest.raises(BadInput, match=r"file-001\.parquet: episode 1 is also in .*file-000\.parquet"):
        forward(source, tmp_path / "out").run()
    assert not (tmp_path / "out/meta/info.json").exists()


def test_a_link_to_nothing_in_a_dataset_is_named_before_any_work(tmp_path):
    source = dataset(tmp_path / "in")
    os.symlink("nowhere.mp4", source / "videos/other.mp4")
    job = forward(source, tmp_path / "out")
    for call in (job.plan, job.run):
        with pytest.raises(BadInput, match=r"other\.mp4 is a link to nowhere\.mp4, which does not exist"):
            call()
    assert not (tmp_path / "out").exists()


def test_a_dataset_that_is_not_complete_has_no_info(tmp_path):
    source = dataset(tmp_path / "in")
    place = source / "data/chunk-000/file-001.parquet"
    data = bytearray(place.read_bytes())
    data[4:900] = bytes(896)
    place.write_bytes(data)
    with pytest.raises(jobs.JobFailed):
        forward(source, tmp_path / "out").run()
    assert not (tmp_path / "out/meta/info.json").exists()


LOAD = """
import sys
from lerobot.datasets.lerobot_dataset import LeRobotDataset
data = LeRobotDataset("supple/test", root=sys.argv[1])
frame = data[30]
print(len(data), data.num_episodes, tuple(frame["observation.ee_pose"].shape), frame["observation.ee_pose"].dtype)
print(int(frame["outcome"]), data.meta.stats["observation.ee_pose"]["mean"].shape)
print(frame["observation.ee_pose"].tolist())
"""
MAKE = """
import sys, numpy as np
from lerobot.datasets.lerobot_dataset import LeRobotDataset
feature = {"dtype": "float32", "shape": (8,), "names": None}
features = {"observation.state": feature}
data = LeRobotDataset.create("supple/test", fps=30, root=sys.argv[1], use_videos=False, features=features)
random = np.random.default_rng(0)
for episode in range(3):
    for frame in range(20):
        data.add_frame({"observation.state": random.uniform(-1, 1, 8).astype(np.float32), "task": "reach"})
    data.save_episode()
data.finalize()
"""


@pytest.mark.gate
def test_a_dataset_with_added_columns_loads_in_lerobot(tmp_path):
    """Needs lerobot, which needs Python 3.12: in this environment, or by the interpreter that LEROBOT_PYTHON names."""
    python = os.environ.get("LEROBOT_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import lerobot.datasets"], capture_output=True).returncode:
        pytest.skip("lerobot is not installed; LEROBOT_PYTHON may name a Python that has it")
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    variables |= {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")}

    def lerobot(code: str, root: Path) -> str:
        done = subprocess.run([python, "-c", code, str(root)], capture_output=True, text=True, env=variables)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    lerobot(MAKE, tmp_path / "in")
    forward(tmp_path / "in", tmp_path / "out").run()
    lines = lerobot(LOAD, tmp_path / "out").splitlines()
    assert lines[0] == "60 3 (7,) torch.float32"
    table = pq.read_table(tmp_path / "out/data/chunk-000/file-000.parquet")
    assert json.loads(lines[2]) == numbers(table, "observation.ee_pose")[30].tolist()
