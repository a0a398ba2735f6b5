"""Damaged and foreign files are refused, with the place of the error."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest

from drives import ENDINGS, START, UR5, read_all
from supple import Solver
from supple.errors import BadInput
from supple.teleop.recording import Playback, Recorder, Recording
from supple.teleop.recording.replay import replay

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


READ_EACH = """
import struct, sys
from supple.errors import BadInput
from supple.teleop.recording import Recording

path, whole = sys.argv[1], open(sys.argv[1], "rb").read()
footer = len(whole) - 8 - struct.unpack("<I", whole[-8:-4])[0]
for at in range(footer, footer + 800):
    changed = bytearray(whole)
    changed[at] = changed[at] + 16 & 255
    open(path, "wb").write(changed)
    try:
        for _ in Recording(path).blocks():
            pass
    except BadInput:
        pass
"""


@pytest.mark.slow
def test_a_damaged_footer_of_a_parquet_file_does_not_end_the_process(tmp_path, kept):
    path = tmp_path / "damaged.parquet"
    path.write_bytes(kept[0]["parquet"].read_bytes())
    done = subprocess.run([sys.executable, "-c", READ_EACH, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_parquet_file_that_is_cut_short_is_refused(tmp_path, kept):
    whole = kept[0]["parquet"].read_bytes()
    path, rng = tmp_path / "cut.parquet", np.random.default_rng(0)
    for size in [0, 1, 3, 4, 20, *rng.integers(0, len(whole), 40), len(whole) - 9, len(whole) - 1]:
        path.write_bytes(whole[:size])
        with pytest.raises(BadInput, match=r"cut\."):
            read_all(path)


def check_cut_csv(path, whole, size):
    """Of a csv recording that is cut to ``size`` bytes the whole rows are read, with a warning if a row is cut."""
    path.write_bytes(whole[:size])
    lines = whole[:size].count(b"\n")
    if lines < 2:
        with pytest.raises(BadInput, match=r"cut\.csv"):
            read_all(path)
    elif whole[size - 1 : size] == b"\n":
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert read_all(path) == lines - 2
    else:
        with pytest.warns(UserWarning, match=f"cut short, .* the {lines - 2:,} whole rows before are read"):
            assert read_all(path) == lines - 2


@pytest.mark.slow
def test_every_row_before_the_cut_of_a_csv_recording_is_read(tmp_path, kept):
    whole, rng = kept[0]["csv"].read_bytes(), np.random.default_rng(0)
    ends = [k + 1 for k, byte in enumerate(whole) if byte == 10]
    for size in [0, 1, 3, 4, 20, *rng.integers(0, len(whole), 10), *ends[:3], ends[-1] - 1]:
        check_cut_csv(tmp_path / "cut.csv", whole, size)


@pytest.mark.gate
def test_every_cut_of_a_csv_recording(tmp_path, kept):
    whole = b"".join(kept[0]["csv"].read_bytes().splitlines(keepends=True)[:5])
    first = whole.index(b"\n")
    for size in [*range(0, first, 97), *range(first - 5, len(whole) + 1)]:
        check_cut_csv(tmp_path / "cut.csv", whole, size)


def test_a_cut_inside_a_character_or_a_quoted_text_is_a_cut(tmp_path, kept):
    lines = kept[0]["csv"].read_bytes().splitlines(keepends=True)[:4]
    path = tmp_path / "cut.csv"
    for end in ("\u00e4".encode()[:1], b'1,2,3,4,1,1,h,following,"a\n', b'1,2,"', b"\0" * 5000):
        path.write_bytes(b"".join(lines) + end)
        with pytest.warns(UserWarning, match="the 2 whole rows before are read"):
            assert read_all(path) == 2


def journal(path, ticks):
    """What a crash leaves of these ticks, four times in a row, each a batch."""
    recorder = Recorder(path, Solver().track(UR5, "tool0", START))
    for k in range(4):
        for tick in ticks:
            recorder._writer.add(tick._replace(t=tick.t + 10 * k), 0, "")
        recorder._writer.flush()
    whole = path.with_name(path.name + ".part").read_bytes()
    recorder.close()
    path.with_name(path.name + ".part").write_bytes(whole)
    return whole


def test_a_journal_that_is_cut_short_gives_a_whole_beginning(tmp_path, kept):
    _, ticks = kept
    whole = journal(tmp_path / "a.parquet", ticks)
    path, rng = tmp_path / "cut.parquet.part", np.random.default_rng(1)
    counts = set()
    for size in [*rng.integers(len(whole) // 50, len(whole), 40), len(whole)]:
        path.write_bytes(whole[:size])
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            counts.add(count := read_all(path))
        assert count <= 4 * len(ticks)
        if size < len(whole):
            assert any(f"the {count:,} whole rows before are read" in str(one.message) for one in said)
    assert 4 * len(ticks) in counts
    assert len(counts) > 3
    for size in (0, 5, 100):
        path.write_bytes(whole[:size])
        with pytest.raises(BadInput, match="not a whole journal"):
            Recording(path)


def test_a_parquet_file_without_its_end_points_to_the_journal(tmp_path, kept):
    (tmp_path / "a.parquet").write_bytes(kept[0]["parquet"].read_bytes()[:-100])
    (tmp_path / "a.parquet.part").write_bytes(b"")
    with pytest.raises(BadInput, match=r"the ticks recorded until then are in .*a\.parquet\.part"):
        Recording(tmp_path / "a.parquet")


@pytest.mark.slow
@pytest.mark.parametrize("ending", [*ENDINGS, "parquet.part"])
def test_damaged_bytes_are_refused_or_harmless_never_a_crash(tmp_path, kept, ending):
    files = kept[0] | {"parquet.part": tmp_path / "a.parquet.part"}
    if ending == "parquet.part":
        journal(tmp_path / "a.parquet", kept[1])
    whole = np.frombuffer(files[ending].read_bytes(), dtype=np.uint8)
    path, rng, refused = tmp_path / f"bad.{ending}", np.random.default_rng(2), 0
    for _ in range(60):
        damaged = whole.copy()
        until = len(whole) if rng.random() < 0.5 else len(whole) // 20  # the head is what can mislead
        damaged[rng.integers(0, until, rng.integers(1, 4))] ^= rng.integers(1, 255, dtype=np.uint8)
        path.write_bytes(damaged.tobytes())
        try:
            read_all(path)
        except BadInput:
            refused += 1
    assert refused > 10


def rewritten(path, files, change, metadata=True):
    """The Parquet file with a table that a function has changed."""
    table = parquet.read_table(files["parquet"])
    changed = change(table)
    parquet.write_table(changed.replace_schema_metadata(table.schema.metadata if metadata else None), path)
    return path


def put(table, name, row, value):
    column = table.column(name).to_pylist()
    column[row] = value
    kind = table.schema.field(name).type
    return table.set_column(table.column_names.index(name), name, pa.array(column, type=kind))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.drop_columns(["q.elbow_joint"]), "column .* is 'q.wrist_1_joint'; it should be 'q.elbow_joint'"),
        (lambda t: t.drop_columns([t.column_names[-1]]), "expected .* columns, got .*: there is no 'wanted.tool0'"),
        (
            lambda t: t.append_column("more", pa.array([1] * len(t))),
            "expected 80 columns, got 81: there is also 'more'",
        ),
        (lambda t: t.rename_columns(["Number", *t.column_names[1:]]), "column 1 is 'Number'; it should be 'number'"),
        (
            lambda t: t.set_column(0, "number", t.column("number").cast(pa.float64())),
            "column 'number' must be int64, not double",
        ),
        (
            lambda t: put(t, "q.elbow_joint", 17, float("nan")),
            "row 17, column 'q.elbow_joint': must be finite, got nan",
        ),
        (lambda t: put(t, "dt", 5, float("inf")), "row 5, column 'dt': must be finite, got inf"),
        (lambda t: put(t, "error.tool0.z", 3, float("-inf")), "row 3, column 'error.tool0.z': must be finite"),
        (
            lambda t: put(t, "velocity.elbow_joint", 8, None),
            "row 8, column 'velocity.elbow_joint': the value is missing",
        ),
        (lambda t: put(t, "outcome", 4, "flying"), "row 4, column 'outcome': 'flying' is none of following"),
        (lambda t: put(t, "hands", 4, "hx"), "row 4, column 'hands'"),
        (lambda t: put(t, "t", 9, 0.001), "row 9, column 't': time must not go back"),
    ],
)
def test_a_wrong_column_or_row_is_named(tmp_path, kept, change, said):
    path = rewritten(tmp_path / "bad.parquet", kept[0], change)
    with pytest.raises(BadInput, match=f"bad.parquet: {said}"):
        read_all(path)


@pytest.mark.parametrize(
    ("column", "word", "said"),
    [
        ("q.elbow_joint", "nan", r"row 3, column 'q.elbow_joint': must be finite, got nan"),
        ("q.elbow_joint", "", r"row 3, column 'q.elbow_joint': must be finite, got nan"),
        ("q.elbow_joint", "1,5", r"bad.csv:6: expected .* values, one for each column; got"),
        ("q.elbow_joint", "x" * 99, r"bad.csv:6: column 'q.elbow_joint': expected a number, got 'x{40}'"),
        ("number", "1.5", r"bad.csv:6: column 'number': expected a number, got '1.5'"),
        ("lost", "9" * 30, r"bad.csv:6: column 'lost': expected a number"),
        ("outcome", '"', r"bad.csv:\d+: (not a csv table|this line is cut|expected)"),
    ],
)
def test_a_wrong_word_of_a_table_is_named(tmp_path, kept, column, word, said):
    lines = kept[0]["csv"].read_text().split("\n")
    names, words = lines[1].split(","), lines[5].split(",")
    words[names.index(column)] = word
    lines[5] = ",".join(words)
    path = tmp_path / "bad.csv"
    path.write_text("\n".join(lines))
    with pytest.raises(BadInput, match=said):
        read_all(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b""),
        ("a.csv", b"time,q\n1,2\n"),
        ("a.csv", b"# supple recording {\n"),
        ("a.csv", b"# supple recording []\n"),
        ("a.csv", b'# supple recording {"format": 4}\n'),
        ("a.csv", b"# supple recording " + b"[" * 100_000 + b"\n"),
        ("a.csv", b"# supple recording " + b"x" * (1 << 23)),
        ("a.csv", b"\xff\xfe\x00"),
        ("a.parquet", b""),
        ("a.parquet", b"PAR1" + b"\0" * 100 + b"PAR1"),
        ("a.parquet.part", b"ARROW1\0\0"),
        ("a.npz", b"PK"),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"a\."):
        Recording(path)


def test_a_parquet_file_of_something_else_is_refused(tmp_path, kept):
    with pytest.raises(BadInput, match="its schema has no metadata 'supple'"):
        Recording(rewritten(tmp_path / "a.parquet", kept[0], lambda table: table, metadata=False))


def test_a_file_that_is_not_there_is_named(tmp_path):
    for ending in (*ENDINGS, "parquet.part"):
        with pytest.raises(FileNotFoundError, match="nowhere"):
            Recording(tmp_path / f"nowhere.{ending}")


def about_changed(path, tmp_path, change):
    lines = path.read_text().split("\n", 1)
    said = json.loads(lines[0].removeprefix("# supple recording "))
    change(said)
    bad = tmp_path / "bad.csv"
    bad.write_text("# supple recording " + json.dumps(said) + "\n" + lines[1])
    return bad


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda a: a.pop("linkage"), "there is no 'linkage'"),
        (lambda a: a.update(format=4), "its format is 4; this version of supple reads 1 to 3"),
        (lambda a: a.update(start=[0.0]), "do not fit its linkage"),
        (lambda a: a.update(start=[float("nan")] * 6), "start is not finite"),
        (lambda a: a.update(names=["a"]), "do not fit its linkage"),
        (lambda a: a.update(links=[]), "it has no links"),
        (lambda a: a.update(links=None), "not a recording"),
        (lambda a: a.update(links=[f"a{k:x}" for k in range(60_000)]), "it drives 60,000 links; at most 1,000"),
        (lambda a: a.update(links=["tool0", "hand"]), "its linkage has no link 'hand'"),
        (lambda a: a.update(rate=0), "its rate must be a positive number"),
        (lambda a: a.update(rate=float("nan")), "its rate must be a positive number"),
        (lambda a: a.update(rate=-3), "its rate must be a positive number"),
        (lambda a: a.update(version="\x1b]0;x\x07"), "its version has control characters"),
        (lambda a: a["tracker"].update(solver_text="\x1b[2J"), "the text of its solver has control characters"),
        (lambda a: a.update(tracker=3), "not a recording"),
        (lambda a: a["linkage"]["joints"].append(a["linkage"]["joints"][0]), "not a recording"),
        (lambda a: a["linkage"]["joints"][1].update(axis=[0, 0, 0]), "must not be zero"),
        (lambda a: a["linkage"]["joints"][0].update(location=[[1]]), "not a recording"),
        (lambda a: a["linkage"]["joints"][0].update(kind="hinge"), "not a recording"),
    ],
)
def test_a_recording_that_contradicts_itself_is_refused(tmp_path, kept, change, said):
    with pytest.raises(BadInput, match=f"bad.csv: not a recording: .*{said}|bad.csv: {said}"):
        Recording(about_changed(kept[0]["csv"], tmp_path, change))


def test_a_recording_without_ticks_can_be_opened_and_has_nothing_to_replay(tmp_path):
    for ending in ENDINGS:
        with Recorder(tmp_path / f"a.{ending}", Solver().track(UR5, "tool0")) as recorder:
            pass
        assert read_all(recorder.path) == 0
        for use in (replay, Playback, lambda path: Recording(path).rows()):
            with pytest.raises(BadInput, match="no tick"):
                use(recorder.path)


def repeated(path, kept, rows, how=""):
    """A Parquet recording of one row, repeated."""
    table = parquet.read_table(kept[0]["parquet"]).slice(0, 1)
    column = table.schema.get_field_index("how")
    table = table.set_column(column, table.schema.field("how"), pa.array([how]))
    table = pa.concat_tables([table] * rows).combine_chunks() if rows > 1 else table
    parquet.write_table(table, path, use_dictionary=True, compression="zstd")
    return path


def test_a_long_text_that_is_repeated_is_kept_once(tmp_path, kept):
    file = repeated(tmp_path / "a.parquet", kept, 30, "x" * 2_000_000)
    assert file.stat().st_size < 1_000_000
    (block,) = Recording(file).blocks()
    assert len({id(text) for text in block.new_tracker}) == 1
    file = repeated(tmp_path / "b.parquet", kept, 1, "x" * 70_000_000)
    with pytest.raises(BadInput, match=r"column 'how': 70,\d+,\d+ bytes of texts; at most 67,108,864 in a block"):
        read_all(file)


def test_a_row_group_that_unpacks_to_too_much_is_refused(tmp_path, kept, monkeypatch):
    from supple.teleop.recording import reader

    monkeypatch.setattr(reader, "_MAX_UNPACKED", 1000)
    with pytest.raises(BadInput, match=r"row group 0 unpacks to [\d,]+ bytes; at most 1,000"):
        read_all(kept[0]["parquet"])


def forged(path, text, encoding=None):
    """A Parquet recording of 64 rows with different long texts, whose index declares a row group of 1,000 bytes."""
    table = parquet.read_table(path).slice(0, 1).take([0] * 64)
    column = table.schema.get_field_index("why")
    table = table.set_column(column, table.schema.field("why"), pa.array([text + str(k) for k in range(64)]))
    options = {"use_dictionary": ["why"], "dictionary_pagesize_limit": 1 << 30}
    if encoding:
        options = {"use_dictionary": False, "column_encoding": {"why": encoding}}
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd", **options)
    data = sink.getvalue().to_pybytes()
    size = parquet.ParquetFile(pa.BufferReader(data)).metadata.row_group(0).total_byte_size
    at = data.rindex(zigzag(size))
    return data[:at] + zigzag(1000, len(zigzag(size))) + data[at + len(zigzag(size)) :]


def zigzag(value, length=0):
    """A number as Thrift writes it, in at least ``length`` bytes."""
    value, out = 2 * value, []
    while value > 127 or len(out) + 1 < length:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def test_a_forged_size_of_a_row_group_is_not_believed(tmp_path, kept, monkeypatch):
    from supple.teleop.recording import reader

    monkeypatch.setattr(reader, "_MAX_UNPACKED", 1 << 24)
    file = tmp_path / "a.parquet"
    file.write_bytes(forged(kept[0]["parquet"], "x" * (1 << 19)))
    assert file.stat().st_size < 300_000
    assert parquet.ParquetFile(file).metadata.row_group(0).total_byte_size == 1000
    with pytest.raises(BadInput, match=r"row group 0 unpacks to 33,[\d,]+ bytes; at most 16,777,216"):
        read_all(file)
    file.write_bytes(forged(kept[0]["parquet"], "x" * (1 << 19), "DELTA_BYTE_ARRAY"))
    with pytest.raises(BadInput, match="an encoding that supple does not write"):
        read_all(file)


def test_more_rows_than_the_memory_holds_are_refused(kept, monkeypatch):
    from supple.teleop.recording import recording

    monkeypatch.setattr(recording, "_MAX_MEMORY", 100_000)
    with pytest.raises(BadInput, match=r"its rows need more than 0 GiB; use blocks\(\)"):
        Recording(kept[0]["parquet"]).rows()


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_a_compressed_journal_is_refused(tmp_path, kept, codec):
    table = parquet.read_table(kept[0]["parquet"])
    file = tmp_path / "a.parquet.part"
    with (
        pa.OSFile(str(file), "wb") as binary,
        pa.ipc.new_stream(binary, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as stream,
    ):
        stream.write_table(table)
    with pytest.raises(BadInput, match="batch 0: it is compressed"):
        read_all(file)
