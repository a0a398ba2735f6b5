"""Compares the global search with other solvers: success and time for one goal and for a million.

Seven parts, chosen with --parts:

  uniform      goals at uniform random q on nine arms, without a start, from mid-range and from a random start; with
               TRAC-IK, ik_LM of the Robotics Toolbox, EAIK, ssik, pink and placo
  clustered    harder goals: a grid in space, a table top with the tool downward, near singularities, within 1 mm of the
               outer reach, within a milliradian of limits
  batch        a million goals of the Panda in one call, for each instruction set, with one and two threads
  unreachable  goals out of reach, compared with the best of 200 starts of a bounded optimisation (search/truth.npz)
  branches     solutions=16 compared with the branches that EAIK enumerates
  trees        both grippers of Baxter; hands, feet and pelvis of a G1
  bad          goals that are not finite

Prints a table for each part, and the acceptance bars.

    pip install 'supple[bench]' pytracik roboticstoolbox-python EAIK
    python benchmarks/search.py --quick
    python benchmarks/search.py --json search.json
    python benchmarks/search.py --parts uniform --robots panda,ur5 --count 20000 --peers none
    python benchmarks/search.py --parts uniform --also ~/placo/bin/python      (a peer in another environment)
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from search import branches, truth
from search.arms import ARMS, TREES
from search.measure import Row, clock
from search.peers import PEERS, missing
from search.reachable import clustered, uniform
from search.report import PARTS, notes, summary, tables

MOST = {"clustered": 1000, "unreachable": 1000, "branches": 1000, "trees": 2000}
"""Number of goals of a part; --count may reduce it."""
Task = tuple[str, str, Callable[[], Iterator[Row]]]
"""Part, robot, and a function that makes the rows."""


def main() -> None:
    options = _arguments()
    warnings.filterwarnings("ignore")
    if options.truth:
        for name in options.truth:
            print(truth.build(name), flush=True)
        return
    absent = {name: missing(name) for name in options.peers if missing(name)}
    for name, module in absent.items():
        options.peers.remove(name)
        print(f"{name} does not run here: {module} cannot be imported" + (" (asking --also)" if options.also else ""))
    rows = _run(options)
    rows += [row for python in options.also for row in _in_other_python(python, options, sorted(absent))]
    if options.supple:
        print(f"\n{notes(rows, clock())}\n\n{tables(rows)}\n\n{summary(rows)}")
    if options.json:
        options.json.write_text(json.dumps({"rows": rows}, indent=1))


def _arguments() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    listed = lambda text: [part.strip() for part in text.split(",") if part.strip()]  # noqa: E731
    add = parser.add_argument
    add("--parts", type=listed, default=list(PARTS), metavar="A,B", help=f"of {', '.join(PARTS)}; by default all")
    add(
        "--robots",
        type=listed,
        default=[*ARMS, *TREES],
        metavar="A,B",
        help=f"of {', '.join([*ARMS, *TREES])}; by default all; batch and bad are the Panda's",
    )
    add(
        "--count",
        type=int,
        default=100_000,
        metavar="N",
        help="goals at uniform random q for each arm; by default 100000",
    )
    add("--batch", type=int, default=1_000_000, metavar="N", help="goals in one call; by default a million")
    add(
        "--peers",
        type=lambda text: [] if text == "none" else listed(text),
        default=list(PEERS),
        metavar="A,B",
        help=f"of {', '.join(PEERS)}; or none; by default all",
    )
    add(
        "--also",
        action="append",
        default=[],
        metavar="PYTHON",
        help="another Python interpreter, with supple, pinocchio and peers that are missing here; may be repeated",
    )
    add("--no-supple", dest="supple", action="store_false", help="only the peers")
    add("--json", type=Path, metavar="FILE", help="also write all rows to this file")
    add("--truth", type=listed, metavar="A,B", help="only compute the offline optimisation for these robots again")
    add("--quick", action="store_true", help="Panda, UR5 and both trees; 2000 goals, 100000 in one call")
    if "--quick" in sys.argv:
        parser.set_defaults(robots=["panda", "ur5", *TREES], count=2000, batch=100_000)
    options = parser.parse_args()
    known = (("parts", PARTS), ("robots", [*ARMS, *TREES]), ("peers", PEERS), ("truth", ARMS))
    for option, names in known:
        for name in getattr(options, option) or ():
            if name not in names:
                parser.error(f"--{option}: there is no {name!r}; there are {', '.join(names)}")
    return options


def _tasks(options: Any) -> Iterator[Task]:
    """All tasks, in the order of the tables."""
    most = {part: min(count, options.count) for part, count in MOST.items()}
    arms = [name for name in options.robots if name in ARMS]
    for name in arms:
        yield "uniform", name, lambda name=name: uniform(name, options.count, options.peers, options.supple)
    for name in arms:
        yield "clustered", name, lambda name=name: clustered(name, most["clustered"], options.peers, options.supple)
    if not options.supple:
        return
    # the parts below need only supple
    from search.bad import bad
    from search.batch import batch
    from search.trees import trees
    from search.unreachable import unreachable

    yield "batch", "panda", lambda: batch(options.batch)
    for name in [name for name in arms if name in truth.ROBOTS]:
        yield "unreachable", name, lambda name=name: unreachable(name, most["unreachable"])
    for name in [name for name in arms if name in branches.ROBOTS]:
        yield "branches", name, lambda name=name: branches.branches(name, most["branches"])
    for name in [name for name in options.robots if name in TREES]:
        yield "trees", name, lambda name=name: trees(name, most["trees"])
    yield "bad", "panda", bad


def _run(options: Any) -> list[Row]:
    """All rows; a task that fails is reported and does not stop the others."""
    tasks = [task for task in _tasks(options) if task[0] in options.parts]
    rows: list[Row] = []
    began, end = time.monotonic(), "\r" if sys.stderr.isatty() else "\n"
    for number, (part, robot, work) in enumerate(tasks, 1):
        line = f"[{number} of {len(tasks)}, {time.monotonic() - began:.0f} s] {part} {robot}"
        print(f"{line:60}", end=end, file=sys.stderr, flush=True)
        try:
            rows.extend(work())
        except Exception as error:
            print(f"{part} of {robot} failed: {type(error).__name__}: {error}", file=sys.stderr)
    print(f"all in {time.monotonic() - began:.0f} s{'':50}", file=sys.stderr)
    return rows


def _in_other_python(python: str, options: Any, absent: Sequence[str]) -> list[Row]:
    """The same run in another interpreter, for the peers that cannot be imported here."""
    if not absent:
        return []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.json"
        command = [python, __file__, "--no-supple", "--peers", ",".join(absent), "--json", str(path)]
        command += [
            "--parts",
            ",".join(options.parts),
            "--robots",
            ",".join(options.robots),
            "--count",
            str(options.count),
        ]
        done = subprocess.run(command, stdout=subprocess.DEVNULL)
        if done.returncode:
            print(f"{python} failed", file=sys.stderr)
            return []
        return list(json.loads(path.read_text())["rows"])


if __name__ == "__main__":
    main()
