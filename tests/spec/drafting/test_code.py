from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bisect_tool.errors import SpecError
from bisect_tool.spec.drafting.blocks import Origin, divide
from bisect_tool.spec.drafting.files import files_of
from bisect_tool.spec.drafting.report import read_report
from bisect_tool.spec.drafting.version_words import CLAUSES
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


def test_code_in_the_line_of_the_fence() -> None:
    assert blocks("```from torch import ones\nx = ones(1)\n```")[0] == (
        1,
        2,
        Origin.FENCED,
        "from torch import ones\nx = ones(1)\n",
    )


def test_a_listing_loses_its_numbers() -> None:
    text = "```\n  9 import torch\n 10\n 11 if torch:\n 12     torch.ones(1)\n```"
    assert blocks(text)[0][3] == "import torch\n\nif torch:\n    torch.ones(1)\n"


def test_lines_that_begin_with_numbers_are_no_listing() -> None:
    assert blocks("```\n1 import\n3 of\n4 torch\n```") == []


def test_code_before_the_prompts_of_its_fence() -> None:
    text = "```python\nimport torch\n\nconv = torch.nn.Conv2d(1, 1, 1)\n\nIn [2]: conv(torch.ones(1, 1, 1, 1))\nOut[2]: 1\n```"
    assert draft_of(text).code.startswith("import torch\n\nconv = torch.nn.Conv2d(1, 1, 1)\n\nconv(torch.ones")


def chosen(text: str, title: str = "") -> str:
    return draft_of(text, title=title).code.rstrip().rsplit("\n", 1)[-1]


def test_a_sentence_with_the_word_version_is_no_heading_of_versions() -> None:
    said = "The latest version of the package seems to have broken something that used to be all right:"
    assert chosen(f"{said}\n```\nimport torch\ntorch.ones(1)\n```") == "torch.ones(1)"


def test_of_two_scripts_the_one_right_under_words_that_say_that_it_fails_wins() -> None:
    one, other = (f"```\nimport torch\ntorch.{name}(1)\n```" for name in ("ones", "zeros"))
    assert chosen(f"With these lines all is correct\n{one}\nbut this one crashes\n{other}") == "torch.zeros(1)"
    assert chosen(f"This one crashes\n{one}\nbut with these lines all is correct\n{other}") == "torch.ones(1)"


def test_a_comment_in_the_code_is_no_heading_of_it() -> None:
    text = "```python\n# The output changes\n>>> import torch\n>>> torch.ones(1)\n```"
    assert "`Workaround`" not in draft_of(text).source.why


def test_of_two_scripts_the_one_with_the_code_of_the_title_wins() -> None:
    text = "```\nimport torch\ntorch.sum(torch.ones(1))\n```\n\n```\nimport torch\ntorch.sum(1.0 * torch.ones(1))\n```"
    assert chosen(text, "torch.sum(1.0*torch.ones(1)) is slow") == "torch.sum(1.0 * torch.ones(1))"


def test_names_of_sympy_that_a_report_takes_for_granted() -> None:
    text = "sympy 1.13 is wrong\n```python\nfrom sympy import integrate\nprint(integrate(ln(x), x))\n```"
    assert draft_of(text).code.split("\n")[:2] == ["from sympy import ln", "from sympy.abc import x"]


def test_a_device_that_nothing_defines() -> None:
    text = "It fails on cuda.\n```python\nimport torch\nx = torch.ones(1, device=device)\nprint(x.sum())\n```"
    draft = draft_of(text)
    assert draft.devices.value == ("cuda", "cpu")
    assert "device = DEVICE\n" in draft.code


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
        "$ " * 3000,
        "> > x " * 1000,
        "```\n" + "a b$ cat x.py\n" * 500,
        "python -c '" + '\\"' * 3000,
        "f(" * 3000,
    ],
)
def test_hostile_texts_are_refused_or_drafted(text: str) -> None:
    with suppress(SpecError):
        assert "spec.yaml" in files_of(draft_of(text))


def test_long_runs_of_blanks_end() -> None:
    """Of a fixed size; with overlapping repetitions each of them took minutes."""
    blanks = " " * 1_900
    divide(read_report("import torch\n" + f"x = f(3)\ny:{blanks}b\n" * 40))
    assert CLAUSES.split(f"A{blanks * 20}b") == [f"A{blanks * 20}b"]
    assert CLAUSES.split(f"a{blanks}but b  and it fails") == ["a", "b", "it fails"]


@pytest.mark.parametrize(
    "code",
    [
        "assert torch" + ".a" * 950,
        "raise torch" + ".a" * 950,
        "x = torch" + ".a()" * 480 + "\nprint((x - torch.y).abs())",
    ],
)
def test_an_expression_that_is_too_deep_is_refused(code: str) -> None:
    with pytest.raises(SpecError, match="nested too deep"):
        draft_of(f"import torch\n{code}\n", title="torch gives wrong results", is_script=True)


@given(st.text(alphabet="import torch\n`~>#(){}[]:\"'=.,0129 \tdef", max_size=300))
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
def test_any_text_is_refused_or_drafted(text: str) -> None:
    with suppress(SpecError):
        assert "spec.yaml" in files_of(draft_of(text + "\n```\n" + CALL + "\n```"))
