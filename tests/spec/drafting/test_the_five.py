"""The five reports that the project began with, and the specs that were written by hand for them.

The texts are not part of the repository: they lie beside it, or where `$BISECT_REPORTS` says.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from bisect_tool.runs.draft_folder import write_draft
from bisect_tool.runs.report_source import ReportAccess, open_report
from bisect_tool.spec.drafting.draft import make_draft
from bisect_tool.spec.drafting.files import files_of
from bisect_tool.spec.model import Role
from bisect_tool.spec.reading import ReadSpec, load_all
from tests.spec.specs import CHANNELS

ROOT = Path(__file__).resolve().parents[3]
REPORTS = Path(os.environ.get("BISECT_REPORTS") or ROOT.parent / "shared" / "reports")
NAMES = (
    "addcdiv-item-loop",
    "associative-scan-dynamic",
    "cumprod-backward-split-scan",
    "cumsum-scalar-constant",
    "diagonal-scatter-grad",
)
# What the hand-written specs call them → what a draft calls the same. `weighted` needs a change of what is computed.
CONTROLS = {
    "eager": "eager",
    "aot_eager": "aot_eager",
    "static": "static",
    "short": "below-8193",
    "two-steps": "below-3",
    "one-dim": "one-dim",
}
# What a build that fails prints, as recorded in `docs/results` and by hand.
PRINTED = {
    "associative-scan-dynamic": "RuntimeError: Unable to generate code for associative_scan op, because there are "
    "unsupported lifted arguments",
    "cumprod-backward-split-scan": "InductorError: NotImplementedError: NYI TritonSplitDimKernel reductions",
    "cumsum-scalar-constant": "InductorError: IndexError: tuple index out of range",
    "addcdiv-item-loop": "AssertionError: wrong values: compiled_out differs from eager_out",
    "diagonal-scatter-grad": "AssertionError: wrong values: x2.grad differs from x1.grad",
}  # fmt: skip

pytestmark = pytest.mark.skipif(not REPORTS.is_dir(), reason="the five reports are not beside the repository")


def drafted(name: str, folder: Path) -> ReadSpec:
    draft = make_draft(open_report(str(REPORTS / f"{name}.txt"), ReportAccess()))
    write_draft(files_of(draft), folder / name, force=False, channels=CHANNELS)
    return load_all([folder / name], channels=CHANNELS)[0]


@pytest.mark.parametrize("name", NAMES)
def test_a_draft_asks_what_the_spec_by_hand_asks(name: str, tmp_path: Path) -> None:
    made = drafted(name, tmp_path).spec
    (by_hand,) = (read.spec for read in load_all([ROOT / "repro_specs" / name], channels=CHANNELS))
    assert (made.name, made.package, made.channel, made.device) == (
        name,
        by_hand.package,
        by_hand.channel,
        by_hand.device,
    )
    assert [case.name for case in made.tests] == [case.name for case in by_hand.tests] == ["inductor"]
    controls = {case.name for case in made.cases if case.role is Role.CONTROL}
    assert controls == {CONTROLS[case.name] for case in by_hand.controls if case.name in CONTROLS}


@pytest.mark.parametrize("name", NAMES)
def test_the_range_holds_that_of_the_spec_by_hand(name: str, tmp_path: Path) -> None:
    made = drafted(name, tmp_path).spec
    assert (made.from_, made.to) == ((None, None) if name == "cumsum-scalar-constant" else ("2.11", "2.15"))


@pytest.mark.parametrize("name", NAMES)
def test_the_failure_is_known_by_what_it_prints(name: str, tmp_path: Path) -> None:
    made = drafted(name, tmp_path).spec
    assert [failure.name for failure in made.failures if re.search(failure.match, PRINTED[name])] == [
        made.failures[0].name
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_code_that_runs_on_either_device_names_neither(name: str, tmp_path: Path) -> None:
    read = drafted(name, tmp_path)
    text = (read.folder / "report.py").read_text()
    names_cuda = re.search(r"""device=['"]cuda""", text) is not None
    assert names_cuda == (read.spec.device == ("cuda",))
