"""A walking person as .bvh files of several tools: other names, axes, units, orders of channels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

# name, parent, offset in centimetres, y up, with the arms sideways
PERSON = [
    ("Hips", "", (0, 95, 0)),
    ("Spine", "Hips", (0, 10, 0)),
    ("Spine1", "Spine", (0, 12, 0)),
    ("Spine2", "Spine1", (0, 13, 0)),
    ("Neck", "Spine2", (0, 16, 0)),
    ("Head", "Neck", (0, 9, 2)),
    *(
        joint
        for side, sign in (("Left", 1), ("Right", -1))
        for joint in (
            (f"{side}Shoulder", "Spine2", (6 * sign, 13, 0)),
            (f"{side}Arm", f"{side}Shoulder", (12 * sign, 0, 0)),
            (f"{side}ForeArm", f"{side}Arm", (28 * sign, 0, 0)),
            (f"{side}Hand", f"{side}ForeArm", (26 * sign, 0, 0)),
            (f"{side}UpLeg", "Hips", (9 * sign, -4, 0)),
            (f"{side}Leg", f"{side}UpLeg", (0, -43, 0)),
            (f"{side}Foot", f"{side}Leg", (0, -42, 0)),
            (f"{side}ToeBase", f"{side}Foot", (0, -6, 14)),
        )
    ),
]
BLENDER = {"Hips": "spine", "Spine": "spine.001", "Spine1": "spine.002", "Spine2": "spine.003", "Neck": "spine.004"}
BLENDER |= {"Head": "spine.006"} | {
    f"{side}{part}": f"{name}.{side[0]}"
    for side in ("Left", "Right")
    for part, name in {
        "Shoulder": "shoulder",
        "Arm": "upper_arm",
        "ForeArm": "forearm",
        "Hand": "hand",
        "UpLeg": "thigh",
        "Leg": "shin",
        "Foot": "foot",
        "ToeBase": "toe",
    }.items()
}
XSENS = {"Hips": "Hips", "Spine": "Chest", "Spine1": "Chest2", "Spine2": "Chest4", "Neck": "Neck", "Head": "Head"}
XSENS |= {
    f"{side}{part}": f"{side}{name}"
    for side in ("Left", "Right")
    for part, name in {
        "Shoulder": "Collar",
        "Arm": "Shoulder",
        "ForeArm": "Elbow",
        "Hand": "Wrist",
        "UpLeg": "Hip",
        "Leg": "Knee",
        "Foot": "Ankle",
        "ToeBase": "Toe",
    }.items()
}
MIXAMO = {name: f"mixamorig:{name}" for name, _, _ in PERSON}


def walk(path: Path, names: dict[str, str], *, up: str = "y", unit: float = 1.0, everywhere: bool = False) -> Path:
    """A walk of 40 frames; ``everywhere``: all joints have position channels, with their offsets as values."""
    turn: Callable[[np.ndarray], np.ndarray] = (lambda v: v) if up == "y" else (lambda v: np.array([v[0], -v[2], v[1]]))
    place = {name: unit * turn(np.array(offset, dtype=float)) for name, _, offset in PERSON}
    across, upright = "XYZ"[0], {"y": "Y", "z": "Z"}[up]
    other = {"y": "Z", "z": "Y"}[up]
    order = f"{upright}{across}{other}"
    text, sequence = ["HIERARCHY"], []

    def write(name: str, depth: int) -> None:
        tab = "\t" * depth
        text.append(f"{tab}{'JOINT' if depth else 'ROOT'} {names[name]}\n{tab}{{")
        text.append(f"{tab}\tOFFSET {' '.join(f'{x:.6f}' for x in place[name] * (depth > 0))}")
        positions = "Xposition Yposition Zposition " if everywhere or not depth else ""
        turns = " ".join(f"{axis}rotation" for axis in order)
        text.append(f"{tab}\tCHANNELS {6 if positions else 3} {positions}{turns}")
        sequence.append(name)
        for child, parent, _ in PERSON:
            if parent == name:
                write(child, depth + 1)
        text.append(f"{tab}}}")

    write("Hips", 0)
    text += ["MOTION", "Frames: 40", "Frame Time: 0.033333"]
    for i in range(40):
        phase, row = 2 * np.pi * i / 33, []
        for name in sequence:
            side = 0.0 if name.startswith("Left") else np.pi
            bend = {"UpLeg": -28 * np.sin(phase + side), "Leg": 30 + 26 * np.cos(phase + side + 0.5)}
            forward = bend.get(name.removeprefix("Left").removeprefix("Right"), 0.0)
            if name == "Hips":
                row += list(place[name] + unit * turn(np.array([0.0, -3.0, 3.6 * i])))
            elif everywhere:
                row += list(place[name])
            row += [0.0, forward, 0.0]
        text.append(" ".join(f"{x:.5f}" for x in row))
    path.write_text("\n".join(text) + "\n")
    return path
