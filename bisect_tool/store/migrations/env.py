"""Alembic's entry point; it is only called by `bisect_tool.store.schema`, which hands over an open connection."""

from __future__ import annotations

from alembic import context

from bisect_tool.store import service_tables, tables  # noqa: F401  they fill it
from bisect_tool.store.shape import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
