from __future__ import annotations

import pytest

from bisect_tool.service.github.command import Command, CommandMistakes, command_lines, read_command


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("/bisect", [""]),
        ("Thanks!\r\n\r\n/bisect --from 2.12 --to 2.15\r\n", ["--from 2.12 --to 2.15"]),
        ("   /bisect\tdevice=cpu  ", ["device=cpu  "]),
        ("please /bisect this", []),
        ("/bisection", []),
        ("/Bisect", []),
        ("> /bisect\n\nno, do not", []),
        ("> as they said\n/bisect", []),  # a lazy line of the quote
        ("> as they said\n\n/bisect", [""]),
        ("- > /bisect", []),
        ("```\n/bisect\n```", []),
        ("````md\n```\n/bisect\n```\n/bisect\n````\n/bisect x", ["x"]),
        ("~~~\n/bisect\n```\n/bisect\n~~~~\n", []),
        ("```\n/bisect\n", []),  # never closed: code up to the end
        ("    /bisect", []),
        ("\t/bisect", []),
        ("``` not a fence ```\n/bisect", [""]),
        ("<!--\n/bisect\n-->\n", []),
        ("<!-- /bisect -->\n/bisect to=2.1", ["to=2.1"]),
        ("/bisect\n/bisect to=2.1", ["", "to=2.1"]),
        ("", []),
    ],
)
def test_which_lines_give_the_command(text: str, lines: list[str]) -> None:
    assert command_lines(text) == lines


@pytest.mark.parametrize(
    ("rest", "options"),
    [
        ("", {}),
        ("--from 2.12 --to 2.15", {"from": "2.12", "to": "2.15"}),
        ("--from=2.12 to=2026-03-01", {"from": "2.12", "to": "2026-03-01"}),
        ("from: 2.12", {"from": "2.12"}),
        ("device=cuda,cpu python=3.12", {"device": "cuda,cpu", "python": "3.12"}),
        ("--channel nightly --to 2.15.0.dev20260301+cu128", {"channel": "nightly", "to": "2.15.0.dev20260301+cu128"}),
    ],
)
def test_options(rest: str, options: dict[str, str]) -> None:
    assert read_command([rest]) == Command(options)


def test_help() -> None:
    assert read_command(["help"]) == Command(wants_help=True)


@pytest.mark.parametrize(
    ("rest", "mistakes"),
    [
        ("now", ["`now` is no option"]),
        ("--form 2.12", ["`form` is no option; did you mean `from`?"]),
        ("--from", ["`from` has no value"]),
        ("--from --to 2.1", ["`from` has no value"]),
        ("to=2.1 to=2.2", ["`to` is given twice"]),
        ("device=tpu", ["`device` is `cpu`, `cuda`, or the ones to try in order: `cuda,cpu`; not `tpu`"]),
        ("channel=wheelhouse python=2", ["`channel` is one of `release`, `nightly`, not `wheelhouse`",
                                         "`python` is a version such as `3.11`, not `2`"]),
        ("from=../../etc", ["`from` is a version or a date, such as `2.12` or `2026-03-01`; not `../../etc`"]),
        ("`x`@all\u202e", ["`x@all` is no option"]),
        ("\u202e", ["something that cannot be shown is no option"]),
    ],
)  # fmt: skip
def test_every_mistake_is_told(rest: str, mistakes: list[str]) -> None:
    with pytest.raises(CommandMistakes) as raised:
        read_command([rest])
    assert list(raised.value.mistakes) == mistakes


def test_two_commands_in_one_comment_are_a_mistake_unless_they_are_the_same() -> None:
    assert read_command(["to=2.1", "to=2.1"]) == Command({"to": "2.1"})
    with pytest.raises(CommandMistakes, match="2 lines begin with"):
        read_command(["to=2.1", "to=2.2"])
