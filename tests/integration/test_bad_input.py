"""What a user can do wrong, and what a machine can: one clear message with the next step, and a status of its own."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest

from tests.integration.conftest import Place, failing, history
from tests.rig.index_faults import status as answers_with
from tests.rig.scripts import script

MAIN = [{"name": "main", "args": ["main"]}]


@pytest.fixture
def shop(place: Place) -> Place:
    place.publish(history(4, failing([2, 3])))
    return place


def says(place: Place, *words: str | Path, status: int, text: str, **environ: str) -> str:
    """Run `bisect`; it must end with `status` and a message with `text` and a next step, without a traceback."""
    ran = place.run(*words, environ=environ)
    assert ran.status == status, ran.err + ran.out
    assert text in ran.err, ran.err
    assert "Traceback" not in ran.err
    return ran.err


def test_a_missing_spec(shop: Place) -> None:
    says(shop, "run", "no-such.yaml", status=10, text="no-such.yaml")


def test_a_missing_script(shop: Place) -> None:
    says(shop, "run", shop.spec(cases=MAIN, script_="gone.py"), status=10, text="gone.py")


def test_every_mistake_at_once(shop: Place) -> None:
    path = shop.spec(cases=[{"name": "a", "role": "contol"}], chanel="release", timeout=-1)
    message = says(shop, "check", path, status=10, text="channel")
    assert "control" in message
    assert "timeout" in message


def test_an_unknown_package(shop: Place) -> None:
    says(shop, "run", shop.spec(package="no-such-thing", cases=MAIN), status=13, text="no-such-thing")


def test_an_empty_range(shop: Place) -> None:
    says(shop, "run", shop.spec(cases=MAIN, from_="3.0", to="4.0"), status=12, text="1.3")


def test_from_after_to(shop: Place) -> None:
    says(shop, "run", shop.spec(cases=MAIN, from_="1.3", to="1.1"), status=11, text="1.3")


def test_a_range_of_one_build(shop: Place) -> None:
    says(shop, "run", shop.spec(cases=MAIN, from_="1.2", to="1.2"), status=12, text="1.2")


def test_a_bound_that_is_neither_version_nor_date(shop: Place) -> None:
    says(shop, "run", shop.spec(cases=MAIN, from_="yesterday"), status=11, text="yesterday")


def test_a_bound_without_a_build_moves_inwards_and_says_so(shop: Place) -> None:
    answer = shop.answer("run", shop.spec(cases=MAIN, from_="0.5", to="1.9"))
    assert any("0.5" in note for note in answer["range"]["notes"])
    assert any("1.9" in note for note in answer["range"]["notes"])


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"name: caf\xe9\n", "UTF-8"),
        (b"name: a\nname: b\n", "name"),
        (b"name: !!python/object/apply:os.system ['true']\n", "tag"),
        (b"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
         b"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n", "alias"),
        (b"", "empty"),
        (b"name: [unclosed\n", "line"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_spec(shop: Place, content: bytes, text: str) -> None:
    path = shop.root / "bad.yaml"
    path.write_bytes(content)
    says(shop, "check", path, status=10, text=text)


def test_a_spec_of_50_megabytes(shop: Place) -> None:
    path = shop.root / "huge.yaml"
    with path.open("wb") as file:
        file.truncate(50 * 1024 * 1024)
    says(shop, "check", path, status=10, text="MB")


def test_a_device_that_is_not_here(shop: Place) -> None:
    path = shop.spec(cases=MAIN, device="cuda")
    says(shop, "run", path, status=15, text="cuda", CUDA_VISIBLE_DEVICES="")


def test_no_such_python(shop: Place) -> None:
    says(shop, "run", shop.spec(cases=MAIN, python="3.99"), status=17, text="3.99", UV_PYTHON_DOWNLOADS="never")


def test_a_command_that_does_not_exist(shop: Place) -> None:
    folder = shop.specs / "command"
    folder.mkdir(parents=True)
    path = folder / "spec.yaml"
    path.write_text(
        json.dumps(
            {"name": "command", "package": "toy", "device": "cpu", "command": ["no-such-program"], "from": "1.0"}
        )
    )
    says(shop, "run", path, status=25, text="no-such-program")


def test_a_requirement_that_nobody_has(shop: Place) -> None:
    says(shop, "run", shop.spec(cases=MAIN, requires=["no-such-requirement"], from_="1.0"), status=27,
         text="no-such-requirement")  # fmt: skip


def test_an_index_that_is_down_and_a_run_that_goes_on_later(shop: Place) -> None:
    spec = shop.spec(cases=MAIN, from_="1.0")
    fault = answers_with(503)
    shop.index.plant("toy-1.3*", fault)
    ran = shop.run("run", spec)
    assert ran.status == 24, ran.err
    assert "1.3" in ran.err
    shop.index.heal()
    assert shop.answer("run", spec)["outcome"] == "exact"


def test_an_index_that_cannot_be_reached(shop: Place) -> None:
    says(shop, "run", shop.spec(cases=MAIN), "--index", "http://127.0.0.1:9/simple/", status=14, text="127.0.0.1:9")


def test_a_cache_that_cannot_be_written(shop: Place) -> None:
    blocked = shop.root / "file"
    blocked.write_text("in the way")
    says(shop, "run", shop.spec(cases=MAIN), "--cache", blocked / "cache", status=21, text="file")


def test_a_cache_made_by_a_newer_version(shop: Place) -> None:
    shop.cache.mkdir()
    (shop.cache / "bisect-cache.json").write_text('{"format": 99}')
    says(shop, "run", shop.spec(cases=MAIN), status=22, text="99")


def test_a_full_disk_stops_the_run_and_loses_nothing(shop: Place) -> None:
    small = shop.root / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(small)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("mounting a small file system needs root")
    try:
        spec = shop.spec(cases=MAIN, from_="1.0")
        ballast = small / "ballast"
        shop.extra["BISECT_CACHE"] = str(small / "cache")
        shop.run("run", spec, "--scan", "0")
        free = os.statvfs(small)
        ballast.write_bytes(b"x" * max(0, free.f_bavail * free.f_frsize - 8192))
        spec = shop.spec("other", script="import toy\nprint('x' * 100_000)\ntoy.run('main')\n", from_="1.0")
        ran = shop.run("run", spec)
        assert ran.status == 20, ran.err
        assert "prune" in ran.err
        ballast.unlink()
        assert shop.answer("run", spec)["outcome"] == "exact"
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.mark.parametrize("name", ["forks_and_never_ends", "double_forks_and_never_ends", "daemonises", "writes_binary"])
def test_a_repro_that_misbehaves_does_not_stop_the_run(shop: Place, name: str) -> None:
    spec = shop.spec(name, script=script(name).read_text(), timeout=2, from_="1.0", to="1.1", cases=[{"name": "only"}])
    ran = shop.run("run", spec, timeout=120)
    assert ran.status in (0, 4), ran.err
    survivors = subprocess.run(["pgrep", "-f", str(shop.cache / "trials")], capture_output=True, text=True, check=False)
    assert survivors.stdout == ""


def test_uv_that_is_not_there(shop: Place, tmp_path: Path) -> None:
    # A copy of the tool's own path without uv's package.
    blocker = tmp_path / "blocker"
    blocker.mkdir()
    (blocker / "uv.py").write_text("raise ImportError('no uv here')\n")
    says(shop, "run", shop.spec(cases=MAIN), status=16, text="uv", PYTHONPATH=str(blocker), PATH="/nowhere")


def test_a_report_that_cannot_be_written(shop: Place) -> None:
    folder = shop.root / "closed"
    folder.mkdir()
    target = folder / "answer.json"
    target.mkdir()
    says(shop, "run", shop.spec(cases=MAIN, from_="1.0"), "--json", target, status=28, text="answer.json")
    assert stat.S_ISDIR(target.stat().st_mode)
