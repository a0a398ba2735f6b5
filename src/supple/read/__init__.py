"""Readers of robot descriptions, goals and motions.

>>> from supple import read
>>> read.dh([read.DH(a=0.4), read.DH(a=0.3)]).dof
2
"""

from supple.read.files import ENDINGS, load, urdf_text
from supple.read.tables import DH, dh

__all__ = ["DH", "ENDINGS", "dh", "load", "urdf_text"]
