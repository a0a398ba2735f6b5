"""Writes the stored hazards of the known arms: `python benchmarks/acceptance/write_known_arms.py`, a minute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from supple._progress import Progress
from supple.gauntlet import reference
from supple.gauntlet.arms import CHOSEN_ARMS, known_arm, names
from supple.gauntlet.derived_hazards import derive_hazards
from supple.gauntlet.hazard import make_hazard

REPOSITORY = Path(__file__).parents[2]


def compute() -> dict[str, Any]:
    """The stored data: the hazards of panda, ur5 and puma560 as they are, those of the others derived."""
    found: dict[str, Any] = {}
    with Progress("optima", 8 * len(names())) as progress:
        for name in names():
            arm = known_arm(name)
            specs = reference.stored_arms()[name]["hazards"] if name in CHOSEN_ARMS else derive_hazards(arm)
            optima = {}
            for key, spec in specs.items():
                optima[key] = reference.to_data(reference.compute(make_hazard(arm, key, spec)))
                progress.step()
            found[name] = {"hazards": dict(specs), "references": optima}
    return found


def write(data: dict[str, Any], path: Path) -> None:
    """Write the data, a line for each hazard."""
    arms = []
    for name, parts in data.items():
        rows = [
            f'  "{part}": {{\n'
            + ",\n".join(f'   "{key}": {json.dumps(row)}' for key, row in parts[part].items())
            + "\n  }"
            for part in ("hazards", "references")
        ]
        arms.append(f' "{name}": {{\n' + ",\n".join(rows) + "\n }")
    path.write_text("{\n" + ",\n".join(arms) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    write(compute(), REPOSITORY / "src/supple/gauntlet/known.json")
