"""Limits of mesh files."""

MAX_FILE = 256 * 2**20
"""Bytes of a mesh file or an image."""
MAX_UNPACKED = 512 * 2**20
"""Bytes that an archive of meshes may unpack to."""
MAX_MEMBERS = 1000
"""Files in an archive of meshes."""
MAX_PIXELS = 64 * 2**20
"""Pixels of an image inside a mesh file."""
MAX_TRIANGLES = 1_000_000
"""Triangles of a mesh file, all parts together."""
MAX_PARTS = 1000
"""Parts of a mesh file in different colours."""
MAX_DRAWN = 2_000_000
"""Triangles of all mesh files of a linkage that is drawn."""
