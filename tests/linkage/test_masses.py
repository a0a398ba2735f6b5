"""Laws of masses: the centre of mass is that of the links, whatever the linkage was made from."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from random_trees import random_q, random_tree
from supple import BadInput, BadLinkage, Frame, Joint, Link, Linkage, models
from supple.read import load, urdf_text


def heavy_tree(seed):
    """A random tree where about two links of three have a mass."""
    rng = np.random.default_rng(seed)
    tree = random_tree(seed)
    links = [
        replace(link, mass=rng.uniform(0.1, 20) * (rng.random() < 2 / 3), center_of_mass=rng.normal(size=3))
        for link in tree.links
    ]
    links[-1] = replace(links[-1], mass=1.0)
    return Linkage(tree.name, tree.joints, links, tree.base)


def by_hand(linkage, q):
    """Sum of m R c + m p over the links, divided by the sum of m."""
    total, moment = 0.0, np.zeros(3)
    for link in linkage.links:
        frame = linkage.frame(q, link.name)
        total += link.mass
        moment += link.mass * (frame.rotation @ np.array(link.center_of_mass) + frame.position)
    return moment / total


# -- numbers --------------------------------------------------------------------------------------------------------

# pinocchio 3.8.0, computeTotalMass and centerOfMass of the files of example-robot-data 6.0.0 with a free root joint,
# so that the masses of the root count; q goes through the limits in steps of 0.37 of their range, from a first value
JUDGED = {
    ("g1", 0.0): (33.34114202, [0.026822634646747265, -0.020921562147086133, 0.1445069358173471]),
    ("g1", 0.5): (33.34114202, [-0.013086353434386865, 0.0036929711350811305, 0.14120011792799075]),
    ("baxter", 0.0): (137.33261044, [0.0671737844975891, -0.0405934949112214, 0.13061770374077925]),
    ("baxter", 0.5): (137.33261044, [0.02573233992765749, 0.02990136094886449, 0.1489396146421849]),
}


@pytest.mark.parametrize(("name", "first"), JUDGED)
def test_mass_and_centre_of_the_bundled_models_are_those_of_pinocchio(name, first):
    arm = models.get(name)
    mass, center = JUDGED[name, first]
    q = arm.lower + (arm.upper - arm.lower) * ((first + 0.37 * np.arange(arm.dof)) % 1)
    assert abs(arm.mass - mass) < 1e-12 * mass
    assert np.abs(arm.center_of_mass(q) - center).max() < 1e-14


def test_the_centre_of_mass_is_the_weighted_mean_of_the_links():
    for seed in range(100):
        tree = heavy_tree(seed)
        q = random_q(tree, seed)
        size = np.abs(tree.frames(q).matrix).max() + 10
        assert np.abs(tree.center_of_mass(q) - by_hand(tree, q)).max() < 1e-13 * size
        assert tree.mass == pytest.approx(sum(link.mass for link in tree.links), rel=1e-14)


def test_leading_axes_are_kept():
    g1 = models.g1()
    q = g1.random(3, 4, seed=0)
    many = g1.center_of_mass(q)
    assert many.shape == (3, 4, 3)
    assert np.abs(many[2, 1] - g1.center_of_mass(q[2, 1])).max() < 1e-15
    assert g1.center_of_mass(np.zeros((0, g1.dof))).shape == (0, 3)
    assert g1.center_of_mass([[g1.rest.tolist()]]).shape == (1, 1, 3)


def test_more_rows_than_fit_into_one_block_are_the_same():
    tree = heavy_tree(3)
    q = random_q(tree, 0, 5, 1000)
    rows = [tree.center_of_mass(row) for row in q]
    assert np.abs(tree.center_of_mass(q) - rows).max() < 1e-13


def test_a_linkage_that_cannot_move_has_a_centre_of_mass():
    rock = Linkage("rock", links=[Link("stone", mass=2, center_of_mass=[1, 0, 0])], base=Frame.at([0, 0, 1]))
    assert rock.mass == 2
    assert rock.center_of_mass([]).tolist() == [1, 0, 1]


def test_very_large_masses_do_not_overflow():
    links = [Link(name, mass=1e12, center_of_mass=(1e12, 0, 0)) for name in "ab"]
    pair = Linkage("pair", [Joint.revolute("j", "a", "b")], links)
    assert pair.center_of_mass([0]).tolist() == [1e12, 0, 0]


# -- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["panda", "planar2"])
def test_a_linkage_without_masses_says_so(name):
    arm = models.get(name)
    assert arm.mass == 0
    with pytest.raises(BadInput, match=f"'{name}' has no masses, so it has no centre of mass"):
        arm.center_of_mass(arm.rest)


@pytest.mark.parametrize("q", [0.0, [0.0], [[0.0] * 28] * 5000, "rest", None, [[0.0] * 29, [0.0]]])
def test_joint_values_of_another_shape_are_refused(q):
    with pytest.raises(BadInput):
        models.g1().center_of_mass(q)


@pytest.mark.parametrize("mass", [-1, -1e-300, math.nan, math.inf, 1e13, 10**400, True, "3", None, [1], 1j])
def test_a_mass_that_cannot_be_is_refused_with_its_link(mass):
    with pytest.raises(BadLinkage, match="link 'arm': its mass must be between 0 and 1e\\+12 kg"):
        Link("arm", mass=mass)


@pytest.mark.parametrize(
    "center", [(0, 0), 3, None, "abc", "123456", [0, math.nan, 0], [math.nan, 0, 0], (0, 0, math.inf), [0, 0, -1e13]]
)
def test_a_centre_of_mass_that_cannot_be_is_refused_with_its_link(center):
    with pytest.raises(BadLinkage, match="link 'arm': its centre of mass must be 3 numbers within 1e\\+12 m"):
        Link("arm", mass=1, center_of_mass=center)


# -- linkages from linkages -----------------------------------------------------------------------------------------


def test_locking_joints_moves_no_mass():
    for seed in range(30):
        tree = heavy_tree(seed)
        q = random_q(tree, seed)
        names = [joint.name for joint in tree.joints if joint.dof][::2]
        columns = {name: slice(tree._sources[name].first, None) for name in names}
        values = {name: q[columns[name]][: tree.joint(name).dof] for name in names}
        taken = {i for name in names for i in range(columns[name].start, columns[name].start + tree.joint(name).dof)}
        left = np.delete(q, list(taken))
        locked = tree.locked(values)
        assert locked.mass == tree.mass
        size = np.abs(tree.frames(q).matrix).max() + 10
        assert np.abs(locked.center_of_mass(left) - tree.center_of_mass(q)).max() < 1e-12 * size


def test_a_part_has_the_masses_of_its_own_links():
    g1 = models.g1()
    arm = g1.part("torso_link", "left_rubber_hand")
    assert arm.mass == pytest.approx(sum(g1.link(link.name).mass for link in arm.links), rel=1e-14)
    assert 0 < arm.mass < g1.mass


def test_another_base_takes_the_centre_of_mass_with_it():
    g1, base = models.g1(), Frame.at([1, 2, 3], Frame.rotvec([0.1, 0.2, 0.3]))
    moved = g1.at(base).center_of_mass(g1.rest)
    assert np.abs(moved - base.apply(g1.center_of_mass(g1.rest))).max() < 1e-14


def test_a_tool_and_an_attached_linkage_add_their_masses():
    plain = models.planar2()
    armed = plain.with_tool("tip", Frame.at([1, 0, 0]), mass=2, center_of_mass=(0.5, 0, 0))
    assert armed.mass == 2
    assert armed.center_of_mass([0, 0]).tolist() == [26.5, 0, 0]
    both = armed.attach("tip", armed, prefix="second_")
    assert both.mass == 4
    assert both.link("second_tool").mass == 2
    assert both.center_of_mass([0, 0, 0, 0]).tolist() == [39, 0, 0]


# -- files and plain data -------------------------------------------------------------------------------------------


def test_masses_read_back_from_plain_data_to_the_last_bit():
    for seed in range(30):
        tree = heavy_tree(seed)
        again = Linkage.from_dict(json.loads(json.dumps(tree.to_dict(), allow_nan=False)))
        assert again.links == tree.links
        assert Linkage.from_dict(tree.to_dict(geometry=False)).mass == tree.mass


def test_data_of_links_without_masses_has_no_field_for_them():
    data = models.planar2().to_dict()
    assert data["version"] == 1
    assert all(set(link) == {"name", "geometry"} for link in data["links"])
    assert Linkage.from_dict(data) == models.planar2()


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("mass", None, r"links\[0\].mass: expected a finite number, got None"),
        ("mass", math.nan, r"links\[0\].mass: expected a finite number, got nan"),
        ("mass", -1, r"links\[0\]: its mass must be between 0 and 1e\+12 kg, got -1"),
        ("mass", 1e300, r"links\[0\]: its mass must be between"),
        ("center_of_mass", [0, 0], r"links\[0\].center_of_mass: expected 3 numbers"),
        ("center_of_mass", [0, 0, 1e300], r"links\[0\]: its centre of mass must be 3 numbers within"),
        ("Mass", 1.0, "no field named 'Mass'; did you mean 'mass'"),
    ],
)
def test_bad_masses_in_plain_data_are_refused_with_their_place(field, value, message):
    data = models.g1().to_dict()
    data["links"][0][field] = value
    with pytest.raises(BadLinkage, match=message):
        Linkage.from_dict(data)


@pytest.mark.parametrize(("field", "other"), [("mass", "center_of_mass"), ("center_of_mass", "mass")])
def test_plain_data_has_both_fields_or_neither(field, other):
    data = models.g1().to_dict()
    del data["links"][0][field]
    with pytest.raises(BadLinkage, match=rf"links\[0\]: field '{field}' is missing"):
        Linkage.from_dict(data)
    del data["links"][0][other]
    assert Linkage.from_dict(data).mass < models.g1().mass


def test_urdf_gives_mass_and_centre_and_the_turn_of_the_inertia_does_not_matter():
    arm = urdf_text(
        """<robot name="r">
        <link name="a"><inertial><origin xyz="1 2 3" rpy="0.1 -0.2 3"/><mass value="2.5"/>
        <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
        <link name="b"><inertial><mass value="1e-3"/></inertial></link>
        <link name="c"><inertial><origin rpy="1 0 0"/><mass value="0"/></inertial></link>
        <link name="d"/>
        <joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>
        <joint name="k" type="fixed"><parent link="b"/><child link="c"/></joint>
        <joint name="l" type="fixed"><parent link="c"/><child link="d"/></joint></robot>"""
    )
    assert [link.mass for link in arm.links] == [2.5, 1e-3, 0, 0]
    assert [link.center_of_mass for link in arm.links] == [(1, 2, 3), (0, 0, 0), (0, 0, 0), (0, 0, 0)]


def test_mjcf_gives_the_mass_and_centre_that_mujoco_uses(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    file = tmp_path / "arm.xml"
    file.write_text(
        """<mujoco><worldbody><body name="a" pos="0 0 1"><joint name="i" axis="0 1 0" pos="0 0 0.1"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.04"/>
        <body name="b" pos="0.3 0 0"><joint name="j" axis="0 0 1"/><joint name="k" axis="1 0 0" pos="0 0.1 0"/>
        <inertial pos="0.1 0.2 0" quat="1 1 0 0" mass="3" diaginertia="0.1 0.1 0.1"/>
        <geom size="0.1"/></body></body></worldbody></mujoco>"""
    )
    arm = load(file)
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    assert arm.mass == pytest.approx(model.body_subtreemass[0], rel=1e-14)
    assert arm.link("b").mass == 3
    for q in arm.random(20, seed=0):
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        assert np.abs(arm.center_of_mass(q) - data.subtree_com[0]).max() < 1e-14


def test_a_missing_mesh_of_mjcf_gives_no_mass(tmp_path):
    pytest.importorskip("mujoco")
    file = tmp_path / "bare.xml"
    file.write_text(
        """<mujoco><asset><mesh name="gone" file="gone.stl"/></asset><worldbody>
        <body name="a"><joint name="i"/><geom type="mesh" mesh="gone"/>
        <body name="b"><joint name="j"/><inertial pos="1 0 0" mass="3" diaginertia="1 1 1"/>
        <geom type="mesh" mesh="gone"/></body>
        <body name="c"><joint name="k"/><geom size="0.1"/></body></body></worldbody></mujoco>"""
    )
    arm = load(file)
    assert [arm.link(name).mass for name in "ab"] == [0, 3]
    assert arm.link("b").center_of_mass == (1, 0, 0)
    assert arm.link("c").mass == pytest.approx(1000 * 4 / 3 * math.pi * 0.1**3)
