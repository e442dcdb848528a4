from __future__ import annotations

import os
from pathlib import Path

import pytest

from bisect_tool.spec.model import Role
from bisect_tool.spec.reading import load_all
from tests.spec.specs import CHANNELS, GOOD, mistakes, read_one, refusal, write_spec

TOP_KEYS = (
    "`name`, `title`, `issue`, `package`, `source`, `channel`, `variant`, `from`, `to`, `look_at`, `device`, `python`, "
    "`base`, `as_is`, "
    "`requires`, `hold`, `script`, `command`, `files`, `env`, `flaky`, `warm`, `share_caches`, `timeout`, `cases`, "
    "`failures` or `metrics`"
)


@pytest.mark.parametrize(
    ("added", "mistake"),
    [
        (
            "chanel: release",
            f'line 3, chanel: found the unknown key "chanel", expected one of {TOP_KEYS}; did you mean "channel"?',
        ),
        ("xyzzy: 1", f'line 3, xyzzy: found the unknown key "xyzzy", expected one of {TOP_KEYS}'),
        (
            "cases:\n  - name: x\n    role: contol",
            'line 5, cases[0].role: found "contol", expected `test` or `control`; did you mean "control"?',
        ),
        (
            "cases:\n  - name: x\n    arg: [1]",
            'line 5, cases[0].arg: found the unknown key "arg", '
            'expected one of `name`, `args`, `env`, `role` or `timeout`; did you mean "args"?',
        ),
        (
            "failures:\n  - name: x\n    mach: y\n    match: y",
            'line 5, failures[0].mach: found the unknown key "mach", expected one of `name` or `match`; did you mean "match"?',
        ),
        ("device: gpu", 'line 3, device[0]: found "gpu", expected `cuda` or `cpu`; did you mean "cpu"?'),
        (
            "channel: relaese",
            'line 3, channel: found "relaese", expected `commit`, `nightly`, `release` or `wheelhouse`; '
            'did you mean "release"?',
        ),
        (
            "channel: [release, wheelhouse]",
            "line 3, channel: found the channels release, wheelhouse, "
            "expected one, or several from coarse to fine: [release, nightly, commit]",
        ),
        (
            "variant: cuda13",
            'line 3, variant: found "cuda13", expected `auto`, `cpu`, `xpu`, or one like `cu130` or `rocm7.2`',
        ),
        (
            "metrics: {a: b}",
            "line 3, metrics: found a mapping, expected a list",
        ),
        (
            "metrics: [{name: t, ratio: 1.1, worse: higher}]",
            'line 3, metrics[0].worse: found the unknown key "worse", expected one of `name`, `case`, `ratio`, `reference`, '
            "`trials`, `floor` or `unit`",
        ),
        ("metrics: [{name: t}]", "line 3, metrics[0].ratio: found nothing, expected a value, it is required"),
        (
            "metrics: [{name: t, ratio: 1}]",
            'line 3, metrics[0].ratio: found "1", expected a ratio above or below 1, such as 1.1 or 0.9',
        ),
        ("metrics: [{name: t, ratio: nan}]", 'line 3, metrics[0].ratio: found "nan", expected a finite number'),
        ("metrics: [{name: t, ratio: -2}]", 'line 3, metrics[0].ratio: found "-2", expected a number greater than 0'),
        (
            "metrics: [{name: t, ratio: 2, case: repo}]",
            'line 3, metrics[0].case: found "repo", expected `repro`; did you mean "repro"?',
        ),
        (
            "cases: [{name: x}, {name: y, role: control}]\nmetrics: [{name: t, ratio: 2, case: y}]",
            'line 4, metrics[0].case: found "y", a control, expected a case with the role `test`',
        ),
        (
            "metrics: [{name: t, ratio: 2}, {name: t, ratio: 3, case: repro}]",
            'line 3, metrics[1].name: found the name "t" a second time for one case, expected one metric of a name',
        ),
        (
            "metrics: [{name: t, ratio: 2, trials: {lest: 6}}]",
            'line 3, metrics[0].trials.lest: found the unknown key "lest", expected one of `least`, `most` or `warm_up`; '
            'did you mean "least"?',
        ),
        (
            "metrics: [{name: t, ratio: 2, trials: {least: 5}}]",
            'line 3, metrics[0].trials.least: found "5", expected a number of at least 6',
        ),
        (
            "metrics: [{name: t, ratio: 2, trials: {least: 6.5}}]",
            'line 3, metrics[0].trials.least: found "6.5", expected a whole number',
        ),
        (
            "metrics: [{name: t, ratio: 2, trials: {least: 40}}]",
            'line 3, metrics[0].trials.most: found "30", expected at least the 40 of `least`',
        ),
        (
            "metrics: [{name: t, ratio: 2, floor: inf}]",
            'line 3, metrics[0].floor: found "inf", expected a finite number',
        ),
        ("warm: yes", 'line 3, warm: found "yes", expected `auto` or `off`'),
        (
            "hold: [torch]",
            'line 3, hold[0]: found "torch", expected other packages: the builds of this one are what is searched',
        ),
        (
            "as_is: nvidia-*",
            "line 3, as_is: found `as_is` without a base, expected `base: system` beside it: its packages are meant",
        ),
        (
            "base: system\nas_is: ['nvidia >2']",
            'line 4, as_is[0]: found "nvidia >2", expected the name of a package; `*` stands for anything',
        ),
        (
            "cases: [{name: x}, {name: y}, {name: x}]",
            'line 3, cases[2].name: found the name "x" a second time, expected different names',
        ),
        (
            "failures: [{name: x, match: a}, {name: x, match: b}]",
            'line 3, failures[1].name: found the name "x" a second time, expected different names',
        ),
        (
            "cases: [{name: x, role: control}]",
            "line 3, cases: found only controls, expected at least one case with the role `test`",
        ),
        (
            "env:\n  OK: 1\n  TMPDIR: x",
            "line 5, env.TMPDIR: found TMPDIR, expected other variables: this one is set for each trial",
        ),
        (
            "cases:\n  - name: x\n    env: {BISECT_CHECKS: y}",
            "line 5, cases[0].env.BISECT_CHECKS: found BISECT_CHECKS, "
            "expected other variables: this one is set for each trial",
        ),
        ("env: {2x: y}", 'line 3, env."2x": found "2x", expected the name of an environment variable'),
        (
            "requires:\n  - numpy\n  - numpy=1",
            'line 5, requires[1]: found "numpy=1", expected a requirement, for instance `numpy` or `numpy==2.1.0`',
        ),
        (
            "failures:\n  - name: x\n    match: '(a'",
            'line 5, failures[0].match: found "(a", expected a regular expression: '
            "missing ), unterminated subpattern at position 0",
        ),
        (
            "python: three",
            'line 3, python: found "three", expected a version such as `3.12` or the path of an interpreter',
        ),
        ("issue: '#12'", 'line 3, issue: found "#12", expected an address that begins with https://'),
        ("timeout: soon", 'line 3, timeout: found "soon", expected a number'),
        ("timeout: 0", 'line 3, timeout: found "0", expected a number greater than 0'),
        ("timeout: 90000", 'line 3, timeout: found "90000", expected a number of at most 86400'),
        ("timeout: nan", 'line 3, timeout: found "nan", expected a number of at most 86400'),
        ("requires: numpy", 'line 3, requires: found "numpy", expected a list'),
        ("env: [a]", "line 3, env: found a list, expected keys with values"),
        ("title: [a]", "line 3, title: found a list, expected text"),
        ("cases: []", "line 3, cases: found a list, expected at least one entry"),
        ("cases: [x]", 'line 3, cases[0]: found "x", expected keys with values'),
        ("cases: [{}]", "line 3, cases[0].name: found nothing, expected a value, it is required"),
        ("cases: {x: y}", "line 3, cases: found a mapping, expected a list"),
        (
            "package: 'torch*'",
            'line 3, package: found "torch*", expected letters, digits, `.`, `_` and `-`, '
            "beginning with a letter or digit",
        ),
        ("files: [../up.txt]", 'line 3, files[0]: found "../up.txt", expected a path inside the folder of the spec'),
        (
            "files: [/etc/passwd]",
            'line 3, files[0]: found "/etc/passwd", expected a path inside the folder of the spec',
        ),
        ("files: [.]", 'line 3, files[0]: found ".", which is no file, expected a file'),
        (
            "title: !!python/object:os.system x",
            'line 3, title: found the tag "!!python/object:os.system", expected a value without a tag',
        ),
        ("name: b", "line 3, name: found the key a second time (first on line 1), expected each key once"),
        (
            "cases:\n  - name: x\n    name: y",
            "line 5, cases[0].name: found the key a second time (first on line 4), expected each key once",
        ),
        ("<<: {title: x}", 'line 3, "<<": found a merge key, expected the keys themselves; copy them here'),
        (
            '"\\e[31m": 1',
            f'line 3, "\\x1b[31m": found the unknown key "\\x1b[31m", expected one of {TOP_KEYS}',
        ),
        (
            'env: {"TMPDIR\\n": x}',
            'line 3, env."TMPDIR\\n": found "TMPDIR\\n", expected the name of an environment variable',
        ),
        ("? [a]\n: b", "line 3: found a key that is not a word, expected keys that are words"),
    ],
)
def test_one_mistake(tmp_path: Path, added: str, mistake: str) -> None:
    assert mistakes(tmp_path, GOOD + added + "\n") == [mistake]


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("script: repro.py\n", "line 1, name: found nothing, expected a value, it is required"),
        (
            "name: a b\nscript: repro.py\n",
            'line 1, name: found "a b", expected letters, digits, `.`, `_` and `-`, beginning with a letter or digit',
        ),
        ("name: a\n", "line 1: found neither, expected exactly one of `script` and `command`"),
        (
            "name: a\nscript: repro.py\ncommand: python repro.py\n",
            "line 1: found both, expected exactly one of `script` and `command`",
        ),
        (
            "name: a\ncommand: python x.py | tee log\n",
            'line 2, command: found a command line that needs a shell, expected `command: [bash, -c, "python x.py | tee log"]`',
        ),
        (
            "name: a\ncommand: python 'x.py\n",
            "line 2, command: found quotes that do not close, expected a closing quote, or a list of words",
        ),
        ("name: a\ncommand: []\n", "line 2, command: found no program, expected a command line or a list of words"),
        ("name: a\ncommand: ' '\n", "line 2, command: found no program, expected a command line or a list of words"),
        ("", "found an empty file, expected a spec: at least `name:` and `script:`"),
        ("# nothing\n", "found an empty file, expected a spec: at least `name:` and `script:`"),
        ("---\n", "line 2: found nothing, expected keys with values at the top, such as `name: my-bug`"),
        ("- a\n", "line 1: found a list, expected keys with values at the top, such as `name: my-bug`"),
        ("hello\n", 'line 1: found "hello", expected keys with values at the top, such as `name: my-bug`'),
        (f"{GOOD}---\n{GOOD}", "line 3: found a second document, expected one spec in each file"),
        (
            b"name: a\ntitle: caf\xe9\n",
            "line 2: found byte 0xe9 at offset 18, which is not UTF-8, expected a file saved as UTF-8",
        ),
        (
            b"\xef\xbb\xbfname: \xff\n",
            "line 1: found byte 0xff at offset 9, which is not UTF-8, expected a file saved as UTF-8",
        ),
        (b"name: a\n\0", "line 2: found a NUL byte, expected text"),
        (b"name: a\ntitle: \x07\n", 'line 2: found the character "\\x07", expected printable text'),
        (b'name: "\\0"\n', 'line 1, name: found the character "\\x00", expected text'),
        (
            "name: a\ntitle: b: c\n",
            'line 2, column 9: found a colon that begins a second value, near "title: b: c", '
            "expected quotes around text that holds `: `",
        ),
        (
            "name: a\n\ttitle: b\n",
            'line 2, column 1: found a tab, near "title: b", expected spaces; YAML takes no tabs for indentation',
        ),
        ("name: *b\n", "line 1, name: found `*b`, expected an anchor `&b` further up"),
        (
            "name: &b [*b]\n",
            "line 1, name[0]: found `*b` inside the value that it stands for, expected a value that does not contain itself",
        ),
        ("name: " + "[" * 60 + "]" * 60, "line 1, name: found values nested more than 50 deep, expected a flat spec"),
    ],
)
def test_a_text_that_is_no_spec(tmp_path: Path, text: str | bytes, mistake: str) -> None:
    assert mistakes(tmp_path, text) == [mistake]


def test_an_alias_bomb_stops_early(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    (found,) = mistakes(tmp_path, "\n".join(lines))
    assert found == "line 5, a4: found more than 10000 values once aliases are expanded, expected a short spec"


def test_a_file_of_50_mb_is_not_read(tmp_path: Path) -> None:
    path = write_spec(tmp_path, "")
    os.truncate(path, 50_000_000)
    assert refusal(path).what.splitlines()[1].strip() == "found a file of 50 MB, expected a spec of at most 1 MB"


def test_every_mistake_of_a_file_in_the_order_of_its_lines(tmp_path: Path) -> None:
    text = (
        "name: a\nchanel: x\nscript: gone.py\ntimeout: -1\ncases:\n  - name: x\n  - role: contol\nmetrics: x\nname: b\n"
    )
    found = mistakes(tmp_path, text)
    assert [one.split(":")[0] for one in found] == [
        "line 2, chanel",
        "line 3, script",
        "line 4, timeout",
        "line 7, cases[1].name",
        "line 7, cases[1].role",
        "line 8, metrics",
        "line 9, name",
    ]


def test_two_files_at_once(tmp_path: Path) -> None:
    first = write_spec(tmp_path, GOOD + "to: [1]\n", name="first.yaml")
    second = write_spec(tmp_path, GOOD + "too: 1\n", name="second.yaml")
    error = refusal(first, second)
    assert f"{first}: 1 mistake\n  line 3, to: " in error.what
    assert f"{second}: 1 mistake\n  line 3, too: " in error.what
    assert error.where is None
    assert error.advice == f"Correct what is listed, then look again with `bisect check {first} {second}`."


def test_two_specs_of_one_name(tmp_path: Path) -> None:
    first = write_spec(tmp_path, GOOD, name="first.yaml")
    second = write_spec(tmp_path, GOOD, name="second.yaml")
    error = refusal(first, second)
    assert error.what == (
        f'{second}: 1 mistake\n  name: found the name "a", which {first} has too, expected different names in one run'
    )


@pytest.mark.parametrize("match", ["a{99999999999999999999}", "(" * 2000 + ")" * 2000])
def test_a_pattern_that_python_cannot_take(tmp_path: Path, match: str) -> None:
    (found,) = mistakes(tmp_path, f"{GOOD}failures: [{{name: x, match: '{match}'}}]\n")
    assert "expected a regular expression" in found


def test_a_pattern_that_python_warns_about_is_taken(tmp_path: Path) -> None:
    assert read_one(tmp_path, f"{GOOD}failures: [{{name: x, match: '[[a]'}}]\n").spec.failures[0].match == "[[a]"


def test_values_keep_their_text(tmp_path: Path) -> None:
    spec = read_one(
        tmp_path,
        f"{GOOD}from: 2.10\nto: 2026-03-01\npython: 3.10\ntitle: yes\nenv: {{A: 1e3}}\n"
        "cases:\n  - {name: 1.0, args: [8193, 1.50, true, '', 0x10]}\n",
    ).spec
    assert (spec.from_, spec.to, spec.python, spec.title) == ("2.10", "2026-03-01", "3.10", "yes")
    assert spec.cases[0].name == "1.0"
    assert spec.cases[0].args == ("8193", "1.50", "true", "", "0x10")
    assert spec.env == {"A": "1e3"}


def test_what_a_spec_leaves_out(tmp_path: Path) -> None:
    spec = read_one(tmp_path, GOOD + "to:\n").spec
    assert (spec.package, spec.channel, spec.device, spec.timeout) == ("torch", ("release",), ("cuda", "cpu"), 300)
    assert (spec.from_, spec.to) == (None, None)
    assert [(case.name, case.role) for case in spec.tests] == [("repro", Role.TEST)]
    assert spec.controls == ()


def test_one_word_stands_for_a_list(tmp_path: Path) -> None:
    spec = read_one(tmp_path, GOOD + "channel: wheelhouse\ndevice: cpu\n").spec
    assert (spec.channel, spec.device) == (("wheelhouse",), ("cpu",))


def test_an_alias_is_expanded(tmp_path: Path) -> None:
    spec = read_one(tmp_path, GOOD + "cases:\n  - {name: x, args: &a [-v]}\n  - {name: y, args: *a}\n").spec
    assert spec.cases[1].args == ("-v",)


def test_json_is_read_too(tmp_path: Path) -> None:
    path = write_spec(tmp_path, '{"name": "a", "script": "repro.py", "timeout": 2.5}', name="spec.json")
    assert load_all([path], channels=CHANNELS)[0].spec.timeout == 2.5


def test_a_metric_says_what_it_compares(tmp_path: Path) -> None:
    text = "metrics:\n  - {name: latency_ms, ratio: 1.10, reference: 2.10, trials: {most: 50}, unit: ms}\n"
    (metric,) = read_one(tmp_path, GOOD + text).spec.metrics
    assert (metric.name, metric.ratio, metric.reference, metric.unit) == ("latency_ms", 1.1, "2.10", "ms")
    assert (metric.trials.least, metric.trials.most, metric.trials.warm_up) == (6, 50, 0)


def test_a_metric_without_a_case_is_of_every_test(tmp_path: Path) -> None:
    spec = read_one(
        tmp_path,
        f"{GOOD}cases: [{{name: a}}, {{name: b}}, {{name: c, role: control}}]\n"
        "metrics: [{name: t, ratio: 2}, {name: m, ratio: 2, case: b}]\n",
    ).spec
    names = {case.name: [metric.name for metric in spec.metrics_of(case)] for case in spec.cases}
    assert names == {"a": ["t"], "b": ["t", "m"], "c": []}


@pytest.mark.parametrize("name", ["PATH", "PYTHONPATH", "PYTHONHOME"])
def test_a_variable_that_could_bring_in_another_installation_is_refused(tmp_path: Path, name: str) -> None:
    assert mistakes(tmp_path, f"{GOOD}env:\n  {name}: /elsewhere\n") == [
        f"line 4, env.{name}: found {name}, expected other variables: this one is set for each trial"
    ]


def test_the_package_under_test_cannot_be_required_as_well(tmp_path: Path) -> None:
    assert mistakes(tmp_path, f"{GOOD}package: liger-kernel-nightly\nrequires: [numpy, Liger_Kernel.nightly==1]\n") == [
        'line 4, requires[1]: found "Liger_Kernel.nightly==1", expected other packages: '
        "the builds of this one are what is searched"
    ]


@pytest.mark.parametrize("channel", ["nightly", "[release, nightly]"])
def test_channels_from_coarse_to_fine(tmp_path: Path, channel: str) -> None:
    found = read_one(tmp_path, GOOD + f"channel: {channel}\n").spec.channel
    assert found == tuple(channel.strip("[]").split(", "))


def test_channels_from_fine_to_coarse(tmp_path: Path) -> None:
    assert mistakes(tmp_path, GOOD + "channel: [nightly, release]\n") == [
        "line 3, channel: found the channels nightly, release, "
        "expected one, or several from coarse to fine: [release, nightly, commit]"
    ]


@pytest.mark.parametrize("variant", ["auto", "cpu", "cu126", "rocm7.2", "xpu"])
def test_variants(tmp_path: Path, variant: str) -> None:
    assert read_one(tmp_path, GOOD + f"variant: {variant}\n").spec.variant == variant


@pytest.mark.parametrize(("written", "mode"), [("no", "no"), ("yes", "yes"), ("auto", "auto"), ("false", None)])
def test_whether_failures_come_and_go(tmp_path: Path, written: str, mode: str | None) -> None:
    text = GOOD + f"flaky: {written}\n"
    if mode is None:
        assert "expected `auto`, `yes` or `no`" in mistakes(tmp_path, text)[0]
    else:
        assert read_one(tmp_path, text).spec.flaky == mode
