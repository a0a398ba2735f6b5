"""Private parts of motion and path: interpolation and curves."""
