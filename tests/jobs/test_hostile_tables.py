"""Tables that are made to do harm: refused in bounded time and memory, with a short message that names the file."""

import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from job_tables import ARM, LINK, lists, motion, seven
from supple import BadInput, jobs
from supple.errors import near_matches
from supple.jobs.tables import Table

Q = motion(1, frames=30)


def arrow_file(path, table):
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return path


def refused(source, tmp_path, match, **options):
    job = jobs.solve(ARM, source, tmp_path / "out", **{"pose": "p", "link": LINK, "joints": "sol", **options})
    with pytest.raises(BadInput, match=match) as error:
        job.run()
    assert len(str(error.value)) < 2000
    return str(error.value)


@pytest.mark.parametrize("wrong", [-1, -(2**31), 2**31 - 1, 10**6, 300])
def test_offsets_that_lead_out_of_an_arrow_file_are_refused(tmp_path, wrong):
    """Arrow maps the file and follows its offsets unchecked."""
    path = arrow_file(tmp_path / "in.arrow", pa.table({"p": lists(seven(Q), "list")}))
    data = bytearray(path.read_bytes())
    offsets = np.arange(0, 7 * 30 + 1, 7, dtype="<i4").tobytes()
    place = bytes(data).index(offsets)
    struct.pack_into("<i", data, place + 4 * 11, wrong)
    path.write_bytes(data)
    assert "in.arrow" in refused(path, tmp_path, "in.arrow")


def test_indices_that_lead_out_of_a_dictionary_are_refused(tmp_path):
    values = pa.DictionaryArray.from_arrays(pa.array(np.arange(30) % 3, pa.int32()), pa.array([0.5, 0.25, 0.125]))
    table = pa.table({"p": lists(seven(Q)), "other": values})
    path = arrow_file(tmp_path / "in.arrow", table)
    data = bytearray(path.read_bytes())
    place = bytes(data).index((np.arange(30) % 3).astype("<i4").tobytes())
    struct.pack_into("<i", data, place, 10**8)
    path.write_bytes(data)
    result = jobs.solve(ARM, path, tmp_path / "out", pose="p", link=LINK, joints="sol")
    with pytest.raises((BadInput, jobs.JobFailed), match=r"in\.arrow"):
        result.run()


def test_names_of_columns_that_are_no_text_are_refused(tmp_path):
    path = arrow_file(tmp_path / "in.arrow", pa.table({"p": lists(seven(Q)), "zzzzzzzz": np.zeros(30)}))
    path.write_bytes(path.read_bytes().replace(b"zzzzzzzz", b"zzz\xab\xffzzz"))
    refused(path, tmp_path, r"in\.arrow")


def test_a_table_of_very_many_columns_is_looked_up_in_linear_time(tmp_path, monkeypatch):
    """Time is counted in looks at the schema: quadratic ones took minutes."""
    count = 20_000
    path = tmp_path / "in.csv"
    path.write_text(",".join(f"q_{i}" for i in range(count)) + "\n" + ",".join(["0"] * count) + "\n")
    looks = []

    class Schema:
        def __init__(self, schema):
            self.schema = schema

        def __getattr__(self, name):
            looks.append(name)
            return getattr(self.schema, name)

    old = Table.__init__

    def opened(self, place):
        old(self, place)
        self.schema = Schema(self.schema)

    monkeypatch.setattr(Table, "__init__", opened)
    with pytest.raises(BadInput, match=f"'q' has {count} values; panda has 8"):
        jobs.forward(ARM, path, tmp_path / "out", joints="q", link=LINK).plan()
    assert looks.count("names") < 10


def test_messages_about_long_names_are_short(tmp_path):
    pq.write_table(pa.table({"x" * 1_000_000: [1.0], "y" * 1_000_000: [2.0]}), tmp_path / "in.parquet")
    refused(tmp_path / "in.parquet", tmp_path, "no column", pose="x" * 999_999)
    refused(tmp_path / "in.parquet", tmp_path, "no column 'p'; it has 'xxx")


def test_near_matches_compare_few_and_short_names(monkeypatch):
    from supple import errors

    compared = []
    monkeypatch.setattr(errors, "_likeness", lambda given, known: compared.append((given, known)) or 0.0)
    assert near_matches("a" * 10_000, ("b" * 10_000 + str(i) for i in range(100_000))) == []
    assert len(compared) <= 2000
    assert max(len(a) + len(b) for a, b in compared) <= 200
