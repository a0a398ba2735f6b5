"""A linkage written as plain data reads back to the last bit, and anything else is refused with its place."""

import contextlib
import copy
import json
import math

import numpy as np
import pytest

from random_trees import random_tree
from supple import (
    BadLinkage,
    Box,
    Capsule,
    Cylinder,
    Frame,
    Geometry,
    Joint,
    Link,
    Linkage,
    Mesh,
    Mimic,
    Sphere,
    models,
)


def bits(linkage):
    """Every number of a linkage, as its bits: -0.0 and 0.0 differ."""
    rows = [linkage.base.matrix.ravel()]
    for joint in linkage.joints:
        rows += [joint.location.matrix.ravel(), joint.axis, joint.lower, joint.upper, joint.speed, joint.acceleration]
        rows += [joint.rest, [joint.swing], joint.twist]
        rows += [[joint.mimic.gain, joint.mimic.offset]] if joint.mimic else []
    rows += [piece.frame.matrix.ravel() for link in linkage.links for piece in link.geometry]
    return np.concatenate([np.asarray(row, dtype=float) for row in rows]).tobytes()


def again(linkage, **options):
    return Linkage.from_dict(json.loads(json.dumps(linkage.to_dict(**options), allow_nan=False)))


@pytest.mark.parametrize("name", models.names())
def test_a_bundled_model_reads_back_to_the_last_bit(name):
    linkage = models.get(name)
    assert again(linkage) == linkage
    assert bits(again(linkage)) == bits(linkage)


def test_any_linkage_reads_back_to_the_last_bit():
    rng = np.random.default_rng(1)
    for seed in range(60):
        tree = random_tree(seed, geometry=True).at(Frame.at(rng.normal(size=3), Frame.rotvec(rng.normal(size=3))))
        assert again(tree) == tree
        assert bits(again(tree)) == bits(tree)
        q = tree.random(seed=seed)
        assert np.array_equal(again(tree).frames(q).matrix, tree.frames(q).matrix)


def test_every_shape_reads_back():
    shapes = (Box((1, 2, 3)), Sphere(0.1), Cylinder(0.1, 0.2), Capsule(0.1, 0.2), Mesh("a.stl", (1, 1, -1), False))
    pieces = tuple(
        Geometry(shape, Frame.at([0.1, 0, 0]), (1, 0, 0.5, 1) if i else None) for i, shape in enumerate(shapes)
    )
    linkage = Linkage("shapes", links=[Link("base", pieces)])
    assert again(linkage) == linkage
    assert again(linkage, geometry=False) == Linkage("shapes", links=[Link("base")])


def valid():
    joints = [
        Joint.revolute("shoulder", "base", "upper", lower=-1, upper=2),
        Joint.ball("wrist", "upper", "hand", swing=1.0, twist=(-1, 1)),
        Joint.prismatic("finger", "hand", "tip", mimic=Mimic("shoulder", 0.5, 0.1)),
    ]
    links = [Link("base", (Geometry(Box((1, 1, 1))),)), Link("upper"), Link("hand"), Link("tip")]
    return json.loads(json.dumps(Linkage("arm", joints, links).to_dict()))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("format",), "urdf", "expected a dict made by Linkage.to_dict"),
        (("version",), 2, "version 2 of the data is not known; this supple reads version 1"),
        (("version",), True, "version True of the data is not known"),
        (("name",), 3, "name: expected a string"),
        (("base",), [[1, 0], [0, 1]], "base: expected 4 rows of 4 numbers"),
        (("base", 0, 0), 2.0, "base: the rotation of a frame must be orthonormal"),
        (("links",), {"a": 1}, "links: expected a list"),
        (("links", 0), "base", r"links\[0\]: expected a dict with name, geometry; got 'base'"),
        (
            ("links", 0, "geometry", 0, "shape", "kind"),
            "bx",
            r"links\[0\].geometry\[0\].shape: kind must be one of box",
        ),
        (
            ("links", 0, "geometry", 0, "shape", "size"),
            [1, 2],
            r"links\[0\].geometry\[0\].shape.size: expected 3 numbers",
        ),
        (("links", 0, "geometry", 0, "colour"), [1, 2], "colour: expected 4 numbers"),
        (("joints", 0, "kind"), "revolut", "no kind of joint named 'revolut'; did you mean 'revolute'"),
        (("joints", 0, "lower"), [], r"joints\[0\].lower: expected 1 numbers, got \[\]"),
        (("joints", 0, "lower"), [3], "lower limit 3 is above upper limit 2"),
        (("joints", 0, "lower"), [math.nan], "expected a finite number, got nan"),
        (("joints", 0, "rest"), [None], "expected a finite number, got None"),
        (("joints", 0, "rest"), ["0"], "expected a finite number, got '0'"),
        (("joints", 0, "rest"), [True], "expected a finite number, got True"),
        (("joints", 0, "rest"), [10**400], "expected a finite number"),
        (("joints", 0, "axis"), [0, 0, 0], "axis of a revolute joint must not be zero"),
        (("joints", 0, "location"), None, r"joints\[0\].location: expected 4 rows"),
        (("joints", 1, "swing"), None, "expected a finite number, got None"),
        (("joints", 2, "mimic", "gain"), "x", r"joints\[2\].mimic.gain: expected a finite number"),
        (("joints", 2, "mimic", "joint"), "elbow", "it mimics 'elbow', which does not exist"),
        (("joints", 2, "parent"), "nowhere", "its parent link 'nowhere' does not exist"),
        (("joints", 0, "name"), "x" * 5000, "expected a string of at most 4,096 characters"),
        (("joints", 0, "Kind"), 1, "no field named 'Kind'; did you mean 'kind'"),
    ],
)
def test_bad_data_is_refused_with_its_place(path, value, message):
    data = valid()
    inner = data
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    with pytest.raises(BadLinkage, match=message) as refused:
        Linkage.from_dict(data)
    assert len(str(refused.value)) < 400


def test_every_field_is_needed():
    for section in ("", "links", "joints"):
        whole = valid()
        for name in whole[section][0] if section else [key for key in whole if key not in ("format", "version")]:
            data = copy.deepcopy(whole)
            del (data[section][0] if section else data)[name]
            with pytest.raises(BadLinkage, match=f"field '{name}' is missing"):
                Linkage.from_dict(data)


def test_random_damage_raises_only_bad_linkage():
    rng = np.random.default_rng(0)
    junk = [None, 3, -1.5, "x", [], {}, [[]], True, math.nan, math.inf, 10**400, "\0", ["base"], {"kind": "box"}]

    def spots(value, path=()):
        yield path
        inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, one in inner:
            yield from spots(one, (*path, key))

    places = list(spots(valid()))
    for _ in range(2000):
        data = valid()
        *steps, last = places[rng.integers(1, len(places))]
        inner = data
        for step in steps:
            inner = inner[step]
        inner[last] = junk[rng.integers(len(junk))]
        with contextlib.suppress(BadLinkage):
            Linkage.from_dict(data)


@pytest.mark.parametrize("data", [None, [], "text", 3, {}, {"format": "supple.linkage"}])
def test_anything_but_such_a_dict_is_refused(data):
    with pytest.raises(BadLinkage):
        Linkage.from_dict(data)


def test_axes_and_frames_that_are_nearly_right_are_made_right():
    data = valid()
    data["joints"][0]["axis"] = [0, 0, 5]
    data["base"][0][1] = 1e-8
    linkage = Linkage.from_dict(data)
    assert linkage.joint("shoulder").axis == (0, 0, 1)
    assert np.allclose(linkage.base.rotation @ linkage.base.rotation.T, np.eye(3), atol=1e-15)
