from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.sync_api import FilePayload, Page, expect
from sqlalchemy import update

from bisect_tool.reports import events
from bisect_tool.service.question import Question, QuestionState
from bisect_tool.service.queue import Taken
from bisect_tool.store.service_tables import jobs
from tests.browser.conftest import Open
from tests.browser.filling import CASES, NIGHTLIES, SCRIPT, answer, ask, believed, half_way, taken, tell, tried
from tests.browser.serving import Server
from tests.reports import samples

SPEC = "name: {name}\ntitle: Asked in a browser\npackage: torch\nchannel: nightly\nscript: repro.py\n"


def fill_form(page: Page, spec: str, script: str = SCRIPT.decode()) -> None:
    page.get_by_label("Spec (YAML)").fill(spec)
    page.get_by_label("Script", exact=True).fill(script)
    page.get_by_role("button", name="Ask", exact=True).click()


def test_ask_mend_the_mistakes_and_land_on_the_question(open_page: Open, server: Server) -> None:
    page = open_page("/ask")
    fill_form(page, "name: from-a-browser\npackge: torch\nscript: repro.py\n")
    expect(page.get_by_role("alert")).to_contain_text("The spec has one mistake")
    assert page.locator(".marked .wrong").inner_text().startswith("packge: torch")
    assert "did you mean" in page.locator(".marked .why").inner_text()
    assert page.get_by_label("Script", exact=True).input_value() == SCRIPT.decode()
    fill_form(page, SPEC.format(name="from-a-browser"))
    expect(page.locator("h1")).to_have_text("Asked in a browser")
    question = server.services.questions.get(page.url.rpartition("/")[2])
    assert question is not None
    assert server.services.questions.files(question.id) == [("repro.py", SCRIPT)]
    server.services.questions.cancel(question.id)


def test_upload_the_files_of_a_folder(open_page: Open, server: Server) -> None:
    page = open_page("/ask")
    spec = FilePayload(name="spec.yaml", mimeType="text/plain", buffer=SPEC.format(name="uploaded").encode())
    script = FilePayload(name="repro.py", mimeType="text/plain", buffer=b"import torch\nassert torch\n")
    page.get_by_label("Files").set_input_files([spec, script])
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("h1")).to_have_text("Asked in a browser")
    expect(page.get_by_text("uploaded", exact=True)).to_be_visible()
    server.services.questions.cancel(page.url.rpartition("/")[2])


def test_the_same_question_again_is_the_same_page(open_page: Open, questions: dict[str, Question]) -> None:
    page, question = open_page("/ask"), questions["cat-of-views"]
    fill_form(page, question.spec, (SCRIPT + b"# cat-of-views\n").decode())
    expect(page.locator("h1")).to_have_text(question.title)
    assert page.url.endswith(question.id)


def test_watch_it_live_until_the_answer_is_there(open_page: Open, server: Server) -> None:
    services = server.services
    question = ask(services, "watched", "Watched live")
    page = open_page(f"/q/{question.id}")
    expect(page.get_by_text("It waits for a worker")).to_be_visible()
    page.evaluate("window.marked = true")
    work = _taken(server, question)
    tell(services, work.job, *half_way())
    expect(
        page.get_by_text("inductor changes between 2.12.0.dev20260308 and 2.12.0.dev20260315: 5 builds left.")
    ).to_be_visible()
    expect(page.get_by_text("Downloaded 412 MB of 912 MB.")).to_be_visible()
    expect(page.get_by_role("row", name="inductor")).to_have_text("inductor220123")
    tell(services, work.job, *tried(NIGHTLIES[11], {"inductor": "failing"}))
    expect(page.get_by_text("between 2.12.0.dev20260308 and 2.12.0.dev20260312: 2 builds left.")).to_be_visible()
    assert page.evaluate("window.marked")  # all of that without loading the page again
    answer(services, work, samples.exact())
    expect(page.get_by_text("zero-grad appeared in 2.12.0 and was fixed in 2.14.0.", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Try again", exact=True)).to_be_visible()


def test_what_is_believed_of_a_flaky_failure_changes_while_one_looks(
    open_page: Open, server: Server, questions: dict[str, Question]
) -> None:
    services, question = server.services, questions["flaky-attention"]
    page = open_page(f"/q/{question.id}")
    bars = page.get_by_role("img", name="Chance that the rate changed with each build")
    expect(bars.locator("rect")).to_have_count(399)
    expect(page.get_by_text("About 90 trials to go, about 31 min.")).to_be_visible()
    job = services.questions.jobs(question.id)[-1]
    stand = replace(believed(4.0), trials=170, trials_left=12, seconds_left=240.0)
    tell(services, job, events.RatesStudied("inductor", "AssertionError: Tensor-likes are not close", (stand,)))
    expect(page.get_by_text("About 12 trials to go, about 4 min.")).to_be_visible()
    expect(page.get_by_text("not settled yet, after 170 trials")).to_be_visible()
    tell(services, job, events.RatesStudied("inductor", "AssertionError: Tensor-likes are not close", (believed(),)))
    script_free = open_page(f"/q/{question.id}", java_script_enabled=False)
    assert "About 90 trials to go, about 31 min." in script_free.content()
    assert script_free.locator("svg.chances rect").count() == 399


def test_a_browser_is_told_why_it_is_refused(open_page: Open) -> None:
    page = open_page("/q/q0123456789abcdef0123", is_refused=True)
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    page.goto("/api/v1/questions/q0123456789abcdef0123")
    expect(page.get_by_role("region", name="What happened")).to_contain_text("There is no question")
    page.get_by_role("link", name="All questions").click()
    expect(page.get_by_role("heading", name="When did this regress?")).to_be_visible()


def test_the_log_stays_where_one_reads_and_follows_where_one_is_at_the_end(open_page: Open, server: Server) -> None:
    services = server.services
    question = ask(services, "long-log", "A long log")
    work = _taken(server, question)
    tell(services, work.job, events.RunStarted("long-log", "torch", NIGHTLIES, CASES, "cpu", 9))
    tell(services, work.job, *(events.Notice(f"line {number}") for number in range(60)))
    page = open_page(f"/q/{question.id}")
    log = page.locator("[data-log]")
    distance = "one => one.scrollHeight - one.scrollTop - one.clientHeight"
    assert log.evaluate(distance) < 2
    tell(services, work.job, events.Notice("one more"))
    expect(log.get_by_text("one more")).to_be_attached()
    assert log.evaluate(distance) < 2
    log.evaluate("one => { one.scrollTop = 40; }")
    tell(services, work.job, events.Notice("and another"))
    expect(log.get_by_text("and another")).to_be_attached()
    assert log.evaluate("one => one.scrollTop") == 40
    services.queue.cancelled(work)


def test_search_filter_and_find_nothing(open_page: Open, questions: dict[str, Question]) -> None:
    page = open_page("/")
    page.get_by_role("searchbox").fill("dropout SEED")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".questions h2")).to_have_text([questions["flaky-dropout"].title])
    page.get_by_role("searchbox").fill("")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="✗ Failed").click()
    expect(page.locator(".questions h2")).to_have_text([questions["needs-two-gpus"].title])
    expect(page.get_by_role("link", name="✗ Failed")).to_have_attribute("aria-current", "true")
    page.get_by_role("searchbox").fill("no question has this")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Nothing fits")).to_be_visible()
    page.get_by_role("link", name="Show all questions").click()
    page.get_by_role("link", name="bob", exact=True).click()
    expect(page.locator(".questions h2")).to_have_text([questions["empty-row"].title])
    page.get_by_role("link", name="remove this filter").click()
    expect(page.get_by_role("link", name=questions["flaky-dropout"].title)).to_be_visible()


@pytest.mark.usefixtures("questions")
def test_what_a_failure_printed_finds_the_answers_that_know_it(open_page: Open) -> None:
    page = open_page("/?text=AssertionError%3A+gradient+is+all+zero")
    known = page.get_by_role("region", name="Known failures that fit")
    expect(known).to_contain_text(
        "Appeared in 2.12.0 (2026-01-06); last without it: 2.11.0 (2026-01-05) (exact, verified)"
    )
    known.get_by_role("link").first.click()
    expect(page.get_by_role("heading", name="Answer", exact=True)).to_be_visible()


def test_cancel_and_try_again(open_page: Open, server: Server) -> None:
    question = ask(server.services, "cancelled-here", "Not wanted any more")
    page = open_page(f"/q/{question.id}")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("It was cancelled.")).to_be_visible()
    assert _state(server, question) is QuestionState.CANCELLED
    page.get_by_role("button", name="Try again from nothing").click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    assert _state(server, question) is QuestionState.QUEUED
    assert server.services.questions.jobs(question.id)[-1].purpose == "fresh"
    server.services.questions.cancel(question.id)


def test_without_script_one_reads_asks_and_cancels(open_page: Open, questions: dict[str, Question]) -> None:
    page = open_page("/ask", java_script_enabled=False)
    fill_form(page, SPEC.format(name="no-script"))
    expect(page.get_by_text("It waits for a worker")).to_be_visible()
    assert page.locator("noscript meta[http-equiv=refresh]").count() or 'http-equiv="refresh"' in page.content()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("It was cancelled.")).to_be_visible()
    page.goto(f"/q/{questions['diagonal-scatter-grad'].id}")
    expect(page.get_by_text("zero-grad appeared in 2.12.0 and was fixed in 2.14.0.", exact=True)).to_be_visible()
    assert page.locator("svg.timeline").count() == 1
    assert not page.get_by_role("button", name="Copy Markdown").is_visible()
    page.get_by_text("Markdown to paste into an issue").click()
    assert "zero-grad" in page.get_by_label("The answer as Markdown").input_value()


def test_by_keyboard_alone(open_page: Open, questions: dict[str, Question]) -> None:
    page = open_page("/")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Ask a question")).to_be_focused()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Tab")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("diagonal")
    page.keyboard.press("Enter")
    expect(page.locator(".questions h2")).to_have_text([questions["diagonal-scatter-grad"].title])
    link = page.get_by_role("link", name=questions["diagonal-scatter-grad"].title)
    for _ in range(30):
        page.keyboard.press("Tab")
        if link.evaluate("one => one === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Answer", exact=True)).to_be_visible()


def test_copy_the_answer_as_markdown(open_page: Open, questions: dict[str, Question]) -> None:
    page = open_page(f"/q/{questions['diagonal-scatter-grad'].id}", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy Markdown").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.replace("\r\n", "\n") == page.get_by_label("The answer as Markdown").input_value()
    assert "zero-grad" in copied


def test_a_day_of_the_calendar_leads_to_its_build(open_page: Open) -> None:
    page = open_page("/builds")  # opens at the newest month that has builds
    expect(page.get_by_role("heading", name="March 2026")).to_be_visible()
    expect(page.get_by_text("None later")).to_be_visible()
    page.get_by_role("link", name="✗ broken").click()
    expect(page.locator("tr:target")).to_contain_text("libcudart.so.13")
    page.get_by_role("link", name="Earlier").click()  # passes February, which has none
    expect(page.get_by_role("heading", name="January 2026")).to_be_visible()
    page.get_by_role("link", name="Later").click()
    expect(page.get_by_role("heading", name="March 2026")).to_be_visible()


def test_from_an_answer_to_the_evidence(open_page: Open, questions: dict[str, Question]) -> None:
    page = open_page(f"/q/{questions['diagonal-scatter-grad'].id}")
    page.get_by_role("row", name="with 2.12.0 2026-01-06").get_by_role("link", name="log").click()
    expect(page.get_by_role("heading", name="inductor on 2.12.0")).to_be_visible()
    expect(page.get_by_role("heading", name="Trial 1")).to_contain_text("failing")
    expect(page.get_by_role("region", name="What trial 1 printed")).to_contain_text("gradient is all zero")
    expect(page.get_by_text("python repro.py --backend inductor").first).to_be_visible()
    expect(page.get_by_text("NVIDIA H200")).to_be_visible()
    page.get_by_role("link", name="Whole log").first.click()
    expect(page.get_by_text("AssertionError: gradient is all zero")).to_be_visible()


def _taken(server: Server, question: Question) -> Taken:
    """Have a worker take the job of this question: whatever waits before it has other lanes."""
    job = server.services.questions.jobs(question.id)[-1]
    server.services.database.write(
        lambda connection: connection.execute(update(jobs).where(jobs.c.id == job.id).values(lane="tests"))
    )
    return taken(server.services, "w" * 32, ("tests",))


def _state(server: Server, question: Question) -> QuestionState:
    found = server.services.questions.get(question.id)
    assert found is not None
    return found.state


def test_a_look_takes_neither_what_is_selected_nor_the_focus(open_page: Open, questions: dict[str, Question]) -> None:
    page = open_page(f"/q/{questions['flaky-attention'].id}")
    begun = page.evaluate("""async () => {
      const place = document.querySelector('[data-live]');
      const text = await (await fetch(place.dataset.live, { headers: { Accept: 'text/html' } })).text();
      const log = place.querySelector('[data-log]');
      log.focus();
      const replaced = replaceLive(place, text + '<p>new</p>');
      const kept = document.activeElement.matches('[data-log]') && document.activeElement !== log;
      getSelection().selectAllChildren(place.querySelector('[data-log]'));
      const whileSelected = replaceLive(place, text + '<p>newer</p>');
      return [replaced, kept, whileSelected, getSelection().isCollapsed];
    }""")
    assert begun == [True, True, False, False]
