"""Derivatives of forward and inverse kinematics, for `supple.torch` and `supple.jax`. Private."""
