"""Runs every controller through every hazard of the gauntlet and compares them.

Hazards and measures are those of supple.gauntlet. The controllers and their tunings are in peers.py, the acceptance
bars in acceptance/criteria.py. Prints a table of all hazards, a table of each hazard, and the bars of supple.
With --out it also writes all numbers as JSON and a page of plots.

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
from acceptance.comparison import better_peers
from acceptance.criteria import NAMED, bars
from acceptance.tables import hazard_tables, operator_table, summary_table

from supple import gauntlet
from supple._progress import Progress
from supple._table import markdown_table
from supple.gauntlet import Hazard, Operator, Run
from supple.gauntlet.describe import short_number
from supple.gauntlet.rows import Row, make_row

SLOW = {"ssik"}  # takes milliseconds per tick: only at 300 Hz, on the named arms
SHOWN = ("s2_wrist", "s4_reach", "s5_limit", "s8_orient")  # what the plots show
HIDDEN = ("supple, no jerk bound",)


@dataclass(frozen=True)
class Task:
    """One run to do."""

    hazard: Hazard
    rate: float
    controller: str
    operator: Operator | None = None


def main() -> None:
    options = _arguments()
    warnings.filterwarnings("ignore")
    names, absent = _controllers(options)
    for name, module in absent.items():
        print(f"{name} does not run here: {module} cannot be imported" + (" (asking --also)" if options.also else ""))
    rows, drawn = _run_all(options, names)
    rows += [row for python in options.also for row in _in_other_python(python, options, sorted(absent))]
    for rate in sorted({row["rate"] for row in rows}):
        at = [row for row in rows if row["rate"] == rate]
        print(f"\n## All hazards of {', '.join(options.arms)} at {rate:g} Hz")
        print(f"\n{summary_table(at)}\n\n{hazard_tables(at)}")
        if operator_table(at):
            print(f"\n## Real operators at {rate:g} Hz\n\n{operator_table(at)}")
    print(_pushes_table(rows))
    print(_bars_text(rows))
    if options.out:
        _write(options.out, rows, drawn, options.plots)


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
        "--hazards",
        type=listed,
        default=[],
        metavar="S4,S5",
        help="keys of hazards or their beginnings; by default all",
    )
    parser.add_argument(
        "--rates", type=listed, default=["300", "1000"], metavar="HZ,HZ", help="ticks per second; by default 300,1000"
    )
    parser.add_argument(
        "--controllers",
        type=listed,
        default=[],
        metavar="A,B",
        help=f"names or their beginnings; of {', '.join(peers.CONTROLLERS)}; by default all",
    )
    parser.add_argument(
        "--operators",
        choices=["none", "all", "delayed"],
        default="none",
        help="also with real operators: 60, 90, 125 Hz, with and without stamps; delayed: samples take up to 8 ms",
    )
    parser.add_argument(
        "--pushes",
        type=int,
        default=0,
        metavar="N",
        help="also N random pushes of each arm, at the first rate",
    )
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="PYTHON",
        help="another Python interpreter, with supple and with peers that cannot be imported here; may be repeated",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="write results.json and a page of plots there")
    parser.add_argument("--no-plots", dest="plots", action="store_false", help="write no plots")
    parser.add_argument("--quick", action="store_true", help="one arm, three hazards, 300 Hz")
    options = parser.parse_args()
    options.rates = [float(rate) for rate in options.rates]
    if options.quick:
        options.arms, options.hazards, options.rates = ["ur5"], ["s1", "s4", "s5"], [300.0]
    return options


def _controllers(options: Any) -> tuple[list[str], dict[str, str]]:
    """The chosen controllers that can run here, and the others with the module that is missing."""
    chosen = [
        name
        for name in peers.CONTROLLERS
        if not options.controllers or any(name.startswith(part) for part in options.controllers)
    ]
    absent = {name: peers.missing(name) for name in chosen if peers.missing(name)}
    return [name for name in chosen if name not in absent], absent


def _tasks(options: Any, names: Sequence[str]) -> Iterator[Task]:
    operators = {"none": (), "all": gauntlet.variants(), "delayed": gauntlet.variants(delayed=True)}[options.operators]
    for arm in options.arms:
        for hazard in gauntlet.hazards(arm, options.hazards):
            for rate in options.rates:
                for name in names:
                    if name in SLOW and (rate > 300 or arm not in NAMED):
                        continue
                    yield Task(hazard, rate, name)
                    if name not in SLOW and name not in peers.REFERENCES:
                        takes_stamp = name == "supple"  # no peer does
                        yield from (
                            Task(hazard, rate, name, each) for each in operators if takes_stamp or not each.stamped
                        )


def _run_all(options: Any, names: Sequence[str]) -> tuple[list[Row], dict[str, dict[str, Run]]]:
    """All rows, and the runs for the plots, by arm and hazard and then by controller."""
    tasks = list(_tasks(options, names))
    rows: list[Row] = []
    drawn: dict[str, dict[str, Run]] = {}
    first: dict[Hazard, Run] = {}  # runs of supple at the first rate, to compare other rates with
    failed: set[tuple[str, str]] = set()
    pushes = [(arm, name) for arm in options.arms for name in names if options.pushes and name not in SLOW]
    with Progress(
        "running", sum(int(t.hazard.duration * t.rate) for t in tasks) + len(pushes) * options.pushes * 2250
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
                    same = _compared(task, run, first)
                    rows.append(make_row(run, task.controller, gauntlet.measure(run)) | same)
                    plain = task.operator is None and task.rate == options.rates[0] and task.controller not in HIDDEN
                    if plain and task.hazard.key in SHOWN:
                        drawn.setdefault(f"{arm}-{task.hazard.key}", {})[task.controller] = run
            progress.step(int(task.hazard.duration * task.rate))
        for arm, name in pushes:
            if (arm, name) not in failed:
                rows.append(_pushed(arm, name, options.pushes, options.rates[0]))
            progress.step(options.pushes * 2250)
    return rows, drawn


def _compared(task: Task, run: Run, first: dict[Hazard, Run]) -> Row:
    """The difference between a run of supple and its run at the first rate."""
    if task.controller != "supple" or task.operator is not None:
        return {}
    if task.hazard not in first:
        first[task.hazard] = run
        return {}
    return gauntlet.compare_rates(first[task.hazard], run)


def _pushed(arm: str, name: str, count: int, rate: float) -> Row:
    """Random pushes with one controller, as one row."""
    runs = (gauntlet.run(hazard, peers.CONTROLLERS[name], rate) for hazard in gauntlet.pushes(arm, count))
    measures = gauntlet.summarize_pushes([gauntlet.pushed(run) for run in runs])
    labels = {"arm": arm, "hazard": "pushes", "rate": rate, "controller": name, "operator": None}
    return labels | {"dof": gauntlet.known_arm(arm).dof} | measures


def _in_other_python(python: str, options: Any, absent: Sequence[str]) -> list[Row]:
    """The same runs in another interpreter, for the controllers that cannot run here."""
    if not absent:
        return []
    with tempfile.TemporaryDirectory() as folder:
        command = [
            python,
            __file__,
            "--arms",
            ",".join(options.arms),
            "--rates",
            ",".join(f"{r:g}" for r in options.rates),
        ]
        command += [
            "--controllers",
            ",".join(absent),
            "--operators",
            options.operators,
            "--pushes",
            str(options.pushes),
        ]
        command += ["--hazards", ",".join(options.hazards), "--out", folder, "--no-plots"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return list(json.loads((Path(folder) / "results.json").read_text())["rows"])


def _pushes_table(rows: Sequence[Row]) -> str:
    found = [row for row in rows if row["hazard"] == "pushes"]
    if not found:
        return ""
    lines = [
        [
            *("controller", "arm", "pushes", "without return", "another branch", "chatter > 0.1 %", "motion at rest"),
            "worst acceleration",
        ]
    ]
    keys = ("controller", "arm", "count", "lost", "other_branch", "chattering", "moving")
    lines += [[*(str(row[key]) for key in keys), short_number(row["acc_max"])] for row in found]
    return f"\n## Random pushes\n\n{markdown_table(lines)}"


def _bars_text(rows: Sequence[Row]) -> str:
    found = bars(rows)
    if not found:
        return ""
    met = sum(bar.met is True for bar in found)
    head = f"\n## Acceptance bars of supple: {met} met, {sum(bar.met is False for bar in found)} missed\n"
    competing = [name for name in peers.CONTROLLERS if name not in peers.REFERENCES and name != "supple"]
    others = [worse for worse in better_peers(rows, others=competing) if not worse.where.startswith(NAMED)]
    tail = (
        "\n\n## Measures in which a peer is better, on arms that were not used for tuning\n\n"
        + "\n".join(map(str, others))
        if others
        else ""
    )
    return head + "\n" + "\n".join(map(str, found)) + tail


def _write(folder: Path, rows: Sequence[Row], drawn: dict[str, dict[str, Run]], plots: bool) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    found = [
        {"number": b.number, "what": b.what, "where": b.where, "value": b.value, "limit": b.limit, "met": b.met}
        for b in bars(rows)
    ]
    (folder / "results.json").write_text(json.dumps(_plain({"rows": rows, "bars": found}), indent=1))
    if not plots:
        return
    from supple.view import gauntlet as picture
    from supple.view import image

    pictures = []
    for name, runs in drawn.items():
        path = folder / f"{name}.png"
        image.write(picture.draw(runs), path)
        pictures.append(path.name)
    text = html.escape("\n".join([summary_table(rows), operator_table(rows), _pushes_table(rows), _bars_text(rows)]))
    shown = "\n".join(f'<img src="{name}" alt="{name[:-4]}">' for name in pictures)
    page = f"{_HEAD}<h1>The gauntlet</h1>\n{shown}\n<pre>{text}</pre>\n"
    (folder / "index.html").write_text(page)
    print(f"\nwritten to {folder}: results.json, index.html, {len(pictures)} plots")


_HEAD = """<!doctype html><meta charset="utf-8"><title>The gauntlet</title>
<style>body { background: #fdfcfa; color: #3a3835; font-family: sans-serif; margin: 2em }
img { max-width: 100%; display: block; margin: 2em 0 }</style>
"""


def _plain(value: Any) -> Any:
    """The value for JSON: without NaN, infinity and numpy types."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return float(f"{value:.9g}") if math.isfinite(value) else None
    return value.item() if hasattr(value, "item") else value


if __name__ == "__main__":
    sys.exit(main())
