"""LeRobot datasets (v3): what meta/info.json says, and the features that a job adds to it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supple.errors import BadInput
from supple.jobs import arrow_arrays, files, outcomes

if TYPE_CHECKING:
    from supple.jobs.job import Job
    from supple.jobs.layout import Layout

INFO, STATS, EPISODES = "meta/info.json", "meta/stats.json", "meta/episodes"
_MADE_FOLDERS = (EPISODES + "/", "data/")
_POSE_NAMES = {
    "pose": ("x", "y", "z"),
    "position": ("x", "y", "z"),
    "quaternion": (),
    "matrix": tuple(f"m{i}{j}" for i in range(4) for j in range(4)),
}


def info(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The content of meta/info.json; raises `BadInput` if it is not that of a dataset v3."""
    place = Path(folder, INFO)
    try:
        data = json.loads(place.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadInput(f"{place}: not JSON: {error}") from None
    if not isinstance(data, dict) or not isinstance(data.get("features"), dict):
        raise BadInput(f"{place}: it has no features")
    version = str(data.get("codebase_version"))
    if not version.startswith("v3"):
        raise BadInput(f"{place}: codebase_version must be v3.x, got {version}; LeRobot converts older datasets")
    return data


def rate(folder: str | os.PathLike[str]) -> float:
    """Frames in a second."""
    fps = info(folder).get("fps")
    if not isinstance(fps, int | float) or not fps > 0:
        raise BadInput(f"{Path(folder, INFO)}: fps must be positive, got {fps!r}")
    return float(fps)


def check(job: Job) -> None:
    """Raise `BadInput`, before any work, for what a dataset does not allow."""
    info(os.fspath(job.source))  # type: ignore[arg-type]
    if job.format not in (None, "parquet"):
        raise BadInput(f"a LeRobot dataset is written as parquet, not {job.format}")
    for place in others(Path(os.fspath(job.source)), Path(job.target)):  # type: ignore[arg-type]
        files.check_link(place)
    written = [*(column for part in job.pose.parts.values() for column in part), *job.joints.columns, job.prefix]
    for name in written:
        if "/" in name:
            raise BadInput(f"a feature of a LeRobot dataset has no / in its name, got {name!r}")


def others(source: Path, target: Path) -> Iterator[Path]:
    """The files of a dataset that a job copies as they are, such as videos and tasks."""
    seen = {os.path.realpath(target)}
    for folder, folders, names in os.walk(source, followlinks=True):
        if os.path.realpath(folder) in seen:
            folders.clear()
            continue
        seen.add(os.path.realpath(folder))
        folders[:] = sorted(name for name in folders if name != files.JOB_FOLDER)
        for name in sorted(names):
            place = Path(folder, name)
            below = place.relative_to(source)
            made = below.suffix == ".parquet" and below.as_posix().startswith(_MADE_FOLDERS)
            if not made and below.as_posix() not in (INFO, STATS):
                yield place


def features(layout: Layout) -> dict[str, dict[str, Any]]:
    """The features that a job adds, as meta/info.json has them."""
    job = layout.job
    names = _entry_names(layout)
    made: dict[str, dict[str, Any]] = {}
    for field in layout.fields:
        size = arrow_arrays.list_size(field.type) or 1
        number = arrow_arrays.plain(field.type)
        number = number.value_type if arrow_arrays.is_list(number) else number
        dtype = {"float": "float32", "double": "float64"}.get(str(number), str(number))
        made[field.name] = {"dtype": dtype, "shape": [size], "names": names.get(field.name)}
    made[job.prefix + "outcome"]["info"] = {"outcomes": list(outcomes.BY_WORK[job.work])}
    return made


def _entry_names(layout: Layout) -> dict[str, list[str]]:
    """The names of the entries of each column of lists that a job adds."""
    job = layout.job
    if job.work != "forward":
        if len(job.joints.columns) > 1:
            return {}
        by_entry = dict(zip(layout.joint_map.entries.tolist(), layout.joint_map.values.tolist(), strict=True))
        width = layout.joint_map.width
        return {job.joints.columns[0]: [job.linkage.names[by_entry[i]] if i in by_entry else "" for i in range(width)]}
    turn = tuple("q" + letter for letter in job.pose.order)
    parts = {part: columns for part, columns in job.pose.parts.items() if len(columns) == 1}
    return {
        columns[0]: list(_POSE_NAMES[part] + (turn if part in ("pose", "quaternion") else ()))
        for part, columns in parts.items()
    }


def hugging_face(metadata: dict[bytes, bytes], layout: Layout) -> dict[bytes, bytes]:
    """The metadata of a data file, where the `datasets` package notes its features, with those that are added."""
    try:
        noted = json.loads(metadata[b"huggingface"])
        known = noted["info"]["features"]
    except (KeyError, ValueError, TypeError):
        return metadata
    listed = "List" if any(isinstance(f, dict) and f.get("_type") == "List" for f in known.values()) else "Sequence"
    for name, feature in features(layout).items():
        value: dict[str, Any] = {"dtype": feature["dtype"], "_type": "Value"}
        size = feature["shape"][0]
        known[name] = value if size == 1 else {"feature": value, "length": size, "_type": listed}
    return {**metadata, b"huggingface": json.dumps(noted).encode()}
