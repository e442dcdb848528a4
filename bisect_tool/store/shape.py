"""What all tables share: the names of their constraints, and text of any length."""

from __future__ import annotations

from sqlalchemy import MetaData, String, Text

metadata = MetaData(naming_convention={
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
})  # fmt: skip


def text_of(length: int) -> String:
    """Text of any length. SQLite does not look at the length; what databases were made with stays the same there."""
    return String(length).with_variant(Text(), "postgresql")
