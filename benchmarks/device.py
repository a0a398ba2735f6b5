"""Checks and measures the kernels on a GPU: one command, a table at the end, details in the folder OUT if it is set.

    python benchmarks/device.py [--parts compile,forward,laws,speed,others,calls,trees] [--goals 100000]

Each part is guarded: a failure is printed, and the next part runs.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import traceback
from pathlib import Path

from on_device import parts


def main() -> None:
    known = list(parts.PARTS)
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--parts", default=",".join(known), help=f"some of {', '.join(known)}")
    parser.add_argument("--goals", type=int, default=100_000, help="for each arm of the laws")
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    for name in options.parts.split(","):
        began = time.perf_counter()
        try:
            for row in parts.PARTS[name](options.goals):
                rows.append({"part": name, **row})
                print(parts.line(rows[-1]), flush=True)
        except Exception:
            rows.append({"part": name, "failed": traceback.format_exc()})
            print(f"{name} FAILED\n{traceback.format_exc()}", flush=True)
        print(f"-- {name}: {time.perf_counter() - began:.1f} s", flush=True)
    folder = os.environ.get("OUT")
    if folder:
        (Path(folder) / "device.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    print("\n".join(["", "== table", *(parts.line(row) for row in rows)]))


if __name__ == "__main__":
    main()
