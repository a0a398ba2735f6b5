"""The servo bus: numbers of motors and joint values, calibration files, the guided calibration, an arm at 50 Hz."""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from supple import BadInput, Frame, Solver, UnknownName, models
from supple.cli import app
from supple.errors import MissingExtra
from supple.teleop import Command, Connection, Mapping, drive
from supple.teleop.servo import Calibration, Motor, ServoArm, SimulatedBus, calibrated, lerobot_bus

ARM = models.so101()


def random_calibration(seed: int) -> Calibration:
    """Motors that are mounted any way round, in degrees or ticks."""
    rng = np.random.default_rng(seed)
    motors = []
    for name in ARM.names:
        unit = "ticks" if rng.random() < 0.5 else "degrees"
        turn = 4096.0 if unit == "ticks" else 360.0
        motors.append(
            Motor(
                name,
                f"m_{name}",
                float(rng.uniform(-0.5, 0.5) * turn),
                int(rng.choice([-1, 1])),
                float(rng.choice([1.0, 0.5, 2.0])),
                unit,  # type: ignore[arg-type]
            )
        )
    return Calibration(tuple(motors))


def test_what_is_written_is_read_again_for_random_calibrations() -> None:
    for seed in range(100):
        calibration = random_calibration(seed)
        bus = SimulatedBus([motor.motor for motor in calibration.motors])
        servos = ServoArm(bus, ARM, calibration)
        for q in ARM.random(10, seed=seed):
            servos.write(q)
            coarse = (
                max(abs(motor.scale) for motor in calibration.motors if motor.unit == "ticks")
                if any(motor.unit == "ticks" for motor in calibration.motors)
                else 0.0
            )
            assert np.abs(servos.read() - q).max() <= 0.5 * coarse + 1e-9
            for motor in calibration.motors:
                if motor.unit == "ticks":
                    assert bus.positions[motor.motor] == round(bus.positions[motor.motor])


def test_a_motor_is_never_sent_beyond_its_limits() -> None:
    motor = Motor("elbow", "elbow", offset=100, sign=-1, unit="ticks", low=50, high=2000)
    for value in np.linspace(-20, 20, 1001):
        assert 50 <= motor.to_motor(float(value)) <= 2000
    arm = ServoArm(SimulatedBus(ARM.names), ARM)
    for wrong in ([math.nan] * 6, [0.0] * 5, [math.inf] * 6):
        with pytest.raises(BadInput, match="6 finite numbers"):
            arm.write(wrong)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"offset": math.nan}, "offset"),
        ({"sign": 2}, "sign"),
        ({"sign": True}, "sign"),
        ({"gear": 0}, "gear"),
        ({"gear": -1}, "gear"),
        ({"unit": "turns"}, "unit"),
        ({"ticks_per_turn": 0}, "ticks_per_turn"),
        ({"low": 5, "high": 5}, "low"),
        ({"low": math.nan}, "low"),
    ],
)
def test_a_motor_that_cannot_be_is_refused_and_named(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        Motor("j", "elbow", **fields)


def test_a_calibration_is_stored_and_read_again(tmp_path: Path) -> None:
    for seed in range(20):
        calibration = random_calibration(seed)
        calibration.save(tmp_path / "a.json")
        assert Calibration.load(tmp_path / "a.json") == calibration
    with pytest.raises(BadInput, match="twice"):
        Calibration((Motor("a", "x"), Motor("a", "y")))
    with pytest.raises(UnknownName, match="'nose'"):
        ServoArm(SimulatedBus(["nose"]), ARM, Calibration((Motor("nose", "nose"),)))
    with pytest.raises(BadInput, match="different motors"):
        ServoArm(SimulatedBus(ARM.names[:5]), ARM)
    with pytest.raises(BadInput, match="sync_read"):
        ServoArm(object(), ARM)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "[" * 100_000,
        '{"format": "other"}',
        '{"format": "supple servo calibration", "version": 2, "motors": []}',
        '{"format": "supple servo calibration", "version": 1, "motors": []}',
        '{"format": "supple servo calibration", "version": 1, "motors": [{"joint": "a"}]}',
        '{"format": "supple servo calibration", "version": 1, "motors": [{"joint": "a", "motor": "b", "nose": 1}]}',
        '{"format": "supple servo calibration", "version": 1, "motors": [{"joint": "a", "motor": "b", "offset": NaN}]}',
        '{"format": "supple servo calibration", "version": 1, "motors": [{"joint": 1, "motor": []}]}',
        '{"format": "supple servo calibration", "version": 1, "motors": 7}',
        b"\xff\xfe\x00",
    ],
)
def test_a_file_that_is_no_calibration_is_refused_with_its_name(tmp_path: Path, content: str | bytes) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadInput, match=r"bad\.json"):
        Calibration.load(path)


class Person:
    """Moves the joints of a simulated bus as the guide asks, by a calibration that only the person knows."""

    def __init__(self, bus: SimulatedBus, truth: Calibration) -> None:
        self.bus, self.truth, self.asked = bus, {motor.joint: motor for motor in truth.motors}, 0

    def __call__(self, sentence: str) -> str:
        self.asked += 1
        if "zero pose" in sentence:
            for motor in self.truth.values():
                self.bus.positions[motor.motor] = motor.offset
            return ""
        joint = sentence.split(":")[0]
        motor, column = self.truth[joint], ARM.names.index(joint)
        end = (ARM.upper if "upper" in sentence else ARM.lower)[column]
        self.bus.positions[motor.motor] = motor.to_motor(float(end))
        return ""


@pytest.mark.parametrize("seed", range(5))
def test_the_guide_finds_offset_sign_and_limits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1, 1], size=6)
    truth = Calibration(
        tuple(
            Motor(name, name, float(rng.integers(1500, 2500)), int(sign), unit="ticks")
            for name, sign in zip(ARM.names, signs, strict=True)
        )
    )
    bus = SimulatedBus(ARM.names, 2048)
    found = calibrated(bus, ARM, Person(bus, truth))
    for q in ARM.random(50, seed=seed):
        ServoArm(bus, ARM, truth).write(q)
        assert np.abs(ServoArm(bus, ARM, found).read() - q).max() < 2e-3
    for motor, real, low, high in zip(found.motors, truth.motors, ARM.lower, ARM.upper, strict=True):
        assert (motor.offset, motor.sign) == (real.offset, real.sign)
        assert {motor.low, motor.high} == {real.to_motor(float(low)), real.to_motor(float(high))}


def test_the_guide_ends_skips_and_notices_a_motor_that_did_not_move() -> None:
    bus = SimulatedBus(ARM.names)
    with pytest.raises(BadInput, match="ended"):
        calibrated(bus, ARM, lambda sentence: "q")
    found = calibrated(bus, ARM, lambda sentence: "" if "zero" in sentence else "s")
    assert all(motor.low == -math.inf for motor in found.motors)
    with pytest.raises(BadInput, match=r"shoulder_pan: motor 'shoulder_pan' moved by 0 ticks"):
        calibrated(bus, ARM, lambda sentence: "")
    with pytest.raises(BadInput, match="no motor 'gripper'"):
        calibrated(SimulatedBus(ARM.names[:5]), ARM, lambda sentence: "")


def test_the_guide_says_what_to_do_and_where_a_joint_without_limits_is_to_go() -> None:
    wheel = models.planar2()
    free = [k for k, low in enumerate(wheel.lower) if not math.isfinite(low) and wheel.units[k] == "rad"]
    names = {wheel.names[free[0]]: "m"}
    said: list[str] = []
    bus = SimulatedBus(["m"])
    calibrated(bus, wheel, lambda sentence: said.append(sentence) or ("s" if len(said) > 1 else ""), motors=names)
    assert all("press Enter" in sentence for sentence in said)
    assert "+90 degrees (it has no limits)" in said[1]
    with pytest.raises(BadInput, match="cannot be skipped"):
        calibrated(bus, wheel, lambda sentence: "s", motors=names)


def test_the_command_writes_the_file(tmp_path: Path) -> None:
    script = tmp_path / "bus.py"
    script.write_text(
        "from supple.teleop.servo import SimulatedBus\nfrom supple import models\n"
        "arm = models.so101()\n"
        "class Moved(SimulatedBus):\n"
        "    k = 0\n"
        "    def sync_read(self, name):\n"
        "        self.k += 1\n"  # the first reading checks the names, the second is the zero pose
        "        j, high = divmod(self.k - 3, 2)\n"
        "        if self.k > 2:\n"
        "            end = arm.lower if high else arm.upper\n"
        "            self.positions[arm.names[j]] = 2048 - end[j] / 6.283185307179586 * 4096\n"
        "        return dict(self.positions)\n"
        "def connect():\n    return Moved(arm.names, 2048)\n"
    )
    words = ["calibrate", "so101", str(tmp_path / "out.json"), "--bus", f"{script}:connect"]
    done = CliRunner().invoke(app, words, input="\n" * 20)
    assert done.exit_code == 0, done.output
    assert "The torque is off; hold the arm. Type q to end." in done.output
    assert "elbow_flex: offset 2048 ticks, sign -1, limits " in done.output
    found = Calibration.load(tmp_path / "out.json")
    assert [motor.sign for motor in found.motors] == [-1] * 6
    assert [motor.offset for motor in found.motors] == [2048] * 6
    assert "exists" in CliRunner().invoke(app, words).output
    for wrong in (
        ["calibrate", "so101", str(tmp_path / "b.json")],
        ["calibrate", "so101", str(tmp_path / "b.json"), "--bus", "nowhere.py:connect"],
        ["calibrate", "so101", str(tmp_path / "b.json"), "--bus", f"{script}:nothing"],
        ["calibrate", "so101", str(tmp_path / "b.json"), "--bus", f"{script}:connect", "--unit", "turns"],
    ):
        done = CliRunner().invoke(app, wrong)
        assert done.exit_code in (1, 2)
        assert "Traceback" not in done.output


def test_without_lerobot_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lerobot", None)
    with pytest.raises(MissingExtra, match=r"pip install 'lerobot\[feetech\]'"):
        lerobot_bus("feetech", "/dev/nothing", {"elbow": (1, "sts3215")})


class Noted(SimulatedBus):
    """A bus that notes what is asked of it."""

    def __init__(self, torque: bool = False) -> None:
        super().__init__(ARM.names, 10.0)
        self.torque, self.asked = torque, list[str]()

    def sync_write(self, data_name: str, values: Any) -> None:
        self.asked.append(f"goals {'stiff' if self.torque else 'limp'}")
        super().sync_write(data_name, values)

    def enable_torque(self) -> None:
        self.asked.append("torque on")
        super().enable_torque()

    def connect(self) -> None:
        self.torque = False  # they were without power


def test_a_limp_arm_goes_stiff_where_it_is_when_it_is_driven_and_not_before() -> None:
    bus = Noted()
    servos = ServoArm(bus, ARM)
    servos.hold()  # as at the end of a program that never drove it
    assert not bus.asked
    q = servos.read()
    servos.write(q)
    assert bus.asked == ["goals limp", "torque on"]  # its old goals may be elsewhere
    servos.write(q + 0.1)
    servos.hold()
    assert bus.asked[2:] == ["goals stiff", "goals stiff"]
    assert np.allclose(servos.read(), q + 0.1)
    servos.connect()
    servos.write(servos.read())
    assert bus.asked[4:] == ["goals limp", "torque on"]
    servos.release()
    servos.write(servos.read())
    assert bus.asked[6:] == ["goals limp", "torque on"]


def test_torque_that_cannot_be_switched_on_is_an_error_and_tried_again() -> None:
    class Weak(Noted):
        def enable_torque(self) -> None:
            super().enable_torque()
            if len(self.asked) < 4:
                self.torque = False
                raise OSError("overload")

    bus = Weak()
    servos = ServoArm(bus, ARM)
    with pytest.raises(OSError, match="overload"):
        servos.write(servos.read())
    servos.write(servos.read())
    assert bus.torque


def test_a_bus_of_lerobot_counts_in_degrees_by_the_calibration_in_its_motors(monkeypatch: pytest.MonkeyPatch) -> None:
    class LeRobots(Noted):
        """As LeRobot's own: without a calibration nothing is read in degrees."""

        def __init__(self, port: str, motors: dict[str, Any]) -> None:
            super().__init__()
            self.motors, self.connected = motors, False
            self.calibration: Any = None

        def connect(self) -> None:
            self.connected = True

        def read_calibration(self) -> Any:
            assert self.connected
            return dict.fromkeys(self.motors, "in the motor")

        def sync_read(self, data_name: str, *, normalize: bool = True) -> dict[str, float]:
            if normalize and not self.calibration:
                raise RuntimeError("no calibration registered")
            return super().sync_read(data_name)

    base = SimpleNamespace(MotorNormMode=SimpleNamespace(DEGREES=1, RANGE_M100_100=2), Motor=lambda *fields: fields)
    for name, module in (
        ("lerobot", SimpleNamespace(motors=base)),
        ("lerobot.motors", base),
        ("lerobot.motors.feetech", SimpleNamespace(FeetechMotorsBus=LeRobots)),
    ):
        monkeypatch.setitem(sys.modules, name, module)
    motors = {name: (k + 1, "sts3215") for k, name in enumerate(ARM.names)}
    for degrees in (True, False):
        bus = lerobot_bus("feetech", "/dev/ttyACM0", motors, degrees=degrees)
        assert set(bus.sync_read("Present_Position").values()) == {10.0}
    assert bus.motors["elbow_flex"] == (3, "sts3215", 2)


@pytest.mark.slow
@pytest.mark.usefixtures("ages")
def test_a_servo_arm_is_driven_at_50_hz_and_let_go() -> None:
    truth = random_calibration(3)
    bus = SimulatedBus([motor.motor for motor in truth.motors])
    servos = ServoArm(bus, ARM, truth)
    servos.write(ARM.rest)
    connection = Connection(servos, ARM, ["gripper_frame_link"], on_exit="release")
    assert connection.rate == 50
    seen: list[Any] = []

    def there() -> bool:
        """Whether the servos are where the loop is, with the gripper open."""
        q = servos.read()
        return abs(q[5] - ARM.upper[5]) < 0.01 and bool(np.abs(q - seen[-1].step.q)[:5].max() < 0.01)

    def hands() -> Any:
        """To one side in a second of ticks, and then at rest until the servos are there."""
        k = 0
        while k < 600 or not there():
            k += 1
            yield Command(Frame.at([0, 0.05 * math.sin(2 * min(k, 300) / 300), 0]), stamp=time.monotonic(), gripper=1.0)

    tracker = Solver().track(ARM, "gripper_frame_link", start=ARM.rest)
    drive(hands(), Mapping(), tracker, seen.append, arm=connection)
    assert not bus.torque
    q = servos.read()
    assert q[5] == pytest.approx(ARM.upper[5], abs=0.01)  # open
    assert np.abs(q - seen[-1].step.q)[:5].max() < 0.01
    assert json.dumps(bus.positions)
