"""The results as Markdown tables, and the acceptance bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from supple._table import markdown_table

from .measure import Row
from .peers import PEERS

_TIMES = (("mean", "mean us"), ("p50", "p50 us"), ("p99", "p99 us"), ("first", "first try, mean us"))
_COLUMNS: dict[str, tuple[tuple[str, str], ...]] = {
    "uniform": (
        ("robot", "robot"),
        ("solver", "solver"),
        ("start", "start"),
        ("goals", "goals"),
        ("success", "success %"),
        *_TIMES,
        ("wrong", "wrongly reported"),
        ("note", "note"),
    ),
    "clustered": (
        ("robot", "robot"),
        ("family", "family"),
        ("goals", "reachable goals"),
        ("none", "success %"),
        ("mid-range", "from mid-range %"),
        ("random", "from random %"),
        *_TIMES,
        ("TRAC-IK", "TRAC-IK %, mean us"),
        ("ik_LM", "ik_LM %, mean us"),
    ),
    "batch": (
        ("set", "instruction set"),
        ("threads", "threads"),
        ("goals", "goals"),
        ("rate", "million a second"),
        ("lost", "not arrived"),
        ("right", "correct, of a sample %"),
        ("same", "identical to single solves %"),
    ),
    "unreachable": (
        ("robot", "robot"),
        ("family", "sort"),
        ("goals", "goals"),
        ("close", "within 1 % of the reference %"),
        ("excess", "above the reference, p99 %"),
        ("better", "better than the reference %"),
        ("claimed", "reported as arrived"),
        ("stuck", "STUCK %"),
        ("reasons", "with a reason %"),
        *_TIMES,
    ),
    "branches": (
        ("robot", "robot"),
        ("goals", "goals"),
        ("branches", "EAIK's branches"),
        ("share", "found %"),
        ("more", "found, not in EAIK"),
        ("wrong", "wrong"),
        *_TIMES,
    ),
    "trees": (
        ("robot", "tree"),
        ("links", "goals at once"),
        ("start", "start"),
        ("goals", "goals"),
        ("success", "success %"),
        ("wrong", "wrongly reported"),
        *_TIMES,
    ),
    "bad": (("rule", "rule"), ("held", "holds")),
}
TITLES = {
    "uniform": "Goals at uniform random q",
    "clustered": "Harder goals",
    "batch": "Many in one call",
    "unreachable": "Goals out of reach",
    "branches": "Branches, solutions=16",
    "trees": "Several end effectors",
    "bad": "Bad input",
}
PARTS = tuple(TITLES)
_SHARES = (
    "none",
    "mid-range",
    "random",
    "success",
    "close",
    "excess",
    "better",
    "share",
    "right",
    "same",
    "stuck",
    "reasons",
)


def tables(rows: Sequence[Row]) -> str:
    """A table for each part that was run."""
    return "\n\n".join(
        f"## {title}\n\n{table(part, own)}" for part, title in TITLES.items() if (own := _of(rows, part=part))
    )


def table(part: str, rows: Sequence[Row]) -> str:
    """The table of one part."""
    rows = _pivoted(rows) if part == "clustered" else rows
    order = list(dict.fromkeys(row.get("robot") for row in rows))
    rows = sorted(rows, key=lambda row: order.index(row.get("robot")))  # rows of another interpreter come last
    columns = [(key, head) for key, head in _COLUMNS[part] if any(row.get(key) not in (None, "") for row in rows)]
    lines = [[head for _, head in columns]]
    lines += [[_cell(key, row.get(key)) for key, _ in columns] for row in rows]
    return markdown_table(lines)


def _pivoted(rows: Sequence[Row]) -> list[Row]:
    """One row for each robot and family: times of supple without a start, success from all starts, and the peers."""
    made: dict[tuple[str, str], Row] = {}
    for row in rows:
        own = made.setdefault((row["robot"], row["family"]), {"robot": row["robot"], "family": row["family"]})
        if row["solver"] != "supple":
            own[row["solver"]] = f"{100 * row['success']:.5g}, {row['mean']:.0f}" if "mean" in row else ""
        else:
            own[row["start"]] = row["success"]
            if row["start"] == "none":
                own |= {key: row[key] for key in ("goals", "mean", "p50", "p99", "first")}
    return list(made.values())


def _cell(key: str, value: Any) -> str:
    if value is None:
        return ""
    if key in _SHARES:
        return f"{100 * value:.5g}"
    if key == "rate":
        return f"{value / 1e6:.2f}"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, float):
        return f"{value:.2f}" if value < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


class Bar(NamedTuple):
    """One acceptance bar."""

    what: str
    value: float
    limit: float
    least: bool
    """Whether the limit is a lower one."""

    @property
    def met(self) -> bool:
        """Whether the bar is met."""
        return self.value >= self.limit if self.least else self.value <= self.limit

    def __str__(self) -> str:
        sign = ">=" if self.least else "<="
        return f"{'met   ' if self.met else 'MISSED'}  {self.what}: {self.value:.6g} {sign} {self.limit:g}"


def bars(rows: Sequence[Row]) -> Iterator[Bar]:
    """All bars for which there are rows."""
    for part, least in (("uniform", 99.99), ("clustered", 99.9)):
        own = _of(rows, part=part, solver="supple")
        for robot in dict.fromkeys(row["robot"] for row in own):
            worst = min(_of(own, robot=robot), key=lambda row: float(row["success"]))
            where = f"{worst.get('family', 'uniform')}, start {worst['start']}"
            yield Bar(f"{robot}, {part}, worst ({where}): success %", 100 * worst["success"], least, True)
    for row in _of(rows, part="uniform", solver="supple", start="none"):
        robot = row["robot"]
        if robot == "panda":
            yield Bar("panda: mean us", row["mean"], 3, False)
            yield Bar("panda: p99 us", row["p99"], 15, False)
        for peer, times in (("TRAC-IK", 100), ("ik_LM", 25), ("EAIK", 1)):
            other = _of(rows, part="uniform", solver=peer, robot=robot, start="mid-range")
            if other and "mean" in other[0] and (peer != "EAIK" or robot == "ur5"):
                yield Bar(f"{robot}: times faster than {peer}, mean", other[0]["mean"] / row["mean"], times, True)
    for row in _of(rows, part="batch", set="avx512", threads=2):
        yield Bar("batch, avx512, two threads: million a second", row["rate"] / 1e6, 2.5, True)
    for row in _of(rows, part="batch"):
        yield Bar(
            f"batch, {row['set']}, {row['threads']} threads: identical to single solves %", 100 * row["same"], 100, True
        )
    for row in _of(rows, part="unreachable", family="all"):
        yield Bar(f"{row['robot']}, out of reach: within 1 % of the reference, %", 100 * row["close"], 100, True)
        yield Bar(f"{row['robot']}, out of reach: mean us", row["mean"], 300, False)
    for row in _of(rows, part="branches"):
        yield Bar(f"{row['robot']}: EAIK's branches found %", 100 * row["share"], 99, True)
    for row in _of(rows, part="trees"):
        yield Bar(
            f"{row['robot']}, {row['links']} goals, start {row['start']}: success %", 100 * row["success"], 99, True
        )
        if row["start"] == "none":
            yield Bar(f"{row['robot']}, {row['links']} goals: mean us", row["mean"], 200, False)
    for row in _of(rows, part="bad"):
        yield Bar(row["rule"], float(row["held"]), 1, True)


def summary(rows: Sequence[Row]) -> str:
    """All bars as text, those missed last."""
    found = sorted(bars(rows), key=lambda bar: not bar.met)
    met = sum(bar.met for bar in found)
    return f"## Acceptance bars: {met} met, {len(found) - met} missed\n\n" + "\n".join(map(str, found))


def notes(rows: Sequence[Row], clock: float) -> str:
    """Notes on the tables."""
    ran = {row.get("solver") for row in rows}
    lines = [f"- {name}: {peer.settings}; at most {peer.most} goals" for name, peer in PEERS.items() if name in ran]
    settings = "\n".join(lines) or "- none in this run"
    return f"""Success is checked with pinocchio: 1e-6 m and 1e-6 rad, inside limits. Each goal is solved three times,
and the shortest try counts, with its result; mean, p50 and p99 are over goals and include {clock:.0f} ns of the clock.
supple is `Solver().compile(arm, link)` called with a frame, and with a start where one is named: then it returns the
nearest solution it finds. Bars that compare times use supple without a start and peers from mid-range: both return the
first solution. TRAC-IK and ik_LM draw random starts, so the shortest of three tries is also their luckiest, and the
ratios favour them. The mean of the first tries is noisier, and no bar uses it. Peers:

{settings}"""


def _of(rows: Sequence[Row], **wanted: object) -> list[Row]:
    return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]
