from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.rig.fake_uv import FakeUv, fake_uv, replaying
from tests.rig.provoking.__main__ import GROUPS
from tests.rig.provoking.stage import SITUATIONS
from tests.rig.uv_message import all_messages, read_message


def call(fake: FakeUv, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([fake.path, *arguments], capture_output=True, text=True, check=False, timeout=20)


def test_every_situation_has_its_message() -> None:
    assert {known.provoke.__module__ for known in SITUATIONS.values()} == {group.__name__ for group in GROUPS}
    saved = {message.name: (message.situation, message.blame) for message in all_messages()}
    assert saved == {name: (known.text, known.blame) for name, known in SITUATIONS.items()}


def test_messages_name_no_path_of_a_machine() -> None:
    for message in all_messages():
        text = message.command + message.stdout + message.stderr
        assert not [word for word in ("/root", "/tmp", "/home", "/work") if word in text], message.name


def test_a_message_is_read_as_uv_said_it() -> None:
    message = read_message("no-space-in-cache")
    assert (message.status, message.blame) == (1, "disk")
    assert message.stderr.endswith("No space left on device (os error 28)\n")


def test_a_fake_repeats_real_words_and_is_real_otherwise(tmp_path: Path) -> None:
    message = read_message("no-space-in-cache")
    fake = replaying(tmp_path, message, times=1)
    failed = call(fake, "pip", "install", "--python", "nowhere", "toy")
    assert (failed.returncode, failed.stderr) == (1, message.stderr)
    assert call(fake, "--version").stdout.startswith("uv ")
    assert call(fake, "pip", "install", "--help").returncode == 0
    assert fake.struck() == 1
    assert fake.calls()[0] == ["pip", "install", "--python", "nowhere", "toy"]


@pytest.mark.parametrize(("status", "seen"), [(-9, -9), (0, 0), (2, 2)])
def test_a_fake_ends_as_told(tmp_path: Path, status: int, seen: int) -> None:
    fake = fake_uv(tmp_path, when=("venv",), status=status, stderr="words\n")
    ended = call(fake, "venv", "somewhere")
    assert (ended.returncode, ended.stderr) == (seen, "words\n")
