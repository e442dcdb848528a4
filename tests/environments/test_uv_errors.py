from __future__ import annotations

import pytest

from bisect_tool.environments.uv_errors import Blame, explain
from tests.rig.uv_message import UvMessage, all_messages, read_message

# Every failure that was provoked with a real uv, and what it must be taken for. What matters most: nothing of the network
# or of the machine may stand in the three lines that can make a build untestable.
EXPECTED = {
    Blame.MALFORMED: "metadata-broken metadata-other-version metadata-other-version-file",
    Blame.UNFIT: "other-platform-file",
    Blame.UNSATISFIABLE: (
        "dependency-unknown dependency-version-unknown exclude-newer-too-early exclude-newer-without-times "
        "no-such-version only-sdist only-yanked other-platform other-python-tag page-404 page-not-an-index "
        "requirement-only-prerelease requirement-unknown requirements-conflict requires-python"
    ),
    Blame.DAMAGED: (
        "address-hash-differs broken-wheel-not-a-zip broken-wheel-truncated file-missing page-wrong-hash "
        "required-hash-differs wheel-is-html wheel-replaced"
    ),
    Blame.NETWORK: (
        "address-404 connection-refused metadata-404 name-not-resolved no-tls offline page-401 page-403 page-429 page-500 "
        "page-503 page-hangs page-malformed page-reset page-truncated unknown-certificate wheel-403 wheel-404 wheel-500 "
        "wheel-hangs wheel-reset wheel-truncated wheel-wrong-length"
    ),
    Blame.DISK: "file-size-limit no-inodes no-space-for-venv no-space-in-cache no-space-in-environment",
    Blame.PERMISSION: (
        "cache-is-a-file cache-not-permitted cache-read-only environment-is-a-folder environment-not-permitted "
        "environment-read-only venv-read-only"
    ),
    Blame.PYTHON: (
        "environment-dangling environment-missing no-such-python python-broken python-download-off "
        "python-download-refused python-path-missing python-prints-nonsense"
    ),
    Blame.REQUIREMENT: "requirement-malformed",
    Blame.MACHINE: "killed no-memory no-memory-to-start no-more-threads too-many-open-files",
    Blame.UV: "unknown-option uv-too-old",
    Blame.UNKNOWN: "environment-exists sdist-does-not-build",  # neither can happen: `--only-binary`, a fresh folder
}
BLAMES = {name: blame for blame, names in EXPECTED.items() for name in names.split()}
FAILURES = tuple(message for message in all_messages() if message.status != 0)


def test_the_table_names_every_failure_that_was_provoked() -> None:
    assert {message.name for message in FAILURES} == set(BLAMES)


@pytest.mark.parametrize("message", FAILURES, ids=lambda message: message.name)
def test_blame(message: UvMessage) -> None:
    assert explain(message.stderr, message.status).blame is BLAMES[message.name]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no-space-in-cache", "failed to write to file `STAGE/small/cache/.tmpXXXXXX/toy_ballast.py`: No space left on "
         "device (os error 28)"),
        ("wheel-404", "Failed to fetch: http://127.0.0.1:PORT/files/toy-1.0-py3-none-any.whl"),
        ("killed", "uv was ended by the signal SIGKILL"),
        ("requires-python", "Because the current Python version (3.11.7) does not satisfy Python>=3.99 and toy==1.0 "
         "depends on Python>=3.99, we can conclude that toy==1.0 cannot be used. And because you require toy==1.0, we can "
         "conclude that your requirements are unsatisfiable."),
        ("metadata-other-version", "Wheel version does not match filename (0.0.0 != 1.0), which indicates a malformed "
         "wheel. If this is intentional, set `UV_SKIP_WHEEL_FILENAME_CHECK=1`."),
    ],
)  # fmt: skip
def test_the_reason_is_the_line_that_says_it(name: str, reason: str) -> None:
    message = read_message(name)
    assert explain(message.stderr, message.status).reason == reason


def test_colours_do_not_matter() -> None:
    text = read_message("page-503").stderr.replace("error", "\x1b[1;31merror\x1b[0m")
    assert explain(text).blame is Blame.NETWORK


def test_a_warning_before_the_error_is_about_something_else() -> None:
    text = "warning: Failed to fetch the news: Connection refused\nerror: Permission denied (os error 13)\n"
    assert explain(text).blame is Blame.PERMISSION


def test_an_unknown_text_blames_nobody() -> None:
    found = explain("error: the moon is full\n")
    assert (found.blame, found.reason) == (Blame.UNKNOWN, "error: the moon is full")
    assert explain("", 3).reason == "uv ended with status 3"


def test_a_disk_quota_is_a_full_disk() -> None:
    assert explain("error: failed to write to file `x`: Disk quota exceeded (os error 122)").blame is Blame.DISK
