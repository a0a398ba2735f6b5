"""Replays are identical to the last bit, and another solver is compared tick by tick."""

from dataclasses import fields, replace

import numpy as np
import pytest

from drives import BAXTER, BOTH, ENDINGS, NAMES, PANDA, SO101, START, UR5, bits, drive, shaken
from supple import Frame, Goal, Linkage, Solver, Tolerance, damping, method
from supple.errors import BadInput, UnknownName
from supple.step import TrackingStatus
from supple.teleop.methods import named
from supple.teleop.recording import Recorder, Recording
from supple.teleop.recording.replay import replay


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
def test_twenty_seconds_of_rough_driving_replay_bit_for_bit(tmp_path, ending):
    ticks, recorder = drive(tmp_path / f"a.{ending}", Solver().track(UR5, "tool0", START), 20.0, seed=3, late=4)
    found = replay(recorder.path)
    assert found.identical
    assert (found.first, found.lost, recorder.lost, found.ticks) == (None, 0, 0, len(ticks))
    assert len({tick.dt for tick in ticks}) > 1  # ticks were skipped
    assert {tick.step.status for tick in ticks} >= set(TrackingStatus) - {TrackingStatus.RETURNING}
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


def by_options():
    options = {"recover": "free", "smooth": 0.02, "predict": 0.05, "speed": 0.5, "margin": 0.05}
    return Solver().track(UR5, "tool0", START, **options), {}


def by_the_paper():
    return Solver(method=method.damped(), damping=damping.schinstock()).track(SO101, "gripper_frame_link"), {}


def by_the_pseudoinverse():
    return Solver(method=method.pseudoinverse(), keep_limits=False).track(UR5, "tool0", START), {}


@pytest.mark.parametrize(
    "made", [two_hands, by_position, one_link_twice, by_options, by_the_paper, by_the_pseudoinverse]
)
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
    at = {k: lambda loop: last.update(q=loop._ticker.q.copy()) for k in range(0, 900, 5)}
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
            assert (rows.why[k], rows.status[k], rows.lost[k]) == (tick.why, step.status.value, 0)
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


def test_a_solver_is_known_by_name_or_all_are_listed():
    assert len({repr(named(name)) for name in NAMES}) == len(NAMES)
    with pytest.raises(UnknownName, match="the methods are supple, paper, damped, pseudoinverse"):
        named("pseudoinvers")
