"""Hostile arguments: valid calls of every public function, and values that replace one or two of their arguments."""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
import os
import random
import signal
import tempfile
import time
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import hostile_animate
import hostile_teleop
import supple
from supple import _check, analysis, damping, gauntlet, jobs, method, models, prefer, read, teleop
from supple.errors import SuppleError
from supple.integrations import lerobot

LONGEST_CALL = 60.0  # s; far more than any takes, for a busy machine

ARM = models.planar3()
PANDA = models.panda()
TIP = "panda_hand_tcp"
Q = [0.1, 0.2, 0.3]
FRAME = supple.Frame.at([0.4, 0.0, 0.5])
JOB_OPTIONS = {"format": "parquet", "prefix": "ik_", "single": False, "overwrite": False}
AT_TIP = ARM.frame(Q, "tip")
GOAL = supple.Goal("tip", position=[12, 6, 0])
GOALS = supple.Goal("tip", position=np.linspace([12, 6, 0], [11, 7, 0], 4))
MOTION = supple.Motion(ARM, [0, 1, 2], [Q, [0.2, 0.3, 0.4], Q])
PATH = supple.GoalPath.line([12, 6, 0], [10, 8, 0])
SPACE = supple.reachable(ARM, "tip", samples=500, progress=False)
DEXTEROUS = supple.dexterous(ARM, "tip", 2, samples=200, voxel=10.0, progress=False)
TWO_LINK = analysis.TwoLink(models.planar2(), "tip")
DAMPED = supple.Solver(method=method.damped())
SOLVER = supple.Solver()
COMPILED = SOLVER.compile(ARM, "tip")
G1 = models.g1()
SHAPE = supple.Box((0.1, 0.2, 0.3))
MIMIC = supple.Mimic("a", 2.0, 0.5)
FOLDER = tempfile.mkdtemp(prefix="hostile")
SAVED = os.path.join(FOLDER, "swing.npz")
MOTION.save(SAVED)
CLIP = os.path.join(FOLDER, "clip.bvh")
MOTION.save(CLIP)
URDF = (
    '<robot name="one"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
    '<parent link="a"/><child link="b"/></joint></robot>'
)
URDF_FILE = os.path.join(FOLDER, "one.urdf")
with open(URDF_FILE, "w", encoding="utf-8") as _file:
    _file.write(URDF)
ARM_OF_GAUNTLET = gauntlet.known_arm("ur5") if "ur5" in gauntlet.names() else gauntlet.known_arm(gauntlet.names()[0])


def _tracker() -> supple.Tracker:
    return SOLVER.track(ARM, "tip", Q)


def _loop(**given: Any) -> teleop.Loop:
    return teleop.Loop(**{**_LOOP, **given})


_LOOP = {
    "source": teleop.frames([]),
    "mapping": teleop.Mapping(),
    "tracker": _tracker(),
    "sink": print,
    "rate": 300.0,
    "patience": 0.25,
    "measured": None,
}
_ONE_DOF = {
    "name": "j",
    "parent": "a",
    "child": "b",
    "at": FRAME,
    "axis": [0, 0, 1],
    "lower": -1.0,
    "upper": 1.0,
    "speed": 2.0,
    "acceleration": 3.0,
    "rest": 0.5,
    "mimic": MIMIC,
}
_NAMES = {"name": "j", "parent": "a", "child": "b"}
_SOLVER = {
    "method": method.damped(),
    "damping": 1e-3,
    "prefer": prefer.centre(),
    "max_iterations": 20,
    "tolerance": supple.Tolerance(),
    "max_step": 1.0,
    "step_scale": 1.0,
    "halvings": 1,
    "limit_escapes": 1,
    "keep_limits": True,
    "patience": 5,
    "margin": 0.0,
}
_SEARCH = {
    "method": method.search(),
    "prefer": prefer.centre(),
    "joint_weights": {"joint1": 1.0},
    "max_iterations": 100,
    "timeout": 0.5,
    "margin": [0.1, 0.1, 0.1],
}


def without(given: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in names}


Call = tuple[Callable[..., Any], dict[str, Any]]
"""What is called, and valid arguments by name; those of ``*`` stand last, as a list under that parameter's name."""


def calls() -> dict[str, Call]:
    """A valid call for each public name, made anew, since some of them change what they are called on."""
    tracker, pusher = _tracker(), _tracker()
    kinematics = lerobot.RobotKinematics(ARM, "tip")
    found: dict[str, Call] = {
        # -- frames
        "supple.Frame": (supple.Frame, {"matrix": np.eye(4)}),
        "supple.Frame.at": (supple.Frame.at, {"position": [1.0, 2.0, 3.0], "rotation": np.eye(3)}),
        "supple.Frame.turn": (supple.Frame.turn, {"axis": [0, 0, 1.0], "angle": 0.5}),
        "supple.Frame.rotvec": (supple.Frame.rotvec, {"vector": [0, 0, 0.5]}),
        "supple.Frame.quaternion": (supple.Frame.quaternion, {"quaternion": [1.0, 0, 0, 1], "order": "wxyz"}),
        "supple.Frame.masked": (
            supple.Frame.masked,
            {"position": [[1.0, 2, 3]], "quaternion": [[1.0, 0, 0, 1]], "order": "wxyz"},
        ),
        "supple.Frame.rpy": (supple.Frame.rpy, {"roll": 0.1, "pitch": 0.2, "yaw": 0.3}),
        "supple.Frame.euler": (supple.Frame.euler, {"order": "xyz", "values": [0.1, 0.2, 0.3]}),
        "supple.Frame.fixed": (supple.Frame.fixed, {"order": "xyz", "values": [0.1, 0.2, 0.3]}),
        "supple.Frame.exp": (supple.Frame.exp, {"twist": [1, 0, 0, 0, 0, 0.5]}),
        "supple.Frame.apply": (FRAME.apply, {"points": [1.0, 2, 3]}),
        "supple.Frame.to_euler": (FRAME.to_euler, {"order": "xyz"}),
        "supple.Frame.to_fixed": (FRAME.to_fixed, {"order": "xyz"}),
        "supple.Frame.to_quaternion": (FRAME.to_quaternion, {"order": "wxyz"}),
        # -- joints and links
        "supple.Mimic": (supple.Mimic, {"joint": "a", "gain": 2.0, "offset": 0.5}),
        "supple.Joint": (
            supple.Joint,
            {
                "name": "j",
                "kind": supple.Kind.REVOLUTE,
                "parent": "a",
                "child": "b",
                "location": FRAME,
                "axis": (0.0, 0.0, 1.0),
                "lower": (-1.0,),
                "upper": (1.0,),
                "speed": (1.0,),
                "acceleration": (1.0,),
                "rest": (0.5,),
                "mimic": MIMIC,
                "swing": 1.0,
                "twist": (-1.0, 1.0),
            },
        ),
        "supple.Joint.fixed": (supple.Joint.fixed, {**_NAMES, "at": FRAME}),
        "supple.Joint.revolute": (supple.Joint.revolute, _ONE_DOF),
        "supple.Joint.prismatic": (supple.Joint.prismatic, _ONE_DOF),
        "supple.Joint.continuous": (supple.Joint.continuous, without(_ONE_DOF, "lower", "upper")),
        "supple.Joint.planar": (supple.Joint.planar, without(_ONE_DOF, "mimic") | {"lower": [-1.0, -2, -3]}),
        "supple.Joint.ball": (
            supple.Joint.ball,
            without(_ONE_DOF, "mimic", "lower", "upper") | {"swing": 1.0, "twist": (-1.0, 1.0)},
        ),
        "supple.Joint.floating": (supple.Joint.floating, without(_ONE_DOF, "mimic", "axis") | {"upper": [1.0, 2, 3]}),
        "supple.Joint.ball_from_revolutes": (
            supple.Joint.ball_from_revolutes,
            {**_NAMES, "order": "xyz", "at": FRAME, "lower": -1.0, "upper": [1.0, 2, 3], "speed": 1.0}
            | {"acceleration": 2.0},
        ),
        "supple.Box": (supple.Box, {"size": (0.1, 0.2, 0.3)}),
        "supple.Sphere": (supple.Sphere, {"radius": 0.1}),
        "supple.Cylinder": (supple.Cylinder, {"radius": 0.1, "length": 0.2}),
        "supple.Capsule": (supple.Capsule, {"radius": 0.1, "length": 0.2}),
        "supple.Mesh": (supple.Mesh, {"path": "a.stl", "scale": (1.0, 1.0, 1.0), "found": True}),
        "supple.Geometry": (supple.Geometry, {"shape": SHAPE, "frame": FRAME, "colour": (1.0, 0.0, 0.0, 1.0)}),
        "supple.Link": (
            supple.Link,
            {"name": "a", "geometry": (supple.Geometry(SHAPE),), "mass": 1.0, "center_of_mass": (0.0, 0.0, 1.0)},
        ),
        # -- linkages
        "supple.Linkage": (
            supple.Linkage,
            {"name": "arm", "joints": list(ARM.joints), "links": list(ARM.links), "base": supple.Frame()},
        ),
        "supple.Linkage.from_dict": (supple.Linkage.from_dict, {"data": ARM.to_dict()}),
        "supple.Linkage.to_dict": (ARM.to_dict, {"geometry": True}),
        "supple.Linkage.at": (ARM.at, {"base": FRAME}),
        "supple.Linkage.attach": (
            ARM.attach,
            {"link": "tip", "other": models.planar2(), "at": FRAME, "prefix": "second_"},
        ),
        "supple.Linkage.center_of_mass": (G1.center_of_mass, {"q": G1.rest.tolist()}),
        "supple.Linkage.clamp": (ARM.clamp, {"q": Q}),
        "supple.Linkage.inside": (ARM.inside, {"q": Q, "tolerance": 1e-9}),
        "supple.Linkage.condition": (
            ARM.condition,
            {"q": Q, "link": "tip", "alpha": 0.1, "weight": 1.0, "position": True, "orientation": True},
        ),
        "supple.Linkage.manipulability": (
            ARM.manipulability,
            {"q": Q, "link": "tip", "position": True, "orientation": True},
        ),
        "supple.Linkage.difference": (ARM.difference, {"start": Q, "end": Q}),
        "supple.Linkage.integrate": (ARM.integrate, {"q": Q, "step": Q}),
        "supple.Linkage.frame": (ARM.frame, {"q": Q, "link": "tip", "out": np.empty((4, 4))}),
        "supple.Linkage.frames": (ARM.frames, {"q": Q}),
        "supple.Frames.get": (ARM.frames(Q).__getitem__, {"link": "tip"}),
        "supple.Linkage.frame_and_jacobian": (
            ARM.frame_and_jacobian,
            {"q": Q, "link": "tip", "out": (np.empty((4, 4)), np.empty((6, 3)))},
        ),
        "supple.Linkage.jacobian": (
            ARM.jacobian,
            {"q": Q, "link": "tip", "point": [0.0, 0, 1], "axes": supple.Axes.WORLD, "out": np.empty((6, 3))},
        ),
        "supple.Linkage.joint": (ARM.joint, {"name": "joint1"}),
        "supple.Linkage.link": (ARM.link, {"name": "tip"}),
        "supple.Linkage.locked": (ARM.locked, {"values": {"joint1": 0.5}}),
        "supple.Linkage.part": (ARM.part, {"root": "link1", "*": ["tip"]}),
        "supple.Linkage.q": (ARM.q, {"*": [{"joint1": 0.5}]}),
        "supple.Linkage.random": (ARM.random, {"*": [3, 2], "seed": 0}),
        "supple.Linkage.reach": (ARM.reach, {"link": "tip"}),
        "supple.Linkage.transform_points": (
            ARM.transform_points,
            {"q": Q, "points": [1.0, 2, 3], "link": "tip", "to": "link1"},
        ),
        "supple.Linkage.with_tool": (
            ARM.with_tool,
            {"link": "tip", "frame": FRAME, "name": "tool", "geometry": [supple.Geometry(SHAPE)], "mass": 1.0}
            | {"center_of_mass": (0.0, 0.0, 1.0)},
        ),
        "supple.Linkage.world_geometry": (lambda q: list(models.ur5().world_geometry(q)), {"q": [0.0] * 6}),
        # -- goals and solving
        "supple.Goal": (supple.Goal, {"link": "tip", "frame": FRAME, "weight": 1.0, "slack": 0.1, "turn_slack": 0.1}),
        "supple.Goal.axis": (
            supple.Goal,
            {"link": "tip", "position": [1.0, 2, 3], "axis": [0, 0, 1.0], "direction": [0, 1.0, 0], "priority": 1},
        ),
        "supple.Goal.orientation": (
            supple.Goal,
            {"link": "tip", "orientation": np.eye(3), "turn_weight": 1.0, "relative_to": "link1"},
        ),
        "supple.Goal.distance": (
            supple.Goal,
            {"link": "tip", "position": [1.0, 2, 3], "distance": 0.5, "line": [0, 0, 1.0], "point": [0, 0, 0.1]},
        ),
        "supple.Goal.look_at": (supple.Goal, {"link": "tip", "axis": [0, 0, 1.0], "look_at": [1.0, 2, 3]}),
        "supple.Goal.center_of_mass": (
            supple.Goal.center_of_mass,
            {"position": [1.0, 2, 3], "distance": 0.1, "line": [0, 0, 1.0], "weight": 1.0, "slack": 0.1}
            | {"priority": 1},
        ),
        "supple.Tolerance": (supple.Tolerance, {"position": 1e-3, "angle": 1e-3}),
        "supple.Solver": (supple.Solver, _SOLVER),
        "supple.Solver.search": (supple.Solver, _SEARCH),
        "supple.Solver.from_dict": (supple.Solver.from_dict, {"data": supple.Solver(**_SOLVER).to_dict()}),
        "supple.Solver.solve": (
            SOLVER.solve,
            {"linkage": ARM, "goals": GOALS, "start": Q, "solutions": 2, "out": None, "progress": False},
        ),
        "supple.Solver.solve.one": (SOLVER.solve, {"linkage": ARM, "goals": [GOAL], "start": Q}),
        "supple.Solver.solve.damped": (DAMPED.solve, {"linkage": ARM, "goals": GOALS, "start": Q}),
        "supple.Solver.step": (DAMPED.step, {"linkage": ARM, "goals": GOAL, "q": Q}),
        "supple.Solver.compile": (SOLVER.compile, {"linkage": ARM, "links": "tip"}),
        "supple.CompiledSolver": (supple.CompiledSolver, {"solver": SOLVER, "linkage": ARM, "links": ["tip"]}),
        "supple.CompiledSolver.call": (COMPILED, {"goal": AT_TIP.matrix, "start": Q, "out": np.empty(3)}),
        "supple.solve": (supple.solve, {"linkage": ARM, "goals": GOAL, "start": Q, **_SEARCH}),
        "supple.solve.damped": (supple.solve, {"linkage": ARM, "goals": GOALS, "start": Q, **_SOLVER}),
        "supple.solve_path": (
            supple.solve_path,
            {"linkage": ARM, "goals": GOALS, "start": Q, "duration": 2.0, "solver": DAMPED, "steps": 2},
        ),
        # -- methods, damping, preferences
        "supple.method.search": (method.search, {"nearest": True}),
        "supple.method.transpose": (method.transpose, {"scale": 0.1}),
        "supple.method.coordinate_descent": (method.coordinate_descent, {"rank": method.Rank.MOST_ROOM}),
        "supple.method.get": (method.get, {"name": "damped"}),
        "supple.method.Method": (
            method.Method,
            {"name": "search", "rank": method.Rank.OUTERMOST, "scale": 0.0, "nearest": True},
        ),
        "supple.method.Method.from_dict": (
            method.Method.from_dict,
            {"data": {"name": "coordinate_descent", "rank": "MOST_ROOM"}},
        ),
        "supple.damping.constant": (damping.constant, {"alpha0": 1e-3}),
        "supple.damping.condition_bound": (damping.condition_bound, {"kappa": 300.0}),
        "supple.damping.ConditionBound": (damping.ConditionBound, {"kappa": 300.0}),
        "supple.damping.nakamura_hanafusa": (
            damping.nakamura_hanafusa,
            {"alpha0": 1e-2, "below": 0.2, "as_printed": False},
        ),
        "supple.damping.kelmar_khosla": (damping.kelmar_khosla, {"alpha0": 1e-2, "below": 0.9, "as_printed": False}),
        "supple.damping.mayorga": (damping.mayorga, {"alpha0": 1e-2, "above": 1e4, "as_printed": False}),
        "supple.damping.chan_lawrence": (damping.chan_lawrence, {"alpha0": 0.02}),
        "supple.damping.singularities": (
            damping.singularities,
            {"*": [damping.Singularity.bend("joint2")], "alpha0": 1e-2, "region": 0.05, "as_printed": False},
        ),
        "supple.damping.limits": (
            damping.limits,
            {"alpha0": 1e-2, "region": 0.2, "weight": 0.01, "rate": 6.0, "slide_region": 0.1, "tiny": 0.01}
            | {"as_printed": False},
        ),
        "supple.damping.function": (damping.function, {"scheme": _gentle}),
        "supple.damping.schinstock": (
            damping.schinstock,
            {"singularities": (damping.Singularity.bend("joint2"),), "alpha0": 1e-2, "region": 0.2, "weight": 0.01}
            | {"rate": 6.0, "slide_region": 0.1, "as_printed": False},
        ),
        "supple.damping.Damping": (damping.Damping, {"schemes": damping.constant(0.1).schemes}),
        "supple.damping.Damping.from_dict": (
            damping.Damping.from_dict,
            {"data": damping.schinstock((damping.Singularity.bend("joint2"),)).to_dict()},
        ),
        "supple.damping.Singularity": (
            damping.Singularity,
            {
                "kind": damping.Singularity.bend("joint2").kind,
                "region": 0.3,
                "joints": ("joint2",),
                "weight": 0.1,
                "joint": "joint2",
                "values": (0.0,),
                "link": "",
                "point": (0.0, 0.0, 0.0),
                "radius": 0.0,
                "measure": None,
            },
        ),
        "supple.damping.Singularity.bend": (
            damping.Singularity.bend,
            {"joint": "joint2", "at": [0.0, 3.0], "region": 0.3, "joints": ("joint2",), "weight": 0.1},
        ),
        "supple.damping.Singularity.sine": (
            damping.Singularity.sine,
            {"joint": "joint2", "at": 0.0, "region": 0.3, "joints": ("joint2",), "weight": 0.1},
        ),
        "supple.damping.Singularity.off_axis": (
            damping.Singularity.off_axis,
            {"joint": "joint1", "link": "tip", "point": [0.0, 0, 0], "radius": 0.1, "region": 0.3}
            | {"joints": ("joint2",), "weight": 0.1},
        ),
        "supple.damping.Singularity.function": (
            damping.Singularity.function,
            {"measure": _distance, "region": 0.3, "joints": ("joint2",), "weight": 0.1},
        ),
        "supple.damping.Singularity.from_dict": (
            damping.Singularity.from_dict,
            {"data": damping.Singularity.bend("joint2").to_dict()},
        ),
        "supple.prefer.rest": (prefer.rest, {"values": Q, "gain": 0.1}),
        "supple.prefer.centre": (prefer.centre, {"gain": [0.1, 0.1, 0.1]}),
        "supple.prefer.away": (prefer.away, {"values": Q, "gain": 0.1, "width": 1.0}),
        "supple.prefer.dexterity": (prefer.dexterity, {"gain": 0.1}),
        "supple.prefer.elbow": (prefer.elbow, {"link": "link2", "direction": [0, 0, 1.0], "gain": 0.1}),
        "supple.prefer.elbow.point": (prefer.elbow, {"link": "link2", "gain": 0.1, "point": [0, 0, 1.0]}),
        "supple.prefer.function": (prefer.function, {"step": _towards_zero}),
        "supple.prefer.Preference": (prefer.Preference, {"terms": prefer.centre().terms}),
        "supple.prefer.Preference.from_dict": (
            prefer.Preference.from_dict,
            {"data": (prefer.away(Q) + prefer.elbow("link2")).to_dict()},
        ),
        # -- paths and motions
        "supple.GoalPath.line": (supple.GoalPath.line, {"*": [[0.0, 0, 0], [1.0, 0, 0], [1.0, 1, 0]]}),
        "supple.GoalPath.spline": (supple.GoalPath.spline, {"*": [FRAME, supple.Frame(), FRAME]}),
        "supple.GoalPath.arc": (supple.GoalPath.arc, {"start": [1.0, 0, 0], "via": [0, 1.0, 0], "end": [-1.0, 0, 0]}),
        "supple.GoalPath.circle": (
            supple.GoalPath.circle,
            {"start": FRAME, "centre": [0.0, 0, 0], "axis": [0, 0, 1.0], "angle": 3.0},
        ),
        "supple.GoalPath.at": (PATH.at, {"s": [0.0, 0.5, 1.0]}),
        "supple.GoalPath.facing": (PATH.facing, {"start": FRAME, "end": np.eye(3)}),
        "supple.GoalPath.goal": (PATH.goal, {"link": "tip", "frames": 11, "weight": (1, 1, 0)}),
        "supple.GoalPath.sampled": (PATH.sampled, {"frames": 11}),
        "supple.Motion": (
            supple.Motion,
            {"linkage": ARM, "times": [0.0, 1.0], "q": [Q, Q], "interpolation": supple.Interpolation.SMOOTH},
        ),
        "supple.Motion.at": (MOTION.at, {"t": [0.0, 0.5]}),
        "supple.Motion.velocity": (MOTION.velocity, {"t": 0.5}),
        "supple.Motion.frame": (MOTION.frame, {"t": [0.0, 0.5], "link": "tip"}),
        "supple.Motion.frames": (MOTION.frames, {"t": [0.0, 0.5]}),
        "supple.Motion.part": (MOTION.part, {"start": 0.5, "end": 1.5}),
        "supple.Motion.retimed": (MOTION.retimed, {"duration": 4.0, "start": 1.0}),
        "supple.Motion.sampled": (MOTION.sampled, {"rate": 10.0}),
        "supple.Motion.within_limits": (MOTION.within_limits, {"tolerance": 1e-9}),
        "supple.Motion.within_speeds": (MOTION.within_speeds, {"tolerance": 1e-9, "speed_scale": 0.5}),
        "supple.Motion.save": (MOTION.save, {"path": os.path.join(FOLDER, "again.npz")}),
        "supple.Motion.load": (
            supple.Motion.load,
            {"path": SAVED, "linkage": ARM, "interpolation": supple.Interpolation.LINEAR},
        ),
        "supple.Motion.save, of a clip": (
            MOTION.save,
            {"path": os.path.join(FOLDER, "again.glb"), "up": "y", "unit": 0.01, "rate": 10.0},
        ),
        "supple.Motion.load, of a clip": (
            supple.Motion.load,
            {
                "path": CLIP,
                "linkage": None,
                "interpolation": supple.Interpolation.LINEAR,
                "up": "y",
                "unit": "m",
                "animation": 0,
            },
        ),
        # -- trackers
        "supple.Solver.track": (
            SOLVER.track,
            {
                "linkage": ARM,
                "links": ["tip"],
                "start": Q,
                "acceleration": 10.0,
                "jerk": [1e3, 1e3, 1e3],
                "tolerance": supple.Tolerance(1e-3),
                "smooth": 0.1,
                "predict": 0.05,
                "recover": "slow",
                "speed": 0.5,
                "turn_speed": 1.0,
                "speed_scale": 0.5,
                "margin": 0.05,
            },
        ),
        "supple.Tracker.limits": (
            tracker.limits,
            {"speed": 0.5, "turn_speed": [1.0], "speed_scale": 0.5, "margin": [0.1, 0.1, 0.1]},
        ),
        "supple.Tracker.step": (tracker.step, {"goal": AT_TIP, "dt": 0.01, "stamp": 0.5, "measured": Q}),
        "supple.Tracker.push": (pusher.push, {"twist": [0.1, 0, 0, 0, 0, 0], "dt": 0.01, "measured": Q}),
        "supple.Tracker.replay": (
            tracker.replay,
            {"commands": np.stack([AT_TIP.matrix] * 3), "dt": 0.01, "stamps": [0.0, 0.01, 0.02]},
        ),
        "supple.Tracker.reset": (tracker.reset, {"q": Q}),
        # -- integrations
        "supple.integrations.lerobot.RobotKinematics": (
            lerobot.RobotKinematics,
            {"urdf_path": ARM, "target_frame_name": "tip", "joint_names": list(ARM.names), "sign": [1, -1, 1]}
            | {"offset": 0.5, "fps": 30.0, "acceleration": 10.0, "jerk": 1e3, "smooth": 0.1, "recover": "slow"}
            | {"speed": 0.5, "turn_speed": 1.0, "speed_scale": 0.5, "margin": 0.05},
        ),
        "supple.integrations.lerobot.RobotKinematics.forward_kinematics": (
            kinematics.forward_kinematics,
            {"joint_pos_deg": [1.0, 2.0, 3.0]},
        ),
        "supple.integrations.lerobot.RobotKinematics.inverse_kinematics": (
            kinematics.inverse_kinematics,
            {"current_joint_pos": [1.0, 2.0, 3.0], "desired_ee_pose": AT_TIP.matrix}
            | {"position_weight": 1.0, "orientation_weight": 0.01},
        ),
        "supple.integrations.lerobot.motors": (
            lerobot.motors,
            {"names": ["a", "b", "c"], "sign": -1, "offset": [1.0, 2.0, 3.0]},
        ),
        # -- workspaces and analysis
        "supple.reachable": (
            supple.reachable,
            {"linkage": ARM, "link": "tip", "samples": 100, "seed": 0, "voxel": 5.0, "progress": False},
        ),
        "supple.dexterous": (
            supple.dexterous,
            {"linkage": ARM, "link": "tip", "orientations": 2, "samples": 20, "voxel": 20.0, "starts": 1}
            | {"solver": DAMPED, "seed": 0, "progress": False},
        ),
        "supple.Workspace.area": (DEXTEROUS.area, {"dexterity": 0.5}),
        "supple.Workspace.volume": (SPACE.volume, {"dexterity": 0.0}),
        "supple.Workspace.centres": (DEXTEROUS.centres, {"dexterity": 0.5}),
        "supple.Workspace.contains": (DEXTEROUS.contains, {"point": [20.0, 0, 0], "dexterity": 0.5}),
        "supple.Workspace.values": (SPACE.values, {"point": [20.0, 0, 0]}),
        "supple.Workspace.outline": (SPACE.outline, {"normal": [0, 0, 1.0], "through": [0, 0, 0.0]}),
        "supple.analysis.constraint": (
            analysis.constraint,
            {"linkage": ARM, "goals": GOAL, "q": Q, "tolerance": 1e-6},
        ),
        "supple.analysis.TwoLink": (analysis.TwoLink, {"linkage": models.planar2(), "link": "tip"}),
        "supple.analysis.TwoLink.solve": (TWO_LINK.solve, {"point": [10.0, 5, 0], "tolerance": 1e-6}),
        "supple.analysis.Annulus.contains": (TWO_LINK.annulus.contains, {"point": [10.0, 5, 0], "tolerance": 1e-6}),
        "supple.analysis.Annulus.distance": (TWO_LINK.annulus.distance, {"point": [10.0, 5, 0]}),
        "supple.analysis.Annulus.nearest": (TWO_LINK.annulus.nearest, {"point": [10.0, 5, 0]}),
        # -- models and files
        "supple.models.get": (models.get, {"name": "planar2"}),
        "supple.models.human": (
            models.human,
            {
                "height": 1.8,
                "mass": 75.0,
                "arms": 1.1,
                "legs": 1.0,
                "torso": 0.9,
                "shoulders": 1.0,
                "hips": 1.2,
                "head": 1.0,
            },
        ),
        "supple.models.about": (models.about, {"name": "planar2"}),
        "supple.DH": (
            lambda **row: supple.dh([supple.DH(**row)]),
            {"theta": 0.1, "d": 0.1, "a": 0.1, "alpha": 0.1, "kind": supple.Kind.REVOLUTE, "lower": -1.0, "upper": 1.0}
            | {"speed": 1.0, "rest": 0.5, "name": "j"},
        ),
        "supple.dh": (supple.dh, {"rows": [supple.DH(a=0.4), supple.DH(a=0.3)], "modified": False, "name": "dh"}),
        "supple.load": (supple.load, {"path": URDF_FILE, "search": [FOLDER], "name": "arm", "arguments": None}),
        "supple.load, of a clip": (
            supple.load,
            {"path": CLIP, "search": [FOLDER], "name": "arm", "arguments": None, "up": "y", "unit": "cm"},
        ),
        "supple.read.urdf_text": (
            read.urdf_text,
            {"text": URDF, "file": "<string>", "search": [FOLDER], "name": "arm"},
        ),
        # -- jobs
        "supple.jobs.Joints": (jobs.Joints, {"columns": ["a", "b"], "names": ["joint1", None], "degrees": False}),
        "supple.jobs.Pose": (jobs.Pose, {"position": "p", "quaternion": "r", "order": "wxyz"}),
        "supple.jobs.forward": (
            jobs.forward,
            {"linkage": ARM, "source": "in", "target": "out", "joints": "q", "pose": "p", "link": "tip", **JOB_OPTIONS},
        ),
        "supple.jobs.solve": (
            jobs.solve,
            {"linkage": ARM, "source": "in", "target": "out", "pose": "p", "joints": "q", "link": "tip", **JOB_OPTIONS}
            | {"solver": SOLVER},
        ),
        "supple.jobs.path": (
            jobs.path,
            {"linkage": ARM, "source": "in", "target": "out", "pose": "p", "joints": "q", "link": "tip", "rate": 30.0}
            | {"episode": "e", "time": "t", "solver": SOLVER},
        ),
        "supple.jobs.track": (
            jobs.track,
            {"linkage": ARM, "source": "in", "target": "out", "pose": "p", "joints": "q", "link": "tip", "rate": 30.0}
            | {"episode": "e"},
        ),
    }
    return found | hostile_teleop.calls(FOLDER) | hostile_animate.calls(FOLDER)


LEFT_OUT = {
    "supple.jobs.FilePlan": "a result",
    "supple.jobs.Job": "made by the functions of jobs",
    "supple.jobs.Job.run": "works on files: tests/jobs",
    "supple.jobs.JobResult": "a result",
    "supple.jobs.Options": "a type",
    "supple.jobs.Plan": "a result",
    "supple.jobs.Pose.frames": "takes what a table has",
    "supple.jobs.Pose.numbers": "takes what a table has",
    "supple.BadLinkage": "an exception",
    "supple.Interrupted": "an exception",
    "supple.GoalPath": "cannot be constructed",
    "supple.Frames": "a result",
    "supple.PathSolution": "a result",
    "supple.Solution": "a result",
    "supple.Step": "a result",
    "supple.Tracker": "made by Solver.track",
    "supple.Workspace": "a result",
    "supple.Workspace.draw": "draws into the axes of another library",
    "supple.analysis.Annulus": "a result",
    "supple.analysis.Constraint": "a result",
    "supple.analysis.Elbows": "a result",
    "supple.damping.DampingFunction": "a type",
    "supple.animate.RetargetStream": "made by Retarget.stream",
    "supple.animate.StreamStep": "a result",
    "supple.teleop.Gamepad": "opens a device",
    "supple.teleop.SpaceMouse": "opens a device",
    "supple.teleop.WebSocketSource": "starts a server; its arguments are those of UdpSource",
    "supple.teleop.WebSocketSink": "connects to a server",
    "supple.teleop.Connection.write": "called by the loop",
    "supple.teleop.Recorder.write": "called by the loop",
    "supple.teleop.UdpSink.write": "called by the loop",
    "supple.teleop.WebSocketSink.write": "called by the loop",
    "supple.teleop.Robot": "a protocol",
    "supple.teleop.Robot.write": "a protocol",
    "supple.teleop.Sink": "a protocol",
    "supple.teleop.Sink.write": "a protocol",
    "supple.teleop.Source": "a protocol",
    "supple.teleop.Tick": "a result",
}
"""Public names that are not called with hostile values, and why; view and gauntlet have tests of their own."""


def _gentle(q: Any, e: Any, J: Any, dt: float) -> float:
    return 1e-3


def _distance(q: Any) -> float:
    return 1.0


def _towards_zero(q: Any) -> Any:
    return -0.1 * q


# -- hostile values ---------------------------------------------------------------------------------------------------


class Raised(Exception):
    """What a hostile object raises by itself: it may pass through a call."""


class _RaisesAsArray:
    def __array__(self, *more: Any, **options: Any) -> Any:
        raise Raised("__array__")


class _RaisesAsFloat:
    def __float__(self) -> float:
        raise Raised("__float__")

    def __index__(self) -> int:
        raise Raised("__index__")


class _RaisesAsSequence:
    def __len__(self) -> int:
        raise Raised("__len__")

    def __iter__(self) -> Iterator[Any]:
        raise Raised("__iter__")

    def __getitem__(self, index: Any) -> Any:
        raise Raised("__getitem__")


class _RaisesAsText:
    def __repr__(self) -> str:
        raise Raised("__repr__")

    __str__ = __repr__

    def __fspath__(self) -> str:
        raise Raised("__fspath__")


class _RaisesInTests:
    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise Raised("__bool__")

    def __eq__(self, other: object) -> bool:
        raise Raised("__eq__")

    def __lt__(self, other: object) -> bool:
        raise Raised("__lt__")


class _RaisesWhenMade:
    def __init__(self, *values: Any, **options: Any) -> None:
        raise Raised("__init__")


class _ReEnters:
    """Calls the library again while it is converted."""

    def __array__(self, *more: Any, **options: Any) -> Any:
        supple.solve(ARM, GOAL)
        COMPILED(AT_TIP.matrix)
        return np.array(Q)


class _Float(float):
    pass


class _Text(str):
    __slots__ = ()


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def _itself() -> list[Any]:
    value: list[Any] = [1.0]
    value.append(value)
    return value


PLAIN: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "np.False_": lambda: np.False_,
    "zero": lambda: 0,
    "negative": lambda: -1,
    "2**31": lambda: 1 << 31,
    "2**63": lambda: 1 << 63,
    "10**400": lambda: 10**400,
    "-10**400": lambda: -(10**400),
    "10**5000": lambda: 10**5000,
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "1e150": lambda: 1e150,
    "-1e308": lambda: -1e308,
    "5e-324": lambda: 5e-324,
    "longdouble": lambda: np.longdouble("1e4000"),
    "float16": lambda: np.float16(0.5),
    "float subclass": lambda: _Float(0.5),
    "complex": lambda: 1j,
    "decimal": lambda: decimal.Decimal("sNaN"),
    "fraction": lambda: fractions.Fraction(1, 3),
    "date": lambda: datetime.datetime(2020, 1, 1),
    "duration": lambda: datetime.timedelta(1),
    "datetime64": lambda: np.datetime64("2020-01-01"),
    "text": lambda: "hostile",
    "number as text": lambda: "0.5",
    "str subclass": lambda: _Text("tip"),
    "empty text": lambda: "",
    "null character": lambda: "a\0b",
    "lone surrogate": lambda: "a\ud800",
    "long text": lambda: "x" * 100_000,
    "format": lambda: "{0.__class__} %s %n",
    "bytes": lambda: b"tip",
    "bytearray": lambda: bytearray(b"\xff" * 8),
    "memoryview": lambda: memoryview(np.arange(3.0)),
    "memoryview of text": lambda: memoryview(b"abc"),
    "empty list": list,
    "empty dict": dict,
    "empty array": lambda: np.empty((0,)),
    "empty rows": lambda: np.empty((0, 3)),
    "ragged": lambda: [[1.0, 2.0], [3.0]],
    "deep": lambda: _nested(100),
    "itself": _itself,
    "strings": lambda: ["0.1", "0.2", "0.3"],
    "None in list": lambda: [None, 1.0, 2.0],
    "ones": lambda: np.ones(7),
    "high rank": lambda: np.zeros((1,) * 9),
    "objects": lambda: np.array([object()] * 3),
    "dates": lambda: np.array([1, 2, 3], "datetime64[s]"),
    "durations": lambda: np.array([1, 2, 3], "timedelta64[s]"),
    "complex array": lambda: np.array([1j, 2, 3]),
    "void": lambda: np.zeros(3, dtype=[("x", float)]),
    "generator": lambda: (value for value in Q),
    "set": lambda: {1.0, 2.0},
    "dict": lambda: {"joint1": np.ones(5)},
    "dict of arrays": lambda: {"format": np.ones(3), "damping": np.ones(3), "version": np.ones(3), 3: []},
    "object": object,
    "class": lambda: _RaisesWhenMade,
    "module": lambda: math,
    "function": lambda: _gentle,
    "lambda that raises": lambda: _raising,
    "namespace": lambda: types.SimpleNamespace(shape=(3,), dtype=float),
    "raises as array": _RaisesAsArray,
    "raises as float": _RaisesAsFloat,
    "raises as sequence": _RaisesAsSequence,
    "raises as text": _RaisesAsText,
    "raises in tests": _RaisesInTests,
    "re-enters": _ReEnters,
    "frame": lambda: FRAME,
    "frames": lambda: supple.Frame.at(np.zeros((2, 3))),
    "linkage": lambda: models.planar2(),
    "goal": lambda: GOAL,
    "solver": lambda: SOLVER,
}


def _raising(*values: Any, **options: Any) -> Any:
    raise Raised("function")


def _with(value: Any, number: float) -> Any:
    array = np.array(value, dtype=float)
    if not array.ndim:
        return number
    array.flat[array.size - 1] = number
    return array


CHANGED: dict[str, Callable[[Any], Any]] = {
    "as text": lambda v: np.array(v, dtype=float).astype(str),
    "as texts in a list": lambda v: np.array(v, dtype=float).astype(str).tolist(),
    "as text objects": lambda v: np.array(v, dtype=float).astype(str).astype(object),
    "as bytes": lambda v: np.array(v, dtype=float).astype("S"),
    "as dates": lambda v: np.array(v, dtype=float).astype("int64").astype("datetime64[s]"),
    "as durations": lambda v: np.array(v, dtype=float).astype("int64").astype("timedelta64[s]"),
    "as complex": lambda v: np.array(v, dtype=complex),
    "masked": lambda v: np.ma.masked_all_like(np.array(v, dtype=float)),
    "with nan": lambda v: _with(v, math.nan),
    "with inf": lambda v: _with(v, math.inf),
    "with 1e150": lambda v: _with(v, 1e150),
    "with 1e308": lambda v: _with(v, 1e308),
    "with 10**400": lambda v: [10**400, *np.ravel(np.array(v, dtype=float)).tolist()[1:]],
    "one axis more": lambda v: np.array(v, dtype=float)[None],
    "two axes more": lambda v: np.array(v, dtype=float)[None, None],
    "no rows": lambda v: np.empty((0, *np.shape(v))),
    "one less": lambda v: np.array(v, dtype=float).ravel()[:-1],
    "one more": lambda v: np.append(np.array(v, dtype=float), 1.0),
    "backwards": lambda v: np.array(v, dtype=float)[..., ::-1][..., ::-1] if np.ndim(v) else v,
    "read-only": lambda v: _read_only(np.array(v, dtype=float)),
    "float16": lambda v: np.array(v, dtype=np.float16),
    "longdouble": lambda v: np.array(v, dtype=np.longdouble),
    "big-endian": lambda v: np.array(v, dtype=">f8"),
    "objects": lambda v: np.array(v, dtype=object),
    "tiny": lambda v: np.full(np.shape(v), 5e-324),
    "memoryview": lambda v: memoryview(np.array(v, dtype=float)),
    "generator": lambda v: iter(np.array(v, dtype=float)),
}
"""Made from the valid value, where that is numbers."""
NOT_NUMBERS = {"as text", "as texts in a list", "as text objects", "as bytes", "as dates", "as durations"}
NOT_NUMBERS |= {"as complex", "masked"}
"""Changes that no argument of numbers may accept."""


def _read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


def _hostile(label: str, old: Any) -> Any:
    """The value that a label stands for, in place of a valid one."""
    if label.startswith("~"):
        return CHANGED[label[1:]](old)
    if label.startswith("@"):
        place, inner = label[1:].split(":", 1)
        return _with_leaf(old, random.Random(int(place)), inner)
    return PLAIN[label]()


def _with_leaf(data: Any, rng: random.Random, label: str) -> Any:
    """The data with one of its fields, at any depth, replaced, removed or added."""
    if isinstance(data, dict) and data:
        key = rng.choice(sorted(data))
        if rng.random() < 0.05:
            return {name: value for name, value in data.items() if name != key}
        if rng.random() < 0.05:
            return {**data, "more": PLAIN[label]()}
        return {**data, key: _with_leaf(data[key], rng, label)}
    if isinstance(data, list) and data and rng.random() < 0.9:
        i = rng.randrange(len(data))
        return [*data[:i], _with_leaf(data[i], rng, label), *data[i + 1 :]]
    return PLAIN[label]()


def _is_numbers(value: Any) -> bool:
    if isinstance(value, bool | str | bytes | dict) or value is None:
        return False
    try:
        return np.array(value).dtype.kind in "fiu" and not isinstance(value, supple.Frame)
    except Exception:
        return False


class Hang(BaseException):
    """A call took longer than `LONGEST_CALL`."""


def _ring(*_: Any) -> None:
    raise Hang


def attempt(name: str, call: Call, chosen: dict[tuple[str, int], str]) -> str:
    """Call with some arguments replaced; a text of what is wrong, empty if nothing is.

    ``chosen`` has the label of the hostile value for each argument, by its name and its place in ``*``.
    """
    function, valid = call
    given = {key: (list(value) if key == "*" else value) for key, value in valid.items()}
    for (key, place), label in chosen.items():
        old = given[key][place] if key == "*" else given[key]
        try:
            new = _hostile(label, old)
        except Exception:
            return ""
        if key == "*":
            given[key][place] = new
        else:
            given[key] = new
    frozen = {key: value.tobytes() for key, value in given.items() if isinstance(value, np.ndarray) and key != "out"}
    stars = given.pop("*", [])
    leading = [] if not stars or name not in _LEADING else [given.pop(key) for key in _LEADING[name]]
    before = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_CALL)
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = function(*leading, *stars, **given)
            str(result)
    except SuppleError as error:
        return "" if isinstance(str(error), str) and len(str(error)) < 2000 else "a message too long"
    except (Raised, OSError):
        return ""
    except Hang:
        return "hangs"
    except BaseException as error:
        return f"raw {type(error).__name__}: {_check.short(error.args)}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if time.perf_counter() - began > LONGEST_CALL:
        return "hangs"
    for key, bytes_before in frozen.items():
        if key in given and given[key].tobytes() != bytes_before:
            return f"changes its argument {key}"
    wrong = [label for label in chosen.values() if label.startswith("~") and label[1:] in NOT_NUMBERS]
    return f"accepts numbers {wrong[0][1:]}" if wrong else _suspect(result, chosen)


_LEADING = {"supple.Linkage.part": ("root",)}


def _suspect(result: Any, chosen: dict[tuple[str, int], str]) -> str:
    """Results that are not numbers, though all arguments were."""
    if any("nan" in label or "inf" in label or label in ("longdouble", "out") for label in chosen.values()):
        return ""
    if any(key in ("out", "counts") for key, _ in chosen):
        return ""
    arrays = {
        supple.Frame: lambda: result.matrix,
        supple.Solution: lambda: result.q,
        supple.Step: lambda: result.q,
        np.ndarray: lambda: result,
    }
    for kind, values in arrays.items():
        if isinstance(result, kind):
            array = values()
            if array.dtype.kind == "f" and np.isnan(array).any():
                return f"returns nan: {result!r}"[:120]
    return ""


def arguments(call: Call) -> list[tuple[str, int, Any]]:
    """The arguments that can be replaced: name, place in ``*``, valid value."""
    found: list[tuple[str, int, Any]] = []
    for key, value in call[1].items():
        found += [(key, i, one) for i, one in enumerate(value)] if key == "*" else [(key, 0, value)]
    return found


def labels(value: Any) -> list[str]:
    """The hostile values that can replace a valid one."""
    return [*PLAIN, *(f"~{label}" for label in CHANGED if _is_numbers(value))]


def every_one() -> Iterator[tuple[str, dict[tuple[str, int], str]]]:
    """Each public name with each argument replaced by each hostile value, one at a time."""
    for name, call in calls().items():
        for key, place, value in arguments(call):
            for label in labels(value):
                yield name, {(key, place): label}


def at_random(seed: int) -> Iterator[tuple[str, dict[tuple[str, int], str]]]:
    """Without end: a public name with one or two arguments replaced."""
    rng = random.Random(seed)
    table = calls()
    names = sorted(table)
    while True:
        name = rng.choice(names)
        known = arguments(table[name])
        some = rng.sample(known, min(len(known), rng.choice((1, 1, 2))))
        yield name, {(key, place): _label(rng, value) for key, place, value in some}


def _label(rng: random.Random, value: Any) -> str:
    if isinstance(value, dict) and value and rng.random() < 0.9:
        return f"@{rng.randrange(1 << 30)}:{rng.choice(sorted(PLAIN))}"
    return rng.choice(labels(value))
