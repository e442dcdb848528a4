"""What the soak plays on: an index, a database, GitHub, a receiver of webhooks, processes; and what must be true in the end."""

from __future__ import annotations

import random
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

import requests
from sqlalchemy import Select, func, select, update

from bisect_tool.service.job_rows import JOBS, OPEN, count_open, job_of
from bisect_tool.service.posts import PostState
from bisect_tool.service.question import Asker, Job, JobState, Purpose, QuestionState, Submission
from bisect_tool.service.questions import Questions
from bisect_tool.service.queue import Queue
from bisect_tool.store import tables
from bisect_tool.store.address import StoreAddress, file_address
from bisect_tool.store.database import Database
from bisect_tool.store.results import Results, open_results
from bisect_tool.store.service_tables import jobs, posts, questions, told, workers
from tests.integration.conftest import Place
from tests.rig import fake_github
from tests.rig.asked import pass_time
from tests.rig.fake_github import serve_github
from tests.rig.hook_receiver import receive_hooks
from tests.rig.index import serve
from tests.rig.postgres import postgres_server
from tests.soak.crowd import Crowd, free_port
from tests.soak.heard import Others
from tests.soak.moments import Killer, Moment, moments
from tests.soak.toys import BUILDS, LAST, Asked, publish, publish_fix, question

LEASE = 10  # seconds
HTTP = 4  # of so many questions one is asked over HTTP
ASKER = Asker("soak")
HOST = "127.0.0.1"  # that of the web pages of the fake GitHub
SOON = 30  # seconds that it is worth to wait for
EDITED = 4  # of so many watched questions somebody edits the comment of one
FAULTS = (
    fake_github.lost_reply,
    fake_github.lost_request,
    fake_github.server_error,
    lambda: fake_github.secondary_limit(2),
)


@dataclass
class Soak:
    """The stage. `asked` are all questions; `deadline` is when it gives up, by the monotonic clock."""

    place: Place
    results: Results
    chance: random.Random
    crowd: Crowd
    others: Others
    deadline: float
    asked: dict[str, Asked] = field(default_factory=dict)
    to_watch: list[str] = field(default_factory=list)
    is_fixed: bool = False

    @property
    def database(self) -> Database:
        """The database of the questions."""
        return self.results.database

    @property
    def questions(self) -> Questions:
        """All questions."""
        return Questions(self.database)

    @property
    def killer(self) -> Killer:
        """Who kills."""
        return Killer(self.crowd, self.database, self.others, self.chance, self._ask_over_http)

    def moments(self) -> Iterator[Moment]:
        """When somebody is killed."""
        return moments(self.chance)

    def add_server(self) -> None:
        """Start a server that talks."""
        self.crowd.add_server(free_port())

    def ask(
        self, first: int | None = None, heard: Callable[[int], None] = lambda _pid: None, *, over_http: bool = False
    ) -> str:
        """Ask a new question: of a server, which `heard` is told the pid of, or as one does that nobody kills."""
        about = Asked(self.chance.randrange(1, BUILDS) if first is None else first, len(self.asked) + 1)
        self.others.open_issue(about.issue)
        submission = question(len(self.asked), about.first, HOST, to=LAST if self.is_fixed else None)
        number = self._submit(submission, heard) if over_http else self.questions.submit(submission, ASKER).question.id
        self.asked[number] = about
        return number

    def watch(self, number: str) -> None:
        """Have an open failure looked at in the build that fixes it; sometimes after somebody has edited our comment."""
        about = self.asked[number]
        if self.chance.randrange(EDITED) == 0:
            about.edited = self.others.edit_ours(about.issue)
        about.is_watched = True
        Queue(self.database).add(number, Purpose.WATCH, ASKER, lane="cpu")

    def second_half(self) -> None:
        """Once the questions of the first half are answered: the fix comes out, and every third of them is watched."""
        if not self.is_fixed:
            self.wait(self.is_answered)
            publish_fix(self.place.index)
            self.is_fixed = True
            self.to_watch = [number for number in [*self.asked][BUILDS - 1 :] if self.chance.randrange(3) == 0]

    def fill(self, backlog: int) -> None:
        """Have about so many jobs open: what is answered meanwhile is not made up for, so that this comes to an end."""
        for _ in range(backlog - self.database.read(count_open)):
            if self.to_watch:
                self.watch(self.to_watch.pop())
            else:
                self.ask(over_http=self.chance.randrange(HTTP) == 0)

    def break_github(self, rate: float) -> None:
        """With this probability the next request of some kind to GitHub goes wrong."""
        if self.chance.random() < rate:
            kind = self.chance.choice(["list", "create", "edit", "me"])
            self.others.github.plant(kind, self.chance.choice(FAULTS)())

    def usual(self) -> dict[int, int]:
        """How many trials an answer takes when nobody is killed, by the build in which the failure appears."""
        asked = {first: self.ask(first) for first in range(1, BUILDS)}
        self.crowd.add_worker()
        self.wait(self.is_answered)
        self.crowd.stop()
        return {first: self.stored(number) for first, number in asked.items()}

    def is_quiet(self) -> bool:
        """Whether no job is open, and everything was told."""
        ended = select(jobs.c.id).where(jobs.c.state.not_in(OPEN), jobs.c.id.not_in(select(told.c.job)))
        waiting = select(posts.c.id).where(posts.c.state == PostState.WAITING)
        return self.database.read(
            lambda connection: (
                count_open(connection) == 0
                and connection.execute(ended).first() is None
                and connection.execute(waiting).first() is None
            )
        )

    def standing(self) -> str:
        """How far it is, for people."""
        untold = self._count(select(func.count()).select_from(posts).where(posts.c.state == PostState.WAITING))
        return f"{len(self.asked)} questions, {self.database.read(count_open)} jobs open, {untold} posts wait"

    def pause(self, seconds: float) -> None:
        """Let them work; who was killed by GitHub is started again."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(0.1)
            self.crowd.revive()

    def wait(self, until: Callable[[], bool], show: Callable[[], None] = lambda: None) -> None:
        """Wait until something is so. When all that is left rests after several faults, for minutes, the clock is put on."""
        while not until():
            assert time.monotonic() < self.deadline, (self.standing(), self._open())
            self.pause(1.0)
            show()
            if self._is_resting():
                self.pass_time()
                self.crowd.revive()

    def _is_resting(self) -> bool:
        """Whether jobs are left, and none of them is worked on or due soon."""
        left = select(jobs.c.state, jobs.c.not_before - self.database.now()).where(jobs.c.state.in_(OPEN))
        rows = self.database.read(lambda connection: connection.execute(left).all())
        return bool(rows) and all(state == JobState.WAITING and seconds > SOON for state, seconds in rows)

    def pass_time(self, seconds: float = 1e4) -> None:
        """As if so much time had passed for what waits, is worked on, and is told; nobody may live, who would be overtaken."""
        self.crowd.halt()
        pass_time(self.database, seconds)
        waiting = update(posts).where(posts.c.state == PostState.WAITING)
        values = {"not_before": posts.c.not_before - seconds, "until": posts.c.until - seconds}
        self.database.write(lambda connection: connection.execute(waiting.values(values)))

    def check(self, usual: dict[int, int]) -> int:
        """Look at everything; gives how many trials were run again. `usual`: as the method gives it."""
        stored: dict[tuple[int, bool], set[int]] = defaultdict(set)
        for number, about in self.asked.items():
            self._check_answer(number, about)
            stored[about.first, about.is_watched].add(self.stored(number))
        for (first, is_watched), counts in stored.items():
            least = usual.get(first, 0) + (1 if is_watched else 0)
            assert counts == {usual[first]} if not is_watched and usual else min(counts) >= least, (first, counts)
            assert len(counts) == 1, f"as many trials for the same question, however it was killed: {stored}"
        self.others.check_comments(self.asked)
        self.others.check_deliveries(self._jobs())
        again = self.ran() - self._count(select(func.count()).select_from(tables.trials))
        assert 0 <= again <= 2 * self.crowd.kills, again
        return again

    def summary(self) -> dict[str, object]:
        """What was done."""
        kinds, at = Counter[str](), Counter[str]()
        for (kind, moment), count in self.crowd.killed.items():
            kinds[kind] += count
            at[moment] += count
        edited = sum(one.edited is not None for one in self.asked.values())
        return {
            "kills": dict(kinds), "at": dict(at), "questions": len(self.asked), "jobs": len(self._jobs()),
            "watched": sum(one.is_watched for one in self.asked.values()), "edited by others": edited,
            "comments": self.others.check_comments(self.asked), "requests to GitHub": len(self.others.github.requests),
            "webhooks": len(self.others.receiver.deliveries), "of them repeated": self.others.check_deliveries(self._jobs()),
            "trials": self.ran(),
        }  # fmt: skip

    def stored(self, number: str) -> int:
        """The trials that are stored of a question."""
        of = select(questions.c.repro).where(questions.c.id == number).scalar_subquery()
        return self._count(select(func.count()).select_from(tables.trials).where(tables.trials.c.repro == of))

    def ran(self) -> int:
        """The trials that were run, stored or not."""
        return len([*(self.place.cache / "trials").glob("*")])

    def _check_answer(self, number: str, about: Asked) -> None:
        found, report = self.questions.get(number), self.questions.report(number)
        assert found is not None
        assert found.state is QuestionState.ANSWERED, found
        assert report is not None
        (failure,) = report["failures"]
        (episode,) = failure["episodes"]
        ends = episode["appeared"]["last_without"], episode["appeared"]["first_with"], episode["fixed"]["first_without"]
        assert ends == (f"1.{about.first - 1}", f"1.{about.first}", f"1.{BUILDS}" if about.is_watched else None), number
        assert [job.state for job in self.questions.jobs(number)] == [JobState.DONE] * (2 if about.is_watched else 1)

    def _ask_over_http(self, heard: Callable[[int], None]) -> None:
        self.ask(heard=heard, over_http=True)

    def _submit(self, asked: Submission, heard: Callable[[int], None]) -> str:
        """Ask a server, again and again while they are dead."""
        files = [{"path": path, "text": content.decode()} for path, content in asked.files]
        while time.monotonic() < self.deadline:
            self.crowd.revive()
            server = self.chance.choice(self.crowd.servers)
            heard(server.process.pid)
            with suppress(requests.ConnectionError, requests.Timeout):
                address = f"http://{HOST}:{server.port}/api/v1/questions"
                answer = requests.post(address, json={"spec": asked.spec, "files": files}, timeout=60)
                if answer.ok:
                    return str(answer.json()["question"]["id"])
                assert answer.status_code in {429, 503}, answer.text
            self.pause(0.2)
        raise AssertionError("no server comes back")

    def is_answered(self) -> bool:
        """Whether every question is."""
        counts = self.questions.counts()
        return counts[QuestionState.QUEUED] + counts[QuestionState.RUNNING] == 0

    def _jobs(self) -> list[Job]:
        return self.database.read(lambda connection: [job_of(row) for row in connection.execute(JOBS)])

    def _open(self) -> list[object]:
        return [(one.id, one.question, one.state, one.attempts, one.error) for one in self._jobs() if one.state in OPEN]

    def _count(self, query: Select[int]) -> int:
        return self.database.read(lambda connection: int(connection.execute(query).scalar_one()))


@contextmanager
def soak_in(chance: random.Random, seconds: float, *, postgres: bool) -> Iterator[Soak]:
    """A stage for so many seconds, removed afterwards."""
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bisect-soak-")))
        (root / "wheels").mkdir()
        others = Others(stack.enter_context(serve_github()), stack.enter_context(receive_hooks()))
        settings = {
            "BISECT_LEASE": str(LEASE), "BISECT_SANDBOX": "off", "BISECT_VERIFY": "1", "BISECT_WATCH_EVERY": "0",
            "BISECT_REVIEWS": "0",
        }  # fmt: skip
        index = stack.enter_context(serve(root / "wheels"))
        place = Place(root, index, {**settings, **others.environ()})
        publish(index)
        address = _address(stack, root, postgres=postgres)
        results: Results = stack.enter_context(open_results(address, nullcontext, span=1000))
        words = ("--store", address.url.render_as_string(hide_password=False))
        crowd = Crowd(place, words, lambda pid: _is_known(results.database, pid))
        stack.callback(crowd.end)
        yield Soak(place, results, chance, crowd, others, time.monotonic() + seconds)


def _is_known(database: Database, pid: int) -> bool:
    query = select(workers.c.id).where(workers.c.pid == pid).limit(1)
    return database.read(lambda connection: connection.execute(query).first()) is not None


def _address(stack: ExitStack, root: Path, *, postgres: bool) -> StoreAddress:
    if postgres:
        return stack.enter_context(stack.enter_context(postgres_server()).database())
    return file_address(root / "shared.sqlite", is_own=False)
