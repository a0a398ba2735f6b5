"""The parts of limbs whose links have no usual names: from the joints, of whose distances the longest are the bones."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from supple.animate.body_names import words
from supple.linkage import Linkage

LIMBS: Mapping[str, tuple[str, str, str]] = {
    "arm": ("upper_arm", "forearm", "hand"),
    "leg": ("thigh", "shank", "foot"),
}
"""Parts of each kind of limb, from its beginning to its end."""
_WORDS = {"arm": "arm|shoulder|elbow|wrist|hand", "leg": "leg|hip|thigh|knee|ankle|foot"}
_BEYOND = re.compile("finger|thumb|gripper|toe")
_NEAR = {"arm": 0.9, "leg": 0.3}  # of the length of the second bone: joints so near to its end are of hand or foot


def limb_parts(linkage: Linkage) -> dict[str, str]:
    """The links of arms and legs, where a link carries a chain of joints on its left and one on its right.

    The sides are found by names, at any place of the chains. Of the links between two joints of a chain the longest two
    are the bones: what begins at the last joint before the first bone is the upper arm or the thigh.
    """
    parents = {joint.child: joint.parent for joint in linkage.joints}
    moving = {joint.child for joint in linkage.joints if joint.dof and joint.mimic is None}
    below: dict[str, list[str]] = {}  # the nearest links below each link that move on it
    sides: dict[str, set[str]] = {}  # of all links from each link on
    for joint in reversed(linkage.joints):
        link = joint.child
        own = sides.setdefault(link, set())
        own |= {words(link)[0]} - {""}
        sides.setdefault(joint.parent, set()).update(own)
    for link in moving:
        carrier = parents[link]
        while carrier in parents and carrier not in moving:
            carrier = parents[carrier]
        below.setdefault(carrier, []).append(link)
    found: dict[str, str] = {}
    for carrier, links in below.items():
        if len(sides[carrier]) < 2:  # both sides hang on it
            continue
        for link in links:
            if len(sides[link]) == 1:
                found |= _parts_of_chain(linkage, _chain(link, below), *sides[link])
    return found


def _chain(link: str, below: Mapping[str, list[str]]) -> list[str]:
    """The moving links from one on, until there are several or a finger."""
    found = [link]
    while len(below.get(found[-1], ())) == 1 and not _BEYOND.search(below[found[-1]][0].lower()):
        found.append(below[found[-1]][0])
    return found


def _parts_of_chain(linkage: Linkage, chain: list[str], side: str) -> dict[str, str]:
    """The three parts of a limb, if it is an arm or a leg by its names and has two bones."""
    text = " ".join(chain).lower()
    counts = {kind: len(re.findall(pattern, text)) for kind, pattern in _WORDS.items()}
    if counts["arm"] == counts["leg"] or len(chain) < len(_WORDS) + 1:
        return {}
    places = np.stack([linkage.frame(linkage.rest, link).position for link in chain])
    lengths = np.linalg.norm(np.diff(places, axis=0), axis=-1)
    first, second = sorted(np.argsort(-lengths, kind="stable")[:2].tolist())
    if not lengths[first] > 0 or not lengths[second] > 0:
        return {}
    kind = max(counts, key=lambda one: counts[one])
    away = np.linalg.norm(places[second + 1 :] - places[second + 1], axis=-1)
    last = second + 1 + int(np.flatnonzero(away <= _NEAR[kind] * lengths[second])[-1])
    return {f"{side}_{part}": chain[at] for part, at in zip(LIMBS[kind], (first, second, last), strict=True)}
