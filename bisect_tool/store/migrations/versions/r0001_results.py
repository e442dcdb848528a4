"""Trials, unusable builds, healths and runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _key() -> list[sa.Column[str]]:
    return [
        sa.Column("identity", sa.String(200), nullable=False),
        sa.Column("setting", sa.String(64), nullable=False),
        sa.Column("device", sa.String(100), nullable=False),
    ]


def upgrade() -> None:
    op.create_table(
        "trials",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("repro", sa.String(64), nullable=False),
        sa.Column("case_digest", sa.String(64), nullable=False),
        *_key(),
        sa.Column("case_name", sa.String(100), nullable=False),
        sa.Column("package", sa.String(100), nullable=False),
        sa.Column("version", sa.String(100), nullable=False),
        sa.Column("observation", sa.JSON(), nullable=False),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("command", sa.Text(), nullable=False),
        sa.Column("finished", sa.String(32), nullable=False),
        sa.Column("duration", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_trials"),
    )
    op.create_index(
        "ix_trials_repro_setting_device_case_digest_identity",
        "trials",
        ["repro", "setting", "device", "case_digest", "identity"],
    )
    op.create_table(
        "unusable",
        sa.Column("id", sa.Integer(), nullable=False),
        *_key(),
        sa.Column("package", sa.String(100), nullable=False),
        sa.Column("version", sa.String(100), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("found", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_unusable"),
        sa.UniqueConstraint("identity", "setting", "device", name="uq_unusable_identity_setting_device"),
    )
    op.create_table(
        "healths",
        sa.Column("id", sa.Integer(), nullable=False),
        *_key(),
        sa.Column("health", sa.JSON(), nullable=False),
        sa.Column("found", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_healths"),
        sa.UniqueConstraint("identity", "setting", "device", name="uq_healths_identity_setting_device"),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("spec", sa.String(100), nullable=False),
        sa.Column("repro", sa.String(64), nullable=False),
        sa.Column("package", sa.String(100), nullable=False),
        sa.Column("started", sa.String(32), nullable=False),
        sa.Column("ended", sa.String(32)),
        sa.Column("outcome", sa.String(32)),
        sa.Column("report", sa.JSON()),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )


def downgrade() -> None:
    for table in ("runs", "healths", "unusable", "trials"):
        op.drop_table(table)
