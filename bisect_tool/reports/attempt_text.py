"""An attempt as text for a terminal of any width: a line for each case, their outputs side by side, what to do next. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from bisect_tool.quantities import format_duration
from bisect_tool.reports.attempt import Attempt, LearnedFailure, TriedCase
from bisect_tool.reports.cleaning import clean, one_line
from bisect_tool.reports.columns import wrapped
from bisect_tool.reports.discovery_text import answer_lines, table_lines
from bisect_tool.reports.rates import share
from bisect_tool.reports.sentences import plural
from bisect_tool.reports.watching import SYMBOLS

if TYPE_CHECKING:
    from rich.text import Text

NARROWEST, WIDEST = 72, 240
LEAST_CELL = 58  # columns: below that a traceback is not readable
GAP = "  "
ROOM = 64  # columns that a long text needs to stand beside something
MOST_OF_LAST = 3  # lines that the last line of an output may take


def render(made: Attempt, width: int = 100) -> str:
    """The whole attempt on lines of at most `width` columns."""
    width = max(NARROWEST, min(WIDEST, width))
    parts = (_head(made, width), _table(made, width), _outputs(made.cases, width), _failures(made, width))
    blocks = [
        list(part)
        for part in (
            *parts,
            _controls(made, width),
            *_discovery(made, width),
            _advice(made, width),
            _footer(made, width),
        )
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def render_rich(made: Attempt, width: int) -> Text:
    """The same text with a little colour."""
    from rich.text import Text

    return coloured(Text(render(made, width)))


def coloured(text: Text) -> Text:
    """Colour for the signs, headings and rules of a text."""
    text.highlight_regex(r"(?m)^✓|(?<= )✓(?= )", "green")
    text.highlight_regex(r"(?m)^ *✗ .*$|(?<=─ )✗[^─]*", "bold red")
    text.highlight_regex(r"(?m)^=> .*$", "bold")
    text.highlight_regex(r"(?m)^~ .*$|(?<=─ )~[^─]*", "yellow")
    text.highlight_regex(r"(?m)^\? .*$|(?<=─ )\?[^─]*", "dim")
    text.highlight_regex(r"─{2,}", "dim")
    text.highlight_regex(r"(?m)^[a-z ]+:$|^configurations, .*:$|^(controls|work|machine|logs) ", "bold cyan")
    text.highlight_regex(r"(?m)^   bisect .*$", "bold")
    return text


def _head(made: Attempt, width: int) -> Iterator[str]:
    yield from wrapped("", one_line(made.spec.title or made.spec.name), width)
    build = made.build
    facts = [(build.date or "")[:10], f"commit {build.revision[:12]}" if build.revision else ""]
    known = ", ".join(fact for fact in facts if fact)
    told = f"{made.spec.package} {build.version}{f' ({known})' if known else ''} on {made.environment.device}"
    yield from wrapped("", f"{told}, {made.environment.python}", width)
    if build.unusable:
        yield from wrapped("=> ", f"this build cannot be used: {one_line(build.unusable, 600)}", width)
    if made.outcome == "unfinished":
        yield "=> unfinished: it was cut short, this is what is known so far"


def _table(made: Attempt, width: int) -> Iterator[str]:
    """One line for each case: its state, what the repeats say, the time, the failure."""
    rows = [_row(case) for case in made.cases]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    for case, row in zip(made.cases, rows, strict=True):
        cells = [
            row[0].ljust(widths[0]),
            row[1].ljust(widths[1]),
            row[2].ljust(widths[2]),
            row[3].rjust(widths[3]),
        ]
        head = f"{SYMBOLS[case.state]} {GAP.join(cells)}"
        yield from _beside(head, _what(case, made.failures), width)


def _row(case: TriedCase) -> tuple[str, str, str, str]:
    state = case.state
    if case.failed is not None:
        state_words = f"{state}, {case.failed.shown} of {case.failed.trials} failed"
        bounds = f" ({share(case.failed.low)} to {share(case.failed.high)})" if state == "flaky" else ""
        told = state_words + bounds
    else:
        told = state
    return (
        one_line(case.name, 40),
        case.role,
        told,
        format_duration(case.duration_s) if case.duration_s is not None else "",
    )


def _what(case: TriedCase, failures: Sequence[LearnedFailure]) -> str:
    if case.reason:
        return one_line(case.reason, 200)
    by_id = {one.id: one for one in failures}
    return "; ".join(_named(by_id[one]) for one in case.failures if one in by_id)


def _named(failure: LearnedFailure) -> str:
    title = one_line(failure.signature.title, 160)
    return f"{failure.named}: {title}" if failure.named else title


def _beside(head: str, text: str, width: int) -> Iterator[str]:
    """Text behind a head where there is room for it, else on lines of its own below."""
    if not text:
        yield head.rstrip()
    elif len(head) + len(GAP) + min(len(text), ROOM) <= width:
        yield from wrapped(head + GAP, text, width)
    else:
        yield head.rstrip()
        yield from wrapped("     ", text, width)


def _outputs(cases: Sequence[TriedCase], width: int) -> Iterator[str]:
    """The ends of the outputs, as many side by side as there is room for."""
    shown = [case for case in cases if case.output]
    count = max(1, min(len(shown), (width + len(GAP)) // (LEAST_CELL + len(GAP))))
    cell = (width - len(GAP) * (count - 1)) // count
    for first in range(0, len(shown), count):
        if first:
            yield ""
        for lines in zip_longest(*(_cell(case, cell) for case in shown[first : first + count]), fillvalue=""):
            yield GAP.join(line.ljust(cell) for line in lines).rstrip()


def _cell(case: TriedCase, width: int) -> Iterator[str]:
    """What one case printed last, under a rule with its name; its last line in full, as far as it goes."""
    yield f"─ {SYMBOLS[case.state]} {case.name} ".ljust(width, "─")
    yield from (_cut(_plain(line), width) for line in case.output[:-1])
    last = textwrap.wrap(_plain(case.output[-1]), width) or [""]
    yield from last[: MOST_OF_LAST - 1]
    if len(last) >= MOST_OF_LAST:
        yield _cut(" ".join(last[MOST_OF_LAST - 1 :]), width)


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else line[: width - 1] + "…"


def _plain(line: str) -> str:
    return clean(line).replace("\t", "    ")


def _failures(made: Attempt, width: int) -> Iterator[str]:
    """The signatures that a run would learn, and the names of the spec that fit none."""
    if not made.failures and not made.unseen:
        return
    yield "failures that a run would learn:"
    if not made.failures:
        yield "   none: nothing fails here"
    names = [one.named or one.id for one in made.failures] + [one.name for one in made.unseen]
    longest = min(28, max(map(len, names)), max(width - ROOM - 5, 12))
    for one in made.failures:
        yield from _learned(one, made, longest, width)
    for other in made.unseen:
        yield from _under(other.name, [f"named in the spec, not seen (match `{other.match}`)"], longest, width)


def _learned(failure: LearnedFailure, made: Attempt, longest: int, width: int) -> Iterator[str]:
    signature = failure.signature
    counts = {case.name: case.trials for case in made.cases}
    seen = ", ".join(
        f"{name} ({shown} of {plural(counts.get(name, shown), 'trial')})" for name, shown in failure.cases.items()
    )
    known_by = [signature.kind, f"raised in {signature.where}" if signature.where else ""]
    known = f"in {seen}; known by: {', '.join(part for part in known_by if part)}"
    named = (
        f"matches `{failure.match}` of the spec" if failure.named else "no name in the spec: the tool makes this one"
    )
    yield from _under(failure.named or failure.id, [one_line(signature.title, 300), known, named], longest, width)


def _under(name: str, texts: Sequence[str], longest: int, width: int) -> Iterator[str]:
    """Texts beside a name; below it where the name is longer than the column for names."""
    head = f"   {name:<{longest}}  "
    if len(name) > longest:
        yield head.rstrip()
        head = " " * 5
    yield from wrapped(head, texts[0], width)
    for text in texts[1:]:
        yield from wrapped(" " * len(head), text, width)


def _discovery(made: Attempt, width: int) -> tuple[Iterable[str], ...]:
    found = made.discovery
    return () if found is None else (answer_lines(found, width), table_lines(found, width))


def _controls(made: Attempt, width: int) -> Iterator[str]:
    controls = [case for case in made.cases if case.role == "control"]
    failing = [case.name for case in controls if case.state != "pass"]
    if failing:
        yield from wrapped("controls ", f"do not pass: {', '.join(failing)}", width)
    elif controls:
        yield from wrapped("controls ", f"pass: {', '.join(case.name for case in controls)}", width)


def _advice(made: Attempt, width: int) -> Iterator[str]:
    if made.advice:
        yield "advice:"
        for text in made.advice:
            yield from wrapped("   - ", text, width)


def _footer(made: Attempt, width: int) -> Iterator[str]:
    if made.next:
        yield "next:"
        yield from (f"   {command}" for command in made.next)
        yield ""
    known = f", {made.trials_known} known before" if made.trials_known else ""
    yield from wrapped(
        "work     ",
        f"{plural(made.trials, 'trial')} run{known}, {format_duration(made.elapsed_s)}; all of them are stored, and a run "
        "that comes to this build does not repeat them",
        width,
    )
    cpu = f" ({made.environment.cpu})" if made.environment.device == "cpu" and made.environment.cpu else ""
    yield from wrapped(
        "machine  ", f"{made.environment.device}{cpu}, {made.environment.platform}, {made.environment.tool}", width
    )
    yield from _logs(made.cases, made.cache)


def _logs(cases: Iterable[TriedCase], cache: str | None) -> Iterator[str]:
    if cache is not None and any(case.log for case in cases):
        yield f"logs     {cache}/trials"
