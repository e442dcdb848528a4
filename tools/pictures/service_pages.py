"""Screenshots of the pages of the service, over questions as they are on a server that has been in use."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, ViewportSize, sync_playwright

from tests.browser.filling import fill
from tests.browser.serving import Server, served


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture: the file, the page (`{name}` stands for the id of a question), the window in pixels, and the mode."""

    name: str
    path: str
    width: int
    height: int
    scheme: str = "light"


SHOTS = (
    Shot("service-questions.png", "/", 1100, 900),
    Shot("service-running.png", "/q/{fx-graph-cache}", 1100, 1010),
    Shot("service-builds.png", "/builds?month=2026-03", 1100, 860),
    Shot("service-phone.png", "/q/{diagonal-scatter-grad}", 390, 1000, "dark"),
)


def photograph_service(chromium: str, out: Path) -> list[Path]:
    """Make every picture of `SHOTS` in `out`; gives their paths."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as server:
        ids = {name: question.id for name, question in fill(server.services).items()}
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--hide-scrollbars"])
            made = [_photograph(browser, server, shot, ids, out) for shot in SHOTS]
            browser.close()
    return made


def _photograph(browser: Browser, server: Server, shot: Shot, ids: dict[str, str], out: Path) -> Path:
    size = ViewportSize(width=shot.width, height=shot.height)
    page = browser.new_page(base_url=server.address, viewport=size, color_scheme=shot.scheme)  # type: ignore[arg-type]
    path = shot.path
    for name, number in ids.items():
        path = path.replace(f"{{{name}}}", number)
    page.goto(path)
    page.screenshot(path=out / shot.name)
    page.close()
    return out / shot.name
