"""An SO-101 on its servo bus at 50 Hz: joint values in radians, motors in ticks. The bus is simulated."""

import math
import time

import numpy as np

from supple import Frame, Solver, models
from supple.teleop import Command, Mapping, drive
from supple.teleop.servo import Calibration, Motor, ServoArm, SimulatedBus

arm = models.so101()

# `supple calibrate so101 so101.json --port /dev/ttyACM0` finds these; here some motors are mounted the other way round
signs = (1, -1, 1, 1, -1, 1)
motors = [Motor(name, name, 2048, sign, unit="ticks") for name, sign in zip(arm.names, signs, strict=True)]
calibration = Calibration(motors)

# a real arm: bus = lerobot_bus("feetech", "/dev/ttyACM0", {name: (k + 1, "sts3215") ...}, degrees=False)
bus = SimulatedBus(arm.names, 2048)
servos = ServoArm(bus, arm, calibration, rate=50)
servos.write(arm.rest)


def operate(seconds=3.0):
    """A hand that swings by 4 cm, turns the wrist, and opens the gripper."""
    begin = time.monotonic()
    while (t := time.monotonic() - begin) < seconds:
        hand = Frame.at([0, 0.04 * math.sin(2 * t), 0], Frame.turn([1, 0, 0], 0.3 * math.sin(t)))
        yield Command(hand, stamp=t, gripper=min(t / 2, 1.0))


ticks = []
tracker = Solver().track(arm, "gripper_frame_link")
print(drive(operate(), Mapping(gripper_speed=1.0), tracker, ticks.append, arm=servos))

tip = arm.frame(np.array([tick.measured for tick in ticks if tick.measured is not None]), "gripper_frame_link").position
print(f"the tip moved {1000 * np.ptp(tip[:, 1]):.0f} mm along y; motors: {bus.positions}")
print(f"the gripper is open by {100 * ticks[-1].grippers[0]:.0f} %")
