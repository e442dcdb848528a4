"""The log of the service: one JSON object a line on the standard error, without secrets."""

from __future__ import annotations

import logging
import re
import sys
from typing import IO

from pythonjsonlogger.json import JsonFormatter

from bisect_tool.store.address import StoreAddress

_TOKEN = re.compile(r"(bisect_[0-9a-f]{16}_)[A-Za-z0-9_-]+")


class _Clean(JsonFormatter):
    """Replaces what nobody may read in a log, wherever in a line it stands."""

    def __init__(self, address: StoreAddress) -> None:
        super().__init__(
            "{asctime}{levelname}{name}{message}",
            style="{",
            rename_fields={"asctime": "time", "levelname": "level", "name": "logger"},
            datefmt="%Y-%m-%dT%H:%M:%S%z",
        )
        self._address = address

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        return self._address.without_password(_TOKEN.sub(r"\1***", super().format(record)))


def set_up_log(address: StoreAddress, stream: IO[str] | None = None, level: int = logging.INFO) -> None:
    """Send what the service and its server log to `stream`, None: the standard error."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_Clean(address))
    for name in ("bisect.service", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False
    logging.getLogger("uvicorn.access").disabled = True  # our own lines say more, and no query
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
