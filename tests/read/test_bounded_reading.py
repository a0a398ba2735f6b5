"""Files that a reader once read wrongly, or that cost it far more time or memory than they are long."""

from __future__ import annotations

import pytest

from supple.errors import BadLinkage
from supple.read import urdf_text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<robot name='r'><link name='b'/><g:x/></robot><link name='q'/>junk", "Extra content"),
        ("<robot name='r'>\n<link name='b'/><g:x/></robot>\njunk", ":3: .*Extra content"),
        ("<robot name='r'><link name='b'/><g:x g:y='1' g:y='2'/></robot>", "redefined"),
        ("<robot name='r'><link name='b'/><g:x/><a></robot>", "mismatch"),
        ("<robot name='r'><link name='b'/>" + "".join(f"<p{k}:x/>" for k in range(101)) + "</robot>", "prefixes"),
    ],
)
def test_an_undeclared_prefix_hides_no_other_fault(text: str, said: str) -> None:
    with pytest.raises(BadLinkage, match=said):
        urdf_text(text)


def test_undeclared_prefixes_alone_are_forgiven() -> None:
    text = "<!-- <x> -->\n<robot name='r'><link name='b'/><g:x h:y='1'><h:z/></g:x></robot>\n<!-- e -->"
    assert urdf_text(text).root == "b"
