"""Private parts of frame, joint and linkage: the tree, its limits, its reach, its edits, its text."""
