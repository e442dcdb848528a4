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
        sa.Column("question", sa.String(64), nullable=False),
        sa.Column("run", sa.String(32), nullable=False),
        sa.Column("repro", sa.String(64), nullable=False),
        sa.Column("spec", _text(200), nullable=False),
        sa.Column("package", _text(200), nullable=False),
        sa.Column("device", _text(200), nullable=False),
        sa.Column("identity", sa.String(12), nullable=False),
        sa.Column("failure", _text(200), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("finished", sa.Integer(), nullable=False),
        sa.Column("entry", sa.JSON(), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("ended", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_found_failures"),
    )
    for column in ("question", "run"):
        op.create_index(f"ix_found_failures_{column}", "found_failures", [column])
    op.create_table(
        "failure_words",
        sa.Column("word", _text(100), nullable=False),
        sa.Column("found", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("word", "found", name="pk_failure_words"),
    )
    # Whether the report of a run was looked at for the index; the reports of before are taken in little by little.
    op.add_column("runs", sa.Column("found", sa.Integer()))
    where = sa.text("found IS NULL AND outcome IS NOT NULL")
    op.create_index("ix_runs_ended", "runs", ["ended"], sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    op.drop_index("ix_runs_ended", "runs")
    with op.batch_alter_table("runs") as runs:
        runs.drop_column("found")
    op.drop_table("failure_words")
    op.drop_table("found_failures")
