from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.image.building import copy_files
from tests.image.context import files, ignored, read_patterns
from tests.image.dockerfile import NotUnderstood, Settings, Stage, Step, copied, copied_from, needed, parse

ROOT = Path(__file__).resolve().parents[2]
HADOLINT = Path(sys.executable).parent / "hadolint"
DOCKERFILE = ROOT / "Dockerfile"


def stages() -> tuple[Stage, ...]:
    return parse(DOCKERFILE.read_text(encoding="utf-8"))


def settings_of(name: str) -> Settings:
    """What the engine would know of a stage, without building it."""
    stage = next(one for one in stages() if one.name == name)
    is_own = stage.base in {one.name for one in stages()}
    settings = settings_of(stage.base).copy() if is_own else Settings()
    for step in stage.steps:
        if step.word not in {"RUN", "COPY"}:
            settings.set(step)
    return settings


def complaints(path: Path) -> str:
    return subprocess.run([HADOLINT, "--no-color", path], capture_output=True, text=True, check=False).stdout


def test_hadolint_has_nothing_to_say() -> None:
    assert complaints(DOCKERFILE) == ""


def test_hadolint_would_say_it(tmp_path: Path) -> None:
    path = tmp_path / "Dockerfile"
    path.write_text("FROM debian:latest\nRUN sudo apt-get install git\n")
    assert {"DL3007", "DL3004"} <= set(re.findall(r"DL\d+", complaints(path)))


def test_the_base_is_one_image_named_by_its_digest_which_the_labels_repeat() -> None:
    names = {stage.name for stage in stages()}
    (base,) = {stage.base for stage in stages()} - names
    found = re.fullmatch(r"(debian:bookworm-\d{8}-slim)@(sha256:[0-9a-f]{64})", base)
    assert found is not None
    labels = settings_of("bisect").labels
    told = tuple(labels[f"org.opencontainers.image.base.{key}"] for key in ("name", "digest"))
    assert told == found.groups()


@pytest.mark.parametrize("name", ["bisect", "ray"])
def test_what_the_image_starts_with(name: str) -> None:
    settings = settings_of(name)
    assert settings.user == "10001:0"
    assert settings.volumes == ["/cache"]
    assert settings.environ["BISECT_CACHE"] == "/cache"
    assert settings.entrypoint == ["/usr/bin/tini", "-s", "--", "bisect"]
    assert settings.stop_signal == "SIGTERM"
    assert (settings.environ["NVIDIA_VISIBLE_DEVICES"], settings.environ["NVIDIA_DRIVER_CAPABILITIES"]) == (
        "all",
        "compute,utility",
    )


def test_the_usual_image_comes_last_and_has_nothing_of_ray() -> None:
    assert stages()[-1].name == "bisect"
    assert [one.name for one in needed(stages(), "bisect")] == ["base", "packages", "system", "bisect"]


@pytest.mark.parametrize("name", ["build", "shared", "ray"])
def test_the_locks_of_the_image_fit_that_of_the_tool(name: str) -> None:
    """They are installed beside each other. After a change of requirements.lock: `deploy/image/lock`."""
    ours, theirs = (versions(ROOT / path) for path in ("requirements.lock", f"deploy/image/{name}.lock"))
    assert theirs
    assert {key: value for key, value in theirs.items() if ours.get(key, value) != value} == {}


def versions(lock: Path) -> dict[str, str]:
    """Name and version of every requirement; each must have a hash."""
    entries = re.findall(
        r"^([A-Za-z0-9._-]+)==(\S+)[^\n]*\\\n\s+--hash=sha256:", lock.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(entries) == len(re.findall(r"^[A-Za-z0-9]", lock.read_text(encoding="utf-8"), re.MULTILINE))
    return dict(entries)


def test_every_file_that_is_copied_is_sent() -> None:
    sent = files(ROOT)
    sources = [
        source
        for stage in stages()
        for step in stage.steps
        if step.word == "COPY" and copied_from(step) is None
        for source in copied(step)[0]
    ]
    assert len(sources) == 8
    assert [one for one in sources if not any(Path(one) in (path, *path.parents) for path in sent)] == []


def test_nothing_is_sent_that_is_not_copied() -> None:
    top = {path.parts[0] for path in files(ROOT)}
    assert top == {"LICENSE", "README.md", "bisect_tool", "deploy", "pyproject.toml", "requirements.lock"}
    assert not [path for path in files(ROOT) if "__pycache__" in path.parts]


def test_the_last_line_that_fits_decides() -> None:
    patterns = read_patterns("# all but one folder\n*\n!kept\n**/*.pyc\n!kept/*/this.pyc\n")
    sent = ["kept/a.py", "kept/b/this.pyc"]
    kept_back = ["a.py", "kept/a.pyc", "kept/b/c/other.pyc", "other/kept/a.py"]
    assert [ignored(Path(path), patterns) for path in (*sent, *kept_back)] == [False, False, True, True, True, True]


def test_lines_are_joined_and_comments_between_them_left_out() -> None:
    (stage,) = parse("FROM debian:bookworm AS a\nRUN one \\\n    # said of two\n    && two\nUSER 1:0\n")
    assert stage == Stage("a", "debian:bookworm", (Step("RUN", "one && two", 2), Step("USER", "1:0", 5)))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("FROM debian:bookworm\n", id="a stage without a name"),
        pytest.param("FROM a AS b\nADD x y\n", id="an instruction that is not carried out"),
        pytest.param("RUN true\n", id="a step before any stage"),
    ],
)
def test_what_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(NotUnderstood):
        parse(text)


def test_a_name_that_nothing_has_set_is_refused() -> None:
    settings = Settings()
    settings.set(Step("ARG", "VERSION=1.2", 1))
    settings.set(Step("LABEL", 'version="${VERSION}"', 2))
    assert settings.labels == {"version": "1.2"}
    with pytest.raises(NotUnderstood, match="REVISION"):
        settings.set(Step("LABEL", "revision=$REVISION", 3))


def test_a_folder_gives_its_content_and_a_file_keeps_its_name(tmp_path: Path) -> None:
    checkout, root = tmp_path / "checkout", tmp_path / "root"
    (checkout / "tool" / "part").mkdir(parents=True)
    (checkout / "tool" / "part" / "a.py").write_text("a")
    (checkout / "README").write_text("read")
    (checkout / ".dockerignore").write_text("*\n!tool\n!README\n")
    copy_files(checkout, ["tool"], root / "tool", is_folder=False)
    copy_files(checkout, ["README"], root, is_folder=True)
    assert sorted(str(path.relative_to(root)) for path in root.rglob("*.*")) == ["tool/part/a.py"]
    assert (root / "README").read_text() == "read"
    with pytest.raises(NotUnderstood, match="secret"):
        copy_files(checkout, ["secret"], root, is_folder=True)
