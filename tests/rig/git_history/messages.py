"""Commit messages as the merge bot of pytorch, GitHub and git write them (facts: `docs/history.md`, the page on messages)."""

from __future__ import annotations

from collections.abc import Sequence

REPOSITORY = "pytorch/pytorch"


def landed(title: str, pull: int, *, body: str = "", stack: Sequence[int] = (), repository: str = REPOSITORY) -> str:
    """A pull request that the merge bot landed; `stack` are the requests below it in a ghstack series."""
    lines = [f"{title} (#{pull})", ""]
    lines += [body, ""] if body else []
    lines.append(f"Pull Request resolved: https://github.com/{repository}/pull/{pull}")
    lines.append("Approved by: https://github.com/someone")
    if stack:
        lines.append("ghstack dependencies: " + ", ".join(f"#{number}" for number in stack))
    return "\n".join(lines) + "\n"


def reverted(title: str, pull: int, sha: str, *, reason: str = "broke a test", repository: str = REPOSITORY) -> str:
    """The merge bot takes a pull request back: the number stands inside the quotes."""
    return (
        f'Revert "{title} (#{pull})"\n\nThis reverts commit {sha}.\n\n'
        f"Reverted https://github.com/{repository}/pull/{pull} on behalf of https://github.com/someone due to {reason} "
        f"([comment](https://github.com/{repository}/pull/{pull}#issuecomment-1))\n"
    )


def squashed(title: str, pull: int, body: str = "") -> str:
    """GitHub's squash merge."""
    return f"{title} (#{pull})\n\n{body}\n" if body else f"{title} (#{pull})\n"


def revert_button(title: str, pull: int, own: int, *, repository: str = REPOSITORY) -> str:
    """GitHub's revert button, squashed: the request that is taken back in quotes, the own number behind."""
    return f'Revert "{title} (#{pull})" (#{own})\n\nReverts {repository}#{pull}\n'


def nightly(day: str, main: str) -> str:
    """The only thing that a commit of the nightly branch says."""
    return f"{day} nightly release ({main})\n"
