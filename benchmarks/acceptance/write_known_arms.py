"""Writes the stored hazards of the known arms: `python benchmarks/acceptance/write_known_arms.py`, a minute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from supple._progress import Progress
from supple.gauntlet import reference
from supple.gauntlet.arms import HAND_MADE, known, names
from supple.gauntlet.derived_hazards import derived
from supple.gauntlet.hazard import make


def kept() -> dict[str, Any]:
    """All of it as plain data: the hazards of panda, ur5 and puma560 as they stand, those of the others derived."""
    found: dict[str, Any] = {}
    with Progress("optima", 8 * len(names())) as progress:
        for name in names():
            arm = known(name)
            specs = reference.file()[name]["hazards"] if name in HAND_MADE else derived(arm)
            optima = {}
            for key, spec in specs.items():
                optima[key] = reference.plain(reference.computed(make(arm, key, spec)))
                progress.step()
            found[name] = {"hazards": dict(specs), "references": optima}
    return found


def write(data: dict[str, Any], path: Path = reference.FILE) -> None:
    """Write it, a line for each hazard."""
    arms = []
    for name, parts in data.items():
        rows = [
            f'  "{part}": {{\n'
            + ",\n".join(f'   "{key}": {json.dumps(row)}' for key, row in parts[part].items())
            + "\n  }"
            for part in ("hazards", "references")
        ]
        arms.append(f' "{name}": {{\n' + ",\n".join(rows) + "\n }")
    path.write_text("{\n" + ",\n".join(arms) + "\n}\n")


if __name__ == "__main__":
    write(kept())
