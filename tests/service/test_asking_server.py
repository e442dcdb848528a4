"""`bisect when --server` says the same as `bisect when --local`, and is plain about a server that is none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bisect_tool.cli import cli
from bisect_tool.environments.cache_folder import open_cache
from bisect_tool.errors import ServerRefused, ServerUnreachable
from bisect_tool.service.asking_server import PATIENCE, ask_server
from bisect_tool.service.asking_spec import query_of
from bisect_tool.service.client import Client
from bisect_tool.service.finding import Found, Query
from bisect_tool.service.tokens import Scope, Tokens
from bisect_tool.store.results import open_results
from tests.integration.conftest import PROGRAM
from tests.rig.answered_reports import keep, report_of, shown_by
from tests.rig.scripted_service import Said, problem, said, scripted_service
from tests.rig.server import server
from tests.rig.stored_searches import StoredSearch

TRACEBACK = """Traceback (most recent call last):
  File "/somewhere/repro.py", line {line}, in <module>
  File "/x/site-packages/torch/_inductor/lowering.py", line {line}, in call
    torch.ops.aten.mm.default(a)
RuntimeError: bad stride {line} of aten.mm
"""
SPEC = "name: narrowed\nchannel: release\ndevice: cpu\nfrom: '2.2'\nto: '2.10'\nscript: repro.py\n"
BUILDS = tuple(f"2.{number}" for number in range(13))


@dataclass(frozen=True)
class Asked:
    """A server that knows some answers, a token that may read and one that may not, and the cache behind it."""

    address: str
    cache: Path
    spec: Path
    reader: str
    other: str

    def run(self, *words: str, token: str | None = None, text: str | None = None) -> tuple[int, str]:
        """What `bisect when` says, and its status."""
        environ = {"BISECT_TOKEN": token} if token else {}
        done = CliRunner(env={"BISECT_SERVER": None, **environ}).invoke(
            cli, ["when", *words, "--cache", str(self.cache)], input=text, standalone_mode=False
        )
        if done.exception is not None:
            raise done.exception
        return done.return_value, done.output


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    folder = tmp_path_factory.mktemp("asked")
    (folder / "spec.yaml").write_text(SPEC)
    (folder / "repro.py").write_text("print(1)\n")
    query = query_of(folder / "spec.yaml", {})
    assert query.asked is not None
    about = {"beside": query.asked.beside, "naming": query.asked.naming}
    cases = {case.name: case.digest for case in query.asked.cases}
    (case,) = cases
    with open_results(open_cache(folder / "cache").database, nullcontext) as results:
        keep(results, "31", report_of(shown_by(TRACEBACK.format(line=7)), issue="pytorch/pytorch#7"))
        cut = report_of(shown_by("ValueError: the axis is lost"), name="axis", repro="b" * 64, outcome="unfinished")
        keep(results, "32", cut)
        seen = {"2.0": {case: "p"}, "2.4": {case: "p"}, "2.8": {case: "ff"}, "2.12": {case: "f"}}
        StoredSearch(BUILDS, seen, repro=query.text, from_="2.0", cases=cases, about=about).keep(results, "1")
        tokens = Tokens(results.database)
        reader, other = tokens.make("reader", [Scope.READ]).text, tokens.make("other", [Scope.SUBMIT]).text
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "BISECT_CACHE": str(folder / "cache")}
    with server([*PROGRAM, "serve", "--workers", "0"], environ, folder) as served:
        yield Asked(served.address, folder / "cache", folder / "spec.yaml", reader, other)


KINDS = {
    "a spec in a range that nobody asked for": ("SPEC", None, 3, "appeared between 2.4 and 2.8, 3 builds left"),
    "a traceback": ("-", TRACEBACK.format(line=99), 0, "the same failure"),
    "a quoted traceback": (
        "-",
        "\n".join(f"> {one}" for one in TRACEBACK.format(line=3).split("\n")),
        0,
        "same failure",
    ),
    "a message": ("RuntimeError: bad stride 3 of aten.mm", None, 0, "the same failure"),
    "like words": ("RuntimeError: bad stride of aten.bmm", None, 3, "near: shares"),
    "an operator": ("torch.ops.aten.mm.default", None, 0, "names it"),
    "a part of a name": ("aten.mm.out", None, 3, "holds a part of the name"),
    "an issue": ("https://github.com/pytorch/pytorch/issues/7", None, 0, "the same issue"),
    "a short issue": ("pytorch/pytorch#7", None, 0, "the same issue"),
    "a package": ("torch", None, 0, "names it"),
    "a run that was cut short": ("ValueError: the axis is lost", None, 3, "the run was cut short"),
    "nothing": ("TypeError: quite another thing", None, 4, "nothing stored tells about it"),
}


@pytest.mark.parametrize(("query", "text", "status", "words"), KINDS.values(), ids=list(KINDS))
def test_the_server_says_what_the_own_store_says(
    asked: Asked, query: str, text: str | None, status: int, words: str
) -> None:
    query = str(asked.spec) if query == "SPEC" else query
    here = asked.run(query, "--local", text=text)
    assert (here[0], words in here[1]) == (status, True), here[1]
    assert asked.run(query, "--server", asked.address, token=asked.reader, text=text) == here
    as_json = asked.run(query, "--server", asked.address, "--json", token=asked.reader, text=text)
    assert as_json == asked.run(query, "--json", "--local", text=text)
    assert {0: "yes", 3: "partly", 4: "no"}[status] == json.loads(as_json[1])["found"]


def test_many_at_once(asked: Asked) -> None:
    names = ["aten.mm", "pytorch/pytorch#7", "unheard_of", *(f"unheard_of_{number}" for number in range(97))]
    here = asked.run(*names, "--json", "--local")
    assert asked.run(*names, "--json", "--server", f"{asked.address}/", token=asked.reader) == here
    found = json.loads(here[1])
    assert (here[0], [one["query"] for one in found]) == (3, names)
    assert [one["found"] for one in found[:3]] == ["yes", "yes", "no"]
    assert asked.run("aten.mm", "torch", "--local")[0] == 0
    assert asked.run("unheard_of", "not_known", "--local")[0] == 4
    with pytest.raises(Exception, match="101 queries"):
        asked.run(*names, "one_more", "--local")


def test_only_who_may_read(asked: Asked) -> None:
    for token in (None, asked.other, "bisect_0_wrong"):
        with pytest.raises(ServerRefused) as refused:
            asked.run("torch", "--server", asked.address, token=token)
        assert not token or token not in str(refused.value)


def test_a_server_that_is_away() -> None:
    pauses: list[float] = []
    said_so: list[str] = []
    with scripted_service([]) as gone:
        address = gone.address
    client = Client(address, sleep=pauses.append, tell=said_so.append, pauses=PATIENCE)
    with pytest.raises(ServerUnreachable, match="no answer") as error:
        ask_server(client, [Query("torch")])
    assert (pauses, len(said_so), sum(PATIENCE) < 10) == ([*PATIENCE], 3, True)
    assert "check --server" in str(error.value.advice)


FINDING: dict[str, Any] = {"query": "torch", "by": "name", "found": "no"}
ODD = {
    "a page": Said(200, (b"<html>sign in</html>",)),
    "nothing": said({}),
    "a list": said([FINDING]),
    "fewer findings": said({"findings": []}),
    "more findings": said({"findings": [FINDING, FINDING]}),
    "an odd finding": said({"findings": [{"query": "torch"}]}),
    "a newer word": said({"findings": [FINDING | {"found": "perhaps"}]}),
    "another type": said({"findings": [FINDING | {"answers": "many"}]}),
    "a proxy": Said(302, headers=(("Location", "http://elsewhere.example/"),)),
}


@pytest.mark.parametrize("answer", ODD.values(), ids=list(ODD))
def test_an_answer_that_is_none(answer: Said) -> None:
    with scripted_service([answer]) as odd, pytest.raises(ServerUnreachable) as error:
        ask_server(Client(odd.address), [Query("torch")])
    assert (error.value.where, bool(error.value.advice)) == (odd.address, True)


def test_an_older_server_is_named_as_such() -> None:
    with scripted_service([problem(404, "no such path")]) as old:
        with pytest.raises(ServerRefused, match="does not know look-ups") as error:
            ask_server(Client(old.address), [Query("torch")])
        assert "update it" in str(error.value.advice)
    refusal = problem(422, "2 mistakes", exit_status=None, mistakes=["queries.0.asked: no such key"])
    with scripted_service([refusal]) as old, pytest.raises(ServerRefused, match=r"queries\.0\.asked"):
        ask_server(Client(old.address), [Query("torch")])


def test_what_a_newer_server_says_besides_is_passed_over() -> None:
    with scripted_service([said({"findings": [FINDING | {"mood": "good"}], "took": 3})]) as newer:
        (found,) = ask_server(Client(newer.address), [Query("torch")])
    assert (found.found, found.answers) == (Found.NO, ())


def test_what_a_server_says_cannot_move_the_cursor(asked: Asked) -> None:
    odd = FINDING | {"title": "\x1b[2Jgone\nknown: a lie", "notes": ["\x1b]0;title\x07note\u202e"]}
    with scripted_service([said({"findings": [odd]})]) as hostile:
        _, text = asked.run("torch", "--server", hostile.address)
    assert text.split("\n")[0] == "not known: gone known: a lie"
    assert text.endswith("note: note\n")
