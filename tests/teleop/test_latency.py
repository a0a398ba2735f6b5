"""Settings of the process while loops run: Python's lock, the processor, and garbage."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import PATIENCE
from supple import Frame, Solver, models, teleop
from supple.teleop import latency
from supple.teleop.clock import Clock


@pytest.fixture(autouse=True)
def unchanged() -> Iterator[None]:
    before = sys.getswitchinterval(), gc.get_threshold()
    yield
    assert (sys.getswitchinterval(), gc.get_threshold()) == before


def test_the_lock_is_given_soon_while_the_loop_waits_and_kept_in_a_tick() -> None:
    seen, intervals = Clock(), []

    def hand() -> Iterator[Frame]:
        for _ in range(40):
            intervals.append(sys.getswitchinterval())
            yield Frame()

    teleop.drive(hand(), teleop.Mapping(), Solver().track(models.ur5(), "tool0"), lambda tick: None, 200.0)
    assert (
        sum(interval == pytest.approx(latency._TICKING) for interval in intervals) > 20
    )  # not in a tick that is late by a whole period from the first on
    assert latency._WAITING < latency._TICKING < 5e-3
    seen.wait(seen.now() + 0.002)  # without a loop nothing is changed


def test_settings_return_when_the_last_of_two_loops_ends() -> None:
    before = sys.getswitchinterval(), gc.get_threshold()
    with latency.low_latency():
        with latency.low_latency():
            assert gc.get_threshold()[0] >= 10_000
        latency.give_lock()
        assert sys.getswitchinterval() == pytest.approx(latency._WAITING)
        assert gc.get_threshold()[0] >= 10_000
    assert (sys.getswitchinterval(), gc.get_threshold()) == before


class Ring:
    """Garbage that only a collection finds."""

    alive = 0

    def __init__(self) -> None:
        self.me = self
        Ring.alive += 1

    def __del__(self) -> None:
        Ring.alive -= 1


def test_garbage_is_collected_between_ticks_and_not_when_the_next_is_due() -> None:
    with latency.low_latency():
        for _ in range(600):
            Ring()
        latency.collect(1e-5)
        assert Ring.alive == 600
        latency.collect(2e-3)
        assert Ring.alive == 0
        for _ in range(6000):
            Ring()
        latency.collect(1e-5)  # too much of it
        assert Ring.alive == 0


def test_a_program_that_collects_by_itself_is_left_alone() -> None:
    gc.disable()
    try:
        with latency.low_latency():
            for _ in range(600):
                Ring()
            latency.collect(2e-3)
            assert Ring.alive == 600
    finally:
        gc.enable()
        gc.collect()


@pytest.mark.skipif(sys.platform != "linux", reason="real-time priorities are those of Linux")
def test_threads_that_hold_the_lock_have_a_priority_below_that_of_the_loop(tmp_path: Path) -> None:
    pytest.importorskip("viser", reason="the teleop extra is not installed")
    from supple.teleop import page

    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(latency.LOOP))
    except OSError:
        pytest.skip("real-time priorities are not allowed here")
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    linkage = models.so101()
    with page.serve(linkage, port=0, folder=tmp_path, arm=teleop.SimulatedArm(linkage)) as served:
        wanted = {"supple teleop": latency.LOOP, "supple arm": latency.BESIDE, "supple page": latency.BESIDE}
        end = time.monotonic() + PATIENCE
        while served.session.newest is None and time.monotonic() < end:
            time.sleep(0.01)
        found = {
            thread.name: os.sched_getparam(thread.native_id).sched_priority
            for thread in threading.enumerate()
            if thread.native_id is not None
        }
        assert {name: found[name] for name in wanted} == wanted
        server: list[int] = []
        served._server.get_event_loop().call_soon_threadsafe(lambda: server.append(os.sched_getparam(0).sched_priority))
        while not server and time.monotonic() < end:
            time.sleep(0.01)
        assert server == [latency.BESIDE]
