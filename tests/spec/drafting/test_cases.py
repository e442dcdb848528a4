from __future__ import annotations

import pytest

from tests.spec.drafting.drafts import draft_of

CODE = """```python
import torch

def f(x):
    return x.cumsum(0) * 7

print(torch.compile(f, dynamic=True)(torch.ones(8193)))
```
"""


def cases(text: str, code: str = CODE) -> list[str]:
    """The names of the cases, controls in brackets."""
    return [f"[{c.value.name}]" if c.value.is_control else c.value.name for c in draft_of(f"{text}\n\n{code}").cases]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It crashes", ["[eager]", "inductor"]),
        ("It crashes. aot_eager works.", ["[eager]", "[aot_eager]", "inductor"]),
        ("It crashes. aot_eager crashes as well.", ["[eager]", "aot_eager", "inductor"]),
        ("Inductor crashes", ["[eager]", "[aot_eager]", "inductor"]),
        ("torch._dynamo.exc.Unsupported: Inductor has nothing to do with it", ["[eager]", "inductor"]),
        ("It crashes, eager also crashes.", ["inductor"]),
        ("It crashes, even in eager", ["inductor"]),
        ("It crashes under torch.compile, not in eager", ["[eager]", "inductor"]),
        ("It crashes. Static shapes work.", ["[eager]", "[static]", "inductor"]),
        ("It crashes for 8193 and above", ["[eager]", "[below-8193]", "inductor"]),
        ("It crashes for sizes > 8192", ["[eager]", "[below-8193]", "inductor"]),
        ("It crashes (≥ 8193 elements)", ["[eager]", "[below-8193]", "inductor"]),
        ("The boundary is at n = 8193", ["[eager]", "[below-8193]", "inductor"]),
        ("It crashes for 100 and above", ["[eager]", "inductor"]),
        ("It crashes with Python >= 7", ["[eager]", "inductor"]),
    ],
)
def test_what_the_text_says_makes_the_cases(text: str, expected: list[str]) -> None:
    assert cases(text) == expected


def test_a_number_that_stands_twice_in_the_code_makes_no_case() -> None:
    assert cases("fails for 8193 and above", CODE.replace("7", "8193")) == ["[eager]", "inductor"]


def test_a_small_number_is_replaced_with_what_stands_around_it() -> None:
    code = CODE.replace("return x.cumsum(0) * 7", "return [x for _ in range(3)][-1] + 0.3")
    (below,) = (c.value for c in draft_of(f"It crashes (>= 3 iterations)\n\n{code}").cases if c.value.name == "below-3")
    assert below.args == ("--replace", "range(3)", "range(2)")


def test_a_script_that_watches_the_compiler_has_no_eager_control() -> None:
    assert cases("It crashes", CODE.replace("print(", "print(torch._dynamo.explain(f), ")) == ["inductor"]


def test_without_the_compiler_there_is_one_case_and_no_runner() -> None:
    draft = draft_of("It crashes\n```\nimport torch\ntorch.ones(1).foo()\n```")
    assert ([c.value.name for c in draft.cases], draft.runs_in_runner) == (["repro"], False)


def test_options_of_the_script_come_before_cases_of_our_own() -> None:
    option = "p.add_argument('--mode', choices=['default', 'eager'])"
    code = f"```\nimport argparse, torch\np = argparse.ArgumentParser()\n{option}\ntorch.compile(p)\n```"
    assert cases("It crashes", code) == ["[eager]", "default"]


def test_requirements_are_what_the_code_imports() -> None:
    draft = draft_of(
        "It crashes\n```\nimport os, numpy, torch, sympy, PIL, utils, odd_thing\nprint(torch.ones(numpy.e))\n```"
    )
    assert draft.requires.value == ("numpy", "pillow", "odd-thing")
    assert "see that `odd-thing` is the package that is meant" in draft.requires.told
    assert draft.todo == ("the code imports `utils`, a file that the report does not have: add it to the folder",)
