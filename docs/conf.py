"""Sphinx configuration of the documentation site. `make docs` builds it, serves it and opens it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]

import supple  # noqa: E402

project = "supple"
copyright = "the supple authors, Apache-2.0"
version = release = supple.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "docstrings",
    "source_tags",
]
exclude_patterns = ["_build"]
nitpicky = False

# Markdown
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 3

# docstrings: Google style, types in the signature, single backticks are names
default_role = "py:obj"
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_type_aliases = {"ArrayLike": "ArrayLike", "Array": "Array"}
autoclass_content = "both"
autodoc_class_signature = "mixed"
python_use_unqualified_type_names = True
maximum_signature_line_length = 88
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
toc_object_entries_show_parents = "hide"

# pages
html_theme = "furo"
html_title = "supple"
html_static_path = ["_static"]
html_css_files = ["supple.css"]
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b6b5b", "color-brand-content": "#0b6b5b"},
    "dark_css_variables": {"color-brand-primary": "#5ad1b8", "color-brand-content": "#5ad1b8"},
}
copybutton_selector = "div.highlight-python pre, div.highlight-sh pre, div.highlight-console pre, div.highlight-js pre"
copybutton_exclude = ".linenos, .gp, .go"


def _leave_out(app: object, page: str, source: list[str]) -> None:
    """Leave out what is only for readers of the plain Markdown file."""
    source[0] = re.sub(r"<!-- not on the site -->.*?<!-- end -->\n", "", source[0], flags=re.DOTALL)


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _leave_out)
