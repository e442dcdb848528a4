"""Tests of `bisect`; they mirror `bisect_tool/`."""
