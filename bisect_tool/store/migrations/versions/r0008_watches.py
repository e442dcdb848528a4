"""Streams of builds that are watched, the answers to a question, and old answers that were found again."""

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
    _watched()
    _listed_builds()
    _watch_choices()
    _answers()
    _used_builds()
    _reviews()


def downgrade() -> None:
    for table in ("reviews", "used_builds", "answers", "watch_choices", "listed_builds", "watched"):
        op.drop_table(table)


def _watched() -> None:
    op.create_table(
        "watched",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("package", _text(100), nullable=False),
        sa.Column("channel", _text(100), nullable=False),
        sa.Column("variant", _text(100), nullable=False),
        sa.Column("device", _text(100), nullable=False),
        sa.Column("python", _text(100), nullable=False),
        sa.Column("newest", sa.Text()),
        sa.Column("fresh", sa.Float()),
        sa.Column("replaced", sa.Float()),
        sa.Column("polled", sa.Float()),
        sa.Column("due", sa.Float(), nullable=False),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text()),
        sa.Column("source", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_watched"),
        sa.UniqueConstraint(
            *("package", "channel", "variant", "device", "python"),
            name="uq_watched_package_channel_variant_device_python",
        ),
    )


def _listed_builds() -> None:
    op.create_table(
        "listed_builds",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("stream", sa.Integer(), nullable=False),
        sa.Column("build", _text(200), nullable=False),
        sa.Column("day", sa.String(10)),
        sa.Column("variant", sa.Text()),
        sa.Column("identity", sa.Text()),
        sa.Column("size", sa.Integer().with_variant(sa.BigInteger(), "postgresql")),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("because", sa.Text()),
        sa.Column("replaced", sa.Integer(), nullable=False),
        sa.Column("first_seen", sa.Float(), nullable=False),
        sa.Column("last_seen", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_listed_builds"),
        sa.UniqueConstraint("stream", "build", name="uq_listed_builds_stream_build"),
    )


def _watch_choices() -> None:
    op.create_table(
        "watch_choices",
        sa.Column("question", sa.String(24), nullable=False),
        sa.Column("is_watched", sa.Integer(), nullable=False),
        sa.Column("changed", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("question", name="pk_watch_choices"),
    )


def _answers() -> None:
    op.create_table(
        "answers",
        sa.Column("job", sa.Integer(), nullable=False),
        sa.Column("question", sa.String(24), nullable=False),
        sa.Column("run", sa.String(32), nullable=False),
        sa.Column("before", sa.String(32)),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("channel", _text(100), nullable=False),
        sa.Column("device", _text(100), nullable=False),
        sa.Column("variant", _text(100), nullable=False),
        sa.Column("python", _text(100), nullable=False),
        sa.Column("newest", sa.Text()),
        sa.Column("open", sa.Integer(), nullable=False),
        sa.Column("told", sa.Integer(), nullable=False),
        sa.Column("news", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("job", name="pk_answers"),
    )
    op.create_index("ix_answers_question_at", "answers", ["question", "at"])


def _used_builds() -> None:
    op.create_table(
        "used_builds",
        sa.Column("question", sa.String(24), nullable=False),
        sa.Column("build", _text(200), nullable=False),
        sa.Column("channel", _text(100), nullable=False),
        sa.Column("day", sa.String(10)),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.PrimaryKeyConstraint("question", "build", name="pk_used_builds"),
    )


def _reviews() -> None:
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
    op.create_index("ix_reviews_of_run", "reviews", ["of_run"])
