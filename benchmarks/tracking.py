"""The laws of the tracker, measured on arms that it was and was not tuned on.

rest        random jumps and holds: the joints come to rest, and the end effector does not go away from its command
swings      slow turns past a limit, slow walks: the arm is not thrown
circles     circles through singularities at 5, 20 and 50 cm/s, beside pink and mink
tremor      how much of a tremor the arm makes, from 0.5 to 30 Hz
time        the same path at 10 Hz to 10 kHz, and with uneven ticks
frames      rounded and skewed rotations: share of ticks that are held, and the reason given
measured    measured= of an arm that lags and has noise: speed, status, oscillation
pushes      random pushes out of reach: back within 4 s, on which branch, with which status
priorities  an end effector out of reach drags another; five-joint arms; both hands on one box
branch      solve with a start: the nearest answer
bounds      random ticks with every input: broken bounds
speed       time of a tick, beside pink, mink and placo

  pip install 'supple[bench]' example-robot-data
  python benchmarks/tracking.py --quick
  python benchmarks/tracking.py --parts rest --arms twelve,trees --jobs 8 --json rest.json
  python benchmarks/tracking.py --parts rest --arms ur5 --first 17 --count 1      (one trial again)
  python benchmarks/tracking.py --parts pushes --arms judge --set recover=free
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import time
import traceback
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from tracking.report import Asked, Row, table

from tracking import arms, motion

PARTS = {
    "cases": "cases",
    "rest": "rest",
    "swings": "swings",
    "circles": "circles",
    "tremor": "tremor",
    "time": "rates",
    "frames": "rotations",
    "measured": "encoders",
    "pushes": "pushes",
    "priorities": "priorities",
    "branch": "branch",
    "bounds": "bounds",
    "speed": "speed",
}
"""Part and module. A module has ARMS, QUICK (names of arms) and measure(name, asked) -> rows."""


def main() -> None:
    """Measure and print."""
    given = _arguments()
    warnings.filterwarnings("ignore")
    asked = Asked(given.quick, given.first, given.count, given.set, tuple(given.peers))
    ignored = sorted(set(asked.options) - set(motion.known(asked.options)))
    if ignored:
        print(f"this version's Solver.track does not take {', '.join(ignored)}: measured without")
    work = [(part, name) for part in given.parts for name in _arms(part, given)]
    rows: list[Row] = []
    if given.jobs > 1:
        with ProcessPoolExecutor(given.jobs) as pool:
            for found in pool.map(_measured, *zip(*[(part, name, asked) for part, name in work], strict=True)):
                rows += found
    else:
        for part, name in work:
            began = time.perf_counter()
            rows += _measured(part, name, asked)
            print(f"# {part} {name}: {time.perf_counter() - began:.1f} s", flush=True)
    print(table(rows))
    missed = [row for row in rows if row.met is False]
    print(f"\n{sum(row.met is True for row in rows)} met, {len(missed)} missed")
    if given.json:
        given.json.write_text(json.dumps([dataclasses.asdict(row) for row in rows], indent=1, default=float))


def _arms(part: str, given: Any) -> list[str]:
    module = importlib.import_module(f"tracking.{PARTS[part]}")
    fitting = arms.named(",".join(module.ARMS))
    if given.arms:
        return [name for name in arms.named(given.arms) if name in fitting]
    return arms.named(",".join(module.QUICK)) if given.quick else fitting


def _measured(part: str, name: str, asked: Asked) -> list[Row]:
    try:
        rows: list[Row] = importlib.import_module(f"tracking.{PARTS[part]}").measure(name, asked)
    except Exception:
        traceback.print_exc()
        return [Row(part, name, "the measure itself failed", 1, bar=0)]
    return rows


def _arguments() -> Any:
    listed = lambda text: [part.strip() for part in text.split(",") if part.strip()]  # noqa: E731
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", type=listed, default=list(PARTS), metavar="A,B", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--arms", default="", metavar="A,B", help=f"arms, or of {', '.join(arms.SETS)}")
    parser.add_argument("--quick", action="store_true", help="few arms and small samples")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first trial")
    parser.add_argument("--count", type=int, default=0, metavar="N", help="trials for each arm")
    parser.add_argument("--peers", type=listed, default=["pink", "mink", "placo"], metavar="A,B", help="or none")
    parser.add_argument("--set", type=_options, default={}, metavar="A=B,C=D", help="options of Solver.track")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all rows there")
    given = parser.parse_args()
    unknown = [part for part in given.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part is called {', '.join(unknown)}; these are: {', '.join(PARTS)}")
    return given


def _options(text: str) -> dict[str, Any]:
    pairs = [part.split("=", 1) for part in text.split(",") if part.strip()]
    return {name.strip(): _value(value.strip()) for name, value in pairs}


def _value(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


if __name__ == "__main__":
    main()
