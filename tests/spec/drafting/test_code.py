from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bisect_tool.errors import SpecError
from bisect_tool.spec.drafting.blocks import Origin, divide
from bisect_tool.spec.drafting.files import files_of
from bisect_tool.spec.drafting.report import read_report
from tests.spec.drafting.drafts import draft_of

CALL = "import torch\nprint(torch.compile(torch.sin)(torch.ones(1)))"


def blocks(text: str) -> list[tuple[int, int, Origin, str]]:
    return [(one.first, one.last, one.origin, one.code) for one in divide(read_report(text)).blocks]


def test_code_among_sentences_ends_where_the_sentences_go_on() -> None:
    text = "We ran\nimport torch\n\nx = torch.ones(\n    3,\n)\n\nOutput\n\nIt crashed."
    assert blocks(text) == [(2, 6, Origin.BARE, "import torch\n\nx = torch.ones(\n    3,\n)\n")]


def test_a_long_string_may_hold_anything() -> None:
    text = 'import torch\ns = """\nThis is prose.\nAnd more.\n"""\nprint(s)\nEnd of it.'
    assert blocks(text)[0][:2] == (1, 6)


def test_prose_that_begins_like_code_is_no_code() -> None:
    assert blocks("from the docs I see that\nimport of torch fails\nwith torch it is\nfor me: nothing") == []


def test_lines_keep_their_numbers_behind_comments_of_html() -> None:
    assert blocks(f"<!-- a\nb\nc -->\n```python\n{CALL}\n```")[0][:2] == (5, 6)


def test_a_comment_inside_code_stays() -> None:
    assert "<!-- x -->" in blocks(f'```python\n{CALL}\nprint("<!-- x -->")\n```')[0][3]


@pytest.mark.parametrize("fence", ["```", "~~~~", "``` python", "```{.python}", "```Python"])
def test_fences(fence: str) -> None:
    marks = fence[:4] if fence.startswith("~") else "```"
    assert blocks(f"text\n{fence}\n{CALL}\n{marks}\ntext")[0][3] == CALL + "\n"


def test_a_fence_in_a_list_is_dedented() -> None:
    assert (
        blocks("1. run\n   ```python\n   import torch\n   torch.ones(1)\n   ```")[0][3]
        == "import torch\ntorch.ones(1)\n"
    )


def test_output_between_fences_is_no_code() -> None:
    assert blocks("```\n[1., 2.]\n```\n```\nTrue\n```") == []


def test_shell_and_other_languages_are_no_code() -> None:
    assert blocks("```bash\nimport torch\n```\n```cpp\nfoo(1)\n```") == []


def test_of_two_scripts_the_first_with_the_most_points_wins() -> None:
    cosine = CALL.replace("sin", "cos")
    text = f"## Workaround\n```\n{CALL}\n```\n## Minimal repro\n```\n{cosine}\n```\n## Also\n```\n{CALL}\n```"
    draft = draft_of(text)
    assert "torch.cos" in draft.code
    assert [line for line, _ in draft.left_out] == [3, 13]


def test_code_that_lacks_something_says_what() -> None:
    with pytest.raises(SpecError, match=r"line 2: nothing defines `batch`, `model`"):
        draft_of("```\nimport torch\nprint(torch.compile(model)(batch))\n```")


def test_a_script_with_a_syntax_error_says_where() -> None:
    with pytest.raises(SpecError, match=r"line 2: .*never closed") as caught:
        draft_of("import torch\nprint((1)\n", is_script=True)
    assert caught.value.what.startswith("the script cannot be used")


def test_nothing_of_the_code_is_run(capsys: pytest.CaptureFixture[str]) -> None:
    draft_of("```python\nimport torch\nraise SystemExit(torch.compile(print)('ran'))\n```")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nx = " + "(" * 5000,
        "import torch\nx = " + "-" * 5000 + "1",
        "import torch\n" + "".join(" " * depth + "if x:\n" for depth in range(300)),
        "import torch\n" + '"""' * 2001,
        "```\n" * 2000,
        "<!--" * 3000,
        ">" * 5000 + "import torch",
        "Error: " * 3000,
        "2.9.0 works and 2.10 fails " * 300,
        "x = f(\n" * 1000,
        "```python\nimport torch\n" + "\0" * 100 + "\n```",
        "\ud800\udfff" + CALL,
    ],
)
def test_hostile_texts_are_refused_or_drafted(text: str) -> None:
    with suppress(SpecError):
        assert "spec.yaml" in files_of(draft_of(text))


@given(st.text(alphabet="import torch\n`~>#(){}[]:\"'=.,0129 \tdef", max_size=300))
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
def test_any_text_is_refused_or_drafted(text: str) -> None:
    with suppress(SpecError):
        assert "spec.yaml" in files_of(draft_of(text + "\n```\n" + CALL + "\n```"))
