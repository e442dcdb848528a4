"""What every run needs, opened once: the cache, uv, and from these the environments, the results and the channels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from bisect_tool.builds.channel import Access
from bisect_tool.environments.cache_folder import CacheFolder, open_cache
from bisect_tool.environments.environment import Environments
from bisect_tool.environments.locks import exclusive
from bisect_tool.environments.uv import Uv, find_uv
from bisect_tool.history.source import HistoryAccess, token_in
from bisect_tool.runs.confining import confined
from bisect_tool.runs.recent import FRESH
from bisect_tool.runs.surveying import Means
from bisect_tool.settings import Settings
from bisect_tool.store.address import read_address
from bisect_tool.store.database import Patience
from bisect_tool.store.logs import SharedLogs
from bisect_tool.store.outbox import Outbox
from bisect_tool.store.results import Results, open_results


@dataclass(frozen=True, slots=True)
class Workshop:
    """What every run needs, opened once; `forgotten` is as in `Results`."""

    settings: Settings
    cache: CacheFolder
    uv: Uv
    environ: Mapping[str, str] = field(repr=False)
    forgotten: int | None = None

    def means(self, tell: Callable[[str], None] = lambda _line: None, *, refresh: bool = True) -> Means:
        """How questions are prepared; `tell` takes lines about what takes a while. `refresh`: GitHub is asked again."""
        settings = self.settings
        access = Access(settings.index, settings.wheelhouse, self.cache.pages, settings.nightly_index, tell)
        history = HistoryAccess(
            clone=settings.repo,
            token=token_in(self.environ),
            cache=self.cache.pages,
            api=settings.github_api,
            repositories=self.cache.repositories,
            environ=self.environ,
            fresh_for=0.0 if refresh else FRESH.total_seconds(),
        )
        return Means(access, history, self.uv, self.environ)

    def results(self, tell: Callable[[str], None] = lambda _line: None) -> Results:
        """The results database, opened; `tell` takes lines about a server that does not answer, or logs that stay here.

        Raises what `open_results` raises.
        """
        settings, own = self.settings, self.cache.database
        results = open_results(
            read_address(settings.store, own) if settings.store else own,
            lambda: exclusive(self.cache.locks / "database.lock"),
            patience=Patience(tell),
            span=settings.lease,
            logs=SharedLogs(settings.logs, tell) if settings.logs else None,
            outbox=Outbox(self.cache.root) if settings.store else None,
        )
        return replace(results, forgotten=self.forgotten)

    def environments(self) -> Environments:
        """The environments of the cache."""
        settings = self.settings
        return Environments(self.cache, self.uv, self.environ, settings.max_cache, bandwidth=settings.bandwidth)


def open_workshop(settings: Settings, environ: Mapping[str, str]) -> Workshop:
    """Open the cache and find uv.

    Raises `CacheNotWritable`, `CacheTooNew`, `DiskFull`, `UvMissing`, `SettingError` for a sandbox that has to be and does not
    work.
    """
    environ = confined(settings, environ)  # of the trials: better now than in the first of them
    cache = open_cache(settings.cache)
    return Workshop(settings, cache, find_uv(cache.uv, environ), environ)
