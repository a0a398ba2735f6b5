"""Coverage-guided fuzzing of the URDF reader, run by hand: ``python tests/read/fuzz_urdf.py -max_total_time=60``."""

from __future__ import annotations

import sys
from xml.sax.saxutils import quoteattr

import atheris

with atheris.instrument_imports(include=["supple"]):
    from supple.errors import BadLinkage
    from supple.read import fields, meshes, safe_xml, shapes, urdf, urdf_text  # noqa: F401

TAGS = "link joint parent child origin axis limit mimic visual collision geometry material color".split()  # noqa: SIM905
TAGS += ["box", "sphere", "cylinder", "capsule", "mesh", "x:y", "gazebo"]
NAMES = "name type link joint xyz rpy quat_xyzw lower upper velocity multiplier offset rgba size radius".split()  # noqa: SIM905
NAMES += ["length", "filename", "scale"]
VALUES = "a b c j k revolute continuous prismatic fixed ball planar floating 0 1 -1 1e999 nan 0,5 package://a/b".split()  # noqa: SIM905
VALUES += ["0 0 0", "0 0 1", "0 0 0 1", "1 2", ""]


def robot(data: atheris.FuzzedDataProvider) -> str:
    """A well-formed document that is nearly a robot, as the bytes choose."""
    text, open_tags = "<robot>", []
    while data.remaining_bytes():
        if open_tags and data.ConsumeBool():
            text += f"</{open_tags.pop()}>"
            continue
        tag = data.PickValueInList(TAGS)
        attributes = {}
        for _ in range(data.ConsumeIntInRange(0, 3)):
            free = data.ConsumeUnicodeNoSurrogates(8) if data.ConsumeIntInRange(0, 9) == 0 else None
            attributes[data.PickValueInList(NAMES)] = data.PickValueInList(VALUES) if free is None else free
        text += f"<{tag} " + " ".join(f"{name}={quoteattr(value)}" for name, value in attributes.items()) + ">"
        open_tags.append(tag)
    return text + "".join(f"</{tag}>" for tag in reversed(open_tags)) + "</robot>"


def read(text: str | bytes) -> None:
    """Read or refuse: any other exception is a find."""
    try:
        urdf_text(text)
    except BadLinkage as refused:
        message = str(refused)
    else:
        return
    if len(message) > 5000:
        raise RuntimeError("a refusal without end")


def one(data: bytes) -> None:
    """The bytes as they are, and as the choices of a writer of robots."""
    read(data)
    read(robot(atheris.FuzzedDataProvider(data)))


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
