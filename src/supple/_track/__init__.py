"""Private parts of `supple.tracker`: its set-up, the goals of a tick, and the step of another method."""
