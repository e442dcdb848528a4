"""A stranger's question through a worker: its code runs in the sandbox, from the first process to the last."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bisect_tool.errors import MachineFault, SpecError
from bisect_tool.runs.confining import check_confined, for_strangers
from bisect_tool.runs.workshop import open_workshop
from bisect_tool.service.question import QuestionState, Submission
from bisect_tool.service.services import EVERYBODY, Hosting
from bisect_tool.service.serving import asked_by_others
from bisect_tool.service.submissions import read_submission
from bisect_tool.service.talk_settings import GitHubSettings, TalkSettings
from bisect_tool.settings import read_settings
from tests.integration.conftest import Place, failing, history, place
from tests.rig.sandboxes import needs_sandbox
from tests.service.test_worker import Shop

__all__ = ["place"]

# Fails on every build alike when it sees what it may not see, so that there is no change to be found.
LOOKS = """
import os, toy
seen = [path for path in {hidden!r} if os.path.lexists(path)]
if seen or os.getuid() != 60000 or "geheim" in str(os.environ):
    raise SystemExit("no sandbox: " + str(seen))
raise SystemExit(toy.__version__ > "1.0")
"""


@pytest.fixture
def guarded_shop(place: Place) -> Iterator[Shop]:
    place.publish(history(2, failing([1])))
    place.extra["GITHUB_TOKEN"] = "geheim"
    environ = place.environ()
    settings = for_strangers(read_settings({}, environ, Path(environ["HOME"])))
    workshop = open_workshop(settings, environ)
    with workshop.results() as results:
        yield Shop(place, workshop, results)


@needs_sandbox
def test_a_question_is_answered_in_the_sandbox(guarded_shop: Shop) -> None:
    """With a token for GitHub as well, which has the variables of the run made anew."""
    shop, cache = guarded_shop, guarded_shop.place.cache
    hidden = [str(path) for path in (cache / "results.sqlite", cache / "questions", cache / "uv", shop.place.specs)]
    assert Path(hidden[0]).exists()
    asked = shop.ask(script=LOOKS.format(hidden=hidden))
    shop.work()
    question = shop.question(asked)
    report = shop.questions.report(asked)
    assert report is not None
    assert (question.state, question.outcome) == (QuestionState.ANSWERED, "exact"), report["failures"]


def test_what_a_stranger_may_not_ask_is_refused_when_it_is_handed_in(place: Place) -> None:
    script = (("repro.py", b"print(1)\n"),)
    asked: tuple[dict[str, Any], ...] = (
        {"channel": "commit", "source": "owner/name"},
        {"requires": ["x @ file:///etc/x.whl"]},
    )
    for keys in asked:
        path = place.spec("other", **keys)
        with pytest.raises(SpecError):
            read_submission(Submission(path.read_text(), script))


@pytest.mark.parametrize(
    ("hosting", "talk", "others"),
    [
        (Hosting(), TalkSettings(), False),
        (Hosting(open_to=frozenset()), TalkSettings(), True),
        (Hosting(open_to=EVERYBODY), TalkSettings(), True),
        (Hosting(), TalkSettings(github=GitHubSettings(secret="0123456789abcdef")), True),
    ],
)
def test_a_sandbox_is_wanted_as_soon_as_others_may_ask(hosting: Hosting, talk: TalkSettings, *, others: bool) -> None:
    assert asked_by_others(hosting, talk) is others


def test_only_what_nobody_has_set_is_decided_for_strangers(tmp_path: Path) -> None:
    assert for_strangers(read_settings({}, {}, tmp_path)).sandbox == "on"
    assert for_strangers(read_settings({"sandbox": "off"}, {}, tmp_path)).sandbox == "off"
    assert for_strangers(read_settings({}, {"BISECT_SANDBOX": "auto"}, tmp_path)).sandbox == "auto"


def test_variables_that_have_lost_the_sandbox_start_nothing(tmp_path: Path) -> None:
    settings = read_settings({"sandbox": "on"}, {}, tmp_path)
    check_confined(settings, {"BISECT_SANDBOX": "on"})
    with pytest.raises(MachineFault, match="have lost that"):
        check_confined(settings, {"PATH": "/usr/bin"})
