"""The tables of the results database. A change here needs a migration in `migrations/versions/`."""

from __future__ import annotations

from sqlalchemy import JSON, Column, Float, Index, Integer, String, Table, Text, UniqueConstraint, text

from bisect_tool.store.shape import metadata
from bisect_tool.store.shape import text_of as _text

_UNSEEN = text("found IS NULL AND outcome IS NOT NULL")

# What a result depends on: the content of the repro, the case, the content of the wheel, the setting (interpreter, extra
# requirements, base) and the kind of device.
trials = Table(
    "trials",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("repro", String(64), nullable=False),
    Column("case_digest", String(64), nullable=False),
    Column("identity", _text(200), nullable=False),
    Column("setting", String(64), nullable=False),
    Column("device", _text(100), nullable=False),
    Column("case_name", _text(100), nullable=False),
    Column("package", _text(100), nullable=False),
    Column("version", _text(100), nullable=False),
    Column("observation", JSON, nullable=False),
    Column("folder", Text, nullable=False),
    Column("command", Text, nullable=False),
    Column("finished", String(32), nullable=False),
    Column("duration", Float, nullable=False),
    Column("log", Text),
    Index(None, "repro", "setting", "device", "case_digest", "identity"),
)

# Builds that cannot be installed or proven, so that they are not tried again. `host` is empty for what is true everywhere, else
# it names the kind of host (`bisect_tool.store.hosts`) that showed it.
unusable = Table(
    "unusable",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("identity", _text(200), nullable=False),
    Column("setting", String(64), nullable=False),
    Column("device", _text(100), nullable=False),
    Column("package", _text(100), nullable=False),
    Column("version", _text(100), nullable=False),
    Column("reason", Text, nullable=False),
    Column("found", String(32), nullable=False),
    Column("host", String(64), nullable=False, server_default=""),
    UniqueConstraint("identity", "setting", "device", "host"),
    Index(None, "setting", "device"),
)

# What an environment held when it was proven: for the report, also after the environment is gone.
healths = Table(
    "healths",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("identity", _text(200), nullable=False),
    Column("setting", String(64), nullable=False),
    Column("device", _text(100), nullable=False),
    Column("health", JSON, nullable=False),
    Column("found", String(32), nullable=False),
    UniqueConstraint("identity", "setting", "device"),
    Index(None, "setting", "device"),
)

# One row for each run of a spec, with its report once it has one.
runs = Table(
    "runs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("spec", _text(100), nullable=False),
    Column("repro", String(64), nullable=False),
    Column("package", _text(100), nullable=False),
    Column("started", String(32), nullable=False),
    Column("ended", String(32)),
    Column("outcome", String(32)),
    Column("report", JSON),
    Column("found", Integer),  # 1 once its report was looked at for the index of failures (`found`)
    Index(None, "repro", "started"),
    Index(None, "started"),
    Index(None, "ended", sqlite_where=_UNSEEN, postgresql_where=_UNSEEN),
)

# Every decision of a run, as `bisect_tool.search.record` writes it: text, because it is compared to the byte. Specs that were
# run together share one record, that of the first; the others have one line that names its run.
decisions = Table(
    "decisions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run", String(32), nullable=False),
    Column("number", Integer, nullable=False),
    Column("line", Text, nullable=False),
    UniqueConstraint("run", "number"),
)

# Who works on what, where several hosts share the database (`bisect_tool.store.leases`). Times are those of the clock of the
# database, in seconds since 1970; a lease whose last beat is more than `span` seconds ago may be taken over.
leases = Table(
    "leases",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("owner", String(64), nullable=False),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("about", Text, nullable=False),
    Column("taken", Float, nullable=False),
    Column("beat", Float, nullable=False),
    Column("span", Float, nullable=False),
)
