"""Two flags that put their values into one parameter; with `multiple` all values that were given are wanted."""

import sys

import click
from click.testing import CliRunner


def main(case: str) -> None:
    multiple = case == "multiple"

    @click.command()
    @click.option("--a", "x", flag_value="a", multiple=multiple)
    @click.option("--b", "x", flag_value="b", multiple=multiple)
    def command(x: object) -> None:
        click.echo(repr(x))

    words = ["--a", "--b"] if multiple else ["--b"]
    found = CliRunner().invoke(command, words, catch_exceptions=False).output.strip()
    expected = "('a', 'b')" if multiple else "'b'"
    print(f"{' '.join(words)}: {found}")
    if found != expected:
        sys.exit(f"wrong values: {found}, expected {expected}")


if __name__ == "__main__":
    main(sys.argv[1])
