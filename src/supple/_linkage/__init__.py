"""Private parts of frame, joint and linkage: kinds, checks, tree, limits, reach, edits, text, serialisation."""
