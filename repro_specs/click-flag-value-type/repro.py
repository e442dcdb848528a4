"""A flag that also names a type: what the command is given when the flag is there, and when it is not."""

import sys

import click
from click.testing import CliRunner

KEYS = {"plain": {}, "typed": {"type": str}}
EXPECTED = [("--flag",), ("True", "'True'")], [(), ("False", "'False'", "None")]


def main(case: str) -> None:
    @click.command()
    @click.option("--flag", is_flag=True, **KEYS[case])
    def command(flag: object) -> None:
        click.echo(repr(flag))

    for words, expected in EXPECTED:
        found = CliRunner().invoke(command, list(words), catch_exceptions=False).output.strip()
        print(f"with {' '.join(words) or 'no option'}: {found}")
        if found not in expected:
            sys.exit(f"wrong value of the flag with {' '.join(words) or 'no option'}: {found}")


if __name__ == "__main__":
    main(sys.argv[1])
