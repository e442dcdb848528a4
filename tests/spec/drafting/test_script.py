"""The code of a draft with all its changes together."""

from __future__ import annotations

import pytest

from tests.spec.drafting.drafts import draft_of

ASKS = 'import os  # added by bisect init\n\nDEVICE = os.environ.get("BISECT_DEVICE", "cuda")  # added by bisect init\n'


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("import torch\nx = y.cuda()", f"import torch\n{ASKS}x = y.to(DEVICE)"),
        ("import torch; x = y.cuda()", f"import torch; \n{ASKS}x = y.to(DEVICE)"),
        (
            "from __future__ import annotations; import torch; x = y.cuda()",
            f"from __future__ import annotations; import torch; \n{ASKS}x = y.to(DEVICE)",
        ),
        (
            "import torch\ntorch.cuda.synchronize()\ny.cuda()",
            f'import torch\n{ASKS}DEVICE == "cuda" and torch.cuda.synchronize()\ny.to(DEVICE)',
        ),
    ],
)
def test_the_device_is_asked_for_before_it_is_used(code: str, changed: str) -> None:
    draft = draft_of(code, is_script=True)
    assert draft.code == f"{changed}\n"
    compile(draft.code, "report", "exec")


def test_code_whose_changes_would_be_no_python_stays_as_the_report_has_it() -> None:
    code = "import torch\nx = (torch.ones(1). # a.b\n  cuda())\n"
    draft = draft_of(code, is_script=True)
    assert (draft.code, draft.devices.value, draft.changes) == (code, ("cuda",), ())
    assert [line for line in draft.todo if "no Python in this code" in line]
