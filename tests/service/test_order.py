"""What a worker tells its child, and what the child tells back."""

from __future__ import annotations

from pathlib import Path

import pytest

from bisect_tool.reports import events
from bisect_tool.service.news import Thinner, event_line, read_line
from bisect_tool.service.order import Order, environment_of, for_libraries, read_order
from bisect_tool.service.question import Purpose
from bisect_tool.service.retrying import is_passing
from bisect_tool.settings import read_settings


def test_an_order_comes_through_a_pipe_as_it_was(tmp_path: Path) -> None:
    flags = {"cache": str(tmp_path), "store": "postgresql://u:secret@h/d", "verify": "3", "wheelhouse": str(tmp_path)}
    flags["token"] = "client's"
    order = Order(
        "spec.yaml", read_settings(flags, {}, tmp_path), Purpose.FRESH, "cpu", 7, 123, "of-github", {"PGPASSWORD": "x"}
    )
    read = read_order(order.line())
    assert (read.spec, read.purpose, read.device, read.after, read.parent) == ("spec.yaml", "fresh", "cpu", 7, 123)
    assert read.libraries == {"PGPASSWORD": "x"}
    assert (read.token, read.settings.store) == ("of-github", "postgresql://u:secret@h/d")
    assert (read.settings.cache, read.settings.verify, read.settings.wheelhouse) == (tmp_path, 3, tmp_path)
    assert {*read.settings.sources.values()} == {"the worker"}
    assert "secret" not in repr(order)
    assert "of-github" not in repr(order)
    assert "client's" not in order.line()


def test_the_environment_of_a_child_holds_no_secret() -> None:
    kept = {
        "PATH": "/bin",
        "HOME": "/root",
        "https_proxy": "http://p",
        "CUDA_VISIBLE_DEVICES": "0",
        "BISECT_TRIAL_DISK": "1",
    }
    dropped = [
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "PGPASSWORD",
        "BISECT_STORE",
        "UV_INDEX_X_PASSWORD",
        "DATABASE_URL",
    ]
    assert environment_of({**kept, **dict.fromkeys(dropped, "x")}) == kept


def test_what_libraries_read_goes_through_the_pipe() -> None:
    environ = {"PGPASSWORD": "a", "AWS_SECRET_ACCESS_KEY": "b", "GITHUB_TOKEN": "c", "PATH": "/bin"}
    assert for_libraries(environ) == {"PGPASSWORD": "a", "AWS_SECRET_ACCESS_KEY": "b"}


def test_events_as_lines() -> None:
    line = event_line(events.TrialFinished("1.0", "main", "failing", "a", 1.5, stored=False))
    assert read_line(line) == (
        "trial_finished",
        {"build": "1.0", "case": "main", "state": "failing", "failure": "a", "seconds": 1.5, "stored": False, "slot": None},
    )  # fmt: skip


def test_a_download_is_told_in_tenths() -> None:
    def at(done: int, total: int | None = 100, name: str = "torch") -> tuple[str, dict[str, object]]:
        return "downloading", {"build": "1.0", "name": name, "done": done, "total": total, "slot": None}

    thinner = Thinner()
    told = thinner.thin([at(done) for done in range(101)])
    assert [body["done"] for _, body in told] == [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
    assert thinner.thin([at(100), at(5, name="triton"), ("notice", {})]) == [at(5, name="triton"), ("notice", {})]
    assert thinner.thin([at(0)]) == [at(0)]  # begun anew
    assert len(thinner.thin([at(done, None, "other") for done in range(9)])) == 1


@pytest.mark.parametrize(
    ("status", "passes"),
    [(10, False), (12, False), (14, True), (20, True), (25, False), (26, True), (29, True), (70, False)],
)
def test_which_errors_may_pass(status: int, *, passes: bool) -> None:
    assert is_passing({"status": status}) is passes
