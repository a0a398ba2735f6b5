"""The names of body parts: which link of a figure or a humanoid robot is its pelvis, its left hand and so on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

PARTS = (
    "pelvis",
    "chest",
    "head",
    *(
        f"{side}_{part}"
        for side in ("left", "right")
        for part in ("upper_arm", "forearm", "hand", "thigh", "shank", "foot", "toes")
    ),
)
"""Body parts: each is the link that begins at the joint it is named for, such as the forearm at the elbow."""
NEEDED = tuple(part for part in PARTS if part != "head" and not part.endswith("toes"))
"""Body parts that a body must have."""

# words of a link's name without its side, best first; * stands for any words
_WORDS: Mapping[str, tuple[str, ...]] = {
    "pelvis": ("pelvis", "hips", "hip", "root"),
    "chest": ("torso", "chest", "upper chest", "spine 2", "spine 1", "spine 3", "spine", "trunk"),
    "head": ("head",),
    "upper_arm": ("shoulder roll", "upper arm", "arm", "up arm", "uparm", "humerus", "shoulder"),
    "forearm": ("elbow", "elbow pitch", "forearm", "fore arm", "lower arm", "lowarm", "radius"),
    "hand": ("wrist yaw", "hand", "wrist", "wrist roll", "palm"),
    "thigh": ("hip roll", "thigh", "up leg", "upleg", "upper leg", "femur", "hip"),
    "shank": ("knee", "shank", "leg", "lower leg", "low leg", "calf", "shin", "tibia"),
    "foot": ("ankle roll", "foot", "ankle"),
    "toes": ("toes", "toe base", "toe", "ball", "toebase"),
}
_FILLER = {"link", "joint", "mixamorig", "bip", "bip01", "bone", "def", "j"}


def words(name: str) -> tuple[str, tuple[str, ...]]:
    """The side of a name, "left", "right" or "", and its other words in lower case.

    >>> words("LeftForeArm"), words("left_wrist_yaw_link"), words("mixamorig:R_UpLeg")
    (('left', ('fore', 'arm')), ('left', ('wrist', 'yaw')), ('right', ('up', 'leg')))
    """
    split = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    split = re.sub(r"([a-zA-Z])([0-9])", r"\1 \2", split)
    split = re.sub(r"^([LR])([A-Z][a-z])", r"\1 \2", split)
    found = [word for word in re.split(r"[^a-zA-Z0-9]+", split.lower()) if word and word not in _FILLER]
    side = ""
    for word, meant in (("left", "left"), ("l", "left"), ("right", "right"), ("r", "right")):
        if word in found and not side:
            side = meant
            found.remove(word)
    return side, tuple(found)


def matched(links: Iterable[str]) -> dict[str, str]:
    """The links that are body parts, by their names: of several candidates the one whose name fits best.

    >>> matched(["Hips", "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase"])["left_shank"]
    'LeftLeg'
    """
    named: dict[tuple[str, str], str] = {}
    for link in links:
        side, rest = words(link)
        named.setdefault((side, " ".join(rest)), link)
    found: dict[str, str] = {}
    for part in PARTS:
        side, _, kind = part.partition("_") if part.startswith(("left_", "right_")) else ("", "", part)
        for candidate in _WORDS[kind]:
            if (side, candidate) in named:
                found[part] = named[side, candidate]
                break
    return found
