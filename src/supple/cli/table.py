"""The command `supple table`: kinematics over tables of any size."""

from __future__ import annotations

import re
from enum import Enum
from typing import Annotated, Any

import typer

from supple.cli import inputs
from supple.cli.options import TOLERANCE, Json, Link, Search, Source, epilog, errors_to_stderr
from supple.cli.output import print_json, print_text
from supple.errors import BadInput
from supple.goal import Goal
from supple.jobs import Job, JobFailed, JobResult, Joints, Pose, forward, path, solve, track
from supple.jobs.tables import FORMATS
from supple.linkage import Linkage
from supple.solver import Solver, Tolerance

EPILOG = epilog(
    "supple table forward panda episodes/ poses/ --joints q --link panda_hand_tcp",
    "    adds the column pose (x, y, z, qw, qx, qy, qz) to every table of the folder",
    "supple table solve ur5 poses.parquet solved.parquet --position p --quaternion r --order xyzw --link tool0",
    "    joint values for each pose on its own, in the column q",
    "supple table path panda my_dataset/ with_joints/ --pose ee_pose --link panda_hand_tcp --rate 30",
    "    joint values that are continuous within each episode; my_dataset may be a LeRobot dataset",
    exit_codes="0 every file is written, whatever the outcomes of its rows (--strict: 1 if a row failed);\n"
    "  1 a file failed, the others are written; 2 wrong usage or a bad table, nothing is written; 130 Ctrl-C",
)


class Work(str, Enum):
    """What is done with each table."""

    forward = "forward"
    solve = "solve"
    path = "path"
    track = "track"


_READ_OR_WRITTEN = "read by forward, added by the others"
_WRITTEN_OR_READ = "added by forward, read by the others"


def table(
    work: Annotated[
        Work,
        typer.Argument(
            metavar="WORK",
            help="forward: joints to poses. solve: poses to joints, each row on its own. path: poses to joints, "
            "continuous within each episode. track: poses to joints through the tracker.",
            show_default=False,
        ),
    ],
    source: Source,
    tables: Annotated[
        str,
        typer.Argument(
            metavar="TABLES",
            help="A .parquet, .arrow, .feather or .csv file, a folder, a pattern in quotes, or a LeRobot dataset.",
            show_default=False,
        ),
    ],
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="A folder for the results, or a file.", show_default=False)
    ],
    link: Link = None,
    joints: Annotated[
        str | None,
        typer.Option("--joints", metavar="COLUMNS", help=f"Joint values, {_READ_OR_WRITTEN} [default: q]."),
    ] = None,
    names: Annotated[
        str | None,
        typer.Option(
            "--names", metavar="NAMES", help="The joint of each entry of --joints, with commas; - for no joint."
        ),
    ] = None,
    pose: Annotated[
        str | None,
        typer.Option("--pose", metavar="COLUMNS", help=f"Seven numbers: position, quaternion; {_WRITTEN_OR_READ}."),
    ] = None,
    position: Annotated[
        str | None, typer.Option("--position", metavar="COLUMNS", help="Three numbers, in metres.")
    ] = None,
    quaternion: Annotated[
        str | None, typer.Option("--quaternion", metavar="COLUMNS", help="Four numbers, in the order of --order.")
    ] = None,
    matrix: Annotated[
        str | None, typer.Option("--matrix", metavar="COLUMNS", help="Sixteen numbers: a 4x4 matrix by rows.")
    ] = None,
    order: Annotated[str, typer.Option("--order", help="Order of quaternions: wxyz or xyzw.")] = "wxyz",
    axis: Annotated[
        tuple[float, float, float] | None,
        typer.Option("--axis", metavar="X Y Z", help="Only this axis of the link must match the pose."),
    ] = None,
    degrees: Annotated[
        bool, typer.Option("--degrees", help="Joint angles of the tables are in degrees; radians by default.")
    ] = False,
    episode: Annotated[
        str | None,
        typer.Option("--episode", metavar="COLUMN", help="Episode of each row [default: episode_index, or the file]."),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            "--time",
            metavar="COLUMN",
            help="path: time of each row, in seconds. Without --time and --rate, joint speeds are not checked.",
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            "--rate",
            metavar="HZ",
            help="path, track: rows per second. track needs it, except for a LeRobot dataset, which has its own.",
        ),
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option("--tolerance", metavar="METRES", help=f"solve, path: {TOLERANCE}")
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="FORMAT", help=f"Format of the results: {', '.join(FORMATS)}. Default: as read."
        ),
    ] = None,
    prefix: Annotated[
        str,
        typer.Option(
            "--prefix",
            metavar="TEXT",
            help="Begins the names of outcome, position_error, angle_error, reconfigured; nothing by default.",
        ),
    ] = "",
    single: Annotated[bool, typer.Option("--float32", help="Write float32; float64 by default.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that this job did not write.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show files, rows and columns; write nothing.")] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", min=1, metavar="N", help="Files at the same time; by default one per core, at most 8."
        ),
    ] = None,
    ray: Annotated[bool, typer.Option("--ray", help="Work on a Ray cluster, or start Ray here.")] = False,
    address: Annotated[
        str | None, typer.Option("--address", metavar="ADDRESS", help="With --ray: the address of the cluster.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if a row was not computed, reached or followed.")
    ] = False,
    search: Search = None,
    as_json: Json = False,
) -> None:
    """Kinematics over tables of any size: adds columns with joint values or poses.

    All other columns pass through untouched. COLUMNS is one column of lists, or columns of numbers with commas between
    them. Each row also gets an outcome. Rows with new joint values get position_error (metres) and angle_error
    (radians). Rows with nan or null have the outcome invalid.

    A result file gets its final name only when it is complete. If a job was killed, run the same command again: it
    skips the finished files.
    """
    with errors_to_stderr(unknown_name=2, spelled=_spelled):
        if address is not None and not ray:
            raise BadInput("--address needs --ray")
        linkage = inputs.find(source, search or ())
        name = inputs.end_effector(linkage, link)
        columns: dict[str, Any] = {"pose": pose, "position": position, "quaternion": quaternion, "matrix": matrix}
        job = _job(
            work,
            (linkage, tables, target),
            _joints(joints, names, degrees, work),
            _pose(columns, order, work),
            Goal(name, position=(0, 0, 0), axis=axis, direction=(0, 0, 1)) if axis is not None else name,
            tolerance,
            {"episode": episode, "time": time, "rate": rate},
            {"prefix": prefix, "single": single, "overwrite": overwrite} | ({"format": format} if format else {}),
        )
        if dry_run:
            print_text(str(job.plan()))
            return
        code, result = _run(job, workers, (address or True) if ray else False)
    if as_json:
        print_json(_data(result))
    else:
        print_text(f"{_spelled(str(result))}\ntarget  {target}")
        _note(result)
    failed = strict and result.succeeded < result.rows
    raise typer.Exit(code or (1 if failed else 0))


def _note(result: JobResult) -> None:
    """Say on stderr that no row is within reach, if a wrong unit may be the cause."""
    if result.rows and result.counts.get("out_of_reach") == result.rows and not result.notes:
        typer.echo("supple: every row is out of reach; positions are in metres", err=True)


def _run(job: Job, workers: int | None, ray: bool | str) -> tuple[int, JobResult]:
    """The exit code of a job and what it did."""
    try:
        return 0, job.run(workers=workers, ray=ray)
    except JobFailed as failed:
        return 1, failed.result


def _job(
    work: Work,
    where: tuple[Linkage, str, str],
    joints: Joints,
    pose: Pose,
    link: str | Goal,
    tolerance: float | None,
    time: dict[str, Any],
    options: Any,
) -> Job:
    linkage, tables, target = where
    given: Any = {name: value for name, value in time.items() if value is not None}
    if work in (Work.forward, Work.solve) and given:
        raise BadInput(f"--{next(iter(given))} is only for path and track")
    if work is Work.track and "time" in given:
        raise BadInput("--time is only for path; for track give --rate")
    if "time" in given and "rate" in given:
        raise BadInput("give --time or --rate, not both")
    solver = None if tolerance is None else Solver(tolerance=Tolerance(position=tolerance))
    if work is Work.forward:
        if isinstance(link, Goal) or solver is not None:
            raise BadInput("--axis and --tolerance are only for solve and path")
        return forward(linkage, tables, target, joints=joints, pose=pose, link=link, **options)
    if work is Work.track:
        if solver is not None:
            raise BadInput("--tolerance goes with solve and path")
        return track(linkage, tables, target, joints=joints, pose=pose, link=link, **given, **options)
    if work is Work.solve:
        return solve(linkage, tables, target, joints=joints, pose=pose, link=link, solver=solver, **options)
    return path(linkage, tables, target, joints=joints, pose=pose, link=link, solver=solver, **given, **options)


def _spelled(message: str) -> str:
    """A message about arguments of functions with the options of the command: --format csv for format='csv'."""
    return re.sub(
        r"\b(give|needs) (\w+)=(?:'(\w+)'|True)?", lambda m: f"{m[1]} --{m[2]}{' ' + m[3] if m[3] else ''}", message
    )


def _split(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")]


def _joints(joints: str | None, names: str | None, degrees: bool, work: Work) -> Joints:
    if joints is None and work is Work.forward:
        raise BadInput("forward reads joint values: give --joints")
    listed = None if names is None else [None if name == "-" else name for name in _split(names)]
    return Joints(_split(joints or "q"), listed, degrees=degrees)


def _pose(columns: dict[str, Any], order: str, work: Work) -> Pose:
    given = {name: _split(value) for name, value in columns.items() if value is not None}
    if not given and work is not Work.forward:
        raise BadInput(f"{work.value} reads poses: give --pose, --matrix, or --position and --quaternion")
    return Pose(**(given or {"pose": ["pose"]}), order=order)


def _data(result: JobResult) -> dict[str, Any]:
    return {
        "work": result.work,
        "made": result.made,
        "kept": result.kept,
        "failed": dict(result.failed),
        "rows": result.rows,
        "outcomes": dict(result.counts),
        "reconfigured": result.reconfigured,
        "stale": list(result.stale),
        "notes": dict(result.notes),
        "seconds": result.seconds,
    }
