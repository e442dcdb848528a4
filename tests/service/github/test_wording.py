from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bisect_tool.errors import SpecError
from bisect_tool.reports.answer import with_summary
from bisect_tool.reports.report import Appeared, Episode, Fixed, Report
from bisect_tool.service.github import wording
from bisect_tool.service.github.wording import Circumstances
from tests.reports import samples

PAGE = "https://bisect.example.org/q/q0123456789abcdef0123"
AROUND = Circumstances(
    PAGE, "https://github.com/pytorch/pytorch/issues/1#issuecomment-5", ("from 2.8: guessed, @all #1",)
)
LIMIT = 65_536
TAGS = {"<details>", "</details>", "<summary>", "</summary>"}


def spoken(markdown: str) -> Iterator[str]:
    """The text that a reader sees outside of code, as CommonMark understands it."""

    def walk(tokens: list[Token]) -> Iterator[str]:
        for token in tokens:
            if token.children:
                yield from walk(token.children)
            elif token.type in {"text", "html_block", "html_inline"}:
                yield token.content

    yield from walk(MarkdownIt("commonmark").enable("table").parse(markdown))


def tags(markdown: str) -> Iterator[str]:
    """What is HTML in it."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    every = [one for token in tokens for one in [token, *(token.children or [])]]
    return (one.content for one in every if one.type in {"html_block", "html_inline"})


def links(markdown: str) -> set[str]:
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    return {str(one.attrs["href"]) for token in tokens for one in token.children or [] if "href" in one.attrs}


@pytest.mark.parametrize("make", samples.ALL.values(), ids=samples.ALL)
@pytest.mark.parametrize("write", [wording.answer_comment, wording.no_answer])
def test_no_comment_calls_anybody_or_refers_to_anything(
    make: Callable[[], Report], write: Callable[[Report, Circumstances], str]
) -> None:
    text = write(make(), AROUND)
    assert len(text.encode()) < LIMIT - 200
    said = "\n".join(spoken(text))
    assert not re.search(r"@\w|#\w|GH-\d", said)
    assert {tag for html in tags(text) for tag in re.findall(r"<[^>]*>", html)} <= TAGS
    assert not any(re.match(r"https://github\.com/\S+/(pull|issues)/", link) for link in links(text))
    assert not any(link.startswith("javascript") for link in links(text))


def test_the_answer_says_where_all_of_it_is_and_who_asked() -> None:
    text = wording.answer_comment(samples.exact(), AROUND)
    assert text.startswith("### Bisecting\n\n- zero-grad appeared in 2.12.0")
    assert PAGE in links(text)
    assert "https://redirect.github.com/pytorch/pytorch/issues/1#issuecomment-5" in links(text)
    assert "bisect run diagonal-scatter-grad/spec.yaml" in text
    assert "repro_specs/" not in text
    assert "from 2.8: guessed, @\u200ball" in text


def test_a_changed_answer_says_so() -> None:
    text = wording.answer_comment(samples.exact(), Circumstances(PAGE, is_changed=True))
    assert text.startswith("*The answer has changed since this comment was first written.*\n\n### Bisecting")


def test_folders_of_our_machines_are_nothing_for_others() -> None:
    report = samples.exact()
    text = (
        '  File "/home/ann/cache/q-17/repro.py", line 3\n'
        '  File "/home/ann/env/lib/python3.11/site-packages/torch/_dynamo/x.py", line 4\n'
        '  File "repro.py", line 5'
    )
    signature = report.failures[0].signature.model_copy(update={"text": text})
    failure = report.failures[0].model_copy(update={"signature": signature})
    said = wording.answer_comment(report.model_copy(update={"failures": (failure,)}), AROUND)
    assert "/home/ann" not in said
    assert (
        'File "repro.py", line 3\n  File "site-packages/torch/_dynamo/x.py", line 4\n  File "repro.py", line 5' in said
    )


def huge() -> Report:
    """A hundred failures with long texts."""
    base = samples.exact()
    failure = base.failures[0]
    text = failure.signature.model_copy(update={"text": "\U0001f41b" * 20_000})
    many = tuple(failure.model_copy(update={"name": f"failure-{i}", "signature": text}) for i in range(100))
    return with_summary(base.model_copy(update={"failures": many, "summary": ()}))


def test_a_huge_report_is_cut_down_and_says_so() -> None:
    text = wording.answer_comment(huge(), AROUND)
    assert len(text.encode()) <= LIMIT - 200
    assert "Something was left out to fit into a comment" in text
    assert "- failure-0 appeared in 2.12.0" in text


def test_a_long_report_keeps_its_failures() -> None:
    text = wording.answer_comment(samples.long(), AROUND)
    assert "Something was left out" not in text


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("exact", None),
        ("narrowed", None),
        ("unchanged", "the outcome is `no change`"),
        ("not_judged", "the outcome is `not judged`"),
    ],
)
def test_only_verified_answers_are_told(name: str, why: str | None) -> None:
    assert wording.why_not_told(samples.ALL[name]()) == why


def with_episode(appeared: Appeared, fixed: Fixed, outcome: str = "exact") -> Report:
    failure = samples.failure("A", Episode(appeared=appeared, fixed=fixed))
    return samples.report(samples.case("inductor", "✓✓✓✓✓AAAAA"), failures=(failure,), outcome=outcome)


def test_an_end_that_was_not_run_again_is_not_told() -> None:
    fixed = Fixed(kind="open", last_with="2.15.0", first_without=None)
    appeared = Appeared(kind="exact", last_without="2.11.0", first_with="2.12.0")
    assert (
        wording.why_not_told(with_episode(appeared, fixed)) == "an end of a failure was not run again in fresh trials"
    )
    assert wording.why_not_told(with_episode(appeared.model_copy(update={"verified": True}), fixed)) is None
    unfinished = with_episode(appeared.model_copy(update={"verified": True}), fixed, "unfinished")
    assert wording.why_not_told(unfinished) == "the outcome is `unfinished`"


def test_the_gist_is_of_the_answer_alone() -> None:
    one = samples.exact()
    slower = one.model_copy(update={"elapsed_s": 1.0, "started": "2026-12-01T00:00:00+00:00"})
    assert wording.gist_of(one) == wording.gist_of(slower)
    assert wording.gist_of(one) != wording.gist_of(samples.narrowed())


def test_replies_say_what_is_missing_and_how_to_go_on() -> None:
    said = wording.not_drafted(
        SpecError("no code in this report\n  line 3: @all ``` it prints", advice="put a script in it")
    )
    assert "no code in this report\n  line 3: @all ``` it prints" in said
    assert "What to do next: put a script in it" in said
    assert not re.search(r"@\w", "".join(spoken(said)))
    assert "- add an assertion, see #\u200b1" in wording.incomplete(["add an assertion, see #1"])
    assert "- `form` is no option" in wording.not_understood(["`form` is no option"])
    assert "/bisect --from 2.12 --to 2.15" in wording.help_text()
    assert "the GPU is gone" in wording.failed("the GPU is gone", "wait", AROUND)


def test_an_answer_that_is_none_claims_nothing() -> None:
    said = wording.no_answer(samples.exact().model_copy(update={"outcome": "unfinished"}), AROUND)
    assert said.startswith("The search stopped before its end, so that nothing is certain yet.")
    assert "2.12.0" not in said
