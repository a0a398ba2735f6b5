"""The plan and the result of a job: values that print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from supple._table import text_table
from supple.errors import SuppleError
from supple.jobs.outcomes import BY_WORK

_SHOWN = 20  # files of a plan, and errors of a result


def _stale_lines(names: tuple[str, ...]) -> list[str]:
    lines = [f"stale   {name}: its table is not among those of the job" for name in names[:_SHOWN]]
    return [*lines, f"and {len(names) - _SHOWN:,} more stale files"] if len(names) > _SHOWN else lines


def _note_lines(notes: Mapping[str, str]) -> list[str]:
    """The first file that looks misread, and how many more there are."""
    if not notes:
        return []
    name, text = next(iter(notes.items()))
    more = f" (and {len(notes) - 1:,} more file{'s' * (len(notes) > 2)})" if len(notes) > 1 else ""
    return [f"note    {name}: {text}{more}"]


@dataclass(frozen=True)
class FilePlan:
    """What would be done with one table."""

    name: str
    rows: int | None
    """None where only reading it would tell."""
    keep: bool
    """Whether its result is finished, and kept."""
    about: int = 0
    """Rows by its size, where their number is not known."""


@dataclass(frozen=True)
class Plan:
    """What a job would do: `Job.plan`."""

    work: str
    target: str
    files: tuple[FilePlan, ...]
    reads: Mapping[str, str]
    """The columns that are read, with their types, as in the first table."""
    adds: Mapping[str, str]
    """The columns that are added, with their types."""
    stale: tuple[str, ...] = ()
    """Results of earlier runs whose tables are not among those of the job; they stay."""

    @property
    def rows(self) -> int:
        """The rows of all tables that would be read; those of csv files are estimated from their size."""
        return sum(file.about if file.rows is None else file.rows for file in self.files if not file.keep)

    def __str__(self) -> str:
        make = [file for file in self.files if not file.keep]
        kept = len(self.files) - len(make)
        more = f", {kept:,} kept" if kept else ""
        lines = [f"{self.work}: {len(make):,} file{'s' if len(make) != 1 else ''} to make{more}, {self.rows:,} rows"]
        lines += [f"target  {self.target}"]
        lines += [f"reads   {name}: {kind}" for name, kind in self.reads.items()]
        lines += [f"adds    {name}: {kind}" for name, kind in self.adds.items()]
        rows = [
            [
                file.name,
                f"about {file.about:,}" if file.rows is None else f"{file.rows:,}",
                "kept" if file.keep else "to make",
            ]
            for file in self.files[:_SHOWN]
        ]
        lines += text_table([["file", "rows", ""], *rows], "<><")
        if len(self.files) > _SHOWN:
            lines.append(f"and {len(self.files) - _SHOWN:,} more files")
        lines += _stale_lines(self.stale)
        return "\n".join(lines)


@dataclass(frozen=True)
class JobResult:
    """What a job did: how many files it made and how their rows ended. True if no file failed."""

    work: str
    made: int
    """Files that were made."""
    kept: int
    """Files that were finished before."""
    failed: Mapping[str, str]
    """Files that failed, with the reason."""
    rows: int
    """Rows of the files that are made or kept."""
    counts: Mapping[str, int]
    """How many of these rows ended with each outcome."""
    reconfigured: int
    """Rows at which the joints jump, since no continuous motion was found; they are marked."""
    rows_made: int = 0
    """Rows of the files that were made."""
    seconds: float = 0.0
    """The time it took."""
    stale: tuple[str, ...] = ()
    """Results of earlier runs whose tables are not among those of the job; they stay."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Files whose rows look misread, with what they look like: positions in millimetres or quaternions in the other
    order, if a sample of the rows was solved as it may be meant, and arrives; angles in degrees, if every row is
    outside the joint limits."""

    def __bool__(self) -> bool:
        return not self.failed

    @property
    def succeeded(self) -> int:
        """Rows with the first outcome of the work: computed, arrived or following."""
        return self.counts[BY_WORK[self.work][0]]

    def __str__(self) -> str:
        kept = f", {self.kept:,} kept" if self.kept else ""
        failed = f", {len(self.failed):,} failed" if self.failed else ""
        speed = f"; {self.seconds:.3g} s, {self.rows_made / self.seconds:,.0f} rows/s" if self.rows_made else ""
        files = f"{self.made:,} file{'s' if self.made != 1 else ''} made{kept}{failed}"
        ended = [f"{n:,} {word.replace('_', ' ')}" for word, n in self.counts.items() if n]
        if self.reconfigured:
            ended.append(f"{self.reconfigured:,} reconfigured")
        rows = f"{self.rows:,} row{'s' if self.rows != 1 else ''}: {', '.join(ended)}" if self.rows else "no rows"
        lines = [f"{files}{speed}", rows]
        lines += [f"failed  {name}: {reason}" for name, reason in list(self.failed.items())[:_SHOWN]]
        lines += _note_lines(self.notes)
        lines += _stale_lines(self.stale)
        return "\n".join(lines)


class JobFailed(SuppleError):
    """Some files of a job failed; all others are made. Run the job again to make those that failed.

    >>> from supple import jobs
    >>> issubclass(jobs.JobFailed, Exception)
    True
    """

    result: JobResult
    """What was done."""

    def __init__(self, result: JobResult) -> None:
        self.result = result
        name, reason = next(iter(result.failed.items()))
        more = f" (and {len(result.failed) - 1:,} more)" if len(result.failed) > 1 else ""
        super().__init__(
            f"{len(result.failed):,} of {result.made + result.kept + len(result.failed):,} files failed: "
            f"{reason if name in reason else f'{name}: {reason}'}{more}"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return JobFailed, (self.result,)
