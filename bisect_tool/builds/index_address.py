"""Which package index to ask: the flag, uv's and pip's usual settings, else the usual default.

uv: https://docs.astral.sh/uv/reference/settings/ and https://docs.astral.sh/uv/concepts/configuration-files/;
pip: https://pip.pypa.io/en/stable/topics/configuration/.
"""

from __future__ import annotations

import configparser
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from bisect_tool.errors import SettingError

_VARIABLES = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")
_NAMED = re.compile(r"[A-Za-z0-9._-]+=(?=[a-z]+:)")


@dataclass(frozen=True, slots=True)
class IndexAddress:
    """The address of an index and the setting that it came from. `url` may hold a password; the text never does."""

    url: str = field(repr=False)
    origin: str

    @property
    def is_default(self) -> bool:
        """Whether uv asks this index without being told."""
        return self.url.rstrip("/") == _usual().rstrip("/")

    def __str__(self) -> str:
        return without_credentials(self.url)


def without_credentials(url: str) -> str:
    """The address without user name and password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def find_index(
    explicit: str | None, environment: Mapping[str, str], home: Path, *, root: Path = Path("/")
) -> IndexAddress:
    """The index to use: `explicit`, else environment variables, uv.toml, pip.conf, else the default.

    `root` is where the system's settings lie, for tests.

    Raises:
        SettingError: the address is not one of http or https, or a settings file cannot be read.
    """
    if explicit:
        return _checked(explicit, "--index")
    for variable in _VARIABLES:
        if environment.get(variable):
            return _checked(_NAMED.sub("", environment[variable]), variable)
    for path, read in _files(environment, home, root):
        if path.is_file() and (url := read(path)):
            return _checked(url, str(path))
    return IndexAddress(_usual(), "the usual default")


def _usual() -> str:
    """The index that everybody asks; looked up late, because the library that knows it takes a while to load."""
    from pypi_simple import PYPI_SIMPLE_ENDPOINT

    return PYPI_SIMPLE_ENDPOINT


def _checked(url: str, origin: str) -> IndexAddress:
    url = url.strip()
    try:
        usable = urlsplit(url).scheme in {"http", "https"} and bool(urlsplit(url).hostname)
        shown = without_credentials(url)
    except ValueError:
        usable, shown = False, ""
    if not usable:
        raise SettingError(
            f"the index {shown!r} is not an http or https address",
            where=origin,
            advice="Give the address of the index; for a folder of wheels use the channel `wheelhouse`.",
        )
    return IndexAddress(url, origin)


_Reader = Callable[[Path], str | None]


def _files(environment: Mapping[str, str], home: Path, root: Path) -> Iterator[tuple[Path, _Reader]]:
    configuration = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    if environment.get("UV_CONFIG_FILE"):
        yield Path(environment["UV_CONFIG_FILE"]), _index_of_uv
    elif environment.get("UV_NO_CONFIG", "").lower() not in {"1", "true", "yes"}:
        for folder in (configuration / "uv", root / "etc/xdg/uv", root / "etc/uv"):
            yield folder / "uv.toml", _index_of_uv
    chosen = environment.get("PIP_CONFIG_FILE")
    if chosen == os.devnull:
        return
    if chosen:
        yield Path(chosen), _index_of_pip
    user = (configuration / "pip", home / ".pip")
    for folder in (*user, root / "etc/xdg/pip", root / "etc"):
        yield folder / "pip.conf", _index_of_pip


def _index_of_uv(path: Path) -> str | None:
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    indexes = settings.get("index", [])
    entries = [entry for entry in indexes if isinstance(entry, dict)] if isinstance(indexes, list) else []
    urls = [entry.get("url") for entry in entries if entry.get("default") is True]
    return next((url for url in (*urls, settings.get("index-url")) if isinstance(url, str)), None)


def _index_of_pip(path: Path) -> str | None:
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, configparser.Error) as error:
        raise _unreadable(path, error) from error
    for key in ("index-url", "index_url"):
        if parser.has_option("global", key):
            return parser.get("global", key).strip() or None
    return None


def _unreadable(path: Path, error: Exception) -> SettingError:
    # Only the kind of error: the text of a parser's error may quote a line with a password.
    return SettingError(
        f"the settings file cannot be read ({type(error).__name__})",
        where=str(path),
        advice="Correct the file, or give the index with --index.",
    )
