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
from bisect_tool.quantities import format_size, parse_size

PACKAGE = Path(__file__).resolve().parent
MOST_VERIFY = 20
MOST_AHEAD = 100
MOST_JOBS = 1000
MOST_WAIT = 7 * 24 * 3600  # seconds
LEAST_LEASE = 5  # seconds
LEAST_WATCH = 60  # seconds between two looks at a channel
LEAST_BANDWIDTH = 10_000  # bytes a second: below it uv takes the wheel that we hand on for a server that hangs


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
    `watch_days` days. `reviews` is the share of its answers that it runs again each day (`docs/watches.md`).
    """

    ahead: int
    bandwidth: int | None
    cache: Path
    executor: str
    github_api: str | None
    index: str | None
    jobs: int | None
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
            "github-api": _without_password(self.github_api) or "GitHub's own",
            "index": _without_password(self.index) or "as uv and pip are set up",
            "jobs": str(self.jobs) if self.jobs else "one for each GPU, 1 on the CPU",
            "lease": f"{self.lease} s",
            "logs": without_secrets(self.logs) if self.logs else "the folder of the cache",
            "max-cache": format_size(self.max_cache) if self.max_cache is not None else "no bound",
            "max-downloads": format_size(self.max_downloads) if self.max_downloads is not None else "no bound",
            "nightly-index": _without_password(self.nightly_index) or "PyTorch's own",
            "ray-address": _without_password(self.ray_address) or "",
            "repo": str(self.repo) if self.repo else "none",
            "reviews": f"{self.reviews:.3g} of the answers a day" if self.reviews else "none",
            "sandbox": self.sandbox,
            "sandbox-shows": self.sandbox_shows or "none",
            "server": _without_password(self.server) or "none",
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


def _without_password(address: str | None) -> str | None:
    return re.sub(r"//[^/]*@", "//", address) if address else None


def _address(value: object) -> str:
    text = _text(value).strip().rstrip("/")
    if not re.match(r"^https?://[^/\s]+\S*\Z", text):
        raise ValueError(f"not an http or https address: {_without_password(text)!r}")
    return text


def _token(value: object) -> str:
    text = _text(value).strip()
    if not re.fullmatch(r"[!-~]{1,200}", text):
        raise ValueError("not a token")  # the value is a secret, even a wrong one
    return text


def _ray_address(value: object) -> str:
    text = _text(value).strip()
    if text not in {"auto", "local"} and not re.fullmatch(r"(ray://)?([^/\s:]+|\[[0-9A-Fa-f:]+\]):[0-9]{1,5}", text):
        raise ValueError(f"{text!r} is neither auto, local, host:port nor ray://host:port")
    return text


def _store(value: object) -> str:
    text = _text(value).strip()
    if not re.match(r"^(sqlite:///.|(postgresql(\+psycopg)?|postgres)://.)", text):
        kind = re.sub(r"[^A-Za-z0-9+]", "?", text.partition(":")[0])[:40]
        raise ValueError(f"not the address of a database: {kind}:…; it begins with sqlite:/// or postgresql+psycopg://")
    return text


def _logs(value: object) -> str:
    text = _text(value).strip()
    return text if "://" in text or "::" in text else str(_path(text))


def _size(value: object) -> int:
    return parse_size(str(value))


def _whole(least: int, most: int) -> Callable[[object], int]:
    """A reader of whole numbers in this range."""

    def read(value: object) -> int:
        if not re.fullmatch(r"-?[0-9]{1,9}", str(value)):
            raise ValueError(f"not a whole number: {str(value)!r}")
        number = int(str(value))
        if not least <= number <= most:
            raise ValueError(f"{number} is not between {least} and {most}")
        return number

    return read


def _ahead(value: object) -> int:
    return 0 if str(value) == "off" else _whole(0, MOST_AHEAD)(value)


def _jobs(value: object) -> int | None:
    return None if str(value) == "auto" else _whole(1, MOST_JOBS)(value)


def _rate(value: object) -> int:
    """Bytes a second: `20MB`, also written `20MB/s`."""
    rate = parse_size(str(value).strip().removesuffix("/s"))
    if rate < LEAST_BANDWIDTH:
        raise ValueError(f"{rate} bytes a second is too little to fetch anything; the least is {LEAST_BANDWIDTH}")
    return rate


def _count(value: object) -> int:
    if not re.fullmatch(r"-?[0-9]{1,9}", str(value)):
        raise ValueError(f"not a whole number: {str(value)!r}")
    number = int(str(value))
    if not 0 <= number <= MOST_VERIFY:
        raise ValueError(f"{number} is not between 0 and {MOST_VERIFY}")
    return number


def _share(value: object) -> float:
    """A share of 1, also written `2%`."""
    text = str(value).strip()
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise ValueError(f"{text!r} is no share, such as 0.02 or 2%")
    return share


def _watch_every(value: object) -> int:
    if str(value) in {"0", "off", "never", "False"}:
        return 0
    return _whole(LEAST_WATCH, MOST_WAIT)(value)


def _thin(value: object) -> str:
    text = "off" if value is False else str(value)  # a file of settings may say `false`
    if text not in {"auto", "off"}:
        raise ValueError(f"{text!r} is neither auto nor off")
    return text


def _sandbox(value: object) -> str:
    text = {True: "on", False: "off"}.get(value, str(value)) if isinstance(value, bool) else str(value)
    if text not in {"off", "auto", "on"}:
        raise ValueError(f"{text!r} is neither off, auto nor on")
    return text


def _shows(value: object) -> str:
    found = [Path(text) for text in _text(value).split(":") if text.strip()]
    for path in found:
        if not path.is_absolute() or path == Path("/"):
            raise ValueError(f"{str(path)!r} is no absolute path, or all there is")
    return ":".join(map(str, found))


def _bytes_or_off(value: object) -> int:
    return 0 if value is False or str(value) == "off" else parse_size(str(value))


def _number_or_off(value: object) -> int:
    return 0 if value is False or str(value) == "off" else _whole(1, 10**9)(value)


def _path(value: object) -> Path:
    try:
        return Path(_text(value)).expanduser().absolute()
    except RuntimeError as error:
        raise ValueError(f"no home folder for {str(value)!r}") from error


def _text(value: object) -> str:
    if not isinstance(value, (str, Path)) or not str(value).strip():
        raise ValueError(f"not a text, or an empty one: {value!r}")
    return str(value)


_READERS: Mapping[str, Callable[[object], Any]] = {
    "ahead": _ahead,
    "bandwidth": _rate,
    "cache": _path,
    "executor": _text,
    "github_api": _address,
    "index": _text,
    "jobs": _jobs,
    "lease": _whole(LEAST_LEASE, MOST_WAIT),
    "logs": _logs,
    "max_cache": _size,
    "max_downloads": _size,
    "nightly_index": _address,
    "ray_address": _ray_address,
    "repo": _path,
    "reviews": _share,
    "sandbox": _sandbox,
    "sandbox_shows": _shows,
    "server": _address,
    "store": _store,
    "thin": _thin,
    "token": _token,
    "trial_cpu": _number_or_off,
    "trial_disk": _bytes_or_off,
    "trial_file_size": _bytes_or_off,
    "trial_memory": _bytes_or_off,
    "trial_processes": _number_or_off,
    "verify": _whole(0, MOST_VERIFY),
    "wait_for_gpu": _whole(0, MOST_WAIT),
    "watch_days": _whole(1, 10_000),
    "watch_every": _watch_every,
    "wheelhouse": _path,
}


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
        "lease": 180,
        "reviews": 0.02,
        "sandbox": "off",
        "thin": "auto",
        "verify": 2,
        "wait_for_gpu": 0,
        "watch_days": 180,
        "watch_every": 1800,
    }
    for name in _READERS:
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
        return _READERS[name](value)
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
        if name not in _READERS:
            near = get_close_matches(name, _READERS, 1)
            meant = f"; did you mean {near[0].replace('_', '-')!r}?" if near else ""
            raise SettingError(
                f"the settings file has an unknown key {name.replace('_', '-')!r}{meant}",
                where=str(path),
                advice=f"keys are {', '.join(key.replace('_', '-') for key in _READERS)}",
            )
    return settings


def _default_cache(environ: Mapping[str, str], home: Path, package: Path) -> Path:
    """The folder `cache/` of a checkout, else the user's cache folder."""
    checkout = package.parent
    if (checkout / ".git").exists() and (checkout / "cache" / "README.md").exists():
        return checkout / "cache"
    return Path(environ.get("XDG_CACHE_HOME") or home / ".cache") / "bisect"
