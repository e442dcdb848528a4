"""Find when a failure appeared or was fixed, over the builds of a Python package."""

__version__ = "0.1.0"
