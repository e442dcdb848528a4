"""The surveys of one run: specs that ask for the same builds share them, and every listing and interpreter is found once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from bisect_tool.builds.build import Listing, Wanted
from bisect_tool.builds.channel import Access, Channel
from bisect_tool.environments.interpreter import Interpreter
from bisect_tool.environments.uv import Uv
from bisect_tool.errors import BisectError
from bisect_tool.runs.device import Device
from bisect_tool.runs.surveying import COMMITS, Means, Stage, Survey, Wishes, survey
from bisect_tool.spec.model import Spec

T = TypeVar("T")
WHOLE = {"release", "wheelhouse"}  # channels that list everything, whatever the bounds


@dataclass(slots=True)
class _Kept:
    """What was found under each key, or the error that came instead, which then comes again."""

    found: dict[object, object] = field(default_factory=dict)

    def get(self, key: object, find: Callable[[], T]) -> T:
        if key not in self.found:
            try:
                self.found[key] = find()
            except BisectError as error:
                self.found[key] = error
        kept = self.found[key]
        if isinstance(kept, BisectError):
            raise kept
        return kept  # type: ignore[return-value]  # what `find` of the same key gave


@dataclass(slots=True)
class Surveys:
    """Makes surveys as `survey` does; of one run, in which indexes and interpreters stay as they are."""

    _kept: _Kept = field(default_factory=_Kept)

    def survey(
        self, spec: Spec, folder: Path, wishes: Wishes, means: Means, stage: Stage | None = None, *, least: int = 2
    ) -> Survey:
        """The builds of a spec. Raises what `survey` raises."""
        stage = stage or Stage(spec.channel[0], spec.from_, spec.to)
        asked = (
            spec.package,
            spec.source,
            spec.variant,
            spec.device,
            spec.python,
            spec.base,
            wishes.pre,
            wishes.yanked,
        )
        # A path to an interpreter is meant from the folder of the spec.
        place = folder if spec.python is not None and "/" in spec.python else None
        key = ("survey", asked, place, stage, least)
        found = self._kept.get(key, lambda: survey(spec, folder, wishes, self._sharing(means), stage, least=least))
        return replace(found, spec=spec)

    def _sharing(self, means: Means) -> Means:
        """Means that find each device, each interpreter and each listing once."""
        kept = self._kept

        def device(wanted: Sequence[str], environ: Mapping[str, str]) -> Device:
            return kept.get(("device", tuple(wanted)), lambda: means.find_device(wanted, environ))

        def interpreter(wanted: str | None, uv: Uv, *, keep_environment: bool = False) -> Interpreter:
            key = ("interpreter", wanted, keep_environment)
            return kept.get(key, lambda: means.find_python(wanted, uv, keep_environment=keep_environment))

        def spares(own: Interpreter, uv: Uv) -> tuple[str, ...]:
            return kept.get(("spares", own.identity), lambda: means.find_spares(own, uv))

        def channel(name: str, access: Access) -> Channel:
            if name == COMMITS:
                return means.open_channel(name, access)
            made = kept.get(("channel", name), lambda: _Listed(means.open_channel(name, access), name, kept))
            return cast("Channel", made)

        return replace(means, find_device=device, find_python=interpreter, find_spares=spares, open_channel=channel)


class _Listed:
    """A channel that lists the same once. Everything else is that of the channel, parts that only some have too."""

    def __init__(self, channel: Channel, name: str, kept: _Kept) -> None:
        self._channel = channel
        self._name = name
        self._kept = kept

    def listing(self, wanted: Wanted) -> Listing:
        """As the channel gives it."""
        key = replace(wanted, from_=None, to=None) if self._name in WHOLE else wanted
        return self._kept.get(("listing", self._name, key), lambda: self._channel.listing(wanted))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._channel, name)
