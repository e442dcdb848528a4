"""New builds that were noticed, and old answers that were found again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def _text(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.Text(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "watched",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("package", _text(100), nullable=False),
        sa.Column("channel", _text(100), nullable=False),
        sa.Column("newest", sa.Text()),
        sa.Column("polled", sa.Float()),
        sa.Column("error", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_watched"),
        sa.UniqueConstraint("package", "channel", name="uq_watched_package_channel"),
    )
    op.create_table(
        "reviews",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("question", sa.String(24), nullable=False),
        sa.Column("job", sa.Integer(), nullable=False),
        sa.Column("of_run", sa.String(32), nullable=False),
        sa.Column("run", sa.String(32)),
        sa.Column("picked", sa.Float(), nullable=False),
        sa.Column("ended", sa.Float()),
        sa.Column("verdict", sa.String(16)),
        sa.Column("detail", sa.JSON()),
        sa.PrimaryKeyConstraint("id", name="pk_reviews"),
        sa.UniqueConstraint("job", name="uq_reviews_job"),
    )
    op.create_index("ix_reviews_question", "reviews", ["question"])


def downgrade() -> None:
    op.drop_table("reviews")
    op.drop_table("watched")
