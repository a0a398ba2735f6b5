"""Prints results: text that every console can show, JSON, and frames as both."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import numpy as np
import typer

from supple._table import text_table
from supple.frame import Frame

_ASCII = str.maketrans(
    {"├": "|", "└": "`", "│": "|", "─": "-", "⋯": "~", "×": "x", "°": "deg", "π": "pi", "∞": "inf", "→": ">", "…": "~"}
)


_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}


def without_controls(text: str) -> str:
    """The text with control characters as escapes: names from files may hold commands for the terminal."""
    return text.translate(_CONTROLS)


def print_text(text: str) -> None:
    """Print text; characters that the encoding of the console lacks, and control characters, are replaced."""
    text = without_controls(text)
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(_ASCII).encode(encoding, errors="replace").decode(encoding)
    typer.echo(text)


def print_json(value: Any) -> None:
    """Print JSON in ASCII, with null for numbers that are not finite."""
    typer.echo(json.dumps(_for_json(value), indent=2, allow_nan=False))


def frame_data(frame: Frame, degrees: bool) -> dict[str, Any]:
    """A frame as plain data: position, quaternion wxyz, roll, pitch and yaw, and the 4x4 matrix by rows."""
    rpy = frame.to_rpy()
    return {
        "position": frame.position,
        "quaternion": frame.to_quaternion(),
        "rpy": np.degrees(rpy) if degrees else rpy,
        "matrix": frame.matrix,
    }


def frame_text(link: str, frame: Frame, degrees: bool) -> str:
    """A frame as four lines of text."""
    data = frame_data(frame, degrees)
    units = {"position": "m", "quaternion": "wxyz", "rpy": "deg" if degrees else "rad"}
    rows = []
    for name, unit in units.items():
        values = [fixed(value) for value in data[name]]
        rows.append(["", name, *values, *[""] * (4 - len(values)), unit])
    return "\n".join([link, *text_table(rows, "<<>>>><")])


def fixed(value: float) -> str:
    """A number with six decimals, without a negative zero."""
    return f"{round(float(value), 6) + 0.0:.6f}"


def _for_json(value: Any) -> Any:
    """Arrays and tuples as lists; numbers that are not finite as None."""
    if isinstance(value, dict):
        return {key: _for_json(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        return _for_json(value.tolist())
    if isinstance(value, list | tuple):
        return [_for_json(inner) for inner in value]
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else None
    return value
