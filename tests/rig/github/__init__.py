"""A server on 127.0.0.1 that answers like GitHub's API about a git repository, and goes wrong when told to.

By hand: ``python -m tests.rig.github REPOSITORY --name pytorch/pytorch``. In tests::

    with serve(history.folder) as github:
        github.plant("compare", limited(reset_in=30))
        ...
        assert github.count("compare") == 2
"""

from tests.rig.github.faults import (
    GitHubFault,
    as_html,
    cut_short,
    forbidden,
    limited,
    not_json_enough,
    refused,
    secondary_limit,
)
from tests.rig.github.server import GitHub, serve

__all__ = [
    "GitHub", "GitHubFault", "as_html", "cut_short", "forbidden", "limited", "not_json_enough", "refused",
    "secondary_limit", "serve",
]  # fmt: skip
