"""Questions, work, builds and checks as they are on a server that has been in use: what browser tests and pictures look at."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import insert

from bisect_tool.reports import events
from bisect_tool.reports.rates import Chance, Rate, RateStudy
from bisect_tool.reports.report import Report
from bisect_tool.reports.study_stand import SideRate, StudyStand
from bisect_tool.runs.judging import as_values
from bisect_tool.service.question import Asker, Job, Question, Submission, fault_values
from bisect_tool.service.queue import Taken
from bisect_tool.service.services import Services
from bisect_tool.service.workers import Workers, WorkerState
from bisect_tool.store import service_tables as tables
from bisect_tool.store.logs import LOG
from bisect_tool.store.records import StoredTrial, Subject
from bisect_tool.store.tables import unusable
from bisect_tool.trials.observation import Observation, Raised
from tests.reports import samples

SCRIPT = b"import torch\n\nx = torch.ones(3, requires_grad=True)\nx.sum().backward()\nassert x.grad is not None\n"
NIGHTLIES = tuple(f"2.12.0.dev202603{day:02}" for day in range(1, 29))
MANY = tuple(
    f"2.12.0.dev2026{day}+cu130.with.a.long.local.version"
    for day in (f"{n // 28 % 12 + 1:02}{n % 28 + 1:02}.{n // 336}" for n in range(400))
)
CASES = (("eager", "control"), ("inductor", "test"), ("aot_eager", "test"))
LANES = ("any", "cpu")
# Report by name, with what the question is called.
ANSWERED = {
    "diagonal-scatter-grad": ("Inductor returns an all-zero gradient for diagonal_scatter(...).sum()", "exact"),
    "nll-loss-lowering": ("nll_loss2d fails to lower where it worked before", "narrowed"),
    "softmax-latency": ("Softmax over a long last dimension is slower than a year ago", "measured"),
    "cat-of-views": ("torch.cat of overlapping views gives other numbers", "unchanged"),
    "tf32-by-default": ("The default of float32 matmul precision changed twice", "changed"),
    "missing-cudart": ("No wheel of this week can be imported on the old driver", "not_judged"),
    "scatter-with-commits": ("A scatter was made faster, and wrong", "with_commits"),
    "hostile-words": ("<script>document.title = 'taken'</script> & \"quotes\"", "hostile"),
}


def fill(services: Services) -> dict[str, Question]:
    """Fill an empty database; gives the questions by name."""
    worker = Workers(services.database, services.queue.span).sign_on(LANES)
    found = {
        name: answered(services, name, title, samples.ALL[sample](), worker)
        for name, (title, sample) in ANSWERED.items()
    }
    title = "Dropout comes and goes with the seed of the compiler"
    found["flaky-dropout"] = answered(services, "flaky-dropout", title, flaky_report(), worker)
    found["needs-two-gpus"] = ask(services, "needs-two-gpus", "All-gather of a strided tensor hangs")
    services.queue.fail(
        taken(services, worker), fault_values("the spec has no case that can run here", "change its cases", 10)
    )
    found["fx-graph-cache"] = ask(services, "fx-graph-cache", "fx_graph_cache gives the graph of another dtype")
    running = taken(services, worker)
    Workers(services.database, services.queue.span).tell(worker, WorkerState.BUSY, found["fx-graph-cache"].id, done=9)
    tell(services, running.job, *half_way())
    title = "Scaled dot product attention differs from one call to the next, under deterministic algorithms and a fixed seed"
    found["flaky-attention"] = ask(services, "flaky-attention", title)
    tell(services, taken(services, worker).job, *half_way_in_flaky())
    found["empty-row"] = ask(services, "empty-row", "Softmax of an empty row is NaN since the new kernels", owner="bob")
    fill_trials(services, found["diagonal-scatter-grad"])
    fill_builds(services, found)
    fill_reviews(services, found)
    return {name: services.questions.get(question.id) or question for name, question in found.items()}


def ask(services: Services, name: str, title: str, owner: str = "ada") -> Question:
    """Submit a question."""
    spec = f"name: {name}\ntitle: {json.dumps(title)}\npackage: torch\nchannel: nightly\nfrom: 2026-03-01\nscript: repro.py\n"
    script = SCRIPT + f"# {name}\n".encode()
    return services.questions.submit(Submission(spec, (("repro.py", script),)), Asker(owner)).question


def taken(services: Services, worker: str, lanes: Sequence[str] = LANES) -> Taken:
    """Have a worker take the next job of its lanes."""
    found = services.queue.take(worker, lanes)
    assert found is not None
    return found


def answered(services: Services, name: str, title: str, report: Report, worker: str) -> Question:
    """Submit a question and answer it."""
    question = ask(services, name, title)
    answer(services, taken(services, worker), report)
    return question


def answer(services: Services, work: Taken, report: Report) -> None:
    """End a job with a report."""
    run = f"{work.job.id:032x}"
    question = services.questions.get(work.job.question)
    assert question is not None
    services.results.start_run(run, spec=question.name, repro=question.repro, package=question.package)
    services.results.end_run(run, report.outcome, report.model_dump(mode="json", by_alias=True))
    services.queue.finish(work, run, report.outcome)


def tell(services: Services, job: Job, *happened: events.Event) -> None:
    """Store events of a job."""
    told = [(re.sub(r"(?<!^)(?=[A-Z])", "_", type(one).__name__).lower(), asdict(one)) for one in happened]
    services.events.add(job.question, job.id, told)


def half_way() -> list[events.Event]:
    """The events of a run that has looked at four builds of 28 and found one that cannot be used."""
    told: list[events.Event] = [events.RunStarted("fx-graph-cache", "torch", NIGHTLIES, CASES, "cuda", 6)]
    for place, state in ((0, "pass"), (27, "failing"), (14, "failing"), (7, "pass")):
        told += tried(NIGHTLIES[place], {"inductor": state})
    build = NIGHTLIES[10]
    told += [
        events.BuildChosen(build, "halves the range", 3, 640.0),
        events.Installing(build, 912_345_678),
        events.Untestable(build, "health check: libcudart.so.13: cannot open shared object file"),
        events.MachineTrouble("the download broke off after 312 MB", 1, 3),
        events.BuildChosen(NIGHTLIES[11], "halves the range", 2, 420.0),
        events.Installing(NIGHTLIES[11], 912_345_678),
        events.Downloading(NIGHTLIES[11], "torch", 412_345_678, 912_345_678),
    ]
    return told


def half_way_in_flaky() -> list[events.Event]:
    """The events of a run over 400 builds with long names that knows roughly where the rate of a failure changes."""
    told: list[events.Event] = [events.RunStarted("flaky-attention", "torch", MANY, CASES, "cuda", 9)]
    for place, shown in ((0, 0), (399, 1), (199, 0), (299, 1), (249, 0), (274, 1)):
        told.append(events.StateKnown("inductor", MANY[place], "flaky" if shown else "pass", "nan" if shown else None))
        told += [events.StateKnown(case, MANY[place], "pass", None) for case in ("eager", "aot_eager")]
    told.append(events.RatesStudied("inductor", "AssertionError: Tensor-likes are not close", (believed(),)))
    told.append(events.TrialStarted(MANY[262], "inductor", "search", 300.0))
    return told


def believed(sharp: float = 2.0) -> StudyStand:
    """What is believed of the 400 builds after 132 trials: a hill, the narrower the larger `sharp` is."""
    weights = [1 / (1 + (abs(number - 258) / 6) ** (2 * sharp)) for number in range(1, 400)]
    chances = tuple(round(0.97 * weight / sum(weights), 4) for weight in weights)
    older, newer = SideRate(0, 44, 0.0, 0.08), SideRate(9, 44, 0.11, 0.35)
    return StudyStand(0, 399, 132, "unfinished", older, newer, chances=chances, trials_left=94, seconds_left=1860.0)


def tried(build: str, states: Mapping[str, str]) -> list[events.Event]:
    """The events of one build: installed, and every case of `CASES` run; those that `states` does not name pass."""
    told: list[events.Event] = [
        events.BuildChosen(build, "halves the range", 5, 840.0),
        events.Installing(build, 912_345_678),
        events.Installed(build, 42.5, cached=False),
    ]
    for case, _ in CASES:
        is_failing = states.get(case) == "failing"
        state, failure = ("failing", "wrong-dtype") if is_failing else ("pass", None)
        told.append(events.TrialFinished(build, case, state, failure, 8.1, stored=False))  # type: ignore[arg-type]
        told.append(events.StateKnown(case, build, state, failure))  # type: ignore[arg-type]
    return told


def flaky_report() -> Report:
    """A failure that comes and goes, with the chances of where its rate changes."""
    report = samples.flaky()
    builds = [entry.build for entry in report.cases[0].timeline]
    shares = (0.0, 0.002, 0.004, 0.03, 0.11, 0.72, 0.1, 0.03, 0.004, 0.0)
    study = RateStudy(
        first=builds[0], last=builds[-1], verdict="found", before=builds[4], after=builds[5], confidence=0.99,
        older=Rate(shown=1, trials=41, low=0.001, high=0.13), newer=Rate(shown=19, trials=44, low=0.28, high=0.59),
        trials=85, chances=tuple(Chance(build=build, chance=chance) for build, chance in zip(builds, shares, strict=True)),
    )  # fmt: skip
    failure = report.failures[0].model_copy(update={"studies": (study,)})
    return report.model_copy(update={"failures": (failure,)})


def fill_trials(services: Services, question: Question) -> None:
    """Two trials of a case on a build, one of which failed, with their environment and the log of the first."""
    subject = Subject("sha256=12", "python3.11", "cuda")
    for number, is_failing in enumerate((True, False), 1):
        folder = f"trials/{question.name}-{number}"
        log = services.cache.root / folder / LOG
        log.parent.mkdir(parents=True)
        log.write_text(samples.TRACEBACK + "\n" if is_failing else "gradient is 1.0\n")
        chain = (
            (Raised("AssertionError", "gradient is all zero: max |grad| = 0.0, expected 1.0"),) if is_failing else ()
        )
        observation = Observation(
            exit_status=1 if is_failing else 0,
            duration=4.2,
            output=log.read_text(),
            chain=chain,
            peak_memory=1_730_000_000,
        )
        services.results.add_trial(
            StoredTrial(
                subject, question.repro, "c" * 64, "inductor", "torch", "2.12.0", as_values(observation), folder,
                "python repro.py --backend inductor", 4.2,
            )
        )  # fmt: skip
    facts = {"cuda": "13.0", "driver": "580.65", "gpu": "NVIDIA H200", "cudnn": "9.13.0", "triton": "3.7.0"}
    packages = {"torch": "2.12.0", "triton": "3.7.0", "numpy": "2.3.1", "sympy": "1.14.0"}
    health = {
        "version": "2.12.0",
        "revision": samples.GIT_AFTER,
        "python": "3.11.9",
        "packages": packages,
        "facts": facts,
    }
    services.results.add_health(subject, health)


def fill_builds(services: Services, questions: Mapping[str, Question]) -> None:
    """March 2026 as a watched channel lists it: builds with sizes, one that is broken, two that are missing."""
    stream = {
        "id": 1, "package": "torch", "channel": "nightly", "variant": "cu130", "device": "cuda", "python": "3.11",
        "newest": NIGHTLIES[-1], "polled": 1.0, "due": 1.0, "faults": 0, "source": "https://download.pytorch.org/whl/nightly",
    }  # fmt: skip
    # The channel was looked at in January, too, and not in between.
    winter = {**_listed(1), "build": "2.11.0.dev20260115", "day": "2026-01-15"}
    listed = [winter, *(_listed(day) for day in range(1, 29))]
    used = [
        {"question": questions[name].id, "build": NIGHTLIES[day - 1], "channel": "nightly", "day": f"2026-03-{day:02}",
         "state": state, "reason": None}
        for name, day, state in (
            ("diagonal-scatter-grad", 1, "pass"), ("flaky-dropout", 1, "pass"), ("diagonal-scatter-grad", 12, "failing"),
            ("nll-loss-lowering", 12, "failing"), ("flaky-dropout", 20, "flaky"),
        )
    ]  # fmt: skip
    broken = {
        "identity": "sha256=11", "setting": "s", "device": "cuda", "package": "torch", "version": NIGHTLIES[10],
        "reason": "health check: libcudart.so.13: cannot open shared object file", "found": "2026-03-12T04:00:00+00:00",
    }  # fmt: skip
    _insert(services, tables.watched, [stream])
    _insert(services, tables.listed_builds, listed)
    _insert(services, tables.used_builds, used)
    _insert(services, unusable, [broken])


def fill_reviews(services: Services, questions: Mapping[str, Question]) -> None:
    """Forty checks of old answers over four weeks, one of which differs."""
    week, start = 7 * 86_400.0, 1_774_000_000.0
    names = ("diagonal-scatter-grad", "nll-loss-lowering", "flaky-dropout", "cat-of-views")
    rows = []
    for number in range(40):
        name = names[number % len(names)]
        verdict = "differs" if number == 37 else "no answer" if number == 11 else "same"
        kind = {"nll-loss-lowering": "narrowed", "flaky-dropout": "flaky", "cat-of-views": "no change"}.get(
            name, "exact"
        )
        check = {"case": "inductor", "name": "zero-grad", "kind": kind, "without": "2.11.0", "with_": "2.12.0",
                 "verdict": verdict, "note": "zero-grad shows on 2.11.0 as well" if verdict == "differs" else ""}  # fmt: skip
        rows.append({
            "question": questions[name].id, "job": 1000 + number, "of_run": f"{1000 + number:032x}", "picked": start,
            "ended": start + number * week / 10, "verdict": verdict, "detail": {"checks": [check]},
        })  # fmt: skip
    _insert(services, tables.reviews, rows)


def _listed(day: int) -> dict[str, Any]:
    is_missing = day in {8, 22}
    return {
        "stream": 1, "build": NIGHTLIES[day - 1], "day": f"2026-03-{day:02}", "variant": "cu130",
        "identity": f"sha256={day}", "size": None if is_missing else 880_000_000 + 1_100_000 * day,
        "status": "left out" if is_missing else "listed",
        "because": "the index has no wheel of this day" if is_missing else None,
        "replaced": 0, "first_seen": 1.0, "last_seen": 1.0,
    }  # fmt: skip


def _insert(services: Services, table: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    services.database.write(lambda connection: connection.execute(insert(table), [dict(row) for row in rows]))
