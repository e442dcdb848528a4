"""The rows of "every build" of the HTML page: one for each build of a case. Pure.

A long range has hundreds of them for each case, and a batch hundreds of pages: they are put together here and not in the
template, which takes ten times as long for the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from markupsafe import Markup, escape

from bisect_tool.reports.report import CasePart, Entry


def rows(case: CasePart, names: Mapping[str, str], log_of: Callable[[str, str, str], str]) -> Markup:
    """The rows of a case as HTML; `names` of failures by their ids, `log_of(case, build, log)` the address of a log."""
    # Every text is escaped below.
    return Markup("".join(_row(case.name, entry, names, log_of) for entry in case.timeline))  # noqa: S704


def _row(case: str, entry: Entry, names: Mapping[str, str], log_of: Callable[[str, str, str], str]) -> str:
    if (
        entry.state == "not tried"
        and entry.duration_s is None
        and not (entry.failures or entry.reason or entry.trials or entry.log)
    ):
        # As below, for the hundreds of which there is nothing to tell.
        return (
            f"      <tr><td><code>{escape(entry.build)}</code></td><td>{escape((entry.date or '')[:10])}</td>\n"
            "      <td>not tried</td>\n      <td></td><td></td>\n      <td></td></tr>"
        )
    link = f'<a href="{escape(log_of(case, entry.build, entry.log))}">log</a>' if entry.log else ""
    seconds = f"{entry.duration_s:.1f}" if entry.duration_s is not None else ""
    return (
        f"      <tr><td><code>{escape(entry.build)}</code></td><td>{escape((entry.date or '')[:10])}</td>\n"
        f"      <td>{''.join(_state(entry, names))}</td>\n"
        f"      <td>{entry.trials or ''}</td><td>{seconds}</td>\n"
        f"      <td>{link}</td></tr>"
    )


def _state(entry: Entry, names: Mapping[str, str]) -> Iterator[str]:
    yield entry.state
    yield from (f" {escape(names.get(name, name))}" for name in entry.failures)
    if entry.reason:
        yield f": {escape(entry.reason)}"
