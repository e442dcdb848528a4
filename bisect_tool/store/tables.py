"""The tables of the results database. A change here needs a migration in `migrations/versions/`."""

from __future__ import annotations

from sqlalchemy import JSON, Column, Float, Index, Integer, MetaData, String, Table, Text, UniqueConstraint

metadata = MetaData(naming_convention={
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
})  # fmt: skip

# What a result depends on: the content of the repro, the case, the content of the wheel, the setting (interpreter, extra
# requirements, base) and the kind of device.
trials = Table(
    "trials",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("repro", String(64), nullable=False),
    Column("case_digest", String(64), nullable=False),
    Column("identity", String(200), nullable=False),
    Column("setting", String(64), nullable=False),
    Column("device", String(100), nullable=False),
    Column("case_name", String(100), nullable=False),
    Column("package", String(100), nullable=False),
    Column("version", String(100), nullable=False),
    Column("observation", JSON, nullable=False),
    Column("folder", Text, nullable=False),
    Column("command", Text, nullable=False),
    Column("finished", String(32), nullable=False),
    Column("duration", Float, nullable=False),
    Index(None, "repro", "setting", "device", "case_digest", "identity"),
)

# Builds that cannot be installed or proven, so that they are not tried again.
unusable = Table(
    "unusable",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("identity", String(200), nullable=False),
    Column("setting", String(64), nullable=False),
    Column("device", String(100), nullable=False),
    Column("package", String(100), nullable=False),
    Column("version", String(100), nullable=False),
    Column("reason", Text, nullable=False),
    Column("found", String(32), nullable=False),
    UniqueConstraint("identity", "setting", "device"),
)

# What an environment held when it was proven: for the report, also after the environment is gone.
healths = Table(
    "healths",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("identity", String(200), nullable=False),
    Column("setting", String(64), nullable=False),
    Column("device", String(100), nullable=False),
    Column("health", JSON, nullable=False),
    Column("found", String(32), nullable=False),
    UniqueConstraint("identity", "setting", "device"),
)

# One row for each run of a spec, with its report once it has one.
runs = Table(
    "runs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("spec", String(100), nullable=False),
    Column("repro", String(64), nullable=False),
    Column("package", String(100), nullable=False),
    Column("started", String(32), nullable=False),
    Column("ended", String(32)),
    Column("outcome", String(32)),
    Column("report", JSON),
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
