"""The tables of the service, in the same database as the results. A change here needs a migration in `migrations/versions/`.

Times are those of the clock of the database, in seconds since 1970.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from bisect_tool.store.shape import metadata, text_of

# What was asked: a spec with its files. `digest` is that of the content, so that asking twice is asking once; `run` is the run
# whose report is the answer, `repro` what the trials are stored under.
questions = Table(
    "questions",
    metadata,
    Column("id", String(24), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("name", text_of(100), nullable=False),
    Column("title", Text, nullable=False),
    Column("package", text_of(100), nullable=False),
    Column("channel", text_of(100), nullable=False),
    Column("issue", Text),
    Column("spec", Text, nullable=False),
    Column("repro", String(64), nullable=False),
    Column("owner", text_of(100), nullable=False),
    Column("source", Text),
    Column("state", String(16), nullable=False),
    Column("outcome", String(32)),
    Column("run", String(32)),
    Column("error", JSON),
    Column("submitted", Float, nullable=False),
    Column("changed", Float, nullable=False),
    UniqueConstraint("digest"),
    Index(None, "changed"),
    Index(None, "state", "changed"),
    Index(None, "package", "changed"),
    Index(None, "repro"),
    Index(None, "run"),
)

question_files = Table(
    "question_files",
    metadata,
    Column("question", String(24), primary_key=True),
    Column("path", text_of(300), primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

# Work on a question. `lease` is of the last taking that worked on it, `beat` its last sign of life; `cancel` is 1 when
# somebody wants it to end. `attempts` counts those that a fault of the machine ended since the last new trial. `seconds_a_day`
# is the budget of the owner, `used` the seconds of takings before the last; `host_lane` is where it was begun. For a job that
# asks afresh trials up to the number `forgotten` do not count.
jobs = Table(
    "jobs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("question", String(24), nullable=False),
    Column("purpose", String(16), nullable=False),
    Column("state", String(16), nullable=False),
    Column("priority", Integer, nullable=False),
    Column("lane", text_of(100), nullable=False),
    Column("host_lane", text_of(100)),
    Column("avoid", Text),
    Column("owner", text_of(100), nullable=False),
    Column("seconds_a_day", Float),
    Column("used", Float, nullable=False),
    Column("forgotten", Integer),
    Column("queued", Float, nullable=False),
    Column("not_before", Float, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("cancel", Integer, nullable=False),
    Column("lease", String(64)),
    Column("worker", String(32)),
    Column("beat", Float),
    Column("span", Float),
    Column("started", Float),
    Column("ended", Float),
    Column("run", String(32)),
    Column("outcome", String(32)),
    Column("error", JSON),
    Index(None, "state", "lane"),
    Index(None, "question"),
    Index(None, "started"),
)

# What happened during the work on a question, for whoever watches it.
job_events = Table(
    "job_events",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("question", String(24), nullable=False),
    Column("job", Integer, nullable=False),
    Column("at", Float, nullable=False),
    Column("kind", String(40), nullable=False),
    Column("body", JSON, nullable=False),
    Index(None, "question", "id"),
    sqlite_autoincrement=True,  # who has read up to an id misses nothing, also after old ones were removed
)

workers = Table(
    "workers",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("lanes", JSON, nullable=False),
    Column("state", String(16), nullable=False),
    Column("about", Text, nullable=False),
    Column("done", Integer, nullable=False),
    Column("started", Float, nullable=False),
    Column("beat", Float, nullable=False),
    Column("span", Float, nullable=False),
)

# Who may do what; of a token only the digest is kept. `seconds_a_day` is how long workers work for it, None:
# without a bound.
tokens = Table(
    "tokens",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("name", text_of(100), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("scopes", JSON, nullable=False),
    Column("seconds_a_day", Float),
    Column("created", Float, nullable=False),
    Column("expires", Float),
    Column("revoked", Float),
    UniqueConstraint("name"),
    UniqueConstraint("digest"),
)

# Every failure of the last report of a question (`found_rows`), and the words that find it; one row without a `failure` where
# there is none. `finished` is 0 when the run was cut short. `words` are those of `failure_words`, a space between.
found_failures = Table(
    "found_failures",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("question", String(64), nullable=False),
    Column("run", String(32), nullable=False),
    Column("repro", String(64), nullable=False),
    Column("spec", text_of(200), nullable=False),
    Column("package", text_of(200), nullable=False),
    Column("device", text_of(200), nullable=False),
    Column("identity", String(12), nullable=False),
    Column("failure", text_of(200), nullable=False),
    Column("title", Text, nullable=False),
    Column("finished", Integer, nullable=False),
    Column("entry", JSON, nullable=False),
    Column("words", Text, nullable=False),
    Column("ended", String(32), nullable=False),
    Index(None, "question"),
    Index(None, "run"),
)

# One index for all that a failure is found by, in the order of the rows: the newest are read without looking at the others,
# whatever the planner of a database believes of a key. Keys are words too: `package=torch` (`found_rows`).
failure_words = Table(
    "failure_words",
    metadata,
    Column("word", text_of(100), primary_key=True),
    Column("found", Integer, primary_key=True),
)

# What is told to others: a comment on an issue, a call of a webhook. `key` says what it is about, so that nothing
# is sent twice; `gist` is the digest of what a comment says, without what differs from run to run. `lease` is of the sender
# that works on it until `until`. `repository` and `created`: comments are counted for each repository and day.
posts = Table(
    "posts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", String(64), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("address", Text, nullable=False),
    Column("question", String(24), nullable=False),
    Column("body", Text, nullable=False),
    Column("gist", String(64), nullable=False),
    Column("state", String(16), nullable=False),
    Column("remote", Text),
    Column("lease", String(64)),
    Column("until", Float),
    Column("repository", text_of(200)),
    Column("created", Float),
    Column("attempts", Integer, nullable=False),
    Column("not_before", Float, nullable=False),
    Column("made", Float, nullable=False),
    Column("sent", Float),
    Column("error", Text),
    UniqueConstraint("key"),
    Index(None, "state", "not_before"),
    Index(None, "question"),
    Index(None, "repository", "created"),
)

# Jobs whose end was told, or need not be.
told = Table(
    "told",
    metadata,
    Column("job", Integer, primary_key=True, autoincrement=False),
    Column("at", Float, nullable=False),
)

# Deliveries of GitHub that have been taken care of: it sends some twice.
deliveries = Table(
    "deliveries",
    metadata,
    Column("id", text_of(100), primary_key=True),
    Column("received", Float, nullable=False),
    Column("outcome", Text, nullable=False),
)

# Comments on GitHub that asked for a search. `comment` is the id of the comment, `report` what the issue said then, `notes`
# what the draft of the spec guessed.
asked = Table(
    "asked",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("comment", text_of(40), nullable=False),
    Column("repository", text_of(200), nullable=False),
    Column("issue", Integer, nullable=False),
    Column("login", text_of(100), nullable=False),
    Column("said", Text, nullable=False),
    Column("report", JSON, nullable=False),
    Column("state", String(16), nullable=False),
    Column("question", String(24)),
    Column("notes", JSON),
    Column("error", Text),
    Column("lease", String(64)),
    Column("until", Float),
    Column("received", Float, nullable=False),
    UniqueConstraint("comment"),
    Index(None, "state"),
    Index(None, "question"),
)

# A stream of builds that is looked at from time to time: a package on a channel, for one kind of machine and one Python (empty:
# that of the server). `newest` is its newest build, `fresh` when something new was seen last, `replaced` when a file was last
# found replaced, `due` when it is to be looked at next; `faults` counts the looks in a row that failed.
watched = Table(
    "watched",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("package", text_of(100), nullable=False),
    Column("channel", text_of(100), nullable=False),
    Column("variant", text_of(100), nullable=False),
    Column("device", text_of(100), nullable=False),
    Column("python", text_of(100), nullable=False),
    Column("newest", Text),
    Column("fresh", Float),
    Column("replaced", Float),
    Column("polled", Float),
    Column("due", Float, nullable=False),
    Column("faults", Integer, nullable=False),
    Column("error", Text),
    Column("source", Text),
    UniqueConstraint("package", "channel", "variant", "device", "python"),
)

# What was listed in a stream when it was looked at. `day` is the date of the build, `because` why a version is no build,
# `replaced` how often another file was found under its name.
listed_builds = Table(
    "listed_builds",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("stream", Integer, nullable=False),
    Column("build", text_of(200), nullable=False),
    Column("day", String(10)),
    Column("variant", Text),
    Column("identity", Text),
    Column("size", Integer().with_variant(BigInteger(), "postgresql")),
    Column("status", String(16), nullable=False),
    Column("because", Text),
    Column("replaced", Integer, nullable=False),
    Column("first_seen", Float, nullable=False),
    Column("last_seen", Float, nullable=False),
    UniqueConstraint("stream", "build"),
)

# Whether a question is watched, where somebody has said so.
watch_choices = Table(
    "watch_choices",
    metadata,
    Column("question", String(24), primary_key=True),
    Column("is_watched", Integer, nullable=False),
    Column("changed", Float, nullable=False),
)

# The answers to a question, each with its job: `before` is the run whose answer it took the place of, `newest` the last build
# of its range, `open` counts the failures that this has, `news` is what it says that the one before did not and
# `told` counts that. `channel`, `device`, `variant` and `python` say in which stream newer builds come.
answers = Table(
    "answers",
    metadata,
    Column("job", Integer, primary_key=True),
    Column("question", String(24), nullable=False),
    Column("run", String(32), nullable=False),
    Column("before", String(32)),
    Column("at", Float, nullable=False),
    Column("channel", text_of(100), nullable=False),
    Column("device", text_of(100), nullable=False),
    Column("variant", text_of(100), nullable=False),
    Column("python", text_of(100), nullable=False),
    Column("newest", Text),
    Column("open", Integer, nullable=False),
    Column("told", Integer, nullable=False),
    Column("news", JSON, nullable=False),
    Index(None, "question", "at"),
)

# The builds that the last answer of a question looked at, and what it found.
used_builds = Table(
    "used_builds",
    metadata,
    Column("question", String(24), primary_key=True),
    Column("build", text_of(200), primary_key=True),
    Column("channel", text_of(100), nullable=False),
    Column("day", String(10)),
    Column("state", String(16), nullable=False),
    Column("reason", Text),
)

# Old answers that were found again, or not.
reviews = Table(
    "reviews",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("question", String(24), nullable=False),
    Column("job", Integer, nullable=False),
    Column("of_run", String(32), nullable=False),
    Column("run", String(32)),
    Column("picked", Float, nullable=False),
    Column("ended", Float),
    Column("verdict", String(16)),
    Column("detail", JSON),
    UniqueConstraint("job"),
    Index(None, "question"),
    Index(None, "of_run"),
)
