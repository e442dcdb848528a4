"""From an answer to the report: names, dates, logs, revisions and environments around what the search found."""

from __future__ import annotations

import platform
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bisect_tool import __version__
from bisect_tool.builds.bounds import between_left_out
from bisect_tool.builds.build import LeftOutBecause
from bisect_tool.reports import report as parts
from bisect_tool.reports.sentences import summarize
from bisect_tool.runs.session import SeenTrial, Session
from bisect_tool.search import answer as found
from bisect_tool.search.states import Failing, Flaky, State, Untestable, trials_of
from bisect_tool.spec.model import Case
from bisect_tool.spec.repro import case_command
from bisect_tool.trials.failure import Failed, FoundFailure
from bisect_tool.trials.judge import advice_for

# Where the source of a package lies, for links from one revision to another. More with the history of a package.
SOURCES: Mapping[str, str] = {"torch": "https://github.com/pytorch/pytorch"}


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the report tells about the run itself. `unfinished` says that the search was cut short."""

    started: datetime
    elapsed: float
    cache: str
    uv: str
    repeat: str
    trials_known: int
    unfinished: bool = False


def make_report(session: Session, circumstances: Circumstances) -> parts.Report:
    """The report of one question."""
    return _Maker(session, session.answer(), circumstances).report()


@dataclass(frozen=True, slots=True)
class _Maker:
    session: Session
    answer: found.Answer
    circumstances: Circumstances

    def report(self) -> parts.Report:
        asked = self.session.asked
        failures = self._failures()
        made = parts.Report(
            outcome="unfinished" if self.circumstances.unfinished else self.answer.outcome.value,
            summary=(),
            spec=self._spec(),
            channel=asked.read.spec.channel[0],
            source=asked.channel.source_address(),
            range=self._range(),
            cases=tuple(self._case(case) for case in asked.read.spec.cases),
            failures=failures,
            boundaries=tuple(self._boundary(before, after) for before, after in self.answer.boundaries()),
            counts=self._counts(),
            elapsed_s=round(self.circumstances.elapsed, 1),
            environment=self._machine(),
            repeat=self.circumstances.repeat,
            advice=self._advice(),
            started=self.circumstances.started.isoformat(timespec="seconds"),
            cache=self.circumstances.cache,
        )
        return made.model_copy(update={"summary": summarize(made)})

    def _spec(self) -> parts.SpecPart:
        read, repro = self.session.asked.read, self.session.asked.repro
        return parts.SpecPart(
            name=read.spec.name,
            title=read.spec.title,
            issue=read.spec.issue,
            package=read.spec.package,
            path=str(read.path),
            digest=repro.digest,
        )

    def _range(self) -> parts.Range:
        asked = self.session.asked
        return parts.Range(
            asked_from=asked.read.spec.from_,
            asked_to=asked.read.spec.to,
            first=asked.builds[0].version,
            last=asked.builds[-1].version,
            notes=asked.selection.notes,
        )

    def _case(self, case: Case) -> parts.CasePart:
        asked = self.session.asked
        states = self.answer.timelines[case.name]
        return parts.CasePart(
            name=case.name,
            role=case.role.value,
            command=shlex.join(case_command(case, asked.repro)),
            timeline=tuple(self._entry(case.name, number, states.get(number)) for number in range(len(asked.builds))),
        )

    def _entry(self, case: str, number: int, state: State | None) -> parts.Entry:
        build = self.session.asked.builds[number]
        trials = self.session.seen.get((case, number), [])
        shown = _telling(trials)
        ids = sorted(state.failures) if isinstance(state, Failing | Flaky) else []
        names = tuple(self._id(failure) for failure in ids)
        return parts.Entry(
            build=build.version,
            date=build.date.isoformat() if build.date else None,
            state=_word(state),
            failure=names[0] if names else None,
            failures=names,
            reason=self._told(state.reason) if isinstance(state, Untestable) else None,
            trials=trials_of(state) if state is not None else 0,
            rate=_rate(state),
            duration_s=round(shown.duration, 2) if shown else None,
            log=f"{shown.folder}/log.txt" if shown else None,
        )

    def _failures(self) -> tuple[parts.Failure, ...]:
        names: dict[tuple[str, str], str] = {}
        made = []
        for failure in self.answer.failures:
            example = self.session.failures[failure.failure]
            name = _distinct(example.name or _name_for(example), names, failure)
            episodes = tuple(self._episode(episode) for episode in failure.episodes)
            made.append(
                parts.Failure(
                    id=self._id(failure.failure),
                    name=name,
                    case=failure.case,
                    signature=_signature(example),
                    episodes=episodes,
                )
            )
        return tuple(made)

    def _episode(self, episode: found.Episode) -> parts.Episode:
        begin, end = episode.appeared, episode.fixed
        if begin.after is None or end.before is None:
            raise AssertionError("an episode has at least one build")
        return parts.Episode(
            appeared=parts.Appeared(
                last_without=self._version(begin.before),
                first_with=self.session.asked.builds[begin.after].version,
                changed_from=self._other(begin),
                **self._end(begin),
            ),
            fixed=parts.Fixed(
                last_with=self.session.asked.builds[end.before].version,
                first_without=self._version(end.after),
                changed_into=self._other(end),
                **self._end(end),
            ),
        )

    def _end(self, end: found.End) -> dict[str, Any]:
        builds = self.session.asked.builds
        holes = tuple(
            parts.Hole(
                build=builds[hole.build].version,
                reason=self._told(hole.reason or "not tried"),
                tried=hole.reason is not None,
            )
            for hole in end.holes
        )
        return {
            "kind": end.kind.value,
            "untestable": tuple(hole.build for hole in holes if hole.tried),
            "holes": holes,
            "verified": end.verified,
            "compare": self._compare(end.before, end.after),
            "left_out": self._left_out(end.before, end.after),
        }

    def _other(self, end: found.End) -> tuple[str, ...]:
        return tuple(self._id(failure) for failure in sorted(end.other))

    def _left_out(self, before: int | None, after: int | None) -> tuple[str, ...]:
        """Versions inside a reported end that the listing has and that were not considered."""
        if before is None or after is None:
            return ()
        asked = self.session.asked
        between = between_left_out(asked.selection, asked.builds[before], asked.builds[after])
        return tuple(
            f"{one.version}: {one.because.value}{f' ({one.detail})' if one.detail else ''}"
            + ("; --yanked includes it" if one.because is LeftOutBecause.YANKED else "")
            for one in between
            if one.because is not LeftOutBecause.PRE_RELEASE
        )

    def _compare(self, before: int | None, after: int | None) -> str | None:
        source = SOURCES.get(self.session.asked.read.spec.package)
        revisions = (self._revision(before), self._revision(after))
        if source is None or None in revisions:
            return None
        return f"{source}/compare/{revisions[0]}...{revisions[1]}"

    def _boundary(self, before: int, after: int) -> parts.Boundary:
        builds = self.session.asked.builds
        return parts.Boundary(
            before=builds[before].version,
            after=builds[after].version,
            revision_before=self._revision(before),
            revision_after=self._revision(after),
            differences=_differences(self._health(before), self._health(after), self.session.asked.read.spec.package),
        )

    def _health(self, number: int | None) -> Mapping[str, Any]:
        if number is None:
            return {}
        return self.session.healths.get(self.session.asked.builds[number].identity, {})

    def _revision(self, number: int | None) -> str | None:
        revision = self._health(number).get("revision")
        return None if revision is None else str(revision)

    def _version(self, number: int | None) -> str | None:
        return None if number is None else self.session.asked.builds[number].version

    def _id(self, failure: str) -> str:
        """What the report calls a failure: its name in the spec, else words that people can read and six digits."""
        example = self.session.failures[failure]
        return example.name or f"{_name_for(example)}-{failure[:6]}"

    def _told(self, reason: str) -> str:
        """A reason of the search, which knows failures by their identity, in words."""
        for failure, example in self.session.failures.items():
            reason = reason.replace(failure, example.name or example.signature.title)
        return reason

    def _counts(self) -> parts.Counts:
        return parts.Counts(
            builds_considered=len(self.session.asked.builds),
            builds_installed=len(self.session.installed),
            trials=self.session.trials_made,
            trials_known=self.circumstances.trials_known,
        )

    def _machine(self) -> parts.Machine:
        asked = self.session.asked
        return parts.Machine(
            platform=platform.platform(),
            python=asked.interpreter.identity,
            device=asked.device.kind,
            cpu=_cpu(),
            driver=asked.device.driver,
            tool=f"bisect {__version__}",
            uv=self.circumstances.uv,
        )

    def _advice(self) -> tuple[str, ...]:
        said = [advice_for(failure) for failure in self.session.failures.values()]
        unproven = [
            f"{failure.failure}: one side of a change rests on too few trials for how rarely it fails"
            for failure in self.answer.failures
            for episode in failure.episodes
            for end in (episode.appeared, episode.fixed)
            if end.kind is found.Kind.NARROWED and not end.holes and not self.circumstances.unfinished
        ]
        if self.answer.outcome is found.Outcome.NO_CHANGE and self.session.asked.question.open_start is False:
            said.append("widen the range with --from and --to, or spread probes over it with --scan N")
        said.append(self.session.walked_back(self.answer))
        return tuple(dict.fromkeys([*(text for text in said if text), *unproven]))


def _word(state: State | None) -> parts.State:
    names: dict[type, parts.State] = {Failing: "failing", Flaky: "flaky", Untestable: "untestable"}
    return "not tried" if state is None else names.get(type(state), "pass")


def _rate(state: State | None) -> float | None:
    return round(state.failed / state.trials, 3) if isinstance(state, Flaky) else None


def _telling(trials: Sequence[SeenTrial]) -> SeenTrial | None:
    """The trial whose log says most: the last one that failed, else the last one."""
    failing = [trial for trial in trials if isinstance(trial.verdict, Failed)]
    shown = failing or trials
    return shown[-1] if shown else None


def _signature(example: FoundFailure) -> parts.Signature:
    signature = example.signature
    return parts.Signature(
        kind=signature.kind.value,
        title=signature.title,
        types=signature.types,
        message=signature.message,
        where=signature.where,
        # Where this machine keeps environments and trials is of no use to whoever reads the report.
        text=re.sub(r"[^\s\"']*/(site-packages|trials/[^/]+/repro)/", "", example.text),
    )


def _name_for(example: FoundFailure) -> str:
    """A short name for a failure that the spec does not name: its cause and the first words of its message."""
    signature = example.signature
    cause = signature.types[-1] if signature.types else signature.kind.value
    words = re.findall(r"[A-Za-z][A-Za-z0-9_.]*", signature.message)[:6]
    return "-".join([cause, *words])[:80]


def _distinct(name: str, names: dict[tuple[str, str], str], failure: found.FailureAnswer) -> str:
    """The name, with a number behind it when another failure of the same case has it already."""
    number, tried = 1, name
    while names.get((failure.case, tried), failure.failure) != failure.failure:
        number += 1
        tried = f"{name}-{number}"
    names[failure.case, tried] = failure.failure
    return tried


def _differences(before: Mapping[str, Any], after: Mapping[str, Any], package: str) -> tuple[parts.Difference, ...]:
    """Packages and facts that differ, but for the package under test itself."""
    left, right = dict(before.get("packages", {})), dict(after.get("packages", {}))
    if not left or not right:
        return ()
    for name in ("cuda", "cudnn", "nccl"):
        left[f"{package}: {name}"] = before.get("facts", {}).get(name)
        right[f"{package}: {name}"] = after.get("facts", {}).get(name)
    return tuple(
        parts.Difference(name=name, before=_text(left.get(name)), after=_text(right.get(name)))
        for name in sorted(left.keys() | right.keys())
        if left.get(name) != right.get(name) and name != package
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _cpu() -> str:
    """The processor's name: some failures need what only some processors have."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123  a file of the kernel
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
    except OSError:
        return platform.processor()
