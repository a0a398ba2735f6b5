"""A LeRobot teleoperator that moves the end effector of an arm, and followers that share their measured pose with it.

LeRobot imports this module because the distribution's name begins with ``lerobot_teleoperator_``; the classes register
themselves: the teleoperator "supple", and the followers "supple_so100_follower", "supple_so101_follower" and
"supple_simulated_follower".
"""

from lerobot_teleoperator_supple.followers import (
    SuppleSO100Follower,
    SuppleSO100FollowerConfig,
    SuppleSO101Follower,
    SuppleSO101FollowerConfig,
)
from lerobot_teleoperator_supple.simulated import SuppleSimulatedFollower, SuppleSimulatedFollowerConfig
from lerobot_teleoperator_supple.teleoperator import SuppleTeleoperator, SuppleTeleoperatorConfig

__all__ = [
    "SuppleSO100Follower",
    "SuppleSO100FollowerConfig",
    "SuppleSO101Follower",
    "SuppleSO101FollowerConfig",
    "SuppleSimulatedFollower",
    "SuppleSimulatedFollowerConfig",
    "SuppleTeleoperator",
    "SuppleTeleoperatorConfig",
]
