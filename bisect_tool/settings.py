"""The settings: flags over environment over file over default, and each value knows where it came from."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from bisect_tool.errors import SettingError
from bisect_tool.quantities import format_size
from bisect_tool.setting_values import READERS, without_password

PACKAGE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting; `sources` tells where each value came from.

    `bandwidth` is in bytes a second and `max_cache` in bytes, None without a bound. `verify` is the number of fresh trials
    that both sides of a change need on top of the first. `index` None: the usual settings of uv and pip decide.
    `nightly_index` None: PyTorch's own.
    `jobs` are the slots, None: one for each GPU, one on the CPU. `ahead` environments are made before they are needed, for
    at most `max_downloads` bytes in all (None: no bound). `wait_for_gpu` are the seconds for a card that others use.
    `repo` is a clone of the repository that the package is developed in; without it GitHub is asked, at `github_api`.
    `executor` says where trials run (`local`, `ray`; `docs/ray.md`), `ray_address` where Ray's cluster is: `auto`, `host:port`,
    `ray://host:port`, or `local` for one that lasts as long as the run.
    `store` is the address of the results database and `logs` that of a folder for the logs of trials, both None: those of the
    cache (`docs/store.md`). `lease` are the seconds without a sign of life after which another host's work is taken over.
    `server` is the address of a server of bisect for `submit`, `watch` and `when`, `token` what it is shown (docs/service.md).
    `thin`: `auto` when nightlies may be looked at thin first (`docs/speed.md`), else `off`.
    `sandbox`: `off`, `auto` where it works, `on` or nothing is run (`docs/security.md`); `sandbox_shows` are further paths that
    processes inside may read, with `:` between. `trial_…` bound one trial: bytes of memory, of disk and of one file, processes,
    seconds of processors; 0 without a bound, None as usual (`bisect_tool.trials.limits`).
    `watch_every` is how often, in seconds, a server looks for new builds of open failures, 0: never; it does so for
    `watch_days` days. `reviews` is the share of its answers that it runs again each day (`docs/watches.md`). `keep_days` is how
    long it keeps what was sent and what has happened (`docs/service-queue.md`).
    """

    ahead: int
    bandwidth: int | None
    cache: Path
    executor: str
    github_api: str | None
    index: str | None
    jobs: int | None
    keep_days: int
    lease: int
    logs: str | None = field(repr=False)
    max_cache: int | None
    max_downloads: int | None
    nightly_index: str | None
    ray_address: str
    repo: Path | None
    reviews: float
    sandbox: str
    sandbox_shows: str | None
    server: str | None
    store: str | None = field(repr=False)
    thin: str
    token: str | None = field(repr=False)
    trial_cpu: int | None
    trial_disk: int | None
    trial_file_size: int | None
    trial_memory: int | None
    trial_processes: int | None
    verify: int
    wait_for_gpu: int
    watch_days: int
    watch_every: int
    wheelhouse: Path | None
    sources: Mapping[str, str]

    def explain(self) -> list[tuple[str, str, str]]:
        """Name, value and source of every setting, for people."""
        shown = {
            "ahead": str(self.ahead) if self.ahead else "off",
            "bandwidth": f"{format_size(self.bandwidth)}/s" if self.bandwidth is not None else "no bound",
            "cache": str(self.cache),
            "executor": self.executor,
            "github-api": without_password(self.github_api) or "GitHub's own",
            "index": without_password(self.index) or "as uv and pip are set up",
            "jobs": str(self.jobs) if self.jobs else "one for each GPU, 1 on the CPU",
            "keep-days": f"{self.keep_days} days",
            "lease": f"{self.lease} s",
            "logs": without_secrets(self.logs) if self.logs else "the folder of the cache",
            "max-cache": format_size(self.max_cache) if self.max_cache is not None else "no bound",
            "max-downloads": format_size(self.max_downloads) if self.max_downloads is not None else "no bound",
            "nightly-index": without_password(self.nightly_index) or "PyTorch's own",
            "ray-address": without_password(self.ray_address) or "",
            "repo": str(self.repo) if self.repo else "none",
            "reviews": f"{self.reviews:.3g} of the answers a day" if self.reviews else "none",
            "sandbox": self.sandbox,
            "sandbox-shows": self.sandbox_shows or "none",
            "server": without_password(self.server) or "none",
            "store": without_secrets(self.store) if self.store else "the file of the cache",
            "thin": self.thin,
            "token": "set" if self.token else "none",
            "trial-cpu": _bound(self.trial_cpu, "{} s", "no bound"),
            "trial-disk": _bound(self.trial_disk, format_size, "64 GB"),
            "trial-file-size": _bound(self.trial_file_size, format_size, "no bound"),
            "trial-memory": _bound(self.trial_memory, format_size, "90 % of the machine's"),
            "trial-processes": _bound(self.trial_processes, "{}", "4096"),
            "verify": str(self.verify),
            "wait-for-gpu": f"{self.wait_for_gpu} s" if self.wait_for_gpu else "no",
            "watch-days": f"{self.watch_days} days",
            "watch-every": f"{self.watch_every} s" if self.watch_every else "never",
            "wheelhouse": str(self.wheelhouse) if self.wheelhouse else "none",
        }
        return [(name, value, self.sources[name.replace("-", "_")]) for name, value in shown.items()]


def _bound(value: int | None, shown: str | Callable[[int], str], usual: str) -> str:
    if value is None:
        return usual
    if not value:
        return "no bound"
    return shown.format(value) if isinstance(shown, str) else shown(value)


def without_secrets(address: str) -> str:
    """An address without user, password and options, any of which may hold a secret."""
    return re.sub(r"://.*@", "://", address.partition("?")[0])


def read_settings(
    flags: Mapping[str, object], environ: Mapping[str, str], home: Path, *, package: Path = PACKAGE
) -> Settings:
    """All settings; a flag that is None was not given. `package` is where this tool lies.

    Raises `SettingError`.
    """
    file = _settings_file(environ, home)
    from_file = _read_file(file, named=bool(environ.get("BISECT_CONFIG")))
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    cache = _default_cache(environ, home, package)
    defaults: dict[str, object] = {
        "ahead": 2,
        "cache": cache,
        "executor": "local",
        "ray_address": "auto",
        "keep_days": 90,
        "lease": 180,
        "reviews": 0.02,
        "sandbox": "off",
        "thin": "auto",
        "verify": 2,
        "wait_for_gpu": 0,
        "watch_days": 180,
        "watch_every": 1800,
    }
    for name in READERS:
        variable = f"BISECT_{name.upper()}"
        places = (
            (f"--{name.replace('_', '-')}", flags.get(name)),
            (variable, environ.get(variable) or None),
            (str(file), from_file.get(name)),
            ("default", defaults.get(name)),
        )
        source, value = next((place for place in places if place[1] is not None), ("default", None))
        values[name] = None if value is None else _read(name, value, source)
        sources[name] = source
    return Settings(**values, sources=sources)


def _read(name: str, value: object, source: str) -> Any:
    try:
        return READERS[name](value)
    except ValueError as error:
        raise SettingError(
            f"the setting {name.replace('_', '-')} cannot be used: {error}", where=source, advice="correct the value"
        ) from error


def _settings_file(environ: Mapping[str, str], home: Path) -> Path:
    if named := environ.get("BISECT_CONFIG"):
        return Path(named)
    return Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "bisect" / "config.toml"


def _read_file(path: Path, *, named: bool) -> dict[str, Any]:
    """The settings of the file, with `_` for `-`; empty when there is none and nobody `named` it."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        if not named:
            return {}
        raise SettingError(
            "the settings file that BISECT_CONFIG names does not exist", where=str(path), advice="correct BISECT_CONFIG"
        ) from error
    except (OSError, ValueError) as error:
        raise SettingError(
            f"the settings file cannot be read: {error}", where=str(path), advice="correct it"
        ) from error
    settings = {name.replace("-", "_"): value for name, value in found.items()}
    for name in settings:
        if name not in READERS:
            near = get_close_matches(name, READERS, 1)
            meant = f"; did you mean {near[0].replace('_', '-')!r}?" if near else ""
            raise SettingError(
                f"the settings file has an unknown key {name.replace('_', '-')!r}{meant}",
                where=str(path),
                advice=f"keys are {', '.join(key.replace('_', '-') for key in READERS)}",
            )
    return settings


def _default_cache(environ: Mapping[str, str], home: Path, package: Path) -> Path:
    """The folder `cache/` of a checkout, else the user's cache folder."""
    checkout = package.parent
    if (checkout / ".git").exists() and (checkout / "cache" / "README.md").exists():
        return checkout / "cache"
    return Path(environ.get("XDG_CACHE_HOME") or home / ".cache") / "bisect"
