"""Valid calls of `supple.animate`, for hostile values to replace arguments of."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from supple import Goal, Motion, animate, models

FIGURE = models.human()
GOAL = Goal("head", position=[0, 0, 1.5])
CLIP = Motion(FIGURE, np.arange(4) / 30, np.tile(FIGURE.rest, (4, 1)))
PARTS = animate.BodyMap.of(FIGURE)


def calls(folder: str) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """A valid call for each name; files are made in the folder."""
    retarget = animate.Retarget(FIGURE, FIGURE)
    timeline = animate.Timeline(FIGURE).pose(0.0, FIGURE.rest).pose(0.1, FIGURE.rest)
    clip, maps = os.path.join(folder, "person.bvh"), os.path.join(folder, "maps.json")
    CLIP.save(clip)
    animate.save_maps(maps, PARTS, PARTS)
    return {
        "supple.animate.BodyMap": (animate.BodyMap, {"links": dict(PARTS.links), "soles": dict(PARTS.soles)}),
        "supple.animate.BodyMap.of": (animate.BodyMap.of, {"linkage": FIGURE, "changes": {"head": "head"}}),
        "supple.animate.BodyMap.from_dict": (
            animate.BodyMap.from_dict,
            {"data": PARTS.to_dict(), "linkage": FIGURE},
        ),
        "supple.animate.Retarget": (
            animate.Retarget,
            {"source": FIGURE, "target": FIGURE, "source_map": PARTS, "target_map": PARTS}
            | {"source_rest": FIGURE.rest, "scale": 1.0, "smooth": 0.02},
        ),
        "supple.animate.Retarget.motion": (retarget.motion, {"clip": CLIP, "progress": False}),
        "supple.animate.Retarget.contacts": (retarget.contacts, {"clip": CLIP}),
        "supple.animate.Retarget.ground": (retarget.ground, {"clip": CLIP}),
        "supple.animate.Retarget.stream": (retarget.stream, {"rate": 30.0, "ground": 0.0, "delay": 0.05}),
        "supple.animate.RetargetStream.step": (retarget.stream(30.0).step, {"q": FIGURE.rest}),
        "supple.animate.Timeline": (
            animate.Timeline,
            {"linkage": FIGURE, "poses": timeline.poses, "tracks": timeline.tracks},
        ),
        "supple.animate.Timeline.pose": (
            timeline.pose,
            {"time": 0.2, "q": FIGURE.rest, "joints": list(FIGURE.names)[:0] or None, "ease": True},
        ),
        "supple.animate.Timeline.goal": (
            timeline.goal,
            {"time": 0.2, "goal": GOAL, "base": "pelvis", "ease": True, "blend": 0.25},
        ),
        "supple.animate.Timeline.motion": (timeline.motion, {"rate": 30.0, "progress": False}),
        "supple.animate.Timeline.missed": (timeline.missed, {"motion": timeline.motion(progress=False)}),
        "supple.animate.Timeline.at": (timeline.at, {"times": [0.0, 0.05], "progress": False}),
        "supple.animate.blend": (
            animate.blend,
            {"linkage": FIGURE, "first": FIGURE.rest, "second": FIGURE.rest, "weight": 0.5},
        ),
        "supple.animate.plant_feet": (animate.plant_feet, {"motion": CLIP, "parts": PARTS}),
        "supple.animate.load_clip": (animate.load_clip, {"path": clip, "up": "y", "unit": 0.01}),
        "supple.animate.load_maps": (animate.load_maps, {"path": maps, "source": FIGURE, "target": FIGURE}),
        "supple.animate.save_maps": (
            animate.save_maps,
            {"path": os.path.join(folder, "again.json"), "source": PARTS, "target": PARTS},
        ),
    }
