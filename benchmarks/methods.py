"""Compares all methods on positions of four robots, from rest: reachable positions, and positions out of reach.

    python benchmarks/methods.py [--goals N] [--seed S] [--json FILE]

Reachable goals are positions of the end effector at random joint values. The tolerance is 1e-4 of the reach, with 200
iterations and the defaults of the solver otherwise, with joint limits. Times are the minimum of some rounds of one call
for all goals. Goals out of reach lie in all directions, 1.5 to 2 times the reach away. The measure for them is the
distance to the goal minus that of the best method, divided by the reach.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from supple import Goal, Solver, method, models
from supple._table import text_table
from supple.textbook import compare

ROBOTS = {"planar3": "tip", "panda": "panda_hand_tcp", "ur5": "tool0", "so101": "gripper_frame_link"}
REQUIRED = ("damped", "selectively_damped", "coordinate_descent")  # must reach 95 % of the goals of each robot


def tables(count: int, seed: int, rounds: int = 5) -> list[compare.Table]:
    made = []
    for name, link in ROBOTS.items():
        arm = models.get(name)
        goal, solver = compare.reachable_positions(arm, link, count, seed)
        title = f"{name}, {link}: {count:,} positions"
        made.append(compare.table(title, arm, goal, solvers(solver), rounds))
    return made


def solvers(solver: Solver) -> dict[str, Solver]:
    return compare.with_every_method(solver) | {
        "damped, damping 1": replace(solver, method=method.damped(), damping=1.0)
    }


def beyond(count: int, seed: int) -> dict[str, dict[str, tuple[float, float]]]:
    """For each robot and method: mean distance above the best, divided by the reach, and mean path length."""
    random = np.random.default_rng(seed)
    made = {}
    for name, link in ROBOTS.items():
        arm = models.get(name)
        towards = random.normal(size=(count, 3)) * (1, 1, name != "planar3")
        towards *= arm.reach(link) * random.uniform(1.5, 2, (count, 1)) / np.linalg.norm(towards, axis=1, keepdims=True)
        goal = Goal(link, position=towards)
        found = {way: solver.solve(arm, goal) for way, solver in solvers(Solver()).items() if way != "inverse"}
        best = np.min([each.distance for each in found.values()], axis=0)
        made[name] = {
            way: (float(np.mean(each.distance - best) / arm.reach(link)), float(each.path.mean()))
            for way, each in found.items()
        }
    return made


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--goals", type=int, default=1000, help="number of goals for each robot")
    options.add_argument("--seed", type=int, default=0, help="seed of the random joint values")
    options.add_argument("--json", type=Path, help="also write the numbers to this file")
    arguments = options.parse_args()
    made = tables(arguments.goals, arguments.seed)
    for table in made:
        print(f"{table}\n")
    least = min(
        (row.arrived, row.method, table.title) for table in made for row in table.rows if row.method in REQUIRED
    )
    print(f"of {', '.join(REQUIRED)}, the lowest success is {least[0]:.1%}: {least[1]} on {least[2]}")
    outside = [(table.title, row.method) for table in made for row in table.rows if row.inside < 1]
    print(f"results outside the joint limits: {outside or 'none'}")
    far = beyond(arguments.goals, arguments.seed)
    print("\nout of reach: distance above the best over the reach; joint path")
    rows = [["", *(f"{name}, {column}" for name in far for column in ("distance", "path"))]]
    rows += [
        [way, *(f"{value:.{digits}f}" for name in far for value, digits in zip(far[name][way], (4, 1), strict=True))]
        for way in far["planar3"]
    ]
    print("\n".join(text_table(rows, "<>")))
    if arguments.json:
        rows = [{**table.data(), "rows": [vars(row) for row in table.rows if not row.refused]} for table in made]
        arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
