"""Recording, reading and replaying a drive: to the last bit, whatever happens to the disk or the file."""

import csv
import inspect
import json
import os
import platform
import subprocess
import sys
import threading
import time
import warnings
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from supple import Frame, Goal, Linkage, Solver, Tolerance, damping, method, models, prefer
from supple.cli import app
from supple.errors import BadInput, UnknownName
from supple.link import Link
from supple.step import TrackingStatus
from supple.teleop import Command, Loop, Mapping, tee
from supple.teleop.methods import named
from supple.teleop.recording import Playback, Recorder, Recording, format1, reader
from supple.teleop.recording import recorder as recorder_module
from supple.teleop.recording.format1 import solver_to_dict
from supple.teleop.recording.replay import replay

pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

RATE = 300
UR5, BAXTER, PANDA, SO101 = models.ur5(), models.baxter(), models.panda(), models.so101()
HERE = Path(__file__).parent
DATA = HERE.parent / "data"
START = np.array([0.0, -1.2, 1.5, -1.0, -1.2, 0.3])
SIDES = {"s0": 0.3, "s1": -0.6, "e0": 0.2, "e1": 1.5, "w0": 0.1, "w1": 0.8, "w2": 0.2}
BOTH = BAXTER.q({f"{side}_{name}": value for side in ("left", "right") for name, value in SIDES.items()})
ENDINGS = ("parquet", "csv")
NAMES = ("supple", "paper", "damped", "pseudoinverse")


class Simulated:
    """A clock that takes no time, and now and then wakes late."""

    def __init__(self, seed=None):
        self.time, self.late = 0.0, np.random.default_rng(seed) if seed is not None else None

    def now(self):
        return self.time

    def wait(self, until):
        self.time = max(self.time, until)
        if self.late is not None and self.late.random() < 0.02:
            self.time += self.late.exponential(0.01)


def operator(clock, seconds, seed=0, hands=1, rough=True):
    """What a person may do: move, turn, let go, take hold elsewhere; if rough also fall silent, jump and go mad."""
    rng = np.random.default_rng(seed)
    places, turns = np.zeros((hands, 3)), np.zeros((hands, 3))
    ways, spins, engaged, silent = rng.normal(size=(hands, 3)), rng.normal(size=(hands, 3)), True, 0
    for k in range(round(seconds * RATE)):
        if rng.random() < 0.02:
            ways, spins = rng.normal(size=(2, hands, 3))
        if rng.random() < 0.005:
            engaged = not engaged
        if rough and rng.random() < 0.002:
            places = places + 0.5 * rng.normal(size=(hands, 3))
        if rough and rng.random() < 0.002:
            silent = int(rng.integers(1, 200))
        places, turns = places + 0.3 * ways / RATE, turns + 1.0 * spins / RATE
        silent = max(silent - 1, 0)
        odd = rng.random() if rough else 1.0
        if silent or odd < 0.1:
            yield None
        elif odd < 0.102:
            yield Command(hands=[np.full((4, 4), np.nan)] * hands, stamp=clock.now())
        elif odd < 0.11:
            yield Command(stamp=clock.now())
        else:
            held = [Frame.at(p, Frame.rotvec(r)) for p, r in zip(places, turns, strict=True)]
            if hands > 1 and odd < 0.2:
                held[1] = None
            stamp = clock.now() - (0.002 * rng.random() if rough else 0.0)
            yield Command(engaged=engaged, stamp=stamp, sequence=k, buttons=k % 3, hands=held)


def drive(path, tracker, seconds=3.0, seed=0, hands=1, rough=True, at=None, measured=None, late=0, **options):
    """Records a drive in no time; returns its ticks as they were, and what the recorder says."""
    recorder, ticks = Recorder(path, tracker, RATE, **options), []
    clock = Simulated(late)
    source = operator(clock, seconds, seed, hands, rough)
    mapping = [Mapping() for _ in range(hands)]

    def keep(tick):
        ticks.append(tick)
        if at is not None and tick.number in at:
            at[tick.number](loop)

    loop = Loop(source, mapping, tracker, tee(keep, recorder), RATE, clock=clock, measured=measured)
    loop.run()
    return ticks, recorder


def shaken(rng):
    """A real arm that is a little beside; sometimes it cannot be read."""
    last = {}

    def felt():
        return None if not last or rng.random() < 0.1 else last["q"] + 0.01 * rng.normal(size=last["q"].shape)

    return last, felt


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A drive of the UR5 in both kinds of files, and its ticks."""
    folder = tmp_path_factory.mktemp("kept")
    both = {}
    for ending in ENDINGS:
        ticks, recorder = drive(folder / f"drive.{ending}", Solver().track(UR5, "tool0", START), late=1)
        both[ending] = recorder.path
    return both, ticks


def bits(array):
    return np.ascontiguousarray(array, dtype=float).view(np.int64)


# -- bit for bit ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
def test_twenty_seconds_of_rough_driving_replay_bit_for_bit(tmp_path, ending):
    ticks, recorder = drive(tmp_path / f"a.{ending}", Solver().track(UR5, "tool0", START), 20.0, seed=3, late=4)
    found = replay(recorder.path)
    assert found.identical
    assert (found.first, found.lost, recorder.lost, found.ticks) == (None, 0, 0, len(ticks))
    assert len({tick.dt for tick in ticks}) > 1  # ticks were skipped
    assert {tick.step.status for tick in ticks} == set(TrackingStatus)
    assert any(tick.held.startswith("silent") for tick in ticks)
    assert any("not finite" in tick.held for tick in ticks)
    assert found.recorded == found.replayed
    assert set(found.largest) == {0.0}
    assert str(found).endswith("the joint values are the same, bit for bit")


def two_hands():
    return Solver().track(BAXTER, ["left_gripper", "right_gripper"], BOTH), {"hands": 2}


def by_position():
    aim = Goal("panda_hand", position=[0, 0, 0], point=[0, 0, 0.1], weight=[1, 2, 3])
    return Solver().track(PANDA, aim, acceleration=4.0, jerk=300.0, tolerance=Tolerance(1e-2, 1e-2)), {}


def one_link_twice():
    parts = [Goal("tool0", position=[0, 0, 0]), Goal("tool0", orientation=Frame(), turn_weight=0.1)]
    return Solver().track(UR5, parts, START), {"hands": 2}


def by_the_paper():
    return Solver(method=method.damped(), damping=damping.schinstock()).track(SO101, "gripper_frame_link"), {}


def by_the_pseudoinverse():
    return Solver(method=method.pseudoinverse(), keep_limits=False).track(UR5, "tool0", START), {}


@pytest.mark.parametrize("made", [two_hands, by_position, one_link_twice, by_the_paper, by_the_pseudoinverse])
def test_any_tracker_of_one_arm_replays_bit_for_bit(tmp_path, made):
    tracker, options = made()
    ticks, recorder = drive(tmp_path / "a.parquet", tracker, seed=5, late=6, **options)
    found = replay(recorder.path)
    assert found.identical
    assert found.ticks == len(ticks)
    again = Recording(recorder.path)
    assert np.array_equal(again.acceleration, tracker.acceleration)
    assert again.solver == repr(tracker.solver)


def test_a_measured_arm_replays_bit_for_bit(tmp_path):
    last, felt = shaken(np.random.default_rng(0))
    tracker = Solver().track(UR5, "tool0", START)
    at = {k: lambda loop: last.update(q=loop._q.copy()) for k in range(0, 900, 5)}
    ticks, recorder = drive(tmp_path / "a.csv", tracker, measured=felt, at=at)
    assert {tick.measured is None for tick in ticks} == {True, False}
    assert replay(recorder.path).identical


def test_a_reset_and_another_solver_on_the_way_replay_bit_for_bit(tmp_path):
    other = Solver(method=method.damped(), damping=damping.schinstock()).track(UR5, "tool0", acceleration=5.0)
    at = {200: lambda loop: loop.use(other), 500: lambda loop: loop.reset(START), 700: lambda loop: loop.pause()}
    ticks, recorder = drive(tmp_path / "a.parquet", Solver().track(UR5, "tool0", START), at=at)
    found = replay(recorder.path)
    assert found.identical
    assert found.recorded.solver == f"Solver(), then {other.solver!r}"
    assert sum(tick.begin is not None for tick in ticks) == 3
    assert not replay(recorder.path, Solver()).identical


def test_a_recording_from_the_middle_of_a_drive_says_so(tmp_path):
    tracker = Solver().track(UR5, "tool0", START)
    ticks, _ = drive(tmp_path / "whole.csv", tracker, 1.0)
    with Recorder(tmp_path / "part.csv", tracker) as recorder:
        for tick in ticks[150:]:
            recorder.write(tick)
    found = replay(recorder.path)
    assert not found.identical
    assert "from the middle of a drive" in str(found)


def test_what_is_read_is_what_the_ticks_were(kept):
    files, ticks = kept
    for path in files.values():
        rows = Recording(path).rows()
        assert len(rows) == len(ticks)
        for k, tick in enumerate(ticks):
            step = tick.step
            assert (rows.number[k], rows.fresh[k], rows.held[k]) == (tick.number, tick.fresh, tick.held)
            assert (rows.why[k], rows.status[k], rows.lost[k]) == (step.why, step.status.value, 0)
        for name, live in {
            "t": [tick.t for tick in ticks],
            "dt": [tick.dt for tick in ticks],
            "late": [tick.late for tick in ticks],
            "q": [tick.step.q for tick in ticks],
            "velocity": [tick.step.velocity for tick in ticks],
            "joint_weights": [tick.step.joint_weights for tick in ticks],
            "error": [tick.step.error for tick in ticks],
            "damping": [tick.step.damping for tick in ticks],
            "lag": [tick.step.lag for tick in ticks],
        }.items():
            assert np.array_equal(bits(getattr(rows, name)), bits(live)), name
        goals = np.array([tick.goals for tick in ticks])[..., :3, :]
        assert np.array_equal(rows.goals[..., :3, :], goals, equal_nan=True)
        assert np.array_equal(rows.stamp, [tick.stamp for tick in ticks], equal_nan=True)


def test_commands_are_read_as_they_were_given(kept):
    files, ticks = kept
    rows = Recording(files["parquet"]).rows()
    for k, tick in enumerate(ticks):
        if tick.fresh:
            again, was = rows.command(k), tick.command
            assert (again.engaged, again.sequence, again.buttons) == (was.engaged, was.sequence, was.buttons)
            assert again.stamp == was.stamp
            assert len(again.hands) == len(was.hands)
            for mine, other in zip(again.hands, was.hands, strict=True):
                assert np.array_equal(mine.matrix, other.matrix)


def test_both_kinds_of_files_hold_the_same_and_blocks_of_any_size_too(kept):
    files, _ = kept
    whole = Recording(files["parquet"]).rows()
    for path in files.values():
        for size in (5, 256):
            first = 0
            for block in Recording(path).blocks(size):
                assert len(block) <= size
                for field in fields(block):
                    mine, all_ = getattr(block, field.name), getattr(whole, field.name)[first : first + len(block)]
                    same = np.array_equal(mine, all_, equal_nan=True) if isinstance(mine, np.ndarray) else mine == all_
                    assert same, field.name
                first += len(block)
            assert first == len(whole)


# -- what a recording says of itself ----------------------------------------------------------------------------------


def bare(linkage):
    return Linkage(linkage.name, linkage.joints, [Link(link.name) for link in linkage.links], linkage.base)


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
def test_a_recording_of_format_1_replays_to_the_last_bit(ending):
    path = DATA / f"recording-format-1.{ending}"
    words = [sys.executable, "-m", "supple", "replay", str(path), "--json"]
    done = subprocess.run(words, env={**os.environ, "SUPPLE_ISA": "baseline"}, capture_output=True, text=True)
    said = json.loads(done.stdout)
    assert said["ticks"] == 107
    first, raw, last = said["recorded"]["solver"].split(", then ")
    assert (first, raw) == ("Solver()", "Solver(method=method.pseudoinverse(), keep_limits=False)")
    assert "damping.nakamura_hanafusa(below=0.2)" in last
    assert "limit_escapes=1" in last
    if platform.machine().lower() in ("x86_64", "amd64"):
        assert said["identical"], said["note"]
    else:
        assert max(said["largest"]) < 1e-6


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
    assert data["format"] == 2
    assert data["linkage"] == UR5.to_dict(geometry=False)
    assert data["tracker"]["solver"] == Solver().to_dict()
    assert set(data["tracker"]["solver"]) == {"format", "version", *Solver.__dataclass_fields__}
    assert set(data["tracker"]["goals"][0]) == {*Goal.__slots__} - {"axis", "direction"}


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


# -- another solver ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["paper", "damped", "pseudoinverse"])
def test_another_solver_is_compared_tick_by_tick(kept, name):
    files, _ = kept
    seen = []
    found = replay(files["csv"], named(name), watch=lambda rows, step: seen.append((rows, step)))
    rows = Recording(files["csv"]).rows()
    q = np.concatenate([step.q for _, step in seen])
    error = np.concatenate([step.error for _, step in seen])
    velocity = np.concatenate([step.velocity for _, step in seen])
    outcome = [TrackingStatus(one) for _, step in seen for one in step.statuses]
    apart = np.abs(q - rows.q)
    assert not found.identical
    assert found.first == np.flatnonzero(apart.any(axis=1))[0]
    assert np.allclose(found.largest, apart.max(axis=0), rtol=1e-12)
    assert np.allclose(found.mean, apart.mean(axis=0), rtol=1e-12)
    for k, part in enumerate((np.s_[..., :3], np.s_[..., 3:])):
        away = np.linalg.norm((error - rows.error)[part], axis=-1).max(axis=1)
        assert np.allclose((found.error_largest[k], found.error_mean[k]), (away.max(), away.mean()), rtol=1e-12)
    moving = np.array([one is not TrackingStatus.HELD for one in outcome])
    far = np.linalg.norm(error[moving, 0, :3], axis=-1)
    assert np.allclose(found.replayed.distance, (far.mean(), far.max()), rtol=1e-12)
    assert found.replayed.statuses == {state.name.lower(): outcome.count(state) for state in TrackingStatus}
    assert np.array_equal(found.replayed.speed, np.abs(velocity).max(axis=0))
    assert found.replayed.solver == repr(named(name))
    assert named(found.replayed.name) == named(name)
    assert (found.recorded.solver, found.recorded.name) == ("Solver()", "supple")


def test_the_recorded_side_is_judged_by_what_was_recorded(kept):
    files, ticks = kept
    side = replay(files["parquet"]).recorded
    assert side.statuses == {s.name.lower(): sum(tick.step.status is s for tick in ticks) for s in TrackingStatus}
    speeds = np.array([tick.step.velocity for tick in ticks])
    changes = np.abs(np.diff(speeds, axis=0, prepend=0)).max(axis=1) / np.minimum([tick.dt for tick in ticks], 0.25)
    assert np.isclose(max(side.acceleration), changes.max(), rtol=1e-12)
    assert max(side.acceleration) <= 15.0 * (1 + 1e-9)
    assert (side.outside, side.too_fast) == (0, 0)


def test_a_raw_pseudoinverse_breaks_limits_and_it_is_counted(kept):
    raw = replay(kept[0]["parquet"], replace(named("pseudoinverse"), keep_limits=False)).replayed
    assert raw.too_fast > 0
    assert max(raw.speed) > UR5.speed.max()


def test_another_linkage_is_replayed_if_its_joints_have_the_same_names(kept):
    files, _ = kept
    assert replay(files["parquet"], linkage=UR5).identical
    longer = Linkage(
        "longer",
        [replace(joint, location=Frame.at(1.1 * joint.location.position, joint.location)) for joint in UR5.joints],
    )
    assert not replay(files["parquet"], linkage=longer).identical
    with pytest.raises(BadInput, match="the recording has others"):
        replay(files["parquet"], linkage=PANDA)


def test_a_solver_is_known_by_name_or_a_near_one_is_offered():
    assert len({repr(named(name)) for name in NAMES}) == len(NAMES)
    with pytest.raises(UnknownName, match="pseudo-inverse"):
        named("pseudoinvers")


# -- as an operator ---------------------------------------------------------------------------------------------------


def test_a_recording_drives_an_arm_as_its_operator_did(tmp_path):
    tracker = Solver().track(BAXTER, ["left_gripper", "right_gripper"], BOTH)
    ticks, recorder = drive(tmp_path / "a.parquet", tracker, 3.0, seed=2, hands=2, rough=False, late=None)
    clock, again = Simulated(), []
    tracker.reset(BOTH)
    Loop(Playback(recorder.path, clock.now), [Mapping(), Mapping()], tracker, again.append, RATE, clock=clock).run()
    for one, other in zip(ticks[: 3 * RATE], again[: 3 * RATE], strict=True):
        assert one.step.q.tolist() == other.step.q.tolist()
    assert sum(tick.fresh for tick in again) == sum(tick.fresh for tick in ticks)


def test_every_command_of_a_long_recording_comes_in_its_turn(tmp_path):
    ticks, recorder = drive(tmp_path / "a.csv", Solver().track(UR5, "tool0", START), 12.0, rough=False, late=None)
    now, stamps = 0.0, []
    played = Playback(recorder.path, lambda: now)
    for tick in ticks[: 12 * RATE]:
        now = tick.t
        said = played.read()
        while tick.fresh and said is None:  # in simulated time the disk may be behind
            time.sleep(1e-3)
            said = played.read()
        stamps += [said.stamp] if said else []
    assert stamps == [tick.command.stamp for tick in ticks if tick.fresh]
    assert len(stamps) == 12 * RATE


def test_commands_come_at_their_own_times_and_the_newest_counts(kept):
    files, ticks = kept
    now = 100.0
    played = Playback(files["parquet"], lambda: now)
    due = [tick for tick in ticks if tick.fresh]
    assert played.read() is None or due[0].t == 0
    for moment in (0.5, 0.5, 1.7):
        before, now = now - 100, 100 + moment
        came = [tick for tick in due if before < tick.t <= moment]
        said = played.read()
        assert (said is None) == (not came)
        assert said is None or said.stamp == came[-1].command.stamp
    now = 1000.0
    assert played.read().stamp == due[-1].command.stamp
    for _ in range(2):
        with pytest.raises(StopIteration):
            listen_on(played)
    played.close()


def listen_on(played):
    """That a command was the last is known once the file has been read to its end."""
    while True:
        assert played.read() is None


def test_a_source_that_is_closed_has_ended(kept):
    played = Playback(kept[0]["csv"])
    played.close()
    with pytest.raises(StopIteration):
        played.read()


# -- the disk ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_file_is_written_over_unless_told(tmp_path, ending):
    path, tracker = tmp_path / f"a.{ending}", Solver().track(UR5, "tool0", START)
    path.write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        Recorder(path, tracker)
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"mine", [path.name])
    drive(path, tracker, 0.1, overwrite=True)
    assert replay(path).identical
    assert os.listdir(tmp_path) == [path.name]


def test_a_journal_that_a_crash_left_is_not_written_over(tmp_path):
    (tmp_path / "a.parquet.part").write_bytes(b"precious")
    with pytest.raises(FileExistsError):
        Recorder(tmp_path / "a.parquet", Solver().track(UR5, "tool0", START))
    assert (tmp_path / "a.parquet.part").read_bytes() == b"precious"


@pytest.mark.parametrize("name", ["ur5", "../../up", "a/b\\c:d", "..", "", "C:\\x", "ü" * 300, "con"])
def test_a_folder_is_never_left_whatever_the_linkage_calls_itself(tmp_path, name):
    folder = tmp_path / "inside" / "deep"
    folder.mkdir(parents=True)
    tracker = Solver().track(Linkage(name, UR5.joints), "tool0")
    paths = []
    for ending in (".parquet", ".parquet", ".csv"):
        with Recorder.within(folder, tracker, ending=ending) as recorder:
            paths.append(recorder.path.resolve())
    assert len(set(paths)) == 3
    assert {path.parent for path in paths} == {folder.resolve()}
    assert sorted(p for p in tmp_path.rglob("*") if p.is_file()) == sorted(set(paths))


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_that_leads_elsewhere_is_refused(tmp_path):
    (tmp_path / "a.csv").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "a.parquet.part").symlink_to(tmp_path / "elsewhere")
    for ending in ENDINGS:
        for overwrite in (False, True):
            with pytest.raises(BadInput, match="is a link"):
                Recorder(tmp_path / f"a.{ending}", Solver().track(UR5, "tool0"), overwrite=overwrite)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("name", "tracker", "rate", "said"),
    [
        ("a.npz", Solver().track(UR5, "tool0"), 300, "ends in .parquet or .csv"),
        ("a.parquet.part", Solver().track(UR5, "tool0"), 300, "name of a journal"),
        ("none/a.csv", Solver().track(UR5, "tool0"), 300, "no folder"),
        ("a.csv", Solver().track(UR5, "tool0"), 0, "rate must be"),
        ("a.csv", UR5, 300, "Tracker of one arm"),
        ("a.csv", Solver().track(UR5, "tool0", UR5.random(3, seed=0)), 300, "Tracker of one arm"),
        ("a.csv", Solver().track(UR5, Goal("tool0", axis=[0, 0, 1], direction=[1, 0, 0])), 300, "whole frames"),
    ],
)
def test_what_cannot_be_recorded_is_refused_before_any_file_is_made(tmp_path, name, tracker, rate, said):
    with pytest.raises(BadInput, match=said):
        Recorder(tmp_path / name, tracker, rate)
    assert not list(tmp_path.iterdir())


CRASH = """
import os, sys, time
import numpy as np
from supple import Solver, models
from supple.teleop import Tick
from supple.teleop.recording import Recorder
arm = models.ur5()
tracker = Solver().track(arm, "tool0", np.array([0.0, -1.2, 1.5, -1.0, -1.2, 0.3]))
goal = arm.frame(tracker.q, "tool0").matrix[None].copy()
recorder, begin = Recorder(sys.argv[1], tracker), tracker.q.copy()
for k in range(int(sys.argv[2])):
    goal = goal + 0.0
    goal[0, 0, 3] += 1e-4
    step = tracker.step(goal[0], 1 / 300)
    recorder.write(Tick(k, k / 300, 1 / 300, 0.0, None, False, goal, np.nan, None, step, "", begin if k == 0 else None))
while recorder.behind:
    time.sleep(0.01)
if len(sys.argv) > 3:
    time.sleep(float(sys.argv[3]))
os._exit(1)
"""


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_crash_loses_at_most_the_last_second(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    # ticks that came more than a second before the end: a recorder hands them on though no more come
    subprocess.run([sys.executable, "-c", CRASH, str(path), "2148", "1.5"], check=False)
    left = path if ending == "csv" else tmp_path / "a.parquet.part"
    assert [p.name for p in tmp_path.iterdir()] == [left.name]
    found = replay(left)
    assert (found.ticks, found.identical) == (2148, True)


def test_a_crash_while_busy_leaves_all_whole_batches(tmp_path):
    subprocess.run([sys.executable, "-c", CRASH, str(tmp_path / "a.parquet"), "2148"], check=False)
    found = replay(tmp_path / "a.parquet.part")
    assert 2048 <= found.ticks <= 2148
    assert found.identical


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a disk that stands still is a pipe nobody reads")
def test_a_disk_that_stands_still_never_holds_up_the_loop_and_what_is_lost_is_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(recorder_module, "_MAX_QUEUE", 50)
    path, lines = tmp_path / "a.csv", []
    os.mkfifo(path)
    read = threading.Event()

    def reader():
        with open(path) as pipe:
            read.wait()
            lines.extend(pipe)

    thread = threading.Thread(target=reader)
    thread.start()
    tracker = Solver().track(UR5, "tool0", START)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ticks, recorder = drive_into_pipe(path, tracker, read)
        thread.join()
    rows = list(csv.DictReader(lines[1:]))
    assert recorder.lost > 0
    assert len(rows) + recorder.lost == len(ticks)
    assert sum(int(row["lost"]) for row in rows) == recorder.lost
    assert any("ticks are lost" in str(one.message) for one in said)
    assert "were lost" in recorder.failure


def drive_into_pipe(path, tracker, read):
    """Many ticks while nobody reads, then, once someone does, a last one."""
    ticks, _ = drive(path.with_name("b.csv"), tracker, 4.0)
    recorder = Recorder(path, tracker, overwrite=True)
    for tick in ticks[:-1]:
        recorder.write(tick)
    read.set()
    while recorder.behind:
        pass
    recorder.write(ticks[-1])
    recorder.close()
    return ticks, recorder


FULL = """
import resource, sys, warnings
sys.path[:0] = sys.argv[2:]
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
from test_recording import START, UR5, Solver, drive, BadInput
warnings.simplefilter("ignore")
try:
    drive(sys.argv[1], Solver().track(UR5, "tool0", START), 4.0)
except OSError as error:
    print("closing said:", error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of a file's size there")
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_full_disk_ends_the_recording_not_the_drive_and_closing_says_so(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    words = [sys.executable, "-c", FULL, str(path), str(HERE), str(HERE.parent / "support")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("closing said:"), done.stderr
    assert "File too large" in done.stdout


def test_a_recorder_that_is_closed_takes_no_more_and_can_be_closed_again(tmp_path):
    ticks, recorder = drive(tmp_path / "a.parquet", Solver().track(UR5, "tool0", START), 0.1)
    recorder.write(ticks[0])
    recorder.close()
    assert (read_all(recorder.path), recorder.lost, recorder.failure) == (len(ticks), 0, "")


def test_a_tracker_of_another_linkage_ends_the_recording(tmp_path):
    ticks, _ = drive(tmp_path / "a.csv", Solver().track(PANDA, "panda_hand"), 0.1)
    recorder = Recorder(tmp_path / "b.csv", Solver().track(UR5, "tool0", START))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recorder.write(ticks[0])
        with pytest.raises(BadInput, match="cannot go on"):
            recorder.close()


# -- bad files --------------------------------------------------------------------------------------------------------


def read_all(path):
    return sum(len(rows) for rows in Recording(path).blocks())


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_that_is_cut_short_is_refused_or_whole_up_to_there(tmp_path, kept, ending):
    whole = kept[0][ending].read_bytes()
    path, rng = tmp_path / f"cut.{ending}", np.random.default_rng(0)
    for size in [0, 1, 3, 4, 20, *rng.integers(0, len(whole), 40), len(whole) - 9, len(whole) - 1]:
        path.write_bytes(whole[:size])
        if ending == "csv" and whole[:size].count(b"\n") >= 2 and whole[size - 1 : size] == b"\n":
            assert read_all(path) == whole[:size].count(b"\n") - 2
        else:
            with pytest.raises(BadInput, match=r"cut\."):
                read_all(path)


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
        counts.add(count := read_all(path))
        assert count <= 4 * len(ticks)
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
        (lambda t: t.drop_columns([t.column_names[-1]]), "expected .* columns, got .*: there is no 'error.tool0.rz'"),
        (
            lambda t: t.append_column("more", pa.array([1] * len(t))),
            "expected 78 columns, got 79: there is also 'more'",
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
        ("a.csv", b'# supple recording {"format": 3}\n'),
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
        (lambda a: a.update(format=3), "its format is 3; this version of supple reads 1 and 2"),
        (lambda a: a.update(start=[0.0]), "do not fit its linkage"),
        (lambda a: a.update(start=[float("nan")] * 6), "start is not finite"),
        (lambda a: a.update(names=["a"]), "do not fit its linkage"),
        (lambda a: a.update(links=[]), "it has no links"),
        (lambda a: a.update(links=None), "not a recording"),
        (lambda a: a.update(tracker=3), "not a recording"),
        (lambda a: a["linkage"]["joints"].append(a["linkage"]["joints"][0]), "not a recording"),
        (lambda a: a["linkage"]["joints"][1].update(axis=[0, 0, 0]), "axis must not be zero"),
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


# -- the command ------------------------------------------------------------------------------------------------------


def run(*words):
    return CliRunner().invoke(app, ["replay", *map(str, words)], prog_name="supple")


def test_the_command_says_identical_and_ends_with_0(kept):
    for path in kept[0].values():
        done = run(path)
        assert done.exit_code == 0, done.output
        assert "the same, bit for bit" in done.stdout


def test_the_command_prints_what_differs_and_ends_with_1(kept):
    done = run(kept[0]["parquet"], "--solver", "paper")
    assert done.exit_code == 1
    for word in (*UR5.names, "following", "acceleration, most", "differ from row", repr(named("paper"))):
        assert word in done.stdout


def test_the_command_says_it_in_json(kept):
    done = run(kept[0]["csv"], "--solver", "pseudoinverse", "--raw", "--json")
    said = json.loads(done.stdout)
    assert done.exit_code == 1
    assert said["identical"] is False
    assert said["names"] == list(UR5.names)
    assert said["replayed"]["solver"] == "Solver(method=method.pseudoinverse(), keep_limits=False)"
    assert said["replayed"]["too_fast"] > 0 == said["recorded"]["too_fast"]
    assert sum(said["replayed"]["statuses"].values()) == said["ticks"]


def test_the_command_takes_another_robot(kept):
    assert run(kept[0]["parquet"], "--robot", "ur5").exit_code == 0
    done = run(kept[0]["parquet"], "--robot", "panda")
    assert done.exit_code == 2
    assert "the recording has others" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere.parquet"], "nowhere.parquet: No such file"),
        (["nowhere.txt"], "ends in .parquet or .csv"),
        (["FILE", "--solver", "magic"], "no method named 'magic'"),
        (["FILE", "--raw"], "--raw needs --solver"),
        (["FILE", "--robot", "nobody"], "no file or stock linkage named 'nobody'"),
        (["FILE", "--draw", "a.gif"], "--draw takes a file that ends in"),
        (["FILE", "--draw", "nowhere/a.png"], "--draw: there is no folder"),
    ],
)
def test_whatever_is_wrong_ends_with_2_and_a_sentence(kept, words, said):
    done = run(*[kept[0]["parquet"] if word == "FILE" else word for word in words])
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_draws_the_joint_speeds_side_by_side(kept, tmp_path):
    pytest.importorskip("matplotlib")
    for ending, sign in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        done = run(kept[0]["parquet"], "--solver", "paper", "--draw", tmp_path / f"a.{ending}")
        assert done.exit_code == 1, done.output
        assert (tmp_path / f"a.{ending}").read_bytes().startswith(sign)


def test_a_line_of_any_length_is_drawn_with_a_bounded_number_of_points_and_keeps_its_peaks():
    from supple.view.replay import _MOST, _Envelope

    rng, line, all_ = np.random.default_rng(0), _Envelope(), []
    for _ in range(60):
        rows = rng.normal(size=(int(rng.integers(1, 3000)), 2))
        line.add(rows)
        all_.append(rows)
        assert len(line.points()) <= 4 * _MOST
    whole = np.concatenate(all_)
    seen = whole[: len(whole) - len(line._rest)]
    assert np.array_equal(line.points().min(axis=0), seen.min(axis=0))
    assert np.array_equal(line.points().max(axis=0), seen.max(axis=0))
