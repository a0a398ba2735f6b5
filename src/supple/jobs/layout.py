"""The columns of one table that a job reads and adds, found and checked before any work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from supple.errors import BadInput, near_matches, short
from supple.frame import Array, Frame
from supple.jobs import arrow_arrays, outcomes
from supple.jobs.arrow_arrays import arrow
from supple.jobs.columns import JointMap, Names, Pose
from supple.jobs.tables import Table

if TYPE_CHECKING:
    from supple.jobs.job import Job

_PEEK = 1024  # rows that are read to see how long lists are
_SHAPES = {"pose": (7,), "position": (3,), "quaternion": (4,), "matrix": (4, 4)}


class Layout:
    """Where a job finds its numbers in the batches of a table, and which columns it adds."""

    def __init__(self, job: Job, table: Table) -> None:
        """Raises `BadInput`, with the file and the column, if the table does not fit the job."""
        self.job, self.table = job, table
        self.is_text = table.format == "csv"
        self.out_format = job.format or table.format
        self.single = job.single or job.is_dataset
        self.pose_columns: dict[str, tuple[str, ...]] = {}
        self.joint_columns: tuple[str, ...] = ()
        self.episode: str | None = None
        self.time: str | None = None
        self._places: dict[str, list[int]] = {}
        for place, name in enumerate(table.schema.names):
            self._places.setdefault(name, []).append(place)
        try:
            self._read_columns()
            self._added_columns()
        except BadInput as error:
            if str(table.path) in str(error):
                raise
            raise BadInput(f"{table.path}: {error}") from None

    # -- columns that are read ----------------------------------------------------------------------------------

    def _read_columns(self) -> None:
        job = self.job
        if job.work == "forward":
            width = self._width(job.joints.columns)
            self.joint_columns = self._found(job.joints.columns, width)
            self.joint_map = JointMap(job.linkage, job.link, job.joints, width)
        else:
            for part, columns in job.pose.parts.items():
                self.pose_columns[part] = self._found(columns, int(np.prod(_SHAPES[part])))
            if len(job.joints.columns) > 1:
                width = len(job.joints.columns)
            else:
                width = job.linkage.dof if job.joints.names is None else len(job.joints.names)
            self.joint_map = JointMap(job.linkage, job.link, job.joints, width)
        if job.work in ("path", "track"):
            self.episode = job.episode or ("episode_index" if "episode_index" in self._places else None)
            if self.episode is not None:
                self._check_episodes(self.episode)
            self.time = job.time
            if self.time is not None:
                self._checked(self.time, 1)

    def _check_episodes(self, column: str) -> None:
        """Raises `BadInput` if the values of a column do not tell episodes apart."""
        kind = self.table.schema.field(self._index(column)).type
        if not arrow_arrays.tells_apart(kind):
            raise BadInput(f"column {column!r} must tell episodes apart by numbers or texts, not {kind}")
        if not arrow().types.is_floating(arrow_arrays.plain(kind)):
            return
        row = 0
        for batch in self.table.batches([column]):
            values = arrow_arrays.decoded(batch.column(0)).cast(arrow().float64())
            is_nan = values.is_null(nan_is_null=True).to_numpy(False) & values.is_valid().to_numpy(False)
            if is_nan.any():
                raise BadInput(f"column {column!r} must tell episodes apart, and row {row + is_nan.argmax()} has nan")
            row += batch.num_rows

    @property
    def needed(self) -> list[str]:
        """The columns that the work reads."""
        parts = [column for columns in self.pose_columns.values() for column in columns]
        other = [column for column in (self.episode, self.time) if column is not None]
        return list(dict.fromkeys([*self.joint_columns, *parts, *other]))

    def _index(self, name: str) -> int:
        places = self._places.get(name, ())
        if len(places) == 1:
            return places[0]
        if places:
            raise BadInput(f"there are {len(places)} columns named {short(name)}; only one can be read")
        names = list(self._places)
        near = near_matches(name, names)
        shown = ", ".join(short(each) for each in (near or names[:12]))
        more = f" and {len(names) - 12} more" if not near and len(names) > 12 else ""
        raise BadInput(
            f"no column {short(name)}; {'did you mean' if near else 'it has'} {shown}{more}{'?' if near else ''}"
        )

    def _width(self, columns: tuple[str, ...]) -> int:
        """How many values joint columns have: as the type says, or as the first list has."""
        if len(columns) > 1:
            return len(columns)
        if self.is_text:
            count = 0
            while f"{columns[0]}_{count}" in self._places:
                count += 1
            return count or 1
        field = self.table.schema.field(self._index(columns[0]))
        size = arrow_arrays.list_size(field.type)
        if size is not None:
            return size
        for batch in self.table.batches([columns[0]], _PEEK):
            lengths = arrow_arrays.lengths(batch.column(0))
            if lengths.any():
                return int(lengths[lengths > 0][0])
        named = self.job.joints.names
        return self.job.linkage.dof if named is None else len(named)

    def _found(self, columns: tuple[str, ...], width: int) -> tuple[str, ...]:
        """The columns in the table that hold so many values; raises `BadInput` if they do not."""
        if len(columns) == 1 and width > 1 and self.is_text:
            if columns[0] in self._places:
                raise BadInput(
                    f"column {columns[0]!r} must hold {width} numbers; in csv these are columns "
                    f"{columns[0]}_0 to {columns[0]}_{width - 1}, or name {width} columns"
                )
            columns = tuple(f"{columns[0]}_{i}" for i in range(width))
        for column in columns:
            self._checked(column, width if len(columns) == 1 else 1)
        return columns

    def _checked(self, column: str, width: int) -> None:
        """Raises `BadInput` if a column cannot hold so many numbers in a row."""
        kind = self.table.schema.field(self._index(column)).type
        if self.is_text:
            return
        if arrow_arrays.number_type(kind) is None:
            raise arrow_arrays.refuse_type(column, kind)
        size = arrow_arrays.list_size(kind)
        if size is None:
            for batch in self.table.batches([column], _PEEK):
                lengths = arrow_arrays.lengths(batch.column(0))
                if not (lengths == width).any() and lengths.any():
                    row = int(np.argmax(lengths > 0))
                    got = int(lengths[row])
                    raise BadInput(f"column {column!r} must have {width} numbers in a row; row {row} has {got}")
                break
        elif size != width:
            raise BadInput(f"column {column!r} must have {width} number{'s' if width > 1 else ''} in a row, not {size}")

    def _numbers(self, batch: Any, columns: tuple[str, ...], shape: tuple[int, ...]) -> Array:
        """The numbers (rows, n) of columns of a batch."""
        names = batch.schema.names
        if len(columns) == 1:
            return arrow_arrays.numbers(batch.column(names.index(columns[0])), int(np.prod(shape)), shape)
        made = np.empty((batch.num_rows, len(columns)))
        for i, column in enumerate(columns):
            made[:, i] = arrow_arrays.numbers(batch.column(names.index(column)), 1)[:, 0]
        return made

    def joints(self, batch: Any) -> tuple[Array, Any]:
        """Joint values (rows, dof) of a batch, and which rows are good."""
        return self.joint_map.q(self._numbers(batch, self.joint_columns, (self.joint_map.width,)))

    @property
    def joint_rounding(self) -> float:
        """The largest relative error of rounding to the type of the joint columns; 0 for float64 and for texts."""
        types = arrow().types
        found = (self.table.schema.field(self._index(name)).type for name in self.joint_columns)
        kinds = [kind for each in found if (kind := arrow_arrays.number_type(each)) is not None]
        if any(types.is_float16(kind) for kind in kinds):
            return float(np.finfo(np.float16).eps)
        return float(np.finfo(np.float32).eps) if any(types.is_float32(kind) for kind in kinds) else 0.0

    def poses(self, batch: Any) -> dict[str, Array]:
        """The numbers (rows, n) of each part of the poses of a batch."""
        return {part: self._numbers(batch, columns, _SHAPES[part]) for part, columns in self.pose_columns.items()}

    def times(self, batch: Any) -> Array | None:
        """Times (rows,) of a batch, if there is a column for them."""
        return None if self.time is None else self._numbers(batch, (self.time,), (1,))[:, 0]

    # -- columns that are added ---------------------------------------------------------------------------------

    def _added_columns(self) -> None:
        pa, job = arrow(), self.job
        number = pa.float32() if self.single else pa.float64()
        fields: list[Any] = []
        if job.work == "forward":
            for part, columns in job.pose.parts.items():
                fields += self._number_fields(columns, int(np.prod(_SHAPES[part])), number)
        else:
            fields += self._number_fields(job.joints.columns, self.joint_map.width, number)
        words = pa.string() if self.out_format == "csv" else pa.dictionary(pa.int8(), pa.string())
        fields.append(pa.field(job.prefix + "outcome", pa.int64() if job.is_dataset else words))
        if job.work != "forward":
            fields += [pa.field(job.prefix + name, pa.float32()) for name in ("position_error", "angle_error")]
        if job.work == "path":
            fields.append(pa.field(job.prefix + "reconfigured", pa.bool_()))
        there = [field.name for field in fields if field.name in self._places]
        if there:
            raise BadInput(f"the table already has a column {there[0]!r}; {self._other_name(there[0])}")
        twice = [field.name for field in fields if [each.name for each in fields].count(field.name) > 1]
        if twice:
            raise BadInput(f"two columns to add have the name {twice[0]!r}")
        self.fields = fields
        schema = self.table.schema
        for field in fields:
            schema = schema.append(field)
        if self.out_format == "csv":
            nested = [field.name for field in schema if pa.types.is_nested(field.type)]
            if nested:
                raise BadInput(f"csv has no lists, and column {nested[0]!r} has them; write parquet or arrow")
        self.schema = schema
        if job.is_dataset and schema.metadata:
            from supple.jobs import lerobot

            self.schema = schema.with_metadata(lerobot.hugging_face(dict(schema.metadata), self))

    def _other_name(self, taken: str) -> str:
        """Which option gives another name to a column that is added; in csv a column of lists is several."""
        job = self.job
        options = job.pose.parts if job.work == "forward" else {"joints": job.joints.columns}
        for option, columns in options.items():
            if any(taken == name or taken.rpartition("_")[0] == name for name in columns):
                return f"give {option}= another name"
        return "give prefix= to rename the columns that are added"

    def _number_fields(self, columns: Names, width: int, number: Any) -> list[Any]:
        pa = arrow()
        if len(columns) == 1 and width > 1 and self.out_format == "csv":
            columns = [f"{columns[0]}_{i}" for i in range(width)]
        if len(columns) == 1:
            return [pa.field(columns[0], pa.list_(number, width))]
        return [pa.field(column, number) for column in columns]

    def _number_arrays(self, columns: tuple[str, ...], values: Array) -> list[Any]:
        if len(columns) == 1 and self.out_format != "csv":
            return [arrow_arrays.lists(values, self.single)]
        return [arrow_arrays.column(values[:, i], self.single) for i in range(values.shape[1])]

    def forward_arrays(self, frames: Frame, codes: Any) -> list[Any]:
        """The columns to add (Arrow arrays) for poses (rows,); those of invalid rows are nan."""
        invalid = codes == outcomes.FORWARD.index("invalid")
        arrays: list[Any] = []
        pose: Pose = self.job.pose
        for part, values in pose.numbers(frames).items():
            if invalid.any():
                values = np.where(invalid[:, None], np.nan, values)
            arrays += self._number_arrays(pose.parts[part], values)
        return [*arrays, self._outcome_array(codes)]

    def solve_arrays(self, q: Array, codes: Any, distance: Array, angle: Array, reconfigured: Any | None) -> list[Any]:
        """The columns to add (Arrow arrays) for joint values (rows, dof) and their errors."""
        pa = arrow()
        values = self.joint_map.entries_of(q)
        entries: Any = self.joint_map.singles(values) if self.single else values
        arrays = self._number_arrays(self.job.joints.columns, entries)
        arrays.append(self._outcome_array(codes))
        arrays += [pa.array(np.asarray(each, dtype=np.float32)) for each in (distance, angle)]
        return arrays if reconfigured is None else [*arrays, pa.array(np.asarray(reconfigured, dtype=bool))]

    def _outcome_array(self, codes: Any) -> Any:
        if self.job.is_dataset:
            return arrow().array(codes.astype(np.int64))
        words = arrow_arrays.words(codes, outcomes.BY_WORK[self.job.work])
        return words.dictionary_decode() if self.out_format == "csv" else words
