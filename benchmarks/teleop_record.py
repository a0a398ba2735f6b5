"""Random driving, recorded and replayed: are the joint values the same, bit for bit, and what does it cost?

Time is simulated: the loop runs as fast as it can, and now and then wakes late and skips ticks.

    pip install 'supple[teleop]'
    python benchmarks/teleop_record.py
    python benchmarks/teleop_record.py --minutes 30
    python benchmarks/teleop_record.py --arm baxter --ending csv
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from supple import Frame, Solver, models
from supple.teleop import Command, Mapping, Tick, drive
from supple.teleop.recording import Recorder
from supple.teleop.recording.replay import replay

HANDS = {"baxter": ["left_gripper", "right_gripper"], "ur5": ["tool0"], "panda": ["panda_hand"], "iiwa14": ["tool0"]}
WAITING = 4096  # ticks that may wait for the disk before simulated time waits for it too


class Simulated:
    """A clock that costs no time; one tick in a hundred wakes up to 20 ms late."""

    def __init__(self, seed: int) -> None:
        self.time, self._random = 0.0, np.random.default_rng(seed)

    def now(self) -> float:
        return self.time

    def wait(self, until: float) -> None:
        self.time = max(self.time, until)
        if self._random.random() < 0.01:
            self.time += self._random.uniform(0.0, 0.02)


def operator(clock: Simulated, seconds: float, rate: float, hands: int, seed: int) -> Iterator[Command | None]:
    """Hands that wander about, let go and take hold, jump half a metre, fall silent, and send what is no frame."""
    random = np.random.default_rng(seed)
    places, turns = np.zeros((hands, 3)), np.zeros((hands, 3))
    ways, spins, grip, silent = random.normal(size=(hands, 3)), random.normal(size=(hands, 3)), True, 0.0
    while clock.now() < seconds:
        now, chance = clock.now(), random.random(5) * rate / 300
        if chance[0] < 0.01:
            ways, spins = random.normal(size=(2, hands, 3)) - 0.5 * np.stack([places, turns])
        if chance[1] < 0.003:
            grip = not grip
        if chance[2] < 0.001:
            places = places + 0.5 * random.normal(size=(hands, 3))
        if chance[3] < 0.0005:
            silent = now + random.uniform(0.05, 1.0)
        places, turns = places + 0.3 * ways / rate, turns + spins / rate
        held = [Frame.at(p, Frame.rotvec(r)) for p, r in zip(places, turns, strict=True)]
        if now < silent:
            yield None
        elif chance[4] < 0.0005:
            yield Command(hands=[np.full((4, 4), np.nan)] * hands, stamp=now)
        else:
            yield Command(hands=held, grip=grip, stamp=now)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--minutes", type=float, default=1.0)
    words.add_argument("--arm", choices=HANDS, default="ur5")
    words.add_argument("--rate", type=float, default=300.0)
    words.add_argument("--ending", choices=("parquet", "csv"), default="parquet")
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--folder", type=Path, help="keep the file here; it is deleted otherwise")
    asked = words.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(0 if run(asked, asked.folder or Path(temporary)) else 1)


def run(asked: argparse.Namespace, folder: Path) -> bool:
    links, seconds = HANDS[asked.arm], 60 * asked.minutes
    tracker = Solver().track(models.get(asked.arm), links)
    recorder = Recorder.within(folder, tracker, asked.rate, f".{asked.ending}")
    clock = Simulated(asked.seed)
    live, most = [], 0

    def sink(tick: Tick) -> None:
        nonlocal most
        live.append(tick.step.q.tobytes())
        recorder.write(tick)
        most = max(most, recorder.behind)
        while recorder.behind > WAITING:
            time.sleep(1e-3)

    began = time.perf_counter()
    source = operator(clock, seconds, asked.rate, len(links), asked.seed)
    told = drive(source, [Mapping() for _ in links], tracker, sink, asked.rate, clock=clock)
    driven = time.perf_counter()
    recorder.close()
    closed = time.perf_counter()
    read: list[bytes] = []
    found = replay(recorder.path, watch=lambda rows, step: read.extend(map(bytes, np.ascontiguousarray(step.q))))
    replayed = time.perf_counter()
    size = recorder.path.stat().st_size
    same = found.identical and read == live
    print(f"{asked.arm}, {', '.join(links)}: {asked.minutes:g} minutes of random driving at {asked.rate:g} Hz")
    print(f"  {len(live):,} ticks and {told.skipped:,} skipped; {recorder.lost} lost, {most:,} waiting at most")
    print("  " + ", ".join(f"{count:,} {name}" for name, count in found.recorded.outcomes.items()))
    print(f"  {size / 1e6:.1f} MB, {size / len(live):.0f} bytes a tick, as .{asked.ending}")
    print(
        f"  driven in {driven - began:.1f} s, closed in {closed - driven:.1f} s, replayed in {replayed - closed:.1f} s"
    )
    print(f"  {found}")
    print("  the replay is the live drive, bit for bit" if same else "  THE REPLAY IS NOT THE LIVE DRIVE")
    return same


if __name__ == "__main__":
    main()
