"""Recorded trials of a spec of the corpus: what the store had after a real run, and a session that knows just that.

Nothing is installed and nothing is run. Every trial is judged anew, so that a rule of `trials` or `search` that changes an
answer shows. A file holds the builds of the range and, for each trial, the facts that the rules look at.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import MISSING, asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from bisect_tool.builds.bounds import select
from bisect_tool.builds.build import Build, Installation, LeftOut, LeftOutBecause, Listing, Wanted
from bisect_tool.environments.cache_folder import open_cache
from bisect_tool.environments.environment import Environments
from bisect_tool.environments.interpreter import Interpreter
from bisect_tool.environments.uv import Uv
from bisect_tool.history.projects import known_project, read_source
from bisect_tool.runs.asking import Asked
from bisect_tool.runs.device import Device
from bisect_tool.runs.looked_at import looked_at
from bisect_tool.runs.session import Session
from bisect_tool.runs.surveying import Stage, Wishes
from bisect_tool.spec.reading import ReadSpec
from bisect_tool.spec.repro import case_digest, read_repro
from bisect_tool.store.results import Results, StoredTrial, Subject, open_results
from bisect_tool.trials.observation import Observation

FOLDER = Path(__file__).with_name("recorded")
LONGEST = 6_000  # characters of output that are kept of a trial; what it is judged by is at its end
_DEFAULTS = {one.name: one.default for one in fields(Observation) if one.default is not MISSING}
_INTERPRETER = ("version", "implementation", "free_threaded", "machine")


class Stale(AssertionError):
    """The spec is not the one that was recorded."""


@dataclass(frozen=True, slots=True)
class NoChannel:
    """Knows no builds and gives none: whoever asks it wants more than was recorded."""

    def listing(self, wanted: Wanted) -> Listing:
        raise AssertionError(f"the listing of {wanted.package} is wanted anew")

    def installation(self, build: Build, requires: Sequence[str] = ()) -> Installation:
        raise AssertionError(f"{build.version} is to be installed, with {requires}")

    def current(self, build: Build) -> Build:
        return build

    def identified(self, build: Build) -> Build:
        return build

    def source_address(self) -> str:
        return "recorded trials"


def taken_down(session: Session, hidden: Mapping[str, str]) -> dict[str, Any]:
    """What a session knows, as plain values; `hidden` says what stands for the places of this machine."""
    asked, rows = session.asked, list(_rows(session))
    return {
        "spec": asked.spec.name,
        "repro": asked.repro.digest,
        "stage": {"channel": asked.stage.channel, "from": asked.stage.from_, "to": asked.stage.to},
        "dated": asked.listing.dated,
        "interpreter": {name: getattr(asked.interpreter, name) for name in _INTERPRETER},
        "device": asked.device.kind,
        "builds": [_build_values(build) for build in asked.builds],
        "left_out": [_left_out_values(one) for one in asked.selection.left_out],
        "unusable": {asked.builds[number].version: reason for number, reason in session.broken.items()},
        "cases": {case.name: case_digest(case, asked.spec) for case in asked.spec.cases},
        "trials": json.loads(_without(json.dumps(rows), hidden)),
    }


def session_of(recorded: Mapping[str, Any], read: ReadSpec, folder: Path) -> Session:
    """A session over `folder` (made) that knows what was recorded. Raises `Stale` when the spec is another one now."""
    asked = _asked(recorded, read)
    _refuse_stale(recorded, asked)
    cache = open_cache(folder)
    results = open_results(cache.database, nullcontext)
    _fill(results, recorded, asked)
    session = Session(asked, results, Environments(cache, Uv(Path("uv"), cache.uv, {}), {}))
    session.load()
    return session


def _asked(recorded: Mapping[str, Any], read: ReadSpec) -> Asked:
    spec, stage = read.spec, recorded["stage"]
    builds = tuple(_build(spec.package, values) for values in recorded["builds"])
    left_out = tuple(_left_out(values) for values in recorded["left_out"])
    listing = Listing(builds, left_out, "recorded trials", dated=recorded["dated"])
    selection = select(listing, stage["from"], stage["to"])
    interpreter = Interpreter(Path("python"), **recorded["interpreter"], purelib=Path("purelib"), in_environment=False)
    return Asked(
        spec=spec,
        stage=Stage(stage["channel"], stage["from"], stage["to"]),
        channel=NoChannel(),
        listing=listing,
        selection=selection,
        interpreters={None: interpreter},
        device=Device(recorded["device"], recorded["device"]),
        project=read_source(spec.source) if spec.source else known_project(spec.package),
        nightlies=None,
        unread=None,
        twins={},
        read=read,
        repro=read_repro(read),
        wishes=Wishes(),
        named=looked_at(spec.look_at, listing, selection)[0],
    )


def _refuse_stale(recorded: Mapping[str, Any], asked: Asked) -> None:
    now = {case.name: case_digest(case, asked.spec) for case in asked.spec.cases}
    if recorded["repro"] != asked.repro.digest or recorded["cases"] != now:
        raise Stale(f"{asked.spec.name} was changed: run it again and record it with tests.corpus.keep")


def _fill(results: Results, recorded: Mapping[str, Any], asked: Asked) -> None:
    numbers = {build.version: number for number, build in enumerate(asked.builds)}
    for version, reason in recorded["unusable"].items():
        results.add_unusable(_subject(asked, numbers[version]), asked.spec.package, version, reason)
    for place, row in enumerate(recorded["trials"]):
        results.add_trial(
            StoredTrial(
                subject=_subject(asked, numbers[row["build"]]),
                repro=asked.repro.digest,
                case_digest=recorded["cases"][row["case"]],
                case_name=row["case"],
                package=asked.spec.package,
                version=row["build"],
                observation={**_DEFAULTS, **row["observation"]},
                folder=f"trials/{place}",
                command="",
                duration=row["observation"].get("duration", 0.0),
            )
        )


def _rows(session: Session) -> Iterable[dict[str, Any]]:
    """The trials of every case on every build, in the order in which they ended."""
    asked = session.asked
    names = {case_digest(case, asked.spec): case.name for case in asked.spec.cases}
    versions = {build.identity: build.version for build in asked.builds}
    for setting in asked.settings:
        for trial in session.results.trials_of(asked.repro.digest, setting, asked.device.kind):
            if trial.case_digest in names and (version := versions.get(trial.subject.identity)):
                told = _told(trial.observation)
                yield {"build": version, "case": names[trial.case_digest], "observation": told}


def _told(observation: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of an observation that differ from the usual."""
    kept = {**observation, "output": observation["output"][-LONGEST:], "duration": round(observation["duration"], 2)}
    return {name: value for name, value in kept.items() if value != _usual(name)}


def _usual(name: str) -> Any:
    usual = _DEFAULTS.get(name, MISSING)
    return list(usual) if isinstance(usual, tuple) else usual


def _without(text: str, hidden: Mapping[str, str]) -> str:
    for place, instead in sorted(hidden.items(), key=lambda pair: -len(pair[0])):
        text = text.replace(place, instead)
    return text


def _subject(asked: Asked, number: int) -> Subject:
    return Subject(asked.builds[number].identity, asked.setting_of(number), asked.device.kind)


def _build_values(build: Build) -> dict[str, Any]:
    """What tells a build from others; no address, because it is that of an index."""
    return {"version": build.version, "date": build.date.isoformat() if build.date else None, "sha256": build.sha256}


def _build(package: str, values: Mapping[str, Any]) -> Build:
    date = datetime.fromisoformat(values["date"]) if values["date"] else None
    return Build(package, values["version"], "recorded", "recorded", date, values["sha256"])


def _left_out_values(one: LeftOut) -> dict[str, Any]:
    return {**asdict(one), "date": one.date.isoformat() if one.date else None, "because": one.because.name}


def _left_out(values: Mapping[str, Any]) -> LeftOut:
    date = datetime.fromisoformat(values["date"]) if values["date"] else None
    return LeftOut(values["version"], date, LeftOutBecause[values["because"]], values["detail"])
