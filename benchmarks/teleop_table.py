"""One table of the loop's timing: the page open in a browser, a simulated arm, every rate, with and without load.

    python benchmarks/teleop_table.py                                        # everything, two hours
    python benchmarks/teleop_table.py --setting priority                     # one setting, half an hour
    python benchmarks/teleop_table.py --setting ordinary --rate 300 --minutes 1

Each row is a run of `teleop_loop.py --page --arm` in a process of its own: with real-time priority (root, or rtprio in
limits.conf), as an ordinary user without it, and both while every core computes something else. --minutes is for each
row; --other-minutes for those without priority or with load. With all settings, random driving comes last, recorded and
replayed (`teleop_record.py`). The program ends with 1 if a run failed, a target was outside the bounds of the arm, or a
replay differs. "Stolen" is the processor time that other virtual machines took from this one: what the loop cannot get.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SETTINGS: dict[str, list[str]] = {
    "priority": [],
    "ordinary": ["--ordinary"],
    "priority-busy": ["--busy"],
    "ordinary-busy": ["--ordinary", "--busy"],
}
JITTER = ("p50", "p99", "p99.9")
LATE = tuple(f"late {p}, ms" for p in JITTER)
HEAD = (
    "setting",
    "Hz",
    "min",
    "missed",
    "% missed",
    *LATE,
    "latest, ms",
    "% held",
    "memory, MiB",
    "% stolen",
    "simulated arm",
)


def measured(rate: float, minutes: float, options: list[str]) -> dict[str, Any]:
    """The numbers of one run; only "failed" if it did not end well."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.json"
        line = [sys.executable, str(HERE / "teleop_loop.py"), "--minutes", str(minutes), "--rate", str(rate)]
        done = subprocess.run([*line, "--page", "--arm", "--json", str(file), *options], capture_output=True, text=True)
        if done.returncode or not file.exists():
            return {"failed": (done.stderr or done.stdout).strip().rpartition("\n")[2]}
        (row,) = json.loads(file.read_text())
        return dict(row)


def line(setting: str, rate: float, row: dict[str, Any]) -> list[str]:
    """The cells of a row."""
    if "failed" in row:
        return [setting, f"{rate:g}", row["failed"]]
    late = [f"{1e3 * row['jitter_s'][p]:.2f}" for p in JITTER]
    share = f"{100 * row['missed_share']:.3f}"
    numbers = [f"{row['seconds'] / 60:.1f}", f"{row['missed']:,} of {row['ticks'] + row['skipped']:,}", share, *late]
    rest = [f"{1e3 * row['latest_s']:.1f}", f"{100 * row['held_share']:.2f}", f"{row['memory_growth_mib']:+.1f}"]
    rest.append(f"{100 * row['stolen_share']:.2f}")
    return [setting, f"{rate:g}", *numbers, *rest, row["arm"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--setting", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--minutes", type=float, default=10.0, help="of each row")
    parser.add_argument("--other-minutes", type=float, help="of the other settings; by default the same")
    parser.add_argument("--rate", type=float, nargs="+", default=[50.0, 300.0, 1000.0])
    parser.add_argument("--json", help="also write the numbers to this file")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD), flush=True)
    for setting in arguments.setting:
        options = SETTINGS[setting]
        other = arguments.minutes if arguments.other_minutes is None else arguments.other_minutes
        for rate in arguments.rate:
            row = measured(rate, other if options else arguments.minutes, options)
            rows.append({"setting": setting, **row})
            print("| " + " | ".join(line(setting, rate, row)) + " |", flush=True)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=1) + "\n")
    wrong = [row for row in rows if "failed" in row or "OUT OF BOUNDS" in row["arm"]]
    print(f"{len(rows) - len(wrong)} of {len(rows)} runs ended well and within bounds", flush=True)
    if arguments.setting != list(SETTINGS):
        sys.exit(bool(wrong))
    recorded = [sys.executable, str(HERE / "teleop_record.py"), "--minutes", str(min(arguments.minutes, 5))]
    same = subprocess.run(recorded).returncode == 0
    sys.exit(bool(wrong) or not same)


if __name__ == "__main__":
    main()
