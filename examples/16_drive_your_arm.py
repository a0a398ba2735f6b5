"""Drive your own arm over UDP: an operator sends hands, the loop sends joint values. Both ends here are stand-ins."""

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
    """A hand that draws a circle of 20 cm a second, seen 100 times a second, and not at all in the third second."""
    begin = time.monotonic()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for k in range(int(100 * seconds)):
            time.sleep(max(0.0, begin + k / 100 - time.monotonic()))
            turn = math.tau * k / 100
            hand = Frame.at([0, 0.1 * math.sin(turn), 0.1 * math.cos(turn)])
            if not 200 <= k < 300:
                out.sendto(wire.encode(Command(hand, engaged=True, stamp=k / 100, sequence=k)), address)


class RealArm:
    """Motors that are some ticks behind; put your own here. It ends when it has heard nothing for a second."""

    def __init__(self):
        self.q = start
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(1.0)

    def obey(self):
        with self.socket:
            while True:
                try:
                    told = wire.decode_answer(self.socket.recv(wire.LIMIT))
                except TimeoutError:
                    return
                self.q = self.q + 0.3 * (told.q - self.q)


real, source, way = RealArm(), UdpSource(port=0), []
threading.Thread(target=real.obey).start()
threading.Thread(target=operate, args=[(source.host, source.port)]).start()

sink = tee(UdpSink(real.socket.getsockname()), lambda tick: way.append((tick.held, real.q)))
tracker = Solver().track(arm, "tool0", start=start)
print(drive(source, Mapping(scale=0.5), tracker, sink, seconds=seconds, measured=lambda: real.q))

hands = arm.frame(np.array([q for _, q in way]), "tool0").position
print(f"{source.counts}; held: {', '.join(dict.fromkeys(why for why, _ in way if why))}")
print(f"the hand went {100 * np.ptp(hands[:, 1]):.0f} cm across and {100 * np.ptp(hands[:, 2]):.0f} cm up and down")
