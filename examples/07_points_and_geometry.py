"""Transform points between links and the world, and list the geometry in world coordinates."""

import numpy as np

import supple
from supple import Frame, Mesh

arm = supple.models.panda().with_tool("panda_hand", Frame.at([0.06, 0, 0.04]), name="camera")
q = arm.rest

# a point 30 cm in front of a camera, in world coordinates and in those of the tool
point = np.array([0.0, 0.02, 0.30])
print("in the world  ", arm.transform_points(q, point, "camera").round(4))
print("for the tool  ", arm.transform_points(q, point, "camera", to="panda_hand_tcp").round(4))

# many points: a board with 5 x 4 corners, 3 cm apart
board = np.stack(np.meshgrid(0.03 * np.arange(5), 0.03 * np.arange(4), [0.3]), axis=-1).reshape(-1, 3)
world = arm.transform_points(q, board, "camera")
print("board         ", board.shape, "flat to", f"{np.ptp(world[:, 2]):.0e} m at z = {world[0, 2]:.4f} m")

# velocity of a fingertip for 1 rad/s of the first joint
fingertip = np.array([0, 0.04, 0])
J = arm.jacobian(q, "panda_hand_tcp", point=fingertip)
print("fingertip     ", f"{np.linalg.norm(J[:3, 0]):.4f} m/s for 1 rad/s of the first joint")
local = arm.jacobian(q, "panda_hand_tcp", point=fingertip, axes=supple.Axes.LINK)
print("same speed in the axes of the tool:", np.isclose(np.linalg.norm(local[:3, 0]), np.linalg.norm(J[:3, 0])))

# all geometry, each piece with its frame in the world
print("\nlink           shape     at")
for link, piece, frame in arm.world_geometry(q):
    shape = type(piece.shape).__name__
    missing = " (file not found)" if isinstance(piece.shape, Mesh) and not piece.shape.found else ""
    print(f"{link:<14} {shape:<9} {frame.position.round(3) + 0.0}{missing}")

# the frames of all links in one call
frames = arm.frames(q)
highest = max(frames, key=lambda link: frames[link].position[2])
print("\nhighest link", highest, f"at {frames[highest].position[2]:.3f} m of", len(frames), "links")
