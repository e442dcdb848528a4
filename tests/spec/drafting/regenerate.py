"""Write the golden files anew: `python -m tests.spec.drafting.regenerate`. Read the difference before you keep it."""

from __future__ import annotations

from tests.spec.drafting.drafts import GOLDEN, drafted, names


def main() -> None:
    """Draft every report."""
    for name in names():
        (GOLDEN / f"{name}.out").write_text(drafted(name), encoding="utf-8")


if __name__ == "__main__":
    main()
