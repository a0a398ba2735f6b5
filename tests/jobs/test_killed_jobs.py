"""A job that is killed, on one machine or on Ray, goes on and gives the same bytes."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from job_tables import ARM, LINK, contents, joint_table, write
from supple import jobs

COMMAND = [sys.executable, "-m", "supple", "table"]


def command(source: Path, target: Path, work: str = "solve", *more: str) -> list[str]:
    return [*COMMAND, work, "panda", str(source), str(target), "--pose", "ee", "--link", LINK, *more]


def killed_after(arguments: list[str], seconds: float) -> bool:
    """Start a command in a process and kill it; whether it was still running."""
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        return True
    return False


def wait_for(condition, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)


def test_a_job_killed_while_a_file_is_written_leaves_whole_files_only_and_goes_on(tmp_path):
    source = write(tmp_path / "in", {f"{k}.parquet": joint_table(40, k) for k in range(6)})
    fresh = jobs.track(ARM, source, tmp_path / "fresh", pose="ee", rate=30, link=LINK)
    fresh.run()
    target = tmp_path / "out"
    process = subprocess.Popen(
        command(source, target, "track", "--rate", "30"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_for(lambda: list((target / ".supple-job").glob("*.part")) or process.poll() is not None)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    whole = contents(tmp_path / "fresh")
    left = contents(target)
    assert left.items() <= whole.items()
    result = jobs.track(ARM, source, target, pose="ee", rate=30, link=LINK).run()
    assert result.made + result.kept == 6
    assert result.made >= 1
    assert contents(target) == whole
    assert not list((target / ".supple-job").glob("*.part"))


@pytest.mark.gate
def test_a_job_killed_at_three_random_moments_gives_the_same_bytes(tmp_path):
    moments = random.Random(5)
    source = write(tmp_path / "in", {f"{k}.parquet": joint_table(800, k) for k in range(12)})
    began = time.monotonic()
    assert subprocess.run(command(source, tmp_path / "fresh"), stdout=subprocess.DEVNULL).returncode == 0
    whole, seconds = contents(tmp_path / "fresh"), time.monotonic() - began
    assert len(whole) == 12
    target, kills = tmp_path / "out", 0
    for _ in range(3):
        kills += killed_after(command(source, target), moments.uniform(0.2, 0.8) * seconds)
        assert contents(target).items() <= whole.items()
    assert kills
    done = subprocess.run(command(source, target), capture_output=True, text=True)
    assert done.returncode == 0
    assert contents(target) == whole


def test_ctrl_c_ends_a_job_and_leaves_whole_files(tmp_path):
    source = write(tmp_path / "in", {f"{k}.parquet": joint_table(60, k) for k in range(4)})
    target = tmp_path / "out"
    process = subprocess.Popen(
        command(source, target, "track", "--rate", "30"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_for(lambda: list((target / ".supple-job").glob("*.part")) or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) in (130, 0)
    assert not list((target / ".supple-job").glob("*.part"))


@pytest.mark.gate
@pytest.mark.alone
def test_on_ray_a_killed_worker_is_replaced_and_the_bytes_are_the_same(tmp_path):
    ray = pytest.importorskip("ray")
    source = write(tmp_path / "in", {f"{k}.parquet": joint_table(200, k) for k in range(8)})
    options = {"pose": "ee", "rate": 30, "link": LINK}
    jobs.track(ARM, source, tmp_path / "fresh", **options).run()
    support = str(Path(sys.modules["job_tables"].__file__).parent)
    paths = os.pathsep.join([support, *(p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p)])
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": paths}})
    try:
        import threading

        killed = []

        def kill_one() -> None:
            place = tmp_path / "out" / ".supple-job"
            wait_for(lambda: list(place.glob("*.part")))
            part = next(iter(place.glob("*.part"))).name
            killed.append(int(part.rsplit("-", 2)[1]))
            os.kill(killed[0], signal.SIGKILL)

        killer = threading.Thread(target=kill_one)
        killer.start()
        result = jobs.track(ARM, source, tmp_path / "out", **options).run(ray=True)
        killer.join()
    finally:
        ray.shutdown()
    assert len(killed) == 1
    assert killed[0] != os.getpid()
    assert (result.made, result.kept, dict(result.failed)) == (8, 0, {})
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")
    assert not list((tmp_path / "out" / ".supple-job").glob("*.part"))


def test_ray_that_is_not_installed_is_named(tmp_path, monkeypatch):
    from supple import MissingExtra

    monkeypatch.setitem(sys.modules, "ray", None)
    source = write(tmp_path / "in", {"a.parquet": joint_table(1)})
    with pytest.raises(MissingExtra, match=r"pip install 'supple\[ray\]'"):
        jobs.solve(ARM, source, tmp_path / "out", pose="ee", link=LINK).run(ray=True)
