"""A database that several hosts share: leases, addresses of logs, what is true of one kind of host only."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

# SQLite takes texts of any length whatever the type says; PostgreSQL does not, and names of files are longer than these.
_TOO_SHORT = {
    "trials": {"identity": 200, "device": 100, "case_name": 100, "package": 100, "version": 100},
    "unusable": {"identity": 200, "device": 100, "package": 100, "version": 100},
    "healths": {"identity": 200, "device": 100},
    "runs": {"spec": 100, "package": 100},
}


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        for table, columns in _TOO_SHORT.items():
            for column, length in columns.items():
                op.alter_column(
                    table, column, existing_type=sa.String(length), type_=sa.Text(), existing_nullable=False
                )
    op.add_column("trials", sa.Column("log", sa.Text()))
    with op.batch_alter_table("unusable") as batch:
        batch.add_column(sa.Column("host", sa.String(64), nullable=False, server_default=""))
        batch.drop_constraint("uq_unusable_identity_setting_device", type_="unique")
        batch.create_unique_constraint(
            "uq_unusable_identity_setting_device_host", ["identity", "setting", "device", "host"]
        )
    op.create_table(
        "leases",
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("taken", sa.Float(), nullable=False),
        sa.Column("beat", sa.Float(), nullable=False),
        sa.Column("span", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_leases"),
    )


def downgrade() -> None:
    op.drop_table("leases")
    with op.batch_alter_table("unusable") as batch:
        batch.drop_constraint("uq_unusable_identity_setting_device_host", type_="unique")
        batch.drop_column("host")
        batch.create_unique_constraint("uq_unusable_identity_setting_device", ["identity", "setting", "device"])
    op.drop_column("trials", "log")
