"""Drive an arm over UDP: an operator sends poses, the loop sends joint values. Both ends are simulated here."""

import math
import socket
import threading
import time

import numpy as np

from supple import Frame, Solver, models
from supple.teleop import Command, Mapping, UdpSink, UdpSource, drive, tee, wire

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


class RealArm:
    """A simulated arm that lags by some ticks; put your own here. It ends after a second without commands."""

    def __init__(self):
        self.q = start
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(1.0)

    def receive(self):
        with self.socket:
            while True:
                try:
                    answer = wire.decode_answer(self.socket.recv(wire.MAX_BYTES))
                except TimeoutError:
                    return
                self.q = self.q + 0.3 * (answer.q - self.q)


real, source, log = RealArm(), UdpSource(port=0), []
threading.Thread(target=real.receive).start()
threading.Thread(target=operate, args=[(source.host, source.port)]).start()

sink = tee(UdpSink(real.socket.getsockname()), lambda tick: log.append((tick.held, real.q)))
tracker = Solver().track(arm, "tool0", start=start)
print(drive(source, Mapping(scale=0.5), tracker, sink, seconds=seconds, measured=lambda: real.q))

tool = arm.frame(np.array([q for _, q in log]), "tool0").position
print(f"{source.counts}; held: {', '.join(dict.fromkeys(why for why, _ in log if why))}")
print(f"the tool moved {100 * np.ptp(tool[:, 1]):.0f} cm along y and {100 * np.ptp(tool[:, 2]):.0f} cm along z")
