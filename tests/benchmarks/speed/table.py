"""Rows that were measured, their ratios, the targets beside them, and how all that is printed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

OURS = "ours, one trial a build"  # the same work as the others do
OURS_USUAL = "ours, as it comes"
OURS_THIN = "ours, one trial a build, thin builds"
OURS_SLOTS = "ours, four slots"
OURS_OFF = "ours, nothing ahead of need"
OURS_KEPT = "ours, environments kept"
OURS_AGAIN = "ours, asked again"
PIP = "pip, a venv per step"
UV_REUSED = "uv, one environment"
UV_STEP = "uv, one per step"
TOOL = "bisect-find-first-bad, uv"
PRICED = (OURS, OURS_USUAL, OURS_OFF)
SETTINGS = ("quarter", "equal", "four")
OTHERS = (UV_REUSED, UV_STEP, TOOL)
MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Row:
    """One way of answering in one setting.

    `seconds` None: it did not answer, and `note` says why. `measured` of `steps` steps were done, the others are reckoned.
    `sent` are bytes of wheels on the wire (reckoned like the steps), `needed` those of the distinct files that the answer
    rests on, `path` the critical path in seconds, `own` the seconds that `bisect` says it spent on itself, `thin` how many
    builds were looked at thin, `wholes` how many wheels of torch were fetched whole.
    `cpu` are seconds of processor time of all its processes (reckoned like the steps): what a busy machine changes least.
    """

    setting: str
    name: str
    seconds: float | None
    steps: int = 0
    measured: int = 0
    builds: int = 0
    sent: int = 0
    is_right: bool = False
    note: str = ""
    needed: int | None = None
    path: float | None = None
    own: float | None = None
    thin: int = 0
    wholes: int = 0
    cpu: float = 0.0
    time: dict[str, float] | None = field(default=None, compare=False)

    @property
    def answered(self) -> bool:
        """Whether it found what was planted."""
        return self.seconds is not None and self.is_right


@dataclass(frozen=True, slots=True)
class Target:
    """What was wanted and what came out; `got` None: not measured. `most`: less is better."""

    what: str
    wanted: float
    got: float | None
    most: bool = False
    unit: str = "×"

    @property
    def is_met(self) -> bool | None:
        """None where there is nothing to judge."""
        if self.got is None:
            return None
        return self.got <= self.wanted if self.most else self.got >= self.wanted


def targets(rows: Sequence[Row]) -> tuple[Target, ...]:
    """Every target of the comparison, with what the rows say."""
    return (
        *(_against_pip(rows, setting) for setting in SETTINGS),
        Target("as long: best of the others / ours", 1.6, _best(rows, "equal", OURS)),
        Target("as long, thin builds: best of the others / ours", 1.6, _best(rows, "equal", OURS_THIN)),
        Target("a quarter: best of the others / ours", 1.0, _best(rows, "quarter", OURS)),
        Target("four times: best of the others / ours", 1.0, _best(rows, "four", OURS)),
        Target("four times, thin builds: best of the others / ours", 2.5, _best(rows, "four", OURS_THIN)),
        Target("four times, thin builds: whole wheels", 3, _wholes(rows), most=True, unit=""),
        Target("tiny wheels, four slots: best of the others / ours", 2.5, _best(rows, "tiny wheels", OURS_SLOTS)),
        *(_path(rows, setting, OURS, 1.15) for setting in SETTINGS),
        _path(rows, "equal", OURS_KEPT, 1.10),
        *_own(rows),
        Target("bytes fetched / needed, nothing ahead of need", 1.05, _bytes(rows, OURS_OFF), most=True),
    )


def find(rows: Iterable[Row], setting: str, name: str) -> Row | None:
    """A row that answered."""
    return next((row for row in rows if row.setting == setting and row.name == name and row.answered), None)


def ratio(rows: Iterable[Row], setting: str, other: str, ours: str) -> float | None:
    """How many times faster ours is; None where one of both did not answer."""
    kept = tuple(rows)
    theirs, own = find(kept, setting, other), find(kept, setting, ours)
    if theirs is None or own is None or not theirs.seconds or not own.seconds:
        return None
    return theirs.seconds / own.seconds


def price_of_prefetch(row: Row) -> int | None:
    """Bytes that were fetched and that the answer did not need."""
    return None if row.needed is None else max(0, row.sent - row.needed)


def _against_pip(rows: Sequence[Row], setting: str) -> Target:
    return Target(f"{_words(setting)}: pip / ours", 3.0, ratio(rows, setting, PIP, OURS))


def _best(rows: Sequence[Row], setting: str, ours: str) -> float | None:
    found = [got for other in OTHERS if (got := ratio(rows, setting, other, ours)) is not None]
    return min(found, default=None)


def _wholes(rows: Sequence[Row]) -> float | None:
    row = find(rows, "four", OURS_THIN)
    return row.wholes if row else None


def _path(rows: Sequence[Row], setting: str, name: str, wanted: float) -> Target:
    row = find(rows, setting, name)
    got = row.seconds / row.path if row and row.path and row.seconds else None
    return Target(f"{_words(setting)}, {name}: time / critical path", wanted, got, most=True)


def _own(rows: Sequence[Row]) -> Iterator[Target]:
    for setting in SETTINGS:
        row = find(rows, setting, OURS)
        got = row.own / row.steps * 1000 if row and row.own is not None and row.steps else None
        yield Target(f"{_words(setting)}: own time of a trial", 100, got, most=True, unit=" ms")


def _bytes(rows: Sequence[Row], name: str) -> float | None:
    row = find(rows, "equal", name)
    return row.sent / row.needed if row and row.needed else None


def _words(setting: str) -> str:
    return {"quarter": "a quarter", "equal": "as long", "four": "four times"}.get(setting, setting)


def render_rows(rows: Sequence[Row], told: dict[str, str]) -> str:
    """The table, setting by setting."""
    return "\n".join(line for setting, text in told.items() for line in _setting(rows, setting, text))


def _setting(rows: Sequence[Row], setting: str, text: str) -> Iterator[str]:
    own = [row for row in rows if row.setting == setting]
    if not own:
        return
    yield ""
    yield f"{text:<52}{'s':>9}{'/ ours':>8}{'steps':>7}{'builds':>8}{'MB':>8}{'CPU s':>8}{'/ path':>8}"
    base = find(own, setting, OURS) or find(own, setting, OURS_SLOTS)
    for row in own:
        yield _line(row, base.seconds if base else None)


def _line(row: Row, base: float | None) -> str:
    if row.seconds is None:
        return f"  {row.name:<50}{'–':>9}  {row.note}"
    about = "≈" if row.measured < row.steps else ""
    against = f"{row.seconds / base:.2f}" if base else ""
    path = f"{row.seconds / row.path:.2f}" if row.path else ""
    wrong = "" if row.is_right else "  WRONG ANSWER"
    thin = f"{row.wholes} whole wheels, {row.thin} builds thin" if row.thin else ""
    note = "".join(f"  {text}" for text in (thin, row.note) if text)
    figures = f"{about + format(row.seconds, '.1f'):>9}{against:>8}{row.steps:>7}{row.builds:>8}"
    return f"  {row.name:<50}{figures}{row.sent / MEGABYTE:>8.0f}{row.cpu:>8.1f}{path:>8}{wrong}{note}"


def render_targets(found: Iterable[Target]) -> str:
    """Each target with what was measured."""
    lines = ["", f"{'target':<70}{'wanted':>12}{'measured':>12}"]
    return "\n".join([*lines, *(_target(one) for one in found)])


def _target(one: Target) -> str:
    wanted = f"{'≤' if one.most else '≥'} {one.wanted:g}{one.unit}"
    got = "–" if one.got is None else f"{one.got:.2f}".rstrip("0").rstrip(".") + one.unit
    verdict = {True: "met", False: "MISSED", None: "not measured"}[one.is_met]
    return f"  {one.what:<68}{wanted:>12}{got:>12}  {verdict}"


def render_prices(rows: Iterable[Row]) -> str:
    """What fetching ahead of need cost: bytes that the answer did not need."""
    lines = []
    for row in rows:
        price = price_of_prefetch(row) if row.answered and row.name in PRICED and row.setting in SETTINGS else None
        if price is not None and row.needed:
            share = price / row.needed
            lines.append(
                f"  {_words(row.setting) + ', ' + row.name:<50}{row.needed / MEGABYTE:>9.0f} MB needed"
                f"{price / MEGABYTE:>9.0f} MB more ({share:.0%})"
            )
    return "\n".join(["", "bytes fetched that the answer did not need", *lines]) if lines else ""
