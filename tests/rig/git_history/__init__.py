"""A maker of git histories; see `maker` for single steps and `typical` for a whole month.

By hand: ``python -m tests.rig.git_history FOLDER --days 30 --seed 1`` prints what was planted as JSON.
"""

from tests.rig.git_history.maker import GitHistory, Made, MadeNightly, run_git

__all__ = ["GitHistory", "Made", "MadeNightly", "run_git"]
