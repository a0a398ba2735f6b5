"""A SpaceMouse or a gamepad drives an arm for ten seconds; without a device, a simulated one does."""

import numpy as np

from supple import BadInput, Frame, MissingExtra, Solver, models
from supple.teleop import Command, Gamepad, Mapping, SpaceMouse, drive
from supple.teleop.devices import move_hand

arm, rate, printed = models.panda(), 300, []


def device(kind):
    """A device, or None if there is none."""
    try:
        return kind(speed=0.2, turn=0.8)  # m/s and rad/s at full deflection
    except (BadInput, MissingExtra) as why:
        print(f"{kind.__name__}: 0 found: {why}")
        return None


def simulated():
    """Commands of a device: forward for a second, up with rotation for a second, then at rest."""
    hand = Frame()
    for tick in range(round(2.5 * rate)):
        forward, up = float(tick < rate), float(rate <= tick < 2 * rate)
        hand = move_hand(hand, [forward, 0, up, 0, 0, up], 1 / rate, speed=0.2, turn=0.8)
        yield Command(hand, engaged=True, stamp=tick / rate, sequence=tick)


def show(tick):
    """Print the status when it changes; a real arm would be sent tick.step.q."""
    status = tick.held or tick.step.status.name.lower()
    if status not in printed[-1:]:
        printed.append(status)
        print(f"{tick.t:5.2f} s  {status}  {tick.step.why}")


source = device(SpaceMouse) or device(Gamepad)
if source is None:
    print("using a simulated device")
else:
    print("hold the first button (on a gamepad, a shoulder button) and push")

tracker = Solver().track(arm, "panda_hand", start=arm.rest)
before = arm.frame(arm.rest, "panda_hand").position
# the operator is behind the arm: forward, left and up are x, y and z for both
print(drive(source or simulated(), Mapping(), tracker, show, rate, seconds=10))
after = arm.frame(tracker.q, "panda_hand").position
print("the end effector moved by", np.round(100 * (after - before), 1) + 0.0, "cm")
