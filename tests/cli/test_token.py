"""`bisect token`."""

from __future__ import annotations

from click.testing import CliRunner

from bisect_tool.cli.token import command


def test_days_that_no_calendar_has_are_refused() -> None:
    ran = CliRunner().invoke(command, ["create", "ann", "--days", "3000000"])
    assert ran.exit_code == 2
    assert "3000000.0 is not in the range" in ran.output
