"""Compares one controller with others: the measures in which another one is better."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from supple.gauntlet.rows import Row

# measure, factor for printing, unit, smallest difference that counts, whether more is better
_COMPARED = (
    ("pos_max_mm", 1.0, "mm", 1e-3, False),
    ("ori_max_deg", 1.0, "deg", 1e-3, False),
    ("in_tol_frac_reachable", 100.0, "% in tolerance", 0.5, True),
    ("excess_hold", 1.0, "above the optimum", 1e-8, False),
    ("recovery_max_s", 1.0, "s to recover", 0.01, False),
    ("recovery_never", 1.0, "not recovered", 0.5, False),
    ("chatter_frac", 100.0, "% chatter", 0.05, False),
    ("rest_joint_speed_max", 1.0, "rad/s at rest", 1e-6, False),
    ("jerk_rms", 1.0, "rad/s3 jerk", 1.0, False),
    ("acc_max", 1.0, "rad/s2 at most", 0.1, False),
)


@dataclass(frozen=True)
class Worse:
    """A measure in which another controller is better."""

    where: str
    what: str
    mine: float
    best: float
    whose: str

    def __str__(self) -> str:
        return f"{self.where:<28} {self.what:<18} {self.mine:>10.4g}   {self.whose} {self.best:.4g}"


def better_peers(rows: Iterable[Row], controller: str = "supple", others: Iterable[str] | None = None) -> list[Worse]:
    """Every measure of every clean hazard in which another controller is better, with the best of them.

    Each measure is compared on its own. By default all other controllers are compared.
    """
    every = [row for row in rows if row["operator"] is None and row["hazard"] != "pushes"]
    chosen = None if others is None else set(others)
    places: dict[tuple[str, str, float], dict[str, Row]] = {}
    for row in every:
        places.setdefault((row["arm"], row["hazard"], row["rate"]), {})[row["controller"]] = row
    found = []
    for (arm, hazard, rate), by in places.items():
        mine = by.get(controller)
        peers = {name: row for name, row in by.items() if name != controller and (chosen is None or name in chosen)}
        if mine is None or not peers:
            continue
        for key, scale, unit, resolution, more in _COMPARED:
            sign = -1.0 if more else 1.0
            known = {name: sign * row[key] * scale for name, row in peers.items() if row.get(key) is not None}
            if not known:
                continue
            best = min(known, key=lambda name: known[name])
            own = float("inf") if mine.get(key) is None else sign * mine[key] * scale
            if own > known[best] + max(resolution, 0.02 * abs(known[best])):
                found.append(Worse(f"{arm} {hazard} {rate:g} Hz", unit, sign * own, sign * known[best], best))
    return found
