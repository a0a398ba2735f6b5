"""The constants of the tracking law are told where people read."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_constant_of_the_law_is_explained():
    source = (ROOT / "core/supple/tracking/types.h").read_text(encoding="utf-8")
    names = re.findall(r"^  double (\w+) = ", source.split("struct Law {")[1].split("};")[0], re.MULTILINE)
    page = (ROOT / "docs/tracking.md").read_text(encoding="utf-8")
    assert len(names) > 20
    assert [name for name in names if f"`{name}`" not in page] == []
