"""Drive an arm over UDP: an operator sends poses, a real arm follows. Both are simulated here."""

import math
import socket
import threading
import time

import numpy as np

from supple import Frame, Solver, models
from supple.teleop import Command, Mapping, SimulatedArm, UdpSource, drive, wire

arm, seconds = models.ur5(), 4.0
start = arm.q(shoulder_lift_joint=-1.2, elbow_joint=1.5, wrist_1_joint=-1.0, wrist_2_joint=-1.2)


def operate(address):
    """A hand on a circle of 20 cm, once per second, sent at 100 Hz; nothing is sent in the third second."""
    begin = time.monotonic()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for k in range(int(100 * seconds)):
            time.sleep(max(0.0, begin + k / 100 - time.monotonic()))
            turn = math.tau * k / 100
            hand = Frame.at([0, 0.1 * math.sin(turn), 0.1 * math.cos(turn)])
            if not 200 <= k < 300:
                out.sendto(wire.encode(Command(hand, engaged=True, stamp=k / 100, sequence=k)), address)


class MyArm:
    """Your arm: two methods. They may block; a thread of its own calls them, 100 times a second."""

    def __init__(self):
        self.real = SimulatedArm(arm, start)  # put your own here

    def read(self):
        return self.real.read()  # measured joint values (dof,), in radians

    def write(self, q):
        self.real.write(q)  # move there: close to where it was sent before, within all limits

    def hold(self):
        self.real.hold()  # optional: called after a stop, and at the end


mine, source, log = MyArm(), UdpSource(port=0), []
threading.Thread(target=operate, args=[(source.host, source.port)]).start()

tracker = Solver().track(arm, "tool0")  # the loop begins where the arm is, not at tracker.q
print(drive(source, Mapping(scale=0.5), tracker, log.append, seconds=seconds, arm=mine))

tool = arm.frame(np.array([tick.measured for tick in log if tick.measured is not None]), "tool0").position
print(f"{source.counts}; held: {', '.join(dict.fromkeys(tick.held for tick in log if tick.held))}")
print(f"the tool moved {100 * np.ptp(tool[:, 1]):.0f} cm along y and {100 * np.ptp(tool[:, 2]):.0f} cm along z")
