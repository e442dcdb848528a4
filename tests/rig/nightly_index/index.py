"""A running nightly index: its two hosts, its clock, what was replaced, and the index for everything else."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from datetime import UTC, date, datetime, time
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self
from urllib.parse import quote

from tests.rig.index import serve
from tests.rig.index_state import Index, RequestLog
from tests.rig.nightly_index import default_packages, eras, releases
from tests.rig.nightly_index.bodies import Body
from tests.rig.nightly_index.catalogue import PREFIX, Catalogue, Wheel, torch_wheel
from tests.rig.nightly_index.contents import Contents, Replacement
from tests.rig.nightly_index.faults import FaultBook
from tests.rig.nightly_index.pages import Hrefs, has_metadata
from tests.rig.nightly_index.plan import Change, Cut, NightlyPlan
from tests.rig.nightly_index.server import NightlyServer
from tests.rig.wheel_maker import WheelFault
from tests.rig.wire import Wire

EVENING = time(23, 30)


class NightlyIndex:
    """A nightly index on 127.0.0.1, from ``with`` to the end of the block.

    `today` is the day whose evening it is (left out: the plan's last): later files are not there, older ones are listed
    as they were then. `r2_since` is the first day whose files the second host has (None: all), `password` (``me:secret``)
    what the first host asks for. Requests to both hosts are in `requests`, those for other packages in
    `default_requests`. `wire` bounds bandwidth and latency of all hosts together.
    """

    def __init__(
        self,
        plan: NightlyPlan,
        *,
        today: date | None = None,
        hrefs: Hrefs = Hrefs.AS_OF_TODAY,
        r2_since: date | None = None,
        password: str | None = None,
        compress: bool = True,
        port: int = 0,
        r2_port: int = 0,
        wire: Wire | None = None,
    ) -> None:
        self.plan = plan
        self.catalogue = Catalogue(plan)
        self.contents = Contents(plan)
        self.hrefs = hrefs
        self.r2_since = r2_since
        self.password = password
        self.compress = compress
        self.wire = wire or Wire()
        self.requests = RequestLog()
        self.faults = FaultBook(lambda: self.now)
        self.closing = threading.Event()
        self.now = _evening(today or plan.last)
        self._ports = (port, r2_port)
        self._replacements: tuple[Replacement, ...] = ()
        self._withdrawn: tuple[str, ...] = ()
        self._lock = threading.RLock()
        self._default: Index | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self.first = self._stack.enter_context(NightlyServer(self, self._ports[0], host="first").running())
        self.second = self._stack.enter_context(NightlyServer(self, self._ports[1], host="r2").running())
        self._stack.callback(self.closing.set)
        self._stack.callback(self.wire.closing.set)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def address(self) -> str:
        """What stands for ``https://download.pytorch.org/whl/nightly``."""
        return f"{self.host}/{PREFIX}"

    @property
    def host(self) -> str:
        """What stands for ``https://download.pytorch.org``."""
        return f"http://127.0.0.1:{self.first.port}"

    @property
    def r2_host(self) -> str:
        """What stands for ``https://download-r2.pytorch.org``."""
        return f"http://127.0.0.1:{self.second.port}"

    @property
    def default_index(self) -> str:
        """The simple index with everything else: dependencies, and traps such as a triton without ``+git``."""
        return self.default.url

    @property
    def default(self) -> Index:
        """The same as a rig index of its own, with `log` and `plant`; it starts when it is asked for."""
        with self._lock:
            if self._default is None:
                folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="rig-default-index-")))
                default_packages.make(folder)
                releases.make(folder, self.plan)
                self._default = self._stack.enter_context(serve(folder, compress=self.compress, wire=self.wire))
            return self._default

    @property
    def today(self) -> date:
        """The day whose evening it is."""
        return self.now.date()

    @today.setter
    def today(self, day: date) -> None:
        self.now = _evening(day)

    def torch(self, day: date, variant: str | None = None, python: str | None = None, machine: str = "x86_64") -> Wheel:
        """The torch wheel of a day, whether or not it was built; left out, the plan's first variant and Python."""
        chosen, tag = variant or self.plan.variants[0], python or self.plan.pythons[0]
        return torch_wheel(self.plan, eras.base_version(day, self.plan.seed), day, chosen, tag, machine)

    def url(self, wheel: Wheel, *, r2: bool = False) -> str:
        """The direct address of a wheel."""
        return f"{self.r2_host if r2 else self.host}/{quote(wheel.key)}"

    def is_there(self, wheel: Wheel, *, r2: bool = False) -> bool:
        """Whether a host has the file at this moment."""
        late = r2 and self.r2_since is not None and wheel.uploaded.date() < self.r2_since
        withdrawn = any(fnmatchcase(wheel.filename, pattern) for pattern in self._withdrawn)
        return wheel.uploaded <= self.now and not late and not withdrawn

    def find(self, key: str, *, r2: bool = False) -> Wheel | None:
        """The wheel at a path, if the host has it at this moment."""
        wheel = self.catalogue.find(key)
        return wheel if wheel and self.is_there(wheel, r2=r2) else None

    def listed(self, package: str, folder: str, moment: datetime) -> tuple[Wheel, ...]:
        """What a page lists that was made at `moment`."""
        found = self.catalogue.listed(package, folder, moment)
        return tuple(w for w in found if not any(fnmatchcase(w.filename, pattern) for pattern in self._withdrawn))

    def withdraw(self, pattern: str) -> None:
        """Take files away, from pages and hosts."""
        self._withdrawn += (pattern,)

    def replace(
        self,
        pattern: str,
        *,
        at: datetime | None = None,
        changes: Sequence[Change] | None = None,
        cut: Cut | None = None,
        broken: Collection[WheelFault] | None = None,
    ) -> None:
        """Upload the files of a pattern again under the same names: other bytes, ETag and time, and what is given.

        `at` is when (left out: now); before that moment the old content is served. `changes` are taken instead of the
        plan's, `cut` is what the new files were built from. Raises `ValueError` for faults that real releases cannot have.
        """
        self.plan.check_faults(broken or ())
        faults = None if broken is None else frozenset(broken)
        new = Replacement(pattern, at or self.now, None if changes is None else tuple(changes), cut, faults)
        self._replacements += (new,)

    def modified(self, wheel: Wheel) -> datetime:
        """When the content of a file became what it is."""
        done = self._replaced(wheel)
        return done[-1].moment if done else wheel.uploaded

    def body(self, wheel: Wheel) -> Body:
        """The content of a wheel; made when it is first asked for, the same every time."""
        return self.contents.body(wheel, self._replaced(wheel))

    def metadata(self, wheel: Wheel) -> str | None:
        """What ``.metadata`` next to a wheel says; None where there is none."""
        return self.contents.metadata(wheel, self._replaced(wheel)) if has_metadata(wheel) else None

    def _replaced(self, wheel: Wheel) -> tuple[Replacement, ...]:
        return tuple(r for r in self._replacements if r.moment <= self.now and fnmatchcase(wheel.filename, r.pattern))


def _evening(day: date) -> datetime:
    return datetime.combine(day, EVENING, UTC)
