"""BodyMap: which links of a linkage are the parts of a body, and where its soles are."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple import _check
from supple._linkage.argument import checked_linkage
from supple.animate.body_names import NEEDED, PARTS, matched, words
from supple.animate.limb_parts import LIMBS, limb_parts
from supple.errors import BadInput, SuppleError, unknown
from supple.linkage import Linkage
from supple.read import bounded
from supple.write import atomic

Point = tuple[float, float, float]
_BONES = ("upper_arm", "forearm", "thigh", "shank")
_POINTS = ("left_heel", "left_toe", "right_heel", "right_toe")
_MAX_BYTES = 1_000_000
# soles of robots whose files say nothing about them: corners of the collision shapes of the maker's model
_KNOWN_SOLES: Mapping[str, tuple[Point, Point]] = {
    "left_ankle_roll_link": ((-0.05, 0.0, -0.035), (0.12, 0.0, -0.035)),
    "right_ankle_roll_link": ((-0.05, 0.0, -0.035), (0.12, 0.0, -0.035)),
}


@dataclass(frozen=True)
class BodyMap:
    """Which links of a linkage are the parts of a body. A frozen value.

    >>> from supple.animate import BodyMap
    >>> from supple.models import g1
    >>> BodyMap.of(g1()).links["left_forearm"]
    'left_elbow_link'
    """

    links: Mapping[str, str]
    """Name of the link of each body part, such as ``{"left_forearm": "left_elbow_link"}``. A part is the link that
    begins at the joint it is named for: the forearm at the elbow, the hand at the wrist, the foot at the ankle."""
    soles: Mapping[str, Point]
    """Points of the feet that touch the ground, (3,) in metres and the foot's axes: ``left_heel``, ``left_toe`` and so
    on; empty where they are found from the rest pose."""

    def __post_init__(self) -> None:
        """Check the names of the parts and the points."""
        if not isinstance(self.links, Mapping) or not isinstance(self.soles, Mapping):
            raise BadInput("links and soles of a body must be mappings: links by parts, points by names")
        for part, link in self.links.items():
            if part not in PARTS:
                raise unknown("body part", part, PARTS)
            if not isinstance(link, str):
                raise BadInput(f"the link of {part} must be a name, got {_check.short(link)}")
        missing = [part for part in NEEDED if part not in self.links]
        if missing:
            raise BadInput(
                f"a body needs links for {', '.join(missing)}; add them: "
                f'BodyMap.of(linkage, {{"{missing[0]}": "NAME OF A LINK", ...}})'
            )
        for name, point in self.soles.items():
            if name not in _POINTS:
                raise unknown("point of a sole", name, _POINTS)
            _point(point, name)

    @classmethod
    def of(cls, linkage: Linkage, changes: Mapping[str, str] | None = None) -> BodyMap:
        """The map of a linkage by the names of its links; ``changes`` replaces or adds some parts.

        Pelvis, chest and head that have no usual name are found from the limbs: the links that carry both legs, both
        arms, and neither.

        Raises `BadInput` with the parts that no name fits, and `UnknownName` for links that are not there.
        """
        checked_linkage(linkage)
        changed = {} if changes is None else changes
        if not isinstance(changed, Mapping):
            raise BadInput(f"changes must be a mapping: links by parts, got {_check.short(changes)}")
        links = {**found_parts(linkage), **changed}
        for name in links.values():
            if not isinstance(name, str) or name not in linkage._link_named:
                raise unknown("link", name, linkage._link_named)
        _check_complete(linkage, links)
        soles: dict[str, Point] = {}
        for side in ("left", "right"):
            known = _KNOWN_SOLES.get(links.get(f"{side}_foot", ""))
            if known is not None:
                soles[f"{side}_heel"], soles[f"{side}_toe"] = known
        return cls(links, soles)

    def to_dict(self) -> dict[str, Any]:
        """The map as plain data, for JSON."""
        return {"links": dict(self.links), "soles": {name: list(point) for name, point in self.soles.items()}}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], linkage: Linkage) -> BodyMap:
        """A map from plain data; parts that it leaves out are found by their names."""
        if (
            not isinstance(data, Mapping)
            or set(data) - {"links", "soles"}
            or not isinstance(data.get("links", {}), Mapping)
            or not isinstance(data.get("soles", {}), Mapping)
        ):
            raise BadInput(f'a map has "links" and "soles", both objects; got {_check.short(data)}')
        filled = {part: not (isinstance(link, str) and link == "") for part, link in data.get("links", {}).items()}
        given = {part: link for part, link in data.get("links", {}).items() if filled[part]}
        found = cls.of(linkage, given)
        soles = {name: _point(value, name) for name, value in data.get("soles", {}).items()}
        return cls(found.links, {**found.soles, **soles})


def found_parts(linkage: Linkage) -> dict[str, str]:
    """The links of those body parts that are found by the names of a linkage's links."""
    return _with_trunk(linkage, _with_limbs(linkage, matched(link.name for link in linkage.links)))


def _with_limbs(linkage: Linkage, links: dict[str, str]) -> dict[str, str]:
    """The links of body parts, with those limbs from the joints of which names do not say all parts."""
    found, made = dict(links), None
    for side in ("left", "right"):
        for names in LIMBS.values():
            parts = [f"{side}_{name}" for name in names]
            if all(part in links for part in parts):
                continue
            made = limb_parts(linkage) if made is None else made
            if all(part in made for part in parts):
                found |= {part: made[part] for part in parts}
    return _moving(linkage, found)


def _moving(linkage: Linkage, links: dict[str, str]) -> dict[str, str]:
    """The links of body parts, with the link that a joint moves in place of a shell that is fixed to it.

    Hands and feet may be fixed: they are only reached for.
    """
    joints = {joint.child: joint for joint in linkage.joints}
    found = dict(links)
    for part, link in links.items():
        while part.partition("_")[2] in _BONES and link in joints and not joints[link].dof:
            link = joints[link].parent
        if link in joints and link not in links.values():
            found[part] = link
    return found


def _check_complete(linkage: Linkage, links: Mapping[str, str]) -> None:
    """Raises `BadInput` if a part of the body is missing, with the line to write."""
    missing = [part for part in NEEDED if part not in links]
    if not missing:
        return
    found = [part for part in NEEDED if part in links]
    if not found:
        raise BadInput(
            f"no link of {linkage.name!r} is named like a part of a body with two arms and two legs. If it has them, "
            f'say which: BodyMap.of(linkage, {{"{missing[0]}": "NAME OF A LINK", ...}}), or in a shell '
            "supple retarget ... --write-map map.json"
        )
    raise BadInput(
        f"{linkage.name!r} is no whole body: no link is named like its {_in_words(missing)}. Say which: "
        f'BodyMap.of(linkage, {{"{missing[0]}": "NAME OF A LINK", ...}}), or in a shell '
        "supple retarget ... --write-map map.json"
    )


def _in_words(parts: list[str]) -> str:
    """Names of parts, those of both sides together: "left and right hand"."""
    words: list[str] = []
    for part in parts:
        side, _, rest = part.partition("_")
        if side == "right" and f"left_{rest}" in parts:
            continue
        both = side == "left" and f"right_{rest}" in parts
        words.append((f"left and right {rest}" if both else part).replace("_", " "))
    return ", ".join(words)


def _with_trunk(linkage: Linkage, links: dict[str, str]) -> dict[str, str]:
    """The links of body parts, with pelvis, chest and head from the limbs that they carry, if names do not say them.

    A link called foot that moves on one called ankle is what bends at the ball of the foot.
    """
    parents = {joint.child: joint.parent for joint in linkage.joints}

    def carriers(link: str) -> list[str]:
        """The links that carry a link, the nearest first."""
        found = []
        while link in parents:
            link = parents[link]
            found.append(link)
        return found

    def carrier_of_both(part: str) -> str | None:
        sides = [links.get(f"{side}_{part}") for side in ("left", "right")]
        if None in sides:
            return None
        left, right = (carriers(side) for side in sides if side is not None)
        return next((link for link in left if link in right), None)

    found = dict(links)
    for side in ("left", "right"):
        ankle = links.get(f"{side}_foot")
        feet = [j.child for j in linkage.joints if j.parent == ankle and j.dof and words(j.child) == (side, ("foot",))]
        if feet:
            found.setdefault(f"{side}_toes", feet[0])
    pelvis, chest = carrier_of_both("thigh"), carrier_of_both("upper_arm")
    if pelvis is not None:
        found.setdefault("pelvis", pelvis)
    for part, carrier, limb in (("pelvis", pelvis, "thigh"), ("chest", chest, "upper_arm")):
        named = found.get(part)  # one that does not carry the limbs is another thing, such as a shell
        if named is not None and carrier is not None and named not in carriers(links[f"left_{limb}"]):
            found[part] = carrier
    if chest is not None and chest != found.get("pelvis") and found.get("chest", pelvis) in carriers(chest):
        found["chest"] = chest  # of several joints of a spine, the one with the arms
    if "head" not in found and "chest" in found:
        limbs = {one for part in links.values() for one in (part, *carriers(part))}
        above = [j.child for j in linkage.joints if j.parent == found["chest"] and j.dof and j.child not in limbs]
        while len(above) == 1:
            found["head"] = above[0]
            above = [joint.child for joint in linkage.joints if joint.parent == above[0] and joint.dof]
    while "head" in found:  # of several joints of a head the last
        above = [j.child for j in linkage.joints if j.parent == found["head"] and j.dof and "head" in words(j.child)[1]]
        if len(above) != 1:
            break
        found["head"] = above[0]
    return found


def _point(value: Any, name: str) -> Point:
    array = _check.numbers(value, name, "(3,)")
    if array.shape != (3,) or not np.isfinite(array).all():
        raise BadInput(f"{name} must be three finite numbers in metres, got {_check.short(value)}")
    return float(array[0]), float(array[1]), float(array[2])


def save_maps(path: str | os.PathLike[str], source: BodyMap, target: BodyMap) -> None:
    """Write the maps of a source and a target to a JSON file, to be edited and read by `load_maps`."""
    maps = [_check.instance(one, BodyMap, what) for one, what in ((source, "source"), (target, "target"))]
    text = json.dumps(dict(zip(("source", "target"), (one.to_dict() for one in maps), strict=True)), indent=2)
    with atomic.replacing(_check.file_name(path)) as new:
        new.write_text(text + "\n", encoding="utf-8")


def save_incomplete_maps(path: str | os.PathLike[str], source: Linkage, target: Linkage) -> dict[str, list[str]]:
    """Write maps with the parts that were found by names, and "" for the others, which are to be filled in.

    Returns the parts that are missing, for "source" and "target".
    """
    maps, missing = {}, {}
    for key, linkage in (("source", source), ("target", target)):
        found = found_parts(linkage)
        missing[key] = [part for part in NEEDED if part not in found]
        parts = [part for part in PARTS if part in found or part in NEEDED]
        maps[key] = {"links": {part: found.get(part, "") for part in parts}, "soles": {}}
    with atomic.replacing(_check.file_name(path)) as new:
        new.write_text(json.dumps(maps, indent=2) + "\n", encoding="utf-8")
    return missing


def load_maps(path: str | os.PathLike[str], source: Linkage, target: Linkage) -> tuple[BodyMap, BodyMap]:
    """The maps of a source and a target from a JSON file; what it leaves out is found by names.

    Raises `BadInput` with the file.
    """
    name = _check.file_name(path)
    try:
        with bounded.open_binary(name, _MAX_BYTES) as opened:
            data = json.loads(opened.read(_MAX_BYTES).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{name}: cannot read the map: {error}") from None
    if not isinstance(data, Mapping) or set(data) - {"source", "target"}:
        raise BadInput(f'{name}: a file of maps is an object with "source" and "target"')
    try:
        pairs = [(data.get(key, {}), linkage) for key, linkage in (("source", source), ("target", target))]
        for part, _ in pairs:
            if not isinstance(part, Mapping):
                raise BadInput("a map must be an object")
        first, second = (BodyMap.from_dict(part, linkage) for part, linkage in pairs)
    except SuppleError as error:
        raise BadInput(f"{name}: {error}") from None
    return first, second
