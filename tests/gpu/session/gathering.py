"""From what the parts left to the results: a summary as JSON and Markdown, and one archive with every report and log."""

from __future__ import annotations

import json
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.gpu.session.place import ROOT, Place

_VERSIONS = "import json, torch; print(json.dumps({'torch': torch.__version__, 'cuda': torch.version.cuda}))"
LARGEST_LOG = 4_000_000  # bytes of a log in the archive
LARGEST_ARCHIVE = 15_000_000  # bytes; what is larger does not come back from the machine


def machine(place: Place) -> dict[str, Any]:
    """What the session runs on."""
    query = "--query-gpu=name,driver_version,memory.total,memory.used,compute_cap,temperature.gpu"
    revision = _said("git", "-C", str(ROOT), "rev-parse", "HEAD")
    return {
        "gpu": _said("nvidia-smi", query, "--format=csv,noheader"),
        "kernel": _said("uname", "-a"),
        "cpu": _said("sh", "-c", "nproc; grep -m1 'model name' /proc/cpuinfo"),
        "memory": _said("sh", "-c", "free -g | sed -n 2p"),
        "disk": _said("df", "-h", str(place.home)),
        "base": _said(place.python, "-c", _VERSIONS),
        "uv": _said("uv", "--version"),
        "wheels": sorted(
            path.name for path in place.wheels.glob("*.whl") if path.name.startswith(("torch-", "triton-", "nvidia"))
        ),
        "revision": revision,
        "device": place.device,
    }


def _said(*words: str) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"not known: {error}"
    return done.stdout.strip() or f"not known: {done.stderr.strip()[-200:]}"


def gather(place: Place, state: Mapping[str, Any]) -> None:
    """Write everything anew; what is there is enough at any moment."""
    reports = {path.stem: json.loads(path.read_text()) for path in sorted(place.reports.glob("*.json"))}
    summary = {**state, "reports": {name: _short(report) for name, report in reports.items()}}
    (place.out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    (place.out / "summary.md").write_text("\n".join(_lines(summary)) + "\n")
    results = place.out / "results.tar.gz"
    _pack(place, results, with_evidence=True)
    if results.stat().st_size > LARGEST_ARCHIVE:
        _pack(place, results, with_evidence=False)


def _pack(place: Place, results: Path, *, with_evidence: bool) -> None:
    with tarfile.open(results, "w:gz") as archive:
        archive.add(place.reports, "reports")
        for log in sorted(place.logs.glob("*.log")):
            if log.stat().st_size <= LARGEST_LOG:
                archive.add(log, f"logs/{log.name}")
        for folder in sorted(place.cache.glob("trials/diagnosis-*")) if with_evidence else ():
            archive.add(folder, f"evidence/{folder.name}", filter=_is_small)


def _is_small(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return member if member.size <= LARGEST_LOG and "/driver/" not in member.name else None


def _short(report: Mapping[str, Any]) -> Any:
    """What the summary takes of a report: of others everything."""
    if "cases" not in report:
        return report
    kept = ("outcome", "summary", "counts", "elapsed_s", "environment", "isolation")
    trials = [entry for case in report["cases"] for entry in case["timeline"] if entry["duration_s"]]
    seconds = [entry["duration_s"] for entry in trials]
    return {
        **{name: report[name] for name in kept if name in report},
        "range": report["range"],
        "trial_seconds": round(sum(seconds) / len(seconds), 2) if seconds else None,
        "diagnoses": [
            {name: one[name] for name in ("case", "failure", "build", "without", "part", "sentence", "bisector")}
            for one in report.get("diagnoses", ())
        ],
    }


def _lines(summary: Mapping[str, Any]) -> Sequence[str]:
    lines = ["# A session on a GPU machine", "", f"Started {summary['started']}.", ""]
    lines += [f"- {name}: {_flat(value)}" for name, value in summary["machine"].items()]
    lines += ["", "| job | ended | seconds |", "|---|---|---|"]
    lines += [f"| {name} | {_ended(done)} | {done['seconds']} |" for name, done in summary["jobs"].items()]
    for name, report in summary["reports"].items():
        lines += ["", f"## {name}", ""]
        if isinstance(report, dict) and "summary" in report:
            counts = report["counts"]
            lines += [f"- {sentence}" for sentence in report["summary"]]
            lines.append(
                f"- outcome {report['outcome']}; {counts['builds_considered']} builds, {counts['builds_installed']} installed, "
                f"{counts['trials']} trials, {report['elapsed_s']} s, {report['trial_seconds']} s for a trial"
            )
        else:
            lines += ["```json", json.dumps(report, indent=1)[:6000], "```"]
    return lines


def _flat(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else " / ".join(str(value).splitlines())


def _ended(done: Mapping[str, Any]) -> str:
    return "good" if done["is_good"] else "stopped at its limit" if done["timed_out"] else f"status {done['status']}"
