"""All other columns of a table pass through a job bit for bit, with their types and metadata."""

import decimal
import tempfile
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from job_tables import ARM, LINK, lists, motion
from supple import jobs

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
INTEGERS = {pa.int8(): 7, pa.int16(): 15, pa.int32(): 31, pa.int64(): 63}
MOMENTS = st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1))
SIMPLE = [
    *((kind, st.integers(-(2**n), 2**n - 1)) for kind, n in INTEGERS.items()),
    (pa.uint64(), st.integers(0, 2**64 - 1)),
    (pa.float32(), st.floats(width=32, allow_nan=False)),
    (pa.float64(), st.floats(allow_nan=False)),
    (pa.bool_(), st.booleans()),
    (pa.string(), WORDS),
    (pa.large_string(), WORDS),
    (pa.binary(), st.binary(max_size=5)),
    (pa.binary(4), st.binary(min_size=4, max_size=4)),
    (pa.decimal128(9, 3), st.decimals(-99999, 99999, places=3)),
    (pa.date32(), st.dates(date(1970, 1, 2), date(2200, 1, 1))),
    (pa.time64("us"), st.times()),
    (pa.timestamp("us", "UTC"), MOMENTS.map(lambda when: when.replace(tzinfo=timezone.utc))),
    (pa.timestamp("ms"), MOMENTS.map(lambda when: when.replace(microsecond=0))),
    (pa.duration("us"), st.timedeltas(timedelta(0), timedelta(99))),
    (pa.dictionary(pa.int8(), pa.string()), st.sampled_from(["left", "right", ""])),
    (pa.dictionary(pa.int32(), pa.int64()), st.integers(0, 5)),
]
ROWS = 7


@st.composite
def columns(draw):
    """An Arrow array of some rows and a type, maybe nested, maybe with nulls."""
    kind, value = draw(st.sampled_from(SIMPLE))
    shape = draw(st.sampled_from(["plain", "plain", "list", "large_list", "fixed", "struct", "deep"]))
    if pa.types.is_dictionary(kind):
        shape = "plain"
    full, rows = {
        "plain": (kind, value),
        "list": (pa.list_(kind), st.lists(st.none() | value, max_size=3)),
        "large_list": (pa.large_list(kind), st.lists(value, max_size=3)),
        "fixed": (pa.list_(kind, 2), st.lists(value, min_size=2, max_size=2)),
        "struct": (
            pa.struct([("a", kind), ("b", pa.list_(pa.int16()))]),
            st.fixed_dictionaries({"a": st.none() | value, "b": st.lists(st.integers(0, 9), max_size=2)}),
        ),
        "deep": (pa.list_(pa.list_(kind)), st.lists(st.lists(value, max_size=2), max_size=2)),
    }[shape]
    nullable = draw(st.booleans())
    made = draw(st.lists(st.none() | rows if nullable else rows, min_size=ROWS, max_size=ROWS))
    return pa.array(made, full), nullable


@st.composite
def any_table(draw):
    """A table with random columns around one with joint values."""
    arrays, fields = [], []
    names = draw(st.lists(WORDS.filter(lambda name: name not in ("q", "pose", "outcome")), unique=True, max_size=5))
    for name in names:
        array, nullable = draw(columns())
        metadata = draw(st.none() | st.dictionaries(WORDS, WORDS, max_size=2))
        arrays.append(array)
        fields.append(pa.field(name, array.type, nullable, metadata))
    place = draw(st.integers(0, len(arrays)))
    q = lists(motion(1, frames=ROWS))
    arrays.insert(place, q)
    fields.insert(place, pa.field("q", q.type))
    return pa.table(arrays, pa.schema(fields, draw(st.none() | st.dictionaries(WORDS, WORDS, max_size=2))))


def same(before: pa.Table, after: pa.Table) -> None:
    """Whether the first columns of a table are those of another, with their metadata."""
    left = after.select(range(before.num_columns))
    assert left.schema.equals(before.schema, check_metadata=True), f"{before.schema}\n{left.schema}"
    assert left.equals(before)
    assert left.to_pylist() == before.to_pylist()


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(table=any_table(), rows=st.integers(1, ROWS + 1))
def test_every_other_column_of_parquet_passes_through_untouched(table, rows):
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.parquet"), Path(folder, "out.parquet")
        pq.write_table(table, source, row_group_size=rows)
        jobs.forward(ARM, source, target, joints="q", link=LINK).run()
        same(pq.read_table(source), pq.read_table(target))
        before, after = pq.ParquetFile(source).metadata, pq.ParquetFile(target).metadata
        groups = [[meta.row_group(i).num_rows for i in range(meta.num_row_groups)] for meta in (before, after)]
        assert groups[0] == groups[1]


@pytest.mark.slow
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(table=any_table(), rows=st.integers(1, ROWS + 1), stream=st.booleans())
def test_every_other_column_of_arrow_passes_through_untouched(table, rows, stream):
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.arrow"), Path(folder, "out.arrow")
        make, read = (pa.ipc.new_stream, pa.ipc.open_stream) if stream else (pa.ipc.new_file, pa.ipc.open_file)
        with make(source, table.schema) as writer:
            writer.write_table(table, max_chunksize=rows)
        jobs.forward(ARM, source, target, joints="q", link=LINK).run()
        with read(source) as before, read(target) as after:
            same(before.read_all(), after.read_all())


def test_nan_payloads_and_signed_zeros_pass_through(tmp_path):
    bits = np.array([0x7FF8000000000001, 0xFFF8DEADBEEF0000, 0x8000000000000000, 0x7FF0000000000000], dtype=np.uint64)
    table = pa.table({"x": bits.view(np.float64), "q": lists(motion(1, frames=4))})
    pq.write_table(table, tmp_path / "in.parquet")
    jobs.forward(ARM, tmp_path / "in.parquet", tmp_path / "out.parquet", joints="q", link=LINK).run()
    after = pq.read_table(tmp_path / "out.parquet")["x"].to_numpy()
    assert (after.view(np.uint64) == bits).all()


def test_a_csv_file_keeps_the_text_of_its_columns(tmp_path):
    lines = ["name,j0,j1,when", 'a "quoted" one,0.10,1e-3,2020-01-02', ",+0.2,0.3,", '"x, y",0.30,0.4,00012']
    lines[1] = '"a ""quoted"" one",0.10,1e-3,2020-01-02'
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n")
    from supple import models

    arm = models.planar2()
    names = jobs.Joints(["j0", "j1"])
    jobs.forward(arm, tmp_path / "in.csv", tmp_path / "out.csv", joints=names).run()
    import csv

    with open(tmp_path / "in.csv") as a, open(tmp_path / "out.csv") as b:
        before, after = list(csv.reader(a)), list(csv.reader(b))
    assert [row[:4] for row in after] == before
    assert after[0][4:] == [f"pose_{i}" for i in range(7)] + ["outcome"]
    assert np.allclose([float(x) for x in after[2][4:7]], arm.frame([0.2, 0.3], "tip").position)
    assert [row[-1] for row in after[1:]] == ["computed"] * 3


def test_decimals_and_dictionaries_can_be_joint_values(tmp_path):
    from supple import models

    arm = models.planar2()
    values = [decimal.Decimal("0.5"), decimal.Decimal("-0.25"), None]
    table = pa.table(
        {
            "a": pa.array(values, pa.decimal128(5, 2)),
            "b": pa.array([1.0, 0.5, 1.0]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    jobs.forward(arm, tmp_path / "in.parquet", tmp_path / "out.parquet", joints=["a", "b"]).run()
    after = pq.read_table(tmp_path / "out.parquet")
    pose = np.array(after["pose"].to_pylist())
    assert np.allclose(pose[:2, :3], arm.frame([[0.5, 1.0], [-0.25, 0.5]], "tip").position)
    assert after["outcome"].to_pylist() == ["computed", "computed", "invalid"]
    same(pq.read_table(tmp_path / "in.parquet"), after)
