"""Readers: files, texts and tables become linkages."""

from supple.read.files import ENDINGS, load, urdf_text
from supple.read.tables import DH, dh

__all__ = ["DH", "ENDINGS", "dh", "load", "urdf_text"]
