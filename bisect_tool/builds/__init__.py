"""Builds, and the channels that they come from."""
