"""What a worker hands to the process that answers a question, as one line of JSON through a pipe.

It may hold a password, which neither the arguments nor the environment of a process keep from others of the same user.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from bisect_tool.environments.isolation import PASSED
from bisect_tool.service.question import Purpose
from bisect_tool.settings import Settings

# What the tool and uv need; whatever may hold a secret is left out.
_NEEDED = re.compile(
    r"^(PATH|HOME|TMPDIR|XDG_\w+|LD_LIBRARY_PATH|PYTHON\w+|VIRTUAL_ENV|UV_\w+|PIP_\w+|BISECT_\w+|COVERAGE_\w+|"
    r"(http|https|all|no)_proxy)$",
    re.IGNORECASE,
)
_SECRET = re.compile(r"TOKEN|SECRET|PASSW|KEY|CREDENTIAL|USERNAME|AUTH|BISECT_(STORE|LOGS|INDEX)$", re.IGNORECASE)
_OF_LIBRARIES = re.compile(r"^(PG|AWS_|GOOGLE_|GCLOUD_|AZURE_|FSSPEC_)\w*$")


@dataclass(frozen=True, slots=True)
class Order:
    """`spec` is the path of the spec, in the folder that is the child's own; `parent` the process that waits for it.

    `after`: trials that were stored up to this number do not count, None: all do. `device` is used instead of what the spec
    says. `token` is for GitHub's API, `libraries` are the variables that those for databases and logs read for themselves.
    `narrow`: what an answer rests on, where that alone is run again (`asking_again`).
    """

    spec: str
    settings: Settings
    purpose: Purpose
    device: str | None
    after: int | None
    parent: int
    token: str | None = field(default=None, repr=False)
    libraries: Mapping[str, str] = field(default_factory=dict, repr=False)
    narrow: dict[str, Any] | None = None

    def line(self) -> str:
        """The order as a line."""
        needed = replace(
            self.settings, token=None, server=None
        )  # what a client shows to a server is none of its business
        values = {name: _plain(value) for name, value in asdict(needed).items()}
        return (
            json.dumps({field.name: getattr(self, field.name) for field in fields(self)} | {"settings": values}) + "\n"
        )


def read_order(line: str) -> Order:
    """The inverse of `Order.line`."""
    values = json.loads(line)
    settings = {
        one.name: _typed(one.type, values["settings"][one.name]) for one in fields(Settings) if one.name != "sources"
    }
    sources = dict.fromkeys(settings, "the worker")
    made = Settings(**settings, sources=sources)
    return replace(Order(**values), settings=made, purpose=Purpose(values["purpose"]))


def environment_of(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of the process that answers: those of the worker that hold no secret."""
    return {
        name: value
        for name, value in environ.items()
        if (PASSED.match(name) or _NEEDED.match(name)) and not _SECRET.search(name)
    }


def for_libraries(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables from which libraries take passwords for the database and for logs that lie elsewhere."""
    return {name: value for name, value in environ.items() if _OF_LIBRARIES.match(name)}


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def _typed(kind: Any, value: Any) -> Any:
    return Path(value) if value is not None and "Path" in str(kind) else value
