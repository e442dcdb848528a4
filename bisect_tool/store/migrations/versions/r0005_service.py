"""The questions of the service, the work on them, and who may ask."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def _text(length: int) -> sa.String:
    return sa.String(length).with_variant(sa.Text(), "postgresql")


def upgrade() -> None:
    _questions()
    _question_files()
    _jobs()
    _job_events()
    _workers()
    _tokens()


def downgrade() -> None:
    op.drop_table("tokens")
    op.drop_table("workers")
    op.drop_table("job_events")
    op.drop_table("jobs")
    op.drop_table("question_files")
    op.drop_table("questions")


def _questions() -> None:
    op.create_table(
        "questions",
        sa.Column("id", sa.String(24), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("name", _text(100), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("package", _text(100), nullable=False),
        sa.Column("channel", _text(100), nullable=False),
        sa.Column("issue", sa.Text()),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("repro", sa.String(64), nullable=False),
        sa.Column("owner", _text(100), nullable=False),
        sa.Column("source", sa.Text()),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("outcome", sa.String(32)),
        sa.Column("run", sa.String(32)),
        sa.Column("error", sa.JSON()),
        sa.Column("submitted", sa.Float(), nullable=False),
        sa.Column("changed", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_questions"),
        sa.UniqueConstraint("digest", name="uq_questions_digest"),
    )
    op.create_index("ix_questions_changed", "questions", ["changed"])
    op.create_index("ix_questions_package_changed", "questions", ["package", "changed"])
    op.create_index("ix_questions_repro", "questions", ["repro"])
    op.create_index("ix_questions_run", "questions", ["run"])
    op.create_index("ix_questions_state_changed", "questions", ["state", "changed"])


def _question_files() -> None:
    op.create_table(
        "question_files",
        sa.Column("question", sa.String(24), nullable=False),
        sa.Column("path", _text(300), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("question", "path", name="pk_question_files"),
    )


def _jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("question", sa.String(24), nullable=False),
        sa.Column("purpose", sa.String(16), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("lane", _text(100), nullable=False),
        sa.Column("host_lane", _text(100)),
        sa.Column("avoid", sa.Text()),
        sa.Column("owner", _text(100), nullable=False),
        sa.Column("seconds_a_day", sa.Float()),
        sa.Column("used", sa.Float(), nullable=False),
        sa.Column("forgotten", sa.Integer()),
        sa.Column("queued", sa.Float(), nullable=False),
        sa.Column("not_before", sa.Float(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("cancel", sa.Integer(), nullable=False),
        sa.Column("lease", sa.String(64)),
        sa.Column("worker", sa.String(32)),
        sa.Column("beat", sa.Float()),
        sa.Column("span", sa.Float()),
        sa.Column("started", sa.Float()),
        sa.Column("ended", sa.Float()),
        sa.Column("run", sa.String(32)),
        sa.Column("outcome", sa.String(32)),
        sa.Column("error", sa.JSON()),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_started", "jobs", ["started"])
    op.create_index("ix_jobs_question", "jobs", ["question"])
    op.create_index("ix_jobs_state_lane", "jobs", ["state", "lane"])


def _job_events() -> None:
    op.create_table(
        "job_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("question", sa.String(24), nullable=False),
        sa.Column("job", sa.Integer(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_job_events"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_job_events_question_id", "job_events", ["question", "id"])


def _workers() -> None:
    op.create_table(
        "workers",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("lanes", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("started", sa.Float(), nullable=False),
        sa.Column("beat", sa.Float(), nullable=False),
        sa.Column("span", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_workers"),
    )


def _tokens() -> None:
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(16), nullable=False),
        sa.Column("name", _text(100), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("seconds_a_day", sa.Float()),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("expires", sa.Float()),
        sa.Column("revoked", sa.Float()),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.UniqueConstraint("digest", name="uq_tokens_digest"),
        sa.UniqueConstraint("name", name="uq_tokens_name"),
    )
