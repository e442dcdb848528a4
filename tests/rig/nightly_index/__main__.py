"""``python -m tests.rig.nightly_index``: serve a nightly index by hand; it stops by itself."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from bisect_tool.quantities import parse_size
from tests.rig.nightly_index import Change, Hrefs, Missing, NightlyIndex, NightlyPlan, Real, eras
from tests.rig.wire import Wire


def _days(text: str) -> tuple[date, date]:
    first, _, last = text.partition("..")
    return date.fromisoformat(first), date.fromisoformat(last or first)


def _change(text: str) -> Change:
    case, day, do = text.split(":", 2)
    return Change(case, date.fromisoformat(day), do.strip())


def _real(text: str) -> Real:
    day, _, wheel = text.partition(":")
    return Real(date.fromisoformat(day), Path(wheel).resolve(strict=True))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.rig.nightly_index", description="Serve a nightly index.")
    parser.add_argument("--from", dest="first", type=date.fromisoformat, required=True, metavar="DATE")
    parser.add_argument("--to", dest="last", type=date.fromisoformat, required=True, metavar="DATE")
    parser.add_argument("--variants", type=_words, default=("cpu",), metavar="cpu,cu126,...")
    parser.add_argument("--pythons", type=_words, default=("cp311", "cp312"), metavar="cp311,cp313t,...")
    parser.add_argument("--machines", type=_words, default=eras.MACHINES, metavar=",".join(eras.MACHINES))
    parser.add_argument("--today", type=date.fromisoformat, help="whose evening it is (default: that of --to)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--change", type=_change, action="append", default=[], metavar="CASE:DATE:DO", help="see tests/rig/toy.py"
    )
    for name, text in (("dead", "do not import"), ("missing", "are not there"), ("stall", "come from one commit")):
        parser.add_argument(f"--{name}", type=_days, action="append", default=[], metavar="DATE[..DATE]", help=text)
    parser.add_argument(
        "--real", type=_real, action="append", default=[], metavar="DATE:WHEEL", help="a torch release from that day on"
    )
    parser.add_argument("--ballast", type=int, default=0, metavar="BYTES", help="of a library in every stand-in")
    parser.add_argument("--hrefs", choices=[one.value for one in Hrefs], default="today", help="where links point")
    parser.add_argument("--r2-since", type=date.fromisoformat, help="first day whose files the second host has")
    parser.add_argument("--storm", type=float, default=0.0, metavar="SHARE", help="how many requests fail, once each")
    wire = parser.add_argument_group("the wire", "between the hosts and their clients; left out: loopback as it is")
    wire.add_argument("--bandwidth", type=parse_size, metavar="SIZE", help="bytes a second of all connections: 30MB")
    wire.add_argument("--per-connection", type=parse_size, metavar="SIZE", help="bytes a second of each connection")
    wire.add_argument(
        "--latency", type=float, default=0.0, metavar="SECONDS", help="to and fro, also at each connection"
    )
    wire.add_argument("--slow-start", action="store_true", help="connections begin slowly, as with TCP")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--r2-port", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600.0, help="when it stops by itself")
    return parser


def _plan(chosen: argparse.Namespace) -> NightlyPlan:
    dead = [day for first, last in chosen.dead for day in _between(first, last)]
    return NightlyPlan(
        first=chosen.first,
        last=chosen.last,
        variants=chosen.variants,
        pythons=chosen.pythons,
        machines=chosen.machines,
        seed=chosen.seed,
        changes=tuple(chosen.change),
        dead=dead,
        missing=tuple(Missing(first, last) for first, last in chosen.missing),
        stalls=tuple(chosen.stall),
        real=tuple(chosen.real),
        ballast=chosen.ballast,
    )


def _between(first: date, last: date) -> list[date]:
    return [date.fromordinal(number) for number in range(first.toordinal(), last.toordinal() + 1)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted or `--seconds` are over."""
    chosen = _parser().parse_args(arguments)
    places = {"port": chosen.port, "r2_port": chosen.r2_port}
    wire = Wire(chosen.bandwidth, chosen.per_connection, chosen.latency, chosen.slow_start)
    index = NightlyIndex(
        _plan(chosen), today=chosen.today, hrefs=Hrefs(chosen.hrefs), r2_since=chosen.r2_since, wire=wire, **places
    )
    with index, contextlib.suppress(KeyboardInterrupt):
        if chosen.storm:
            index.faults.storm(chosen.seed, chosen.storm)
        print(f"nightly index  {index.address}", f"second host    {index.r2_host}", sep="\n")
        print(f"default index  {index.default_index}", flush=True)
        index.closing.wait(chosen.seconds)
    for (method, kind), count in sorted(index.requests.counts().items()):
        print(f"{count:7} {method} {kind}")
    if index.requests.written:
        print(f"{index.requests.written.total():7} bytes")


if __name__ == "__main__":
    main()
