"""Animation: key poses in time, blends of poses, and clips of one figure for another or for a robot."""

from supple.animate.body_map import BodyMap, load_maps, save_maps
from supple.animate.retarget import Retarget

__all__ = ["BodyMap", "Retarget", "load_maps", "save_maps"]
