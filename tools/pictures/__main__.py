"""`python -m tools.pictures`: make the pictures of `docs/` again: of a real run over releases of click, and of the service.

The run needs the package index; the screenshots need a Chromium (`--chromium`, or the first on the path).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from tools.pictures.drawing import draw
from tools.pictures.recording import record

ROOT = Path(__file__).resolve().parents[2]
WIDTH, HEIGHT = 100, 32  # characters; what a longer report has below is cut off
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@click.command()
@click.option("--spec", default="click-flag-value-type", show_default=True, help="A folder of repro_specs/.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=ROOT / "docs" / "pictures")
@click.option("--chromium", default=next(filter(None, map(shutil.which, BROWSERS)), None), help="The browser.")
@click.option("--only", type=click.Choice(["run", "service"]), help="Make only the pictures of one kind.")
def main(spec: str, out: Path, chromium: str | None, only: str | None) -> None:
    """Record `bisect run`, and take pictures of its HTML report and of the pages of the service."""
    out.mkdir(parents=True, exist_ok=True)
    if only != "service":
        picture_run(spec, out, chromium)
    if only != "run":
        picture_service(out, chromium)


def picture_service(out: Path, chromium: str | None) -> None:
    """Screenshots of the pages of the service."""
    from tools.pictures.service_pages import photograph_service

    if chromium is None:
        raise click.ClickException("no Chromium: name one with --chromium")
    for shot in photograph_service(chromium, out):
        click.echo(f"{shot.name}, {shot.stat().st_size // 1000} kB")


def picture_run(spec: str, out: Path, chromium: str | None) -> None:
    """A recording of `bisect run`, and screenshots of its report."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        page = folder / "report.html"
        environ = {**os.environ, "BISECT_CACHE": str(folder / "cache"), "TERM": "xterm-256color", "COLORTERM": ""}
        command = [sys.executable, "-m", "bisect_tool", "run", f"repro_specs/{spec}/spec.yaml", "--html", str(page)]
        frames = record(command, environ, width=WIDTH, height=3 * HEIGHT)
        (out / "run.svg").write_text(
            draw(frames, width=WIDTH, height=HEIGHT, fastest=0.3, longest=1.5), encoding="utf-8"
        )
        click.echo(f"{len(frames)} frames in run.svg, {(out / 'run.svg').stat().st_size // 1000} kB")
        if not page.exists():
            raise click.ClickException("the run wrote no report")
        if chromium is None:
            raise click.ClickException("no Chromium: name one with --chromium")
        for shot, size in (("report", "1100,1500"), ("report-phone", "400,1200")):
            photograph(chromium, page, out / f"{shot}.png", size)


def photograph(chromium: str, page: Path, shot: Path, size: str) -> None:
    """A picture of a page, `size` being width,height in pixels. Raises `subprocess.CalledProcessError`."""
    with tempfile.TemporaryDirectory() as profile:
        words = ["--headless=new", "--no-sandbox", "--hide-scrollbars", f"--user-data-dir={profile}"]
        words += [f"--window-size={size}", f"--screenshot={shot}", page.as_uri()]
        subprocess.run([chromium, *words], check=True, capture_output=True, timeout=120)
    click.echo(f"{shot.name}, {shot.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
