"""What is told to others, and what came from them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def _text(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.Text(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "posts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("question", sa.String(24), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("gist", sa.String(64), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("remote", sa.Text()),
        sa.Column("lease", sa.String(64)),
        sa.Column("until", sa.Float()),
        sa.Column("repository", _text(200)),
        sa.Column("created", sa.Float()),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("not_before", sa.Float(), nullable=False),
        sa.Column("made", sa.Float(), nullable=False),
        sa.Column("sent", sa.Float()),
        sa.Column("error", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_posts"),
        sa.UniqueConstraint("key", name="uq_posts_key"),
    )
    op.create_index("ix_posts_question", "posts", ["question"])
    op.create_index("ix_posts_state_not_before", "posts", ["state", "not_before"])
    op.create_index("ix_posts_repository_created", "posts", ["repository", "created"])
    op.create_table(
        "told",
        sa.Column("job", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("job", name="pk_told"),
    )
    op.create_table(
        "deliveries",
        sa.Column("id", _text(100), nullable=False),
        sa.Column("received", sa.Float(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
    )
    op.create_table(
        "asked",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("comment", _text(40), nullable=False),
        sa.Column("repository", _text(200), nullable=False),
        sa.Column("issue", sa.Integer(), nullable=False),
        sa.Column("login", _text(100), nullable=False),
        sa.Column("said", sa.Text(), nullable=False),
        sa.Column("report", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("question", sa.String(24)),
        sa.Column("notes", sa.JSON()),
        sa.Column("error", sa.Text()),
        sa.Column("lease", sa.String(64)),
        sa.Column("until", sa.Float()),
        sa.Column("received", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_asked"),
        sa.UniqueConstraint("comment", name="uq_asked_comment"),
    )
    op.create_index("ix_asked_question", "asked", ["question"])
    op.create_index("ix_asked_state", "asked", ["state"])


def downgrade() -> None:
    for table in ("asked", "deliveries", "told", "posts"):
        op.drop_table(table)
