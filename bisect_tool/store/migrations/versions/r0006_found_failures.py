"""Failures are found by their words."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def _text(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.Text(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "found_failures",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run", sa.String(32), nullable=False),
        sa.Column("repro", sa.String(64), nullable=False),
        sa.Column("spec", _text(100), nullable=False),
        sa.Column("package", _text(100), nullable=False),
        sa.Column("device", _text(100), nullable=False),
        sa.Column("failure", _text(100), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("entry", sa.JSON(), nullable=False),
        sa.Column("ended", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_found_failures"),
    )
    op.create_index("ix_found_failures_repro", "found_failures", ["repro"])
    op.create_index("ix_found_failures_run", "found_failures", ["run"])
    op.create_table(
        "failure_words",
        sa.Column("word", _text(100), nullable=False),
        sa.Column("found", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("word", "found", name="pk_failure_words"),
    )


def downgrade() -> None:
    op.drop_table("failure_words")
    op.drop_table("found_failures")
