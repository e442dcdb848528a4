"""What a run asks is found by an index, also among a million trials."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_INDEXES = {
    "unusable": (("setting", "device"),),
    "healths": (("setting", "device"),),
    "runs": (("repro", "started"), ("started",)),
}


def upgrade() -> None:
    for table, indexes in _INDEXES.items():
        for columns in indexes:
            op.create_index(_name(table, columns), table, list(columns))


def downgrade() -> None:
    for table, indexes in _INDEXES.items():
        for columns in indexes:
            op.drop_index(_name(table, columns), table)


def _name(table: str, columns: tuple[str, ...]) -> str:
    return f"ix_{table}_{'_'.join(columns)}"
