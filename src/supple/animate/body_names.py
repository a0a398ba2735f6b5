"""The names of body parts: which link of a figure or a humanoid robot is its pelvis, its left hand and so on."""

from __future__ import annotations

import re
from collections import Counter
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
_FEW = 2  # names

# words of a link's name without its side, best first; spaces between words do not count, nor does a number 0 or 1
# after them if there is no link without
_WORDS: Mapping[str, tuple[str, ...]] = {
    "pelvis": ("pelvis", "hips", "hip", "root"),
    "chest": ("torso", "chest", "upper chest", "spine 2", "spine 1", "spine 3", "spine", "trunk"),
    "head": ("head",),
    "upper_arm": ("shoulder roll", "upper arm", "arm", "up arm", "humerus", "shldr", "shoulder"),
    "forearm": ("elbow", "elbow pitch", "fore arm", "lower arm", "low arm", "radius"),
    "hand": ("wrist yaw", "wrist", "hand", "wrist roll", "palm"),
    "thigh": ("hip roll", "thigh", "up leg", "upper leg", "femur", "hip"),
    "shank": ("knee", "shank", "leg", "lower leg", "low leg", "calf", "shin", "tibia"),
    "foot": ("ankle roll", "ankle", "foot"),
    "toes": ("toes", "toe base", "toe", "ball", "toe 1-1"),
}
_FILLER = {"link", "joint", "bone", "def", "bend", "c"}  # also the end of a limb's upper part, and the middle of a body
_SIDES = {"left": "left", "l": "left", "right": "right", "r": "right"}


def _compact(rest: Iterable[str]) -> str:
    return "".join(str(int(word)) if word.isdecimal() else word for word in rest)


_KNOWN = {_compact(re.split("[^a-z0-9]", name)) for names in _WORDS.values() for name in names}


def words(name: str) -> tuple[str, tuple[str, ...]]:
    """The side of a name, "left", "right" or "", and its other words in lower case.

    >>> words("LeftForeArm"), words("left_wrist_yaw_link"), words("mixamorig:R_UpLeg"), words("ltibia")
    (('left', ('fore', 'arm')), ('left', ('wrist', 'yaw')), ('right', ('mixamorig', 'up', 'leg')), ('left', ('tibia',)))
    """
    split = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    split = re.sub(r"([a-zA-Z])([0-9])", r"\1 \2", split)
    split = re.sub(r"(^|[^a-zA-Z])([LR])([A-Z][a-z])", r"\1\2 \3", split)
    found = [word for word in re.split(r"[^a-zA-Z0-9]+", split.lower()) if word and word not in _FILLER]
    for word in found:
        if word in _SIDES:
            found.remove(word)
            return _SIDES[word], tuple(found)
    if found and found[0][0] in "lr" and _compact([found[0][1:], *found[1:]]) in _KNOWN:
        return _SIDES[found[0][0]], (found[0][1:], *found[1:])
    return "", tuple(found)


def matched(links: Iterable[str]) -> dict[str, str]:
    """The links that are body parts, by their names: of several candidates the one whose name fits best.

    Words with which more than half of the names begin belong to the figure, not to its parts.

    >>> matched(["Hips", "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase"])["left_shank"]
    'LeftLeg'
    >>> matched(["Bip01", "Bip01 Pelvis", "Bip01 L Thigh", "Bip01 L Calf", "Bip01 L Foot"])["left_shank"]
    'Bip01 L Calf'
    """
    names = [(link, *words(link)) for link in links]
    while common := _common_word([rest for _, _, rest in names]):
        names = [(link, side, rest[1:] if rest[:1] == (common,) else rest) for link, side, rest in names]
    named: dict[tuple[str, str], str] = {}
    for link, side, rest in names:
        named.setdefault((side, _compact(rest)), link)
    found: dict[str, str] = {}
    for part in PARTS:
        side, _, kind = part.partition("_") if part.startswith(("left_", "right_")) else ("", "", part)
        candidates = [_compact(re.split("[^a-z0-9]", name)) for name in _WORDS[kind]]
        numbered = [name + number for name in candidates for number in ("1", "0")]
        found |= next(({part: named[side, one]} for one in (*candidates, *numbered) if (side, one) in named), {})
    return found


def _common_word(names: list[tuple[str, ...]]) -> str:
    """The first word of more than half of many names, if it is none of a part; else ""."""
    counts = Counter(rest[0] for rest in names if rest)
    word, count = max(counts.items(), key=lambda item: item[1], default=("", 0))
    return word if count > max(len(names) / 2, _FEW) and word not in _KNOWN else ""
