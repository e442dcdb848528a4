"""Workers of a service that are killed at random moments, over a toy package whose answers are known."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import psutil
import requests
from sqlalchemy import func, select

from bisect_tool.service.question import Asker, JobState, Question, QuestionState, Submission
from bisect_tool.service.questions import Questions
from bisect_tool.store import tables
from bisect_tool.store.database import Database
from bisect_tool.store.results import Results
from tests.integration.conftest import Place
from tests.rig.toy import ToyBuild, day

BUILDS = 8
LEASE = 5  # seconds
TEXT = "RuntimeError: gradient is all zero"
ASKER = Asker("soak")


def publish(place: Place) -> None:
    """Builds 1.0 to 1.7; the case `from-3` fails from 1.3 on."""
    place.publish([
        ToyBuild(f"1.{number}", {f"from-{first}": TEXT for first in range(1, number + 1)}, uploaded=day(number + 1))
        for number in range(BUILDS)
    ])  # fmt: skip


def question(number: int, first: int) -> Submission:
    """A question of its own for each number, whose failure appears in the build `first`."""
    script = f"import sys, toy  # {number}\ntoy.run(sys.argv[1])\n"
    cases = [{"name": "main", "args": [f"from-{first}"]}]
    spec = {
        "name": f"soak-{number}", "package": "toy", "channel": "release", "device": "cpu", "flaky": "no", "warm": "off",
        "script": "repro.py", "timeout": 60, "cases": cases,
    }  # fmt: skip
    return Submission(json.dumps(spec), (("repro.py", script.encode()),))


@dataclass
class Soak:
    """Some workers, the questions that were asked with the build in which each failure appears, and the kills so far.

    With a `port` there is a server as well, which has a worker of its own, and questions are asked of that.
    """

    place: Place
    results: Results
    chance: random.Random
    words: tuple[str, ...]
    port: int | None = None
    asked: dict[str, int] = field(default_factory=dict)
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    kills: int = 0
    killed: Counter[str] = field(default_factory=Counter)
    server: subprocess.Popen[bytes] | None = None

    @property
    def database(self) -> Database:
        """The database of the questions."""
        return self.results.database

    @property
    def questions(self) -> Questions:
        """All questions."""
        return Questions(self.database)

    def ask(self, first: int | None = None) -> str:
        """Ask a new question."""
        appears = self.chance.randrange(1, BUILDS) if first is None else first
        asked = question(len(self.asked), appears)
        number = self._submit(asked) if self.server else self.questions.submit(asked, ASKER).question.id
        self.asked[number] = appears
        return number

    def _submit(self, asked: Submission) -> str:
        """Ask the server, again and again while it is dead."""
        files = [{"path": path, "text": content.decode()} for path, content in asked.files]
        for _ in range(600):
            with suppress(requests.ConnectionError, requests.Timeout):
                address = f"http://127.0.0.1:{self.port}/api/v1/questions"
                answer = requests.post(address, json={"spec": asked.spec, "files": files}, timeout=60)
                if answer.ok:
                    return str(answer.json()["question"]["id"])
                assert answer.status_code in {429, 503}, answer.text
            time.sleep(0.2)
        raise AssertionError(f"the server does not come back:\n{self.last_words('serve')}")

    def last_words(self, name: str) -> str:
        """The last of what the youngest process of a kind has said."""
        youngest = max(self.place.root.glob(f"{name}-*.log"), key=lambda path: path.stat().st_mtime)
        return youngest.read_text()[-2000:]

    def start(self) -> None:
        """Start one more worker."""
        self.workers.append(self._start("worker", "--at-once", "2"))

    def start_server(self) -> None:
        """Start the server."""
        self.server = self._start("serve", "--port", str(self.port), "--submissions", "1000/minute")

    def _start(self, name: str, *words: str) -> subprocess.Popen[bytes]:
        environ = {**self.place.environ(), "BISECT_LEASE": str(LEASE), "BISECT_SANDBOX": "off"}
        with (self.place.root / f"{name}-{time.monotonic_ns()}.log").open("wb") as log:
            command = self.place.command(name, *words, *self.words)
            return subprocess.Popen(command, stdout=log, stderr=log, env=environ, cwd=self.place.root)

    def kill(self) -> None:
        """SIGKILL to the server, to a worker, or to a process that answers for one; there are as many as before."""
        if self.server is not None and self.chance.random() < 1 / 3:
            self.server.kill()
            self.server.wait()
            self._count("server")
            self.start_server()
            return
        number = self.chance.randrange(len(self.workers))
        worker = self.workers[number]
        with suppress(psutil.NoSuchProcess):
            children = psutil.Process(worker.pid).children()
            if children and self.chance.random() < 1 / 3:
                os.kill(self.chance.choice(children).pid, signal.SIGKILL)
                self._count("child")
                return
        worker.kill()
        worker.wait()
        self.workers.pop(number)
        self._count("worker")
        self.start()

    def _count(self, what: str) -> None:
        self.kills += 1
        self.killed[what] += 1

    def open(self) -> int:
        """How many questions are not answered yet."""
        counts = self.questions.counts()
        return counts[QuestionState.QUEUED] + counts[QuestionState.RUNNING]

    def wait(self, until: Callable[[], bool], seconds: float) -> None:
        """Wait until something is so."""
        deadline = time.monotonic() + seconds
        while not until():
            assert time.monotonic() < deadline, [(one.id, one.state, one.error) for one in self._not_answered()]
            time.sleep(0.2)

    def _not_answered(self) -> list[Question]:
        found = [self.questions.get(number) for number in self.asked]
        return [one for one in found if one is not None and one.state is not QuestionState.ANSWERED]

    def stop(self) -> None:
        """End everything as an administrator would; nothing may hang."""
        ending = [*self.workers, *([self.server] if self.server else ())]
        for one in ending:
            one.terminate()
        for one in ending:
            assert one.wait(90) == 0, one.args
        self.workers.clear()
        self.server = None

    def end(self) -> None:
        """Kill what is left."""
        for one in (*self.workers, *([self.server] if self.server else ())):
            one.kill()
            one.wait()

    def check(self, usual: dict[int, int]) -> int:
        """Every answer is right, as many trials are stored as usual; gives how many trials were run again."""
        for number, first in self.asked.items():
            found, report = self.questions.get(number), self.questions.report(number)
            assert found is not None
            assert found.state is QuestionState.ANSWERED, found
            assert report is not None
            (failure,) = report["failures"]
            ends = failure["episodes"][0]["appeared"]
            assert (ends["last_without"], ends["first_with"]) == (f"1.{first - 1}", f"1.{first}"), number
            assert [job.state for job in self.questions.jobs(number)] == [JobState.DONE]
            stored = self.stored(found.repro)
            assert stored == usual[first], f"{number}: {stored} trials stored instead of {usual[first]}"
        again = len([*(self.place.cache / "trials").glob("*")]) - self.stored()
        assert 0 <= again <= 2 * self.kills, again
        return again

    def stored(self, repro: str | None = None) -> int:
        """The trials that are stored, of one repro or of all."""
        query = select(func.count()).select_from(tables.trials)
        if repro is not None:
            query = query.where(tables.trials.c.repro == repro)
        return int(self.database.read(lambda connection: connection.execute(query).scalar_one()))
