"""Provokes real uv into the errors that the tool must tell apart: ``python -m tests.rig.provoking``."""
