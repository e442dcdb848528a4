from __future__ import annotations

import pytest

from bisect_tool.errors import SpecError
from bisect_tool.spec.drafting.sessions import given_code, is_of_a_shell, without_prompt
from tests.spec.drafting.drafts import draft_of


@pytest.mark.parametrize("prompt", ["$ ", "> ", "~ ❯ ", "(base) me@host:~/x$ ", "[me@host x]$ ", "root@box:/w# ", ""])
def test_a_command_behind_its_prompt(prompt: str) -> None:
    assert without_prompt(f"{prompt}python repro.py --x") == "python repro.py --x"


SESSION = """A flag fails.

```console
~ ❯ cat greet.py
import click

@click.command()
@click.option("--name")
def main(name):
    print(name)

main()
~ ❯ pip install click==8.2.0
Successfully installed click-8.2.0
~ ❯ python greet.py --name x
Error: no such thing here
```
"""


def test_a_file_that_a_session_shows_is_the_code_and_its_command_the_case() -> None:
    draft = draft_of(SESSION)
    assert draft.code.startswith("import click\n\n@click.command()")
    assert draft.code.endswith("main()\n")
    assert [(case.value.name, case.value.args) for case in draft.cases] == [("name-x", ("--name", "x"))]


@pytest.mark.parametrize("command", ["cat > a.py <<EOF", "cat <<'EOF' > a.py", "$ cat >a.py << EOF"])
def test_a_file_that_is_written_to_the_end_of_its_text(command: str) -> None:
    draft = draft_of(f"```bash\n{command}\nimport torch\ntorch.ones(1)\nEOF\npython a.py\n```")
    assert draft.code == "import torch\ntorch.ones(1)\n"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('$ python3 -c "import numpy"', "import numpy"),
        ("python -c 'import torch; print(torch.ones(1))'", "import torch\nprint(torch.ones(1))"),
        (r'python -X dev -c "print(\"x\")"', 'print("x")'),
        ("python repro.py", None),
    ],
)
def test_code_in_a_command(line: str, code: str | None) -> None:
    assert given_code(line) == code


def test_an_import_alone_is_a_script_where_somebody_ran_it() -> None:
    draft = draft_of('Segmentation fault:\n\n    $ python -c "import torch"\n')
    assert draft.code == "import torch\n"
    assert draft.source.why.startswith("in a command line")


@pytest.mark.parametrize("line", ["$ ls", "pip install x", "git clone y", "python -m pytest tests/a.py", "cd z"])
def test_commands_of_a_shell(line: str) -> None:
    assert is_of_a_shell(["# first", line, "more"])


@pytest.mark.parametrize("line", ["import torch", "python = 3", "x = pip.install(y)", "make(1)"])
def test_python_is_no_command_of_a_shell(line: str) -> None:
    assert not is_of_a_shell([line])


def test_commands_that_are_said_to_be_python_are_told_as_such() -> None:
    with pytest.raises(SpecError, match="line 2: no Python: commands of a shell"):
        draft_of("```python\ngit clone x\ncd x\npython -m pytest\n```")
