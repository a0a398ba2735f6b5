"""The metadata of a recording: every field is written, and recordings of format 1 stay readable."""

import inspect
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from drives import DATA, ENDINGS, NAMES, RATE, START, UR5, bare, drive
from supple import Frame, Goal, Solver, Tolerance, damping, method, prefer
from supple.errors import BadInput
from supple.teleop.methods import named
from supple.teleop.recording import Recording, format1, metadata, reader
from supple.teleop.recording.format1 import solver_to_dict
from supple.teleop.recording.replay import replay

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


BEND = damping.Singularity.bend("elbow_joint", (0.0, 3.0), joints=("wrist_1_joint",), weight=0.3)


@pytest.mark.parametrize(
    "solver",
    [
        Solver(),
        Solver(
            method=method.damped(),
            damping=0.1 + 0.2,
            max_iterations=7,
            tolerance=Tolerance(1e-3, 0.1 / 3),
            keep_limits=False,
        ),
        Solver(
            method=method.damped(),
            damping=damping.schinstock([BEND], alpha0=damping.condition_bound(1e4), as_printed=True),
        ),
        Solver(
            method=method.damped(),
            damping=damping.mayorga() | damping.chan_lawrence(0.3) | damping.kelmar_khosla() | damping.none,
        ),
        Solver(
            method=method.damped(),
            damping=damping.singularities(damping.Singularity.off_axis("a", "b", [1, 2, 3], 0.1, region=0.2)),
        ),
        Solver(prefer=prefer.rest([0.1, -0.2], [0.3, 0.4]) + prefer.away([1.0]) + prefer.centre(0.2)),
        Solver(method=method.coordinate_descent(method.Rank.LEAST_RECENT), max_step=float("inf")),
        *(Solver(method=method.get(name)) for name in method.names()),
        *map(named, NAMES),
    ],
)
def test_a_solver_is_read_from_the_text_that_format_1_held(solver):
    assert Solver.from_dict(solver_to_dict(repr(solver))) == solver


@pytest.mark.parametrize(
    ("words", "solver"),
    [
        (
            "Solver(method=method.descent(method.Rank.MOST_ROOM), iterations=7, longest=0.5, shorten=0.5, escapes=0)",
            Solver(
                method=method.coordinate_descent(method.Rank.MOST_ROOM),
                max_iterations=7,
                max_step=0.5,
                step_scale=0.5,
                limit_escapes=0,
            ),
        ),
        (
            "Solver(damping=damping.conditioning() | damping.error(alpha0=0.3) | damping.falling(below=0.9))",
            Solver(
                method=method.damped(),
                damping=damping.mayorga() | damping.chan_lawrence(0.3) | damping.kelmar_khosla(below=0.9),
            ),
        ),
        (
            "Solver(damping=damping.manipulability(below=0.2))",
            Solver(method=method.damped(), damping=damping.nakamura_hanafusa(below=0.2)),
        ),
        ("Solver(weights=(1.0, 0.5), microseconds=50)", Solver(joint_weights=[1, 0.5], timeout=50e-6)),
        ("Solver(method=method.pulled())", Solver(method=method.alternative_jacobian())),
        ("Solver(method=method.selective())", Solver(method=method.selectively_damped())),
    ],
)
def test_a_solver_is_read_from_a_text_with_old_names(words, solver):
    assert Solver.from_dict(solver_to_dict(words)) == solver


def test_a_default_that_changes_later_does_not_change_an_old_solver():
    data = solver_to_dict("Solver(damping=damping.limits() | damping.manipulability())")
    assert data["patience"] == 15
    assert data["max_iterations"] == {"default": 200}
    assert solver_to_dict("Solver(method=method.damped())")["damping"] == {"default": 1e-4}
    for name, defaults in format1._DEFAULTS.items():
        if name not in ("Solver", "Tolerance"):
            parameters = inspect.signature(format1._FUNCTIONS[name]).parameters.values()
            optional = {one.name for one in parameters if one.default is not one.empty}
            assert optional == set(defaults), name  # every default of that time is written down


@pytest.mark.parametrize(
    "words",
    [
        "",
        "Solver(",
        "__import__('os').system('true')",
        "Solver(damping=damping.function(print))",
        "Solver(method=method.damped().__class__)",
        "Solver(max_iterations=10**9)",
        "Solver(damping=(lambda: 1)())",
        "damping.schinstock()",
        "Solver(damping=-1)",
        "-" * 5000 + "1",
        "Solver(prefer=" + "(" * 3000,
        repr(Solver(method=method.damped(), damping=lambda q, e, J, dt: 0.1)),
    ],
)
def test_no_other_text_is_a_solver_and_nothing_of_it_is_run(words):
    assert solver_to_dict(words) is None


def test_a_recording_by_a_function_wants_a_solver_and_then_replays(tmp_path):
    def scheme(q, e, J, dt):
        return 0.01

    own = Solver(method=method.damped(), damping=scheme)
    _, recorder = drive(tmp_path / "a.csv", own.track(UR5, "tool0", START), 0.3)
    with pytest.raises(
        BadInput, match=r"give one: Solver\(method=method.damped\(\), damping=damping.function\(scheme\)\)"
    ):
        replay(recorder.path)
    assert replay(recorder.path, own).identical


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_recording_of_format_1_replays(ending):
    path = DATA / f"recording-format-1.{ending}"
    words = [sys.executable, "-m", "supple", "replay", str(path), "--json"]
    done = subprocess.run(words, env={**os.environ, "SUPPLE_ISA": "baseline"}, capture_output=True, text=True)
    said = json.loads(done.stdout)
    assert said["ticks"] == 107
    first, raw, last = said["recorded"]["solver"].split(", then ")
    assert (first, raw) == ("Solver()", "Solver(method=method.pseudoinverse(), keep_limits=False)")
    assert "damping.nakamura_hanafusa(below=0.2)" in last
    assert "limit_escapes=1" in last
    assert not said["identical"]  # the tracking law has changed since it was recorded
    assert max(said["largest"]) < 0.3


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_recording_of_format_1_has_the_same_commands_and_linkage(ending):
    recording = Recording(DATA / f"recording-format-1.{ending}")
    assert recording.linkage == bare(UR5)
    rows = recording.rows()
    assert {bool(one) for one in rows.engaged} == {True, False}
    fresh = [rows.command(k) for k in range(len(rows)) if rows.fresh[k]]
    assert [one.sequence for one in fresh] == sorted({*range(90)} - {55, 56, 57})


def test_every_field_of_linkage_and_solver_is_written(kept):
    data = reader.metadata(kept[0]["csv"])
    assert data["format"] == 3
    assert data["linkage"] == UR5.to_dict(geometry=False)
    assert data["tracker"]["solver"] == Solver().to_dict()
    assert set(data["tracker"]["solver"]) == {"format", "version", *Solver.__dataclass_fields__}
    assert set(data["tracker"]["goals"][0]) == {name for name in Goal.__slots__ if name[0] != "_"} - {"direction"}


@pytest.mark.parametrize(
    "options",
    [
        {"frame": Frame(), "relative_to": "base_link"},
        {"axis": [0, 0, 1], "direction": [1, 0, 0], "turn_slack": 0.2},
        {"axis": [0, 0, 1], "look_at": [1, 0, 0], "point": [0, 0, 0.1]},
        {"position": [1, 0, 0], "distance": 0.3, "slack": 0.1},
        {"position": [1, 0, 0], "line": [0, 0, 1], "orientation": Frame()},
    ],
)
def test_goals_of_every_kind_come_back(options):
    goal = Goal("tool0", **options)
    assert_comes_back(goal)


def test_a_goal_for_the_centre_of_mass_comes_back():
    assert_comes_back(Goal.center_of_mass([0, 0, 1], weight=(1, 1, 0), slack=0.1))
    assert_comes_back(Goal.center_of_mass([0, 0, 1], line=[0, 0, 1], distance=0.1))


def assert_comes_back(goal):
    again = metadata._goal_from_dict(json.loads(json.dumps(metadata._goal_to_dict(goal))))
    for name in ("link", "is_center_of_mass", "relative_to", "distance", "slack", "turn_slack", "weight", "_surface"):
        assert getattr(again, name) == getattr(goal, name)
    assert again._rows(1.0) == goal._rows(1.0)
    assert again._slacks() == goal._slacks()


def test_a_recording_says_what_it_is_of(kept):
    files, _ = kept
    for path in files.values():
        said = Recording(path)
        assert said.linkage == bare(UR5)
        assert (said.links, said.solver, said.rate) == (("tool0",), "Solver()", RATE)
        assert np.array_equal(said.start, START)
        assert said.acceleration.tolist() == [15.0] * 6
        assert "ur5, tool0, Solver()" in repr(said)
    assert parquet.read_table(files["parquet"]).column_names[0] == "number"  # any tool reads it
