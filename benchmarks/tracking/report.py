"""What a measure hands back: a number, the bar it is held against, and how to see it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from supple._table import markdown_table


@dataclass(frozen=True)
class Asked:
    """What the command line asks of a measure."""

    quick: bool = False
    first: int = 0
    """Number of the first trial. A trial is the same whenever its number is."""
    count: int = 0
    """How many trials; 0 for the measure's own number."""
    options: dict[str, Any] = field(default_factory=dict)
    """Of `Solver.track`, such as recover."""
    peers: tuple[str, ...] = ()

    def trials(self, many: int, few: int) -> range:
        """Numbers of the trials: many, or few if --quick, or as --count says."""
        count = self.count or (few if self.quick else many)
        return range(self.first, self.first + count)


@dataclass(frozen=True)
class Row:
    """One number of the report."""

    part: str
    arm: str
    what: str
    value: float
    unit: str = ""
    bar: float | None = None
    """The number must not be above it. None: it is told, and nothing is asked of it."""
    note: str = ""
    """The worst case, with what shows it again."""

    @property
    def met(self) -> bool | None:
        """Whether it is within its bar."""
        return None if self.bar is None else self.value <= self.bar


def table(rows: Sequence[Row]) -> str:
    """Rows as Markdown."""
    said = {True: "yes", False: "NO", None: ""}
    lines = [["part", "arm", "what", "value", "bar", "met", "note"]]
    for row in rows:
        bar = "" if row.bar is None else f"{row.bar:g}"
        value = f"{row.value:.4g} {row.unit}".strip()
        lines.append([row.part, row.arm, row.what, value, bar, said[row.met], row.note])
    return markdown_table(lines)


def again(part: str, arm: str, number: int) -> str:
    """Options that run one trial again."""
    return f"--parts {part} --arms {arm} --first {number} --count 1"


def counted(part: str, arm: str, what: str, found: Sequence[tuple[float, int, str]], total: int) -> Row:
    """A row that counts failures; the worst, with its number and in words, is the note. None may fail."""
    note = ""
    if found:
        worst = max(found)
        numbers = ",".join(str(number) for _, number, _ in sorted(found, reverse=True)[:5])
        note = f"{worst[2]}; trials {numbers}: {again(part, arm, worst[1])}"
    return Row(part, arm, f"{what}, of {total}", len(found), bar=0, note=note)
