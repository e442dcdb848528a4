"""What to do after a look at one build: remarks on what was seen, and the commands that make sense now. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from bisect_tool.reports.attempt import Attempt, LearnedFailure, TriedCase
from bisect_tool.reports.sentences import plural
from bisect_tool.runs.trying.look import Look

ENOUGH = 3  # trials of a case, from which on it is worth saying what they cannot have missed
FEW = 0.05  # a failure that is rarer than this may be missed by a handful of trials


def remarks(made: Attempt) -> Iterator[str]:
    """Everything that keeps the spec from being right, or the answer of a run from being sure."""
    if made.build.unusable:
        yield f"{made.build.version} cannot be used: a run skips it and says so; try another build with --build"
        return
    yield from _of_controls(made)
    yield from (
        f"{case.name} cannot be judged here: {case.reason or 'it gives no reason'}"
        for case in made.cases
        if case.state == "untestable"
    )
    yield from _of_names(made)
    yield from _of_chance(made)
    if made.controls_pass is None and any(case.state == "failing" for case in made.cases):
        yield (
            "the spec has no control: add a case with `role: control` that passes on every build (the same script without "
            "the compiler, or the variant that works), else a build on which everything is broken looks like this failure"
        )


def _of_controls(made: Attempt) -> Iterator[str]:
    for case in made.cases:
        if case.role == "control" and case.state in ("failing", "flaky"):
            verb = "fails" if case.state == "failing" else "fails now and then"
            yield (
                f"the control {case.name} {verb}: a run would call this build untestable. When it shows the failure that is "
                "looked for, make it a test; else choose a control that passes here"
            )


def _of_names(made: Attempt) -> Iterator[str]:
    unnamed = [one for one in made.failures if one.named is None and _is_of_tests(one, made.cases)]
    if unnamed and made.unseen:
        names = ", ".join(one.name for one in made.unseen)
        yield (
            f"no `match` of `failures:` fits what was seen ({_titles(unnamed)}): correct the pattern of {names} when it is "
            "meant, or leave it when this is another failure"
        )
    named = [one for one in made.failures if one.named]
    yield from (f"{one.named} shows in {plural(len(one.cases), 'case')}" for one in named if len(one.cases) > 1)


def _of_chance(made: Attempt) -> Iterator[str]:
    for case in made.cases:
        if case.state == "flaky" and case.role == "test" and case.failed:
            yield (
                f"{case.name} comes and goes ({case.failed.shown} of {case.failed.trials} trials failed): put `flaky: yes` "
                "into the spec, so that a run repeats it until its answer is sure"
            )
    repeated = [case.failed for case in made.cases if case.failed and case.state in ("pass", "failing")]
    if any(rate.trials >= ENOUGH for rate in repeated):
        fewest = min(repeated, key=lambda rate: rate.trials)
        missed = 1 - FEW ** (1 / fewest.trials) if fewest.trials else 1.0
        yield (
            f"trials of a case agree; {fewest.trials} of them notice another outcome that comes with {missed:.0%} of "
            f"the trials or more ({1 - FEW:.0%} sure)"
        )


def _is_of_tests(failure: LearnedFailure, cases: Sequence[TriedCase]) -> bool:
    return any(case.role == "test" and case.name in failure.cases for case in cases)


def _titles(failures: Sequence[LearnedFailure]) -> str:
    return "; ".join(one.signature.title for one in failures)


def next_commands(made: Attempt, path: Path, look: Look) -> tuple[str, ...]:
    """What to type next, the likeliest first, with the options that were given here."""
    words = (str(path), *look.given)
    again = ("--build", look.build) if look.build else ()
    run, discover = command("run", *words), command("try", *words, *again, "--discover")
    if made.outcome == "unfinished":
        return (command("try", *words, *again),)
    if made.build.unusable:
        return ()
    if not shows_failure(made):
        return (discover, f"{command('try', *words)} --build VERSION", run)
    shell = command("shell", look.build or made.build.version, *words)
    return (run, shell) if made.outcome == "judged" else (shell,)


def command(*words: str) -> str:
    """A command line of this tool."""
    return shlex.join(["bisect", *words])


def shows_failure(made: Attempt) -> bool:
    """Whether a test shows a failure that is looked for: a named one where the spec names any, else whichever."""
    names_any = bool(made.unseen) or any(one.named for one in made.failures)
    shown = [one for one in made.failures if _is_of_tests(one, made.cases)]
    return any(one.named or not names_any for one in shown)
