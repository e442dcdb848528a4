"""How the value of each setting is read: from text on the command line, in a variable, or from a file of settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bisect_tool.quantities import parse_size

MOST_VERIFY = 20
MOST_AHEAD = 100
MOST_JOBS = 1000
MOST_WAIT = 7 * 24 * 3600  # seconds
LEAST_LEASE = 5  # seconds
# GitHub sends a delivery again when somebody asks for it within 3 days, GitHub Enterprise Server within 7
# (https://docs.github.com/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks), and a server tells of jobs
# of the last 7 days: twice as long is kept at least, so that neither a clock nor a pause matters.
LEAST_KEEP_DAYS = 14
LEAST_WATCH = 60  # seconds between two looks at a channel
LEAST_BANDWIDTH = 10_000  # bytes a second: below it uv takes the wheel that we hand on for a server that hangs


def without_password(address: str | None) -> str | None:
    """An address without user and password; None stays None."""
    return re.sub(r"//[^/]*@", "//", address) if address else None


def _address(value: object) -> str:
    text = _text(value).strip().rstrip("/")
    if not re.match(r"^https?://[^/\s]+\S*\Z", text):
        raise ValueError(f"not an http or https address: {without_password(text)!r}")
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


# The reader of each setting, by its name; it raises `ValueError` with what is wrong.
READERS: Mapping[str, Callable[[object], Any]] = {
    "ahead": _ahead,
    "bandwidth": _rate,
    "cache": _path,
    "executor": _text,
    "github_api": _address,
    "index": _text,
    "jobs": _jobs,
    "keep_days": _whole(LEAST_KEEP_DAYS, 10_000),
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
