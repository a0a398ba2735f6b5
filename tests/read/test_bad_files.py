"""Laws of refusing: what cannot mean a linkage names file, line, element and what was expected, quickly."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

from supple.errors import BadLinkage
from supple.read import load, urdf_text

HEAD = '<robot name="r">\n<link name="a"/>\n<link name="b"/>\n'  # the first line of what follows is line 4
ENDS = '<parent link="a"/><child link="b"/>'


def robot(rest: str) -> str:
    return f"{HEAD}{rest}\n</robot>"


def joint(inside: str, kind: str = "revolute") -> str:
    """A joint 'j' on line 4, with what is inside it on line 5."""
    return robot(f'<joint name="j" type="{kind}">{ENDS}\n{inside}</joint>')


def shape(inside: str) -> str:
    """A link 'c' on line 4, with its geometry on line 5."""
    fixed = '<joint name="k" type="fixed"><parent link="a"/><child link="c"/></joint>'
    return robot(f'<link name="c"><visual><geometry>\n{inside}</geometry></visual></link>{joint_ab()}{fixed}')


def inertial(inside: str) -> str:
    """A link 'c' with an <inertial> on line 4, and what is inside that on line 5."""
    return robot(f'<link name="c"><inertial>\n{inside}</inertial></link>')


def joint_ab() -> str:
    return f'<joint name="j" type="fixed">{ENDS}</joint>'


def more(*rest: str) -> str:
    """Links a, b, c; joint 'j' from a to b on line 4; the rest from line 5 on."""
    return robot('<joint name="j" type="continuous">' + ENDS + '</joint><link name="c"/>\n' + "\n".join(rest))


LIMIT = '<limit lower="-1" upper="1"/>'
NUMBERS = "'xyz' of <origin> must be 3 numbers"

# what came; the line; the element; what the message must say
BAD: dict[str, tuple[str | bytes, int, str, str]] = {
    # -- not a document
    "empty": ("", 0, "", "the file is empty; expected an XML document"),
    "only spaces": (" \r\n\t", 0, "", "the file is empty"),
    "binary": (bytes(range(256)), 1, "", "not well-formed XML"),
    "an image": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 1, "", "not well-formed XML"),
    "plain text": ("hello", 1, "", "not well-formed XML: Start tag expected, '<' not found"),
    "cut short": (HEAD, 4, "", "not well-formed XML"),
    "tags crossed": ('<robot name="r">\n<link name="a"></joint></robot>', 2, "", "Opening and ending tag mismatch"),
    "attribute twice": ('<robot name="r">\n<link name="a" name="b"/></robot>', 2, "", "Attribute name redefined"),
    "unquoted": ("<robot name=r/>", 1, "", "AttValue"),
    "two documents": (robot("") + "\n<robot/>", 6, "", "Extra content at the end of the document"),
    "bare ampersand": (robot('<link name="a&b"/>'), 4, "", "not well-formed XML"),
    "not UTF-8": (b'<robot name="r">\n<link name="\xff"/></robot>', 2, "", "Invalid bytes in character encoding"),
    "half of UTF-16": ("<robot/>".encode("utf-16")[:-1], 0, "", "the text is not valid utf-16-le"),
    "half a surrogate": ("<robot name='\ud800'/>", 0, "", "the text is not valid utf-8"),
    "odd encoding": (b'<?xml version="1.0" encoding="utf-7x"?><robot/>', 1, "", "<robot> needs at least one <link>"),
    "unknown encoding": (
        b'<?xml version="1.0" encoding="klingon"?><robot/>',
        1,
        "",
        "encoding 'klingon' is not supported",
    ),
    "escaping encoding": (
        b'<?xml version="1.0" encoding="unicode_escape"?><r/>',
        1,
        "",
        "is not supported; save the file",
    ),
    "undeclared and cut": ("<robot>\n<a:b/>" + "<c:d/>" * 300 + "\n<e>", 3, "", "not well-formed XML"),
    "wrong root": ("<sdf><model/></sdf>", 1, "", "the root element is <sdf>; expected <robot>"),
    "mujoco": ("<mujoco/>", 1, "", "the root element is <mujoco>; expected <robot>"),
    "capital root": ("<Robot/>", 1, "", "the root element is <Robot>; expected <robot>"),
    "xacro left": (
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro">\n<xacro:macro name="m"/></robot>',
        *(2, "", "xacro that is not expanded; give the file a name that ends in .xacro"),
    ),
    "xacro undeclared": ('<robot>\n<xacro:property name="m"/></robot>', 2, "", "xacro that is not expanded"),
    # -- links
    "no links": ('<robot name="r"/>', 1, "", "a <robot> needs at least one <link>"),
    "joint without links": (f'<robot name="r">{joint_ab()}</robot>', 1, "", "a <robot> needs at least one <link>"),
    "nameless link": (robot("<link/>"), 4, "<link>", "<link> needs a 'name'"),
    "empty name": (robot('<link name=""/>'), 4, "<link>", "<link> needs a 'name', got an empty one"),
    "endless name": (robot(f'<link name="{"x" * 1001}"/>'), 4, "link 'xxx", "'name' of <link> is longer than 1000"),
    "two links of one name": (
        robot('<link name="a"/>'),
        4,
        "link 'a'",
        "two links have this name; the first is on line 2",
    ),
    # -- masses
    "no mass": (inertial("<origin/>"), 4, "link 'c'", "<inertial> needs a <mass>"),
    "two inertias": (inertial('<mass value="1"/></inertial><inertial>'), 5, "link 'c'", "a second <inertial>"),
    "two masses": (inertial('<mass value="1"/><mass value="1"/>'), 5, "link 'c'", "a second <mass>"),
    "mass without value": (inertial("<mass/>"), 5, "link 'c'", "<mass> needs a 'value'"),
    "empty mass": (inertial('<mass value=""/>'), 5, "link 'c'", "<mass> needs a 'value', got an empty one"),
    "negative mass": (inertial('<mass value="-2"/>'), 5, "link 'c'", "must be between 0 and 1e+12 kg, got -2"),
    "mass nan": (inertial('<mass value="nan"/>'), 5, "link 'c'", "'value' of <mass> must be a number, finite"),
    "mass overflows": (inertial('<mass value="1e999"/>'), 5, "link 'c'", "'value' of <mass> must be a number, finite"),
    "huge mass": (inertial('<mass value="1e300"/>'), 5, "link 'c'", "must be between 0 and 1e+12 kg, got 1e+300"),
    "two numbers of mass": (inertial('<mass value="1 2"/>'), 5, "link 'c'", "must be a number, got 2: '1 2'"),
    "centre of mass nan": (inertial('<mass value="1"/><origin xyz="0 nan 0"/>'), 5, "link 'c'", NUMBERS),
    "centre of mass far away": (
        inertial('<mass value="1"/><origin xyz="0 -1e300 0"/>'),
        *(5, "link 'c'", "'xyz' of <origin> must be within 1e+12 m, got -1e+300"),
    ),
    "two roots": (robot(""), 3, "link 'b'", "a tree has one root, but 'b' has no parent either, like 'a'"),
    # -- joints
    "nameless joint": (robot(f'<joint type="fixed">{ENDS}</joint>'), 4, "<joint>", "<joint> needs a 'name'"),
    "two joints of one name": (
        more('<joint name="j" type="fixed"><parent link="b"/><child link="c"/></joint>'),
        *(5, "joint 'j'", "two joints have this name; the first is on line 4"),
    ),
    "no type": (robot(f'<joint name="j">{ENDS}</joint>'), 4, "joint 'j'", "<joint> needs a 'type'"),
    "misspelt type": (
        joint("", "revolut"),
        4,
        "joint 'j'",
        "no kind of joint named 'revolut'; did you mean 'revolute'",
    ),
    "capital type": (joint("", "Fixed"), 4, "joint 'j'", "no kind of joint named 'Fixed'; did you mean 'fixed'"),
    "unknown type": (joint("", "#"), 4, "joint 'j'", "no kind of joint named '#'; known: 'fixed', 'revolute'"),
    "no parent": (robot('<joint name="j" type="fixed"><child link="b"/></joint>'), 4, "joint 'j'", "needs a <parent>"),
    "no child": (robot('<joint name="j" type="fixed"><parent link="a"/></joint>'), 4, "joint 'j'", "needs a <child>"),
    "parent without link": (joint("<parent/>"), 5, "joint 'j'", "a second <parent>; expected at most one"),
    "parent names nothing": (
        robot('<joint name="j" type="fixed">\n<parent/><child link="b"/></joint>'),
        *(5, "joint 'j'", "<parent> needs a 'link'"),
    ),
    "unknown parent": (
        robot('<link name="elbow"/><joint name="j" type="fixed">\n<parent link="elbw"/><child link="b"/></joint>'),
        *(5, "joint 'j'", "<parent>: no link named 'elbw'; did you mean 'elbow'?"),
    ),
    "unknown child": (
        robot('<joint name="j" type="fixed"><parent link="a"/>\n<child link="z"/></joint>'),
        *(5, "joint 'j'", "<child>: no link named 'z'; known: 'a', 'b'"),
    ),
    "its own parent": (
        robot('<joint name="j" type="fixed"><parent link="a"/><child link="a"/></joint>'),
        *(4, "joint 'j'", "a link cannot be its own parent: 'a'"),
    ),
    "two parents": (
        more(
            '<joint name="k" type="fixed"><parent link="a"/><child link="c"/></joint>',
            '<joint name="l" type="fixed"><parent link="b"/><child link="c"/></joint>',
        ),
        *(6, "joint 'l'", "link 'c' has two parents: it is also the child of joint 'k'"),
    ),
    "a circle": (
        robot(f'{joint_ab()}\n<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint>'),
        *(2, "link 'a'", "the joints form a circle: every link has a parent"),
    ),
    "a circle beside a tree": (
        f'<robot name="r">\n<link name="base"/>{HEAD[16:]}{joint_ab()}'
        '<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint></robot>',
        *(3, "link 'a'", "it is part of a circle of joints"),
    ),
    "two origins": (
        joint('<origin/>\n<origin xyz="1 0 0"/>'),
        6,
        "joint 'j'",
        "a second <origin>; expected at most one",
    ),
    "two limits": (joint(LIMIT + LIMIT), 5, "joint 'j'", "a second <limit>; expected at most one"),
    # -- axes
    "zero axis": (joint('<axis xyz="0 0 0"/>'), 4, "joint 'j'", "axis of a revolute joint must not be zero"),
    "zero axis of a slide": (
        joint('<axis xyz="0 -0 0e5"/>', "prismatic"),
        4,
        "joint 'j'",
        "of a prismatic joint must not be",
    ),
    "zero axis of a plane": (
        joint('<axis xyz="0 0 0"/>', "planar"),
        4,
        "joint 'j'",
        "of a planar joint must not be zero",
    ),
    "axis in words": (
        joint('<axis xyz="z"/>'),
        5,
        "joint 'j'",
        "'xyz' of <axis> must be 3 numbers, finite and written",
    ),
    # -- numbers
    "comma": (joint('<origin xyz="0,5 0 0"/>'), 5, "joint 'j'", f"{NUMBERS}, finite and written like 0.5; got '0,5'"),
    "commas between": (
        joint('<origin xyz="1, 2, 3"/>'),
        5,
        "joint 'j'",
        f"{NUMBERS}, finite and written like 0.5; got '1,'",
    ),
    "nan": (joint('<origin xyz="nan 0 0"/>'), 5, "joint 'j'", "got 'nan'"),
    "infinity": (joint('<origin xyz="0 inf 0"/>'), 5, "joint 'j'", "got 'inf'"),
    "overflow": (joint('<origin xyz="0 0 1e999"/>'), 5, "joint 'j'", "got '1e999'"),
    "underscore": (joint('<origin xyz="1_000 0 0"/>'), 5, "joint 'j'", "got '1_000'"),
    "hexadecimal": (joint('<origin xyz="0x10 0 0"/>'), 5, "joint 'j'", "got '0x10'"),
    "Arabic digits": (joint('<origin xyz="١ ٢ ٣"/>'), 5, "joint 'j'", "got '١'"),
    "full-width digit": (joint('<origin xyz="１ 0 0"/>'), 5, "joint 'j'", "got '１'"),
    "unit": (joint('<origin xyz="5cm 0 0"/>'), 5, "joint 'j'", "got '5cm'"),
    "expression": (joint('<origin xyz="${x} 0 0"/>'), 5, "joint 'j'", "got '${x}'"),
    "lone sign": (joint('<origin xyz="- 0 0"/>'), 5, "joint 'j'", "got '-'"),
    "lone point": (joint('<origin xyz=". 0 0"/>'), 5, "joint 'j'", "got '.'"),
    "two of three": (joint('<origin xyz="1 2"/>'), 5, "joint 'j'", f"{NUMBERS}, got 2: '1 2'"),
    "four of three": (joint('<origin xyz="1 2 3 4"/>'), 5, "joint 'j'", f"{NUMBERS}, got 4: '1 2 3 4'"),
    "none of three": (joint('<origin xyz=""/>'), 5, "joint 'j'", f"{NUMBERS}, got 0: ''"),
    "angles": (joint('<origin rpy="0 0"/>'), 5, "joint 'j'", "'rpy' of <origin> must be 3 numbers, got 2"),
    "rpy and quaternion": (joint('<origin rpy="0 0 0" quat_xyzw="0 0 0 1"/>'), 5, "joint 'j'", "expected one of them"),
    "zero quaternion": (
        joint('<origin quat_xyzw="0 0 0 0"/>'),
        5,
        "joint 'j'",
        "'quat_xyzw' of <origin> must not be zero",
    ),
    "endless number": (joint(f'<origin xyz="{"1" * 400} 0 0"/>'), 5, "joint 'j'", f"{NUMBERS}, finite and written"),
    # -- limits
    "lower above upper": (
        joint('<limit lower="1" upper="-1"/>'),
        4,
        "joint 'j'",
        "lower limit 1 is above upper limit -1",
    ),
    "lower above nothing": (joint('<limit lower="1"/>'), 4, "joint 'j'", "lower limit 1 is above upper limit 0"),
    "limit in words": (joint('<limit lower="-pi" upper="pi"/>'), 5, "joint 'j'", "'lower' of <limit> must be a number"),
    "infinite limit": (
        joint('<limit lower="-inf" upper="inf"/>'),
        5,
        "joint 'j'",
        "'lower' of <limit> must be a number",
    ),
    "two numbers in a limit": (joint('<limit upper="1 2"/>'), 5, "joint 'j'", "must be a number, got 2: '1 2'"),
    "negative speed": (
        joint('<limit velocity="-1"/>'),
        4,
        "joint 'j'",
        "speed limit must not be negative, got (-1.0,)",
    ),
    "speed nan": (joint('<limit velocity="nan"/>'), 5, "joint 'j'", "'velocity' of <limit> must be a number"),
    # -- mimic
    "mimic of nothing": (
        joint('<mimic joint="jj"/>'),
        5,
        "joint 'j'",
        "<mimic>: no joint named 'jj'; did you mean 'j'?",
    ),
    "mimic unnamed": (joint("<mimic/>"), 5, "joint 'j'", "<mimic> needs a 'joint'"),
    "mimic of itself": (joint('<mimic joint="j"/>'), 4, "joint 'j'", "it mimics itself"),
    "mimics in a circle": (
        more(
            '<joint name="k" type="continuous"><parent link="b"/><child link="c"/><mimic joint="l"/></joint>',
            '<joint name="l" type="continuous"><parent link="c"/><child link="d"/><mimic joint="k"/></joint>',
            '<link name="d"/>',
        ),
        *(5, "joint 'k'", "it mimics in a circle: 'k', 'l'"),
    ),
    "mimic of a fixed joint": (
        robot(
            f'{joint_ab()}<link name="c"/>\n<joint name="k" type="revolute"><parent link="b"/><child link="c"/>'
            '<mimic joint="j"/></joint>'
        ),
        *(5, "joint 'k'", "it mimics 'j', a fixed joint"),
    ),
    "mimic gain": (
        joint('<mimic joint="j" multiplier="x"/>'),
        5,
        "joint 'j'",
        "'multiplier' of <mimic> must be a number",
    ),
    "two mimics": (joint('<mimic joint="j"/><mimic joint="j"/>'), 5, "joint 'j'", "a second <mimic>"),
    # -- geometry
    "box of two": (shape('<box size="1 2"/>'), 5, "link 'c'", "'size' of <box> must be 3 numbers, got 2: '1 2'"),
    "box of none": (shape("<box/>"), 5, "link 'c'", "<box> needs a 'size'"),
    "negative radius": (
        shape('<sphere radius="-1"/>'),
        5,
        "link 'c'",
        "'radius' of <sphere> must not be negative, got -1",
    ),
    "no length": (shape('<cylinder radius="1"/>'), 5, "link 'c'", "<cylinder> needs a 'length'"),
    "mesh of nothing": (shape("<mesh/>"), 5, "link 'c'", "<mesh> needs a 'filename'"),
    "scale of one": (
        shape('<mesh filename="a.stl" scale="1"/>'),
        5,
        "link 'c'",
        "'scale' of <mesh> must be 3 numbers, got 1",
    ),
    "colour of three": (
        robot('<material name="m">\n<color rgba="1 0 0"/></material>'),
        *(5, "material 'm'", "'rgba' of <color> must be 4 numbers, got 3: '1 0 0'"),
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_mean_a_linkage_is_refused_by_name_and_line(case: str) -> None:
    text, line, element, said = BAD[case]
    with pytest.raises(BadLinkage) as caught:
        urdf_text(text, file="robot.urdf")
    error = caught.value
    assert (error.file, error.line) == ("robot.urdf", line)
    assert error.element == element or (len(element) > 8 and error.element.startswith(element))
    assert said in error.reason
    place = f"robot.urdf:{line}" if line else "robot.urdf"
    assert str(error) == ": ".join(part for part in (place, error.element, error.reason) if part)
    assert len(str(error)) < 1500
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_there_are_more_than_forty_of_them() -> None:
    assert len(BAD) > 40


def test_every_way_of_writing_the_same_fault_names_the_same_line() -> None:
    text = joint('<origin xyz="0,5 0 0"/>')
    for data in (text.encode("utf-16"), b"\xef\xbb\xbf" + text.encode(), text.replace("\n", "\r\n").encode()):
        with pytest.raises(BadLinkage) as caught:
            urdf_text(data)
        assert caught.value.line == 5


# -- hostile ------------------------------------------------------------------------------------------------------

LAUGHS = '<!DOCTYPE r [<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
CIRCLE = "".join(
    f'<link name="{i + 1}"/><joint name="{i}" type="continuous"><parent link="{i}"/><child link="{i + 1}"/>'
    f'<mimic joint="{(i + 1) % 20_000}"/></joint>'
    for i in range(20_000)
)
HOSTILE = {
    "entity bomb": LAUGHS + "]><robot>&a11;</robot>",
    "entity bomb in an attribute": LAUGHS + ']><robot name="&a11;"/>',
    "quadratic bomb": f'<!DOCTYPE r [<!ENTITY a "{"x" * 100_000}">]><robot>{"&a;" * 100_000}</robot>',
    "parameter entities": "<!DOCTYPE r [<!ENTITY % a \"<!ENTITY b 'c'>\">%a;]><robot/>",
    "external entity": '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><robot name="&a;"/>',
    "external entity in text": '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///dev/zero">]><robot>&a;</robot>',
    "external document type": '<!DOCTYPE r SYSTEM "http://127.0.0.1:9/r.dtd"><robot/>',
    "document type after a comment": "<!-- a --><?b?>\n<!-- c -->\n<!DOCTYPE robot><robot/>",
    "document type in UTF-16": "<!DOCTYPE robot><robot/>".encode("utf-16"),
    "undefined entity": "<robot>&lots;</robot>",
    "100,000 deep": "<robot>" + "<a>" * 100_000 + "</a>" * 100_000 + "</robot>",
    "deep and never closed": "<a>" * 300_000,
    "attribute of 20 MB": f'<robot name="{"x" * 20_000_000}"/>',
    "name of 9 MB": f'<robot name="r"><link name="{"x" * 9_000_000}"/></robot>',
    "number of 9 MB": f'<robot><link name="a"><visual><origin xyz="{"1" * 9_000_000}"/></visual></link></robot>',
    "kind of 9 MB": f'<robot name="r"><link name="a"/><joint name="j" type="{"x" * 9_000_000}"/></robot>',
    "tag of 20 MB": f"<{'r' * 20_000_000}/>",
    "text of 20 MB": f"<robot>{'x' * 20_000_000}</robot>",
    "comment of 20 MB": f"<robot><!--{'x' * 20_000_000}--></robot>",
    "a million elements": f"<robot>{'<a/>' * 1_000_000}</robot>",
    "half a million attributes": "<robot " + " ".join(f'a{i}=""' for i in range(500_000)) + "/>",
    "100,000 roots": '<robot name="r">' + "".join(f'<link name="{i}"/>' for i in range(100_000)) + "</robot>",
    "a circle of 20,000 mimics": f'<robot><link name="0"/>{CIRCLE}</robot>',
    "undeclared prefixes": "<robot>" + "<a:b/>" * 100_000 + "</robot>",
    "as many attributes as may be": "<robot " + " ".join(f'a{i}=""' for i in range(399_000)) + "/>",
    "above the size": "<robot/>" + " " * 64 * 2**20,
}


@pytest.mark.slow
@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_xml_is_refused(case: str) -> None:
    with pytest.raises(BadLinkage) as caught:
        urdf_text(HOSTILE[case])
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize(
    "case", [case for case, text in HOSTILE.items() if "DOCTYPE" in str(text).replace("\\x00", "")]
)
def test_a_document_type_is_refused_before_anything_in_it_is_read(case: str) -> None:
    with pytest.raises(
        BadLinkage, match=r"<string>:\d+: a document type declaration \(<!DOCTYPE \.\.\.>\) is not allowed"
    ):
        urdf_text(HOSTILE[case])


MEASURE = """
import resource, sys
sys.path.insert(0, {folder!r})
from test_bad_files import HOSTILE
from supple.errors import BadLinkage
from supple.read import urdf_text
urdf_text('<robot><link name="a"/></robot>')
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for text in HOSTILE.values():
    try:
        urdf_text(text)
    except BadLinkage:
        continue
    raise SystemExit("not refused")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="measures memory in the unit of Linux")
def test_hostile_xml_is_refused_in_bounded_memory() -> None:
    code = MEASURE.format(folder=str(Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 300 * 1024, "kB above what reading a small robot takes"


def test_a_file_above_the_size_is_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "big.urdf"
    with file.open("wb") as stream:
        stream.truncate(2**36)  # a hole: 64 GiB that take no space
    with pytest.raises(BadLinkage, match=r"big\.urdf: the file is larger than 64 MiB"):
        load(file)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_a_file_without_end_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "endless.urdf"
    file.symlink_to("/dev/zero")
    with pytest.raises(BadLinkage, match="not an ordinary file"):
        load(file)


def test_past_the_lines_that_the_parser_counts_no_line_is_named() -> None:
    with pytest.raises(BadLinkage) as caught:
        urdf_text("<robot>" + "\n" * 70_000 + "<link/></robot>")
    assert caught.value.line == 0


def test_what_is_found_in_a_refusal_is_short() -> None:
    with pytest.raises(BadLinkage) as caught:
        urdf_text(joint(f'<origin xyz="{"x" * 5000}"/>'))
    assert re.search(r"got 'x{70,80}\.\.\.$", str(caught.value))
