"""Record a session, replay it bit for bit, and compare textbook methods on the same commands."""

from math import pi, sin
from pathlib import Path
from tempfile import TemporaryDirectory

from supple import Frame, Solver, models
from supple.teleop import Command, Mapping, Recorder, Recording, drive, replay
from supple.teleop.methods import named

arm, rate = models.ur5(), 300
start = arm.q(shoulder_lift_joint=-1.2, elbow_joint=1.5, wrist_1_joint=-1.0, wrist_2_joint=-1.2)


def operator(seconds=2.0):
    """A hand that oscillates, disengages for a while, engages again, and moves out of reach."""
    for tick in range(round(seconds * rate)):
        t = tick / rate
        far = 0.9 * max(t - 1.2, 0.0) / 0.8
        yield Command(Frame.at([far, 0.1 * sin(2 * pi * t), 0]), engaged=not 0.5 < t < 0.7, stamp=t)


with TemporaryDirectory() as folder:
    tracker = Solver().track(arm, "tool0", start=start)
    recorder = Recorder.within(folder, tracker, rate, ".csv")  # ".parquet" is smaller; it needs the extra "teleop"
    drive(operator(), Mapping(), tracker, recorder, rate)
    file = recorder.path
    print(f"{file.name}: {Path(file).stat().st_size / 1e6:.1f} MB, {recorder.lost} ticks lost")

    recording = Recording(file)
    rows = recording.rows()
    print(f"{recording.linkage.name} by {recording.solver}: {rows.q.shape[0]} ticks of {rows.q.shape[1]} joint values")
    print(replay(recording))

    print("\nthe same commands with")
    for name in ("supple", "paper", "damped", "pseudoinverse"):
        side = replay(recording, named(name)).replayed
        statuses = ", ".join(f"{100 * count / len(rows.t):.0f} % {word}" for word, count in side.statuses.items())
        print(f"  {name:<13} mean error {1e3 * side.distance[0]:5.1f} mm; {statuses}")
    raw = replay(recording, Solver(method=named("pseudoinverse").method, keep_limits=False)).replayed
    print(f"  a pseudo-inverse without limits exceeds speed limits in {raw.too_fast} ticks: {max(raw.speed):.0f} rad/s")
