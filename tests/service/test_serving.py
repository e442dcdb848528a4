"""A real server on loopback, its workers and its clients, over a toy package from a local index."""

from __future__ import annotations

import json
import signal
from contextlib import closing, nullcontext

import pytest
import requests
from click.testing import CliRunner, Result

from bisect_tool.cli import cli
from bisect_tool.errors import PortTaken, SpecError
from bisect_tool.service.question import JobState
from bisect_tool.service.questions import Questions
from bisect_tool.service.serving import listen
from bisect_tool.store.address import file_address
from bisect_tool.store.results import open_results
from tests.integration.conftest import Place, failing, history, place
from tests.rig.server import server

__all__ = ["place"]


def test_asked_answered_and_known(place: Place) -> None:
    place.publish(history(6, failing([3, 4, 5])))
    spec = place.spec()
    with server(place.command("serve"), place.environ(), place.root) as served:
        environ = {"BISECT_SERVER": served.address}
        first = place.run("submit", spec, "--wait", "--plain", environ=environ)
        assert first.status == 0, first.err
        assert "=> " in first.out
        assert "appeared in 1.3" in first.out
        assert "  new    queued" in first.err
        assert "toy-spec: 6 builds of toy (1.0 … 1.5), device cpu" in first.err
        assert "1.3: repro: failing" in first.err
        again = place.run("submit", spec, environ=environ)
        question, word, state, address = again.out.split()
        assert (word, state, address) == ("known", "answered", f"{served.address}/q/{question}")
        watched = place.run("watch", address, "--quiet")
        assert (watched.status, watched.out, watched.err) == (0, first.out, "")
        known = place.run("when", "gradient is all zero", "--server", served.address)
        assert (known.status, address in known.out) == (3, True), known.err  # the type is missing: near, not the same
        badge = requests.get(f"{served.address}/api/v1/questions/{question}/badge.svg", timeout=30)
        assert "toy: fails since 1.3" in badge.text
        evidence = requests.get(f"{served.address}/api/v1/questions/{question}/trials/repro/1.3", timeout=30).json()
        assert {trial["state"] for trial in evidence["trials"]} == {"failing"}
        log = requests.get(served.address + evidence["trials"][0]["log"], timeout=30)
        assert "RuntimeError: gradient is all zero" in log.text
        assert served.stop() == 0
    about = [json.loads(line) for line in served.log]
    assert {line["logger"] for line in about} == {"bisect.service"}
    assert sum(line["message"] == "request" for line in about) > 5


def test_a_second_server_on_the_same_port_says_so() -> None:
    with closing(listen("127.0.0.1", 0)) as first:
        port = first.getsockname()[1]
        with pytest.raises(PortTaken, match=f"the port {port} is taken, perhaps by another `bisect serve`"):
            listen("127.0.0.1", port)
    with pytest.raises(PortTaken, match="nobody can listen there"):
        listen("192.0.2.1", 0)


def test_with_tokens(place: Place) -> None:
    token = place.run("token", "create", "ann", "--days", "1").out.strip()
    listed = place.run("token", "list").out.split()
    assert listed[:4] == ["ann", "read", "submit", "until"]
    assert token.rpartition("_")[2] not in " ".join(listed)
    spec = place.spec()
    with server(place.command("serve", "--workers", "0"), place.environ(), place.root) as served:
        words = ("submit", spec, "--server", served.address)
        refused = place.run(*words)
        assert (refused.status, "this needs a token with the scope `submit`" in refused.err) == (51, True)
        assert place.run(*words, environ={"BISECT_TOKEN": token}).status == 0
        place.run("token", "revoke", "ann")
        assert place.run(*words, environ={"BISECT_TOKEN": token}).status == 51
        assert served.stop(signal.SIGINT) == 0
    assert not any(token in line for line in served.log)


def test_a_mistake_is_told_before_anything_is_sent(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BISECT_SERVER", raising=False)
    monkeypatch.setenv("HOME", str(place.root))

    def run(*words: str) -> Result:
        return CliRunner().invoke(cli, words)

    mistaken = run("submit", str(place.spec(timeout=-1)), "--server", "http://127.0.0.1:9")
    assert isinstance(mistaken.exception, SpecError)
    assert "timeout: found" in str(mistaken.exception)
    nowhere = run("submit", str(place.spec()))
    assert (nowhere.exit_code, "No server: name it with --server" in nowhere.output) == (2, True)
    assert (run("watch", "nonsense").exit_code, run("watch", "q0123456789abcdef0123").exit_code) == (2, 2)


def test_a_server_that_stops_tells_its_streams_and_gives_work_back(place: Place) -> None:
    """Streams end with a word, the job waits for another worker, and the exit is clean."""
    place.publish(history(2, {number: {"main": "hang"} for number in range(2)}))
    spec = place.spec(timeout=600).read_text()
    files = [{"path": "repro.py", "text": (place.specs / "toy-spec" / "repro.py").read_text()}]
    with server(place.command("serve"), place.environ(), place.root) as served:
        told = requests.post(f"{served.address}/api/v1/questions", json={"spec": spec, "files": files}, timeout=60)
        question = told.json()["question"]["id"]
        stream = requests.get(f"{served.address}/api/v1/questions/{question}/events", stream=True, timeout=120)
        lines = stream.iter_lines(chunk_size=1, decode_unicode=True)
        assert any('"trial_started"' in line for line in lines)
        assert served.stop() == 0
        assert [line for line in lines if line][-2:] == ["event: stopping", "data: {}"]
    with open_results(file_address(place.cache / "results.sqlite", is_own=False), nullcontext) as results:
        (job,) = Questions(results.database).jobs(question)
    assert (job.state, job.attempts, job.worker) == (JobState.WAITING, 0, None)
