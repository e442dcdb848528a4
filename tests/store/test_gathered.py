from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import pytest
from sqlalchemy import event

from bisect_tool.store.address import StoreAddress
from bisect_tool.store.results import Topic, open_results
from tests.store.test_results import SUBJECT, TRIAL


def test_many_questions_are_answered_as_one_by_one(address: StoreAddress) -> None:
    topics = [Topic(f"repro {number}", setting, "cpu") for number in range(300) for setting in ("a", "b")]
    with open_results(address, nullcontext) as results:
        for repro, setting, version in (("repro 7", "a", "1"), ("repro 299", "b", "2"), ("repro 7", "a", "3")):
            subject = replace(SUBJECT, setting=setting)
            results.add_trial(replace(TRIAL, subject=subject, repro=repro, version=version))
        results.add_trial(replace(TRIAL, repro="not asked for"))
        results.add_unusable(replace(SUBJECT, setting="a"), "toy", "1.0", "broken")
        results.add_unusable(replace(SUBJECT, setting="b"), "toy", "1.0", "of another host", "other")
        results.add_health(replace(SUBJECT, setting="b"), {"version": "1.0"})
        asked: list[str] = []
        event.listen(results.engine, "before_cursor_execute", lambda *what: asked.append(what[2]))
        gathered = results.gather([*topics, topics[0]], "this")
        assert len(asked) == 8  # for each of two settings: 300 repros in two parts, unusable builds, healths
        assert {topic: [trial.version for trial in trials] for topic, trials in gathered.trials.items() if trials} == {
            Topic("repro 7", "a", "cpu"): ["1", "3"],
            Topic("repro 299", "b", "cpu"): ["2"],
        }
        for topic in (topics[0], Topic("repro 7", "a", "cpu"), Topic("repro 299", "b", "cpu")):
            assert gathered.trials_of(*topic) == results.trials_of(*topic)
        assert gathered.unusable("a", "cpu") == {"sha256:abc": "broken"}
        assert gathered.unusable("b", "cpu") == {}
        assert gathered.healths("b", "cpu") == {"sha256:abc": {"version": "1.0"}}


def test_what_was_not_asked_for_is_no_answer(address: StoreAddress) -> None:
    with open_results(address, nullcontext) as results:
        gathered = results.gather([Topic("repro", "setting", "cpu")])
        assert gathered.trials_of("repro", "setting", "cpu") == []
        with pytest.raises(KeyError):
            gathered.trials_of("other", "setting", "cpu")


def test_the_trials_of_one_case_on_one_build(address: StoreAddress) -> None:
    other = replace(TRIAL, subject=replace(SUBJECT, identity="sha256:def"), version="1.1")
    with open_results(address, nullcontext) as results:
        for trial in (TRIAL, other, replace(TRIAL, case_digest="other", version="1.2")):
            results.add_trial(trial)
        found = results.trials_of("repro", "setting", "cpu", case_digest="digest", identity="sha256:abc")
        assert found == [TRIAL]
