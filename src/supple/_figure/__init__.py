"""Private parts of animated figures: units and axes of animation files, the human figure, capsule skins."""
