"""Parts that fit into other projects, each a module of its own that is imported by name.

They need none of those projects: what takes the place of a class there has its methods and its units.

>>> from supple.integrations.lerobot import RobotKinematics
>>> RobotKinematics("so101").joint_names[:2]
['shoulder_pan', 'shoulder_lift']
"""
