"""`bisect watch` shows its token to nobody but the server that it was given for."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from bisect_tool.cli.watch import command
from tests.rig.scripted_service import problem, scripted_service

QUESTION = "q0123456789abcdef0123"


def test_a_page_of_another_server_does_not_get_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BISECT_TOKEN", "bisect_0123456789abcdef_" + "x" * 43)
    monkeypatch.setenv("BISECT_SERVER", "https://bisect.example")
    with scripted_service([problem(404, "no such question")]) as other:
        page = f"{other.address}/q/{QUESTION}"
        ran = CliRunner().invoke(command, [page])
        assert ran.exit_code == 2
        assert f"That page is not on your server https://bisect.example; with --server {other.address}" in ran.output
        assert other.asked == []
        CliRunner().invoke(command, [page, "--server", other.address])
        assert other.asked[0][2]["Authorization"].startswith("Bearer bisect_")
