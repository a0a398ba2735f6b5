"""The gauntlet: hazards that a hand runs a controller through, and the measures of what it did."""

from __future__ import annotations

from collections.abc import Iterable

from supple.errors import BadInput, unknown
from supple.gauntlet import reference
from supple.gauntlet.arms import Arm, arm_of, known, names
from supple.gauntlet.derived_hazards import derived
from supple.gauntlet.hazard import Hazard, make
from supple.gauntlet.measures import Measures, apart, clean
from supple.gauntlet.operator import Operator, Samples, variants
from supple.gauntlet.operator_measures import noisy
from supple.gauntlet.random_pushes import pushed, pushes, summed
from supple.gauntlet.rows import Row, row_of
from supple.gauntlet.runner import Controller, Factory, Run, run
from supple.gauntlet.table import by_hazard, in_words, operated, summary
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
    "apart",
    "arm_of",
    "by_hazard",
    "hazards",
    "in_words",
    "known",
    "measure",
    "names",
    "operated",
    "pushed",
    "pushes",
    "row_of",
    "run",
    "summary",
    "summed",
    "tracked",
    "variants",
]


def hazards(arm: str | Linkage | Arm, only: Iterable[str] = (), link: str | None = None) -> list[Hazard]:
    """The hazards of an arm, in order.

    Args:
        arm: one of `names`, whose hazards are kept ready, or any linkage, whose hazards are then found (seconds).
        only: keys, or how they begin, such as "s4"; all of them if empty.
        link: the end effector of a linkage with several tips.
    """
    if isinstance(arm, str):
        if arm not in names():
            raise unknown("arm in the gauntlet", arm, names())
        arm = known(arm)
    elif isinstance(arm, Linkage):
        arm = arm_of(arm, link)
    every = list(_made(arm).values())
    chosen = [h for h in every if any(h.key.startswith(name) for name in only)] if (only := tuple(only)) else every
    if not chosen:
        raise BadInput(
            f"no hazard of {arm.name} is called {', '.join(only)}; there are {', '.join(h.key for h in every)}"
        )
    return chosen


def measure(run: Run) -> Measures:
    """What a run did, as plain data; see `measures.clean` and `operator_measures.noisy`."""
    return clean(run) if run.operator is None else noisy(run, run.operator)


_MADE: dict[Arm, dict[str, Hazard]] = {}


def _made(arm: Arm) -> dict[str, Hazard]:
    """The hazards of an arm by key, made once."""
    if arm not in _MADE:
        kept = reference.file().get(arm.name) if arm.name in names() and arm == known(arm.name) else None
        specs = kept["hazards"] if kept else derived(arm)
        ready = {key: reference.kept(arm.name, key) for key in specs} if kept else {}
        _MADE[arm] = {key: make(arm, key, spec, ready.get(key)) for key, spec in specs.items()}
    return _MADE[arm]
