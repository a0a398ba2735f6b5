"""The gauntlet: difficult commands (hazards) for a controller of any arm, and measures of how well it follows them.

A hazard leads out of reach, past a joint limit, through a singularity, or jumps. `hazards` lists those of an arm, `run`
runs a controller through one of them, `measure` returns the measures, `describe` says them in a sentence. `tracked`
makes supple's own tracker as a controller.
"""

from __future__ import annotations

from collections.abc import Iterable

from supple.errors import BadInput, unknown
from supple.gauntlet import reference
from supple.gauntlet.arms import Arm, arm_from_linkage, known_arm, names
from supple.gauntlet.derived_hazards import derive_hazards
from supple.gauntlet.describe import describe
from supple.gauntlet.hazard import Hazard, make_hazard
from supple.gauntlet.measures import Measures, compare_rates, measure_clean
from supple.gauntlet.operator import Operator, Samples, variants
from supple.gauntlet.operator_measures import measure_operator
from supple.gauntlet.random_pushes import pushed, pushes, summarize_pushes
from supple.gauntlet.rows import Row, make_row
from supple.gauntlet.runner import Controller, Factory, Run, run
from supple.gauntlet.tracker_controller import Tracked, tracked
from supple.linkage import Linkage

__all__ = [
    "Arm",
    "Controller",
    "Factory",
    "Hazard",
    "Operator",
    "Row",
    "Run",
    "Samples",
    "Tracked",
    "arm_from_linkage",
    "compare_rates",
    "describe",
    "hazards",
    "known_arm",
    "make_row",
    "measure",
    "names",
    "pushed",
    "pushes",
    "run",
    "summarize_pushes",
    "tracked",
    "variants",
]


def hazards(arm: str | Linkage | Arm, only: Iterable[str] = (), link: str | None = None) -> list[Hazard]:
    """The hazards of an arm, in order.

    Args:
        arm: a name from `names`, whose hazards are stored, or any linkage, whose hazards are then computed (seconds).
        only: keys of hazards or their beginnings, such as "s4"; all hazards if empty.
        link: the end effector, for a linkage with several tips.
    """
    if isinstance(arm, str):
        if arm not in names():
            raise unknown("arm in the gauntlet", arm, names())
        arm = known_arm(arm)
    elif isinstance(arm, Linkage):
        arm = arm_from_linkage(arm, link)
    every = list(_hazards_by_key(arm).values())
    chosen = [h for h in every if any(h.key.startswith(name) for name in only)] if (only := tuple(only)) else every
    if not chosen:
        raise BadInput(
            f"no hazard of {arm.name} is called {', '.join(only)}; there are {', '.join(h.key for h in every)}"
        )
    return chosen


def measure(run: Run) -> Measures:
    """The measures of a run, by name; see `supple.gauntlet.measures` and `supple.gauntlet.operator_measures`."""
    return measure_clean(run) if run.operator is None else measure_operator(run, run.operator)


_CACHE: dict[Arm, dict[str, Hazard]] = {}


def _hazards_by_key(arm: Arm) -> dict[str, Hazard]:
    """The hazards of an arm by key, made once."""
    if arm not in _CACHE:
        stored = reference.stored_arms().get(arm.name) if arm.name in names() and arm == known_arm(arm.name) else None
        specs = stored["hazards"] if stored else derive_hazards(arm)
        references = {key: reference.stored(arm.name, key) for key in specs} if stored else {}
        _CACHE[arm] = {key: make_hazard(arm, key, spec, references.get(key)) for key, spec in specs.items()}
    return _CACHE[arm]
