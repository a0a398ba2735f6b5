"""Random driving, recorded and replayed: whether the joint values are identical, and the time and space it takes.

Time is simulated: the loop runs as fast as it can; one tick in a hundred is late, so ticks are skipped.

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

LINKS = {"baxter": ["left_gripper", "right_gripper"], "ur5": ["tool0"], "panda": ["panda_hand"], "iiwa14": ["tool0"]}
MAX_QUEUE = 4096  # ticks that wait for the disk before the simulation waits too


class Simulated:
    """A clock that takes no time; one tick in a hundred is up to 20 ms late."""

    def __init__(self, seed: int) -> None:
        self.time, self._random = 0.0, np.random.default_rng(seed)

    def now(self) -> float:
        return self.time

    def wait(self, until: float) -> None:
        self.time = max(self.time, until)
        if self._random.random() < 0.01:
            self.time += self._random.uniform(0.0, 0.02)


def operator(clock: Simulated, seconds: float, rate: float, hands: int, seed: int) -> Iterator[Command | None]:
    """Hands that move at random, are released and engaged, jump half a metre, pause, and send invalid frames."""
    random = np.random.default_rng(seed)
    positions, rotations = np.zeros((hands, 3)), np.zeros((hands, 3))
    velocities, turn_rates = random.normal(size=(hands, 3)), random.normal(size=(hands, 3))
    engaged, silent = True, 0.0
    while clock.now() < seconds:
        now, chance = clock.now(), random.random(5) * rate / 300
        if chance[0] < 0.01:
            velocities, turn_rates = random.normal(size=(2, hands, 3)) - 0.5 * np.stack([positions, rotations])
        if chance[1] < 0.003:
            engaged = not engaged
        if chance[2] < 0.001:
            positions = positions + 0.5 * random.normal(size=(hands, 3))
        if chance[3] < 0.0005:
            silent = now + random.uniform(0.05, 1.0)
        positions, rotations = positions + 0.3 * velocities / rate, rotations + turn_rates / rate
        frames = [Frame.at(p, Frame.rotvec(r)) for p, r in zip(positions, rotations, strict=True)]
        if now < silent:
            yield None
        elif chance[4] < 0.0005:
            yield Command(hands=[np.full((4, 4), np.nan)] * hands, stamp=now)
        else:
            yield Command(hands=frames, engaged=engaged, stamp=now)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--arm", choices=LINKS, default="ur5")
    parser.add_argument("--rate", type=float, default=300.0)
    parser.add_argument("--ending", choices=("parquet", "csv"), default="parquet")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="write the file here; by default it is deleted")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(0 if run(arguments, arguments.folder or Path(temporary)) else 1)


def run(arguments: argparse.Namespace, folder: Path) -> bool:
    links, seconds = LINKS[arguments.arm], 60 * arguments.minutes
    tracker = Solver().track(models.get(arguments.arm), links)
    recorder = Recorder.within(folder, tracker, arguments.rate, f".{arguments.ending}")
    clock = Simulated(arguments.seed)
    live, most = [], 0

    def sink(tick: Tick) -> None:
        nonlocal most
        live.append(tick.step.q.tobytes())
        recorder.write(tick)
        most = max(most, recorder.behind)
        while recorder.behind > MAX_QUEUE:
            time.sleep(1e-3)

    began = time.perf_counter()
    source = operator(clock, seconds, arguments.rate, len(links), arguments.seed)
    statistics = drive(source, [Mapping() for _ in links], tracker, sink, arguments.rate, clock=clock)
    driven = time.perf_counter()
    recorder.close()
    closed = time.perf_counter()
    read: list[bytes] = []
    found = replay(recorder.path, watch=lambda rows, step: read.extend(map(bytes, np.ascontiguousarray(step.q))))
    replayed = time.perf_counter()
    size = recorder.path.stat().st_size
    same = found.identical and read == live
    print(
        f"{arguments.arm}, {', '.join(links)}: {arguments.minutes:g} minutes of random driving at {arguments.rate:g} Hz"
    )
    print(f"  {len(live):,} ticks and {statistics.skipped:,} skipped; {recorder.lost} lost, {most:,} waiting at most")
    print("  " + ", ".join(f"{count:,} {name}" for name, count in found.recorded.statuses.items()))
    print(f"  {size / 1e6:.1f} MB, {size / len(live):.0f} bytes a tick, as .{arguments.ending}")
    print(
        f"  driven in {driven - began:.1f} s, closed in {closed - driven:.1f} s, replayed in {replayed - closed:.1f} s"
    )
    print(f"  {found}")
    print("  the replay is identical, bit for bit" if same else "  THE REPLAY DIFFERS")
    return same


if __name__ == "__main__":
    main()
