"""The gauntlet: every controller through every hazard, side by side in one run.

Hazards, metrics and bars are supple.gauntlet's; controllers and their tunings are in peers.py. Prints METHOD's table, a
table for each hazard, and for supple every line of "where the tracker must end up" with what was measured. With --out
it also writes all numbers as JSON and a page of plots.

    pip install 'supple[bench,plot]'
    python benchmarks/gauntlet.py --quick
    python benchmarks/gauntlet.py --out results
    python benchmarks/gauntlet.py --arms iiwa14,kraft --controllers supple,pink,mink
    python benchmarks/gauntlet.py --controllers supple --operators all --pushes 100
"""

from __future__ import annotations

import argparse
import html
import json
import math
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import peers
from acceptance.comparison import beside
from acceptance.criteria import bars

from supple import gauntlet
from supple._progress import Progress
from supple.gauntlet import Hazard, Operator, Run
from supple.gauntlet.rows import Row, row_of
from supple.gauntlet.table import by_hazard, markdown, operated, short, summary

SLOW = {"ssik"}  # milliseconds a tick: only at 300 Hz, on the arms of METHOD
WALLS = ("s2_wrist", "s4_reach", "s5_limit", "s8_orient")  # what the plots show
HIDDEN = ("supple, no jerk bound",)
NAMED = ("panda", "ur5", "puma560")


@dataclass(frozen=True)
class Task:
    """One run to be made."""

    hazard: Hazard
    rate: float
    controller: str
    operator: Operator | None = None


def main() -> None:
    asked = _arguments()
    warnings.filterwarnings("ignore")
    names, absent = _controllers(asked)
    for name, module in absent.items():
        print(f"{name} does not run here: {module} cannot be imported" + (" (asking --also)" if asked.also else ""))
    rows, drawn = _run_all(asked, names)
    rows += [row for python in asked.also for row in _elsewhere(python, asked, sorted(absent))]
    for rate in sorted({row["rate"] for row in rows}):
        at = [row for row in rows if row["rate"] == rate]
        print(f"\n## All hazards of {', '.join(asked.arms)} at {rate:g} Hz\n\n{summary(at)}\n\n{by_hazard(at)}")
        if operated(at):
            print(f"\n## Real operators at {rate:g} Hz\n\n{operated(at)}")
    print(_pushes_table(rows))
    print(_bars_text(rows))
    if asked.out:
        _write(asked.out, rows, drawn, asked.plots)


def _arguments() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    listed = lambda text: [part.strip() for part in text.split(",") if part.strip()]  # noqa: E731
    arms = ",".join(gauntlet.names()[:4])
    parser.add_argument(
        "--arms",
        type=listed,
        default=listed(arms),
        metavar="A,B",
        help=f"of {', '.join(gauntlet.names())}; by default {arms}",
    )
    parser.add_argument(
        "--hazards", type=listed, default=[], metavar="S4,S5", help="how their keys begin; by default all"
    )
    parser.add_argument(
        "--rates", type=listed, default=["300", "1000"], metavar="HZ,HZ", help="ticks a second; by default 300,1000"
    )
    parser.add_argument(
        "--controllers",
        type=listed,
        default=[],
        metavar="A,B",
        help=f"how their names begin; of {', '.join(peers.CONTROLLERS)}; by default all",
    )
    parser.add_argument(
        "--operators",
        choices=["none", "all", "late"],
        default="none",
        help="also with real operators: 60, 90, 125 Hz, with and without stamps; late: samples travel for up to 8 ms",
    )
    parser.add_argument(
        "--pushes",
        type=int,
        default=0,
        metavar="N",
        help="also N random push-and-returns of each arm, at the first rate",
    )
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="PYTHON",
        help="another interpreter, with supple and peers that cannot be imported here; may be repeated",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="write results.json and a page of plots there")
    parser.add_argument("--no-plots", dest="plots", action="store_false", help="write no plots")
    parser.add_argument("--quick", action="store_true", help="one arm, three hazards, 300 Hz")
    asked = parser.parse_args()
    asked.rates = [float(rate) for rate in asked.rates]
    if asked.quick:
        asked.arms, asked.hazards, asked.rates = ["ur5"], ["s1", "s4", "s5"], [300.0]
    return asked


def _controllers(asked: Any) -> tuple[list[str], dict[str, str]]:
    """The controllers that were asked for and can run here, and those that cannot, with what they need."""
    wanted = [
        name
        for name in peers.CONTROLLERS
        if not asked.controllers or any(name.startswith(part) for part in asked.controllers)
    ]
    absent = {name: peers.missing(name) for name in wanted if peers.missing(name)}
    return [name for name in wanted if name not in absent], absent


def _tasks(asked: Any, names: Sequence[str]) -> Iterator[Task]:
    hands = {"none": (), "all": gauntlet.variants(), "late": gauntlet.variants(late=True)}[asked.operators]
    for arm in asked.arms:
        for hazard in gauntlet.hazards(arm, asked.hazards):
            for rate in asked.rates:
                for name in names:
                    if name in SLOW and (rate > 300 or arm not in NAMED):
                        continue
                    yield Task(hazard, rate, name)
                    if name not in SLOW and name not in peers.REFERENCES:
                        takes = name == "supple"  # no peer's step takes a stamp
                        yield from (Task(hazard, rate, name, hand) for hand in hands if takes or not hand.stamped)


def _run_all(asked: Any, names: Sequence[str]) -> tuple[list[Row], dict[str, dict[str, Run]]]:
    """All rows, and the runs that the plots show, by arm and hazard and then by controller."""
    tasks = list(_tasks(asked, names))
    rows: list[Row] = []
    drawn: dict[str, dict[str, Run]] = {}
    first: dict[Hazard, Run] = {}  # supple's at the first rate, to see whether another rate moves alike
    failed: set[tuple[str, str]] = set()
    pushes = [(arm, name) for arm in asked.arms for name in names if asked.pushes and name not in SLOW]
    with Progress(
        "running", sum(int(t.hazard.duration * t.rate) for t in tasks) + len(pushes) * asked.pushes * 2250
    ) as progress:
        for task in tasks:
            arm = task.hazard.arm.name
            if (arm, task.controller) not in failed:
                try:
                    run = gauntlet.run(task.hazard, peers.CONTROLLERS[task.controller], task.rate, task.operator)
                except Exception as error:  # a peer that cannot be built for this arm
                    failed.add((arm, task.controller))
                    print(f"{task.controller} does not run on {arm}: {type(error).__name__}: {error}")
                else:
                    same = _alike(task, run, first)
                    rows.append(row_of(run, task.controller, gauntlet.measure(run)) | same)
                    plain = task.operator is None and task.rate == asked.rates[0] and task.controller not in HIDDEN
                    if plain and task.hazard.key in WALLS:
                        drawn.setdefault(f"{arm}-{task.hazard.key}", {})[task.controller] = run
            progress.step(int(task.hazard.duration * task.rate))
        for arm, name in pushes:
            if (arm, name) not in failed:
                rows.append(_pushed(arm, name, asked.pushes, asked.rates[0]))
            progress.step(asked.pushes * 2250)
    return rows, drawn


def _alike(task: Task, run: Run, first: dict[Hazard, Run]) -> Row:
    """How far supple's run is from the one at the first rate."""
    if task.controller != "supple" or task.operator is not None:
        return {}
    if task.hazard not in first:
        first[task.hazard] = run
        return {}
    return gauntlet.apart(first[task.hazard], run)


def _pushed(arm: str, name: str, count: int, rate: float) -> Row:
    """Random push-and-returns of one controller, as one row."""
    runs = (gauntlet.run(hazard, peers.CONTROLLERS[name], rate) for hazard in gauntlet.pushes(arm, count))
    whole = gauntlet.summed([gauntlet.pushed(run) for run in runs])
    place = {"arm": arm, "hazard": "pushes", "rate": rate, "controller": name, "operator": None}
    return place | {"dof": gauntlet.known(arm).dof} | whole


def _elsewhere(python: str, asked: Any, absent: Sequence[str]) -> list[Row]:
    """The same run in another interpreter, for the controllers that this one lacks."""
    if not absent:
        return []
    with tempfile.TemporaryDirectory() as folder:
        command = [python, __file__, "--arms", ",".join(asked.arms), "--rates", ",".join(f"{r:g}" for r in asked.rates)]
        command += ["--controllers", ",".join(absent), "--operators", asked.operators, "--pushes", str(asked.pushes)]
        command += ["--hazards", ",".join(asked.hazards), "--out", folder, "--no-plots"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return list(json.loads((Path(folder) / "results.json").read_text())["rows"])


def _pushes_table(rows: Sequence[Row]) -> str:
    found = [row for row in rows if row["hazard"] == "pushes"]
    if not found:
        return ""
    lines = [["controller", "arm", "pushes", "not back", "another branch", "chatter > 0.1 %", "worst acceleration"]]
    keys = ("controller", "arm", "count", "lost", "other_branch", "chattering")
    lines += [[*(str(row[key]) for key in keys), short(row["acc_max"])] for row in found]
    return f"\n## Random push-and-returns\n\n{markdown(lines)}"


def _bars_text(rows: Sequence[Row]) -> str:
    found = bars(rows)
    if not found:
        return ""
    met = sum(bar.met is True for bar in found)
    head = f"\n## Where supple must end up: {met} met, {sum(bar.met is False for bar in found)} missed\n"
    competing = [name for name in peers.CONTROLLERS if name not in peers.REFERENCES and name != "supple"]
    others = [worse for worse in beside(rows, others=competing) if not worse.where.startswith(NAMED)]
    tail = (
        "\n\n## Where a peer did better on arms that were not tuned on\n\n" + "\n".join(map(str, others))
        if others
        else ""
    )
    return head + "\n" + "\n".join(map(str, found)) + tail


def _write(folder: Path, rows: Sequence[Row], drawn: dict[str, dict[str, Run]], plots: bool) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    said = [
        {"number": b.number, "what": b.what, "where": b.where, "value": b.value, "limit": b.limit, "met": b.met}
        for b in bars(rows)
    ]
    (folder / "results.json").write_text(json.dumps(_plain({"rows": rows, "bars": said}), indent=1))
    if not plots:
        return
    from supple.view import gauntlet as picture
    from supple.view import image

    pictures = []
    for name, runs in drawn.items():
        path = folder / f"{name}.png"
        image.write(picture.draw(runs), path)
        pictures.append(path.name)
    text = html.escape("\n".join([summary(rows), operated(rows), _pushes_table(rows), _bars_text(rows)]))
    shown = "\n".join(f'<img src="{name}" alt="{name[:-4]}">' for name in pictures)
    page = f"{_HEAD}<h1>The gauntlet</h1>\n{shown}\n<pre>{text}</pre>\n"
    (folder / "index.html").write_text(page)
    print(f"\nwritten to {folder}: results.json, index.html, {len(pictures)} plots")


_HEAD = """<!doctype html><meta charset="utf-8"><title>The gauntlet</title>
<style>body { background: #fdfcfa; color: #3a3835; font-family: sans-serif; margin: 2em }
img { max-width: 100%; display: block; margin: 2em 0 }</style>
"""


def _plain(value: Any) -> Any:
    """The same as JSON knows it: no NaN, no infinity, no numpy."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return float(f"{value:.9g}") if math.isfinite(value) else None
    return value.item() if hasattr(value, "item") else value


if __name__ == "__main__":
    sys.exit(main())
