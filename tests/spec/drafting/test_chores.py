from __future__ import annotations

import pytest

from bisect_tool.errors import SpecError
from tests.spec.drafting.drafts import draft_of


def todo(code: str, text: str = "conv fails\n\nRuntimeError: bad\n") -> str:
    return "\n".join(draft_of(f"{text}\n```python\nimport torch\n{code}\n```").todo)


@pytest.mark.parametrize(
    ("code", "path"),
    [
        ('torch.load("weights.pth")', "weights.pth"),
        ("import numpy as np\nnp.load('bad.npz')", "bad.npz"),
        ('open("./data/x.txt", "r")', "./data/x.txt"),
        ('import pandas as pd\npd.read_csv("x.csv")', "x.csv"),
    ],
)
def test_a_file_that_the_report_does_not_have(code: str, path: str) -> None:
    assert f"reads `{path}`" in todo(code)


@pytest.mark.parametrize(
    "code",
    [
        'torch.save(1, "w.pth")\ntorch.load("w.pth")',
        'open("x.txt", "w")\nopen("x.txt")',
        'open("/proc/self/statm")',
        'torch.load(path := "w")',
    ],
)
def test_a_file_that_the_code_writes_or_that_is_everywhere(code: str) -> None:
    assert "reads `" not in todo(code)


@pytest.mark.parametrize(
    "code",
    [
        "import torchvision\ntorchvision.models.resnet18(pretrained=True)",
        "from transformers import AutoModel\nAutoModel.from_pretrained('x/y')",
        "import requests\nrequests.get('x')",
        "torch.hub.load('a', 'b')",
        "import pandas as pd\npd.read_csv('https://example.org/x.csv')",
    ],
)
def test_code_that_downloads(code: str) -> None:
    assert "downloads" in todo(code)


def test_code_that_downloads_nothing() -> None:
    assert todo("import torchvision\ntorchvision.models.resnet18(pretrained=False)") == ""


def test_a_device_that_is_not_known_here() -> None:
    assert '"mps"' in todo('torch.ones(1, device="mps")')


GRAPH_BREAKS = "torch.all has graph breaks since 2.6\n\nUnsupported: out variants\n"


def test_a_graph_break_ends_no_script() -> None:
    code = "f = torch.compile(torch.sin)\nf(torch.ones(1))"
    assert "fullgraph" in todo(code, GRAPH_BREAKS)
    assert todo(code.replace("sin)", "sin, fullgraph=True)"), GRAPH_BREAKS) == ""
    assert "fullgraph" not in todo(code, "wrong values after a graph break\n")


def test_a_report_that_does_not_say_how_it_fails() -> None:
    assert "quotes no error" in todo("torch.ones(1)", "Since 2.9 ones is not as before\n")
    assert "quotes no error" not in todo("assert torch.ones(1) == 1", "Since 2.9 ones is not as before\n")


def test_the_example_of_an_assertion_is_one_of_the_package() -> None:
    (told,) = draft_of("sympy: wrong value\n\n```python\nfrom sympy import pi\nprint(pi + 1)\n```").todo
    assert "`assert actual == expected`" in told
    assert "torch.testing" in todo("print(torch.ones(1))", "ones is wrong\n")


def test_a_line_of_the_code_that_is_no_python() -> None:
    told = todo("x = torch.ones([,1])\ny = torch.ones(1)\nprint(y)")
    assert told.startswith("line 7 of the report is no Python (invalid syntax) and was left out")


def test_text_behind_the_code_is_missed_by_nobody() -> None:
    assert todo("print(torch.ones(1))\nand this is what it gives") == ""


def test_links_and_pictures_are_told() -> None:
    link = "https://gist.github.com/me/0123456789abcdef"
    with pytest.raises(SpecError) as caught:
        draft_of(f"It is slow\n\ncode: {link}\n\n![x](https://example.org/x.png)\n")
    assert f"line 3: a link, which is not followed: save what it leads to ({link})" in caught.value.what
    assert "line 5: a picture" in caught.value.what
