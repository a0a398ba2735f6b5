"""QR codes: an address as a picture that a phone reads with its camera."""

from __future__ import annotations

from typing import Any

from supple.errors import missing_extra


def for_terminal(text: str) -> str:
    """The code as lines of half blocks, dark on light, for a terminal."""
    rows = [list(row) for row in _code(text).matrix_iter(scale=1, border=2)]
    rows += [[0] * len(rows[0])] * (len(rows) % 2)
    blocks = {(0, 0): "█", (0, 1): "▀", (1, 0): "▄", (1, 1): " "}  # light modules are drawn: most terminals are dark
    return "\n".join(
        "".join(blocks[bool(upper), bool(lower)] for upper, lower in zip(*pair, strict=True))
        for pair in zip(rows[::2], rows[1::2], strict=True)
    )


def svg(text: str, module: int = 4) -> str:
    """The code as an SVG element, with so many pixels for each of its modules."""
    found: str = _code(text).svg_inline(scale=module, border=2, dark="#2b2926", light="#ffffff")
    return found


def _code(text: str) -> Any:
    try:
        import segno
    except ImportError as error:
        raise missing_extra("teleop", "a QR code") from error
    return segno.make(text, micro=False, error="m")
