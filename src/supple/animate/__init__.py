"""Animation: key poses in time, blends of poses, and clips of one figure for another or for a robot."""

from supple.animate.blend import blend
from supple.animate.body_map import BodyMap, load_maps, save_maps
from supple.animate.clip import load_clip
from supple.animate.planting import plant_feet
from supple.animate.retarget import Retarget
from supple.animate.stream import RetargetStream, StreamStep
from supple.animate.timeline import Timeline

__all__ = [
    "BodyMap",
    "Retarget",
    "RetargetStream",
    "StreamStep",
    "Timeline",
    "blend",
    "load_clip",
    "load_maps",
    "plant_feet",
    "save_maps",
]
