from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from bisect_tool.service.question import Question
from tests.browser.filling import fill
from tests.browser.serving import Server, served

NAMES = ("chromium", "chromium-browser", "google-chrome")
MINUTE = 60_000  # milliseconds
Open = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium; without one these tests are skipped, unless BISECT_TESTS_BROWSER=required."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        assert os.environ.get("BISECT_TESTS_BROWSER") != "required", "no Chromium is on the path"
        pytest.skip("no Chromium is on the path")
    expect.set_options(timeout=MINUTE / 2)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests, with questions in every state."""
    with served(tmp_path_factory.mktemp("service")) as server:
        yield server


@pytest.fixture(scope="session")
def questions(server: Server) -> dict[str, Question]:
    return fill(server.services)


@pytest.fixture(scope="session")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots are kept: $BISECT_SCREENSHOTS, else with the other files of the tests."""
    folder = Path(os.environ.get("BISECT_SCREENSHOTS") or tmp_path_factory.mktemp("screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def open_page(browser: Browser, server: Server) -> Iterator[Open]:
    """Opens pages with options of a browser context; in the end none of them may have had an error or a violation."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_(path: str = "/", *, is_refused: bool = False, **options: object) -> Page:
        context = browser.new_context(base_url=server.address, **options)  # type: ignore[arg-type]
        context.set_default_timeout(MINUTE / 2)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: complaints.append(said.text) if _is_complaint(said, is_refused) else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []


def _is_complaint(said: ConsoleMessage, is_refused: bool) -> bool:  # noqa: FBT001
    """A form that comes back with its mistakes has the status 422, what is not there 404, which the browser mentions."""
    fine = ("status of 422", "status of 404") if is_refused else ("status of 422",)
    return said.type in {"error", "warning"} and not any(one in said.text for one in fine)
