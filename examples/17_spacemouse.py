"""A SpaceMouse or a gamepad drives an arm for ten seconds. Without one it says so, and a stand-in pushes."""

import numpy as np

from supple import BadInput, Frame, MissingExtra, Solver, models
from supple.teleop import Command, Gamepad, Mapping, SpaceMouse, drive
from supple.teleop.devices import move_hand

arm, rate, said = models.panda(), 300, []


def device(kind):
    """A device, or None and why there is none."""
    try:
        return kind(speed=0.2, turn=0.8)  # metres and radians a second, of a full push
    except (BadInput, MissingExtra) as why:
        print(f"{kind.__name__}: 0 found: {why}")
        return None


def stand_in():
    """What a device would say: pushed forward for a second, pushed up and turned for a second, and at rest."""
    hand = Frame()
    for tick in range(round(2.5 * rate)):
        forward, up = float(tick < rate), float(rate <= tick < 2 * rate)
        hand = move_hand(hand, [forward, 0, up, 0, 0, up], 1 / rate, speed=0.2, turn=0.8)
        yield Command(hand, engaged=True, stamp=tick / rate, sequence=tick)


def tell(tick):
    """What an arm would be sent is tick.step.q; here it is only said how it goes, when that changes."""
    now = tick.held or tick.step.status.name.lower()
    if now not in said[-1:]:
        said.append(now)
        print(f"{tick.t:5.2f} s  {now}  {tick.step.why}")


source = device(SpaceMouse) or device(Gamepad)
if source is None:
    print("a stand-in pushes instead")
else:
    print("hold its first button (of a gamepad, a shoulder button) and push")

tracker = Solver().track(arm, "panda_hand", start=arm.rest)
before = arm.frame(arm.rest, "panda_hand").position
# the operator sits behind the arm: forward, left and up are x, y and z of both
print(drive(source or stand_in(), Mapping(), tracker, tell, rate, seconds=10))
after = arm.frame(tracker.q, "panda_hand").position
print("the hand went", np.round(100 * (after - before), 1) + 0.0, "cm")
