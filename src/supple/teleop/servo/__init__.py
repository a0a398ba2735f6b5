"""Servo bus: joint values from and to the motors of a bus, by a calibration that is stored in a file.

A bus is any object with LeRobot's two methods: ``sync_read("Present_Position")``, which returns a number for each motor
by its name, and ``sync_write("Goal_Position", {motor: number})``. LeRobot's ``FeetechMotorsBus`` and
``DynamixelMotorsBus`` have them.
"""

from supple.teleop.servo.arm import ServoArm
from supple.teleop.servo.bus import Bus, SimulatedBus, lerobot_bus
from supple.teleop.servo.guide import calibrated
from supple.teleop.servo.motors import Calibration, Motor

__all__ = ["Bus", "Calibration", "Motor", "ServoArm", "SimulatedBus", "calibrated", "lerobot_bus"]
