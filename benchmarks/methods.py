"""Every method on positions of four robots, from rest: how many it arrives at, and how near it gets to those beyond.

    python benchmarks/methods.py [--goals N] [--seed S] [--json FILE]

Goals are where the end effector is at random joint values. Tolerance is 1e-4 of the reach, with 200 iterations and the
solver's defaults otherwise, joint limits included. Times are the least of some rounds, of many solves called from
Python together; compare them with each other. Goals out of reach lie in all directions, 1.5 to 2 times the reach away;
what counts there is how much farther from the goal a method ends than the best of them, in parts of the reach.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from supple import Goal, Solver, method, models
from supple.textbook import compare

ROBOTS = {"planar3": "tip", "panda": "panda_hand_tcp", "ur5": "tool0", "so101": "gripper_frame_link"}
BAR = ("damped", "selectively_damped", "coordinate_descent")  # these are to arrive at 95 % of the goals of each robot


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
    """For each robot and method, on average: how far it ends above the best, in parts of the reach, and its path."""
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
    options.add_argument("--goals", type=int, default=1000, help="how many for each robot")
    options.add_argument("--seed", type=int, default=0, help="of the random joint values")
    options.add_argument("--json", type=Path, help="also write the numbers to this file")
    asked = options.parse_args()
    made = tables(asked.goals, asked.seed)
    for table in made:
        print(f"{table}\n")
    least = min((row.arrived, row.method, table.title) for table in made for row in table.rows if row.method in BAR)
    print(f"of {', '.join(BAR)}, the fewest arrive with {least[1]} on {least[2]}: {least[0]:.1%}")
    outside = [(table.title, row.method) for table in made for row in table.rows if row.inside < 1]
    print(f"answers outside the joint limits: {outside or 'none'}")
    far = beyond(asked.goals, asked.seed)
    print("\nout of reach: how much farther than the best, in parts of the reach; joint path")
    for way in far["planar3"]:
        cells = (f"{far[name][way][0]:8.4f} {far[name][way][1]:6.1f}" for name in far)
        print(f"  {way:22} {'   '.join(cells)}")
    if asked.json:
        rows = [{**table.data(), "rows": [vars(row) for row in table.rows if not row.refused]} for table in made]
        asked.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
