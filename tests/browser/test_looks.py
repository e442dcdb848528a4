from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, ViewportSize

from bisect_tool.reports.formats import html
from bisect_tool.service.question import Question
from tests.browser.conftest import Open
from tests.browser.looking import faint_texts, faults, overflow
from tests.reports import samples

PAGES = {
    "questions": "/",
    "nothing-fits": "/?text=nothing+has+these+words",
    "ask": "/ask",
    "exact": "/q/{diagonal-scatter-grad}",
    "commits": "/q/{scatter-with-commits}",
    "flaky": "/q/{flaky-dropout}",
    "numbers": "/q/{softmax-latency}",
    "running": "/q/{fx-graph-cache}",
    "running-flaky": "/q/{flaky-attention}",
    "waiting": "/q/{empty-row}",
    "failed": "/q/{needs-two-gpus}",
    "trial": "/q/{diagonal-scatter-grad}/trials/inductor/2.12.0",
    "builds": "/builds?month=2026-03",
    "workers": "/workers",
    "accuracy": "/accuracy",
    "sign-in": "/sign-in",
}
DESKTOP, PHONE = ViewportSize(width=1200, height=900), ViewportSize(width=360, height=740)


def address(name: str, questions: dict[str, Question]) -> str:
    path = PAGES[name]
    for known, question in questions.items():
        path = path.replace(f"{{{known}}}", question.id)
    return path


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_can_be_read_and_has_names_for_everything(
    name: str, open_page: Open, questions: dict[str, Question], shots: Path
) -> None:
    page = open_page(address(name, questions), viewport=DESKTOP, color_scheme="light")
    page.screenshot(path=shots / f"{name}-desktop-light.png", full_page=True)
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark")
    page.screenshot(path=shots / f"{name}-phone-dark.png", full_page=True)
    _open_everything(page)
    wrong, too_wide = {"names": faults(page), "faint in the dark": faint_texts(page)}, [overflow(page)]
    page.emulate_media(color_scheme="light")
    wrong["faint in the light"] = faint_texts(page)
    page.set_viewport_size(DESKTOP)
    too_wide.append(overflow(page))
    assert wrong == {"names": [], "faint in the light": [], "faint in the dark": []}
    assert too_wide == [0, 0]


def _open_everything(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


def test_dark_mode_is_dark_and_light_mode_is_light(open_page: Open) -> None:
    def background(scheme: str) -> str:
        page = open_page("/", color_scheme=scheme)
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    assert background("light") == "rgb(247, 248, 250)"
    assert background("dark") == "rgb(18, 22, 28)"


def test_words_of_strangers_are_words(open_page: Open, questions: dict[str, Question]) -> None:
    page = open_page(f"/q/{questions['hostile-words'].id}")
    assert page.locator("h1").inner_text() == "<script>document.title = 'taken'</script> & \"quotes\""
    assert "taken</title>" not in page.content()
    assert page.title().startswith("<script>")
    assert page.locator("main script").count() == 0


@pytest.mark.parametrize("name", ["exact", "flaky", "running-flaky"])
def test_on_a_phone_a_wide_picture_opens_at_the_answer(
    name: str, open_page: Open, questions: dict[str, Question]
) -> None:
    page = open_page(address(name, questions), viewport=PHONE)
    seen = page.evaluate("""() => [...document.querySelectorAll('.scroll:has(svg.timeline)')].map((place) => {
      const cell = place.querySelector('.cell.failing, .cell.flaky').getBoundingClientRect();
      const window_ = place.getBoundingClientRect();
      return cell.left >= window_.left && cell.right <= window_.right;
    })""")
    assert seen
    assert all(seen)


@pytest.mark.parametrize("name", samples.ALL)
def test_a_report_by_itself_fits_a_phone(name: str, open_page: Open, tmp_path: Path) -> None:
    """With the long names that nightlies have, all details open, and each part that scrolls named and within reach."""
    written = html.render(samples.ALL[name]()).replace("2.12.0", "2.12.0.dev20260312+cu130")
    (tmp_path / "report.html").write_text(written)
    page = open_page((tmp_path / "report.html").as_uri(), viewport=PHONE)
    _open_everything(page)
    wide = "[...document.querySelectorAll('.scroll, pre')].filter((one) => one.scrollWidth > one.clientWidth)"
    out_of_reach = (
        f"{wide}.filter((one) => one.tabIndex < 0 || !one.ariaLabel).map((one) => one.outerHTML.slice(0, 80))"
    )
    assert (overflow(page), page.evaluate(out_of_reach)) == (0, [])
