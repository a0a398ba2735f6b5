"""Laws of goals and answers on disk: what is read, what is refused and where, and what is written."""

import io
import zipfile

import numpy as np
import pytest

from supple import Frame, Goal
from supple.errors import BadInput
from supple.read import goal_file
from supple.write import solution_file

RNG = np.random.default_rng(0)
PLACES = RNG.normal(size=(20, 3))
TURNS = Frame.rotvec(RNG.normal(size=(20, 3)))
WHOLE = Frame.at(PLACES, TURNS)


def table(path, columns, rows):
    """A .csv in which every number reads back as itself."""
    lines = [",".join(columns), *(",".join(map(repr, map(float, row))) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def same(goal, other):
    assert goal.link == other.link
    assert goal.shape == other.shape == (20,)
    assert np.allclose(goal._encoded((20,)), other._encoded((20,)), rtol=0, atol=1e-14)
    assert goal._rows(1) == other._rows(1)


# -- reading ----------------------------------------------------------------------------------------------------


def test_every_way_to_write_goals_means_the_same(tmp_path):
    wanted = Goal("hand", WHOLE)
    rpy, quaternion = TURNS.to_fixed("xyz"), 2.5 * TURNS.to_quaternion()  # of any length
    turned = table(tmp_path / "a.csv", ["x", "y", "z", "roll", "pitch", "yaw"], np.hstack([PLACES, rpy]))
    same(goal_file.read(turned, "hand"), wanted)
    mixed = table(
        tmp_path / "b.CSV",
        ["qz", "y", " X", "qw", "z", "qx", "qy"],
        np.column_stack(
            [quaternion[:, 3], PLACES[:, 1], PLACES[:, 0], quaternion[:, 0], PLACES[:, 2], quaternion[:, 1:3]]
        ),
    )
    same(goal_file.read(mixed, "hand"), wanted)
    degrees = table(tmp_path / "c.csv", ["x", "y", "z", "roll", "pitch", "yaw"], np.hstack([PLACES, np.degrees(rpy)]))
    same(goal_file.read(degrees, "hand", degrees=True), wanted)
    for i, arrays in enumerate(
        ({"frames": WHOLE.matrix}, {"position": PLACES, "quaternion": quaternion}, {"position": PLACES, "rpy": rpy})
    ):
        np.savez(tmp_path / f"{i}.npz", **arrays, more=np.zeros(3))
        same(goal_file.read(tmp_path / f"{i}.npz", "hand"), wanted)


def test_a_part_alone_is_a_goal(tmp_path):
    places = table(tmp_path / "a.csv", ["x", "y", "z"], PLACES)
    same(goal_file.read(places, "hand"), Goal("hand", position=PLACES))
    turns = table(tmp_path / "b.csv", ["qw", "qx", "qy", "qz"], TURNS.to_quaternion())
    same(goal_file.read(turns, "hand"), Goal("hand", orientation=TURNS))
    aims = table(tmp_path / "c.csv", ["ax", "ay", "az"], PLACES)
    same(goal_file.read(aims, "hand", axis=(0, 0, 1)), Goal("hand", axis=(0, 0, 1), direction=PLACES))
    np.savez(tmp_path / "d.npz", direction=PLACES, position=2 * PLACES)
    both = Goal("hand", position=2 * PLACES, axis=(0, 1, 0), direction=PLACES)
    same(goal_file.read(tmp_path / "d.npz", "hand", axis=(0, 1, 0)), both)


def test_whole_numbers_blank_lines_and_a_mark_of_byte_order_are_read(tmp_path):
    path = tmp_path / "goals.csv"
    path.write_bytes(b"\xef\xbb\xbfx,y,z\r\n1,2,3\r\n\r\n +4e0, .5 ,-6.\r\n")
    assert goal_file.read(path, "hand").position.tolist() == [[1, 2, 3], [4, 0.5, -6]]
    np.savez(tmp_path / "goals.npz", position=np.array([[1, 2, 3]]))
    assert goal_file.read(tmp_path / "goals.npz", "hand").position.tolist() == [[1, 2, 3]]


def test_a_dash_reads_a_table_from_the_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("x,y,z\n1,2,3\n"))
    assert goal_file.read("-", "hand").position.tolist() == [[1, 2, 3]]
    monkeypatch.setattr("sys.stdin", io.StringIO("x,y,z\n1,2,up\n"))
    with pytest.raises(BadInput, match=r"standard input:2: column 3, z: .* got 'up'"):
        goal_file.read("-", "hand")


def test_rows_that_are_not_finite_are_kept_for_the_solver(tmp_path):
    path = tmp_path / "goals.csv"
    path.write_text("x,y,z,qw,qx,qy,qz\n1,2,3,1,0,0,0\n1,nan,3,1,0,0,0\n1,2,3,inf,0,0,0\n")
    rows = goal_file.read(path, "hand")._encoded((3,))
    assert np.isfinite(rows).all(axis=1).tolist() == [True, False, False]
    frames = np.array(WHOLE.matrix)
    frames[7] = np.nan
    np.savez(tmp_path / "goals.npz", frames=frames)
    rows = goal_file.read(tmp_path / "goals.npz", "hand")._encoded((20,))
    assert np.flatnonzero(~np.isfinite(rows).all(axis=1)).tolist() == [7]


# -- refusing ---------------------------------------------------------------------------------------------------

BAD_TABLES = {
    "": "goals.csv:1: the first line names the columns: x, y, z, roll",
    "x,y,z\n": "goals.csv: there is no line of numbers under the names",
    "1,2,3\n": "goals.csv:1: column 1: no column named '1'; known: 'x', 'y', 'z', 'roll'",
    "x,y,z,rol,pitch,yaw\n": "goals.csv:1: column 4: no column named 'rol'; did you mean 'roll'?",
    "x,y,z,x\n1,2,3,4\n": "goals.csv:1: column 4: 'x' is there twice",
    "x,y\n1,2\n": "goals.csv:1: column 'z' is missing: x, y, z go together",
    "x,y,z,qw,qx,qz\n": "goals.csv:1: column 'qy' is missing: qw, qx, qy, qz go together",
    "x,y,z\n1,2,3\n1,2\n": "goals.csv:3: expected 3 numbers, x, y, z; got 2",
    "x,y,z\n1,2,3\n\n1,2,3,4\n": "goals.csv:4: expected 3 numbers, x, y, z; got 4",
    "x,y,z\n1,two,3\n": "goals.csv:2: column 2, y: expected a number written like 0.5, got 'two'",
    "x,y,z\n1,2,\n": "goals.csv:2: column 3, z: expected a number written like 0.5, got ''",
    "x,y,z\n1_0,2,3\n": "goals.csv:2: column 1, x: expected a number written like 0.5, got '1_0'",
    'x,y,z\n1,"2,3\n': "goals.csv:2: not a table of numbers between commas",
    "roll,pitch,yaw,qw,qx,qy,qz\n0,0,0,1,0,0,0\n": "goals.csv: a goal has one orientation, but there are several",
    "ax,ay,az\n1,0,0\n": "goals.csv: directions need an axis of the link",
    "qw,qx,qy,qz\n1,0,0,0\n\n0,0,0,0\n1,0,0,0\n": "goals.csv:4: quaternion must not be zero",
    "x,y,z\n" + "1" * 20_000: "goals.csv:2: a line of more than 10,000 characters",
}


@pytest.mark.parametrize("text", BAD_TABLES, ids=range(len(BAD_TABLES)))
def test_what_is_wrong_in_a_table_is_named_by_file_line_and_column(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "goals.csv").write_text(text)
    with pytest.raises(BadInput) as refused:
        goal_file.read("goals.csv", "hand")
    assert str(refused.value).startswith(BAD_TABLES[text])


def bent(k):
    frames = np.array(WHOLE.matrix)
    frames[k:, 0, 0] += 0.5
    return frames


BAD_ARRAYS = {
    "goals.npz: there are no goals in it; it should hold frames (n, 4, 4), position (n, 3)": {"places": PLACES},
    "goals.npz: frames hold position and orientation, but there is also position": {
        "frames": WHOLE.matrix,
        "position": PLACES,
    },
    "goals.npz: position must be numbers, not <U1": {"position": np.array([["a", "b", "c"]])},
    "goals.npz: not an archive of plain arrays": {"position": np.array([None])},
    "got position (2,)": {"position": np.zeros(2)},
    "got position ()": {"position": np.array(1.0)},
    "as many of each and at least one; got position (0, 3)": {"position": np.zeros((0, 3))},
    "got position (20, 3), quaternion (19, 4)": {"position": PLACES, "quaternion": TURNS.to_quaternion()[1:]},
    "goals.npz: a goal has one orientation, but there are several": {"rpy": PLACES, "quaternion": np.ones((20, 4))},
    "goals.npz: goal 1: the rotation of a frame must be orthonormal": {"frames": bent(0)},
    "goals.npz: goal 14: the rotation of a frame must be orthonormal": {"frames": bent(13)},
    "goals.npz: goal 20: the rotation of a frame must be orthonormal": {"frames": bent(19)},
    "goals.npz: goal 3: quaternion must not be zero": {"quaternion": np.arange(20)[:, None] * np.ones(4) - 2},
}


@pytest.mark.parametrize("reason", BAD_ARRAYS)
def test_what_is_wrong_in_arrays_is_named_by_file_and_row(tmp_path, monkeypatch, reason):
    monkeypatch.chdir(tmp_path)
    np.savez("goals.npz", **BAD_ARRAYS[reason])
    with pytest.raises(BadInput) as refused:
        goal_file.read("goals.npz", "hand")
    assert reason in str(refused.value)


def test_an_axis_and_its_directions_go_together(tmp_path):
    places = table(tmp_path / "a.csv", ["x", "y", "z"], PLACES)
    with pytest.raises(BadInput, match=r"a\.csv: an axis needs directions to point along: ax, ay, az"):
        goal_file.read(places, "hand", axis=(0, 0, 1))
    aims = table(tmp_path / "b.csv", ["ax", "ay", "az"], [[1, 0, 0], [0, 0, 0]])
    with pytest.raises(BadInput, match=r"b\.csv:3: direction must not be zero"):
        goal_file.read(aims, "hand", axis=(0, 0, 1))
    with pytest.raises(BadInput, match=r"^axis must not be zero"):
        goal_file.read(aims, "hand", axis=(0, 0, 0))


def test_other_files_are_refused(tmp_path):
    with pytest.raises(BadInput, match=r"goals are read from a file that ends in \.csv or \.npz, not 'goals\.txt'"):
        goal_file.read("goals.txt", "hand")
    with pytest.raises(FileNotFoundError):
        goal_file.read(tmp_path / "none.csv", "hand")
    for damaged in (b"", b"no archive", b"PK\x03\x04" + b"\x00" * 100):
        (tmp_path / "bad.npz").write_bytes(damaged)
        with pytest.raises(BadInput, match="not an archive of plain arrays"):
            goal_file.read(tmp_path / "bad.npz", "hand")
    (tmp_path / "bad.csv").write_bytes(b"x,y,z\n\xff\xfe,1,2\n")
    with pytest.raises(BadInput, match="not a table of numbers between commas"):
        goal_file.read(tmp_path / "bad.csv", "hand")


def test_too_many_goals_are_refused_before_they_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(goal_file, "MOST", 100)
    rows = np.ones((101, 3))
    with pytest.raises(BadInput, match=r"a\.csv:102: more than 100 goals"):
        goal_file.read(table(tmp_path / "a.csv", ["x", "y", "z"], rows), "hand")
    assert goal_file.read(table(tmp_path / "b.csv", ["x", "y", "z"], rows[1:]), "hand").shape == (100,)
    with zipfile.ZipFile(tmp_path / "c.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("position.npy", b"\x00" * 1_000_000)  # small as it lies there, large once unpacked
    with pytest.raises(BadInput, match=r"c\.npz: position holds more than 100 goals"):
        goal_file.read(tmp_path / "c.npz", "hand")


# -- writing ----------------------------------------------------------------------------------------------------


def test_answers_are_written_to_the_last_digit(tmp_path):
    names, q = ("joint 1", "joint,2"), RNG.normal(size=(4, 2))
    columns = {"goal": np.arange(1, 5), "outcome": np.array(["arrived", "stuck"] * 2), "distance": RNG.random(4)}
    solution_file.write(tmp_path / "a.csv", names, columns, q)
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines[0] == 'goal,outcome,distance,joint 1,"joint,2"'
    for i, line in enumerate(lines[1:]):
        words = line.split(",")
        assert words[:2] == [str(i + 1), ["arrived", "stuck"][i % 2]]
        assert [float(word) for word in words[2:]] == [columns["distance"][i], *q[i]]
    solution_file.write(tmp_path / "a.NPZ", names, columns, q)
    with np.load(tmp_path / "a.NPZ") as held:
        assert sorted(held) == ["distance", "goal", "names", "outcome", "q"]
        assert np.array_equal(held["q"], q)
        assert held["names"].tolist() == list(names)
        assert held["outcome"].tolist() == ["arrived", "stuck"] * 2
    with pytest.raises(BadInput, match=r"solutions are written to a file that ends in \.csv or \.npz, not 'a\.txt'"):
        solution_file.write("a.txt", names, columns, q)
