"""The example of an optional value from click's documentation. The last argument is what the command is to print."""

import sys

import click
from click.testing import CliRunner


@click.command()
@click.option("--name", is_flag=False, flag_value="Flag", default="Default")
def command(name: str) -> None:
    click.echo(name)


if __name__ == "__main__":
    *words, expected = sys.argv[1:]
    result = CliRunner().invoke(command, words)
    print(result.output.strip())
    if result.exit_code:
        sys.exit(result.output.strip().splitlines()[-1])
    if result.output.strip() != expected:
        sys.exit(f"wrong value: {result.output.strip()!r}, expected {expected!r}")
