"""The words that `deploy/` gives to the program are words that the program knows."""

from __future__ import annotations

import re

from click.testing import CliRunner

from bisect_tool.cli import cli
from bisect_tool.settings import Settings
from tests.deploy.schemas import DEPLOY, documents, pods

OWN = {"BISECT_SPECS", "BISECT_OUT", "BISECT_PROGRAM", "BISECT_REQUEUES"}  # variables of the Slurm script itself


def test_every_option_that_is_used_is_one_of_batch() -> None:
    (job,), (rayjob,) = (documents(DEPLOY / name) for name in ("kubernetes/batch.yaml", "ray/rayjob.yaml"))
    scripts = [(DEPLOY / name).read_text() for name in ("slurm/bisect-batch.sbatch", "action/run")]
    commands = [line for text in scripts for line in text.splitlines() if line.startswith('"$program" batch')]
    words = " ".join(
        [*job["spec"]["template"]["spec"]["containers"][0]["args"], rayjob["spec"]["entrypoint"], *commands]
    )
    used = set(re.findall(r"--[a-z][a-z-]+", words)) | {
        "--channel",
        "--from",
        "--to",
        "--device",
    }  # the last are the action's
    known = CliRunner().invoke(cli, ["batch", "--help"]).output
    assert {"--out", "--shard", "--executor", "--plain"} <= used
    assert {option for option in used if not re.search(rf"{option}\b(?!-)", known)} == set()


def test_every_variable_that_is_set_is_a_setting() -> None:
    files = [DEPLOY / "kubernetes" / "batch.yaml", DEPLOY / "ray" / "rayjob.yaml"]
    templates = [template for path in files for document in documents(path) for _, template in pods(document)]
    found = {
        one["name"]
        for template in templates
        for container in template["spec"]["containers"]
        for one in container["env"]
    }
    script = (DEPLOY / "slurm" / "bisect-batch.sbatch").read_text()
    found |= set(re.findall(r"\bBISECT_[A-Z_]+", script)) - OWN
    settings = {f"BISECT_{name.upper()}" for name in Settings.__dataclass_fields__}
    assert "BISECT_STORE" in found
    assert {name for name in found if name.startswith("BISECT_")} - settings == set()
