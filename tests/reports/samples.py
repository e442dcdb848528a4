"""Reports to test with, written as strips: one symbol for each build, as the terminal shows them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bisect_tool.reports.answer import with_summary
from bisect_tool.reports.commits import CommitRow, Commits, Suspect, Suspicion
from bisect_tool.reports.diagnosis import BisectorPart, CodePart, Diagnosis, RungPart
from bisect_tool.reports.report import (
    Appeared,
    Boundary,
    CasePart,
    Counts,
    Difference,
    Entry,
    Episode,
    Failure,
    Fixed,
    Hole,
    Machine,
    MetricPart,
    Range,
    Report,
    Signature,
    SpecPart,
)

RELEASES = ("2.8.0", "2.9.0", "2.9.1", "2.10.0", "2.11.0", "2.12.0", "2.12.1", "2.13.0", "2.14.0", "2.15.0")
IDS = {"A": "=zero-grad", "B": "5e1f0c9ab2d4"}
NO_SPACE = "health check: libcudart.so.13: cannot open shared object file"
SPREAD = "`latency_ms` spreads too much to tell: between 0.94 and 1.27 times the reference (limit 1.1)"
HOSTILE = (
    "<script>alert(1)</script> ```` | @torvalds fixes #12 https://example.org/x\n"
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J \u202edesrever \x00\x08 <!-- --> & \"quoted\" 'single'"
)
TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "repro.py", line 31, in <module>\n'
    "    main()\n"
    '  File "repro.py", line 27, in main\n'
    "    raise AssertionError('gradient is all zero: max |grad| = 0.0, expected 1.0')\n"
    "AssertionError: gradient is all zero: max |grad| = 0.0, expected 1.0"
)
GIT_BEFORE = "0fabc3ba44823f257e70ce397d989c8de5e362c1"
GIT_AFTER = "449b1768410104d3ed79d3bcfe4ba1d65c7f22c0"


def timeline(strip: str, builds: tuple[str, ...] = RELEASES) -> tuple[Entry, ...]:
    """A timeline from symbols: `✓` pass, a letter of `IDS`, `~` flaky with A, `?` untestable, `·` not tried."""
    start = datetime(2026, 1, 1, 4, 15, tzinfo=UTC)
    return tuple(
        _entry(symbol, build, (start + timedelta(days=i)).isoformat())
        for i, (symbol, build) in enumerate(zip(strip, builds, strict=True))
    )


def case(name: str, strip: str, builds: tuple[str, ...] = RELEASES, role: str = "test") -> CasePart:
    """One case."""
    return CasePart.model_validate(
        {
            "name": name,
            "role": role,
            "command": f"python repro.py --backend {name}",
            "timeline": timeline(strip, builds),
        }
    )


def failure(
    letter: str, *episodes: Episode, name: str = "", case_name: str = "inductor", text: str = TRACEBACK
) -> Failure:
    """A failure of `IDS`."""
    return Failure(
        id=IDS[letter],
        name=name or {"A": "zero-grad", "B": "lowering-error"}[letter],
        case=case_name,
        signature=Signature(
            kind="exception",
            title="AssertionError: gradient is all zero",
            types=("AssertionError",),
            message="gradient is all zero: max |grad| = #, expected #",
            text=text,
        ),
        episodes=episodes,
    )


def report(*cases: CasePart, failures: tuple[Failure, ...] = (), **more: object) -> Report:
    """A report about `cases`; `more` are fields of `Report`."""
    builds = [entry.build for entry in cases[0].timeline]
    tried = sum(entry.state != "not tried" for entry in cases[0].timeline)
    fields: dict[str, object] = {
        "outcome": "exact",
        "summary": (),
        "spec": SpecPart(
            name="diagonal-scatter-grad",
            title="Inductor returns an all-zero gradient for diagonal_scatter(...).sum()",
            issue="https://github.com/pytorch/pytorch/issues/1",
            package="torch",
            path="repro_specs/diagonal-scatter-grad/spec.yaml",
            digest="d1a60a15ca77e12d",
        ),
        "channel": "release",
        "source": "https://example.org/simple",
        "range": Range(asked_from="2.8", asked_to="2.15", first=builds[0], last=builds[-1]),
        "cases": cases,
        "failures": failures,
        "counts": Counts(builds_considered=len(builds), builds_installed=tried, trials=3 * tried, trials_known=2),
        "elapsed_s": 754.2,
        "environment": Machine(
            platform="Linux-6.1-x86_64",
            python="3.11.9",
            device="cpu",
            cpu="AMD EPYC 9654 96-Core Processor",
            tool="0.1.0",
            uv="0.9.7",
        ),
        "repeat": "bisect run repro_specs/diagonal-scatter-grad/spec.yaml --from 2.8 --to 2.15 --device cpu",
        "started": "2026-11-30T04:20:00+00:00",
        "cache": "cache",
    }
    made = Report.model_validate(fields | more)
    return made if made.summary else with_summary(made)


def boundary(before: str, after: str) -> Boundary:
    """A change that brought a new triton, one CUDA library and many other packages."""
    others = tuple(Difference(name=f"package-{i:02}", before=f"1.{i}", after=f"1.{i + 1}") for i in range(12))
    return Boundary(
        before=before,
        after=after,
        revision_before=GIT_BEFORE,
        revision_after=GIT_AFTER,
        differences=(
            Difference(name="torch", before=before, after=after),
            *others,
            Difference(name="numpy", before="2.3.1", after="2.3.2", compare="javascript:alert(1)"),
            Difference(name="nvidia-cublas-cu12", before="12.8.4.1", after=None),
            Difference(
                name="triton",
                before="3.4.0",
                after="3.5.0",
                compare="https://github.com/triton-lang/triton/compare/v3.4.0...v3.5.0",
            ),
        ),
    )


def exact() -> Report:
    """Appeared and fixed, both exact."""
    return report(
        case("eager", "✓·✓·✓✓·✓✓✓", role="control"),
        case("inductor", "✓·✓·✓A·A✓✓"),
        failures=(failure("A", Episode(appeared=_appeared("2.11.0", "2.12.0"), fixed=_fixed("2.13.0", "2.14.0"))),),
        boundaries=(boundary("2.11.0", "2.12.0"), boundary("2.13.0", "2.14.0")),
        advice=("Two builds share the commit of 2.12.0; look at the newer one first.",),
    )


def diagnosed() -> Report:
    """The part of the compiler is named on one side of the change, and not on the other."""
    builds = ("2.12.0", "2.13.0")
    names = ("eager", "aot_eager", "inductor")
    cells = {"2.12.0": ("passes", "another failure", "the failure"), "2.13.0": ("passes", "passes", "passes")}
    rungs = tuple(
        RungPart.model_validate(
            {"rung": rung, "build": build, "shows": shows, "detail": "KeyError: `x` | @me" if "other" in shows else ""}
        )
        for build, row in cells.items()
        for rung, shows in zip(names, row, strict=True)
    )
    one = Diagnosis(
        case="inductor",
        failure=IDS["A"],
        build=builds[0],
        without=builds[1],
        part="inductor → post_grad_passes → application 3 of 7 (pass_pattern_1: fold_cat)",
        sentence="aot_eager passes, inductor fails: it is in Inductor",
        rungs=rungs,
        bisector=BisectorPart(backend="inductor", subsystem="post_grad_passes", number=2, of=7, trials=9),
        code=CodePart(
            stage="output_code",
            sentence="the two builds differ first in the generated code",
            diff="--- 2.13.0\n+++ 2.12.0\n@@ -1 +1 @@\n-triton_poi_fused_add_0()\n+triton_poi_fused_zeros_0() ``` <b>",
        ),
        minified="trials/diagnosis-abc/minifier/repro.py",
        evidence="trials/diagnosis-abc",
    )
    reason = "cannot say: inductor, lowerings: test_disable shows another failure: KeyError"
    bisector = BisectorPart(reason=reason, trials=2)
    unnamed = one.model_copy(update={"part": None, "rungs": (), "bisector": bisector, "code": None, "minified": None})
    return exact().model_copy(update={"diagnoses": (one, unnamed)})


def narrowed() -> Report:
    """Holes inside both ends; still there in the last build but one, which is the last that could be tested."""
    holes = (Hole(build="2.10.0", reason=NO_SPACE), Hole(build="2.11.0", reason=NO_SPACE, tried=False))
    appeared = Appeared(
        kind="narrowed",
        last_without="2.9.1",
        first_with="2.12.0",
        untestable=("2.10.0", "2.11.0"),
        holes=holes,
        verified=True,
        left_out=("2.11.1 was yanked: broken wheel",),
    )
    fixed = Fixed(kind="open", last_with="2.14.0", first_without=None, untestable=("2.15.0",))
    return report(
        case("inductor", "✓·✓?·A··A?"),
        failures=(failure("A", Episode(appeared=appeared, fixed=fixed)),),
        outcome="narrowed",
        boundaries=(boundary("2.9.1", "2.12.0"),),
        range=Range(
            asked_from="2.7.9",
            asked_to=None,
            first="2.8.0",
            last="2.15.0",
            notes=("No build 2.7.9: the range starts at 2.8.0.",),
        ),
    )


def open_ended() -> Report:
    """The failure is in every build."""
    episode = Episode(
        appeared=Appeared(kind="open", last_without=None, first_with="2.8.0"),
        fixed=Fixed(kind="open", last_with="2.15.0", first_without=None),
    )
    return report(
        case("repro", "A···A····A"), failures=(failure("A", episode, case_name="repro"),), outcome="no change"
    )


def changed() -> Report:
    """A is hidden by B for two builds and comes back; a second case has B only."""
    first = Episode(
        appeared=_appeared("2.9.0", "2.9.1"),
        fixed=_fixed("2.11.0", "2.12.0", changed_into=(IDS["B"],)),
    )
    again = Episode(
        appeared=_appeared("2.12.1", "2.13.0", changed_from=(IDS["B"],)),
        fixed=Fixed(kind="open", last_with="2.15.0", first_without=None),
    )
    masking = Episode(
        appeared=_appeared("2.11.0", "2.12.0", changed_from=(IDS["A"],)),
        fixed=_fixed("2.12.1", "2.13.0", changed_into=(IDS["A"],)),
    )
    return report(
        case("eager", "✓✓✓✓✓✓✓✓✓✓", role="control"),
        case("inductor", "✓✓AAABBAAA"),
        failures=(failure("A", first, again), failure("B", masking)),
        boundaries=(boundary("2.9.0", "2.9.1"), boundary("2.11.0", "2.12.0"), boundary("2.12.1", "2.13.0")),
    )


def flaky() -> Report:
    """Fails in two trials of five since 2.12.0."""
    episode = Episode(
        appeared=_appeared("2.11.0", "2.12.0"),
        fixed=Fixed(kind="open", last_with="2.15.0", first_without=None),
    )
    return report(
        case("inductor", "✓✓·✓✓~·~~~"),
        failures=(failure("A", episode),),
        boundaries=(boundary("2.11.0", "2.12.0"),),
    )


def measured() -> Report:
    """A number that rose in 2.12.0, one build whose number spread too much, one that is only distributed differently."""
    entries = timeline("✓··✓✓AA·?A")
    numbers = {0: (1.0, 0.99, 1.01, 0.94, 0.9), 3: (1.004, 0.99, 1.02, 0.7, 0.0004), 4: (1.03, 1.02, 1.04, 0.004, 0.01),
               5: (1.31, 1.29, 1.34, 0.0022, 0.0022), 6: (1.3, 1.28, 1.32, 0.0022, 0.0022),
               8: (1.08, 0.94, 1.27, 0.02, 0.05), 9: (1.32, 1.3, 1.35, 0.0022, 0.0022)}  # fmt: skip
    parts = {number: _measured(number in {5, 6, 9}, number == 8, *told) for number, told in numbers.items()}
    shown = tuple(
        entry.model_copy(update={"metrics": (parts[number],)} | ({"reason": SPREAD} if number == 8 else {}))
        if number in parts
        else entry
        for number, entry in enumerate(entries)
    )
    episode = Episode(
        appeared=_appeared("2.11.0", "2.12.0"), fixed=Fixed(kind="open", last_with="2.15.0", first_without=None)
    )
    slow = Failure(
        id=IDS["A"],
        name="latency_ms above 1.1x of 2.8.0",
        case="inductor",
        signature=Signature(
            kind="metric",
            title="latency_ms is 1.31 times that of 2.8.0 (limit 1.1)",
            message="latency_ms above 1.1x of 2.8.0",
            text="reference 2.8.0: 10 10.1 9.9 10 10 10 (median 10)\nbuild 2.12.0: 13.1 13.2 13 13.1 13.1 13 (median 13.1)",
        ),
        episodes=(episode,),
    )
    base = case("inductor", "✓··✓✓AA·?A").model_copy(update={"timeline": shown})
    return report(base, failures=(slow,), boundaries=(boundary("2.11.0", "2.12.0"),))


def _measured(different: bool, undecided: bool, ratio: float, low: float, high: float, *p_values: float) -> MetricPart:  # noqa: FBT001
    return MetricPart(
        name="latency_ms",
        unit="ms",
        state="different" if different else "undecided" if undecided else "same",
        limit=1.1,
        reference="2.8.0",
        ratio=ratio,
        low=low,
        high=high,
        reference_median=10.0,
        build_median=10 * ratio,
        samples=30 if undecided else 6,
        mann_whitney=p_values[0],
        kolmogorov_smirnov=p_values[1],
    )


def unchanged() -> Report:
    """Passes everywhere."""
    return report(case("inductor", "✓···✓····✓"), outcome="no change")


def not_judged() -> Report:
    """Nothing could be tested."""
    return report(case("eager", "??········", role="control"), case("inductor", "??········"), outcome="not judged")


def nightlies(count: int = 400) -> tuple[str, ...]:
    """Version strings of a dated stream."""
    start = datetime(2025, 4, 1, tzinfo=UTC)
    return tuple(f"2.10.0.dev{start + timedelta(days=i):%Y%m%d}+cu130" for i in range(count))


def long() -> Report:
    """Four hundred nightlies, of which a few were tried; a hole of sixty builds inside the first end."""
    builds = nightlies()
    strip = list("·" * 400)
    for i in (0, 80, 130, 139):
        strip[i] = "✓"
    for i in (140, 142, 150, 170, 198, 199):
        strip[i] = "?"
    for i in (200, 203, 240, 300, 310):
        strip[i] = "A"
    for i in (311, 330, 399):
        strip[i] = "✓"
    holes = tuple(Hole(build=builds[i], reason=NO_SPACE, tried=strip[i] == "?") for i in range(140, 200))
    appeared = Appeared(
        kind="narrowed",
        last_without=builds[139],
        first_with=builds[200],
        untestable=tuple(builds[140:200]),
        holes=holes,
        verified=True,
        compare=f"https://github.com/pytorch/pytorch/compare/{GIT_BEFORE[:12]}...{GIT_AFTER[:12]}",
    )
    return report(
        case("eager", "".join("✓" if s in "✓A" else s for s in strip), builds, role="control"),
        case("aot_eager", "".join("✓" if s in "✓A" else s for s in strip), builds, role="control"),
        case("inductor", "".join(strip), builds),
        failures=(failure("A", Episode(appeared=appeared, fixed=_fixed(builds[310], builds[311]))),),
        outcome="narrowed",
        boundaries=(boundary(builds[139], builds[200]), boundary(builds[310], builds[311])),
        channel="nightly",
    )


def commits(*rows: CommitRow, **more: object) -> Commits:
    """Commits of pytorch."""
    fields: dict[str, object] = {
        "repository": "pytorch/pytorch",
        "address": "https://github.com/pytorch/pytorch",
        "link": f"https://github.com/pytorch/pytorch/compare/{GIT_BEFORE}...{GIT_AFTER}",
        "rows": rows,
    }
    return Commits.model_validate(fields | more)


def commit(number: int, title: str, **more: object) -> CommitRow:
    """The commit whose hash is the digit of `number` forty times."""
    fields: dict[str, object] = {
        "sha": f"{number:x}" * 40,
        "title": f"{title} (#{1000 + number})",
        "author": "Ada Example",
        "date": f"2026-01-{number:02}T08:00:00+00:00",
        "pull": 1000 + number,
        "files": (f"torch/area{number}.py",),
        "files_count": 1,
    }
    return CommitRow.model_validate(fields | more)


def with_commits() -> Report:
    """Eight commits, of which two cancel out, three are suspected, and one is a reland."""
    listed = commits(
        commit(1, "[inductor] Make scatter faster", login="ada"),
        commit(2, "Try a thing", folded_with="3" * 40),
        commit(3, 'Revert "Try a thing"', nature="revert", takes_back=("2" * 40,), folded_with="2" * 40),
        commit(4, "[1/2] Split", series=1),
        commit(5, "[2/2] Split", series=1),
        commit(6, "Reland a fix", nature="reland", brings_again="4" * 40),
        commit(7, "Documentation", files=None, files_count=None),
        commit(8, "Many files", files_count=240, in_base=True),
        notes=("The files of 1 commit are not known: files are asked for 40 commits at most without GITHUB_TOKEN.",),
    )
    reasons = (
        "touches torch/_inductor/lowering.py, where the failure came up",
        "its title names scatter, as the failure does",
    )
    suspicion = Suspicion(
        suspects=(
            Suspect(sha="1" * 40, points=13.1, reasons=reasons),
            Suspect(sha="6" * 40, points=3.0, reasons=("brings again what had been taken back once",)),
            Suspect(sha="8" * 40, points=0.2, reasons=("touches files called scatter, as the repro does",),
                    doubts=("touches only tests, documentation or CI",)),
        ),
    )  # fmt: skip
    appeared = _appeared("2.11.0", "2.12.0").model_copy(update={"suspicion": suspicion})
    fixed = Fixed(kind="open", last_with="2.15.0", first_without=None)
    return report(
        case("inductor", "✓·✓·✓A·A·A"),
        failures=(failure("A", Episode(appeared=appeared, fixed=fixed)),),
        boundaries=(boundary("2.11.0", "2.12.0").model_copy(update={"commits": listed, "differences": ()}),),
    )


def hostile_commits() -> Report:
    """As an attacker would write titles, authors and file names; nothing here went through `showing`."""
    odd = (HOSTILE, "a\nb", "\u202egnp.py")
    row = commit(1, HOSTILE, author=HOSTILE, login=f"{HOSTILE}2", files=odd, files_count=3)
    bad_hash = commit(2, "y", sha='"><script>alert(1)</script>', folded_with=HOSTILE)
    listed = commits(row, bad_hash, address="javascript:alert(1)//", link="javascript:alert(1)", notes=(HOSTILE,))
    suspicion = Suspicion(suspects=(Suspect(sha="1" * 40, points=1, reasons=(HOSTILE,), doubts=(HOSTILE,)),))
    appeared = _appeared("2.9.1", "2.10.0").model_copy(update={"suspicion": suspicion})
    fixed = Fixed(kind="open", last_with="2.15.0", first_without=None)
    return report(
        case("inductor", "✓·✓A·A·A·A"),
        failures=(failure("A", Episode(appeared=appeared, fixed=fixed)),),
        boundaries=(boundary("2.9.1", "2.10.0").model_copy(update={"commits": listed, "differences": ()}),),
    )


def hostile() -> Report:
    """Every text that comes from outside is hostile."""
    episode = Episode(
        appeared=Appeared(
            kind="narrowed",
            last_without="2.9.1",
            first_with="2.12.0",
            untestable=("2.10.0",),
            holes=(Hole(build="2.10.0", reason=HOSTILE),),
            left_out=(HOSTILE,),
            compare="javascript:alert(1)",
        ),
        fixed=Fixed(kind="open", last_with="2.15.0", first_without=None),
    )
    bad = failure("A", episode, name=HOSTILE, text=HOSTILE)
    bad = bad.model_copy(update={"signature": bad.signature.model_copy(update={"title": HOSTILE, "text": HOSTILE})})
    base = report(case("inductor", "✓·✓??AAAAA"), failures=(bad,), outcome="narrowed")
    dirty = base.model_dump(by_alias=True)
    dirty["spec"] |= {"title": HOSTILE, "issue": "javascript:alert(1)"}
    dirty |= {"advice": (HOSTILE,), "repeat": HOSTILE, "summary": (HOSTILE,), "source": HOSTILE}
    dirty["environment"] |= {"cpu": HOSTILE}
    dirty["failures"][0]["signature"] |= {"text": HOSTILE, "title": HOSTILE}
    return Report.model_validate(dirty)


ALL = {
    "diagnosed": diagnosed,
    "exact": exact,
    "narrowed": narrowed,
    "open": open_ended,
    "changed": changed,
    "flaky": flaky,
    "measured": measured,
    "unchanged": unchanged,
    "not_judged": not_judged,
    "long": long,
    "hostile": hostile,
    "with_commits": with_commits,
    "hostile_commits": hostile_commits,
}


def _entry(symbol: str, build: str, date: str) -> Entry:
    fields: dict[str, object] = {"build": build, "date": date, "trials": 2, "log": f"trials/{build}/log.txt"}
    match symbol:
        case "✓":
            fields |= {"state": "pass", "duration_s": 4.2}
        case "~":
            fields |= {"state": "flaky", "failure": IDS["A"], "failures": (IDS["A"],), "rate": 0.4, "trials": 5}
        case "?":
            fields |= {"state": "untestable", "reason": NO_SPACE, "trials": 1}
        case "·":
            fields |= {"state": "not tried", "trials": 0, "log": None}
        case _:
            fields |= {"state": "failing", "failure": IDS[symbol], "failures": (IDS[symbol],), "duration_s": 5.0}
    return Entry.model_validate(fields)


def _appeared(last_without: str, first_with: str, changed_from: tuple[str, ...] = ()) -> Appeared:
    return Appeared(
        kind="exact",
        last_without=last_without,
        first_with=first_with,
        changed_from=changed_from,
        verified=True,
        compare=f"https://github.com/pytorch/pytorch/compare/{GIT_BEFORE[:12]}...{GIT_AFTER[:12]}",
    )


def _fixed(last_with: str, first_without: str, changed_into: tuple[str, ...] = ()) -> Fixed:
    return Fixed(
        kind="exact",
        last_with=last_with,
        first_without=first_without,
        changed_into=changed_into,
        verified=True,
        compare=f"https://github.com/pytorch/pytorch/compare/{GIT_BEFORE[:12]}...{GIT_AFTER[:12]}",
    )
