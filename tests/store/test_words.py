from __future__ import annotations

import pytest

from bisect_tool.store.found_rows import issue_key, key
from bisect_tool.store.words import LONGEST, names_in, words_of


def test_every_end_of_a_dotted_name_is_a_word() -> None:
    assert words_of(["torch.nn.functional.linear"]) == [
        "torch.nn.functional.linear", "nn.functional.linear", "functional.linear", "torch", "nn", "functional", "linear",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["torch.ops.aten.mm.default(a, b)", "aten::mm.out", "`aten.mm`"])
def test_an_operator_is_found_without_its_overload(text: str) -> None:
    assert "aten.mm" in words_of([text])


def test_an_operator_of_a_library() -> None:
    assert "mylib.my_op" in words_of(["torch.ops.mylib.my_op.default"])


def test_numbers_and_the_words_of_every_text_are_none() -> None:
    assert words_of(["Traceback (most recent call last): the 12 of x in 0x7f"]) == []


def test_words_have_a_bound() -> None:
    assert words_of(["x" * (LONGEST + 1), "y" * LONGEST]) == ["y" * LONGEST]
    assert len(words_of([f"word_{number}" for number in range(1000)], 20)) == 20


def test_what_a_name_is_looked_for_by() -> None:
    assert names_in("aten::mm.out") == ["aten.mm.out", "aten.mm", "mm"]
    assert names_in("`torch.nn.functional.linear()`") == ["torch.nn.functional.linear", "linear"]
    assert names_in("the") == []


def test_no_text_has_the_word_of_a_key() -> None:
    assert words_of([key("package", "torch")]) == ["package", "torch"]


@pytest.mark.parametrize(
    ("address", "found_by"),
    [
        ("https://github.com/PyTorch/pytorch/issues/7#issuecomment-1", "pytorch/pytorch#7"),
        ("pytorch/pytorch#7", "pytorch/pytorch#7"),
        ("https://github.com/o/n/pull/7/files", "o/n#7"),
        ("https://bugs.example.org/7/", "https://bugs.example.org/7"),
        ("see the mail of\nMonday", "seethemailofmonday"),
    ],
)
def test_an_issue_is_one_however_it_is_written(address: str, found_by: str) -> None:
    assert issue_key(address) == found_by
