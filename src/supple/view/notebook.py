"""A page inside a notebook: whether the program runs in one, and the page as a frame."""

from __future__ import annotations

import sys

HEIGHT = 480  # pixels of the frame


def is_running() -> bool:
    """Whether this program is the kernel of a notebook, such as Jupyter's; a terminal with IPython is none."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None


def frame(url: str) -> str:
    """HTML that shows a page in a notebook.

    >>> from supple.view.notebook import frame
    >>> "http://localhost:8080" in frame("http://localhost:8080")
    True
    """
    style = "border:1px solid #ddd;border-radius:6px"
    return f'<iframe src="{url}" width="100%" height="{HEIGHT}" style="{style}"></iframe>'
