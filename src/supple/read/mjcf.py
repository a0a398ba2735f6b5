"""Reader of MJCF: a MuJoCo model, compiled by the mujoco package, as a linkage with the same values of q."""

from __future__ import annotations

import importlib.util
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from supple.errors import BadLinkage, missing_extra
from supple.frame import Frame
from supple.joint import Joint, Kind, Mimic
from supple.link import Geometry, Link
from supple.linkage import Linkage
from supple.read import isolated, mjcf_files, mjcf_shapes, safe_xml
from supple.read.meshes import Finder
from supple.read.mimic_limits import narrowed

_LINE = re.compile(r"[Ll]ine (?:number=)?(\d{1,9})")


def read(file: str, finder: Finder, name: str | None, arguments: Mapping[str, str] | None) -> Linkage:
    """The linkage in a .mjcf file."""
    root = safe_xml.parse(safe_xml.read_bytes(file), file)
    if root.tag != "mujoco":
        raise safe_xml.wrong_root(root, file, "<mujoco>")
    return read_checked(file, finder, name)


def read_checked(file: str, finder: Finder, name: str | None) -> Linkage:
    """The linkage in a file whose root element is <mujoco>."""
    if importlib.util.find_spec("mujoco") is None:
        raise missing_extra("mjcf", "reading MJCF")
    return isolated.mjcf(file, name, finder.search)


def build(file: str, name: str | None = None, search: Sequence[str] = (), scratch: str | None = None) -> Linkage:
    """The linkage in an MJCF file; runs in a separate process, which may have a folder ``scratch`` for MuJoCo's log.

    Bodies become links under the root ``world``, and named sites become links fixed to them. Several joints of one
    body become a chain, with links of no size between them called ``body/joint``.
    """
    try:
        import mujoco
    except ImportError:
        raise missing_extra("mjcf", "reading MJCF") from None
    mjcf_files.check(file, search)
    mujoco.set_mju_user_warning(lambda text: None)  # else they are written to a log
    try:
        model, absent, guessed = mjcf_shapes.compiled(mujoco, file, scratch)
        geometry = mjcf_shapes.geometry(mujoco, model, file, absent)
        return _Reader(mujoco, model).linkage(geometry, guessed, name)
    except BadLinkage as error:
        raise BadLinkage(error.reason, element=error.element, file=file) from None
    except MemoryError:
        raise
    except Exception as error:  # the compiler raises ValueError and its own types
        text = " ".join(str(error).split())
        line = _LINE.search(text)
        raise BadLinkage(f"MuJoCo says: {text}", file=file, line=int(line.group(1)) if line else 0) from None


class _Reader:
    """The names and joints of one compiled model."""

    def __init__(self, mujoco: Any, model: Any) -> None:
        self.mujoco, self.model = mujoco, model
        self.links = [model.body(i).name or f"body{i}" for i in range(model.nbody)]
        self.moving = [model.joint(j).name or f"joint{j}" for j in range(model.njnt)]
        self.taken_links, self.taken_joints = set(self.links), set(self.moving)
        self.joints: list[Joint] = []

    def linkage(self, geometry: list[Any], guessed: set[int], name: str | None) -> Linkage:
        """The linkage; bodies whose mass is ``guessed`` from a missing mesh have none."""
        model = self.model
        mimics = self._mimics()
        for body in range(1, model.nbody):
            self._body(body, mimics)
        links = [
            Link(link, tuple(geometry[i])) if i in guessed else self._link(i, link, tuple(geometry[i]))
            for i, link in enumerate(self.links)
        ]
        for site in range(model.nsite):
            called = model.site(site).name
            if called:
                frame = _frame(model.site_pos[site], model.site_quat[site])
                link = _unique(called, self.taken_links)
                self._fix(self.links[model.site_bodyid[site]], link, frame)
        declared = {link.name for link in links}
        links += [Link(joint.child) for joint in self.joints if joint.child not in declared]
        title = name or model.names[: model.names.index(b"\0")].decode() or "mujoco"
        return Linkage(title, narrowed(self.joints), links)

    def _link(self, body: int, name: str, geometry: tuple[Geometry, ...]) -> Link:
        x, y, z = (float(value) for value in self.model.body_ipos[body])
        return Link(name, geometry, float(self.model.body_mass[body]), (x, y, z))

    def _body(self, body: int, mimics: dict[int, Mimic]) -> None:
        """Each joint moves the body about its own anchor, after the joints before it have moved the body."""
        model, kinds = self.model, self.mujoco.mjtJoint
        link, parent = self.links[body], self.links[model.body_parentid[body]]
        frame = _frame(model.body_pos[body], model.body_quat[body])
        first = model.body_jntadr[body]
        last = first + model.body_jntnum[body] - 1
        for j in range(first, last + 1) if last >= first else ():
            turns = kinds(model.jnt_type[j]) in (kinds.mjJNT_HINGE, kinds.mjJNT_BALL)
            anchor = Frame.at(model.jnt_pos[j] if turns else [0, 0, 0])
            straight = j == last and not anchor.position.any()
            child = link if straight else _unique(f"{link}/{self.moving[j]}", self.taken_links)
            self.joints.append(self._joint(j, parent, child, frame @ anchor, mimics.get(j)))
            parent, frame = child, anchor.inverse()
        if parent != link:
            self._fix(parent, link, frame)

    def _joint(self, j: int, parent: str, child: str, at: Frame, mimic: Mimic | None) -> Joint:
        model, kinds = self.model, self.mujoco.mjtJoint
        name, kind = self.moving[j], kinds(model.jnt_type[j])
        start = model.jnt_qposadr[j]
        low, high = (float(x) for x in model.jnt_range[j]) if model.jnt_limited[j] else (-math.inf, math.inf)
        if kind == kinds.mjJNT_FREE:  # its values are the body's frame in the world
            begin = _frame(model.qpos0[start : start + 3], model.qpos0[start + 3 : start + 7])
            return Joint.floating(name, parent, child, rest=[*begin.position, *begin.to_rotvec()])
        if kind == kinds.mjJNT_BALL:
            angle = min(high, math.pi)
            return Joint.ball(name, parent, child, at=at, swing=angle, twist=(-angle, angle))
        axis, reference = model.jnt_axis[j], float(model.qpos0[start])
        # the file gives the location of the body at the reference value, not at zero
        if kind == kinds.mjJNT_SLIDE:
            at = at @ Frame.at(-reference * axis)
            return Joint.prismatic(
                name, parent, child, at=at, axis=axis, lower=low, upper=high, rest=reference, mimic=mimic
            )
        at = at @ Frame.turn(axis, -reference)
        if not model.jnt_limited[j]:
            return Joint.continuous(name, parent, child, at=at, axis=axis, rest=reference, mimic=mimic)
        return Joint.revolute(name, parent, child, at=at, axis=axis, lower=low, upper=high, rest=reference, mimic=mimic)

    def _fix(self, parent: str, link: str, frame: Frame) -> None:
        self.joints.append(Joint(_unique(f"{link}_fixed", self.taken_joints), Kind.FIXED, parent, link, frame))

    def _mimics(self) -> dict[int, Mimic]:
        """Mimics from equality constraints that are linear in one other joint."""
        model, mujoco = self.model, self.mujoco
        kinds = mujoco.mjtJoint
        single = (kinds.mjJNT_HINGE, kinds.mjJNT_SLIDE)
        source: dict[int, int] = {}
        found: dict[int, Mimic] = {}
        for e in range(model.neq):
            follower, leader = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
            if model.eq_type[e] != mujoco.mjtEq.mjEQ_JOINT or not model.eq_active0[e] or leader < 0:
                continue
            offset, gain, *bends = (float(x) for x in model.eq_data[e][:5])
            if (
                any(bends)
                or follower in source
                or any(kinds(model.jnt_type[j]) not in single for j in (follower, leader))
            ):
                continue
            up = leader
            while up in source:
                up = source[up]
            if up == follower:  # two joints that follow each other: the second constraint adds nothing
                continue
            source[follower] = leader
            here, there = (float(model.qpos0[model.jnt_qposadr[j]]) for j in (follower, leader))
            found[follower] = Mimic(self.moving[leader], gain, here + offset - gain * there)
        return found


def _frame(position: Any, quaternion: Any) -> Frame:
    return Frame.at(position, Frame.quaternion(quaternion))


def _unique(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
